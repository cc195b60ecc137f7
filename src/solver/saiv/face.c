/* face.c - steps of all weights inside the box by conjugate gradients, where they are too many for
 * a factor.
 *
 * Method    a few conjugate gradients without the box; the point is projected onto it and, with an
 *           intercept, onto the plane where weights sum to 0; then the best point between
 * Cost      each iteration half of the kernel */
#include "solver/saiv/face.h"
#include "solver/saiv/dual_pairs.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#define SMALLER    1e-2 /* of the residual */
#define BISECTIONS 60

typedef struct {
    vxs_box *box;
    const size_t *member;
    size_t count;
    double *direction, *residual, *conjugate, *image; /* n, 0 for samples that are not members */
    double *slope;                                    /* of the members */
} face;

static double at(const face *s, const double *values, size_t m)
{
    return values[s->box->row[s->member[m]]];
}

/* With an intercept only differences between members count. */
static double mean_of(const face *s, const double *values)
{
    double sum = 0;
    for (size_t m = 0; m < s->count && s->box->intercept; m++)
        sum += at(s, values, m);
    return sum / (double)s->count;
}

static void multiply(const face *s, const double *x, double *product)
{
    int n = (int)s->box->n;
    cblas_dsymv(CblasColMajor, CblasLower, n, 1, s->box->k, n, x, 1, 0, product, 1);
}

static double square_of(const double *x, size_t n)
{
    return cblas_ddot((int)n, x, 1, x, 1);
}

static void begin(face *s)
{
    vxs_box *x = s->box;
    size_t n = x->n;
    memset(s->direction, 0, n * sizeof(*s->direction));
    memset(s->residual, 0, n * sizeof(*s->residual));
    for (size_t m = 0; m < s->count; m++) {
        size_t k = s->member[m];
        s->residual[x->row[k]] = x->sign[k] * x->q[k] - x->f[x->row[k]];
    }
    double mean = mean_of(s, s->residual);
    for (size_t m = 0; m < s->count; m++) {
        s->residual[x->row[s->member[m]]] -= mean;
        s->slope[m] = at(s, s->residual, m);
    }
    memcpy(s->conjugate, s->residual, n * sizeof(*s->conjugate));
}

static void iterate(face *s)
{
    vxs_box *x = s->box;
    size_t n = x->n;
    double square = square_of(s->residual, n), target = SMALLER * SMALLER * square;
    for (int k = 0; k < VXS_FACE_ITERATIONS && square > target; k++) {
        multiply(s, s->conjugate, s->image);
        double curvature = cblas_ddot((int)n, s->conjugate, 1, s->image, 1);
        if (!(curvature > 0))
            return;
        double step = square / curvature, mean = mean_of(s, s->image), before = square;
        cblas_daxpy((int)n, step, s->conjugate, 1, s->direction, 1);
        for (size_t m = 0; m < s->count; m++) {
            size_t i = x->row[s->member[m]];
            s->residual[i] -= step * (s->image[i] - mean);
        }
        square = square_of(s->residual, n);
        cblas_dscal((int)n, square / before, s->conjugate, 1);
        cblas_daxpy((int)n, 1, s->residual, 1, s->conjugate, 1);
    }
}

/* Along directions without curvature the optimum is far outside the box: steps are no longer than
 * it is wide, so that rounding leaves a sum of 0. */
static void shorten(face *s)
{
    double longest = 0, width = 0;
    for (size_t m = 0; m < s->count; m++) {
        longest = fmax(longest, fabs(at(s, s->direction, m)));
        width = fmax(width, s->box->c[s->member[m]]);
    }
    if (longest > width)
        cblas_dscal((int)s->box->n, width / longest, s->direction, 1);
}

/* How far a member moves that would move by `change`. */
static double clipped(const face *s, size_t m, double change)
{
    double left = vxs_box_room(s->box, s->member[m], change);
    return fabs(change) > left ? copysign(left, change) : change;
}

static double sum_of(const face *s, double shift)
{
    double sum = 0;
    for (size_t m = 0; m < s->count; m++)
        sum += clipped(s, m, at(s, s->direction, m) - shift);
    return sum;
}

/* The direction becomes one to a point of the box, with the same sum of weights. */
static void project(face *s)
{
    double low = 0, high = 0;
    for (size_t m = 0; m < s->count; m++) {
        low = fmin(low, at(s, s->direction, m));
        high = fmax(high, at(s, s->direction, m));
    }
    for (int k = 0; k < BISECTIONS && s->box->intercept; k++) {
        double middle = (low + high) / 2;
        if (sum_of(s, middle) > 0)
            low = middle;
        else
            high = middle;
    }
    double shift = s->box->intercept ? (low + high) / 2 : 0;
    for (size_t m = 0; m < s->count; m++) {
        size_t i = s->box->row[s->member[m]];
        s->direction[i] = clipped(s, m, s->direction[i] - shift);
    }
}

/* What bisection and rounding have left of the sum goes to the member that has most room. */
static void balance(face *s)
{
    double sum = 0, most = 0;
    size_t best = SIZE_MAX;
    for (size_t m = 0; m < s->count; m++)
        sum += at(s, s->direction, m);
    for (size_t m = 0; m < s->count; m++) {
        double moved = at(s, s->direction, m);
        double left = fmin(vxs_box_room(s->box, s->member[m], 1) - moved,
                           vxs_box_room(s->box, s->member[m], -1) + moved);
        if (left > most) {
            most = left;
            best = s->box->row[s->member[m]];
        }
    }
    if (s->box->intercept && fabs(sum) < most)
        s->direction[best] -= sum;
}

bool vxs_face_step(vxs_box *box, const size_t *member, size_t count, double *work)
{
    size_t n = box->n;
    face s = { box, member, count, work, work + n, work + 2 * n, work + 3 * n, work + 4 * n };
    double gain = 0;
    begin(&s);
    iterate(&s);
    shorten(&s);
    project(&s);
    balance(&s);
    multiply(&s, s.direction, s.image);
    for (size_t m = 0; m < count; m++)
        gain += s.slope[m] * at(&s, s.direction, m);
    double curvature = cblas_ddot((int)n, s.direction, 1, s.image, 1);
    double share = curvature > gain ? gain / curvature : 1;
    if (!(gain > 0))
        return false;
    for (size_t m = 0; m < count; m++) {
        double step = share * at(&s, s.direction, m);
        if (step != 0)
            vxs_box_move(box, member[m], step);
    }
    cblas_daxpy((int)n, share, s.image, 1, box->f, 1);
    return true;
}
