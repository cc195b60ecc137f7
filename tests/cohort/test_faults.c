/* A cohort of images, its regions and its table, with every request for memory failing in turn. */
#include "tests/core/check.h"
#include "tests/core/faults.h"

static char place[512];

static const char *in(const char *name)
{
    static char paths[4][700];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof(paths[0]), "%s/%s", place, name);
    return path;
}

static void write_text(const char *name, const char *text)
{
    FILE *stream = fopen(in(name), "w");
    cr_assert(stream && fputs(text, stream) >= 0 && fclose(stream) == 0);
}

static void write_volume(const char *name, int number, bool labels)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_grid grid = {
        .shape = { 6, 5, 4 },
        .affine = { { -3, 0, 0, 9 }, { 0, 3, 0, -7 }, { 0, 0, 3, 0 }, { 0, 0, 0, 1 } },
        .source = VXS_AFFINE_SFORM,
        .sform_code = 4
    };
    float values[120];
    for (int v = 0; v < 120; v++)
        values[v] = labels ? (float)(1 + v % 2) : (float)(v % 6 > 0) * (float)(v % 7 + number);
    vxs_write_options options = { .type = VXS_WRITE_FLOAT32 };
    FILE *stream = fopen(in(name), "wb");
    WORKS(vxs_image_write(stream, name, &grid, &options, values, &err), err);
    cr_assert(fclose(stream) == 0);
}

static void set_up(void)
{
    work_path(place, "faults");
    char command[1200];
    snprintf(command, sizeof(command), "rm -rf '%s' && mkdir '%s'", place, place);
    cr_assert(system(command) == 0);
    write_volume("a.nii.gz", 1, false);
    write_volume("b.nii.gz", 2, false);
    write_volume("c.nii.gz", 3, false);
    write_volume("atlas.nii.gz", 0, true);
    write_text("atlas.txt", "1 left\n2 right\n");
    write_text("table.tsv", "participant_id\tage\timage\tsubject\na\t1\ta.nii.gz\tp\n"
                            "b\t2\tb.nii.gz\tp\nc\t3\tc.nii.gz\tq\n"
                            "d\t4\tmissing.nii.gz\tq\n");
    write_text("x.tsv", "participant_id\tf1\tf2\na\t1\t2\nb\t2\t3\n");
    write_text("x.svm", "1 900:2 7:1e39 5:0.5\n2 7:1 8:0 20:2\n");
}

static void tear_down(void)
{
    char command[1200];
    snprintf(command, sizeof(command), "rm -rf '%s'", place);
    cr_assert(system(command) == 0);
}

TestSuite(faults, .init = set_up, .fini = tear_down);

static vxs_status make(const vxs_cohort_settings *changed, const char *source, vxs_error *err)
{
    const char *sources[] = { source, NULL };
    vxs_cohort_settings settings = *changed;
    vxs_cohort_summary summary;
    vxs_status status =
        vxs_cohort_make(NULL, &settings, source ? sources : NULL, in("out"), true, &summary, err);
    cr_assert(status || summary.subjects == (source ? 3 : 2), "%zu", summary.subjects);
    return status;
}

static vxs_cohort_settings usual(void)
{
    return (vxs_cohort_settings){ .image_column = "image",
                                  .drop_bad = true,
                                  .mask_fraction = NAN,
                                  .voxel_size = NAN,
                                  .tolerance = 0.1,
                                  .mem = 1 << 26 };
}

static vxs_status make_voxels(vxs_error *err)
{
    vxs_cohort_settings settings = usual();
    return make(&settings, in("table.tsv"), err);
}

static vxs_status make_regions(vxs_error *err)
{
    vxs_cohort_settings settings = usual();
    settings.regions = true;
    settings.atlas = in("atlas.nii.gz");
    settings.scale = VXS_SCALE_Z;
    settings.smooth = 4;
    settings.voxel_size = 4;
    return make(&settings, in("table.tsv"), err);
}

static vxs_status make_table(vxs_error *err)
{
    vxs_cohort_settings settings = usual();
    settings.image_column = NULL;
    settings.features = in("x.tsv");
    return make(&settings, NULL, err);
}

