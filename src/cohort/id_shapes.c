/* id_shapes.c - finds persons by the form of their ids.
 *
 * A way omits a run of parts (id_parts.c) from each id, such as all after the first two; the rest
 * is the stem. If stems repeat, and runs have few values, each of which occurs with several stems,
 * runs are visits and stems are persons: 054_1 and 054_2.
 *
 * For a run after the person's number this suffices. A run before it may be a site or a group, with
 * numbers that restart (A_01, B_01). It is a visit if it is a word for visits, a date or a short
 * number, or if the same numbers are missing under all of its values, which happens for sites by
 * chance alone.
 *
 * Forms are evidence, not proof: families have members, sites have numbers. Callers warn and leave
 * the decision to the user. The cost per way is linear in the number of ids. */
#include "cohort/id_numbers.h"
#include "cohort/id_parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- Ways to omit a run ---------------------------------------------------------------------- */

#define ALL ((size_t)-1)

/* Omits `length` units after the first `at` units, or before the last `at` units (back). A unit is
 * a part, or, with `fields`, the parts between punctuation. `digit`: omits the last digit alone
 * (10011, 10012). */
typedef struct {
    bool fields, back, digit;
    size_t at, length;
} way;

static size_t count_units(const vxs_id_parts *parts, size_t i, bool fields)
{
    size_t count = vxs_id_parts_count(parts, i), units = 0;
    const vxs_id_part *p = parts->part + parts->first[i];
    for (size_t k = 0; k < count; k++)
        units += !fields || p[k].apart;
    return units;
}

/* Index of the first part of unit u, or of the end. */
static size_t find_unit(const vxs_id_parts *parts, size_t i, bool fields, size_t u)
{
    size_t count = vxs_id_parts_count(parts, i), k = 0;
    const vxs_id_part *p = parts->part + parts->first[i];
    if (!fields)
        return u < count ? u : count;
    for (; k < count && (!p[k].apart || u > 0); k++)
        u -= p[k].apart;
    return k;
}

/* Parts a ... b - 1 of the run; empty if the id has no such run, or would have no stem. */
static void find_run(const vxs_id_parts *parts, size_t i, const way *w, size_t *a, size_t *b)
{
    size_t units = count_units(parts, i, w->fields), from = w->at, to = units;
    *a = *b = vxs_id_parts_count(parts, i);
    if (w->back) {
        to = units > w->at ? units - w->at : 0;
        from = w->length < to ? to - w->length : 0;
    } else if (w->length != ALL) {
        to = w->at + w->length;
    }
    bool short_of = w->length != ALL && to - from < w->length;
    if (from >= to || to > units || short_of || (from == 0 && to == units))
        return;
    *a = find_unit(parts, i, w->fields, from);
    *b = find_unit(parts, i, w->fields, to);
}

/* ---- Stems and runs of all ids under one way ------------------------------------------------- */

typedef struct {
    const vxs_id_parts *parts;
    size_t n, known, present;
    way way;
    size_t *a, *b;           /* per id: parts of the run */
    uint64_t *key;           /* per id: hash of stem or run */
    size_t *number, persons; /* per id: its stem; number of stems */
    size_t *members;         /* per stem: number of ids */
    bool *bare;              /* per stem: it is an id itself, such as P003 with P003_2 */
    bool *in;                /* per id: its stem repeats and it has a run */
    size_t *run, runs;       /* per id: value of its run; number of values */
    size_t repeated;         /* number of ids with a repeated stem */
    bool linked;             /* a known id and another one share a stem */
} shape;

static const vxs_id_part *part_of(const shape *s, size_t i, size_t k)
{
    return s->parts->part + s->parts->first[i] + k;
}

static bool is_present(const shape *s, size_t i)
{
    return vxs_id_parts_count(s->parts, i) > 0;
}

