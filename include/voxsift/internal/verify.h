/* voxsift/internal/verify.h - what of the checker the model room calls besides. */
#ifndef VOXSIFT_INTERNAL_VERIFY_H
#define VOXSIFT_INTERNAL_VERIFY_H

#include "voxsift/internal/design.h"
#include "voxsift/verify.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Refuses a kernel of low rank that is not the one of its landmarks, or does not lack of the kernel
 * between the rows what it says. */
VXS_MUST_CHECK vxs_status vxs_check_low_rank(const vxs_kernel *kernel, const vxs_kernel_rows *rows,
                                             const vxs_low_rank *of_low_rank, vxs_error *err);

#ifdef __cplusplus
}
#endif

#endif
