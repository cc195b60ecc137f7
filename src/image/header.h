/* header.h - image headers; private to the image room. */
#ifndef VXS_IMAGE_HEADER_H
#define VXS_IMAGE_HEADER_H

#include "voxsift/internal/image.h"

/* Bytes required for a header of any version. */
#define VXS_HEADER_BYTES 540
/* Plus extension flag, size and code of the first extension. */
#define VXS_HEADER_PEEK (VXS_HEADER_BYTES + 12)

/* Checks every field that affects memory or meaning, and fills all but the private fields of image.
 * *offset is the position of the items in their file, which is another file if *pair. `bytes`
 * begins the content. */
VXS_MUST_CHECK vxs_status vxs_header_read(const char *bytes, size_t length, const char *name,
                                          vxs_image *image, size_t *offset, bool *pair,
                                          vxs_error *err);
/* Bytes per item, 0 for unsupported types. */
size_t vxs_datatype_size(int datatype);

#endif
