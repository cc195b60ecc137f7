/* linear.h - simulated cohorts of features that are drawn one by one, and a score that is linear or
 * what a model adds to it; private to the simulate room. */
#ifndef VXS_SIMULATE_LINEAR_H
#define VXS_SIMULATE_LINEAR_H

#include "cohort/integrity.h"
#include "voxsift/internal/simulate.h"

/* Streams of random numbers; those of a model itself come behind. */
enum { VXS_LINEAR_X, VXS_LINEAR_WEIGHT, VXS_LINEAR_CHOICE, VXS_LINEAR_NOISE, VXS_LINEAR_OWN };

/* y = X b + e, X uniform on [-10, 10] or normal, e normal with standard deviation `noise`. */
typedef struct vxs_linear {
    const vxs_context *context;
    const char *name;
    const vxs_param *params; /* of the settings, for cohort.json */
    const void *settings;
    uint64_t seed;
    size_t n, p;
    bool normal; /* features are, with mean 0 and standard deviation 1 */
    double noise;
    int target;
    bool balanced; /* a diagnosis is by the median of the scores, not by their sign */
    /* Sets the weights b, which are 0, and may add to the score what is not linear. */
    vxs_status (*draw)(struct vxs_linear *linear, vxs_error *err);
    /* What the truth is, if not these weights; or NULL. */
    vxs_status (*write_truth)(struct vxs_linear *linear, FILE *stream, vxs_error *err);
    /* A file more, or NULL. */
    const char *more;
    vxs_status (*write_more)(struct vxs_linear *linear, FILE *stream, vxs_error *err);
    void *own;       /* for these */
    double *weights; /* p */
    double *score;   /* n */
    size_t block;    /* features a block */
    float *columns;  /* several blocks of features, n values each */
    double *sums;    /* what each of these adds to the score */
    vxs_features_record record;
} vxs_linear;
/* Writes the cohort; what is behind `own` needs no preparation. */
VXS_MUST_CHECK vxs_status vxs_linear_make(vxs_linear *linear, const char *directory, bool replace,
                                          vxs_error *err);
/* The value of a feature as it is stored. */
float vxs_linear_value(const vxs_linear *linear, size_t feature, size_t subject);
/* A weight uniform on [-1, 1]. */
double vxs_linear_weight(const vxs_random *random, uint64_t index);
extern const char *const vxs_simulated_targets[];

#endif
