/* gauss.h - Gauss transforms and median distances in given workspace, so that they cannot fail;
 * private to the design room. */
#ifndef VXS_DESIGN_GAUSS_H
#define VXS_DESIGN_GAUSS_H

#include "design/exponentials.h"

typedef struct {
    double at;
    size_t index;
} vxs_point;

/* How to compute a sum; the last two serve comparisons. */
typedef enum { VXS_GAUSS_FASTER, VXS_GAUSS_DIRECT, VXS_GAUSS_SERIES } vxs_gauss_algorithm;

typedef struct {
    const vxs_exponentials *run;
    vxs_gauss_algorithm algorithm;
    double *u, *w, *u_bell;    /* sources of one series, from its center, in bandwidths */
    double *s, *s_bell, *sums; /* targets and their sums */
    vxs_point *sources, *targets;
} vxs_gauss_workspace;
VXS_MUST_CHECK vxs_status vxs_gauss_workspace_init(vxs_gauss_workspace *workspace, size_t n,
                                                   size_t m, vxs_error *err);
void vxs_gauss_workspace_release(vxs_gauss_workspace *workspace);
/* See vxs_gauss_sums; requires bandwidth > 0. */
void vxs_gauss_sums_in(vxs_gauss_workspace *workspace, const double *x, const double *q, size_t n,
                       const double *at, size_t m, double bandwidth, double *g);
/* The k-th smallest value, from 0; reorders the values. */
double vxs_quickselect(double *x, size_t count, size_t k);
/* `bandwidth`, or if 0 the median distance of the values, or if that is 0 the median of the nonzero
 * distances; 0 if there are none. `workspace` has VXS_BANDWIDTH_WORKSPACE n values. */
enum { VXS_BANDWIDTH_WORKSPACE = 5 };
double vxs_bandwidth_of(const double *x, size_t n, double bandwidth, double *workspace);
bool vxs_varies(const double *x, size_t n);

/* n rounded up to a multiple of VXS_POINTS. */
size_t vxs_padded(size_t n);

#endif
