/* gather.c - rows of a cohort become bags of instances: those of one value of a column are the
 * instances of one subject.
 *
 * The bags' table has the columns of the rows', in the same places. What is of the bag agrees
 * within its rows; a column that does not cannot be found in this table: the message names two
 * rows. Persons stay together: bags that have a person in common are of one person. */
#include "voxsift/internal/cohort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool vxs_cohort_is_dense(const vxs_cohort *c)
{
    return c->bags ? c->bags->dense : c->features != NULL;
}

vxs_feature_kind vxs_feature_kind_of(const vxs_cohort *c)
{
    return c->bags ? c->bags->kind : c->kind;
}

size_t vxs_cohort_subject_of(const vxs_cohort *c, size_t k)
{
    return c->bags && c->bags->of_row ? c->bags->of_row[k] : k;
}

size_t vxs_cohort_file_rows(const vxs_cohort *c)
{
    return c->bags && c->bags->of_row ? c->bags->count : c->n;
}

void vxs_bags_free(vxs_bags *b)
{
    if (!b)
        return;
    free(b->values);
    free(b->first);
    free(b->of_row);
    free(b->at);
    vxs_cubes_free(b->cubes);
    vxs_table_free(b->names);
    free(b);
}

const char *vxs_bags_feature(const vxs_bags *b, size_t j, char buffer[32])
{
    const char *name = b->names ? vxs_table_cell(b->names, j, b->name_column) : NULL;
    if (name || !buffer)
        return name;
    snprintf(buffer, 32, "x%zu", j);
    return buffer;
}

vxs_status vxs_bags_check(const vxs_cohort *c, size_t i, vxs_error *err)
{
    const vxs_bags *b = c->bags;
    char name[32], instance[32];
    for (size_t k = b->first[i]; k < b->first[i + 1]; k++)
        for (size_t j = 0; j < b->width; j++)
            if (!isfinite(b->values[k * b->width + j]))
                return vxs_fail(err, VXS_BAD_DATA,
                                "'%s': feature '%s' is not a finite number in instance '%s' of "
                                "subject '%s'",
                                c->path, vxs_bags_feature(b, j, name),
                                vxs_cohort_feature(c, k, instance), vxs_cohort_id(c, i));
    return VXS_OK;
}

/* ---- Who is in which bag --------------------------------------------------------------------- */

typedef struct {
    vxs_cohort *cohort;
    const char *header;
    size_t column, bags;
    size_t *bag;   /* of each row */
    size_t *order; /* rows, bag after bag */
    size_t *first; /* bags + 1: places in this order */
} gatherer;

typedef struct {
    const char *text;
    size_t row;
} labeled;

