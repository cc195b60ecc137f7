/* stable.c - stability selection: summary, selection frequencies as a figure and a table. */
#include "report/sections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROWS 15

/* How often each feature of the table was selected, for every output. */
typedef struct {
    const vxs_results *s;
    size_t rows, outputs;
    double **share; /* an output each */
} shares;

static double number(const vxs_results *s, const char *key)
{
    return vxs_results_number(s->about, key);
}

static bool counts_groups(const vxs_results *s)
{
    const char *text = vxs_results_text(s->about, "counted");
    return text && strcmp(text, "groups") == 0;
}

static bool has_clusters(const vxs_results *s)
{
    const char *text = vxs_results_text(s->about, "counted");
    return text && strcmp(text, "clusters") == 0;
}

/* What a half selects at most so many of, and the bound is of. */
static const char *counted(const vxs_results *s)
{
    if (has_clusters(s))
        return "clusters";
    return counts_groups(s) ? "groups" : vxs_feature_words(s->record.features_are, 2);
}

/* Features of an output that are stable. */
static double stable_of(const vxs_results *s, size_t output)
{
    return vxs_record_outputs(&s->record) == 1
               ? number(s, "selected")
               : vxs_results_number(vxs_json_get(s->about, "selected"),
                                    vxs_record_class(&s->record, output));
}

/* Groups that these are in, where groups are counted. */
static void write_groups_of(const vxs_results *s, size_t output)
{
    const vxs_json *counts = vxs_json_get(s->about, "selected_groups");
    bool one = vxs_record_outputs(&s->record) == 1;
    if (!counts)
        return;
    double count = one ? number(s, "selected_groups")
                       : vxs_results_number(counts, vxs_record_class(&s->record, output));
    vxs_html(s->out, "%s in <b>%g</b> group%s", one ? "," : "", count, count == 1 ? "" : "s");
}

/* ---- In words -------------------------------------------------------------------------------- */

static void write_stable(const vxs_results *s)
{
    size_t outputs = vxs_record_outputs(&s->record);
    bool clusters = has_clusters(s);
    double features = number(s, clusters ? "clusters" : "features");
    const char *kind =
        clusters ? "clusters" : vxs_feature_words(s->record.features_are, (size_t)features);
    vxs_html(s->out, "<p class=\"lead\">%s, %g subjects: ", vxs_results_text(s->about, "target"),
             number(s, "subjects"));
    if (outputs == 1)
        vxs_html(s->out, "<b>%g</b> of %g %s %s stable", stable_of(s, 0), features, kind,
                 stable_of(s, 0) == 1 ? "is" : "are");
    else
        vxs_html(s->out, "of %g %s are stable", features, kind);
    for (size_t k = 0; k < outputs; k++) {
        if (outputs > 1)
            vxs_html(s->out, "%s <b>%g</b> for %s", k > 0 ? "," : "", stable_of(s, k),
                     vxs_record_class(&s->record, k));
        write_groups_of(s, k);
    }
    if (outputs > 1)
        vxs_html(s->out, ", each %s", vxs_record_rest(&s->record));
    vxs_html(s->out, " (selection frequency of at least %g in %g halves of the subjects). ",
             number(s, "threshold"), number(s, "halves"));
}

/* Where they are known, and what to try where there are none. */
static void write_tolerance(const vxs_results *s)
{
    double stable = 0;
    for (size_t k = 0; k < vxs_record_outputs(&s->record); k++)
        stable += stable_of(s, k);
    if (has_clusters(s))
        vxs_html(s->out,
                 "<p>Clusters are made from the features of all subjects analyzed, without the "
                 "target. Spatial tolerance: %f mm, the largest diameter of a cluster: where in it "
                 "the effect is, is not known.</p>\n",
                 number(s, "tolerance_mm"));
    if (stable > 0 || number(s, "mean_selected") == 0)
        return;
    bool voxels = s->record.features_are == VXS_FEATURES_VOXELS;
    bool single = voxels && !has_clusters(s) && !s->record.settings.blocks.groups;
    vxs_html(s->out, "<p>Nothing is stable. To try: %s.</p>\n",
             single ? VXS_TRY_CLUSTERS : VXS_TRY_MORE);
}

