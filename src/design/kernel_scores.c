/* kernel_scores.c - per-subject terms of each feature's HSIC with the target, as columns.
 *
 * With L = H y y' H and yt = H y, the row sums of L .* (H K H) are yt .* (H K yt): n numbers per
 * feature instead of n^2, whose sum is HSIC, trace(K H L H). With row weights, H subtracts weighted
 * means and the sums in K yt are weighted. */
#include "design/design.h"
#include "design/gauss.h"
#include "design/storage.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_MEMORY ((size_t)1 << 31)
/* Columns per block: at most this many, and about 4 MB. Threads synchronize after each block, which
 * is slow on a busy machine, so blocks are large. */
#define MAX_COLUMNS  ((size_t)4096)
#define BLOCK_VALUES ((size_t)1 << 19)

typedef struct {
    vxs_design design; /* its base is the dense design over the stored scores */
    vxs_design *source;
    bool shared;
    vxs_storage storage;
    double *bandwidths, *means; /* of features; means of the sums over rows */
} scores;

/* ---- Computing the columns ------------------------------------------------------------------- */

typedef struct {
    vxs_gauss_workspace gauss;
    double *sums, *workspace;
} thread_workspace;

typedef struct {
    scores *result;
    double *yt;                          /* n */
    double *q;                           /* n: yt times the weights of rows */
    size_t columns;                      /* per block */
    double *block;                       /* n x columns, of the base */
    size_t *set;                         /* their indices */
    thread_workspace *thread_workspaces; /* one per thread */
    int threads;
} score_maker;

/* Subtracts the weighted mean, and returns it. */
static double center(const vxs_design *base, double *values)
{
    const double *u = base->weights;
    double mean = 0, total = u ? 0 : (double)base->n;
    for (size_t i = 0; i < base->n; i++) {
        mean += u ? u[i] * values[i] : values[i];
        total += u ? u[i] : 0;
    }
    mean /= total;
    for (size_t i = 0; i < base->n; i++)
        values[i] -= mean;
    return mean;
}

static void make_column(const score_maker *m, thread_workspace *b, size_t j, const double *x)
{
    size_t n = m->result->design.n;
    float *column = m->result->storage.values + j * n;
    double *bandwidth = &m->result->bandwidths[j];
    *bandwidth = vxs_bandwidth_of(x, n, *bandwidth, b->workspace);
    if (!vxs_varies(x, n)) {
        memset(column, 0, n * sizeof(*column));
        return;
    }
    vxs_gauss_sums_in(&b->gauss, x, m->q, n, x, n, *bandwidth, b->sums);
    m->result->means[j] = center(m->result->source, b->sums);
    for (size_t i = 0; i < n; i++)
        column[i] = (float)(m->yt[i] * b->sums[i]);
}

static vxs_status make_columns(const vxs_context *context, const score_maker *m, vxs_error *err)
{
    size_t n = m->result->design.n, p = m->result->design.p;
    vxs_progress progress;
    vxs_status status = VXS_OK;
    vxs_progress_start(&progress, context, "scoring kernels", "features", p);
    for (size_t first = 0; first < p && !status; first += m->columns) {
        size_t count = p - first < m->columns ? p - first : m->columns;
        for (size_t k = 0; k < count; k++)
            m->set[k] = first + k;
        vxs_design_fetch(m->result->source, m->set, count, m->block);
#pragma omp parallel for num_threads(m->threads) schedule(dynamic, 8)
        for (size_t k = 0; k < count; k++)
            make_column(m, &m->thread_workspaces[omp_get_thread_num()], first + k,
                        m->block + k * n);
        status = vxs_progress_step(&progress, count, err);
    }
    return status;
}

static vxs_status init_maker(score_maker *m, const double *y, vxs_error *err)
{
    size_t n = m->result->design.n, fitting = BLOCK_VALUES / (n + 1) + 1;
    m->columns = fitting < MAX_COLUMNS ? fitting : MAX_COLUMNS;
    m->thread_workspaces = vxs_alloc((size_t)m->threads, sizeof(*m->thread_workspaces), err);
    m->yt = m->thread_workspaces ? vxs_alloc(n, sizeof(*m->yt), err) : NULL;
    m->q = m->yt ? vxs_alloc(n, sizeof(*m->q), err) : NULL;
    m->set = m->q ? vxs_alloc(m->columns, sizeof(*m->set), err) : NULL;
    m->block = m->set ? vxs_alloc(m->columns, vxs_times(n, sizeof(*m->block)), err) : NULL;
    if (!m->block)
        return VXS_FAILED;
    memcpy(m->yt, y, n * sizeof(*y));
    (void)center(m->result->source, m->yt);
    const double *u = m->result->source->weights;
    for (size_t i = 0; i < n; i++)
        m->q[i] = u ? u[i] * m->yt[i] : m->yt[i];
    for (int t = 0; t < m->threads; t++) {
        thread_workspace *b = &m->thread_workspaces[t];
        b->sums = vxs_alloc(1 + VXS_BANDWIDTH_WORKSPACE, vxs_times(n, sizeof(*b->sums)), err);
        if (!b->sums || vxs_gauss_workspace_init(&b->gauss, n, n, err))
            return VXS_FAILED;
        b->workspace = b->sums + n;
    }
    return VXS_OK;
}

