/* paper.c - a paragraph for a paper with what it cites, and where all of it comes from. */
#include "report/story.h"

#include <math.h>
#include <string.h>

enum {
    FGM,
    MSLR,
    FUSED,
    SAIF,
    GLASSO,
    SKFS,
    HSIC,
    HAUFE,
    FORMAN,
    AIROLA,
    BESAG,
    PHIPSON,
    SHAH,
    MEINSHAUSEN,
    NOGUEIRA,
    REFERENCES
};
static const char *const references[REFERENCES] = {
    [FGM] = "Tan M, Tsang IW, Wang L. Towards ultrahigh dimensional feature selection for big "
            "data. Journal of Machine Learning Research 15, 2014.",
    [MSLR] = "Tan M, Tsang IW, Wang L. Minimax sparse logistic regression for very "
             "high-dimensional feature selection. IEEE Transactions on Neural Networks and "
             "Learning Systems 24, 2013.",
    [FUSED] =
        "Tibshirani R, Saunders M, Rosset S, Zhu J, Knight K. Sparsity and smoothness via the "
        "fused lasso. Journal of the Royal Statistical Society B 67, 2005.",
    [SAIF] = "Ren S, Huang S, Ye J, Qian X. Safe feature screening for generalized LASSO. IEEE "
             "Transactions on Pattern Analysis and Machine Intelligence 40, 2018; Ren S. Scalable "
             "structured learning, dissertation, chapter 2.",
    [GLASSO] = "Friedman J, Hastie T, Tibshirani R. Sparse inverse covariance estimation with the "
               "graphical lasso. Biostatistics 9, 2008.",
    [SKFS] = "Ren S. Scalable structured learning, dissertation, chapter 4: structured kernel "
             "feature selection.",
    [HSIC] = "Yamada M, Jitkrittum W, Sigal L, Xing EP, Sugiyama M. High-dimensional feature "
             "selection by feature-wise kernelized lasso. Neural Computation 26, 2014.",
    [HAUFE] = "Haufe S, Meinecke F, G\xc3\xb6rgen K, et al. On the interpretation of weight "
              "vectors of linear models in multivariate neuroimaging. NeuroImage 87, 2014.",
    [FORMAN] = "Forman G, Scholz M. Apples-to-apples in cross-validation studies: pitfalls in "
               "classifier performance measurement. ACM SIGKDD Explorations 12, 2010.",
    [AIROLA] = "Airola A, Pahikkala T, Waegeman W, De Baets B, Salakoski T. An experimental "
               "comparison of cross-validation techniques for estimating the area under the ROC "
               "curve. Computational Statistics and Data Analysis 55, 2011.",
    [BESAG] = "Besag J, Clifford P. Sequential Monte Carlo p-values. Biometrika 78, 1991.",
    [PHIPSON] = "Phipson B, Smyth GK. Permutation p-values should never be zero: calculating exact "
                "p-values when permutations are randomly drawn. Statistical Applications in "
                "Genetics and Molecular Biology 9, 2010.",
    [SHAH] = "Shah RD, Samworth RJ. Variable selection with error control: another look at "
             "stability selection. Journal of the Royal Statistical Society B 75, 2013.",
    [MEINSHAUSEN] = "Meinshausen N, B\xc3\xbchlmann P. Stability selection. Journal of the Royal "
                    "Statistical Society B 72, 2010.",
    [NOGUEIRA] = "Nogueira S, Sechidis K, Brown G. On the stability of feature selection "
                 "algorithms. Journal of Machine Learning Research 18, 2018.",
};

struct vxs_paper {
    const vxs_story *s;
    size_t count;
    int cited[REFERENCES]; /* in the order of their numbers */
};

/* " [2]", the number being that of the first time. */
static void cite(vxs_paper *p, int reference)
{
    size_t k = 0;
    while (k < p->count && p->cited[k] != reference)
        k++;
    if (k == p->count)
        p->cited[p->count++] = reference;
    vxs_put(p->s->out, " [%z]", k + 1);
}

/* ---- The paragraph --------------------------------------------------------------------------- */

static void put_kernels(vxs_paper *p)
{
    const vxs_story *s = p->s;
    const vxs_json *asked = vxs_json_get(s->about, "parameters");
    if (strcmp(vxs_story_text(asked, "penalty"), "hsic-lasso") == 0) {
        fputs("HSIC lasso, which fits the similarity of subjects' classes by Gaussian kernels of "
              "single features with weights that are not negative",
              s->out);
        cite(p, HSIC);
    } else {
        fputs("structured kernel feature selection, which weighs Gaussian kernels of single "
              "features by a hinge loss, with weights that are not negative, few, and alike among "
              "neighbours",
              s->out);
        cite(p, SKFS);
    }
}

