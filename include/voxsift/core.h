/* voxsift/core.h - what every room and every program stands on.
 *
 * Conventions for the whole library
 *   Failure    Functions that can fail return vxs_status (or a pointer, NULL on failure) and take a
 *              vxs_error as last argument. The first message is kept; it is one line, complete
 *              enough to print. Outputs are untouched or empty on failure. The library never
 *              prints and never exits.
 *   Lifetimes  _init/_release for values, _new/_read/_open and _free for pointers; both accept what
 *              is empty or NULL.
 *   Threads    Objects may be used by one thread at a time, different objects by different threads,
 *              unless a function says more. Results never depend on the number of threads.
 *   Text       UTF-8. Numbers are read and written with a point, whatever the locale. */
#ifndef VOXSIFT_CORE_H
#define VOXSIFT_CORE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "voxsift/text.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VXS_VERSION "0.1.0"

#if defined(__GNUC__)
#define VXS_MUST_CHECK          __attribute__((warn_unused_result))
#define VXS_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define VXS_MUST_CHECK
#define VXS_PRINTF(text, first)
#endif

/* ---- Status and error ----------------------------------------------------------------------- */

/* What became of a call. The values are the exit codes of the command line. */
typedef enum {
    VXS_OK = 0,
    VXS_FAILED = 1,        /* everything without a code of its own, such as no memory */
    VXS_MISUSE = 2,        /* an option or argument cannot be used as given */
    VXS_NOT_CONVERGED = 3, /* an outcome, not an error: outputs are written and marked */
    VXS_BAD_DATA = 65,     /* an input was read and is not what it should be */
    VXS_MISSING = 66,      /* an input is not there or cannot be opened */
    VXS_CANNOT_WRITE = 73, /* an output cannot be made */
    VXS_INTERRUPTED = 130  /* stopped on request */
} vxs_status;

/* One row a status: what help, the man pages and docs say of it. Ends with meaning == NULL. */
typedef struct {
    vxs_status status;
    const char *meaning;
} vxs_status_row;
extern const vxs_status_row vxs_status_rows[];

/* Start with VXS_ERROR_INIT; may be reused after setting it so again. */
typedef struct {
    vxs_status status;
    char message[1024];
} vxs_error;
#define VXS_ERROR_INIT                                                                             \
    {                                                                                              \
        VXS_OK, ""                                                                                 \
    }

/* Keeps the message if it is the first one; returns `status` always, so that a function can end
 * with `return vxs_fail(err, ...)`. What a terminal might obey is shown as in voxsift/text.h,
 * so a message is one line. err may be NULL. */
vxs_status vxs_fail(vxs_error *err, vxs_status status, const char *format, ...) VXS_PRINTF(3, 4);
vxs_status vxs_failv(vxs_error *err, vxs_status status, const char *format, va_list args)
    VXS_PRINTF(3, 0);

/* ---- Memory and text ------------------------------------------------------------------------ */

/* Zeroed memory for count * size bytes, at least one; NULL (and err) when it is not to be had or
 * the product does not fit. Freed with free(). */
VXS_MUST_CHECK void *vxs_alloc(size_t count, size_t size, vxs_error *err);
/* a * b, or where that does not fit SIZE_MAX, which no request for memory is granted. */
size_t vxs_times(size_t a, size_t b);
/* As realloc(old, count * size); on failure `old` is untouched and still owned by the caller. */
VXS_MUST_CHECK void *vxs_resize(void *old, size_t count, size_t size, vxs_error *err);
/* Allocated text as by printf. */
VXS_MUST_CHECK char *vxs_format(vxs_error *err, const char *format, ...) VXS_PRINTF(2, 3);
/* Allocated copy of a name from elsewhere in its visible form (voxsift/text.h). */
VXS_MUST_CHECK char *vxs_shown(const char *text, vxs_error *err);

/* ---- Running: log, progress, threads, interruption ------------------------------------------- */

typedef enum {
    VXS_LOG_ERROR,   /* what was asked for was not done */
    VXS_LOG_CAUTION, /* a warning that a result may not mean what it seems to: leaks, persons */
    VXS_LOG_WARNING, /* it was done, but not quite as asked */
    VXS_LOG_INFO,    /* what is being done */
    VXS_LOG_DEBUG    /* for whoever looks for the reason */
} vxs_log_level;

/* What long calls need to know of their caller. All zero is a valid context: silent, one thread,
 * never interrupted. The callbacks are called by one thread at a time. */
typedef struct {
    int nthreads;        /* 0 counts as 1 */
    const char *command; /* what the user typed, for provenance; may be NULL */
    void (*log)(void *user, vxs_log_level level, const char *message);
    void (*progress)(void *user, const char *task, const char *unit, uint64_t done,
                     uint64_t total); /* done == total: the task is over */
    void *user;
    const volatile int *interrupted; /* non-zero: stop soon with VXS_INTERRUPTED; may be NULL */
    bool no_fsync;                   /* outputs and checkpoints need not survive a power loss */
} vxs_context;

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
typedef struct {
    FILE *stream;
    vxs_log_level level; /* what is more detailed than this is not said */
    const char *name;    /* printed before each message; may be NULL */
    double (*now)(void);
    bool terminal;
    bool line_open; /* a progress line stands on the terminal */
    bool told;      /* this task has printed something */
    double started, last;
} vxs_talk;
void vxs_talk_init(vxs_talk *talk, FILE *stream, vxs_log_level level, const char *name);
void vxs_talk_log(void *talk, vxs_log_level level, const char *message);
void vxs_talk_progress(void *talk, const char *task, const char *unit, uint64_t done,
                       uint64_t total);

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

/* ---- Parameters: one row feeds everything ---------------------------------------------------- */

