/* row_filter.c - rows of a table by expressions: --only group=AD,CN --exclude 'age>60'. */
#include "core/cells.h"

#include <stdlib.h>
#include <string.h>

typedef enum { IS, IS_NOT, ABOVE, AT_LEAST, BELOW, AT_MOST } comparison;

static const struct {
    const char *sign;
    comparison how;
} signs[] = { { "!=", IS_NOT }, { ">=", AT_LEAST }, { "<=", AT_MOST },
              { "=", IS },      { ">", ABOVE },     { "<", BELOW } };
#define SIGNS (sizeof(signs) / sizeof(signs[0]))

typedef struct {
    const char *option, *text;
    char *room; /* column and values, each with a zero behind it */
    const char *header;
    size_t column;
    comparison how;
    const char **values;
    size_t count;
    bool missing;  /* a cell without a value is one of the values */
    double number; /* of the inequalities */
} expression;

/* ---- Reading --------------------------------------------------------------------------------- */

static vxs_status unclear(const expression *e, vxs_error *err)
{
    return vxs_fail(err, VXS_MISUSE,
                    "option '--%s' takes COLUMN=A,B, COLUMN!=A,B, COLUMN>60, COLUMN>=60, COLUMN<60 "
                    "or COLUMN<=60, not '%s'",
                    e->option, e->text);
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* Where a sign or, behind it, a comma ends a word that has no quotes. */
static bool ends_word(const char *at, bool behind_sign)
{
    if (!*at)
        return true;
    return behind_sign ? *at == ',' : strchr("=<>", *at) || (at[0] == '!' && at[1] == '=');
}

/* A word without its quotes and without blanks around it; NULL: a quote is open, or text follows
 * one. *to moves behind its zero. */
static const char *take_word(const char **at, bool behind_sign, char **to)
{
    char *word = *to, *end = word;
    const char *from = skip_blanks(*at);
    if (*from == '"') {
        for (from++; *from && (*from != '"' || from[1] == '"'); from++) {
            from += *from == '"';
            *end++ = *from;
        }
        if (*from != '"')
            return NULL;
        from = skip_blanks(from + 1);
        if (!ends_word(from, behind_sign))
            return NULL;
    } else {
        while (!ends_word(from, behind_sign))
            *end++ = *from++;
        while (end > word && (end[-1] == ' ' || end[-1] == '\t'))
            end--;
    }
    *end = '\0';
    *to = end + 1;
    *at = from;
    return word;
}

static vxs_status read_values(expression *e, const char *at, char *to, vxs_error *err)
{
    for (;;) {
        const char *word = take_word(&at, true, &to);
        if (!word)
            return unclear(e, err);
        if (vxs_cell_is_missing(word))
            e->missing = true;
        else
            e->values[e->count++] = word;
        if (!*at)
            return VXS_OK;
        at++; /* the comma */
    }
}

static vxs_status read_number(expression *e, vxs_error *err)
{
    if (e->how == IS || e->how == IS_NOT)
        return VXS_OK;
    if (e->missing || e->count != 1 || !vxs_parse_real(e->values[0], &e->number))
        return vxs_fail(err, VXS_MISUSE, "option '--%s': no number is behind the sign in '%s'",
                        e->option, e->text);
    return VXS_OK;
}

static vxs_status read_expression(expression *e, vxs_error *err)
{
    size_t length = strlen(e->text), sign = 0;
    e->room = vxs_alloc(2 * length + 4, 1, err); /* a zero a word, and no word is longer */
    e->values = vxs_alloc(length + 2, sizeof(*e->values), err);
    if (!e->room || !e->values)
        return VXS_FAILED;
    const char *at = e->text;
    char *to = e->room;
    e->header = take_word(&at, false, &to);
    while (sign < SIGNS && strncmp(at, signs[sign].sign, strlen(signs[sign].sign)) != 0)
        sign++;
    if (!e->header || !*e->header || sign == SIGNS)
        return unclear(e, err);
    e->how = signs[sign].how;
    at += strlen(signs[sign].sign);
    if (*at == '=') /* "==" of programming languages */
        return unclear(e, err);
    vxs_status status = read_values(e, at, to, err);
    return status ? status : read_number(e, err);
}

static void release(expression *e)
{
    free(e->room);
    free((void *)e->values);
}

/* ---- What it is true of ---------------------------------------------------------------------- */

static bool is_value(const char *cell, const char *value)
{
    double left, right;
    if (vxs_parse_real(cell, &left) && vxs_parse_real(value, &right))
        return left == right;
    return vxs_cell_is(cell, value);
}

static bool is_any(const expression *e, const char *cell)
{
    for (size_t k = 0; k < e->count; k++)
        if (is_value(cell, e->values[k]))
            return true;
    return false;
}

static vxs_status holds(const expression *e, const vxs_table *table, size_t row, bool *truth,
                        vxs_error *err)
{
    const char *cell = vxs_table_cell(table, row, e->column);
    double value = 0;
    if (!cell) {
        *truth = e->how == IS && e->missing;
        return VXS_OK;
    }
    if (e->how == IS || e->how == IS_NOT) {
        *truth = is_any(e, cell) == (e->how == IS);
        return VXS_OK;
    }
    vxs_status status = vxs_table_real(table, row, e->column, &value, err);
    *truth = e->how == ABOVE      ? value > e->number
             : e->how == AT_LEAST ? value >= e->number
             : e->how == BELOW    ? value < e->number
                                  : value <= e->number;
    return status;
}

/* ---- Values that are not there --------------------------------------------------------------- */

#define MOST_NAMED 10

static vxs_status no_such_value(const expression *e, const char *value, const vxs_level *levels,
                                size_t count, vxs_error *err)
{
    char list[512] = "", named[80] = "";
    size_t used = 0;
    const char **names = vxs_alloc(count + 1, sizeof(*names), err);
    if (!names)
        return VXS_FAILED;
    for (size_t k = 0; k < count; k++)
        names[k] = levels[k].text;
    for (size_t k = 0; k < count && k < MOST_NAMED && used < sizeof(list); k++) {
        vxs_shown_copy(names[k], named, 40);
        used +=
            (size_t)snprintf(list + used, sizeof(list) - used, "%s'%s'", k > 0 ? ", " : "", named);
    }
    const char *near = vxs_nearest(value, names);
    if (near)
        vxs_shown_copy(near, named, sizeof(named));
    vxs_status status =
        vxs_fail(err, VXS_BAD_DATA,
                 "'--%s %s': no row has the value '%s' in column '%s'%s%s%s; it has %s%s",
                 e->option, e->text, value, e->header, near ? " (did you mean '" : "",
                 near ? named : "", near ? "'?)" : "", count > 0 ? list : "no values",
                 count > MOST_NAMED ? " and others" : "");
    free((void *)names);
    return status;
}

static vxs_status check_values(const expression *e, const vxs_table *table, vxs_error *err)
{
    vxs_level *levels = NULL;
    size_t count = 0;
    if (e->how != IS && e->how != IS_NOT)
        return VXS_OK;
    vxs_status status = vxs_table_levels(table, e->column, &levels, &count, err);
    for (size_t k = 0; k < e->count && !status; k++) {
        bool found = false;
        for (size_t j = 0; j < count && !found; j++)
            found = is_value(levels[j].text, e->values[k]);
        if (!found)
            status = no_such_value(e, e->values[k], levels, count, err);
    }
    free(levels);
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

vxs_status vxs_row_filter_begin(vxs_row_filter *f, const vxs_table *table, vxs_error *err)
{
    *f = (vxs_row_filter){ .table = table, .left = vxs_table_rows(table) };
    f->by = vxs_alloc(f->left, sizeof(*f->by), err);
    for (size_t row = 0; row < f->left && f->by; row++)
        f->by[row] = VXS_NO_FILTER;
    return f->by ? VXS_OK : VXS_FAILED;
}

vxs_status vxs_row_filter_add(vxs_row_filter *f, const char *option, const char *text, bool keep,
                              vxs_error *err)
{
    expression e = { .option = option, .text = text };
    size_t before = f->left;
    if (f->count == VXS_MOST_FILTERS)
        return vxs_fail(err, VXS_MISUSE, "at most %d expressions select rows", VXS_MOST_FILTERS);
    vxs_status status = read_expression(&e, err);
    if (!status)
        status = vxs_table_find(f->table, e.header, &e.column, err);
    if (!status)
        status = check_values(&e, f->table, err);
    for (size_t row = 0; row < vxs_table_rows(f->table) && !status; row++) {
        bool truth = false;
        status = holds(&e, f->table, row, &truth, err);
        if (!status && truth != keep && f->by[row] == VXS_NO_FILTER) {
            f->by[row] = f->count;
            f->left--;
        }
    }
    release(&e);
    if (status)
        return status;
    f->each[f->count].option = option;
    f->each[f->count].text = text;
    f->each[f->count].removed = before - f->left;
    f->each[f->count++].left = f->left;
    return VXS_OK;
}

vxs_status vxs_row_filter_make(vxs_row_filter *f, const vxs_table *table, const vxs_texts *only,
                               const vxs_texts *exclude, vxs_error *err)
{
    char words[VXS_FILTER_TEXT];
    vxs_status status = vxs_row_filter_begin(f, table, err);
    for (size_t k = 0; only->each[k] && !status; k++)
        status = vxs_row_filter_add(f, "only", only->each[k], true, err);
    for (size_t k = 0; exclude->each[k] && !status; k++)
        status = vxs_row_filter_add(f, "exclude", exclude->each[k], false, err);
    if (status || f->left > 0 || f->count == 0)
        return status;
    vxs_row_filter_words(f, words);
    return vxs_fail(err, VXS_BAD_DATA, "no row is left of the %zu rows of '%s': %s",
                    vxs_table_rows(table), vxs_table_name(table), words);
}

void vxs_row_filter_release(vxs_row_filter *f)
{
    free(f->by);
    *f = (vxs_row_filter){ .table = NULL };
}

void vxs_row_filter_words(const vxs_row_filter *f, char buffer[VXS_FILTER_TEXT])
{
    size_t used = 0;
    buffer[0] = '\0';
    for (size_t k = 0; k < f->count && used < VXS_FILTER_TEXT; k++)
        used += (size_t)snprintf(buffer + used, VXS_FILTER_TEXT - used, "%s--%s %s leaves %zu",
                                 k > 0 ? ", " : "", f->each[k].option, f->each[k].text,
                                 f->each[k].left);
}
