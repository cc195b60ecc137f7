/* source.h - the content of a file, compressed or not; private to the image room. */
#ifndef VXS_IMAGE_SOURCE_H
#define VXS_IMAGE_SOURCE_H

#include "voxsift/internal/files.h"

typedef struct {
    const char *name;  /* for messages */
    const char *bytes; /* of the file */
    size_t length;
    char *owned; /* the same if read by us */
    bool compressed;
} vxs_source;

VXS_MUST_CHECK vxs_status vxs_source_open(const char *path, vxs_source *source, vxs_error *err);
/* Opens the first bytes only, enough for a header. */
VXS_MUST_CHECK vxs_status vxs_source_open_start(const char *path, vxs_source *source,
                                                vxs_error *err);
void vxs_source_of_memory(const char *bytes, size_t length, const char *name, vxs_source *source);
void vxs_source_release(vxs_source *source);

/* The first bytes of the content, at most `size`; *got is their number. Ignores later damage. */
VXS_MUST_CHECK vxs_status vxs_source_peek(const vxs_source *source, char *bytes, size_t size,
                                          size_t *got, vxs_error *err);

/* The first `size` bytes of the content. For compressed content all checksums are verified and the
 * caller frees *owned; otherwise *content points into the source and *owned is NULL. Shorter
 * content is an error (truncated). */
VXS_MUST_CHECK vxs_status vxs_source_take(const vxs_source *source, size_t size,
                                          const char **content, char **owned, vxs_error *err);

#endif
