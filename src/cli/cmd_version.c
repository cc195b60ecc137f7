/* cmd_version.c - voxsift version: the facts for a bug report. */
#include "build_facts.h"
#include "cli/cli.h"

static const vxs_operand operands[] = { { .name = NULL } };

static const vxs_example examples[] = {
    { "voxsift version", "print how this program was built, for a bug report" },
    { NULL, NULL },
};

typedef struct {
    const char *name, *value;
} fact;

static vxs_status run(const vxs_call *call, vxs_error *err)
{
    (void)err;
    char threads[32];
    snprintf(threads, sizeof(threads), "%d", call->context->nthreads);
    const fact facts[] = {
        { "version", VXS_VERSION },
        { "commit", VXS_BUILD_COMMIT },
        { "compiler", VXS_BUILD_COMPILER },
        { "flags", VXS_BUILD_FLAGS },
        { "blas", vxs_blas_description() },
        { "processor", vxs_blas_core() },
        { "vectors", vxs_vectors_name(vxs_choose_vectors()) },
        { "threads", threads },
    };
    size_t count = sizeof(facts) / sizeof(facts[0]);
    if (call->shared->json) {
        vxs_json_writer writer;
        vxs_json_init(&writer, call->out);
        vxs_json_open_object(&writer, NULL);
        for (size_t i = 0; i + 1 < count; i++)
            vxs_json_text(&writer, facts[i].name, facts[i].value);
        vxs_json_whole(&writer, "threads", call->context->nthreads);
        vxs_close_json(call, &writer);
        return VXS_OK;
    }
    fprintf(call->out, "voxsift %s\n", facts[0].value);
    for (size_t i = 1; i < count; i++)
        fprintf(call->out, "%-9s %s\n", facts[i].name, facts[i].value);
    return VXS_OK;
}

const vxs_command vxs_cmd_version = {
    .name = "version",
    .heading = "About voxsift",
    .summary = "print version, commit, compiler, flags, BLAS and threads",
    .details = "Threads: the number that other commands use here, see --nthreads.",
    .operands = operands,
    .takes = VXS_TAKES_JSON | VXS_TAKES_THREADS | VXS_NAMES_THREADS,
    .examples = examples,
    .run = run,
};
