/* Feature generation beside liblinear on the papers' synthetic data: generation NAME=VALUE...
 * Columns are standard normal, `true` of them have weights, uniform on [0, 1] or normal, and the
 * labels are the signs of their sum. What is not a method says what the data are, or how methods
 * are called from there on; a method with numbers between commas prints a line for each:
 *
 *   method number selected recovered accuracy retrained seconds rounds gap
 *
 * recovered: how many of the selected are true ones. accuracy: percent of rows that no method has
 * seen, with the weights that the method found, and with weights learned anew by liblinear (L2
 * regularized, C = `retrain`), for all methods alike. seconds: of the processor, for the method
 * alone, with liblinear its train() without the text that its programs read.
 * tests/bench/generation.py says which are run.
 *
 * liblinear has rows and makes columns of them, both 16 bytes a value; our columns are gone by
 * then.
 */
#include "tests/bench/generation.h"

#include <linear.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STRIPE = 512 };

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static vxs_blocks *make_blocks(const study *s, vxs_design *design, vxs_groups *groups)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_blocks *units = NULL;
    if (s->group == 0) {
        must(vxs_blocks_new(NULL, design, &(vxs_feature_map){ .kind = VXS_FEATURE_MAP_NONE },
                            &units, &err),
             &err);
        return units;
    }
    must(vxs_groups_new(s->p, s->p / s->group, s->p, groups, &err), &err);
    for (size_t j = 0; j < s->p; j++)
        groups->member[j] = j;
    for (size_t g = 0; g < groups->count; g++) {
        groups->begin[g] = g * s->group;
        groups->end[g] = (g + 1) * s->group;
    }
    must(vxs_blocks_of_groups(NULL, design, groups, 0, &units, &err), &err);
    return units;
}

/* ---- What a choice is worth ------------------------------------------------------------------ */

static choice make_choice(size_t count)
{
    return (choice){ .index = get(count, sizeof(size_t)), .weight = get(count, sizeof(double)) };
}

static void release_choice(choice *c)
{
    free(c->index);
    free(c->weight);
}

static double accuracy(const study *s, const choice *c)
{
    double *z = get(s->test, sizeof(*z)), right = 0;
    multiply(s, STREAM_TEST, c, z);
    for (size_t i = 0; i < s->test; i++)
        right += z[i] * s->test_y[i] > 0;
    free(z);
    return 100 * right / (double)s->test;
}

/* Columns, or groups of them. */
static void count_units(const study *s, const choice *c, size_t *selected, size_t *recovered)
{
    size_t width = s->group ? s->group : 1, at = 0, last = SIZE_MAX;
    *selected = *recovered = 0;
    for (size_t k = 0; k < c->count; k++) {
        size_t unit = c->index[k] / width;
        if (unit == last)
            continue;
        last = unit;
        (*selected)++;
        while (at < s->known && s->index[at] / width < unit)
            at++;
        *recovered += at < s->known && s->index[at] / width == unit;
    }
}

static void be_quiet(const char *text)
{
    (void)text;
}

static struct model *train_quietly(const struct problem *problem, int solver, double cost)
{
    struct parameter how = { .solver_type = solver, .C = cost, .eps = 0.01 };
    if (!check_parameter(problem, &how)) {
        set_print_string_function(be_quiet);
        return train(problem, &how);
    }
    fprintf(stderr, "%s\n", check_parameter(problem, &how));
    exit(1);
}

/* Rows of the columns `set` (NULL: all), with a column more that ends them. */
static void fill_rows(const study *s, const size_t *set, size_t count, struct feature_node *nodes)
{
    float *stripe = get(STRIPE * s->n, sizeof(*stripe));
    for (size_t first = 0; first < count; first += STRIPE) {
        size_t last = first + STRIPE < count ? first + STRIPE : count;
        for (size_t k = first; k < last; k++)
            make_column(s, STREAM_X, s->n, set ? set[k] : k, stripe + (k - first) * s->n);
        for (size_t i = 0; i < s->n; i++)
            for (size_t k = first; k < last; k++)
                nodes[i * (count + 1) + k] =
                    (struct feature_node){ .index = (int)k + 1,
                                           .value = (double)stripe[(k - first) * s->n + i] };
    }
    for (size_t i = 0; i < s->n; i++)
        nodes[i * (count + 1) + count].index = -1;
    free(stripe);
}

static struct problem make_rows(const study *s, size_t count, struct feature_node *nodes)
{
    struct problem rows = {
        .l = (int)s->n, .n = (int)count, .y = s->y, .x = get(s->n, sizeof(*rows.x)), .bias = -1
    };
    for (size_t i = 0; i < s->n; i++)
        rows.x[i] = nodes + i * (count + 1);
    return rows;
}

