/* page.c - single output files; the counterpart of output.c. */
#include "core/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD_SIZE 1024

struct vxs_page {
    vxs_place place;
    FILE *stream;
};

/* Tests for a mark in the first bytes of a regular file; follows no link and blocks on no pipe. */
static bool has_mark(const vxs_place *place, const char *mark)
{
    char head[HEAD_SIZE + 1] = "";
    struct stat about;
    int handle = openat(place->folder, place->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool ours = handle >= 0 && fstat(handle, &about) == 0 && S_ISREG(about.st_mode) &&
                about.st_dev == place->old.st_dev && about.st_ino == place->old.st_ino &&
                read(handle, head, HEAD_SIZE) > 0 && strstr(head, mark);
    if (handle >= 0)
        (void)close(handle);
    return ours;
}

static vxs_status check_existing(vxs_place *place, const char *mark, bool replace, vxs_error *err)
{
    vxs_status status = vxs_place_examine(place, replace, false, err);
    if (status || !place->replaces)
        return status;
    if (!has_mark(place, mark))
        return vxs_place_refuse(place, "it exists, and --force replaces only what voxsift made",
                                err);
    return VXS_OK;
}

vxs_status vxs_page_new(const vxs_context *context, const char *path, const char *mark,
                        bool replace, vxs_page **page, FILE **stream, vxs_error *err)
{
    vxs_page *made = vxs_alloc(1, sizeof(*made), err);
    int handle = -1;
    if (!made)
        return VXS_FAILED;
    vxs_status status = vxs_place_init(&made->place, context, path, err);
    if (!status)
        status = check_existing(&made->place, mark, replace, err);
    if (!status)
        status = vxs_place_make(&made->place, false, &handle, err);
    if (!status && !(made->stream = fdopen(handle, "wb"))) {
        (void)close(handle);
        status = vxs_fail(err, VXS_FAILED, "not enough memory to write '%s'", made->place.path);
    }
    if (!status) {
        *page = made;
        *stream = made->stream;
        made = NULL;
    }
    vxs_page_free(made);
    return status;
}

vxs_status vxs_page_commit(vxs_page *page, vxs_error *err)
{
    vxs_place *place = &page->place;
    const char *reason = vxs_close_stream(place->context, page->stream);
    page->stream = NULL;
    if (reason)
        return vxs_place_refuse(place, reason, err);
    if (place->replaces && vxs_inputs_have(&place->old)) /* it may have been read since */
        return vxs_place_refuse(place, "it is an input of this run", err);
    if (!vxs_place_move_in(place, false))
        return vxs_place_not_moved(place, err);
    vxs_place_release_replaced(place);
    if (!vxs_output_adopt(place->context, place->folder, place->name))
        vxs_log(
            place->context, VXS_LOG_WARNING,
            "'%s' is complete, but not on the list of the output that it is in (%s): --force will "
            "not replace that output",
            place->path, strerror(errno));
    bool safe = vxs_sync(place->context, place->folder);
    int why = errno;
    if (place->taken)
        (void)unlinkat(place->folder, place->work, 0);
    place->taken = false;
    return safe ? VXS_OK : vxs_place_refuse(place, strerror(why), err);
}

void vxs_page_free(vxs_page *page)
{
    if (!page)
        return;
    if (page->stream)
        (void)fclose(page->stream);
    if (page->place.taken)
        (void)unlinkat(page->place.folder, page->place.work, 0);
    vxs_place_release(&page->place);
    free(page);
}
