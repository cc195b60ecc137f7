/* group_rules.c - groups of features for --groups: regions of an atlas, a table, spheres, trees.
 * Groups do not depend on the subjects. */
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHOICES "atlas:NAME, file:FILE, patches:MM, tree:octree or tree:FILE"

typedef vxs_status make_groups(const vxs_context *context, const vxs_cohort *cohort,
                               const char *what, vxs_groups *groups, vxs_error *err);

/* ---- Regions --------------------------------------------------------------------------------- */

typedef struct {
    const vxs_cohort *cohort;
    vxs_atlas atlas;
    size_t *region; /* label of a voxel; atlas.count: no region */
    size_t *voxels; /* voxels in each region */
} parcels;

static vxs_status find_regions(parcels *a, vxs_error *err)
{
    const vxs_cohort *c = a->cohort;
    int32_t *labels = vxs_alloc(vxs_grid_voxels(&c->grid), sizeof(*labels), err);
    a->region = vxs_alloc(c->p, sizeof(*a->region), err);
    a->voxels = vxs_alloc(a->atlas.count + 1, sizeof(*a->voxels), err);
    vxs_status status = labels && a->region && a->voxels
                            ? vxs_atlas_resample(&a->atlas, &c->grid, labels, err)
                            : VXS_FAILED;
    for (size_t j = 0; j < c->p && !status; j++) {
        a->region[j] = vxs_atlas_find(&a->atlas, labels[c->voxels[j]]);
        a->voxels[a->region[j]]++;
    }
    free(labels);
    return status;
}

typedef struct {
    const char *name;
    size_t region;
} named;

static int by_name(const void *a, const void *b)
{
    const named *left = a, *right = b;
    return strcmp(left->name, right->name);
}

/* An atlas can give one name to several labels; the table of groups makes their names unique. */
static vxs_status part_names(vxs_atlas *atlas, vxs_error *err)
{
    size_t count = atlas->count;
    named *order = vxs_alloc(count, sizeof(*order), err);
    bool *same = vxs_alloc(count, sizeof(*same), err);
    vxs_status status = order && same ? VXS_OK : VXS_FAILED;
    for (size_t r = 0; r < count && !status; r++)
        order[r] = (named){ atlas->names[r], r };
    if (!status)
        qsort(order, count, sizeof(*order), by_name);
    for (size_t k = 1; k < count && !status; k++)
        if (by_name(&order[k], &order[k - 1]) == 0)
            same[order[k].region] = same[order[k - 1].region] = true;
    for (size_t r = 0; r < count && !status; r++) {
        if (!same[r])
            continue;
        char *name = vxs_format(err, "%s (label %d)", atlas->names[r], (int)atlas->values[r]);
        status = name ? VXS_OK : VXS_FAILED;
        if (name) {
            free(atlas->names[r]);
            atlas->names[r] = name;
        }
    }
    free(order);
    free(same);
    return status;
}

static vxs_status group_regions(parcels *a, size_t count, size_t members, vxs_groups *g,
                                vxs_error *err)
{
    vxs_atlas *atlas = &a->atlas;
    size_t made = 0, begin = 0;
    vxs_status status = vxs_groups_new(a->cohort->p, count, members, g, err);
    if (!status)
        status = part_names(atlas, err);
    g->names = status ? NULL : vxs_alloc(count, sizeof(*g->names), err);
    if (!g->names)
        return status ? status : VXS_FAILED;
    for (size_t r = 0; r < atlas->count; r++) {
        if (a->voxels[r] == 0)
            continue;
        g->begin[made] = g->end[made] = begin;
        begin += a->voxels[r];
        g->names[made] = atlas->names[r]; /* position in the table */
        atlas->names[r] = NULL;
        a->voxels[r] = made++; /* now maps a region to its group */
    }
    for (size_t j = 0; j < a->cohort->p; j++)
        if (a->region[j] < atlas->count)
            g->member[g->end[a->voxels[a->region[j]]]++] = j;
    return VXS_OK;
}

static vxs_status make_regions(const vxs_context *context, const vxs_cohort *c, const char *what,
                               vxs_groups *g, vxs_error *err)
{
    parcels a = { .cohort = c };
    size_t count = 0, members = 0;
    vxs_status status = vxs_atlas_read(what, NULL, &a.atlas, err);
    if (!status)
        status = find_regions(&a, err);
    for (size_t r = 0; r < a.atlas.count && !status; r++) {
        count += a.voxels[r] > 0;
        members += a.voxels[r];
    }
    if (!status && count == 0)
        status = vxs_fail(err, VXS_BAD_DATA,
                          "none of the cohort's %zu voxels is in a region of "
                          "'%s'",
                          c->p, what);
    if (!status && members < c->p)
        vxs_log(context, VXS_LOG_INFO,
                "%zu of %zu voxels are in no region of '%s': they are in no group, and left out",
                c->p - members, c->p, what);
    if (!status && count < a.atlas.count)
        vxs_log(context, VXS_LOG_INFO, "%zu of the %zu regions of '%s' have no voxel in the mask",
                a.atlas.count - count, a.atlas.count, what);
    if (!status)
        status = group_regions(&a, count, members, g, err);
    vxs_atlas_release(&a.atlas);
    free(a.region);
    free(a.voxels);
    return status;
}

