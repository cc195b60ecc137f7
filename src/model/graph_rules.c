/* graph_rules.c - graphs of neighboring features, by named rules.
 *
 * Some rules depend on the features only; others estimate the graph from the subjects, separately
 * in each training part. The penalty on differences leaves the mean weight of each connected
 * component unpenalized, which the subjects must identify: graphs made by a rule are connected. */
#include "model/estimators.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define USUAL_EDGES    1.2   /* edges a feature: between the trees and loops of the PET study */
#define MOST_CORRELATE 10000 /* maximal number of features: their correlation matrix takes 800 MB */
#define MOST_PRECISION 2000
#define TOLERANCE      1e-6 /* duality gap of the sparse inverse covariance */

typedef struct {
    const char *name;
    int connectivity; /* neighbors of a voxel; 0: not a voxel grid */
    bool learned, counted;
} rule;

static const rule rules[] = {
    { .name = "tree", .learned = true },
    { .name = "chain" },
    { .name = "grid6", .connectivity = 6 },
    { .name = "grid18", .connectivity = 18 },
    { .name = "grid26", .connectivity = 26 },
    { .name = "regions" },
    { .name = "correlation", .learned = true, .counted = true },
    { .name = "precision", .learned = true, .counted = true },
    { .name = NULL },
};

/* Matches "correlation" and "correlation:1.2"; NULL: the text is a table's name. */
static const rule *find_rule(const char *graph)
{
    for (const rule *r = rules; r->name; r++) {
        size_t length = strlen(r->name);
        bool begins = strncmp(graph, r->name, length) == 0;
        if (begins && (graph[length] == '\0' || (r->counted && graph[length] == ':')))
            return r;
    }
    return NULL;
}

bool vxs_graph_is_rule(const char *graph)
{
    return !graph || find_rule(graph);
}

bool vxs_graph_is_learned(const vxs_task_settings *s)
{
    const rule *r = find_rule(s->graph ? s->graph : "tree");
    return vxs_methods[s->method].graph == VXS_GRAPH_NEEDED && r && r->learned;
}

/* ---- From where features are ----------------------------------------------------------------- */

static vxs_status make_grid(vxs_task *t, const rule *r, bool linked, vxs_error *err)
{
    const vxs_cohort *c = t->cohort;
    if (c->kind != VXS_FEATURES_VOXELS)
        return vxs_fail(err, VXS_MISUSE, "'--graph %s' is of voxels; the features are not",
                        r->name);
    return (linked ? vxs_graph_grid : vxs_graph_neighbors)(c->grid.shape, c->voxels, c->voxel_count,
                                                           r->connectivity, &t->graph, err);
}

static vxs_status make_regions(vxs_task *t, bool linked, vxs_error *err)
{
    if (t->cohort->kind != VXS_FEATURES_REGIONS)
        return vxs_fail(err, VXS_MISUSE, "'--graph regions' is of regions; the features are not");
    return vxs_region_graph(t->cohort, linked, &t->graph, err);
}

/* ---- From the subjects ----------------------------------------------------------------------- */

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

/* Number of edges that "correlation:1.2" gives for so many features. */
static vxs_status count_edges(const vxs_task *t, const rule *r, size_t *edges, vxs_error *err)
{
    const char *graph = t->settings.graph, *number = strchr(graph, ':');
    double each = USUAL_EDGES, p = (double)t->cohort->p;
    if (number && (!vxs_parse_real(number + 1, &each) || !(each > 0) || !isfinite(each)))
        return vxs_fail(err, VXS_MISUSE,
                        "'--graph %s:E' expects a number above 0, the edges for each feature, not "
                        "'%s'",
                        r->name, number + 1);
    if (round(each * p) > p * (p - 1) / 2)
        return vxs_fail(err, VXS_MISUSE, "'--graph %s': %zu features have %.0f pairs in all", graph,
                        t->cohort->p, p * (p - 1) / 2);
    *edges = each * p < 1 ? 1 : (size_t)llround(each * p);
    return VXS_OK;
}

static vxs_status check_size(const vxs_task *t, const rule *r, size_t most, vxs_error *err)
{
    if (t->cohort->kind == VXS_FEATURES_VOXELS)
        return vxs_fail(err, VXS_MISUSE,
                        "'--graph %s' is of regions or columns; the features are voxels, which "
                        "have neighbors in space, see grid6",
                        r->name);
    if (t->cohort->p > most)
        return vxs_fail(err, VXS_MISUSE, "'--graph %s' is of at most %zu features, not %zu",
                        r->name, most, t->cohort->p);
    return VXS_OK;
}

