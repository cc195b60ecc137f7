/* simulate_skfs.c - the simulations of structured kernel feature selection: a sphere of voxels is
 * perturbed in some subjects, and determines the positive subjects in one of three ways.
 *
 * Change   Every voxel of the sphere changes by a normal value of its own, with mean --effect and
 *          the standard deviation of that image inside the mask (times --spread): the paper
 *          defines sigma "as the standard deviation of voxel intensity values of the original
 *          image"; 262.75 is its mean over images.
 * Linear   Half of the subjects are perturbed; these are the positive ones.
 * Others   Three quarters are perturbed. The voxels of the sphere are assigned to four groups, in
 *          memory order or at random; psi sums a relation of four values, one from each group.
 *          The positive half of all subjects has the largest psi among the perturbed: the paper
 *          ranks "all the perturbed images", so that no other subject is positive.
 * Reading  The paper's sum is over "all v1 in V1, ..., v4 in V4". Over all quadruples, the
 *          additive psi is m^3 times the sum over the k-th voxels of the groups (m voxels per
 *          group), with the same ranks. The nonadditive psi would become products of sums over
 *          groups, without interactions between voxels; the sum over the k-th voxels keeps them,
 *          and serves for both. Up to three voxels beyond a multiple of four are left out.
 * Source   Ren 2017 (dissertation, docs/CITATION.cff), section 4.4.1.
 */
#include "simulate/simulate.h"

#include <math.h>
#include <stdlib.h>

#define GROUPS 4

static double additive(const double v[4])
{
    return sin(v[0]) + exp(v[1] / 2000) + v[2] / 1500 + (v[3] / 1500) * (v[3] / 1500);
}

static double nonadditive(const double v[4])
{
    return v[0] * exp(v[1] / 2000) / 6200 + (v[2] / 1500) * (v[2] / 1500) * v[3];
}

/* ---- Perturbation ---------------------------------------------------------------------------- */

static vxs_status choose_subjects(vxs_sim *sim, vxs_error *err)
{
    vxs_random random = vxs_sim_stream(sim, STREAM_WHO);
    size_t count = (size_t)llround(sim->model->plan->share * (double)sim->n);
    size_t *order = vxs_alloc(sim->n, sizeof(*order), err);
    sim->perturbed = vxs_alloc(sim->n, sizeof(*sim->perturbed), err);
    sim->positive = vxs_alloc(sim->n, sizeof(*sim->positive), err);
    vxs_status status = order && sim->perturbed && sim->positive ? VXS_OK : VXS_FAILED;
    if (!status)
        vxs_random_permutation(&random, order, sim->n);
    for (size_t i = 0; i < count && !status; i++)
        sim->perturbed[order[i]] = true;
    free(order);
    sim->summary->perturbed = count;
    return status;
}

static void perturb(vxs_sim *sim, size_t i)
{
    vxs_random random = vxs_sim_stream(sim, STREAM_CHANGE);
    uint64_t start = (uint64_t)i * vxs_grid_voxels(&sim->build.grid);
    double sd = sim->settings->spread * sim->sigmas[i];
    float *row = sim->values + i * sim->p;
    for (size_t m = 0; m < sim->sphere; m++) {
        size_t j = sim->members[m];
        double normal = vxs_random_normal(&random, start + sim->build.voxels[j]);
        row[j] = (float)((double)row[j] + sim->settings->effect + sd * normal);
    }
}

/* ---- Psi ------------------------------------------------------------------------------------- */

static vxs_status deal_groups(vxs_sim *sim, vxs_error *err)
{
    vxs_random random = vxs_sim_stream(sim, STREAM_GROUPS);
    sim->order = vxs_alloc(sim->sphere, sizeof(*sim->order), err);
    sim->score = vxs_alloc(sim->n, sizeof(*sim->score), err);
    if (!sim->order || !sim->score)
        return VXS_FAILED;
    for (size_t m = 0; m < sim->sphere; m++)
        sim->order[m] = m;
    if (sim->model->plan->shuffled)
        vxs_random_permutation(&random, sim->order, sim->sphere);
    return VXS_OK;
}

