/* voxsift/core.h - definitions common to the whole library, and its conventions:
 *
 * - Failure: functions that can fail return vxs_status (or a pointer, NULL on failure) and take a
 *   vxs_error as last argument. The first message is kept; it is one line, complete enough to
 *   print. Outputs are untouched or empty on failure. The library never prints and never exits.
 * - Arguments: functions that can fail return VXS_MISUSE, with a message that names the argument,
 *   for a NULL pointer and for an invalid number, index or choice. context and err may be NULL;
 *   other arguments only where their comment allows it. Other functions return NULL, NAN, 0 or
 *   the documented value for such arguments, void ones do nothing. Unchecked: that arrays are long
 *   enough, and that objects have not been freed.
 * - Lifetimes: _init and _release for values, _new, _read or _open and _free for pointers;
 *   _release accepts a zeroed value, _free accepts NULL.
 * - Threads: one thread at a time may use an object, different threads different objects, unless a
 *   comment allows more. Results never depend on the number of threads.
 * - Text: UTF-8. Numbers have a decimal point in every locale. */
#ifndef VOXSIFT_CORE_H
#define VOXSIFT_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Limit of the numbers in a problem: the cube of such a number does not overflow. */
#define VXS_LARGEST 1e100

#if defined(__GNUC__)
/* the declarations below are exported, all other symbols are hidden */
#pragma GCC visibility push(default)
#endif

#define VXS_VERSION "0.1.0"

#if defined(__GNUC__)
#define VXS_MUST_CHECK          __attribute__((warn_unused_result))
#define VXS_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define VXS_MUST_CHECK
#define VXS_PRINTF(text, first)
#endif

/* ---- Status and error ------------------------------------------------------------------------ */

/* Result of a call. The values are the exit codes of the command line. */
typedef enum {
    VXS_OK = 0,
    VXS_FAILED = 1,        /* any failure without a code of its own, such as lack of memory */
    VXS_MISUSE = 2,        /* an option or argument cannot be used as given */
    VXS_NOT_CONVERGED = 3, /* an outcome, not an error: outputs are written and marked */
    VXS_BAD_DATA = 65,     /* an input was read and is invalid */
    VXS_MISSING = 66,      /* an input does not exist or cannot be opened */
    VXS_CANNOT_WRITE = 73, /* an output cannot be created */
    VXS_INTERRUPTED = 130  /* stopped on request */
} vxs_status;

/* Initialize with VXS_ERROR_INIT; initialize again before reuse. */
typedef struct {
    vxs_status status;
    char message[1024];
} vxs_error;
#define VXS_ERROR_INIT                                                                             \
    {                                                                                              \
        VXS_OK, ""                                                                                 \
    }

/* Keeps the message if it is the first one; always returns `status`, so that a function can end
 * with `return vxs_fail(err, ...)`. Control characters are shown as <U+...>, so a message is one
 * line. err may be NULL. */
vxs_status vxs_fail(vxs_error *err, vxs_status status, const char *format, ...) VXS_PRINTF(3, 4);

/* ---- Running: log, progress, threads, interruption ------------------------------------------- */

typedef enum {
    VXS_LOG_ERROR,   /* the request failed */
    VXS_LOG_CAUTION, /* a result may be misleading: leakage, repeated subjects */
    VXS_LOG_WARNING, /* the request was carried out with a deviation */
    VXS_LOG_INFO,    /* progress of the work */
    VXS_LOG_DEBUG    /* details for debugging */
} vxs_log_level;

/* Callbacks and limits of long calls. All zero is a valid context: silent, one thread, never
 * interrupted. The callbacks are called by one thread at a time. */
typedef struct {
    int nthreads;        /* 0 counts as 1, more than 1024 as 1024 */
    const char *command; /* command line, for provenance; may be NULL */
    void (*log)(void *user, vxs_log_level level, const char *message);
    void (*progress)(void *user, const char *task, const char *unit, uint64_t done,
                     uint64_t total); /* done == total: the task is over */
    void *user;
    const volatile int *interrupted; /* non-zero: stop soon with VXS_INTERRUPTED; may be NULL */
    bool no_fsync;                   /* outputs and checkpoints need not survive a power loss */
} vxs_context;

/* ---- Parameters: one row feeds everything ---------------------------------------------------- */

/* The type of the value at the row's offset in the struct of values. */
typedef enum {
    VXS_PARAM_FLAG,   /* bool */
    VXS_PARAM_WHOLE,  /* int64_t; initial NAN means "not given", and then it is 0 */
    VXS_PARAM_REAL,   /* double; initial NAN means "not given" */
    VXS_PARAM_CHOICE, /* int, index into choices */
    VXS_PARAM_BYTES,  /* int64_t, written as 500M or 2G; initial NAN: as for VXS_PARAM_WHOLE */
    VXS_PARAM_TEXT,   /* const char *, NULL means "not given" */
    VXS_PARAM_PATH,   /* the same, a file or directory */
    VXS_PARAM_TEXTS   /* vxs_texts: option that may be repeated */
} vxs_param_type;

