/* low_rank_interior.c - kernel machines of a kernel K = LL' of low rank, by an interior point.
 *
 * Problem   as in saiv.c, with f = L u: min |u|^2 / 2 + c'xi, xi >= q - sign (L u + b), xi >= 0,
 *           and its dual; w is the slack of the first, t its multiplier, c - t that of xi >= 0
 * Method    Newton steps on t w = mu, (c - t) xi = mu with Mehrotra's corrector; one length for all
 *           variables, so that u = L' beta and the sum of beta stay as they are; then weights that
 *           tend to a bound are put on it, and the others, about as many as the rank, get what is
 *           best beside these (box_dual.c), unless that leaves a gap
 * Why       few samples can be inside their box, and the optimum is not unique in t: a working set
 *           loses one for each that it gains, and stops at gaps of some hundredths
 * Stops     the gap is a share of the one that is asked for, or steps are no longer possible: then
 *           the working set goes on
 * Cost      n rank^2 a step, 10 to 30 steps; n and rank^2 numbers
 * Source    Fine and Scheinberg 2001; Mehrotra 1992 */
#include "linalg/cholesky.h"
#include "solver/saiv/saiv.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#define SHARE      0.02 /* of the gap that is asked for */
#define MOST_STEPS 80
#define WITHIN     0.995 /* of the way to a bound */
#define SHORT      1e-7  /* a step that gains nothing */
#define TILE       512   /* rows that are scaled together */
#define PANEL      128   /* columns */
#define MOST_RANK  1000  /* of a kernel in memory */

typedef struct {
    vxs_saiv *s;
    const vxs_low_rank *l;
    double *w, *xi, *dt, *dw, *dxi;     /* of a variable */
    double *curvature, *first, *second; /* D; what t w and (c - t) xi lack of mu */
    double *weight, *change;            /* of a sample: D, change of the value */
    double *u, *du, *lag;               /* rank; lag: of u behind L' beta */
    double *border, *by_b;              /* rank: L'D1; what b changes of u */
    double *matrix, *tile;              /* I + L'DL; rows times the root of D */
    double b, db, whole;                /* whole: 1'(1/D + K)^-1 1 */
    double missing;                     /* of the sum of beta */
    size_t used;                        /* variables that may move */
    double gap;
} interior;

static vxs_status allocate(interior *p, double **space, vxs_error *err)
{
    const size_t m = p->s->box.count, n = p->l->n, rank = p->l->rank;
    double *at = vxs_alloc(8 * m + 2 * n + 5 * (rank + 1), sizeof(*at), err);
    p->matrix = vxs_alloc(rank + 1, vxs_times(rank + 1, sizeof(*p->matrix)), err);
    p->tile = vxs_alloc(rank + 1, TILE * sizeof(*p->tile), err);
    *space = at;
    if (!at || !p->matrix || !p->tile)
        return VXS_FAILED;
    double **const of_variables[] = { &p->w,   &p->xi,        &p->dt,    &p->dw,
                                      &p->dxi, &p->curvature, &p->first, &p->second };
    for (size_t k = 0; k < 8; k++, at += m)
        *of_variables[k] = at;
    p->weight = at;
    p->change = at + n;
    p->u = at + 2 * n;
    p->du = p->u + rank + 1;
    p->lag = p->du + rank + 1;
    p->border = p->lag + rank + 1;
    p->by_b = p->border + rank + 1;
    return VXS_OK;
}

/* y = L'x, or y = L x. */
static void multiply(const vxs_low_rank *l, bool transposed, const double *x, double *y)
{
    cblas_dgemv(CblasColMajor, transposed ? CblasTrans : CblasNoTrans, (int)l->n, (int)l->rank, 1,
                l->factor, (int)l->n, x, 1, 0, y, 1);
}

/* ---- The first point ------------------------------------------------------------------------- */

/* Half of the bounds, less of the side that has more of them: beta sums to 0. */
static void choose_weights(vxs_box *x)
{
    double sums[2] = { 0, 0 };
    for (size_t k = 0; k < x->count; k++)
        sums[x->sign[k] > 0] += x->c[k];
    const double least = fmin(sums[0], sums[1]);
    for (size_t k = 0; k < x->count; k++) {
        double side = sums[x->sign[k] > 0];
        x->t[k] = x->intercept ? (side > 0 ? x->c[k] / 2 * least / side : 0) : x->c[k] / 2;
    }
}

