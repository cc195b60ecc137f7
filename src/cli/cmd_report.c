/* cmd_report.c - voxsift report. */
#include "cli/cli.h"

static const vxs_operand operands[] = {
    { .name = "DIR", .help = "directory made by 'voxsift cv', 'fit', 'permute' or 'stability'" },
    { .name = NULL },
};

static const vxs_example examples[] = {
    { "voxsift report age-cv --atlas schaefer100 -o age.html",
      "make a page to read, print or attach to a paper" },
    { "voxsift report age-p -o age-p.html", "show the p-value beside what chance alone gives" },
    { NULL, NULL },
};

static vxs_status run(const vxs_call *call, vxs_error *err)
{
    const vxs_report_settings *settings = call->values;
    vxs_status status = vxs_report(call->context, settings, call->operands[0], err);
    if (!status)
        fprintf(call->out, "Made '%s': one page that needs no other file.\n", settings->out);
    return status;
}

const vxs_command vxs_cmd_report = {
    .name = "report",
    .heading = "Predict",
    .summary = "write an HTML page about a cv, fit, permute or stability run",
    .details =
        "One page of HTML with its figures inside, which needs neither scripts nor a network. Of "
        "a cross-validation: scores beside baselines, with spread; true and predicted values or "
        "the ROC; how lambda or the number of rounds was chosen. Of a model: its map, and the "
        "groups or pairs that it selected, pairs as a figure. Of permutations: p, and the "
        "observed value beside those that chance gives. Of stability: how many features reach the "
        "threshold, the bound on those that are wrong, and the features that are selected most "
        "often.\n\n"
        "Of each that has them: maps over an underlay with left on the left, and their regions; "
        "what was done and to whom, who was left out and why; the certificate; a paragraph for a "
        "paper with what it cites; and where it comes from.",
    .operands = operands,
    .params = vxs_report_params,
    .takes = VXS_TAKES_PAGE,
    .examples = examples,
    .run = run,
};
