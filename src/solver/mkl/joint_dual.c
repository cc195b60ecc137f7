/* joint_dual.c - the joint dual of several kernels, by an interior point.
 *
 * Method    primal-dual steps with a predictor and a corrector (Mehrotra): t inside its box, the
 *           slacks of the quadratics and the weights of kernels above 0. With beta = S t a step
 *           solves
 *
 *               K(d) + 1/E   V     1    dbeta       K(d) the sum of d_g K_g, E the room of a sample
 *               V'       -slack/d  0    ddelta      in its box, V the columns K_g beta
 *               1'           0     0    db
 *
 *           and the sum of the weights stays 1: the second block by the Schur complement of a
 *           Cholesky factor of the first, which stays accurate where few slacks are left
 *           (eliminated into the first block they would be 1/0)
 * Stops     the gap between the primal value at d and t and the dual value at t, which are computed
 *           from their definitions, is small enough, or does not fall any more; the best pair of
 *           points is kept
 * Cost      of a step: four readings of the kernels, n cubed / 3, n^2 for each kernel; about ten
 *           steps
 * Source    Lanckriet et al. 2004 (the problem); Mehrotra 1992 (the steps) */
#include "solver/mkl/joint_dual.h"
#include "linalg/cholesky.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST     100   /* steps */
#define PATIENCE 15    /* steps without a smaller gap */
#define SHORT    0.99  /* of the way to the boundary */
#define LONGEST  0.999 /* of a step */
#define SHORTER  0.7   /* of a step that bends too much */
#define SHORTEST 1e-8
#define SAFE     1e-13 /* of the mean of the diagonal: added to it */
#define FIXED    1e30  /* the same: of a sample that cannot move */

typedef struct {
    const vxs_box *x;
    vxs_joint *j;
    vxs_box box; /* values at the current point */
    double *t, *below, *above, *d, *slack, level, b;
    double *t_step, *below_step, *above_step, *d_step, *slack_step, level_step, b_step;
    double *to_below, *to_above, *to_slack; /* what the products have to change by */
    double *own;                            /* of a variable: curvature of its bounds */
    double *right, *beta, *beta_step, *f, *room, *half_right;
    double *quad, *norms, *excess; /* of a kernel; excess: its share of the right side */
    double *bend;                  /* the same: quadratic of the step */
    double *pull;                  /* of a sample: sum of d_step_g K_g beta_step */
    double *v;                     /* n x count */
    double *k, *factor;            /* n x n: K(d); its factor with 1 / room */
    double *half, *small;          /* n x (count + 1); (count + 1)^2 */
    double *sum_of_weights, *nu;   /* count + 1 */
    double *residual;              /* of a variable */
    vxs_threshold *thresholds;
    double mean, scale; /* of the diagonal of K(d); the sum of d */
    double primal, dual;
} interior;

/* ---- Memory ---------------------------------------------------------------------------------- */

void vxs_joint_release(vxs_joint *j)
{
    free(j->space);
    free((void *)j->k);
    *j = (vxs_joint){ .count = 0 };
}

vxs_status vxs_joint_init(vxs_joint *j, size_t variables, size_t count, vxs_error *err)
{
    *j = (vxs_joint){ .count = count };
    j->space = vxs_alloc(3 * variables + 2 * count + 1, sizeof(*j->space), err);
    j->k = vxs_alloc(count + 1, sizeof(*j->k), err);
    if (!j->space || !j->k) {
        vxs_joint_release(j);
        return VXS_FAILED;
    }
    j->t = j->space;
    j->below = j->t + variables;
    j->above = j->below + variables;
    j->d = j->above + variables;
    j->slack = j->d + count;
    return VXS_OK;
}

/* Hands out parts of one array. */
static double *take(double **space, size_t count)
{
    double *part = *space;
    *space += count;
    return part;
}

