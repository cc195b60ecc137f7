/* subject_products.c - inner products of subjects: one reading of the features for all folds, C,
 * gamma and permutations. */
#include "model/machine.h"
#include "voxsift/internal/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOTHING 1e-12 /* of squares: what rounding leaves of features without their means */

/* ---- Products -------------------------------------------------------------------------------- */

/* A regression takes the means out anyway; far from 0 they would leave rounding behind. */
static bool is_centered(const vxs_task *t)
{
    return t->settings.standardize != (int)VXS_STANDARDIZE_NONE || vxs_task_regresses(t);
}

vxs_products *vxs_products_new(const vxs_task *t, vxs_error *err)
{
    size_t count = t->cohort->p;
    vxs_products *p = vxs_alloc(1, sizeof(*p), err);
    if (!p)
        return NULL;
    *p = (vxs_products){ .lock = PTHREAD_MUTEX_INITIALIZER, .centered = is_centered(t) };
    if (!t->penalties)
        return p;
    p->penalties = vxs_alloc(count, sizeof(*p->penalties), err);
    if (!p->penalties) {
        vxs_products_free(p);
        return NULL;
    }
    memcpy(p->penalties, t->penalties, count * sizeof(*p->penalties));
    return p;
}

void vxs_products_free(vxs_products *p)
{
    if (!p)
        return;
    pthread_mutex_destroy(&p->lock);
    free(p->values);
    free(p->parts);
    free(p->penalties);
    for (size_t k = 0; k < VXS_SPARE_KERNELS; k++)
        free(p->spare[k]);
    vxs_products_free(p->given);
    free(p);
}

double *vxs_kernel_borrow(vxs_products *p, size_t rows, vxs_error *err)
{
    double *kernel = NULL;
    pthread_mutex_lock(&p->lock);
    for (size_t k = 0; k < VXS_SPARE_KERNELS && !kernel; k++) {
        kernel = p->spare[k];
        p->spare[k] = NULL;
    }
    pthread_mutex_unlock(&p->lock);
    /* of all rows, so that any part may have it; what it does not write takes no memory */
    return kernel ? kernel : vxs_alloc(rows, vxs_times(rows, sizeof(*kernel)), err);
}

void vxs_kernel_return(vxs_products *p, double *kernel)
{
    size_t k = 0;
    pthread_mutex_lock(&p->lock);
    while (k < VXS_SPARE_KERNELS && p->spare[k])
        k++;
    if (k < VXS_SPARE_KERNELS)
        p->spare[k] = kernel;
    else
        free(kernel);
    pthread_mutex_unlock(&p->lock);
}

static bool is_scaled_as(const vxs_products *p, const vxs_task *t)
{
    if (p->centered != is_centered(t))
        return false;
    if (!p->penalties || !t->penalties)
        return p->penalties == t->penalties;
    return memcmp(p->penalties, t->penalties, t->cohort->p * sizeof(*p->penalties)) == 0;
}

/* 1 / penalty, or the factor of the part's view. */
static double *factors_of(const vxs_task *t, vxs_error *err)
{
    size_t count = t->cohort->p;
    double *factor = vxs_alloc(count, sizeof(*factor), err);
    bool unit = t->settings.standardize == (int)VXS_STANDARDIZE_UNIT;
    if (factor && unit && vxs_design_measure(t->design, err)) {
        free(factor);
        return NULL;
    }
    for (size_t j = 0; j < count && factor; j++)
        factor[j] = unit ? vxs_view_factor(t->design)[j] : t->penalties ? 1 / t->penalties[j] : 1;
    return factor;
}

typedef struct {
    vxs_design *base;
    double *factor;
    bool center;
} reading;

static vxs_status begin_reading(const vxs_context *context, const vxs_task *t, vxs_products *p,
                                reading *r, vxs_error *err)
{
    *r = (reading){ .factor = factors_of(t, err), .center = p->centered };
    p->n = t->cohort->n;
    return r->factor ? vxs_cohort_design(t->cohort, vxs_context_threads(context), &r->base, err)
                     : VXS_FAILED;
}

