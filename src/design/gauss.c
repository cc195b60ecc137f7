/* gauss.c - sums of Gaussians along a line.
 *
 * With u and s counted in bandwidths from a centre, exp(-(s - u)^2 / 2) is the sum over k of
 * a_k(s) a_k(u), a_k(t) = exp(-t^2 / 2) t^k / sqrt(k!). By Cauchy and Schwarz what is left after K
 * terms is at most the geometric mean of the tails P(k >= K) of Poisson distributions with means
 * s^2 and u^2. So sums over all u, one for each k, give the sum at every s: work that grows with
 * the number of points and not with its square, without sorting, and without losing digits, as
 * every |a_k| is at most 1.
 *
 * Points that spread too far for one series are sorted and cut into boxes, and each box is a
 * piece of its own with all points that are near enough to count. */
#include "design/gauss.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Half the range, in bandwidths, that one series is made for: its VXS_TERMS suffice up to here, and
 * beyond boxes take less time. */
static const double SINGLE = 7;
/* Half the width of a box, and how far from a box points still count: exp(-7.2^2 / 2) is 6e-12. */
static const double HALF_BOX = 2.5, REACH = 7.2;
/* Tails sqrt(P(k >= 44 | 2.5^2) P(k >= 44 | 9.7^2)) are below 1e-11. */
enum { BOX_TERMS = 44 };

/* Sums of at most 1e-11 behind the last term, found by adding up Poisson tails for r from 0 to
 * 7; that is 105 terms. */
static size_t terms_for(double r)
{
    return (size_t)(r * r + 6.5 * r + 9) + 1;
}

size_t vxs_filled(size_t n)
{
    return (n + VXS_POINTS - 1) / VXS_POINTS * VXS_POINTS;
}

vxs_status vxs_gauss_room_init(vxs_gauss_room *room, size_t n, size_t m, vxs_error *err)
{
    size_t wide = vxs_filled(n), high = vxs_filled(m);
    *room = (vxs_gauss_room){ .run = vxs_choose_exponentials() };
    room->u = vxs_alloc(vxs_times(3, wide + high), sizeof(*room->u), err);
    room->points = room->u ? vxs_alloc(n + m, sizeof(*room->points), err) : NULL;
    if (!room->points) {
        vxs_gauss_room_release(room);
        return VXS_FAILED;
    }
    room->w = room->u + wide;
    room->u_bell = room->w + wide;
    room->s = room->u_bell + wide;
    room->s_bell = room->s + high;
    room->to = room->s_bell + high;
    room->places = room->points + n;
    return VXS_OK;
}

void vxs_gauss_room_release(vxs_gauss_room *room)
{
    free(room->u);
    free(room->points);
    *room = (vxs_gauss_room){ .run = NULL };
}

/* ---- One piece ------------------------------------------------------------------------------- */

typedef struct {
    size_t n, m;  /* points, and places of sums */
    double scale; /* no point is much further from the centre */
    size_t terms;
    bool same; /* the places are the points */
} piece;

/* One exponential of the direct sum takes as long as 12 terms at one point, beginning and ending a
 * term as long as 36 points, and the rest as 400 terms: with normal values and a bandwidth of one
 * standard deviation the series is faster from 8 points on. Measured by `make kernel-figures`. */
static bool is_small(vxs_gauss_way way, const piece *p)
{
    size_t n = vxs_filled(p->n), m = vxs_filled(p->m);
    if (way != VXS_GAUSS_FASTER)
        return way == VXS_GAUSS_DIRECT;
    return 12 * p->n * m < p->terms * (n + m + 36) + 400;
}

static void sum_series(vxs_gauss_room *room, const piece *p)
{
    double moments[VXS_TERMS], factor = 1;
    size_t n = vxs_filled(p->n), m = vxs_filled(p->m);
    room->run->bells(room->u, n, room->u_bell);
    if (!p->same)
        room->run->bells(room->s, m, room->s_bell);
    room->run->collect(room->u, room->w, room->u_bell, n, p->scale, p->terms, moments);
    for (size_t k = 0; k < p->terms; k++) {
        moments[k] *= factor;
        factor *= p->scale * p->scale / (double)(k + 1);
    }
    room->run->evaluate(p->same ? room->u : room->s, p->same ? room->u_bell : room->s_bell, m,
                        p->scale, p->terms, moments, room->to);
}

static void fill_up(double *values, size_t count)
{
    memset(values + count, 0, (vxs_filled(count) - count) * sizeof(*values));
}

/* u, w and s are there; the sums come into `to`. */
static void sum_piece(vxs_gauss_room *room, const piece *p)
{
    fill_up(room->u, p->n);
    fill_up(room->w, p->n);
    if (!p->same)
        fill_up(room->s, p->m);
    if (is_small(room->way, p))
        room->run->sums(room->u, room->w, p->n, p->same ? room->u : room->s, vxs_filled(p->m),
                        room->to);
    else
        sum_series(room, p);
}

/* ---- Near together --------------------------------------------------------------------------- */

