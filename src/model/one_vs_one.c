/* one_vs_one.c - outputs that are pairs of classes, and classes from pairs.
 *
 * An output is fitted on rows of its own with signs of its own. One against the rest these are all
 * subjects of the task. One against one they are the subjects of two classes, and then the output
 * is fitted on a task of its own: a part with two classes, so that whatever a fit estimates
 * (weights, means, confounds, balanced class weights) is that of these subjects.
 *
 * Pairs are in the order AD against CN, AD against MCI, CN against MCI; a positive score is for the
 * first. A class has a vote for each pair that it wins; where classes have as many votes, the sum
 * of margins decides, which counts less than half a vote. Probabilities: Wu, Lin and Weng,
 * Probability estimates for multi-class classification by pairwise coupling, JMLR 5, 2004, their
 * second method. */
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_SHARE 1e-7 /* of a pair's probability: of 0 and 1 nothing can be coupled */

size_t vxs_output_count(const vxs_task_settings *s, size_t classes)
{
    return classes < 3                       ? 1
           : s->multiclass == VXS_ONE_VS_ONE ? classes * (classes - 1) / 2
                                             : classes;
}

size_t vxs_task_outputs(const vxs_task *t)
{
    return t ? vxs_output_count(&t->settings, t->class_count) : 0;
}

size_t vxs_task_score_count(const vxs_task *t)
{
    return t && t->class_count > 2 ? t->class_count : 1;
}

size_t vxs_model_score_count(const vxs_model *m)
{
    return m && m->class_count > 2 ? m->class_count : 1;
}

bool vxs_task_has_pairs(const vxs_task *t)
{
    return t->class_count > 2 && t->settings.multiclass == VXS_ONE_VS_ONE;
}

bool vxs_model_has_pairs(const vxs_model *m)
{
    return m->class_count > 2 && m->task.multiclass == VXS_ONE_VS_ONE;
}