static double *allocate(interior *w, vxs_error *err)
{
    size_t n = w->x->n, m = w->x->count, count = w->j->count, wide = count + 1;
    size_t small = vxs_times(wide, wide + 16 + n), large = vxs_times(n, 2 * n + wide + 8);
    double *space = vxs_alloc(12 * m + small + large, sizeof(*space), err), *rest = space;
    w->thresholds = vxs_alloc(m, sizeof(*w->thresholds), err);
    if (!space || !w->thresholds) {
        free(space);
        return NULL;
    }
    double **const of_variables[] = { &w->t,          &w->below,      &w->above,    &w->t_step,
                                      &w->below_step, &w->above_step, &w->to_below, &w->to_above,
                                      &w->own,        &w->right,      &w->residual };
    double **const of_samples[] = { &w->beta,       &w->beta_step, &w->f,    &w->room,
                                    &w->half_right, &w->pull,      &w->box.f };
    double **const of_kernels[] = { &w->d,          &w->slack,    &w->d_step,
                                    &w->slack_step, &w->to_slack, &w->quad,
                                    &w->norms,      &w->excess,   &w->sum_of_weights,
                                    &w->nu,         &w->bend };
    for (size_t k = 0; k < sizeof(of_variables) / sizeof(of_variables[0]); k++)
        *of_variables[k] = take(&rest, m);
    for (size_t k = 0; k < sizeof(of_samples) / sizeof(of_samples[0]); k++)
        *of_samples[k] = take(&rest, n);
    for (size_t k = 0; k < sizeof(of_kernels) / sizeof(of_kernels[0]); k++)
        *of_kernels[k] = take(&rest, wide);
    w->small = take(&rest, wide * wide);
    w->v = take(&rest, n * count);
    w->half = take(&rest, n * wide);
    w->k = take(&rest, n * n);
    w->factor = take(&rest, n * n);
    return space;
}

/* ---- Values ---------------------------------------------------------------------------------- */

vxs_box_state vxs_joint_value(const vxs_box *x, const double *d, const double *norms, size_t count,
                              vxs_threshold *thresholds)
{
    vxs_box_state s = vxs_box_evaluate(x, NULL, x->count, thresholds);
    double square = 0, sum = 0, most = 0;
    for (size_t k = 0; k < x->count; k++)
        square += x->sign[k] * x->t[k] * x->f[x->row[k]];
    for (size_t g = 0; g < count; g++) {
        sum += d[g] * norms[g];
        most = fmax(most, norms[g] * norms[g]);
    }
    s.primal += (sum * sum - square) / 2;
    s.dual += (square - most) / 2;
    return s;
}

static bool moves(const interior *w, size_t k)
{
    return w->x->c[k] > 0;
}

/* Columns K_g beta, values and the gap at the current point. */
static void evaluate(interior *w)
{
    const vxs_box *x = w->x;
    size_t n = x->n, count = w->j->count;
    memset(w->beta, 0, n * sizeof(*w->beta));
    memset(w->f, 0, n * sizeof(*w->f));
    for (size_t k = 0; k < x->count; k++)
        w->beta[x->row[k]] += x->sign[k] * w->t[k];
    w->scale = 0;
    for (size_t g = 0; g < count; g++) {
        double *v = w->v + g * n;
        cblas_dsymv(CblasColMajor, CblasLower, (int)n, 1, w->j->k[g], (int)n, w->beta, 1, 0, v, 1);
        w->quad[g] = fmax(0, cblas_ddot((int)n, w->beta, 1, v, 1) / 2);
        w->norms[g] = sqrt(2 * w->quad[g]);
        w->scale += w->d[g];
        cblas_daxpy((int)n, w->d[g], v, 1, w->f, 1);
    }
    for (size_t i = 0; i < n; i++)
        w->box.f[i] = w->f[i] / w->scale;
    for (size_t g = 0; g < count; g++)
        w->nu[g] = w->d[g] / w->scale;
    w->box.t = w->t;
    vxs_box_state s = vxs_joint_value(&w->box, w->nu, w->norms, count, w->thresholds);
    w->primal = s.primal;
    w->dual = s.dual;
}

