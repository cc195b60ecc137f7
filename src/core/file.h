/* file.h - closing streams, checking directories; private to the core room. */
#ifndef VXS_CORE_FILE_H
#define VXS_CORE_FILE_H

#include "voxsift/internal/files.h"

#include <sys/stat.h>

/* Flushes, syncs to disk unless the context sets no_fsync, and closes; returns NULL if every write
 * since opening succeeded, else the reason. */
const char *vxs_close_stream(const vxs_context *context, FILE *stream);

/* Checks that every entry of the file's directory is a file or a directory: opening a pipe would
 * block. A directory that cannot be listed passes. */
VXS_MUST_CHECK vxs_status vxs_file_neighbors(const char *path, vxs_error *err);

#endif
