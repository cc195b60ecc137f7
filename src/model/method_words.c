/* method_words.c - methods in words, a row each: what a path goes by, what is selected, what
 * weights say, what was done and which papers it rests on. */
#include "model/estimators.h"
#include "model/model.h"
#include "model/words.h"

#include <math.h>
#include <string.h>

/* ---- Paths ----------------------------------------------------------------------------------- */

static const vxs_path_words by_lambda = {
    .by = VXS_BY_LAMBDA,
    .key = "lambda_ratios",
    .one = "lambda_ratio",
    .name = "lambda",
    .chosen = "lambda",
    .fixed = "the penalty",
    .each = "lambda",
    .measured = "of lambda_max",
    .title = "How lambda was chosen",
    .axis = "lambda / lambda_max",
    .sizes = "Features on the path",
    .followed = "path from lambda_max down",
    .halving = "the path of models from the largest penalty down was followed on both halves",
};
static const vxs_path_words by_iterations = {
    .by = VXS_BY_ITERATIONS,
    .key = "iterations",
    .one = "iterations",
    .name = "iterations",
    .chosen = "the number of iterations",
    .fixed = "the number of iterations",
    .each = "number of iterations",
    .measured = "iterations",
    .title = "How the number of iterations was chosen",
    .axis = "iterations",
    .sizes = "Features with a weight",
    .followed = "iterations",
    .halving = "features were selected iteration by iteration on both halves",
};
static const vxs_path_words by_number = {
    .by = VXS_BY_NUMBER,
    .key = "wanted",
    .one = "wanted",
    .name = "how many to select",
    .chosen = "how many to select",
    .fixed = "how many to select",
    .each = "number that was wanted",
    .measured = "selected",
    .title = "How many to select",
    .sizes = "Features with a weight",
    .followed = "iterations",
    .halving = "features were selected iteration by iteration on both halves",
};

const vxs_path_words *vxs_path_words_of(vxs_path_kind by)
{
    return by == VXS_BY_LAMBDA ? &by_lambda : by == VXS_BY_ITERATIONS ? &by_iterations : &by_number;
}

static bool has_rounds(const vxs_record *r)
{
    return r->method->path != VXS_BY_LAMBDA;
}

const vxs_path_words *vxs_record_path(const vxs_record *r)
{
    return vxs_path_words_of(vxs_method_path(r->method, &r->settings));
}

/* ---- Papers ---------------------------------------------------------------------------------- */

static const char of_fgm[] =
    "Tan M, Tsang IW, Wang L. Towards ultrahigh dimensional feature selection for big data. "
    "Journal of Machine Learning Research 15, 2014.";
static const char of_mslr[] =
    "Tan M, Tsang IW, Wang L. Minimax sparse logistic regression for very high-dimensional "
    "feature selection. IEEE Transactions on Neural Networks and Learning Systems 24, 2013.";
static const char of_fused[] =
    "Tibshirani R, Saunders M, Rosset S, Zhu J, Knight K. Sparsity and smoothness via the fused "
    "lasso. Journal of the Royal Statistical Society B 67, 2005.";
static const char of_graphnet[] =
    "Grosenick L, Klingenberg B, Katovich K, Knutson B, Taylor JE. Interpretable whole-brain "
    "prediction analysis with GraphNet. NeuroImage 72, 2013.";
static const char of_saif[] =
    "Ren S, Huang S, Ye J, Qian X. Safe feature screening for generalized LASSO. IEEE "
    "Transactions on Pattern Analysis and Machine Intelligence 40, 2018; Ren S. Scalable "
    "structured learning, dissertation, chapter 2.";
static const char of_glasso[] =
    "Friedman J, Hastie T, Tibshirani R. Sparse inverse covariance estimation with the graphical "
    "lasso. Biostatistics 9, 2008.";
static const char of_skfs[] = "Ren S. Scalable algorithms for high dimensional structured data. "
                              "Dissertation, Texas A&M University, 2017, chapter 4.";
static const char of_hsic[] =
    "Yamada M, Jitkrittum W, Sigal L, Xing EP, Sugiyama M. High-dimensional feature selection by "
    "feature-wise kernelized lasso. Neural Computation 26, 2014.";

void vxs_cite(vxs_prose *p, const char *paper)
{
    size_t k = 0;
    while (k < p->count && p->cited[k] != paper)
        k++;
    if (k == p->count && k < VXS_MOST_CITED)
        p->cited[p->count++] = paper;
    fprintf(p->out, " [%zu]", k + 1);
}

static void say_saif(vxs_prose *p)
{
    fputs(" by safe active incremental features (SAIF)", p->out);
    vxs_cite(p, of_saif);
}