/* u = L' beta, and what beta misses of a sum of 0. */
static void sum_weights(interior *p, double *u)
{
    const vxs_box *x = &p->s->box;
    memset(p->change, 0, x->n * sizeof(*p->change));
    p->missing = 0;
    for (size_t k = 0; k < x->count; k++) {
        p->change[x->row[k]] += x->sign[k] * x->t[k];
        p->missing -= x->sign[k] * x->t[k];
    }
    multiply(p->l, true, p->change, u);
}

static double inside(const interior *p, size_t k)
{
    const vxs_box *x = &p->s->box;
    return x->q[k] - x->sign[k] * (x->f[x->row[k]] + p->b);
}

static void begin_point(interior *p)
{
    vxs_box *x = &p->s->box;
    double size = 0;
    choose_weights(x);
    sum_weights(p, p->u);
    multiply(p->l, false, p->u, x->f);
    p->b = vxs_box_evaluate(x, NULL, x->count, p->s->thresholds).b;
    for (size_t k = 0; k < x->count; k++)
        if (x->c[k] > 0) {
            size += fabs(inside(p, k));
            p->used++;
        }
    size = size > 0 ? size / (double)p->used : 1;
    for (size_t k = 0; k < x->count; k++) {
        double by = inside(p, k);
        p->xi[k] = fmax(0, by) + size;
        p->w[k] = fmax(0, -by) + size;
    }
}

/* ---- Newton steps ---------------------------------------------------------------------------- */

/* Rows of L times the root of D, as columns of a tile. */
static void scale_rows(const interior *p, size_t first, size_t count)
{
    const vxs_low_rank *l = p->l;
#pragma omp parallel for num_threads(vxs_design_threads(p->s->box.kernel)) schedule(static)
    for (size_t k = 0; k < l->rank; k++)
        for (size_t i = 0; i < count; i++)
            p->tile[k * TILE + i] = sqrt(p->weight[first + i]) * l->factor[k * l->n + first + i];
}

/* The factor of I + L'DL, panel by panel, so that threads change no sum. */
static bool factorize(interior *p)
{
    const size_t rank = p->l->rank, n = p->l->n;
    memset(p->matrix, 0, rank * rank * sizeof(*p->matrix));
    for (size_t first = 0; first < n; first += TILE) {
        const size_t count = n - first < TILE ? n - first : TILE;
        scale_rows(p, first, count);
#pragma omp parallel for num_threads(vxs_design_threads(p->s->box.kernel)) schedule(dynamic)
        for (size_t j = 0; j < rank; j += PANEL) {
            const int wide = (int)(rank - j < PANEL ? rank - j : PANEL);
            cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)(rank - j), wide, (int)count,
                        1, p->tile + j * TILE, TILE, p->tile + j * TILE, TILE, 1,
                        p->matrix + j * rank + j, (int)rank);
        }
    }
    for (size_t k = 0; k < rank; k++)
        p->matrix[k * rank + k] += 1;
    return vxs_cholesky(p->matrix, rank);
}

/* D of variables and samples, the factor, and what a change of b by 1 changes. */
static bool linearize(interior *p)
{
    const vxs_box *x = &p->s->box;
    const int rank = (int)p->l->rank;
    memset(p->weight, 0, x->n * sizeof(*p->weight));
    p->whole = 0;
    for (size_t k = 0; k < x->count; k++) {
        double t = x->t[k], left = x->c[k] - t;
        p->curvature[k] = x->c[k] > 0 ? 1 / (p->w[k] / t + p->xi[k] / left) : 0;
        p->weight[x->row[k]] += p->curvature[k];
        p->whole += p->curvature[k];
    }
    multiply(p->l, true, p->weight, p->border);
    memcpy(p->by_b, p->border, p->l->rank * sizeof(*p->by_b));
    if (!factorize(p))
        return false;
    vxs_cholesky_solve(p->matrix, p->l->rank, p->by_b, 1);
    p->whole -= cblas_ddot(rank, p->border, 1, p->by_b, 1);
    return true;
}

/* Changes of all that bring t w and (c - t) xi to their targets, and u and the sum of beta to what
 * they are if rounding is none. */
