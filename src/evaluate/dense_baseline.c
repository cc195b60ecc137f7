/* dense_baseline.c - the dense linear baseline of cross-validation: a weight for every feature,
 * none selected, with an l2 penalty: ridge regression for scores, l2 logistic regression for
 * classes.
 *
 * All folds share one matrix of products of subjects, or, where features are few, the features.
 * Centered subjects are divided by their mean square, so that one list of lambdas suits all data;
 * all means are weighted. lambda is the one of 13 with the least mean loss in the model's own inner
 * folds.
 *
 * Where it cannot be had, the cross-validation goes on without it and says why. */
#include "evaluate/cv.h"
#include "model/covariates.h"
#include "model/dense_fit.h"
#include "model/estimators.h"
#include "model/machine.h"
#include "voxsift/internal/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES = 13 };
#define LARGEST        1e4 /* lambda */
#define SMALLEST       1e-2
#define MOST_OF_A_FOLD 4e11 /* multiplications of its fits: some 20 s of one core */
#define MOST_OF_ROWS   1e13 /* those of the products of subjects */
#define SCATTERED      30   /* as long as so many others takes one of sparse features */
#define LOGISTIC_STEPS 4    /* of a lambda */
#define MEMORY_SHARE   4    /* of the machine's: what threads may need at most is so large a part */

/* What all folds share: products of subjects or, if these are more than three times as many, the
 * features. */
typedef struct {
    const vxs_products *products;
    double *columns; /* p x rows of the cohort, or NULL */
    size_t p, rows;
    bool own;
} shared;

/* ---- Whether it can be had ------------------------------------------------------------------- */

static bool is_narrow(const vxs_task *t)
{
    return t->cohort->p <= t->n / 3;
}

/* Multiplications of the fits of an outer fold and its inner ones. */
static double work_of_fold(const vxs_cv *cv)
{
    const vxs_task *t = cv->task;
    double n = (double)t->n, p = (double)t->cohort->p;
    double fits = (1 + (double)cv->settings.inner_folds) * VALUES * (double)vxs_task_score_count(t);
    double step = is_narrow(t) ? n * p * p + p * p * p / 3 : n * n * n / 3;
    return fits * step * (vxs_output_loss(t)->squared ? 1 : LOGISTIC_STEPS);
}

/* Those of the products of subjects. */
static double work_of_rows(const vxs_cohort *c)
{
    double n = (double)c->n, sum = 0;
    for (size_t j = 0; j < c->p && c->starts; j++) {
        double stored = (double)(c->starts[j + 1] - c->starts[j]);
        sum += SCATTERED * stored * stored / 2;
    }
    return c->starts ? sum : n * n * (double)c->p / 2;
}

const char *vxs_dense_left_out(const vxs_cv *cv)
{
    if (cv->task->cohort->bags)
        return "subjects are bags of instances, which have no features of their own";
    if (cv->settings.inner_folds == 0)
        return "it takes its lambda from inner folds, and there are none";
    if (work_of_fold(cv) > MOST_OF_A_FOLD)
        return "for so many subjects it would take too long";
    if (!is_narrow(cv->task) && work_of_rows(cv->task->cohort) > MOST_OF_ROWS)
        return "for so many subjects and features it would take too long";
    return NULL;
}

/* ---- A training part ------------------------------------------------------------------------- */

/* Products of the training subjects and of those with the tested ones, centered on the training
 * subjects. Returns the mean square of the former. */
static double take_products(const vxs_task *t, const vxs_residual_products *residual,
                            const size_t *test, vxs_dense_fit *r)
{
    double work[4], one = 1, square = 0, whole = 0;
    for (size_t i = 0; i < r->m; i++)
        whole += r->u[i];
    for (size_t i = 0; i < r->m; i++)
        square +=
            vxs_residual_products_trained(residual, i, work, r->k + i * r->m) * r->u[i] / whole;
    for (size_t i = 0; i < r->tested; i++)
        (void)vxs_residual_products_row(residual, t->rows[test[i]], &one, work,
                                        r->held_out + i * r->m);
    return square;
}

/* The same of features. */
static double take_features(const vxs_task *t, const shared *s, const size_t *rows,
                            const size_t *test, vxs_dense_fit *r)
{
    double square = 0, whole = 0;
    for (size_t i = 0; i < r->m; i++)
        whole += r->u[i];
    for (size_t j = 0; j < s->p; j++) {
        const double *x = s->columns + j * s->rows;
        double mean = 0;
        for (size_t i = 0; i < r->m; i++)
            mean += r->u[i] * x[rows[i]] / whole;
        for (size_t i = 0; i < r->m; i++) {
            double d = r->k[j * r->m + i] = x[rows[i]] - mean;
            square += d * d * r->u[i] / whole;
        }
        for (size_t i = 0; i < r->tested; i++)
            r->held_out[i * s->p + j] = x[t->rows[test[i]]] - mean;
    }
    return square;
}

static void divide(double *values, size_t count, double by)
{
    for (size_t k = 0; k < count; k++)
        values[k] /= by;
}

