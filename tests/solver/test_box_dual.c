/* Steps in the dual problem of kernel machines: from any feasible point they stay feasible, never
 * lower the dual value, and have the same bits on any processor; problems of many samples are
 * solved by all of them. */
#include "solver/saiv/dual_pairs.h"
#include "solver/saiv/face.h"
#include "tests/core/check.h"
#include "voxsift/internal/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 90, MANY = 1100 };

typedef struct {
    vxs_box box;
    double *k;
} example;

static double *numbers(size_t count)
{
    vxs_error err = VXS_ERROR_INIT;
    double *values = vxs_alloc(count, sizeof(*values), &err);
    cr_assert(values);
    return values;
}

/* Gaussian kernel of samples in a few dimensions; every third problem has copies, every second is
 * of scores. */
static void draw_kernel(example *e, const vxs_random *random, uint64_t number, uint64_t *at)
{
    enum { D = 4 };
    size_t n = e->box.n, copies = number % 3 == 2 ? 5 : 1;
    double *x = numbers(n * D);
    for (size_t k = 0; k < n * D; k++)
        x[k] = k / D % copies ? x[k - k / D % copies * D] : vxs_random_normal(random, (*at)++);
    e->k = numbers(n * n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double square = 0;
            for (size_t d = 0; d < D; d++)
                square += (x[i * D + d] - x[j * D + d]) * (x[i * D + d] - x[j * D + d]);
            e->k[i * n + j] = exp(-square / 2);
        }
    free(x);
}

static example make(size_t n, uint64_t number, double cost)
{
    vxs_random random = { .seed = 8, .stream = number };
    vxs_error err = VXS_ERROR_INIT;
    uint64_t at = 0;
    bool scores = number % 2;
    size_t count = scores ? 2 * n : n;
    example e = { .box = { .n = n, .count = count, .intercept = number % 5 != 4 } };
    draw_kernel(&e, &random, number, &at);
    vxs_box *x = &e.box;
    x->k = e.k;
    x->row = vxs_alloc(count, sizeof(*x->row), &err);
    x->sign = numbers(count);
    x->q = numbers(count);
    x->c = numbers(count);
    x->t = numbers(count);
    x->f = numbers(n);
    cr_assert(x->row);
    for (size_t k = 0; k < count; k++) {
        x->row[k] = scores ? k / 2 : k;
        double y = vxs_random_normal(&random, 1000000 + x->row[k]);
        x->sign[k] = scores ? (k % 2 ? -1 : 1) : k % 3 ? 1 : -1;
        x->q[k] = scores ? x->sign[k] * y - 0.1 : 1;
        x->c[k] = cost * (number % 4 == 3 ? 0.5 + vxs_random_uniform(&random, at++) : 1);
    }
    return e;
}

static void release(example *e)
{
    void *const all[] = { e->k, e->box.row, e->box.sign, e->box.q, e->box.c, e->box.t, e->box.f };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        free(all[k]);
}

static void set_values(vxs_box *x, double *f)
{
    memset(f, 0, x->n * sizeof(*f));
    for (size_t k = 0; k < x->count; k++)
        for (size_t i = 0; i < x->n; i++)
            f[i] += x->sign[k] * x->t[k] * x->k[x->row[k] * x->n + i];
}

/* Weights inside the box, at 0 or at their bound, that sum to 0: pairs of a variable that rises
 * and one that falls by the same. */
static void draw_weights(vxs_box *x, uint64_t number)
{
    vxs_random random = { .seed = 9, .stream = number };
    for (uint64_t k = 0; k < 3 * x->count; k++) {
        size_t up = vxs_random_below(&random, 3 * k, x->count),
               down = vxs_random_below(&random, 3 * k + 1, x->count);
        double step = fmin(vxs_box_room(x, up, 1), vxs_box_room(x, down, -1));
        step *= k % 2 ? vxs_random_uniform(&random, 3 * k + 2) : 1;
        if (x->row[up] == x->row[down] || !(step > 0))
            continue;
        vxs_box_move(x, up, step);
        vxs_box_move(x, down, -step);
    }
    set_values(x, x->f);
}

