/* cmd_predict.c - voxsift predict. */
#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const vxs_operand operands[] = {
    { .name = "MODEL", .help = "directory made by 'voxsift fit'" },
    { .name = "SOURCE",
      .help = "a cohort directory, or what 'voxsift cohort' takes: a table with --image-column or "
              "--pattern, a folder, images",
      .optional = true,
      .repeat = true },
    { .name = NULL },
};

static const vxs_example examples[] = {
    { "voxsift predict age new.tsv --image-column t1w",
      "predict for images that the model has never seen" },
    { "voxsift predict age test --json", "predict for a cohort; have a script read the numbers" },
    { NULL, NULL },
};

typedef struct {
    const vxs_call *call;
    const vxs_model *model;
    const vxs_cohort *cohort;
    double *scores;
    vxs_predictions said;
    size_t target; /* column of the table, or SIZE_MAX */
    vxs_metrics metrics;
} predictions;

static const char *id_of(const predictions *p, size_t i)
{
    return vxs_cohort_id(p->cohort, i);
}

static const char *truth_of(const predictions *p, size_t i)
{
    return p->target == SIZE_MAX ? NULL : vxs_table_cell(p->cohort->people, i, p->target);
}

/* ---- As a table ------------------------------------------------------------------------------ */

static void print_header(const predictions *p, vxs_tsv_writer *w)
{
    const vxs_model *m = p->model;
    vxs_tsv_text(w, vxs_cohort_id_header(p->cohort));
    if (p->target != SIZE_MAX)
        vxs_tsv_text(w, m->task.target);
    vxs_tsv_text(w, "predicted");
    for (size_t k = 0; k < m->class_count; k++) {
        char name[256];
        snprintf(name, sizeof(name), "p_%s", m->classes[k]);
        vxs_tsv_text(w, name);
    }
    vxs_tsv_end_row(w);
}

static void print_table(const predictions *p)
{
    const vxs_model *m = p->model;
    size_t n = p->cohort->n;
    vxs_tsv_writer w;
    vxs_tsv_init(&w, p->call->out);
    print_header(p, &w);
    for (size_t i = 0; i < n; i++) {
        bool known = !isnan(p->scores[i]);
        vxs_tsv_text(&w, id_of(p, i));
        if (p->target != SIZE_MAX)
            vxs_tsv_text(&w, truth_of(p, i));
        if (m->class_count == 0)
            vxs_tsv_real(&w, p->scores[i]);
        else
            vxs_tsv_text(&w, known ? m->classes[vxs_predicted_class(&p->said, i)] : NULL);
        for (size_t k = 0; k < m->class_count; k++)
            vxs_tsv_real(&w, known ? vxs_predicted_probability(&p->said, i, k) : NAN);
        vxs_tsv_end_row(&w);
    }
}

/* ---- As JSON --------------------------------------------------------------------------------- */

static void print_subject(const predictions *p, vxs_json_writer *w, size_t i)
{
    const vxs_model *m = p->model;
    bool known = !isnan(p->scores[i]);
    vxs_json_open_object(w, NULL);
    vxs_json_text(w, "id", id_of(p, i));
    if (p->target != SIZE_MAX)
        vxs_json_text(w, "target", truth_of(p, i));
    if (m->class_count == 0)
        vxs_json_real(w, "predicted", p->scores[i]);
    else
        vxs_json_text(w, "predicted", known ? m->classes[vxs_predicted_class(&p->said, i)] : NULL);
    if (m->class_count > 0) {
        vxs_json_open_object(w, "probability");
        for (size_t k = 0; k < m->class_count; k++)
            vxs_json_real(w, m->classes[k],
                          known ? vxs_predicted_probability(&p->said, i, k) : NAN);
        vxs_json_close_object(w);
    }
    vxs_json_close_object(w);
}

static void print_json(const predictions *p)
{
    vxs_json_writer w;
    vxs_json_init(&w, p->call->out);
    vxs_json_open_object(&w, NULL);
    vxs_json_text(&w, "target", p->model->task.target);
    vxs_json_open_array(&w, "subjects");
    for (size_t i = 0; i < p->cohort->n; i++)
        print_subject(p, &w, i);
    vxs_json_close_array(&w);
    vxs_json_open_object(&w, "metrics");
    vxs_json_whole(&w, "subjects", (int64_t)p->metrics.count);
    for (const vxs_metric_row *row = vxs_metric_rows; row->name; row++)
        if (row->of_classes == (p->model->class_count > 0))
            vxs_json_real(&w, row->name,
                          p->metrics.count > 0 ? *vxs_metric((vxs_metrics *)&p->metrics, row)
                                               : NAN);
    vxs_json_close_object(&w);
    vxs_json_close_object(&w);
}

