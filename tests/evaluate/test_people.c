/* Who stays together, and what changes places: persons are whole, whatever the column says. */
#include "tests/core/check.h"
#include "tests/core/faults.h"

#include "evaluate/chunks/chunk.h"
#include "evaluate/exchange.h"

enum { DRAWS = 3000 };

/* Eleven scans of six persons: two have one, three two, one three. Each row: person, column, where
 * persons cross, where each scan is alone. */
static const char text[] = "scan\tperson\tsite\tvisit\tfamily\n"
                           "a\tP\tx\t1\tf\n"
                           "b\tQ\tx\t1\tg\n"
                           "c\tQ\tx\t2\tg\n"
                           "d\tR\ty\t2\tf\n"
                           "e\tS\ty\t1\tg\n"
                           "f\tR\ty\t1\tf\n"
                           "g\tS\ty\t2\tg\n"
                           "h\tT\tx\t1\tf\n"
                           "i\tT\ty\t2\tf\n"
                           "j\tT\tx\t3\tf\n"
                           "k\tU\tx\t1\tg\n";
enum { N = 11 };
static size_t person[N] = { 0, 1, 1, 2, 3, 2, 3, 4, 4, 4, 5 };
static size_t rows[N] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
static vxs_cohort cohort;

static vxs_task scans(void)
{
    vxs_error err = VXS_ERROR_INIT;
    cohort = (vxs_cohort){ .n = N, .person = person, .persons = 6, .person_column = 1 };
    WORKS(vxs_table_parse(text, sizeof(text) - 1, "scans", &cohort.people, &err), err);
    return (vxs_task){ .cohort = &cohort, .n = N, .people = 6, .rows = rows };
}

static void drop(void)
{
    vxs_table_free(cohort.people);
}

/* ---- Who stays together ---------------------------------------------------------------------- */

static vxs_grouping groups(const vxs_task *t, const char *column)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_grouping g;
    WORKS(vxs_task_groups(t, "group", column, &g, &err), err);
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < N; k++)
            cr_assert(person[i] != person[k] || g.group[i] == g.group[k], "%zu, %zu", i, k);
    return g;
}

Test(people, are_whole_in_every_group)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_task t = scans();
    const struct {
        const char *column;
        size_t count, values;
    } cases[] = {
        { NULL, 6, 0 }, { "person", 6, 6 }, { "family", 2, 2 }, { "site", 1, 2 }, { "visit", 1, 3 }
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        vxs_grouping g = groups(&t, cases[k].column);
        cr_assert(g.count == cases[k].count && g.values == cases[k].values, "case %zu: %zu, %zu", k,
                  g.count, g.values);
        free(g.group);
    }
    vxs_grouping g;
    REFUSES(vxs_task_groups(&t, "group", "scan", &g, &err), err, VXS_MISUSE,
            "'--group scan' is finer than the person (column 'person'): 'b' and 'c' are of one "
            "person, but differ in 'scan'");
    free(g.group);
    drop();
}

/* Without T, who was at both sites, these are apart. */
Test(people, join_only_what_they_cross)
{
    vxs_task t = scans();
    size_t few[] = { 0, 1, 2, 3, 4, 5, 6, 10 };
    vxs_error err = VXS_ERROR_INIT;
    vxs_grouping g;
    t.rows = few;
    t.n = sizeof(few) / sizeof(few[0]);
    WORKS(vxs_task_groups(&t, "group", "site", &g, &err), err);
    cr_assert(g.count == 2 && g.values == 2 && g.group[0] == 0 && g.group[3] == 1);
    free(g.group);
    drop();
}

/* ---- What changes places --------------------------------------------------------------------- */

static vxs_exchange exchange(const vxs_task *t, const char *blocks, bool whole)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_exchange x;
    WORKS(vxs_exchange_make(t, blocks, whole, &x, &err), err);
    return x;
}

/* Number k gives place i what stood at from[i]. */
static void draw(const vxs_exchange *x, size_t k, double from[N])
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_random random = { 5, k };
    double truth[N];
    for (size_t i = 0; i < N; i++)
        truth[i] = (double)i;
    WORKS(vxs_exchange_scores(x, &random, truth, from, &err), err);
}

