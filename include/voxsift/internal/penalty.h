/* voxsift/internal/penalty.h - kinds of penalties and quadratics; internal to the library and the
 * command line, not installed. */
#ifndef VOXSIFT_INTERNAL_PENALTY_H
#define VOXSIFT_INTERNAL_PENALTY_H

#include "voxsift/internal/design.h"
#include "voxsift/internal/graph.h"
#include "voxsift/penalty.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vxs_penalty_kind {
    const char *name; /* with article */
    /* Checks the penalty against the columns of the design; `some`: the penalty must have a
     * term. */
    vxs_status (*check)(const vxs_penalty *penalty, const vxs_design *design, bool some,
                        vxs_error *err);
    /* Value at the weights w of all columns, for one output; NULL: the value is an optimization
     * problem. */
    double (*value)(const vxs_penalty *penalty, const double *w, size_t p);
};

struct vxs_quadratic_kind {
    const char *name;   /* with article */
    const char *weight; /* name of the weight in messages */
    bool needs_graph;
    double (*value)(const vxs_quadratic *quadratic, const double *w, size_t p); /* or NULL */
};

/* The kind of the penalty of a problem: l1 if NULL. */
static inline const vxs_penalty_kind *vxs_penalty_kind_of(const vxs_penalty *penalty)
{
    return penalty ? penalty->kind : &vxs_l1_penalty;
}
/* Downcasts; NULL if the kind differs. */
static inline const vxs_fused *vxs_as_fused(const vxs_penalty *penalty)
{
    return penalty && penalty->kind == &vxs_fused_penalty ? (const vxs_fused *)penalty : NULL;
}
static inline const vxs_generalized *vxs_as_generalized(const vxs_penalty *penalty)
{
    return penalty && penalty->kind == &vxs_generalized_penalty ? (const vxs_generalized *)penalty
                                                                : NULL;
}
static inline const vxs_budget *vxs_as_budget(const vxs_penalty *penalty)
{
    return penalty && penalty->kind == &vxs_budget_penalty ? (const vxs_budget *)penalty : NULL;
}
static inline const vxs_grouped *vxs_as_grouped(const vxs_penalty *penalty)
{
    return penalty && penalty->kind == &vxs_grouped_penalty ? (const vxs_grouped *)penalty : NULL;
}
static inline const vxs_kernel_norm *vxs_as_kernel_norm(const vxs_penalty *penalty)
{
    return penalty && penalty->kind == &vxs_kernel_norm_penalty ? (const vxs_kernel_norm *)penalty
                                                                : NULL;
}
static inline const vxs_kernel_sum *vxs_as_kernel_sum(const vxs_penalty *penalty)
{
    return penalty && penalty->kind == &vxs_kernel_sum_penalty ? (const vxs_kernel_sum *)penalty
                                                               : NULL;
}
/* The weight of a quadratic of this kind, or 0. */
static inline double vxs_quadratic_weight(const vxs_quadratic *quadratic,
                                          const vxs_quadratic_kind *kind)
{
    return quadratic->kind == kind ? quadratic->weight : 0;
}

VXS_MUST_CHECK vxs_status vxs_penalty_check(const vxs_penalty *penalty, const vxs_design *design,
                                            bool some, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_quadratic_check(const vxs_quadratic *quadratic,
                                              const vxs_design *design, vxs_error *err);
/* Checks that a graph has so many nodes and valid edges; `some`: at least one edge. */
VXS_MUST_CHECK vxs_status vxs_graph_check(const vxs_graph *graph, size_t nodes, bool some,
                                          vxs_error *err);

#ifdef __cplusplus
}
#endif

#endif
