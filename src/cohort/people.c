/* people.c - subjects and persons. A subject is a row of the cohort, such as a scan; a person may
 * have several subjects. Persons are in a column of the table, or in BIDS ids, and are numbered
 * once: folds, half-samples, bootstrap samples and permutations use these numbers. */
#include "cohort/build.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- Persons as numbers ---------------------------------------------------------------------- */

typedef struct {
    vxs_name name;
    size_t subject;
} entry;

static int by_person(const void *a, const void *b)
{
    const entry *left = a, *right = b;
    int order = vxs_compare_names(left->name, right->name);
    return order ? order : (left->subject > right->subject) - (left->subject < right->subject);
}

static int by_text(const void *a, const void *b)
{
    vxs_name left = ((const entry *)a)->name, right = ((const entry *)b)->name;
    int order =
        strncmp(left.text, right.text, left.length < right.length ? left.length : right.length);
    return order ? order : (left.length > right.length) - (left.length < right.length);
}

/* Numbers follow the order of texts, with the smallest spelling of each person. */
vxs_status vxs_number_names(const vxs_name *names, size_t n, size_t *number, size_t *count,
                            vxs_error *err)
{
    entry *list = vxs_alloc(n, sizeof(*list), err), *first = vxs_alloc(n, sizeof(*first), err);
    size_t *rank = vxs_alloc(n, sizeof(*rank), err), present = 0;
    vxs_status status = list && first && rank ? VXS_OK : VXS_FAILED;
    *count = 0;
    for (size_t i = 0; i < n && !status; i++) {
        number[i] = VXS_NO_PERSON;
        if (names[i].text)
            list[present++] = (entry){ names[i], i };
    }
    if (!status && present > 0)
        qsort(list, present, sizeof(*list), by_person);
    for (size_t k = 0; k < present; k++) {
        if (k == 0 || vxs_compare_names(list[k - 1].name, list[k].name) != 0) {
            first[*count] = (entry){ list[k].name, *count };
            ++*count;
        } else if (by_text(&list[k], &first[*count - 1]) < 0) {
            first[*count - 1].name = list[k].name;
        }
        number[list[k].subject] = *count - 1;
    }
    if (*count > 0)
        qsort(first, *count, sizeof(*first), by_text);
    for (size_t r = 0; r < *count; r++)
        rank[first[r].subject] = r;
    for (size_t k = 0; k < present; k++)
        number[list[k].subject] = rank[number[list[k].subject]];
    free(list);
    free(first);
    free(rank);
    return status;
}

/* ---- Columns of persons ---------------------------------------------------------------------- */

static vxs_name whole(const char *text)
{
    return (vxs_name){ text, text ? strlen(text) : 0 };
}

/* The person in a cell, or NULL. */
static vxs_name person_in(const char *cell)
{
    return cell ? vxs_person_in(cell) : whole(NULL);
}

bool vxs_build_is_person(const vxs_build *build, const char *header)
{
    const char *given = build->settings->person;
    return vxs_rank_header(header) != VXS_NO_PERSON_HEADER || (given && strcmp(header, given) == 0);
}

/* ---- Candidates ------------------------------------------------------------------------------ */

/* A column, or the ids, with the persons it defines. */
typedef struct {
    const char *header; /* NULL: the ids */
    const vxs_table *table;
    size_t column;
    vxs_person_rank rank;
    size_t *number; /* per subject: its person */
    size_t persons, missing;
    bool repeats; /* some person has several subjects */
} candidate;

typedef struct {
    vxs_build *build;
    /* the build's table, with subjects' rows, and the table of features, with a row per subject;
     * either may be NULL */
    const vxs_table *tables[2];
    candidate *each;
    size_t count;
} finder;

/* The cell of subject i; NULL for an empty cell or a left-out subject. */
static const char *cell_of(const finder *f, const candidate *c, size_t i)
{
    const vxs_subject *s = &f->build->subjects[i];
    size_t row = c->table == f->build->table ? s->row : i;
    return s->reason || row == NO_ROW ? NULL : vxs_table_cell(c->table, row, c->column);
}

