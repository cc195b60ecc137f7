/* stable.c - what is selected whoever the subjects are: in a sentence, a figure and a table. */
#include "report/story.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROWS 15

/* How often each feature of the table was selected, for every output. */
typedef struct {
    const vxs_story *s;
    size_t rows, outputs;
    double **share; /* an output each */
} shares;

static double number(const vxs_story *s, const char *key)
{
    return vxs_story_number(s->about, key);
}

/* Features of an output that are stable. */
static double stable_of(const vxs_story *s, size_t output)
{
    return vxs_record_outputs(&s->record) == 1
               ? number(s, "selected")
               : vxs_story_number(vxs_json_get(s->about, "selected"),
                                  vxs_record_class(&s->record, output));
}

/* ---- In words -------------------------------------------------------------------------------- */

static void put_stable(const vxs_story *s)
{
    size_t outputs = vxs_record_outputs(&s->record);
    vxs_put(s->out, "<p class=\"lead\">%s of %g subjects: ", vxs_story_text(s->about, "target"),
            number(s, "subjects"));
    if (outputs == 1)
        vxs_put(s->out, "<b>%g</b> of %g %s %s stable", stable_of(s, 0), number(s, "features"),
                vxs_story_text(s->about, "features_are"), stable_of(s, 0) == 1 ? "is" : "are");
    else
        vxs_put(s->out, "of %g %s are stable", number(s, "features"),
                vxs_story_text(s->about, "features_are"));
    for (size_t k = 0; k < outputs && outputs > 1; k++)
        vxs_put(s->out, "%s <b>%g</b> for %s", k > 0 ? "," : "", stable_of(s, k),
                vxs_record_class(&s->record, k));
    if (outputs > 1)
        vxs_put(s->out, ", each %s", vxs_record_beside(&s->record));
    vxs_put(s->out, ": selected in a share of %g or more of %g halves of the subjects. ",
            number(s, "threshold"), number(s, "halves"));
}

static void put_lead(const vxs_story *s)
{
    put_stable(s);
    if (number(s, "mean_selected") == 0) {
        if (vxs_record_has_pieces(&s->record))
            vxs_put(s->out,
                    "No half selected any: the first piece on its path has more than %g features; "
                    "--select-features lets larger ones in.</p>\n",
                    number(s, "features_a_half"));
        else
            fputs("No half selected any.</p>\n", s->out);
        return;
    }
    vxs_put(s->out,
            "On average at most %g of the stable ones%s %s wrong, which means selected by a half "
            "no oftener than "
            "by chance. Two halves share %g of what they select (Dice)",
            number(s, "error_bound"), vxs_record_outputs(&s->record) > 1 ? " of a class" : "",
            number(s, "error_bound") == 1 ? "is" : "are", number(s, "dice"));
    if (isnan(number(s, "nogueira")))
        fputs("; halves select all features or none, so that there is no index of stability "
              "(Nogueira).</p>\n",
              s->out);
    else
        vxs_put(s->out, "; Nogueira's index is %g, where 0 is chance and 1 always the same.</p>\n",
                number(s, "nogueira"));
}

/* ---- The table of the run -------------------------------------------------------------------- */

static vxs_status read_shares(shares *f, size_t output, vxs_error *err)
{
    const vxs_story *s = f->s;
    char name[300];
    size_t stable = 0;
    snprintf(name, sizeof(name), "frequency%s%s", f->outputs > 1 ? "_" : "",
             f->outputs > 1 ? vxs_record_class(&s->record, output) : "");
    vxs_status status = vxs_story_column(s, name, &f->share[output], err);
    for (size_t r = 0; r < f->rows && !status; r++)
        stable += f->share[output][r] >= number(s, "threshold");
    if (!status && (double)stable != stable_of(s, output))
        status = vxs_fail(err, VXS_BAD_DATA,
                          "'%s/%s', column '%s', has %zu stable features and '%s' says that there "
                          "are %.0f",
                          s->directory, s->kind->table, name, stable, s->kind->file,
                          stable_of(s, output));
    return status;
}

/* A table that lost lines says less than the whole did. */
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

/* Stairs: how many features reach each share. Room for twice as many points as values. */
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

#define MANY 100 /* features: among more of them on one scale a few cannot be seen */

