/* voxsift/internal/core.h - definitions common to all rooms; internal to the library and the
 * command line, not installed. */
#ifndef VOXSIFT_INTERNAL_CORE_H
#define VOXSIFT_INTERNAL_CORE_H

#include "voxsift/core.h"
#include "voxsift/internal/text.h"

#include <stdarg.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status and error ------------------------------------------------------------------------ */

/* One row per status, for help, man pages and docs. Ends with meaning == NULL. */
typedef struct {
    vxs_status status;
    const char *meaning;
} vxs_status_row;
extern const vxs_status_row vxs_status_rows[];
vxs_status vxs_failv(vxs_error *err, vxs_status status, const char *format, va_list args)
    VXS_PRINTF(3, 0);

/* ---- Arguments of public functions -----------------------------------------------------------
 *
 * A public function that can fail begins with these: VXS_MISUSE and a line with name and value. */
typedef struct {
    const char *name;
    const void *value;
} vxs_argument;
VXS_MUST_CHECK vxs_status vxs_arguments_check(const vxs_argument *arguments, vxs_error *err);
/* Pointers that must not be NULL: VXS_GIVEN(err, { "path", path }, { "table", table }) */
#define VXS_GIVEN(err, ...)                                                                        \
    vxs_arguments_check((const vxs_argument[]){ __VA_ARGS__, { NULL, NULL } }, err)
/* One of 0 ... count - 1: "there is no column number 7 of 3" */
VXS_MUST_CHECK vxs_status vxs_index_check(const char *noun, size_t index, size_t count,
                                          vxs_error *err);
/* A value of an enum of `count`: "there is no feature map number 9" */
VXS_MUST_CHECK vxs_status vxs_choice_check(const char *noun, int choice, int count, vxs_error *err);
/* A finite number of at least `least`, or above it; fails for NaN. */
VXS_MUST_CHECK vxs_status vxs_number_check(const char *name, double value, double least, bool above,
                                           vxs_error *err);

/* ---- Memory and text ------------------------------------------------------------------------- */

/* Zeroed memory for count * size bytes, at least one; NULL (and err) when out of memory or on
 * overflow. Freed with free(). */
VXS_MUST_CHECK void *vxs_alloc(size_t count, size_t size, vxs_error *err);
/* a * b, or SIZE_MAX on overflow, a size that no allocation grants. */
size_t vxs_times(size_t a, size_t b);
/* Same as realloc(old, count * size); on failure `old` is untouched and still owned by the
 * caller. */
VXS_MUST_CHECK void *vxs_resize(void *old, size_t count, size_t size, vxs_error *err);
/* Allocated text, formatted as by printf. */
VXS_MUST_CHECK char *vxs_format(vxs_error *err, const char *format, ...) VXS_PRINTF(2, 3);
/* Allocated copy of a foreign name in its visible form (voxsift/internal/text.h). */
VXS_MUST_CHECK char *vxs_shown(const char *text, vxs_error *err);

/* ---- Running: log, progress, threads, interruption ------------------------------------------- */

void vxs_log(const vxs_context *context, vxs_log_level level, const char *format, ...)
    VXS_PRINTF(3, 4);

/* Returns VXS_INTERRUPTED after a request to stop; for work without progress of its own. */
VXS_MUST_CHECK vxs_status vxs_check_interrupted(const vxs_context *context, vxs_error *err);

/* One task of known size. Several threads may call _step at once; it fails only after a request to
 * stop. The strings are borrowed. */
typedef struct {
    const vxs_context *context;
    const char *task, *unit;
    uint64_t total, done;
    int busy;
} vxs_progress;
void vxs_progress_start(vxs_progress *progress, const vxs_context *context, const char *task,
                        const char *unit, uint64_t total);
VXS_MUST_CHECK vxs_status vxs_progress_step(vxs_progress *progress, uint64_t steps, vxs_error *err);

/* Monotonic clock, for reports on time; never for decisions inside an algorithm. */
double vxs_seconds(void);

/* A listener for a person: give its functions to a context. On a terminal, progress is one line
 * rewritten in place after the first second; in a log it is a line a minute, and the last one.
 * `now` is a monotonic clock in seconds (NULL: the system's); tests bring their own. */
