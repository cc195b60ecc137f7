/* block_cache.h - the columns of the feature blocks in cuts; private to the solver capacity. */
#ifndef VXS_SOLVER_CUTTING_PLANE_BLOCK_CACHE_H
#define VXS_SOLVER_CUTTING_PLANE_BLOCK_CACHE_H

#include "voxsift/internal/design.h"

/* The columns of place k: x + start[k] * n, those of the block or the n of its factor L. */
typedef struct {
    vxs_blocks *blocks;
    size_t n, count, capacity, column_capacity;
    size_t *block, *start;
    double *x;
    double *gradient; /* a number a column: X'gradient */
    double **rows;    /* of place k: Q (n x width), or NULL */
} vxs_block_cache;

VXS_MUST_CHECK vxs_status vxs_block_cache_init(vxs_block_cache *p, vxs_blocks *blocks, size_t n,
                                               vxs_error *err);
void vxs_block_cache_release(vxs_block_cache *p);

void vxs_block_cache_clear(vxs_block_cache *p);
/* The place of a block; fetches its columns if they are not cached. */
VXS_MUST_CHECK vxs_status vxs_block_cache_fetch(vxs_block_cache *p, size_t block, size_t *place,
                                                vxs_error *err);
/* The place of a block; p->count if it is not cached. */
size_t vxs_block_cache_find(const vxs_block_cache *p, size_t block);
size_t vxs_block_cache_columns(const vxs_block_cache *p);
size_t vxs_block_cache_width(const vxs_block_cache *p, size_t place);
/* Weights of the block's own columns from weights of the cached ones. */
void vxs_block_cache_expand(const vxs_block_cache *p, size_t place, const double *cached,
                            double *own);

#endif