static void say_number(FILE *out, const char *format, double value)
{
    char number[VXS_REAL_TEXT];
    const char *place = strstr(format, "%s");
    fprintf(out, "%.*s%s%s", (int)(place - format), format, vxs_short_text(value, number),
            place + 2);
}

static void say_gap(const vxs_record *r, vxs_prose *p)
{
    fprintf(p->out, " to a certified duality gap in voxsift %s.",
            vxs_json_get_text(r->about, "voxsift"));
}

static FILE *begin_row(const vxs_setting_rows *rows, const char *name)
{
    return rows->begin(rows->user, name);
}

/* ---- lasso ----------------------------------------------------------------------------------- */

static void say_lasso(const vxs_record *r, vxs_prose *p)
{
    fprintf(p->out, "a lasso with %s loss", r->loss_name);
}

static void solve_lasso(const vxs_record *r, vxs_prose *p)
{
    say_saif(p);
    say_gap(r, p);
}

const struct vxs_method_words vxs_lasso_words = { .say = say_lasso, .solve = solve_lasso };

/* ---- graphnet -------------------------------------------------------------------------------- */

static void say_graphnet(const vxs_record *r, vxs_prose *p)
{
    fprintf(p->out, "a graph-net with %s loss, whose weights are few and alike among neighbors",
            r->loss_name);
    vxs_cite(p, of_graphnet);
}

static void list_graphnet(const vxs_record *r, const vxs_setting_rows *rows)
{
    if (r->task.graph)
        fputs(r->task.graph, begin_row(rows, "Graph"));
    say_number(begin_row(rows, "Laplacian"), "%s", r->settings.l1.laplacian);
}

const struct vxs_method_words vxs_graphnet_words = { .say = say_graphnet,
                                                     .solve = solve_lasso,
                                                     .list = list_graphnet };

/* ---- fused ----------------------------------------------------------------------------------- */

/* What it is on, by the rule of its graph. */
static void say_graph(const vxs_record *r, vxs_prose *p)
{
    static const char *const words[][2] = {
        { "", "a tree of neighboring features" },
        { "tree", "a tree of neighboring features" },
        { "chain", "features in their order" },
        { "grid6", "the grid of voxels (those that share a face are neighbors)" },
        { "grid18", "the grid of voxels (those that share a face or an edge are neighbors)" },
        { "grid26",
          "the grid of voxels (those that share a face, an edge or a corner are neighbors)" },
        { "regions", "the graph of regions that touch" },
        { "correlation", "the graph of the strongest correlations among training subjects" },
        { "precision", "the graph of a sparse inverse covariance of training subjects" },
    };
    const char *graph = r->task.graph ? r->task.graph : "";
    size_t length = strcspn(graph, ":");
    for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
        if (strlen(words[k][0]) == length && strncmp(words[k][0], graph, length) == 0) {
            fputs(words[k][1], p->out);
            if (length > 0 && strncmp(graph, "precision", length) == 0)
                vxs_cite(p, of_glasso);
            return;
        }
    fputs("a graph of the features that was given", p->out);
}

static void say_fused(const vxs_record *r, vxs_prose *p)
{
    double sparsity = r->settings.fused.sparsity;
    fputs(sparsity > 0 ? "a sparse fused lasso on " : "a fused lasso on ", p->out);
    say_graph(r, p);
    fprintf(p->out, " with %s loss", r->loss_name);
    if (sparsity > 0)
        say_number(p->out, ", a weight costing %s times what a difference does", sparsity);
    vxs_cite(p, of_fused);
}

/* On sums over subtrees; of a given graph that is not known. */
static void solve_fused(const vxs_record *r, vxs_prose *p)
{
    const char *graph = r->task.graph ? r->task.graph : "tree";
    bool tree = strcmp(graph, "tree") == 0 || strcmp(graph, "chain") == 0;
    bool own =
        r->settings.fused.solver == VXS_FUSED_AUTO || r->settings.fused.solver == VXS_FUSED_SAIF;
    if (tree && own && !(r->settings.fused.sparsity > 0))
        say_saif(p);
    say_gap(r, p);
}

#define PIECES                                                                                     \
    "The fused lasso makes pieces: neighbors that have one weight. A piece says that its voxels "  \
    "count alike in the model's sum, and a border that they count differently on its two sides. "

static const char *weigh_fused(const vxs_record *r)
{
    return vxs_record_is_dense(r) ? PIECES
               "Without --sparsity nearly every voxel has a weight: the largest piece is "
               "the ground from which others stand out, and its weight is the effect of "
               "the sum over all of it. Where weights change is what the map has to say; "
               "which voxels have one is not."
                                  : PIECES;
}

