/* voxsift/internal/files.h - files in, and outputs that replace nothing but what voxsift made. */
#ifndef VOXSIFT_INTERNAL_FILES_H
#define VOXSIFT_INTERNAL_FILES_H

#include "voxsift/internal/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Reading --------------------------------------------------------------------------------- */

/* Opens a file for reading; NULL and errno when that fails. All files of the library are read
 * through this or through vxs_file_read and vxs_npy_open, which note them as inputs. */
FILE *vxs_file_open(const char *path);
/* The whole file and a zero byte behind it. */
VXS_MUST_CHECK vxs_status vxs_file_read(const char *path, char **bytes, size_t *length,
                                        vxs_error *err);
/* Says that the file cannot be opened, by errno, and whether it is there packed or unpacked. */
vxs_status vxs_file_missing(const char *path, vxs_error *err);
/* A file or directory beside `path` with nearly its name. */
#define VXS_NEAR_TEXT 256
bool vxs_file_near(const char *path, char near[VXS_NEAR_TEXT]);
/* Refuses a directory without the file that one of this kind has ("cohort.json"), by what it is
 * instead. */
VXS_MUST_CHECK vxs_status vxs_folder_check(const char *path, const char *file, vxs_error *err);
/* "cohort", "model", ...; NULL: voxsift did not make it. */
const char *vxs_folder_kind(const char *path);
/* SHA-256 of two pieces one after the other, in hexadecimal. */
#define VXS_HASH_TEXT 65
void vxs_sha256(const void *a, size_t a_length, const void *b, size_t b_length,
                char text[VXS_HASH_TEXT]);
/* Flushes and closes a stream opened for writing, and says what went wrong in any write since it
 * was opened. */
VXS_MUST_CHECK vxs_status vxs_file_close(FILE *stream, const char *path, vxs_error *err);

/* ---- Inputs of a run ------------------------------------------------------------------------- */

/* Between _begin and _end every file that this process reads is noted by device and inode, whatever
 * its name, and no output replaces it. Without _begin nothing is noted. By any thread. */
void vxs_inputs_begin(void);
void vxs_inputs_end(void);
/* Notes a file or directory before it is read; one that is not there is passed over. */
void vxs_inputs_add(const char *path);

/* ---- Output directories ---------------------------------------------------------------------- */

/* An output directory that appears whole or not at all: it is made under a private name beside its
 * final one and renamed by _commit; _free without _commit removes it. It holds a list of its files
 * (".voxsift"). An existing `path` is refused, unless `replace` is set and it is a directory with
 * such a list, holds regular files of that list and nothing else, and none of them is an input of
 * the run; the old one stays in place until the new one is whole. Unless the context says no_fsync,
 * what _commit has put in place survives a power loss. The context must outlive the output. */
typedef struct vxs_output vxs_output;
VXS_MUST_CHECK vxs_status vxs_output_new(const vxs_context *context, const char *path, bool replace,
                                         vxs_output **output, vxs_error *err);
/* Whether vxs_output_new would refuse `path`, before long work; leaves nothing. */
VXS_MUST_CHECK vxs_status vxs_output_check(const char *path, bool replace, vxs_error *err);
/* A new file in it, and its end; messages name the place it will have. */
VXS_MUST_CHECK vxs_status vxs_output_open(vxs_output *output, const char *name, FILE **stream,
                                          vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_output_close(vxs_output *output, FILE *stream, const char *name,
                                           vxs_error *err);
/* The last file in it: the SHA-256 of each of the others, in lines that sha256sum writes and
 * checks.
 */
VXS_MUST_CHECK vxs_status vxs_output_seal(vxs_output *output, const char *name, vxs_error *err);
/* Whether the files of a directory that are there are as the seal in it says; `sealed` is false
 * where there is no seal, and then nothing is known. */
VXS_MUST_CHECK vxs_status vxs_seal_check(const char *directory, const char *name, bool *sealed,
                                         vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_output_commit(vxs_output *output, vxs_error *err);
void vxs_output_free(vxs_output *output);

/* ---- Outputs that are one file --------------------------------------------------------------- */

/* The same of a single file. An existing one is replaced only if `replace` is set, it is a regular
 * file with `mark` in its first 1024 bytes, and it is no input of the run. The stream belongs to
 * the page; _commit closes it. In an output directory it becomes one of its files: it is added to
 * the list, and goes when that directory is replaced. */
typedef struct vxs_page vxs_page;
VXS_MUST_CHECK vxs_status vxs_page_new(const vxs_context *context, const char *path,
                                       const char *mark, bool replace, vxs_page **page,
                                       FILE **stream, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_page_commit(vxs_page *page, vxs_error *err);
void vxs_page_free(vxs_page *page);

/* ---- Checkpoints ----------------------------------------------------------------------------- */

/* A file in which a run keeps what it has finished until its output is in place. Locked from _open
 * to _close, so that two runs never share one; a second run is refused. A file of that name which
 * is no checkpoint is refused, and so is a checkpoint with finished work, unless the run goes on
 * from it (VXS_RESUME) or may discard it (VXS_DISCARD). */
enum { VXS_RESUME = 1, VXS_DISCARD = 2 };
typedef struct vxs_checkpoint vxs_checkpoint;
VXS_MUST_CHECK vxs_status vxs_checkpoint_open(const vxs_context *context, const char *path,
                                              unsigned how, vxs_checkpoint **checkpoint,
                                              vxs_error *err);
const char *vxs_checkpoint_path(const vxs_checkpoint *checkpoint);
/* Begins or goes on with the records of the run whose identity is this SHA-256; a checkpoint of
 * another run is refused. The stream, for reading and writing, stands at the first record. */
VXS_MUST_CHECK vxs_status vxs_checkpoint_begin(vxs_checkpoint *checkpoint, const char *identity,
                                               FILE **stream, vxs_error *err);
/* After a record: a killed process loses nothing that was written before, a power loss at most the
 * last VXS_CHECKPOINT_SECONDS. False and errno when it cannot be written. */
#define VXS_CHECKPOINT_SECONDS 10
bool vxs_checkpoint_flush(vxs_checkpoint *checkpoint);
/* Removes the file when the run is finished or nothing was; says whether finished work of this run
 * stands in it. NULL is accepted. */
bool vxs_checkpoint_close(vxs_checkpoint *checkpoint, bool finished);

#ifdef __cplusplus
}
#endif

#endif
