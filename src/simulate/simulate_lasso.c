/* simulate_lasso.c - the linear model of the screening studies, with a known truth.
 *
 * Model   y = X b + e; X uniform on [-10, 10], a share of b uniform on [-1, 1], e normal
 *         (linear.c).
 * Source  Ren 2017 (dissertation, docs/CITATION.cff), section 2.4.1.1.
 */
#include "simulate/linear.h"

#include <math.h>
#include <stdlib.h>

#define AT(member) offsetof(vxs_lasso_simulation, member)

const vxs_param vxs_lasso_simulation_params[] = {
    VXS_WHOLE_ROW("subjects", "N", AT(subjects), 100, 2, 1e7, "subjects"),
    VXS_WHOLE_ROW("features", "P", AT(features), 5000, 1, 1e9, "number of features"),
    VXS_REAL_ROW("nonzero", "SHARE", AT(nonzero), 0.2, 0, 1,
                 "fraction of features with nonzero weight"),
    VXS_REAL_ROW("noise", "SD", AT(noise), 1, 0, 1e9,
                 "standard deviation of the noise on the score"),
    VXS_CHOICE_ROW("target", "KIND", AT(target), 0, vxs_simulated_targets,
                   "target: a score, or a diagnosis (sign of the score)"),
    VXS_SEED_ROW(AT(seed)),
    { .name = NULL },
};

/* Sets exactly round(share * p) weights, a uniformly random subset. */
static vxs_status draw_weights(vxs_linear *l, vxs_error *err)
{
    const vxs_lasso_simulation *s = l->settings;
    vxs_random choice = { l->seed, VXS_LINEAR_CHOICE }, weight = { l->seed, VXS_LINEAR_WEIGHT };
    size_t *order = vxs_alloc(l->p, sizeof(*order), err);
    if (!order)
        return VXS_FAILED;
    vxs_random_permutation(&choice, order, l->p);
    size_t nonzero = (size_t)llround(s->nonzero * (double)l->p);
    for (size_t k = 0; k < nonzero; k++)
        l->weights[order[k]] = vxs_linear_weight(&weight, order[k]);
    free(order);
    return VXS_OK;
}

vxs_status vxs_simulate_lasso(const vxs_context *context, const vxs_lasso_simulation *settings,
                              const char *directory, bool replace, vxs_error *err)
{
    vxs_linear l = { .context = context,
                     .name = "lasso",
                     .params = vxs_lasso_simulation_params,
                     .settings = settings,
                     .seed = (uint64_t)settings->seed,
                     .n = (size_t)settings->subjects,
                     .p = (size_t)settings->features,
                     .noise = settings->noise,
                     .target = settings->target,
                     .draw = draw_weights };
    return vxs_linear_make(&l, directory, replace, err);
}
