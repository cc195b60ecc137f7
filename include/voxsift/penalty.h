/* voxsift/penalty.h - penalties and quadratics: what weights cost.
 *
 * A penalty is an object: what it is made of, with its kind in front, so that a problem holds any
 * of them. Its kind says which algorithms can have it. */
#ifndef VOXSIFT_PENALTY_H
#define VOXSIFT_PENALTY_H

#include "voxsift/design.h"
#include "voxsift/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default) /* what follows is the library's, and nothing else is */
#endif

/* ---- Penalties, times lambda ----------------------------------------------------------------- */

typedef struct vxs_penalty_kind vxs_penalty_kind;
typedef struct {
    const vxs_penalty_kind *kind;
} vxs_penalty;

/* sum |w_j|; a problem whose penalty is NULL has it as well */
extern const vxs_penalty vxs_l1;
extern const vxs_penalty_kind vxs_l1_penalty;

/* The sum over edges of weight |w_from - w_to|, and sparsity times |w|_1. A piece of the graph has
 * a level that is not penalised where sparsity is 0. */
typedef struct {
    vxs_penalty penalty;
    const vxs_graph *graph; /* of the features */
    double sparsity;
} vxs_fused;
extern const vxs_penalty_kind vxs_fused_penalty;
vxs_fused vxs_fused_on(const vxs_graph *graph, double sparsity);

/* |Dw|_1, a row of D being a term. */
typedef struct {
    vxs_penalty penalty;
    const vxs_terms *terms;
} vxs_generalized;
extern const vxs_penalty_kind vxs_generalized_penalty;
vxs_generalized vxs_generalized_of(const vxs_terms *terms);

/* Instead of lambda times a penalty: |w|_B^2 / 2 + cost sum_i u_i f, w being the weights of the
 * columns of units, |w|_B^2 the least sum over units of |w_g|^2 / d_g with 0 <= d <= 1 and
 * sum d <= budget. The problem's design is what units are made of. */
typedef struct {
    vxs_penalty penalty;
    vxs_units *units;
    vxs_map map; /* of units, if they are no groups */
    size_t budget;
    double cost;
    double refit_cost; /* C of weights that are learned anew; 0: none */
    bool only_refit;   /* covariates have no part but in weights that are learned anew */
} vxs_budget;
extern const vxs_penalty_kind vxs_budget_penalty;

/* ---- Quadratics, which are added ------------------------------------------------------------- */

typedef struct vxs_quadratic_kind vxs_quadratic_kind;
typedef struct {
    const vxs_quadratic_kind *kind; /* NULL: none */
    double weight;
    const vxs_graph *graph; /* of a Laplacian */
} vxs_quadratic;

extern const vxs_quadratic_kind vxs_ridge; /* weight |w|^2 / 2 */
/* weight / 2 times the sum over edges of their weight times (w_from - w_to)^2 */
extern const vxs_quadratic_kind vxs_laplacian;
/* The same without the half and with weight lambda_max^2 / (y sum u) instead of weight: of a hinge
 * whose y are one margin, and weights that are not negative. */
extern const vxs_quadratic_kind vxs_relative_laplacian;

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
