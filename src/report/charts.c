/* charts.c - figures as SVG, in the page. */
#include "report/page.h"

#include "core/utf8.h"

#include <math.h>
#include <string.h>

#define WIDTH  360.0
#define HEIGHT 300.0
#define LEFT   56.0
#define RIGHT  12.0
#define TOP    26.0
#define BOTTOM 44.0
#define ROW    24.0
#define NAMES  110.0 /* width of the names of dots' rows */

typedef struct {
    double low, high, from, to; /* values, and where they are drawn */
    bool log;
    bool whole; /* no ticks between whole numbers */
} axis;

const char *const vxs_colors[VXS_COLOURS] = { VXS_INK,   "#b8860b", "#2e7d32", "#8e24aa",
                                              "#c62828", "#00838f", "#5d4037", "#455a64" };

static double place(const axis *a, double value)
{
    double low = a->log ? log10(a->low) : a->low, high = a->log ? log10(a->high) : a->high;
    double at = a->log ? log10(value) : value;
    return a->from + (at - low) / (high - low) * (a->to - a->from);
}

static bool is_shown(const axis *a, double value)
{
    return isfinite(value) && (!a->log || value > 0);
}

static void widen(axis *a, double value)
{
    if (!is_shown(a, value))
        return;
    a->low = fmin(a->low, value);
    a->high = fmax(a->high, value);
}

/* Some room around the values; an axis is never empty. */
static void round_ends(axis *a)
{
    if (!(a->high >= a->low)) {
        a->low = a->log ? 0.1 : 0;
        a->high = 1;
    }
    if (a->log) {
        a->low /= a->high > a->low ? 1.1 : 2;
        a->high *= 1.1;
        return;
    }
    double margin = a->high > a->low ? 0.04 * (a->high - a->low) : 0.5;
    a->low -= margin;
    a->high += margin;
}

/* 1, 2 or 5 times a power of ten. */
static double round_step(double rough)
{
    double power = pow(10, floor(log10(rough)));
    double share = rough / power;
    return power * (share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10);
}

/* About five of them. */
static double tick_step(const axis *a)
{
    double step = round_step((a->high - a->low) / 5);
    return a->whole ? fmax(1, step) : step;
}

static double first_tick(const axis *a, double step)
{
    return a->log ? pow(10, ceil(log10(a->low))) : ceil(a->low / step) * step;
}

/* The last one is infinite: of numbers so large that a step is lost in them. */
static double next_tick(const axis *a, double tick, double step)
{
    double next = a->log ? tick * 10 : tick + step;
    next = fabs(next) < 1e-9 * step ? 0 : next;
    return next > tick ? next : INFINITY;
}

static void write_frame(FILE *out, double height, const char *title)
{
    vxs_html(out,
             "<svg viewBox=\"0 0 %x %x\" width=\"%x\" role=\"img\" aria-label=\"%s\">"
             "<text x=\"%x\" y=\"16\" class=\"m b\">%s</text>",
             WIDTH, height, WIDTH, title, WIDTH / 2, title);
}

static void write_x_axis(FILE *out, const axis *x, double bottom, const char *label)
{
    double step = tick_step(x);
    vxs_html(out, "<path d=\"M%x %xH%x\" class=\"axis\"/>", x->from, bottom, x->to);
    for (double t = first_tick(x, step); t <= x->high; t = next_tick(x, t, step))
        vxs_html(
            out,
            "<path d=\"M%x %xv4\" class=\"axis\"/><text x=\"%x\" y=\"%x\" class=\"m\">%x</text>",
            place(x, t), bottom, place(x, t), bottom + 16, t);
    vxs_html(out, "<text x=\"%x\" y=\"%x\" class=\"m\">%s</text>", (x->from + x->to) / 2,
             bottom + 34, label);
}