static void find_changes(interior *p)
{
    const vxs_box *x = &p->s->box;
    const int rank = (int)p->l->rank;
    double sum = -p->missing;
    memset(p->change, 0, x->n * sizeof(*p->change));
    for (size_t k = 0; k < x->count; k++) {
        if (x->c[k] == 0)
            continue;
        p->dt[k] = p->first[k] / x->t[k] - p->second[k] / (x->c[k] - x->t[k]);
        p->change[x->row[k]] += x->sign[k] * p->curvature[k] * p->dt[k];
        sum += x->sign[k] * p->curvature[k] * p->dt[k];
    }
    multiply(p->l, true, p->change, p->du);
    cblas_daxpy(rank, 1, p->lag, 1, p->du, 1);
    vxs_cholesky_solve(p->matrix, p->l->rank, p->du, 1);
    p->db = x->intercept && p->whole > 0
                ? (sum - cblas_ddot(rank, p->border, 1, p->du, 1)) / p->whole
                : 0;
    cblas_daxpy(rank, -p->db, p->by_b, 1, p->du, 1);
    multiply(p->l, false, p->du, p->change);
    for (size_t k = 0; k < x->count; k++) {
        double t = x->t[k], left = x->c[k] - t;
        if (x->c[k] == 0)
            continue;
        double moved = x->sign[k] * (p->change[x->row[k]] + p->db);
        p->dt[k] = p->curvature[k] * (p->dt[k] - moved);
        if (t < left) { /* the larger divides */
            p->dxi[k] = (p->second[k] + p->xi[k] * p->dt[k]) / left;
            p->dw[k] = p->dxi[k] + moved;
        } else {
            p->dw[k] = (p->first[k] - p->w[k] * p->dt[k]) / t;
            p->dxi[k] = p->dw[k] - moved;
        }
    }
}

static double within(double most, double value, double change)
{
    return change < 0 ? fmin(most, -value / change) : most;
}

/* The longest step that leaves all above 0, at most 1 / WITHIN. */
static double longest(const interior *p)
{
    const vxs_box *x = &p->s->box;
    double most = 1 / WITHIN;
    for (size_t k = 0; k < x->count; k++)
        if (x->c[k] > 0) {
            most = within(most, x->t[k], p->dt[k]);
            most = within(most, x->c[k] - x->t[k], -p->dt[k]);
            most = within(most, p->w[k], p->dw[k]);
            most = within(most, p->xi[k], p->dxi[k]);
        }
    return most;
}

/* sum t w + (c - t) xi after a step. */
static double gap_after(const interior *p, double step)
{
    const vxs_box *x = &p->s->box;
    double sum = 0;
    for (size_t k = 0; k < x->count; k++)
        if (x->c[k] > 0) {
            double t = x->t[k] + step * p->dt[k];
            sum += t * (p->w[k] + step * p->dw[k]) + (x->c[k] - t) * (p->xi[k] + step * p->dxi[k]);
        }
    return sum;
}

/* Targets: mu, less the second order of the step that was found, if there is one. */
static void aim(interior *p, double mu, bool again)
{
    const vxs_box *x = &p->s->box;
    for (size_t k = 0; k < x->count; k++)
        if (x->c[k] > 0) {
            double dt = again ? p->dt[k] : 0;
            p->first[k] = mu - x->t[k] * p->w[k] - dt * p->dw[k];
            p->second[k] = mu - (x->c[k] - x->t[k]) * p->xi[k] + dt * p->dxi[k];
        }
}

static void move(interior *p, double step)
{
    vxs_box *x = &p->s->box;
    for (size_t k = 0; k < x->count; k++)
        if (x->c[k] > 0) {
            x->t[k] += step * p->dt[k];
            p->w[k] += step * p->dw[k];
            p->xi[k] += step * p->dxi[k];
        }
    p->b += step * p->db;
    cblas_daxpy((int)p->l->rank, step, p->du, 1, p->u, 1);
    sum_weights(p, p->lag);
    cblas_daxpy((int)p->l->rank, -1, p->u, 1, p->lag, 1);
}

/* False if there is no way on. */
static bool take_step(interior *p)
{
    const double pairs = 2 * (double)p->used, mu = p->gap / pairs;
    if (!linearize(p))
        return false;
    aim(p, 0, false);
    find_changes(p);
    double least = gap_after(p, fmin(1, longest(p))) / p->gap;
    aim(p, least * least * least * mu, true);
    find_changes(p);
    double step = fmin(1, WITHIN * longest(p));
    if (!(step > SHORT))
        return false;
    move(p, step);
    p->gap = gap_after(p, 0);
    return true;
}

/* ---- The answer ------------------------------------------------------------------------------ */

/* Weights are put on the bound that they tend to: where they are nearer to it, as a share of the
 * box, than the sample to its margin. */
static void put_on_bounds(const interior *p)
{
    vxs_box *x = &p->s->box;
    double size = 0;
    for (size_t k = 0; k < x->count; k++)
        size += fabs(x->q[k]) / (double)x->count;
    for (size_t k = 0; k < x->count; k++) {
        double share = x->c[k] > 0 ? x->t[k] / x->c[k] : 0;
        if (share * size < p->w[k])
            x->t[k] = 0;
        else if ((1 - share) * size < p->xi[k])
            x->t[k] = x->c[k];
    }
}

