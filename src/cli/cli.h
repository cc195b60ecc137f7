/* cli.h - the command line as tables: the definition of a command, and the arguments of its run
 * function.
 *
 * A command is one file cmd_<name>.c with one vxs_command and one run function, and one line in
 * commands.c. Parsing, help, man page and completion are loops over these tables. */
#ifndef VXS_CLI_H
#define VXS_CLI_H

#include "voxsift/internal/all.h"

/* A positional argument. Tables end with name == NULL. */
typedef struct {
    const char *name; /* name in the usage line: FILE */
    const char *help;
    const char *const *choices;        /* ends with NULL; NULL for files */
    const char *const *(*names)(void); /* choices computed at run time; or NULL */
    bool optional;                     /* optional; follows the required ones */
    bool repeat;                       /* repeatable; the last one only */
} vxs_operand;
/* The choices, ending with NULL; NULL for files. */
const char *const *vxs_operand_choices(const vxs_operand *operand);

/* An example of use. Tables end with line == NULL. */
typedef struct {
    const char *line;
    const char *purpose; /* purpose, a phrase that continues "To" */
} vxs_example;

/* Groups of options shared by several commands. */
enum {
    VXS_TAKES_JSON = 1,
    VXS_TAKES_OUTPUT = 2, /* --out, --force and --no-fsync */
    VXS_TAKES_THREADS = 4,
    VXS_OUTPUT_OPTIONAL = 8, /* --out may be absent; the command checks it */
    VXS_TAKES_METHOD = 16,   /* parameters of the methods */
    VXS_TAKES_CHUNK = 32,    /* --chunk and --resume */
    VXS_TAKES_MODEL = 64,    /* parameters of the simulations; the first operand selects one */
    VXS_NAMES_THREADS =
        128, /* with _THREADS: --nthreads is recorded only, the command starts no threads */
    VXS_TAKES_PAGE = 256,    /* --no-fsync; the command itself defines --out FILE and --force */
    VXS_TAKES_METHODS = 512, /* with _METHOD: --method may name several, with commas between */
    VXS_TAKES_DRY_RUN = 1024 /* with _OUTPUT_OPTIONAL: --out is required without --dry-run */
};
typedef struct {
    bool help, brief, quiet, verbose, json, force, resume, no_fsync;
    int64_t nthreads;
    const char *out, *chunk;
} vxs_shared;

/* All options of a command without duplicates: its own first, then those of all methods or models.
 */
#define VXS_MAX_OPTIONS 96
/* Bytes for the values of any command's own options. */
#define VXS_VALUES_SIZE 1024
#define VXS_MAX_KINDS   16
/* Several methods, each with the command's options and its own as if it were alone. */
typedef struct {
    size_t count; /* 0: one method */
    struct {
        int kind;
        union {
            max_align_t align;
            char bytes[VXS_VALUES_SIZE];
        } values;
        vxs_method_settings method;
    } each[VXS_METHODS];
    struct {
        const vxs_param *param;
        bool takes[VXS_METHODS];
    } partly[VXS_MAX_OPTIONS]; /* options that some take and some do not */
    size_t partly_count;
} vxs_several_methods;

typedef struct vxs_call vxs_call;

typedef struct {
    const char *name;
    const char *heading; /* heading in the overview of `help` */
    const char *summary; /* a phrase, without full stop */
    const char *details; /* paragraphs, separated by empty lines */
    const vxs_operand *operands;
    const vxs_param *params, *more_params,
        *most_params; /* the command's own options; may be NULL */
    unsigned takes;
    /* options that it takes and does not offer: refused with the reason, or without effect in it,
     * as those of a line for cv in permute; ends with NULL, may be NULL */
    const char *const *unoffered;
    const vxs_example *examples;
    vxs_status (*run)(const vxs_call *call, vxs_error *err);
} vxs_command;

struct vxs_call {
    const vxs_command *command;
    const void *values; /* values of the command's own options */
    const vxs_method_settings *method;
    const vxs_simulation_settings *model;
    const vxs_shared *shared;
    const vxs_several_methods *several; /* NULL: one method */
    vxs_chunking chunking;
    vxs_checkpoint *const *checkpoints; /* of several methods, one each */
    char **operands;                    /* ends with NULL */
    const vxs_context *context;
    const vxs_warnings *warnings; /* warnings so far, including those suppressed by --quiet */
    bool terminal;                /* `out` is a terminal: numbers are rounded for people */
    FILE *out; /* stream of results; everything else goes through the context's log */
};