/* The hash of an id without its last digit: 1001 for 10012. */
static uint64_t without_digit(const shape *s, size_t i)
{
    size_t last = vxs_id_parts_count(s->parts, i) - 1;
    vxs_name text = part_of(s, i, last)->text;
    return vxs_id_parts_without(s->parts, i, last, last + 1) +
           vxs_id_parts_hash(text.text, text.length - 1);
}

static bool ends_with_digits(const shape *s, size_t i, size_t least)
{
    const vxs_id_part *last = part_of(s, i, vxs_id_parts_count(s->parts, i) - 1);
    return last->kind == VXS_ID_DIGITS && last->text.length >= least;
}

static void link_known(shape *s)
{
    memset(s->members, 0, s->n * sizeof(*s->members));
    s->linked = false;
    for (size_t i = 0; i < s->known; i++)
        if (s->number[i] != VXS_NO_PERSON)
            s->members[s->number[i]]++;
    for (size_t i = s->known; i < s->n && s->known > 0; i++)
        s->linked = s->linked || (s->number[i] != VXS_NO_PERSON && s->members[s->number[i]] > 0);
}

static vxs_status number_stems(shape *s, vxs_error *err)
{
    for (size_t i = 0; i < s->n; i++) {
        s->in[i] = is_present(s, i);
        if (s->way.digit) {
            s->a[i] = s->b[i] = vxs_id_parts_count(s->parts, i);
            s->key[i] = s->in[i] ? without_digit(s, i) : 0;
            continue;
        }
        find_run(s->parts, i, &s->way, &s->a[i], &s->b[i]);
        s->key[i] = vxs_id_parts_without(s->parts, i, s->a[i], s->b[i]);
    }
    vxs_status status = vxs_number_keys(s->key, s->in, s->n, s->number, &s->persons, err);
    if (status)
        return status;
    link_known(s);
    memset(s->members, 0, s->n * sizeof(*s->members));
    memset(s->bare, 0, s->n * sizeof(*s->bare));
    for (size_t i = 0; i < s->n; i++)
        if (s->number[i] != VXS_NO_PERSON) {
            s->members[s->number[i]]++;
            s->bare[s->number[i]] = s->bare[s->number[i]] || s->a[i] == s->b[i];
        }
    s->repeated = 0;
    for (size_t i = 0; i < s->n; i++)
        s->repeated += s->number[i] != VXS_NO_PERSON && s->members[s->number[i]] > 1;
    return VXS_OK;
}

/* Numbers the values of runs: of ids with repeated stems, since others show nothing; of all ids, if
 * they have two sources, each of which may have one visit alone. */
static vxs_status number_runs(shape *s, vxs_error *err)
{
    for (size_t i = 0; i < s->n; i++) {
        s->in[i] = is_present(s, i) && (s->known > 0 || s->members[s->number[i]] > 1);
        s->key[i] = vxs_id_parts_run(s->parts, i, s->a[i], s->b[i]);
    }
    return vxs_number_keys(s->key, s->in, s->n, s->run, &s->runs, err);
}

/* ---- Contents of runs and stems -------------------------------------------------------------- */

typedef struct {
    size_t some;          /* ids with a run and a repeated stem; most counts are of these */
    size_t words, dates;  /* runs that begin with a word for a visit; runs that are dates */
    size_t dates_alone;   /* dates with no other part in the run */
    size_t runs, maybe;   /* of all ids: runs; runs that may be dates */
    size_t apart;         /* words after punctuation */
    size_t years;         /* runs that are a year before a word for persons: 2019_P01 */
    size_t rescans;       /* runs after punctuation whose stems are ids themselves */
    size_t short_numbers; /* runs that are one number of at most two digits */
    size_t short_words;   /* words with nothing but their number */
    size_t ambiguous;     /* letters that abbreviate sites or subjects too */
    size_t persons;       /* runs with "P01", or with a number too long for a visit */
    size_t units;         /* stems that end with a site, a group or a visit */
    size_t followed;      /* runs with parts after them */
    size_t digits, dated; /* of all ids: stems with a number; with a date but no number */
    size_t short_stems;   /* of all ids: stems of a single letter */
    uint64_t first_year, last_year;
} content;

