/* kernel_matrix.c - kernels between subjects from the inner products of their rows.
 *
 * What is estimated on training subjects and taken out of all rows, means or a regression on
 * covariates, is algebra on the products: with Z the covariates and B the coefficients' weights of
 * training subjects, row x becomes x - z_x'B X, so that the product of two rows becomes
 *
 *     g(x, y) - z_x'h_y - z_y'h_x + z_x'M z_y,    h_x = B g(., x),    M = (h of training) B'
 *
 * One matrix of products thus serves all folds. */
#include "design/design.h"
#include "design/gauss.h"
#include "linalg/gram_schmidt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TILE     64 /* subjects */
#define PARTS    4  /* of a sum */
#define BINS     4096
#define FARTHEST 37.6 /* standard deviations, where exp is 1e-307 */

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

/* ---- Kernels --------------------------------------------------------------------------------- */

typedef struct {
    double square, weight;
} pair;

/* The first of the ascending squares at which more than half of the weight is reached. */
static double middle_of_weighted(pair *list, size_t count)
{
    double half = 0, below = 0;
    size_t first = 0, last = count;
    for (size_t i = 0; i < count; i++)
        half += list[i].weight / 2;
    while (last - first > 1) {
        double pivot = list[first + (last - first) / 2].square, less = 0, equal = 0;
        size_t low = first, high = last;
        for (size_t i = first; i < high;) {
            pair here = list[i];
            if (here.square < pivot) {
                less += here.weight;
                list[i++] = list[low];
                list[low++] = here;
            } else if (here.square > pivot) {
                list[i] = list[--high];
                list[high] = here;
            } else {
                equal += here.weight;
                i++;
            }
        }
        if (below + less > half) {
            last = low;
        } else if (below + less + equal > half || high == last) {
            return pivot;
        } else {
            below += less + equal;
            first = high;
        }
    }
    return list[first].square;
}

/* The squared distance of two subjects; 0 if nothing but rounding is left of it. */
static double square_of(const double *k, size_t m, size_t i, size_t j)
{
    double own = k[i * m + i], other = k[j * m + j], square = own + other - 2 * k[j * m + i];
    return square > 1e-12 * (fabs(own) + fabs(other)) ? square : 0;
}

/* A pair counts as often as rows of its two subjects make pairs, if a weight is how often a row is
 * there; those of copies are at distance 0. */
static vxs_status weighted_median(const double *k, const double *weights, size_t m, double *median,
                                  vxs_error *err)
{
    size_t used = 0;
    pair *list = vxs_alloc(m * (m - 1) / 2 + 1, sizeof(*list), err);
    if (!list)
        return VXS_FAILED;
    for (size_t j = 0; j < m; j++)
        for (size_t i = 0; i < j; i++) {
            double square = square_of(k, m, i, j), weight = weights[i] * weights[j];
            if (square > 0 && weight > 0)
                list[used++] = (pair){ square, weight };
        }
    if (used > 0)
        *median = middle_of_weighted(list, used);
    free(list);
    return VXS_OK;
}

static size_t bin_of(double square, double per_bin)
{
    double bin = square * per_bin;
    return bin < BINS ? (size_t)bin : BINS - 1;
}

/* The squares of a bin. */
static size_t list_bin(const double *k, size_t m, double per_bin, size_t bin, double *list)
{
    size_t used = 0;
    for (size_t j = 0; j < m; j++)
        for (size_t i = 0; i < j; i++) {
            double square = square_of(k, m, i, j);
            if (square > 0 && bin_of(square, per_bin) == bin)
                list[used++] = square;
        }
    return used;
}

/* Found in its bin, so that the list is short. */
static vxs_status plain_median(const double *k, size_t m, double *median, vxs_error *err)
{
    size_t count[BINS] = { 0 }, used = 0, bin = 0, below = 0;
    double largest = 0;
    for (size_t i = 0; i < m; i++)
        largest = fmax(largest, k[i * m + i]);
    const double per_bin = largest > 0 ? BINS / (4 * largest) : 0;
    for (size_t j = 0; j < m; j++)
        for (size_t i = 0; i < j; i++) {
            double square = square_of(k, m, i, j);
            used += square > 0;
            count[bin_of(square, per_bin)] += square > 0;
        }
    if (used == 0)
        return VXS_OK;
    while (below + count[bin] <= used / 2)
        below += count[bin++];
    double *list = vxs_alloc(count[bin], sizeof(*list), err);
    if (!list)
        return VXS_FAILED;
    *median = vxs_quickselect(list, list_bin(k, m, per_bin, bin, list), used / 2 - below);
    free(list);
    return VXS_OK;
}

