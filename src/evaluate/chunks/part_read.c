/* part_read.c - the parts of a run, validated and compared with each other. */
#include "evaluate/chunks/chunk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void vxs_parts_release(vxs_parts *parts)
{
    for (size_t k = 0; parts->each && k < parts->count; k++) {
        vxs_json_free(parts->each[k].about);
        free(parts->each[k].numbers);
    }
    free(parts->each);
    *parts = (vxs_parts){ .count = 0 };
}

#define SAME 1e-6 /* of the observed value: far above rounding, far below another target */

/* ---- One part -------------------------------------------------------------------------------- */

/* `part-*` in a shell finds the checkpoints beside the parts as well. */
vxs_status vxs_part_check_finished(const char *path, vxs_error *err)
{
    static const char end[] = ".checkpoint";
    struct stat about;
    size_t length = strlen(path);
    if (length < sizeof(end) || strcmp(path + length - (sizeof(end) - 1), end) != 0 ||
        stat(path, &about) != 0 || !S_ISREG(about.st_mode))
        return VXS_OK;
    return vxs_fail(err, VXS_BAD_DATA,
                    "'%s' is the checkpoint of a run that has not finished '%.*s': repeat that "
                    "with --resume first",
                    path, (int)(length - (sizeof(end) - 1)), path);
}

static vxs_status read_about(vxs_part *part, vxs_error *err)
{
    char *file = vxs_format(err, "%s/%s", part->path, VXS_PART_FILE);
    vxs_status status = file ? vxs_part_check_finished(part->path, err) : VXS_FAILED;
    if (!status)
        status = vxs_folder_check(part->path, VXS_PART_FILE, err);
    if (!status)
        status = vxs_json_read(file, &part->about, err);
    double number = vxs_json_get_number(part->about, "chunk"),
           count = vxs_json_get_number(part->about, "chunks");
    if (!status)
        status = vxs_json_check_format(part->about, file, "voxsift part", err);
    if (!status &&
        !(number >= 1 && number <= count && count <= VXS_MAX_CHUNKS && number == floor(number) &&
          count == floor(count) && vxs_json_get_text(part->about, "kind") &&
          vxs_json_get_text(part->about, "fingerprint")))
        status =
            vxs_fail(err, VXS_BAD_DATA, "'%s' does not say of which run and chunk it is", file);
    if (!status && !(vxs_json_get_number(part->about, "seconds") >= 0))
        status = vxs_fail(err, VXS_BAD_DATA, "'%s' does not say how many seconds it took", file);
    if (!status)
        part->chunk = (vxs_chunk){ (size_t)number, (size_t)count };
    free(file);
    return status;
}

static vxs_status read_numbers(vxs_part *part, vxs_error *err)
{
    vxs_npy n = { .count = 0 };
    char hash[VXS_HASH_TEXT], *file = vxs_format(err, "%s/%s", part->path, VXS_NUMBERS_FILE);
    const char *requested = vxs_json_get_text(part->about, "numbers_sha256");
    vxs_status status = file ? vxs_npy_open(file, &n, err) : VXS_FAILED;
    if (!status && (n.kind != 'f' || n.item_size != 8 || n.ndim != 1))
        status = vxs_fail(err, VXS_BAD_DATA, "'%s' is no list of 64-bit numbers", file);
    part->numbers = status ? NULL : vxs_alloc(n.count + 1, sizeof(*part->numbers), err);
    if (!status && !part->numbers)
        status = VXS_FAILED;
    for (; !status && part->count < n.count; part->count++)
        part->numbers[part->count] = vxs_npy_item(&n, part->count);
    if (!status) {
        vxs_sha256(part->numbers, part->count * sizeof(*part->numbers), "", 0, hash);
        if (!requested || strcmp(hash, requested) != 0)
            status = vxs_fail(err, VXS_BAD_DATA,
                              "'%s' is not as it was written: its SHA-256 is "
                              "not that of '%s'",
                              file, VXS_PART_FILE);
    }
    vxs_npy_release(&n);
    free(file);
    return status;
}

