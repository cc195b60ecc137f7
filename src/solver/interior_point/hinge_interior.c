/* hinge_interior.c - primal-dual interior-point method: hinge loss, a >= 0, l1 and Laplacian.
 *
 * Problem   min sum u xi + rho sum a + S a'La, r - xi = Za - 1, a, r, xi >= 0
 * Dual      0 <= alpha <= u, s = rho - Z'alpha + 2 S La >= 0
 * Optimal   a s = 0, r alpha = 0, xi (u - alpha) = 0
 * Step      Newton: (B + Z'DZ) da = right, B = 2 S L + diag(s / a), D diagonal. Fewer voxels than
 *           samples: a k x k system; else the sparse Cholesky factor of B and a Schur complement
 *           of the samples near the margin, which precondition conjugate gradients. Mehrotra's
 *           predictor-corrector
 * Stops     the gap of the scaled dual iterate is at most the target; PATIENCE iterations
 * Cost      an iteration: min(n, k)^2 max(n, k), and the factor of B, in a fill-reducing order
 * Threads   those of BLAS
 * Source    Mehrotra 1992; the dual iterate is spec/skfs.md's */
#include "solver/interior_point/hinge_interior.h"
#include "linalg/cholesky.h"
#include "linalg/supernodal.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ITERATIONS 200   /* iterations */
#define MAX_CONJUGATE  20    /* conjugate gradients of a Newton step */
#define ROUGHEST       1e-5  /* residual of a Newton step over its right-hand side, at most */
#define FINEST         1e-10 /* and at least; between them */
#define RESIDUAL_SHARE 0.02  /* of the target */
#define NEGLIGIBLE     1e-3  /* samples left to conjugate gradients: D relative to the largest */
#define FIRST_SHARE    0.1   /* of the initial gap: complementarity of the initial point */
#define BALANCE        0.1   /* of mean weights over rho: what slack counts beside weights */
#define INTERIOR                                                                                   \
    0.05                 /* distance of an initial point inside from the boundary, values
                              * about 1; one near a solution has that of alpha, at most */
#define UNEVEN     10    /* mean complementarity of the initial point over mu, at most */
#define MAX_UNEVEN 5     /* attempts to reach that */
#define SHORTEN    0.995 /* of the step to the boundary */
#define PATIENCE   8     /* iterations without a smaller gap */
#define RIDGE      1e-14
#define TINY       1e-300
#define LEAST_RHO  1e-6
#define MIN_STEP   1e-10 /* shorter steps end the iterations */

typedef struct {
    vxs_hinge_interior *p;
    size_t n, k;
    double *a, *s, *da, *ds;                           /* k */
    double *r, *xi, *alpha, *beta, *dr, *dxi, *dalpha; /* n */
    double *dual_residual;                             /* k: dual residual 2 S La + rho -
                                                        * Z'alpha - s */
    double *to_a;                                      /* k: change of a s to make */
    double *to_r, *to_xi;                              /* n */
    double *d, *g;                                     /* n */
    double *right, *along, *diagonal, *permuted;       /* k */
    double *residual, *solved, *conjugate;             /* k: of conjugate gradients */
    double *small;                                     /* n: right-hand side of the n x n system */
    double *memory;                                    /* all of these */

    double *scaled; /* n x k: D^(1/2) Z; or `rows` x k: B^(-1/2) Z' */
    double *system; /* k x k, or `rows` x `rows` */
    size_t *row;    /* samples of the Schur complement */
    size_t rows;
    vxs_supernodal factor; /* of B */
    double *beside;        /* edges: B's entries */
    double *work;          /* of the factor */
    double ridge;          /* ridge on the diagonal of B */
    bool dense;            /* k x k */
} iterate;

/* ---- The Laplacian --------------------------------------------------------------------------- */

void vxs_hinge_interior_add_laplacian(const vxs_hinge_interior *p, const double *a, double *x)
{
    if (p->laplacian == 0)
        return;
    for (size_t i = 0; i < p->k; i++)
        x[i] += 2 * p->laplacian * p->degree[i] * a[i];
    for (size_t e = 0; e < p->edges; e++) {
        double w = 2 * p->laplacian * p->weight[e];
        x[p->from[e]] -= w * a[p->to[e]];
        x[p->to[e]] -= w * a[p->from[e]];
    }
}

static void multiply_z(const vxs_hinge_interior *p, double factor, const double *a, double *x)
{
    cblas_dgemv(CblasColMajor, CblasNoTrans, (int)p->n, (int)p->k, factor, p->z, (int)p->n, a, 1, 0,
                x, 1);
}

