/* clustered.c - clusters of neighboring voxels, and the task whose features are their means.
 *
 * Which voxels belong together depends on no target: on the features of the subjects analysed
 * alone (graph/ward.c), or on an atlas or a table. */
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VOXELS_EACH 50 /* of "auto": voxels of a cluster, for at least and at most */
#define FEWEST      100
#define MOST        1000
#define NO_CLUSTER  UINT32_MAX
#define CHOICES     "auto, a number of clusters, atlas:NAME or file:FILE"

/* ---- Clusters of similar voxels -------------------------------------------------------------- */

/* A row for each voxel, a column for each subject analysed: less the voxel's mean and, where
 * features are standardized, in units of its SD. */
static vxs_status gather(const vxs_task *t, float *value, vxs_error *err)
{
    const vxs_cohort *c = t->cohort;
    double *all = vxs_alloc(c->n, sizeof(*all), err);
    bool unit = t->settings.standardize == VXS_STANDARDIZE_UNIT;
    for (size_t j = 0; j < c->p && all; j++) {
        double mean = 0, square = 0;
        memset(all, 0, c->n * sizeof(*all));
        vxs_cohort_add(c, j, 1, all);
        for (size_t i = 0; i < t->n; i++)
            mean += all[t->rows[i]] / (double)t->n;
        for (size_t i = 0; i < t->n; i++)
            square += (all[t->rows[i]] - mean) * (all[t->rows[i]] - mean);
        double sd = sqrt(square / (double)t->n), scale = 1;
        if (unit)
            scale = sd > 1e-6 * fabs(mean) ? 1 / sd : 0;
        for (size_t i = 0; i < t->n; i++)
            value[j * t->n + i] = (float)((all[t->rows[i]] - mean) * scale);
    }
    free(all);
    return all ? VXS_OK : VXS_FAILED;
}

static vxs_status group_by(const uint32_t *cluster, size_t nodes, size_t count, vxs_groups *g,
                           vxs_error *err)
{
    vxs_status status = vxs_groups_new(nodes, count, nodes, g, err);
    for (size_t j = 0; j < nodes && !status; j++)
        g->end[cluster[j]]++;
    for (size_t k = 0, begin = 0; k < count && !status; k++) {
        size_t size = g->end[k];
        g->begin[k] = g->end[k] = begin;
        begin += size;
    }
    for (size_t j = 0; j < nodes && !status; j++)
        g->member[g->end[cluster[j]]++] = j;
    return status;
}

static vxs_status make_ward(const vxs_context *context, const vxs_task *t, size_t count,
                            vxs_groups *g, vxs_error *err)
{
    const vxs_cohort *c = t->cohort;
    vxs_graph graph = { .nodes = 0 };
    size_t found = 0;
    float *value = vxs_alloc(c->p, t->n * sizeof(*value), err);
    uint32_t *cluster = vxs_alloc(c->p, sizeof(*cluster), err);
    vxs_status status = value && cluster ? gather(t, value, err) : VXS_FAILED;
    if (!status)
        status = vxs_graph_neighbors(c->grid.shape, c->voxels, c->voxel_count, 6, &graph, err);
    if (!status)
        status = vxs_ward(context, &graph, value, t->n, count, cluster, &found, err);
    if (!status && found > count)
        vxs_log(context, VXS_LOG_INFO,
                "%zu clusters, not %zu: so many pieces of the mask share no face", found, count);
    if (!status)
        status = group_by(cluster, c->p, found, g, err);
    vxs_graph_release(&graph);
    free(value);
    free(cluster);
    return status;
}

/* ---- By the rule of --clusters --------------------------------------------------------------- */

static vxs_status count_clusters(const vxs_cohort *c, const char *rule, size_t *count,
                                 vxs_error *err)
{
    int64_t number = 0;
    if (strcmp(rule, "auto") == 0) {
        *count = c->p / VOXELS_EACH;
        *count = *count < FEWEST ? FEWEST : *count > MOST ? MOST : *count;
        *count = *count < c->p / 2 ? *count : c->p / 2;
    } else if (vxs_parse_whole(rule, &number) && number > 0) {
        *count = (size_t)number;
    } else {
        return vxs_fail(err, VXS_MISUSE, "'--clusters %s' is not known: give " CHOICES, rule);
    }
    return *count >= 2 && *count <= c->p
               ? VXS_OK
               : vxs_fail(err, VXS_MISUSE,
                          "'--clusters %s' expects a number from 2 to %zu, the voxels", rule, c->p);
}

