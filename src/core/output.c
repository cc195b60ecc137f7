/* output.c - output directories that appear complete or not at all.
 *
 * Each holds a list of its own files. Only a directory with such a list and nothing else is ever
 * replaced, and only regular files on the list are removed, through a handle of the directory and
 * after it has left its place: --force on a wrong name must not delete foreign files. A directory
 * in it ("lasso/" on the list) is an output with a list of its own, and holds no further ones. */
#include "core/hash.h"
#include "core/mapped_file.h"
#include "core/output_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct vxs_output {
    vxs_place place;
    vxs_output *outer; /* the one that it is a directory of, or NULL */
    int work;          /* handle of the new directory, or -1 */
    int old;           /* handle of the directory to be replaced, or -1 */
    char *files;       /* names of its files, one per line, after the title */
    char *old_files;   /* the same for the old directory, each name zero-terminated */
    char **old_names;  /* the same, sorted */
    size_t old_count;
};

/* ---- Lists ----------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_listed(const vxs_output *output, const char *name)
{
    return strcmp(name, VXS_LIST) == 0 ||
           (output->old_count > 0 && bsearch((const void *)&name, (const void *)output->old_names,
                                             output->old_count, sizeof(char *), compare));
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

static vxs_status sort_names(vxs_output *output, vxs_error *err)
{
    size_t count = 0, lines = 0;
    for (const char *c = output->old_files; *c; c++)
        lines += *c == '\n';
    output->old_names = vxs_alloc(lines, sizeof(*output->old_names), err);
    if (!output->old_names)
        return VXS_FAILED;
    for (char *line = output->old_files + strlen(VXS_LIST_TITLE); *line; line++) {
        output->old_names[count++] = line;
        line += strcspn(line, "\n");
        *line = '\0';
    }
    output->old_count = count;
    qsort((void *)output->old_names, count, sizeof(char *), compare);
    return VXS_OK;
}

/* ---- Existing directories -------------------------------------------------------------------- */

static vxs_status refuse_entry(const vxs_output *output, const char *name, const char *what,
                               vxs_error *err)
{
    return vxs_fail(err, VXS_CANNOT_WRITE, "cannot write '%s': it holds '%s', which %s",
                    output->place.path, name, what);
}

static vxs_status check_folder(const vxs_output *output, const char *name, vxs_error *err);

static bool is_listed_folder(const vxs_output *output, const char *name)
{
    char entry[NAME_MAX + 2];
    int length = snprintf(entry, sizeof(entry), "%s/", name);
    return length > 0 && (size_t)length < sizeof(entry) && !output->outer &&
           is_listed(output, entry);
}

