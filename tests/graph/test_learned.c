/* Graphs that are learned from a matrix of correlations: what the graphical lasso says of itself by
 * plain elimination, its optimality, and the smallest problems by trying; the rest by brute force.
 */
#include "tests/core/check.h"
#include "tests/core/faults.h"

#define MOST 60

/* Correlations of n rows of p columns that go together in groups. */
static void correlations(uint64_t trial, size_t n, size_t p, double *s)
{
    vxs_random random = { 21, trial };
    double *x = malloc(n * p * sizeof(*x)), *length = malloc(p * sizeof(*length));
    for (size_t j = 0; j < p; j++) {
        double mean = 0;
        for (size_t i = 0; i < n; i++) {
            size_t group = j / 4;
            x[j * n + i] = vxs_random_normal(&random, j * n + i) +
                           0.8 * vxs_random_normal(&random, (1 << 24) + group * n + i) +
                           (j > 0 ? 0.4 * x[(j - 1) * n + i] : 0);
            mean += x[j * n + i] / (double)n;
        }
        length[j] = 0;
        for (size_t i = 0; i < n; i++) {
            x[j * n + i] -= mean;
            length[j] += x[j * n + i] * x[j * n + i];
        }
    }
    for (size_t j = 0; j < p; j++)
        for (size_t k = 0; k < p; k++) {
            s[j * p + k] = 0;
            for (size_t i = 0; i < n; i++)
                s[j * p + k] += x[j * n + i] * x[k * n + i] / sqrt(length[j] * length[k]);
        }
    free(x);
    free(length);
}

/* The determinant's logarithm by elimination; NAN when a pivot is not above 0. */
static double plain_log_det(const double *matrix, size_t p)
{
    double *a = malloc(p * p * sizeof(*a)), sum = 0;
    memcpy(a, matrix, p * p * sizeof(*a));
    for (size_t k = 0; k < p; k++) {
        sum += log(a[k * p + k]);
        for (size_t i = k + 1; i < p; i++) {
            double factor = a[i * p + k] / a[k * p + k];
            for (size_t j = k; j < p; j++)
                a[i * p + j] -= factor * a[k * p + j];
        }
    }
    free(a);
    return sum;
}

static double plain_primal(const double *s, const double *t, size_t p, double rho)
{
    double sum = -plain_log_det(t, p);
    for (size_t e = 0; e < p * p; e++)
        sum += s[e] * t[e] + (e / p == e % p ? 0 : rho * fabs(t[e]));
    return sum;
}

static void check_answer(const double *s, const double *t, const double *w, size_t p, double rho,
                         const vxs_precision *said)
{
    double primal = plain_primal(s, t, p, rho), dual = plain_log_det(w, p) + (double)p;
    size_t edges = 0;
    cr_assert(said->converged && said->rho == rho);
    cr_assert(fabs(said->primal - primal) < 1e-8 * (double)p, "%g %g", said->primal, primal);
    cr_assert(fabs(said->dual - dual) < 1e-8 * (double)p, "%g %g", said->dual, dual);
    cr_assert(primal - dual < 1.01e-10 * (double)p && primal - dual > -1e-9);
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++) {
            double unit = 0, off = w[i * p + j] - s[i * p + j];
            for (size_t k = 0; k < p; k++)
                unit += t[i * p + k] * w[k * p + j];
            cr_assert(fabs(unit - (i == j)) < 1e-3, "T W is 1: %g", unit);
            cr_assert(t[i * p + j] == t[j * p + i] && w[i * p + j] == w[j * p + i]);
            cr_assert(fabs(off) <= (i == j ? 0 : rho) + 1e-15, "W is near S");
            if (i != j && fabs(t[i * p + j]) > 1e-3)
                cr_assert(fabs(off - (t[i * p + j] > 0 ? rho : -rho)) < 1e-4, "%g %g", t[i * p + j],
                          off);
            edges += i < j && t[i * p + j] != 0;
        }
    cr_assert(edges == said->edges);
}

