/* dual_pairs.c - steps of two weights in the dual problem of kernel machines, or of one without an
 * intercept.
 *
 * Method    the weight that gains most by rising, and the one with which it gains most (second
 *           order); one pass over three columns of the kernel, compiled for several instruction
 *           sets, with the same bits
 * Cost      per step 3 n kernel values
 * Source    Fan, Chen and Lin 2005 */
#include "solver/saiv/dual_pairs.h"
#include "voxsift/internal/machine.h"

#include <float.h>
#include <math.h>

enum { BLOCK = 64 }; /* samples whose maximum is found at once */

/* ---- Passes over all samples ----------------------------------------------------------------- */

/* Without this the body would not be compiled for the target of its caller. */
#define INSIDE static inline __attribute__((always_inline))

#ifdef __clang__ /* warns that it does not vectorize maxima */
#define MAXIMUM
#else
#define MAXIMUM _Pragma("omp simd reduction(max : most)")
#endif

/* f += a x + b z */
INSIDE void add_columns(double *f, const double *x, double a, const double *z, double b, size_t n)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        f[i] += a * x[i] + b * z[i];
}

/* The largest rise - f; returns the sample, SIZE_MAX if there is none. */
INSIDE size_t find_rise(const double *rise, const double *f, size_t n, double *largest)
{
    size_t block = SIZE_MAX;
    *largest = -INFINITY;
    for (size_t first = 0; first < n; first += BLOCK) {
        size_t end = n - first < BLOCK ? n : first + BLOCK;
        double most = -INFINITY;
        MAXIMUM
        for (size_t i = first; i < end; i++) {
            double v = rise[i] - f[i];
            most = v > most ? v : most;
        }
        if (most > *largest) {
            *largest = most;
            block = first;
        }
    }
    while (block != SIZE_MAX && rise[block] - f[block] != *largest)
        block++;
    return block;
}

/* What a pair gains whose values are `difference` apart. */
INSIDE double gain_of(double difference, double curvature, double floor)
{
    double square = difference * difference / (curvature > floor ? curvature : floor);
    return difference > 0 ? square : -1;
}

/* The sample whose fall gains most beside the rise of one whose value is `high`, whose kernel
 * values are x. */
INSIDE size_t find_fall(const vxs_pairs *p, double high, const double *x, double own)
{
    const double *fall = p->fall, *f = p->box->f, *diagonal = p->diagonal, floor = p->floor;
    size_t n = p->box->n, block = SIZE_MAX;
    double largest = -1;
    for (size_t first = 0; first < n; first += BLOCK) {
        size_t end = n - first < BLOCK ? n : first + BLOCK;
        double most = -1;
        MAXIMUM
        for (size_t i = first; i < end; i++) {
            double v = gain_of(high - (fall[i] - f[i]), own + diagonal[i] - 2 * x[i], floor);
            most = v > most ? v : most;
        }
        if (most > largest) {
            largest = most;
            block = first;
        }
    }
    while (block != SIZE_MAX && gain_of(high - (fall[block] - f[block]),
                                        own + diagonal[block] - 2 * x[block], floor) != largest)
        block++;
    return block;
}

/* The sample that gains most if it alone moves. */
INSIDE size_t find_single(const vxs_pairs *p)
{
    const double *rise = p->rise, *fall = p->fall, *f = p->box->f;
    size_t best = SIZE_MAX;
    double most = 0;
    for (size_t i = 0; i < p->box->n; i++) {
        double up = rise[i] - f[i], down = f[i] - fall[i], v = up > down ? up : down;
        double gain = gain_of(v, p->diagonal[i], p->floor);
        best = gain > most ? i : best;
        most = gain > most ? gain : most;
    }
    return best;
}

typedef struct {
    void (*add_columns)(double *f, const double *x, double a, const double *z, double b, size_t n);
    size_t (*find_rise)(const double *rise, const double *f, size_t n, double *largest);
    size_t (*find_fall)(const vxs_pairs *p, double high, const double *x, double own);
    size_t (*find_single)(const vxs_pairs *p);
} passes;

#define PASSES(name, attribute)                                                                    \
    __attribute__((attribute)) static void add_columns_##name(double *f, const double *x,          \
                                                              double a, const double *z, double b, \
                                                              size_t n)                            \
    {                                                                                              \
        add_columns(f, x, a, z, b, n);                                                             \
    }                                                                                              \
    __attribute__((attribute)) static size_t find_rise_##name(const double *rise, const double *f, \
                                                              size_t n, double *largest)           \
    {                                                                                              \
        return find_rise(rise, f, n, largest);                                                     \
    }                                                                                              \
    __attribute__((attribute)) static size_t find_fall_##name(const vxs_pairs *p, double high,     \
                                                              const double *x, double own)         \
    {                                                                                              \
        return find_fall(p, high, x, own);                                                         \
    }                                                                                              \
    __attribute__((attribute)) static size_t find_single_##name(const vxs_pairs *p)                \
    {                                                                                              \
        return find_single(p);                                                                     \
    }                                                                                              \
    static const passes passes_##name = { add_columns_##name, find_rise_##name, find_fall_##name,  \
                                          find_single_##name };