static void write_y_axis(FILE *out, const axis *y, const char *label)
{
    double step = tick_step(y), middle = (y->from + y->to) / 2;
    vxs_html(out, "<path d=\"M%x %xV%x\" class=\"axis\"/>", LEFT, y->from, y->to);
    for (double t = first_tick(y, step); t <= y->high; t = next_tick(y, t, step))
        vxs_html(
            out,
            "<path d=\"M%x %xh-4\" class=\"axis\"/><text x=\"%x\" y=\"%x\" class=\"e\">%x</text>",
            LEFT, place(y, t), LEFT - 7, place(y, t) + 4, t);
    vxs_html(out, "<text x=\"14\" y=\"%x\" class=\"m\" transform=\"rotate(-90 14 %x)\">%s</text>",
             middle, middle, label);
}

static void write_series(FILE *out, const axis *x, const axis *y, const vxs_series *s)
{
    bool begun = false;
    if (s->line)
        vxs_html(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\" d=\"", s->color);
    for (size_t k = 0; k < s->count; k++) {
        if (!is_shown(x, s->x[k]) || !is_shown(y, s->y[k]))
            continue;
        if (s->line)
            vxs_html(out, "%s%x %x", begun ? "L" : "M", place(x, s->x[k]), place(y, s->y[k]));
        else
            vxs_html(out, "<circle cx=\"%x\" cy=\"%x\" r=\"3\" fill=\"%s\" fill-opacity=\"0.6\"/>",
                     place(x, s->x[k]), place(y, s->y[k]), s->color);
        begun = true;
    }
    if (s->line)
        fputs("\"/>", out);
}

#define NAME 22 /* characters of a name in a legend: as many wide ones have room */
#define LINE 48 /* of a name with a line of its own */

/* The beginning of a name that is longer, whole characters of it: LINE at most. */
static void write_name(FILE *out, const char *name, size_t most)
{
    char text[4 * LINE + 4] = "";
    size_t at = 0, length = strlen(name);
    for (size_t k = 0; k < most && at < length; k++) {
        size_t bytes = vxs_utf8_length(name + at, length - at);
        at += bytes > 0 ? bytes : 1;
    }
    snprintf(text, sizeof(text), "%.*s%s", (int)at, name, at < length ? "\xe2\x80\xa6" : "");
    vxs_html(out, "%s</text>", text);
}

static void write_mark(FILE *out, const vxs_chart *chart, const axis *x)
{
    if (chart->mark_name && is_shown(x, chart->mark))
        vxs_html(out, "<path d=\"M%x %xV%x\" class=\"mark\"/>", place(x, chart->mark),
                 HEIGHT - BOTTOM, TOP);
}

/* Names, each beside its dot or line. */
static void write_legend(FILE *out, const vxs_chart *chart, const axis *x, const vxs_series *series,
                         size_t count)
{
    double at = chart->legend_right ? x->to - 6 : x->from + 14, y = TOP + 12;
    double name = chart->legend_right ? at - 10 : at + 10;
    const char *class = chart->legend_right ? "k e" : "k";
    for (size_t k = 0; k < count; k++) {
        if (!series[k].name)
            continue;
        vxs_html(out, "<circle cx=\"%x\" cy=\"%x\" r=\"4\" fill=\"%s\"/>", at, y - 4,
                 series[k].color);
        vxs_html(out, "<text x=\"%x\" y=\"%x\" class=\"%s\">", name, y, class);
        write_name(out, series[k].name, NAME);
        y += 16;
    }
    if (!chart->mark_name)
        return;
    vxs_html(out, "<path d=\"M%x %xh12\" class=\"mark\"/>", at - 6, y - 4);
    vxs_html(out, "<text x=\"%x\" y=\"%x\" class=\"%s\">", name, y, class);
    write_name(out, chart->mark_name, NAME);
}

