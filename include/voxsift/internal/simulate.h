/* voxsift/internal/simulate.h - simulated cohorts with a known truth. */
#ifndef VOXSIFT_INTERNAL_SIMULATE_H
#define VOXSIFT_INTERNAL_SIMULATE_H

#include "voxsift/internal/cohort.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Target of a simulated cohort: the score itself, or the class by a threshold on the score. */
enum { VXS_SIMULATE_SCORE, VXS_SIMULATE_DIAGNOSIS };

/* Seeds are at most 2^53, the last whole number that all JSON readers represent exactly. */
#define VXS_SEED_ROW(at)                                                                           \
    VXS_WHOLE_ROW("seed", "N", at, 1, 0, 9007199254740992.0,                                       \
                  "start of the random numbers; the same seed gives the same cohort")

/* Sparse linear model y = X b + noise: X is uniform on [-10, 10], a share of b uniform on [-1, 1]
 * and the rest 0, the noise normal. */
typedef struct {
    int64_t subjects, features;
    double nonzero; /* share of features with nonzero weight */
    double noise;   /* standard deviation of the noise */
    int target;
    int64_t seed;
} vxs_lasso_simulation;

extern const vxs_param vxs_lasso_simulation_params[];

/* Writes a cohort directory: cohort.json, features.npy (features x subjects), participants.tsv and
 * truth.tsv (the nonzero weights). Replaces an existing one only if `replace`. */
VXS_MUST_CHECK vxs_status vxs_simulate_lasso(const vxs_context *context,
                                             const vxs_lasso_simulation *settings,
                                             const char *directory, bool replace, vxs_error *err);

/* The same linear score, with weights that are constant along a graph of the features: a connected
 * graph with two subgraphs of constant weight, or a forest with constant weight within some of its
 * trees. The diagnosis is score > median. */
typedef struct {
    int64_t subjects, features;
    double edges;   /* edges per feature; NAN: default */
    int64_t trees;  /* number of trees; 0: connected graph */
    double nonzero; /* share of features with nonzero weight */
    double noise;
    int target;
    int64_t seed;
} vxs_fused_simulation;

extern const vxs_param vxs_fused_simulation_params[];

/* Writes the same files, and graph.tsv with the edges by feature names. */
VXS_MUST_CHECK vxs_status vxs_simulate_fused(const vxs_context *context,
                                             const vxs_fused_simulation *settings,
                                             const char *directory, bool replace, vxs_error *err);

/* Patients and controls with equal feature distributions that differ in the interaction of pairs of
 * features: the diagnosis is the sign of sum over pairs of weight x_a x_b + noise; X is standard
 * normal. */
typedef struct {
    int64_t subjects, features;
    int64_t pairs; /* number of pairs; no two share a feature */
    double noise;
    int64_t seed;
} vxs_pairs_simulation;

extern const vxs_param vxs_pairs_simulation_params[];

/* Writes the same files as the linear model; truth.tsv has a row per pair. */
VXS_MUST_CHECK vxs_status vxs_simulate_pairs(const vxs_context *context,
                                             const vxs_pairs_simulation *settings,
                                             const char *directory, bool replace, vxs_error *err);

/* Images with predictive spheres. A model has parameter rows for the fields it uses; the others are
 * 0. */
typedef struct {
    int64_t subjects;
    const char *images, *mask; /* images: NULL: simulated; mask: NULL: left temporal lobe */
    const char *shape;         /* "X,Y,Z": a box of voxels instead of the lobe; or NULL */
    bool resample, write_images;
    double voxel_size;              /* mm; NAN: that of the underlay, or of the images */
    double warp, bias, voxel_noise; /* variation of simulated images */
    double sigma; /* mean over images of the standard deviation inside the mask; NAN: default */
    int64_t radius, regions; /* in voxels; number of spheres */
    double effect, spread;   /* mean and sd factor of the perturbation; or weight of a sphere */
    int64_t edge;            /* in voxels, of a cube with a texture */
    double share;            /* of patients, of subjects */
    double noise, smooth;    /* standard deviation of the score's noise; FWHM in mm */
    int target;
    int64_t seed;
} vxs_image_simulation;

/* Results of a simulation; without images the first three fields alone. */
typedef struct {
    size_t subjects, features;
    int64_t seed;
    size_t perturbed, positive; /* number of subjects; 0 if the model has none */
    size_t spheres, sphere;     /* number of spheres, and of voxels per sphere */
    double center[3];           /* center of the first sphere in mm */
    double voxel_size[3];
    double sigma, mean; /* before any change: sd and mean inside the mask, averaged over images */
    double between;     /* standard deviation between subjects at a voxel, averaged over voxels */
    double factor;      /* factor applied to all images */
    double seconds;
} vxs_simulation_summary;

typedef union {
    vxs_lasso_simulation lasso;
    vxs_fused_simulation fused;
    vxs_pairs_simulation pairs;
    vxs_image_simulation images;
} vxs_simulation_settings;

/* A row per model. Help, manual and JSON are loops over vxs_simulations, which ends with name ==
 * NULL. */
typedef struct {
    const char *name;
    const char *summary;         /* a phrase without full stop */
    const vxs_param *params;     /* into vxs_simulation_settings; ends with name == NULL */
    const struct vxs_plan *plan; /* private to the simulate room; NULL: no images */
    const char *graph;           /* name of the graph's file, or NULL */
    bool pairs;                  /* predictors are pairs of features */
} vxs_simulation;
extern const vxs_simulation vxs_simulations[];
extern const char *const vxs_simulation_names[]; /* ends with NULL */

/* Writes a cohort directory like that of vxs_cohort_make, with truth.tsv and, for images,
 * truth.nii.gz. Every number is a function of the seed and its position. */
VXS_MUST_CHECK vxs_status vxs_simulate(const vxs_context *context, const vxs_simulation *simulation,
                                       const vxs_simulation_settings *settings,
                                       const char *directory, bool replace,
                                       vxs_simulation_summary *summary, vxs_error *err);

#ifdef __cplusplus
}
#endif

#endif
