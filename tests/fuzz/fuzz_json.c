/* fuzz_json.c - what is read can be written, and read again as the same. */
#include "tests/fuzz/fuzz.h"

static void write_value(vxs_json_writer *w, const vxs_json *v)
{
    if (v->kind == VXS_JSON_ARRAY || v->kind == VXS_JSON_OBJECT) {
        bool array = v->kind == VXS_JSON_ARRAY;
        size_t members = 0;
        (array ? vxs_json_open_array : vxs_json_open_object)(w, v->key);
        for (const vxs_json *m = v->first; m; m = m->next, members++) {
            HOLDS((m->key != NULL) != array);
            HOLDS(array || vxs_json_get(v, m->key) == m);
            write_value(w, m);
        }
        HOLDS(members == v->length);
        (array ? vxs_json_close_array : vxs_json_close_object)(w);
    } else if (v->kind == VXS_JSON_NUMBER) {
        vxs_json_real(w, v->key, v->number);
    } else if (v->kind == VXS_JSON_BOOL) {
        vxs_json_bool(w, v->key, v->number != 0);
    } else {
        vxs_json_text(w, v->key, v->text);
    }
}

static char *rewrite(const vxs_json *root, size_t *length)
{
    char *text = NULL;
    vxs_json_writer writer;
    FILE *stream = open_memstream(&text, length);
    HOLDS(stream);
    vxs_json_init(&writer, stream);
    write_value(&writer, root);
    HOLDS(fclose(stream) == 0);
    return text;
}

int fuzz_json(const uint8_t *bytes, size_t size)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_json *root = NULL, *again = NULL;
    size_t once = 0, twice = 0;
    if (vxs_json_parse((const char *)bytes, size, "fuzz", &root, &err)) {
        REFUSED_WELL(err);
        return 0;
    }
    char *text = rewrite(root, &once);
    HOLDS(vxs_json_parse(text, once, "again", &again, &err) == VXS_OK);
    char *same = rewrite(again, &twice);
    HOLDS(once == twice && memcmp(text, same, once) == 0);
    free(same);
    free(text);
    vxs_json_free(again);
    vxs_json_free(root);
    return 0;
}

FUZZER(fuzz_json)
