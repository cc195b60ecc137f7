/* Flows against brute force over all sets of nodes: the dual norm, and the proximal step, which is
 * right when what it takes off has a dual norm of tau and lies along w. */
#include "tests/core/check.h"
#include "tests/core/faults.h"

#include "voxsift/internal/graph.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 9 };

typedef struct {
    vxs_graph graph;
    vxs_random random;
    uint64_t drawn;
    double sparsity;
    double v[MOST];
} problem;

static double draw(problem *t)
{
    return vxs_random_uniform(&t->random, t->drawn++);
}

/* Whole numbers half of the time: ties. */
static double draw_value(problem *t, bool whole)
{
    double value = 6 * draw(t) - 3;
    return whole ? nearbyint(value) : value;
}

static size_t draw_below(problem *t, size_t limit)
{
    return (size_t)(draw(t) * (double)limit);
}

static problem make(uint64_t trial)
{
    vxs_error err = VXS_ERROR_INIT;
    problem t = { .random = { 17, trial } };
    size_t nodes = 2 + draw_below(&t, MOST - 1), count = 1 + draw_below(&t, 2 * nodes);
    bool whole = trial % 2 == 0;
    WORKS(vxs_graph_new(nodes, count, &t.graph, &err), err);
    for (size_t e = 0; e < count; e++) {
        t.graph.from[e] = draw_below(&t, nodes); /* loops at a node, and edges twice, as well */
        t.graph.to[e] = draw_below(&t, nodes);
        t.graph.weight[e] = whole ? 1 + (double)draw_below(&t, 3) : 0.1 + draw(&t);
    }
    t.sparsity = trial % 3 == 0 ? 0 : whole ? 1 : 0.05 + draw(&t);
    for (size_t k = 0; k < nodes; k++)
        t.v[k] = draw_value(&t, whole);
    return t;
}

static double cut_of(const problem *t, unsigned set)
{
    double cut = 0;
    for (size_t e = 0; e < t->graph.count; e++)
        cut +=
            (set >> t->graph.from[e] & 1) != (set >> t->graph.to[e] & 1) ? t->graph.weight[e] : 0;
    for (size_t k = 0; k < t->graph.nodes; k++)
        cut += set >> k & 1 ? t->sparsity : 0;
    return cut;
}

static double sum_of(const problem *t, unsigned set, const double *v)
{
    double sum = 0;
    for (size_t k = 0; k < t->graph.nodes; k++)
        sum += set >> k & 1 ? v[k] : 0;
    return sum;
}

/* Without sparsity the values of each piece add up to 0: the level of a piece is free. */
static void center(const problem *t, double *v)
{
    unsigned all = 1U << t->graph.nodes, done = 0;
    for (unsigned set = 1; set < all && t->sparsity == 0; set++) {
        if (cut_of(t, set) > 0 || (set & done))
            continue; /* the smallest sets that nothing leads out of come first */
        double mean = sum_of(t, set, v) / (double)__builtin_popcount(set);
        for (size_t k = 0; k < t->graph.nodes; k++)
            v[k] -= set >> k & 1 ? mean : 0;
        done |= set;
    }
}

static double brute_norm(const problem *t, const double *v)
{
    double most = 0;
    for (unsigned set = 1; set < 1U << t->graph.nodes; set++) {
        double cut = cut_of(t, set);
        if (cut > 0)
            most = fmax(most, fabs(sum_of(t, set, v)) / cut);
    }
    return most;
}

Test(flow, the_dual_norm_is_the_largest_cut_ratio)
{
    vxs_error err = VXS_ERROR_INIT;
    for (uint64_t trial = 0; trial < 3000; trial++) {
        problem t = make(trial);
        vxs_flow *flow = NULL;
        WORKS(vxs_flow_new(&t.graph, t.sparsity, &flow, &err), err);
        for (int again = 0; again < 4; again++) { /* from the flows that are there */
            center(&t, t.v);
            double norm = brute_norm(&t, t.v), got = vxs_flow_norm(flow, t.v, 0);
            cr_assert(fabs(got - norm) <= 1e-11 * (1 + norm), "%d: %.17g, not %.17g", (int)trial,
                      got, norm);
            double floored = vxs_flow_norm(flow, t.v, 2.5);
            cr_assert(fabs(floored - fmax(2.5, norm)) <= 1e-11 * (1 + norm));
            for (size_t k = 0; k < t.graph.nodes; k++)
                t.v[k] += draw_value(&t, trial % 4 == 0);
        }
        vxs_flow_free(flow);
        vxs_graph_release(&t.graph);
    }
}

static double penalty_of(const problem *t, const double *w)
{
    double sum = 0;
    for (size_t e = 0; e < t->graph.count; e++)
        sum += t->graph.weight[e] * fabs(w[t->graph.from[e]] - w[t->graph.to[e]]);
    for (size_t k = 0; k < t->graph.nodes; k++)
        sum += t->sparsity * fabs(w[k]);
    return sum;
}

Test(flow, what_the_proximal_step_takes_off_has_norm_tau_and_lies_along_w)
{
    vxs_error err = VXS_ERROR_INIT;
    for (uint64_t trial = 0; trial < 3000; trial++) {
        problem t = make(trial);
        vxs_flow *flow = NULL;
        WORKS(vxs_flow_new(&t.graph, t.sparsity, &flow, &err), err);
        for (int again = 0; again < 4; again++) {
            double w[MOST], off[MOST], along = 0, tau = trial % 2 ? draw(&t) : 0.5 + again;
            vxs_flow_prox(flow, t.v, tau, w);
            for (size_t k = 0; k < t.graph.nodes; k++) {
                off[k] = t.v[k] - w[k];
                along += off[k] * w[k];
            }
            double norm = brute_norm(&t, off);
            cr_assert(norm <= tau * (1 + 1e-11) + 1e-12, "%d: %.17g of %.17g", (int)trial, norm,
                      tau);
            cr_assert(fabs(along - tau * penalty_of(&t, w)) <= 1e-10, "%d", (int)trial);
            center(&t, off); /* nothing is taken off the level of a piece */
            for (size_t k = 0; k < t.graph.nodes && t.sparsity == 0; k++)
                cr_assert(fabs(off[k] - (t.v[k] - w[k])) <= 1e-12);
            for (size_t k = 0; k < t.graph.nodes; k++)
                t.v[k] += draw_value(&t, trial % 4 == 0);
        }
        vxs_flow_free(flow);
        vxs_graph_release(&t.graph);
    }
}
