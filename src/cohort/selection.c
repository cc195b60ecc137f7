/* selection.c - selects rows of the table by --only and --exclude, before images are read. */
#include "cohort/build.h"

#include <stdlib.h>

static bool has_expressions(const vxs_build *build)
{
    return build->settings->only.each[0] || build->settings->exclude.each[0];
}

vxs_status vxs_build_select(vxs_build *build, const vxs_table *table, vxs_error *err)
{
    const vxs_cohort_settings *s = build->settings;
    char words[VXS_FILTER_TEXT];
    if (!has_expressions(build) || build->filter.table)
        return VXS_OK;
    vxs_status status = vxs_row_filter_make(&build->filter, table, &s->only, &s->exclude, err);
    vxs_row_filter_words(&build->filter, words);
    if (!status)
        vxs_log(build->context, VXS_LOG_INFO, "of %zu rows of '%s', %s", vxs_table_rows(table),
                vxs_table_name(table), words);
    return status;
}

bool vxs_build_selects(const vxs_build *build, size_t row)
{
    return !build->filter.table || build->filter.by[row] == VXS_NO_FILTER;
}

char *vxs_build_unselected_words(const vxs_build *build, size_t row, vxs_error *err)
{
    size_t k = build->filter.by[row];
    const char *option = build->filter.each[k].option;
    return vxs_format(err, "%s by --%s %s", *option == 'o' ? "not selected" : "excluded", option,
                      build->filter.each[k].text);
}

vxs_status vxs_build_exclude(vxs_build *build, const vxs_table *table, vxs_error *err)
{
    if (!has_expressions(build))
        return VXS_OK;
    if (!build->filter.table)
        return vxs_fail(err, VXS_MISUSE,
                        "--only and --exclude require a table of subjects; pass --participants");
    for (size_t i = 0; i < build->count; i++) {
        vxs_subject *s = &build->subjects[i];
        size_t row = table == build->table ? s->row : i;
        if (s->unselected || row == NO_ROW || vxs_build_selects(build, row))
            continue;
        free(s->reason);
        s->reason = vxs_build_unselected_words(build, row, err);
        s->unselected = true;
        if (!s->reason)
            return VXS_FAILED;
    }
    return VXS_OK;
}

size_t vxs_build_unselected(const vxs_build *build)
{
    size_t count = 0;
    for (size_t i = 0; i < build->count; i++)
        count += build->subjects[i].unselected;
    return count;
}

void vxs_build_selection_json(vxs_json_writer *w, const vxs_build *build)
{
    const vxs_row_filter *f = &build->filter;
    vxs_json_whole(w, "not_selected",
                   (int64_t)(vxs_build_unselected(build) + build->excluded_count));
    vxs_json_open_array(w, "selection");
    for (size_t k = 0; k < f->count; k++) {
        vxs_json_open_object(w, NULL);
        vxs_json_text(w, "option", *f->each[k].option == 'o' ? "--only" : "--exclude");
        vxs_json_text(w, "expression", f->each[k].text);
        vxs_json_whole(w, "left_out", (int64_t)f->each[k].removed);
        vxs_json_close_object(w);
    }
    vxs_json_close_array(w);
    vxs_json_open_array(w, "not_selected_list");
    for (size_t i = 0; i < build->count; i++) {
        if (!build->subjects[i].unselected)
            continue;
        vxs_json_open_object(w, NULL);
        vxs_json_text(w, "id", build->subjects[i].id);
        vxs_json_text(w, "reason", build->subjects[i].reason);
        vxs_json_close_object(w);
    }
    for (size_t k = 0; k < build->excluded_count; k++) {
        char *reason = vxs_build_unselected_words(build, build->excluded[k], NULL);
        const char *id = vxs_table_cell(build->table, build->excluded[k], build->id_column);
        vxs_json_open_object(w, NULL);
        vxs_json_text(w, "id", id);
        vxs_json_text(w, "reason", reason);
        vxs_json_close_object(w);
        free(reason);
    }
    vxs_json_close_array(w);
}
