/* covariates.c - covariates such as age, sex, site: numeric columns, and indicator columns for each
 * level of a factor except the reference level.
 *
 * A level without training subjects (leave-one-site-out) has no estimated coefficient: its subjects
 * get the training means of the factor's indicators, the average level effect weighted by
 * frequency. The same rule holds when the absent level is the reference level. Subjects of weight 0
 * are no training subjects. */
#include "model/covariates.h"
#include "linalg/gram_schmidt.h"
#include "solver/solver.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Which columns --------------------------------------------------------------------------- */

static vxs_status add_covariate(const vxs_task *t, const char *name, size_t target,
                                vxs_covariates *list, vxs_error *err)
{
    const vxs_table *table = t->cohort->people;
    vxs_covariate *more = vxs_resize(list->each, list->count + 1, sizeof(*more), err);
    if (!more)
        return VXS_FAILED;
    list->each = more;
    vxs_covariate *c = &more[list->count++];
    *c = (vxs_covariate){ .column = SIZE_MAX };
    vxs_column_summary summary;
    vxs_status status = vxs_table_find(table, name, &c->column, err);
    if (!status)
        status = vxs_table_summarize(table, c->column, &summary, err);
    if (status)
        return status;
    c->numeric = summary.numeric;
    if (c->column == target)
        return vxs_fail(err, VXS_MISUSE, "'%s' is the target; it cannot be a confound as well",
                        name);
    return c->numeric ? VXS_OK : vxs_table_levels(table, c->column, &c->levels, &c->count, err);
}

vxs_status vxs_covariates_find(const vxs_task *t, size_t target, vxs_covariates *list,
                               vxs_error *err)
{
    const char *names = t->settings.confounds;
    vxs_status status = VXS_OK;
    while (names && *names && !status) {
        size_t length = strcspn(names, ",");
        char *name = vxs_format(err, "%.*s", (int)length, names);
        status = name ? VXS_OK : VXS_FAILED;
        if (name && *name)
            status = add_covariate(t, name, target, list, err);
        free(name);
        names += length + (names[length] == ',');
    }
    return status;
}

void vxs_covariates_release(vxs_covariates *list)
{
    for (size_t k = 0; k < list->count; k++)
        free(list->each[k].levels);
    free(list->each);
    *list = (vxs_covariates){ .count = 0 };
}

/* ---- Columns of the task --------------------------------------------------------------------- */

static vxs_status name_free(vxs_task *t, const char *name, const char *level, vxs_error *err)
{
    char **more = vxs_resize(t->covariate_names, t->covariate_count + 1, sizeof(*more), err);
    double *columns =
        more ? vxs_resize(t->covariates, (t->covariate_count + 1) * t->n, sizeof(*columns), err)
             : NULL;
    t->covariate_names = more ? more : t->covariate_names;
    t->covariates = columns ? columns : t->covariates;
    if (!columns)
        return VXS_FAILED;
    more[t->covariate_count] =
        level ? vxs_format(err, "%s=%s", name, level) : vxs_format(err, "%s", name);
    if (!more[t->covariate_count])
        return VXS_FAILED;
    t->covariate_count++;
    return VXS_OK;
}

static vxs_status note_level(vxs_task *t, const char *name, const char *level, vxs_error *err)
{
    char **more = vxs_resize(t->levels, t->level_count + 1, sizeof(*more), err);
    if (!more)
        return VXS_FAILED;
    t->levels = more;
    more[t->level_count] = vxs_format(err, "%s=%s", name, level);
    return more[t->level_count] ? (t->level_count++, VXS_OK) : VXS_FAILED;
}

static vxs_status note_factor(vxs_task *t, size_t column, vxs_error *err)
{
    vxs_categorical *more = vxs_resize(t->factors, t->factor_count + 1, sizeof(*more), err);
    if (!more)
        return VXS_FAILED;
    t->factors = more;
    vxs_categorical *f = &more[t->factor_count];
    *f = (vxs_categorical){ .column = column,
                            .first = t->covariate_count,
                            .level = vxs_alloc(t->n, sizeof(*f->level), err) };
    t->factor_count += f->level != NULL;
    return f->level ? VXS_OK : VXS_FAILED;
}

void vxs_free_factors(vxs_task *t)
{
    for (size_t k = 0; k < t->factor_count; k++)
        free(t->factors[k].level);
    free(t->factors);
    t->factors = NULL;
    t->factor_count = 0;
}

