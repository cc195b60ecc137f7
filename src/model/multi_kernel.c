/* multi_kernel.c - the encoder of machines with a kernel for each group of features.
 *
 * In training all is computed from inner products of subjects within each group
 * (subject_products.c). The kernels are linear, so that a solution is a weight for each feature,
 * the sum over its groups of d_g x_j'a / scale_g, and test subjects are scored by the weighted sum
 * of the products. */
#include "model/estimators.h"
#include "model/machine.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The problem ----------------------------------------------------------------------------- */

typedef struct {
    vxs_prepared head;
    const vxs_products *products;
    bool own;
    double passes;  /* made for this task; the first fit takes them over */
    double *factor; /* of the products of each group: spread / scale; 0 if they do not vary */
    vxs_design *design;
    vxs_kernel_sum norm;
} several;

static void release_several(vxs_prepared *prepared)
{
    several *m = (several *)prepared;
    vxs_design_free(m->design);
    free(m->factor);
    if (m->own)
        vxs_products_free((vxs_products *)m->products);
    free(m);
}

static const double *part(const vxs_products *products, size_t g)
{
    return products->parts + g * products->n * products->n;
}

/* Products among training subjects, and the mean of their diagonal; 0 if they do not vary. */
static vxs_status fill_kernel(const vxs_task *t, const several *m, size_t g, double *k,
                              double *scale, vxs_error *err)
{
    vxs_residual_rows residual;
    vxs_kernel_rows rows = { .m = 0 };
    const vxs_kernel products = { .kind = VXS_KERNEL_LINEAR, .scale = 1, .factor = 1 };
    vxs_kernel linear = products;
    bool varies = false;
    vxs_status status =
        vxs_residual_rows_init(t, part(m->products, g), m->products->n, false, &residual, err);
    if (!status)
        status = vxs_kernel_rows_init(&residual.products, &rows, err);
    if (!status && vxs_residual_rows_vary(&rows)) {
        vxs_kernel_fill(&products, &rows, k);
        status = vxs_kernel_scale(&linear, &rows, t->weights, &varies, err);
    }
    *scale = varies ? linear.scale : 0;
    vxs_kernel_rows_release(&rows);
    vxs_residual_rows_release(&residual);
    return status;
}

/* Each divided by its own scale, or all by the mean of their scales. */
static void scale_kernels(const vxs_task *t, const several *m, int way, double *k)
{
    double spread = vxs_machine_spread(t), mean = 0, count = 0;
    size_t groups = t->groups.count, each = t->n * t->n;
    for (size_t g = 0; g < groups; g++) {
        mean += m->factor[g];
        count += m->factor[g] > 0;
    }
    for (size_t g = 0; g < groups; g++) {
        double scale = way == VXS_SCALE_ALL ? mean / fmax(count, 1) : m->factor[g];
        m->factor[g] = m->factor[g] > 0 ? spread / scale : 0;
        double *products = k + g * each;
        for (size_t i = 0; i < each && m->factor[g] > 0; i++)
            products[i] = spread * (products[i] / scale);
    }
}

static vxs_status make_kernels(const vxs_context *context, const vxs_task *t, several *m, int way,
                               vxs_error *err)
{
    size_t groups = t->groups.count, each = t->n * t->n;
    double *k = vxs_alloc(groups, vxs_times(each, sizeof(*k)), err);
    m->factor = vxs_alloc(groups, sizeof(*m->factor), err);
    vxs_status status = k && m->factor ? VXS_OK : VXS_FAILED;
    for (size_t g = 0; g < groups && !status; g++) {
        status = fill_kernel(t, m, g, k + g * each, &m->factor[g], err);
        if (!status)
            status = vxs_check_interrupted(context, err);
    }
    if (status) {
        free(k);
        return status;
    }
    scale_kernels(t, m, way, k);
    return vxs_grams_take(k, t->n, groups, 1, &m->design, err);
}

static vxs_status make_several(const vxs_context *context, vxs_task *t,
                               const vxs_method_settings *s, vxs_error *err)
{
    several *m = t->prepared ? NULL : vxs_alloc(1, sizeof(*m), err);
    if (t->prepared || !m)
        return t->prepared ? VXS_OK : VXS_FAILED;
    m->head.release = release_several;
    t->prepared = &m->head;
    uint64_t read = vxs_design_read(t->design);
    vxs_status status = vxs_task_make_groups(context, t, s->blocks.groups, err);
    if (!status)
        status = vxs_group_products_of(context, t, &m->products, &m->own, err);
    double passes = (double)t->groups.members / (double)t->cohort->p;
    m->passes = (m->own || !t->products_shared ? passes : 0) + vxs_machine_passes(t, read);
    if (!status)
        status = make_kernels(context, t, m, s->mkl.scale, err);
    if (!status)
        m->norm = vxs_kernel_sum_of(m->design);
    return status;
}

