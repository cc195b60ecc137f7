/* place.h - the target of an output; private to the core room.
 *
 * A name in a directory that is held open, and a private name beside it under which the output is
 * created. Every step uses the handle of the directory and follows no symbolic link, so that the
 * file that was checked is the file that is renamed or removed. */
#ifndef VXS_CORE_PLACE_H
#define VXS_CORE_PLACE_H

#include "core/file.h"

typedef struct {
    const vxs_context *context;
    char *path;       /* the given path without trailing slashes; for messages */
    const char *name; /* its last component */
    char *work;       /* the private name */
    char *aside;      /* name of the old one if it could not be put back; else NULL */
    int folder;       /* handle of the directory of both names, or -1 */
    char *leftover;   /* path of the private name, for removal after a signal */
    bool taken;       /* the private name exists and is ours */
    bool replaces;    /* the existing target may be replaced if it is `old` */
    struct stat old;
} vxs_place;

/* Sets the target and opens its directory; creates nothing. */
VXS_MUST_CHECK vxs_status vxs_place_init(vxs_place *place, const vxs_context *context,
                                         const char *path, vxs_error *err);
/* Closes handles; keeps the file under the private name. */
void vxs_place_release(vxs_place *place);
/* "cannot write 'PATH': reason" */
vxs_status vxs_place_refuse(const vxs_place *place, const char *reason, vxs_error *err);

/* Examines an existing target; sets `replaces`. Fails for a symbolic link, an input of the run, the
 * wrong type and, without `replace`, any existing file. */
VXS_MUST_CHECK vxs_status vxs_place_examine(vxs_place *place, bool replace, bool directory,
                                            vxs_error *err);
/* Creates and opens a regular file or a directory under the private name. */
VXS_MUST_CHECK vxs_status vxs_place_make(vxs_place *place, bool directory, int *handle,
                                         vxs_error *err);
/* Renames the private name to the target, in one step if kernel and file system can; if another
 * file was put there meanwhile that stays, and the result is false with errno EEXIST. A replaced
 * file is under the private name afterwards (`taken`). */
bool vxs_place_move_in(vxs_place *place, bool directory);
/* Allows a signal to remove the replaced file under the private name. */
void vxs_place_release_replaced(const vxs_place *place);
/* Exchanges both again; false if the file system cannot. */
bool vxs_place_move_back(const vxs_place *place);
/* Reports why the rename failed, by errno. */
vxs_status vxs_place_not_moved(const vxs_place *place, vxs_error *err);

/* Makes written or renamed files survive a power loss, unless the context sets no_fsync; false and
 * errno on failure. File systems without support are no failure. */
bool vxs_sync(const vxs_context *context, int handle);

/* output_list.c: adds a page in an output directory to its list. Does nothing in those without
 * such a list. False and errno when the list cannot be written; it is unchanged then. */
bool vxs_output_adopt(const vxs_context *context, int folder, const char *name);

/* inputs.c */
void vxs_inputs_note(const struct stat *about);
bool vxs_inputs_have(const struct stat *about);

#endif
