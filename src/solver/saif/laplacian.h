/* laplacian.h - the quadratic form w'Lw of a graph's Laplacian, beside an l1 penalty; private to
 * the solver room. */
#ifndef VXS_SOLVER_SAIF_LAPLACIAN_H
#define VXS_SOLVER_SAIF_LAPLACIAN_H

#include "voxsift/internal/solver.h"

/* L = sum over edges of weight (e_from - e_to)(e_from - e_to)', by rows: `degree` is the diagonal,
 * -weight the entry in column `other`. */
typedef struct {
    size_t p;       /* 0: none */
    size_t *starts; /* p + 1 */
    size_t *other;  /* column of each off-diagonal entry */
    double *weight; /* of each off-diagonal entry */
    double *degree; /* p */
    double *wide;   /* p: work space, 0 between calls */
    size_t *place;  /* p: 1 + position of a feature in a list, 0 between calls */
} vxs_laplacian_matrix;

VXS_MUST_CHECK vxs_status vxs_laplacian_init(const vxs_quadratic *of, size_t p,
                                             vxs_laplacian_matrix *l, vxs_error *err);
void vxs_laplacian_release(vxs_laplacian_matrix *l);
/* product[k] = (Lw)_set[k], w having w[k] at set[k] and 0 elsewhere. */
void vxs_laplacian_times(const vxs_laplacian_matrix *l, const size_t *set, size_t count,
                         const double *w, double *product);
/* gradient = factor Lw of all p features. */
void vxs_laplacian_pull(const vxs_laplacian_matrix *l, const size_t *set, size_t count,
                        const double *w, double factor, double *pull);
/* w'Lw */
double vxs_laplacian_form(const vxs_laplacian_matrix *l, const size_t *set, size_t count,
                          const double *w);
/* Adds L of the listed features to a matrix whose rows and columns `first` ... are theirs: entries
 * of columns from `from` on, with the rows before them. */
void vxs_laplacian_add(const vxs_laplacian_matrix *l, const size_t *list, size_t count, size_t from,
                       double *gram, size_t stride);
/* L_jj */
static inline double vxs_laplacian_diagonal(const vxs_laplacian_matrix *l, size_t j)
{
    return l->p > 0 ? l->degree[j] : 0;
}

#endif
