/* voxsift/internal/design.h - designs and feature blocks; internal to the library and the command
 * line, not installed. */
#ifndef VOXSIFT_INTERNAL_DESIGN_H
#define VOXSIFT_INTERNAL_DESIGN_H

#include "voxsift/design.h"
#include "voxsift/internal/core.h"
#include "voxsift/internal/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

int vxs_design_threads(const vxs_design *design);
/* X'v for some columns: s[c] = x_set[c]'v. */
void vxs_design_scan_some(vxs_design *design, const size_t *set, size_t count, const double *v,
                          double *s);
/* Measures and computes S = X'v in one pass. */
VXS_MUST_CHECK vxs_status vxs_design_measure_scan(vxs_design *design, const double *v, double *s,
                                                  vxs_error *err);
const double *vxs_design_norms(const vxs_design *design); /* NULL until measured */
/* Norms of the stored float32 values, in units of the columns: before centering and regressing out
 * confounds. Rounding to float32 changes column j by up to FLT_EPSILON / 2 of it. */
const double *vxs_design_stored(const vxs_design *design);
/* Measuring fails for a column with a NaN or infinite value. This callback reports it in terms of
 * the owner of the data instead of row and column indices; set it on the design that reads the data
 * before anything is built on it. Borrows the owner. */
typedef vxs_status (*vxs_report_value)(const void *owner, size_t column, size_t row, double value,
                                       vxs_error *err);
void vxs_design_set_owner(vxs_design *design, vxs_report_value refuse, const void *owner);
/* Columns read so far; divided by p the number of passes, a cost measure independent of the
 * machine. */
uint64_t vxs_design_read(const vxs_design *design);

/* Inner products of the rows of a design, n x n, in one reading; columns times their factor (NULL:
 * 1), minus one of their values if `center`, which has no part in residuals. */
VXS_MUST_CHECK vxs_status vxs_row_products(const vxs_context *context, vxs_design *design,
                                           const double *factor, bool center, double *products,
                                           vxs_error *err);
/* lengths[j] = |(x_j'v_1, ..., x_j'v_k)| for k vectors, v_c at v + c * n, in one pass that keeps no
 * products. The design is measured. */
VXS_MUST_CHECK vxs_status vxs_design_scan_lengths(vxs_design *design, const double *v, size_t k,
                                                  double *lengths, vxs_error *err);
/* The same of some columns, in this order. */
VXS_MUST_CHECK vxs_status vxs_row_products_of(const vxs_context *context, vxs_design *design,
                                              const size_t *columns, size_t count,
                                              const double *factor, bool center, double *products,
                                              vxs_error *err);
/* Those of p columns of n floats, minus one of their values, to about 1e-6 of the rows' squares and
 * in half the time; not `fine` if values are so large or small that they are not multiplied. */
VXS_MUST_CHECK vxs_status vxs_rough_products(const vxs_context *context, const float *columns,
                                             size_t n, size_t p, int threads, double *products,
                                             bool *fine, vxs_error *err);
/* As vxs_grams_new with matrices that are known to be kernels; takes them over, even if it fails.
 */
VXS_MUST_CHECK vxs_status vxs_grams_take(double *matrices, size_t n, size_t count, int nthreads,
                                         vxs_design **design, vxs_error *err);
/* The same of matrices that stay the caller's, as long as the design is there. */
VXS_MUST_CHECK vxs_status vxs_grams_lend(const double *matrices, size_t n, size_t count,
                                         int nthreads, vxs_design **design, vxs_error *err);
/* The matrices of a design made by vxs_grams_new or vxs_gram_new; NULL: of another kind. */
const double *vxs_gram_matrix(const vxs_design *design);

/* Inner products of rows from which a regression on covariates, such as means, is taken out that
 * was estimated on training rows. */
typedef struct {
    size_t n, count, columns; /* all rows, training rows, covariates */
    const double *products;   /* n x n, borrowed */
    const double *z;          /* count x columns: covariates of the training rows, borrowed */
    size_t *train;
    double *b, *sums, *square;
} vxs_residual_products;
/* `weights` of the training rows in the regression; NULL: all 1. Without columns nothing is taken
 * out. */
