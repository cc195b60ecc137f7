/* machine.c - the encoder of kernel machines: products of subjects become kernels, weights of
 * subjects become weights of features.
 *
 * In training all is computed from inner products of subjects (subject_products.c), scores of test
 * subjects as well. A linear machine is then a weight for each feature, w = X'a; of the other
 * kernels the model keeps the training subjects' features, and the map shows the mean gradient of
 * the score over the training subjects, which is w where the kernel is linear. */
#include "model/machine.h"
#include "model/estimators.h"
#include "voxsift/internal/machine.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The problem ----------------------------------------------------------------------------- */

typedef struct {
    vxs_prepared head;
    const vxs_products *products;
    bool own;
    double passes; /* made for this task; the first fit takes them over */
    vxs_residual_rows rows;
    vxs_kernel kernel;
    double spread; /* standard deviation of the target */
    vxs_kernel_rows training;
    bool varies;
    double *values; /* of the kernel, unless it is made in */
    bool tiles;     /* of the features, of at most as many subjects: */
    size_t room;
    vxs_products *pool;
    vxs_design *design;
    vxs_kernel_norm norm;
} machines;

static void release_machines(vxs_prepared *prepared)
{
    machines *m = (machines *)prepared;
    vxs_design_free(m->design);
    if (m->values)
        vxs_kernel_return(m->pool, m->values);
    vxs_kernel_rows_release(&m->training);
    vxs_residual_rows_release(&m->rows);
    if (m->own)
        vxs_products_free((vxs_products *)m->products);
    free(m);
}

double vxs_machine_spread(const vxs_task *t)
{
    double mean = 0, square = 0, total = vxs_task_total(t);
    if (t->class_count > 0)
        return 1;
    for (size_t i = 0; i < t->n; i++)
        mean += vxs_task_weight(t, i) * t->score[i] / total;
    for (size_t i = 0; i < t->n; i++)
        square += vxs_task_weight(t, i) * (t->score[i] - mean) * (t->score[i] - mean) / total;
    return square > 0 ? sqrt(square) : 1;
}

double vxs_machine_passes(const vxs_task *t, uint64_t read)
{
    return (double)(vxs_design_read(t->design) - read) / (double)t->cohort->p;
}

/* Kernels between training subjects; 0 if their features do not differ. What they are divided by is
 * the same for every gamma. */
static vxs_status make_kernel(const vxs_task *t, machines *m, vxs_error *err)
{
    bool centers = t->settings.standardize != (int)VXS_STANDARDIZE_NONE, differ = true;
    vxs_status status = VXS_OK;
    if (!(m->kernel.scale > 0)) {
        status = vxs_kernel_scale(&m->kernel, &m->training, t->weights, &differ, err);
        bool apart = m->tiles ? differ : vxs_residual_rows_vary(&m->training);
        m->varies = apart && (differ || !centers);
    }
    m->kernel.factor = m->varies ? m->spread : 0;
    if (!status && m->tiles)
        status = vxs_kernel_tiles_new(&m->kernel, &m->training, m->room, &m->design, err);
    m->kernel.factor = m->spread;
    if (status || m->tiles) {
        m->norm = vxs_kernel_norm_of(m->design);
        return status;
    }
    if (!m->values)
        m->values = vxs_kernel_borrow(m->pool, t->cohort->n, err);
    if (!m->values)
        return VXS_FAILED;
    if (m->varies)
        vxs_kernel_fill(&m->kernel, &m->training, m->values);
    else
        memset(m->values, 0, t->n * t->n * sizeof(*m->values));
    status = vxs_grams_lend(m->values, t->n, 1, 1, &m->design, err);
    if (!status)
        m->norm = vxs_kernel_norm_of(m->design);
    return status;
}

static double gamma_of(const vxs_svm_settings *s)
{
    return s->gamma > 0 ? s->gamma : 1;
}

/* Another gamma is another kernel of the same products; one at a time is kept. */
static vxs_status change_gamma(const vxs_task *t, machines *m, double gamma, vxs_error *err)
{
    if (!vxs_kernel_is_curved(m->kernel.kind) || m->kernel.gamma == gamma)
        return VXS_OK;
    vxs_design_free(m->design);
    m->design = NULL;
    m->kernel.gamma = gamma;
    return make_kernel(t, m, err);
}

