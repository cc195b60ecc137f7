/* low_rank.c - a kernel of low rank in place of another: K_R = LL', by a Cholesky factor that ends.
 *
 * Method    the next landmark is the sample whose kernel with itself lacks most; the column of the
 *           kernel without what the factor has of it, divided by the root of what is lacking, is
 *           the factor's next column. Of values that are equal but for rounding the first is taken
 * Is        K_nm K_mm^-1 K_mn, m the landmarks: the kernel of features projected onto the span of
 *           the landmarks' (Nystroem), so that K - K_R is positive semidefinite
 * Stops     at the rank that is asked for, or when no sample lacks more than rounding
 * Cost      one column of K a landmark, and n rank^2 / 2 products; n rank numbers are kept
 * Source    Fine and Scheinberg 2001; Bach and Jordan 2002 */
#include "design/design.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEPENDENT 1e-11 /* of the largest kernel value: a sample that others determine */
#define TIED      1e-9  /* of a value: another that is no smaller */
#define TILE      2048  /* rows */
#define VECTORS   64    /* that go together */

typedef struct {
    vxs_design design;
    vxs_low_rank low;
    size_t room;
    double *own;  /* n: K_R of a sample with itself */
    double *some; /* rank x (VECTORS + 1) */
} low_rank;

/* ---- The factor ------------------------------------------------------------------------------ */

/* Where the kernel's values are from: rows, or a matrix. */
typedef struct {
    const vxs_kernel *kernel;
    const vxs_kernel_rows *rows;
    const double *matrix; /* n x n, or NULL */
    int nthreads;
} source;

static double own_value(const source *from, size_t n, size_t i)
{
    if (from->matrix)
        return from->matrix[i * n + i];
    const double own = from->rows->own[i];
    return vxs_kernel_value(from->kernel, own, own, own);
}

static void fetch_column(const source *from, size_t n, size_t j, double *column)
{
    if (from->matrix)
        memcpy(column, from->matrix + j * n, n * sizeof(*column));
    else
        vxs_kernel_row(from->kernel, from->rows, j, column);
}

/* The first of the largest; SIZE_MAX: none is above the floor. */
static size_t find_landmark(const double *lacks, size_t n, double floor)
{
    double most = floor;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, lacks[i]);
    for (size_t i = 0; i < n && most > floor; i++)
        if (lacks[i] >= (1 - TIED) * most)
            return i;
    return SIZE_MAX;
}

/* Rows of the next column, and what their samples lack without it. */
static void add_rows(const vxs_low_rank *l, const double *before, double root, size_t first,
                     double *lacks)
{
    const int rows = (int)(l->n - first < TILE ? l->n - first : TILE);
    double *column = l->factor + l->rank * l->n + first;
    if (l->rank > 0)
        cblas_dgemv(CblasColMajor, CblasNoTrans, rows, (int)l->rank, -1, l->factor + first,
                    (int)l->n, before, 1, 1, column, 1);
    for (int i = 0; i < rows; i++) {
        column[i] /= root;
        lacks[first + (size_t)i] -= column[i] * column[i];
    }
}

/* `before`: the landmark's row of the factor. */
static void add_landmark(vxs_low_rank *l, const source *from, size_t p, double *before,
                         double *lacks)
{
    double *column = l->factor + l->rank * l->n, root = sqrt(lacks[p]);
    for (size_t k = 0; k < l->rank; k++)
        before[k] = l->factor[k * l->n + p];
    fetch_column(from, l->n, p, column);
#pragma omp parallel for num_threads(from->nthreads) schedule(static)
    for (size_t first = 0; first < l->n; first += TILE)
        add_rows(l, before, root, first, lacks);
    for (size_t k = 0; k < l->rank; k++) { /* but for rounding it is */
        column[l->landmark[k]] = 0;
        lacks[l->landmark[k]] = 0;
    }
    column[p] = root;
    lacks[p] = 0;
    l->landmark[l->rank++] = p;
}

static void measure_rest(low_rank *g, const double *lacks)
{
    vxs_low_rank *l = &g->low;
    for (size_t i = 0; i < l->n; i++) {
        l->missing += fmax(0, lacks[i]);
        l->largest = fmax(l->largest, lacks[i]);
    }
    for (size_t k = 0; k < l->rank; k++)
        for (size_t i = 0; i < l->n; i++)
            g->own[i] += l->factor[k * l->n + i] * l->factor[k * l->n + i];
}

