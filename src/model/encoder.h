/* encoder.h - how features become what a solver sees, and its solution a score of new subjects;
 * private to the model and evaluate rooms.
 *
 * linear   weights of features as they stand (linear_encoder.c)
 * kernel   kernels of features beside training subjects, whose values the model has (kernel.c)
 * blocks   columns of selected feature blocks: groups, or what a feature map makes
 * (feature_blocks.c) */
#ifndef VXS_MODEL_ENCODER_H
#define VXS_MODEL_ENCODER_H

#include "voxsift/internal/model.h"

/* Subjects of a cohort: their rows in it, and their covariates, `stride` apart. */
typedef struct {
    const vxs_cohort *cohort;
    const size_t *rows;
    const double *covariates;
    size_t stride, count;
} vxs_scored_rows;

/* A file of a model: whether this one has it (NULL: always), and its content, by a function that
 * can fail or by one that cannot. */
typedef struct {
    const char *name;
    bool (*has)(const vxs_model *model, const vxs_task *task);
    vxs_status (*write)(const vxs_model *model, const vxs_task *task, FILE *stream, vxs_error *err);
    void (*put)(const vxs_model *model, const vxs_task *task, FILE *stream);
} vxs_model_file;

struct vxs_encoder {
    bool alone; /* nothing stands beside the features: covariates are taken out of them, and no
                   constant moves from fold to fold */
    /* A fit as the solver gave it becomes one of features as they stand in the cohort, or gets in
     * `encoded` what scores of new subjects need besides. */
    vxs_status (*decode)(const vxs_task *task, vxs_output_fit *output, vxs_error *err);
    /* Back to weights as the solver gave them. */
    vxs_status (*encode)(const vxs_task *task, vxs_solution *fit, vxs_error *err);
    /* Adds the features' part of the scores; the caller adds that of the covariates. */
    vxs_status (*score)(const vxs_output_fit *output, const vxs_scored_rows *subjects,
                        double *scores, vxs_error *err);
    void (*release)(void *encoded);
    const vxs_model_file *files; /* ends with name == NULL; NULL: none but those of all models */
    /* Of a model whose other files were read; NULL: nothing. */
    vxs_status (*read)(vxs_model *model, const char *folder, vxs_error *err);
};
extern const vxs_encoder vxs_linear_encoder, vxs_kernel_encoder, vxs_block_encoder;

/* The encoder of the task's method. */
const vxs_encoder *vxs_task_encoder(const vxs_task *task);
/* Sets the scores: the features' part and that of the covariates. */
VXS_MUST_CHECK vxs_status vxs_output_score(const vxs_output_fit *output,
                                           const vxs_scored_rows *subjects, double *scores,
                                           size_t covariate_count, vxs_error *err);
/* `output` without a fit; its name stays. */
void vxs_output_release(vxs_output_fit *output);

/* ---- Features that are standardized ---------------------------------------------------------- */

/* A feature as it is standardized is scale x + free'c. */
VXS_MUST_CHECK vxs_status vxs_find_scale(const vxs_task *task, size_t feature, double *scale,
                                         double *covariate_coefficients, vxs_error *err);
/* Weights of standardized columns become weights of features as they stand in the cohort, and the
 * covariates have a place each. */
VXS_MUST_CHECK vxs_status vxs_unstandardize_weights(const vxs_task *task, vxs_solution *solution,
                                                    vxs_error *err);
/* And back. */
VXS_MUST_CHECK vxs_status vxs_standardize_weights(const vxs_task *task, vxs_solution *solution,
                                                  vxs_error *err);
/* Values of one feature as an encoder sees them: scale x + free'c; `wide` has room for one number a
 * subject of the cohort. */
void vxs_standardized_values(const vxs_scored_rows *subjects, size_t feature, double scale,
                             const double *covariate_coefficients, size_t covariate_count,
                             double *wide, double *values);

#endif
