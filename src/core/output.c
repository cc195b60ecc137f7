/* output.c - a directory that appears whole or not at all. */
#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct vxs_output {
    char *path;   /* final name, without slashes at its end */
    char *work;   /* temporary name, in the same directory */
    bool exists;  /* path is there and is to be replaced */
    bool started; /* work was made and must go if it is not committed */
};

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *walk)
{
    (void)about;
    (void)kind;
    (void)walk;
    return remove(path);
}

static int remove_tree(const char *path)
{
    return nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static vxs_status cannot_write(const vxs_output *output, const char *reason, vxs_error *err)
{
    return vxs_fail(err, VXS_CANNOT_WRITE, "cannot write '%s': %s", output->path, reason);
}

/* Only a directory with our own file in it may be replaced: --force on a wrong name must not cost
 * anybody a home directory. */
static vxs_status check_existing(vxs_output *output, const char *marker, bool replace,
                                 vxs_error *err)
{
    struct stat about;
    if (lstat(output->path, &about) != 0)
        return errno == ENOENT ? VXS_OK : cannot_write(output, strerror(errno), err);
    if (!S_ISDIR(about.st_mode))
        return cannot_write(output, "it exists and is not a directory", err);
    if (!replace)
        return cannot_write(output, "it exists; pass --force to replace it", err);
    char *inside = vxs_format(err, "%s/%s", output->path, marker);
    if (!inside)
        return VXS_FAILED;
    bool ours = access(inside, F_OK) == 0;
    free(inside);
    if (!ours)
        return vxs_fail(err, VXS_CANNOT_WRITE,
                        "cannot write '%s': it exists and holds no %s; --force replaces only what "
                        "voxsift made",
                        output->path, marker);
    output->exists = true;
    return VXS_OK;
}

/* ".name.part-PID-K" beside the final name: same file system, hidden, and clear about what it is.
 */
static vxs_status make_work(vxs_output *output, vxs_error *err)
{
    const char *slash = strrchr(output->path, '/');
    int folder = slash ? (int)(slash - output->path) + 1 : 0;
    for (int k = 0; k < 1000; k++) {
        free(output->work);
        output->work = vxs_format(err, "%.*s.%s.part-%ld-%d", folder, output->path,
                                  output->path + folder, (long)getpid(), k);
        if (!output->work)
            return VXS_FAILED;
        if (mkdir(output->work, 0777) == 0) {
            output->started = true;
            return VXS_OK;
        }
        if (errno != EEXIST)
            break;
    }
    return cannot_write(output, strerror(errno), err);
}

vxs_status vxs_output_new(const char *path, const char *marker, bool replace, vxs_output **output,
                          vxs_error *err)
{
    vxs_status status = VXS_FAILED;
    vxs_output *made = vxs_alloc(1, sizeof(*made), err);
    if (!made)
        return VXS_FAILED;
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    made->path = vxs_format(err, "%.*s", (int)length, path);
    if (!made->path)
        goto done;
    status = check_existing(made, marker, replace, err);
    if (!status)
        status = make_work(made, err);
    if (!status) {
        *output = made;
        made = NULL;
    }
done:
    vxs_output_free(made);
    return status;
}

FILE *vxs_output_open(vxs_output *output, const char *name, vxs_error *err)
{
    char *path = vxs_format(err, "%s/%s", output->work, name);
    if (!path)
        return NULL;
    FILE *stream = fopen(path, "w+bx");
    if (!stream)
        vxs_fail(err, VXS_CANNOT_WRITE, "cannot write '%s/%s': %s", output->path, name,
                 strerror(errno));
    free(path);
    return stream;
}

vxs_status vxs_output_close(vxs_output *output, FILE *stream, const char *name, vxs_error *err)
{
    const char *reason = vxs_close_stream(stream);
    if (!reason)
        return VXS_OK;
    return vxs_fail(err, VXS_CANNOT_WRITE, "cannot write '%s/%s': %s", output->path, name, reason);
}

/* One step where the kernel and the file system can: no moment without the old or the new one, and
 * nothing that appeared meanwhile is overwritten. */
static bool swap_in(vxs_output *output)
{
    unsigned flags = output->exists ? RENAME_EXCHANGE : RENAME_NOREPLACE;
    return renameat2(AT_FDCWD, output->work, AT_FDCWD, output->path, flags) == 0;
}

/* Network file systems have no flags: two renames, and back again when the second one fails. */
static bool move_in(vxs_output *output, vxs_error *err)
{
    if (!output->exists)
        return rename(output->work, output->path) == 0;
    char *aside = vxs_format(err, "%s.old", output->work);
    if (!aside)
        return false;
    bool moved = rename(output->path, aside) == 0;
    if (moved && rename(output->work, output->path) != 0) {
        moved = false;
        if (rename(aside, output->path) != 0)
            vxs_fail(err, VXS_CANNOT_WRITE, "cannot write '%s': the old one is now '%s'",
                     output->path, aside);
    }
    if (moved)
        rename(aside, output->work);
    free(aside);
    return moved;
}

vxs_status vxs_output_commit(vxs_output *output, vxs_error *err)
{
    bool moved = swap_in(output);
    if (!moved && (errno == EINVAL || errno == ENOSYS))
        moved = move_in(output, err);
    if (!moved)
        return cannot_write(output, strerror(errno), err);
    output->started = output->exists; /* what stands under the work name now is the old one */
    return VXS_OK;
}

void vxs_output_free(vxs_output *output)
{
    if (!output)
        return;
    if (output->started)
        remove_tree(output->work);
    free(output->work);
    free(output->path);
    free(output);
}