/* The kernels of its subjects, and with `unit` products of its own. */
double vxs_several_bytes(const vxs_task *t)
{
    return (double)t->groups.count * vxs_machine_bytes(t);
}

vxs_status vxs_prepare_several(const vxs_context *context, vxs_task *t, size_t output,
                               const vxs_method_settings *settings, vxs_problem *problem,
                               vxs_error *err)
{
    (void)output;
    if (!settings->blocks.groups)
        return vxs_fail(err, VXS_MISUSE,
                        "method '%s' needs '--groups GROUPS', such as atlas:schaefer100",
                        vxs_task_method(t)->name);
    vxs_status status = make_several(context, t, settings, err);
    if (status) {
        vxs_task_unprepare(t);
        return status;
    }
    const several *m = (const several *)t->prepared;
    problem->design = m->design;
    problem->penalty = &m->norm.penalty;
    problem->loss.threshold = settings->svm.epsilon * vxs_machine_spread(t);
    problem->covariate_count = t->settings.no_intercept ? 0 : 1;
    return VXS_OK;
}

/* ---- The machine ----------------------------------------------------------------------------- */

/* The weights of kernels sum to 1, or are 0 where a constant is as good; those of subjects, the
 * dual point, are sums over kernels. */
static void take_weights(const vxs_solution *fit, vxs_machine *m)
{
    double square = 0;
    for (size_t k = 0; k < fit->count; k++)
        m->weight[fit->index[k] % m->n] += fit->weight[k];
    for (size_t i = 0; i < m->n; i++)
        square += m->weight[i] * m->weight[i];
    for (size_t k = 0; k < fit->count && square > 0 && fit->certificate.kernels > 0; k++)
        m->kernel_weight[fit->index[k] / m->n] +=
            fit->weight[k] * m->weight[fit->index[k] % m->n] / square;
}

/* The products of all rows, weighted as the kernels are. */
static vxs_status mix(const vxs_task *t, const several *s, vxs_machine *m, vxs_error *err)
{
    size_t each = s->products->n * s->products->n;
    m->mixed = vxs_alloc(each, sizeof(*m->mixed), err);
    if (!m->mixed)
        return VXS_FAILED;
    for (size_t g = 0; g < m->kernels; g++) {
        double factor = m->kernel_weight[g] * s->factor[g];
        const double *products = part(s->products, g);
        for (size_t k = 0; k < each && factor > 0; k++)
            m->mixed[k] += factor * products[k];
    }
    vxs_status status = vxs_residual_rows_init(t, m->mixed, s->products->n, false, &m->rows, err);
    m->residual = status ? NULL : &m->rows.products;
    return status;
}

static vxs_status decode(const vxs_task *t, vxs_output_fit *o, vxs_error *err)
{
    several *s = (several *)t->prepared;
    vxs_status status = vxs_machine_begin(t, &s->passes, o, err);
    vxs_machine *m = o->encoded;
    if (status)
        return status;
    m->kernels = t->groups.count;
    m->kernel_weight = vxs_alloc(m->kernels, sizeof(*m->kernel_weight), err);
    if (!m->kernel_weight)
        return VXS_FAILED;
    take_weights(&o->fit, m);
    m->kernel = (vxs_kernel){ .kind = VXS_KERNEL_LINEAR, .scale = 1, .factor = 1 };
    return mix(t, s, m, err);
}

/* Weights of features; products are for training alone. */
static vxs_status map(const vxs_task *t, vxs_output_fit *o, vxs_error *err)
{
    const several *s = (const several *)t->prepared;
    const vxs_groups *g = &t->groups;
    vxs_machine *m = o->encoded;
    uint64_t read = vxs_design_read(t->design);
    double *factor = vxs_alloc(t->cohort->p, sizeof(*factor), err);
    vxs_status status = factor ? VXS_OK : VXS_FAILED;
    for (size_t k = 0; k < g->count && !status; k++)
        for (size_t l = g->begin[k]; l < g->end[k]; l++)
            factor[g->member[l]] += m->kernel_weight[k] * s->factor[k];
    if (!status)
        status = vxs_machine_scan(t, m->weight, factor, &o->fit, err);
    free(factor);
    free(m->mixed);
    m->mixed = NULL;
    m->residual = NULL;
    if (status)
        return status;
    o->fit.certificate.passes += vxs_machine_passes(t, read);
    return vxs_unstandardize_weights(t, &o->fit, err);
}

static size_t count_weights(const vxs_machine *m)
{
    size_t count = 0;
    for (size_t g = 0; g < m->kernels; g++)
        count += m->kernel_weight[g] != 0;
    return count;
}

/* The norm of the weights of subjects in each kernel: those with a weight have the largest. If none
 * has, norms are rounding. */
