/* student.c - p values of Student's t. */
#include "evaluate/evaluate.h"

#include <math.h>

/* The continued fraction of the incomplete beta function (Lentz). */
static double fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double h = d;
    for (int m = 1; m < 500; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        for (int k = 0; k < 2; k++) {
            double term = k ? odd : even;
            d = 1 + term * d;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = 1 + term / c;
            c = fabs(c) < tiny ? tiny : c;
            h *= c * d;
        }
        if (fabs(c * d - 1) < 1e-15)
            break;
    }
    return h;
}

static double incomplete_beta(double a, double b, double x)
{
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    return x < (a + 1) / (a + b + 2) ? front * fraction(a, b, x) / a
                                     : 1 - front * fraction(b, a, 1 - x) / b;
}

double vxs_student_p(double t, double df)
{
    if (!(df > 0))
        return 1;
    return t * t < df ? 1 - incomplete_beta(0.5, df / 2, t * t / (df + t * t))
                      : incomplete_beta(df / 2, 0.5, df / (df + t * t));
}

double vxs_student_quantile(double p, double df)
{
    double low = 0, high = 1;
    while (high < 1e300 && vxs_student_p(high, df) > p)
        high *= 2;
    for (int step = 0; step < 200 && low < high; step++) {
        double middle = low + (high - low) / 2;
        if (vxs_student_p(middle, df) > p)
            low = middle;
        else
            high = middle;
    }
    return high;
}

double vxs_correlation_p(double r, size_t n)
{
    double df = (double)n - 2;
    return df > 0 ? incomplete_beta(df / 2, 0.5, 1 - r * r) : 1;
}
