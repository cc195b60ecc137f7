/* fuzz_npy.c - an array that is accepted has all its items inside the bytes it came from. */
#include "tests/fuzz/fuzz.h"

int fuzz_npy(const uint8_t *bytes, size_t size)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_npy npy;
    if (vxs_npy_parse(bytes, size, "fuzz", &npy, &err)) {
        REFUSED_WELL(err);
        HOLDS(!npy.data && npy.count == 0);
        return 0;
    }
    size_t count = 1;
    HOLDS(npy.ndim >= 0 && npy.ndim <= VXS_NPY_DIMENSIONS);
    for (int d = 0; d < npy.ndim; d++)
        count *= npy.shape[d];
    HOLDS(count == npy.count);
    HOLDS((const uint8_t *)npy.data + count * (size_t)npy.item_size == bytes + size);
    volatile double sum = 0;
    for (size_t i = 0; i < npy.count; i++)
        sum = sum + vxs_npy_item(&npy, i);
    const float *floats = vxs_npy_floats(&npy);
    HOLDS(!floats || npy.count == 0 || memcmp(floats, npy.data, 4) == 0);
    vxs_npy_release(&npy);
    return 0;
}

FUZZER(fuzz_npy)
