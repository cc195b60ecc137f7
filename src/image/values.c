/* values.c - conversion of stored items to numbers.
 *
 * Works in blocks that fit into the L1 cache: byte order, conversion to double, scaling. The common
 * types are converted to float in one step with the same, exact result. */
#include "voxsift/internal/image.h"

#include <math.h>
#include <string.h>

#define BLOCK 2048

/* value = (double)item for each item. */
#define LOADER(name, type)                                                                         \
    static void name(const char *items, size_t count, double *values)                              \
    {                                                                                              \
        type item;                                                                                 \
        for (size_t i = 0; i < count; i++) {                                                       \
            memcpy(&item, items + i * sizeof(item), sizeof(item));                                 \
            values[i] = (double)item;                                                              \
        }                                                                                          \
    }

LOADER(load_uint8, uint8_t)
LOADER(load_int8, int8_t)
LOADER(load_uint16, uint16_t)
LOADER(load_int16, int16_t)
LOADER(load_uint32, uint32_t)
LOADER(load_int32, int32_t)
LOADER(load_uint64, uint64_t)
LOADER(load_int64, int64_t)
LOADER(load_float32, float)
LOADER(load_float64, double)

static const struct {
    int datatype;
    void (*load)(const char *items, size_t count, double *values);
} loaders[] = {
    { 2, load_uint8 },    { 4, load_int16 },     { 8, load_int32 },    { 16, load_float32 },
    { 64, load_float64 }, { 256, load_int8 },    { 512, load_uint16 }, { 768, load_uint32 },
    { 1024, load_int64 }, { 1280, load_uint64 },
};

static void load(const vxs_image *image, const char *items, size_t count, double *values)
{
    for (size_t k = 0; k < sizeof(loaders) / sizeof(loaders[0]); k++)
        if (loaders[k].datatype == image->datatype)
            loaders[k].load(items, count, values);
}

static void swap_items(const char *items, size_t size, size_t count, char *out)
{
    for (size_t i = 0; i < count; i++)
        for (size_t b = 0; b < size; b++)
            out[i * size + b] = items[i * size + size - 1 - b];
}

void vxs_image_values(const vxs_image *image, size_t first, size_t count, double *values)
{
    char ordered[8 * BLOCK];
    size_t size = image->item_size;
    const char *items = image->stored + first * size;
    for (size_t done = 0; done < count; done += BLOCK) {
        size_t n = count - done < BLOCK ? count - done : BLOCK;
        const char *block = items + done * size;
        if (image->swapped) {
            swap_items(block, size, n, ordered);
            block = ordered;
        }
        load(image, block, n, values + done);
        if (image->slope != 1 || image->intercept != 0)
            for (size_t i = done; i < done + n; i++)
                values[i] = image->slope * values[i] + image->intercept;
    }
}

/* One step for common types: every int16 and uint8 is exact as a float. */
static bool floats_at_once(const vxs_image *image, size_t first, size_t count, float *values)
{
    const char *items = image->stored + first * image->item_size;
    if (image->swapped || image->slope != 1 || image->intercept != 0)
        return false;
    if (image->datatype == 16) {
        memcpy(values, items, count * sizeof(float));
    } else if (image->datatype == 4) {
#pragma omp simd
        for (size_t i = 0; i < count; i++) {
            int16_t item;
            memcpy(&item, items + i * sizeof(item), sizeof(item));
            values[i] = (float)item;
        }
    } else if (image->datatype == 2) {
        const unsigned char *bytes = (const unsigned char *)items;
#pragma omp simd
        for (size_t i = 0; i < count; i++)
            values[i] = (float)bytes[i];
    } else {
        return false;
    }
    return true;
}

void vxs_image_floats(const vxs_image *image, size_t first, size_t count, float *values)
{
    double block[BLOCK];
    if (floats_at_once(image, first, count, values))
        return;
    for (size_t done = 0; done < count; done += BLOCK) {
        size_t n = count - done < BLOCK ? count - done : BLOCK;
        vxs_image_values(image, first + done, n, block);
        for (size_t i = 0; i < n; i++)
            values[done + i] = (float)block[i];
    }
}

/* Kahan summation: exact enough for millions of values. */
static void add(double *sum, double *lost, double value)
{
    double with = *sum + (value - *lost);
    *lost = (with - *sum) - (value - *lost);
    *sum = with;
}

void vxs_image_summarize(const vxs_image *image, vxs_image_summary *summary)
{
    double block[BLOCK], lost = 0;
    size_t total = vxs_grid_voxels(&image->grid) * image->volumes;
    *summary = (vxs_image_summary){ .min = NAN, .max = NAN };
    for (size_t done = 0; done < total; done += BLOCK) {
        size_t n = total - done < BLOCK ? total - done : BLOCK;
        vxs_image_values(image, done, n, block);
        for (size_t i = 0; i < n; i++) {
            if (!isfinite(block[i])) {
                summary->nonfinite++;
                continue;
            }
            summary->zeros += block[i] == 0;
            summary->min = block[i] >= summary->min ? summary->min : block[i];
            summary->max = block[i] <= summary->max ? summary->max : block[i];
            add(&summary->sum, &lost, block[i]);
        }
    }
}