static void list_fused(const vxs_record *r, const vxs_setting_rows *rows)
{
    const char *penalty = r->settings.fused.penalty, *graph = r->task.graph;
    if (penalty && strcmp(penalty, "edges") != 0)
        fputs(penalty, begin_row(rows, "Penalty"));
    else
        fputs(graph ? graph : "tree", begin_row(rows, "Graph"));
    if (isfinite(r->settings.fused.sparsity))
        say_number(begin_row(rows, "Sparsity"), "%s", r->settings.fused.sparsity);
}

const struct vxs_method_words vxs_fused_words = { say_fused, solve_fused, weigh_fused, list_fused,
                                                  true };

/* ---- skfs ------------------------------------------------------------------------------------ */

static void say_skfs(const vxs_record *r, vxs_prose *p)
{
    (void)r;
    fputs("structured kernel feature selection, which weighs Gaussian kernels of single features "
          "by a hinge loss, with weights that are not negative, few, and alike among neighbors",
          p->out);
    vxs_cite(p, of_skfs);
}

static void say_hsic(const vxs_record *r, vxs_prose *p)
{
    (void)r;
    fputs("HSIC lasso, which fits the similarity of subjects' classes by Gaussian kernels of "
          "single features with weights that are not negative",
          p->out);
    vxs_cite(p, of_hsic);
}

static void solve_skfs(const vxs_record *r, vxs_prose *p)
{
    if (r->settings.kernels.solver == VXS_SOLVER_DUAL_AVERAGE) {
        fprintf(p->out, " by dual averages in voxsift %s.", vxs_json_get_text(r->about, "voxsift"));
        return;
    }
    say_gap(r, p);
}

static void solve_hsic(const vxs_record *r, vxs_prose *p)
{
    say_saif(p);
    say_gap(r, p);
}

static const char *weigh_skfs(const vxs_record *r)
{
    (void)r;
    return "The weights here are of kernels and are never negative: a voxel with a weight is one "
           "at which subjects with like values tend to be of the same class, whether the relation "
           "rises, falls or bends. Its size is how much that likeness counts in the vote of all "
           "voxels, not the direction in which the voxel is changed.";
}

const struct vxs_method_words vxs_skfs_words = { .say = say_skfs,
                                                 .solve = solve_skfs,
                                                 .weigh = weigh_skfs };
const struct vxs_method_words vxs_hsic_words = { .say = say_hsic,
                                                 .solve = solve_hsic,
                                                 .weigh = weigh_skfs };

/* ---- fgm and mslr ---------------------------------------------------------------------------- */

vxs_unit_kind vxs_record_units(const vxs_record *r)
{
    if (!has_rounds(r))
        return VXS_UNITS_ALONE;
    if (r->settings.blocks.map == VXS_FEATURE_MAP_POLY2)
        return VXS_UNITS_PAIRS;
    return r->settings.blocks.groups ? VXS_UNITS_GROUPS : VXS_UNITS_FEATURES;
}

const char *vxs_record_unit_name(const vxs_record *r)
{
    static const char *const names[] = { "features", "features", "groups", "features and pairs" };
    return names[vxs_record_units(r)];
}

bool vxs_record_has_sizes(const vxs_record *r)
{
    return has_rounds(r) && r->settings.blocks.map != VXS_FEATURE_MAP_NONE;
}

static void say_wanted(const vxs_record *r, FILE *out)
{
    bool several = strchr(r->settings.path.numbers, ',') != NULL;
    fprintf(out, "%s%s", several ? "as many as folds chose among " : "", r->settings.path.numbers);
}

/* Behind the names of method and paper. */
static void say_rounds(const vxs_record *r, vxs_prose *p)
{
    const vxs_method_settings *s = &r->settings;
    fprintf(p->out, " with %s loss (C = ", r->loss_name);
    say_number(p->out, "%s), which in each round adds the ", s->blocks.cost);
    say_number(p->out, "%s best ", (double)s->blocks.budget);
    fputs(vxs_record_unit_name(r), p->out);
    if (s->blocks.groups)
        fprintf(p->out, " of features (%s%s)", s->blocks.groups,
                s->blocks.by_size ? ", features divided by the root of their group's size" : "");
    if (s->blocks.map == VXS_FEATURE_MAP_GAUSS)
        fputs(", each feature standing for 11 waves that act as a Gaussian kernel", p->out);
    else if (s->blocks.map == VXS_FEATURE_MAP_HIK)
        fputs(", each feature standing for 100 steps that act as a histogram intersection kernel",
              p->out);
    if (s->path.numbers) {
        fputs(", until there were ", p->out);
        say_wanted(r, p->out);
    } else {
        say_number(p->out, ", in at most %s iterations", (double)s->path.iterations);
    }
    if (s->blocks.debias > 0)
        say_number(p->out, ", and then learns the weights of what was selected anew (C = %s)",
                   s->blocks.debias);
}

