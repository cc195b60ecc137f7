/* within.h - a metric of each person by its own rows; private to the evaluate room. */
#ifndef VXS_EVALUATE_WITHIN_H
#define VXS_EVALUATE_WITHIN_H

#include "evaluate/draws.h"

/* The AUC of classes, or r of scores, mean over repeats; released whatever is returned. */
VXS_MUST_CHECK vxs_status vxs_measure_within(const vxs_evaluated *evaluated,
                                             const vxs_predictor *of, const vxs_task *task,
                                             vxs_within *within, vxs_error *err);
void vxs_within_release(vxs_within *within);
/* Key "within_people", if there is any. */
void vxs_within_json(vxs_json_writer *writer, const vxs_within *within);
/* people.tsv */
void vxs_within_write(const vxs_task *task, const vxs_within *within, FILE *stream);

#endif
