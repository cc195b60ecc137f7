/* trainable.c - which subjects a model of classes can be trained on: one rule for all commands.
 *
 * Every training part (the cohort of a fit, a training fold, the training part of an inner fold, a
 * half) has two subjects of each class: one alone is no class but an image, and has half of the
 * loss when classes weigh the same. */
#include "model/model.h"

enum { LEAST = 2 };

/* Subjects of weight 0 are not there. */
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

/* Before the work of any command; the parts of folds are looked at when these are known. */
vxs_status vxs_task_check_classes(const vxs_task *t, vxs_error *err)
{
    for (size_t k = 0; k < t->class_count; k++) {
        size_t there = count_class(t, NULL, t->n, k);
        if (there < LEAST)
            return vxs_fail(err, VXS_BAD_DATA,
                            "there is %s%s whose '%s' is '%s', and training needs two of each "
                            "class; leave this class out",
                            there == 0 ? "nobody" : "one subject",
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
                            part, here == 0 ? "nobody" : "one subject", t->settings.target,
                            t->classes[k], count_class(t, NULL, t->n, k), folds);
    }
    return VXS_OK;
}