static size_t scans_of(size_t who)
{
    size_t count = 0;
    for (size_t i = 0; i < N; i++)
        count += person[i] == who;
    return count;
}

static double ways(const vxs_exchange *x, const double *score)
{
    vxs_error err = VXS_ERROR_INIT;
    double log_ways = 0;
    WORKS(vxs_exchange_ways(x, score, &log_ways, &err), err);
    return round(exp(log_ways));
}

Test(exchange, moves_persons_whole_and_in_their_order)
{
    vxs_task t = scans();
    vxs_exchange x = exchange(&t, NULL, false);
    double from[N], each[N], trait[N];
    size_t seen[6][6] = { { 0 } };
    cr_assert(strcmp(x.unit, "people") == 0 && x.units == 6 && x.kinds == 3);
    for (size_t k = 0; k < DRAWS; k++) {
        draw(&x, k, from);
        for (size_t i = 0; i < N; i++) {
            size_t source = (size_t)from[i];
            cr_assert(scans_of(person[i]) == scans_of(person[source]));
            for (size_t j = i + 1; j < N; j++)
                cr_assert(person[i] != person[j] ||
                          (person[source] == person[(size_t)from[j]] && from[i] < from[j]));
        }
        seen[1][person[(size_t)from[1]]]++;
    }
    for (size_t who = 1; who < 4; who++) /* Q, R and S have two scans: each as often */
        cr_assert(fabs((double)seen[1][who] - DRAWS / 3.0) < 4 * sqrt(DRAWS * 2 / 9.0), "%zu of %d",
                  seen[1][who], DRAWS);
    for (size_t i = 0; i < N; i++) {
        each[i] = (double)i;
        trait[i] = person[i] == 2 ? 1 : (double)person[i]; /* Q and R have the same */
    }
    cr_assert(ways(&x, each) == 12 && ways(&x, trait) == 6, "%g, %g", ways(&x, each),
              ways(&x, trait));
    vxs_exchange_release(&x);
    drop();
}

/* Values of a visit stay with the visit, and a person's stay together: of those with two scans each
 * has one of the first and one of the second, whatever the order of the rows. */
Test(exchange, keeps_blocks_that_persons_cross)
{
    vxs_task t = scans();
    vxs_exchange x = exchange(&t, "visit", false);
    static const int visit[N] = { 1, 1, 2, 2, 1, 1, 2, 1, 2, 3, 1 };
    double from[N];
    bool moved = false;
    for (size_t k = 0; k < 200; k++) {
        draw(&x, k, from);
        for (size_t i = 0; i < N; i++)
            cr_assert(visit[i] == visit[(size_t)from[i]]);
        cr_assert(person[(size_t)from[3]] == person[(size_t)from[5]]);
        moved = moved || person[(size_t)from[3]] == 1;
    }
    cr_assert(moved);
    vxs_exchange_release(&x);
    x = exchange(&t, "site", false); /* P with U, R with S, and Q, who has none at x, with nobody */
    cr_assert(x.units == 6 && x.kinds == 4, "%zu", x.kinds);
    vxs_exchange_release(&x);
    drop();
}

Test(exchange, moves_single_scans_inside_of_persons)
{
    vxs_task t = scans();
    vxs_exchange x = exchange(&t, "person", false);
    double from[N], trait[N];
    cr_assert(strcmp(x.unit, "subjects") == 0 && x.units == N && x.kinds == 6);
    for (size_t k = 0; k < 200; k++) {
        draw(&x, k, from);
        for (size_t i = 0; i < N; i++)
            cr_assert(person[i] == person[(size_t)from[i]]);
    }
    for (size_t i = 0; i < N; i++)
        trait[i] = (double)person[i];
    cr_assert(ways(&x, trait) == 1, "of a trait there is nothing to exchange");
    vxs_exchange_release(&x);
    drop();
}