/* Of more than this many lines that differ in names and numbers alone, the first three are printed,
 * and how many more there are; with VXS_LOG_DEBUG all are. */
#define VXS_SIMILAR_LINES 5
typedef struct {
    FILE *stream;
    vxs_log_level level; /* less important messages are suppressed */
    const char *name;    /* printed before each message; may be NULL */
    double (*now)(void);
    bool terminal;
    bool line_open; /* a progress line is on the terminal */
    bool printed;   /* this task has printed progress */
    double started, last;
    char *similar[VXS_SIMILAR_LINES]; /* lines that are alike: the last ones wait */
    size_t alike;                     /* how many of them there were */
    vxs_log_level alike_level;
} vxs_console;
void vxs_console_init(vxs_console *talk, FILE *stream, vxs_log_level level, const char *name);
/* Prints what waits. */
void vxs_console_flush(vxs_console *talk);
void vxs_console_log(void *talk, vxs_log_level level, const char *message);
void vxs_console_progress(void *talk, const char *task, const char *unit, uint64_t done,
                          uint64_t total);

/* ---- Rows of tables of parameters ------------------------------------------------------------ */

/* Behind the help more fields may follow: .head, .usual, .more. */
#define VXS_FLAG_ROW(name_, at, ...)                                                               \
    {                                                                                              \
        .name = (name_), .type = VXS_PARAM_FLAG, .offset = (at), .help = __VA_ARGS__               \
    }
#define VXS_TEXT_ROW(name_, value_, at, ...)                                                       \
    {                                                                                              \
        .name = (name_), .value = (value_), .type = VXS_PARAM_TEXT, .offset = (at),                \
        .help = __VA_ARGS__                                                                        \
    }
#define VXS_TEXTS_ROW(name_, value_, at, ...)                                                      \
    {                                                                                              \
        .name = (name_), .value = (value_), .type = VXS_PARAM_TEXTS, .offset = (at),               \
        .help = __VA_ARGS__                                                                        \
    }
#define VXS_PATH_ROW(name_, value_, at, ...)                                                       \
    {                                                                                              \
        .name = (name_), .value = (value_), .type = VXS_PARAM_PATH, .offset = (at),                \
        .help = __VA_ARGS__                                                                        \
    }
#define VXS_CHOICE_ROW(name_, value_, at, initial_, choices_, ...)                                 \
    {                                                                                              \
        .name = (name_), .value = (value_), .type = VXS_PARAM_CHOICE, .offset = (at),              \
        .initial = (initial_), .choices = (choices_), .help = __VA_ARGS__                          \
    }
#define VXS_NUMBER_ROW(type_, name_, value_, at, initial_, min_, max_, ...)                        \
    {                                                                                              \
        .name = (name_), .value = (value_), .type = (type_), .offset = (at),                       \
        .initial = (initial_), .min = (min_), .max = (max_), .help = __VA_ARGS__                   \
    }
#define VXS_WHOLE_ROW(...) VXS_NUMBER_ROW(VXS_PARAM_WHOLE, __VA_ARGS__)
#define VXS_REAL_ROW(...)  VXS_NUMBER_ROW(VXS_PARAM_REAL, __VA_ARGS__)
#define VXS_BYTES_ROW(...) VXS_NUMBER_ROW(VXS_PARAM_BYTES, __VA_ARGS__)

/* ---- The best few of many -------------------------------------------------------------------- */

typedef struct {
    size_t index;
    double score;
} vxs_scored;
/* The `most` best of all offered items: a min-heap. Larger scores are better, ties go to the
 * smaller index, so the result is independent of the order of offers. */
typedef struct {
    size_t most, count;
    vxs_scored *heap;
} vxs_top;
VXS_MUST_CHECK vxs_status vxs_top_init(vxs_top *top, size_t most, vxs_error *err);
void vxs_top_release(vxs_top *top);
/* Returns whether the item is kept for now. */
bool vxs_top_offer(vxs_top *top, size_t unit, double score);
/* Smaller scores are not kept. */
double vxs_top_least(const vxs_top *top);
/* Best first; no offers afterwards. */
void vxs_top_sort(vxs_top *top);