VXS_MUST_CHECK vxs_status vxs_residual_products_init(
    const double *products, size_t n, const size_t *train, size_t count, const double *z,
    size_t columns, const double *weights, vxs_residual_products *residual, vxs_error *err);
void vxs_residual_products_release(vxs_residual_products *residual);
/* Products of row x, whose covariates are z, with all training rows; returns that with itself.
 * `work`: 3 x columns. */
double vxs_residual_products_row(const vxs_residual_products *residual, size_t x, const double *z,
                                 double *work, double *row);

/* The same of training row l; `work`: 3 x columns. */
double vxs_residual_products_trained(const vxs_residual_products *residual, size_t l, double *work,
                                     double *row);

/* sum_l a_l row_l of any row x, whose products with training rows are g and whose covariates are z,
 * is d'g + coefficients'z. `work`: columns. */
void vxs_residual_products_flatten(const vxs_residual_products *residual, const double *a,
                                   double *work, double *d, double *coefficients);

/* A kernel between two rows; the products of all training rows set its scale, in which a row counts
 * as often as its weight says (NULL: once). */
typedef struct {
    int kind;
    double gamma, constant;
    int degree;
    double scale;  /* linear, poly: mean of |x|^2; rbf: median of |x - z|^2 */
    double factor; /* of kernel values */
} vxs_kernel;
/* Training rows between which kernels are, and their products with themselves. All products are
 * known, and borrowed: `residual`; or they are made of the rows' features, in each pass. */
typedef struct {
    size_t m;
    double *own;
    const vxs_residual_products *residual; /* or NULL */
    double *c;
    size_t p;
    double *values; /* m x p: features, row after row */
    int nthreads;
} vxs_kernel_rows;
/* The rows of a design, which is read once. */
VXS_MUST_CHECK vxs_status vxs_kernel_rows_read(const vxs_context *context, vxs_design *design,
                                               vxs_kernel_rows *rows, vxs_error *err);
