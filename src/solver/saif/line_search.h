/* line_search.h - the minimum along a line; private to the solver room. */
#ifndef VXS_SOLVER_SAIF_LINE_SEARCH_H
#define VXS_SOLVER_SAIF_LINE_SEARCH_H

#include "voxsift/internal/solver.h"

/* phi(t) = sum_i u_i max(0, m_i + t g_i)^2 / 2 + lambda |w + t d|_1 + linear t + square t^2 / 2,
 * with margins m_i = 1 - y_i z_i and g_i = -y_i times the change of z_i. */
typedef struct {
    const vxs_loss *loss; /* squared hinge of n samples */
    size_t n, m;
    const double *z, *way; /* n: predictions, and their change */
    const double *w, *d;   /* m: penalized weights, and their change */
    double lambda;         /* of these */
    double linear, square; /* of ridge and Laplacian */
} vxs_line;

typedef struct {
    double at;           /* t */
    double slope, curve; /* change of the slope's constant and of its factor of t */
} vxs_line_event;

/* Work space, reused. */
typedef struct {
    vxs_line_event *events;
    size_t room;
} vxs_line_search;

/* The minimum over t in [0, most]; 0 if phi does not fall. `most` may be INFINITY. */
VXS_MUST_CHECK vxs_status vxs_line_minimum(vxs_line_search *search, const vxs_line *line,
                                           double most, double *share, vxs_error *err);
void vxs_line_search_release(vxs_line_search *search);

#endif