vxs_status vxs_task_check_pairs(const vxs_task *t, vxs_error *err)
{
    if (t->settings.multiclass != VXS_ONE_VS_ONE)
        return VXS_OK;
    if (t->class_count < 3)
        return vxs_fail(err, VXS_MISUSE,
                        "'--multiclass one-vs-one' is for three classes and more; '%s' %s",
                        t->settings.target, t->class_count == 2 ? "has two" : "is a score");
    for (size_t k = 0; k < t->class_count; k++)
        if (2 * (strlen(t->classes[k]) + strlen(" against ")) > VXS_OUTPUT_TEXT)
            return vxs_fail(err, VXS_BAD_DATA,
                            "column '%s': the name of the class '%.40s...' is too long for those "
                            "of pairs; give it a shorter one",
                            t->settings.target, t->classes[k]);
    return VXS_OK;
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

void vxs_pair_classes(size_t classes, size_t output, size_t pair[2])
{
    pair[0] = 0;
    for (size_t left = classes - 1; output >= left; left--) {
        output -= left;
        pair[0]++;
    }
    pair[1] = pair[0] + 1 + output;
}

const char *vxs_pair_name(vxs_class_name *name, const void *of, size_t classes, size_t output,
                          char text[VXS_OUTPUT_TEXT])
{
    size_t pair[2];
    vxs_pair_classes(classes, output, pair);
    snprintf(text, VXS_OUTPUT_TEXT, "%s against %s", name(of, pair[0]), name(of, pair[1]));
    return text;
}

static const char *class_of(const void *task, size_t k)
{
    return ((const vxs_task *)task)->classes[k];
}

const char *vxs_task_output_name(const vxs_task *t, size_t output, char text[VXS_OUTPUT_TEXT])
{
    if (vxs_task_has_pairs(t))
        return vxs_pair_name(class_of, t, t->class_count, output, text);
    return t->class_count == 0   ? t->settings.target
           : t->class_count == 2 ? t->classes[1]
                                 : t->classes[output];
}

double vxs_output_side(const vxs_task *t, size_t output, double score)
{
    size_t pair[2];
    if (!vxs_task_has_pairs(t))
        return score == (double)(t->class_count == 2 ? 1 : output) ? 1 : -1;
    vxs_pair_classes(t->class_count, output, pair);
    return score == (double)pair[0] ? 1 : score == (double)pair[1] ? -1 : NAN;
}

/* The positive class of two is the last. */
vxs_status vxs_task_pair(const vxs_context *context, const vxs_task *whole, const size_t *which,
                         size_t count, size_t output, vxs_task *part, vxs_error *err)
{
    size_t pair[2], n = 0, *mine = vxs_alloc(count, sizeof(*mine), err);
    double *side = vxs_alloc(whole->n, sizeof(*side), err);
    *part = (vxs_task){ .n = 0 };
    vxs_pair_classes(whole->class_count, output, pair);
    char *classes[] = { whole->classes[pair[1]], whole->classes[pair[0]] };
    vxs_task two = *whole;
    two.score = side;
    two.classes = classes;
    two.class_count = 2;
    two.settings.multiclass = VXS_ONE_VS_REST;
    for (size_t i = 0; i < whole->n && side; i++)
        side[i] = vxs_output_side(whole, output, whole->score[i]) / 2 + 0.5;
    for (size_t k = 0; k < count && mine && side; k++) {
        size_t i = which ? which[k] : k;
        if (!isnan(side[i]))
            mine[n++] = i;
    }
    vxs_status status =
        mine && side ? vxs_task_part(context, &two, mine, n, part, err) : VXS_FAILED;
    free(mine);
    free(side);
    return status;
}

vxs_status vxs_pair_begin(const vxs_context *context, vxs_task *t,
                          const vxs_method_settings *settings, size_t output, vxs_task *part,
                          vxs_error *err)
{
    *part = (vxs_task){ .n = 0 };
    vxs_status status = vxs_task_share(context, t, settings, err);
    if (!status)
        status = vxs_task_pair(context, t, NULL, t->n, output, part, err);
    part->products_shared = output > 0;
    return status;
}

void vxs_pair_end(vxs_task *part)
{
    part->products_shared = true;
    vxs_task_release(part);
}

/* ---- Classes --------------------------------------------------------------------------------- */

void vxs_pairs_vote(const double *margins, size_t classes, double *scores)
{
    double sum[VXS_MOST_CLASSES] = { 0 };
    for (size_t c = 0; c < classes; c++)
        scores[c] = 0;
    for (size_t a = 0, at = 0; a < classes; a++)
        for (size_t b = a + 1; b < classes; b++, at++) {
            scores[margins[at] > 0 ? a : b]++;
            sum[a] += margins[at];
            sum[b] -= margins[at];
        }
    for (size_t c = 0; c < classes; c++)
        scores[c] += sum[c] / (3 * (fabs(sum[c]) + 1));
}

/* Minimizes sum over pairs (r_ba p_a - r_ab p_b)^2 of p that sum to 1, where r_ab is the share of a
 * in its pair with b: p'Qp is least where Q p is the same for all classes. Q + ee' has the same
 * answer, and Cholesky's factor, as the shares are above 0. */
void vxs_pairs_couple(const double *first, size_t classes, double *p)
{
    double q[VXS_MOST_CLASSES][VXS_MOST_CLASSES], whole = 0;
    for (size_t a = 0; a < classes; a++)
        for (size_t b = 0; b < classes; b++)
            q[a][b] = 1;
    for (size_t a = 0, at = 0; a < classes; a++)
        for (size_t b = a + 1; b < classes; b++, at++) {
            double r =
                isnan(first[at]) ? first[at] : fmin(fmax(first[at], LEAST_SHARE), 1 - LEAST_SHARE);
            q[a][a] += (1 - r) * (1 - r);
            q[b][b] += r * r;
            q[a][b] = q[b][a] = 1 - r * (1 - r);
        }
    for (size_t c = 0; c < classes; c++) {
        p[c] = 1;
        for (size_t k = 0; k < c; k++) { /* row c of the factor, and forward substitution */
            for (size_t l = 0; l < k; l++)
                q[c][k] -= q[c][l] * q[k][l];
            q[c][k] /= q[k][k];
            q[c][c] -= q[c][k] * q[c][k];
            p[c] -= q[c][k] * p[k];
        }
        q[c][c] = sqrt(q[c][c]);
        p[c] /= q[c][c];
    }
    for (size_t c = classes; c-- > 0;) {
        for (size_t k = c + 1; k < classes; k++)
            p[c] -= q[k][c] * p[k];
        p[c] /= q[c][c];
    }
    for (size_t c = 0; c < classes; c++) {
        p[c] = p[c] < 0 ? 0 : p[c]; /* rounding */
        whole += p[c];
    }
    for (size_t c = 0; c < classes; c++)
        p[c] /= whole;
}

void vxs_pairs_conclude(const double *outputs, size_t classes, size_t n, size_t apart,
                        const double *slope, const double *offset, size_t stride, double *scores,
                        double *probabilities)
{
    double margins[VXS_MOST_CLASSES * (VXS_MOST_CLASSES - 1) / 2], found[VXS_MOST_CLASSES];
    size_t pairs = classes * (classes - 1) / 2;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < pairs; k++)
            margins[k] = outputs[k * apart + i];
        vxs_pairs_vote(margins, classes, found);
        for (size_t c = 0; c < classes; c++)
            scores[c * stride + i] = found[c];
        if (!probabilities)
            continue;
        for (size_t k = 0; k < pairs; k++)
            margins[k] = vxs_sigmoid(slope ? offset[k] + slope[k] * margins[k] : margins[k]);
        vxs_pairs_couple(margins, classes, found);
        for (size_t c = 0; c < classes; c++)
            probabilities[c * stride + i] = found[c];
    }
}
