/* vi.h - screening by a variational inequality; private to the solver room. */
#ifndef VXS_SOLVER_SAIF_VI_H
#define VXS_SOLVER_SAIF_VI_H

#include "solver/saif/weighted_covariates.h"
#include "solver/saif/working_set.h"

/* A ball cut by a half-space. */
typedef struct {
    double radius;
    double cut; /* distance of the half-space's edge from the center, along its normal; within the
                 * radius */
} vxs_dome;

/* The edge is `distance` from the center along the normal, up to `rounding`. */
void vxs_dome_init(vxs_dome *dome, double radius, double distance, double rounding);
/* The largest product of x with a point of the dome, from those with its center and with its normal
 * of length 1, and |x|. */
double vxs_dome_bound(const vxs_dome *dome, double center, double normal, double norm);

/* Products of the columns that all domes of a problem share. The metric of dual points is
 * sum a_i b_i / u_i; ridge and Laplacian are additional rows with target 0. */
typedef struct {
    size_t n, p;
    vxs_weighted_covariates covariates; /* root(u) C */
    double *target;                     /* n: root(u) y without the covariates */
    double *target_products;            /* p */
    double *norms;                      /* p: without the covariates */
    double *steepest;                   /* n: the steepest column of the empty model */
    double *steepest_products;          /* p */
    double steepest_square;             /* of its length */
    bool has_steepest;
    double *center, *normal, *spare; /* n */
} vxs_vi;

/* Where a dual point comes from. The weights of the set give the half-space. */
typedef struct {
    const vxs_working_set *set;
    const double *theta; /* n: of the set's weights, without the covariates */
    double lambda;       /* of it */
    double limit;        /* the scale up to which it is dual feasible */
} vxs_vi_point;

/* A dome around the dual optimum of a lambda. A column's products with the center are
 * theta_share x_j'theta + target_share x_j'target, and so on. */
typedef struct {
    vxs_dome dome;
    double theta_share, target_share;
    double normal_theta, normal_target, normal_steepest;
    bool nonnegative;
} vxs_vi_region;

/* `first` are the products of all columns with -f' of the empty model, `empty` (n). Reads columns
 * where their norms without the covariates are not known. */
VXS_MUST_CHECK vxs_status vxs_vi_init(vxs_vi *vi, const vxs_working_set *set, const double *empty,
                                      const double *first, vxs_error *err);
void vxs_vi_release(vxs_vi *vi);
/* One scan: without weights a half-space comes from column `j`, whose product with the empty
 * model's -f' has this sign. `some` has p entries. */
void vxs_vi_set_steepest(vxs_vi *vi, const vxs_working_set *set, size_t j, double sign);
void vxs_vi_region_init(vxs_vi *vi, const vxs_vi_point *at, double lambda, vxs_vi_region *region);
/* The bound of |x_j'theta| at the optimum, or of x_j'theta with w >= 0. `correlation` is x_j'theta
 * of the point, with ridge and Laplacian. */
double vxs_vi_bound(const vxs_vi *vi, const vxs_vi_region *region, size_t j, double correlation);

#endif
