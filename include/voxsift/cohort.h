/* voxsift/cohort.h - cohorts: a table of subjects joined to their images or other features. */
#ifndef VOXSIFT_COHORT_H
#define VOXSIFT_COHORT_H

#include "voxsift/core.h"
#include "voxsift/image.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default) /* declarations from here on are exported by the library */
#endif

/* A directory is a cohort when it holds this file. */
#define VXS_COHORT_FILE "cohort.json"

/* ---- Making a cohort ------------------------------------------------------------------------- */

enum { VXS_SCALE_NONE, VXS_SCALE_GLOBAL, VXS_SCALE_SUVR, VXS_SCALE_Z };
enum { VXS_NAN_ZERO, VXS_NAN_DROP, VXS_NAN_ERROR };

/* The sources (rows of vxs_source_params), the choices in making the cohort (rows of
 * vxs_cohort_params), and fields for prediction alone. */
typedef struct {
    const char *image_column, *pattern, *participants, *rows, *row_names, *id_column, *person;
    const char *features, *npy, *svmlight;
    vxs_texts only,
        exclude; /* expressions: every `only` and no `exclude` is true of a selected row */
    const char *mask, *reference, *reference_labels, *atlas, *atlas_names;
    double mask_fraction, voxel_size, smooth, tolerance;
    bool resample, regions, drop_bad, dry_run;
    const char
        *onto;    /* an image that defines the grid; NULL: the most frequent grid of the images */
    bool single;  /* one subject is enough */
    size_t width; /* svmlight text has at least this many features, named or not */
    int scale, nan;
    int64_t mem;
    struct vxs_origin *origin; /* private: file and lines of the subjects; or NULL */
} vxs_cohort_settings;
extern const vxs_param vxs_source_params[], vxs_cohort_params[];

/* The result: counts, times and sizes. */
typedef struct {
    size_t subjects, dropped, features;
    size_t not_selected;   /* subjects outside --only and --exclude; not counted as dropped */
    size_t people;         /* number of persons; one subject may be one scan of several */
    size_t people_perhaps; /* fewer, if the form of ids or columns makes that likely */
    size_t edges;          /* pairs of voxels in the mask that share a face */
    bool voxels;           /* features are voxels */
    bool sparse;           /* the matrix stores nonzero values only */
    size_t stored;         /* number of stored values of a sparse matrix */
    double seconds, expected_seconds; /* elapsed, and expected for the part that a dry run omits */
    uint64_t expected_bytes;          /* size of the feature files */
    uint64_t expected_memory;         /* peak memory */
} vxs_cohort_summary;

/* Joins, checks, masks, resamples, scales, smooths and writes a cohort directory. `sources` are the
 * arguments of the command line: a table, a folder, a list of images, a pattern in quotes, or one
 * 4D image; NULL-terminated, empty if settings name features, npy or svmlight. Every problem with a
 * subject is logged before the call fails or continues without the subject. */
VXS_MUST_CHECK vxs_status vxs_cohort_make(const vxs_context *context,
                                          const vxs_cohort_settings *settings,
                                          const char *const *sources, const char *directory,
                                          bool replace, vxs_cohort_summary *summary,
                                          vxs_error *err);

/* ---- Using a cohort -------------------------------------------------------------------------- */

/* instances: of bags; a cohort's files have the others. */
typedef enum {
    VXS_FEATURES_VOXELS,
    VXS_FEATURES_REGIONS,
    VXS_FEATURES_COLUMNS,
    VXS_FEATURES_INSTANCES
} vxs_feature_kind;

#define VXS_NO_COLUMN SIZE_MAX

/* An open cohort directory; features are memory-mapped, not read. Dense: p x n, row-major, so that
 * the values of a feature are contiguous. Sparse: nonzero values only, feature by feature; entries
 * starts[j] ... starts[j + 1] - 1 belong to feature j, with their subjects in `rows`, ascending. */
typedef struct {
    char *path;
    size_t n, p;
    vxs_feature_kind kind;
    const float *features; /* p x n; NULL if sparse */
    const float *values;   /* sparse values, subjects and offsets; NULL if dense */
    const int32_t *rows;
    const size_t *starts;
    vxs_table *people;    /* n rows in the order of subjects; headers as in the user's table */
    size_t id_column;     /* column of subject ids, such as ids of scans */
    size_t person_column; /* column of persons, or VXS_NO_COLUMN: derived from the ids */
    size_t *person;       /* n: person of each subject, 0 ... persons - 1 */
    size_t persons;
    struct vxs_json *about; /* cohort.json */
    vxs_grid grid;          /* grid of voxels and of regions */
    size_t *voxels;         /* voxel_count grid indices, ascending; p of them for voxel features */
    size_t voxel_count;
    vxs_table *names; /* feature names in column `name_column`; NULL for voxels and unnamed */
    size_t name_column;
    const uint32_t *region; /* private: of each of `voxels`, if not regions.nii.gz says */
    struct vxs_bags *bags;  /* private: rows are bags, features their instances; or NULL */
    vxs_npy npy[3];         /* private */
} vxs_cohort;
VXS_MUST_CHECK vxs_status vxs_cohort_open(const char *path, vxs_cohort *cohort, vxs_error *err);
void vxs_cohort_release(vxs_cohort *cohort);
/* The id of subject i as in the user's table; "?" if it has none. */
const char *vxs_cohort_id(const vxs_cohort *cohort, size_t i);
/* The name of a feature that is not a voxel. Without a name, writes "x12" for column 12 into the
 * buffer and returns it; NULL if the buffer is NULL. */
const char *vxs_cohort_feature(const vxs_cohort *cohort, size_t j, char buffer[32]);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
