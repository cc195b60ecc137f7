/* Losses: derivatives by differences, conjugates by search, domains by their edges. */
#include "tests/core/check.h"
#include "tests/loss/losses.h"
#include "voxsift/internal/machine.h"

#include <math.h>

enum { N = 40, K = 3 };

typedef struct {
    vxs_random random;
    uint64_t at;
    double y[N], u[N], z[N * K];
} example;

static double draw(example *e)
{
    return vxs_random_normal(&e->random, e->at++);
}

/* Targets that the kind takes, weights of which one is 0. */
static vxs_loss make(example *e, const vxs_loss_kind *kind)
{
    *e = (example){ .random = { .seed = 7 + number_of_loss(kind) } };
    vxs_loss loss = {
        .kind = kind, .n = N, .k = kind->joint ? K : 1, .y = e->y, .u = e->u, .threshold = 1.5
    };
    for (size_t i = 0; i < N; i++) {
        double score = 3 * draw(e);
        const double tries[] = { score, score > 0 ? 1 : -1, (double)(i % K) };
        size_t t = 0;
        while (!kind->is_target(&loss, tries[t]))
            t++;
        e->y[i] = tries[t];
        e->u[i] = i == 5 ? 0 : exp(draw(e));
        for (size_t c = 0; c < K; c++)
            e->z[c * N + i] = 2 * draw(e);
    }
    return loss;
}

static bool is_smooth(const vxs_loss_kind *kind)
{
    return kind->sample || kind->joint;
}

Test(losses, names_differ)
{
    for (size_t k = 0; vxs_loss_kinds[k]; k++)
        for (size_t l = 0; l < k; l++)
            cr_assert(strcmp(vxs_loss_kinds[k]->name, vxs_loss_kinds[l]->name) != 0);
}

Test(losses, gradients_are_differences_of_values)
{
    for (size_t k = 0; vxs_loss_kinds[k]; k++) {
        example e;
        double gradient[N * K];
        if (!is_smooth(vxs_loss_kinds[k]))
            continue;
        vxs_loss loss = make(&e, vxs_loss_kinds[k]);
        vxs_loss_gradient(&loss, e.z, gradient);
        for (size_t j = 0; j < N * vxs_loss_outputs(&loss); j++) {
            const double step = 1e-6, here = e.z[j];
            e.z[j] = here + step;
            double above = vxs_loss_value(&loss, e.z);
            e.z[j] = here - step;
            double below = vxs_loss_value(&loss, e.z);
            e.z[j] = here;
            cr_assert(fabs((above - below) / (2 * step) - gradient[j]) <=
                          1e-5 * (1 + fabs(gradient[j])),
                      "%s, %zu: %g, not %g", loss.kind->name, j, gradient[j],
                      (above - below) / (2 * step));
        }
    }
}

/* Also far from 0, where exponentials end. */
Test(losses, all_at_once_are_the_same_bits_as_one_after_the_other)
{
    for (size_t k = 0; vxs_loss_kinds[k]; k++) {
        example e;
        double first[2][N * K], second[2][N * K];
        if (!vxs_loss_kinds[k]->sample)
            continue;
        vxs_loss loss = make(&e, vxs_loss_kinds[k]);
        for (double size = 1e-3; size < 1e6; size *= 10) {
            for (size_t i = 0; i < N; i++)
                e.z[i] *= size;
            double value = vxs_loss_value(&loss, e.z);
            vxs_loss_gradient(&loss, e.z, first[0]);
            vxs_loss_curvature(&loss, e.z, second[0]);
            cr_assert(vxs_loss_expand(&loss, e.z, first[1], second[1]) == value, "%s: %g",
                      loss.kind->name, size);
            for (size_t i = 0; i < N; i++)
                cr_assert(first[0][i] == first[1][i] && second[0][i] == second[1][i],
                          "%s, %zu: %g and %g, %g and %g", loss.kind->name, i, first[0][i],
                          first[1][i], second[0][i], second[1][i]);
        }
    }
}

