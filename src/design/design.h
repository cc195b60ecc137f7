/* design.h - what a kind of design offers; private to the design room. */
#ifndef VXS_DESIGN_DESIGN_H
#define VXS_DESIGN_DESIGN_H

#include "voxsift/internal/design.h"

/* Sums over rows of each column, with the column's first value taken off, so that they lose nothing
 * to a large mean: s = sum v (x - origin), sum = sum r (x - origin), square = sum r (x - origin)^2,
 * r being 1 where `rows` is NULL. v may be NULL, and then s is not touched. */
typedef struct {
    double *origin, *s, *sum, *square;
} vxs_moments;

typedef struct {
    void (*scan)(vxs_design *design, const double *v, size_t k, double *s);
    void (*scan_some)(vxs_design *design, const size_t *set, size_t count, const double *v,
                      double *s);
    void (*fetch)(vxs_design *design, const size_t *set, size_t count, double *block);
    /* Sets norms, and s = X'v unless v is NULL. */
    vxs_status (*measure)(vxs_design *design, const double *v, double *s, vxs_error *err);
    /* Only of designs that a view can look through. */
    void (*moments)(vxs_design *design, const double *rows, const double *v,
                    const vxs_moments *moments);
    /* As vxs_design_stored; NULL: the norms. */
    const double *(*stored)(const vxs_design *design);
    /* Columns read together with others; NULL: none. */
    uint64_t (*shared)(const vxs_design *design);
    void (*release)(vxs_design *design);
} vxs_design_kind;

/* Kinds begin with this. */
struct vxs_design {
    const vxs_design_kind *kind;
    size_t n, p;
    int nthreads;
    double *norms;   /* NULL until measured */
    double *weights; /* how many times a row counts in what is learned of all; NULL: once */
    uint64_t read;   /* columns, where they are stored */
    vxs_design *base;
    vxs_refuse_value refuse; /* or NULL */
    const void *owner;
};

/* The base's own, for designs whose columns are those of their base. */
void vxs_pass_scan_some(vxs_design *design, const size_t *set, size_t count, const double *v,
                        double *s);
void vxs_pass_fetch(vxs_design *design, const size_t *set, size_t count, double *block);
void vxs_pass_moments(vxs_design *design, const double *rows, const double *v,
                      const vxs_moments *moments);
/* Norms by way of moments, for designs that have them; allocates design->norms. */
VXS_MUST_CHECK vxs_status vxs_measure_by_moments(vxs_design *design, const double *v, double *s,
                                                 vxs_error *err);

/* finite.c: refuses a column whose sums are not finite, and names the value. */
VXS_MUST_CHECK vxs_status vxs_moments_check(const vxs_design *design, const vxs_moments *moments,
                                            vxs_error *err);

/* products.c: products of float columns with doubles, as fast as the processor can. */
typedef struct {
    /* s[c] = x_c'v for `count` columns of n floats, one after the other */
    void (*dots)(const float *x, size_t n, size_t count, const double *v, double *s);
    /* moments of columns first ... first + count - 1 */
    void (*moments)(const float *x, size_t n, size_t first, size_t count, const double *rows,
                    const double *v, const vxs_moments *moments);
} vxs_products;
const vxs_products *vxs_choose_products(void);

#endif
