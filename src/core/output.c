/* output.c - a directory that appears whole or not at all.
 *
 * It holds a list of its own files. Only a directory with such a list and nothing else is ever
 * replaced, and only files on the list are ever removed: --force on a wrong name must not cost
 * anybody a thesis.
 */
#include "core/file.h"
#include "voxsift/machine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIST       ".voxsift"
#define LIST_TITLE "files of a voxsift output:\n"

struct vxs_output {
    char *path;      /* final name, without slashes at its end */
    char *work;      /* temporary name, in the same directory */
    char *files;     /* names of its files, a line each, behind the title */
    char *old_files; /* of the directory that is to be replaced; NULL: there is none */
    struct stat old; /* which one that is */
    bool started;    /* work was made and must go if it is not committed */
};

static vxs_status cannot_write(const vxs_output *output, const char *reason, vxs_error *err)
{
    return vxs_fail(err, VXS_CANNOT_WRITE, "cannot write '%s': %s", output->path, reason);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static bool is_listed(const char *files, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = strchr(files, '\n'); line && line[1]; line = strchr(line + 1, '\n'))
        if (strncmp(line + 1, name, length) == 0 && line[1 + length] == '\n')
            return true;
    return strcmp(name, LIST) == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static vxs_status add_to_list(vxs_output *output, const char *name, vxs_error *err)
{
    char *longer = vxs_format(err, "%s%s\n", output->files, name);
    if (!longer)
        return VXS_FAILED;
    free(output->files);
    output->files = longer;
    return VXS_OK;
}

/* Removes the listed files, and the directory if nothing else is in it. */
static void remove_listed(const char *folder, const char *files)
{
    int dir = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0)
        return;
    char name[NAME_MAX + 1]; /* longer ones were never made */
    for (const char *line = strchr(files, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
        size_t length = strcspn(line + 1, "\n");
        if (length > NAME_MAX)
            continue;
        memcpy(name, line + 1, length);
        name[length] = '\0';
        unlinkat(dir, name, 0);
    }
    unlinkat(dir, LIST, 0);
    close(dir);
    rmdir(folder);
}

/* ---- What is there already ------------------------------------------------------------------- */

/* Every entry is on the list. */
static vxs_status check_strangers(const vxs_output *output, vxs_error *err)
{
    DIR *dir = opendir(output->path);
    vxs_status status = VXS_OK;
    if (!dir)
        return cannot_write(output, strerror(errno), err);
    for (struct dirent *e = readdir(dir); e && !status; e = readdir(dir))
        if (!is_listed(output->old_files, e->d_name))
            status = vxs_fail(err, VXS_CANNOT_WRITE,
                              "cannot write '%s': it holds '%s', which voxsift did not put there; "
                              "--force replaces only what voxsift made",
                              output->path, e->d_name);
    closedir(dir);
    return status;
}

static vxs_status check_ours(vxs_output *output, vxs_error *err)
{
    size_t length = 0;
    char *path = vxs_format(err, "%s/%s", output->path, LIST);
    if (!path)
        return VXS_FAILED;
    vxs_status found = vxs_file_read(path, &output->old_files, &length, NULL);
    free(path);
    if (found == VXS_FAILED)
        return vxs_fail(err, VXS_FAILED, "not enough memory to read '%s'", output->path);
    if (found || strncmp(output->old_files, LIST_TITLE, strlen(LIST_TITLE)) != 0)
        return cannot_write(output, "it exists, and --force replaces only what voxsift made", err);
    return check_strangers(output, err);
}

static vxs_status check_existing(vxs_output *output, bool replace, vxs_error *err)
{
    if (lstat(output->path, &output->old) != 0)
        return errno == ENOENT ? VXS_OK : cannot_write(output, strerror(errno), err);
    if (!S_ISDIR(output->old.st_mode))
        return cannot_write(output, "it exists and is not a directory", err);
    if (!replace)
        return cannot_write(output, "it exists; pass --force to replace it", err);
    return check_ours(output, err);
}

/* ---- Making ---------------------------------------------------------------------------------- */

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
            vxs_leftover_add(output->work);
            output->started = true;
            return VXS_OK;
        }
        if (errno != EEXIST)
            break;
    }
    return cannot_write(output, strerror(errno), err);
}