/* The table of commands, ending with NULL. */
extern const vxs_command *const vxs_commands[];
const vxs_command *vxs_command_find(const char *name); /* NULL if unknown */
/* The command of that name; fails with the nearest name if unknown. */
const vxs_command *vxs_command_require(const char *name, vxs_error *err);
const char *const *vxs_command_names(void); /* ends with NULL */

typedef struct {
    const vxs_param *param;
    enum {
        VXS_OWN,
        VXS_OF_METHOD,
        VXS_OF_MODEL,
        VXS_SHARED
    } place; /* struct that stores the value */
} vxs_option;
size_t vxs_options_of(const vxs_command *command, vxs_option options[VXS_MAX_OPTIONS]);
/* Those that help and completion offer. */
size_t vxs_offered_options(const vxs_command *command, vxs_option options[VXS_MAX_OPTIONS]);

/* A method or a simulated model: selected by name, with options of its own. */
typedef struct {
    const char *name, *summary;
    const vxs_param *params;
} vxs_kind;
size_t vxs_kinds_of(int place, vxs_kind kinds[VXS_MAX_KINDS]);
/* The row of that name in the kind's table, or NULL. */
const vxs_param *vxs_kind_param(const vxs_kind *kind, const char *name);
size_t vxs_kinds_add(int place, vxs_option *options, size_t count);
/* Describes an option with its differences among the kinds. */
void vxs_kinds_words(int place, const char *name, char *buffer, size_t size);

typedef struct {
    union {
        max_align_t align;
        char bytes[VXS_VALUES_SIZE];
    } values;
    vxs_method_settings method;
    vxs_simulation_settings model;
    vxs_several_methods several;
    vxs_shared shared;
    char **operands; /* ends with NULL */
    int kind;        /* index of the selected method or model; negative: none */
} vxs_parsed;
/* Parses argv, which ends with NULL; moves the operands to its front. */
VXS_MUST_CHECK vxs_status vxs_options_parse(const vxs_command *command, int argc, char **argv,
                                            vxs_parsed *parsed, vxs_error *err);

/* Help, manual and completion, each a loop over the tables. */
void vxs_help_overview(FILE *out);
/* Print the usual options, and all options, of method or model `kind`; negative: of all. */
void vxs_help_brief(FILE *out, const vxs_command *command, int kind);
void vxs_help_command(FILE *out, const vxs_command *command, int kind);
/* Prints the page of a method. vxs_method_target: its targets, "classes" or "both". */
void vxs_help_method(FILE *out, const vxs_method *method);
/* True if an option of the task applies to some methods only, and to this one. */
bool vxs_is_option_of_method(const vxs_method *method, const char *name);
/* True unless the method has no use for this option of the command, as it is given. */
bool vxs_method_takes(const vxs_method *method, const char *name, const void *values);
const char *vxs_method_target(const vxs_method *method);
void vxs_help_item(FILE *out, const char *name, int column, const char *text);
extern const char *const vxs_head_names[];

/* Long texts, each included in the manual pages of some commands. Ends with name == NULL. */
typedef struct {
    const char *name, *summary;
    const char *text;            /* paragraphs, separated by empty lines */
    const char *const *commands; /* ends with NULL */
} vxs_topic;
extern const vxs_topic vxs_topics[];
bool vxs_topic_is_of(const vxs_topic *topic, const vxs_command *command);
void vxs_help_topic(FILE *out, const vxs_topic *topic);

/* Translate words of other programs to voxsift's, quoted; options must be among the command's
 * names. */
bool vxs_hint_option(const char *given, size_t length, const char *const *names, char *buffer,
                     size_t size);
bool vxs_hint_letter(const char *given, const char *const *names, char *buffer, size_t size);
const char *vxs_hint_value(const char *option, const char *value); /* or NULL */
const char *vxs_hint_command(const char *word);                    /* or NULL */
void vxs_usage_line(FILE *out, const vxs_command *command);
/* Format "-o DIR, --out DIR", and "phrase (value; default)", with the methods or models that have
 * the option if not all do. */
#define VXS_WORDS_SIZE 1024
void vxs_option_form(const vxs_param *param, char *buffer, size_t size);
void vxs_param_words(const vxs_param *param, char *buffer, size_t size);
void vxs_param_brief(const vxs_param *param, char *buffer, size_t size); /* short form, for -h */
void vxs_option_words(const vxs_option *option, char *buffer, size_t size);
void vxs_man_overview(FILE *out);
void vxs_man_command(FILE *out, const vxs_command *command);
extern const char *const vxs_shells[]; /* ends with NULL */
void vxs_complete(FILE *out, int shell);

