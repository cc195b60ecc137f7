/* matrix.c - the features of all subjects, one row a feature, so that a feature's values over the
 * subjects stand together.
 *
 * Images come a subject at a time, the file wants a feature at a time: blocks of 16 subjects are
 * prepared and turned over, so that every write fills a cache line. The file has its space before
 * it is mapped, so that a full disk is an error and not a signal.
 */
#include "cohort/build.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCK 16 /* floats of a cache line */

typedef struct {
    vxs_build *build;
    const size_t *kept; /* subjects, in their order */
    size_t n, block;
    float *rows; /* block x p */
    char *map;
    size_t size, offset; /* of the file, and where the items start */
} matrix;

/* A thread has the stored image, its values as floats, and twice doubles for smoothing. */
static uint64_t image_bytes(const vxs_build *build)
{
    uint64_t voxels = vxs_grid_voxels(&build->grid);
    uint64_t stored = build->count > 0 ? vxs_grid_voxels(&build->subjects[0].grid) : voxels;
    return 12 * stored + 4 * voxels + (build->settings->smooth > 0 ? 16 * voxels : 0);
}

size_t vxs_build_block(const vxs_build *build, uint64_t *bytes)
{
    uint64_t a_row = (uint64_t)build->p * sizeof(float);
    uint64_t fixed = (uint64_t)build->nthreads * image_bytes(build) +
                     (uint64_t)vxs_grid_voxels(&build->grid) * 14;
    uint64_t mem = (uint64_t)build->settings->mem;
    size_t block = BLOCK;
    while (block > 1 && fixed + block * a_row > mem)
        block /= 2;
    *bytes = fixed + block * a_row;
    return block;
}

static vxs_status open_map(matrix *m, FILE *stream, vxs_error *err)
{
    size_t shape[2] = { m->build->p, m->n };
    vxs_status status = vxs_npy_write_header(stream, 'f', sizeof(float), 2, shape, err);
    if (status)
        return status;
    if (fflush(stream) != 0)
        return vxs_fail(err, VXS_CANNOT_WRITE, "cannot write features.npy: %s", strerror(errno));
    m->offset = (size_t)ftell(stream);
    m->size = m->offset + m->build->p * m->n * sizeof(float);
    int reason = posix_fallocate(fileno(stream), 0, (off_t)m->size);
    if (reason != 0)
        return vxs_fail(err, VXS_CANNOT_WRITE, "cannot write features.npy (%zu MB): %s",
                        m->size >> 20, strerror(reason));
    void *map = mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(stream), 0);
    if (map == MAP_FAILED)
        return vxs_fail(err, VXS_CANNOT_WRITE, "cannot map features.npy: %s", strerror(errno));
    m->map = map;
    return VXS_OK;
}

/* Voxels of the mask, or means of regions. */
static void take_features(const vxs_build *build, const vxs_volume *volume, double *sums,
                          float *row)
{
    if (!build->region) {
        for (size_t k = 0; k < build->p; k++)
            row[k] = volume->values[build->voxels[k]];
        return;
    }
    size_t masked = 0, voxels = vxs_grid_voxels(&build->grid);
    memset(sums, 0, build->p * sizeof(*sums));
    for (size_t v = 0; v < voxels; v++) {
        if (!build->mask[v])
            continue;
        int32_t region = build->region[masked++];
        if (region >= 0)
            sums[region] += (double)volume->values[v];
    }
    for (size_t r = 0; r < build->p; r++)
        row[r] = (float)(sums[r] / build->weights[r]);
}

static vxs_status fill_row(const vxs_build *build, vxs_subject *subject, float *row, vxs_error *err)
{
    vxs_volume volume = { .values = NULL };
    vxs_status status = vxs_build_load(build, subject, &volume, err);
    if (status)
        return status;
    double *sums = build->region ? vxs_alloc(build->p, sizeof(*sums), err) : NULL;
    status = build->region && !sums ? VXS_FAILED : vxs_build_prepare(build, subject, &volume, err);
    if (!status)
        take_features(build, &volume, sums, row);
    free(sums);
    vxs_volume_release(&volume);
    return status;
}

/* The first failure by the order of subjects, whichever thread met it. */
static vxs_status fill_block(matrix *m, size_t first, size_t count, vxs_error *err)
{
    vxs_build *build = m->build;
    vxs_error errors[BLOCK];
    for (size_t k = 0; k < count; k++)
        errors[k] = (vxs_error)VXS_ERROR_INIT;
#pragma omp parallel for num_threads(build->nthreads) schedule(dynamic)
    for (size_t k = 0; k < count; k++)
        (void)!fill_row(build, &build->subjects[m->kept[first + k]], m->rows + k * build->p,
                        &errors[k]);
    for (size_t k = 0; k < count; k++)
        if (errors[k].status)
            return vxs_fail(err, errors[k].status, "%s", errors[k].message);
    return VXS_OK;
}

static void turn_over(matrix *m, size_t first, size_t count)
{
    size_t p = m->build->p;
    float *items = (float *)(void *)(m->map + m->offset);
#pragma omp parallel for num_threads(m->build->nthreads)
    for (size_t j = 0; j < p; j++)
        for (size_t k = 0; k < count; k++)
            items[j * m->n + first + k] = m->rows[k * p + j];
}

static vxs_status fill(matrix *m, vxs_error *err)
{
    vxs_progress progress;
    vxs_status status = VXS_OK;
    bool large = m->size > (uint64_t)m->build->settings->mem / 2;
    vxs_progress_start(&progress, m->build->context, "writing", "subjects", m->n);
    for (size_t first = 0; first < m->n && !status; first += m->block) {
        size_t count = m->n - first < m->block ? m->n - first : m->block;
        status = fill_block(m, first, count, err);
        if (status)
            return status;
        turn_over(m, first, count);
        if (large) /* the pages stay with the file, and no longer count as ours */
            madvise(m->map, m->size, MADV_DONTNEED);
        status = vxs_progress_step(&progress, count, err);
    }
    return status;
}

static vxs_status make(vxs_build *build, const size_t *kept, size_t n, FILE *stream, vxs_error *err)
{
    uint64_t bytes = 0;
    matrix m = { .build = build, .kept = kept, .n = n };
    m.block = vxs_build_block(build, &bytes);
    m.rows = vxs_alloc(m.block, build->p * sizeof(float), err);
    vxs_status status = m.rows ? open_map(&m, stream, err) : VXS_FAILED;
    if (!status)
        status = fill(&m, err);
    if (m.map)
        munmap(m.map, m.size);
    free(m.rows);
    return status;
}

vxs_status vxs_build_write_matrix(vxs_build *build, vxs_output *output, vxs_error *err)
{
    size_t n = 0;
    size_t *kept = vxs_alloc(build->count, sizeof(*kept), err);
    FILE *stream = kept ? vxs_output_open(output, "features.npy", err) : NULL;
    vxs_status status = stream ? VXS_OK : err && err->status ? err->status : VXS_FAILED;
    for (size_t i = 0; i < build->count && !status; i++)
        if (!build->subjects[i].reason)
            kept[n++] = i;
    if (!status)
        status = make(build, kept, n, stream, err);
    if (stream) {
        vxs_status closed = vxs_output_close(output, stream, "features.npy", err);
        status = status ? status : closed;
    }
    free(kept);
    return status;
}
