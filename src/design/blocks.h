/* blocks.h - virtual functions of feature blocks; private to the design room. */
#ifndef VXS_DESIGN_BLOCKS_H
#define VXS_DESIGN_BLOCKS_H

#include "voxsift/internal/design.h"

/* ---- Kinds ----------------------------------------------------------------------------------- */

typedef struct {
    /* These three may be NULL: the feature map determines the result. */
    size_t (*width)(const vxs_blocks *blocks, size_t index);
    size_t (*feature)(const vxs_blocks *blocks, size_t index, size_t k, double *factor);
    void (*fetch)(vxs_blocks *blocks, size_t index, double *block);
    /* NULL: 0 and 1 */
    void (*range)(const vxs_blocks *blocks, size_t feature, double *low, double *high);
    vxs_status (*best)(vxs_blocks *blocks, const double *v, vxs_top *top, vxs_error *err);
    /* NULL: not for these blocks */
    void (*scores)(vxs_blocks *blocks, const double *v, const bool *requested, double *scores);
    void (*norms)(const vxs_blocks *blocks, double *norms);
    void (*release)(vxs_blocks *blocks); /* NULL: no fields of its own */
} vxs_blocks_kind;

/* Every kind begins with this. */
struct vxs_blocks {
    const vxs_blocks_kind *kind;
    vxs_context context;
    vxs_design *design;
    vxs_feature_map map;
    size_t n, p, count;
    double *workspace; /* workspace for two columns */
    double *sums;      /* of all columns, for kinds that scan; NULL until allocated */
    uint64_t read_before;
    vxs_blocks_work work;
    bool counted; /* passes are counted in `work`, not by the columns that the design has read */
};

/* Initializes the common fields. Measures the design, since views have no columns before. On
 * failure the caller frees what was initialized. */
VXS_MUST_CHECK vxs_status vxs_blocks_init(vxs_blocks *blocks, const vxs_blocks_kind *kind,
                                          const vxs_context *context, vxs_design *design,
                                          const vxs_feature_map *map, size_t count, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_blocks_allocate_sums(vxs_blocks *blocks, vxs_error *err);
/* `sums` = X'v; what is only rounding is 0, so that no column is selected by it. */
void vxs_blocks_scan(vxs_blocks *blocks, const double *v);

/* Stores the columns as floats if they need at most `limit` bytes. */
VXS_MUST_CHECK vxs_status vxs_blocks_pairs_new(const vxs_context *context, vxs_design *design,
                                               const vxs_feature_map *map, size_t limit,
                                               vxs_blocks **blocks, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_blocks_gauss_new(const vxs_context *context, vxs_design *design,
                                               const vxs_feature_map *map, vxs_blocks **blocks,
                                               vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_blocks_hik_new(const vxs_context *context, vxs_design *design,
                                             const vxs_feature_map *map, vxs_blocks **blocks,
                                             vxs_error *err);

/* ---- Visiting all features ------------------------------------------------------------------- */

/* Calls `visit` for each column of the design, fetched block by block, in all its threads. */
typedef void (*vxs_visit)(vxs_blocks *blocks, size_t feature, const double *x, const double *v);
VXS_MUST_CHECK vxs_status vxs_blocks_visit(vxs_blocks *blocks, vxs_visit visit, const double *v,
                                           vxs_error *err);
/* The same; `visit` leaves the scores in `sums`. */
VXS_MUST_CHECK vxs_status vxs_blocks_best_visited(vxs_blocks *blocks, vxs_visit visit,
                                                  const double *v, vxs_top *top, vxs_error *err);

/* feature_map.c: the position of a value between low and high in hundredths, 0 ... 100, rounded
 * down; 0 if low = high. */
int vxs_feature_map_step(double value, double low, double high);
/* Harmonics of the Gaussian kernel: radians per unit of value, factors of the columns, and cosines
 * and sines of 0, 1, ... times an angle. */
enum { VXS_HARMONICS = 5 };
double vxs_gauss_frequency(const vxs_feature_map *map);
void vxs_gauss_factors(double factors[VXS_HARMONICS + 1]);
void vxs_gauss_harmonics(double angle, double cosines[VXS_HARMONICS + 1],
                         double sines[VXS_HARMONICS + 1]);

#endif
