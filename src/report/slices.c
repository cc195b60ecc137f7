/* slices.c - a map over an underlay: three views through its peak, and a row of axial slices.
 *
 * Pixels are sampled in mm (RAS+), so that left is left and front is up whatever the order of the
 * voxels is. */
#include "report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEP        1.5 /* mm a pixel */
#define MARGIN      6.0 /* mm around the mask */
#define MOST_PIXELS 600 /* along an axis: a head has 200 */
#define AXIAL       12  /* slices of the mosaic */
#define COLUMNS     6
#define GAP         4 /* pixels between views */

typedef struct {
    const vxs_slices *s;
    double low[3], high[3]; /* mm: the box that is shown */
    double map_inverse[4][4], underlay_inverse[4][4];
    double map_most, underlay_low, underlay_high;
    double step; /* of a pixel, mm */
    uint8_t *pixels;
    size_t width, height;
} canvas;

/* ---- What is shown --------------------------------------------------------------------------- */

static void widen_box(canvas *c, const vxs_grid *grid, size_t voxel)
{
    double index[3], at[3];
    vxs_grid_index(grid, voxel, index);
    vxs_grid_position(grid, index, at);
    for (int d = 0; d < 3; d++) {
        c->low[d] = fmin(c->low[d], at[d] - MARGIN);
        c->high[d] = fmax(c->high[d], at[d] + MARGIN);
    }
}

/* The mask, and the whole head under it: half a brain would not show which half it is. */
static void find_box(canvas *c)
{
    const vxs_volume *map = c->s->map, *u = c->s->underlay;
    for (int d = 0; d < 3; d++) {
        c->low[d] = INFINITY;
        c->high[d] = -INFINITY;
    }
    for (size_t v = 0; v < vxs_grid_voxels(&map->grid); v++) {
        if (!c->s->mask[v])
            continue;
        widen_box(c, &map->grid, v);
        c->map_most = fmax(c->map_most, fabs((double)map->values[v]));
    }
    for (size_t v = 0; u && v < vxs_grid_voxels(&u->grid); v++)
        if (u->values[v] > 0)
            widen_box(c, &u->grid, v);
}

static int by_value(const void *a, const void *b)
{
    float left = *(const float *)a, right = *(const float *)b;
    return (left > right) - (left < right);
}

/* Black to white over the middle of what is not 0. */
static vxs_status find_window(canvas *c, vxs_error *err)
{
    const vxs_volume *u = c->s->underlay;
    size_t voxels = u ? vxs_grid_voxels(&u->grid) : 0, count = 0;
    float *sorted = vxs_alloc(voxels, sizeof(*sorted), err);
    if (!sorted)
        return VXS_FAILED;
    for (size_t v = 0; v < voxels; v++)
        if (isfinite(u->values[v]) && u->values[v] != 0)
            sorted[count++] = u->values[v];
    if (count > 0) {
        qsort(sorted, count, sizeof(*sorted), by_value);
        c->underlay_low = fmin(0, (double)sorted[count / 50]);
        c->underlay_high = (double)sorted[count - 1 - count / 100];
    }
    free(sorted);
    return VXS_OK;
}

/* The voxel at a place in mm; false when it is outside of the grid. */
static bool voxel_at(const vxs_grid *grid, double inverse[4][4], const double at[3], size_t *voxel)
{
    size_t index[3];
    for (int d = 0; d < 3; d++) {
        double place = inverse[d][3];
        for (int k = 0; k < 3; k++)
            place += inverse[d][k] * at[k];
        place = floor(place + 0.5);
        if (!(place >= 0 && place < (double)grid->shape[d]))
            return false;
        index[d] = (size_t)place;
    }
    *voxel = index[0] + grid->shape[0] * (index[1] + grid->shape[1] * index[2]);
    return true;
}

static double grey_at(canvas *c, const double at[3])
{
    const vxs_slices *s = c->s;
    size_t v = 0;
    if (!s->underlay)
        return voxel_at(&s->map->grid, c->map_inverse, at, &v) && s->mask[v] ? 70 : 0;
    if (!voxel_at(&s->underlay->grid, c->underlay_inverse, at, &v) ||
        !(c->underlay_high > c->underlay_low))
        return 0;
    double share =
        ((double)s->underlay->values[v] - c->underlay_low) / (c->underlay_high - c->underlay_low);
    return 200 * fmax(0, fmin(1, share));
}

