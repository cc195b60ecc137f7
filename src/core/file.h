/* file.h - the end of a written stream; private to the core room. */
#ifndef VXS_CORE_FILE_H
#define VXS_CORE_FILE_H

#include "voxsift/core.h"

/* Flushes and closes; NULL when every write since it was opened went through, else why not. */
const char *vxs_close_stream(FILE *stream);

#endif