static vxs_status take_subjects(const vxs_task *t, const shared *s, const size_t *train,
                                const size_t *test, vxs_dense_fit *r, vxs_error *err)
{
    vxs_residual_products residual = { .n = 0 };
    size_t *rows = vxs_alloc(r->m, sizeof(*rows), err), wide = s->columns ? s->p : r->m;
    double *ones = vxs_alloc(r->m, sizeof(*ones), err), mean = 0;
    vxs_status status = rows && ones ? VXS_OK : VXS_FAILED;
    for (size_t i = 0; i < r->m && !status; i++) {
        rows[i] = t->rows[train[i]];
        ones[i] = 1;
        r->u[i] = vxs_task_weight(t, train[i]);
    }
    if (!status && !s->columns)
        status = vxs_residual_products_init(s->products->values, s->products->n, rows, r->m, ones,
                                            1, r->u, &residual, err);
    if (!status)
        mean =
            s->columns ? take_features(t, s, rows, test, r) : take_products(t, &residual, test, r);
    mean = mean > 0 ? mean : 1; /* no feature varies */
    if (!status) {
        divide(r->k, r->m * wide, s->columns ? sqrt(mean) : mean);
        divide(r->held_out, r->tested * wide, s->columns ? sqrt(mean) : mean);
    }
    vxs_residual_products_release(&residual);
    free(rows);
    free(ones);
    return status;
}

static vxs_status begin(const vxs_fold_work *w, const shared *s, const size_t *train,
                        size_t train_count, const size_t *test, size_t test_count, vxs_dense_fit *r,
                        vxs_error *err)
{
    const vxs_task *t = w->cv->task;
    vxs_status status = vxs_dense_fit_new(train_count, t->covariate_count, test_count,
                                          s->columns ? s->p : 0, r, err);
    if (!status)
        status = take_subjects(t, s, train, test, r, err);
    if (!status)
        status = vxs_covariates_of(t, train, train_count, train, train_count, r->z, err);
    if (!status)
        status = vxs_covariates_of(t, train, train_count, test, test_count, r->of_tested, err);
    return status;
}

/* Targets and weights of an output, as the fits of the method weigh subjects. */
static void take_output(const vxs_fold_work *w, const size_t *train, size_t output,
                        vxs_dense_fit *r)
{
    const vxs_task *t = w->cv->task;
    for (size_t i = 0; i < r->m; i++) {
        r->y[i] = vxs_score_truth(t, output, train[i]);
        r->u[i] = vxs_task_weight(t, train[i]);
    }
    if (t->class_count > 0 && t->settings.class_weights == VXS_CLASS_WEIGHTS_BALANCED)
        vxs_balance_weights(r->y, r->u, r->m);
    r->loss = (vxs_loss){
        .kind = vxs_output_loss(t), .n = r->m, .y = r->y, .u = r->u, .threshold = w->threshold
    };
    memset(r->a, 0, r->m * sizeof(*r->a));
    memset(r->b, 0, (r->q + 1) * sizeof(*r->b));
}

static double lambda_at(size_t k)
{
    return LARGEST * pow(SMALLEST / LARGEST, (double)k / (VALUES - 1));
}

/* ---- A fold ---------------------------------------------------------------------------------- */

/* Adds the loss of the tested subjects of an inner fold at each lambda. */
static vxs_status add_losses(const vxs_fold_work *w, const shared *s, const vxs_job *inner,
                             size_t output, double losses[VALUES], vxs_error *err)
{
    const vxs_task *t = w->cv->task;
    const vxs_sample_loss *f = vxs_output_loss(t)->sample;
    vxs_dense_fit r;
    double weight[2];
    vxs_status status =
        begin(w, s, inner->train, inner->train_count, inner->test, inner->test_count, &r, err);
    if (!status)
        take_output(w, inner->train, output, &r);
    vxs_side_weights(w, vxs_score_truth, output, weight);
    for (size_t k = 0; k < VALUES && !status; k++) {
        double sum = 0, whole = 0;
        bool fine = vxs_dense_fit_at(&r, lambda_at(k));
        for (size_t i = 0; i < r.tested; i++) {
            double y = vxs_score_truth(t, output, inner->test[i]);
            double u = weight[y > 0] * vxs_task_weight(t, inner->test[i]);
            sum += u * f->value(vxs_dense_fit_score(&r, i), y, w->threshold);
            whole += u;
        }
        losses[k] += fine && whole > 0 ? sum / whole : INFINITY;
    }
    vxs_dense_fit_release(&r);
    return status;
}

/* Scores are NAN where a fit overflows. */
static vxs_status fit_output(const vxs_fold_work *w, const shared *s, vxs_dense_fit *r,
                             size_t output, double *scores, vxs_error *err)
{
    double losses[VALUES] = { 0 };
    size_t best = 0;
    bool fine = true;
    vxs_status status = VXS_OK;
    for (size_t g = 0; g < w->inner_count && !status; g++)
        status = add_losses(w, s, &w->inner[g], output, losses, err);
    for (size_t k = 1; k < VALUES; k++)
        best = losses[k] < losses[best] ? k : best;
    if (status)
        return status;
    take_output(w, w->train, output, r);
    for (size_t k = 0; k <= best && fine; k++)
        fine = vxs_dense_fit_at(r, lambda_at(k));
    for (size_t i = 0; i < r->tested; i++)
        scores[output * w->cv->task->n + w->test[i]] = fine ? vxs_dense_fit_score(r, i) : NAN;
    return VXS_OK;
}

