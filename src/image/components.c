/* components.c - connected components of voxels. */
#include "voxsift/internal/image.h"

#include <stdlib.h>
#include <string.h>

/* Neighbors that precede a voxel in memory: 3 share a face, 6 more an edge, 4 more a corner. The
 * other half is covered by symmetry. */
static const int before[13][3] = {
    { -1, 0, 0 },  { 0, -1, 0 },  { 0, 0, -1 },  { -1, -1, 0 }, { 1, -1, 0 },
    { -1, 0, -1 }, { 1, 0, -1 },  { 0, -1, -1 }, { 0, 1, -1 },  { -1, -1, -1 },
    { 1, -1, -1 }, { -1, 1, -1 }, { 1, 1, -1 },
};

static int32_t root_of(int32_t *parent, int32_t v)
{
    while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

/* The smaller index becomes the root, so a root is the first voxel of its component. */
static void join(int32_t *parent, int32_t a, int32_t b)
{
    a = root_of(parent, a);
    b = root_of(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

static void join_neighbors(const uint8_t *mask, const float *values, const size_t shape[3],
                           int neighbors, const size_t at[3], int32_t *parent)
{
    size_t v = at[0] + shape[0] * (at[1] + shape[1] * at[2]);
    for (int n = 0; n < neighbors; n++) {
        size_t other[3];
        for (int d = 0; d < 3; d++)
            other[d] = at[d] + (size_t)before[n][d]; /* wraps below 0 and fails the test */
        if (other[0] >= shape[0] || other[1] >= shape[1] || other[2] >= shape[2])
            continue;
        size_t w = other[0] + shape[0] * (other[1] + shape[1] * other[2]);
        if (mask[w] && (!values || values[w] == values[v]))
            join(parent, (int32_t)w, (int32_t)v);
    }
}

typedef struct {
    int32_t root, size;
} component;

static int larger_first(const void *a, const void *b)
{
    const component *left = a, *right = b;
    if (left->size != right->size)
        return left->size < right->size ? 1 : -1;
    return (left->root > right->root) - (left->root < right->root);
}

static bool is_root(const uint8_t *mask, const int32_t *parent, size_t v)
{
    return mask[v] && parent[v] == (int32_t)v;
}

/* Lists the components with their sizes, in the order of their roots; numbers[root] is the
 * index. */
static component *list_components(const uint8_t *mask, size_t voxels, int32_t *parent,
                                  int32_t *numbers, size_t *count, vxs_error *err)
{
    size_t roots = 0;
    for (size_t v = 0; v < voxels; v++)
        roots += is_root(mask, parent, v);
    component *list = vxs_alloc(roots, sizeof(*list), err);
    *count = 0;
    for (size_t v = 0; list && v < voxels; v++) {
        if (!mask[v])
            continue;
        int32_t root = root_of(parent, (int32_t)v); /* the root precedes the other voxels */
        if (root == (int32_t)v) {
            list[*count].root = root;
            numbers[v] = (int32_t)(*count)++;
        }
        list[numbers[root]].size++;
    }
    return list;
}

/* Numbers the components by size and labels every voxel. */
static vxs_status number_components(const uint8_t *mask, size_t voxels, int32_t *labels,
                                    size_t *count, vxs_error *err)
{
    int32_t *numbers = vxs_alloc(voxels, sizeof(*numbers), err);
    component *list = numbers ? list_components(mask, voxels, labels, numbers, count, err) : NULL;
    if (list) {
        qsort(list, *count, sizeof(*list), larger_first);
        for (size_t k = 0; k < *count; k++)
            numbers[list[k].root] = (int32_t)k + 1;
        for (size_t v = 0; v < voxels; v++)
            numbers[v] = mask[v] ? numbers[root_of(labels, (int32_t)v)] : 0;
        memcpy(labels, numbers, voxels * sizeof(*labels));
    }
    vxs_status status = list ? VXS_OK : VXS_FAILED;
    free(numbers);
    free(list);
    return status;
}

vxs_status vxs_components_of_equal_values(const uint8_t *mask, const float *values,
                                          const size_t shape[3], int connectivity, int32_t *labels,
                                          size_t *count, vxs_error *err)
{
    int neighbors = connectivity == 6 ? 3 : connectivity == 18 ? 9 : 13;
    size_t voxels = shape[0] * shape[1] * shape[2], at[3];
    if (voxels > INT32_MAX)
        return vxs_fail(err, VXS_FAILED, "components of more than 2^31 voxels are not supported");
    for (size_t v = 0; v < voxels; v++)
        labels[v] = (int32_t)v;
    for (at[2] = 0; at[2] < shape[2]; at[2]++)
        for (at[1] = 0; at[1] < shape[1]; at[1]++)
            for (at[0] = 0; at[0] < shape[0]; at[0]++)
                if (mask[at[0] + shape[0] * (at[1] + shape[1] * at[2])])
                    join_neighbors(mask, values, shape, neighbors, at, labels);
    return number_components(mask, voxels, labels, count, err);
}

vxs_status vxs_components(const uint8_t *mask, const size_t shape[3], int connectivity,
                          int32_t *labels, size_t *count, vxs_error *err)
{
    return vxs_components_of_equal_values(mask, NULL, shape, connectivity, labels, count, err);
}
