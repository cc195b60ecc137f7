/* cli.h - a command line made of tables: what a command is, and what its run gets.
 *
 * A command is one file cmd_<name>.c with one vxs_command and one run function, and one line in
 * commands.c. Parsing, help, man page and completion are loops over these tables.
 */
#ifndef VXS_CLI_H
#define VXS_CLI_H

#include "voxsift/internal/all.h"

/* What stands on the command line without dashes. Tables end with name == NULL. */
typedef struct {
    const char *name; /* as in the usage line: FILE */
    const char *help;
    const char *const *choices;        /* ends with NULL; NULL when files are meant */
    const char *const *(*names)(void); /* the same, where they are made; or NULL */
    bool optional;                     /* only behind those that are not */
    bool repeat;                       /* any number of them; only the last */
} vxs_operand;
/* Ends with NULL; NULL when files are meant. */
const char *const *vxs_operand_choices(const vxs_operand *operand);

/* Tables end with line == NULL. */
typedef struct {
    const char *line;
    const char *purpose; /* what it does, behind "To": a phrase */
} vxs_example;

/* Groups of options that several commands share. */
enum {
    VXS_TAKES_JSON = 1,
    VXS_TAKES_OUTPUT = 2, /* --out, --force and --no-fsync */
    VXS_TAKES_THREADS = 4,
    VXS_OUTPUT_OPTIONAL = 8, /* the command checks for --out itself */
    VXS_TAKES_METHOD = 16,   /* the parameters of the methods */
    VXS_TAKES_CHUNK = 32,    /* a share of the work, and going on with it */
    VXS_TAKES_MODEL = 64,    /* the parameters of the simulations; the first operand says which */
    VXS_NAMES_THREADS = 128, /* with _THREADS: starts none of them */
    VXS_TAKES_PAGE = 256     /* --no-fsync; --out FILE and --force are the command's own */
};
typedef struct {
    bool help, brief, quiet, verbose, json, force, resume, no_fsync;
    int64_t nthreads;
    const char *out, *chunk;
} vxs_shared;

typedef struct vxs_call vxs_call;

typedef struct {
    const char *name;
    const char *heading; /* under which `help` lists it */
    const char *summary; /* a phrase, without full stop */
    const char *details; /* paragraphs, separated by empty lines */
    const vxs_operand *operands;
    const vxs_param *params, *more_params, *most_params; /* its own options; may be NULL */
    unsigned takes;
    const vxs_example *examples;
    vxs_status (*run)(const vxs_call *call, vxs_error *err);
} vxs_command;

struct vxs_call {
    const vxs_command *command;
    const void *values; /* its own options */
    const vxs_method_settings *method;
    const vxs_simulation_settings *model;
    const vxs_shared *shared;
    vxs_pieces pieces;
    char **operands; /* ends with NULL */
    const vxs_context *context;
    const vxs_warnings *warnings; /* logged so far, whatever --quiet leaves out */
    bool terminal;                /* `out` is a terminal: numbers are rounded for people */
    FILE *out;                    /* results go here, everything else through the context's log */
};

/* The table of commands, ends with NULL. */
extern const vxs_command *const vxs_commands[];
const vxs_command *vxs_command_find(const char *name); /* NULL when there is none */
/* The same when there must be one: says which is near. */
const vxs_command *vxs_command_wanted(const char *name, vxs_error *err);
const char *const *vxs_command_names(void); /* ends with NULL */

/* All options of a command, its own first, those of all methods or models behind them, each once.
 */
#define VXS_MAX_OPTIONS 96
typedef struct {
    const vxs_param *param;
    enum { VXS_OWN, VXS_OF_METHOD, VXS_OF_MODEL, VXS_SHARED } place; /* where the value belongs */
} vxs_option;
size_t vxs_options_of(const vxs_command *command, vxs_option options[VXS_MAX_OPTIONS]);

/* Methods and models alike: chosen by name, with options of their own. */
typedef struct {
    const char *name, *summary;
    const vxs_param *params;
} vxs_kind;
#define VXS_MAX_KINDS 16
size_t vxs_kinds_of(int place, vxs_kind kinds[VXS_MAX_KINDS]);
/* The kind's row of that name, or NULL. */
const vxs_param *vxs_kind_param(const vxs_kind *kind, const char *name);
size_t vxs_kinds_add(int place, vxs_option *options, size_t count);
/* What an option is to each of them, in words. */
void vxs_kinds_words(int place, const char *name, char *buffer, size_t size);

/* Room for the values of any command's own options. */
#define VXS_VALUES_SIZE 1024
typedef struct {
    union {
        max_align_t align;
        char bytes[VXS_VALUES_SIZE];
    } values;
    vxs_method_settings method;
    vxs_simulation_settings model;
    vxs_shared shared;
    char **operands; /* ends with NULL */
    int kind;        /* method or model chosen; below 0: none */
} vxs_parsed;
/* Operands end up at the front of argv, which must end with NULL. */
VXS_MUST_CHECK vxs_status vxs_options_parse(const vxs_command *command, int argc, char **argv,
                                            vxs_parsed *parsed, vxs_error *err);

