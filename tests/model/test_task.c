/* What is no task: settings that no command line would let pass, and cohorts that are not open. */
#include "tests/core/check.h"

static char place[512], people[600], features[600], where[600];
static vxs_cohort cohort;

static void set_up(void)
{
    char command[1200];
    vxs_error err = VXS_ERROR_INIT;
    vxs_cohort_summary summary;
    work_path(place, "task");
    snprintf(command, sizeof(command), "rm -rf '%s' && mkdir '%s'", place, place);
    cr_assert(system(command) == 0);
    snprintf(people, sizeof(people), "%s/people.tsv", place);
    snprintf(features, sizeof(features), "%s/x.tsv", place);
    snprintf(where, sizeof(where), "%s/cohort", place);
    FILE *x = fopen(features, "w"), *p = fopen(people, "w");
    fputs("participant_id\ta\tb\tc\n", x);
    fputs("participant_id\tscore\tdx\n", p);
    for (int i = 0; i < 12; i++) {
        fprintf(x, "s%d\t%d\t%d\t%d\n", i, i * 7 % 5, i * 3 % 4, i * i % 7);
        fprintf(p, "s%d\t%g\t%d\n", i, 2.5 * (i * 7 % 5) + i % 2, i % 2);
    }
    cr_assert(fclose(x) == 0 && fclose(p) == 0);
    vxs_cohort_settings settings = { .features = features,
                                     .participants = people,
                                     .mask_fraction = NAN,
                                     .voxel_size = NAN,
                                     .mem = 1 << 26 };
    WORKS(vxs_cohort_make(NULL, &settings, NULL, where, false, &summary, &err), err);
    WORKS(vxs_cohort_open(where, &cohort, &err), err);
}

static void tear_down(void)
{
    char command[700];
    vxs_cohort_release(&cohort);
    snprintf(command, sizeof(command), "rm -rf '%s'", place);
    cr_assert(system(command) == 0);
}

TestSuite(task, .init = set_up, .fini = tear_down);

static vxs_task_settings usual(void)
{
    vxs_task_settings settings;
    vxs_params_defaults(vxs_task_params, &settings);
    settings.target = "score";
    return settings;
}

Test(task, without_cohort_settings_or_target)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_task task;
    const vxs_cohort closed = { .n = 12, .p = 3 };
    vxs_task_settings settings = usual();
    REFUSES(vxs_task_new(NULL, &closed, &settings, &task, &err), err, VXS_MISUSE,
            "the cohort is not open");
    REFUSES(vxs_task_new(NULL, NULL, &settings, &task, &err), err, VXS_MISUSE,
            "argument 'cohort' is NULL");
    REFUSES(vxs_task_new(NULL, &cohort, NULL, &task, &err), err, VXS_MISUSE,
            "argument 'settings' is NULL");
    settings.target = NULL;
    REFUSES(vxs_task_new(NULL, &cohort, &settings, &task, &err), err, VXS_MISUSE, "no target");
    cr_assert(!task.rows && !task.design);
    vxs_task_release(&task);
}

/* Numbers that stand for nothing. */
Test(task, choices_that_there_are_not)
{
    static const int bad[] = { 77, -3 };
    vxs_error err = VXS_ERROR_INIT;
    vxs_task task;
    for (size_t k = 0; k < 2; k++)
        for (size_t which = 0; which < 5; which++) {
            static const char *const names[] = { "method", "loss", "standardize", "class-weights",
                                                 "confounds-as" };
            char part[100];
            vxs_task_settings settings = usual();
            int *const fields[] = { &settings.method, &settings.loss, &settings.standardize,
                                    &settings.class_weights, &settings.confounds_as };
            *fields[which] = bad[k];
            snprintf(part, sizeof(part), "setting '%s' has no choice number %d", names[which],
                     bad[k]);
            REFUSES(vxs_task_new(NULL, &cohort, &settings, &task, &err), err, VXS_MISUSE, part);
        }
}

/* NaN is not 0, which stands for a threshold that the data gives. */
Test(task, thresholds_that_are_none)
{
    static const double bad[] = { NAN, -1, INFINITY, 1e200 };
    vxs_error err = VXS_ERROR_INIT;
    vxs_task task;
    vxs_task_settings settings = usual();
    const vxs_param *loss = vxs_task_params;
    while (strcmp(loss->name, "loss") != 0)
        loss++;
    while (strcmp(loss->choices[settings.loss], "huber") != 0)
        settings.loss++;
    for (size_t k = 0; k < 4; k++) {
        settings.huber_threshold = bad[k];
        REFUSES(vxs_task_new(NULL, &cohort, &settings, &task, &err), err, VXS_MISUSE,
                "the threshold of Huber's loss must be");
    }
    settings.huber_threshold = 0;
    WORKS(vxs_task_new(NULL, &cohort, &settings, &task, &err), err);
    cr_assert(task.threshold > 0);
    vxs_task_release(&task);
}

