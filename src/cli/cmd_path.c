/* cmd_path.c - voxsift path. */
#include "cli/cli.h"

#include <stdlib.h>

static const vxs_operand operands[] = {
    { .name = "COHORT", .help = "directory made by 'voxsift cohort' or 'simulate'" },
    { .name = NULL },
};

static const vxs_example examples[] = {
    { "voxsift path t1w --target age --lambda-ratio 0.05 --nlambda 30",
      "print the number of selected voxels at each lambda" },
    { "voxsift path sim --target score --json", "print every certificate for a script" },
    { "voxsift path pet --target diagnosis --method fgm --per-iteration 2 --iterations 20",
      "print the gap after each iteration that adds two voxels" },
    { NULL, NULL },
};

typedef struct {
    const vxs_call *call;
    const vxs_task *task;
    const char *name; /* name of the target or of the class */
    vxs_json_writer json;
    bool found; /* some fit has a gap above the tolerance; `worst` is the largest gap */
    vxs_certificate worst;
    double gap;          /* gap that this fit's solver controls */
    uint64_t iterations; /* iterations of fgm and mslr */
    double passes;
    size_t unidentified; /* largest number of unidentified directions of a fit */
} printer;

/* Keeps the largest gap; for fgm and mslr, the gap of the restricted problem. */
static void keep_worst(printer *p, const vxs_solution *fit)
{
    const vxs_certificate *c = &fit->certificate;
    const vxs_selected *s = vxs_iterated_selection(fit);
    double gap = s ? s->restricted_gap : c->gap;
    if (c->converged || (p->found && gap <= p->gap))
        return;
    p->found = true;
    p->gap = gap;
    p->worst = *c;
    p->iterations = s ? s->iterations : 0;
}

static vxs_status check_convergence(const printer *p, vxs_error *err)
{
    const vxs_certificate *c = &p->worst;
    if (!p->found)
        return VXS_OK;
    if (p->iterations > 0)
        return vxs_fail(err, VXS_NOT_CONVERGED,
                        "after %llu iterations the relative gap is %.2g, and %.2g on the selected "
                        "features: above the tolerance",
                        (unsigned long long)p->iterations, c->gap, p->gap);
    bool by_cost = vxs_task_method(p->task)->path == VXS_BY_COST;
    return vxs_fail(err, VXS_NOT_CONVERGED, "at %s %g the relative gap is %.2g, more than %.2g",
                    by_cost ? "C" : "lambda", by_cost ? 1 / c->lambda : c->lambda, c->gap, c->tol);
}

/* On a terminal three digits, in a file as many as the format has. */
static const char *digits(const printer *p, const char *format, double value,
                          char text[VXS_REAL_TEXT])
{
    if (p->call->terminal)
        return vxs_score_text(value, false, text);
    snprintf(text, VXS_REAL_TEXT, format, value);
    return text;
}

/* Prints the iterations of methods that select feature blocks. */
static void print_iterations(const printer *p, size_t number, const vxs_output_fit *o)
{
    const vxs_certificate *c = &o->fit.certificate;
    const vxs_selected *s = o->fit.selected;
    char primal[VXS_REAL_TEXT], passes[VXS_REAL_TEXT], seconds[VXS_REAL_TEXT];
    if (number == 0)
        fprintf(p->call->out, "iterations\tselected\tfeatures\tprimal\tgap\tpasses\tseconds\n");
    fprintf(p->call->out, "%llu\t%zu\t%zu\t%s\t%.2g\t%s\t%s\n", (unsigned long long)s->iterations,
            s->count, c->nonzero, digits(p, "%.10g", c->primal, primal), c->gap,
            digits(p, "%.3f", c->passes, passes), digits(p, "%.4f", c->seconds, seconds));
}

/* Prints a kernel machine. */
static void print_machine(const printer *p, size_t number, const vxs_certificate *c)
{
    char cost[VXS_REAL_TEXT], primal[VXS_REAL_TEXT], passes[VXS_REAL_TEXT], seconds[VXS_REAL_TEXT];
    if (number == 0)
        fprintf(p->call->out, "C\tsupport_vectors\tprimal\tgap\tpasses\tseconds\n");
    fprintf(p->call->out, "%s\t%zu\t%s\t%.2g\t%s\t%s\n", digits(p, "%.8g", 1 / c->lambda, cost),
            c->support, digits(p, "%.10g", c->primal, primal), c->gap,
            digits(p, "%.3f", c->passes, passes), digits(p, "%.4f", c->seconds, seconds));
}

