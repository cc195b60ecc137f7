/* id_parts.c - splits ids into parts. Hashes of parts are polynomials, so that prefix hashes give
 * the hash of any run of parts, and of an id without it, in constant time. */
#include "cohort/id_parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- Hashes ---------------------------------------------------------------------------------- */

#define BASE 0x9E3779B97F4A7C15U /* odd, so that no factor is lost modulo 2^64 */

/* The finisher of SplitMix64 (Steele, Lea and Flood 2014). */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
}

uint64_t vxs_id_parts_hash(const char *text, size_t length)
{
    uint64_t h = 0xCBF29CE484222325U; /* FNV-1a */
    while (length > 1 && *text == '0' && isdigit((unsigned char)text[1])) {
        text++;
        length--;
    }
    for (size_t k = 0; k < length; k++)
        h = (h ^ (uint64_t)tolower((unsigned char)text[k])) * 0x100000001B3U;
    return mix(h);
}

static uint64_t power(size_t exponent)
{
    uint64_t result = 1, square = BASE;
    for (; exponent > 0; exponent /= 2, square *= square)
        result *= exponent % 2 ? square : 1;
    return result;
}

size_t vxs_id_parts_count(const vxs_id_parts *parts, size_t i)
{
    return parts->first[i + 1] - parts->first[i] - 1;
}

uint64_t vxs_id_parts_run(const vxs_id_parts *parts, size_t i, size_t a, size_t b)
{
    const vxs_id_part *p = parts->part + parts->first[i];
    return p[b].before - p[a].before * power(b - a);
}

uint64_t vxs_id_parts_without(const vxs_id_parts *parts, size_t i, size_t a, size_t b)
{
    size_t end = vxs_id_parts_count(parts, i);
    const vxs_id_part *p = parts->part + parts->first[i];
    return p[a].before * power(end - b) + vxs_id_parts_run(parts, i, b, end);
}

vxs_status vxs_number_keys(const uint64_t *key, const bool *in, size_t n, size_t *number,
                           size_t *count, vxs_error *err)
{
    size_t capacity = 16;
    while (capacity < 2 * n)
        capacity *= 2;
    size_t *slot =
        vxs_alloc(capacity, sizeof(*slot), err); /* index + 1 of the first occurrence of a key */
    *count = 0;
    for (size_t i = 0; i < n && slot; i++) {
        number[i] = VXS_NO_PERSON;
        if (in && !in[i])
            continue;
        size_t at = mix(key[i]) & (capacity - 1);
        while (slot[at] > 0 && key[slot[at] - 1] != key[i])
            at = (at + 1) & (capacity - 1);
        if (slot[at] == 0)
            slot[at] = i + 1;
        number[i] = slot[at] == i + 1 ? (*count)++ : number[slot[at] - 1];
    }
    free(slot);
    return slot ? VXS_OK : VXS_FAILED;
}

/* ---- Dates ----------------------------------------------------------------------------------- */

static bool are_digits(const char *text, const char *end, size_t count)
{
    if ((size_t)(end - text) < count)
        return false;
    for (size_t k = 0; k < count; k++)
        if (!isdigit((unsigned char)text[k]))
            return false;
    return true;
}

static unsigned value_of(const char *text, size_t digits)
{
    unsigned value = 0;
    for (size_t k = 0; k < digits; k++)
        value = 10 * value + (unsigned)(text[k] - '0');
    return value;
}

static bool is_year(unsigned year)
{
    return year >= 1900 && year < 2100;
}

static bool is_month(unsigned month)
{
    return month >= 1 && month <= 12;
}

static bool is_day(unsigned day)
{
    return day >= 1 && day <= 31;
}

static size_t count_digits(const char *text, const char *end)
{
    size_t digits = 0;
    while (text + digits < end && isdigit((unsigned char)text[digits]))
        digits++;
    return digits;
}

static bool is_between(char c)
{
    return c != '\0' && strchr("-_./ ", c);
}

/* Length of a time of day with or without seconds and decimals: "10:15:00", "10-15", "101500". */
static size_t time_length(const char *text, const char *end)
{
    size_t digits = count_digits(text, end);
    bool hours = digits >= 2 && value_of(text, 2) < 24;
    if (hours && digits == 6 && value_of(text + 2, 2) < 60)
        return 6;
    if (!hours || digits != 2 || end - text < 5 || !strchr(":-_.", text[2]) ||
        count_digits(text + 3, end) != 2)
        return 0;
    bool seconds = end - text >= 8 && text[5] == text[2] && count_digits(text + 6, end) == 2;
    return seconds ? 8 : text[2] == ':' ? 5 : 0;
}

