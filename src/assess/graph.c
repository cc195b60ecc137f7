/* graph.c - which features are neighbours: by name of a rule, or from a table. */
#include "assess/model.h"

#include <math.h>
#include <string.h>

/* ---- From a table ---------------------------------------------------------------------------- */

typedef struct {
    const vxs_table *table;
    const vxs_feature_names *names;
    size_t from, to, weight; /* columns */
    bool has_weight;
} edges;

static vxs_status find_columns(edges *t, vxs_error *err)
{
    vxs_status status = vxs_table_find(t->table, "from", &t->from, err);
    if (!status)
        status = vxs_table_find(t->table, "to", &t->to, err);
    t->has_weight = !status && !vxs_table_find(t->table, "weight", &t->weight, NULL);
    return status;
}

static vxs_status read_edge(const edges *t, size_t row, vxs_graph *g, vxs_error *err)
{
    vxs_status status =
        vxs_feature_names_find(t->names, t->table, row, t->from, &g->from[row], err);
    if (!status)
        status = vxs_feature_names_find(t->names, t->table, row, t->to, &g->to[row], err);
    if (!status && t->has_weight)
        status = vxs_table_real(t->table, row, t->weight, &g->weight[row], err);
    if (!status && !(g->weight[row] > 0 && isfinite(g->weight[row])))
        status = vxs_fail(err, VXS_BAD_DATA, "'%s' line %zu: the weight of an edge must be above 0",
                          t->names->path, vxs_table_line(t->table, row));
    return status;
}

static vxs_status refuse_loops(const edges *t, const vxs_graph *g, vxs_error *err)
{
    size_t edge = 0;
    vxs_status status = vxs_graph_loop(g, &edge, err);
    if (!status && edge < g->count)
        status = vxs_fail(err, VXS_BAD_DATA,
                          "'%s' line %zu: the edge from '%s' to '%s' closes a loop; a tree, or "
                          "several, is wanted",
                          t->names->path, vxs_table_line(t->table, edge),
                          vxs_table_cell(t->table, edge, t->from),
                          vxs_table_cell(t->table, edge, t->to));
    return status;
}

static vxs_status read_rows(edges *t, bool tree, vxs_graph *g, vxs_error *err)
{
    size_t count = vxs_table_rows(t->table);
    vxs_status status = find_columns(t, err);
    if (!status)
        status = vxs_graph_new(t->names->cohort->p, count, g, err);
    for (size_t row = 0; row < count && !status; row++)
        status = read_edge(t, row, g, err);
    return status || !tree ? status : refuse_loops(t, g, err);
}

static vxs_status read_table(const char *path, const vxs_cohort *c, bool tree, vxs_graph *g,
                             vxs_error *err)
{
    vxs_table *table = NULL;
    vxs_feature_names names = { .order = NULL };
    vxs_status status = vxs_table_read(path, &table, err);
    if (!status)
        status = vxs_feature_names_new(c, path, &names, err);
    if (!status) {
        edges t = { .table = table, .names = &names };
        status = read_rows(&t, tree, g, err);
    }
    vxs_feature_names_release(&names);
    vxs_table_free(table);
    return status;
}

void vxs_graph_write(const vxs_graph *g, const vxs_cohort *c, FILE *stream)
{
    vxs_tsv_writer w;
    char name[32];
    vxs_tsv_init(&w, stream);
    vxs_tsv_text(&w, "from");
    vxs_tsv_text(&w, "to");
    vxs_tsv_text(&w, "weight");
    vxs_tsv_end_row(&w);
    for (size_t e = 0; e < g->count; e++) {
        vxs_tsv_text(&w, vxs_cohort_feature(c, g->from[e], name));
        vxs_tsv_text(&w, vxs_cohort_feature(c, g->to[e], name));
        vxs_tsv_real(&w, g->weight[e]);
        vxs_tsv_end_row(&w);
    }
}

/* ---- By a rule ------------------------------------------------------------------------------- */

static vxs_status make_tree(const vxs_context *context, vxs_task *t, vxs_error *err)
{
    const vxs_cohort *c = t->cohort;
    vxs_graph grid = { .nodes = 0 };
    bool voxels = c->kind == VXS_FEATURES_VOXELS;
    vxs_status status =
        voxels ? vxs_graph_grid(c->grid.shape, c->voxels, c->voxel_count, 6, &grid, err) : VXS_OK;
    if (!status)
        status = vxs_correlation_tree(context, t->design, voxels ? &grid : NULL, &t->graph, err);
    vxs_graph_release(&grid);
    return status;
}

