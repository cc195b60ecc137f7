/* pairs.h - what a model selected among features, squares and pairs; private to the report room. */
#ifndef VXS_REPORT_PAIRS_H
#define VXS_REPORT_PAIRS_H

#include "report/sections.h"

/* Texts belong to the table, and to the atlas. */
typedef struct {
    const char *name;
    const char *label; /* of the atlas; NULL: none */
    double at[3];      /* mm; NAN where features have no place */
} vxs_end;
typedef struct {
    const char *kind; /* pair, square, itself */
    double weight;
    vxs_end end[2]; /* the same but of a pair */
    bool two;
} vxs_pair;

/* pairs.c: as lines through the head, from the weakest to the strongest, which is the first; and on
 * a circle, where features have no place. */
VXS_MUST_CHECK vxs_status vxs_pairs_in_head(FILE *out, const vxs_places *places,
                                            const vxs_pair *pairs, size_t count, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_pairs_on_circle(FILE *out, const vxs_pair *pairs, size_t count,
                                              vxs_error *err);

#endif
