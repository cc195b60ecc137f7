/* group_tables.c - reads and writes groups of features as tables: columns group and feature, or for
 * trees feature and path. */
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const vxs_table *table;
    const vxs_feature_names *names;
    size_t feature, other; /* indices of the columns with features, and with groups or paths */
} rows;

/* Opens a table of features. */
typedef vxs_status read_rows(const rows *t, vxs_groups *g, vxs_error *err);

static vxs_status read_table(const char *path, const vxs_cohort *c, const char *column,
                             read_rows *read, vxs_groups *g, vxs_error *err)
{
    rows t = { .table = NULL };
    vxs_table *table = NULL;
    vxs_feature_names names = { .order = NULL };
    vxs_status status = vxs_table_read(path, &table, err);
    if (!status)
        status = vxs_table_find(table, column, &t.other, err);
    if (!status)
        status = vxs_table_find(table, "feature", &t.feature, err);
    if (!status && vxs_table_rows(table) == 0)
        status = vxs_fail(err, VXS_BAD_DATA, "'%s' names no feature", path);
    if (!status)
        status = vxs_feature_names_new(c, path, &names, err);
    if (!status) {
        t.table = table;
        t.names = &names;
        status = read(&t, g, err);
    }
    vxs_feature_names_release(&names);
    vxs_table_free(table);
    if (status)
        vxs_groups_release(g);
    return status;
}

static vxs_status find_feature(const rows *t, size_t row, size_t *feature, vxs_error *err)
{
    if (!vxs_table_cell(t->table, row, t->feature))
        return vxs_fail(err, VXS_BAD_DATA, "'%s' line %zu: the feature has no name", t->names->path,
                        vxs_table_line(t->table, row));
    return vxs_feature_names_find(t->names, t->table, row, t->feature, feature, err);
}

/* ---- Groups and their features --------------------------------------------------------------- */

typedef struct {
    const char *name;
    size_t row, first; /* row of the table, and first row of its group */
    size_t feature;
} membership;

static int by_name(const void *a, const void *b)
{
    const membership *left = a, *right = b;
    int order = strcmp(left->name, right->name);
    return order != 0 ? order : (left->row > right->row) - (left->row < right->row);
}

/* Sorts by the first row of the group in the table, then by the feature's index in the cohort. */
static int by_group(const void *a, const void *b)
{
    const membership *left = a, *right = b;
    if (left->first != right->first)
        return left->first < right->first ? -1 : 1;
    if (left->feature != right->feature)
        return left->feature < right->feature ? -1 : 1;
    return (left->row > right->row) - (left->row < right->row);
}

/* Returns the number of groups. */
static size_t order_members(membership *list, size_t count)
{
    size_t groups = 0;
    qsort(list, count, sizeof(*list), by_name);
    for (size_t k = 0; k < count; k++) {
        bool same = k > 0 && strcmp(list[k].name, list[k - 1].name) == 0;
        list[k].first = same ? list[k - 1].first : list[k].row;
        groups += !same;
    }
    qsort(list, count, sizeof(*list), by_group);
    return groups;
}

static vxs_status check_twice(const rows *t, const membership *list, size_t k, vxs_error *err)
{
    if (k == 0 || list[k].first != list[k - 1].first || list[k].feature != list[k - 1].feature)
        return VXS_OK;
    return vxs_fail(err, VXS_BAD_DATA, "'%s' line %zu: group '%s' has the feature '%s' already",
                    t->names->path, vxs_table_line(t->table, list[k].row), list[k].name,
                    vxs_table_cell(t->table, list[k].row, t->feature));
}

static vxs_status fill_groups(const rows *t, const membership *list, size_t count, vxs_groups *g,
                              vxs_error *err)
{
    size_t made = 0;
    vxs_status status = VXS_OK;
    for (size_t k = 0; k < count && !status; k++) {
        if (k == 0 || list[k].first != list[k - 1].first) {
            g->begin[made] = k;
            g->names[made] = vxs_format(err, "%s", list[k].name);
            status = g->names[made++] ? VXS_OK : VXS_FAILED;
        }
        if (!status)
            status = check_twice(t, list, k, err);
        g->member[k] = list[k].feature;
        g->end[made - 1] = k + 1;
    }
    return status;
}

static vxs_status read_groups(const rows *t, vxs_groups *g, vxs_error *err)
{
    size_t count = vxs_table_rows(t->table);
    membership *list = vxs_alloc(count, sizeof(*list), err);
    vxs_status status = list ? VXS_OK : VXS_FAILED;
    for (size_t row = 0; row < count && !status; row++) {
        list[row].row = row;
        list[row].name = vxs_table_cell(t->table, row, t->other);
        if (!list[row].name)
            status = vxs_fail(err, VXS_BAD_DATA, "'%s' line %zu: the group has no name",
                              t->names->path, vxs_table_line(t->table, row));
        else
            status = find_feature(t, row, &list[row].feature, err);
    }
    if (!status)
        status = vxs_groups_new(t->names->cohort->p, order_members(list, count), count, g, err);
    if (!status) {
        g->names = vxs_alloc(g->count, sizeof(*g->names), err);
        status = g->names ? fill_groups(t, list, count, g, err) : VXS_FAILED;
    }
    free(list);
    return status;
}

vxs_status vxs_groups_read(const char *path, const vxs_cohort *c, vxs_groups *g, vxs_error *err)
{
    return read_table(path, c, "group", read_groups, g, err);
}

