/* cmd_merge.c - voxsift merge, and the messages about chunks. */
#include "cli/cli.h"

typedef struct {
    const char *cohort;
} merge_settings;

static const vxs_param merge_params[] = {
    VXS_PATH_ROW("cohort", "DIR", offsetof(merge_settings, cohort),
                 "cohort directory; default: that of the chunks", .head = VXS_HEAD_DATA),
    { .name = NULL },
};

static const vxs_operand operands[] = {
    { .name = "PART",
      .help = "output directories of all chunks of one run, in any order",
      .repeat = true },
    { .name = NULL },
};

static const vxs_example examples[] = {
    { "voxsift merge age-cv-1 age-cv-2 age-cv-3 -o age-cv",
      "merge the outputs of --chunk 1/3, 2/3 and 3/3" },
    { NULL, NULL },
};

void vxs_print_part(const vxs_call *call, const char *units, size_t first, size_t end, size_t count)
{
    vxs_json_writer w;
    if (!call->shared->json) {
        fprintf(call->out, "Computed %s %zu to %zu of %zu, chunk %zu of %zu.\n", units, first + 1,
                end, count, call->chunking.chunk.number, call->chunking.chunk.count);
        fprintf(call->out, "  voxsift merge %s ... -o DIR    with the other chunks\n",
                call->shared->out);
        return;
    }
    vxs_json_init(&w, call->out);
    vxs_json_open_object(&w, NULL);
    vxs_json_text(&w, "output", call->shared->out);
    vxs_json_whole(&w, "chunk", (int64_t)call->chunking.chunk.number);
    vxs_json_whole(&w, "chunks", (int64_t)call->chunking.chunk.count);
    vxs_json_text(&w, "units_are", units);
    vxs_json_whole(&w, "units", (int64_t)count);
    vxs_json_whole(&w, "first", (int64_t)first + 1);
    vxs_json_whole(&w, "last", (int64_t)end);
    vxs_close_json(call, &w);
}

static vxs_status run(const vxs_call *call, vxs_error *err)
{
    const merge_settings *settings = call->values;
    const char *const *parts = (const char *const *)call->operands;
    const char *names[VXS_METHODS];
    size_t methods = 0;
    vxs_merged m;
    vxs_status status = vxs_several_parts(parts, &methods, names, err);
    if (!status && methods > 0)
        return vxs_merge_several(call, methods, names, settings->cohort, err);
    if (!status)
        status = vxs_merge(call->context, parts, settings->cohort, &m, err);
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
        "Combines the outputs of 'voxsift cv', 'permute' or 'stability' with --chunk I/N. Each job "
        "computes a range of folds, permutations or pairs of halves, on any machine and with any "
        "number of threads. The merged directory is bit-identical to that of a single run, except "
        "'command' and 'seconds' (the sum) in its JSON. Chunks of several methods become a "
        "cross-validation each and their comparison.\n\n"
        "Refuses missing and repeated chunks, and chunks that differ in an option, in subjects or "
        "targets, in the cohort or in the version of voxsift. Checks the cohort and the files that "
        "options name again, so they must exist; relative paths start from the current "
        "directory.\n\n"
        "Bit-identity holds for one processor type (see 'voxsift version'), as BLAS libraries "
        "round differently on others. Chunks from several types are merged with a warning; "
        "'processor' in the JSON lists them. examples/slurm has job scripts.",
    .operands = operands,
    .params = merge_params,
    .takes = VXS_TAKES_OUTPUT | VXS_TAKES_JSON,
    .examples = examples,
    .run = run,
};
