/* machine.c - the encoder of kernel machines: products of subjects become kernels, weights of
 * subjects become weights of features.
 *
 * In training all is computed from inner products of subjects (subject_products.c), scores of test
 * subjects as well. A linear machine is then a weight for each feature, w = X'a; of the other
 * kernels the model keeps the training subjects' features, and the map shows the mean gradient of
 * the score over the training subjects, which is w where the kernel is linear. */
#include "model/machine.h"
#include "voxsift/internal/machine.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Machines -------------------------------------------------------------------------------- */

void vxs_machine_free(void *machine)
{
    vxs_machine *m = machine;
    if (!m)
        return;
    free(m->subject);
    free(m->weight);
    free(m->index);
    free(m->values);
    free(m->scales);
    free(m->kernel_weight);
    free(m->kernel_norm);
    free(m->mixed);
    vxs_residual_rows_release(&m->rows);
    free(m->sensitivity);
    free(m->flat);
    free(m->kernel_rows);
    free(m->landmark);
    free(m->landmark_weight);
    free(m->placed);
    free(m->exact);
    free(m);
}

vxs_machine *vxs_machine_new(size_t n, vxs_error *err)
{
    vxs_machine *m = vxs_alloc(1, sizeof(*m), err);
    if (!m)
        return NULL;
    *m = (vxs_machine){ .n = n };
    m->weight = vxs_alloc(n + 1, sizeof(*m->weight), err);
    m->index = vxs_alloc(n + 1, sizeof(*m->index), err);
    for (size_t i = 0; i < n && m->index; i++)
        m->index[i] = i;
    if (m->weight && m->index)
        return m;
    vxs_machine_free(m);
    return NULL;
}

/* The solver's intercept is the only coefficient; the other covariates are out of the features. */
static vxs_status widen(const vxs_task *t, vxs_solution *fit, vxs_error *err)
{
    double *larger =
        vxs_resize(fit->covariate_coefficients, t->covariate_count + 1, sizeof(*larger), err);
    if (!larger)
        return VXS_FAILED;
    fit->covariate_coefficients = larger;
    for (size_t c = t->settings.no_intercept ? 0 : 1; c < t->covariate_count; c++)
        larger[c] = 0;
    return VXS_OK;
}

vxs_status vxs_machine_begin(const vxs_task *t, double *passes, vxs_output_fit *o, vxs_error *err)
{
    vxs_machine *m = vxs_machine_new(t->n, err);
    o->encoded = m;
    o->fit.certificate.passes += *passes;
    *passes = 0;
    vxs_status status = m ? widen(t, &o->fit, err) : VXS_FAILED;
    if (status)
        return status;
    m->intercept = t->settings.no_intercept ? 0 : o->fit.covariate_coefficients[0];
    m->regresses = vxs_task_regresses(t);
    return VXS_OK;
}

/* The subjects whose features are kept, with their covariates. */
static vxs_status list_kept(const vxs_task *t, const vxs_machine *m, vxs_scored_rows *kept,
                            size_t **row, double **covariates, vxs_error *err)
{
    const size_t q = t->covariate_count;
    *kept = (vxs_scored_rows){ t->cohort, t->rows, t->covariates, t->n, t->n };
    if (!m->landmark)
        return VXS_OK;
    *row = vxs_alloc(m->rank + 1, sizeof(**row), err);
    *covariates = vxs_alloc(m->rank + 1, (q + 1) * sizeof(**covariates), err);
    if (!*row || !*covariates)
        return VXS_FAILED;
    for (size_t k = 0; k < m->rank; k++) {
        (*row)[k] = t->rows[m->landmark[k]];
        for (size_t c = 0; c < q; c++)
            (*covariates)[c * m->rank + k] = t->covariates[c * t->n + m->landmark[k]];
    }
    *kept = (vxs_scored_rows){ t->cohort, *row, *covariates, m->rank, m->rank };
    return VXS_OK;
}

static vxs_status allocate_kept(vxs_machine *m, size_t count, vxs_error *err)
{
    m->scales = vxs_alloc(m->p, (1 + m->covariate_count) * sizeof(*m->scales), err);
    if (m->landmark)
        m->exact = vxs_alloc(m->p, vxs_times(count, sizeof(*m->exact)), err);
    else
        m->values = vxs_alloc(m->p, vxs_times(count, sizeof(*m->values)), err);
    return m->scales && (m->exact || m->values) ? VXS_OK : VXS_FAILED;
}

