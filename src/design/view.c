/* view.c - a design through some of its rows, centred, scaled and without confounds.
 *
 * A column is P (x - m) f, P = 1 - UQ' taking out what the confounds explain: U spans them over all
 * rows, and Q = WU, where W has the weights of the rows that the regression is learned on and is 0
 * for others, U'WU = 1; Q is U itself when all are learned on and weigh the same. So X'v is
 * f (x'P'v - m 1'P'v): the vector is changed before the scan and the sums after it, and no column
 * is copied. Weights of rows are in m, f and W, so that a row of weight 2 is two rows; norms are
 * those of the columns, in which each row is one. */
#include "design/design.h"
#include "linalg/gram_schmidt.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MARGIN 10 /* so many float32 ulps are still rounding */

typedef struct {
    vxs_design design;
    bool shared;
    vxs_standardize standardize;
    size_t *rows;      /* NULL: all */
    double *visible;   /* 1 for the rows that are seen, 0 for others, or NULL */
    double *counts;    /* of the base's rows: their weights, 0 for those not seen, or NULL */
    double total;      /* of these, or how many rows there are */
    double *penalties; /* or NULL */
    double *q, *u;     /* n x k; u is q when all rows are learned on and weigh the same */
    size_t k;
    double *shift, *factor; /* known once measured */
    double *seen;           /* likewise: the factor, or 0 of columns that confounds explain */
    double *stored;         /* likewise: norms before means and confounds were taken out */
    double *inner;          /* a vector of n, for Pv */
    double *outer;          /* a vector of the base's rows, for it among them */
} view;

/* (1 - to from') v into inner; returns its sum. */
static double take_out(const view *w, const double *from, const double *to, const double *v)
{
    size_t n = w->design.n;
    double sum = 0;
    memcpy(w->inner, v, n * sizeof(*v));
    for (size_t c = 0; c < w->k; c++) {
        double along = 0;
        for (size_t i = 0; i < n; i++)
            along += from[c * n + i] * w->inner[i];
        for (size_t i = 0; i < n; i++)
            w->inner[i] -= along * to[c * n + i];
    }
    for (size_t i = 0; i < n; i++)
        sum += w->inner[i];
    return sum;
}

/* P'v into inner; returns its sum. */
static double project(const view *w, const double *v)
{
    return take_out(w, w->u, w->q, v);
}

/* The vector that the base is scanned with. */
static const double *spread(const view *w, const double *inner, double *outer)
{
    if (!w->rows)
        return inner;
    for (size_t i = 0; i < w->design.n; i++)
        outer[w->rows[i]] = inner[i];
    return outer; /* the other rows are 0 and stay so */
}

static void scan_one(view *w, const double *v, double *s)
{
    double sum = project(w, v);
    vxs_design_scan(w->design.base, spread(w, w->inner, w->outer), 1, s);
    for (size_t j = 0; j < w->design.p; j++)
        s[j] = w->seen[j] * (s[j] - w->shift[j] * sum);
}

static void scan_together(view *w, const double *v, size_t k, double *wide, double *sums, double *s)
{
    size_t n = w->design.n, m = w->design.base->n, p = w->design.p;
    for (size_t c = 0; c < k; c++) {
        sums[c] = project(w, v + c * n);
        memcpy(wide + c * m, spread(w, w->inner, w->outer), m * sizeof(*wide));
    }
    vxs_design_scan(w->design.base, wide, k, s);
    for (size_t c = 0; c < k; c++)
        for (size_t j = 0; j < p; j++)
            s[c * p + j] = w->seen[j] * (s[c * p + j] - w->shift[j] * sums[c]);
}

/* Whether means and factors are known; whoever touches a column first has the view measured. */
static bool is_known(vxs_design *design)
{
    return ((const view *)design)->seen || !vxs_design_measure(design, NULL);
}

/* Columns of a view that cannot be measured: solvers refuse it by measuring, with the reason. */
static void fill_unknown(double *values, size_t count)
{
    for (size_t k = 0; k < count; k++)
        values[k] = NAN;
}