typedef struct {
    size_t with, used; /* subjects with a level, and those of them with a weight above 0 */
} occurrence;

static bool has_level(const vxs_task *t, size_t i, size_t column, const char *level)
{
    return strcmp(vxs_table_cell(t->cohort->people, t->rows[i], column), level) == 0;
}

static occurrence count_level(const vxs_task *t, size_t column, const char *level)
{
    occurrence o = { 0, 0 };
    for (size_t i = 0; i < t->n; i++)
        if (has_level(t, i, column, level)) {
            o.with++;
            o.used += vxs_task_weight(t, i) > 0;
        }
    return o;
}

/* The next level has this text; it is given an indicator unless it is the reference. */
static vxs_status add_identified(vxs_task *t, vxs_categorical *f, const char *name,
                                 const char *level, vxs_error *err)
{
    vxs_status status = note_level(t, name, level, err);
    if (!status && f->levels > 0)
        status = name_free(t, name, level, err);
    for (size_t i = 0; i < t->n && !status && f->levels > 0; i++)
        t->covariates[(t->covariate_count - 1) * t->n + i] = f->level[i] == f->levels;
    f->identified++;
    return status;
}

static vxs_status warn_unidentified(const vxs_context *context, vxs_task *t, const char *name,
                                    const char *level, size_t with, vxs_error *err)
{
    return vxs_task_warn(context, t, err,
                         "%s%zu subject%s with '%s' in '%s' %s weight 0 in '%s': that level has no "
                         "coefficient; predictions use the mean coefficient of the other levels",
                         with > 1 ? "all " : "the ", with, vxs_plural(with), level, name,
                         with > 1 ? "have" : "has", t->settings.weights);
}

/* Numbers the levels of which a subject has a weight, or those of which none has. */
static vxs_status add_levels_of(const vxs_context *context, vxs_task *t, vxs_categorical *f,
                                const vxs_covariate *c, bool used, vxs_error *err)
{
    const char *name = vxs_table_header(t->cohort->people, c->column);
    vxs_status status = VXS_OK;
    for (size_t k = 0; k < c->count && !status; k++) {
        const char *level = c->levels[k].text;
        occurrence o = count_level(t, c->column, level);
        if (o.with == 0 || (o.used > 0) != used)
            continue;
        for (size_t i = 0; i < t->n; i++)
            if (has_level(t, i, c->column, level))
                f->level[i] = f->levels;
        status = used ? add_identified(t, f, name, level, err)
                      : warn_unidentified(context, t, name, level, o.with, err);
        f->levels++;
    }
    return status;
}

static vxs_status add_levels(const vxs_context *context, vxs_task *t, const vxs_covariate *c,
                             vxs_error *err)
{
    vxs_status status = note_factor(t, c->column, err);
    vxs_categorical *f = status ? NULL : &t->factors[t->factor_count - 1];
    for (size_t i = 0; f && i < t->n; i++)
        f->level[i] = SIZE_MAX;
    if (!status)
        status = add_levels_of(context, t, f, c, true, err);
    return status ? status : add_levels_of(context, t, f, c, false, err);
}

