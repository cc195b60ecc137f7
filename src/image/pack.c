/* pack.c - compact storage of many images: lines without the zeros at both ends. */
#include "voxsift/internal/image.h"

#include <stdlib.h>
#include <string.h>

#define LONGEST UINT16_MAX

struct vxs_packed_span {
    uint32_t at; /* offset of its items among the stored ones */
    uint16_t first, count;
};

static bool is_zero(const char *bytes, size_t count)
{
    static const char zeros[8];
    return memcmp(bytes, zeros, count) == 0;
}

/* From the first to the last nonzero item. */
static void find_span(const char *items, size_t size, size_t count, struct vxs_packed_span *span)
{
    size_t step = 8 / size, first = 0, last = count;
    while (first + step <= count && is_zero(items + first * size, 8))
        first += step;
    while (first < count && is_zero(items + first * size, size))
        first++;
    while (last >= first + step && is_zero(items + (last - step) * size, 8))
        last -= step;
    while (last > first && is_zero(items + (last - 1) * size, size))
        last--;
    span->first = (uint16_t)first;
    span->count = (uint16_t)(last - first);
}

static size_t line_length(const vxs_packed *packed, size_t line)
{
    size_t voxels = vxs_grid_voxels(&packed->image.grid), start = line * packed->length;
    return voxels - start < packed->length ? voxels - start : packed->length;
}

/* Finds the spans; returns the number of their items. */
static size_t find_spans(const char *items, vxs_packed *packed)
{
    size_t used = 0, size = packed->image.item_size;
    for (size_t line = 0; line < packed->lines; line++) {
        struct vxs_packed_span *span = &packed->spans[line];
        find_span(items + line * packed->length * size, size, line_length(packed, line), span);
        span->at = (uint32_t)used;
        used += span->count;
    }
    return used;
}

vxs_status vxs_image_pack(const vxs_image *image, size_t number, vxs_packed *packed, vxs_error *err)
{
    size_t voxels = vxs_grid_voxels(&image->grid), size = image->item_size;
    const char *items = image->stored + number * voxels * size;
    *packed = (vxs_packed){ .image = *image };
    packed->image.owned = NULL;
    packed->image.volumes = 1;
    packed->length = image->grid.shape[0] < LONGEST ? image->grid.shape[0] : LONGEST;
    packed->lines = (voxels + packed->length - 1) / packed->length;
    if (voxels > UINT32_MAX)
        return vxs_fail(err, VXS_FAILED, "images of more than 2^32 voxels are not supported");
    packed->spans = vxs_resize(NULL, packed->lines, sizeof(*packed->spans), err);
    if (!packed->spans)
        return VXS_FAILED;
    size_t used = find_spans(items, packed);
    char *stored = vxs_resize(NULL, used + 1, size, err);
    packed->image.owned = stored;
    packed->image.stored = stored;
    packed->bytes = (used + 1) * size + packed->lines * sizeof(*packed->spans);
    packed->outside = (float)image->intercept;
    if (!stored) {
        vxs_packed_release(packed);
        return VXS_FAILED;
    }
    for (size_t line = 0; line < packed->lines; line++) {
        const struct vxs_packed_span *span = &packed->spans[line];
        memcpy(stored + span->at * size, items + (line * packed->length + span->first) * size,
               span->count * size);
    }
    return VXS_OK;
}

size_t vxs_packed_line(const vxs_packed *packed, size_t line, size_t *first, float *values)
{
    const struct vxs_packed_span *span = &packed->spans[line];
    *first = span->first;
    vxs_image_floats(&packed->image, span->at, span->count, values);
    return span->count;
}

void vxs_packed_whole_line(const vxs_packed *packed, size_t line, float *values)
{
    size_t length = line_length(packed, line), first = packed->spans[line].first;
    size_t last = first + vxs_packed_line(packed, line, &first, values + first);
    for (size_t i = 0; i < first; i++)
        values[i] = packed->outside;
    for (size_t i = last; i < length; i++)
        values[i] = packed->outside;
}

vxs_status vxs_packed_volume(const vxs_packed *packed, vxs_volume *volume, vxs_error *err)
{
    size_t voxels = vxs_grid_voxels(&packed->image.grid);
    volume->grid = packed->image.grid;
    volume->values = vxs_resize(NULL, voxels, sizeof(float), err); /* every value is set below */
    if (!volume->values)
        return VXS_FAILED;
    for (size_t line = 0; line < packed->lines; line++)
        vxs_packed_whole_line(packed, line, volume->values + line * packed->length);
    return VXS_OK;
}

bool vxs_packed_items_differ(const vxs_packed *packed)
{
    const vxs_image *image = &packed->image;
    size_t size = image->item_size, used = 0;
    for (size_t line = 0; line < packed->lines; line++)
        used += packed->spans[line].count;
    if (used < vxs_grid_voxels(&image->grid) && used > 0)
        return true; /* zeros were omitted around them */
    for (size_t i = 1; i < used; i++)
        if (memcmp(image->stored, image->stored + i * size, size) != 0)
            return true;
    return false;
}

void vxs_packed_release(vxs_packed *packed)
{
    free(packed->spans);
    vxs_image_release(&packed->image);
    *packed = (vxs_packed){ .spans = NULL };
}