/* F(z) + F*(s) >= s'z for every s in the domain, with equality where s is the gradient at z. */
Test(losses, conjugates_meet_values_at_gradients_and_nowhere_fall_below)
{
    for (size_t k = 0; vxs_loss_kinds[k]; k++) {
        example e;
        double gradient[N * K], other[N * K];
        if (!is_smooth(vxs_loss_kinds[k]))
            continue;
        vxs_loss loss = make(&e, vxs_loss_kinds[k]);
        size_t all = N * vxs_loss_outputs(&loss);
        vxs_loss_gradient(&loss, e.z, gradient);
        double along = 0, value = vxs_loss_value(&loss, e.z);
        for (size_t j = 0; j < all; j++)
            along += gradient[j] * e.z[j];
        cr_assert(fabs(value + vxs_loss_conjugate(&loss, gradient) - along) <= 1e-9 * (1 + value),
                  "%s", loss.kind->name);
        for (int trial = 0; trial < 50; trial++) {
            for (size_t j = 0; j < all; j++)
                other[j] = 2 * draw(&e);
            double there = 0;
            for (size_t j = 0; j < all; j++)
                there += gradient[j] * other[j];
            cr_assert(vxs_loss_value(&loss, other) + vxs_loss_conjugate(&loss, gradient) >=
                          there - 1e-9 * (1 + fabs(there)),
                      "%s", loss.kind->name);
        }
    }
}

/* The curvature bounds how fast the gradient changes: 1 / gamma at most. */
Test(losses, gradients_change_no_faster_than_gamma_says)
{
    for (size_t k = 0; vxs_loss_kinds[k]; k++) {
        const vxs_sample_loss *f = vxs_loss_kinds[k]->sample;
        example e;
        if (!f)
            continue;
        vxs_loss loss = make(&e, vxs_loss_kinds[k]);
        for (size_t i = 0; i < N; i++) {
            double to = e.z[i] + draw(&e), y = e.y[i];
            double change =
                fabs(f->gradient(to, y, loss.threshold) - f->gradient(e.z[i], y, loss.threshold));
            cr_assert(change <= fabs(to - e.z[i]) / loss.kind->gamma * (1 + 1e-12), "%s",
                      loss.kind->name);
            cr_assert(f->curvature(e.z[i], y, loss.threshold) <= 1 / loss.kind->gamma * (1 + 1e-12),
                      "%s", loss.kind->name);
        }
    }
}

/* A point over the edge has an infinite conjugate, and the share that it is told brings it back. */
Test(losses, what_is_outside_is_brought_back)
{
    for (size_t k = 0; vxs_loss_kinds[k]; k++) {
        example e;
        double inside[N * K], out[N * K];
        if (!is_smooth(vxs_loss_kinds[k]))
            continue;
        vxs_loss loss = make(&e, vxs_loss_kinds[k]);
        size_t all = N * vxs_loss_outputs(&loss);
        vxs_loss_gradient(&loss, e.z, inside);
        cr_assert(vxs_loss_outside(&loss, inside, inside) == 0, "%s", loss.kind->name);
        for (size_t j = 0; j < all; j++)
            out[j] = 3 * inside[j];
        double share = vxs_loss_outside(&loss, out, inside);
        cr_assert((share > 0) == isinf(vxs_loss_conjugate(&loss, out)) || loss.kind->joint,
                  "%s: %g", loss.kind->name, share);
        for (size_t j = 0; j < all; j++)
            out[j] += share * (inside[j] - out[j]);
        cr_assert(vxs_loss_outside(&loss, out, inside) < 1e-9, "%s", loss.kind->name);
        cr_assert(loss.kind->joint || isfinite(vxs_loss_conjugate(&loss, out)), "%s",
                  loss.kind->name);
    }
}
