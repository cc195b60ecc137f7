/* view.c - a design through some of its rows, centred, scaled and without confounds.
 *
 * A column is P (x - m) f, P the projection away from the confounds. So X'v is f (x'Pv - m 1'Pv):
 * the vector is changed before the scan and the sums after it, and no column is copied. */
#include "design/design.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    vxs_design design;
    bool shared;
    vxs_standardize standardize;
    size_t *rows;      /* NULL: all */
    double *weights;   /* 1 for the rows that are seen, 0 for others, or NULL */
    double *penalties; /* or NULL */
    double *q;         /* n x k, orthonormal: what the confounds span */
    size_t k;
    double *shift, *factor; /* known once measured */
    double *inner;          /* a vector of n, for Pv */
    double *outer;          /* a vector of the base's rows, for it among them */
} view;

/* P v into inner; returns its sum. */
static double project(const view *w, const double *v)
{
    size_t n = w->design.n;
    double sum = 0;
    memcpy(w->inner, v, n * sizeof(*v));
    for (size_t c = 0; c < w->k; c++) {
        const double *q = w->q + c * n;
        double along = 0;
        for (size_t i = 0; i < n; i++)
            along += q[i] * w->inner[i];
        for (size_t i = 0; i < n; i++)
            w->inner[i] -= along * q[i];
    }
    for (size_t i = 0; i < n; i++)
        sum += w->inner[i];
    return sum;
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
        s[j] = w->factor[j] * (s[j] - w->shift[j] * sum);
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
            s[c * p + j] = w->factor[j] * (s[c * p + j] - w->shift[j] * sums[c]);
}

/* Together they are read once; without memory for that, one after the other. */
static void scan(vxs_design *design, const double *v, size_t k, double *s)
{
    view *w = (view *)design;
    double *wide = k > 1 ? vxs_alloc(k, design->base->n * sizeof(*wide), NULL) : NULL;
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
    double sum = project(w, v);
    vxs_design_scan_some(design->base, set, count, spread(w, w->inner, w->outer), s);
    for (size_t c = 0; c < count; c++)
        s[c] = w->factor[set[c]] * (s[c] - w->shift[set[c]] * sum);
}

static void fetch(vxs_design *design, const size_t *set, size_t count, double *block)
{
    view *w = (view *)design;
    size_t n = design->n;
    for (size_t c = 0; c < count; c++) {
        double *column = block + c * n, shift = w->shift[set[c]], factor = w->factor[set[c]];
        double *whole = w->rows ? w->outer : column;
        vxs_design_fetch(design->base, set + c, 1, whole);
        for (size_t i = 0; i < n; i++)
            column[i] = factor * (whole[w->rows ? w->rows[i] : i] - shift);
        if (w->k > 0) {
            project(w, column);
            memcpy(column, w->inner, n * sizeof(*column));
        }
    }
    if (w->rows)
        memset(w->outer, 0, design->base->n * sizeof(*w->outer));
}

/* Means and factors, and the norms as they are without confounds. */
static void take_moments(view *w, const vxs_moments *m)
{
    double n = (double)w->design.n;
    for (size_t j = 0; j < w->design.p; j++) {
        double mean = m->sum[j] / n, about = m->square[j] - n * mean * mean;
        double square = about > 0 && m->square[j] > 0 ? about : 0;
        bool centred = w->standardize != VXS_STANDARDIZE_NONE;
        w->shift[j] = centred ? m->origin[j] + mean : 0;
        w->factor[j] = 1;
        if (!centred)
            square += n * (m->origin[j] + mean) * (m->origin[j] + mean);
        if (w->standardize == VXS_STANDARDIZE_UNIT)
            w->factor[j] = square > 0 ? sqrt(n / square) : 0;
        if (w->penalties)
            w->factor[j] /= w->penalties[j];
        w->design.norms[j] = w->factor[j] * sqrt(square);
    }
}

/* |Px|^2 = |x|^2 - |Q'x|^2, and not less than what rounding leaves of it. */
static vxs_status take_confounds_off_norms(view *w, vxs_error *err)
{
    size_t p = w->design.p, k = w->k;
    double *along = vxs_alloc(p, sizeof(*along), err);
    double *square = vxs_alloc(p, sizeof(*square), err);
    if (along && square) {
        w->k = 0; /* the vectors are scanned as they are */
        for (size_t c = 0; c < k; c++) {
            scan(&w->design, w->q + c * w->design.n, 1, along);
            for (size_t j = 0; j < p; j++)
                square[j] += along[j] * along[j];
        }
        w->k = k;
        for (size_t j = 0; j < p; j++) {
            double whole = w->design.norms[j] * w->design.norms[j];
            double left = whole - square[j], floor = 1e-14 * whole;
            w->design.norms[j] = sqrt(left > floor ? left : floor);
        }
    }
    vxs_status status = along && square ? VXS_OK : VXS_FAILED;
    free(along);
    free(square);
    return status;
}

