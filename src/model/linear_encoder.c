/* linear_encoder.c - the linear encoder: weights of unscaled features; and functions shared by
 * encoders: standardization, scores. */
#include "model/encoder.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Features that are standardized ---------------------------------------------------------- */

/* Converts weights of standardized columns to weights of unscaled features. */
vxs_status vxs_unstandardize_weights(const vxs_task *t, vxs_solution *s, vxs_error *err)
{
    const double *shift = vxs_view_shift(t->design), *factor = vxs_view_factor(t->design);
    bool regresses = vxs_task_regresses(t);
    for (size_t k = 0; k < s->count; k++) {
        s->weight[k] *= factor[s->index[k]];
        if (!t->settings.no_intercept && !regresses)
            s->covariate_coefficients[0] -= s->weight[k] * shift[s->index[k]];
    }
    return regresses ? vxs_regress_out(t, s, err) : VXS_OK;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-6 * (fabs(a) + fabs(b)) + 1e-9;
}

/* If confounds are regressed out of the features, their coefficients follow from the weights. */
static vxs_status take_regression_back(const vxs_task *t, vxs_solution *s, vxs_error *err)
{
    double *explained = vxs_alloc(t->covariate_count, sizeof(*explained), err);
    vxs_status status = explained ? vxs_regress_score(t, s, explained, err) : VXS_FAILED;
    for (size_t c = 1; c < t->covariate_count && !status; c++)
        if (!is_near(s->covariate_coefficients[c], -explained[c]))
            status = vxs_fail(err, VXS_BAD_DATA,
                              "the model's weight of '%s' is not what is taken out of its features",
                              t->covariate_names[c]);
    if (!status)
        s->covariate_coefficients[0] += explained[0];
    free(explained);
    return status;
}

/* Converts back to weights of standardized columns. */
vxs_status vxs_standardize_weights(const vxs_task *t, vxs_solution *s, vxs_error *err)
{
    const double *shift = vxs_view_shift(t->design), *factor = vxs_view_factor(t->design);
    bool regresses = vxs_task_regresses(t);
    vxs_status status = regresses ? take_regression_back(t, s, err) : VXS_OK;
    for (size_t k = 0; k < s->count; k++) {
        if (!t->settings.no_intercept && !regresses)
            s->covariate_coefficients[0] += s->weight[k] * shift[s->index[k]];
        s->weight[k] = factor[s->index[k]] > 0 ? s->weight[k] / factor[s->index[k]] : 0;
    }
    return status;
}

/* Scale and covariate coefficients of one standardized feature, from the conversion of a weight of
 * 1. */
vxs_status vxs_find_scale(const vxs_task *t, size_t feature, double *scale,
                          double *covariate_coefficients, vxs_error *err)
{
    vxs_solution one = { .count = 1, .index = &feature, .weight = scale };
    *scale = 1;
    one.covariate_coefficients =
        vxs_alloc(t->covariate_count + 1, sizeof(*one.covariate_coefficients), err);
    vxs_status status =
        one.covariate_coefficients ? vxs_unstandardize_weights(t, &one, err) : VXS_FAILED;
    for (size_t c = 0; c < t->covariate_count && !status; c++)
        covariate_coefficients[c] = one.covariate_coefficients[c];
    free(one.covariate_coefficients);
    return status;
}

void vxs_standardized_values(const vxs_scored_rows *x, size_t feature, double scale,
                             const double *covariate_coefficients, size_t covariate_count,
                             double *wide, double *values)
{
    memset(wide, 0, x->cohort->n * sizeof(*wide));
    vxs_cohort_add(x->cohort, feature, 1, wide);
    for (size_t i = 0; i < x->count; i++) {
        values[i] = scale * wide[x->rows[i]];
        for (size_t f = 0; f < covariate_count; f++)
            values[i] += covariate_coefficients[f] * x->covariates[f * x->stride + i];
    }
}

/* ---- The encoder ----------------------------------------------------------------------------- */

static vxs_status decode(const vxs_task *t, vxs_output_fit *o, vxs_error *err)
{
    return vxs_unstandardize_weights(t, &o->fit, err);
}

static vxs_status encode(const vxs_task *t, const vxs_output_fit *o, vxs_solution *fit,
                         vxs_error *err)
{
    (void)o;
    return vxs_standardize_weights(t, fit, err);
}

static vxs_status score(const vxs_output_fit *o, const vxs_scored_rows *x, double *scores,
                        vxs_error *err)
{
    double *wide = vxs_alloc(x->cohort->n, sizeof(*wide), err);
    for (size_t k = 0; k < o->fit.count && wide && x->count > 0; k++)
        vxs_cohort_add(x->cohort, o->fit.index[k], o->fit.weight[k], wide);
    for (size_t i = 0; i < x->count && wide; i++)
        scores[i] += wide[x->rows[i]];
    free(wide);
    return wide ? VXS_OK : VXS_FAILED;
}

const vxs_encoder vxs_linear_encoder = { .decode = decode, .encode = encode, .score = score };

/* ---- Scores ---------------------------------------------------------------------------------- */

vxs_status vxs_output_score(const vxs_output_fit *o, const vxs_scored_rows *x, double *scores,
                            size_t covariate_count, vxs_error *err)
{
    memset(scores, 0, x->count * sizeof(*scores));
    vxs_status status = o->encoder->score(o, x, scores, err);
    for (size_t f = 0; f < covariate_count && !status; f++)
        for (size_t i = 0; i < x->count; i++)
            scores[i] += o->fit.covariate_coefficients[f] * x->covariates[f * x->stride + i];
    return status;
}

const double *vxs_output_sensitivity(const vxs_output_fit *o)
{
    return o->encoder && o->encoder->sensitivity ? o->encoder->sensitivity(o) : NULL;
}

void vxs_output_release(vxs_output_fit *o)
{
    if (o->encoder && o->encoder->release)
        o->encoder->release(o->encoded);
    vxs_solution_release(&o->fit);
    o->encoded = NULL;
}
