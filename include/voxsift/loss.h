/* voxsift/loss.h - losses: value, gradient, curvature and convex conjugate.
 *
 * A loss is F(z) = sum_i u_i f(z_i, y_i) over n samples, each of which has one prediction or, with
 * several classes, k of them. A program may supply its own: a vxs_loss_kind with a vxs_sample_loss
 * of which only `outside` may be NULL. It must be convex, with gamma > 0, and never below 0: gaps
 * are shares of the value without weights. Methods lasso and graphnet accept it; the checker uses
 * its `value` alone and maximizes s z - f(z) numerically. examples/own_loss.c contains one. */
#ifndef VOXSIFT_LOSS_H
#define VOXSIFT_LOSS_H

#include "voxsift/core.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
/* the declarations below are exported, all other symbols are hidden */
#pragma GCC visibility push(default)
#endif

/* f(z, y) for one prediction z of a sample with target y; `threshold` is that of the vxs_loss. */
typedef struct {
    double (*value)(double z, double y, double threshold);
    double (*gradient)(double z, double y, double threshold);
    /* an upper bound on f'', at most 1 / gamma: where f'' vanishes far from y, pure Newton steps
     * would be infinite */
    double (*curvature)(double z, double y, double threshold);
    /* f*(s) = max over z of s z - f(z); infinite outside its domain */
    double (*conjugate)(double s, double y, double threshold);
    /* the fraction of the segment from s to `inside`, a point of the domain of f*, after which s is
     * in the domain; NULL: the domain is the real line */
    double (*outside)(double s, double inside, double y, double threshold);
} vxs_sample_loss;

struct vxs_loss;
/* Functions of all samples at once, for losses that couple the k predictions of a sample; arguments
 * as in vxs_loss_value and the functions of internal/loss.h. */
typedef struct {
    double (*value)(const struct vxs_loss *loss, const double *z);
    void (*gradient)(const struct vxs_loss *loss, const double *z, double *gradient);
    void (*curvature)(const struct vxs_loss *loss, const double *z, double *curvature);
    double (*conjugate)(const struct vxs_loss *loss, const double *s);
    double (*outside)(const struct vxs_loss *loss, const double *s, const double *inside);
} vxs_joint_loss;

typedef struct {
    const char *name;    /* value of '--loss' */
    const char *targets; /* valid targets, in words */
    bool (*is_target)(const struct vxs_loss *loss, double y);
    double gamma;                  /* f'' <= 1 / gamma: f* is gamma-strongly convex */
    bool of_scores;                /* targets and predictions are scores */
    bool has_threshold;            /* the loss requires a threshold > 0 */
    bool squared;                  /* f'' = 1 everywhere: one Newton step is exact */
    bool parabola;                 /* its conjugate is s^2 / 2 + y s on a cone */
    const vxs_sample_loss *sample; /* loss of one prediction per sample; or */
    /* loss of k predictions; or both NULL, for losses of a single algorithm */
    const vxs_joint_loss *joint;
    /* the value, and both derivatives of all samples, in one pass; NULL: one after the other */
    double (*expand)(const struct vxs_loss *loss, const double *z, double *gradient,
                     double *curvature);
} vxs_loss_kind;

/* What a wrong output costs. An output says who is positive: with a positives found and b falsely
 * called so, of n+ and n- there are. */
typedef struct vxs_measure_kind vxs_measure_kind;
enum { VXS_TOP_NUMBER, VXS_TOP_SHARE, VXS_TOP_POSITIVES };
typedef struct {
    const vxs_measure_kind *kind;
    double number; /* beta of fbeta; of top: how many are called positive, */
    int unit;      /* VXS_TOP_...: a number, a share of the samples, or times n+ */
} vxs_output_measure;
/* Reads "error", "balanced", "f1", "fbeta:2", "gmean", "top:20", "top:10%", "top:2p", "breakeven"
 * or "roc". */
VXS_MUST_CHECK vxs_status vxs_measure_read(const char *text, vxs_output_measure *measure,
                                           vxs_error *err);

/* A loss kind with its data, which it borrows. */
typedef struct vxs_loss {
    const vxs_loss_kind *kind;
    size_t n, k;      /* samples; predictions per sample, 0 and 1 both meaning one */
    const double *y;  /* n: targets */
    const double *u;  /* n: nonnegative weights; NULL: all 1 */
    double threshold; /* if the kind has one */
    const vxs_output_measure *measure; /* of vxs_measure_loss */
} vxs_loss;

extern const vxs_loss_kind vxs_squared_loss; /* (y - z)^2 / 2 */
/* Huber: (y - z)^2 / 2 up to |y - z| = threshold, linear beyond */
extern const vxs_loss_kind vxs_huber_loss;
extern const vxs_loss_kind vxs_logistic_loss;      /* log(1 + exp(-y z)), y being -1 or 1 */
extern const vxs_loss_kind vxs_squared_hinge_loss; /* max(0, 1 - y z)^2 / 2, y being -1 or 1 */
/* max(0, y - z): y is a margin, the design includes the classes */
extern const vxs_loss_kind vxs_hinge_loss;
extern const vxs_loss_kind vxs_margin_loss; /* max(0, 1 - y z), y being -1 or 1: that of the SVM */
/* max(0, |y - z| - threshold): that of support vector regression */
extern const vxs_loss_kind vxs_epsilon_loss;
/* max over outputs v of cost(v) + (v - r)'z, r the truth: a convex bound of a measure of all
 * samples at once, y being -1 or 1 */
extern const vxs_loss_kind vxs_measure_loss;
/* log sum over classes c of exp(z_c) - z_y: y is the index of a class */
extern const vxs_loss_kind vxs_multinomial_loss;

/* n x k, column-major: predictions, and everything derived from them */
static inline size_t vxs_loss_outputs(const vxs_loss *loss)
{
    return loss->k > 1 ? loss->k : 1;
}
/* u_i */
static inline double vxs_loss_weight(const vxs_loss *loss, size_t i)
{
    return loss->u ? loss->u[i] : 1;
}
/* NAN without kind, y or z, and with a y that is no class. */
double vxs_loss_value(const vxs_loss *loss, const double *z);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
