/* skfs.h - structured kernel feature selection; private to the solver room.
 *
 * skfs.c solves it to a certified gap, dual_averaging.c by the paper's stochastic method. Both are
 * scaled so that the empty model's value and lambda_max are 1. */
#ifndef VXS_SOLVER_INTERIOR_POINT_SKFS_H
#define VXS_SOLVER_INTERIOR_POINT_SKFS_H

#include "solver/solver.h"

#define VXS_NOT_IN_SET SIZE_MAX

typedef struct {
    vxs_solver solver;
    const vxs_context *context;
    vxs_problem problem;
    vxs_method_settings settings;
    double laplacian;  /* lambda2 as given: it is relative to lambda_max^2 / n^2 */
    size_t n, p, rows; /* rows: samples with weight > 0 */
    size_t *row;
    double lambda_max, scale;           /* scale of Z: sum u / lambda_max */
    double *u;                          /* rows: weights, sum 1 */
    double *alpha, *by_sample;          /* rows: dual point; n: the same by sample */
    size_t *start, *neighbor;           /* p + 1: first neighbor of a voxel */
    double *edge, *degree;              /* edge weights; p: their sums */
    double *a, *interior, *correlation; /* p: weights, weights before small ones were set to 0,
                                         * Z'alpha - 2 S La */
    size_t *working_set, *position;     /* voxels, ascending; p: position in the working set, or
                                        * VXS_NOT_IN_SET */
    size_t count, capacity;
    double *z, *column; /* rows x count; n */
    size_t *order;      /* p: work space */
    size_t *from, *to;  /* edges inside the working set */
    double *weight;
    double *set_a, *slack, *set_degree;
    double last_rho;
    vxs_costs costs;
    float *by_row; /* rows x p, row-major, for dual averaging; or NULL */
} vxs_skfs;

/* skfs_working_set.c: removes voxels of weight 0 with a correlation below `bound`; adds the first
 * `count` voxels of `order`. */
void vxs_skfs_remove(vxs_skfs *s, double bound);
VXS_MUST_CHECK vxs_status vxs_skfs_add(vxs_skfs *s, size_t count, vxs_error *err);
/* Solves the problem on the working set to the target gap: sets a, interior and alpha. Polish
 * solves it on the support alone: sets a. */
VXS_MUST_CHECK vxs_status vxs_skfs_solve(vxs_skfs *s, double rho, double target,
                                         vxs_certificate *certificate, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_skfs_polish(vxs_skfs *s, double rho, double target,
                                          vxs_certificate *certificate, vxs_error *err);
/* skfs.c: correlations, primal and dual value and gap over all voxels. */
void vxs_skfs_certify(vxs_skfs *s, double rho, vxs_certificate *certificate);
/* dual_averaging.c */
VXS_MUST_CHECK vxs_status vxs_dual_averaging(vxs_skfs *s, double rho, vxs_certificate *certificate,
                                             vxs_error *err);

#endif
