/* info_image.c - describes the grid, orientation, type and range of an image. */
#include "cli/info.h"

#include <math.h>
#include <stdlib.h>

#define FORMS_AGREE 0.1 /* mm at a corner */

static const char *code_words(int code)
{
    static const char *const words[] = { "unknown",   "scanner", "aligned",
                                         "Talairach", "MNI 152", "other template" };
    return code >= 0 && code <= 5 ? words[code] : "not in the standard";
}

static const char *unit_words(int units)
{
    static const char *const words[] = { "unknown", "m", "mm", "um" };
    return (units & 7) <= 3 ? words[units & 7] : "not in the standard";
}

/* Warns of properties that silently corrupt results. */
static void warn_of_oddities(const vxs_call *call, const vxs_image *image,
                             const vxs_image_summary *summary)
{
    const char *path = call->operands[0];
    int spatial = image->units & 7;
    if (image->grid.source == VXS_AFFINE_NONE)
        vxs_log(call->context, VXS_LOG_WARNING,
                "'%s': neither sform nor qform can be used; left and right are unknown", path);
    if (image->grid.source == VXS_AFFINE_QFORM && image->grid.sform_code > 0)
        vxs_log(call->context, VXS_LOG_WARNING, "'%s': its sform is singular; the qform is used",
                path);
    if (image->forms_distance > FORMS_AGREE)
        vxs_log(call->context, VXS_LOG_WARNING,
                "'%s': sform and qform differ by %.3g mm at a corner; the sform is used", path,
                image->forms_distance);
    if (spatial == 1 || spatial == 3)
        vxs_log(call->context, VXS_LOG_WARNING,
                "'%s': its header says %s; the numbers are read as mm", path,
                spatial == 1 ? "meters" : "micrometers");
    if (summary->nonfinite > 0)
        vxs_log(call->context, VXS_LOG_WARNING, "'%s': %zu values are NaN or infinite", path,
                summary->nonfinite);
    if (summary->max == 0 && summary->min == 0)
        vxs_log(call->context, VXS_LOG_WARNING, "'%s': all values are 0", path);
}

/* Number of voxels of each label. */
static size_t *count_voxels(const vxs_atlas *atlas, vxs_error *err)
{
    size_t *counts = vxs_alloc(atlas->count, sizeof(*counts), err);
    for (size_t v = 0; counts && v < vxs_grid_voxels(&atlas->grid); v++) {
        size_t at = vxs_atlas_find(atlas, atlas->labels[v]);
        if (at < atlas->count)
            counts[at]++;
    }
    return counts;
}

static void print_labels_json(vxs_json_writer *w, const vxs_atlas *atlas, const size_t *counts)
{
    vxs_json_open_array(w, "labels");
    for (size_t k = 0; k < atlas->count; k++) {
        vxs_json_open_object(w, NULL);
        vxs_json_whole(w, "value", atlas->values[k]);
        vxs_json_text(w, "name", atlas->names[k]);
        vxs_json_whole(w, "voxels", (int64_t)counts[k]);
        vxs_json_real(w, "volume_mm3", (double)counts[k] * vxs_grid_voxel_volume(&atlas->grid));
        vxs_json_close_object(w);
    }
    vxs_json_close_array(w);
}

static void print_labels(FILE *out, const vxs_atlas *atlas, const size_t *counts)
{
    double volume = vxs_grid_voxel_volume(&atlas->grid);
    fprintf(out, "  an atlas of  %zu label%s:\n", atlas->count, vxs_plural(atlas->count));
    for (size_t k = 0; k < atlas->count; k++)
        fprintf(out, "  %11d  %s, %zu voxel%s, %.6g mm3\n", atlas->values[k], atlas->names[k],
                counts[k], vxs_plural(counts[k]), (double)counts[k] * volume);
}

