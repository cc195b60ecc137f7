/* hash.h - incremental SHA-256; private to the library. */
#ifndef VXS_CORE_HASH_H
#define VXS_CORE_HASH_H

#include "voxsift/internal/files.h"

#include <nettle/sha2.h>

typedef struct {
    struct sha256_ctx state;
} vxs_hash;
void vxs_hash_init(vxs_hash *hash);
void vxs_hash_add(vxs_hash *hash, const void *bytes, size_t length);
/* Returns the hash in hexadecimal; no more bytes may be added. */
void vxs_hash_end(vxs_hash *hash, char text[VXS_HASH_TEXT]);

/* seal.c: writes the line of one file to a seal. */
VXS_MUST_CHECK vxs_status vxs_seal_line(FILE *file, const char *name, FILE *seal, vxs_error *err);

#endif
