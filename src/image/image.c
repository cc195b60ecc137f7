/* image.c - reading images, by either name of a pair. */
#include "voxsift/internal/image.h"

#include "image/header.h"
#include "image/source.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static bool ends_with(const char *name, size_t length, const char *ending)
{
    size_t n = strlen(ending);
    return length >= n && strncasecmp(name + length - n, ending, n) == 0;
}

/* Length of the name without .gz. */
static size_t without_gz(const char *path)
{
    size_t length = strlen(path);
    return ends_with(path, length, ".gz") ? length - 3 : length;
}

/* Finds the other file of a pair: lower or upper case, compressed or not, preferably spelled like
 * `path`. Freed by the caller; NULL if none exists (or out of memory, then err is set). */
static char *find_other(const char *path, const char *lower, const char *upper, vxs_error *err)
{
    size_t stem = without_gz(path) - 4;
    const char *const endings[] = { path + stem + 4, "", ".gz", ".GZ" };
    for (int k = 0; k < 8; k++) {
        char *name =
            vxs_format(err, "%.*s%s%s", (int)stem, path, k < 4 ? lower : upper, endings[k % 4]);
        if (!name || access(name, R_OK) == 0)
            return name;
        free(name);
    }
    return NULL;
}

/* The path of the header: path itself, or the .hdr for an .img. */
static vxs_status header_path(const char *path, char **header, vxs_error *err)
{
    *header = ends_with(path, without_gz(path), ".img") ? find_other(path, ".hdr", ".HDR", err)
                                                        : vxs_format(err, "%s", path);
    if (*header)
        return VXS_OK;
    if (err && err->status)
        return err->status;
    return vxs_fail(err, VXS_MISSING, "cannot read '%s': its .hdr file does not exist", path);
}

static vxs_status open_items(const char *header, bool pair, vxs_source *first, vxs_source *second,
                             vxs_source **items, char **name, vxs_error *err)
{
    *items = first;
    if (!pair)
        return VXS_OK;
    *items = second;
    if (!ends_with(header, without_gz(header), ".hdr"))
        return vxs_fail(err, VXS_BAD_DATA,
                        "cannot read '%s': it is not marked as a single NIfTI file, nor named "
                        ".hdr as the header of a pair is",
                        header);
    *name = find_other(header, ".img", ".IMG", err);
    if (!*name)
        return vxs_fail(err, VXS_MISSING, "cannot read '%s': its .img file does not exist", header);
    return vxs_source_open(*name, second, err);
}

/* Moves the items out of their source and releases it. */
static vxs_status move_items(vxs_source *items, size_t offset, vxs_image *image, vxs_error *err)
{
    const char *content = NULL;
    size_t size = offset;
    size_t bytes = vxs_grid_voxels(&image->grid) * image->volumes * image->item_size;
    if (size > SIZE_MAX - bytes)
        return vxs_fail(err, VXS_BAD_DATA, "cannot read '%s': its data offset is too large",
                        items->name);
    vxs_status status = vxs_source_take(items, size + bytes, &content, &image->owned, err);
    if (status)
        return status;
    image->stored = content + offset;
    if (!image->owned) { /* the items are part of the file's own bytes */
        image->owned = items->owned;
        items->owned = NULL;
    }
    return VXS_OK;
}

/* Called before the items are moved, which may release the bytes. */
static void hash_sources(const vxs_source *first, const vxs_source *second, char *hash)
{
    if (hash)
        vxs_sha256(first->bytes, first->length, second->bytes, second->length, hash);
}

static vxs_status read_from(vxs_source *source, const char *header, bool values, char *hash,
                            vxs_image *image, vxs_error *err)
{
    char bytes[VXS_HEADER_PEEK], *name = NULL;
    size_t got = 0, offset = 0;
    bool pair = false;
    vxs_source other = { .name = NULL }, *items = NULL;
    vxs_status status = vxs_source_peek(source, bytes, sizeof(bytes), &got, err);
    if (!status)
        status = vxs_header_read(bytes, got, source->name, image, &offset, &pair, err);
    if (!status && pair && !header)
        status = vxs_fail(err, VXS_BAD_DATA, "cannot read '%s': its header belongs to a pair",
                          source->name);
    if (!status && values)
        status = open_items(header, pair, source, &other, &items, &name, err);
    if (!status)
        hash_sources(source, &other, hash);
    if (!status && values)
        status = move_items(items, offset, image, err);
    if (status)
        vxs_image_release(image);
    vxs_source_release(&other);
    free(name);
    return status;
}

static vxs_status read_path(const char *path, bool values, char *hash, vxs_image *image,
                            vxs_error *err)
{
    char *header = NULL;
    vxs_source source = { .name = NULL };
    *image = (vxs_image){ .format = NULL };
    vxs_status status = header_path(path, &header, err);
    if (!status)
        status = values ? vxs_source_open(header, &source, err)
                        : vxs_source_open_start(header, &source, err);
    if (!status)
        status = read_from(&source, header, values, hash, image, err);
    vxs_source_release(&source);
    free(header);
    return status;
}

vxs_status vxs_image_read(const char *path, vxs_image *image, vxs_error *err)
{
    if (image)
        *image = (vxs_image){ .format = NULL };
    vxs_status status = VXS_GIVEN(err, { "path", path }, { "image", image });
    return status ? status : read_path(path, true, NULL, image, err);
}

vxs_status vxs_image_read_hashed(const char *path, vxs_image *image, char hash[VXS_HASH_TEXT],
                                 vxs_error *err)
{
    return read_path(path, true, hash, image, err);
}

vxs_status vxs_image_read_header(const char *path, vxs_image *image, vxs_error *err)
{
    return read_path(path, false, NULL, image, err);
}

vxs_status vxs_image_parse(const char *bytes, size_t length, const char *name, vxs_image *image,
                           vxs_error *err)
{
    vxs_source source;
    *image = (vxs_image){ .format = NULL };
    vxs_source_of_memory(bytes, length, name, &source);
    return read_from(&source, NULL, true, NULL, image, err);
}

void vxs_image_release(vxs_image *image)
{
    if (!image)
        return;
    free(image->owned);
    *image = (vxs_image){ .format = NULL };
}
