/* suspicions.c - warns of subjects that may be one person without certain evidence: a column with
 * the header of ids, a column with values distributed like persons, the form of the ids, or persons
 * that differ only in spelling. The warning appears when the cohort is made; cohort.json keeps it
 * for all later results. */
#include "cohort/build.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Messages -------------------------------------------------------------------------------- */

/* `header` NULL: the evidence is in the ids. */
static char *in_words(const char *header, const char *id_header, const char *one, const char *other,
                      vxs_error *err)
{
    if (header)
        return vxs_format(err,
                          "'%s' and '%s' have one value in column '%s', but are taken for two "
                          "persons; pass --person %s to 'voxsift cohort' if they are one, or "
                          "--person %s if each row is a person",
                          one, other, header, header, id_header);
    return vxs_format(err,
                      "'%s' and '%s' are taken for two persons; if they are one, pass --person "
                      "with a column that says so to 'voxsift cohort', or --person %s if each row "
                      "is a person",
                      one, other, id_header);
}

/* The warning about persons that differ only in spelling; a person's name may be its subject's id.
 */
static char *spelled_in_words(const char *id_header, const char *const id[2],
                              const char *const person[2], vxs_error *err)
{
    static const char form[] = "differ only in how they are written (zeros, capitals, Unicode), "
                               "but are taken for two persons; write them alike if they are one, "
                               "or pass --person";
    if (strcmp(id[0], person[0]) == 0 && strcmp(id[1], person[1]) == 0)
        return vxs_format(err, "'%s' and '%s' %s %s to 'voxsift cohort' if each row is a person",
                          id[0], id[1], form, id_header);
    return vxs_format(err,
                      "the persons '%s' and '%s' of '%s' and '%s' %s %s to 'voxsift cohort' if "
                      "each row is a person",
                      person[0], person[1], id[0], id[1], form, id_header);
}

/* ---- Cohort under construction --------------------------------------------------------------- */

typedef struct {
    vxs_build *build;
    const vxs_table *tables[2];
    size_t *person; /* per subject: its person in the cohort */
    size_t people;
    bool repeats; /* some person has several subjects */
} search;

static const char *cell_of(const search *w, int t, size_t j, size_t i)
{
    const vxs_subject *s = &w->build->subjects[i];
    size_t row = t == 0 ? s->row : i;
    return s->reason || row == NO_ROW ? NULL : vxs_table_cell(w->tables[t], row, j);
}

static size_t columns_of(const vxs_table *table)
{
    return table ? vxs_table_columns(table) : 0;
}

static vxs_status number_column(const search *w, int t, size_t j, size_t *number, size_t *count,
                                size_t *present, vxs_error *err)
{
    size_t n = w->build->count;
    vxs_name *names = vxs_alloc(n, sizeof(*names), err);
    *present = 0;
    for (size_t i = 0; i < n && names; i++) {
        const char *cell = cell_of(w, t, j, i);
        names[i] = cell ? vxs_person_in(cell) : (vxs_name){ NULL, 0 };
        *present += cell != NULL;
    }
    vxs_status status = names ? vxs_number_names(names, n, number, count, err) : VXS_FAILED;
    free(names);
    return status;
}

/* Finds two subjects that are one person by `number` and two in the cohort. */
static bool find_pair(const search *w, const size_t *number, size_t count, size_t *first,
                      size_t *one, size_t *other)
{
    for (size_t p = 0; p < count; p++)
        first[p] = VXS_NO_PERSON;
    for (size_t i = 0; i < w->build->count; i++) {
        if (number[i] == VXS_NO_PERSON || w->person[i] == VXS_NO_PERSON)
            continue;
        size_t *seen = &first[number[i]];
        *seen = *seen == VXS_NO_PERSON ? i : *seen;
        if (w->person[*seen] == w->person[i])
            continue;
        *one = *seen;
        *other = i;
        return true;
    }
    return false;
}

static const char *person_of(const vxs_subject *s)
{
    return s->person ? s->person : s->id;
}

static char *pair_in_words(const vxs_build *b, const vxs_suspicion *found, size_t one, size_t other,
                           vxs_error *err)
{
    const vxs_subject *a = &b->subjects[one], *z = &b->subjects[other];
    if (!found->spelling)
        return in_words(found->header, b->id_header, a->id, z->id, err);
    return spelled_in_words(b->id_header, (const char *const[]){ a->id, z->id },
                            (const char *const[]){ person_of(a), person_of(z) }, err);
}

