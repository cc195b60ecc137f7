/* distances.c - how far voxels are from the nearest of others, in mm.
 *
 * A tree over the voxel centers (k-d: each node halves its points along the axis in which they
 * spread most) answers exactly whatever the affine, sheared ones included, where transforms that go
 * axis by axis fail. Cost: about log(number of targets) a voxel. */
#include "voxsift/internal/image.h"

#include <math.h>
#include <stdlib.h>

#define LEAF 8 /* points that are looked at one by one */

typedef struct {
    double at[3];
} point;

typedef struct {
    point *points;
    uint8_t *axes; /* of the node whose point this is */
} tree;

static int widest(const point *points, size_t first, size_t end)
{
    double spread[3];
    for (int d = 0; d < 3; d++) {
        double low = points[first].at[d], high = low;
        for (size_t k = first + 1; k < end; k++) {
            low = fmin(low, points[k].at[d]);
            high = fmax(high, points[k].at[d]);
        }
        spread[d] = high - low;
    }
    int best = spread[1] > spread[0];
    return spread[2] > spread[best] ? 2 : best;
}

/* Puts the middle one in its place, none larger before it, none smaller behind it. */
static void halve(point *points, size_t first, size_t end, size_t middle, int axis)
{
    size_t low = first, high = end - 1;
    while (low < high) {
        double pivot = points[low + (high - low) / 2].at[axis];
        size_t i = low, j = high;
        for (;;) {
            while (points[i].at[axis] < pivot)
                i++;
            while (points[j].at[axis] > pivot)
                j--;
            if (i >= j)
                break;
            point other = points[i];
            points[i++] = points[j];
            points[j--] = other;
        }
        if (middle <= j)
            high = j;
        else
            low = j + 1;
    }
}

static void build(tree *t, size_t first, size_t end)
{
    while (end - first > LEAF) {
        size_t middle = first + (end - first) / 2;
        int axis = widest(t->points, first, end);
        halve(t->points, first, end, middle, axis);
        t->axes[middle] = (uint8_t)axis;
        build(t, first, middle);
        first = middle + 1;
    }
}

typedef struct {
    double square; /* of the distance */
    size_t at;
} nearest;

static void look(const tree *t, size_t k, const point *from, nearest *best)
{
    double square = 0;
    for (int d = 0; d < 3; d++)
        square += (from->at[d] - t->points[k].at[d]) * (from->at[d] - t->points[k].at[d]);
    if (square < best->square)
        *best = (nearest){ square, k };
}

static void search(const tree *t, size_t first, size_t end, const point *from, nearest *best)
{
    while (end - first > LEAF) {
        size_t middle = first + (end - first) / 2;
        int axis = t->axes[middle];
        double beyond = from->at[axis] - t->points[middle].at[axis];
        look(t, middle, from, best);
        if (beyond < 0)
            search(t, first, middle, from, best);
        else
            search(t, middle + 1, end, from, best);
        if (beyond * beyond >= best->square)
            return;
        if (beyond < 0)
            first = middle + 1;
        else
            end = middle;
    }
    for (size_t k = first; k < end; k++)
        look(t, k, from, best);
}

/* Relative to voxel 0, so that a far origin takes no digits. */
static point place_of(const vxs_grid *grid, size_t voxel)
{
    double index[3];
    point p;
    vxs_grid_index(grid, voxel, index);
    for (int d = 0; d < 3; d++)
        p.at[d] = grid->affine[d][0] * index[0] + grid->affine[d][1] * index[1] +
                  grid->affine[d][2] * index[2];
    return p;
}

vxs_status vxs_voxel_distances(const vxs_grid *grid, const uint8_t *from, const uint8_t *to,
                               double *distances, vxs_error *err)
{
    size_t voxels = vxs_grid_voxels(grid), count = 0;
    for (size_t v = 0; v < voxels; v++)
        count += to[v] != 0;
    tree t = { .points = vxs_alloc(count, sizeof(*t.points), err),
               .axes = vxs_alloc(count, sizeof(*t.axes), err) };
    vxs_status status = t.points && t.axes ? VXS_OK : VXS_FAILED;
    for (size_t v = 0, k = 0; v < voxels && !status; v++)
        if (to[v])
            t.points[k++] = place_of(grid, v);
    if (!status)
        build(&t, 0, count);
    nearest best = { INFINITY, 0 };
    for (size_t v = 0; v < voxels && !status; v++) {
        if (!from[v])
            continue;
        if (to[v]) {
            distances[v] = 0;
            continue;
        }
        point here = place_of(grid, v);
        best.square = INFINITY;
        if (count > 0)
            look(&t, best.at, &here, &best); /* near the last voxel's: little else is searched */
        search(&t, 0, count, &here, &best);
        distances[v] = sqrt(best.square);
    }
    free(t.axes);
    free(t.points);
    return status;
}
