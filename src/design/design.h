/* design.h - virtual functions of a design; private to the design room. */
#ifndef VXS_DESIGN_DESIGN_H
#define VXS_DESIGN_DESIGN_H

#include "voxsift/internal/design.h"

/* Sums over the rows of each column, relative to its first value in these rows to avoid
 * cancellation for large means: s = sum v (x - origin), sum = sum r (x - origin), square = sum r (x
 * - origin)^2, where r is `rows`, or 1 if NULL. v may be NULL, then s is not written. */
typedef struct {
    double *origin, *s, *sum, *square;
} vxs_moments;

/* What solvers request of a kernel: see vxs_gram_room and those that follow it. */
typedef struct {
    size_t (*room)(const vxs_design *design);
    double (*own)(const vxs_design *design, size_t i);
    vxs_status (*block)(const vxs_design *design, const size_t *set, size_t count, double *block,
                        vxs_error *err);
    vxs_status (*add)(const vxs_design *design, const size_t *set, const double *weights,
                      size_t count, double *f, vxs_error *err);
} vxs_gram_kind;

typedef struct {
    void (*scan)(vxs_design *design, const double *v, size_t k, double *s);
    void (*scan_some)(vxs_design *design, const size_t *set, size_t count, const double *v,
                      double *s);
    void (*fetch)(vxs_design *design, const size_t *set, size_t count, double *block);
    /* Sets the norms, and s = X'v unless v is NULL. */
    vxs_status (*measure)(vxs_design *design, const double *v, double *s, vxs_error *err);
    /* Only for designs that can be the base of a view. */
    void (*moments)(vxs_design *design, const double *rows, const double *v,
                    const vxs_moments *moments);
    /* See vxs_design_stored; NULL: the norms. */
    const double *(*stored)(const vxs_design *design);
    /* Columns read in joint scans with other solvers; NULL: none. */
    uint64_t (*shared)(const vxs_design *design);
    void (*release)(vxs_design *design);
    const vxs_gram_kind *gram; /* NULL: it is no kernel */
} vxs_design_kind;

/* Every kind begins with this. */
struct vxs_design {
    const vxs_design_kind *kind;
    size_t n, p;
    int nthreads;
    double *norms;   /* NULL until measured */
    double *weights; /* n: weights of rows in all estimates; NULL: all 1 */
    uint64_t read;   /* number of stored columns read */
    vxs_design *base;
    vxs_report_value refuse; /* or NULL */
    const void *owner;
    bool with_intercept; /* of a view: see vxs_view */
};

/* Forward to the base, for designs that have the columns of their base. */
void vxs_forward_scan_some(vxs_design *design, const size_t *set, size_t count, const double *v,
                           double *s);
void vxs_forward_fetch(vxs_design *design, const size_t *set, size_t count, double *block);
void vxs_forward_moments(vxs_design *design, const double *rows, const double *v,
                         const vxs_moments *moments);
/* Computes norms from moments, for kinds that have them; allocates design->norms. */
VXS_MUST_CHECK vxs_status vxs_measure_by_moments(vxs_design *design, const double *v, double *s,
                                                 vxs_error *err);

/* finite.c: fails for a column whose sums are not finite, and names the value. */
VXS_MUST_CHECK vxs_status vxs_moments_check(const vxs_design *design, const vxs_moments *moments,
                                            vxs_error *err);

/* products.c: inner products of float columns with double vectors, by the best instruction set. */
typedef struct {
    /* s[c] = x_c'v for `count` contiguous columns of n floats */
    void (*dots)(const float *x, size_t n, size_t count, const double *v, double *s);
    /* moments of columns first ... first + count - 1 */
    void (*moments)(const float *x, size_t n, size_t first, size_t count, const double *rows,
                    const double *v, const vxs_moments *moments);
} vxs_products;
const vxs_products *vxs_choose_products(void);

#endif
