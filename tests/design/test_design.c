/* Designs against plain loops: every kind, whatever rows, confounds and threads. */
#include "tests/core/check.h"
#include "tests/core/faults.h"

#include <pthread.h>

typedef struct {
    size_t n, p;
    float *x;  /* p x n */
    double *v; /* 3 vectors */
    vxs_design *design;
} example;

static example make(uint64_t stream, size_t n, size_t p)
{
    vxs_random random = { .seed = 11, .stream = stream };
    example e = { .n = n, .p = p };
    e.x = malloc(n * p * sizeof(*e.x));
    e.v = malloc(3 * n * sizeof(*e.v));
    for (size_t k = 0; k < n * p; k++)
        e.x[k] = (float)(1000 * (double)(k / n % 3) + vxs_random_normal(&random, k));
    for (size_t i = 0; i < n && p > 4; i++)
        e.x[4 * n + i] = 7.1F; /* constant */
    for (size_t k = 0; k < 3 * n; k++)
        e.v[k] = vxs_random_normal(&random, n * p + k);
    return e;
}

static void release(example *e)
{
    vxs_design_free(e->design);
    free(e->x);
    free(e->v);
}

/* The columns a view should have, by the book: rows, mean, standard deviation, confounds. */
static double *by_the_book(const example *e, const vxs_view *view)
{
    size_t n = view->rows ? view->row_count : e->n;
    double *x = malloc(n * e->p * sizeof(*x));
    for (size_t j = 0; j < e->p; j++) {
        double *c = x + j * n, mean = 0, square = 0;
        for (size_t i = 0; i < n; i++)
            mean += (c[i] = (double)e->x[j * e->n + (view->rows ? view->rows[i] : i)]) / (double)n;
        for (size_t i = 0; i < n && view->standardize != VXS_STANDARDIZE_NONE; i++)
            c[i] -= mean;
        for (size_t i = 0; i < n; i++)
            square += c[i] * c[i] / (double)n;
        for (size_t i = 0; i < n; i++) {
            if (view->standardize == VXS_STANDARDIZE_UNIT)
                c[i] = square > 1e-12 ? c[i] / sqrt(square) : 0;
            c[i] /= view->penalties ? view->penalties[j] : 1;
        }
    }
    return x;
}

/* What is left of columns after regression on one confound. */
static void take_out(double *x, size_t n, size_t p, const double *confound)
{
    double square = 0;
    for (size_t i = 0; i < n; i++)
        square += confound[i] * confound[i];
    for (size_t j = 0; j < p; j++) {
        double along = 0;
        for (size_t i = 0; i < n; i++)
            along += confound[i] * x[j * n + i];
        for (size_t i = 0; i < n; i++)
            x[j * n + i] -= along / square * confound[i];
    }
}

static bool near(double a, double b, double size)
{
    return fabs(a - b) <= 1e-10 * size;
}

