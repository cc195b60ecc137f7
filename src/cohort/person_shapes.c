/* person_shapes.c - what looks like persons by its form, whatever it is called: ids that share all
 * but a short part (054_1 and 054_2), and columns whose values stand more evenly than by chance.
 * Forms are likely, not certain: a family has members, a site has numbers. So whoever asks warns.
 */
#include "cohort/build.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- Parts of an id -------------------------------------------------------------------------- */

static bool is_separator(char c)
{
    return c != '\0' && strchr("_-./ ", c);
}

static bool has_digit(vxs_name name)
{
    for (size_t k = 0; k < name.length; k++)
        if (isdigit((unsigned char)name.text[k]))
            return true;
    return false;
}

#define MOST_DIGITS 3 /* of a tail; longer numbers are of persons */
#define LONGEST     12

/* "p01", "sub2": a person, and no scan of one. */
static bool names_person(vxs_name tail)
{
    static const char *const words[] = { "p",  "pt",   "pat",     "patient",     "ppt", "sub",
                                         "vp", "subj", "subject", "participant", NULL };
    size_t letters = 0;
    while (letters < tail.length && isalpha((unsigned char)tail.text[letters]))
        letters++;
    for (const char *const *w = words; *w && letters < tail.length; w++)
        if (strlen(*w) == letters && strncasecmp(tail.text, *w, letters) == 0)
            return true;
    return false;
}

static bool is_tail(vxs_name tail)
{
    size_t digits = 0;
    if (tail.length == 0 || tail.length > LONGEST || names_person(tail))
        return false;
    for (size_t k = 0; k < tail.length && digits <= MOST_DIGITS; k++)
        digits = isdigit((unsigned char)tail.text[k]) ? digits + 1 : 0;
    return digits <= MOST_DIGITS;
}

/* ---- Ways to cut it -------------------------------------------------------------------------- */

/* At words for visits; behind the last separator, or the last but one or two; before letters that
 * follow a number ("054a", "sub054T1", "S01post"); behind a head ("T1_", "2019-01-11_", "pre"). */
typedef enum { WORDS, LAST, LAST_BUT_ONE, LAST_BUT_TWO, GLUED, HEAD, FORMS } form;

typedef struct {
    vxs_name stem, rest; /* rest without text: the id is a stem */
} cut;

static cut cut_last(vxs_name name, size_t which)
{
    for (size_t k = name.length; k-- > 1;) {
        if (!is_separator(name.text[k]) || which-- > 0)
            continue;
        cut c = { { name.text, k }, { name.text + k + 1, name.length - k - 1 } };
        if (is_tail(c.rest) && !vxs_names_unit(c.stem) && !vxs_is_date(name.text))
            return c;
        break;
    }
    return (cut){ .stem = name };
}

static cut cut_glued(vxs_name name)
{
    size_t k = name.length, digits = 0, letters = 0;
    for (; k > 0 && isdigit((unsigned char)name.text[k - 1]); k--)
        digits++;
    for (; k > 0 && isalpha((unsigned char)name.text[k - 1]); k--)
        letters++;
    bool word = vxs_names_occasion((vxs_name){ name.text + k, letters }, digits > 0);
    bool short_one = digits == 0 ? letters == 1 || word : (letters <= 3 || word) && digits <= 2;
    cut c = { { name.text, k }, { name.text + k, name.length - k } };
    bool number = k > 0 && isdigit((unsigned char)name.text[k - 1]);
    if (letters > 0 && short_one && number && !names_person(c.rest) && !vxs_names_unit(c.stem))
        return c;
    return (cut){ .stem = name };
}

