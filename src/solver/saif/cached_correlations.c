/* cached_correlations.c - correlations of all columns with theta from earlier scans.
 *
 * Method    theta = sum of anchors (orthonormal directions scanned before) + residual; x_j'theta is
 *           known up to |x_j| |residual| and the rounding of stored values (16 bit). Columns for
 *           which that is not decisive are read again
 * Cost      p x anchors for an estimate; columns read count as passes
 * Source    dissertation, future work of chapter 2 (multi-level active set); spec/saif.md, lazy
 *           scanning */
#include "solver/saif/cached_correlations.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHARE_OF_DATA 0.05 /* memory for anchors, as a share of the design in float32 */
#define FEWEST        8
#define MOST          128
#define BLOCK         2048
#define LEAST_NEWS    1e-3 /* of |theta|: a smaller residual is not made an anchor */
#define ROUNDING      1.0001
#define WORTH_ALL     8      /* scans all columns instead of more than 1 / 8 of them */
#define SLIGHTLY      0.9999 /* of a level: columns are listed down to there, for rounding */
#define LIKELY        0.25   /* of an error bound: hardly an error is larger */
#define SINGLE        1e-6   /* relative error of an estimate in single precision, at most */

void vxs_cached_correlations_release(vxs_cached_correlations *s)
{
    free(s->points);
    free(s->values);
    free(s->unit);
    free(s->error);
    free(s->sums);
    free(s->share);
    free(s->rest);
    free(s->estimate);
    free(s->error_bound);
    free(s->lengths);
    free(s->near);
    free(s->known);
    free(s->uncertain);
    free(s->some);
    *s = (vxs_cached_correlations){ .design = NULL };
}

/* sum_j = sum over anchors of share x value, in units of |x_j|; by blocks of columns that fit
 * the cache. */
static void combine(const vxs_cached_correlations *s, float *sum)
{
#pragma omp parallel for num_threads(s->nthreads) schedule(static)
    for (size_t first = 0; first < s->p; first += BLOCK) {
        size_t last = first + BLOCK < s->p ? first + BLOCK : s->p;
        for (size_t j = first; j < last; j++)
            sum[j] = 0;
        for (size_t k = 0; k < s->count; k++) {
            const int16_t *values = s->values + k * s->p;
            float share = (float)(s->share[k] * s->unit[k]);
            if (share == 0)
                continue;
#pragma omp simd
            for (size_t j = first; j < last; j++)
                sum[j] += share * (float)values[j];
        }
    }
}

/* Error bound of a combined sum, in units of |x_j|. */
static double combined_error(const vxs_cached_correlations *s)
{
    double error = 0;
    for (size_t k = 0; k < s->count; k++)
        error += fabs(s->share[k]) * (s->error[k] + (double)s->count * (double)FLT_EPSILON);
    return error;
}

/* Splits theta into anchors and residual; returns the norm of the residual. */
static double split(vxs_cached_correlations *s, const double *theta)
{
    int n = (int)s->n;
    memcpy(s->rest, theta, s->n * sizeof(*theta));
    memset(s->share, 0, s->room * sizeof(*s->share));
    for (int twice = 0; twice < 2; twice++)
        for (size_t k = 0; k < s->count; k++) {
            const double *point = s->points + k * s->n;
            double along = cblas_ddot(n, point, 1, s->rest, 1);
            cblas_daxpy(n, -along, point, 1, s->rest, 1);
            s->share[k] += along;
        }
    return cblas_dnrm2(n, s->rest, 1);
}

/* A place for a new anchor; if all are taken, replaces the one with the smallest share, which joins
 * the residual. */
static size_t make_place(vxs_cached_correlations *s)
{
    size_t least = 0;
    if (s->count < s->room) {
        s->share[s->count] = 0;
        s->unit[s->count] = 0;
        return s->count++;
    }
    for (size_t k = 1; k < s->count; k++)
        if (fabs(s->share[k]) < fabs(s->share[least]))
            least = k;
    cblas_daxpy((int)s->n, s->share[least], s->points + least * s->n, 1, s->rest, 1);
    s->share[least] = 0;
    return least;
}

