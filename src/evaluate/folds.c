/* folds.c - assignment of subjects to folds: stratified, or given by a column or file. */
#include "evaluate/evaluate.h"

#include <stdlib.h>
#include <string.h>

#define STRATA 10 /* quantiles of a score */

void vxs_folds_release(vxs_folds *f)
{
    free(f->fold);
    free(f->group);
    free(f->first);
    vxs_free_texts(f->names, f->count);
    *f = (vxs_folds){ .n = 0 };
}

/* ---- Groups ---------------------------------------------------------------------------------- */

vxs_status vxs_folds_group(const vxs_task *t, const char *column, vxs_folds *f, vxs_error *err)
{
    vxs_grouping grouping;
    vxs_status status = vxs_task_groups(t, "group", column, &grouping, err);
    f->group = grouping.group;
    f->groups = grouping.count;
    f->values = grouping.values;
    return status;
}

vxs_status vxs_folds_enough(const vxs_folds *f, const char *column, size_t groups, size_t count,
                            const char *what, const char *where, vxs_error *err)
{
    if (groups >= count)
        return VXS_OK;
    const char *are = groups == 1 ? "is" : "are";
    if (!column)
        return vxs_fail(err, VXS_MISUSE, "%s needs at least %zu people%s; there %s %zu", what,
                        count, where, are, groups);
    if (f->groups < f->values)
        return vxs_fail(err, VXS_MISUSE,
                        "%s needs at least %zu groups of column '%s'%s; there %s %zu, for persons "
                        "with several values join its %zu values",
                        what, count, column, where, are, groups, f->values);
    return vxs_fail(err, VXS_MISUSE, "%s needs at least %zu groups of column '%s'%s; there %s %zu",
                    what, count, column, where, are, groups);
}

const char *vxs_folds_column(const vxs_folds *f, const vxs_cv_settings *s)
{
    return f->by_people ? NULL : f->by_folds ? s->folds_from : s->group;
}

/* ---- Dealing --------------------------------------------------------------------------------- */

typedef struct {
    size_t *stratum; /* of a subject: its class, or the quantile of its score */
    size_t strata;
    size_t *size;   /* groups x strata: who is in a group */
    size_t *whole;  /* of a group */
    size_t *kind;   /* of a group: the stratum that most of it are of */
    size_t *order;  /* of the groups: the largest first, kind by kind, then by chance */
    size_t *filled; /* folds x (strata + 1); the whole behind the strata */
    size_t *chance; /* place of a group */
    size_t *fold;   /* of a group */
} dealer;

typedef struct {
    double score;
    size_t subject;
} ranked;

static int by_score(const void *a, const void *b)
{
    const ranked *left = a, *right = b;
    if (left->score != right->score)
        return left->score < right->score ? -1 : 1;
    return (left->subject > right->subject) - (left->subject < right->subject);
}

static vxs_status find_strata(const vxs_task *t, size_t count, dealer *d, vxs_error *err)
{
    ranked *list = vxs_alloc(t->n, sizeof(*list), err);
    d->stratum = vxs_alloc(t->n, sizeof(*d->stratum), err);
    d->strata = t->class_count;
    if (list && d->stratum && t->class_count == 0) {
        d->strata = t->n / count < STRATA ? t->n / count : STRATA;
        d->strata = d->strata > 0 ? d->strata : 1;
        for (size_t i = 0; i < t->n; i++)
            list[i] = (ranked){ t->score[i], i };
        qsort(list, t->n, sizeof(*list), by_score);
        for (size_t k = 0; k < t->n; k++)
            d->stratum[list[k].subject] = k * d->strata / t->n;
    }
    for (size_t i = 0; d->stratum && i < t->n && t->class_count > 0; i++)
        d->stratum[i] = vxs_task_stratum(t, i);
    free(list);
    return list && d->stratum ? VXS_OK : VXS_FAILED;
}