static vxs_status number_subjects(const finder *f, candidate *c, vxs_error *err)
{
    size_t n = f->build->count, present = 0;
    vxs_name *names = vxs_alloc(n, sizeof(*names), err);
    c->number = vxs_alloc(n, sizeof(*c->number), err);
    vxs_status status = names && c->number ? VXS_OK : VXS_FAILED;
    for (size_t i = 0; i < n && !status; i++) {
        const vxs_subject *s = &f->build->subjects[i];
        if (c->header)
            names[i] = person_in(cell_of(f, c, i));
        else if (!s->reason)
            names[i] = vxs_person_in(s->id);
        present += names[i].text != NULL;
        c->missing += !s->reason && !names[i].text;
    }
    if (!status)
        status = vxs_number_names(names, n, c->number, &c->persons, err);
    c->repeats = c->persons < present;
    free(names);
    return status;
}

static int by_rank(const void *a, const void *b)
{
    const candidate *left = a, *right = b;
    if (left->rank != right->rank)
        return left->rank < right->rank ? -1 : 1;
    return (left->column > right->column) - (left->column < right->column);
}

static size_t columns_of(const vxs_table *table)
{
    return table ? vxs_table_columns(table) : 0;
}

/* Lists the columns with known headers, the likeliest first, then the ids. */
static vxs_status list_candidates(finder *f, vxs_error *err)
{
    f->each =
        vxs_alloc(columns_of(f->tables[0]) + columns_of(f->tables[1]) + 1, sizeof(*f->each), err);
    if (!f->each)
        return VXS_FAILED;
    for (int t = 0; t < 2; t++)
        for (size_t j = 0; j < columns_of(f->tables[t]); j++) {
            const char *header = vxs_table_header(f->tables[t], j);
            candidate c = { .header = header, .table = f->tables[t], .column = j };
            c.rank = vxs_rank_header(header);
            if (c.rank != VXS_NO_PERSON_HEADER && strcmp(header, f->build->id_header) != 0)
                f->each[f->count++] = c;
        }
    if (f->count > 1)
        qsort(f->each, f->count, sizeof(*f->each), by_rank);
    f->each[f->count++] = (candidate){ .rank = VXS_NO_PERSON_HEADER };
    vxs_status status = VXS_OK;
    for (size_t k = 0; k < f->count && !status; k++)
        status = number_subjects(f, &f->each[k], err);
    return status;
}

/* Refuses implausible columns: "subject" may have the values control and patient, that is few
 * persons with very many subjects each. */
static vxs_status check_plausible(const finder *f, const candidate *c, vxs_error *err)
{
    size_t present = vxs_build_kept(f->build) - c->missing;
    if (!c->header || c->persons >= VXS_FEW_PERSONS || present <= VXS_MANY_OF_ONE * c->persons)
        return VXS_OK;
    return vxs_fail(err, VXS_MISUSE,
                    "column '%s' has %zu values for %zu subjects; pass --person %s if these are "
                    "persons, or --person %s if each subject is one",
                    c->header, c->persons, present, c->header, f->build->id_header);
}

static vxs_status refuse(const finder *f, const candidate *one, const candidate *two, size_t i,
                         size_t k, vxs_error *err)
{
    const char *first = one->header ? one->header : f->build->id_header;
    const char *second = two->header ? two->header : f->build->id_header;
    return vxs_fail(err, VXS_MISUSE,
                    "columns '%s' and '%s' identify different persons: '%s' and '%s' are one "
                    "person by '%s' and two by '%s'; pass --person COLUMN",
                    first, second, f->build->subjects[i].id, f->build->subjects[k].id, first,
                    second);
}

/* Fails if two subjects are one person by column `one` and two persons by column `two`. */
static vxs_status check_one_is_one(const finder *f, const candidate *one, const candidate *two,
                                   vxs_error *err)
{
    size_t *first = vxs_alloc(one->persons, sizeof(*first), err);
    vxs_status status = first ? VXS_OK : VXS_FAILED;
    for (size_t p = 0; p < one->persons && first; p++)
        first[p] = VXS_NO_PERSON;
    for (size_t i = 0; i < f->build->count && !status; i++) {
        if (one->number[i] == VXS_NO_PERSON || two->number[i] == VXS_NO_PERSON)
            continue;
        size_t *seen = &first[one->number[i]];
        if (*seen == VXS_NO_PERSON)
            *seen = i;
        else if (two->number[i] != two->number[*seen])
            status = refuse(f, one, two, *seen, i, err);
    }
    free(first);
    return status;
}

static bool same_header(const candidate *a, const candidate *b)
{
    return a->header && b->header && strcmp(a->header, b->header) == 0;
}

