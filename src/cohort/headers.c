/* headers.c - compares the grids of all images by their headers, before any work. */
#include "cohort/build.h"

#include "voxsift/internal/machine.h"

#include <math.h>
#include <stdlib.h>

static bool same_grid(const vxs_build *build, const vxs_grid *a, const vxs_grid *b)
{
    bool known = (a->source == VXS_AFFINE_NONE) == (b->source == VXS_AFFINE_NONE);
    return known && vxs_grid_distance(a, b) <= build->settings->tolerance;
}

/* Images whose sform and qform differ by more than half a voxel. */
typedef struct {
    size_t count;
    double most; /* mm at a corner */
    const char *path;
} two_places;

static void compare_forms(const vxs_image *image, const char *path, two_places *apart)
{
    double size[3];
    vxs_grid_voxel_size(&image->grid, size);
    if (!(image->forms_distance > fmin(size[0], fmin(size[1], size[2])) / 2))
        return;
    apart->count++;
    if (image->forms_distance > apart->most) {
        apart->most = image->forms_distance;
        apart->path = path;
    }
}

static void read_header(vxs_build *build, vxs_subject *s, two_places *apart, vxs_error *err)
{
    vxs_image image;
    if (vxs_image_read_header(s->path, &image, err))
        return;
    s->grid = image.grid;
    compare_forms(&image, s->path, apart);
    if (image.volumes != 1)
        vxs_fail(err, VXS_BAD_DATA, "'%s' has %zu volumes; one per subject is required", s->path,
                 image.volumes);
    else if ((image.units & 7) == 1 || (image.units & 7) == 3)
        vxs_log(build->context, VXS_LOG_WARNING,
                "'%s': its header says %s; the numbers are read as mm", s->path,
                (image.units & 7) == 1 ? "meters" : "micrometers");
    vxs_image_release(&image);
}

static vxs_status read_headers(vxs_build *build, vxs_error *err)
{
    two_places apart = { .count = 0 };
    size_t read = 0;
    for (size_t i = 0; i < build->count; i++) {
        vxs_subject *s = &build->subjects[i];
        vxs_error why = VXS_ERROR_INIT;
        if (s->reason)
            continue;
        if (build->is_shared && read == 0)
            compare_forms(&build->shared, s->path, &apart);
        if (build->is_shared)
            s->grid = build->shared.grid;
        else
            read_header(build, s, &apart, &why);
        read += !build->is_shared || read == 0;
        if (why.status == VXS_FAILED) /* out of memory: no fault of the image */
            return vxs_fail(err, VXS_FAILED, "%s", why.message);
        if (why.status)
            vxs_build_leave_out(build, s, "%s", why.message);
    }
    if (apart.count > 0)
        vxs_log(build->context, VXS_LOG_WARNING,
                "the sform and the qform of %zu of %zu image%s differ by more than half a voxel, "
                "those of '%s' by %.3g mm at a corner; the sform is used",
                apart.count, read, vxs_plural(read), apart.path, apart.most);
    return VXS_OK;
}

/* The most frequent grid, so that messages name the odd image even when it comes first. The count
 * is exact for at most KINDS different grids; images on further grids differ from the most frequent
 * one anyway. */
static const vxs_subject *most_common(const vxs_build *build)
{
    enum { KINDS = 16 };
    const vxs_subject *kinds[KINDS];
    size_t counts[KINDS], found = 0, best = 0;
    for (size_t i = 0; i < build->count; i++) {
        const vxs_subject *s = &build->subjects[i];
        size_t k = 0;
        if (s->reason)
            continue;
        while (k < found && !same_grid(build, &kinds[k]->grid, &s->grid))
            k++;
        if (k == KINDS)
            continue;
        if (k == found) {
            kinds[found] = s;
            counts[found++] = 0;
        }
        counts[k]++;
        best = counts[k] > counts[best] ? k : best;
    }
    return found > 0 ? kinds[best] : NULL;
}

