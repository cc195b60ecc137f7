/* selected.c - selected groups, and groups with kernels, as a table; selected pairs as a figure and
 * a table, with coordinates and atlas labels where features have any. */
#include "report/pairs.h"
#include "voxsift/internal/cohort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROWS 50

static vxs_status read_table(const vxs_results *s, const char *file, vxs_table **table,
                             vxs_error *err)
{
    char *path = vxs_format(err, "%s/%s", s->directory, file);
    vxs_status status = path ? vxs_table_read(path, table, err) : VXS_FAILED;
    free(path);
    return status;
}

/* A number that must be there. */
static vxs_status read_number(const vxs_results *s, const vxs_table *t, const char *file,
                              size_t row, size_t column, double *value, vxs_error *err)
{
    vxs_status status = vxs_table_real(t, row, column, value, err);
    if (!status && !isfinite(*value))
        status = vxs_fail(err, VXS_BAD_DATA, "'%s/%s' line %zu, column '%s': no value",
                          s->directory, file, vxs_table_line(t, row), vxs_table_header(t, column));
    return status;
}

/* How many rows model.json says that there are. */
static vxs_status check_rows(const vxs_results *s, const vxs_table *t, const char *file,
                             vxs_error *err)
{
    size_t said = 0;
    for (size_t k = 0; k < s->model.output_count; k++)
        said += s->model.outputs[k].fit.selected->count;
    if (vxs_table_rows(t) == said)
        return VXS_OK;
    return vxs_fail(err, VXS_BAD_DATA, "'%s/%s' has %zu rows and '%s' says that %zu were selected",
                    s->directory, file, vxs_table_rows(t), s->kind->file, said);
}

/* Whether a row is of output k; where there is one, all are. */
static bool is_of(const vxs_results *s, const vxs_table *t, size_t row, size_t k)
{
    char text[VXS_OUTPUT_TEXT];
    return vxs_record_outputs(&s->record) == 1 ||
           strcmp(vxs_table_cell(t, row, 0), vxs_record_output(&s->record, k, text)) == 0;
}

static void write_output(const vxs_results *s, size_t k)
{
    char text[VXS_OUTPUT_TEXT];
    if (vxs_record_outputs(&s->record) > 1)
        vxs_html(s->out, "<p>%s:</p>\n", vxs_record_contrast(&s->record, k, text));
}

/* ---- Groups ---------------------------------------------------------------------------------- */

enum { NAME, FEATURES, WEIGHT, SHARE, COLUMNS };
typedef struct {
    const char *name;
    double value[COLUMNS];
} group;

static int by_weight(const void *a, const void *b)
{
    double left = ((const group *)a)->value[WEIGHT], right = ((const group *)b)->value[WEIGHT];
    return (left < right) - (left > right);
}

/* A table of groups: its columns, and their headings. */
typedef struct {
    const char *file, *names[COLUMNS], *headings[2];
    bool kernels; /* rows without a weight are left out */
} groups_table;
static const groups_table selected_table = { .file = "selected.tsv",
                                             .names = { "group", "features", "weight", "share" },
                                             .headings = { "norm of weights",
                                                           "share of the squared norm" } };
static const groups_table kernels_table = { .file = "kernel_weights.tsv",
                                            .names = { "group", "features", "weight", "norm" },
                                            .headings = { "weight",
                                                          "norm, relative to the largest" },
                                            .kernels = true };

static void write_groups(FILE *out, const groups_table *kind, const group *groups, size_t count)
{
    vxs_html(out,
             "<table class=\"n\"><tr><th>group</th><th>features</th><th>%s</th><th>%s</th></tr>\n",
             kind->headings[0], kind->headings[1]);
    for (size_t k = 0; k < count && k < MOST_ROWS; k++)
        vxs_html(out, "<tr><td class=\"t\">%s</td><td>%g</td><td>%v</td><td>%p</td></tr>\n",
                 groups[k].name, groups[k].value[FEATURES], groups[k].value[WEIGHT],
                 groups[k].value[SHARE]);
    fputs("</table>\n", out);
    if (count > MOST_ROWS)
        vxs_html(out, "<p class=\"small\">The %d largest of %z; all are in %s.</p>\n", MOST_ROWS,
                 count, kind->file);
}

