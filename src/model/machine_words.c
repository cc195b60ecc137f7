/* machine_words.c - kernel machines in words: svm and mkl. */
#include "model/words.h"

static const char of_svm[] =
    "Cortes C, Vapnik V. Support-vector networks. Machine Learning 20, 1995.";
static const char of_svr[] =
    "Smola AJ, Sch\xc3\xb6lkopf B. A tutorial on support vector regression. "
    "Statistics and Computing 14, 2004.";
static const char of_mkl[] =
    "Rakotomamonjy A, Bach FR, Canu S, Grandvalet Y. SimpleMKL. Journal of Machine Learning "
    "Research 9, 2008.";
static const char of_regions[] =
    "Schrouff J, Monteiro JM, Portugal L, Rosa MJ, Phillips C, Mour\xc3\xa3o-Miranda J. Embedding "
    "anatomical or functional knowledge in whole-brain multiple kernel learning models. "
    "Neuroinformatics 16, 2018.";
static const char of_coupling[] =
    "Wu TF, Lin CJ, Weng RC. Probability estimates for multi-class classification by pairwise "
    "coupling. Journal of Machine Learning Research 5, 2004.";
static const char of_saiv[] = "Ren S. Scalable algorithms for high dimensional structured data. "
                              "Dissertation, Texas A&M University, 2017, chapter 5.";

static const char of_low_rank[] =
    "Fine S, Scheinberg K. Efficient SVM training using low-rank kernel representations. Journal "
    "of Machine Learning Research 2, 2001.";

/* ---- svm ------------------------------------------------------------------------------------- */

static const char *const kernel_words[] = { "linear", "Gaussian (RBF)", "polynomial",
                                            "precomputed" };

/* Outputs of more than two classes are those against the rest, unless this says otherwise. */
static void describe_pairs(const vxs_record *r, vxs_prose *p)
{
    if (r->class_count < 3 || r->task.multiclass != VXS_ONE_VS_ONE)
        return;
    fputs(" for each pair of classes, which vote for one of their classes; probabilities were "
          "computed by pairwise coupling",
          p->out);
    vxs_cite(p, of_coupling);
}

static void describe_svm(const vxs_record *r, vxs_prose *p)
{
    fprintf(p->out, "%s with a %s kernel",
            r->class_count > 0 ? "a support vector machine" : "support vector regression",
            kernel_words[r->settings.svm.kernel]);
    vxs_cite(p, r->class_count > 0 ? of_svm : of_svr);
    if (r->settings.svm.rank > 0)
        fprintf(p->out, " of rank %lld at most, by landmarks among the training subjects",
                (long long)r->settings.svm.rank);
    describe_pairs(r, p);
}

static void solve_svm(const vxs_record *r, vxs_prose *p)
{
    bool low_rank = r->settings.svm.rank > 0;
    fputs(low_rank ? " by an interior point on a pivoted Cholesky factor of the kernel"
                   : " on a working set of subjects (SAIV)",
          p->out);
    vxs_cite(p, low_rank ? of_low_rank : of_saiv);
    vxs_describe_gap(r, p);
}

static const char *weigh_svm(const vxs_record *r)
{
    if (r->settings.svm.kernel == VXS_KERNEL_PRECOMPUTED)
        return "The kernel was given: no feature was read, so that none has a weight and there is "
               "no map.";
    return r->settings.svm.kernel == VXS_KERNEL_LINEAR
               ? "Every voxel has a weight: none is selected, and a large weight is no evidence "
                 "that the voxel alone predicts. The pattern of the cross-validation is easier to "
                 "read."
               : "The kernel is not linear: a voxel's value is the mean, over the training "
                 "subjects, of how much the score rises with the voxel. It is no weight, and "
                 "effects of both signs cancel in it; in the sensitivity (root mean square of the "
                 "same) they do not.";
}

static void list_svm(const vxs_record *r, const vxs_setting_rows *rows)
{
    const vxs_svm_settings *s = &r->settings.svm;
    FILE *out = vxs_begin_row(rows, "Kernel");
    fputs(kernel_words[s->kernel], out);
    if (s->kernel == VXS_KERNEL_PRECOMPUTED)
        fprintf(out, ": %s. No feature was read: none has a weight, and there is no map", s->file);
    if (s->rank > 0)
        fprintf(vxs_begin_row(rows, "Rank of the kernel"), "%lld at most", (long long)s->rank);
    if (vxs_kernel_is_curved(s->kernel))
        fputs(s->gammas ? s->gammas : "1", vxs_begin_row(rows, "gamma"));
    if (r->class_count == 0)
        vxs_write_number(vxs_begin_row(rows, "epsilon"), "%s SD of the target", s->epsilon);
}

const struct vxs_method_words vxs_svm_words = {
    .describe = describe_svm, .solve = solve_svm, .weigh = weigh_svm, .list = list_svm
};

/* ---- mkl ------------------------------------------------------------------------------------- */

bool vxs_record_has_kernels(const vxs_record *r)
{
    return r->method->path == VXS_BY_COST && r->settings.blocks.groups;
}

static void describe_mkl(const vxs_record *r, vxs_prose *p)
{
    fprintf(p->out, "multiple kernel learning");
    vxs_cite(p, of_mkl);
    fprintf(p->out, " with a linear kernel for each group of features (%s)",
            r->settings.blocks.groups);
    vxs_cite(p, of_regions);
    fprintf(p->out, " and %s",
            r->class_count > 0 ? "a support vector machine" : "support vector regression");
    vxs_cite(p, r->class_count > 0 ? of_svm : of_svr);
    describe_pairs(r, p);
}

static void solve_mkl(const vxs_record *r, vxs_prose *p)
{
    fputs(" jointly for the weights of kernels and subjects by an interior point on a working set "
          "of kernels",
          p->out);
    vxs_describe_gap(r, p);
}

static const char *weigh_mkl(const vxs_record *r)
{
    (void)r;
    return "Weights of kernels sum to 1: a group without a weight adds nothing to the prediction "
           "beyond the others, which is no evidence that it has no relation with the target. In "
           "a group with a weight every voxel has one.";
}

static void list_mkl(const vxs_record *r, const vxs_setting_rows *rows)
{
    fputs(r->settings.blocks.groups, vxs_begin_row(rows, "Groups"));
    fputs(r->settings.mkl.scale == VXS_SCALE_EACH ? "each divided by its mean"
                                                  : "all divided by one number",
          vxs_begin_row(rows, "Kernels"));
    if (r->class_count == 0)
        vxs_write_number(vxs_begin_row(rows, "epsilon"), "%s SD of the target",
                         r->settings.svm.epsilon);
}

const struct vxs_method_words vxs_mkl_words = {
    .describe = describe_mkl, .solve = solve_mkl, .weigh = weigh_mkl, .list = list_mkl
};
