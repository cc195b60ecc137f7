/* region_values.c - the problem in which each piece has one weight: few variables, and a border's
 * difference wherever two pieces touch.
 *
 * While pieces stay above and below each other as they are, the penalty is linear and Newton's
 * method solves the problem. Its direction is followed to the least value along it, past places
 * where two pieces change sides; where the least value is at such a place the two become one
 * piece. What is left of one piece when it should be two is for the next cuts to find. A direction
 * in which nothing curves is cured by a little of the diagonal, which leaves the solution as it
 * is: there the gradient is 0 whatever the matrix. */
#include "linalg/cholesky.h"
#include "solver/cut_pursuit/cut_pursuit.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STEPS 5000
#define AGAIN      10    /* times that pieces part again */
#define PATIENCE   5     /* steps in which no pieces meet, and that promise as much as the last */
#define NEGLIGIBLE 1e-4  /* of the tolerance: only steps that promise less count as idle */
#define RIDGE      1e-8  /* of the diagonal: rounding, divided by it, is still nothing */
#define FURTHEST   2     /* times the direction: beyond it there is only rounding to follow */
#define NOTHING    1e-21 /* of the value: a step that promises no more is rounding */

/* LAPACK, which comes with OpenBLAS */

/* Where along a direction two pieces change sides, and by how much the slope rises there. */
typedef struct {
    double at, rise;
    size_t side, border;
} crossing;

struct vxs_levels {
    size_t columns; /* of all sides */
    double *system; /* columns x columns */
    double *scale, *step, *gradient;
    double *weighted;   /* n x columns */
    double *dz, *trial; /* n x classes */
    crossing *crossings;
    size_t count;
};

void vxs_levels_free(struct vxs_levels *l)
{
    if (!l)
        return;
    free(l->system);
    free(l->scale);
    free(l->step);
    free(l->gradient);
    free(l->weighted);
    free(l->dz);
    free(l->trial);
    free(l->crossings);
    free(l);
}

static vxs_status take_room(vxs_cuts *c, vxs_error *err)
{
    size_t m = 0, borders = 0, n = c->n;
    for (size_t k = 0; k < c->classes; k++) {
        m += vxs_side_columns(c, &c->sides[k]);
        borders += c->sides[k].border_count;
    }
    vxs_levels_free(c->levels);
    struct vxs_levels *l = c->levels = vxs_alloc(1, sizeof(*l), err);
    if (!l)
        return VXS_FAILED;
    l->columns = m;
    l->system = vxs_alloc(m, m * sizeof(*l->system), err);
    l->scale = vxs_alloc(m, sizeof(*l->scale), err);
    l->step = vxs_alloc(m, sizeof(*l->step), err);
    l->gradient = vxs_alloc(m, sizeof(*l->gradient), err);
    l->weighted = vxs_alloc(m, n * sizeof(*l->weighted), err);
    l->dz = vxs_alloc(n, c->classes * sizeof(*l->dz), err);
    l->trial = vxs_alloc(n, c->classes * sizeof(*l->trial), err);
    l->crossings = vxs_alloc(borders, sizeof(*l->crossings), err);
    return l->system && l->scale && l->step && l->gradient && l->weighted && l->dz && l->trial &&
                   l->crossings
               ? VXS_OK
               : VXS_FAILED;
}

/* ---- Value and slope ------------------------------------------------------------------------- */

double vxs_levels_penalty(const vxs_cuts *c)
{
    double sum = 0;
    for (size_t k = 0; k < c->classes; k++) {
        const vxs_side *s = &c->sides[k];
        for (size_t b = 0; b < s->border_count; b++)
            sum += s->borders[b].weight *
                   (s->w[c->q + s->borders[b].upper] - s->w[c->q + s->borders[b].lower]);
    }
    return sum;
}

static void predict(const vxs_cuts *c, double *z)
{
    for (size_t k = 0; k < c->classes; k++) {
        const vxs_side *s = &c->sides[k];
        int m = (int)vxs_side_columns(c, s);
        memset(z + k * c->n, 0, c->n * sizeof(*z));
        if (m > 0)
            cblas_dgemv(CblasColMajor, CblasNoTrans, (int)c->n, m, 1, s->x, (int)c->n, s->w, 1, 0,
                        z + k * c->n, 1);
    }
}

/* Of the value, by all columns; that of the ground's piece stays 0. */
static void find_gradient(const vxs_cuts *c, double lambda, double *gradient)
{
    for (size_t k = 0; k < c->classes; k++) {
        const vxs_side *s = &c->sides[k];
        int m = (int)vxs_side_columns(c, s);
        if (m > 0)
            cblas_dgemv(CblasColMajor, CblasTrans, (int)c->n, m, 1, s->x, (int)c->n,
                        c->slope + k * c->n, 1, 0, gradient, 1);
        for (size_t b = 0; b < s->border_count; b++) {
            gradient[c->q + s->borders[b].upper] += lambda * s->borders[b].weight;
            gradient[c->q + s->borders[b].lower] -= lambda * s->borders[b].weight;
        }
        if (vxs_side_grounded(s))
            gradient[c->q] = 0;
        gradient += m;
    }
}

