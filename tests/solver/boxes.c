/* boxes.c - random dual problems of kernel machines. */
#include "tests/solver/boxes.h"
#include "solver/saiv/dual_pairs.h"
#include "tests/core/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double *box_numbers(size_t count)
{
    vxs_error err = VXS_ERROR_INIT;
    double *values = vxs_alloc(count, sizeof(*values), &err);
    cr_assert(values);
    return values;
}

static double kernel_of(const double *x, const double *z, size_t d, uint64_t kind)
{
    double square = 0, product = 0;
    for (size_t k = 0; k < d; k++) {
        square += (x[k] - z[k]) * (x[k] - z[k]);
        product += x[k] * z[k] / (double)d;
    }
    return kind == 1 ? product : kind == 2 ? (1 + product) * (1 + product) : exp(-square / 2);
}

/* Of samples in a few dimensions: mostly Gaussian, else linear or quadratic, which are singular;
 * every third problem has copies, every second is of scores. */
static void draw_kernel(box_example *e, const vxs_random *random, uint64_t number, uint64_t *at)
{
    enum { D = 4 };
    size_t n = e->box.n, copies = number % 3 == 2 ? 5 : 1;
    double *x = box_numbers(n * D);
    for (size_t k = 0; k < n * D; k++)
        x[k] = k / D % copies ? x[k - k / D % copies * D] : vxs_random_normal(random, (*at)++);
    e->k = box_numbers(n * n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            e->k[i * n + j] = kernel_of(x + i * D, x + j * D, D, number / 4 % 5);
    free(x);
}

box_example box_make(size_t n, uint64_t number, double cost)
{
    vxs_random random = { .seed = 8, .stream = number };
    vxs_error err = VXS_ERROR_INIT;
    uint64_t at = 0;
    bool scores = number % 2;
    size_t count = scores ? 2 * n : n;
    box_example e = { .box = { .n = n, .count = count, .intercept = number % 5 != 4 } };
    draw_kernel(&e, &random, number, &at);
    vxs_box *x = &e.box;
    x->k = e.k;
    x->row = vxs_alloc(count, sizeof(*x->row), &err);
    x->sign = box_numbers(count);
    x->q = box_numbers(count);
    x->c = box_numbers(count);
    x->t = box_numbers(count);
    x->f = box_numbers(n);
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

void box_release(box_example *e)
{
    void *const all[] = { e->k, e->box.row, e->box.sign, e->box.q, e->box.c, e->box.t, e->box.f };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        free(all[k]);
}

void box_set_values(vxs_box *x, double *f)
{
    memset(f, 0, x->n * sizeof(*f));
    for (size_t k = 0; k < x->count; k++)
        for (size_t i = 0; i < x->n; i++)
            f[i] += x->sign[k] * x->t[k] * x->k[x->row[k] * x->n + i];
}

/* Weights inside the box, at 0 or at their bound, that sum to 0: pairs of a variable that rises
 * and one that falls by the same. */
void box_draw_weights(vxs_box *x, uint64_t number)
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
    box_set_values(x, x->f);
}
