/* Fitting, saving, reading, checking and predicting with every request for memory failing in turn.
 */
#include "tests/core/check.h"
#include "tests/core/faults.h"

static char place[512], groups[720]; /* of features */

static const char *in(const char *name)
{
    static char paths[4][700];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof(paths[0]), "%s/%s", place, name);
    return path;
}

static void set_up(void)
{
    char command[1200];
    vxs_error err = VXS_ERROR_INIT;
    vxs_cohort_summary summary;
    work_path(place, "fit");
    snprintf(command, sizeof(command), "rm -rf '%s' && mkdir '%s'", place, place);
    cr_assert(system(command) == 0);
    FILE *x = fopen(in("x.tsv"), "w"), *people = fopen(in("people.tsv"), "w");
    fputs("participant_id\ta\tb\tc\td\n", x);
    fputs("participant_id\tscore\tsex\tage\n", people);
    for (int i = 0; i < 12; i++) {
        fprintf(x, "s%d\t%d\t%d\t%d\t%d\n", i, i * 7 % 5, i * 3 % 4, i % 3, i * i % 7);
        fprintf(people, "s%d\t%g\t%s\t%d\n", i, 2.5 * (i * 7 % 5) + i % 2, i % 2 ? "F" : "M",
                20 + i * 5 % 11);
    }
    cr_assert(fclose(x) == 0 && fclose(people) == 0);
    vxs_cohort_settings settings = { .features = in("x.tsv"),
                                     .participants = in("people.tsv"),
                                     .mask_fraction = NAN,
                                     .voxel_size = NAN,
                                     .mem = 1 << 26 };
    WORKS(vxs_cohort_make(NULL, &settings, NULL, in("cohort"), false, &summary, &err), err);
    cr_assert(!summary.sparse);
    snprintf(groups, sizeof(groups), "file:%s", in("groups.tsv"));
    FILE *members = fopen(in("groups.tsv"), "w");
    fputs("group\tfeature\nfirst\ta\nfirst\tb\nsecond\tc\nsecond\td\n", members);
    cr_assert(fclose(members) == 0);
    FILE *text = fopen(in("x.svm"), "w");
    for (int i = 0; i < 12; i++)
        fprintf(text, "0 %d:1 %d:%d\n", 1 + i * 7 % 5, 6 + i * 3 % 4, 1 + i % 3);
    cr_assert(fclose(text) == 0);
    settings = (vxs_cohort_settings){ .svmlight = in("x.svm"), .mem = 1 << 26 };
    WORKS(vxs_cohort_make(NULL, &settings, NULL, in("sparse"), false, &summary, &err), err);
    cr_assert(summary.sparse && summary.stored == 24);
    snprintf(command, sizeof(command), "cp '%s' '%s'", in("people.tsv"),
             in("sparse/participants.tsv"));
    cr_assert(system(command) == 0);
}

static void tear_down(void)
{
    char command[700];
    snprintf(command, sizeof(command), "rm -rf '%s'", place);
    cr_assert(system(command) == 0);
}

TestSuite(fit_faults, .init = set_up, .fini = tear_down);

enum { LASSO = VXS_METHOD_LASSO, FUSED = VXS_METHOD_FUSED, SKFS = VXS_METHOD_SKFS };
enum { SVM = VXS_METHOD_SVM, MKL = VXS_METHOD_MKL };
static int solver; /* of skfs */
static vxs_svm_settings machine = {
    .kernel = VXS_KERNEL_RBF, .gamma = 1, .constant = 1, .degree = 3, .epsilon = 0.1
};

static vxs_status fit_and_save(const char *target, int method_number, const vxs_cohort *cohort,
                               vxs_error *err)
{
    vxs_task_settings settings = { .target = target,
                                   .confounds = "age,sex",
                                   .method = method_number,
                                   .standardize = VXS_STANDARDIZE_AUTO };
    vxs_method_settings method = { .path.lambda = NAN,
                                   .path.lambda_ratio = 0.2,
                                   .path.nlambda = 100,
                                   .tol = 1e-6,
                                   .path.laplacians = "0.5",
                                   .kernels.solver = solver,
                                   .kernels.steps = 20,
                                   .kernels.gamma = 1,
                                   .svm = machine,
                                   .blocks.groups = method_number == MKL ? groups : NULL };
    vxs_task task;
    vxs_model model;
    settings.confounds = strcmp(target, "sex") == 0 ? "age" : "sex";
    if (method_number == SKFS || method_number == VXS_METHOD_HSIC || method_number == SVM ||
        method_number == MKL)
        settings.confounds = NULL; /* taken out, two at a time, they do without memory */
    vxs_status status = vxs_task_new(NULL, cohort, &settings, &task, err);
    if (status)
        return status;
    status = vxs_model_fit(NULL, &task, &method, &model, err);
    if (!status) {
        status = vxs_model_save(NULL, &model, &task, &method, in("model"), true, err);
        vxs_model_release(&model);
    }
    vxs_task_release(&task);
    return status;
}

