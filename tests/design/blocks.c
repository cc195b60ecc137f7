/* blocks.c - examples of feature blocks, and their scores by brute force. */
#include "tests/design/blocks.h"

const vxs_feature_map blocks_maps[MAPS] = {
    { .kind = VXS_FEATURE_MAP_NONE },
    { .kind = VXS_FEATURE_MAP_POLY2, .gamma = 0.7, .coef0 = 1.3 },
    { .kind = VXS_FEATURE_MAP_POLY2, .gamma = 2, .coef0 = 0 },
    { .kind = VXS_FEATURE_MAP_GAUSS, .bandwidth = 1.5 },
    { .kind = VXS_FEATURE_MAP_HIK },
};

example blocks_example(uint64_t stream, size_t n, size_t p)
{
    vxs_random random = { .seed = 5, .stream = stream };
    example e = { .n = n, .p = p };
    e.x = malloc((n * p + 1) * sizeof(*e.x));
    e.v = malloc((n + 1) * sizeof(*e.v));
    for (size_t k = 0; k < n * p; k++)
        e.x[k] = (float)(2 + vxs_random_normal(&random, k));
    for (size_t j = 0; j < p; j++) {
        if (j % 7 == 6)
            memcpy(e.x + j * n, e.x + (j - 5) * n, n * sizeof(*e.x));
        for (size_t i = 0; i < n && j % 9 == 8; i++)
            e.x[j * n + i] = 3;
    }
    for (size_t i = 0; i < n; i++)
        e.v[i] = vxs_random_normal(&random, n * p + i);
    return e;
}

void blocks_release(example *e)
{
    free(e->x);
    free(e->v);
}

vxs_design *blocks_design(const example *e, int way, int threads)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_design *design;
    size_t *rows = malloc((e->n + 1) * sizeof(*rows));
    vxs_view view = { .standardize = VXS_STANDARDIZE_UNIT,
                      .rows = way == SOME_ROWS ? rows : NULL,
                      .row_count = (e->n + 1) / 2 };
    for (size_t i = 0; i < view.row_count; i++)
        rows[i] = 2 * i;
    WORKS(vxs_dense_new(e->x, e->n, e->p, threads, &design, &err), err);
    if (way != RAW)
        WORKS(vxs_view_new(design, false, &view, &design, &err), err);
    free(rows);
    return design;
}

/* ---- Brute force ----------------------------------------------------------------------------- */

static double score_of(vxs_blocks *blocks, size_t index, const double *v, double *size)
{
    size_t n = vxs_blocks_rows(blocks), width = vxs_blocks_width(blocks, index);
    double *block = malloc((n * width + 1) * sizeof(*block)), score = 0;
    vxs_blocks_fetch(blocks, index, block);
    *size = 0;
    for (size_t k = 0; k < width; k++) {
        double sum = 0, all = 0;
        for (size_t i = 0; i < n; i++) {
            sum += block[k * n + i] * v[i];
            all += fabs(block[k * n + i] * v[i]);
        }
        score += sum * sum;
        *size += all * all;
    }
    free(block);
    return score;
}

void blocks_scores_agree(vxs_blocks *blocks, const double *v, size_t first, size_t every)
{
    size_t all = vxs_blocks_count(blocks);
    double *scores = malloc((all + 1) * sizeof(*scores)), size;
    bool *requested = malloc((all + 1) * sizeof(*requested));
    for (size_t u = 0; u < all; u++) {
        requested[u] = u >= first && u % every == 0;
        scores[u] = -1;
    }
    vxs_blocks_scores(blocks, v, requested, scores);
    for (size_t u = 0; u < all; u++) {
        double score = requested[u] ? score_of(blocks, u, v, &size) : -1;
        double allowed = requested[u] ? 1e-13 * size : 0;
        cr_assert(fabs(scores[u] - score) <= allowed, "unit %zu: %g, not %g", u, scores[u], score);
    }
    free(scores);
    free(requested);
}

static int falling(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

void blocks_agree(vxs_blocks *blocks, const double *v, size_t most)
{
    vxs_error err = VXS_ERROR_INIT;
    size_t all = vxs_blocks_count(blocks), count = 0;
    vxs_scored *best = malloc((most + 1) * sizeof(*best));
    double *scores = malloc((all + 1) * sizeof(*scores)), largest = 0, size;
    WORKS(vxs_blocks_best(blocks, v, most, best, &count, &err), err);
    cr_assert(count == (most < all ? most : all), "%zu of %zu", count, most);
    for (size_t u = 0; u < all; u++) {
        scores[u] = score_of(blocks, u, v, &size);
        largest = size > largest ? size : largest;
    }
    for (size_t k = 0; k < count; k++) {
        cr_assert(best[k].index < all);
        cr_assert(fabs(best[k].score - scores[best[k].index]) <= 1e-13 * largest,
                  "unit %zu: %g, not %g", best[k].index, best[k].score, scores[best[k].index]);
        cr_assert(k == 0 || best[k - 1].score > best[k].score ||
                      (best[k - 1].score == best[k].score && best[k - 1].index < best[k].index),
                  "%zu and %zu are not in order", k - 1, k);
    }
    qsort(scores, all, sizeof(*scores), falling);
    for (size_t k = 0; k < count; k++)
        cr_assert(fabs(best[k].score - scores[k]) <= 1e-13 * largest, "place %zu: %g, not %g", k,
                  best[k].score, scores[k]);
    free(scores);
    free(best);
}

void units_fewer_are_the_first(vxs_blocks *blocks, const double *v, const size_t *mosts,
                               size_t how_many)
{
    vxs_error err = VXS_ERROR_INIT;
    size_t all = vxs_blocks_count(blocks), whole, count;
    vxs_scored *every = malloc((all + 1) * sizeof(*every)),
               *some = malloc((all + 1) * sizeof(*some));
    WORKS(vxs_blocks_best(blocks, v, all, every, &whole, &err), err);
    cr_assert(whole == all);
    for (size_t m = 0; m < how_many; m++) {
        WORKS(vxs_blocks_best(blocks, v, mosts[m], some, &count, &err), err);
        cr_assert(count == (mosts[m] < all ? mosts[m] : all), "%zu of %zu", count, mosts[m]);
        for (size_t k = 0; k < count; k++)
            cr_assert(some[k].index == every[k].index && some[k].score == every[k].score,
                      "place %zu of %zu: %zu with %a, %zu with %a", k, mosts[m], some[k].index,
                      some[k].score, every[k].index, every[k].score);
    }
    free(every);
    free(some);
}

void blocks_same(vxs_blocks *a, vxs_blocks *b, const double *v, size_t most)
{
    vxs_error err = VXS_ERROR_INIT;
    size_t counts[2];
    vxs_scored *one = calloc(most + 1, sizeof(*one)), *two = calloc(most + 1, sizeof(*two));
    WORKS(vxs_blocks_best(a, v, most, one, &counts[0], &err), err);
    WORKS(vxs_blocks_best(b, v, most, two, &counts[1], &err), err);
    cr_assert(counts[0] == counts[1]);
    for (size_t k = 0; k < counts[0]; k++)
        cr_assert(one[k].index == two[k].index && one[k].score == two[k].score,
                  "place %zu: %zu with %a, %zu with %a", k, one[k].index, one[k].score,
                  two[k].index, two[k].score);
    free(one);
    free(two);
}
