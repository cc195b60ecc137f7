/* blocks_gauss.c - the additive Gaussian kernel: each feature has 11 columns, a constant, cosines
 * and sines. Their inner products with v are the real and imaginary parts of sums of v times powers
 * of one complex number per subject, so a value costs one sine and one cosine; in the vector lanes
 * of products.c, bitwise equal on every processor.
 *
 * An angle is k pi plus a remainder of at most pi / 2, k an integer; the errors of the Taylor
 * polynomials of degree 21 and 22 are below 2e-18 and 1e-19; for odd k both results change sign. */
#include "design/blocks.h"
#include "design/design.h"
#include "voxsift/internal/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef __clang__ /* gcc in C11 mode contracts no product and sum unless asked by a flag */
#pragma STDC FP_CONTRACT OFF
#endif

typedef double lanes __attribute__((vector_size(64)));
typedef int64_t whole __attribute__((vector_size(64)));
enum { LANES = 8, SUMS = VXS_HARMONICS + 1 };

/* Sums of v times cosines and sines of multiples of the angles. */
typedef struct {
    lanes even[SUMS], odd[SUMS];
} sums;

typedef struct {
    vxs_blocks blocks;
    double rate;          /* factor from values to angles */
    double squares[SUMS]; /* of the columns' factors */
    void (*add)(const double *x, double rate, const double *v, size_t n, double *even, double *odd);
} gauss_blocks;

/* ---- Vectorized ------------------------------------------------------------------------------ */

/* Without this the body would not be compiled for the target of its caller. */
#define INSIDE static inline __attribute__((always_inline))

/* Up to here k times the leading part of pi is exact. */
static const double FAR = 3e6;

/* Computes cosine (in place) and sine of the angle. */
INSIDE void cos_sin(lanes *angle, lanes *sine)
{
    const double per_pi = 0.3183098861837907;
    const double round = 0x1.8p52; /* adding this leaves the integer part in the low bits */
    const double pi_high = 0x1.921fb544p+1, pi_low = 0x1.0b4611a626331p-33;
    lanes z = *angle * per_pi + round, k = z - round;
    lanes r = *angle - k * pi_high - k * pi_low, r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
    lanes s0 = (1.0 - r2 * (1.0 / 6)) + r4 * (1.0 / 120 - r2 * (1.0 / 5040));
    lanes s1 = (1.0 / 362880 - r2 * (1.0 / 39916800)) +
               r4 * (1.0 / 6227020800 - r2 * (1.0 / 1307674368000));
    lanes s2 = (1.0 / 355687428096000 - r2 * (1.0 / 121645100408832000)) +
               r4 * (1.0 / 51090942171709440000.0);
    lanes c0 = (1.0 - r2 * 0.5) + r4 * (1.0 / 24 - r2 * (1.0 / 720));
    lanes c1 =
        (1.0 / 40320 - r2 * (1.0 / 3628800)) + r4 * (1.0 / 479001600 - r2 * (1.0 / 87178291200));
    lanes c2 = (1.0 / 20922789888000 - r2 * (1.0 / 6402373705728000)) +
               r4 * (1.0 / 2432902008176640000 - r2 * (1.0 / 1124000727777607680000.0));
    whole sign = (whole)z << 63;
    *sine = (lanes)((whole)(r * (s0 + r8 * (s1 + r8 * s2))) ^ sign);
    *angle = (lanes)((whole)(c0 + r8 * (c1 + r8 * c2)) ^ sign);
}

INSIDE void add_eight(const double *x, double rate, const double *v, sums *to)
{
    lanes c, s, a, b = { 0 };
    memcpy(&c, x, sizeof(c));
    memcpy(&a, v, sizeof(a));
    c *= rate;
    cos_sin(&c, &s);
    to->even[0] += a;
    for (int m = 1; m < SUMS; m++) {
        lanes turned = a * c - b * s;
        b = a * s + b * c;
        a = turned;
        to->even[m] += a;
        to->odd[m] += b;
    }
}

INSIDE double total(const lanes *a)
{
    return (((*a)[0] + (*a)[4]) + ((*a)[2] + (*a)[6])) +
           (((*a)[1] + (*a)[5]) + ((*a)[3] + (*a)[7]));
}

INSIDE void add_body(const double *x, double rate, const double *v, size_t n, double *even,
                     double *odd)
{
    sums all;
    size_t i = 0;
    memset(&all, 0, sizeof(all));
    for (; i + LANES <= n; i += LANES)
        add_eight(x + i, rate, v + i, &all);
    if (i < n) {
        double last_x[LANES] = { 0 }, last_v[LANES] = { 0 };
        memcpy(last_x, x + i, (n - i) * sizeof(*x));
        memcpy(last_v, v + i, (n - i) * sizeof(*v));
        add_eight(last_x, rate, last_v, &all);
    }
    for (int m = 0; m < SUMS; m++) {
        even[m] = total(&all.even[m]);
        odd[m] = total(&all.odd[m]);
    }
}