static vxs_status print_fit(void *user, size_t number, const vxs_output_fit *o, vxs_error *err)
{
    printer *p = user;
    const vxs_certificate *c = &o->fit.certificate;
    FILE *out = p->call->out;
    bool first = !o->name || o->name == p->task->classes[0]; /* other outputs share the fit */
    (void)err;
    p->passes += first ? c->passes : 0;
    keep_worst(p, &o->fit);
    p->unidentified = c->unidentified > p->unidentified ? c->unidentified : p->unidentified;
    if (p->call->shared->json) {
        vxs_json_open_object(&p->json, NULL);
        if (o->name)
            vxs_json_text(&p->json, "class", o->name);
        vxs_fit_json(&p->json, &p->task->settings, p->call->method, p->task->loss, &o->fit);
        vxs_json_close_object(&p->json);
        return VXS_OK;
    }
    if (!first)
        return VXS_OK;
    if (number == 0 && vxs_task_problems(p->task) > 1)
        fprintf(out, "# %s%s\n", p->name, vxs_task_has_pairs(p->task) ? "" : " against the rest");
    if (vxs_iterated_selection(&o->fit)) {
        print_iterations(p, number, o);
        return VXS_OK;
    }
    if (vxs_task_method(p->task)->path == VXS_BY_COST) {
        print_machine(p, number, c);
        return VXS_OK;
    }
    char lambda[VXS_REAL_TEXT], ratio[VXS_REAL_TEXT], primal[VXS_REAL_TEXT], passes[VXS_REAL_TEXT],
        seconds[VXS_REAL_TEXT];
    bool fused = vxs_task_method(p->task)->graph == VXS_GRAPH_NEEDED && p->task->terms.count == 0;
    if (number == 0)
        fprintf(out, "lambda\tlambda_ratio\t%s\tprimal\tgap\tpasses\tseconds\n",
                fused ? "fused_regions" : "nonzero");
    fprintf(out, "%s\t%s\t%zu\t%s\t%.2g\t%s\t%s\n", digits(p, "%.8g", c->lambda, lambda),
            digits(p, "%.6f", c->lambda / c->lambda_max, ratio),
            fused ? c->fused_regions : c->nonzero, digits(p, "%.10g", c->primal, primal), c->gap,
            digits(p, "%.3f", c->passes, passes), digits(p, "%.4f", c->seconds, seconds));
    return VXS_OK;
}

static vxs_status print_outputs(printer *p, vxs_task *task, vxs_error *err)
{
    const vxs_call *call = p->call;
    bool json = call->shared->json;
    size_t outputs = vxs_task_problems(task);
    vxs_status status = VXS_OK;
    for (size_t k = 0; k < outputs && !status; k++) {
        char text[VXS_OUTPUT_TEXT];
        p->name = outputs > 1 ? vxs_task_output_name(task, k, text) : task->settings.target;
        if (json) {
            vxs_json_open_object(&p->json, NULL);
            vxs_json_text(&p->json, "name", p->name);
            vxs_json_open_array(&p->json, "points");
        }
        status = vxs_model_path(call->context, task, call->method, k, print_fit, p, err);
        if (json) {
            vxs_json_close_array(&p->json);
            vxs_json_close_object(&p->json);
        }
    }
    return status;
}

/* Prints each point as it completes; JSON when the path is complete. */
static vxs_status print_path(printer *p, vxs_task *task, vxs_error *err)
{
    double start = vxs_seconds();
    char *text = NULL;
    size_t length = 0;
    if (!p->call->shared->json) {
        vxs_status printed = print_outputs(p, task, err);
        vxs_warn_unidentified(p->call->context, printed ? 0 : p->unidentified);
        return printed;
    }
    FILE *whole = open_memstream(&text, &length);
    if (!whole)
        return vxs_fail(err, VXS_FAILED, "not enough memory for the path");
    vxs_json_init(&p->json, whole);
    vxs_json_open_object(&p->json, NULL);
    vxs_json_open_array(&p->json, "outputs");
    vxs_status status = print_outputs(p, task, err);
    vxs_json_close_array(&p->json);
    vxs_json_real(&p->json, "passes", p->passes);
    vxs_json_real(&p->json, "seconds_total", vxs_seconds() - start);
    vxs_warn_unidentified(p->call->context, status ? 0 : p->unidentified);
    vxs_close_json(p->call, &p->json);
    if (fclose(whole) != 0 && !status)
        status = vxs_fail(err, VXS_FAILED, "not enough memory for the path");
    if (!status)
        (void)!fwrite(text, 1, length,
                      p->call->out); /* write errors appear when the stream is closed */
    free(text);
    return status;
}

static vxs_status follow(const vxs_call *call, vxs_task *task, vxs_error *err)
{
    printer p = { .call = call, .task = task };
    vxs_status status = print_path(&p, task, err);
    return status ? status : check_convergence(&p, err);
}

static vxs_status run(const vxs_call *call, vxs_error *err)
{
    return vxs_with_task(call, call->values, follow, err);
}

const vxs_command vxs_cmd_path = {
    .name = "path",
    .heading = "Predict",
    .summary = "fit a series of models (a path) over lambda, "
               "iterations or C",
    .details =
        "Fits a path of models, from lambda_max, where no feature is selected, down to --lambda "
        "or --lambda-ratio, at --nlambda values of equal ratio, each fit started from the last.\n\n"
        "Printed for each: lambda, the number of selected features (fused: of fused regions), "
        "the objective, the relative duality gap over all features, and the passes over the "
        "data. The terminal shows three significant digits, a file more.\n\n"
        "fgm, mslr and measure have iterations instead of lambdas: a point for each of the first "
        "--iterations, or for each value of --nselect. Printed are the iterations, how many "
        "features, groups or pairs are selected, of how many features these are made, and then "
        "the same. svm has the values of --C, each with the number of support vectors: the "
        "subjects that have a weight.",
    .operands = operands,
    .params = vxs_task_params,
    .takes = VXS_TAKES_JSON | VXS_TAKES_THREADS | VXS_TAKES_METHOD,
    .examples = examples,
    .run = run,
};
