/* graph_table.c - tables of graphs: reading, writing and checks; graph_rules.c has the rules. */
#include "model/model.h"

#include <math.h>

/* ---- From a table ---------------------------------------------------------------------------- */

typedef struct {
    const vxs_table *table;
    const vxs_feature_names *names;
    size_t from, to, weight; /* indices of columns */
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
    if (!status && g->from[row] == g->to[row])
        status = vxs_fail(err, VXS_BAD_DATA, "'%s' line %zu: the edge leads from '%s' to itself",
                          t->names->path, vxs_table_line(t->table, row),
                          vxs_table_cell(t->table, row, t->from));
    return status;
}

static vxs_status read_rows(edges *t, vxs_graph *g, vxs_error *err)
{
    size_t count = vxs_table_rows(t->table), p = t->names->cohort->p;
    vxs_status status = find_columns(t, err);
    if (!status && count == 0 && p > 1)
        status = vxs_fail(err, VXS_BAD_DATA, "'%s' has no edges between the %zu features",
                          t->names->path, p);
    if (!status)
        status = vxs_graph_new(p, count, g, err);
    for (size_t row = 0; row < count && !status; row++)
        status = read_edge(t, row, g, err);
    return status;
}

vxs_status vxs_graph_read(const char *path, const vxs_cohort *c, vxs_graph *g, vxs_error *err)
{
    vxs_table *table = NULL;
    vxs_feature_names names = { .order = NULL };
    vxs_status status = vxs_table_read(path, &table, err);
    if (!status)
        status = vxs_feature_names_new(c, path, &names, err);
    if (!status) {
        edges t = { .table = table, .names = &names };
        status = read_rows(&t, g, err);
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
