/* matrix.c - writes the p x n feature matrix, row-major, so that the values of a feature over
 * subjects are contiguous.
 *
 * Images arrive by subject, the file is by feature. If the survey kept all images in memory and
 * voxels need no processing, tiles of features of all subjects are written in file order. Otherwise
 * blocks of 16 subjects are prepared and transposed into a memory map of the file, so that every
 * write fills a cache line; the file is allocated before it is mapped, so that a full disk is an
 * error and not a signal. The hash is computed in file order: from tiles as they are written, from
 * blocks when the last one completes the rows. */
#include "cohort/build.h"

#include "core/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCK   16           /* floats per cache line */
#define PROGRAM (16 << 20)   /* bytes of the process without any data */
#define WINDOW  (8 << 20)    /* resident bytes of the map at a time */
#define TILE    (256 * 1024) /* bytes of a tile of features, within a core's cache */

typedef struct {
    vxs_build *build;
    const vxs_output *output;
    const size_t *kept; /* indices of the included subjects, ascending */
    size_t n, block;
    float *rows; /* block x p */
    char *map;
    int file;
    size_t size, offset; /* bytes of the file, and offset of the data */
} matrix;

/* Memory of the process itself, of the survey's counts, and of the larger of two: a thread's
 * images, as stored, packed, as floats, and what a step needs; or the four arrays for
 * making a mask. */
uint64_t vxs_build_fixed_bytes(const vxs_build *build)
{
    uint64_t voxels = vxs_grid_voxels(&build->grid);
    uint64_t stored = build->count > 0 ? 0 : voxels;
    for (size_t i = 0; i < build->count; i++) {
        uint64_t here = build->subjects[i].reason ? 0 : vxs_grid_voxels(&build->subjects[i].grid);
        stored = here > stored ? here : stored;
    }
    uint64_t thread = 12 * stored + (4 + vxs_steps_voxel_bytes(build->settings)) * voxels;
    uint64_t images = (uint64_t)build->nthreads * thread, mask = 16 * voxels;
    return PROGRAM + 19 * voxels + (images > mask ? images : mask);
}

size_t vxs_build_block(const vxs_build *build, uint64_t *bytes)
{
    uint64_t a_row = (uint64_t)build->p * sizeof(float);
    uint64_t fixed = vxs_build_fixed_bytes(build) + build->packed_bytes + WINDOW;
    size_t block = BLOCK;
    while (block > 1 && fixed + block * a_row > (uint64_t)build->settings->mem)
        block /= 2;
    *bytes = fixed + block * a_row;
    return block;
}

static vxs_status start_file(matrix *m, FILE *stream, vxs_error *err)
{
    size_t shape[2] = { m->build->p, m->n };
    vxs_status status = vxs_record_begin(&m->build->record, "features.npy", stream, 'f',
                                         sizeof(float), 2, shape, err);
    if (status)
        return status;
    m->file = fileno(stream);
    m->offset = (size_t)ftell(stream);
    size_t items = vxs_times(vxs_times(m->build->p, m->n), sizeof(float));
    if (items > (size_t)PTRDIFF_MAX - m->offset)
        return vxs_fail(err, VXS_CANNOT_WRITE,
                        "cannot write features.npy: %zu features of %zu "
                        "subjects are too many for a file",
                        m->build->p, m->n);
    m->size = m->offset + items;
    return vxs_output_reserve(m->output, stream, "features.npy", m->size, err);
}

static void warn_of_nonfinite(const vxs_build *build, const vxs_subject *s)
{
    char reference[64] = "";
    if (s->nonfinite == 0 || s->other_grid || build->settings->nan == VXS_NAN_DROP)
        return;
    if (s->nonfinite_reference > 0)
        snprintf(reference, sizeof(reference), " (%zu in the reference region)",
                 s->nonfinite_reference);
    vxs_log(build->context, VXS_LOG_WARNING,
            "'%s' has %zu NaN or infinite value%s inside the mask, %zu outside%s; they count as 0",
            s->path, s->nonfinite_inside, vxs_plural(s->nonfinite_inside),
            s->nonfinite - s->nonfinite_inside, reference);
}

/* ---- All subjects at once -------------------------------------------------------------------- */

static bool fits_at_once(const matrix *m)
{
    const vxs_cohort_settings *s = m->build->settings;
    if (s->regions || vxs_steps_asked(s))
        return false;
    for (size_t i = 0; i < m->n; i++)
        if (!m->build->subjects[m->kept[i]].packed.spans)
            return false;
    return true;
}