static vxs_status write_groups_of(const vxs_results *s, const groups_table *kind,
                                  const vxs_table *t, size_t output, vxs_error *err)
{
    size_t rows = vxs_table_rows(t), column[COLUMNS], count = 0;
    group *groups = vxs_alloc(rows, sizeof(*groups), err);
    vxs_status status = groups ? VXS_OK : VXS_FAILED;
    for (int c = 0; c < COLUMNS && !status; c++)
        status = vxs_table_find(t, kind->names[c], &column[c], err);
    for (size_t r = 0; r < rows && !status; r++) {
        if (!is_of(s, t, r, output))
            continue;
        group *g = &groups[count++];
        g->name = vxs_table_cell(t, r, column[NAME]);
        for (int c = FEATURES; c < COLUMNS && !status; c++)
            status = read_number(s, t, kind->file, r, column[c], &g->value[c], err);
        count -= kind->kernels && g->value[WEIGHT] == 0;
    }
    if (!status) {
        qsort(groups, count, sizeof(*groups), by_weight);
        write_output(s, output);
        write_groups(s->out, kind, groups, count);
    }
    free(groups);
    return status;
}

static vxs_status groups_section(const vxs_results *s, vxs_error *err)
{
    vxs_table *t = NULL;
    vxs_status status = read_table(s, "selected.tsv", &t, err);
    if (!status)
        status = check_rows(s, t, "selected.tsv", err);
    if (!status)
        vxs_html(
            s->out,
            "<h2>Selected groups</h2>\n<p>The norm of a group's weights is the root of their sum "
            "of squares, for standardized features%s.</p>\n",
            vxs_record_divides_by_size(&s->record) ? ", divided by the root of the group's size"
                                                   : "");
    for (size_t k = 0; k < vxs_record_outputs(&s->record) && !status; k++)
        status = write_groups_of(s, &selected_table, t, k, err);
    vxs_table_free(t);
    return status;
}

static vxs_status kernels_section(const vxs_results *s, vxs_error *err)
{
    vxs_table *t = NULL;
    vxs_status status = read_table(s, kernels_table.file, &t, err);
    if (!status)
        vxs_html(s->out,
                 "<h2>Groups by weight</h2>\n<p>Weights of the kernels of groups sum to 1; of %z "
                 "groups those with a weight are listed. kernel_weights.tsv has the others as "
                 "well, with "
                 "the norm of the weights of subjects in each kernel: the nearer to that of the "
                 "listed ones, the nearer a group is to getting a weight.</p>\n",
                 vxs_table_rows(t) / vxs_record_outputs(&s->record));
    for (size_t k = 0; k < vxs_record_outputs(&s->record) && !status; k++)
        status = write_groups_of(s, &kernels_table, t, k, err);
    vxs_table_free(t);
    return status;
}

/* ---- Pairs: where they are ------------------------------------------------------------------- */

typedef struct {
    const vxs_results *s;
    vxs_places places;
    bool has_places, voxels;
    vxs_table *table;    /* pairs.tsv */
    vxs_table *regions;  /* regions.tsv, of a cohort of regions */
    double (*center)[3]; /* of a row of it, in mm; NAN: it has no voxel */
    int32_t *label;      /* of the atlas, of each voxel of the grid; or NULL */
} finder;

static vxs_status find_centers(finder *f, vxs_error *err)
{
    vxs_cohort_regions regions = { .count = 0 };
    vxs_status status = read_table(f->s, "regions.tsv", &f->regions, err);
    size_t rows = status ? 0 : vxs_table_rows(f->regions);
    if (!status)
        status = vxs_cohort_regions_read(f->s->directory, rows, &regions, err);
    f->center = status ? NULL : vxs_alloc(rows, sizeof(*f->center), err);
    if (!status)
        status = f->center ? vxs_cohort_region_centers(&regions, f->center, err) : VXS_FAILED;
    vxs_cohort_regions_release(&regions);
    return status;
}

static vxs_status begin(finder *f, vxs_error *err)
{
    bool regions = f->s->record.features_are == VXS_FEATURES_REGIONS;
    f->voxels = f->s->record.features_are == VXS_FEATURES_VOXELS;
    vxs_status status = read_table(f->s, "pairs.tsv", &f->table, err);
    if (!status)
        status = check_rows(f->s, f->table, "pairs.tsv", err);
    if (status || (!f->voxels && !regions))
        return status;
    f->has_places = true;
    status = vxs_places_read(f->s, &f->places, err);
    if (!status && regions)
        status = find_centers(f, err);
    if (status || !f->voxels || !f->places.has_atlas)
        return status;
    const vxs_grid *grid = &f->places.mask.grid;
    f->label = vxs_alloc(vxs_grid_voxels(grid), sizeof(*f->label), err);
    return f->label ? vxs_atlas_resample(&f->places.atlas, grid, f->label, err) : VXS_FAILED;
}

