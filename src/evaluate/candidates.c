/* candidates.c - what stability selection counts, and how many of them a half could select. What
 * cannot be selected is no false selection that was avoided: with it p, and so the number that a
 * half may select, would be too large.
 *
 * Counted are features, or groups where a method selects these as a whole and each feature is in
 * one at most. A feature of several groups may be selected oftener than each of them, so that a
 * bound for groups would not be one for it. */
#include "evaluate/evaluate.h"
#include "voxsift/internal/design.h"

#include <float.h>
#include <stdlib.h>

/* How many groups each feature is in that varies; without groups 1. */
static void count_memberships(const vxs_task *t, size_t *in)
{
    const double *norms = vxs_design_norms(t->design), *stored = vxs_design_stored(t->design);
    const vxs_groups *groups = &t->groups;
    size_t p = vxs_design_columns(t->design);
    for (size_t j = 0; j < p; j++)
        in[j] = groups->count == 0;
    for (size_t g = 0; g < groups->count; g++)
        for (size_t m = groups->begin[g]; m < groups->end[g]; m++)
            in[groups->member[m]]++;
    for (size_t j = 0; j < p; j++)
        if (!(norms[j] > FLT_EPSILON * stored[j]))
            in[j] = 0;
}

static size_t count_groups(const vxs_groups *groups, const size_t *in)
{
    size_t count = 0;
    for (size_t g = 0; g < groups->count; g++) {
        size_t m = groups->begin[g];
        while (m < groups->end[g] && in[groups->member[m]] == 0)
            m++;
        count += m < groups->end[g];
    }
    return count;
}

static vxs_candidates count_candidates(const vxs_task *t, const size_t *in)
{
    vxs_candidates c = { .groups = t->groups.count > 0 };
    for (size_t j = 0; j < t->cohort->p; j++) {
        c.count += in[j] > 0;
        c.groups = c.groups && in[j] <= 1;
    }
    if (c.groups)
        c.count = count_groups(&t->groups, in);
    return c;
}

vxs_status vxs_candidates_count(const vxs_task *task, const vxs_method_settings *method,
                                vxs_candidates *c, vxs_error *err)
{
    vxs_task t = *task;
    vxs_status status = vxs_task_share(NULL, &t, method, err);
    if (!status)
        status = vxs_design_measure(t.design, err);
    size_t *in = status ? NULL : vxs_alloc(t.cohort->p, sizeof(*in), err);
    if (in) {
        count_memberships(&t, in);
        *c = count_candidates(&t, in);
    }
    vxs_task_unshare(&t, task);
    free(in);
    if (status || !in)
        return status ? status : VXS_FAILED;
    return c->count > 0 ? VXS_OK : vxs_fail_no_usable_feature(task, err);
}

static size_t count_stable(const vxs_groups *groups, const double *frequency, double threshold)
{
    size_t count = 0;
    for (size_t g = 0; g < groups->count; g++) {
        size_t m = groups->begin[g];
        while (m < groups->end[g] && !(frequency[groups->member[m]] >= threshold))
            m++;
        count += m < groups->end[g];
    }
    return count;
}

vxs_status vxs_candidates_stable(const vxs_task *task, const vxs_method_settings *method,
                                 const double *frequency, double threshold, size_t *stable,
                                 vxs_error *err)
{
    vxs_task t = *task;
    vxs_status status = vxs_task_share(NULL, &t, method, err);
    for (size_t o = 0; o < vxs_task_outputs(task) && !status; o++)
        stable[o] = count_stable(&t.groups, frequency + o * task->cohort->p, threshold);
    vxs_task_unshare(&t, task);
    return status;
}
