/* tsv.c - lenient table reader.
 *
 * The bytes are copied once and split in place: a cell is a pointer into that copy, unquoted and
 * trimmed in place, which never lengthens it. */
#include "core/cells.h"
#include "core/utf8.h"
#include "voxsift/internal/files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct vxs_table {
    char *name;
    char *text;
    char separator;
    size_t columns, rows, row_room;
    const char **cells; /* row 0 is the header */
    const char **bytes; /* original bytes of cells whose visible form differs */
    char *shown;        /* storage of visible forms */
    size_t *lines;      /* of each row, header included */
    char **refused;     /* of each column: why it cannot be used, or NULL; NULL: all can */
};

typedef struct {
    vxs_table *table;
    char *at, *end;
    size_t line;
    vxs_error *err;
} reader;

static vxs_status refuse(const reader *r, size_t line, const char *why)
{
    return vxs_fail(r->err, VXS_BAD_DATA, "cannot read '%s': line %zu %s", r->table->name, line,
                    why);
}

/* Zero bytes would truncate cells, and usually mean UTF-16. */
static vxs_status check_bytes(const reader *r)
{
    size_t line = 1, length = 0;
    if (r->end - r->at >= 2 &&
        (memcmp(r->at, "\xff\xfe", 2) == 0 || memcmp(r->at, "\xfe\xff", 2) == 0))
        return refuse(r, 1, "is UTF-16; save the table as UTF-8");
    for (const char *c = r->at; c < r->end; c += length) {
        if (*c == '\0')
            return refuse(r, line, "holds a zero byte; is this a table?");
        length = vxs_utf8_length(c, (size_t)(r->end - c));
        if (length == 0)
            return refuse(r, line, "is not UTF-8; save the table as UTF-8");
        line += *c == '\n';
    }
    return VXS_OK;
}

static bool at_line_end(const reader *r)
{
    return r->at >= r->end || *r->at == '\n' || *r->at == '\r';
}

static void take_line_end(reader *r)
{
    if (r->at < r->end && *r->at == '\r')
        r->at++;
    if (r->at < r->end && *r->at == '\n')
        r->at++;
    r->line++;
}

static bool starts_with(const char *text, const char *end, const char *what)
{
    size_t length = strlen(what);
    return (size_t)(end - text) >= length && memcmp(text, what, length) == 0;
}

/* Length of a blank: a space, a tab unless tabs separate, a no-break space from spreadsheets, or a
 * byte order mark from concatenated files. */
static size_t blank_length(const char *text, const char *end, char separator)
{
    if (text < end && ((*text == ' ' && separator != ' ') || (*text == '\t' && separator != '\t')))
        return 1;
    return starts_with(text, end, "\xc2\xa0") ? 2 : starts_with(text, end, "\xef\xbb\xbf") ? 3 : 0;
}

static void skip_blanks(reader *r)
{
    size_t length = 0;
    while ((length = blank_length(r->at, r->end, r->table->separator)) > 0)
        r->at += length;
}

static char *trim_end(char *start, char *end, char separator)
{
    for (size_t length = 1; length <= 3 && length <= (size_t)(end - start);) {
        bool blank = blank_length(end - length, end, separator) == length;
        end -= blank ? length : 0;
        length = blank ? 1 : length + 1;
    }
    return end;
}

/* Trims quoted text: a spreadsheet keeps the blank in "age ", which is unintended. Tabs and line
 * ends inside quotes count as blanks. */
static void trim(char **start, char **stop)
{
    char *end = *start + strlen(*start);
    for (char *c = *start; c < end; c++)
        *c = strchr("\t\r\n", *c) ? ' ' : *c;
    for (size_t length = 0; (length = blank_length(*start, end, '\0')) > 0;)
        *start += length;
    *stop = trim_end(*start, end, '\0');
}

/* The end of the quoted cell that opens at `from`; NULL if it never closes or other text follows,
 * so that the quotes belong to the text. */
static char *quoted_end(const reader *r, char *from, bool *open)
{
    char separator = r->table->separator;
    char *c = from + 1;
    while (c < r->end && !(*c == '"' && c[1] != '"'))
        c += *c == '"' ? 2 : 1;
    *open = c >= r->end;
    if (*open)
        return NULL;
    char *after = ++c;
    for (size_t length = 0; (length = blank_length(after, r->end, separator)) > 0;)
        after += length;
    bool ends = after >= r->end || *after == separator || *after == '\n' || *after == '\r';
    return ends ? c : NULL;
}

/* Removes the quotes in place; line ends inside are counted and kept. */
static void unquote(reader *r, char *past)
{
    char *out = r->at;
    for (char *c = r->at + 1; c < past - 1; c++) {
        if (*c == '"')
            c++; /* first of a doubled quote */
        r->line += *c == '\n';
        *out++ = *c;
    }
    *out = '\0';
}

