/* method_words.c - descriptions of the methods for pages and methods paragraphs: the estimator with
 * citations, its settings, and the interpretation of its weights. */
#include "model/estimators.h"
#include "model/model.h"
#include "model/words.h"

#include <math.h>
#include <string.h>

static bool selects_blocks(const vxs_record *r)
{
    return r->method->path == VXS_BY_ITERATIONS ||
           (r->settings.blocks.groups && !vxs_record_has_kernels(r));
}

/* ---- Papers ---------------------------------------------------------------------------------- */

static const char of_fgm[] =
    "Tan M, Tsang IW, Wang L. Towards ultrahigh dimensional feature selection for big data. "
    "Journal of Machine Learning Research 15, 2014.";
static const char of_mslr[] =
    "Tan M, Tsang IW, Wang L. Minimax sparse logistic regression for very high-dimensional "
    "feature selection. IEEE Transactions on Neural Networks and Learning Systems 24, 2013.";
static const char of_measures[] =
    "Mao Q, Tsang IW. A feature selection method for multivariate performance measures. IEEE "
    "Transactions on Pattern Analysis and Machine Intelligence 35, 2013.";
static const char of_fused[] =
    "Tibshirani R, Saunders M, Rosset S, Zhu J, Knight K. Sparsity and smoothness via the fused "
    "lasso. Journal of the Royal Statistical Society B 67, 2005.";
static const char of_generalized[] =
    "Tibshirani RJ, Taylor J. The solution path of the generalized lasso. Annals of Statistics 39, "
    "2011.";
static const char of_trend[] =
    "Kim SJ, Koh K, Boyd S, Gorinevsky D. l1 trend filtering. SIAM Review 51, 2009.";
static const char of_graphnet[] =
    "Grosenick L, Klingenberg B, Katovich K, Knutson B, Taylor JE. Interpretable whole-brain "
    "prediction analysis with GraphNet. NeuroImage 72, 2013.";
static const char of_groups[] =
    "Yuan M, Lin Y. Model selection and estimation in regression with grouped variables. Journal "
    "of the Royal Statistical Society B 68, 2006.";
static const char of_latent[] =
    "Obozinski G, Jacob L, Vert JP. Group lasso with overlaps: the latent group lasso approach. "
    "arXiv:1110.0413, 2011.";
static const char of_saif[] =
    "Ren S, Huang S, Ye J, Qian X. Safe feature screening for generalized LASSO. IEEE "
    "Transactions on Pattern Analysis and Machine Intelligence 40, 2018; Ren S. Scalable "
    "algorithms for high dimensional structured data. Dissertation, Texas A&M University, 2017, "
    "chapter 2.";
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

static void describe_saif(vxs_prose *p)
{
    fputs(" by safe active incremental feature screening (SAIF)", p->out);
    vxs_cite(p, of_saif);
}

void vxs_write_number(FILE *out, const char *format, double value)
{
    char number[VXS_REAL_TEXT];
    const char *place = strstr(format, "%s");
    fprintf(out, "%.*s%s%s", (int)(place - format), format, vxs_short_text(value, number),
            place + 2);
}

/* The version that made the file, which others may have edited. */
static const char *version_of(const vxs_record *r)
{
    const char *version = vxs_json_get_text(r->about, "voxsift");
    return version ? version : "?";
}

void vxs_describe_gap(const vxs_record *r, vxs_prose *p)
{
    fprintf(p->out, " in voxsift %s (tolerance: a relative duality gap of %g).", version_of(r),
            r->settings.tol);
}

FILE *vxs_begin_row(const vxs_setting_rows *rows, const char *name)
{
    return rows->begin(rows->user, name);
}

/* ---- lasso ----------------------------------------------------------------------------------- */

static void describe_lasso(const vxs_record *r, vxs_prose *p)
{
    fprintf(p->out, "a lasso with %s loss", r->loss_name);
}

static void solve_lasso(const vxs_record *r, vxs_prose *p)
{
    describe_saif(p);
    vxs_describe_gap(r, p);
}

const struct vxs_method_words vxs_lasso_words = { .describe = describe_lasso,
                                                  .solve = solve_lasso };

/* ---- graphnet -------------------------------------------------------------------------------- */