static int by_size(const void *a, const void *b, void *data)
{
    const dealer *d = data;
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    if (d->whole[left] != d->whole[right])
        return d->whole[left] > d->whole[right] ? -1 : 1;
    if (d->kind[left] != d->kind[right])
        return d->kind[left] < d->kind[right] ? -1 : 1;
    return (d->chance[left] > d->chance[right]) - (d->chance[left] < d->chance[right]);
}

/* How many of the fold are of the group's strata, counted once for each of the group. */
static size_t alike(const dealer *d, size_t group, size_t fold)
{
    const size_t *filled = d->filled + fold * (d->strata + 1), *size = d->size + group * d->strata;
    size_t sum = 0;
    for (size_t s = 0; s < d->strata; s++)
        sum += filled[s] * size[s];
    return sum;
}

/* To the smallest fold, and of several to that with the fewest of the group's strata. */
static void deal_group(dealer *d, size_t group, size_t count)
{
    size_t best = 0;
    for (size_t f = 1; f < count; f++) {
        size_t here = d->filled[f * (d->strata + 1) + d->strata];
        size_t there = d->filled[best * (d->strata + 1) + d->strata];
        if (here < there || (here == there && alike(d, group, f) < alike(d, group, best)))
            best = f;
    }
    d->fold[group] = best;
    d->filled[best * (d->strata + 1) + d->strata] += d->whole[group];
    for (size_t s = 0; s < d->strata; s++)
        d->filled[best * (d->strata + 1) + s] += d->size[group * d->strata + s];
}

static vxs_status make_dealer(const vxs_task *t, size_t groups, size_t count, dealer *d,
                              vxs_error *err)
{
    vxs_status status = find_strata(t, count, d, err);
    if (status)
        return status;
    d->size = vxs_alloc(groups, d->strata * sizeof(*d->size), err);
    d->whole = vxs_alloc(groups, sizeof(*d->whole), err);
    d->kind = vxs_alloc(groups, sizeof(*d->kind), err);
    d->order = vxs_alloc(groups, sizeof(*d->order), err);
    d->chance = vxs_alloc(groups, sizeof(*d->chance), err);
    d->fold = vxs_alloc(groups, sizeof(*d->fold), err);
    d->filled = vxs_alloc(count, (d->strata + 1) * sizeof(*d->filled), err);
    bool fine = d->size && d->whole && d->kind && d->order && d->chance && d->fold && d->filled;
    return fine ? VXS_OK : VXS_FAILED;
}

vxs_status vxs_folds_deal(const vxs_task *t, const size_t *group, size_t groups, size_t count,
                          const vxs_random *random, size_t *fold, vxs_error *err)
{
    dealer d = { .stratum = NULL };
    vxs_status status = make_dealer(t, groups, count, &d, err);
    if (!status) {
        for (size_t i = 0; i < t->n; i++) {
            d.size[group[i] * d.strata + d.stratum[i]]++;
            d.whole[group[i]]++;
        }
        for (size_t k = 0; k < groups * d.strata; k++) {
            size_t g = k / d.strata;
            d.kind[g] = d.size[k] > d.size[g * d.strata + d.kind[g]] ? k % d.strata : d.kind[g];
        }
        vxs_random_permutation(random, d.chance, groups);
        for (size_t g = 0; g < groups; g++)
            d.order[g] = g;
        qsort_r(d.order, groups, sizeof(*d.order), by_size, &d);
        for (size_t g = 0; g < groups; g++)
            deal_group(&d, d.order[g], count);
        for (size_t i = 0; i < t->n; i++)
            fold[i] = d.fold[group[i]];
    }
    free(d.stratum);
    free(d.size);
    free(d.whole);
    free(d.kind);
    free(d.order);
    free(d.chance);
    free(d.fold);
    free(d.filled);
    return status;
}

