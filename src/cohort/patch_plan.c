/* patch_plan.c - what a row that is a voxel consists of: contrasts, patch, means and coordinates;
 * names of the features; its record in cohorts and models. */
#include "cohort/patches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CUBE(n) ((n) * (n) * (n))

static const int scales[] = { VXS_SCALE_NONE, VXS_SCALE_GLOBAL, VXS_SCALE_Z };

const vxs_json *vxs_patches_of(const vxs_json *about)
{
    const vxs_json *patches = vxs_json_get(about, "patches");
    return patches && patches->kind == VXS_JSON_OBJECT ? patches : NULL;
}

const vxs_json *vxs_cohort_patches(const vxs_cohort *c)
{
    return c->bags ? NULL : vxs_patches_of(c->about);
}

const vxs_json *vxs_patches_within(const vxs_json *about)
{
    const vxs_json *instances = vxs_json_get(about, VXS_INSTANCE_PATCHES);
    return instances && instances->kind == VXS_JSON_OBJECT ? instances : vxs_patches_of(about);
}

void vxs_patch_plan_release(vxs_patch_plan *plan)
{
    for (size_t c = 0; c < plan->contrast_count; c++)
        free(plan->contrasts[c]);
    free(plan->mask);
    *plan = (vxs_patch_plan){ .edge = 0 };
}

static size_t of_contrast(const vxs_patch_plan *plan)
{
    return CUBE(plan->edge) + plan->mean_count;
}

static void count_features(vxs_patch_plan *plan)
{
    plan->p = plan->contrast_count * of_contrast(plan) + (plan->coordinates ? 3 : 0);
}

/* ---- From the settings ----------------------------------------------------------------------- */

static vxs_status add_contrast(vxs_patch_plan *plan, const char *name, size_t length,
                               vxs_error *err)
{
    if (length == 0)
        return vxs_fail(err, VXS_MISUSE, "--image-column has an empty name");
    if (plan->contrast_count == VXS_MOST_CONTRASTS)
        return vxs_fail(err, VXS_MISUSE, "--image-column names more than %d columns",
                        VXS_MOST_CONTRASTS);
    for (size_t c = 0; c < plan->contrast_count; c++)
        if (strlen(plan->contrasts[c]) == length && strncmp(plan->contrasts[c], name, length) == 0)
            return vxs_fail(err, VXS_MISUSE, "--image-column names '%s' twice", plan->contrasts[c]);
    char *copy = vxs_format(err, "%.*s", (int)length, name);
    if (!copy)
        return VXS_FAILED;
    plan->contrasts[plan->contrast_count++] = copy;
    return VXS_OK;
}

static vxs_status read_contrasts(const char *list, vxs_patch_plan *plan, vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (bool more = true; more && !status;) {
        size_t length = strcspn(list, ",");
        status = add_contrast(plan, list, length, err);
        more = list[length] == ',';
        list += length + more;
    }
    return status;
}

static vxs_status read_means(const char *list, vxs_patch_plan *plan, vxs_error *err)
{
    if (!list)
        return VXS_OK;
    bool fine = vxs_parse_reals(list, plan->means, VXS_MOST_MEANS, &plan->mean_count);
    for (size_t k = 0; k < plan->mean_count && fine; k++)
        fine = plan->means[k] > 0 && plan->means[k] <= 100 &&
               (k == 0 || plan->means[k] > plan->means[k - 1]);
    if (fine && plan->mean_count > 0)
        return VXS_OK;
    return vxs_fail(err, VXS_MISUSE,
                    "--means expects up to %d ascending distances in mm, at most 100, not '%s'",
                    VXS_MOST_MEANS, list);
}

static vxs_status check_settings(const vxs_patch_settings *s, vxs_error *err)
{
    if (!s->sources.image_column)
        return vxs_fail(err, VXS_MISUSE, "option '--image-column A,B' is missing");
    if (!s->label_column)
        return vxs_fail(err, VXS_MISUSE, "option '--label-column NAME' is missing");
    if (s->patch % 2 == 0)
        return vxs_fail(err, VXS_MISUSE,
                        "--patch expects an odd number, so that a voxel is in the middle, not %lld",
                        (long long)s->patch);
    if (s->mask && s->mask_column)
        return vxs_fail(err, VXS_MISUSE, "--mask and --mask-column exclude each other");
    return VXS_OK;
}

