/* build.h - a cohort in the making; private to the cohort room.
 *
 * Data moves one way: sources.c lists the subjects, join.c gives them rows of a table, people.c
 * finds which are of one person, headers.c compares grids, survey.c looks at every image once and
 * makes the mask, matrix.c writes the features, describe.c says what was done. A subject that
 * cannot be used keeps its reason. */
#ifndef VXS_COHORT_BUILD_H
#define VXS_COHORT_BUILD_H

#include "cohort/integrity.h"

#define NO_ROW SIZE_MAX

typedef struct {
    char *id;        /* as in the table, or as the file is called */
    char *person;    /* who the subject is, or NULL: as the id has it */
    char *path;      /* of the image; NULL for features of a table */
    size_t volume;   /* of a 4D image */
    size_t row;      /* of the table, or NO_ROW */
    char *reason;    /* why it is left out; NULL: it is in */
    bool unselected; /* left out by --only or --exclude */
    char hash[VXS_HASH_TEXT];
    vxs_grid grid;        /* of the image */
    bool other_grid;      /* to be brought onto the cohort's */
    size_t nonfinite;     /* values that are NaN or infinite */
    double level;         /* mean of the finite values that are not 0 */
    double shift, factor; /* value = (stored - shift) * factor */
    vxs_packed packed;    /* from the survey to the writing, when there is memory for it */
} vxs_subject;

typedef struct {
    const vxs_context *context;
    const vxs_cohort_settings *settings;
    int nthreads;
    vxs_subject *subjects;
    size_t count, room;
    size_t problems;  /* subjects that cannot be used, and are not left out by request */
    vxs_table *table; /* NULL when there is none */
    size_t id_column;
    const char *id_header;     /* of the column of ids that is written; in these, or the table */
    const char *person_header; /* of the column of persons, or NULL: the ids have them */
    char invented[64];         /* for ids that no table has */
    bool ids_invented;         /* ids are places in a file, and say nothing of who it is */
    bool ids_separated;        /* ids have more than the names of files: sub-01_ses-1 */
    size_t people;             /* how many persons the subjects are */
    size_t people_perhaps;     /* the fewest by any suspicion */
    struct vxs_suspicion *suspicions; /* who may be one person though it counts as several */
    size_t suspicion_count;
    const char **unmatched; /* ids of rows of the table without image or features */
    size_t unmatched_count;
    vxs_row_filter filter; /* of the table; empty without --only and --exclude */
    size_t *aside;         /* rows that these leave out and that have no image, features or id */
    size_t aside_count;

    bool is_shared;
    vxs_image shared; /* the 4D image that all subjects are volumes of; empty otherwise */
    vxs_grid grid;
    uint8_t *mask;    /* of the grid */
    int32_t *signal;  /* subjects whose value is neither 0 nor missing, by voxel */
    uint8_t *missing; /* voxels where some subject has no finite value */
    float *seen;      /* the value of the last subject with signal */
    uint8_t *differs; /* voxels where two values that are not 0 differ */
    size_t surveyed;  /* subjects in these */
    size_t constant;  /* voxels of the mask with the same value in every image */
    double *sum;      /* over subjects, by voxel */
    size_t *voxels;   /* those of the mask, ascending */
    size_t p;         /* features */
    bool sparse;      /* of a table: only what is not 0 is written */
    size_t stored;    /* of a table: values that are written */
    int32_t *region;  /* of each voxel of the mask: index of its feature, or -1 */
    vxs_atlas atlas;
    double *weights;            /* voxels a region */
    uint8_t *reference;         /* voxels for SUVR */
    vxs_error no_memory;        /* for the reason of some subject */
    vxs_features_record record; /* of the features that are written */
    double survey_seconds;
    uint64_t packed_bytes; /* of all subjects */
    void (*tell)(vxs_json_writer *w,
                 const void *teller); /* what cohort.json has besides; or NULL */
    const void *teller;
} vxs_build;

/* Frees everything. */
void vxs_build_release(vxs_build *build);