/* Some of them; of features. */
VXS_MUST_CHECK vxs_status vxs_kernel_rows_some(const vxs_kernel_rows *rows, const size_t *set,
                                               size_t count, vxs_kernel_rows *some, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_kernel_rows_init(const vxs_residual_products *residual,
                                               vxs_kernel_rows *rows, vxs_error *err);
void vxs_kernel_rows_release(vxs_kernel_rows *rows);
/* Sets the scale; 1, if rows do not vary. */
VXS_MUST_CHECK vxs_status vxs_kernel_scale(vxs_kernel *kernel, const vxs_kernel_rows *rows,
                                           const double *weights, bool *varies, vxs_error *err);
/* The same in time that does not grow with the square of the rows: of more than 10,000 the median
 * is that of a million pairs. */
VXS_MUST_CHECK vxs_status vxs_kernel_scale_roughly(vxs_kernel *kernel, const vxs_kernel_rows *rows,
                                                   const double *weights, bool *varies,
                                                   vxs_error *err);
/* Neither linear nor given: the score has no weights of features, and gamma. */
static inline bool vxs_kernel_is_curved(int kind)
{
    return kind == VXS_KERNEL_RBF || kind == VXS_KERNEL_POLY;
}
/* From x'z, x'x and z'z. */
double vxs_kernel_value(const vxs_kernel *kernel, double product, double own, double other);
/* The derivative by x of a kernel value is this times z - x (rbf) or z (linear, poly). */
double vxs_kernel_slope(const vxs_kernel *kernel, double product, double own, double other);
/* Products of a row with others become kernels; `own` are those of the others with themselves. */
void vxs_kernel_apply(const vxs_kernel *kernel, const double *own, double other, size_t count,
                      double *row);
/* The kernel whose values are the slopes of another. */
vxs_kernel vxs_kernel_of_slopes(const vxs_kernel *kernel);
/* The kernel matrix of the rows, m x m. */
void vxs_kernel_fill(const vxs_kernel *kernel, const vxs_kernel_rows *rows, double *k);
/* Its column j: m values. */
void vxs_kernel_row(const vxs_kernel *kernel, const vxs_kernel_rows *rows, size_t j, double *row);
/* Adds to `sums`, rows->m x k, the kernels of rows with others (of features, or the same ones)
 * times k vectors, tile by tile. `tiles`: VXS_KERNEL_TILE squared for each of the rows' threads. */
enum { VXS_KERNEL_TILE = 256 };
void vxs_kernel_add(const vxs_kernel *kernel, const vxs_kernel_rows *rows,
                    const vxs_kernel_rows *others, const double *v, size_t k, double *tiles,
                    double *sums);

/* A kernel as a design, n x n, whose values are made at each request, in tiles: for matrices that
 * do not fit into memory. Borrows the rows. Blocks are of at most `room` samples. */
VXS_MUST_CHECK vxs_status vxs_kernel_tiles_new(const vxs_kernel *kernel,
                                               const vxs_kernel_rows *rows, size_t room,
                                               vxs_design **design, vxs_error *err);
/* The kernel LL' of low rank that equals another one between some of its samples, the landmarks,
 * and all: landmarks are chosen one by one, at most `most` of them, where the kernel of a sample
 * with itself is approximated worst; earlier where rounding is left. A design, n x n, as above;
 * borrows nothing. */
typedef struct {
    size_t n, rank, *landmark; /* rank */
    double *factor;            /* n x rank: L; that of the landmarks is lower triangular */
    double trace;              /* of the kernel that is approximated, */
    double missing, largest;   /* and of what it lacks: trace, largest value of a sample */
} vxs_low_rank;
VXS_MUST_CHECK vxs_status vxs_low_rank_new(const vxs_context *context, const vxs_kernel *kernel,
                                           const vxs_kernel_rows *rows, size_t most, size_t room,
                                           vxs_design **design, vxs_error *err);
/* The same of a kernel matrix, n x n. */
VXS_MUST_CHECK vxs_status vxs_low_rank_of(const vxs_context *context, const double *matrix,
                                          size_t n, size_t most, int nthreads, vxs_design **design,
                                          vxs_error *err);
/* NULL: the design is of another kind. */
const vxs_low_rank *vxs_gram_low_rank(const vxs_design *design);
/* Weights of landmarks, `rank` of them, that give all samples, old and new, the values that weights
 * of all samples give: K_R a is K times these at the landmarks. */
void vxs_low_rank_reduce(const vxs_low_rank *kernel, const double *weights, double *of_landmarks);

/* Of any kernel, stored or not. room: how many samples a block may have; 0: all; SIZE_MAX: it is
 * none. */
size_t vxs_gram_room(const vxs_design *design);
double vxs_gram_own(const vxs_design *design, size_t i);
/* The kernels between some samples, count x count. */
VXS_MUST_CHECK vxs_status vxs_gram_block(const vxs_design *design, const size_t *set, size_t count,
                                         double *block, vxs_error *err);
/* f += the columns of some samples times their weights. */
VXS_MUST_CHECK vxs_status vxs_gram_add(const vxs_design *design, const size_t *set,
                                       const double *weights, size_t count, double *f,
                                       vxs_error *err);

/* Deflation: column j minus the sum over the entries of row j of `null` of value times column
 * `index` of `vectors`, n x null->columns. Shares the base; borrows all three. */
VXS_MUST_CHECK vxs_status vxs_deflated_new(vxs_design *base, const vxs_analysis *null,
                                           const double *vectors, vxs_design **design,
                                           vxs_error *err);

/* Subtree sums: one column per position of the forest that is not a root, in this order: the sum of
 * the base's columns in its subtree, divided by the weight of its edge. Takes ownership of the
 * base, unless `shared`; borrows the forest. */
VXS_MUST_CHECK vxs_status vxs_subtree_sums_new(vxs_design *base, bool shared,
                                               const vxs_forest *forest, vxs_design **design,
                                               vxs_error *err);
/* n x trees, column-major: sums of whole trees; NULL until measured. */
const double *vxs_subtree_sums_totals(const vxs_design *tree);

/* Batches the scans of several solvers over the same base, each in its own thread: one pass serves
 * all. Takes ownership of the base. */
typedef struct vxs_scan_batcher vxs_scan_batcher;
VXS_MUST_CHECK vxs_status vxs_scan_batcher_new(vxs_design *base, size_t solvers, size_t slots,
                                               vxs_scan_batcher **batcher, vxs_error *err);
void vxs_scan_batcher_free(vxs_scan_batcher *batcher);
/* The solver's proxy, around a design of its own over the same columns; takes ownership of that. */
VXS_MUST_CHECK vxs_status vxs_scan_batcher_design(vxs_scan_batcher *batcher, vxs_design *own,
                                                  vxs_design **design, vxs_error *err);
/* A solver's thread acquires a slot at its begin and releases it at its end; every solver must call
 * both. */
void vxs_scan_batcher_begin(vxs_scan_batcher *batcher);
void vxs_scan_batcher_end(vxs_scan_batcher *batcher);
/* Runs the scans until all solvers have ended. */
void vxs_scan_batcher_run(vxs_scan_batcher *batcher);

/* The minimum spanning forest of a graph with edge costs 1 - |r|, r the correlation of the columns;
 * without graph, of all pairs of columns. */
VXS_MUST_CHECK vxs_status vxs_correlation_tree(const vxs_context *context, vxs_design *design,
                                               const vxs_graph *graph, vxs_graph *tree,
                                               vxs_error *err);

/* p x p: correlations of all pairs of columns; 0 for a constant column and any other. Freed by the
 * caller. */
VXS_MUST_CHECK vxs_status vxs_correlations(const vxs_context *context, vxs_design *design,
                                           double **correlations, vxs_error *err);

/* ---- Kernels --------------------------------------------------------------------------------- */

/* Gauss transform g[j] = sum over l of q[l] exp(-(at[j] - x[l])^2 / (2 bandwidth^2)), by direct
 * summation or by a fast Gauss transform, whichever is faster; at may be x. Error below 1e-9 of sum
 * |q|. */
VXS_MUST_CHECK vxs_status vxs_gauss_sums(const double *x, const double *q, size_t n,
                                         const double *at, size_t m, double bandwidth, double *g,
                                         vxs_error *err);
/* The median of all pairwise distances, the lower median of an even number; 0 if at least half of
 * them are 0 or there are none. */
VXS_MUST_CHECK vxs_status vxs_median_distance(const double *x, size_t n, double *median,
                                              vxs_error *err);
/* s_i of all columns; 0 if the median of a constant column was requested. */
const double *vxs_scores_bandwidths(const vxs_design *design);
/* Means over rows of each feature's K yt; a column, as it is stored. */
const double *vxs_scores_means(const vxs_design *design);
const float *vxs_scores_column(const vxs_design *design, size_t feature);

/* Kernels as columns (HSIC lasso): column i is the packed upper triangle (column-major, with
 * diagonal) of H K_i H, off-diagonal entries times sqrt(2), so that inner products of columns are
 * inner products of matrices; there are n (n + 1) / 2 rows. Only bandwidths are stored: columns are
 * computed on demand. */
VXS_MUST_CHECK vxs_status vxs_kernels_new(vxs_design *base, bool shared, double bandwidth,
                                          vxs_design **design, vxs_error *err);
const double *vxs_kernels_bandwidths(const vxs_design *design);
/* y y' of centered y, packed the same way: the target of HSIC lasso. */
void vxs_kernels_pack(const double *y, size_t n, double *packed);

/* ---- Bags of instances ----------------------------------------------------------------------- */

/* Instances, one after the other, those of a bag together: of bag i first[i] ... first[i + 1] - 1.
 * `at`: their centers, 3 each, or NULL; then those that are farther apart than `near` are not
 * compared. Borrowed. */
typedef struct {
    size_t bags, count, width;
    const float *values;
    const size_t *first;
    const double *at;
    double near;
} vxs_instances;
/* Distances of all instances to all bags, that is to a bag's nearest instance: what similarities
 * of any width, in any fold, are made of. `memory`: bytes; more of them go to an unnamed file. */
typedef struct vxs_bag_distances vxs_bag_distances;
VXS_MUST_CHECK vxs_status vxs_bag_distances_new(const vxs_context *context,
                                                const vxs_instances *instances, size_t memory,
                                                vxs_bag_distances **distances, vxs_error *err);
void vxs_bag_distances_free(vxs_bag_distances *distances);
/* Distances of an instance to all bags. */
const float *vxs_bag_distances_column(const vxs_bag_distances *distances, size_t instance);
/* The lower median of squared distances of instances to other bags; of the bags `rows`. */
VXS_MUST_CHECK vxs_status vxs_bag_distances_median(const vxs_bag_distances *distances,
                                                   const size_t *rows, size_t count, double *median,
                                                   vxs_error *err);
/* Similarities exp(-D / (2 sigma^2)) of bags `rows` with instances; columns of instances of other
 * bags are 0. `left_out`: at an instance's own bag that with the other instances there. Borrows the
 * distances. */
VXS_MUST_CHECK vxs_status vxs_bags_new(const vxs_bag_distances *distances, const size_t *rows,
                                       size_t count, double sigma, bool left_out, int nthreads,
                                       vxs_design **design, vxs_error *err);
/* Squared distances of the instances of a bag to others, (instances of the bag) x others->count;
 * INFINITY where they are not compared. */
VXS_MUST_CHECK vxs_status vxs_instance_distances(const vxs_instances *instances, size_t bag,
                                                 const vxs_instances *others, double *squares,
                                                 vxs_error *err);

/* ---- Feature blocks -------------------------------------------------------------------------- */

enum { VXS_FEATURE_MAP_GAUSS_WIDTH = 11, VXS_FEATURE_MAP_HIK_WIDTH = 100 };
/* Indices of the blocks of a feature map over p features. none, gauss, hik: block j is feature j.
 * poly2: sqrt(2 gamma coef0) x_j at j, gamma x_j^2 at p + j, then sqrt(2) gamma x_a x_b for pairs a
 * < b, ordered by a, then b. */
size_t vxs_feature_map_count(const vxs_feature_map *map, size_t p); /* SIZE_MAX: overflow */
size_t vxs_feature_map_width(const vxs_feature_map *map);
/* The features of a block, the same one twice if the block has one. */
void vxs_feature_map_features(const vxs_feature_map *map, size_t p, size_t index,
                              size_t feature[2]);
/* Columns of a block from the values of its two features for n subjects: columns[k * n + i]. hik:
 * values are clamped to [low, high]; column k is sqrt(1 / 100) where the value is at least k / 100
 * of the range, k = 1 ... 100, so that inner products are minima in hundredths. gauss: the first
 * harmonics of the kernel's Fourier series. */
void vxs_feature_map_columns(const vxs_feature_map *map, size_t p, size_t index, const double *a,
                             const double *b, double low, double high, size_t n, double *block);

/* Whether products of two columns of a view beside an intercept are the same for all samples, as
 * squares of two values of equal size are: like constant columns, they are not selected. */
bool vxs_design_product_is_constant(const vxs_design *design, const double *x, const double *y);
size_t vxs_blocks_rows(const vxs_blocks *blocks);
size_t vxs_blocks_count(const vxs_blocks *blocks);
bool vxs_blocks_are_groups(const vxs_blocks *blocks);
size_t vxs_blocks_width(const vxs_blocks *blocks, size_t index);
/* The feature of column k of a block, and the factor of the column; for feature maps, the first of
 * its features and 1. */
size_t vxs_blocks_feature(const vxs_blocks *blocks, size_t index, size_t k, double *factor);
/* The `most` blocks with the largest scores, in decreasing order, ties by index; `count` is smaller
 * than `most` only if there are fewer blocks. Exact up to double rounding. */
VXS_MUST_CHECK vxs_status vxs_blocks_best(vxs_blocks *blocks, const double *v, size_t most,
                                          vxs_scored *best, size_t *count, vxs_error *err);
/* Columns of a block, as doubles: columns[k * n + i]. */
void vxs_blocks_fetch(vxs_blocks *blocks, size_t index, double *block);
/* Scores of the requested groups, reading their columns only; for blocks of groups. */
void vxs_blocks_scores(vxs_blocks *blocks, const double *v, const bool *requested, double *scores);
/* Norms of all groups: the root of the sum of squares of their columns. */
void vxs_blocks_norms(const vxs_blocks *blocks, double *norms);
/* hik: minimum and maximum of a feature; 0 and 1 otherwise. */
void vxs_blocks_range(const vxs_blocks *blocks, size_t feature, double *low, double *high);
/* Cost so far: passes over all blocks (columns of the design read, divided by their number, or
 * scans of pairs), and groups visited and pruned. */
typedef struct {
    double passes;
    uint64_t visited, pruned;
} vxs_blocks_work;
vxs_blocks_work vxs_blocks_get_work(const vxs_blocks *blocks);

#ifdef __cplusplus
}
#endif

#endif
