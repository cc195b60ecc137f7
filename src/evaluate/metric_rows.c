/* metric_rows.c - the table of metrics: names, words, and which of them apply. */
#include "evaluate/evaluate.h"
#include "voxsift/internal/text.h"

#include <string.h>

#define AT(member) offsetof(vxs_metrics, member)

#define TWO .of_classes = true, .of_two = true

const vxs_metric_row vxs_metric_rows[] = {
    { .name = "r",
      .words = "correlation r",
      .offset = AT(r),
      .help = "correlation of predictions with the truth, within folds" },
    { .name = "r2",
      .words = "R\xc2\xb2",
      .offset = AT(r2),
      .no_mean = true,
      .help = "1 - squared error / squared error of the truth's own mean" },
    { .name = "mae",
      .words = "mean absolute error",
      .offset = AT(mae),
      .is_error = true,
      .help = "of predictions" },
    { .name = "rmse",
      .words = "root mean square error",
      .offset = AT(rmse),
      .is_error = true,
      .help = "of predictions" },
    { .name = "balanced_accuracy",
      .words = "balanced accuracy",
      .offset = AT(balanced_accuracy),
      .of_classes = true,
      .help = "mean of the classes' sensitivities" },
    { .name = "auc",
      .words = "AUC",
      .offset = AT(auc),
      .of_classes = true,
      .names = VXS_METRIC_OF_BOTH,
      .help =
          "area under the ROC curve; of more than two classes the mean, each against the rest" },
    { .name = "accuracy",
      .words = "accuracy",
      .offset = AT(accuracy),
      .of_classes = true,
      .help = "share of subjects whose class is predicted" },
    { .name = "sensitivity",
      .words = "sensitivity",
      .offset = AT(sensitivity),
      TWO,
      .names = VXS_METRIC_OF_POSITIVE,
      .help = "share of the positive class that is predicted as positive" },
    { .name = "specificity",
      .words = "specificity",
      .offset = AT(specificity),
      TWO,
      .names = VXS_METRIC_OF_NEGATIVE,
      .help = "share of the other class that is predicted as negative" },
    { .name = "ppv",
      .words = "positive predictive value",
      .offset = AT(ppv),
      TWO,
      .no_mean = true,
      .names = VXS_METRIC_OF_POSITIVE,
      .help = "precision: share of subjects predicted as positive that are" },
    { .name = "npv",
      .words = "negative predictive value",
      .offset = AT(npv),
      TWO,
      .no_mean = true,
      .names = VXS_METRIC_OF_NEGATIVE,
      .help = "share of subjects predicted as negative that are" },
    { .name = "f1",
      .words = "F1",
      .offset = AT(f1),
      .of_classes = true,
      .no_mean = true,
      .names = VXS_METRIC_OF_POSITIVE,
      .help = "of the positive class; of more than two classes the mean" },
    { .name = "f2",
      .words = "F2",
      .offset = AT(f2),
      TWO,
      .no_mean = true,
      .names = VXS_METRIC_OF_POSITIVE,
      .help = "as F1, a subject that is missed counting four times one that is falsely found" },
    { .name = "mcc",
      .words = "Matthews correlation",
      .offset = AT(mcc),
      TWO,
      .no_mean = true,
      .help = "correlation of predicted and true classes" },
    { .name = "average_precision",
      .words = "average precision",
      .offset = AT(average_precision),
      TWO,
      .names = VXS_METRIC_OF_POSITIVE,
      .help = "area under the precision-recall curve, within folds" },
    { .name = "breakeven",
      .words = "precision at break-even",
      .offset = AT(breakeven),
      TWO,
      .names = VXS_METRIC_OF_POSITIVE,
      .help = "where as many are predicted as positive as are, so that precision is sensitivity; "
              "within folds" },
    { .name = "brier",
      .words = "Brier score",
      .offset = AT(brier),
      .of_classes = true,
      .is_error = true,
      .help = "mean squared error of the probabilities" },
    { .name = "calibration_slope",
      .words = "calibration slope",
      .offset = AT(calibration_slope),
      TWO,
      .no_mean = true,
      .best_at_one = true,
      .help =
          "1: calibrated; below 1: probabilities are too extreme; 0: they carry no information" },
    { .name = NULL },
};

const vxs_metric_row *vxs_metric_named(const char *name)
{
    const vxs_metric_row *row = vxs_metric_rows;
    while (row->name && strcmp(row->name, name) != 0)
        row++;
    return row->name ? row : NULL;
}

bool vxs_metric_applies(const vxs_metric_row *row, size_t classes)
{
    return row->of_classes == (classes > 0) && (classes <= 2 || !row->of_two);
}

const char *vxs_metric_words(const vxs_metric_row *row, size_t classes, const char *negative,
                             const char *positive, char text[VXS_METRIC_TEXT])
{
    if (classes == 2 && row->names == VXS_METRIC_OF_BOTH)
        snprintf(text, VXS_METRIC_TEXT, "%s of %s against %s", row->words, positive, negative);
    else if (classes == 2 && row->names != VXS_METRIC_OF_ALL)
        snprintf(text, VXS_METRIC_TEXT, "%s (%s)", row->words,
                 row->names == VXS_METRIC_OF_POSITIVE ? positive : negative);
    else if (classes > 2 && row->names == VXS_METRIC_OF_BOTH)
        snprintf(text, VXS_METRIC_TEXT, "mean %s of classes against the rest", row->words);
    else if (classes > 2 && row->names != VXS_METRIC_OF_ALL)
        snprintf(text, VXS_METRIC_TEXT, "mean %s of classes", row->words);
    else
        snprintf(text, VXS_METRIC_TEXT, "%s", row->words);
    return text;
}

double *vxs_metric(vxs_metrics *m, const vxs_metric_row *row)
{
    return (double *)(void *)((char *)m + row->offset);
}

vxs_status vxs_metric_find(const char *name, size_t classes, const vxs_metric_row **found,
                           vxs_error *err)
{
    const char *names[32] = { NULL };
    size_t count = 0;
    *found = NULL;
    for (const vxs_metric_row *row = vxs_metric_rows; row->name; row++) {
        if (!vxs_metric_applies(row, classes))
            continue;
        if (strcmp(row->name, name) == 0)
            *found = row;
        names[count++] = row->name;
    }
    const char *near = *found ? NULL : vxs_nearest(name, names);
    if (*found)
        return VXS_OK;
    return vxs_fail(err, VXS_MISUSE, "'%s' is no metric of %s%s%s%s", name,
                    classes > 2   ? "more than two classes"
                    : classes > 0 ? "classes"
                                  : "scores",
                    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

vxs_status vxs_metric_aim(const char *name, const char *option, size_t classes,
                          const vxs_metric_row **found, vxs_error *err)
{
    vxs_status status = vxs_metric_find(name, classes, found, err);
    if (!status && (*found)->best_at_one)
        return vxs_fail(err, VXS_MISUSE,
                        "'%s' is best at 1, neither large nor small; choose another --%s", name,
                        option);
    return status;
}