vxs_status vxs_patch_plan_make(const vxs_patch_settings *s, vxs_patch_plan *plan, vxs_error *err)
{
    *plan = (vxs_patch_plan){ .edge = (size_t)s->patch,
                              .coordinates = s->coordinates,
                              .scale = scales[s->scale],
                              .voxel_size = { NAN, NAN, NAN } };
    bool rule = !s->mask || strcmp(s->mask, "nonzero") == 0 || strcmp(s->mask, "auto") == 0;
    vxs_status status = check_settings(s, err);
    if (!status)
        status = read_contrasts(s->sources.image_column, plan, err);
    if (!status)
        status = read_means(s->means, plan, err);
    if (!status) {
        plan->mask = vxs_format(err, "%s",
                                s->mask_column    ? "--mask-column"
                                : !rule           ? "--mask"
                                : s->mask != NULL ? s->mask
                                                  : "nonzero");
        status = plan->mask ? VXS_OK : VXS_FAILED;
    }
    count_features(plan);
    if (status)
        vxs_patch_plan_release(plan);
    return status;
}

/* ---- Its record ------------------------------------------------------------------------------ */

void vxs_patch_plan_json(vxs_json_writer *w, const vxs_patch_plan *plan,
                         const vxs_patch_settings *s)
{
    vxs_json_open_object(w, "patches");
    vxs_json_open_array(w, "image_columns");
    for (size_t c = 0; c < plan->contrast_count; c++)
        vxs_json_text(w, NULL, plan->contrasts[c]);
    vxs_json_close_array(w);
    vxs_json_whole(w, "patch", (int64_t)plan->edge);
    vxs_json_open_array(w, "means");
    for (size_t k = 0; k < plan->mean_count; k++)
        vxs_json_real(w, NULL, plan->means[k]);
    vxs_json_close_array(w);
    vxs_json_bool(w, "coordinates", plan->coordinates);
    for (size_t k = 0; vxs_patch_scales[k]; k++)
        if (scales[k] == plan->scale)
            vxs_json_text(w, "scale", vxs_patch_scales[k]);
    vxs_json_text(w, "mask", plan->mask);
    vxs_json_open_array(w, "voxel_size");
    for (int d = 0; d < 3; d++)
        vxs_json_real(w, NULL, plan->voxel_size[d]);
    vxs_json_close_array(w);
    vxs_json_text(w, "mask_file", s->mask_column ? s->mask_column : s->mask);
    vxs_json_text(w, "label_column", s->label_column);
    vxs_json_real(w, "label_threshold", s->label_threshold);
    vxs_json_whole(w, "per_class", s->per_class);
    vxs_json_whole(w, "seed", s->seed);
    vxs_json_close_object(w);
}

static size_t read_numbers(const vxs_json *list, double *values, size_t most)
{
    size_t count = 0;
    const vxs_json *item = list && list->kind == VXS_JSON_ARRAY ? list->first : NULL;
    for (; item && count < most; item = item->next)
        values[count++] = item->kind == VXS_JSON_NUMBER ? item->number : NAN;
    return count;
}

static vxs_status read_names(const vxs_json *list, vxs_patch_plan *plan, vxs_error *err)
{
    vxs_status status = VXS_OK;
    const vxs_json *item = list && list->kind == VXS_JSON_ARRAY ? list->first : NULL;
    for (; item && !status; item = item->next)
        if (item->kind == VXS_JSON_TEXT)
            status = add_contrast(plan, item->text, strlen(item->text), err);
    return status;
}

static bool is_plausible(const vxs_patch_plan *plan)
{
    for (size_t k = 0; k < plan->mean_count; k++)
        if (!(plan->means[k] > 0 && plan->means[k] <= 100))
            return false;
    return plan->contrast_count > 0 && plan->edge % 2 == 1 && plan->edge <= VXS_MOST_EDGE;
}

