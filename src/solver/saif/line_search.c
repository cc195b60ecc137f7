/* line_search.c - how far a step goes: to the minimum on its line, for the squared hinge with an l1
 * penalty, else by halvings.
 *
 * Method    the slope of phi is linear between events, where a sample passes its margin (the slope
 *           bends) or a weight passes 0 (it jumps), and never falls: a sweep over the sorted events
 *           ends at its first value of at least 0. There it is recomputed, without the rounding of
 *           what entered and left
 * Cost      (n + m) log(n + m)
 * Threads   one
 * Source    spec/svm-screening.md, 8 */
#include "solver/saif/line_search.h"
#include "solver/saif/working_set.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FLAT      1e-13 /* of the value: rounding */
#define MOST_FLAT 8
#define LANDED    1e-15 /* of a weight: rounding, it is 0 now */

/* ---- The minimum on a line ------------------------------------------------------------------- */

void vxs_line_search_release(vxs_line_search *s)
{
    free(s->events);
    *s = (vxs_line_search){ .room = 0 };
}

/* slope(t) = slope + curve t on a piece. */
typedef struct {
    double slope, curve;
} piece;

static double margin_of(const vxs_line *l, size_t i)
{
    return 1 - l->loss->y[i] * l->z[i];
}

static double change_of(const vxs_line *l, size_t i)
{
    return -l->loss->y[i] * l->way[i];
}

/* The piece that holds t, right of it if t is an event. */
static piece piece_at(const vxs_line *l, double t)
{
    piece p = { l->linear, l->square };
    for (size_t i = 0; i < l->n; i++) {
        double m = margin_of(l, i), g = change_of(l, i), u = vxs_loss_weight(l->loss, i);
        double there = m + t * g;
        if (there > 0 || (there == 0 && g > 0)) {
            p.slope += u * m * g;
            p.curve += u * g * g;
        }
    }
    for (size_t j = 0; j < l->m; j++) {
        double there = l->w[j] + t * l->d[j];
        p.slope += l->lambda * (there != 0 ? copysign(l->d[j], there * l->d[j]) : fabs(l->d[j]));
    }
    return p;
}

static int by_place(const void *a, const void *b)
{
    const vxs_line_event *left = a, *right = b;
    return (left->at > right->at) - (left->at < right->at);
}

static size_t list_events(const vxs_line *l, double most, vxs_line_event *events)
{
    size_t count = 0;
    for (size_t i = 0; i < l->n; i++) {
        double m = margin_of(l, i), g = change_of(l, i), u = vxs_loss_weight(l->loss, i);
        double at = g != 0 ? -m / g : 0;
        if (at > 0 && at < most && u > 0)
            events[count++] =
                (vxs_line_event){ at, copysign(u, g) * m * g, copysign(u, g) * g * g };
    }
    for (size_t j = 0; j < l->m; j++) {
        double at = l->d[j] != 0 ? -l->w[j] / l->d[j] : 0;
        if (at > 0 && at < most)
            events[count++] = (vxs_line_event){ at, 2 * l->lambda * fabs(l->d[j]), 0 };
    }
    qsort(events, count, sizeof(*events), by_place);
    return count;
}

/* Where the slope of the piece between two events is 0. */
static double root_between(const vxs_line *l, double from, double to)
{
    piece p = piece_at(l, isfinite(to) ? from + (to - from) / 2 : from + 1);
    double root = p.curve > 0 ? -p.slope / p.curve : p.slope < 0 ? to : from;
    return fmax(from, fmin(to, root));
}

vxs_status vxs_line_minimum(vxs_line_search *s, const vxs_line *l, double most, double *share,
                            vxs_error *err)
{
    if (s->room < l->n + l->m) {
        vxs_line_event *larger =
            vxs_resize(s->events, l->n + l->m + l->m / 8 + 32, sizeof(*larger), err);
        if (!larger)
            return VXS_FAILED;
        s->events = larger;
        s->room = l->n + l->m + l->m / 8 + 32;
    }
    piece now = piece_at(l, 0);
    double from = 0;
    *share = 0;
    if (!(now.slope < 0))
        return VXS_OK;
    size_t count = list_events(l, most, s->events);
    for (size_t k = 0; k < count; k++) {
        const vxs_line_event *e = &s->events[k];
        if (now.slope + now.curve * e->at >= 0) {
            *share = root_between(l, from, e->at);
            return VXS_OK;
        }
        now.slope += e->slope;
        now.curve += e->curve;
        from = e->at;
        if (now.slope + now.curve * e->at >= 0) { /* it jumps */
            *share = e->at;
            return VXS_OK;
        }
    }
    *share = root_between(l, from, most);
    if (!isfinite(*share)) /* flat for ever: as far as something happens */
        *share = from;
    return VXS_OK;
}