Test(task, problems_that_it_does_not_have)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_task task, none = { .n = 0 };
    vxs_problem problem;
    vxs_task_settings settings = usual();
    const vxs_method_settings method = { .tol = 1e-6 };
    WORKS(vxs_task_new(NULL, &cohort, &settings, &task, &err), err);
    REFUSES(vxs_task_problem(NULL, &task, 99, &method, &problem, &err), err, VXS_MISUSE,
            "there is no problem number 99 of 1");
    REFUSES(vxs_task_problem(NULL, &task, 1, &method, &problem, &err), err, VXS_MISUSE,
            "there is no problem number 1 of 1");
    REFUSES(vxs_task_problem(NULL, &task, 0, NULL, &problem, &err), err, VXS_MISUSE,
            "argument 'settings' is NULL");
    REFUSES(vxs_task_problem(NULL, &none, 0, &method, &problem, &err), err, VXS_MISUSE,
            "the task has no subjects");
    WORKS(vxs_task_problem(NULL, &task, 0, &method, &problem, &err), err);
    vxs_task_release(&task);
}

/* ---- Arguments ------------------------------------------------------------------------------- */

#define NULL_IS(name) "argument '" name "' is NULL"

static vxs_status take_none(void *user, size_t number, const vxs_output_fit *fit, vxs_error *err)
{
    (void)user;
    (void)number;
    (void)fit;
    (void)err;
    return VXS_OK;
}

static vxs_method_settings usual_method(void)
{
    vxs_method_settings settings = { .tol = 1e-6 };
    vxs_params_defaults(vxs_methods[VXS_METHOD_LASSO].params, &settings);
    return settings;
}

Test(task, fits_of_nothing)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_task task, none = { .n = 0 };
    vxs_problem problem;
    vxs_model model;
    vxs_task_settings settings = usual();
    vxs_method_settings method = usual_method();
    REFUSES(vxs_task_new(NULL, &cohort, &settings, NULL, &err), err, VXS_MISUSE, NULL_IS("task"));
    WORKS(vxs_task_new(NULL, &cohort, &settings, &task, &err), err);
    REFUSES(vxs_task_problem(NULL, NULL, 0, &method, &problem, &err), err, VXS_MISUSE,
            NULL_IS("task"));
    REFUSES(vxs_task_problem(NULL, &task, 0, &method, NULL, &err), err, VXS_MISUSE,
            NULL_IS("problem"));
    REFUSES(vxs_model_fit(NULL, NULL, &method, &model, &err), err, VXS_MISUSE, NULL_IS("task"));
    vxs_model_release(&model); /* emptied by the call that failed */
    REFUSES(vxs_model_fit(NULL, &none, &method, &model, &err), err, VXS_MISUSE, "no subjects");
    REFUSES(vxs_model_fit(NULL, &task, NULL, &model, &err), err, VXS_MISUSE, NULL_IS("settings"));
    REFUSES(vxs_model_fit(NULL, &task, &method, NULL, &err), err, VXS_MISUSE, NULL_IS("model"));
    REFUSES(vxs_model_path(NULL, NULL, &method, 0, take_none, NULL, &err), err, VXS_MISUSE,
            NULL_IS("task"));
    REFUSES(vxs_model_path(NULL, &task, NULL, 0, take_none, NULL, &err), err, VXS_MISUSE,
            NULL_IS("settings"));
    REFUSES(vxs_model_path(NULL, &task, &method, 0, NULL, NULL, &err), err, VXS_MISUSE,
            NULL_IS("take"));
    REFUSES(vxs_model_path(NULL, &task, &method, 7, take_none, NULL, &err), err, VXS_MISUSE,
            "there is no problem number 7 of 1");
    WORKS(vxs_model_path(NULL, &task, &method, 0, take_none, NULL, &err), err);
    method.path.nlambda = 0;
    REFUSES(vxs_model_path(NULL, &task, &method, 0, take_none, NULL, &err), err, VXS_MISUSE,
            "'nlambda' of a path must be");
    method.path.nlambda = -3;
    REFUSES(vxs_model_fit(NULL, &task, &method, &model, &err), err, VXS_MISUSE,
            "setting 'nlambda' is -3");
    cr_assert(vxs_task_outputs(NULL) == 0 && vxs_task_outputs(&none) == 1);
    vxs_task_release(NULL);
    vxs_task_release(&task);
}

