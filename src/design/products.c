/* products.c - inner products of float columns with double vectors.
 *
 * Eight double lanes, four vectors at a time, then a reduction in fixed order: bitwise equal on
 * every processor and for any number of threads. Each body is compiled for several instruction
 * sets; the best that this processor supports is chosen once. */
#include "design/design.h"
#include "voxsift/internal/machine.h"

#include <string.h>

enum { LANES = 8, STEP = 4 * LANES };

/* Without this the body would not be compiled for the target of its caller. */
#define INSIDE static inline __attribute__((always_inline))

#define OF(word) word##_4
#define WIDTH    4
#include "design/products_body.h"
#undef OF
#undef WIDTH
#define OF(word) word##_8
#define WIDTH    8
#include "design/products_body.h"

/* A row that is not seen must not be the origin: far out, it would take the digits of others. */
INSIDE size_t first_seen(const double *rows, size_t n)
{
    size_t i = 0;
    while (rows && i + 1 < n && rows[i] == 0)
        i++;
    return i;
}

#define PRODUCTS(name, attribute, width)                                                           \
    __attribute__((attribute)) static void dots_##name(const float *x, size_t n, size_t count,     \
                                                       const double *v, double *s)                 \
    {                                                                                              \
        for (size_t c = 0; c < count; c++)                                                         \
            s[c] = dot_##width(x + c * n, v, n);                                                   \
    }                                                                                              \
    __attribute__((attribute)) static void moments_##name(const float *x, size_t n, size_t first,  \
                                                          size_t count, const double *rows,        \
                                                          const double *v,                         \
                                                          const vxs_moments *moments)              \
    {                                                                                              \
        size_t seen = first_seen(rows, n);                                                         \
        for (size_t j = first; j < first + count; j++) {                                           \
            double out[3], origin = (double)x[j * n + seen];                                       \
            moments_of_##width(x + j * n, n, origin, rows, v, out);                                \
            moments->origin[j] = origin;                                                           \
            moments->sum[j] = out[1];                                                              \
            moments->square[j] = out[2];                                                           \
            if (v)                                                                                 \
                moments->s[j] = out[0];                                                            \
        }                                                                                          \
    }                                                                                              \
    static const vxs_products products_##name = { dots_##name, moments_##name };

/* unused: a neutral attribute, for the baseline of the architecture */
PRODUCTS(plain, unused, 4)
#if defined(__x86_64__)
PRODUCTS(avx2, VXS_FOR_AVX2, 4)
PRODUCTS(avx512, VXS_FOR_AVX512, 8)
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
