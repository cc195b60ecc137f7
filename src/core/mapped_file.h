/* mapped_file.h - mapped files by address; for the core, design and cohort rooms. */
#ifndef VXS_CORE_MAPPED_FILE_H
#define VXS_CORE_MAPPED_FILE_H

#include "voxsift/internal/machine.h"

/* Registers the file `path`, open as `file`, mapped at `map`, for vxs_mapping_fault; `written`:
 * created here, so that the likely failure is a full disk. Duplicates the descriptor. */
void vxs_mapping_add(const void *map, size_t size, const char *path, int file, bool written);
/* Returns VXS_BAD_DATA if a file mapped for reading was modified since: results from it would mix
 * both states. */
VXS_MUST_CHECK vxs_status vxs_mappings_check(vxs_error *err);
/* Call before unmapping; ignores unregistered maps. */
void vxs_mapping_remove(const void *map);

#endif
