/* view.c - a design restricted to some of its rows, centered, scaled and residualized on confounds.
 *
 * A column is P (x - m) f, where P = 1 - UQ' regresses out the confounds: U spans them over all
 * rows, and Q = WU, where W holds the weights of the rows that the regression is estimated on and 0
 * for others, U'WU = 1; Q = U if all rows have equal weight. So X'v is f (x'P'v - m 1'P'v): the
 * vector is transformed before the scan and the result after it, and no column is copied. m, f and
 * W include weights of rows, so that weight 2 equals two rows; norms are those of the columns
 * themselves, in which each row counts once. */
#include "design/design.h"
#include "linalg/gram_schmidt.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING_ULPS 10 /* float32 ulps that count as rounding error */

typedef struct {
    vxs_design design;
    bool shared;
    vxs_standardize standardize;
    size_t *rows;         /* NULL: all */
    double *visible;      /* 1 for visible rows of the base, 0 for others, or NULL */
    double *base_weights; /* weights of the base's rows, 0 for invisible ones, or NULL */
    double total;         /* their sum, or the number of rows */
    double *penalties;    /* or NULL */
    double *q, *u;        /* n x k; u is q if all rows are used with equal weight */
    size_t k;
    double *shift, *factor; /* valid once measured */
    /* valid once measured: the factor, or 0 for columns that confounds explain */
    double *scan_factor;
    double *stored;         /* valid once measured: norms before centering and residualizing */
    double *workspace;      /* n: workspace for Pv */
    double *base_workspace; /* rows of the base: the same, scattered to its rows */
} view;

/* inner = (1 - to from') v; returns its sum. */
static double project_out(const view *w, const double *from, const double *to, const double *v)
{
    size_t n = w->design.n;
    double sum = 0;
    memcpy(w->workspace, v, n * sizeof(*v));
    for (size_t c = 0; c < w->k; c++) {
        double along = 0;
        for (size_t i = 0; i < n; i++)
            along += from[c * n + i] * w->workspace[i];
        for (size_t i = 0; i < n; i++)
            w->workspace[i] -= along * to[c * n + i];
    }
    for (size_t i = 0; i < n; i++)
        sum += w->workspace[i];
    return sum;
}

/* inner = P'v; returns its sum. */
static double project(const view *w, const double *v)
{
    return project_out(w, w->u, w->q, v);
}

/* The vector for the scan of the base. */
static const double *scatter(const view *w, const double *workspace, double *base_workspace)
{
    if (!w->rows)
        return workspace;
    for (size_t i = 0; i < w->design.n; i++)
        base_workspace[w->rows[i]] = workspace[i];
    return base_workspace; /* the other rows stay 0 */
}

static void scan_one(view *w, const double *v, double *s)
{
    double sum = project(w, v);
    vxs_design_scan(w->design.base, scatter(w, w->workspace, w->base_workspace), 1, s);
    for (size_t j = 0; j < w->design.p; j++)
        s[j] = w->scan_factor[j] * (s[j] - w->shift[j] * sum);
}

static void scan_all(view *w, const double *v, size_t k, double *wide, double *sums, double *s)
{
    size_t n = w->design.n, m = w->design.base->n, p = w->design.p;
    for (size_t c = 0; c < k; c++) {
        sums[c] = project(w, v + c * n);
        memcpy(wide + c * m, scatter(w, w->workspace, w->base_workspace), m * sizeof(*wide));
    }
    vxs_design_scan(w->design.base, wide, k, s);
    for (size_t c = 0; c < k; c++)
        for (size_t j = 0; j < p; j++)
            s[c * p + j] = w->scan_factor[j] * (s[c * p + j] - w->shift[j] * sums[c]);
}

/* Tests whether means and factors are known; the first access to a column measures the view. */
static bool ensure_measured(vxs_design *design)
{
    return ((const view *)design)->scan_factor || !vxs_design_measure(design, NULL);
}

/* Result when the view cannot be measured: solvers report the reason when they measure it. */
static void fill_nan(double *values, size_t count)
{
    for (size_t k = 0; k < count; k++)
        values[k] = NAN;
}