static void count_stem(const shape *s, size_t i, content *c)
{
    size_t count = vxs_id_parts_count(s->parts, i);
    bool digits = false, date = false;
    size_t letters = 0;
    for (size_t k = 0; k < count; k++) {
        if (k >= s->a[i] && k < s->b[i])
            continue;
        digits = digits || part_of(s, i, k)->kind == VXS_ID_DIGITS;
        date = date || part_of(s, i, k)->kind == VXS_ID_DATE;
        letters += part_of(s, i, k)->text.length;
    }
    c->short_stems += letters < 2 && !digits;
    c->digits += digits;
    c->dated += date && !digits;
}

/* True if part k ends the name of a site, a group or a visit: "site-MUC", "site1", "FU", "FU2". */
static bool is_unit(const shape *s, size_t i, size_t k)
{
    const vxs_id_part *p = part_of(s, i, k);
    bool number = k > 0 && p->kind == VXS_ID_DIGITS;
    return p->unit || p->certain || (k > 0 && p[-1].unit) || (number && p[-1].certain);
}

#define MOST_DIGITS 3 /* most digits of a visit's number, except for years */

static bool is_long(const vxs_id_part *p)
{
    bool year = p->text.length == 4 && p->number >= 1900 && p->number < 2100;
    return p->kind == VXS_ID_DIGITS && p->text.length > MOST_DIGITS && !year && !p->maybe_date;
}

static bool has_person(const shape *s, size_t i)
{
    size_t a = s->a[i];
    bool person = a > 0 && part_of(s, i, a - 1)->person, visit = part_of(s, i, a)->visit;
    for (size_t k = a; k < s->b[i]; k++)
        person = person || part_of(s, i, k)->person || (!visit && is_long(part_of(s, i, k)));
    return person;
}

static bool is_year_of_person(const vxs_id_part *p, size_t length)
{
    return length == 1 && p->kind == VXS_ID_DIGITS && p->text.length == 4 && p->number >= 1900 &&
           p->number < 2100 && p[1].person;
}

static void count_date(const vxs_id_part *p, content *c)
{
    c->dates++;
    c->first_year = c->dates == 1 || p->number < c->first_year ? p->number : c->first_year;
    c->last_year = p->number > c->last_year ? p->number : c->last_year;
}

static void count_run(const shape *s, size_t i, content *c)
{
    size_t a = s->a[i], b = s->b[i], length = b - a;
    const vxs_id_part *p = part_of(s, i, a);
    c->some++;
    bool word = p->visit && p->kind == VXS_ID_LETTERS;
    bool ambiguous = word && p->text.length == 1 && strchr("sSiI", *p->text.text);
    c->words += word;
    c->apart += word && p->apart;
    c->short_words += word && (length == 1 || (length == 2 && p[1].kind == VXS_ID_DIGITS));
    c->ambiguous += ambiguous;
    if (p->kind == VXS_ID_DATE)
        count_date(p, c);
    c->dates_alone += p->kind == VXS_ID_DATE && length == 1;
    c->short_numbers += length == 1 && p->apart && p->kind == VXS_ID_DIGITS && p->text.length <= 2;
    c->years += is_year_of_person(p, length);
    c->rescans += p->apart && s->bare[s->number[i]];
    c->persons += has_person(s, i);
    c->units += a > 0 && is_unit(s, i, a - 1);
    c->followed += b < vxs_id_parts_count(s->parts, i);
}

static content count_contents(const shape *s)
{
    content c = { .some = 0 };
    for (size_t i = 0; i < s->n; i++) {
        if (!is_present(s, i))
            continue;
        count_stem(s, i, &c);
        c.runs += s->a[i] < s->b[i];
        c.maybe += s->b[i] == s->a[i] + 1 && part_of(s, i, s->a[i])->maybe_date;
        if (s->a[i] < s->b[i] && s->members[s->number[i]] > 1)
            count_run(s, i, &c);
    }
    return c;
}

