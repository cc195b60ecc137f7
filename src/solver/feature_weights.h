/* feature_weights.h - weights of features from those of selected blocks; private to the solver
 * room. */
#ifndef VXS_SOLVER_FEATURE_WEIGHTS_H
#define VXS_SOLVER_FEATURE_WEIGHTS_H

#include "voxsift/internal/solver.h"

/* Sets index and weight of the solution, whose weights are the refit ones if there are any. `p` is
 * the number of features. */
VXS_MUST_CHECK vxs_status vxs_selection_features(const vxs_blocks *blocks,
                                                 const vxs_feature_map *map, size_t p,
                                                 const vxs_selected *selected,
                                                 vxs_solution *solution, vxs_error *err);

#endif