/* Compares the chosen column with every other one that has several subjects per person, or the same
 * header. */
static vxs_status check_agreement(const finder *f, const candidate *chosen, vxs_error *err)
{
    vxs_status status = check_plausible(f, chosen, err);
    for (size_t k = 0; k < f->count && !status; k++) {
        const candidate *c = &f->each[k];
        if (c == chosen || (!c->repeats && !same_header(c, chosen)))
            continue;
        if (c->rank == VXS_LIKELY_PERSON_HEADER && chosen->rank != c->rank)
            continue;
        status = check_one_is_one(f, chosen, c, err);
        if (!status)
            status = check_one_is_one(f, c, chosen, err);
    }
    return status;
}

/* True if the column defines persons. A known header needs repeated values; a merely likely one
 * needs a value for each subject and more than a few different values (not patient and control). */
static bool is_of_persons(const finder *f, const candidate *c)
{
    size_t present = vxs_build_kept(f->build) - c->missing;
    if (!c->repeats || c->rank != VXS_LIKELY_PERSON_HEADER)
        return c->repeats;
    return c->missing == 0 && c->persons >= VXS_FEW_PERSONS &&
           present <= VXS_MANY_OF_ONE * c->persons;
}

/* Chooses the column of persons: one with repeated values, and all such columns must agree;
 * otherwise any complete one. Prediction alone needs no persons. */
static vxs_status choose(const finder *f, const candidate **chosen, vxs_error *err)
{
    *chosen = NULL;
    for (int likely = 0; likely < 2; likely++)
        for (size_t k = 0; k < f->count && !*chosen; k++)
            if ((f->each[k].rank == VXS_LIKELY_PERSON_HEADER) == likely &&
                is_of_persons(f, &f->each[k]))
                *chosen = &f->each[k];
    if (*chosen && !f->build->settings->single)
        return check_agreement(f, *chosen, err);
    for (size_t k = 0; k < f->count && !*chosen; k++)
        if (f->each[k].missing == 0 && f->each[k].rank != VXS_LIKELY_PERSON_HEADER)
            *chosen = &f->each[k];
    return VXS_OK;
}

/* ---- Choice ---------------------------------------------------------------------------------- */

static vxs_status store_persons(const finder *f, const candidate *c, vxs_error *err)
{
    vxs_build *build = f->build;
    size_t column = 0;
    build->person_header = c->header;
    vxs_status status = /* a duplicate header matches no column */
        c->header ? vxs_table_find(c->table, c->header, &column, err) : VXS_OK;
    if (status)
        return status;
    for (size_t i = 0; i < build->count && c->header; i++) {
        vxs_subject *s = &build->subjects[i];
        const char *cell = cell_of(f, c, i);
        if (cell) {
            s->person = vxs_format(err, "%s", cell);
            if (!s->person)
                return VXS_FAILED;
        } else if (!s->reason && !build->settings->single) {
            vxs_build_leave_out(build, s, "it has no person: no value in column '%s'", c->header);
        }
    }
    return VXS_OK;
}

static vxs_status use_given(finder *f, const char *given, vxs_error *err)
{
    candidate c = { .header = given, .table = f->tables[0] };
    bool each = strcmp(given, f->build->id_header) == 0;
    f->build->person_header = each ? f->build->id_header : NULL;
    if (each)
        return VXS_OK;
    if (!c.table || (f->tables[1] && !vxs_table_find(f->tables[1], given, &c.column, NULL)))
        c.table = f->tables[1];
    if (!c.table)
        return vxs_fail(err, VXS_MISUSE, "--person requires a table with the column '%s'", given);
    vxs_status status = vxs_table_find(c.table, given, &c.column, err);
    return status ? status : store_persons(f, &c, err);
}

/* The header of the table's id column, or a new one for ids that are in no table. */
static const char *name_ids(vxs_build *build)
{
    const vxs_table *table = build->table;
    if (table && build->id_column < vxs_table_columns(table))
        return vxs_table_header(table, build->id_column);
    if (!table)
        return vxs_build_id_name(build);
    size_t at = 0;
    snprintf(build->invented, sizeof(build->invented), "volume_id");
    for (int k = 2; !vxs_table_find(table, build->invented, &at, NULL); k++)
        snprintf(build->invented, sizeof(build->invented), "volume_id_%d", k);
    return build->invented;
}

