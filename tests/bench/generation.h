/* generation.h - the data of generation.c: what they are, and columns of them. */
#ifndef VXS_BENCH_GENERATION_H
#define VXS_BENCH_GENERATION_H

#include "voxsift/internal/all.h"

enum { STREAM_X, STREAM_TEST, STREAM_CHOICE, STREAM_WEIGHT };

typedef struct {
    size_t n, p, test, known; /* rows, columns, rows of the test, columns with weights */
    size_t group;             /* columns of a group; 0: no groups, and columns are stored */
    uint64_t seed;
    bool uniform;
    double cost, retrain, rounds;
    double every;    /* a line at every so many rounds; 0: the last */
    double inner;    /* gap of each round's problem */
    float *quantile; /* of columns that are not stored */
    float *x;
    size_t *index; /* of the known, with `weight`, ascending */
    double *weight, *y, *test_y;
} study;

/* Columns with weights. */
typedef struct {
    size_t count;
    size_t *index;
    double *weight;
} choice;

/* Memory, or the end. */
void *get(size_t count, size_t size);
void must(vxs_status status, const vxs_error *err);

/* Chooses columns, weights and labels. */
void make_study(study *s);
/* Keeps the columns, unless they are of groups. */
void store_columns(study *s);
/* Rows of a column as they are everywhere. */
void make_column(const study *s, int stream, size_t rows, size_t j, float *column);
/* z = X w over the training rows, or those of the test. */
void multiply(const study *s, int stream, const choice *c, double *z);
/* Of the columns that are kept, or makes them when they are asked for. */
vxs_design *make_design(const study *s);

#endif
