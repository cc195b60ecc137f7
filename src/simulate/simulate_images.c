/* simulate_images.c - makes a simulated cohort of images, step by step.
 *
 * Memory   The features of all subjects, and one image per thread.
 * Threads  Subjects are independent; sums over them are in subject order.
 */
#include "simulate/simulate.h"
#include "voxsift/internal/machine.h"

#include <math.h>
#include <stdlib.h>

#define BLOCK_BYTES (1 << 22) /* bytes of features between two writes */

vxs_random vxs_sim_stream(const vxs_sim *sim, int stream)
{
    return (vxs_random){ (uint64_t)sim->settings->seed, (uint64_t)stream };
}

vxs_status vxs_sim_each(vxs_sim *sim, const char *task, vxs_sim_work *work, vxs_error *err)
{
    vxs_progress progress;
    vxs_status status = VXS_OK;
    int stop = 0;
    vxs_progress_start(&progress, sim->context, task, "subjects", sim->n);
#pragma omp parallel for num_threads(sim->build.nthreads) schedule(dynamic)
    for (size_t i = 0; i < sim->n; i++) {
        vxs_error why = VXS_ERROR_INIT;
        if (__atomic_load_n(&stop, __ATOMIC_RELAXED) ||
            (!work(sim, i, &why) && !vxs_progress_step(&progress, 1, &why)))
            continue;
        __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
#pragma omp critical
        status = vxs_fail(err, why.status, "%s", why.message);
    }
    return status;
}

/* ---- Images ---------------------------------------------------------------------------------- */

static vxs_status fill_row(vxs_sim *sim, size_t i, vxs_error *err)
{
    float *row = sim->values + i * sim->p;
    vxs_status status = sim->base->fill(sim, i, sim->build.voxels, sim->p, row, err);
    double sum = 0, squares = 0;
    for (size_t j = 0; j < sim->p && !status; j++)
        sum += (double)row[j];
    for (size_t j = 0; j < sim->p && !status; j++) {
        double e = (double)row[j] - sum / (double)sim->p;
        squares += e * e;
    }
    sim->sigmas[i] = sqrt(squares / (double)(sim->p > 1 ? sim->p - 1 : 1));
    return status;
}

/* Scales images to the target sigma: that of the settings, or, for simulated images, that of the
 * plan. */
static vxs_status scale(vxs_sim *sim, vxs_error *err)
{
    double target = sim->settings->sigma, sum = 0;
    if (sim->model->plan->sigma > 0 && isnan(target) && !sim->settings->images)
        target = sim->model->plan->sigma;
    for (size_t i = 0; i < sim->n; i++)
        sum += sim->sigmas[i] / (double)sim->n;
    if (!(sum > 0))
        return vxs_fail(err, VXS_BAD_DATA,
                        "the images have the same value everywhere inside the mask");
    sim->factor = sim->model->plan->sigma > 0 && target > 0 ? target / sum : 1;
    for (size_t k = 0; k < sim->n * sim->p; k++)
        sim->values[k] = (float)((double)sim->values[k] * sim->factor);
    for (size_t i = 0; i < sim->n; i++)
        sim->sigmas[i] *= sim->factor;
    return VXS_OK;
}

/* Summarizes the images before any change. */
static void summarize(vxs_sim *sim)
{
    vxs_simulation_summary *s = sim->summary;
    double index[3];
    vxs_grid_index(&sim->build.grid, sim->centers[0], index);
    vxs_grid_position(&sim->build.grid, index, s->center);
    vxs_grid_voxel_size(&sim->build.grid, s->voxel_size);
    s->subjects = sim->n;
    s->features = sim->p;
    s->spheres = sim->spheres;
    s->sphere = sim->sphere;
    s->factor = sim->factor;
    for (size_t i = 0; i < sim->n; i++)
        s->sigma += sim->sigmas[i] / (double)sim->n;
    for (size_t j = 0; j < sim->p; j++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < sim->n; i++)
            sum += (double)sim->values[i * sim->p + j];
        for (size_t i = 0; i < sim->n; i++) {
            double e = (double)sim->values[i * sim->p + j] - sum / (double)sim->n;
            squares += e * e;
        }
        s->mean += sum / (double)sim->n / (double)sim->p;
        s->between += sqrt(squares / (double)(sim->n - 1)) / (double)sim->p;
    }
}

/* Counts per voxel the simulated images with signal, for coverage.nii.gz. */
static void count_signal(vxs_sim *sim)
{
    for (size_t j = 0; j < sim->p; j++) {
        int32_t count = 0;
        for (size_t i = 0; i < sim->n; i++)
            count += sim->values[i * sim->p + j] != 0;
        sim->build.signal[sim->build.voxels[j]] = count;
    }
}

