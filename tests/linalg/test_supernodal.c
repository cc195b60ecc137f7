/* Supernodal factors beside dense ones: graphs of chance, grids, chains, stars, nodes alone. */
#include "linalg/cholesky.h"
#include "linalg/supernodal.h"
#include "tests/core/check.h"

#define MOST  300 /* nodes */
#define WIDTH 7   /* right-hand sides */

typedef struct {
    size_t nodes, edges;
    size_t *from, *to;
    double *beside, *diagonal, *dense; /* nodes x nodes */
} matrix;

static matrix begin(size_t nodes, size_t edges)
{
    matrix a = { .nodes = nodes, .edges = 0 };
    a.from = malloc((edges + 1) * sizeof(*a.from));
    a.to = malloc((edges + 1) * sizeof(*a.to));
    a.beside = malloc((edges + 1) * sizeof(*a.beside));
    a.diagonal = malloc((nodes + 1) * sizeof(*a.diagonal));
    a.dense = calloc(nodes * nodes + 1, sizeof(*a.dense));
    return a;
}

static void add_edge(matrix *a, size_t from, size_t to)
{
    a->from[a->edges] = from;
    a->to[a->edges++] = to;
}

/* Diagonally dominant, with entries of many sizes. */
static void fill(matrix *a, uint64_t number)
{
    vxs_random random = { .seed = 71, .stream = number };
    uint64_t at = 0;
    for (size_t i = 0; i < a->nodes; i++)
        a->diagonal[i] = exp(4 * vxs_random_normal(&random, at++));
    for (size_t e = 0; e < a->edges; e++) {
        size_t i = a->from[e], j = a->to[e];
        a->beside[e] = vxs_random_normal(&random, at++);
        a->diagonal[i] += fabs(a->beside[e]);
        a->diagonal[j] += fabs(a->beside[e]);
        a->dense[i * a->nodes + j] += a->beside[e];
        a->dense[j * a->nodes + i] += a->beside[e];
    }
    for (size_t i = 0; i < a->nodes; i++)
        a->dense[i * a->nodes + i] = a->diagonal[i];
}

static void release(matrix *a)
{
    free(a->from);
    free(a->to);
    free(a->beside);
    free(a->diagonal);
    free(a->dense);
}

static matrix of_chance(uint64_t number)
{
    vxs_random random = { .seed = 72, .stream = number };
    size_t nodes = 1 + vxs_random_below(&random, 0, MOST);
    size_t edges = nodes > 1 ? vxs_random_below(&random, 1, 3 * nodes) : 0;
    matrix a = begin(nodes, edges);
    for (size_t e = 0; e < edges; e++) { /* some of them twice */
        size_t from = vxs_random_below(&random, 2 * e + 2, nodes);
        size_t to = vxs_random_below(&random, 2 * e + 3, nodes);
        add_edge(&a, from, from == to ? (to + 1) % nodes : to);
    }
    return a;
}

/* A grid of 6 x 7 x 7 from which voxels are left out. */
static matrix of_grid(uint64_t number)
{
    vxs_random random = { .seed = 73, .stream = number };
    size_t index[6][7][7], nodes = 0;
    double share = (double)(number % 5) / 5;
    for (size_t v = 0; v < 294; v++) {
        bool in = vxs_random_uniform(&random, v) >= share;
        index[v / 49][v / 7 % 7][v % 7] = in ? nodes++ : SIZE_MAX;
    }
    matrix a = begin(nodes, 3 * nodes);
    for (size_t v = 0; v < 294; v++) {
        size_t x = v / 49, y = v / 7 % 7, z = v % 7, at = index[x][y][z];
        if (at == SIZE_MAX)
            continue;
        if (x + 1 < 6 && index[x + 1][y][z] != SIZE_MAX)
            add_edge(&a, at, index[x + 1][y][z]);
        if (y + 1 < 7 && index[x][y + 1][z] != SIZE_MAX)
            add_edge(&a, index[x][y + 1][z], at);
        if (z + 1 < 7 && index[x][y][z + 1] != SIZE_MAX)
            add_edge(&a, at, index[x][y][z + 1]);
    }
    return a;
}

static matrix of_shape(uint64_t number)
{
    size_t nodes = 1 + (size_t)(number * 13 % 90);
    matrix a = begin(nodes, nodes * nodes);
    for (size_t i = 1; i < nodes && number % 4 > 0; i++) {
        if (number % 4 == 1)
            add_edge(&a, i - 1, i);
        else if (number % 4 == 2)
            add_edge(&a, nodes / 2, i <= nodes / 2 ? i - 1 : i);
        else
            for (size_t j = 0; j < i; j++)
                add_edge(&a, j, i);
    }
    return a;
}

