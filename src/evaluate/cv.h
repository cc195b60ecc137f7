/* cv.h - a running cross-validation; private to the evaluate room.
 *
 * Data moves one way: folds.c assigns test subjects, cv.c lists the inner jobs, choose.c takes
 * lambda from their losses and calibrates, cv.c solves the outer jobs, held_out.c evaluates
 * them. */
#ifndef VXS_EVALUATE_CV_H
#define VXS_EVALUATE_CV_H

#include "evaluate/chunks/chunk.h"

/* One outer fold of one repeat, while it lasts. */
typedef struct {
    vxs_cv *cv;
    size_t number; /* repeat x folds + fold */
    size_t *train, *test;
    size_t train_count, test_count;
    size_t inner_count; /* inner jobs, one a fold */
    vxs_job *inner;
    size_t **inner_train, **inner_test; /* subjects of the task */
    size_t chosen;                      /* number of the try */
    double *inner_scores;               /* outputs x n, at the chosen try */
    double threshold;                   /* of Huber's loss, of the training subjects */
    double *slope, *offset;             /* an output each: logit of the calibrated probability */
    double decision;                    /* threshold of scores */
    const vxs_metric_row *chosen_by;    /* NULL: the loss */
} vxs_fold_work;

/* Intervals of draws of fewer groups are too narrow (Cameron, Gelbach and Miller 2008). */
#define VXS_FEW_GROUPS 10

/* cv.c: folds and room for a cross-validation, which is released whatever is returned; and what is
 * said of all folds when each is known. */
VXS_MUST_CHECK vxs_status vxs_cv_begin(const vxs_task *task, const vxs_cv_settings *settings,
                                       const vxs_method_settings *method, vxs_cv *cv,
                                       vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_cv_finish(const vxs_context *context, vxs_cv *cv, vxs_error *err);
/* Deals all folds of all chunks as they will be and fits nothing. Whether each training part has
 * enough of each class, or, where `trainable` is NULL, a refusal of the first that has not. */
VXS_MUST_CHECK vxs_status vxs_cv_rehearse(const vxs_task *task, const vxs_cv_settings *settings,
                                          const vxs_method_settings *method, bool *trainable,
                                          vxs_error *err);
/* fold_work.c: the subjects of an outer fold and its inner jobs, released by _end whatever is
 * returned. */
VXS_MUST_CHECK vxs_status vxs_fold_begin(vxs_fold_work *work, vxs_cv *cv, size_t number,
                                         vxs_error *err);
/* Whether all training parts have enough of each class; or a refusal of the first that has not. */
bool vxs_fold_is_trainable(const vxs_fold_work *work);
VXS_MUST_CHECK vxs_status vxs_fold_check(const vxs_fold_work *work, vxs_error *err);
void vxs_fold_end(vxs_fold_work *work, size_t outputs);
/* cv_folds.c */
void vxs_cv_folds_json(vxs_json_writer *writer, const vxs_cv *cv);
/* cv_chunk.c: for its fingerprint. */
vxs_run vxs_cv_as_run(const vxs_cv *cv);
/* The part of a cross-validation that is a chunk. */
VXS_MUST_CHECK vxs_status vxs_cv_write_part(const vxs_context *context, const vxs_cv *cv,
                                            vxs_output *output, vxs_error *err);
/* cv_write.c: all files of a cross-validation or of its part. */
VXS_MUST_CHECK vxs_status vxs_cv_write(const vxs_context *context, const vxs_cv *cv,
                                       vxs_output *output, vxs_error *err);
/* inner_paths.c: the inner jobs of all folds, in rounds. */
enum { VXS_INNER_ROUNDS = 8 };
VXS_MUST_CHECK vxs_status vxs_inner_run(const vxs_job_common *common, vxs_cv *cv,
                                        vxs_fold_work *works, vxs_error *err);
/* choose.c: mean loss of an inner job's test subjects at a try, by the fold's calibration. */
double vxs_inner_loss(const vxs_fold_work *work, const vxs_job *job, size_t number);
/* 1 or -1 for an output, NAN of who is not in its pair of classes; the score itself when there are
 * no classes. The same for a score of a subject: two classes, or each against the rest. */
typedef double vxs_truth_of(const vxs_task *task, size_t number, size_t i);
vxs_truth_of vxs_output_truth, vxs_score_truth;
/* Weights of the two sides of an output or a score, in the losses that choose: as in the fits. */
void vxs_side_weights(const vxs_fold_work *work, vxs_truth_of *truth, size_t number,
                      double weight[2]);
/* by_measure.c: of method measure the default of --choose-by, and of roc that of --decision. */
#define VXS_BY_MEASURE "measure"
void vxs_choosing_default(vxs_cv *cv);
VXS_MUST_CHECK vxs_status vxs_measure_try_check(const vxs_cv *cv, vxs_error *err);
/* 1 - the measure of inner scores: of all at once, or the mean over inner folds where it compares
 * subjects; the mean over outputs. */
VXS_MUST_CHECK vxs_status vxs_measure_try(const vxs_fold_work *work, double *miss, vxs_error *err);
/* Whether --choose-by and --decision can be had. */
VXS_MUST_CHECK vxs_status vxs_choosing_check(const vxs_cv *cv, vxs_error *err);
bool vxs_chooses_by_loss(const vxs_cv_settings *settings);
/* The first try of the same path. */
size_t vxs_first_of_path(const vxs_tuning_grid *tuning, size_t number);
/* The try, the inner scores at it and their metrics, and the calibration. */
VXS_MUST_CHECK vxs_status vxs_choose(vxs_fold_work *work, vxs_error *err);
/* held_out.c: scores, probabilities, baselines and metrics of the held-out subjects. */
VXS_MUST_CHECK vxs_status vxs_evaluate_fold(vxs_fold_work *work, const vxs_job *outer,
                                            const double *global_signal, vxs_error *err);
/* dense_baseline.c: why there is no dense linear baseline; NULL: there is one. */
const char *vxs_dense_left_out(const vxs_cv *cv);
/* Its scores in all folds, or NAN where they are no numbers. */
VXS_MUST_CHECK vxs_status vxs_dense_baseline(const vxs_context *context, vxs_cv *cv,
                                             const vxs_fold_work *works, vxs_error *err);
/* Leaves it out if a score is NAN. */
void vxs_dense_finish(vxs_cv *cv);
/* comparison.c: model and baselines over all folds by one convention, with intervals. */
VXS_MUST_CHECK vxs_status vxs_evaluate_all(const vxs_context *context, vxs_cv *cv, vxs_error *err);

#endif
