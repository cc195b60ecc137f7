#include "tests/core/check.h"
#include "tests/core/faults.h"

/* Lines that are empty, full, and begin and end anywhere; the last one is short when the lines are
 * longer than a span can count. */
static void fill(char *items, size_t size, size_t length, size_t voxels)
{
    memset(items, 0, voxels * size);
    for (size_t line = 0; line * length < voxels; line++) {
        size_t first = line % (length + 1), last = length - line / 7 % (length + 1);
        for (size_t i = first; i < last && line * length + i < voxels; i++)
            items[(line * length + i) * size + line % size] = (char)(1 + (line + 3 * i) % 100);
    }
}

static void same_values(const vxs_image *image)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_volume plain, unpacked;
    vxs_packed packed;
    size_t last = image->volumes - 1, voxels = vxs_grid_voxels(&image->grid);
    WORKS(vxs_volume_from_image(image, last, &plain, &err), err);
    WORKS(vxs_image_pack(image, last, &packed, &err), err);
    WORKS(vxs_packed_volume(&packed, &unpacked, &err), err);
    cr_assert(memcmp(plain.values, unpacked.values, voxels * sizeof(float)) == 0,
              "datatype %d slope %g", image->datatype, image->slope);
    vxs_packed_release(&packed);
    vxs_volume_release(&plain);
    vxs_volume_release(&unpacked);
}

Test(pack, unpacking_gives_the_same_values)
{
    static const struct {
        int datatype;
        size_t size;
    } types[] = { { 2, 1 }, { 4, 2 }, { 8, 4 }, { 16, 4 }, { 64, 8 }, { 256, 1 }, { 1024, 8 } };
    static const size_t shapes[][3] = {
        { 1, 1, 1 }, { 9, 11, 13 }, { 64, 8, 3 }, { 70000, 2, 1 }, { 3, 1, 50 }
    };
    for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++)
        for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++)
            for (int way = 0; way < 4; way++) {
                size_t voxels = shapes[s][0] * shapes[s][1] * shapes[s][2];
                char *items = malloc(2 * voxels * types[t].size);
                fill(items, types[t].size, shapes[s][0], 2 * voxels);
                vxs_image image = { .grid.shape = { shapes[s][0], shapes[s][1], shapes[s][2] },
                                    .volumes = 2,
                                    .datatype = types[t].datatype,
                                    .item_size = types[t].size,
                                    .slope = way & 1 ? 0.25 : 1,
                                    .intercept = way & 1 ? -3 : 0,
                                    .swapped = way & 2,
                                    .stored = items };
                same_values(&image);
                free(items);
            }
}

Test(pack, empty_ends_take_no_memory)
{
    vxs_error err = VXS_ERROR_INIT;
    int16_t items[100 * 50] = { 0 };
    vxs_image image = { .grid.shape = { 100, 50, 1 },
                        .volumes = 1,
                        .datatype = 4,
                        .item_size = 2,
                        .slope = 1,
                        .stored = (const char *)items };
    vxs_packed packed;
    for (int line = 0; line < 50; line++)
        for (int i = 40; i < 60; i++)
            items[line * 100 + i] = (int16_t)(i == 50 ? 0 : i);
    WORKS(vxs_image_pack(&image, 0, &packed, &err), err);
    float values[100];
    size_t first = 0;
    cr_assert(vxs_packed_line(&packed, 7, &first, values) == 20);
    cr_assert(first == 40 && values[0] == 40 && values[10] == 0 && values[19] == 59);
    cr_assert(packed.bytes < sizeof(items) / 2 - 1000);
    vxs_packed_release(&packed);
}

static vxs_status pack_one(vxs_error *err)
{
    static const int16_t items[24] = { 0, 1, 2 };
    vxs_image image = { .grid.shape = { 4, 3, 2 },
                        .volumes = 1,
                        .datatype = 4,
                        .item_size = 2,
                        .slope = 1,
                        .stored = (const char *)items };
    vxs_packed packed;
    vxs_volume volume = { .values = NULL };
    vxs_status status = vxs_image_pack(&image, 0, &packed, err);
    if (!status) {
        status = vxs_packed_volume(&packed, &volume, err);
        vxs_packed_release(&packed);
    }
    vxs_volume_release(&volume);
    return status;
}

Test(pack, no_memory_is_an_error)
{
    cr_assert(fail_each_request(pack_one) == 3);
}
