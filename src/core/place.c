/* place.c - the target of an output, and its replacement. */
#include "core/place.h"
#include "voxsift/internal/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

vxs_status vxs_place_refuse(const vxs_place *place, const char *reason, vxs_error *err)
{
    return vxs_fail(err, VXS_CANNOT_WRITE, "cannot write '%s': %s", place->path, reason);
}

static vxs_status refuse_errno(const vxs_place *place, vxs_error *err)
{
    int reason = errno;
    if (reason == ENOMEM)
        return vxs_fail(err, VXS_FAILED, "not enough memory to write '%s'", place->path);
    return vxs_place_refuse(place, strerror(reason), err);
}

bool vxs_sync(const vxs_context *context, int handle)
{
    if ((context && context->no_fsync) || fsync(handle) == 0)
        return true;
    return errno == EINVAL || errno == ENOTSUP || errno == ENOSYS;
}

/* ---- Names and handles ----------------------------------------------------------------------- */

static vxs_status open_folder(vxs_place *place, vxs_error *err)
{
    size_t length = (size_t)(place->name - place->path);
    char *folder = vxs_format(err, "%.*s", (int)length, length ? place->path : "");
    if (!folder)
        return VXS_FAILED;
    place->folder = open(length ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int reason = errno;
    free(folder);
    errno = reason;
    return place->folder < 0 ? refuse_errno(place, err) : VXS_OK;
}

vxs_status vxs_place_init(vxs_place *place, const vxs_context *context, const char *path,
                          vxs_error *err)
{
    size_t length = strlen(path);
    *place = (vxs_place){ .context = context, .folder = -1 };
    while (length > 1 && path[length - 1] == '/')
        length--;
    place->path = vxs_format(err, "%.*s", (int)length, path);
    if (!place->path)
        return VXS_FAILED;
    const char *slash = strrchr(place->path, '/');
    place->name = slash ? slash + 1 : place->path;
    if (length == 0)
        return vxs_place_refuse(place, "an output needs a name", err);
    if (!*place->name || strcmp(place->name, ".") == 0 || strcmp(place->name, "..") == 0)
        return vxs_place_refuse(place, "it exists, and is no name of an output", err);
    return open_folder(place, err);
}

static void drop_leftover(vxs_place *place)
{
    if (place->leftover)
        vxs_temporary_drop(place->leftover);
    free(place->leftover);
    place->leftover = NULL;
}

void vxs_place_release(vxs_place *place)
{
    drop_leftover(place);
    if (place->folder >= 0)
        (void)close(place->folder);
    free(place->aside);
    free(place->work);
    free(place->path);
    *place = (vxs_place){ .folder = -1 };
}

/* ---- Existing targets ------------------------------------------------------------------------ */

vxs_status vxs_place_examine(vxs_place *place, bool replace, bool directory, vxs_error *err)
{
    place->replaces = fstatat(place->folder, place->name, &place->old, AT_SYMLINK_NOFOLLOW) == 0;
    if (!place->replaces)
        return errno == ENOENT ? VXS_OK : refuse_errno(place, err);
    if (S_ISLNK(place->old.st_mode))
        return vxs_place_refuse(place, "it is a symbolic link, which is never replaced", err);
    if (vxs_inputs_have(&place->old))
        return vxs_place_refuse(place, "it is an input of this run", err);
    if (directory && !S_ISDIR(place->old.st_mode))
        return vxs_place_refuse(place, "it exists and is not a directory", err);
    if (!directory && S_ISDIR(place->old.st_mode))
        return vxs_place_refuse(place, "it is a directory", err);
    if (!replace)
        return vxs_place_refuse(place, "it exists; pass --force to replace it", err);
    return VXS_OK;
}

static bool is_old(const vxs_place *place, const char *name)
{
    struct stat now;
    return fstatat(place->folder, name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
           now.st_dev == place->old.st_dev && now.st_ino == place->old.st_ino;
}

/* ---- Under a private name -------------------------------------------------------------------- */

static int make(const vxs_place *place, bool directory)
{
    if (!directory)
        return openat(place->folder, place->work,
                      O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (mkdirat(place->folder, place->work, 0777) != 0)
        return -1;
    int handle =
        openat(place->folder, place->work, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int reason = errno;
    if (handle < 0)
        (void)unlinkat(place->folder, place->work, AT_REMOVEDIR);
    errno = reason == EEXIST ? EIO : reason;
    return handle;
}

/* ".NAME.part-PID-K" in the same directory: same file system, hidden, recognizable. */
vxs_status vxs_place_make(vxs_place *place, bool directory, int *handle, vxs_error *err)
{
    *handle = -1;
    for (int k = 0; k < 1000; k++) {
        free(place->work);
        place->work = vxs_format(err, ".%s.part-%ld-%d", place->name, (long)getpid(), k);
        drop_leftover(place);
        place->leftover = vxs_format(err, "%.*s%s", (int)(place->name - place->path), place->path,
                                     place->work ? place->work : "");
        if (!place->work || !place->leftover)
            return VXS_FAILED;
        *handle = make(place, directory);
        place->taken = *handle >= 0;
        if (place->taken) {
            vxs_temporary_add(place->leftover);
            return VXS_OK;
        }
        if (errno != EEXIST)
            break;
    }
    return refuse_errno(place, err);
}

/* ---- Renaming -------------------------------------------------------------------------------- */

static int rename_as(const vxs_place *place, unsigned flags)
{
    return renameat2(place->folder, place->work, place->folder, place->name, flags);
}

static bool without_flags(void)
{
    return errno == EINVAL || errno == ENOSYS;
}

/* The replaced file must be the one checked before; if it was replaced meanwhile, the exchange is
 * undone. */
static bool exchange(const vxs_place *place)
{
    if (rename_as(place, RENAME_EXCHANGE) != 0)
        return false;
    if (is_old(place, place->work))
        return true;
    (void)!rename_as(place, RENAME_EXCHANGE);
    errno = EEXIST;
    return false;
}

/* Network file systems lack renameat2 flags: the old one is renamed aside, and back if it is not
 * the one checked or the new one cannot take its place. */
static bool step_aside(vxs_place *place)
{
    int folder = place->folder;
    char *aside = vxs_format(NULL, "%s.old", place->work);
    if (!aside)
        errno = ENOMEM;
    if (!aside || renameat(folder, place->name, folder, aside) != 0) {
        free(aside);
        return false;
    }
    bool same = is_old(place, aside);
    bool moved = same && renameat(folder, place->work, folder, place->name) == 0;
    int reason = same ? errno : EEXIST;
    if (renameat(folder, aside, folder, moved ? place->work : place->name) != 0)
        place->aside = aside;
    else
        free(aside);
    errno = reason;
    return moved;
}

/* rename() without flags replaces a file, but not a nonempty directory; link() replaces nothing. */
static bool move_to_free_name(const vxs_place *place, bool directory)
{
    if (rename_as(place, RENAME_NOREPLACE) == 0)
        return true;
    if (!without_flags())
        return false;
    if (directory)
        return renameat(place->folder, place->work, place->folder, place->name) == 0;
    if (linkat(place->folder, place->work, place->folder, place->name, 0) != 0)
        return false;
    (void)unlinkat(place->folder, place->work, 0);
    return true;
}

bool vxs_place_move_in(vxs_place *place, bool directory)
{
    bool moved;
    if (place->leftover)
        vxs_temporary_drop(place->leftover); /* the old one may be there from now on */
    if (place->replaces && is_old(place, place->name)) {
        moved = exchange(place);
        return moved || !without_flags() ? moved : step_aside(place);
    }
    moved = move_to_free_name(place, directory);
    place->taken = !moved;
    return moved;
}

void vxs_place_release_replaced(const vxs_place *place)
{
    if (place->taken && place->leftover)
        vxs_temporary_add(place->leftover);
}

bool vxs_place_move_back(const vxs_place *place)
{
    return rename_as(place, RENAME_EXCHANGE) == 0;
}

vxs_status vxs_place_not_moved(const vxs_place *place, vxs_error *err)
{
    if (place->aside)
        return vxs_fail(err, VXS_CANNOT_WRITE, "cannot write '%s': the old one is now '%.*s%s'",
                        place->path, (int)(place->name - place->path), place->path, place->aside);
    if (errno == EEXIST || errno == ENOTEMPTY)
        return vxs_place_refuse(place, "something else was put there meanwhile", err);
    return refuse_errno(place, err);
}