/* Weights of the columns that have one; room for all of them. */
static void read_model(const struct model *model, size_t count, const size_t *set, choice *c)
{
    c->count = 0;
    for (size_t k = 0; k < count; k++) {
        if (model->w[k] == 0)
            continue;
        c->index[c->count] = set ? set[k] : k;
        c->weight[c->count++] = model->label[0] > 0 ? model->w[k] : -model->w[k];
    }
}

static double accuracy_retrained(const study *s, const choice *c, bool logistic)
{
    if (c->count == 0)
        return 50;
    choice again = make_choice(c->count);
    struct feature_node *nodes = get(s->n * (c->count + 1), sizeof(*nodes));
    fill_rows(s, c->index, c->count, nodes);
    struct problem rows = make_rows(s, c->count, nodes);
    struct model *model = train_quietly(&rows, logistic ? L2R_LR : L2R_L2LOSS_SVC, s->retrain);
    read_model(model, c->count, c->index, &again);
    double result = accuracy(s, &again);
    free_and_destroy_model(&model);
    release_choice(&again);
    free(rows.x);
    free(nodes);
    return result;
}

typedef struct {
    const char *method;
    bool logistic, descent;
    double number, seconds, rounds, gap;
} outcome;

static void tell(const study *s, const choice *c, const outcome *o)
{
    size_t selected, recovered;
    count_units(s, c, &selected, &recovered);
    printf("%s\t%.9g\t%zu\t%zu\t%.3f\t%.3f\t%.3f\t%.0f\t%.3g\n", o->method, o->number, selected,
           recovered, accuracy(s, c), accuracy_retrained(s, c, o->logistic), o->seconds, o->rounds,
           o->gap);
    fflush(stdout);
}

/* ---- Methods --------------------------------------------------------------------------------- */

static const vxs_method *method_called(const char *name)
{
    const vxs_method *m = vxs_methods;
    while (m->name && strcmp(m->name, name) != 0)
        m++;
    if (m->name)
        return m;
    fprintf(stderr, "no method is called %s\n", name);
    exit(1);
}

/* The weights that the certificate is of. */
static choice read_solution(const vxs_blocks *units, const vxs_selected *selected)
{
    choice c = make_choice(selected->start[selected->count]);
    for (size_t k = 0; k < selected->count; k++)
        for (size_t at = selected->start[k]; at < selected->start[k + 1]; at++) {
            double factor;
            c.index[c.count] =
                vxs_blocks_feature(units, selected->block[k], at - selected->start[k], &factor);
            c.weight[c.count++] = factor * selected->weight[at];
        }
    return c;
}

static void generate(study *s, const outcome *kind, const char *name)
{
    vxs_error err = VXS_ERROR_INIT;
    const vxs_method *method = method_called(name);
    vxs_method_settings settings;
    vxs_solver *solver = NULL;
    outcome o = *kind;
    store_columns(s);
    vxs_params_defaults(method->params, &settings);
    settings.blocks.cost = s->cost;
    settings.blocks.budget = (int64_t)o.number;
    settings.path.iterations = (int64_t)s->rounds;
    settings.blocks.inner_tol = s->inner;
    settings.blocks.solver = o.descent ? VXS_SOLVER_DESCENT : VXS_SOLVER_GRADIENTS;
    double begun = cpu_seconds(), telling = 0;
    vxs_groups groups = { 0 };
    vxs_design *design = make_design(s);
    vxs_budget budget = { .penalty = { &vxs_budget_penalty },
                          .blocks = make_blocks(s, design, &groups),
                          .budget = (size_t)o.number,
                          .cost = s->cost };
    vxs_problem problem = { .design = design,
                            .loss.kind = o.logistic ? &vxs_logistic_loss : &vxs_squared_hinge_loss,
                            .loss.n = s->n,
                            .loss.y = s->y,
                            .penalty = &budget.penalty };
    must(vxs_solver_new(NULL, method, &problem, &settings, &solver, &err), &err);
    for (double round = s->every > 0 ? s->every : s->rounds; round <= s->rounds;
         round += s->every) {
        vxs_solution solution;
        must(vxs_solver_fit_at(solver, (vxs_path_point){ VXS_BY_ITERATIONS, round }, &solution,
                               &err),
             &err);
        o.seconds = cpu_seconds() - begun - telling;
        o.rounds = (double)solution.selected->iterations;
        o.gap = solution.certificate.gap;
        choice c = read_solution(budget.blocks, solution.selected);
        tell(s, &c, &o);
        telling = cpu_seconds() - begun - o.seconds;
        release_choice(&c);
        vxs_solution_release(&solution);
        if (s->every == 0 || o.rounds < round)
            break;
    }
    vxs_solver_free(solver);
    vxs_blocks_free(budget.blocks);
    vxs_design_free(design);
    vxs_groups_release(&groups);
}

