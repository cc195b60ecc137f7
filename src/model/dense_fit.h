/* dense_fit.h - a dense linear fit from the products of subjects; private to the model and evaluate
 * rooms. */
#ifndef VXS_MODEL_DENSE_FIT_H
#define VXS_MODEL_DENSE_FIT_H

#include "voxsift/internal/model.h"

/* Subjects of a training part, their products and covariates, and what a fit of them needs. */
typedef struct {
    size_t m, q, tested, p;
    double *k, *held_out;  /* m x m; tested x m. With p features m x p, tested x p */
    double *z, *of_tested; /* covariates: m x q, tested x q */
    double *a, *b;         /* m, q: the fit */
    double *value, *gradient, *curvature, *root, *factor, *right, *normal; /* of a step */
    double *trial, *next, *weights, *scaled, *short_right; /* the last ones of features */
    vxs_loss loss;
    double *y, *u;
} vxs_dense_fit;
/* Zeroed arrays; released by the caller, also after an error. p: 0, or features in place of
 * products of subjects. */
VXS_MUST_CHECK vxs_status vxs_dense_fit_new(size_t m, size_t q, size_t tested, size_t p,
                                            vxs_dense_fit *ridge, vxs_error *err);
void vxs_dense_fit_release(vxs_dense_fit *ridge);
/* Fits from the last fit on; false if the objective is not finite. */
VXS_MUST_CHECK bool vxs_dense_fit_at(vxs_dense_fit *ridge, double lambda);
/* Of tested subject i. */
double vxs_dense_fit_score(const vxs_dense_fit *ridge, size_t i);

#endif
