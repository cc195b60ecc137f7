/* hints.c - translates words of scikit-learn, glmnet, FSL, PALM and PRoNTo to voxsift's. */
#include "cli/cli.h"

#include <string.h>

#define MOST 3
typedef struct {
    const char *given;
    const char *instead[MOST]; /* options: the first that the command has applies */
    const char *text;          /* text if no option applies; or NULL */
} hint;

static const hint options[] = {
    { "cv", { "folds", "choose-lambda" }, "'voxsift cv'" },
    { "nfolds", { "folds", "choose-lambda" }, NULL },
    { "n-splits", { "folds", "choose-lambda" }, NULL },
    { "n-folds", { "folds", "choose-lambda" }, NULL },
    { "kfold", { "folds", "choose-lambda" }, NULL },
    { "choose-lambda", { "inner-folds" }, NULL },
    { "n-repeats", { "repeats" }, NULL },
    { "foldid", { "folds-from" }, NULL },
    { "groups", { "group" }, NULL },
    { "n-jobs", { "nthreads" }, NULL },
    { "jobs", { "nthreads" }, NULL },
    { "threads", { "nthreads" }, NULL },
    { "n-perm", { "permutations" }, "'voxsift permute --permutations N'" },
    { "nperm", { "permutations" }, "'voxsift permute --permutations N'" },
    { "n-swaps", { "permutations" }, NULL },
    { "n-boot", { "bootstraps" }, NULL },
    { "n-bootstrap", { "bootstraps" }, NULL },
    { "boot-n", { "bootstraps" }, NULL },
    { "n-permutations", { "permutations" }, "'voxsift permute --permutations N'" },
    { "permutations", { NULL }, "'voxsift permute --permutations N'" },
    { "scoring", { "metric", "choose-by" }, NULL },
    { "threshold", { "decision" }, NULL },
    { "decision-threshold", { "decision" }, NULL },
    { "eb", { "blocks" }, NULL },
    { "whole", { "whole-blocks" }, NULL },
    { "alpha", { "lambda" }, NULL },
    { "alphas", { "nlambda" }, NULL },
    { "n-alphas", { "nlambda" }, NULL },
    { "l1-ratio", { "ridge" }, NULL },
    { "l1-ratios", { "ridge" }, NULL },
    { "lambda-min-ratio", { "lambda-ratio" }, NULL },
    { "eps", { "lambda-ratio" }, NULL },
    { "penalty-factor", { "penalty-factors" }, NULL },
    { "max-iter", { "tol" }, NULL },
    { "random-state", { "seed" }, NULL },
    { "class-weight", { "class-weights" }, NULL },
    { "sample-weight", { "subject-weights" }, NULL },
    { "weights", { "subject-weights" }, NULL },
    { "decision-function-shape", { "multiclass" }, NULL },
    { "multi-class", { "multiclass" }, NULL },
    { "ovo", { "multiclass" }, NULL },
    { "fit-intercept", { "no-intercept" }, NULL },
    { "n-features-to-select", { "nselect" }, NULL },
    { "covariates", { "confounds" }, NULL },
    { "covars", { "confounds" }, NULL },
    { "label", { "target" }, NULL },
    { "labels", { "target" }, NULL },
    { "design", { "target" }, NULL },
    { "mask-img", { "mask" }, NULL },
    { "fwhm", { "smooth" }, NULL },
    { "smoothing-fwhm", { "smooth" }, NULL },
    { "atlas-img", { "atlas" }, NULL },
    { "labels-img", { "atlas" }, NULL },
    { "output", { "out" }, NULL },
    { "output-dir", { "out" }, NULL },
};

static const hint letters[] = {
    { "n", { "permutations" }, "'voxsift permute --permutations N'" },
    { "d", { "target" }, NULL },
    { "m", { "mask" }, "--mask of 'voxsift cohort'" },
    { "c", { "confounds" }, NULL },
    { "j", { "nthreads" }, NULL },
    { "k", { "folds", "choose-lambda" }, NULL },
    { "s", { "smooth", "seed" }, NULL },
    { "i", { NULL }, "the input without an option, as the first argument" },
    { "V", { NULL }, "'voxsift --version'" },
};

typedef struct {
    const char *option, *value, *text;
} value_hint;

