/* regress.c - covariates regressed out of the features (design/view.c), in training and for new
 * subjects.
 *
 * The score of a subject is linear in its features, and so is their regression on covariates: the
 * part of the score that covariates explain is one regression, whose coefficients the model stores
 * as those of the covariates. */
#include "linalg/gram_schmidt.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

bool vxs_task_regresses(const vxs_task *t)
{
    return t->settings.confounds_as == VXS_CONFOUNDS_REGRESS && t->covariate_count > 1;
}

/* Column k of the covariates, 0 for subjects without weight or outside the regression, joins an
 * orthonormal basis. */
static bool joins(const vxs_task *t, size_t k, bool regression, double *basis, size_t rank)
{
    double *v = basis + rank * t->n;
    for (size_t i = 0; i < t->n; i++)
        v[i] = vxs_task_weight(t, i) > 0 && (!regression || t->regression_subject[i])
                   ? t->covariates[k * t->n + i]
                   : 0;
    return vxs_gram_schmidt_append(basis, t->n, rank, VXS_INDEPENDENT_COVARIATE, 0, NULL);
}

/* A covariate that varies among all subjects, but not among those of the regression, would stay in
 * the features: a site without controls. */
static vxs_status check_identified(const vxs_task *t, vxs_error *err)
{
    size_t all = 0, some = 0;
    double *basis = vxs_alloc(2 * (t->covariate_count + 1), t->n * sizeof(*basis), err);
    double *of_some = basis ? basis + (t->covariate_count + 1) * t->n : NULL;
    vxs_status status = basis ? VXS_OK : VXS_FAILED;
    for (size_t k = 0; k < t->covariate_count && !status; k++) {
        bool varies = joins(t, k, false, basis, all), identified = joins(t, k, true, of_some, some);
        all += varies;
        some += identified;
        if (all > some)
            status = vxs_fail(err, VXS_BAD_DATA,
                              "the subjects of '--regress-on %s' do not identify the effect of "
                              "'%s', which would stay in the features of the others; choose other "
                              "subjects, or leave that covariate out",
                              t->settings.regress_on,
                              t->covariate_names ? t->covariate_names[k] : "a confound");
    }
    free(basis);
    return status;
}

vxs_status vxs_check_regression_subjects(const vxs_task *t, size_t count, vxs_error *err)
{
    if (count > t->covariate_count)
        return check_identified(t, err);
    return vxs_fail(err, VXS_BAD_DATA,
                    "%zu subjects are '%s': too few for a regression on %zu confounds", count,
                    t->settings.regress_on, t->covariate_count - 1);
}

/* The part of the raw features' score that intercept and covariates explain. */
vxs_status vxs_regress_score(const vxs_task *t, const vxs_solution *s, double *explained,
                             vxs_error *err)
{
    size_t n = t->n, q = t->covariate_count, m = 0;
    double *wide = vxs_alloc(t->cohort->n, sizeof(*wide), err);
    double *score = vxs_alloc(n, sizeof(*score), err);
    double *columns = vxs_alloc(n, q * sizeof(*columns), err);
    double *weights = vxs_alloc(n, sizeof(*weights), err);
    bool converged = true;
    vxs_status status = wide && score && columns && weights ? VXS_OK : VXS_FAILED;
    for (size_t k = 0; k < s->count && !status; k++)
        vxs_cohort_add(t->cohort, s->index[k], s->weight[k], wide);
    for (size_t i = 0; i < n && !status; i++)
        m += !t->regression_subject || t->regression_subject[i];
    for (size_t i = 0, at = 0; i < n && !status; i++) {
        if (t->regression_subject && !t->regression_subject[i])
            continue;
        score[at] = wide[t->rows[i]];
        weights[at] = vxs_task_weight(t, i);
        for (size_t c = 0; c < q; c++)
            columns[c * m + at] = t->covariates[c * n + i];
        at++;
    }
    if (!status)
        status = vxs_fit_columns(&(vxs_loss){ .kind = &vxs_squared_loss,
                                              .n = m,
                                              .y = score,
                                              .u = t->weights ? weights : NULL },
                                 columns, q, explained, &converged, err);
    if (!status && !converged)
        status = vxs_fail(err, VXS_BAD_DATA,
                          "confounds depend on each other but for rounding, so that what they "
                          "explain cannot be computed; leave one of these out");
    free(wide);
    free(score);
    free(columns);
    free(weights);
    return status;
}

/* Selected blocks have the problem's intercept alone; model files have a coefficient for each
 * covariate. */
static vxs_status widen_selection(const vxs_task *t, vxs_selected *selected, vxs_error *err)
{
    double *larger =
        vxs_resize(selected->covariate_coefficients, t->covariate_count, sizeof(*larger), err);
    if (!larger)
        return VXS_FAILED;
    for (size_t c = 1; c < t->covariate_count; c++)
        larger[c] = 0;
    selected->covariate_coefficients = larger;
    return VXS_OK;
}

vxs_status vxs_regress_widen(const vxs_task *t, vxs_solution *s, vxs_error *err)
{
    if (!vxs_task_regresses(t))
        return VXS_OK;
    double *larger =
        vxs_resize(s->covariate_coefficients, t->covariate_count, sizeof(*larger), err);
    if (!larger)
        return VXS_FAILED;
    for (size_t c = 1; c < t->covariate_count; c++)
        larger[c] = 0;
    s->covariate_coefficients = larger;
    return s->selected ? widen_selection(t, s->selected, err) : VXS_OK;
}

/* Converts the problem's intercept to that of raw features, with coefficients of the covariates. */
vxs_status vxs_regress_out(const vxs_task *t, vxs_solution *s, vxs_error *err)
{
    double intercept = s->covariate_coefficients[0];
    double *larger =
        vxs_resize(s->covariate_coefficients, t->covariate_count, sizeof(*larger), err);
    if (!larger)
        return VXS_FAILED;
    s->covariate_coefficients = larger;
    if (s->selected && widen_selection(t, s->selected, err))
        return VXS_FAILED;
    vxs_status status = vxs_regress_score(t, s, s->covariate_coefficients, err);
    for (size_t c = 0; c < t->covariate_count; c++)
        s->covariate_coefficients[c] = (c == 0 ? intercept : 0) - s->covariate_coefficients[c];
    return status;
}