/* Every entry must be on the list, a regular file and not an input; or a directory of such. */
static vxs_status check_entry(const vxs_output *output, const char *name, vxs_error *err)
{
    struct stat about;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return VXS_OK;
    if (is_listed_folder(output, name))
        return check_folder(output, name, err);
    if (!is_listed(output, name))
        return refuse_entry(output, name,
                            "voxsift did not put there; --force replaces only what voxsift made",
                            err);
    if (fstatat(output->old, name, &about, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? VXS_OK : vxs_place_refuse(&output->place, strerror(errno), err);
    if (!S_ISREG(about.st_mode))
        return refuse_entry(output, name,
                            "is no regular file; --force replaces only what voxsift made", err);
    if (vxs_inputs_have(&about))
        return refuse_entry(output, name, "is an input of this run", err);
    return VXS_OK;
}

static vxs_status check_entries(const vxs_output *output, vxs_error *err)
{
    int handle = openat(output->old, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = handle >= 0 ? fdopendir(handle) : NULL;
    vxs_status status = VXS_OK;
    if (!dir) {
        int reason = errno;
        if (handle >= 0)
            (void)close(handle);
        return vxs_place_refuse(&output->place, strerror(reason), err);
    }
    for (struct dirent *e = readdir(dir); e && !status; e = readdir(dir))
        status = check_entry(output, e->d_name, err);
    closedir(dir);
    return status;
}

/* Follows no link and blocks on no pipe. */
static vxs_status read_list(vxs_output *output, vxs_error *err)
{
    struct stat about;
    size_t length = 0;
    vxs_status status = VXS_CANNOT_WRITE;
    int handle = openat(output->old, VXS_LIST, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (handle >= 0 && fstat(handle, &about) == 0 && S_ISREG(about.st_mode) &&
        about.st_size <= VXS_LIST_LONGEST) {
        output->old_files = vxs_alloc((size_t)about.st_size + 1, 1, err);
        status = output->old_files ? VXS_OK : VXS_FAILED;
        for (ssize_t got = 1; got > 0 && length < (size_t)about.st_size && !status;
             length += got > 0 ? (size_t)got : 0)
            got = read(handle, output->old_files + length, (size_t)about.st_size - length);
    }
    if (handle >= 0)
        (void)close(handle);
    if (status == VXS_CANNOT_WRITE)
        return vxs_place_refuse(&output->place,
                                "it exists, and --force replaces only what voxsift made", err);
    if (!status)
        status = vxs_list_check(&output->place, output->old_files, length, err);
    return status ? status : sort_names(output, err);
}

static void release_folder(vxs_output *inner)
{
    if (inner->old >= 0)
        (void)close(inner->old);
    free(inner->place.path);
    free((void *)inner->old_names);
    free(inner->old_files);
}

/* Opens a directory inside an old one and reads its list; `old` is -1 if there is none. */
static vxs_status open_folder(const vxs_output *output, const char *name, vxs_output *inner,
                              vxs_error *err)
{
    struct stat about;
    *inner = (vxs_output){ .outer = (vxs_output *)output, .work = -1, .old = -1 };
    inner->place.path =
        vxs_format(err, "%s/%.*s", output->place.path, (int)strcspn(name, "/"), name);
    if (!inner->place.path)
        return VXS_FAILED;
    const char *last = strrchr(inner->place.path, '/') + 1;
    if (fstatat(output->old, last, &about, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? VXS_OK : vxs_place_refuse(&inner->place, strerror(errno), err);
    if (S_ISDIR(about.st_mode) && vxs_inputs_have(&about))
        return refuse_entry(output, last, "is an input of this run", err);
    inner->old = openat(output->old, last, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner->old < 0)
        return refuse_entry(output, last,
                            S_ISDIR(about.st_mode)
                                ? strerror(errno)
                                : "is no directory; --force replaces only what voxsift made",
                            err);
    return read_list(inner, err);
}

static vxs_status check_folder(const vxs_output *output, const char *name, vxs_error *err)
{
    vxs_output inner;
    vxs_status status = open_folder(output, name, &inner, err);
    if (!status && inner.old >= 0)
        status = check_entries(&inner, err);
    release_folder(&inner);
    return status;
}

static vxs_status check_existing(vxs_output *output, bool replace, vxs_error *err)
{
    vxs_place *place = &output->place;
    struct stat now;
    vxs_status status = vxs_place_examine(place, replace, true, err);
    if (status || !place->replaces)
        return status;
    output->old =
        openat(place->folder, place->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (output->old < 0 || fstat(output->old, &now) != 0)
        return vxs_place_refuse(place, strerror(errno), err);
    if (now.st_dev != place->old.st_dev || now.st_ino != place->old.st_ino)
        return vxs_place_refuse(place, "something else was put there meanwhile", err);
    status = read_list(output, err);
    return status ? status : check_entries(output, err);
}

/* ---- Creation -------------------------------------------------------------------------------- */

static vxs_status examine_target(const vxs_context *context, const char *path, bool replace,
                                 vxs_output **output, vxs_error *err)
{
    *output = vxs_alloc(1, sizeof(**output), err);
    if (!*output)
        return VXS_FAILED;
    (*output)->work = (*output)->old = -1;
    vxs_status status = vxs_place_init(&(*output)->place, context, path, err);
    return status ? status : check_existing(*output, replace, err);
}

/* Only creating a directory shows that it is possible: permissions, read-only file systems, quotas,
 * and names too long for a private one. */
vxs_status vxs_output_check(const char *path, bool replace, vxs_error *err)
{
    vxs_output *tried = NULL;
    vxs_status status = examine_target(NULL, path, replace, &tried, err);
    if (!status)
        status = vxs_place_make(&tried->place, true, &tried->work, err);
    if (!status) {
        vxs_place *place = &tried->place;
        place->taken = unlinkat(place->folder, place->work, AT_REMOVEDIR) != 0;
        if (place->taken)
            status = vxs_place_refuse(place, strerror(errno), err);
        place->taken = false;
    }
    vxs_output_free(tried);
    return status;
}

/* Inside of one that is not in its place yet it needs no private name. */
static vxs_status place_inside(vxs_output *outer, const char *name, vxs_output *inner,
                               vxs_error *err)
{
    vxs_place *place = &inner->place;
    inner->work = inner->old = -1;
    inner->outer = outer;
    *place = (vxs_place){ .context = outer->place.context, .folder = -1 };
    if (!vxs_list_is_name(name, strlen(name)))
        return vxs_fail(err, VXS_CANNOT_WRITE,
                        "cannot write '%s': '%s' is no name of a directory in it",
                        outer->place.path, name);
    place->path = vxs_format(err, "%s/%s", outer->place.path, name);
    place->work = place->path ? vxs_format(err, "%s", name) : NULL;
    if (!place->work)
        return VXS_FAILED;
    place->name = strrchr(place->path, '/') + 1;
    place->folder = fcntl(outer->work, F_DUPFD_CLOEXEC, 0);
    if (place->folder < 0 || mkdirat(place->folder, name, 0777) != 0)
        return vxs_place_refuse(place, strerror(errno), err);
    place->taken = true;
    inner->work = openat(place->folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return inner->work < 0 ? vxs_place_refuse(place, strerror(errno), err) : VXS_OK;
}

vxs_status vxs_output_new_inside(vxs_output *outer, const char *name, vxs_output **output,
                                 vxs_error *err)
{
    vxs_output *made = vxs_alloc(1, sizeof(*made), err);
    *output = NULL;
    if (!made)
        return VXS_FAILED;
    vxs_status status = place_inside(outer, name, made, err);
    if (!status) {
        made->files = vxs_format(err, "%s", VXS_LIST_TITLE);
        status = made->files ? VXS_OK : VXS_FAILED;
    }
    if (!status) {
        *output = made;
        made = NULL;
    }
    vxs_output_free(made);
    return status;
}

const char *vxs_output_work(const vxs_output *output)
{
    return output->place.leftover;
}

vxs_status vxs_output_new(const vxs_context *context, const char *path, bool replace,
                          vxs_output **output, vxs_error *err)
{
    vxs_output *made = NULL;
    vxs_status status = examine_target(context, path, replace, &made, err);
    if (!status) {
        made->files = vxs_format(err, "%s", VXS_LIST_TITLE);
        status = made->files ? vxs_place_make(&made->place, true, &made->work, err) : VXS_FAILED;
    }
    if (!status) {
        *output = made;
        made = NULL;
    }
    vxs_output_free(made);
    return status;
}

static vxs_status create(vxs_output *output, const char *name, FILE **stream, vxs_error *err)
{
    /* readable as well: files may be mapped */
    int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int handle = openat(output->work, name, flags, 0666);
    *stream = handle >= 0 ? fdopen(handle, "w+b") : NULL;
    if (*stream)
        return VXS_OK;
    int reason = errno;
    if (handle >= 0)
        (void)close(handle);
    if (reason == ENOMEM)
        return vxs_fail(err, VXS_FAILED, "not enough memory to write '%s/%s'", output->place.path,
                        name);
    return vxs_fail(err, VXS_CANNOT_WRITE, "cannot write '%s/%s': %s", output->place.path, name,
                    strerror(reason));
}

vxs_status vxs_output_open(vxs_output *output, const char *name, FILE **stream, vxs_error *err)
{
    if (!vxs_list_is_name(name, strlen(name)))
        return vxs_fail(err, VXS_CANNOT_WRITE, "cannot write '%s': '%s' is no name of a file in it",
                        output->place.path, name);
    vxs_status status = add_to_list(output, name, err);
    return status ? status : create(output, name, stream, err);
}

vxs_status vxs_output_close(vxs_output *output, FILE *stream, const char *name, vxs_error *err)
{
    const char *reason = vxs_close_stream(output->place.context, stream);
    if (!reason)
        return VXS_OK;
    return vxs_fail(err, VXS_CANNOT_WRITE, "cannot write '%s/%s': %s", output->place.path, name,
                    reason);
}

vxs_status vxs_output_reserve(const vxs_output *output, FILE *stream, const char *name,
                              size_t bytes, vxs_error *err)
{
    int reason = posix_fallocate(fileno(stream), 0, (off_t)bytes);
    if (reason == 0)
        return VXS_OK;
    return vxs_fail(err, VXS_CANNOT_WRITE, "cannot write '%s/%s' (%.3g MB): %s", output->place.path,
                    name, (double)bytes / 1e6, strerror(reason));
}

/* Hashes a written file. */
static vxs_status seal_file(const vxs_output *output, const char *name, FILE *seal, vxs_error *err)
{
    int handle = openat(output->work, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    FILE *file = handle >= 0 ? fdopen(handle, "rb") : NULL;
    if (!file) {
        int reason = errno;
        if (handle >= 0)
            (void)close(handle);
        return vxs_fail(err, VXS_CANNOT_WRITE, "cannot read '%s/%s' again: %s", output->place.path,
                        name, strerror(reason));
    }
    vxs_status status = vxs_seal_line(file, name, seal, err);
    (void)fclose(file);
    return status;
}

vxs_status vxs_output_seal(vxs_output *output, const char *name, vxs_error *err)
{
    char *names = vxs_format(err, "%s", strchr(output->files, '\n') + 1);
    FILE *seal = NULL;
    vxs_status status = names ? vxs_output_open(output, name, &seal, err) : VXS_FAILED;
    for (char *line = names; seal && *line && !status;) {
        size_t width = strcspn(line, "\n");
        line[width] = '\0';
        status = seal_file(output, line, seal, err);
        line += width + 1;
    }
    vxs_status closed = seal ? vxs_output_close(output, seal, name, err) : VXS_OK;
    free(names);
    return status ? status : closed;
}

/* ---- Commit ---------------------------------------------------------------------------------- */

static vxs_status write_list(vxs_output *output, vxs_error *err)
{
    FILE *stream;
    vxs_status status = create(output, VXS_LIST, &stream, err);
    if (status)
        return status;
    fputs(output->files, stream);
    return vxs_output_close(output, stream, VXS_LIST, err);
}

static void remove_file(int dir, const char *name)
{
    struct stat about;
    if (fstatat(dir, name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(about.st_mode))
        (void)unlinkat(dir, name, 0);
}

/* Removes what is on the list of a directory inside another, and it when nothing else is in it. */
static void remove_folder(const vxs_output *output, int dir, const char *name)
{
    vxs_output inner, at = *output;
    at.old = dir;
    if (open_folder(&at, name, &inner, NULL) == VXS_OK && inner.old >= 0) {
        for (size_t k = 0; k < inner.old_count; k++)
            remove_file(inner.old, inner.old_names[k]);
        remove_file(inner.old, VXS_LIST);
        (void)unlinkat(dir, strrchr(inner.place.path, '/') + 1, AT_REMOVEDIR);
    }
    release_folder(&inner);
}

static void remove_entry(const vxs_output *output, int dir, const char *name)
{
    if (vxs_list_is_folder(name))
        remove_folder(output, dir, name);
    else
        remove_file(dir, name);
}

/* Removes the directory under the private name after its files. */
static bool remove_directory(vxs_place *place, int dir)
{
    remove_file(dir, VXS_LIST);
    place->taken = unlinkat(place->folder, place->work, AT_REMOVEDIR) != 0;
    return !place->taken;
}

static void remove_new(vxs_output *output)
{
    char *name = output->files ? strchr(output->files, '\n') + 1 : "";
    for (size_t length; *name; name += length + 1) {
        length = strcspn(name, "\n");
        name[length] = '\0';
        remove_entry(output, output->work, name);
    }
    (void)remove_directory(&output->place, output->work);
}

static void remove_old(vxs_output *output)
{
    vxs_place *place = &output->place;
    for (size_t k = 0; k < output->old_count; k++)
        remove_entry(output, output->old, output->old_names[k]);
    if (!remove_directory(place, output->old))
        vxs_log(place->context, VXS_LOG_WARNING,
                "'%s' is complete, but not all of what it replaced could be removed: '%.*s%s'",
                place->path, (int)(place->name - place->path), place->path, place->work);
    place->taken = false;
}

/* Checks the old directory again once it is unreachable under its name: files added meanwhile bring
 * it back. If names cannot be exchanged it stays, with a warning. */
static vxs_status move_in(vxs_output *output, vxs_error *err)
{
    vxs_place *place = &output->place;
    vxs_error why = VXS_ERROR_INIT;
    vxs_status status = place->replaces ? check_entries(output, err) : VXS_OK;
    if (!status && !vxs_place_move_in(place, true))
        status = vxs_place_not_moved(place, err);
    if (status || !place->taken)
        return status;
    if (!check_entries(output, &why)) {
        vxs_place_release_replaced(place);
        return VXS_OK;
    }
    if (!vxs_place_move_back(place))
        return VXS_OK;
    return vxs_fail(err, why.status, "%s", why.message);
}

/* It belongs to the outer one from now on. */
static vxs_status hand_over(vxs_output *output, vxs_error *err)
{
    char entry[NAME_MAX + 2];
    snprintf(entry, sizeof(entry), "%s/", output->place.name);
    vxs_status status = add_to_list(output->outer, entry, err);
    output->place.taken = output->place.taken && status;
    return status;
}

vxs_status vxs_output_commit(vxs_output *output, vxs_error *err)
{
    vxs_place *place = &output->place;
    vxs_status status = vxs_mappings_check(err);
    if (!status)
        status = write_list(output, err);
    if (!status && !vxs_sync(place->context, output->work))
        status = vxs_place_refuse(place, strerror(errno), err);
    if (!status && output->outer)
        return hand_over(output, err);
    if (!status)
        status = move_in(output, err);
    if (status)
        return status;
    if (!vxs_sync(place->context, place->folder))
        status = vxs_place_refuse(place, strerror(errno), err);
    if (place->taken)
        remove_old(output);
    return status;
}

void vxs_output_free(vxs_output *output)
{
    if (!output)
        return;
    if (output->place.taken)
        remove_new(output);
    if (output->work >= 0)
        (void)close(output->work);
    if (output->old >= 0)
        (void)close(output->old);
    vxs_place_release(&output->place);
    free((void *)output->old_names);
    free(output->old_files);
    free(output->files);
    free(output);
}
