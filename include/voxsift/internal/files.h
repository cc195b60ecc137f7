/* voxsift/internal/files.h - input files, and outputs that replace only outputs of voxsift. */
#ifndef VOXSIFT_INTERNAL_FILES_H
#define VOXSIFT_INTERNAL_FILES_H

#include "voxsift/internal/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Reading --------------------------------------------------------------------------------- */

/* Opens a file for reading; NULL and errno on failure. All reads of the library use this,
 * vxs_file_read or vxs_npy_open, which register them as inputs. */
FILE *vxs_file_open(const char *path);
/* Reads a whole file and appends a zero byte. */
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
/* Flushes and closes a stream opened for writing; reports any write error since it was opened. */
VXS_MUST_CHECK vxs_status vxs_file_close(FILE *stream, const char *path, vxs_error *err);

/* ---- Inputs of a run ------------------------------------------------------------------------- */

/* Between _begin and _end every file that this process reads is registered by device and inode, and
 * no output replaces it. Without _begin nothing is registered. Thread-safe. */
void vxs_inputs_begin(void);
void vxs_inputs_end(void);
/* Registers a file or directory before it is read; ignores missing ones. */
void vxs_inputs_add(const char *path);

/* ---- Output directories ---------------------------------------------------------------------- */

/* An output directory that appears whole or not at all: it is made under a private name beside its
 * final one and renamed by _commit; _free without _commit removes it. It holds a list of its files
 * (".voxsift"). An existing `path` is an error, unless `replace` is set and it is a directory with
 * such a list, holds only regular files of that list, and none of them is an input of the run; the
 * old directory stays in place until the new one is complete. A committed output survives a power
 * loss, unless the context sets no_fsync. The context must outlive the output. */
typedef struct vxs_output vxs_output;
VXS_MUST_CHECK vxs_status vxs_output_new(const vxs_context *context, const char *path, bool replace,
                                         vxs_output **output, vxs_error *err);
/* A directory in an output that is not committed, with a list of its own, for one level. Its
 * _commit makes it part of the outer one, whose commit puts both in place; --force takes it away
 * with the outer one, if it holds only what is on its list. Freed before the outer one. */
VXS_MUST_CHECK vxs_status vxs_output_new_inside(vxs_output *outer, const char *name,
                                                vxs_output **output, vxs_error *err);
/* The path of an output while it is not committed, for reading what is in it. */
const char *vxs_output_work(const vxs_output *output);
/* Checks before long work that vxs_output_new would succeed; creates nothing. */
VXS_MUST_CHECK vxs_status vxs_output_check(const char *path, bool replace, vxs_error *err);
/* Opens and closes a new file in it; messages contain its final path. */
VXS_MUST_CHECK vxs_status vxs_output_open(vxs_output *output, const char *name, FILE **stream,
                                          vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_output_close(vxs_output *output, FILE *stream, const char *name,
                                           vxs_error *err);
/* Takes room on the disk for a file of so many bytes, before it is written. */
VXS_MUST_CHECK vxs_status vxs_output_reserve(const vxs_output *output, FILE *stream,
                                             const char *name, size_t bytes, vxs_error *err);
/* Writes the last file: the SHA-256 of all others, in the format of sha256sum. */
VXS_MUST_CHECK vxs_status vxs_output_seal(vxs_output *output, const char *name, vxs_error *err);
/* Checks the existing files of a directory against its seal; `sealed` is false if there is no
 * seal. */
VXS_MUST_CHECK vxs_status vxs_seal_check(const char *directory, const char *name, bool *sealed,
                                         vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_output_commit(vxs_output *output, vxs_error *err);
void vxs_output_free(vxs_output *output);

/* ---- Outputs that are one file --------------------------------------------------------------- */

/* A single output file. An existing one is replaced only if `replace` is set, it is a regular file
 * with `mark` in its first 1024 bytes, and it is not an input of the run. The page owns the stream;
 * _commit closes it. In an output directory it becomes one of its files: it is added to the list,
 * and removed when that directory is replaced. */
typedef struct vxs_page vxs_page;
VXS_MUST_CHECK vxs_status vxs_page_new(const vxs_context *context, const char *path,
                                       const char *mark, bool replace, vxs_page **page,
                                       FILE **stream, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_page_commit(vxs_page *page, vxs_error *err);
void vxs_page_free(vxs_page *page);

/* ---- Checkpoints ----------------------------------------------------------------------------- */

/* A file with the finished work of a run until its output is in place. Locked from _open to _close,
 * so that two runs never share one. Errors: a locked file, a file that is not a checkpoint, and a
 * checkpoint with finished work, unless the run resumes it (VXS_RESUME) or may discard it
 * (VXS_DISCARD). */
enum {
    VXS_RESUME = 1,
    VXS_DISCARD = 2,
    VXS_RESUME_ANY = 4 /* with _RESUME: one of several, of which some may not have begun */
};
typedef struct vxs_checkpoint vxs_checkpoint;
VXS_MUST_CHECK vxs_status vxs_checkpoint_open(const vxs_context *context, const char *path,
                                              unsigned how, vxs_checkpoint **checkpoint,
                                              vxs_error *err);
const char *vxs_checkpoint_path(const vxs_checkpoint *checkpoint);
/* It holds finished work, of whatever run. */
bool vxs_checkpoint_has_work(const vxs_checkpoint *checkpoint);
/* Begins or resumes the records of the run with this SHA-256; a checkpoint of another run is an
 * error. The stream, for reading and writing, is positioned at the first record. */
VXS_MUST_CHECK vxs_status vxs_checkpoint_begin(vxs_checkpoint *checkpoint, const char *identity,
                                               FILE **stream, vxs_error *err);
/* Called after a record: a killed process loses no earlier record, a power loss at most the last
 * VXS_CHECKPOINT_SECONDS. False and errno on failure. */
#define VXS_CHECKPOINT_SECONDS 10
bool vxs_checkpoint_flush(vxs_checkpoint *checkpoint);
/* Removes the file if the run is finished or has no finished work; returns whether it holds
 * finished work of this run. Accepts NULL. */
bool vxs_checkpoint_close(vxs_checkpoint *checkpoint, bool finished);

#ifdef __cplusplus
}
#endif

#endif
