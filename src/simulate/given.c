/* given.c - the user's images as the base of a simulation: listed, checked and resampled to one
 * grid like those of a cohort; a random sample if there are more than requested. */
#include "simulate/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Collects the errors of making a cohort, one per unusable subject; the first becomes the one-line
 * error of the simulation. */
typedef struct {
    const vxs_context *outer;
    vxs_error first;
    size_t problems;
} listener;

static void listen(void *user, vxs_log_level level, const char *message)
{
    listener *l = user;
    if (level != VXS_LOG_ERROR) {
        vxs_log(l->outer, level, "%s", message);
        return;
    }
    l->problems++;
    vxs_fail(&l->first, VXS_BAD_DATA, "%s", message);
}

static void pass_progress(void *user, const char *task, const char *unit, uint64_t done,
                          uint64_t total)
{
    const vxs_context *outer = ((listener *)user)->outer;
    if (outer && outer->progress)
        outer->progress(outer->user, task, unit, done, total);
}

static vxs_status list(vxs_sim *sim, vxs_error *err)
{
    const char *images = sim->settings->images;
    const char *sources[] = { images, NULL };
    vxs_error why = VXS_ERROR_INIT;
    vxs_status status = vxs_build_list(&sim->build, sources, &why);
    if (status == VXS_MISUSE) /* a table: --images has a message of its own */
        return vxs_fail(err, VXS_MISUSE,
                        "--images expects a folder, a list of images (.txt) or a pattern, not '%s'",
                        images);
    if (status)
        return vxs_fail(err, status, "%s", why.message);
    if (sim->build.count < sim->n)
        return vxs_fail(err, VXS_BAD_DATA,
                        "'%s' has %zu images, but %zu subjects are required; pass --subjects",
                        images, sim->build.count, sim->n);
    return VXS_OK;
}

/* Draws a random subset of the images, in their order. */
static vxs_status choose(vxs_sim *sim, vxs_error *err)
{
    vxs_build *build = &sim->build;
    vxs_random random = vxs_sim_stream(sim, STREAM_WHICH_IMAGES);
    size_t *order = vxs_alloc(build->count, sizeof(*order), err);
    bool *chosen = vxs_alloc(build->count, sizeof(*chosen), err);
    vxs_status status = order && chosen ? VXS_OK : VXS_FAILED;
    if (!status)
        vxs_random_permutation(&random, order, build->count);
    for (size_t i = 0; i < sim->n && !status; i++)
        chosen[order[i]] = true;
    size_t kept = 0;
    for (size_t i = 0; i < build->count && !status; i++) {
        vxs_subject s = build->subjects[i];
        if (!chosen[i]) {
            free(s.id);
            free(s.path);
            continue;
        }
        s.row = kept;
        build->subjects[kept++] = s;
    }
    build->count = status ? build->count : kept;
    free(order);
    free(chosen);
    return status;
}

static int by_id(const void *a, const void *b)
{
    const vxs_subject *left = *(const vxs_subject *const *)a,
                      *right = *(const vxs_subject *const *)b;
    int order = strcmp(left->id, right->id);
    return order ? order : (left > right) - (left < right);
}

/* Checks the ids, which name subjects and written images. */
static vxs_status check_ids(const vxs_sim *sim, vxs_error *err)
{
    const vxs_subject **s = vxs_alloc(sim->n, sizeof(*s), err);
    vxs_status status = s ? VXS_OK : VXS_FAILED;
    for (size_t i = 0; i < sim->n && s; i++)
        s[i] = &sim->build.subjects[i];
    if (s)
        qsort((void *)s, sim->n, sizeof(*s), by_id);
    for (size_t i = 1; i < sim->n && !status; i++)
        if (strcmp(s[i - 1]->id, s[i]->id) == 0)
            status = vxs_fail(err, VXS_BAD_DATA, "'%s' and '%s' have the same id '%s'",
                              s[i - 1]->path, s[i]->path, s[i]->id);
    free((void *)s);
    return status;
}

/* Checks that the images are in MNI space, which defines the lobe. */
static vxs_status check_space(const vxs_sim *sim, vxs_error *err)
{
    const vxs_grid *grid = &sim->build.grid;
    if (sim->settings->mask || grid->sform_code == 4 || grid->qform_code == 4)
        return VXS_OK;
    return vxs_fail(err, VXS_BAD_DATA,
                    "the header of '%s' does not declare MNI space, which the default mask "
                    "requires; pass --mask",
                    sim->build.subjects[0].path);
}

static vxs_status survey(vxs_sim *sim, vxs_error *err)
{
    listener ears = { .outer = sim->context, .first = VXS_ERROR_INIT };
    vxs_context context = sim->context ? *sim->context : (vxs_context){ .nthreads = 1 };
    vxs_error why = VXS_ERROR_INIT;
    context.log = listen;
    context.progress = pass_progress;
    context.user = &ears;
    context.command = NULL;
    sim->build.context = &context;
    vxs_status status = vxs_build_check_headers(&sim->build, &why);
    if (!status)
        status = check_space(sim, &why);
    if (!status)
        status = vxs_build_survey(&sim->build, &why);
    sim->build.context = NULL;
    if (status == VXS_BAD_DATA && ears.problems > 1)
        return vxs_fail(err, status, "%s (and %zu more)", ears.first.message, ears.problems - 1);
    if (status)
        return vxs_fail(err, status, "%s", ears.problems ? ears.first.message : why.message);
    return VXS_OK;
}

static vxs_status prepare(vxs_sim *sim, vxs_error *err)
{
    vxs_status status = list(sim, err);
    if (!status)
        status = choose(sim, err);
    if (!status)
        status = check_ids(sim, err);
    sim->how.mask_fraction = sim->how.mask ? NAN : 0; /* without a mask: all voxels with signal */
    if (!status)
        status = survey(sim, err);
    if (!status && !sim->settings->mask)
        status = vxs_sim_read_underlay(sim, &sim->build.grid, err);
    if (!status && !sim->settings->mask)
        status = vxs_sim_cut_lobe(sim, err);
    if (!status)
        status = vxs_sim_list_mask(sim, err);
    return status;
}

static vxs_status fill(const vxs_sim *sim, size_t i, const size_t *voxels, size_t count,
                       float *values, vxs_error *err)
{
    vxs_subject *subject = &sim->build.subjects[i];
    vxs_packed packed = subject->packed; /* kept by the survey, or read again */
    bool kept = packed.spans != NULL;
    vxs_volume volume;
    vxs_status status = kept ? VXS_OK : vxs_build_load(&sim->build, subject, &packed, err);
    if (status)
        return status;
    status = vxs_packed_volume(&packed, &volume, err);
    if (!kept)
        vxs_packed_release(&packed);
    if (status)
        return status;
    status = vxs_build_prepare(&sim->build, subject, &volume, err);
    for (size_t c = 0; c < count && !status; c++)
        values[c] = volume.values[voxels[c]];
    vxs_volume_release(&volume);
    return status;
}

static void release(vxs_sim *sim)
{
    (void)sim;
}

const vxs_base vxs_base_given = { prepare, fill, release };
