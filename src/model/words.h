/* words.h - what results record of how they were made, and what that is called in words; for rooms
 * that show results. */
#ifndef VXS_MODEL_WORDS_H
#define VXS_MODEL_WORDS_H

#include "voxsift/internal/model.h"

/* record.c: what a model, a cross-validation, permutations and stability all record. Texts belong
 * to `about`, which must stay. */
typedef struct {
    const vxs_json *about;
    vxs_task_settings task;
    vxs_method_settings settings;
    const vxs_method *method;
    const vxs_loss_kind *loss;
    const char *loss_name;
    size_t class_count; /* 0 for a score */
    vxs_feature_kind features_are;
    double features; /* how many */
} vxs_record;
VXS_MUST_CHECK vxs_status vxs_record_read(const vxs_json *about, const char *file,
                                          vxs_record *record, vxs_error *err);
/* Class k as the file names it, "" when there is none. */
const char *vxs_record_class(const vxs_record *record, size_t k);
/* More than two classes have one each. */
size_t vxs_record_outputs(const vxs_record *record);
/* hyperparameters.c: what was tried and what folds said of it, `folds` rows each; empty where
 * nothing was. Released by the caller, whatever is returned. */
VXS_MUST_CHECK vxs_status vxs_selection_read(const vxs_record *record, vxs_selection *selection,
                                             size_t *folds, vxs_error *err);

/* method_words.c: what a path of fits goes by, and folds choose. */
typedef struct {
    vxs_path_kind by;     /* shares of lambda_max, falling; else whole numbers, rising */
    const char *key;      /* of the list of what was tried, in JSON */
    const char *one;      /* of the one that was chosen */
    const char *name;     /* "lambda" */
    const char *chosen;   /* "the number of iterations" */
    const char *fixed;    /* "the penalty" */
    const char *each;     /* "number of iterations" */
    const char *measured; /* "of lambda_max" */
    const char *title;    /* "How lambda was chosen" */
    const char *axis;     /* "lambda / lambda_max"; NULL: units wanted */
    const char *sizes;    /* "Features on the path" */
    const char *followed; /* "path from lambda_max down" */
    const char *halving;  /* what was done to halves of the subjects */
} vxs_path_words;
const vxs_path_words *vxs_path_words_of(vxs_path_kind by);
const vxs_path_words *vxs_record_path(const vxs_record *record);

/* What is selected; VXS_UNITS_ALONE by methods that give features weights. */
typedef enum {
    VXS_UNITS_ALONE,
    VXS_UNITS_FEATURES,
    VXS_UNITS_GROUPS,
    VXS_UNITS_PAIRS
} vxs_unit_kind;
vxs_unit_kind vxs_record_units(const vxs_record *record);
const char *vxs_record_unit_name(const vxs_record *record); /* "features and pairs" */
/* Weights are sizes, without sign. */
bool vxs_record_has_sizes(const vxs_record *record);
/* Neighbors have one weight; those of a voxel in its graph: 6, 18 or 26. */
bool vxs_record_has_pieces(const vxs_record *record);
int vxs_record_neighbors(const vxs_record *record);
/* Nearly every feature has a weight. */
bool vxs_record_is_dense(const vxs_record *record);
/* What a class is told from: "against the rest". */
const char *vxs_record_beside(const vxs_record *record);

/* Plain text with papers that it cites, in the order of their numbers. */
#define VXS_MOST_CITED 16
typedef struct {
    FILE *out;
    const char *cited[VXS_MOST_CITED];
    size_t count;
} vxs_prose;
void vxs_cite(vxs_prose *prose, const char *paper); /* " [2]" */
/* "age was predicted from 100 voxels with a lasso with squared loss, solved ... in voxsift 1.0." */
void vxs_say_model(const vxs_record *record, vxs_prose *prose);
/* What weights of features say, where that needs words; else NULL. */
const char *vxs_weight_words(const vxs_record *record);
/* What the method was told to do, in rows: `begin` ends the last one and has this name; the value
 * is written to the stream that it returns. */
typedef struct {
    FILE *(*begin)(void *user, const char *name);
    void *user;
} vxs_setting_rows;
/* What a method has of its own, as estimators.c says. */
struct vxs_method_words {
    void (*say)(const vxs_record *record, vxs_prose *prose);   /* what it is */
    void (*solve)(const vxs_record *record, vxs_prose *prose); /* behind "solved" */
    const char *(*weigh)(const vxs_record *record);            /* what weights say; or NULL */
    void (*list)(const vxs_record *record, const vxs_setting_rows *rows); /* or NULL */
    bool pieces; /* neighbors along a graph have one weight */
};
extern const struct vxs_method_words vxs_lasso_words, vxs_graphnet_words, vxs_fused_words,
    vxs_skfs_words, vxs_hsic_words, vxs_fgm_words, vxs_mslr_words;
void vxs_list_settings(const vxs_record *record, const vxs_setting_rows *rows);

#endif
