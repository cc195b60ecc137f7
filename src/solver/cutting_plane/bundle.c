/* bundle.c - the restricted problem of a measure.
 *
 * Problem   min over omega, b: (sum over rounds |omega_h|)^2 / 2 + C R(X omega + F b), R the value
 *           of the measure: the largest of its planes
 * Dual      max over alpha >= 0, sum alpha = C, F's = 0, s = sum alpha g:
 *           sum alpha cost - max over rounds |X_h's|^2 / 2
 * Method    a bundle: the best weights of the planes so far (plane_master.c) give the next point; a
 *           line search from the best point to it, which reads no column; planes of the point, of
 *           the best on the way, and of one a tenth further
 * Stops     best value - best bound at the target, or no plane is new and the weights are exact
 * Cost      a plane: n log n, and n a column; a master: see there
 * Threads   those of BLAS
 * Source    Mao and Tsang, algorithm 2, which has no line search and no bound; Joachims, Finley,
 *           Yu: Cutting-plane training of structural SVMs, Machine Learning 2009 (one slack) */
#include "solver/cutting_plane/bundle.h"
#include "linalg/gram_schmidt.h"
#include "solver/cutting_plane/plane_master.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MASTERS    1000
#define HALVINGS   12
#define BEYOND     0.1  /* past the best point of the line search */
#define WEIGHTLESS 1e-6 /* of C */
#define LOOSEST    1e-4 /* tolerance of a master, relative */
#define TIGHTEST   1e-11
#define SHARE      1e-3 /* of the present gap */
#define DROP_EVERY 5

/* ---- Free columns ---------------------------------------------------------------------------- */

/* Those of the covariates; without their means where a constant changes nothing. */
static vxs_status set_free_columns(vxs_bundle *b, vxs_error *err)
{
    const vxs_covariates_fit *c = b->covariates;
    size_t rank = c->rank;
    double used = 0;
    b->f = vxs_alloc(b->n, (rank + 1) * sizeof(*b->f), err);
    b->turn = vxs_alloc(rank + 1, (rank + 1) * sizeof(*b->turn), err);
    b->column = vxs_alloc(rank + 1, sizeof(*b->column), err);
    b->b = vxs_alloc(rank + 1, sizeof(*b->b), err);
    if (!b->f || !b->turn || !b->column || !b->b)
        return VXS_FAILED;
    for (size_t i = 0; i < b->n; i++)
        used += b->measured.weight[i] > 0;
    for (size_t k = 0; k < rank; k++) {
        double *v = b->f + b->q * b->n, mean = 0;
        memcpy(v, c->basis + k * b->n, b->n * sizeof(*v));
        for (size_t i = 0; i < b->n; i++)
            mean += v[i] / used;
        for (size_t i = 0; i < b->n && !b->measured.kind->has_threshold; i++)
            v[i] -= b->measured.weight[i] > 0 ? mean : 0;
        double *own = b->turn + b->q * (rank + 1);
        memset(own, 0, (rank + 1) * sizeof(*own));
        /* the columns had norm 1 before */
        if (vxs_gram_schmidt_append(b->f, b->n, b->q, VXS_INDEPENDENT_COVARIATE,
                                    VXS_INDEPENDENT_COVARIATE, own))
            b->column[b->q++] = k;
    }
    return VXS_OK;
}

void vxs_bundle_coefficients(const vxs_bundle *b, double *coefficients)
{
    size_t stride = b->covariates->rank + 1;
    memset(coefficients, 0, b->covariates->rank * sizeof(*coefficients));
    for (size_t k = b->q; k-- > 0;) { /* columns = f turn, turn upper triangular */
        double value = b->b[k];
        for (size_t j = k + 1; j < b->q; j++)
            value -= b->turn[j * stride + k] * coefficients[b->column[j]];
        coefficients[b->column[k]] = value / b->turn[k * stride + k];
    }
}

void vxs_bundle_release(vxs_bundle *b)
{
    vxs_planes_release(&b->planes);
    vxs_measured_release(&b->measured);
    void *const all[] = { b->f, b->turn, b->column, b->b, b->plane, b->s, b->cell };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        free(all[k]);
    *b = (vxs_bundle){ .n = 0 };
}

