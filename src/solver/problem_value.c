/* problem_value.c - the value of a problem at any weights, from its parts alone. */
#include "solver/solver.h"

#include <math.h>
#include <stdlib.h>

static vxs_status check_weights(const vxs_problem *q, const double *w, const double *b,
                                vxs_error *err)
{
    size_t outputs = vxs_loss_outputs(&q->loss), p = vxs_design_columns(q->design);
    if (!w)
        return vxs_fail(err, VXS_MISUSE, "there are no w for %zu columns", p);
    if (!b && q->covariate_count > 0)
        return vxs_fail(err, VXS_MISUSE, "there are no b for %zu covariates", q->covariate_count);
    for (size_t j = 0; j < outputs * p; j++)
        if (!isfinite(w[j]))
            return vxs_fail(err, VXS_BAD_DATA, "the weight of column %zu is %g", j % p, w[j]);
    for (size_t c = 0; c < outputs * q->covariate_count; c++)
        if (!isfinite(b[c]))
            return vxs_fail(err, VXS_BAD_DATA, "the weight of covariate %zu is %g",
                            c % q->covariate_count, b[c]);
    return VXS_OK;
}

/* z = X w + Z b, column by column. */
static vxs_status predict(const vxs_problem *q, const double *w, const double *b, double *z,
                          vxs_error *err)
{
    size_t n = q->loss.n, p = vxs_design_columns(q->design), outputs = vxs_loss_outputs(&q->loss);
    double *column = vxs_alloc(n, sizeof(*column), err);
    if (!column)
        return VXS_FAILED;
    for (size_t j = 0; j < p; j++) {
        bool read = false;
        for (size_t k = 0; k < outputs; k++) {
            double weight = w[k * p + j];
            if (weight != 0 && !read)
                vxs_design_fetch(q->design, &j, 1, column);
            read = read || weight != 0;
            for (size_t i = 0; i < n && weight != 0; i++)
                z[k * n + i] += weight * column[i];
        }
    }
    for (size_t c = 0; c < outputs * q->covariate_count; c++)
        for (size_t i = 0; i < n; i++)
            z[c / q->covariate_count * n + i] +=
                b[c] * q->covariates[c % q->covariate_count * n + i];
    free(column);
    return VXS_OK;
}

vxs_status vxs_problem_value(const vxs_problem *q, double lambda, const double *w, const double *b,
                             double *value, vxs_error *err)
{
    vxs_status status = VXS_GIVEN(err, { "value", value });
    if (!status)
        status = vxs_problem_check(q, NULL, NULL, err);
    if (status)
        return status;
    const vxs_penalty_kind *penalty = vxs_penalty_kind_of(q->penalty);
    const vxs_quadratic *quadratic = &q->quadratic;
    if (!penalty->value || (quadratic->weight > 0 && !quadratic->kind->value))
        return vxs_fail(err, VXS_MISUSE, "%s has no value that is lambda times a sum",
                        penalty->value ? quadratic->kind->name : penalty->name);
    status = vxs_number_check("lambda", lambda, 0, false, err);
    if (!status)
        status = check_weights(q, w, b, err);
    if (!status)
        status = vxs_design_measure(q->design, err);
    if (status)
        return status;
    size_t p = vxs_design_columns(q->design), outputs = vxs_loss_outputs(&q->loss);
    double *z = vxs_alloc(outputs, q->loss.n * sizeof(*z), err);
    status = z ? predict(q, w, b, z, err) : VXS_FAILED;
    *value = status ? NAN : vxs_loss_value(&q->loss, z);
    for (size_t k = 0; k < outputs && !status; k++) {
        *value += lambda * penalty->value(q->penalty, w + k * p, p);
        if (quadratic->weight > 0)
            *value += quadratic->kind->value(quadratic, w + k * p, p);
    }
    free(z);
    return status;
}