/* ---- All of them ----------------------------------------------------------------------------- */

static vxs_status report_setting(const vxs_part *a, const vxs_part *b, const vxs_json *mine,
                                 const vxs_json *theirs, vxs_error *err)
{
    char *one = vxs_setting_words(mine, err), *other = one ? vxs_setting_words(theirs, err) : NULL;
    if (other)
        (void)vxs_fail(err, VXS_BAD_DATA,
                       "'%s' and '%s' are of different runs: %s is %s in one and %s in the other",
                       a->path, b->path, mine->key, one, other);
    free(other);
    free(one);
    return err->status;
}

/* Two parts of the same kind with other fingerprints: which setting it is. */
static vxs_status report_difference(const vxs_part *a, const vxs_part *b, vxs_error *err)
{
    for (const vxs_json *group = a->about->first; group; group = group->next) {
        const vxs_json *theirs = vxs_json_get(b->about, group->key);
        for (const vxs_json *m = group->kind == VXS_JSON_OBJECT ? group->first : NULL; m;
             m = m->next)
            if (!vxs_same_setting(m, vxs_json_get(theirs, m->key)))
                return report_setting(a, b, m, vxs_json_get(theirs, m->key), err);
    }
    return vxs_fail(err, VXS_BAD_DATA,
                    "'%s' and '%s' are of different runs: the cohort, its table, a table that an "
                    "option names, or the version of voxsift",
                    a->path, b->path);
}

/* Of permutations: what the observed target comes to is the same to rounding, which may differ
 * between processors. */
static vxs_status check_observed(const vxs_part *a, const vxs_part *b, vxs_error *err)
{
    double one = vxs_json_get_number(a->about, "observed"),
           other = vxs_json_get_number(b->about, "observed");
    if ((isnan(one) && isnan(other)) || fabs(one - other) <= SAME * fmax(fabs(one), fabs(other)))
        return VXS_OK;
    return vxs_fail(err, VXS_BAD_DATA,
                    "'%s' and '%s' are of different runs: the observed target comes to %.10g in "
                    "one and %.10g in the other",
                    a->path, b->path, one, other);
}

static vxs_status check_same(const vxs_part *a, const vxs_part *b, vxs_error *err)
{
    const char *kind = vxs_json_get_text(a->about, "kind"),
               *other = vxs_json_get_text(b->about, "kind");
    if (strcmp(kind, other) != 0)
        return vxs_fail(err, VXS_BAD_DATA, "'%s' is of 'voxsift %s', but '%s' of 'voxsift %s'",
                        a->path, kind, b->path, other);
    if (a->chunk.count != b->chunk.count)
        return vxs_fail(err, VXS_BAD_DATA, "'%s' is one of %zu chunks, but '%s' one of %zu",
                        a->path, a->chunk.count, b->path, b->chunk.count);
    return strcmp(vxs_json_get_text(a->about, "fingerprint"),
                  vxs_json_get_text(b->about, "fingerprint")) == 0
               ? check_observed(a, b, err)
               : report_difference(a, b, err);
}

static int by_chunk(const void *a, const void *b)
{
    size_t left = ((const vxs_part *)a)->chunk.number, right = ((const vxs_part *)b)->chunk.number;
    return (left > right) - (left < right);
}

/* Sorted, so that part k should be chunk k + 1. */
static vxs_status check_chunks(const vxs_parts *parts, vxs_error *err)
{
    size_t requested = parts->each[0].chunk.count;
    for (size_t k = 0; k + 1 < parts->count; k++)
        if (parts->each[k].chunk.number == parts->each[k + 1].chunk.number)
            return vxs_fail(err, VXS_BAD_DATA, "chunk %zu is there twice: '%s' and '%s'",
                            parts->each[k].chunk.number, parts->each[k].path,
                            parts->each[k + 1].path);
    for (size_t k = 0; k < requested; k++)
        if (k >= parts->count || parts->each[k].chunk.number != k + 1)
            return vxs_fail(err, VXS_BAD_DATA, "chunk %zu of %zu is missing", k + 1, requested);
    return VXS_OK;
}

