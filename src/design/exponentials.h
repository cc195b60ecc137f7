/* exponentials.h - sums and rows of exponentials, as fast as the processor can; private to the
 * design room. */
#ifndef VXS_DESIGN_EXPONENTIALS_H
#define VXS_DESIGN_EXPONENTIALS_H

#include "voxsift/internal/design.h"

/* Arrays of points are filled up with zeros to a multiple of the first, or of the second for rows
 * and their products. */
enum { VXS_POINTS = 32, VXS_LANES = 8 };
/* A series has at most so many terms. */
enum { VXS_TERMS = 112 };

typedef struct {
    /* out[l] = exp(-u[l]^2 / 2) */
    void (*bells)(const double *u, size_t n, double *out);
    /* out[j] = sum over l of w[l] exp(-(s[j] - u[l])^2 / 2), m filled up */
    void (*sums)(const double *u, const double *w, size_t n, const double *s, size_t m,
                 double *out);
    /* moments[k] = sum over l of w[l] bell[l] (u[l] / scale)^k, n filled up */
    void (*collect)(const double *u, const double *w, const double *bell, size_t n, double scale,
                    size_t terms, double *moments);
    /* out[j] = bell[j] times the sum over k of c[k] (s[j] / scale)^k, m filled up */
    void (*evaluate)(const double *s, const double *bell, size_t m, double scale, size_t terms,
                     const double *c, double *out);
    /* out[l] = exp(-((x[l] - at) / bandwidth)^2 / 2), whatever these are */
    void (*row)(const double *x, size_t n, double at, double bandwidth, double *out);
    double (*dot)(const double *a, const double *b, size_t n);
} vxs_exponentials;
/* Those that this processor can run, the fastest last, which is the one to choose. */
enum { VXS_EXPONENTIALS = 3 };
size_t vxs_list_exponentials(const vxs_exponentials *list[VXS_EXPONENTIALS]);
const vxs_exponentials *vxs_choose_exponentials(void);

#endif
