/* exponentials.h - sums and rows of exponentials, by the best instruction set; private to the
 * design room. */
#ifndef VXS_DESIGN_EXPONENTIALS_H
#define VXS_DESIGN_EXPONENTIALS_H

#include "voxsift/internal/design.h"
#include "voxsift/internal/machine.h"

/* Arrays of points are padded with zeros to a multiple of VXS_POINTS, or VXS_LANES for rows and
 * their products. */
enum { VXS_POINTS = 32, VXS_LANES = 8 };
/* Maximum number of terms of a series. */
enum { VXS_SERIES_TERMS = 112 };

typedef struct {
    /* out[l] = exp(-u[l]^2 / 2) */
    void (*bells)(const double *u, size_t n, double *out);
    /* out[j] = sum over l of w[l] exp(-(s[j] - u[l])^2 / 2), m padded */
    void (*sums)(const double *u, const double *w, size_t n, const double *s, size_t m,
                 double *out);
    /* moments[k] = sum over l of w[l] bell[l] (u[l] / scale)^k, n padded */
    void (*collect)(const double *u, const double *w, const double *bell, size_t n, double scale,
                    size_t terms, double *moments);
    /* out[j] = bell[j] times the sum over k of c[k] (s[j] / scale)^k, m padded */
    void (*evaluate)(const double *s, const double *bell, size_t m, double scale, size_t terms,
                     const double *c, double *out);
    /* out[l] = exp(-((x[l] - at) / bandwidth)^2 / 2), for any finite values */
    void (*row)(const double *x, size_t n, double at, double bandwidth, double *out);
    double (*dot)(const double *a, const double *b, size_t n);
} vxs_exponentials;
/* Implementations that this processor supports, the fastest last; vxs_choose_exponentials returns
 * that. */
size_t vxs_list_exponentials(const vxs_exponentials *list[VXS_VECTORS_COUNT]);
const vxs_exponentials *vxs_choose_exponentials(void);

#endif
