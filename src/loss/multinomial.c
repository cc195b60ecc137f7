/* multinomial.c - log sum over classes c of exp(z_c) - z_y, where y is the index of the class. */
#include "loss/conjugate_domain.h"

/* ---- One sample ------------------------------------------------------------------------------ */

/* log sum exp(z) - z_y; log1p keeps terms that are small relative to 1. */
static double sample_value(const double *z, size_t classes, size_t n, size_t y)
{
    size_t top = 0;
    double others = 0;
    for (size_t c = 1; c < classes; c++)
        top = z[c * n] > z[top * n] ? c : top;
    for (size_t c = 0; c < classes; c++)
        others += c == top ? 0 : exp(z[c * n] - z[top * n]);
    return z[top * n] - z[y * n] + log1p(others);
}

/* softmax: exp(z) / sum exp(z) */
static void softmax(const double *z, size_t classes, size_t n, double *probability)
{
    double largest = z[0], sum = 0;
    for (size_t c = 1; c < classes; c++)
        largest = fmax(largest, z[c * n]);
    for (size_t c = 0; c < classes; c++) {
        probability[c * n] = exp(z[c * n] - largest);
        sum += probability[c * n];
    }
    for (size_t c = 0; c < classes; c++)
        probability[c * n] /= sum;
}

/* Negative entropy sum t log t, where t = s / u + 1 for the class of the sample and s / u for the
 * others. */
static double sample_entropy(const double *s, size_t classes, size_t n, size_t y, double u)
{
    double sum = 0, total = 0;
    for (size_t c = 0; c < classes; c++) {
        double t = s[c * n] / u + (c == y);
        if (t < -VXS_DOMAIN_TOLERANCE || t > 1 + VXS_DOMAIN_TOLERANCE)
            return INFINITY;
        sum += t > 0 ? t * log(t) : 0;
        total += t;
    }
    return fabs(total - 1) <= VXS_DOMAIN_TOLERANCE * (double)classes ? u * sum : INFINITY;
}

/* ---- All samples ----------------------------------------------------------------------------- */

static bool is_class(const vxs_loss *l, double y)
{
    return y >= 0 && y < (double)l->k && y == floor(y);
}

/* NaN with a y that is no class: programs call this without a problem that was checked. */
static double value(const vxs_loss *l, const double *z)
{
    double sum = 0;
    for (size_t i = 0; i < l->n; i++)
        sum += !is_class(l, l->y[i])
                   ? NAN
                   : vxs_loss_weight(l, i) * sample_value(z + i, l->k, l->n, (size_t)l->y[i]);
    return sum;
}

static void curvature(const vxs_loss *l, const double *z, double *probability)
{
    for (size_t i = 0; i < l->n; i++)
        softmax(z + i, l->k, l->n, probability + i);
}

/* The gradient at the class of the sample is the negative sum of the others: p_y - 1 would
 * cancel. */
static void gradient(const vxs_loss *l, const double *z, double *out)
{
    curvature(l, z, out);
    for (size_t i = 0; i < l->n; i++) {
        double u = vxs_loss_weight(l, i), others = 0;
        for (size_t c = 0; c < l->k; c++) {
            others += (double)c == l->y[i] ? 0 : out[c * l->n + i];
            out[c * l->n + i] *= u;
        }
        out[(size_t)l->y[i] * l->n + i] = -u * others;
    }
}

static double conjugate(const vxs_loss *l, const double *s)
{
    double sum = 0;
    for (size_t i = 0; i < l->n; i++) {
        double u = vxs_loss_weight(l, i);
        sum += u == 0 ? 0 : sample_entropy(s + i, l->k, l->n, (size_t)l->y[i], u);
    }
    return sum;
}

static double outside(const vxs_loss *l, const double *s, const double *inside)
{
    double fraction = 0;
    for (size_t i = 0; i < l->n; i++) {
        double u = vxs_loss_weight(l, i);
        for (size_t c = 0; c < l->k && u > 0; c++) {
            double own = l->y[i] == (double)c;
            fraction =
                fmax(fraction, vxs_distance_to_interval(s[c * l->n + i] / u + own,
                                                        inside[c * l->n + i] / u + own, 0, 1));
        }
    }
    return fmin(fraction, 1);
}

static const vxs_joint_loss joint = { value, gradient, curvature, conjugate, outside };

const vxs_loss_kind vxs_multinomial_loss = { .name = "multinomial",
                                             .targets = "numbers of classes, from 0",
                                             .is_target = is_class,
                                             .joint = &joint };
