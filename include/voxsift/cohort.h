/* voxsift/cohort.h - cohorts: a table of subjects joined to what was measured on them. */
#ifndef VOXSIFT_COHORT_H
#define VOXSIFT_COHORT_H

#include "voxsift/files.h"
#include "voxsift/image.h"

#ifdef __cplusplus
extern "C" {
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
    const char *mask, *reference, *reference_labels, *atlas, *atlas_names;
    double mask_fraction, voxel_size, smooth, tolerance;
    bool resample, regions, drop_bad, dry_run;
    const char *onto; /* an image on whose grid they must be; NULL: that of most of them */
    bool single;      /* one subject is enough */
    size_t width;     /* svmlight text has at least this many features, named or not */
    int scale, nan;
    int64_t mem;
} vxs_cohort_settings;
extern const vxs_param vxs_source_params[], vxs_cohort_params[];

/* What came of it. */
typedef struct {
    size_t subjects, dropped, features;
    size_t people; /* persons that the subjects are; a subject may be one scan of several */
    size_t edges;  /* pairs of voxels in the mask that share a face */
    bool voxels;   /* features are voxels */
    bool sparse;   /* only values that are not 0 are stored */
    size_t stored; /* of a sparse one: so many */
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
    vxs_json *about; /* cohort.json */
    vxs_grid grid;   /* of voxels and regions */
    size_t *voxels;  /* of the grid, ascending; p of them when features are voxels */
    size_t voxel_count;
    vxs_table *names; /* features that are not voxels have them in column `name_column`; or NULL */
    size_t name_column;
    vxs_npy npy[3]; /* private */
} vxs_cohort;
VXS_MUST_CHECK vxs_status vxs_cohort_open(const char *path, vxs_cohort *cohort, vxs_error *err);
void vxs_cohort_release(vxs_cohort *cohort);
/* As the table calls subject i; "?" where it has no id. */
const char *vxs_cohort_id(const vxs_cohort *cohort, size_t i);
/* Who may be one person though the cohort takes them for several, as the making of it warned: the
 * words of its suspicion k, with two of these rows, which ascend; NULL where these rows are not
 * concerned, and not `there` behind the last one. */
VXS_MUST_CHECK vxs_status vxs_cohort_suspicion(const vxs_cohort *cohort, size_t k,
                                               const size_t *rows, size_t n, bool *there,
                                               char **words, vxs_error *err);
/* A number for each id that is not NULL, the same where the form of all of them makes it likely
 * that two are of one person (054_1 and 054_2), and one of them is among the first `known`; without
 * such a form *count is 0. */
VXS_MUST_CHECK vxs_status vxs_persons_perhaps(const char *const *ids, size_t n, size_t known,
                                              size_t *number, size_t *count, vxs_error *err);
/* The columns of ids and of persons, as the user calls them; one and the same where the ids say who
 * is who. */
const char *vxs_cohort_id_header(const vxs_cohort *cohort);
const char *vxs_cohort_person_header(const vxs_cohort *cohort);
/* The person that an id or the cell of a column names, as persons are compared but for case: "7" of
 * "sub-007_ses-1". */
char *vxs_person_of(const char *id, vxs_error *err);
/* Adds weight times feature j to a sum for each subject. */
void vxs_cohort_add(const vxs_cohort *cohort, size_t j, double weight, double *sums);
/* A number for each subject that is the same where two subjects have the same feature values, and
 * hardly ever else, from 8,192 features at most; 0 where these say so little that people are alike
 * by chance (prints.c). */
VXS_MUST_CHECK vxs_status vxs_cohort_prints(const vxs_cohort *cohort, uint64_t *print,
                                            vxs_error *err);
/* Whether the files of features are those that the cohort was made with, by their SHA-256, which
 * reads them; VXS_OK as well when cohort.json records none, as of cohorts that other programs made.
 */
VXS_MUST_CHECK vxs_status vxs_cohort_verify(const vxs_cohort *cohort, vxs_error *err);
/* What cohort.json records of these files, an array of {file, sha256}; NULL: nothing. */
const vxs_json *vxs_cohort_record(const vxs_cohort *cohort);
/* Refuses a value of a feature that is NaN or infinite, by the names of feature and subject: for
 * vxs_design_set_owner, `cohort` being a vxs_cohort. */
VXS_MUST_CHECK vxs_status vxs_cohort_refuse_value(const void *cohort, size_t j, size_t i,
                                                  double value, vxs_error *err);
/* Refuses feature j if it has such a value; for those who read single features without a design. */
VXS_MUST_CHECK vxs_status vxs_cohort_check_feature(const vxs_cohort *cohort, size_t j,
                                                   vxs_error *err);
/* The name of a feature that is not a voxel, or "x12" for column 12 of an unnamed matrix. */
const char *vxs_cohort_feature(const vxs_cohort *cohort, size_t j, char buffer[32]);

/* Regions that features are means of, as the directories of cohorts and models have them in
 * regions.nii.gz and regions.tsv, where a row is a region; `count` is how many there are. */
#define VXS_NO_REGION SIZE_MAX
typedef struct {
    size_t count;
    vxs_volume labels;
    size_t *region; /* of a label */
    size_t most;    /* the largest label */
} vxs_cohort_regions;
VXS_MUST_CHECK vxs_status vxs_cohort_regions_read(const char *directory, size_t count,
                                                  vxs_cohort_regions *regions, vxs_error *err);
/* Whatever reading returned. */
void vxs_cohort_regions_release(vxs_cohort_regions *regions);
/* Of a voxel of the labels. */
size_t vxs_cohort_region_at(const vxs_cohort_regions *regions, size_t voxel);
/* The mean place of each region's voxels in mm, of `at` that is 0. */
VXS_MUST_CHECK vxs_status vxs_cohort_region_centres(const vxs_cohort_regions *regions,
                                                    double (*at)[3], vxs_error *err);

#ifdef __cplusplus
}
#endif

#endif
