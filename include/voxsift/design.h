/* voxsift/design.h - designs: n samples, p columns, and the three operations that solvers use. Any
 * type with these operations is a design; a solver that uses nothing else works with all of
 * them. */
#ifndef VOXSIFT_DESIGN_H
#define VOXSIFT_DESIGN_H

#include "voxsift/core.h"
#include "voxsift/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
/* the declarations below are exported, all other symbols are hidden */
#pragma GCC visibility push(default)
#endif

/* Sums are accumulated in double, in an order that depends on the design alone: results are bitwise
 * equal for any number of threads. A design is not thread-safe; it uses threads itself. */
typedef struct vxs_design vxs_design;

size_t vxs_design_rows(const vxs_design *design);
size_t vxs_design_columns(const vxs_design *design);
/* S = X'V for k vectors in one pass: s[c * p + j] = x_j'v_c, with v_c at v + c * n. */
void vxs_design_scan(vxs_design *design, const double *v, size_t k, double *s);
/* Copies columns, as doubles: block[c * n + i]; NAN for an index out of range. */
void vxs_design_fetch(vxs_design *design, const size_t *set, size_t count, double *block);
/* Computes the norms |x_j| of all columns on the first call, for solvers; fails for a column with a
 * NaN or infinite value. */
VXS_MUST_CHECK vxs_status vxs_design_measure(vxs_design *design, vxs_error *err);
void vxs_design_free(vxs_design *design);

/* Dense float32 columns, column-major in memory or in a mapped file; borrowed. */
VXS_MUST_CHECK vxs_status vxs_dense_new(const float *columns, size_t n, size_t p, int nthreads,
                                        vxs_design **design, vxs_error *err);

/* Sparse columns: the values of column j are at starts[j] ... starts[j + 1] - 1, with their rows,
 * without duplicates, in any order. Borrows the arrays. */
VXS_MUST_CHECK vxs_status vxs_sparse_new(const float *values, const int32_t *rows,
                                         const size_t *starts, size_t n, size_t p, int nthreads,
                                         vxs_design **design, vxs_error *err);

/* A view: some rows of a design of stored columns, with the columns centered and scaled over these
 * rows, without copying. The first scan or fetch measures it; when that
 * fails, all values are NaN, and vxs_design_measure returns the reason. */
typedef enum {
    VXS_STANDARDIZE_NONE,
    VXS_STANDARDIZE_CENTER, /* minus the mean over the rows */
    VXS_STANDARDIZE_UNIT    /* and divided by the standard deviation (divisor n) */
} vxs_standardize;
typedef struct {
    vxs_standardize standardize;
    const size_t *rows; /* of the base, without duplicates, in any order; NULL: all */
    size_t row_count;
    const double *penalties; /* penalty factors: divisors of the columns; NULL: all 1 */
    /* row_count x confound_count, column-major: columns are replaced by their residuals after
     * regression on these; NULL: none */
    const double *confounds;
    size_t confound_count;
    const bool *regression_subject; /* per row: used to estimate the regression; NULL: all */
    /* per row: weight in all estimates (means, standard deviations, regression, correlations,
     * kernel scores); NULL: all 1 */
    const double *weights;
    /* the model has an intercept, which explains columns that are constant: they are centered, and
     * so 0, even without standardization */
    bool with_intercept;
} vxs_view;
/* Takes ownership of the base, unless `shared`. Copies the arrays of `view`. */
VXS_MUST_CHECK vxs_status vxs_view_new(vxs_design *base, bool shared, const vxs_view *view,
                                       vxs_design **design, vxs_error *err);
/* Column j of a view is (base column - shift[j]) * factor[j] before confounds are regressed out. A
 * constant column has factor 0. NULL until measured, and for designs that are not views. */
const double *vxs_view_shift(const vxs_design *view);
const double *vxs_view_factor(const vxs_design *view);

/* ---- Kernels --------------------------------------------------------------------------------- */

/* Kernel scores: column i is yt .* (H K_i yt) for the base's column i, K_i(m, l) = exp(-(x_mi -
 * x_li)^2 / (2 s_i^2)), H the centering matrix, yt = H y; s_i is `bandwidth`, or if 0 the median
 * distance of the column's values, or if that is 0 the median of the nonzero distances. A constant
 * column is 0. Computed at once as float32, in memory, or in an unnamed file if larger than
 * `memory` bytes (0: 2 GiB). Sums and means use the weights of the base's rows, the median distance
 * does not. The base, typically a standardized view, is read once and not needed afterwards; it is
 * freed with the design unless `shared`. */
VXS_MUST_CHECK vxs_status vxs_scores_new(const vxs_context *context, vxs_design *base, bool shared,
                                         const double *y, double bandwidth, size_t memory,
                                         vxs_design **design, vxs_error *err);

/* Kernels between samples: x'z; exp(-gamma |x - z|^2); (gamma x'z + constant)^degree. */
enum { VXS_KERNEL_LINEAR, VXS_KERNEL_RBF, VXS_KERNEL_POLY, VXS_KERNEL_PRECOMPUTED };
/* A kernel matrix as a design, n x n and symmetric: column j has the kernels of sample j with all
 * samples, for problems with a kernel norm. Copies the matrix. */
VXS_MUST_CHECK vxs_status vxs_gram_new(const double *matrix, size_t n, int nthreads,
                                       vxs_design **design, vxs_error *err);
/* Several kernels of the same samples side by side, n x (count n), for problems with a sum of
 * kernel norms; `matrices` has one after the other. */
VXS_MUST_CHECK vxs_status vxs_grams_new(const double *matrices, size_t n, size_t count,
                                        int nthreads, vxs_design **design, vxs_error *err);

/* ---- Feature blocks -------------------------------------------------------------------------- */

/* Candidates of feature generation: each block is a set of columns Z_g that are selected as a
 * whole, computed on demand from a design's columns. Their number may exceed what fits in memory.
 * Not thread-safe; uses threads itself, with bitwise equal results for any number of them. */
typedef struct vxs_blocks vxs_blocks;

/* none: one column per feature; poly2: features, squares and products of pairs; gauss: 11 sines and
 * cosines of a feature; hik: 100 steps, whose kernel is the histogram intersection */
enum { VXS_FEATURE_MAP_NONE, VXS_FEATURE_MAP_POLY2, VXS_FEATURE_MAP_GAUSS, VXS_FEATURE_MAP_HIK };
/* Feature map: how values of features become columns of a block. */
typedef struct {
    int kind;
    double gamma, coef0; /* poly2: the kernel (gamma x'z + coef0)^2 */
    double bandwidth;    /* gauss */
} vxs_feature_map;

/* Blocks of the design's columns through a feature map. Borrows the design. */
VXS_MUST_CHECK vxs_status vxs_blocks_new(const vxs_context *context, vxs_design *design,
                                         const vxs_feature_map *map, vxs_blocks **blocks,
                                         vxs_error *err);
/* Blocks of groups of the design's columns; borrows both. Fails for members out of range,
 * duplicates within a group, and trees whose groups are not inside their parents. The columns of a
 * group of m are divided by m^power. In a tree, subtrees that a bound excludes are skipped. */
VXS_MUST_CHECK vxs_status vxs_blocks_of_groups(const vxs_context *context, vxs_design *design,
                                               const vxs_groups *groups, double power,
                                               vxs_blocks **blocks, vxs_error *err);
void vxs_blocks_free(vxs_blocks *blocks);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