/* Inside the box, with a sum of 0; no more of it than the norm of the kernels allows. */
static void start_weights(interior *w)
{
    const vxs_box *x = w->x;
    double side[2] = { 0, 0 }, linear = 0, most = 0;
    for (size_t k = 0; k < x->count; k++)
        side[x->sign[k] > 0] += x->c[k];
    double least = fmin(side[0], side[1]);
    for (size_t k = 0; k < x->count; k++) {
        double all = x->intercept ? side[x->sign[k] > 0] : least;
        w->t[k] = all > 0 ? x->c[k] * (least / all) / 2 : x->c[k] / 2;
        linear += x->q[k] * w->t[k];
    }
    for (size_t g = 0; g < w->j->count; g++)
        w->d[g] = 1 / (double)w->j->count;
    evaluate(w);
    for (size_t g = 0; g < w->j->count; g++)
        most = fmax(most, w->quad[g]);
    if (!(linear > 0 && linear < 2 * most))
        return;
    for (size_t k = 0; k < x->count; k++)
        w->t[k] *= linear / (2 * most);
    evaluate(w);
}

static void start(interior *w)
{
    const vxs_box *x = w->x;
    double most = 0, linear = 0, products = 0;
    w->b = 0;
    start_weights(w);
    for (size_t g = 0; g < w->j->count; g++)
        most = fmax(most, w->quad[g]);
    for (size_t k = 0; k < x->count; k++)
        linear += x->q[k] * w->t[k];
    w->level = fmax(1.5 * most, most + 1e-3 * fabs(linear) + DBL_MIN);
    for (size_t g = 0; g < w->j->count; g++)
        w->slack[g] = w->level - w->quad[g];
    for (size_t k = 0; k < x->count; k++)
        products += fabs(x->q[k] - x->sign[k] * w->f[x->row[k]]) * w->t[k] / (double)x->count;
    products = fmax(products, DBL_MIN);
    for (size_t k = 0; k < x->count; k++) {
        if (!moves(w, k))
            continue;
        double inside = x->q[k] - x->sign[k] * w->f[x->row[k]];
        w->below[k] = fmax(-inside, 0) + products / w->t[k];
        w->above[k] = fmax(inside, 0) + products / (x->c[k] - w->t[k]);
    }
}

/* ---- The system ------------------------------------------------------------------------------ */

static void add_kernels(interior *w)
{
    size_t n = w->x->n;
    memset(w->k, 0, n * n * sizeof(*w->k));
    for (size_t g = 0; g < w->j->count; g++)
        for (size_t j = 0; j < n; j++)
            cblas_daxpy((int)(n - j), w->d[g], w->j->k[g] + j * n + j, 1, w->k + j * n + j, 1);
    w->mean = 0;
    for (size_t i = 0; i < n; i++)
        w->mean += w->k[i * n + i] / (double)n;
}

/* How far a sample may move: the sum over its variables of 1 / curvature of their bounds. */
static void measure_room(interior *w)
{
    const vxs_box *x = w->x;
    memset(w->room, 0, x->n * sizeof(*w->room));
    for (size_t k = 0; k < x->count; k++) {
        if (!moves(w, k))
            continue;
        w->own[k] = w->below[k] / w->t[k] + w->above[k] / (x->c[k] - w->t[k]);
        w->room[x->row[k]] += 1 / w->own[k];
    }
}

static bool factorize(interior *w)
{
    size_t n = w->x->n, count = w->j->count, wide = count + w->x->intercept;
    add_kernels(w);
    measure_room(w);
    memcpy(w->factor, w->k, n * n * sizeof(*w->factor));
    for (size_t i = 0; i < n; i++)
        w->factor[i * n + i] +=
            SAFE * w->mean + (w->room[i] > 0 ? 1 / w->room[i] : FIXED * fmax(w->mean, 1));
    if (!vxs_cholesky(w->factor, n))
        return false;
    memcpy(w->half, w->v, n * count * sizeof(*w->half));
    for (size_t i = 0; i < n && w->x->intercept; i++)
        w->half[count * n + i] = 1;
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, (int)n, (int)wide,
                1, w->factor, (int)n, w->half, (int)n);
    cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, (int)wide, (int)n, 1, w->half, (int)n, 0,
                w->small, (int)wide);
    for (size_t g = 0; g < wide; g++) {
        double *diagonal = w->small + g * wide + g;
        *diagonal = (*diagonal + (g < count ? w->slack[g] / w->d[g] : 0)) * (1 + 64 * DBL_EPSILON);
        w->sum_of_weights[g] = g < count;
    }
    if (!vxs_cholesky(w->small, wide))
        return false;
    vxs_cholesky_solve(w->small, wide, w->sum_of_weights, 1);
    return true;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Right sides of the variables, summed over each sample into w->half_right. */