static vxs_status deal_all(const vxs_task *t, const vxs_cv_settings *s, vxs_folds *f,
                           vxs_error *err)
{
    char what[VXS_OPTION_TEXT];
    f->repeats = (size_t)s->repeats;
    f->count = (size_t)s->folds;
    snprintf(what, sizeof(what), "'--folds %zu'", f->count);
    vxs_status status = vxs_folds_enough(f, s->group, f->groups, f->count, what, "", err);
    if (status)
        return status;
    f->fold = vxs_alloc(f->repeats, t->n * sizeof(*f->fold), err);
    for (size_t r = 0; r < f->repeats && f->fold && !status; r++) {
        vxs_random random = { (uint64_t)s->seed, VXS_STREAM_FOLDS + r };
        status = vxs_folds_deal(t, f->group, f->groups, f->count, &random, f->fold + r * t->n, err);
    }
    return f->fold ? status : VXS_FAILED;
}

/* ---- One group at a time --------------------------------------------------------------------- */

/* The first subject of each value of --group. */
static vxs_status find_values(const vxs_task *t, const char *column, vxs_folds *f, vxs_error *err)
{
    const char **texts = vxs_alloc(t->n, sizeof(*texts), err);
    size_t *number = vxs_alloc(t->n, sizeof(*number), err);
    f->first = vxs_alloc(t->n, sizeof(*f->first), err);
    vxs_status status =
        texts && number && f->first ? vxs_task_cells(t, column, texts, err) : VXS_FAILED;
    if (!status)
        status = vxs_number_texts(texts, t->n, number, &f->first_count, err);
    for (size_t i = t->n; i-- > 0 && !status;)
        f->first[number[i]] = i;
    free((void *)texts);
    free(number);
    return status;
}

/* Groups that persons joined have the names of all of them: "A+B". */
static vxs_status name_groups(const vxs_task *t, const char *column, vxs_folds *f, vxs_error *err)
{
    size_t at = 0;
    vxs_status status = vxs_table_find(t->cohort->people, column, &at, err);
    f->names = status ? NULL : vxs_alloc(f->count, sizeof(*f->names), err);
    for (size_t v = 0; v < f->first_count && f->names; v++) {
        size_t i = f->first[v];
        char **name = &f->names[f->fold[i]], *longer;
        const char *value = vxs_table_cell(t->cohort->people, t->rows[i], at);
        longer = *name ? vxs_format(err, "%s+%s", *name, value) : vxs_format(err, "%s", value);
        free(*name);
        *name = longer;
        if (!longer)
            return VXS_FAILED;
    }
    return f->names ? VXS_OK : status ? status : VXS_FAILED;
}

/* Of two groups one is left for training, whose inner folds are of persons. */
static vxs_status group_by_people(const vxs_task *t, vxs_folds *f, vxs_error *err)
{
    free(f->group);
    f->by_people = true;
    return vxs_folds_group(t, NULL, f, err);
}

static vxs_status one_group_out(const vxs_task *t, const vxs_cv_settings *s, vxs_folds *f,
                                vxs_error *err)
{
    f->repeats = 1;
    f->count = f->groups;
    f->fold = vxs_alloc(t->n, sizeof(*f->fold), err);
    for (size_t i = 0; i < t->n && f->fold; i++)
        f->fold[i] = f->group[i];
    vxs_status status = f->fold ? name_groups(t, s->group, f, err) : VXS_FAILED;
    return !status && f->count == 2 ? group_by_people(t, f, err) : status;
}

/* ---- From a column or a file ----------------------------------------------------------------- */

/* Folds are the different texts of one repeat; every repeat has the same. */
static vxs_status take_texts(const vxs_task *t, const char *const *texts, vxs_folds *f,
                             vxs_error *err)
{
    size_t all = t->n * f->repeats;
    f->fold = vxs_alloc(all, sizeof(*f->fold), err);
    vxs_status status =
        f->fold ? vxs_number_texts(texts, all, f->fold, &f->count, err) : VXS_FAILED;
    if (!status && f->count < 2)
        status = vxs_fail(err, VXS_BAD_DATA, "all subjects are in fold '%s'; two are the least",
                          texts[0]);
    f->names = status ? NULL : vxs_alloc(f->count, sizeof(*f->names), err);
    for (size_t k = 0; k < all && f->names && !status; k++) {
        char **name = &f->names[f->fold[k]];
        if (!*name)
            *name = vxs_format(err, "%s", texts[k]);
        status = *name ? VXS_OK : VXS_FAILED;
    }
    return f->names ? status : status ? status : VXS_FAILED;
}