/* Every way to touch the columns says what plain loops say. */
static void compare(vxs_design *design, const double *x, const double *v)
{
    vxs_error err = VXS_ERROR_INIT;
    size_t n = vxs_design_rows(design), p = vxs_design_columns(design);
    double *s = malloc(3 * p * sizeof(*s)), *first = malloc(p * sizeof(*first));
    double *block = malloc(n * p * sizeof(*block)), *some = malloc(p * sizeof(*some));
    size_t *set = malloc(p * sizeof(*set));
    for (size_t j = 0; j < p; j++)
        set[j] = p - 1 - j;
    WORKS(vxs_design_measure_scan(design, v, first, &err), err);
    uint64_t before = vxs_design_read(design);
    vxs_design_scan(design, v, 3, s);
    cr_assert(vxs_design_read(design) == before + p, "several vectors are one reading");
    vxs_design_scan_some(design, set, p, v, some);
    vxs_design_fetch(design, set, p, block);
    cr_assert(vxs_design_read(design) == before + 3 * p);
    for (size_t j = 0; j < p; j++) {
        double norm = 0, dots[3] = { 0 }, size = 1e-9;
        for (size_t i = 0; i < n; i++) {
            norm += x[j * n + i] * x[j * n + i];
            cr_assert(near(block[(p - 1 - j) * n + i], x[j * n + i], 3000));
        }
        for (size_t k = 0; k < 3; k++)
            for (size_t i = 0; i < n; i++)
                dots[k] += x[j * n + i] * v[k * n + i];
        size += 3000 * sqrt((double)n);
        for (size_t k = 0; k < 3; k++)
            cr_assert(near(s[k * p + j], dots[k], size), "column %zu: %g, not %g", j, s[k * p + j],
                      dots[k]);
        cr_assert(near(first[j], dots[0], size) && near(some[p - 1 - j], dots[0], size));
        cr_assert(fabs(vxs_design_norms(design)[j] - sqrt(norm)) <= 1e-6 * (1 + sqrt(norm)),
                  "norm %zu: %g, not %g", j, vxs_design_norms(design)[j], sqrt(norm));
    }
    free(s);
    free(first);
    free(block);
    free(some);
    free(set);
}

static const size_t shapes[][2] = { { 1, 1 }, { 3, 70 }, { 8, 9 }, { 33, 130 }, { 71, 65 } };
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

Test(design, dense_is_what_plain_loops_say)
{
    vxs_error err = VXS_ERROR_INIT;
    for (size_t k = 0; k < SHAPES; k++) {
        example e = make(k, shapes[k][0], shapes[k][1]);
        vxs_view plain = { .standardize = VXS_STANDARDIZE_NONE };
        double *x = by_the_book(&e, &plain);
        WORKS(vxs_dense_new(e.x, e.n, e.p, 1 + (int)k % 3, &e.design, &err), err);
        compare(e.design, x, e.v);
        free(x);
        release(&e);
    }
}

Test(design, views_are_what_copies_would_be)
{
    vxs_error err = VXS_ERROR_INIT;
    for (size_t k = 0; k < 12 * SHAPES; k++) {
        example e = make(k, shapes[k / 12][0], shapes[k / 12][1]);
        size_t *rows = malloc(e.n * sizeof(*rows));
        double *penalties = malloc(e.p * sizeof(*penalties));
        for (size_t i = 0; i < e.n; i++)
            rows[i] = e.n - 1 - i;
        for (size_t j = 0; j < e.p; j++)
            penalties[j] = 0.5 + (double)j;
        vxs_view view = { .standardize = (vxs_standardize)(k % 3),
                          .rows = k / 3 % 2 ? rows : NULL,
                          .row_count = (e.n + 1) / 2,
                          .penalties = k / 6 % 2 ? penalties : NULL };
        double *x = by_the_book(&e, &view);
        WORKS(vxs_dense_new(e.x, e.n, e.p, 2, &e.design, &err), err);
        WORKS(vxs_view_new(e.design, false, &view, &e.design, &err), err);
        compare(e.design, x, e.v);
        free(x);
        free(rows);
        free(penalties);
        release(&e);
    }
}

Test(design, confounds_are_taken_out)
{
    vxs_error err = VXS_ERROR_INIT;
    example e = make(1, 40, 70);
    double *confounds = malloc(2 * e.n * sizeof(*confounds));
    for (size_t i = 0; i < e.n; i++) {
        confounds[i] = (double)i - 19.5;
        confounds[e.n + i] = 3 * confounds[i]; /* depends on the first, and adds nothing */
    }
    vxs_view view = { .standardize = VXS_STANDARDIZE_UNIT,
                      .confounds = confounds,
                      .confound_count = 2 };
    double *x = by_the_book(&e, &view);
    take_out(x, e.n, e.p, confounds);
    WORKS(vxs_dense_new(e.x, e.n, e.p, 1, &e.design, &err), err);
    WORKS(vxs_view_new(e.design, false, &view, &e.design, &err), err);
    compare(e.design, x, e.v);
    cr_assert(vxs_view_factor(e.design)[4] == 0, "a constant column has no factor");
    free(x);
    free(confounds);
    release(&e);
}