static double dual_of(vxs_box *x)
{
    double value = 0, *f = numbers(x->n);
    set_values(x, f);
    for (size_t k = 0; k < x->count; k++)
        value += x->q[k] * x->t[k] - x->sign[k] * x->t[k] * f[x->row[k]] / 2;
    free(f);
    return value;
}

static void check_feasible(vxs_box *x, uint64_t number)
{
    double sum = 0, size = 0, *f = numbers(x->n);
    set_values(x, f);
    for (size_t k = 0; k < x->count; k++) {
        cr_assert(x->t[k] >= 0 && x->t[k] <= x->c[k], "problem %d: %g", (int)number, x->t[k]);
        sum += x->sign[k] * x->t[k];
        size += x->t[k];
    }
    cr_assert(!x->intercept || fabs(sum) <= 1e-12 * size, "problem %d: %g", (int)number, sum);
    for (size_t i = 0; i < x->n; i++)
        cr_assert(fabs(f[i] - x->f[i]) <= 1e-10 * (1 + size), "problem %d", (int)number);
    free(f);
}

static size_t list_inside(const vxs_box *x, size_t *member)
{
    size_t count = 0;
    for (size_t k = 0; k < x->count; k++)
        if (x->t[k] > 0 && x->t[k] < x->c[k] &&
            (count == 0 || x->row[member[count - 1]] != x->row[k]))
            member[count++] = k;
    return count;
}

Test(box_dual, a_face_step_stays_feasible_and_gains)
{
    static double work[VXS_FACE_WORK * FEW];
    static size_t member[2 * FEW];
    int gained = 0;
    for (uint64_t number = 0; number < 300; number++) {
        example e = make(2 + number % (FEW - 2), number, exp((double)(number % 9) - 4));
        draw_weights(&e.box, number);
        check_feasible(&e.box, number + 1000);
        double before = dual_of(&e.box);
        size_t count = list_inside(&e.box, member);
        bool gains = count > 1 && vxs_face_step(&e.box, member, count, work);
        double after = dual_of(&e.box);
        check_feasible(&e.box, number);
        cr_assert(after >= before - 1e-10 * (1 + fabs(before)), "problem %d: %.17g, %.17g",
                  (int)number, before, after);
        gained += gains && after > before;
        release(&e);
    }
    cr_expect(gained > 200, "%d steps have gained", gained);
}

Test(box_dual, pairs_stay_feasible_and_gain)
{
    static size_t first[FEW + 1];
    static double ends[3 * FEW];
    for (uint64_t number = 0; number < 300; number++) {
        example e = make(2 + number % (FEW - 2), number, exp((double)(number % 9) - 4));
        draw_weights(&e.box, number);
        double before = dual_of(&e.box);
        vxs_pairs pairs;
        vxs_pairs_begin(&pairs, &e.box, 1e-12, first, ends);
        for (int k = 0; k < 20; k++) {
            bool gains = vxs_pairs_take(&pairs, 1);
            double after = dual_of(&e.box);
            cr_assert(after >= before - 1e-10 * (1 + fabs(before)), "problem %d: %.17g, %.17g",
                      (int)number, before, after);
            before = after;
            if (!gains)
                break;
        }
        check_feasible(&e.box, number);
        release(&e);
    }
}