Test(task, models_that_are_none)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_task task;
    vxs_model model, none = { .p = 0 };
    vxs_cohort other;
    vxs_certificate found[1];
    double scores[12];
    const vxs_cohort closed = { .n = 12, .p = 3 };
    const vxs_cohort_settings sources = { .features = features };
    vxs_task_settings settings = usual();
    const vxs_method_settings method = usual_method();
    WORKS(vxs_task_new(NULL, &cohort, &settings, &task, &err), err);
    WORKS(vxs_model_fit(NULL, &task, &method, &model, &err), err);
    REFUSES(vxs_model_save(NULL, NULL, &task, &method, "x", false, &err), err, VXS_MISUSE,
            NULL_IS("model"));
    REFUSES(vxs_model_save(NULL, &none, &task, &method, "x", false, &err), err, VXS_MISUSE,
            "the model is neither fitted nor read");
    REFUSES(vxs_model_save(NULL, &model, NULL, &method, "x", false, &err), err, VXS_MISUSE,
            NULL_IS("task"));
    REFUSES(vxs_model_save(NULL, &model, &task, NULL, "x", false, &err), err, VXS_MISUSE,
            NULL_IS("settings"));
    REFUSES(vxs_model_save(NULL, &model, &task, &method, NULL, false, &err), err, VXS_MISUSE,
            NULL_IS("directory"));
    model.p = 2;
    REFUSES(vxs_model_save(NULL, &model, &task, &method, "x", false, &err), err, VXS_MISUSE,
            "the model has 1 outputs of 2 features, the task 1 of 3");
    model.p = 3;
    REFUSES(vxs_model_read(NULL, &none, &err), err, VXS_MISUSE, NULL_IS("path"));
    REFUSES(vxs_model_read("x", NULL, &err), err, VXS_MISUSE, NULL_IS("model"));
    REFUSES(vxs_model_check(NULL, NULL, &cohort, found, &err), err, VXS_MISUSE, NULL_IS("model"));
    REFUSES(vxs_model_check(NULL, &model, &cohort, found, &err), err, VXS_MISUSE,
            "the model was not read from a directory");
    REFUSES(vxs_model_check(NULL, &model, &cohort, NULL, &err), err, VXS_MISUSE,
            NULL_IS("certificates"));
    REFUSES(vxs_model_scores(NULL, &cohort, scores, &err), err, VXS_MISUSE, NULL_IS("model"));
    REFUSES(vxs_model_scores(&none, &cohort, scores, &err), err, VXS_MISUSE, "neither fitted");
    REFUSES(vxs_model_scores(&model, NULL, scores, &err), err, VXS_MISUSE, NULL_IS("cohort"));
    REFUSES(vxs_model_scores(&model, &closed, scores, &err), err, VXS_MISUSE, "not open");
    REFUSES(vxs_model_scores(&model, &cohort, NULL, &err), err, VXS_MISUSE, NULL_IS("scores"));
    WORKS(vxs_model_scores(&model, &cohort, scores, &err), err);
    REFUSES(vxs_model_cohort(NULL, NULL, &sources, NULL, &other, &err), err, VXS_MISUSE,
            NULL_IS("model"));
    vxs_cohort_release(&other);
    REFUSES(vxs_model_cohort(NULL, &model, &sources, NULL, &other, &err), err, VXS_MISUSE,
            "the model was not read from a directory");
    REFUSES(vxs_model_cohort(NULL, &model, NULL, NULL, &other, &err), err, VXS_MISUSE,
            NULL_IS("sources"));
    REFUSES(vxs_model_cohort(NULL, &model, &sources, NULL, NULL, &err), err, VXS_MISUSE,
            NULL_IS("cohort"));
    vxs_model_release(NULL);
    vxs_model_release(&model);
    vxs_task_release(&task);
}

/* A problem points to the blocks of its task, which are those of one map. */
Test(task, blocks_of_another_map)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_task task;
    vxs_problem problem;
    vxs_task_settings settings = usual();
    vxs_method_settings method = usual_method();
    settings.target = "dx";
    settings.method = VXS_METHOD_FGM;
    WORKS(vxs_task_new(NULL, &cohort, &settings, &task, &err), err);
    vxs_params_defaults(vxs_methods[VXS_METHOD_FGM].params, &method);
    WORKS(vxs_task_problem(NULL, &task, 0, &method, &problem, &err), err);
    WORKS(vxs_task_problem(NULL, &task, 0, &method, &problem, &err), err);
    method.blocks.map = VXS_FEATURE_MAP_POLY2;
    REFUSES(vxs_task_problem(NULL, &task, 0, &method, &problem, &err), err, VXS_MISUSE,
            "the task has feature blocks of another map or other groups");
    vxs_task_release(&task);
}