/* ---- The whole ------------------------------------------------------------------------------- */

static void tell_metrics(const predictions *p)
{
    const vxs_metrics *m = &p->metrics;
    const char *target = p->model->task.target;
    size_t without = 0;
    for (size_t i = 0; i < p->cohort->n; i++)
        without += isnan(p->scores[i]);
    if (without > 0)
        vxs_log(
            p->call->context, VXS_LOG_WARNING,
            "%zu of %zu subjects have no prediction: a confound is missing, or has a value that "
            "the model has never seen",
            without, p->cohort->n);
    if (m->count == 0)
        return;
    if (p->model->class_count == 0)
        vxs_log(p->call->context, VXS_LOG_INFO,
                "against '%s' of %zu subjects: r %.2f, mean absolute error %.4g, root mean square "
                "error %.4g",
                target, m->count, m->r, m->mae, m->rmse);
    else if (isnan(m->auc))
        vxs_log(p->call->context, VXS_LOG_INFO,
                "against '%s' of %zu subjects: accuracy %.2f, balanced accuracy %.2f", target,
                m->count, m->accuracy, m->balanced_accuracy);
    else
        vxs_log(p->call->context, VXS_LOG_INFO,
                "against '%s' of %zu subjects: accuracy %.2f, balanced accuracy %.2f, AUC %.2f",
                target, m->count, m->accuracy, m->balanced_accuracy, m->auc);
}

static vxs_status predict(const vxs_call *call, const vxs_model *model, const vxs_cohort *cohort,
                          vxs_error *err)
{
    predictions p = { .call = call, .model = model, .cohort = cohort, .target = SIZE_MAX };
    if (vxs_table_find(cohort->people, model->task.target, &p.target, NULL))
        p.target = SIZE_MAX;
    p.scores = vxs_alloc(model->output_count * cohort->n, sizeof(*p.scores), err);
    p.said = (vxs_predictions){ .n = cohort->n,
                                .class_count = model->class_count,
                                .scores = p.scores,
                                .slope = model->selection.slope,
                                .offset = model->selection.offset };
    vxs_status status = p.scores ? vxs_model_scores(model, cohort, p.scores, err) : VXS_FAILED;
    if (!status)
        status = vxs_model_compare(model, cohort, p.scores, &p.metrics, err);
    if (!status && call->shared->json)
        print_json(&p);
    else if (!status)
        print_table(&p);
    if (!status)
        tell_metrics(&p);
    free(p.scores);
    return status;
}

static bool is_cohort(char **sources)
{
    struct stat about;
    char path[4096];
    if (!sources[0] || sources[1])
        return false;
    snprintf(path, sizeof(path), "%s/%s", sources[0], VXS_COHORT_FILE);
    return stat(path, &about) == 0;
}

static vxs_status run(const vxs_call *call, vxs_error *err)
{
    vxs_model model;
    vxs_cohort cohort;
    char **sources = call->operands + 1;
    vxs_status status = vxs_model_read(call->operands[0], &model, err);
    if (status)
        return status;
    status = is_cohort(sources) ? vxs_cohort_open(sources[0], &cohort, err)
                                : vxs_model_cohort(call->context, &model, call->values,
                                                   (const char *const *)sources, &cohort, err);
    if (!status) {
        status = predict(call, &model, &cohort, err);
        vxs_cohort_release(&cohort);
    }
    vxs_model_release(&model);
    return status;
}

const vxs_command vxs_cmd_predict = {
    .name = "predict",
    .heading = "Predict",
    .summary = "predict a model's target for a cohort or for new images",
    .details =
        "Images are joined, checked, scaled and smoothed as those of the model were, inside its "
        "mask; what is not on its grid is refused with the reason (--resample brings it there). A "
        "cohort must have the model's mask and have been made in the same way.\n\n"
        "Prints a table with a row a subject: the predicted score, or the class and the "
        "probability of each. Where the table has the target itself, how near the predictions are "
        "is said on standard error, and in --json.",
    .operands = operands,
    .params = vxs_source_params,
    .takes = VXS_TAKES_JSON | VXS_TAKES_THREADS,
    .examples = examples,
    .run = run,
};
