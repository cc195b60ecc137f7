/* differing.c - options of the cross-validations that differ, side by side. */
#include "evaluate/compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Said elsewhere, or without effect on what is compared. */
static const char *const left_out[] = { "target", "method",     "loss",
                                        "folds",  "repeats",    "folds-from",
                                        "seed",   "bootstraps", "no-dense-baseline",
                                        NULL };

bool vxs_compared_is_one(const vxs_compared *c)
{
    size_t k = 1;
    while (k < c->model_count && strcmp(c->models[k].place, c->models[0].place) == 0)
        k++;
    return k == c->model_count;
}

static bool is_left_out(const char *name)
{
    size_t k = 0;
    while (left_out[k] && strcmp(left_out[k], name) != 0)
        k++;
    return left_out[k] != NULL;
}

/* A value in a model: `group` NULL stands for keys of the file itself. */
static const vxs_json *value_of(const vxs_compared_model *m, const char *group, const char *key)
{
    return vxs_json_get(group ? vxs_json_get(m->about, group) : m->about, key);
}

static bool is_default(const vxs_param *p, const vxs_json *value)
{
    switch (p->type) {
    case VXS_PARAM_CHOICE:
        return value->kind == VXS_JSON_TEXT &&
               strcmp(p->choices[(int)p->initial], value->text) == 0;
    case VXS_PARAM_WHOLE:
    case VXS_PARAM_REAL:
    case VXS_PARAM_BYTES:
        return value->kind == VXS_JSON_NULL ||
               value->number == (isnan(p->initial) ? 0 : p->initial);
    default:
        return value->kind == VXS_JSON_NULL || (value->kind == VXS_JSON_BOOL && !value->number) ||
               (value->kind == VXS_JSON_ARRAY && !value->first);
    }
}

/* An option that only some models have is listed where it was given. */
static bool was_given(const vxs_compared_model *m, const vxs_json *value)
{
    for (const vxs_method *method = vxs_methods; method->name; method++)
        for (const vxs_param *p = method->params; p->name && strcmp(method->name, m->method) == 0;
             p++)
            if (strcmp(p->name, value->key) == 0)
                return !is_default(p, value);
    return false;
}

static bool differs(const vxs_compared *c, const char *group, const char *key)
{
    const vxs_json *first = NULL;
    bool all = true, differ = false, given = false;
    for (size_t k = 0; k < c->model_count; k++) {
        const vxs_json *value = value_of(&c->models[k], group, key);
        all = all && value;
        given = given || (value && was_given(&c->models[k], value));
        differ = differ || (first && value && !vxs_same_setting(first, value));
        first = first ? first : value;
    }
    return all ? differ : given;
}

static vxs_status add_option(vxs_compared *c, const char *group, const char *key, vxs_error *err)
{
    vxs_compared_option *more =
        vxs_resize(c->options, c->option_count + 1, sizeof(*c->options), err);
    if (!more)
        return VXS_FAILED;
    c->options = more;
    vxs_compared_option *o = &c->options[c->option_count];
    *o = (vxs_compared_option){ key, vxs_alloc(c->model_count, sizeof(*o->values), err) };
    if (!o->values)
        return VXS_FAILED;
    c->option_count++;
    for (size_t k = 0; k < c->model_count; k++) {
        const vxs_json *value = value_of(&c->models[k], group, key);
        o->values[k] = value ? vxs_setting_words(value, err) : NULL;
        if (value && !o->values[k])
            return VXS_FAILED;
    }
    return VXS_OK;
}

/* Keys of all models, each once: in the first that has it. */
static vxs_status list_group(vxs_compared *c, const char *group, vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (size_t k = 0; k < c->model_count; k++) {
        const vxs_json *object = vxs_json_get(c->models[k].about, group);
        for (const vxs_json *v = object ? object->first : NULL; v && v->key && !status;
             v = v->next) {
            bool before = is_left_out(v->key);
            for (size_t j = 0; j < k; j++)
                before = before || value_of(&c->models[j], group, v->key);
            if (!before && differs(c, group, v->key))
                status = add_option(c, group, v->key, err);
        }
    }
    return status;
}

vxs_status vxs_compared_list_options(vxs_compared *c, vxs_error *err)
{
    static const char *const keys[] = { "method", "loss", "cohort", "features", "target" };
    static const char *const groups[] = { "task", "parameters", "cross_validation" };
    vxs_status status = VXS_OK;
    for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]) && !status; k++)
        if (differs(c, NULL, keys[k]))
            status = add_option(c, NULL, keys[k], err);
    for (size_t k = 0; k < sizeof(groups) / sizeof(groups[0]) && !status; k++)
        status = list_group(c, groups[k], err);
    return status;
}
