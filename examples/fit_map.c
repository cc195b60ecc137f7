/* fit_map.c - a program on the library: a lasso of a cohort's voxels, its certificate
 * computed again by the checker, and a map of the weights (of standardized features).
 *
 * cc -std=c11 fit_map.c $(pkg-config --cflags --libs voxsift) -o fit_map */
#include <voxsift.h>

int main(int argc, char **argv)
{
    const vxs_method *lasso = &vxs_methods[VXS_METHOD_LASSO];
    vxs_error err = VXS_ERROR_INIT;
    vxs_status status;
    vxs_context context = { .nthreads = 2 };
    vxs_task_settings asked;
    vxs_method_settings settings = { .tol = 0 };
    vxs_cohort cohort = { .path = NULL };
    vxs_task task = { .cohort = NULL };
    vxs_problem problem;
    vxs_solver *solver = NULL;
    vxs_solution fit = { .count = 0 };
    vxs_certificate found;
    vxs_volume map = { .values = NULL };
    vxs_write_options options = { .type = VXS_WRITE_FLOAT32 };
    if (argc != 4)
        return fprintf(stderr, "usage: fit_map COHORT TARGET MAP.nii.gz\n") < 0 ? 1 : VXS_MISUSE;
    FILE *file = fopen(argv[3], "wb");
    if (!file)
        return perror(argv[3]), VXS_CANNOT_WRITE;
    vxs_params_defaults(vxs_task_params, &asked);
    vxs_params_defaults(lasso->params, &settings);
    asked.target = argv[2];
    if (!(status = vxs_cohort_open(argv[1], &cohort, &err)) &&
        !(status = vxs_volume_new(&cohort.grid, &map, &err)) &&
        !(status = vxs_task_new(&context, &cohort, &asked, &task, &err)) &&
        !(status = vxs_task_problem(&context, &task, 0, &settings, &problem, &err)) &&
        !(status = vxs_solver_new(&context, lasso, &problem, &settings, &solver, &err)) &&
        !(status = vxs_solver_fit(solver, 0.2 * vxs_solver_lambda_max(solver), &fit, &err)) &&
        !(status = vxs_check_solution(&problem, &fit, &found, &err))) {
        for (size_t k = 0; k < fit.count; k++)
            map.values[cohort.voxels[fit.index[k]]] = (float)fit.weight[k];
        status = vxs_image_write(file, argv[3], &cohort.grid, &options, map.values, &err);
        printf("%zu of %zu voxels, gap %.1g: %s\n", fit.count, cohort.p, found.gap,
               found.converged ? "confirmed" : "NOT confirmed");
    }
    if (fclose(file) != 0 || status)
        fprintf(stderr, "fit_map: %s\n", status ? err.message : "cannot write the map");
    vxs_solution_release(&fit);
    vxs_solver_free(solver);
    vxs_task_release(&task);
    vxs_volume_release(&map);
    vxs_cohort_release(&cohort);
    return (int)status;
}
