/* cmd_merge.c - voxsift merge, and what a chunk says of itself. */
#include "cli/cli.h"

typedef struct {
    const char *cohort;
} merge_settings;

static const vxs_param merge_params[] = {
    VXS_PATH_ROW("cohort", "DIR", offsetof(merge_settings, cohort),
                 "directory of the cohort; default: that of the chunks", .head = VXS_HEAD_DATA),
    { .name = NULL },
};

static const vxs_operand operands[] = {
    { .name = "PART",
      .help = "directories made with --chunk, all of one run, in any order",
      .repeat = true },
    { .name = NULL },
};

static const vxs_example examples[] = {
    { "voxsift merge age-cv-1 age-cv-2 age-cv-3 -o age-cv",
      "put together what three jobs made with --chunk 1/3, 2/3 and 3/3" },
    { NULL, NULL },
};

void vxs_print_part(const vxs_call *call, const char *units, size_t first, size_t end, size_t count)
{
    vxs_json_writer w;
    if (!call->shared->json) {
        fprintf(call->out, "Computed %s %zu to %zu of %zu, chunk %zu of %zu.\n", units, first + 1,
                end, count, call->pieces.chunk.number, call->pieces.chunk.count);
        fprintf(call->out, "  voxsift merge %s ... -o DIR    with those of the other chunks\n",
                call->shared->out);
        return;
    }
    vxs_json_init(&w, call->out);
    vxs_json_open_object(&w, NULL);
    vxs_json_text(&w, "output", call->shared->out);
    vxs_json_whole(&w, "chunk", (int64_t)call->pieces.chunk.number);
    vxs_json_whole(&w, "chunks", (int64_t)call->pieces.chunk.count);
    vxs_json_text(&w, "units_are", units);
    vxs_json_whole(&w, "units", (int64_t)count);
    vxs_json_whole(&w, "first", (int64_t)first + 1);
    vxs_json_whole(&w, "last", (int64_t)end);
    vxs_close_json(call, &w);
}

static vxs_status run(const vxs_call *call, vxs_error *err)
{
    const merge_settings *settings = call->values;
    vxs_merged m;
    vxs_status status =
        vxs_merge(call->context, (const char *const *)call->operands, settings->cohort, &m, err);
    if (status)
        return status;
    if (m.kind == VXS_RUN_CV)
        status = vxs_report_cv(call, &m.result.cv, err);
    else if (m.kind == VXS_RUN_PERMUTE)
        status = vxs_report_permutation(call, &m.task, &m.settings.permute, &m.method,
                                        &m.result.permutation, err);
    else
        status = vxs_report_stability(call, &m.task, &m.settings.stability, &m.method,
                                      &m.result.stability, err);
    vxs_merged_release(&m);
    return status;
}

const vxs_command vxs_cmd_merge = {
    .name = "merge",
    .heading = "Predict",
    .summary = "merge the chunks of a run",
    .details =
        "'voxsift cv', 'permute' and 'stability' share their work with --chunk I/N: folds, "
        "permutations or pairs of halves, each job a range of them, on any machines and with any "
        "number of threads. Merged they are the directory that one run would have made, bit for "
        "bit; only 'command' and 'seconds' (their sum) differ in its JSON.\n\n"
        "A chunk that is missing or there twice is refused, and so are parts of runs that differ "
        "in an option, in subjects or their targets, in the cohort or in the version of voxsift. "
        "The cohort and the files that options name must be there, for they are looked at again; "
        "paths count from where this command runs.\n\n"
        "Bits are those of one type of processor ('voxsift version' names it): on others the "
        "library for linear algebra rounds differently. Parts from several types are merged, with "
        "a warning, and 'processor' in the JSON lists them. examples/slurm has job scripts.",
    .operands = operands,
    .params = merge_params,
    .takes = VXS_TAKES_OUTPUT | VXS_TAKES_JSON,
    .examples = examples,
    .run = run,
};
