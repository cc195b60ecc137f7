/* products.c - inner products of float columns with double vectors.
 *
 * Eight double lanes, four vectors at a time, then a reduction in fixed order: bitwise equal on
 * every processor and for any number of threads. Each body is compiled for several instruction
 * sets; the best that this processor supports is chosen once. */
#include "design/design.h"
#include "voxsift/internal/machine.h"

#include <string.h>

typedef double lanes __attribute__((vector_size(64)));
typedef float float_lanes __attribute__((vector_size(32)));
enum { LANES = 8, STEP = 4 * LANES };

/* Without this the body would not be compiled for the target of its caller. */
#define INSIDE static inline __attribute__((always_inline))

/* sum += x v for eight lanes. Vectors are passed by address, since calling conventions for their
 * size depend on the processor. */
INSIDE void add_products(const float *x, const double *v, lanes *sum)
{
    float_lanes f;
    lanes d;
    memcpy(&f, x, sizeof(f));
    memcpy(&d, v, sizeof(d));
    *sum += __builtin_convertvector(f, lanes) * d;
}

INSIDE double total(const lanes *a)
{
    return (((*a)[0] + (*a)[4]) + ((*a)[2] + (*a)[6])) +
           (((*a)[1] + (*a)[5]) + ((*a)[3] + (*a)[7]));
}

INSIDE double dot(const float *x, const double *v, size_t n)
{
    lanes a = { 0 }, b = { 0 }, c = { 0 }, d = { 0 };
    size_t i = 0;
    for (; i + STEP <= n; i += STEP) {
        add_products(x + i, v + i, &a);
        add_products(x + i + LANES, v + i + LANES, &b);
        add_products(x + i + 2 * LANES, v + i + 2 * LANES, &c);
        add_products(x + i + 3 * LANES, v + i + 3 * LANES, &d);
    }
    for (; i + LANES <= n; i += LANES)
        add_products(x + i, v + i, &a);
    a = (a + b) + (c + d);
    double sum = total(&a);
    for (; i < n; i++)
        sum += (double)x[i] * v[i];
    return sum;
}

INSIDE void dots_body(const float *x, size_t n, size_t count, const double *v, double *s)
{
    for (size_t c = 0; c < count; c++)
        s[c] = dot(x + c * n, v, n);
}

INSIDE void moments_of(const float *x, size_t n, const double *rows, const double *v, double *out)
{
    double x0 = (double)x[0];
    lanes origin = { x0, x0, x0, x0, x0, x0, x0, x0 }, s = { 0 }, sum = { 0 }, square = { 0 };
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        float_lanes f;
        memcpy(&f, x + i, sizeof(f));
        lanes d = __builtin_convertvector(f, lanes) - origin, e = d, w;
        if (rows) {
            memcpy(&w, rows + i, sizeof(w));
            e *= w;
        }
        sum += e;
        square += e * d;
        if (v) {
            memcpy(&w, v + i, sizeof(w));
            s += d * w;
        }
    }
    out[0] = total(&s);
    out[1] = total(&sum);
    out[2] = total(&square);
    for (; i < n; i++) {
        double d = (double)x[i] - x0, e = rows ? d * rows[i] : d;
        out[0] += v ? d * v[i] : 0;
        out[1] += e;
        out[2] += e * d;
    }
}

INSIDE void moments_body(const float *x, size_t n, size_t first, size_t count, const double *rows,
                         const double *v, const vxs_moments *moments)
{
    for (size_t j = first; j < first + count; j++) {
        const float *column = x + j * n;
        double out[3];
        moments_of(column, n, rows, v, out);
        moments->origin[j] = (double)column[0];
        moments->sum[j] = out[1];
        moments->square[j] = out[2];
        if (v)
            moments->s[j] = out[0];
    }
}

#define PRODUCTS(name, attribute)                                                                  \
    __attribute__((attribute)) static void dots_##name(const float *x, size_t n, size_t count,     \
                                                       const double *v, double *s)                 \
    {                                                                                              \
        dots_body(x, n, count, v, s);                                                              \
    }                                                                                              \
    __attribute__((attribute)) static void moments_##name(const float *x, size_t n, size_t first,  \
                                                          size_t count, const double *rows,        \
                                                          const double *v,                         \
                                                          const vxs_moments *moments)              \
    {                                                                                              \
        moments_body(x, n, first, count, rows, v, moments);                                        \
    }                                                                                              \
    static const vxs_products products_##name = { dots_##name, moments_##name };

/* unused: a neutral attribute, for the baseline of the architecture */
PRODUCTS(plain, unused)
#if defined(__x86_64__)
PRODUCTS(avx2, VXS_FOR_AVX2)
PRODUCTS(avx512, VXS_FOR_AVX512)
#endif

const vxs_products *vxs_choose_products(void)
{
    static const vxs_products *const all[VXS_VECTORS_COUNT] = {
        [VXS_VECTORS_PLAIN] = &products_plain,
#if defined(__x86_64__)
        [VXS_VECTORS_AVX2] = &products_avx2,
        [VXS_VECTORS_AVX512] = &products_avx512,
#endif
    };
    return all[vxs_choose_vectors()];
}
