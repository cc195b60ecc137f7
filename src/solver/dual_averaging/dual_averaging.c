/* dual_averaging.c - structured kernel feature selection by regularized dual averaging.
 *
 * Problem   that of skfs.c
 * Method    iteration t draws a sample, takes the subgradient g, and sets a = [-t gbar / (2 gamma
 *           (1 + ln t))]_+, gbar the mean of all subgradients: h(a) = |a|^2, beta_t = gamma (1 + ln
 *           t)
 * Stops     after --steps iterations
 * Gap       computed once at the end: alpha is the share of draws in which a sample was within its
 *           margin, a dual feasible point
 * Cost      an iteration: p, one row of kernel scores
 * Threads   1
 * Source    dissertation, algorithm 4; its Theorem 2 needs stronger convexity than |a|^2 has here,
 *           and the value approaches the optimum slowly */
#include "solver/interior_point/skfs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHECK 1024 /* iterations between checks for interruption */

typedef struct {
    vxs_skfs *s;
    double rho;
    float *row;             /* rows x p: kernel scores */
    double *mean;           /* p: gbar, mean subgradient */
    double *laplacian;      /* p: 2 S La */
    double *cumulative;     /* rows: cumulative weights */
    double *drawn, *within; /* rows: draws, draws within the margin */
} averaging;

static vxs_status copy_rows(vxs_skfs *s, vxs_error *err)
{
    if (s->by_row)
        return VXS_OK;
    s->by_row = vxs_alloc(s->rows, s->p * sizeof(*s->by_row), err);
    for (size_t j = 0; j < s->p && s->by_row; j++) {
        vxs_design_fetch(s->problem.design, &j, 1, s->column);
        for (size_t m = 0; m < s->rows; m++)
            s->by_row[m * s->p + j] = (float)(s->column[s->row[m]] * s->scale);
    }
    return s->by_row ? VXS_OK : VXS_FAILED;
}

static size_t draw_sample(const averaging *v, uint64_t number)
{
    vxs_random random = { (uint64_t)v->s->settings.kernels.sample_seed, 1 };
    double u = vxs_random_uniform(&random, number) * v->cumulative[v->s->rows - 1];
    size_t low = 0, high = v->s->rows - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (v->cumulative[middle] > u)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void laplacian_gradient(const averaging *v)
{
    const vxs_skfs *s = v->s;
    for (size_t j = 0; j < s->p && s->laplacian > 0; j++) {
        double difference = s->degree[j] * s->a[j];
        for (size_t e = s->start[j]; e < s->start[j + 1]; e++)
            difference -= s->edge[e] * s->a[s->neighbor[e]];
        v->laplacian[j] = 2 * s->laplacian * difference;
    }
}

static void step(averaging *v, uint64_t number)
{
    vxs_skfs *s = v->s;
    size_t m = draw_sample(v, number);
    const float *row = v->row + m * s->p;
    double t = (double)number + 1, prediction = 0;
    for (size_t j = 0; j < s->p; j++)
        prediction += (double)row[j] * s->a[j];
    double active = prediction < 1 ? 1 : 0;
    v->drawn[m]++;
    v->within[m] += active;
    laplacian_gradient(v);
    double size = t / (2 * s->settings.kernels.gamma * (1 + log(t)));
    for (size_t j = 0; j < s->p; j++) {
        double g = v->rho + v->laplacian[j] - active * (double)row[j];
        v->mean[j] += (g - v->mean[j]) / t;
        s->a[j] = fmax(0, -size * v->mean[j]);
    }
}

/* The dual point; voxels of positive weight enter the working set. Samples never drawn count as
 * within the margin. */
static vxs_status finish(averaging *v, vxs_certificate *c, vxs_error *err)
{
    vxs_skfs *s = v->s;
    size_t count = 0;
    for (size_t m = 0; m < s->rows; m++)
        s->alpha[m] = v->drawn[m] > 0 ? s->u[m] * v->within[m] / v->drawn[m] : s->u[m];
    memcpy(s->interior, s->a, s->p * sizeof(*s->a));
    for (size_t j = 0; j < s->p; j++)
        if (s->a[j] > 0 && s->position[j] == VXS_NOT_IN_SET)
            s->order[count++] = j;
    vxs_status status = count > 0 ? vxs_skfs_add(s, count, err) : VXS_OK;
    if (!status)
        vxs_skfs_certify(s, v->rho, c);
    return status;
}

static vxs_status run(averaging *v, vxs_certificate *c, vxs_error *err)
{
    vxs_skfs *s = v->s;
    uint64_t steps = (uint64_t)s->settings.kernels.steps;
    vxs_status status = VXS_OK;
    memset(s->a, 0, s->p * sizeof(*s->a));
    vxs_skfs_remove(s, INFINITY);
    for (size_t m = 0; m < s->rows; m++)
        v->cumulative[m] = s->u[m] + (m > 0 ? v->cumulative[m - 1] : 0);
    for (uint64_t t = 0; t < steps && !status; t++) {
        step(v, t);
        if (t % CHECK == 0)
            status = vxs_check_interrupted(s->context, err);
    }
    c->iterations = steps;
    return status ? status : finish(v, c, err);
}

vxs_status vxs_dual_averaging(vxs_skfs *s, double rho, vxs_certificate *c, vxs_error *err)
{
    averaging v = { .s = s, .rho = rho };
    vxs_status status = copy_rows(s, err);
    double *memory = status ? NULL : vxs_alloc(2 * s->p + 3 * s->rows, sizeof(*memory), err);
    if (!memory)
        return status ? status : VXS_FAILED;
    v.row = s->by_row;
    v.mean = memory;
    v.laplacian = v.mean + s->p;
    v.cumulative = v.laplacian + s->p;
    v.drawn = v.cumulative + s->rows;
    v.within = v.drawn + s->rows;
    status = run(&v, c, err);
    free(memory);
    return status;
}