/* Standardized features of the training subjects or landmarks, and what standardizes those of
 * others. */
static vxs_status keep_features(const vxs_task *t, vxs_machine *m, vxs_error *err)
{
    size_t p = t->cohort->p, q = t->covariate_count, *row = NULL;
    double *wide = vxs_alloc(t->cohort->n + t->n, sizeof(*wide), err), *covariates = NULL;
    vxs_scored_rows rows;
    m->p = p;
    m->covariate_count = q;
    vxs_status status = wide ? list_kept(t, m, &rows, &row, &covariates, err) : VXS_FAILED;
    if (!status)
        status = allocate_kept(m, rows.count, err);
    for (size_t j = 0; j < p && !status; j++) {
        double *scale = m->scales + j * (1 + q), *values = wide + t->cohort->n;
        status = vxs_find_scale(t, j, scale, scale + 1, err);
        if (status)
            break;
        values = m->exact ? m->exact + j * rows.count : values;
        vxs_standardized_values(&rows, j, *scale, scale + 1, q, wide, values);
        for (size_t i = 0; i < rows.count && m->values; i++)
            m->values[j * rows.count + i] = (float)values[i];
    }
    free(wide);
    free(row);
    free(covariates);
    return status;
}

static vxs_status decode(const vxs_task *t, vxs_output_fit *o, vxs_error *err)
{
    vxs_prepared_machine *prepared = (vxs_prepared_machine *)t->prepared;
    vxs_status status = vxs_machine_begin(t, &prepared->passes, o, err);
    vxs_machine *m = o->encoded;
    if (status)
        return status;
    for (size_t k = 0; k < o->fit.count; k++)
        m->weight[o->fit.index[k]] = o->fit.weight[k];
    m->kernel = prepared->kernel;
    o->fit.certificate.gamma = vxs_kernel_is_curved(m->kernel.kind) ? m->kernel.gamma : 0;
    m->products = prepared->products;
    m->residual = prepared->of_features ? NULL : &prepared->rows.products;
    m->own = prepared->training.own;
    status = vxs_machine_reduce(prepared, m, &o->fit.certificate, err);
    return !status && prepared->of_features ? keep_features(t, m, err) : status;
}

/* ---- Maps ------------------------------------------------------------------------------------ */

vxs_status vxs_machine_scan(const vxs_task *t, const double *v, const double *factor,
                            vxs_solution *fit, vxs_error *err)
{
    size_t p = t->cohort->p, count = 0;
    double *w = vxs_alloc(p, sizeof(*w), err), *weight = NULL;
    size_t *index = NULL;
    vxs_status status = w ? vxs_design_measure(t->design, err) : VXS_FAILED;
    if (!status) {
        vxs_design_scan(t->design, v, 1, w);
        for (size_t j = 0; j < p; j++) {
            w[j] *= factor ? factor[j] : 1;
            count += w[j] != 0;
        }
        index = vxs_alloc(count + 1, sizeof(*index), err);
        weight = vxs_alloc(count + 1, sizeof(*weight), err);
        status = index && weight ? VXS_OK : VXS_FAILED;
    }
    for (size_t j = 0, k = 0; j < p && !status; j++)
        if (w[j] != 0) {
            index[k] = j;
            weight[k++] = w[j];
        }
    free(w);
    if (status) {
        free(index);
        free(weight);
        return status;
    }
    free(fit->index);
    free(fit->weight);
    fit->index = index;
    fit->weight = weight;
    fit->count = fit->certificate.nonzero = count;
    return VXS_OK;
}

/* Of a kernel that is not linear weights are gradients and have no part in the score. */
static vxs_status scale_gradient(const vxs_task *t, vxs_solution *fit)
{
    const double *factor = vxs_view_factor(t->design);
    for (size_t k = 0; k < fit->count; k++)
        fit->weight[k] *= factor[fit->index[k]];
    return VXS_OK;
}

