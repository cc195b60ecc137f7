/* cached_correlations.h - correlations with theta from earlier scans; private to the solver room.
 *
 * A scan is linear: with theta = sum of earlier points (anchors) + residual, |x_j'residual| <=
 * |x_j| |residual| bounds the error. Only columns for which the bound is not decisive are read, and
 * only those that may come near the level in question are looked at: for all others it is known
 * that they do not. */
#ifndef VXS_SOLVER_SAIF_CACHED_CORRELATIONS_H
#define VXS_SOLVER_SAIF_CACHED_CORRELATIONS_H

#include "voxsift/internal/design.h"

typedef struct {
    vxs_design *design;
    size_t n, p;
    size_t count, room; /* anchors */
    double *points;     /* n x room, orthonormal */
    int nthreads;
    int16_t *values; /* p x room: x_j'anchor / |x_j|, in units of `unit` */
    double *unit;
    double *error;        /* of an anchor's values */
    float *sums;          /* p: combined shares of the anchors, in units of |x_j| */
    double reach;         /* how far these may be from x_j'theta, in the same units */
    double *share;        /* coordinates of theta in the anchors */
    double *rest;         /* n: residual */
    const double *offset; /* p: subtracted from each correlation, exact; NULL: none */
    double *estimate;     /* p: x_j'theta - offset, up to error_bound; of the near columns */
    float *error_bound;   /* p */
    float *lengths;       /* p: column norms, the longest of which is */
    double longest;
    size_t *near; /* near_count, ascending: all that may reach near_level */
    size_t near_count;
    double near_level;
    bool complete;   /* estimates of all columns are current, near or not */
    uint32_t *known; /* p: equal to `turn` if the correlation was set for this theta */
    uint32_t turn;
    size_t *uncertain; /* p */
    double *some;      /* p: their correlations */
} vxs_cached_correlations;

/* Computes norms and the first anchor, in one pass. */
VXS_MUST_CHECK vxs_status vxs_cached_correlations_init(vxs_cached_correlations *scans,
                                                       vxs_design *design, const double *first,
                                                       vxs_error *err);
void vxs_cached_correlations_release(vxs_cached_correlations *scans);
/* Prepares estimates of the correlations with theta; reads no column. */
void vxs_cached_correlations_estimate(vxs_cached_correlations *scans, const double *theta);
/* Lists in `near` at least the columns whose estimate and its error bound may reach the level in
 * size, and makes their estimates; all columns for a level of 0 or less. */
void vxs_cached_correlations_list(vxs_cached_correlations *scans, double level);
/* Lists, in ascending order, the columns that probably reach the level in size, and makes their
 * estimates; returns how many. For choices that need no guarantee. */
size_t vxs_cached_correlations_likely(vxs_cached_correlations *scans, double level, size_t *list);
/* After estimates of all columns were written by others. */
void vxs_cached_correlations_replaced(vxs_cached_correlations *scans);
/* Sets a correlation (minus the offset) that is known otherwise. */
void vxs_cached_correlations_set(vxs_cached_correlations *scans, size_t j, double value);
/* Reads all columns if many may reach the level. */
void vxs_cached_correlations_refresh_all(vxs_cached_correlations *scans, const double *theta,
                                         double level);
/* Refresh: reads the columns for which |x_j'theta| + slack |x_j| >= level is undecided. */
void vxs_cached_correlations_refresh(vxs_cached_correlations *scans, const double *theta,
                                     double level, double slack);
/* Of these columns alone, which are listed. */
void vxs_cached_correlations_refresh_some(vxs_cached_correlations *scans, const double *theta,
                                          double level, double slack, const size_t *among,
                                          size_t count);

#endif
