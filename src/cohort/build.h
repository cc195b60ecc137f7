/* build.h - the state of a cohort under construction; private to the cohort room.
 *
 * Data moves one way: sources.c lists the subjects, join.c assigns rows of the table, people.c
 * finds the persons, headers.c compares grids, survey.c reads every image once and makes the mask,
 * matrix.c writes the features, describe.c writes the description. An unusable subject keeps its
 * reason. */
#ifndef VXS_COHORT_BUILD_H
#define VXS_COHORT_BUILD_H

#include "cohort/integrity.h"

#define NO_ROW SIZE_MAX

typedef struct vxs_subject {
    char *id;        /* id in the table, or name of the file */
    char *person;    /* the subject's person; NULL: the person in the id */
    char *path;      /* path of the image; NULL if features are from a table */
    size_t volume;   /* index in a 4D image */
    size_t row;      /* row of the table, or NO_ROW */
    char *reason;    /* reason for leaving the subject out; NULL: it is included */
    bool unselected; /* left out by --only or --exclude */
    char hash[VXS_HASH_TEXT];
    vxs_grid grid;              /* grid of the image */
    bool other_grid;            /* the image needs resampling to the cohort's grid */
    size_t nonfinite;           /* number of NaN or infinite values */
    size_t nonfinite_inside;    /* number of them inside the mask */
    size_t nonfinite_reference; /* and inside the reference region */
    double level;               /* mean of the finite nonzero values */
    double shift, factor;       /* value = (stored - shift) * factor */
    vxs_packed packed;          /* image kept from survey to writing, if memory allows */
} vxs_subject;

typedef struct vxs_build {
    const vxs_context *context;
    const vxs_cohort_settings *settings;
    int nthreads;
    vxs_subject *subjects;
    size_t count, room;
    size_t problems;  /* subjects that are unusable, without those left out by request */
    vxs_table *table; /* NULL: none */
    size_t id_column;
    const char
        *id_header; /* header of the id column in the output; owned by `invented` or the table */
    const char *person_header; /* header of the column of persons; NULL: the ids contain them */
    char invented[64];         /* header for ids that are in no table */
    bool ids_invented;         /* ids are positions in a file and identify no person */
    bool ids_separated;        /* ids extend the names of files: sub-01_ses-1 */
    size_t people;             /* number of persons */
    size_t people_perhaps;     /* smallest number of persons by any suspicion */
    struct vxs_suspicion *suspicions; /* columns and ids by which several persons may be one */
    size_t suspicion_count;
    const char **unmatched; /* ids of table rows without image or features */
    size_t unmatched_count;
    vxs_row_filter filter; /* filter of table rows; empty without --only and --exclude */
    size_t *excluded;      /* rows outside the filter without image, features or id */
    size_t excluded_count;

    bool is_shared;
    vxs_image shared; /* 4D image that contains all subjects; empty otherwise */
    vxs_grid grid;
    uint8_t *mask;    /* mask over the grid */
    int32_t *signal;  /* per voxel: number of subjects with a finite nonzero value */
    uint8_t *missing; /* per voxel: some subject has a NaN or infinite value */
    float *last;      /* per voxel: last finite nonzero value */
    uint8_t *differs; /* per voxel: two nonzero values differ */
    size_t surveyed;  /* number of subjects in these arrays */
    size_t constant;  /* voxels of the mask with the same value in every image */
    double *sum;      /* per voxel: sum over subjects */
    size_t *voxels;   /* voxels of the mask, ascending */
    size_t p;         /* number of features */
    bool sparse;      /* table features are sparse: only nonzero values are stored */
    size_t stored;    /* number of stored values of table features */
    int32_t *region;  /* per voxel of the mask: index of its region feature, or -1 */
    vxs_atlas atlas;
    double *weights;            /* number of voxels per region */
    uint8_t *reference;         /* mask of the SUVR reference region */
    vxs_error no_memory;        /* failed allocation of a subject's reason */
    vxs_features_record record; /* names and hashes of the written feature files */
    double survey_seconds;
    uint64_t packed_bytes; /* total over subjects */
    void (*write_extra)(vxs_json_writer *w,
                        const void *extra); /* writes further keys to cohort.json; or NULL */
    /* writes further cells of features.tsv for a feature, or for SIZE_MAX their headers; or NULL */
    void (*write_feature)(vxs_tsv_writer *w, size_t feature, const void *extra);
    const void *extra;
    const struct vxs_build *subjects_of; /* rows are voxels of these subjects; otherwise NULL */
} vxs_build;

