/* mapped_file.h - files that are mapped, by address; for the core, design and cohort rooms. */
#ifndef VXS_CORE_MAPPED_FILE_H
#define VXS_CORE_MAPPED_FILE_H

#include "voxsift/internal/machine.h"

/* Notes that the file `path`, open as `file`, stands at `map`, so that vxs_map_fault can name it;
 * `written`: it is made here, and full disks are what it fails by. The descriptor is duplicated. */
void vxs_map_note(const void *map, size_t size, const char *path, int file, bool written);
/* VXS_BAD_DATA if a file that is mapped to be read was written to since: what was computed from it
 * is of neither state. */
VXS_MUST_CHECK vxs_status vxs_maps_check(vxs_error *err);
/* Before the map goes; of a map that was not noted nothing happens. */
void vxs_map_forget(const void *map);

#endif
