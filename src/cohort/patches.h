/* patches.h - rows that are voxels: what such a row consists of, and the images of a subject from
 * which it is taken; shared with the model room, which predicts whole images. */
#ifndef VXS_COHORT_PATCHES_H
#define VXS_COHORT_PATCHES_H

#include "cohort/build.h"

#define VXS_MOST_CONTRASTS 16
#define VXS_MOST_MEANS     8
#define VXS_MOST_EDGE      15

/* ---- What a row consists of ------------------------------------------------------------------ */

extern const char *const vxs_patch_scales[]; /* ends with NULL */

/* Features in this order: of each contrast the patch, x fastest, then its means; then x, y, z. */
typedef struct {
    char *contrasts[VXS_MOST_CONTRASTS]; /* columns of the table */
    size_t contrast_count, edge;
    double means[VXS_MOST_MEANS]; /* radii in mm */
    size_t mean_count;
    bool coordinates;
    int scale;            /* VXS_SCALE_NONE, _GLOBAL or _Z */
    char *mask;           /* "nonzero", "auto", or of files: the option that names them */
    double voxel_size[3]; /* of the first subject, or NAN */
    size_t p;
} vxs_patch_plan;
VXS_MUST_CHECK vxs_status vxs_patch_plan_make(const vxs_patch_settings *settings,
                                              vxs_patch_plan *plan, vxs_error *err);
/* From the key "patches" of a cohort or model. */
VXS_MUST_CHECK vxs_status vxs_patch_plan_read(const vxs_json *patches, const char *file,
                                              vxs_patch_plan *plan, vxs_error *err);
/* Writes this key. */
void vxs_patch_plan_json(vxs_json_writer *writer, const vxs_patch_plan *plan,
                         const vxs_patch_settings *settings);
void vxs_patch_plan_release(vxs_patch_plan *plan);
/* For prediction: other columns in place of those of training, and another mask, where the settings
 * name them. */
VXS_MUST_CHECK vxs_status vxs_patch_plan_repeat(const vxs_patch_settings *settings,
                                                vxs_patch_plan *plan, vxs_error *err);

/* One feature: a voxel of the patch, a mean, or a coordinate. */
typedef struct {
    size_t contrast; /* SIZE_MAX: a coordinate */
    int step[3];     /* to the right, to the front, upwards; in voxels */
    double radius;   /* of a mean, in mm; otherwise NAN */
    int axis;        /* of a coordinate; otherwise -1 */
} vxs_patch_feature;
vxs_patch_feature vxs_patch_feature_at(const vxs_patch_plan *plan, size_t j);
/* "t1w(-1,0,1)", "t1w mean 6 mm", "x"; freed by the caller. */
char *vxs_patch_feature_name(const vxs_patch_plan *plan, size_t j, vxs_error *err);

/* ---- Images of one subject ------------------------------------------------------------------- */

typedef struct {
    const char *contrasts[VXS_MOST_CONTRASTS];
    const char *mask, *label; /* or NULL */
} vxs_patch_paths;

typedef struct {
    vxs_grid grid;
    size_t voxels;
    float *values;   /* contrasts x voxels, scaled */
    float *label;    /* or NULL */
    uint8_t *mask;   /* voxels of the mask */
    uint8_t *usable; /* those of them all of whose features are finite */
    size_t in_mask, not_usable;
    int axis[3], sign[3]; /* right, front and up along the axes of the grid */
    double shift[VXS_MOST_CONTRASTS], factor[VXS_MOST_CONTRASTS];
    char hash[VXS_MOST_CONTRASTS + 2][VXS_HASH_TEXT]; /* contrasts, mask, label */
    char *path[VXS_MOST_CONTRASTS + 2];               /* the same; kept by a source, or NULL */
    int32_t *near[VXS_MOST_MEANS]; /* steps (i, j, k) to the voxels of each mean */
    size_t near_count[VXS_MOST_MEANS];
} vxs_patch_images;
VXS_MUST_CHECK vxs_status vxs_patch_images_read(const vxs_patch_plan *plan,
                                                const vxs_patch_paths *paths, double tolerance,
                                                vxs_patch_images *images, vxs_error *err);
void vxs_patch_images_release(vxs_patch_images *images);
/* Features of some voxels: values[j * stride + k] of feature j and voxel k. A patch that leaves the
 * image takes the nearest voxel of its edge; a mean is of the voxels that are in the image. */
void vxs_patch_values(const vxs_patch_plan *plan, const vxs_patch_images *images,
                      const size_t *voxels, size_t count, size_t stride, float *values);

/* True if voxels have the size of those that the plan was made of. */
bool vxs_patch_same_size(const vxs_patch_plan *plan, const vxs_patch_images *images);

/* ---- Subjects of a table --------------------------------------------------------------------- */

/* A subject each row; an unusable one keeps its reason. */
typedef struct {
    vxs_build build;
    vxs_cohort_settings sources; /* as the build has them: the first contrast alone */
    size_t column[VXS_MOST_CONTRASTS], label, mask; /* columns, or SIZE_MAX */
    const char *mask_file;
    double tolerance;
} vxs_patch_source;
/* Reads the table and finds the persons. `plan` names the contrasts, settings->sources.image_column
 * others in their place. */
VXS_MUST_CHECK vxs_status vxs_patch_source_open(const vxs_context *context,
                                                const vxs_patch_settings *settings,
                                                const vxs_patch_plan *plan, const char *table,
                                                vxs_patch_source *source, vxs_error *err);
void vxs_patch_source_release(vxs_patch_source *source);
/* The images of a subject; leaves it out, with a reason, where they cannot be used: then `there` is
 * false. */
VXS_MUST_CHECK vxs_status vxs_patch_source_read(vxs_patch_source *source,
                                                const vxs_patch_plan *plan, vxs_subject *subject,
                                                vxs_patch_images *images, bool *there,
                                                vxs_error *err);
/* Key "images": of each subject its files with their hashes. */
void vxs_patch_files_json(vxs_json_writer *writer, const vxs_patch_source *source,
                          const vxs_patch_plan *plan, const vxs_patch_images *images);

#endif