static vxs_status check_and_predict(const vxs_cohort *cohort, vxs_error *err)
{
    vxs_model model;
    vxs_certificate found[4];
    vxs_metrics metrics;
    double scores[48];
    vxs_trained trained[48];
    vxs_unseen_list unseen = { .count = 0 };
    vxs_class_scores classes = { .count = 0 };
    vxs_status status = vxs_model_read(in("model"), &model, err);
    if (status)
        return status;
    status = vxs_model_check(NULL, &model, cohort, found, err);
    cr_assert(status || found[0].converged || solver != VXS_SOLVER_EXACT);
    if (!status)
        status = vxs_model_scores(&model, cohort, scores, err);
    if (!status)
        status = vxs_model_trained_on(&model, cohort, trained, err);
    if (!status)
        status = vxs_model_unseen(&model, cohort, &unseen, err);
    vxs_unseen_release(&unseen);
    if (!status)
        status = vxs_model_compare(&model, cohort, scores, NULL, trained, &metrics, &classes, err);
    vxs_class_scores_release(&classes);
    vxs_model_release(&model);
    return status;
}

static vxs_status whole(const char *name, const char *target, int method, vxs_error *err)
{
    vxs_cohort cohort;
    vxs_status status = vxs_cohort_open(in(name), &cohort, err);
    if (status)
        return status;
    status = fit_and_save(target, method, &cohort, err);
    if (!status)
        status = check_and_predict(&cohort, err);
    vxs_cohort_release(&cohort);
    return status;
}

static vxs_status score(vxs_error *err)
{
    return whole("cohort", "score", 0, err);
}

static vxs_status class(vxs_error *err)
{
    return whole("cohort", "sex", 0, err);
}

static vxs_status fused(vxs_error *err)
{
    return whole("cohort", "score", 1, err);
}

static vxs_status sparse(vxs_error *err)
{
    return whole("sparse", "score", 0, err);
}

static vxs_status kernels(vxs_error *err)
{
    return whole("cohort", "sex", SKFS, err);
}

Test(fit_faults, kernels)
{
    cr_assert(fail_each_request(kernels) > 200);
    solver = VXS_SOLVER_DUAL_AVERAGE;
    cr_assert(fail_each_request(kernels) > 200);
    solver = VXS_SOLVER_EXACT;
}

static vxs_status hsic(vxs_error *err)
{
    return whole("cohort", "sex", VXS_METHOD_HSIC, err);
}

Test(fit_faults, kernels_of_pairs)
{
    cr_assert(fail_each_request(hsic) > 150);
}

static vxs_status machine_of_a_score(vxs_error *err)
{
    return whole("cohort", "score", SVM, err);
}

static vxs_status machine_of_a_class(vxs_error *err)
{
    return whole("cohort", "sex", SVM, err);
}

static vxs_status kernels_of_groups(vxs_error *err)
{
    return whole("cohort", "score", MKL, err);
}

Test(fit_faults, kernels_of_groups)
{
    cr_assert(fail_each_request(kernels_of_groups) > 150);
}

Test(fit_faults, kernel_machines)
{
    cr_assert(fail_each_request(machine_of_a_score) > 100);
    cr_assert(fail_each_request(machine_of_a_class) > 100);
}

Test(fit_faults, machines_of_low_rank)
{
    machine.rank = 3;
    cr_assert(fail_each_request(machine_of_a_score) > 100);
    cr_assert(fail_each_request(machine_of_a_class) > 100);
    machine.rank = 0;
}

Test(fit_faults, a_score)
{
    cr_assert(fail_each_request(score) > 100);
}

Test(fit_faults, a_class)
{
    cr_assert(fail_each_request(class) > 100);
}

Test(fit_faults, a_tree)
{
    cr_assert(fail_each_request(fused) > 150);
}

Test(fit_faults, a_sparse_cohort)
{
    cr_assert(fail_each_request(sparse) > 100);
}

