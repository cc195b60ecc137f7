/* Cohorts of no settings, and cohorts that are not open. */
#include "tests/core/check.h"

#define NULL_IS(name) "argument '" name "' is NULL"

Test(arguments_cohort, of_making)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_cohort_summary summary;
    const vxs_cohort_settings plain = { .features = "x.tsv" };
    static const struct {
        vxs_cohort_settings settings;
        const char *part;
    } cases[] = {
        { { .scale = 9 }, "setting 'scale' has no choice number 9" },
        { { .nan = -1 }, "setting 'nan' has no choice number -1" },
        { { .smooth = NAN }, "setting 'smooth' is nan" },
        { { .smooth = -1 }, "setting 'smooth' is -1" },
        { { .voxel_size = -2 }, "setting 'voxel-size' is -2" },
        { { .mask_fraction = 3 }, "setting 'mask-fraction' is 3" },
        { { .tolerance = INFINITY }, "setting 'tolerance' is inf" },
        { { .mem = -5 }, "setting 'mem' is -5" },
        { { .features = NULL }, "one source is required" },
    };
    REFUSES(vxs_cohort_make(NULL, NULL, NULL, "x", false, &summary, &err), err, VXS_MISUSE,
            NULL_IS("settings"));
    REFUSES(vxs_cohort_make(NULL, &plain, NULL, NULL, false, &summary, &err), err, VXS_MISUSE,
            NULL_IS("directory"));
    REFUSES(vxs_cohort_make(NULL, &plain, NULL, "x", false, NULL, &err), err, VXS_MISUSE,
            NULL_IS("summary"));
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
        REFUSES(vxs_cohort_make(NULL, &cases[k].settings, NULL, "x", false, &summary, &err), err,
                VXS_MISUSE, cases[k].part);
}

Test(arguments_cohort, of_opening_and_names)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_cohort cohort;
    const vxs_cohort closed = { .n = 3, .p = 3 };
    char buffer[32];
    REFUSES(vxs_cohort_open(NULL, &cohort, &err), err, VXS_MISUSE, NULL_IS("path"));
    vxs_cohort_release(&cohort); /* emptied by the call that failed */
    REFUSES(vxs_cohort_open("x", NULL, &err), err, VXS_MISUSE, NULL_IS("cohort"));
    vxs_cohort_release(NULL);
    cr_assert_str_eq(vxs_cohort_id(NULL, 0), "?");
    cr_assert_str_eq(vxs_cohort_id(&closed, 0), "?");
    cr_assert_str_eq(vxs_cohort_feature(NULL, 12, buffer), "x12");
    cr_assert_str_eq(vxs_cohort_feature(&closed, SIZE_MAX, buffer), "x18446744073709551615");
    cr_assert(!vxs_cohort_feature(&closed, 0, NULL));
}