static void end_reading(reading *r)
{
    vxs_design_free(r->base);
    free(r->factor);
}

/* Of all rows of the cohort: a part does not know which other subjects it will score. */
static vxs_status make(const vxs_context *context, const vxs_task *t, vxs_products *p,
                       vxs_error *err)
{
    reading r;
    vxs_status status = begin_reading(context, t, p, &r, err);
    double *values = status ? NULL : vxs_alloc(p->n, vxs_times(p->n, sizeof(*values)), err);
    if (!status)
        status = values ? vxs_row_products(context, r.base, r.factor, r.center, values, err)
                        : VXS_FAILED;
    end_reading(&r);
    if (status)
        free(values);
    else
        p->values = values;
    return status;
}

/* Those of the cohort's rows, and of the training subjects of one fold. */
static vxs_status check_memory(const vxs_task *t, vxs_error *err)
{
    double n = (double)t->cohort->n, groups = (double)t->groups.count;
    double needed = groups * (n * n + (double)t->n * (double)t->n) * sizeof(double);
    double there = (double)vxs_memory_of_machine();
    if (needed <= there)
        return VXS_OK;
    return vxs_fail(err, VXS_FAILED,
                    "kernels of %zu groups between %zu subjects take %.3g GB of memory, this "
                    "machine has %.3g GB; fewer groups or subjects take less",
                    t->groups.count, t->cohort->n, needed / 1e9, there / 1e9);
}

static vxs_status make_parts(const vxs_context *context, const vxs_task *t, vxs_products *p,
                             vxs_error *err)
{
    const vxs_groups *g = &t->groups;
    reading r = { .base = NULL };
    double *parts = NULL;
    vxs_status status = check_memory(t, err);
    if (!status)
        status = begin_reading(context, t, p, &r, err);
    size_t each = p->n * p->n;
    if (!status) {
        parts = vxs_alloc(g->count, vxs_times(each, sizeof(*parts)), err);
        status = parts ? VXS_OK : VXS_FAILED;
    }
    for (size_t k = 0; k < g->count && !status; k++)
        status =
            vxs_row_products_of(context, r.base, g->member + g->begin[k], g->end[k] - g->begin[k],
                                r.factor, r.center, parts + k * each, err);
    end_reading(&r);
    if (status) {
        free(parts);
        return status;
    }
    p->parts = parts;
    p->count = g->count;
    return VXS_OK;
}

static vxs_status products_of(const vxs_context *context, const vxs_task *t, bool of_groups,
                              const vxs_products **products, bool *own, vxs_error *err)
{
    vxs_products *common = t->products;
    vxs_status status = VXS_OK;
    bool shared =
        common && t->settings.standardize != (int)VXS_STANDARDIZE_UNIT && is_scaled_as(common, t);
    *own = false;
    if (shared) {
        pthread_mutex_lock(&common->lock);
        if (of_groups && !common->parts)
            status = make_parts(context, t, common, err);
        else if (!of_groups && !common->values)
            status = make(context, t, common, err);
        pthread_mutex_unlock(&common->lock);
        *products = common;
        return status;
    }
    vxs_products *p = vxs_products_new(t, err);
    *own = true;
    *products = p;
    if (!p)
        return VXS_FAILED;
    return of_groups ? make_parts(context, t, p, err) : make(context, t, p, err);
}

vxs_status vxs_products_of(const vxs_context *context, const vxs_task *t,
                           const vxs_products **products, bool *own, vxs_error *err)
{
    return products_of(context, t, false, products, own, err);
}

vxs_status vxs_group_products_of(const vxs_context *context, const vxs_task *t,
                                 const vxs_products **products, bool *own, vxs_error *err)
{
    return products_of(context, t, true, products, own, err);
}

/* ---- Rough ones, for the dense baseline ------------------------------------------------------ */