enum { ROWS = 1000 };

/* A regression that is learned on some rows only: slope and level from these, taken off all. */
static void take_out_learned(double *x, size_t n, size_t p, const double *confound,
                             const bool *learn)
{
    for (size_t j = 0; j < p; j++) {
        double count = 0, cx = 0, cc = 0, c1 = 0, x1 = 0;
        for (size_t i = 0; i < n; i++) {
            count += learn[i];
            c1 += learn[i] ? confound[i] : 0;
            x1 += learn[i] ? x[j * n + i] : 0;
        }
        for (size_t i = 0; i < n; i++) {
            double c = confound[i] - c1 / count;
            cx += learn[i] ? c * (x[j * n + i] - x1 / count) : 0;
            cc += learn[i] ? c * c : 0;
        }
        for (size_t i = 0; i < n; i++)
            x[j * n + i] -= x1 / count + cx / cc * (confound[i] - c1 / count);
    }
}

Test(design, confounds_may_be_learned_on_some_rows)
{
    vxs_error err = VXS_ERROR_INIT;
    for (int way = 0; way < 3; way++) {
        example e = make(4, 30, 70);
        double *confounds = malloc(3 * e.n * sizeof(*confounds));
        bool *learn = malloc(e.n * sizeof(*learn));
        memcpy(e.x + 4 * e.n, e.x + 3 * e.n,
               e.n * sizeof(*e.x)); /* nothing is left of a constant */
        for (size_t i = 0; i < e.n; i++) {
            confounds[i] = 1;
            confounds[e.n + i] = sin((double)i) * 5;
            confounds[2 * e.n + i] = 2 - confounds[e.n + i]; /* depends on the others */
            learn[i] = i % 3 != 1;
        }
        vxs_view view = { .standardize = (vxs_standardize)way,
                          .confounds = confounds,
                          .confound_count = 3,
                          .regression_subject = learn };
        double *x = by_the_book(&e, &view);
        take_out_learned(x, e.n, e.p, confounds + e.n, learn);
        WORKS(vxs_dense_new(e.x, e.n, e.p, 1, &e.design, &err), err);
        WORKS(vxs_view_new(e.design, false, &view, &e.design, &err), err);
        compare(e.design, x, e.v);
        free(x);
        free(confounds);
        free(learn);
        release(&e);
    }
}

Test(design, sparse_is_dense_with_zeros)
{
    vxs_error err = VXS_ERROR_INIT;
    example e = make(2, ROWS, 80); /* as many as rounding needs to show */
    float *values = malloc(e.n * e.p * sizeof(*values));
    int32_t *rows = malloc(e.n * e.p * sizeof(*rows));
    size_t *starts = malloc((e.p + 1) * sizeof(*starts)), used = 0;
    for (size_t j = 0; j < e.p; j++) {
        starts[j] = used;
        for (size_t i = 0; i < e.n; i++) {
            float *at = &e.x[j * e.n + i];
            bool whole = j % 9 == 4; /* of these every second is constant, the others far from 0 */
            *at = !whole && (i + j) % 7 ? 0 : whole && j % 2 ? 0.1F * (float)j : *at;
            if (*at != 0) {
                values[used] = *at;
                rows[used++] = (int32_t)i;
            }
        }
    }
    starts[e.p] = used;
    size_t seen[ROWS / 2]; /* every second one, from the end */
    for (size_t i = 0; i < ROWS / 2; i++)
        seen[i] = ROWS - 1 - 2 * i;
    for (int k = 0; k < 6; k++) {
        vxs_view view = { .standardize = (vxs_standardize)(k % 3),
                          .rows = k < 3 ? NULL : seen,
                          .row_count = ROWS / 2 };
        vxs_design *sparse;
        double *x = by_the_book(&e, &view);
        WORKS(vxs_sparse_new(values, rows, starts, e.n, e.p, 2, &sparse, &err), err);
        WORKS(vxs_view_new(sparse, false, &view, &sparse, &err), err);
        compare(sparse, x, e.v);
        for (size_t j = 13; j < e.p && view.standardize == VXS_STANDARDIZE_UNIT; j += 18)
            cr_assert(vxs_view_factor(sparse)[j] == 0, "column %zu is constant", j);
        vxs_design_free(sparse);
        free(x);
    }
    free(values);
    free(rows);
    free(starts);
    release(&e);
}

