/* read_images.c - how near reading images comes to inflating them: read_images FILE...
 *
 * Verifies first: both ways must give the same bytes. Then times, one thread: (a) read the files
 * and inflate them with libdeflate, the least that must be done; (b) vxs_image_read and conversion
 * of every voxel to float. Repeats five times; the minimum counts, all are printed. */
#include "voxsift/internal/all.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REPEATS 5

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static size_t inflate(const char *path, char *out, size_t room)
{
    char *bytes = NULL;
    size_t length = 0, written = 0;
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    if (!d || vxs_file_read(path, &bytes, &length, NULL) ||
        libdeflate_gzip_decompress(d, bytes, length, out, room, &written) != LIBDEFLATE_SUCCESS)
        exit(1);
    libdeflate_free_decompressor(d);
    free(bytes);
    return written;
}

static void read_floats(const char *path, float *values)
{
    vxs_image image;
    vxs_error err = VXS_ERROR_INIT;
    if (vxs_image_read(path, &image, &err)) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    vxs_image_floats(&image, 0, vxs_grid_voxels(&image.grid), values);
    vxs_image_release(&image);
}

int main(int argc, char **argv)
{
    vxs_image image;
    if (argc < 2 || vxs_image_read(argv[1], &image, NULL))
        return 2;
    size_t voxels = vxs_grid_voxels(&image.grid), room = voxels * image.item_size + 4096;
    char *out = malloc(room);
    float *values = malloc(voxels * sizeof(float));
    size_t size = inflate(argv[1], out, room);
    bool same =
        memcmp(out + size - voxels * image.item_size, image.stored, voxels * image.item_size) == 0;
    vxs_image_release(&image);
    if (!same)
        return 1;
    double least = 1e9, ours = 1e9;
    for (int r = 0; r < REPEATS; r++) {
        double start = now();
        for (int i = 1; i < argc; i++)
            inflate(argv[i], out, room);
        double middle = now();
        for (int i = 1; i < argc; i++)
            read_floats(argv[i], values);
        double end = now();
        printf("  inflate %.3f s, read to floats %.3f s, ratio %.2f\n", middle - start,
               end - middle, (end - middle) / (middle - start));
        least = middle - start < least ? middle - start : least;
        ours = end - middle < ours ? end - middle : ours;
    }
    printf("%d volumes: inflate %.3f s, read to floats %.3f s, ratio %.2f\n", argc - 1, least, ours,
           ours / least);
    free(values);
    free(out);
    return 0;
}
