/* voxsift/internal/penalty.h - what kinds of penalties and quadratics are; for the library's rooms
 * and the command line, not installed. */
#ifndef VOXSIFT_INTERNAL_PENALTY_H
#define VOXSIFT_INTERNAL_PENALTY_H

#include "voxsift/internal/design.h"
#include "voxsift/internal/graph.h"
#include "voxsift/penalty.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vxs_penalty_kind {
    const char *name; /* with its article */
    /* Whether it is one of this design's columns; `some`: it must penalise something. */
    vxs_status (*check)(const vxs_penalty *penalty, const vxs_design *design, bool some,
                        vxs_error *err);
    /* Of the weights w of all columns, for one output; NULL: a problem of its own. */
    double (*value)(const vxs_penalty *penalty, const double *w, size_t p);
};

struct vxs_quadratic_kind {
    const char *name;   /* with its article */
    const char *weight; /* what its weight is called */
    bool needs_graph;
    double (*value)(const vxs_quadratic *quadratic, const double *w, size_t p); /* or NULL */
};

/* The penalty that a problem has: l1 where it says nothing. */
static inline const vxs_penalty_kind *vxs_penalty_kind_of(const vxs_penalty *penalty)
{
    return penalty ? penalty->kind : &vxs_l1_penalty;
}
/* As what it is, or NULL where it is something else. */
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
/* The weight of a quadratic if it is of this kind, or 0. */
static inline double vxs_quadratic_weight(const vxs_quadratic *quadratic,
                                          const vxs_quadratic_kind *kind)
{
    return quadratic->kind == kind ? quadratic->weight : 0;
}

VXS_MUST_CHECK vxs_status vxs_penalty_check(const vxs_penalty *penalty, const vxs_design *design,
                                            bool some, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_quadratic_check(const vxs_quadratic *quadratic,
                                              const vxs_design *design, vxs_error *err);
/* Whether a graph is one of so many nodes; `some`: with edges. */
VXS_MUST_CHECK vxs_status vxs_graph_check(const vxs_graph *graph, size_t nodes, bool some,
                                          vxs_error *err);

#ifdef __cplusplus
}
#endif

#endif
