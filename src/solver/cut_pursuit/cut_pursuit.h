/* cut_pursuit.h - the fused lasso on any graph, on pieces of equal weight; private to the solver
 * room.
 *
 * cut_pursuit.c splits pieces and certifies, fused_regions.c keeps them and their columns,
 * region_values.c solves the problem in which each piece has one weight. */
#ifndef VXS_SOLVER_CUT_PURSUIT_CUT_PURSUIT_H
#define VXS_SOLVER_CUT_PURSUIT_CUT_PURSUIT_H

#include "graph/flow.h"
#include "solver/reach.h"
#include "solver/solver.h"

/* Between two pieces that touch. */
typedef struct {
    uint32_t upper, lower; /* the one whose weight is not less, and the other */
    double weight;         /* of all edges between them */
} vxs_border;

/* The pieces as they were when their levels began to move: what has become one may part again along
 * their borders, which is cheap to see. */
typedef struct {
    size_t count, border_count;
    double *x;     /* n x count: sums of columns */
    double *value; /* what is to be carried off each */
    uint32_t *now; /* the piece that each is part of */
    uint32_t *next;
    vxs_border *borders;
    vxs_graph graph;
    vxs_flow *flow;
} vxs_atoms;

/* The pieces of one class; other losses have one class. With a ground (graph/flow.h) piece 0 is
 * that of the ground, and has weight 0. */
typedef struct {
    vxs_flow *flow;
    size_t count;    /* pieces */
    uint32_t *piece; /* of a node, the ground included */
    double *x;       /* n x (q + count): free columns, and sums of the pieces' columns */
    double *w;       /* q + count: theirs */
    double *rate;    /* of a piece: which way it would move */
    double *value;   /* of a node: -x_j'dual / lambda, and the ground's */
    vxs_border *borders;
    size_t border_count;
    vxs_atoms atoms;
} vxs_side;

typedef struct {
    vxs_solver solver;
    const vxs_context *context;
    vxs_problem problem;
    vxs_method_settings settings;
    size_t n, p, q, classes; /* classes: 1 unless the loss is multinomial */
    vxs_side *sides;
    uint32_t *home;                /* of a node: the first of its piece of the graph */
    double *z, *slope, *curvature; /* n x classes */
    double *dual;                  /* likewise: f', orthogonal to what is free */
    double *inside;                /* likewise, of the empty model */
    double *basis;                 /* n x rank, orthonormal: what is free */
    size_t rank;
    vxs_reach reach;
    double *values;     /* p x classes: -X'dual / lambda */
    double least;       /* of a piece's column: no more is rounding */
    double little;      /* of the value: what is not worth a cut */
    double zero, empty; /* values without any weight, and of the empty model */
    double lambda_max, last_lambda;
    vxs_costs costs;
    struct vxs_levels *levels; /* room for region_values.c */
} vxs_cuts;

static inline size_t vxs_side_columns(const vxs_cuts *c, const vxs_side *s)
{
    return c->q + s->count;
}

static inline bool vxs_side_grounded(const vxs_side *s)
{
    return s->flow->has_reference > 0;
}

/* A piece's column that is no more than rounding is 0. */
void vxs_side_clean(const vxs_cuts *cuts, double *column);
/* fused_regions.c: one piece for each that hangs together. */
VXS_MUST_CHECK vxs_status vxs_side_begin(const vxs_cuts *cuts, vxs_side *side, vxs_error *err);
void vxs_side_release(vxs_side *side);
/* Parts of the flow, as splits have left them, become pieces, with columns of their own. */
VXS_MUST_CHECK vxs_status vxs_side_divide(const vxs_cuts *cuts, vxs_side *side, vxs_error *err);
/* Lists the borders. */
VXS_MUST_CHECK vxs_status vxs_side_survey(const vxs_cuts *cuts, vxs_side *side, vxs_error *err);
/* Of two pieces that had one weight until now, the one that would move up is above. */
bool vxs_side_is_upper(const vxs_side *side, size_t q, uint32_t a, uint32_t b);
/* Flows of whole weight over the borders, from the upper side. */
void vxs_side_close(const vxs_cuts *cuts, vxs_side *side);

/* sub_regions.c: of the pieces as they are. */
VXS_MUST_CHECK vxs_status vxs_atoms_begin(const vxs_cuts *cuts, vxs_side *side, vxs_error *err);
void vxs_atoms_release(vxs_atoms *atoms);
/* Parts pieces along atoms' borders where that lowers the value; how much was in the way. */
double vxs_atoms_part(const vxs_cuts *cuts, vxs_side *side, double lambda, double least);
/* Nodes get the pieces of their atoms. */
void vxs_atoms_end(vxs_side *side);

/* region_values.c: the best weights of pieces and free columns at this lambda, to rounding; pieces
 * that meet become one. Sets z and slope. */
VXS_MUST_CHECK vxs_status vxs_levels_solve(vxs_cuts *cuts, double lambda, vxs_error *err);
void vxs_levels_free(struct vxs_levels *levels);
double vxs_levels_penalty(const vxs_cuts *cuts);

#endif
