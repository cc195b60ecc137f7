/* source.h - the bytes of a file, compressed or not; private to the image room. */
#ifndef VXS_IMAGE_SOURCE_H
#define VXS_IMAGE_SOURCE_H

#include "voxsift/internal/files.h"

typedef struct {
    const char *name;  /* for messages */
    const char *bytes; /* of the file */
    size_t length;
    char *owned; /* the same when it was read by us */
    bool compressed;
} vxs_source;

VXS_MUST_CHECK vxs_status vxs_source_open(const char *path, vxs_source *source, vxs_error *err);
/* Its first bytes only, which is enough to peek at a header. */
VXS_MUST_CHECK vxs_status vxs_source_open_start(const char *path, vxs_source *source,
                                                vxs_error *err);
void vxs_source_of_memory(const char *bytes, size_t length, const char *name, vxs_source *source);
void vxs_source_release(vxs_source *source);

/* The first bytes of the content, at most `size`; *got says how many there are. Damage behind them
 * is not noticed. */
VXS_MUST_CHECK vxs_status vxs_source_peek(const vxs_source *source, char *bytes, size_t size,
                                          size_t *got, vxs_error *err);

/* The first `size` bytes of the content. Of compressed content, every checksum is verified to the
 * end, and *owned is to be freed; else *content points into the source and *owned is NULL. Content
 * that ends before is refused as truncated. */
VXS_MUST_CHECK vxs_status vxs_source_take(const vxs_source *source, size_t size,
                                          const char **content, char **owned, vxs_error *err);

#endif
