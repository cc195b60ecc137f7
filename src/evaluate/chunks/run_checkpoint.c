/* run_checkpoint.c - the finished units of a run, in a checkpoint for --resume.
 *
 * Records: the unit's number, how many numbers it has, these, and their SHA-256. A record that was
 * not written whole is the last one; it is cut off. The first record, written with that of the
 * first unit, says of which features all are (serialize_features.c). Bytes before it that are no
 * record are passed over up to the next whole one, which is said: their units are computed again.
 */
#include "evaluate/chunks/chunk.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct vxs_run_checkpoint {
    vxs_checkpoint *checkpoint;
    const char *path;
    FILE *stream; /* belongs to the checkpoint */
    pthread_mutex_t lock;
    double **numbers; /* of units that were there when it was opened; NULL: not */
    size_t *count;
    size_t units, kept;
    vxs_features_state features; /* as they are now */
    double *then;                /* as they were; NULL: nothing is recorded */
    size_t then_count;
};

typedef struct {
    uint64_t unit, count;
} head;
#define FEATURES_UNIT ((uint64_t)UINT32_MAX)  /* the record of features */
enum { HASH = VXS_HASH_TEXT - 1, EIGHT = 8 }; /* records are as long as so many eights of bytes */

static vxs_status cannot_write(const vxs_run_checkpoint *l, vxs_error *err)
{
    return vxs_fail(err, VXS_CANNOT_WRITE, "cannot write '%s': %s", l->path, strerror(errno));
}

/* ---- Going on -------------------------------------------------------------------------------- */

/* Units that this run does not have, such as permutations beyond the last, are passed over. */
static void keep(vxs_run_checkpoint *l, const head *h, double *numbers)
{
    if (h->unit == FEATURES_UNIT && !l->then) {
        l->then = numbers;
        l->then_count = h->count;
    } else if (h->unit < l->units && !l->numbers[h->unit]) {
        l->numbers[h->unit] = numbers;
        l->count[h->unit] = h->count;
        l->kept++;
    } else {
        free(numbers);
    }
}

static bool read_head(vxs_run_checkpoint *l, long at, head *h)
{
    return fseek(l->stream, at, SEEK_SET) == 0 && fread(h, sizeof(*h), 1, l->stream) == 1;
}

/* Whether so many numbers and their hash have room behind a head. */
static bool has_room(const head *h, long left)
{
    uint64_t others = sizeof(*h) + HASH, room = (uint64_t)left;
    return room >= others && h->count <= (room - others) / sizeof(double);
}

/* `whole` is false where no whole record stands. */
static vxs_status read_record(vxs_run_checkpoint *l, long at, long length, bool *whole,
                              vxs_error *err)
{
    head h;
    char hash[VXS_HASH_TEXT] = "", now[VXS_HASH_TEXT];
    *whole = read_head(l, at, &h) && has_room(&h, length - at);
    if (!*whole)
        return VXS_OK;
    double *numbers = vxs_alloc(h.count + 1, sizeof(*numbers), err);
    if (!numbers)
        return VXS_FAILED;
    *whole = fread(numbers, sizeof(*numbers), h.count, l->stream) == h.count &&
             fread(hash, HASH, 1, l->stream) == 1;
    if (*whole)
        vxs_sha256(&h, sizeof(h), numbers, h.count * sizeof(*numbers), now);
    *whole = *whole && strcmp(now, hash) == 0;
    if (*whole)
        keep(l, &h, numbers);
    else
        free(numbers);
    return VXS_OK;
}

/* What stands in a file: whole records up to `end`, and what is none between them. */
typedef struct {
    long length, end, lost;
    size_t places;
} content;

static vxs_status read_records(vxs_run_checkpoint *l, content *c, vxs_error *err)
{
    vxs_status status = VXS_OK;
    long at = c->end;
    while (at < c->length && !status) {
        bool whole = false;
        status = read_record(l, at, c->length, &whole, err);
        if (whole && at > c->end) {
            c->places++;
            c->lost += at - c->end;
        }
        at = whole ? ftell(l->stream) : at + EIGHT;
        c->end = whole ? at : c->end;
    }
    return status;
}

/* A run that was killed leaves the beginning of a record at the end; anything else is damage. */
static void look_at_rest(vxs_run_checkpoint *l, content *c)
{
    head h;
    long rest = c->length - c->end;
    if (rest == 0 || !read_head(l, c->end, &h) ||
        (!has_room(&h, rest) && h.unit <= UINT32_MAX && h.count <= UINT32_MAX))
        return;
    c->places++;
    c->lost += rest;
}

static vxs_status read_all(const vxs_context *context, vxs_run_checkpoint *l, vxs_error *err)
{
    content c = { .end = ftell(l->stream) };
    if (fseek(l->stream, 0, SEEK_END) != 0 || (c.length = ftell(l->stream)) < 0)
        return vxs_fail(err, VXS_BAD_DATA, "cannot read '%s': %s", l->path, strerror(errno));
    vxs_status status = read_records(l, &c, err);
    if (status)
        return status;
    look_at_rest(l, &c);
    if (c.places > 0)
        vxs_log(context, VXS_LOG_WARNING,
                "'%s' is damaged in %zu places: %ld bytes that were records are dropped, and "
                "computed again",
                l->path, c.places, c.lost);
    if (ftruncate(fileno(l->stream), c.end) != 0 || fseek(l->stream, c.end, SEEK_SET) != 0)
        return cannot_write(l, err);
    return VXS_OK;
}

