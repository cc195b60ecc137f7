/* run.c - runs a command line and returns the exit code. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static vxs_log_level level_of(const vxs_shared *shared)
{
    return shared->quiet ? VXS_LOG_CAUTION : shared->verbose ? VXS_LOG_DEBUG : VXS_LOG_INFO;
}

/* ---- Warnings -------------------------------------------------------------------------------- */

typedef struct {
    vxs_console *talk;
    vxs_warnings warnings;
    bool terminal; /* that of results, not of messages */
} listener;

static void listen(void *user, vxs_log_level level, const char *message)
{
    listener *l = user;
    if (level == VXS_LOG_WARNING || level == VXS_LOG_CAUTION)
        vxs_warnings_add(&l->warnings, message);
    vxs_console_log(l->talk, level, message);
}

static void show_progress(void *user, const char *task, const char *unit, uint64_t done,
                          uint64_t total)
{
    vxs_console_progress(((listener *)user)->talk, task, unit, done, total);
}

void vxs_close_json(const vxs_call *call, vxs_json_writer *writer)
{
    vxs_warnings_json(writer, call->warnings);
    vxs_json_close_object(writer);
}

/* ---- Before the work ------------------------------------------------------------------------- */

/* Registers paths among the values as inputs. A text may name a file, such as that of --folds-from;
 * a column named like a directory is no input. */
static void add_inputs(const vxs_param *table, const void *values)
{
    struct stat about;
    for (; table && table->name; table++) {
        bool path = table->type == VXS_PARAM_PATH, text = table->type == VXS_PARAM_TEXT;
        if ((!path && !text) || strcmp(table->name, "out") == 0)
            continue;
        const char *name =
            *(const char *const *)(const void *)((const char *)values + table->offset);
        if (name && (path || (stat(name, &about) == 0 && S_ISREG(about.st_mode))))
            vxs_inputs_add(name);
    }
}

/* Registers the named files and directories before they are read, so that an output that would
 * replace one of them is refused before the work; inputs found while reading are refused
 * afterwards. */
static vxs_status check_output(const vxs_call *call, vxs_error *err)
{
    const vxs_command *command = call->command;
    const vxs_operand *operand = command->operands;
    for (char **word = call->operands; *word; word++) {
        if (!operand->choices)
            vxs_inputs_add(*word);
        operand += !operand->repeat;
    }
    add_inputs(command->params, call->values);
    add_inputs(command->more_params, call->values);
    add_inputs(command->most_params, call->values);
    if (!(command->takes & VXS_TAKES_OUTPUT) || !call->shared->out)
        return VXS_OK;
    return vxs_output_check(call->shared->out, call->shared->force, err);
}

/* ---- Runs in chunks -------------------------------------------------------------------------- */

static vxs_status find_chunking(const vxs_call *call, vxs_chunking *chunking, vxs_error *err)
{
    const vxs_shared *shared = call->shared;
    vxs_chunk_choice choice;
    vxs_status status = vxs_choose_chunk(shared->chunk, &choice, err);
    if (status)
        return status;
    if (choice.source)
        vxs_log(call->context, strcmp(choice.source, "--chunk") == 0 ? VXS_LOG_DEBUG : VXS_LOG_INFO,
                "chunk %zu of %zu (from %s)", choice.chunk.number, choice.chunk.count,
                choice.source);
    else if (vxs_in_job_array())
        vxs_log(call->context, VXS_LOG_INFO,
                "this task of a job array computes the whole run; --chunk I/N computes a share");
    *chunking = (vxs_chunking){ .chunk = choice.chunk };
    return VXS_OK;
}

/* Of one of several methods: OUT.METHOD.checkpoint. */
static char *name_checkpoint(const char *out, const char *method, vxs_error *err)
{
    size_t length = strlen(out);
    while (length > 1 && out[length - 1] == '/')
        length--;
    return vxs_format(err, "%.*s%s%s.checkpoint", (int)length, out, method ? "." : "",
                      method ? method : "");
}

/* Each of several methods has a checkpoint of its own, as if it were alone. */
typedef struct {
    size_t count;
    vxs_checkpoint *each[VXS_METHODS];
    char *path[VXS_METHODS];
} checkpoints;

static void close_checkpoints(const vxs_call *call, checkpoints *c, bool done, bool begun)
{
    for (size_t k = 0; k < c->count; k++) {
        if (vxs_checkpoint_close(c->each[k], done) && begun)
            vxs_log(call->context, VXS_LOG_INFO, "'%s' holds the finished part, for --resume",
                    c->path[k]);
        free(c->path[k]);
    }
}

static vxs_status open_checkpoints(const vxs_call *call, checkpoints *c, vxs_error *err)
{
    const vxs_shared *shared = call->shared;
    const vxs_several_methods *several = call->several;
    size_t count = several ? several->count : 1;
    unsigned how = shared->resume ? VXS_RESUME : shared->force ? VXS_DISCARD : 0;
    vxs_status status = VXS_OK;
    bool any = false;
    if (shared->resume && several)
        how |= VXS_RESUME_ANY;
    for (; c->count < count && !status; c->count++) {
        size_t k = c->count;
        c->path[k] = name_checkpoint(shared->out,
                                     several ? vxs_methods[several->each[k].kind].name : NULL, err);
        status = c->path[k] ? vxs_checkpoint_open(call->context, c->path[k], how, &c->each[k], err)
                            : VXS_FAILED;
        any = any || (!status && vxs_checkpoint_has_work(c->each[k]));
    }
    if (!status && shared->resume && several && !any)
        vxs_log(call->context, VXS_LOG_WARNING,
                "there is no '%s', nor one of another method, to resume from: starting from the "
                "beginning",
                c->path[0]);
    return status;
}