/* True if all runs may be dates; only one number of six digits in 27 may be one. */
static bool are_all_maybe_dates(const content *c)
{
    return c->runs >= 8 && c->maybe == c->runs;
}

/* ---- Runs before a number -------------------------------------------------------------------- */

/* Lists the numbers after the runs; the other parts after a run are the place. */
static size_t list_numbers(const shape *s, vxs_id_number *list)
{
    size_t count = 0;
    for (size_t i = 0; i < s->n; i++) {
        size_t end = is_present(s, i) ? vxs_id_parts_count(s->parts, i) : 0, k = end;
        if (end == 0 || s->a[i] == s->b[i])
            continue;
        while (k > s->b[i] && part_of(s, i, k - 1)->kind != VXS_ID_DIGITS)
            k--;
        if (k == s->b[i])
            continue;
        uint64_t behind = vxs_id_parts_run(s->parts, i, s->b[i], k - 1);
        list[count++] = (vxs_id_number){ .place = part_of(s, i, s->a[i])->before + 3 * behind +
                                                  5 * vxs_id_parts_run(s->parts, i, k, end),
                                         .head = vxs_id_parts_run(s->parts, i, s->a[i], s->b[i]),
                                         .number = part_of(s, i, k - 1)->number };
    }
    return count;
}

static vxs_status is_visit_before(const shape *s, const content *c, bool *is, vxs_error *err)
{
    vxs_id_numbers of;
    vxs_id_number *list = vxs_alloc(s->n, sizeof(*list), err);
    if (!list)
        return VXS_FAILED;
    vxs_id_numbers_compare(list, list_numbers(s, list), &of);
    free(list);
    bool dates = c->dates == c->some || are_all_maybe_dates(c);
    bool words = c->short_words == c->some, certain = words && 2 * c->ambiguous < c->some;
    bool number = c->short_numbers == c->some || c->years == c->some || (words && !certain);
    bool chance = of.differ && 2 * s->repeated < s->present;
    *is = certain || of.alike || (number && !chance && !(of.begin_again && of.end_apart)) ||
          (dates && c->digits > 0 && of.count < of.span / 2);
    *is = *is && s->runs <= (dates ? s->n : VXS_MANY_OF_ONE);
    return VXS_OK;
}

/* ---- Decision -------------------------------------------------------------------------------- */

#define LIFE 25 /* years; visits span fewer, dates of birth more */

static bool are_births(const content *c)
{
    return c->dates > 0 && c->last_year - c->first_year > LIFE;
}

/* True if runs name visits, whatever their number of values. */
static bool are_named(const shape *s, const content *c, size_t *least)
{
    size_t tenth = s->present / 10 > 4 ? s->present / 10 : 4;
    bool words = c->some > 0 && 2 * (c->words - c->ambiguous) > c->some;
    bool dates = c->some > 0 && c->dates == c->some && !are_births(c);
    bool maybe = are_all_maybe_dates(c) && 2 * c->digits > s->present;
    bool apart = dates || 2 * c->apart > c->some;
    bool rescans = c->some > 0 && c->rescans == c->runs && 5 * c->runs <= s->present;
    *least = ((words || dates) && apart) || rescans ? 2 : tenth;
    if (dates &&
        2 * c->digits <= s->present) /* AB_20170312: several persons may share these initials */
        *least = s->present / 2;
    bool numbered =
        2 * c->digits > s->present; /* otherwise the run may contain the person's number */
    words = words && numbered;
    dates = dates && (numbered || c->dates_alone == c->some);
    return words || dates || maybe;
}

static bool are_few(const shape *s)
{
    bool few = s->runs <= VXS_MANY_OF_ONE || s->runs * s->runs <= s->persons;
    return few && s->runs <= s->persons && (s->known > 0 || 2 * s->runs <= s->repeated);
}

/* True if the stems may be persons. */
static bool have_stems(const shape *s, const content *c)
{
    if (2 * c->persons > c->some || 2 * c->units > c->some || 2 * c->dated > s->present)
        return false;
    return 2 * c->digits > s->present ||
           (s->present <= 4 * s->persons && 2 * c->short_stems < s->present);
}