/* What the fused lasso is on, by the rule of its graph. */
static void put_graph(vxs_paper *p, const char *graph)
{
    static const char *const words[][2] = {
        { "", "a tree of neighbouring features" },
        { "tree", "a tree of neighbouring features" },
        { "chain", "features in their order" },
        { "grid6", "the grid of voxels (those that share a face are neighbours)" },
        { "grid18", "the grid of voxels (those that share a face or an edge are neighbours)" },
        { "grid26",
          "the grid of voxels (those that share a face, an edge or a corner are neighbours)" },
        { "regions", "the graph of regions that touch" },
        { "correlation", "the graph of the strongest correlations among training subjects" },
        { "precision", "the graph of a sparse inverse covariance of training subjects" },
    };
    size_t length = strcspn(graph, ":");
    for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
        if (strlen(words[k][0]) == length && strncmp(words[k][0], graph, length) == 0) {
            fputs(words[k][1], p->s->out);
            if (strncmp(graph, "precision", length) == 0 && length > 0)
                cite(p, GLASSO);
            return;
        }
    fputs("a graph of the features that was given", p->s->out);
}

/* Whether a fused lasso is one on sums over subtrees; of a given graph that is not known. */
static bool is_saif(const vxs_story *s)
{
    const vxs_json *asked = vxs_json_get(s->about, "parameters");
    const char *graph = vxs_story_text(vxs_json_get(s->about, "task"), "graph");
    bool tree = !*graph || strcmp(graph, "tree") == 0 || strcmp(graph, "chain") == 0;
    bool sparse = vxs_json_get_number(asked, "sparsity") > 0;
    const char *solver = vxs_story_text(asked, "solver");
    bool own = strcmp(solver, "auto") == 0 || strcmp(solver, "saif") == 0;
    return !vxs_story_is_fused(s) || (tree && !sparse && own);
}

static void put_lasso(vxs_paper *p)
{
    const vxs_story *s = p->s;
    double sparsity = vxs_json_get_number(vxs_json_get(s->about, "parameters"), "sparsity");
    if (!vxs_story_is_fused(s)) {
        vxs_put(s->out, "a lasso with %s loss", vxs_story_text(s->about, "loss"));
        return;
    }
    fputs(sparsity > 0 ? "a sparse fused lasso on " : "a fused lasso on ", s->out);
    put_graph(p, vxs_story_text(vxs_json_get(s->about, "task"), "graph"));
    vxs_put(s->out, " with %s loss", vxs_story_text(s->about, "loss"));
    if (sparsity > 0)
        vxs_put(s->out, ", a weight costing %g times what a difference does", sparsity);
    cite(p, FUSED);
}

/* Of the feature generating machine and of minimax sparse logistic regression. */
static void put_generating(vxs_paper *p)
{
    const vxs_story *s = p->s;
    const vxs_json *asked = vxs_json_get(s->about, "parameters");
    bool minimax = strcmp(vxs_story_text(s->about, "method"), "mslr") == 0;
    const char *letter = minimax ? "r" : "B", *map = vxs_story_text(asked, "map");
    fputs(minimax ? "minimax sparse logistic regression" : "the feature generating machine",
          s->out);
    cite(p, minimax ? MSLR : FGM);
    vxs_put(s->out, " with %s loss (C = %g), which in each round adds the %g best %s",
            vxs_story_text(s->about, "loss"), vxs_story_number(asked, "C"),
            vxs_story_number(asked, letter), vxs_story_unit_name(s));
    if (vxs_story_has(asked, "groups"))
        vxs_put(s->out, " of features (%s%s)", vxs_story_text(asked, "groups"),
                vxs_json_get(asked, "by-size")->number != 0
                    ? ", features divided by the root of their group's size"
                    : "");
    if (strcmp(map, "gauss") == 0)
        fputs(", each feature standing for 11 waves that act as a Gaussian kernel", s->out);
    else if (strcmp(map, "hik") == 0)
        fputs(", each feature standing for 100 steps that act as a histogram intersection kernel",
              s->out);
    if (vxs_story_has(asked, "features")) {
        fputs(", until there were ", s->out);
        vxs_story_put_wanted(s);
    } else {
        vxs_put(s->out, ", in at most %g rounds", vxs_story_number(asked, "T"));
    }
    if (vxs_story_number(asked, "debias") > 0)
        vxs_put(s->out, ", and then learns the weights of what was selected anew (C = %g)",
                vxs_story_number(asked, "debias"));
}