static void release_maker(score_maker *m)
{
    for (int t = 0; t < m->threads && m->thread_workspaces; t++) {
        free(m->thread_workspaces[t].sums);
        vxs_gauss_workspace_release(&m->thread_workspaces[t].gauss);
    }
    free(m->thread_workspaces);
    free(m->yt);
    free(m->q);
    free(m->set);
    free(m->block);
}

/* ---- Design functions ------------------------------------------------------------------------ */

static void scan(vxs_design *design, const double *v, size_t k, double *s)
{
    vxs_design_scan(design->base, v, k, s);
}

static void release(vxs_design *design)
{
    scores *s = (scores *)design;
    if (!s->shared)
        vxs_design_free(s->source);
    vxs_design_free(design->base);
    vxs_storage_release(&s->storage);
    free(s->bandwidths);
    free(s->means);
}

static const vxs_design_kind kind = {
    .scan = scan,
    .scan_some = vxs_forward_scan_some,
    .fetch = vxs_forward_fetch,
    .measure = vxs_measure_by_moments,
    .moments = vxs_forward_moments,
    .release = release,
};

/* ---- Constructor ----------------------------------------------------------------------------- */

static vxs_status make_scores(const vxs_context *context, scores *result, const double *y,
                              double bandwidth, size_t memory, vxs_error *err)
{
    size_t n = result->design.n, p = result->design.p;
    score_maker m = { .result = result, .threads = result->design.nthreads };
    if (!(bandwidth >= 0))
        return vxs_fail(err, VXS_MISUSE, "a bandwidth must be above 0, not %g", bandwidth);
    vxs_status status = vxs_design_measure(result->source, err);
    if (status)
        return status;
    result->bandwidths = vxs_alloc(p, sizeof(*result->bandwidths), err);
    result->means = vxs_alloc(p, sizeof(*result->means), err);
    if (!result->bandwidths || !result->means)
        return VXS_FAILED;
    for (size_t j = 0; j < p; j++)
        result->bandwidths[j] = bandwidth;
    status = vxs_storage_init(&result->storage, n, p, memory ? memory : DEFAULT_MEMORY,
                              "kernel scores", err);
    if (!status)
        status = init_maker(&m, y, err);
    if (!status)
        status = make_columns(context, &m, err);
    release_maker(&m);
    return status ? status
                  : vxs_dense_new(result->storage.values, n, p, result->design.nthreads,
                                  &result->design.base, err);
}

static vxs_status check_targets(const vxs_design *base, const double *y, vxs_error *err)
{
    for (size_t i = 0; i < base->n; i++)
        if (!(fabs(y[i]) <= VXS_LARGEST))
            return vxs_fail(err, VXS_BAD_DATA,
                            "y of sample %zu is %g; kernel scores require numbers of at most %g", i,
                            y[i], VXS_LARGEST);
    return VXS_OK;
}

vxs_status vxs_scores_new(const vxs_context *context, vxs_design *base, bool shared,
                          const double *y, double bandwidth, size_t memory, vxs_design **design,
                          vxs_error *err)
{
    vxs_status status = VXS_GIVEN(err, { "base", base }, { "y", y }, { "design", design });
    if (!status)
        status = vxs_number_check("the bandwidth", bandwidth, 0, false, err);
    if (!status)
        status = check_targets(base, y, err);
    scores *result = status ? NULL : vxs_alloc(1, sizeof(*result), err);
    if (!result) {
        if (!shared)
            vxs_design_free(base);
        return status ? status : VXS_FAILED;
    }
    result->design =
        (vxs_design){ .kind = &kind, .n = base->n, .p = base->p, .nthreads = base->nthreads };
    result->source = base;
    result->shared = shared;
    status = make_scores(context, result, y, bandwidth, memory, err);
    if (status) {
        vxs_design_free(&result->design);
        return status;
    }
    *design = &result->design;
    return VXS_OK;
}

const double *vxs_scores_bandwidths(const vxs_design *design)
{
    return ((const scores *)design)->bandwidths;
}

const double *vxs_scores_means(const vxs_design *design)
{
    return ((const scores *)design)->means;
}

const float *vxs_scores_column(const vxs_design *design, size_t feature)
{
    return ((const scores *)design)->storage.values + feature * design->n;
}