static void find_right_side(interior *w)
{
    const vxs_box *x = w->x;
    size_t n = x->n, count = w->j->count;
    memset(w->half_right, 0, n * sizeof(*w->half_right));
    for (size_t g = 0; g < count; g++) {
        double off = w->slack[g] + w->quad[g] + w->bend[g] - w->level;
        w->excess[g] = (w->to_slack[g] + w->d[g] * off) / w->slack[g];
    }
    cblas_dgemv(CblasColMajor, CblasNoTrans, (int)n, (int)count, 1, w->v, (int)n, w->excess, 1, 0,
                w->beta_step, 1);
    for (size_t k = 0; k < x->count; k++) {
        size_t i = x->row[k];
        w->right[k] = 0;
        if (!moves(w, k))
            continue;
        w->right[k] = x->q[k] - x->sign[k] * (w->f[i] + w->b + w->pull[i] + w->beta_step[i]) +
                      w->below[k] - w->above[k] + w->to_below[k] / w->t[k] -
                      w->to_above[k] / (x->c[k] - w->t[k]);
        w->half_right[i] += x->sign[k] * w->right[k] / w->own[k];
    }
    for (size_t i = 0; i < n; i++)
        w->half_right[i] = w->room[i] > 0 ? w->half_right[i] / w->room[i] : 0;
}

/* Weights of samples: by the factor; those near a bound, whose steps are small, by their own
 * equation, in which nothing cancels. */
static void step_samples(interior *w, double *solved)
{
    size_t n = w->x->n, count = w->j->count, wide = count + w->x->intercept;
    cblas_dgemv(CblasColMajor, CblasNoTrans, (int)n, (int)wide, -1, w->half, (int)n, w->nu, 1, 1,
                solved, 1);
    cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, (int)n, w->factor, (int)n,
                solved, 1);
    memcpy(w->beta_step, solved, n * sizeof(*solved));
    cblas_dsymv(CblasColMajor, CblasLower, (int)n, 1, w->k, (int)n, w->beta_step, 1, 0, solved, 1);
    cblas_dgemv(CblasColMajor, CblasNoTrans, (int)n, (int)count, 1, w->v, (int)n, w->nu, 1, 1,
                solved, 1);
    for (size_t i = 0; i < n; i++)
        if (!(w->room[i] * w->mean >= 1))
            w->beta_step[i] = (w->half_right[i] - solved[i] - w->b_step) * w->room[i];
}

/* Of two variables of a sample the one closer to its bound by its own equation. */
static void step_variables(interior *w)
{
    const vxs_box *x = w->x;
    bool pairs = x->count > x->n;
    for (size_t k = 0; k < x->count; k += pairs ? 2 : 1) {
        size_t i = x->row[k], near = pairs && w->own[k] < w->own[k + 1] ? k + 1 : k;
        double left = w->beta_step[i];
        w->t_step[k] = 0;
        if (!moves(w, k)) {
            w->t_step[pairs ? k + 1 : k] = 0;
            continue;
        }
        if (pairs) {
            double along = w->beta_step[i] / w->room[i] - w->half_right[i];
            w->t_step[near] = (w->right[near] + x->sign[near] * along) / w->own[near];
            left -= x->sign[near] * w->t_step[near];
            near ^= 1;
        }
        w->t_step[near] = x->sign[near] * left;
    }
    for (size_t k = 0; k < x->count; k++) {
        w->below_step[k] = w->above_step[k] = 0;
        if (!moves(w, k))
            continue;
        w->below_step[k] = (w->to_below[k] - w->below[k] * w->t_step[k]) / w->t[k];
        w->above_step[k] = (w->to_above[k] + w->above[k] * w->t_step[k]) / (x->c[k] - w->t[k]);
    }
}

