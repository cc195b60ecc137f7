/* voxsift/internal/cohort.h - persons, files and regions of cohorts; for the library's rooms and
 * the command line, not installed. */
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

/* The table that the subjects of a cohort are from, for messages about them where the cohort's own
 * files are temporary. */
typedef struct vxs_origin {
    char *table;   /* the file; NULL: there is none */
    size_t *lines; /* of each subject; NULL: not each has one */
} vxs_origin;
void vxs_origin_release(vxs_origin *origin);

/* ---- Using a cohort -------------------------------------------------------------------------- */

/* Who may be one person though the cohort takes them for several, as the making of it warned: the
 * words of its suspicion k, with two of these rows, which ascend; NULL where these rows are not
 * concerned, and not `there` behind the last one. */
VXS_MUST_CHECK vxs_status vxs_cohort_suspicion(const vxs_cohort *cohort, size_t k,
                                               const size_t *rows, size_t n, bool *there,
                                               char **words, vxs_error *err);
/* A number for each id that is not NULL, or SIZE_MAX where it is punctuation alone, the same where
 * the form of all of them makes it likely that two are of one person (054_1 and 054_2), and one of
 * them is among the first `known`; without such a form *count is 0. */
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
/* Numbers (n x VXS_SKETCH) that are nearly the same where two subjects have the same image but for
 * a scale and rounding; NaN where features are no voxels, or the image says too little. */
enum { VXS_SKETCH = 8 };
VXS_MUST_CHECK vxs_status vxs_cohort_sketches(const vxs_cohort *cohort, double *numbers,
                                              vxs_error *err);
/* Whether the files of features are those that the cohort was made with, by their SHA-256, which
 * reads them; VXS_OK as well when cohort.json records none, as of cohorts that other programs made.
 */
VXS_MUST_CHECK vxs_status vxs_cohort_verify(const vxs_cohort *cohort, vxs_error *err);
/* What cohort.json records of these files, an array of {file, sha256}; NULL: nothing. */
const vxs_json *vxs_cohort_record(const vxs_cohort *cohort);
/* The files of features as they are when they are open: by size and time of the last change, and
 * by the SHA-256 that cohort.json records where that was written later, else by their own. */
enum { VXS_FEATURES_FILES = 3 };
typedef struct {
    const char *name; /* in the cohort's directory */
    uint64_t size;
    int64_t seconds, nanoseconds; /* of its last change */
    char hash[VXS_HASH_TEXT];
    bool hashed; /* the bytes themselves were */
} vxs_features_file;
typedef struct {
    size_t count;
    vxs_features_file file[VXS_FEATURES_FILES];
} vxs_features_state;
VXS_MUST_CHECK vxs_status vxs_features_look(const vxs_cohort *cohort, vxs_features_state *state,
                                            vxs_error *err);
/* Refuses features that are others than those from which `made` was computed; a file is hashed
 * only where its size or time of change differs, and once for all calls with one `now`. */
VXS_MUST_CHECK vxs_status vxs_features_same(const vxs_cohort *cohort, vxs_features_state *now,
                                            const vxs_features_state *then, const char *made,
                                            vxs_error *err);
/* Refuses a value of a feature that is NaN or infinite, by the names of feature and subject: for
 * vxs_design_set_owner, `cohort` being a vxs_cohort. */
VXS_MUST_CHECK vxs_status vxs_cohort_refuse_value(const void *cohort, size_t j, size_t i,
                                                  double value, vxs_error *err);
/* Refuses feature j if it has such a value; for those who read single features without a design. */
VXS_MUST_CHECK vxs_status vxs_cohort_check_feature(const vxs_cohort *cohort, size_t j,
                                                   vxs_error *err);

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
VXS_MUST_CHECK vxs_status vxs_cohort_region_centers(const vxs_cohort_regions *regions,
                                                    double (*at)[3], vxs_error *err);

#ifdef __cplusplus
}
#endif

#endif
