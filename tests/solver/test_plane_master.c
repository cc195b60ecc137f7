/* The master over planes: its weights are feasible, and the point that goes with them closes the
 * gap; with one plane, equal planes, many planes and rounds, and C of all sizes. */
#include "solver/cutting_plane/plane_master.h"
#include "tests/core/check.h"

enum { WIDTH = 3, MOST = 140, ROUNDS = 30 };

typedef struct {
    size_t planes, rounds, free_columns;
    double a[MOST * ROUNDS * WIDTH]; /* of a plane: its products with the columns of all rounds */
    double gram[ROUNDS][MOST * MOST], offset[MOST], along[2 * MOST];
    const double *grams[ROUNDS];
    double alpha[MOST], mu[ROUNDS], b[2];
} example;

static void multiply(example *e)
{
    size_t m = e->rounds * WIDTH, planes = e->planes;
    for (size_t h = 0; h < e->rounds; h++) {
        e->grams[h] = e->gram[h];
        for (size_t k = 0; k < planes * planes; k++)
            for (size_t c = 0; c < WIDTH; c++)
                e->gram[h][k / planes * MOST + k % planes] +=
                    e->a[k / planes * m + h * WIDTH + c] * e->a[k % planes * m + h * WIDTH + c];
    }
}

/* The first plane costs nothing, as the truth does; every fourth equals the one before. */
static void make(example *e, uint64_t number, size_t planes, size_t rounds, size_t free_columns)
{
    vxs_random random = { .seed = 61, .stream = number };
    uint64_t at = 0;
    size_t m = rounds * WIDTH;
    memset(e, 0, sizeof(*e));
    e->planes = planes;
    e->rounds = rounds;
    e->free_columns = free_columns;
    for (size_t k = 1; k < planes; k++) {
        size_t from = k % 4 == 3 ? k - 1 : k;
        for (size_t c = 0; c < m; c++)
            e->a[k * m + c] = from < k ? e->a[from * m + c] : vxs_random_normal(&random, at++);
        for (size_t j = 0; j < free_columns; j++)
            e->along[j * planes + k] =
                from < k ? e->along[j * planes + from] : vxs_random_normal(&random, at++);
        e->offset[k] = from < k ? e->offset[from] : 5 * vxs_random_uniform(&random, at++);
    }
    multiply(e);
}

/* (sum |omega_h|)^2 / 2 + C times the largest plane, omega_h = -mu_h A_h'alpha. */
static double value_of(const example *e, double cost)
{
    size_t m = e->rounds * WIDTH;
    double w[ROUNDS * WIDTH] = { 0 }, norms = 0, most = -INFINITY;
    for (size_t c = 0; c < m; c++)
        for (size_t k = 0; k < e->planes; k++)
            w[c] -= e->mu[c / WIDTH] * e->alpha[k] * e->a[k * m + c];
    for (size_t h = 0; h < e->rounds; h++)
        norms += sqrt(w[h * WIDTH] * w[h * WIDTH] + w[h * WIDTH + 1] * w[h * WIDTH + 1] +
                      w[h * WIDTH + 2] * w[h * WIDTH + 2]);
    for (size_t k = 0; k < e->planes; k++) {
        double plane = e->offset[k];
        for (size_t c = 0; c < m; c++)
            plane += e->a[k * m + c] * w[c];
        for (size_t j = 0; j < e->free_columns; j++)
            plane += e->along[j * e->planes + k] * e->b[j];
        most = fmax(most, plane);
    }
    return norms * norms / 2 + cost * most;
}

static void is_feasible(const example *e, double cost)
{
    double sum = 0, shares = 0, along[2] = { 0, 0 };
    for (size_t k = 0; k < e->planes; k++) {
        cr_assert(e->alpha[k] >= 0);
        sum += e->alpha[k];
        for (size_t j = 0; j < e->free_columns; j++)
            along[j] += e->along[j * e->planes + k] * e->alpha[k];
    }
    for (size_t h = 0; h < e->rounds; h++)
        shares += e->mu[h];
    cr_assert(fabs(sum - cost) <= 1e-12 * cost && fabs(shares - 1) <= 1e-12);
    cr_assert(fabs(along[0]) + fabs(along[1]) <= 1e-9 * cost, "%g, %g of %g", along[0], along[1],
              cost);
}

static void confirm(example *e, double cost)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_plane_master master = { .planes = e->planes,
                                .rounds = e->rounds,
                                .equations = e->free_columns,
                                .stride = MOST,
                                .gram = e->grams,
                                .offset = e->offset,
                                .along = e->along,
                                .cost = cost,
                                .tol = 1e-10,
                                .alpha = e->alpha,
                                .mu = e->mu,
                                .free_weights = e->b };
    WORKS(vxs_plane_master_solve(&master, &err), err);
    is_feasible(e, cost);
    double value = value_of(e, cost);
    cr_assert(master.lower <= value + 1e-9 * fabs(value) && master.lower >= -1e-9 * cost);
    cr_assert(value - master.lower <= 1e-6 * cost * 5, "%zu planes, %zu rounds, C %g: %g and %g",
              e->planes, e->rounds, cost, value, master.lower);
}

Test(plane_master, closes_its_gap)
{
    static const size_t sizes[][3] = { { 1, 1, 0 },   { 2, 1, 0 },    { 7, 3, 0 },
                                       { 20, 1, 1 },  { 20, 5, 2 },   { 60, 30, 1 },
                                       { 140, 1, 2 }, { 140, 30, 0 }, { 140, 12, 1 } };
    example *e = malloc(sizeof(*e));
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
        for (double cost = 1e-6; cost < 1e7; cost *= 1e3) {
            make(e, k, sizes[k][0], sizes[k][1], sizes[k][2]);
            confirm(e, cost);
        }
    free(e);
}
