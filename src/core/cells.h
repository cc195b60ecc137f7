/* cells.h - cells of tables as they are compared and written; private to the core room. */
#ifndef VXS_CORE_CELLS_H
#define VXS_CORE_CELLS_H

#include "voxsift/internal/core.h"

/* Same as vxs_shown_next, but tabs and line ends become blanks. */
size_t vxs_cell_next(const char *cell, size_t left, char shown[VXS_SHOWN]);
/* Whether it stands for no value: empty, n/a, nan and the like. */
bool vxs_cell_is_missing(const char *cell);
/* Tests whether `text` has the visible form `cell`. */
bool vxs_cell_is(const char *cell, const char *text);
/* Replaces cells whose visible form differs; allocates their texts in `storage`, which the caller
 * frees, NULL if there are none. */
VXS_MUST_CHECK vxs_status vxs_cells_show(const char **cells, size_t count, char **room,
                                         vxs_error *err);

#endif