/* The type says what stands at the row's offset in the struct of values. */
typedef enum {
    VXS_PARAM_FLAG,   /* bool */
    VXS_PARAM_WHOLE,  /* int64_t; initial NAN means "not given", and then it is 0 */
    VXS_PARAM_REAL,   /* double; initial NAN means "not given" */
    VXS_PARAM_CHOICE, /* int, index into choices */
    VXS_PARAM_BYTES,  /* int64_t, given as 500M or 2G; initial as for whole numbers */
    VXS_PARAM_TEXT,   /* const char *, NULL means "not given" */
    VXS_PARAM_PATH    /* the same, a file or directory */
} vxs_param_type;

/* Tables end with name == NULL. Limits are inclusive; -INFINITY and INFINITY leave a side open
 * (INFINITY itself is never accepted). */
typedef struct {
    const char *name;  /* as on the command line, without the dashes */
    char letter;       /* short form, or 0 */
    const char *value; /* what stands for the value in help: N, MM, FILE; NULL for flags */
    const char *help;  /* a phrase, without full stop */
    vxs_param_type type;
    size_t offset;
    double initial, min, max;
    const char *const *choices; /* ends with NULL */
    bool required;
} vxs_param;

void vxs_params_defaults(const vxs_param *table, void *values);
/* Sets one value from text; the message names the option, what it wants and what it got. */
VXS_MUST_CHECK vxs_status vxs_param_set(const vxs_param *param, void *values, const char *text,
                                        vxs_error *err);
/* "a number between 0 and 1", "one of a, b": what the row accepts, in words. */
void vxs_param_wants(const vxs_param *param, char *buffer, size_t size);
/* The default in words, or "" when there is none. */
void vxs_param_default(const vxs_param *param, char *buffer, size_t size);

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Writer: calls nest as the text does; keys only inside objects (NULL elsewhere). NaN and
 * infinities become null, bytes that are not UTF-8 become U+FFFD; what voxsift/text.h shows as
 * <U+...> is escaped. Write errors show when the
 * stream is closed. */
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

/* ---- Tables (TSV, also CSV) ------------------------------------------------------------------ */

/* Reads what people have: a byte order mark, CRLF, blanks around cells, quotes, empty lines and
 * empty cells at line ends are forgiven; the separator is a tab, else a comma, else a semicolon,
 * whichever the first line has, else blanks if every line has as many words as the first. Missing
 * is an empty cell, n/a, na, nan, null, #n/a, <na> or a point, in any case. Refused, naming the
 * line: rows that are shorter or longer than the header, open quotes, zero bytes, text that is not
 * UTF-8. */
typedef struct vxs_table vxs_table;
VXS_MUST_CHECK vxs_status vxs_table_read(const char *path, vxs_table **table, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_table_parse(const char *bytes, size_t length, const char *name,
                                          vxs_table **table, vxs_error *err);
/* A file without a header, whose columns are called as `names` says: "condition,run". */
VXS_MUST_CHECK vxs_status vxs_table_read_bare(const char *path, const char *names,
                                              vxs_table **table, vxs_error *err);
void vxs_table_free(vxs_table *table);
size_t vxs_table_rows(const vxs_table *table); /* without the header */
size_t vxs_table_columns(const vxs_table *table);
const char *vxs_table_header(const vxs_table *table, size_t column);
/* In visible form (voxsift/text.h), as headers are; NULL when missing. */
const char *vxs_table_cell(const vxs_table *table, size_t row, size_t column);
/* The same cell to the byte: the path of a file. */
const char *vxs_table_path(const vxs_table *table, size_t row, size_t column);
/* Line of the file on which the row starts, from 1. */
size_t vxs_table_line(const vxs_table *table, size_t row);
/* Column by name; a name that stands twice or is not there is refused, with the nearest one. */
VXS_MUST_CHECK vxs_status vxs_table_find(const vxs_table *table, const char *name, size_t *column,
                                         vxs_error *err);
/* The cell as a number, NAN when missing; anything else is refused, naming line and column. */
VXS_MUST_CHECK vxs_status vxs_table_real(const vxs_table *table, size_t row, size_t column,
                                         double *value, vxs_error *err);

/* What a column holds. A column is numeric when every cell that is not missing is a number. */
typedef struct {
    bool numeric;
    size_t missing, distinct;
    double min, max, mean, sd; /* NAN unless numeric and not all missing; sd divides by n - 1 */
} vxs_column_summary;
VXS_MUST_CHECK vxs_status vxs_table_summarise(const vxs_table *table, size_t column,
                                              vxs_column_summary *summary, vxs_error *err);

/* The different values of a column with their counts, sorted by text; missing cells left out. The
 * array is freed with free(), the texts belong to the table. */
typedef struct {
    const char *text;
    size_t count;
} vxs_level;
VXS_MUST_CHECK vxs_status vxs_table_levels(const vxs_table *table, size_t column,
                                           vxs_level **levels, size_t *count, vxs_error *err);

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

#define VXS_NPY_DIMENSIONS 8
/* An array in a file, mapped into memory read-only: bool, integers and floats of 1 to 8 bytes in
 * either byte order, C or Fortran order. Everything else, and every file whose length is not what
 * its header says, is refused. */
typedef struct {
    char kind;     /* 'b' bool, 'i' signed, 'u' unsigned, 'f' float */
    int item_size; /* bytes */
    bool swapped;  /* not in this machine's byte order */
    bool fortran;  /* first dimension fastest */
    int ndim;
    size_t shape[VXS_NPY_DIMENSIONS];
    size_t count;     /* product of shape */
    const void *data; /* count items, 64-byte aligned as numpy writes them, but not promised */
    void *map;        /* private */
    size_t map_size;
} vxs_npy;
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
