/* checkpoint.c - the checkpoint file of a run: its identity and its lock.
 *
 * A title line, a line with the identity of the run, then records of any content. The file gets its
 * name after it is locked and has its first line, so no other run ever finds it empty. The lock
 * belongs to the open file (F_OFD_SETLK), ends with the process, and works across machines if the
 * network file system has locks. */
#include "core/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAGIC  "voxsift checkpoint "
#define TITLE  MAGIC "2\n"
#define HEADER ((off_t)(sizeof(TITLE) - 1 + VXS_HASH_TEXT)) /* the identity and a line end */

struct vxs_checkpoint {
    vxs_place place;
    int handle;
    FILE *stream; /* opened by _begin */
    unsigned how;
    bool of_another; /* of another run: its records cannot be used */
    double synced;   /* time of the last fsync */
};

const char *vxs_checkpoint_path(const vxs_checkpoint *checkpoint)
{
    return checkpoint->place.path;
}

static vxs_status cannot_write(const vxs_checkpoint *c, vxs_error *err)
{
    return vxs_place_refuse(&c->place, strerror(errno), err);
}

static off_t size_of(const vxs_checkpoint *c)
{
    struct stat about;
    return fstat(c->handle, &about) == 0 ? about.st_size : 0;
}

/* True for anything but the one or two lines before the first record. */
static bool has_records(const vxs_checkpoint *c)
{
    char header[sizeof(TITLE) + VXS_HASH_TEXT] = "";
    off_t size = size_of(c), line = (off_t)strlen(TITLE);
    return (size != line && size != HEADER) ||
           pread(c->handle, header, (size_t)size, 0) != (ssize_t)size ||
           memcmp(header, TITLE, strlen(TITLE)) != 0 || header[size - 1] != '\n';
}

bool vxs_checkpoint_has_work(const vxs_checkpoint *checkpoint)
{
    return has_records(checkpoint);
}

