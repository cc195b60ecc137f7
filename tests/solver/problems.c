/* problems.c - random problems of solvers. */
#include "tests/solver/problems.h"

static double draw(const vxs_random *random, uint64_t *at)
{
    return vxs_random_normal(random, (*at)++);
}

/* Columns with copies, constants, zeros and near copies among them; everything else by chance. */
static void fill_columns(example *e, const vxs_random *random, uint64_t *at)
{
    for (size_t j = 0; j < e->p; j++) {
        uint64_t kind = vxs_random_below(random, (*at)++, 10);
        for (size_t i = 0; i < e->n; i++) {
            float *x = &e->x[j * e->n + i];
            *x = (float)draw(random, at);
            if (kind == 0 && j > 0)
                *x = x[-(ptrdiff_t)e->n];
            else if (kind == 1)
                *x = 3;
            else if (kind == 2 && j > 0)
                *x = x[-(ptrdiff_t)e->n] + 0.1F * *x;
            else if (kind == 3)
                *x = (float)(fabs((double)*x) > 1);
        }
    }
}

static void fill_targets(example *e, const problem_recipe *recipe, const vxs_random *random,
                         uint64_t *at)
{
    bool classes = recipe->classes != NULL;
    for (size_t i = 0; i < e->n; i++) {
        double score = draw(random, at) + 2 * (double)e->x[i];
        e->y[i] = classes ? (score > recipe->level ? 1 : -1) : score + 5;
        e->weights[i] =
            vxs_random_uniform(random, (*at)++) < 0.1 ? 0 : 0.2 + fabs(draw(random, at));
        e->covariates[i] = 1;
        e->covariates[e->n + i] = draw(random, at);
        e->covariates[2 * e->n + i] = 2 - e->covariates[e->n + i]; /* depends on the two before */
    }
    e->y[0] = classes ? 1 : e->y[0];
    e->y[1] = classes ? -1 : e->y[1];
    e->weights[0] = e->weights[1] = 1;
}

example random_problem(const problem_recipe *recipe, uint64_t number)
{
    vxs_random random = { .seed = recipe->seed, .stream = number };
    vxs_error err = VXS_ERROR_INIT;
    uint64_t at = 0;
    example e = { .n = 4 + vxs_random_below(&random, at++, 40) };
    e.p = recipe->fewest + vxs_random_below(&random, at++, 90);
    e.x = malloc(e.n * e.p * sizeof(*e.x));
    e.y = malloc(e.n * sizeof(*e.y));
    e.weights = malloc(e.n * sizeof(*e.weights));
    e.covariates = malloc(3 * e.n * sizeof(*e.covariates));
    fill_columns(&e, &random, &at);
    fill_targets(&e, recipe, &random, &at);
    WORKS(vxs_dense_new(e.x, e.n, e.p, 1, &e.design, &err), err);
    vxs_view view = { .standardize = (vxs_standardize)(number / 2 % 3) };
    WORKS(vxs_view_new(e.design, false, &view, &e.design, &err), err);
    e.problem = (vxs_problem){ .design = e.design,
                               .loss.kind = recipe->classes ? recipe->classes : &vxs_squared_loss,
                               .loss.n = e.n,
                               .loss.y = e.y,
                               .loss.u = number / 6 % 3 == 0 ? e.weights : NULL,
                               .covariates = e.covariates,
                               .covariate_count = recipe->covariate_counts[number / 18 % 4],
                               .quadratic = { &vxs_ridge, number / 72 % 3 == 0 ? 0.5 : 0, NULL },
                               .nonnegative = number / 216 % 4 == 0 };
    return e;
}

void release_problem(example *e)
{
    vxs_design_free(e->design);
    vxs_graph_release(&e->graph);
    free(e->x);
    free(e->y);
    free(e->weights);
    free(e->covariates);
}
