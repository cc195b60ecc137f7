/* Dense linear fits from products of subjects or from features, against their conditions of
 * optimality, computed from features. */
#include "model/dense_fit.h"
#include "tests/core/check.h"

#include <math.h>
#include <string.h>

enum { N = 14, P = 30, TESTED = 3, Q = 2 };

typedef struct {
    double x[(N + TESTED) * P];
    vxs_dense_fit fit;
} example;

static double product(const example *e, size_t a, size_t b)
{
    double sum = 0;
    for (size_t j = 0; j < P; j++)
        sum += e->x[a * P + j] * e->x[b * P + j];
    return sum;
}

static void make(example *e, uint64_t number, const vxs_loss_kind *loss, bool features)
{
    vxs_random random = { .seed = 12, .stream = number };
    vxs_error err = VXS_ERROR_INIT;
    uint64_t at = 0;
    for (size_t k = 0; k < (N + TESTED) * P; k++)
        e->x[k] = vxs_random_normal(&random, at++) / 5;
    WORKS(vxs_dense_fit_new(N, Q, TESTED, features ? P : 0, &e->fit, &err), err);
    for (size_t i = 0; i < N + TESTED; i++) {
        double *z = i < N ? e->fit.z : e->fit.of_tested;
        size_t step = i < N ? N : TESTED, place = i < N ? i : i - N;
        z[place] = 1;
        z[step + place] = vxs_random_normal(&random, at++);
        for (size_t l = 0; l < N && !features; l++)
            (i < N ? e->fit.k : e->fit.held_out)[place * N + l] = product(e, i, l);
        for (size_t j = 0; j < P && features; j++)
            *(i < N ? &e->fit.k[j * N + i] : &e->fit.held_out[place * P + j]) = e->x[i * P + j];
    }
    for (size_t i = 0; i < N; i++) {
        double value = e->x[i * P] * 5 + vxs_random_normal(&random, at++);
        e->fit.y[i] = loss == &vxs_squared_loss ? value : value > 0 ? 1 : -1;
        e->fit.u[i] = number % 2 ? exp(vxs_random_normal(&random, at++)) : 1;
    }
    e->fit.loss = (vxs_loss){ .kind = loss, .n = N, .y = e->fit.y, .u = e->fit.u };
}

/* With w = X'a: lambda w + X'g = 0 and Z'g = 0, g the gradient of the loss at Xw + Zb; scores of
 * tested subjects are x'w + z'b. */
static void confirm(const example *e, double lambda, uint64_t number)
{
    const vxs_dense_fit *f = &e->fit;
    double w[P] = { 0 }, value[N] = { 0 }, gradient[N], largest = 0, along[Q] = { 0 };
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < P; j++)
            w[j] += f->a[i] * e->x[i * P + j];
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < P; j++)
            value[i] += w[j] * e->x[i * P + j];
        value[i] += f->b[0] * f->z[i] + f->b[1] * f->z[N + i];
    }
    vxs_loss_gradient(&f->loss, value, gradient);
    for (size_t j = 0; j < P; j++) {
        double slope = lambda * w[j];
        for (size_t i = 0; i < N; i++)
            slope += gradient[i] * e->x[i * P + j];
        largest = fmax(largest, fabs(slope));
    }
    for (size_t i = 0; i < N; i++)
        for (size_t c = 0; c < Q; c++)
            along[c] += gradient[i] * f->z[c * N + i];
    cr_expect(largest < 1e-4 && fabs(along[0]) < 1e-4 && fabs(along[1]) < 1e-4,
              "problem %llu, lambda %g: %g, %g, %g", (unsigned long long)number, lambda, largest,
              along[0], along[1]);
    for (size_t i = 0; i < TESTED; i++) {
        double score = f->b[0] * f->of_tested[i] + f->b[1] * f->of_tested[TESTED + i];
        for (size_t j = 0; j < P; j++)
            score += w[j] * e->x[(N + i) * P + j];
        cr_expect(fabs(score - vxs_dense_fit_score(f, i)) < 1e-9 * (1 + fabs(score)));
    }
}

Test(dense_fit, conditions_of_optimality_hold_along_a_path)
{
    static example e;
    for (uint64_t number = 0; number < 80; number++) {
        make(&e, number, number / 2 % 2 ? &vxs_logistic_loss : &vxs_squared_loss, number >= 40);
        for (double lambda = 100; lambda > 1e-2; lambda /= 7) {
            cr_expect(vxs_dense_fit_at(&e.fit, lambda));
            confirm(&e, lambda, number);
        }
        vxs_dense_fit_release(&e.fit);
    }
}
