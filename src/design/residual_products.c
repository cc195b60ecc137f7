/* residual_products.c - inner products of rows without what they have in common.
 *
 * What is estimated on training subjects and taken out of all rows, means or a regression on
 * covariates, is algebra on the products: with Z the covariates and B the coefficients' weights of
 * training subjects, row x becomes x - z_x'B X, so that the product of two rows becomes
 *
 *     g(x, y) - z_x'h_y - z_y'h_x + z_x'M z_y,    h_x = B g(., x),    M = (h of training) B'
 *
 * One matrix of products thus serves all folds. */
#include "design/design.h"
#include "linalg/gram_schmidt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PARTS 4 /* of a sum */

/* ---- What is taken out ----------------------------------------------------------------------- */

void vxs_residual_products_release(vxs_residual_products *r)
{
    free(r->train);
    free(r->b);
    free(r->sums);
    free(r->square);
    *r = (vxs_residual_products){ .n = 0 };
}

/* Column i of R^-1 Q' W^(1/2). */
static void substitute_back(const double *upper, size_t q, size_t rank, const size_t *of,
                            const double *basis, size_t m, size_t i, double weight, double *b)
{
    for (size_t k = rank; k-- > 0;) {
        double sum = basis[k * m + i] * sqrt(weight);
        for (size_t l = k + 1; l < rank; l++)
            sum -= upper[l * (q + 1) + k] * b[of[l]];
        b[of[k]] = sum / upper[k * (q + 1) + k];
    }
}

/* B = R^-1 Q' W^(1/2) with W^(1/2) Z = Q R; a column that depends on those before it has no
 * coefficient. */
static vxs_status find_coefficients(vxs_residual_products *r, const double *z,
                                    const double *weights, vxs_error *err)
{
    size_t m = r->count, q = r->columns, rank = 0;
    double *basis = vxs_alloc(q + 1, vxs_times(m, sizeof(*basis)), err);
    double *upper = vxs_alloc(q + 1, vxs_times(q + 1, sizeof(*upper)), err);
    size_t *of = vxs_alloc(q + 1, sizeof(*of), err);
    vxs_status status = basis && upper && of ? VXS_OK : VXS_FAILED;
    for (size_t c = 0; c < q && !status; c++) {
        double *v = basis + rank * m, *coefficients = upper + rank * (q + 1);
        memset(coefficients, 0, (q + 1) * sizeof(*coefficients));
        for (size_t i = 0; i < m; i++)
            v[i] = sqrt(weights ? weights[i] : 1) * z[c * m + i];
        if (vxs_gram_schmidt_append(basis, m, rank, VXS_INDEPENDENT_COVARIATE, 0, coefficients))
            of[rank++] = c;
    }
    for (size_t i = 0; i < m && !status; i++)
        substitute_back(upper, q, rank, of, basis, m, i, weights ? weights[i] : 1, r->b + i * q);
    free(basis);
    free(upper);
    free(of);
    return status;
}

/* h_x for row x of all. */
static void take_sums(const vxs_residual_products *r, size_t x, double *h)
{
    const size_t q = r->columns, m = r->count;
    const double *g = r->products + x * r->n;
    for (size_t c = 0; c < q; c++) {
        double sums[PARTS] = { 0 };
        size_t l = 0;
        for (; l + PARTS <= m; l += PARTS)
            for (size_t part = 0; part < PARTS; part++)
                sums[part] += r->b[(l + part) * q + c] * g[r->train[l + part]];
        for (; l < m; l++)
            sums[0] += r->b[l * q + c] * g[r->train[l]];
        h[c] = (sums[0] + sums[2]) + (sums[1] + sums[3]);
    }
}

vxs_status vxs_residual_products_init(const double *products, size_t n, const size_t *train,
                                      size_t count, const double *z, size_t columns,
                                      const double *weights, vxs_residual_products *r,
                                      vxs_error *err)
{
    size_t q = columns;
    *r = (vxs_residual_products){ .n = n, .count = count, .columns = q, .products = products };
    r->train = vxs_alloc(count, sizeof(*r->train), err);
    r->b = vxs_alloc(count, (q + 1) * sizeof(*r->b), err);
    r->sums = vxs_alloc(count, (q + 1) * sizeof(*r->sums), err);
    r->square = vxs_alloc(q + 1, (q + 1) * sizeof(*r->square), err);
    r->z = z;
    vxs_status status = r->train && r->b && r->sums && r->square ? VXS_OK : VXS_FAILED;
    if (!status) {
        memcpy(r->train, train, count * sizeof(*train));
        status = find_coefficients(r, z, weights, err);
    }
    for (size_t l = 0; l < count && !status; l++) {
        take_sums(r, train[l], r->sums + l * q);
        for (size_t a = 0; a < q; a++)
            for (size_t b = 0; b < q; b++)
                r->square[a * q + b] += r->sums[l * q + a] * r->b[l * q + b];
    }
    if (status)
        vxs_residual_products_release(r);
    return status;
}

/* z'M */
static void multiply_square(const vxs_residual_products *r, const double *z, double *product)
{
    for (size_t b = 0; b < r->columns; b++) {
        product[b] = 0;
        for (size_t a = 0; a < r->columns; a++)
            product[b] += z[a] * r->square[a * r->columns + b];
    }
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += a[k] * b[k];
    return sum;
}

/* `h` of row x; work: 2 x columns. */
static double fill_row(const vxs_residual_products *r, size_t x, const double *z, const double *h,
                       double *work, double *row)
{
    size_t q = r->columns, m = r->count;
    double *c = work;
    const double *g = r->products + x * r->n;
    multiply_square(r, z, c);
    for (size_t k = 0; k < q; k++)
        c[k] -= h[k];
    for (size_t l = 0; l < m; l++)
        row[l] = g[r->train[l]];
    for (size_t k = 0; k < q; k++) {
        const double *sums = r->sums + k, *own = r->z + k * m;
#pragma omp simd
        for (size_t l = 0; l < m; l++)
            row[l] += c[k] * own[l] - z[k] * sums[l * q];
    }
    return g[x] - dot(z, h, q) + dot(c, z, q);
}

double vxs_residual_products_row(const vxs_residual_products *r, size_t x, const double *z,
                                 double *work, double *row)
{
    take_sums(r, x, work);
    return fill_row(r, x, z, work, work + r->columns, row);
}

double vxs_residual_products_trained(const vxs_residual_products *r, size_t l, double *work,
                                     double *row)
{
    size_t q = r->columns;
    for (size_t c = 0; c < q; c++)
        work[c] = r->z[c * r->count + l];
    return fill_row(r, r->train[l], work, r->sums + l * q, work + q, row);
}

void vxs_residual_products_flatten(const vxs_residual_products *r, const double *a, double *work,
                                   double *d, double *coefficients)
{
    size_t q = r->columns, m = r->count;
    for (size_t k = 0; k < q; k++)
        work[k] = dot(a, r->z + k * m, m);
    for (size_t l = 0; l < m; l++)
        d[l] = a[l] - dot(r->b + l * q, work, q);
    for (size_t k = 0; k < q; k++) {
        coefficients[k] = dot(r->square + k * q, work, q);
        for (size_t l = 0; l < m; l++)
            coefficients[k] -= a[l] * r->sums[l * q + k];
    }
}