static void multiply_z_transposed(const vxs_hinge_interior *p, double factor, const double *x,
                                  double *a)
{
    cblas_dgemv(CblasColMajor, CblasTrans, (int)p->n, (int)p->k, factor, p->z, (int)p->n, x, 1, 1,
                a, 1);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void release(iterate *t)
{
    free(t->memory);
    free(t->scaled);
    free(t->system);
    free(t->beside);
    free(t->work);
    free(t->row);
    vxs_supernodal_release(&t->factor);
}

/* B has the pattern of the graph, whatever the iterate. */
static vxs_status order_b(iterate *t, vxs_error *err)
{
    const vxs_hinge_interior *p = t->p;
    size_t edges = p->laplacian > 0 ? p->edges : 0;
    vxs_status status = vxs_supernodal_new(t->k, edges, p->from, p->to, &t->factor, err);
    if (status)
        return status;
    t->beside = vxs_alloc(edges, sizeof(*t->beside), err);
    t->work = vxs_alloc(t->factor.longest, t->n * sizeof(*t->work), err);
    for (size_t e = 0; e < edges && t->beside; e++)
        t->beside[e] = -2 * p->laplacian * p->weight[e];
    return t->beside && t->work ? VXS_OK : VXS_FAILED;
}

static vxs_status allocate(iterate *t, vxs_error *err)
{
    size_t n = t->n, k = t->k;
    t->dense = k <= n;
    size_t m = t->dense ? k : n;
    double **const of_k[] = {
        &t->a,      &t->s,         &t->da,      &t->ds,       &t->dual_residual,
        &t->to_a,   &t->right,     &t->along,   &t->diagonal, &t->residual,
        &t->solved, &t->conjugate, &t->permuted
    };
    double **const of_n[] = { &t->r,      &t->xi,   &t->alpha, &t->beta, &t->dr, &t->dxi,
                              &t->dalpha, &t->to_r, &t->to_xi, &t->d,    &t->g,  &t->small };
    size_t ks = sizeof(of_k) / sizeof(of_k[0]), ns = sizeof(of_n) / sizeof(of_n[0]);
    t->memory = vxs_alloc(ks * k + ns * n, sizeof(double), err);
    t->scaled = vxs_alloc(n, k * sizeof(double), err);
    t->system = vxs_alloc(m, m * sizeof(double), err);
    t->row = vxs_alloc(n, sizeof(*t->row), err);
    if (!t->memory || !t->scaled || !t->system || !t->row)
        return VXS_FAILED;
    double *next = t->memory;
    for (size_t j = 0; j < ks; j++, next += k)
        *of_k[j] = next;
    for (size_t j = 0; j < ns; j++, next += n)
        *of_n[j] = next;
    return t->dense ? VXS_OK : order_b(t, err);
}

/* ---- Initial point and gap ------------------------------------------------------------------- */

/* Primal value at a, dual value of alpha and a scaled to be feasible. Keeps the best. */
static void certify(iterate *t)
{
    vxs_hinge_interior *p = t->p;
    double hinge = 0, sum = 0, quadratic = 0, max_correlation = 0, total = 0;
    memset(t->along, 0, t->k * sizeof(*t->along));
    vxs_hinge_interior_add_laplacian(p, t->a, t->along);
    for (size_t i = 0; i < t->k; i++) {
        sum += t->a[i];
        quadratic += t->along[i] * t->a[i] / 2;
        t->along[i] = -t->along[i];
    }
    multiply_z_transposed(p, 1, t->alpha, t->along);
    for (size_t i = 0; i < t->k; i++)
        max_correlation = fmax(max_correlation, t->along[i]);
    multiply_z(p, 1, t->a, t->small);
    for (size_t m = 0; m < t->n; m++) {
        hinge += p->u[m] * fmax(0, 1 - t->small[m]);
        total += t->alpha[m];
    }
    double scale = max_correlation > p->rho ? p->rho / max_correlation : 1;
    double primal = hinge + p->rho * sum + quadratic;
    double dual = scale * total - scale * scale * quadratic;
    if (!(primal - dual < p->primal - p->dual))
        return; /* rounding */
    p->primal = primal;
    p->dual = dual;
    for (size_t i = 0; i < t->k; i++)
        p->slack[i] = p->rho - t->along[i];
    memcpy(p->a, t->a, t->k * sizeof(*t->a));
    memcpy(p->alpha, t->alpha, t->n * sizeof(*t->alpha));
}

/* Of the complementary pairs; primal and dual are lengths of a step. */
static double complementarity(const iterate *t, double primal, double dual)
{
    double sum = 0;
    for (size_t i = 0; i < t->k; i++)
        sum += (t->a[i] + primal * t->da[i]) * (t->s[i] + dual * t->ds[i]);
    for (size_t m = 0; m < t->n; m++) {
        sum += (t->r[m] + primal * t->dr[m]) * (t->alpha[m] + dual * t->dalpha[m]);
        sum += (t->xi[m] + primal * t->dxi[m]) * (t->beta[m] - dual * t->dalpha[m]);
    }
    return sum / (double)(t->k + 2 * t->n);
}

/* A pair a_i, s_i moves to the curve a s = mu near it, sample m to r alpha = mu or xi beta = mu,
 * whichever its margin allows. */
static void start_at(iterate *t, double mu)
{
    const vxs_hinge_interior *p = t->p;
    double sum = 0;
    for (size_t i = 0; i < t->k; i++)
        sum += p->a[i];
    double unit = BALANCE * (1 + sum) / ((double)t->k * fmax(p->rho, LEAST_RHO));
    for (size_t i = 0; i < t->k; i++) {
        double v = p->a[i] - unit * p->slack[i], root = sqrt(v * v + 4 * unit * mu);
        t->a[i] = v > 0 ? (root + v) / 2 : 2 * unit * mu / (root - v);
        t->s[i] = fmax(p->slack[i], mu / t->a[i]);
    }
    multiply_z(p, 1, t->a, t->small);
    for (size_t m = 0; m < t->n; m++) {
        double margin = t->small[m] - 1, least = INTERIOR * p->u[m]; /* of alpha and beta */
        double far = fmin(least, mu / fabs(margin));
        double below = margin > 0 ? far : least, above = margin > 0 ? least : far;
        t->alpha[m] = fmin(fmax(p->alpha[m], below), p->u[m] - above);
        t->beta[m] = fmax(p->u[m] - t->alpha[m], above);
        t->r[m] = mu / t->alpha[m];
        t->xi[m] = mu / t->beta[m];
        if (margin > 0)
            t->r[m] = margin + t->xi[m];
        else
            t->xi[m] = t->r[m] - margin;
    }
}

/* The initial a and alpha may be those of another rho, set or Laplacian. How far they are from the
 * solution is their gap, and a share of it the initial mu, unless some pairs are so far from it
 * that others would be at the boundary beside them. */
static void start_near(iterate *t)
{
    const vxs_hinge_interior *p = t->p;
    double now, mu = FIRST_SHARE * fmax(p->primal - p->dual, p->target);
    mu /= (double)(t->k + 2 * t->n);
    start_at(t, mu);
    for (int again = 0; again < MAX_UNEVEN; again++) {
        now = complementarity(t, 0, 0);
        if (now <= UNEVEN * mu)
            return;
        start_at(t, mu = now);
    }
}

/* Far from the boundary everywhere, wherever the solution is. */
static void start_inside(iterate *t)
{
    const vxs_hinge_interior *p = t->p;
    double sum = 0;
    for (size_t i = 0; i < t->k; i++)
        sum += p->a[i];
    double initial = INTERIOR * (1 + sum) / (double)t->k;
    for (size_t i = 0; i < t->k; i++) {
        t->a[i] = fmax(p->a[i], initial);
        t->s[i] = p->rho;
    }
    multiply_z(p, 1, t->a, t->r);
    for (size_t m = 0; m < t->n; m++) {
        double margin = t->r[m] - 1, least = INTERIOR * p->u[m];
        t->xi[m] = fmax(-margin, 0) + INTERIOR;
        t->r[m] = margin + t->xi[m];
        t->alpha[m] = fmin(fmax(p->alpha[m], least), p->u[m] - least);
        t->beta[m] = p->u[m] - t->alpha[m];
    }
    vxs_hinge_interior_add_laplacian(p, t->a, t->s);
    multiply_z_transposed(p, -1, t->alpha, t->s);
    for (size_t i = 0; i < t->k; i++)
        t->s[i] = fmax(t->s[i], INTERIOR * (INTERIOR + p->rho));
}

/* ---- The Newton system ----------------------------------------------------------------------- */

static double diagonal_of_b(const iterate *t, size_t i)
{
    const vxs_hinge_interior *p = t->p;
    double laplacian = p->laplacian > 0 ? 2 * p->laplacian * p->degree[i] : 0;
    return t->s[i] / t->a[i] + laplacian + t->ridge;
}

/* With linearly dependent columns B alone makes the system regular: the ridge is relative to the
 * largest diagonal entry, so that only such directions are affected. */
static void find_ridge(iterate *t)
{
    double max = 0;
    for (size_t i = 0; i < t->k; i++) {
        double sum = 0;
        for (size_t m = 0; m < t->n; m++)
            sum += t->d[m] * t->p->z[i * t->n + m] * t->p->z[i * t->n + m];
        t->diagonal[i] = sum + t->s[i] / t->a[i] + 2 * t->p->laplacian * t->p->degree[i];
        max = fmax(max, sum);
    }
    t->ridge = RIDGE * max;
}

static bool factor_dense(iterate *t)
{
    int k = (int)t->k;
    for (size_t i = 0; i < t->k; i++)
        for (size_t m = 0; m < t->n; m++)
            t->scaled[i * t->n + m] = sqrt(t->d[m]) * t->p->z[i * t->n + m];
    cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, k, (int)t->n, 1, t->scaled, (int)t->n, 0,
                t->system, k);
    for (size_t i = 0; i < t->k; i++)
        t->system[i * (t->k + 1)] += diagonal_of_b(t, i);
    for (size_t e = 0; e < t->p->edges && t->p->laplacian > 0; e++)
        t->system[t->p->from[e] * t->k + t->p->to[e]] -= 2 * t->p->laplacian * t->p->weight[e];
    return vxs_cholesky(t->system, t->k);
}

