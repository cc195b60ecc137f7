/* topics.c - long help texts, included in the manual pages of the commands they concern. */
#include "cli/cli.h"

#include <string.h>

#define WIDTH 80

static const char persons[] =
    "A subject is a row of the cohort, such as a scan; a person may have several. cv, permute, "
    "stability and fit never split a person between training and test. --id-column names the "
    "column that differs from row to row.\n\n"
    "Persons are found, in this order: by --person; in a column called participant_id, "
    "subject_id, subject, patient_id, PTID, RID or similar, if not that of the ids (a value that "
    "occurs "
    "twice is a person with two subjects); in ids that end with a session, run or visit: "
    "sub-01_ses-2 belongs to sub-01, P7_visit2 and P7_baseline to P7; in a column such "
    "as PATNO, eid, subj_no or case_id in which all rows have a value. Where columns contradict "
    "each other, --person is required.\n\n"
    "A warning is given where rows may belong to one person although none of these rules "
    "applies: a column has a name like that of an id (child_id), and its values repeat; where no "
    "person has several subjects, the values of a column repeat equally often, are codes, or "
    "never occur with both sexes; ids differ only in a part with few values, each of which "
    "occurs with several persons (P7_V2, 054_1 and 054_2, 054a, sub-01_2017, MUC_V1_001), only "
    "in a date, or only in zeros, capitals or Unicode form (P040 and P40).\n\n"
    "The beginning of an id may be a site or a group with its own numbering (A_01 and B_01): "
    "the warning is given if it is a word for a visit, a date or a short number, or if the "
    "same numbers are missing in all of the sites. Where no two ids have the same ending "
    "(3001_I276822, P003_61.5), the warning is given if many of the beginnings occur several "
    "times. "
    "'(perhaps 12)' after a number of people is how many there are if the warning is right.\n\n"
    "Repeated values may be families or sites instead. --person COLUMN declares that they are "
    "persons; --person with the column of ids declares that each row is a person of its own. "
    "Either ends the warning. cv, permute, stability, and fit where it uses folds, repeat it for "
    "their subjects, and results and reports keep it ('warnings' in JSON).\n\n"
    "cohort.json records these columns. Rows of svmlight text are persons each, unless --person "
    "qid declares that rows of one qid are one. A column of persons in --feature-table is not a "
    "feature.";

static const char folds[] =
    "Every subject is predicted by models that were fitted without it. All that depends on data "
    "- standardization, estimated graphs, class weights, prefilter, lambda, calibration of "
    "probabilities - is estimated in the training folds alone.\n\n"
    "Folds are stratified by class, or by quantiles of a score. All subjects (scans) of one "
    "person are in one fold, outer and inner, whatever the options; see 'voxsift help persons'. "
    "--group keeps larger units together, such as families or sites. Groups that share a person "
    "are joined to one. A column that only divides persons, such as session, is refused.\n\n"
    "--folds group leaves one group out at a time. --folds-from takes folds from a column or a "
    "table; folds with an image, a person or a group on both sides are refused.\n\n"
    "Inner folds of the training subjects choose lambda among --nlambda values down to "
    "--lambda-ratio (fgm, mslr and measure: --iterations or --nselect; svm and mkl: --C). Inner "
    "scores "
    "only choose lambda and are optimistically biased; report the outer scores.\n\n"
    "Classes that differ in size by more than 50 % are balanced (--class-weights).";

static const char scores[] =
    "Baselines: constant (the mean or the most frequent class of the training subjects), "
    "covariates (the unpenalized covariates alone), global signal (these and the sum of all "
    "features) and the dense linear model (these and a weight for every feature: ridge regression "
    "for scores, l2 logistic regression for classes, by the same inner folds).\n\n"
    "Errors (mae, rmse, r2, accuracy, ppv, npv, f1, f2, mcc, brier, calibration_slope) are "
    "computed "
    "over all held-out subjects; r2 is 1 - "
    "sum (y - prediction)^2 / sum (y - mean of y)^2. Metrics "
    "that compare subjects (r, auc, balanced_accuracy, sensitivity, specificity, "
    "average_precision, breakeven) compare those "
    "of one fold only, because each fold has a model of its own, whose scores have a zero point "
    "of their own. auc is the fraction of pairs of subjects of one fold that are in the right "
    "order, balanced_accuracy a mean over folds weighted by the number of these pairs, r the "
    "correlation after the mean of each fold is subtracted. A constant has auc 0.5, "
    "balanced_accuracy 0.5 (two classes) and r 0. Where no fold has a pair (leave one out), "
    "subjects of all folds are compared after the constant of each fold's training subjects is "
    "replaced by that of all. Each metric is computed in each repeat, and the mean is reported.\n\n"
    "Intervals are 95 % percentile intervals of bootstrap samples of persons, or of whole "
    "groups; the difference between model and baseline uses the same samples. With fewer than 10 "
    "groups, such as sites, they are too narrow. They do not include variability due to the "
    "training sample.\n\n"
    "The predicted class is that of the largest score; after calibration another one may have "
    "the largest probability. Weights are multivariate: a nonzero weight does not imply a local "
    "group difference, a zero weight does not imply its absence. Interpret the activation "
    "pattern (Haufe et al. 2014).";

static const char *const of_persons[] = { "cohort", NULL };
static const char *const of_folds[] = { "cv", "permute", NULL };
static const char *const of_scores[] = { "cv", "compare", NULL };

const vxs_topic vxs_topics[] = {
    { "persons", "how voxsift identifies scans of one person and keeps them together", persons,
      of_persons },
    { "folds", "cross-validation without leakage", folds, of_folds },
    { "scores", "baselines, metrics, confidence intervals and maps", scores, of_scores },
    { NULL, NULL, NULL, NULL },
};

bool vxs_topic_is_of(const vxs_topic *topic, const vxs_command *command)
{
    for (size_t k = 0; topic->commands[k]; k++)
        if (strcmp(topic->commands[k], command->name) == 0)
            return true;
    return false;
}

static size_t paragraph_length(const char *text)
{
    const char *end = strstr(text, "\n\n");
    return end ? (size_t)(end - text) : strlen(text);
}

void vxs_help_topic(FILE *out, const vxs_topic *topic)
{
    char paragraph[2048];
    fprintf(out, "%s - %s\n", topic->name, topic->summary);
    for (const char *text = topic->text; *text;) {
        size_t length = paragraph_length(text);
        snprintf(paragraph, sizeof(paragraph), "%.*s", (int)length, text);
        fputc('\n', out);
        vxs_wrap(out, paragraph, 0, 0, WIDTH);
        text += length + (text[length] ? 2 : 0);
    }
}