static int ascending(const void *a, const void *b)
{
    size_t first = *(const size_t *)a, second = *(const size_t *)b;
    return (first > second) - (first < second);
}

static vxs_status make_given(const vxs_context *context, const vxs_task *t, const char *rule,
                             vxs_groups *g, vxs_error *err)
{
    vxs_task borrowed = { .cohort = t->cohort };
    bool overlap = false;
    if (strchr(rule, ':')[1] == '\0')
        return vxs_fail(err, VXS_MISUSE, "'--clusters %s' expects %s behind the colon", rule,
                        *rule == 'a' ? "an atlas, by its name or as a label image"
                                     : "a table with the columns group and feature");
    vxs_status status = vxs_task_make_groups(context, &borrowed, rule, err);
    *g = borrowed.groups;
    for (size_t k = 0; k < g->count && !status; k++)
        qsort(g->member + g->begin[k], g->end[k] - g->begin[k], sizeof(*g->member), ascending);
    if (!status)
        status = vxs_groups_overlap(g, &overlap, err);
    return !status && overlap
               ? vxs_fail(
                     err, VXS_MISUSE,
                     "'--clusters %s': a voxel is in two of its groups; clusters do not overlap",
                     rule)
               : status;
}

static vxs_status make_groups(const vxs_context *context, const vxs_task *t, const char *rule,
                              vxs_groups *g, vxs_error *err)
{
    size_t count = 0;
    bool given = strncmp(rule, "atlas:", 6) == 0 || strncmp(rule, "file:", 5) == 0;
    if (t->cohort->kind != VXS_FEATURES_VOXELS)
        return vxs_fail(err, VXS_MISUSE, "'--clusters' is of voxels; the features are not");
    if (given)
        return make_given(context, t, rule, g, err);
    vxs_status status = count_clusters(t->cohort, rule, &count, err);
    return status ? status : make_ward(context, t, count, g, err);
}

/* ---- Where they are -------------------------------------------------------------------------- */

/* Voxels that are first or last on their line of the grid: of no others are two the farthest
 * apart. Members ascend, the first axis fastest. */
static size_t list_ends(const vxs_cohort *c, const vxs_groups *g, size_t k, double (*at)[3])
{
    size_t count = 0, width = c->grid.shape[0];
    for (size_t m = g->begin[k]; m < g->end[k]; m++) {
        size_t voxel = c->voxels[g->member[m]], line = voxel / width;
        bool first = m == g->begin[k] || c->voxels[g->member[m - 1]] / width != line;
        bool last = m + 1 == g->end[k] || c->voxels[g->member[m + 1]] / width != line;
        if (!first && !last)
            continue;
        double index[3];
        vxs_grid_index(&c->grid, voxel, index);
        vxs_grid_position(&c->grid, index, at[count++]);
    }
    return count;
}

static double find_diameter(double (*at)[3], size_t count)
{
    double most = 0;
    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < a; b++) {
            double sum = 0;
            for (int d = 0; d < 3; d++)
                sum += (at[a][d] - at[b][d]) * (at[a][d] - at[b][d]);
            most = fmax(most, sum);
        }
    return sqrt(most);
}