/* sources.c: lists subjects. Paths and ids are copied. */
VXS_MUST_CHECK vxs_status vxs_build_list(vxs_build *build, const char *const *sources,
                                         vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_build_add(vxs_build *build, const char *id, char *path, size_t volume,
                                        size_t row, vxs_error *err);

/* image_ids.c: ids of images by their names, and by their folders where several have one name. */
bool vxs_is_image_name(const char *name);
char *vxs_id_of_image(const char *path, vxs_error *err);
/* Of the images that are listed, no two keep one id: the session, the rest of the name or folders
 * are added, and what has one id all the same is left out. */
VXS_MUST_CHECK vxs_status vxs_build_separate_ids(vxs_build *build, vxs_error *err);

/* join.c */
VXS_MUST_CHECK vxs_status vxs_build_read_table(vxs_build *build, const char *path, vxs_error *err);
/* Gives every subject the row of its id, and leaves those without one out. */
VXS_MUST_CHECK vxs_status vxs_build_join(vxs_build *build, vxs_error *err);
/* The column of ids: as settings say, or participant_id. */
const char *vxs_build_id_name(const vxs_build *build);
/* An id or a person, or the part of an id that is its person. The order is 0 for the same one,
 * however they are written: "sub-007", "7", " SUB-07 ". */
typedef struct {
    const char *text;
    size_t length;
} vxs_name;
int vxs_compare_names(vxs_name a, vxs_name b);
/* Without "sub-", blanks and leading zeros. */
vxs_name vxs_name_core(vxs_name name);

/* person_names.c */
/* Whose the id is: "sub-01_ses-2" is of sub-01, "P7 visit 2" of P7. */
vxs_name vxs_person_in(const char *id);
/* How likely a column is one of persons by its name: 0 is the likeliest. */
typedef unsigned vxs_person_rank;
#define VXS_LIKELY_PERSON_HEADER 100U /* so if its values look like it */
#define VXS_NO_PERSON_HEADER     200U
vxs_person_rank vxs_rank_header(const char *header);
/* Whether it ends as names of ids do, and is not known to be of families, sites or scans. */
bool vxs_header_names_ids(const char *header);
/* Whether it names what several persons share: a family, a site, an age. */
bool vxs_header_names_others(const char *header);
/* Whether it is of men and women, which a person is one of. */
bool vxs_header_names_sex(const char *header);
/* Parts of ids. */
/* Whether it is a word for a visit, such as one that a number follows ("ses"), or without one
 * ("pre") alone. */
bool vxs_names_occasion(vxs_name word, bool number);
/* The same for words and letters that may name something else: "V" of "V2". */
bool vxs_may_name_occasion(vxs_name word, bool number);
bool vxs_is_date(const char *text);
/* Whether a part of an id has the word of a family, a site or the like. */
bool vxs_names_unit(vxs_name part);

/* selection.c: --only and --exclude. Evaluates them on a table, unless that was done. */
VXS_MUST_CHECK vxs_status vxs_build_select(vxs_build *build, const vxs_table *table,
                                           vxs_error *err);
/* Whether the row stays. */
bool vxs_build_selects(const vxs_build *build, size_t row);
/* "excluded by --exclude age>60" of a row that does not. */
VXS_MUST_CHECK char *vxs_build_unselected_words(const vxs_build *build, size_t row, vxs_error *err);
/* Leaves out the subjects whose rows do not stay: rows of the build's table, or, of another one, in
 * the order of the subjects. */
VXS_MUST_CHECK vxs_status vxs_build_set_aside(vxs_build *build, const vxs_table *table,
                                              vxs_error *err);
/* How many subjects were left out so. */
size_t vxs_build_unselected(const vxs_build *build);
void vxs_build_selection_json(vxs_json_writer *writer, const vxs_build *build);

/* survey.c: an image on the cohort's grid; `what` it is, for messages. */
VXS_MUST_CHECK vxs_status vxs_build_read_on_grid(const vxs_build *build, const char *path,
                                                 const char *what, vxs_volume *volume,
                                                 vxs_error *err);
/* reference.c: the voxels for SUVR. */
VXS_MUST_CHECK vxs_status vxs_build_find_reference(vxs_build *build, size_t voxels, vxs_error *err);

/* people.c: finds the persons of the subjects, in a column of the build's table, or of a table of
 * features (or NULL) whose rows the subjects are, or in their ids; refuses what is unclear. */
VXS_MUST_CHECK vxs_status vxs_build_find_people(vxs_build *build, const vxs_table *features,
                                                vxs_error *err);
/* Numbers names from 0 on, one for all ways to write a name; no name: VXS_NOBODY. */
#define VXS_NOBODY SIZE_MAX
VXS_MUST_CHECK vxs_status vxs_number_names(const vxs_name *names, size_t n, size_t *number,
                                           size_t *count, vxs_error *err);
/* "subject" may have the values control and patient: fewer persons, or more subjects of each on
 * average, are to be said. */
#define VXS_FEW_PERSONS 5
#define VXS_MANY_OF_ONE 10
/* The persons of the subjects that are in, by number. */
VXS_MUST_CHECK vxs_status vxs_build_number_people(const vxs_build *build, size_t *number,
                                                  size_t *count, vxs_error *err);
/* How many persons the subjects are that are in. */
VXS_MUST_CHECK vxs_status vxs_build_count_people(vxs_build *build, vxs_error *err);
/* Whether a column of features is a column of persons: by its name, or since settings say so. */
bool vxs_build_is_person(const vxs_build *build, const char *header);
/* The columns of ids and persons of a cohort that is opened, and its persons as numbers. */
VXS_MUST_CHECK vxs_status vxs_cohort_find_people(vxs_cohort *cohort, const char *path,
                                                 vxs_error *err);

/* id_shapes.c: persons of ids as numbers, by the form of all ids: a part of them with few values,
 * each of which stands with several values of the rest, is a visit (054_1 and 054_2); *count 0
 * where there is no such part, VXS_NOBODY for NULL and for punctuation alone. From ids of two
 * sources, the first `known` of them of one, it is enough when one of each share the rest;
 * otherwise known is 0. */
VXS_MUST_CHECK vxs_status vxs_shape_of_ids(const char *const *ids, size_t n, size_t known,
                                           size_t *number, size_t *count, vxs_error *err);
/* person_shapes.c: columns that look like persons, whatever they are called. */
/* Whether the values of a column, as numbers, are of few subjects each and most of them of several;
 * and whether they stand more evenly than values do that repeat by chance, such as each of them
 * twice: by so many standard deviations. */
bool vxs_shape_repeats(const size_t *number, size_t n, size_t count, double *evenness);

/* spellings.c: numbers ids, those alike that differ only in how they are written: padded with zeros
 * or not, in capitals, in another form of Unicode. NULL: VXS_NOBODY. */
VXS_MUST_CHECK vxs_status vxs_number_spellings(const char *const *ids, size_t n, size_t *number,
                                               size_t *count, vxs_error *err);

/* suspicions.c: warns of columns and ids by which subjects may be of one person that are taken for
 * two, and notes it for the cohort. */
typedef struct vxs_suspicion {
    const char *header; /* of the column; NULL: the ids */
    bool spelling;      /* persons differ only in how they are written */
    size_t *number;     /* persons by it, of all subjects */
} vxs_suspicion;
VXS_MUST_CHECK vxs_status vxs_build_suspect(vxs_build *build, const vxs_table *features,
                                            vxs_error *err);
/* A key of cohort.json. */
void vxs_suspicions_json(vxs_json_writer *w, const vxs_build *build);
void vxs_suspicions_release(vxs_build *build);
/* How many persons the subjects that are in would be by the suspicion that leaves the fewest;
 * `person` has a number for each subject, below `people`. */
VXS_MUST_CHECK vxs_status vxs_suspicions_count(const vxs_build *build, const size_t *person,
                                               size_t people, size_t *fewest, vxs_error *err);

/* A subject cannot be used: says so, and notes the reason. */
void vxs_build_leave_out(vxs_build *build, vxs_subject *subject, const char *format, ...)
    VXS_PRINTF(3, 4);
/* Fails when subjects cannot be used and --drop-bad was not given, or when fewer than two are left.
 */
VXS_MUST_CHECK vxs_status vxs_build_settle(vxs_build *build, vxs_error *err);
size_t vxs_build_kept(const vxs_build *build);

/* headers.c */
VXS_MUST_CHECK vxs_status vxs_build_check_headers(vxs_build *build, vxs_error *err);

/* survey.c */
VXS_MUST_CHECK vxs_status vxs_build_survey(vxs_build *build, vxs_error *err);
/* Fills the mask, which is there already, from the file that settings name. */
VXS_MUST_CHECK vxs_status vxs_build_read_mask(vxs_build *build, vxs_error *err);

/* load.c: one subject's image on the cohort's grid; released by the caller. What is not finite
 * stays, unless the image had to be resampled: then it is counted and is 0. Notes the hash of the
 * file when it is read first. */
VXS_MUST_CHECK vxs_status vxs_build_load(const vxs_build *build, vxs_subject *subject,
                                         vxs_packed *packed, vxs_error *err);
/* Sets what is not finite to 0, scales, then smooths inside the mask. */
VXS_MUST_CHECK vxs_status vxs_build_prepare(const vxs_build *build, vxs_subject *subject,
                                            vxs_volume *volume, vxs_error *err);

/* matrix.c: features x subjects, written in blocks of subjects. */
VXS_MUST_CHECK vxs_status vxs_build_write_matrix(vxs_build *build, vxs_output *output,
                                                 vxs_error *err);
/* Memory that is needed however few images are in it at once. */
uint64_t vxs_build_fixed_bytes(const vxs_build *build);
/* Memory a block of subjects takes, and how many subjects it has. */
size_t vxs_build_block(const vxs_build *build, uint64_t *bytes);

/* tables.c: cohorts without images. */
VXS_MUST_CHECK vxs_status vxs_build_from_table(vxs_build *build, const char *directory,
                                               bool replace, vxs_cohort_summary *summary,
                                               vxs_error *err);

/* describe.c: everything but the features. Names NULL: voxels or regions. */
VXS_MUST_CHECK vxs_status vxs_build_describe(vxs_build *build, vxs_output *output,
                                             const char *const *names, vxs_error *err);

#endif