static void write_lead(const vxs_results *s)
{
    write_stable(s);
    if (number(s, "mean_selected") == 0) {
        const char *unit = vxs_record_has_fused_regions(&s->record)                ? "fused region"
                           : s->record.settings.blocks.groups && !counts_groups(s) ? "group"
                                                                                   : NULL;
        if (unit)
            vxs_html(s->out,
                     "No half selected any: the first %s on its path has more than %g "
                     "features; --select-features allows larger ones.</p>\n",
                     unit, number(s, "features_a_half"));
        else
            vxs_html(s->out, "No half selected any%s.</p>\n",
                     vxs_methods[s->record.task.method].path == VXS_BY_LAMBDA ? ": " VXS_TRY_LAMBDAS
                                                                              : "");
        return;
    }
    vxs_html(s->out,
             "Expected number of falsely selected %s%s: at most %g (Shah &amp; Samworth 2013; "
             "Meinshausen &amp; B\xc3\xbchlmann 2010). Mean Dice coefficient of two halves: %v",
             counted(s), vxs_record_outputs(&s->record) > 1 ? " of a class" : "",
             number(s, "error_bound"), number(s, "dice"));
    if (isnan(number(s, "nogueira")))
        fputs("; halves select all features or none, so that Nogueira's stability index is "
              "undefined.</p>\n",
              s->out);
    else
        vxs_html(s->out, "; Nogueira's stability index: %v (0: chance, 1: identical).</p>\n",
                 number(s, "nogueira"));
}

/* ---- The table of the run -------------------------------------------------------------------- */

static vxs_status read_shares(shares *f, size_t output, vxs_error *err)
{
    const vxs_results *s = f->s;
    size_t stable = 0;
    char *name = vxs_format(err, "frequency%s%s", f->outputs > 1 ? "_" : "",
                            f->outputs > 1 ? vxs_record_class(&s->record, output) : "");
    vxs_status status = name ? vxs_results_column(s, name, &f->share[output], err) : VXS_FAILED;
    for (size_t r = 0; r < f->rows && !status; r++)
        stable += f->share[output][r] >= number(s, "threshold");
    if (!status && (double)stable != stable_of(s, output))
        status = vxs_fail(err, VXS_BAD_DATA,
                          "'%s/%s', column '%s', has %zu stable features and '%s' says that there "
                          "are %.0f",
                          s->directory, s->kind->table, name, stable, s->kind->file,
                          stable_of(s, output));
    free(name);
    return status;
}

/* A table that lost lines has a smaller sum. */
static vxs_status check_sum(const shares *f, vxs_error *err)
{
    double sum = 0, said = number(f->s, "mean_selected");
    for (size_t k = 0; k < f->outputs; k++)
        for (size_t r = 0; r < f->rows; r++)
            sum += f->share[k][r] / (double)f->outputs;
    if (fabs(sum - said) <= 1e-6 * (1 + said))
        return VXS_OK;
    return vxs_fail(err, VXS_BAD_DATA,
                    "'%s/%s' has %.4g features a half and '%s' says that there are %.4g",
                    f->s->directory, f->s->kind->table, sum, f->s->kind->file, said);
}

static vxs_status read_all(shares *f, vxs_error *err)
{
    f->share = vxs_alloc(f->outputs, sizeof(*f->share), err);
    vxs_status status = f->share ? VXS_OK : VXS_FAILED;
    for (size_t k = 0; k < f->outputs && !status; k++)
        status = read_shares(f, k, err);
    return status ? status : check_sum(f, err);
}

/* ---- The figure ------------------------------------------------------------------------------ */

