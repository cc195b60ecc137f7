/* dense_baseline.c - the dense linear baseline of cross-validation: a weight for every feature,
 * none selected, with an l2 penalty: ridge regression for scores, l2 logistic regression for
 * classes.
 *
 * Products of centered subjects are divided by their mean square, so that one list of lambdas suits
 * all data; all means are weighted. lambda is the one of 13 with the least mean loss in the model's
 * own inner folds. */
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
#define LARGEST  1e4 /* lambda */
#define SMALLEST 1e-2

/* ---- A training part ------------------------------------------------------------------------- */

/* Products of the training subjects and of those with the tested ones, centered on the training
 * subjects, divided by their mean square. */
static vxs_status take_products(const vxs_task *t, const vxs_products *products,
                                const size_t *train, const size_t *test, vxs_dense_fit *r,
                                vxs_error *err)
{
    vxs_residual_products residual;
    size_t *rows = vxs_alloc(r->m, sizeof(*rows), err);
    double *ones = vxs_alloc(r->m, sizeof(*ones), err), work[4], one = 1, mean = 0, whole = 0;
    vxs_status status = rows && ones ? VXS_OK : VXS_FAILED;
    for (size_t i = 0; i < r->m && !status; i++) {
        rows[i] = t->rows[train[i]];
        ones[i] = 1;
        r->u[i] = vxs_task_weight(t, train[i]);
        whole += r->u[i];
    }
    if (!status)
        status = vxs_residual_products_init(products->values, products->n, rows, r->m, ones, 1,
                                            r->u, &residual, err);
    for (size_t i = 0; i < r->m && !status; i++)
        mean +=
            vxs_residual_products_trained(&residual, i, work, r->k + i * r->m) * r->u[i] / whole;
    for (size_t i = 0; i < r->tested && !status; i++)
        (void)vxs_residual_products_row(&residual, t->rows[test[i]], &one, work,
                                        r->held_out + i * r->m);
    mean = mean > 0 ? mean : 1; /* no feature varies */
    for (size_t k = 0; k < r->m * r->m && !status; k++)
        r->k[k] /= mean;
    for (size_t k = 0; k < r->tested * r->m && !status; k++)
        r->held_out[k] /= mean;
    if (!status)
        vxs_residual_products_release(&residual);
    free(rows);
    free(ones);
    return status;
}

static vxs_status begin(const vxs_fold_work *w, const vxs_products *products, const size_t *train,
                        size_t train_count, const size_t *test, size_t test_count, vxs_dense_fit *r,
                        vxs_error *err)
{
    const vxs_task *t = w->cv->task;
    vxs_status status = vxs_dense_fit_new(train_count, t->covariate_count, test_count, r, err);
    if (!status)
        status = take_products(t, products, train, test, r, err);
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
        r->y[i] = vxs_output_truth(t, output, train[i]);
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
static vxs_status add_losses(const vxs_fold_work *w, const vxs_products *products,
                             const vxs_job *inner, size_t output, double losses[VALUES],
                             vxs_error *err)
{
    const vxs_task *t = w->cv->task;
    const vxs_sample_loss *f = vxs_output_loss(t)->sample;
    vxs_dense_fit r;
    vxs_status status = begin(w, products, inner->train, inner->train_count, inner->test,
                              inner->test_count, &r, err);
    if (!status)
        take_output(w, inner->train, output, &r);
    for (size_t k = 0; k < VALUES && !status; k++) {
        double sum = 0, whole = 0;
        bool fine = vxs_dense_fit_at(&r, lambda_at(k));
        for (size_t i = 0; i < r.tested; i++) {
            double u = vxs_task_weight(t, inner->test[i]);
            sum += u * f->value(vxs_dense_fit_score(&r, i),
                                vxs_output_truth(t, output, inner->test[i]), w->threshold);
            whole += u;
        }
        losses[k] += fine && whole > 0 ? sum / whole : INFINITY;
    }
    vxs_dense_fit_release(&r);
    return status;
}

static vxs_status fit_output(const vxs_fold_work *w, const vxs_products *products, vxs_dense_fit *r,
                             size_t output, double *scores, vxs_error *err)
{
    double losses[VALUES] = { 0 };
    size_t best = 0;
    vxs_status status = VXS_OK;
    for (size_t g = 0; g < w->inner_count && !status; g++)
        status = add_losses(w, products, &w->inner[g], output, losses, err);
    for (size_t k = 1; k < VALUES; k++)
        best = losses[k] < losses[best] ? k : best;
    if (status)
        return status;
    take_output(w, w->train, output, r);
    for (size_t k = 0; k <= best; k++)
        if (!vxs_dense_fit_at(r, lambda_at(k)))
            return vxs_fail(err, VXS_BAD_DATA,
                            "the dense linear baseline overflows: features are too large");
    for (size_t i = 0; i < r->tested; i++)
        scores[output * w->cv->task->n + w->test[i]] = vxs_dense_fit_score(r, i);
    return VXS_OK;
}

static vxs_status fit_fold(const vxs_fold_work *w, const vxs_products *products, vxs_error *err)
{
    vxs_cv *cv = w->cv;
    size_t outputs = vxs_task_outputs(cv->task);
    double *scores =
        cv->baselines[VXS_BASELINE_DENSE] + cv->each[w->number].repeat * outputs * cv->task->n;
    vxs_dense_fit r;
    vxs_status status =
        begin(w, products, w->train, w->train_count, w->test, w->test_count, &r, err);
    for (size_t o = 0; o < outputs && !status; o++)
        status = fit_output(w, products, &r, o, scores, err);
    vxs_dense_fit_release(&r);
    return status;
}

vxs_status vxs_dense_baseline(const vxs_context *context, vxs_cv *cv, const vxs_fold_work *works,
                              vxs_error *err)
{
    const vxs_products *products = NULL;
    bool own = false;
    vxs_status status = VXS_OK;
    if (!cv->baselines[VXS_BASELINE_DENSE])
        return VXS_OK;
    vxs_task plain = *cv->task; /* all features alike, whatever the method does */
    plain.settings.standardize = VXS_STANDARDIZE_CENTER;
    plain.penalties = NULL;
    status = vxs_products_of(context, &plain, &products, &own, err);
#pragma omp parallel for num_threads(vxs_context_threads(context)) schedule(dynamic)
    for (size_t k = cv->first; k < cv->end; k++) {
        vxs_error why = VXS_ERROR_INIT;
        bool stopped;
#pragma omp atomic read
        stopped = status;
        if (stopped)
            continue;
        vxs_status here = vxs_check_interrupted(context, &why);
        if (!here)
            here = fit_fold(&works[k], products, &why);
        if (here) {
#pragma omp critical
            status = status ? status : vxs_fail(err, here, "%s", why.message);
        }
    }
    if (own)
        vxs_products_free((vxs_products *)products);
    return status;
}
