/* subject_products.c - inner products of subjects: one reading of the features for all folds, C,
 * gamma and permutations. */
#include "model/machine.h"
#include "voxsift/internal/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

vxs_products *vxs_products_new(const vxs_task *t, vxs_error *err)
{
    size_t count = t->cohort->p;
    vxs_products *p = vxs_alloc(1, sizeof(*p), err);
    if (!p)
        return NULL;
    *p = (vxs_products){ .lock = PTHREAD_MUTEX_INITIALIZER,
                         .centered = t->settings.standardize != (int)VXS_STANDARDIZE_NONE };
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
    free(p->penalties);
    free(p);
}

static bool is_scaled_as(const vxs_products *p, const vxs_task *t)
{
    if (p->centered != (t->settings.standardize != (int)VXS_STANDARDIZE_NONE))
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

/* Of all rows of the cohort: a part does not know which other subjects it will score. */
static vxs_status make(const vxs_context *context, const vxs_task *t, vxs_products *p,
                       vxs_error *err)
{
    const vxs_cohort *c = t->cohort;
    vxs_design *base = NULL;
    double *factor = factors_of(t, err);
    vxs_status status = factor ? VXS_OK : VXS_FAILED;
    p->n = c->n;
    double *values = status ? NULL : vxs_alloc(c->n, vxs_times(c->n, sizeof(*values)), err);
    if (!status && !values)
        status = VXS_FAILED;
    if (!status)
        status = vxs_cohort_design(c, vxs_context_threads(context), &base, err);
    if (!status)
        status = vxs_row_products(context, base, factor, p->centered, values, err);
    vxs_design_free(base);
    free(factor);
    if (status)
        free(values);
    else
        p->values = values;
    return status;
}

vxs_status vxs_products_of(const vxs_context *context, const vxs_task *t,
                           const vxs_products **products, bool *own, vxs_error *err)
{
    vxs_products *common = t->products;
    vxs_status status = VXS_OK;
    bool shared =
        common && t->settings.standardize != (int)VXS_STANDARDIZE_UNIT && is_scaled_as(common, t);
    *own = false;
    if (shared) {
        pthread_mutex_lock(&common->lock);
        if (!common->values)
            status = make(context, t, common, err);
        pthread_mutex_unlock(&common->lock);
        *products = common;
    }
    if (shared)
        return status;
    vxs_products *p = vxs_products_new(t, err);
    *own = true;
    *products = p;
    return p ? make(context, t, p, err) : VXS_FAILED;
}
