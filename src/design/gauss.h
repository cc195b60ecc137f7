/* gauss.h - Gauss transforms and distances with room that is given, so that they cannot fail;
 * private to the design room. */
#ifndef VXS_DESIGN_GAUSS_H
#define VXS_DESIGN_GAUSS_H

#include "design/exponentials.h"

typedef struct {
    double place;
    size_t index;
} vxs_point;

/* Ways to sum a piece; the others than the first are for whoever compares them. */
typedef enum { VXS_GAUSS_FASTER, VXS_GAUSS_DIRECT, VXS_GAUSS_SERIES } vxs_gauss_way;

typedef struct {
    const vxs_exponentials *run;
    vxs_gauss_way way;
    double *u, *w, *u_bell;  /* points of one piece, from its centre, in bandwidths */
    double *s, *s_bell, *to; /* and where their sums are wanted */
    vxs_point *points, *places;
} vxs_gauss_room;
VXS_MUST_CHECK vxs_status vxs_gauss_room_init(vxs_gauss_room *room, size_t n, size_t m,
                                              vxs_error *err);
void vxs_gauss_room_release(vxs_gauss_room *room);
/* As vxs_gauss_sums; the bandwidth is above 0. */
void vxs_gauss_sums_in(vxs_gauss_room *room, const double *x, const double *q, size_t n,
                       const double *at, size_t m, double bandwidth, double *g);
/* `wanted`, or with 0 the median distance of the values, of those that are not 0 if it is; 0 when
 * there are none. `room` for VXS_BANDWIDTH_ROOM n values. */
enum { VXS_BANDWIDTH_ROOM = 5 };
double vxs_bandwidth_of(const double *x, size_t n, double wanted, double *room);
bool vxs_varies(const double *x, size_t n);

/* The next multiple of VXS_POINTS. */
size_t vxs_filled(size_t n);

#endif