static vxs_status factorize(const vxs_context *context, const source *from, size_t most,
                            low_rank *g, vxs_error *err)
{
    vxs_low_rank *l = &g->low;
    const size_t n = l->n;
    double largest = 0, *lacks = vxs_alloc(n + most, sizeof(*lacks), err);
    if (!lacks)
        return VXS_FAILED;
    for (size_t i = 0; i < n; i++) {
        lacks[i] = own_value(from, n, i);
        l->trace += lacks[i];
        largest = fmax(largest, lacks[i]);
    }
    vxs_status status = VXS_OK;
    while (l->rank < most && !status) {
        size_t p = find_landmark(lacks, n, DEPENDENT * largest);
        if (p == SIZE_MAX)
            break;
        add_landmark(l, from, p, lacks + n, lacks);
        status = vxs_check_interrupted(context, err);
    }
    measure_rest(g, lacks);
    free(lacks);
    return status;
}

void vxs_low_rank_reduce(const vxs_low_rank *l, const double *weights, double *beta)
{
    const int n = (int)l->n;
    for (size_t k = l->rank; k-- > 0;) { /* L_m' beta = L'a, from the last one */
        const double *column = l->factor + k * l->n;
        double sum = cblas_ddot(n, column, 1, weights, 1);
        for (size_t j = k + 1; j < l->rank; j++)
            sum -= column[l->landmark[j]] * beta[j];
        beta[k] = sum / column[l->landmark[k]];
    }
}

/* ---- The design ------------------------------------------------------------------------------ */

static const vxs_low_rank *low_of(const vxs_design *design)
{
    return &((const low_rank *)design)->low;
}

/* L'v of k vectors, one after the other: rank x k. */
static void project(const vxs_low_rank *l, const double *v, size_t k, double *u)
{
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)l->rank, (int)k, (int)l->n, 1,
                l->factor, (int)l->n, v, (int)l->n, 0, u, (int)l->rank);
}

/* sums += L u, tile by tile. */
static void expand(const vxs_design *design, const double *u, size_t k, double *sums)
{
    const vxs_low_rank *l = low_of(design);
#pragma omp parallel for num_threads(design->nthreads) schedule(static)
    for (size_t first = 0; first < l->n; first += TILE)
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans,
                    (int)(l->n - first < TILE ? l->n - first : TILE), (int)k, (int)l->rank, 1,
                    l->factor + first, (int)l->n, u, (int)l->rank, 1, sums + first, (int)l->n);
}

/* Rows of L as columns: rank x count. */
static void gather(const vxs_low_rank *l, const size_t *set, size_t count, double *some)
{
    for (size_t c = 0; c < count; c++)
        for (size_t k = 0; k < l->rank; k++)
            some[c * l->rank + k] = l->factor[k * l->n + set[c]];
}

static void scan(vxs_design *design, const double *v, size_t k, double *s)
{
    low_rank *g = (low_rank *)design;
    const size_t n = g->low.n;
    memset(s, 0, n * k * sizeof(*s));
    for (size_t first = 0; first < k && g->low.rank > 0; first += VECTORS) {
        size_t some = k - first < VECTORS ? k - first : VECTORS;
        project(&g->low, v + first * n, some, g->some);
        expand(design, g->some, some, s + first * n);
    }
    design->read += design->p;
}

static void scan_some(vxs_design *design, const size_t *set, size_t count, const double *v,
                      double *s)
{
    low_rank *g = (low_rank *)design;
    const size_t rank = g->low.rank;
    double *u = g->some + VECTORS * rank;
    if (rank > 0)
        project(&g->low, v, 1, u);
    for (size_t c = 0; c < count; c++) {
        gather(&g->low, set + c, 1, g->some);
        s[c] = cblas_ddot((int)rank, g->some, 1, u, 1);
    }
    design->read += count;
}

static void fetch(vxs_design *design, const size_t *set, size_t count, double *block)
{
    low_rank *g = (low_rank *)design;
    const size_t n = g->low.n;
    memset(block, 0, n * count * sizeof(*block));
    for (size_t first = 0; first < count && g->low.rank > 0; first += VECTORS) {
        size_t some = count - first < VECTORS ? count - first : VECTORS;
        gather(&g->low, set + first, some, g->some);
        expand(design, g->some, some, block + first * n);
    }
    design->read += count;
}

