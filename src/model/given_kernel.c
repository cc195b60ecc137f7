/* given_kernel.c - a kernel between subjects that was computed elsewhere: an NPY matrix, and beside
 * it a table with the id of each row.
 *
 * It stands where products of features stand otherwise: means and confounds are taken out of it,
 * and it is divided by its mean. There are no weights of features; new subjects come with their
 * kernel values. */
#include "linalg/lapack.h"
#include "model/axis.h"
#include "model/estimators.h"
#include "model/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define APART 1e-8 /* of two values that are one, relative to the mean of the diagonal */
#define NEGATIVE                                                                                   \
    1e-8 /* of the mean of the diagonal: the least pivot is no smaller than minus this */

typedef struct {
    const char *path;
    vxs_npy values;
    vxs_table *ids;
    size_t n, *at; /* cohort's rows: their place in the matrix, or SIZE_MAX */
} source;

bool vxs_kernel_is_given(const vxs_method_settings *s)
{
    return s->svm.kernel == VXS_KERNEL_PRECOMPUTED;
}

/* ---- The file -------------------------------------------------------------------------------- */

static double value_at(const source *s, size_t i, size_t j)
{
    return vxs_npy_item(&s->values, s->values.fortran ? j * s->n + i : i * s->n + j);
}

static const char *id_at(const source *s, size_t i)
{
    const char *id = vxs_table_cell(s->ids, i, 0);
    return id ? id : "";
}

/* "kernel.tsv" of "kernel.npy". */
static vxs_status read_ids(source *s, vxs_error *err)
{
    size_t length = strlen(s->path),
           end = length > 4 && !strcmp(s->path + length - 4, ".npy") ? 4 : 0;
    char *path = vxs_format(err, "%.*s.tsv", (int)(length - end), s->path);
    vxs_status status = path ? vxs_table_read(path, &s->ids, err) : VXS_FAILED;
    if (!status && vxs_table_rows(s->ids) != s->n)
        status = vxs_fail(err, VXS_BAD_DATA,
                          "'%s' has %zu rows, and '%s' %zu: an id for each row of the matrix, in "
                          "its first column, is expected",
                          path, vxs_table_rows(s->ids), s->path, s->n);
    free(path);
    return status;
}

static vxs_status open_matrix(source *s, vxs_error *err)
{
    vxs_status status = vxs_npy_open(s->path, &s->values, err);
    if (status)
        return status;
    if (s->values.ndim != 2 || s->values.shape[0] != s->values.shape[1])
        return vxs_fail(err, VXS_BAD_DATA,
                        "'%s' is not square: a kernel has a row and a column for "
                        "each subject",
                        s->path);
    s->n = s->values.shape[0];
    return VXS_OK;
}

/* A few thousand ids, once: each is searched for. */
static vxs_status find_rows(source *s, const vxs_cohort *c, vxs_error *err)
{
    s->at = vxs_alloc(c->n, sizeof(*s->at), err);
    for (size_t i = 0; s->at && i < c->n; i++) {
        const char *id = vxs_cohort_id(c, i);
        s->at[i] = SIZE_MAX;
        for (size_t r = 0; r < s->n; r++) {
            if (strcmp(id_at(s, r), id) != 0)
                continue;
            if (s->at[i] != SIZE_MAX)
                return vxs_fail(err, VXS_BAD_DATA, "'%s' has two rows with the id '%s'", s->path,
                                id);
            s->at[i] = r;
        }
    }
    return s->at ? VXS_OK : VXS_FAILED;
}

static vxs_status open_source(source *s, const vxs_cohort *c, vxs_error *err)
{
    vxs_status status = open_matrix(s, err);
    if (!status)
        status = read_ids(s, err);
    return status ? status : find_rows(s, c, err);
}

