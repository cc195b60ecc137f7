/* joint.c - one multinomial solution for all classes, and its parts, one for each output.
 *
 * The weights of class c are at c p ... c p + p - 1 of the joint solution, its covariates'
 * coefficients at c q ... c q + q - 1. Each output carries the certificate of the joint solution.
 */
#include "model/model.h"

#include <math.h>
#include <string.h>

/* With two classes the multinomial loss is the logistic loss of the difference d = w_1 - w_0, and
 * min |w_0| + |w_1| = |d|; the same holds for the fused penalty. */
const vxs_loss_kind *vxs_loss_of_classes(bool joint, size_t classes)
{
    return classes == 0           ? &vxs_squared_loss
           : joint && classes > 2 ? &vxs_multinomial_loss
                                  : &vxs_logistic_loss;
}

size_t vxs_task_problems(const vxs_task *t)
{
    return t->loss->joint ? 1 : vxs_task_outputs(t);
}

/* Losses with kinks are of one algorithm: its held-out scores are compared by the target's loss. */
const vxs_loss_kind *vxs_output_loss(const vxs_task *t)
{
    const vxs_loss_kind *chosen = vxs_chosen_loss(&t->settings);
    bool smooth = t->loss->of_scores && chosen && chosen->of_scores && chosen->gamma > 0;
    return t->loss->joint ? &vxs_logistic_loss : smooth ? chosen : t->loss;
}

/* The first index of a joint solution that is not below this. */
static size_t first_from(const vxs_solution *s, size_t index)
{
    size_t k = 0;
    while (k < s->count && s->index[k] < index)
        k++;
    return k;
}

vxs_status vxs_joint_split(const vxs_task *t, const vxs_solution *joint, size_t output,
                           vxs_solution *part, vxs_error *err)
{
    size_t p = t->cohort->p, q = vxs_task_regresses(t) ? 1 : t->covariate_count;
    size_t first = first_from(joint, output * p), end = first_from(joint, (output + 1) * p);
    *part = (vxs_solution){ .count = end - first, .certificate = joint->certificate };
    part->index = vxs_alloc(part->count, sizeof(*part->index), err);
    part->weight = vxs_alloc(part->count, sizeof(*part->weight), err);
    part->covariate_coefficients = vxs_alloc(q, sizeof(*part->covariate_coefficients), err);
    if (!part->index || !part->weight || !part->covariate_coefficients) {
        vxs_solution_release(part);
        return VXS_FAILED;
    }
    for (size_t k = first; k < end; k++) {
        part->index[k - first] = joint->index[k] - output * p;
        part->weight[k - first] = joint->weight[k];
    }
    for (size_t f = 0; f < q; f++)
        part->covariate_coefficients[f] = joint->covariate_coefficients[output * q + f];
    return VXS_OK;
}

vxs_status vxs_joint_merge(const vxs_task *t, const vxs_solution *parts, vxs_solution *joint,
                           vxs_error *err)
{
    size_t p = t->cohort->p, q = vxs_task_regresses(t) ? 1 : t->covariate_count;
    size_t outputs = vxs_task_outputs(t), count = 0;
    for (size_t o = 0; o < outputs; o++)
        count += parts[o].count;
    *joint = (vxs_solution){ .count = count, .certificate = parts[0].certificate };
    joint->index = vxs_alloc(count, sizeof(*joint->index), err);
    joint->weight = vxs_alloc(count, sizeof(*joint->weight), err);
    joint->covariate_coefficients =
        vxs_alloc(outputs, q * sizeof(*joint->covariate_coefficients), err);
    if (!joint->index || !joint->weight || !joint->covariate_coefficients) {
        vxs_solution_release(joint);
        return VXS_FAILED;
    }
    for (size_t o = 0, at = 0; o < outputs; o++) {
        for (size_t k = 0; k < parts[o].count; k++, at++) {
            joint->index[at] = o * p + parts[o].index[k];
            joint->weight[at] = parts[o].weight[k];
        }
        for (size_t f = 0; f < q; f++)
            joint->covariate_coefficients[o * q + f] = parts[o].covariate_coefficients[f];
    }
    return VXS_OK;
}

double vxs_sigmoid(double score)
{
    return score > 0 ? 1 / (1 + exp(-score)) : exp(score) / (1 + exp(score));
}

/* Log-sum-exp of z over all classes but one. */
static double log_others(const double *z, size_t outputs, size_t but)
{
    double top = -INFINITY, sum = 0;
    for (size_t o = 0; o < outputs; o++)
        top = o == but ? top : fmax(top, z[o]);
    for (size_t o = 0; o < outputs; o++)
        sum += o == but ? 0 : exp(z[o] - top);
    return top + log(sum);
}

void vxs_joint_odds(double *scores, size_t outputs, size_t count, size_t stride)
{
    double z[VXS_MOST_CLASSES];
    for (size_t i = 0; i < count; i++) {
        for (size_t o = 0; o < outputs; o++)
            z[o] = scores[o * stride + i];
        for (size_t o = 0; o < outputs; o++)
            scores[o * stride + i] = z[o] - log_others(z, outputs, o);
    }
}