static void end(finder *f)
{
    if (f->has_places)
        vxs_places_release(&f->places);
    vxs_table_free(f->table);
    vxs_table_free(f->regions);
    free(f->center);
    free(f->label);
}

static void find_region(const finder *f, vxs_end *e)
{
    for (size_t r = 0; r < vxs_table_rows(f->regions); r++)
        if (strcmp(vxs_table_cell(f->regions, r, 0), e->name) == 0)
            memcpy(e->at, f->center[r], sizeof(e->at));
}

/* Columns behind the name are i, j, k, x, y and z. */
static vxs_status find_voxel(const finder *f, size_t row, size_t column, vxs_end *e, vxs_error *err)
{
    const vxs_grid *grid = &f->places.mask.grid;
    const vxs_atlas *atlas = &f->places.atlas;
    double index[3] = { 0 };
    vxs_status status = VXS_OK;
    for (size_t d = 0; d < 3 && !status; d++) {
        status = read_number(f->s, f->table, "pairs.tsv", row, column + 1 + d, &index[d], err);
        if (!status)
            status = read_number(f->s, f->table, "pairs.tsv", row, column + 4 + d, &e->at[d], err);
        if (!status && !(index[d] >= 0 && index[d] < (double)grid->shape[d]))
            status = vxs_fail(err, VXS_BAD_DATA, "'%s/pairs.tsv' line %zu: no voxel of the mask",
                              f->s->directory, vxs_table_line(f->table, row));
    }
    if (status || !f->label)
        return status;
    size_t voxel =
        (size_t)index[0] + grid->shape[0] * ((size_t)index[1] + grid->shape[1] * (size_t)index[2]);
    size_t label = vxs_atlas_find(atlas, f->label[voxel]);
    e->label = label < atlas->count ? atlas->names[label] : NULL;
    return VXS_OK;
}

static vxs_status read_end(const finder *f, size_t row, const char *which, vxs_end *e,
                           vxs_error *err)
{
    size_t column = 0;
    vxs_status status = vxs_table_find(f->table, which, &column, err);
    *e = (vxs_end){ .at = { NAN, NAN, NAN } };
    if (status)
        return status;
    e->name = vxs_table_cell(f->table, row, column);
    if (f->regions)
        find_region(f, e);
    return f->voxels ? find_voxel(f, row, column, e, err) : VXS_OK;
}

static vxs_status read_pair(const finder *f, size_t row, vxs_pair *p, vxs_error *err)
{
    size_t kind = 0, weight = 0;
    vxs_status status = vxs_table_find(f->table, "kind", &kind, err);
    if (!status)
        status = vxs_table_find(f->table, "weight", &weight, err);
    if (!status)
        status = read_number(f->s, f->table, "pairs.tsv", row, weight, &p->weight, err);
    if (!status)
        status = read_end(f, row, "first", &p->end[0], err);
    if (!status)
        status = read_end(f, row, "second", &p->end[1], err);
    p->kind = status ? "" : vxs_table_cell(f->table, row, kind);
    p->two = strcmp(p->kind, "pair") == 0;
    return status;
}

static int by_size(const void *a, const void *b)
{
    double left = fabs(((const vxs_pair *)a)->weight), right = fabs(((const vxs_pair *)b)->weight);
    return (left < right) - (left > right);
}

/* ---- Pairs: what is said --------------------------------------------------------------------- */

static void write_feature(const finder *f, const vxs_end *e, bool shown)
{
    FILE *out = f->s->out;
    vxs_html(out, "<td class=\"t\">%s", shown ? e->name : "");
    if (shown && e->label)
        vxs_html(out, "<br><span class=\"small\">%s</span>", e->label);
    fputs("</td>", out);
    if (f->voxels && shown)
        vxs_html(out, "<td>%f, %f, %f</td>", e->at[0], e->at[1], e->at[2]);
    else if (f->voxels)
        fputs("<td></td>", out);
}

