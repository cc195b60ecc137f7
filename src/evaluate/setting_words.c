/* setting_words.c - settings in the JSON of results: whether two agree, and in words. */
#include "evaluate/evaluate.h"

#include <stdlib.h>
#include <string.h>

bool vxs_same_setting(const vxs_json *a, const vxs_json *b)
{
    if (!a || !b || a->kind != b->kind || a->length != b->length)
        return false;
    const vxs_json *left = a->first, *right = b->first;
    for (; left && right; left = left->next, right = right->next)
        if (!vxs_same_setting(left, right))
            return false;
    return a->kind == VXS_JSON_TEXT ? strcmp(a->text, b->text) == 0 : a->number == b->number;
}

char *vxs_setting_words(const vxs_json *value, vxs_error *err)
{
    char number[VXS_REAL_TEXT];
    if (!value || value->kind == VXS_JSON_NULL || (value->kind == VXS_JSON_ARRAY && !value->first))
        return vxs_format(err, "not given");
    if (value->kind == VXS_JSON_TEXT)
        return vxs_format(err, "%s", value->text);
    if (value->kind == VXS_JSON_BOOL)
        return vxs_format(err, "%s", value->number != 0 ? "given" : "not given");
    if (value->kind != VXS_JSON_ARRAY)
        return vxs_format(err, "%s", vxs_real_text(value->number, number));
    char *list = vxs_setting_words(value->first, err);
    for (const vxs_json *next = value->first->next; next && list; next = next->next) {
        char *before = list, *one = vxs_setting_words(next, err);
        list = one ? vxs_format(err, "%s, %s", before, one) : NULL;
        free(one);
        free(before);
    }
    return list;
}
