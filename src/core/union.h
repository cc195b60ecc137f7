/* union.h - disjoint sets (union-find); private to the library. */
#ifndef VXS_CORE_UNION_H
#define VXS_CORE_UNION_H

#include "voxsift/internal/core.h"

/* parent[k] == k marks a root, the smallest member of its set. */
VXS_MUST_CHECK static inline size_t *vxs_union_new(size_t count, vxs_error *err)
{
    size_t *parent = vxs_alloc(count, sizeof(*parent), err);
    for (size_t k = 0; parent && k < count; k++)
        parent[k] = k;
    return parent;
}

static inline size_t vxs_union_find(size_t *parent, size_t k)
{
    while (parent[k] != k) {
        parent[k] = parent[parent[k]];
        k = parent[k];
    }
    return k;
}

/* Merges two sets; false if they are the same. */
static inline bool vxs_union_join(size_t *parent, size_t a, size_t b)
{
    a = vxs_union_find(parent, a);
    b = vxs_union_find(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
    return a != b;
}

#endif
