/* cut_pursuit.h - cut pursuit for the fused lasso on any graph; private to the solver room.
 *
 * cut_pursuit.c splits fused regions and certifies, fused_regions.c holds regions and their
 * columns, region_values.c solves the reduced problem with one value a region, sub_regions.c splits
 * regions that merged in it. */
#ifndef VXS_SOLVER_CUT_PURSUIT_CUT_PURSUIT_H
#define VXS_SOLVER_CUT_PURSUIT_CUT_PURSUIT_H

#include "graph/flow.h"
#include "solver/dual_projection.h"
#include "solver/solver.h"

/* The boundary between two adjacent regions. */
typedef struct {
    uint32_t upper, lower; /* region of the larger value, region of the smaller value */
    double weight;         /* sum of edge weights */
} vxs_boundary;

/* The regions before region values were updated: those that merge since then can split again along
 * these boundaries, by a maximum flow on few nodes. */
typedef struct {
    size_t count, boundary_count;
    double *x;        /* n x count: sums of columns */
    double *supply;   /* -x'gradient / lambda of each */
    uint32_t *region; /* current region of each */
    uint32_t *next;
    vxs_boundary *boundaries;
    vxs_graph graph;
    vxs_flow *flow;
} vxs_sub_regions;

/* Regions of one class; losses but the multinomial have one. With a reference node (sparsity > 0,
 * graph/flow.h) region 0 contains it and has value 0. */
typedef struct {
    vxs_flow *flow;
    size_t count;     /* regions */
    uint32_t *region; /* of a node, reference node included */
    double *x;        /* n x (q + count): covariates, sums of the columns of regions */
    double *w;        /* q + count: their coefficients */
    double *rate;     /* of a region: mean excess, the direction in which its value
                      * moves */
    double *supply;   /* of a node: -x_j'dual / lambda, and the reference node's */
    vxs_boundary *boundaries;
    size_t boundary_count;
    vxs_sub_regions sub_regions;
} vxs_class_block;

typedef struct {
    vxs_solver solver;
    const vxs_context *context;
    vxs_problem problem;
    vxs_method_settings settings;
    size_t n, p, q, classes; /* classes: 1 unless the loss is multinomial */
    vxs_class_block *blocks;
    uint32_t *component;              /* of a node: the first node of its connected component */
    double *z, *gradient, *curvature; /* n x classes */
    double *dual;                     /* n x classes: f', projected onto the complement of
                                    * covariates and components */
    double *dual_empty;               /* n x classes: of the empty model */
    double *basis;                    /* n x rank: orthonormal basis of covariates and component
                                    * sums */
    size_t rank;
    vxs_dual_projection reach;
    double *values;        /* p x classes: -X'dual / lambda */
    double rounding;       /* error bound of a region's column */
    double negligible_cut; /* excess below this does not split a region */
    double zero, empty;    /* value at w = b = 0, value of the empty model */
    double lambda_max, last_lambda;
    vxs_costs costs;
    struct vxs_region_values *workspace; /* of region_values.c */
} vxs_cut_pursuit;

static inline size_t vxs_class_block_columns(const vxs_cut_pursuit *c, const vxs_class_block *s)
{
    return c->q + s->count;
}

static inline bool vxs_class_block_has_reference(const vxs_class_block *s)
{
    return s->flow->has_reference > 0;
}

/* Sets a region's column to 0 if it is rounding. */
void vxs_class_block_zero_rounding(const vxs_cut_pursuit *cuts, double *column);
/* fused_regions.c: one region a connected component. */
VXS_MUST_CHECK vxs_status vxs_class_block_init(const vxs_cut_pursuit *cuts, vxs_class_block *block,
                                               vxs_error *err);
void vxs_class_block_release(vxs_class_block *block);
/* Node sets that the minimum cuts separated become regions. */
VXS_MUST_CHECK vxs_status vxs_class_block_split(const vxs_cut_pursuit *cuts, vxs_class_block *block,
                                                vxs_error *err);
/* Lists the boundaries. */
VXS_MUST_CHECK vxs_status vxs_class_block_find_boundaries(const vxs_cut_pursuit *cuts,
                                                          vxs_class_block *block, vxs_error *err);
/* Of two regions of equal value, the upper one has the larger rate. */
bool vxs_class_block_is_upper(const vxs_class_block *block, size_t q, uint32_t a, uint32_t b);
/* Sets flows on boundaries to capacity, from the upper region. */
void vxs_class_block_saturate(const vxs_cut_pursuit *cuts, vxs_class_block *block);

/* sub_regions.c: copies the current regions. */
VXS_MUST_CHECK vxs_status vxs_sub_regions_init(const vxs_cut_pursuit *cuts, vxs_class_block *block,
                                               vxs_error *err);
void vxs_sub_regions_release(vxs_sub_regions *sub_regions);
/* Splits merged regions along minimum cuts if that lowers the value; returns the excess flow. */
double vxs_sub_regions_split(const vxs_cut_pursuit *cuts, vxs_class_block *block, double lambda,
                             double least);
/* Assigns nodes to the regions of their sub-regions. */
void vxs_sub_regions_finish(vxs_class_block *block);

/* region_values.c: optimal region values and covariate coefficients at lambda; regions of equal
 * value merge. Sets z and gradient. */
VXS_MUST_CHECK vxs_status vxs_region_values_solve(vxs_cut_pursuit *cuts, double lambda,
                                                  vxs_error *err);
void vxs_region_values_free(struct vxs_region_values *levels);
double vxs_region_values_penalty(const vxs_cut_pursuit *cuts);

#endif
