/* Persons by the form of their ids: a table of forms that have several scans a person, each of
 * which must be found, and of forms that have one, where a warning would be false. */
#include "tests/core/check.h"
#include "tests/core/faults.h"

#include "cohort/build.h"

#include <time.h>

/* Forms are text with places in braces: {pN} is the person's number with N digits, {c} a code of
 * the person, {i} initials, {v:a|b|c} the visit, {s:a|b} a site of the person, {rN} a random number
 * of N digits, {h} one of eight in base 16, {a} the age at the visit, {dFORMAT} its date as
 * strftime writes it. */
typedef struct {
    size_t persons, visits;
    int keep;    /* of 100 later visits */
    bool sparse; /* numbers have gaps */
    const char *form;
} design;

enum { MOST = 620, LENGTH = 160 };
static char text[MOST][LENGTH];
static const char *ids[MOST];
static vxs_name name[MOST];
static size_t owner[MOST], number[MOST];
static uint64_t state;

static unsigned draw(unsigned below)
{
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (unsigned)(state >> 33) % below;
}

/* The same for a person at each visit. */
static unsigned of_person(size_t p, unsigned salt, unsigned below)
{
    uint64_t x = (p + 1) * 0x9E3779B97F4A7C15U + salt * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return (unsigned)((x ^ (x >> 31)) % below);
}

/* Of "a|b|c". */
static size_t copy_choice(char *to, const char *from, const char *end, unsigned which)
{
    size_t length = 0;
    for (; which > 0 && from < end; from++)
        which -= *from == '|';
    while (from + length < end && from[length] != '|')
        length++;
    memcpy(to, from, length);
    return length;
}

static unsigned count_choices(const char *from, const char *end)
{
    unsigned count = 1;
    for (; from < end; from++)
        count += *from == '|';
    return count;
}

static size_t write_date(char *to, const char *from, const char *end, size_t p, size_t v)
{
    char format[40];
    snprintf(format, sizeof(format), "%.*s", (int)(end - from), from);
    time_t when = 1420070400 + (time_t)of_person(p, 1, 94608000) + (time_t)v * 31536000 +
                  (v > 0 ? (time_t)of_person(p, 2 + (unsigned)v, 5000000) : 0);
    struct tm day;
    cr_assert(gmtime_r(&when, &day) != NULL);
    return strftime(to, 60, format, &day);
}

static size_t write_letters(char *to, size_t p, unsigned salt, size_t count, const char *letters)
{
    for (size_t k = 0; k < count; k++)
        to[k] = letters[of_person(p, salt + (unsigned)k, (unsigned)strlen(letters))];
    return count;
}

static size_t fill(char *to, const char *from, const char *end, const design *d, size_t p, size_t v)
{
    size_t sparse = d->sparse ? 6 * p + of_person(p, 9, 6) + 1 : p + 1;
    switch (*from) {
    case 'p':
        return (size_t)sprintf(to, "%0*zu", from[1] - '0', sparse);
    case 'c':
        return write_letters(to, p, 20, 8, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    case 'i':
        return write_letters(to, p, 40, 2, "ABCDEFGHIJKLMNOPRSTW");
    case 'v':
        return copy_choice(to, from + 2, end, (unsigned)v);
    case 's':
        return copy_choice(to, from + 2, end, of_person(p, 7, count_choices(from + 2, end)));
    case 'r':
        return (size_t)sprintf(to, "%u%0*u", 1 + draw(9), from[1] - '1', draw(1000));
    case 'h':
        return (size_t)sprintf(to, "%04x%04x", draw(65536), draw(65536));
    case 'a':
        return (size_t)sprintf(to, "%zu", 20 + of_person(p, 11, 60) + 2 * v);
    default:
        return write_date(to, from + 1, end, p, v);
    }
}

static void write_id(char *to, const design *d, size_t p, size_t v)
{
    for (const char *at = d->form; *at; at++) {
        if (*at != '{') {
            *to++ = *at;
            continue;
        }
        const char *end = strchr(at, '}');
        cr_assert(end != NULL);
        to += fill(to, at + 1, end, d, p, v);
        at = end;
    }
    *to = '\0';
}

static size_t write_ids(const design *d)
{
    size_t n = 0;
    state = d->persons + d->visits;
    for (size_t p = 0; p < d->persons; p++)
        for (size_t v = 0; v < d->visits; v++)
            if (v == 0 || (int)draw(100) < d->keep) {
                write_id(text[n], d, p, v);
                owner[n++] = p;
            }
    for (size_t i = n; i-- > 1;) { /* in no order */
        size_t k = draw((unsigned)i + 1), one = owner[i];
        char id[LENGTH];
        memcpy(id, text[i], LENGTH);
        memcpy(text[i], text[k], LENGTH);
        memcpy(text[k], id, LENGTH);
        owner[i] = owner[k];
        owner[k] = one;
    }
    for (size_t i = 0; i < n; i++)
        ids[i] = text[i];
    return n;
}

/* How many persons the form shows; 0: each id is one. */
static size_t look(size_t n)
{
    vxs_error err = VXS_ERROR_INIT;
    size_t count = 0;
    WORKS(vxs_shape_of_ids(ids, n, 0, number, &count, &err), err);
    return count;
}

/* Ids of one person are one, by a word or by form, and no others. */
static void find_all(const design *d)
{
    size_t n = write_ids(d), count = look(n);
    for (size_t i = 0; i < n; i++)
        name[i] = vxs_person_in(ids[i]);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++) {
            bool one = count > 0 ? number[i] == number[k] : !vxs_compare_names(name[i], name[k]);
            cr_assert((owner[i] == owner[k]) == one,
                      "%s, %zu persons, %zu visits, %d%% kept%s: %s and %s", d->form, d->persons,
                      d->visits, d->keep, d->sparse ? ", sparse" : "", ids[i], ids[k]);
        }
}

