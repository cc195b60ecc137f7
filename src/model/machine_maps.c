/* machine_maps.c - the gradient of a machine's score at its training subjects, whose mean is a map
 * and whose root mean square says how much the score depends on a feature.
 *
 * At subject i it is X'g, g_l = a_l s_li, without the sum of these for l = i where the kernel is a
 * function of the distance; s, the slope of the kernel of subjects l and i, is a kernel itself, so
 * that products with its matrix, made in tiles, give both maps. */
#include "model/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 256 /* of a block */

/* Kernels S of slopes, and the shares u of the training subjects. */
typedef struct {
    const vxs_task *task;
    vxs_machine *machine;
    const double *weight; /* n: a; 0, where there are landmarks, for all others */
    const vxs_kernel_rows *training;
    const vxs_machine *landmarks; /* whose columns of S suffice, made of features; or NULL */
    vxs_kernel_rows some;         /* of these */
    double *compact;              /* landmarks x columns */
    vxs_kernel slopes;
    double *share, *f;               /* u; S a, of functions of the distance, or 0 */
    double *x, *weighted, *products; /* of a block: n x columns */
    double *tiles;
    size_t columns;
} maps;

static void release(maps *s)
{
    vxs_kernel_rows_release(&s->some);
    free(s->compact);
    free(s->share);
    free(s->x);
    free(s->tiles);
}

/* S times k vectors that are 0 but at landmarks, where there are any. */
static void multiply(const maps *s, const double *v, size_t k, double *sums)
{
    const vxs_machine *m = s->landmarks;
    const size_t n = s->training->m;
    memset(sums, 0, n * k * sizeof(*sums));
    for (size_t c = 0; c < k && m; c++)
        for (size_t l = 0; l < m->rank; l++)
            s->compact[c * m->rank + l] = v[c * n + m->landmark[l]];
    if (m)
        vxs_kernel_add(&s->slopes, s->training, &s->some, s->compact, k, s->tiles, sums);
    else
        vxs_kernel_add(&s->slopes, s->training, s->training, v, k, s->tiles, sums);
}

/* S times the shares, at landmarks alone where there are any. */
static void multiply_shares(const maps *s, double *sums)
{
    const vxs_machine *m = s->landmarks;
    memset(sums, 0, s->training->m * sizeof(*sums));
    if (!m) {
        multiply(s, s->share, 1, sums);
        return;
    }
    memset(s->compact, 0, m->rank * sizeof(*s->compact));
    vxs_kernel_add(&s->slopes, &s->some, s->training, s->share, 1, s->tiles, s->compact);
    for (size_t l = 0; l < m->rank; l++)
        sums[m->landmark[l]] = s->compact[l];
}

static vxs_status find_columns(maps *s, const vxs_machine *m, vxs_error *err)
{
    if (!m->placed || !s->training->values)
        return VXS_OK;
    s->landmarks = m;
    s->compact = vxs_alloc(m->rank + 1, (s->columns + 1) * sizeof(*s->compact), err);
    if (!s->compact)
        return VXS_FAILED;
    return vxs_kernel_rows_some(s->training, m->landmark, m->rank, &s->some, err);
}

static vxs_status begin(const vxs_machine *m, const vxs_kernel_rows *training, const vxs_task *t,
                        maps *s, vxs_error *err)
{
    const size_t n = training->m, p = t->cohort->p, threads = (size_t)training->nthreads;
    const double total = vxs_task_total(t);
    *s = (maps){ .task = t,
                 .weight = vxs_machine_weights(m),
                 .training = training,
                 .slopes = vxs_kernel_of_slopes(&m->kernel),
                 .columns = p < COLUMNS ? p : COLUMNS };
    s->share = vxs_alloc(2 * n, sizeof(*s->share), err);
    s->x = vxs_alloc(3 * s->columns, vxs_times(n, sizeof(*s->x)), err);
    s->tiles = vxs_alloc(threads * VXS_KERNEL_TILE, VXS_KERNEL_TILE * sizeof(*s->tiles), err);
    if (!s->share || !s->x || !s->tiles || find_columns(s, m, err)) {
        release(s);
        return VXS_FAILED;
    }
    s->f = s->share + n;
    s->weighted = s->x + s->columns * n;
    s->products = s->x + 2 * s->columns * n;
    for (size_t i = 0; i < n; i++)
        s->share[i] = vxs_task_weight(t, i) / total;
    if (m->kernel.kind == VXS_KERNEL_RBF)
        multiply(s, s->weight, 1, s->f);
    return VXS_OK;
}

vxs_status vxs_machine_gradient(const vxs_machine *m, const vxs_kernel_rows *training,
                                const vxs_task *t, double *v, vxs_error *err)
{
    maps s;
    vxs_status status = begin(m, training, t, &s, err);
    if (status)
        return status;
    multiply_shares(&s, v);
    for (size_t l = 0; l < m->n; l++)
        v[l] = s.weight[l] * v[l] - s.share[l] * s.f[l];
    release(&s);
    return VXS_OK;
}

/* Columns x of the features become S (a o x) - f o x: the derivative at each subject. */
static void measure_block(const maps *s, size_t first, size_t count)
{
    const size_t n = s->machine->n;
    size_t set[COLUMNS] = { 0 };
    for (size_t j = 0; j < count; j++)
        set[j] = first + j;
    vxs_design_fetch(s->task->design, set, count, s->x);
    for (size_t k = 0; k < n * count; k++)
        s->weighted[k] = s->weight[k % n] * s->x[k];
    multiply(s, s->weighted, count, s->products);
    for (size_t j = 0; j < count; j++) {
        double square = 0;
        for (size_t i = 0; i < n; i++) {
            double g = s->products[j * n + i] - s->f[i] * s->x[j * n + i];
            square += s->share[i] * g * g;
        }
        s->machine->sensitivity[first + j] = sqrt(square);
    }
}

vxs_status vxs_machine_sensitivity(vxs_machine *m, const vxs_kernel_rows *training,
                                   const vxs_task *t, vxs_error *err)
{
    const size_t p = t->cohort->p;
    maps s;
    m->sensitivity = vxs_alloc(p, sizeof(*m->sensitivity), err);
    vxs_status status = m->sensitivity ? begin(m, training, t, &s, err) : VXS_FAILED;
    if (status)
        return status;
    s.machine = m;
    for (size_t first = 0; first < p; first += s.columns)
        measure_block(&s, first, p - first < s.columns ? p - first : s.columns);
    release(&s);
    const double *factor = vxs_view_factor(t->design);
    for (size_t j = 0; j < p && factor; j++)
        m->sensitivity[j] *= factor[j];
    return VXS_OK;
}
