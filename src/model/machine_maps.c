/* machine_maps.c - the gradient of a machine's score at its training subjects, whose mean is a map
 * and whose root mean square says how much the score depends on a feature.
 *
 * At subject i it is X'g, g_l = a_l s_li without l = i, which has minus the sum of all where the
 * kernel is a function of the distance; s is the slope of the kernel of subjects l and i. That of
 * the Gaussian kernel is a multiple of its value, so that products with the kernel matrix give
 * both maps. */
#include "model/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 256 /* of a block */

static double share_of(const vxs_task *t, size_t i, double total)
{
    return vxs_task_weight(t, i) / total;
}

/* ---- The Gaussian kernel --------------------------------------------------------------------- */

static double slope_of(const vxs_machine *m)
{
    return 2 * m->kernel.gamma / m->kernel.scale;
}

/* f = K a, the values of the training subjects, and K u for their shares u of all. */
static vxs_status find_values(const vxs_machine *m, vxs_design *design, const vxs_task *t,
                              double *f, vxs_error *err)
{
    size_t n = m->n;
    double *v = vxs_alloc(2 * n, sizeof(*v), err), total = vxs_task_total(t);
    if (!v)
        return VXS_FAILED;
    for (size_t i = 0; i < n; i++) {
        v[i] = m->weight[i];
        v[n + i] = share_of(t, i, total);
    }
    vxs_design_scan(design, v, 2, f);
    free(v);
    return VXS_OK;
}

static vxs_status weigh_by_values(const vxs_machine *m, vxs_design *design, const vxs_task *t,
                                  double *v, vxs_error *err)
{
    size_t n = m->n;
    double *f = vxs_alloc(2 * n, sizeof(*f), err), total = vxs_task_total(t);
    vxs_status status = f ? find_values(m, design, t, f, err) : VXS_FAILED;
    for (size_t l = 0; l < n && !status; l++)
        v[l] = slope_of(m) * (m->weight[l] * f[n + l] - share_of(t, l, total) * f[l]);
    free(f);
    return status;
}

typedef struct {
    const vxs_task *task;
    vxs_machine *machine;
    vxs_design *kernel;
    const double *f;
    double *x, *weighted, *products; /* of a block: n x COLUMNS */
} sensitivity;

/* Columns x of the features become K (a o x) - f o x, gradients by a feature at each subject. */
static void measure_block(const sensitivity *s, size_t first, size_t count)
{
    const size_t n = s->machine->n;
    const double total = vxs_task_total(s->task);
    size_t set[COLUMNS];
    for (size_t j = 0; j < count; j++)
        set[j] = first + j;
    vxs_design_fetch(s->task->design, set, count, s->x);
    for (size_t k = 0; k < n * count; k++)
        s->weighted[k] = s->machine->weight[k % n] * s->x[k];
    vxs_design_scan(s->kernel, s->weighted, count, s->products);
    for (size_t j = 0; j < count; j++) {
        double square = 0;
        for (size_t i = 0; i < n; i++) {
            double g = s->products[j * n + i] - s->f[i] * s->x[j * n + i];
            square += share_of(s->task, i, total) * g * g;
        }
        s->machine->sensitivity[first + j] = slope_of(s->machine) * sqrt(square);
    }
}

static vxs_status measure_by_values(vxs_machine *m, vxs_design *design, const vxs_task *t,
                                    vxs_error *err)
{
    size_t n = m->n, p = t->cohort->p, columns = p < COLUMNS ? p : COLUMNS;
    double *space = vxs_alloc(3 * columns + 2, vxs_times(n, sizeof(*space)), err);
    if (!space)
        return VXS_FAILED;
    double *f = space + 3 * columns * n;
    const sensitivity s = { .task = t,
                            .machine = m,
                            .kernel = design,
                            .f = f,
                            .x = space,
                            .weighted = space + columns * n,
                            .products = space + 2 * columns * n };
    vxs_status status = find_values(m, design, t, f, err);
    for (size_t first = 0; first < p && !status; first += columns)
        measure_block(&s, first, p - first < columns ? p - first : columns);
    free(space);
    return status;
}

/* ---- Other kernels --------------------------------------------------------------------------- */

static void weigh_gradient(const vxs_machine *m, const vxs_residual_products *r, size_t i,
                           double *z, double *g)
{
    (void)vxs_residual_products_trained(r, i, z, g);
    for (size_t l = 0; l < m->n; l++)
        g[l] = m->weight[l] * vxs_kernel_slope(&m->kernel, g[l], 0, 0);
}

static vxs_status weigh_by_slopes(const vxs_machine *m, const vxs_residual_products *r,
                                  const vxs_task *t, double *v, vxs_error *err)
{
    size_t n = m->n;
    double *g = vxs_alloc(n, sizeof(*g), err), total = vxs_task_total(t);
    double *z = vxs_alloc(4 * (r->columns + 1), sizeof(*z), err);
    vxs_status status = g && z ? VXS_OK : VXS_FAILED;
    memset(v, 0, n * sizeof(*v));
    for (size_t i = 0; i < n && !status; i++) {
        weigh_gradient(m, r, i, z, g);
        for (size_t l = 0; l < n; l++)
            v[l] += g[l] * share_of(t, i, total);
    }
    free(g);
    free(z);
    return status;
}

static vxs_status measure_by_slopes(vxs_machine *m, const vxs_residual_products *r,
                                    const vxs_task *t, vxs_error *err)
{
    size_t n = m->n;
    double *g = vxs_alloc(n, vxs_times(n, sizeof(*g)), err), total = vxs_task_total(t);
    double *z = vxs_alloc(4 * (r->columns + 1), sizeof(*z), err);
    vxs_status status = g && z ? VXS_OK : VXS_FAILED;
    for (size_t i = 0; i < n && !status; i++) {
        weigh_gradient(m, r, i, z, g + i * n);
        for (size_t l = 0; l < n; l++)
            g[i * n + l] *= sqrt(share_of(t, i, total));
    }
    if (!status)
        status = vxs_design_scan_lengths(t->design, g, n, m->sensitivity, err);
    free(g);
    free(z);
    return status;
}

/* ---- Maps ------------------------------------------------------------------------------------ */

vxs_status vxs_machine_gradient(const vxs_machine *m, const vxs_residual_products *r,
                                vxs_design *design, const vxs_task *t, double *v, vxs_error *err)
{
    return m->kernel.kind == VXS_KERNEL_RBF ? weigh_by_values(m, design, t, v, err)
                                            : weigh_by_slopes(m, r, t, v, err);
}

vxs_status vxs_machine_sensitivity(vxs_machine *m, const vxs_residual_products *r,
                                   vxs_design *design, const vxs_task *t, vxs_error *err)
{
    size_t p = t->cohort->p;
    m->sensitivity = vxs_alloc(p, sizeof(*m->sensitivity), err);
    if (!m->sensitivity)
        return VXS_FAILED;
    vxs_status status = m->kernel.kind == VXS_KERNEL_RBF ? measure_by_values(m, design, t, err)
                                                         : measure_by_slopes(m, r, t, err);
    const double *factor = status ? NULL : vxs_view_factor(t->design);
    for (size_t j = 0; j < p && factor; j++)
        m->sensitivity[j] *= factor[j];
    return status;
}
