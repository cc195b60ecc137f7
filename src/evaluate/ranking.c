/* ranking.c - areas under the ROC and the precision-recall curve, and precision at break-even.
 *
 * Subjects are compared with those of their fold alone, since scores of other folds are of other
 * models. Equal scores are in no order: pairs of them count half, the points of the
 * precision-recall curve are behind all of them, and at break-even as many of them as are needed
 * are taken by chance. Scores that are all equal are then worth what chance is. */
#include "evaluate/ranking.h"

#include <math.h>
#include <stdlib.h>

int vxs_by_fold_and_score(const void *a, const void *b)
{
    const vxs_ranked *left = a, *right = b;
    if (left->fold != right->fold)
        return left->fold < right->fold ? -1 : 1;
    return (left->score > right->score) - (left->score < right->score);
}

/* Sums over folds that have both sides. */
typedef struct {
    double pairs, right;     /* pairs, and those in the right order */
    double positives;        /* subjects of the class */
    double precision, found; /* summed over these; found at break-even */
} sums;

/* A fold, list[first ... end - 1] with so many positives, from the highest score down. */
static void add_fold(const vxs_predictions *p, size_t class, const vxs_ranked *list, size_t first,
                     size_t end, double positives, sums *s)
{
    double negatives = (double)(end - first) - positives;
    double up = 0, seen = 0; /* positives and subjects so far */
    s->pairs += positives * negatives;
    s->positives += positives;
    while (end > first) {
        double score = list[end - 1].score, here = 0, tied = 0;
        for (; end > first && list[end - 1].score == score; end--) {
            tied++;
            here += p->truth[list[end - 1].subject] == (double)class;
        }
        double below = negatives - (seen - up) - (tied - here);
        double taken = fmax(0, fmin(tied, positives - seen));
        s->right += here * (below + (tied - here) / 2);
        s->found += here * taken / tied;
        up += here;
        seen += tied;
        s->precision += here * up / seen;
    }
}

void vxs_rank(const vxs_predictions *p, size_t class, const double *scores, vxs_ranked *list,
              vxs_ranking *r)
{
    sums s = { .pairs = 0 };
    size_t count = 0;
    for (size_t i = 0; i < p->n; i++)
        if (vxs_is_measured(p, i))
            list[count++] = (vxs_ranked){ vxs_fold_of(p, i), i, scores[i] };
    qsort(list, count, sizeof(*list), vxs_by_fold_and_score);
    for (size_t k = 0, end; k < count; k = end) {
        double positives = 0;
        for (end = k; end < count && list[end].fold == list[k].fold; end++)
            positives += p->truth[list[end].subject] == (double)class;
        if (positives > 0 && positives < (double)(end - k))
            add_fold(p, class, list, k, end, positives, &s);
    }
    bool any = s.pairs > 0;
    *r = (vxs_ranking){ .auc = any ? s.right / s.pairs : NAN,
                        .average_precision = any ? s.precision / s.positives : NAN,
                        .breakeven = any ? s.found / s.positives : NAN };
}
