/* The loop of methods with a working set, on a problem that can be counted: the gap is the sum of
 * the numbers outside the set, and what the solution of the set leaves. */
#include "solver/growth.h"
#include "tests/core/check.h"

#include <math.h>

enum { COUNT = 40 };

typedef struct {
    bool in_set[COUNT];
    size_t each;      /* enter in a round */
    double left;      /* what the solution leaves */
    double refined;   /* share of it after a refinement */
    size_t solutions; /* of sets */
    size_t refinements;
} counted;

static double number(size_t k)
{
    return (double)((k * 7) % COUNT) - 20; /* at most 0: no violation */
}

static vxs_status solve(vxs_growth *g, vxs_error *err)
{
    counted *c = g->of;
    (void)err;
    g->gap = c->left;
    for (size_t k = 0; k < COUNT; k++)
        g->gap += c->in_set[k] ? 0 : fmax(0, number(k));
    c->solutions++;
    return VXS_OK;
}

static vxs_status add(vxs_growth *g, vxs_error *err)
{
    counted *c = g->of;
    (void)err;
    for (g->added = 0; g->added < c->each; g->added++) {
        size_t worst = COUNT;
        for (size_t k = 0; k < COUNT; k++)
            if (!c->in_set[k] && number(k) > 0 && (worst == COUNT || number(k) > number(worst)))
                worst = k;
        if (worst == COUNT)
            break;
        c->in_set[worst] = true;
    }
    return VXS_OK;
}

static vxs_status refine(vxs_growth *g, vxs_error *err)
{
    counted *c = g->of;
    (void)err;
    c->left *= c->refined;
    c->refinements++;
    return VXS_OK;
}

static vxs_growth growth(counted *c)
{
    return (vxs_growth){ .of = c,
                         .target = 0.5,
                         .smaller = 0.99,
                         .most_rounds = 100,
                         .patience = 3,
                         .solve = solve,
                         .add = add };
}

Test(growth, everything_that_violates_enters_and_nothing_else)
{
    for (size_t each = 1; each <= COUNT; each++) {
        counted c = { .each = each };
        vxs_growth g = growth(&c);
        cr_assert_eq(vxs_grow(&g, NULL), VXS_OK);
        cr_assert_eq(g.gap, 0);
        for (size_t k = 0; k < COUNT; k++)
            cr_assert_eq(c.in_set[k], number(k) > 0, "%zu at a time: number %zu", each, k);
        cr_assert_eq(g.rounds, (19 + each - 1) / each, "%zu at a time: %zu", each, g.rounds);
        cr_assert_eq(c.solutions, g.rounds + 1);
    }
}

Test(growth, it_ends_at_the_target_before_all_have_entered)
{
    counted c = { .each = 1 };
    vxs_growth g = growth(&c);
    g.target = 10.5; /* 4 + 3 + 2 + 1 */
    cr_assert_eq(vxs_grow(&g, NULL), VXS_OK);
    cr_assert_eq(g.gap, 10);
    cr_assert_eq(g.rounds, 15);
}

Test(growth, a_solution_that_leaves_too_much_is_refined_until_it_does_not)
{
    counted c = { .each = 10, .left = 16, .refined = 0.25 };
    vxs_growth g = growth(&c);
    g.refine = refine;
    cr_assert_eq(vxs_grow(&g, NULL), VXS_OK);
    cr_assert_eq(g.gap, 0.25);
    cr_assert_eq(c.refinements, 3);
}

Test(growth, without_progress_it_ends_after_its_patience_but_not_while_the_set_grows)
{
    for (int patience = 0; patience < 6; patience++) {
        counted c = { .each = 1, .left = 1e6, .refined = 1 };
        vxs_growth g = growth(&c);
        g.patience = patience;
        g.refine = refine;
        cr_assert_eq(vxs_grow(&g, NULL), VXS_OK);
        cr_assert_eq(g.gap, 1e6);
        for (size_t k = 0; k < COUNT; k++)
            cr_assert_eq(c.in_set[k], number(k) > 0);
        cr_assert(g.stalled >= patience, "%d of %d", g.stalled, patience);
    }
    counted c = { .each = COUNT, .left = 1e6, .refined = 1 };
    vxs_growth g = growth(&c);
    g.refine = refine;
    cr_assert_eq(vxs_grow(&g, NULL), VXS_OK);
    cr_assert_eq(c.solutions, 1 + 3); /* the first is progress */
}

Test(growth, a_gap_that_is_no_number_ends_it)
{
    counted c = { .each = 1, .left = NAN };
    vxs_growth g = growth(&c);
    cr_assert_eq(vxs_grow(&g, NULL), VXS_OK);
    cr_assert(isnan(g.gap));
    cr_assert_eq(c.solutions, 1);
}

Test(growth, it_hears_an_interruption_and_keeps_to_its_rounds)
{
    volatile int interrupted = 1;
    vxs_context context = { .interrupted = &interrupted };
    counted c = { .each = 1 };
    vxs_error err;
    vxs_growth g = growth(&c);
    g.context = &context;
    cr_assert_eq(vxs_grow(&g, &err), VXS_INTERRUPTED);
    cr_assert_eq(c.solutions, 1);
    g.context = NULL;
    g.most_rounds = 5;
    cr_assert_eq(vxs_grow(&g, NULL), VXS_OK);
    cr_assert_eq(g.rounds, 5);
    cr_assert(g.gap > g.target);
}