/* Of a kernel without slack its weight follows from the system, of others their slack. */
static void step_kernels(interior *w)
{
    size_t n = w->x->n;
    for (size_t g = 0; g < w->j->count; g++) {
        double d = w->d[g], slack = w->slack[g], to = w->to_slack[g];
        if (d * w->level > slack) {
            w->d_step[g] = w->excess[g] + w->nu[g];
            w->slack_step[g] = (to - slack * w->d_step[g]) / d;
        } else {
            w->slack_step[g] = w->level - slack - w->quad[g] - w->bend[g] + w->level_step -
                               cblas_ddot((int)n, w->v + g * n, 1, w->beta_step, 1);
            w->d_step[g] = (to - d * w->slack_step[g]) / slack;
        }
    }
}

static void find_step(interior *w)
{
    size_t n = w->x->n, count = w->j->count, wide = count + w->x->intercept;
    double missing = w->scale - 1, per_level = 0, sum = 0;
    find_right_side(w);
    double *solved = w->residual; /* of at least n variables */
    memcpy(solved, w->half_right, n * sizeof(*solved));
    cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, (int)n, w->factor, (int)n,
                solved, 1);
    cblas_dgemv(CblasColMajor, CblasTrans, (int)n, (int)wide, 1, w->half, (int)n, solved, 1, 0,
                w->nu, 1);
    for (size_t i = 0; i < n && w->x->intercept; i++)
        w->nu[count] += w->beta[i];
    vxs_cholesky_solve(w->small, wide, w->nu, 1);
    for (size_t g = 0; g < count; g++) {
        sum += w->nu[g];
        per_level += w->sum_of_weights[g];
        missing += w->excess[g];
    }
    w->level_step = (sum + missing) / per_level;
    for (size_t g = 0; g < wide; g++)
        w->nu[g] -= w->sum_of_weights[g] * w->level_step;
    w->b_step = w->x->intercept ? w->nu[count] : 0;
    step_samples(w, solved);
    step_variables(w);
    step_kernels(w);
}

/* ---- Steps to the center --------------------------------------------------------------------- */

static double within(double share, double value, double step)
{
    return step < 0 && -step * share > value ? value / -step : share;
}

/* The share of the step at which something meets its bound. */
static double longest(const interior *w)
{
    double share = 1;
    for (size_t k = 0; k < w->x->count; k++) {
        if (!moves(w, k))
            continue;
        share = within(share, w->t[k], w->t_step[k]);
        share = within(share, w->x->c[k] - w->t[k], -w->t_step[k]);
        share = within(share, w->below[k], w->below_step[k]);
        share = within(share, w->above[k], w->above_step[k]);
    }
    for (size_t g = 0; g < w->j->count; g++) {
        share = within(share, w->d[g], w->d_step[g]);
        share = within(share, w->slack[g], w->slack_step[g]);
    }
    return share;
}

/* The mean product of multipliers and what they bound, a share of the step away. */
static double mean_product(const interior *w, double share)
{
    double sum = 0, many = (double)w->j->count;
    for (size_t k = 0; k < w->x->count; k++) {
        if (!moves(w, k))
            continue;
        double t = w->t[k] + share * w->t_step[k];
        sum += t * (w->below[k] + share * w->below_step[k]) +
               (w->x->c[k] - t) * (w->above[k] + share * w->above_step[k]);
        many += 2;
    }
    for (size_t g = 0; g < w->j->count; g++)
        sum += (w->d[g] + share * w->d_step[g]) * (w->slack[g] + share * w->slack_step[g]);
    return sum / many;
}

/* What products of the current point lack of `aim`; `corrects`: after the step that was found. */
static void aim_products(interior *w, double aim, double corrects)
{
    const vxs_box *x = w->x;
    for (size_t k = 0; k < x->count; k++) {
        double t = w->t_step[k] * corrects;
        w->to_below[k] = aim - w->t[k] * w->below[k] - t * w->below_step[k];
        w->to_above[k] = aim - (x->c[k] - w->t[k]) * w->above[k] + t * w->above_step[k];
    }
    for (size_t g = 0; g < w->j->count; g++)
        w->to_slack[g] = aim - w->d[g] * w->slack[g] - corrects * w->d_step[g] * w->slack_step[g];
}

static void move(interior *w, double share)
{
    for (size_t k = 0; k < w->x->count; k++) {
        w->t[k] += share * w->t_step[k];
        w->below[k] += share * w->below_step[k];
        w->above[k] += share * w->above_step[k];
    }
    for (size_t g = 0; g < w->j->count; g++) {
        w->d[g] += share * w->d_step[g];
        w->slack[g] += share * w->slack_step[g];
    }
    w->level += share * w->level_step;
    w->b += share * w->b_step;
}

