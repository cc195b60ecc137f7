/* survey.c - reads every image once before anything is written: finds damaged, empty, duplicate and
 * outlying images, and the voxels of the mask. */
#include "cohort/build.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#define BATCH   8   /* most images in memory at once */
#define FAR_OUT 8.0 /* robust standard deviations from the median */
#define NAMED   5   /* most regions without a voxel that a message names */

/* ---- Statistics of one image ----------------------------------------------------------------- */

typedef struct {
    vxs_subject *subject;
    vxs_packed packed;
    vxs_error err;
    bool varies;
} reading;

/* Statistics of an image's values. */
typedef struct {
    size_t nonfinite, nonzero;
    double sum;
    float one; /* some finite value, initially NaN; an image varies if another differs */
    bool varies;
} value_sums;

static void sum_values_with_gaps(const float *values, size_t count, value_sums *sums)
{
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i]))
            continue;
        sums->one = isnan(sums->one) ? values[i] : sums->one;
        sums->varies |= values[i] != sums->one;
        sums->nonzero += values[i] != 0;
        sums->sum += (double)values[i];
    }
}

/* Loops without branches for masked values vectorize; gaps are rare. */
static void sum_values(const float *values, size_t count, value_sums *sums)
{
    int finite = 0, nonzero = 0, differing = 0; /* a line is short */
    double sum = 0;
#pragma omp simd reduction(+ : finite)
    for (size_t i = 0; i < count; i++)
        finite += fabsf(values[i]) <= FLT_MAX; /* false for NaN */
    sums->nonfinite += count - (size_t)finite;
    if (count == 0 || (size_t)finite < count) {
        sum_values_with_gaps(values, count, sums);
        return;
    }
    float one = sums->one = isnan(sums->one) ? values[0] : sums->one;
#pragma omp simd reduction(+ : sum, nonzero, differing)
    for (size_t i = 0; i < count; i++) {
        sum += (double)values[i];
        nonzero += values[i] != 0;
        differing += values[i] != one;
    }
    sums->sum += sum;
    sums->nonzero += (size_t)nonzero;
    sums->varies |= differing > 0;
}

/* Mean of nonzero values, whether values differ, and number of non-finite values. Voxels outside
 * the stored lines share one value. */
static void measure(reading *s, size_t voxels, float *line)
{
    const vxs_packed *packed = &s->packed;
    value_sums sums = { .one = NAN };
    size_t first = 0, seen = 0, nonzero = 0;
    for (size_t l = 0; l < packed->lines; l++) {
        size_t count = vxs_packed_line(packed, l, &first, line);
        sum_values(line, count, &sums);
        seen += count;
    }
    nonzero = sums.nonzero;
    if (seen < voxels) { /* one background value, for whether values differ */
        sum_values(&packed->outside, 1, &sums);
        sums.sum += (double)packed->outside * (double)(voxels - seen - 1);
        nonzero += packed->outside != 0 ? voxels - seen : 0;
    }
    s->varies = sums.varies;
    s->subject->level = nonzero > 0 ? sums.sum / (double)nonzero : 0;
    if (!s->subject->other_grid) /* otherwise counted before resampling */
        s->subject->nonfinite = sums.nonfinite;
}

static void add_values(vxs_build *build, const vxs_subject *subject, const float *values,
                       size_t first, size_t count)
{
    double *sum = build->sum + first;
    int32_t *signal = build->signal + first;
    float *seen = build->last + first;
    uint8_t *missing = build->missing + first, *differs = build->differs + first;
#pragma omp simd
    for (size_t i = 0; i < count; i++)
        differs[i] |= seen[i] != 0 && seen[i] != values[i] && values[i] != 0;
    if (subject->nonfinite == 0) {
#pragma omp simd
        for (size_t i = 0; i < count; i++) {
            sum[i] += (double)values[i];
            signal[i] += values[i] != 0;
            seen[i] = values[i] != 0 ? values[i] : seen[i];
        }
        return;
    }
    for (size_t i = 0; i < count; i++) {
        bool finite = isfinite(values[i]);
        missing[i] |= !finite;
        sum[i] += finite ? (double)values[i] : 0;
        signal[i] += finite && values[i] != 0;
        seen[i] = finite && values[i] != 0 ? values[i] : seen[i];
    }
}

