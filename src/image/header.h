/* header.h - the header of an image, checked; private to the image room. */
#ifndef VXS_IMAGE_HEADER_H
#define VXS_IMAGE_HEADER_H

#include "voxsift/internal/image.h"

/* Bytes a header of any version needs. */
#define VXS_HEADER_BYTES 540
/* And what follows it at most: whether there are extensions, the first one's size and code. */
#define VXS_HEADER_PEEK (VXS_HEADER_BYTES + 12)

/* Checks every field that decides about memory or meaning, and fills all but the private part of
 * image. *offset is where the items start, in the file they are in; *pair says that it is another
 * file. `bytes` are the first ones of the content. */
VXS_MUST_CHECK vxs_status vxs_header_read(const char *bytes, size_t length, const char *name,
                                          vxs_image *image, size_t *offset, bool *pair,
                                          vxs_error *err);
/* Bytes of one item, 0 for types that are not read. */
size_t vxs_datatype_size(int datatype);

#endif
