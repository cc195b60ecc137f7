/* kernel.h - training data stored by a kernel model; private to the model room. */
#ifndef VXS_MODEL_KERNEL_H
#define VXS_MODEL_KERNEL_H

#include "model/encoder.h"
#include "model/model.h"

/* Support data: the selected features of the training subjects. */
typedef struct {
    size_t n, count, covariate_count;
    double *y;         /* n: classes 1 and -1, centered */
    double *values;    /* count x n: standardized values of the training subjects */
    double *bandwidth; /* count */
    double *mean;      /* count: mean kernel sum over the training subjects */
    double *scale, *covariate_coefficients; /* count; count x covariate_count */
} vxs_support;
VXS_MUST_CHECK vxs_support *vxs_support_new(size_t n, size_t count, size_t covariate_count,
                                            vxs_error *err);
void vxs_support_free(void *support);

/* kernel_files.c */
extern const vxs_model_file vxs_kernel_files[];
VXS_MUST_CHECK vxs_status vxs_kernel_read(vxs_model *model, const char *folder, vxs_error *err);

#endif
