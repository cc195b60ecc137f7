/* names.h - names of labels; private to the image room. */
#ifndef VXS_IMAGE_NAMES_H
#define VXS_IMAGE_NAMES_H

#include "voxsift/internal/files.h"

/* Entries of a names file, in its order. */
typedef struct {
    int32_t value;
    char *name;
} vxs_label_name;
typedef struct {
    vxs_label_name *rows;
    size_t count;
    char *image; /* label image named by an FSL XML, or NULL */
} vxs_label_names;

/* Detects the format from the content, not the name. */
VXS_MUST_CHECK vxs_status vxs_label_names_read(const char *path, vxs_label_names *names,
                                               vxs_error *err);
void vxs_label_names_release(vxs_label_names *names);
/* The names file of an atlas; *path NULL if there is none. Freed by the caller. */
VXS_MUST_CHECK vxs_status vxs_label_names_beside(const char *atlas, char **path, vxs_error *err);

#endif
