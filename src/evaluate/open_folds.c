/* open_folds.c - numbers of folds that are not set give way to the number of groups: five sites
 * have five outer folds, each of which leaves four sites, and thus four inner ones. A number that
 * is set is left as it is, and refused where it cannot be (folds.c). */
#include "evaluate/evaluate.h"

#include <stdio.h>
#include <stdlib.h>

static size_t usual_of(size_t groups)
{
    return groups < VXS_USUAL_FOLDS ? groups : VXS_USUAL_FOLDS;
}

/* What folds cannot split: groups of a column, or people. */
static void say(const vxs_context *context, size_t count, const char *folds, const char *column,
                const char *where)
{
    if (count < VXS_USUAL_FOLDS)
        vxs_log(context, VXS_LOG_INFO, "%zu %s, not %d: %s%s%s %s", count, folds, VXS_USUAL_FOLDS,
                column ? "so many groups of column '" : "so many people", column ? column : "",
                column ? "'" : "", where);
}

/* ---- Outer folds ----------------------------------------------------------------------------- */

/* Leave one group out. */
static vxs_status settle_group(const vxs_context *context, const vxs_task *t,
                               const vxs_cv_settings *s, vxs_error *err)
{
    vxs_folds groups = { .n = t->n };
    if (!s->group || s->folds_from)
        return vxs_fail(err, VXS_MISUSE,
                        s->group ? "'--folds group' and '--folds-from' exclude each other"
                                 : "'--folds group' goes with '--group COLUMN': one group of it is "
                                   "held out in each fold");
    if (s->repeats > 1)
        return vxs_fail(err, VXS_MISUSE,
                        "'--repeats %lld' goes with folds that are drawn; those of '--folds group' "
                        "are always the same",
                        (long long)s->repeats);
    vxs_status status = vxs_folds_group(t, s->group, &groups, err);
    if (!status)
        status = vxs_folds_enough(&groups, s->group, groups.groups, 2, "'--folds group'", "", err);
    if (!status)
        vxs_log(context, VXS_LOG_INFO, "%zu folds: one %s held out in each", groups.groups,
                s->group);
    vxs_folds_release(&groups);
    return status;
}

static vxs_status settle_outer(const vxs_context *context, const vxs_task *t, vxs_cv_settings *s,
                               vxs_error *err)
{
    vxs_folds groups = { .n = t->n };
    if (s->folds == VXS_FOLDS_GROUP)
        return settle_group(context, t, s, err);
    if (s->folds != VXS_FOLDS_OPEN)
        return VXS_OK;
    s->folds = VXS_USUAL_FOLDS;
    if (s->folds_from)
        return VXS_OK;
    vxs_status status = vxs_folds_group(t, s->group, &groups, err);
    if (!status)
        status = vxs_folds_enough(&groups, s->group, groups.groups, 2, "cross-validation", "", err);
    if (!status) {
        s->folds = (int64_t)usual_of(groups.groups);
        say(context, (size_t)s->folds, "folds", s->group, "are there");
    }
    vxs_folds_release(&groups);
    return status;
}

/* ---- Inner folds ----------------------------------------------------------------------------- */

#define MOST_INNER 20 /* of more groups a fold holds several: 300 sites would take 89,700 fits */

/* The fewest groups that a fold leaves for training. `last`: room for a number a group. */
static size_t fewest_left(const vxs_folds *f, size_t *last)
{
    size_t fewest = f->groups;
    for (size_t g = 0; g < f->groups; g++)
        last[g] = 0;
    for (size_t k = 0; k < f->repeats * f->count; k++) {
        const size_t *fold = f->fold + k / f->count * f->n;
        size_t left = 0;
        for (size_t i = 0; i < f->n; i++) {
            left += fold[i] != k % f->count && last[f->group[i]] != k + 1;
            if (fold[i] != k % f->count)
                last[f->group[i]] = k + 1;
        }
        fewest = left < fewest ? left : fewest;
    }
    return fewest;
}

vxs_status vxs_inner_settle(const vxs_context *context, const vxs_folds *f, vxs_cv_settings *s,
                            vxs_error *err)
{
    const char *column = vxs_folds_column(f, s);
    const char *where = f->count > 1 ? " among the training subjects" : "";
    char what[VXS_OPTION_TEXT];
    if (s->inner_folds != VXS_FOLDS_OPEN)
        return VXS_OK;
    size_t *last = vxs_alloc(f->groups, sizeof(*last), err);
    if (!last)
        return VXS_FAILED;
    size_t left = fewest_left(f, last);
    free(last);
    snprintf(what, sizeof(what), "'--%s'", s->inner_option ? s->inner_option : "inner-folds");
    vxs_status status = vxs_folds_enough(f, column, left, 2, what, where, err);
    if (status)
        return status;
    s->inner_open = true;
    if (s->folds == VXS_FOLDS_GROUP && !f->by_people) {
        bool one = left <= MOST_INNER;
        s->inner_folds = (int64_t)(one ? left : MOST_INNER);
        vxs_log(context, VXS_LOG_INFO, "%lld %s: %s %s held out in each", (long long)s->inner_folds,
                s->inner_option ? "folds" : "inner folds", one ? "one" : "several of", s->group);
        return VXS_OK;
    }
    s->inner_folds = (int64_t)usual_of(left);
    say(context, (size_t)s->inner_folds, s->inner_option ? "folds" : "inner folds", column,
        f->count > 1 ? "are among the training subjects" : "are there");
    return VXS_OK;
}

vxs_status vxs_cv_settle(const vxs_context *context, const vxs_task *t, vxs_cv_settings *s,
                         vxs_error *err)
{
    vxs_folds folds;
    vxs_status status = settle_outer(context, t, s, err);
    if (status || s->inner_folds != VXS_FOLDS_OPEN)
        return status;
    status = vxs_folds_make(t, s, &folds, err);
    if (status)
        return status;
    status = vxs_inner_settle(context, &folds, s, err);
    vxs_folds_release(&folds);
    return status;
}

vxs_cv_settings vxs_cv_reopened(const vxs_cv_settings *settings)
{
    vxs_cv_settings open = *settings;
    open.inner_folds = open.inner_open ? VXS_FOLDS_OPEN : open.inner_folds;
    return open;
}
