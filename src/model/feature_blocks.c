/* feature_blocks.c - methods that select feature blocks: construction of the blocks, and their
 * columns for new subjects. */
#include "model/feature_blocks.h"
#include "model/estimators.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The problem ----------------------------------------------------------------------------- */

typedef struct {
    vxs_prepared head;
    vxs_blocks *blocks;  /* feature blocks of the design */
    vxs_feature_map map; /* and what they were made of */
    char *groups;
    double power;
    vxs_budget budget;
    vxs_output_measure measure;
    vxs_grouped grouped;
} blocks;

static void release_blocks(vxs_prepared *prepared)
{
    blocks *b = (blocks *)prepared;
    vxs_blocks_free(b->blocks);
    free(b->groups);
    free(b);
}

double vxs_block_column_factor(const vxs_task *t, size_t block, size_t column)
{
    double factor = 1;
    size_t j = vxs_blocks_feature(((const blocks *)t->prepared)->blocks, block, column, &factor);
    return t->penalties ? factor / t->penalties[j] : factor;
}

static vxs_status read_map(const vxs_method_settings *s, vxs_feature_map *map, vxs_error *err)
{
    const char *text = s->blocks.bandwidth ? s->blocks.bandwidth : "1";
    *map = (vxs_feature_map){ .kind = s->blocks.map,
                              .gamma = s->blocks.gamma,
                              .coef0 = s->blocks.constant };
    if (!vxs_parse_real(text, &map->bandwidth) || !(map->bandwidth > 0) ||
        !isfinite(map->bandwidth))
        return vxs_fail(err, VXS_MISUSE, "'--bandwidth' expects a number above 0, not '%s'", text);
    if (s->blocks.bandwidth && s->blocks.map != VXS_FEATURE_MAP_GAUSS)
        return vxs_fail(err, VXS_MISUSE, "'--bandwidth' goes with '--feature-map gauss'");
    if ((s->blocks.gamma != 1 || s->blocks.constant != 1) && s->blocks.map != VXS_FEATURE_MAP_POLY2)
        return vxs_fail(err, VXS_MISUSE, "'--gamma' and '--coef0' go with '--feature-map poly2'");
    if (s->blocks.map != VXS_FEATURE_MAP_NONE && s->blocks.groups)
        return vxs_fail(err, VXS_MISUSE, "'--groups' and '--feature-map' exclude each other");
    if (s->blocks.by_size && !s->blocks.groups)
        return vxs_fail(err, VXS_MISUSE, "'--by-size' goes with '--groups'");
    return VXS_OK;
}

static vxs_status make_blocks(const vxs_context *context, vxs_task *t,
                              const vxs_method_settings *settings, const vxs_feature_map *map,
                              double power, vxs_blocks **made, vxs_error *err)
{
    if (!settings->blocks.groups)
        return vxs_blocks_new(context, t->design, map, made, err);
    vxs_status status = vxs_task_make_groups(context, t, settings->blocks.groups, err);
    return status ? status : vxs_blocks_of_groups(context, t->design, &t->groups, power, made, err);
}

/* Problems and solvers made before point to the blocks, so they stay. */
static vxs_status check_same(const blocks *b, const vxs_method_settings *settings,
                             const vxs_feature_map *map, double power, vxs_error *err)
{
    const char *groups = settings->blocks.groups;
    bool same = map->kind == b->map.kind && map->gamma == b->map.gamma &&
                map->coef0 == b->map.coef0 && map->bandwidth == b->map.bandwidth &&
                !groups == !b->groups && (!groups || strcmp(groups, b->groups) == 0) &&
                power == b->power;
    return same ? VXS_OK
                : vxs_fail(err, VXS_MISUSE,
                           "the task has feature blocks of another map or other groups; other "
                           "ones need a task of their own");
}

/* Feature blocks are made once a design. */
static vxs_status prepare(const vxs_context *context, vxs_task *t,
                          const vxs_method_settings *settings, const vxs_feature_map *map,
                          double power, vxs_error *err)
{
    blocks *b = (blocks *)t->prepared;
    if (b)
        return check_same(b, settings, map, power, err);
    b = vxs_alloc(1, sizeof(*b), err);
    if (!b)
        return VXS_FAILED;
    b->head.release = release_blocks;
    b->map = *map;
    b->power = power;
    t->prepared = &b->head;
    if (settings->blocks.groups)
        b->groups = vxs_format(err, "%s", settings->blocks.groups);
    vxs_status status = settings->blocks.groups && !b->groups ? VXS_FAILED : VXS_OK;
    if (!status)
        status = make_blocks(context, t, settings, map, power, &b->blocks, err);
    if (status)
        vxs_task_unprepare(t);
    return status;
}