/* Of features that are stored without zeros, none of which is centered: what is taken out of
 * products later takes out any center. */
static void multiply_sparse(const vxs_cohort *c, double *values)
{
    for (size_t j = 0; j < c->p; j++)
        for (size_t a = c->starts[j]; a < c->starts[j + 1]; a++)
            for (size_t b = c->starts[j]; b <= a; b++)
                values[(size_t)c->rows[a] * c->n + (size_t)c->rows[b]] +=
                    (double)c->values[a] * (double)c->values[b];
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < i; k++)
            values[k * c->n + i] = values[i * c->n + k];
}

static vxs_status make_roughly(const vxs_context *context, const vxs_task *t, vxs_products *p,
                               vxs_error *err)
{
    const vxs_cohort *c = t->cohort;
    bool fine = true;
    vxs_status status = VXS_OK;
    p->n = c->n;
    p->values = vxs_alloc(c->n, vxs_times(c->n, sizeof(*p->values)), err);
    if (!p->values)
        return VXS_FAILED;
    if (c->starts)
        multiply_sparse(c, p->values);
    else
        status = vxs_rough_products(context, c->features, c->n, c->p, vxs_context_threads(context),
                                    p->values, &fine, err);
    if (status || fine)
        return status;
    free(p->values);
    p->values = NULL;
    return make(context, t, p, err);
}

vxs_status vxs_products_of_dense(const vxs_context *context, const vxs_task *t,
                                 const vxs_products **products, bool *own, vxs_error *err)
{
    vxs_task plain = *t;
    plain.settings.standardize = VXS_STANDARDIZE_CENTER;
    plain.penalties = NULL;
    *own = vxs_task_method(t)->path != VXS_BY_COST;
    if (!*own)
        return vxs_products_of(context, &plain, products, own, err);
    vxs_products *p = vxs_products_new(&plain, err);
    *products = p;
    return p ? make_roughly(context, &plain, p, err) : VXS_FAILED;
}

/* ---- Rows without what is taken out ---------------------------------------------------------- */

void vxs_residual_rows_release(vxs_residual_rows *r)
{
    vxs_residual_products_release(&r->products);
    free(r->ones);
    free(r->weights);
    *r = (vxs_residual_rows){ .ones = NULL };
}

vxs_status vxs_residual_rows_init(const vxs_task *t, const double *products, size_t n,
                                  bool distances, vxs_residual_rows *r, vxs_error *err)
{
    bool regresses = vxs_task_regresses(t);
    bool centers = !distances && t->settings.standardize != (int)VXS_STANDARDIZE_NONE;
    size_t *train = vxs_alloc(t->n, sizeof(*train), err);
    *r = (vxs_residual_rows){ .ones = vxs_alloc(t->n, sizeof(*r->ones), err),
                              .weights = vxs_alloc(t->n, sizeof(*r->weights), err) };
    vxs_status status = train && r->ones && r->weights ? VXS_OK : VXS_FAILED;
    for (size_t i = 0; i < t->n && !status; i++) {
        train[i] = t->rows[i];
        r->ones[i] = 1;
        r->weights[i] = vxs_task_weight(t, i);
        if (regresses && t->regression_subject && !t->regression_subject[i])
            r->weights[i] = 0;
    }
    if (!status)
        status = vxs_residual_products_init(products, n, train, t->n,
                                            regresses ? t->covariates : r->ones,
                                            regresses ? t->covariate_count : centers, r->weights,
                                            &r->products, err);
    free(train);
    return status;
}

bool vxs_residual_rows_vary(const vxs_kernel_rows *rows)
{
    const vxs_residual_products *r = rows->residual;
    double before = 0, after = 0;
    for (size_t i = 0; i < r->count; i++) {
        before = fmax(before, r->products[r->train[i] * r->n + r->train[i]]);
        after = fmax(after, rows->own[i]);
    }
    return after > NOTHING * before;
}
