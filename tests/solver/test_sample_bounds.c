/* Bounds on the values of samples and on their weights, from a gap and from another C: none is ever
 * wrong, on random problems of classes and scores with copies, weights and singular kernels, with
 * and without an intercept. */
#include "solver/saiv/dual_pairs.h"
#include "solver/saiv/sample_bounds.h"
#include "tests/core/check.h"
#include "tests/solver/boxes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 60, PROBLEMS = 2000 };

typedef struct {
    box_example example;
    vxs_threshold thresholds[2 * MOST];
    double values[2 * MOST], c[2 * MOST];
    unsigned char fate[2 * MOST];
    vxs_sample_bounds bounds;
    double empty; /* sum of c */
} study;

/* Of decided weights, and of all. */
typedef struct {
    size_t zero, full, all, by_path;
} counts;

static vxs_box_state evaluate(study *s)
{
    return vxs_box_evaluate(&s->example.box, NULL, s->example.box.count, s->thresholds);
}

/* The optimum, to the last digits that pairs of weights can find. */
static vxs_box_state optimum(study *s)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_box *x = &s->example.box;
    vxs_box_work work = { .capacity = 0 };
    double b;
    for (int again = 0; again < 3; again++) {
        WORKS(vxs_box_solve(x, NULL, x->count, 1e-13 * s->empty, &work, &b, &err), err);
        (void)vxs_box_balance(x);
        box_set_values(x, x->f);
    }
    vxs_box_work_release(&work);
    return evaluate(s);
}

static void set_cost(study *s, double factor)
{
    vxs_box *x = &s->example.box;
    s->empty = 0;
    for (size_t k = 0; k < x->count; k++) {
        x->c[k] = factor * s->c[k];
        x->t[k] = 0;
        s->empty += x->c[k];
    }
    memset(x->f, 0, x->n * sizeof(*x->f));
}

/* `t` part of the way from the optimum to random weights. */
static void leave_optimum(study *s, uint64_t number, double way)
{
    vxs_box *x = &s->example.box;
    double *best = box_numbers(x->count);
    memcpy(best, x->t, x->count * sizeof(*best));
    memset(x->t, 0, x->count * sizeof(*x->t));
    if (x->intercept)
        box_draw_weights(x, number);
    for (size_t k = 0; k < x->count; k++)
        x->t[k] = (1 - way) * best[k] + way * x->t[k];
    box_set_values(x, x->f);
    free(best);
}

/* The bounds hold of the optimum where the box is now; what they leave open is the gap it has. */
static void compare(study *s, vxs_box_state state, uint64_t number, counts *found)
{
    vxs_box *x = &s->example.box;
    double left = fmax(0, state.primal - state.dual), scale = 1;
    for (size_t k = 0; k < x->count; k++)
        scale = fmax(scale, fabs(x->q[k]) + fabs(x->f[x->row[k]]));
    cr_assert(left <= 1e-9 * s->empty, "problem %d: gap %g", (int)number, left / s->empty);
    for (size_t i = 0; i < x->n; i++) {
        double slack = sqrt(x->k[i * x->n + i] * left) + 1e-9 * scale;
        cr_assert(x->f[i] >= s->bounds.low[i] - slack && x->f[i] <= s->bounds.high[i] + slack,
                  "problem %d: %g not from %g to %g", (int)number, x->f[i], s->bounds.low[i],
                  s->bounds.high[i]);
    }
    for (size_t k = 0; k < x->count; k++) {
        double slack = 1e-5 * x->c[k];
        found->zero += s->fate[k] == VXS_DECIDED_ZERO;
        found->full += s->fate[k] == VXS_DECIDED_FULL;
        found->all++;
        cr_assert(s->fate[k] != VXS_DECIDED_ZERO || x->t[k] <= slack, "problem %d: %g of %g",
                  (int)number, x->t[k], x->c[k]);
        cr_assert(s->fate[k] != VXS_DECIDED_FULL || x->t[k] >= x->c[k] - slack,
                  "problem %d: %g of %g", (int)number, x->t[k], x->c[k]);
    }
}

static void begin(study *s, uint64_t number, const vxs_random *random)
{
    double cost = pow(10, 4 * vxs_random_uniform(random, 0) - 2);
    s->example = box_make(4 + number % (MOST - 4), number, cost);
    memcpy(s->c, s->example.box.c, s->example.box.count * sizeof(*s->c));
    set_cost(s, 1);
    vxs_sample_bounds_begin(&s->bounds, s->example.box.n, s->values);
    memset(s->fate, VXS_UNDECIDED, sizeof(s->fate));
}

static double norm_of(const vxs_box *x)
{
    double square = 0;
    for (size_t k = 0; k < x->count; k++)
        square += x->sign[k] * x->t[k] * x->f[x->row[k]];
    return sqrt(fmax(0, square));
}

static void decide(study *s)
{
    (void)vxs_sample_bounds_decide(&s->bounds, &s->example.box, s->thresholds, s->fate);
}

