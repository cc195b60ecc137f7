/* hash.h - SHA-256 of bytes that come piece by piece; private to the library. */
#ifndef VXS_CORE_HASH_H
#define VXS_CORE_HASH_H

#include "voxsift/internal/files.h"

#include <nettle/sha2.h>

typedef struct {
    struct sha256_ctx state;
} vxs_hash;
void vxs_hash_init(vxs_hash *hash);
void vxs_hash_add(vxs_hash *hash, const void *bytes, size_t length);
/* In hexadecimal; nothing is added afterwards. */
void vxs_hash_end(vxs_hash *hash, char text[VXS_HASH_TEXT]);

/* seal.c: a line of a seal, from a file that is read to its end. */
VXS_MUST_CHECK vxs_status vxs_seal_line(FILE *file, const char *name, FILE *seal, vxs_error *err);

#endif
