/* draws.h - predictors measured over all folds and repeats, and bootstrap draws of groups of
 * subjects; private to the evaluate room. */
#ifndef VXS_EVALUATE_DRAWS_H
#define VXS_EVALUATE_DRAWS_H

#include "evaluate/evaluate.h"

/* The held-out predictions of one predictor: repeats x outputs x n. Scores are NULL where there is
 * no such predictor; aligned ones are NULL where subjects are compared within folds. */
typedef struct {
    const double *scores, *aligned;
    const double *probabilities; /* repeats x classes x n, calibrated; or NULL */
} vxs_predictor;

/* Several predictors of the same subjects in the same folds. Borrows everything. */
typedef struct {
    size_t n, class_count, outputs;
    const double *truth; /* n: scores, or numbers of classes */
    const vxs_folds *folds;
    const vxs_predictor *each;
    size_t count;
    const vxs_metric_row *only; /* the one metric that is computed; NULL: all */
    size_t draws;               /* bootstrap draws */
    uint64_t seed;
} vxs_evaluated;

/* Which subjects r, the area under the curve and the shares of classes compare. */
void vxs_count_pairs(const vxs_evaluated *evaluated, vxs_comparison *comparison);
/* The predictions of one repeat. */
vxs_predictions vxs_predictions_in(const vxs_evaluated *evaluated, const vxs_predictor *of,
                                   size_t repeat);
/* Every metric is the mean over repeats. */
VXS_MUST_CHECK vxs_status vxs_measure_repeats(const vxs_evaluated *evaluated,
                                              const vxs_predictor *of, vxs_metrics *mean,
                                              vxs_error *err);

/* All predictors measured on the same draws of whole groups; released whatever is returned. */
typedef struct {
    size_t count;          /* draws */
    vxs_metrics **metrics; /* of each predictor: a draw each; NULL: no such predictor */
    size_t predictors;
    double *values; /* private */
} vxs_bootstrap;
VXS_MUST_CHECK vxs_status vxs_bootstrap_run(const vxs_context *context,
                                            const vxs_evaluated *evaluated, vxs_bootstrap *draws,
                                            vxs_error *err);
/* The middle 95 of 100 draws of a predictor, or of its difference to predictor `less`. NAN: of a
 * metric that most draws do not have. */
#define VXS_OF_NONE SIZE_MAX
void vxs_bootstrap_interval(vxs_bootstrap *draws, size_t predictor, size_t less, vxs_metrics *low,
                            vxs_metrics *high);
void vxs_bootstrap_release(vxs_bootstrap *draws);

#endif
