/* cmd_predict.c - voxsift predict. */
#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const vxs_operand operands[] = {
    { .name = "MODEL", .help = "directory made by 'voxsift fit'" },
    { .name = "SOURCE",
      .help = "a cohort directory, or a source as of 'voxsift cohort': a table with --image-column "
              "or --pattern, a folder, images",
      .optional = true,
      .repeat = true },
    { .name = NULL },
};

static const vxs_example examples[] = {
    { "voxsift predict age new.tsv --image-column t1w", "predict from new images" },
    { "voxsift predict age test --json", "predict for a cohort, for a script" },
    { "voxsift predict lesion new.tsv -o maps",
      "write an image of probabilities for each subject, by a model of voxels" },
    { NULL, NULL },
};

typedef struct {
    vxs_patch_settings patches; /* first, and sources in it: offsets of vxs_source_params */
    bool training_too;
    const char *kernel_file, *explain;
} predict_settings;
#define OF(member) offsetof(predict_settings, patches.member)

static const vxs_param predict_params[] = {
    VXS_FLAG_ROW("training-too", offsetof(predict_settings, training_too),
                 "include training subjects in the metrics, which then overestimate accuracy",
                 .head = VXS_HEAD_EVALUATION),
    VXS_TEXT_ROW("explain", "DIR", offsetof(predict_settings, explain),
                 "of models of --bags: write which instances each score comes from",
                 .head = VXS_HEAD_OUTPUT),
    VXS_PATH_ROW("kernel-file", "FILE", offsetof(predict_settings, kernel_file),
                 "for svm --kernel precomputed: NPY matrix of new and training subjects; ids of "
                 "its rows in FILE.tsv",
                 .head = VXS_HEAD_DATA),
    VXS_TEXT_ROW(
        "label-column", "NAME", OF(label_column),
        "with -o: column of the table with label images, to which predictions are compared",
        .head = VXS_HEAD_EVALUATION),
    VXS_REAL_ROW("label-threshold", "X", OF(label_threshold), NAN, -1e30, 1e30,
                 "with --label-column: labels above X are class 1; default: as in training",
                 .head = VXS_HEAD_EVALUATION),
    VXS_TEXT_ROW("mask", "WHICH", OF(mask),
                 "with -o: voxels to predict: nonzero, auto, or an image; default: the rule of "
                 "training",
                 .head = VXS_HEAD_DATA),
    VXS_TEXT_ROW("mask-column", "NAME", OF(mask_column),
                 "with -o: column of the table with the paths of each subject's mask",
                 .head = VXS_HEAD_DATA),
    { .name = NULL },
};

typedef struct {
    const vxs_call *call;
    const vxs_model *model;
    const vxs_cohort *cohort;
    double *scores, *probabilities; /* of pairs of classes, behind the scores; or NULL */
    vxs_predictions predicted;
    size_t target; /* target column of the table, or SIZE_MAX */
    vxs_trained *trained;
    size_t known[2]; /* training subjects, with the same images and with other images */
    size_t perhaps;  /* number of subjects that may be persons of the training data */
    vxs_unseen_list unseen;
    double *far; /* as of vxs_model_far */
    vxs_metrics metrics;
    vxs_class_scores classes;
    vxs_row_filter filter; /* filter of --only and --exclude */
    size_t n;              /* number of selected subjects */
} predictions;

static bool scores_training(const predictions *p)
{
    return ((const predict_settings *)p->call->values)->training_too;
}

static bool is_selected(const predictions *p, size_t i)
{
    return p->filter.by[i] == VXS_NO_FILTER;
}

static const char *id_of(const void *p, size_t i)
{
    return vxs_cohort_id(((const predictions *)p)->cohort, i);
}

/* The first column in which subject i lacks a value that the model needs. */
static const char *lacks(const predictions *p, size_t i)
{
    const char *column = vxs_model_lacks(p->model, p->cohort, i);
    return column ? column : "?";
}

static const char *truth_of(const predictions *p, size_t i)
{
    return p->target == SIZE_MAX ? NULL : vxs_table_cell(p->cohort->people, i, p->target);
}