vxs_status vxs_output_new(const char *path, bool replace, vxs_output **output, vxs_error *err)
{
    vxs_status status = VXS_FAILED;
    vxs_output *made = vxs_alloc(1, sizeof(*made), err);
    if (!made)
        return VXS_FAILED;
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    made->path = vxs_format(err, "%.*s", (int)length, path);
    made->files = vxs_format(err, "%s", LIST_TITLE);
    if (!made->path || !made->files)
        goto done;
    status = length > 0 ? check_existing(made, replace, err)
                        : cannot_write(made, "a directory needs a name", err);
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

static vxs_status create(vxs_output *output, const char *name, FILE **stream, vxs_error *err)
{
    char *path = vxs_format(err, "%s/%s", output->work, name);
    if (!path)
        return VXS_FAILED;
    *stream = fopen(path, "w+bx"); /* read as well: files may be mapped */
    free(path);
    if (!*stream && errno == ENOMEM)
        return vxs_fail(err, VXS_FAILED, "not enough memory to write '%s/%s'", output->path, name);
    if (!*stream)
        return vxs_fail(err, VXS_CANNOT_WRITE, "cannot write '%s/%s': %s", output->path, name,
                        strerror(errno));
    return VXS_OK;
}

vxs_status vxs_output_open(vxs_output *output, const char *name, FILE **stream, vxs_error *err)
{
    vxs_status status = add_to_list(output, name, err);
    return status ? status : create(output, name, stream, err);
}

vxs_status vxs_output_close(vxs_output *output, FILE *stream, const char *name, vxs_error *err)
{
    const char *reason = vxs_close_stream(stream);
    if (!reason)
        return VXS_OK;
    return vxs_fail(err, VXS_CANNOT_WRITE, "cannot write '%s/%s': %s", output->path, name, reason);
}

/* ---- Into place ------------------------------------------------------------------------------ */

static vxs_status write_list(vxs_output *output, vxs_error *err)
{
    FILE *stream;
    vxs_status status = create(output, LIST, &stream, err);
    if (status)
        return status;
    fputs(output->files, stream);
    return vxs_output_close(output, stream, LIST, err);
}

static bool is_old(const vxs_output *output, const char *path)
{
    struct stat now;
    return lstat(path, &now) == 0 && now.st_dev == output->old.st_dev &&
           now.st_ino == output->old.st_ino;
}

/* One step where the kernel and the file system can. What comes out must be what was looked at;
 * if somebody put something else there meanwhile, it goes back. */
static bool exchange(vxs_output *output)
{
    if (renameat2(AT_FDCWD, output->work, AT_FDCWD, output->path, RENAME_EXCHANGE) != 0)
        return false;
    if (is_old(output, output->work))
        return true;
    (void)!renameat2(AT_FDCWD, output->work, AT_FDCWD, output->path, RENAME_EXCHANGE);
    errno = EEXIST;
    return false;
}

/* Network file systems have no flags: the old one steps aside, and back when the new one cannot
 * take its place. */
static bool step_aside(vxs_output *output, vxs_error *err)
{
    char *aside = vxs_format(err, "%s.old", output->work);
    bool moved = aside && rename(output->path, aside) == 0;
    if (moved && rename(output->work, output->path) != 0) {
        moved = false;
        if (rename(aside, output->path) != 0)
            vxs_fail(err, VXS_CANNOT_WRITE, "cannot write '%s': the old one is now '%s'",
                     output->path, aside);
    }
    if (moved)
        (void)!rename(aside, output->work);
    free(aside);
    return moved;
}

static bool move_in(vxs_output *output, vxs_error *err)
{
    bool old_there = output->old_files && is_old(output, output->path);
    if (old_there) {
        bool moved = exchange(output);
        return moved || (errno != EINVAL && errno != ENOSYS) ? moved : step_aside(output, err);
    }
    if (renameat2(AT_FDCWD, output->work, AT_FDCWD, output->path, RENAME_NOREPLACE) == 0) {
        output->started = false;
        return true;
    }
    bool without_flags = errno == EINVAL || errno == ENOSYS;
    if (!without_flags || rename(output->work, output->path) != 0) /* refuses what is not empty */
        return false;
    output->started = false;
    return true;
}

vxs_status vxs_output_commit(vxs_output *output, vxs_error *err)
{
    vxs_status status = write_list(output, err);
    if (status)
        return status;
    vxs_leftover_drop(output->work); /* the old one may stand there from now on */
    if (!move_in(output, err))
        return errno == EEXIST || errno == ENOTEMPTY
                   ? cannot_write(output, "something else was put there meanwhile", err)
                   : cannot_write(output, strerror(errno), err);
    if (output->started) { /* what stands under the work name now is the old one */
        free(output->files);
        output->files = output->old_files;
        output->old_files = NULL;
    }
    return VXS_OK;
}

void vxs_output_free(vxs_output *output)
{
    if (!output)
        return;
    if (output->started)
        remove_listed(output->work, output->files);
    if (output->work)
        vxs_leftover_drop(output->work);
    free(output->old_files);
    free(output->files);
    free(output->work);
    free(output->path);
    free(output);
}
