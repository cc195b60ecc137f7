/* voxsift/internal/core.h - what every room stands on; for the library's rooms and the command
 * line, not installed. */
#ifndef VOXSIFT_INTERNAL_CORE_H
#define VOXSIFT_INTERNAL_CORE_H

#include "voxsift/core.h"
#include "voxsift/internal/text.h"

#include <stdarg.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status and error ------------------------------------------------------------------------ */

/* One row a status: what help, the man pages and docs say of it. Ends with meaning == NULL. */
typedef struct {
    vxs_status status;
    const char *meaning;
} vxs_status_row;
extern const vxs_status_row vxs_status_rows[];
vxs_status vxs_failv(vxs_error *err, vxs_status status, const char *format, va_list args)
    VXS_PRINTF(3, 0);

/* ---- Memory and text ------------------------------------------------------------------------- */

/* Zeroed memory for count * size bytes, at least one; NULL (and err) when it is not to be had or
 * the product does not fit. Freed with free(). */
VXS_MUST_CHECK void *vxs_alloc(size_t count, size_t size, vxs_error *err);
/* a * b, or where that does not fit SIZE_MAX, which no request for memory is granted. */
size_t vxs_times(size_t a, size_t b);
/* As realloc(old, count * size); on failure `old` is untouched and still owned by the caller. */
VXS_MUST_CHECK void *vxs_resize(void *old, size_t count, size_t size, vxs_error *err);
/* Allocated text as by printf. */
VXS_MUST_CHECK char *vxs_format(vxs_error *err, const char *format, ...) VXS_PRINTF(2, 3);
/* Allocated copy of a name from elsewhere in its visible form (voxsift/internal/text.h). */
VXS_MUST_CHECK char *vxs_shown(const char *text, vxs_error *err);

/* ---- Running: log, progress, threads, interruption ------------------------------------------- */

void vxs_log(const vxs_context *context, vxs_log_level level, const char *format, ...)
    VXS_PRINTF(3, 4);

/* VXS_INTERRUPTED when the caller's caller wants to stop; for work without progress of its own. */
VXS_MUST_CHECK vxs_status vxs_check_interrupted(const vxs_context *context, vxs_error *err);

/* One task of known size. _step may be called by several threads at once; it fails only when the
 * caller's caller wants to stop. Neither strings are copied. */
typedef struct {
    const vxs_context *context;
    const char *task, *unit;
    uint64_t total, done;
    int busy;
} vxs_progress;
void vxs_progress_start(vxs_progress *progress, const vxs_context *context, const char *task,
                        const char *unit, uint64_t total);
VXS_MUST_CHECK vxs_status vxs_progress_step(vxs_progress *progress, uint64_t steps, vxs_error *err);

/* A monotonic clock, for reports on time; never for decisions inside an algorithm. */
double vxs_seconds(void);

/* A listener for a person: give its functions to a context. On a terminal, progress is one line
 * rewritten in place after the first second; in a log it is a line a minute, and the last one.
 * `now` is a monotonic clock in seconds (NULL: the system's); tests bring their own. */
/* Of more than this many lines that differ in names and numbers alone, the first three are printed,
 * and how many more there are; with VXS_LOG_DEBUG all are. */
