/* run.c - from the words of the command line to an exit code. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static vxs_log_level level_of(const vxs_shared *shared)
{
    return shared->quiet ? VXS_LOG_ERROR : shared->verbose ? VXS_LOG_DEBUG : VXS_LOG_INFO;
}

/* ---- Runs in pieces -------------------------------------------------------------------------- */

static vxs_status find_pieces(const vxs_call *call, vxs_pieces *pieces, vxs_error *err)
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
    *pieces = (vxs_pieces){ .chunk = choice.chunk, .resume = shared->resume };
    if (access(shared->out, F_OK) == 0 && !shared->force) /* before the work, not behind it */
        return vxs_fail(err, VXS_CANNOT_WRITE,
                        "cannot write '%s': it exists; pass --force to replace it", shared->out);
    return VXS_OK;
}

/* What is finished stands beside the output until that is whole. */
static vxs_status run_in_pieces(vxs_call *call, vxs_error *err)
{
    size_t length = strlen(call->shared->out);
    vxs_status status = find_pieces(call, &call->pieces, err);
    if (status)
        return status;
    while (length > 1 && call->shared->out[length - 1] == '/')
        length--;
    char *checkpoint = vxs_format(err, "%.*s.checkpoint", (int)length, call->shared->out);
    if (!checkpoint)
        return VXS_FAILED;
    call->pieces.checkpoint = checkpoint;
    status = call->command->run(call, err);
    if (!status || status == VXS_NOT_CONVERGED)
        (void)unlink(checkpoint);
    else if (access(checkpoint, F_OK) == 0)
        vxs_log(call->context, VXS_LOG_INFO, "what was finished stands in '%s', for --resume",
                checkpoint);
    free(checkpoint);
    return status;
}

static vxs_status run_command(const vxs_command *command, const vxs_parsed *parsed,
                              const char *words, FILE *out, vxs_talk *talk, vxs_error *err)
{
    vxs_context context = { .nthreads = 1,
                            .command = words,
                            .log = vxs_talk_log,
                            .progress = vxs_talk_progress,
                            .user = talk,
                            .interrupted = &vxs_interrupted };
    if (parsed->shared.help) {
        vxs_help_command(out, command);
        return VXS_OK;
    }
    if (command->takes & VXS_TAKES_THREADS) {
        vxs_thread_choice threads;
        vxs_status status = vxs_choose_threads((int)parsed->shared.nthreads, &threads, err);
        if (status)
            return status;
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
                      .shared = &parsed->shared,
                      .operands = parsed->operands,
                      .context = &context,
                      .out = out };
    return command->takes & VXS_TAKES_CHUNK ? run_in_pieces(&call, err) : command->run(&call, err);
}

/* A call that failed because it was told to stop was stopped, whatever it made of that. */
static vxs_status finish(vxs_status status, const vxs_error *err, vxs_talk *talk)
{
    if (status == VXS_OK)
        return VXS_OK;
    if (vxs_interrupted)
        status = VXS_INTERRUPTED;
    vxs_talk_log(talk, VXS_LOG_ERROR,
                 status == VXS_INTERRUPTED && err->status != VXS_INTERRUPTED ? "interrupted"
                                                                             : err->message);
    return status;
}

/* The command line as it could be typed again; for provenance, before it is taken apart. */
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
    return strcmp(word, "--version") == 0 ? "version" : word;
}

/* What a command prints passes through a stream that shows what a terminal would obey; on a
 * terminal a line at a time. */
static vxs_status run_shown(const vxs_command *command, const vxs_parsed *parsed, const char *words,
                            FILE *out, vxs_talk *talk, vxs_error *err)
{
    FILE *shown = vxs_shown_stream(out);
    if (!shown)
        return vxs_fail(err, VXS_FAILED, "not enough memory to print");
    if (isatty(fileno(out)) == 1)
        setvbuf(shown, NULL, _IOLBF, 0);
    vxs_status status = run_command(command, parsed, words, shown, talk, err);
    (void)fclose(shown); /* what did not reach `out` shows when that is closed */
    return status;
}

int vxs_run(int argc, char **argv, FILE *out, FILE *talk_stream)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_talk talk;
    vxs_parsed parsed;
    char name[64] = "voxsift";
    vxs_talk_init(&talk, talk_stream, VXS_LOG_INFO, name);
    if (argc < 2) {
        vxs_help_overview(talk_stream);
        return VXS_MISUSE;
    }
    const vxs_command *command = vxs_command_wanted(alias(argv[1]), &err);
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