static vxs_status cross_validate(const char *target, int method, vxs_error *err)
{
    vxs_cv_settings settings = {
        .task = { .target = target, .method = method, .standardize = VXS_STANDARDIZE_AUTO },
        .folds = 2,
        .repeats = 1,
        .inner_folds = 3, /* of six subjects in training, three of a class */
        .bootstraps = 3,
        .prefilter = method == 0 ? "variance:0.7" : NULL,
    };
    vxs_method_settings how = {
        .path.lambda = NAN, .path.lambda_ratio = 0.2, .path.nlambda = 2, .tol = 1e-6, .svm = machine
    };
    if (method == MKL)
        how.blocks.groups = groups;
    if (method == SVM || method == MKL)
        how.svm.costs = "0.1,1";
    vxs_cohort cohort;
    vxs_task task;
    vxs_cv cv;
    vxs_status status = vxs_cohort_open(in("cohort"), &cohort, err);
    if (status)
        return status;
    status = vxs_task_new(NULL, &cohort, &settings.task, &task, err);
    if (!status) {
        status = vxs_cv_run(NULL, &task, &settings, &how, &cv, err);
        if (!status) {
            status = vxs_cv_save(NULL, &cv, in("model"), true, err);
            vxs_cv_release(&cv);
        }
        vxs_task_release(&task);
    }
    vxs_cohort_release(&cohort);
    return status;
}

static vxs_status cv_of_a_score(vxs_error *err)
{
    return cross_validate("score", 1, err);
}

static vxs_status cv_of_a_class(vxs_error *err)
{
    return cross_validate("sex", 0, err);
}

static vxs_status cv_of_kernels(vxs_error *err)
{
    return cross_validate("sex", SKFS, err);
}

static vxs_status cv_of_machines(vxs_error *err)
{
    return cross_validate("sex", SVM, err);
}

static vxs_status cv_of_groups(vxs_error *err)
{
    return cross_validate("sex", MKL, err);
}

Test(fit_faults, cross_validation_of_machines)
{
    cr_assert(fail_each_request(cv_of_machines) > 400);
    cr_assert(fail_each_request(cv_of_groups) > 400);
}

Test(fit_faults, cross_validation)
{
    cr_assert(fail_each_request(cv_of_a_score) > 400);
    cr_assert(fail_each_request(cv_of_a_class) > 400);
    cr_assert(fail_each_request(cv_of_kernels) > 400);
}

static vxs_status permute_and_halve(vxs_error *err)
{
    vxs_permute_settings settings = {
        .cv = { .task = { .target = "score", .standardize = VXS_STANDARDIZE_AUTO },
                .folds = 2,
                .repeats = 1 },
        .permutations = 2,
        .blocks = "sex",
    };
    vxs_stability_settings halves = {
        .task = settings.cv.task, .pairs = 2, .features = 2, .threshold = 0.75
    };
    vxs_method_settings how = {
        .path.lambda = NAN, .path.lambda_ratio = 0.2, .path.nlambda = 2, .tol = 1e-6
    };
    vxs_cohort cohort;
    vxs_task task;
    vxs_permutation p;
    vxs_stability r;
    vxs_status status = vxs_cohort_open(in("cohort"), &cohort, err);
    if (status)
        return status;
    status = vxs_task_new(NULL, &cohort, &settings.cv.task, &task, err);
    if (!status) {
        status = vxs_permute(NULL, &task, &settings, &how, &p, err);
        if (!status) {
            status = vxs_permutation_save(NULL, &task, &settings, &how, &p, in("model"), true, err);
            vxs_permutation_release(&p);
        }
        if (!status)
            status = vxs_stability_run(NULL, &task, &halves, &how, &r, err);
        if (!status) {
            status = vxs_stability_save(NULL, &task, &halves, &how, &r, in("model"), true, err);
            vxs_stability_release(&r);
        }
        vxs_task_release(&task);
    }
    vxs_cohort_release(&cohort);
    return status;
}