static void put_model(vxs_paper *p)
{
    const vxs_story *s = p->s;
    const vxs_json *task = vxs_json_get(s->about, "task"),
                   *asked = vxs_json_get(s->about, "parameters");
    bool kernels = vxs_story_is_kernel(s);
    bool out = strcmp(vxs_story_text(task, "confounds-as"), "out") == 0;
    vxs_put(s->out, "%s was predicted from %g %s with ", vxs_story_text(s->about, "target"),
            vxs_story_number(s->about, "features"), vxs_story_text(s->about, "features_are"));
    bool rounds = vxs_story_generates(s);
    if (kernels)
        put_kernels(p);
    else if (rounds)
        put_generating(p);
    else
        put_lasso(p);
    if (vxs_story_has(task, "confounds"))
        vxs_put(s->out,
                out ? ", after what %s explain was taken out of the features"
                    : " beside unpenalised columns for %s",
                vxs_story_text(task, "confounds"));
    if (strcmp(vxs_story_text(asked, "solver"), "dual-average") == 0) {
        vxs_put(s->out, ", solved by dual averages in voxsift %s.",
                vxs_story_text(s->about, "voxsift"));
        return;
    }
    fputs(", solved", s->out);
    bool hsic = kernels && strcmp(vxs_story_text(asked, "penalty"), "hsic-lasso") == 0;
    if (hsic || (!kernels && !rounds && is_saif(s))) {
        fputs(" by safe active incremental features (SAIF)", s->out);
        cite(p, SAIF);
    }
    vxs_put(s->out,
            rounds ? " in voxsift %s with a certified bound on what any other selection could gain."
                   : " to a certified duality gap in voxsift %s.",
            vxs_story_text(s->about, "voxsift"));
}

static void put_folds(const vxs_story *s)
{
    vxs_story_folds f = vxs_story_count_folds(s);
    vxs_put(s->out, "%scross-validation (", f.inner > 0 ? "nested " : "");
    if (isfinite(f.folds))
        vxs_put(s->out, "%g outer folds, %g repeat%s", f.folds, f.repeats,
                f.repeats > 1 ? "s" : "");
    else
        vxs_put(s->out, "folds from %s",
                vxs_story_text(vxs_json_get(s->about, "cross_validation"), "folds-from"));
    if (f.inner > 0)
        vxs_put(s->out, ", %g inner folds)", f.inner);
    else
        vxs_put(s->out, ", %s fixed beforehand)",
                vxs_story_generates(s) ? vxs_story_tuned(s) : "the penalty");
}

void vxs_paper_cv(vxs_paper *p)
{
    const vxs_story *s = p->s;
    fputs(" Performance was estimated by ", s->out);
    put_folds(s);
    vxs_put(s->out,
            vxs_story_count_folds(s).inner > 0
                ? ", in which all that is learned, the choice of %s and the calibration of "
                  "probabilities included, was learned from training subjects alone. "
                : ", in which all was learned from training subjects alone. ",
            vxs_story_generates(s) ? vxs_story_tuned(s) : "the penalty");
    double groups = vxs_story_number(s->about, "groups");
    const char *drawn = groups == vxs_story_number(s->about, "subjects") ? "subjects"
                        : groups == vxs_story_number(s->about, "people") ? "persons"
                                                                         : "groups of subjects";
    vxs_story_put_convention(s);
    cite(p, FORMAN);
    cite(p, AIROLA);
    fputs("; the model and the baselines are measured in the same way. Held-out subjects had ",
          s->out);
    vxs_story_put_score(s);
    vxs_put(s->out,
            ". Intervals are 95 %% percentile intervals of %g bootstrap draws of %s, the "
            "same draws for the model and the baselines. Patterns were computed from %s after "
            "Haufe et al.",
            vxs_story_number(vxs_json_get(s->about, "cross_validation"), "bootstraps"), drawn,
            vxs_story_is_mapped(s) ? "scores" : "weights");
    cite(p, HAUFE);
    fputs(".", s->out);
}

static void put_exchange(const vxs_story *s)
{
    const vxs_json *asked = vxs_json_get(s->about, "permuting"),
                   *whole = vxs_json_get(asked, "whole-blocks");
    vxs_put(s->out, " against %g permutations of the target",
            vxs_story_number(s->about, "permutations"));
    if (vxs_story_has(asked, "blocks"))
        vxs_put(s->out,
                whole && whole->number != 0 ? ", in which whole blocks of subjects with the same %s"
                                              " changed places"
                                            : " among subjects with the same %s",
                vxs_story_text(asked, "blocks"));
    fputs(", each of which went through the whole of the cross-validation", s->out);
}

