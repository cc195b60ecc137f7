/* voxsift/internal/cohort.h - persons, files and regions of cohorts; shared by the library's rooms
 * and the command line, not installed. */
#ifndef VOXSIFT_INTERNAL_COHORT_H
#define VOXSIFT_INTERNAL_COHORT_H

#include "voxsift/cohort.h"
#include "voxsift/internal/core.h"
#include "voxsift/internal/files.h"
#include "voxsift/internal/image.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const char *const vxs_feature_kind_names[]; /* "voxels", ...; ends with NULL */

/* The source table of a cohort's subjects: messages name its lines if the cohort's own files are
 * temporary. */
typedef struct vxs_origin {
    char *table;   /* path of the table; NULL: none */
    size_t *lines; /* line of each subject; NULL: unknown for some subject */
} vxs_origin;
void vxs_origin_release(vxs_origin *origin);

/* ---- Using a cohort -------------------------------------------------------------------------- */

/* The warning k of the cohort about subjects that may be one person although the cohort counts
 * several: `words` names two of these rows (ascending), or is NULL if the warning does not concern
 * them. `there` is false after the last warning. */
VXS_MUST_CHECK vxs_status vxs_cohort_suspicion(const vxs_cohort *cohort, size_t k,
                                               const size_t *rows, size_t n, bool *there,
                                               char **words, vxs_error *err);
/* Numbers the probable persons of ids by the form of all ids (054_1 and 054_2 are one person, if
 * one of them is among the first `known`). SIZE_MAX: the id is punctuation alone or NULL; *count is
 * 0 if ids have no such form. */
VXS_MUST_CHECK vxs_status vxs_persons_perhaps(const char *const *ids, size_t n, size_t known,
                                              size_t *number, size_t *count, vxs_error *err);
/* Headers of the columns of ids and of persons in the user's table; the same if ids contain the
 * persons. */
const char *vxs_cohort_id_header(const vxs_cohort *cohort);
const char *vxs_cohort_person_header(const vxs_cohort *cohort);
/* The person in an id or in a cell of a column, in the form that comparison uses, but with its
 * case: "7" for "sub-007_ses-1". */
char *vxs_person_of(const char *id, vxs_error *err);
/* sums[i] += weight * (value of feature j for subject i), for all n subjects. */
void vxs_cohort_add(const vxs_cohort *cohort, size_t j, double weight, double *sums);
/* n fingerprints, from at most 8,192 features: equal if two subjects have equal feature values, and
 * almost never otherwise; 0 if the values carry so little information that equality may be chance
 * (prints.c). */
VXS_MUST_CHECK vxs_status vxs_cohort_prints(const vxs_cohort *cohort, uint64_t *print,
                                            vxs_error *err);
/* n x VXS_SKETCH projections: nearly equal if two subjects have the same image up to scale and
 * rounding; NaN if features are not voxels or the image carries too little information. */
enum { VXS_SKETCH = 8 };
VXS_MUST_CHECK vxs_status vxs_cohort_sketches(const vxs_cohort *cohort, double *numbers,
                                              vxs_error *err);
/* Reads the feature files and compares their SHA-256 with cohort.json; VXS_OK also if cohort.json
 * records none, as in cohorts of other programs. */
VXS_MUST_CHECK vxs_status vxs_cohort_verify(const vxs_cohort *cohort, vxs_error *err);
/* The record of the feature files in cohort.json, an array of {file, sha256}; NULL: none. */
const vxs_json *vxs_cohort_record(const vxs_cohort *cohort);
/* The state of the open feature files: size, time of last change, and SHA-256. The hash is that of
 * cohort.json if cohort.json is newer than the file, otherwise that of the bytes. */
enum { VXS_FEATURES_FILES = 3 };
typedef struct {
    const char *name; /* name within the cohort's directory */
    uint64_t size;
    int64_t seconds, nanoseconds; /* time of last change */
    char hash[VXS_HASH_TEXT];
    bool hashed; /* the hash is computed from the bytes */
} vxs_features_file;
typedef struct {
    size_t count;
    vxs_features_file file[VXS_FEATURES_FILES];
} vxs_features_state;
VXS_MUST_CHECK vxs_status vxs_features_read_state(const vxs_cohort *cohort,
                                                  vxs_features_state *state, vxs_error *err);
/* Refuses features that differ from those that `made` was computed from; hashes a file only if its
 * size or time of change differs, and once for all calls with the same `now`. */
VXS_MUST_CHECK vxs_status vxs_features_check_unchanged(const vxs_cohort *cohort,
                                                       vxs_features_state *now,
                                                       const vxs_features_state *then,
                                                       const char *made, vxs_error *err);
