/* cv_folds.c - the folds of a cross-validation in cv.json. */
#include "evaluate/cv.h"
#include "model/axis.h"
#include "model/words.h"

#include <stddef.h>

/* Which values of --group a fold holds out. */
static void groups_json(vxs_json_writer *w, const vxs_cv *cv, const vxs_cv_fold *fold)
{
    const vxs_folds *f = &cv->folds;
    const vxs_task *t = cv->task;
    size_t column = 0;
    if (!f->first || vxs_table_find(t->cohort->people, cv->settings.group, &column, NULL))
        return;
    vxs_json_open_array(w, "groups");
    for (size_t v = 0; v < f->first_count; v++)
        if (f->fold[fold->repeat * t->n + f->first[v]] == fold->fold)
            vxs_json_text(w, NULL, vxs_table_cell(t->cohort->people, t->rows[f->first[v]], column));
    vxs_json_close_array(w);
}

/* A number of each output's certificate. */
static void outputs_json(vxs_json_writer *w, const char *key, const vxs_cv *cv,
                         const vxs_cv_fold *f, size_t offset)
{
    vxs_json_open_array(w, key);
    for (size_t o = 0; o < vxs_task_outputs(cv->task); o++) {
        const char *certificate = (const char *)&f->fits[o].certificate;
        vxs_json_whole(w, NULL, (int64_t) * (const size_t *)(const void *)(certificate + offset));
    }
    vxs_json_close_array(w);
}

void vxs_cv_folds_json(vxs_json_writer *w, const vxs_cv *cv)
{
    vxs_json_open_array(w, "each_fold");
    for (size_t k = 0; k < cv->fold_count; k++) {
        const vxs_cv_fold *f = &cv->each[k];
        vxs_json_open_object(w, NULL);
        vxs_json_whole(w, "repeat", (int64_t)f->repeat + 1);
        if (cv->folds.names)
            vxs_json_text(w, "fold", cv->folds.names[f->fold]);
        else
            vxs_json_whole(w, "fold", (int64_t)f->fold + 1);
        groups_json(w, cv, f);
        vxs_json_whole(w, "training", (int64_t)f->train);
        vxs_json_whole(w, "test", (int64_t)f->test);
        vxs_json_real(w, vxs_path_words_of(cv->tuning.by)->one, f->value);
        if (cv->tuning.axis)
            vxs_json_real(w, cv->tuning.axis->option, f->across);
        if (cv->settings.decision)
            vxs_json_real(w, "threshold", f->threshold);
        outputs_json(w, "nonzero", cv, f, offsetof(vxs_certificate, nonzero));
        vxs_json_open_array(w, "lambda");
        for (size_t o = 0; o < vxs_task_outputs(cv->task); o++)
            vxs_json_real(w, NULL, f->fits[o].certificate.lambda);
        vxs_json_close_array(w);
        if (cv->tuning.by == VXS_BY_COST)
            outputs_json(w, "support_vectors", cv, f, offsetof(vxs_certificate, support));
        size_t unidentified = vxs_cv_unidentified(cv, k);
        if (unidentified > 0)
            vxs_json_whole(w, "unidentified", (int64_t)unidentified);
        vxs_json_bool(w, "converged", f->converged);
        vxs_json_close_object(w);
    }
    vxs_json_close_array(w);
}