#define ADD(name, attribute)                                                                       \
    __attribute__((attribute)) static void add_##name(const double *x, double rate,                \
                                                      const double *v, size_t n, double *even,     \
                                                      double *odd)                                 \
    {                                                                                              \
        add_body(x, rate, v, n, even, odd);                                                        \
    }

/* unused: a neutral attribute, for the baseline of the architecture */
ADD(plain, unused)
#if defined(__x86_64__)
ADD(avx2, VXS_FOR_AVX2)
ADD(avx512, VXS_FOR_AVX512)
#endif

static void choose_add(gauss_blocks *w)
{
    w->add = add_plain;
#if defined(__x86_64__)
    vxs_vectors vectors = vxs_choose_vectors();
    if (vectors == VXS_VECTORS_AVX512)
        w->add = add_avx512;
    else if (vectors == VXS_VECTORS_AVX2)
        w->add = add_avx2;
#endif
}

/* ---- Scores ---------------------------------------------------------------------------------- */

static bool exceeds_range(const double *x, size_t n, double rate)
{
    int far = 0;
#pragma omp simd reduction(| : far)
    for (size_t i = 0; i < n; i++)
        far |= !(fabs(x[i] * rate) < FAR);
    return far != 0;
}

/* Scalar fallback for arbitrarily large angles. */
static void add_scalar(const double *x, double rate, const double *v, size_t n, double *even,
                       double *odd)
{
    for (size_t i = 0; i < n; i++) {
        double c[SUMS], s[SUMS];
        vxs_gauss_harmonics(x[i] * rate, c, s);
        for (int m = 0; m < SUMS; m++) {
            even[m] += v[i] * c[m];
            odd[m] += v[i] * s[m];
        }
    }
}

/* Whether rows of positive weight differ. A feature that is the same in all of them would have
 * columns that are constants, whose scores are what rounding leaves of that of the intercept: they
 * are 0 instead, so that a feature without variation is not selected. */
static bool varies(const double *x, const double *weights, size_t n)
{
    double one = NAN;
    for (size_t i = 0; i < n; i++) {
        if (weights && weights[i] == 0)
            continue;
        one = isnan(one) ? x[i] : one;
        if (x[i] != one)
            return true;
    }
    return false;
}

static void score_feature(vxs_blocks *blocks, size_t feature, const double *x, const double *v)
{
    const gauss_blocks *w = (const gauss_blocks *)blocks;
    double even[SUMS] = { 0 }, odd[SUMS] = { 0 }, score = 0;
    blocks->sums[feature] = 0;
    if (!varies(x, blocks->design->weights, blocks->n))
        return;
    if (exceeds_range(x, blocks->n, w->rate))
        add_scalar(x, w->rate, v, blocks->n, even, odd);
    else
        w->add(x, w->rate, v, blocks->n, even, odd);
    for (int m = 0; m < SUMS; m++)
        score += w->squares[m] * (even[m] * even[m] + odd[m] * odd[m]);
    blocks->sums[feature] = score;
}

static vxs_status best(vxs_blocks *blocks, const double *v, vxs_top *top, vxs_error *err)
{
    return vxs_blocks_best_visited(blocks, score_feature, v, top, err);
}

/* ---- Constructor ----------------------------------------------------------------------------- */

static void fetch(vxs_blocks *blocks, size_t index, double *block)
{
    vxs_design_fetch(blocks->design, &index, 1, blocks->workspace);
    vxs_feature_map_columns(&blocks->map, blocks->p, index, blocks->workspace, blocks->workspace, 0,
                            1, blocks->n, block);
    if (!varies(blocks->workspace, blocks->design->weights, blocks->n))
        memset(block, 0, VXS_FEATURE_MAP_GAUSS_WIDTH * blocks->n * sizeof(*block));
}

static const vxs_blocks_kind kind = { .fetch = fetch, .best = best };

vxs_status vxs_blocks_gauss_new(const vxs_context *context, vxs_design *design,
                                const vxs_feature_map *map, vxs_blocks **blocks, vxs_error *err)
{
    gauss_blocks *result = vxs_alloc(1, sizeof(*result), err);
    if (!result)
        return VXS_FAILED;
    vxs_status status = vxs_blocks_init(&result->blocks, &kind, context, design, map,
                                        vxs_design_columns(design), err);
    if (!status)
        status = vxs_blocks_allocate_sums(&result->blocks, err);
    if (status) {
        vxs_blocks_free(&result->blocks);
        return status;
    }
    result->rate = vxs_gauss_frequency(map);
    vxs_gauss_factors(result->squares);
    for (int m = 0; m < SUMS; m++)
        result->squares[m] *= result->squares[m];
    choose_add(result);
    *blocks = &result->blocks;
    return VXS_OK;
}