/* The largest entry of A x - b, as a share of what is summed up there. */
static double left_of(const matrix *a, const double *x, const double *b)
{
    double worst = 0;
    for (size_t i = 0; i < a->nodes; i++) {
        double sum = -b[i], size = fabs(b[i]);
        for (size_t j = 0; j < a->nodes; j++) {
            sum += a->dense[i * a->nodes + j] * x[j];
            size += fabs(a->dense[i * a->nodes + j] * x[j]);
        }
        worst = fmax(worst, fabs(sum) / size);
    }
    return worst;
}

/* One right-hand side by both halves; then many by the first half, whose products are those of the
 * inverse. */
static void compare(const matrix *a, uint64_t number)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_random random = { .seed = 74, .stream = number };
    vxs_supernodal f;
    double b[MOST], x[MOST], y[MOST];
    WORKS(vxs_supernodal_new(a->nodes, a->edges, a->from, a->to, &f, &err), err);
    double *work = malloc((f.longest * WIDTH + 1) * sizeof(*work));
    double *many = malloc(a->nodes * WIDTH * sizeof(*many) + 1);
    for (int again = 0; again < 2; again++) /* numbers change, the pattern does not */
        cr_assert(vxs_supernodal_factor(&f, a->diagonal, a->beside));
    for (size_t i = 0; i < a->nodes; i++) {
        b[i] = vxs_random_normal(&random, i);
        y[f.inverse[i]] = b[i];
        for (size_t m = 0; m < WIDTH; m++)
            many[f.inverse[i] * WIDTH + m] = (double)(m + 1) * b[i];
    }
    vxs_supernodal_solve_lower(&f, y, work);
    vxs_supernodal_solve_many(&f, many, WIDTH, work);
    for (size_t k = 0; k < a->nodes; k++)
        for (size_t m = 0; m < WIDTH; m++)
            cr_assert(fabs(many[k * WIDTH + m] - (double)(m + 1) * y[k]) < 1e-9 * (1 + fabs(y[k])));
    vxs_supernodal_solve_upper(&f, y, work);
    for (size_t i = 0; i < a->nodes; i++)
        x[i] = y[f.inverse[i]];
    cr_assert(left_of(a, x, b) < 1e-12);
    free(work);
    free(many);
    vxs_supernodal_release(&f);
}

Test(supernodal, solves_as_the_matrix_says)
{
    for (uint64_t number = 0; number < 200; number++) {
        matrix a = number % 3 == 0   ? of_chance(number)
                   : number % 3 == 1 ? of_grid(number)
                                     : of_shape(number);
        fill(&a, number);
        compare(&a, number);
        release(&a);
    }
}

Test(supernodal, refuses_what_is_not_positive_definite)
{
    for (uint64_t number = 0; number < 60; number++) {
        vxs_error err = VXS_ERROR_INIT;
        vxs_random random = { .seed = 75, .stream = number };
        vxs_supernodal f;
        matrix a = number % 2 ? of_grid(number) : of_chance(number);
        fill(&a, number);
        double *copy = malloc(a.nodes * a.nodes * sizeof(*copy));
        size_t at = vxs_random_below(&random, 0, a.nodes);
        a.diagonal[at] *= vxs_random_uniform(&random, 1) - 0.2;
        a.dense[at * a.nodes + at] = a.diagonal[at];
        memcpy(copy, a.dense, a.nodes * a.nodes * sizeof(*copy));
        WORKS(vxs_supernodal_new(a.nodes, a.edges, a.from, a.to, &f, &err), err);
        cr_assert(vxs_supernodal_factor(&f, a.diagonal, a.beside) == vxs_cholesky(copy, a.nodes));
        vxs_supernodal_release(&f);
        free(copy);
        release(&a);
    }
}

/* A grid of 20 x 20 x 20: the band of its order has 400 x 8,000 entries. */
Test(supernodal, fills_a_grid_less_than_a_band)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_supernodal f;
    matrix a = begin(1, 3 * 8000);
    for (size_t v = 0; v < 8000; v++) {
        if (v % 20 < 19)
            add_edge(&a, v, v + 1);
        if (v / 20 % 20 < 19)
            add_edge(&a, v, v + 20);
        if (v / 400 < 19)
            add_edge(&a, v, v + 400);
    }
    WORKS(vxs_supernodal_new(8000, a.edges, a.from, a.to, &f, &err), err);
    cr_assert(f.value_start[f.supernodes] < 400 * 8000 * 3 / 4, "%zu entries",
              f.value_start[f.supernodes]);
    vxs_supernodal_release(&f);
    release(&a);
}

Test(supernodal, no_nodes)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_supernodal f;
    WORKS(vxs_supernodal_new(0, 0, NULL, NULL, &f, &err), err);
    cr_assert(vxs_supernodal_factor(&f, NULL, NULL));
    vxs_supernodal_release(&f);
}
