/* Worst outputs against all outputs, one by one; values bound what the scores themselves cost. */
#include "tests/core/check.h"
#include "tests/core/faults.h"
#include "voxsift/internal/loss.h"

#include <math.h>

enum { MOST = 9 };

static const char *const texts[] = { "error",     "balanced", "f1",        "fbeta:2",
                                     "fbeta:0.5", "gmean",    "top:1",     "top:2",
                                     "top:40%",   "top:2p",   "breakeven", "roc" };
enum { MEASURES = sizeof(texts) / sizeof(texts[0]) };

typedef struct {
    size_t n, positives;
    double y[MOST], u[MOST], z[MOST];
    vxs_output_measure measure;
    vxs_loss loss;
    vxs_measured m;
} example;

/* Ties, scores of 0, one positive and all but one. */
static bool make(example *e, const char *text, uint64_t number)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_random random = { .seed = 31, .stream = number };
    uint64_t at = 0;
    *e = (example){ .n = 2 + number % 8 };
    double size = pow(10, 3 * vxs_random_uniform(&random, at++) - 1.5);
    e->positives = number % 5 == 0 ? 1 : number % 5 == 1 ? e->n - 1 : 1 + number % (e->n - 1);
    for (size_t i = 0; i < e->n; i++) {
        e->y[i] = i < e->positives ? 1 : -1;
        e->z[i] = number % 40 == 7 ? 0 : size * vxs_random_normal(&random, at++);
        e->z[i] = number % 3 == 0 ? floor(e->z[i]) : e->z[i];
        e->u[i] = number % 4 == 1 && i % 4 == 3 ? 0 : 0.5 + vxs_random_uniform(&random, at++);
    }
    WORKS(vxs_measure_read(text, &e->measure, &err), err);
    e->loss = (vxs_loss){ .kind = &vxs_measure_loss,
                          .n = e->n,
                          .y = e->y,
                          .u = e->measure.kind->takes_weights && number % 2 ? e->u : NULL,
                          .measure = &e->measure };
    if (vxs_measure_check(&e->loss, &err) != VXS_OK)
        return false; /* top of all, or a class of weight 0 */
    WORKS(vxs_measured_init(&e->loss, &e->m, &err), err);
    return true;
}

/* ---- All outputs ----------------------------------------------------------------------------- */

/* By the definitions, sample by sample. */
static double cost_of(const example *e, unsigned output)
{
    double a = 0, b = 0, cost = 0, side[2] = { 0, 0 };
    bool balanced = strcmp(e->measure.kind->name, "balanced") == 0;
    double positives = (double)e->positives, negatives = (double)(e->n - e->positives);
    for (size_t i = 0; i < e->n; i++)
        side[e->y[i] > 0] += vxs_loss_weight(&e->loss, i);
    for (size_t i = 0; i < e->n; i++) {
        bool called = output >> i & 1, positive = e->y[i] > 0;
        double u = vxs_loss_weight(&e->loss, i);
        cost += called == positive ? 0
                : balanced         ? u * (side[0] + side[1]) / (2 * side[positive])
                                   : u;
        a += called && positive;
        b += called && !positive;
    }
    if (strncmp(e->measure.kind->name, "f", 1) == 0) {
        double square = e->measure.number * e->measure.number;
        return (1 + square) * positives * (1 - (1 + square) * a / (a + b + square * positives));
    }
    if (strcmp(e->measure.kind->name, "gmean") == 0)
        return 2 * positives * (1 - sqrt(a / positives * (1 - b / negatives)));
    return e->m.top > 0 ? fmin((double)e->m.top, positives) - a : cost;
}

static double by_pairs(const example *e)
{
    double sum = 0, side[2] = { 0, 0 };
    for (size_t i = 0; i < e->n; i++)
        side[e->y[i] > 0] += vxs_loss_weight(&e->loss, i);
    for (size_t i = 0; i < e->n; i++)
        for (size_t j = 0; j < e->n; j++)
            if (e->y[i] > 0 && e->y[j] < 0)
                sum += vxs_loss_weight(&e->loss, i) * vxs_loss_weight(&e->loss, j) *
                       fmax(0, 1 - e->z[i] + e->z[j]);
    return sum / fmax(side[0], side[1]);
}

