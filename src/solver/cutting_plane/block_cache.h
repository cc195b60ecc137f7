/* block_cache.h - units that were fetched; private to the solver room. */
#ifndef VXS_SOLVER_CUTTING_PLANE_BLOCK_CACHE_H
#define VXS_SOLVER_CUTTING_PLANE_BLOCK_CACHE_H

#include "voxsift/internal/design.h"

/* The columns of place k are x + start[k] * n ... They are the unit's, or n that stand for them. */
typedef struct {
    vxs_units *units;
    size_t n, count, room, column_room;
    size_t *unit, *start;
    double *x;
    double *gradient; /* room for a number a column */
    double **rows;    /* of place k: NULL, or what makes n columns the unit's */
} vxs_pool;

VXS_MUST_CHECK vxs_status vxs_pool_init(vxs_pool *p, vxs_units *units, size_t n, vxs_error *err);
void vxs_pool_release(vxs_pool *p);
/* Nothing is in it. */
void vxs_pool_clear(vxs_pool *p);
/* Where a unit stands; it is fetched when it is not there. */
VXS_MUST_CHECK vxs_status vxs_pool_place(vxs_pool *p, size_t unit, size_t *place, vxs_error *err);
/* p->count when it is not there. */
size_t vxs_pool_find(const vxs_pool *p, size_t unit);
size_t vxs_pool_columns(const vxs_pool *p);
size_t vxs_pool_width(const vxs_pool *p, size_t place);
/* Weights of a unit's own columns from those of the columns that are here. */
void vxs_pool_unfold(const vxs_pool *p, size_t place, const double *here, double *own);

#endif
