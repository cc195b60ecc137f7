/* voxsift/internal/loss.h - sums of losses; for the library's rooms and the command line, not
 * installed. */
#ifndef VOXSIFT_INTERNAL_LOSS_H
#define VOXSIFT_INTERNAL_LOSS_H

#include "voxsift/internal/core.h"
#include "voxsift/loss.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const vxs_loss_kind *const vxs_loss_kinds[]; /* ends with NULL */
void vxs_loss_gradient(const vxs_loss *loss, const double *z, double *gradient);
/* n: u f''; of the multinomial loss the probabilities p, n x k: f'' = diag(p) - p p'. */
void vxs_loss_curvature(const vxs_loss *loss, const double *z, double *curvature);
/* sum (u f)*(s); infinite outside its domain */
double vxs_loss_conjugate(const vxs_loss *loss, const double *s);
/* How far s is outside the domain, at the worst sample: the share of the way to `inside`, which is
 * in it, that brings it back; 0 of what is in it. */
double vxs_loss_outside(const vxs_loss *loss, const double *s, const double *inside);

#ifdef __cplusplus
}
#endif

#endif