/* ---- Random numbers -------------------------------------------------------------------------- */

/* Counter-based generator (Philox 4x32-10): draw number `index` of stream `stream` under `seed` is
 * a function of these three alone, so any part of a stream can be generated by any thread in any
 * order. Streams are independent. */
typedef struct {
    uint64_t seed, stream;
} vxs_random;
uint64_t vxs_random_bits(const vxs_random *random, uint64_t index);
double vxs_random_uniform(const vxs_random *random, uint64_t index); /* in [0, 1) */
double vxs_random_normal(const vxs_random *random, uint64_t index);
/* One of 0 ... bound - 1, bound > 0; the bias is below bound / 2^64. */
uint64_t vxs_random_below(const vxs_random *random, uint64_t index, uint64_t bound);
/* Fills order with a random permutation of 0 ... count - 1, using draws 0 ... count - 1. */
void vxs_random_permutation(const vxs_random *random, size_t *order, size_t count);

/* ---- Parameters: one row feeds everything ---------------------------------------------------- */

/* Describes the accepted values: "a number between 0 and 1", "one of a, b". */
void vxs_param_expects(const vxs_param *param, char *buffer, size_t size);
/* Checks all choices and lists of texts among the values: programs set them without text. */
VXS_MUST_CHECK vxs_status vxs_params_check_choices(const vxs_param *table, const void *values,
                                                   vxs_error *err);
/* The same of all numbers; 0 is unset, as is NaN where it is the default. */
VXS_MUST_CHECK vxs_status vxs_params_check_numbers(const vxs_param *table, const void *values,
                                                   vxs_error *err);
/* The value of a text or path. */
const char *vxs_param_text(const vxs_param *param, const void *values);
/* True if the value is another than the default. */
bool vxs_param_is_given(const vxs_param *param, const void *values);
/* The default in words, or "" if there is none. */
void vxs_param_default(const vxs_param *param, char *buffer, size_t size);

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Writer: calls nest as the text does; keys only inside objects (NULL elsewhere). NaN and
 * infinities become null, invalid UTF-8 becomes U+FFFD; characters that voxsift/internal/text.h
 * shows as <U+...> are escaped. Closing the stream reports write errors. */
#define VXS_JSON_DEPTH 64
typedef struct {
    FILE *stream;
    int depth;
    bool filled[VXS_JSON_DEPTH + 1]; /* has a member; deeper levels share the last entry */
    bool broken[VXS_JSON_DEPTH + 1]; /* has a member on a line of its own */
} vxs_json_writer;
void vxs_json_init(vxs_json_writer *writer, FILE *stream);
void vxs_json_open_object(vxs_json_writer *writer, const char *key);
void vxs_json_close_object(vxs_json_writer *writer);
void vxs_json_open_array(vxs_json_writer *writer, const char *key);
void vxs_json_close_array(vxs_json_writer *writer);
void vxs_json_text(vxs_json_writer *writer, const char *key, const char *value); /* NULL: null */
void vxs_json_real(vxs_json_writer *writer, const char *key, double value);
void vxs_json_whole(vxs_json_writer *writer, const char *key, int64_t value);
void vxs_json_bool(vxs_json_writer *writer, const char *key, bool value);
/* Every row of a parameter table under its name; reals and texts without value are null. */
void vxs_json_params(vxs_json_writer *writer, const char *key, const vxs_param *table,
                     const void *values);
/* One row. */
void vxs_json_param(vxs_json_writer *writer, const char *key, const vxs_param *param,
                    const void *values);

/* The warnings of a run for its results, under the key "warnings"; NULL: none. */
typedef struct {
    char **each;
    size_t count;
} vxs_warnings;
void vxs_warnings_add(vxs_warnings *warnings, const char *message);
void vxs_warnings_json(vxs_json_writer *writer, const vxs_warnings *warnings);
void vxs_warnings_release(vxs_warnings *warnings);

