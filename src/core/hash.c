/* hash.c - which bytes an answer was made from. */
#include "voxsift/core.h"

#include <nettle/sha2.h>

void vxs_sha256(const void *a, size_t a_length, const void *b, size_t b_length,
                char text[VXS_HASH_TEXT])
{
    struct sha256_ctx state;
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_init(&state);
    sha256_update(&state, a_length, a);
    if (b_length > 0)
        sha256_update(&state, b_length, b);
    sha256_digest(&state, sizeof(digest), digest);
    for (size_t i = 0; i < sizeof(digest); i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
}
