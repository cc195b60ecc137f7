/* patch_source.c - the subjects of a table, with the images of each. */
#include "cohort/patches.h"
#include "voxsift/internal/machine.h"

#include <stdlib.h>
#include <string.h>

enum { MASK = VXS_MOST_CONTRASTS, LABEL, PATHS };

void vxs_patch_source_release(vxs_patch_source *source)
{
    vxs_build_release(&source->build);
    source->build = (vxs_build){ .count = 0 };
}

/* ---- Columns --------------------------------------------------------------------------------- */

static vxs_status find_columns(const vxs_patch_settings *s, const vxs_patch_plan *plan,
                               vxs_patch_source *source, vxs_error *err)
{
    const vxs_table *table = source->build.table;
    vxs_status status = VXS_OK;
    source->label = source->mask = SIZE_MAX;
    for (size_t c = 0; c < plan->contrast_count && !status; c++)
        status = vxs_table_find(table, plan->contrasts[c], &source->column[c], err);
    if (!status && s->label_column)
        status = vxs_table_find(table, s->label_column, &source->label, err);
    if (!status && s->mask_column)
        status = vxs_table_find(table, s->mask_column, &source->mask, err);
    return status;
}

vxs_status vxs_patch_source_open(const vxs_context *context, const vxs_patch_settings *s,
                                 const vxs_patch_plan *plan, const char *table,
                                 vxs_patch_source *source, vxs_error *err)
{
    const char *const tables[] = { table, NULL };
    bool rule = !s->mask || strcmp(s->mask, "nonzero") == 0 || strcmp(s->mask, "auto") == 0;
    source->sources = s->sources;
    source->sources.image_column = plan->contrasts[0];
    source->sources.pattern = NULL;
    source->mask_file = rule ? NULL : s->mask;
    source->tolerance = s->sources.tolerance;
    source->build = (vxs_build){ .context = context, .settings = &source->sources };
    source->build.nthreads = vxs_context_threads(context);
    vxs_status status = vxs_build_list(&source->build, tables, err);
    if (!status && !source->build.table)
        status = vxs_fail(err, VXS_MISUSE, "'%s' is no table; one that names the images is needed",
                          table);
    if (!status)
        status = find_columns(s, plan, source, err);
    if (!status)
        status = vxs_build_find_people(&source->build, NULL, err);
    if (status)
        vxs_patch_source_release(source);
    return status;
}

/* ---- One subject ----------------------------------------------------------------------------- */

static void release_paths(char **paths)
{
    for (size_t k = 0; k < PATHS; k++)
        free(paths[k]);
}

/* Paths of contrasts, mask and label, as in vxs_patch_images; leaves out a subject without one. */
static vxs_status find_paths(vxs_patch_source *source, const vxs_patch_plan *plan,
                             vxs_subject *subject, char **paths, vxs_error *err)
{
    vxs_build *b = &source->build;
    vxs_status status = VXS_OK;
    size_t columns[PATHS], n = plan->contrast_count;
    for (size_t k = 0; k < PATHS; k++)
        columns[k] = k < n ? source->column[k] : SIZE_MAX;
    columns[MASK] = source->mask;
    columns[LABEL] = source->label;
    for (size_t k = 0; k < PATHS && !status; k++) {
        if (columns[k] == SIZE_MAX)
            continue;
        status = vxs_build_cell_path(b, columns[k], subject->row, &paths[k], err);
        if (!status && !paths[k])
            vxs_build_leave_out(b, subject, "the table names no image in column '%s'",
                                vxs_table_header(b->table, columns[k]));
    }
    return status;
}

vxs_status vxs_patch_source_read(vxs_patch_source *source, const vxs_patch_plan *plan,
                                 vxs_subject *subject, vxs_patch_images *images, bool *there,
                                 vxs_error *err)
{
    char *paths[PATHS] = { NULL };
    vxs_error why = VXS_ERROR_INIT;
    *images = (vxs_patch_images){ .values = NULL };
    *there = false;
    vxs_status status = find_paths(source, plan, subject, paths, err);
    if (!status && !subject->reason) {
        vxs_patch_paths p = { .mask = paths[MASK] ? paths[MASK] : source->mask_file,
                              .label = paths[LABEL] };
        for (size_t c = 0; c < plan->contrast_count; c++)
            p.contrasts[c] = paths[c];
        status = vxs_patch_images_read(plan, &p, source->tolerance, images, &why);
    }
    *there = !status && !subject->reason;
    if (*there)
        memcpy(images->path, paths, sizeof(paths));
    else
        release_paths(paths);
    if (why.status == VXS_FAILED) /* out of memory: no fault of the images */
        return vxs_fail(err, VXS_FAILED, "%s", why.message);
    if (why.status)
        vxs_build_leave_out(&source->build, subject, "%s", why.message);
    return why.status ? VXS_OK : status;
}

/* ---- cohort.json ----------------------------------------------------------------------------- */

/* A file of a column, or the one that an option names. */
static void file_json(vxs_json_writer *w, const vxs_build *b, size_t column, const char *path,
                      const char *hash)
{
    vxs_json_open_object(w, NULL);
    vxs_json_text(w, "column", column == SIZE_MAX ? NULL : vxs_table_header(b->table, column));
    vxs_json_text(w, "source", path);
    vxs_json_text(w, "sha256", hash);
    vxs_json_close_object(w);
}

void vxs_patch_files_json(vxs_json_writer *w, const vxs_patch_source *source,
                          const vxs_patch_plan *plan, const vxs_patch_images *m)
{
    const vxs_build *b = &source->build;
    vxs_json_open_array(w, "files");
    for (size_t c = 0; c < plan->contrast_count; c++)
        file_json(w, b, source->column[c], m->path[c], m->hash[c]);
    if (source->mask != SIZE_MAX || source->mask_file)
        file_json(w, b, source->mask, m->path[MASK] ? m->path[MASK] : source->mask_file,
                  m->hash[MASK]);
    if (source->label != SIZE_MAX)
        file_json(w, b, source->label, m->path[LABEL], m->hash[LABEL]);
    vxs_json_close_array(w);
    if (plan->scale != VXS_SCALE_NONE) {
        vxs_json_open_array(w, "shift");
        for (size_t c = 0; c < plan->contrast_count; c++)
            vxs_json_real(w, NULL, m->shift[c]);
        vxs_json_close_array(w);
        vxs_json_open_array(w, "factor");
        for (size_t c = 0; c < plan->contrast_count; c++)
            vxs_json_real(w, NULL, m->factor[c]);
        vxs_json_close_array(w);
    }
}
