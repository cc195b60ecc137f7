/* person_names.c - recognizes persons in ids, before a session, a visit or the like, and in headers
 * of columns. */
#include "cohort/build.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* ---- In ids ---------------------------------------------------------------------------------- */

static bool is_separator(char c)
{
    return c != '\0' && strchr("_-./ ", c);
}

/* True for a BIDS entity: "ses-2", "run-1". */
static bool is_entity(const char *text)
{
    size_t letters = 0;
    while (isalpha((unsigned char)text[letters]))
        letters++;
    return letters > 0 && text[letters] == '-';
}

/* A word for a visit or a scan, with a number after it or alone. */
typedef struct {
    const char *word;
    bool number;
} occasion;

static const occasion occasions[] = {
    { "ses", true },   { "session", true },   { "visit", true },   { "run", true },
    { "wave", true },  { "timepoint", true }, { "tp", true },      { "month", true },
    { "year", true },  { "week", true },      { "day", true },     { "baseline", false },
    { "bl", false },   { "followup", false }, { "fu", false },     { "pre", false },
    { "post", false }, { "rescan", false },   { "retest", false }, { NULL, false },
};

/* True for a word for a visit with its number and no more before the next separator: "ses-2",
 * "visit02", "bl". */
static bool is_occasion(const char *text)
{
    size_t letters = 0;
    while (isalpha((unsigned char)text[letters]))
        letters++;
    const char *rest = text + letters;
    rest += is_separator(*rest) && isdigit((unsigned char)rest[1]);
    size_t digits = strspn(rest, "0123456789");
    if (rest[digits] != '\0' && !is_separator(rest[digits]))
        return false;
    for (const occasion *o = occasions; o->word; o++)
        if (strlen(o->word) == letters && strncasecmp(text, o->word, letters) == 0)
            return digits > 0 || !o->number;
    return false;
}

bool vxs_names_occasion(vxs_name word, bool number)
{
    for (const occasion *o = occasions; o->word; o++)
        if (strlen(o->word) == word.length && strncasecmp(word.text, o->word, word.length) == 0)
            return number || !o->number;
    return false;
}

static bool is_end(char c)
{
    return c == '\0' || is_separator(c);
}

/* Ambiguous words, for a visit, a scan or another person: P01_V2, OAS2_0001_MR1, 002_S_0295_m12. */
static const occasion perhaps[] = {
    { "v", true },       { "t", true },         { "m", true },      { "s", true },
    { "d", true },       { "y", true },         { "w", true },      { "i", true },
    { "mr", true },      { "mri", true },       { "pet", true },    { "ct", true },
    { "scan", true },    { "sess", true },      { "exam", true },   { "vis", true },
    { "rep", true },     { "time", true },      { "besuch", true }, { "visite", true },
    { "messung", true }, { "zeitpunkt", true }, { "termin", true }, { "sitzung", true },
    { "visita", true },  { "sc", false },       { "scmri", false }, { NULL, false },
};

bool vxs_may_name_occasion(vxs_name word, bool number)
{
    for (const occasion *o = perhaps; o->word; o++)
        if (strlen(o->word) == word.length && strncasecmp(word.text, o->word, word.length) == 0)
            return number == o->number;
    return false;
}

/* True if the text has the form, in which 0 stands for a digit, '-' for a separator. */
static bool has_form(const char *text, const char *form)
{
    for (; *form; form++, text++)
        if (*form == '0' ? !isdigit((unsigned char)*text) : !is_separator(*text))
            return false;
    return is_end(*text);
}

/* True for "20210412" and "2021-04-12". */
bool vxs_is_date(const char *text)
{
    bool century = strncmp(text, "19", 2) == 0 || strncmp(text, "20", 2) == 0;
    return century && (has_form(text, "00000000") || has_form(text, "0000-00-00"));
}

/* The position of "sub-" at the start of a name, or NULL. */
static const char *find_label(const char *id)
{
    for (const char *at = id; *at; at++)
        if ((at == id || is_separator(at[-1])) && strncasecmp(at, "sub-", 4) == 0)
            return at;
    return NULL;
}

static bool has_digit(const char *from, const char *to)
{
    while (from < to && !isdigit((unsigned char)*from))
        from++;
    return from < to;
}

/* True if the person ends at this separator. */
static bool ends_at(const char *from, const char *at, bool label)
{
    if (label && (*at == '/' || (*at == '_' && is_entity(at + 1))))
        return true;
    if (!label && strncasecmp(at, "_ses-", 5) == 0)
        return true;
    return has_digit(from, at) && is_occasion(at + 1);
}

vxs_name vxs_person_in(const char *id)
{
    const char *label = find_label(id), *from = label ? label + 4 : id, *at = from;
    while (*at && !(at > from && is_separator(*at) && ends_at(from, at, label != NULL)))
        at++;
    return (vxs_name){ id, (size_t)(at - id) };
}

static const char *const units[] = { "site",  "cent",   "ctr",   "clinic", "hosp", "scanner", "fam",
                                     "house", "school", "batch", "group",  "pair", NULL };