/* Counts subjects whose target is none of the model's classes, such as 1 and 2 for classes 0 and 1;
 * scores exclude them. */
static size_t count_strange(const predictions *p, size_t *first)
{
    size_t count = 0;
    for (size_t i = 0; i < p->cohort->n && p->model->class_count > 0; i++) {
        const char *cell = is_selected(p, i) ? truth_of(p, i) : NULL;
        if (!cell || vxs_model_knows_class(p->model, cell))
            continue;
        *first = count++ == 0 ? i : *first;
    }
    return count;
}

/* ---- As a table ------------------------------------------------------------------------------ */

static void print_header(const predictions *p, vxs_tsv_writer *w)
{
    const vxs_model *m = p->model;
    vxs_tsv_text(w, vxs_cohort_id_header(p->cohort));
    if (p->target != SIZE_MAX)
        vxs_tsv_text(w, m->task.target);
    vxs_tsv_text(w, "predicted");
    for (size_t k = 0; k < m->class_count; k++)
        vxs_tsv_of(w, "p", m->classes[k]);
    vxs_tsv_text(w, "trained_on");
    vxs_tsv_end_row(w);
}

/* On a terminal three digits, in a file all. */
static void print_number(const predictions *p, vxs_tsv_writer *w, double value, bool probability)
{
    char text[VXS_REAL_TEXT];
    if (!p->call->terminal || isnan(value)) {
        vxs_tsv_real(w, value);
        return;
    }
    if (probability)
        snprintf(text, sizeof(text), "%.3f", value);
    else
        vxs_score_text(value, false, text);
    vxs_tsv_text(w, text);
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
        if (!is_selected(p, i))
            continue;
        vxs_tsv_text(&w, id_of(p, i));
        if (p->target != SIZE_MAX)
            vxs_tsv_text(&w, truth_of(p, i));
        if (m->class_count == 0)
            print_number(p, &w, p->scores[i], false);
        else
            vxs_tsv_text(&w, known ? m->classes[vxs_predicted_class(&p->predicted, i)] : NULL);
        for (size_t k = 0; k < m->class_count; k++)
            print_number(p, &w, known ? vxs_predicted_probability(&p->predicted, i, k) : NAN, true);
        vxs_tsv_text(&w, vxs_trained_names[p->trained[i]]);
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
        vxs_json_text(w, "predicted",
                      known ? m->classes[vxs_predicted_class(&p->predicted, i)] : NULL);
    if (m->class_count > 0) {
        vxs_json_open_object(w, "probability");
        for (size_t k = 0; k < m->class_count; k++)
            vxs_json_real(w, m->classes[k],
                          known ? vxs_predicted_probability(&p->predicted, i, k) : NAN);
        vxs_json_close_object(w);
    }
    vxs_json_text(w, "trained_on", vxs_trained_names[p->trained[i]]);
    vxs_json_close_object(w);
}

/* Subjects whose features lie far outside what training saw. */
static void far_json(const predictions *p, vxs_json_writer *w)
{
    vxs_json_open_array(w, "far_from_training");
    for (size_t i = 0; i < p->cohort->n; i++)
        if (is_selected(p, i) && p->far[i] > 0)
            vxs_json_text(w, NULL, id_of(p, i));
    vxs_json_close_array(w);
}