/* ---- Steps of a working set ------------------------------------------------------------------ */

/* Takes the weights on trial if the value falls, and a few times where it stays: near the end the
 * gap falls where the value cannot. */
static bool accept(vxs_working_set *a, const double *trial_w, double now, double primal, bool flat)
{
    bool stays = flat && a->stalled < MOST_FLAT && now <= primal * (1 + FLAT);
    if (!(now < primal) && !stays)
        return false;
    a->stalled = now < primal * (1 - FLAT) ? 0 : a->stalled + 1;
    memcpy(a->w, trial_w, (a->q + a->count) * sizeof(*a->w));
    return true;
}

/* Along the segment to the target until the value falls; false when it no longer does. */
static bool halve_towards(vxs_working_set *a, const double *target, bool clip, double lambda,
                          double primal)
{
    size_t m = a->q + a->count;
    double *trial_w = a->linear, share = 1;
    for (int halvings = 0; halvings < 40; halvings++, share /= 2) {
        for (size_t k = 0; k < m; k++)
            trial_w[k] = a->w[k] + share * (target[k] - a->w[k]);
        for (size_t k = a->q; k < m && clip; k++)
            trial_w[k] = trial_w[k] * a->w[k] < 0 ? 0 : trial_w[k];
        vxs_working_set_predict(a, trial_w, a->trial);
        double now = vxs_working_set_value(a, trial_w, a->trial, lambda);
        if (accept(a, trial_w, now, primal, share == 1))
            return true;
    }
    return false;
}

/* Adds what ridge and Laplacian contribute to the slope along a line. */
static void add_quadratic(vxs_working_set *a, const double *d, vxs_line *line)
{
    const double *w = a->w + a->q;
    int count = (int)a->count;
    line->linear = a->ridge * cblas_ddot(count, w, 1, d, 1);
    line->square = a->ridge * cblas_ddot(count, d, 1, d, 1);
    if (a->laplacian.p == 0)
        return;
    vxs_laplacian_times(&a->laplacian, a->set, a->count, w, a->laplacian_gradient);
    line->linear += cblas_ddot(count, a->laplacian_gradient, 1, d, 1);
    line->square += vxs_laplacian_form(&a->laplacian, a->set, a->count, d);
}

vxs_status vxs_working_set_go_to_minimum(vxs_working_set *a, const double *target, double most,
                                         double lambda, double primal, bool *moved, vxs_error *err)
{
    size_t m = a->q + a->count, n = a->n;
    double *d = a->linear, share;
    for (size_t k = 0; k < m; k++)
        d[k] = target[k] - a->w[k];
    vxs_working_set_predict(a, d, a->trial);
    vxs_line line = { &a->problem->loss, n,        a->count, a->z,       a->trial,
                      a->w + a->q,       d + a->q, lambda,   .linear = 0 };
    add_quadratic(a, d + a->q, &line);
    vxs_status status = vxs_line_minimum(&a->line, &line, most, &share, err);
    if (status)
        return status;
    for (size_t k = 0; k < m; k++) {
        double next = a->w[k] + share * d[k];
        bool lands = k >= a->q && fabs(next) <= LANDED * fabs(a->w[k]);
        d[k] = lands ? 0 : share == 1 ? target[k] : next;
    }
    vxs_working_set_predict(a, d, a->trial);
    double now = vxs_working_set_value(a, d, a->trial, lambda);
    *moved = share > 0 && accept(a, d, now, primal, true);
    return VXS_OK;
}

vxs_status vxs_working_set_go_towards(vxs_working_set *a, const double *target, bool clip,
                                      double lambda, double primal, bool *moved, vxs_error *err)
{
    if (!clip && a->problem->loss.kind == &vxs_squared_hinge_loss)
        return vxs_working_set_go_to_minimum(a, target, 1, lambda, primal, moved, err);
    *moved = halve_towards(a, target, clip, lambda, primal);
    return VXS_OK;
}
