/* sections.h - the sections of a report page; private to the report room.
 *
 * report.c opens the page and the results directory, and has the table of kinds of directories.
 * Each kind has a file for its results: scores.c (with classes.c) and inner_loss.c for
 * cross-validation, permuted.c, stable.c, compared.c. maps.c has slices and region tables;
 * selected.c and pairs.c have selected groups and pairs; about.c has settings and certificates,
 * participant_flow.c the flow of participants, paper.c the methods paragraph with its references.
 * All of them read the directory and nothing else. Text that depends on the method is in
 * model/words.h. */
#ifndef VXS_REPORT_SECTIONS_H
#define VXS_REPORT_SECTIONS_H

#include "model/words.h"
#include "report/page.h"

#include <string.h>

typedef struct vxs_results vxs_results;
typedef struct vxs_paper vxs_paper;

/* A map of voxels with one volume an output, and what the sign of its values means. */
typedef enum { VXS_SIGN_NONE, VXS_SIGN_WEIGHTS, VXS_SIGN_PATTERN } vxs_sign;
typedef struct {
    const char *file, *words;
    const char *sizes; /* words for weights that have no sign, or NULL */
    vxs_sign sign;
    bool regions;  /* with a table of regions */
    bool selected; /* a frequency of nonzero weights: left out where nearly all are */
    bool optional; /* some results do not have it */
} vxs_results_map;

/* A kind of results directory. Sections that are NULL it has not. */
typedef struct {
    const char *file, *format; /* the file by which it is known, and the format in it */
    const char *heading;
    const char *table;          /* which the results need, or NULL */
    const char *settings;       /* key of the settings in the file, or NULL */
    const char *const *numbers; /* that the file must have; ends with NULL */
    vxs_status (*results)(const vxs_results *results, vxs_error *err);
    const vxs_results_map *maps;              /* ends with file == NULL */
    const char *caution;                      /* above the maps */
    bool model;                               /* the directory is a model */
    bool several;                             /* its results are the page: of several models */
    void (*rows)(const vxs_results *results); /* of the table of what was done */
    void (*certificate)(const vxs_results *results);
    void (*paper)(vxs_paper *paper); /* sentences for a paper, after those that all have */
} vxs_results_kind;

struct vxs_results {
    const vxs_report_settings *settings;
    const vxs_results_kind *kind;
    const char *directory;
    FILE *out, *text;      /* the page, and plain text in it */
    const vxs_json *about; /* the kind's file */
    vxs_record record;     /* settings and method in it */
    vxs_model model;       /* of a directory that is one */
    vxs_table *table;
    bool classes;
};

/* report.c: a column of the kind's table, in which no value may be missing; freed by the caller,
 * whatever is returned. */
VXS_MUST_CHECK vxs_status vxs_results_column(const vxs_results *results, const char *name,
                                             double **values, vxs_error *err);

