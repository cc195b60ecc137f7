/* blas.h - private to the core room: availability of memory that another library will allocate. */
#ifndef VXS_CORE_BLAS_H
#define VXS_CORE_BLAS_H

#include "voxsift/internal/core.h"

/* Tests whether `count` blocks of `size` bytes of address space are available now. */
bool vxs_room_for(size_t count, size_t size);

#endif