/* Samples far from the margin have a small D: conjugate gradients take care of them. */
static void choose_rows(iterate *t)
{
    double most = 0;
    t->rows = 0;
    for (size_t m = 0; m < t->n; m++)
        most = fmax(most, t->d[m]);
    for (size_t m = 0; m < t->n; m++)
        if (t->d[m] > NEGLIGIBLE * most)
            t->row[t->rows++] = m;
}

/* scaled = L^-1 P Z', L the factor of B. */
static bool factor_by_samples(iterate *t)
{
    choose_rows(t);
    size_t n = t->rows;
    for (size_t i = 0; i < t->k; i++)
        t->along[i] = diagonal_of_b(t, i);
    if (!vxs_supernodal_factor(&t->factor, t->along, t->beside))
        return false;
    for (size_t i = 0; i < t->k; i++)
        for (size_t m = 0; m < n; m++)
            t->scaled[i * n + m] = t->p->z[t->factor.permutation[i] * t->n + t->row[m]];
    vxs_supernodal_solve_many(&t->factor, t->scaled, n, t->work);
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, (int)n, (int)t->k, 1, t->scaled, (int)n, 0,
                t->system, (int)n);
    for (size_t m = 0; m < n; m++)
        t->system[m * n + m] += 1 / t->d[t->row[m]];
    return vxs_cholesky(t->system, n);
}