Test(sample_bounds, a_gap_never_decides_wrongly)
{
    static study s;
    counts found = { 0, 0, 0, 0 };
    for (uint64_t number = 0; number < PROBLEMS; number++) {
        vxs_random random = { .seed = 11, .stream = number };
        begin(&s, number, &random);
        (void)optimum(&s);
        leave_optimum(&s, number, pow(10, -6 * vxs_random_uniform(&random, 1)));
        vxs_sample_bounds_add(&s.bounds, &s.example.box, 1, vxs_gap_radius(evaluate(&s), s.empty));
        decide(&s);
        vxs_box_state state = optimum(&s);
        compare(&s, state, number, &found);
        box_release(&s.example);
    }
    cr_expect(found.zero > found.all / 20 && found.full > found.all / 20,
              "%zu and %zu of %zu decided", found.zero, found.full, found.all);
}

/* An answer at one C with a gap, up and down to another; with the ball of the warm start. */
Test(sample_bounds, another_cost_never_decides_wrongly)
{
    static study s;
    counts found = { 0, 0, 0, 0 };
    for (uint64_t number = 0; number < PROBLEMS; number++) {
        vxs_random random = { .seed = 12, .stream = number };
        double ratio = pow(10, (number % 3 == 0 ? -0.3 : 0.6) * vxs_random_uniform(&random, 2));
        begin(&s, number, &random);
        vxs_box *x = &s.example.box;
        (void)optimum(&s);
        if (number % 2)
            leave_optimum(&s, number, pow(10, -3 - 6 * vxs_random_uniform(&random, 1)));
        double own = vxs_gap_radius(evaluate(&s), s.empty), norm = norm_of(x);
        vxs_sample_bounds_add(&s.bounds, x, (1 + ratio) / 2, vxs_path_radius(ratio, norm, own));
        double *warm = box_numbers(x->count);
        for (size_t k = 0; k < x->count; k++)
            warm[k] = ratio * x->t[k];
        set_cost(&s, ratio);
        for (size_t k = 0; k < x->count; k++)
            x->t[k] = fmin(warm[k], x->c[k]);
        (void)vxs_box_balance(x);
        box_set_values(x, x->f);
        double near = vxs_gap_radius(evaluate(&s), s.empty);
        found.by_path += vxs_path_radius(ratio, norm, own) < near;
        vxs_sample_bounds_add(&s.bounds, x, 1, near);
        decide(&s);
        vxs_box_state state = optimum(&s);
        compare(&s, state, number, &found);
        free(warm);
        box_release(&s.example);
    }
    cr_expect(found.zero + found.full > found.all / 20 && found.by_path > PROBLEMS / 4,
              "%zu and %zu of %zu decided; the path's ball is smaller in %zu problems", found.zero,
              found.full, found.all, found.by_path);
}

/* Weights of one kernel are weights of another: what they decide there is right as well. */
Test(sample_bounds, weights_of_another_kernel_never_decide_wrongly)
{
    static study s;
    counts found = { 0, 0, 0, 0 };
    for (uint64_t number = 0; number < 400; number++) {
        vxs_random random = { .seed = 13, .stream = number };
        begin(&s, number, &random);
        vxs_box *x = &s.example.box;
        (void)optimum(&s);
        double factor = 1 + 0.1 * vxs_random_uniform(&random, 3);
        for (size_t k = 0; k < x->n * x->n; k++)
            s.example.k[k] *= factor;
        for (size_t i = 0; i < x->n; i++)
            s.example.k[i * x->n + i] += 0.01;
        box_set_values(x, x->f);
        vxs_sample_bounds_add(&s.bounds, x, 1, vxs_gap_radius(evaluate(&s), s.empty));
        decide(&s);
        vxs_box_state state = optimum(&s);
        compare(&s, state, number, &found);
        box_release(&s.example);
    }
    cr_expect(found.zero + found.full > found.all / 20, "%zu and %zu of %zu decided", found.zero,
              found.full, found.all);
}

/* A quarter of the radius of a gap would be wrong: the tests above can find such a bound. */
Test(sample_bounds, a_smaller_ball_would_be_wrong)
{
    static study s;
    size_t wrong = 0;
    for (uint64_t number = 0; number < 400; number++) {
        vxs_random random = { .seed = 14, .stream = number };
        begin(&s, number, &random);
        vxs_box *x = &s.example.box;
        (void)optimum(&s);
        leave_optimum(&s, number, pow(10, -3 * vxs_random_uniform(&random, 1)));
        double radius = vxs_gap_radius(evaluate(&s), s.empty);
        vxs_sample_bounds_add(&s.bounds, x, 1, radius / 4);
        (void)optimum(&s);
        for (size_t i = 0; i < x->n; i++)
            if (x->f[i] < s.bounds.low[i] - 1e-6 || x->f[i] > s.bounds.high[i] + 1e-6) {
                wrong++;
                break;
            }
        box_release(&s.example);
    }
    cr_expect(wrong > 20, "%zu", wrong);
}
