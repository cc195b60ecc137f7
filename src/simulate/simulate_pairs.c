/* simulate_pairs.c - a cohort in which pairs of features predict the diagnosis, and no single
 * feature does.
 *
 * Model    The diagnosis is the sign of z = sum over pairs of w x_a x_b + e; X standard normal, w
 *          is 1 or -1, e normal (linear.c). A product of two independent features is uncorrelated
 *          with either, and z with every linear function of X.
 * Weights  All have the same size: with 200 subjects, each of three pairs is then among the best
 *          few of the 2e8 pairs of 20,000 features; a smaller weight would disappear in chance
 *          correlations.
 */
#include "simulate/linear.h"

#include <stdlib.h>

enum { STREAM_SIGN = VXS_LINEAR_OWN };

#define AT(member) offsetof(vxs_pairs_simulation, member)

const vxs_param vxs_pairs_simulation_params[] = {
    VXS_WHOLE_ROW("subjects", "N", AT(subjects), 200, 2, 1e7, "subjects"),
    VXS_WHOLE_ROW("features", "P", AT(features), 20000, 2, 1e9, "number of features"),
    VXS_WHOLE_ROW("pairs", "K", AT(pairs), 3, 1, 1e6,
                  "number of disjoint pairs of features with nonzero weight"),
    VXS_REAL_ROW(
        "noise", "SD", AT(noise), 0.1, 0, 1e9,
        "standard deviation of the noise on the sum of products; each pair has variance 1"),
    VXS_SEED_ROW(AT(seed)),
    { .name = NULL },
};

typedef struct {
    size_t feature[2]; /* ascending */
    double weight;
} pair;

static int by_feature(const void *a, const void *b)
{
    size_t left = ((const pair *)a)->feature[0], right = ((const pair *)b)->feature[0];
    return (left > right) - (left < right);
}

static vxs_status choose(const vxs_linear *l, pair *pairs, size_t count, vxs_error *err)
{
    vxs_random choice = { l->seed, VXS_LINEAR_CHOICE }, sign = { l->seed, STREAM_SIGN };
    size_t *order = vxs_alloc(l->p, sizeof(*order), err);
    if (!order)
        return VXS_FAILED;
    vxs_random_permutation(&choice, order, l->p);
    for (size_t k = 0; k < count; k++) {
        size_t a = order[2 * k], b = order[2 * k + 1];
        pairs[k] = (pair){ .feature = { a < b ? a : b, a < b ? b : a },
                           .weight = vxs_random_below(&sign, k, 2) ? 1 : -1 };
    }
    qsort(pairs, count, sizeof(*pairs), by_feature);
    free(order);
    return VXS_OK;
}

static vxs_status draw(vxs_linear *l, vxs_error *err)
{
    const vxs_pairs_simulation *s = l->settings;
    size_t count = (size_t)s->pairs;
    if (count > l->p / 2)
        return vxs_fail(err, VXS_MISUSE, "%zu features are too few for %zu pairs", l->p, count);
    pair *pairs = l->own = vxs_alloc(count, sizeof(*pairs), err);
    if (!pairs)
        return VXS_FAILED;
    vxs_status status = choose(l, pairs, count, err);
    for (size_t k = 0; k < count && !status; k++) {
        for (size_t i = 0; i < l->n; i++)
            l->score[i] += pairs[k].weight * (double)vxs_linear_value(l, pairs[k].feature[0], i) *
                           (double)vxs_linear_value(l, pairs[k].feature[1], i);
        status = vxs_check_interrupted(l->context, err);
    }
    return status;
}

static vxs_status write_truth(vxs_linear *l, FILE *stream, vxs_error *err)
{
    const pair *pairs = l->own;
    size_t count = (size_t)((const vxs_pairs_simulation *)l->settings)->pairs;
    vxs_status status = VXS_OK;
    vxs_tsv_writer writer;
    char name[32];
    vxs_tsv_init(&writer, stream);
    vxs_tsv_text(&writer, "first");
    vxs_tsv_text(&writer, "second");
    vxs_tsv_text(&writer, "weight");
    vxs_tsv_end_row(&writer);
    for (size_t k = 0; k < count && !status; k++) {
        for (int side = 0; side < 2; side++) {
            snprintf(name, sizeof(name), "x%zu", pairs[k].feature[side]);
            vxs_tsv_text(&writer, name);
        }
        vxs_tsv_real(&writer, pairs[k].weight);
        vxs_tsv_end_row(&writer);
        status = vxs_check_interrupted(l->context, err);
    }
    return status;
}

vxs_status vxs_simulate_pairs(const vxs_context *context, const vxs_pairs_simulation *settings,
                              const char *directory, bool replace, vxs_error *err)
{
    vxs_linear l = { .context = context,
                     .name = "pairs",
                     .params = vxs_pairs_simulation_params,
                     .settings = settings,
                     .seed = (uint64_t)settings->seed,
                     .n = (size_t)settings->subjects,
                     .p = (size_t)settings->features,
                     .normal = true,
                     .noise = settings->noise,
                     .target = VXS_SIMULATE_DIAGNOSIS,
                     .draw = draw,
                     .write_truth = write_truth };
    vxs_status status = vxs_linear_make(&l, directory, replace, err);
    free(l.own);
    return status;
}
