/* Sparse factors beside plain elimination, with and without a full square at their end. */
#include "linalg/sparse_cholesky.h"
#include "tests/core/check.h"

typedef struct {
    size_t nodes;
    vxs_graph graph;
    vxs_analysis terms;
    double *weight, *matrix; /* D'SD */
} example;

/* Edges of chance with a little sparsity: columns do not depend on each other then. */
static example make(uint64_t number)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_random random = { .seed = 61, .stream = number };
    uint64_t at = 0;
    example e = { .nodes = 1 + vxs_random_below(&random, at++, 150) };
    size_t edges = e.nodes > 1 ? vxs_random_below(&random, at++, 4 * e.nodes) : 0;
    WORKS(vxs_graph_new(e.nodes, edges, &e.graph, &err), err);
    for (size_t k = 0; k < edges; k++) {
        e.graph.from[k] = vxs_random_below(&random, at++, e.nodes);
        e.graph.to[k] = vxs_random_below(&random, at++, e.nodes);
        if (e.graph.from[k] == e.graph.to[k])
            e.graph.to[k] = (e.graph.to[k] + 1) % e.nodes;
    }
    WORKS(vxs_analysis_edges(&e.graph, 0.3, &e.terms, &err), err);
    e.weight = malloc(e.terms.count * sizeof(*e.weight));
    e.matrix = calloc(e.nodes * e.nodes, sizeof(*e.matrix));
    for (size_t t = 0; t < e.terms.count; t++) {
        e.weight[t] = exp(3 * vxs_random_normal(&random, at++));
        for (size_t a = e.terms.starts[t]; a < e.terms.starts[t + 1]; a++)
            for (size_t b = e.terms.starts[t]; b < e.terms.starts[t + 1]; b++)
                e.matrix[e.terms.index[a] * e.nodes + e.terms.index[b]] +=
                    e.weight[t] * e.terms.value[a] * e.terms.value[b];
    }
    return e;
}

static void release(example *e)
{
    vxs_graph_release(&e->graph);
    vxs_analysis_release(&e->terms);
    free(e->weight);
    free(e->matrix);
}

/* The largest entry of M x - b, as a share of what is summed up there. */
static double left_of(const example *e, const double *x, const double *b)
{
    double worst = 0;
    for (size_t i = 0; i < e->nodes; i++) {
        double sum = -b[i], size = fabs(b[i]);
        for (size_t j = 0; j < e->nodes; j++) {
            sum += e->matrix[i * e->nodes + j] * x[j];
            size += fabs(e->matrix[i * e->nodes + j] * x[j]);
        }
        worst = fmax(worst, fabs(sum) / size);
    }
    return worst;
}

Test(factor, solves_and_halves_with_and_without_a_square)
{
    size_t squares = 0, thin = 0;
    for (uint64_t number = 0; number < 200; number++) {
        vxs_error err = VXS_ERROR_INIT;
        vxs_random random = { .seed = 62, .stream = number };
        example e = make(number);
        vxs_factor f;
        double b[2 * 150], x[150], half[2 * 150], along = 0, square = 0;
        WORKS(vxs_factor_new((vxs_sparse_rows){ e.terms.columns, e.terms.count, e.terms.starts,
                                                e.terms.index, e.terms.value },
                             &f, &err),
              err);
        vxs_factor_make(&f, e.weight);
        for (size_t j = 0; j < e.nodes; j++) {
            b[2 * j] = x[j] = vxs_random_normal(&random, j);
            b[2 * j + 1] = 0;
        }
        vxs_factor_solve(&f, x);
        vxs_factor_solve_lower_many(&f, b, 2, half);
        for (size_t j = 0; j < e.nodes; j++) {
            along += b[2 * j] * x[j];
            square += half[2 * j] * half[2 * j];
            cr_assert(half[2 * j + 1] == 0);
            b[j] = b[2 * j];
        }
        vxs_factor_solve_lower(&f, b, half);
        vxs_factor_solve_upper(&f, half, half);
        for (size_t j = 0; j < e.nodes; j++)
            cr_assert(fabs(half[j] - x[j]) <= 1e-9 * (1 + fabs(x[j])),
                      "problem %d: %.15g, not %.15g", (int)number, half[j], x[j]);
        double left = left_of(&e, x, b);
        cr_assert(left < 1e-12, "problem %d: %g is left", (int)number, left);
        cr_assert(fabs(square - along) <= 1e-9 * along, "problem %d: %.15g, not %.15g", (int)number,
                  square, along);
        squares += f.dense_count > 48;
        thin += f.dense_count == 0;
        vxs_factor_release(&f);
        release(&e);
    }
    cr_assert(squares > 15 && thin > 10, "%zu with large squares, %zu without", squares, thin);
}
