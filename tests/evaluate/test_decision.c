/* Thresholds learned from scores: beside all thresholds that there are. */
#include "evaluate/decision.h"
#include "voxsift/internal/core.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { N = 24 };

/* What the rule wants at a threshold, the more the better; -1: the share is not reached. */
static double merit(const char *rule, const double *truth, const double *scores, const double *u,
                    double threshold)
{
    double is[2] = { 0, 0 }, right[2] = { 0, 0 };
    for (size_t i = 0; i < N; i++) {
        bool positive = truth[i] == 1, said = scores[i] > threshold;
        is[positive] += u[i];
        right[positive] += positive == said ? u[i] : 0;
    }
    double sensitivity = right[1] / is[1], specificity = right[0] / is[0];
    if (strcmp(rule, "f1") == 0)
        return 2 * right[1] / (right[1] + is[1] + is[0] - right[0]);
    if (strcmp(rule, "balanced") == 0)
        return (sensitivity + specificity) / 2;
    bool first = strcmp(rule, "sens:0.8") == 0;
    bool reached = (first ? sensitivity : specificity) >= 0.8 - 1e-12;
    return reached ? (first ? specificity : sensitivity) : -1;
}

Test(decision, is_the_best_of_all_thresholds)
{
    static const char *const rules[] = { "f1", "balanced", "sens:0.8", "spec:0.8" };
    const vxs_random r = { .seed = 41 };
    for (uint64_t draw = 0, at = 0; draw < 500; draw++) {
        double truth[N], scores[N], u[N];
        for (size_t i = 0; i < N; i++) {
            truth[i] = i < 2 ? (double)i : (double)(vxs_random_below(&r, at++, 3) == 0);
            scores[i] = vxs_random_normal(&r, at++) + truth[i] + (double)(draw % 5) - 2;
            if (draw % 2) /* with ties */
                scores[i] = round(scores[i]);
            u[i] = draw % 3 ? 1 : 0.5 + (double)vxs_random_below(&r, at++, 4);
        }
        for (size_t k = 0; k < 4; k++) {
            const vxs_predictions p = {
                .n = N, .class_count = 2, .truth = truth, .scores = scores
            };
            double threshold, most = merit(rules[k], truth, scores, u, 0), nearest = INFINITY;
            cr_assert(!vxs_decision_learn(rules[k], &p, u, &threshold, NULL));
            for (size_t i = 0; i < N; i++)
                most = fmax(most, merit(rules[k], truth, scores, u, scores[i]));
            most = fmax(most, merit(rules[k], truth, scores, u, -1e9));
            double here = merit(rules[k], truth, scores, u, threshold);
            cr_expect(here >= most - 1e-12, "%s: %g instead of %g", rules[k], here, most);
            if (merit(rules[k], truth, scores, u, 0) >= most - 1e-12 && k < 2)
                nearest = 0;
            cr_expect(nearest > 0 || threshold == 0, "%s: 0 is as good as %g", rules[k], threshold);
        }
    }
}

Test(decision, scores_that_are_all_the_same)
{
    const double truth[] = { 0, 1, 1 }, scores[] = { 2, 2, 2 };
    const vxs_predictions p = { .n = 3, .class_count = 2, .truth = truth, .scores = scores };
    double threshold;
    cr_assert(!vxs_decision_learn("f1", &p, NULL, &threshold, NULL));
    cr_expect(threshold == 0);
    cr_assert(!vxs_decision_learn("spec:1", &p, NULL, &threshold, NULL));
    cr_expect(threshold >= 2);
}

Test(decision, rules_are_checked)
{
    static const char *const no_rules[] = { "",         "f2",   "sens",     "sens:", "sens:0",
                                            "sens:1.1", "f1:2", "sens:nan", "own:1" };
    for (size_t k = 0; k < sizeof(no_rules) / sizeof(*no_rules); k++)
        cr_expect(vxs_decision_check(no_rules[k], 2, true, "inner-folds", NULL) == VXS_MISUSE, "%s",
                  no_rules[k]);
    cr_expect(vxs_decision_check("f1", 3, true, "inner-folds", NULL) == VXS_MISUSE);
    cr_expect(vxs_decision_check("f1", 2, false, "inner-folds", NULL) == VXS_MISUSE);
    cr_expect(vxs_decision_check("own", 0, false, "inner-folds", NULL) == VXS_OK);
}