/* ---- Newton's direction ---------------------------------------------------------------------- */

/* Second derivatives. Of one class: x' diag(curvature) x. Of several, curvature being
 * probabilities: x' diag(u p) x within a class, less what the classes have in common. */
static void weigh(const vxs_cuts *c, const vxs_side *s, const double *root, double *to)
{
    for (size_t k = 0; k < vxs_side_columns(c, s); k++)
        for (size_t i = 0; i < c->n; i++)
            to[k * c->n + i] = root[i] * s->x[k * c->n + i];
}

static void make_system(const vxs_cuts *c, struct vxs_levels *l)
{
    int n = (int)c->n, m = (int)l->columns;
    double *root = l->trial;
    size_t at = 0;
    memset(l->system, 0, (size_t)m * (size_t)m * sizeof(*l->system));
    if (c->classes > 1) {
        for (size_t k = 0; k < c->classes; at += vxs_side_columns(c, &c->sides[k++])) {
            for (size_t i = 0; i < c->n; i++)
                root[i] = sqrt(vxs_loss_weight(&c->problem.loss, i)) * c->curvature[k * c->n + i];
            weigh(c, &c->sides[k], root, l->weighted + at * c->n);
        }
        cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, m, n, -1, l->weighted, n, 0, l->system,
                    m);
    }
    at = 0;
    for (size_t k = 0; k < c->classes; k++) {
        int columns = (int)vxs_side_columns(c, &c->sides[k]);
        for (size_t i = 0; i < c->n; i++) {
            double u = c->classes > 1 ? vxs_loss_weight(&c->problem.loss, i) : 1;
            root[i] = sqrt(u * c->curvature[k * c->n + i]);
        }
        weigh(c, &c->sides[k], root, l->weighted);
        if (columns > 0)
            cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, columns, n, 1, l->weighted, n, 1,
                        l->system + at * (size_t)m + at, m);
        at += (size_t)columns;
    }
}

/* What all classes have in common does not change the multinomial loss, nor the penalty: what is
 * free of the first class stays. In units in which the diagonal is 1. */
static void hold_first(const vxs_cuts *c, struct vxs_levels *l)
{
    size_t m = l->columns;
    const uint32_t *now = c->sides[0].atoms.now;
    for (size_t k = 0; k < c->q; k++)
        l->system[k * m + k] += 1;
    for (size_t k = 0; k < c->p && !vxs_side_grounded(&c->sides[0]); k++)
        if (c->home[k] == k) { /* a node of each piece of the graph */
            size_t held = c->q + now[c->sides[0].piece[k]];
            l->system[held * m + held] += 1;
        }
}

/* step = -H^-1 gradient, in units in which the diagonal is 1. */
static void find_step(const vxs_cuts *c, struct vxs_levels *l)
{
    size_t m = l->columns;
    bool positive = false;
    double ridge = RIDGE;
    for (; !positive && ridge < 1; ridge *= 100) {
        make_system(c, l);
        for (size_t k = 0; k < m; k++) {
            double square = l->system[k * m + k];
            l->scale[k] = square > 0 ? 1 / sqrt(square) : 1;
        }
        for (size_t k = 0; k < m; k++) {
            for (size_t i = k; i < m; i++)
                l->system[k * m + i] *= l->scale[k] * l->scale[i];
            l->system[k * m + k] = 1 + ridge;
        }
        if (c->classes > 1)
            hold_first(c, l);
        positive = vxs_cholesky(l->system, m);
    }
    for (size_t k = 0; k < m; k++)
        l->step[k] = -l->scale[k] * l->gradient[k];
    if (positive)
        vxs_cholesky_solve(l->system, m, l->step, 1);
    for (size_t k = 0; k < m; k++)
        l->step[k] *= l->scale[k];
}

