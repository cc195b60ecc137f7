/* Recruiting and screening as the dissertation has them: as printed they do not end, on any
 * problem, or where samples have copies; as mended they end where all other ways do. */
#include "solver/saiv/saiv.h"
#include "tests/core/check.h"
#include "voxsift/internal/penalty.h"
#include "voxsift/internal/solver.h"
#include "voxsift/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 60, D = 4, FEW = 10, ROUNDS = 1000, EPOCHS = 5, PROBLEMS = 20 };

typedef struct {
    double x[N * D], y[N], ones[N], k[N * N], q[N * N]; /* q_ij = y_i y_j k_ij */
    vxs_design *design;
    vxs_kernel_norm norm;
    vxs_problem problem;
    vxs_method_settings settings;
} example;

/* Each sample `copies` times. */
static void make(example *e, uint64_t number, size_t copies)
{
    vxs_random random = { .seed = 21, .stream = number };
    vxs_error err = VXS_ERROR_INIT;
    memset(e, 0, sizeof(*e));
    for (size_t i = 0; i < N; i++) {
        size_t own = i / copies;
        for (size_t j = 0; j < D; j++)
            e->x[i * D + j] = vxs_random_normal(&random, own * (D + 1) + j);
        double value = e->x[i * D] + e->x[i * D + 1] * e->x[i * D + 1] - 1;
        value += 0.4 * vxs_random_normal(&random, own * (D + 1) + D);
        e->y[i] = value > 0 ? 1 : -1;
        e->ones[i] = 1;
    }
    e->y[0] = 1; /* both classes, also with copies */
    e->y[N - 1] = -1;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            double square = 0;
            for (size_t d = 0; d < D; d++)
                square += pow(e->x[i * D + d] - e->x[j * D + d], 2);
            e->k[i * N + j] = exp(-0.3 * square);
            e->q[i * N + j] = e->y[i] * e->y[j] * e->k[i * N + j];
        }
    WORKS(vxs_gram_new(e->k, N, 1, &e->design, &err), err);
    e->norm = vxs_kernel_norm_of(e->design);
    vxs_params_defaults(vxs_methods[VXS_METHOD_SVM].params, &e->settings);
    e->settings.svm.solver = VXS_MACHINE_SAIV;
    e->problem = (vxs_problem){ .design = e->design,
                                .loss = { .kind = &vxs_margin_loss, .n = N, .y = e->y },
                                .penalty = &e->norm.penalty,
                                .covariates = e->ones };
}

static size_t solve(example *e, size_t covariates, double cost)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_solver *solver = NULL;
    vxs_solution s;
    vxs_certificate found;
    e->problem.covariate_count = covariates;
    WORKS(vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_SVM], &e->problem, &e->settings, &solver,
                         &err),
          err);
    WORKS(vxs_solver_fit_at(solver, (vxs_path_point){ VXS_BY_COST, cost }, &s, &err), err);
    WORKS(vxs_check_solution(&e->problem, &s, &found, &err), err);
    cr_expect(s.certificate.converged && found.converged, "gap %g, found %g", s.certificate.gap,
              found.gap);
    size_t rounds = s.certificate.iterations;
    vxs_solution_release(&s);
    vxs_solver_free(solver);
    return rounds;
}

/* ---- As printed ------------------------------------------------------------------------------ */

typedef struct {
    const example *e;
    double t[N], h[N]; /* weights; margins - 1 */
    bool active[N];
} as_printed;

static void move(as_printed *p, size_t i, double to)
{
    double change = to - p->t[i];
    for (size_t j = 0; j < N && change != 0; j++)
        p->h[j] += change * p->e->q[i * N + j];
    p->t[i] = to;
}

static double gap_of_set(const as_printed *p)
{
    double gap = 0;
    for (size_t i = 0; i < N; i++)
        gap += p->t[i] * p->h[i] + (p->active[i] ? fmax(0, -p->h[i]) : 0);
    return fmax(0, gap);
}

/* The lowest margin of members, or of others, less what the gap leaves open. */
static double least_margin(const as_printed *p, bool active, double radius)
{
    double least = INFINITY;
    for (size_t i = 0; i < N; i++)
        if (p->active[i] == active)
            least = fmin(least, p->h[i] - radius);
    return least;
}

/* Algorithm 6, k_ii = 1: others that fewer than FEW may be below. */
static void recruit_by_proof(as_printed *p, double radius)
{
    for (size_t v = 0; v < FEW; v++) {
        size_t lowest = SIZE_MAX, below = 0;
        for (size_t i = 0; i < N; i++)
            if (!p->active[i] && (lowest == SIZE_MAX || p->h[i] < p->h[lowest]))
                lowest = i;
        if (lowest == SIZE_MAX)
            return;
        for (size_t j = 0; j < N; j++)
            below += !p->active[j] && j != lowest && p->h[lowest] + 2 * radius > p->h[j];
        if (below >= FEW)
            return;
        p->active[lowest] = true;
    }
}

/* Algorithm 5 at C = 1; whether it ends. `of_members`: recruiting ends by their margins. */
static bool ends_as_printed(const example *e, bool of_members)
{
    static as_printed p;
    bool recruits = true;
    p = (as_printed){ .e = e };
    for (size_t i = 0; i < N; i++) {
        p.h[i] = -1;
        p.active[i] = i % (N / FEW) == 0;
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t step = 0; step < (size_t)EPOCHS * N; step++)
            if (p.active[step % N])
                move(&p, step % N, fmin(1, fmax(0, p.t[step % N] - p.h[step % N])));
        double gap = gap_of_set(&p), radius = sqrt(gap);
        if (!recruits && gap < 1e-6 * N)
            return true;
        for (size_t i = 0; i < N; i++)
            if (p.active[i] && p.h[i] - radius > 0) {
                move(&p, i, 0);
                p.active[i] = false;
            }
        recruits = recruits && !(least_margin(&p, of_members, radius) > 0);
        if (recruits)
            recruit_by_proof(&p, radius);
    }
    return false;
}

/* All of them end in a few rounds as mended, with and without an intercept. */
Test(rec_scr, what_never_ends_as_printed_ends_as_mended)
{
    static example e;
    size_t by_members = 0, by_others = 0, with_copies = 0, most = 0;
    for (uint64_t number = 0; number < PROBLEMS; number++) {
        for (size_t copies = 1; copies <= 20; copies += 19) {
            make(&e, number, copies);
            for (size_t covariates = 0; covariates < 2; covariates++) {
                size_t rounds = solve(&e, covariates, 1);
                most = rounds > most ? rounds : most;
            }
            by_members += ends_as_printed(&e, true);
            *(copies > 1 ? &with_copies : &by_others) += ends_as_printed(&e, false);
            vxs_design_free(e.design);
        }
    }
    cr_expect(by_members == 0 && by_others == PROBLEMS && with_copies == 0 && most < ROUNDS,
              "%zu of %d end as printed, %d of %zu by the others' margins, %zu with copies; most "
              "rounds %zu",
              by_members, 2 * PROBLEMS, PROBLEMS, by_others, with_copies, most);
}
