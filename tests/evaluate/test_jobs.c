/* test_jobs.c - how many fits on parts of a task there are at once: those that memory has room for.
 */
#include "evaluate/evaluate.h"

#include <criterion/criterion.h>

static size_t at_once(int method, int standardize, size_t groups, double memory)
{
    vxs_cohort cohort = { .n = 200, .p = 50 };
    vxs_task task = { .cohort = &cohort, .n = 100 };
    task.settings.method = method;
    task.settings.standardize = standardize;
    task.groups.count = groups;
    return vxs_jobs_at_once(&task, 8, memory);
}

Test(jobs, kernels_of_all_folds_fit_into_memory)
{
    const double one = 100. * 100 * sizeof(double), shared = 4 * one;
    const int center = (int)VXS_STANDARDIZE_CENTER, unit = (int)VXS_STANDARDIZE_UNIT;
    cr_assert_eq(at_once(VXS_METHOD_MKL, center, 10, 1e12), 8);
    cr_assert_eq(at_once(VXS_METHOD_MKL, center, 10, 10 * (shared + 3.5 * one)), 3);
    cr_assert_eq(at_once(VXS_METHOD_MKL, center, 10, 10 * shared), 1); /* prepare says why not */
    cr_assert_eq(at_once(VXS_METHOD_MKL, unit, 10, 10 * 3.5 * (one + shared)), 3);
    cr_assert_eq(at_once(VXS_METHOD_SVM, center, 0, shared + 2.5 * one), 2);
    cr_assert_eq(at_once(VXS_METHOD_LASSO, center, 0, 1e6), 8);
}