/* x = (B + Z'DZ)^-1 x over the chosen samples, up to rounding. */
static void apply_inverse(iterate *t, double *x)
{
    int k = (int)t->k, n = (int)t->rows;
    if (t->dense) {
        vxs_cholesky_solve(t->system, t->k, x, 1);
        return;
    }
    double *y = t->permuted;
    for (size_t i = 0; i < t->k; i++)
        y[i] = x[t->factor.permutation[i]];
    vxs_supernodal_solve_lower(&t->factor, y, t->work);
    cblas_dgemv(CblasColMajor, CblasNoTrans, n, k, 1, t->scaled, n, y, 1, 0, t->small, 1);
    vxs_cholesky_solve(t->system, t->rows, t->small, 1);
    cblas_dgemv(CblasColMajor, CblasTrans, n, k, -1, t->scaled, n, t->small, 1, 1, y, 1);
    vxs_supernodal_solve_upper(&t->factor, y, t->work);
    for (size_t i = 0; i < t->k; i++)
        x[t->factor.permutation[i]] = y[i];
}

/* to = (B + Z'DZ) x over all samples */
static void apply_system(iterate *t, const double *x, double *to)
{
    memset(to, 0, t->k * sizeof(*to));
    vxs_hinge_interior_add_laplacian(t->p, x, to);
    multiply_z(t->p, 1, x, t->small);
    for (size_t m = 0; m < t->n; m++)
        t->small[m] *= t->d[m];
    multiply_z_transposed(t->p, 1, t->small, to);
    for (size_t i = 0; i < t->k; i++)
        to[i] += t->s[i] / t->a[i] * x[i];
}

