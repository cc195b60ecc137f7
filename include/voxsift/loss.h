/* voxsift/loss.h - losses: how far predictions are from targets, and what duality needs of them.
 *
 * A loss is F(z) = sum_i u_i f(z_i, y_i) over n samples, each of which has one prediction or, of
 * several classes, k of them. A program may bring one along: a vxs_loss_kind with a vxs_sample_loss
 * of which only `outside` may be NULL, convex, bounded from below and with a gamma above 0. Methods
 * lasso and graphnet take it, and the checker's bound rests on its value alone. examples/own_loss.c
 * has one. */
#ifndef VOXSIFT_LOSS_H
#define VOXSIFT_LOSS_H

#include "voxsift/core.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default) /* what follows is the library's, and nothing else is */
#endif

/* f of one prediction z of a sample with target y; `threshold` is that of the vxs_loss. */
typedef struct {
    double (*value)(double z, double y, double threshold);
    double (*gradient)(double z, double y, double threshold);
    /* f'', or more, but no more than 1 / gamma: where f'' vanishes far from y, steps of a solver
     * that has nothing else would be endless */
    double (*curvature)(double z, double y, double threshold);
    /* f*(s) = max over z of s z - f(z); infinite outside its domain */
    double (*conjugate)(double s, double y, double threshold);
    /* the share of the way from s to `inside`, which is in the domain of f*, that brings s there as
     * well; NULL: the domain is everything */
    double (*outside)(double s, double inside, double y, double threshold);
} vxs_sample_loss;

struct vxs_loss;
/* Of all samples at once, where predictions of a sample are tied to each other; as the functions
 * below. */
typedef struct {
    double (*value)(const struct vxs_loss *loss, const double *z);
    void (*gradient)(const struct vxs_loss *loss, const double *z, double *gradient);
    void (*curvature)(const struct vxs_loss *loss, const double *z, double *curvature);
    double (*conjugate)(const struct vxs_loss *loss, const double *s);
    double (*outside)(const struct vxs_loss *loss, const double *s, const double *inside);
} vxs_joint_loss;

typedef struct {
    const char *name;    /* as '--loss' has it */
    const char *targets; /* what y must be, in words */
    bool (*is_target)(const struct vxs_loss *loss, double y);
    double gamma;                  /* f'' <= 1 / gamma: f* is that strongly convex */
    bool of_scores;                /* targets are scores, and predictions these */
    bool has_threshold;            /* the loss has one above 0 */
    bool squared;                  /* f'' = 1 everywhere: one Newton step is the answer */
    const vxs_sample_loss *sample; /* one prediction a sample; or */
    const vxs_joint_loss *joint;   /* k of them; or neither, of losses that one algorithm has */
} vxs_loss_kind;

/* The kind with its data, which must stay. */
typedef struct vxs_loss {
    const vxs_loss_kind *kind;
    size_t n, k;      /* samples; predictions of each, 0 and 1 meaning one */
    const double *y;  /* n: targets */
    const double *u;  /* n: weights, of which none is negative; NULL: all 1 */
    double threshold; /* of kinds that have one */
} vxs_loss;

extern const vxs_loss_kind vxs_squared_loss; /* (y - z)^2 / 2 */
extern const vxs_loss_kind vxs_huber_loss; /* the same up to a threshold of |y - z|, then linear */
extern const vxs_loss_kind vxs_logistic_loss;      /* log(1 + exp(-y z)), y being -1 or 1 */
extern const vxs_loss_kind vxs_squared_hinge_loss; /* max(0, 1 - y z)^2 / 2, y being -1 or 1 */
extern const vxs_loss_kind vxs_hinge_loss; /* max(0, y - z): y is a margin, the design knows the
                                              classes */
extern const vxs_loss_kind vxs_multinomial_loss; /* log sum over classes c of exp(z_c), less z_y: y
                                                    is the number of a class */

/* Predictions and what is derived from them are n x k, by column. */
static inline size_t vxs_loss_outputs(const vxs_loss *loss)
{
    return loss->k > 1 ? loss->k : 1;
}
/* u of sample i */
static inline double vxs_loss_weight(const vxs_loss *loss, size_t i)
{
    return loss->u ? loss->u[i] : 1;
}
double vxs_loss_value(const vxs_loss *loss, const double *z);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
