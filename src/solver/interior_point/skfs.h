/* skfs.h - structured kernel feature selection being solved; private to the solver room.
 *
 * skfs.c begins and ends it, and solves it to a certified gap; dual_averaging.c in the way of the
 * paper. Both in units in which the empty model's value and lambda_max are 1. */
#ifndef VXS_SOLVER_INTERIOR_POINT_SKFS_H
#define VXS_SOLVER_INTERIOR_POINT_SKFS_H

#include "solver/solver.h"

#define VXS_NOWHERE SIZE_MAX

typedef struct {
    vxs_solver solver;
    const vxs_context *context;
    vxs_problem problem;
    vxs_method_settings settings;
    double smooth;     /* of the quadratic, as it is: in these units lambda_max is 1 */
    size_t n, p, rows; /* rows: samples with a weight */
    size_t *row;
    double lambda_max, unit;   /* unit: U / lambda_max */
    double *u;                 /* rows: weights, which sum to 1 */
    double *alpha, *wide;      /* rows; n */
    size_t *start, *neighbour; /* p + 1: of a voxel's neighbours */
    double *edge, *degree;     /* their weights; p: and their sums */
    double *a, *inside, *want; /* p: the answer, and what it was rounded from */
    size_t *member, *place;    /* ascending; p: where a voxel is among them, or NOWHERE */
    size_t count, room;
    double *z, *column; /* rows x count; n */
    size_t *order;      /* p */
    size_t *from, *to;  /* edges between members */
    double *weight;
    double *member_a, *slack, *member_degree;
    double last_rho;
    vxs_costs costs;
    float *by_row; /* rows x p, by row: for dual averages; or NULL */
} vxs_skfs;

/* skfs_working_set.c: members without weight that want too little leave; the first `count` of
 * `order` enter. */
void vxs_skfs_leave(vxs_skfs *s, double least);
VXS_MUST_CHECK vxs_status vxs_skfs_enter(vxs_skfs *s, size_t count, vxs_error *err);
/* Their problem, to that gap: sets a, inside and alpha; and the same on those with a weight alone,
 * which sets a. */
VXS_MUST_CHECK vxs_status vxs_skfs_solve(vxs_skfs *s, double rho, double target,
                                         vxs_certificate *certificate, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_skfs_polish(vxs_skfs *s, double rho, double target,
                                          vxs_certificate *certificate, vxs_error *err);
/* skfs.c: what voxels want, and primal, dual and gap over all of them. */
void vxs_skfs_certify(vxs_skfs *s, double rho, vxs_certificate *certificate);
/* dual_averaging.c */
VXS_MUST_CHECK vxs_status vxs_dual_average(vxs_skfs *s, double rho, vxs_certificate *certificate,
                                           vxs_error *err);

#endif
