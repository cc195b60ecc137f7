/* saiv.h - what tests and benchmarks see of the solver of kernel machines; private to the solver.
 */
#ifndef VXS_SOLVER_SAIV_SAIV_H
#define VXS_SOLVER_SAIV_SAIV_H

#include "solver/saiv/sample_bounds.h"
#include "solver/solver.h"

/* Since the solver began: samples that were in a working set, whose kernel values with each other
 * were read; those whose values with all samples were; steps of two weights. */
typedef struct {
    size_t members, columns, steps;
} vxs_saiv_counts;
vxs_saiv_counts vxs_saiv_count(const vxs_solver *solver);
/* Of the last fit: what bounds have decided, a variable each. */
const unsigned char *vxs_saiv_fates(const vxs_solver *solver);

#endif