static void find_form(const char *form)
{
    static const size_t persons[] = { 12, 40, 70 };
    static const struct {
        size_t visits;
        int keep;
    } kept[] = { { 2, 100 }, { 2, 60 }, { 3, 80 }, { 2, 30 } };
    for (int k = 0; k < 3; k++)
        for (int h = 0; h < 4; h++)
            for (int sparse = 0; sparse < 2; sparse++)
                find_all(&(design){ persons[k], kept[h].visits, kept[h].keep, sparse, form });
}

/* ---- Forms of visits ------------------------------------------------------------------------- */

static const char *const visits[] = { "BL|FU|FU2",
                                      "pre|post|late",
                                      "2017|2020|2023",
                                      "baselineassessment|followupassessment|lastassessment",
                                      "baseline_year_1_arm_1|2_year_follow_up_y_arm_1|"
                                      "4_year_follow_up_y_arm_1",
                                      "first|second|third",
                                      "scan|rescan|again",
                                      "A|B|C",
                                      "1|2|3",
                                      "01|02|03",
                                      "V1|V2|V3",
                                      "M00|M12|M24",
                                      "18y|20y|22y",
                                      "I|II|III",
                                      "placebo|verum|washout",
                                      "2017-18|2019-20|2021-22" };

Test(id_shapes, visits_behind_the_person)
{
    static const char *const before[] = { "sub-{p3}_",   "{p3}_", "{p3}-",
                                          "{p3}.",       "{p3}:", "{p3}+",
                                          "{p3} ",       "{p3}~", "{s:MUC|BER}_{p3}_",
                                          "NDARINV{c}_", "{c}-" };
    char form[LENGTH];
    for (size_t k = 0; k < sizeof(before) / sizeof(before[0]); k++)
        for (size_t v = 0; v < sizeof(visits) / sizeof(visits[0]); v++) {
            snprintf(form, sizeof(form), "%s{v:%s}", before[k], visits[v]);
            find_form(form);
        }
}

Test(id_shapes, visits_in_the_middle)
{
    char form[LENGTH];
    for (size_t v = 0; v < sizeof(visits) / sizeof(visits[0]); v++) {
        snprintf(form, sizeof(form), "S{p3}-{v:%s}-MRI", visits[v]);
        find_form(form);
    }
    static const char *const words[] = { "BL|FU|FU2",      "V1|V2|V3",
                                         "T0|T1|T2",       "visit1|visit2|visit3",
                                         "pre|post|post2", NULL };
    static const char *const around[] = { "MUC_{v:%s}_{p3}", "{s:MUC|BER|KOL}_{v:%s}_{p3}",
                                          "{s:MUC|BER|KOL}-{v:%s}-S{p3}", "{v:%s}_{p3}", NULL };
    for (int w = 0; words[w]; w++)
        for (int a = 0; around[a]; a++) {
            const char *gap = strstr(around[a], "%s");
            snprintf(form, sizeof(form), "%.*s%s%s", (int)(gap - around[a]), around[a], words[w],
                     gap + 2);
            find_form(form);
        }
}