static void learn_l1(study *s, const outcome *kind, const char *name)
{
    static struct feature_node *nodes;
    static struct problem rows;
    (void)name;
    if (!nodes) {
        free(s->x);
        s->x = NULL;
        nodes = get(s->n * (s->p + 1), sizeof(*nodes));
        fill_rows(s, NULL, s->p, nodes);
        rows = make_rows(s, s->p, nodes);
    }
    outcome o = *kind;
    choice c = make_choice(s->p);
    double begun = cpu_seconds();
    struct model *model = train_quietly(&rows, o.logistic ? L1R_LR : L1R_L2LOSS_SVC, o.number);
    o.seconds = cpu_seconds() - begun;
    read_model(model, s->p, NULL, &c);
    tell(s, &c, &o);
    free_and_destroy_model(&model);
    release_choice(&c);
}

/* Those of the known columns that have the largest weights. */
static void know(study *s, const outcome *kind, const char *name)
{
    (void)name;
    choice c = make_choice(s->known);
    for (size_t k = 0; k < s->known; k++) {
        size_t larger = 0;
        for (size_t other = 0; other < s->known; other++)
            larger += fabs(s->weight[other]) > fabs(s->weight[k]);
        if ((double)larger >= kind->number)
            continue;
        c.index[c.count] = s->index[k];
        c.weight[c.count++] = s->weight[k];
    }
    tell(s, &c, kind);
    release_choice(&c);
}

static const struct {
    outcome kind;
    void (*run)(study *s, const outcome *kind, const char *name);
    const char *name;
} methods[] = {
    { { .method = "fgm-hinge" }, generate, "fgm" },
    { { .method = "fgm-logistic", .logistic = true }, generate, "fgm" },
    { { .method = "mslr", .logistic = true }, generate, "mslr" },
    { { .method = "mslr-descent", .logistic = true, .descent = true }, generate, "mslr" },
    { { .method = "l1-hinge" }, learn_l1, NULL },
    { { .method = "l1-logistic", .logistic = true }, learn_l1, NULL },
    { { .method = "truth", .logistic = true }, know, NULL },
};

/* ---- What is asked for ----------------------------------------------------------------------- */

static bool set_size(study *s, const char *name, size_t size)
{
    const struct {
        const char *name;
        size_t *at;
    } sizes[] = { { "n", &s->n },        { "p", &s->p },         { "test", &s->test },
                  { "true", &s->known }, { "group", &s->group }, { "seed", &s->seed } };
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        if (strcmp(name, sizes[k].name) != 0)
            continue;
        *sizes[k].at = size;
        return true;
    }
    return false;
}

static bool set_number(study *s, const char *name, double number)
{
    const struct {
        const char *name;
        double *at;
    } numbers[] = { { "cost", &s->cost },
                    { "retrain", &s->retrain },
                    { "rounds", &s->rounds },
                    { "every", &s->every },
                    { "inner", &s->inner } };
    for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++) {
        if (strcmp(name, numbers[k].name) != 0)
            continue;
        *numbers[k].at = number;
        return true;
    }
    return false;
}

static bool run(study *s, const char *name, char *list)
{
    char *rest = NULL;
    for (size_t m = 0; m < sizeof(methods) / sizeof(methods[0]); m++) {
        if (strcmp(name, methods[m].kind.method) != 0)
            continue;
        if (!s->y)
            make_study(s);
        for (char *word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
            outcome kind = methods[m].kind;
            kind.number = strtod(word, NULL);
            methods[m].run(s, &kind, methods[m].name);
        }
        return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    study s = { .cost = 10, .retrain = 20, .rounds = 10, .inner = 1e-3, .seed = 1 };
    for (int a = 1; a < argc; a++) {
        char *value = strchr(argv[a], '=');
        if (value)
            *value++ = '\0';
        if (value && strcmp(argv[a], "weights") == 0)
            s.uniform = strcmp(value, "uniform") == 0;
        else if (!value ||
                 (!set_size(&s, argv[a], strtoul(value, NULL, 10)) &&
                  !set_number(&s, argv[a], strtod(value, NULL)) && !run(&s, argv[a], value))) {
            fprintf(stderr, "%s is nothing that could be set or run\n", argv[a]);
            return 64;
        }
    }
    return 0;
}