/* ---- Features and their paths ---------------------------------------------------------------- */

static vxs_status read_path(const rows *t, size_t row, const char **paths, vxs_error *err)
{
    const char *path = vxs_table_cell(t->table, row, t->other);
    size_t line = vxs_table_line(t->table, row), feature = 0;
    if (!path)
        return vxs_fail(err, VXS_BAD_DATA, "'%s' line %zu: the path is empty", t->names->path,
                        line);
    if (path[0] == '/' || path[strlen(path) - 1] == '/' || strstr(path, "//"))
        return vxs_fail(err, VXS_BAD_DATA,
                        "'%s' line %zu: the path '%s' has a part without a name; parts stand "
                        "between slashes, as in brain/left",
                        t->names->path, line, path);
    vxs_status status = find_feature(t, row, &feature, err);
    if (!status && paths[feature])
        status = vxs_fail(err, VXS_BAD_DATA, "'%s' line %zu: the feature '%s' has a path already",
                          t->names->path, line, vxs_table_cell(t->table, row, t->feature));
    if (!status)
        paths[feature] = path;
    return status;
}

static vxs_status read_paths(const rows *t, vxs_groups *g, vxs_error *err)
{
    size_t p = t->names->cohort->p;
    const char **paths = vxs_alloc(p, sizeof(*paths), err);
    vxs_status status = paths ? VXS_OK : VXS_FAILED;
    for (size_t row = 0; row < vxs_table_rows(t->table) && !status; row++)
        status = read_path(t, row, paths, err);
    if (!status)
        status = vxs_groups_by_path(paths, p, g, err);
    free((void *)paths);
    return status;
}

vxs_status vxs_group_tree_read(const char *path, const vxs_cohort *c, vxs_groups *g, vxs_error *err)
{
    return read_table(path, c, "path", read_paths, g, err);
}

/* ---- Written --------------------------------------------------------------------------------- */

const char *vxs_group_name(const vxs_groups *g, const vxs_cohort *c, size_t group,
                           char buffer[VXS_GROUP_NAME])
{
    if (g->names)
        return g->names[group];
    if (c->kind != VXS_FEATURES_VOXELS)
        return vxs_cohort_feature(c, group, buffer);
    double index[3];
    vxs_grid_index(&c->grid, c->voxels[group], index);
    snprintf(buffer, VXS_GROUP_NAME, "%.0f,%.0f,%.0f", index[0], index[1], index[2]);
    return buffer;
}

static void write_groups(const vxs_groups *g, const vxs_cohort *c, vxs_tsv_writer *w)
{
    char name[VXS_GROUP_NAME], feature[32];
    vxs_tsv_text(w, "group");
    vxs_tsv_text(w, "feature");
    vxs_tsv_end_row(w);
    for (size_t k = 0; k < g->count; k++)
        for (size_t m = g->begin[k]; m < g->end[k]; m++) {
            vxs_tsv_text(w, vxs_group_name(g, c, k, name));
            vxs_tsv_text(w, vxs_cohort_feature(c, g->member[m], feature));
            vxs_tsv_end_row(w);
        }
}

/* Names made from paths contain their parents' names, others do not. */
static char *path_of(const vxs_groups *g, size_t group, char *const *paths, vxs_error *err)
{
    size_t parent = g->parent[group];
    const char *name = g->names[group];
    size_t length = parent == SIZE_MAX ? 0 : strlen(g->names[parent]);
    if (parent == SIZE_MAX || (strncmp(name, g->names[parent], length) == 0 && name[length] == '/'))
        return vxs_format(err, "%s", name);
    return vxs_format(err, "%s/%s", paths[parent], name);
}

static vxs_status write_tree(const vxs_groups *g, const vxs_cohort *c, vxs_tsv_writer *w,
                             vxs_error *err)
{
    char feature[32];
    char **paths = vxs_alloc(g->count, sizeof(*paths), err);
    size_t *deepest = vxs_alloc(g->nodes, sizeof(*deepest), err);
    vxs_status status = paths && deepest ? VXS_OK : VXS_FAILED;
    for (size_t j = 0; j < g->nodes && !status; j++)
        deepest[j] = SIZE_MAX;
    for (size_t k = 0; k < g->count && !status; k++) {
        paths[k] = path_of(g, k, paths, err);
        status = paths[k] ? VXS_OK : VXS_FAILED;
        for (size_t m = g->begin[k]; m < g->end[k]; m++)
            deepest[g->member[m]] = k; /* parents precede children */
    }
    if (!status) {
        vxs_tsv_text(w, "feature");
        vxs_tsv_text(w, "path");
        vxs_tsv_end_row(w);
    }
    for (size_t j = 0; j < g->nodes && !status; j++)
        if (deepest[j] != SIZE_MAX) {
            vxs_tsv_text(w, vxs_cohort_feature(c, j, feature));
            vxs_tsv_text(w, paths[deepest[j]]);
            vxs_tsv_end_row(w);
        }
    vxs_free_texts(paths, g->count);
    free(deepest);
    return status;
}

vxs_status vxs_groups_write(const vxs_groups *g, const vxs_cohort *c, FILE *stream, vxs_error *err)
{
    vxs_tsv_writer w;
    vxs_tsv_init(&w, stream);
    if (g->parent)
        return write_tree(g, c, &w, err);
    write_groups(g, c, &w);
    return VXS_OK;
}
