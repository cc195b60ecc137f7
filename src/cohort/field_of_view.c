/* field_of_view.c - images that do not reach all of what is read from them.
 *
 * Resampling puts 0 where an image has no voxel. In the mask these zeros would be features, and in
 * the reference region part of its mean, as if they had been measured: a scan that ends above the
 * cerebellum would have too high a SUVR everywhere. */
#include "cohort/build.h"

#include <stdio.h>
#include <stdlib.h>

#define NAMED 5 /* most images that the warning names */

typedef struct {
    const char *id;
    double share; /* of the voxels that are not covered */
} view;

static int by_share(const void *a, const void *b)
{
    const view *left = a, *right = b;
    return (left->share < right->share) - (left->share > right->share);
}

static void warn(const vxs_build *build, const view *views, size_t count, const char *region,
                 const char *then)
{
    char named[512];
    size_t used = 0, most = count < NAMED ? count : NAMED;
    named[0] = 0;
    for (size_t k = 0; k < most && used < sizeof(named) - 1; k++) {
        int more = snprintf(named + used, sizeof(named) - used, "%s'%.64s' %.3g %%",
                            k == 0 ? "" : ", ", views[k].id, 100 * views[k].share);
        used += more > 0 ? (size_t)more : 0;
    }
    vxs_log(build->context, VXS_LOG_WARNING,
            "%zu image%s no values in part of the %s, which is outside of the field of view%s "
            "(share of it: %s%s)",
            count, count == 1 ? " has" : "s have", region, then, named,
            count > most ? ", ..." : "");
}

static vxs_status check_region(const vxs_build *build, const uint8_t *inside, const char *region,
                               const char *then, vxs_error *err)
{
    size_t voxels = 0, count = 0;
    view *views = vxs_alloc(build->count, sizeof(*views), err);
    if (!views)
        return VXS_FAILED;
    for (size_t v = 0; v < vxs_grid_voxels(&build->grid); v++)
        voxels += inside[v];
    for (size_t i = 0; i < build->count; i++) {
        const vxs_subject *s = &build->subjects[i];
        size_t uncovered =
            s->reason || !s->other_grid ? 0 : vxs_grid_uncovered(&s->grid, &build->grid, inside);
        if (uncovered > 0)
            views[count++] = (view){ s->id, (double)uncovered / (double)voxels };
    }
    if (count > 0) {
        qsort(views, count, sizeof(*views), by_share);
        warn(build, views, count, region, then);
    }
    free(views);
    return VXS_OK;
}

vxs_status vxs_build_check_views(const vxs_build *build, vxs_error *err)
{
    vxs_status status = check_region(build, build->mask, "mask", ": they count as 0", err);
    if (!status && build->reference)
        status = check_region(build, build->reference, "reference region",
                              ": zeros are part of its mean", err);
    return status;
}
