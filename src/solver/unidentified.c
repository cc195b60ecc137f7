/* unidentified.c - a rank test for unpenalized directions.
 *
 * Problem   The fused penalty has one unpenalized direction a connected component, a generalized
 *           one the null space N of D. X N may be a linear combination of covariates up to rounding
 *           of stored values: where the features of each subject sum to a constant, as z-scores and
 *           one-hot codes do. The coefficient of that direction then fits rounding, with weights of
 *           1e5
 * Test      singular values of P X N R^-1, P the projection onto the complement of the covariates,
 *           |Rv| the rounding of X N v; directions with a singular value below 1 are unidentified
 *           (truncated SVD)
 * Rounding  A float32 ulp, FLT_EPSILON of the stored value, at random in each value moves a sum by
 *           FLT_EPSILON times the root of the sum of squares of stored values. A direction is
 *           identified if that moves it by less than 1 / MARGIN of its norm, and errors of one ulp
 *           and one sign in all values, as a float32 mean leaves them, by less than all of it
 * Then      V spans the unidentified directions; the solution is orthogonal to it (V'w = 0)
 * Cost      one pass over X, n count^2
 * Threads   1
 * Source    none */
#include "solver/unidentified.h"

#include "core/union.h"
#include "linalg/cholesky.h"
#include "linalg/lapack.h"
#include "solver/bound_propagation/bound_propagation.h"
#include "solver/covariates_fit.h"
#include "solver/solver.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MARGIN   100
#define DIAGONAL 1e-14 /* of the diagonal: ridge of N'S^2 N */
#define SMALL    0.01  /* of a squared norm: negligible share of a direction */
#define BLOCK    64

/* LAPACK, which comes with OpenBLAS */

#define LEAST 1e-14 /* of the sum of lengths */

/* Norms before standardization and regression, whose rounding remains. */
double vxs_sum_rounding(const vxs_design *design)
{
    const double *norms = vxs_design_norms(design), *stored = vxs_design_stored(design);
    double sum = 0;
    for (size_t j = 0; j < vxs_design_columns(design); j++)
        sum += fmax(norms[j], stored[j]);
    return LEAST * sum;
}

/* ---- The null space -------------------------------------------------------------------------- */

static vxs_status find_components(const vxs_graph *g, vxs_analysis *null, vxs_error *err)
{
    size_t *parent = vxs_union_new(g->nodes, err), count = 0;
    vxs_status status = parent ? VXS_OK : VXS_FAILED;
    for (size_t e = 0; e < g->count && !status; e++)
        (void)vxs_union_join(parent, g->from[e], g->to[e]);
    for (size_t k = 0; k < g->nodes && !status; k++)
        count += vxs_union_find(parent, k) == k;
    if (!status)
        status = vxs_analysis_new(count, g->nodes, g->nodes, null, err);
    count = 0;
    for (size_t k = 0; k < g->nodes && !status; k++) {
        size_t first = vxs_union_find(parent, k); /* the smallest node names the component */
        null->index[k] = first == k ? count++ : null->index[first];
        null->value[k] = 1;
        null->starts[k + 1] = k + 1;
    }
    free(parent);
    return status;
}

static vxs_status find_null_space(const vxs_analysis *terms, vxs_analysis *null, vxs_error *err)
{
    vxs_presolved presolved = { .feature = NULL };
    bool *zero = vxs_alloc(terms->count, sizeof(*zero), err);
    vxs_status status = zero ? VXS_OK : VXS_FAILED;
    for (size_t t = 0; t < terms->count && !status; t++)
        zero[t] = true;
    if (!status)
        status = vxs_presolved_new(terms, zero, &presolved, err);
    if (!status) {
        *null = presolved.expansion;
        presolved.expansion = (vxs_analysis){ .columns = 0 };
    }
    vxs_presolved_release(&presolved);
    free(zero);
    return status;
}

