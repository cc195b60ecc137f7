/* feature_map.c - explicit feature maps: columns whose inner products equal or approximate a
 * kernel.
 *
 *  poly2    (gamma x'z + c)^2 = c^2 + sum over blocks of the products of their columns:
 *           2 gamma c x_j z_j, gamma^2 x_j^2 z_j^2 and 2 gamma^2 x_a x_b z_a z_b.
 *  gauss    exp(-d^2 / (2 s^2)) is near one period of sum over m of k_m cos(m L d), d = x - z, k_m
 *           being the kernel's Fourier integral at m L, and cos(m L (x - z)) a product of sines and
 *           cosines. Five harmonics; a longer period increases the truncation error, a shorter one
 *           the aliasing error: with L = 0.62 / s the error for |d| <= 6 s is below 6.5e-4, the
 *           minimum over L (by numerical search; 8.1e-4 with 0.6 / s).
 *  hik      the minimum of two fractions k / 100 is 1 / 100 times the number of steps below both.
 *
 * Source: Tan, Tsang, Wang, "Towards ultrahigh dimensional feature selection for big data", JMLR 15
 * (2014), section 6. */
#include "design/blocks.h"

#include <math.h>
#include <string.h>

static const double L = 0.62; /* for bandwidth 1 */

/* ---- Indices of feature blocks --------------------------------------------------------------- */

size_t vxs_feature_map_count(const vxs_feature_map *map, size_t p)
{
    size_t count;
    if (map->kind != VXS_FEATURE_MAP_POLY2)
        return p;
    if (p > SIZE_MAX - 3 ||
        __builtin_mul_overflow(p % 2 ? p : p / 2, p % 2 ? (p + 3) / 2 : p + 3, &count))
        return SIZE_MAX;
    return count;
}

size_t vxs_feature_map_width(const vxs_feature_map *map)
{
    switch (map->kind) {
    case VXS_FEATURE_MAP_GAUSS:
        return VXS_FEATURE_MAP_GAUSS_WIDTH;
    case VXS_FEATURE_MAP_HIK:
        return VXS_FEATURE_MAP_HIK_WIDTH;
    default:
        return 1;
    }
}

static size_t triangle(size_t x)
{
    return x % 2 ? x * ((x + 1) / 2) : x / 2 * (x + 1);
}

/* Counted from the last, pairs come in rows of p - 2, p - 3, ...: `back` is in the row that begins
 * at a triangular number. */
static void find_pair(size_t p, size_t back, size_t feature[2])
{
    size_t row = (size_t)(sqrt(2 * (double)back + 0.25) - 0.5);
    while (triangle(row) > back)
        row--;
    while (back - triangle(row) > row)
        row++;
    feature[0] = p - 2 - row;
    feature[1] = p - 1 - (back - triangle(row));
}

void vxs_feature_map_features(const vxs_feature_map *map, size_t p, size_t index, size_t feature[2])
{
    if (map->kind == VXS_FEATURE_MAP_POLY2 && index >= 2 * p)
        find_pair(p, vxs_feature_map_count(map, p) - 1 - index, feature);
    else
        feature[0] = feature[1] = index < p ? index : index - p;
}

/* ---- Columns --------------------------------------------------------------------------------- */

static void poly2_column(const vxs_feature_map *map, size_t p, size_t index, const double *a,
                         const double *b, size_t n, double *column)
{
    double linear = sqrt(2 * map->gamma * map->coef0);
    double product = index < 2 * p ? map->gamma : M_SQRT2 * map->gamma;
    for (size_t i = 0; i < n; i++)
        column[i] = index < p ? linear * a[i] : product * (a[i] * b[i]);
}

double vxs_gauss_frequency(const vxs_feature_map *map)
{
    return L / map->bandwidth;
}

void vxs_gauss_factors(double factors[VXS_HARMONICS + 1])
{
    double k = L / sqrt(2 * M_PI);
    factors[0] = sqrt(k);
    for (int m = 1; m <= VXS_HARMONICS; m++)
        factors[m] = sqrt(2 * k) * exp(-m * m * L * L / 4);
}

void vxs_gauss_harmonics(double angle, double cosines[VXS_HARMONICS + 1],
                         double sines[VXS_HARMONICS + 1])
{
    double c = cos(angle), s = sin(angle);
    cosines[0] = 1;
    sines[0] = 0;
    for (int m = 1; m <= VXS_HARMONICS; m++) {
        cosines[m] = cosines[m - 1] * c - sines[m - 1] * s;
        sines[m] = cosines[m - 1] * s + sines[m - 1] * c;
    }
}

static void gauss_columns(const vxs_feature_map *map, const double *x, size_t n, double *block)
{
    double factors[VXS_HARMONICS + 1], c[VXS_HARMONICS + 1], s[VXS_HARMONICS + 1];
    double rate = vxs_gauss_frequency(map);
    vxs_gauss_factors(factors);
    for (size_t i = 0; i < n; i++) {
        vxs_gauss_harmonics(x[i] * rate, c, s);
        block[i] = factors[0];
        for (size_t m = 1; m <= VXS_HARMONICS; m++) {
            block[(2 * m - 1) * n + i] = factors[m] * c[m];
            block[2 * m * n + i] = factors[m] * s[m];
        }
    }
}

/* Robust against rounding: the last step that the value reaches. */
int vxs_feature_map_step(double value, double low, double high)
{
    double way = high - low, at = (value - low) / way * VXS_FEATURE_MAP_HIK_WIDTH;
    if (!(at > 0))
        return 0;
    if (value >= high)
        return VXS_FEATURE_MAP_HIK_WIDTH;
    int step = at < VXS_FEATURE_MAP_HIK_WIDTH ? (int)at : VXS_FEATURE_MAP_HIK_WIDTH - 1;
    if (value < low + step / (double)VXS_FEATURE_MAP_HIK_WIDTH * way)
        return step - 1;
    return step + (value >= low + (step + 1) / (double)VXS_FEATURE_MAP_HIK_WIDTH * way);
}

static void hik_columns(const double *x, double low, double high, size_t n, double *block)
{
    memset(block, 0, VXS_FEATURE_MAP_HIK_WIDTH * n * sizeof(*block));
    for (size_t i = 0; i < n; i++) {
        int step = vxs_feature_map_step(x[i], low, high);
        for (int k = 0; k < step; k++)
            block[(size_t)k * n + i] = 0.1; /* sqrt(1 / 100) */
    }
}

void vxs_feature_map_columns(const vxs_feature_map *map, size_t p, size_t index, const double *a,
                             const double *b, double low, double high, size_t n, double *block)
{
    switch (map->kind) {
    case VXS_FEATURE_MAP_POLY2:
        poly2_column(map, p, index, a, b, n, block);
        break;
    case VXS_FEATURE_MAP_GAUSS:
        gauss_columns(map, a, n, block);
        break;
    case VXS_FEATURE_MAP_HIK:
        hik_columns(a, low, high, n, block);
        break;
    default:
        memcpy(block, a, n * sizeof(*block));
    }
}
