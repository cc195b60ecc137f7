/* compare_rows.c - predictions.tsv and folds.tsv of each directory, in the order of the subjects of
 * the first one. */
#include "evaluate/compare/compare.h"

#include "core/union.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- A table of rows for each subject and repeat --------------------------------------------- */

typedef struct {
    vxs_compared *c;
    size_t model;
    vxs_compared_model *m;
    vxs_table *table;
    size_t repeat, fold, truth;
    size_t n, repeats;
    size_t *which;      /* rows of the table: those of the baseline; NULL: all */
    const char **folds; /* repeats x n: of this model */
    size_t *sorted;     /* subjects by their ids */
} rows;

static int by_id(const void *a, const void *b, void *ids)
{
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    return strcmp(((char **)ids)[left], ((char **)ids)[right]);
}

static vxs_status sort_ids(const vxs_compared *c, size_t **sorted, vxs_error *err)
{
    *sorted = vxs_alloc(c->n, sizeof(**sorted), err);
    for (size_t i = 0; *sorted && i < c->n; i++)
        (*sorted)[i] = i;
    if (*sorted)
        qsort_r(*sorted, c->n, sizeof(**sorted), by_id, (void *)c->ids);
    return *sorted ? VXS_OK : VXS_FAILED;
}

/* n: no subject has the id. */
static size_t find_id(const vxs_compared *c, const size_t *sorted, const char *id)
{
    size_t low = 0, high = id ? c->n : 0;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(c->ids[sorted[middle]], id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = id && low < c->n && strcmp(c->ids[sorted[low]], id) == 0;
    return found ? sorted[low] : c->n;
}

/* Row k of those that are read. */
static size_t row_of(const rows *r, size_t k)
{
    return r->which ? r->which[k] : k;
}

static vxs_status bad_row(const rows *r, size_t row, const char *what, vxs_error *err)
{
    return vxs_fail(err, VXS_BAD_DATA, "'%s' line %zu: %s", vxs_table_name(r->table),
                    vxs_table_line(r->table, row), what);
}

/* From 0 on. */
static vxs_status repeat_of(const rows *r, size_t row, size_t *repeat, vxs_error *err)
{
    double value = 0;
    vxs_status status = vxs_table_real(r->table, row, r->repeat, &value, err);
    if (!status && !(value >= 1 && value <= (double)r->repeats && value == floor(value)))
        status = bad_row(r, row, "there is no such repeat", err);
    *repeat = status ? 0 : (size_t)value - 1;
    return status;
}

/* The first model gives the subjects, those of its first repeat. */
static vxs_status take_ids(rows *r, vxs_error *err)
{
    vxs_compared *c = r->c;
    size_t repeat = 0;
    vxs_status status = VXS_OK;
    c->ids = vxs_alloc(r->n, sizeof(*c->ids), err);
    c->truth = vxs_alloc(r->n, sizeof(*c->truth), err);
    if (!c->ids || !c->truth)
        return VXS_FAILED;
    for (size_t k = 0; k < r->n * r->repeats && !status; k++) {
        size_t row = row_of(r, k);
        const char *id = vxs_table_cell(r->table, row, 0);
        status = repeat_of(r, row, &repeat, err);
        if (status || repeat > 0)
            continue;
        if (!id || c->n == r->n)
            return bad_row(r, row, id ? "more subjects than in cv.json" : "no subject", err);
        c->truth[c->n] = NAN;
        c->ids[c->n] = vxs_format(err, "%s", id);
        status = c->ids[c->n++] ? VXS_OK : VXS_FAILED;
    }
    if (!status && c->n < r->n)
        status =
            vxs_fail(err, VXS_BAD_DATA, "'%s' has %zu subjects and '%s' says that there are %zu",
                     vxs_table_name(r->table), c->n, VXS_CV_FILE, r->n);
    return status;
}

/* ---- predictions.tsv ------------------------------------------------------------------------- */

static vxs_status read_truth(const rows *r, size_t row, double *truth, vxs_error *err)
{
    const vxs_compared *c = r->c;
    const char *cell = vxs_table_cell(r->table, row, r->truth);
    *truth = NAN;
    if (c->class_count == 0) {
        vxs_status status = vxs_table_real(r->table, row, r->truth, truth, err);
        return status || isfinite(*truth) ? status : bad_row(r, row, "no true value", err);
    }
    for (size_t k = 0; cell && k < c->class_count; k++)
        if (strcmp(c->classes[k], cell) == 0)
            *truth = (double)k;
    return isnan(*truth) ? bad_row(r, row, "the true class is none of those in cv.json", err)
                         : VXS_OK;
}

static vxs_status check_truth(const rows *r, size_t i, double truth, vxs_error *err)
{
    const vxs_compared *c = r->c;
    char one[VXS_REAL_TEXT], other[VXS_REAL_TEXT];
    bool classes = c->class_count > 0;
    if (truth == c->truth[i])
        return VXS_OK;
    return vxs_compared_differ(c, r->model, err,
                               "have different targets: '%s' is %s in one and %s in the other",
                               c->ids[i],
                               classes ? c->classes[(size_t)c->truth[i]]
                                       : vxs_real_text(c->truth[i], one),
                               classes ? c->classes[(size_t)truth] : vxs_real_text(truth, other));
}

/* Which subject, fold and truth; each once in each repeat. */
static vxs_status take_row(rows *r, size_t row, size_t *at, vxs_error *err)
{
    vxs_compared *c = r->c;
    size_t repeat = 0, i = find_id(c, r->sorted, vxs_table_cell(r->table, row, 0));
    double truth = NAN;
    const char *fold = vxs_table_cell(r->table, row, r->fold);
    vxs_status status = repeat_of(r, row, &repeat, err);
    if (!status && i == c->n && r->model > 0 && vxs_table_cell(r->table, row, 0))
        return vxs_compared_differ(c, r->model, err,
                                   "are of different subjects: '%s' is not in the first",
                                   vxs_table_cell(r->table, row, 0));
    if (!status && i == c->n)
        return bad_row(r, row, "no subject of the first repeat", err);
    if (!status && !fold)
        return bad_row(r, row, "no fold", err);
    if (!status)
        status = read_truth(r, row, &truth, err);
    if (status)
        return status;
    if (isnan(c->truth[i]))
        c->truth[i] = truth;
    if (r->model == 0 && truth != c->truth[i])
        return bad_row(r, row, "another true value than in another repeat", err);
    *at = repeat * c->n + i;
    if (r->folds[*at])
        return bad_row(r, row, "a subject that is there twice in this repeat", err);
    r->folds[*at] = fold;
    return check_truth(r, i, truth, err);
}

/* A column of numbers; each goes to values[place of its row]. `share`: from 0 to 1. */
static vxs_status read_column(const rows *r, const char *name, const size_t *places, bool share,
                              double *values, size_t apart, vxs_error *err)
{
    size_t column = 0;
    vxs_status status = vxs_table_find(r->table, name, &column, err);
    for (size_t k = 0; k < r->n * r->repeats && !status; k++) {
        double value = NAN;
        size_t row = row_of(r, k), repeat = places[k] / r->n, i = places[k] % r->n;
        status = vxs_table_real(r->table, row, column, &value, err);
        if (!status && (!isfinite(value) || (share && !(value >= 0 && value <= 1))))
            status = vxs_fail(err, VXS_BAD_DATA, "'%s' line %zu, column '%s': no %s",
                              vxs_table_name(r->table), vxs_table_line(r->table, row), name,
                              share ? "probability" : "value");
        values[repeat * apart * r->n + i] = value;
    }
    return status;
}

/* A column for each output: PREFIX_CLASS of classes, `plain` of scores. */
static vxs_status read_outputs(const rows *r, const char *prefix, const char *plain,
                               const size_t *places, double **values, vxs_error *err)
{
    const vxs_compared *c = r->c;
    size_t outputs = vxs_compared_outputs(c);
    vxs_status status = VXS_OK;
    *values = vxs_alloc(r->repeats * outputs, r->n * sizeof(**values), err);
    for (size_t o = 0; o < outputs && !status && *values; o++) {
        char *name = c->class_count > 0
                         ? vxs_format(err, "%s_%s", prefix, c->classes[c->class_count == 2 ? 1 : o])
                         : vxs_format(err, "%s", plain);
        status = name ? read_column(r, name, places, false, *values + o * r->n, outputs, err)
                      : VXS_FAILED;
        free(name);
    }
    return *values ? status : VXS_FAILED;
}

static vxs_status read_probabilities(const rows *r, const size_t *places, vxs_error *err)
{
    const vxs_compared *c = r->c;
    size_t classes = c->class_count;
    vxs_status status = VXS_OK;
    if (classes == 0)
        return VXS_OK;
    r->m->probabilities = vxs_alloc(r->repeats * classes, r->n * sizeof(double), err);
    for (size_t k = 0; k < classes && !status && r->m->probabilities; k++) {
        char *name = vxs_format(err, "p_%s", c->classes[k]);
        status =
            name ? read_column(r, name, places, true, r->m->probabilities + k * r->n, classes, err)
                 : VXS_FAILED;
        free(name);
    }
    return r->m->probabilities ? status : VXS_FAILED;
}

/* ---- Folds ----------------------------------------------------------------------------------- */

static vxs_status other_folds(const rows *r, size_t repeat, size_t i, size_t j, bool here,
                              vxs_error *err)
{
    const vxs_compared *c = r->c;
    return vxs_compared_differ(c, r->model, err,
                               "have different folds: in repeat %zu '%s' and '%s' are in one fold "
                               "of %s and not of the other; use --folds-from %s/folds.tsv",
                               repeat + 1, c->ids[i], c->ids[j], here ? "the first" : "the second",
                               c->models[0].directory);
}

/* The folds of a repeat have the same subjects, whatever they are called. `first`: room for one of
 * each fold. */
static vxs_status same_folds(const rows *r, const size_t *fold, size_t repeat, size_t *first,
                             vxs_error *err)
{
    const vxs_compared *c = r->c;
    const size_t *mine = c->folds.fold + repeat * c->n, *theirs = fold + repeat * c->n;
    for (int turn = 0; turn < 2; turn++) {
        const size_t *of = turn ? theirs : mine, *other = turn ? mine : theirs;
        for (size_t k = 0; k < r->repeats * r->n; k++)
            first[k] = SIZE_MAX;
        for (size_t i = 0; i < c->n; i++) {
            size_t *one = &first[of[i]];
            if (*one == SIZE_MAX)
                *one = i;
            if (other[i] != other[*one])
                return other_folds(r, repeat, *one, i, turn == 0, err);
        }
    }
    return VXS_OK;
}

static vxs_status take_folds(rows *r, vxs_error *err)
{
    vxs_compared *c = r->c;
    size_t all = r->repeats * r->n, count = 0;
    size_t *fold = vxs_alloc(2 * all, sizeof(*fold), err), *first = fold ? fold + all : NULL;
    vxs_status status = fold ? vxs_number_texts(r->folds, all, fold, &count, err) : VXS_FAILED;
    for (size_t k = 0; k < r->repeats && !status && r->model > 0; k++)
        status = same_folds(r, fold, k, first, err);
    if (r->model > 0 || status) {
        free(fold);
        return status;
    }
    c->folds = (vxs_folds){ .n = r->n, .repeats = r->repeats, .count = count, .fold = fold };
    return VXS_OK;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static vxs_status take_rows(rows *r, size_t *places, vxs_error *err)
{
    vxs_compared *c = r->c;
    vxs_status status = sort_ids(c, &r->sorted, err);
    for (size_t k = 0; k < r->n * r->repeats && !status; k++)
        status = take_row(r, row_of(r, k), &places[k], err);
    if (!status)
        status = take_folds(r, err);
    if (!status)
        status = read_outputs(r, "score", "predicted", places, &r->m->scores, err);
    if (!status)
        status = read_probabilities(r, places, err);
    vxs_evaluated e = vxs_compared_evaluated(c, NULL);
    if (!status)
        vxs_count_pairs(&e, &c->comparison);
    if (!status && c->comparison.across)
        status = read_outputs(r, "aligned", "aligned", places, &r->m->aligned, err);
    return status;
}

/* The rows of a baseline in a table of all; returns how many. */
static size_t list_rows(const rows *r, size_t column, size_t *which)
{
    size_t count = 0;
    for (size_t row = 0; row < vxs_table_rows(r->table); row++) {
        const char *cell = vxs_table_cell(r->table, row, column);
        if (cell && strcmp(cell, r->m->baseline) == 0)
            which[count++] = row;
    }
    return count;
}

static vxs_status choose_rows(rows *r, size_t *count, vxs_error *err)
{
    size_t column = 0;
    *count = vxs_table_rows(r->table);
    if (!r->m->baseline)
        return VXS_OK;
    vxs_status status = vxs_table_find(r->table, "baseline", &column, err);
    r->which = status ? NULL : vxs_alloc(*count, sizeof(*r->which), err);
    if (!r->which)
        return status ? status : VXS_FAILED;
    *count = list_rows(r, column, r->which);
    if (*count == 0)
        return vxs_fail(err, VXS_BAD_DATA, "'%s' has no baseline '%s'", vxs_table_name(r->table),
                        r->m->baseline);
    return VXS_OK;
}

static vxs_status open_rows(rows *r, vxs_error *err)
{
    size_t count = 0;
    char *path =
        vxs_format(err, "%s/%s.tsv", r->m->place, r->m->baseline ? "baselines" : "predictions");
    vxs_status status = path ? vxs_table_read(path, &r->table, err) : VXS_FAILED;
    free(path);
    if (!status)
        status = vxs_table_find(r->table, "repeat", &r->repeat, err);
    if (!status)
        status = vxs_table_find(r->table, "fold", &r->fold, err);
    if (!status)
        status = vxs_table_find(r->table, "truth", &r->truth, err);
    if (!status)
        status = choose_rows(r, &count, err);
    if (!status && count != vxs_times(r->n, r->repeats))
        status = vxs_fail(err, VXS_BAD_DATA,
                          "'%s' has %zu rows and '%s' says that there are %zu subjects in %zu "
                          "repeat%s",
                          vxs_table_name(r->table), count, VXS_CV_FILE, r->n, r->repeats,
                          vxs_plural(r->repeats));
    return status;
}

vxs_status vxs_compared_rows(vxs_compared *c, size_t model, size_t subjects, size_t repeats,
                             vxs_error *err)
{
    rows r = { .c = c, .model = model, .m = &c->models[model], .n = subjects, .repeats = repeats };
    size_t *places = NULL;
    vxs_status status = open_rows(&r, err);
    if (!status && model == 0)
        status = take_ids(&r, err);
    if (!status) {
        places = vxs_alloc(subjects * repeats, sizeof(*places), err);
        r.folds = vxs_alloc(subjects * repeats, sizeof(*r.folds), err);
        status = places && r.folds ? take_rows(&r, places, err) : VXS_FAILED;
    }
    free(places);
    free((void *)r.folds);
    free(r.sorted);
    free(r.which);
    vxs_table_free(r.table);
    return status;
}

/* ---- Groups ---------------------------------------------------------------------------------- */

/* Of one row; SIZE_MAX stands for a group that is not known yet. */
static vxs_status take_group(const rows *r, size_t row, size_t column, size_t *group,
                             vxs_error *err)
{
    const vxs_compared *c = r->c;
    double value = NAN;
    size_t i = find_id(c, r->sorted, vxs_table_cell(r->table, row, 0));
    vxs_status status = vxs_table_real(r->table, row, column, &value, err);
    if (status)
        return status;
    if (!(value >= 1 && value <= (double)c->n && value == floor(value)))
        return bad_row(r, row, "no group", err);
    if (i == c->n)
        return bad_row(r, row, "no subject of predictions.tsv", err);
    if (group[i] != SIZE_MAX && group[i] != (size_t)value - 1)
        return bad_row(r, row, "another group than in another repeat", err);
    group[i] = (size_t)value - 1;
    return VXS_OK;
}

/* The group of each subject in one model, from 0 on. */
static vxs_status read_groups(vxs_compared *c, size_t model, size_t *sorted, size_t *group,
                              vxs_error *err)
{
    rows r = { .c = c, .n = c->n, .sorted = sorted };
    size_t column = 0;
    char *path = vxs_format(err, "%s/folds.tsv", c->models[model].place);
    vxs_status status = path ? vxs_table_read(path, &r.table, err) : VXS_FAILED;
    free(path);
    if (!status)
        status = vxs_table_find(r.table, "group", &column, err);
    for (size_t i = 0; i < c->n; i++)
        group[i] = SIZE_MAX;
    for (size_t row = 0; row < vxs_table_rows(r.table) && !status; row++)
        status = take_group(&r, row, column, group, err);
    for (size_t i = 0; i < c->n && !status; i++)
        if (group[i] == SIZE_MAX)
            status = vxs_fail(err, VXS_BAD_DATA, "'%s' has no group for '%s'",
                              vxs_table_name(r.table), c->ids[i]);
    vxs_table_free(r.table);
    return status;
}

/* Subjects that are together in some model are together; numbers are in the order of those of the
 * first model, so that draws are those of its cross-validation. */
static void number_groups(vxs_compared *c, size_t *parent, const size_t *first, size_t *number)
{
    size_t *one = c->folds.group; /* of each group of the first model, until they are numbered */
    for (size_t i = 0; i < c->n; i++)
        number[i] = one[i] = SIZE_MAX;
    for (size_t i = 0; i < c->n; i++)
        one[first[i]] = i;
    for (size_t g = 0; g < c->n; g++)
        if (one[g] != SIZE_MAX) {
            size_t *of = &number[vxs_union_find(parent, one[g])];
            *of = *of == SIZE_MAX ? c->folds.groups++ : *of;
        }
    for (size_t i = 0; i < c->n; i++)
        c->folds.group[i] = number[vxs_union_find(parent, i)];
}

/* `one`: room for a subject of each group. */
static void join_groups(vxs_compared *c, size_t *parent, const size_t *group, size_t *one)
{
    for (size_t i = 0; i < c->n; i++)
        one[i] = SIZE_MAX;
    for (size_t i = 0; i < c->n; i++) {
        if (one[group[i]] == SIZE_MAX)
            one[group[i]] = i;
        (void)vxs_union_join(parent, i, one[group[i]]);
    }
}

static size_t count_groups(const vxs_compared *c, const size_t *group, size_t *seen)
{
    size_t count = 0;
    memset(seen, 0, c->n * sizeof(*seen));
    for (size_t i = 0; i < c->n; i++)
        count += seen[group[i]]++ == 0;
    return count;
}

vxs_status vxs_compared_groups(vxs_compared *c, vxs_error *err)
{
    size_t *sorted = NULL, *parent = vxs_union_new(c->n, err);
    size_t *room = vxs_alloc(c->model_count + 1, c->n * sizeof(*room), err), most = 0;
    c->folds.group = vxs_alloc(c->n, sizeof(*c->folds.group), err);
    vxs_status status = parent && room && c->folds.group ? sort_ids(c, &sorted, err) : VXS_FAILED;
    size_t *spare = room ? room + c->model_count * c->n : NULL;
    for (size_t k = 0; k < c->model_count && !status; k++) {
        size_t *group = room + k * c->n;
        status = read_groups(c, k, sorted, group, err);
        if (status)
            break;
        join_groups(c, parent, group, spare);
        size_t here = count_groups(c, group, spare);
        most = here > most ? here : most;
    }
    if (!status) {
        number_groups(c, parent, room, spare);
        c->joined = c->folds.groups < most;
    }
    free(sorted);
    free(parent);
    free(room);
    return status;
}