/* Runs with a checkpoint beside the output until the output is complete. */
static vxs_status run_in_chunks(vxs_call *call, vxs_error *err)
{
    checkpoints c = { .count = 0 };
    vxs_status status = find_chunking(call, &call->chunking, err);
    if (status)
        return status;
    status = open_checkpoints(call, &c, err);
    if (status) {
        close_checkpoints(call, &c, false, false);
        return status;
    }
    call->chunking.checkpoint = c.each[0];
    call->checkpoints = c.each;
    status = call->command->run(call, err);
    close_checkpoints(call, &c, !status || status == VXS_NOT_CONVERGED, true);
    return status;
}

static vxs_status run_command(const vxs_command *command, const vxs_parsed *parsed,
                              const char *words, FILE *out, listener *heard, vxs_error *err)
{
    vxs_context context = { .nthreads = 1,
                            .command = words,
                            .log = listen,
                            .progress = show_progress,
                            .user = heard,
                            .interrupted = &vxs_interrupted,
                            .no_fsync = parsed->shared.no_fsync };
    if (parsed->shared.help) {
        (parsed->shared.brief ? vxs_help_brief : vxs_help_command)(out, command, parsed->kind);
        return VXS_OK;
    }
    if (command->takes & VXS_TAKES_THREADS) {
        vxs_thread_choice threads;
        vxs_status status = vxs_choose_threads((int)parsed->shared.nthreads, &threads, err);
        if (status)
            return status;
        if (vxs_vectors_check(err))
            return VXS_MISUSE;
        context.nthreads = threads.count;
        if (!(command->takes & VXS_NAMES_THREADS))
            status = vxs_threads_start(threads.count, err);
        if (status)
            return status;
        vxs_log(&context, VXS_LOG_DEBUG, "threads: %d (from %s)", threads.count, threads.source);
    }
    vxs_call call = { .command = command,
                      .values = parsed->values.bytes,
                      .method = &parsed->method,
                      .model = &parsed->model,
                      .several = parsed->several.count > 0 ? &parsed->several : NULL,
                      .shared = &parsed->shared,
                      .operands = parsed->operands,
                      .context = &context,
                      .warnings = &heard->warnings,
                      .terminal = heard->terminal,
                      .out = out };
    vxs_inputs_begin();
    vxs_status status = check_output(&call, err);
    if (!status)
        status =
            command->takes & VXS_TAKES_CHUNK ? run_in_chunks(&call, err) : command->run(&call, err);
    vxs_inputs_end();
    return status;
}

/* Finishes the run. Any failure after an interrupt counts as the interrupt. */
static vxs_status finish(vxs_status status, const vxs_error *err, vxs_console *talk)
{
    vxs_console_flush(talk);
    if (status == VXS_OK)
        return VXS_OK;
    if (vxs_interrupted)
        status = VXS_INTERRUPTED;
    vxs_console_log(talk, VXS_LOG_ERROR,
                    status == VXS_INTERRUPTED && err->status != VXS_INTERRUPTED ? "interrupted"
                                                                                : err->message);
    vxs_console_flush(talk);
    return status;
}

/* The command line as a shell would read it again, for provenance; called before parsing. */
static char *join_words(int argc, char **argv, vxs_error *err)
{
    char *line = vxs_format(err, "voxsift");
    for (int i = 1; i < argc && line; i++) {
        bool plain = argv[i][0] && !argv[i][strcspn(argv[i], " \t\n'\"\\$*?[](){}<>|&;~#")];
        char *longer = vxs_format(err, plain ? "%s %s" : "%s '%s'", line, argv[i]);
        free(line);
        line = longer;
    }
    return line;
}

static const char *alias(const char *word)
{
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return "help";
    return strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0 ? "version" : word;
}

/* Runs a command whose output passes through a stream that makes control characters visible;
 * line-buffered on a terminal. */
static vxs_status run_shown(const vxs_command *command, const vxs_parsed *parsed, const char *words,
                            FILE *out, vxs_console *talk, vxs_error *err)
{
    FILE *shown = vxs_shown_stream(out);
    if (!shown)
        return vxs_fail(err, VXS_FAILED, "not enough memory to print");
    bool terminal = isatty(fileno(out)) == 1;
    if (terminal)
        setvbuf(shown, NULL, _IOLBF, 0);
    listener heard = { .talk = talk, .terminal = terminal };
    vxs_status status = run_command(command, parsed, words, shown, &heard, err);
    vxs_warnings_release(&heard.warnings);
    (void)fclose(shown); /* lost output shows when `out` is closed */
    return status;
}

int vxs_run(int argc, char **argv, FILE *out, FILE *talk_stream)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_console talk;
    vxs_parsed parsed;
    char name[64] = "voxsift";
    vxs_console_init(&talk, talk_stream, VXS_LOG_INFO, name);
    if (argc < 2) {
        vxs_help_overview(talk_stream);
        return VXS_MISUSE;
    }
    const vxs_command *command = vxs_command_require(alias(argv[1]), &err);
    if (!command)
        return (int)finish(err.status, &err, &talk);
    snprintf(name, sizeof(name), "voxsift %s", command->name);
    vxs_signals_name(command->name);
    char *words = join_words(argc, argv, &err);
    vxs_status status =
        words ? vxs_options_parse(command, argc - 2, argv + 2, &parsed, &err) : VXS_FAILED;
    if (!status) {
        talk.level = level_of(&parsed.shared);
        status = run_shown(command, &parsed, words, out, &talk, &err);
    }
    free(words);
    return (int)finish(status, &err, &talk);
}