static const value_hint values[] = {
    { "method", "svr", "'--method svm' with a numeric target" },
    { "method", "svc", "'--method svm'" },
    { "method", "enet", "'--method lasso --ridge X'" },
    { "method", "elasticnet", "'--method lasso --ridge X'" },
    { "method", "elastic-net", "'--method lasso --ridge X'" },
    { "method", "ridge", "'--method lasso --ridge X'" },
    { "method", "glmnet", "'--method lasso'" },
    { "method", "logistic", "'--method lasso --loss logistic'" },
    { "method", "tv", "'--method fused'" },
    { "method", "tv-l1", "'--method fused --sparsity 1'" },
    { "method", "spacenet", "'--method graphnet'" },
    { "method", "graph-net", "'--method graphnet'" },
    { "method", "hsic", "'--method hsic-lasso'" },
    { "method", "randomise", "'voxsift permute'" },
    { "method", "palm", "'voxsift permute'" },
    { "method", "tfce", "'voxsift permute'" },
    { "penalty", "l1", "'--method lasso'" },
    { "penalty", "l2", "'--method lasso --ridge X'" },
    { "penalty", "elasticnet", "'--method lasso --ridge X'" },
    { "penalty", "tv", "'--method fused'" },
    { "penalty", "tv-l1", "'--method fused --sparsity 1'" },
    { "penalty", "graph-net", "'--method graphnet'" },
    { "multiclass", "ovo", "'--multiclass one-vs-one'" },
    { "multiclass", "ovr", "'--multiclass one-vs-rest'" },
    { "multiclass", "multinomial", "'--method fused --loss multinomial'" },
    { "loss", "log", "'--loss logistic'" },
    { "loss", "mse", "'--loss squared'" },
};

static const value_hint commands[] = {
    { NULL, "randomise", "permute" },  { NULL, "palm", "permute" },
    { NULL, "cross-validate", "cv" },  { NULL, "crossval", "cv" },
    { NULL, "cross_val_score", "cv" }, { NULL, "train", "fit" },
    { NULL, "delong", "compare" },     { NULL, "roc.test", "compare" },
    { NULL, "mcnemar", "compare" },    { NULL, "ttest", "compare" },
    { NULL, "diff", "compare" },       { NULL, "glmnet", "fit" },
    { NULL, "cluster", "regions" },    { NULL, "fslinfo", "info" },
    { NULL, "dice", "match" },         { NULL, "overlap", "match" },
    { NULL, "boutiques", "describe" },
};

/* True if the words are equal up to '_' and '.' for '-': --n_jobs is --n-jobs. */
static bool is_word(const char *given, size_t length, const char *word)
{
    for (size_t i = 0; i < length; i++)
        if ((given[i] == '_' || given[i] == '.' ? '-' : given[i]) != word[i])
            return false;
    return word[length] == '\0';
}

static bool suggest(const hint *table, size_t rows, const char *given, size_t length,
                    const char *const *names, char *buffer, size_t size)
{
    for (size_t r = 0; r < rows; r++) {
        if (!is_word(given, length, table[r].given))
            continue;
        for (size_t k = 0; k < MOST && table[r].instead[k]; k++)
            for (size_t i = 0; names[i]; i++)
                if (strcmp(names[i], table[r].instead[k]) == 0) {
                    snprintf(buffer, size, "'--%s'", names[i]);
                    return true;
                }
        snprintf(buffer, size, "%s", table[r].text ? table[r].text : "");
        return table[r].text != NULL;
    }
    return false;
}

bool vxs_hint_option(const char *given, size_t length, const char *const *names, char *buffer,
                     size_t size)
{
    return suggest(options, sizeof(options) / sizeof(options[0]), given, length, names, buffer,
                   size);
}

bool vxs_hint_letter(const char *given, const char *const *names, char *buffer, size_t size)
{
    return suggest(letters, sizeof(letters) / sizeof(letters[0]), given, 1, names, buffer, size);
}

const char *vxs_hint_value(const char *option, const char *value)
{
    for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); k++)
        if (strcmp(values[k].option, option) == 0 && strcmp(values[k].value, value) == 0)
            return values[k].text;
    return NULL;
}

const char *vxs_hint_command(const char *word)
{
    for (size_t k = 0; k < sizeof(commands) / sizeof(commands[0]); k++)
        if (strcmp(commands[k].value, word) == 0)
            return commands[k].text;
    return NULL;
}
