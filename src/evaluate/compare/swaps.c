/* swaps.c - the permutation test of two models' predictions of the same subjects.
 *
 * If a person's predictions by the two models are exchangeable, every swap of them, person by
 * person, is as likely as what was seen. So p = (b + 1) / (m + 1), where b of m random swaps have a
 * difference as large as the observed one in absolute value, is valid for any number of persons and
 * any metric (Phipson and Smyth 2010). With few persons all swaps are tried; a swap of everybody
 * else has the same absolute difference, so that one person stays as he is.
 *
 * What is swapped is everything that a model says of a person's subjects in all repeats: scores
 * with the class that they stand for, and probabilities. Predictions must be in one unit. Scores of
 * two classes may be log odds by one method and margins by another; for the area under the curve,
 * which depends on their order alone, those of each fold are replaced by a rising function of them
 * that was learned without the fold: |slope| times the score plus the offset of its calibration,
 * which is found again from scores and probabilities. */
#include "evaluate/compare/compare.h"
#include "voxsift/internal/machine.h"

#include <math.h>
#include <stdlib.h>

/* ---- One unit for scores of two classes ------------------------------------------------------ */

#define CLEAR 1e-6 /* probabilities nearer to 0 or 1 have lost digits */
#define FLAT  1e-6 /* log odds over a fold: of a slope of 0, and the order is kept */

static double logit(double p)
{
    return log(p / (1 - p));
}

/* The subjects of the fold with the least and the greatest score of those whose p is clear. */
static void find_ends(const size_t *of, size_t fold, size_t n, const double *score, const double *p,
                      size_t *least, size_t *most)
{
    *least = *most = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        if (of[i] != fold || !(p[i] > CLEAR && p[i] < 1 - CLEAR))
            continue;
        *least = *least == SIZE_MAX || score[i] < score[*least] ? i : *least;
        *most = *most == SIZE_MAX || score[i] > score[*most] ? i : *most;
    }
}

static void calibrate_fold(const size_t *of, size_t fold, size_t n, const double *score,
                           const double *p, double *ordered)
{
    size_t least, most;
    double slope = 1, offset = 0;
    find_ends(of, fold, n, score, p, &least, &most);
    if (least != SIZE_MAX) {
        double width = score[most] - score[least], low = logit(p[least]);
        double rise = logit(p[most]) - low;
        if (!(fabs(rise) > FLAT))
            rise = FLAT;
        slope = width > 0 ? rise / width : 1;
        offset = low - slope * score[least];
    }
    if (!isfinite(slope) || !isfinite(offset)) {
        slope = 1;
        offset = 0;
    }
    for (size_t i = 0; i < n; i++)
        if (of[i] == fold)
            ordered[i] = fabs(slope) * score[i] + offset;
}

/* repeats x n; freed by the caller. */
static vxs_status calibrate(const vxs_compared *c, const vxs_compared_model *m, double **ordered,
                            vxs_error *err)
{
    *ordered = vxs_alloc(c->folds.repeats, c->n * sizeof(**ordered), err);
    for (size_t r = 0; *ordered && r < c->folds.repeats; r++)
        for (size_t f = 0; f < c->folds.count; f++)
            calibrate_fold(c->folds.fold + r * c->n, f, c->n, m->scores + r * c->n,
                           m->probabilities + (2 * r + 1) * c->n, *ordered + r * c->n);
    return *ordered ? VXS_OK : VXS_FAILED;
}

/* ---- One swap -------------------------------------------------------------------------------- */

/* What is swapped of a model; NULL: it has no such thing. */
enum { SCORES, ALIGNED, PROBABILITIES, ORDERED, PARTS };
typedef struct {
    const double *part[PARTS];
} said;
typedef struct {
    double *part[2][PARTS];
} room;

typedef struct {
    vxs_compared *c;
    said side[2];
    size_t rows[PARTS]; /* of n */
    bool area;          /* the AUC is among the metrics, of ordered scores */
    bool others;        /* as are others */
    double *observed;   /* one a metric */
    size_t *reached;
} swapper;