/* max over all outputs; weighted mistakes weigh their scores as well. */
static double by_all_outputs(const example *e)
{
    double best = -INFINITY;
    bool weighs = e->measure.kind->takes_weights;
    for (unsigned v = 0; v < 1U << e->n; v++) {
        double value = cost_of(e, v);
        size_t called = 0;
        for (size_t i = 0; i < e->n; i++) {
            double u = weighs ? e->m.weight[i] : 1;
            called += v >> i & 1;
            value += u * ((double)(v >> i & 1) - e->m.reference[i]) * e->z[i];
        }
        best = e->m.top == 0 || called == e->m.top ? fmax(best, value) : best;
    }
    return best;
}

static double value_at(example *e, const double *z, double *g, double *cost)
{
    size_t counts[2];
    return e->m.kind->worst(&e->m, z, g, cost, counts);
}

Test(measures, worst_outputs_are_the_worst_of_all)
{
    for (size_t t = 0; t < MEASURES; t++) {
        size_t some = 0;
        for (uint64_t number = 0; number < 400; number++) {
            example e;
            double g[MOST], cost, along = 0;
            if (!make(&e, texts[t], number))
                continue;
            double value = value_at(&e, e.z, g, &cost);
            bool pairs = strcmp(texts[t], "roc") == 0;
            double all = pairs ? by_pairs(&e) : by_all_outputs(&e);
            for (size_t i = 0; i < e.n; i++)
                along += g[i] * e.z[i];
            double size = 1 + fabs(all);
            cr_assert(fabs(value - all) <= 1e-11 * size, "%s, %lu: %.15g, not %.15g", texts[t],
                      (unsigned long)number, value, all);
            cr_assert(fabs(cost + along - value) <= 1e-11 * size && value >= -1e-12 * size);
            vxs_measured_release(&e.m);
            some++;
        }
        cr_assert(some > 100, "%s: %zu", texts[t], some);
    }
}

/* What `miss` is a share of. */
static double unit_of(const example *e)
{
    double whole[2] = { 0, 0 };
    for (size_t i = 0; i < e->n; i++)
        whole[e->y[i] > 0] += e->m.weight[i];
    if (e->m.kind->cost)
        return e->m.unit;
    if (e->m.top > 0)
        return (double)e->m.top;
    bool pairs = strcmp(e->m.kind->name, "roc") == 0;
    return pairs ? whole[0] * whole[1] * e->m.unit : whole[0] + whole[1];
}

/* R is at least what the output of the scores costs: the measure, in its unit. */
Test(measures, values_bound_what_scores_cost)
{
    for (size_t t = 0; t < MEASURES; t++)
        for (uint64_t number = 0; number < 200; number++) {
            example e;
            double g[MOST], cost, miss;
            vxs_error err = VXS_ERROR_INIT;
            if (!make(&e, texts[t], number))
                continue;
            /* of top 1 - hits / k is not 0 for the best, where k is more than there are */
            double least = e.m.top > e.positives ? (double)(e.m.top - e.positives) : 0;
            double value = value_at(&e, e.z, g, &cost), unit = unit_of(&e);
            WORKS(vxs_measure_miss(&e.loss, e.z, &miss, &err), err);
            cr_assert(value >= unit * miss - least - 1e-9 * (1 + unit), "%s, %lu: %g of %g",
                      texts[t], (unsigned long)number, value, unit * miss);
            vxs_measured_release(&e.m);
        }
}

/* A constant added to all scores: nothing for top and roc. */
Test(measures, constants_do_not_matter_where_order_does)
{
    for (size_t t = 0; t < MEASURES; t++)
        for (uint64_t number = 0; number < 100; number++) {
            example e;
            double g[MOST], cost, sum = 0, shifted[MOST];
            if (!make(&e, texts[t], number))
                continue;
            double value = value_at(&e, e.z, g, &cost);
            for (size_t i = 0; i < e.n; i++) {
                sum += g[i];
                shifted[i] = e.z[i] + 5;
            }
            double moved = value_at(&e, shifted, g, &cost);
            cr_assert(e.m.kind->has_threshold ||
                      (fabs(sum) <= 1e-12 && fabs(moved - value) <= 1e-9 * (1 + fabs(value))));
            vxs_measured_release(&e.m);
        }
}

/* The printed form has the truth as its reference, and is 0 here, the first being no positive. */
Test(measures, top_bounds_where_the_printed_form_does_not)
{
    vxs_error err = VXS_ERROR_INIT;
    const double y[3] = { 1, 1, -1 }, z[3] = { 5, 5, 6 };
    double g[3], cost;
    size_t counts[2];
    vxs_output_measure measure;
    vxs_measured m;
    WORKS(vxs_measure_read("top:1", &measure, &err), err);
    const vxs_loss loss = { .kind = &vxs_measure_loss, .n = 3, .y = y, .measure = &measure };
    WORKS(vxs_measured_init(&loss, &m, &err), err);
    cr_assert(m.kind->worst(&m, z, g, &cost, counts) == 2);
    vxs_measured_release(&m);
}

