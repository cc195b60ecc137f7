/* machine_scores.c - scores of new subjects by a machine whose kernel is not linear, from the
 * features that the model keeps: products with its support vectors are those of blocks of features,
 * each one call of BLAS. */
#include "model/machine.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#define FEATURES 256  /* of a block */
#define ROWS     4096 /* at a time */

typedef struct {
    const vxs_machine *machine;
    const vxs_scored_rows *rows;
    size_t count, *subject;  /* support vectors, or landmarks; */
    const double *weight;    /* of all that are kept */
    double *kept, *values;   /* of a block: of support vectors, of the rows */
    double *wide, *products; /* products: rows x support vectors */
    double *own, *other;     /* squared lengths of support vectors, of the rows */
} scorer;

static void release(scorer *s)
{
    free(s->subject);
    free(s->kept);
    free(s->values);
    free(s->wide);
    free(s->products);
    free(s->own);
    free(s->other);
}

static vxs_status begin(const vxs_machine *m, const vxs_scored_rows *x, scorer *s, vxs_error *err)
{
    size_t block = m->p < FEATURES ? m->p : FEATURES;
    *s = (scorer){ .machine = m, .rows = x };
    size_t kept = m->exact ? m->rank : m->n;
    s->weight = m->exact ? m->landmark_weight : m->weight;
    s->subject = vxs_alloc(kept + 1, sizeof(*s->subject), err);
    for (size_t l = 0; l < kept && s->subject; l++)
        if (s->weight[l] != 0)
            s->subject[s->count++] = l;
    s->kept = vxs_alloc(block, vxs_times(s->count + 1, sizeof(*s->kept)), err);
    s->values = vxs_alloc(block, vxs_times(x->count + 1, sizeof(*s->values)), err);
    s->wide = vxs_alloc(x->cohort->n + 1, sizeof(*s->wide), err);
    s->products = vxs_alloc(x->count + 1, vxs_times(s->count + 1, sizeof(*s->products)), err);
    s->own = vxs_alloc(s->count + 1, sizeof(*s->own), err);
    s->other = vxs_alloc(x->count + 1, sizeof(*s->other), err);
    bool fine = s->subject && s->kept && s->values && s->wide && s->products && s->own && s->other;
    return fine ? VXS_OK : VXS_FAILED;
}

static void read_feature(const scorer *s, size_t j, size_t place)
{
    const vxs_machine *m = s->machine;
    const double *scale = m->scales + j * (1 + m->covariate_count);
    double *values = s->values + place * s->rows->count, *own = s->kept + place * s->count;
    vxs_standardized_values(s->rows, j, *scale, scale + 1, m->covariate_count, s->wide, values);
    for (size_t i = 0; i < s->rows->count; i++)
        s->other[i] += values[i] * values[i];
    for (size_t l = 0; l < s->count; l++) {
        size_t i = s->subject[l];
        own[l] = m->exact ? m->exact[j * m->rank + i] : (double)m->values[j * m->n + i];
        s->own[l] += own[l] * own[l];
    }
}

static void add_block(const scorer *s, size_t first, size_t count)
{
    const int supports = (int)s->count, rows = (int)s->rows->count;
    for (size_t k = 0; k < count; k++)
        read_feature(s, first + k, k);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, supports, rows, (int)count, 1, s->kept,
                supports, s->values, rows, 1, s->products, supports);
}

static double sum_kernels(const scorer *s, size_t i)
{
    const vxs_machine *m = s->machine;
    double *products = s->products + i * s->count;
    double sum = 0;
    vxs_kernel_apply(&m->kernel, s->own, s->other[i], s->count, products);
    for (size_t l = 0; l < s->count; l++)
        sum += s->weight[s->subject[l]] * products[l];
    return sum;
}

static vxs_status score_some(const vxs_machine *m, const vxs_scored_rows *x, double *scores,
                             vxs_error *err)
{
    scorer s;
    vxs_status status = begin(m, x, &s, err);
    for (size_t j = 0; j < m->p && s.count > 0 && x->count > 0 && !status; j += FEATURES)
        add_block(&s, j, m->p - j < FEATURES ? m->p - j : FEATURES);
    for (size_t i = 0; i < x->count && !status; i++)
        scores[i] += sum_kernels(&s, i);
    release(&s);
    return status;
}

vxs_status vxs_machine_score_features(const vxs_machine *m, const vxs_scored_rows *x,
                                      double *scores, vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (size_t first = 0; first < x->count && !status; first += ROWS) {
        vxs_scored_rows some = *x;
        some.rows += first;
        some.covariates += x->covariates ? first : 0;
        some.count = x->count - first < ROWS ? x->count - first : ROWS;
        status = score_some(m, &some, scores + first, err);
    }
    return status;
}
