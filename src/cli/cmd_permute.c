/* cmd_permute.c - voxsift permute. */
#include "cli/cli.h"

#include <string.h>

static const vxs_operand operands[] = {
    { .name = "COHORT", .help = "directory made by 'voxsift cohort' or 'simulate'" },
    { .name = NULL },
};

static const vxs_example examples[] = {
    { "voxsift permute t1w --target age --permutations 1000 -o age-p",
      "test whether age is predicted better than by chance" },
    { "voxsift permute pet --target diagnosis --blocks site -o p --resume",
      "permute diagnoses within sites; continue after an interruption" },
    { NULL, NULL },
};

static void print_words(const vxs_call *call, const vxs_task *t, const vxs_cv_settings *cv,
                        const vxs_permutation *r)
{
    FILE *out = call->out;
    bool two = t->class_count == 2;
    char subjects[VXS_SUBJECTS_TEXT], words[VXS_METRIC_TEXT], observed[VXS_REAL_TEXT],
        p[VXS_REAL_TEXT];
    fprintf(out, "%s permutation test, %zu permutation%s of the complete %sCV: %s %s, p = %s\n",
            t->class_count > 0 ? "Label" : "Target", r->count, vxs_plural(r->count),
            cv->inner_folds > 0 ? "nested " : "",
            vxs_metric_words(r->metric, t->class_count, two ? t->classes[0] : "",
                             two ? t->classes[1] : "", words),
            vxs_score_text(r->observed, false, observed), vxs_score_text(r->p, false, p));
    fprintf(out, "  target '%s', %s\n", t->settings.target, vxs_subjects_text(t, subjects));
    vxs_print_positive(out, t);
    fprintf(out, "  permuted: %zu %s%s\n", r->units, r->unit,
            strcmp(r->unit, "subjects") == 0 ? "" : ", each with all targets in their order");
    fprintf(out, "  %zu of %zu permutations reach the observed value\n", r->reached, r->count);
    if (r->redrawn > 0)
        fprintf(out,
                "  drawn again %zu time%s: permutations that leave fewer than two training "
                "subjects of a class\n",
                r->redrawn, vxs_plural(r->redrawn));
    if (r->count < r->requested)
        fprintf(out,
                "  stopped early, before %zu permutations (--stop-at; Besag & Clifford 1991)\n",
                r->requested);
    fprintf(out, "  smallest possible p: %s\n", vxs_score_text(r->smallest_p, false, p));
    vxs_print_classes(out, t->classes, &r->classes);
    fprintf(out, "  %s/permute.json  all results and settings; null.tsv: the null distribution\n",
            call->shared->out);
}

vxs_status vxs_report_permutation(const vxs_call *call, const vxs_task *task,
                                  const vxs_permute_settings *settings,
                                  const vxs_method_settings *method, const vxs_permutation *r,
                                  vxs_error *err)
{
    vxs_status status = vxs_permutation_save(call->context, task, settings, method, r,
                                             call->shared->out, call->shared->force, err);
    if (!status && vxs_chunk_is_part(settings->chunking.chunk)) {
        vxs_print_part(call, "permutations", r->first, r->end, r->requested);
    } else if (!status && call->shared->json) {
        vxs_json_writer w;
        vxs_json_init(&w, call->out);
        vxs_json_open_object(&w, NULL);
        vxs_json_text(&w, "output", call->shared->out);
        vxs_permutation_json(&w, task, r);
        vxs_close_json(call, &w);
    } else if (!status) {
        print_words(call, task, &settings->cv, r);
    }
    return status;
}

static vxs_status permute(const vxs_call *call, vxs_task *task, vxs_error *err)
{
    vxs_permute_settings settings = *(const vxs_permute_settings *)call->values;
    vxs_permutation r;
    settings.chunking = call->chunking;
    vxs_status status = vxs_cv_settle(call->context, task, &settings.cv, err);
    if (!status)
        status = vxs_warn_leaks(call->context, task, err);
    if (!status)
        status = vxs_permute(call->context, task, &settings, call->method, &r, err);
    if (status)
        return status;
    status = vxs_report_permutation(call, task, &settings, call->method, &r, err);
    vxs_permutation_release(&r);
    return status;
}

static vxs_status run(const vxs_call *call, vxs_error *err)
{
    const vxs_permute_settings *settings = call->values;
    return vxs_with_task(call, &settings->cv.task, permute, err);
}

static const char *const unoffered[] = { "lambda", "no-dense-baseline", "bootstraps", NULL };

const vxs_command vxs_cmd_permute = {
    .name = "permute",
    .heading = "Predict",
    .summary = "test prediction accuracy by permuting the target: a p-value",
    .details =
        "Permutes the target across subjects and repeats the complete nested cross-validation of "
        "'voxsift cv' with the same options. p is (C + 1) / (N + 1), where C of the N permutations "
        "that were computed predict at least as well as with the observed target.\n\n"
        "Confounds are not permuted; the null hypothesis is that the target is independent of "
        "images and confounds jointly.\n\n"
        "Persons are the units of exchange: all targets of a person's subjects (scans) move "
        "together, in table order, to a person with the same number of subjects (whole-block "
        "exchange; Winkler 2015). This is valid for targets that are constant within persons, such "
        "as a trait, and for targets that vary, if persons are exchangeable. Permuting single "
        "scans would treat scans of one person as independent and make p-values too small.\n\n"
        "With --blocks site, persons are exchanged only with persons who have the same sequence of "
        "sites. If the blocks are persons or finer, targets are permuted within persons: this "
        "tests only variation within persons, and assumes no trend over a person's scans. With "
        "--whole-blocks, blocks such as families are exchanged whole; they must have the same "
        "number of persons and scans.\n\n"
        "Permutations that leave fewer than two training subjects of a class are drawn again. The "
        "test remains valid, as this criterion does not depend on the images, and the observed "
        "target must meet it too. The run reports the fraction before it starts; drawn_again in "
        "permute.json has the count.\n\n"
        "The run reports the smallest possible p-value before it starts. OUT.checkpoint holds "
        "finished permutations until the run is complete; --resume continues from it. Without "
        "--resume an existing checkpoint is an error, and --force discards it.",
    .operands = operands,
    .params = vxs_task_params,
    .more_params = vxs_cv_params,
    .most_params = vxs_permute_params,
    .takes =
        VXS_TAKES_OUTPUT | VXS_TAKES_JSON | VXS_TAKES_THREADS | VXS_TAKES_METHOD | VXS_TAKES_CHUNK,
    .unoffered = unoffered,
    .examples = examples,
    .run = run,
};
