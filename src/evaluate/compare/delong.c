/* delong.c - the difference of two areas under the curve of the same subjects (DeLong, DeLong and
 * Clarke-Pearson 1988), where subjects are compared within folds and folds are repeated.
 *
 * In a fold with m subjects of the positive class and n others, a positive one has the share of the
 * others that its score is above (ties count half), and one of the others the share of the positive
 * ones that are above it; D_i is the first model's share less the second's, and the mean of D over
 * either class is the difference d of the fold's areas. DeLong's variance of d is that of the mean
 * of D over the positive ones plus that over the others. The area of a repeat weighs folds by their
 * pairs, m n; other folds have other subjects, so that variances add:
 *
 *   u_i = weight (D_i - d) / m sqrt(k / (k - 1))     a positive one; for the others n for m
 *
 * with k persons of the class in the fold has the sum of squares that is this variance. Repeats
 * predict the same persons again: u is averaged over repeats and added over the subjects of a
 * person (as Obuchowski 1997 does for clusters) before it is squared. With one fold, one repeat and
 * one subject a person this is DeLong's test. Nothing is averaged or ranked across folds, as scores
 * of different folds are of different models. */
#include "evaluate/compare/compare.h"
#include "evaluate/ranking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_positive(const vxs_compared *c, size_t i)
{
    return c->truth[i] == 1;
}

/* Of one repeat; where no fold has two classes there is one fold of all. */
static size_t fold_of(const vxs_compared *c, size_t repeat, size_t i)
{
    return c->comparison.across ? 0 : c->folds.fold[repeat * c->n + i];
}

/* Of a fold, list[0 ... count - 1] in the order of scores. */
static void share_fold(const vxs_compared *c, const vxs_ranked *list, size_t count, double *share)
{
    double positive = 0, below = 0, passed = 0; /* below: the others, passed: positive ones */
    for (size_t k = 0; k < count; k++)
        positive += is_positive(c, list[k].subject);
    double negative = (double)count - positive;
    for (size_t k = 0, end; k < count; k = end) {
        double up = 0;
        for (end = k; end < count && list[end].score == list[k].score; end++)
            up += is_positive(c, list[end].subject);
        double down = (double)(end - k) - up;
        for (size_t j = k; j < end; j++)
            share[list[j].subject] = is_positive(c, list[j].subject)
                                         ? (below + down / 2) / negative
                                         : (positive - passed - up / 2) / positive;
        below += down;
        passed += up;
    }
}

/* repeats x n: each subject's share of those of the other class that are ordered right. */
static void find_shares(const vxs_compared *c, const vxs_compared_model *m, vxs_ranked *list,
                        double *share)
{
    const double *scores = m->aligned ? m->aligned : m->scores;
    for (size_t r = 0; r < c->folds.repeats; r++) {
        for (size_t i = 0; i < c->n; i++)
            list[i] = (vxs_ranked){ fold_of(c, r, i), i, scores[r * c->n + i] };
        qsort(list, c->n, sizeof(*list), vxs_by_fold_and_score);
        for (size_t k = 0, end; k < c->n; k = end) {
            for (end = k; end < c->n && list[end].fold == list[k].fold; end++)
                continue;
            share_fold(c, list + k, end - k, share + r * c->n);
        }
    }
}

/* A class in a fold: subjects, persons, and the sum of D. */
typedef struct {
    double count, people, sum;
} side;

static void sum_sides(const vxs_compared *c, size_t repeat, const double *a, const double *b,
                      size_t *seen, side *sides)
{
    size_t groups = c->folds.groups;
    memset(sides, 0, 2 * c->folds.count * sizeof(*sides));
    memset(seen, 0, 2 * groups * sizeof(*seen));
    for (size_t i = 0; i < c->n; i++) {
        bool positive = is_positive(c, i);
        side *s = &sides[2 * fold_of(c, repeat, i) + positive];
        s->count++;
        s->sum += a[i] - b[i];
        /* a person is in one fold of a repeat */
        s->people += seen[2 * c->folds.group[i] + positive]++ == 0;
    }
}

static bool compares(const side *two)
{
    return two[0].count > 0 && two[1].count > 0;
}

