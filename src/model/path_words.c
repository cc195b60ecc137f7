/* path_words.c - the hyperparameter of a path in words, for pages and methods paragraphs. */
#include "model/words.h"

static const vxs_path_words by_lambda = {
    .by = VXS_BY_LAMBDA,
    .key = "lambda_ratios",
    .one = "lambda_ratio",
    .name = "lambda",
    .chosen = "lambda",
    .fixed = "lambda",
    .each = "lambda",
    .measured = "of lambda_max",
    .title = "How lambda was chosen",
    .axis = "lambda / lambda_max",
    .sizes = "Number of selected features",
    .followed = "path from lambda_max down",
    .halving = "the path of models from lambda_max down was fitted on both halves",
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
    .sizes = "Number of selected features",
    .followed = "path of iterations",
    .halving = "features were selected iteratively on both halves",
};
static const vxs_path_words by_number = {
    .by = VXS_BY_NUMBER,
    .key = "nselect",
    .one = "nselect",
    .name = "the number to select",
    .chosen = "the number to select",
    .fixed = "the number to select",
    .each = "number to select",
    .measured = "selected",
    .title = "How the number to select was chosen",
    .sizes = "Number of selected features",
    .followed = "path of iterations",
    .halving = "features were selected iteratively on both halves",
};

static const vxs_path_words by_cost = {
    .by = VXS_BY_COST,
    .key = "costs",
    .one = "C",
    .name = "C",
    .chosen = "C",
    .fixed = "C",
    .each = "C",
    .measured = "as C",
    .title = "How C was chosen",
    .axis = "C",
    .sizes = "Number of support vectors",
    .followed = "path of C",
    .halving = "machines were fitted on both halves",
};

const vxs_path_words *vxs_path_words_of(vxs_path_kind by)
{
    static const vxs_path_words *const all[] = { [VXS_BY_LAMBDA] = &by_lambda,
                                                 [VXS_BY_ITERATIONS] = &by_iterations,
                                                 [VXS_BY_NUMBER] = &by_number,
                                                 [VXS_BY_COST] = &by_cost };
    return all[by];
}

const vxs_path_words *vxs_record_path(const vxs_record *r)
{
    return vxs_path_words_of(vxs_method_path(r->method, &r->settings));
}
