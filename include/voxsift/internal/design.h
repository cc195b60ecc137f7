/* voxsift/internal/design.h - designs and units; for the library's rooms and the command line, not
 * installed. */
#ifndef VOXSIFT_INTERNAL_DESIGN_H
#define VOXSIFT_INTERNAL_DESIGN_H

#include "voxsift/design.h"
#include "voxsift/internal/core.h"
#include "voxsift/internal/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

int vxs_design_threads(const vxs_design *design);
/* The same for one vector and some columns: s[c] = x_set[c]'v. */
void vxs_design_scan_some(vxs_design *design, const size_t *set, size_t count, const double *v,
                          double *s);
/* The same together with S = X'v, in one reading. */
VXS_MUST_CHECK vxs_status vxs_design_measure_scan(vxs_design *design, const double *v, double *s,
                                                  vxs_error *err);
const double *vxs_design_norms(const vxs_design *design); /* NULL before they are measured */
/* Likewise of the float32 values behind them, in units of the columns: before a mean or confounds
 * were taken out. Rounding to float32 moves column j by up to FLT_EPSILON / 2 of it. */
const double *vxs_design_stored(const vxs_design *design);
/* Measuring refuses a column with a value that is NaN or infinite. Says which in the words of
 * whoever owns the data that a design reads, instead of by the numbers of row and column; called
 * for the design that reads them, before anything is built on it. The owner must stay. */
typedef vxs_status (*vxs_refuse_value)(const void *owner, size_t column, size_t row, double value,
                                       vxs_error *err);
void vxs_design_set_owner(vxs_design *design, vxs_refuse_value refuse, const void *owner);
/* Columns read since it was made; divided by p these are passes, the cost that no machine
 * changes. */
uint64_t vxs_design_read(const vxs_design *design);

/* Columns less what they share: column j loses the sum over the entries of row j of `null` of value
 * times column `index` of `vectors`, n x null->columns. The base is shared; all three must stay. */
VXS_MUST_CHECK vxs_status vxs_deflated_new(vxs_design *base, const vxs_analysis *null,
                                           const double *vectors, vxs_design **design,
                                           vxs_error *err);

/* Sums over subtrees: a column for each place of the forest that is not a root, in this order. It
 * is the sum of the base's columns in the place's subtree, over the weight of its edge. The base is
 * taken over, unless `shared`; the forest must stay. */
VXS_MUST_CHECK vxs_status vxs_tree_new(vxs_design *base, bool shared, const vxs_forest *forest,
                                       vxs_design **design, vxs_error *err);
/* Sums of whole trees, n x trees by column; known once it is measured. */
const double *vxs_tree_levels(const vxs_design *tree);

/* Solvers over the same base, each in a thread of its own, whose whole scans wait for each other:
 * one reading serves all. The base is taken over. */
typedef struct vxs_hub vxs_hub;
VXS_MUST_CHECK vxs_status vxs_hub_new(vxs_design *base, size_t solvers, size_t slots, vxs_hub **hub,
                                      vxs_error *err);
void vxs_hub_free(vxs_hub *hub);
/* What a solver uses, around a design of its own over the same columns, which is taken over. */
VXS_MUST_CHECK vxs_status vxs_hub_design(vxs_hub *hub, vxs_design *own, vxs_design **design,
                                         vxs_error *err);
/* A solver's thread begins, when one of the slots is free, and ends; every solver must do both. */
void vxs_hub_begin(vxs_hub *hub);
void vxs_hub_end(vxs_hub *hub);
/* Serves until all have ended. */
void vxs_hub_serve(vxs_hub *hub);

/* The spanning trees of a graph whose edges cost 1 - |r|, r being the correlation of the columns at
 * their ends; without a graph, of all pairs of columns. */
VXS_MUST_CHECK vxs_status vxs_correlation_tree(const vxs_context *context, vxs_design *design,
                                               const vxs_graph *graph, vxs_graph *tree,
                                               vxs_error *err);

/* Correlations of all pairs of columns, p x p; a constant column has none but with itself. Freed by
 * the caller. */
VXS_MUST_CHECK vxs_status vxs_correlations(const vxs_context *context, vxs_design *design,
                                           double **correlations, vxs_error *err);

/* ---- Kernels --------------------------------------------------------------------------------- */