/* Tests whether the name still refers to the open file. */
static bool is_in_place(const vxs_checkpoint *c)
{
    struct stat here, there;
    return fstat(c->handle, &here) == 0 &&
           fstatat(c->place.folder, c->place.name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

/* ---- The lock -------------------------------------------------------------------------------- */

static vxs_status lock(const vxs_checkpoint *c, vxs_error *err)
{
    struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    if (fcntl(c->handle, F_OFD_SETLK, &whole) == 0)
        return VXS_OK;
    if (errno == EAGAIN || errno == EACCES)
        return vxs_fail(err, VXS_CANNOT_WRITE,
                        "'%s' is locked by another run with the same --out, which is under way",
                        c->place.path);
    vxs_log(c->place.context, VXS_LOG_CAUTION,
            "'%s' cannot be locked (%s): nothing would stop a second run with the same --out",
            c->place.path, strerror(errno));
    return VXS_OK;
}

/* ---- An existing file ------------------------------------------------------------------------ */

/* Matches the first line of any version: the magic words and a number. */
static bool is_title(const char *start)
{
    size_t words = strlen(MAGIC), digits;
    if (strncmp(start, MAGIC, words) != 0)
        return false;
    digits = strspn(start + words, "0123456789");
    return digits > 0 && start[words + digits] == '\n';
}

static vxs_status check_magic(const vxs_checkpoint *c, vxs_error *err)
{
    char start[sizeof(MAGIC) + 10] = "";
    struct stat about;
    if (fstat(c->handle, &about) != 0)
        return cannot_write(c, err);
    if (S_ISREG(about.st_mode) && pread(c->handle, start, sizeof(start) - 1, 0) > 0 &&
        is_title(start))
        return VXS_OK;
    return vxs_place_refuse(
        &c->place, "it exists and is no checkpoint of voxsift; choose another --out, or move it",
        err);
}

/* `found` is false when there is none or it has disappeared. */
static vxs_status open_there(vxs_checkpoint *c, bool *found, vxs_error *err)
{
    *found = false;
    c->handle =
        openat(c->place.folder, c->place.name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (c->handle < 0 && errno == ENOENT)
        return VXS_OK;
    if (c->handle < 0 && errno == ELOOP)
        return vxs_place_refuse(&c->place, "it is a symbolic link, which is never followed", err);
    if (c->handle < 0)
        return cannot_write(c, err);
    vxs_status status = check_magic(c, err);
    if (!status)
        status = lock(c, err);
    if (!status && has_records(c) && !c->how)
        status = vxs_fail(err, VXS_CANNOT_WRITE,
                          "'%s' has what a run that was stopped had finished: pass --resume to go "
                          "on from it, or --force to discard it",
                          c->place.path);
    *found = !status && is_in_place(c);
    if (!status && !*found) { /* its run has ended meanwhile */
        (void)close(c->handle);
        c->handle = -1;
    }
    return status;
}

/* ---- A new file ------------------------------------------------------------------------------ */

/* `made` is false when another process was faster. */
static vxs_status make(vxs_checkpoint *c, bool *made, vxs_error *err)
{
    const vxs_context *context = c->place.context;
    *made = false;
    vxs_status status = vxs_place_make(&c->place, false, &c->handle, err);
    if (!status)
        status = lock(c, err);
    if (!status && (write(c->handle, TITLE, strlen(TITLE)) != (ssize_t)strlen(TITLE) ||
                    !vxs_sync(context, c->handle)))
        status = cannot_write(c, err);
    if (!status) {
        *made = vxs_place_move_in(&c->place, false);
        if (!*made && errno != EEXIST)
            status = vxs_place_not_moved(&c->place, err);
    }
    if (*made && !vxs_sync(context, c->place.folder))
        status = cannot_write(c, err);
    if (!*made && c->handle >= 0) {
        (void)close(c->handle);
        c->handle = -1;
    }
    if (c->place.taken)
        (void)unlinkat(c->place.folder, c->place.work, 0);
    c->place.taken = false;
    return status;
}

vxs_status vxs_checkpoint_open(const vxs_context *context, const char *path, unsigned how,
                               vxs_checkpoint **checkpoint, vxs_error *err)
{
    bool found = false;
    *checkpoint = NULL;
    vxs_checkpoint *c = vxs_alloc(1, sizeof(*c), err);
    if (!c)
        return VXS_FAILED;
    c->handle = -1;
    c->how = how;
    vxs_status status = vxs_place_init(&c->place, context, path, err);
    while (!status && !found) { /* terminates: each iteration another run has begun or ended */
        status = open_there(c, &found, err);
        if (!status && !found)
            status = make(c, &found, err);
    }
    if (!status) {
        *checkpoint = c;
        return VXS_OK;
    }
    if (c->handle >= 0)
        (void)close(c->handle);
    vxs_place_release(&c->place);
    free(c);
    return status;
}

/* ---- Records --------------------------------------------------------------------------------- */

static bool is_of(const vxs_checkpoint *c, const char *identity)
{
    char header[sizeof(TITLE) + VXS_HASH_TEXT] = "";
    return pread(c->handle, header, (size_t)HEADER, 0) == (ssize_t)HEADER &&
           memcmp(header, TITLE, strlen(TITLE)) == 0 && header[HEADER - 1] == '\n' &&
           memcmp(header + strlen(TITLE), identity, strlen(identity)) == 0;
}

/* Discards records before writing the identity, and never removes the first line: a run that is
 * killed in between leaves a checkpoint without records, usable by any run. */
static vxs_status discard_records(vxs_checkpoint *c, const char *identity, vxs_error *err)
{
    char header[sizeof(TITLE) + VXS_HASH_TEXT];
    const off_t line = (off_t)strlen(TITLE);
    struct stat about;
    snprintf(header, sizeof(header), "%s%s\n", TITLE, identity);
    if (has_records(c) && fstat(c->handle, &about) == 0 && about.st_nlink > 1)
        return vxs_place_refuse(&c->place,
                                "it has another name (a hard link), under which it would be "
                                "discarded as well; remove one of them",
                                err);
    errno = ENOSPC; /* reason of a short write */
    if (ftruncate(c->handle, line) == 0 &&
        pwrite(c->handle, header, (size_t)HEADER, 0) == (ssize_t)HEADER &&
        vxs_sync(c->place.context, c->handle))
        return VXS_OK;
    vxs_status status = cannot_write(c, err);
    (void)!ftruncate(c->handle, line);
    return status;
}

vxs_status vxs_checkpoint_begin(vxs_checkpoint *c, const char *identity, FILE **stream,
                                vxs_error *err)
{
    vxs_status status = VXS_OK;
    bool resume = c->how & VXS_RESUME, goes_on = resume && has_records(c);
    c->of_another = goes_on && !is_of(c, identity);
    if (c->of_another)
        return vxs_fail(err, VXS_BAD_DATA,
                        "'%s' is of another run: the cohort, the options or the version of voxsift "
                        "differ; pass --force without --resume to discard it",
                        c->place.path);
    if (resume && !goes_on)
        vxs_log(c->place.context, c->how & VXS_RESUME_ANY ? VXS_LOG_INFO : VXS_LOG_WARNING,
                "there is no '%s' to resume from: starting from the beginning", c->place.path);
    if (!goes_on)
        status = discard_records(c, identity, err);
    if (!status && !c->stream && !(c->stream = fdopen(c->handle, "r+b")))
        status = vxs_fail(err, VXS_FAILED, "not enough memory to read '%s'", c->place.path);
    if (!status && fseek(c->stream, (long)HEADER, SEEK_SET) != 0)
        status = cannot_write(c, err);
    if (!status)
        *stream = c->stream;
    return status;
}

bool vxs_checkpoint_flush(vxs_checkpoint *c)
{
    double now = vxs_seconds();
    if (fflush(c->stream) != 0)
        return false;
    if (now - c->synced < VXS_CHECKPOINT_SECONDS)
        return true;
    c->synced = now;
    return vxs_sync(c->place.context, c->handle);
}

bool vxs_checkpoint_close(vxs_checkpoint *c, bool finished)
{
    if (!c)
        return false;
    if (c->stream)
        (void)fflush(c->stream); /* unwritten records are absent on resume */
    bool stays = !finished && has_records(c), useful = stays && !c->of_another;
    if (stays)
        (void)vxs_sync(c->place.context, c->handle);
    else if (is_in_place(c)) /* while the lock is held, so that it is never another run's file */
        (void)unlinkat(c->place.folder, c->place.name, 0);
    if (c->stream)
        (void)fclose(c->stream);
    else
        (void)close(c->handle);
    vxs_place_release(&c->place);
    free(c);
    return useful;
}