/* Adds a repeat to the sums of persons; false: a class has one person in a fold. */
static bool add_repeat(const vxs_compared *c, size_t repeat, const double *a, const double *b,
                       const side *sides, double *sums)
{
    double pairs = 0;
    for (size_t f = 0; f < c->folds.count; f++) {
        const side *two = &sides[2 * f];
        pairs += two[0].count * two[1].count;
        if (compares(two) && (two[0].people < 2 || two[1].people < 2))
            return false;
    }
    for (size_t i = 0; i < c->n; i++) {
        const side *two = &sides[2 * fold_of(c, repeat, i)], *mine = &two[is_positive(c, i)];
        if (!compares(two))
            continue;
        double weight = two[0].count * two[1].count / pairs / (double)c->folds.repeats;
        double inflated = sqrt(mine->people / (mine->people - 1));
        sums[c->folds.group[i]] +=
            weight * inflated * (a[i] - b[i] - mine->sum / mine->count) / mine->count;
    }
    return true;
}

typedef struct {
    double *shares; /* models x repeats x n */
    vxs_ranked *list;
    side *sides;  /* folds x 2 */
    size_t *seen; /* groups x 2 */
    double *sums; /* groups */
} room;

#define ROUND_OFF 1e-12

static void test_pair(const vxs_compared *c, const room *w, const vxs_compared_pair *pair,
                      vxs_compared_difference *d)
{
    size_t all = c->folds.repeats * c->n;
    const double *a = w->shares + pair->first * all, *b = w->shares + pair->second * all;
    double square = 0;
    memset(w->sums, 0, c->folds.groups * sizeof(*w->sums));
    for (size_t r = 0; r < c->folds.repeats && !d->delong.undefined; r++) {
        sum_sides(c, r, a + r * c->n, b + r * c->n, w->seen, w->sides);
        if (!add_repeat(c, r, a + r * c->n, b + r * c->n, w->sides, w->sums))
            d->delong.undefined = "a fold has one person of a class";
    }
    for (size_t g = 0; g < c->folds.groups; g++)
        square += w->sums[g] * w->sums[g];
    if (isnan(d->value))
        d->delong.undefined = "no fold has two classes";
    else if (!d->delong.undefined && !(sqrt(square) > ROUND_OFF))
        d->delong.undefined = "both models order the subjects alike";
    if (d->delong.undefined)
        return;
    d->error = sqrt(square);
    d->z = d->value / d->error;
    d->delong.p = erfc(fabs(d->z) / sqrt(2));
}

static void release(room *w)
{
    free(w->shares);
    free(w->list);
    free(w->sides);
    free(w->seen);
    free(w->sums);
}

static vxs_status allocate(const vxs_compared *c, room *w, vxs_error *err)
{
    *w = (room){ .shares =
                     vxs_alloc(c->model_count * c->folds.repeats, c->n * sizeof(*w->shares), err) };
    w->list = vxs_alloc(c->n, sizeof(*w->list), err);
    w->sides = vxs_alloc(c->folds.count, 2 * sizeof(*w->sides), err);
    w->seen = vxs_alloc(c->folds.groups, 2 * sizeof(*w->seen), err);
    w->sums = vxs_alloc(c->folds.groups, sizeof(*w->sums), err);
    return w->shares && w->list && w->sides && w->seen && w->sums ? VXS_OK : VXS_FAILED;
}

vxs_status vxs_compared_delong(vxs_compared *c, vxs_error *err)
{
    size_t area = 0;
    room w;
    for (size_t k = 0; k < c->pair_count * c->metric_count; k++) {
        vxs_compared_difference *d = &c->pairs[k / c->metric_count].each[k % c->metric_count];
        d->delong.p = d->error = d->z = NAN;
    }
    while (area < c->metric_count && c->metrics[area] != vxs_metric_named("auc"))
        area++;
    if (area == c->metric_count || c->class_count != 2)
        return VXS_OK;
    vxs_status status = allocate(c, &w, err);
    for (size_t k = 0; k < c->model_count && !status; k++)
        find_shares(c, &c->models[k], w.list, w.shares + k * c->folds.repeats * c->n);
    for (size_t k = 0; k < c->pair_count && !status; k++)
        test_pair(c, &w, &c->pairs[k], &c->pairs[k].each[area]);
    release(&w);
    return status;
}
