/* machine_problem.c - the problem of a kernel machine: the kernel between a task's subjects, in
 * memory, in tiles or of low rank. */
#include "model/machine.h"
#include "voxsift/internal/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void release_machines(vxs_prepared *prepared)
{
    vxs_prepared_machine *m = (vxs_prepared_machine *)prepared;
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

static vxs_status make_matrix(const vxs_task *t, vxs_prepared_machine *m, vxs_error *err)
{
    if (!m->values)
        m->values = vxs_kernel_borrow(m->pool, t->cohort->n, err);
    if (!m->values)
        return VXS_FAILED;
    if (m->varies)
        vxs_kernel_fill(&m->kernel, &m->training, m->values);
    else
        memset(m->values, 0, t->n * t->n * sizeof(*m->values));
    return vxs_grams_lend(m->values, t->n, 1, 1, &m->design, err);
}

static vxs_status make_design(const vxs_context *context, const vxs_task *t,
                              vxs_prepared_machine *m, vxs_error *err)
{
    vxs_kernel kernel = m->kernel;
    kernel.factor = m->varies ? m->spread : 0;
    if (m->rank > 0)
        return vxs_low_rank_new(context, &kernel, &m->training, m->rank, m->room, &m->design, err);
    return m->of_features ? vxs_kernel_tiles_new(&kernel, &m->training, m->room, &m->design, err)
                          : make_matrix(t, m, err);
}

/* Kernels between training subjects; 0 if their features do not differ. What they are divided by is
 * the same for every gamma. */
static vxs_status make_kernel(const vxs_context *context, const vxs_task *t,
                              vxs_prepared_machine *m, vxs_error *err)
{
    bool centers = t->settings.standardize != (int)VXS_STANDARDIZE_NONE, differ = true;
    vxs_status status = VXS_OK;
    if (!(m->kernel.scale > 0)) {
        status = m->rank > 0
                     ? vxs_kernel_scale_roughly(&m->kernel, &m->training, t->weights, &differ, err)
                     : vxs_kernel_scale(&m->kernel, &m->training, t->weights, &differ, err);
        bool apart = m->of_features ? differ : vxs_residual_rows_vary(&m->training);
        m->varies = apart && (differ || !centers);
    }
    if (!status)
        status = make_design(context, t, m, err);
    if (!status)
        m->norm = vxs_kernel_norm_of(m->design);
    return status;
}

static double gamma_of(const vxs_svm_settings *s)
{
    return s->gamma > 0 ? s->gamma : 1;
}

/* Another gamma is another kernel of the same products; one at a time is kept. */
static vxs_status change_gamma(const vxs_context *context, const vxs_task *t,
                               vxs_prepared_machine *m, double gamma, vxs_error *err)
{
    if (!vxs_kernel_is_curved(m->kernel.kind) || m->kernel.gamma == gamma)
        return VXS_OK;
    vxs_design_free(m->design);
    m->design = NULL;
    m->kernel.gamma = gamma;
    return make_kernel(context, t, m, err);
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

/* Where the kernel is of low rank, products of all pairs are of use only if they are no more than
 * the features. */
static bool is_of_features(const vxs_task *t, const vxs_method_settings *settings)
{
    if (vxs_kernel_is_given(settings))
        return false;
    return is_too_large(t, settings->svm.memory) ||
           (settings->svm.rank > 0 && t->cohort->n > t->cohort->p);
}

/* How many subjects a block of the kernel may have: beside it stand factors of a part of it, in all
 * twice as much. */
static size_t room_in(double left)
{
    return left > 0 ? (size_t)sqrt(left / (2 * sizeof(double))) : 1;
}

/* Of the training subjects. */
static vxs_status read_rows(const vxs_context *context, const vxs_task *t, int64_t memory,
                            vxs_prepared_machine *m, vxs_error *err)
{
    const size_t rank = m->rank < t->n ? m->rank : t->n;
    double features = (double)t->n * (double)t->cohort->p * sizeof(double);
    double factor = (double)t->n * (double)rank * sizeof(double);
    double left = memory_of(memory) - features - factor;
    if (left < features)
        return vxs_fail(err, VXS_FAILED,
                        "the %s of %zu subjects takes %.3g GB and their features %.3g GB, more "
                        "than '--mem' or half of the machine's memory, %.3g GB",
                        rank > 0 ? "factor of the kernel" : "kernel", t->cohort->n,
                        rank > 0 ? factor / 1e9
                                 : 16e-9 * (double)t->cohort->n * (double)t->cohort->n,
                        features / 1e9, memory_of(memory) / 1e9);
    m->room = room_in(left);
    if (!t->products_shared && rank == 0)
        vxs_log(context, VXS_LOG_INFO,
                "the kernel of %zu subjects takes %.3g GB: it is made in tiles, of at most %zu "
                "subjects at a time ('--mem')",
                t->cohort->n, 16e-9 * (double)t->cohort->n * (double)t->cohort->n, m->room);
    vxs_status status = vxs_design_measure(t->design, err);
    return status ? status : vxs_kernel_rows_read(context, t->design, &m->training, err);
}

static vxs_status find_products(const vxs_context *context, const vxs_task *t,
                                const vxs_method_settings *settings, vxs_prepared_machine *m,
                                vxs_error *err)
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
        return change_gamma(context, t, (vxs_prepared_machine *)t->prepared, gamma_of(s), err);
    vxs_prepared_machine *m = vxs_alloc(1, sizeof(*m), err);
    if (!m)
        return VXS_FAILED;
    *m = (vxs_prepared_machine){ .head = { release_machines },
                                 .spread = vxs_machine_spread(t),
                                 .rank = (size_t)s->rank,
                                 .room = t->n,
                                 .pool = t->products };
    m->kernel = (vxs_kernel){ .kind = s->kernel,
                              .gamma = gamma_of(s),
                              .constant = s->constant,
                              .degree = (int)s->degree,
                              .factor = m->spread };
    t->prepared = &m->head;
    uint64_t read = vxs_design_read(t->design);
    vxs_status status = vxs_share_kernel(context, t, settings, err);
    m->of_features = is_of_features(t, settings);
    if (!status)
        status = m->of_features ? read_rows(context, t, s->memory, m, err)
                                : find_products(context, t, settings, m, err);
    /* the products that folds share are not of one fold; `unit` has measured the columns as well */
    bool reads =
        !vxs_kernel_is_given(settings) && !m->of_features && (m->own || !t->products_shared);
    m->passes = (reads ? 1 : 0) + vxs_machine_passes(t, read);
    return status ? status : make_kernel(context, t, m, err);
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
    const vxs_prepared_machine *m = (const vxs_prepared_machine *)t->prepared;
    problem->design = m->design;
    problem->penalty = &m->norm.penalty;
    problem->loss.threshold = settings->svm.epsilon * m->spread;
    problem->covariate_count = t->settings.no_intercept ? 0 : 1;
    return VXS_OK;
}