/* The values of a repeated option, in order, followed by NULL. */
enum { VXS_MOST_TEXTS = 16 };
typedef struct {
    const char *each[VXS_MOST_TEXTS + 1];
} vxs_texts;

/* Headings under which help lists options, in this order. */
typedef enum {
    VXS_HEAD_OPTIONS,
    VXS_HEAD_DATA,
    VXS_HEAD_IMAGES,
    VXS_HEAD_COVARIATES,
    VXS_HEAD_MODEL,
    VXS_HEAD_HYPER,
    VXS_HEAD_EVALUATION,
    VXS_HEAD_OUTPUT,
    VXS_HEAD_PERFORMANCE,
    VXS_HEAD_RESEARCH,
    VXS_HEADS /* how many */
} vxs_head;

/* Tables end with name == NULL. Limits are inclusive; -INFINITY and INFINITY mean no limit
 * (INFINITY itself is never accepted). */
typedef struct {
    const char *name;  /* name on the command line, without dashes */
    char letter;       /* short form, or 0 */
    const char *value; /* placeholder in help: N, MM, FILE; NULL for flags */
    const char *help;  /* a phrase of at most 25 words, without full stop */
    vxs_param_type type;
    size_t offset;
    double initial, min, max;
    const char *const
        *choices; /* NULL-terminated; for a whole number: alternative words, see below */
    bool required;
    bool usual;       /* in the short help */
    vxs_head head;    /* where help lists it */
    const char *more; /* sentences of the manual page behind help; or NULL */
    bool column;      /* text: a column whose values say which subjects belong together */
} vxs_param;

/* Value of a whole number for which word k of `choices` was given, such as 'group' for --folds. */
#define VXS_WORD(k) (-2 - (k))

void vxs_params_defaults(const vxs_param *table, void *values);
/* Sets one value from text; the message contains the option, the accepted values and the given
 * one. */
VXS_MUST_CHECK vxs_status vxs_param_set(const vxs_param *param, void *values, const char *text,
                                        vxs_error *err);

/* ---- Tables (TSV, also CSV) ------------------------------------------------------------------ */

/* Lenient table reader. It accepts a byte order mark, CRLF, blanks around cells, quotes, empty
 * lines and empty cells at line ends. The separator is a tab, else a comma, else a semicolon,
 * whichever the first line has, else blanks if every line has as many words as the first. Missing
 * is an empty cell, n/a, na, nan, null, #n/a, <na> or a point, in any case. Errors, with their
 * line: rows that are shorter or longer than the header, open quotes, zero bytes, text that is
 * not UTF-8. */
typedef struct vxs_table vxs_table;
VXS_MUST_CHECK vxs_status vxs_table_read(const char *path, vxs_table **table, vxs_error *err);
void vxs_table_free(vxs_table *table);
size_t vxs_table_rows(const vxs_table *table); /* without the header */
size_t vxs_table_columns(const vxs_table *table);
const char *vxs_table_header(const vxs_table *table, size_t column);
/* Headers and cells show control characters as <U+...>. NULL: missing, or row or column out of
 * range. */
const char *vxs_table_cell(const vxs_table *table, size_t row, size_t column);
/* Finds a column by name; fails for duplicate and unknown names, and suggests the nearest one. */
VXS_MUST_CHECK vxs_status vxs_table_find(const vxs_table *table, const char *name, size_t *column,
                                         vxs_error *err);
/* The cell as a number, NAN when missing; fails for other text, with line and column. */
VXS_MUST_CHECK vxs_status vxs_table_real(const vxs_table *table, size_t row, size_t column,
                                         double *value, vxs_error *err);

/* Summary of a column. A column is numeric when every cell that is not missing is a number. */
typedef struct {
    bool numeric;
    size_t missing, distinct;
    double min, max, mean, sd; /* NAN unless numeric and not all missing; sd divides by n - 1 */
} vxs_column_summary;
VXS_MUST_CHECK vxs_status vxs_table_summarize(const vxs_table *table, size_t column,
                                              vxs_column_summary *summary, vxs_error *err);

/* ---- NPY ------------------------------------------------------------------------------------- */

#define VXS_NPY_DIMENSIONS 8
/* An array in a file, mapped into memory read-only: bool, integers and floats of 1 to 8 bytes in
 * either byte order, C or Fortran order. All other types, and files whose length does not match the
 * header, are errors. A member of vxs_cohort; its functions are internal. */
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

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
