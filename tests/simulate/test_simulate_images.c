/* Simulated cohorts of images; tests/simulate/simulate_agrees.py looks at what is in them. */
#include "tests/core/check.h"
#include "tests/core/faults.h"

#include <sys/stat.h>

static char place[512];
static const vxs_simulation *model;
static const char *images;
static char mine[700];

static const char *in(const char *name)
{
    static char paths[4][700];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof(paths[0]), "%s/%s", place, name);
    return path;
}

/* A brain of its own, and images of it: small ones, so that many runs take no time. */
static void write_volume(const char *name, int number)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_grid grid = {
        .shape = { 12, 14, 12 },
        .affine = { { 4, 0, 0, -75 }, { 0, 5, 0, -55 }, { 0, 0, 4, -46 }, { 0, 0, 0, 1 } },
        .source = VXS_AFFINE_SFORM,
        .sform_code = 4
    };
    float values[12 * 14 * 12];
    vxs_random random = { .seed = (uint64_t)number };
    for (size_t v = 0; v < 12 * 14 * 12; v++)
        values[v] = (float)(100 + 10 * vxs_random_normal(&random, v));
    vxs_write_options options = { .type = VXS_WRITE_FLOAT32 };
    FILE *stream = fopen(in(name), "wb");
    cr_assert(stream);
    WORKS(vxs_image_write(stream, name, &grid, &options, values, &err), err);
    cr_assert(fclose(stream) == 0);
}

static void set_up(void)
{
    work_path(place, "simulated");
    char command[1200], name[64];
    snprintf(command, sizeof(command), "rm -rf '%s' && mkdir -p '%s/mine'", place, place);
    cr_assert(system(command) == 0);
    write_volume("icbm152_t1_2mm.nii.gz", 1);
    for (int k = 0; k < 6; k++) {
        snprintf(name, sizeof(name), "mine/sub-%d.nii.gz", k);
        write_volume(name, k + 2);
    }
    cr_assert(setenv("VOXSIFT_ATLASES", place, 1) == 0);
    snprintf(mine, sizeof(mine), "%s", in("mine"));
    images = NULL;
}

static void tear_down(void)
{
    char command[1200];
    snprintf(command, sizeof(command), "rm -rf '%s'", place);
    cr_assert(system(command) == 0);
}

TestSuite(simulate_images, .init = set_up, .fini = tear_down);

static const vxs_simulation *find(const char *name)
{
    const vxs_simulation *s = vxs_simulations;
    while (strcmp(s->name, name) != 0)
        s++;
    return s;
}

static vxs_status simulate(const vxs_context *context, vxs_simulation_summary *summary,
                           vxs_error *err)
{
    vxs_simulation_settings settings;
    memset(&settings, 0, sizeof(settings));
    vxs_params_defaults(model->params, &settings);
    settings.images.subjects = 4;
    settings.images.radius = 1;
    settings.images.write_images = true;
    settings.images.images = images;
    return vxs_simulate(context, model, &settings, in("out"), true, summary, err);
}

static vxs_status simulate_little(vxs_error *err)
{
    vxs_simulation_summary summary;
    vxs_status status = simulate(NULL, &summary, err);
    cr_assert(status || (summary.subjects == 4 && summary.sphere == 7));
    return status;
}

Test(simulate_images, names_are_those_of_the_table)
{
    size_t count = 0;
    for (; vxs_simulations[count].name; count++)
        cr_assert_str_eq(vxs_simulations[count].name, vxs_simulation_names[count]);
    cr_assert_null(vxs_simulation_names[count]);
}

Test(simulate_images, rows_write_inside_the_settings)
{
    for (const vxs_simulation *s = vxs_simulations; s->name; s++)
        for (const vxs_param *p = s->params; p->name; p++)
            cr_assert(p->offset + sizeof(int) <= sizeof(vxs_simulation_settings));
}

Test(simulate_images, memory_may_run_out_on_the_way)
{
    model = find("skfs-nonadditive");
    cr_assert(fail_each_request(simulate_little) > 60);
}

Test(simulate_images, memory_may_run_out_with_spheres)
{
    model = find("spheres");
    cr_assert(fail_each_request(simulate_little) > 60);
}

Test(simulate_images, memory_may_run_out_with_images_that_are_given)
{
    model = find("skfs-linear");
    images = mine;
    cr_assert(fail_each_request(simulate_little) > 100);
}

Test(simulate_images, a_refusal_leaves_nothing)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_simulation_summary summary;
    model = find("skfs-linear");
    images = in("nowhere");
    REFUSES(simulate(NULL, &summary, &err), err, VXS_MISSING, "nowhere");
    cr_assert(access(in("out"), F_OK) != 0);
}

Test(simulate_images, stops_when_told_and_leaves_nothing)
{
    const volatile int stop = 1;
    const vxs_context context = { .interrupted = &stop };
    vxs_error err = VXS_ERROR_INIT;
    vxs_simulation_summary summary;
    const char *names[] = { "skfs-additive", "spheres" };
    for (int k = 0; k < 2; k++) {
        model = find(names[k]);
        REFUSES(simulate(&context, &summary, &err), err, VXS_INTERRUPTED,
                "interrupted while simulating");
        cr_assert(access(in("out"), F_OK) != 0);
    }
    images = mine;
    REFUSES(simulate(&context, &summary, &err), err, VXS_INTERRUPTED, "interrupted while checking");
    cr_assert(access(in("out"), F_OK) != 0);
}

Test(simulate_images, the_cohort_is_what_the_summary_says)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_simulation_summary summary;
    vxs_cohort cohort;
    for (model = vxs_simulations; model->name; model++) {
        if (!model->plan)
            continue;
        WORKS(simulate(NULL, &summary, &err), err);
        WORKS(vxs_cohort_open(in("out"), &cohort, &err), err);
        cr_assert(cohort.n == 4 && cohort.p == summary.features);
        cr_assert(cohort.kind == VXS_FEATURES_VOXELS);
        vxs_cohort_release(&cohort);
    }
}