/* Leaves r->at on the separator or line end after the cell; the caller overwrites it with a zero
 * after reading it. */
static vxs_status read_cell(reader *r, char **start, char **stop)
{
    skip_blanks(r);
    *start = r->at;
    if (r->at < r->end && *r->at == '"') {
        bool open = false;
        char *past = quoted_end(r, r->at, &open);
        if (open)
            return refuse(r, r->line, "opens a quote that is never closed");
        if (past) {
            unquote(r, past);
            trim(start, stop);
            r->at = past;
            skip_blanks(r);
            return VXS_OK;
        }
    }
    while (!at_line_end(r) && *r->at != r->table->separator)
        r->at++;
    *stop = trim_end(*start, r->at, r->table->separator);
    return VXS_OK;
}

/* Number of words of the line at text; *next is the following line. */
static size_t count_words(const char *text, const char *end, const char **next)
{
    size_t words = 0;
    bool inside = false;
    for (; text < end && *text != '\n' && *text != '\r'; text++) {
        words += !inside && *text != ' ';
        inside = *text != ' ';
    }
    *next = text < end ? text + 1 : end;
    return words;
}

/* Blanks separate if the first line has at least two words, and every other one as many; quoted
 * blanks do not count. */
static bool blanks_separate(const char *text, const char *end)
{
    if (memchr(text, '"', (size_t)(end - text)))
        return false;
    size_t required = count_words(text, end, &text);
    size_t lines = 0;
    while (text < end) {
        size_t words = count_words(text, end, &text);
        if (words != 0 && words != required)
            return false;
        lines += words > 0;
    }
    return required > 1 && lines > 0;
}

/* The first line decides: a tab, else a comma, else a semicolon, else blanks; else there is one
 * column. */
static char find_separator(const char *text, const char *end)
{
    static const char candidates[] = "\t,;";
    bool found[3] = { false, false, false }, quoted = false;
    for (const char *c = text; c < end && (quoted || (*c != '\n' && *c != '\r')); c++) {
        const char *which = *c ? strchr(candidates, *c) : NULL;
        quoted = quoted != (*c == '"');
        if (which && !quoted)
            found[which - candidates] = true;
    }
    for (int k = 0; k < 3; k++)
        if (found[k])
            return candidates[k];
    return blanks_separate(text, end) ? ' ' : '\t';
}

static vxs_status allocate_row(vxs_table *table, vxs_error *err)
{
    if (table->rows < table->row_room)
        return VXS_OK;
    size_t room = table->row_room ? 2 * table->row_room : 64;
    if (table->columns > SIZE_MAX / room)
        return vxs_fail(err, VXS_FAILED, "not enough memory for '%s'", table->name);
    const char **cells = vxs_resize(table->cells, room * table->columns, sizeof(*cells), err);
    if (!cells)
        return VXS_FAILED;
    table->cells = cells;
    size_t *lines = vxs_resize(table->lines, room, sizeof(*lines), err);
    if (!lines)
        return VXS_FAILED;
    table->lines = lines;
    table->row_room = room;
    return VXS_OK;
}

/* Reads one line into a row. In the header table->columns counts up from 0 and the first row grows
 * cell by cell. Empty cells beyond the last column are ignored. */
static vxs_status add_header_cell(vxs_table *table, const char *cell, vxs_error *err)
{
    const char **cells = vxs_resize(table->cells, table->columns + 1, sizeof(*cells), err);
    if (!cells)
        return VXS_FAILED;
    table->cells = cells;
    cells[table->columns++] = cell;
    return VXS_OK;
}

static vxs_status next_cell(reader *r, const char **cell, bool *last)
{
    char *start = NULL, *stop = NULL;
    vxs_status status = read_cell(r, &start, &stop);
    if (status)
        return status;
    while (r->table->separator == ' ' && r->at + 1 < r->end && *r->at == ' ' && r->at[1] == ' ')
        r->at++; /* consecutive blanks separate once */
    *last = at_line_end(r);
    if (*last)
        take_line_end(r);
    else
        r->at++;
    *stop = '\0'; /* at most the byte just consumed, or a blank or quote before it */
    *cell = start;
    return VXS_OK;
}

static vxs_status read_header(reader *r)
{
    vxs_table *table = r->table;
    bool last = false;
    while (!last) {
        const char *cell = NULL;
        vxs_status status = next_cell(r, &cell, &last);
        if (!status)
            status = add_header_cell(table, cell, r->err);
        if (status)
            return status;
    }
    while (table->columns > 1 && !*table->cells[table->columns - 1])
        table->columns--;
    table->row_room = 1;
    table->lines = vxs_alloc(1, sizeof(*table->lines), r->err);
    if (!table->lines)
        return VXS_FAILED;
    table->rows = 1;
    return VXS_OK;
}