Test(design, threads_change_no_bit)
{
    vxs_error err = VXS_ERROR_INIT;
    example e = make(3, 57, 500);
    double *one = malloc(3 * e.p * sizeof(*one)), *more = malloc(3 * e.p * sizeof(*more));
    for (int threads = 1; threads <= 4; threads++)
        for (size_t k = 1; k <= 3; k++) {
            WORKS(vxs_dense_new(e.x, e.n, e.p, threads, &e.design, &err), err);
            vxs_design_scan(e.design, e.v, k, threads == 1 ? one : more);
            if (threads > 1) {
                vxs_design *single;
                WORKS(vxs_dense_new(e.x, e.n, e.p, 1, &single, &err), err);
                vxs_design_scan(single, e.v, k, one);
                vxs_design_free(single);
                cr_assert(memcmp(one, more, k * e.p * sizeof(*one)) == 0, "%d threads", threads);
            }
            vxs_design_free(e.design);
            e.design = NULL;
        }
    free(one);
    free(more);
    release(&e);
}

/* Whatever the kind, a vector has the bits that it has alone. */
Test(design, vectors_together_have_the_bits_of_each)
{
    vxs_error err = VXS_ERROR_INIT;
    for (size_t k = 0; k < SHAPES; k++) {
        example e = make(k, shapes[k][0], shapes[k][1]);
        double *together = malloc(3 * e.p * sizeof(*together)),
               *alone = malloc(e.p * sizeof(*alone));
        vxs_view view = { .standardize = VXS_STANDARDIZE_UNIT };
        WORKS(vxs_dense_new(e.x, e.n, e.p, 2, &e.design, &err), err);
        WORKS(vxs_view_new(e.design, false, &view, &e.design, &err), err);
        WORKS(vxs_design_measure(e.design, &err), err);
        vxs_design_scan(e.design, e.v, 3, together);
        for (size_t c = 0; c < 3; c++) {
            vxs_design_scan(e.design, e.v + c * e.n, 1, alone);
            cr_assert(memcmp(alone, together + c * e.p, e.p * sizeof(*alone)) == 0);
        }
        free(together);
        free(alone);
        release(&e);
    }
}

/* ---- Batcher ------------------------------------------------------------------------------ */

enum { SOLVERS = 5, ROUNDS = 7 };

typedef struct {
    vxs_scan_batcher *batcher;
    vxs_design *design;
    const double *v;
    double *s;
    size_t rounds; /* solvers end at different times */
} solver;

static void *solve(void *data)
{
    solver *w = data;
    size_t n = vxs_design_rows(w->design), p = vxs_design_columns(w->design);
    double *v = malloc(n * sizeof(*v));
    memcpy(v, w->v, n * sizeof(*v));
    vxs_scan_batcher_begin(w->batcher);
    for (size_t r = 0; r < w->rounds; r++) {
        vxs_design_scan(w->design, v, 1, w->s);
        for (size_t i = 0; i < n; i++) /* what comes next depends on what was found */
            v[i] = sin(v[i] + w->s[i % p]);
    }
    vxs_scan_batcher_end(w->batcher);
    free(v);
    return NULL;
}