static double offset_of(const vxs_cached_correlations *s, size_t j)
{
    return s->offset ? s->offset[j] : 0;
}

/* Stores values as 16-bit integers with a common scale. */
static void store(vxs_cached_correlations *s, size_t place, const float *values)
{
    float largest = 0;
    int16_t *stored = s->values + place * s->p;
    for (size_t j = 0; j < s->p; j++)
        largest = fabsf(values[j]) > largest ? fabsf(values[j]) : largest;
    float unit = largest > 0 ? largest / INT16_MAX : 1;
    float scale = 1 / unit;
#pragma omp simd
    for (size_t j = 0; j < s->p; j++)
        stored[j] = (int16_t)(int)(values[j] * scale + (values[j] > 0 ? 0.5F : -0.5F));
    s->unit[place] = (double)unit;
    s->error[place] = (double)unit;
}

static void list_none(vxs_cached_correlations *s)
{
    s->near_count = 0;
    s->near_level = INFINITY;
}

/* Scans the residual, which becomes an anchor, normalized. */
static void scan_rest(vxs_cached_correlations *s)
{
    const double *norms = vxs_design_norms(s->design);
    size_t place = make_place(s);
    double length = cblas_dnrm2((int)s->n, s->rest, 1);
    double *point = s->points + place * s->n;
    for (size_t i = 0; i < s->n; i++)
        point[i] = s->rest[i] / length;
    combine(s, s->sums);
    vxs_design_scan(s->design, point, 1, s->some);
    double reach = ROUNDING * combined_error(s);
    for (size_t j = 0; j < s->p; j++) {
        s->estimate[j] = (double)s->sums[j] * norms[j] + length * s->some[j] - offset_of(s, j);
        s->error_bound[j] = (float)(reach * norms[j]);
        s->sums[j] = norms[j] > 0 ? (float)(s->some[j] / norms[j]) : 0;
    }
    vxs_cached_correlations_replaced(s);
    store(s, place, s->sums);
    s->share[place] = length; /* theta is in the span */
    memset(s->rest, 0, s->n * sizeof(*s->rest));
}

vxs_status vxs_cached_correlations_init(vxs_cached_correlations *s, vxs_design *design,
                                        const double *first, vxs_error *err)
{
    size_t n = vxs_design_rows(design), p = vxs_design_columns(design);
    double room = SHARE_OF_DATA * (double)n * sizeof(float) / sizeof(*s->values);
    *s = (vxs_cached_correlations){
        .design = design, .n = n, .p = p, .nthreads = vxs_design_threads(design)
    };
    s->room = room < FEWEST ? FEWEST : room > MOST ? MOST : (size_t)room;
    s->points = vxs_alloc(s->room, n * sizeof(*s->points), err);
    s->values = vxs_resize(NULL, s->room * p, sizeof(*s->values), err);
    s->unit = vxs_alloc(s->room, sizeof(*s->unit), err);
    s->error = vxs_alloc(s->room, sizeof(*s->error), err);
    s->sums = vxs_resize(NULL, p, sizeof(*s->sums), err);
    s->share = vxs_alloc(s->room, sizeof(*s->share), err);
    s->rest = vxs_alloc(n, sizeof(*s->rest), err);
    s->estimate = vxs_alloc(p, sizeof(*s->estimate), err);
    s->error_bound = vxs_alloc(p, sizeof(*s->error_bound), err);
    s->lengths = vxs_resize(NULL, p, sizeof(*s->lengths), err);
    s->near = vxs_resize(NULL, p, sizeof(*s->near), err);
    s->known = vxs_alloc(p, sizeof(*s->known), err);
    s->uncertain = vxs_resize(NULL, p, sizeof(*s->uncertain), err);
    s->some = vxs_resize(NULL, p, sizeof(*s->some), err);
    if (!s->points || !s->values || !s->unit || !s->error || !s->sums || !s->share || !s->rest ||
        !s->estimate || !s->error_bound || !s->lengths || !s->near || !s->known || !s->uncertain ||
        !s->some) {
        vxs_cached_correlations_release(s);
        return VXS_FAILED;
    }
    double length = cblas_dnrm2((int)n, first, 1);
    vxs_status status = vxs_design_measure_scan(design, first, s->estimate, err);
    if (status) {
        vxs_cached_correlations_release(s);
        return status;
    }
    const double *norms = vxs_design_norms(design);
    for (size_t j = 0; j < p; j++) {
        s->longest = norms[j] > s->longest ? norms[j] : s->longest;
        s->lengths[j] = (float)norms[j];
    }
    for (size_t j = 0; j < p && length > 0; j++)
        s->sums[j] = norms[j] > 0 ? (float)(s->estimate[j] / norms[j] / length) : 0;
    for (size_t i = 0; i < n && length > 0; i++)
        s->points[i] = first[i] / length;
    if (length > 0)
        store(s, s->count++, s->sums);
    vxs_cached_correlations_replaced(s);
    return VXS_OK;
}

