/* file.h - streams of files, and what stands beside a file; private to the core room. */
#ifndef VXS_CORE_FILE_H
#define VXS_CORE_FILE_H

#include "voxsift/internal/files.h"

#include <sys/stat.h>

/* Flushes, makes the file survive a power loss unless the context says no_fsync, and closes; NULL
 * when every write since it was opened went through, else why not. */
const char *vxs_close_stream(const vxs_context *context, FILE *stream);

/* Every entry of the file's directory must be a file or a directory: to open a pipe is to wait for
 * whoever writes to it. A directory that cannot be listed passes. */
VXS_MUST_CHECK vxs_status vxs_file_neighbors(const char *path, vxs_error *err);

#endif
