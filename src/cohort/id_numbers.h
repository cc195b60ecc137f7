/* id_numbers.h - numbers in ids after a part that may be a visit, a site or a group; private to the
 * cohort room. */
#ifndef VXS_COHORT_ID_NUMBERS_H
#define VXS_COHORT_ID_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number in an id, the part before it (head), and the other parts of the id (place). */
typedef struct {
    uint64_t place, head, number;
} vxs_id_number;

typedef struct {
    double count, span; /* total over places of the numbers, and of the largest number per head */
    bool alike;         /* heads share numbers more often than by chance */
    bool differ;        /* heads do not share numbers, although the test has the power to show it */
    bool begin_again;   /* numbers begin with 1 under each head, with few gaps: 1_01 ... 1_40 */
    bool end_apart;     /* and their ends differ: probability 1 in 1000 for the same persons */
} vxs_id_numbers;

/* Sorts `list`, then tests whether heads share numbers. */
void vxs_id_numbers_compare(vxs_id_number *list, size_t count, vxs_id_numbers *found);

#endif
