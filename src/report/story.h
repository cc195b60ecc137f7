/* story.h - what a report tells, section by section; private to the report room.
 *
 * report.c opens the page and the files behind it, and has the table of the kinds of directories.
 * What results say is in a file a kind: scores.c and selection.c, permuted.c, stable.c; where, in
 * maps.c; groups and pairs that a model selected, in selected.c and pairs.c; what was done in
 * about.c, who was analysed in participant_flow.c, and what a paper may say of it in paper.c. All
 * of them read the directory, and nothing else. What depends on the method is the model room's to
 * say (model/words.h). */
#ifndef VXS_REPORT_STORY_H
#define VXS_REPORT_STORY_H

#include "model/words.h"
#include "report/page.h"

#include <string.h>

typedef struct vxs_story vxs_story;
typedef struct vxs_paper vxs_paper;

/* A file with a map of voxels, one volume an output. */
typedef struct {
    const char *file, *words;
    const char *sizes; /* instead, of weights that have no sign; or NULL */
    bool regions;      /* and a table of them */
    bool selected;     /* it says which voxels have a weight */
} vxs_story_map;

/* A kind of directory. Sections that are NULL it has not. */
typedef struct {
    const char *file, *format; /* the file that tells it, and what that says it is */
    const char *heading;
    const char *table;          /* which the results need, or NULL */
    const char *settings;       /* where the file has what was asked for, or NULL */
    const char *const *numbers; /* that the file must have; ends with NULL */
    vxs_status (*results)(const vxs_story *story, vxs_error *err);
    const vxs_story_map *maps;            /* ends with file == NULL */
    const char *caution;                  /* said above them */
    bool model;                           /* the directory is a model */
    void (*rows)(const vxs_story *story); /* of the table of what was done */
    void (*certificate)(const vxs_story *story);
    void (*paper)(vxs_paper *paper); /* sentences for a paper, after those that all have */
} vxs_story_kind;

struct vxs_story {
    const vxs_report_settings *settings;
    const vxs_story_kind *kind;
    const char *directory;
    FILE *out, *text;      /* the page, and plain text in it */
    const vxs_json *about; /* the kind's file */
    vxs_record record;     /* what it says of how it was made */
    vxs_model model;       /* of a directory that is one */
    vxs_table *table;
    bool classes;
};

/* report.c: a column of the kind's table, in which no value may be missing; freed by the caller,
 * whatever is returned. */
VXS_MUST_CHECK vxs_status vxs_story_column(const vxs_story *story, const char *name,
                                           double **values, vxs_error *err);

/* scores.c: of a cross-validation; permuted.c: of permutations; stable.c: of stability. */
VXS_MUST_CHECK vxs_status vxs_story_scores(const vxs_story *story, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_story_permutations(const vxs_story *story, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_story_stability(const vxs_story *story, vxs_error *err);
/* selection.c: how lambda was chosen; and of a model, where folds chose it. */
VXS_MUST_CHECK vxs_status vxs_story_selection(const vxs_story *story, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_story_choice(const vxs_story *story, vxs_error *err);
void vxs_story_permuting(const vxs_story *story); /* rows of what was done */
void vxs_story_halving(const vxs_story *story);
/* scores.c: a metric in words; the main score beside the best baseline; and which subjects
 * metrics compare, as sentences without their full stop. */
const char *vxs_story_metric(const char *key);
void vxs_story_put_score(const vxs_story *story);
void vxs_story_put_convention(const vxs_story *story);
/* maps.c: of voxels; and what maps lie on, as other figures of brains do */
typedef struct {
    const vxs_story *s;
    vxs_volume mask, underlay; /* without values where there is none */
    uint8_t *inside;
    vxs_atlas atlas;
    bool has_atlas;
} vxs_places;
VXS_MUST_CHECK vxs_status vxs_places_read(const vxs_story *story, vxs_places *places,
                                          vxs_error *err); /* released whatever is returned */
void vxs_places_release(vxs_places *places);
VXS_MUST_CHECK vxs_status vxs_places_volume(const char *path, size_t number, vxs_volume *volume,
                                            size_t *volumes, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_story_maps(const vxs_story *story, vxs_error *err);
/* selected.c: groups and pairs */
VXS_MUST_CHECK vxs_status vxs_story_units(const vxs_story *story, vxs_error *err);

/* about.c */
void vxs_story_done(const vxs_story *story);        /* what was done, and to whom */
void vxs_story_evaluation(const vxs_story *story);  /* rows about folds */
void vxs_story_certificate(const vxs_story *story); /* how far each answer can be trusted */
void vxs_story_row(FILE *out, const char *name, const char *value);
void vxs_story_row_number(FILE *out, const char *name, double value); /* none when not finite */
/* Where subjects and cohort stand. */
const vxs_json *vxs_story_who(const vxs_story *story);
/* Folds and repeats are NAN where they are given and nobody counted them. */
typedef struct {
    double folds, repeats, inner;
} vxs_story_folds;
vxs_story_folds vxs_story_count_folds(const vxs_story *story);

/* participant_flow.c: who was read, left out and analysed; and levels that no training subject had
 */
void vxs_story_flow(const vxs_story *story);
void vxs_story_unseen(const vxs_story *story);

/* paper.c: a paragraph for a paper with what it cites, and where all comes from */
void vxs_story_methods(const vxs_story *story);
void vxs_paper_cv(vxs_paper *paper);
void vxs_paper_permutations(vxs_paper *paper);
void vxs_paper_stability(vxs_paper *paper);

/* A number of the object, NAN when it has none; and a text, "" when it has none. */
static inline double vxs_story_number(const vxs_json *object, const char *key)
{
    return vxs_json_get_number(object, key);
}
static inline const char *vxs_story_text(const vxs_json *object, const char *key)
{
    const char *text = vxs_json_get_text(object, key);
    return text ? text : "";
}
static inline bool vxs_story_has(const vxs_json *object, const char *key)
{
    const vxs_json *value = vxs_json_get(object, key);
    return value && value->kind != VXS_JSON_NULL;
}

#endif