static vxs_status measure(vxs_design *design, const double *v, double *s, vxs_error *err)
{
    view *w = (view *)design;
    size_t p = design->p;
    double *room = vxs_alloc(3 * p, sizeof(*room), err), sum = 0;
    w->shift = room ? vxs_alloc(p, sizeof(*w->shift), err) : NULL;
    w->factor = w->shift ? vxs_alloc(p, sizeof(*w->factor), err) : NULL;
    design->norms = w->factor ? vxs_alloc(p, sizeof(*design->norms), err) : NULL;
    if (!design->norms) {
        free(room);
        return VXS_FAILED;
    }
    vxs_moments m = { .origin = room, .s = s, .sum = room + p, .square = room + 2 * p };
    if (v)
        sum = project(w, v);
    design->base->kind->moments(design->base, w->weights, v ? spread(w, w->inner, w->outer) : NULL,
                                &m);
    take_moments(w, &m);
    for (size_t j = 0; v && j < p; j++)
        s[j] = w->factor[j] * (s[j] + (m.origin[j] - w->shift[j]) * sum);
    free(room);
    return w->k > 0 ? take_confounds_off_norms(w, err) : VXS_OK;
}

static void release(vxs_design *design)
{
    view *w = (view *)design;
    if (!w->shared)
        vxs_design_free(design->base);
    free(w->rows);
    free(w->weights);
    free(w->penalties);
    free(w->q);
    free(w->shift);
    free(w->factor);
    free(w->inner);
    free(w->outer);
}

static const vxs_design_kind kind = {
    .scan = scan,
    .scan_some = scan_some,
    .fetch = fetch,
    .measure = measure,
    .release = release,
};

/* Gram-Schmidt, twice, so that nothing is left of what was taken off; columns that depend on others
 * are left out. Centred columns are free of the mean, so the confounds may be as well. */
static void orthonormalise(view *w, const double *columns, size_t count)
{
    size_t n = w->design.n;
    for (size_t c = 0; c < count; c++) {
        double before = 0, after = 0, *q = w->q + w->k * n;
        for (size_t i = 0; i < n; i++)
            before += columns[c * n + i] * columns[c * n + i];
        project(w, columns + c * n);
        memcpy(q, w->inner, n * sizeof(*q));
        project(w, q);
        for (size_t i = 0; i < n; i++)
            after += w->inner[i] * w->inner[i];
        if (!(after > 1e-20 * before))
            continue;
        for (size_t i = 0; i < n; i++)
            q[i] = w->inner[i] / sqrt(after);
        w->k++;
    }
}

static vxs_status copy_settings(view *w, const vxs_view *settings, vxs_error *err)
{
    size_t n = w->design.n, m = w->design.base->n, p = w->design.p;
    w->inner = vxs_alloc(n, sizeof(*w->inner), err);
    w->outer = vxs_alloc(m, sizeof(*w->outer), err);
    w->q = vxs_alloc(settings->confound_count + 1, n * sizeof(*w->q), err);
    if (settings->rows) {
        w->rows = vxs_alloc(n, sizeof(*w->rows), err);
        w->weights = vxs_alloc(m, sizeof(*w->weights), err);
    }
    if (settings->penalties)
        w->penalties = vxs_alloc(p, sizeof(*w->penalties), err);
    if (!w->inner || !w->outer || !w->q || (settings->rows && (!w->rows || !w->weights)) ||
        (settings->penalties && !w->penalties))
        return VXS_FAILED;
    for (size_t i = 0; settings->rows && i < n; i++) {
        w->rows[i] = settings->rows[i];
        w->weights[w->rows[i]] = 1;
    }
    if (settings->penalties)
        memcpy(w->penalties, settings->penalties, p * sizeof(*w->penalties));
    orthonormalise(w, settings->confounds, settings->confound_count);
    return VXS_OK;
}

vxs_status vxs_view_new(vxs_design *base, bool shared, const vxs_view *settings,
                        vxs_design **design, vxs_error *err)
{
    view *made = vxs_alloc(1, sizeof(*made), err);
    if (!made) {
        if (!shared)
            vxs_design_free(base);
        return VXS_FAILED;
    }
    made->design = (vxs_design){ .kind = &kind,
                                 .n = settings->rows ? settings->row_count : base->n,
                                 .p = base->p,
                                 .nthreads = base->nthreads,
                                 .base = base };
    made->shared = shared;
    made->standardize = settings->standardize;
    vxs_status status = copy_settings(made, settings, err);
    if (status) {
        vxs_design_free(&made->design);
        return status;
    }
    *design = &made->design;
    return VXS_OK;
}

const double *vxs_view_shift(const vxs_design *design)
{
    return ((const view *)design)->shift;
}

const double *vxs_view_factor(const vxs_design *design)
{
    return ((const view *)design)->factor;
}