Test(learned, sparse_inverses_are_optimal)
{
    vxs_error err = VXS_ERROR_INIT;
    static double s[MOST * MOST], t[MOST * MOST], w[MOST * MOST];
    for (uint64_t trial = 0; trial < 40; trial++) {
        vxs_random random = { 22, trial };
        size_t p = 2 + vxs_random_below(&random, 0, MOST - 2), n = trial % 2 ? 20 : 200, last = 0;
        correlations(trial, n, p, s);
        memset(t, 0, sizeof(t));
        memset(w, 0, sizeof(w));
        /* falling, then back: what was found before is the beginning of the next */
        for (int step = 0; step < 4; step++) {
            static const double share[] = { 0.9, 0.5, 0.2, 0.6 };
            vxs_precision said;
            double rho = share[step] * (trial % 3 ? 1 : 0.5);
            WORKS(vxs_glasso(NULL, s, p, rho, 1e-10, t, w, &said, &err), err);
            check_answer(s, t, w, p, rho, &said);
            cr_assert(step == 0 || step == 3 || said.edges + 2 >= last);
            last = said.edges;
        }
    }
}

Test(learned, three_columns_by_trying)
{
    vxs_error err = VXS_ERROR_INIT;
    for (uint64_t trial = 0; trial < 20; trial++) {
        double s[9], t[9] = { 0 }, w[9] = { 0 }, other[9];
        vxs_random random = { 23, trial };
        vxs_precision said;
        correlations(100 + trial, 12, 3, s);
        for (int d = 0; d < 3; d++) /* of any size */
            for (int k = 0; k < 9; k++)
                s[k] *=
                    k / 3 == d || k % 3 == d ? 0.5 + vxs_random_uniform(&random, (uint64_t)d) : 1;
        WORKS(vxs_glasso(NULL, s, 3, 0.15, 1e-12, t, w, &said, &err), err);
        double least = plain_primal(s, t, 3, 0.15);
        for (uint64_t k = 0; k < 20000; k++) {
            double reach = pow(10, -4 * vxs_random_uniform(&random, 100 + 10 * k));
            for (size_t i = 0, draw = 0; i < 3; i++)
                for (size_t j = 0; j <= i; j++, draw++) {
                    double by = reach * vxs_random_normal(&random, 101 + 10 * k + draw);
                    bool stays = i != j && vxs_random_bits(&random, (1 << 28) + 10 * k + draw) % 2;
                    other[i * 3 + j] = other[j * 3 + i] = stays ? 0 : t[i * 3 + j] + by;
                }
            double value = plain_primal(s, other, 3, 0.15);
            cr_assert(isnan(value) || value > least - 1e-11, "%g below %g", value, least);
        }
    }
}

Test(learned, precision_has_as_many_edges_as_wanted)
{
    vxs_error err = VXS_ERROR_INIT;
    static double s[MOST * MOST];
    for (uint64_t trial = 0; trial < 10; trial++) {
        vxs_graph g;
        vxs_precision said;
        size_t wanted = 30 + 10 * trial;
        correlations(200 + trial, 40, MOST, s);
        WORKS(vxs_graph_precision(NULL, s, MOST, wanted, 1e-6, &g, &said, &err), err);
        cr_assert(said.converged && said.gap <= 1e-6 && said.edges == g.count);
        cr_assert(g.nodes == MOST && g.count >= wanted - 1 && g.count <= wanted + 1, "%zu for %zu",
                  g.count, wanted);
        for (size_t e = 0; e < g.count; e++)
            cr_assert(g.from[e] < g.to[e] && g.weight[e] == 1);
        vxs_graph_release(&g);
    }
    memset(s, 0, sizeof(s));
    for (size_t j = 0; j < MOST; j++)
        s[j * MOST + j] = 1;
    vxs_graph g;
    vxs_precision said;
    WORKS(vxs_graph_precision(NULL, s, MOST, 20, 1e-6, &g, &said, &err), err);
    cr_assert(g.count == 0, "nothing goes together");
    vxs_graph_release(&g);
    s[0] = 0;
    double t[MOST * MOST] = { 0 }, w[MOST * MOST] = { 0 };
    REFUSES(vxs_glasso(NULL, s, MOST, 0.1, 1e-6, t, w, &said, &err), err, VXS_BAD_DATA,
            "no variance");
}