/* More samples than fit into one set, and more inside the box than a factor is made of. */
Test(box_dual, many_variables_are_solved_to_a_small_gap)
{
    for (uint64_t number = 0; number < 10; number++) {
        example e = make(MANY, number, number % 4 < 2 ? 0.5 : 50);
        vxs_error err = VXS_ERROR_INIT;
        vxs_box_work work = { .capacity = 0 };
        double b, empty = 0;
        for (size_t k = 0; k < e.box.count; k++)
            empty += e.box.c[k];
        WORKS(vxs_box_solve(&e.box, NULL, e.box.count, 1e-7 * empty, &work, &b, &err), err);
        vxs_threshold *thresholds = vxs_alloc(e.box.count, sizeof(*thresholds), &err);
        vxs_box_state state = vxs_box_evaluate(&e.box, NULL, e.box.count, thresholds);
        check_feasible(&e.box, number);
        cr_expect(state.primal - state.dual <= 1e-7 * empty, "problem %d: gap %g", (int)number,
                  (state.primal - state.dual) / empty);
        free(thresholds);
        vxs_box_work_release(&work);
        release(&e);
    }
}

/* How much two weights of a set would gain by moving, or one without an intercept. */
static double violation_of(const vxs_box *x, size_t count)
{
    double up = -INFINITY, down = INFINITY;
    for (size_t k = 0; k < count; k++) {
        double value = x->sign[k] * x->q[k] - x->f[x->row[k]];
        if (vxs_box_room(x, k, 1) > 0)
            up = fmax(up, value);
        if (vxs_box_room(x, k, -1) > 0)
            down = fmin(down, value);
    }
    return x->intercept ? up - down : fmax(up, -down);
}

/* Others at rest need not sum to 0: the intercept of the set has a price then. */
Test(box_dual, a_set_beside_others_at_their_bounds_is_solved)
{
    static size_t set[2 * FEW];
    for (uint64_t number = 0; number < 200; number++) {
        example e = make(10 + number % (FEW - 10), number, exp((double)(number % 7) - 3));
        vxs_error err = VXS_ERROR_INIT;
        vxs_box_work work = { .capacity = 0 };
        double b, whole = 0;
        draw_weights(&e.box, number);
        size_t count = e.box.count / 2 / 2 * 2;
        for (size_t k = 0; k < e.box.count; k++) {
            whole += e.box.c[k];
            set[k] = k;
        }
        vxs_threshold *thresholds = vxs_alloc(e.box.count, sizeof(*thresholds), &err);
        WORKS(vxs_box_solve(&e.box, set, count, 1e-12 * whole, &work, &b, &err), err);
        vxs_box_state state = vxs_box_evaluate(&e.box, set, count, thresholds);
        double gap = (state.primal - state.dual) / whole;
        check_feasible(&e.box, number);
        cr_assert(gap >= -1e-12 && gap <= 1e-9 && violation_of(&e.box, count) <= 1e-4,
                  "problem %d: gap %g, violation %g", (int)number, gap,
                  violation_of(&e.box, count));
        free(thresholds);
        vxs_box_work_release(&work);
        release(&e);
    }
}

/* In a process each, as the choice is made once. */
static void solve_with(const char *vectors, double *weights)
{
    static size_t first[FEW + 1];
    static double ends[3 * FEW];
    setenv("VOXSIFT_VECTORS", vectors, 1);
    for (uint64_t number = 0; number < 6; number++) {
        example e = make(FEW, number, 2);
        vxs_pairs pairs;
        vxs_pairs_begin(&pairs, &e.box, 1e-12, first, ends);
        vxs_pairs_take(&pairs, 300);
        memcpy(weights + 2 * FEW * number, e.box.t, e.box.count * sizeof(*weights));
        release(&e);
    }
}

Test(box_dual, pairs_have_the_same_bits_with_all_vectors)
{
    static double plain[12 * FEW], other[12 * FEW];
    solve_with("plain", plain);
    vxs_vectors narrow = vxs_choose_vectors();
    unsetenv("VOXSIFT_VECTORS");
    cr_assert(narrow == VXS_VECTORS_PLAIN);
    for (int v = VXS_VECTORS_PLAIN + 1; v <= (int)vxs_choose_vectors(); v++) {
        solve_with(vxs_vectors_name((vxs_vectors)v), other);
        unsetenv("VOXSIFT_VECTORS");
        cr_expect(memcmp(plain, other, sizeof(plain)) == 0, "%s", vxs_vectors_name((vxs_vectors)v));
    }
}