vxs_status vxs_null_space(const vxs_problem *problem, vxs_analysis *null, vxs_error *err)
{
    *null = (vxs_analysis){ .columns = 0 };
    const vxs_generalized *sums = vxs_as_generalized(problem->penalty);
    const vxs_fused *fused = vxs_as_fused(problem->penalty);
    if (sums)
        return find_null_space(sums->terms, null, err);
    return fused && fused->sparsity == 0 ? find_components(fused->graph, null, err) : VXS_OK;
}

vxs_status vxs_null_space_columns(vxs_design *design, const vxs_analysis *null, double **columns,
                                  vxs_error *err)
{
    size_t set[BLOCK], n = vxs_design_rows(design), p = vxs_design_columns(design);
    double *block = vxs_alloc(BLOCK, n * sizeof(*block), err);
    *columns = block ? vxs_alloc(null->columns, n * sizeof(**columns), err) : NULL;
    for (size_t first = 0; *columns && first < p; first += BLOCK) {
        size_t count = p - first < BLOCK ? p - first : BLOCK;
        for (size_t k = 0; k < count; k++)
            set[k] = first + k;
        vxs_design_fetch(design, set, count, block);
        for (size_t k = 0; k < count; k++)
            for (size_t e = null->starts[first + k]; e < null->starts[first + k + 1]; e++)
                cblas_daxpy((int)n, null->value[e], block + k * n, 1, *columns + null->index[e] * n,
                            1);
    }
    free(block);
    return *columns ? VXS_OK : VXS_FAILED;
}

/* ---- The rank test --------------------------------------------------------------------------- */

typedef struct {
    const vxs_analysis *null;
    size_t n, count;
    double *scaled;   /* n x count: P X N R^-1 */
    double *rounding; /* count x count: R', lower triangular, R'R the rounding of X N */
    double *gram;     /* count x count: N'N */
    double *values;   /* count: singular values, descending */
    double *right;    /* count x count: singular vectors as rows */
    double *sum;      /* count: work space, then norms of P X N */
} rank_test;

static void release(rank_test *t)
{
    free(t->scaled);
    free(t->rounding);
    free(t->gram);
    free(t->values);
    free(t->right);
    free(t->sum);
}

static vxs_status allocate(rank_test *t, vxs_error *err)
{
    size_t c = t->count;
    t->scaled = vxs_alloc(c, t->n * sizeof(*t->scaled), err);
    t->rounding = vxs_alloc(c, c * sizeof(*t->rounding), err);
    t->gram = vxs_alloc(c, c * sizeof(*t->gram), err);
    t->values = vxs_alloc(c, sizeof(*t->values), err);
    t->right = vxs_alloc(c, c * sizeof(*t->right), err);
    t->sum = vxs_alloc(c, sizeof(*t->sum), err);
    return t->scaled && t->rounding && t->gram && t->values && t->right && t->sum ? VXS_OK
                                                                                  : VXS_FAILED;
}

/* N'N, N'S^2 N and the column sums of |SN|, S the norms of stored columns. */
static void add_up(rank_test *t, const double *stored)
{
    const vxs_analysis *null = t->null;
    for (size_t j = 0; j < null->count; j++)
        for (size_t a = null->starts[j]; a < null->starts[j + 1]; a++) {
            t->sum[null->index[a]] += fabs(null->value[a]) * stored[j];
            for (size_t b = null->starts[j]; b < null->starts[j + 1]; b++) {
                size_t at = null->index[a] * t->count + null->index[b];
                double product = null->value[a] * null->value[b];
                t->gram[at] += product;
                t->rounding[at] += product * stored[j] * stored[j];
            }
        }
}

/* The rounding of X N: one ulp in each stored value, at random times MARGIN, or of one sign.
 * Columns without rounding are 0. */