/* ---- The other rules ------------------------------------------------------------------------- */

static vxs_status make_of_file(const vxs_context *context, const vxs_cohort *c, const char *what,
                               vxs_groups *g, vxs_error *err)
{
    (void)context;
    return vxs_groups_read(what, c, g, err);
}

static vxs_status make_patches(const vxs_context *context, const vxs_cohort *c, const char *what,
                               vxs_groups *g, vxs_error *err)
{
    double radius = NAN;
    if (!vxs_parse_real(what, &radius) || !(radius > 0) || !isfinite(radius))
        return vxs_fail(err, VXS_MISUSE,
                        "'--groups patches:MM' expects a number above 0, the radius of spheres in "
                        "mm, not '%s'",
                        what);
    const double(*a)[4] = c->grid.affine;
    const double step[3][3] = { { a[0][0], a[1][0], a[2][0] },
                                { a[0][1], a[1][1], a[2][1] },
                                { a[0][2], a[1][2], a[2][2] } };
    vxs_status status = vxs_groups_spheres(c->grid.shape, c->voxels, c->p, step, radius, g, err);
    if (!status)
        vxs_log(context, VXS_LOG_DEBUG, "spheres of %g mm have %.1f voxels on average", radius,
                (double)g->members / (double)g->count);
    return status;
}

static bool is_octree(const char *what)
{
    return strcmp(what, "octree") == 0;
}

static vxs_status make_tree(const vxs_context *context, const vxs_cohort *c, const char *what,
                            vxs_groups *g, vxs_error *err)
{
    (void)context;
    if (!is_octree(what))
        return vxs_group_tree_read(what, c, g, err);
    if (c->kind != VXS_FEATURES_VOXELS)
        return vxs_fail(err, VXS_MISUSE,
                        "'--groups tree:octree' is of voxels; the features are "
                        "not");
    return vxs_groups_octree(c->grid.shape, c->voxels, c->p, g, err);
}

/* ---- By what stands before the colon --------------------------------------------------------- */

typedef struct {
    const char *begin, *value; /* prefix of --groups, and a noun for messages */
    bool voxels;               /* kind of features required */
    make_groups *make;
} rule;

static const rule rules[] = {
    { .begin = "atlas:",
      .value = "an atlas, by its name or as a label image",
      .voxels = true,
      .make = make_regions },
    { .begin = "file:",
      .value = "a table with the columns group and feature",
      .make = make_of_file },
    { .begin = "patches:", .value = "a radius in mm", .voxels = true, .make = make_patches },
    { .begin = "tree:",
      .value = "octree, or a table with the columns feature and path",
      .make = make_tree },
    { .begin = NULL },
};

static const rule *find_rule(const char *text, const char **what)
{
    for (const rule *r = rules; r->begin; r++) {
        size_t length = strlen(r->begin);
        *what = text + length;
        if (strncmp(text, r->begin, length) == 0)
            return r;
    }
    return NULL;
}

bool vxs_groups_are_tree(const char *text)
{
    return strncmp(text, "tree:", 5) == 0;
}

bool vxs_groups_are_rule(const char *text)
{
    const char *what = NULL;
    const rule *r = find_rule(text, &what);
    return r && (r->make == make_patches || (r->make == make_tree && is_octree(what)));
}

vxs_status vxs_task_make_groups(const vxs_context *context, vxs_task *t, const char *text,
                                vxs_error *err)
{
    const char *what = NULL;
    if (t->groups.count > 0)
        return VXS_OK;
    const rule *r = find_rule(text, &what);
    if (!r)
        return vxs_fail(err, VXS_MISUSE, "'--groups %s' is not known: give " CHOICES, text);
    if (!*what)
        return vxs_fail(err, VXS_MISUSE, "'--groups %s' expects %s behind the colon", text,
                        r->value);
    if (r->voxels && t->cohort->kind != VXS_FEATURES_VOXELS)
        return vxs_fail(err, VXS_MISUSE, "'--groups %s' is of voxels; the features are not", text);
    vxs_status status = r->make(context, t->cohort, what, &t->groups, err);
    if (status)
        vxs_groups_release(&t->groups);
    return status;
}
