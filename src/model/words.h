/* words.h - settings recorded in results, and their description in words; for rooms that present
 * results. */
#ifndef VXS_MODEL_WORDS_H
#define VXS_MODEL_WORDS_H

#include "voxsift/internal/model.h"

/* record.c: settings recorded by models, cross-validations, permutations and stability selections.
 * Texts belong to `about`, which must outlive the record. */
typedef struct {
    const vxs_json *about;
    vxs_task_settings task;
    vxs_method_settings settings;
    const vxs_method *method;
    const vxs_loss_kind *loss;
    const char *loss_name;
    size_t class_count; /* 0 for a score */
    vxs_feature_kind features_are;
    double features; /* number of features */
} vxs_record;
VXS_MUST_CHECK vxs_status vxs_record_read(const vxs_json *about, const char *file,
                                          vxs_record *record, vxs_error *err);
/* Name of class k in the file; "" if it has none. */
const char *vxs_record_class(const vxs_record *record, size_t k);
/* Number of outputs: one for a score or two classes, else one for each class or pair of classes;
 * and the name of one in columns. */
size_t vxs_record_outputs(const vxs_record *record);
const char *vxs_record_output(const vxs_record *record, size_t k, char text[VXS_OUTPUT_TEXT]);
/* hyperparameters.c: the tuning grid and cross-validated losses, `folds` rows each; empty if
 * nothing was tuned. Released by the caller, also after an error. */
VXS_MUST_CHECK vxs_status vxs_selection_read(const vxs_record *record, vxs_selection *selection,
                                             size_t *folds, vxs_error *err);

/* method_words.c: names of the hyperparameter of a path, which cross-validation chooses. */
typedef struct {
    vxs_path_kind by;     /* fractions of lambda_max, descending; else integers, ascending */
    const char *key;      /* JSON key of the tuning grid */
    const char *one;      /* JSON key of the chosen value */
    const char *name;     /* "lambda" */
    const char *chosen;   /* "the number of iterations" */
    const char *fixed;    /* "the penalty" */
    const char *each;     /* "number of iterations" */
    const char *measured; /* "of lambda_max" */
    const char *title;    /* "How lambda was chosen" */
    const char *axis;     /* "lambda / lambda_max"; NULL: number of feature blocks */
    const char *sizes;    /* "Number of selected features" */
    const char *followed; /* "path from lambda_max down" */
    const char *halving;  /* how stability selection fits the halves of the subjects */
} vxs_path_words;
const vxs_path_words *vxs_path_words_of(vxs_path_kind by);
const vxs_path_words *vxs_record_path(const vxs_record *record);
/* " and gamma" where several values of a second hyperparameter were tried; else "". */
const char *vxs_record_also(const vxs_record *record);

/* Kind of feature blocks that the method selects; VXS_SELECTS_NONE for methods with a weight for
 * each feature. */
typedef enum {
    VXS_SELECTS_NONE,
    VXS_SELECTS_FEATURES,
    VXS_SELECTS_GROUPS,
    VXS_SELECTS_PAIRS
} vxs_selected_kind;
vxs_selected_kind vxs_record_selects(const vxs_record *record);
const char *vxs_record_block_name(const vxs_record *record); /* "features and pairs" */
/* Of feature blocks: relative gap to which each selection is solved; weights are refitted on the
 * selection; columns are divided by the square root of their group's size. */
double vxs_record_selection_tol(const vxs_record *record);
bool vxs_record_is_refit(const vxs_record *record);
bool vxs_record_divides_by_size(const vxs_record *record);
/* True if a voxel's value is the norm of its weights, without sign. */
bool vxs_record_has_sizes(const vxs_record *record);
/* True if the model has fused regions; neighbors of a voxel in its graph: 6, 18 or 26. */
bool vxs_record_has_fused_regions(const vxs_record *record);
int vxs_record_neighbors(const vxs_record *record);
/* True if nearly every feature has a weight. */
bool vxs_record_is_dense(const vxs_record *record);
/* True if groups of features have kernels with weights (mkl). */
bool vxs_record_has_kernels(const vxs_record *record);
/* What classes are contrasted with, each or all at once: "against the rest". */
const char *vxs_record_rest(const vxs_record *record);
/* The contrast of an output of several classes: "AD against the rest", "AD against CN". */
const char *vxs_record_contrast(const vxs_record *record, size_t output,
                                char text[VXS_OUTPUT_TEXT]);
/* The class that weights of this sign favor; NULL: all but the output's class. */
const char *vxs_record_favored(const vxs_record *record, size_t output, bool positive);

/* Plain text with numbered citations. */
#define VXS_MOST_CITED 16
typedef struct {
    FILE *out;
    const char *cited[VXS_MOST_CITED];
    size_t count;
} vxs_prose;
void vxs_cite(vxs_prose *prose, const char *paper); /* " [2]" */
/* "age was predicted from 100 voxels with a lasso with squared loss, solved ... in voxsift 1.0." */
void vxs_describe_model(const vxs_record *record, vxs_prose *prose);
/* How to read the weights, where that needs explaining; else NULL. */
const char *vxs_weight_words(const vxs_record *record);
/* Settings of the method as rows: `begin` ends the last row, starts one with this name, and returns
 * the stream for its value. */
typedef struct {
    FILE *(*begin)(void *user, const char *name);
    void *user;
} vxs_setting_rows;
/* For descriptions: a number in words that have a %s for it; the tolerance, as the end of a
 * sentence; the row of a setting. */
void vxs_write_number(FILE *out, const char *words, double value);
void vxs_describe_gap(const vxs_record *record, vxs_prose *prose);
FILE *vxs_begin_row(const vxs_setting_rows *rows, const char *name);
/* Descriptions of a method, named by its row in estimators.c. */
struct vxs_method_words {
    void (*describe)(const vxs_record *record, vxs_prose *prose); /* name and citation */
    void (*solve)(const vxs_record *record, vxs_prose *prose);    /* continues "solved" */
    const char *(*weigh)(const vxs_record *record); /* how to read the weights; or NULL */
    void (*list)(const vxs_record *record, const vxs_setting_rows *rows); /* or NULL */
    bool fused_regions; /* neighbors along a graph have equal weights */
};
extern const struct vxs_method_words vxs_lasso_words, vxs_graphnet_words, vxs_fused_words,
    vxs_skfs_words, vxs_hsic_words, vxs_fgm_words, vxs_mslr_words, vxs_measure_words,
    vxs_group_lasso_words, vxs_svm_words, vxs_mkl_words;
void vxs_list_settings(const vxs_record *record, const vxs_setting_rows *rows);

#endif
