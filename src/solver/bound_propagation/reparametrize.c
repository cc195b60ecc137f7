/* reparametrize.c - change of variables after presolve: leaves eliminated, components separated.
 *
 * Method    A variable alone in row t is replaced by s = D_t w: w_j = (s - sum of the others) /
 *           d_j, which subtracts a multiple of its column from the others' columns. On trees this
 *           makes E the identity and the columns sums over subtrees (T1), on second differences
 *           cumulative sums of cumulative sums (3.51); of a graph with loops the core (2-core)
 *           remains. The core's null space, one reference node a component, becomes unpenalized
 *           columns, of which an orthonormal basis is computed with the covariates
 * Cost      n x p for the columns, n rank^2 for the basis
 * Threads   those of BLAS
 * Source    dissertation 3.3.4: T1, T2, (3.51) */
#include "linalg/gram_schmidt.h"
#include "solver/bound_propagation/bound_propagation.h"
#include "solver/solver.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PIVOT 1e-3 /* of a row's largest entry: smaller pivots are refused */

typedef struct {
    vxs_reparametrized *problem;
    size_t m;
    size_t *degree, *starts, *uses; /* rows that contain a variable */
    bool *leaf_row, *is_leaf;       /* rows of leaves, leaves */
    size_t *queue, queued;
    double *column; /* n x m */
} leaf_elimination;

/* ---- Leaves ---------------------------------------------------------------------------------- */

static void free_elimination(leaf_elimination *e)
{
    free(e->degree);
    free(e->starts);
    free(e->uses);
    free(e->leaf_row);
    free(e->is_leaf);
    free(e->queue);
    free(e->column);
}

static vxs_status start_elimination(leaf_elimination *e, vxs_error *err)
{
    const vxs_analysis *d = &e->problem->presolved.terms;
    size_t all = d->starts[d->count];
    e->m = d->columns;
    e->degree = vxs_alloc(e->m, sizeof(*e->degree), err);
    e->starts = vxs_alloc(e->m + 1, sizeof(*e->starts), err);
    e->uses = vxs_alloc(all, sizeof(*e->uses), err);
    e->leaf_row = vxs_alloc(d->count, sizeof(*e->leaf_row), err);
    e->is_leaf = vxs_alloc(e->m, sizeof(*e->is_leaf), err);
    e->queue = vxs_alloc(e->m, sizeof(*e->queue), err);
    e->column = vxs_alloc(e->m, e->problem->n * sizeof(*e->column), err);
    if (!e->degree || !e->starts || !e->uses || !e->leaf_row || !e->is_leaf || !e->queue ||
        !e->column)
        return VXS_FAILED;
    for (size_t a = 0; a < all; a++)
        e->starts[d->index[a] + 1]++;
    for (size_t j = 0; j < e->m; j++)
        e->starts[j + 1] += e->starts[j];
    for (size_t t = 0; t < d->count; t++)
        for (size_t a = d->starts[t]; a < d->starts[t + 1]; a++)
            e->uses[e->starts[d->index[a]] + e->degree[d->index[a]]++] = t;
    return VXS_OK;
}

/* Columns of variables: X T. */
static void add_columns(leaf_elimination *e)
{
    const vxs_analysis *expansion = &e->problem->presolved.expansion;
    size_t n = e->problem->n;
    for (size_t j = 0; j < expansion->count; j++)
        for (size_t a = expansion->starts[j]; a < expansion->starts[j + 1]; a++)
            cblas_daxpy((int)n, expansion->value[a], e->problem->data->x + j * n, 1,
                        e->column + expansion->index[a] * n, 1);
}

/* The entry of a variable in a row, or 0 if it is too small as a pivot. */
static double pivot_of(const vxs_analysis *d, size_t term, size_t variable)
{
    double largest = 0, own = 0;
    for (size_t a = d->starts[term]; a < d->starts[term + 1]; a++) {
        largest = fmax(largest, fabs(d->value[a]));
        own = d->index[a] == variable ? d->value[a] : own;
    }
    return fabs(own) >= PIVOT * largest ? own : 0;
}