void vxs_cached_correlations_estimate(vxs_cached_correlations *s, const double *theta)
{
    s->reach = ROUNDING * (split(s, theta) + combined_error(s));
    combine(s, s->sums);
    list_none(s);
    s->complete = false;
    if (++s->turn == 0) { /* all numbers were used */
        memset(s->known, 0, s->p * sizeof(*s->known));
        s->turn = 1;
    }
}

void vxs_cached_correlations_replaced(vxs_cached_correlations *s)
{
    list_none(s);
    s->complete = true;
}

void vxs_cached_correlations_set(vxs_cached_correlations *s, size_t j, double value)
{
    s->estimate[j] = value;
    s->error_bound[j] = 0;
    s->known[j] = s->turn;
}

/* ---- Columns near a level -------------------------------------------------------------------- */

static double combined_estimate(const vxs_cached_correlations *s, const double *norms, size_t j)
{
    return (double)s->sums[j] * norms[j] - offset_of(s, j);
}

static float combined_bound(const vxs_cached_correlations *s, const double *norms, size_t j)
{
    return (float)(s->reach * norms[j]);
}

typedef float quads __attribute__((vector_size(16)));
typedef int quad_signs __attribute__((vector_size(16)));

/* Appends columns first ... p - 1 that reach the level if `share` of the error bound is added;
 * without branches, which would take most of the time. Returns how many are in the list. */
static size_t list_one_by_one(const vxs_cached_correlations *s, double level, double share,
                              size_t first, size_t *list, size_t count)
{
    const double *norms = vxs_design_norms(s->design);
    for (size_t j = first; j < s->p; j++) {
        double most =
            fabs(combined_estimate(s, norms, j)) + share * (double)combined_bound(s, norms, j);
        list[count] = j;
        count += most >= level;
    }
    return count;
}

/* The same of all columns, whose estimates there are. */
static size_t list_estimated(const vxs_cached_correlations *s, double level, double share,
                             size_t *list)
{
    const double *estimate = s->estimate;
    const float *error_bound = s->error_bound;
    size_t count = 0, p = s->p;
    for (size_t j = 0; j < p; j++) {
        list[count] = j;
        count += fabs(estimate[j]) + share * (double)error_bound[j] >= level;
    }
    return count;
}

/* The same by eights, in single precision, as far as there are eights; `end` is where that is. */
static size_t list_by_eights(const vxs_cached_correlations *s, double level, double share,
                             size_t *end, size_t *list)
{
    float least = (float)(level * (1 - SINGLE)), reach = (float)(share * s->reach);
    const float *sums = s->sums, *lengths = s->lengths;
    size_t count = 0, j = 0;
    const quads leasts = { least, least, least, least }, reaches = { reach, reach, reach, reach };
    for (; j + 8 <= s->p; j += 8) {
        quads sum[2], length[2];
        quad_signs may[2];
        uint64_t any[4];
        memcpy(sum, sums + j, sizeof(sum));
        memcpy(length, lengths + j, sizeof(length));
        for (int k = 0; k < 2; k++) {
            quad_signs size = (quad_signs)sum[k] & INT32_MAX; /* without the sign */
            may[k] = (reaches + (quads)size) * length[k] >= leasts;
        }
        memcpy(any, may, sizeof(any));
        if (!(any[0] | any[1] | any[2] | any[3]))
            continue;
        for (size_t lane = 0; lane < 8; lane++) {
            list[count] = j + lane;
            count += may[lane / 4][lane % 4] != 0;
        }
    }
    *end = j;
    return count;
}