static vxs_status keep(const vxs_task *t, vxs_output_fit *o, vxs_error *err)
{
    const double *k = vxs_gram_matrix(((const several *)t->prepared)->design);
    vxs_machine *m = o->encoded;
    size_t n = m->n;
    double *product = vxs_alloc(n, sizeof(*product), err), most = 0;
    m->kernel_norm = vxs_alloc(m->kernels, sizeof(*m->kernel_norm), err);
    bool none = count_weights(m) == 0;
    for (size_t g = 0; g < m->kernels && product && m->kernel_norm && !none; g++) {
        cblas_dsymv(CblasColMajor, CblasLower, (int)n, 1, k + g * n * n, (int)n, m->weight, 1, 0,
                    product, 1);
        m->kernel_norm[g] = sqrt(fmax(0, cblas_ddot((int)n, m->weight, 1, product, 1)));
        most = fmax(most, m->kernel_norm[g]);
    }
    bool room = product && m->kernel_norm;
    for (size_t g = 0; g < m->kernels && room && most > 0; g++)
        m->kernel_norm[g] /= most;
    free(product);
    return room ? VXS_OK : VXS_FAILED;
}

/* ---- For the checker ------------------------------------------------------------------------- */

/* A weight of each subject in each kernel; if no kernel has one, the dual point in all of them,
 * where it is rounding. */
static vxs_status spread(const vxs_task *t, const vxs_machine *m, vxs_solution *fit, vxs_error *err)
{
    size_t n = m->n, kernels = count_weights(m), used = 0;
    size_t count = kernels > 0 ? kernels : m->kernels;
    fit->index = vxs_alloc(count * n + 1, sizeof(*fit->index), err);
    fit->weight = vxs_alloc(count * n + 1, sizeof(*fit->weight), err);
    fit->covariate_coefficients = vxs_alloc(t->covariate_count + 1, sizeof(double), err);
    if (!fit->index || !fit->weight || !fit->covariate_coefficients)
        return VXS_FAILED;
    for (size_t k = 0; k < m->kernels * n; k++) {
        double share = kernels > 0 ? m->kernel_weight[k / n] : 1 / (double)m->kernels;
        if (share * m->weight[k % n] == 0)
            continue;
        fit->index[used] = k;
        fit->weight[used++] = share * m->weight[k % n];
    }
    fit->count = used;
    fit->certificate.kernels = kernels;
    fit->covariate_coefficients[0] = m->intercept;
    return VXS_OK;
}

/* Those of the files themselves: in a model that predicts a constant the weights of features are
 * what rounding leaves of these, and differ with the last bit of each. */
static void use_weights(const vxs_machine *m, vxs_machine *again)
{
    memcpy(again->weight, m->weight, m->n * sizeof(*m->weight));
    memcpy(again->kernel_weight, m->kernel_weight, m->kernels * sizeof(*m->kernel_weight));
}

/* The weights of subjects in each kernel, which must give the model's weights of features. */
static vxs_status encode(const vxs_task *t, const vxs_output_fit *o, vxs_solution *fit,
                         vxs_error *err)
{
    vxs_machine *m = o->encoded;
    vxs_output_fit again = { .encoder = o->encoder };
    vxs_solution made = { .count = 0 };
    if (m->n != t->n || m->kernels != t->groups.count)
        return vxs_fail(err, VXS_BAD_DATA,
                        "the model's weights are of %zu subjects and %zu groups, not of %zu and "
                        "%zu",
                        m->n, m->kernels, t->n, t->groups.count);
    vxs_status status = spread(t, m, &made, err);
    if (!status)
        status = spread(t, m, &again.fit, err);
    if (!status)
        status = decode(t, &again, err);
    if (!status) {
        use_weights(m, again.encoded);
        status = map(t, &again, err);
    }
    if (!status)
        status = vxs_machine_same_weights(&again.fit, fit, err);
    vxs_output_release(&again);
    if (status) {
        vxs_solution_release(&made);
        return status;
    }
    free(m->index);
    free(fit->weight);
    free(made.covariate_coefficients);
    fit->index = m->index = made.index;
    fit->weight = made.weight;
    fit->count = made.count;
    if (t->covariate_count > 0)
        fit->covariate_coefficients[0] = m->intercept;
    return VXS_OK;
}

static void begin(vxs_model *m, const vxs_method_settings *s)
{
    (void)s;
    m->groups = true;
}

const vxs_encoder vxs_several_encoder = { .begin = begin,
                                          .without_covariates = true,
                                          .decode = decode,
                                          .map = map,
                                          .keep = keep,
                                          .encode = encode,
                                          .score = vxs_machine_score,
                                          .release = vxs_machine_free,
                                          .files = vxs_several_files,
                                          .read = vxs_several_read };