void vxs_build_release(vxs_build *build);

/* sources.c: lists subjects. Paths and ids are copied. */
/* The path in a cell of the table, relative to it; NULL where the cell is empty. */
VXS_MUST_CHECK vxs_status vxs_build_cell_path(const vxs_build *build, size_t column, size_t row,
                                              char **path, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_build_list(vxs_build *build, const char *const *sources,
                                         vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_build_add(vxs_build *build, const char *id, char *path, size_t volume,
                                        size_t row, vxs_error *err);

/* image_ids.c: makes ids from names of images, and from their folders if several share a name. */
char *vxs_id_of_image(const char *path, vxs_error *err);
/* Makes the ids of the listed images unique: adds the session, the rest of the name or folders;
 * leaves out images whose ids still agree. */
VXS_MUST_CHECK vxs_status vxs_build_separate_ids(vxs_build *build, vxs_error *err);

/* join.c */
VXS_MUST_CHECK vxs_status vxs_build_read_table(vxs_build *build, const char *path, vxs_error *err);
/* Assigns every subject the table row of its id, and leaves out subjects without one. */
VXS_MUST_CHECK vxs_status vxs_build_join(vxs_build *build, vxs_error *err);
/* The header of the id column: from the settings, or participant_id. */
const char *vxs_build_id_name(const vxs_build *build);
/* An id or a person, or the part of an id that is its person. The order is 0 for equal persons
 * however they are written: "sub-007", "7", " SUB-07 ". */
typedef struct {
    const char *text;
    size_t length;
} vxs_name;
int vxs_compare_names(vxs_name a, vxs_name b);
/* The name without "sub-", blanks and leading zeros. */
vxs_name vxs_name_core(vxs_name name);

/* person_names.c */
/* The person in an id: "sub-01" for "sub-01_ses-2", "P7" for "P7 visit 2". */
vxs_name vxs_person_in(const char *id);
/* Rank of a header as a column of persons; 0 is the likeliest. */
typedef unsigned vxs_person_rank;
#define VXS_LIKELY_PERSON_HEADER 100U /* a column of persons if its values have that form */
#define VXS_NO_PERSON_HEADER     200U
vxs_person_rank vxs_rank_header(const char *header);
/* True if the header ends as names of ids do, and is no known name of families, sites or scans. */
bool vxs_header_names_ids(const char *header);
/* True if the header names a property shared by several persons: a family, a site, an age. */
bool vxs_header_names_others(const char *header);
/* True if the header names the sex, which is one per person. */
bool vxs_header_names_sex(const char *header);
/* True if the part of an id is a word for a visit: one before a number ("ses"), or one without
 * ("pre"). */
bool vxs_names_occasion(vxs_name word, bool number);
/* True for ambiguous words and letters too: "V" of "V2". */
bool vxs_may_name_occasion(vxs_name word, bool number);
bool vxs_is_date(const char *text);
/* True if the part of an id contains a word for a family, a site or the like. */
bool vxs_names_group(vxs_name part);

/* selection.c: evaluates --only and --exclude on a table, once. */
VXS_MUST_CHECK vxs_status vxs_build_select(vxs_build *build, const vxs_table *table,
                                           vxs_error *err);
/* True if the selection includes the row. */
bool vxs_build_selects(const vxs_build *build, size_t row);
/* The reason for an excluded row: "excluded by --exclude age>60". */
VXS_MUST_CHECK char *vxs_build_unselected_words(const vxs_build *build, size_t row, vxs_error *err);
/* Leaves out the subjects of excluded rows. Rows are those of the build's table, or, for another
 * table, in the order of the subjects. */
VXS_MUST_CHECK vxs_status vxs_build_exclude(vxs_build *build, const vxs_table *table,
                                            vxs_error *err);
/* Number of subjects left out by the selection. */
size_t vxs_build_unselected(const vxs_build *build);
void vxs_build_selection_json(vxs_json_writer *writer, const vxs_build *build);

/* survey.c: reads an image on the cohort's grid; messages call it `what`. */
VXS_MUST_CHECK vxs_status vxs_build_read_on_grid(const vxs_build *build, const char *path,
                                                 const char *what, vxs_volume *volume,
                                                 vxs_error *err);
/* field_of_view.c: warns of images that were resampled and do not reach all of the mask or of the
 * reference region. */
VXS_MUST_CHECK vxs_status vxs_build_check_views(const vxs_build *build, vxs_error *err);
/* reference.c: finds the voxels of the SUVR reference region. */
VXS_MUST_CHECK vxs_status vxs_build_find_reference(vxs_build *build, size_t voxels, vxs_error *err);

/* people.c: finds the persons of the subjects in a column of the build's table, in a table of
 * features (or NULL) with a row per subject, or in the ids; refuses ambiguous tables. */
VXS_MUST_CHECK vxs_status vxs_build_find_people(vxs_build *build, const vxs_table *features,
                                                vxs_error *err);
/* Numbers names from 0, with one number for all spellings of a name; VXS_NO_PERSON without a name.
 */
#define VXS_NO_PERSON SIZE_MAX
VXS_MUST_CHECK vxs_status vxs_number_names(const vxs_name *names, size_t n, size_t *number,
                                           size_t *count, vxs_error *err);
/* "subject" may have the values control and patient: fewer persons, or more subjects per person on
 * average, cause a warning. */
#define VXS_FEW_PERSONS 5
#define VXS_MANY_OF_ONE 10
/* The number of each included subject's person. */
VXS_MUST_CHECK vxs_status vxs_build_number_people(const vxs_build *build, size_t *number,
                                                  size_t *count, vxs_error *err);
/* Counts the persons of the included subjects. */
VXS_MUST_CHECK vxs_status vxs_build_count_people(vxs_build *build, vxs_error *err);
/* True if a column of features is a column of persons: by its name, or by the settings. */
bool vxs_build_is_person(const vxs_build *build, const char *header);
/* Finds the columns of ids and persons of a cohort that is being opened, and numbers its persons.
 */
VXS_MUST_CHECK vxs_status vxs_cohort_find_people(vxs_cohort *cohort, const char *path,
                                                 vxs_error *err);

/* id_shapes.c: numbers persons by the form of all ids. A part of ids with few values, each of which
 * occurs with several values of the rest, is a visit (054_1 and 054_2); *count is 0 without such a
 * part; NULL and punctuation alone have VXS_NO_PERSON. If ids have two sources, the first `known`
 * from one, a single pair with the same rest, one from each source, suffices; otherwise known is 0.
 */
VXS_MUST_CHECK vxs_status vxs_shape_of_ids(const char *const *ids, size_t n, size_t known,
                                           size_t *number, size_t *count, vxs_error *err);
/* person_shapes.c: recognizes columns of persons by their values, whatever their header. */
/* True if each value of a column (given as numbers) has few subjects and most values have several;
 * `evenness`: standard deviations by which the counts of values are more even than by chance. */
bool vxs_shape_repeats(const size_t *number, size_t n, size_t count, double *evenness);

/* spellings.c: numbers ids, with one number for ids that differ only in spelling: leading zeros,
 * capitals, Unicode form. NULL: VXS_NO_PERSON. */
VXS_MUST_CHECK vxs_status vxs_number_spellings(const char *const *ids, size_t n, size_t *number,
                                               size_t *count, vxs_error *err);

/* suspicions.c: warns of columns and ids by which two persons may be one, and records the warning
 * for the cohort. */
typedef struct vxs_suspicion {
    const char *header; /* header of the column; NULL: the ids */
    bool spelling;      /* the persons differ only in spelling */
    size_t *number;     /* person of each subject by this column */
} vxs_suspicion;
VXS_MUST_CHECK vxs_status vxs_build_suspect(vxs_build *build, const vxs_table *features,
                                            vxs_error *err);
/* Writes a key of cohort.json. */
void vxs_suspicions_json(vxs_json_writer *w, const vxs_build *build);
void vxs_suspicions_release(vxs_build *build);
/* The smallest number of persons of the included subjects by any suspicion; person[i] < people for
 * each subject i. */
VXS_MUST_CHECK vxs_status vxs_suspicions_count(const vxs_build *build, const size_t *person,
                                               size_t people, size_t *fewest, vxs_error *err);

/* Leaves out an unusable subject: logs and stores the reason. */
void vxs_build_leave_out(vxs_build *build, vxs_subject *subject, const char *format, ...)
    VXS_PRINTF(3, 4);
/* Fails if subjects are unusable without --drop-bad, or if fewer than two remain. */
VXS_MUST_CHECK vxs_status vxs_build_check_problems(vxs_build *build, vxs_error *err);
size_t vxs_build_kept(const vxs_build *build);

/* headers.c */
VXS_MUST_CHECK vxs_status vxs_build_check_headers(vxs_build *build, vxs_error *err);

/* survey.c */
VXS_MUST_CHECK vxs_status vxs_build_survey(vxs_build *build, vxs_error *err);
/* Fills the allocated mask from the file in the settings. */
VXS_MUST_CHECK vxs_status vxs_build_read_mask(vxs_build *build, vxs_error *err);

/* load.c: reads one subject's image on the cohort's grid; the caller releases it. NaN and infinite
 * values stay, unless the image needs resampling: then they are counted and set to 0. The first
 * read stores the file's hash. */
VXS_MUST_CHECK vxs_status vxs_build_load(const vxs_build *build, vxs_subject *subject,
                                         vxs_packed *packed, vxs_error *err);
/* Shift and factor of an image by its finite values inside; value = (stored - shift) * factor. */
VXS_MUST_CHECK vxs_status vxs_find_image_scale(int scale, const float *values,
                                               const uint8_t *inside, size_t voxels,
                                               const char *path, double *shift, double *factor,
                                               vxs_error *err);
/* Scales an image; a step. */
VXS_MUST_CHECK vxs_status vxs_build_scale(const vxs_build *build, vxs_subject *subject,
                                          vxs_volume *volume, vxs_error *err);
/* Sets NaN and infinite values to 0, then runs the steps. */
VXS_MUST_CHECK vxs_status vxs_build_prepare(const vxs_build *build, vxs_subject *subject,
                                            vxs_volume *volume, vxs_error *err);

/* steps.c: runs the steps, writes them to cohort.json, and what memory they need for a voxel. */
VXS_MUST_CHECK vxs_status vxs_steps_run(const vxs_build *build, vxs_subject *subject,
                                        vxs_volume *volume, vxs_error *err);
void vxs_steps_json(vxs_json_writer *w, const vxs_cohort_settings *settings);
uint64_t vxs_steps_voxel_bytes(const vxs_cohort_settings *settings);

/* matrix.c: writes the p x n feature matrix in blocks of subjects. */
VXS_MUST_CHECK vxs_status vxs_build_write_matrix(vxs_build *build, vxs_output *output,
                                                 vxs_error *err);
/* Memory that does not depend on the number of images in memory. */
uint64_t vxs_build_fixed_bytes(const vxs_build *build);
/* Number of subjects per block, and its memory. */
size_t vxs_build_block(const vxs_build *build, uint64_t *bytes);

/* tables.c: cohorts without images. */
VXS_MUST_CHECK vxs_status vxs_build_from_table(vxs_build *build, const char *directory,
                                               bool replace, vxs_cohort_summary *summary,
                                               vxs_error *err);

/* describe.c: writes all files but the features. `names` NULL: features are voxels or regions. */
VXS_MUST_CHECK vxs_status vxs_build_describe(vxs_build *build, vxs_output *output,
                                             const char *const *names, vxs_error *err);

#endif
