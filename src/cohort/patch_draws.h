/* patch_draws.h - the voxels that are drawn from subjects, on their way to a cohort; private to the
 * cohort room. */
#ifndef VXS_COHORT_PATCH_DRAWS_H
#define VXS_COHORT_PATCH_DRAWS_H

#include "cohort/patches.h"

/* The voxels drawn from one subject, in the order of their places. */
typedef struct {
    vxs_subject *subject;
    vxs_patch_images images; /* without values, once the rows are taken */
    size_t count, *voxel;
    int32_t *label;
    float *values; /* p x count */
    double (*at)[3];
    size_t outside; /* voxels with a label above 0 outside of the mask */
} vxs_drawn;

typedef struct {
    const vxs_patch_settings *settings;
    vxs_patch_plan plan;
    vxs_patch_source source;
    vxs_drawn *each; /* kept subjects */
    size_t count, rows;
    size_t label_count; /* ascending */
    int32_t label[VXS_MOST_LABELS];
    size_t sampled[VXS_MOST_LABELS];
    bool plain; /* labels are 0 and 1 alone */
    char headers[8][80];
    char **names; /* of features */
} vxs_patch_draws;

/* patch_draws.c: draws voxels of each class of a subject from its images. */
VXS_MUST_CHECK vxs_status vxs_draw_voxels(vxs_patch_draws *draws, vxs_drawn *drawn, vxs_error *err);

/* patch_rows.c: writes the cohort; output NULL: counts alone. */
VXS_MUST_CHECK vxs_status vxs_patch_rows_write(vxs_patch_draws *draws, vxs_output *output,
                                               vxs_cohort_summary *summary, vxs_error *err);

#endif