static int rising(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* A step curve: how many features reach each frequency. Room for twice as many points as values. */
static size_t trace(const double *share, size_t count, double *sorted, double *x, double *y)
{
    size_t points = 0;
    for (size_t k = 0; k < count; k++)
        sorted[k] = share[k];
    qsort(sorted, count, sizeof(*sorted), rising);
    for (size_t k = 0; k < count; k++) {
        if (sorted[k] == 0 || (k > 0 && sorted[k] == sorted[k - 1]))
            continue;
        x[points] = points > 0 ? x[points - 1] : 0; /* so many from the last share on */
        y[points++] = (double)(count - k);
        x[points] = sorted[k];
        y[points++] = (double)(count - k);
    }
    return points;
}

#define MANY 100 /* features: beyond it the scale is logarithmic */

static vxs_status write_reach(const shares *f, vxs_error *err)
{
    vxs_series series[VXS_COLOURS];
    size_t room = 2 * f->rows, each = 2 * room + f->rows;
    size_t shown = f->outputs < VXS_COLOURS ? f->outputs : VXS_COLOURS;
    double *points = vxs_alloc(shown * each, sizeof(*points), err), most = 0;
    char name[64];
    if (!points)
        return VXS_FAILED;
    for (size_t k = 0; k < shown; k++) {
        double *x = points + k * each, *y = x + room;
        size_t count = trace(f->share[k], f->rows, y + room, x, y);
        series[k] =
            (vxs_series){ .name = f->outputs > 1 ? vxs_record_class(&f->s->record, k) : NULL,
                          .color = vxs_colors[k],
                          .x = x,
                          .y = y,
                          .count = count,
                          .line = true };
        most = fmax(most, count > 0 ? y[0] : 0);
    }
    char threshold[VXS_REAL_TEXT];
    snprintf(name, sizeof(name), "threshold %s",
             vxs_short_text(number(f->s, "threshold"), threshold));
    vxs_chart chart = { .title = has_clusters(f->s) ? "Clusters by selection frequency"
                                                    : "Features by selection frequency",
                        .x_label = "selection frequency",
                        .y_label = has_clusters(f->s) ? "clusters at or above it"
                                                      : "features at or above it",
                        .log_y = most > MANY,
                        .shares = true,
                        .legend_right = true,
                        .mark_name = name,
                        .mark = number(f->s, "threshold") };
    vxs_chart_write(f->s->out, &chart, series, shown);
    free(points);
    return VXS_OK;
}

/* ---- The features ---------------------------------------------------------------------------- */

typedef struct {
    size_t row;
    double share; /* the largest of all outputs */
} ranked;

static int falling(const void *a, const void *b)
{
    const ranked *left = a, *right = b;
    if (left->share != right->share)
        return left->share < right->share ? 1 : -1;
    return (left->row > right->row) - (left->row < right->row);
}

/* Columns of the table that say what and where a feature is. */
typedef struct {
    size_t name, count, place[3]; /* count: 0 where features have no place */
} columns;

static vxs_status find_columns(const vxs_results *s, columns *c, vxs_error *err)
{
    static const char *const names[] = { "x", "y", "z" };
    bool places = s->record.features_are == VXS_FEATURES_VOXELS; /* or of clusters of them */
    vxs_status status = vxs_table_find(s->table, "feature", &c->name, err);
    c->count = places ? 3 : 0;
    for (size_t d = 0; d < c->count && !status; d++)
        status = vxs_table_find(s->table, names[d], &c->place[d], err);
    return status;
}

static void write_header(const shares *f, const columns *c)
{
    FILE *out = f->s->out;
    fputs("<table class=\"n\"><tr><th>feature</th>", out);
    if (c->count > 0)
        fputs("<th>x</th><th>y</th><th>z</th>", out);
    for (size_t k = 0; k < f->outputs; k++)
        vxs_html(out, "<th>%s</th>",
                 f->outputs > 1 ? vxs_record_class(&f->s->record, k) : "selection frequency");
    fputs("</tr>\n", out);
}

static void write_place(const vxs_results *s, size_t row, size_t column)
{
    double mm = NAN;
    (void)vxs_parse_real(vxs_table_cell(s->table, row, column), &mm);
    vxs_html(s->out, "<td>%f</td>", mm);
}

static void write_feature(const shares *f, size_t row, const columns *c)
{
    const vxs_results *s = f->s;
    const vxs_table *t = s->table;
    vxs_html(s->out, "<tr><td class=\"t\">%s</td>", vxs_table_cell(t, row, c->name));
    for (size_t d = 0; d < c->count; d++)
        write_place(s, row, c->place[d]);
    for (size_t k = 0; k < f->outputs; k++) {
        double share = f->share[k][row];
        vxs_html(s->out, share >= number(s, "threshold") ? "<td><b>%v</b></td>" : "<td>%v</td>",
                 share);
    }
    fputs("</tr>\n", s->out);
}

static vxs_status write_features(const shares *f, vxs_error *err)
{
    columns c;
    ranked *list = vxs_alloc(f->rows, sizeof(*list), err);
    vxs_status status = list ? find_columns(f->s, &c, err) : VXS_FAILED;
    for (size_t r = 0; r < f->rows && !status; r++) {
        list[r].row = r;
        for (size_t k = 0; k < f->outputs; k++)
            list[r].share = fmax(list[r].share, f->share[k][r]);
    }
    if (!status) {
        qsort(list, f->rows, sizeof(*list), falling);
        write_header(f, &c);
        for (size_t r = 0; r < f->rows && r < MOST_ROWS; r++)
            write_feature(f, list[r].row, &c);
        fputs("</table>\n", f->s->out);
        vxs_html(f->s->out,
                 "<p class=\"small\">The %z most frequently selected of %z %s that any half "
                 "selected; stable ones are bold.%s All are in %s.</p>\n",
                 f->rows < MOST_ROWS ? f->rows : MOST_ROWS, f->rows,
                 has_clusters(f->s) ? "clusters" : "features",
                 has_clusters(f->s)
                     ? " Cluster 12 has the value 12 in regions.nii.gz; x, y, z: its "
                       "mean position in mm."
                 : f->s->record.features_are == VXS_FEATURES_VOXELS
                     ? " x12 is row 12 of features.npy, counted from 0; x, y, z in mm."
                     : "",
                 f->s->kind->table);
    }
    free(list);
    return status;
}

static vxs_status write_selection(const shares *f, vxs_error *err)
{
    fputs("<div class=\"row\">\n", f->s->out);
    vxs_status status = write_reach(f, err);
    fputs("</div>\n", f->s->out);
    return status ? status : write_features(f, err);
}

vxs_status vxs_section_stability(const vxs_results *s, vxs_error *err)
{
    shares f = { .s = s,
                 .rows = vxs_table_rows(s->table),
                 .outputs = vxs_record_outputs(&s->record) };
    vxs_status status = read_all(&f, err);
    if (!status) {
        write_lead(s);
        write_tolerance(s);
        fputs("<h2>Selection frequencies</h2>\n", s->out);
        status = f.rows > 0 ? write_selection(&f, err) : VXS_OK;
        if (f.rows == 0)
            fputs("<p>No half selected any feature.</p>\n", s->out);
    }
    for (size_t k = 0; k < f.outputs && f.share; k++)
        free(f.share[k]);
    free((void *)f.share);
    return status;
}

/* ---- Settings -------------------------------------------------------------------------------- */

void vxs_section_halving(const vxs_results *s)
{
    const vxs_json *asked = vxs_json_get(s->about, "halving");
    vxs_html(s->out, "<tr><th>Halves</th><td>%g, in %g complementary pairs", number(s, "halves"),
             number(s, "halves") / 2);
    if (vxs_results_has(asked, "group"))
        vxs_html(s->out, "; subjects of one %s stay together", vxs_results_text(asked, "group"));
    fputs("</td></tr>\n", s->out);
    vxs_html(s->out,
             "<tr><th>Selection</th><td>in each half the first %g %s or fewer of the %s; %g %s on "
             "average</td></tr>\n",
             number(s, "features_a_half"), counted(s), vxs_record_path(&s->record)->followed,
             number(s, "mean_selected"), vxs_feature_words(s->record.features_are, 2));
}
