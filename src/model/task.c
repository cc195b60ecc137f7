/* task.c - a cohort's table becomes a target, confounds and the subjects that have them. */
#include "model/covariates.h"
#include "model/machine.h"
#include "model/similarities.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void vxs_task_release(vxs_task *t)
{
    if (!t)
        return;
    vxs_free_texts(t->classes, t->class_count);
    vxs_free_texts(t->covariate_names, t->covariate_count);
    vxs_free_texts(t->levels, t->level_count);
    vxs_free_factors(t);
    vxs_free_texts(t->warnings, t->warning_count);
    free(t->left_out);
    free(t->rows);
    free(t->score);
    free(t->weights);
    free(t->penalties);
    vxs_task_release_structure(t);
    free(t->covariates);
    free(t->regression_subject);
    free(t->y);
    free(t->u);
    vxs_task_unprepare(t);
    vxs_task_release_similarities(t);
    if (!t->products_shared)
        vxs_products_free(t->products);
    vxs_design_free(t->design);
    *t = (vxs_task){ .n = 0 };
}

const char *vxs_task_id(const vxs_task *t, size_t i)
{
    return vxs_cohort_id(t->cohort, t->rows[i]);
}

const char *vxs_task_id_of(const void *task, size_t i)
{
    return vxs_task_id(task, i);
}

