/* landmarks.c - a machine whose kernel is of low rank: its score is one of the landmarks alone. */
#include "model/machine.h"
#include "voxsift/internal/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define APART    1e-6  /* of two numbers that are one, relative to the larger, */
#define ROUNDING 1e-10 /* or as shares of a trace */

/* What the kernel lacks is no part of its certificate: it belongs to the kernel. */
static void describe(const vxs_low_rank *l, vxs_certificate *c)
{
    c->rank = l->rank;
    c->trace_error = l->trace > 0 ? l->missing / l->trace : 0;
    c->largest_error = l->trace > 0 ? l->largest * (double)l->n / l->trace : 0;
}

vxs_status vxs_machine_reduce(const vxs_prepared_machine *prepared, vxs_machine *m,
                              vxs_certificate *certificate, vxs_error *err)
{
    const vxs_low_rank *l = vxs_gram_low_rank(prepared->design);
    if (!l)
        return VXS_OK;
    m->rank = l->rank;
    m->landmark = vxs_alloc(l->rank + 1, sizeof(*m->landmark), err);
    m->landmark_weight = vxs_alloc(l->rank + 1, sizeof(*m->landmark_weight), err);
    m->placed = vxs_alloc(m->n, sizeof(*m->placed), err);
    if (!m->landmark || !m->landmark_weight || !m->placed)
        return VXS_FAILED;
    vxs_low_rank_reduce(l, m->weight, m->landmark_weight);
    for (size_t k = 0; k < l->rank; k++) {
        m->landmark[k] = l->landmark[k];
        m->placed[l->landmark[k]] = m->landmark_weight[k];
    }
    describe(l, certificate);
    return VXS_OK;
}

static bool agree(double found, double said)
{
    return fabs(found - said) <= APART * fmax(fabs(found), fabs(said)) + ROUNDING;
}

/* Weights of nearly dependent landmarks say little: two scores are one if |K_m^(1/2) (b - c)|, the
 * norm of their difference, is small. */
static bool same_score(const vxs_low_rank *l, const double *b, const double *c)
{
    double apart = 0, norm = 0;
    for (size_t k = 0; k < l->rank; k++) {
        const double *column = l->factor + k * l->n;
        double difference = 0, sum = 0;
        for (size_t j = k; j < l->rank; j++) {
            difference += column[l->landmark[j]] * (b[j] - c[j]);
            sum += column[l->landmark[j]] * b[j];
        }
        apart += difference * difference;
        norm += sum * sum;
    }
    return apart <= APART * APART * norm; /* false for NaN */
}

static bool same_features(const vxs_machine *found, const vxs_machine *said)
{
    double largest = 0, apart = 0;
    for (size_t k = 0; found->exact && said->exact && k < said->p * said->rank; k++) {
        largest = fmax(largest, fabs(found->exact[k]));
        apart = fmax(apart, fabs(found->exact[k] - said->exact[k]));
    }
    return apart <= APART * largest;
}

vxs_status vxs_machine_same_landmarks(const vxs_prepared_machine *prepared,
                                      const vxs_output_fit *found, const vxs_output_fit *said,
                                      vxs_error *err)
{
    const vxs_low_rank *l = vxs_gram_low_rank(prepared->design);
    const vxs_machine *a = found->encoded, *b = said->encoded;
    const vxs_certificate *c = &found->fit.certificate, *d = &said->fit.certificate;
    if (!l)
        return VXS_OK;
    if (!b->landmark || b->rank != a->rank ||
        memcmp(a->landmark, b->landmark, a->rank * sizeof(*a->landmark)) != 0)
        return vxs_fail(err, VXS_BAD_DATA, "the model's landmarks are not those of its subjects");
    if (!same_score(l, a->landmark_weight, b->landmark_weight))
        return vxs_fail(err, VXS_BAD_DATA,
                        "the model's weights of landmarks are not those of its subjects");
    if (!same_features(a, b))
        return vxs_fail(err, VXS_BAD_DATA,
                        "the model's features of landmarks are not those of its subjects");
    vxs_kernel kernel = prepared->kernel;
    kernel.factor = prepared->varies ? kernel.factor : 0;
    vxs_status status = vxs_check_low_rank(&kernel, &prepared->training, l, err);
    if (status)
        return status;
    if (!agree(c->trace_error, d->trace_error) || !agree(c->largest_error, d->largest_error))
        return vxs_fail(err, VXS_BAD_DATA,
                        "the model says that its kernel lacks %.6g of the trace; it lacks %.6g",
                        d->trace_error, c->trace_error);
    return VXS_OK;
}
