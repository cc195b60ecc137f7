/* faults.h - every request for memory can be made to fail, and steps on files can be watched.
 *
 * The unit tests are linked with --wrap for malloc, calloc, realloc, renameat2, fsync and fcntl, so
 * that our own calls pass here first (those inside shared libraries do not). */
#ifndef VXS_TESTS_FAULTS_H
#define VXS_TESTS_FAULTS_H

#include "voxsift/internal/files.h"

/* Runs the body with the first request failing, then with the second, and so on until it succeeds.
 * Each time but the last it must fail with VXS_FAILED and say that memory is short. Returns how
 * many requests the body makes. */
long fail_each_request(vxs_status (*body)(vxs_error *err));

/* The status of the body when request k, from 0, fails. */
vxs_status fail_request(long k, vxs_status (*body)(vxs_error *err));

/* From now on renameat2 knows no flags, as on network file systems; or knows them again. */
void refuse_rename_flags(bool refuse);

/* From now on files cannot be locked (ENOLCK), or can again. */
void refuse_locks(bool refuse);

/* From now on fsync fails with this reason; 0: it works again. */
void fail_sync(int reason);

/* Called once, right before the next renameat2. */
void before_rename(void (*function)(void));

/* Called before each fsync from now on; NULL: no more. */
void before_sync(void (*function)(void));

/* From now on every fsync and rename is written down, until NULL is given: "NAME of N bytes, ",
 * "directory NAME, ", "rename NAME, ", where private names of outputs are PRIVATE. */
void watch_steps(char *buffer, size_t room);

#endif
