/* exponentials.c - sums and rows of exponentials, by the lanes of kernels.c: the same bits for
 * every processor, the body that this one can run being chosen once.
 *
 * exp(x) = 2^k exp(f), k the whole number nearest to x / ln 2, |f| <= ln(2) / 2; exp(f) is Taylor's
 * polynomial of degree 11, whose error is below 7e-15, and 2^k is added to the bits of the
 * exponent. */
#include "design/exponentials.h"

#include <string.h>

typedef double lanes __attribute__((vector_size(64)));
typedef int64_t whole __attribute__((vector_size(64)));
enum { LANES = 8, TOGETHER = VXS_POINTS / LANES };

/* Without this a body would not become part of the function that is compiled for a processor. */
#define INSIDE static inline __attribute__((always_inline))

INSIDE void load(const double *from, lanes *to)
{
    memcpy(to, from, sizeof(*to));
}

INSIDE void store(const lanes *from, double *to)
{
    memcpy(to, from, sizeof(*from));
}

INSIDE void spread(double value, lanes *to)
{
    *to = (lanes){ value, value, value, value, value, value, value, value };
}

INSIDE double total(const lanes *a)
{
    return (((*a)[0] + (*a)[4]) + ((*a)[2] + (*a)[6])) +
           (((*a)[1] + (*a)[5]) + ((*a)[3] + (*a)[7]));
}

/* exp(-d^2 / 2) in the place of d; for |d| up to 37.6, where it is 1e-307. */
INSIDE void bell_of(lanes *d)
{
    const double per_log2 = 1.4426950408889634;
    const double round = 0x1.8p52; /* the last bits of what it is added to are the whole part */
    const double log2_high = 0x1.62e42feep-1, log2_low = 0x1.a39ef35793c76p-33;
    lanes x = *d * *d * -0.5, z = x * per_log2 + round, k = z - round;
    lanes f = x - k * log2_high - k * log2_low, p;
    spread(1.0 / 39916800, &p);
    p = p * f + 1.0 / 3628800;
    p = p * f + 1.0 / 362880;
    p = p * f + 1.0 / 40320;
    p = p * f + 1.0 / 5040;
    p = p * f + 1.0 / 720;
    p = p * f + 1.0 / 120;
    p = p * f + 1.0 / 24;
    p = p * f + 1.0 / 6;
    p = p * f + 0.5;
    p = p * f + 1.0;
    p = p * f + 1.0;
    *d = (lanes)((whole)p + ((whole)z << 52));
}

INSIDE void bells_body(const double *u, size_t n, double *out)
{
    for (size_t l = 0; l < n; l += LANES) {
        lanes d;
        load(u + l, &d);
        bell_of(&d);
        store(&d, out + l);
    }
}

INSIDE void sums_body(const double *u, const double *w, size_t n, const double *s, size_t m,
                      double *out)
{
    for (size_t j = 0; j < m; j += VXS_POINTS) {
        lanes at[TOGETHER], sum[TOGETHER];
        for (size_t c = 0; c < TOGETHER; c++) {
            load(s + j + c * LANES, &at[c]);
            spread(0, &sum[c]);
        }
        for (size_t l = 0; l < n; l++)
            for (size_t c = 0; c < TOGETHER; c++) {
                lanes d = at[c] - u[l];
                bell_of(&d);
                sum[c] += d * w[l];
            }
        for (size_t c = 0; c < TOGETHER; c++)
            store(&sum[c], out + j + c * LANES);
    }
}

INSIDE void collect_body(const double *u, const double *w, const double *bell, size_t n,
                         double scale, size_t terms, double *moments)
{
    lanes sum[VXS_TERMS];
    memset(sum, 0, terms * sizeof(*sum));
    for (size_t l = 0; l < n; l += VXS_POINTS) {
        lanes t[TOGETHER], power[TOGETHER];
        for (size_t c = 0; c < TOGETHER; c++) {
            lanes e;
            load(u + l + c * LANES, &t[c]);
            load(w + l + c * LANES, &power[c]);
            load(bell + l + c * LANES, &e);
            t[c] /= scale;
            power[c] *= e;
        }
        for (size_t k = 0; k < terms; k++) {
            sum[k] += (power[0] + power[1]) + (power[2] + power[3]);
            for (size_t c = 0; c < TOGETHER; c++)
                power[c] *= t[c];
        }
    }
    for (size_t k = 0; k < terms; k++)
        moments[k] = total(&sum[k]);
}