/* ---- Along it -------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const crossing *left = a, *right = b;
    if (left->at != right->at)
        return left->at > right->at ? 1 : -1;
    if (left->side != right->side)
        return left->side > right->side ? 1 : -1;
    return (left->border > right->border) - (left->border < right->border);
}

static void list_crossings(const vxs_cuts *c, struct vxs_levels *l, double lambda)
{
    const double *step = l->step;
    l->count = 0;
    for (size_t k = 0; k < c->classes; step += vxs_side_columns(c, &c->sides[k++])) {
        const vxs_side *s = &c->sides[k];
        for (size_t b = 0; b < s->border_count; b++) {
            const vxs_border *e = &s->borders[b];
            double apart = s->w[c->q + e->upper] - s->w[c->q + e->lower];
            double nearer = step[c->q + e->lower] - step[c->q + e->upper];
            if (nearer > 0)
                l->crossings[l->count++] = (crossing){ apart > 0 ? apart / nearer : 0,
                                                       2 * lambda * e->weight * nearer, k, b };
        }
    }
    qsort(l->crossings, l->count, sizeof(*l->crossings), by_place);
}

static void find_dz(const vxs_cuts *c, struct vxs_levels *l)
{
    const double *step = l->step;
    for (size_t k = 0; k < c->classes; k++) {
        const vxs_side *s = &c->sides[k];
        int m = (int)vxs_side_columns(c, s);
        cblas_dgemv(CblasColMajor, CblasNoTrans, (int)c->n, m, 1, s->x, (int)c->n, step, 1, 0,
                    l->dz + k * c->n, 1);
        step += m;
    }
}

/* The slope of the loss along the direction. */
static double slope_at(const vxs_cuts *c, struct vxs_levels *l, double t)
{
    int size = (int)(c->n * c->classes);
    double *slope = c->curvature; /* made anew when it is wanted */
    cblas_dcopy(size, c->z, 1, l->trial, 1);
    cblas_daxpy(size, t, l->dz, 1, l->trial, 1);
    vxs_loss_gradient(&c->problem.loss, l->trial, slope);
    return cblas_ddot(size, slope, 1, l->dz, 1);
}