/* The kernel of its subjects, and with `unit` products of its own between all. */
double vxs_machine_bytes(const vxs_task *t)
{
    double n = (double)t->n, all = (double)t->cohort->n;
    bool unit = t->settings.standardize == (int)VXS_STANDARDIZE_UNIT;
    return (n * n + (unit ? all * all : 0)) * sizeof(double);
}

static double memory_of(int64_t memory)
{
    return memory > 0 ? (double)memory : (double)vxs_memory_of_machine() / 2;
}

/* Products of all rows of the cohort and the kernel of as many; folds differ, and do alike. */
static bool is_too_large(const vxs_task *t, int64_t memory)
{
    double n = (double)t->cohort->n;
    return 2 * n * n * sizeof(double) > memory_of(memory);
}

/* Features of the training subjects, and how many of these a block of the kernel may have: beside
 * it stand factors of a part of it, in all twice as much. */
static vxs_status read_rows(const vxs_context *context, const vxs_task *t, int64_t memory,
                            machines *m, vxs_error *err)
{
    double features = (double)t->n * (double)t->cohort->p * sizeof(double);
    double left = memory_of(memory) - features;
    if (left < features)
        return vxs_fail(err, VXS_FAILED,
                        "the kernel of %zu subjects takes %.3g GB and their features %.3g GB, more "
                        "than '--mem' or half of the machine's memory, %.3g GB",
                        t->cohort->n, 16e-9 * (double)t->cohort->n * (double)t->cohort->n,
                        features / 1e9, memory_of(memory) / 1e9);
    m->room = (size_t)sqrt(left / (2 * sizeof(double)));
    if (!t->products_shared)
        vxs_log(context, VXS_LOG_INFO,
                "the kernel of %zu subjects takes %.3g GB: it is made in tiles, of at most %zu "
                "subjects at a time ('--mem')",
                t->cohort->n, 16e-9 * (double)t->cohort->n * (double)t->cohort->n, m->room);
    vxs_status status = vxs_design_measure(t->design, err);
    return status ? status : vxs_kernel_rows_read(context, t->design, &m->training, err);
}

static vxs_status find_products(const vxs_context *context, const vxs_task *t,
                                const vxs_method_settings *settings, machines *m, vxs_error *err)
{
    vxs_status status = VXS_OK;
    if (vxs_kernel_is_given(settings))
        m->products = t->products->given;
    else
        status = vxs_products_of(context, t, &m->products, &m->own, err);
    if (!status)
        status = vxs_residual_rows_init(t, m->products->values, m->products->n,
                                        settings->svm.kernel == VXS_KERNEL_RBF, &m->rows, err);
    if (!status)
        status = vxs_kernel_rows_init(&m->rows.products, &m->training, err);
    m->training.nthreads = vxs_context_threads(context);
    return status;
}

static vxs_status make_machines(const vxs_context *context, vxs_task *t,
                                const vxs_method_settings *settings, vxs_error *err)
{
    const vxs_svm_settings *s = &settings->svm;
    if (t->prepared)
        return change_gamma(t, (machines *)t->prepared, gamma_of(s), err);
    machines *m = vxs_alloc(1, sizeof(*m), err);
    if (!m)
        return VXS_FAILED;
    *m = (machines){ .head = { release_machines },
                     .spread = vxs_machine_spread(t),
                     .pool = t->products };
    m->kernel = (vxs_kernel){ .kind = s->kernel,
                              .gamma = gamma_of(s),
                              .constant = s->constant,
                              .degree = (int)s->degree,
                              .factor = m->spread };
    t->prepared = &m->head;
    uint64_t read = vxs_design_read(t->design);
    vxs_status status = vxs_share_kernel(context, t, settings, err);
    m->tiles = !vxs_kernel_is_given(settings) && is_too_large(t, s->memory);
    if (!status)
        status = m->tiles ? read_rows(context, t, s->memory, m, err)
                          : find_products(context, t, settings, m, err);
    /* the products that folds share are not of one fold; `unit` has measured the columns as well */
    bool reads = !vxs_kernel_is_given(settings) && !m->tiles && (m->own || !t->products_shared);
    m->passes = (reads ? 1 : 0) + vxs_machine_passes(t, read);
    return status ? status : make_kernel(t, m, err);
}

