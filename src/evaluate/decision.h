/* decision.h - the score above which a subject is said to be of the positive class; private to the
 * evaluate room. */
#ifndef VXS_EVALUATE_DECISION_H
#define VXS_EVALUATE_DECISION_H

#include "evaluate/evaluate.h"

/* The threshold by a rule ("f1"; NULL or "own": 0) from scores of held-out subjects of two classes,
 * whose weights are given, or NULL. */
VXS_MUST_CHECK vxs_status vxs_decision_learn(const char *rule, const vxs_predictions *predictions,
                                             const double *weights, double *threshold,
                                             vxs_error *err);

#endif