Test(learned, strongest_pairs_are_those)
{
    vxs_error err = VXS_ERROR_INIT;
    for (uint64_t trial = 0; trial < 50; trial++) {
        vxs_random random = { 24, trial };
        size_t p = 1 + vxs_random_below(&random, 0, 12), pairs = p * (p - 1) / 2;
        size_t wanted = vxs_random_below(&random, 1, pairs + 3);
        double s[144], least = INFINITY;
        for (size_t i = 0; i < p; i++)
            for (size_t j = 0; j <= i; j++) /* with ties */
                s[i * p + j] = s[j * p + i] =
                    (double)vxs_random_below(&random, 10 + i * p + j, 9) / 4 - 1;
        vxs_graph g;
        WORKS(vxs_graph_strongest(s, p, wanted, &g, &err), err);
        cr_assert(g.count == (wanted < pairs ? wanted : pairs));
        bool in[144] = { false };
        for (size_t e = 0; e < g.count; e++) {
            cr_assert(g.from[e] < g.to[e] && !in[g.from[e] * p + g.to[e]]);
            in[g.from[e] * p + g.to[e]] = true;
            least = fmin(least, fabs(s[g.from[e] * p + g.to[e]]));
        }
        for (size_t i = 0; i < p; i++)
            for (size_t j = i + 1; j < p; j++)
                cr_assert(in[i * p + j] || fabs(s[i * p + j]) <= least);
        vxs_graph_release(&g);
    }
}

/* The strongest way to hang pieces together, by taking the strongest pair again and again. */
static double strength_of_links(const double *s, const vxs_graph *g)
{
    size_t p = g->nodes, name[16];
    double sum = 0;
    for (size_t k = 0; k < p; k++)
        name[k] = k;
    for (size_t e = 0; e < g->count; e++)
        for (size_t k = 0, old = name[g->from[e]], next = name[g->to[e]]; k < p; k++)
            name[k] = name[k] == old ? next : name[k];
    while (true) {
        double best = -1;
        size_t from = 0, to = 0;
        for (size_t i = 0; i < p; i++)
            for (size_t j = 0; j < i; j++)
                if (name[i] != name[j] && fabs(s[i * p + j]) > best) {
                    best = fabs(s[i * p + j]);
                    from = name[i];
                    to = name[j];
                }
        if (best < 0)
            return sum;
        for (size_t k = 0; k < p; k++)
            name[k] = name[k] == from ? to : name[k];
        sum += best;
    }
}

Test(learned, links_are_the_strongest)
{
    vxs_error err = VXS_ERROR_INIT;
    for (uint64_t trial = 0; trial < 100; trial++) {
        vxs_random random = { 25, trial };
        size_t p = 1 + vxs_random_below(&random, 0, 14), pairs = p * (p - 1) / 2, loop;
        double s[256], sum = 0;
        correlations(300 + trial, 8, p, s);
        vxs_graph g, tree;
        WORKS(vxs_graph_strongest(s, p, vxs_random_below(&random, 1, pairs + 1) / 3, &g, &err),
              err);
        size_t before = g.count;
        double wanted = strength_of_links(s, &g);
        WORKS(vxs_graph_connect(s, &g, &err), err);
        for (size_t e = before; e < g.count; e++) {
            sum += fabs(s[g.from[e] * p + g.to[e]]);
            cr_assert(g.weight[e] == 1);
        }
        cr_assert(fabs(sum - wanted) < 1e-12, "%g, not %g", sum, wanted);
        double *cost = calloc(g.count + 1, sizeof(*cost));
        WORKS(vxs_graph_spanning_forest(&g, cost, &tree, &err), err);
        cr_assert(tree.count == p - 1, "it hangs together");
        WORKS(vxs_graph_find_cycle(&g, &loop, &err), err);
        cr_assert(before > 0 || loop == g.count, "a tree");
        free(cost);
        vxs_graph_release(&g);
        vxs_graph_release(&tree);
    }
}

static double eight[64];

static vxs_status learn_all(vxs_error *err)
{
    const double *s = eight;
    vxs_graph g = { .nodes = 0 }, strongest = { .nodes = 0 };
    vxs_precision said;
    vxs_status status = vxs_graph_precision(NULL, s, 8, 4, 1e-6, &g, &said, err);
    if (!status)
        status = vxs_graph_connect(s, &g, err);
    if (!status)
        status = vxs_graph_strongest(s, 8, 9, &strongest, err);
    vxs_graph_release(&g);
    vxs_graph_release(&strongest);
    return status;
}

Test(learned, no_memory_is_an_error)
{
    correlations(400, 9, 8, eight);
    cr_assert(fail_each_request(learn_all) > 15);
}