/* Squared norm of the residual, scaled by the diagonal. */
static double scaled_square(const iterate *t)
{
    double square = 0;
    for (size_t i = 0; i < t->k; i++)
        square += t->residual[i] * t->residual[i] / t->diagonal[i];
    return square;
}

/* Solves for da by conjugate gradients, preconditioned by the factor: near the solution D and B
 * span many orders of magnitude, and the factor knows only some of the samples. */
static void solve_system(iterate *t)
{
    size_t k = t->k, bytes = k * sizeof(*t->da);
    double product = 0, previous;
    memset(t->da, 0, bytes);
    memcpy(t->residual, t->right, bytes);
    double accuracy = fmax(fmin(RESIDUAL_SHARE * t->p->target, ROUGHEST), FINEST);
    double limit = accuracy * accuracy * scaled_square(t), square = INFINITY;
    for (int iteration = 0; iteration < MAX_CONJUGATE && square > limit; iteration++) {
        previous = product;
        memcpy(t->solved, t->residual, bytes);
        apply_inverse(t, t->solved);
        product = cblas_ddot((int)k, t->residual, 1, t->solved, 1);
        if (!(product > 0))
            return;
        for (size_t i = 0; i < k; i++)
            t->conjugate[i] =
                t->solved[i] + (iteration > 0 ? product / previous * t->conjugate[i] : 0);
        apply_system(t, t->conjugate, t->along);
        double curvature = cblas_ddot((int)k, t->conjugate, 1, t->along, 1);
        if (!(curvature > 0))
            return;
        cblas_daxpy((int)k, product / curvature, t->conjugate, 1, t->da, 1);
        cblas_daxpy((int)k, -product / curvature, t->along, 1, t->residual, 1);
        square = scaled_square(t);
    }
}

/* ---- The step -------------------------------------------------------------------------------- */

static void find_step(iterate *t)
{
    for (size_t m = 0; m < t->n; m++)
        t->g[m] = t->to_r[m] / t->alpha[m] - t->to_xi[m] / t->beta[m];
    for (size_t m = 0; m < t->n; m++)
        t->small[m] = t->d[m] * t->g[m];
    for (size_t i = 0; i < t->k; i++)
        t->right[i] = t->to_a[i] / t->a[i] - t->dual_residual[i];
    multiply_z_transposed(t->p, 1, t->small, t->right);
    solve_system(t);
    multiply_z(t->p, 1, t->da, t->dalpha);
    for (size_t m = 0; m < t->n; m++) {
        t->dalpha[m] = t->d[m] * (t->g[m] - t->dalpha[m]);
        t->dr[m] = (t->to_r[m] - t->r[m] * t->dalpha[m]) / t->alpha[m];
        t->dxi[m] = (t->to_xi[m] + t->xi[m] * t->dalpha[m]) / t->beta[m];
    }
    /* from the dual residual: products with a tiny a would cancel */
    memcpy(t->ds, t->dual_residual, t->k * sizeof(*t->ds));
    vxs_hinge_interior_add_laplacian(t->p, t->da, t->ds);
    multiply_z_transposed(t->p, -1, t->dalpha, t->ds);
}

static double step_to_boundary(const double *x, const double *dx, size_t count, double sign,
                               double max)
{
    for (size_t i = 0; i < count; i++)
        if (sign * dx[i] * max < -x[i])
            max = -x[i] / (sign * dx[i]);
    return max;
}

/* Primal and dual step lengths. */
static void find_lengths(const iterate *t, double *primal, double *dual)
{
    *primal = step_to_boundary(t->a, t->da, t->k, 1, 1);
    *primal = step_to_boundary(t->r, t->dr, t->n, 1, *primal);
    *primal = step_to_boundary(t->xi, t->dxi, t->n, 1, *primal);
    *dual = step_to_boundary(t->s, t->ds, t->k, 1, 1);
    *dual = step_to_boundary(t->alpha, t->dalpha, t->n, 1, *dual);
    *dual = step_to_boundary(t->beta, t->dalpha, t->n, -1, *dual);
}

/* Targets of complementarity mu; `corrector` 1 adds the predictor's second-order term. */
static void set_targets(iterate *t, double mu, double corrector)
{
    for (size_t i = 0; i < t->k; i++)
        t->to_a[i] = mu - t->a[i] * t->s[i] - corrector * t->da[i] * t->ds[i];
    for (size_t m = 0; m < t->n; m++) {
        t->to_r[m] = mu - t->r[m] * t->alpha[m] - corrector * t->dr[m] * t->dalpha[m];
        t->to_xi[m] = mu - t->xi[m] * t->beta[m] + corrector * t->dxi[m] * t->dalpha[m];
    }
}

