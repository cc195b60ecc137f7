/* fold_work.c - preparation of an outer fold: its training and test subjects, its inner folds, and
 * whether all their training parts have enough subjects of each class. */
#include "evaluate/cv.h"

#include <stdio.h>
#include <stdlib.h>

static void split(const size_t *fold, size_t n, size_t kept, size_t *train, size_t *train_count,
                  size_t *test, size_t *test_count)
{
    *train_count = *test_count = 0;
    for (size_t i = 0; i < n; i++)
        if (fold[i] == kept)
            test[(*test_count)++] = i;
        else if (fold[i] != SIZE_MAX)
            train[(*train_count)++] = i;
}

/* Groups of the training subjects, renumbered. */
static size_t regroup(const vxs_fold_work *w, const size_t *group, size_t *number, size_t *first)
{
    size_t count = 0;
    for (size_t k = 0; k < w->train_count; k++) {
        size_t g = group[w->train[k]];
        if (first[g] == SIZE_MAX)
            first[g] = count++;
        number[k] = first[g];
    }
    return count;
}

static vxs_status check_groups(const vxs_fold_work *w, size_t groups, vxs_error *err)
{
    const vxs_cv *cv = w->cv;
    const char *option = cv->settings.inner_option;
    char what[VXS_OPTION_TEXT];
    snprintf(what, sizeof(what), "'--%s %zu'", option ? option : "inner-folds", w->inner_count);
    return vxs_folds_enough(&cv->folds, vxs_folds_column(&cv->folds, &cv->settings), groups,
                            w->inner_count, what,
                            w->train_count < cv->task->n ? " among the training subjects" : "",
                            err);
}

static vxs_status deal_inner(vxs_fold_work *w, size_t *inner, vxs_error *err)
{
    vxs_cv *cv = w->cv;
    const vxs_task *t = cv->task;
    size_t *number = vxs_alloc(3 * t->n, sizeof(*number), err);
    size_t *first = vxs_alloc(cv->folds.groups, sizeof(*first), err);
    vxs_task part = { .n = w->train_count,
                      .class_count = t->class_count,
                      .classes = t->classes,
                      .score = vxs_alloc(w->train_count, sizeof(*part.score), err) };
    vxs_random random = { (uint64_t)cv->settings.seed, VXS_STREAM_INNER + w->number };
    vxs_status status = number && first && part.score ? VXS_OK : VXS_FAILED;
    if (!status) {
        for (size_t g = 0; g < cv->folds.groups; g++)
            first[g] = SIZE_MAX;
        for (size_t k = 0; k < w->train_count; k++)
            part.score[k] = t->score[w->train[k]];
        size_t groups = regroup(w, cv->folds.group, number, first), *fold = number + t->n;
        status = check_groups(w, groups, err);
        if (!status)
            status = vxs_folds_deal(&part, number, groups, w->inner_count, &random, fold, err);
        for (size_t k = 0; k < w->train_count && !status; k++)
            inner[w->train[k]] = fold[k];
    }
    free(number);
    free(first);
    free(part.score);
    return status;
}

static vxs_status make_inner_jobs(vxs_fold_work *w, const size_t *inner, vxs_error *err)
{
    vxs_cv *cv = w->cv;
    size_t n = cv->task->n;
    for (size_t g = 0; g < w->inner_count; g++) {
        vxs_job *job = &w->inner[g];
        w->inner_train[g] = vxs_alloc(n, sizeof(size_t), err);
        w->inner_test[g] = vxs_alloc(n, sizeof(size_t), err);
        if (!w->inner_train[g] || !w->inner_test[g])
            return VXS_FAILED;
        split(inner, n, g, w->inner_train[g], &job->train_count, w->inner_test[g],
              &job->test_count);
        job->train = w->inner_train[g];
        job->test = w->inner_test[g];
        job->values = cv->tuning.values;
        job->across = cv->tuning.across;
        job->value_count = cv->tuning.count;
    }
    return VXS_OK;
}

vxs_status vxs_fold_begin(vxs_fold_work *w, vxs_cv *cv, size_t number, vxs_error *err)
{
    size_t n = cv->task->n, outputs = vxs_task_outputs(cv->task);
    size_t repeat = number / cv->folds.count, kept = number % cv->folds.count;
    *w = (vxs_fold_work){ .cv = cv, .number = number };
    w->inner_count = (size_t)cv->settings.inner_folds;
    w->train = vxs_alloc(n, sizeof(*w->train), err);
    w->test = vxs_alloc(n, sizeof(*w->test), err);
    w->inner = vxs_alloc(w->inner_count, sizeof(*w->inner), err);
    w->inner_train = vxs_alloc(w->inner_count, sizeof(*w->inner_train), err);
    w->inner_test = vxs_alloc(w->inner_count, sizeof(*w->inner_test), err);
    w->inner_scores = vxs_alloc(outputs, n * sizeof(*w->inner_scores), err);
    w->slope = vxs_alloc(outputs, sizeof(*w->slope), err);
    w->offset = vxs_alloc(outputs, sizeof(*w->offset), err);
    if (!w->train || !w->test || !w->inner || !w->inner_train || !w->inner_test ||
        !w->inner_scores || !w->slope || !w->offset)
        return VXS_FAILED;
    for (size_t o = 0; o < outputs; o++)
        w->slope[o] = 1;
    split(cv->folds.fold + repeat * n, n, kept, w->train, &w->train_count, w->test, &w->test_count);
    size_t *inner = cv->inner + number * n;
    for (size_t i = 0; i < n; i++)
        inner[i] = SIZE_MAX;
    cv->each[number] = (vxs_cv_fold){ .repeat = repeat,
                                      .fold = kept,
                                      .train = w->train_count,
                                      .test = w->test_count,
                                      .converged = true };
    vxs_status status = vxs_task_threshold(cv->task, w->train, w->train_count, &w->threshold, err);
    if (w->inner_count == 0 || status)
        return status;
    status = deal_inner(w, inner, err);
    return status ? status : make_inner_jobs(w, inner, err);
}

bool vxs_fold_is_trainable(const vxs_fold_work *w)
{
    const vxs_task *t = w->cv->task;
    bool fine = vxs_is_trainable(t, w->train, w->train_count);
    for (size_t g = 0; g < w->inner_count && fine; g++)
        fine = vxs_is_trainable(t, w->inner[g].train, w->inner[g].train_count);
    return fine;
}

vxs_status vxs_fold_check(const vxs_fold_work *w, vxs_error *err)
{
    const vxs_task *t = w->cv->task;
    const char *folds = "more or other folds";
    vxs_status status =
        vxs_check_trainable(t, w->train, w->train_count, "a training fold", folds, err);
    for (size_t g = 0; g < w->inner_count && !status; g++)
        status = vxs_check_trainable(t, w->inner[g].train, w->inner[g].train_count,
                                     "the training part of an inner fold", folds, err);
    return status;
}

void vxs_fold_end(vxs_fold_work *w, size_t outputs)
{
    for (size_t g = 0; g < w->inner_count; g++) {
        if (w->inner)
            vxs_job_release(&w->inner[g], outputs);
        if (w->inner_train)
            free(w->inner_train[g]);
        if (w->inner_test)
            free(w->inner_test[g]);
    }
    free(w->train);
    free(w->test);
    free(w->inner);
    free((void *)w->inner_train);
    free((void *)w->inner_test);
    free(w->inner_scores);
    free(w->slope);
    free(w->offset);
}