/* Few ways to give the targets out are a bound of their own. */
static void put_p(vxs_paper *p)
{
    const vxs_story *s = p->s;
    double good = vxs_story_number(s->about, "as_good"),
           count = vxs_story_number(s->about, "permutations"),
           value = vxs_story_number(s->about, "p");
    vxs_put(s->out, ". With C = %g of N = %g as good or better, p = (C + 1) / (N + 1)", good,
            count);
    cite(p, PHIPSON);
    if (value > (good + 1) / (count + 1) * (1 + 1e-9))
        vxs_put(s->out, ", but not less than one in the %g ways to give the targets out: p",
                vxs_story_number(s->about, "distinct_permutations"));
    vxs_put(s->out, " = %g.", value);
}

void vxs_paper_permutations(vxs_paper *p)
{
    const vxs_story *s = p->s;
    double stop = vxs_story_number(vxs_json_get(s->about, "permuting"), "stop-at");
    fputs(" Predictions of subjects that were kept back in ", s->out);
    put_folds(s);
    vxs_put(s->out, " had %s %g. This was tested",
            vxs_story_metric(vxs_story_text(s->about, "metric")),
            vxs_story_number(s->about, "observed"));
    put_exchange(s);
    if (stop > 0) {
        vxs_put(s->out, "; they were to stop when %g were as good", stop);
        cite(p, BESAG);
    }
    put_p(p);
}

void vxs_paper_stability(vxs_paper *p)
{
    const vxs_story *s = p->s;
    const vxs_json *halving = vxs_json_get(s->about, "halving");
    vxs_put(s->out, " The subjects were halved %g times", vxs_story_number(s->about, "halves") / 2);
    if (vxs_story_has(halving, "group"))
        vxs_put(s->out, ", those of one %s together", vxs_story_text(halving, "group"));
    fputs(
        vxs_story_generates(s)
            ? ", and features were selected round by round on both halves"
            : ", and the path of models from the largest penalty down was followed on both halves",
        s->out);
    cite(p, SHAH);
    vxs_put(s->out,
            " as long as at most %g features had been selected. Features selected in a share of %g "
            "or more of "
            "the halves are called stable",
            vxs_story_number(s->about, "features_a_half"), vxs_story_number(s->about, "threshold"));
    cite(p, MEINSHAUSEN);
    vxs_put(s->out,
            "; on average at most %g of them are wrong, by the smaller one of the bounds of",
            vxs_story_number(s->about, "error_bound"));
    cite(p, SHAH);
    fputs(" and", s->out);
    cite(p, MEINSHAUSEN);
    if (vxs_story_number(s->about, "mean_selected") == 0) {
        fputs(". No half selected any feature.", s->out);
        return;
    }
    vxs_put(s->out, ". Halves agreed with a mean Dice coefficient of %g and an index of stability",
            vxs_story_number(s->about, "dice"));
    cite(p, NOGUEIRA);
    vxs_put(s->out, " of %g.", vxs_story_number(s->about, "nogueira"));
}

/* ---- The whole ------------------------------------------------------------------------------- */

static void put_origin(const vxs_story *s)
{
    const vxs_json *asked = s->kind->settings ? vxs_json_get(s->about, s->kind->settings) : NULL;
    fputs("<h2>Where this comes from</h2>\n<table>\n", s->out);
    vxs_story_row(s->out, "Command", vxs_story_text(s->about, "command"));
    vxs_story_row(s->out, "Program", vxs_story_text(s->about, "voxsift"));
    vxs_story_row(s->out, "Files", s->directory);
    vxs_story_row(s->out, "Cohort", vxs_story_text(vxs_story_who(s), "cohort"));
    vxs_story_row_number(s->out, "Seed", vxs_story_number(asked, "seed"));
    vxs_story_row_number(s->out, "Passes over the data", vxs_story_number(s->about, "passes"));
    vxs_story_row_number(s->out, "Seconds", vxs_story_number(s->about, "seconds"));
    fputs("</table>\n", s->out);
}

void vxs_story_methods(const vxs_story *s)
{
    vxs_paper p = { .s = s };
    fputs("<h2>For a paper</h2>\n<p>", s->out);
    put_model(&p);
    if (s->kind->paper)
        s->kind->paper(&p);
    fputs("</p>\n<ol class=\"cite\">", s->out);
    for (size_t k = 0; k < p.count; k++)
        vxs_put(s->out, "<li>%s</li>\n", references[p.cited[k]]);
    fputs("</ol>\n", s->out);
    put_origin(s);
}