/* Length of a date including the time after it. */
static size_t with_time(const char *text, size_t length, const char *end)
{
    const char *at = text + length;
    if (end - at < 5 || !strchr("Tt_- ", *at))
        return length;
    size_t time = time_length(at + 1, end);
    if (time == 0)
        return length;
    length += 1 + time;
    bool zone = length < (size_t)(end - text) && (text[length] == 'Z' || text[length] == 'z');
    return length + zone;
}

/* Length of a written date: "2017-03-12", "12.03.2017", "12Mar2017". */
static size_t written_date(const char *text, const char *end, unsigned *year)
{
    size_t digits = count_digits(text, end);
    bool first = digits == 4 && end - text >= 10 && is_between(text[4]) && text[7] == text[4] &&
                 count_digits(text + 5, end) == 2 && count_digits(text + 8, end) == 2;
    if (first && is_year(value_of(text, 4)) && is_month(value_of(text + 5, 2)) &&
        is_day(value_of(text + 8, 2))) {
        *year = value_of(text, 4);
        return 10;
    }
    bool last = digits == 2 && end - text >= 10 && is_between(text[2]) && text[5] == text[2] &&
                count_digits(text + 3, end) == 2 && count_digits(text + 6, end) == 4;
    if (last && is_day(value_of(text, 2)) && is_day(value_of(text + 3, 2)) &&
        is_year(value_of(text + 6, 4))) {
        *year = value_of(text + 6, 4);
        return 10;
    }
    static const char months[] = "janfebmaraprmayjunjulaugsepoctnovdec";
    for (size_t m = 0; digits == 2 && end - text >= 9 && m < 36; m += 3)
        if (strncasecmp(text + 2, months + m, 3) == 0 && count_digits(text + 5, end) == 4 &&
            is_year(value_of(text + 5, 4))) {
            *year = value_of(text + 5, 4);
            return 9;
        }
    return 0;
}

/* Length of a date at a run of digits, with its time; 0: none. `inside`: other parts precede it, so
 * that 2017-03 is a month rather than the third of 2017. */
static size_t date_length(const char *text, const char *end, bool inside, unsigned *year)
{
    size_t digits = count_digits(text, end), written = written_date(text, end, year);
    if (written > 0)
        return with_time(text, written, end);
    bool compact = (digits == 8 || digits == 12 || digits == 14) && is_year(value_of(text, 4)) &&
                   is_month(value_of(text + 4, 2)) && is_day(value_of(text + 6, 2)) &&
                   (digits == 8 || (value_of(text + 8, 2) < 24 && value_of(text + 10, 2) < 60));
    if (digits >= 4)
        *year = value_of(text, 4);
    if (compact)
        return digits == 8 ? with_time(text, 8, end) : digits;
    bool month = inside && digits == 4 && is_year(*year) && end - text >= 7 && text[4] == '-' &&
                 count_digits(text + 5, end) == 2 && is_month(value_of(text + 5, 2)) &&
                 (end - text == 7 || text[7] != '-');
    return month ? 7 : 0;
}

/* True for digits that may be a date or a number. */
static bool may_be_date(const char *text, size_t digits)
{
    if (digits == 6) {
        bool day = is_day(value_of(text, 2)) && is_month(value_of(text + 2, 2)); /* 120317 */
        bool year = is_month(value_of(text + 2, 2)) && is_day(value_of(text + 4, 2));
        return day || year || (is_year(value_of(text, 4)) && is_month(value_of(text + 4, 2)));
    }
    return digits == 8 && is_day(value_of(text, 2)) && is_day(value_of(text + 2, 2)) &&
           is_year(value_of(text + 4, 4));
}

/* ---- Parts ----------------------------------------------------------------------------------- */

