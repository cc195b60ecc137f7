/* id_tails.c - finds persons by ids that end with a property of the scan: the number of an image or
 * an accession, a code, the age at the scan (3001_I276822, P003_61.5). Tails do not recur under
 * other stems, so that counts are the only evidence: stems are many, many of them repeat, and each
 * has few ids, while a site has many. A tail that counts up, or restarts from 1, is the number of a
 * subject. This is evidence, not proof. The cost is linear in the number of ids, for each length of
 * the stem. */
#include "cohort/id_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MOST_FIELDS   6
#define FEWEST_STEMS  8
#define LIKE_SITES    60 /* stems; more are rarely sites, and may have more ids each */
#define FEW_OF_ONE    4
#define LEAST_UNIQUE  0.95
#define MOST_DENSE    0.1 /* share of the range of numbers; numbers of subjects are denser */
#define MOST_AGE      110
#define MOST_WITHIN   0.25 /* share of the variance of ages within stems */
#define LEAST_PRESENT 0.9  /* share of ids with the form */

typedef struct {
    const vxs_id_parts *parts;
    size_t n, present, known;
    size_t *cut; /* per id: first part of its tail */
    uint64_t *key;
    bool *in, *in_known;
    size_t *number, persons,
        *members; /* per id: its stem; number of stems; per stem: number of ids */
    size_t *tail, tails;
} tails;

static const vxs_id_part *part_of(const tails *t, size_t i, size_t k)
{
    return t->parts->part + t->parts->first[i] + k;
}

/* Index of the first part of field `at`; 0 if there is none. */
static size_t find_field(const tails *t, size_t i, size_t at)
{
    size_t count = vxs_id_parts_count(t->parts, i), k = 0;
    for (; k < count; k++)
        if (part_of(t, i, k)->apart && at-- == 0)
            return k;
    return 0;
}

/* ---- Forms ----------------------------------------------------------------------------------- */

static bool is_word_for_subjects(const vxs_id_part *p)
{
    return p->person || (p->text.length == 1 && strchr("sS", *p->text.text));
}

/* True for a tail such as "S_0295", a subject of the site before it. */
static bool begins_with_subject(const tails *t, size_t i)
{
    const vxs_id_part *p = part_of(t, i, t->cut[i]);
    bool more = t->cut[i] + 1 < vxs_id_parts_count(t->parts, i);
    return p->kind == VXS_ID_LETTERS && is_word_for_subjects(p) && more &&
           p[1].kind == VXS_ID_DIGITS;
}

/* True if the stem ends with a number that is no site, day or year: "P003", "022_S_0122". */
static bool is_stem(const tails *t, size_t i)
{
    size_t cut = t->cut[i];
    const vxs_id_part *p = part_of(t, i, cut - 1);
    bool unit = p->unit || (cut > 1 && p[-1].unit);
    bool year = p->text.length == 4 && p->number >= 1900 && p->number < 2100;
    return p->kind == VXS_ID_DIGITS && p->text.length > 1 && !unit && !p->maybe_date && !year &&
           !begins_with_subject(t, i);
}

/* The longest number of the tail, taken as the scan's; NULL if it has none. */
static const vxs_id_part *find_number(const tails *t, size_t i)
{
    const vxs_id_part *found = NULL;
    for (size_t k = t->cut[i]; k < vxs_id_parts_count(t->parts, i); k++) {
        const vxs_id_part *p = part_of(t, i, k);
        if (p->kind == VXS_ID_DIGITS && (!found || p->text.length > found->text.length))
            found = p;
    }
    return found;
}

/* True for a mixture of digits and letters without punctuation, other than letters before a number:
 * "3fa9". */
static bool is_code(const tails *t, size_t i)
{
    for (size_t k = t->cut[i] + 1; k < vxs_id_parts_count(t->parts, i); k++)
        if (!part_of(t, i, k)->apart && part_of(t, i, k)->kind == VXS_ID_LETTERS)
            return true;
    return false;
}