/* What the quadratics add to linear changes of slacks and values, a share of the step away. */
static void bend(interior *w, double share)
{
    size_t n = w->x->n;
    memset(w->pull, 0, n * sizeof(*w->pull));
    for (size_t g = 0; g < w->j->count; g++) {
        double *product = w->half_right;
        cblas_dsymv(CblasColMajor, CblasLower, (int)n, 1, w->j->k[g], (int)n, w->beta_step, 1, 0,
                    product, 1);
        w->bend[g] = share * share * cblas_ddot((int)n, w->beta_step, 1, product, 1) / 2;
        cblas_daxpy((int)n, share * share * w->d_step[g], product, 1, w->pull, 1);
    }
}

static void bend_nothing(interior *w)
{
    memset(w->pull, 0, w->x->n * sizeof(*w->pull));
    memset(w->bend, 0, w->j->count * sizeof(*w->bend));
}

/* The largest error of a slack, a share of the step away. */
static double slack_error(const interior *w, double share)
{
    double most = 0;
    for (size_t g = 0; g < w->j->count; g++) {
        double off = w->slack[g] + w->quad[g] - w->level;
        most = fmax(most, fabs((1 - share) * off + share * share * w->bend[g]));
    }
    return most;
}

/* The share of the step that is taken: no slack gets an error beyond the one it has, or the
 * level. */
static double choose_share(interior *w, double share)
{
    double most = fmax(slack_error(w, 0), fabs(w->level));
    for (size_t g = 0; g < w->j->count; g++)
        most = fmax(most, w->slack[g]);
    bend(w, 1);
    while (share > SHORTEST && slack_error(w, share) > most)
        share *= SHORTER;
    return share;
}

/* Returns false if no step can be computed. */
static bool step(interior *w)
{
    memset(w->t_step, 0, w->x->count * sizeof(*w->t_step));
    memset(w->d_step, 0, w->j->count * sizeof(*w->d_step));
    if (!factorize(w))
        return false;
    double now = mean_product(w, 0);
    aim_products(w, 0, 0);
    bend_nothing(w);
    find_step(w);
    double share = longest(w), then = mean_product(w, share) / now;
    bend(w, share);
    aim_products(w, now * then * then * then, 1);
    find_step(w);
    share = longest(w);
    if (!isfinite(share + w->b_step + w->level_step))
        return false;
    move(w, choose_share(w, share < 1 ? fmin(SHORT * share, LONGEST) : LONGEST));
    return true;
}

/* ---- All together ---------------------------------------------------------------------------- */

static void keep(const interior *w)
{
    vxs_joint *j = w->j;
    size_t m = w->x->count * sizeof(double), count = j->count * sizeof(double);
    memcpy(j->t, w->t, m);
    memcpy(j->below, w->below, m);
    memcpy(j->above, w->above, m);
    memcpy(j->slack, w->slack, count);
    for (size_t g = 0; g < j->count; g++)
        j->d[g] = w->d[g] / w->scale;
    j->level = w->level;
    j->primal = w->primal;
    j->dual = w->dual;
}

static vxs_status iterate(interior *w, double gap, vxs_error *err)
{
    int patience = PATIENCE;
    vxs_status status = VXS_OK;
    start(w);
    keep(w);
    for (int k = 0; k < MOST && patience > 0 && !status; k++) {
        if (!(w->j->primal - w->j->dual > gap) || !step(w))
            break;
        w->j->iterations++;
        evaluate(w);
        patience--;
        if (w->primal - w->dual < w->j->primal - w->j->dual) {
            keep(w);
            patience = PATIENCE;
        }
        status = vxs_check_interrupted(w->x->context, err);
    }
    return status;
}

vxs_status vxs_joint_solve(const vxs_box *box, double gap, vxs_joint *j, vxs_error *err)
{
    interior w = { .x = box, .j = j, .box = *box };
    double *space = allocate(&w, err);
    vxs_status status = space ? iterate(&w, gap, err) : VXS_FAILED;
    free(space);
    free(w.thresholds);
    return status;
}