vxs_status vxs_prepare_blocks(const vxs_context *context, vxs_task *t, size_t output,
                              const vxs_method_settings *settings, vxs_problem *problem,
                              vxs_error *err)
{
    (void)output;
    vxs_feature_map map;
    vxs_status status = read_map(settings, &map, err);
    if (!status)
        status = prepare(context, t, settings, &map, settings->blocks.by_size ? 0.5 : 0, err);
    if (status)
        return status;
    blocks *b = (blocks *)t->prepared;
    b->budget = (vxs_budget){ .penalty = { &vxs_budget_penalty },
                              .blocks = b->blocks,
                              .map = map,
                              .budget = (size_t)settings->blocks.budget,
                              .cost = settings->blocks.cost,
                              .refit_cost = settings->blocks.debias };
    problem->penalty = &b->budget.penalty;
    return VXS_OK;
}

vxs_status vxs_prepare_minimax(const vxs_context *context, vxs_task *t, size_t output,
                               const vxs_method_settings *settings, vxs_problem *problem,
                               vxs_error *err)
{
    vxs_status status = vxs_prepare_blocks(context, t, output, settings, problem, err);
    if (!status)
        ((blocks *)t->prepared)->budget.only_refit = true;
    return status;
}

static vxs_status read_measure(const vxs_task *t, const vxs_method_settings *s,
                               vxs_output_measure *measure, vxs_error *err)
{
    if (!s->blocks.measure)
        return vxs_fail(err, VXS_MISUSE,
                        "method 'measure' needs '--measure MEASURE': error, balanced, f1, fbeta:X, "
                        "gmean, top:K, breakeven or roc");
    vxs_status status = vxs_measure_read(s->blocks.measure, measure, err);
    if (!status && t->weights && !measure->kind->takes_weights)
        status = vxs_fail(err, VXS_MISUSE,
                          "'--subject-weights' does not go with '--measure %s', which counts "
                          "subjects; error, balanced and roc take weights",
                          s->blocks.measure);
    return status;
}

/* The measure has the costs of mistakes: class weights are for what it is compared with. */
vxs_status vxs_prepare_measure(const vxs_context *context, vxs_task *t, size_t output,
                               const vxs_method_settings *settings, vxs_problem *problem,
                               vxs_error *err)
{
    vxs_output_measure measure;
    vxs_status status = read_measure(t, settings, &measure, err);
    if (!status)
        status = vxs_prepare_blocks(context, t, output, settings, problem, err);
    if (status)
        return status;
    blocks *b = (blocks *)t->prepared;
    b->measure = measure;
    for (size_t i = 0; i < t->n; i++)
        t->u[i] = vxs_task_weight(t, i);
    problem->loss.u = t->weights ? t->u : NULL;
    problem->loss.measure = &b->measure;
    return VXS_OK;
}

vxs_status vxs_share_measure(const vxs_context *context, vxs_task *t, const vxs_method_settings *s,
                             vxs_error *err)
{
    vxs_output_measure measure;
    vxs_status status = read_measure(t, s, &measure, err);
    return status ? status : vxs_share_groups(context, t, s, err);
}

/* Of a tree every root(m) of a group follows from those of the groups in it: all weight would be on
 * single features. */
double vxs_group_power(const vxs_method_settings *s)
{
    bool tree = s->blocks.groups && vxs_groups_are_tree(s->blocks.groups);
    return !isnan(s->blocks.power) ? s->blocks.power : tree ? 0.4 : 0.5;
}