static vxs_status from_column(const vxs_task *t, const char *column, vxs_folds *f, vxs_error *err)
{
    const char **texts = vxs_alloc(t->n, sizeof(*texts), err);
    vxs_status status = texts ? vxs_task_cells(t, column, texts, err) : VXS_FAILED;
    f->repeats = 1;
    if (!status)
        status = take_texts(t, texts, f, err);
    free((void *)texts);
    return status;
}

/* Columns of a file of folds. */
typedef struct {
    const char *path;
    const vxs_table *table;
    size_t id, fold, repeat;
    bool has_repeat;
    size_t *sorted; /* subjects of the task by their ids */
} listing;

static int by_id(const void *a, const void *b, void *task)
{
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    int order = strcmp(vxs_task_id(task, left), vxs_task_id(task, right));
    return order ? order : (left > right) - (left < right);
}

static vxs_status sort_subjects(const vxs_task *t, listing *l, vxs_error *err)
{
    l->sorted = vxs_alloc(t->n, sizeof(*l->sorted), err);
    for (size_t i = 0; i < t->n && l->sorted; i++)
        l->sorted[i] = i;
    if (l->sorted)
        qsort_r(l->sorted, t->n, sizeof(*l->sorted), by_id, (void *)t);
    return l->sorted ? VXS_OK : VXS_FAILED;
}