/* A kernel that is given has weights of its values, and none of features. */
static vxs_status flatten(const vxs_prepared_machine *prepared, vxs_machine *m, vxs_solution *fit,
                          vxs_error *err)
{
    const vxs_residual_products *r = &prepared->rows.products;
    double by = m->kernel.factor / m->kernel.scale;
    double *work = vxs_alloc(2 * (r->columns + 1), sizeof(*work), err);
    m->flat = vxs_alloc(m->n, sizeof(*m->flat), err);
    if (!work || !m->flat) {
        free(work);
        return VXS_FAILED;
    }
    double *coefficients = work + r->columns + 1;
    vxs_residual_products_flatten(r, m->weight, work, m->flat, coefficients);
    for (size_t l = 0; l < m->n; l++)
        m->flat[l] *= by;
    for (size_t c = 0; c < r->columns; c++)
        fit->covariate_coefficients[c] += by * coefficients[c];
    fit->count = fit->certificate.nonzero = 0;
    m->products = NULL;
    m->residual = NULL;
    free(work);
    return VXS_OK;
}

static vxs_status map(const vxs_task *t, vxs_output_fit *o, vxs_error *err)
{
    const vxs_prepared_machine *prepared = (const vxs_prepared_machine *)t->prepared;
    vxs_machine *m = o->encoded;
    if (m->kernel.kind == VXS_KERNEL_PRECOMPUTED)
        return flatten(prepared, m, &o->fit, err);
    uint64_t read = vxs_design_read(t->design);
    double *v = vxs_alloc(t->n, sizeof(*v), err);
    vxs_status status = v ? VXS_OK : VXS_FAILED;
    if (!status)
        status = vxs_machine_gradient(m, &prepared->training, t, v, err);
    if (!status)
        status = vxs_machine_scan(t, v, NULL, &o->fit, err);
    if (!status)
        o->fit.certificate.passes += vxs_machine_passes(t, read);
    free(v);
    if (!status)
        status = m->kernel.kind == VXS_KERNEL_LINEAR ? vxs_unstandardize_weights(t, &o->fit, err)
                                                     : scale_gradient(t, &o->fit);
    m->products = NULL;
    m->residual = NULL;
    if (m->kernel.kind == VXS_KERNEL_LINEAR) {
        free(m->values);
        free(m->exact);
        m->values = NULL;
        m->exact = NULL;
    }
    return status;
}

static vxs_status keep(const vxs_task *t, vxs_output_fit *o, vxs_error *err)
{
    vxs_machine *m = o->encoded;
    uint64_t read = vxs_design_read(t->design);
    if (!vxs_kernel_is_curved(m->kernel.kind))
        return VXS_OK;
    const vxs_prepared_machine *prepared = (const vxs_prepared_machine *)t->prepared;
    vxs_status status = vxs_machine_sensitivity(m, &prepared->training, t, err);
    o->fit.certificate.passes += vxs_machine_passes(t, read);
    return status || m->scales ? status : keep_features(t, m, err);
}

/* ---- Scores ---------------------------------------------------------------------------------- */

/* From the products of subjects, while training. */
static vxs_status score_by_products(const vxs_machine *m, const vxs_scored_rows *x, double *scores,
                                    vxs_error *err)
{
    const vxs_residual_products *r = m->residual;
    size_t q = r->columns;
    double *row = vxs_alloc(m->n, sizeof(*row), err);
    double *z = vxs_alloc(4 * (q + 1), sizeof(*z), err);
    vxs_status status = row && z ? VXS_OK : VXS_FAILED;
    for (size_t i = 0; i < x->count && !status; i++) {
        for (size_t c = 0; c < q; c++)
            z[c] = m->regresses ? x->covariates[c * x->stride + i] : 1;
        double other = vxs_residual_products_row(r, x->rows[i], z, z + q + 1, row);
        vxs_kernel_apply(&m->kernel, m->own, other, m->n, row);
        scores[i] += cblas_ddot((int)m->n, vxs_machine_weights(m), 1, row, 1);
    }
    free(row);
    free(z);
    return status;
}

/* From the kernel values of new subjects. */
static vxs_status score_by_rows(const vxs_machine *m, const vxs_scored_rows *x, double *scores,
                                vxs_error *err)
{
    if (!m->kernel_rows)
        return vxs_fail(err, VXS_MISUSE, "a precomputed kernel has no values of new subjects");
    for (size_t i = 0; i < x->count; i++)
        for (size_t l = 0; l < m->n; l++)
            scores[i] += m->flat[l] * m->kernel_rows[x->rows[i] * m->n + l];
    return VXS_OK;
}

vxs_status vxs_machine_score(const vxs_output_fit *o, const vxs_scored_rows *x, double *scores,
                             vxs_error *err)
{
    const vxs_machine *m = o->encoded;
    if (m->residual)
        return score_by_products(m, x, scores, err);
    if (m->kernel.kind == VXS_KERNEL_PRECOMPUTED)
        return score_by_rows(m, x, scores, err);
    return m->values || m->exact ? vxs_machine_score_features(m, x, scores, err)
                                 : vxs_linear_encoder.score(o, x, scores, err);
}

