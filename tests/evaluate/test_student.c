/* Student's t: closed forms, quantiles, and a metric alone beside all of them. */
#include "evaluate/evaluate.h"

#include <criterion/criterion.h>
#include <math.h>

static const double ts[] = { 0, 1e-8, 0.1, 0.5, 1, 2, 5, 20, 1e3, 1e8 };
#define TS (sizeof(ts) / sizeof(ts[0]))

/* Of one degree of freedom t has Cauchy's distribution; of two its p is 1 - t / sqrt(t^2 + 2). */
Test(student, closed_forms)
{
    for (size_t k = 0; k < TS; k++) {
        double t = ts[k], one = 2 / M_PI * atan2(1, t), two = 2 / (t * t + 2 + t * sqrt(t * t + 2));
        cr_assert(fabs(vxs_student_p(t, 1) - one) <= 1e-12 * one + 1e-15, "%g: %g", t, one);
        cr_assert(fabs(vxs_student_p(t, 2) - two) <= 1e-12 * two + 1e-15, "%g: %g", t, two);
        cr_assert(vxs_student_p(t, 7) == vxs_student_p(-t, 7));
    }
    cr_assert(vxs_student_p(3, 0) == 1);
}

/* A correlation of n pairs is a t of n - 2 degrees of freedom. */
Test(student, of_correlations)
{
    for (double r = -0.9; r < 1; r += 0.3)
        for (size_t n = 4; n < 40; n += 7) {
            double t = r * sqrt(((double)n - 2) / (1 - r * r));
            cr_assert(fabs(vxs_correlation_p(r, n) - vxs_student_p(t, (double)n - 2)) < 1e-12);
        }
}

Test(student, quantiles)
{
    for (double df = 1; df < 200; df *= 3)
        for (double p = 1e-6; p < 1; p *= 3) {
            double t = vxs_student_quantile(p, df);
            cr_assert(fabs(vxs_student_p(t, df) - p) <= 1e-9 * p, "%g of %g: %g", p, df, t);
        }
}

/* Whichever metric is asked for alone, it is that of all. */
Test(metrics, one_alone)
{
    const double truth[] = { 0, 1, 0, 1, 1, 0, 1, 0, 0, 1 },
                 two[] = { -1, 0.5, 0.2, 2, -0.3, -2, 1, 0.4, -0.7, 0.1 },
                 three[] = { 0, 1, 2, 2, 1, 0, 2, 0, 1, 1 };
    const size_t fold[] = { 0, 0, 0, 0, 0, 1, 1, 1, 1, 1 };
    double each[30];
    for (size_t k = 0; k < 30; k++)
        each[k] = sin(7.0 * (double)k);
    for (size_t classes = 0; classes < 4; classes++) {
        vxs_predictions p = { .n = 10,
                              .class_count = classes == 1 ? 0 : classes,
                              .fold = fold,
                              .fold_count = 2,
                              .truth = classes > 2 ? three : truth,
                              .scores = classes > 2 ? each : two };
        vxs_metrics all, one;
        cr_assert(vxs_measure(&p, &all, NULL) == VXS_OK);
        for (const vxs_metric_row *row = vxs_metric_rows; row->name; row++) {
            p.only = row;
            cr_assert(vxs_measure(&p, &one, NULL) == VXS_OK);
            double a = *vxs_metric(&all, row), b = *vxs_metric(&one, row);
            cr_assert((isnan(a) && isnan(b)) || a == b, "%s: %g and %g", row->name, a, b);
        }
    }
}
