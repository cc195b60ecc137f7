/* separated.c - covariates that separate a class from the others by themselves, as a site does that
 * lacks a class. No penalty bounds their coefficients, and the larger these are the better the
 * classes are fitted: they are as large as the iterations made them.
 *
 * Columns of the whole task are looked at, one at a time: no combinations of several, no folds.
 */
#include "model/covariates.h"

#include <math.h>
#include <stdio.h>

typedef struct {
    double low, high;
} range;

/* No value of the class is below one of the others, or none is above; not all are equal. */
static bool separates(const vxs_task *t, const double *x, size_t class)
{
    range r[2] = { { INFINITY, -INFINITY }, { INFINITY, -INFINITY } };
    for (size_t i = 0; i < t->n; i++) {
        range *here = &r[t->score[i] == (double)class];
        if (!(vxs_task_weight(t, i) > 0))
            continue;
        here->low = fmin(here->low, x[i]);
        here->high = fmax(here->high, x[i]);
    }
    bool differ = fmin(r[0].low, r[1].low) < fmax(r[0].high, r[1].high);
    return differ && (r[0].high <= r[1].low || r[1].high <= r[0].low);
}

/* The first class that a column separates, or class_count. Of two classes one is enough. */
static size_t separated_class(const vxs_task *t, const double *x)
{
    size_t count = t->class_count == 2 ? 1 : t->class_count, k = 0;
    while (k < count && !separates(t, x, k))
        k++;
    return k < count ? k : t->class_count;
}

/* The first class that no subject with a level has, or class_count. */
static size_t lacking_class(const vxs_task *t, const vxs_categorical *f, size_t level)
{
    size_t k = 0;
    for (bool there = true; there && k < t->class_count; k += there) {
        there = false;
        for (size_t i = 0; i < t->n && !there; i++)
            there = f->level[i] == level && t->score[i] == (double)k && vxs_task_weight(t, i) > 0;
    }
    return k;
}

#define UNBOUNDED                                                                                  \
    "its coefficient has no bound and decides by itself; leave the covariate out of --confounds, " \
    "or take '--confounds-as regress'"

/* Levels of a categorical covariate, the reference as well if there is an intercept; `names` are
 * those of its levels. */
static vxs_status warn_of_levels(const vxs_context *context, vxs_task *t, const vxs_categorical *f,
                                 char *const *names, vxs_error *err)
{
    size_t found = 0, first = 0, which = 0;
    char more[64] = "";
    for (size_t level = t->settings.no_intercept ? 1 : 0; level < f->identified; level++) {
        size_t k = lacking_class(t, f, level);
        if (k < t->class_count && found++ == 0) {
            first = level;
            which = k;
        }
    }
    if (found == 0)
        return VXS_OK;
    if (found > 1)
        snprintf(more, sizeof(more), " (%zu more level%s lack%s a class)", found - 1,
                 vxs_plural(found - 1), found == 2 ? "s" : "");
    return vxs_task_warn(context, t, err, "no subject with '%s' has '%s' in '%s'%s: " UNBOUNDED,
                         names[first], t->classes[which], t->settings.target, more);
}

static bool is_of_factor(const vxs_task *t, size_t k)
{
    bool found = false;
    for (size_t j = 0; j < t->factor_count; j++) {
        const vxs_categorical *f = &t->factors[j];
        found = found || (k >= f->first && k + 1 < f->first + f->identified);
    }
    return found;
}

vxs_status vxs_separated_warn(const vxs_context *context, vxs_task *t, vxs_error *err)
{
    vxs_status status = VXS_OK;
    if (t->class_count == 0 || vxs_task_regresses(t))
        return VXS_OK;
    for (size_t j = 0, before = 0; j < t->factor_count && !status; j++) {
        status = warn_of_levels(context, t, &t->factors[j], t->levels + before, err);
        before += t->factors[j].identified;
    }
    /* numbers are told apart by a threshold, which the intercept is */
    for (size_t k = 1; k < t->covariate_count && !t->settings.no_intercept && !status; k++) {
        size_t found =
            is_of_factor(t, k) ? t->class_count : separated_class(t, t->covariates + k * t->n);
        if (found < t->class_count)
            status =
                vxs_task_warn(context, t, err,
                              "covariate '%s' separates '%s' in '%s' from the others: " UNBOUNDED,
                              t->covariate_names[k], t->classes[found], t->settings.target);
    }
    return status;
}
