/* sample_bounds.c - safe bounds on the values of samples, from a duality gap and from another C.
 *
 * Gap       |w - w*| <= sqrt(P - D), both at the same w: each of P and D is |w - w*|^2 / 2 or more
 *           away from the optimum
 * Path      w* of C' = ratio C is in the ball of which w and ratio w are a diameter, w the optimum
 *           at C: the variational inequalities of both, added, where the loss cancels; an answer
 *           within `own` of it widens the ball
 * Values    |f_i - f*_i| <= radius sqrt(k_ii)
 * Intercept least where the slope of the loss passes 0, and falls as f rises: between the least
 *           such b at the upper and the largest at the lower ends of f
 * Decided   y (f + b) > 1 at its lower end: t = 0; < 1 at its upper end: t = c (classes)
 * Source    Ren 2017, theorem 1 (gap, without intercept and without the second half of Decided);
 *           Wang, Wonka and Ye 2014 (path) */
#include "solver/saiv/sample_bounds.h"

#include <math.h>

#define MARGIN       1e-9  /* of the largest value: rounding */
#define GAP_ROUNDING 1e-12 /* of the values that a gap is the difference of */
#define FLAT         1e-12 /* of the sum of c: a slope of 0 */

void vxs_sample_bounds_begin(vxs_sample_bounds *s, size_t n, double *values)
{
    *s = (vxs_sample_bounds){ values, values + n, -INFINITY, INFINITY };
    for (size_t i = 0; i < n; i++) {
        s->low[i] = -INFINITY;
        s->high[i] = INFINITY;
    }
}

void vxs_sample_bounds_add(vxs_sample_bounds *s, const vxs_box *x, double scale, double radius)
{
    for (size_t i = 0; i < x->n; i++) {
        double own = x->k ? x->k[i * x->n + i] : vxs_gram_own(x->kernel, i);
        double reach = radius * sqrt(own), f = scale * x->f[i];
        s->low[i] = fmax(s->low[i], f - reach);
        s->high[i] = fmin(s->high[i], f + reach);
    }
}

double vxs_gap_radius(vxs_box_state state, double empty)
{
    double rounding = GAP_ROUNDING * (empty + fabs(state.primal) + fabs(state.dual));
    return sqrt(fmax(0, state.primal - state.dual) + rounding);
}

double vxs_path_radius(double ratio, double norm, double own)
{
    return fabs(ratio - 1) / 2 * (norm + own) + (1 + ratio) / 2 * own;
}

/* ---- The intercept --------------------------------------------------------------------------- */

/* The ends of the set of best b at values f. */
typedef struct {
    double low, high;
} ends;

static ends best_intercepts(const vxs_box *x, const size_t *set, size_t count, const double *f,
                            vxs_threshold *v)
{
    ends b = { -INFINITY, INFINITY };
    double rising = 0, falling = 0;
    size_t used = 0;
    for (size_t m = 0; m < count; m++) {
        size_t k = set ? set[m] : m;
        if (x->c[k] == 0)
            continue;
        v[used++] = (vxs_threshold){ x->sign[k] * x->q[k] - f[x->row[k]], x->c[k],
                                     x->sign[k] > 0 ? 1 : -1 };
        *(x->sign[k] > 0 ? &falling : &rising) += x->c[k];
    }
    double tolerance = FLAT * (rising + falling), slope = -falling;
    vxs_thresholds_sort(v, used);
    for (size_t k = 0; k < used; k++) {
        double left = slope;
        slope += v[k].weight;
        if (b.low == -INFINITY && slope >= -tolerance && falling > tolerance)
            b.low = v[k].value;
        if (left <= tolerance && rising > tolerance)
            b.high = v[k].value;
    }
    return b;
}

void vxs_sample_bounds_intercept(vxs_sample_bounds *s, const vxs_box *x, const size_t *set,
                                 size_t count, vxs_threshold *thresholds)
{
    if (!x->intercept) {
        s->b_low = s->b_high = 0;
        return;
    }
    s->b_low = fmax(s->b_low, best_intercepts(x, set, count, s->high, thresholds).low);
    s->b_high = fmin(s->b_high, best_intercepts(x, set, count, s->low, thresholds).high);
}

/* ---- Weights --------------------------------------------------------------------------------- */

double vxs_sample_bounds_margin(const vxs_sample_bounds *s, const vxs_box *x, size_t k)
{
    size_t i = x->row[k];
    double least = x->sign[k] > 0 ? s->low[i] + s->b_low : -s->high[i] - s->b_high;
    return least - x->q[k];
}

static vxs_fate fate_of(const vxs_sample_bounds *s, const vxs_box *x, size_t k, double margin)
{
    size_t i = x->row[k];
    double most = x->sign[k] > 0 ? s->high[i] + s->b_high : -s->low[i] - s->b_low;
    if (x->c[k] == 0 || vxs_sample_bounds_margin(s, x, k) > margin)
        return VXS_DECIDED_ZERO;
    return most < x->q[k] - margin ? VXS_DECIDED_FULL : VXS_UNDECIDED;
}

size_t vxs_sample_bounds_decide(vxs_sample_bounds *s, const vxs_box *x, vxs_threshold *thresholds,
                                unsigned char *fate)
{
    double largest = 0;
    size_t decided = 0;
    vxs_sample_bounds_intercept(s, x, NULL, x->count, thresholds);
    for (size_t k = 0; k < x->count; k++)
        largest = fmax(largest, fmax(fabs(x->q[k]), fabs(x->f[x->row[k]])));
    for (size_t k = 0; k < x->count; k++) {
        if (fate[k] == VXS_UNDECIDED)
            fate[k] = (unsigned char)fate_of(s, x, k, MARGIN * largest);
        decided += fate[k] != VXS_UNDECIDED;
    }
    return decided;
}
