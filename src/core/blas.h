/* blas.h - private to the core room: whether there is memory that another library will take. */
#ifndef VXS_CORE_BLAS_H
#define VXS_CORE_BLAS_H

#include "voxsift/internal/core.h"

/* `count` blocks of `size` bytes of address space could be had now. */
bool vxs_room_for(size_t count, size_t size);

#endif