vxs_status vxs_bundle_init(const vxs_context *context, const vxs_problem *problem, double cost,
                           const vxs_covariates_fit *covariates, vxs_bundle *b, vxs_error *err)
{
    *b = (vxs_bundle){
        .context = context, .cost = cost, .n = problem->loss.n, .covariates = covariates
    };
    vxs_status status = vxs_measured_init(&problem->loss, &b->measured, err);
    b->s = status ? NULL : vxs_alloc(b->n, sizeof(*b->s), err);
    b->plane = status ? NULL : vxs_alloc(b->n, sizeof(*b->plane), err);
    if (!status)
        status = b->s && b->plane ? set_free_columns(b, err) : VXS_FAILED;
    if (!status)
        status = vxs_planes_begin(b, err);
    if (status)
        vxs_bundle_release(b);
    return status;
}

/* ---- Points ---------------------------------------------------------------------------------- */

typedef struct {
    double *z; /* n: predictions */
    double *b; /* q */
    double penalty, value;
} point;

typedef struct {
    vxs_bundle *bundle;
    vxs_bundle_problem *problem;
    point best, next, trial;
    double *step;   /* n: from the best to the next */
    double *w;      /* columns */
    double *alpha;  /* of the planes; the master's */
    double *mu;     /* rounds */
    double **omega; /* of the next point */
    double **own;   /* of the best one: those of the rounds */
    const double **gram;
    size_t room;   /* planes that alpha has room for */
    double factor; /* on the tolerance of the master */
} search;

static void add_free_columns(const vxs_bundle *b, const double *coefficients, double *z)
{
    for (size_t j = 0; j < b->q; j++)
        cblas_daxpy((int)b->n, coefficients[j], b->f + j * b->n, 1, z, 1);
}

static void predict(search *s, double *const *omega, point *at)
{
    const vxs_bundle *b = s->bundle;
    const vxs_bundle_problem *q = s->problem;
    double sum = 0;
    memset(s->w, 0, q->columns * sizeof(*s->w));
    for (size_t h = 0; h < q->count; h++) {
        const vxs_bundle_round *r = &q->rounds[h];
        sum += cblas_dnrm2((int)r->width, omega[h], 1);
        for (size_t c = 0; c < r->width; c++)
            s->w[r->column[c]] += omega[h][c];
    }
    memset(at->z, 0, b->n * sizeof(*at->z));
    if (q->columns > 0)
        cblas_dgemv(CblasColMajor, CblasNoTrans, (int)b->n, (int)q->columns, 1, q->x, (int)b->n,
                    s->w, 1, 0, at->z, 1);
    add_free_columns(b, at->b, at->z);
    at->penalty = sum * sum / 2;
}

/* The value at a point, whose plane is added. */
static vxs_status look(search *s, point *at, bool *added, vxs_error *err)
{
    double value = 0;
    vxs_status status = vxs_planes_add(s->bundle, s->problem, at->z, &value, added, err);
    at->value = s->bundle->cost * value;
    return status;
}

/* ---- Line search ----------------------------------------------------------------------------- */

static void go(search *s, double t)
{
    memcpy(s->trial.z, s->best.z, s->bundle->n * sizeof(double));
    cblas_daxpy((int)s->bundle->n, t, s->step, 1, s->trial.z, 1);
}

/* C g'step + the change of the penalty, at a share t of the way; no plane is added. */
static double slope_at(search *s, double t, double *value)
{
    vxs_bundle *b = s->bundle;
    double cost;
    size_t counts[2];
    go(s, t);
    *value = b->cost * b->measured.kind->worst(&b->measured, s->trial.z, b->plane, &cost, counts) +
             (1 - t) * s->best.penalty + t * s->next.penalty;
    return s->next.penalty - s->best.penalty +
           b->cost * cblas_ddot((int)b->n, b->plane, 1, s->step, 1);
}

/* The best share of the way, and its value; 0: none is better. */
static double find_share(search *s, double *least)
{
    double low = 0, high = 1, share = 0;
    *least = s->best.penalty + s->best.value;
    for (int k = 0; k < HALVINGS; k++) {
        double t = (low + high) / 2, value, slope = slope_at(s, t, &value);
        share = value < *least ? t : share;
        *least = fmin(*least, value);
        *(slope > 0 ? &high : &low) = t;
    }
    return share;
}

