/* similarities.c - the design of a task whose subjects are bags of instances: similarities with the
 * instances of its own bags.
 *
 * Distances are of all bags of the cohort and free of target and width; the parts of a task share
 * them. What is learned is of the task's own bags: the width of similarities, in units of the
 * median squared distance of instances to other bags, and the means of columns. */
#include "model/similarities.h"
#include "model/estimators.h"
#include "model/model.h"
#include "voxsift/internal/machine.h"

#include <math.h>
#include <string.h>

#define USUAL_WIDTH 0.25

vxs_instances vxs_cohort_instances(const vxs_cohort *c)
{
    const vxs_bags *b = c->bags;
    return (vxs_instances){ .bags = c->n,
                            .count = b->count,
                            .width = b->width,
                            .values = b->values,
                            .first = b->first,
                            .at = b->at,
                            .near = b->near };
}

vxs_status vxs_cohort_open_for(const char *path, const vxs_task_settings *settings, vxs_cohort *c,
                               vxs_error *err)
{
    vxs_status status = vxs_cohort_open(path, c, err);
    if (!status)
        status = vxs_cohort_make_bags(c, settings, err);
    if (status)
        vxs_cohort_release(c);
    return status;
}

#define PATCHES "patches:"

static bool are_patches(const vxs_task_settings *s)
{
    return s->bags && strncmp(s->bags, PATCHES, strlen(PATCHES)) == 0;
}

static vxs_status cut(vxs_cohort *c, const vxs_task_settings *s, vxs_error *err)
{
    double mm = 0, near = INFINITY;
    if (!vxs_parse_real(s->bags + strlen(PATCHES), &mm) || !(mm > 0 && mm <= 1000))
        return vxs_fail(err, VXS_MISUSE,
                        "'--bags " PATCHES "MM' expects the edge of cubes in mm, not '%s'",
                        s->bags + strlen(PATCHES));
    bool all = !s->near || strcmp(s->near, "all") == 0;
    if (!all && (!vxs_parse_real(s->near, &near) || !(near >= 0)))
        return vxs_fail(err, VXS_MISUSE, "'--near' expects a distance in mm, or all, not '%s'",
                        s->near);
    return vxs_cohort_cut(c, mm, near, s->patch_norm, err);
}

vxs_status vxs_cohort_make_bags(vxs_cohort *c, const vxs_task_settings *s, vxs_error *err)
{
    if (!are_patches(s) && (s->near || s->patch_norm != VXS_PATCH_NORM_NONE))
        return vxs_fail(err, VXS_MISUSE, "'%s' goes with '--bags patches:MM'",
                        s->near ? "--near" : "--patch-norm");
    return are_patches(s) ? cut(c, s, err) : s->bags ? vxs_cohort_gather(c, s->bags, err) : VXS_OK;
}

/* ---- What goes with bags --------------------------------------------------------------------- */

static vxs_status refuse_with(const char *option, vxs_error *err)
{
    return vxs_fail(err, VXS_MISUSE,
                    "'%s' is of features, but with '--bags' columns are similarities with "
                    "instances: they do not go together",
                    option);
}

vxs_status vxs_task_check_bags(const vxs_task *t, vxs_error *err)
{
    const vxs_task_settings *s = &t->settings;
    if (!s->bags != !t->cohort->bags)
        return vxs_fail(err, VXS_MISUSE,
                        "with '--bags' subjects are other rows than without: all methods of a run "
                        "take it, or none");
    if (!s->bags)
        return s->own_bag == VXS_OWN_BAG_ITSELF
                   ? VXS_OK
                   : vxs_fail(err, VXS_MISUSE, "'--own' goes with '--bags'");
    if (!vxs_task_method(t)->takes_bags)
        return vxs_fail(err, VXS_MISUSE, "'--bags' goes with method lasso, not with '%s'",
                        vxs_task_method(t)->name);
    if (s->penalties)
        return refuse_with("--penalty-factors", err);
    if (s->confounds_as == VXS_CONFOUNDS_REGRESS)
        return refuse_with("--confounds-as regress", err);
    return VXS_OK;
}

/* ---- The design ------------------------------------------------------------------------------ */

void vxs_task_release_similarities(vxs_task *t)
{
    if (!t->distances_shared)
        vxs_bag_distances_free(t->distances);
    t->distances = NULL;
}

static vxs_status make_distances(const vxs_context *context, vxs_task *t, vxs_error *err)
{
    const vxs_instances x = vxs_cohort_instances(t->cohort);
    if (t->distances)
        return VXS_OK;
    return vxs_bag_distances_new(context, &x, (size_t)(vxs_memory_of_machine() / 2), &t->distances,
                                 err);
}

static vxs_status make_design(vxs_task *t, int threads, vxs_design **design, vxs_error *err)
{
    vxs_design *base = NULL;
    const vxs_view view = { .standardize = (vxs_standardize)t->settings.standardize,
                            .weights = t->weights,
                            .with_intercept = !t->settings.no_intercept };
    vxs_status status =
        vxs_bags_new(t->distances, t->rows, t->n, sqrt(t->bag_width * t->bag_distance),
                     t->settings.own_bag == VXS_OWN_BAG_LEFT_OUT, threads, &base, err);
    return status ? status : vxs_view_new(base, false, &view, design, err);
}

vxs_status vxs_task_make_similarities(const vxs_context *context, vxs_task *t, vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (size_t i = 0; i < t->n && !status; i++)
        status = vxs_bags_check(t->cohort, t->rows[i], err);
    if (!status)
        status = make_distances(context, t, err);
    if (!status)
        status = vxs_bag_distances_median(t->distances, t->rows, t->n, &t->bag_distance, err);
    if (!status && !(t->bag_distance > 0))
        status = vxs_fail(err, VXS_BAD_DATA,
                          "at least half of the instances are equal to one of most other subjects: "
                          "their distances have no scale");
    t->bag_width = USUAL_WIDTH;
    return status ? status : make_design(t, vxs_context_threads(context), &t->design, err);
}

vxs_status vxs_task_set_width(vxs_task *t, const vxs_bag_settings *settings, vxs_error *err)
{
    vxs_design *design = NULL;
    double width = settings->width > 0 ? settings->width : USUAL_WIDTH;
    if (!t->cohort->bags && settings->widths)
        return vxs_fail(err, VXS_MISUSE, "'--bandwidth' goes with '--bags'");
    if (!t->cohort->bags || width == t->bag_width)
        return VXS_OK;
    t->bag_width = width;
    vxs_status status = make_design(t, vxs_design_threads(t->design), &design, err);
    if (!status) {
        vxs_task_unprepare(t);
        vxs_design_free(t->design);
        t->design = design;
    }
    return status ? status : vxs_design_measure(design, err);
}