/* Reader: RFC 8259, strict; fails for repeated keys and nesting deeper than VXS_JSON_DEPTH. _read
 * is for directories of voxsift: it fails if they contain pipes or devices. */
typedef enum {
    VXS_JSON_NULL,
    VXS_JSON_BOOL,
    VXS_JSON_NUMBER,
    VXS_JSON_TEXT,
    VXS_JSON_ARRAY,
    VXS_JSON_OBJECT
} vxs_json_kind;
typedef struct vxs_json {
    vxs_json_kind kind;
    const char *key;               /* inside an object, else NULL */
    double number;                 /* numbers; 0 or 1 for bool */
    const char *text;              /* text, zero-terminated; may contain zero bytes */
    size_t length;                 /* bytes of text, or members of an array or object */
    struct vxs_json *first, *next; /* first member; next member of the same parent */
} vxs_json;
VXS_MUST_CHECK vxs_status vxs_json_read(const char *path, vxs_json **root, vxs_error *err);
/* `name` replaces the file name in messages. */
VXS_MUST_CHECK vxs_status vxs_json_parse(const char *bytes, size_t length, const char *name,
                                         vxs_json **root, vxs_error *err);
/* The member with this key; NULL if there is none or object is NULL or not an object. */
const vxs_json *vxs_json_get(const vxs_json *object, const char *key);
const char *vxs_json_get_text(const vxs_json *object, const char *key); /* NULL: no text */
double vxs_json_get_number(const vxs_json *object, const char *key);    /* NAN: no number */
/* Sets a value from what vxs_json_params wrote of its row; null keeps it, texts belong to the JSON.
 * False where the value is none of the row's. */
bool vxs_param_read(const vxs_param *param, const vxs_json *value, void *values);
void vxs_json_free(vxs_json *root);
/* Format marker of directories of voxsift: the keys format, format_version and voxsift. A file of
 * another format or version is VXS_BAD_DATA, in a message with its name. */
#define VXS_FORMAT_VERSION 2
void vxs_json_format(vxs_json_writer *writer, const char *format);
VXS_MUST_CHECK vxs_status vxs_json_check_format(const vxs_json *about, const char *file,
                                                const char *format, vxs_error *err);

/* ---- Tables (TSV, also CSV) ------------------------------------------------------------------ */

VXS_MUST_CHECK vxs_status vxs_table_parse(const char *bytes, size_t length, const char *name,
                                          vxs_table **table, vxs_error *err);
/* Reads a file without header; `names` holds the column names: "condition,run". */
VXS_MUST_CHECK vxs_status vxs_table_read_bare(const char *path, const char *names,
                                              vxs_table **table, vxs_error *err);
/* The unmodified bytes of the cell: the path of a file. */
const char *vxs_table_path(const vxs_table *table, size_t row, size_t column);
/* Line of the file where the row starts, from 1. */
size_t vxs_table_line(const vxs_table *table, size_t row);
const char *vxs_table_name(const vxs_table *table);
/* Replaces the file name and lines in messages: row i is line lines[i], of the file that the table
 * was made from. Lines NULL: unchanged. */
VXS_MUST_CHECK vxs_status vxs_table_rename(vxs_table *table, const char *name, const size_t *lines,
                                           vxs_error *err);

/* vxs_table_find fails for this column with the message `why`, which is taken over, also after an
 * error. */
VXS_MUST_CHECK vxs_status vxs_table_refuse(vxs_table *table, size_t column, char *why,
                                           vxs_error *err);

/* The distinct values of a column with their counts, sorted by text, without missing cells. The
 * array is freed with free(), the table owns the texts. */
typedef struct {
    const char *text;
    size_t count;
} vxs_level;
VXS_MUST_CHECK vxs_status vxs_table_levels(const vxs_table *table, size_t column,
                                           vxs_level **levels, size_t *count, vxs_error *err);

/* Rows by expressions, as --only and --exclude have them:
 *   COLUMN=A,B    the cell is A or B; as numbers where both are, so that 60 is 60.0
 *   COLUMN!=A,B   the cell is neither
 *   COLUMN>60     the cell is a number above 60; the same for >=, < and <=
 * No value, as in COLUMN= and COLUMN=A, and COLUMN!=, is a cell that is missing; else no expression
 * is true of a missing cell. Quotes hold commas and signs: group="a,b","say ""c""". */
