/* supernodal.h - Cholesky factor of a sparse matrix with the pattern of a graph, for many
 * factorizations and many right-hand sides; private. */
#ifndef VXS_LINALG_SUPERNODAL_H
#define VXS_LINALG_SUPERNODAL_H

#include "voxsift/internal/core.h"

/* P A P' = L L', P a fill-reducing permutation. Supernode s has the columns of L from column[s] to
 * column[s + 1] - 1, which share the rows in row[row_start[s]] to row[row_start[s + 1] - 1]; the
 * first of these are the columns themselves. */
typedef struct {
    size_t count;                  /* nodes */
    size_t *permutation, *inverse; /* node of a column, column of a node */
    size_t edges;
    size_t *entry; /* edges: place of the edge in `value` */
    size_t supernodes;
    size_t *column, *row_start, *value_start; /* supernodes + 1 */
    size_t *parent;                           /* supernodes; `supernodes` at a root */
    size_t *row, *in_parent; /* rows; those below the columns: their places in the parent's rows */
    double *value;           /* of each supernode: rows x columns, column-major */
    double *updates;         /* stack of Schur complements of the supernodes on `stack` */
    size_t *stack;
    size_t longest; /* rows of a supernode, at most */
} vxs_supernodal;

/* The graph has edges from[k], to[k]; of an edge that occurs twice entries are summed. */
VXS_MUST_CHECK vxs_status vxs_supernodal_new(size_t count, size_t edges, const size_t *from,
                                             const size_t *to, vxs_supernodal *f, vxs_error *err);
void vxs_supernodal_release(vxs_supernodal *f);
/* A has `diagonal` and, at the edges, `beside`; false if it is not positive definite. */
VXS_MUST_CHECK bool vxs_supernodal_factor(vxs_supernodal *f, const double *diagonal,
                                          const double *beside);
/* x = L^-1 x and x = L^-T x, x in the order of the columns; `work` has `longest` entries. */
void vxs_supernodal_solve_lower(const vxs_supernodal *f, double *x, double *work);
void vxs_supernodal_solve_upper(const vxs_supernodal *f, double *x, double *work);
/* x = L^-1 x for `width` right-hand sides, those of a column contiguous; `work` has `longest` x
 * `width` entries. */
void vxs_supernodal_solve_many(const vxs_supernodal *f, double *x, size_t width, double *work);

#endif