/* Refuses a NaN or infinite feature value and names feature and subject: callback of
 * vxs_design_set_owner, with a vxs_cohort as `cohort`. */
VXS_MUST_CHECK vxs_status vxs_cohort_refuse_value(const void *cohort, size_t j, size_t i,
                                                  double value, vxs_error *err);
/* Refuses feature j if it has a NaN or infinite value; for code that reads single features without
 * a design. */
VXS_MUST_CHECK vxs_status vxs_cohort_check_feature(const vxs_cohort *cohort, size_t j,
                                                   vxs_error *err);

/* The regions of features that are region means: regions.nii.gz and regions.tsv (a row per region)
 * of a cohort or model directory; `count` is the number of regions. */
#define VXS_NO_REGION SIZE_MAX
typedef struct {
    size_t count;
    vxs_volume labels;
    size_t *region; /* region of each label */
    size_t most;    /* the largest label */
} vxs_cohort_regions;
VXS_MUST_CHECK vxs_status vxs_cohort_regions_read(const char *directory, size_t count,
                                                  vxs_cohort_regions *regions, vxs_error *err);
/* Of an open cohort, also of one whose regions are clusters that no file holds. */
VXS_MUST_CHECK vxs_status vxs_cohort_regions_of(const vxs_cohort *cohort,
                                                vxs_cohort_regions *regions, vxs_error *err);
/* Also valid after a failed read. */
void vxs_cohort_regions_release(vxs_cohort_regions *regions);
/* The region of a voxel of the labels, or VXS_NO_REGION. */
size_t vxs_cohort_region_at(const vxs_cohort_regions *regions, size_t voxel);
/* Adds the mean position in mm of each region's voxels to `at`, which is zero on entry. */
VXS_MUST_CHECK vxs_status vxs_cohort_region_centers(const vxs_cohort_regions *regions,
                                                    double (*at)[3], vxs_error *err);

/* ---- Preprocessing --------------------------------------------------------------------------- */

/* A step between the voxels of an image and features (steps.c). cohort.json keeps its option, which
 * new subjects of a model repeat; a cohort made with another value is refused. */
struct vxs_build;
struct vxs_subject;
enum { VXS_STEP_ALSO = 2 };
typedef struct {
    const char *name;                /* its option, a row of vxs_cohort_params */
    const char *also[VXS_STEP_ALSO]; /* options for it alone; cohort.json keeps them */
    /* changes an image's values where the option has another value than its default; NULL: that is
     * done while images are read */
    vxs_status (*run)(const struct vxs_build *build, struct vxs_subject *subject,
                      vxs_volume *volume, vxs_error *err);
    uint64_t voxel_bytes;       /* of memory for each voxel while it runs */
    const char *done, *unit;    /* around the value in `voxsift info`; NULL: not shown there */
    const char *before, *after; /* around the value in a report; NULL: not shown there */
} vxs_step;
extern const vxs_step vxs_steps[]; /* in the order of their execution; ends with name NULL */
const vxs_param *vxs_step_param(const vxs_step *step);
/* True if a step changes values. */
bool vxs_steps_asked(const vxs_cohort_settings *settings);

/* ---- Rows that are voxels -------------------------------------------------------------------- */

/* Rows of vxs_patch_params. */
typedef struct {
    vxs_cohort_settings sources; /* first; image_column: a column for each contrast, with commas */
    const char *label_column, *mask, *mask_column, *means;
    double label_threshold;
    int64_t patch, per_class, seed;
    int scale; /* a place in vxs_patch_scales */
    bool coordinates;
} vxs_patch_settings;
extern const vxs_param vxs_patch_params[];

enum { VXS_MOST_LABELS = 64 };
typedef struct {
    vxs_cohort_summary cohort; /* its subjects are voxels */
    size_t subjects;           /* whose voxels these are */
    size_t in_mask, outside;   /* voxels of all masks; others, with a label above 0 */
    size_t label_count;        /* different labels, ascending, and voxels of each */
    int32_t label[VXS_MOST_LABELS];
    size_t sampled[VXS_MOST_LABELS];
} vxs_patch_summary;
/* A cohort whose rows are voxels of the images that a table names, with their patches as features
 * and their labels as a column; persons are those of the table. */
VXS_MUST_CHECK vxs_status vxs_patches_make(const vxs_context *context,
                                           const vxs_patch_settings *settings, const char *table,
                                           const char *directory, bool replace,
                                           vxs_patch_summary *summary, vxs_error *err);
