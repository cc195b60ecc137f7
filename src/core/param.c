/* param.c - parameter tables: defaults, ranges and descriptions from the same row. */
#include "voxsift/internal/core.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void *place(const vxs_param *param, void *values)
{
    return (char *)values + param->offset;
}

void vxs_params_defaults(const vxs_param *table, void *values)
{
    for (const vxs_param *p = table; p && values && p->name; p++) {
        switch (p->type) {
        case VXS_PARAM_FLAG:
            *(bool *)place(p, values) = p->initial != 0;
            break;
        case VXS_PARAM_WHOLE:
        case VXS_PARAM_BYTES:
            *(int64_t *)place(p, values) = isnan(p->initial) ? 0 : (int64_t)p->initial;
            break;
        case VXS_PARAM_REAL:
            *(double *)place(p, values) = p->initial;
            break;
        case VXS_PARAM_CHOICE:
            *(int *)place(p, values) = (int)p->initial;
            break;
        case VXS_PARAM_TEXT:
        case VXS_PARAM_PATH:
            *(const char **)place(p, values) = NULL;
            break;
        case VXS_PARAM_TEXTS:
            *(vxs_texts *)place(p, values) = (vxs_texts){ .each = { NULL } };
            break;
        }
    }
}

const char *vxs_param_text(const vxs_param *param, const void *values)
{
    return *(const char *const *)(const void *)((const char *)values + param->offset);
}

bool vxs_param_is_given(const vxs_param *param, const void *values)
{
    const char *at = (const char *)values + param->offset;
    switch (param->type) {
    case VXS_PARAM_FLAG:
        return *(const bool *)(const void *)at != (param->initial != 0);
    case VXS_PARAM_CHOICE:
        return *(const int *)(const void *)at != (int)param->initial;
    case VXS_PARAM_TEXT:
    case VXS_PARAM_PATH:
        return vxs_param_text(param, values) != NULL;
    case VXS_PARAM_TEXTS:
        return ((const vxs_texts *)(const void *)at)->each[0] != NULL;
    case VXS_PARAM_REAL: {
        double real = *(const double *)(const void *)at;
        return !isnan(real) && real != param->initial;
    }
    case VXS_PARAM_WHOLE:
    case VXS_PARAM_BYTES:
        break;
    }
    int64_t whole = *(const int64_t *)(const void *)at;
    return whole != (isnan(param->initial) ? 0 : (int64_t)param->initial);
}

static int count_choices(const vxs_param *p)
{
    int count = 0;
    while (p->choices[count])
        count++;
    return count;
}

vxs_status vxs_params_check_choices(const vxs_param *table, const void *values, vxs_error *err)
{
    for (const vxs_param *p = table; p->name; p++) {
        const char *at = (const char *)values + p->offset;
        int choice = p->type == VXS_PARAM_CHOICE ? *(const int *)(const void *)at : 0;
        if (choice < 0 || (choice > 0 && choice >= count_choices(p)))
            return vxs_fail(err, VXS_MISUSE, "setting '%s' has no choice number %d", p->name,
                            choice);
        if (p->type == VXS_PARAM_TEXTS &&
            ((const vxs_texts *)(const void *)at)->each[VXS_MOST_TEXTS])
            return vxs_fail(err, VXS_MISUSE, "setting '%s' has more than %d texts", p->name,
                            VXS_MOST_TEXTS);
    }
    return VXS_OK;
}

/* Written so that NaN fails on either side. */
static bool in_range(const vxs_param *param, double value)
{
    return value >= param->min && value <= param->max;
}

/* Doubles cannot represent every integer, so these are compared as integers. */
static bool whole_in_range(const vxs_param *param, int64_t value)
{
    if (isfinite(param->max) && value > (int64_t)param->max)
        return false;
    return !isfinite(param->min) || value >= (int64_t)param->min;
}

/* Limits of a number; those of whole numbers leave room for words. */
static bool is_number_fine(const vxs_param *p, const char *at)
{
    if (p->type == VXS_PARAM_REAL) {
        double real = *(const double *)(const void *)at;
        return real == 0 || real == p->initial || (isnan(real) && isnan(p->initial)) ||
               (real >= fmin(p->min, 0) && real <= p->max && real < INFINITY);
    }
    if (p->type != VXS_PARAM_WHOLE && p->type != VXS_PARAM_BYTES)
        return true;
    int64_t whole = *(const int64_t *)(const void *)at;
    bool word = p->choices && whole <= VXS_WORD(0) && whole > VXS_WORD(count_choices(p));
    return whole == 0 || word || (double)whole == p->initial || whole_in_range(p, whole);
}

