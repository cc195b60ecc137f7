/* predicted_images.c - voxsift predict -o DIR: an image of predictions for each subject. */
#include "cli/cli.h"

#include <math.h>

/* Of subjects that the model was not trained on, or of all. */
static size_t mean_of(const vxs_predicted_images *r, bool all, size_t offset, double *mean,
                      double *sd)
{
    double sum = 0, squares = 0;
    size_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        count = 0;
        for (size_t k = 0; k < r->count; k++) {
            double value =
                *(const double *)(const void *)((const char *)&r->each[k].metrics + offset);
            if (isnan(value) || (!all && r->each[k].trained != VXS_NOT_TRAINED_ON))
                continue;
            count++;
            sum += pass == 0 ? value : 0;
            squares += pass == 0 ? 0 : (value - *mean) * (value - *mean);
        }
        *mean = sum / (double)count;
    }
    *sd = count > 1 ? sqrt(squares / (double)(count - 1)) : NAN;
    return count;
}

static void log_metrics(const vxs_call *call, const vxs_predicted_images *r, bool all)
{
    char text[4][VXS_REAL_TEXT];
    double auc = NAN, auc_sd = NAN, dice = NAN, dice_sd = NAN;
    size_t known = 0;
    for (size_t k = 0; k < r->count; k++)
        known += r->each[k].trained != VXS_NOT_TRAINED_ON;
    if (known > 0)
        vxs_log(call->context, all ? VXS_LOG_CAUTION : VXS_LOG_WARNING,
                "the model was trained on %zu of %zu subjects (column trained_on)%s", known,
                r->count,
                !r->labels ? ""
                : all      ? ": metrics include them and overestimate accuracy"
                           : ": metrics exclude them (--training-too includes them)");
    size_t count = mean_of(r, all, offsetof(vxs_metrics, auc), &auc, &auc_sd);
    (void)mean_of(r, all, offsetof(vxs_metrics, f1), &dice, &dice_sd);
    if (r->labels && count > 0)
        vxs_log(call->context, VXS_LOG_INFO,
                "mean over %zu subject%s: AUC of voxels %s (sd %s), Dice %s (sd %s)", count,
                vxs_plural(count), vxs_score_text(auc, false, text[0]),
                vxs_score_text(auc_sd, false, text[1]), vxs_score_text(dice, false, text[2]),
                vxs_score_text(dice_sd, false, text[3]));
    if (!r->calibrated)
        vxs_log(call->context, VXS_LOG_INFO,
                "not calibrated: the model was fitted without --choose-lambda and --calibrate, or "
                "predicts scores; score_*.nii.gz have the scores");
}

static void print_json(const vxs_call *call, const vxs_model *m, const vxs_predicted_images *r)
{
    vxs_json_writer w;
    vxs_json_init(&w, call->out);
    vxs_json_open_object(&w, NULL);
    vxs_json_text(&w, "output", call->shared->out);
    vxs_json_text(&w, "target", m->task.target);
    if (m->class_count == 2)
        vxs_json_text(&w, "positive", m->classes[1]);
    vxs_json_bool(&w, "calibrated", r->calibrated);
    vxs_json_open_array(&w, "subjects");
    for (size_t k = 0; k < r->count; k++) {
        const vxs_predicted_image *one = &r->each[k];
        vxs_json_open_object(&w, NULL);
        vxs_json_text(&w, "id", one->id);
        vxs_json_whole(&w, "voxels", (int64_t)one->voxels);
        vxs_json_whole(&w, "not_finite", (int64_t)one->not_finite);
        vxs_json_real(&w, "volume_ml", one->volume);
        vxs_json_real(&w, "mean", one->mean);
        vxs_json_text(&w, "trained_on", vxs_trained_names[one->trained]);
        if (r->labels) {
            vxs_json_real(&w, "auc", one->metrics.auc);
            vxs_json_real(&w, "dice", one->metrics.f1);
        }
        vxs_json_close_object(&w);
    }
    vxs_json_close_array(&w);
    vxs_json_real(&w, "seconds", r->seconds);
    vxs_close_json(call, &w);
}

vxs_status vxs_print_predicted_images(const vxs_call *call, const vxs_model *model,
                                      const vxs_patch_settings *settings, bool training_too,
                                      vxs_error *err)
{
    vxs_predicted_images r;
    char **sources = call->operands + 1;
    if (!vxs_patches_of(model->about))
        return vxs_fail(err, VXS_BAD_DATA,
                        "-o writes images of voxels, and the rows of this model are subjects; "
                        "their predictions are printed: leave -o out");
    if (!sources[0] || sources[1])
        return vxs_fail(err, VXS_MISUSE, "one table that names the images is needed");
    vxs_status status = vxs_predict_images(call->context, model, settings, sources[0],
                                           call->shared->out, call->shared->force, &r, err);
    if (status)
        return status;
    if (!call->shared->json)
        vxs_predicted_images_write(&r, call->out);
    log_metrics(call, &r, training_too);
    if (call->shared->json)
        print_json(call, model, &r);
    vxs_predicted_images_release(&r);
    return VXS_OK;
}