Test(fit_faults, permutations_and_stability)
{
    cr_assert(fail_each_request(permute_and_halve) > 400);
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

static vxs_chunking chunking; /* a chunk, and what it has finished */
static const char *book;      /* where that is */
static unsigned book_use;

static vxs_status save_cv(const vxs_task *task, const vxs_method_settings *how, const char *out,
                          vxs_error *err)
{
    vxs_cv_settings settings = {
        .task = task->settings, .folds = 2, .repeats = 1, .bootstraps = 100, .chunking = chunking
    };
    vxs_cv cv;
    vxs_status status = vxs_cv_run(NULL, task, &settings, how, &cv, err);
    if (status)
        return status;
    status = vxs_cv_save(NULL, &cv, out, true, err);
    vxs_cv_release(&cv);
    return status;
}

static vxs_status save_permutations(const vxs_task *task, const vxs_method_settings *how,
                                    const char *out, vxs_error *err)
{
    vxs_permute_settings settings = {
        .cv = { .task = task->settings, .folds = 2, .repeats = 1, .bootstraps = 100 },
        .permutations = 2,
        .chunking = chunking
    };
    vxs_permutation p;
    vxs_status status = vxs_permute(NULL, task, &settings, how, &p, err);
    if (status)
        return status;
    status = vxs_permutation_save(NULL, task, &settings, how, &p, out, true, err);
    vxs_permutation_release(&p);
    return status;
}

static vxs_status save_stability(const vxs_task *task, const vxs_method_settings *how,
                                 const char *out, vxs_error *err)
{
    vxs_stability_settings settings = { .task = task->settings,
                                        .pairs = 2,
                                        .features = 2,
                                        .threshold = 0.75,
                                        .wrong = 1,
                                        .chunking = chunking };
    vxs_stability r;
    vxs_status status = vxs_stability_run(NULL, task, &settings, how, &r, err);
    if (status)
        return status;
    status = vxs_stability_save(NULL, task, &settings, how, &r, out, true, err);
    vxs_stability_release(&r);
    return status;
}

static vxs_status (*save)(const vxs_task *task, const vxs_method_settings *how, const char *out,
                          vxs_error *err);

static vxs_status save_chunk(vxs_error *err)
{
    vxs_task_settings settings = { .target = "score", .standardize = VXS_STANDARDIZE_AUTO };
    vxs_method_settings how = {
        .path.lambda = NAN, .path.lambda_ratio = 0.2, .path.nlambda = 2, .tol = 1e-6
    };
    vxs_cohort cohort;
    vxs_task task;
    vxs_status status = vxs_cohort_open(in("cohort"), &cohort, err);
    if (status)
        return status;
    chunking.checkpoint = NULL;
    if (book)
        status = vxs_checkpoint_open(NULL, book, book_use, &chunking.checkpoint, err);
    if (!status)
        status = vxs_task_new(NULL, &cohort, &settings, &task, err);
    if (!status) {
        status = save(&task, &how, in(chunking.chunk.number == 1 ? "one" : "two"), err);
        vxs_task_release(&task);
    }
    (void)vxs_checkpoint_close(chunking.checkpoint, false);
    vxs_cohort_release(&cohort);
    return status;
}

static vxs_status merge_chunks(vxs_error *err)
{
    const char *const paths[] = { in("two"), in("one"), NULL };
    vxs_merged merged;
    vxs_status status = vxs_merge(NULL, paths, NULL, &merged, err);
    if (!status)
        vxs_merged_release(&merged);
    return status;
}

Test(fit_faults, chunks)
{
    vxs_status (*const saves[])(const vxs_task *, const vxs_method_settings *, const char *,
                                vxs_error *) = { save_cv, save_permutations, save_stability };
    char path[700];
    snprintf(path, sizeof(path), "%s/book", place);
    book = path;
    for (size_t k = 0; k < sizeof(saves) / sizeof(saves[0]); k++) {
        save = saves[k];
        for (size_t number = 1; number <= 2; number++) {
            chunking = (vxs_chunking){ .chunk = { number, 2 } };
            book_use = VXS_DISCARD;
            cr_assert(fail_each_request(save_chunk) > 100);
            book_use = VXS_RESUME; /* all of it is there now */
            cr_assert(fail_each_request(save_chunk) > 50);
        }
        cr_assert(fail_each_request(merge_chunks) > 50);
    }
    book = NULL;
}

static const char *reported;

static vxs_status report_it(vxs_error *err)
{
    vxs_report_settings settings = { .out = in("page.html"), .force = true };
    return vxs_report(NULL, &settings, in(reported), err);
}

Test(fit_faults, reports)
{
    vxs_error err = VXS_ERROR_INIT;
    cr_assert(cv_of_a_class(&err) == VXS_OK);
    reported = "model";
    cr_assert(fail_each_request(report_it) > 20);
    chunking = (vxs_chunking){ .checkpoint = NULL };
    reported = "two"; /* where save_chunk puts what is whole */
    save = save_permutations;
    WORKS(save_chunk(&err), err);
    cr_assert(fail_each_request(report_it) > 10);
    save = save_stability;
    WORKS(save_chunk(&err), err);
    cr_assert(fail_each_request(report_it) > 10);
}
