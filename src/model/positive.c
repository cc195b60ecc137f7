/* positive.c - choice of the positive one of two classes.
 *
 * It is the second class: y = +1, larger scores predict it, and sensitivity, F1 and the area under
 * the ROC curve refer to it. Without --positive it is the rarer class, in most cohorts the
 * patients; for classes of equal size the later in sorted order. */
#include "model/model.h"

#include <string.h>

static void swap(vxs_task *t)
{
    char *first = t->classes[0];
    t->classes[0] = t->classes[1];
    t->classes[1] = first;
    for (size_t i = 0; i < t->n; i++)
        t->score[i] = 1 - t->score[i];
}

/* Weighted number of subjects of a class. */
static double size_of(const vxs_task *t, size_t class)
{
    double size = 0;
    for (size_t i = 0; i < t->n; i++)
        size += t->score[i] == (double)class ? vxs_task_weight(t, i) : 0;
    return size;
}

vxs_status vxs_task_order_classes(vxs_task *t, vxs_error *err)
{
    const char *positive = t->settings.positive;
    if (positive && t->class_count == 0)
        return vxs_fail(err, VXS_MISUSE, "'--positive' goes with classes; column '%s' is a score",
                        t->settings.target);
    if (positive && t->class_count > 2)
        return vxs_fail(err, VXS_MISUSE,
                        "'--positive' goes with two classes; column '%s' has %zu, each of which is "
                        "compared with the rest",
                        t->settings.target, t->class_count);
    if (t->class_count != 2)
        return VXS_OK;
    bool first = positive ? vxs_is_class(positive, t->classes[0]) : size_of(t, 0) < size_of(t, 1);
    if (positive && !first && !vxs_is_class(positive, t->classes[1]))
        return vxs_fail(err, VXS_BAD_DATA, "'--positive %s': column '%s' is '%s' or '%s'", positive,
                        t->settings.target, t->classes[0], t->classes[1]);
    if (first)
        swap(t);
    t->settings.positive = t->classes[1];
    return VXS_OK;
}

size_t vxs_task_stratum(const vxs_task *t, size_t i)
{
    size_t class = (size_t)t->score[i];
    bool swapped = t->class_count == 2 && vxs_class_order(t->classes[0], t->classes[1]) > 0;
    return swapped ? 1 - class : class;
}
