/* place.h - where an output goes; private to the core room.
 *
 * A name in a directory that is held open, and a private name beside it under which the output is
 * made. Every step goes through the handle of the directory and follows no symbolic link, so that
 * what was checked is what is renamed or removed. */
#ifndef VXS_CORE_PLACE_H
#define VXS_CORE_PLACE_H

#include "core/file.h"

typedef struct {
    const vxs_context *context;
    char *path;       /* as given, without slashes at its end; for messages */
    const char *name; /* its last component */
    char *work;       /* the private name */
    char *aside;      /* where the old one is, if it could not be put back; else NULL */
    int folder;       /* handle of the directory in which both are, or -1 */
    char *leftover;   /* its path, for the end by a signal */
    bool taken;       /* there is something of ours under the private name */
    bool replaces;    /* what is at the place now may go, if it is `old` */
    struct stat old;
} vxs_place;

/* Names the place and opens its directory; nothing is made. */
VXS_MUST_CHECK vxs_status vxs_place_init(vxs_place *place, const vxs_context *context,
                                         const char *path, vxs_error *err);
/* Handles are closed; what is under the private name stays. */
void vxs_place_release(vxs_place *place);
/* "cannot write 'PATH': reason" */
vxs_status vxs_place_refuse(const vxs_place *place, const char *reason, vxs_error *err);

/* Whether something is there that may be looked at further (`replaces`): a symbolic link, an input
 * of the run, what is no directory (or is one) and, without `replace`, anything at all is refused.
 */
VXS_MUST_CHECK vxs_status vxs_place_look(vxs_place *place, bool replace, bool directory,
                                         vxs_error *err);
/* Makes a regular file or a directory under a private name and opens it. */
VXS_MUST_CHECK vxs_status vxs_place_make(vxs_place *place, bool directory, int *handle,
                                         vxs_error *err);
/* Puts what is under the private name in place. In one step where kernel and file system can; if
 * something else was put there meanwhile that stays, and false and errno (EEXIST) say so. When an
 * older one was replaced, it is under the private name now (`taken`). */
bool vxs_place_move_in(vxs_place *place, bool directory);
/* What was replaced, and is under the private name, is of no more use: a signal that ends the
 * program may remove it as well. */
void vxs_place_give_up(const vxs_place *place);
/* Exchanges both again; false when the file system cannot. */
bool vxs_place_move_back(const vxs_place *place);
/* Why it could not be moved in, by errno. */
vxs_status vxs_place_not_moved(const vxs_place *place, vxs_error *err);

/* Makes what was written or renamed survive a power loss, unless the context says no_fsync; false
 * and errno when that fails. File systems that cannot are no failure. */
bool vxs_sync(const vxs_context *context, int handle);

/* output.c: a page that was put into a directory which voxsift made is a file of it from then on,
 * and on its list. Directories without such a list stay as they are. False and errno when the list
 * cannot be written; it is as it was then. */
bool vxs_output_adopt(const vxs_context *context, int folder, const char *name);

/* inputs.c */
void vxs_inputs_note(const struct stat *about);
bool vxs_inputs_have(const struct stat *about);

#endif
