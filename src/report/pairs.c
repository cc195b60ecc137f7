/* pairs.c - pairs of features as figures: lines through a head that light falls through, or between
 * names on a circle. */
#include "report/pairs.h"

#include "core/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDE   920.0 /* of three views beside each other */
#define GAP    12.0
#define THIN   1.0 /* width of lines, and how much more the strongest has */
#define THICK  4.5
#define NAMED  48 /* features that have room on a circle */
#define RADIUS 150.0
#define WIDEST 560.0
#define LETTER 15   /* characters of a name */
#define EACH   12.0 /* as wide ones take */
#define EDGE   14.0 /* from the circle to names, and from these to the edge */
#define BENT   0.45 /* how near to the circle's middle the bend of a chord is drawn */

static const char *color_of(const vxs_pair *p)
{
    return p->weight > 0 ? "#c62828" : VXS_INK;
}

/* The largest is the first. */
static double width_of(const vxs_pair *pairs, size_t k)
{
    double most = fabs(pairs[0].weight);
    return THIN + (most > 0 ? THICK * fabs(pairs[k].weight) / most : 0);
}

static void write_title(FILE *out, const vxs_pair *p)
{
    if (p->two)
        vxs_html(out, "<title>%s and %s: %v</title></path>", p->end[0].name, p->end[1].name,
                 p->weight);
    else
        vxs_html(out, "<title>%s, %s: %v</title></path>", p->end[0].name, p->kind, p->weight);
}

/* A ring or a dot of a feature that is no part of a pair. */
static void write_alone(FILE *out, const vxs_pair *p, double x, double y, double width)
{
    bool square = strcmp(p->kind, "square") == 0;
    double r = 2.5 + width;
    vxs_html(out,
             "<path class=\"pair\" d=\"M%x %xa%x %x 0 1 0 %x 0a%x %x 0 1 0 %x 0\" stroke=\"%s\" "
             "stroke-width=\"2\" fill=\"%s\">",
             x - r, y, r, r, 2 * r, r, r, -2 * r, color_of(p), square ? "none" : color_of(p));
    write_title(out, p);
}

static void write_end(FILE *out, double x, double y)
{
    vxs_html(out, "<circle cx=\"%x\" cy=\"%x\" r=\"2.4\" fill=\"#222\"/>", x, y);
}

/* ---- In the head ----------------------------------------------------------------------------- */

typedef struct {
    const vxs_slices *slices;
    const vxs_pair *pairs;
    size_t count;
    double low[3], high[3], scale, height;
} head;

static double length_of(const head *h, int axis)
{
    return h->scale * (h->high[axis] - h->low[axis]);
}

static vxs_status write_view(FILE *out, const head *h, int across, int up, double left,
                             vxs_error *err)
{
    double top = (h->height - length_of(h, up)) / 2;
    vxs_status status = vxs_glass_write(out, h->slices, across, up, left, top, h->scale, err);
    for (size_t k = h->count; k-- > 0;) {
        const vxs_pair *p = &h->pairs[k];
        double x[2], y[2];
        for (int e = 0; e < 2; e++) {
            x[e] = left + h->scale * (p->end[e].at[across] - h->low[across]);
            y[e] = top + h->scale * (h->high[up] - p->end[e].at[up]);
        }
        if (!p->two) {
            write_alone(out, p, x[0], y[0], width_of(h->pairs, k));
            continue;
        }
        vxs_html(out,
                 "<path class=\"pair\" d=\"M%x %xL%x %x\" stroke=\"%s\" stroke-width=\"%x\" "
                 "stroke-opacity=\".8\" stroke-linecap=\"round\">",
                 x[0], y[0], x[1], y[1], color_of(p), width_of(h->pairs, k));
        write_title(out, p);
        write_end(out, x[0], y[0]);
        write_end(out, x[1], y[1]);
    }
    if (across == 0)
        vxs_html(out,
                 "<text x=\"%x\" y=\"14\" class=\"b\">L</text><text x=\"%x\" y=\"14\" class=\"b "
                 "e\">R</text>",
                 left, left + length_of(h, 0));
    return status;
}

vxs_status vxs_pairs_in_head(FILE *out, const vxs_places *places, const vxs_pair *pairs,
                             size_t count, vxs_error *err)
{
    static const int views[3][2] = { { 0, 1 }, { 0, 2 }, { 1, 2 } }; /* axial, coronal, sagittal */
    vxs_slices slices = { .map = &places->mask,
                          .underlay = places->underlay.values ? &places->underlay : NULL,
                          .mask = places->inside };
    head h = { .slices = &slices, .pairs = pairs, .count = count };
    double left = 0;
    vxs_status status = vxs_glass_box(&slices, h.low, h.high, err);
    if (status || count == 0 || !(h.high[0] > h.low[0]))
        return status;
    h.scale = 1;
    h.scale = (WIDE - 2 * GAP) / (2 * length_of(&h, 0) + length_of(&h, 1));
    h.height = fmax(length_of(&h, 1), length_of(&h, 2));
    vxs_html(out,
             "<svg viewBox=\"0 0 %x %x\" width=\"%x\" role=\"img\" aria-label=\"Pairs through the "
             "head: axial, coronal and sagittal view\">",
             WIDE, h.height, WIDE);
    for (int k = 0; k < 3 && !status; k++) {
        status = write_view(out, &h, views[k][0], views[k][1], left, err);
        left += length_of(&h, views[k][0]) + GAP;
    }
    fputs("</svg>\n", out);
    return status;
}

