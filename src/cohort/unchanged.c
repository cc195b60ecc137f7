/* unchanged.c - checks that the open features are those a run started with.
 *
 * Results are combined over days and machines: a stopped run with its continuation, chunks of one
 * run. A file edited in between keeps its name and its cohort's description. Hashing every file in
 * every process can cost more than the computation, so a file with unchanged size and time of
 * change counts as unchanged; any other is hashed. */
#include "cohort/integrity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static vxs_status look_at(const vxs_cohort *c, const char *name, struct stat *about, vxs_error *err)
{
    char *path = vxs_format(err, "%s/%s", c->path, name);
    vxs_status status = path ? VXS_OK : VXS_FAILED;
    if (path && stat(path, about) != 0)
        status = vxs_fail(err, VXS_MISSING, "cannot read '%s': %s", path, strerror(errno));
    free(path);
    return status;
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec > b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec > b->tv_nsec);
}

/* Hashes the current bytes, once. */
static void hash_file(const vxs_cohort *c, size_t k, vxs_features_file *f)
{
    if (!f->hashed)
        vxs_sha256(c->npy[k].map, c->npy[k].map_size, NULL, 0, f->hash);
    f->hashed = true;
}

vxs_status vxs_features_read_state(const vxs_cohort *c, vxs_features_state *s, vxs_error *err)
{
    const vxs_json *files = vxs_cohort_record(c), *item = files ? files->first : NULL;
    struct stat described, about;
    vxs_status status = look_at(c, VXS_COHORT_FILE, &described, err);
    *s = (vxs_features_state){ .count = vxs_cohort_is_dense(c) ? 1 : VXS_FEATURES_FILES };
    for (size_t k = 0; k < s->count && !status; k++, item = item ? item->next : NULL) {
        vxs_features_file *f = &s->file[k];
        const char *recorded = vxs_json_get_text(item, "sha256");
        f->name = vxs_features_name(c, k);
        status = look_at(c, f->name, &about, err);
        if (status)
            return status;
        f->size = (uint64_t)about.st_size;
        f->seconds = (int64_t)about.st_mtim.tv_sec;
        f->nanoseconds = (int64_t)about.st_mtim.tv_nsec;
        if (!recorded || is_later(&about.st_mtim, &described.st_mtim))
            hash_file(c, k, f); /* cohort.json is written last */
        else
            snprintf(f->hash, sizeof(f->hash), "%s", recorded);
    }
    return status;
}

static bool same_stamp(const vxs_features_file *a, const vxs_features_file *b)
{
    return a->size == b->size && a->seconds == b->seconds && a->nanoseconds == b->nanoseconds;
}

vxs_status vxs_features_check_unchanged(const vxs_cohort *c, vxs_features_state *now,
                                        const vxs_features_state *then, const char *made,
                                        vxs_error *err)
{
    if (now->count != then->count)
        return vxs_fail(err, VXS_BAD_DATA,
                        "'%s' was computed from features in %zu files, and '%s' has them in %zu",
                        made, then->count, c->path, now->count);
    for (size_t k = 0; k < now->count; k++) {
        vxs_features_file *f = &now->file[k];
        if (same_stamp(f, &then->file[k]))
            continue;
        hash_file(c, k, f);
        if (strcmp(f->hash, then->file[k].hash) != 0)
            return vxs_fail(err, VXS_BAD_DATA,
                            "'%s/%s' is not what '%s' was computed from: its SHA-256 is %.12s..., "
                            "and was %.12s...",
                            c->path, f->name, made, f->hash, then->file[k].hash);
    }
    return VXS_OK;
}
