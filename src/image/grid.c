/* grid.c - geometry of voxel grids. */
#include "voxsift/internal/image.h"

#include <math.h>

#define MIN_EDGE   1e-9 /* mm; a wide range of plausible sizes */
#define MAX_EDGE   1e9
#define MAX_EXTENT 1e6
#define MAX_ORIGIN 1e9
#define MIN_SKEW   1e-9 /* volume of a voxel relative to the cube of its longest entry */

static bool check_affine(const vxs_grid *grid)
{
    double scale = 0, volume = vxs_grid_voxel_volume(grid);
    for (int r = 0; r < 3; r++) {
        if (!(fabs(grid->affine[r][3]) <= MAX_ORIGIN))
            return false;
        for (int c = 0; c < 3; c++) {
            if (!(fabs(grid->affine[r][c]) <= MAX_EDGE)) /* false for NaN */
                return false;
            scale = fmax(scale, fabs(grid->affine[r][c]));
        }
    }
    return scale >= MIN_EDGE && volume > MIN_SKEW * scale * scale * scale;
}

vxs_status vxs_grid_check(const vxs_grid *grid, const char *what, vxs_error *err)
{
    const size_t *n = grid->shape;
    double size[3];
    bool few = n[0] > 0 && n[1] > 0 && n[2] > 0 && n[0] <= VXS_MAX_VOXELS &&
               n[1] <= VXS_MAX_VOXELS / n[0] && n[2] <= VXS_MAX_VOXELS / n[0] / n[1];
    if (!few)
        return vxs_fail(err, VXS_BAD_DATA,
                        "%s: its grid is %zu x %zu x %zu; 1 to %d voxels are supported", what, n[0],
                        n[1], n[2], VXS_MAX_VOXELS);
    if (!check_affine(grid))
        return vxs_fail(err, VXS_BAD_DATA, "%s: its affine is singular or has invalid values",
                        what);
    vxs_grid_voxel_size(grid, size);
    for (int d = 0; d < 3; d++)
        if (!(size[d] * (double)n[d] <= MAX_EXTENT))
            return vxs_fail(err, VXS_BAD_DATA,
                            "%s: it is %g mm long (%zu voxels of %g mm); the maximum is %g mm",
                            what, size[d] * (double)n[d], n[d], size[d], MAX_EXTENT);
    return VXS_OK;
}

size_t vxs_grid_voxels(const vxs_grid *grid)
{
    return grid ? vxs_times(vxs_times(grid->shape[0], grid->shape[1]), grid->shape[2]) : 0;
}

void vxs_grid_position(const vxs_grid *grid, const double index[3], double position[3])
{
    for (int r = 0; r < 3 && position; r++)
        position[r] = !grid || !index
                          ? NAN
                          : grid->affine[r][0] * index[0] + grid->affine[r][1] * index[1] +
                                grid->affine[r][2] * index[2] + grid->affine[r][3];
}

void vxs_grid_index(const vxs_grid *grid, size_t voxel, double index[3])
{
    if (!index)
        return;
    index[0] = index[1] = index[2] = NAN;
    if (voxel >= vxs_grid_voxels(grid))
        return;
    size_t i = voxel % grid->shape[0], rest = voxel / grid->shape[0];
    size_t j = rest % grid->shape[1], k = rest / grid->shape[1];
    index[0] = (double)i;
    index[1] = (double)j;
    index[2] = (double)k;
}

static double minor_of(const double m[4][4], int row, int column)
{
    int r0 = (row + 1) % 3, r1 = (row + 2) % 3, c0 = (column + 1) % 3, c1 = (column + 2) % 3;
    return m[r0][c0] * m[r1][c1] - m[r0][c1] * m[r1][c0]; /* cyclic indices give the correct sign */
}

static double determinant(const vxs_grid *grid)
{
    double det = 0;
    for (int c = 0; c < 3; c++)
        det += grid->affine[0][c] * minor_of(grid->affine, 0, c);
    return det;
}

bool vxs_grid_inverse(const vxs_grid *grid, double inverse[4][4])
{
    double det = determinant(grid);
    if (!(fabs(det) > 0))
        return false;
    for (int r = 0; r < 3; r++) {
        inverse[r][3] = 0;
        for (int c = 0; c < 3; c++) {
            inverse[r][c] = minor_of(grid->affine, c, r) / det;
            inverse[r][3] -= inverse[r][c] * grid->affine[c][3];
        }
    }
    for (int c = 0; c < 4; c++)
        inverse[3][c] = c == 3;
    return true;
}

void vxs_grid_voxel_size(const vxs_grid *grid, double size[3])
{
    for (int c = 0; c < 3 && size; c++)
        size[c] = !grid ? NAN
                        : sqrt(grid->affine[0][c] * grid->affine[0][c] +
                               grid->affine[1][c] * grid->affine[1][c] +
                               grid->affine[2][c] * grid->affine[2][c]);
}

double vxs_grid_voxel_volume(const vxs_grid *grid)
{
    return fabs(determinant(grid));
}

int vxs_grid_handedness(const vxs_grid *grid)
{
    return determinant(grid) < 0 ? -1 : 1;
}

/* Assigns voxel axes to world axes: of the six permutations, the one with the largest sum of
 * cosines. */