vxs_status vxs_check_offset(const char *name, const double *values, size_t n, double least,
                            vxs_error *err)
{
    double mean = 0, square = 0;
    bool same = true;
    for (size_t i = 0; i < n; i++)
        same = same && values[i] == values[0];
    if (same)
        return VXS_OK;
    for (size_t i = 0; i < n; i++)
        mean += values[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        square += (values[i] - mean) * (values[i] - mean);
    double spread = sqrt(square / (double)n);
    if (!(spread > 0) || spread > least * fabs(mean))
        return VXS_OK;
    return vxs_fail(err, VXS_BAD_DATA,
                    "column '%s' varies by %.3g (standard deviation) about a mean of %.3g, too "
                    "little to be computed with; subtract a constant from it, such as its mean",
                    name, spread, mean);
}

/* Beside the intercept so little of the column remains that solvers, which work with squared
 * lengths (l1_quadratic.c), treat it as linearly dependent and drop it. */
#define LEAST_SPREAD 1e-5

static vxs_status add_columns(const vxs_context *context, vxs_task *t, const vxs_covariate *c,
                              vxs_error *err)
{
    const vxs_table *table = t->cohort->people;
    const char *name = vxs_table_header(table, c->column);
    if (!c->numeric)
        return add_levels(context, t, c, err);
    vxs_status status = name_free(t, name, NULL, err);
    double *values = status ? NULL : t->covariates + (t->covariate_count - 1) * t->n;
    for (size_t i = 0; i < t->n && !status; i++)
        status = vxs_table_real(table, t->rows[i], c->column, &values[i], err);
    return status ? status : vxs_check_offset(name, values, t->n, LEAST_SPREAD, err);
}

vxs_status vxs_covariates_read(const vxs_context *context, const vxs_covariates *list, vxs_task *t,
                               vxs_error *err)
{
    vxs_status status = VXS_OK;
    if (!t->settings.no_intercept) {
        status = name_free(t, "intercept", NULL, err);
        for (size_t i = 0; i < t->n && !status; i++)
            t->covariates[i] = 1;
    }
    for (size_t k = 0; k < list->count && !status; k++)
        status = add_columns(context, t, &list->each[k], err);
    return status;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

/* Relative to the column's length: rounding of an exact linear combination, such as the indicators
 * of two factors that sum to the intercept. */
#define EXACT 1e-12

/* How column k of the covariates, 0 where a subject has weight 0, joins an orthonormal basis. */
typedef enum { JOINS, NEARLY_DEPENDENT, DEPENDENT } joining;

static joining join(const vxs_task *t, size_t k, bool weighted, double *basis, size_t *rank)
{
    size_t n = t->n;
    double *v = basis + *rank * n;
    for (size_t i = 0; i < n; i++)
        v[i] = !weighted || vxs_task_weight(t, i) > 0 ? t->covariates[k * n + i] : 0;
    double length = cblas_dnrm2((int)n, v, 1);
    if (length > 0 && vxs_gram_schmidt_append(basis, n, *rank, VXS_INDEPENDENT_COVARIATE, 0, NULL))
        return (*rank)++, JOINS;
    return cblas_dnrm2((int)n, v, 1) > EXACT * length ? NEARLY_DEPENDENT : DEPENDENT;
}

/* A covariate that is a linear combination of others up to float32 rounding has no effect, nor has
 * one that only subjects of weight 0 tell from the others. */
vxs_status vxs_covariates_warn(const vxs_context *context, vxs_task *t, vxs_error *err)
{
    size_t rank = 0, weighted_rank = 0, width = t->covariate_count + 1;
    double *basis = vxs_alloc(2 * t->n, width * sizeof(*basis), err);
    vxs_status status = basis ? VXS_OK : VXS_FAILED;
    for (size_t k = 0; k < t->covariate_count && !status; k++) {
        joining all = join(t, k, false, basis, &rank),
                used = join(t, k, true, basis + width * t->n, &weighted_rank);
        if (used == NEARLY_DEPENDENT)
            vxs_log(context, VXS_LOG_WARNING,
                    "covariate '%s' equals a combination of the covariates before it to 7 digits "
                    "and adds nothing to the model",
                    t->covariate_names[k]);
        else if (used == DEPENDENT && all == JOINS)
            status = vxs_task_warn(context, t, err,
                                   "covariate '%s' differs from a combination of the covariates "
                                   "before it only in subjects with weight 0 in '%s': it adds "
                                   "nothing to the model",
                                   t->covariate_names[k], t->settings.weights);
    }
    free(basis);
    return status;
}

/* ---- Levels that were never seen ------------------------------------------------------------- */

/* Sets the factor's indicators for test subjects whose level is not in `seen`. */
static void average_levels(const vxs_task *t, const vxs_categorical *f, const bool *seen,
                           const size_t *train, size_t train_count, const size_t *test,
                           size_t test_count, double *columns)
{
    for (size_t k = f->first; k + 1 < f->first + f->identified; k++) {
        double sum = 0, total = 0;
        for (size_t i = 0; i < train_count; i++) {
            sum += vxs_task_weight(t, train[i]) * t->covariates[k * t->n + train[i]];
            total += vxs_task_weight(t, train[i]);
        }
        for (size_t i = 0; i < test_count; i++)
            if (!seen[f->level[test[i]]])
                columns[k * test_count + i] = total > 0 ? sum / total : 0;
    }
}

vxs_status vxs_covariates_of(const vxs_task *t, const size_t *train, size_t train_count,
                             const size_t *test, size_t test_count, double *columns, vxs_error *err)
{
    bool *seen = vxs_alloc(t->n, sizeof(*seen), err);
    if (!seen)
        return VXS_FAILED;
    for (size_t k = 0; k < t->covariate_count; k++)
        for (size_t i = 0; i < test_count; i++)
            columns[k * test_count + i] = t->covariates[k * t->n + test[i]];
    for (size_t j = 0; j < t->factor_count; j++) {
        const vxs_categorical *f = &t->factors[j];
        memset(seen, 0, f->levels * sizeof(*seen));
        for (size_t i = 0; i < train_count; i++)
            seen[f->level[train[i]]] |= vxs_task_weight(t, train[i]) > 0;
        average_levels(t, f, seen, train, train_count, test, test_count, columns);
    }
    free(seen);
    return VXS_OK;
}

vxs_status vxs_covariates_unseen(const vxs_task *t, const size_t *fold, size_t number,
                                 vxs_unseen_list *list, vxs_error *err)
{
    const vxs_table *table = t->cohort->people;
    bool *seen = vxs_alloc(t->n, sizeof(*seen), err);
    vxs_status status = seen ? VXS_OK : VXS_FAILED;
    for (size_t j = 0; j < t->factor_count && !status; j++) {
        const vxs_categorical *f = &t->factors[j];
        memset(seen, 0, f->levels * sizeof(*seen));
        for (size_t i = 0; i < t->n; i++)
            if (fold[i] != number && vxs_task_weight(t, i) > 0)
                seen[f->level[i]] = true;
        for (size_t i = 0; i < t->n && !status; i++)
            if (fold[i] == number && !seen[f->level[i]])
                status = vxs_unseen_add(list, vxs_table_header(table, f->column),
                                        vxs_table_cell(table, t->rows[i], f->column), i, err);
    }
    free(seen);
    return status;
}

vxs_status vxs_unseen_add(vxs_unseen_list *list, const char *covariate, const char *level, size_t i,
                          vxs_error *err)
{
    size_t k = 0;
    while (k < list->count && (strcmp(list->each[k].covariate, covariate) != 0 ||
                               strcmp(list->each[k].level, level) != 0))
        k++;
    if (k == list->count) {
        vxs_unseen *more = vxs_resize(list->each, list->count + 1, sizeof(*more), err);
        list->each = more ? more : list->each;
        bool *who = more ? vxs_alloc(list->n, sizeof(*who), err) : NULL;
        if (!who)
            return VXS_FAILED;
        list->each[list->count++] = (vxs_unseen){ covariate, level, who, 0 };
    }
    list->each[k].count += !list->each[k].who[i];
    list->each[k].who[i] = true;
    return VXS_OK;
}

void vxs_unseen_release(vxs_unseen_list *list)
{
    for (size_t k = 0; k < list->count; k++)
        free(list->each[k].who);
    free(list->each);
    *list = (vxs_unseen_list){ .count = 0 };
}

#define MOST_NAMED 20

void vxs_unseen_warn(const vxs_context *context, const vxs_unseen_list *list, vxs_id_of *id,
                     const void *of)
{
    for (size_t k = 0; k < list->count; k++) {
        const vxs_unseen *u = &list->each[k];
        char who[1024] = "";
        size_t named = 0, length = 0;
        for (size_t i = 0; i < list->n && named < MOST_NAMED; i++) {
            if (!u->who[i] || length + strlen(id(of, i)) + 2 >= sizeof(who))
                continue;
            length += (size_t)snprintf(who + length, sizeof(who) - length, "%s%s",
                                       named++ > 0 ? ", " : "", id(of, i));
        }
        vxs_log(context, VXS_LOG_WARNING,
                "no training subject has '%s' in '%s': %zu subject%s the mean coefficient of "
                "the training levels: %s%s",
                u->level, u->covariate, u->count, u->count == 1 ? " gets" : "s get", who,
                named < u->count ? ", ..." : "");
    }
}

void vxs_unseen_json(vxs_json_writer *w, const vxs_unseen_list *list, vxs_id_of *id, const void *of)
{
    vxs_json_open_array(w, "unseen_levels");
    for (size_t k = 0; k < list->count; k++) {
        vxs_json_open_object(w, NULL);
        vxs_json_text(w, "covariate", list->each[k].covariate);
        vxs_json_text(w, "level", list->each[k].level);
        vxs_json_text(w, "predicted_with", "mean of the training subjects' levels");
        vxs_json_open_array(w, "subjects");
        for (size_t i = 0; i < list->n; i++)
            if (list->each[k].who[i])
                vxs_json_text(w, NULL, id(of, i));
        vxs_json_close_array(w);
        vxs_json_close_object(w);
    }
    vxs_json_close_array(w);
}