void vxs_chart_write(FILE *out, const vxs_chart *chart, const vxs_series *series, size_t count)
{
    axis x = { INFINITY, -INFINITY, LEFT, WIDTH - RIGHT, chart->log_x, chart->whole_x };
    axis y = { INFINITY, -INFINITY, HEIGHT - BOTTOM, TOP, chart->log_y, false };
    if (chart->shares) {
        widen(&x, 0);
        widen(&x, 1);
    }
    for (size_t s = 0; s < count; s++)
        for (size_t k = 0; k < series[s].count; k++) {
            widen(&x, series[s].x[k]);
            widen(&y, series[s].y[k]);
        }
    if (chart->square) {
        x.low = y.low = fmin(x.low, y.low);
        x.high = y.high = fmax(x.high, y.high);
    }
    round_ends(&x);
    round_ends(&y);
    write_frame(out, HEIGHT, chart->title);
    write_x_axis(out, &x, HEIGHT - BOTTOM, chart->x_label);
    write_y_axis(out, &y, chart->y_label);
    if (chart->diagonal) {
        double low = fmax(x.low, y.low), high = fmin(x.high, y.high);
        vxs_html(out, "<path d=\"M%x %xL%x %x\" class=\"dash\"/>", place(&x, low), place(&y, low),
                 place(&x, high), place(&y, high));
    }
    for (size_t s = 0; s < count; s++)
        write_series(out, &x, &y, &series[s]);
    write_mark(out, chart, &x);
    write_legend(out, chart, &x, series, count);
    fputs("</svg>\n", out);
}

/* ---- Bars ------------------------------------------------------------------------------------ */

#define MOST_BINS 64

typedef struct {
    double first, width; /* the lowest edge, in widths: edges are whole numbers of them */
    size_t count, most;  /* bins, and the most values in one */
    size_t of[MOST_BINS];
} bins;

static double edge_of(const bins *b, size_t k)
{
    return (b->first + (double)k) * b->width;
}

/* A value that is the edge of a bin, but for rounding, lies in the upper one. */
static size_t bin_of(const bins *b, double value)
{
    double at = floor((value - edge_of(b, 0)) / b->width + 1e-9);
    return (size_t)fmax(0, fmin(at, MOST_BINS - 1));
}

/* About as many as the root of the number of values. */
static void find_bins(bins *b, const double *values, size_t count)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t k = 0; k < count; k++) {
        low = fmin(low, values[k]);
        high = fmax(high, values[k]);
    }
    double size = fmax(fabs(low), fabs(high));
    bool same = !(high - low > 1e-9 * size);
    double rough =
        same ? (size > 0 ? size / 10 : 0.1) : (high - low) / fmax(5, fmin(25, sqrt((double)count)));
    b->width = round_step(rough);
    b->first = floor(low / b->width + 1e-9);
    for (size_t k = 0; k < count; k++) {
        size_t bin = bin_of(b, values[k]), many = ++b->of[bin];
        b->count = bin + 1 > b->count ? bin + 1 : b->count;
        b->most = many > b->most ? many : b->most;
    }
}

/* Each says which values it counts when it is pointed at. */
static void write_bar(FILE *out, const axis *x, const axis *y, const bins *b, size_t k)
{
    double low = edge_of(b, k), high = edge_of(b, k + 1);
    double left = place(x, low), top = place(y, (double)b->of[k]);
    if (b->of[k] == 0)
        return;
    vxs_html(out,
             "<rect x=\"%x\" y=\"%x\" width=\"%x\" height=\"%x\" fill=\"%s\" stroke=\"#fff\">"
             "<title>%x to %x: %z</title></rect>",
             left, top, place(x, high) - left, y->from - top, VXS_INK, low, high, b->of[k]);
}