/* unused: a neutral attribute, for the baseline of the architecture */
PASSES(plain, unused)
#if defined(__x86_64__)
PASSES(avx2, VXS_FOR_AVX2)
PASSES(avx512, VXS_FOR_AVX512)
#endif

static const passes *choose_passes(void)
{
    static const passes *const all[VXS_VECTORS_COUNT] = {
        [VXS_VECTORS_PLAIN] = &passes_plain,
#if defined(__x86_64__)
        [VXS_VECTORS_AVX2] = &passes_avx2,
        [VXS_VECTORS_AVX512] = &passes_avx512,
#endif
    };
    return all[vxs_choose_vectors()];
}

/* ---- Variables ------------------------------------------------------------------------------- */

double vxs_box_room(const vxs_box *x, size_t k, double direction)
{
    return x->sign[k] * direction > 0 ? x->c[k] - x->t[k] : x->t[k];
}

void vxs_box_move(vxs_box *x, size_t k, double step)
{
    double left = vxs_box_room(x, k, step);
    if (fabs(step) >= left * (1 - 4 * DBL_EPSILON))
        x->t[k] = x->sign[k] * step > 0 ? x->c[k] : 0;
    else
        x->t[k] += x->sign[k] * step;
}

/* The variable by which the weight of a sample moves up (direction 1) or down (-1): of two that may
 * move the one that gains more. */
static size_t moving(const vxs_pairs *p, size_t i, double direction)
{
    const vxs_box *x = p->box;
    size_t best = SIZE_MAX;
    for (size_t k = p->first[i]; k < p->first[i + 1]; k++) {
        bool may = vxs_box_room(x, k, direction) > 0;
        if (may && (best == SIZE_MAX ||
                    direction * (x->sign[k] * x->q[k] - x->sign[best] * x->q[best]) > 0))
            best = k;
    }
    return best;
}

static void set_ends(vxs_pairs *p, size_t i)
{
    const vxs_box *x = p->box;
    size_t up = moving(p, i, 1), down = moving(p, i, -1);
    p->rise[i] = up == SIZE_MAX ? -INFINITY : x->sign[up] * x->q[up];
    p->fall[i] = down == SIZE_MAX ? INFINITY : x->sign[down] * x->q[down];
}

void vxs_pairs_begin(vxs_pairs *p, vxs_box *box, double floor, size_t *first, double *values)
{
    size_t n = box->n;
    *p = (vxs_pairs){ box, floor, first, values, values + n, values + 2 * n };
    for (size_t i = 0, k = 0; i < n; i++) {
        first[i] = k;
        while (k < box->count && box->row[k] == i)
            k++;
        first[i + 1] = k;
        p->diagonal[i] = box->k[i * n + i];
        set_ends(p, i);
    }
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void move(vxs_pairs *p, size_t i, double step)
{
    vxs_box_move(p->box, moving(p, i, step > 0 ? 1 : -1), step);
    set_ends(p, i);
}

static bool step_pair(const passes *pass, vxs_pairs *p)
{
    vxs_box *x = p->box;
    double high;
    size_t n = x->n, up = pass->find_rise(p->rise, x->f, n, &high);
    if (up == SIZE_MAX)
        return false;
    const double *own = x->k + up * n;
    size_t down = pass->find_fall(p, high, own, p->diagonal[up]);
    if (down == SIZE_MAX)
        return false;
    double difference = high - (p->fall[down] - x->f[down]);
    double curvature = p->diagonal[up] + p->diagonal[down] - 2 * own[down];
    double step = difference / fmax(curvature, p->floor);
    step = fmin(step, fmin(vxs_box_room(x, moving(p, up, 1), 1),
                           vxs_box_room(x, moving(p, down, -1), -1)));
    if (!(step > 0))
        return false;
    move(p, up, step);
    move(p, down, -step);
    pass->add_columns(x->f, own, step, x->k + down * n, -step, n);
    return true;
}

static bool step_single(const passes *pass, vxs_pairs *p)
{
    vxs_box *x = p->box;
    size_t n = x->n, i = pass->find_single(p);
    if (i == SIZE_MAX)
        return false;
    double up = p->rise[i] - x->f[i], down = p->fall[i] - x->f[i];
    double value = up > -down ? up : down, step = value / fmax(p->diagonal[i], p->floor);
    double left = vxs_box_room(x, moving(p, i, value > 0 ? 1 : -1), value);
    step = fabs(step) > left ? copysign(left, value) : step;
    if (step == 0)
        return false;
    move(p, i, step);
    pass->add_columns(x->f, x->k + i * n, step, x->k + i * n, 0, n);
    return true;
}

bool vxs_pairs_take(vxs_pairs *p, size_t count)
{
    const passes *pass = choose_passes();
    bool gains = true;
    for (size_t k = 0; k < count && gains; k++)
        gains = p->box->intercept ? step_pair(pass, p) : step_single(pass, p);
    return gains;
}