/* ---- Open and close -------------------------------------------------------------------------- */

void vxs_run_checkpoint_close(vxs_run_checkpoint *l)
{
    if (!l)
        return;
    for (size_t k = 0; l->numbers && k < l->units; k++)
        free(l->numbers[k]);
    free((void *)l->numbers);
    free(l->count);
    free(l->then);
    free(l);
}

/* Units that are there are of the features as they are now. Where their record was lost, all are
 * dropped. */
static vxs_status check_features(const vxs_run *run, vxs_run_checkpoint *l, vxs_error *err)
{
    vxs_features_state then = { .count = 0 };
    vxs_serializer serializer = {
        .from = l->then, .count = l->then_count, .name = l->path, .err = err
    };
    if (l->kept == 0)
        return VXS_OK;
    if (!l->then)
        return vxs_fail(err, VXS_BAD_DATA,
                        "'%s' is damaged: it does not say of which features it is; pass --force "
                        "without --resume to discard it",
                        l->path);
    vxs_serialize_features(&serializer, &then);
    vxs_status status = vxs_serialize_end(&serializer);
    return status
               ? status
               : vxs_features_check_unchanged(run->task->cohort, &l->features, &then, l->path, err);
}

vxs_status vxs_run_checkpoint_open(const vxs_context *context, const vxs_chunking *chunking,
                                   const vxs_run *run, size_t units,
                                   vxs_run_checkpoint **checkpoint, vxs_error *err)
{
    *checkpoint = NULL;
    if (!chunking->checkpoint)
        return VXS_OK;
    vxs_run_checkpoint *l = vxs_alloc(1, sizeof(*l), err);
    if (!l)
        return VXS_FAILED;
    *l = (vxs_run_checkpoint){ .checkpoint = chunking->checkpoint,
                               .path = vxs_checkpoint_path(chunking->checkpoint),
                               .lock = PTHREAD_MUTEX_INITIALIZER,
                               .units = units };
    char *identity = vxs_run_fingerprint(run, err);
    l->numbers = vxs_alloc(units, sizeof(*l->numbers), err);
    l->count = vxs_alloc(units, sizeof(*l->count), err);
    vxs_status status = identity && l->numbers && l->count ? VXS_OK : VXS_FAILED;
    if (!status)
        status = vxs_checkpoint_begin(l->checkpoint, identity, &l->stream, err);
    if (!status)
        status = vxs_features_read_state(run->task->cohort, &l->features, err);
    if (!status)
        status = read_all(context, l, err);
    if (!status)
        status = check_features(run, l, err);
    if (!status && l->kept > 0)
        vxs_log(context, VXS_LOG_INFO, "going on from '%s', which has %zu of up to %zu", l->path,
                l->kept, l->units);
    free(identity);
    if (status)
        vxs_run_checkpoint_close(l);
    else
        *checkpoint = l;
    return status;
}

/* ---- Units ----------------------------------------------------------------------------------- */

vxs_status vxs_run_checkpoint_find(const vxs_run_checkpoint *l, size_t unit,
                                   vxs_serialize_unit *serialize_unit, void *what, bool *found,
                                   vxs_error *err)
{
    *found = l && l->numbers[unit];
    if (!*found)
        return VXS_OK;
    vxs_serializer serializer = {
        .from = l->numbers[unit], .count = l->count[unit], .name = l->path, .err = err
    };
    serialize_unit(&serializer, what, unit);
    return vxs_serialize_end(&serializer);
}

static vxs_status append(vxs_run_checkpoint *l, uint64_t unit, const vxs_serializer *serializer,
                         vxs_error *err)
{
    head h = { unit, serializer->count };
    char hash[VXS_HASH_TEXT];
    vxs_sha256(&h, sizeof(h), serializer->numbers, serializer->count * sizeof(*serializer->numbers),
               hash);
    bool fine = fwrite(&h, sizeof(h), 1, l->stream) == 1 &&
                fwrite(serializer->numbers, sizeof(double), serializer->count, l->stream) ==
                    serializer->count &&
                fwrite(hash, sizeof(hash) - 1, 1, l->stream) == 1 &&
                vxs_checkpoint_flush(l->checkpoint);
    return fine ? VXS_OK : cannot_write(l, err);
}

static vxs_status append_features(vxs_run_checkpoint *l, vxs_error *err)
{
    vxs_serializer serializer = { .err = err };
    vxs_serialize_features(&serializer, &l->features);
    vxs_status status =
        serializer.status ? serializer.status : append(l, FEATURES_UNIT, &serializer, err);
    l->then = serializer.numbers;
    l->then_count = serializer.count;
    return status;
}

vxs_status vxs_run_checkpoint_add(vxs_run_checkpoint *l, size_t unit,
                                  vxs_serialize_unit *serialize_unit, void *what, vxs_error *err)
{
    if (!l)
        return VXS_OK;
    vxs_serializer serializer = { .err = err };
    serialize_unit(&serializer, what, unit);
    vxs_status status = serializer.status;
    if (!status) {
        pthread_mutex_lock(&l->lock);
        status = l->then ? VXS_OK : append_features(l, err);
        if (!status)
            status = append(l, unit, &serializer, err);
        pthread_mutex_unlock(&l->lock);
    }
    free(serializer.numbers);
    return status;
}