static void eliminate_leaf(leaf_elimination *e, size_t j)
{
    vxs_reparametrized *r = e->problem;
    const vxs_analysis *d = &r->presolved.terms;
    size_t use = e->starts[j], n = r->n;
    while (e->leaf_row[e->uses[use]])
        use++;
    size_t term = e->uses[use];
    double pivot = pivot_of(d, term, j);
    if (pivot == 0)
        return;
    for (size_t a = d->starts[term]; a < d->starts[term + 1]; a++) {
        size_t i = d->index[a];
        if (i == j)
            continue;
        cblas_daxpy((int)n, -d->value[a] / pivot, e->column + j * n, 1, e->column + i * n, 1);
        if (--e->degree[i] == 1)
            e->queue[e->queued++] = i;
    }
    cblas_dscal((int)n, 1 / pivot, e->column + j * n, 1);
    e->leaf_row[term] = true;
    e->is_leaf[j] = true;
    r->leaf[r->leaves] = j;
    r->leaf_row[r->leaves] = term;
    r->pivot[r->leaves] = pivot;
    r->number[term] = r->leaves++;
}

static void eliminate_leaves(leaf_elimination *e)
{
    for (size_t j = 0; j < e->m; j++)
        if (e->degree[j] == 1)
            e->queue[e->queued++] = j;
    for (size_t k = 0; k < e->queued; k++)
        if (e->degree[e->queue[k]] == 1) /* else another leaf has taken its last row */
            eliminate_leaf(e, e->queue[k]);
}

/* ---- The core -------------------------------------------------------------------------------- */

static void sort_term(size_t *index, double *value, size_t count)
{
    for (size_t k = 1; k < count; k++)
        for (size_t i = k; i > 0 && index[i - 1] > index[i]; i--) {
            size_t at = index[i];
            double by = value[i];
            index[i] = index[i - 1];
            value[i] = value[i - 1];
            index[i - 1] = at;
            value[i - 1] = by;
        }
}

/* Rows of the core, restricted to places below `columns`. */
static vxs_status write_core(const leaf_elimination *e, const size_t *place, size_t columns,
                             size_t count, vxs_analysis *out, vxs_error *err)
{
    const vxs_analysis *d = &e->problem->presolved.terms;
    size_t made = 0, next = 0;
    vxs_status status = vxs_analysis_new(columns, count, d->starts[d->count], out, err);
    for (size_t t = 0; t < d->count && !status; t++) {
        if (e->leaf_row[t])
            continue;
        for (size_t a = d->starts[t]; a < d->starts[t + 1]; a++)
            if (!e->is_leaf[d->index[a]] && place[d->index[a]] < columns) {
                out->index[next] = place[d->index[a]];
                out->value[next++] = d->value[a];
            }
        sort_term(out->index + out->starts[made], out->value + out->starts[made],
                  next - out->starts[made]);
        e->problem->number[t] = e->problem->leaves + made;
        out->starts[++made] = next;
    }
    return status;
}

