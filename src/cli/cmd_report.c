/* cmd_report.c - voxsift report. */
#include "cli/cli.h"

static const vxs_operand operands[] = {
    { .name = "DIR",
      .help = "directory made by 'voxsift cv', 'fit', 'permute', 'stability' or 'compare'" },
    { .name = NULL },
};

static const vxs_example examples[] = {
    { "voxsift report age-cv --atlas schaefer100 -o age.html",
      "write a page to read, print or attach to a paper" },
    { "voxsift report age-p -o age-p.html", "show the p-value and the null distribution" },
    { NULL, NULL },
};

static vxs_status run(const vxs_call *call, vxs_error *err)
{
    const vxs_report_settings *settings = call->values;
    vxs_status status = vxs_report(call->context, settings, call->operands[0], err);
    if (!status)
        fprintf(call->out, "Wrote '%s', a self-contained page.\n", settings->out);
    return status;
}

const vxs_command vxs_cmd_report = {
    .name = "report",
    .heading = "Predict",
    .summary = "write an HTML page about a cv, fit, permute, stability or compare run",
    .details =
        "Writes one self-contained HTML page with figures, without scripts or links to other "
        "files. Cross-validation: metrics and baselines with confidence intervals, predicted "
        "against true values or the ROC curve, and the choice of hyperparameters. Model: weight "
        "map, and the selected groups or pairs. Permutation test: p-value and null distribution. "
        "Stability selection: number of stable features, bound on false selections, and the most "
        "frequently selected features. Comparison: differences of models with intervals and "
        "p-values.\n\n"
        "Pages of one model show, where the run has them, maps on an underlay (left is left) with "
        "a table "
        "of regions, the settings, subjects with exclusions and reasons, the optimality "
        "certificate, a methods paragraph with references, and the provenance.",
    .operands = operands,
    .params = vxs_report_params,
    .takes = VXS_TAKES_PAGE,
    .examples = examples,
    .run = run,
};