/* All vectors in one pass; one after the other if out of memory. */
static void scan(vxs_design *design, const double *v, size_t k, double *s)
{
    view *w = (view *)design;
    if (!ensure_measured(design)) {
        fill_nan(s, k * design->p);
        return;
    }
    double *wide = k > 1 ? vxs_alloc(k, vxs_times(design->base->n, sizeof(*wide)), NULL) : NULL;
    double *sums = k > 1 ? vxs_alloc(k, sizeof(*sums), NULL) : NULL;
    if (wide && sums) {
        scan_all(w, v, k, wide, sums, s);
    } else {
        for (size_t c = 0; c < k; c++)
            scan_one(w, v + c * design->n, s + c * design->p);
    }
    free(wide);
    free(sums);
}

static void scan_some(vxs_design *design, const size_t *set, size_t count, const double *v,
                      double *s)
{
    view *w = (view *)design;
    if (!ensure_measured(design)) {
        fill_nan(s, count);
        return;
    }
    double sum = project(w, v);
    vxs_design_scan_some(design->base, set, count, scatter(w, w->workspace, w->base_workspace), s);
    for (size_t c = 0; c < count; c++)
        s[c] = w->scan_factor[set[c]] * (s[c] - w->shift[set[c]] * sum);
}

static void fetch(vxs_design *design, const size_t *set, size_t count, double *block)
{
    view *w = (view *)design;
    size_t n = design->n;
    if (!ensure_measured(design)) {
        fill_nan(block, count * n);
        return;
    }
    for (size_t c = 0; c < count; c++) {
        double *column = block + c * n, shift = w->shift[set[c]], factor = w->scan_factor[set[c]];
        double *whole = w->rows ? w->base_workspace : column;
        vxs_design_fetch(design->base, set + c, 1, whole);
        for (size_t i = 0; i < n; i++)
            column[i] = factor * (whole[w->rows ? w->rows[i] : i] - shift);
        if (w->k > 0) {
            (void)project_out(w, w->q, w->u, column);
            memcpy(column, w->workspace, n * sizeof(*column));
        }
    }
    if (w->rows)
        memset(w->base_workspace, 0, design->base->n * sizeof(*w->base_workspace));
}

/* The mean of column j, and the sum of squares about it. */
static double sum_of_squares(const vxs_moments *m, size_t j, double count, double *mean)
{
    double from_origin = m->sum[j] / count;
    double about = m->square[j] - count * from_origin * from_origin;
    *mean = m->origin[j] + from_origin;
    return about > 0 && m->square[j] > 0 ? about : 0;
}

/* Means and factors by weighted moments (m itself if unweighted), and norms before
 * residualizing. */
static void set_moments(view *w, const vxs_moments *m, const vxs_moments *counted)
{
    double n = (double)w->design.n;
    for (size_t j = 0; j < w->design.p; j++) {
        double mean, shift, square = sum_of_squares(m, j, n, &mean);
        double varies = square;
        shift = mean;
        if (counted != m)
            varies = sum_of_squares(counted, j, w->total, &shift);
        bool explained = varies <= 0 && w->design.with_intercept;
        w->shift[j] = w->standardize == VXS_STANDARDIZE_NONE && !explained ? 0 : shift;
        w->factor[j] = 1;
        if (w->standardize == VXS_STANDARDIZE_UNIT)
            w->factor[j] = varies > 0 ? sqrt(w->total / varies) : 0;
        if (w->penalties)
            w->factor[j] /= w->penalties[j];
        w->scan_factor[j] = w->factor[j];
        double off = mean - w->shift[j];
        w->design.norms[j] = w->factor[j] * sqrt(square + n * off * off);
        w->stored[j] = w->factor[j] * sqrt(square + n * mean * mean);
    }
}

/* Weighted moments: a second pass, if weights differ. */
static vxs_status set_weighted_moments(view *w, const vxs_moments *m, vxs_error *err)
{
    size_t p = w->design.p;
    if (!w->base_weights) {
        set_moments(w, m, m);
        return VXS_OK;
    }
    double *room = vxs_alloc(vxs_times(3, p), sizeof(*room), err);
    if (!room)
        return VXS_FAILED;
    vxs_moments counted = { .origin = room, .sum = room + p, .square = room + 2 * p };
    w->design.base->kind->moments(w->design.base, w->base_weights, NULL, &counted);
    set_moments(w, m, &counted);
    free(room);
    return VXS_OK;
}