/* best = a share of the way from the best to the next. */
static void move(search *s, double t)
{
    vxs_bundle *b = s->bundle;
    for (size_t h = 0; h < s->problem->count; h++)
        for (size_t c = 0; c < s->problem->rounds[h].width; c++) {
            double *omega = s->problem->rounds[h].omega;
            omega[c] = (1 - t) * omega[c] + t * s->omega[h][c];
        }
    for (size_t j = 0; j < b->q; j++)
        s->best.b[j] = (1 - t) * s->best.b[j] + t * s->next.b[j];
}

/* The plane of a share of the way. */
static vxs_status look_at(search *s, double t, bool *added, vxs_error *err)
{
    go(s, t);
    return look(s, &s->trial, added, err);
}

/* Moves the best point, and adds the planes of where it looked. */
static vxs_status improve(search *s, bool *added, vxs_error *err)
{
    double least;
    vxs_status status = look(s, &s->next, added, err);
    for (size_t i = 0; i < s->bundle->n; i++)
        s->step[i] = s->next.z[i] - s->best.z[i];
    double share = find_share(s, &least);
    if (!status && share > 0)
        status = look_at(s, share, added, err);
    if (!status && share > 0)
        status = look_at(s, fmin(1, share + BEYOND), added, err);
    if (s->next.penalty + s->next.value < least)
        share = 1;
    if (status || share == 0)
        return status;
    move(s, share);
    predict(s, s->own, &s->best);
    return look(s, &s->best, added, err);
}

/* ---- Masters --------------------------------------------------------------------------------- */

static vxs_status reserve(search *s, vxs_error *err)
{
    size_t count = s->bundle->planes.capacity;
    if (count <= s->room)
        return VXS_OK;
    double *alpha = vxs_resize(s->alpha, count, (1 + s->bundle->q) * sizeof(*alpha), err);
    s->alpha = alpha ? alpha : s->alpha;
    s->room = alpha ? count : s->room;
    return alpha ? VXS_OK : VXS_FAILED;
}

/* The best weights of the planes, and the point that goes with them. */
static vxs_status run_master(search *s, double tol, vxs_error *err)
{
    vxs_bundle *b = s->bundle;
    vxs_planes *p = &b->planes;
    vxs_bundle_problem *q = s->problem;
    vxs_planes_multiply(b, q);
    vxs_status status = reserve(s, err);
    if (status)
        return status;
    double *along = s->alpha + s->room; /* a column for each free one */
    for (size_t j = 0; j < b->q; j++)
        for (size_t k = 0; k < p->count; k++)
            along[j * p->count + k] = p->along[k * b->q + j];
    for (size_t h = 0; h < q->count; h++)
        s->gram[h] = q->rounds[h].gram;
    vxs_plane_master m = { .planes = p->count,
                           .rounds = q->count,
                           .equations = b->q,
                           .stride = p->capacity,
                           .gram = s->gram,
                           .offset = p->cost,
                           .along = along,
                           .cost = b->cost,
                           .tol = tol,
                           .alpha = s->alpha,
                           .mu = s->mu,
                           .free_weights = s->next.b };
    status = vxs_plane_master_solve(&m, err);
    b->masters++;
    for (size_t k = 0; k < p->count && !status; k++)
        p->idle[k] = s->alpha[k] > WEIGHTLESS * b->cost ? 0 : p->idle[k] + 1;
    for (size_t h = 0; h < q->count && !status; h++) {
        vxs_bundle_round *r = &q->rounds[h];
        r->share = s->mu[h];
        if (r->width > 0)
            cblas_dgemv(CblasColMajor, CblasNoTrans, (int)r->width, (int)p->count, -s->mu[h],
                        r->products, (int)r->width, s->alpha, 1, 0, s->omega[h], 1);
    }
    if (status || !(m.lower > b->lower))
        return status;
    b->lower = m.lower;
    return vxs_planes_take_dual(b, s->alpha, err);
}

static double tolerance(const search *s, double target)
{
    double value = s->best.penalty + s->best.value, gap = fmax(value - s->bundle->lower, target);
    double tol = value > 0 ? SHARE * gap / value : LOOSEST;
    return fmax(TIGHTEST, fmin(LOOSEST, s->factor * tol));
}

