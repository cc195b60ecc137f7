/* method_help.c - prints the table of methods, and a page about each. */
#include "cli/cli.h"

#include <string.h>

#define WIDTH  80
#define COLUMN 24

typedef struct {
    const char *map, *use; /* columns of the table of methods */
    const char *when, *problem, *example, *result, *cost;
} page;

static const page pages[] = {
    [VXS_METHOD_LASSO] = { .map = "scattered single voxels",
                           .use = "a first answer, few voxels",
                           .when = "Use it first. It selects few voxels and is the fastest method. "
                                   "Of correlated "
                                   "voxels it selects one, so the map understates the extent of an "
                                   "effect.",
                           .problem =
                               "Fit the target with a small sum of absolute weights: minimize "
                               "sum of losses + lambda ||w||_1 (sum of |w_j|) over weights w "
                               "of standardized features; with --ridge X also + X / 2 ||w||^2 "
                               "(elastic net).",
                           .example = "voxsift fit t1w --target age --choose-lambda 10 -o age",
                           .result = "weights.nii.gz holds the weights. Weights are multivariate: "
                                     "a voxel without a "
                                     "weight may still differ between groups; see the pattern of "
                                     "'voxsift cv'.",
                           .cost = "A path of 100 lambdas on 200,000 voxels and 400 subjects: 1.5 "
                                   "seconds." },
    [VXS_METHOD_GRAPHNET] = { .map = "smooth blobs",
                              .use = "effects that extend over voxels",
                              .when = "Use it where an effect extends over neighboring voxels and "
                                      "the map should vary smoothly.",
                              .problem =
                                  "As the lasso, with similar weights of neighbors: minimize sum "
                                  "of losses + lambda ||w||_1 + (n X / 2) sum over neighbors (w_i"
                                  " - w_j)^2 over weights w of standardized features; n is the "
                                  "number of subjects (sum of their weights), X from --laplacian.",
                              .example = "voxsift fit t1w --target age --method graphnet "
                                         "--laplacian 1 --choose-lambda 5 -o age",
                              .result = "weights.nii.gz holds smooth weights. The larger "
                                        "--laplacian, the larger and "
                                        "flatter the blobs.",
                              .cost = "Ten times that of the lasso, or more." },
    [VXS_METHOD_GROUP_LASSO] = { .map = "whole regions or patches",
                                 .use = "regions of an atlas to report",
                                 .when = "Use it where whole regions, patches or other groups "
                                         "should be selected or left out, each voxel in them "
                                         "with a weight of its own.",
                                 .problem =
                                     "As the lasso, with the length of each group's weight vector "
                                     "in"
                                     " place of absolute weights, so that all voxels of a group "
                                     "have"
                                     " the weight 0, or none: minimize sum of losses + lambda sum "
                                     "over groups m_g^A ||w_g||_2 over weights w of "
                                     "standardized"
                                     " features, m_g the number of features of a group, A from "
                                     "--size-power. Where "
                                     "groups"
                                     " overlap, each has weights of its own, which are added "
                                     "(latent"
                                     " group lasso).",
                                 .example = "voxsift fit pet --target diagnosis --method "
                                            "group-lasso --groups atlas:schaefer100 "
                                            "--choose-lambda 5 -o regions",
                                 .result = "selected.tsv lists the groups with the norm of their "
                                           "weights, weights.nii.gz holds the weights. Features "
                                           "in no group have none.",
                                 .cost = "Several times that of the lasso." },
    [VXS_METHOD_FUSED] = { .map = "regions of constant weight",
                           .use = "regions to read and report",
                           .when = "Use it to find regions whose voxels share one weight, with "
                                   "sharp borders.",
                           .problem =
                               "Fit the target with few differences of weights between "
                               "neighbors: minimize sum of losses + lambda sum over neighbors "
                               "|w_i - w_j| over weights w of centered features; with "
                               "--sparsity X also + lambda X ||w||_1 (total variation, TV-L1).",
                           .example = "voxsift fit t1w --target age --method fused --graph grid6 "
                                      "--sparsity 1 --choose-lambda 5 -o age",
                           .result =
                               "weights.nii.gz is constant on each fused region; the report lists "
                               "the regions. "
                               "Without --sparsity most voxels have a weight.",
                           .cost = "On trees of voxels as fast as the lasso (a tree of columns "
                                   "compares "
                                   "all pairs); on grids minutes for 100,000 voxels." },
    [VXS_METHOD_SKFS] = { .map = "voxels, without sign",
                          .use = "effects that are not linear",
                          .when = "Use it for classes where the relation of voxel and diagnosis is "
                                  "not linear, such "
                                  "as values that are both too low and too high.",
                          .problem =
                              "Select voxels at which subjects with similar values are of the"
                              " same class, and neighbors together: minimize sum_m u_m max(0, n -"
                              " sum_j a_j Z_mj) + lambda sum_j a_j + lambda2 sum over "
                              "neighbors (a_i - a_j)^2 over weights a >= 0 of voxels; Z_mj = "
                              "t_m (H K_j t)_m states how well voxel j fits subject m, whose "
                              "weight is u_m (1, unless classes or subjects are weighted). K_j, "
                              "the Gaussian kernel, has the similarity of each two of n "
                              "subjects at voxel j; H is the centering matrix, t the centered"
                              " classes; lambda2 from --laplacian.",
                          .example = "voxsift fit lesion --target sex --method skfs --lambda-ratio "
                                     "0.3 -o kernels",
                          .result = "weights.nii.gz holds weights of kernels, which are never "
                                    "negative: how much a "
                                    "voxel contributes, not the direction of the difference.",
                          .cost = "About ten times that of the lasso." },
    [VXS_METHOD_HSIC] = { .map = "few voxels, without sign",
                          .use = "the same, no redundant voxels",
                          .when = "Use it for classes where relations are not linear and redundant "
                                  "voxels should "
                                  "be dropped.",
                          .problem = "Explain by few voxels which subjects are of the same class: "
                                     "minimize 1/2 ||t t' - sum_j a_j H K_j H||_F^2 + lambda sum_j "
                                     "a_j over weights a >= 0 of voxels; K_j, the Gaussian kernel, "
                                     "has the similarity of each two subjects at voxel j; H is the "
                                     "centering matrix, t the centered classes.",
                          .example = "voxsift fit lesion --target sex --method hsic-lasso "
                                     "--lambda-ratio 0.3 -o h",
                          .result = "weights.nii.gz holds weights of kernels, which are never "
                                    "negative: how much a "
                                    "voxel contributes, not the direction of the difference.",
                          .cost = "Grows with the square of the number of subjects." },
    [VXS_METHOD_FGM] = { .map = "N voxels, regions or pairs",
                         .use = "a short list to report",
                         .when = "Use it for classes where a given number of voxels, atlas regions "
                                 "(--groups) or "
                                 "pairs (--feature-map poly2) should be selected.",
                         .problem = "In each iteration, add the B candidates (voxels, groups or "
                                    "pairs) that improve the model most, and fit all weights again."
                                    " The problem: minimize 1/2 |w|_B^2 + C sum of losses over "
                                    "weights w of standardized features; |w|_B is the k-support "
                                    "norm with k = B from --per-iteration: the Euclidean norm for "
                                    "up to B candidates, the l1 norm for B = 1.",
                         .example = "voxsift fit pet --target diagnosis --method fgm --groups "
                                    "atlas:schaefer100 "
                                    "--by-size --per-iteration 2 --nselect 5 -o regions",
                         .result = "selected.tsv lists the groups, weights.nii.gz the weights of "
                                   "their voxels. The "
                                   "gap bounds what any other selection could gain; it is large "
                                   "for short lists.",
                         .cost = "Each iteration scans the data once." },
    [VXS_METHOD_MSLR] = { .map = "N voxels, regions or pairs",
                          .use = "the same by logistic regression",
                          .when = "Use it as fgm, with weights refitted by logistic regression.",
                          .problem = "As fgm with the logistic loss, without intercept and "
                                     "covariates; then logistic regression on the selected "
                                     "features with an l2 penalty, C from --refit.",
                          .example = "voxsift fit pet --target diagnosis --method mslr --nselect "
                                     "10 -o few",
                          .result = "weights.nii.gz holds the refitted weights; the certificate is "
                                    "that of the "
                                    "selection.",
                          .cost = "Each iteration scans the data once." },
    [VXS_METHOD_MEASURE] = { .map = "N voxels, regions or pairs",
                             .use = "rare diagnoses; whom to call in",
                             .when = "Use it for two classes where a measure counts that is not "
                                     "accuracy: whom to call in first (top), an area under the "
                                     "curve (roc), a rare diagnosis (f1). It spares class weights "
                                     "and a threshold; it does not find better models than these "
                                     "do.",
                             .problem = "As fgm, with a convex bound of the measure as the loss: "
                                        "minimize 1/2 |w|_B^2 + C R(s) over weights w of "
                                        "standardized features; R(s) is the largest, over all "
                                        "ways to call subjects positive (v), of cost(v) + (v - "
                                        "truth)'s, s the scores. One mistake costs about 1.",
                             .example = "voxsift cv pet --target diagnosis --method measure "
                                        "--measure f1 --nselect 5,10,20 -o cv",
                             .result = "weights.nii.gz holds the weights. The gap bounds what any "
                                       "other selection could gain; it is large for short lists. "
                                       "Inner folds choose by the measure itself.",
                             .cost = "Each iteration scans the data once." },
    [VXS_METHOD_SVM] = { .map = "every voxel",
                         .use = "prediction without selection",
                         .when = "Use it as the strong dense baseline: it shows what the image "
                                 "predicts when no voxel has to be selected. With --kernel rbf "
                                 "for relations that are not linear.",
                         .problem =
                             "Minimize |w|^2 / 2 + C sum_i u_i loss(y_i, s_i), with the weight "
                             "u_i of a subject, its score s_i = <w, psi(x_i)> + b, and psi the "
                             "features of a kernel, the similarity k(x, z) = <psi(x), psi(z)> of "
                             "two subjects. x'z is divided by the mean of x'x over training "
                             "subjects, and |x - z|^2 (rbf) by its median, so that C and gamma "
                             "have no unit. The loss is max(0, 1 - y s) "
                             "for classes and max(0, |y - s| - epsilon) for scores. Features are "
                             "centered, not scaled, so that one reading of the images serves all "
                             "folds, C and permutations. Covariates enter by --confounds-as "
                             "regress alone.",
                         .example = "voxsift cv pet --target diagnosis --method svm -o svm-cv",
                         .result = "weights.nii.gz holds a weight for every voxel; no voxel is "
                                   "selected. alpha.npy holds the weights of the subjects. With "
                                   "rbf and poly the map is the mean gradient of the score, "
                                   "sensitivity.nii.gz its root mean square, and "
                                   "the model keeps the training images (training.npy).",
                         .cost = "About one reading of the images." },
    [VXS_METHOD_MKL] = { .map = "whole regions",
                         .use = "regions ranked by weight",
                         .when = "Use it for a table of regions by weight (multiple kernel "
                                 "learning, as PRoNTo has it), with one kernel for each region, "
                                 "modality or other group of features.",
                         .problem =
                             "Minimize sum_g |w_g|^2 / (2 d_g) + C sum_i u_i loss(y_i, s_i), s_i "
                             "= sum_g w_g'x_ig + b, over w, b and the weights d_g >= 0 of groups, "
                             "which sum to 1. u_i is the weight of a subject; x_ig are its "
                             "features of a group, centered, and divided so that the mean of "
                             "|x_ig|^2 over subjects is 1. Losses are those of svm. The gap bounds "
                             "what any other weights of groups, "
                             "features and subjects could gain.",
                         .example = "voxsift fit pet --target diagnosis --method mkl --groups "
                                    "atlas:schaefer100 --choose-lambda 5 -o regions",
                         .result = "kernel_weights.tsv has the weight of each group, "
                                   "kernel_weights.nii.gz the same as a map; most are 0. "
                                   "weights.nii.gz holds the weights of voxels.",
                         .cost = "One reading of the images; memory for one matrix of subjects a "
                                 "group." },
};
_Static_assert(sizeof(pages) / sizeof(pages[0]) == VXS_METHODS, "a method without a page");

