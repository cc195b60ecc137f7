/* cmd_stability.c - voxsift stability. */
#include "cli/cli.h"

#include <math.h>

static const vxs_operand operands[] = {
    { .name = "COHORT", .help = "directory made by 'voxsift cohort' or 'simulate'" },
    { .name = NULL },
};

static const vxs_example examples[] = {
    { "voxsift stability lesion --target severity -o stable",
      "find voxels that most halves select, with a bound on false ones" },
    { "voxsift stability t1w --target age --threshold 0.9 --pairs 100 -o stable --json",
      "be stricter; for a script" },
    { NULL, NULL },
};

static void print_agreement(FILE *out, const vxs_task *task, const vxs_method_settings *method,
                            const vxs_stability *r)
{
    char dice[VXS_REAL_TEXT], nogueira[VXS_REAL_TEXT];
    if (r->mean_selected > 0 && isnan(r->nogueira))
        fprintf(out,
                "  agreement of two halves: Dice coefficient %s; Nogueira's index is undefined, "
                "since halves select all features or none\n",
                vxs_score_text(r->dice, false, dice));
    else if (r->mean_selected > 0)
        fprintf(out,
                "  agreement of two halves: Dice coefficient %s, Nogueira's index %s (0: chance, "
                "1: identical)\n",
                vxs_score_text(r->dice, false, dice), vxs_score_text(r->nogueira, false, nogueira));
    else if (vxs_task_method(task)->graph == VXS_GRAPH_NEEDED)
        fprintf(out,
                "  no half selected any: the first fused region on its path has more than %zu "
                "features; --select-features allows larger ones\n",
                r->features);
    else if (method->blocks.groups && !r->groups)
        fprintf(out,
                "  no half selected any: the first group on its path has more than %zu features; "
                "--select-features allows larger ones\n",
                r->features);
    else
        fprintf(out, "  no half selected any%s\n",
                vxs_task_method(task)->path == VXS_BY_LAMBDA ? ": " VXS_TRY_LAMBDAS : "");
}

/* Where nothing is stable. */
static void print_advice(FILE *out, const vxs_task *task, const vxs_method_settings *method,
                         const vxs_stability *r)
{
    size_t stable = 0;
    for (size_t o = 0; o < vxs_task_outputs(task); o++)
        stable += r->stable[o];
    if (stable > 0 || r->mean_selected == 0)
        return;
    bool single = !r->clustered && !method->blocks.groups;
    if (single && task->cohort->kind == VXS_FEATURES_VOXELS)
        fprintf(out, "  try: " VXS_TRY_CLUSTERS "\n");
    else
        fprintf(out, "  try: " VXS_TRY_MORE "\n");
}

static const char *counted(const vxs_task *task, const vxs_stability *r, size_t count)
{
    if (r->clustered)
        return count == 1 ? "cluster" : "clusters";
    return vxs_feature_words(task->cohort->kind, count);
}

static void print_stable(FILE *out, const vxs_task *task, const vxs_stability *r, size_t output)
{
    char number[VXS_REAL_TEXT];
    fprintf(out, "  ");
    if (vxs_task_outputs(task) > 1)
        fprintf(out, "%s %s: ", task->classes[output],
                task->loss == &vxs_multinomial_loss ? "with the other classes"
                                                    : "against the rest");
    fprintf(out, "%zu stable %s", r->stable[output], counted(task, r, r->stable[output]));
    if (r->groups)
        fprintf(out, " in %zu group%s", r->stable_groups[output],
                r->stable_groups[output] == 1 ? "" : "s");
    fprintf(out, " (selection frequency of at least %s)\n", vxs_short_text(r->threshold, number));
}