bool vxs_names_group(vxs_name part)
{
    for (const char *const *u = units; *u; u++)
        for (size_t k = 0; k + strlen(*u) <= part.length; k++)
            if (strncasecmp(part.text + k, *u, strlen(*u)) == 0)
                return true;
    return false;
}

char *vxs_person_of(const char *id, vxs_error *err)
{
    vxs_name name = vxs_name_core(vxs_person_in(id));
    return vxs_format(err, "%.*s", (int)name.length, name.text);
}

/* ---- In headers ------------------------------------------------------------------------------ */

/* Known headers, the likeliest first; case and punctuation are ignored. */
static const char *const known[] = { "participantid", "personid",     "subjectid",  "patientid",
                                     "participant",   "person",       "subject",    "subid",
                                     "sub",           "subjectlabel", "subjectkey", "srcsubjectid",
                                     "subjectname",   "ptid",         "rid" };
#define KNOWN (sizeof(known) / sizeof(known[0]))

/* Headers that need values of the right form: ids of well-known studies, and words for persons with
 * a word for ids. */
static const char *const likely[] = { "eid",    "patno",  "usubjid", "naccid", "oasisid",
                                      "mrn",    "guid",   "pid",     "bidsid", "hcpid",
                                      "abcdid", "ppmiid", "adniid",  NULL };
static const char *const people[] = { "participants", "participant", "subject", "subj",
                                      "sub",          "patient",     "pat",     "person",
                                      "individual",   "proband",     "donor",   "volunteer",
                                      "case",         NULL };
static const char *const ids[] = { "",     "id",    "ids",  "no",    "nr",         "num", "number",
                                   "code", "label", "name", "index", "identifier", "key", NULL };

/* Reduces a header to letters and digits in lower case; false if it is too long. */
static bool plain(const char *header, char *to, size_t room)
{
    size_t n = 0;
    for (; *header; header++) {
        if (strchr("_-. ", *header))
            continue;
        if (n + 1 >= room)
            return false;
        to[n++] = (char)tolower((unsigned char)*header);
    }
    to[n] = '\0';
    return n > 0;
}

static bool is_one_of(const char *text, const char *const *list)
{
    while (*list && strcmp(text, *list) != 0)
        list++;
    return *list != NULL;
}

vxs_person_rank vxs_rank_header(const char *header)
{
    char text[64];
    if (!plain(header, text, sizeof(text)))
        return VXS_NO_PERSON_HEADER;
    for (size_t k = 0; k < KNOWN; k++)
        if (strcmp(text, known[k]) == 0)
            return (vxs_person_rank)k;
    if (is_one_of(text, likely))
        return VXS_LIKELY_PERSON_HEADER;
    for (const char *const *p = people; *p; p++)
        if (strncmp(text, *p, strlen(*p)) == 0 && is_one_of(text + strlen(*p), ids))
            return VXS_LIKELY_PERSON_HEADER;
    return VXS_NO_PERSON_HEADER;
}

/* Words for groups of persons, or for parts of one person's data. */
static const char *const others[] = { "famil",  "house",  "site",     "center", "centre",
                                      "scan",   "ses",    "study",    "group",  "visit",
                                      "mother", "father", "twin",     "pair",   "image",
                                      "series", "device", "cohort",   "batch",  "run",
                                      "fold",   "school", "protocol", "region", NULL };

bool vxs_header_names_ids(const char *header)
{
    char text[64];
    if (!plain(header, text, sizeof(text)))
        return false;
    size_t length = strlen(text);
    for (const char *const *o = others; *o; o++)
        if (strstr(text, *o))
            return false;
    if (vxs_rank_header(header) != VXS_NO_PERSON_HEADER)
        return true;
    for (const char *const *end = ids + 1; *end; end++) {
        size_t tail = strlen(*end);
        if (length >= tail && strcmp(text + length - tail, *end) == 0)
            return length == tail || strchr("_-. ", header[strlen(header) - tail - 1]) ||
                   isupper((unsigned char)header[strlen(header) - tail]);
    }
    return false;
}

/* Words for groups, alone or with a word for ids after them. */
static const char *const shared[] = {
    "family",   "familyid",    "familyno",  "famid",     "household", "householdid", "site",
    "siteid",   "center",      "centre",    "centerid",  "centreid",  "pair",        "pairid",
    "group",    "groupid",     "session",   "sessionid", "visit",     "visitid",     "scanner",
    "device",   "batch",       "school",    "schoolid",  "fold",      "run",         "cohort",
    "protocol", "age",         "birthyear", "year",      "date",      "education",   "matchid",
    "match",    "matchedpair", "score",     "motherid",  "fatherid",  "mother",      "father",
    NULL
};

bool vxs_header_names_others(const char *header)
{
    char text[64];
    return plain(header, text, sizeof(text)) && is_one_of(text, shared);
}

static const char *const sexes[] = { "sex", "gender", "male", "female", "geschlecht", NULL };

bool vxs_header_names_sex(const char *header)
{
    char text[64];
    return plain(header, text, sizeof(text)) && is_one_of(text, sexes);
}
