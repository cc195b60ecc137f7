/* sparse_cholesky.h - sparse Cholesky factorization of D'SD, D sparse and S a positive diagonal;
 * private. */
#ifndef VXS_LINALG_SPARSE_CHOLESKY_H
#define VXS_LINALG_SPARSE_CHOLESKY_H

#include "voxsift/internal/core.h"

/* Compressed sparse rows: the values of row k begin at value[starts[k]], their columns at
 * index[starts[k]]. */
typedef struct {
    size_t columns, count;
    const size_t *starts, *index;
    const double *value;
} vxs_sparse_rows;

/* P (D'SD) P' = L V L', V diagonal, L unit lower triangular, P a fill-reducing permutation. The
 * symbolic factorization runs once; S may change. The trailing block of L that is nearly dense is
 * stored as a dense matrix. */
typedef struct {
    vxs_sparse_rows d;             /* borrowed arrays */
    bool initialized;              /* true after vxs_factor_new, even with 0 variables */
    size_t count;                  /* variables */
    size_t *permutation, *inverse; /* permutation and its inverse */
    size_t *starts, *rows;         /* upper triangle of the matrix, compressed columns */
    double *value;                 /* values of the upper triangle */
    size_t *product_entry;         /* for each pair of a row's values: its nonzero of the matrix */
    /* elimination tree: first nonzero below the diagonal of a column of L, or `count` */
    size_t *etree;
    size_t *column_starts, *column_filled; /* column starts of L, and nonzeros filled so far */
    size_t *row;                           /* row indices of L */
    double *entry, *pivot;                 /* values of L, diagonal of V */
    size_t sparse_count, dense_count;      /* columns in the sparse part and in the dense block */
    double *dense;          /* dense_count x dense_count: strict lower triangle of L */
    double *panel;          /* dense_count x block: scaled columns */
    double *work;           /* count: workspace */
    size_t *visited, *path; /* count each: workspace of the graph search */
} vxs_factor;

/* The columns of D must be linearly independent. */
VXS_MUST_CHECK vxs_status vxs_factor_new(vxs_sparse_rows d, vxs_factor *factor, vxs_error *err);
void vxs_factor_release(vxs_factor *factor);
void vxs_factor_make(vxs_factor *factor, const double *weight);
/* x = (D'SD)^-1 x */
void vxs_factor_solve(const vxs_factor *factor, double *x);
/* The two halves of the solve: out = V^(-1/2) L^-1 P x, and out = P' L^-T V^(-1/2) x. */
void vxs_factor_solve_lower(const vxs_factor *factor, const double *x, double *out);
void vxs_factor_solve_upper(const vxs_factor *factor, const double *x, double *out);
/* out = V^(-1/2) L^-1 P in for `width` right-hand sides at once, row-major (the values of one
 * variable are contiguous). Thus in'(D'SD)^-1 in = out'out. */
void vxs_factor_solve_lower_many(const vxs_factor *factor, const double *in, size_t width,
                                 double *out);

#endif