/* The first that has the id, or n. */
static size_t find_subject(const vxs_task *t, const listing *l, const char *id)
{
    size_t low = 0, high = id ? t->n : 0;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(vxs_task_id(t, l->sorted[middle]), id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = id && low < t->n && strcmp(vxs_task_id(t, l->sorted[low]), id) == 0;
    return found ? l->sorted[low] : t->n;
}

/* The repeat that the row is of, from 1 on. */
static vxs_status repeat_of(const listing *l, size_t row, size_t *repeat, vxs_error *err)
{
    double value = 1;
    vxs_status status =
        l->has_repeat ? vxs_table_real(l->table, row, l->repeat, &value, err) : VXS_OK;
    if (!status && !(value >= 1 && value <= 10000 && value == (double)(size_t)value))
        status = vxs_fail(err, VXS_BAD_DATA, "'%s' line %zu: repeats are numbered from 1 on",
                          l->path, vxs_table_line(l->table, row));
    *repeat = status ? 0 : (size_t)value;
    return status;
}

/* Subjects that the task does not use may be listed; those that it does must be, once a repeat. */
static vxs_status take_row(const vxs_task *t, const listing *l, size_t row, const char **texts,
                           vxs_error *err)
{
    size_t repeat = 0;
    const char *fold = vxs_table_cell(l->table, row, l->fold);
    size_t i = find_subject(t, l, vxs_table_cell(l->table, row, l->id));
    vxs_status status = repeat_of(l, row, &repeat, err);
    if (status || i == t->n)
        return status;
    if (!fold)
        return vxs_fail(err, VXS_BAD_DATA, "'%s' line %zu: '%s' has no fold", l->path,
                        vxs_table_line(l->table, row), vxs_task_id(t, i));
    if (texts[(repeat - 1) * t->n + i])
        return vxs_fail(err, VXS_BAD_DATA, "'%s' line %zu: '%s' is in fold '%s' and in fold '%s'",
                        l->path, vxs_table_line(l->table, row), vxs_task_id(t, i),
                        texts[(repeat - 1) * t->n + i], fold);
    texts[(repeat - 1) * t->n + i] = fold;
    return VXS_OK;
}

static vxs_status take_listing(const vxs_task *t, const listing *l, vxs_folds *f, vxs_error *err)
{
    vxs_status status = VXS_OK;
    size_t rows = vxs_table_rows(l->table), repeat = 0;
    for (size_t row = 0; row < rows && !status; row++) {
        status = repeat_of(l, row, &repeat, err);
        f->repeats = repeat > f->repeats ? repeat : f->repeats;
    }
    const char **texts = status ? NULL : vxs_alloc(f->repeats, t->n * sizeof(*texts), err);
    if (!texts)
        return status ? status : VXS_FAILED;
    for (size_t row = 0; row < rows && !status; row++)
        status = take_row(t, l, row, texts, err);
    for (size_t k = 0; k < f->repeats * t->n && !status; k++)
        if (!texts[k])
            status = vxs_fail(err, VXS_BAD_DATA, "'%s' has no fold for '%s' in repeat %zu", l->path,
                              vxs_task_id(t, k % t->n), k / t->n + 1);
    if (!status)
        status = take_texts(t, texts, f, err);
    free((void *)texts);
    return status;
}

static vxs_status from_file(const vxs_task *t, const char *path, vxs_folds *f, vxs_error *err)
{
    vxs_table *table = NULL;
    listing l = { .path = path };
    vxs_status status = vxs_table_read(path, &table, err);
    l.table = table;
    if (!status)
        status = vxs_table_find(table, vxs_cohort_id_header(t->cohort), &l.id, err);
    if (!status)
        status = vxs_table_find(table, "fold", &l.fold, err);
    if (!status)
        status = sort_subjects(t, &l, err);
    if (!status) {
        l.has_repeat = !vxs_table_find(table, "repeat", &l.repeat, NULL);
        status = take_listing(t, &l, f, err);
    }
    free(l.sorted);
    vxs_table_free(table);
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* Given folds are runs, sites and the like: what belongs together outside does so inside, and in
 * the bootstrap. */
static void group_by_folds(vxs_folds *f)
{
    for (size_t i = 0; i < f->n; i++)
        f->group[i] = f->fold[i];
    f->groups = f->count;
    f->by_folds = true;
}

vxs_status vxs_folds_make(const vxs_task *t, const vxs_cv_settings *s, vxs_folds *f, vxs_error *err)
{
    size_t column = 0;
    bool given = s->folds_from && !vxs_table_find(t->cohort->people, s->folds_from, &column, NULL);
    *f = (vxs_folds){ .n = t->n };
    vxs_status status = vxs_folds_group(t, s->group, f, err);
    if (!status && s->group)
        status = find_values(t, s->group, f, err);
    if (status) {
        vxs_folds_release(f);
        return status;
    }
    if (s->folds == VXS_FOLDS_GROUP)
        status = one_group_out(t, s, f, err);
    else if (!s->folds_from)
        status = deal_all(t, s, f, err);
    else if (given)
        status = from_column(t, s->folds_from, f, err);
    else
        status = from_file(t, s->folds_from, f, err);
    if (!status)
        status = vxs_folds_check(t, f, err);
    if (!status && given && !s->group && f->count > 2)
        group_by_folds(f);
    if (status)
        vxs_folds_release(f);
    return status;
}

void vxs_folds_write(const vxs_task *t, const vxs_folds *f, FILE *stream)
{
    vxs_tsv_writer w;
    vxs_tsv_init(&w, stream);
    vxs_tsv_text(&w, vxs_cohort_id_header(t->cohort));
    vxs_tsv_text(&w, "repeat");
    vxs_tsv_text(&w, "fold");
    vxs_tsv_text(&w, "group");
    vxs_tsv_end_row(&w);
    for (size_t r = 0; r < f->repeats; r++)
        for (size_t i = 0; i < f->n; i++) {
            size_t fold = f->fold[r * f->n + i];
            vxs_tsv_text(&w, vxs_task_id(t, i));
            vxs_tsv_real(&w, (double)(r + 1));
            if (f->names)
                vxs_tsv_text(&w, f->names[fold]);
            else
                vxs_tsv_real(&w, (double)(fold + 1));
            vxs_tsv_real(&w, (double)(f->group[i] + 1));
            vxs_tsv_end_row(&w);
        }
}
