/* cmd_simulate.c - voxsift simulate. */
#include "cli/cli.h"

static const char *const models[] = { "lasso", NULL };

static const vxs_operand operands[] = {
    { .name = "MODEL",
      .help = "lasso: a score that is a sparse linear function of uniform features",
      .choices = models },
    { .name = NULL },
};

static const vxs_example examples[] = {
    { "voxsift simulate lasso -o sim",
      "make 100 subjects with 5000 features, 1000 of which count" },
    { "voxsift simulate lasso --target diagnosis --nonzero 0.01 --seed 7 -o sim7",
      "make patients and controls who differ by 50 features" },
    { NULL, NULL },
};

static void print_json(const vxs_call *call, const vxs_lasso_simulation *s)
{
    vxs_json_writer writer;
    vxs_json_init(&writer, call->out);
    vxs_json_open_object(&writer, NULL);
    vxs_json_text(&writer, "cohort", call->shared->out);
    vxs_json_text(&writer, "simulation", call->operands[0]);
    vxs_json_params(&writer, "parameters", call->command->params, s);
    vxs_json_close_object(&writer);
}

static vxs_status run(const vxs_call *call, vxs_error *err)
{
    const vxs_lasso_simulation *s = call->values;
    const char *out = call->shared->out;
    vxs_status status = vxs_simulate_lasso(call->context, s, out, call->shared->force, err);
    if (status)
        return status;
    if (call->shared->json)
        print_json(call, s);
    else
        fprintf(call->out,
                "Simulated %lld subjects with %lld features (seed %lld).\n"
                "  %s/features.npy      the data, one row a feature\n"
                "  %s/participants.tsv  who they are and what is to be predicted\n"
                "  %s/truth.tsv         the features that count, with their weights\n",
                (long long)s->subjects, (long long)s->features, (long long)s->seed, out, out, out);
    return VXS_OK;
}

const vxs_command vxs_cmd_simulate = {
    .name = "simulate",
    .heading = "Make data",
    .summary = "make a cohort whose truth is known",
    .details =
        "Writes a cohort directory with the features as an NPY file, the subjects and their target "
        "as a table, and the true weights as another. Results of a method on it can be compared "
        "with the truth.\n\n"
        "lasso is the simulation of the screening studies: features are uniform on [-10, 10], a "
        "share of them has a weight uniform on [-1, 1], and normal noise is added to the score. "
        "Every number is a function of the seed and its place, whatever the number of threads.",
    .operands = operands,
    .params = vxs_lasso_simulation_params,
    .takes = VXS_TAKES_OUTPUT | VXS_TAKES_JSON | VXS_TAKES_THREADS,
    .examples = examples,
    .run = run,
};
