/* id_parts.h - ids split into parts: runs of letters, runs of digits and dates; private to the
 * cohort room. */
#ifndef VXS_COHORT_ID_PARTS_H
#define VXS_COHORT_ID_PARTS_H

#include "cohort/build.h"

typedef enum { VXS_ID_LETTERS, VXS_ID_DIGITS, VXS_ID_DATE } vxs_id_part_kind;

/* A part of an id. Hashes ignore case and leading zeros. */
typedef struct {
    uint64_t hash, before; /* hash of the part, and of all parts before it in their order */
    uint64_t number;       /* digits: value of at most nine of them; date: year, or 0 */
    vxs_name text;
    vxs_id_part_kind kind;
    bool apart;      /* first part, or after punctuation */
    bool visit;      /* begins a visit by its word or as a date: "BL", "V" of "V1", "20170312" */
    bool maybe_date; /* six digits such as 170312, or eight such as 12032017 */
    bool certain;    /* `visit` by an unambiguous word */
    bool unit;       /* a word for a family, a site or the like */
    bool person;     /* "P" of "P01" */
} vxs_id_part;

typedef struct {
    /* id i has part[first[i]] ... part[first[i + 1] - 2] and an end whose `before` covers all
     * parts; a NULL id has the end alone */
    vxs_id_part *part;
    size_t *first;
    size_t n;
} vxs_id_parts;

VXS_MUST_CHECK vxs_status vxs_id_parts_split(vxs_id_parts *parts, const char *const *ids, size_t n,
                                             vxs_error *err);
void vxs_id_parts_release(vxs_id_parts *parts);
size_t vxs_id_parts_count(const vxs_id_parts *parts, size_t i);
/* The hash of parts a ... b - 1 of id i, and of all its other parts. */
uint64_t vxs_id_parts_run(const vxs_id_parts *parts, size_t i, size_t a, size_t b);
uint64_t vxs_id_parts_without(const vxs_id_parts *parts, size_t i, size_t a, size_t b);
uint64_t vxs_id_parts_hash(const char *text, size_t length);

/* Numbers equal keys alike, from 0 in order of first occurrence; VXS_NO_PERSON where `in` is false.
 * Expected time is linear. */
VXS_MUST_CHECK vxs_status vxs_number_keys(const uint64_t *key, const bool *in, size_t n,
                                          size_t *number, size_t *count, vxs_error *err);

/* id_tails.c: numbers the persons of ids that end with a number or code of the scan, like
 * vxs_shape_of_ids; leaves *count and numbers unchanged if ids have no such tails, or if other
 * forms gave *count persons and that is fewer. */
VXS_MUST_CHECK vxs_status vxs_id_tails_persons(const vxs_id_parts *parts, size_t known,
                                               size_t *number, size_t *count, vxs_error *err);

#endif