/* Whether all are finite. */
static bool widen(const double *x, size_t n, double *least, double *most)
{
    double zeros = 0;
    for (size_t l = 0; l < n; l++) {
        *least = x[l] < *least ? x[l] : *least;
        *most = x[l] > *most ? x[l] : *most;
        zeros += 0 * x[l];
    }
    return zeros == 0;
}

/* What the sums are where a place, a point or the bandwidth is no number. */
static void fill_nan(double *g, size_t m)
{
    for (size_t j = 0; j < m; j++)
        g[j] = NAN;
}

static void in_one(vxs_gauss_room *room, const double *x, const double *q, const double *at,
                   double centre, double bandwidth, const piece *p, double *g)
{
    for (size_t l = 0; l < p->n; l++) {
        room->u[l] = (x[l] - centre) / bandwidth;
        room->w[l] = q[l];
    }
    for (size_t j = 0; j < p->m && !p->same; j++)
        room->s[j] = (at[j] - centre) / bandwidth;
    sum_piece(room, p);
    memcpy(g, room->to, p->m * sizeof(*g));
}

/* ---- Far apart ------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const vxs_point *left = a, *right = b;
    if (left->place != right->place)
        return left->place < right->place ? -1 : 1;
    return (left->index > right->index) - (left->index < right->index);
}

static void sort(const double *x, size_t n, vxs_point *points)
{
    for (size_t l = 0; l < n; l++)
        points[l] = (vxs_point){ .place = x[l], .index = l };
    qsort(points, n, sizeof(*points), by_place);
}

/* Places [first, last) from points [low, high). Differences are taken from the middle of the box,
 * so that they are as exact as the values, however far other points lie. */
static void sum_box(vxs_gauss_room *room, const vxs_point *points, const vxs_point *places,
                    const double *q, double bandwidth, const piece *p)
{
    double centre = places[0].place / 2 + places[p->m - 1].place / 2;
    for (size_t l = 0; l < p->n; l++) {
        room->u[l] = (points[l].place - centre) / bandwidth;
        room->w[l] = q[points[l].index];
    }
    for (size_t j = 0; j < p->m; j++)
        room->s[j] = (places[j].place - centre) / bandwidth;
    sum_piece(room, p);
}

static void in_boxes(vxs_gauss_room *room, const double *x, const double *q, size_t n,
                     const double *at, size_t m, bool same, double bandwidth, double *g)
{
    const vxs_point *points = room->points, *places = same ? points : room->places;
    size_t low = 0, high = 0;
    sort(x, n, room->points);
    if (!same)
        sort(at, m, room->places);
    for (size_t first = 0, last = 0; first < m; first = last) {
        double start = places[first].place;
        while (last < m && places[last].place - start <= 2 * HALF_BOX * bandwidth)
            last++;
        while (low < n && start - points[low].place > REACH * bandwidth)
            low++;
        high = high > low ? high : low;
        while (high < n && points[high].place - places[last - 1].place <= REACH * bandwidth)
            high++;
        piece p = {
            .n = high - low, .m = last - first, .scale = HALF_BOX + REACH, .terms = BOX_TERMS
        };
        sum_box(room, points + low, places + first, q, bandwidth, &p);
        for (size_t j = 0; j < p.m; j++)
            g[places[first + j].index] = room->to[j];
    }
}

/* ---- The whole ------------------------------------------------------------------------------- */

void vxs_gauss_sums_in(vxs_gauss_room *room, const double *x, const double *q, size_t n,
                       const double *at, size_t m, double bandwidth, double *g)
{
    bool same = at == x && n == m;
    if (n == 0)
        memset(g, 0, m * sizeof(*g));
    if (n == 0 || m == 0)
        return;
    double least = x[0], most = x[0];
    bool finite = widen(x, n, &least, &most);
    if (!same)
        finite = widen(at, m, &least, &most) && finite;
    if (!finite || !(bandwidth > 0)) {
        fill_nan(g, m);
        return;
    }
    double r = (most / 2 - least / 2) / bandwidth;
    if (r > SINGLE) {
        in_boxes(room, x, q, n, at, m, same, bandwidth, g);
        return;
    }
    piece p = { .n = n, .m = m, .scale = r > 1 ? r : 1, .terms = terms_for(r), .same = same };
    in_one(room, x, q, at, least / 2 + most / 2, bandwidth, &p, g);
}

vxs_status vxs_gauss_sums(const double *x, const double *q, size_t n, const double *at, size_t m,
                          double bandwidth, double *g, vxs_error *err)
{
    vxs_gauss_room room;
    if (!(bandwidth > 0))
        return vxs_fail(err, VXS_MISUSE, "a bandwidth must be above 0, not %g", bandwidth);
    if (vxs_gauss_room_init(&room, n, m, err))
        return VXS_FAILED;
    vxs_gauss_sums_in(&room, x, q, n, at, m, bandwidth, g);
    vxs_gauss_room_release(&room);
    return VXS_OK;
}