static vxs_status count_keys(shape *s, bool behind, size_t *count, vxs_error *err)
{
    for (size_t i = 0; i < s->n; i++) {
        s->in[i] = is_present(s, i) && s->a[i] < s->b[i];
        s->key[i] = !s->in[i] ? 0
                    : behind
                        ? vxs_id_parts_run(s->parts, i, s->b[i], vxs_id_parts_count(s->parts, i))
                        : part_of(s, i, s->a[i])->before;
    }
    return vxs_number_keys(s->key, s->in, s->n, s->run, count, err);
}

/* True in *before if the person's number follows the runs. */
static vxs_status are_before(shape *s, const content *c, bool *before, vxs_error *err)
{
    size_t behind = 0, ahead = 0;
    *before = 2 * c->followed > c->some;
    vxs_status status = *before ? count_keys(s, true, &behind, err) : VXS_OK;
    if (*before && !status)
        status = count_keys(s, false, &ahead, err);
    *before = *before && (behind > VXS_MANY_OF_ONE || behind >= ahead);
    return status;
}

/* True if the last digits are few, such as 1 and 2 alone: consecutive ids have all ten. */
static bool is_last_digit(const shape *s)
{
    size_t seen[10] = { 0 }, digits = 0, ids = 0;
    uint64_t least = UINT64_MAX, most = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (!is_present(s, i))
            continue;
        if (!ends_with_digits(s, i, 3))
            return false;
        const vxs_id_part *last = part_of(s, i, vxs_id_parts_count(s->parts, i) - 1);
        vxs_name text = last->text;
        least = last->number < least ? last->number : least;
        most = last->number > most ? last->number : most;
        seen[text.text[text.length - 1] - '0']++;
        ids++;
    }
    size_t first = seen[0] > 0 ? 0 : 1;
    for (size_t d = first; d < first + 3; d++)
        digits += seen[d];
    return digits == ids && seen[first] > 0 && seen[first + 1] > 0 && ids >= 10 &&
           s->repeated >= 4 && 10 * s->repeated >= ids &&
           2 * (most / 10 - least / 10) >= s->persons;
}

/* Decides whether stems are persons under the way of the shape. */
static vxs_status decide(shape *s, bool *is, vxs_error *err)
{
    size_t least = 0;
    bool before = false;
    *is = false;
    if (s->way.digit)
        *is = s->known == 0 && is_last_digit(s);
    if (s->way.digit || s->repeated < 2 || (s->known > 0 && !s->linked))
        return VXS_OK;
    content c = count_contents(s);
    bool named = are_named(s, &c, &least);
    if (!have_stems(s, &c) || (s->known == 0 && s->repeated < least))
        return VXS_OK;
    if (s->persons < VXS_FEW_PERSONS && !(named && s->known > 0 && 2 * c.digits > s->present))
        return VXS_OK;
    vxs_status status = are_before(s, &c, &before, err);
    if (!status)
        status = number_runs(s, err);
    if (status || (!named && !are_few(s)))
        return status;
    *is = !before;
    return before ? is_visit_before(s, &c, is, err) : VXS_OK;
}

/* ---- Search ---------------------------------------------------------------------------------- */

#define MOST_AT     8
#define MOST_LENGTH 3

typedef struct {
    size_t fewest, most; /* number of units per id */
} range;

static range count_all(const shape *s, bool fields)
{
    range r = { .fewest = SIZE_MAX, .most = 0 };
    for (size_t i = 0; i < s->n; i++) {
        if (!is_present(s, i))
            continue;
        size_t units = count_units(s->parts, i, fields);
        r.fewest = units < r.fewest ? units : r.fewest;
        r.most = units > r.most ? units : r.most;
    }
    return r;
}

typedef struct {
    size_t *number, persons;
} choice;

/* Prefers the coarsest way with few ids per person, which contains the finer ones; otherwise the
 * finest. */