static vxs_status measure_side(const swapper *s, const double *const part[PARTS], vxs_metrics *m,
                               vxs_error *err)
{
    vxs_evaluated e = vxs_compared_evaluated(s->c, NULL);
    const vxs_predictor plain = { part[SCORES], part[ALIGNED], part[PROBABILITIES] },
                        ordered = { .scores = part[ORDERED] };
    vxs_metrics area;
    vxs_status status = s->others ? vxs_measure_repeats(&e, &plain, m, err) : VXS_OK;
    if (status || !s->area)
        return status;
    e.only = vxs_metric_named("auc");
    status = vxs_measure_repeats(&e, &ordered, &area, err);
    m->auc = area.auc;
    return status;
}

/* `size`: of the larger of the two. */
static vxs_status measure_swap(const swapper *s, const double *const first[PARTS],
                               const double *const second[PARTS], double *difference, double *size,
                               vxs_error *err)
{
    const vxs_compared *c = s->c;
    vxs_metrics a, b;
    vxs_status status = measure_side(s, first, &a, err);
    if (!status)
        status = measure_side(s, second, &b, err);
    for (size_t m = 0; m < c->metric_count && !status; m++) {
        double left = *vxs_metric(&a, c->metrics[m]), right = *vxs_metric(&b, c->metrics[m]);
        difference[m] = left - right;
        if (size)
            size[m] = fmax(fabs(left), fabs(right));
    }
    return status;
}

static bool is_swapped(const vxs_compared *c, uint64_t number, size_t group)
{
    const vxs_random random = { (uint64_t)c->settings.seed, VXS_STREAM_SWAP + number };
    if (c->exhaustive) /* of at most 32 groups */
        return number >> group & 1;
    return vxs_random_bits(&random, group / 64) >> group % 64 & 1;
}

/* The models' predictions with those of the swap's persons exchanged. */
static void swap(const swapper *s, uint64_t number, room *to)
{
    const vxs_compared *c = s->c;
    for (size_t i = 0; i < c->n; i++) {
        bool other = is_swapped(c, number, c->folds.group[i]);
        for (int k = 0; k < PARTS; k++)
            for (size_t r = 0; s->side[0].part[k] && r < s->rows[k]; r++)
                for (int side = 0; side < 2; side++)
                    to->part[side][k][r * c->n + i] = s->side[side ^ other].part[k][r * c->n + i];
    }
}

static vxs_status allocate(const swapper *s, room *to, vxs_error *err)
{
    bool fine = true;
    *to = (room){ .part = { { NULL } } };
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < PARTS; k++)
            if (s->side[0].part[k]) {
                to->part[side][k] = vxs_alloc(s->rows[k], s->c->n * sizeof(double), err);
                fine = fine && to->part[side][k];
            }
    return fine ? VXS_OK : VXS_FAILED;
}

static void release_room(room *to)
{
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < PARTS; k++)
            free(to->part[side][k]);
}

/* ---- All swaps ------------------------------------------------------------------------------- */

#define ROUND_OFF 1e-12 /* of a difference, relative to what it is of */

/* One that cannot be measured counts as one that reaches the observed one. */
static vxs_status count_one(const swapper *s, uint64_t number, room *to, double *difference,
                            const double *size, vxs_error *err)
{
    swap(s, number, to);
    vxs_status status = measure_swap(s, (const double *const *)to->part[0],
                                     (const double *const *)to->part[1], difference, NULL, err);
    for (size_t m = 0; m < s->c->metric_count && !status; m++)
        if (!(fabs(difference[m]) < fabs(s->observed[m]) - ROUND_OFF * size[m])) {
#pragma omp atomic
            s->reached[m]++;
        }
    return status;
}