/* Help, manual and completion, each a loop over the tables. */
void vxs_help_overview(FILE *out);
/* The usual options, and all; of method or model number `kind`, below 0: of all. */
void vxs_help_brief(FILE *out, const vxs_command *command, int kind);
void vxs_help_command(FILE *out, const vxs_command *command, int kind);
/* The page of a method; its targets, "classes" or "both". */
void vxs_help_method(FILE *out, const vxs_method *method);
const char *vxs_method_target(const vxs_method *method);
void vxs_help_item(FILE *out, const char *name, int column, const char *text);
extern const char *const vxs_head_names[];

/* Long texts, each in the manual pages of some commands. Ends with name == NULL. */
typedef struct {
    const char *name, *summary;
    const char *text;            /* paragraphs, separated by empty lines */
    const char *const *commands; /* ends with NULL */
} vxs_topic;
extern const vxs_topic vxs_topics[];
bool vxs_topic_is_of(const vxs_topic *topic, const vxs_command *command);
void vxs_help_topic(FILE *out, const vxs_topic *topic);

/* What words of other programs are called here, quoted; of options by the names that a command has.
 */
bool vxs_hint_option(const char *given, size_t length, const char *const *names, char *buffer,
                     size_t size);
bool vxs_hint_letter(const char *given, const char *const *names, char *buffer, size_t size);
const char *vxs_hint_value(const char *option, const char *value); /* or NULL */
const char *vxs_hint_command(const char *word);                    /* or NULL */
void vxs_usage_line(FILE *out, const vxs_command *command);
/* "-o DIR, --out DIR" and "phrase (what it expects; default)"; and of an option that not all
 * methods or models have, which do. */
#define VXS_WORDS_SIZE 1024
void vxs_option_form(const vxs_param *param, char *buffer, size_t size);
void vxs_param_words(const vxs_param *param, char *buffer, size_t size);
void vxs_param_brief(const vxs_param *param, char *buffer, size_t size); /* in help */
void vxs_option_words(const vxs_option *option, char *buffer, size_t size);
void vxs_man_overview(FILE *out);
void vxs_man_command(FILE *out, const vxs_command *command);
extern const char *const vxs_shells[]; /* ends with NULL */
void vxs_complete(FILE *out, int shell);

/* What the environment changes. Ends with name == NULL. */
typedef struct {
    const char *name, *help;
} vxs_variable;
extern const vxs_variable vxs_variables[];

/* Text broken at blanks so that no line passes `width`; every line but the first is indented by
 * `indent`, and `column` says where the first one starts. Ends with a line end. */
void vxs_wrap(FILE *out, const char *text, int indent, int column, int width);

/* Opens the cohort that is the first operand, makes the task, does the work, and closes both. */
typedef vxs_status vxs_task_work(const vxs_call *call, vxs_task *task, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_with_task(const vxs_call *call, const vxs_task_settings *settings,
                                        vxs_task_work *work, vxs_error *err);
/* "160 subjects (80 people)"; without the people where each has one. */
#define VXS_SUBJECTS_TEXT 80
const char *vxs_subjects_text(const vxs_task *task, char buffer[VXS_SUBJECTS_TEXT]);

/* class_rows.c: the confusion matrix and scores of each class, of three and more of them; and which
 * of two classes is the positive one. */
void vxs_print_classes(FILE *out, char *const *classes, const vxs_class_scores *scores);
void vxs_print_positive(FILE *out, const vxs_task *task);

/* Closes the object that --json prints, with the warnings of the run: the last thing a command does
 * but for refusals. */
void vxs_close_json(const vxs_call *call, vxs_json_writer *writer);

/* A text from a file, in which nothing can move a terminal's cursor or break a line. */
void vxs_print_clean(FILE *out, const char *text);

/* Saves a result, prints it in words or as JSON, and says what there is to say of it in the end;
 * of a run that is whole, of a chunk, or merged. */
VXS_MUST_CHECK vxs_status vxs_report_cv(const vxs_call *call, const vxs_cv *cv, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_report_permutation(const vxs_call *call, const vxs_task *task,
                                                 const vxs_permute_settings *settings,
                                                 const vxs_method_settings *method,
                                                 const vxs_permutation *result, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_report_stability(const vxs_call *call, const vxs_task *task,
                                               const vxs_stability_settings *settings,
                                               const vxs_method_settings *method,
                                               const vxs_stability *result, vxs_error *err);
/* Of a chunk: units first ... end - 1 of so many. */
void vxs_print_part(const vxs_call *call, const char *units, size_t first, size_t end,
                    size_t count);

/* Prints the methods of a table. */
void vxs_print_methods(FILE *out, const vxs_method *methods);
void vxs_print_methods_json(FILE *out, const vxs_method *methods);

/* From here on, the signals that ask a program to stop set vxs_interrupted. Work that does not stop
 * within a second and a half is ended, with exit code 130 and without leftovers; so is any at once
 * when a second signal comes more than half a second after the first. */
void vxs_signals_catch(void);
/* Who is interrupted, for the last line. */
void vxs_signals_name(const char *command);
extern volatile int vxs_interrupted;

/* The program: everything but the closing of its streams. */
int vxs_run(int argc, char **argv, FILE *out, FILE *talk);

#endif