Test(exchange, moves_whole_blocks_of_one_build)
{
    vxs_task t = scans();
    vxs_error err = VXS_ERROR_INIT;
    vxs_exchange x;
    REFUSES(vxs_exchange_make(&t, "family", true, &x, &err), err, VXS_BAD_DATA,
            "blocks of column 'family' have 5 and 6 subjects");
    REFUSES(vxs_exchange_make(&t, "scan", true, &x, &err), err, VXS_MISUSE,
            "'--blocks scan' is finer than the person");
    size_t some[] = {
        0, 3, 5, 1, 2, 10
    }; /* P, R, R and Q, Q, U: families of a pair and a single */
    t.rows = some;
    t.n = sizeof(some) / sizeof(some[0]);
    x = exchange(&t, "family", true);
    double from[6], truth[6] = { 0, 1, 2, 3, 4, 5 };
    bool moved = false;
    for (size_t k = 0; k < 20; k++) {
        vxs_random random = { 1, k };
        WORKS(vxs_exchange_scores(&x, &random, truth, from, &err), err);
        cr_assert((from[1] == 1 && from[0] == 0) || (from[1] == 3 && from[2] == 4 && from[0] == 5));
        moved = moved || from[1] == 3;
    }
    cr_assert(moved && strcmp(x.unit, "blocks") == 0 && x.units == 2);
    vxs_exchange_release(&x);
    size_t uneven[] = { 0, 3, 7, 1, 2, 10 }; /* P, R, T are three persons; Q, Q, U two */
    t.rows = uneven;
    REFUSES(vxs_exchange_make(&t, "family", true, &x, &err), err, VXS_BAD_DATA,
            "persons of column 'person' have different numbers of subjects in blocks of column "
            "'family'");
    drop();
}

Test(exchange, is_as_before_where_everybody_has_one_scan)
{
    vxs_task t = scans();
    size_t one[] = { 0, 1, 3, 4, 7, 10 };
    t.rows = one;
    t.n = t.people = 6;
    vxs_exchange x = exchange(&t, NULL, false);
    cr_assert(strcmp(x.unit, "subjects") == 0 && x.units == 6 && x.kinds == 1);
    for (size_t i = 0; i < 6; i++)
        cr_assert(x.member[i] == i);
    vxs_exchange_release(&x);
    x = exchange(&t, "site", false);
    cr_assert(x.kinds == 2 && x.start[1] == 4 && x.member[0] == 0 && x.member[2] == 4);
    vxs_exchange_release(&x);
    drop();
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static vxs_task faulty;

static vxs_status use_everything(vxs_error *err)
{
    static const struct {
        const char *blocks;
        bool whole;
    } cases[] = { { NULL, false }, { "visit", false }, { "person", false }, { "person", true } };
    size_t same[] = { 1, 2, 3, 5, 4, 6 };
    double score[6] = { 1, 2, 3, 4, 5, 6 }, to[6], log_ways;
    vxs_random random = { 1, 1 };
    vxs_status status = VXS_OK;
    faulty.rows = same;
    faulty.n = 6;
    for (size_t k = 0; k < 4 && !status; k++) {
        vxs_exchange x;
        status = vxs_exchange_make(&faulty, cases[k].blocks, cases[k].whole, &x, err);
        if (status)
            return status;
        status = vxs_exchange_ways(&x, score, &log_ways, err);
        if (!status)
            status = vxs_exchange_scores(&x, &random, score, to, err);
        vxs_exchange_release(&x);
    }
    return status;
}

Test(exchange, memory_may_fail_anywhere)
{
    faulty = scans();
    cr_assert(fail_each_request(use_everything) > 40);
    drop();
}

/* Whose values chunks must share: an option that names a column says so in its row. */
Test(people, options_that_name_a_column_are_in_the_fingerprint)
{
    size_t columns = 0;
    for (const vxs_run_kind *kind = vxs_run_kinds; kind->name; kind++)
        for (int g = 1; kind->groups[g].key; g++)
            for (const vxs_param *p = kind->groups[g].table; p->name; p++) {
                bool words = p->type == VXS_PARAM_TEXT;
                bool named = words && strcmp(p->value, "COLUMN") == 0;
                columns += p->column;
                cr_assert(!named || p->column, "%s of %s", p->name, kind->name);
                cr_assert(!p->column || words, "%s of %s", p->name, kind->name);
            }
    cr_assert(columns > 0);
}