static vxs_status find_kind(vxs_parts *parts, vxs_error *err)
{
    const char *kind = vxs_json_get_text(parts->each[0].about, "kind");
    for (int k = 0; vxs_run_kinds[k].name; k++)
        if (strcmp(vxs_run_kinds[k].name, kind) == 0) {
            parts->kind = k;
            return VXS_OK;
        }
    return vxs_fail(err, VXS_BAD_DATA, "'%s' is of 'voxsift %s', which is not known here",
                    parts->each[0].path, kind);
}

static vxs_status read_all(const char *const *paths, vxs_parts *parts, vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (size_t k = 0; k < parts->count && !status; k++) {
        vxs_part *part = &parts->each[k];
        part->path = paths[k];
        status = read_about(part, err);
        if (!status)
            status = read_numbers(part, err);
        if (!status && k > 0)
            status = check_same(&parts->each[0], part, err);
        parts->seconds += vxs_json_get_number(part->about, "seconds");
    }
    return status;
}

vxs_status vxs_parts_read(const char *const *paths, vxs_parts *parts, vxs_error *err)
{
    *parts = (vxs_parts){ .count = 0 };
    while (paths[parts->count])
        parts->count++;
    parts->each = vxs_alloc(parts->count, sizeof(*parts->each), err);
    vxs_status status = parts->each ? read_all(paths, parts, err) : VXS_FAILED;
    if (!status) {
        qsort(parts->each, parts->count, sizeof(*parts->each), by_chunk);
        parts->observed = vxs_json_get_number(parts->each[0].about, "observed");
        status = check_chunks(parts, err);
    }
    if (!status)
        status = find_kind(parts, err);
    if (status)
        vxs_parts_release(parts);
    return status;
}

vxs_status vxs_parts_classes(const vxs_parts *parts, size_t count, vxs_class_scores *classes,
                             vxs_error *err)
{
    const vxs_part *first = &parts->each[0];
    const vxs_json *list = vxs_json_get(first->about, "observed_classes");
    *classes = (vxs_class_scores){ .count = 0 };
    if (count == 0)
        return VXS_OK;
    if (!list || list->kind != VXS_JSON_ARRAY || list->length != vxs_class_scores_size(count))
        return vxs_fail(err, VXS_BAD_DATA, "'%s/%s' has no list 'observed_classes' of %zu numbers",
                        first->path, VXS_PART_FILE, vxs_class_scores_size(count));
    vxs_status status = vxs_class_scores_new(count, classes, err);
    const vxs_json *item = list->first;
    for (size_t k = 0; item && !status; k++, item = item->next)
        classes->confusion[k] = item->kind == VXS_JSON_NUMBER ? item->number : NAN;
    return status;
}

static vxs_status unpack_part(const vxs_part *part, const vxs_parts *parts, size_t units,
                              vxs_serialize_unit *serialize_unit, void *what, vxs_error *err)
{
    char *file = vxs_format(err, "%s/%s", part->path, VXS_NUMBERS_FILE);
    vxs_serializer serializer = {
        .from = part->numbers, .count = part->count, .name = file, .err = err
    };
    size_t first = 0, end = 0;
    vxs_status status = file ? vxs_chunk_share(part->chunk, units, vxs_run_kinds[parts->kind].units,
                                               &first, &end, err)
                             : VXS_FAILED;
    for (size_t k = first; k < end && !status; k++) {
        serialize_unit(&serializer, what, k);
        status = serializer.status;
    }
    if (!status)
        status = vxs_serialize_end(&serializer);
    free(file);
    return status;
}

vxs_status vxs_parts_unpack(const vxs_parts *parts, size_t units,
                            vxs_serialize_unit *serialize_unit, void *what, vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (size_t k = 0; k < parts->count && !status; k++)
        status = unpack_part(&parts->each[k], parts, units, serialize_unit, what, err);
    return status;
}