static cut cut_head(vxs_name name)
{
    size_t length = vxs_occasion_length(name.text), letters = 0;
    while (letters < name.length && isalpha((unsigned char)name.text[letters]))
        letters++;
    if (letters < name.length && isdigit((unsigned char)name.text[letters]) &&
        vxs_names_occasion((vxs_name){ name.text, letters }, false)) /* "pre01" */
        return (cut){ { name.text + letters, name.length - letters }, { name.text, letters } };
    cut c = { { name.text + length + 1, name.length - length - 1 }, { name.text, length } };
    if (length > 0 && length + 1 < name.length && is_separator(name.text[length]) &&
        has_digit(c.stem))
        return c;
    return (cut){ .stem = name };
}

static cut cut_id(const char *id, form way)
{
    vxs_name name = vxs_person_in(id);
    if (way == WORDS) {
        vxs_name stem = vxs_person_perhaps_in(id);
        bool tail = stem.text == id && stem.length < name.length;
        return (cut){ stem, tail ? (vxs_name){ id + stem.length, name.length - stem.length }
                                 : (vxs_name){ NULL, 0 } };
    }
    return way == GLUED  ? cut_glued(name)
           : way == HEAD ? cut_head(name)
                         : cut_last(name, (size_t)(way - LAST));
}

/* ---- What is seen of all of them ------------------------------------------------------------- */

typedef struct {
    form way;
    size_t n, known;
    cut *cuts;
    size_t *number, *rest, *members; /* persons, rests, and how many ids a person has */
    size_t present, persons, rests;
    size_t repeated; /* ids of persons that have several */
    bool digits;     /* most stems have some */
    bool linked;     /* a known one and another are of one person */
} shape;

/* Numbers that begin with 1 at each head and end elsewhere are of sites: 1_01 ... 1_40, 2_01 ...
 * 2_12. Visits have the same persons, or some of them. */
static bool is_of_sites(const shape *s)
{
    size_t last[VXS_MANY_OF_ONE + 1] = { 0 }, count[VXS_MANY_OF_ONE + 1] = { 0 };
    if (s->way != HEAD || s->rests < 2 || s->rests > VXS_MANY_OF_ONE)
        return false;
    for (size_t i = 0; i < s->n; i++) {
        vxs_name stem = s->cuts[i].stem;
        size_t digits = 0, at = s->rest[i];
        if (at == VXS_NOBODY)
            continue;
        while (digits < stem.length && digits < 9 &&
               isdigit((unsigned char)stem.text[stem.length - 1 - digits]))
            digits++;
        size_t value = strtoul(stem.text + stem.length - digits, NULL, 10);
        last[at] = value > last[at] ? value : last[at];
        count[at]++;
    }
    bool unlike = false;
    for (size_t k = 0; k < s->rests; k++) {
        if (last[k] != count[k])
            return false;
        unlike = unlike || count[k] != count[0];
    }
    return unlike;
}

/* Ids that are told apart by few short parts, for many stems. */
static bool is_of_persons(const shape *s)
{
    bool dates = s->way == HEAD && s->rests > VXS_MANY_OF_ONE;
    size_t most = s->way == WORDS ? 2 : s->way == GLUED ? (s->present + 1) / 2 : s->present / 10;
    if (s->known > 0 ? !s->linked : s->persons < VXS_FEW_PERSONS)
        return false;
    if (s->present > VXS_MANY_OF_ONE * s->persons)
        return false;
    if (s->known == 0 && (s->repeated < most || s->repeated < 2))
        return false;
    if (s->way == WORDS)
        return true;
    if (s->known == 0 && s->repeated < 4)
        return false;
    if (!dates && (s->rests > VXS_MANY_OF_ONE || (s->known == 0 && s->rests > s->persons)))
        return false;
    return (s->digits || s->present <= 4 * s->persons) && !is_of_sites(s);
}