vxs_status vxs_params_check_numbers(const vxs_param *table, const void *values, vxs_error *err)
{
    for (const vxs_param *p = table; p->name; p++) {
        const char *at = (const char *)values + p->offset;
        if (is_number_fine(p, at))
            continue;
        if (p->type == VXS_PARAM_REAL)
            return vxs_fail(err, VXS_MISUSE, "setting '%s' is %g", p->name,
                            *(const double *)(const void *)at);
        return vxs_fail(err, VXS_MISUSE, "setting '%s' is %" PRId64, p->name,
                        *(const int64_t *)(const void *)at);
    }
    return VXS_OK;
}

static void join_choices(const char *const *choices, char *buffer, size_t size)
{
    size_t used = (size_t)snprintf(buffer, size, "one of");
    for (size_t i = 0; choices[i] && used < size; i++)
        used += (size_t)snprintf(buffer + used, size - used, "%s %s", i ? "," : "", choices[i]);
}

static void number_wants(const vxs_param *param, char *buffer, size_t size)
{
    const char *noun = param->type == VXS_PARAM_WHOLE ? "a whole number" : "a number";
    char min[VXS_REAL_TEXT], max[VXS_REAL_TEXT];
    vxs_real_text(param->min, min);
    vxs_real_text(param->max, max);
    if (isfinite(param->min) && isfinite(param->max))
        snprintf(buffer, size, "%s between %s and %s", noun, min, max);
    else if (isfinite(param->min))
        snprintf(buffer, size, "%s of at least %s", noun, min);
    else if (isfinite(param->max))
        snprintf(buffer, size, "%s of at most %s", noun, max);
    else
        snprintf(buffer, size, "%s", noun);
    size_t used = strlen(buffer);
    for (size_t k = 0; param->choices && param->choices[k] && used < size; k++)
        used += (size_t)snprintf(buffer + used, size - used, ", or %s", param->choices[k]);
}

void vxs_param_expects(const vxs_param *param, char *buffer, size_t size)
{
    switch (param->type) {
    case VXS_PARAM_FLAG:
        snprintf(buffer, size, "no value");
        break;
    case VXS_PARAM_WHOLE:
    case VXS_PARAM_REAL:
        number_wants(param, buffer, size);
        break;
    case VXS_PARAM_CHOICE:
        join_choices(param->choices, buffer, size);
        break;
    case VXS_PARAM_BYTES:
        snprintf(buffer, size, "a size such as 500M or 2G");
        break;
    case VXS_PARAM_TEXT:
    case VXS_PARAM_TEXTS:
        snprintf(buffer, size, "a text");
        break;
    case VXS_PARAM_PATH:
        snprintf(buffer, size, "a path");
        break;
    }
}

void vxs_param_default(const vxs_param *param, char *buffer, size_t size)
{
    char number[VXS_REAL_TEXT];
    buffer[0] = '\0';
    bool numeric = param->type == VXS_PARAM_WHOLE || param->type == VXS_PARAM_REAL;
    if (param->required)
        return;
    bool usual =
        /* otherwise the help describes the default */
        isfinite(param->initial) && !(param->initial < param->min);
    if (numeric && usual)
        snprintf(buffer, size, "%s", vxs_real_text(param->initial, number));
    else if (param->type == VXS_PARAM_CHOICE)
        snprintf(buffer, size, "%s", param->choices[(int)param->initial]);
}

static bool set_choice(const vxs_param *param, int *value, const char *text)
{
    for (int i = 0; param->choices[i]; i++) {
        if (strcmp(param->choices[i], text) == 0) {
            *value = i;
            return true;
        }
    }
    return false;
}

static bool set_whole(const vxs_param *param, int64_t *value, const char *text)
{
    int64_t whole = 0;
    for (int k = 0; param->choices && param->choices[k]; k++) {
        if (strcmp(param->choices[k], text) == 0) {
            *value = VXS_WORD(k);
            return true;
        }
    }
    if (!vxs_parse_whole(text, &whole) || !whole_in_range(param, whole))
        return false;
    *value = whole;
    return true;
}

static bool add_text(vxs_texts *texts, const char *text)
{
    size_t count = 0;
    while (texts->each[count])
        count++;
    if (!*text || count == VXS_MOST_TEXTS)
        return false;
    texts->each[count] = text;
    texts->each[count + 1] = NULL;
    return true;
}

static bool set_value(const vxs_param *param, void *value, const char *text)
{
    int64_t whole = 0;
    double real = 0;
    switch (param->type) {
    case VXS_PARAM_FLAG:
        *(bool *)value = true;
        return text == NULL;
    case VXS_PARAM_WHOLE:
        return set_whole(param, value, text);
    case VXS_PARAM_BYTES:
        if (!vxs_parse_bytes(text, &whole) || !whole_in_range(param, whole))
            return false;
        *(int64_t *)value = whole;
        return true;
    case VXS_PARAM_REAL:
        if (!vxs_parse_real(text, &real) || !in_range(param, real))
            return false;
        *(double *)value = real;
        return true;
    case VXS_PARAM_CHOICE:
        return set_choice(param, value, text);
    case VXS_PARAM_TEXT:
    case VXS_PARAM_PATH:
        *(const char **)value = text;
        return *text != '\0';
    case VXS_PARAM_TEXTS:
        return add_text(value, text);
    }
    return false;
}

