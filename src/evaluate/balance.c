/* balance.c - balanced accuracy of more than two classes over folds.
 *
 * Problem   the mean sensitivity s of K classes, of subjects that are compared within folds. If
 *           each class had a mean over folds of its own, weighted by its own pairs, a constant that
 *           differs between folds (the commonest class of each training part) would be worth less
 *           than 1 / K, and a model without information more than this constant
 * Measure   (K s - 1) / (K - 1) is the mean over ordered pairs of classes (c, d) of
 *           P(c is said | c) - P(c is said | d). Over folds this difference is a mean over pairs of
 *           subjects of one fold, one of c and one of d: a constant adds 0 in each, so that it is
 *           worth 1 / K whatever the folds are. In folds of equal parts it is the mean sensitivity;
 *           of two classes it always is
 * Cost      n log n + folds K^2
 * Threads   1
 * Source    none */
#include "evaluate/evaluate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    size_t fold, truth, said;
} answer;

static int by_fold(const void *a, const void *b)
{
    const answer *left = a, *right = b;
    return (left->fold > right->fold) - (left->fold < right->fold);
}

/* said: classes x classes, subjects of one fold by truth and prediction; of: how many of a class
 * are in it; pairs, right: of (c, d) the pairs of subjects, and those where c is said of the one of
 * c, minus those where it is said of the one of d. */
typedef struct {
    size_t classes;
    double *said, *pairs, *right, *of;
} balance;

static void add_fold(const balance *b)
{
    size_t classes = b->classes;
    for (size_t c = 0; c < classes; c++)
        for (size_t d = 0; d < classes; d++) {
            size_t k = c * classes + d;
            b->pairs[k] += c == d ? 0 : b->of[c] * b->of[d];
            b->right[k] +=
                b->said[c * classes + c] * b->of[d] - b->said[d * classes + c] * b->of[c];
        }
    memset(b->said, 0, classes * classes * sizeof(*b->said));
    memset(b->of, 0, classes * sizeof(*b->of));
}

static double balance_of(const balance *b)
{
    double sum = 0, count = 0, classes = (double)b->classes;
    for (size_t k = 0; k < b->classes * b->classes; k++)
        if (b->pairs[k] > 0) {
            sum += b->right[k] / b->pairs[k];
            count++;
        }
    return count > 0 ? (1 + (classes - 1) * sum / count) / classes : NAN;
}

vxs_status vxs_balance_over_folds(const vxs_predictions *p, double *balanced, vxs_error *err)
{
    size_t classes = p->class_count, count = 0;
    answer *list = vxs_alloc(p->n, sizeof(*list), err);
    double *room = vxs_alloc(3 * classes + 1, classes * sizeof(*room), err);
    if (list && room) {
        balance b = { .classes = classes,
                      .said = room,
                      .pairs = room + classes * classes,
                      .right = room + 2 * classes * classes,
                      .of = room + 3 * classes * classes };
        for (size_t i = 0; i < p->n; i++)
            if (!isnan(p->truth[i]) && !isnan(p->scores[i]))
                list[count++] =
                    (answer){ p->fold[i], (size_t)p->truth[i], vxs_predicted_class(p, i) };
        qsort(list, count, sizeof(*list), by_fold);
        for (size_t k = 0; k < count; k++) {
            b.said[list[k].truth * classes + list[k].said]++;
            b.of[list[k].truth]++;
            if (k + 1 == count || list[k + 1].fold != list[k].fold)
                add_fold(&b);
        }
        *balanced = balance_of(&b);
    }
    vxs_status status = list && room ? VXS_OK : VXS_FAILED;
    free(list);
    free(room);
    return status;
}