static void tell(const vxs_context *context, const vxs_precision *found, size_t links)
{
    vxs_log(context, found->converged ? VXS_LOG_DEBUG : VXS_LOG_WARNING,
            "the sparse inverse covariance has %zu edges at rho %.6g (gap %.1e%s); %zu links",
            found->edges, found->rho, found->gap,
            found->converged ? "" : ", which is above the tolerance", links);
}

static vxs_status make_counted(const vxs_context *context, vxs_task *t, const rule *r,
                               vxs_error *err)
{
    bool precision = strcmp(r->name, "precision") == 0;
    size_t p = t->cohort->p, edges = 0;
    double *correlations = NULL;
    vxs_precision found;
    vxs_status status = check_size(t, r, precision ? MOST_PRECISION : MOST_CORRELATE, err);
    if (!status)
        status = count_edges(t, r, &edges, err);
    if (!status)
        status = vxs_correlations(context, t->design, &correlations, err);
    if (status)
        return status;
    if (precision)
        status =
            vxs_graph_precision(context, correlations, p, edges, TOLERANCE, &t->graph, &found, err);
    else
        status = vxs_graph_strongest(correlations, p, edges, &t->graph, err);
    size_t learned = t->graph.count;
    if (!status)
        status = vxs_graph_connect(correlations, &t->graph, err);
    if (!status && precision)
        tell(context, &found, t->graph.count - learned);
    free(correlations);
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* A text that is no rule is a file name; a misspelt rule is neither. */
static vxs_status read_table(vxs_task *t, const char *graph, vxs_error *err)
{
    if (access(graph, F_OK) != 0 && !strpbrk(graph, "./"))
        return vxs_fail(err, VXS_MISSING,
                        "cannot read '%s': there is no such file, nor a graph of that name: tree, "
                        "grid6, grid18, grid26, regions, chain, correlation:E or precision:E",
                        graph);
    return vxs_graph_read(graph, t->cohort, &t->graph, err);
}

/* Graph for methods that penalize differences. */
static vxs_status make_whole(const vxs_context *context, vxs_task *t, vxs_error *err)
{
    const char *graph = t->settings.graph ? t->settings.graph : "tree";
    const rule *r = find_rule(graph);
    if (!r)
        return read_table(t, graph, err);
    vxs_status status = vxs_feature_names_check(t->cohort, "the graph of the model", err);
    if (status)
        return status;
    if (r->connectivity > 0)
        return make_grid(t, r, true, err);
    if (r->counted)
        return make_counted(context, t, r, err);
    if (strcmp(r->name, "chain") == 0)
        return vxs_graph_chain(t->cohort->p, &t->graph, err);
    return strcmp(r->name, "tree") == 0 ? make_tree(context, t, err) : make_regions(t, true, err);
}

/* Graph for kernel methods, where it is optional and need not be connected: adjacent voxels,
 * adjacent regions; columns have neighbors only if --graph is given. */
static vxs_status make_neighbors(vxs_task *t, vxs_error *err)
{
    const vxs_cohort *c = t->cohort;
    const char *graph = t->settings.graph;
    if (!graph && c->kind == VXS_FEATURES_COLUMNS)
        return vxs_graph_new(c->p, 0, &t->graph, err);
    if (!graph)
        graph = c->kind == VXS_FEATURES_VOXELS ? "grid6" : "regions";
    const rule *r = find_rule(graph);
    if (!r)
        return read_table(t, graph, err);
    if (r->learned)
        return vxs_fail(err, VXS_MISUSE, "method '%s' has no '--graph %s'",
                        vxs_task_method(t)->name, r->name);
    if (r->connectivity > 0)
        return make_grid(t, r, false, err);
    return strcmp(r->name, "chain") == 0 ? vxs_graph_chain(c->p, &t->graph, err)
                                         : make_regions(t, false, err);
}

vxs_status vxs_task_make_graph(const vxs_context *context, vxs_task *t, vxs_error *err)
{
    if (vxs_task_method(t)->graph == VXS_GRAPH_OPTIONAL)
        return make_neighbors(t, err);
    return vxs_task_method(t)->graph == VXS_GRAPH_NEEDED ? make_whole(context, t, err) : VXS_OK;
}