static void print_json(const predictions *p)
{
    vxs_json_writer w;
    vxs_json_init(&w, p->call->out);
    vxs_json_open_object(&w, NULL);
    vxs_json_text(&w, "target", p->model->task.target);
    if (p->model->class_count == 2)
        vxs_json_text(&w, "positive", p->model->classes[1]);
    if (p->model->class_count > 0)
        vxs_json_bool(&w, "calibrated", p->model->selection.slope != NULL);
    vxs_json_open_array(&w, "subjects");
    for (size_t i = 0; i < p->cohort->n; i++)
        if (is_selected(p, i))
            print_subject(p, &w, i);
    vxs_json_close_array(&w);
    vxs_unseen_json(&w, &p->unseen, id_of, p);
    far_json(p, &w);
    vxs_json_open_object(&w, "trained_on");
    vxs_json_whole(&w, "image", (int64_t)p->known[0]);
    vxs_json_whole(&w, "person", (int64_t)p->known[1]);
    vxs_json_whole(&w, "perhaps", (int64_t)p->perhaps);
    vxs_json_bool(&w, "in_metrics", scores_training(p));
    vxs_json_close_object(&w);
    vxs_json_open_object(&w, "metrics");
    vxs_json_whole(&w, "subjects", (int64_t)p->metrics.count);
    if (p->model->class_count > 0)
        vxs_json_whole(&w, "of_other_classes", (int64_t)count_strange(p, &(size_t){ 0 }));
    for (const vxs_metric_row *row = vxs_metric_rows; row->name; row++)
        if (vxs_metric_applies(row, p->model->class_count))
            vxs_json_real(&w, row->name,
                          p->metrics.count > 0 ? *vxs_metric((vxs_metrics *)&p->metrics, row)
                                               : NAN);
    vxs_class_scores_json(&w, p->model->classes, &p->classes);
    vxs_json_close_object(&w);
    vxs_close_json(p->call, &w);
}

/* ---- The whole ------------------------------------------------------------------------------- */

static void log_perhaps(const predictions *p)
{
    size_t first = 0;
    while (first < p->cohort->n &&
           (!is_selected(p, first) || p->trained[first] != VXS_PERHAPS_TRAINED_ON))
        first++;
    if (p->perhaps > 0)
        vxs_log(p->call->context, VXS_LOG_WARNING,
                "%zu of %zu subjects, such as '%s', may be other scans of training persons, "
                "judging by their ids (trained_on: perhaps); metrics %s",
                p->perhaps, p->n, id_of(p, first),
                scores_training(p) ? "include them"
                                   : "exclude them (--training-too includes them)");
}

#define MOST_NAMED 20

static void log_far(const predictions *p)
{
    char who[1024] = "";
    size_t count = 0, named = 0, length = 0;
    double farthest = 0;
    for (size_t i = 0; i < p->cohort->n; i++) {
        if (!is_selected(p, i) || !(p->far[i] > 0))
            continue;
        farthest = fmax(farthest, p->far[i]);
        if (count++ < MOST_NAMED && length + strlen(id_of(p, i)) + 2 < sizeof(who))
            length += (size_t)snprintf(who + length, sizeof(who) - length, "%s%s",
                                       named++ > 0 ? ", " : "", id_of(p, i));
    }
    char times[VXS_REAL_TEXT];
    if (count > 0)
        vxs_log(p->call->context, VXS_LOG_CAUTION,
                "the features of %zu of %zu subjects lie far outside those of the training "
                "subjects, up to %s times as far from their median as any of these: %s%s; check "
                "units, scaling and image",
                count, p->n, vxs_score_text(farthest, false, times), who,
                named < count ? ", ..." : "");
}

/* Logs the subjects without prediction, and those of the training data. */
static void log_subjects(const predictions *p)
{
    const vxs_context *context = p->call->context;
    size_t n = p->n, without = 0, first = 0, both = p->known[0] + p->known[1];
    for (size_t i = 0; i < p->cohort->n; i++) {
        if (!is_selected(p, i))
            continue;
        first = isnan(p->scores[i]) && without == 0 ? i : first;
        without += isnan(p->scores[i]);
    }
    if (without > 0)
        vxs_log(context, VXS_LOG_WARNING,
                "%zu of %zu subjects have no prediction: '%s' has no value in '%s'%s", without, n,
                id_of(p, first), lacks(p, first), without > 1 ? ", and others" : "");
    vxs_unseen_warn(context, &p->unseen, id_of, p);
    log_far(p);
    log_perhaps(p);
    if (both == 0)
        return;
    vxs_log(context, scores_training(p) ? VXS_LOG_CAUTION : VXS_LOG_WARNING,
            "the model was trained on %zu of %zu subjects (%zu by their images, %zu by their ids; "
            "column trained_on): %s",
            both, n, p->known[0], p->known[1],
            scores_training(p)      ? "metrics include them and overestimate accuracy"
            : both + p->perhaps < n ? "metrics are of the other subjects"
                                    : "no metrics (--training-too prints them)");
}