static const page *page_of(const vxs_method *method)
{
    for (int k = 0; k < VXS_METHODS; k++)
        if (strcmp(vxs_methods[k].name, method->name) == 0)
            return &pages[k];
    return NULL;
}

const char *vxs_method_target(const vxs_method *method)
{
    return method->classes_only ? "classes" : "both";
}

void vxs_print_methods(FILE *out, const vxs_method *methods)
{
    if (!methods->name) {
        fputs("This build has no prediction methods.\n", out);
        return;
    }
    fprintf(out, "%-12s%-9s%-28s%s\n", "method", "target", "map", "use it for");
    for (const vxs_method *m = methods; m->name; m++) {
        const page *p = page_of(m);
        fprintf(out, "%-12s%-9s%-28s%s\n", m->name, vxs_method_target(m), p ? p->map : "",
                p ? p->use : m->summary);
    }
    fputs("\nTarget 'both': scores and classes. 'voxsift help METHOD' has a page about each.\n",
          out);
}

static void section(FILE *out, const char *title, const char *text)
{
    fprintf(out, "\n%s\n  ", title);
    vxs_wrap(out, text, 2, 2, WIDTH);
}

static void print_row(FILE *out, const vxs_param *param)
{
    char form[VXS_WORDS_SIZE], words[VXS_WORDS_SIZE];
    vxs_option_form(param, form, sizeof(form));
    vxs_param_brief(param, words, sizeof(words));
    vxs_help_item(out, form + strspn(form, " "), COLUMN, words);
}