/* Together they are read once; without memory for that, one after the other. */
static void scan(vxs_design *design, const double *v, size_t k, double *s)
{
    view *w = (view *)design;
    if (!is_known(design)) {
        fill_unknown(s, k * design->p);
        return;
    }
    double *wide = k > 1 ? vxs_alloc(k, vxs_times(design->base->n, sizeof(*wide)), NULL) : NULL;
    double *sums = k > 1 ? vxs_alloc(k, sizeof(*sums), NULL) : NULL;
    if (wide && sums) {
        scan_together(w, v, k, wide, sums, s);
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
    if (!is_known(design)) {
        fill_unknown(s, count);
        return;
    }
    double sum = project(w, v);
    vxs_design_scan_some(design->base, set, count, spread(w, w->inner, w->outer), s);
    for (size_t c = 0; c < count; c++)
        s[c] = w->seen[set[c]] * (s[c] - w->shift[set[c]] * sum);
}

static void fetch(vxs_design *design, const size_t *set, size_t count, double *block)
{
    view *w = (view *)design;
    size_t n = design->n;
    if (!is_known(design)) {
        fill_unknown(block, count * n);
        return;
    }
    for (size_t c = 0; c < count; c++) {
        double *column = block + c * n, shift = w->shift[set[c]], factor = w->seen[set[c]];
        double *whole = w->rows ? w->outer : column;
        vxs_design_fetch(design->base, set + c, 1, whole);
        for (size_t i = 0; i < n; i++)
            column[i] = factor * (whole[w->rows ? w->rows[i] : i] - shift);
        if (w->k > 0) {
            (void)take_out(w, w->q, w->u, column);
            memcpy(column, w->inner, n * sizeof(*column));
        }
    }
    if (w->rows)
        memset(w->outer, 0, design->base->n * sizeof(*w->outer));
}

/* The mean of column j, and the sum of squares about it. */
static double about_mean(const vxs_moments *m, size_t j, double count, double *mean)
{
    double from_origin = m->sum[j] / count;
    double about = m->square[j] - count * from_origin * from_origin;
    *mean = m->origin[j] + from_origin;
    return about > 0 && m->square[j] > 0 ? about : 0;
}

/* Means and factors by what rows count (m itself where each counts once), and the norms as they are
 * without confounds. */
static void take_moments(view *w, const vxs_moments *m, const vxs_moments *counted)
{
    double n = (double)w->design.n;
    for (size_t j = 0; j < w->design.p; j++) {
        double mean, shift, square = about_mean(m, j, n, &mean);
        double varies = about_mean(counted, j, w->total, &shift);
        w->shift[j] = w->standardize == VXS_STANDARDIZE_NONE ? 0 : shift;
        w->factor[j] = 1;
        if (w->standardize == VXS_STANDARDIZE_UNIT)
            w->factor[j] = varies > 0 ? sqrt(w->total / varies) : 0;
        if (w->penalties)
            w->factor[j] /= w->penalties[j];
        w->seen[j] = w->factor[j];
        double off = mean - w->shift[j];
        w->design.norms[j] = w->factor[j] * sqrt(square + n * off * off);
        w->stored[j] = w->factor[j] * sqrt(square + n * mean * mean);
    }
}

/* Moments by what rows count: another reading, where they do not count the same. */
static vxs_status take_counted(view *w, const vxs_moments *m, vxs_error *err)
{
    size_t p = w->design.p;
    if (!w->counts) {
        take_moments(w, m, m);
        return VXS_OK;
    }
    double *room = vxs_alloc(vxs_times(3, p), sizeof(*room), err);
    if (!room)
        return VXS_FAILED;
    vxs_moments counted = { .origin = room, .sum = room + p, .square = room + 2 * p };
    w->design.base->kind->moments(w->design.base, w->counts, NULL, &counted);
    take_moments(w, m, &counted);
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

/* |Px|^2 - |x|^2 = |U Q'x|^2 - 2 x'U Q'x of all columns; with U = Q that is -|Q'x|^2. */
static void change_of_squares(const view *w, size_t k, const double *on_q, const double *on_u,
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

/* A column of which no more is left than rounding to float32 may make of stored values is 0: the
 * confounds explain it. */
static vxs_status take_confounds_off_norms(view *w, vxs_error *err)
{
    size_t p = w->design.p, k = w->k;
    bool same = w->u == w->q;
    double *change = vxs_alloc(p, sizeof(*change), err);
    double *on_q = vxs_alloc(vxs_times(k, p), sizeof(*on_q), err);
    double *on_u = same ? on_q : vxs_alloc(vxs_times(k, p), sizeof(*on_u), err);
    bool fine = change && on_q && on_u;
    if (fine) {
        w->k = 0; /* the vectors are scanned as they are */
        scan(&w->design, w->q, k, on_q);
        if (!same)
            scan(&w->design, w->u, k, on_u);
        w->k = k;
        change_of_squares(w, k, on_q, on_u, change);
    }
    for (size_t j = 0; j < p && fine; j++) {
        double whole = w->design.norms[j] * w->design.norms[j];
        double left = whole + change[j], rounding = MARGIN * (double)FLT_EPSILON * w->stored[j];
        bool explained = !(left > rounding * rounding);
        w->design.norms[j] = explained ? 0 : sqrt(left);
        if (explained)
            w->seen[j] = w->stored[j] = 0;
    }
    if (!same)
        free(on_u);
    free(on_q);
    free(change);
    return fine ? VXS_OK : VXS_FAILED;
}

/* It is not measured. */
static void forget(view *w)
{
    free(w->shift);
    free(w->factor);
    free(w->seen);
    free(w->stored);
    free(w->design.norms);
    w->shift = w->factor = w->seen = w->stored = w->design.norms = NULL;
}

static vxs_status measure(vxs_design *design, const double *v, double *s, vxs_error *err)
{
    view *w = (view *)design;
    size_t p = design->p;
    double *room = vxs_alloc(vxs_times(3, p), sizeof(*room), err), sum = 0;
    w->shift = room ? vxs_alloc(p, sizeof(*w->shift), err) : NULL;
    w->factor = w->shift ? vxs_alloc(p, sizeof(*w->factor), err) : NULL;
    w->seen = w->factor ? vxs_alloc(p, sizeof(*w->seen), err) : NULL;
    w->stored = w->seen ? vxs_alloc(p, sizeof(*w->stored), err) : NULL;
    design->norms = w->stored ? vxs_alloc(p, sizeof(*design->norms), err) : NULL;
    if (!design->norms) {
        free(room);
        forget(w);
        return VXS_FAILED;
    }
    vxs_moments m = { .origin = room, .s = s, .sum = room + p, .square = room + 2 * p };
    if (v)
        sum = project(w, v);
    design->base->kind->moments(design->base, w->visible, v ? spread(w, w->inner, w->outer) : NULL,
                                &m);
    vxs_status status = vxs_moments_check(design, &m, err);
    if (status) {
        free(room);
        forget(w);
        return status;
    }
    status = take_counted(w, &m, err);
    if (!status && w->k > 0)
        status = take_confounds_off_norms(w, err);
    for (size_t j = 0; v && j < p && !status; j++)
        s[j] = w->seen[j] * (s[j] + (m.origin[j] - w->shift[j]) * sum);
    free(room);
    if (status)
        forget(w);
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
    free(w->counts);
    free(design->weights);
    free(w->penalties);
    if (w->u != w->q)
        free(w->u);
    free(w->q);
    free(w->shift);
    free(w->factor);
    free(w->seen);
    free(w->stored);
    free(w->inner);
    free(w->outer);
}

static const vxs_design_kind kind = {
    .scan = scan,
    .scan_some = scan_some,
    .fetch = fetch,
    .measure = measure,
    .stored = stored,
    .release = release,
};

/* q is u over the rows that are learned on, by their weights. */
static void weigh_rows(const view *w, const bool *learn, const double *u, double *q)
{
    const double *weights = w->design.weights;
    for (size_t i = 0; i < w->design.n; i++)
        q[i] = learn && !learn[i] ? 0 : weights ? weights[i] * u[i] : u[i];
}

/* Gram-Schmidt over the rows that are learned on, twice, so that nothing is left of what was taken
 * off; columns that depend on others are left out. u has the same steps over all rows. */
static void orthonormalise(view *w, const double *columns, size_t count, const bool *learn)
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

/* A scan spreads a vector over the base's rows, where a row that is there twice would have one of
 * its two values. */
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
    w->counts = vxs_alloc(w->design.base->n, sizeof(*w->counts), err);
    if (!w->design.weights || !w->counts)
        return VXS_FAILED;
    w->total = 0;
    for (size_t i = 0; i < n; i++) {
        w->design.weights[i] = settings->weights[i];
        w->counts[settings->rows ? settings->rows[i] : i] += settings->weights[i];
        w->total += settings->weights[i];
    }
    return VXS_OK;
}

static vxs_status copy_settings(view *w, const vxs_view *settings, vxs_error *err)
{
    size_t n = w->design.n, m = w->design.base->n, p = w->design.p;
    w->inner = vxs_alloc(n, sizeof(*w->inner), err);
    w->outer = vxs_alloc(m, sizeof(*w->outer), err);
    w->q = vxs_alloc(settings->confound_count + 1, vxs_times(n, sizeof(*w->q)), err);
    w->u = w->q;
    if (settings->learn || settings->weights)
        w->u = vxs_alloc(settings->confound_count + 1, vxs_times(n, sizeof(*w->u)), err);
    if (settings->rows) {
        w->rows = vxs_alloc(n, sizeof(*w->rows), err);
        w->visible = vxs_alloc(m, sizeof(*w->visible), err);
    }
    if (settings->penalties)
        w->penalties = vxs_alloc(p, sizeof(*w->penalties), err);
    if (!w->inner || !w->outer || !w->q || !w->u || (settings->rows && (!w->rows || !w->visible)) ||
        (settings->penalties && !w->penalties))
        return VXS_FAILED;
    vxs_status status = settings->rows ? copy_rows(w, settings->rows, err) : VXS_OK;
    if (!status)
        status = copy_weights(w, settings, err);
    if (status)
        return status;
    if (settings->penalties)
        memcpy(w->penalties, settings->penalties, p * sizeof(*w->penalties));
    orthonormalise(w, settings->confounds, settings->confound_count, settings->learn);
    return VXS_OK;
}

/* A value that makes no view, before anything is computed from it. */
static vxs_status check_settings(const vxs_design *base, const vxs_view *s, vxs_error *err)
{
    if (!base || !s)
        return vxs_fail(err, VXS_MISUSE, "a view has no %s", base ? "settings" : "base");
    if (!base->kind->moments)
        return vxs_fail(err, VXS_MISUSE,
                        "a view is of stored columns, not of another view or of columns that are "
                        "computed");
    if (s->confound_count > 0 && !s->confounds)
        return vxs_fail(err, VXS_MISUSE, "a view has %zu confounds without values",
                        s->confound_count);
    size_t n = s->rows ? s->row_count : base->n;
    if ((unsigned)s->standardize > VXS_STANDARDIZE_UNIT)
        return vxs_fail(err, VXS_MISUSE, "there is no standardisation number %d",
                        (int)s->standardize);
    return n > 0 ? VXS_OK : vxs_fail(err, VXS_MISUSE, "a view needs a row");
}

static vxs_status check_values(const vxs_design *base, const vxs_view *s, vxs_error *err)
{
    size_t n = s->rows ? s->row_count : base->n;
    for (size_t j = 0; s->penalties && j < base->p; j++)
        if (!(s->penalties[j] > 0)) /* an infinite one leaves a column out */
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
    vxs_status status = check_settings(base, settings, err);
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
                                 .base = base };
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
    return design->kind == &kind ? ((const view *)design)->shift : NULL;
}

const double *vxs_view_factor(const vxs_design *design)
{
    return design->kind == &kind ? ((const view *)design)->factor : NULL;
}
