/* Pairs of classes, and what their margins and shares say of classes. */
#include "tests/core/check.h"

#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

Test(one_vs_one, pairs_are_in_the_order_of_classes)
{
    char a[] = "AD", b[] = "CN", c[] = "MCI", d[] = "SCD", text[VXS_OUTPUT_TEXT];
    char *classes[] = { a, b, c, d };
    static const char *const names[] = { "AD against CN",  "AD against MCI", "AD against SCD",
                                         "CN against MCI", "CN against SCD", "MCI against SCD" };
    vxs_task task = { .settings.multiclass = VXS_ONE_VS_ONE,
                      .loss = &vxs_logistic_loss,
                      .class_count = 4,
                      .classes = classes };
    cr_assert(vxs_task_outputs(&task) == 6 && vxs_task_problems(&task) == 6);
    cr_assert(vxs_task_score_count(&task) == 4 && vxs_task_has_pairs(&task));
    for (size_t k = 0, first = 0, second = 1; k < 6; k++) {
        cr_assert(strcmp(vxs_task_output_name(&task, k, text), names[k]) == 0, "%s", text);
        for (size_t i = 0; i < 4; i++) {
            double side = vxs_output_side(&task, k, (double)i);
            cr_assert(i == first ? side == 1 : i == second ? side == -1 : isnan(side));
        }
        second++;
        first += second == 4;
        second = second == 4 ? first + 1 : second;
    }
    task.settings.multiclass = VXS_ONE_VS_REST;
    cr_assert(vxs_task_outputs(&task) == 4 && !vxs_task_has_pairs(&task));
    cr_assert(vxs_task_output_name(&task, 2, text) == c && vxs_output_side(&task, 2, 1) == -1);
}

/* Whatever the margins: more votes win, and margins decide between equal ones. */
Test(one_vs_one, votes_come_before_margins)
{
    enum { CLASSES = 5, PAIRS = 10 };
    const vxs_random random = { 3, 1 };
    for (size_t draw = 0; draw < 2000; draw++) {
        double margins[PAIRS], scores[CLASSES], votes[CLASSES] = { 0 }, sums[CLASSES] = { 0 };
        for (size_t k = 0; k < PAIRS; k++)
            margins[k] = pow(10, 6 * vxs_random_uniform(&random, draw * 40 + k) - 3) *
                         (vxs_random_uniform(&random, draw * 40 + 20 + k) - 0.5);
        for (size_t a = 0, k = 0; a < CLASSES; a++)
            for (size_t b = a + 1; b < CLASSES; b++, k++) {
                votes[margins[k] > 0 ? a : b]++;
                sums[a] += margins[k];
                sums[b] -= margins[k];
            }
        vxs_pairs_vote(margins, CLASSES, scores);
        for (size_t a = 0; a < CLASSES; a++)
            for (size_t b = 0; b < CLASSES; b++)
                cr_assert(votes[a] > votes[b]    ? scores[a] > scores[b]
                          : votes[a] == votes[b] ? (sums[a] > sums[b]) <= (scores[a] >= scores[b])
                                                 : true);
    }
}

/* sum over pairs (r_ba p_a - r_ab p_b)^2 */
static double cost(const double *first, size_t classes, const double *p)
{
    double sum = 0;
    for (size_t a = 0, k = 0; a < classes; a++)
        for (size_t b = a + 1; b < classes; b++, k++)
            sum += pow((1 - first[k]) * p[a] - first[k] * p[b], 2);
    return sum;
}

/* Of all shares on a fine grid none costs less. */
Test(one_vs_one, coupled_shares_cost_least)
{
    enum { STEPS = 200 };
    const vxs_random random = { 4, 1 };
    for (size_t draw = 0; draw < 200; draw++) {
        double first[3], p[3];
        for (size_t k = 0; k < 3; k++)
            first[k] = draw % 10 == 0 ? (double)((draw / 10 >> k) & 1)
                                      : vxs_random_uniform(&random, 3 * draw + k);
        vxs_pairs_couple(first, 3, p);
        double least = cost(first, 3, p);
        cr_assert(fabs(p[0] + p[1] + p[2] - 1) < 1e-12 && p[0] >= 0 && p[1] >= 0 && p[2] >= 0);
        for (size_t a = 0; a <= STEPS; a++)
            for (size_t b = 0; a + b <= STEPS; b++) {
                const double q[3] = { (double)a / STEPS, (double)b / STEPS,
                                      (double)(STEPS - a - b) / STEPS };
                cr_assert(cost(first, 3, q) >= least - 1e-6, "%g %g", cost(first, 3, q), least);
            }
    }
}

/* Shares of pairs that have a common origin give it back, of as many classes as there may be. */
Test(one_vs_one, what_is_consistent_is_found)
{
    static double first[VXS_MOST_CLASSES * (VXS_MOST_CLASSES - 1) / 2];
    const vxs_random random = { 5, 1 };
    for (size_t classes = 3; classes <= VXS_MOST_CLASSES; classes++) {
        double truth[VXS_MOST_CLASSES], p[VXS_MOST_CLASSES], sum = 0;
        for (size_t c = 0; c < classes; c++)
            sum += truth[c] = 0.01 + vxs_random_uniform(&random, classes * 100 + c);
        for (size_t a = 0, k = 0; a < classes; a++)
            for (size_t b = a + 1; b < classes; b++, k++)
                first[k] = truth[a] / (truth[a] + truth[b]);
        vxs_pairs_couple(first, classes, p);
        for (size_t c = 0; c < classes; c++)
            cr_assert(fabs(p[c] - truth[c] / sum) < 1e-9, "%zu: %g", classes, p[c]);
    }
}

Test(one_vs_one, unknown_scores_stay_unknown)
{
    enum { N = 2 };
    const double outputs[3 * N] = { 1, NAN, 2, NAN, -1, NAN };
    double scores[3 * N], probabilities[3 * N];
    vxs_pairs_conclude(outputs, 3, N, N, NULL, NULL, N, scores, probabilities);
    for (size_t c = 0; c < 3; c++)
        cr_assert(isnan(scores[c * N + 1]) && isnan(probabilities[c * N + 1]) &&
                  isfinite(scores[c * N]) && isfinite(probabilities[c * N]));
    cr_assert(scores[0] > scores[4] && scores[4] > scores[2] && probabilities[0] > 0.5);
}