static void print_options(FILE *out, const vxs_method *method)
{
    char losses[VXS_WORDS_SIZE];
    fputs("\nOptions\n", out);
    vxs_method_losses(method, losses, sizeof(losses));
    vxs_help_item(out, "--loss LOSS", COLUMN, losses);
    for (const vxs_param *o = vxs_task_params; o->name; o++)
        if (vxs_is_option_of_method(method, o->name))
            print_row(out, o);
    for (const vxs_param *o = method->params; o->name; o++)
        if (o->head != VXS_HEAD_RESEARCH)
            print_row(out, o);
}

void vxs_help_method(FILE *out, const vxs_method *method)
{
    const page *p = page_of(method);
    int column = fprintf(out, "%s - ", method->name);
    vxs_wrap(out, method->summary, 2, column, WIDTH);
    if (!p)
        return;
    section(out, "When to use it", p->when);
    section(out, "Problem", p->problem);
    section(out, "Target", method->classes_only ? "Classes." : "Scores and classes.");
    print_options(out, method);
    fprintf(out, "\nExample\n  %s\n", p->example);
    section(out, "Reading the result", p->result);
    section(out, "Cost", p->cost);
    section(out, "Citation", method->source);
    fprintf(out, "\nMore: voxsift fit --method %s --help, man voxsift-fit.\n", method->name);
}