static bool is_better(const shape *s, size_t chosen)
{
    bool few = s->present <= 4 * s->persons, had_few = s->present <= 4 * chosen;
    if (chosen == 0 || few != had_few)
        return chosen == 0 || few;
    return few ? s->persons < chosen : s->persons > chosen;
}

static vxs_status try_way(shape *s, way w, choice *chosen, vxs_error *err)
{
    bool is = false;
    s->way = w;
    vxs_status status = number_stems(s, err);
    if (status || s->present > VXS_MANY_OF_ONE * s->persons || s->persons == s->present)
        return status;
    status = decide(s, &is, err);
    if (status || !is || !is_better(s, chosen->persons))
        return status;
    memcpy(chosen->number, s->number, s->n * sizeof(*s->number));
    chosen->persons = s->persons;
    return VXS_OK;
}

static vxs_status try_lengths(shape *s, way w, const range *units, choice *chosen, vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (w.length = 1; w.length <= MOST_LENGTH && w.at + w.length <= units->most && !status;
         w.length++)
        status = try_way(s, w, chosen, err);
    bool more = w.at + w.length <= units->most || units->fewest < units->most;
    w.length = ALL;
    return !status && more ? try_way(s, w, chosen, err) : status;
}

static vxs_status try_units(shape *s, bool fields, choice *chosen, vxs_error *err)
{
    range units = count_all(s, fields);
    vxs_status status = VXS_OK;
    for (int back = 0; back < 1 + (units.fewest < units.most) && !status; back++)
        for (size_t at = 0; at < MOST_AT && at < units.most && !status; at++)
            status = try_lengths(s, (way){ fields, back, false, at, 0 }, &units, chosen, err);
    return status;
}

static vxs_status try_digit(shape *s, choice *chosen, vxs_error *err)
{
    for (size_t i = 0; i < s->n; i++)
        if (is_present(s, i) && !ends_with_digits(s, i, 3))
            return VXS_OK;
    return try_way(s, (way){ .digit = true }, chosen, err);
}

static vxs_status search(shape *s, choice *chosen, vxs_error *err)
{
    vxs_status status = try_units(s, true, chosen, err);
    if (!status)
        status = try_units(s, false, chosen, err);
    return status || chosen->persons > 0 ? status : try_digit(s, chosen, err);
}

vxs_status vxs_shape_of_ids(const char *const *ids, size_t n, size_t known, size_t *number,
                            size_t *count, vxs_error *err)
{
    vxs_id_parts parts = { .n = 0 };
    choice chosen = { .number = number };
    shape s = { .parts = &parts, .n = n, .known = known };
    vxs_status status = vxs_id_parts_split(&parts, ids, n, err);
    s.a = vxs_alloc(n, sizeof(*s.a), err);
    s.b = vxs_alloc(n, sizeof(*s.b), err);
    s.key = vxs_alloc(n, sizeof(*s.key), err);
    s.number = vxs_alloc(n, sizeof(*s.number), err);
    s.members = vxs_alloc(n, sizeof(*s.members), err);
    s.run = vxs_alloc(n, sizeof(*s.run), err);
    s.in = vxs_alloc(n, sizeof(*s.in), err);
    s.bare = vxs_alloc(n, sizeof(*s.bare), err);
    if (!status)
        status = s.a && s.b && s.key && s.number && s.members && s.run && s.in && s.bare
                     ? VXS_OK
                     : VXS_FAILED;
    for (size_t i = 0; i < n && !status; i++)
        s.present += is_present(&s, i);
    if (!status)
        status = search(&s, &chosen, err);
    if (!status)
        status = vxs_id_tails_persons(&parts, known, number, &chosen.persons, err);
    *count = status ? 0 : chosen.persons;
    free(s.a);
    free(s.b);
    free(s.key);
    free(s.number);
    free(s.members);
    free(s.run);
    free(s.in);
    free(s.bare);
    vxs_id_parts_release(&parts);
    return status;
}
