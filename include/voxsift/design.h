/* voxsift/design.h - what a solver sees of the data: n samples, p columns, and three ways to touch
 * them. Whatever offers these is a design; a solver that uses nothing else works on all of them.
 */
#ifndef VOXSIFT_DESIGN_H
#define VOXSIFT_DESIGN_H

#include "voxsift/core.h"
#include "voxsift/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default) /* what follows is the library's, and nothing else is */
#endif

/* Sums run in double, in an order that depends on the design alone: results are the same bits for
 * any number of threads. A design is used by one thread at a time; it uses threads itself. */
typedef struct vxs_design vxs_design;

size_t vxs_design_rows(const vxs_design *design);
size_t vxs_design_columns(const vxs_design *design);
/* S = X'V for k vectors at once, read once: s[c * p + j] = x_j'v_c, with v_c at v + c * n. */
void vxs_design_scan(vxs_design *design, const double *v, size_t k, double *s);
/* Those columns, as doubles: block[c * n + i]. */
void vxs_design_fetch(vxs_design *design, const size_t *set, size_t count, double *block);
/* |x_j| of all columns; read from the data when they are asked for first. */
VXS_MUST_CHECK vxs_status vxs_design_measure(vxs_design *design, vxs_error *err);
void vxs_design_free(vxs_design *design);

/* float32 columns that stand one after the other in memory or in a mapped file; they must stay. */
VXS_MUST_CHECK vxs_status vxs_dense_new(const float *columns, size_t n, size_t p, int nthreads,
                                        vxs_design **design, vxs_error *err);

/* Columns of which few values are not 0: those of column j stand at starts[j] ... starts[j + 1] -
 * 1, with their rows, each once, in any order. The arrays must stay. */
VXS_MUST_CHECK vxs_status vxs_sparse_new(const float *values, const int32_t *rows,
                                         const size_t *starts, size_t n, size_t p, int nthreads,
                                         vxs_design **design, vxs_error *err);

/* A design of stored columns seen through some of its rows, with its columns centred and scaled
 * over these, all in the algebra: nothing is copied. It is measured when it is scanned or
 * fetched first, if not before; where that fails, all values are NaN, and vxs_design_measure
 * has the reason. */
typedef enum {
    VXS_STANDARDIZE_NONE,
    VXS_STANDARDIZE_CENTER, /* minus the mean over the rows */
    VXS_STANDARDIZE_UNIT    /* and divided by the standard deviation (with n) */
} vxs_standardize;
typedef struct {
    vxs_standardize standardize;
    const size_t *rows; /* of the base, each once, in any order; NULL: all */
    size_t row_count;
    const double *penalties; /* columns are divided by these; NULL: by 1 */
    const double *confounds; /* columns are replaced by what is left of them after regression on
                                these, row_count x confound_count by column; NULL: none */
    size_t confound_count;
    const bool *learn;     /* of the rows: those that the regression is learned on; NULL: all */
    const double *weights; /* of the rows: whatever is learned of them (means, standard deviations,
                              regression, correlations, kernel scores) counts each so many times;
                              NULL: once */
} vxs_view;
/* Takes the base over: it is freed with the view, unless `shared`. What `view` points to is
 * copied. */
VXS_MUST_CHECK vxs_status vxs_view_new(vxs_design *base, bool shared, const vxs_view *view,
                                       vxs_design **design, vxs_error *err);
/* Column j of a view is (base column - shift[j]) * factor[j] before confounds are taken out; known
 * once it is measured. A column that is constant has factor 0. NULL before, and of what is no view.
 */
const double *vxs_view_shift(const vxs_design *view);
const double *vxs_view_factor(const vxs_design *view);

/* ---- Kernels --------------------------------------------------------------------------------- */

/* Kernel scores: column i is yt .* (H K_i yt) of the base's column i, K_i(m, l) =
 * exp(-(x_mi - x_li)^2 / (2 s_i^2)), H the centring matrix, yt = H y; s_i is `bandwidth`, or with 0
 * the median distance of the column's values, of those that are not 0 if it is. A column that is
 * constant is 0. Made at once as float32, in memory, or in a file without a name when it takes more
 * than `memory` bytes (0: 2 GiB). Where the base's rows have weights, sums and means count them by
 * these, but not the median distance. The base (a view that standardises, typically) is read once
 * and is not needed afterwards; it is freed with the design unless `shared`. */
VXS_MUST_CHECK vxs_status vxs_scores_new(const vxs_context *context, vxs_design *base, bool shared,
                                         const double *y, double bandwidth, size_t memory,
                                         vxs_design **design, vxs_error *err);

/* ---- Units ----------------------------------------------------------------------------------- */

/* What feature generation selects among: each unit is some columns Z_g that are taken or left as a
 * whole, made from a design's columns when they are asked for. There may be far more units than
 * anything could be stored for. Used by one thread at a time; uses threads itself, and results are
 * the same bits for any number of them. */
typedef struct vxs_units vxs_units;

enum { VXS_MAP_NONE, VXS_MAP_POLY2, VXS_MAP_GAUSS, VXS_MAP_HIK };
/* How values of features become columns of a unit. */
typedef struct {
    int kind;
    double gamma, constant; /* poly2: the kernel (gamma x'z + constant)^2 */
    double bandwidth;       /* gauss */
} vxs_map;

/* The design's columns through a map; the design must stay, and so must groups. */
VXS_MUST_CHECK vxs_status vxs_units_new(const vxs_context *context, vxs_design *design,
                                        const vxs_map *map, vxs_units **units, vxs_error *err);
/* Groups of the design's columns, not copied. Refused are members that are not there or stand twice
 * in a group, and trees whose groups are not inside their parents. With `by_size` columns of a
 * group of m are divided by sqrt(m). Of a tree, groups inside others that cannot be among the best
 * are not looked at. */
VXS_MUST_CHECK vxs_status vxs_units_of_groups(const vxs_context *context, vxs_design *design,
                                              const vxs_groups *groups, bool by_size,
                                              vxs_units **units, vxs_error *err);
void vxs_units_free(vxs_units *units);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