static vxs_status find_rounding(rank_test *t, const double *stored, vxs_error *err)
{
    size_t c = t->count;
    add_up(t, stored);
    for (size_t k = 0; k < c; k++) {
        double alone = MARGIN * sqrt(t->rounding[k * c + k]);
        t->sum[k] = alone > 0 ? (double)FLT_EPSILON * MARGIN * fmax(1, t->sum[k] / alone) : 1;
        t->rounding[k * c + k] += alone > 0 ? DIAGONAL * t->rounding[k * c + k] : 1;
    }
    for (size_t k = 0; k < c * c; k++)
        t->rounding[k] *= t->sum[k / c] * t->sum[k % c];
    return vxs_cholesky(t->rounding, c)
               ? VXS_OK
               : vxs_fail(err, VXS_FAILED,
                          "the %zu sums of features without penalty depend on each other", c);
}

/* Samples of weight 0 do not count. */
static vxs_status scale_columns(rank_test *t, const vxs_problem *problem, const double *columns,
                                vxs_error *err)
{
    vxs_covariates_fit covariates;
    int n = (int)t->n, c = (int)t->count;
    vxs_status status =
        vxs_covariates_fit_init(problem, problem->covariate_count, &covariates, err);
    if (status)
        return status;
    for (size_t k = 0; k < t->count; k++) {
        double *v = t->scaled + k * t->n;
        for (size_t i = 0; i < t->n; i++)
            v[i] = vxs_loss_weight(&problem->loss, i) > 0 ? columns[k * t->n + i] : 0;
        for (size_t r = 0; r < 2 * covariates.rank; r++) { /* twice, for rounding */
            const double *b = covariates.basis + r % covariates.rank * t->n;
            cblas_daxpy(n, -cblas_ddot(n, b, 1, v, 1), b, 1, v, 1);
        }
        t->sum[k] = cblas_dnrm2(n, v, 1);
    }
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, n, c, 1,
                t->rounding, c, t->scaled, n);
    vxs_covariates_fit_release(&covariates);
    return VXS_OK;
}

static vxs_status decompose(rank_test *t, vxs_error *err)
{
    int n = (int)t->n, count = (int)t->count, info = 0, one = 1, room = -1;
    double none = 0, size = 0;
    dgesvd_("N", "A", &n, &count, t->scaled, &n, t->values, &none, &one, t->right, &count, &size,
            &room, &info);
    room = (int)size;
    double *work = vxs_alloc((size_t)room, sizeof(*work), err);
    if (!work)
        return VXS_FAILED;
    dgesvd_("N", "A", &n, &count, t->scaled, &n, t->values, &none, &one, t->right, &count, work,
            &room, &info);
    free(work);
    return info == 0 ? VXS_OK
                     : vxs_fail(err, VXS_FAILED,
                                "the singular values of the sums of features of "
                                "%zu components were not found",
                                t->count);
}

/* ---- The basis ------------------------------------------------------------------------------- */

/* a'N'N b */
static double inner(const rank_test *t, const double *a, const double *b)
{
    double sum = 0;
    for (size_t k = 0; k < t->count; k++)
        sum += a[k] * cblas_ddot((int)t->count, t->gram + k * t->count, 1, b, 1);
    return sum;
}

/* Removes from a singular vector small components along identified directions, which compensate
 * rounding by rounding, so that X (1 - VV') leaves those unchanged. v has norm 1 in units of the
 * rounding. */
static void clean(const rank_test *t, double *v)
{
    size_t c = t->count;
    double whole = inner(t, v, v);
    for (size_t k = 0; k < c; k++)
        if (fabs(v[k]) * t->sum[k] * (double)c <= 1 &&
            v[k] * v[k] * t->gram[k * c + k] <= SMALL * whole)
            v[k] = 0;
}

