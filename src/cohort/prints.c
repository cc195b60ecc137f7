/* prints.c - numbers by which copies of a subject's features are known, whatever file they came
 * from and under which id. */
#include "voxsift/cohort.h"

#include <stdlib.h>
#include <string.h>

#define FEWEST 20   /* values that are not 0: fewer are alike by chance */
#define MOST   8192 /* features that are compared, evenly among all */

/* A sum over features of a mixture of number and value (the end of SplitMix64), so that the order
 * is of no account and zeros need not be stored. */
static uint64_t mix(size_t feature, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    uint64_t x = (uint64_t)feature * 0x9e3779b97f4a7c15U + bits;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

static void add(const vxs_cohort *c, size_t j, uint64_t *print, uint32_t *count)
{
    if (!c->features) {
        for (size_t e = c->starts[j]; e < c->starts[j + 1]; e++) {
            print[c->rows[e]] += c->values[e] != 0 ? mix(j, c->values[e]) : 0;
            count[c->rows[e]] += c->values[e] != 0;
        }
        return;
    }
    const float *x = c->features + j * c->n;
    for (size_t i = 0; i < c->n; i++) {
        print[i] += x[i] != 0 ? mix(j, x[i]) : 0;
        count[i] += x[i] != 0;
    }
}

vxs_status vxs_cohort_prints(const vxs_cohort *c, uint64_t *print, vxs_error *err)
{
    uint32_t *count = vxs_alloc(c->n, sizeof(*count), err);
    size_t step = c->p / MOST + (c->p % MOST > 0);
    if (!count)
        return VXS_FAILED;
    for (size_t i = 0; i < c->n; i++)
        print[i] = 0;
    for (size_t j = 0; j < c->p; j += step)
        add(c, j, print, count);
    for (size_t i = 0; i < c->n; i++)
        print[i] = count[i] < FEWEST ? 0 : print[i];
    free(count);
    return VXS_OK;
}