static double inner_product(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* |Px|^2 - |x|^2 = |U Q'x|^2 - 2 x'U Q'x of all columns; for U = Q that is -|Q'x|^2. */
static void squares_change(const view *w, size_t k, const double *on_q, const double *on_u,
                           double *change)
{
    size_t p = w->design.p, n = w->design.n;
    for (size_t a = 0; a < k; a++) {
        for (size_t b = 0; b < k; b++) {
            double gram = inner_product(w->u + a * n, w->u + b * n, n);
            for (size_t j = 0; j < p; j++)
                change[j] += gram * on_q[a * p + j] * on_q[b * p + j];
        }
        for (size_t j = 0; j < p; j++)
            change[j] -= 2 * on_u[a * p + j] * on_q[a * p + j];
    }
}

/* Columns whose residual is within the float32 rounding error of the stored values become 0: the
 * confounds explain them. */
static vxs_status residualize_norms(view *w, vxs_error *err)
{
    size_t p = w->design.p, k = w->k;
    bool same = w->u == w->q;
    double *change = vxs_alloc(p, sizeof(*change), err);
    double *on_q = vxs_alloc(vxs_times(k, p), sizeof(*on_q), err);
    double *on_u = same ? on_q : vxs_alloc(vxs_times(k, p), sizeof(*on_u), err);
    bool fine = change && on_q && on_u;
    if (fine) {
        w->k = 0; /* scans without residualizing */
        scan(&w->design, w->q, k, on_q);
        if (!same)
            scan(&w->design, w->u, k, on_u);
        w->k = k;
        squares_change(w, k, on_q, on_u, change);
    }
    for (size_t j = 0; j < p && fine; j++) {
        double whole = w->design.norms[j] * w->design.norms[j];
        double left = whole + change[j],
               rounding = ROUNDING_ULPS * (double)FLT_EPSILON * w->stored[j];
        bool explained = !(left > rounding * rounding);
        w->design.norms[j] = explained ? 0 : sqrt(left);
        if (explained)
            w->scan_factor[j] = w->stored[j] = 0;
    }
    if (!same)
        free(on_u);
    free(on_q);
    free(change);
    return fine ? VXS_OK : VXS_FAILED;
}

/* Resets to unmeasured. */
static void reset(view *w)
{
    free(w->shift);
    free(w->factor);
    free(w->scan_factor);
    free(w->stored);
    free(w->design.norms);
    w->shift = w->factor = w->scan_factor = w->stored = w->design.norms = NULL;
}

static vxs_status measure(vxs_design *design, const double *v, double *s, vxs_error *err)
{
    view *w = (view *)design;
    size_t p = design->p;
    double *room = vxs_alloc(vxs_times(3, p), sizeof(*room), err), sum = 0;
    w->shift = room ? vxs_alloc(p, sizeof(*w->shift), err) : NULL;
    w->factor = w->shift ? vxs_alloc(p, sizeof(*w->factor), err) : NULL;
    w->scan_factor = w->factor ? vxs_alloc(p, sizeof(*w->scan_factor), err) : NULL;
    w->stored = w->scan_factor ? vxs_alloc(p, sizeof(*w->stored), err) : NULL;
    design->norms = w->stored ? vxs_alloc(p, sizeof(*design->norms), err) : NULL;
    if (!design->norms) {
        free(room);
        reset(w);
        return VXS_FAILED;
    }
    vxs_moments m = { .origin = room, .s = s, .sum = room + p, .square = room + 2 * p };
    if (v)
        sum = project(w, v);
    design->base->kind->moments(design->base, w->visible,
                                v ? scatter(w, w->workspace, w->base_workspace) : NULL, &m);
    vxs_status status = vxs_moments_check(design, &m, err);
    if (status) {
        free(room);
        reset(w);
        return status;
    }
    status = set_weighted_moments(w, &m, err);
    if (!status && w->k > 0)
        status = residualize_norms(w, err);
    for (size_t j = 0; v && j < p && !status; j++)
        s[j] = w->scan_factor[j] * (s[j] + (m.origin[j] - w->shift[j]) * sum);
    free(room);
    if (status)
        reset(w);
    return status;
}

static const double *stored(const vxs_design *design)
{
    return ((const view *)design)->stored;
}

static void release(vxs_design *design)
{
    view *w = (view *)design;
    if (!w->shared)
        vxs_design_free(design->base);
    free(w->rows);
    free(w->visible);
    free(w->base_weights);
    free(design->weights);
    free(w->penalties);
    if (w->u != w->q)
        free(w->u);
    free(w->q);
    free(w->shift);
    free(w->factor);
    free(w->scan_factor);
    free(w->stored);
    free(w->workspace);
    free(w->base_workspace);
}

static const vxs_design_kind kind = {
    .scan = scan,
    .scan_some = scan_some,
    .fetch = fetch,
    .measure = measure,
    .stored = stored,
    .release = release,
};

/* q is u on the rows that the regression is estimated on, times their weights. */
static void weigh_rows(const view *w, const bool *learn, const double *u, double *q)
{
    const double *weights = w->design.weights;
    for (size_t i = 0; i < w->design.n; i++)
        q[i] = learn && !learn[i] ? 0 : weights ? weights[i] * u[i] : u[i];
}

/* Gram-Schmidt orthogonalization over the rows of the regression, run twice; drops linearly
 * dependent columns. u undergoes the same steps over all rows. */
static void orthonormalize(view *w, const double *columns, size_t count, const bool *learn)
{
    size_t n = w->design.n;
    for (size_t c = 0; c < count; c++) {
        double *q = w->q + w->k * n, *u = w->u + w->k * n;
        memcpy(u, columns + c * n, n * sizeof(*u));
        weigh_rows(w, learn, u, q);
        double before = inner_product(q, u, n);
        for (size_t r = 0; r < 2 * w->k; r++) {
            double along = inner_product(w->q + r % w->k * n, u, n);
            for (size_t i = 0; i < n; i++)
                u[i] -= along * w->u[r % w->k * n + i];
            weigh_rows(w, learn, u, q);
        }
        double after = inner_product(q, u, n);
        if (!(after > VXS_INDEPENDENT_COVARIATE * VXS_INDEPENDENT_COVARIATE * before))
            continue;
        for (size_t i = 0; i < n; i++)
            u[i] /= sqrt(after);
        weigh_rows(w, learn, u, q);
        w->k++;
    }
}

/* Fails for duplicate rows: a scan scatters a vector to the base's rows. */
static vxs_status copy_rows(view *w, const size_t *rows, vxs_error *err)
{
    size_t m = w->design.base->n;
    for (size_t i = 0; i < w->design.n; i++) {
        if (rows[i] >= m)
            return vxs_fail(err, VXS_MISUSE, "a view has row %zu, its design %zu rows", rows[i], m);
        if (w->visible[rows[i]] != 0)
            return vxs_fail(err, VXS_MISUSE,
                            "a view has row %zu twice; a weight of 2 counts it twice", rows[i]);
        w->rows[i] = rows[i];
        w->visible[rows[i]] = 1;
    }
    return VXS_OK;
}

static vxs_status copy_weights(view *w, const vxs_view *settings, vxs_error *err)
{
    size_t n = w->design.n;
    w->total = (double)n;
    if (!settings->weights)
        return VXS_OK;
    w->design.weights = vxs_alloc(n, sizeof(*w->design.weights), err);
    w->base_weights = vxs_alloc(w->design.base->n, sizeof(*w->base_weights), err);
    if (!w->design.weights || !w->base_weights)
        return VXS_FAILED;
    w->total = 0;
    for (size_t i = 0; i < n; i++) {
        w->design.weights[i] = settings->weights[i];
        w->base_weights[settings->rows ? settings->rows[i] : i] += settings->weights[i];
        w->total += settings->weights[i];
    }
    return VXS_OK;
}

static vxs_status copy_settings(view *w, const vxs_view *settings, vxs_error *err)
{
    size_t n = w->design.n, m = w->design.base->n, p = w->design.p;
    w->workspace = vxs_alloc(n, sizeof(*w->workspace), err);
    w->base_workspace = vxs_alloc(m, sizeof(*w->base_workspace), err);
    w->q = vxs_alloc(settings->confound_count + 1, vxs_times(n, sizeof(*w->q)), err);
    w->u = w->q;
    if (settings->regression_subject || settings->weights)
        w->u = vxs_alloc(settings->confound_count + 1, vxs_times(n, sizeof(*w->u)), err);
    if (settings->rows) {
        w->rows = vxs_alloc(n, sizeof(*w->rows), err);
        w->visible = vxs_alloc(m, sizeof(*w->visible), err);
    }
    if (settings->penalties)
        w->penalties = vxs_alloc(p, sizeof(*w->penalties), err);
    if (!w->workspace || !w->base_workspace || !w->q || !w->u ||
        (settings->rows && (!w->rows || !w->visible)) || (settings->penalties && !w->penalties))
        return VXS_FAILED;
    vxs_status status = settings->rows ? copy_rows(w, settings->rows, err) : VXS_OK;
    if (!status)
        status = copy_weights(w, settings, err);
    if (status)
        return status;
    if (settings->penalties)
        memcpy(w->penalties, settings->penalties, p * sizeof(*w->penalties));
    orthonormalize(w, settings->confounds, settings->confound_count, settings->regression_subject);
    return VXS_OK;
}

/* Checks pointers and shapes before anything is computed. */
static vxs_status check_settings(const vxs_design *base, const vxs_view *s, vxs_error *err)
{
    if (!base->kind->moments)
        return vxs_fail(err, VXS_MISUSE,
                        "a view requires stored columns, not another view or columns that are "
                        "computed");
    if (s->confound_count > 0 && !s->confounds)
        return vxs_fail(err, VXS_MISUSE, "a view has %zu confounds without values",
                        s->confound_count);
    size_t n = s->rows ? s->row_count : base->n;
    if (n == 0)
        return vxs_fail(err, VXS_MISUSE, "a view needs a row");
    return vxs_choice_check("standardization", (int)s->standardize, VXS_STANDARDIZE_UNIT + 1, err);
}

static vxs_status check_values(const vxs_design *base, const vxs_view *s, vxs_error *err)
{
    size_t n = s->rows ? s->row_count : base->n;
    for (size_t j = 0; s->penalties && j < base->p; j++)
        if (!(s->penalties[j] > 0)) /* an infinite one removes the column */
            return vxs_fail(err, VXS_MISUSE, "the penalty of column %zu is %g; it must be above 0",
                            j, s->penalties[j]);
    double total = 0;
    for (size_t i = 0; s->weights && i < n; i++) {
        if (!(s->weights[i] >= 0) || !isfinite(s->weights[i]))
            return vxs_fail(err, VXS_BAD_DATA,
                            "the weight of row %zu is %g; it must not be below 0", i,
                            s->weights[i]);
        total += s->weights[i];
    }
    if (s->weights && !(total > 0))
        return vxs_fail(err, VXS_BAD_DATA, "all %zu rows have the weight 0", n);
    for (size_t k = 0; k < s->confound_count * n; k++)
        if (!isfinite(s->confounds[k]))
            return vxs_fail(err, VXS_BAD_DATA, "confound %zu is %g in row %zu", k / n,
                            s->confounds[k], k % n);
    return VXS_OK;
}

vxs_status vxs_view_new(vxs_design *base, bool shared, const vxs_view *settings,
                        vxs_design **design, vxs_error *err)
{
    vxs_status status =
        VXS_GIVEN(err, { "base", base }, { "view", settings }, { "design", design });
    if (!status)
        status = check_settings(base, settings, err);
    if (!status)
        status = check_values(base, settings, err);
    view *made = status ? NULL : vxs_alloc(1, sizeof(*made), err);
    if (!made) {
        if (!shared)
            vxs_design_free(base);
        return status ? status : VXS_FAILED;
    }
    made->design = (vxs_design){ .kind = &kind,
                                 .n = settings->rows ? settings->row_count : base->n,
                                 .p = base->p,
                                 .nthreads = base->nthreads,
                                 .base = base,
                                 .with_intercept = settings->with_intercept };
    made->shared = shared;
    made->standardize = settings->standardize;
    status = copy_settings(made, settings, err);
    if (status) {
        vxs_design_free(&made->design);
        return status;
    }
    *design = &made->design;
    return VXS_OK;
}

const double *vxs_view_shift(const vxs_design *design)
{
    return design && design->kind == &kind ? ((const view *)design)->shift : NULL;
}

const double *vxs_view_factor(const vxs_design *design)
{
    return design && design->kind == &kind ? ((const view *)design)->factor : NULL;
}
