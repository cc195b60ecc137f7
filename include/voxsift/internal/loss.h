/* voxsift/internal/loss.h - sums of losses; internal to the library and the command line, not
 * installed. */
#ifndef VOXSIFT_INTERNAL_LOSS_H
#define VOXSIFT_INTERNAL_LOSS_H

#include "voxsift/internal/core.h"
#include "voxsift/loss.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const vxs_loss_kind *const vxs_loss_kinds[]; /* NULL-terminated */
/* For a loss with a threshold, thresholds that fall to it by quarters: the first, before being 0,
 * exceeds all residuals at z (NULL: 0). 0 when the loss's own is reached, and for losses without.
 * Newton's method is slow where all residuals are beyond the threshold; by this way it is not. */
double vxs_loss_eased(const vxs_loss *loss, const double *z, double before);
/* The scale between `least` and `limit` at which the dual value is largest, of a dual point theta =
 * -f' / lambda: the dual is a parabola along it, with the curvature of the problem's quadratic (its
 * value twice), or the scale is at most 1. */
double vxs_dual_scale(const vxs_loss *loss, const double *theta, double lambda, double quadratic,
                      double least, double limit);
void vxs_loss_gradient(const vxs_loss *loss, const double *z, double *gradient);
/* n: u f''; for the multinomial loss n x k: the probabilities p, where f'' = diag(p) - p p'. */
void vxs_loss_curvature(const vxs_loss *loss, const double *z, double *curvature);
/* sum (u f)*(s); infinite outside its domain */
double vxs_loss_conjugate(const vxs_loss *loss, const double *s);
/* Distance of s from the domain at the worst sample: the fraction of the segment to `inside`, a
 * point of the domain, after which s is in it; 0 if s is in the domain. */
double vxs_loss_outside(const vxs_loss *loss, const double *s, const double *inside);

#ifdef __cplusplus
}
#endif

#endif