Test(id_shapes, dates)
{
    static const char *const forms[] = { "{p3}_{d%Y%m%d}",         "sub-{p3}_{d%Y-%m-%d}",
                                         "{p3}_{d%d.%m.%Y}",       "P{p3} {d%Y-%m-%dT%H:%M:%S}",
                                         "P{p3}_{d%Y%m%dT%H%M%S}", "P{p3}_{d%Y%m%d%H%M%S}",
                                         "P{p3}_{d%Y%m%d_%H%M%S}", "P{p3}_{d%Y-%m-%d_%H-%M-%S}",
                                         "P{p3}_{d%d%b%Y}",        "P{p3}_{d%y%m%d}",
                                         "P{p3}_{d%Y-%m}",         "P{p3}_{d%Y%m%d}_T1",
                                         "{d%Y-%m-%d}_{p3}",       "{s:MUC|BER}_{d%Y%m%d}_{p3}",
                                         "NDARINV{c}_{d%Y%m%d}",   NULL };
    for (int k = 0; forms[k]; k++)
        find_form(forms[k]);
}

Test(id_shapes, without_punctuation)
{
    static const char *const forms[] = {
        "{p3}{v:A|B|C}",          "1{p3}{v:a|b|c}",
        "sub-{p3}{v:a|b|c}",      "sub{p3}{v:T1|T2|T3}",
        "S{p3}{v:pre|post|late}", "{i}{p3}{v:Vorher|Nachher|Spaeter}",
        "1{p3}{v:1|2|3}",         "P{p3}{v:|_rescan|_again}",
        "{p3}{v:| (2)| (3)}",     NULL
    };
    for (int k = 0; forms[k]; k++)
        find_form(forms[k]);
}

/* Tails that no two scans share: nothing but counts shows the persons. */
Test(id_shapes, tails_of_scans)
{
    static const char *const forms[] = { "3{p3}_I{r7}", "{s:MUC|BER}_S_{p4}_I{r7}",
                                         "P{p3}_{r7}",  "{p3}-{r7}",
                                         "P{p3}_{h}",   "P{p3}_{a}.{v:3|5|8}",
                                         "P{p3}_{a}y",  "IXI{p3}-{s:Guys|HH|IOP}-{r7}-T1",
                                         NULL };
    for (int k = 0; forms[k]; k++)
        for (size_t persons = 40; persons <= 200; persons *= 5)
            for (int sparse = 0; sparse < 2; sparse++) {
                find_all(&(design){ persons, 2, 100, sparse, forms[k] });
                find_all(&(design){ persons, 2, 60, sparse, forms[k] });
                find_all(&(design){ persons, 3, 60, sparse, forms[k] });
            }
    find_form("{p4}{d%Y%m%d}");
    find_form("{p4}{d%Y%m%d%H%M}");
}

Test(id_shapes, words_before_the_person)
{
    static const char *const forms[] = { "{v:time1|time2|time3}_{p3}",
                                         "{v:Besuch1|Besuch2|Besuch3}_{p3}",
                                         "{v:2019|2020|2021}_P{p3}", NULL };
    for (int k = 0; forms[k]; k++)
        for (size_t persons = 12; persons <= 70; persons += 29)
            find_all(&(design){ persons, 2, 100, false, forms[k] });
}

/* Some of 157 have another scan, or three have a number that nobody without it has. */
Test(id_shapes, few_scans_again)
{
    for (size_t extra = 2; extra <= 3; extra++)
        for (size_t first = 0; first <= 200; first += 200) {
            size_t n = 0;
            for (size_t p = 1; p <= 157; p++)
                sprintf(text[n++], "P%03zu", p);
            for (size_t p = 1; p <= extra; p++)
                sprintf(text[n++], "P%03zu_2", first + 7 * p);
            for (size_t i = 0; i < n; i++)
                ids[i] = text[i];
            size_t count = look(n);
            cr_assert(count == (first == 0 ? 157 : 0), "%zu again: %zu persons", extra, count);
            cr_assert(count == 0 || number[157] == number[6]);
        }
}

/* ---- Forms of one scan a person -------------------------------------------------------------- */

static void find_none(const char *form)
{
    static const size_t persons[] = { 24, 80, 600 };
    for (int k = 0; k < 3; k++)
        for (int sparse = 0; sparse < 2; sparse++) {
            size_t n = write_ids(&(design){ persons[k], 1, 0, sparse, form }), count = look(n);
            cr_assert(count == 0, "%s, %zu ids%s, such as %s: %zu persons", form, n,
                      sparse ? ", sparse" : "", ids[0], count);
        }
}