/* How the rows of a cohort or model were made if they are voxels; otherwise NULL. */
const vxs_json *vxs_patches_of(const vxs_json *about);
/* The same of an open cohort; NULL where voxels are the instances of bags. */
const vxs_json *vxs_cohort_patches(const vxs_cohort *cohort);
/* How the voxels were made that are rows, or instances of bags; otherwise NULL. */
#define VXS_INSTANCE_PATCHES "instance_patches"
const vxs_json *vxs_patches_within(const vxs_json *about);

/* ---- Rows that are bags of instances --------------------------------------------------------- */

/* Cubes of voxels (cubes.c). */
#define VXS_NO_VOXEL SIZE_MAX
typedef struct {
    size_t edge[3], width; /* in voxels; voxels of a cube */
    size_t count;
    size_t *voxel;  /* count x width: places in the mask, VXS_NO_VOXEL outside */
    double *center; /* count x 3, in mm */
    size_t *corner; /* count x 3: the first voxel */
} vxs_cubes;
/* `voxels`: of the mask, as those of a cohort. */
VXS_MUST_CHECK vxs_status vxs_cubes_new(const vxs_grid *grid, const size_t *voxels, size_t count,
                                        double mm, vxs_cubes **cubes, vxs_error *err);
void vxs_cubes_free(vxs_cubes *cubes);
/* Adds a value to a map of the grid, in equal parts at the cube's voxels in the mask. */
void vxs_cubes_spread(const vxs_cubes *cubes, size_t cube, const size_t *voxels, double value,
                      double *map);

/* A cohort whose subjects are bags of instances, which are its features. */
typedef struct vxs_bags {
    size_t count, width; /* instances; features of each of them */
    float *values;       /* count x width, one instance after the other, those of a bag together */
    size_t *first;       /* n + 1: instances of bag i are first[i] ... first[i + 1] - 1 */
    size_t *of_row; /* count: the bag of each row of the cohort's files; NULL: row k is bag k */
    double *at;     /* count x 3: centers in mm; NULL: they have no place */
    double near;    /* instances with centers that are farther apart are not compared */
    vxs_feature_kind kind; /* of the features of an instance */
    vxs_table *names;      /* of these features, as those of a cohort */
    size_t name_column;
    vxs_cubes *cubes; /* instances of each bag, in this order; NULL: they are rows */
    bool dense;       /* how the cohort's files store them */
} vxs_bags;
enum { VXS_PATCH_NORM_NONE, VXS_PATCH_NORM_MEAN, VXS_PATCH_NORM_Z };
/* Puts the rows of a cohort that have the same value of a column into one bag, which is a row then.
 * Columns that differ within a bag cannot be used. */
VXS_MUST_CHECK vxs_status vxs_cohort_gather(vxs_cohort *cohort, const char *column, vxs_error *err);
/* Makes subjects of voxels bags of their cubes of edge `mm`, which are compared where centers are
 * not farther apart than `near`. */
VXS_MUST_CHECK vxs_status vxs_cohort_cut(vxs_cohort *cohort, double mm, double near, int norm,
                                         vxs_error *err);
/* The cohort's features are the instances from now on, with these names. */
void vxs_cohort_take_bags(vxs_cohort *cohort, vxs_bags *bags, vxs_table *names);
void vxs_bags_free(vxs_bags *bags);
/* Whether cohort.json's features are dense, whatever became of them. */
bool vxs_cohort_is_dense(const vxs_cohort *cohort);
/* What its features are; of bags those of their instances. */
vxs_feature_kind vxs_feature_kind_of(const vxs_cohort *cohort);
/* Name of a feature of the instances, as vxs_cohort_feature. */
const char *vxs_bags_feature(const vxs_bags *bags, size_t j, char buffer[32]);
/* The subject that row k of the cohort's files is of, and entry k of its lists in cohort.json: k,
 * or its bag. */
size_t vxs_cohort_subject_of(const vxs_cohort *cohort, size_t k);
/* How many rows the cohort's files have: its subjects, or all instances of its bags. */
size_t vxs_cohort_file_rows(const vxs_cohort *cohort);
/* Refuses a NaN or infinite value of an instance of bag i. */
VXS_MUST_CHECK vxs_status vxs_bags_check(const vxs_cohort *cohort, size_t i, vxs_error *err);

/* VXS_MISUSE for what vxs_cohort_open has not filled. */
VXS_MUST_CHECK vxs_status vxs_cohort_check_open(const vxs_cohort *cohort, vxs_error *err);

#ifdef __cplusplus
}
#endif

#endif
