/* mapped_features.c - methods that select among units: what units there are, and how features of
 * new subjects become columns of those that were selected. */
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool vxs_task_generates(const vxs_task *t)
{
    return vxs_task_method(t)->generates;
}

/* ---- The problem ----------------------------------------------------------------------------- */

void vxs_task_drop_units(vxs_task *t)
{
    vxs_units_free(t->units);
    t->units = NULL;
}

static vxs_status read_map(const vxs_method_settings *s, vxs_map *map, vxs_error *err)
{
    const char *text = s->bandwidth ? s->bandwidth : "1";
    *map = (vxs_map){ .kind = s->map, .gamma = s->gamma, .constant = s->constant };
    if (!vxs_parse_real(text, &map->bandwidth) || !(map->bandwidth > 0) ||
        !isfinite(map->bandwidth))
        return vxs_fail(err, VXS_MISUSE, "'--bandwidth' wants a number above 0, not '%s'", text);
    if (s->bandwidth && s->map != VXS_MAP_GAUSS)
        return vxs_fail(err, VXS_MISUSE, "'--bandwidth' goes with '--map gauss'");
    if ((s->gamma != 1 || s->constant != 1) && s->map != VXS_MAP_POLY2)
        return vxs_fail(err, VXS_MISUSE, "'--gamma' and '--constant' go with '--map poly2'");
    if (s->map != VXS_MAP_NONE && s->groups)
        return vxs_fail(err, VXS_MISUSE, "'--groups' and '--map' exclude each other");
    if (s->by_size && !s->groups)
        return vxs_fail(err, VXS_MISUSE, "'--by-size' goes with '--groups'");
    return VXS_OK;
}

/* Made once for a design. */
static vxs_status make_units(const vxs_context *context, vxs_task *t,
                             const vxs_method_settings *settings, const vxs_map *map,
                             vxs_error *err)
{
    if (t->units)
        return VXS_OK;
    if (!settings->groups)
        return vxs_units_new(context, t->design, map, &t->units, err);
    vxs_status status = vxs_task_make_groups(context, t, settings->groups, err);
    return status ? status
                  : vxs_units_of_groups(context, t->design, &t->groups, settings->by_size,
                                        &t->units, err);
}

vxs_status vxs_task_make_units_problem(const vxs_context *context, vxs_task *t,
                                       const vxs_method_settings *settings, vxs_problem *problem,
                                       vxs_error *err)
{
    vxs_status status = read_map(settings, &problem->map, err);
    if (!status)
        status = make_units(context, t, settings, &problem->map, err);
    bool smooth = t->settings.method == VXS_METHOD_MSLR;
    problem->units = t->units;
    problem->budget = (size_t)settings->budget;
    problem->cost = settings->cost;
    problem->debias = settings->debias;
    problem->unshifted = smooth;
    bool logistic = smooth || vxs_chosen_loss(&t->settings) == &vxs_logistic_loss;
    problem->loss.kind = logistic ? &vxs_logistic_loss : &vxs_squared_hinge_loss;
    return status;
}

const char *vxs_unit_name(const vxs_model *m, size_t count)
{
    static const char *const names[][2] = { { "feature", "features" },
                                            { "feature or pair", "features and pairs" },
                                            { "group", "groups" } };
    const vxs_selected *s = m->outputs[0].fit.selected;
    int kind = s->map.kind == VXS_MAP_POLY2 ? 1 : m->groups ? 2 : 0;
    return names[kind][count != 1];
}

/* ---- Maps of new subjects' features ---------------------------------------------------------- */

void vxs_mapped_free(vxs_mapped *m)
{
    if (!m)
        return;
    free(m->low);
    free(m->high);
    free(m->scale);
    free(m->free);
    free(m);
}

vxs_mapped *vxs_mapped_new(const vxs_map *map, size_t p, size_t count, size_t free_count,
                           vxs_error *err)
{
    vxs_mapped *m = vxs_alloc(1, sizeof(*m), err);
    if (!m)
        return NULL;
    *m = (vxs_mapped){ .map = *map, .p = p, .count = count, .free_count = free_count };
    m->low = vxs_alloc(count, sizeof(*m->low), err);
    m->high = vxs_alloc(count, sizeof(*m->high), err);
    m->scale = vxs_alloc(count, sizeof(*m->scale), err);
    m->free = vxs_alloc(count, free_count * sizeof(*m->free), err);
    if (m->low && m->high && m->scale && m->free)
        return m;
    vxs_mapped_free(m);
    return NULL;
}

