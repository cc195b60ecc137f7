/* tables.h - feature matrices from tables rather than images, before they are written; private to
 * the cohort room. */
#ifndef VXS_COHORT_TABLES_H
#define VXS_COHORT_TABLES_H

#include "cohort/build.h"

/* Dense: p x n values. Sparse, if starts is not NULL: nonzero values, feature by feature; entries
 * starts[j] ... starts[j + 1] - 1 belong to feature j, with their subjects in `rows`, ascending. */
typedef struct {
    float *values;
    int32_t *rows;
    size_t *starts;
    size_t n, p;
    uint64_t memory;    /* peak memory of making it */
    const char **names; /* owned by the table of features; NULL for x0, x1, ... */
    vxs_table *features;
} vxs_matrix;

/* tables.c: allocates p x n values, unless that exceeds --mem. */
VXS_MUST_CHECK vxs_status vxs_matrix_dense(const vxs_build *build, vxs_matrix *m, vxs_error *err);
/* tables.c: writes the files of the features, of the included subjects. */
VXS_MUST_CHECK vxs_status vxs_matrix_write(vxs_build *build, const vxs_matrix *m,
                                           vxs_output *output, vxs_error *err);
void vxs_matrix_summarize(const vxs_build *build, const vxs_matrix *m, vxs_cohort_summary *summary);
void vxs_matrix_release(vxs_matrix *m);

/* svmlight.c: reads subjects, a table of their targets, and the matrix, dense or sparse. */
VXS_MUST_CHECK vxs_status vxs_matrix_svmlight(vxs_build *build, vxs_matrix *m, vxs_error *err);

/* nonzeros.c: removes zeros and left-out subjects from a sparse matrix, and writes its files. */
VXS_MUST_CHECK vxs_status vxs_nonzeros_pack(const vxs_build *build, vxs_matrix *m, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_nonzeros_write(const vxs_matrix *m, vxs_features_record *record,
                                             vxs_output *output, vxs_error *err);
/* Reads the sizes from cohort.json, then maps the files and checks all of their offsets and
 * indices. */
VXS_MUST_CHECK vxs_status vxs_nonzeros_open(vxs_cohort *cohort, vxs_error *err);

#endif
