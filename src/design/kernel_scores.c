/* kernel_scores.c - what each feature's kernel says of the labels, as columns.
 *
 * With L = H y y' H and yt = H y, L's rows times a centred kernel's come down to yt .* (H K yt):
 * n numbers a feature in the place of n^2, and their sum is HSIC, trace(K H L H). Where rows of the
 * base have weights, H takes weighted means, and the sums in K yt are weighted. */
#include "design/design.h"
#include "design/gauss.h"
#include "design/storage.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_MEMORY ((size_t)1 << 31)
/* Columns that are fetched at a time: at most so many, and about 4 MB of them. Threads wait for
 * each other after each block, which takes long where other programs run, so blocks are large. */
#define MOST_COLUMNS ((size_t)4096)
#define BLOCK_VALUES ((size_t)1 << 19)

typedef struct {
    vxs_design design; /* whose base is the dense design over what was made */
    vxs_design *made_of;
    bool shared;
    vxs_storage storage;
    double *bandwidths;
} scores;

/* ---- Making columns -------------------------------------------------------------------------- */

typedef struct {
    vxs_gauss_room gauss;
    double *sums, *room;
} bench;

typedef struct {
    scores *made;
    double *yt;     /* n */
    double *q;      /* n: yt by the weights of rows */
    size_t columns; /* of a block */
    double *block;  /* n x columns, of the base */
    size_t *set;    /* which these are */
    bench *benches; /* one a thread */
    int threads;
} maker;

static void centre(const vxs_design *base, double *values)
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
}

static void make_column(const maker *m, bench *b, size_t j, const double *x)
{
    size_t n = m->made->design.n;
    float *column = m->made->storage.values + j * n;
    double *bandwidth = &m->made->bandwidths[j];
    *bandwidth = vxs_bandwidth_of(x, n, *bandwidth, b->room);
    if (!vxs_varies(x, n)) {
        memset(column, 0, n * sizeof(*column));
        return;
    }
    vxs_gauss_sums_in(&b->gauss, x, m->q, n, x, n, *bandwidth, b->sums);
    centre(m->made->made_of, b->sums);
    for (size_t i = 0; i < n; i++)
        column[i] = (float)(m->yt[i] * b->sums[i]);
}

static vxs_status make_columns(const vxs_context *context, const maker *m, vxs_error *err)
{
    size_t n = m->made->design.n, p = m->made->design.p;
    vxs_progress progress;
    vxs_status status = VXS_OK;
    vxs_progress_start(&progress, context, "scoring kernels", "features", p);
    for (size_t first = 0; first < p && !status; first += m->columns) {
        size_t count = p - first < m->columns ? p - first : m->columns;
        for (size_t k = 0; k < count; k++)
            m->set[k] = first + k;
        vxs_design_fetch(m->made->made_of, m->set, count, m->block);
#pragma omp parallel for num_threads(m->threads) schedule(dynamic, 8)
        for (size_t k = 0; k < count; k++)
            make_column(m, &m->benches[omp_get_thread_num()], first + k, m->block + k * n);
        status = vxs_progress_step(&progress, count, err);
    }
    return status;
}

static vxs_status set_up(maker *m, const double *y, vxs_error *err)
{
    size_t n = m->made->design.n, wanted = BLOCK_VALUES / (n + 1) + 1;
    m->columns = wanted < MOST_COLUMNS ? wanted : MOST_COLUMNS;
    m->benches = vxs_alloc((size_t)m->threads, sizeof(*m->benches), err);
    m->yt = m->benches ? vxs_alloc(n, sizeof(*m->yt), err) : NULL;
    m->q = m->yt ? vxs_alloc(n, sizeof(*m->q), err) : NULL;
    m->set = m->q ? vxs_alloc(m->columns, sizeof(*m->set), err) : NULL;
    m->block = m->set ? vxs_alloc(m->columns, vxs_times(n, sizeof(*m->block)), err) : NULL;
    if (!m->block)
        return VXS_FAILED;
    memcpy(m->yt, y, n * sizeof(*y));
    centre(m->made->made_of, m->yt);
    const double *u = m->made->made_of->weights;
    for (size_t i = 0; i < n; i++)
        m->q[i] = u ? u[i] * m->yt[i] : m->yt[i];
    for (int t = 0; t < m->threads; t++) {
        bench *b = &m->benches[t];
        b->sums = vxs_alloc(1 + VXS_BANDWIDTH_ROOM, vxs_times(n, sizeof(*b->sums)), err);
        if (!b->sums || vxs_gauss_room_init(&b->gauss, n, n, err))
            return VXS_FAILED;
        b->room = b->sums + n;
    }
    return VXS_OK;
}