static void solve_together(const example *e, size_t slots, double *s, uint64_t *read)
{
    vxs_error err = VXS_ERROR_INIT;
    pthread_t threads[SOLVERS];
    solver solvers[SOLVERS];
    vxs_design *base;
    vxs_scan_batcher *batcher;
    WORKS(vxs_dense_new(e->x, e->n, e->p, 2, &base, &err), err);
    WORKS(vxs_scan_batcher_new(base, SOLVERS, slots, &batcher, &err), err);
    for (size_t k = 0; k < SOLVERS; k++) {
        vxs_design *own;
        WORKS(vxs_dense_new(e->x, e->n, e->p, 1, &own, &err), err);
        WORKS(vxs_scan_batcher_design(batcher, own, &own, &err), err);
        solvers[k] = (solver){ batcher, own, e->v + k % 3 * e->n, s + k * e->p, ROUNDS - k % 4 };
        cr_assert(pthread_create(&threads[k], NULL, solve, &solvers[k]) == 0);
    }
    vxs_scan_batcher_run(batcher);
    *read = 0;
    for (size_t k = 0; k < SOLVERS; k++) {
        pthread_join(threads[k], NULL);
        *read += vxs_design_read(solvers[k].design);
        vxs_design_free(solvers[k].design);
    }
    vxs_scan_batcher_free(batcher);
}

Test(design, a_hub_reads_once_for_all_and_changes_no_bit)
{
    vxs_error err = VXS_ERROR_INIT;
    example e = make(7, 40, 150);
    double *together = malloc(SOLVERS * e.p * sizeof(*together));
    double *alone = malloc(e.p * sizeof(*alone));
    uint64_t read = 0;
    for (size_t slots = 1; slots <= 3; slots++) {
        solve_together(&e, slots, together, &read);
        cr_assert(read <= ROUNDS * e.p && read + SOLVERS * ROUNDS > ROUNDS * e.p,
                  "%d columns were read", (int)read); /* shares are rounded down */
        for (size_t k = 0; k < SOLVERS; k++) {
            vxs_design *base;
            vxs_scan_batcher *batcher;
            WORKS(vxs_dense_new(e.x, e.n, e.p, 1, &base, &err), err);
            WORKS(vxs_scan_batcher_new(base, 1, 1, &batcher, &err), err);
            WORKS(vxs_dense_new(e.x, e.n, e.p, 1, &base, &err), err);
            solver w = { batcher, base, e.v + k % 3 * e.n, alone, ROUNDS - k % 4 };
            solve(&w); /* with a design that has no batcher */
            cr_assert(memcmp(alone, together + k * e.p, e.p * sizeof(*alone)) == 0,
                      "solver %zu, %zu slots", k, slots);
            vxs_design_free(base);
            vxs_scan_batcher_free(batcher);
        }
    }
    free(together);
    free(alone);
    release(&e);
}

static vxs_status make_view(vxs_error *err)
{
    static const float x[12] = { 1, 2, 3, 4, 2, 1, 0, 5, 3, 3, 3, 3 };
    static const size_t rows[3] = { 0, 2, 3 };
    static const double ones[3] = { 1, 1, 1 };
    vxs_view view = { .standardize = VXS_STANDARDIZE_UNIT,
                      .rows = rows,
                      .row_count = 3,
                      .confounds = ones,
                      .confound_count = 1 };
    vxs_design *design;
    vxs_status status = vxs_dense_new(x, 4, 3, 1, &design, err);
    if (!status)
        status = vxs_view_new(design, false, &view, &design, err);
    if (status)
        return status;
    status = vxs_design_measure(design, err);
    vxs_design_free(design);
    return status;
}

/* Means and factors of a view are known once it is measured; whoever scans or fetches before gets
 * the same columns. */