static void print_json(const vxs_call *call, const vxs_image *image,
                       const vxs_image_summary *summary, const vxs_atlas *atlas,
                       const size_t *counts)
{
    char text[VXS_ORIENTATION_TEXT];
    double size[3];
    vxs_json_writer w;
    vxs_grid_voxel_size(&image->grid, size);
    vxs_json_init(&w, call->out);
    vxs_json_open_object(&w, NULL);
    vxs_json_text(&w, "kind", atlas ? "atlas" : "image");
    vxs_json_text(&w, "format", image->format);
    vxs_json_open_array(&w, "shape");
    for (int d = 0; d < image->ndim; d++)
        vxs_json_whole(&w, NULL, (int64_t)image->dims[d]);
    vxs_json_close_array(&w);
    vxs_json_text(&w, "datatype", vxs_image_datatype_name(image->datatype));
    vxs_json_text(&w, "orientation", vxs_grid_orientation_text(&image->grid, text));
    vxs_json_open_array(&w, "affine");
    for (int r = 0; r < 4; r++) {
        vxs_json_open_array(&w, NULL);
        for (int c = 0; c < 4; c++)
            vxs_json_real(&w, NULL, image->grid.affine[r][c]);
        vxs_json_close_array(&w);
    }
    vxs_json_close_array(&w);
    vxs_json_open_array(&w, "voxel_size");
    for (int d = 0; d < 3; d++)
        vxs_json_real(&w, NULL, size[d]);
    vxs_json_close_array(&w);
    vxs_json_whole(&w, "sform_code", image->grid.sform_code);
    vxs_json_whole(&w, "qform_code", image->grid.qform_code);
    vxs_json_real(&w, "slope", image->slope);
    vxs_json_real(&w, "intercept", image->intercept);
    vxs_json_whole(&w, "intent_code", image->intent_code);
    vxs_json_text(&w, "intent_name", image->intent_name);
    vxs_json_text(&w, "descrip", image->descrip);
    vxs_json_real(&w, "min", summary->min);
    vxs_json_real(&w, "max", summary->max);
    vxs_json_real(&w, "sum", summary->sum);
    vxs_json_whole(&w, "nonfinite", (int64_t)summary->nonfinite);
    vxs_json_whole(&w, "zeros", (int64_t)summary->zeros);
    if (atlas)
        print_labels_json(&w, atlas, counts);
    vxs_close_json(call, &w);
}

static void print_words(FILE *out, const char *path, const vxs_image *image,
                        const vxs_image_summary *summary)
{
    const vxs_grid *grid = &image->grid;
    char text[VXS_ORIENTATION_TEXT];
    double size[3], first[3] = { 0, 0, 0 }, corner[3];
    vxs_grid_voxel_size(grid, size);
    vxs_grid_position(grid, first, corner);
    fprintf(out, "'%s' is a %s image of ", path, image->format);
    for (int d = 0; d < image->ndim; d++)
        fprintf(out, "%s%zu", d ? " x " : "", image->dims[d]);
    fprintf(out, " voxels.\n  voxel size   %.6g x %.6g x %.6g (%s)\n", size[0], size[1], size[2],
            unit_words(image->units));
    fprintf(out, "  orientation  %s, first voxel at (%.6g, %.6g, %.6g) mm\n",
            vxs_grid_orientation_text(grid, text), corner[0], corner[1], corner[2]);
    fprintf(out, "  space        sform %s, qform %s\n", code_words(grid->sform_code),
            code_words(grid->qform_code));
    fprintf(out, "  values       %s", vxs_image_datatype_name(image->datatype));
    if (image->slope != 1 || image->intercept != 0)
        fprintf(out, ", stored x %.9g + %.9g", image->slope, image->intercept);
    if (isfinite(summary->min))
        fprintf(out, ", from %.9g to %.9g, %zu zeros", summary->min, summary->max, summary->zeros);
    fputc('\n', out);
    if (image->descrip[0])
        fprintf(out, "  described as '%s'\n", image->descrip);
}

static vxs_status describe(const vxs_call *call, const char *path, const vxs_atlas *atlas,
                           vxs_error *err)
{
    vxs_image image;
    vxs_image_summary summary;
    vxs_status status = vxs_image_read(path, &image, err);
    if (status)
        return status;
    size_t *counts = atlas ? count_voxels(atlas, err) : NULL;
    vxs_image_summarize(&image, &summary);
    if (atlas && !counts)
        status = VXS_FAILED;
    else
        warn_of_oddities(call, &image, &summary);
    if (!status && call->shared->json) {
        print_json(call, &image, &summary, atlas, counts);
    } else if (!status) {
        print_words(call->out, path, &image, &summary);
        if (atlas)
            print_labels(call->out, atlas, counts);
    }
    free(counts);
    vxs_image_release(&image);
    return status;
}

/* Describes an image, with the labels of a text file beside it if that is a label table. */
vxs_status vxs_info_image(const vxs_call *call, vxs_error *err)
{
    const char *path = call->operands[0];
    vxs_atlas atlas = { .labels = NULL };
    bool labels = vxs_atlas_is(path) && vxs_atlas_read(path, NULL, &atlas, NULL) == VXS_OK;
    vxs_status status = describe(call, path, labels ? &atlas : NULL, err);
    vxs_atlas_release(&atlas);
    return status;
}

/* Describes an image by name: an atlas, or the background of maps. */
vxs_status vxs_info_atlas(const vxs_call *call, vxs_error *err)
{
    const char *name = call->operands[0];
    char *path = NULL;
    vxs_atlas atlas = { .labels = NULL };
    vxs_status status = vxs_atlas_locate(name, &path, err);
    bool labels = !status && vxs_atlas_is(name);
    if (labels)
        status = vxs_atlas_read(name, NULL, &atlas, err);
    if (!status)
        status = describe(call, labels ? atlas.path : path, labels ? &atlas : NULL, err);
    vxs_atlas_release(&atlas);
    free(path);
    return status;
}
