/* facts.c - what every run on a cohort says of itself in JSON: who was predicted, and from what. */
#include "assess/model.h"

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
    vxs_json_text(w, "class_weights",
                  t->settings.class_weights == VXS_CLASS_WEIGHTS_BALANCED ? "balanced" : "none");
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

void vxs_features_json(vxs_json_writer *w, const vxs_cohort *c)
{
    static const char *const facts[] = { "features_are", "grid", "preprocessing", "dropped_list" };
    vxs_json_whole(w, "features", (int64_t)c->p);
    for (size_t k = 0; k < sizeof(facts) / sizeof(facts[0]); k++)
        vxs_copy_json(w, facts[k], vxs_json_get(c->about, facts[k]));
}
