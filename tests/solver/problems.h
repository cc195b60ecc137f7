/* problems.h - random problems of solvers, with everything that is awkward in data. */
#ifndef VXS_TESTS_SOLVER_PROBLEMS_H
#define VXS_TESTS_SOLVER_PROBLEMS_H

#include "tests/core/check.h"

typedef struct {
    size_t n, p;
    float *x;
    double *y, *weights, *covariates;
    vxs_design *design;
    vxs_problem problem;
    vxs_graph graph; /* of a test that adds one */
} example;

typedef struct {
    uint64_t seed;
    size_t fewest;                /* columns */
    const vxs_loss_kind *classes; /* the loss if the target is classes; else it is squared */
    double level;                 /* of a score, above which it is the second class */
    size_t covariate_counts[4];
} problem_recipe;

/* Problem `number` of a seed: 4 to 43 subjects; way of standardizing, weights, covariates of which
 * the third depends on two, ridge and sign go by the number. */
example random_problem(const problem_recipe *recipe, uint64_t number);
void release_problem(example *e);

#endif
