/* One group lasso with groups of WIDTH columns side by side, penalized by the root of that, without
 * intercept: group_fit FOLDER WIDTH LOSS LAMBDA. FOLDER: svm_data.h, dense. LOSS is squared or
 * logistic. Prints the least processor seconds of three runs, of all that solving takes but reading
 * the data, and passes; writes weights, then 0, into FOLDER/w.
 */
#include "svm_data.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    svm_data data;
    vxs_design *design;
    vxs_groups groups;
    const vxs_loss_kind *loss;
    double lambda;
} study;

static void make_groups(study *s, size_t width)
{
    vxs_error err = VXS_ERROR_INIT;
    size_t p = s->data.size[1];
    svm_must(vxs_groups_new(p, p / width, p, &s->groups, &err), &err);
    for (size_t g = 0; g < p / width; g++) {
        s->groups.begin[g] = g * width;
        s->groups.end[g] = (g + 1) * width;
    }
    for (size_t j = 0; j < p; j++)
        s->groups.member[j] = j;
    s->groups.count = p / width;
}

static double solve(const study *s, vxs_solution *fit)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_method_settings settings = { .tol = 1e-6 };
    vxs_design *design = NULL;
    vxs_blocks *blocks = NULL;
    vxs_solver *solver = NULL;
    size_t n = s->data.size[0], p = s->data.size[1];
    double start = svm_cpu_seconds();
    svm_must(vxs_dense_new(s->data.values, n, p, 1, &design, &err),
             &err); /* nothing is known of it */
    svm_must(vxs_blocks_of_groups(NULL, design, &s->groups, 0.5, &blocks, &err), &err);
    vxs_grouped penalty = vxs_grouped_by(blocks);
    vxs_problem problem = { .design = design,
                            .loss = { .kind = s->loss, .n = n, .y = s->data.y },
                            .penalty = &penalty.penalty };
    svm_must(vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_GROUP_LASSO], &problem, &settings,
                            &solver, &err),
             &err);
    svm_must(vxs_solver_fit(solver, s->lambda, fit, &err), &err);
    double seconds = svm_cpu_seconds() - start;
    vxs_solver_free(solver);
    vxs_blocks_free(blocks);
    vxs_design_free(design);
    return seconds;
}

int main(int argc, char **argv)
{
    static const char *const losses[] = { "squared", "logistic", NULL };
    if (argc != 5) {
        fprintf(stderr, "group_fit FOLDER WIDTH LOSS LAMBDA\n");
        return 64;
    }
    study s = { .lambda = atof(argv[4]) };
    s.loss = svm_place_of(argv[3], losses) ? &vxs_logistic_loss : &vxs_squared_loss;
    svm_load(&s.data, argv[1]);
    make_groups(&s, (size_t)atol(argv[2]));
    double seconds = INFINITY;
    vxs_solution fit;
    for (int turn = 0; turn < 3; turn++) {
        if (turn > 0)
            vxs_solution_release(&fit);
        seconds = fmin(seconds, solve(&s, &fit));
    }
    printf("%.6f %.3f\n", seconds, fit.certificate.passes);
    double *w = svm_get(s.data.size[1] + 1, sizeof(*w));
    for (size_t k = 0; k < fit.count; k++)
        w[fit.index[k]] = fit.weight[k];
    FILE *file = svm_open(&s.data, "w", "wb");
    svm_write(&s.data, w, file);
    free(w);
    vxs_solution_release(&fit);
    vxs_groups_release(&s.groups);
    svm_free(&s.data);
    return fclose(file) != 0;
}
