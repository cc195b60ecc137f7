/* One answer for all classes and its parts, and what is read from its scores. */
#include "tests/core/check.h"

#include "model/model.h"

#include <math.h>
#include <stdlib.h>

enum { P = 7, OUTPUTS = 4, FREE = 2 };

Test(joint, parts_make_the_whole_again)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_cohort cohort = { .p = P };
    vxs_task task = { .cohort = &cohort,
                      .loss = &vxs_multinomial_loss,
                      .class_count = OUTPUTS,
                      .covariate_count = FREE };
    size_t index[] = { 0, 6, 8, 9, 21, 27 }; /* the third class has none */
    double weight[] = { 1, -2, 3, -4, 5, -6 },
           covariate_coefficients[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    vxs_solution joint = { .count = 6,
                           .index = index,
                           .weight = weight,
                           .covariate_coefficients = covariate_coefficients,
                           .certificate = { .primal = 3 } };
    vxs_solution part[OUTPUTS], again;
    const size_t counts[OUTPUTS] = { 2, 2, 0, 2 };
    cr_assert(vxs_task_problems(&task) == 1 && vxs_task_outputs(&task) == OUTPUTS);
    for (size_t o = 0; o < OUTPUTS; o++) {
        WORKS(vxs_joint_split(&task, &joint, o, &part[o], &err), err);
        cr_assert(part[o].count == counts[o] && part[o].certificate.primal == 3);
        cr_assert(part[o].covariate_coefficients[1] == (double)(2 * o + 2));
        for (size_t k = 0; k < part[o].count; k++)
            cr_assert(part[o].index[k] < P);
    }
    cr_assert(part[1].index[0] == 1 && part[3].index[1] == 6 && part[3].weight[1] == -6);
    WORKS(vxs_joint_merge(&task, part, &again, &err), err);
    cr_assert(again.count == joint.count);
    for (size_t k = 0; k < joint.count; k++)
        cr_assert(again.index[k] == index[k] && again.weight[k] == weight[k]);
    for (size_t f = 0; f < OUTPUTS * FREE; f++)
        cr_assert(again.covariate_coefficients[f] == covariate_coefficients[f]);
    for (size_t o = 0; o < OUTPUTS; o++)
        vxs_solution_release(&part[o]);
    vxs_solution_release(&again);
}

/* Probabilities are those of the multinomial model, and far scores do not overflow. */
Test(joint, log_odds_are_read_as_probabilities)
{
    enum { N = 3 };
    const double z[OUTPUTS][N] = { { 1, -900, NAN }, { 0, 0, 1 }, { -2, 900, 2 }, { 0.5, 1, 3 } };
    double scores[OUTPUTS * N];
    for (size_t k = 0; k < OUTPUTS * N; k++)
        scores[k] = z[k / N][k % N];
    vxs_joint_odds(scores, OUTPUTS, N, N);
    vxs_predictions p = { .n = N, .class_count = OUTPUTS, .scores = scores };
    double sum = exp(1) + 1 + exp(-2) + exp(0.5);
    for (size_t o = 0; o < OUTPUTS; o++) {
        cr_assert(fabs(vxs_predicted_probability(&p, 0, o) - exp(z[o][0]) / sum) <= 1e-15);
        cr_assert(fabs(vxs_predicted_probability(&p, 1, o) - (o == 2)) <= 1e-15);
        cr_assert(isnan(scores[o * N + 2]), "without one score there is no probability");
    }
    cr_assert(vxs_predicted_class(&p, 0) == 0 && vxs_predicted_class(&p, 1) == 2);
}

Test(joint, balanced_classes_weigh_the_same)
{
    const double y[] = { 0, 0, 0, 1, 2, 2 };
    double u[] = { 1, 1, 2, 1, 3, 2 }, side[3] = { 0 };
    vxs_balance_weights(y, u, 6);
    for (size_t i = 0; i < 6; i++)
        side[(size_t)y[i]] += u[i];
    for (size_t k = 0; k < 3; k++)
        cr_assert(fabs(side[k] - 10.0 / 3) <= 1e-14);
    cr_assert(fabs(u[2] / u[0] - 2) <= 1e-14);
}
