/* voxsift/cohort.h - cohorts: a table of subjects joined to what was measured on them. */
#ifndef VOXSIFT_COHORT_H
#define VOXSIFT_COHORT_H

#include "voxsift/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A directory is a cohort when it holds this file. */
#define VXS_COHORT_FILE "cohort.json"

/* ---- Simulation ------------------------------------------------------------------------------ */

/* Target of a simulated cohort: the score itself, or the class it falls into by its sign. */
enum { VXS_SIMULATE_SCORE, VXS_SIMULATE_DIAGNOSIS };

/* A sparse linear model with known truth: y = X b + noise; X is uniform on [-10, 10], a share of
 * b is uniform on [-1, 1] and the rest zero, the noise is normal. */
typedef struct {
    int64_t subjects, features;
    double nonzero; /* share of features with weight */
    double noise;   /* standard deviation */
    int target;
    int64_t seed;
} vxs_lasso_simulation;

extern const vxs_param vxs_lasso_simulation_params[];

/* Writes a cohort directory: cohort.json, features.npy (features x subjects), participants.tsv and
 * truth.tsv (the weights that are not zero). An existing one is replaced only if `replace`. */
VXS_MUST_CHECK vxs_status vxs_simulate_lasso(const vxs_context *context,
                                             const vxs_lasso_simulation *settings,
                                             const char *directory, bool replace, vxs_error *err);

#ifdef __cplusplus
}
#endif

#endif
