/* voxsift/internal/simulate.h - simulated cohorts: models whose truth is known. */
#ifndef VOXSIFT_INTERNAL_SIMULATE_H
#define VOXSIFT_INTERNAL_SIMULATE_H

#include "voxsift/internal/cohort.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Target of a simulated cohort: the score itself, or the class it falls into. */
enum { VXS_SIMULATE_SCORE, VXS_SIMULATE_DIAGNOSIS };

/* Up to 2^53, the last whole number JSON readers agree on. */
#define VXS_SEED_ROW(at)                                                                           \
    VXS_WHOLE_ROW("seed", "N", at, 1, 0, 9007199254740992.0,                                       \
                  "start of the random numbers; the same seed gives the same cohort")

/* A sparse linear model with known truth: y = X b + noise; X is uniform on [-10, 10], a share of
 * b is uniform on [-1, 1] and the rest zero, the noise is normal. */
typedef struct {
    int64_t subjects, features;
    double nonzero; /* share of features with weight */
    double noise;   /* standard deviation */
    int target;
    int64_t seed;
} vxs_lasso_simulation;

extern const vxs_param vxs_lasso_simulation_params[];

/* Writes a cohort directory: cohort.json, features.npy (features x subjects), participants.tsv and
 * truth.tsv (the weights that are not zero). An existing one is replaced only if `replace`. */
VXS_MUST_CHECK vxs_status vxs_simulate_lasso(const vxs_context *context,
                                             const vxs_lasso_simulation *settings,
                                             const char *directory, bool replace, vxs_error *err);

/* The same score of features that have a graph, along which weights are constant: a connected one,
 * with two subgraphs that have a value each, or a forest, of which some trees have. A diagnosis is
 * by the median. */
typedef struct {
    int64_t subjects, features;
    double edges;   /* for each feature; NAN: not given */
    int64_t trees;  /* 0: not given */
    double nonzero; /* share of features with weight */
    double noise;
    int target;
    int64_t seed;
} vxs_fused_simulation;

extern const vxs_param vxs_fused_simulation_params[];

/* The same files, and graph.tsv with the edges by the names of features. */
VXS_MUST_CHECK vxs_status vxs_simulate_fused(const vxs_context *context,
                                             const vxs_fused_simulation *settings,
                                             const char *directory, bool replace, vxs_error *err);

/* Patients and controls who differ in no feature, but in how some pairs of features go together:
 * the diagnosis is the sign of the sum over pairs of weight x_a x_b, with noise; X is standard
 * normal. */
typedef struct {
    int64_t subjects, features;
    int64_t pairs; /* that share no feature */
    double noise;
    int64_t seed;
} vxs_pairs_simulation;

extern const vxs_param vxs_pairs_simulation_params[];

/* The same files as of the linear model; truth.tsv has a row for each pair. */
VXS_MUST_CHECK vxs_status vxs_simulate_pairs(const vxs_context *context,
                                             const vxs_pairs_simulation *settings,
                                             const char *directory, bool replace, vxs_error *err);

/* Images with spheres that matter. Each model has rows for what it takes, and the rest is 0. */
typedef struct {
    int64_t subjects;
    const char *images, *mask; /* NULL: made, and the left temporal lobe */
    const char *shape;         /* "X,Y,Z": a box of voxels instead of a lobe; or NULL */
    bool resample, write_images;
    double voxel_size;              /* mm; NAN: that of the underlay, or of the images */
    double warp, bias, voxel_noise; /* of images that are made */
    double sigma;                   /* mean over images of the sd inside the mask; NAN: not given */
    int64_t radius, regions;        /* voxels; spheres */
    double effect, spread;          /* of the perturbation; or weight of a sphere */
    double noise, smooth;           /* on the score; mm */
    int target;
    int64_t seed;
} vxs_image_simulation;

/* What came of a simulation; of one without images only the first three. */
typedef struct {
    size_t subjects, features;
    int64_t seed;
    size_t perturbed, positive; /* subjects; 0 where the model has no such thing */
    size_t spheres, sphere;     /* how many, and voxels of one */
    double center[3];           /* of the first, mm */
    double voxel_size[3];
    double sigma, mean; /* before anything is done to the images: sd and mean inside the
                           mask, means over images */
    double between;     /* sd between subjects at a voxel, mean over voxels */
    double factor;      /* by which images were multiplied */
    double seconds;
} vxs_simulation_summary;

typedef union {
    vxs_lasso_simulation lasso;
    vxs_fused_simulation fused;
    vxs_pairs_simulation pairs;
    vxs_image_simulation images;
} vxs_simulation_settings;

/* One row a model; everything that lists models is a loop over vxs_simulations, which ends with
 * name == NULL. */
typedef struct {
    const char *name;
    const char *summary;         /* a phrase, without full stop */
    const vxs_param *params;     /* into vxs_simulation_settings; ends with name == NULL */
    const struct vxs_plan *plan; /* private to the cohort room; NULL: no images */
    const char *graph;           /* the file of the features' graph, or NULL */
    bool pairs;                  /* what counts is pairs of features */
} vxs_simulation;
extern const vxs_simulation vxs_simulations[];
extern const char *const vxs_simulation_names[]; /* ends with NULL */

/* Writes a cohort directory as vxs_cohort_make does, with truth.tsv and, of images, truth.nii.gz.
 * Every number is a function of the seed and its place. */
VXS_MUST_CHECK vxs_status vxs_simulate(const vxs_context *context, const vxs_simulation *simulation,
                                       const vxs_simulation_settings *settings,
                                       const char *directory, bool replace,
                                       vxs_simulation_summary *summary, vxs_error *err);

#ifdef __cplusplus
}
#endif

#endif