/* Records a suspicion if some pair supports it, and owns `number` then: *number becomes NULL. */
static vxs_status add(const search *w, vxs_suspicion found, size_t **number, size_t count,
                      vxs_error *err)
{
    vxs_build *b = w->build;
    size_t one = 0, other = 0, *first = vxs_alloc(count, sizeof(*first), err);
    bool some = first && find_pair(w, *number, count, first, &one, &other);
    free(first);
    if (!some)
        return first ? VXS_OK : VXS_FAILED;
    vxs_suspicion *more = vxs_resize(b->suspicions, b->suspicion_count + 1, sizeof(*more), err);
    if (!more)
        return VXS_FAILED;
    b->suspicions = more;
    found.number = *number;
    *number = NULL;
    more[b->suspicion_count++] = found;
    char *words = pair_in_words(b, &found, one, other, err);
    if (words)
        vxs_log(b->context, VXS_LOG_CAUTION, "%s", words);
    free(words);
    return words ? VXS_OK : VXS_FAILED;
}

/* Checks a column whose header is like those of ids. */
static vxs_status check_named(const search *w, int t, size_t j, vxs_error *err)
{
    size_t count = 0, present = 0, *number = vxs_alloc(w->build->count, sizeof(*number), err);
    vxs_status status = number ? number_column(w, t, j, number, &count, &present, err) : VXS_FAILED;
    if (!status && count >= VXS_FEW_PERSONS && present <= VXS_MANY_OF_ONE * count)
        status = add(w, (vxs_suspicion){ .header = vxs_table_header(w->tables[t], j) }, &number,
                     count, err);
    free(number);
    return status;
}

static bool is_other(const search *w, const char *header)
{
    const vxs_build *b = w->build;
    return strcmp(header, b->id_header) != 0 &&
           !(b->person_header && strcmp(header, b->person_header) == 0);
}

/* ---- Columns by their values ----------------------------------------------------------------- */

/* Standard deviations: one-sided p = 0.001; for codes (letters and digits, or leading zeros), which
 * are no measurements, a laxer threshold. */
#define CHANCE          3.1
#define CHANCE_OF_CODES (-1.5)
#define MOST_UNLIKE     0.1 /* share of pairs, as by typing errors */
#define ENOUGH_ALIKE    10  /* pairs */
#define LEAST_SHARE     0.2 /* share of the rarer sex */

/* Pairs of subjects with one value, of equal and of different sex; 0 without a column of sex. */
typedef struct {
    size_t alike, unlike;
    bool both; /* both sexes are frequent enough */
} sexes;

static void compare_sexes(const search *w, const size_t *number, size_t j, size_t *first,
                          sexes *found)
{
    size_t n = w->build->count, as_first = 0, present = 0;
    const char *one = NULL;
    for (size_t i = 0; i < n; i++) {
        const char *cell = cell_of(w, 0, j, i);
        if (!cell || number[i] == VXS_NO_PERSON)
            continue;
        one = one ? one : cell;
        present++;
        as_first += strcmp(cell, one) == 0;
        size_t *seen = &first[number[i]];
        if (*seen == VXS_NO_PERSON)
            *seen = i;
        else if (strcmp(cell, cell_of(w, 0, j, *seen)) == 0)
            found->alike++;
        else
            found->unlike++;
    }
    double share = present > 0 ? (double)as_first / (double)present : 1;
    found->both = share >= LEAST_SHARE && share <= 1 - LEAST_SHARE;
}

/* Counts pairs of equal and different sex: persons have one, families and ages both. */
static vxs_status find_sexes(const search *w, const size_t *number, size_t count, sexes *found,
                             vxs_error *err)
{
    size_t *first = vxs_alloc(count, sizeof(*first), err);
    *found = (sexes){ .both = false };
    for (size_t p = 0; p < count && first; p++)
        first[p] = VXS_NO_PERSON;
    for (size_t j = 0; j < columns_of(w->tables[0]) && first; j++)
        if (vxs_header_names_sex(vxs_table_header(w->tables[0], j))) {
            compare_sexes(w, number, j, first, found);
            break;
        }
    free(first);
    return first ? VXS_OK : VXS_FAILED;
}

