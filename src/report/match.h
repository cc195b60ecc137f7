/* match.h - two maps that are compared; private to the report room. */
#ifndef VXS_REPORT_MATCH_H
#define VXS_REPORT_MATCH_H

#include "voxsift/internal/report.h"

/* One volume of each, on one grid. */
typedef struct {
    vxs_volume map[2]; /* finite values */
    uint8_t *selected[2];
    uint8_t *inside; /* voxels of the correlations */
} vxs_match_pair;

/* match_measures.c: fills in everything about a pair but kinds, thresholds and what is missing or
 * lost. Sets values that are not selected to 0. */
VXS_MUST_CHECK vxs_status vxs_match_measure_pair(vxs_match_pair *pair, double tolerance,
                                                 int connectivity, vxs_match_volume *result,
                                                 vxs_error *err);

#endif