/* g[j] = sum over l of q[l] exp(-(at[j] - x[l])^2 / (2 bandwidth^2)), by the sum itself or by a
 * fast Gauss transform, whichever is faster for so many points; at may be x. Error below 1e-9 of
 * sum |q|. */
VXS_MUST_CHECK vxs_status vxs_gauss_sums(const double *x, const double *q, size_t n,
                                         const double *at, size_t m, double bandwidth, double *g,
                                         vxs_error *err);
/* The median distance of two of the points, the lower one of two in the middle; 0 when at least
 * half of the distances are, or there are none. */
VXS_MUST_CHECK vxs_status vxs_median_distance(const double *x, size_t n, double *median,
                                              vxs_error *err);
/* s_i of all columns; 0 where the median of a constant column was asked for. */
const double *vxs_scores_bandwidths(const vxs_design *design);

/* Kernels as columns (HSIC lasso): column i is the packed upper triangle (column by column,
 * diagonal included) of H K_i H, off-diagonal entries times sqrt(2), so that inner products of
 * columns are inner products of matrices; rows are n (n + 1) / 2. Nothing is stored but bandwidths:
 * columns are made when they are asked for. */
VXS_MUST_CHECK vxs_status vxs_kernels_new(vxs_design *base, bool shared, double bandwidth,
                                          vxs_design **design, vxs_error *err);
const double *vxs_kernels_bandwidths(const vxs_design *design);
/* y y' of centred y, packed in the same way: what HSIC lasso fits. */
void vxs_kernels_pack(const double *y, size_t n, double *packed);

/* ---- Units ----------------------------------------------------------------------------------- */

enum { VXS_MAP_GAUSS_WIDTH = 11, VXS_MAP_HIK_WIDTH = 100 };
/* Units of a map over p features, in the order of their numbers. none, gauss, hik: unit j is of
 * feature j. poly2: sqrt(2 gamma constant) x_j at j, gamma x_j^2 at p + j, sqrt(2) gamma x_a x_b
 * behind these, pairs a < b by a, then b. */
size_t vxs_map_count(const vxs_map *map, size_t p); /* SIZE_MAX: more than can be numbered */
size_t vxs_map_width(const vxs_map *map);
/* The features of a unit, twice the same where it is of one. */
void vxs_map_features(const vxs_map *map, size_t p, size_t unit, size_t feature[2]);
/* Columns of a unit from values of its two features for n subjects: block[k * n + i]. hik: values
 * between low and high, others count as the nearer of these; k columns with sqrt(1 / 100) where the
 * value is at least k / 100 of the way, k = 1 ... 100, so that inner products are smaller values
 * in hundredths. gauss: the first harmonics of the kernel's Fourier series. */
void vxs_map_columns(const vxs_map *map, size_t p, size_t unit, const double *a, const double *b,
                     double low, double high, size_t n, double *block);

size_t vxs_units_rows(const vxs_units *units);
size_t vxs_units_count(const vxs_units *units);
size_t vxs_units_width(const vxs_units *units, size_t unit);
/* The feature behind column k of a unit, and the factor it has there; of maps, the first of its
 * features and 1. */
size_t vxs_units_feature(const vxs_units *units, size_t unit, size_t k, double *factor);
/* The `most` units with the largest scores, falling, equal ones in the order of their numbers;
 * there are `count` of them, fewer than `most` only where there are not so many. Exact to rounding
 * in double. */
VXS_MUST_CHECK vxs_status vxs_units_best(vxs_units *units, const double *v, size_t most,
                                         vxs_scored *best, size_t *count, vxs_error *err);
/* Its columns, as doubles: block[k * n + i]. */
void vxs_units_fetch(vxs_units *units, size_t unit, double *block);
/* hik: the least and largest value of a feature; 0 and 1 elsewhere. */
void vxs_units_range(const vxs_units *units, size_t feature, double *low, double *high);
/* Passes over all units so far: columns of the design that were read, over their number, or scans
 * of pairs; and groups that were looked at, or not, because groups around them could not win. */
typedef struct {
    double passes;
    uint64_t visited, pruned;
} vxs_units_work;
vxs_units_work vxs_units_worked(const vxs_units *units);

#ifdef __cplusplus
}
#endif

#endif
