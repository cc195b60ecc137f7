/* vectors.c - which vectors of this processor our own kernels use, decided in one place. */
#include "voxsift/internal/machine.h"

#include <stdlib.h>
#include <string.h>

#define VARIABLE "VOXSIFT_VECTORS"

static const char *const names[] = {
    [VXS_VECTORS_PLAIN] = "plain",
    [VXS_VECTORS_AVX2] = "avx2",
    [VXS_VECTORS_AVX512] = "avx512",
};

static vxs_vectors widest(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return VXS_VECTORS_AVX512;
    if (__builtin_cpu_supports("avx2"))
        return VXS_VECTORS_AVX2;
#endif
    return VXS_VECTORS_PLAIN;
}

const char *vxs_vectors_name(vxs_vectors vectors)
{
    return names[vectors];
}

vxs_status vxs_vectors_check(vxs_error *err)
{
    const char *text = getenv(VARIABLE);
    vxs_vectors most = widest();
    for (int k = 0; text && *text && k < VXS_VECTORS_COUNT; k++)
        if (strcmp(text, names[k]) == 0)
            return k <= (int)most
                       ? VXS_OK
                       : vxs_fail(err, VXS_MISUSE,
                                  "environment variable " VARIABLE " is '%s', but this processor "
                                  "has at most '%s'",
                                  text, names[most]);
    if (!text || !*text)
        return VXS_OK;
    return vxs_fail(err, VXS_MISUSE,
                    "environment variable " VARIABLE " is 'plain', 'avx2' or 'avx512', not '%s'",
                    text);
}

vxs_vectors vxs_choose_vectors(void)
{
    const char *text = getenv(VARIABLE);
    vxs_vectors most = widest();
    for (int k = 0; text && k < (int)most; k++)
        if (strcmp(text, names[k]) == 0)
            return (vxs_vectors)k;
    return most;
}
