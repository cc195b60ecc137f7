/* svm_data.h - what benchmarks of the sparse linear SVM read and write, in a folder: size (n, p, 1
 * if sparse; uint64), y (doubles) and columns (floats), of sparse ones with rows (int32) and starts
 * (uint64); w, the weights and then b of each fit (doubles). What fails ends the program. */
#ifndef VXS_TESTS_BENCH_SVM_DATA_H
#define VXS_TESTS_BENCH_SVM_DATA_H

#include "voxsift/internal/all.h"

typedef struct {
    const char *folder;
    uint64_t size[3]; /* n, p, sparse */
    double *y;
    float *values;
    int32_t *rows;  /* NULL: dense */
    size_t *starts; /* p + 1, or NULL */
} svm_data;

void svm_must(vxs_status status, const vxs_error *err);
void *svm_get(size_t count, size_t size);
FILE *svm_open(const svm_data *data, const char *name, const char *mode);
void svm_load(svm_data *data, const char *folder);
void svm_free(svm_data *data);
/* p weights, then b. */
void svm_write(const svm_data *data, const double *w, FILE *file);
double svm_cpu_seconds(void);
/* Its place in `words`, which end with NULL. */
int svm_place_of(const char *word, const char *const *words);

#endif
