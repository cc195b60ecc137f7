/* feature_names.c - index of features by name. */
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b, void *data)
{
    char one[32], two[32];
    const vxs_cohort *c = data;
    return strcmp(vxs_cohort_feature(c, *(const size_t *)a, one),
                  vxs_cohort_feature(c, *(const size_t *)b, two));
}

vxs_status vxs_feature_names_new(const vxs_cohort *c, const char *path, vxs_feature_names *names,
                                 vxs_error *err)
{
    *names = (vxs_feature_names){ .cohort = c, .path = path };
    names->order = vxs_alloc(c->p, sizeof(*names->order), err);
    if (!names->order)
        return VXS_FAILED;
    for (size_t j = 0; j < c->p; j++)
        names->order[j] = j;
    if (c->names) /* features without names are numbered: "x12" */
        qsort_r(names->order, c->p, sizeof(*names->order), by_name, (void *)c);
    return VXS_OK;
}

vxs_status vxs_feature_names_check(const vxs_cohort *c, const char *what, vxs_error *err)
{
    vxs_feature_names names;
    char one[32], two[32];
    if (!c->names)
        return VXS_OK;
    vxs_status status = vxs_feature_names_new(c, NULL, &names, err);
    for (size_t k = 1; k < c->p && !status; k++) {
        const char *name = vxs_cohort_feature(c, names.order[k], one);
        if (strcmp(vxs_cohort_feature(c, names.order[k - 1], two), name) == 0)
            status = vxs_fail(err, VXS_BAD_DATA, "'%s' has two features '%s', and %s names them",
                              c->path, name, what);
    }
    vxs_feature_names_release(&names);
    return status;
}

void vxs_feature_names_release(vxs_feature_names *names)
{
    free(names->order);
    *names = (vxs_feature_names){ .order = NULL };
}

static size_t find_number(const vxs_cohort *c, const char *requested)
{
    int64_t number = 0;
    bool whole = requested[0] == 'x' && vxs_parse_whole(requested + 1, &number);
    return whole && number >= 0 && (uint64_t)number < c->p ? (size_t)number : c->p;
}

/* Binary search among the sorted names. */
static size_t find_name(const vxs_feature_names *names, const char *requested)
{
    const vxs_cohort *c = names->cohort;
    char buffer[32];
    size_t low = 0, high = c->p;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(requested, vxs_cohort_feature(c, names->order[middle], buffer));
        if (order == 0)
            return middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return c->p;
}

/* Refuses an ambiguous name: a cohort made by another program may have duplicate feature names. */
static vxs_status find_only(const vxs_feature_names *names, const char *requested, size_t *feature,
                            vxs_error *err)
{
    const vxs_cohort *c = names->cohort;
    char one[32], two[32];
    size_t at = find_name(names, requested);
    *feature = at < c->p ? names->order[at] : c->p;
    for (size_t k = at > 0 ? at - 1 : 0; at < c->p && k <= at && k + 1 < c->p; k++)
        if (strcmp(vxs_cohort_feature(c, names->order[k], one),
                   vxs_cohort_feature(c, names->order[k + 1], two)) == 0)
            return vxs_fail(err, VXS_BAD_DATA, "'%s' cannot be used: '%s' has two features '%s'",
                            names->path, c->path, requested);
    return VXS_OK;
}

vxs_status vxs_feature_names_find(const vxs_feature_names *names, const vxs_table *table,
                                  size_t row, size_t column, size_t *feature, vxs_error *err)
{
    const vxs_cohort *c = names->cohort;
    const char *requested = vxs_table_cell(table, row, column);
    vxs_status status = VXS_OK;
    *feature = c->p;
    if (requested && c->names)
        status = find_only(names, requested, feature, err);
    else if (requested)
        *feature = find_number(c, requested);
    if (status || *feature < c->p)
        return status;
    return vxs_fail(err, VXS_BAD_DATA, "'%s' line %zu: the cohort has no feature '%s'", names->path,
                    vxs_table_line(table, row), requested ? requested : "");
}

vxs_status vxs_feature_names_differ(const vxs_cohort *c, const char *column, const char *option,
                                    vxs_error *err)
{
    char buffer[32];
    bool named = c->bags ? c->bags->names != NULL : c->names != NULL;
    size_t count = c->bags ? c->bags->width : c->p;
    for (size_t j = 0; j < count && named; j++)
        if (strcmp(c->bags ? vxs_bags_feature(c->bags, j, buffer)
                           : vxs_cohort_feature(c, j, buffer),
                   column) == 0)
            return vxs_fail(err, VXS_BAD_DATA,
                            "'%s' is a feature of the cohort and the column of '%s': the model "
                            "would use it twice; make the cohort without that feature",
                            column, option);
    return VXS_OK;
}