/* Reorders the core, reference nodes last, and its null space. */
static vxs_status order_core(leaf_elimination *e, size_t *place, const vxs_presolved *references,
                             vxs_error *err)
{
    vxs_reparametrized *r = e->problem;
    size_t components = references->expansion.columns, next = 0,
           *at = vxs_alloc(r->core, sizeof(*at), err);
    size_t *was = vxs_alloc(r->core, sizeof(*was), err);
    vxs_status status = at && was ? VXS_OK : VXS_FAILED;
    r->reduced = r->core - components;
    for (size_t k = 0; k < r->core && !status; k++)
        at[k] = SIZE_MAX;
    for (size_t k = 0; k < components && !status; k++)
        at[references->feature[k]] = r->reduced + k;
    for (size_t k = 0; k < r->core && !status; k++)
        at[k] = at[k] == SIZE_MAX ? next++ : at[k];
    for (size_t j = 0; j < e->m && !status; j++)
        if (place[j] != SIZE_MAX) {
            was[at[place[j]]] = place[j];
            place[j] = at[place[j]];
            r->core_variable[place[j]] = j;
        }
    next = 0;
    if (!status)
        status = vxs_analysis_new(components, r->core, references->expansion.starts[r->core],
                                  &r->null_space, err);
    for (size_t k = 0; k < r->core && !status; k++) {
        for (size_t a = references->expansion.starts[was[k]];
             a < references->expansion.starts[was[k] + 1]; a++) {
            r->null_space.index[next] = references->expansion.index[a];
            r->null_space.value[next++] = references->expansion.value[a];
        }
        r->null_space.starts[k + 1] = next;
    }
    free(at);
    free(was);
    return status;
}

static vxs_status find_core(leaf_elimination *e, vxs_error *err)
{
    vxs_reparametrized *r = e->problem;
    size_t terms = r->presolved.terms.count, count = terms - r->leaves;
    size_t *place = vxs_alloc(e->m, sizeof(*place), err);
    bool *zero_all = vxs_alloc(count, sizeof(*zero_all), err);
    vxs_analysis core = { .columns = 0 };
    vxs_presolved references = { .feature = NULL };
    vxs_status status = place && zero_all ? VXS_OK : VXS_FAILED;
    for (size_t j = 0; j < e->m && !status; j++) {
        place[j] = !e->is_leaf[j] && e->degree[j] > 0 ? r->core++ : SIZE_MAX;
        if (!e->is_leaf[j] && e->degree[j] == 0)
            r->unpenalized[r->unpenalized_count++] = j;
    }
    for (size_t t = 0; t < count && !status; t++)
        zero_all[t] = true;
    if (!status)
        status = write_core(e, place, r->core, count, &core, err);
    if (!status)
        status = vxs_presolved_new(&core, zero_all, &references, err);
    if (!status)
        status = order_core(e, place, &references, err);
    if (!status)
        status = write_core(e, place, r->core, count, &r->core_rows, err);
    if (!status)
        status = write_core(e, place, r->reduced, count, &r->reduced_rows, err);
    vxs_presolved_release(&references);
    vxs_analysis_release(&core);
    free(place);
    free(zero_all);
    r->terms = terms;
    return status;
}

/* ---- Columns --------------------------------------------------------------------------------- */

static vxs_status place_columns(leaf_elimination *e, vxs_error *err)
{
    vxs_reparametrized *r = e->problem;
    size_t n = r->n, width = n * sizeof(double);
    r->x = vxs_alloc(r->leaves + r->core, width, err);
    for (size_t k = 0; r->x && k < r->leaves; k++)
        memcpy(r->x + k * n, e->column + r->leaf[k] * n, width);
    for (size_t k = 0; r->x && k < r->core; k++)
        memcpy(r->x + (r->leaves + k) * n, e->column + r->core_variable[k] * n, width);
    return r->x ? VXS_OK : VXS_FAILED;
}

/* The unpenalized columns: covariates, variables in no row, null space of the core. */
static void gather_unpenalized(const leaf_elimination *e, double *columns)
{
    const vxs_reparametrized *r = e->problem;
    size_t n = r->n, q = r->data->q;
    if (q > 0)
        memcpy(columns, r->data->covariates, q * n * sizeof(double));
    for (size_t k = 0; k < r->unpenalized_count; k++)
        memcpy(columns + (q + k) * n, e->column + r->unpenalized[k] * n, n * sizeof(double));
    double *null = columns + (q + r->unpenalized_count) * n;
    for (size_t k = 0; k < r->core; k++)
        for (size_t a = r->null_space.starts[k]; a < r->null_space.starts[k + 1]; a++)
            cblas_daxpy((int)n, r->null_space.value[a], r->x + (r->leaves + k) * n, 1,
                        null + r->null_space.index[a] * n, 1);
}