/* True for ASCII letters and for all bytes above ASCII, which are parts of other letters. */
static bool is_letter(char c)
{
    return isalpha((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* Number of letters up to a digit, punctuation, or a capital after a small letter ("MuellerPost").
 */
static size_t count_letters(const char *text, const char *end)
{
    size_t k = 1;
    while (text + k < end && is_letter(text[k]) &&
           !(islower((unsigned char)text[k - 1]) && isupper((unsigned char)text[k])))
        k++;
    return k;
}

/* Number of digits before a date without a separator, as in "000120130412"; all digits if there is
 * no date. Dates of birth are no scan dates. */
static size_t before_date(const char *text, size_t digits)
{
    static const size_t lengths[] = { 14, 12, 8 };
    for (size_t k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++) {
        unsigned year = 0;
        size_t length = lengths[k], head = digits > length ? digits - length : 0;
        if (head >= 2 && date_length(text + head, text + digits, true, &year) == length &&
            year >= 1985 && year < 2050)
            return head;
    }
    return digits;
}

static vxs_id_part next_part(const char *from, const char *at, const char *end)
{
    vxs_id_part p = { .apart =
                          at == from || (!is_letter(at[-1]) && !isdigit((unsigned char)at[-1])) };
    unsigned year = 0;
    bool digits = are_digits(at, end, 1);
    size_t length = digits ? date_length(at, end, at > from, &year) : 0;
    p.kind = length > 0 ? VXS_ID_DATE : digits ? VXS_ID_DIGITS : VXS_ID_LETTERS;
    p.text = (vxs_name){ at, length > 0 ? length
                             : digits   ? before_date(at, count_digits(at, end))
                                        : count_letters(at, end) };
    p.visit = p.kind == VXS_ID_DATE;
    if (p.kind == VXS_ID_DIGITS) {
        p.maybe_date = may_be_date(at, p.text.length);
        size_t head = p.text.length > 9 ? p.text.length - 9 : 0;
        p.number = value_of(at + head, p.text.length - head);
    } else if (p.kind == VXS_ID_DATE) {
        p.number = year;
    }
    p.hash = vxs_id_parts_hash(p.text.text, p.text.length);
    return p;
}

/* Classifies a part by its word and by the part after it. */
static void name_part(vxs_id_part *p, const vxs_id_part *next)
{
    static const char *const persons[] = { "p",  "pt",   "pat",     "patient",     "ppt", "sub",
                                           "vp", "subj", "subject", "participant", NULL };
    bool digits = next && next->kind == VXS_ID_DIGITS, glued = digits && !next->apart;
    if (p->kind != VXS_ID_LETTERS)
        return;
    p->certain = vxs_names_occasion(p->text, digits);
    p->visit = p->certain || vxs_may_name_occasion(p->text, glued);
    p->unit = vxs_names_group(p->text);
    for (const char *const *w = persons; *w && digits; w++)
        if (strlen(*w) == p->text.length && strncasecmp(p->text.text, *w, p->text.length) == 0)
            p->person = true;
}

static bool is_punctuation(char c)
{
    return !is_letter(c) && !isdigit((unsigned char)c);
}

/* Splits one id and appends the end; returns the number of parts. */
static size_t split(const char *id, vxs_id_part *part)
{
    vxs_name name = vxs_person_in(id);
    const char *from = name.text, *end = from + name.length;
    size_t count = 0;
    for (const char *at = from; at < end;) {
        if (is_punctuation(*at)) {
            at++;
            continue;
        }
        part[count] = next_part(from, at, end);
        at += part[count++].text.length;
    }
    part[count] = (vxs_id_part){ .apart = true };
    for (size_t k = 0; k < count; k++) {
        part[k + 1].before = part[k].before * BASE + part[k].hash;
        name_part(&part[k], k + 1 < count ? &part[k + 1] : NULL);
    }
    return count + 1;
}

/* Allocates space for an id with a part per character. */
static vxs_status reserve(vxs_id_parts *parts, size_t used, const char *id, size_t *capacity,
                          vxs_error *err)
{
    size_t needed = used + 1 + (id ? strlen(id) : 0);
    if (needed <= *capacity)
        return VXS_OK;
    size_t more = 2 * needed;
    vxs_id_part *part = vxs_resize(parts->part, more, sizeof(*part), err);
    if (!part)
        return VXS_FAILED;
    parts->part = part;
    *capacity = more;
    return VXS_OK;
}

vxs_status vxs_id_parts_split(vxs_id_parts *parts, const char *const *ids, size_t n, vxs_error *err)
{
    size_t capacity = 0;
    *parts = (vxs_id_parts){ .n = n, .first = vxs_alloc(n + 1, sizeof(*parts->first), err) };
    vxs_status status = parts->first ? VXS_OK : VXS_FAILED;
    for (size_t i = 0; i < n && !status; i++) {
        size_t at = parts->first[i];
        status = reserve(parts, at, ids[i], &capacity, err);
        if (status)
            break;
        parts->part[at] = (vxs_id_part){ .apart = true };
        parts->first[i + 1] = at + (ids[i] ? split(ids[i], parts->part + at) : 1);
    }
    return status;
}

void vxs_id_parts_release(vxs_id_parts *parts)
{
    free(parts->part);
    free(parts->first);
}
