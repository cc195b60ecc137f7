/* compare.h - finished cross-validations compared; private to the evaluate room.
 *
 * compare_read.c reads directories and holds them against the first one; differing.c lists options
 * that differ; compare.c measures all models on the same draws and lists the pairs; three files
 * have a test each: swaps.c, resampled.c, delong.c; conclusion.c says it in a sentence;
 * compare_write.c writes the directory. */
#ifndef VXS_EVALUATE_COMPARE_COMPARE_H
#define VXS_EVALUATE_COMPARE_COMPARE_H

#include "evaluate/draws.h"
#include "voxsift/internal/compare.h"

/* compare_read.c: models, subjects, folds; released by vxs_compared_release whatever is
 * returned. */
VXS_MUST_CHECK vxs_status vxs_compared_read(vxs_compared *compared, const char *const *paths,
                                            const char *from, vxs_error *err);
/* compare_read.c: "'a' and 'b' WHAT" as VXS_BAD_DATA, of the first model and another. */
vxs_status vxs_compared_differ(const vxs_compared *compared, size_t model, vxs_error *err,
                               const char *format, ...) VXS_PRINTF(4, 5);
/* compare_rows.c: predictions.tsv and folds.tsv of one model; the first gives the subjects. */
VXS_MUST_CHECK vxs_status vxs_compared_rows(vxs_compared *compared, size_t model, size_t subjects,
                                            size_t repeats, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_compared_groups(vxs_compared *compared, vxs_error *err);
/* differing.c */
VXS_MUST_CHECK vxs_status vxs_compared_list_options(vxs_compared *compared, vxs_error *err);

/* compare.c: all models as predictors; `each` has room for them. */
vxs_evaluated vxs_compared_evaluated(const vxs_compared *compared, vxs_predictor *each);
size_t vxs_compared_outputs(const vxs_compared *compared);
vxs_predictor vxs_compared_predictor(const vxs_compared_model *model);

/* The tests, of all pairs and metrics. */
VXS_MUST_CHECK vxs_status vxs_compared_swap(const vxs_context *context, vxs_compared *compared,
                                            vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_compared_resample(vxs_compared *compared, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_compared_delong(vxs_compared *compared, vxs_error *err);
/* compare_write.c: all files. */
VXS_MUST_CHECK vxs_status vxs_compared_write(const vxs_context *context,
                                             const vxs_compared *compared, vxs_output *output,
                                             vxs_error *err);
/* conclusion.c */
VXS_MUST_CHECK vxs_status vxs_compared_conclude(vxs_compared *compared, vxs_error *err);

#endif