/* Adds a line of an image: its stored span, and the background around it if nonzero. */
static void add_line(vxs_build *build, const reading *s, size_t l, size_t voxels, float *line)
{
    const vxs_packed *packed = &s->packed;
    size_t start = l * packed->length, first = 0;
    size_t length = voxels - start < packed->length ? voxels - start : packed->length;
    if (packed->outside == 0) {
        size_t count = vxs_packed_line(packed, l, &first, line);
        add_values(build, s->subject, line, start + first, count);
        return;
    }
    vxs_packed_whole_line(packed, l, line);
    add_values(build, s->subject, line, start, length);
}

/* Adds images line by line, so that the sums stay in cache; images are added in subject order. */
static vxs_status add_to_survey(vxs_build *build, reading *const *added, size_t count,
                                size_t voxels, vxs_error *err)
{
    size_t length = added[0]->packed.length, lines = added[0]->packed.lines;
    float *room = vxs_alloc(vxs_times((size_t)build->nthreads, length), sizeof(*room), err);
    if (!room)
        return VXS_FAILED;
#pragma omp parallel for num_threads(build->nthreads)
    for (size_t l = 0; l < lines; l++)
        for (size_t k = 0; k < count; k++)
            add_line(build, added[k], l, voxels, room + (size_t)omp_get_thread_num() * length);
    build->surveyed += count;
    free(room);
    return VXS_OK;
}

/* The earlier subject with the same file, or NULL; volumes of one 4D file are no duplicates. */
static const vxs_subject *double_of(const vxs_build *build, const vxs_subject *s)
{
    if (build->is_shared)
        return NULL;
    for (const vxs_subject *other = build->subjects; other < s; other++)
        if (!other->reason && strcmp(other->hash, s->hash) == 0)
            return other;
    return NULL;
}

/* True if the subject stays in. */
static bool check_image(vxs_build *build, reading *s)
{
    vxs_subject *subject = s->subject;
    if (s->err.status) {
        vxs_build_leave_out(build, subject, "%s", s->err.message);
        return false;
    }
    const vxs_subject *twin = double_of(build, subject);
    if (twin)
        vxs_build_leave_out(build, subject, "'%s' is the same file as '%s' of '%s'", subject->path,
                            twin->path, twin->id);
    else if (!s->varies)
        vxs_build_leave_out(build, subject,
                            subject->nonfinite > 0
                                ? "'%s' has no two values that differ and are finite as float32"
                            : vxs_packed_items_differ(&s->packed)
                                ? "'%s' has values that differ by less than float32 can hold: "
                                  "subtract what they have in common first"
                            : subject->other_grid
                                ? "'%s' has no two values that differ within the cohort's grid: is "
                                  "it in the same space?"
                                : "'%s' is empty: all its values are the same",
                            subject->path);
    else if (subject->nonfinite > 0 && build->settings->nan == VXS_NAN_ERROR)
        vxs_build_leave_out(build, subject, "'%s' has %zu NaN or infinite value%s", subject->path,
                            subject->nonfinite, vxs_plural(subject->nonfinite));
    bool dropped = build->settings->nan == VXS_NAN_DROP;
    bool later = !dropped && !subject->other_grid && !build->settings->dry_run; /* with the mask */
    if (subject->nonfinite > 0 && !subject->reason && !later)
        vxs_log(build->context, VXS_LOG_WARNING, "'%s' has %zu NaN or infinite value%s: %s",
                subject->path, subject->nonfinite, vxs_plural(subject->nonfinite),
                dropped ? "their voxels are dropped" : "they count as 0");
    return !subject->reason;
}