/* Positive values from red to yellow, negative ones from blue to cyan. */
static void color_at(canvas *c, const double at[3], uint8_t pixel[3])
{
    size_t v = 0;
    double gray = grey_at(c, at), value = 0;
    if (voxel_at(&c->s->map->grid, c->map_inverse, at, &v))
        value = (double)c->s->map->values[v];
    for (int k = 0; k < 3; k++)
        pixel[k] = (uint8_t)gray;
    if (value == 0 || !isfinite(value))
        return;
    double share = sqrt(fmin(1, fabs(value) / c->map_most));
    pixel[0] = value > 0 ? (uint8_t)(150 + 105 * share) : 0;
    pixel[1] = (uint8_t)(230 * share);
    pixel[2] = value > 0 ? 0 : (uint8_t)(150 + 105 * share);
}

static vxs_status look_at(canvas *c, const vxs_slices *slices, vxs_error *err)
{
    *c = (canvas){ .s = slices };
    if (!vxs_grid_inverse(&slices->map->grid, c->map_inverse) ||
        (slices->underlay && !vxs_grid_inverse(&slices->underlay->grid, c->underlay_inverse)))
        return vxs_fail(err, VXS_BAD_DATA, "an image has no usable grid");
    find_box(c);
    c->step = STEP;
    for (int d = 0; d < 3; d++)
        c->step = fmax(c->step, (c->high[d] - c->low[d]) / MOST_PIXELS);
    return find_window(c, err);
}

/* ---- Views ----------------------------------------------------------------------------------- */

static size_t pixels_along(const canvas *c, int axis)
{
    return (size_t)ceil((c->high[axis] - c->low[axis]) / c->step);
}

/* Axis `across` to the right, `up` upwards, the third one fixed by `at`. */
static void draw_view(canvas *c, size_t left, size_t top, int across, int up, const double at[3])
{
    size_t width = pixels_along(c, across), height = pixels_along(c, up);
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++) {
            double place[3] = { at[0], at[1], at[2] };
            place[across] = c->low[across] + c->step * ((double)x + 0.5);
            place[up] = c->high[up] - c->step * ((double)y + 0.5);
            color_at(c, place, c->pixels + 3 * ((top + y) * c->width + left + x));
        }
}

/* Thin lines where the three views meet. */
static void draw_cross(canvas *c, size_t left, size_t top, int across, int up, const double at[3])
{
    size_t width = pixels_along(c, across), height = pixels_along(c, up);
    double column = floor((at[across] - c->low[across]) / c->step);
    double row = floor((c->high[up] - at[up]) / c->step);
    for (size_t y = 0; y < height && column >= 0 && column < (double)width; y += 3)
        memset(c->pixels + 3 * ((top + y) * c->width + left + (size_t)column), 160, 3);
    for (size_t x = 0; x < width && row >= 0 && row < (double)height; x += 3)
        memset(c->pixels + 3 * ((top + (size_t)row) * c->width + left + x), 160, 3);
}

/* The letters stand in the first view, which is `first` pixels wide. */
static vxs_status write_canvas(canvas *c, FILE *out, size_t first, const char *text, vxs_error *err)
{
    fputs("<div class=\"brain\"><img src=\"", out);
    vxs_status status = vxs_png_write(out, c->pixels, c->width, c->height, err);
    vxs_html(out, "\" width=\"%z\" height=\"%z\" alt=\"%s\">", c->width, c->height, text);
    vxs_html(out,
             "<span class=\"l\">L</span><span style=\"left:calc(%x%% - 1.1em)\">R</span></div>\n",
             100 * (double)first / (double)c->width);
    free(c->pixels);
    c->pixels = NULL;
    return status;
}

static vxs_status write_orthogonal(canvas *c, FILE *out, vxs_error *err)
{
    static const int views[3][2] = { { 0, 1 }, { 0, 2 }, { 1, 2 } }; /* axial, coronal, sagittal */
    size_t left = 0;
    c->width = 2 * pixels_along(c, 0) + pixels_along(c, 1) + (size_t)2 * GAP;
    c->height = pixels_along(c, 1) > pixels_along(c, 2) ? pixels_along(c, 1) : pixels_along(c, 2);
    c->pixels = vxs_alloc(c->width * c->height, 3, err);
    if (!c->pixels)
        return VXS_FAILED;
    for (int k = 0; k < 3; k++) {
        draw_view(c, left, 0, views[k][0], views[k][1], c->s->peak);
        draw_cross(c, left, 0, views[k][0], views[k][1], c->s->peak);
        left += pixels_along(c, views[k][0]) + GAP;
    }
    return write_canvas(c, out, pixels_along(c, 0), "axial, coronal and sagittal view", err);
}

