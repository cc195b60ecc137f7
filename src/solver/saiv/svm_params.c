/* svm_params.c - options of kernel machines. */
#include "solver/solver.h"

#include <math.h>

static const char *const solvers[] = { "working-set", "screened", "saiv", NULL };
static const char *const kernels[] = { "linear", "rbf", "poly", "precomputed", NULL };

const vxs_param vxs_svm_params[] = {
    VXS_CHOICE_ROW("kernel", "KERNEL", VXS_AT(svm.kernel), 0, kernels, "similarity of two subjects",
                   .head = VXS_HEAD_MODEL, .usual = true,
                   .more = "linear: x'z, whose model is one weight for each feature; rbf: "
                           "exp(-G |x - z|^2), for relations that are not linear; poly: "
                           "(G x'z + R)^D. x'z is divided by the mean of x'x in training "
                           "subjects, |x - z|^2 by the median of |x - z|^2. precomputed: the "
                           "values of --kernel-file; no feature is read, and there is no map."),
    VXS_PATH_ROW("kernel-file", "FILE", VXS_AT(svm.file),
                 "of precomputed: NPY matrix, subjects x subjects", .head = VXS_HEAD_MODEL,
                 .more = "Beside FILE.npy stands FILE.tsv with the ids of its rows in the first "
                         "column. Subjects are found by id; there may be others. Means and "
                         "confounds are taken out of it as out of features."),
    VXS_COSTS_ROW,
    VXS_TEXT_ROW("gamma", "LIST", VXS_AT(svm.gammas),
                 "G of the kernels rbf and poly; of a list (0.1,1,10) folds choose, with C; "
                 "default 1",
                 .head = VXS_HEAD_HYPER,
                 .more = "Distances are divided by their median, products by their mean, so that "
                         "one list suits all data. All of them take one reading of the features."),
    VXS_REAL_ROW("coef0", "R", VXS_AT(svm.constant), 1, 0, 1e9, "R of the kernel poly",
                 .head = VXS_HEAD_HYPER),
    VXS_WHOLE_ROW("degree", "D", VXS_AT(svm.degree), 3, 1, 10, "D of the kernel poly",
                  .head = VXS_HEAD_HYPER),
    VXS_WHOLE_ROW("rank", "R", VXS_AT(svm.rank), 0, 0, 1000000,
                  "landmarks that stand for the kernel; default none", .head = VXS_HEAD_PERFORMANCE,
                  .more = "R training subjects that a pivoted Cholesky factor chooses give a "
                          "kernel of rank R, to which the certificate belongs; fit prints how much "
                          "of the kernel's trace it lacks. Time grows with n R^2, memory with n R, "
                          "and the model keeps features of landmarks alone."),
    VXS_BYTES_ROW("mem", "SIZE", VXS_AT(svm.memory), 0, 0, INFINITY,
                  "memory of the kernels of a fit; default half of all",
                  .head = VXS_HEAD_PERFORMANCE,
                  .more = "Half of the machine's, or SIZE. "
                          "A kernel of n subjects takes 16 n^2 bytes with their products. One that "
                          "is larger is made of the features in tiles, where the solver needs it; "
                          "the certificate is of all subjects in either case. --nthreads N has N "
                          "fits at a time."),
    VXS_EPSILON_ROW,
    VXS_TOL_ROW,
    VXS_CHOICE_ROW("solver", "WAY", VXS_AT(svm.solver), VXS_MACHINE_WORKING_SET, solvers,
                   "how weights of subjects are found", .head = VXS_HEAD_RESEARCH,
                   .more = "screened: the working set, and safe bounds that decide weights for "
                           "good by the gap and by the answer at the last C; model.json counts "
                           "them. saiv: subjects recruited and screened by the gap of an active "
                           "set, as in the dissertation, mended; it needs the whole kernel in "
                           "memory."),
    { .name = NULL },
};
