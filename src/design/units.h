/* units.h - what a kind of units offers; private to the design room. */
#ifndef VXS_DESIGN_UNITS_H
#define VXS_DESIGN_UNITS_H

#include "voxsift/internal/design.h"

/* ---- Kinds ----------------------------------------------------------------------------------- */

typedef struct {
    /* These three may be NULL: then the map answers. */
    size_t (*width)(const vxs_units *units, size_t unit);
    size_t (*feature)(const vxs_units *units, size_t unit, size_t k, double *factor);
    void (*fetch)(vxs_units *units, size_t unit, double *block);
    /* NULL: 0 and 1 */
    void (*range)(const vxs_units *units, size_t feature, double *low, double *high);
    vxs_status (*best)(vxs_units *units, const double *v, vxs_top *top, vxs_error *err);
    void (*release)(vxs_units *units); /* NULL: nothing of its own */
} vxs_units_kind;

/* Kinds begin with this. */
struct vxs_units {
    const vxs_units_kind *kind;
    vxs_context context;
    vxs_design *design;
    vxs_map map;
    size_t n, p, count;
    double *room; /* of two columns */
    double *sums; /* of all columns, for kinds that scan; NULL until they ask for it */
    uint64_t read_before;
    vxs_units_work work;
    bool counted; /* passes are counted in `work`, not by what the design has read */
};

/* Fills in what all kinds have; fields are NULL or 0 before. The design is measured, as views do
 * not know their columns before. What was made stays with the units when this fails. */
VXS_MUST_CHECK vxs_status vxs_units_init(vxs_units *units, const vxs_units_kind *kind,
                                         const vxs_context *context, vxs_design *design,
                                         const vxs_map *map, size_t count, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_units_make_sums(vxs_units *units, vxs_error *err);

/* Pairs hold their columns as floats while these take no more than `limit` bytes. */
VXS_MUST_CHECK vxs_status vxs_units_pairs_new(const vxs_context *context, vxs_design *design,
                                              const vxs_map *map, size_t limit, vxs_units **units,
                                              vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_units_gauss_new(const vxs_context *context, vxs_design *design,
                                              const vxs_map *map, vxs_units **units,
                                              vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_units_steps_new(const vxs_context *context, vxs_design *design,
                                              const vxs_map *map, vxs_units **units,
                                              vxs_error *err);

/* ---- Features one by one --------------------------------------------------------------------- */

/* Calls `visit` for each column of the design, fetched in blocks, by all its threads. */
typedef void (*vxs_visit)(vxs_units *units, size_t feature, const double *x, const double *v);
VXS_MUST_CHECK vxs_status vxs_units_visit(vxs_units *units, vxs_visit visit, const double *v,
                                          vxs_error *err);
/* The same, and what it leaves in `sums` are the scores. */
VXS_MUST_CHECK vxs_status vxs_units_best_visited(vxs_units *units, vxs_visit visit, const double *v,
                                                 vxs_top *top, vxs_error *err);

/* feature_map.c: how many hundredths of the way from low to high a value has gone, 0 ... 100; 0
 * where there is no way. */
int vxs_map_step(double value, double low, double high);
/* The Gaussian kernel's harmonics: the angle that a value of 1 is, the factors of its columns, and
 * cosines and sines of 0, 1, ... times an angle. */
enum { VXS_HARMONICS = 5 };
double vxs_gauss_rate(const vxs_map *map);
void vxs_gauss_factors(double factors[VXS_HARMONICS + 1]);
void vxs_gauss_turns(double angle, double cosines[VXS_HARMONICS + 1],
                     double sines[VXS_HARMONICS + 1]);

#endif
