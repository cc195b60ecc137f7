/* exponentials.c - sums and rows of exponentials in the vector lanes of products.c: bitwise equal
 * results on every processor; the implementation is chosen once.
 *
 * exp(x) = 2^k exp(f), k the integer nearest to x / ln 2, |f| <= ln(2) / 2; exp(f) is the Taylor
 * polynomial of degree 11, error below 7e-15, as four independent partial sums; k is added to the
 * exponent bits. */
#include "design/exponentials.h"

#include <float.h>
#include <string.h>

#ifdef __clang__ /* gcc in C11 mode contracts no product and sum unless asked by a flag */
#pragma STDC FP_CONTRACT OFF
#endif

typedef double lanes __attribute__((vector_size(64)));
typedef int64_t whole __attribute__((vector_size(64)));
/* Four independent vectors hide the latency of arithmetic. */
typedef struct {
    lanes a, b, c, d;
} four;

/* Without this the body would not be compiled for the target of its caller. */
#define INSIDE static inline __attribute__((always_inline))

INSIDE void load(const double *from, four *to)
{
    memcpy(to, from, sizeof(*to));
}

INSIDE void store(const four *from, double *to)
{
    memcpy(to, from, sizeof(*from));
}

INSIDE void multiply(four *x, const four *by)
{
    x->a *= by->a;
    x->b *= by->b;
    x->c *= by->c;
    x->d *= by->d;
}

INSIDE void divide(four *x, double by)
{
    x->a /= by;
    x->b /= by;
    x->c /= by;
    x->d /= by;
}

INSIDE double total(const lanes *a)
{
    return (((*a)[0] + (*a)[4]) + ((*a)[2] + (*a)[6])) +
           (((*a)[1] + (*a)[5]) + ((*a)[3] + (*a)[7]));
}

/* Replaces d by exp(-d^2 / 2), for |d| up to 37.6, where it is 1e-307. */
INSIDE void bell_of(lanes *d)
{
    const double per_ln2 = 1.4426950408889634;
    const double round = 0x1.8p52; /* adding this leaves the integer part in the low bits */
    const double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;
    lanes x = *d * *d * -0.5, z = x * per_ln2 + round, k = z - round;
    lanes f = x - k * ln2_high - k * ln2_low;
    lanes f2 = f * f, f4 = f2 * f2;
    lanes a = (f * (1.0 / 39916800) + 1.0 / 3628800) * f2 + (f * (1.0 / 362880) + 1.0 / 40320);
    lanes b = (f * (1.0 / 5040) + 1.0 / 720) * f2 + (f * (1.0 / 120) + 1.0 / 24);
    lanes c = (f * (1.0 / 6) + 0.5) * f2 + (f + 1.0);
    lanes p = (a * f4 + b) * f4 + c;
    *d = (lanes)((whole)p + ((whole)z << 52));
}

INSIDE void bells_of(four *x)
{
    bell_of(&x->a);
    bell_of(&x->b);
    bell_of(&x->c);
    bell_of(&x->d);
}

INSIDE void bells_body(const double *u, size_t n, double *out)
{
    for (size_t l = 0; l < n; l += VXS_POINTS) {
        four x;
        load(u + l, &x);
        bells_of(&x);
        store(&x, out + l);
    }
}

INSIDE void sums_body(const double *u, const double *w, size_t n, const double *s, size_t m,
                      double *out)
{
    for (size_t j = 0; j < m; j += VXS_POINTS) {
        four at, sum = { { 0 }, { 0 }, { 0 }, { 0 } };
        load(s + j, &at);
        for (size_t l = 0; l < n; l++) {
            four x = { at.a - u[l], at.b - u[l], at.c - u[l], at.d - u[l] };
            bells_of(&x);
            sum.a += x.a * w[l];
            sum.b += x.b * w[l];
            sum.c += x.c * w[l];
            sum.d += x.d * w[l];
        }
        store(&sum, out + j);
    }
}

INSIDE void collect_body(const double *u, const double *w, const double *bell, size_t n,
                         double scale, size_t terms, double *moments)
{
    lanes sum[VXS_SERIES_TERMS];
    terms = terms < VXS_SERIES_TERMS
                ? terms
                : VXS_SERIES_TERMS; /* bounds the arrays whatever the points are */
    memset(sum, 0, terms * sizeof(*sum));
    for (size_t l = 0; l < n; l += VXS_POINTS) {
        four t, power, e;
        load(u + l, &t);
        load(w + l, &power);
        load(bell + l, &e);
        divide(&t, scale);
        multiply(&power, &e);
        for (size_t k = 0; k < terms; k++) {
            sum[k] += (power.a + power.b) + (power.c + power.d);
            multiply(&power, &t);
        }
    }
    for (size_t k = 0; k < terms; k++)
        moments[k] = total(&sum[k]);
}

