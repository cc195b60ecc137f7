/* distances.c - how far voxels are from the nearest of others, in mm.
 *
 * Where the axes of the grid are at right angles (turned in space or not), the squared distance is
 * a sum over axes: an envelope of parabolas along each line of voxels, axis by axis, gives all of
 * them in time proportional to the grid (Felzenszwalb and Huttenlocher 2012). On a sheared grid it
 * is no such sum; there a tree over the voxel centers (k-d: each node halves its points along the
 * axis in which they spread most) answers as exactly, in about log(targets) a voxel, more where
 * many targets are equally far. */
#include "voxsift/internal/image.h"

#include <math.h>
#include <stdlib.h>

#define LEAF  8    /* points that are looked at one by one */
#define RIGHT 1e-6 /* cosine of a right angle: affines have seven digits */

/* ---- Axes at right angles -------------------------------------------------------------------- */

static bool is_orthogonal(const vxs_grid *grid)
{
    double size[3];
    vxs_grid_voxel_size(grid, size);
    for (int c = 0; c < 3; c++) {
        int other = (c + 1) % 3;
        double dot = 0;
        for (int r = 0; r < 3; r++)
            dot += grid->affine[r][c] * grid->affine[r][other];
        if (!(fabs(dot) <= RIGHT * size[c] * size[other]))
            return false;
    }
    return true;
}

/* A line of voxels: squared distances before and after, and the parabolas of the envelope, each
 * with its vertex and where it begins to be the lowest. */
typedef struct {
    double *before, *after, *begin;
    size_t *vertex;
} line;

/* Where the parabola of q undercuts that of r, r < q. */
static double meeting(const line *l, size_t r, size_t q, double size)
{
    double one = (double)r * size, other = (double)q * size;
    return (l->before[q] + other * other - l->before[r] - one * one) / (2 * (other - one));
}

static void transform_line(const line *l, size_t n, double size)
{
    size_t count = 0;
    for (size_t q = 0; q < n; q++) {
        double from = -INFINITY;
        if (isinf(l->before[q]))
            continue;
        while (count > 0) {
            from = meeting(l, l->vertex[count - 1], q, size);
            if (from > l->begin[count - 1])
                break;
            count--;
        }
        l->begin[count] = count > 0 ? from : -INFINITY;
        l->vertex[count++] = q;
    }
    for (size_t p = 0, k = 0; p < n; p++) {
        while (k + 1 < count && l->begin[k + 1] < (double)p * size)
            k++;
        double along = count > 0 ? ((double)p - (double)l->vertex[k]) * size : 0;
        l->after[p] = count > 0 ? along * along + l->before[l->vertex[k]] : INFINITY;
    }
}

static void transform_axis(const vxs_grid *grid, int axis, const line *l, double *squares)
{
    const size_t stride[3] = { 1, grid->shape[0], grid->shape[0] * grid->shape[1] };
    size_t n = grid->shape[axis], step = stride[axis], voxels = vxs_grid_voxels(grid);
    double size[3];
    vxs_grid_voxel_size(grid, size);
    for (size_t first = 0; first < voxels; first++) {
        if (first / step % n != 0) /* not the start of a line */
            continue;
        for (size_t k = 0; k < n; k++)
            l->before[k] = squares[first + k * step];
        transform_line(l, n, size[axis]);
        for (size_t k = 0; k < n; k++)
            squares[first + k * step] = l->after[k];
    }
}

static vxs_status by_axes(const vxs_grid *grid, const uint8_t *from, const uint8_t *to,
                          double *distances, vxs_error *err)
{
    const size_t *shape = grid->shape;
    size_t voxels = vxs_grid_voxels(grid), longest = shape[0] > shape[1] ? shape[0] : shape[1];
    longest = shape[2] > longest ? shape[2] : longest;
    line l = { .before = vxs_alloc(longest, sizeof(double), err),
               .after = vxs_alloc(longest, sizeof(double), err),
               .begin = vxs_alloc(longest, sizeof(double), err),
               .vertex = vxs_alloc(longest, sizeof(size_t), err) };
    double *squares = vxs_alloc(voxels, sizeof(*squares), err);
    bool ready = l.before && l.after && l.begin && l.vertex && squares;
    for (size_t v = 0; v < voxels && ready; v++)
        squares[v] = to[v] ? 0 : INFINITY;
    for (int axis = 0; axis < 3 && ready; axis++)
        transform_axis(grid, axis, &l, squares);
    for (size_t v = 0; v < voxels && ready; v++)
        if (from[v])
            distances[v] = sqrt(squares[v]);
    free(squares);
    free(l.vertex);
    free(l.begin);
    free(l.after);
    free(l.before);
    return ready ? VXS_OK : VXS_FAILED;
}

/* ---- Any axes -------------------------------------------------------------------------------- */

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

static vxs_status by_tree(const vxs_grid *grid, const uint8_t *from, const uint8_t *to,
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

vxs_status vxs_voxel_distances(const vxs_grid *grid, const uint8_t *from, const uint8_t *to,
                               double *distances, vxs_error *err)
{
    return (is_orthogonal(grid) ? by_axes : by_tree)(grid, from, to, distances, err);
}
