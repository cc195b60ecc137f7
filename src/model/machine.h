/* machine.h - kernel machines: products of subjects, and what a model keeps of them; private to the
 * model and evaluate rooms. */
#ifndef VXS_MODEL_MACHINE_H
#define VXS_MODEL_MACHINE_H

#include "model/encoder.h"
#include "model/model.h"

#include <pthread.h>

/* Inner products of a task's subjects, made once for all its parts when the first needs them. Parts
 * whose columns have other factors (those of a prefilter) make their own. */
typedef struct vxs_products {
    pthread_mutex_t lock;
    size_t n;
    double *values;    /* n x n, of all rows of the cohort; NULL until made */
    double *penalties; /* the task's factors of columns, or NULL */
    bool centered;     /* a value of each column is taken out of it */
} vxs_products;
VXS_MUST_CHECK vxs_products *vxs_products_new(const vxs_task *task, vxs_error *err);
void vxs_products_free(vxs_products *products);
/* subject_products.c: those of the task if its columns are scaled alike in all parts, else of the
 * part's own scaling, which the caller frees: `own`. */
VXS_MUST_CHECK vxs_status vxs_products_of(const vxs_context *context, const vxs_task *task,
                                          const vxs_products **products, bool *own, vxs_error *err);

/* A kernel machine: the weights of its training subjects and their kernel, or their features. */
typedef struct {
    size_t n;       /* training subjects */
    double *weight; /* n */
    size_t *index;  /* n: 0, 1, ..., for the checker */
    double intercept;
    vxs_kernel kernel;
    const vxs_products *products;          /* while training, or NULL */
    const vxs_residual_products *residual; /* the same */
    bool regresses;                        /* the same: on the covariates of a subject */
    size_t p, covariate_count;
    float *values;  /* p x n: standardized features of the training subjects, column by column */
    double *scales; /* p x (1 + covariate_count): what standardizes a feature of a new subject */
} vxs_machine;
VXS_MUST_CHECK vxs_machine *vxs_machine_new(size_t n, vxs_error *err);
void vxs_machine_free(void *machine);

/* machine_scores.c: adds to the scores of rows what the features that the model keeps make of them;
 * takes memory for each pair of a row and a support vector. */
VXS_MUST_CHECK vxs_status vxs_machine_score_features(const vxs_machine *machine,
                                                     const vxs_scored_rows *rows, double *scores,
                                                     vxs_error *err);

/* machine_files.c */
extern const vxs_model_file vxs_machine_files[];
VXS_MUST_CHECK vxs_status vxs_machine_read(vxs_model *model, const char *folder, vxs_error *err);

#endif