vxs_status vxs_patch_plan_read(const vxs_json *patches, const char *file, vxs_patch_plan *plan,
                               vxs_error *err)
{
    const char *scale = vxs_json_get_text(patches, "scale");
    const char *mask = vxs_json_get_text(patches, "mask");
    double edge = vxs_json_get_number(patches, "patch");
    const vxs_json *coordinates = vxs_json_get(patches, "coordinates");
    bool known = false;
    *plan = (vxs_patch_plan){ .voxel_size = { NAN, NAN, NAN } };
    plan->edge = edge >= 1 && edge <= VXS_MOST_EDGE ? (size_t)edge : 0;
    plan->coordinates =
        coordinates && coordinates->kind == VXS_JSON_BOOL && coordinates->number != 0;
    plan->mean_count = read_numbers(vxs_json_get(patches, "means"), plan->means, VXS_MOST_MEANS);
    (void)read_numbers(vxs_json_get(patches, "voxel_size"), plan->voxel_size, 3);
    for (size_t k = 0; scale && vxs_patch_scales[k]; k++)
        if (strcmp(scale, vxs_patch_scales[k]) == 0) {
            plan->scale = scales[k];
            known = true;
        }
    vxs_status status = read_names(vxs_json_get(patches, "image_columns"), plan, err);
    if (!status && (!known || !mask || !is_plausible(plan)))
        status =
            vxs_fail(err, VXS_BAD_DATA, "'%s': 'patches' does not say how rows were made", file);
    plan->mask = status ? NULL : vxs_format(err, "%s", mask);
    if (!status && !plan->mask)
        status = VXS_FAILED;
    count_features(plan);
    if (status)
        vxs_patch_plan_release(plan);
    return status;
}

static vxs_status replace_contrasts(const char *list, vxs_patch_plan *plan, vxs_error *err)
{
    vxs_patch_plan other = { .edge = 0 };
    vxs_status status = read_contrasts(list, &other, err);
    if (!status && other.contrast_count != plan->contrast_count)
        status =
            vxs_fail(err, VXS_MISUSE, "the model has %zu contrast%s, --image-column names %zu",
                     plan->contrast_count, vxs_plural(plan->contrast_count), other.contrast_count);
    for (size_t c = 0; c < other.contrast_count && !status; c++) {
        char *kept = plan->contrasts[c];
        plan->contrasts[c] = other.contrasts[c];
        other.contrasts[c] = kept;
    }
    vxs_patch_plan_release(&other);
    return status;
}

vxs_status vxs_patch_plan_repeat(const vxs_patch_settings *s, vxs_patch_plan *plan, vxs_error *err)
{
    vxs_status status = VXS_OK;
    if (s->mask && s->mask_column)
        return vxs_fail(err, VXS_MISUSE, "--mask and --mask-column exclude each other");
    if (s->sources.image_column)
        status = replace_contrasts(s->sources.image_column, plan, err);
    if (!status && (s->mask || s->mask_column)) {
        char *mask = vxs_format(err, "%s", s->mask_column ? "--mask-column" : s->mask);
        free(plan->mask);
        plan->mask = mask;
        status = mask ? VXS_OK : VXS_FAILED;
    } else if (!status && plan->mask[0] == '-') {
        status = vxs_fail(err, VXS_MISUSE,
                          "voxels of the model were those of masks that %s named; pass --mask or "
                          "--mask-column for new images (--mask nonzero: all that are not 0)",
                          plan->mask);
    }
    return status;
}

/* ---- Features -------------------------------------------------------------------------------- */

vxs_patch_feature vxs_patch_feature_at(const vxs_patch_plan *plan, size_t j)
{
    size_t each = of_contrast(plan), e = plan->edge, cube = CUBE(e);
    vxs_patch_feature f = { .contrast = SIZE_MAX, .radius = NAN, .axis = -1 };
    if (j >= plan->contrast_count * each) {
        f.axis = (int)(j - plan->contrast_count * each);
        return f;
    }
    size_t at = j % each, place[3] = { at % e, at / e % e, at / (e * e) };
    f.contrast = j / each;
    if (at >= cube) {
        f.radius = plan->means[at - cube];
        return f;
    }
    for (int d = 0; d < 3; d++)
        f.step[d] = (int)place[d] - (int)(e / 2);
    return f;
}

char *vxs_patch_feature_name(const vxs_patch_plan *plan, size_t j, vxs_error *err)
{
    static const char *const axes[] = { "x", "y", "z" };
    vxs_patch_feature f = vxs_patch_feature_at(plan, j);
    char radius[VXS_REAL_TEXT];
    if (f.axis >= 0)
        return vxs_format(err, "%s", axes[f.axis]);
    const char *contrast = plan->contrasts[f.contrast];
    if (!isnan(f.radius))
        return vxs_format(err, "%s mean %s mm", contrast, vxs_real_text(f.radius, radius));
    if (plan->edge == 1)
        return vxs_format(err, "%s", contrast);
    return vxs_format(err, "%s(%d,%d,%d)", contrast, f.step[0], f.step[1], f.step[2]);
}