#define VXS_SIMILAR_LINES 5
typedef struct {
    FILE *stream;
    vxs_log_level level; /* what is more detailed than this is not said */
    const char *name;    /* printed before each message; may be NULL */
    double (*now)(void);
    bool terminal;
    bool line_open; /* a progress line stands on the terminal */
    bool told;      /* this task has printed something */
    double started, last;
    char *similar[VXS_SIMILAR_LINES]; /* lines that are alike: the last ones wait */
    size_t alike;                     /* how many of them there were */
    vxs_log_level alike_level;
} vxs_talk;
void vxs_talk_init(vxs_talk *talk, FILE *stream, vxs_log_level level, const char *name);
/* Prints what waits. */
void vxs_talk_flush(vxs_talk *talk);
void vxs_talk_log(void *talk, vxs_log_level level, const char *message);
void vxs_talk_progress(void *talk, const char *task, const char *unit, uint64_t done,
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
/* The `most` best of all that were offered, each once, in whatever order: a heap with the
 * worst of them first. Better is a larger score, and of equal ones the smaller number, so that what
 * is kept depends on nothing but what was offered. */
typedef struct {
    size_t most, count;
    vxs_scored *heap;
} vxs_top;
VXS_MUST_CHECK vxs_status vxs_top_init(vxs_top *top, size_t most, vxs_error *err);
void vxs_top_release(vxs_top *top);
/* Whether it is kept, for now. */
bool vxs_top_offer(vxs_top *top, size_t unit, double score);
/* What is below this is not kept. */
double vxs_top_least(const vxs_top *top);
/* Best first; nothing is offered afterwards. */
void vxs_top_sort(vxs_top *top);

/* ---- Random numbers -------------------------------------------------------------------------- */

/* Counter-based (Philox 4x32-10): draw number `index` of stream `stream` under `seed` is a function
 * of these three and of nothing else, so that any part of a stream can be made anywhere, in any
 * order, by any number of threads. Streams are independent. */
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

/* Whether a value is a finite number of at least `least`, or above it; NaN is in no range. */
VXS_MUST_CHECK vxs_status vxs_number_check(const char *name, double value, double least, bool above,
                                           vxs_error *err);

/* ---- Parameters: one row feeds everything ---------------------------------------------------- */

/* "a number between 0 and 1", "one of a, b": what the row accepts, in words. */
void vxs_param_wants(const vxs_param *param, char *buffer, size_t size);
/* Whether every choice among the values is one of its row: programs set them without text. */
VXS_MUST_CHECK vxs_status vxs_params_check_choices(const vxs_param *table, const void *values,
                                                   vxs_error *err);
/* The default in words, or "" when there is none. */
void vxs_param_default(const vxs_param *param, char *buffer, size_t size);

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Writer: calls nest as the text does; keys only inside objects (NULL elsewhere). NaN and
 * infinities become null, bytes that are not UTF-8 become U+FFFD; what voxsift/internal/text.h
 * shows as <U+...> is escaped. Write errors show when the stream is closed. */
#define VXS_JSON_DEPTH 64
typedef struct {
    FILE *stream;
    int depth;
    bool filled[VXS_JSON_DEPTH + 1]; /* has a member; deeper ones share the last place */
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
/* Every row of a parameter table under its name; reals and texts that are not given are null. */
void vxs_json_params(vxs_json_writer *writer, const char *key, const vxs_param *table,
                     const void *values);

/* The warnings of a run in its results: the key "warnings"; NULL: none. */
typedef struct {
    char **each;
    size_t count;
} vxs_warnings;
void vxs_warnings_add(vxs_warnings *warnings, const char *message);
void vxs_warnings_json(vxs_json_writer *writer, const vxs_warnings *warnings);
void vxs_warnings_release(vxs_warnings *warnings);

/* Reader: RFC 8259, strictly; repeated keys and nesting deeper than VXS_JSON_DEPTH are refused.
 * _read is for directories of voxsift: it refuses one with pipes or devices in it. */
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
    const char *text;              /* text, zero-terminated; may hold zero bytes itself */
    size_t length;                 /* bytes of text, or members of an array or object */
    struct vxs_json *first, *next; /* first member; next member of the same parent */
} vxs_json;
VXS_MUST_CHECK vxs_status vxs_json_read(const char *path, vxs_json **root, vxs_error *err);
/* `name` stands for the file in messages. */
VXS_MUST_CHECK vxs_status vxs_json_parse(const char *bytes, size_t length, const char *name,
                                         vxs_json **root, vxs_error *err);
/* The member called key, or NULL when it is not there or object is NULL or no object. */
const vxs_json *vxs_json_get(const vxs_json *object, const char *key);
const char *vxs_json_get_text(const vxs_json *object, const char *key); /* NULL: no text */
double vxs_json_get_number(const vxs_json *object, const char *key);    /* NAN: no number */
void vxs_json_free(vxs_json *root);
/* What directories of voxsift say of themselves: the keys format, format_version and voxsift. A
 * file of another format or version is VXS_BAD_DATA, in a line that names it. */
#define VXS_FORMAT_VERSION 2
void vxs_json_format(vxs_json_writer *writer, const char *format);
VXS_MUST_CHECK vxs_status vxs_json_check_format(const vxs_json *about, const char *file,
                                                const char *format, vxs_error *err);

/* ---- Tables (TSV, also CSV) ------------------------------------------------------------------ */

VXS_MUST_CHECK vxs_status vxs_table_parse(const char *bytes, size_t length, const char *name,
                                          vxs_table **table, vxs_error *err);
/* A file without a header, whose columns are called as `names` says: "condition,run". */
VXS_MUST_CHECK vxs_status vxs_table_read_bare(const char *path, const char *names,
                                              vxs_table **table, vxs_error *err);
/* The same cell to the byte: the path of a file. */
const char *vxs_table_path(const vxs_table *table, size_t row, size_t column);
/* Line of the file on which the row starts, from 1. */
size_t vxs_table_line(const vxs_table *table, size_t row);
const char *vxs_table_name(const vxs_table *table);
/* Messages name another file, and of row i line lines[i]: those that a table was made of. Lines
 * NULL: as they are. */
VXS_MUST_CHECK vxs_status vxs_table_rename(vxs_table *table, const char *name, const size_t *lines,
                                           vxs_error *err);

/* The different values of a column with their counts, sorted by text; missing cells left out. The
 * array is freed with free(), the texts belong to the table. */
typedef struct {
    const char *text;
    size_t count;
} vxs_level;
VXS_MUST_CHECK vxs_status vxs_table_levels(const vxs_table *table, size_t column,
                                           vxs_level **levels, size_t *count, vxs_error *err);

/* Rows by expressions, as --only and --exclude have them:
 *   COLUMN=A,B    the cell is A or B; as numbers where both are, so that 60 is 60.0
 *   COLUMN!=A,B   the cell is neither
 *   COLUMN>60     the cell is a number above 60; likewise >=, < and <=
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
/* Begins, and adds all of --only, then all of --exclude; nobody left is refused. */
VXS_MUST_CHECK vxs_status vxs_row_filter_make(vxs_row_filter *filter, const vxs_table *table,
                                              const vxs_texts *only, const vxs_texts *exclude,
                                              vxs_error *err);
#define VXS_ONLY_HELP                                                                              \
    "use subjects with EXPR: group=AD,CN, site!=B, age>60; repeatable, all must hold",             \
        .head = VXS_HEAD_DATA, .usual = true, .more = "mmse= selects subjects without a value."
#define VXS_EXCLUDE_HELP "leave out subjects with EXPR; repeatable", .head = VXS_HEAD_DATA
void vxs_row_filter_release(vxs_row_filter *filter);
/* "--only group=AD leaves 20, --exclude age>60 leaves 7" */
#define VXS_FILTER_TEXT 768
void vxs_row_filter_words(const vxs_row_filter *filter, char buffer[VXS_FILTER_TEXT]);

/* Writing: cells from left to right, in visible form, then the end of the row. Tabs and line ends
 * inside a cell become blanks; NULL and NAN become n/a. */
typedef struct {
    FILE *stream;
    bool begun;
} vxs_tsv_writer;
void vxs_tsv_init(vxs_tsv_writer *writer, FILE *stream);
void vxs_tsv_text(vxs_tsv_writer *writer, const char *text);
void vxs_tsv_real(vxs_tsv_writer *writer, double value);
void vxs_tsv_end_row(vxs_tsv_writer *writer);

/* ---- NPY ------------------------------------------------------------------------------------- */

VXS_MUST_CHECK vxs_status vxs_npy_open(const char *path, vxs_npy *npy, vxs_error *err);
/* The same on bytes in memory, which must stay; nothing to release. */
VXS_MUST_CHECK vxs_status vxs_npy_parse(const void *bytes, size_t length, const char *name,
                                        vxs_npy *npy, vxs_error *err);
void vxs_npy_release(vxs_npy *npy);
/* Item by position in the file, as a double (64-bit integers are rounded). */
double vxs_npy_item(const vxs_npy *npy, size_t position);
/* The data in place when it is float32 of this machine's byte order, C order and aligned, else
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