/* Environment variables. Ends with name == NULL. */
typedef struct {
    const char *name, *help;
} vxs_variable;
extern const vxs_variable vxs_variables[];

/* Wraps text at blanks to at most `width` columns. The first line starts at `column`, the others at
 * `indent`. Ends with a newline. */
void vxs_wrap(FILE *out, const char *text, int indent, int column, int width);

/* Opens the cohort named by the first operand, makes the task, calls `work`, and closes both. */
typedef vxs_status vxs_task_work(const vxs_call *call, vxs_task *task, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_with_task(const vxs_call *call, const vxs_task_settings *settings,
                                        vxs_task_work *work, vxs_error *err);
/* Whether operands are one directory with a cohort, not images or tables. */
bool vxs_is_cohort(char **sources);
/* What a row of the cohort is: "subject" or "voxel". */
const char *vxs_row_word(const vxs_task *task);
/* "160 subjects (80 people)"; without the people if each has one subject. */
#define VXS_SUBJECTS_TEXT 80
const char *vxs_subjects_text(const vxs_task *task, char buffer[VXS_SUBJECTS_TEXT]);

/* class_rows.c: prints the confusion matrix and scores of three or more classes; prints the
 * positive class of two. */
void vxs_print_classes(FILE *out, char *const *classes, const vxs_class_scores *scores);
void vxs_print_positive(FILE *out, const vxs_task *task);
/* What the threshold was learned for, of --decision, unless it is the model's own. */
void vxs_print_decision(FILE *out, const char *rule);

/* predicted_images.c: predicts images of voxels, for -o. */
VXS_MUST_CHECK vxs_status vxs_print_predicted_images(const vxs_call *call, const vxs_model *model,
                                                     const vxs_patch_settings *settings,
                                                     bool training_too, vxs_error *err);

/* Closes the JSON object of --json, with the warnings of the run; the last output of a successful
 * command. */
void vxs_close_json(const vxs_call *call, vxs_json_writer *writer);

/* Prints a text from a file without line breaks and terminal control characters. */
void vxs_print_clean(FILE *out, const char *text);

/* Save a result, print it in words or as JSON, and print the closing remarks; for complete, chunked
 * and merged runs. */
VXS_MUST_CHECK vxs_status vxs_report_cv(const vxs_call *call, const vxs_cv *cv, vxs_error *err);
/* Finishes a run of several methods, saves it and prints it. */
VXS_MUST_CHECK vxs_status vxs_report_several(const vxs_call *call, vxs_several *several,
                                             vxs_error *err);
void vxs_print_compared(const vxs_call *call, const vxs_compared *compared);
VXS_MUST_CHECK vxs_status vxs_report_permutation(const vxs_call *call, const vxs_task *task,
                                                 const vxs_permute_settings *settings,
                                                 const vxs_method_settings *method,
                                                 const vxs_permutation *result, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_report_stability(const vxs_call *call, const vxs_task *task,
                                               const vxs_stability_settings *settings,
                                               const vxs_method_settings *method,
                                               const vxs_stability *result, vxs_error *err);
/* cmd_cv.c: a cross-validation, with all that is to be warned of; the task may get warnings. */
VXS_MUST_CHECK vxs_status vxs_run_cv(const vxs_call *call, vxs_task *task,
                                     const vxs_cv_settings *settings, vxs_cv *cv, vxs_error *err);
/* cv_several.c: `cv` of several methods; and the chunks of such runs merged. */
VXS_MUST_CHECK vxs_status vxs_run_several(const vxs_call *call, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_merge_several(const vxs_call *call, size_t count,
                                            const char *const *names, const char *cohort,
                                            vxs_error *err);
/* Prints the range of a chunk: units first ... end - 1 of `count`. */
void vxs_print_part(const vxs_call *call, const char *units, size_t first, size_t end,
                    size_t count);

/* Prints the methods of a table. */
void vxs_print_methods(FILE *out, const vxs_method *methods);
void vxs_print_methods_json(FILE *out, const vxs_method *methods);

/* Installs handlers: signals that stop a program set vxs_interrupted. If work does not stop within
 * 1.5 seconds, or a second signal comes more than half a second after the first, the process exits
 * with code 130 and without leftovers. */
void vxs_signals_catch(void);
/* Sets the command's name for the last line of an interrupted run. */
void vxs_signals_name(const char *command);
extern volatile int vxs_interrupted;

/* The whole program, except for closing its streams. */
int vxs_run(int argc, char **argv, FILE *out, FILE *talk);

#endif