/* Writes features [first, last) of one subject into column i of a tile. */
static void fill_column(const matrix *m, size_t first, size_t last, size_t i, float *line,
                        float *tile)
{
    vxs_subject *s = &m->build->subjects[m->kept[i]];
    const size_t *voxels = m->build->voxels;
    size_t n = m->n, length = s->packed.length;
    for (size_t j = first; j < last;) {
        size_t l = voxels[j] / length, start = l * length;
        vxs_packed_whole_line(&s->packed, l, line);
        for (; j < last && voxels[j] - start < length; j++) {
            float value = line[voxels[j] - start];
            bool gap = s->nonfinite > 0 && !isfinite(value);
            tile[(j - first) * n + i] = gap ? 0 : value;
            if (gap)
                __atomic_fetch_add(&s->nonfinite_inside, 1, __ATOMIC_RELAXED);
        }
    }
}

static vxs_status write_tile(const matrix *m, size_t first, size_t last, float *line, float *tile,
                             vxs_error *err)
{
    for (size_t i = 0; i < m->n; i++)
        fill_column(m, first, last, i, line, tile);
    size_t row = m->n * sizeof(float), done = 0, size = (last - first) * row;
    while (done < size) {
        ssize_t got = pwrite(m->file, (const char *)tile + done, size - done,
                             (off_t)(m->offset + first * row + done));
        if (got < 0 && errno != EINTR)
            return vxs_fail(err, VXS_CANNOT_WRITE, "cannot write features.npy: %s",
                            strerror(errno));
        done += got > 0 ? (size_t)got : 0;
    }
    return VXS_OK;
}

static vxs_status write_next(const matrix *m, size_t first, size_t last, float *line, float *tile,
                             vxs_progress *progress, vxs_error *err)
{
    vxs_status status = write_tile(m, first, last, line, tile, err);
    return status ? status : vxs_progress_step(progress, last - first, err);
}

/* Writes tiles of features of all subjects; each thread has features of its own. */
static vxs_status write_at_once(matrix *m, vxs_error *err)
{
    vxs_build *build = m->build;
    size_t length = build->subjects[m->kept[0]].packed.length, row = m->n * sizeof(float);
    size_t height = TILE / row > 0 ? TILE / row : 1, threads = (size_t)build->nthreads;
    float *lines = vxs_alloc(vxs_times(threads, length), sizeof(*lines), err);
    float *tiles = vxs_alloc(vxs_times(threads, height), row, err);
    vxs_status status = lines && tiles ? VXS_OK : VXS_FAILED;
    int stop = status != VXS_OK;
    vxs_progress progress;
    vxs_progress_start(&progress, build->context, "writing", "features", build->p);
#pragma omp parallel for num_threads(build->nthreads) schedule(dynamic) ordered
    for (size_t first = 0; first < build->p; first += height) {
        vxs_error why = VXS_ERROR_INIT;
        size_t t = (size_t)omp_get_thread_num();
        size_t last = first + height < build->p ? first + height : build->p;
        float *tile = tiles + t * height * m->n;
        bool stopped = __atomic_load_n(&stop, __ATOMIC_RELAXED),
             fine =
                 stopped || !write_next(m, first, last, lines + t * length, tile, &progress, &why);
#pragma omp ordered
        if (fine && !stopped)
            vxs_record_add(&build->record, tile, (last - first) * row);
        if (fine)
            continue;
        __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
#pragma omp critical
        status = vxs_fail(err, why.status, "%s", why.message);
    }
    for (size_t i = 0; i < m->n && !status; i++)
        warn_of_nonfinite(build, &build->subjects[m->kept[i]]);
    free(lines);
    free(tiles);
    return status;
}

/* ---- Blocks of subjects ---------------------------------------------------------------------- */