static vxs_status iterate(search *s, double target, vxs_error *err)
{
    vxs_bundle *b = s->bundle;
    bool added = false;
    vxs_status status = look(s, &s->best, &added, err);
    for (size_t k = 0; k < MASTERS && !status; k++) {
        added = false;
        if (k % DROP_EVERY == DROP_EVERY - 1)
            status = vxs_planes_drop(b, s->problem, err);
        double tol = tolerance(s, target);
        if (!status)
            status = run_master(s, tol, err);
        if (status)
            return status;
        predict(s, s->omega, &s->next);
        status = improve(s, &added, err);
        bool closed = s->best.penalty + s->best.value - b->lower <= target;
        if (status || closed || (!added && tol <= TIGHTEST))
            return status;
        s->factor = added ? 1 : s->factor / 10;
        status = vxs_check_interrupted(b->context, err);
    }
    return status;
}

/* ---- The problem ----------------------------------------------------------------------------- */

static void release(search *s)
{
    point *const points[] = { &s->best, &s->next, &s->trial };
    for (size_t k = 0; k < 3; k++) {
        free(points[k]->z);
        free(points[k]->b);
    }
    for (size_t h = 0; s->omega && h < s->problem->count; h++)
        free(s->omega[h]);
    void *const all[] = { s->step, s->w, s->alpha, s->mu, s->omega, s->own, s->gram };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        free(all[k]);
}

static vxs_status allocate(search *s, vxs_error *err)
{
    const vxs_bundle *b = s->bundle;
    size_t rounds = s->problem->count;
    point *const points[] = { &s->best, &s->next, &s->trial };
    bool fine = true;
    for (size_t k = 0; k < 3; k++) {
        points[k]->z = vxs_alloc(b->n, sizeof(double), err);
        points[k]->b = vxs_alloc(b->q + 1, sizeof(double), err);
        fine = fine && points[k]->z && points[k]->b;
    }
    s->step = vxs_alloc(b->n, sizeof(*s->step), err);
    s->w = vxs_alloc(s->problem->columns + 1, sizeof(*s->w), err);
    s->mu = vxs_alloc(rounds, sizeof(*s->mu), err);
    s->gram = vxs_alloc(rounds, sizeof(*s->gram), err);
    s->omega = vxs_alloc(rounds, sizeof(*s->omega), err);
    s->own = vxs_alloc(rounds, sizeof(*s->own), err);
    fine = fine && s->step && s->w && s->mu && s->gram && s->omega && s->own;
    for (size_t h = 0; h < rounds && fine; h++) {
        s->omega[h] = vxs_alloc(s->problem->rounds[h].width + 1, sizeof(double), err);
        s->own[h] = s->problem->rounds[h].omega;
        fine = s->omega[h];
    }
    return fine ? VXS_OK : VXS_FAILED;
}

static void release_rounds(vxs_bundle_problem *q)
{
    for (size_t h = 0; h < q->count; h++) {
        free(q->rounds[h].products);
        free(q->rounds[h].gram);
        q->rounds[h].products = q->rounds[h].gram = NULL;
    }
}

vxs_status vxs_bundle_solve(vxs_bundle *b, vxs_bundle_problem *problem, double target,
                            vxs_error *err)
{
    search s = { .bundle = b, .problem = problem, .factor = 1 };
    vxs_status status = allocate(&s, err);
    b->planes.computed = 0;
    b->lower = -INFINITY;
    if (!status) {
        memcpy(s.best.b, b->b, b->q * sizeof(*b->b));
        predict(&s, s.own, &s.best);
        status = iterate(&s, target, err);
    }
    if (!status) {
        memcpy(b->b, s.best.b, b->q * sizeof(*b->b));
        b->penalty = s.best.penalty;
        b->value = s.best.value;
        b->upper = b->penalty + b->value;
    }
    release_rounds(problem);
    release(&s);
    return status;
}

double vxs_bundle_value(vxs_bundle *b, const double *prediction)
{
    double cost;
    size_t counts[2];
    return b->cost * b->measured.kind->worst(&b->measured, prediction, b->plane, &cost, counts);
}

double vxs_bundle_evaluate(vxs_bundle *b, const double *z, double *prediction)
{
    memcpy(prediction, z, b->n * sizeof(*prediction));
    add_free_columns(b, b->b, prediction);
    return vxs_bundle_value(b, prediction);
}

double vxs_bundle_bound(const vxs_bundle *b, double scores)
{
    double t = scores > 0 ? fmin(1, b->delta / scores) : 1;
    return t > 0 ? t * b->delta - t * t * scores / 2 : 0;
}
