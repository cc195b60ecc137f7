/* output_list.h - the list of its files that an output directory holds; private to the core room.
 *
 * A title, then a name a line; a directory has a slash behind its name. */
#ifndef VXS_CORE_OUTPUT_LIST_H
#define VXS_CORE_OUTPUT_LIST_H

#include "core/place.h"

#define VXS_LIST         ".voxsift"
#define VXS_LIST_TITLE   "files of a voxsift output:\n"
#define VXS_LIST_LONGEST ((off_t)1 << 28) /* bytes: a million long names */

/* A plain file name: no path, no other directory, not the list itself. */
bool vxs_list_is_name(const char *name, size_t length);
/* An entry is of a directory. */
bool vxs_list_is_folder(const char *entry);
/* A list is valid as a whole or not at all: every line is a terminated name. */
VXS_MUST_CHECK vxs_status vxs_list_check(const vxs_place *place, const char *list, size_t length,
                                         vxs_error *err);

#endif
