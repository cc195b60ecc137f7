/* Steps in the dual problem of kernel machines: from any feasible point they stay feasible, never
 * lower the dual value, and have the same bits on any processor; problems of many samples are
 * solved by all of them. */
#include "solver/saiv/dual_pairs.h"
#include "solver/saiv/face.h"
#include "tests/core/check.h"
#include "tests/solver/boxes.h"
#include "voxsift/internal/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 90, MANY = 1100 };

static double dual_of(vxs_box *x)
{
    double value = 0, *f = box_numbers(x->n);
    box_set_values(x, f);
    for (size_t k = 0; k < x->count; k++)
        value += x->q[k] * x->t[k] - x->sign[k] * x->t[k] * f[x->row[k]] / 2;
    free(f);
    return value;
}

static void check_feasible(vxs_box *x, uint64_t number)
{
    double sum = 0, size = 0, *f = box_numbers(x->n);
    box_set_values(x, f);
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
        box_example e = box_make(2 + number % (FEW - 2), number, exp((double)(number % 9) - 4));
        box_draw_weights(&e.box, number);
        check_feasible(&e.box, number + 1000);
        double before = dual_of(&e.box);
        size_t count = list_inside(&e.box, member);
        bool gains = count > 1 && vxs_face_step(&e.box, member, count, work);
        double after = dual_of(&e.box);
        check_feasible(&e.box, number);
        cr_assert(after >= before - 1e-10 * (1 + fabs(before)), "problem %d: %.17g, %.17g",
                  (int)number, before, after);
        gained += gains && after > before;
        box_release(&e);
    }
    cr_expect(gained > 200, "%d steps have gained", gained);
}

Test(box_dual, pairs_stay_feasible_and_gain)
{
    static size_t first[FEW + 1];
    static double ends[3 * FEW];
    for (uint64_t number = 0; number < 300; number++) {
        box_example e = box_make(2 + number % (FEW - 2), number, exp((double)(number % 9) - 4));
        box_draw_weights(&e.box, number);
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
        box_release(&e);
    }
}

/* More samples than fit into one set, and more inside the box than a factor is made of. */
Test(box_dual, many_variables_are_solved_to_a_small_gap)
{
    for (uint64_t number = 0; number < 10; number++) {
        box_example e = box_make(MANY, number, number % 4 < 2 ? 0.5 : 50);
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
        box_release(&e);
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
        box_example e = box_make(10 + number % (FEW - 10), number, exp((double)(number % 7) - 3));
        vxs_error err = VXS_ERROR_INIT;
        vxs_box_work work = { .capacity = 0 };
        double b, whole = 0;
        box_draw_weights(&e.box, number);
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
        box_release(&e);
    }
}

/* In a process each, as the choice is made once. */
static void solve_with(const char *vectors, double *weights)
{
    static size_t first[FEW + 1];
    static double ends[3 * FEW];
    setenv("VOXSIFT_VECTORS", vectors, 1);
    for (uint64_t number = 0; number < 6; number++) {
        box_example e = box_make(FEW, number, 2);
        vxs_pairs pairs;
        vxs_pairs_begin(&pairs, &e.box, 1e-12, first, ends);
        vxs_pairs_take(&pairs, 300);
        memcpy(weights + 2 * FEW * number, e.box.t, e.box.count * sizeof(*weights));
        box_release(&e);
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
        for (size_t k = 0; k < sizeof(plain) / sizeof(*plain); k++)
            cr_expect(plain[k] == other[k], "%s", vxs_vectors_name((vxs_vectors)v));
    }
}
