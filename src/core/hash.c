/* hash.c - SHA-256 of the inputs and outputs of a run. */
#include "core/hash.h"

void vxs_hash_init(vxs_hash *hash)
{
    sha256_init(&hash->state);
}

void vxs_hash_add(vxs_hash *hash, const void *bytes, size_t length)
{
    if (length > 0)
        sha256_update(&hash->state, length, bytes);
}

void vxs_hash_end(vxs_hash *hash, char text[VXS_HASH_TEXT])
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_digest(&hash->state, sizeof(digest), digest);
    for (size_t i = 0; i < sizeof(digest); i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
}

void vxs_sha256(const void *a, size_t a_length, const void *b, size_t b_length,
                char text[VXS_HASH_TEXT])
{
    vxs_hash hash;
    vxs_hash_init(&hash);
    vxs_hash_add(&hash, a, a_length);
    vxs_hash_add(&hash, b, b_length);
    vxs_hash_end(&hash, text);
}
