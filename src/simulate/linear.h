/* linear.h - simulated cohorts of independent random features with a linear score, to which a model
 * may add terms; private to the simulate room. */
#ifndef VXS_SIMULATE_LINEAR_H
#define VXS_SIMULATE_LINEAR_H

#include "cohort/integrity.h"
#include "voxsift/internal/simulate.h"

/* Streams of random numbers; a model's own streams follow. */
enum { VXS_LINEAR_X, VXS_LINEAR_WEIGHT, VXS_LINEAR_CHOICE, VXS_LINEAR_NOISE, VXS_LINEAR_OWN };

/* y = X b + e, X uniform on [-10, 10] or normal, e normal with standard deviation `noise`. */
typedef struct vxs_linear {
    const vxs_context *context;
    const char *name;
    const vxs_param *params; /* rows of the settings, for cohort.json */
    const void *settings;
    uint64_t seed;
    size_t n, p;
    bool normal; /* features are standard normal rather than uniform */
    double noise;
    int target;
    bool balanced; /* diagnosis by score > median rather than by its sign */
    /* Sets the nonzero weights b, and may add nonlinear terms to the score. */
    vxs_status (*draw)(struct vxs_linear *linear, vxs_error *err);
    /* Writes the truth of a model without weights; or NULL. */
    vxs_status (*write_truth)(struct vxs_linear *linear, FILE *stream, vxs_error *err);
    /* Name and writer of an additional file, or NULL. */
    const char *more;
    vxs_status (*write_more)(struct vxs_linear *linear, FILE *stream, vxs_error *err);
    void *own;       /* argument of these callbacks */
    double *weights; /* p weights b */
    double *score;   /* n scores */
    size_t block;    /* features per block */
    float *columns;  /* BLOCKS_PER_ROUND blocks of features, block x n each */
    double *sums;    /* n per block: its part of the score */
    vxs_features_record record;
} vxs_linear;
/* Writes the cohort; `own` is initialized by its callbacks. */
VXS_MUST_CHECK vxs_status vxs_linear_make(vxs_linear *linear, const char *directory, bool replace,
                                          vxs_error *err);
/* The stored value of a feature. */
float vxs_linear_value(const vxs_linear *linear, size_t feature, size_t subject);
/* A random weight, uniform on [-1, 1]. */
double vxs_linear_weight(const vxs_random *random, uint64_t index);
extern const char *const vxs_simulated_targets[];

#endif
