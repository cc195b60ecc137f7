/* ranking.h - what the order of scores says within folds; private to the evaluate room. */
#ifndef VXS_EVALUATE_RANKING_H
#define VXS_EVALUATE_RANKING_H

#include "evaluate/evaluate.h"

typedef struct {
    size_t fold, subject;
    double score;
} vxs_ranked;
/* For qsort: fold by fold, the lowest score first. */
int vxs_by_fold_and_score(const void *a, const void *b);

typedef struct {
    double auc, average_precision, breakeven; /* NAN: no fold has subjects of both sides */
} vxs_ranking;
/* Of a class against the others by `scores`; list: room for n. Folds weigh as many pairs of one of
 * either side as they have for the area, as many subjects of the class for the others. */
void vxs_rank(const vxs_predictions *predictions, size_t class, const double *scores,
              vxs_ranked *list, vxs_ranking *ranking);

/* metrics.c: truth and score are known, and the subject counts. */
bool vxs_is_measured(const vxs_predictions *predictions, size_t i);
/* Its fold; without folds all are in one. */
size_t vxs_fold_of(const vxs_predictions *predictions, size_t i);

#endif