static void close_source(source *s)
{
    vxs_npy_release(&s->values);
    vxs_table_free(s->ids);
    free(s->at);
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static vxs_status check_found(const vxs_task *t, const source *s, vxs_error *err)
{
    for (size_t i = 0; i < t->n; i++)
        if (s->at[t->rows[i]] == SIZE_MAX)
            return vxs_fail(err, VXS_BAD_DATA, "'%s' has no row with the id '%s'", s->path,
                            vxs_task_id(t, i));
    return VXS_OK;
}

static double mean_diagonal(const vxs_task *t, const vxs_products *p)
{
    double sum = 0;
    for (size_t i = 0; i < t->n; i++)
        sum += fabs(p->values[t->rows[i] * p->n + t->rows[i]]) / (double)t->n;
    return sum;
}

static vxs_status check_values(const vxs_task *t, const vxs_products *p, const char *path,
                               vxs_error *err)
{
    double unit = mean_diagonal(t, p);
    for (size_t i = 0; i < t->n; i++)
        for (size_t j = 0; j <= i; j++) {
            double one = p->values[t->rows[i] * p->n + t->rows[j]];
            double other = p->values[t->rows[j] * p->n + t->rows[i]];
            if (!isfinite(one) || !isfinite(other))
                return vxs_fail(err, VXS_BAD_DATA, "'%s' is not finite for '%s' and '%s'", path,
                                vxs_task_id(t, i), vxs_task_id(t, j));
            if (fabs(one - other) > APART * fmax(unit, fabs(one)))
                return vxs_fail(err, VXS_BAD_DATA,
                                "'%s' is not symmetric: %.9g for '%s' and '%s', %.9g the other way "
                                "round",
                                path, one, vxs_task_id(t, i), vxs_task_id(t, j), other);
        }
    return VXS_OK;
}

/* Cholesky's pivots, each of them raised by as much as may be missing. */
static vxs_status check_definite(const vxs_task *t, const vxs_products *p, const char *path,
                                 vxs_error *err)
{
    double unit = mean_diagonal(t, p);
    double *k = vxs_alloc(t->n, vxs_times(t->n, sizeof(*k)), err);
    int n = (int)t->n, info = 0;
    if (!k)
        return VXS_FAILED;
    for (size_t i = 0; i < t->n; i++)
        for (size_t j = 0; j < t->n; j++)
            k[i * t->n + j] =
                p->values[t->rows[i] * p->n + t->rows[j]] + (i == j) * NEGATIVE * unit;
    dpotrf_("L", &n, k, &n, &info);
    free(k);
    if (info <= 0 || unit == 0)
        return VXS_OK;
    return vxs_fail(err, VXS_BAD_DATA,
                    "'%s' is not positive semidefinite: at '%s' a pivot is below -1e-8 of the mean "
                    "of its diagonal; it is no kernel",
                    path, vxs_task_id(t, (size_t)info - 1));
}

static vxs_status check_task(const vxs_task *t, const vxs_method_settings *s, vxs_error *err)
{
    if (s->svm.rank > 0)
        return vxs_fail(err, VXS_MISUSE,
                        "'--rank' is for kernels of features: '--kernel precomputed' is in memory "
                        "as a whole, and new subjects come with all of their kernel values");
    if (!s->svm.file)
        return vxs_fail(err, VXS_MISUSE, "'--kernel precomputed' goes with '--kernel-file FILE'");
    if (t->settings.standardize == (int)VXS_STANDARDIZE_UNIT || t->settings.penalties)
        return vxs_fail(err, VXS_MISUSE,
                        "'--%s' is for features, which '--kernel precomputed' does not read",
                        t->settings.penalties ? "penalty-factors" : "standardize unit");
    return VXS_OK;
}

/* ---- Of a task ------------------------------------------------------------------------------- */

static vxs_products *products_new(const vxs_task *t, vxs_error *err)
{
    vxs_products *p = vxs_products_new(t, err);
    size_t n = t->cohort->n;
    if (!p)
        return NULL;
    p->n = n;
    p->values = vxs_alloc(n, vxs_times(n, sizeof(*p->values)), err);
    if (p->values)
        return p;
    vxs_products_free(p);
    return NULL;
}

static vxs_status read_kernel(const vxs_task *t, const char *path, vxs_products **made,
                              vxs_error *err)
{
    source s = { .path = path };
    vxs_products *p = products_new(t, err);
    vxs_status status = p ? open_source(&s, t->cohort, err) : VXS_FAILED;
    if (!status)
        status = check_found(t, &s, err);
    for (size_t i = 0; i < t->n && !status; i++)
        for (size_t j = 0; j < t->n; j++)
            p->values[t->rows[i] * p->n + t->rows[j]] =
                value_at(&s, s.at[t->rows[i]], s.at[t->rows[j]]);
    if (!status)
        status = check_values(t, p, path, err);
    if (!status)
        status = check_definite(t, p, path, err);
    close_source(&s);
    if (status)
        vxs_products_free(p);
    else
        *made = p;
    return status;
}

vxs_status vxs_share_kernel(const vxs_context *context, vxs_task *t, const vxs_method_settings *s,
                            vxs_error *err)
{
    (void)context;
    if (!vxs_kernel_is_given(s) && s->svm.file)
        return vxs_fail(err, VXS_MISUSE, "'--kernel-file' goes with '--kernel precomputed'");
    if (s->svm.gammas && !vxs_gamma_axis.applies(s))
        return vxs_fail(err, VXS_MISUSE, "'--gamma' goes with '--kernel rbf' or '--kernel poly'");
    if (!vxs_kernel_is_given(s) || t->products->given)
        return VXS_OK;
    vxs_status status = check_task(t, s, err);
    return status ? status : read_kernel(t, s->svm.file, &t->products->given, err);
}

/* ---- In a model ------------------------------------------------------------------------------ */

static vxs_status write_kernel(const vxs_task *t, FILE *stream, vxs_error *err)
{
    const vxs_products *p = t->products->given;
    const size_t shape[2] = { t->n, t->n };
    vxs_status status = vxs_npy_write_header(stream, 'f', sizeof(double), 2, shape, err);
    for (size_t i = 0; i < t->n && !status; i++)
        for (size_t j = 0; j < t->n; j++) /* write errors are detected when the stream is closed */
            (void)!fwrite(&p->values[t->rows[i] * p->n + t->rows[j]], sizeof(double), 1, stream);
    return status;
}

static vxs_status restore_kernel(vxs_task *t, const vxs_method_settings *settings, const char *path,
                                 vxs_error *err)
{
    source s = { .path = path };
    vxs_products *p = products_new(t, err);
    vxs_status status = p ? open_matrix(&s, err) : VXS_FAILED;
    (void)settings;
    if (!status && s.n != t->n)
        status =
            vxs_fail(err, VXS_BAD_DATA, "'%s' does not go with its model: it has other rows", path);
    for (size_t i = 0; i < t->n && !status; i++)
        for (size_t j = 0; j < t->n; j++)
            p->values[t->rows[i] * p->n + t->rows[j]] = value_at(&s, i, j);
    if (!status)
        status = check_values(t, p, path, err);
    close_source(&s);
    if (status)
        vxs_products_free(p);
    else
        t->products->given = p;
    return status;
}

const vxs_user_table vxs_kernel_table = { "kernel.npy", vxs_kernel_is_given, write_kernel,
                                          restore_kernel };

/* ---- New subjects ---------------------------------------------------------------------------- */

/* Places of the training subjects in the matrix. */
static vxs_status find_trained(const source *s, const vxs_json *ids, size_t *at, vxs_error *err)
{
    size_t k = 0;
    for (const vxs_json *id = ids ? ids->first : NULL; id; id = id->next) {
        size_t r = 0;
        while (r < s->n && strcmp(id_at(s, r), id->text ? id->text : "") != 0)
            r++;
        if (r == s->n)
            return vxs_fail(err, VXS_BAD_DATA,
                            "'%s' has no column with the id of the training subject '%s'", s->path,
                            id->text ? id->text : "");
        at[k++] = r;
    }
    return VXS_OK;
}

/* Each output has a copy, since it is released with it; NAN where the file has no such subject. */
static vxs_status take_rows(const source *s, const vxs_cohort *c, const size_t *trained,
                            size_t count, vxs_machine *machine, vxs_error *err)
{
    size_t n = machine->n;
    if (n > 0 && !(machine->subject[n - 1] < count))
        return vxs_fail(err, VXS_BAD_DATA, "the model has weights of more than its %zu subjects",
                        count);
    double *rows = vxs_alloc(c->n, vxs_times(n, sizeof(*rows)), err);
    if (!rows)
        return VXS_FAILED;
    free(machine->kernel_rows);
    machine->kernel_rows = rows;
    for (size_t i = 0; i < c->n; i++) {
        if (s->at[i] == SIZE_MAX)
            return vxs_fail(err, VXS_BAD_DATA, "'%s' has no row with the id '%s'", s->path,
                            vxs_cohort_id(c, i));
        for (size_t l = 0; l < n; l++) {
            size_t at = trained[machine->subject[l]];
            rows[i * n + l] = value_at(s, s->at[i], at);
            if (!isfinite(rows[i * n + l]))
                return vxs_fail(err, VXS_BAD_DATA, "'%s' is not finite for '%s' and '%s'", s->path,
                                vxs_cohort_id(c, i), id_at(s, at));
        }
    }
    return VXS_OK;
}

vxs_status vxs_model_give_kernel(const vxs_model *m, const vxs_cohort *c, const char *path,
                                 vxs_error *err)
{
    vxs_method_settings settings = { .path.lambda = NAN };
    vxs_status status = vxs_model_method(m, &settings, err);
    bool given = !status && vxs_reads_no_feature(&m->task, &settings);
    if (status || (!given && !path))
        return status;
    if (!given)
        return vxs_fail(err, VXS_MISUSE, "'--kernel-file' is for models of '--kernel precomputed'");
    if (!path)
        return vxs_fail(
            err, VXS_MISUSE,
            "the model has a precomputed kernel; '--kernel-file FILE' has the values of "
            "new subjects with the training subjects");
    source s = { .path = path };
    const vxs_json *ids = vxs_json_get(vxs_json_get(m->about, "training"), "ids");
    size_t n = ids ? ids->length : 0, *trained = vxs_alloc(n + 1, sizeof(*trained), err);
    status = trained ? open_source(&s, c, err) : VXS_FAILED;
    if (!status)
        status = find_trained(&s, ids, trained, err);
    for (size_t k = 0; k < m->output_count && !status; k++)
        status = take_rows(&s, c, trained, n, m->outputs[k].encoded, err);
    close_source(&s);
    free(trained);
    return status;
}