static void log_strange(const predictions *p)
{
    const vxs_model *m = p->model;
    char names[256] = "";
    size_t first = 0, count = count_strange(p, &first), length = 0;
    for (size_t k = 0; k < m->class_count && length < sizeof(names); k++)
        length += (size_t)snprintf(names + length, sizeof(names) - length, "%s'%s'",
                                   k > 0 ? ", " : "", m->classes[k]);
    if (count > 0)
        vxs_log(p->call->context, VXS_LOG_WARNING,
                "%zu of %zu subjects have classes that the model does not have: '%s' is '%s'%s; "
                "its classes are %s. Metrics exclude them",
                count, p->n, id_of(p, first), truth_of(p, first), count > 1 ? ", and others" : "",
                names);
}

static void log_calibration(const predictions *p)
{
    if (p->model->class_count > 0 && !p->model->selection.slope)
        vxs_log(p->call->context, VXS_LOG_INFO,
                "probabilities are not calibrated: the model was fitted without --choose-lambda "
                "and --calibrate");
}

/* Logs the confusion matrix and scores of each class, line by line. */
static vxs_status log_classes(const predictions *p, vxs_error *err)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = p->classes.count > 2 ? open_memstream(&text, &length) : NULL;
    if (p->classes.count < 3)
        return VXS_OK;
    if (stream)
        vxs_print_classes(stream, p->model->classes, &p->classes);
    if (!stream || fclose(stream) != 0) {
        free(text);
        return vxs_fail(err, VXS_FAILED, "not enough memory");
    }
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        vxs_log(p->call->context, VXS_LOG_INFO, "%s", line);
    }
    free(text);
    return VXS_OK;
}

static void log_metrics(const predictions *p)
{
    static const char *const of_scores[] = { "r", "mae", "rmse", "r2", NULL };
    static const char *const of_classes[] = { "accuracy",    "balanced_accuracy", "auc",
                                              "sensitivity", "specificity",       NULL };
    const vxs_metrics *m = &p->metrics;
    const vxs_model *model = p->model;
    bool two = model->class_count == 2;
    const char *const *names = model->class_count > 0 ? of_classes : of_scores;
    char text[1024] = "", words[VXS_METRIC_TEXT], number[VXS_REAL_TEXT];
    size_t length = 0;
    for (; *names && m->count > 0 && length < sizeof(text); names++) {
        const vxs_metric_row *row = vxs_metric_named(*names);
        double value = *vxs_metric((vxs_metrics *)m, row);
        if (!isnan(
                value)) /* the correlation of one subject and the AUC of one class are undefined */
            length += (size_t)snprintf(text + length, sizeof(text) - length, "%s %s %s",
                                       length > 0 ? "," : "",
                                       vxs_metric_words(row, model->class_count,
                                                        two ? model->classes[0] : "",
                                                        two ? model->classes[1] : "", words),
                                       vxs_score_text(value, false, number));
    }
    if (length > 0)
        vxs_log(p->call->context, VXS_LOG_INFO, "against '%s' of %zu subject%s:%s",
                model->task.target, m->count, vxs_plural(m->count), text);
}

static vxs_status log_all(const predictions *p, vxs_error *err)
{
    log_subjects(p);
    log_strange(p);
    log_metrics(p);
    vxs_status status = log_classes(p, err);
    log_calibration(p);
    return status;
}

static vxs_status check_anybody(const predictions *p, vxs_error *err)
{
    size_t n = p->n, first = p->cohort->n;
    for (size_t i = 0; i < p->cohort->n; i++) {
        if (is_selected(p, i) && !isnan(p->scores[i]))
            return VXS_OK;
        first = is_selected(p, i) && first == p->cohort->n ? i : first;
    }
    return vxs_fail(err, VXS_BAD_DATA,
                    "none of %zu subjects can be predicted: '%s' has no value in '%s'%s", n,
                    id_of(p, first), lacks(p, first), n > 1 ? ", and others" : "");
}

