/* voxsift/penalty.h - penalties and quadratics.
 *
 * A penalty is a struct that begins with its kind, so that a problem holds a pointer to any of
 * them. Algorithms list the kinds that they accept. */
#ifndef VOXSIFT_PENALTY_H
#define VOXSIFT_PENALTY_H

#include "voxsift/design.h"
#include "voxsift/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
/* the declarations below are exported, all other symbols are hidden */
#pragma GCC visibility push(default)
#endif

/* ---- Penalties, times lambda ----------------------------------------------------------------- */

typedef struct vxs_penalty_kind vxs_penalty_kind;
typedef struct {
    const vxs_penalty_kind *kind;
} vxs_penalty;

/* |w|_1; a problem whose penalty is NULL has this one */
extern const vxs_penalty vxs_l1;
extern const vxs_penalty_kind vxs_l1_penalty;

/* Sum over edges of weight |w_from - w_to|, plus sparsity |w|_1. With sparsity 0 the mean of each
 * connected component is not penalized. */
typedef struct {
    vxs_penalty penalty;
    const vxs_graph *graph; /* over the features */
    double sparsity;
} vxs_fused;
extern const vxs_penalty_kind vxs_fused_penalty;
vxs_fused vxs_fused_on(const vxs_graph *graph, double sparsity);

/* |Dw|_1, D the analysis operator */
typedef struct {
    vxs_penalty penalty;
    const vxs_analysis *terms;
} vxs_generalized;
extern const vxs_penalty_kind vxs_generalized_penalty;
vxs_generalized vxs_generalized_of(const vxs_analysis *terms);

/* A replacement of lambda times a penalty: |w|_B^2 / 2 + cost sum_i u_i f, where w are the weights
 * of the columns of all feature blocks and |w|_B^2 is the minimum over d of sum_g |w_g|^2 / d_g
 * subject to 0 <= d <= 1 and sum d <= budget. The design of the problem holds the features that the
 * blocks are made of. */
typedef struct {
    vxs_penalty penalty;
    vxs_blocks *blocks;
    vxs_feature_map map; /* of the blocks, if they are not groups */
    size_t budget;
    double cost;
    double refit_cost; /* C of the refit (debiased) weights; 0: no refit */
    bool only_refit;   /* only the refit includes the covariates */
} vxs_budget;
extern const vxs_penalty_kind vxs_budget_penalty;

/* Sum over groups of |v_g|, v_g the weights of the columns of feature block g; weights of features
 * are sums over the groups that they are in. */
typedef struct {
    vxs_penalty penalty;
    vxs_blocks *blocks; /* of groups */
} vxs_grouped;
extern const vxs_penalty_kind vxs_grouped_penalty;
vxs_grouped vxs_grouped_by(vxs_blocks *blocks);

/* The squared norm w'Kw / 2 of a kernel machine, K the design itself: a kernel matrix, with a
 * weight for each sample. */
typedef struct {
    vxs_penalty penalty;
    vxs_design *kernel;
} vxs_kernel_norm;
extern const vxs_penalty_kind vxs_kernel_norm_penalty;
vxs_kernel_norm vxs_kernel_norm_of(vxs_design *kernel);

/* (sum over kernels of sqrt(w_g'K_g w_g))^2 / 2, the design being [K_1 ... K_m] (vxs_grams_new),
 * with a weight for each sample in each kernel. */
typedef struct {
    vxs_penalty penalty;
    vxs_design *kernels;
} vxs_kernel_sum;
extern const vxs_penalty_kind vxs_kernel_sum_penalty;
vxs_kernel_sum vxs_kernel_sum_of(vxs_design *kernels);

/* ---- Quadratics: added to the objective, not multiplied by lambda ---------------------------- */

typedef struct vxs_quadratic_kind vxs_quadratic_kind;
typedef struct {
    const vxs_quadratic_kind *kind; /* NULL: none */
    double weight;
    const vxs_graph *graph; /* of the Laplacian */
} vxs_quadratic;

extern const vxs_quadratic_kind vxs_ridge; /* weight |w|^2 / 2 */
/* weight / 2 times the sum over edges of edge weight times (w_from - w_to)^2 */
extern const vxs_quadratic_kind vxs_laplacian;
/* The same without the factor 1 / 2, and with lambda_max^2 / (y sum u) times weight instead of
 * weight: for the hinge loss with one common margin y and nonnegative weights. */
extern const vxs_quadratic_kind vxs_relative_laplacian;

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