static vxs_status measure(vxs_design *design, const double *v, double *s, vxs_error *err)
{
    double *column = vxs_alloc(design->n, sizeof(*column), err);
    design->norms = vxs_alloc(design->p, sizeof(*design->norms), err);
    for (size_t j = 0; j < design->p && column && design->norms; j++) {
        fetch(design, &j, 1, column);
        design->norms[j] = cblas_dnrm2((int)design->n, column, 1);
    }
    bool room = column && design->norms;
    free(column);
    if (room && v)
        scan(design, v, 1, s);
    return room ? VXS_OK : VXS_FAILED;
}

static void release(vxs_design *design)
{
    low_rank *g = (low_rank *)design;
    free(g->low.landmark);
    free(g->low.factor);
    free(g->own);
    free(g->some);
}

/* ---- What solvers request -------------------------------------------------------------------- */

static size_t room(const vxs_design *design)
{
    return ((const low_rank *)design)->room;
}

static double own(const vxs_design *design, size_t i)
{
    return ((const low_rank *)design)->own[i];
}

static vxs_status block(const vxs_design *design, const size_t *set, size_t count, double *values,
                        vxs_error *err)
{
    const vxs_low_rank *l = low_of(design);
    const int size = (int)count, rank = (int)l->rank;
    memset(values, 0, count * count * sizeof(*values));
    if (rank == 0 || count == 0)
        return VXS_OK;
    double *some = vxs_alloc(count, vxs_times(l->rank, sizeof(*some)), err);
    if (!some)
        return VXS_FAILED;
    gather(l, set, count, some);
    cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, size, rank, 1, some, rank, 0, values, size);
    for (size_t b = 0; b < count; b++)
        for (size_t a = 0; a < b; a++)
            values[b * count + a] = values[a * count + b];
    free(some);
    return VXS_OK;
}

static vxs_status add(const vxs_design *design, const size_t *set, const double *weights,
                      size_t count, double *f, vxs_error *err)
{
    const vxs_low_rank *l = low_of(design);
    double *u = vxs_alloc(l->rank + 1, sizeof(*u), err);
    if (!u)
        return VXS_FAILED;
    for (size_t k = 0; k < l->rank; k++)
        for (size_t c = 0; c < count; c++)
            u[k] += l->factor[k * l->n + set[c]] * weights[c];
    if (l->rank > 0)
        expand(design, u, 1, f);
    free(u);
    return VXS_OK;
}

static const vxs_gram_kind requests = { room, own, block, add };
static const vxs_design_kind low_rank_kind = { .scan = scan,
                                               .scan_some = scan_some,
                                               .fetch = fetch,
                                               .measure = measure,
                                               .release = release,
                                               .gram = &requests };

static vxs_status make(const vxs_context *context, const source *from, size_t n, size_t most,
                       size_t room_of_blocks, vxs_design **design, vxs_error *err)
{
    const size_t columns = most < n ? most : n;
    low_rank *g = vxs_alloc(1, sizeof(*g), err);
    if (!g)
        return VXS_FAILED;
    *g = (low_rank){
        .design = { .kind = &low_rank_kind, .n = n, .p = n, .nthreads = from->nthreads },
        .low = { .n = n },
        .room = room_of_blocks < n ? room_of_blocks : n
    };
    g->low.landmark = vxs_alloc(columns + 1, sizeof(*g->low.landmark), err);
    g->low.factor = vxs_alloc(columns + 1, vxs_times(n, sizeof(*g->low.factor)), err);
    g->own = vxs_alloc(n, sizeof(*g->own), err);
    g->some = vxs_alloc(columns + 1, (VECTORS + 1) * sizeof(*g->some), err);
    bool fine = g->low.landmark && g->low.factor && g->own && g->some;
    vxs_status status = fine ? factorize(context, from, columns, g, err) : VXS_FAILED;
    if (status)
        vxs_design_free(&g->design);
    else
        *design = &g->design;
    return status;
}

vxs_status vxs_low_rank_new(const vxs_context *context, const vxs_kernel *kernel,
                            const vxs_kernel_rows *rows, size_t most, size_t room_of_blocks,
                            vxs_design **design, vxs_error *err)
{
    const source from = { .kernel = kernel, .rows = rows, .nthreads = rows->nthreads };
    return make(context, &from, rows->m, most, room_of_blocks, design, err);
}

vxs_status vxs_low_rank_of(const vxs_context *context, const double *matrix, size_t n, size_t most,
                           int nthreads, vxs_design **design, vxs_error *err)
{
    const source from = { .matrix = matrix, .nthreads = nthreads };
    return make(context, &from, n, most, n, design, err);
}

const vxs_low_rank *vxs_gram_low_rank(const vxs_design *design)
{
    return design->kind == &low_rank_kind ? low_of(design) : NULL;
}
