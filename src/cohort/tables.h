/* tables.h - a matrix that does not come from images, on its way to disk; private to the cohort
 * room. */
#ifndef VXS_COHORT_TABLES_H
#define VXS_COHORT_TABLES_H

#include "cohort/build.h"

/* Dense: p x n values. Sparse, when starts is not NULL: the values that are not 0, feature by
 * feature; those of feature j stand at starts[j] ... starts[j + 1] - 1, with their subjects, which
 * ascend. */
typedef struct {
    float *values;
    int32_t *rows;
    size_t *starts;
    size_t n, p;
    uint64_t memory;    /* that making it takes at most */
    const char **names; /* owned by the table they come from; NULL for x0, x1, ... */
    vxs_table *features;
} vxs_matrix;

/* tables.c: room for p x n values, unless that is more than --mem. */
VXS_MUST_CHECK vxs_status vxs_matrix_dense(const vxs_build *build, vxs_matrix *m, vxs_error *err);

/* svmlight.c: subjects, their targets as the table, and the matrix, dense or sparse. */
VXS_MUST_CHECK vxs_status vxs_matrix_svmlight(vxs_build *build, vxs_matrix *m, vxs_error *err);

/* nonzeros.c: a sparse matrix without the values that are 0 by now and the subjects that are left
 * out, and its files. */
VXS_MUST_CHECK vxs_status vxs_nonzeros_pack(const vxs_build *build, vxs_matrix *m, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_nonzeros_write(const vxs_matrix *m, vxs_features_record *record,
                                             vxs_output *output, vxs_error *err);
/* Sizes by cohort.json, which is read; then the files, of which nothing is trusted. */
VXS_MUST_CHECK vxs_status vxs_nonzeros_open(vxs_cohort *cohort, vxs_error *err);

#endif