static void write_table(const finder *f, const vxs_pair *pairs, size_t count)
{
    FILE *out = f->s->out;
    fputs("<table class=\"n\"><tr><th>weight</th><th></th>", out);
    for (int e = 0; e < 2; e++) {
        fputs(e == 0 ? "<th>first</th>" : "<th>second</th>", out);
        if (f->voxels)
            fputs("<th>x, y, z</th>", out);
    }
    fputs("</tr>\n", out);
    for (size_t k = 0; k < count && k < MOST_ROWS; k++) {
        vxs_html(out, "<tr><td>%v</td><td class=\"t\">%s</td>", pairs[k].weight, pairs[k].kind);
        write_feature(f, &pairs[k].end[0], true);
        write_feature(f, &pairs[k].end[1], pairs[k].two);
        fputs("</tr>\n", out);
    }
    fputs("</table>\n", out);
}

static vxs_status write_figure(const finder *f, const vxs_pair *pairs, size_t count, vxs_error *err)
{
    FILE *out = f->s->out;
    fputs(f->has_places ? "<div class=\"row\"><figure>"
                        : "<div class=\"row\"><figure style=\"max-width:35rem\">",
          out);
    vxs_status status = f->has_places ? vxs_pairs_in_head(out, &f->places, pairs, count, err)
                                      : vxs_pairs_on_circle(out, pairs, count, err);
    vxs_html(out,
             "<figcaption>Lines are pairs, rings squares, dots single features. Red: positive, "
             "blue: negative weights; width: size of the weight.%s"
             "</figcaption></figure>\n",
             !f->has_places ? ""
             : f->voxels    ? " Projections through the head, neurological convention."
                         : " Projections through the head, neurological convention; lines end in "
                           "the centers of regions.");
    return status;
}

static vxs_status write_pairs_of(const finder *f, size_t output, vxs_error *err)
{
    size_t rows = vxs_table_rows(f->table), count = 0;
    vxs_pair *pairs = vxs_alloc(rows, sizeof(*pairs), err);
    vxs_status status = pairs ? VXS_OK : VXS_FAILED;
    for (size_t r = 0; r < rows && !status; r++)
        if (is_of(f->s, f->table, r, output))
            status = read_pair(f, r, &pairs[count++], err);
    if (!status) {
        qsort(pairs, count, sizeof(*pairs), by_size);
        write_output(f->s, output);
    }
    if (!status && count > 0)
        status = write_figure(f, pairs, count, err);
    if (!status && count > 0) {
        write_table(f, pairs, count);
        fputs("</div>\n", f->s->out);
        if (count > MOST_ROWS)
            vxs_html(f->s->out,
                     "<p class=\"small\">The %d strongest of %z; all are in pairs.tsv.</p>\n",
                     MOST_ROWS, count);
    }
    free(pairs);
    return status;
}

static void write_meaning(const vxs_results *s)
{
    bool centered = s->record.task.standardize != VXS_STANDARDIZE_NONE;
    vxs_html(s->out,
             "<h2>Selected pairs</h2>\n<p>A pair is the product of two features%s. A positive "
             "weight: more %s where %s, less where %s; a negative weight is the reverse. The main "
             "effects of the two features are not part of it.</p>\n",
             centered ? ", each minus its mean" : "",
             s->record.class_count == 2 ? vxs_record_class(&s->record, 1) : "the class",
             centered ? "both are above their means, or both below" : "both have the same sign",
             centered ? "one is above and the other below" : "they have different signs");
}

static vxs_status pairs_section(const vxs_results *s, vxs_error *err)
{
    finder f = { .s = s };
    vxs_status status = begin(&f, err);
    if (!status)
        write_meaning(s);
    for (size_t k = 0; k < vxs_record_outputs(&s->record) && !status; k++)
        status = write_pairs_of(&f, k, err);
    end(&f);
    return status;
}

vxs_status vxs_section_units(const vxs_results *s, vxs_error *err)
{
    if (vxs_record_has_kernels(&s->record))
        return kernels_section(s, err);
    switch (vxs_record_selects(&s->record)) {
    case VXS_SELECTS_PAIRS:
        return pairs_section(s, err);
    case VXS_SELECTS_GROUPS:
        return groups_section(s, err);
    default:
        return VXS_OK;
    }
}
