/* facts.c - facts that every result on a cohort records in JSON: subjects, target, features. */
#include "model/model.h"

#include <stdlib.h>

static void classes_json(vxs_json_writer *w, const vxs_task *t)
{
    vxs_json_open_object(w, "classes");
    for (size_t k = 0; k < t->class_count; k++) {
        int64_t count = 0;
        for (size_t i = 0; i < t->n; i++)
            count += t->score[i] == (double)k;
        vxs_json_whole(w, t->classes[k], count);
    }
    vxs_json_close_object(w);
    if (t->class_count == 2)
        vxs_json_text(w, "positive", t->classes[1]);
    vxs_json_text(w, "class_weights", vxs_task_weighs_classes(t) ? "balanced" : "none");
}

void vxs_task_json(vxs_json_writer *w, const vxs_task *t, const vxs_method_settings *method)
{
    vxs_json_text(w, "method", vxs_task_method(t)->name);
    vxs_json_text(w, "loss", vxs_loss_name(&t->settings, method, t->loss));
    vxs_json_text(w, "target", t->settings.target);
    vxs_json_whole(w, "subjects", (int64_t)t->n);
    vxs_json_whole(w, "people", (int64_t)t->people);
    if (t->class_count > 0)
        classes_json(w, t);
}

static size_t length_of(const vxs_cohort *c, const char *key)
{
    const vxs_json *list = vxs_json_get(c->about, key);
    return list && list->kind == VXS_JSON_ARRAY ? list->length : 0;
}

static void left_out_json(vxs_json_writer *w, const vxs_task *t)
{
    static const char *const steps[] = { "without_target", "without_weight", "without_covariate" };
    const vxs_cohort *c = t->cohort;
    for (vxs_flow_step s = VXS_WITHOUT_TARGET; s < VXS_ANALYSED; s++) {
        int64_t count = 0;
        for (size_t k = 0; k < t->left_count; k++)
            count += t->left_out[k].step == s;
        vxs_json_whole(w, steps[s], count);
    }
    vxs_json_open_array(w, "left_out");
    for (size_t k = 0; k < t->left_count; k++) {
        const vxs_left_out *l = &t->left_out[k];
        vxs_json_open_object(w, NULL);
        vxs_json_text(w, "id", vxs_cohort_id(c, l->row));
        vxs_json_text(w, "step", steps[l->step]);
        vxs_json_text(w, "column", vxs_table_header(c->people, l->column));
        vxs_json_close_object(w);
    }
    vxs_json_close_array(w);
}

/* Number of subjects excluded by each expression. */
static void selection_json(vxs_json_writer *w, const vxs_task *t)
{
    const vxs_task_settings *s = &t->settings;
    size_t number = 0;
    vxs_json_open_array(w, "selection");
    for (int exclude = 0; exclude < 2; exclude++)
        for (const char *const *text = (exclude ? &s->exclude : &s->only)->each; *text; text++) {
            vxs_json_open_object(w, NULL);
            vxs_json_text(w, "option", exclude ? "--exclude" : "--only");
            vxs_json_text(w, "expression", *text);
            vxs_json_whole(w, "left_out", (int64_t)t->not_selected[number++]);
            vxs_json_close_object(w);
        }
    vxs_json_close_array(w);
}

void vxs_flow_json(vxs_json_writer *w, const vxs_task *t)
{
    const vxs_cohort *c = t->cohort;
    size_t refused = length_of(c, "dropped_list"), without = length_of(c, "rows_without_data");
    size_t unselected = length_of(c, "not_selected_list");
    vxs_json_open_object(w, "flow");
    vxs_json_whole(w, "read", (int64_t)(c->n + refused + without + unselected));
    vxs_json_whole(w, "not_in_cohort", (int64_t)unselected);
    vxs_copy_json(w, "cohort_selection", vxs_json_get(c->about, "selection"));
    vxs_json_whole(w, "without_data", (int64_t)without);
    vxs_json_whole(w, "refused", (int64_t)refused);
    vxs_json_whole(w, "in_cohort", (int64_t)c->n);
    vxs_json_whole(w, "not_selected", (int64_t)(c->n - t->n - t->left_count));
    selection_json(w, t);
    left_out_json(w, t);
    vxs_json_whole(w, "analysed", (int64_t)t->n);
    vxs_copy_json(w, "without_data_list", vxs_json_get(c->about, "rows_without_data"));
    vxs_json_close_object(w);
    vxs_json_open_array(w, "warnings");
    for (size_t k = 0; k < t->warning_count; k++)
        vxs_json_text(w, NULL, t->warnings[k]);
    vxs_json_close_array(w);
}

vxs_status vxs_task_warn(const vxs_context *context, vxs_task *t, vxs_error *err,
                         const char *format, ...)
{
    vxs_error line = VXS_ERROR_INIT; /* one line, truncated and escaped as error messages are */
    va_list args;
    va_start(args, format);
    vxs_failv(&line, VXS_BAD_DATA, format, args);
    va_end(args);
    vxs_log(context, VXS_LOG_CAUTION, "%s", line.message);
    char *text = vxs_format(err, "%s", line.message);
    char **more =
        text ? vxs_resize((void *)t->warnings, t->warning_count + 1, sizeof(char *), err) : NULL;
    if (!more) {
        free(text);
        return VXS_FAILED;
    }
    t->warnings = more;
    t->warnings[t->warning_count++] = text;
    return VXS_OK;
}

void vxs_patches_json(vxs_json_writer *w, const vxs_cohort *c)
{
    if (vxs_patches_of(c->about))
        vxs_copy_json(w, c->bags ? VXS_INSTANCE_PATCHES : "patches", vxs_patches_of(c->about));
}

void vxs_features_json(vxs_json_writer *w, const vxs_cohort *c)
{
    static const char *const facts[] = { "features_are", "grid", "preprocessing", "dropped_list" };
    vxs_json_whole(w, "features", (int64_t)c->p);
    for (size_t k = 0; k < sizeof(facts) / sizeof(facts[0]); k++)
        vxs_copy_json(w, facts[k], vxs_json_get(c->about, facts[k]));
    vxs_patches_json(w, c);
}
