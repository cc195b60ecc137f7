/* Permutations that can be trained on: each as likely as any other, whoever computes them. */
#include "tests/core/check.h"

#include "evaluate/acceptable.h"

/* Four sites of six, four, three and three; of class 1 there is one in each. When one site is held
 * out, and another one inside, two of class 1 must be left: labellings with one a site, 6 x 4 x 3 x
 * 3 of 1820. */
static const char text[] = "id\tsite\n"
                           "a\tw\nb\tw\nc\tw\nd\tw\ne\tw\nf\tw\ng\tx\nh\tx\n"
                           "i\tx\nj\tx\nk\ty\nl\ty\nm\ty\nn\tz\no\tz\np\tz\n";
enum { N = 16, WAYS = 216, ALL = 1820, EACH = 10, DRAWS = EACH * WAYS };
static const size_t site[N] = { 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3 };
static size_t rows[N] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
static double observed[N] = { [0] = 1, [6] = 1, [10] = 1, [13] = 1 };
static char few[] = "few", many[] = "many";
static char *classes[] = { many, few };
static vxs_cohort cohort;
static vxs_task task;
static vxs_exchange exchange;
static vxs_cv_settings settings;
static vxs_method_settings method = { .path.lambda_ratio = 0.1, .path.lambda = NAN };

static vxs_draws begin(const char *blocks)
{
    vxs_error err = VXS_ERROR_INIT;
    cohort = (vxs_cohort){ .n = N, .person = rows, .persons = N };
    WORKS(vxs_table_parse(text, sizeof(text) - 1, "who", &cohort.people, &err), err);
    task = (vxs_task){ .cohort = &cohort,
                       .n = N,
                       .people = N,
                       .rows = rows,
                       .score = observed,
                       .classes = classes,
                       .class_count = 2,
                       .settings = { .target = "dx" } };
    settings = (vxs_cv_settings){ .folds_from = "site", .inner_folds = VXS_FOLDS_OPEN, .seed = 3 };
    WORKS(vxs_exchange_make(&task, blocks, false, &exchange, &err), err);
    return (vxs_draws){ &exchange, &task, &settings, &method };
}

static void end(void)
{
    vxs_exchange_release(&exchange);
    vxs_table_free(cohort.people);
}

/* Where class 1 is in each site; fails where a site has none or two. */
static size_t number_of(const double *score)
{
    static const size_t first[] = { 0, 6, 10, 13 }, size[] = { 6, 4, 3, 3 };
    size_t found[4] = { 0 }, number = 0;
    for (size_t i = 0; i < N; i++)
        if (score[i] == 1) {
            cr_assert(found[site[i]]++ == 0);
            number = number * size[site[i]] + i - first[site[i]];
        }
    return number;
}

Test(acceptable, permutations_are_uniform_on_those_that_can_be_trained_on)
{
    vxs_error err = VXS_ERROR_INIT;
    const vxs_draws draws = begin(NULL);
    size_t seen[WAYS] = { 0 }, again, other, sum = 0;
    double score[N], same[N], share, chi = 0;
    for (size_t k = 0; k < DRAWS; k++) {
        WORKS(vxs_draws_take(NULL, &draws, k, score, &again, &err), err);
        seen[number_of(score)]++;
        sum += again;
    }
    for (size_t w = 0; w < WAYS; w++)
        chi += ((double)seen[w] - EACH) * ((double)seen[w] - EACH) / EACH;
    cr_assert(chi < WAYS - 1 + 4 * sqrt(2 * (WAYS - 1)), "chi squared %g", chi);
    double mean = (double)ALL / WAYS - 1, is = (double)sum / DRAWS; /* geometric */
    cr_assert(fabs(is - mean) < 4 * (mean + 1) / sqrt(DRAWS), "%g, not %g", is, mean);
    WORKS(vxs_draws_take(NULL, &draws, DRAWS - 1, same, &other, &err), err);
    cr_assert(other == again && memcmp(score, same, sizeof(score)) == 0);
    WORKS(vxs_draws_survey(NULL, &draws, &share, &err), err);
    cr_assert(fabs(share * ALL / WAYS - 1) < 0.4, "%g", share);
    end();
}

Test(acceptable, permutations_within_folds_are_never_drawn_again)
{
    vxs_error err = VXS_ERROR_INIT;
    const vxs_draws draws = begin("site");
    double score[N], first[N], share;
    size_t again;
    for (size_t k = 0; k < 50; k++) {
        const vxs_random random = { 3, VXS_STREAM_PERMUTE + k };
        WORKS(vxs_draws_take(NULL, &draws, k, score, &again, &err), err);
        WORKS(vxs_exchange_scores(&exchange, &random, observed, first, &err), err);
        cr_assert(again == 0 && memcmp(score, first, sizeof(score)) == 0);
    }
    WORKS(vxs_draws_survey(NULL, &draws, &share, &err), err);
    cr_assert(share == 1);
    end();
}

Test(acceptable, a_task_that_no_permutation_can_be_trained_on_is_refused)
{
    vxs_error err = VXS_ERROR_INIT;
    const vxs_draws draws = begin(NULL);
    double share, three[N] = { [0] = 1, [6] = 1, [10] = 1 };
    bool fine;
    task.score = three; /* two sites leave one of class 1 */
    REFUSES(vxs_draws_survey(NULL, &draws, &share, &err), err, VXS_BAD_DATA,
            "too few permutations of 'dx' can be trained on");
    WORKS(vxs_cv_rehearse(&task, &settings, &method, &fine, &err), err);
    cr_assert(!fine);
    REFUSES(vxs_cv_rehearse(&task, &settings, &method, NULL, &err), err, VXS_BAD_DATA,
            "has one subject whose 'dx' is 'few', of whom there are 3");
    end();
}