static double *scores_of(const vxs_fold_work *w)
{
    const vxs_cv *cv = w->cv;
    return cv->baselines[VXS_BASELINE_DENSE] +
           cv->each[w->number].repeat * vxs_task_score_count(cv->task) * cv->task->n;
}

static vxs_status fit_fold(const vxs_fold_work *w, const shared *s, vxs_error *err)
{
    size_t outputs = vxs_task_score_count(w->cv->task);
    vxs_dense_fit r;
    vxs_status status = begin(w, s, w->train, w->train_count, w->test, w->test_count, &r, err);
    for (size_t o = 0; o < outputs && !status; o++)
        status = fit_output(w, s, &r, o, scores_of(w), err);
    vxs_dense_fit_release(&r);
    return status;
}

/* ---- All folds ------------------------------------------------------------------------------- */

static vxs_status read_features(const vxs_context *context, const vxs_task *t, shared *s,
                                vxs_error *err)
{
    const vxs_cohort *c = t->cohort;
    vxs_design *base = NULL;
    s->p = c->p;
    s->rows = c->n;
    size_t *set = vxs_alloc(c->p, sizeof(*set), err);
    s->columns = vxs_alloc(c->p, vxs_times(c->n, sizeof(*s->columns)), err);
    vxs_status status = set && s->columns ? VXS_OK : VXS_FAILED;
    if (!status)
        status = vxs_cohort_design(c, vxs_context_threads(context), &base, err);
    for (size_t j = 0; j < c->p && !status; j++)
        set[j] = j;
    if (!status)
        vxs_design_fetch(base, set, c->p, s->columns);
    vxs_design_free(base);
    free(set);
    return status;
}

/* So many that their matrices fit into memory. */
static int count_threads(const vxs_context *context, const vxs_task *t)
{
    int threads = vxs_context_threads(context);
    double each =
        3.0 * (double)t->n * (double)(is_narrow(t) ? t->cohort->p : t->n) * sizeof(double);
    double room = (double)vxs_memory_of_machine() / MEMORY_SHARE / (each + 1);
    return room < 1 ? 1 : room < threads ? (int)room : threads;
}

static vxs_status fit_folds(const vxs_context *context, vxs_cv *cv, const vxs_fold_work *works,
                            const shared *s, vxs_error *err)
{
    vxs_status status = VXS_OK;
#pragma omp parallel for num_threads(count_threads(context, cv->task)) schedule(dynamic)
    for (size_t k = cv->first; k < cv->end; k++) {
        vxs_error why = VXS_ERROR_INIT;
        bool stopped;
#pragma omp atomic read
        stopped = status;
        if (stopped)
            continue;
        vxs_status here = vxs_check_interrupted(context, &why);
        if (!here)
            here = fit_fold(&works[k], s, &why);
        if (here) {
#pragma omp critical
            status = status ? status : vxs_fail(err, here, "%s", why.message);
        }
    }
    return status;
}

/* Features whose squares are no numbers: no scores. */
static void leave_unknown(const vxs_cv *cv, const vxs_fold_work *works)
{
    size_t outputs = vxs_task_score_count(cv->task);
    for (size_t k = cv->first; k < cv->end; k++)
        for (size_t o = 0; o < outputs; o++)
            for (size_t i = 0; i < works[k].test_count; i++)
                scores_of(&works[k])[o * cv->task->n + works[k].test[i]] = NAN;
}

vxs_status vxs_dense_baseline(const vxs_context *context, vxs_cv *cv, const vxs_fold_work *works,
                              vxs_error *err)
{
    shared s = { .own = false };
    vxs_error why = VXS_ERROR_INIT;
    if (!cv->baselines[VXS_BASELINE_DENSE])
        return VXS_OK;
    vxs_status status = is_narrow(cv->task)
                            ? read_features(context, cv->task, &s, &why)
                            : vxs_products_of_dense(context, cv->task, &s.products, &s.own, &why);
    if (!status) {
        status = fit_folds(context, cv, works, &s, err);
    } else if (status == VXS_BAD_DATA) {
        leave_unknown(cv, works);
        status = VXS_OK;
    } else {
        status = vxs_fail(err, status, "%s", why.message);
    }
    if (s.own)
        vxs_products_free((vxs_products *)s.products);
    free(s.columns);
    return status;
}

void vxs_dense_finish(vxs_cv *cv)
{
    size_t count = cv->folds.repeats * vxs_task_score_count(cv->task) * cv->task->n;
    double *scores = cv->baselines[VXS_BASELINE_DENSE];
    for (size_t k = 0; scores && k < count; k++)
        if (isnan(scores[k])) {
            free(scores);
            cv->baselines[VXS_BASELINE_DENSE] = scores = NULL;
            cv->dense_left_out = "its fits overflow: features are too large";
        }
}
