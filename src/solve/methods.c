/* methods.c - the table of methods. */
#include "voxsift/solve.h"

const char *const vxs_method_names[] = { "lasso", NULL };

const vxs_method vxs_methods[] = {
    { .name = "lasso",
      .summary = "few features with a weight, by safe active incremental features (SAIF); scores "
                 "and classes",
      .source = "Ren, Huang, Qian: scalable structured learning, chapter 2",
      .params = vxs_lasso_params },
    { .name = NULL },
};