vxs_status vxs_build_find_people(vxs_build *build, const vxs_table *features, vxs_error *err)
{
    finder f = { .build = build, .tables = { build->table, features } };
    const candidate *chosen = NULL;
    build->id_header = name_ids(build);
    vxs_status status = VXS_OK;
    if (build->settings->person) {
        status = use_given(&f, build->settings->person, err);
        return status ? status : vxs_build_suspect(build, features, err);
    }
    status = list_candidates(&f, err);
    if (!status)
        status = choose(&f, &chosen, err);
    if (!status)
        status = store_persons(&f, chosen, err);
    if (!status)
        status = vxs_build_suspect(build, features, err);
    for (size_t k = 0; k < f.count; k++)
        free(f.each[k].number);
    free(f.each);
    return status;
}

vxs_status vxs_build_number_people(const vxs_build *build, size_t *number, size_t *count,
                                   vxs_error *err)
{
    bool each = build->person_header && strcmp(build->person_header, build->id_header) == 0;
    vxs_name *names = vxs_alloc(build->count, sizeof(*names), err);
    for (size_t i = 0; i < build->count && names; i++) {
        const vxs_subject *s = &build->subjects[i];
        if (!s->reason)
            names[i] = s->person ? vxs_person_in(s->person)
                       : each    ? whole(s->id)
                                 : vxs_person_in(s->id);
    }
    vxs_status status =
        names ? vxs_number_names(names, build->count, number, count, err) : VXS_FAILED;
    free(names);
    return status;
}

vxs_status vxs_build_count_people(vxs_build *build, vxs_error *err)
{
    size_t *number = vxs_alloc(build->count, sizeof(*number), err);
    vxs_status status =
        number ? vxs_build_number_people(build, number, &build->people, err) : VXS_FAILED;
    if (!status)
        status = vxs_suspicions_count(build, number, build->people, &build->people_perhaps, err);
    free(number);
    return status;
}

/* ---- Persons of an open cohort --------------------------------------------------------------- */

static vxs_status find_columns(vxs_cohort *c, vxs_error *err)
{
    const char *id = vxs_json_get_text(c->about, "id_column");
    const char *person = vxs_json_get_text(c->about, "person_column");
    c->person_column = VXS_NO_COLUMN;
    vxs_status status = vxs_table_find(c->people, id ? id : "participant_id", &c->id_column, err);
    return status || !person ? status : vxs_table_find(c->people, person, &c->person_column, err);
}

/* Makes each subject without an id a person of its own. */
static void number_nameless(vxs_cohort *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->person[i] == VXS_NO_PERSON)
            c->person[i] = c->persons++;
}

vxs_status vxs_cohort_find_people(vxs_cohort *c, const char *path, vxs_error *err)
{
    vxs_status status = find_columns(c, err);
    if (status)
        return status;
    bool in_ids = c->person_column == VXS_NO_COLUMN;
    bool each = c->person_column == c->id_column; /* each subject is a person */
    size_t column = in_ids ? c->id_column : c->person_column;
    vxs_name *names = vxs_alloc(c->n, sizeof(*names), err);
    c->person = vxs_alloc(c->n, sizeof(*c->person), err);
    status = names && c->person ? VXS_OK : VXS_FAILED;
    for (size_t i = 0; i < c->n && !status; i++) {
        const char *cell = vxs_table_cell(c->people, i, column);
        if (!cell && !in_ids)
            status = vxs_fail(err, VXS_BAD_DATA, "'%s' line %zu has no value in column '%s'", path,
                              vxs_table_line(c->people, i), vxs_table_header(c->people, column));
        else if (cell)
            names[i] = each ? whole(cell) : vxs_person_in(cell);
    }
    if (!status)
        status = vxs_number_names(names, c->n, c->person, &c->persons, err);
    if (!status)
        number_nameless(c);
    free(names);
    return status;
}

const char *vxs_cohort_id(const vxs_cohort *c, size_t i)
{
    const char *id = c ? vxs_table_cell(c->people, i, c->id_column) : NULL;
    return id ? id : "?";
}

const char *vxs_cohort_id_header(const vxs_cohort *c)
{
    return vxs_table_header(c->people, c->id_column);
}

const char *vxs_cohort_person_header(const vxs_cohort *c)
{
    return vxs_table_header(c->people,
                            c->person_column == VXS_NO_COLUMN ? c->id_column : c->person_column);
}