static void describe_graphnet(const vxs_record *r, vxs_prose *p)
{
    fprintf(p->out,
            "GraphNet with %s loss (an l1 penalty, and a graph Laplacian penalty on differences "
            "between neighbors)",
            r->loss_name);
    vxs_cite(p, of_graphnet);
}

static void list_graphnet(const vxs_record *r, const vxs_setting_rows *rows)
{
    if (r->task.graph)
        fputs(r->task.graph, vxs_begin_row(rows, "Graph"));
    vxs_write_number(vxs_begin_row(rows, "Laplacian"), "%s", r->settings.l1.laplacian);
}

const struct vxs_method_words vxs_graphnet_words = { .describe = describe_graphnet,
                                                     .solve = solve_lasso,
                                                     .list = list_graphnet };

/* ---- fused ----------------------------------------------------------------------------------- */

/* The graph of the penalized differences. */
static void describe_graph(const vxs_record *r, vxs_prose *p)
{
    static const char *const words[][2] = {
        { "", "a spanning tree of neighboring features" },
        { "tree", "a spanning tree of neighboring features" },
        { "chain", "the chain of features" },
        { "grid6", "the voxel grid (6 neighbors: shared faces)" },
        { "grid18", "the voxel grid (18 neighbors: shared faces and edges)" },
        { "grid26", "the voxel grid (26 neighbors: shared faces, edges and corners)" },
        { "regions", "the graph of adjacent regions" },
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
    fputs("a user-defined graph of the features", p->out);
}

/* True if terms are penalized that are not the differences of neighbors. */
static bool has_terms(const vxs_record *r)
{
    return vxs_are_terms(r->settings.fused.penalty);
}

static void describe_terms(const vxs_record *r, vxs_prose *p)
{
    bool given = vxs_terms_are_given(r->settings.fused.penalty);
    fputs(given ? "generalized lasso" : "trend filter", p->out);
    vxs_cite(p, given ? of_generalized : of_trend);
    fputs(given ? " on a user-defined analysis operator"
                : " on second differences of the features in their order",
          p->out);
}

static void describe_fused(const vxs_record *r, vxs_prose *p)
{
    double sparsity = r->settings.fused.sparsity;
    fputs(sparsity > 0 ? "a sparse " : "a ", p->out);
    if (has_terms(r)) {
        describe_terms(r, p);
    } else {
        fputs("fused lasso on ", p->out);
        describe_graph(r, p);
    }
    fprintf(p->out, " with %s loss", r->loss_name);
    if (sparsity > 0)
        vxs_write_number(p->out,
                         ", and an additional l1 penalty of %s times the weight of the differences",
                         sparsity);
    if (!has_terms(r))
        vxs_cite(p, of_fused);
}

/* SAIF applies to trees only; a graph from a file may be no tree. */
static void solve_fused(const vxs_record *r, vxs_prose *p)
{
    const char *graph = r->task.graph ? r->task.graph : "tree";
    bool tree = strcmp(graph, "tree") == 0 || strcmp(graph, "chain") == 0;
    bool own =
        r->settings.fused.solver == VXS_FUSED_AUTO || r->settings.fused.solver == VXS_FUSED_SAIF;
    if (tree && own && !has_terms(r) && !(r->settings.fused.sparsity > 0))
        describe_saif(p);
    vxs_describe_gap(r, p);
}

#define FUSED_REGIONS                                                                              \
    "The fused lasso yields fused regions: connected sets of voxels with equal weights. Within a " \
    "fused region all voxels contribute equally to the score; at its boundary the weight "         \
    "changes. "

static const char *weigh_fused(const vxs_record *r)
{
    if (has_terms(r))
        return vxs_terms_are_given(r->settings.fused.penalty)
                   ? "The penalty makes terms of the analysis operator 0, which are sums of "
                     "weights times the factors in penalty.tsv. Interpret which terms are not 0, "
                     "not which features have a weight."
                   : "Weights are piecewise linear along the order of the features. Interpret "
                     "where their slope changes, not which features have a weight.";
    return vxs_record_is_dense(r) ? FUSED_REGIONS
               "Without --sparsity nearly every voxel has a nonzero weight: the largest fused "
               "region is the background, and its weight is the effect of the sum over its "
               "voxels. Interpret where weights change, not which voxels have one."
                                  : FUSED_REGIONS;
}

static void list_fused(const vxs_record *r, const vxs_setting_rows *rows)
{
    const char *graph = r->task.graph;
    if (has_terms(r))
        fputs(r->settings.fused.penalty, vxs_begin_row(rows, "Penalty"));
    else
        fputs(graph ? graph : "tree", vxs_begin_row(rows, "Graph"));
    if (isfinite(r->settings.fused.sparsity))
        vxs_write_number(vxs_begin_row(rows, "Sparsity"), "%s", r->settings.fused.sparsity);
}

const struct vxs_method_words vxs_fused_words = { describe_fused, solve_fused, weigh_fused,
                                                  list_fused, true };

/* ---- skfs ------------------------------------------------------------------------------------ */

static void describe_skfs(const vxs_record *r, vxs_prose *p)
{
    (void)r;
    fputs(
        "structured kernel feature selection (non-negative weights of univariate Gaussian kernels "
        "with hinge loss, an l1 penalty, and a graph Laplacian penalty on differences between "
        "neighbors)",
        p->out);
    vxs_cite(p, of_skfs);
}

static void describe_hsic(const vxs_record *r, vxs_prose *p)
{
    (void)r;
    fputs("the HSIC lasso (non-negative regression of the class kernel on univariate Gaussian "
          "kernels "
          "of the features)",
          p->out);
    vxs_cite(p, of_hsic);
}

static void solve_skfs(const vxs_record *r, vxs_prose *p)
{
    if (r->settings.kernels.solver == VXS_SOLVER_DUAL_AVERAGE) {
        fprintf(p->out, " by stochastic dual averaging in voxsift %s.", version_of(r));
        return;
    }
    vxs_describe_gap(r, p);
}

static void solve_hsic(const vxs_record *r, vxs_prose *p)
{
    describe_saif(p);
    vxs_describe_gap(r, p);
}

static const char *weigh_skfs(const vxs_record *r)
{
    (void)r;
    return "Weights belong to kernels and are non-negative: at a voxel with a weight, subjects "
           "with "
           "similar values tend to be of the same class, whether the relation is increasing, "
           "decreasing or nonlinear. The weight is the contribution of this similarity to the "
           "decision, not the direction of the effect.";
}

const struct vxs_method_words vxs_skfs_words = { .describe = describe_skfs,
                                                 .solve = solve_skfs,
                                                 .weigh = weigh_skfs };
const struct vxs_method_words vxs_hsic_words = { .describe = describe_hsic,
                                                 .solve = solve_hsic,
                                                 .weigh = weigh_skfs };

/* ---- fgm and mslr ---------------------------------------------------------------------------- */

vxs_selected_kind vxs_record_selects(const vxs_record *r)
{
    if (!selects_blocks(r))
        return VXS_SELECTS_NONE;
    if (r->settings.blocks.map == VXS_FEATURE_MAP_POLY2)
        return VXS_SELECTS_PAIRS;
    return r->settings.blocks.groups ? VXS_SELECTS_GROUPS : VXS_SELECTS_FEATURES;
}

const char *vxs_record_block_name(const vxs_record *r)
{
    static const char *const names[] = { "features", "features", "groups", "features and pairs" };
    return names[vxs_record_selects(r)];
}

bool vxs_record_has_sizes(const vxs_record *r)
{
    return selects_blocks(r) && r->settings.blocks.map != VXS_FEATURE_MAP_NONE;
}

static void describe_nselect(const vxs_record *r, FILE *out)
{
    bool several = strchr(r->settings.path.numbers, ',') != NULL;
    fprintf(out, "%s%s", r->settings.path.numbers, several ? " (chosen by cross-validation)" : "");
}

/* Continues the name and citation of the method. */
static void describe_selection(const vxs_record *r, vxs_prose *p)
{
    const vxs_method_settings *s = &r->settings;
    if (s->blocks.measure)
        fputs(" (C = ", p->out);
    else
        fprintf(p->out, " with %s loss (C = ", r->loss_name);
    vxs_write_number(p->out, "%s), adding the ", s->blocks.cost);
    vxs_write_number(p->out, "%s highest-scoring ", (double)s->blocks.budget);
    fputs(vxs_record_block_name(r), p->out);
    if (s->blocks.groups)
        fprintf(p->out, " of features (%s%s)", s->blocks.groups,
                s->blocks.by_size ? ", features divided by the square root of their group's size"
                                  : "");
    fputs(" per iteration", p->out);
    if (s->blocks.map == VXS_FEATURE_MAP_GAUSS)
        fputs(", with an explicit feature map of a Gaussian kernel (11 Fourier features each)",
              p->out);
    else if (s->blocks.map == VXS_FEATURE_MAP_HIK)
        fputs(", with an explicit feature map of the histogram intersection kernel (100 indicator "
              "features each)",
              p->out);
    if (s->path.numbers) {
        fputs(", up to a total of ", p->out);
        describe_nselect(r, p->out);
    } else {
        vxs_write_number(p->out, ", for at most %s iterations", (double)s->path.iterations);
    }
    if (s->blocks.debias > 0)
        vxs_write_number(p->out, ", followed by a refit of the weights on the selection (C = %s)",
                         s->blocks.debias);
}

static void describe_fgm(const vxs_record *r, vxs_prose *p)
{
    fputs("the feature generating machine", p->out);
    vxs_cite(p, of_fgm);
    describe_selection(r, p);
}

static void describe_mslr(const vxs_record *r, vxs_prose *p)
{
    fputs("minimax sparse logistic regression", p->out);
    vxs_cite(p, of_mslr);
    describe_selection(r, p);
}

static void describe_measure(const vxs_record *r, vxs_prose *p)
{
    vxs_output_measure m;
    const char *text = r->settings.blocks.measure ? r->settings.blocks.measure : "";
    bool known = vxs_measure_read(text, &m, NULL) == VXS_OK;
    fprintf(p->out, "feature selection for a performance measure, %s (%s)",
            known ? m.kind->words : "unknown", text);
    vxs_cite(p, of_measures);
    describe_selection(r, p);
}

static void solve_selection(const vxs_record *r, vxs_prose *p)
{
    fprintf(p->out,
            " in voxsift %s with a certified bound on the improvement by any other selection.",
            version_of(r));
}

static const char *weigh_selection(const vxs_record *r)
{
    if (vxs_record_has_sizes(r))
        return "Values are norms, without sign: the selected blocks result from a nonlinear "
               "feature map, "
               "and the value of a voxel is the Euclidean norm of the weights of all blocks that "
               "contain it. It measures the contribution of a voxel, not its direction.";
    return r->settings.blocks.groups ? "Groups were selected, not single voxels: every voxel of a "
                                       "selected group has a weight, "
                                       "and the boundaries in the map are those of the groups."
                                     : NULL;
}

/* ---- group-lasso ----------------------------------------------------------------------------- */

static bool has_overlap(const char *groups)
{
    return strncmp(groups, "patches:", 8) == 0 || vxs_groups_are_tree(groups);
}

static void describe_group_lasso(const vxs_record *r, vxs_prose *p)
{
    const char *groups = r->settings.blocks.groups ? r->settings.blocks.groups : "";
    fprintf(p->out, "a group lasso with %s loss", r->loss_name);
    vxs_cite(p, of_groups);
    fprintf(p->out, " over groups of features (%s", groups);
    vxs_write_number(p->out, ", penalized by their size to the power %s)",
                     vxs_group_power(&r->settings));
    bool table = strncmp(groups, "file:", 5) == 0;
    if (table || has_overlap(groups)) {
        fputs(table ? " in its latent form where groups overlap" : " in its latent form", p->out);
        vxs_cite(p, of_latent);
    }
}

static void solve_group_lasso(const vxs_record *r, vxs_prose *p)
{
    vxs_describe_gap(r, p);
}

static void list_group_lasso(const vxs_record *r, const vxs_setting_rows *rows)
{
    fputs(r->settings.blocks.groups ? r->settings.blocks.groups : "",
          vxs_begin_row(rows, "Groups"));
    vxs_write_number(vxs_begin_row(rows, "Groups are penalized by"), "size to the power %s",
                     vxs_group_power(&r->settings));
}

const struct vxs_method_words vxs_group_lasso_words = { .describe = describe_group_lasso,
                                                        .solve = solve_group_lasso,
                                                        .weigh = weigh_selection,
                                                        .list = list_group_lasso };

/* ---- fgm and mslr: settings ------------------------------------------------------------------ */

static void summarize_selection(const vxs_record *r, FILE *out)
{
    const vxs_method_settings *s = &r->settings;
    if (!s->path.numbers)
        vxs_write_number(out, "at most %s ", (double)s->path.iterations);
    vxs_write_number(out, "iterations of %s ", (double)s->blocks.budget);
    fputs(vxs_record_block_name(r), out);
    if (s->path.numbers) {
        fputs(", up to ", out);
        describe_nselect(r, out);
    }
    vxs_write_number(out, "; C = %s", s->blocks.cost);
    if (s->blocks.debias > 0)
        vxs_write_number(out, "; weights refit with C = %s", s->blocks.debias);
}

static void list_selection(const vxs_record *r, const vxs_setting_rows *rows)
{
    const vxs_method_settings *s = &r->settings;
    if (s->blocks.measure)
        fputs(s->blocks.measure, vxs_begin_row(rows, "Measure"));
    summarize_selection(r, vxs_begin_row(rows, "Selection"));
    if (s->blocks.groups)
        fprintf(vxs_begin_row(rows, "Groups"), "%s%s", s->blocks.groups,
                s->blocks.by_size ? "; features divided by the square root of their group's size"
                                  : "");
    FILE *out = vxs_record_has_sizes(r) ? vxs_begin_row(rows, "Feature map") : NULL;
    if (s->blocks.map == VXS_FEATURE_MAP_POLY2) {
        vxs_write_number(out, "features, squares and pairs: polynomial kernel (%s x'z + ",
                         s->blocks.gamma);
        vxs_write_number(out, "%s)\xc2\xb2", s->blocks.constant);
    } else if (out) {
        fputs(s->blocks.map == VXS_FEATURE_MAP_GAUSS
                  ? "Gaussian kernel, 11 Fourier features each"
                  : "histogram intersection kernel, 100 indicator features each",
              out);
    }
}

const struct vxs_method_words vxs_fgm_words = { describe_fgm, solve_selection, weigh_selection,
                                                list_selection, false };
const struct vxs_method_words vxs_mslr_words = { describe_mslr, solve_selection, weigh_selection,
                                                 list_selection, false };

const struct vxs_method_words vxs_measure_words = { describe_measure, solve_selection,
                                                    weigh_selection, list_selection, false };

/* ---- All ------------------------------------------------------------------------------------- */

static const struct vxs_method_words *words_of(const vxs_record *r)
{
    return vxs_estimator_of(&r->task)->words;
}

bool vxs_record_has_fused_regions(const vxs_record *r)
{
    return words_of(r)->fused_regions && !has_terms(r);
}

double vxs_record_selection_tol(const vxs_record *r)
{
    return r->settings.blocks.inner_tol;
}

bool vxs_record_is_refit(const vxs_record *r)
{
    return r->settings.blocks.debias > 0;
}

bool vxs_record_divides_by_size(const vxs_record *r)
{
    return r->settings.blocks.by_size;
}

bool vxs_record_is_dense(const vxs_record *r)
{
    return vxs_is_dense(&r->task, &r->settings);
}

int vxs_record_neighbors(const vxs_record *r)
{
    const char *graph = r->task.graph ? r->task.graph : "";
    return strcmp(graph, "grid18") == 0 ? 18 : strcmp(graph, "grid26") == 0 ? 26 : 6;
}

void vxs_describe_model(const vxs_record *r, vxs_prose *p)
{
    const char *confounds = r->task.confounds;
    bool out = r->task.confounds_as == VXS_CONFOUNDS_REGRESS;
    fprintf(p->out, "%s was predicted ", r->task.target);
    if (!vxs_reads_no_feature(&r->task, &r->settings)) {
        vxs_write_number(p->out, "from %s ", r->features);
        fprintf(p->out, "%s ", vxs_feature_kind_names[r->features_are]);
    }
    fputs("with ", p->out);
    words_of(r)->describe(r, p);
    if (confounds && out)
        fprintf(p->out, ", after regressing %s out of the features", confounds);
    else if (confounds)
        fprintf(p->out, " and unpenalized covariates (%s)", confounds);
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
