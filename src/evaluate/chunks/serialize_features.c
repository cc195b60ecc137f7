/* serialize_features.c - the state of the feature files of a run, in checkpoints and parts. */
#include "evaluate/chunks/chunk.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = (VXS_HASH_TEXT - 1) / 8 };

/* Eight digits of a hash as a number. */
static void serialize_hash(vxs_serializer *p, char hash[VXS_HASH_TEXT])
{
    for (size_t k = 0; k < WORDS; k++) {
        char digits[9] = "";
        memcpy(digits, hash + 8 * k, 8);
        size_t word = p->from ? 0 : strtoul(digits, NULL, 16);
        vxs_serialize_size(p, &word, UINT32_MAX);
        snprintf(digits, sizeof(digits), "%08lx", (unsigned long)word & UINT32_MAX);
        memcpy(hash + 8 * k, digits, 8);
    }
    hash[VXS_HASH_TEXT - 1] = '\0';
}

static void serialize_whole(vxs_serializer *p, int64_t *value)
{
    double number = (double)*value;
    vxs_serialize_reals(p, &number, 1);
    *value = number >= -9e15 && number <= 9e15 ? (int64_t)number : 0;
}

void vxs_serialize_features(vxs_serializer *p, vxs_features_state *s)
{
    vxs_serialize_size(p, &s->count, VXS_FEATURES_FILES);
    for (size_t k = 0; k < s->count; k++) {
        int64_t size = (int64_t)s->file[k].size;
        serialize_whole(p, &size);
        s->file[k].size = (uint64_t)size;
        serialize_whole(p, &s->file[k].seconds);
        serialize_whole(p, &s->file[k].nanoseconds);
        serialize_hash(p, s->file[k].hash);
    }
}

/* ---- In part.json ---------------------------------------------------------------------------- */

void vxs_features_json_state(vxs_json_writer *w, const vxs_features_state *s)
{
    vxs_json_open_array(w, "features_files");
    for (size_t k = 0; k < s->count; k++) {
        vxs_json_open_object(w, NULL);
        vxs_json_text(w, "file", s->file[k].name);
        vxs_json_text(w, "sha256", s->file[k].hash);
        vxs_json_whole(w, "bytes", (int64_t)s->file[k].size);
        vxs_json_whole(w, "changed_seconds", s->file[k].seconds);
        vxs_json_whole(w, "changed_nanoseconds", s->file[k].nanoseconds);
        vxs_json_close_object(w);
    }
    vxs_json_close_array(w);
}

static bool read_whole(const vxs_json *object, const char *key, int64_t *value)
{
    double number = vxs_json_get_number(object, key);
    bool fine = number >= -9e15 && number <= 9e15;
    *value = fine ? (int64_t)number : 0;
    return fine;
}

vxs_status vxs_features_read(const vxs_json *about, const char *file, vxs_features_state *s,
                             vxs_error *err)
{
    const vxs_json *list = vxs_json_get(about, "features_files");
    bool fine = list && list->kind == VXS_JSON_ARRAY && list->length <= VXS_FEATURES_FILES;
    *s = (vxs_features_state){ .count = 0 };
    for (const vxs_json *item = fine ? list->first : NULL; item && fine; item = item->next) {
        vxs_features_file *f = &s->file[s->count++];
        const char *hash = vxs_json_get_text(item, "sha256");
        int64_t size = 0;
        fine = hash && strlen(hash) == VXS_HASH_TEXT - 1 && read_whole(item, "bytes", &size) &&
               size >= 0 && read_whole(item, "changed_seconds", &f->seconds) &&
               read_whole(item, "changed_nanoseconds", &f->nanoseconds);
        f->size = (uint64_t)size;
        snprintf(f->hash, sizeof(f->hash), "%s", fine ? hash : "");
    }
    return fine ? VXS_OK
                : vxs_fail(err, VXS_BAD_DATA, "'%s' does not say of which features it is", file);
}