static void say_fgm(const vxs_record *r, vxs_prose *p)
{
    fputs("the feature generating machine", p->out);
    vxs_cite(p, of_fgm);
    say_rounds(r, p);
}

static void say_mslr(const vxs_record *r, vxs_prose *p)
{
    fputs("minimax sparse logistic regression", p->out);
    vxs_cite(p, of_mslr);
    say_rounds(r, p);
}

static void solve_rounds(const vxs_record *r, vxs_prose *p)
{
    fprintf(p->out, " in voxsift %s with a certified bound on what any other selection could gain.",
            vxs_json_get_text(r->about, "voxsift"));
}

static const char *weigh_rounds(const vxs_record *r)
{
    if (vxs_record_has_sizes(r))
        return "Values here are sizes, without sign: what was selected is made of voxels by a map "
               "that is not linear, and a voxel has the root of the sum of the squares of all "
               "weights that it has a part in. It says how much a voxel counts, not whether more "
               "or less of it goes with a class.";
    return r->settings.blocks.groups
               ? "Groups were selected, not voxels: every voxel of a selected group has a weight, "
                 "and where one group ends and another begins follows from how groups were made."
               : NULL;
}

static void tell_rounds(const vxs_record *r, FILE *out)
{
    const vxs_method_settings *s = &r->settings;
    if (!s->path.numbers)
        say_number(out, "at most %s ", (double)s->path.iterations);
    say_number(out, "iterations of %s ", (double)s->blocks.budget);
    fputs(vxs_record_unit_name(r), out);
    if (s->path.numbers) {
        fputs(", until there are ", out);
        say_wanted(r, out);
    }
    say_number(out, "; C = %s", s->blocks.cost);
    if (s->blocks.debias > 0)
        say_number(out, "; then weights learned anew with C = %s", s->blocks.debias);
}

static void list_rounds(const vxs_record *r, const vxs_setting_rows *rows)
{
    const vxs_method_settings *s = &r->settings;
    tell_rounds(r, begin_row(rows, "Selection"));
    if (s->blocks.groups)
        fprintf(begin_row(rows, "Groups"), "%s%s", s->blocks.groups,
                s->blocks.by_size ? "; features over the root of their group's size" : "");
    FILE *out = vxs_record_has_sizes(r) ? begin_row(rows, "Map") : NULL;
    if (s->blocks.map == VXS_FEATURE_MAP_POLY2) {
        say_number(out, "features, squares and pairs, as the kernel (%s x'z + ", s->blocks.gamma);
        say_number(out, "%s)\xc2\xb2", s->blocks.constant);
    } else if (out) {
        fputs(s->blocks.map == VXS_FEATURE_MAP_GAUSS
                  ? "11 waves of each feature, as a Gaussian kernel of it"
                  : "100 steps of each feature: histogram intersection",
              out);
    }
}

const struct vxs_method_words vxs_fgm_words = { say_fgm, solve_rounds, weigh_rounds, list_rounds,
                                                false };
const struct vxs_method_words vxs_mslr_words = { say_mslr, solve_rounds, weigh_rounds, list_rounds,
                                                 false };

/* ---- All ------------------------------------------------------------------------------------- */

static const struct vxs_method_words *words_of(const vxs_record *r)
{
    return vxs_estimator_of(&r->task)->words;
}

bool vxs_record_has_pieces(const vxs_record *r)
{
    return words_of(r)->pieces;
}

bool vxs_record_is_dense(const vxs_record *r)
{
    return vxs_record_has_pieces(r) && !(r->settings.fused.sparsity > 0);
}

int vxs_record_neighbors(const vxs_record *r)
{
    const char *graph = r->task.graph ? r->task.graph : "";
    return strcmp(graph, "grid18") == 0 ? 18 : strcmp(graph, "grid26") == 0 ? 26 : 6;
}

void vxs_say_model(const vxs_record *r, vxs_prose *p)
{
    const char *confounds = r->task.confounds;
    bool out = r->task.confounds_as == VXS_CONFOUNDS_OUT;
    fprintf(p->out, "%s was predicted from ", r->task.target);
    say_number(p->out, "%s ", r->features);
    fprintf(p->out, "%s with ", vxs_feature_kind_names[r->features_are]);
    words_of(r)->say(r, p);
    if (confounds && out)
        fprintf(p->out, ", after what %s explain was taken out of the features", confounds);
    else if (confounds)
        fprintf(p->out, " beside unpenalized columns for %s", confounds);
    fputs(", solved", p->out);
    words_of(r)->solve(r, p);
}

const char *vxs_weight_words(const vxs_record *r)
{
    return words_of(r)->weigh ? words_of(r)->weigh(r) : NULL;
}

void vxs_list_settings(const vxs_record *r, const vxs_setting_rows *rows)
{
    if (words_of(r)->list)
        words_of(r)->list(r, rows);
}