vxs_status vxs_prepare_groups(const vxs_context *context, vxs_task *t, size_t output,
                              const vxs_method_settings *settings, vxs_problem *problem,
                              vxs_error *err)
{
    (void)output;
    const vxs_feature_map none = { .kind = VXS_FEATURE_MAP_NONE };
    if (!settings->blocks.groups)
        return vxs_fail(err, VXS_MISUSE,
                        "method '%s' needs '--groups GROUPS', such as atlas:schaefer100",
                        vxs_task_method(t)->name);
    vxs_status status = prepare(context, t, settings, &none, vxs_group_power(settings), err);
    if (status)
        return status;
    blocks *b = (blocks *)t->prepared;
    b->grouped = vxs_grouped_by(b->blocks);
    problem->penalty = &b->grouped.penalty;
    return VXS_OK;
}

vxs_status vxs_share_groups(const vxs_context *context, vxs_task *t, const vxs_method_settings *s,
                            vxs_error *err)
{
    return s->blocks.groups ? vxs_task_make_groups(context, t, s->blocks.groups, err) : VXS_OK;
}

size_t vxs_limit_blocks(vxs_method_settings *s, size_t features)
{
    size_t before = (size_t)s->blocks.budget;
    if (before <= features)
        return 0;
    s->blocks.budget = (int64_t)features;
    return before;
}

static bool groups_are_given(const vxs_method_settings *s)
{
    return s->blocks.groups && !vxs_groups_are_rule(s->blocks.groups);
}

static vxs_status write_groups(const vxs_task *t, FILE *stream, vxs_error *err)
{
    return vxs_groups_write(&t->groups, t->cohort, stream, err);
}

static vxs_status restore_groups(vxs_task *t, const vxs_method_settings *s, const char *path,
                                 vxs_error *err)
{
    const char *kind = vxs_groups_are_tree(s->blocks.groups) ? "tree" : "file";
    char *text = vxs_format(err, "%s:%s", kind, path);
    vxs_status status = text ? vxs_task_make_groups(NULL, t, text, err) : VXS_FAILED;
    free(text);
    return status;
}

const vxs_user_table vxs_groups_table = { "groups.tsv", groups_are_given, write_groups,
                                          restore_groups };

const char *vxs_block_name(const vxs_model *m, size_t count)
{
    static const char *const names[][2] = { { "feature", "features" },
                                            { "feature or pair", "features and pairs" },
                                            { "group", "groups" } };
    const vxs_selected *s = m->outputs[0].fit.selected;
    int kind = s->map.kind == VXS_FEATURE_MAP_POLY2 ? 1 : m->groups ? 2 : 0;
    return names[kind][count != 1];
}

/* ---- Maps of new subjects' features ---------------------------------------------------------- */

void vxs_map_parameters_free(void *inputs)
{
    vxs_map_parameters *m = inputs;
    if (!m)
        return;
    free(m->low);
    free(m->high);
    free(m->scale);
    free(m->covariate_coefficients);
    free(m);
}

vxs_map_parameters *vxs_map_parameters_new(const vxs_feature_map *map, size_t p, size_t count,
                                           size_t covariate_count, vxs_error *err)
{
    vxs_map_parameters *m = vxs_alloc(1, sizeof(*m), err);
    if (!m)
        return NULL;
    *m = (vxs_map_parameters){
        .map = *map, .p = p, .count = count, .covariate_count = covariate_count
    };
    m->low = vxs_alloc(count, sizeof(*m->low), err);
    m->high = vxs_alloc(count, sizeof(*m->high), err);
    m->scale = vxs_alloc(count, sizeof(*m->scale), err);
    m->covariate_coefficients =
        vxs_alloc(count, covariate_count * sizeof(*m->covariate_coefficients), err);
    if (m->low && m->high && m->scale && m->covariate_coefficients)
        return m;
    vxs_map_parameters_free(m);
    return NULL;
}

static vxs_status make_inputs(const vxs_task *t, const vxs_feature_map *map,
                              const vxs_solution *fit, vxs_map_parameters **inputs, vxs_error *err)
{
    vxs_map_parameters *m =
        vxs_map_parameters_new(map, t->cohort->p, fit->count, t->covariate_count, err);
    vxs_status status = m ? VXS_OK : VXS_FAILED;
    for (size_t k = 0; k < fit->count && !status; k++) {
        vxs_blocks_range(((const blocks *)t->prepared)->blocks, fit->index[k], &m->low[k],
                         &m->high[k]);
        status = vxs_find_scale(t, fit->index[k], &m->scale[k],
                                m->covariate_coefficients + k * t->covariate_count, err);
    }
    *inputs = status ? NULL : m;
    if (status)
        vxs_map_parameters_free(m);
    return status;
}

