/* box_dual.h - the dual problem of kernel machines: a quadratic over a box; private to the solver.
 *
 *     max over t:  q't - beta'K beta / 2,   0 <= t <= c,   sum beta = 0 if b is free
 *
 * beta of a sample is the sum of sign t over its variables. Classes: one variable a sample,
 * sign = y, q = 1. Scores: two, sign = 1 and -1, q = sign y - epsilon. */
#ifndef VXS_SOLVER_SAIV_BOX_DUAL_H
#define VXS_SOLVER_SAIV_BOX_DUAL_H

#include "voxsift/internal/core.h"
#include "voxsift/internal/design.h"
#include "voxsift/loss.h"

typedef struct {
    const vxs_context *context;
    size_t n, count; /* samples, variables */
    const double *k; /* n x n: the kernel; NULL: blocks and columns are made at request */
    const vxs_design *kernel;
    bool intercept; /* b is free */
    size_t *row;    /* count: sample of a variable */
    double *sign, *q, *c, *t;
    double *f;   /* n: K beta */
    double held; /* what beta sums to if b is free: 0, but for a set beside others at rest */
} vxs_box;

/* Rows, signs and q of a problem with one of the two losses. */
void vxs_box_set_variables(vxs_box *box, const vxs_loss *loss);
/* With an intercept: what rounding left of the sum of beta goes to the variable that has most room.
 * False if none has enough. */
bool vxs_box_balance(vxs_box *box);

/* The primal and dual value, at the best b. */
typedef struct {
    double primal, dual, b;
} vxs_box_state;

/* Workspace of an evaluation, one a variable. */
typedef struct {
    double value, weight;
    int sign;
} vxs_threshold;
void vxs_thresholds_sort(vxs_threshold *thresholds, size_t count);
/* Over the variables of a set (NULL: all), the others at rest; b the middle if several are best. */
vxs_box_state vxs_box_evaluate(const vxs_box *box, const size_t *set, size_t count,
                               vxs_threshold *thresholds);

/* Workspace of vxs_box_solve, kept from one call to the next. */
typedef struct {
    size_t capacity, inside_capacity, kernel_capacity;
    size_t *row, *own, *member, *first; /* of the set */
    double *sign, *q, *c, *t;
    double *f, *k, *ends; /* of its samples */
    double *matrix, *right;
    int *pivot;
    vxs_threshold *thresholds;
    size_t steps; /* pairs, in all */
} vxs_box_work;
void vxs_box_work_release(vxs_box_work *work);

/* The problem of a set beside others at rest: its samples are numbered, and their kernel stands
 * together unless they are all. Variables of a sample stand next to each other in the set. */
typedef struct {
    const vxs_box *whole;
    vxs_box_work *work;
    double reach; /* largest kernel value of a sample with itself */
    vxs_box box;  /* of the set */
} vxs_box_part;
VXS_MUST_CHECK vxs_status vxs_box_part_begin(vxs_box_part *part, const vxs_box *whole,
                                             const size_t *set, size_t count, vxs_box_work *work,
                                             vxs_error *err);
/* At most `count` steps of two variables, or one; false if the last of them could gain nothing. */
bool vxs_box_part_descend(vxs_box_part *part, size_t count);
/* t of the set, and f of all samples, follow. */
void vxs_box_part_end(vxs_box_part *part, vxs_box *whole, const size_t *set);

/* Solves the problem of the variables of a set, the others as they are, until its gap is at most
 * `gap` or does not fall any more; t and f of all samples follow. Sets the intercept of the
 * problem. */
VXS_MUST_CHECK vxs_status vxs_box_solve(vxs_box *box, const size_t *set, size_t count, double gap,
                                        vxs_box_work *work, double *b, vxs_error *err);

#endif