Test(design, views_are_measured_by_whoever_touches_them_first)
{
    vxs_error err = VXS_ERROR_INIT;
    example e = make(9, 8, 9);
    const vxs_view view = { .standardize = VXS_STANDARDIZE_UNIT };
    double wanted[9], found[9], block[8], fetched[8];
    const size_t set[1] = { 2 };
    vxs_design *known, *first;
    WORKS(vxs_dense_new(e.x, e.n, e.p, 1, &e.design, &err), err);
    WORKS(vxs_view_new(e.design, true, &view, &known, &err), err);
    WORKS(vxs_design_measure(known, &err), err);
    vxs_design_scan(known, e.v, 1, wanted);
    vxs_design_fetch(known, set, 1, block);
    for (int way = 0; way < 3; way++) {
        WORKS(vxs_view_new(e.design, true, &view, &first, &err), err);
        cr_assert(vxs_view_shift(first) == NULL && vxs_view_factor(first) == NULL);
        if (way == 0)
            vxs_design_scan(first, e.v, 1, found);
        if (way == 1)
            vxs_design_scan_some(first, set, 1, e.v, found + set[0]);
        cr_assert(way == 2 || found[2] == wanted[2]);
        vxs_design_fetch(first, set, 1, fetched);
        cr_assert(memcmp(fetched, block, sizeof(block)) == 0);
        cr_assert(vxs_view_factor(first)[2] == vxs_view_factor(known)[2]);
        vxs_design_free(first);
    }
    e.x[0] = (float)NAN; /* it cannot be measured */
    WORKS(vxs_view_new(e.design, true, &view, &first, &err), err);
    vxs_design_scan(first, e.v, 1, found);
    vxs_design_fetch(first, set, 1, fetched);
    cr_assert(isnan(found[0]) && isnan(found[8]) && isnan(fetched[0]) && isnan(fetched[7]));
    vxs_design_scan_some(first, set, 1, e.v, found);
    cr_assert(isnan(found[0]));
    vxs_design_free(first);
    vxs_design_free(known);
    release(&e);
}

Test(design, what_is_no_view_has_neither_shift_nor_factor)
{
    vxs_error err = VXS_ERROR_INIT;
    example e = make(10, 8, 9);
    WORKS(vxs_dense_new(e.x, e.n, e.p, 1, &e.design, &err), err);
    cr_assert(vxs_view_shift(e.design) == NULL && vxs_view_factor(e.design) == NULL);
    release(&e);
}

Test(design, what_cannot_be_is_refused)
{
    vxs_error err = VXS_ERROR_INIT;
    example e = make(10, 8, 9);
    const vxs_view plain = { .standardize = VXS_STANDARDIZE_CENTER };
    const vxs_view bare = { .confound_count = 1 };
    const size_t starts[2] = { 0, 1 };
    vxs_design *view = NULL, *none = NULL;
    WORKS(vxs_dense_new(e.x, e.n, e.p, 1, &e.design, &err), err);
    REFUSES(vxs_view_new(NULL, true, &plain, &none, &err), err, VXS_MISUSE, "'base' is NULL");
    REFUSES(vxs_view_new(e.design, true, NULL, &none, &err), err, VXS_MISUSE, "'view' is NULL");
    REFUSES(vxs_view_new(e.design, true, &bare, &none, &err), err, VXS_MISUSE,
            "1 confounds without values");
    WORKS(vxs_view_new(e.design, true, &plain, &view, &err), err);
    REFUSES(vxs_view_new(view, true, &plain, &none, &err), err, VXS_MISUSE,
            "a view requires stored columns, not another view");
    REFUSES(vxs_dense_new(NULL, e.n, e.p, 1, &none, &err), err, VXS_MISUSE, "no values");
    REFUSES(vxs_sparse_new(NULL, NULL, starts, e.n, 1, 1, &none, &err), err, VXS_MISUSE,
            "no values");
    REFUSES(vxs_sparse_new(e.x, NULL, NULL, e.n, 1, 1, &none, &err), err, VXS_MISUSE,
            "no column starts");
    vxs_design_free(view);
    release(&e);
}

Test(design, no_memory_is_an_error)
{
    cr_assert(fail_each_request(make_view) > 8);
}