/* ---- On a circle ----------------------------------------------------------------------------- */

typedef struct {
    const char *name[NAMED];
    size_t count;
    double middle;
} circle;

/* The place of a name, which may be a new one; NAMED: there is no room. */
static size_t find_name(circle *c, const char *name)
{
    size_t k = 0;
    while (k < c->count && strcmp(c->name[k], name) != 0)
        k++;
    if (k == c->count && k < NAMED)
        c->name[c->count++] = name;
    return k;
}

static void find_point(const circle *c, size_t k, double radius, double at[2])
{
    double angle = 2 * M_PI * (double)k / (double)c->count - M_PI / 2;
    at[0] = c->middle + radius * cos(angle);
    at[1] = c->middle + radius * sin(angle);
}

/* Bytes of the beginning of a name, of which that many characters are shown. */
static size_t cut_name(const char *name, size_t *letters)
{
    size_t at = 0, length = strlen(name);
    for (*letters = 0; *letters < LETTER && at < length; (*letters)++) {
        size_t bytes = vxs_utf8_length(name + at, length - at);
        at += bytes > 0 ? bytes : 1;
    }
    *letters += at < length;
    return at;
}

/* Room for the longest name. */
static void find_middle(circle *c)
{
    size_t most = 0, letters = 0;
    for (size_t k = 0; k < c->count; k++) {
        cut_name(c->name[k], &letters);
        most = letters > most ? letters : most;
    }
    c->middle = RADIUS + 2 * EDGE + EACH * (double)most;
}

/* Along the radius, never upside down; the beginning of a long one. */
static void write_name(FILE *out, const circle *c, size_t k)
{
    char text[4 * LETTER + 4];
    const char *name = c->name[k];
    size_t letters = 0, at = cut_name(name, &letters);
    double degrees = 360 * (double)k / (double)c->count - 90, place[2];
    bool turned = degrees > 90 + 1e-9;
    snprintf(text, sizeof(text), "%.*s%s", (int)at, name, name[at] ? "\xe2\x80\xa6" : "");
    find_point(c, k, RADIUS + EDGE, place);
    vxs_html(out, "<text x=\"%x\" y=\"%x\" dy=\"4\" class=\"%s\" transform=\"rotate(%x %x %x)\">",
             place[0], place[1], turned ? "e" : "", turned ? degrees - 180 : degrees, place[0],
             place[1]);
    vxs_html(out, "%s</text>", text);
}

static void write_chord(FILE *out, const circle *c, const vxs_pair *pairs, size_t k,
                        const size_t at[])
{
    const vxs_pair *p = &pairs[k];
    double a[2], b[2], bend[2];
    find_point(c, at[0], RADIUS, a);
    find_point(c, at[1], RADIUS, b);
    if (!p->two) {
        write_alone(out, p, a[0], a[1], width_of(pairs, k));
        return;
    }
    for (int d = 0; d < 2; d++)
        bend[d] = BENT * c->middle + (1 - BENT) * (a[d] + b[d]) / 2;
    vxs_html(out,
             "<path class=\"pair\" d=\"M%x %xQ%x %x %x %x\" fill=\"none\" stroke=\"%s\" "
             "stroke-width=\"%x\" stroke-opacity=\".8\" stroke-linecap=\"round\">",
             a[0], a[1], bend[0], bend[1], b[0], b[1], color_of(p), width_of(pairs, k));
    write_title(out, p);
}

vxs_status vxs_pairs_on_circle(FILE *out, const vxs_pair *pairs, size_t count, vxs_error *err)
{
    circle c = { .count = 0 };
    size_t shown = 0;
    double at[2];
    size_t(*place)[2] = vxs_alloc(count, sizeof(*place), err);
    if (!place)
        return VXS_FAILED;
    for (; shown < count; shown++) { /* the strongest */
        place[shown][0] = find_name(&c, pairs[shown].end[0].name);
        place[shown][1] = find_name(&c, pairs[shown].end[1].name);
        if (place[shown][0] == NAMED || place[shown][1] == NAMED)
            break;
    }
    find_middle(&c);
    vxs_html(out,
             "<svg viewBox=\"0 0 %x %x\" width=\"%x\" role=\"img\" aria-label=\"Pairs between "
             "features\">",
             2 * c.middle, 2 * c.middle, fmin(WIDEST, 2 * c.middle));
    for (size_t k = shown; k-- > 0;)
        write_chord(out, &c, pairs, k, place[k]);
    for (size_t k = 0; k < c.count; k++) {
        find_point(&c, k, RADIUS, at);
        write_end(out, at[0], at[1]);
        write_name(out, &c, k);
    }
    fputs("</svg>\n", out);
    if (shown < count)
        vxs_html(out, "<p class=\"small\">The %z strongest of %z are in the figure.</p>\n", shown,
                 count);
    free(place);
    return VXS_OK;
}