/* True in *measured for mostly decimal numbers or dates, in *codes for codes of one length. */
static void classify_values(const search *w, size_t j, bool *measured, bool *codes)
{
    size_t decimals = 0, mixed = 0, padded = 0, present = 0, length = 0;
    bool alike = true;
    for (size_t i = 0; i < w->build->count; i++) {
        const char *cell = cell_of(w, 0, j, i), *point = cell ? strchr(cell, '.') : NULL;
        double value = 0;
        if (!cell)
            continue;
        bool number = vxs_parse_real(cell, &value), date = vxs_is_date(cell);
        alike = alike && (present++ == 0 || strlen(cell) == length);
        length = strlen(cell);
        decimals += date || (point && number && value != floor(value));
        padded += number && cell[0] == '0' && isdigit((unsigned char)cell[1]);
        mixed += !number && !date && strpbrk(cell, "0123456789");
    }
    *measured = 2 * decimals >= present;
    *codes = alike && (padded > 0 || 2 * mixed > present);
}

typedef struct {
    size_t column, count;
    size_t *number;
    bool codes;
} likely;

/* Prefers the column with most persons, codes first. */
static vxs_status keep_better(const search *w, size_t j, likely *best, vxs_error *err)
{
    likely c = { .column = j, .number = vxs_alloc(w->build->count, sizeof(*c.number), err) };
    size_t present = 0;
    double evenness = 0;
    sexes found = { .both = false };
    bool measured = true, codes = false;
    vxs_status status =
        c.number ? number_column(w, 0, j, c.number, &c.count, &present, err) : VXS_FAILED;
    bool repeats = !status && 10 * present >= 9 * vxs_build_kept(w->build) &&
                   vxs_shape_repeats(c.number, w->build->count, c.count, &evenness);
    if (repeats)
        status = find_sexes(w, c.number, c.count, &found, err);
    classify_values(w, j, &measured, &codes);
    c.codes = !measured;
    bool crosses = (double)found.unlike > MOST_UNLIKE * (double)(found.alike + found.unlike);
    bool alike = found.both && found.unlike == 0 && found.alike >= ENOUGH_ALIKE;
    bool likely_one =
        repeats && !crosses && (alike || evenness > (codes ? CHANCE_OF_CODES : CHANCE));
    if (!status && likely_one &&
        (!best->number || c.codes > best->codes ||
         (c.codes == best->codes && c.count > best->count))) {
        free(best->number);
        *best = c;
        return VXS_OK;
    }
    free(c.number);
    return status;
}

/* Finds a column whose values are distributed like persons. */
static vxs_status check_columns(const search *w, vxs_error *err)
{
    likely best = { .number = NULL };
    vxs_status status = VXS_OK;
    for (size_t j = 0; j < columns_of(w->tables[0]) && !status; j++) {
        const char *header = vxs_table_header(w->tables[0], j);
        if (is_other(w, header) && !vxs_header_names_others(header))
            status = keep_better(w, j, &best, err);
    }
    if (!status && best.number)
        status = add(w, (vxs_suspicion){ .header = vxs_table_header(w->tables[0], best.column) },
                     &best.number, best.count, err);
    free(best.number);
    return status;
}

/* One id per person; NULL for other subjects and those left out. */
static void list_persons(const search *w, const char **ids, size_t *first)
{
    const vxs_build *b = w->build;
    for (size_t p = 0; p < b->count; p++)
        first[p] = VXS_NO_PERSON;
    for (size_t i = 0; i < b->count; i++) {
        const vxs_subject *s = &b->subjects[i];
        if (w->person[i] == VXS_NO_PERSON || first[w->person[i]] != VXS_NO_PERSON)
            continue;
        first[w->person[i]] = i;
        ids[i] = person_of(s);
    }
}

/* Numbers one id per person; equal numbers: the ids may be one person. */
typedef vxs_status number_ids(const char *const *ids, size_t n, size_t *number, size_t *count,
                              vxs_error *err);

static vxs_status number_by_form(const char *const *ids, size_t n, size_t *number, size_t *count,
                                 vxs_error *err)
{
    return vxs_shape_of_ids(ids, n, 0, number, count, err);
}

static vxs_status check_ids(const search *w, number_ids *number_them, vxs_error *err)
{
    const vxs_build *b = w->build;
    size_t count = 0, *number = vxs_alloc(b->count, sizeof(*number), err);
    size_t *first = vxs_alloc(b->count, sizeof(*first), err);
    const char **ids = vxs_alloc(b->count, sizeof(*ids), err);
    vxs_status status = number && ids && first ? VXS_OK : VXS_FAILED;
    if (!status) {
        list_persons(w, ids, first);
        status = number_them(ids, b->count, number, &count, err);
    }
    for (size_t i = 0; i < b->count && count > 0; i++)
        if (w->person[i] != VXS_NO_PERSON)
            number[i] = number[first[w->person[i]]];
    if (!status && count > 0)
        status = add(w, (vxs_suspicion){ .spelling = number_them == vxs_number_spellings }, &number,
                     count, err);
    free((void *)ids);
    free(first);
    free(number);
    return status;
}

