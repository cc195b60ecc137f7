/* sparse_cholesky.h - D'SD for sparse rows D and positive weights S, factored; private. */
#ifndef VXS_LINALG_SPARSE_CHOLESKY_H
#define VXS_LINALG_SPARSE_CHOLESKY_H

#include "voxsift/internal/core.h"

/* A sparse matrix row by row: row k has value[starts[k]] ... in the columns index[starts[k]] ... */
typedef struct {
    size_t columns, count;
    const size_t *starts, *index;
    const double *value;
} vxs_sparse_rows;

/* P (D'SD) P' = L V L', V diagonal, L with ones on its diagonal, in an order P that fills little.
 * Where entries stand is found once; weights may change. The last places, among which L is nearly
 * full, make a square of their own. */
typedef struct {
    vxs_sparse_rows d;      /* its arrays must stay */
    bool made;              /* even of no variables */
    size_t count;           /* variables */
    size_t *order, *at;     /* the variable of a place, the place of a variable */
    size_t *starts, *rows;  /* of the matrix's upper triangle, column by column */
    double *value;          /* of it */
    size_t *put;            /* where the product of each pair of a term's factors goes */
    size_t *parent;         /* of a column of L: the first row below the diagonal, or `count` */
    size_t *below, *filled; /* where its entries stand, and how many do by now */
    size_t *row;            /* of L's entries */
    double *entry, *pivot;  /* L, V */
    size_t thin, full;      /* places before the square, and in it */
    double *square;         /* full x full: L there, below the diagonal */
    double *panel;          /* full x a block of its columns */
    double *work;           /* of `count` numbers */
    size_t *mark, *path;    /* likewise */
} vxs_factor;

/* The columns of D must not depend on each other. */
VXS_MUST_CHECK vxs_status vxs_factor_new(vxs_sparse_rows d, vxs_factor *factor, vxs_error *err);
void vxs_factor_release(vxs_factor *factor);
void vxs_factor_make(vxs_factor *factor, const double *weight);
/* x = (D'SD)^-1 x */
void vxs_factor_solve(const vxs_factor *factor, double *x);
/* The same in two halves: out = V^(-1/2) L^-1 P x, and out = P' L^-T V^(-1/2) x. */
void vxs_factor_half(const vxs_factor *factor, const double *x, double *out);
void vxs_factor_other_half(const vxs_factor *factor, const double *x, double *out);
/* out = V^(-1/2) L^-1 P in, for `width` right sides at once: those of a variable stand side by
 * side. So in'(D'SD)^-1 in is out'out. */
void vxs_factor_halve(const vxs_factor *factor, const double *in, size_t width, double *out);

#endif
