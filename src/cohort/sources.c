/* sources.c - turns the arguments of the command line into a list of subjects with their images. */
#include "cohort/build.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

vxs_status vxs_build_add(vxs_build *build, const char *id, char *path, size_t volume, size_t row,
                         vxs_error *err)
{
    if (build->count == build->room) {
        size_t room = build->room ? 2 * build->room : 64;
        vxs_subject *larger = vxs_resize(build->subjects, room, sizeof(*larger), err);
        if (!larger) {
            free(path);
            return VXS_FAILED;
        }
        build->subjects = larger;
        build->room = room;
    }
    vxs_subject *s = &build->subjects[build->count];
    *s = (vxs_subject){
        .id = vxs_shown(id, err), .path = path, .volume = volume, .row = row, .factor = 1
    };
    build->count++;
    return s->id ? VXS_OK : VXS_FAILED;
}

static bool has_ending(const char *name, const char *ending)
{
    size_t n = strlen(name), m = strlen(ending);
    return n > m && strcasecmp(name + n - m, ending) == 0;
}

static vxs_status add_file(vxs_build *build, const char *path, vxs_error *err)
{
    char *id = vxs_id_of_image(path, err);
    char *copy = id ? vxs_format(err, "%s", path) : NULL;
    vxs_status status = copy ? vxs_build_add(build, id, copy, 0, NO_ROW, err) : VXS_FAILED;
    free(id);
    return status;
}

static int by_name(const void *a, const void *b)
{
    const char *const *left = a, *const *right = b;
    return strcmp(*left, *right);
}

/* Adds all images of a folder, in the order of their names. */
static vxs_status add_folder(vxs_build *build, const char *path, vxs_error *err)
{
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, NULL, alphasort);
    vxs_status status = VXS_OK;
    if (count < 0)
        return vxs_fail(err, VXS_MISSING, "cannot read '%s': %s", path, strerror(errno));
    for (int k = 0; k < count; k++) {
        if (vxs_is_image_name(entries[k]->d_name) && entries[k]->d_name[0] != '.' && !status) {
            char *file = vxs_format(err, "%s/%s", path, entries[k]->d_name);
            status = file ? add_file(build, file, err) : VXS_FAILED;
            free(file);
        }
        free(entries[k]);
    }
    free(entries);
    return status;
}

static vxs_status add_pattern(vxs_build *build, const char *pattern, vxs_error *err)
{
    glob_t found;
    vxs_status status = VXS_OK;
    if (glob(pattern, 0, NULL, &found) != 0)
        return vxs_fail(err, VXS_MISSING, "no file matches '%s'", pattern);
    qsort(found.gl_pathv, found.gl_pathc, sizeof(*found.gl_pathv), by_name);
    for (size_t k = 0; k < found.gl_pathc && !status; k++)
        status = add_file(build, found.gl_pathv[k], err);
    globfree(&found);
    return status;
}

/* The path of `name` in the folder of `file`. */
static char *beside(const char *file, const char *name, vxs_error *err)
{
    const char *slash = strrchr(file, '/');
    if (name[0] == '/' || !slash)
        return vxs_format(err, "%s", name);
    return vxs_format(err, "%.*s/%s", (int)(slash - file), file, name);
}