/* Warns of rows whose ids differ in spelling and count as one person: they may be two. */
static vxs_status warn_of_merged(const search *w, vxs_error *err)
{
    const vxs_build *b = w->build;
    size_t *first = vxs_alloc(b->count, sizeof(*first), err);
    for (size_t p = 0; p < b->count && first; p++)
        first[p] = VXS_NO_PERSON;
    for (size_t i = 0; i < b->count && first && !b->person_header; i++) {
        if (w->person[i] == VXS_NO_PERSON)
            continue;
        vxs_name id = { b->subjects[i].id, strlen(b->subjects[i].id) };
        size_t *seen = &first[w->person[i]];
        *seen = *seen == VXS_NO_PERSON ? i : *seen;
        const char *other = b->subjects[*seen].id;
        if (*seen == i || vxs_compare_names(id, (vxs_name){ other, strlen(other) }) != 0)
            continue;
        vxs_log(b->context, VXS_LOG_WARNING,
                "'%s' and '%s' differ only in how they are written, and are taken for one person; "
                "pass --person %s if each row is a person",
                other, id.text, b->id_header);
        break;
    }
    free(first);
    return first ? VXS_OK : VXS_FAILED;
}

static vxs_status check_all(const search *w, vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (int t = 0; t < 2; t++)
        for (size_t j = 0; j < columns_of(w->tables[t]) && !status; j++) {
            const char *header = vxs_table_header(w->tables[t], j);
            if (is_other(w, header) && vxs_header_names_ids(header))
                status = check_named(w, t, j, err);
        }
    bool given = w->build->settings->person, by_ids = !w->build->person_header;
    if (!status && !given && !w->repeats && w->build->suspicion_count == 0)
        status = check_columns(w, err);
    /* words for visits in some ids are no evidence about the others */
    bool by_form = !given && (by_ids || !w->repeats) && !w->build->ids_invented;
    if (!status && by_form && w->build->suspicion_count == 0)
        status = check_ids(w, number_by_form, err);
    if (!status && !w->build->ids_invented)
        status = check_ids(w, vxs_number_spellings, err);
    return status ? status : warn_of_merged(w, err);
}

/* Skips prediction, which needs no persons, and cohorts where --person declares each row a person.
 */
vxs_status vxs_build_suspect(vxs_build *build, const vxs_table *features, vxs_error *err)
{
    const char *given = build->settings->person;
    search w = { .build = build, .tables = { build->table, features } };
    if (build->settings->single || (given && strcmp(given, build->id_header) == 0))
        return VXS_OK;
    w.person = vxs_alloc(build->count, sizeof(*w.person), err);
    vxs_status status =
        w.person ? vxs_build_number_people(build, w.person, &w.people, err) : VXS_FAILED;
    w.repeats = w.people < vxs_build_kept(build);
    if (!status)
        status = check_all(&w, err);
    free(w.person);
    return status;
}

vxs_status vxs_persons_perhaps(const char *const *ids, size_t n, size_t known, size_t *number,
                               size_t *count, vxs_error *err)
{
    vxs_status status = vxs_shape_of_ids(ids, n, known, number, count, err);
    return status || *count > 0 ? status : vxs_number_spellings(ids, n, number, count, err);
}

/* Number of persons if those with equal numbers are one; persons without a number count separately.
 */
static size_t count_by(const vxs_build *b, const size_t *number, const size_t *person, bool *seen,
                       bool *counted)
{
    size_t count = 0;
    for (size_t i = 0; i < b->count; i++)
        seen[i] = counted[i] = false;
    for (size_t i = 0; i < b->count; i++) {
        if (person[i] == VXS_NO_PERSON || counted[person[i]])
            continue;
        counted[person[i]] = true;
        count += number[i] == VXS_NO_PERSON || !seen[number[i]];
        if (number[i] != VXS_NO_PERSON)
            seen[number[i]] = true;
    }
    return count;
}

vxs_status vxs_suspicions_count(const vxs_build *b, const size_t *person, size_t people,
                                size_t *fewest, vxs_error *err)
{
    bool *seen = vxs_alloc(b->count, sizeof(*seen), err);
    bool *counted = vxs_alloc(b->count, sizeof(*counted), err);
    *fewest = people;
    for (size_t k = 0; k < b->suspicion_count && seen && counted; k++) {
        size_t count = count_by(b, b->suspicions[k].number, person, seen, counted);
        *fewest = count < *fewest ? count : *fewest;
    }
    vxs_status status = seen && counted ? VXS_OK : VXS_FAILED;
    free(seen);
    free(counted);
    return status;
}