static vxs_status make(vxs_sim *sim, vxs_error *err)
{
    vxs_status status = sim->base->prepare(sim, err);
    if (!status)
        status = sim->model->plan->place ? sim->model->plan->place(sim, err)
                                         : vxs_sim_place_spheres(sim, err);
    if (status)
        return status;
    sim->values = vxs_alloc(sim->n, vxs_times(sim->p, sizeof(*sim->values)), err);
    sim->sigmas = vxs_alloc(sim->n, sizeof(*sim->sigmas), err);
    status =
        sim->values && sim->sigmas ? vxs_sim_each(sim, "simulating", fill_row, err) : VXS_FAILED;
    if (!status)
        status = scale(sim, err);
    if (status)
        return status;
    summarize(sim);
    if (!sim->settings->images)
        count_signal(sim);
    return sim->model->plan->act(sim, err);
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* Writes p x n values, so that those of a feature are contiguous. */
static vxs_status write_features(vxs_sim *sim, FILE *stream, vxs_error *err)
{
    size_t shape[2] = { sim->p, sim->n }, height = BLOCK_BYTES / sizeof(float) / sim->n + 1;
    float *block = vxs_alloc(height, vxs_times(sim->n, sizeof(*block)), err);
    vxs_features_record *record = &sim->build.record;
    vxs_status status =
        block ? vxs_record_begin(record, "features.npy", stream, 'f', sizeof(float), 2, shape, err)
              : VXS_FAILED;
    for (size_t first = 0; first < sim->p && !status; first += height) {
        size_t count = sim->p - first < height ? sim->p - first : height;
        for (size_t i = 0; i < sim->n; i++)
            for (size_t j = 0; j < count; j++)
                block[j * sim->n + i] = sim->values[i * sim->p + first + j];
        vxs_record_add(record, block, sim->n * sizeof(*block) * count);
        fwrite(block, sim->n * sizeof(*block), count, stream);
        status = vxs_check_interrupted(sim->context, err);
    }
    if (!status)
        vxs_record_end(record);
    free(block);
    return status;
}

static vxs_status write_all(vxs_sim *sim, vxs_output *output, vxs_error *err)
{
    FILE *stream;
    vxs_status status = vxs_output_open(output, "features.npy", &stream, err);
    if (status)
        return status;
    status = write_features(sim, stream, err);
    vxs_status closed = vxs_output_close(output, stream, "features.npy", err);
    status = status ? status : closed;
    if (!status)
        status = vxs_sim_describe(sim, output, err);
    if (!status && sim->settings->write_images)
        status = vxs_sim_write_images(sim, output, err);
    return status;
}

static void release(vxs_sim *sim)
{
    sim->base->release(sim);
    vxs_build_release(&sim->build);
    vxs_volume_release(&sim->underlay);
    free(sim->values);
    free(sim->sigmas);
    free(sim->centers);
    free(sim->members);
    free(sim->perturbed);
    free(sim->positive);
    free(sim->score);
    free(sim->order);
}

vxs_status vxs_simulate_images(const vxs_context *context, const vxs_simulation *model,
                               const vxs_image_simulation *settings, const char *directory,
                               bool replace, vxs_simulation_summary *summary, vxs_error *err)
{
    vxs_sim sim = { .context = context, .settings = settings, .model = model, .summary = summary };
    vxs_output *output = NULL;
    double start = vxs_seconds();
    *summary = (vxs_simulation_summary){ .subjects = 0 };
    vxs_params_defaults(vxs_cohort_params, &sim.how);
    vxs_params_defaults(vxs_source_params, &sim.how);
    sim.how.mask = settings->mask;
    sim.how.resample = settings->resample;
    sim.how.voxel_size = settings->voxel_size;
    sim.build.settings = &sim.how;
    sim.build.nthreads = vxs_context_threads(context);
    sim.base = settings->images ? &vxs_base_given : model->plan->made;
    sim.n = (size_t)settings->subjects;
    vxs_status status = VXS_OK;
    if (settings->images && settings->shape)
        status = vxs_fail(err, VXS_MISUSE, "'--shape' applies to simulated images only");
    if (!status)
        status = vxs_output_new(context, directory, replace, &output, err);
    if (!status)
        status = make(&sim, err);
    if (!status)
        status = write_all(&sim, output, err);
    if (!status)
        status = vxs_check_interrupted(context, err);
    if (!status)
        status = vxs_output_commit(output, err);
    vxs_output_free(output);
    release(&sim);
    summary->seconds = vxs_seconds() - start;
    return status;
}
