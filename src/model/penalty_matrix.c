/* penalty_matrix.c - rows of D for the generalized lasso: second differences, or linear
 * combinations of features from a table with the columns term, feature and value. */
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FROM_FILE "matrix:"

typedef struct {
    const vxs_table *table;
    const vxs_feature_names *names;
    size_t term, feature, value; /* indices of columns */
    size_t count;
} factors;

typedef struct {
    const char *name;
    size_t row, first; /* row of the table, and first row of its term */
    size_t feature;
    double value;
} factor;

/* ---- From a table ---------------------------------------------------------------------------- */

static vxs_status read_factor(const factors *t, size_t row, factor *f, vxs_error *err)
{
    size_t line = vxs_table_line(t->table, row);
    f->row = row;
    f->name = vxs_table_cell(t->table, row, t->term);
    if (!f->name)
        return vxs_fail(err, VXS_BAD_DATA, "'%s' line %zu: the term has no name", t->names->path,
                        line);
    vxs_status status =
        vxs_feature_names_find(t->names, t->table, row, t->feature, &f->feature, err);
    if (!status)
        status = vxs_table_real(t->table, row, t->value, &f->value, err);
    if (!status && !(isfinite(f->value) && f->value != 0))
        status =
            vxs_fail(err, VXS_BAD_DATA, "'%s' line %zu: a factor must be a number other than 0",
                     t->names->path, line);
    return status;
}

static int by_name(const void *a, const void *b)
{
    const factor *left = a, *right = b;
    int order = strcmp(left->name, right->name);
    return order != 0 ? order : (left->row > right->row) - (left->row < right->row);
}

/* Sorts by the first row of the term in the table, then by the feature's index in the cohort. */
static int by_term(const void *a, const void *b)
{
    const factor *left = a, *right = b;
    if (left->first != right->first)
        return left->first < right->first ? -1 : 1;
    return (left->feature > right->feature) - (left->feature < right->feature);
}

static vxs_status write_terms(const factors *t, factor *list, vxs_analysis *terms, vxs_error *err)
{
    size_t made = 0;
    qsort(list, t->count, sizeof(*list), by_name);
    for (size_t k = 0; k < t->count; k++)
        list[k].first =
            k > 0 && strcmp(list[k].name, list[k - 1].name) == 0 ? list[k - 1].first : list[k].row;
    qsort(list, t->count, sizeof(*list), by_term);
    vxs_status status = vxs_analysis_new(t->names->cohort->p, t->count, t->count, terms, err);
    for (size_t k = 0; k < t->count && !status; k++) {
        bool same = k > 0 && list[k].first == list[k - 1].first;
        if (same && list[k].feature == list[k - 1].feature)
            status =
                vxs_fail(err, VXS_BAD_DATA, "'%s' line %zu: term '%s' has that feature already",
                         t->names->path, vxs_table_line(t->table, list[k].row), list[k].name);
        made += !same;
        terms->index[k] = list[k].feature;
        terms->value[k] = list[k].value;
        terms->starts[made] = k + 1;
    }
    terms->count = made;
    return status;
}

static vxs_status read_rows(factors *t, vxs_analysis *terms, vxs_error *err)
{
    vxs_status status = vxs_table_find(t->table, "term", &t->term, err);
    if (!status)
        status = vxs_table_find(t->table, "feature", &t->feature, err);
    if (!status)
        status = vxs_table_find(t->table, "value", &t->value, err);
    t->count = vxs_table_rows(t->table);
    if (!status && t->count == 0)
        status = vxs_fail(err, VXS_BAD_DATA, "'%s' has no terms", t->names->path);
    factor *list = status ? NULL : vxs_alloc(t->count, sizeof(*list), err);
    if (!status && !list)
        status = VXS_FAILED;
    for (size_t row = 0; row < t->count && !status; row++)
        status = read_factor(t, row, &list[row], err);
    if (!status)
        status = write_terms(t, list, terms, err);
    free(list);
    return status;
}

static vxs_status read_table(const char *path, const vxs_cohort *c, vxs_analysis *terms,
                             vxs_error *err)
{
    vxs_table *table = NULL;
    vxs_feature_names names = { .order = NULL };
    vxs_status status = vxs_table_read(path, &table, err);
    if (!status)
        status = vxs_feature_names_new(c, path, &names, err);
    if (!status) {
        factors t = { .table = table, .names = &names };
        status = read_rows(&t, terms, err);
    }
    vxs_feature_names_release(&names);
    vxs_table_free(table);
    return status;
}

/* ---- By its name ----------------------------------------------------------------------------- */

bool vxs_are_terms(const char *penalty)
{
    return penalty && strcmp(penalty, "edges") != 0;
}

bool vxs_terms_are_given(const char *penalty)
{
    return penalty && strncmp(penalty, FROM_FILE, strlen(FROM_FILE)) == 0;
}

vxs_status vxs_task_make_terms(vxs_task *t, const char *penalty, vxs_error *err)
{
    if (t->terms.count > 0)
        return VXS_OK;
    if (vxs_terms_are_given(penalty))
        return read_table(penalty + strlen(FROM_FILE), t->cohort, &t->terms, err);
    if (strcmp(penalty, "trend") != 0)
        return vxs_fail(err, VXS_MISUSE,
                        "'--penalty %s' is not known: give edges, trend or " FROM_FILE "FILE",
                        penalty);
    if (t->cohort->p < 3)
        return vxs_fail(err, VXS_BAD_DATA, "'--penalty trend' needs three features or more");
    return vxs_analysis_trend(t->cohort->p, &t->terms, err);
}

void vxs_terms_write(const vxs_analysis *terms, const vxs_cohort *c, FILE *stream)
{
    vxs_tsv_writer w;
    char name[32];
    vxs_tsv_init(&w, stream);
    vxs_tsv_text(&w, "term");
    vxs_tsv_text(&w, "feature");
    vxs_tsv_text(&w, "value");
    vxs_tsv_end_row(&w);
    for (size_t t = 0; t < terms->count; t++)
        for (size_t a = terms->starts[t]; a < terms->starts[t + 1]; a++) {
            snprintf(name, sizeof(name), "%zu", t + 1);
            vxs_tsv_text(&w, name);
            vxs_tsv_text(&w, vxs_cohort_feature(c, terms->index[a], name));
            vxs_tsv_real(&w, terms->value[a]);
            vxs_tsv_end_row(&w);
        }
}