Test(id_shapes, one_scan_a_person)
{
    static const char *const forms[] = { "sub-{p3}",
                                         "{p1}",
                                         "P{p4}",
                                         "{c}",
                                         "NDAR_INV{c}",
                                         "{s:NYU|UCLA|KKI}_{p3}",
                                         "{s:002|011|023|036|041}_S_{p4}",
                                         "{p3}_T1w",
                                         "S{p3}-BL-MRI",
                                         "{p3}_2017",
                                         "{d%Y%m%d}_{p3}",
                                         "{p3}_{d%Y%m%d}",
                                         "{d%Y%m%d_%H%M%S}",
                                         "{i}{p3}",
                                         "{p3}_{i}",
                                         "{s:M|F}{p3}",
                                         "{p3}{s:M|F}",
                                         "{p3}_{s:HC|PT}",
                                         "{p3}_{s:2015|2016|2017}",
                                         "{s:MUC|BER}-{s:C|P}-{p3}",
                                         "P{p3}_E{r5}",
                                         "P{p3}_V1",
                                         "row-{p6}",
                                         "{s:011|012|013}_{r7}",
                                         "{p3}_{a}y",
                                         "{i}{p3}_{r7}",
                                         "{c}_{h}",
                                         "{p3}.0",
                                         "{s:A|B|C|D|E|F|G|H|I|J}M_{d%Y%m%d}_{p3}",
                                         NULL };
    for (int k = 0; forms[k]; k++)
        find_none(forms[k]);
}

/* Numbers that begin again with 1 at each site, of which one has more than the other. */
static void find_no_restart(const char *form, const char *const *heads, size_t many)
{
    size_t n = 0;
    for (size_t h = 0; heads[h]; h++)
        for (size_t k = 1; k <= many - many * h / 3; k++) {
            snprintf(text[n], LENGTH, form, heads[h], (int)k);
            ids[n] = text[n];
            n++;
        }
    size_t count = look(n);
    cr_assert(count == 0, "%s, %zu ids, such as %s: %zu persons", form, n, ids[0], count);
}

Test(id_shapes, numbers_that_begin_again)
{
    static const char *const sites[][4] = { { "A", "B", "C" },
                                            { "NYU", "UCLA", "KKI" },
                                            { "HC", "PT" },
                                            { "control", "patient" },
                                            { "site1", "site2", "site3" },
                                            { "C1", "C2", "C3" },
                                            { "S1", "S2" },
                                            { "1", "2", "3" },
                                            { "2015", "2016", "2017" },
                                            { "site-MUC", "site-BER" },
                                            { "101", "102", "103" } };
    for (size_t s = 0; s < sizeof(sites) / sizeof(sites[0]); s++)
        for (size_t many = 15; many < 200; many *= 3) {
            find_no_restart("%s_%02d", sites[s], many);
            find_no_restart("%s-%d", sites[s], many);
            find_no_restart("study_%s_%03d", sites[s], many);
        }
}

/* Sites have many subjects each, or subjects that are counted through; families as well. */
Test(id_shapes, numbers_of_subjects_at_sites)
{
    static const char *const forms[] = { "%03u_%07u", "C%02u_%05u", "%03u_S_%04u", "%u01_%u",
                                         "site%u_%07u" };
    for (size_t k = 0; k < sizeof(forms) / sizeof(forms[0]); k++)
        for (unsigned sites = 5; sites <= 40; sites *= 2)
            for (unsigned each = 6; each * sites <= 600; each *= 3) {
                size_t n = 0;
                for (unsigned s = 1; s <= sites; s++)
                    for (unsigned j = 0; j < each - each * s / (2 * sites); j++, n++) {
                        unsigned subject = (unsigned)n * 7919 % 600 * (k == 1 ? 90 : 9);
                        sprintf(text[n], forms[k], s, 1000 + subject);
                        ids[n] = text[n];
                    }
                size_t count = look(n);
                cr_assert(count == 0, "%u sites with up to %u, such as %s: %zu", sites, each,
                          ids[0], count);
            }
    size_t n = 0;
    for (unsigned f = 1; f <= 80; f++)
        for (unsigned j = 0; j < 1 + f % 4; j++, n++) {
            sprintf(text[n], "F%03u_%04u", f, 1000 + (unsigned)n);
            ids[n] = text[n];
        }
    size_t count = look(n);
    cr_assert(count == 0, "families: %zu", count);
}

/* Numbers with gaps, the same under each head: no site has them by chance. */
Test(id_shapes, numbers_that_are_missing_everywhere)
{
    find_all(&(design){ 60, 2, 100, true, "{v:before|after}_{p3}" });
    find_all(&(design){ 60, 2, 60, true, "{v:before|after}_{p3}" });
    find_all(&(design){ 60, 2, 100, true, "MUC-{v:2017|2020}-{p3}" });
}