static void clear_up(maker *m)
{
    for (int t = 0; t < m->threads && m->benches; t++) {
        free(m->benches[t].sums);
        vxs_gauss_room_release(&m->benches[t].gauss);
    }
    free(m->benches);
    free(m->yt);
    free(m->q);
    free(m->set);
    free(m->block);
}

/* ---- A dense design with something beside it ------------------------------------------------- */

static void scan(vxs_design *design, const double *v, size_t k, double *s)
{
    vxs_design_scan(design->base, v, k, s);
}

static void release(vxs_design *design)
{
    scores *s = (scores *)design;
    if (!s->shared)
        vxs_design_free(s->made_of);
    vxs_design_free(design->base);
    vxs_storage_release(&s->storage);
    free(s->bandwidths);
}

static const vxs_design_kind kind = {
    .scan = scan,
    .scan_some = vxs_pass_scan_some,
    .fetch = vxs_pass_fetch,
    .measure = vxs_measure_by_moments,
    .moments = vxs_pass_moments,
    .release = release,
};

/* ---- The whole ------------------------------------------------------------------------------- */

static vxs_status make(const vxs_context *context, scores *made, const double *y, double bandwidth,
                       size_t memory, vxs_error *err)
{
    size_t n = made->design.n, p = made->design.p;
    maker m = { .made = made, .threads = made->design.nthreads };
    if (!(bandwidth >= 0))
        return vxs_fail(err, VXS_MISUSE, "a bandwidth must be above 0, not %g", bandwidth);
    vxs_status status = vxs_design_measure(made->made_of, err);
    if (status)
        return status;
    made->bandwidths = vxs_alloc(p, sizeof(*made->bandwidths), err);
    if (!made->bandwidths)
        return VXS_FAILED;
    for (size_t j = 0; j < p; j++)
        made->bandwidths[j] = bandwidth;
    status = vxs_storage_init(&made->storage, n, p, memory ? memory : DEFAULT_MEMORY,
                              "kernel scores", err);
    if (!status)
        status = set_up(&m, y, err);
    if (!status)
        status = make_columns(context, &m, err);
    clear_up(&m);
    return status ? status
                  : vxs_dense_new(made->storage.values, n, p, made->design.nthreads,
                                  &made->design.base, err);
}

static vxs_status check_targets(const vxs_design *base, const double *y, vxs_error *err)
{
    if (!base || !y)
        return vxs_fail(err, VXS_MISUSE, "kernel scores have no %s", base ? "y" : "base");
    for (size_t i = 0; i < base->n; i++)
        if (!(fabs(y[i]) <= VXS_LARGEST))
            return vxs_fail(err, VXS_BAD_DATA,
                            "y of sample %zu is %g; kernel scores take numbers of at most %g", i,
                            y[i], VXS_LARGEST);
    return VXS_OK;
}

vxs_status vxs_scores_new(const vxs_context *context, vxs_design *base, bool shared,
                          const double *y, double bandwidth, size_t memory, vxs_design **design,
                          vxs_error *err)
{
    vxs_status status = check_targets(base, y, err);
    scores *made = status ? NULL : vxs_alloc(1, sizeof(*made), err);
    if (!made) {
        if (!shared)
            vxs_design_free(base);
        return status ? status : VXS_FAILED;
    }
    made->design =
        (vxs_design){ .kind = &kind, .n = base->n, .p = base->p, .nthreads = base->nthreads };
    made->made_of = base;
    made->shared = shared;
    status = make(context, made, y, bandwidth, memory, err);
    if (status) {
        vxs_design_free(&made->design);
        return status;
    }
    *design = &made->design;
    return VXS_OK;
}

const double *vxs_scores_bandwidths(const vxs_design *design)
{
    return ((const scores *)design)->bandwidths;
}