static vxs_status write_mosaic(canvas *c, FILE *out, vxs_error *err)
{
    size_t wide = pixels_along(c, 0) + GAP, high = pixels_along(c, 1) + GAP;
    size_t rows = (AXIAL + COLUMNS - 1) / COLUMNS;
    c->width = COLUMNS * wide - GAP;
    c->height = rows * high - GAP;
    c->pixels = vxs_alloc(c->width * c->height, 3, err);
    if (!c->pixels)
        return VXS_FAILED;
    for (size_t k = 0; k < AXIAL; k++) {
        double at[3] = { 0, 0, 0 }, inner = c->high[2] - c->low[2] - 4 * MARGIN;
        at[2] = c->low[2] + 2 * MARGIN + inner * ((double)k + 0.5) / AXIAL;
        draw_view(c, k % COLUMNS * wide, k / COLUMNS * high, 0, 1, at);
    }
    return write_canvas(c, out, pixels_along(c, 0), "axial slices from below to above", err);
}

const char *vxs_side_words(bool known)
{
    return known ? "Neurological convention (left is left)."
                 : "The images have no orientation: left and right are unknown, and mm are counted "
                   "from the first voxel, in no brain space.";
}

/* "Red to yellow: positive weight: more AD. Blue to cyan: ..." with the value of the last color. */
static void write_colors(FILE *out, const vxs_slices *slices, double most, bool beyond)
{
    const char *hot = slices->hot && *slices->hot ? slices->hot : NULL;
    if (hot)
        vxs_html(out, " Red to yellow: %s. Blue to cyan: %s.", hot, slices->cold);
    vxs_html(out, " The color scale ends at %v%s.", most,
             beyond ? "; larger values have its last color" : "");
}

vxs_status vxs_slices_write(FILE *out, const vxs_slices *slices, const char *caption,
                            vxs_error *err)
{
    canvas c;
    vxs_status status = look_at(&c, slices, err);
    bool beyond = slices->most > 0 && slices->most < c.map_most;
    if (beyond)
        c.map_most = slices->most;
    if (status || !(c.high[0] > c.low[0]))
        return status;
    fputs("<figure>", out);
    status = write_orthogonal(&c, out, err);
    if (!status)
        status = write_mosaic(&c, out, err);
    vxs_html(out,
             "<figcaption>%s Above: through x %f, y %f, z %f mm. Below: axial slices from z %f to "
             "%f mm. %s",
             caption, slices->peak[0], slices->peak[1], slices->peak[2], c.low[2] + 2 * MARGIN,
             c.high[2] - 2 * MARGIN, vxs_side_words(slices->map->grid.source != VXS_AFFINE_NONE));
    write_colors(out, slices, c.map_most, beyond);
    fputs("</figcaption></figure>\n", out);
    return status;
}

/* ---- Through the head ------------------------------------------------------------------------ */

#define SHADE 85 /* levels from white: lines are to be seen before it */

vxs_status vxs_glass_box(const vxs_slices *slices, double low[3], double high[3], vxs_error *err)
{
    canvas c;
    vxs_status status = look_at(&c, slices, err);
    memcpy(low, c.low, sizeof(c.low));
    memcpy(high, c.high, sizeof(c.high));
    return status;
}

/* What lies along the ray through a pixel. */
static double along_ray(canvas *c, int across, int up, size_t x, size_t y)
{
    int along = 3 - across - up;
    double place[3], sum = 0;
    place[across] = c->low[across] + c->step * ((double)x + 0.5);
    place[up] = c->high[up] - c->step * ((double)y + 0.5);
    for (double at = c->low[along]; at < c->high[along]; at += 2 * c->step) {
        place[along] = at;
        sum += grey_at(c, place);
    }
    return sum;
}

vxs_status vxs_glass_write(FILE *out, const vxs_slices *slices, int across, int up, double left,
                           double top, double scale, vxs_error *err)
{
    canvas c;
    vxs_status status = look_at(&c, slices, err);
    if (status)
        return status;
    c.width = pixels_along(&c, across);
    c.height = pixels_along(&c, up);
    size_t pixels = c.width * c.height;
    double most = 0, *sum = vxs_alloc(pixels, sizeof(*sum), err);
    c.pixels = vxs_alloc(pixels, 3, err);
    status = sum && c.pixels ? VXS_OK : VXS_FAILED;
    for (size_t k = 0; k < pixels && !status; k++) {
        sum[k] = along_ray(&c, across, up, k % c.width, k / c.width);
        most = fmax(most, sum[k]);
    }
    for (size_t k = 0; k < pixels && !status; k++) {
        double share = most > 0 ? sqrt(sum[k] / most) : 0;
        memset(c.pixels + 3 * k, (int)(255 - SHADE * share), 3);
    }
    if (!status) {
        vxs_html(out, "<image x=\"%x\" y=\"%x\" width=\"%x\" height=\"%x\" href=\"", left, top,
                 scale * STEP * (double)c.width, scale * STEP * (double)c.height);
        status = vxs_png_write(out, c.pixels, c.width, c.height, err);
        fputs("\"/>", out);
    }
    free(sum);
    free(c.pixels);
    return status;
}
