/* multinomial.c - log sum over classes c of exp(z_c), less z_y: y is the number of a class. */
#include "loss/edges.h"

/* ---- One sample ------------------------------------------------------------------------------ */

/* log sum exp(z), less z of its own class: what is small beside 1 is not lost. */
static double value_of(const double *z, size_t classes, size_t n, size_t y)
{
    size_t top = 0;
    double others = 0;
    for (size_t c = 1; c < classes; c++)
        top = z[c * n] > z[top * n] ? c : top;
    for (size_t c = 0; c < classes; c++)
        others += c == top ? 0 : exp(z[c * n] - z[top * n]);
    return z[top * n] - z[y * n] + log1p(others);
}

/* exp(z) / sum exp(z) */
static void find_shares(const double *z, size_t classes, size_t n, double *share)
{
    double most = z[0], sum = 0;
    for (size_t c = 1; c < classes; c++)
        most = fmax(most, z[c * n]);
    for (size_t c = 0; c < classes; c++) {
        share[c * n] = exp(z[c * n] - most);
        sum += share[c * n];
    }
    for (size_t c = 0; c < classes; c++)
        share[c * n] /= sum;
}

/* sum t log t, t = s / u + 1 for its own class. */
static double entropy_of(const double *s, size_t classes, size_t n, size_t y, double u)
{
    double sum = 0, whole = 0;
    for (size_t c = 0; c < classes; c++) {
        double t = s[c * n] / u + (c == y);
        if (t < -VXS_EDGE_ROUNDING || t > 1 + VXS_EDGE_ROUNDING)
            return INFINITY;
        sum += t > 0 ? t * log(t) : 0;
        whole += t;
    }
    return fabs(whole - 1) <= VXS_EDGE_ROUNDING * (double)classes ? u * sum : INFINITY;
}

/* ---- All samples ----------------------------------------------------------------------------- */

static double value(const vxs_loss *l, const double *z)
{
    double sum = 0;
    for (size_t i = 0; i < l->n; i++)
        sum += vxs_loss_weight(l, i) * value_of(z + i, l->k, l->n, (size_t)l->y[i]);
    return sum;
}

static void curvature(const vxs_loss *l, const double *z, double *share)
{
    for (size_t i = 0; i < l->n; i++)
        find_shares(z + i, l->k, l->n, share + i);
}

/* That of the own class is not share - 1, which loses what is small. */
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
        sum += u == 0 ? 0 : entropy_of(s + i, l->k, l->n, (size_t)l->y[i], u);
    }
    return sum;
}

static double outside(const vxs_loss *l, const double *s, const double *inside)
{
    double share = 0;
    for (size_t i = 0; i < l->n; i++) {
        double u = vxs_loss_weight(l, i);
        for (size_t c = 0; c < l->k && u > 0; c++) {
            double own = l->y[i] == (double)c;
            share = fmax(share, vxs_way_back(s[c * l->n + i] / u + own,
                                             inside[c * l->n + i] / u + own, 0, 1));
        }
    }
    return fmin(share, 1);
}

static bool is_class(const vxs_loss *l, double y)
{
    return y >= 0 && y < (double)l->k && y == floor(y);
}

static const vxs_joint_loss joint = { value, gradient, curvature, conjugate, outside };

const vxs_loss_kind vxs_multinomial_loss = { .name = "multinomial",
                                             .targets = "numbers of classes, from 0",
                                             .is_target = is_class,
                                             .joint = &joint };
