/* faults.h - every request for memory can be made to fail.
 *
 * The unit tests are linked with --wrap for malloc, calloc and realloc, so that our own requests
 * pass here first (those inside shared libraries do not). */
#ifndef VXS_TESTS_FAULTS_H
#define VXS_TESTS_FAULTS_H

#include "voxsift/core.h"

/* Runs the body with the first request failing, then with the second, and so on until it succeeds.
 * Each time but the last it must fail with VXS_FAILED and say that memory is short. Returns how
 * many requests the body makes. */
long fail_each_request(vxs_status (*body)(vxs_error *err));

/* From now on renameat2 knows no flags, as on network file systems; or knows them again. */
void refuse_rename_flags(bool refuse);

#endif
