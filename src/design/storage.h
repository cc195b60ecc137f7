/* storage.h - floats in memory, or in an unnamed file; private to the design room. */
#ifndef VXS_DESIGN_STORAGE_H
#define VXS_DESIGN_STORAGE_H

#include "voxsift/internal/core.h"

typedef struct {
    float *values;
    size_t mapped; /* size of the file in bytes; 0: in memory */
} vxs_storage;
/* Uses a file in $TMPDIR or /tmp if the values need more than `memory` bytes. `what` is for
 * messages. */
VXS_MUST_CHECK vxs_status vxs_storage_init(vxs_storage *storage, size_t rows, size_t columns,
                                           size_t memory, const char *what, vxs_error *err);
void vxs_storage_release(vxs_storage *storage);

#endif
