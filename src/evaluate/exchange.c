/* exchange.c - exchangeability: which targets a permutation may exchange.
 *
 * Under the hypothesis that target and images have nothing to do with each other, a permutation of
 * the target must leave its distribution as it is (Winkler and others 2014, 2015). Subjects of one
 * person are not independent, so the person is exchanged, with the targets of all its subjects in
 * their order: with persons that are alike in distribution this holds whether the target is one
 * value a person or varies within it. Persons are exchanged with persons who have as many subjects
 * (whole-block exchange between blocks of one size), so that the targets of all subjects stay the
 * same ones, and the number of a person's subjects may go with either.
 *
 * Blocks that hold several persons (sites) keep persons inside: units are exchanged that have the
 * same sequence of blocks. Blocks inside a person (or the person itself) allow single subjects to
 * are exchanged within them, which holds where subjects of a person are exchangeable, with no trend
 * from one to the next, and tests what varies within persons alone. Whole blocks are exchanged
 * where they hold persons with as many subjects each. */
#include "evaluate/exchange.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void vxs_exchange_release(vxs_exchange *x)
{
    free(x->start);
    free(x->length);
    free(x->member);
    *x = (vxs_exchange){ .units = 0 };
}

/* ---- Units ----------------------------------------------------------------------------------- */

/* A subject in its unit; units of the same labels, in their order, are of one kind. */
typedef struct {
    size_t unit, label, order, subject;
} place;

typedef struct {
    const vxs_task *task;
    vxs_exchange *x;
    size_t *person, *block, *unit;
    size_t people, blocks;
    size_t *size, *first; /* of a person: its subjects, and the first of them */
    place *places;        /* unit by unit */
    size_t *begin;        /* of a unit; units + 1 */
    size_t *sorted;       /* units, kind by kind */
} maker;

static int by_place(const void *a, const void *b)
{
    const place *left = a, *right = b;
    if (left->unit != right->unit)
        return left->unit < right->unit ? -1 : 1;
    if (left->label != right->label)
        return left->label < right->label ? -1 : 1;
    if (left->order != right->order)
        return left->order < right->order ? -1 : 1;
    return (left->subject > right->subject) - (left->subject < right->subject);
}

/* 0 for units of one kind; the shorter first. */
static int compare_kinds(const maker *m, size_t a, size_t b)
{
    size_t n = m->begin[a + 1] - m->begin[a], other = m->begin[b + 1] - m->begin[b];
    if (n != other)
        return n < other ? -1 : 1;
    for (size_t k = 0; k < n; k++) {
        size_t left = m->places[m->begin[a] + k].label, right = m->places[m->begin[b] + k].label;
        if (left != right)
            return left < right ? -1 : 1;
    }
    return 0;
}

static int by_kind(const void *a, const void *b, void *data)
{
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    int order = compare_kinds(data, left, right);
    return order ? order : (left > right) - (left < right);
}

/* Single subjects inside of blocks, whole blocks, or persons. */
static vxs_status choose_units(maker *m, const char *blocks, bool whole, vxs_error *err)
{
    const vxs_task *t = m->task;
    vxs_grouping grouping;
    vxs_nesting nesting = { .within = false };
    vxs_status status = VXS_OK;
    if (blocks && !whole)
        status = vxs_nesting_in_people(t, m->block, m->blocks, m->person, m->people, &nesting, err);
    bool single = m->people == t->n || nesting.within;
    m->x->unit = whole ? "blocks" : single ? "subjects" : "people";
    m->x->units = single ? t->n : m->people;
    for (size_t i = 0; i < t->n; i++)
        m->unit[i] = single ? i : m->person[i];
    if (status || !whole)
        return status;
    status = vxs_task_groups(t, "blocks", blocks, &grouping, err);
    m->x->units = grouping.count;
    for (size_t i = 0; i < t->n && !status; i++)
        m->unit[i] = grouping.group[i];
    free(grouping.group);
    return status;
}

/* Members of a unit stand by their blocks; of whole blocks by their persons, the largest first. */
static void place_subjects(maker *m, bool whole)
{
    size_t n = m->task->n;
    for (size_t p = 0; p < m->people; p++)
        m->first[p] = n;
    for (size_t i = 0; i < n; i++) {
        m->size[m->person[i]]++;
        if (m->first[m->person[i]] == n)
            m->first[m->person[i]] = i;
    }
    for (size_t i = 0; i < n; i++)
        m->places[i] = (place){ .unit = m->unit[i],
                                .label = whole ? n - m->size[m->person[i]] : m->block[i],
                                .order = whole ? m->first[m->person[i]] : 0,
                                .subject = i };
    qsort(m->places, n, sizeof(*m->places), by_place);
    for (size_t i = 0; i < n; i++)
        m->begin[m->places[i].unit + 1] = i + 1;
}

static void list_kinds(maker *m)
{
    vxs_exchange *x = m->x;
    size_t at = 0;
    for (size_t u = 0; u < x->units; u++)
        m->sorted[u] = u;
    qsort_r(m->sorted, x->units, sizeof(*m->sorted), by_kind, m);
    for (size_t k = 0; k < x->units; k++) {
        size_t u = m->sorted[k];
        if (k == 0 || compare_kinds(m, m->sorted[k - 1], u) != 0) {
            x->start[x->kinds] = at;
            x->length[x->kinds++] = m->begin[u + 1] - m->begin[u];
        }
        for (size_t j = m->begin[u]; j < m->begin[u + 1]; j++)
            x->member[at++] = m->places[j].subject;
    }
    x->start[x->kinds] = at;
}