/* Keeps an image for writing while memory allows, otherwise releases it. */
static void keep_or_release(vxs_build *build, reading *s)
{
    uint64_t with = build->packed_bytes + s->packed.bytes;
    uint64_t fixed = vxs_build_fixed_bytes(build), mem = (uint64_t)build->settings->mem;
    bool fits = fixed < mem && with <= (mem - fixed) / 2;
    if (!s->subject->reason && !build->is_shared && fits) {
        s->subject->packed = s->packed;
        build->packed_bytes = with;
    } else {
        vxs_packed_release(&s->packed);
    }
}

static void read_and_measure(vxs_build *build, reading *s, size_t voxels)
{
    if (vxs_build_load(build, s->subject, &s->packed, &s->err))
        return;
    float *line = vxs_alloc(s->packed.length, sizeof(*line), &s->err);
    if (line)
        measure(s, voxels, line);
    free(line);
}

/* Reads a batch with all threads. Lack of memory ends the call; any other error leaves one subject
 * out. */
static vxs_status read_batch(vxs_build *build, reading *readings, size_t count, vxs_error *err)
{
    size_t voxels = vxs_grid_voxels(&build->grid), added = 0;
    reading *good[BATCH];
    vxs_status status = VXS_OK;
#pragma omp parallel for num_threads(build->nthreads) schedule(dynamic)
    for (size_t k = 0; k < count; k++)
        read_and_measure(build, &readings[k], voxels);
    for (size_t k = 0; k < count; k++) {
        if (readings[k].err.status == VXS_FAILED && !status)
            status = vxs_fail(err, VXS_FAILED, "%s", readings[k].err.message);
        if (check_image(build, &readings[k]))
            good[added++] = &readings[k];
    }
    if (!status && added > 0)
        status = add_to_survey(build, good, added, voxels, err);
    for (size_t k = 0; k < count; k++)
        keep_or_release(build, &readings[k]);
    return status;
}

/* Reads images in parallel and checks them one by one in subject order. */
static vxs_status read_all(vxs_build *build, vxs_error *err)
{
    uint64_t an_image = 4 * (uint64_t)vxs_grid_voxels(&build->grid);
    uint64_t fixed = vxs_build_fixed_bytes(build), mem = (uint64_t)build->settings->mem;
    uint64_t fit = fixed < mem ? (mem - fixed) / 4 / an_image : 0;
    size_t batch = fit < (uint64_t)build->nthreads ? (size_t)build->nthreads : (size_t)fit;
    size_t next = 0;
    vxs_progress progress;
    vxs_status status = VXS_OK;
    batch = batch < BATCH ? batch : BATCH;
    vxs_progress_start(&progress, build->context, "checking", "images", vxs_build_kept(build));
    while (next < build->count && !status) {
        size_t count = 0;
        reading readings[BATCH];
        for (; next < build->count && count < batch; next++)
            if (!build->subjects[next].reason)
                readings[count++] =
                    (reading){ .subject = &build->subjects[next], .err = VXS_ERROR_INIT };
        status = read_batch(build, readings, count, err);
        if (!status && count > 0)
            status = vxs_progress_step(&progress, count, err);
    }
    return status;
}