/* ---- For the checker ------------------------------------------------------------------------- */

static bool agree(const double *found, const double *said, size_t count)
{
    double largest = 0, apart = 0;
    for (size_t k = 0; k < count; k++) {
        largest = fmax(largest, fabs(found[k]));
        apart = fmax(apart, fabs(found[k] - said[k]));
    }
    return apart <= 1e-6 * largest;
}

vxs_status vxs_machine_same_weights(const vxs_solution *again, const vxs_solution *fit,
                                    vxs_error *err)
{
    if (again->count != fit->count)
        return vxs_fail(err, VXS_BAD_DATA,
                        "the model has %zu weights of features; those of its subjects give %zu",
                        fit->count, again->count);
    return agree(again->weight, fit->weight, fit->count)
               ? VXS_OK
               : vxs_fail(err, VXS_BAD_DATA,
                          "the model's weights of features are not those of its subjects");
}

/* The weights of subjects, which must give the model's weights of features. */
static vxs_status encode(const vxs_task *t, const vxs_output_fit *o, vxs_solution *fit,
                         vxs_error *err)
{
    const vxs_machine *m = o->encoded;
    const vxs_prepared_machine *prepared = (const vxs_prepared_machine *)t->prepared;
    double *weight = NULL;
    vxs_output_fit again = { .encoder = o->encoder };
    if (m->n != t->n)
        return vxs_fail(err, VXS_BAD_DATA, "the model's weights are of %zu subjects, not of %zu",
                        m->n, t->n);
    again.fit.index = vxs_alloc(t->n + 1, sizeof(*again.fit.index), err);
    again.fit.weight = vxs_alloc(t->n + 1, sizeof(*again.fit.weight), err);
    again.fit.covariate_coefficients = vxs_alloc(t->covariate_count + 1, sizeof(double), err);
    weight = vxs_alloc(t->n + 1, sizeof(*weight), err);
    bool room = again.fit.index && again.fit.weight && again.fit.covariate_coefficients && weight;
    vxs_status status = room ? VXS_OK : VXS_FAILED;
    for (size_t i = 0; i < t->n && !status; i++)
        if (m->weight[i] != 0) {
            again.fit.index[again.fit.count] = i;
            again.fit.weight[again.fit.count++] = m->weight[i];
        }
    if (!status) {
        memcpy(weight, m->weight, t->n * sizeof(*weight));
        again.fit.covariate_coefficients[0] = m->intercept;
        status = decode(t, &again, err);
    }
    if (!status)
        status = map(t, &again, err);
    if (!status)
        status = vxs_machine_same_weights(&again.fit, fit, err);
    const vxs_machine *found = again.encoded;
    if (!status)
        status = vxs_machine_same_landmarks(prepared, &again, o, err);
    if (!status && m->flat && !agree(found->flat, m->flat, m->n))
        status = vxs_fail(err, VXS_BAD_DATA,
                          "the model's weights of kernel values are not those of its subjects");
    if (!status && m->sensitivity)
        status = vxs_machine_sensitivity(again.encoded, &prepared->training, t, err);
    if (!status && m->sensitivity && !agree(found->sensitivity, m->sensitivity, t->cohort->p))
        status =
            vxs_fail(err, VXS_BAD_DATA, "the model's sensitivities are not those of its subjects");
    vxs_output_release(&again);
    if (status) {
        free(weight);
        return status;
    }
    free(fit->weight);
    fit->weight = weight;
    fit->index = m->index;
    fit->count = m->n;
    if (t->covariate_count > 0)
        fit->covariate_coefficients[0] = m->intercept;
    return VXS_OK;
}

bool vxs_machine_is_dense(const vxs_method_settings *settings)
{
    (void)settings;
    return true;
}

static const double *sensitivity(const vxs_output_fit *o)
{
    return ((const vxs_machine *)o->encoded)->sensitivity;
}

const vxs_encoder vxs_machine_encoder = { .without_covariates = true,
                                          .decode = decode,
                                          .map = map,
                                          .keep = keep,
                                          .encode = encode,
                                          .score = vxs_machine_score,
                                          .release = vxs_machine_free,
                                          .sensitivity = sensitivity,
                                          .files = vxs_machine_files,
                                          .read = vxs_machine_read };
