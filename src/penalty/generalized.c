/* generalized.c - the penalty of the generalized lasso: |Dw|_1. */
#include "voxsift/internal/penalty.h"

#include <math.h>

vxs_generalized vxs_generalized_of(const vxs_analysis *terms)
{
    return (vxs_generalized){ { &vxs_generalized_penalty }, terms };
}

static vxs_status check(const vxs_penalty *penalty, const vxs_design *design, bool some,
                        vxs_error *err)
{
    const vxs_analysis *t = vxs_as_generalized(penalty)->terms;
    size_t p = vxs_design_columns(design);
    if (!t)
        return vxs_fail(err, VXS_MISUSE, "the generalized penalty has no analysis operator");
    if (t->columns != p)
        return vxs_fail(err, VXS_MISUSE, "the analysis operator has %zu columns, the design %zu",
                        t->columns, p);
    if (t->count > 0 && (!t->starts || !t->index || !t->value))
        return vxs_fail(err, VXS_MISUSE, "the analysis operator has %zu rows, but no values",
                        t->count);
    if (some && t->count == 0)
        return vxs_fail(err, VXS_BAD_DATA, "the analysis operator has no rows");
    for (size_t k = 0; k < t->count; k++)
        if (t->starts[k] > t->starts[k + 1])
            return vxs_fail(err, VXS_MISUSE,
                            "row %zu of the analysis operator ends before it begins", k);
    for (size_t e = t->count > 0 ? t->starts[0] : 0; t->count > 0 && e < t->starts[t->count]; e++)
        if (t->index[e] >= p || !(fabs(t->value[e]) <= VXS_LARGEST))
            return vxs_fail(err, VXS_BAD_DATA,
                            "the analysis operator has the value %g in column %zu of %zu",
                            t->value[e], t->index[e], p);
    return VXS_OK;
}

static double value(const vxs_penalty *penalty, const double *w, size_t p)
{
    const vxs_analysis *t = vxs_as_generalized(penalty)->terms;
    double all = 0;
    (void)p;
    for (size_t k = 0; k < t->count; k++) {
        double sum = 0;
        for (size_t e = t->starts[k]; e < t->starts[k + 1]; e++)
            sum += t->value[e] * w[t->index[e]];
        all += fabs(sum);
    }
    return all;
}

const vxs_penalty_kind vxs_generalized_penalty = { .name = "a generalized penalty",
                                                   .check = check,
                                                   .value = value };