static vxs_status evaluate(vxs_saiv *s, vxs_box_state *state, vxs_error *err)
{
    vxs_status status = vxs_saiv_refresh(s, err);
    *state = vxs_box_evaluate(&s->box, NULL, s->box.count, s->thresholds);
    return status;
}

/* Those inside the box, about as many as the rank, have their exact weights beside the others. */
static vxs_status polish(vxs_saiv *s, double within_gap, vxs_error *err)
{
    const vxs_box *x = &s->box;
    double b;
    memset(s->in_set, 0, x->count * sizeof(*s->in_set));
    for (size_t k = 0; k < x->count; k++)
        if (x->t[k] > 0 && x->t[k] < x->c[k])
            vxs_saiv_enter(s, k);
    vxs_saiv_list_set(s);
    vxs_saiv_note_seen(s);
    if (s->set_count == 0)
        return VXS_OK;
    return vxs_box_solve(&s->box, s->set, s->set_count, within_gap, &s->work, &b, err);
}

static vxs_status finish(const interior *p, double target, vxs_box_state *state, vxs_error *err)
{
    vxs_box *x = &p->s->box;
    memcpy(p->dt, x->t, x->count * sizeof(*x->t));
    put_on_bounds(p);
    if (vxs_box_balance(x)) { /* else none is inside the box, and the sum of beta is not 0 */
        vxs_status status = vxs_saiv_refresh(p->s, err);
        if (!status)
            status = polish(p->s, SHARE * target, err);
        if (!status)
            status = evaluate(p->s, state, err);
        if (status || state->primal - state->dual <= target)
            return status;
    }
    memcpy(x->t, p->dt, x->count * sizeof(*x->t));
    return evaluate(p->s, state, err);
}

vxs_status vxs_saiv_solve_low_rank(vxs_saiv *s, double target, vxs_box_state *state, size_t *rounds,
                                   vxs_error *err)
{
    interior p = { .s = s, .l = vxs_gram_low_rank(s->box.kernel) };
    double *space = NULL;
    vxs_status status = allocate(&p, &space, err);
    if (!status) {
        begin_point(&p);
        p.gap = gap_after(&p, 0);
    }
    for (*rounds = 0; *rounds < MOST_STEPS && !status && p.gap > SHARE * target; (*rounds)++) {
        if (!take_step(&p))
            break;
        status = vxs_check_interrupted(s->box.context, err);
    }
    if (!status)
        status = finish(&p, target, state, err);
    free(space);
    free(p.matrix);
    free(p.tile);
    return status;
}

/* ---- A kernel in memory whose rank is low ---------------------------------------------------- */

/* Solves with K = LL' in place of the matrix, if few landmarks leave nothing but rounding. */
static vxs_status solve_factored(vxs_saiv *s, double target, size_t *rounds, vxs_error *err)
{
    vxs_box *x = &s->box;
    const double *matrix = x->k;
    const vxs_design *given = x->kernel;
    vxs_design *factored = NULL;
    size_t most = x->n / 2 < MOST_RANK ? x->n / 2 : MOST_RANK, steps = 0;
    vxs_status status =
        vxs_low_rank_of(x->context, matrix, x->n, most, vxs_design_threads(given), &factored, err);
    if (!status && vxs_gram_low_rank(factored)->rank < most) {
        vxs_box_state state;
        x->kernel = factored;
        x->k = NULL;
        status = vxs_saiv_solve_low_rank(s, target, &state, &steps, err);
        x->kernel = given;
        x->k = matrix;
        *rounds += steps;
    }
    vxs_design_free(factored);
    return status;
}

vxs_status vxs_saiv_solve_singular(vxs_saiv *s, double target, vxs_box_state *state, size_t *rounds,
                                   vxs_error *err)
{
    vxs_box *x = &s->box;
    double gap = state->primal - state->dual, *before = vxs_alloc(x->count, sizeof(*before), err);
    if (!before)
        return VXS_FAILED;
    memcpy(before, x->t, x->count * sizeof(*before));
    vxs_status status = solve_factored(s, target, rounds, err);
    if (!status)
        status = evaluate(s, state, err);
    if (!status && !(state->primal - state->dual < gap)) {
        memcpy(x->t, before, x->count * sizeof(*before));
        status = evaluate(s, state, err);
    }
    free(before);
    return status;
}
