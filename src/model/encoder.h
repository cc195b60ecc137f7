/* encoder.h - mapping from features to columns of the solver's design, and from a solution to
 * scores of new subjects; private to the model and evaluate rooms.
 *
 * linear: weights of the unscaled features (linear_encoder.c)
 * kernel: Gaussian kernels between a subject and the training subjects, whose values the model
 * stores (kernel.c)
 * blocks: columns of selected feature blocks: groups, or the output of a feature map
 * (feature_blocks.c)
 * machine: weights of the training subjects of a kernel machine (machine.c), of one kernel a group
 * of features (multi_kernel.c)
 * bags: similarities with instances, whose values the model stores (bag_encoder.c) */
#ifndef VXS_MODEL_ENCODER_H
#define VXS_MODEL_ENCODER_H

#include "voxsift/internal/model.h"

/* Subjects to score: their rows in a cohort, and their covariates, column-major with leading
 * dimension `stride`. */
typedef struct {
    const vxs_cohort *cohort;
    const size_t *rows;
    const double *covariates;
    size_t stride, count;
} vxs_scored_rows;

/* A file in a model's directory: `has` is true if this model has it (NULL: always); its content is
 * written by `write`, which can fail, or `put`, which cannot. */
typedef struct {
    const char *name;
    bool (*has)(const vxs_model *model, const vxs_task *task);
    vxs_status (*write)(const vxs_model *model, const vxs_task *task, FILE *stream, vxs_error *err);
    void (*put)(const vxs_model *model, const vxs_task *task, FILE *stream);
} vxs_model_file;

struct vxs_encoder {
    bool without_covariates; /* covariates are regressed out */
    bool without_constant;   /* scores have no intercept that depends on who trains */
    /* Converts a solution to weights of the unscaled features, or stores in `encoded` what scoring
     * new subjects requires. */
    vxs_status (*decode)(const vxs_task *task, vxs_output_fit *output, vxs_error *err);
    /* Makes weights of features of what `decode` left, where scores of test subjects need none;
     * NULL: decode made them. */
    vxs_status (*map)(const vxs_task *task, vxs_output_fit *output, vxs_error *err);
    /* Stores what scoring requires without the task, for a model; NULL: decode did. */
    vxs_status (*keep)(const vxs_task *task, vxs_output_fit *output, vxs_error *err);
    /* Converts a copy of the output's solution back to the solver's scaling. */
    vxs_status (*encode)(const vxs_task *task, const vxs_output_fit *output, vxs_solution *fit,
                         vxs_error *err);
    /* Adds the contribution of the features to the scores; the caller adds that of the covariates.
     */
    vxs_status (*score)(const vxs_output_fit *output, const vxs_scored_rows *subjects,
                        double *scores, vxs_error *err);
    /* p values that stand beside the weights: how much the score changes with a feature, whatever
     * the sign; NULL, or returning NULL: none. */
    const double *(*sensitivity)(const vxs_output_fit *output);
    void (*release)(void *encoded);
    const vxs_model_file
        *files; /* ends with name == NULL; NULL: no files besides those of all models */
    /* Notes in a model what its words need of the settings; NULL: nothing. */
    void (*begin)(vxs_model *model, const vxs_method_settings *settings);
    /* Reads `encoded` after the model's other files; NULL: nothing to read. */
    vxs_status (*read)(vxs_model *model, const char *folder, vxs_error *err);
};
extern const vxs_encoder vxs_linear_encoder, vxs_kernel_encoder, vxs_block_encoder,
    vxs_machine_encoder, vxs_several_encoder, vxs_bag_encoder;

/* The encoder of the task's method. */
const vxs_encoder *vxs_encoder_of(const vxs_task_settings *settings);
const vxs_encoder *vxs_task_encoder(const vxs_task *task);
/* Sets the scores: contribution of the features plus that of the covariates. */
VXS_MUST_CHECK vxs_status vxs_output_score(const vxs_output_fit *output,
                                           const vxs_scored_rows *subjects, double *scores,
                                           size_t covariate_count, vxs_error *err);
/* predict.c: covariates of all subjects of a cohort, of which the table is used alone, column by
 * column. */
VXS_MUST_CHECK vxs_status vxs_model_covariates(const vxs_model *model, const vxs_cohort *cohort,
                                               double *covariates, vxs_error *err);
/* Scores of outputs, outputs x count, of rows whose features are the model's. */
VXS_MUST_CHECK vxs_status vxs_model_score_rows(const vxs_model *model, const vxs_scored_rows *rows,
                                               double *scores, vxs_error *err);
/* The sensitivities of an output, or NULL. */
const double *vxs_output_sensitivity(const vxs_output_fit *output);
/* Releases an output's fit; its name stays. */
void vxs_output_release(vxs_output_fit *output);

/* ---- Features that are standardized ---------------------------------------------------------- */

/* Standardization of a feature x with covariates c: scale x + coefficients'c. */
VXS_MUST_CHECK vxs_status vxs_find_scale(const vxs_task *task, size_t feature, double *scale,
                                         double *covariate_coefficients, vxs_error *err);
/* Converts weights of standardized columns to weights of unscaled features, with a coefficient for
 * each covariate. */
VXS_MUST_CHECK vxs_status vxs_unstandardize_weights(const vxs_task *task, vxs_solution *solution,
                                                    vxs_error *err);
/* Inverse conversion. */
VXS_MUST_CHECK vxs_status vxs_standardize_weights(const vxs_task *task, vxs_solution *solution,
                                                  vxs_error *err);
/* Values of one standardized feature, scale x + coefficients'c; `wide` is a work array with one
 * number for each subject of the cohort. */
void vxs_standardized_values(const vxs_scored_rows *subjects, size_t feature, double scale,
                             const double *covariate_coefficients, size_t covariate_count,
                             double *wide, double *values);

#endif
