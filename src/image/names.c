/* names.c - the names of an atlas's labels, in the formats that atlases come with.
 *
 *   1|SFG_L|superior frontal gyrus|1      NUMBER|NAME|..., niistat
 *   1 7Networks_LH_Vis_1 120 18 131 0     Schaefer, FreeSurfer: numbers follow the name
 *   1 0.5 0.2 0.1 Left Hippocampus        FSLeyes: three colors, then the name
 *   1 255 0 0 1 1 1 "Left Hippocampus"    ITK-SNAP
 *   1 Left Hippocampus                    MRIcroGL
 *   1 Precentral_L 2001                   MRIcroGL's AAL: the code is after the name
 *   index<tab>name<tab>...                BIDS; or feature<tab>index<tab>..., of a regional cohort
 *   <label index="0" x= ...>name</label>  FSL
 */
#include "image/names.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_WORDS 32

static vxs_status add(vxs_label_names *names, int64_t value, const char *name, size_t length,
                      vxs_error *err)
{
    if (value < INT32_MIN || value > INT32_MAX)
        return VXS_OK;
    vxs_label_name *rows = vxs_resize(names->rows, names->count + 1, sizeof(*rows), err);
    if (!rows)
        return VXS_FAILED;
    names->rows = rows;
    char *bytes = vxs_format(err, "%.*s", (int)length, name);
    rows[names->count].value = (int32_t)value;
    rows[names->count].name = bytes ? vxs_shown(bytes, err) : NULL;
    free(bytes);
    if (!rows[names->count].name)
        return VXS_FAILED;
    names->count++;
    return VXS_OK;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static size_t trimmed(const char *text, size_t length)
{
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        length--;
    return length;
}

typedef struct {
    const char *start[MAX_WORDS], *line_end;
    size_t length[MAX_WORDS], count;
} words;

static bool is_number(const words *w, size_t k)
{
    char text[64];
    double value = 0;
    if (w->length[k] >= sizeof(text))
        return false;
    memcpy(text, w->start[k], w->length[k]);
    text[w->length[k]] = '\0';
    return vxs_parse_real(text, &value);
}

static void split(const char *line, const char *end, words *w)
{
    w->count = 0;
    w->line_end = line + trimmed(line, (size_t)(end - line));
    while (line < w->line_end && w->count < MAX_WORDS) {
        while (line < w->line_end && isspace((unsigned char)*line))
            line++;
        w->start[w->count] = line;
        while (line < w->line_end && !isspace((unsigned char)*line))
            line++;
        w->length[w->count] = (size_t)(line - w->start[w->count]);
        w->count += w->length[w->count] > 0;
    }
}

static bool numbers_between(const words *w, size_t first, size_t last)
{
    for (size_t k = first; k < last; k++)
        if (k >= w->count || !is_number(w, k))
            return false;
    return true;
}

/* Finds the name in a line of words. */
static void find_name(const words *w, const char **name, size_t *length)
{
    const char *quote = memchr(w->start[0], '"', (size_t)(w->line_end - w->start[0]));
    const char *closing = w->line_end - 1;
    size_t first = 1;
    if (quote && closing > quote && *closing == '"') {
        *name = quote + 1;
        *length = (size_t)(closing - quote - 1);
        return;
    }
    if (w->count > 4 && numbers_between(w, 1, 4))
        first = 4; /* colors before the name */
    bool colors_behind = first == 1 && w->count > 4 && numbers_between(w, 2, w->count);
    *name = w->start[first];
    *length = colors_behind ? w->length[1] : (size_t)(w->line_end - w->start[first]);
}

static vxs_status read_line(vxs_label_names *names, const char *line, const char *end,
                            vxs_error *err)
{
    char number[24];
    int64_t value = 0;
    const char *name = NULL;
    size_t length = 0;
    words w;
    const char *bar = memchr(line, '|', (size_t)(end - line));
    split(line, bar ? bar : end, &w);
    if (w.count == 0 || w.length[0] >= sizeof(number))
        return VXS_OK;
    memcpy(number, w.start[0], w.length[0]);
    number[w.length[0]] = '\0';
    if (!vxs_parse_whole(number, &value) || (!bar && w.count < 2))
        return VXS_OK; /* comments, headings */
    if (bar) {
        const char *next = memchr(bar + 1, '|', (size_t)(end - bar - 1));
        name = bar + 1;
        length = trimmed(name, (size_t)((next ? next : end) - name));
    } else {
        find_name(&w, &name, &length);
    }
    return add(names, value, name, length, err);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The length of the word in "word number"; 0 for any other name. */
static size_t word_length(const char *name)
{
    size_t length = strcspn(name, " \t");
    const char *code = name + length + strspn(name + length, " \t");
    return *code && strspn(code, "0123456789") == strlen(code) ? length : 0;
}

static char **free_texts(char **texts, size_t count)
{
    for (size_t k = 0; k < count; k++)
        free(texts[k]);
    free(texts);
    return NULL;
}

/* Names without their codes, sorted; the caller frees array and texts. */
static char **without_codes(const vxs_label_names *names, vxs_error *err)
{
    char **texts = vxs_alloc(names->count, sizeof(*texts), err);
    for (size_t k = 0; texts && k < names->count; k++) {
        const char *name = names->rows[k].name;
        texts[k] = vxs_format(err, "%.*s", (int)word_length(name), name);
        if (!texts[k])
            return free_texts(texts, k);
    }
    if (texts)
        qsort(texts, names->count, sizeof(*texts), by_text);
    return texts;
}

/* Removes codes if names remain distinct: "Area 44" and "Area 45" keep their numbers. */
static vxs_status drop_codes(vxs_label_names *names, vxs_error *err)
{
    bool codes = names->count > 1;
    for (size_t k = 0; k < names->count && codes; k++)
        codes = word_length(names->rows[k].name) > 0;
    if (!codes)
        return VXS_OK;
    char **texts = without_codes(names, err);
    if (!texts)
        return VXS_FAILED;
    for (size_t k = 1; k < names->count && codes; k++)
        codes = strcmp(texts[k - 1], texts[k]) != 0;
    for (size_t k = 0; k < names->count && codes; k++)
        names->rows[k].name[word_length(names->rows[k].name)] = '\0';
    free_texts(texts, names->count);
    return VXS_OK;
}

static vxs_status read_lines(vxs_label_names *names, const char *text, vxs_error *err)
{
    vxs_status status = VXS_OK;
    while (*text && !status) {
        const char *end = text + strcspn(text, "\r\n");
        status = read_line(names, text, end, err);
        text = end + strspn(end, "\r\n");
    }
    return status ? status : drop_codes(names, err);
}

/* ---- BIDS ------------------------------------------------------------------------------------ */

static bool is_dseg(const char *text)
{
    char first[256];
    snprintf(first, sizeof(first), "%.*s", (int)strcspn(text, "\r\n"), text);
    return strchr(first, '\t') && strstr(first, "index") &&
           (strstr(first, "name") || strstr(first, "feature"));
}

static vxs_status read_dseg(vxs_label_names *names, const char *text, const char *path,
                            vxs_error *err)
{
    vxs_table *table = NULL;
    size_t index = 0, name = 0;
    double value = 0;
    vxs_status status = vxs_table_parse(text, strlen(text), path, &table, err);
    if (!status)
        status = vxs_table_find(table, "index", &index, err);
    if (!status)
        status = vxs_table_find(table, "feature", &name, NULL)
                     ? vxs_table_find(table, "name", &name, err)
                     : VXS_OK;
    for (size_t i = 0; !status && i < vxs_table_rows(table); i++) {
        const char *cell = vxs_table_cell(table, i, name);
        status = vxs_table_real(table, i, index, &value, err);
        if (!status && cell && fabs(value) <= INT32_MAX && value == floor(value))
            status = add(names, (int32_t)value, cell, strlen(cell), err);
    }
    vxs_table_free(table);
    return status;
}

/* ---- FSL ------------------------------------------------------------------------------------- */

/* The text of the first element `tag` after `from`; NULL if there is none. */
static const char *element(const char *from, const char *tag, size_t *length)
{
    char open[64], close[64];
    snprintf(open, sizeof(open), "<%s>", tag);
    snprintf(close, sizeof(close), "</%s>", tag);
    const char *start = strstr(from, open);
    const char *end = start ? strstr(start, close) : NULL;
    if (!end)
        return NULL;
    start += strlen(open);
    *length = (size_t)(end - start);
    return start;
}

/* Label atlases use the indices of the image; summaries of probabilistic ones are off by one. */
static vxs_status read_fsl(vxs_label_names *names, const char *text, vxs_error *err)
{
    size_t length = 0;
    vxs_status status = VXS_OK;
    const char *type = element(text, "type", &length);
    bool probabilistic = type && strncmp(type, "Prob", 4) == 0;
    const char *image = element(text, probabilistic ? "summaryimagefile" : "imagefile", &length);
    if (image) {
        names->image = vxs_format(err, "%.*s", (int)length, image);
        if (!names->image)
            return VXS_FAILED;
    }
    for (const char *at = strstr(text, "<label "), *close = NULL;
         at && !status && (close = strchr(at, '>')); at = strstr(close, "<label ")) {
        const char *index = memmem(at, (size_t)(close - at), "index=\"", 7), *name = close + 1;
        const char *end = strchr(name, '<');
        if (!end)
            break;
        if (!index)
            continue;
        int64_t value = strtol(index + 7, NULL, 10); /* saturates on overflow */
        value += probabilistic && value < INT32_MAX;
        status = add(names, value, name, trimmed(name, (size_t)(end - name)), err);
    }
    return status;
}

/* ---- Entry points ---------------------------------------------------------------------------- */

vxs_status vxs_label_names_read(const char *path, vxs_label_names *names, vxs_error *err)
{
    char *text = NULL;
    size_t length = 0;
    *names = (vxs_label_names){ .rows = NULL };
    vxs_status status = vxs_file_read(path, &text, &length, err);
    if (status)
        return status;
    if (strstr(text, "<atlas") && strstr(text, "<label "))
        status = read_fsl(names, text, err);
    else if (is_dseg(text))
        status = read_dseg(names, text, path, err);
    else
        status = read_lines(names, text, err);
    if (!status && names->count == 0)
        status = vxs_fail(err, VXS_BAD_DATA, "'%s' names no labels", path);
    free(text);
    if (status)
        vxs_label_names_release(names);
    return status;
}

void vxs_label_names_release(vxs_label_names *names)
{
    for (size_t k = 0; k < names->count; k++)
        free(names->rows[k].name);
    free(names->rows);
    free(names->image);
    *names = (vxs_label_names){ .rows = NULL };
}

/* The names of Name.nii.gz are in Name.txt etc.; a name with more components, such as _space or
 * _res, may match a file with fewer of them. */
vxs_status vxs_label_names_beside(const char *atlas, char **path, vxs_error *err)
{
    static const char *const endings[] = { ".txt",     ".lut",      ".tsv", ".xml",
                                           ".nii.txt", "_dseg.tsv", NULL };
    const char *slash = strrchr(atlas, '/');
    const char *base = slash ? slash + 1 : atlas;
    size_t folder = (size_t)(base - atlas), stem = strcspn(base, ".");
    *path = NULL;
    while (stem > 0) {
        for (size_t k = 0; endings[k]; k++) {
            char *name = vxs_format(err, "%.*s%s", (int)(folder + stem), atlas, endings[k]);
            if (!name)
                return VXS_FAILED;
            if (access(name, R_OK) == 0) {
                *path = name;
                return VXS_OK;
            }
            free(name);
        }
        while (stem > 0 && base[--stem] != '_') {
        }
    }
    return VXS_OK;
}