static void orthogonalize(vxs_reparametrized *r, const double *columns)
{
    for (size_t k = 0; k < r->unpenalized_columns && r->rank < r->n; k++) {
        double *q = r->span + r->rank * r->n, *up = r->triangle + r->rank * r->unpenalized_columns;
        memcpy(q, columns + k * r->n, r->n * sizeof(*q));
        memset(up, 0, r->unpenalized_columns * sizeof(*up));
        if (!vxs_gram_schmidt_append(r->span, r->n, r->rank, VXS_INDEPENDENT,
                                     k < r->data->q ? 0 : r->data->rounding, up))
            continue;
        r->independent[r->rank++] = k;
    }
}

static vxs_status find_span(leaf_elimination *e, vxs_error *err)
{
    vxs_reparametrized *r = e->problem;
    r->unpenalized_columns = r->data->q + r->unpenalized_count + r->null_space.columns;
    double *columns = vxs_alloc(r->unpenalized_columns, r->n * sizeof(*columns), err);
    size_t max_rank = r->unpenalized_columns < r->n ? r->unpenalized_columns : r->n;
    r->span = vxs_alloc(r->n, (max_rank + 1) * sizeof(*r->span), err);
    r->triangle = vxs_alloc(r->unpenalized_columns, (max_rank + 1) * sizeof(*r->triangle), err);
    r->independent = vxs_alloc(r->unpenalized_columns, sizeof(*r->independent), err);
    vxs_status status = columns && r->span && r->triangle && r->independent ? VXS_OK : VXS_FAILED;
    if (!status) {
        gather_unpenalized(e, columns);
        orthogonalize(r, columns);
    }
    free(columns);
    return status;
}

/* ---- Construction ---------------------------------------------------------------------------- */

void vxs_reparametrized_release(vxs_reparametrized *r)
{
    vxs_presolved_release(&r->presolved);
    vxs_analysis_release(&r->core_rows);
    vxs_analysis_release(&r->reduced_rows);
    vxs_analysis_release(&r->null_space);
    vxs_factor_release(&r->factor);
    free(r->leaf);
    free(r->leaf_row);
    free(r->pivot);
    free(r->core_variable);
    free(r->number);
    free(r->unpenalized);
    free(r->x);
    free(r->span);
    free(r->triangle);
    free(r->independent);
    *r = (vxs_reparametrized){ .data = NULL };
}

static vxs_status fill(vxs_reparametrized *r, bool transform, vxs_error *err)
{
    size_t m = r->presolved.terms.columns;
    leaf_elimination e = { .problem = r };
    r->leaf = vxs_alloc(m, sizeof(*r->leaf), err);
    r->leaf_row = vxs_alloc(m, sizeof(*r->leaf_row), err);
    r->pivot = vxs_alloc(m, sizeof(*r->pivot), err);
    r->core_variable = vxs_alloc(m, sizeof(*r->core_variable), err);
    r->unpenalized = vxs_alloc(m, sizeof(*r->unpenalized), err);
    r->number = vxs_alloc(r->presolved.terms.count, sizeof(*r->number), err);
    vxs_status status =
        r->leaf && r->leaf_row && r->pivot && r->core_variable && r->unpenalized && r->number
            ? start_elimination(&e, err)
            : VXS_FAILED;
    if (!status) {
        add_columns(&e);
        if (transform)
            eliminate_leaves(&e);
        status = find_core(&e, err);
    }
    if (!status)
        status = place_columns(&e, err);
    if (!status)
        status = find_span(&e, err);
    free_elimination(&e);
    return status;
}

vxs_status vxs_reparametrized_new(const vxs_bp_data *whole, const bool *zero, bool transform,
                                  vxs_reparametrized *r, vxs_error *err)
{
    *r = (vxs_reparametrized){ .data = whole, .n = whole->n };
    vxs_status status = vxs_presolved_new(whole->terms, zero, &r->presolved, err);
    if (!status)
        status = fill(r, transform, err);
    if (status)
        vxs_reparametrized_release(r);
    return status;
}