/* ---- Two sources, speed, memory -------------------------------------------------------------- */

Test(id_shapes, another_visit_of_a_known_person)
{
    static const struct {
        const char *one, *other;
        bool linked;
    } pairs[] = { { "sub-%03d_2017", "sub-%03d_2020", true },
                  { "MUC_V1_%03d", "MUC_V2_%03d", true },
                  { "NDARINV%03dX_baseline_year_1_arm_1", "NDARINV%03dX_2_year_follow_up_y_arm_1",
                    true },
                  { "%03d", "%03da", true },
                  { "NYU_%03d", "UCLA_%03d", false },
                  { "P%03d", "Q%03d", false },
                  { "1%03d", "2%03d", false },
                  { "MUC_20150225_%03d", "MUC_20160409_1%02d", false } };
    for (size_t k = 0; k < sizeof(pairs) / sizeof(pairs[0]); k++) {
        vxs_error err = VXS_ERROR_INIT;
        size_t count = 0;
        for (int p = 0; p < 20; p++) {
            snprintf(text[p], LENGTH, pairs[k].one, p + 1);
            ids[p] = text[p];
        }
        snprintf(text[20], LENGTH, pairs[k].other, 7);
        ids[20] = text[20];
        WORKS(vxs_shape_of_ids(ids, 21, 20, number, &count, &err), err);
        cr_assert((count > 0) == pairs[k].linked, "%s", ids[20]);
        cr_assert(count == 0 || number[20] == number[6], "%s", ids[20]);
    }
}

Test(id_shapes, another_tail_of_a_known_person)
{
    vxs_error err = VXS_ERROR_INIT;
    size_t count = 0;
    for (unsigned i = 0; i <= 60; i++) {
        sprintf(text[i], "%u_I%u", 3001 + (i < 60 ? i / 2 : 7), 200000 + i * 7919);
        ids[i] = text[i];
    }
    WORKS(vxs_shape_of_ids(ids, 61, 60, number, &count, &err), err);
    cr_assert(count == 30 && number[60] == number[14], "%zu", count);
    strcpy(text[60], "4001_I123456");
    WORKS(vxs_shape_of_ids(ids, 61, 60, number, &count, &err), err);
    cr_assert(count == 0, "%zu", count);
}

Test(id_shapes, punctuation_is_nobody)
{
    vxs_error err = VXS_ERROR_INIT;
    size_t count = 0, n = write_ids(&(design){ 12, 2, 100, false, "{p3}_{v:1|2}" });
    ids[n] = "+++";
    ids[n + 1] = "-";
    ids[n + 2] = "";
    ids[n + 3] = NULL;
    WORKS(vxs_shape_of_ids(ids, n + 4, 0, number, &count, &err), err);
    cr_assert(count == 12, "%zu", count);
    for (size_t i = 0; i < n + 4; i++)
        cr_assert((number[i] == VXS_NO_PERSON) == (i >= n), "%zu", i);
}

Test(id_shapes, fifty_thousand)
{
    enum { MANY = 50000 };
    vxs_error err = VXS_ERROR_INIT;
    char(*many)[LENGTH] = calloc(MANY, LENGTH);
    const char **list = calloc(MANY, sizeof(*list));
    size_t *of = calloc(MANY, sizeof(*of)), count = 0;
    design d = { .form = "NDARINV{c}_{v:baseline_year_1_arm_1|2_year_follow_up_y_arm_1}" };
    for (size_t i = 0; i < MANY; i++) {
        write_id(many[i], &d, i / 2, i % 2);
        list[i] = many[i];
    }
    clock_t from = clock();
    WORKS(vxs_shape_of_ids(list, MANY, 0, of, &count, &err), err);
    double seconds = (double)(clock() - from) / CLOCKS_PER_SEC;
    cr_assert(count == MANY / 2, "%zu", count);
    cr_assert(seconds < 20, "%g", seconds); /* half a second, but for sanitizers */
    free(many);
    free((void *)list);
    free(of);
}

static size_t again;

static vxs_status look_again(vxs_error *err)
{
    size_t count = 0;
    return vxs_shape_of_ids(ids, again, 0, number, &count, err);
}

Test(id_shapes, memory_that_fails)
{
    again = write_ids(&(design){ 12, 2, 100, false, "{v:1|2}_{p3}" });
    cr_assert(fail_each_request(look_again) > 8);
    again = write_ids(&(design){ 20, 2, 100, false, "P{p3}_{a}.{v:3|5}" });
    cr_assert(fail_each_request(look_again) > 20);
}