INSIDE void evaluate_body(const double *s, const double *bell, size_t m, double scale, size_t terms,
                          const double *c, double *out)
{
    for (size_t j = 0; j < m; j += VXS_POINTS) {
        lanes t[TOGETHER], sum[TOGETHER], e;
        for (size_t i = 0; i < TOGETHER; i++) {
            load(s + j + i * LANES, &t[i]);
            t[i] /= scale;
            spread(0, &sum[i]);
        }
        for (size_t k = terms; k-- > 0;)
            for (size_t i = 0; i < TOGETHER; i++)
                sum[i] = sum[i] * t[i] + c[k];
        for (size_t i = 0; i < TOGETHER; i++) {
            load(bell + j + i * LANES, &e);
            e *= sum[i];
            store(&e, out + j + i * LANES);
        }
    }
}

/* Further than this apart it is 0, so that 2^k stays among the normal numbers. */
static const double FAR = 37.6;

INSIDE void row_body(const double *x, size_t n, double at, double bandwidth, double *out)
{
    for (size_t l = 0; l < n; l += LANES) {
        lanes d;
        load(x + l, &d);
        d = (d - at) / bandwidth;
        whole near = (d < FAR) & (d > -FAR);
        d = (lanes)((whole)d & near);
        bell_of(&d);
        d = (lanes)((whole)d & near);
        store(&d, out + l);
    }
}

INSIDE double dot_body(const double *a, const double *b, size_t n)
{
    lanes sum[TOGETHER] = { { 0 } }, x, y;
    for (size_t l = 0; l < n; l += VXS_POINTS)
        for (size_t c = 0; c < TOGETHER; c++) {
            load(a + l + c * LANES, &x);
            load(b + l + c * LANES, &y);
            sum[c] += x * y;
        }
    sum[0] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    return total(&sum[0]);
}

#define EXPONENTIALS(name, attribute)                                                              \
    __attribute__((attribute)) static void bells_##name(const double *u, size_t n, double *out)    \
    {                                                                                              \
        bells_body(u, n, out);                                                                     \
    }                                                                                              \
    __attribute__((attribute)) static void sums_##name(const double *u, const double *w, size_t n, \
                                                       const double *s, size_t m, double *out)     \
    {                                                                                              \
        sums_body(u, w, n, s, m, out);                                                             \
    }                                                                                              \
    __attribute__((attribute)) static void collect_##name(const double *u, const double *w,        \
                                                          const double *bell, size_t n,            \
                                                          double scale, size_t terms,              \
                                                          double *moments)                         \
    {                                                                                              \
        collect_body(u, w, bell, n, scale, terms, moments);                                        \
    }                                                                                              \
    __attribute__((attribute)) static void evaluate_##name(const double *s, const double *bell,    \
                                                           size_t m, double scale, size_t terms,   \
                                                           const double *c, double *out)           \
    {                                                                                              \
        evaluate_body(s, bell, m, scale, terms, c, out);                                           \
    }                                                                                              \
    __attribute__((attribute)) static void row_##name(const double *x, size_t n, double at,        \
                                                      double bandwidth, double *out)               \
    {                                                                                              \
        row_body(x, n, at, bandwidth, out);                                                        \
    }                                                                                              \
    __attribute__((attribute)) static double dot_##name(const double *a, const double *b,          \
                                                        size_t n)                                  \
    {                                                                                              \
        return dot_body(a, b, n);                                                                  \
    }                                                                                              \
    static const vxs_exponentials exponentials_##name = { bells_##name,   sums_##name,             \
                                                          collect_##name, evaluate_##name,         \
                                                          row_##name,     dot_##name };

/* unused: no attribute that matters, for what every processor of this kind can run */
EXPONENTIALS(plain, unused)
#if defined(__x86_64__)
EXPONENTIALS(avx2, target("avx2"))
EXPONENTIALS(avx512, target("avx512f,avx512dq,avx512vl"))
#endif

const vxs_exponentials *vxs_choose_exponentials(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return &exponentials_avx512;
    if (__builtin_cpu_supports("avx2"))
        return &exponentials_avx2;
#endif
    return &exponentials_plain;
}