/* Copies the voxels of the mask, or computes the means of regions. */
static void copy_features(const vxs_build *build, const vxs_volume *volume, double *sums,
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

/* Refuses infinite values: scaling by an image's own statistics may overflow. */
static vxs_status check_row(const vxs_build *build, const vxs_subject *subject, const float *row,
                            vxs_error *err)
{
    for (size_t k = 0; k < build->p; k++)
        if (!isfinite(row[k]))
            return vxs_fail(err, VXS_BAD_DATA,
                            "feature %zu of '%s' is %g after scaling, not a finite number", k,
                            subject->id, (double)row[k]);
    return VXS_OK;
}

static vxs_status fill_row(const vxs_build *build, vxs_subject *subject, float *row, vxs_error *err)
{
    vxs_volume volume = { .values = NULL };
    vxs_packed packed = subject->packed; /* kept by the survey, or read again */
    vxs_status status = packed.spans ? VXS_OK : vxs_build_load(build, subject, &packed, err);
    if (!status)
        status = vxs_packed_volume(&packed, &volume, err);
    vxs_packed_release(&packed);
    subject->packed = packed;
    if (status)
        return status;
    double *sums = build->region ? vxs_alloc(build->p, sizeof(*sums), err) : NULL;
    status = build->region && !sums ? VXS_FAILED : vxs_build_prepare(build, subject, &volume, err);
    if (!status)
        copy_features(build, &volume, sums, row);
    if (!status)
        status = check_row(build, subject, row, err);
    free(sums);
    vxs_volume_release(&volume);
    return status;
}

/* Fills a block; reports the first failure in subject order, whichever thread found it. */
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
    for (size_t k = 0; k < count; k++)
        warn_of_nonfinite(build, &build->subjects[m->kept[first + k]]);
    return VXS_OK;
}

/* Transposes a block into the map and releases finished pages from resident memory. */
static void turn_over(matrix *m, size_t first, size_t count)
{
    bool is_last = first + count == m->n;
    size_t p = m->build->p, row = m->n * sizeof(float);
    size_t window = WINDOW / row > 0 ? WINDOW / row : 1;
    float *items = (float *)(void *)(m->map + m->offset);
    for (size_t start = 0; start < p; start += window) {
        size_t end = start + window < p ? start + window : p;
#pragma omp parallel for num_threads(m->build->nthreads)
        for (size_t j = start; j < end; j++)
            for (size_t k = 0; k < count; k++)
                items[j * m->n + first + k] = m->rows[k * p + j];
        if (is_last)
            vxs_record_add(&m->build->record, items + start * m->n, (end - start) * row);
        madvise(m->map, m->offset + end * row, MADV_DONTNEED);
    }
}

static vxs_status write_in_blocks(matrix *m, vxs_error *err)
{
    vxs_progress progress;
    vxs_status status = VXS_OK;
    vxs_progress_start(&progress, m->build->context, "writing", "subjects", m->n);
    for (size_t first = 0; first < m->n && !status; first += m->block) {
        size_t count = m->n - first < m->block ? m->n - first : m->block;
        status = fill_block(m, first, count, err);
        if (status)
            return status;
        turn_over(m, first, count);
        status = vxs_progress_step(&progress, count, err);
    }
    return status;
}

static vxs_status map_and_write(matrix *m, vxs_error *err)
{
    uint64_t bytes = 0;
    m->block = vxs_build_block(m->build, &bytes);
    m->rows = vxs_alloc(m->block, vxs_times(m->build->p, sizeof(float)), err);
    if (!m->rows)
        return VXS_FAILED;
    vxs_status status = VXS_OK;
    void *map = mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_SHARED, m->file, 0);
    if (map == MAP_FAILED) {
        status =
            errno == ENOMEM
                ? vxs_fail(err, VXS_FAILED, "not enough memory to map features.npy")
                : vxs_fail(err, VXS_CANNOT_WRITE, "cannot map features.npy: %s", strerror(errno));
    } else {
        m->map = map;
        vxs_mapping_add(map, m->size, "features.npy", m->file, true);
        status = write_in_blocks(m, err);
        vxs_mapping_remove(map);
        munmap(m->map, m->size);
    }
    free(m->rows);
    return status;
}

/* ---- Entry point ----------------------------------------------------------------------------- */

static vxs_status make(vxs_build *build, const vxs_output *output, const size_t *kept, size_t n,
                       FILE *stream, vxs_error *err)
{
    matrix m = { .build = build, .output = output, .kept = kept, .n = n };
    vxs_status status = start_file(&m, stream, err);
    if (!status)
        status = fits_at_once(&m) ? write_at_once(&m, err) : map_and_write(&m, err);
    if (!status)
        vxs_record_end(&build->record);
    return status;
}

vxs_status vxs_build_write_matrix(vxs_build *build, vxs_output *output, vxs_error *err)
{
    size_t n = 0;
    size_t *kept = vxs_alloc(build->count, sizeof(*kept), err);
    FILE *stream = NULL;
    vxs_status status = kept ? vxs_output_open(output, "features.npy", &stream, err) : VXS_FAILED;
    for (size_t i = 0; i < build->count && !status; i++)
        if (!build->subjects[i].reason)
            kept[n++] = i;
    if (!status)
        status = make(build, output, kept, n, stream, err);
    if (stream) {
        vxs_status closed = vxs_output_close(output, stream, "features.npy", err);
        status = status ? status : closed;
    }
    free(kept);
    return status;
}
