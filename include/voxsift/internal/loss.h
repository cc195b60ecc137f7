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
/* The value, u f' and u f'' at once. */
double vxs_loss_expand(const vxs_loss *loss, const double *z, double *gradient, double *curvature);
/* sum (u f)*(s); infinite outside its domain */
double vxs_loss_conjugate(const vxs_loss *loss, const double *s);
/* Distance of s from the domain at the worst sample: the fraction of the segment to `inside`, a
 * point of the domain, after which s is in it; 0 if s is in the domain. */
double vxs_loss_outside(const vxs_loss *loss, const double *s, const double *inside);

/* ---- Measures -------------------------------------------------------------------------------- */

struct vxs_measured;
/* measures.c: scaled so that one mistake next to the truth costs about 1. */
struct vxs_measure_kind {
    const char *name;
    const char *words;  /* what is best, in a phrase */
    bool has_threshold; /* a constant added to all scores changes the value */
    bool by_counts;     /* the cost is a function of a and b that alpha's sums do not determine */
    bool takes_weights; /* of samples */
    double (*cost)(const struct vxs_measured *m, double a, double b); /* or NULL */
    /* The worst output at scores z: g = v - r, its cost and counts; returns the value. */
    double (*worst)(struct vxs_measured *m, const double *z, double *g, double *cost,
                    size_t counts[2]);
};
extern const vxs_measure_kind vxs_measure_kinds[]; /* ends with name == NULL */
/* Both classes are there, and numbers and weights fit the measure. */
VXS_MUST_CHECK vxs_status vxs_measure_check(const vxs_loss *loss, vxs_error *err);
/* How many top calls positive, of n samples. */
size_t vxs_measure_top(const vxs_output_measure *measure, size_t n, size_t positives);
/* 1 - the measure of what the scores say: a share of mistakes, 1 - F, 1 - hits / k, 1 - area; NAN
 * if a class is not there. */
VXS_MUST_CHECK vxs_status vxs_measure_miss(const vxs_loss *loss, const double *z, double *miss,
                                           vxs_error *err);

typedef struct {
    double z;
    size_t i;
} vxs_measured_score;
/* A loss of a measure, and what its worst outputs are found with. */
typedef struct vxs_measured {
    const vxs_loss *loss;
    const vxs_measure_kind *kind;
    size_t n, side[2];             /* samples; negatives and positives */
    size_t top;                    /* how many are called positive */
    double square, unit;           /* beta^2; what costs are multiples of */
    double *weight;                /* n: of a mistake */
    double *reference;             /* n: r */
    vxs_measured_score *ranked[2]; /* of either class, falling */
    double *sum[2];                /* 1 + of either class: of the first k */
} vxs_measured;
/* The loss passed vxs_measure_check. */
VXS_MUST_CHECK vxs_status vxs_measured_init(const vxs_loss *loss, vxs_measured *m, vxs_error *err);
void vxs_measured_release(vxs_measured *m);
/* The score above which samples are called positive, where the measure leaves it open: of top
 * between the last that is called and the next; of roc where sensitivity and specificity of these
 * samples are best; else 0. */
double vxs_measured_threshold(vxs_measured *m, const double *z);

#ifdef __cplusplus
}
#endif

#endif
