/* voxsift/cohort.h - cohorts: a table of subjects joined to what was measured on them. */
#ifndef VOXSIFT_COHORT_H
#define VOXSIFT_COHORT_H

#include "voxsift/core.h"
#include "voxsift/image.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default) /* what follows is the library's, and nothing else is */
#endif

/* A directory is a cohort when it holds this file. */
#define VXS_COHORT_FILE "cohort.json"

/* ---- Making a cohort ------------------------------------------------------------------------- */

enum { VXS_SCALE_NONE, VXS_SCALE_GLOBAL, VXS_SCALE_SUVR, VXS_SCALE_Z };
enum { VXS_NAN_ZERO, VXS_NAN_DROP, VXS_NAN_ERROR };

/* What to make it of (rows of vxs_source_params), and how (rows of vxs_cohort_params); the rest is
 * for prediction. */
typedef struct {
    const char *image_column, *pattern, *participants, *rows, *row_names, *id_column, *person;
    const char *features, *npy, *svmlight;
    vxs_texts only, exclude; /* expressions of which all, or none, must be true of a row */
    const char *mask, *reference, *reference_labels, *atlas, *atlas_names;
    double mask_fraction, voxel_size, smooth, tolerance;
    bool resample, regions, drop_bad, dry_run;
    const char *onto; /* an image on whose grid they must be; NULL: that of most of them */
    bool single;      /* one subject is enough */
    size_t width;     /* svmlight text has at least this many features, named or not */
    int scale, nan;
    int64_t mem;
    struct vxs_origin *origin; /* private: which file and lines the subjects are from; or NULL */
} vxs_cohort_settings;
extern const vxs_param vxs_source_params[], vxs_cohort_params[];

/* What came of it. */
typedef struct {
    size_t subjects, dropped, features;
    size_t not_selected;   /* by --only and --exclude; not among those dropped */
    size_t people;         /* persons that the subjects are; a subject may be one scan of several */
    size_t people_perhaps; /* fewer where the form of ids or columns makes that likely */
    size_t edges;          /* pairs of voxels in the mask that share a face */
    bool voxels;           /* features are voxels */
    bool sparse;           /* only values that are not 0 are stored */
    size_t stored;         /* of a sparse one: so many */
    double seconds, expected_seconds; /* spent, and for the part that a dry run leaves out */
    uint64_t expected_bytes;          /* of the features' files */
    uint64_t expected_memory;         /* peak */
} vxs_cohort_summary;

/* Joins, checks, masks, resamples, scales, smooths and writes a cohort directory. Sources are what
 * stands on the command line: a table, a folder, a list of images, a pattern in quotes, or one 4D
 * image; none when settings name features, npy or svmlight. Every problem with a subject is logged
 * before the call fails or goes on without it. */
VXS_MUST_CHECK vxs_status vxs_cohort_make(const vxs_context *context,
                                          const vxs_cohort_settings *settings,
                                          const char *const *sources, const char *directory,
                                          bool replace, vxs_cohort_summary *summary,
                                          vxs_error *err);

/* ---- Using a cohort -------------------------------------------------------------------------- */

typedef enum { VXS_FEATURES_VOXELS, VXS_FEATURES_REGIONS, VXS_FEATURES_COLUMNS } vxs_feature_kind;

#define VXS_NO_COLUMN SIZE_MAX

/* A cohort directory that is open; features are mapped, not read. Dense ones are p x n: the values
 * of a feature stand together. Of sparse ones only the values that are not 0 are there: those of
 * feature j stand at starts[j] ... starts[j + 1] - 1, with their subjects in `rows`, which ascend.
 */
typedef struct {
    char *path;
    size_t n, p;
    vxs_feature_kind kind;
    const float *features; /* NULL when sparse */
    const float *values;   /* these three are NULL when dense */
    const int32_t *rows;
    const size_t *starts;
    vxs_table *people; /* n rows, in the order of the features' columns; as the user calls them */
    size_t id_column;  /* of the subjects, such as scans */
    size_t person_column; /* of who they are, or VXS_NO_COLUMN: the ids say that */
    size_t *person;       /* of a subject: 0 ... persons - 1 */
    size_t persons;
    struct vxs_json *about; /* cohort.json */
    vxs_grid grid;          /* of voxels and regions */
    size_t *voxels;         /* of the grid, ascending; p of them when features are voxels */
    size_t voxel_count;
    vxs_table *names; /* features that are not voxels have them in column `name_column`; or NULL */
    size_t name_column;
    vxs_npy npy[3]; /* private */
} vxs_cohort;
VXS_MUST_CHECK vxs_status vxs_cohort_open(const char *path, vxs_cohort *cohort, vxs_error *err);
void vxs_cohort_release(vxs_cohort *cohort);
/* As the table calls subject i; "?" where it has no id. */
const char *vxs_cohort_id(const vxs_cohort *cohort, size_t i);
/* The name of a feature that is not a voxel, or "x12" for column 12 of an unnamed matrix. */
const char *vxs_cohort_feature(const vxs_cohort *cohort, size_t j, char buffer[32]);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
