/* trainable.c - minimal class sizes of training subjects, one rule for all commands; and the
 * reasons why no feature can enter a model.
 *
 * Every training part (the cohort of a fit, a training fold, the training part of an inner fold, a
 * half) must have two subjects of each class: a single one would determine the class alone, with
 * half of the loss if classes are balanced. */
#include "model/model.h"

#include <math.h>

enum { LEAST = 2 };

#define DROWNS 1e10 /* ratio of column norms; sums lose all digits of the smaller column */

/* Subjects of weight 0 do not count. */
static size_t count_class(const vxs_task *t, const size_t *which, size_t count, size_t class)
{
    size_t found = 0;
    for (size_t k = 0; k < count; k++) {
        size_t i = which ? which[k] : k;
        found += t->score[i] == (double)class && vxs_task_weight(t, i) > 0;
    }
    return found;
}

bool vxs_is_trainable(const vxs_task *t, const size_t *which, size_t count)
{
    for (size_t k = 0; k < t->class_count; k++)
        if (count_class(t, which, count, k) < LEAST)
            return false;
    return true;
}

/* Checked before a command's work starts; training parts of folds are checked when the folds are
 * known. */
vxs_status vxs_task_check_classes(const vxs_task *t, vxs_error *err)
{
    for (size_t k = 0; k < t->class_count; k++) {
        size_t there = count_class(t, NULL, t->n, k);
        if (there < LEAST)
            return vxs_fail(err, VXS_BAD_DATA,
                            "there is %s%s whose '%s' is '%s', and training needs two of each "
                            "class; leave this class out",
                            there == 0 ? "no subject" : "one subject",
                            t->weights ? " with a weight above 0" : "", t->settings.target,
                            t->classes[k]);
    }
    return VXS_OK;
}

vxs_status vxs_check_trainable(const vxs_task *t, const size_t *which, size_t count,
                               const char *part, const char *folds, vxs_error *err)
{
    for (size_t k = 0; k < t->class_count; k++) {
        size_t here = count_class(t, which, count, k);
        if (here < LEAST)
            return vxs_fail(err, VXS_BAD_DATA,
                            "%s has %s whose '%s' is '%s', of whom there are %zu, and training "
                            "needs two of each class; use %s, or leave this class out",
                            part, here == 0 ? "no subject" : "one subject", t->settings.target,
                            t->classes[k], count_class(t, NULL, t->n, k), folds);
    }
    return VXS_OK;
}

/* ---- Features -------------------------------------------------------------------------------- */

/* Column with the largest norm if it dominates at least half of the others, as a fill value does;
 * else p. */
static size_t find_drowning(const vxs_design *design, double *size, double *other)
{
    const double *norms = vxs_design_norms(design), *stored = vxs_design_stored(design);
    size_t p = vxs_design_columns(design), longest = 0, drowned = 0;
    *size = *other = 0;
    for (size_t j = 0; norms && stored && j < p; j++) {
        double length = fmax(norms[j], stored[j]);
        longest = length > *size ? j : longest;
        *size = fmax(*size, length);
    }
    for (size_t j = 0; norms && stored && j < p; j++) {
        double length = fmax(norms[j], stored[j]);
        bool drowns = length * DROWNS < *size;
        drowned += drowns;
        *other = drowns ? fmax(*other, length) : *other;
    }
    return 2 * drowned >= p && *other > 0 ? longest : p;
}

vxs_status vxs_fail_no_usable_feature(const vxs_task *t, vxs_error *err)
{
    char buffer[32];
    double size, other;
    size_t j = find_drowning(t->design, &size, &other), p = vxs_design_columns(t->design);
    if (j < p && p == t->cohort->p)
        return vxs_fail(
            err, VXS_BAD_DATA,
            "feature '%s' is too large compared with the others: its values are up to about "
            "%.2g, most others' no more than %.2g, and sums with it lose them; is it "
            "a fill value?",
            vxs_cohort_feature(t->cohort, j, buffer), size, other);
    return vxs_fail(err, VXS_BAD_DATA,
                    "nothing is left to find for '%s': no feature varies, or the confounds "
                    "explain it all",
                    t->settings.target);
}
