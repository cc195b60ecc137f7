/* methods.c - the table of methods. */
#include "voxsift/solve.h"

const vxs_method vxs_methods[] = {
    { .name = NULL },
};
