/* kernel.h - what a model of kernels has of its training subjects; private to the model room. */
#ifndef VXS_MODEL_KERNEL_H
#define VXS_MODEL_KERNEL_H

#include "model/encoder.h"
#include "model/model.h"

/* The features with a weight. */
typedef struct {
    size_t n, count, covariate_count;
    double *y;                      /* n: 1 and -1, centered */
    double *values;                 /* count x n: of training subjects, standardized */
    double *bandwidth;              /* count */
    double *mean;                   /* count: of the training subjects' sums */
    double *scale;                  /* count: a standardized feature is scale x + Z c */
    double *covariate_coefficients; /* count x covariate_count: c */
} vxs_support;
VXS_MUST_CHECK vxs_support *vxs_support_new(size_t n, size_t count, size_t covariate_count,
                                            vxs_error *err);
void vxs_support_free(void *support);

/* kernel_files.c */
extern const vxs_model_file vxs_kernel_files[];
VXS_MUST_CHECK vxs_status vxs_kernel_read(vxs_model *model, const char *folder, vxs_error *err);

#endif