static vxs_status put_reach(const shares *f, vxs_error *err)
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
                          .colour = vxs_colours[k],
                          .x = x,
                          .y = y,
                          .count = count,
                          .line = true };
        most = fmax(most, count > 0 ? y[0] : 0);
    }
    snprintf(name, sizeof(name), "threshold %.4g", number(f->s, "threshold"));
    vxs_chart chart = { .title = "How many features reach a share of the halves",
                        .x_label = "share of the halves",
                        .y_label = "features selected as often or oftener",
                        .log_y = most > MANY,
                        .shares = true,
                        .legend_right = true,
                        .mark_name = name,
                        .mark = number(f->s, "threshold") };
    vxs_chart_put(f->s->out, &chart, series, shown);
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

static vxs_status find_columns(const vxs_story *s, columns *c, vxs_error *err)
{
    static const char *const names[] = { "x", "y", "z" };
    bool voxels = s->record.features_are == VXS_FEATURES_VOXELS;
    vxs_status status = vxs_table_find(s->table, "feature", &c->name, err);
    c->count = voxels ? 3 : 0;
    for (size_t d = 0; d < c->count && !status; d++)
        status = vxs_table_find(s->table, names[d], &c->place[d], err);
    return status;
}

static void put_header(const shares *f, const columns *c)
{
    FILE *out = f->s->out;
    fputs("<table class=\"n\"><tr><th>feature</th>", out);
    if (c->count > 0)
        fputs("<th>x</th><th>y</th><th>z</th>", out);
    for (size_t k = 0; k < f->outputs; k++)
        vxs_put(out, "<th>%s</th>", f->outputs > 1 ? vxs_record_class(&f->s->record, k) : "share");
    fputs("</tr>\n", out);
}

static void put_feature(const shares *f, size_t row, const columns *c)
{
    const vxs_story *s = f->s;
    const vxs_table *t = s->table;
    vxs_put(s->out, "<tr><td class=\"t\">%s</td>", vxs_table_cell(t, row, c->name));
    for (size_t d = 0; d < c->count; d++)
        vxs_put(s->out, "<td>%s</td>", vxs_table_cell(t, row, c->place[d]));
    for (size_t k = 0; k < f->outputs; k++) {
        double share = f->share[k][row];
        vxs_put(s->out, share >= number(s, "threshold") ? "<td><b>%g</b></td>" : "<td>%g</td>",
                share);
    }
    fputs("</tr>\n", s->out);
}

static vxs_status put_features(const shares *f, vxs_error *err)
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
        put_header(f, &c);
        for (size_t r = 0; r < f->rows && r < MOST_ROWS; r++)
            put_feature(f, list[r].row, &c);
        fputs("</table>\n", f->s->out);
        vxs_put(f->s->out,
                "<p class=\"small\">The %z most frequent of %z features that some half selected, "
                "by the share of the halves; those in bold are stable. All are in %s.</p>\n",
                f->rows < MOST_ROWS ? f->rows : MOST_ROWS, f->rows, f->s->kind->table);
    }
    free(list);
    return status;
}

static vxs_status put_selection(const shares *f, vxs_error *err)
{
    fputs("<div class=\"row\">\n", f->s->out);
    vxs_status status = put_reach(f, err);
    fputs("</div>\n", f->s->out);
    return status ? status : put_features(f, err);
}

vxs_status vxs_story_stability(const vxs_story *s, vxs_error *err)
{
    shares f = { .s = s,
                 .rows = vxs_table_rows(s->table),
                 .outputs = vxs_record_outputs(&s->record) };
    vxs_status status = read_all(&f, err);
    if (!status) {
        put_lead(s);
        fputs("<h2>What is selected</h2>\n", s->out);
        status = f.rows > 0 ? put_selection(&f, err) : VXS_OK;
        if (f.rows == 0)
            fputs("<p>No half selected any feature.</p>\n", s->out);
    }
    for (size_t k = 0; k < f.outputs && f.share; k++)
        free(f.share[k]);
    free((void *)f.share);
    return status;
}

/* ---- What was done --------------------------------------------------------------------------- */

void vxs_story_halving(const vxs_story *s)
{
    const vxs_json *asked = vxs_json_get(s->about, "halving");
    vxs_put(s->out,
            "<tr><th>Halves</th><td>%g, two of each of %g times that the subjects were halved",
            number(s, "halves"), number(s, "halves") / 2);
    if (vxs_story_has(asked, "group"))
        vxs_put(s->out, "; subjects of one %s together", vxs_story_text(asked, "group"));
    fputs("</td></tr>\n", s->out);
    vxs_put(s->out,
            "<tr><th>Selection</th><td>the first %g features at most of the %s; %g on "
            "average</td></tr>\n",
            number(s, "features_a_half"), vxs_record_path(&s->record)->followed,
            number(s, "mean_selected"));
}