static void look(shape *s)
{
    size_t digits = 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->number[i] != VXS_NOBODY) {
            s->members[s->number[i]]++;
            s->present++;
            digits += has_digit(s->cuts[i].stem);
        }
    for (size_t i = 0; i < s->n; i++)
        s->repeated += s->number[i] != VXS_NOBODY && s->members[s->number[i]] > 1;
    s->digits = 2 * digits > s->present;
    memset(s->members, 0, s->n * sizeof(*s->members));
    for (size_t i = 0; i < s->known; i++)
        if (s->number[i] != VXS_NOBODY)
            s->members[s->number[i]]++;
    for (size_t i = s->known; i < s->n && s->known > 0; i++)
        s->linked = s->linked || (s->number[i] != VXS_NOBODY && s->members[s->number[i]] > 0);
}

static vxs_status cut_ids(shape *s, const char *const *ids, form way, vxs_error *err)
{
    vxs_name *names = vxs_alloc(s->n, sizeof(*names), err);
    s->way = way;
    s->present = s->repeated = 0;
    s->linked = false;
    vxs_status status = names ? VXS_OK : VXS_FAILED;
    for (size_t i = 0; i < s->n && !status; i++) {
        s->cuts[i] = ids[i] ? cut_id(ids[i], way) : (cut){ { NULL, 0 }, { NULL, 0 } };
        names[i] = s->cuts[i].rest;
    }
    if (!status)
        status = vxs_number_names(names, s->n, s->rest, &s->rests, err);
    for (size_t i = 0; i < s->n && !status; i++)
        names[i] = s->cuts[i].stem;
    if (!status)
        status = vxs_number_names(names, s->n, s->number, &s->persons, err);
    if (!status) {
        memset(s->members, 0, s->n * sizeof(*s->members));
        look(s);
    }
    free(names);
    return status;
}

vxs_status vxs_shape_of_ids(const char *const *ids, size_t n, size_t known, size_t *number,
                            size_t *count, vxs_error *err)
{
    shape s = { .n = n, .known = known, .number = number };
    s.cuts = vxs_alloc(n, sizeof(*s.cuts), err);
    s.rest = vxs_alloc(n, sizeof(*s.rest), err);
    s.members = vxs_alloc(n, sizeof(*s.members), err);
    vxs_status status = s.cuts && s.rest && s.members ? VXS_OK : VXS_FAILED;
    bool found = false;
    for (form way = WORDS; way < FORMS && !status && !found; way++) {
        status = cut_ids(&s, ids, way, err);
        found = !status && is_of_persons(&s);
    }
    *count = found ? s.persons : 0;
    free(s.cuts);
    free(s.rest);
    free(s.members);
    return status;
}

/* ---- Columns --------------------------------------------------------------------------------- */

#define FEWEST_VALUES 8

/* The variance of how often values stand that stand so often on average, by chance: that of a
 * Poisson number which is not 0. */
static double chance_variance(double mean)
{
    double low = 0, high = mean;
    for (int k = 0; k < 60; k++) {
        double rate = (low + high) / 2;
        if (rate / -expm1(-rate) < mean)
            low = rate;
        else
            high = rate;
    }
    return mean * (1 + high - mean);
}

bool vxs_shape_repeats(const size_t *number, size_t n, size_t count, double *evenness)
{
    size_t present = 0, repeated = 0;
    size_t *times = count >= FEWEST_VALUES ? vxs_alloc(count, sizeof(*times), NULL) : NULL;
    double squares = 0;
    for (size_t i = 0; i < n && times; i++)
        if (number[i] != VXS_NOBODY) {
            times[number[i]]++;
            present++;
        }
    double mean = count > 0 ? (double)present / (double)count : 0;
    for (size_t k = 0; k < count && times; k++) {
        repeated += times[k] > 1 ? times[k] : 0;
        squares += ((double)times[k] - mean) * ((double)times[k] - mean);
    }
    *evenness = 0;
    if (!times || 2 * repeated < present || mean > VXS_MANY_OF_ONE) {
        free(times);
        return false;
    }
    free(times);
    double freedom = (double)count - 1, part = 2 / (9 * freedom); /* Wilson and Hilferty */
    *evenness = (1 - part - cbrt(squares / freedom / chance_variance(mean))) / sqrt(part);
    return true;
}