vxs_status vxs_param_set(const vxs_param *param, void *values, const char *text, vxs_error *err)
{
    bool flag = param && param->type == VXS_PARAM_FLAG;
    bool words = param && param->type == VXS_PARAM_CHOICE;
    vxs_status status =
        VXS_GIVEN(err, { "param", param }, { "values", values }, { "text", flag ? "" : text },
                  { "param->choices", words ? (const void *)param->choices : "" });
    if (status || set_value(param, place(param, values), text))
        return status;
    if (param->type == VXS_PARAM_TEXTS && *text)
        return vxs_fail(err, VXS_MISUSE, "option '--%s' can be given %d times, not more",
                        param->name, VXS_MOST_TEXTS);
    char expected[256] = "";
    vxs_param_expects(param, expected, sizeof(expected));
    const char *near = param->type == VXS_PARAM_CHOICE ? vxs_nearest(text, param->choices) : NULL;
    return vxs_fail(err, VXS_MISUSE, "option '--%s' expects %s, not '%s'%s%s%s", param->name,
                    expected, text, near ? "; did you mean '" : "", near ? near : "",
                    near ? "'?" : "");
}

static void write_texts(vxs_json_writer *writer, const char *key, const vxs_texts *texts)
{
    vxs_json_open_array(writer, key);
    for (const char *const *text = texts->each; *text; text++)
        vxs_json_text(writer, NULL, *text);
    vxs_json_close_array(writer);
}

/* A word of a whole number as what it is called. */
static void write_whole(vxs_json_writer *writer, const char *key, const vxs_param *param,
                        int64_t value)
{
    if (param->choices && value <= VXS_WORD(0))
        vxs_json_text(writer, key, param->choices[VXS_WORD(0) - value]);
    else
        vxs_json_whole(writer, key, value);
}

void vxs_json_param(vxs_json_writer *writer, const char *key, const vxs_param *param,
                    const void *values)
{
    const void *value = (const char *)values + param->offset;
    switch (param->type) {
    case VXS_PARAM_FLAG:
        vxs_json_bool(writer, key, *(const bool *)value);
        break;
    case VXS_PARAM_WHOLE:
        write_whole(writer, key, param, *(const int64_t *)value);
        break;
    case VXS_PARAM_BYTES:
        vxs_json_whole(writer, key, *(const int64_t *)value);
        break;
    case VXS_PARAM_REAL:
        vxs_json_real(writer, key, *(const double *)value);
        break;
    case VXS_PARAM_CHOICE:
        vxs_json_text(writer, key, param->choices[*(const int *)value]);
        break;
    case VXS_PARAM_TEXT:
    case VXS_PARAM_PATH:
        vxs_json_text(writer, key, vxs_param_text(param, values));
        break;
    case VXS_PARAM_TEXTS:
        write_texts(writer, key, value);
        break;
    }
}

void vxs_json_params(vxs_json_writer *writer, const char *key, const vxs_param *table,
                     const void *values)
{
    vxs_json_open_object(writer, key);
    for (const vxs_param *p = table; p->name; p++)
        vxs_json_param(writer, p->name, p, values);
    vxs_json_close_object(writer);
}

static bool set_texts(const vxs_param *row, const vxs_json *list, void *values)
{
    bool fine = list->kind == VXS_JSON_ARRAY;
    for (const vxs_json *text = fine ? list->first : NULL; text && fine; text = text->next)
        fine = text->kind == VXS_JSON_TEXT && !vxs_param_set(row, values, text->text, NULL);
    return fine;
}

bool vxs_param_read(const vxs_param *row, const vxs_json *value, void *values)
{
    char number[VXS_REAL_TEXT];
    void *at = (char *)values + row->offset;
    bool is_text = row->type == VXS_PARAM_TEXT || row->type == VXS_PARAM_PATH;
    if (row->type == VXS_PARAM_FLAG) {
        *(bool *)at = value->number != 0;
        return value->kind == VXS_JSON_BOOL;
    }
    if (row->type == VXS_PARAM_TEXTS)
        return set_texts(row, value, values);
    if (value->kind == VXS_JSON_NULL)
        return !row->required;
    if (row->type == VXS_PARAM_WHOLE && value->number == 0 && isnan(row->initial))
        return value->kind == VXS_JSON_NUMBER; /* null: keeps the default */
    bool is_word = row->type == VXS_PARAM_WHOLE && row->choices && value->kind == VXS_JSON_TEXT;
    if (is_text || is_word || row->type == VXS_PARAM_CHOICE)
        return value->kind == VXS_JSON_TEXT && !vxs_param_set(row, values, value->text, NULL);
    return value->kind == VXS_JSON_NUMBER &&
           !vxs_param_set(row, values, vxs_real_text(value->number, number), NULL);
}