static void report_difference(vxs_build *build, vxs_subject *s, const vxs_subject *reference)
{
    const vxs_grid *a = &s->grid, *b = &reference->grid;
    char here[VXS_ORIENTATION_TEXT], there[VXS_ORIENTATION_TEXT];
    double distance = vxs_grid_distance(a, b);
    vxs_grid_orientation_text(a, here);
    vxs_grid_orientation_text(b, there);
    if (isinf(distance))
        vxs_build_leave_out(build, s,
                            "'%s' has %zu x %zu x %zu voxels, '%s' has %zu x %zu x %zu; pass "
                            "--resample to change it to the cohort's grid",
                            s->path, a->shape[0], a->shape[1], a->shape[2], reference->path,
                            b->shape[0], b->shape[1], b->shape[2]);
    else
        vxs_build_leave_out(build, s,
                            "the grid of '%s' (%s) differs from that of '%s' (%s) by %.3g mm at a "
                            "corner; pass --resample to change it to the cohort's grid",
                            s->path, here, reference->path, there, distance);
}

static void compare_grids(vxs_build *build, const vxs_subject *reference)
{
    for (size_t i = 0; i < build->count; i++) {
        vxs_subject *s = &build->subjects[i];
        if (s->reason || same_grid(build, &s->grid, &reference->grid))
            continue;
        bool known = s->grid.source != VXS_AFFINE_NONE;
        if (!build->settings->resample || !known)
            report_difference(build, s, reference);
        else
            s->other_grid = true;
    }
}

/* The requested grid, or else the most frequent one. */
static vxs_status find_reference(const vxs_build *build, vxs_subject *given,
                                 const vxs_subject **reference, vxs_error *err)
{
    vxs_image image;
    if (!build->settings->onto) {
        *reference = most_common(build);
        return VXS_OK;
    }
    vxs_status status = vxs_image_read_header(build->settings->onto, &image, err);
    if (status)
        return status;
    *given = (vxs_subject){ .grid = image.grid, .path = (char *)build->settings->onto };
    *reference = given;
    vxs_image_release(&image);
    return VXS_OK;
}

/* --mem is a target that image processing may exceed; the machine's memory and the NIfTI limits of
 * the mask are hard limits. */
static vxs_status check_size(const vxs_build *build, vxs_error *err)
{
    const size_t *n = build->grid.shape;
    if (n[0] > INT16_MAX || n[1] > INT16_MAX || n[2] > INT16_MAX)
        return vxs_fail(err, VXS_BAD_DATA,
                        "a grid of %zu x %zu x %zu voxels cannot be used: NIfTI-1 holds at most %d "
                        "along an axis",
                        n[0], n[1], n[2], INT16_MAX);
    uint64_t needed = vxs_build_fixed_bytes(build), there = vxs_memory_of_machine();
    if (needed <= there)
        return VXS_OK;
    return vxs_fail(err, VXS_FAILED,
                    "a grid of %zu x %zu x %zu voxels takes %.3g GB of memory, this machine has "
                    "%.3g GB; larger voxels or fewer threads take less",
                    n[0], n[1], n[2], (double)needed / 1e9, (double)there / 1e9);
}

vxs_status vxs_build_check_headers(vxs_build *build, vxs_error *err)
{
    vxs_subject given;
    const vxs_subject *reference = NULL;
    vxs_status status = read_headers(build, err);
    if (!status)
        status = find_reference(build, &given, &reference, err);
    if (status)
        return status;
    if (!reference)
        return vxs_build_check_problems(build, err);
    build->grid = reference->grid;
    compare_grids(build, reference);
    if (build->grid.source == VXS_AFFINE_NONE)
        vxs_log(build->context, VXS_LOG_WARNING,
                "the images have no orientation: left and right are unknown, and positions are "
                "relative to the first voxel, with voxels of %g x %g x %g mm%s",
                fabs(build->grid.affine[0][0]), fabs(build->grid.affine[1][1]),
                fabs(build->grid.affine[2][2]),
                build->grid.sizes_invented ? " (1 where the header has no size)" : "");
    if (build->settings->voxel_size > 0) {
        vxs_grid coarse;
        status = vxs_grid_with_voxel_size(&build->grid, build->settings->voxel_size, &coarse, err);
        if (status)
            return status;
        build->grid = coarse;
        for (size_t i = 0; i < build->count; i++)
            build->subjects[i].other_grid = true;
    }
    status = vxs_build_check_problems(build, err);
    return status ? status : check_size(build, err);
}
