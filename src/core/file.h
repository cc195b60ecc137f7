/* file.h - streams of files; private to the core room. */
#ifndef VXS_CORE_FILE_H
#define VXS_CORE_FILE_H

#include "voxsift/files.h"

#include <sys/stat.h>

/* Flushes, makes the file survive a power loss unless the context says no_fsync, and closes; NULL
 * when every write since it was opened went through, else why not. */
const char *vxs_close_stream(const vxs_context *context, FILE *stream);

#endif