/* Where the slope, which grows, is `level` between two places; the upper one may be infinite. */
static double find_place(const vxs_cuts *c, struct vxs_levels *l, double from, double to,
                         double level)
{
    double low = from, high = to;
    if (c->problem.loss.kind->squared) {
        double at = slope_at(c, l, from), more = slope_at(c, l, from + 1) - at;
        double place = more > 0 ? from + (level - at) / more : to;
        return fmin(fmax(place, from), to);
    }
    for (high = fmin(high, from + 1); high < to && slope_at(c, l, high) < level;) {
        low = high;
        high = fmin(to, from + 4 * (high - from));
        if (high > 1e15)
            return low;
    }
    for (int k = 0; k < 100 && high - low > 1e-15 * high; k++) { /* of which few are needed */
        double below = slope_at(c, l, low) - level, above = slope_at(c, l, high) - level;
        double middle = low + (high - low) * (below / (below - above)), width = high - low;
        if (k % 3 == 2 || !(middle > low && middle < high))
            middle = low + width / 2;
        double here = slope_at(c, l, middle) - level;
        if (fabs(here) <= 1e-13 * (fabs(below) + fabs(above)))
            return middle;
        if (here < 0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The place of the least value along the direction; `met` is the crossing that it is at, or
 * count. The slope of the penalty grows at crossings alone. */
static double find_least(const vxs_cuts *c, struct vxs_levels *l, double slope, size_t *met)
{
    double penalty = slope - slope_at(c, l, 0); /* when all crossings before `low` are passed */
    size_t low = 0, high = l->count;
    while (low < high) { /* the first one behind which the slope is not below 0 */
        size_t middle = low + (high - low) / 2;
        double here = penalty;
        for (size_t k = low; k <= middle; k++)
            here += l->crossings[k].rise;
        if (slope_at(c, l, l->crossings[middle].at) + here < 0) {
            penalty = here;
            low = middle + 1;
        } else
            high = middle;
    }
    double from = low > 0 ? l->crossings[low - 1].at : 0;
    double to = low < l->count ? l->crossings[low].at : INFINITY;
    *met = low;
    if (low < l->count && slope_at(c, l, to) + penalty < 0)
        return to;
    *met = l->count;
    return find_place(c, l, from, to, -penalty);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void turn_borders(vxs_cuts *c, const struct vxs_levels *l, double place, size_t met)
{
    for (size_t k = 0; k < l->count && l->crossings[k].at <= place; k++) {
        vxs_border *e = &c->sides[l->crossings[k].side].borders[l->crossings[k].border];
        vxs_border turned = { e->lower, e->upper, e->weight };
        if (k < met)
            *e = turned;
    }
}

/* A piece is gone, and the last one takes its name. */
static uint32_t rename_piece(uint32_t piece, uint32_t keep, uint32_t gone, uint32_t last)
{
    if (piece == gone)
        return keep;
    return piece == last ? gone : piece;
}

/* The two sides of a border become one piece, which takes the smaller name: the ground's keeps its
 * own. */
static void merge(const vxs_cuts *c, vxs_side *s, size_t border)
{
    size_t n = c->n, q = c->q, count = 0;
    uint32_t upper = s->borders[border].upper, lower = s->borders[border].lower;
    uint32_t keep = upper < lower ? upper : lower, gone = upper < lower ? lower : upper;
    uint32_t last = (uint32_t)s->count - 1;
    double *x = s->x + q * n;
    if (!(vxs_side_grounded(s) && keep == 0))
        cblas_daxpy((int)n, 1, x + gone * n, 1, x + keep * n, 1);
    vxs_side_clean(c, x + keep * n);
    memmove(x + gone * n, x + last * n, n * sizeof(*x));
    s->w[q + gone] = s->w[q + last];
    s->count--;
    for (size_t k = 0; k < s->atoms.count; k++)
        s->atoms.now[k] = rename_piece(s->atoms.now[k], keep, gone, last);
    for (size_t b = 0; b < s->border_count; b++) {
        vxs_border e = s->borders[b];
        e.upper = rename_piece(e.upper, keep, gone, last);
        e.lower = rename_piece(e.lower, keep, gone, last);
        if (e.upper != e.lower)
            s->borders[count++] = e;
    }
    s->border_count = count;
}

static void move(vxs_cuts *c, const struct vxs_levels *l, double place)
{
    const double *step = l->step;
    for (size_t k = 0; k < c->classes; k++) {
        int m = (int)vxs_side_columns(c, &c->sides[k]);
        cblas_daxpy(m, place, step, 1, c->sides[k].w, 1);
        if (vxs_side_grounded(&c->sides[k]))
            c->sides[k].w[c->q] = 0;
        step += m;
    }
}

static void look(vxs_cuts *c)
{
    predict(c, c->z);
    vxs_loss_gradient(&c->problem.loss, c->z, c->slope);
}

/* One direction; how much it promised, 0 when nothing more is to be had. */
static double descend(vxs_cuts *c, double lambda)
{
    struct vxs_levels *l = c->levels;
    size_t met;
    l->columns = 0;
    for (size_t k = 0; k < c->classes; k++)
        l->columns += vxs_side_columns(c, &c->sides[k]);
    find_gradient(c, lambda, l->gradient);
    vxs_loss_curvature(&c->problem.loss, c->z, c->curvature);
    find_step(c, l);
    double slope = cblas_ddot((int)l->columns, l->gradient, 1, l->step, 1);
    if (!(slope < -NOTHING * c->zero))
        return 0;
    find_dz(c, l);
    list_crossings(c, l, lambda);
    double place = find_least(c, l, slope, &met);
    if (place > FURTHEST) {
        place = FURTHEST;
        met = l->count;
    }
    move(c, l, place);
    turn_borders(c, l, place, met);
    if (met < l->count) {
        const crossing *at = &l->crossings[met];
        vxs_side *s = &c->sides[at->side];
        double *upper = &s->w[c->q + s->borders[at->border].upper];
        double *lower = &s->w[c->q + s->borders[at->border].lower];
        bool ground = vxs_side_grounded(s) && (upper == s->w + c->q || lower == s->w + c->q);
        *upper = *lower = ground ? 0 : (*upper + *lower) / 2;
        merge(c, s, at->border);
    }
    look(c);
    return -slope;
}

static size_t count_pieces(const vxs_cuts *c)
{
    size_t sum = 0;
    for (size_t k = 0; k < c->classes; k++)
        sum += c->sides[k].count;
    return sum;
}

/* Until it is solved, to rounding. */
static vxs_status descend_all(vxs_cuts *c, double lambda, vxs_error *err)
{
    double last = INFINITY, value = c->empty > 0 ? c->empty : c->zero;
    double negligible = NEGLIGIBLE * c->settings.tol * value;
    vxs_status status = VXS_OK;
    for (int step = 0, idle = 0; step < MOST_STEPS && idle < PATIENCE && !status; step++) {
        size_t before = count_pieces(c);
        status = vxs_check_interrupted(c->context, err);
        double promise = status ? 0 : descend(c, lambda);
        if (promise == 0)
            break;
        bool better = count_pieces(c) < before || promise > negligible || promise < last / 2;
        idle = better ? 0 : idle + 1;
        last = promise;
    }
    return status;
}

/* What parts again along borders of atoms is solved again, while there is something to be had. */
vxs_status vxs_levels_solve(vxs_cuts *c, double lambda, vxs_error *err)
{
    vxs_status status = take_room(c, err);
    for (size_t k = 0; k < c->classes && !status; k++)
        status = vxs_atoms_begin(c, &c->sides[k], err);
    if (!status)
        look(c);
    for (int again = 0; again < AGAIN && !status; again++) {
        double risen = 0;
        status = descend_all(c, lambda, err);
        for (size_t k = 0; k < c->classes && !status; k++)
            risen += vxs_atoms_part(c, &c->sides[k], lambda, c->little / lambda);
        if (risen == 0)
            break;
    }
    for (size_t k = 0; k < c->classes && !status; k++)
        vxs_atoms_end(&c->sides[k]);
    return status;
}