/* Of squared distances between different subjects: the middle one, or the middle of those above
 * 0. */
static vxs_status median_distance(const double *k, const double *weights, size_t m, double *median,
                                  vxs_error *err)
{
    *median = 1;
    return weights ? weighted_median(k, weights, m, median, err) : plain_median(k, m, median, err);
}

static double mean_of_diagonal(const double *k, const double *weights, size_t m)
{
    double sum = 0, whole = 0;
    for (size_t i = 0; i < m; i++)
        whole += weights ? weights[i] : 1;
    for (size_t i = 0; i < m && whole > 0; i++)
        sum += (weights ? weights[i] : 1) * k[i * m + i] / whole;
    return sum;
}

static double power(double base, int exponent)
{
    double product = 1;
    for (int k = 0; k < exponent; k++)
        product *= base;
    return product;
}

double vxs_kernel_value(const vxs_kernel *kernel, double product, double own, double other)
{
    double scaled = product / kernel->scale;
    double value = kernel->kind == VXS_KERNEL_RBF
                       ? exp(-kernel->gamma * fmax(0, own + other - 2 * product) / kernel->scale)
                   : kernel->kind == VXS_KERNEL_POLY
                       ? power(kernel->gamma * scaled + kernel->constant, kernel->degree)
                       : scaled;
    return kernel->factor * value;
}

double vxs_kernel_slope(const vxs_kernel *kernel, double product, double own, double other)
{
    double inner = kernel->gamma / kernel->scale;
    if (kernel->kind == VXS_KERNEL_LINEAR)
        return kernel->factor / kernel->scale;
    if (kernel->kind == VXS_KERNEL_RBF)
        return 2 * inner * vxs_kernel_value(kernel, product, own, other);
    return kernel->factor * kernel->degree * inner *
           power(inner * product + kernel->constant, kernel->degree - 1);
}

vxs_status vxs_kernel_scale(vxs_kernel *kernel, const double *products, const double *weights,
                            size_t m, vxs_error *err)
{
    if (kernel->kind == VXS_KERNEL_RBF)
        return median_distance(products, weights, m, &kernel->scale, err);
    kernel->scale = mean_of_diagonal(products, weights, m);
    kernel->scale = kernel->scale > 0 ? kernel->scale : 1;
    return VXS_OK;
}

/* `row` has TILE values, `count` of them products with subjects whose own are `own`. */
static void apply_row(const vxs_kernel *kernel, const double *own, double other, size_t count,
                      double *row)
{
    if (kernel->kind != VXS_KERNEL_RBF) {
        for (size_t i = 0; i < count; i++)
            row[i] = vxs_kernel_value(kernel, row[i], own[i], other);
        return;
    }
    double twice = 2 * kernel->gamma / kernel->scale;
    for (size_t i = 0; i < count; i++)
        row[i] = fmin(FARTHEST, sqrt(twice * fmax(0, own[i] + other - 2 * row[i])));
    vxs_choose_exponentials()->bells(row, TILE, row);
    for (size_t i = 0; i < count; i++)
        row[i] *= kernel->factor;
}

/* Columns of a tile and rows before them: what is read and written across stays in cache. */
static void apply_tile(const vxs_kernel *kernel, double *k, size_t m, size_t first, size_t before)
{
    double row[TILE] = { 0 }, own[TILE] = { 0 };
    for (size_t i = before; i < before + TILE && i < m; i++)
        own[i - before] = k[i * m + i];
    for (size_t j = first; j < first + TILE && j < m; j++) {
        size_t end = before + TILE < j ? before + TILE : j;
        for (size_t i = before; i < end; i++)
            row[i - before] = (k[j * m + i] + k[i * m + j]) / 2;
        if (before < end)
            apply_row(kernel, own, k[j * m + j], end - before, row);
        for (size_t i = before; i < end; i++)
            k[j * m + i] = k[i * m + j] = row[i - before];
    }
}

void vxs_kernel_apply(const vxs_kernel *kernel, double *k, size_t m)
{
    for (size_t first = 0; first < m; first += TILE)
        for (size_t before = 0; before <= first; before += TILE)
            apply_tile(kernel, k, m, first, before);
    for (size_t i = 0; i < m; i++)
        k[i * m + i] = vxs_kernel_value(kernel, k[i * m + i], k[i * m + i], k[i * m + i]);
}
