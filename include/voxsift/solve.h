/* voxsift/solve.h - the prediction methods. */
#ifndef VOXSIFT_SOLVE_H
#define VOXSIFT_SOLVE_H

#include "voxsift/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One row a method; everything that lists methods is a loop over vxs_methods, which ends with
 * name == NULL. */
typedef struct {
    const char *name;
    const char *summary;     /* a phrase, without full stop */
    const char *source;      /* paper and section */
    const vxs_param *params; /* ends with name == NULL */
} vxs_method;

extern const vxs_method vxs_methods[];

#ifdef __cplusplus
}
#endif

#endif
