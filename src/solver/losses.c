/* losses.c - losses of all samples, of one output or of one for each class. */
#include "solver/loss.h"

#include <math.h>

#define ROUNDING 1e-12

static size_t rows_of(const vxs_problem *problem)
{
    return vxs_design_rows(problem->design);
}

/* ---- Multinomial: one sample ----------------------------------------------------------------- */

/* log sum exp(z), less z of the class that it is of: what is small beside 1 is not lost. */
static double multinomial(const double *z, size_t classes, size_t n, size_t y)
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

/* sum t log t, t = s / u + 1 for the class that it is of. */
static double entropy_of(const double *s, size_t classes, size_t n, size_t y, double u)
{
    double sum = 0, whole = 0;
    for (size_t c = 0; c < classes; c++) {
        double t = s[c * n] / u + (c == y);
        if (t < -ROUNDING || t > 1 + ROUNDING)
            return INFINITY;
        sum += t > 0 ? t * log(t) : 0;
        whole += t;
    }
    return fabs(whole - 1) <= ROUNDING * (double)classes ? u * sum : INFINITY;
}

/* ---- All samples ----------------------------------------------------------------------------- */

double vxs_losses_value(const vxs_problem *problem, const double *z)
{
    size_t n = rows_of(problem), classes = vxs_classes_of(problem);
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double y = problem->y[i];
        double f = classes > 1 ? multinomial(z + i, classes, n, (size_t)y)
                               : vxs_loss_of(problem->loss)->value(z[i], y);
        sum += vxs_sample_weight(problem, i) * f;
    }
    return sum;
}

void vxs_losses_slope(const vxs_problem *problem, const double *z, double *slope)
{
    size_t n = rows_of(problem), classes = vxs_classes_of(problem);
    if (classes > 1)
        vxs_losses_curvature(problem, z, slope);
    for (size_t i = 0; i < n; i++) {
        double u = vxs_sample_weight(problem, i);
        if (classes == 1)
            slope[i] = u * vxs_loss_of(problem->loss)->slope(z[i], problem->y[i]);
        double others = 0; /* that of the own class is not share - 1, which loses what is small */
        for (size_t c = 0; c < classes && classes > 1; c++) {
            others += (double)c == problem->y[i] ? 0 : slope[c * n + i];
            slope[c * n + i] *= u;
        }
        if (classes > 1)
            slope[(size_t)problem->y[i] * n + i] = -u * others;
    }
}

void vxs_losses_curvature(const vxs_problem *problem, const double *z, double *curvature)
{
    size_t n = rows_of(problem), classes = vxs_classes_of(problem);
    for (size_t i = 0; i < n; i++) {
        double u = vxs_sample_weight(problem, i);
        if (classes == 1)
            curvature[i] = u * vxs_loss_of(problem->loss)->curvature(z[i], problem->y[i]);
        else
            find_shares(z + i, classes, n, curvature + i);
    }
}

double vxs_losses_conjugate(const vxs_problem *problem, const double *s)
{
    size_t n = rows_of(problem), classes = vxs_classes_of(problem);
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double u = vxs_sample_weight(problem, i), y = problem->y[i];
        if (u == 0) /* s is 0 there, as it comes from u f' */
            continue;
        sum += classes > 1 ? entropy_of(s + i, classes, n, (size_t)y, u)
                           : u * vxs_loss_of(problem->loss)->conjugate(s[i] / u, y);
    }
    return sum;
}

/* ---- The edge of the domain ------------------------------------------------------------------ */

/* The share of the way from t to `there`, which is between 0 and 1, that brings t there as well. */
static double way_back(double t, double there)
{
    double over = t < 0 ? t : t > 1 ? t - 1 : 0;
    return fabs(over) > ROUNDING / 10 ? over / (t - there) : 0;
}

double vxs_losses_outside(const vxs_problem *problem, const double *s, const double *inside)
{
    size_t n = rows_of(problem), classes = vxs_classes_of(problem);
    double share = 0;
    if (problem->loss == VXS_LOSS_SQUARED)
        return 0;
    for (size_t i = 0; i < n; i++) {
        double u = vxs_sample_weight(problem, i), y = problem->y[i];
        for (size_t c = 0; c < classes && u > 0; c++) {
            double here = s[c * n + i] / u, there = inside[c * n + i] / u;
            double own = classes > 1 ? (y == (double)c) : 0, turn = classes > 1 ? 1 : -y;
            share = fmax(share, way_back(turn * here + own, turn * there + own));
        }
    }
    return fmin(share, 1);
}
