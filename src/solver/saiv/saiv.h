/* saiv.h - what the two algorithms of kernel machines share, and what tests and benchmarks see;
 * private to the solver. */
#ifndef VXS_SOLVER_SAIV_SAIV_H
#define VXS_SOLVER_SAIV_SAIV_H

#include "solver/saiv/sample_bounds.h"
#include "solver/solver.h"

#define VXS_SAIV_VIOLATION 1e-12 /* of the margin: more is one */

/* What of a sample's kernel values was read: with other members of a set, with all samples. */
enum { VXS_SAIV_MEMBER = 1, VXS_SAIV_COLUMN = 2 };

typedef struct {
    vxs_solver solver;
    vxs_problem problem;
    vxs_box box;
    vxs_box_work work;
    double *fetched; /* the kernel, of a design that is not stored as one; or NULL */
    double tol, cost;
    bool *in_set; /* of a variable */
    size_t *set, set_count;
    size_t room; /* variables of a set, of a kernel that is made in tiles; else 0 */
    vxs_threshold *thresholds;
    double *violation, *sorted; /* of a variable */
    bool screens;               /* by bounds */
    bool recruits;              /* and screens as the dissertation does */
    vxs_sample_bounds bounds;
    double *bound_values, radius; /* around w, of the last C */
    unsigned char *fate;          /* of a variable */
    size_t fixed;                 /* decided, and there already; if they leave the set */
    unsigned char *seen;          /* of a sample */
    vxs_costs costs;
} vxs_saiv;

/* How far the value of a variable is on the wrong side of the margin. */
double vxs_saiv_violation(const vxs_saiv *s, size_t k, double b);
/* The violation that `most` of those found exceed; they are in s->sorted. */
double vxs_saiv_level(vxs_saiv *s, size_t found, size_t most);
void vxs_saiv_enter(vxs_saiv *s, size_t k);
void vxs_saiv_list_set(vxs_saiv *s);
void vxs_saiv_note_seen(vxs_saiv *s);
/* Weights sum to 0 exactly, and values are computed again. */
VXS_MUST_CHECK vxs_status vxs_saiv_refresh(vxs_saiv *s, vxs_error *err);

/* machine_check.c: refuses a way that does not go with the kernel. */
VXS_MUST_CHECK vxs_status vxs_saiv_check_way(const vxs_saiv *s, vxs_error *err);

/* rec_scr.c: solves by recruiting and screening; counts the rounds. */
VXS_MUST_CHECK vxs_status vxs_saiv_recruit_and_screen(vxs_saiv *s, double target, double empty,
                                                      vxs_box_state *state, size_t *rounds,
                                                      vxs_error *err);

/* low_rank_interior.c: solves where the kernel is of low rank; counts the steps. */
VXS_MUST_CHECK vxs_status vxs_saiv_solve_low_rank(vxs_saiv *s, double target, vxs_box_state *state,
                                                  size_t *rounds, vxs_error *err);

/* Where the working set stops short: the same with the kernel in memory, if its rank is less than
 * half the samples; a worse answer is not taken. */
VXS_MUST_CHECK vxs_status vxs_saiv_solve_singular(vxs_saiv *s, double target, vxs_box_state *state,
                                                  size_t *rounds, vxs_error *err);

/* Since the solver began: samples that were in a set, samples whose kernel values with all were
 * read; steps of two weights. */
typedef struct {
    size_t members, columns, steps;
} vxs_saiv_counts;
vxs_saiv_counts vxs_saiv_count(const vxs_solver *solver);

#endif
