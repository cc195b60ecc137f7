/* decision.c - the score above which a subject is said to be of the positive class.
 *
 * A rule is learned from the scores of held-out subjects of inner folds, at the chosen lambda: the
 * threshold at which F1 or the balanced accuracy of these is largest, or the largest (smallest)
 * with the sensitivity (specificity) that is asked for. Between two scores all thresholds say the
 * same: it is 0, the model's own, if that is between them, else their mean. Of equally good ones it
 * is the one nearest to 0. */
#include "evaluate/decision.h"
#include "voxsift/internal/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUND_OFF 1e-12 /* of shares of subjects */

typedef struct {
    double score, positive, negative; /* weights of the subjects */
} graded;

typedef struct {
    double found, missed, false_alarms, rejected;
} counts;

typedef struct {
    const char *name;
    const char *words; /* before the share, if it has one */
    bool has_share;
    double (*value)(const counts *c); /* the larger, the better */
} rule_row;

static double f1(const counts *c)
{
    return 2 * c->found / (2 * c->found + c->missed + c->false_alarms);
}

static double sensitivity(const counts *c)
{
    return c->found / (c->found + c->missed);
}

static double specificity(const counts *c)
{
    return c->rejected / (c->rejected + c->false_alarms);
}

static double balanced(const counts *c)
{
    return (sensitivity(c) + specificity(c)) / 2;
}

static const rule_row rules[] = {
    { .name = "own" },
    { .name = "f1", .words = "the largest F1", .value = f1 },
    { .name = "balanced", .words = "the largest balanced accuracy", .value = balanced },
    { .name = "sens", .words = "a sensitivity of ", .has_share = true, .value = sensitivity },
    { .name = "spec", .words = "a specificity of ", .has_share = true, .value = specificity },
    { .name = NULL },
};

/* "sens:0.9"; NULL if it is no rule. */
static const rule_row *read_rule(const char *text, double *share)
{
    size_t length = strcspn(text, ":");
    const rule_row *row = rules;
    while (row->name && (strlen(row->name) != length || strncmp(row->name, text, length) != 0))
        row++;
    *share = NAN;
    if (!row->name || row->has_share != (text[length] == ':'))
        return NULL;
    if (row->has_share &&
        (!vxs_parse_real(text + length + 1, share) || !(*share > 0) || *share > 1))
        return NULL;
    return row;
}

vxs_status vxs_decision_check(const char *rule, size_t class_count, bool inner_folds,
                              const char *option, vxs_error *err)
{
    double share;
    const rule_row *row = rule ? read_rule(rule, &share) : &rules[0];
    if (!row)
        return vxs_fail(err, VXS_MISUSE,
                        "'--decision %s': own, f1, balanced, sens:SHARE or spec:SHARE "
                        "are known, such as sens:0.9",
                        rule);
    if (row->value && class_count != 2)
        return vxs_fail(err, VXS_MISUSE, "'--decision %s' is for two classes", rule);
    if (row->value && !inner_folds)
        return vxs_fail(err, VXS_MISUSE,
                        "'--decision %s' is learned from held-out subjects of inner "
                        "folds, which '--%s' sets",
                        rule, option);
    return VXS_OK;
}

const char *vxs_decision_words(const char *rule, char text[VXS_METRIC_TEXT])
{
    double share;
    const rule_row *row = rule ? read_rule(rule, &share) : NULL;
    if (!row || !row->words)
        return NULL;
    snprintf(text, VXS_METRIC_TEXT, "%s%s", row->words,
             row->has_share ? rule + strlen(row->name) + 1 : "");
    return text;
}

/* ---- The threshold --------------------------------------------------------------------------- */

static int by_score(const void *a, const void *b)
{
    const graded *left = a, *right = b;
    return (left->score > right->score) - (left->score < right->score);
}

/* Subjects of equal scores are one. */
static size_t grade(const vxs_predictions *p, const double *weights, graded *list)
{
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < p->n; i++) {
        double weight = weights ? weights[i] : 1;
        bool positive = p->truth[i] == 1;
        if (!isnan(p->truth[i]) && !isnan(p->scores[i]))
            list[count++] = (graded){ p->scores[i], positive ? weight : 0, positive ? 0 : weight };
    }
    qsort(list, count, sizeof(*list), by_score);
    for (size_t k = 0; k < count; k++) {
        if (kept > 0 && list[kept - 1].score == list[k].score) {
            list[kept - 1].positive += list[k].positive;
            list[kept - 1].negative += list[k].negative;
        } else {
            list[kept++] = list[k];
        }
    }
    return kept;
}

/* Between list[k - 1] and list[k]; beyond either end as far as the scores are apart. A score at the
 * threshold is not above it. */
static double threshold_at(const graded *list, size_t count, size_t k)
{
    double spread = list[count - 1].score - list[0].score;
    double margin = spread > 0 ? spread / (double)count : 1;
    double low = k > 0 ? list[k - 1].score : -INFINITY;
    double high = k < count ? list[k].score : INFINITY;
    if (low <= 0 && high > 0)
        return 0;
    if (k == 0)
        return high - margin;
    if (k == count)
        return low + margin;
    double middle = low / 2 + high / 2;
    return middle < high ? middle : low;
}

/* Subjects from `k` on are positive at threshold k; the next one is behind subject k. */
static void pass(const graded *of, counts *c)
{
    c->found -= of->positive;
    c->missed += of->positive;
    c->false_alarms -= of->negative;
    c->rejected += of->negative;
}

/* What is largest at the best threshold. Sensitivity falls with k and specificity rises:
 * the last, or the first, that reaches the share. */
static double merit_of(const rule_row *row, double share, const counts *c, size_t k)
{
    double value = row->value(c);
    if (!row->has_share)
        return value;
    double place = row->value == specificity ? -(double)k : (double)k;
    return value >= share - ROUND_OFF ? place : -INFINITY;
}

static double best_of(const rule_row *row, double share, const graded *list, size_t count)
{
    counts c = { .found = 0 };
    double most = -INFINITY, best = 0;
    for (size_t k = 0; k < count; k++) {
        c.found += list[k].positive;
        c.false_alarms += list[k].negative;
    }
    for (size_t k = 0; k <= count; k++) {
        double at = threshold_at(list, count, k), merit = merit_of(row, share, &c, k);
        bool nearer = fabs(merit - most) <= ROUND_OFF && fabs(at) < fabs(best);
        if (merit > most + ROUND_OFF || nearer) {
            most = fmax(most, merit);
            best = at;
        }
        if (k < count)
            pass(&list[k], &c);
    }
    return best;
}

vxs_status vxs_decision_learn(const char *rule, const vxs_predictions *p, const double *weights,
                              double *threshold, vxs_error *err)
{
    double share;
    const rule_row *row = rule ? read_rule(rule, &share) : NULL;
    *threshold = 0;
    if (!row || !row->value)
        return VXS_OK;
    graded *list = vxs_alloc(p->n, sizeof(*list), err);
    if (!list)
        return VXS_FAILED;
    size_t count = grade(p, weights, list);
    if (count > 0)
        *threshold = best_of(row, share, list, count);
    free(list);
    return VXS_OK;
}