vxs_status vxs_prepare_machine(const vxs_context *context, vxs_task *t, size_t output,
                               const vxs_method_settings *settings, vxs_problem *problem,
                               vxs_error *err)
{
    (void)output;
    vxs_status status = make_machines(context, t, settings, err);
    if (status) {
        vxs_task_unprepare(t);
        return status;
    }
    const machines *m = (const machines *)t->prepared;
    problem->design = m->design;
    problem->penalty = &m->norm.penalty;
    problem->loss.threshold = settings->svm.epsilon * m->spread;
    problem->covariate_count = t->settings.no_intercept ? 0 : 1;
    return VXS_OK;
}

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

/* Standardized features of the training subjects, and what standardizes those of others. */
static vxs_status keep_features(const vxs_task *t, vxs_machine *m, vxs_error *err)
{
    size_t n = t->n, p = t->cohort->p, q = t->covariate_count;
    double *wide = vxs_alloc(t->cohort->n + n, sizeof(*wide), err);
    const vxs_scored_rows rows = { t->cohort, t->rows, t->covariates, n, n };
    m->p = p;
    m->covariate_count = q;
    m->values = vxs_alloc(p, vxs_times(n, sizeof(*m->values)), err);
    m->scales = vxs_alloc(p, (1 + q) * sizeof(*m->scales), err);
    vxs_status status = wide && m->values && m->scales ? VXS_OK : VXS_FAILED;
    for (size_t j = 0; j < p && !status; j++) {
        double *scale = m->scales + j * (1 + q), *values = wide + t->cohort->n;
        status = vxs_find_scale(t, j, scale, scale + 1, err);
        if (status)
            break;
        vxs_standardized_values(&rows, j, *scale, scale + 1, q, wide, values);
        for (size_t i = 0; i < n; i++)
            m->values[j * n + i] = (float)values[i];
    }
    free(wide);
    return status;
}

static vxs_status decode(const vxs_task *t, vxs_output_fit *o, vxs_error *err)
{
    machines *prepared = (machines *)t->prepared;
    vxs_status status = vxs_machine_begin(t, &prepared->passes, o, err);
    vxs_machine *m = o->encoded;
    if (status)
        return status;
    for (size_t k = 0; k < o->fit.count; k++)
        m->weight[o->fit.index[k]] = o->fit.weight[k];
    m->kernel = prepared->kernel;
    o->fit.certificate.gamma = vxs_kernel_is_curved(m->kernel.kind) ? m->kernel.gamma : 0;
    m->products = prepared->products;
    m->residual = prepared->tiles ? NULL : &prepared->rows.products;
    m->own = prepared->training.own;
    return prepared->tiles ? keep_features(t, m, err) : VXS_OK;
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
static vxs_status flatten(const machines *prepared, vxs_machine *m, vxs_solution *fit,
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
    const machines *prepared = (const machines *)t->prepared;
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
        m->values = NULL;
    }
    return status;
}

static vxs_status keep(const vxs_task *t, vxs_output_fit *o, vxs_error *err)
{
    vxs_machine *m = o->encoded;
    uint64_t read = vxs_design_read(t->design);
    if (!vxs_kernel_is_curved(m->kernel.kind))
        return VXS_OK;
    const machines *prepared = (const machines *)t->prepared;
    vxs_status status = vxs_machine_sensitivity(m, &prepared->training, t, err);
    o->fit.certificate.passes += vxs_machine_passes(t, read);
    return status || m->values ? status : keep_features(t, m, err);
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
        scores[i] += cblas_ddot((int)m->n, m->weight, 1, row, 1);
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
    return m->values ? vxs_machine_score_features(m, x, scores, err)
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
    const machines *prepared = (const machines *)t->prepared;
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