/* As many as there are positives, however it is said. */
Test(measures, breakeven_is_top_of_as_many_as_there_are)
{
    for (uint64_t number = 0; number < 100; number++) {
        example one, two;
        double g[MOST], h[MOST], cost;
        make(&one, "breakeven", number);
        make(&two, "top:1p", number);
        cr_assert(value_at(&one, one.z, g, &cost) == value_at(&two, two.z, h, &cost) &&
                  memcmp(g, h, one.n * sizeof(*g)) == 0);
        vxs_measured_release(&one.m);
        vxs_measured_release(&two.m);
    }
}

/* ---- Known measures -------------------------------------------------------------------------- */

Test(measures, misses_are_what_they_are_called)
{
    static const struct {
        const char *text;
        double miss;
    } known[] = { /* 2 of 3 found, 2 of 5 falsely; first are +, -, +, -, + */
                  { "error", 3.0 / 8 },
                  { "balanced", 1 - (2.0 / 3 + 3.0 / 5) / 2 },
                  { "f1", 1 - 2 * 2.0 / (4 + 3) },
                  { "fbeta:2", 1 - 5 * 2.0 / (4 + 4 * 3) },
                  { "top:1", 0 },
                  { "top:2", 0.5 },
                  { "top:3", 1.0 / 3 },
                  { "breakeven", 1.0 / 3 },
                  { "top:2p", 0.5 },
                  { "top:25%", 0.5 },
                  { "roc", 1 - (5 + 4 + 3) / 15.0 }
    };
    vxs_error err = VXS_ERROR_INIT;
    const double y[8] = { 1, -1, 1, -1, 1, -1, -1, -1 }, z[8] = { 4, 3, 2, 1, 0, -1, -2, -3 };
    for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
        vxs_output_measure measure;
        double miss;
        WORKS(vxs_measure_read(known[k].text, &measure, &err), err);
        const vxs_loss loss = { .kind = &vxs_measure_loss, .n = 8, .y = y, .measure = &measure };
        WORKS(vxs_measure_miss(&loss, z, &miss, &err), err);
        cr_assert(fabs(miss - known[k].miss) <= 1e-12, "%s: %g, not %g", known[k].text, miss,
                  known[k].miss);
    }
}

Test(measures, what_is_no_measure_is_refused)
{
    static const char *const wrong[] = { "",        "f",        "f1:2",   "fbeta",  "fbeta:0",
                                         "fbeta:x", "top",      "top:",   "top:0",  "top:-1",
                                         "top:2.5", "top:100%", "top:0p", "top:2q", "roc:1",
                                         "F1",      "map" };
    for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
        vxs_error err = VXS_ERROR_INIT;
        vxs_output_measure measure;
        cr_assert(vxs_measure_read(wrong[k], &measure, &err) == VXS_MISUSE, "%s", wrong[k]);
    }
}

Test(measures, losses_that_do_not_suit_are_refused)
{
    double y[4] = { 1, 1, -1, -1 }, u[4] = { 1, 2, 1, 1 };
    vxs_output_measure measure;
    vxs_loss loss = { .kind = &vxs_measure_loss, .n = 4, .y = y };
    vxs_error err = VXS_ERROR_INIT, none = VXS_ERROR_INIT;
    cr_assert(vxs_measure_check(&loss, &err) == VXS_MISUSE);
    loss.measure = &measure;
    WORKS(vxs_measure_read("f1", &measure, &none), none);
    WORKS(vxs_measure_check(&loss, &none), none);
    loss.u = u; /* counts have no weights */
    err = (vxs_error)VXS_ERROR_INIT;
    cr_assert(vxs_measure_check(&loss, &err) == VXS_BAD_DATA);
    WORKS(vxs_measure_read("roc", &measure, &none), none);
    WORKS(vxs_measure_check(&loss, &none), none);
    u[0] = u[1] = 0; /* no positive is left */
    err = (vxs_error)VXS_ERROR_INIT;
    cr_assert(vxs_measure_check(&loss, &err) == VXS_BAD_DATA);
    loss.u = NULL;
    WORKS(vxs_measure_read("top:4", &measure, &none), none);
    err = (vxs_error)VXS_ERROR_INIT;
    cr_assert(vxs_measure_check(&loss, &err) == VXS_BAD_DATA);
}
