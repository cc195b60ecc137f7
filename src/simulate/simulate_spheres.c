/* simulate_spheres.c - a score computed from several spheres, or a diagnosis by the score.
 *
 * Model  y = sum over spheres of weight times mean inside + e; the weights alternate between
 *        --effect and -effect, e is normal. Patients have y > median.
 */
#include "simulate/simulate.h"

#include <stdlib.h>

static double weight_of_sphere(const vxs_sim *sim, size_t s)
{
    return s % 2 == 0 ? sim->settings->effect : -sim->settings->effect;
}

/* Weight of a voxel: that of its sphere over its size, so that the score without noise is the
 * weighted sum over voxels. */
static double weight(const vxs_sim *sim, size_t m)
{
    return weight_of_sphere(sim, m / sim->sphere) / (double)sim->sphere;
}

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static vxs_status classify(vxs_sim *sim, vxs_error *err)
{
    double *sorted = vxs_alloc(sim->n, sizeof(*sorted), err);
    sim->positive = vxs_alloc(sim->n, sizeof(*sim->positive), err);
    if (!sorted || !sim->positive) {
        free(sorted);
        return VXS_FAILED;
    }
    for (size_t i = 0; i < sim->n; i++)
        sorted[i] = sim->score[i];
    qsort(sorted, sim->n, sizeof(*sorted), by_size);
    double middle = (sorted[(sim->n - 1) / 2] + sorted[sim->n / 2]) / 2;
    free(sorted);
    for (size_t i = 0; i < sim->n; i++) {
        sim->positive[i] = sim->score[i] > middle;
        sim->summary->positive += sim->positive[i];
    }
    return VXS_OK;
}

static vxs_status act(vxs_sim *sim, vxs_error *err)
{
    vxs_random noise = vxs_sim_stream(sim, STREAM_SCORE);
    sim->score = vxs_alloc(sim->n, sizeof(*sim->score), err);
    if (!sim->score)
        return VXS_FAILED;
    for (size_t i = 0; i < sim->n; i++) {
        const float *row = sim->values + i * sim->p;
        for (size_t m = 0; m < sim->spheres * sim->sphere; m++)
            sim->score[i] += weight(sim, m) * (double)row[sim->members[m]];
        sim->score[i] += sim->settings->noise * vxs_random_normal(&noise, i);
    }
    return sim->settings->target == VXS_SIMULATE_DIAGNOSIS ? classify(sim, err) : VXS_OK;
}

static void write_person(const vxs_sim *sim, vxs_tsv_writer *w, size_t i)
{
    bool classes = sim->settings->target == VXS_SIMULATE_DIAGNOSIS;
    if (i == SIZE_MAX)
        vxs_tsv_text(w, classes ? "diagnosis" : "score");
    else if (classes)
        vxs_tsv_text(w, sim->positive[i] ? "patient" : "control");
    else
        vxs_tsv_real(w, sim->score[i]);
}

static void write_member(const vxs_sim *sim, vxs_tsv_writer *w, size_t m)
{
    if (m == SIZE_MAX) {
        vxs_tsv_text(w, "sphere");
        vxs_tsv_text(w, "weight");
        return;
    }
    size_t sphere = m / sim->sphere + 1;
    vxs_tsv_real(w, (double)sphere);
    vxs_tsv_real(w, weight(sim, m));
}

const struct vxs_plan vxs_plan_spheres = { .made = &vxs_base_grain,
                                           .act = act,
                                           .write_person = write_person,
                                           .write_member = write_member,
                                           .weight = weight };