/* Removes warnings about levels that occur only in unselected subjects. */
static void keep_selected(predictions *p)
{
    size_t kept = 0;
    for (size_t k = 0; k < p->unseen.count; k++) {
        vxs_unseen *level = &p->unseen.each[k];
        for (size_t i = 0; i < p->cohort->n; i++) {
            level->count -= level->who[i] && !is_selected(p, i);
            level->who[i] = level->who[i] && is_selected(p, i);
        }
        if (level->count > 0)
            p->unseen.each[kept++] = *level;
        else
            free(level->who);
    }
    p->unseen.count = kept;
}

/* Computes scores over the selected subjects, without training subjects unless requested. */
static vxs_status compare(predictions *p, vxs_error *err)
{
    const vxs_cohort *c = p->cohort;
    vxs_trained *out = vxs_alloc(c->n, sizeof(*out), err);
    for (size_t i = 0; i < c->n && out; i++)
        out[i] = !is_selected(p, i)   ? VXS_TRAINED_ON_IMAGE
                 : scores_training(p) ? VXS_NOT_TRAINED_ON
                                      : p->trained[i];
    vxs_status status = out ? vxs_model_compare(p->model, c, p->scores, p->probabilities, out,
                                                &p->metrics, &p->classes, err)
                            : VXS_FAILED;
    free(out);
    return status;
}

static vxs_status compute(predictions *p, vxs_error *err)
{
    const vxs_model *m = p->model;
    const vxs_cohort *c = p->cohort;
    const size_t each = vxs_model_score_count(m);
    p->scores = vxs_alloc(each + m->class_count, vxs_times(c->n, sizeof(*p->scores)), err);
    p->probabilities = p->scores && vxs_model_has_pairs(m) ? p->scores + each * c->n : NULL;
    p->trained = vxs_alloc(c->n, sizeof(*p->trained), err);
    p->far = vxs_alloc(c->n, sizeof(*p->far), err);
    p->predicted = (vxs_predictions){ .n = c->n,
                                      .class_count = m->class_count,
                                      .scores = p->scores,
                                      .probabilities = p->probabilities,
                                      .slope = m->selection.slope,
                                      .offset = m->selection.offset };
    const char *file = ((const predict_settings *)p->call->values)->kernel_file;
    bool room = p->scores && p->trained && p->far;
    vxs_status status = room ? vxs_model_give_kernel(m, c, file, err) : VXS_FAILED;
    if (!status)
        status = vxs_model_predict(m, c, p->scores, p->probabilities, err);
    if (!status)
        status = check_anybody(p, err);
    if (!status)
        status = vxs_model_far(m, c, p->far, err);
    if (!status)
        status = vxs_model_unseen(m, c, &p->unseen, err);
    if (!status)
        keep_selected(p);
    if (!status)
        status = vxs_model_trained_on(m, c, p->trained, err);
    for (size_t i = 0; i < c->n && !status; i++) {
        if (!is_selected(p, i))
            continue;
        p->known[0] += p->trained[i] == VXS_TRAINED_ON_IMAGE;
        p->known[1] += p->trained[i] == VXS_TRAINED_ON_PERSON;
        p->perhaps += p->trained[i] == VXS_PERHAPS_TRAINED_ON;
    }
    return status ? status : compare(p, err);
}

/* Predicts and scores. `selected`: the cohort was made for this call, from the selected subjects.
 */
static vxs_status predict(const vxs_call *call, const vxs_model *model, const vxs_cohort *cohort,
                          bool selected, vxs_error *err)
{
    predictions p = { .call = call, .model = model, .cohort = cohort, .target = SIZE_MAX };
    if (vxs_table_find(cohort->people, model->task.target, &p.target, NULL))
        p.target = SIZE_MAX;
    const vxs_cohort_settings *s = &((const predict_settings *)call->values)->patches.sources;
    const vxs_texts none = { .each = { NULL } };
    vxs_status status = vxs_row_filter_make(&p.filter, cohort->people, selected ? &none : &s->only,
                                            selected ? &none : &s->exclude, err);
    p.n = p.filter.left;
    if (!status)
        status = compute(&p, err);
    if (!status && !call->shared->json)
        print_table(&p);
    if (!status)
        status = log_all(&p, err);
    if (!status && call->shared->json)
        print_json(&p);
    vxs_unseen_release(&p.unseen);
    vxs_class_scores_release(&p.classes);
    free(p.scores);
    free(p.trained);
    free(p.far);
    vxs_row_filter_release(&p.filter);
    return status;
}