static void advance(iterate *t, double primal, double dual)
{
    for (size_t i = 0; i < t->k; i++) {
        t->a[i] = fmax(t->a[i] + primal * t->da[i], TINY);
        t->s[i] = fmax(t->s[i] + dual * t->ds[i], TINY);
    }
    multiply_z(t->p, 1, t->a, t->small);
    for (size_t m = 0; m < t->n; m++) {
        double margin = t->small[m] - 1; /* r - xi */
        t->r[m] = fmax(t->r[m] + primal * t->dr[m], TINY);
        t->xi[m] = fmax(t->xi[m] + primal * t->dxi[m], TINY);
        if (margin > 0)
            t->r[m] = margin + t->xi[m];
        else
            t->xi[m] = t->r[m] - margin;
        t->alpha[m] = fmax(t->alpha[m] + dual * t->dalpha[m], TINY);
        t->beta[m] = fmax(t->beta[m] - dual * t->dalpha[m], TINY);
    }
}

static void find_dual_residual(iterate *t)
{
    for (size_t i = 0; i < t->k; i++)
        t->dual_residual[i] = t->p->rho - t->s[i];
    vxs_hinge_interior_add_laplacian(t->p, t->a, t->dual_residual);
    multiply_z_transposed(t->p, -1, t->alpha, t->dual_residual);
    for (size_t m = 0; m < t->n; m++)
        t->d[m] = 1 / (t->r[m] / t->alpha[m] + t->xi[m] / t->beta[m]);
}

/* With a Laplacian primal and dual steps have the same length: a is in both residuals. */
static bool step(iterate *t)
{
    double primal, dual, now;
    find_dual_residual(t);
    find_ridge(t);
    memset(t->system, 0, (t->dense ? t->k * t->k : t->n * t->n) * sizeof(*t->system));
    if (!(t->dense ? factor_dense(t) : factor_by_samples(t)))
        return false;
    memset(t->da, 0, t->k * sizeof(*t->da));
    now = complementarity(t, 0, 0);
    set_targets(t, 0, 0);
    find_step(t);
    find_lengths(t, &primal, &dual);
    double ratio = complementarity(t, primal, dual) / now;
    set_targets(t, ratio * ratio * ratio * now, 1);
    find_step(t);
    find_lengths(t, &primal, &dual);
    if (t->p->laplacian > 0)
        primal = dual = fmin(primal, dual);
    primal = primal < 1 ? SHORTEN * primal : 1;
    dual = dual < 1 ? SHORTEN * dual : 1;
    advance(t, primal, dual);
    return fmax(primal, dual) > MIN_STEP;
}

/* Returns whether the target is reached; the best iterate stands. */
static bool reach_target(iterate *t, int patience)
{
    vxs_hinge_interior *p = t->p;
    double best = INFINITY;
    for (int stalled = 0; p->iterations < MAX_ITERATIONS && stalled < patience; p->iterations++) {
        if (vxs_check_interrupted(p->context, NULL) || !step(t))
            return false;
        certify(t);
        if (p->primal - p->dual <= p->target)
            return true;
        stalled = p->primal - p->dual < best ? 0 : stalled + 1;
        best = p->primal - p->dual;
    }
    return false;
}

/* From near the given point; where that gets nowhere, from the inside. */
static void run(iterate *t)
{
    vxs_hinge_interior *p = t->p;
    p->primal = INFINITY;
    p->dual = 0;
    p->iterations = 0;
    memcpy(t->a, p->a, t->k * sizeof(*t->a));
    memcpy(t->alpha, p->alpha, t->n * sizeof(*t->alpha));
    certify(t);
    if (p->primal - p->dual <= p->target)
        return;
    start_near(t);
    if (reach_target(t, PATIENCE / 2))
        return;
    start_inside(t);
    (void)reach_target(t, PATIENCE);
}

vxs_status vxs_hinge_interior_solve(vxs_hinge_interior *p, vxs_error *err)
{
    iterate t = { .p = p, .n = p->n, .k = p->k };
    vxs_status status = allocate(&t, err);
    if (!status)
        run(&t);
    if (!status)
        status = vxs_check_interrupted(p->context, err);
    release(&t);
    return status;
}