enum { VXS_MOST_FILTERS = 2 * VXS_MOST_TEXTS };
#define VXS_NO_FILTER SIZE_MAX
typedef struct {
    const vxs_table *table;
    size_t *by; /* of each row: the number of the expression that removed it, or VXS_NO_FILTER */
    size_t count, left;
    struct {
        const char *option, *text; /* "only", "age>60" */
        size_t removed, left;
    } each[VXS_MOST_FILTERS];
} vxs_row_filter;
/* All rows stay; the table must stay as well. Released whatever is returned. */
VXS_MUST_CHECK vxs_status vxs_row_filter_begin(vxs_row_filter *filter, const vxs_table *table,
                                               vxs_error *err);
/* Removes the rows of which the expression is not true (`keep`), or is true. A column that is not
 * there and a value that no row has are refused. */
VXS_MUST_CHECK vxs_status vxs_row_filter_add(vxs_row_filter *filter, const char *option,
                                             const char *text, bool keep, vxs_error *err);
/* Begins, and adds all of --only, then all of --exclude; fails if no row is left. */
VXS_MUST_CHECK vxs_status vxs_row_filter_make(vxs_row_filter *filter, const vxs_table *table,
                                              const vxs_texts *only, const vxs_texts *exclude,
                                              vxs_error *err);
#define VXS_ONLY_HELP                                                                              \
    "keep subjects where EXPR holds: group=AD,CN; 'age>60'",                                       \
        .head = VXS_HEAD_DATA, .usual = true,                                                      \
        .more = "group=AD,CN: AD or CN. Also age>60, site!=B, and mmse= (no value). May be "       \
                "repeated; all must hold."
#define VXS_EXCLUDE_HELP "leave out subjects where EXPR holds; repeatable", .head = VXS_HEAD_DATA
void vxs_row_filter_release(vxs_row_filter *filter);
/* "--only group=AD leaves 20, --exclude age>60 leaves 7" */
#define VXS_FILTER_TEXT 768
void vxs_row_filter_words(const vxs_row_filter *filter, char buffer[VXS_FILTER_TEXT]);

/* Writer: cells from left to right, in visible form, then the end of the row. Tabs and line ends
 * inside a cell become blanks; NULL and NAN become n/a. */
typedef struct {
    FILE *stream;
    bool begun;
} vxs_tsv_writer;
void vxs_tsv_init(vxs_tsv_writer *writer, FILE *stream);
void vxs_tsv_text(vxs_tsv_writer *writer, const char *text);
/* "what_of", such as a column of a class, whose name has any length; "what" without `of`. */
void vxs_tsv_of(vxs_tsv_writer *writer, const char *what, const char *of);
void vxs_tsv_real(vxs_tsv_writer *writer, double value);
void vxs_tsv_end_row(vxs_tsv_writer *writer);

/* ---- NPY ------------------------------------------------------------------------------------- */

VXS_MUST_CHECK vxs_status vxs_npy_open(const char *path, vxs_npy *npy, vxs_error *err);
/* Parses bytes in memory, borrowed; nothing to release. */
VXS_MUST_CHECK vxs_status vxs_npy_parse(const void *bytes, size_t length, const char *name,
                                        vxs_npy *npy, vxs_error *err);
void vxs_npy_release(vxs_npy *npy);
/* Item by position in the file, as a double (64-bit integers are rounded). */
double vxs_npy_item(const vxs_npy *npy, size_t position);
/* The data in place if it is float32 in this machine's byte order, C order and aligned, else
 * NULL. */
const float *vxs_npy_floats(const vxs_npy *npy);
/* Header of a C-order array of float32 ('f', 4), float64 ('f', 8) or another kind above; the
 * caller writes the items behind it, in this machine's byte order. */
VXS_MUST_CHECK vxs_status vxs_npy_write_header(FILE *stream, char kind, int item_size, int ndim,
                                               const size_t *shape, vxs_error *err);

#ifdef __cplusplus
}
#endif

#endif