void vxs_bars_write(FILE *out, const vxs_chart *chart, const double *values, size_t count)
{
    bins b = { .count = 0 };
    axis x = { INFINITY, -INFINITY, LEFT, WIDTH - RIGHT, false, false };
    find_bins(&b, values, count);
    widen(&x, chart->mark);
    widen(&x, edge_of(&b, 0));
    widen(&x, edge_of(&b, b.count));
    round_ends(&x);
    /* bars stand on the axis, and leave room for the legend */
    axis y = { 0, 1.2 * fmax(1, (double)b.most), HEIGHT - BOTTOM, TOP, false, true };
    write_frame(out, HEIGHT, chart->title);
    write_x_axis(out, &x, HEIGHT - BOTTOM, chart->x_label);
    write_y_axis(out, &y, chart->y_label);
    for (size_t k = 0; k < b.count; k++)
        write_bar(out, &x, &y, &b, k);
    write_mark(out, chart, &x);
    write_legend(out, chart, &x, NULL, 0);
    fputs("</svg>\n", out);
}

/* ---- Dots ------------------------------------------------------------------------------------ */

void vxs_dots_write(FILE *out, const char *title, const char *label, const vxs_dots *rows,
                    size_t count)
{
    axis x = { INFINITY, -INFINITY, NAMES, WIDTH - RIGHT, false, false };
    double height = TOP + ROW * (double)count + BOTTOM;
    for (size_t r = 0; r < count; r++) {
        widen(&x, rows[r].mean);
        for (size_t k = 0; k < rows[r].count; k++)
            widen(&x, rows[r].values[k]);
    }
    round_ends(&x);
    write_frame(out, height, title);
    write_x_axis(out, &x, height - BOTTOM, label);
    for (size_t r = 0; r < count; r++) {
        double y = TOP + ROW * ((double)r + 0.5);
        vxs_html(out, "<text x=\"%x\" y=\"%x\" class=\"e\">%s</text>", NAMES - 10, y + 4,
                 rows[r].name);
        for (size_t k = 0; k < rows[r].count; k++)
            if (isfinite(rows[r].values[k]))
                vxs_html(out,
                         "<circle cx=\"%x\" cy=\"%x\" r=\"3.5\" fill=\"%s\" fill-opacity=\"0.5\"/>",
                         place(&x, rows[r].values[k]), y, rows[r].color);
        if (isfinite(rows[r].mean))
            vxs_html(out, "<path d=\"M%x %xv16\" stroke=\"%s\" stroke-width=\"2.5\"/>",
                     place(&x, rows[r].mean), y - 8, rows[r].color);
    }
    fputs("</svg>\n", out);
}

/* ---- Intervals ------------------------------------------------------------------------------- */

#define PAIR 36.0 /* height of a row: its name, and the interval below */

static void write_interval(FILE *out, const axis *x, double y, const vxs_interval *row)
{
    vxs_html(out, "<text x=\"%x\" y=\"%x\" class=\"k\">", x->from, y - 9);
    write_name(out, row->name, LINE);
    if (isfinite(row->low) && isfinite(row->high))
        vxs_html(out, "<path d=\"M%x %xH%x\" stroke=\"%s\" stroke-width=\"1.6\"/>",
                 place(x, row->low), y, place(x, row->high), row->color);
    if (isfinite(row->value))
        vxs_html(out, "<circle cx=\"%x\" cy=\"%x\" r=\"4\" fill=\"%s\"/>", place(x, row->value), y,
                 row->color);
}

void vxs_intervals_write(FILE *out, const char *title, const char *label, const vxs_interval *rows,
                         size_t count)
{
    axis x = { 0, 0, LEFT / 2, WIDTH - RIGHT, false, false };
    double height = TOP + PAIR * (double)count + BOTTOM;
    for (size_t r = 0; r < count; r++) {
        widen(&x, rows[r].value);
        widen(&x, rows[r].low);
        widen(&x, rows[r].high);
    }
    round_ends(&x);
    write_frame(out, height, title);
    write_x_axis(out, &x, height - BOTTOM, label);
    vxs_html(out, "<path d=\"M%x %xV%x\" class=\"dash\"/>", place(&x, 0), height - BOTTOM, TOP);
    for (size_t r = 0; r < count; r++)
        write_interval(out, &x, TOP + PAIR * ((double)r + 0.75), &rows[r]);
    fputs("</svg>\n", out);
}