static vxs_status check_whole(const maker *m, const char *blocks, vxs_error *err)
{
    const vxs_exchange *x = m->x;
    size_t last = x->kinds - 1;
    if (x->length[0] != x->length[last])
        return vxs_fail(err, VXS_BAD_DATA,
                        "blocks of column '%s' have %zu and %zu subjects; whole blocks change "
                        "places only when they have the same size",
                        blocks, x->length[0], x->length[last]);
    if (x->kinds > 1)
        return vxs_fail(err, VXS_BAD_DATA,
                        "persons of column '%s' have different numbers of subjects in blocks of "
                        "column '%s'; whole blocks change places only when these are the same",
                        vxs_cohort_person_header(m->task->cohort), blocks);
    return VXS_OK;
}

static vxs_status make(maker *m, const char *blocks, bool whole, vxs_error *err)
{
    size_t n = m->task->n;
    vxs_exchange *x = m->x;
    m->person = vxs_alloc(n, sizeof(*m->person), err);
    m->block = vxs_alloc(n, sizeof(*m->block), err);
    m->unit = vxs_alloc(n, sizeof(*m->unit), err);
    m->size = vxs_alloc(n, sizeof(*m->size), err);
    m->first = vxs_alloc(n, sizeof(*m->first), err);
    m->places = vxs_alloc(n, sizeof(*m->places), err);
    m->begin = vxs_alloc(n + 1, sizeof(*m->begin), err);
    m->sorted = vxs_alloc(n, sizeof(*m->sorted), err);
    x->start = vxs_alloc(n + 1, sizeof(*x->start), err);
    x->length = vxs_alloc(n, sizeof(*x->length), err);
    x->member = vxs_alloc(n, sizeof(*x->member), err);
    bool fine = m->person && m->block && m->unit && m->size && m->first && m->places && m->begin &&
                m->sorted && x->start && x->length && x->member;
    vxs_status status = fine ? vxs_task_people(m->task, m->person, &m->people, err) : VXS_FAILED;
    if (!status && blocks)
        status = vxs_task_values(m->task, blocks, m->block, &m->blocks, err);
    if (!status)
        status = choose_units(m, blocks, whole, err);
    if (status)
        return status;
    place_subjects(m, whole);
    list_kinds(m);
    return whole ? check_whole(m, blocks, err) : VXS_OK;
}

vxs_status vxs_exchange_make(const vxs_task *task, const char *blocks, bool whole, vxs_exchange *x,
                             vxs_error *err)
{
    maker m = { .task = task, .x = x };
    *x = (vxs_exchange){ .units = 0 };
    vxs_status status = make(&m, blocks, whole, err);
    free(m.person);
    free(m.block);
    free(m.unit);
    free(m.size);
    free(m.first);
    free(m.places);
    free(m.begin);
    free(m.sorted);
    if (status)
        vxs_exchange_release(x);
    return status;
}

/* ---- Scores ---------------------------------------------------------------------------------- */

typedef struct {
    const double *score;
    const size_t *member;
    size_t length;
} kind;

static int by_scores(const void *a, const void *b, void *data)
{
    const kind *k = data;
    size_t left = *(const size_t *)a * k->length, right = *(const size_t *)b * k->length;
    for (size_t j = 0; j < k->length; j++) {
        double one = k->score[k->member[left + j]], other = k->score[k->member[right + j]];
        if (one != other)
            return one < other ? -1 : 1;
    }
    return 0;
}

vxs_status vxs_exchange_ways(const vxs_exchange *x, const double *score, double *log_ways,
                             vxs_error *err)
{
    size_t *unit = vxs_alloc(x->units, sizeof(*unit), err);
    if (!unit)
        return VXS_FAILED;
    *log_ways = 0;
    for (size_t c = 0; c < x->kinds; c++) {
        kind k = { score, x->member + x->start[c], x->length[c] };
        size_t count = (x->start[c + 1] - x->start[c]) / k.length, same = 0;
        for (size_t u = 0; u < count; u++)
            unit[u] = u;
        qsort_r(unit, count, sizeof(*unit), by_scores, &k);
        *log_ways += lgamma((double)count + 1);
        for (size_t u = 0; u < count; u++) { /* an exchange of equal units changes nothing */
            same = u > 0 && by_scores(&unit[u - 1], &unit[u], &k) == 0 ? same + 1 : 1;
            *log_ways -= log((double)same);
        }
    }
    free(unit);
    return VXS_OK;
}

vxs_status vxs_exchange_scores(const vxs_exchange *x, const vxs_random *random, const double *from,
                               double *to, vxs_error *err)
{
    size_t *order = vxs_alloc(x->units, sizeof(*order), err);
    if (!order)
        return VXS_FAILED;
    for (size_t c = 0; c < x->kinds; c++) {
        const size_t *member = x->member + x->start[c];
        size_t length = x->length[c], count = (x->start[c + 1] - x->start[c]) / length;
        vxs_random of_kind = { random->seed, random->stream + (c << 40) };
        vxs_random_permutation(&of_kind, order, count);
        for (size_t k = 0; k < count * length; k++)
            to[member[k]] = from[member[order[k / length] * length + k % length]];
    }
    free(order);
    return VXS_OK;
}