static vxs_status make_sparse(vxs_error *err)
{
    vxs_cohort_settings settings = usual();
    vxs_cohort cohort;
    settings.image_column = NULL;
    settings.svmlight = in("x.svm");
    vxs_status status = make(&settings, NULL, err);
    if (!status)
        status = vxs_cohort_open(in("out"), &cohort, err);
    if (status)
        return status;
    cr_assert(!cohort.features && cohort.p == 900 && cohort.starts[900] == 4);
    vxs_cohort_release(&cohort);
    return VXS_OK;
}

static vxs_status list_regions(vxs_error *err)
{
    vxs_regions_settings settings = { .threshold = 3, .min_size = 1, .atlas = in("atlas.nii.gz") };
    FILE *nowhere = fopen("/dev/null", "w");
    vxs_status status = vxs_regions(NULL, &settings, in("b.nii.gz"), in("out"), true, false, false,
                                    NULL, nowhere, err);
    fclose(nowhere);
    return status;
}

static vxs_status make_patches(vxs_error *err)
{
    vxs_patch_settings settings = { .sources = usual(),
                                    .label_column = "image",
                                    .label_threshold = 4,
                                    .means = "4,6",
                                    .patch = 3,
                                    .per_class = 5,
                                    .seed = 1,
                                    .scale = 2,
                                    .coordinates = true };
    vxs_patch_summary summary;
    settings.sources.person = "subject";
    vxs_status status =
        vxs_patches_make(NULL, &settings, in("table.tsv"), in("out"), true, &summary, err);
    cr_assert(status || (summary.subjects == 3 && summary.cohort.people == 2 &&
                         summary.cohort.subjects == 30 && summary.cohort.features == 32));
    return status;
}

static vxs_model of_voxels;

static void fit_voxels(void)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_cohort cohort;
    vxs_task task;
    vxs_task_settings settings;
    vxs_method_settings method = { .svm = { .kernel = 1, .gamma = 1 } };
    vxs_model model;
    WORKS(make_patches(&err), err);
    WORKS(vxs_cohort_open(in("out"), &cohort, &err), err);
    vxs_params_defaults(vxs_task_params, &settings);
    settings.target = "image";
    WORKS(vxs_task_new(NULL, &cohort, &settings, &task, &err), err);
    vxs_params_defaults(vxs_task_method(&task)->params, &method);
    method.path.lambda_ratio = 0.3;
    WORKS(vxs_model_fit(NULL, &task, &method, &model, &err), err);
    WORKS(vxs_model_save(NULL, &model, &task, &method, in("model"), true, &err), err);
    vxs_model_release(&model);
    vxs_task_release(&task);
    vxs_cohort_release(&cohort);
    WORKS(vxs_model_read(in("model"), &of_voxels, &err), err);
}

static vxs_status predict_images(vxs_error *err)
{
    vxs_patch_settings settings = { .sources = usual(),
                                    .label_column = "image",
                                    .label_threshold = NAN };
    vxs_predicted_images images;
    settings.sources.person = "subject";
    vxs_status status = vxs_predict_images(NULL, &of_voxels, &settings, in("table.tsv"), in("maps"),
                                           true, &images, err);
    if (status)
        return status;
    cr_assert(images.count == 3 && images.labels && images.each[0].metrics.auc >= 0.5);
    vxs_predicted_images_release(&images);
    return VXS_OK;
}

Test(faults, cohort_of_patches)
{
    cr_assert(fail_each_request(make_patches) > 100);
}

Test(faults, images_of_predictions)
{
    fit_voxels();
    cr_assert(fail_each_request(predict_images) > 100);
    vxs_model_release(&of_voxels);
}

Test(faults, cohort_of_voxels)
{
    cr_assert(fail_each_request(make_voxels) > 50);
}

Test(faults, cohort_of_regions)
{
    cr_assert(fail_each_request(make_regions) > 50);
}

Test(faults, cohort_of_a_table)
{
    cr_assert(fail_each_request(make_table) > 10);
}

Test(faults, sparse_cohort)
{
    cr_assert(fail_each_request(make_sparse) > 30);
}

Test(faults, regions_of_a_map)
{
    cr_assert(fail_each_request(list_regions) > 20);
}
