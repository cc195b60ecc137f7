/* id_parts.h - ids as parts: runs of letters, runs of digits and dates; private to the cohort room.
 */
#ifndef VXS_COHORT_ID_PARTS_H
#define VXS_COHORT_ID_PARTS_H

#include "cohort/build.h"

typedef enum { VXS_ID_LETTERS, VXS_ID_DIGITS, VXS_ID_DATE } vxs_id_part_kind;

/* Case and leading zeros make no difference to a hash. */
typedef struct {
    uint64_t hash, before; /* of the part, and of all parts before it in their order */
    uint64_t number;       /* digits: their value, up to nine of them; date: its year, or 0 */
    vxs_name text;
    vxs_id_part_kind kind;
    bool apart;      /* the first one, or punctuation stands before it */
    bool visit;      /* begins a visit by its word or as a date: "BL", "V" of "V1", "20170312" */
    bool maybe_date; /* six digits such as 170312, or eight such as 12032017 */
    bool certain;    /* by a word that names nothing else */
    bool unit;       /* a word for a family, a site or the like */
    bool person;     /* "P" of "P01" */
} vxs_id_part;

typedef struct {
    vxs_id_part *part;
    size_t *first; /* of id i: part[first[i]] ... part[first[i + 1] - 2], then an end whose `before`
                      is of all parts; an id that is NULL has the end alone */
    size_t n;
} vxs_id_parts;

VXS_MUST_CHECK vxs_status vxs_id_parts_split(vxs_id_parts *parts, const char *const *ids, size_t n,
                                             vxs_error *err);
void vxs_id_parts_release(vxs_id_parts *parts);
size_t vxs_id_parts_count(const vxs_id_parts *parts, size_t i);
/* The hash of the parts from a to b - 1 of id i, and of all its other parts. */
uint64_t vxs_id_parts_run(const vxs_id_parts *parts, size_t i, size_t a, size_t b);
uint64_t vxs_id_parts_without(const vxs_id_parts *parts, size_t i, size_t a, size_t b);
uint64_t vxs_id_parts_hash(const char *text, size_t length);

/* Numbers equal keys alike, from 0 on in their order; VXS_NOBODY where `in` is false. Expected time
 * is linear. */
VXS_MUST_CHECK vxs_status vxs_number_keys(const uint64_t *key, const bool *in, size_t n,
                                          size_t *number, size_t *count, vxs_error *err);

/* id_tails.c: persons of ids that end with what is each scan's own, in the way of vxs_shape_of_ids;
 * *count and numbers stay where there are none, or where *count persons that were found by other
 * forms are fewer. */
VXS_MUST_CHECK vxs_status vxs_id_tails_persons(const vxs_id_parts *parts, size_t known,
                                               size_t *number, size_t *count, vxs_error *err);

#endif