typedef struct {
    const vxs_map_parameters *mapped;
    const vxs_solution *fit;
    size_t count;   /* subjects */
    double *values; /* count for each selected feature */
    double *block;  /* columns of one feature block */
} mapping;

/* Position of a feature among the selected ones, which include all features of a selected block. */
static size_t place_of(const vxs_solution *fit, size_t feature)
{
    size_t low = 0, high = fit->count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        *(fit->index[middle] > feature ? &high : &low) = middle;
    }
    return low;
}

static void add_block(const mapping *m, size_t k, const double *weight, double *scores)
{
    const vxs_selected *s = m->fit->selected;
    size_t feature[2];
    double size = 0;
    for (size_t c = s->start[k]; c < s->start[k + 1]; c++)
        size += weight[c] * weight[c];
    if (size == 0) /* the refit weights are 0 if covariates explain the target */
        return;
    vxs_feature_map_features(&m->mapped->map, m->mapped->p, s->block[k], feature);
    size_t a = place_of(m->fit, feature[0]), b = place_of(m->fit, feature[1]);
    vxs_feature_map_columns(&m->mapped->map, m->mapped->p, s->block[k], m->values + a * m->count,
                            m->values + b * m->count, m->mapped->low[a], m->mapped->high[a],
                            m->count, m->block);
    for (size_t c = s->start[k]; c < s->start[k + 1]; c++)
        for (size_t i = 0; i < m->count; i++)
            scores[i] += weight[c] * m->block[(c - s->start[k]) * m->count + i];
}

static vxs_status score(const vxs_output_fit *o, const vxs_scored_rows *x, double *scores,
                        vxs_error *err)
{
    const vxs_selected *s = o->fit.selected;
    const vxs_map_parameters *inputs = o->encoded;
    if (!inputs)
        return vxs_linear_encoder.score(o, x, scores, err);
    mapping m = { .mapped = inputs, .fit = &o->fit, .count = x->count };
    double *wide = vxs_alloc(x->cohort->n, sizeof(*wide), err);
    m.values = vxs_alloc(inputs->count, x->count * sizeof(*m.values), err);
    m.block = vxs_alloc(vxs_feature_map_width(&inputs->map), x->count * sizeof(*m.block), err);
    vxs_status status = wide && m.values && m.block ? VXS_OK : VXS_FAILED;
    for (size_t k = 0; k < inputs->count && !status; k++)
        vxs_standardized_values(x, o->fit.index[k], inputs->scale[k],
                                inputs->covariate_coefficients + k * inputs->covariate_count,
                                inputs->covariate_count, wide, m.values + k * x->count);
    for (size_t k = 0; k < s->count && !status; k++)
        add_block(&m, k, s->refit_weight ? s->refit_weight : s->weight, scores);
    free(wide);
    free(m.values);
    free(m.block);
    return status;
}

/* ---- The encoder ----------------------------------------------------------------------------- */

static bool has_map(const vxs_solution *fit)
{
    return fit->selected && fit->selected->map.kind != VXS_FEATURE_MAP_NONE;
}

static vxs_status decode(const vxs_task *t, vxs_output_fit *o, vxs_error *err)
{
    vxs_map_parameters *inputs = NULL;
    if (!has_map(&o->fit))
        return vxs_unstandardize_weights(t, &o->fit, err);
    vxs_status status = vxs_regress_widen(t, &o->fit, err);
    if (!status)
        status = make_inputs(t, &o->fit.selected->map, &o->fit, &inputs, err);
    o->encoded = inputs;
    return status;
}

static vxs_status encode(const vxs_task *t, const vxs_output_fit *o, vxs_solution *fit,
                         vxs_error *err)
{
    (void)o;
    return has_map(fit) ? VXS_OK : vxs_standardize_weights(t, fit, err);
}

static void begin(vxs_model *m, const vxs_method_settings *s)
{
    m->groups = s->blocks.groups != NULL;
}

const vxs_encoder vxs_block_encoder = { .begin = begin,
                                        .decode = decode,
                                        .encode = encode,
                                        .score = score,
                                        .release = vxs_map_parameters_free,
                                        .files = vxs_block_files,
                                        .read = vxs_blocks_read };
