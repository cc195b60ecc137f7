/* id_numbers.h - numbers of ids behind a part that may be a visit, a site or a group; private to
 * the cohort room. */
#ifndef VXS_COHORT_ID_NUMBERS_H
#define VXS_COHORT_ID_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number of one place (the other parts of the id), under one head (the part before it). */
typedef struct {
    uint64_t place, head, number;
} vxs_id_number;

typedef struct {
    double count, span; /* numbers, and the largest of each head, over all places */
    bool alike;         /* heads have the same numbers, beyond chance */
    bool differ;        /* and could have shown that, but have not */
    bool begin_again;   /* numbers begin with 1 under each head, with few gaps: 1_01 ... 1_40 */
    bool end_apart;     /* and end elsewhere, which the same persons do by chance once in 1000 */
} vxs_id_numbers;

/* Sorts them. */
void vxs_id_numbers_compare(vxs_id_number *list, size_t count, vxs_id_numbers *found);

#endif
