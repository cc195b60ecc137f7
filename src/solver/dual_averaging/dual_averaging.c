/* dual_averaging.c - structured kernel feature selection by dual averages.
 *
 * Problem   that of skfs.c
 * Step      t draws a sample, takes the subgradient g there, and puts
 *           a = [-t gbar / (2 gamma (1 + ln t))]+, gbar being the mean of all subgradients so far
 * Gap       found at the end: alpha is how often a sample was within its margin when it was drawn,
 *           and bounds the value as any other alpha
 * Cost      a step: a row of kernel scores
 * Source    dissertation, algorithm 4; |a|^2 is not strongly convex enough for its theorem 2 to
 *           give a rate here, and the value indeed comes near the optimum slowly */
#include "solver/interior_point/skfs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHECK 1024 /* steps between two looks at whether to stop */

typedef struct {
    vxs_skfs *s;
    double rho;
    float *row;             /* rows x p */
    double *mean;           /* p: gbar */
    double *pull;           /* p: 2 S La */
    double *reach;          /* rows: cumulated weights */
    double *drawn, *within; /* rows */
} average;

static vxs_status turn_rows(vxs_skfs *s, vxs_error *err)
{
    if (s->by_row)
        return VXS_OK;
    s->by_row = vxs_alloc(s->rows, s->p * sizeof(*s->by_row), err);
    for (size_t j = 0; j < s->p && s->by_row; j++) {
        vxs_design_fetch(s->problem.design, &j, 1, s->column);
        for (size_t m = 0; m < s->rows; m++)
            s->by_row[m * s->p + j] = (float)(s->column[s->row[m]] * s->unit);
    }
    return s->by_row ? VXS_OK : VXS_FAILED;
}

static size_t draw(const average *v, uint64_t number)
{
    vxs_random random = { (uint64_t)v->s->settings.kernels.sample_seed, 1 };
    double at = vxs_random_uniform(&random, number) * v->reach[v->s->rows - 1];
    size_t low = 0, high = v->s->rows - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (v->reach[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void find_pull(const average *v)
{
    const vxs_skfs *s = v->s;
    for (size_t j = 0; j < s->p && s->smooth > 0; j++) {
        double around = s->degree[j] * s->a[j];
        for (size_t e = s->start[j]; e < s->start[j + 1]; e++)
            around -= s->edge[e] * s->a[s->neighbour[e]];
        v->pull[j] = 2 * s->smooth * around;
    }
}

static void step(average *v, uint64_t number)
{
    vxs_skfs *s = v->s;
    size_t m = draw(v, number);
    const float *row = v->row + m * s->p;
    double t = (double)number + 1, reached = 0;
    for (size_t j = 0; j < s->p; j++)
        reached += (double)row[j] * s->a[j];
    double active = reached < 1 ? 1 : 0;
    v->drawn[m]++;
    v->within[m] += active;
    find_pull(v);
    double size = t / (2 * s->settings.kernels.gamma * (1 + log(t)));
    for (size_t j = 0; j < s->p; j++) {
        double g = v->rho + v->pull[j] - active * (double)row[j];
        v->mean[j] += (g - v->mean[j]) / t;
        s->a[j] = fmax(0, -size * v->mean[j]);
    }
}

/* The answer's voxels become members, and samples that were never drawn count as within. */
static vxs_status settle(average *v, vxs_certificate *c, vxs_error *err)
{
    vxs_skfs *s = v->s;
    size_t count = 0;
    for (size_t m = 0; m < s->rows; m++)
        s->alpha[m] = v->drawn[m] > 0 ? s->u[m] * v->within[m] / v->drawn[m] : s->u[m];
    memcpy(s->inside, s->a, s->p * sizeof(*s->a));
    for (size_t j = 0; j < s->p; j++)
        if (s->a[j] > 0 && s->place[j] == VXS_NOWHERE)
            s->order[count++] = j;
    vxs_status status = count > 0 ? vxs_skfs_enter(s, count, err) : VXS_OK;
    if (!status)
        vxs_skfs_certify(s, v->rho, c);
    return status;
}

static vxs_status run(average *v, vxs_certificate *c, vxs_error *err)
{
    vxs_skfs *s = v->s;
    uint64_t steps = (uint64_t)s->settings.kernels.steps;
    vxs_status status = VXS_OK;
    memset(s->a, 0, s->p * sizeof(*s->a));
    vxs_skfs_leave(s, INFINITY);
    for (size_t m = 0; m < s->rows; m++)
        v->reach[m] = s->u[m] + (m > 0 ? v->reach[m - 1] : 0);
    for (uint64_t t = 0; t < steps && !status; t++) {
        step(v, t);
        if (t % CHECK == 0)
            status = vxs_check_interrupted(s->context, err);
    }
    c->iterations = steps;
    return status ? status : settle(v, c, err);
}

vxs_status vxs_dual_average(vxs_skfs *s, double rho, vxs_certificate *c, vxs_error *err)
{
    average v = { .s = s, .rho = rho };
    vxs_status status = turn_rows(s, err);
    double *room = status ? NULL : vxs_alloc(2 * s->p + 3 * s->rows, sizeof(*room), err);
    if (!room)
        return status ? status : VXS_FAILED;
    v.row = s->by_row;
    v.mean = room;
    v.pull = v.mean + s->p;
    v.reach = v.pull + s->p;
    v.drawn = v.reach + s->rows;
    v.within = v.drawn + s->rows;
    status = run(&v, c, err);
    free(room);
    return status;
}
