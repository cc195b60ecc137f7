/* page.h - one self-contained page of HTML; private to the report room.
 *
 * Whatever is written goes through vxs_html, which escapes every text, so that nothing that comes
 * from a table or a file name can be markup. */
#ifndef VXS_REPORT_PAGE_H
#define VXS_REPORT_PAGE_H

#include "voxsift/internal/report.h"

/* The format is markup; %s is a text and is escaped, %d an int, %z a size_t, %% a percent sign. Of
 * a double, %g is a number with up to three digits, %v a score, p value, lambda or weight with
 * three, %f mm with one decimal, %p a share as whole per cents, and %x a length or a tick of a
 * figure. */
void vxs_html(FILE *out, const char *format, ...);

/* A stream on which every text is escaped; closed before the page, together with what is under it.
 */
typedef struct {
    FILE *text, *under;
} vxs_escape;
VXS_MUST_CHECK vxs_status vxs_escape_begin(FILE *out, vxs_escape *escape, vxs_error *err);
void vxs_escape_end(vxs_escape *escape);

/* charts.c: figures as SVG. A series is drawn as points, or as a line where `line` is set. */
#define VXS_INK     "#1f4e79" /* of what the page is about */
#define VXS_COLOURS 8
extern const char *const vxs_colors[VXS_COLOURS]; /* of several, the first is VXS_INK */
typedef struct {
    const char *name; /* in the legend; NULL: none */
    const char *color;
    const double *x, *y;
    size_t count;
    bool line;
} vxs_series;
typedef struct {
    const char *title, *x_label, *y_label;
    bool log_x, log_y;
    bool whole_x;          /* no ticks between whole numbers */
    bool shares;           /* x goes from 0 to 1 */
    bool square;           /* both axes have the same range */
    bool diagonal;         /* a dashed line where x = y */
    bool legend_right;     /* where the series leave room */
    const char *mark_name; /* of an upright line at `mark`, NULL: none */
    double mark;
} vxs_chart;
void vxs_chart_write(FILE *out, const vxs_chart *chart, const vxs_series *series, size_t count);
/* How many values lie where: bars over bins of a round width, low <= value < high. */
void vxs_bars_write(FILE *out, const vxs_chart *chart, const double *values, size_t count);
/* A row a value with its parts as dots, and lines at values to compare with. */
typedef struct {
    const char *name, *color;
    const double *values; /* a dot each; NAN: none */
    size_t count;
    double mean;
} vxs_dots;
void vxs_dots_write(FILE *out, const char *title, const char *label, const vxs_dots *rows,
                    size_t count);
/* A row a difference with its interval, and a line at 0. */
typedef struct {
    const char *name, *color;
    double value, low, high;
} vxs_interval;
void vxs_intervals_write(FILE *out, const char *title, const char *label, const vxs_interval *rows,
                         size_t count);

/* slices.c: a map over an underlay, as PNG in the page, in neurological convention where the
 * orientation is known. */
const char *vxs_side_words(bool known);
typedef struct {
    const vxs_volume *map, *underlay; /* underlay may be NULL: then where the mask is */
    const uint8_t *mask;              /* of the map's grid */
    double peak[3];                   /* mm: where the three views meet */
    const char *hot, *cold;           /* meaning of positive and negative values; "": none */
    double most;                      /* values that have the last color; 0: the largest has */
} vxs_slices;
VXS_MUST_CHECK vxs_status vxs_slices_write(FILE *out, const vxs_slices *slices, const char *caption,
                                           vxs_error *err);
/* The box in mm that slices show, and a view through all of it, `across` to the right and `up`
 * upwards, as a part of a figure: at (left, top), `scale` of its units for a mm. */
VXS_MUST_CHECK vxs_status vxs_glass_box(const vxs_slices *slices, double low[3], double high[3],
                                        vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_glass_write(FILE *out, const vxs_slices *slices, int across, int up,
                                          double left, double top, double scale, vxs_error *err);

/* png.c: rows of red, green and blue as a data address. */
VXS_MUST_CHECK vxs_status vxs_png_write(FILE *out, const uint8_t *pixels, size_t width,
                                        size_t height, vxs_error *err);

#endif
