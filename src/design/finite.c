/* finite.c - detects NaN and infinite values by the sums that measuring computes anyway, and names
 * them. */
#include "design/design.h"

#include <math.h>
#include <stdlib.h>

void vxs_design_set_owner(vxs_design *design, vxs_report_value refuse, const void *owner)
{
    design->refuse = refuse;
    design->owner = owner;
}

/* The design that holds the values: wrappers have the same columns. */
static const vxs_design *source_of(const vxs_design *design)
{
    while (design->base)
        design = design->base;
    return design;
}

static vxs_status refuse(const vxs_design *source, size_t column, size_t row, double value,
                         vxs_error *err)
{
    if (source->refuse)
        return source->refuse(source->owner, column, row, value, err);
    return vxs_fail(err, VXS_BAD_DATA,
                    "column %zu of the design is %g in row %zu, not a finite "
                    "number",
                    column, value, row);
}

static vxs_status refuse_column(const vxs_design *design, size_t column, vxs_error *err)
{
    vxs_design *source = (vxs_design *)source_of(design);
    double *values = vxs_alloc(source->n, sizeof(*values), err);
    vxs_status status = values ? VXS_OK : VXS_FAILED;
    if (values)
        vxs_design_fetch(source, &column, 1, values);
    for (size_t i = 0; values && i < source->n && !status; i++)
        if (!isfinite(values[i]))
            status = refuse(source, column, i, values[i], err);
    free(values);
    return status ? status
                  : vxs_fail(err, VXS_BAD_DATA,
                             "column %zu of the design is too large: the sum of its squares "
                             "overflows",
                             column);
}

vxs_status vxs_moments_check(const vxs_design *design, const vxs_moments *m, vxs_error *err)
{
    for (size_t j = 0; j < design->p; j++)
        if (!isfinite(m->sum[j]) || !isfinite(m->square[j]))
            return refuse_column(design, j, err);
    return VXS_OK;
}