/* ---- Outliers -------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), by_size);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* Warns rather than refuses: intensities of scanners differ, and --scale may correct it. */
static vxs_status warn_of_outliers(const vxs_build *build, vxs_error *err)
{
    size_t kept = 0;
    double *levels = vxs_alloc(build->count, sizeof(*levels), err);
    if (!levels)
        return VXS_FAILED;
    for (size_t i = 0; i < build->count; i++)
        if (!build->subjects[i].reason)
            levels[kept++] = build->subjects[i].level;
    double middle = median(levels, kept);
    for (size_t k = 0; k < kept; k++)
        levels[k] = fabs(levels[k] - middle);
    double spread =
        1.4826 * median(levels, kept); /* MAD to standard deviation of a normal distribution */
    for (size_t i = 0; i < build->count; i++) {
        const vxs_subject *s = &build->subjects[i];
        if (!s->reason && spread > 0 && fabs(s->level - middle) > FAR_OUT * spread)
            vxs_log(build->context, VXS_LOG_WARNING,
                    "'%s' is an outlier in intensity: the mean of its nonzero values is %.3g, the "
                    "median over images %.3g",
                    s->path, s->level, middle);
    }
    free(levels);
    return VXS_OK;
}

/* ---- The mask -------------------------------------------------------------------------------- */

/* Reads a map of labels or probabilities on the cohort's grid, or resampled to it on request. */
vxs_status vxs_build_read_on_grid(const vxs_build *build, const char *path, const char *what,
                                  vxs_volume *volume, vxs_error *err)
{
    vxs_image image;
    vxs_volume stored = { .values = NULL };
    char here[VXS_ORIENTATION_TEXT], there[VXS_ORIENTATION_TEXT];
    vxs_status status = vxs_image_read(path, &image, err);
    if (status)
        return status;
    if (image.volumes != 1)
        status = vxs_fail(err, VXS_BAD_DATA, "cannot use '%s' as %s: it has %zu volumes", path,
                          what, image.volumes);
    if (!status)
        status = vxs_volume_from_image(&image, 0, &stored, err);
    vxs_image_release(&image);
    if (!status)
        status = vxs_grid_check_orientation_known(&stored.grid, &build->grid, path, what, err);
    if (status) {
        vxs_volume_release(&stored);
        return status;
    }
    double distance = vxs_grid_distance(&stored.grid, &build->grid);
    bool asked = build->settings->resample || build->settings->voxel_size > 0;
    if (distance <= build->settings->tolerance) {
        *volume = stored;
        return VXS_OK;
    }
    if (asked) {
        status = vxs_volume_resample(&stored, &build->grid, VXS_NEAREST, volume, err);
    } else {
        vxs_grid_orientation_text(&stored.grid, here);
        vxs_grid_orientation_text(&build->grid, there);
        status =
            isinf(distance)
                ? vxs_fail(err, VXS_BAD_DATA,
                           "cannot use '%s' as %s: it has %zu x %zu x %zu voxels, the images have "
                           "%zu x %zu x %zu; pass --resample to change it to their grid",
                           path, what, stored.grid.shape[0], stored.grid.shape[1],
                           stored.grid.shape[2], build->grid.shape[0], build->grid.shape[1],
                           build->grid.shape[2])
                : vxs_fail(err, VXS_BAD_DATA,
                           "cannot use '%s' as %s: its grid (%s) differs from that of the images "
                           "(%s) by %.3g mm at a corner; pass --resample to change it to theirs",
                           path, what, here, there, distance);
    }
    vxs_volume_release(&stored);
    return status;
}

vxs_status vxs_build_read_mask(vxs_build *build, vxs_error *err)
{
    size_t voxels = vxs_grid_voxels(&build->grid);
    vxs_volume volume;
    vxs_status status = vxs_build_read_on_grid(build, build->settings->mask, "mask", &volume, err);
    if (status)
        return status;
    for (size_t v = 0; v < voxels; v++)
        build->mask[v] = isfinite(volume.values[v]) && volume.values[v] != 0;
    vxs_volume_release(&volume);
    return VXS_OK;
}

static vxs_status mean_mask(vxs_build *build, size_t voxels, vxs_error *err)
{
    vxs_volume mean;
    vxs_status status = vxs_volume_new(&build->grid, &mean, err);
    if (status)
        return status;
    for (size_t v = 0; v < voxels; v++)
        mean.values[v] = (float)(build->sum[v] / (double)build->surveyed);
    status = vxs_mask_auto(&mean, build->mask, err);
    vxs_volume_release(&mean);
    return status;
}