static vxs_status wrong_length(const reader *r, size_t line, size_t cells)
{
    return vxs_fail(r->err, VXS_BAD_DATA,
                    "cannot read '%s': line %zu has %zu cells, the header has %zu", r->table->name,
                    line, cells, r->table->columns);
}

static vxs_status read_row(reader *r)
{
    vxs_table *table = r->table;
    vxs_status status = allocate_row(table, r->err);
    if (status)
        return status;
    const char **row = table->cells + table->rows * table->columns;
    size_t line = r->line, filled = 0, count = 0;
    for (bool last = false; !last; count++) {
        const char *cell = NULL;
        status = next_cell(r, &cell, &last);
        if (status)
            return status;
        if (*cell)
            filled = count + 1;
        if (count < table->columns)
            row[count] = cell;
    }
    if (filled == 0)
        return VXS_OK; /* an empty line */
    if (count < table->columns || filled > table->columns)
        return wrong_length(r, line, count < table->columns ? count : filled);
    table->lines[table->rows++] = line;
    return VXS_OK;
}

/* Skips lines before the header; a line that begins with a separator may have an unnamed column. */
static void skip_empty_lines(reader *r)
{
    for (;;) {
        char *line = r->at;
        r->table->separator = '\0'; /* so that tabs count as blanks */
        skip_blanks(r);
        if (r->at < r->end && !at_line_end(r)) {
            r->at = line;
            return;
        }
        if (r->at >= r->end)
            return;
        take_line_end(r);
    }
}

static vxs_status read_table(reader *r)
{
    vxs_status status = check_bytes(r);
    if (status)
        return status;
    skip_empty_lines(r);
    if (r->at >= r->end)
        return vxs_fail(r->err, VXS_BAD_DATA, "cannot read '%s': it is empty", r->table->name);
    r->table->separator = find_separator(r->at, r->end);
    size_t header_line = r->line;
    status = read_header(r);
    if (!status)
        r->table->lines[0] = header_line;
    while (!status && r->at < r->end)
        status = read_row(r);
    return status;
}

/* Keeps the original bytes of cells whose visible form differs. */
static vxs_status show_cells(vxs_table *table, vxs_error *err)
{
    size_t count = table->rows * table->columns;
    table->bytes = vxs_alloc(count, sizeof(*table->bytes), err);
    if (!table->bytes)
        return VXS_FAILED;
    memcpy(table->bytes, table->cells, count * sizeof(*table->bytes));
    vxs_status status = vxs_cells_show(table->cells, count, &table->shown, err);
    if (!table->shown) {
        free(table->bytes);
        table->bytes = NULL;
    }
    return status;
}

vxs_status vxs_table_parse(const char *bytes, size_t length, const char *name, vxs_table **table,
                           vxs_error *err)
{
    vxs_status status = VXS_FAILED;
    vxs_table *made = vxs_alloc(1, sizeof(*made), err);
    if (!made)
        return VXS_FAILED;
    made->name = vxs_format(err, "%s", name);
    made->text = vxs_alloc(length + 1, 1, err);
    if (!made->name || !made->text)
        goto done;
    memcpy(made->text, bytes, length);
    reader r = { made, made->text, made->text + length, 1, err };
    status = read_table(&r);
    if (!status)
        status = show_cells(made, err);
    if (!status) {
        *table = made;
        made = NULL;
    }
done:
    vxs_table_free(made);
    return status;
}

vxs_status vxs_table_read(const char *path, vxs_table **table, vxs_error *err)
{
    char *bytes = NULL;
    size_t length = 0;
    vxs_status status = VXS_GIVEN(err, { "path", path }, { "table", table });
    if (!status)
        status = vxs_file_read(path, &bytes, &length, err);
    if (!status)
        status = vxs_table_parse(bytes, length, path, table, err);
    free(bytes);
    return status;
}

/* Builds a header from the names with the separator of the first line. */
vxs_status vxs_table_read_bare(const char *path, const char *names, vxs_table **table,
                               vxs_error *err)
{
    char *bytes = NULL;
    size_t length = 0;
    vxs_status status = vxs_file_read(path, &bytes, &length, err);
    if (status)
        return status;
    char separator = find_separator(bytes, bytes + length);
    char *text = vxs_format(err, "%s\n%s", names, bytes);
    for (char *c = text; c && *c != '\n'; c++)
        if (*c == ',')
            *c = separator;
    status = text ? vxs_table_parse(text, strlen(text), path, table, err) : VXS_FAILED;
    if (!status && (*table)->separator != separator) {
        vxs_table_free(*table);
        *table = NULL;
        status = vxs_fail(err, VXS_BAD_DATA, "'%s' has more cells in a line than names in '%s'",
                          path, names);
    }
    for (size_t i = 0; !status && i < (*table)->rows; i++)
        (*table)->lines[i] -= i > 0; /* the file has no header line */
    free(text);
    free(bytes);
    return status;
}