void vxs_suspicions_release(vxs_build *build)
{
    for (size_t k = 0; k < build->suspicion_count; k++)
        free(build->suspicions[k].number);
    free(build->suspicions);
}

/* ---- cohort.json ----------------------------------------------------------------------------- */

#define KEY "may_be_persons"

void vxs_suspicions_json(vxs_json_writer *w, const vxs_build *build)
{
    vxs_json_open_array(w, KEY);
    for (size_t k = 0; k < build->suspicion_count; k++) {
        const vxs_suspicion *s = &build->suspicions[k];
        vxs_json_open_object(w, NULL);
        vxs_json_text(w, "column", s->header);
        vxs_json_bool(w, "spelling", s->spelling);
        vxs_json_open_array(w, "persons");
        for (size_t i = 0; i < build->count; i++)
            if (!build->subjects[i].reason)
                vxs_json_whole(w, NULL,
                               s->number[i] == VXS_NO_PERSON ? 0 : (int64_t)s->number[i] + 1);
        vxs_json_close_array(w);
        vxs_json_close_object(w);
    }
    vxs_json_close_array(w);
}

static int by_value(const void *a, const void *b)
{
    const double *left = a, *right = b; /* {person, row} */
    if (left[0] != right[0])
        return left[0] < right[0] ? -1 : 1;
    return (left[1] > right[1]) - (left[1] < right[1]);
}

/* Lists {person, row} of the given rows (ascending), without rows that have no person (0). */
static size_t list_rows(const vxs_json *persons, const size_t *rows, size_t n, double (*list)[2])
{
    const vxs_json *item = persons ? persons->first : NULL;
    size_t next = 0, count = 0;
    for (size_t row = 0; item && next < n; row++, item = item->next) {
        if (rows[next] != row)
            continue;
        next++;
        if (item->kind == VXS_JSON_NUMBER && item->number > 0) {
            list[count][0] = item->number;
            list[count++][1] = (double)row;
        }
    }
    return count;
}

static char *rows_in_words(const vxs_cohort *c, const vxs_json *suspicion, size_t one, size_t other,
                           vxs_error *err)
{
    const vxs_json *spelling = vxs_json_get(suspicion, "spelling");
    const char *id[2] = { vxs_cohort_id(c, one), vxs_cohort_id(c, other) }, *person[2];
    size_t rows[2] = { one, other };
    if (!spelling || spelling->kind != VXS_JSON_BOOL || spelling->number == 0)
        return in_words(vxs_json_get_text(suspicion, "column"), vxs_cohort_id_header(c), id[0],
                        id[1], err);
    for (int k = 0; k < 2; k++) {
        const char *cell = c->person_column == VXS_NO_COLUMN
                               ? NULL
                               : vxs_table_cell(c->people, rows[k], c->person_column);
        person[k] = cell ? cell : id[k];
    }
    return spelled_in_words(vxs_cohort_id_header(c), id, person, err);
}

static vxs_status say(const vxs_cohort *c, const vxs_json *suspicion, const size_t *rows, size_t n,
                      char **words, vxs_error *err)
{
    double(*list)[2] = vxs_alloc(n, sizeof(*list), err);
    size_t count = list ? list_rows(vxs_json_get(suspicion, "persons"), rows, n, list) : 0;
    vxs_status status = list ? VXS_OK : VXS_FAILED;
    if (count > 0)
        qsort(list, count, sizeof(*list), by_value);
    for (size_t k = 1; k < count && !*words && !status; k++) {
        size_t one = (size_t)list[k - 1][1], other = (size_t)list[k][1];
        if (list[k][0] != list[k - 1][0] || c->person[one] == c->person[other])
            continue;
        *words = rows_in_words(c, suspicion, one, other, err);
        status = *words ? VXS_OK : VXS_FAILED;
    }
    free(list);
    return status;
}

vxs_status vxs_cohort_suspicion(const vxs_cohort *c, size_t k, const size_t *rows, size_t n,
                                bool *there, char **words, vxs_error *err)
{
    const vxs_json *all = vxs_json_get(c->about, KEY);
    const vxs_json *one = all && all->kind == VXS_JSON_ARRAY ? all->first : NULL;
    for (; one && k > 0; k--)
        one = one->next;
    *there = one != NULL;
    *words = NULL;
    return one ? say(c, one, rows, n, words, err) : VXS_OK;
}