static int by_label(const void *a, const void *b)
{
    const labeled *x = a, *y = b;
    int order = strcmp(x->text, y->text);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

/* Bags in the order of their first rows. */
static void number_bags(gatherer *g, labeled *list, size_t *leader)
{
    size_t n = g->cohort->n;
    qsort(list, n, sizeof(*list), by_label);
    for (size_t k = 0; k < n; k++)
        leader[list[k].row] = k > 0 && strcmp(list[k].text, list[k - 1].text) == 0
                                  ? leader[list[k - 1].row]
                                  : list[k].row;
    for (size_t i = 0; i < n; i++)
        g->bag[i] = leader[i] == i ? g->bags++ : g->bag[leader[i]];
    for (size_t i = 0; i < n; i++)
        g->first[g->bag[i] + 1]++;
    for (size_t b = 0; b < g->bags; b++)
        g->first[b + 1] += g->first[b];
    for (size_t i = 0; i < n; i++)
        leader[g->bag[i]] = g->first[g->bag[i]]; /* the next place */
    for (size_t i = 0; i < n; i++)
        g->order[leader[g->bag[i]]++] = i;
}

static vxs_status find_bags(gatherer *g, vxs_error *err)
{
    const vxs_cohort *c = g->cohort;
    vxs_status status = vxs_table_find(c->people, g->header, &g->column, err);
    labeled *list = status ? NULL : vxs_alloc(c->n, sizeof(*list), err);
    size_t *leader = list ? vxs_alloc(c->n, sizeof(*leader), err) : NULL;
    g->bag = leader ? vxs_alloc(c->n, sizeof(*g->bag), err) : NULL;
    g->order = g->bag ? vxs_alloc(c->n, sizeof(*g->order), err) : NULL;
    g->first = g->order ? vxs_alloc(c->n + 1, sizeof(*g->first), err) : NULL;
    if (!status && !g->first)
        status = VXS_FAILED;
    for (size_t i = 0; i < c->n && !status; i++) {
        list[i] = (labeled){ vxs_table_cell(c->people, i, g->column), i };
        if (!list[i].text)
            status = vxs_fail(err, VXS_BAD_DATA,
                              "'%s' has no value in column '%s', which is to "
                              "name its bag",
                              vxs_cohort_id(c, i), g->header);
    }
    if (!status)
        number_bags(g, list, leader);
    free(list);
    free(leader);
    return status;
}

/* ---- The table of bags ----------------------------------------------------------------------- */

static bool same_cells(const char *a, const char *b)
{
    double x, y;
    if (!a || !b)
        return a == b;
    return strcmp(a, b) == 0 || (vxs_parse_real(a, &x) && vxs_parse_real(b, &y) && x == y);
}

/* The first row of a bag whose cell differs from that of the bag's first row; SIZE_MAX: none. */
static size_t find_other(const gatherer *g, size_t bag, size_t column)
{
    const vxs_table *t = g->cohort->people;
    const char *cell = vxs_table_cell(t, g->order[g->first[bag]], column);
    for (size_t k = g->first[bag] + 1; k < g->first[bag + 1]; k++)
        if (!same_cells(cell, vxs_table_cell(t, g->order[k], column)))
            return g->order[k];
    return SIZE_MAX;
}

static const char *shown(const char *cell)
{
    return cell ? cell : "n/a";
}

static vxs_status refuse_mixed(const gatherer *g, vxs_table *bags, size_t column, vxs_error *err)
{
    const vxs_cohort *c = g->cohort;
    for (size_t b = 0; b < g->bags; b++) {
        size_t row = g->order[g->first[b]], other = find_other(g, b, column);
        if (other == SIZE_MAX)
            continue;
        char *why = vxs_format(
            err,
            "column '%s' is '%s' in row '%s' and '%s' in row '%s', which are one subject by "
            "--bags %s: it must agree within a bag",
            vxs_table_header(c->people, column), shown(vxs_table_cell(c->people, row, column)),
            vxs_cohort_id(c, row), shown(vxs_table_cell(c->people, other, column)),
            vxs_cohort_id(c, other), g->header);
        return vxs_table_refuse(bags, column, why, err);
    }
    return VXS_OK;
}

static void write_bags(const gatherer *g, FILE *stream)
{
    const vxs_cohort *c = g->cohort;
    size_t columns = vxs_table_columns(c->people);
    vxs_tsv_writer w;
    vxs_tsv_init(&w, stream);
    for (size_t j = 0; j < columns; j++)
        vxs_tsv_text(&w, vxs_table_header(c->people, j));
    vxs_tsv_end_row(&w);
    for (size_t b = 0; b < g->bags; b++) {
        size_t row = g->order[g->first[b]];
        for (size_t j = 0; j < columns; j++)
            vxs_tsv_text(&w, vxs_table_cell(c->people, row, j));
        vxs_tsv_end_row(&w);
    }
}

/* Instances are named by their rows. */
static void write_instances(const gatherer *g, FILE *stream)
{
    const vxs_cohort *c = g->cohort;
    vxs_tsv_writer w;
    vxs_tsv_init(&w, stream);
    vxs_tsv_text(&w, "feature");
    vxs_tsv_end_row(&w);
    for (size_t k = 0; k < c->n; k++) {
        vxs_tsv_text(&w, vxs_cohort_id(c, g->order[k]));
        vxs_tsv_end_row(&w);
    }
}

static vxs_status make_table(const gatherer *g, void (*write)(const gatherer *, FILE *),
                             const char *name, vxs_table **table, vxs_error *err)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (!stream)
        return vxs_fail(err, VXS_FAILED, "out of memory for a table of bags");
    write(g, stream);
    vxs_status status = fclose(stream) == 0
                            ? vxs_table_parse(text, length, name, table, err)
                            : vxs_fail(err, VXS_FAILED, "out of memory for a table of bags");
    free(text);
    return status;
}

static vxs_status make_bag_table(const gatherer *g, vxs_table **bags, vxs_error *err)
{
    const vxs_table *rows = g->cohort->people;
    size_t *lines = vxs_alloc(g->bags, sizeof(*lines), err);
    vxs_status status =
        lines ? make_table(g, write_bags, vxs_table_name(rows), bags, err) : VXS_FAILED;
    for (size_t b = 0; b < g->bags && lines; b++)
        lines[b] = vxs_table_line(rows, g->order[g->first[b]]);
    if (!status)
        status = vxs_table_rename(*bags, vxs_table_name(rows), lines, err);
    for (size_t j = 0; j < vxs_table_columns(rows) && !status; j++)
        status = refuse_mixed(g, *bags, j, err);
    free(lines);
    return status;
}

/* ---- Persons --------------------------------------------------------------------------------- */

static size_t root_of(size_t *parent, size_t k)
{
    while (parent[k] != k) {
        parent[k] = parent[parent[k]];
        k = parent[k];
    }
    return k;
}

/* Persons of the bags, in the order of these: those whose rows share a person, by way of others as
 * well. */