/* scores.c: cross-validation; permuted.c: permutation test; stable.c: stability selection. */
VXS_MUST_CHECK vxs_status vxs_section_scores(const vxs_results *results, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_section_permutations(const vxs_results *results, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_section_stability(const vxs_results *results, vxs_error *err);
/* compared.c: models compared, a page without the sections of one model. */
VXS_MUST_CHECK vxs_status vxs_section_compared(const vxs_results *results, vxs_error *err);
/* inner_loss.c: how lambda was chosen; and of a model, where folds chose it. */
VXS_MUST_CHECK vxs_status vxs_section_selection(const vxs_results *results, vxs_error *err);
void vxs_caption_selection(const vxs_results *results);
VXS_MUST_CHECK vxs_status vxs_section_choice(const vxs_results *results, vxs_error *err);
void vxs_section_permuting(const vxs_results *results); /* rows of the table of settings */
void vxs_section_halving(const vxs_results *results);
/* scores.c: a metric with the names of classes; the main score and the best simple baseline; and
 * which subjects metrics compare, as sentences without their full stop. */
const char *vxs_results_metric(const vxs_results *results, const char *key,
                               char text[VXS_METRIC_TEXT]);
void vxs_sentence_score(const vxs_results *results);
void vxs_sentence_comparison(const vxs_results *results);
/* classes.c: the confusion matrix and scores of each class, of two and more; none where the file
 * has none. And a row with the positive one of two classes. */
void vxs_section_classes(const vxs_results *results);
void vxs_row_of_positive(const vxs_results *results);
/* "positive weights: more AD", which is what the sign of a map's values means; "" where there is
 * none. `output`: of more than two classes. */
const char *vxs_sign_words(const vxs_results *results, vxs_sign sign, size_t output, bool positive,
                           char text[VXS_METRIC_TEXT]);
/* maps.c: maps of voxels, and what they are drawn on */
#define VXS_MOST_OTHERS 3
typedef struct {
    const vxs_results *s;
    vxs_volume mask, underlay; /* without values where there is none */
    uint8_t *inside;
    vxs_atlas atlas;
    bool has_atlas;
    vxs_atlas others[VXS_MOST_OTHERS]; /* further ones of the list, and what they are called */
    char *other_name[VXS_MOST_OTHERS];
    size_t other_count;
} vxs_places;
VXS_MUST_CHECK vxs_status vxs_places_read(const vxs_results *results, vxs_places *places,
                                          vxs_error *err); /* released whatever is returned */
void vxs_places_release(vxs_places *places);
VXS_MUST_CHECK vxs_status vxs_places_volume(const char *path, size_t number, vxs_volume *volume,
                                            size_t *volumes, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_section_maps(const vxs_results *results, vxs_error *err);
/* selected.c: groups and pairs */
VXS_MUST_CHECK vxs_status vxs_section_units(const vxs_results *results, vxs_error *err);

/* patch_weights.c: weights of models whose rows are voxels; none of others */
VXS_MUST_CHECK vxs_status vxs_section_patches(const vxs_results *results, vxs_error *err);

/* about.c */
void vxs_section_done(const vxs_results *results);        /* settings and participants */
void vxs_section_evaluation(const vxs_results *results);  /* rows about folds */
void vxs_section_certificate(const vxs_results *results); /* duality gaps */
void vxs_row_of_text(FILE *out, const char *name, const char *value);
void vxs_row_of_number(FILE *out, const char *name, double value); /* none when not finite */
/* The object that has subjects and cohort. */
const vxs_json *vxs_results_subjects(const vxs_results *results);
/* Folds and repeats are NAN where they are given by a column and were not counted. */
typedef struct {
    double folds, repeats, inner;
} vxs_fold_counts;
vxs_fold_counts vxs_results_folds(const vxs_results *results);
/* "voxels" of 'voxsift patches', else "subjects". */
const char *vxs_results_rows(const vxs_results *results);

/* participant_flow.c: subjects that were read, left out and analysed; and levels of covariates that
 * no training subject had */
void vxs_section_flow(const vxs_results *results);
void vxs_section_unseen(const vxs_results *results);

/* paper.c: the methods paragraph with its references, and the provenance */
void vxs_section_methods(const vxs_results *results);
void vxs_paper_cv(vxs_paper *paper);
void vxs_paper_model(vxs_paper *paper);
void vxs_paper_permutations(vxs_paper *paper);
void vxs_paper_stability(vxs_paper *paper);

/* A number of the object, NAN when it has none; and a text, "" when it has none. */
static inline double vxs_results_number(const vxs_json *object, const char *key)
{
    return vxs_json_get_number(object, key);
}
static inline const char *vxs_results_text(const vxs_json *object, const char *key)
{
    const char *text = vxs_json_get_text(object, key);
    return text ? text : "";
}
static inline bool vxs_results_has(const vxs_json *object, const char *key)
{
    const vxs_json *value = vxs_json_get(object, key);
    return value && value->kind != VXS_JSON_NULL;
}

#endif