/* Differences of weights are compared, so all must be in one unit. */
vxs_status vxs_task_check_settings(const vxs_task *t, vxs_error *err)
{
    const vxs_method *method = vxs_task_method(t);
    if (!method->needs_graph && !method->kernel && t->settings.graph)
        return vxs_fail(err, VXS_MISUSE, "method '%s' has no use for '--graph'", method->name);
    if (method->kernel && t->settings.penalties)
        return vxs_fail(err, VXS_MISUSE, "method '%s' has no use for '--penalties'", method->name);
    if (method->kernel && t->settings.confounds && t->settings.confounds_as != VXS_CONFOUNDS_OUT)
        return vxs_fail(err, VXS_MISUSE,
                        "method '%s' has nothing beside its kernels: confounds are taken out of "
                        "the features, with '--confounds-as out'",
                        method->name);
    if (method->needs_graph && t->settings.penalties)
        return vxs_fail(err, VXS_MISUSE,
                        "method '%s' penalises differences, not features: instead of '--penalties' "
                        "give the edges of '--graph' a column weight",
                        method->name);
    if (method->needs_graph && t->settings.standardize == (int)VXS_STANDARDIZE_UNIT)
        return vxs_fail(err, VXS_MISUSE,
                        "'--standardize unit' does not go with method '%s', which compares the "
                        "weights of neighbours: they would be in different units",
                        method->name);
    return VXS_OK;
}

static vxs_status make_grid(vxs_task *t, const char *graph, int connectivity, vxs_error *err)
{
    const vxs_cohort *c = t->cohort;
    if (c->kind != VXS_FEATURES_VOXELS)
        return vxs_fail(err, VXS_MISUSE, "'--graph %s' is of voxels; the features are not", graph);
    return vxs_graph_neighbours(c->grid.shape, c->voxels, c->voxel_count, connectivity, &t->graph,
                                err);
}

/* Voxels side by side, regions that touch; columns have neighbours only when it is said. */
static vxs_status make_neighbours(vxs_task *t, const char *graph, vxs_error *err)
{
    static const char *const grids[] = { "grid6", "grid18", "grid26" };
    static const int connectivity[] = { 6, 18, 26 };
    const vxs_cohort *c = t->cohort;
    if (!graph && c->kind == VXS_FEATURES_COLUMNS)
        return vxs_graph_new(c->p, 0, &t->graph, err);
    if (!graph)
        graph = c->kind == VXS_FEATURES_VOXELS ? "grid6" : "regions";
    for (int k = 0; k < 3; k++)
        if (strcmp(graph, grids[k]) == 0)
            return make_grid(t, graph, connectivity[k], err);
    if (strcmp(graph, "chain") == 0)
        return vxs_graph_chain(c->p, &t->graph, err);
    if (strcmp(graph, "regions") != 0)
        return read_table(graph, c, false, &t->graph, err);
    if (c->kind != VXS_FEATURES_REGIONS)
        return vxs_fail(err, VXS_MISUSE, "'--graph regions' is of regions; the features are not");
    return vxs_region_graph(c, &t->graph, err);
}

bool vxs_graph_is_rule(const char *graph)
{
    static const char *const rules[] = { "tree",   "chain",   "grid6", "grid18",
                                         "grid26", "regions", NULL };
    for (int k = 0; rules[k] && graph; k++)
        if (strcmp(rules[k], graph) == 0)
            return true;
    return !graph;
}

vxs_status vxs_task_make_graph(const vxs_context *context, vxs_task *t, vxs_error *err)
{
    const char *graph = t->settings.graph ? t->settings.graph : "tree";
    if (vxs_task_is_kernel(t))
        return make_neighbours(t, t->settings.graph, err);
    if (!vxs_task_method(t)->needs_graph)
        return VXS_OK;
    if (strcmp(graph, "tree") == 0)
        return make_tree(context, t, err);
    if (strcmp(graph, "chain") == 0)
        return vxs_graph_chain(t->cohort->p, &t->graph, err);
    return read_table(graph, t->cohort, true, &t->graph, err);
}