size_t vxs_task_find(const vxs_task *t, size_t row)
{
    size_t low = 0, high = t->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->rows[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->n && t->rows[low] == row ? low : SIZE_MAX;
}

double vxs_task_weight(const vxs_task *t, size_t i)
{
    return t->weights ? t->weights[i] : 1;
}

double vxs_task_total(const vxs_task *t)
{
    double total = 0;
    for (size_t i = 0; i < t->n; i++)
        total += vxs_task_weight(t, i);
    return total;
}

const vxs_method *vxs_task_method(const vxs_task *t)
{
    return &vxs_methods[t->settings.method];
}

/* ---- Columns --------------------------------------------------------------------------------- */

typedef struct {
    const vxs_context *context;
    const vxs_table *table;
    vxs_task *task;
    size_t target, weights;         /* column numbers, or NONE */
    char selected[VXS_FILTER_TEXT]; /* those that --only and --exclude leave, in words */
    vxs_covariates covariates;
} maker;
#define NONE SIZE_MAX

static vxs_status find_columns(maker *m, vxs_error *err)
{
    const vxs_task_settings *s = &m->task->settings;
    vxs_status status = vxs_table_find(m->table, s->target, &m->target, err);
    if (!status && s->weights)
        status = vxs_table_find(m->table, s->weights, &m->weights, err);
    return status ? status : vxs_covariates_find(m->task, m->target, &m->covariates, err);
}

/* ---- Subjects -------------------------------------------------------------------------------- */

/* The column that the subject has no value in, and what it is for; VXS_ANALYSED when none is. */
static vxs_flow_step lacks(const maker *m, size_t row, size_t *column)
{
    *column = m->target;
    if (!vxs_table_cell(m->table, row, m->target))
        return VXS_WITHOUT_TARGET;
    *column = m->weights;
    if (m->weights != NONE && !vxs_table_cell(m->table, row, m->weights))
        return VXS_WITHOUT_WEIGHT;
    for (size_t k = 0; k < m->covariates.count; k++) {
        *column = m->covariates.each[k].column;
        if (!vxs_table_cell(m->table, row, *column))
            return VXS_WITHOUT_COVARIATE;
    }
    return VXS_ANALYSED;
}

static void name_left_out(const maker *m)
{
    const vxs_task *t = m->task;
    for (size_t k = 0; k < t->left_count; k++)
        vxs_log(m->context, VXS_LOG_WARNING, "left out '%s': no value in column '%s'",
                vxs_cohort_id(t->cohort, t->left_out[k].row),
                vxs_table_header(m->table, t->left_out[k].column));
}

/* Subjects that --only and --exclude select and that have all values. */
static vxs_status sift_subjects(const maker *m, const vxs_row_filter *f, vxs_error *err)
{
    vxs_task *t = m->task;
    size_t all = t->cohort->n;
    t->rows = vxs_alloc(all, sizeof(*t->rows), err);
    t->left_out = vxs_alloc(all, sizeof(*t->left_out), err);
    if (!t->rows || !t->left_out)
        return VXS_FAILED;
    for (size_t row = 0; row < all; row++) {
        size_t column = NONE;
        if (f->by[row] != VXS_NO_FILTER)
            continue;
        vxs_flow_step step = lacks(m, row, &column);
        if (step == VXS_ANALYSED)
            t->rows[t->n++] = row;
        else
            t->left_out[t->left_count++] = (vxs_left_out){ row, column, step };
    }
    name_left_out(m);
    return VXS_OK;
}

static vxs_status check_enough(const vxs_task *t, const vxs_row_filter *f, vxs_error *err)
{
    char words[VXS_FILTER_TEXT];
    if (t->n >= 2)
        return VXS_OK;
    vxs_row_filter_words(f, words);
    return vxs_fail(err, VXS_BAD_DATA, "%zu of %zu subjects can be used%s%s%s; a model needs two",
                    t->n, t->cohort->n, f->count > 0 ? " (" : "", words,
                    f->count > 0        ? ")"
                    : t->left_count > 0 ? " (the others have no value, above)"
                                        : "");
}

static vxs_status choose_subjects(maker *m, vxs_error *err)
{
    vxs_task *t = m->task;
    vxs_row_filter f;
    vxs_status status =
        vxs_row_filter_make(&f, m->table, &t->settings.only, &t->settings.exclude, err);
    if (!status)
        status = sift_subjects(m, &f, err);
    if (!status)
        status = check_enough(t, &f, err);
    for (size_t k = 0; k < f.count; k++)
        t->not_selected[k] = f.each[k].removed;
    vxs_row_filter_words(&f, m->selected);
    vxs_row_filter_release(&f);
    return status ? status : vxs_task_count_people(t, err);
}

static vxs_status read_numbers(const maker *m, size_t column, double *values, vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (size_t i = 0; i < m->task->n && !status; i++)
        status = vxs_table_real(m->table, m->task->rows[i], column, &values[i], err);
    return status;
}

/* ---- Target ---------------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Numbers in ascending order, text behind them. */
static int by_number(const void *a, const void *b)
{
    double left = INFINITY, right = INFINITY;
    bool one = vxs_parse_real(*(char *const *)a, &left);
    bool two = vxs_parse_real(*(char *const *)b, &right);
    if (one != two)
        return one ? -1 : 1;
    size_t length[2] = { strlen(*(char *const *)a), strlen(*(char *const *)b) };
    if (one && left == right && length[0] != length[1]) /* the shortest spelling names the class */
        return length[0] < length[1] ? -1 : 1;
    return !one || left == right ? by_text(a, b) : (left > right) - (left < right);
}

/* Equal numbers are one class, whatever their spelling. */
static int by_class(const void *a, const void *b)
{
    double left, right;
    bool numbers =
        vxs_parse_real(*(char *const *)a, &left) && vxs_parse_real(*(char *const *)b, &right);
    return numbers && left == right ? 0 : by_number(a, b);
}

int vxs_class_order(const char *left, const char *right)
{
    return by_class(&left, &right);
}

bool vxs_is_class(const char *cell, const char *name)
{
    return vxs_class_order(cell, name) == 0;
}

/* The distinct values of the target among the subjects in use, at most `most`. */
static vxs_status list_classes(maker *m, vxs_error *err)
{
    vxs_task *t = m->task;
    const char **texts = vxs_alloc(t->n, sizeof(*texts), err);
    t->classes = vxs_alloc(t->n, sizeof(*t->classes), err);
    if (!texts || !t->classes) {
        free((void *)texts);
        return VXS_FAILED;
    }
    for (size_t i = 0; i < t->n; i++)
        texts[i] = vxs_table_cell(m->table, t->rows[i], m->target);
    qsort((void *)texts, t->n, sizeof(*texts), by_number);
    vxs_status status = VXS_OK;
    for (size_t i = 0; i < t->n && !status; i++) {
        if (i > 0 && by_class(&texts[i], &texts[i - 1]) == 0)
            continue;
        t->classes[t->class_count] = vxs_format(err, "%s", texts[i]);
        status = t->classes[t->class_count] ? VXS_OK : VXS_FAILED;
        t->class_count += !status;
    }
    free((void *)texts);
    return status;
}

static void number_classes(const maker *m)
{
    vxs_task *t = m->task;
    for (size_t i = 0; i < t->n; i++) {
        const char *cell = vxs_table_cell(m->table, t->rows[i], m->target);
        char **found = bsearch(&cell, t->classes, t->class_count, sizeof(*t->classes), by_class);
        t->score[i] = (double)(found - t->classes);
    }
}

static void forget_classes(vxs_task *t)
{
    vxs_free_texts(t->classes, t->class_count);
    t->classes = NULL;
    t->class_count = 0;
}

/* Text in a numeric column is a typing error, not a class or a level. */
typedef struct {
    const char *text; /* NULL: there is none */
    size_t line;
} slip;

static slip find_slip(const maker *m, size_t column)
{
    const vxs_task *t = m->task;
    slip first = { NULL, 0 };
    size_t numbers = 0;
    double value;
    for (size_t i = 0; i < t->n; i++) {
        const char *cell = vxs_table_cell(m->table, t->rows[i], column);
        if (vxs_parse_real(cell, &value))
            numbers++;
        else if (!first.text)
            first = (slip){ cell, vxs_table_line(m->table, t->rows[i]) };
    }
    return 2 * numbers > t->n ? first : (slip){ NULL, 0 };
}

static vxs_status check_target(const maker *m, vxs_error *err)
{
    const vxs_task_settings *settings = &m->task->settings;
    slip s = find_slip(m, m->target);
    if (s.text)
        return vxs_fail(err, VXS_BAD_DATA,
                        "column '%s' holds numbers, but '%s' in line %zu; for classes say --loss "
                        "%s",
                        settings->target, s.text, s.line,
                        vxs_loss_name(settings, NULL, &vxs_logistic_loss));
    return VXS_OK;
}

/* Site codes mix numbers and text as well, but have few distinct values. */
#define FEWEST_OF_A_LEVEL 4

static vxs_status check_covariates(const maker *m, vxs_error *err)
{
    for (size_t k = 0; k < m->covariates.count; k++) {
        const vxs_covariate *c = &m->covariates.each[k];
        const char *name = vxs_table_header(m->table, c->column);
        slip s = c->numeric ? (slip){ NULL, 0 } : find_slip(m, c->column);
        if (s.text && FEWEST_OF_A_LEVEL * c->count > m->task->n)
            return vxs_fail(err, VXS_BAD_DATA,
                            "column '%s' holds numbers, but '%s' in line %zu; as text it has %zu "
                            "levels, for %zu subjects",
                            name, s.text, s.line, c->count, m->task->n);
        vxs_status status =
            s.text ? vxs_task_warn(m->context, m->task, err,
                                   "column '%s' holds numbers, but '%s' in line %zu; it is taken "
                                   "for text with %zu levels",
                                   name, s.text, s.line, c->count)
                   : VXS_OK;
        if (status)
            return status;
    }
    return VXS_OK;
}

/* At a spread of 1e-9 of the mean the gap of a fit is 1e-7 of the loss; at 1e-10 nothing is left
 * of it. */
#define LEAST_SPREAD 1e-9

/* Whether the column suits the method, and the loss that is chosen, if one is. */
static vxs_status check_kind(const maker *m, const vxs_loss_kind *chosen, bool numeric,
                             bool classes, vxs_error *err)
{
    const vxs_task *t = m->task;
    const vxs_method *method = vxs_task_method(t);
    const char *target = t->settings.target;
    if (!classes && method->classes_only)
        return vxs_fail(err, VXS_BAD_DATA,
                        "method '%s' predicts classes; column '%s' holds scores (or, with "
                        "--loss %s, as many classes as values)",
                        method->name, target, vxs_loss_name(&t->settings, NULL, t->loss));
    if (!chosen && !numeric && check_target(m, err))
        return VXS_BAD_DATA;
    if (!classes && !numeric)
        return vxs_fail(err, VXS_BAD_DATA, "column '%s' holds text; '--loss %s' is of numbers",
                        target, chosen->name);
    if (!classes || t->class_count <= VXS_MOST_CLASSES)
        return VXS_OK;
    if (method->classes_only || !numeric)
        return vxs_fail(err, VXS_BAD_DATA,
                        "column '%s' has %zu different values; as classes at most %d are taken",
                        target, t->class_count, VXS_MOST_CLASSES);
    return vxs_fail(err, VXS_BAD_DATA,
                    "column '%s' has %zu different values; as classes at most %d are taken (for a "
                    "score use --loss %s)",
                    target, t->class_count, VXS_MOST_CLASSES,
                    vxs_loss_name(&t->settings, NULL, &vxs_squared_loss));
}

static vxs_status read_target(maker *m, vxs_error *err)
{
    vxs_task *t = m->task;
    vxs_column_summary summary;
    const char *target = t->settings.target;
    vxs_status status = vxs_table_summarize(m->table, m->target, &summary, err);
    if (!status)
        status = list_classes(m, err);
    t->score = status ? NULL : vxs_alloc(t->n, sizeof(*t->score), err);
    if (!t->score)
        return status ? status : VXS_FAILED;
    if (t->class_count == 1)
        return vxs_fail(err, VXS_BAD_DATA,
                        "column '%s' is '%s' for all %zu subjects; there is nothing to predict",
                        target, t->classes[0], t->n);
    const vxs_loss_kind *chosen = vxs_chosen_loss(&t->settings);
    bool classes = chosen ? !chosen->of_scores || vxs_task_method(t)->classes_only
                          : !summary.numeric || t->class_count == 2;
    t->loss = vxs_loss_of_classes(chosen == &vxs_multinomial_loss, classes ? t->class_count : 0);
    status = check_kind(m, chosen, summary.numeric, classes, err);
    if (status)
        return status;
    if (classes) {
        number_classes(m);
        return VXS_OK;
    }
    forget_classes(t);
    status = read_numbers(m, m->target, t->score, err);
    return status ? status : vxs_check_offset(target, t->score, t->n, LEAST_SPREAD, err);
}

/* ---- Regression and weights ------------------------------------------------------------------ */

/* The subjects on which covariates are regressed out of the features. */
static vxs_status read_regression_subjects(const maker *m, vxs_error *err)
{
    vxs_task *t = m->task;
    vxs_row_filter f;
    size_t count = 0;
    if (!t->settings.regress_on)
        return VXS_OK;
    if (t->settings.confounds_as != VXS_CONFOUNDS_REGRESS)
        return vxs_fail(err, VXS_MISUSE, "'--regress-on' goes with '--confounds-as regress'");
    vxs_status status = vxs_row_filter_begin(&f, m->table, err);
    if (!status)
        status = vxs_row_filter_add(&f, "regress-on", t->settings.regress_on, true, err);
    t->regression_subject = status ? NULL : vxs_alloc(t->n, sizeof(*t->regression_subject), err);
    for (size_t i = 0; i < t->n && t->regression_subject; i++) {
        t->regression_subject[i] = f.by[t->rows[i]] == VXS_NO_FILTER;
        count += t->regression_subject[i] && vxs_task_weight(t, i) > 0;
    }
    vxs_row_filter_release(&f);
    if (!status && !t->regression_subject)
        status = VXS_FAILED;
    return status ? status : vxs_check_regression_subjects(t, count, err);
}

static vxs_status read_weights(maker *m, vxs_error *err)
{
    vxs_task *t = m->task;
    if (m->weights == NONE)
        return VXS_OK;
    t->weights = vxs_alloc(t->n, sizeof(*t->weights), err);
    vxs_status status = t->weights ? read_numbers(m, m->weights, t->weights, err) : VXS_FAILED;
    for (size_t i = 0; i < t->n && !status; i++)
        if (!(t->weights[i] >= 0 && t->weights[i] <= VXS_LARGEST)) {
            const char *id = vxs_table_cell(m->table, t->rows[i], t->cohort->id_column);
            status = vxs_fail(err, VXS_BAD_DATA,
                              "column '%s': the weight of '%s' is %g; weights are from 0 to %g",
                              t->settings.weights, id ? id : "?", t->weights[i], VXS_LARGEST);
        }
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* Checks what only a program can set wrongly; later code uses these numbers as indices. */
static vxs_status check_given(const vxs_cohort *cohort, const vxs_task_settings *settings,
                              vxs_error *err)
{
    vxs_status status = vxs_cohort_check_open(cohort, err);
    if (!status && !settings->target)
        status = vxs_fail(err, VXS_MISUSE, "the task has no target");
    if (!status)
        status = vxs_params_check_choices(vxs_task_params, settings, err);
    return status ? status
                  : vxs_number_check("the threshold of Huber's loss", settings->huber_threshold, 0,
                                     false, err);
}

/* A column of the table that is a feature as well. */
static vxs_status check_features(const maker *m, vxs_error *err)
{
    const vxs_task *t = m->task;
    vxs_status status = vxs_feature_names_differ(t->cohort, t->settings.target, "--target", err);
    if (!status && t->settings.weights)
        status = vxs_feature_names_differ(t->cohort, t->settings.weights, "--subject-weights", err);
    for (size_t k = 0; k < m->covariates.count && !status; k++)
        status = vxs_feature_names_differ(t->cohort,
                                          vxs_table_header(m->table, m->covariates.each[k].column),
                                          "--confounds", err);
    return status;
}

static vxs_status read_subjects(maker *m, vxs_error *err)
{
    vxs_status status = find_columns(m, err);
    if (!status)
        status = choose_subjects(m, err);
    if (!status)
        status = check_features(m, err);
    if (!status)
        status = read_target(m, err);
    if (!status)
        status = check_covariates(m, err);
    if (!status)
        status = read_weights(m, err);
    if (!status)
        status = vxs_covariates_read(m->context, &m->covariates, m->task, err);
    if (!status)
        status = vxs_covariates_warn(m->context, m->task, err);
    return status ? status : vxs_separated_warn(m->context, m->task, err);
}

static vxs_status complete(maker *m, vxs_error *err)
{
    vxs_task *t = m->task;
    vxs_status status = vxs_task_order_classes(t, err);
    if (!status)
        status = vxs_task_threshold(t, NULL, t->n, &t->threshold, err);
    if (!status)
        status = vxs_task_warn_threshold(m->context, t, err);
    if (!status)
        status = vxs_task_check_classes(t, err);
    if (!status)
        status = vxs_task_check_pairs(t, err);
    if (!status)
        status = read_regression_subjects(m, err);
    if (!status && t->settings.penalties)
        status = vxs_penalties_read(t->settings.penalties, t->cohort, &t->penalties, err);
    if (!status)
        status = vxs_task_allocate_output(t, err);
    if (!status)
        status = vxs_task_make_design(m->context, t, err);
    return status ? status : vxs_task_make_graph(m->context, t, err);
}

vxs_status vxs_task_new(const vxs_context *context, const vxs_cohort *cohort,
                        const vxs_task_settings *settings, vxs_task *task, vxs_error *err)
{
    if (task)
        *task = (vxs_task){ .n = 0 };
    vxs_status status = VXS_GIVEN(err, { "settings", settings }, { "task", task });
    if (!status)
        status = check_given(cohort, settings, err);
    if (status)
        return status;
    maker m = {
        .context = context, .table = cohort->people, .task = task, .target = NONE, .weights = NONE
    };
    *task = (vxs_task){ .cohort = cohort, .settings = *settings };
    if (settings->standardize == VXS_STANDARDIZE_AUTO)
        task->settings.standardize =
            settings->bags ? (int)VXS_STANDARDIZE_CENTER : (int)vxs_task_method(task)->standardize;
    status = vxs_task_check_bags(task, err);
    if (!status)
        status = vxs_task_check_settings(task, err);
    if (!status)
        status = read_subjects(&m, err);
    if (!status)
        status = complete(&m, err);
    if (!status && m.selected[0])
        vxs_log(context, VXS_LOG_INFO, "of %zu subjects, %s", cohort->n, m.selected);
    if (!status)
        status = vxs_task_settle_weights(task, err);
    task->products = status ? NULL : vxs_products_new(task, err);
    if (!status && !task->products)
        status = VXS_FAILED;
    vxs_covariates_release(&m.covariates);
    if (status)
        vxs_task_release(task);
    return status;
}
