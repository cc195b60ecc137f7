/* grouping.c - groups of subjects that folds, halves and permutations never split: subjects of one
 * person, and subjects with one value in a given column. Where the column crosses persons, groups
 * that share a person are merged: the result is the finest partition that splits neither. A column
 * that splits persons is refused. */
#include "core/union.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

/* ---- Numbers --------------------------------------------------------------------------------- */

typedef struct {
    const char *text;
    size_t place;
} entry;

static int by_text(const void *a, const void *b)
{
    const entry *left = a, *right = b;
    int order = strcmp(left->text, right->text);
    return order ? order : (left->place > right->place) - (left->place < right->place);
}

vxs_status vxs_number_texts(const char *const *texts, size_t n, size_t *number, size_t *count,
                            vxs_error *err)
{
    entry *list = vxs_alloc(n, sizeof(*list), err);
    if (!list)
        return VXS_FAILED;
    for (size_t i = 0; i < n; i++)
        list[i] = (entry){ texts[i], i };
    if (n > 0)
        qsort(list, n, sizeof(*list), by_text);
    *count = 0;
    for (size_t k = 0; k < n; k++) {
        *count += k == 0 || strcmp(list[k - 1].text, list[k].text) != 0;
        number[list[k].place] = *count - 1;
    }
    free(list);
    return VXS_OK;
}

vxs_status vxs_task_cells(const vxs_task *t, const char *name, const char **cells, vxs_error *err)
{
    size_t column = 0;
    vxs_status status = vxs_table_find(t->cohort->people, name, &column, err);
    for (size_t i = 0; i < t->n && !status; i++) {
        cells[i] = vxs_table_cell(t->cohort->people, t->rows[i], column);
        if (!cells[i])
            status = vxs_fail(err, VXS_BAD_DATA, "'%s' has no value in column '%s'",
                              vxs_task_id(t, i), name);
    }
    return status;
}

vxs_status vxs_task_values(const vxs_task *t, const char *column, size_t *number, size_t *count,
                           vxs_error *err)
{
    const char **cells = vxs_alloc(t->n, sizeof(*cells), err);
    vxs_status status = cells ? vxs_task_cells(t, column, cells, err) : VXS_FAILED;
    if (!status)
        status = vxs_number_texts(cells, t->n, number, count, err);
    free((void *)cells);
    return status;
}

/* Renumbers numbers below `most` as 0, 1, ... in ascending order. */
static vxs_status close_ranks(size_t *number, size_t n, size_t most, size_t *count, vxs_error *err)
{
    size_t *rank = vxs_alloc(most, sizeof(*rank), err);
    if (!rank)
        return VXS_FAILED;
    for (size_t i = 0; i < n; i++)
        rank[number[i]] = 1;
    *count = 0;
    for (size_t k = 0; k < most; k++)
        rank[k] = rank[k] ? (*count)++ : 0;
    for (size_t i = 0; i < n; i++)
        number[i] = rank[number[i]];
    free(rank);
    return VXS_OK;
}

vxs_status vxs_task_people(const vxs_task *t, size_t *person, size_t *people, vxs_error *err)
{
    for (size_t i = 0; i < t->n; i++)
        person[i] = t->cohort->person[t->rows[i]];
    return close_ranks(person, t->n, t->cohort->persons, people, err);
}

vxs_status vxs_task_count_people(vxs_task *t, vxs_error *err)
{
    size_t *person = vxs_alloc(t->n, sizeof(*person), err);
    vxs_status status = person ? vxs_task_people(t, person, &t->people, err) : VXS_FAILED;
    free(person);
    return status;
}

/* ---- Groups and persons ---------------------------------------------------------------------- */

/* Finds two subjects in one part of a partition that are in different parts of the other; n if
 * there are none. */
static vxs_status find_split(const size_t *part, size_t parts, const size_t *other, size_t n,
                             size_t *with, size_t *split, vxs_error *err)
{
    size_t *first = vxs_alloc(parts, sizeof(*first), err);
    if (!first)
        return VXS_FAILED;
    for (size_t k = 0; k < parts; k++)
        first[k] = n;
    *with = *split = n;
    for (size_t i = 0; i < n && *split == n; i++) {
        size_t *seen = &first[part[i]];
        *seen = *seen == n ? i : *seen;
        if (other[*seen] != other[i]) {
            *with = *seen;
            *split = i;
        }
    }
    free(first);
    return VXS_OK;
}

vxs_status vxs_nesting_in_people(const vxs_task *t, const size_t *group, size_t groups,
                                 const size_t *person, size_t people, vxs_nesting *nesting,
                                 vxs_error *err)
{
    size_t one, other;
    vxs_status status = find_split(group, groups, person, t->n, &one, &other, err);
    *nesting = (vxs_nesting){ .within = !status && other == t->n };
    if (!status && nesting->within)
        status = find_split(person, people, group, t->n, &nesting->one, &nesting->other, err);
    nesting->splits = !status && nesting->within && nesting->other < t->n;
    return status;
}

/* Merges groups that share a person. */
static vxs_status join(const vxs_task *t, size_t *group, size_t groups, const size_t *person,
                       size_t people, vxs_error *err)
{
    size_t *parent = vxs_union_new(groups + people, err);
    if (!parent)
        return VXS_FAILED;
    for (size_t i = 0; i < t->n; i++)
        vxs_union_join(parent, group[i], groups + person[i]);
    for (size_t i = 0; i < t->n; i++)
        group[i] = vxs_union_find(parent, group[i]); /* the root is the least group */
    free(parent);
    return VXS_OK;
}

static vxs_status refuse(const vxs_task *t, const char *option, const char *column,
                         const vxs_nesting *f, vxs_error *err)
{
    return vxs_fail(err, VXS_MISUSE,
                    "'--%s %s' is finer than the person (column '%s'): '%s' and '%s' are of one "
                    "person, but differ in '%s'",
                    option, column, vxs_cohort_person_header(t->cohort), vxs_task_id(t, f->one),
                    vxs_task_id(t, f->other), column);
}

vxs_status vxs_task_groups(const vxs_task *t, const char *option, const char *column,
                           vxs_grouping *g, vxs_error *err)
{
    *g = (vxs_grouping){ .group = vxs_alloc(t->n, sizeof(*g->group), err) };
    if (!g->group || !column)
        return g->group ? vxs_task_people(t, g->group, &g->count, err) : VXS_FAILED;
    vxs_nesting nesting = { .within = false };
    size_t *person = vxs_alloc(t->n, sizeof(*person), err), people = 0;
    vxs_status status = person ? vxs_task_people(t, person, &people, err) : VXS_FAILED;
    if (!status)
        status = vxs_task_values(t, column, g->group, &g->values, err);
    if (!status)
        status = vxs_nesting_in_people(t, g->group, g->values, person, people, &nesting, err);
    if (!status && nesting.splits)
        status = refuse(t, option, column, &nesting, err);
    if (!status)
        status = join(t, g->group, g->values, person, people, err);
    if (!status)
        status = close_ranks(g->group, t->n, g->values, &g->count, err);
    free(person);
    return status;
}