/* Counts voxels that are equal in all subjects: they predict nothing, and many indicate a wrong
 * mask. */
static void warn_of_constant(vxs_build *build)
{
    for (size_t k = 0; k < build->p; k++) {
        size_t v = build->voxels[k];
        bool always = (size_t)build->signal[v] == build->surveyed;
        build->constant += build->signal[v] == 0 || (always && !build->differs[v]);
    }
    if (build->constant > 0 && !build->settings->mask)
        vxs_log(build->context, VXS_LOG_WARNING,
                "%zu of the mask's %zu voxels have the same value in every image", build->constant,
                build->p);
}

static vxs_status make_mask(vxs_build *build, size_t voxels, vxs_error *err)
{
    const vxs_cohort_settings *settings = build->settings;
    bool by_fraction = !isnan(settings->mask_fraction);
    vxs_status status = VXS_OK;
    if (settings->mask)
        status = vxs_build_read_mask(build, err);
    else if (by_fraction)
        memset(build->mask, 1, voxels);
    else
        status = mean_mask(build, voxels, err);
    if (status)
        return status;
    double least = by_fraction ? settings->mask_fraction * (double)build->surveyed : 0;
    for (size_t v = 0; v < voxels; v++) {
        bool enough = !by_fraction || (build->signal[v] > 0 && (double)build->signal[v] >= least);
        bool dropped = settings->nan == VXS_NAN_DROP && build->missing[v];
        build->mask[v] = build->mask[v] && enough && !dropped;
        build->p += build->mask[v];
    }
    if (build->p == 0)
        return vxs_fail(err, VXS_BAD_DATA, "the mask has no voxel");
    build->voxels = vxs_alloc(build->p, sizeof(*build->voxels), err);
    if (!build->voxels)
        return VXS_FAILED;
    for (size_t v = 0, k = 0; v < voxels; v++)
        if (build->mask[v])
            build->voxels[k++] = v;
    warn_of_constant(build);
    return VXS_OK;
}

/* ---- Regions --------------------------------------------------------------------------------- */

/* Keeps the regions with a voxel in the mask. */
static vxs_status keep_regions(vxs_build *build, vxs_error *err)
{
    vxs_atlas *atlas = &build->atlas;
    size_t kept = 0, all = atlas->count;
    for (size_t r = 0; r < all; r++) {
        if (build->weights[r] == 0) {
            if (r - kept < NAMED)
                vxs_log(build->context, VXS_LOG_WARNING,
                        "left out region '%s' of '%s': it has no voxel in the mask",
                        atlas->names[r], build->settings->atlas);
            free(atlas->names[r]);
            continue;
        }
        atlas->names[kept] = atlas->names[r];
        atlas->values[kept] = atlas->values[r];
        build->weights[kept++] = build->weights[r];
    }
    build->p = atlas->count = kept;
    if (all - kept > NAMED)
        vxs_log(build->context, VXS_LOG_WARNING, "left out %zu more region%s without a voxel",
                all - kept - NAMED, vxs_plural(all - kept - NAMED));
    return kept > 0 ? VXS_OK
                    : vxs_fail(err, VXS_BAD_DATA, "no region of '%s' has a voxel in the mask",
                               build->settings->atlas);
}

static int by_name(const void *a, const void *b, void *data)
{
    char *const *names = data;
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    int order = strcmp(names[left], names[right]);
    return order ? order : (left > right) - (left < right);
}