/* Adds the images of a text file with a path per line, relative to the text file. */
static vxs_status add_list(vxs_build *build, const char *list, vxs_error *err)
{
    char *text = NULL;
    size_t length = 0;
    vxs_status status = vxs_file_read(list, &text, &length, err);
    for (char *line = text; !status && *line;) {
        char *end = line + strcspn(line, "\r\n");
        char *next = end + strspn(end, "\r\n");
        while (end > line && isspace((unsigned char)end[-1]))
            end--;
        *end = '\0';
        char *file = *line && *line != '#' ? beside(list, line, err) : NULL;
        if (file)
            status = add_file(build, file, err);
        free(file);
        line = next;
    }
    free(text);
    return status;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* The pattern with each {column} replaced by the row's cell; NULL and a reason if a cell is
 * missing. */
static char *fill_pattern(const vxs_build *build, const char *pattern, size_t row, vxs_error *err)
{
    char *text = vxs_format(err, "%s", "");
    while (*pattern && text) {
        size_t plain = strcspn(pattern, "{");
        const char *close = pattern[plain] ? strchr(pattern + plain, '}') : NULL;
        char name[128] = "";
        const char *cell = "";
        if (close) {
            size_t column = 0;
            snprintf(name, sizeof(name), "%.*s", (int)(close - pattern - plain - 1),
                     pattern + plain + 1);
            if (vxs_table_find(build->table, name, &column, err)) {
                free(text);
                return NULL;
            }
            cell = vxs_table_path(build->table, row, column);
            cell = cell ? cell : "n/a";
        } else {
            plain = strlen(pattern);
        }
        char *longer = vxs_format(err, "%s%.*s%s", text, (int)plain, pattern, cell);
        free(text);
        text = longer;
        pattern += plain + (close ? (size_t)(close - pattern) - plain + 1 : 0);
    }
    return text;
}

/* Corrects sub-{participant_id} for ids with and without their own "sub-". */
static void mend_prefix(char *path)
{
    char *twice = strstr(path, "sub-sub-");
    while (twice) {
        memmove(twice, twice + 4, strlen(twice + 4) + 1);
        twice = strstr(path, "sub-sub-");
    }
}

/* Adds an excluded row, which needs no image. */
static vxs_status add_unselected(vxs_build *build, size_t row, vxs_error *err)
{
    const char *id = vxs_table_cell(build->table, row, build->id_column);
    vxs_status status = vxs_build_add(build, id ? id : "?", NULL, 0, row, err);
    if (status)
        return status;
    vxs_subject *s = &build->subjects[build->count - 1];
    s->reason = vxs_build_unselected_words(build, row, err);
    s->unselected = true;
    return s->reason ? VXS_OK : VXS_FAILED;
}

vxs_status vxs_build_cell_path(const vxs_build *build, size_t column, size_t row, char **path,
                               vxs_error *err)
{
    const char *cell = vxs_table_path(build->table, row, column);
    *path = cell ? beside(vxs_table_name(build->table), cell, err) : NULL;
    return !cell || *path ? VXS_OK : VXS_FAILED;
}

/* The path of a row's image, by --pattern or the image column; NULL where the cell is empty. */
static vxs_status row_path(const vxs_build *build, const char *table, size_t column, size_t row,
                           char **path, vxs_error *err)
{
    const char *pattern = build->settings->pattern;
    if (!pattern)
        return vxs_build_cell_path(build, column, row, path, err);
    char *filled = fill_pattern(build, pattern, row, err);
    *path = NULL;
    if (!filled)
        return err && err->status ? err->status : VXS_FAILED;
    mend_prefix(filled);
    *path = beside(table, filled, err);
    free(filled);
    return *path ? VXS_OK : VXS_FAILED;
}

static vxs_status add_row(vxs_build *build, const char *table, size_t column, size_t row,
                          vxs_error *err)
{
    if (!vxs_build_selects(build, row))
        return add_unselected(build, row, err);
    const char *id = vxs_table_cell(build->table, row, build->id_column);
    char line[48], *path;
    vxs_status status = row_path(build, table, column, row, &path, err);
    if (status)
        return status;
    snprintf(line, sizeof(line), "line %zu", vxs_table_line(build->table, row));
    status = vxs_build_add(build, id ? id : line, path, 0, row, err);
    if (status)
        return status;
    vxs_subject *s = &build->subjects[build->count - 1];
    if (!id)
        s->reason = vxs_format(err, "the table has no id for it");
    else if (!path)
        s->reason = vxs_format(err, "the table names no image");
    if (s->reason)
        vxs_log(build->context, VXS_LOG_WARNING, "left out '%s': %s", s->id, s->reason);
    return VXS_OK;
}

static vxs_status add_table(vxs_build *build, const char *path, vxs_error *err)
{
    const vxs_cohort_settings *settings = build->settings;
    size_t column = 0;
    vxs_status status = vxs_build_read_table(build, path, err);
    if (!status && !settings->image_column && !settings->pattern)
        status = vxs_fail(
            err, VXS_MISUSE,
            "'%s' is a table; pass --image-column or --pattern for the paths of its images", path);
    if (!status && settings->image_column)
        status = vxs_table_find(build->table, settings->image_column, &column, err);
    for (size_t i = 0; !status && i < vxs_table_rows(build->table); i++)
        status = add_row(build, path, column, i, err);
    return status;
}

/* ---- One image with many volumes ------------------------------------------------------------- */

/* Adds the volumes of a 4D image; by --rows, row k belongs to volume k. */
static vxs_status add_volumes(vxs_build *build, const char *path, vxs_error *err)
{
    const vxs_cohort_settings *settings = build->settings;
    vxs_status status =
        settings->row_names
            ? vxs_table_read_bare(settings->rows, settings->row_names, &build->table, err)
            : vxs_table_read(settings->rows, &build->table, err);
    char hash[VXS_HASH_TEXT] = "";
    if (!status)
        status = vxs_image_read_hashed(path, &build->shared, hash, err);
    if (status)
        return status;
    size_t rows = vxs_table_rows(build->table), volumes = build->shared.volumes;
    if (rows != volumes)
        return vxs_fail(err, VXS_BAD_DATA, "'%s' has %zu volumes, but '%s' has %zu rows", path,
                        volumes, settings->rows, rows);
    build->is_shared = true;
    build->ids_invented = true;
    build->id_column = vxs_table_columns(build->table); /* --rows declares no column of ids */
    for (size_t k = 0; k < volumes && !status; k++) {
        char id[32];
        snprintf(id, sizeof(id), "volume-%06zu", k + 1);
        char *copy = vxs_format(err, "%s", path);
        status = copy ? vxs_build_add(build, id, copy, k, k, err) : VXS_FAILED;
        if (!status)
            memcpy(build->subjects[k].hash, hash, sizeof(hash));
    }
    return status ? status : vxs_build_select(build, build->table, err);
}

/* ---- Kind of source -------------------------------------------------------------------------- */

static vxs_status add_source(vxs_build *build, const char *source, vxs_error *err)
{
    struct stat about;
    bool there = stat(source, &about) == 0;
    if (there && S_ISDIR(about.st_mode))
        return add_folder(build, source, err);
    if (!there && strpbrk(source, "*?["))
        return add_pattern(build, source, err);
    if (vxs_is_image_name(source))
        return add_file(build, source, err);
    if (has_ending(source, ".txt") && !build->settings->image_column && !build->settings->pattern)
        return add_list(build, source, err);
    return add_table(build, source, err);
}

static vxs_status list_volumes(vxs_build *build, const char *const *sources, vxs_error *err)
{
    if (!sources[0] || sources[1] || !vxs_is_image_name(sources[0]))
        return vxs_fail(err, VXS_MISUSE, "--rows requires one 4D image");
    vxs_status status = add_volumes(build, sources[0], err);
    return status ? status : vxs_build_exclude(build, build->table, err);
}

static vxs_status join_participants(vxs_build *build, vxs_error *err)
{
    const char *participants = build->settings->participants;
    vxs_status status = VXS_OK;
    if (participants && build->table)
        status = vxs_fail(err, VXS_MISUSE, "--participants requires images as source, not a table");
    else if (participants)
        status = vxs_build_read_table(build, participants, err);
    if (!status && build->table)
        status = vxs_build_join(build, err);
    return status ? status : vxs_build_exclude(build, build->table, err);
}

vxs_status vxs_build_list(vxs_build *build, const char *const *sources, vxs_error *err)
{
    vxs_status status = VXS_OK;
    if (build->settings->rows)
        return list_volumes(build, sources, err);
    for (size_t k = 0; sources[k] && !status; k++) {
        if (build->table)
            status = vxs_fail(err, VXS_MISUSE, "one table is required, without other sources");
        else
            status = add_source(build, sources[k], err);
    }
    if (!status && build->count == 0)
        status = vxs_fail(err, VXS_MISSING, "the sources contain no image");
    if (!status && !build->table)
        status = vxs_build_separate_ids(build, err);
    return status ? status : join_participants(build, err);
}