INSIDE void evaluate_body(const double *s, const double *bell, size_t m, double scale, size_t terms,
                          const double *c, double *out)
{
    terms = terms < VXS_SERIES_TERMS ? terms : VXS_SERIES_TERMS;
    for (size_t j = 0; j < m; j += VXS_POINTS) {
        four t, e, sum = { { 0 }, { 0 }, { 0 }, { 0 } };
        load(s + j, &t);
        load(bell + j, &e);
        divide(&t, scale);
        for (size_t k = terms; k-- > 0;) {
            sum.a = sum.a * t.a + c[k];
            sum.b = sum.b * t.b + c[k];
            sum.c = sum.c * t.c + c[k];
            sum.d = sum.d * t.d + c[k];
        }
        multiply(&e, &sum);
        store(&e, out + j);
    }
}

/* exp(-d^2 / 2) is set to 0 beyond, so that 2^k stays a normal number. */
static const double FAR = 37.6;

/* Compares bit patterns as integers, which have the same order: gcc splits vector comparisons of
 * doubles. NaN counts as far. */
INSIDE void far_bell_of(double at, double over, lanes *x)
{
    const int64_t no_sign = INT64_MAX;
    int64_t most;
    memcpy(&most, &FAR, sizeof(most));
    lanes d = (*x - at) * over;
    whole near = (((whole)d & no_sign) - most) >> 63;
    d = (lanes)((whole)d & near);
    bell_of(&d);
    *x = (lanes)((whole)d & near);
}

INSIDE void row_body(const double *x, size_t n, double at, double bandwidth, double *out)
{
    double over = 1 / bandwidth < DBL_MAX ? 1 / bandwidth : DBL_MAX; /* 0 times it is 0 */
    size_t l = 0;
    for (; l + VXS_POINTS <= n; l += VXS_POINTS) {
        four d;
        load(x + l, &d);
        far_bell_of(at, over, &d.a);
        far_bell_of(at, over, &d.b);
        far_bell_of(at, over, &d.c);
        far_bell_of(at, over, &d.d);
        store(&d, out + l);
    }
    for (; l < n; l += VXS_LANES) {
        lanes d;
        memcpy(&d, x + l, sizeof(d));
        far_bell_of(at, over, &d);
        memcpy(out + l, &d, sizeof(d));
    }
}

INSIDE double dot_body(const double *a, const double *b, size_t n)
{
    four sum = { { 0 }, { 0 }, { 0 }, { 0 } }, x, y;
    size_t l = 0;
    for (; l + VXS_POINTS <= n; l += VXS_POINTS) {
        load(a + l, &x);
        load(b + l, &y);
        multiply(&x, &y);
        sum.a += x.a;
        sum.b += x.b;
        sum.c += x.c;
        sum.d += x.d;
    }
    for (; l < n; l += VXS_LANES) {
        memcpy(&x.a, a + l, sizeof(x.a));
        memcpy(&y.a, b + l, sizeof(y.a));
        sum.a += x.a * y.a;
    }
    sum.a = (sum.a + sum.b) + (sum.c + sum.d);
    return total(&sum.a);
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

/* unused: a neutral attribute, for the baseline of the architecture */
EXPONENTIALS(plain, unused)
#if defined(__x86_64__)
EXPONENTIALS(avx2, VXS_FOR_AVX2)
EXPONENTIALS(avx512, VXS_FOR_AVX512)
#endif

static const vxs_exponentials *const all[VXS_VECTORS_COUNT] = {
    [VXS_VECTORS_PLAIN] = &exponentials_plain,
#if defined(__x86_64__)
    [VXS_VECTORS_AVX2] = &exponentials_avx2,
    [VXS_VECTORS_AVX512] = &exponentials_avx512,
#endif
};

size_t vxs_list_exponentials(const vxs_exponentials *list[VXS_VECTORS_COUNT])
{
    size_t count = (size_t)vxs_choose_vectors() + 1;
    for (size_t k = 0; k < count; k++)
        list[k] = all[k];
    return count;
}

const vxs_exponentials *vxs_choose_exponentials(void)
{
    return all[vxs_choose_vectors()];
}
