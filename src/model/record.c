/* record.c - settings recorded in results: task, method and its parameters. */
#include "model/model.h"
#include "model/words.h"

#include <math.h>
#include <string.h>

static vxs_status lacks(const char *file, const char *key, vxs_error *err)
{
    return vxs_fail(err, VXS_BAD_DATA, "'%s' does not record what was done: %s", file, key);
}

static bool find_kind(const char *name, vxs_feature_kind *kind)
{
    for (int k = 0; name && vxs_feature_kind_names[k]; k++)
        if (strcmp(vxs_feature_kind_names[k], name) == 0) {
            *kind = (vxs_feature_kind)k;
            return true;
        }
    return false;
}

vxs_status vxs_record_read(const vxs_json *about, const char *file, vxs_record *r, vxs_error *err)
{
    const vxs_json *classes = vxs_json_get(about, "classes");
    *r = (vxs_record){ .about = about };
    const char *bad = vxs_read_params(vxs_json_get(about, "task"), vxs_task_params, &r->task);
    if (bad)
        return lacks(file, bad, err);
    r->method = &vxs_methods[r->task.method];
    bad = vxs_read_params(vxs_json_get(about, "parameters"), r->method->params, &r->settings);
    if (bad)
        return lacks(file, bad, err);
    r->features = vxs_json_get_number(about, "features");
    if (!find_kind(vxs_json_get_text(about, "features_are"), &r->features_are))
        return lacks(file, "features_are", err);
    r->features_are = r->task.bags ? VXS_FEATURES_INSTANCES : r->features_are;
    r->class_count = classes ? classes->length : 0;
    r->loss =
        vxs_loss_of_classes(vxs_chosen_loss(&r->task) == &vxs_multinomial_loss, r->class_count);
    r->loss_name = vxs_loss_name(&r->task, &r->settings, r->loss);
    return VXS_OK;
}

const char *vxs_record_class(const vxs_record *r, size_t k)
{
    const vxs_json *classes = vxs_json_get(r->about, "classes");
    const vxs_json *c = classes ? classes->first : NULL;
    for (; c && k > 0; k--)
        c = c->next;
    return !c ? "" : c->key ? c->key : c->text ? c->text : "";
}

static const char *class_of(const void *record, size_t k)
{
    return vxs_record_class(record, k);
}

size_t vxs_record_outputs(const vxs_record *r)
{
    return vxs_output_count(&r->task, r->class_count);
}

static bool has_pairs(const vxs_record *r)
{
    return r->class_count > 2 && r->task.multiclass == VXS_ONE_VS_ONE;
}

const char *vxs_record_output(const vxs_record *r, size_t k, char text[VXS_OUTPUT_TEXT])
{
    return has_pairs(r) ? vxs_pair_name(class_of, r, r->class_count, k, text)
                        : vxs_record_class(r, k);
}

const char *vxs_record_rest(const vxs_record *r)
{
    return r->loss->joint ? "with the other classes" : "against the rest";
}

const char *vxs_record_contrast(const vxs_record *r, size_t k, char text[VXS_OUTPUT_TEXT])
{
    if (has_pairs(r))
        return vxs_record_output(r, k, text);
    snprintf(text, VXS_OUTPUT_TEXT, "%s %s", vxs_record_class(r, k), vxs_record_rest(r));
    return text;
}

const char *vxs_record_favored(const vxs_record *r, size_t k, bool positive)
{
    size_t pair[2];
    if (!has_pairs(r))
        return r->class_count == 2 ? vxs_record_class(r, positive)
               : positive          ? vxs_record_class(r, k)
                                   : NULL;
    vxs_pair_classes(r->class_count, k, pair);
    return vxs_record_class(r, pair[!positive]);
}