/* V orthonormal: Gram-Schmidt, twice, of the singular vectors in the coordinates of N. */
static void make_basis(const rank_test *t, vxs_unidentified *u)
{
    size_t c = t->count, first = c - u->held;
    for (size_t h = 0; h < u->held; h++) {
        double *v = u->basis + h * c;
        for (size_t k = 0; k < c; k++)
            v[k] = t->right[k * c + first + h];
        cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, (int)c, t->rounding,
                    (int)c, v, 1);
        clean(t, v);
        cblas_dscal((int)c, 1 / sqrt(inner(t, v, v)), v, 1);
        for (size_t r = 0; r < 2 * h; r++) {
            const double *b = u->basis + r % h * c;
            cblas_daxpy((int)c, -inner(t, b, v), b, 1, v, 1);
        }
        cblas_dscal((int)c, 1 / sqrt(inner(t, v, v)), v, 1);
    }
}

/* X N basis basis' */
static vxs_status carry(const rank_test *t, const double *columns, vxs_unidentified *u,
                        vxs_error *err)
{
    int n = (int)t->n, c = (int)t->count, held = (int)u->held;
    double *along = vxs_alloc(u->held, t->n * sizeof(*along), err);
    if (!along)
        return VXS_FAILED;
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, held, c, 1, columns, n, u->basis, c,
                0, along, n);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, n, c, held, 1, along, n, u->basis, c, 0,
                u->carried, n);
    free(along);
    return VXS_OK;
}

static vxs_status find(rank_test *t, const vxs_problem *problem, const double *columns,
                       vxs_unidentified *u, vxs_error *err)
{
    vxs_status status = allocate(t, err);
    if (status)
        return status;
    openblas_set_num_threads(1); /* threads would change the order of sums */
    status = find_rounding(t, vxs_design_stored(problem->design), err);
    if (!status)
        status = scale_columns(t, problem, columns, err);
    if (!status)
        status = decompose(t, err);
    while (!status && u->held < t->count && !(t->values[t->count - 1 - u->held] > 1))
        u->held++;
    if (status || u->held == 0)
        return status;
    u->basis = vxs_alloc(u->held, t->count * sizeof(*u->basis), err);
    u->carried = vxs_alloc(t->count, t->n * sizeof(*u->carried), err);
    if (!u->basis || !u->carried)
        return VXS_FAILED;
    make_basis(t, u);
    return carry(t, columns, u, err);
}

vxs_status vxs_unidentified_find(const vxs_problem *problem, const vxs_analysis *null,
                                 const double *columns, vxs_unidentified *u, vxs_error *err)
{
    rank_test t = { .null = null, .n = vxs_design_rows(problem->design), .count = null->columns };
    *u = (vxs_unidentified){ .n = t.n };
    if (t.count == 0 || t.count + problem->covariate_count >= t.n) /* the methods refuse more */
        return VXS_OK;
    vxs_status status = vxs_design_measure(problem->design, err);
    if (!status)
        status = find(&t, problem, columns, u, err);
    release(&t);
    if (status)
        vxs_unidentified_release(u);
    return status;
}

void vxs_unidentified_release(vxs_unidentified *u)
{
    free(u->basis);
    free(u->carried);
    *u = (vxs_unidentified){ .n = 0 };
}

/* basis' N'w is V'w, and V V'w = N basis V'w. */
void vxs_unidentified_project_out(const vxs_unidentified *u, const vxs_analysis *null,
                                  double *along, double *w)
{
    size_t c = null->columns;
    for (size_t h = 0; h < u->held; h++) {
        const double *v = u->basis + h * c;
        double sum = 0;
        memset(along, 0, c * sizeof(*along));
        for (size_t j = 0; j < null->count; j++)
            for (size_t e = null->starts[j]; e < null->starts[j + 1]; e++)
                along[null->index[e]] += null->value[e] * w[j];
        sum = cblas_ddot((int)c, v, 1, along, 1);
        for (size_t j = 0; j < null->count; j++)
            for (size_t e = null->starts[j]; e < null->starts[j + 1]; e++)
                w[j] -= null->value[e] * v[null->index[e]] * sum;
    }
}