static vxs_status predict_subjects(const vxs_call *call, const vxs_model *model, vxs_error *err)
{
    const vxs_patch_settings *s = &((const predict_settings *)call->values)->patches;
    vxs_cohort cohort;
    char **sources = call->operands + 1;
    const char *explain = ((const predict_settings *)call->values)->explain;
    if (s->label_column || s->mask || s->mask_column || !isnan(s->label_threshold))
        return vxs_fail(err, VXS_MISUSE,
                        "--label-column, --label-threshold, --mask and --mask-column require -o");
    vxs_status status = vxs_is_cohort(sources)
                            ? vxs_cohort_open(sources[0], &cohort, err)
                            : vxs_model_cohort(call->context, model, &s->sources,
                                               (const char *const *)sources, &cohort, err);
    if (status)
        return status;
    status = vxs_cohort_make_bags(&cohort, &model->task, err);
    if (!status && explain)
        status =
            vxs_model_explain(call->context, model, &cohort, explain, call->shared->force, err);
    if (!status)
        status = predict(call, model, &cohort, !vxs_is_cohort(sources), err);
    vxs_cohort_release(&cohort);
    return status;
}

static vxs_status run(const vxs_call *call, vxs_error *err)
{
    const predict_settings *s = call->values;
    vxs_model model;
    vxs_status status = vxs_model_read(call->operands[0], &model, err);
    if (status)
        return status;
    status = call->shared->out
                 ? vxs_print_predicted_images(call, &model, &s->patches, s->training_too, err)
                 : predict_subjects(call, &model, err);
    vxs_model_release(&model);
    return status;
}

const vxs_command vxs_cmd_predict = {
    .name = "predict",
    .heading = "Predict",
    .summary = "predict a model's target for a cohort or for new images",
    .details =
        "Joins, checks, scales and smooths new images as it did those of the model, and reads the "
        "voxels of the model's mask. Refuses an image on another grid (--resample changes it to "
        "the grid of the model). A cohort must have the mask and the preprocessing of the "
        "model's. Prints a table of predictions; only for a model of voxels ('voxsift patches') "
        "-o writes images of them.\n\n"
        "Prints a table with one row per subject: the predicted score, or the predicted class and "
        "the probability of each class. Column trained_on marks training subjects: no; image (same "
        "image); person (same id, another image or none to compare); perhaps (the ids suggest "
        "another scan of a training person, as P1_v2 and P1_v1; not used if --person defines the "
        "persons of both cohorts).\n\n"
        "A model of voxels, of a cohort made by 'voxsift patches', takes the table of new images "
        "and -o DIR. It writes probability_ID.nii.gz for each subject, on the grid of its images: "
        "of two classes the positive one, of more all, one behind the other; score_ID.nii.gz where "
        "there are no calibrated probabilities. Columns of images have the names of training "
        "unless --image-column has others. Prints a row for each subject; with --label-column the "
        "AUC of its voxels and the Dice coefficient as well.\n\n"
        "If the table has the target, prints metrics on standard error and in --json. They exclude "
        "training subjects, and subjects of classes that the model does not have; a warning names "
        "these.\n\n"
        "The predicted class is the one with the largest score. Probabilities are calibrated as in "
        "'voxsift cv' if the model was fitted with --choose-lambda or --calibrate, or by method "
        "skfs, fgm, mslr or measure. Otherwise they are the model's own (\"calibrated\": false in "
        "--json), and the brier and calibration_slope of 'voxsift cv' do not apply to them.\n\n"
        "A subject with a missing covariate gets no prediction. A covariate level without training "
        "subjects, such as a new site, gets the mean coefficient of the training levels, as in "
        "'voxsift cv'; a warning names the subjects.",
    .operands = operands,
    .params = vxs_source_params,
    .more_params = predict_params,
    .takes = VXS_TAKES_OUTPUT | VXS_TAKES_JSON | VXS_TAKES_THREADS | VXS_OUTPUT_OPTIONAL,
    .examples = examples,
    .run = run,
};
