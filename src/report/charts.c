/* charts.c - figures as SVG, in the page. */
#include "report/page.h"

#include <math.h>

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
} axis;

static double place(const axis *a, double value)
{
    double low = a->log ? log10(a->low) : a->low, high = a->log ? log10(a->high) : a->high;
    double at = a->log ? log10(value) : value;
    return a->from + (at - low) / (high - low) * (a->to - a->from);
}

static void widen(axis *a, double value)
{
    if (!isfinite(value) || (a->log && value <= 0))
        return;
    a->low = fmin(a->low, value);
    a->high = fmax(a->high, value);
}

/* Some room around the values; an axis is never empty. */
static void settle(axis *a)
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

/* 1, 2 or 5 times a power of ten, about five of them. */
static double tick_step(const axis *a)
{
    double rough = (a->high - a->low) / 5, power = pow(10, floor(log10(rough)));
    double share = rough / power;
    return power * (share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10);
}

static double first_tick(const axis *a, double step)
{
    return a->log ? pow(10, ceil(log10(a->low))) : ceil(a->low / step) * step;
}

static double next_tick(const axis *a, double tick, double step)
{
    double next = a->log ? tick * 10 : tick + step;
    return fabs(next) < 1e-9 * step ? 0 : next;
}

static void put_x_axis(FILE *out, const axis *x, double bottom, const char *label)
{
    double step = tick_step(x);
    vxs_put(out, "<path d=\"M%g %gH%g\" class=\"axis\"/>", x->from, bottom, x->to);
    for (double t = first_tick(x, step); t <= x->high; t = next_tick(x, t, step))
        vxs_put(
            out,
            "<path d=\"M%g %gv4\" class=\"axis\"/><text x=\"%g\" y=\"%g\" class=\"m\">%g</text>",
            place(x, t), bottom, place(x, t), bottom + 16, t);
    vxs_put(out, "<text x=\"%g\" y=\"%g\" class=\"m\">%s</text>", (x->from + x->to) / 2,
            bottom + 34, label);
}

static void put_y_axis(FILE *out, const axis *y, const char *label)
{
    double step = tick_step(y), middle = (y->from + y->to) / 2;
    vxs_put(out, "<path d=\"M%g %gV%g\" class=\"axis\"/>", LEFT, y->from, y->to);
    for (double t = first_tick(y, step); t <= y->high; t = next_tick(y, t, step))
        vxs_put(
            out,
            "<path d=\"M%g %gh-4\" class=\"axis\"/><text x=\"%g\" y=\"%g\" class=\"e\">%g</text>",
            LEFT, place(y, t), LEFT - 7, place(y, t) + 4, t);
    vxs_put(out, "<text x=\"14\" y=\"%g\" class=\"m\" transform=\"rotate(-90 14 %g)\">%s</text>",
            middle, middle, label);
}

static void put_series(FILE *out, const axis *x, const axis *y, const vxs_series *s)
{
    bool begun = false;
    if (s->line)
        vxs_put(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\" d=\"", s->colour);
    for (size_t k = 0; k < s->count; k++) {
        if (!isfinite(s->x[k]) || !isfinite(s->y[k]) || (x->log && s->x[k] <= 0))
            continue;
        if (s->line)
            vxs_put(out, "%s%g %g", begun ? "L" : "M", place(x, s->x[k]), place(y, s->y[k]));
        else
            vxs_put(out, "<circle cx=\"%g\" cy=\"%g\" r=\"3\" fill=\"%s\" fill-opacity=\"0.6\"/>",
                    place(x, s->x[k]), place(y, s->y[k]), s->colour);
        begun = true;
    }
    if (s->line)
        fputs("\"/>", out);
}

static void put_legend(FILE *out, const vxs_series *series, size_t count)
{
    double y = TOP + 12;
    for (size_t k = 0; k < count; k++) {
        if (!series[k].name)
            continue;
        vxs_put(
            out,
            "<circle cx=\"%g\" cy=\"%g\" r=\"4\" fill=\"%s\"/><text x=\"%g\" y=\"%g\">%s</text>",
            LEFT + 14, y - 4, series[k].colour, LEFT + 24, y, series[k].name);
        y += 16;
    }
}

void vxs_chart_put(FILE *out, const vxs_chart *chart, const vxs_series *series, size_t count)
{
    axis x = { INFINITY, -INFINITY, LEFT, WIDTH - RIGHT, chart->log_x };
    axis y = { INFINITY, -INFINITY, HEIGHT - BOTTOM, TOP, false };
    for (size_t s = 0; s < count; s++)
        for (size_t k = 0; k < series[s].count; k++) {
            widen(&x, series[s].x[k]);
            widen(&y, series[s].y[k]);
        }
    if (chart->square) {
        x.low = y.low = fmin(x.low, y.low);
        x.high = y.high = fmax(x.high, y.high);
    }
    settle(&x);
    settle(&y);
    vxs_put(out,
            "<svg viewBox=\"0 0 %g %g\" width=\"%g\" role=\"img\" aria-label=\"%s\">"
            "<text x=\"%g\" y=\"16\" class=\"m b\">%s</text>",
            WIDTH, HEIGHT, WIDTH, chart->title, WIDTH / 2, chart->title);
    put_x_axis(out, &x, HEIGHT - BOTTOM, chart->x_label);
    put_y_axis(out, &y, chart->y_label);
    if (chart->diagonal) {
        double low = fmax(x.low, y.low), high = fmin(x.high, y.high);
        vxs_put(out, "<path d=\"M%g %gL%g %g\" class=\"dash\"/>", place(&x, low), place(&y, low),
                place(&x, high), place(&y, high));
    }
    for (size_t s = 0; s < count; s++)
        put_series(out, &x, &y, &series[s]);
    put_legend(out, series, count);
    fputs("</svg>\n", out);
}

void vxs_dots_put(FILE *out, const char *title, const char *label, const vxs_dots *rows,
                  size_t count)
{
    axis x = { INFINITY, -INFINITY, NAMES, WIDTH - RIGHT, false };
    double height = TOP + ROW * (double)count + BOTTOM;
    for (size_t r = 0; r < count; r++) {
        widen(&x, rows[r].mean);
        for (size_t k = 0; k < rows[r].count; k++)
            widen(&x, rows[r].values[k]);
    }
    settle(&x);
    vxs_put(out,
            "<svg viewBox=\"0 0 %g %g\" width=\"%g\" role=\"img\" aria-label=\"%s\">"
            "<text x=\"%g\" y=\"16\" class=\"m b\">%s</text>",
            WIDTH, height, WIDTH, title, WIDTH / 2, title);
    put_x_axis(out, &x, height - BOTTOM, label);
    for (size_t r = 0; r < count; r++) {
        double y = TOP + ROW * ((double)r + 0.5);
        vxs_put(out, "<text x=\"%g\" y=\"%g\" class=\"e\">%s</text>", NAMES - 10, y + 4,
                rows[r].name);
        for (size_t k = 0; k < rows[r].count; k++)
            if (isfinite(rows[r].values[k]))
                vxs_put(out,
                        "<circle cx=\"%g\" cy=\"%g\" r=\"3.5\" fill=\"%s\" fill-opacity=\"0.5\"/>",
                        place(&x, rows[r].values[k]), y, rows[r].colour);
        if (isfinite(rows[r].mean))
            vxs_put(out, "<path d=\"M%g %gv16\" stroke=\"%s\" stroke-width=\"2.5\"/>",
                    place(&x, rows[r].mean), y - 8, rows[r].colour);
    }
    fputs("</svg>\n", out);
}