/* Estimates of columns that are listed, unless they are known. */
static void estimate_listed(vxs_cached_correlations *s, const size_t *list, size_t count)
{
    const double *norms = vxs_design_norms(s->design);
    for (size_t k = 0; k < count; k++) {
        size_t j = list[k];
        if (s->known[j] == s->turn)
            continue;
        s->estimate[j] = combined_estimate(s, norms, j);
        s->error_bound[j] = combined_bound(s, norms, j);
    }
}

static size_t list_columns(vxs_cached_correlations *s, double level, double share, size_t *list)
{
    size_t end = 0, count = 0;
    if (s->complete)
        return list_estimated(s, level, share, list);
    if (!s->offset && level > 0)
        count = list_by_eights(s, level, share, &end, list);
    count = list_one_by_one(s, level, share, end, list, count);
    estimate_listed(s, list, count);
    return count;
}

void vxs_cached_correlations_list(vxs_cached_correlations *s, double level)
{
    if (level >= s->near_level)
        return;
    s->near_level = level > 0 ? SLIGHTLY * level : -INFINITY;
    s->near_count = list_columns(s, s->near_level, 1, s->near);
}

size_t vxs_cached_correlations_likely(vxs_cached_correlations *s, double level, size_t *list)
{
    return list_columns(s, level, LIKELY, list);
}

/* ---- Refreshing ------------------------------------------------------------------------------ */

/* `among`: NULL for all columns. */
static size_t list_unsure(vxs_cached_correlations *s, double level, double slack,
                          const size_t *among, size_t count)
{
    const double *norms = vxs_design_norms(s->design);
    size_t unsure = 0;
    if (!among) {
        vxs_cached_correlations_list(s, level - slack * s->longest);
        among = s->near;
        count = s->near_count;
    }
    for (size_t k = 0; k < count; k++) {
        size_t j = among[k];
        double most = fabs(s->estimate[j]) + (double)s->error_bound[j] + slack * norms[j];
        s->uncertain[unsure] = j; /* without branches: a third of the time */
        unsure += (s->error_bound[j] > 0) & (most >= level);
    }
    return unsure;
}

/* Scans all columns if it pays; returns the number of uncertain columns. */
static size_t renew(vxs_cached_correlations *s, const double *theta, double level, double slack,
                    const size_t *among, size_t count)
{
    size_t unsure = list_unsure(s, level, slack, among, count);
    double length = cblas_dnrm2((int)s->n, s->rest, 1);
    if (unsure * WORTH_ALL <= s->p || length <= LEAST_NEWS * cblas_dnrm2((int)s->n, theta, 1))
        return unsure;
    scan_rest(s);
    return list_unsure(s, level, slack, among, count);
}

void vxs_cached_correlations_refresh_all(vxs_cached_correlations *s, const double *theta,
                                         double level)
{
    (void)renew(s, theta, level, 0, NULL, s->p);
}

void vxs_cached_correlations_refresh(vxs_cached_correlations *s, const double *theta, double level,
                                     double slack)
{
    vxs_cached_correlations_refresh_some(s, theta, level, slack, NULL, s->p);
}

void vxs_cached_correlations_refresh_some(vxs_cached_correlations *s, const double *theta,
                                          double level, double slack, const size_t *among,
                                          size_t count)
{
    size_t unsure = renew(s, theta, level, slack, among, count);
    vxs_design_scan_some(s->design, s->uncertain, unsure, theta, s->some);
    for (size_t k = 0; k < unsure; k++)
        vxs_cached_correlations_set(s, s->uncertain[k], s->some[k] - offset_of(s, s->uncertain[k]));
}