static void print_words(const vxs_call *call, const vxs_task *task,
                        const vxs_method_settings *method, const vxs_stability *r)
{
    FILE *out = call->out;
    const char *dir = call->shared->out, *units = r->groups ? "groups" : counted(task, r, 2);
    bool fewer = !r->groups && r->candidates < vxs_stability_task(task, r)->cohort->p;
    char subjects[VXS_SUBJECTS_TEXT], number[VXS_REAL_TEXT], median[VXS_REAL_TEXT];
    fprintf(out,
            "Stability selection for '%s', %s\n"
            "  each of %zu halves selects at most %zu of %zu %s%s\n",
            task->settings.target, vxs_subjects_text(task, subjects), r->halves, r->features,
            r->candidates, units, fewer ? " that can be selected" : "");
    vxs_print_positive(out, task);
    for (size_t o = 0; o < vxs_task_outputs(task); o++)
        print_stable(out, task, r, o);
    fprintf(out,
            "  expected number of falsely selected %s: at most %s (Shah & Samworth 2013; "
            "Meinshausen & Buehlmann 2010)\n",
            units, vxs_short_text(r->error_bound, number));
    if (r->clustered)
        fprintf(out,
                "  spatial tolerance: %s mm, the largest diameter of a cluster (median %s mm)\n",
                vxs_mm_text(r->clustered->tolerance, number),
                vxs_mm_text(r->clustered->median, median));
    print_agreement(out, task, method, r);
    print_advice(out, task, method, r);
    fprintf(out, "  %s/frequencies.tsv  selection frequency of each %s\n", dir,
            r->clustered ? "cluster" : "feature");
    if (task->cohort->kind == VXS_FEATURES_VOXELS)
        fprintf(out,
                "  %s/stable.nii.gz    stable voxels; frequency.nii.gz: all\n"
                "  %s/clusters.tsv     their clusters; 'voxsift regions' labels them by an atlas\n",
                dir, dir);
}

vxs_status vxs_report_stability(const vxs_call *call, const vxs_task *task,
                                const vxs_stability_settings *settings,
                                const vxs_method_settings *method, const vxs_stability *r,
                                vxs_error *err)
{
    vxs_status status = vxs_stability_save(call->context, task, settings, method, r,
                                           call->shared->out, call->shared->force, err);
    if (!status && vxs_chunk_is_part(settings->chunking.chunk)) {
        vxs_print_part(call, "pairs of halves", r->first, r->end, r->halves / 2);
    } else if (!status && call->shared->json) {
        vxs_json_writer w;
        vxs_json_init(&w, call->out);
        vxs_json_open_object(&w, NULL);
        vxs_json_text(&w, "output", call->shared->out);
        vxs_stability_json(&w, task, r);
        vxs_close_json(call, &w);
    } else if (!status) {
        print_words(call, task, method, r);
    }
    if (!status && !r->converged)
        status = vxs_fail(
            err, VXS_NOT_CONVERGED,
            "some fits did not reach the tolerance of the duality gap; stability.json marks them");
    return status;
}

static vxs_status halve(const vxs_call *call, vxs_task *task, vxs_error *err)
{
    vxs_stability_settings settings = *(const vxs_stability_settings *)call->values;
    vxs_stability result;
    settings.chunking = call->chunking;
    vxs_status status = vxs_warn_leaks(call->context, task, err);
    if (!status)
        status = vxs_stability_run(call->context, task, &settings, call->method, &result, err);
    if (status)
        return status;
    status = vxs_report_stability(call, task, &settings, call->method, &result, err);
    vxs_stability_release(&result);
    return status;
}

static vxs_status run(const vxs_call *call, vxs_error *err)
{
    const vxs_stability_settings *settings = call->values;
    return vxs_with_task(call, &settings->task, halve, err);
}

static const char *const unoffered[] = { "lambda", NULL };

const vxs_command vxs_cmd_stability = {
    .name = "stability",
    .heading = "Predict",
    .summary = "stability selection: features selected in most random halves",
    .details =
        "Fits the model to random halves of the subjects and reports each feature's selection "
        "frequency. Features at or above --threshold are stable; the expected number of falsely "
        "selected ones is at most --wrong (Shah and Samworth 2013).\n\n"
        "Halves are stratified by class or quantile, with all subjects (scans) of one person in "
        "one half. On each half the path is followed from lambda_max down until as many features "
        "are selected as the bound allows (--wrong) or --select-features says (fgm, mslr, measure: "
        "by "
        "iterations).\n\n"
        "Features that do not vary are not counted, nor with --groups those in no group. Of groups "
        "that do not overlap, such as regions of an atlas, groups are counted: the bound is on the "
        "number of falsely selected groups.\n\n"
        "A falsely selected feature is one that a half selects no more often than by chance. The "
        "bound is the smaller of that of Shah and Samworth (2013) for complementary pairs, which "
        "assumes unimodal selection frequencies, and that of Meinshausen and Buehlmann (2010), "
        "which assumes exchangeable noise features. Neighbors in a smooth image substitute for "
        "each other: a region may be stable though none of its voxels is.",
    .operands = operands,
    .params = vxs_task_params,
    .more_params = vxs_stability_params,
    .takes =
        VXS_TAKES_OUTPUT | VXS_TAKES_JSON | VXS_TAKES_THREADS | VXS_TAKES_METHOD | VXS_TAKES_CHUNK,
    .unoffered = unoffered,
    .examples = examples,
    .run = run,
};
