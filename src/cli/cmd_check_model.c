/* cmd_check_model.c - voxsift check-model. */
#include "cli/cli.h"

#include <stdlib.h>

static const vxs_operand operands[] = {
    { .name = "MODEL", .help = "directory made by 'voxsift fit'" },
    { .name = "COHORT", .help = "the cohort that the model was fitted on" },
    { .name = NULL },
};

static const vxs_example examples[] = {
    { "voxsift check-model age t1w", "recompute a model's certificate from the data" },
    { NULL, NULL },
};

static bool holds(const vxs_output_fit *o, const vxs_certificate *found)
{
    return vxs_certificate_holds(&o->fit.certificate, found, vxs_iterated_selection(&o->fit));
}

static bool all_hold(const vxs_model *m, const vxs_certificate *found)
{
    bool all = true;
    for (size_t k = 0; k < m->output_count; k++)
        all = all && holds(&m->outputs[k], &found[k]);
    return all;
}

static void print_json(const vxs_call *call, const vxs_model *m, const vxs_cohort *cohort,
                       const vxs_certificate *found, bool sealed)
{
    vxs_json_writer w;
    vxs_json_init(&w, call->out);
    vxs_json_open_object(&w, NULL);
    vxs_json_open_array(&w, "outputs");
    for (size_t k = 0; k < m->output_count; k++) {
        vxs_json_open_object(&w, NULL);
        vxs_json_text(&w, "name", m->outputs[k].name);
        vxs_json_bool(&w, "holds", holds(&m->outputs[k], &found[k]));
        vxs_json_real(&w, "lambda", found[k].lambda);
        vxs_json_real(&w, "lambda_max", found[k].lambda_max);
        vxs_json_real(&w, "primal", found[k].primal);
        vxs_json_real(&w, "dual", found[k].dual);
        vxs_json_real(&w, "gap", found[k].gap);
        if (found[k].unidentified > 0)
            vxs_json_whole(&w, "unidentified", (int64_t)found[k].unidentified);
        vxs_json_real(&w, "gap_said", m->outputs[k].fit.certificate.gap);
        vxs_json_close_object(&w);
    }
    vxs_json_close_array(&w);
    vxs_json_bool(&w, "features_verified", vxs_model_features_recorded(m, cohort));
    vxs_json_bool(&w, "files_verified", sealed);
    vxs_json_bool(&w, "holds", all_hold(m, found));
    vxs_close_json(call, &w);
}

static void print_title(FILE *out, const vxs_model *m, size_t k)
{
    if (m->class_count == 2)
        fprintf(out, "%s against %s: ", m->classes[1], m->classes[0]);
    else if (m->class_count > 2)
        fprintf(out, "%s %s: ", vxs_model_has_pairs(m) ? "pair" : "class", m->outputs[k].name);
    else
        fprintf(out, "target %s: ", m->outputs[k].name);
}

static void print_words(const vxs_call *call, const vxs_model *m, const vxs_certificate *found)
{
    FILE *out = call->out;
    for (size_t k = 0; k < m->output_count; k++) {
        const vxs_certificate *stored = &m->outputs[k].fit.certificate;
        print_title(out, m, k);
        fprintf(out,
                "the certificate %s.\n  primal       %.10g (model: %.10g)\n  dual         %.10g "
                "(model: %.10g)\n  relative gap %.2g, ",
                holds(&m->outputs[k], &found[k]) ? "holds" : "does NOT hold", found[k].primal,
                stored->primal, found[k].dual, stored->dual, found[k].gap);
        size_t unidentified = found[k].unidentified;
        if (vxs_iterated_selection(&m->outputs[k].fit))
            fprintf(out, "over all possible selections\n");
        else
            fprintf(out, "tolerance %.2g\n", stored->tol);
        if (unidentified > 0 || stored->unidentified > 0)
            fprintf(out, "  unidentified %zu unpenalized directions (model: %zu)\n", unidentified,
                    stored->unidentified);
    }
}

static vxs_status check(const vxs_call *call, const vxs_model *m, vxs_error *err)
{
    vxs_cohort cohort;
    vxs_status status = vxs_cohort_open_for(call->operands[1], &m->task, &cohort, err);
    if (status)
        return status;
    vxs_certificate *found = vxs_alloc(m->output_count, sizeof(*found), err);
    status = found ? vxs_model_check(call->context, m, &cohort, found, err) : VXS_FAILED;
    bool sealed = false;
    vxs_error changed = VXS_ERROR_INIT; /* why a certificate does not hold */
    if (!status && all_hold(m, found))
        status = vxs_model_check_files(m, &sealed, err);
    else if (!status && vxs_model_check_files(m, &sealed, &changed))
        sealed = false;
    if (!status && !sealed && all_hold(m, found))
        vxs_log(call->context, VXS_LOG_WARNING,
                "the model has no '" VXS_SEAL_FILE "': changes of its files cannot be detected");
    if (!status && call->shared->json)
        print_json(call, m, &cohort, found, sealed);
    else if (!status)
        print_words(call, m, found);
    for (size_t k = 0; k < m->output_count && !status; k++)
        if (!holds(&m->outputs[k], &found[k]))
            status = vxs_fail(err, VXS_NOT_CONVERGED,
                              "the certificate of '%s' does not hold on this cohort%s%s",
                              m->outputs[k].name, changed.status ? ": " : "", changed.message);
    free(found);
    vxs_cohort_release(&cohort);
    return status;
}

static vxs_status run(const vxs_call *call, vxs_error *err)
{
    vxs_model model;
    vxs_status status = vxs_model_read(call->operands[0], &model, err);
    if (status)
        return status;
    status = check(call, &model, err);
    vxs_model_release(&model);
    return status;
}

const vxs_command vxs_cmd_check_model = {
    .name = "check-model",
    .heading = "Predict",
    .summary = "verify by independent code that a model is the optimum",
    .details =
        "Recomputes the objective, dual feasibility over all features and the duality gap from the "
        "model's weights and the cohort's features, with code that is independent of the solvers. "
        "Exit code 3: the certificate does not hold. Exit code 65: the features are not those of "
        "the fit (their SHA-256 differs from that in model and cohort), or a file of the model was "
        "changed (its SHA-256 differs from that in sha256sums, which 'sha256sum -c' checks as "
        "well).",
    .operands = operands,
    .takes = VXS_TAKES_JSON | VXS_TAKES_THREADS,
    .examples = examples,
    .run = run,
};