vxs_status vxs_mapped_of(const vxs_task *t, const vxs_map *map, const vxs_solution *fit,
                         vxs_mapped **mapped, vxs_error *err)
{
    vxs_mapped *m = vxs_mapped_new(map, t->cohort->p, fit->count, t->free_count, err);
    vxs_status status = m ? VXS_OK : VXS_FAILED;
    for (size_t k = 0; k < fit->count && !status; k++) {
        vxs_units_range(t->units, fit->index[k], &m->low[k], &m->high[k]);
        status = vxs_find_scale(t, fit->index[k], &m->scale[k], m->free + k * t->free_count, err);
    }
    *mapped = status ? NULL : m;
    if (status)
        vxs_mapped_free(m);
    return status;
}

typedef struct {
    const vxs_mapped *mapped;
    const vxs_solution *fit;
    size_t count;   /* subjects */
    double *values; /* of features with a weight, count each */
    double *block;  /* columns of a unit */
} mapping;

/* The place of a feature among those with a weight; all of a unit's are that has one. */
static size_t place_of(const vxs_solution *fit, size_t feature)
{
    size_t low = 0, high = fit->count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        *(fit->index[middle] > feature ? &high : &low) = middle;
    }
    return low;
}

static void add_unit(const mapping *m, size_t k, const double *weight, double *scores)
{
    const vxs_selected *s = m->fit->selected;
    size_t feature[2];
    double size = 0;
    for (size_t c = s->start[k]; c < s->start[k + 1]; c++)
        size += weight[c] * weight[c];
    if (size == 0) /* learned anew, where covariates explain it all */
        return;
    vxs_map_features(&m->mapped->map, m->mapped->p, s->unit[k], feature);
    size_t a = place_of(m->fit, feature[0]), b = place_of(m->fit, feature[1]);
    vxs_map_columns(&m->mapped->map, m->mapped->p, s->unit[k], m->values + a * m->count,
                    m->values + b * m->count, m->mapped->low[a], m->mapped->high[a], m->count,
                    m->block);
    for (size_t c = s->start[k]; c < s->start[k + 1]; c++)
        for (size_t i = 0; i < m->count; i++)
            scores[i] += weight[c] * m->block[(c - s->start[k]) * m->count + i];
}

/* Values as they stand in the cohort become what the map sees. */
static void find_values(mapping *m, const vxs_cohort *c, const size_t *rows, const double *columns,
                        size_t stride, double *wide)
{
    const vxs_mapped *map = m->mapped;
    for (size_t k = 0; k < map->count; k++) {
        double *values = m->values + k * m->count;
        memset(wide, 0, c->n * sizeof(*wide));
        vxs_cohort_add(c, m->fit->index[k], 1, wide);
        for (size_t i = 0; i < m->count; i++) {
            values[i] = map->scale[k] * wide[rows[i]];
            for (size_t f = 0; f < map->free_count; f++)
                values[i] += map->free[k * map->free_count + f] * columns[f * stride + i];
        }
    }
}

vxs_status vxs_mapped_score(const vxs_mapped *mapped, const vxs_solution *fit, const vxs_cohort *c,
                            const size_t *rows, const double *columns, size_t stride, size_t count,
                            double *scores, vxs_error *err)
{
    const vxs_selected *s = fit->selected;
    mapping m = { .mapped = mapped, .fit = fit, .count = count };
    double *wide = vxs_alloc(c->n, sizeof(*wide), err);
    m.values = vxs_alloc(mapped->count, count * sizeof(*m.values), err);
    m.block = vxs_alloc(vxs_map_width(&mapped->map), count * sizeof(*m.block), err);
    vxs_status status = wide && m.values && m.block ? VXS_OK : VXS_FAILED;
    if (!status) {
        find_values(&m, c, rows, columns, stride, wide);
        for (size_t k = 0; k < s->count; k++)
            add_unit(&m, k, s->retrained ? s->retrained : s->weight, scores);
    }
    free(wide);
    free(m.values);
    free(m.block);
    return status;
}