/* The age in a tail such as "61", "61.5", "61y"; NaN if there is none. */
static double find_age(const tails *t, size_t i)
{
    static const char *const words[] = { "y", "yr", "yrs", "year", "years", "yo", "j", NULL };
    size_t count = vxs_id_parts_count(t->parts, i) - t->cut[i];
    const vxs_id_part *p = part_of(t, i, t->cut[i]);
    bool word = false;
    if (p->kind != VXS_ID_DIGITS || p->number > MOST_AGE || p->text.length > 3 || count > 2)
        return NAN;
    if (count == 1)
        return (double)p->number;
    for (const char *const *w = words; *w; w++)
        word = word || (strlen(*w) == p[1].text.length &&
                        strncasecmp(*w, p[1].text.text, p[1].text.length) == 0);
    if (word)
        return (double)p->number;
    bool decimal = p[1].kind == VXS_ID_DIGITS && p->text.text[p->text.length] == '.';
    return decimal ? (double)p->number + (double)p[1].number * pow(10, -(double)p[1].text.length)
                   : NAN;
}

/* ---- Counts ---------------------------------------------------------------------------------- */

static vxs_status number_parts(tails *t, size_t at, vxs_error *err)
{
    for (size_t i = 0; i < t->n; i++) {
        t->cut[i] = find_field(t, i, at);
        t->in[i] = t->cut[i] > 0;
        t->key[i] = t->in[i] ? vxs_id_parts_run(t->parts, i, 0, t->cut[i]) : 0;
    }
    vxs_status status = vxs_number_keys(t->key, t->in, t->n, t->number, &t->persons, err);
    for (size_t i = 0; i < t->n && !status; i++)
        t->key[i] = t->in[i]
                        ? vxs_id_parts_run(t->parts, i, t->cut[i], vxs_id_parts_count(t->parts, i))
                        : 0;
    if (!status)
        status = vxs_number_keys(t->key, t->in, t->n, t->tail, &t->tails, err);
    memset(t->members, 0, t->n * sizeof(*t->members));
    for (size_t i = 0; i < t->n && !status; i++)
        if (t->in[i])
            t->members[t->number[i]]++;
    return status;
}

/* True if there are many stems with few ids each, many of which repeat. */
static bool repeat_as_persons(const tails *t)
{
    size_t count = 0, most = 0, repeated = 0;
    for (size_t s = 0; s < t->persons; s++) {
        count += t->members[s];
        most = t->members[s] > most ? t->members[s] : most;
        repeated += t->members[s] > 1 ? t->members[s] : 0;
    }
    bool many = t->persons > LIKE_SITES;
    return t->persons >= FEWEST_STEMS && (double)count >= LEAST_PRESENT * (double)t->present &&
           (many || most <= VXS_MANY_OF_ONE) &&
           count <= (many ? VXS_MANY_OF_ONE : FEW_OF_ONE) * t->persons && repeated >= 8 &&
           5 * repeated >= count;
}

/* True if a known id and another one share a stem, or if all ids have one source. */
static bool are_linked(const tails *t, bool *of_known)
{
    for (size_t s = 0; s < t->persons; s++)
        of_known[s] = false;
    for (size_t i = 0; i < t->known; i++)
        if (t->in[i])
            of_known[t->number[i]] = true;
    for (size_t i = t->known; i < t->n; i++)
        if (t->in[i] && of_known[t->number[i]])
            return true;
    return t->known == 0;
}

static bool are_stems(const tails *t)
{
    size_t stems = 0;
    for (size_t i = 0; i < t->n; i++)
        stems += t->in[i] && is_stem(t, i);
    return (double)stems >= LEAST_PRESENT * (double)t->present;
}

/* ---- Tails ----------------------------------------------------------------------------------- */

/* True if numbers or codes are drawn from a range far larger than the number of scans. */
static bool are_scattered(const tails *t)
{
    size_t count = 0, numbers = 0, codes = 0;
    uint64_t least = UINT64_MAX, most = 0;
    for (size_t i = 0; i < t->n; i++) {
        const vxs_id_part *number = t->in[i] ? find_number(t, i) : NULL;
        count += t->in[i];
        codes += t->in[i] && is_code(t, i);
        if (!number)
            continue;
        numbers++;
        least = number->number < least ? number->number : least;
        most = number->number > most ? number->number : most;
    }
    if ((double)t->tails < LEAST_UNIQUE * (double)count ||
        (double)numbers < LEAST_PRESENT * (double)count)
        return false;
    return 2 * codes > count || (double)numbers <= MOST_DENSE * (double)(most - least + 1);
}