static double psi_of(const vxs_sim *sim, size_t i)
{
    const float *row = sim->values + i * sim->p;
    size_t size = sim->sphere / GROUPS;
    double sum = 0;
    for (size_t k = 0; k < size; k++) {
        double v[GROUPS];
        for (size_t g = 0; g < GROUPS; g++)
            v[g] = (double)row[sim->members[sim->order[g * size + k]]];
        sum += sim->model->plan->relation(v);
    }
    return sum;
}

typedef struct {
    double psi;
    size_t subject;
} ranked;

static int by_psi(const void *a, const void *b)
{
    const ranked *left = a, *right = b;
    if (left->psi != right->psi)
        return left->psi < right->psi ? 1 : -1;
    return (left->subject > right->subject) - (left->subject < right->subject);
}

static vxs_status rank(vxs_sim *sim, vxs_error *err)
{
    size_t count = 0;
    ranked *list = vxs_alloc(sim->n, sizeof(*list), err);
    if (!list)
        return VXS_FAILED;
    for (size_t i = 0; i < sim->n; i++)
        if (sim->perturbed[i])
            list[count++] = (ranked){ sim->score[i], i };
    qsort(list, count, sizeof(*list), by_psi);
    for (size_t k = 0; k < sim->n / 2; k++)
        sim->positive[list[k].subject] = true;
    free(list);
    return VXS_OK;
}

static vxs_status relate(vxs_sim *sim, vxs_error *err)
{
    vxs_status status = deal_groups(sim, err);
    for (size_t i = 0; i < sim->n && !status; i++) {
        sim->score[i] = psi_of(sim, i);
        if (!isfinite(sim->score[i]))
            status = vxs_fail(err, VXS_BAD_DATA,
                              "psi of '%s' is not finite: its intensities are too large for the "
                              "model; pass --sigma 262.75 to scale the images",
                              sim->build.subjects[i].id);
    }
    return status ? status : rank(sim, err);
}

static vxs_status act(vxs_sim *sim, vxs_error *err)
{
    vxs_status status = choose_subjects(sim, err);
    if (status)
        return status;
    for (size_t i = 0; i < sim->n; i++)
        if (sim->perturbed[i])
            perturb(sim, i);
    if (sim->model->plan->relation)
        status = relate(sim, err);
    for (size_t i = 0; i < sim->n && !status; i++) {
        if (!sim->model->plan->relation)
            sim->positive[i] = sim->perturbed[i];
        sim->summary->positive += sim->positive[i];
    }
    return status;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void write_person(const vxs_sim *sim, vxs_tsv_writer *w, size_t i)
{
    bool header = i == SIZE_MAX;
    vxs_tsv_text(w, header ? "diagnosis" : sim->positive[i] ? "positive" : "negative");
    vxs_tsv_text(w, header ? "perturbed" : sim->perturbed[i] ? "yes" : "no");
    if (header)
        vxs_tsv_text(w, "sigma");
    else
        vxs_tsv_real(w, sim->sigmas[i]);
    if (sim->model->plan->relation && header)
        vxs_tsv_text(w, "psi");
    else if (sim->model->plan->relation)
        vxs_tsv_real(w, sim->score[i]);
}

/* Writes group and term of a voxel, from 1; empty for voxels that are left out. */
static void write_group(const vxs_sim *sim, vxs_tsv_writer *w, size_t m)
{
    size_t size = sim->sphere / GROUPS, at = 0;
    if (m == SIZE_MAX) {
        vxs_tsv_text(w, "group");
        vxs_tsv_text(w, "term");
        return;
    }
    while (sim->order[at] != m)
        at++;
    size_t group = at / size + 1, term = at % size + 1;
    vxs_tsv_real(w, group <= GROUPS ? (double)group : NAN);
    vxs_tsv_real(w, group <= GROUPS ? (double)term : NAN);
}

#define SKFS                                                                                       \
    .made = &vxs_base_anatomy, .sigma = 262.75, .act = act, .write_person = write_person,          \
    .target = "diagnosis"

const struct vxs_plan vxs_plan_linear = { SKFS, .share = 0.5 };
const struct vxs_plan vxs_plan_additive = { SKFS, .share = 0.75, .relation = additive,
                                            .write_member = write_group };
const struct vxs_plan vxs_plan_nonadditive = { SKFS, .share = 0.75, .relation = nonadditive,
                                               .shuffled = true, .write_member = write_group };