vxs_status vxs_reparametrized_factor(vxs_reparametrized *r, vxs_error *err)
{
    const vxs_analysis *d = &r->reduced_rows;
    vxs_sparse_rows rows = { d->columns, d->count, d->starts, d->index, d->value };
    return r->factor.initialized ? VXS_OK : vxs_factor_new(rows, &r->factor, err);
}

/* ---- Change of variables --------------------------------------------------------------------- */

void vxs_reparametrized_multiply(const vxs_reparametrized *r, const double *x, double *out)
{
    memcpy(out, x, r->leaves * sizeof(*out));
    for (size_t t = 0; t < r->reduced_rows.count; t++) {
        double sum = 0;
        for (size_t a = r->reduced_rows.starts[t]; a < r->reduced_rows.starts[t + 1]; a++)
            sum += r->reduced_rows.value[a] * x[r->leaves + r->reduced_rows.index[a]];
        out[r->leaves + t] = sum;
    }
}

void vxs_reparametrized_transpose(const vxs_reparametrized *r, const double *v, double *x)
{
    for (size_t t = 0; t < r->leaves; t++)
        x[t] += v[t];
    for (size_t t = 0; t < r->reduced_rows.count; t++)
        for (size_t a = r->reduced_rows.starts[t]; a < r->reduced_rows.starts[t + 1]; a++)
            x[r->leaves + r->reduced_rows.index[a]] += r->reduced_rows.value[a] * v[r->leaves + t];
}

/* Back substitution: coefficients of the unpenalized columns from coordinates in the span. */
static void solve_triangle(const vxs_reparametrized *r, const double *b, double *weight)
{
    memset(weight, 0, r->unpenalized_columns * sizeof(*weight));
    for (size_t k = r->rank; k-- > 0;) {
        double value = b[k];
        for (size_t i = k + 1; i < r->rank; i++)
            value -= r->triangle[i * r->unpenalized_columns + k] * weight[r->independent[i]];
        weight[r->independent[k]] = value / r->triangle[k * r->unpenalized_columns + k];
    }
}

/* `work` holds an entry for every unpenalized column and every variable. */
void vxs_reparametrized_expand(const vxs_reparametrized *r, const double *x, const double *b,
                               double *work, double *w, double *coefficients)
{
    size_t q = r->data->q;
    const vxs_analysis *expansion = &r->presolved.expansion, *d = &r->presolved.terms;
    double *weight = work, *value = work + r->unpenalized_columns,
           *reference_values = weight + q + r->unpenalized_count;
    solve_triangle(r, b, weight);
    memcpy(coefficients, weight, q * sizeof(*weight));
    for (size_t k = 0; k < r->unpenalized_count; k++)
        value[r->unpenalized[k]] = weight[q + k];
    for (size_t k = 0; k < r->core; k++) {
        double sum = k < r->reduced ? x[r->leaves + k] : 0;
        for (size_t a = r->null_space.starts[k]; a < r->null_space.starts[k + 1]; a++)
            sum += r->null_space.value[a] * reference_values[r->null_space.index[a]];
        value[r->core_variable[k]] = sum;
    }
    for (size_t k = r->leaves; k-- > 0;) {
        size_t j = r->leaf[k], t = r->leaf_row[k];
        double sum = x[k];
        for (size_t a = d->starts[t]; a < d->starts[t + 1]; a++)
            sum -= d->index[a] == j ? 0 : d->value[a] * value[d->index[a]];
        value[j] = sum / r->pivot[k];
    }
    for (size_t j = 0; j < expansion->count; j++) {
        double sum = 0;
        for (size_t a = expansion->starts[j]; a < expansion->starts[j + 1]; a++)
            sum += expansion->value[a] * value[expansion->index[a]];
        w[j] = sum;
    }
}