/* Numbers of swaps are from 1 on: 0 exchanges none. */
static vxs_status count_all(const swapper *s, const double *size, vxs_progress *progress,
                            int threads, vxs_error *err)
{
    vxs_status status = VXS_OK;
    int stop = 0;
#pragma omp parallel num_threads(threads)
    {
        vxs_error why = VXS_ERROR_INIT;
        room to;
        double *difference = vxs_alloc(s->c->metric_count, sizeof(*difference), &why);
        vxs_status one = allocate(s, &to, &why);
        one = difference ? one : VXS_FAILED;
#pragma omp for schedule(dynamic, 16)
        for (size_t k = 1; k <= s->c->swaps; k++) {
            if (one || __atomic_load_n(&stop, __ATOMIC_RELAXED))
                continue;
            one = count_one(s, k, &to, difference, size, &why);
            if (!one)
                one = vxs_progress_step(progress, 1, &why);
            if (one)
                __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
        }
        if (one) {
#pragma omp critical
            status = vxs_fail(err, why.status, "%s", why.message);
        }
        release_room(&to);
        free(difference);
    }
    return status;
}

static void take_p(const swapper *s, vxs_compared_pair *pair)
{
    for (size_t m = 0; m < s->c->metric_count; m++) {
        vxs_compared_difference *d = &pair->each[m];
        d->reached = s->reached[m];
        d->swap.p = ((double)s->reached[m] + 1) / ((double)s->c->swaps + 1);
        if (isnan(s->observed[m])) {
            d->swap.p = NAN;
            d->reached = 0;
            d->swap.undefined = "the metric is not defined for both models";
        }
    }
}

static vxs_status test_pair(const swapper *all, double *const *ordered, vxs_compared_pair *pair,
                            vxs_progress *progress, int threads, vxs_error *err)
{
    swapper s = *all;
    const vxs_compared *c = s.c;
    double *size = vxs_alloc(c->metric_count, sizeof(*size), err);
    s.observed = vxs_alloc(c->metric_count, sizeof(*s.observed), err);
    s.reached = vxs_alloc(c->metric_count, sizeof(*s.reached), err);
    vxs_status status = size && s.observed && s.reached ? VXS_OK : VXS_FAILED;
    for (int k = 0; k < 2; k++) {
        size_t number = k ? pair->second : pair->first;
        const vxs_compared_model *m = &c->models[number];
        s.side[k] = (said){ { m->scores, m->aligned, m->probabilities, ordered[number] } };
    }
    if (!status)
        status = measure_swap(&s, s.side[0].part, s.side[1].part, s.observed, size, err);
    if (!status)
        status = count_all(&s, size, progress, threads, err);
    if (!status)
        take_p(&s, pair);
    free(size);
    free(s.observed);
    free(s.reached);
    return status;
}

/* All swaps of all but one group, where these are not more than the random ones that were asked
 * for. */
static void count_swaps(vxs_compared *c)
{
    size_t groups = c->folds.groups, asked = (size_t)c->settings.permutations;
    c->exhaustive = groups <= 32 && ((uint64_t)1 << (groups - 1)) <= asked + 1;
    c->swaps = c->exhaustive ? ((size_t)1 << (groups - 1)) - 1 : asked;
}

vxs_status vxs_compared_swap(const vxs_context *context, vxs_compared *c, vxs_error *err)
{
    size_t outputs = vxs_compared_outputs(c), repeats = c->folds.repeats;
    swapper s = {
        .c = c, .rows = { repeats * outputs, repeats * outputs, repeats * c->class_count, repeats }
    };
    double **ordered = vxs_alloc(c->model_count, sizeof(*ordered), err);
    vxs_status status = ordered ? VXS_OK : VXS_FAILED;
    vxs_progress progress;
    count_swaps(c);
    for (size_t m = 0; m < c->metric_count; m++) {
        bool area = c->metrics[m] == vxs_metric_named("auc") && c->class_count == 2 &&
                    !c->comparison.across;
        s.area = s.area || area;
        s.others = s.others || !area;
    }
    for (size_t k = 0; k < c->model_count && s.area && !status; k++)
        status = calibrate(c, &c->models[k], &ordered[k], err);
    vxs_progress_start(&progress, context, "swapping", "swaps", c->pair_count * c->swaps);
    for (size_t k = 0; k < c->pair_count && !status; k++)
        status = test_pair(&s, ordered, &c->pairs[k], &progress, vxs_context_threads(context), err);
    for (size_t k = 0; ordered && k < c->model_count; k++)
        free(ordered[k]);
    free(ordered);
    return status;
}