/* Makes region names unique: some atlases use one name for the region of both hemispheres. */
static vxs_status make_names_unique(vxs_build *build, vxs_error *err)
{
    vxs_atlas *atlas = &build->atlas;
    size_t *order = vxs_alloc(build->p, sizeof(*order), err);
    bool *shared = vxs_alloc(build->p, sizeof(*shared), err);
    vxs_status status = order && shared ? VXS_OK : VXS_FAILED;
    for (size_t r = 0; r < build->p && !status; r++)
        order[r] = r;
    if (!status)
        qsort_r(order, build->p, sizeof(*order), by_name, (void *)atlas->names);
    for (size_t k = 1; k < build->p && !status; k++)
        if (strcmp(atlas->names[order[k - 1]], atlas->names[order[k]]) == 0)
            shared[order[k - 1]] = shared[order[k]] = true;
    for (size_t r = 0; r < build->p && !status; r++) {
        char *own = shared[r]
                        ? vxs_format(err, "%s (label %d)", atlas->names[r], (int)atlas->values[r])
                        : NULL;
        status = shared[r] && !own ? VXS_FAILED : VXS_OK;
        if (own) {
            free(atlas->names[r]);
            atlas->names[r] = own;
        }
    }
    free(order);
    free(shared);
    return status;
}

/* Finds the region of each voxel of the mask. */
static vxs_status find_regions(vxs_build *build, size_t voxels, vxs_error *err)
{
    vxs_status status =
        vxs_atlas_read(build->settings->atlas, build->settings->atlas_names, &build->atlas, err);
    int32_t *labels = status ? NULL : vxs_alloc(voxels, sizeof(*labels), err);
    size_t masked = build->p;
    if (!labels)
        return status ? status : VXS_FAILED;
    status = vxs_atlas_resample(&build->atlas, &build->grid, labels, err);
    build->region = vxs_alloc(masked, sizeof(*build->region), err);
    build->weights = vxs_alloc(build->atlas.count, sizeof(*build->weights), err);
    if (!build->region || !build->weights)
        status = VXS_FAILED;
    for (size_t k = 0; k < masked && !status; k++) {
        size_t at = vxs_atlas_find(&build->atlas, labels[build->voxels[k]]);
        if (at < build->atlas.count)
            build->weights[at]++;
    }
    if (!status)
        status = keep_regions(build, err);
    if (!status)
        status = make_names_unique(build, err);
    for (size_t k = 0; k < masked && !status; k++) {
        size_t at = vxs_atlas_find(&build->atlas, labels[build->voxels[k]]);
        build->region[k] = at < build->p ? (int32_t)at : -1;
    }
    free(labels);
    return status;
}

/* ---- Entry point ----------------------------------------------------------------------------- */

vxs_status vxs_build_survey(vxs_build *build, vxs_error *err)
{
    double start = vxs_seconds();
    size_t voxels = vxs_grid_voxels(&build->grid);
    build->mask = vxs_alloc(voxels, sizeof(*build->mask), err);
    build->signal = vxs_alloc(voxels, sizeof(*build->signal), err);
    build->missing = vxs_alloc(voxels, sizeof(*build->missing), err);
    build->sum = vxs_alloc(voxels, sizeof(*build->sum), err);
    build->last = vxs_alloc(voxels, sizeof(*build->last), err);
    build->differs = vxs_alloc(voxels, sizeof(*build->differs), err);
    if (!build->mask || !build->signal || !build->missing || !build->sum || !build->last ||
        !build->differs)
        return VXS_FAILED;
    vxs_status status = read_all(build, err);
    if (!status)
        status = vxs_build_check_problems(build, err);
    if (!status)
        status = warn_of_outliers(build, err);
    if (!status)
        status = make_mask(build, voxels, err);
    if (!status && build->settings->regions)
        status = find_regions(build, voxels, err);
    if (!status && build->settings->scale == VXS_SCALE_SUVR)
        status = vxs_build_find_reference(build, voxels, err);
    if (!status)
        status = vxs_build_check_views(build, err);
    free(build->sum); /* used for the mask alone */
    free(build->last);
    build->sum = NULL;
    build->last = NULL;
    build->survey_seconds = vxs_seconds() - start;
    return status;
}