static vxs_status join_persons(const gatherer *g, size_t **person, size_t *persons, vxs_error *err)
{
    const vxs_cohort *c = g->cohort;
    size_t *parent = vxs_alloc(c->persons + g->bags, sizeof(*parent), err);
    size_t *number = vxs_alloc(c->persons + g->bags, sizeof(*number), err);
    *person = vxs_alloc(g->bags, sizeof(**person), err);
    bool fine = parent && number && *person;
    for (size_t k = 0; k < c->persons + g->bags && fine; k++)
        parent[k] = k;
    for (size_t i = 0; i < c->n && fine; i++)
        parent[root_of(parent, c->person[i])] = root_of(parent, c->persons + g->bag[i]);
    *persons = 0;
    for (size_t b = 0; b < g->bags && fine; b++) {
        size_t root = root_of(parent, c->persons + b);
        if (number[root] == 0)
            number[root] = ++*persons;
        (*person)[b] = number[root] - 1;
    }
    free(parent);
    free(number);
    return fine ? VXS_OK : VXS_FAILED;
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* Features, each of all rows, become rows with all features, in the order of bags. */
static void take_values(const gatherer *g, vxs_bags *b)
{
    const vxs_cohort *c = g->cohort;
    for (size_t k = 0; k < c->n && c->features; k++)
        for (size_t j = 0; j < c->p; j++)
            b->values[k * c->p + j] = c->features[j * c->n + g->order[k]];
}

static vxs_status take_nonzeros(const gatherer *g, vxs_bags *b, vxs_error *err)
{
    const vxs_cohort *c = g->cohort;
    size_t *place = vxs_alloc(c->n, sizeof(*place), err);
    for (size_t k = 0; k < c->n && place; k++)
        place[g->order[k]] = k;
    for (size_t j = 0; j < c->p && place; j++)
        for (size_t e = c->starts[j]; e < c->starts[j + 1]; e++)
            b->values[place[c->rows[e]] * c->p + j] = c->values[e];
    free(place);
    return place ? VXS_OK : VXS_FAILED;
}

static vxs_status make_bags(const gatherer *g, vxs_bags **bags, vxs_error *err)
{
    const vxs_cohort *c = g->cohort;
    vxs_bags *b = *bags = vxs_alloc(1, sizeof(*b), err);
    if (!b)
        return VXS_FAILED;
    *b = (vxs_bags){ .count = c->n,
                     .width = c->p,
                     .near = INFINITY,
                     .kind = c->kind,
                     .dense = c->features != NULL };
    b->first = vxs_alloc(g->bags + 1, sizeof(*b->first), err);
    b->values = vxs_alloc(c->n, vxs_times(c->p, sizeof(*b->values)), err);
    b->of_row = vxs_alloc(c->n, sizeof(*b->of_row), err);
    if (!b->first || !b->values || !b->of_row)
        return VXS_FAILED;
    memcpy(b->of_row, g->bag, c->n * sizeof(*b->of_row));
    memcpy(b->first, g->first, (g->bags + 1) * sizeof(*b->first));
    if (!c->features)
        return take_nonzeros(g, b, err);
    take_values(g, b);
    return VXS_OK;
}

/* ---- The whole ------------------------------------------------------------------------------- */

void vxs_cohort_take_bags(vxs_cohort *c, vxs_bags *bags, vxs_table *names)
{
    bags->names = c->names;
    bags->name_column = c->name_column;
    c->names = names;
    c->name_column = 0;
    c->p = bags->count;
    c->kind = VXS_FEATURES_INSTANCES;
    c->features = c->values = NULL;
    c->rows = NULL;
    c->starts = NULL;
    c->bags = bags;
}

/* Rows are bags from now on. */
static void turn(const gatherer *g, vxs_table *people, size_t *person, size_t persons)
{
    vxs_cohort *c = g->cohort;
    vxs_table_free(c->people);
    free(c->person);
    c->people = people;
    c->id_column = g->column;
    c->person = person;
    c->persons = persons;
    c->n = g->bags;
}

vxs_status vxs_cohort_gather(vxs_cohort *c, const char *column, vxs_error *err)
{
    gatherer g = { .cohort = c, .header = column };
    vxs_bags *bags = NULL;
    vxs_table *people = NULL, *names = NULL;
    size_t *person = NULL, persons = 0;
    vxs_status status = vxs_cohort_check_open(c, err);
    if (!status && c->bags)
        status = vxs_fail(err, VXS_MISUSE, "the cohort's rows are bags already");
    if (!status)
        status = find_bags(&g, err);
    if (!status)
        status = make_bag_table(&g, &people, err);
    if (!status)
        status = make_table(&g, write_instances, vxs_table_name(c->people), &names, err);
    if (!status)
        status = join_persons(&g, &person, &persons, err);
    if (!status)
        status = make_bags(&g, &bags, err);
    if (!status) {
        turn(&g, people, person, persons);
        vxs_cohort_take_bags(c, bags, names);
    } else {
        vxs_bags_free(bags);
        vxs_table_free(people);
        vxs_table_free(names);
        free(person);
    }
    free(g.bag);
    free(g.order);
    free(g.first);
    return status;
}
