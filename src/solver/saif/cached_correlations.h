/* cached_correlations.h - what earlier scans say of a new point; private to the solver room.
 *
 * A scan is linear: of a point that is a sum of earlier ones and a rest, |x_j'rest| <= |x_j| |rest|
 * bounds what is not known. Only columns for which that is not enough are read again. */
#ifndef VXS_SOLVER_SAIF_CACHED_CORRELATIONS_H
#define VXS_SOLVER_SAIF_CACHED_CORRELATIONS_H

#include "voxsift/internal/design.h"

typedef struct {
    vxs_design *design;
    size_t n, p;
    size_t count, room; /* points */
    double *points;     /* n x room, orthonormal */
    int nthreads;
    int16_t *values; /* p x room: x_j'point / |x_j|, in units of the point's own */
    double *unit;
    double *error;        /* of a point's values */
    float *sums;          /* p */
    double *share;        /* of each point in the present one */
    double *rest;         /* n */
    const double *offset; /* p: what is taken off each correlation, known exactly; NULL: nothing */
    double *estimate;     /* p: x_j'theta less the offset, up to doubt */
    float *doubt;         /* p */
    size_t *unsure;       /* p */
    double *some;         /* p, their values */
} vxs_scans;

/* Measures the design with a first point, in one reading. */
VXS_MUST_CHECK vxs_status vxs_scans_init(vxs_scans *scans, vxs_design *design, const double *first,
                                         vxs_error *err);
void vxs_scans_release(vxs_scans *scans);
/* Estimates for theta; nothing is read. */
void vxs_scans_point(vxs_scans *scans, const double *theta);
/* The value of a column, less the offset, that is known without reading. */
void vxs_scans_know(vxs_scans *scans, size_t j, double value);
/* Reads all columns if many may reach the level: for an order among them, which is all but exact.
 */
void vxs_scans_renew(vxs_scans *scans, const double *theta, double level);
/* Reads columns for which |x_j'theta| + slack |x_j| may reach the level, until that is known. */
void vxs_scans_settle(vxs_scans *scans, const double *theta, double level, double slack);

#endif
