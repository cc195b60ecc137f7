/* acceptable.h - permutations of classes that can be trained on; private to the evaluate room. */
#ifndef VXS_EVALUATE_ACCEPTABLE_H
#define VXS_EVALUATE_ACCEPTABLE_H

#include "evaluate/cv.h"
#include "evaluate/exchange.h"

typedef struct {
    const vxs_exchange *exchange;
    const vxs_task *task; /* with the observed target, which can be trained on */
    const vxs_cv_settings *settings;
    const vxs_method_settings *method;
} vxs_draws;
/* Draws of one permutation; by VXS_LEAST_ACCEPTABLE none needs that many. */
#define VXS_MOST_DRAWS 1000000
/* Permutation k: its scores, and how often it was drawn again before it was acceptable. */
VXS_MUST_CHECK vxs_status vxs_draws_take(const vxs_context *context, const vxs_draws *draws,
                                         size_t k, double *score, size_t *again, vxs_error *err);
/* The share of permutations that are acceptable, from the first draws of the first numbers, which
 * are the same whatever the chunk; refused when it is below VXS_LEAST_ACCEPTABLE. */
#define VXS_LEAST_ACCEPTABLE 0.001
VXS_MUST_CHECK vxs_status vxs_draws_survey(const vxs_context *context, const vxs_draws *draws,
                                           double *share, vxs_error *err);
/* Why there is nothing to permute. */
vxs_status vxs_draws_refuse(const vxs_draws *draws, vxs_error *err);

#endif