/* True in *are if ages vary little within stems and much between them. */
static vxs_status are_ages(const tails *t, bool *are, vxs_error *err)
{
    double *sum = vxs_alloc(t->persons, sizeof(*sum), err), all = 0, squares = 0, between = 0;
    size_t count = 0, ages = 0, marked = 0;
    *are = false;
    for (size_t i = 0; i < t->n && sum; i++) {
        double age = t->in[i] ? find_age(t, i) : NAN;
        count += t->in[i];
        if (isnan(age))
            continue;
        ages++;
        marked += vxs_id_parts_count(t->parts, i) > t->cut[i] + 1;
        sum[t->number[i]] += age;
        all += age;
        squares += age * age;
    }
    for (size_t s = 0; s < t->persons && sum; s++)
        between += t->members[s] > 0 ? sum[s] * sum[s] / (double)t->members[s] : 0;
    bool form = ages == count && (2 * marked > count || (double)t->tails < 0.9 * (double)count);
    double total = count > 0 ? squares - all * all / (double)count : 0;
    /* within stems, each stem uses one degree of freedom: compare variances, not sums */
    double within = (squares - between) * (double)count / (double)(count - t->persons + 1);
    *are = sum && form && within <= MOST_WITHIN * total;
    free(sum);
    return sum ? VXS_OK : VXS_FAILED;
}

/* ---- Search ---------------------------------------------------------------------------------- */

static vxs_status decide(tails *t, size_t at, bool *are, vxs_error *err)
{
    *are = false;
    vxs_status status = number_parts(t, at, err);
    if (status || !repeat_as_persons(t) || !are_stems(t) || !are_linked(t, t->in_known))
        return status;
    *are = are_scattered(t);
    return *are ? VXS_OK : are_ages(t, are, err);
}

static vxs_status allocate(tails *t, vxs_error *err)
{
    t->cut = vxs_alloc(t->n, sizeof(*t->cut), err);
    t->key = vxs_alloc(t->n, sizeof(*t->key), err);
    t->in = vxs_alloc(t->n, sizeof(*t->in), err);
    t->in_known = vxs_alloc(t->n, sizeof(*t->in_known), err);
    t->number = vxs_alloc(t->n, sizeof(*t->number), err);
    t->members = vxs_alloc(t->n, sizeof(*t->members), err);
    t->tail = vxs_alloc(t->n, sizeof(*t->tail), err);
    bool there = t->cut && t->key && t->in && t->in_known && t->number && t->members && t->tail;
    return there ? VXS_OK : VXS_FAILED;
}

static void release(tails *t)
{
    free(t->cut);
    free(t->key);
    free(t->in);
    free(t->in_known);
    free(t->number);
    free(t->members);
    free(t->tail);
}

/* Stores the persons; an id without the form is a person of its own. */
static void store_persons(const tails *t, size_t *number, size_t *count)
{
    *count = t->persons;
    for (size_t i = 0; i < t->n; i++)
        number[i] = t->in[i]                              ? t->number[i]
                    : vxs_id_parts_count(t->parts, i) > 0 ? (*count)++
                                                          : VXS_NO_PERSON;
}

vxs_status vxs_id_tails_persons(const vxs_id_parts *parts, size_t known, size_t *number,
                                size_t *count, vxs_error *err)
{
    tails t = { .parts = parts, .n = parts->n, .known = known };
    size_t others = *count;
    vxs_status status = allocate(&t, err);
    for (size_t i = 0; i < t.n; i++)
        t.present += vxs_id_parts_count(parts, i) > 0;
    for (size_t at = 1; at <= MOST_FIELDS && !status; at++) {
        bool are = false;
        status = decide(&t, at, &are, err);
        if (!status && are && (others == 0 || t.persons < others)) /* prefer the finest */
            store_persons(&t, number, count);
    }
    release(&t);
    return status;
}
