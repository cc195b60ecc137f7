/* exchange.h - exchangeable units of a permutation; private to the evaluate room. */
#ifndef VXS_EVALUATE_EXCHANGE_H
#define VXS_EVALUATE_EXCHANGE_H

#include "evaluate/evaluate.h"

/* Units are single subjects, or several with their order; those of one kind are exchangeable. */
typedef struct {
    const char *unit; /* "subjects", "people" or "blocks" */
    size_t units, kinds;
    size_t *start;  /* kinds + 1: the first member of a kind */
    size_t *length; /* of a kind: subjects in each of its units */
    size_t *member; /* subjects, kind by kind, unit by unit */
} vxs_exchange;
VXS_MUST_CHECK vxs_status vxs_exchange_make(const vxs_task *task, const char *blocks, bool whole,
                                            vxs_exchange *exchange, vxs_error *err);
void vxs_exchange_release(vxs_exchange *exchange);
/* ln of how many ways there are to give out the scores. */
VXS_MUST_CHECK vxs_status vxs_exchange_ways(const vxs_exchange *exchange, const double *score,
                                            double *log_ways, vxs_error *err);
/* The unit at a place gets the scores of one of its kind. */
VXS_MUST_CHECK vxs_status vxs_exchange_scores(const vxs_exchange *exchange,
                                              const vxs_random *random, const double *from,
                                              double *to, vxs_error *err);

#endif
