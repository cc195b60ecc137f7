/* blocks.h - examples of feature blocks, and their scores by brute force. */
#ifndef VXS_TESTS_UNITS_H
#define VXS_TESTS_UNITS_H

#include "tests/core/check.h"

typedef struct {
    size_t n, p;
    float *x; /* p x n */
    double *v;
} example;

/* Every seventh column is one that was there before, every ninth is constant. */
example blocks_example(uint64_t stream, size_t n, size_t p);
void blocks_release(example *e);
/* As it is, standardized, or standardized over every second row. */
enum { RAW, STANDARDISED, SOME_ROWS, WAYS };
vxs_design *blocks_design(const example *e, int way, int threads);

/* Maps of every kind. */
enum { MAPS = 5 };
extern const vxs_feature_map blocks_maps[MAPS];

/* The `most` best are in order, each has the score that its columns have, and no other has more
 * than the last one. */
void blocks_agree(vxs_blocks *blocks, const double *v, size_t most);
/* The scores of every `every`-th unit from `first` on are those of their columns; others are not
 * written. */
void blocks_scores_agree(vxs_blocks *blocks, const double *v, size_t first, size_t every);
/* Asked for fewer, units leave out the last ones, and none else: whatever was not looked at would
 * have stood behind, also where scores are the same. */
void units_fewer_are_the_first(vxs_blocks *blocks, const double *v, const size_t *mosts,
                               size_t how_many);
/* The same bits, whoever finds them. */
void blocks_same(vxs_blocks *a, vxs_blocks *b, const double *v, size_t most);

#endif