void vxs_table_free(vxs_table *table)
{
    if (!table)
        return;
    for (size_t j = 0; table->refused && j < table->columns; j++)
        free(table->refused[j]);
    free(table->refused);
    free(table->lines);
    free(table->cells);
    free(table->bytes);
    free(table->shown);
    free(table->text);
    free(table->name);
    free(table);
}

size_t vxs_table_rows(const vxs_table *table)
{
    return table ? table->rows - 1 : 0;
}

size_t vxs_table_columns(const vxs_table *table)
{
    return table ? table->columns : 0;
}

const char *vxs_table_header(const vxs_table *table, size_t column)
{
    return column < vxs_table_columns(table) ? table->cells[column] : NULL;
}

const char *vxs_table_cell(const vxs_table *table, size_t row, size_t column)
{
    if (row >= vxs_table_rows(table) || column >= vxs_table_columns(table))
        return NULL;
    const char *cell = table->cells[(row + 1) * table->columns + column];
    return vxs_cell_is_missing(cell) ? NULL : cell;
}

const char *vxs_table_path(const vxs_table *table, size_t row, size_t column)
{
    const char *const *cells = table->bytes ? table->bytes : table->cells;
    const char *cell = cells[(row + 1) * table->columns + column];
    return vxs_cell_is_missing(cell) ? NULL : cell;
}

size_t vxs_table_line(const vxs_table *table, size_t row)
{
    return table->lines[row + 1];
}

const char *vxs_table_name(const vxs_table *table)
{
    return table->name;
}

vxs_status vxs_table_rename(vxs_table *table, const char *name, const size_t *lines, vxs_error *err)
{
    char *copy = vxs_format(err, "%s", name);
    if (!copy)
        return VXS_FAILED;
    free(table->name);
    table->name = copy;
    for (size_t i = 0; lines && i < vxs_table_rows(table); i++)
        table->lines[i + 1] = lines[i];
    return VXS_OK;
}

vxs_status vxs_table_refuse(vxs_table *table, size_t column, char *why, vxs_error *err)
{
    if (!table->refused)
        table->refused = vxs_alloc(table->columns, sizeof(*table->refused), err);
    if (!table->refused || !why) {
        free(why);
        return VXS_FAILED;
    }
    free(table->refused[column]);
    table->refused[column] = why;
    return VXS_OK;
}

/* The NULL-terminated header, for vxs_nearest. */
static vxs_status no_such_column(const vxs_table *table, const char *name, vxs_error *err)
{
    const char **names = vxs_alloc(table->columns + 1, sizeof(*names), err);
    if (!names)
        return VXS_FAILED;
    memcpy(names, table->cells, table->columns * sizeof(*names));
    const char *near = vxs_nearest(name, names);
    vxs_fail(err, VXS_BAD_DATA, "'%s' has no column '%s'%s%s%s", table->name, name,
             near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    free(names);
    return VXS_BAD_DATA;
}

vxs_status vxs_table_find(const vxs_table *table, const char *name, size_t *column, vxs_error *err)
{
    vxs_status status = VXS_GIVEN(err, { "table", table }, { "name", name }, { "column", column });
    if (status)
        return status;
    size_t found = table->columns;
    for (size_t j = 0; j < table->columns; j++) {
        if (!vxs_cell_is(table->cells[j], name))
            continue;
        if (found < table->columns)
            return vxs_fail(err, VXS_BAD_DATA, "'%s' has two columns '%s', number %zu and %zu",
                            table->name, name, found + 1, j + 1);
        found = j;
    }
    if (found == table->columns)
        return no_such_column(table, name, err);
    if (table->refused && table->refused[found])
        return vxs_fail(err, VXS_BAD_DATA, "%s", table->refused[found]);
    *column = found;
    return VXS_OK;
}

vxs_status vxs_table_real(const vxs_table *table, size_t row, size_t column, double *value,
                          vxs_error *err)
{
    vxs_status status = VXS_GIVEN(err, { "table", table }, { "value", value });
    if (!status)
        status = vxs_index_check("row", row, vxs_table_rows(table), err);
    if (!status)
        status = vxs_index_check("column", column, vxs_table_columns(table), err);
    if (status)
        return status;
    const char *cell = vxs_table_cell(table, row, column);
    if (!cell) {
        *value = NAN;
        return VXS_OK;
    }
    if (vxs_parse_real(cell, value))
        return VXS_OK;
    return vxs_fail(err, VXS_BAD_DATA, "'%s' line %zu, column '%s': '%s' is not a number",
                    table->name, vxs_table_line(table, row), vxs_table_header(table, column), cell);
}