static void pair_axes(const vxs_grid *grid, int world[3])
{
    static const int ways[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
                                    { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    double size[3], best = -1;
    vxs_grid_voxel_size(grid, size);
    for (int w = 0; w < 6; w++) {
        double sum = 0;
        for (int c = 0; c < 3; c++)
            sum += fabs(grid->affine[ways[w][c]][c]) / size[c];
        if (sum > best + 1e-12) {
            best = sum;
            for (int c = 0; c < 3; c++)
                world[c] = ways[w][c];
        }
    }
}

void vxs_grid_orientation(const vxs_grid *grid, char letters[4])
{
    static const char up[] = "RAS", down[] = "LPI";
    int world[3];
    pair_axes(grid, world);
    for (int c = 0; c < 3; c++)
        letters[c] = (grid->affine[world[c]][c] < 0 ? down : up)[world[c]];
    letters[3] = '\0';
}

double vxs_grid_oblique(const vxs_grid *grid)
{
    const double degrees = 57.29577951308232;
    int world[3];
    double size[3], largest = 0;
    pair_axes(grid, world);
    vxs_grid_voxel_size(grid, size);
    for (int c = 0; c < 3; c++) {
        double across = 0; /* the orthogonal part, which is accurate for small angles */
        for (int r = 0; r < 3; r++)
            across += r == world[c] ? 0 : grid->affine[r][c] * grid->affine[r][c];
        double angle = atan2(sqrt(across), fabs(grid->affine[world[c]][c])) * degrees;
        largest = fmax(largest, angle);
    }
    return largest;
}

const char *vxs_grid_orientation_text(const vxs_grid *grid, char text[VXS_ORIENTATION_TEXT])
{
    char letters[4];
    double angle = vxs_grid_oblique(grid);
    vxs_grid_orientation(grid, letters);
    if (grid->source == VXS_AFFINE_NONE)
        snprintf(text, VXS_ORIENTATION_TEXT, "orientation unknown");
    else if (angle < 0.05)
        snprintf(text, VXS_ORIENTATION_TEXT, "%s", letters);
    else
        snprintf(text, VXS_ORIENTATION_TEXT, "%s, oblique by %.1f degrees", letters, angle);
    return text;
}

double vxs_grid_distance(const vxs_grid *a, const vxs_grid *b)
{
    double largest = 0;
    for (int corner = 0; corner < 8; corner++) {
        double index[3], at_a[3], at_b[3], squares = 0;
        for (int d = 0; d < 3; d++) {
            if (a->shape[d] != b->shape[d])
                return INFINITY;
            index[d] = corner >> d & 1 ? (double)(a->shape[d] - 1) : 0;
        }
        vxs_grid_position(a, index, at_a);
        vxs_grid_position(b, index, at_b);
        for (int d = 0; d < 3; d++)
            squares += (at_a[d] - at_b[d]) * (at_a[d] - at_b[d]);
        largest = fmax(largest, sqrt(squares));
    }
    return largest;
}

/* Which axis of b each axis of a runs along, and where on b it starts (0, or n - 1 to run back);
 * false if they are not the same axes with the same numbers of voxels. */
static bool pair_with(const vxs_grid *a, const vxs_grid *b, int axis[3], double sign[3])
{
    double inverse[4][4];
    bool taken[3] = { false, false, false };
    if (!vxs_grid_inverse(b, inverse))
        return false;
    for (int c = 0; c < 3; c++) {
        axis[c] = -1;
        for (int r = 0; r < 3; r++) {
            double along = 0; /* voxels of b along its axis r, for one voxel of a along c */
            for (int k = 0; k < 3; k++)
                along += inverse[r][k] * a->affine[k][c];
            if (fabs(along) < 0.5)
                continue;
            if (axis[c] >= 0 || taken[r] || a->shape[c] != b->shape[r])
                return false;
            axis[c] = r;
            taken[r] = true;
            sign[c] = along < 0 ? -1 : 1;
        }
        if (axis[c] < 0)
            return false;
    }
    return true;
}

bool vxs_grid_is_turned(const vxs_grid *a, const vxs_grid *b, double tolerance)
{
    int axis[3];
    double sign[3];
    if (!pair_with(a, b, axis, sign))
        return false;
    for (int corner = 0; corner < 8; corner++) { /* outer ones: a single voxel has a size too */
        double in_a[3], in_b[3], at_a[3], at_b[3], squares = 0;
        for (int c = 0; c < 3; c++) {
            double last = (double)a->shape[c] - 1;
            in_a[c] = corner >> c & 1 ? last + 0.5 : -0.5;
            in_b[axis[c]] = sign[c] > 0 ? in_a[c] : last - in_a[c];
        }
        vxs_grid_position(a, in_a, at_a);
        vxs_grid_position(b, in_b, at_b);
        for (int d = 0; d < 3; d++)
            squares += (at_a[d] - at_b[d]) * (at_a[d] - at_b[d]);
        if (!(sqrt(squares) <= tolerance))
            return false;
    }
    return true;
}

vxs_status vxs_grid_check_orientation_known(const vxs_grid *grid, const vxs_grid *images,
                                            const char *path, const char *what, vxs_error *err)
{
    bool is_unoriented = grid->source == VXS_AFFINE_NONE;
    if (is_unoriented == (images->source == VXS_AFFINE_NONE))
        return VXS_OK;
    return vxs_fail(err, VXS_BAD_DATA,
                    "cannot use '%s' as %s: it %s, and left and right may be exchanged", path, what,
                    is_unoriented ? "has no orientation, the images do"
                                  : "has an orientation, the images do not");
}