static int rising(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

static vxs_status find_places(vxs_clustered *r, const vxs_cohort *c, vxs_error *err)
{
    size_t most = 0;
    for (size_t k = 0; k < r->groups.count; k++)
        most = r->groups.end[k] - r->groups.begin[k] > most ? r->groups.end[k] - r->groups.begin[k]
                                                            : most;
    double(*at)[3] = vxs_alloc(most, sizeof(*at), err);
    r->diameter = vxs_alloc(r->groups.count, sizeof(*r->diameter), err);
    r->center = vxs_alloc(r->groups.count, sizeof(*r->center), err);
    double *sorted = vxs_alloc(r->groups.count, sizeof(*sorted), err);
    vxs_status status = at && sorted && r->diameter && r->center ? VXS_OK : VXS_FAILED;
    for (size_t k = 0; k < r->groups.count && !status; k++) {
        double size = (double)(r->groups.end[k] - r->groups.begin[k]), index[3], mm[3];
        for (size_t m = r->groups.begin[k]; m < r->groups.end[k]; m++) {
            vxs_grid_index(&c->grid, c->voxels[r->groups.member[m]], index);
            vxs_grid_position(&c->grid, index, mm);
            for (int d = 0; d < 3; d++)
                r->center[k][d] += mm[d] / size;
        }
        r->diameter[k] = find_diameter(at, list_ends(c, &r->groups, k, at));
        r->tolerance = fmax(r->tolerance, r->diameter[k]);
    }
    if (!status) {
        memcpy(sorted, r->diameter, r->groups.count * sizeof(*sorted));
        qsort(sorted, r->groups.count, sizeof(*sorted), rising);
        r->median = sorted[r->groups.count / 2];
    }
    free(sorted);
    free(at);
    return status;
}

/* ---- Their means ----------------------------------------------------------------------------- */

static vxs_status average(vxs_clustered *r, const vxs_cohort *c, vxs_error *err)
{
    size_t count = r->groups.count;
    double *sum = vxs_alloc(c->n, sizeof(*sum), err);
    r->means = vxs_alloc(count, c->n * sizeof(*r->means), err);
    r->region = vxs_alloc(c->p, sizeof(*r->region), err);
    vxs_status status = sum && r->means && r->region ? VXS_OK : VXS_FAILED;
    for (size_t j = 0; j < c->p && !status; j++)
        r->region[j] = NO_CLUSTER;
    for (size_t k = 0; k < count && !status; k++) {
        double size = (double)(r->groups.end[k] - r->groups.begin[k]);
        memset(sum, 0, c->n * sizeof(*sum));
        for (size_t m = r->groups.begin[k]; m < r->groups.end[k]; m++) {
            vxs_cohort_add(c, r->groups.member[m], 1, sum);
            r->region[r->groups.member[m]] = (uint32_t)k;
        }
        for (size_t i = 0; i < c->n; i++)
            r->means[k * c->n + i] = (float)(sum[i] / size);
    }
    free(sum);
    return status;
}

static vxs_status name_clusters(vxs_clustered *r, vxs_error *err)
{
    char *bytes = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&bytes, &length);
    if (!stream)
        return vxs_fail(err, VXS_FAILED, "no memory for the names of %zu clusters",
                        r->groups.count);
    fputs("feature\n", stream);
    for (size_t k = 0; k < r->groups.count; k++) {
        if (r->groups.names)
            fprintf(stream, "%s\n", r->groups.names[k]);
        else
            fprintf(stream, "cluster %zu\n", k + 1);
    }
    bool written = fclose(stream) == 0;
    vxs_status status =
        written
            ? vxs_table_parse(bytes, length, "clusters", &r->cohort.names, err)
            : vxs_fail(err, VXS_FAILED, "no memory for the names of %zu clusters", r->groups.count);
    free(bytes);
    return status;
}

/* Everything but features and their names belongs to the cohort of voxels. */
static vxs_status make_cohort(vxs_clustered *r, const vxs_cohort *c, vxs_error *err)
{
    vxs_status status = average(r, c, err);
    if (status)
        return status;
    r->cohort = *c;
    r->cohort.kind = VXS_FEATURES_REGIONS;
    r->cohort.p = r->groups.count;
    r->cohort.features = r->means;
    r->cohort.values = NULL;
    r->cohort.rows = NULL;
    r->cohort.starts = NULL;
    r->cohort.names = NULL;
    r->cohort.name_column = 0;
    r->cohort.region = r->region;
    return name_clusters(r, err);
}

vxs_status vxs_clustered_make(const vxs_context *context, const vxs_task *t, const char *rule,
                              vxs_clustered *r, vxs_error *err)
{
    *r = (vxs_clustered){ .tolerance = 0 };
    if (t->settings.penalties)
        return vxs_fail(
            err, VXS_MISUSE,
            "'--penalty-factors' are of voxels; with '--clusters' the features are not");
    vxs_context silent = context ? *context : (vxs_context){ .nthreads = 1 };
    silent.log = NULL;
    vxs_task_settings settings = t->settings;
    if (settings.graph && strncmp(settings.graph, "grid", 4) == 0)
        settings.graph = "regions"; /* clusters that touch */
    vxs_status status = make_groups(context, t, rule, &r->groups, err);
    if (!status)
        status = make_cohort(r, t->cohort, err);
    if (!status)
        status = find_places(r, t->cohort, err);
    if (!status) /* its warnings are those of the task of voxels */
        status = vxs_task_new(&silent, &r->cohort, &settings, &r->task, err);
    if (status)
        vxs_clustered_release(r);
    return status;
}

void vxs_clustered_release(vxs_clustered *r)
{
    if (!r)
        return;
    vxs_task_release(&r->task);
    vxs_table_free(r->cohort.region ? r->cohort.names : NULL);
    vxs_groups_release(&r->groups);
    free(r->means);
    free(r->region);
    free(r->diameter);
    free(r->center);
    *r = (vxs_clustered){ .tolerance = 0 };
}
