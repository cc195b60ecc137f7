/* prints.c - numbers by which copies of a subject's features are known, whatever file they came
 * from and under which id.
 *
 * Two people may have the same features by chance where these say little: a lesion of a few voxels,
 * a table of scores from 0 to 3. What they say at least is counted: the digits of values that are
 * not 0. A value of 1 has one, 82.5 has 8 and most measured ones have 24, of which an image of
 * bytes times a header's scale has 8, however many it seems to have. */
#include "voxsift/internal/cohort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FEWEST 20   /* values that are not 0, whatever they are: the same ones are no chance */
#define DIGITS 96   /* binary ones of all values, likewise: 4 of an image, of 32 digits at least */
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

/* From the first binary digit that is 1 to the last one. */
static uint32_t digits(float value)
{
    uint32_t bits, whole = (uint32_t)1 << 23;
    memcpy(&bits, &value, sizeof(bits));
    return 24 - (uint32_t)__builtin_ctz((bits & (whole - 1)) | whole);
}

/* As digits; a value that is not 0 counts as so many at least that FEWEST of them are enough. */
static uint32_t weigh(float value)
{
    uint32_t least = (DIGITS + FEWEST - 1) / FEWEST, there = digits(value);
    return there > least ? there : least;
}

static void add(const vxs_cohort *c, size_t j, uint64_t *print, uint32_t *count)
{
    if (!c->features) {
        for (size_t e = c->starts[j]; e < c->starts[j + 1]; e++) {
            print[c->rows[e]] += c->values[e] != 0 ? mix(j, c->values[e]) : 0;
            count[c->rows[e]] += c->values[e] != 0 ? weigh(c->values[e]) : 0;
        }
        return;
    }
    const float *x = c->features + j * c->n;
    for (size_t i = 0; i < c->n; i++) {
        print[i] += x[i] != 0 ? mix(j, x[i]) : 0;
        count[i] += x[i] != 0 ? weigh(x[i]) : 0;
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
        print[i] = count[i] < DIGITS ? 0 : print[i];
    free(count);
    return VXS_OK;
}

/* ---- Of images that are stored in other numbers ---------------------------------------------- */

/* Random signs times the features of a subject, which are centered and divided by their norm, so
 * that neither a scale nor rounding changes much: for images with correlation r the differences
 * have standard deviation sqrt(2 - 2 r). */
typedef struct {
    double product[VXS_SKETCH], signs[VXS_SKETCH], sum, squares;
    size_t count, nonzero;
} sketch;

static void add_value(sketch *s, const double sign[VXS_SKETCH], double value)
{
    for (int k = 0; k < VXS_SKETCH; k++)
        s->product[k] += sign[k] * value;
    s->sum += value;
    s->squares += value * value;
    s->nonzero += value != 0;
}

static void finish(const sketch *s, double *numbers)
{
    double mean = s->sum / (double)s->count, square = s->squares - mean * s->sum;
    bool some = s->nonzero >= DIGITS && square > 1e-9 * s->squares;
    for (int k = 0; k < VXS_SKETCH; k++)
        numbers[k] = some ? (s->product[k] - mean * s->signs[k]) / sqrt(square) : NAN;
}

vxs_status vxs_cohort_sketches(const vxs_cohort *c, double *numbers, vxs_error *err)
{
    sketch *all = vxs_alloc(c->n, sizeof(*all), err);
    size_t step = c->p / MOST + (c->p % MOST > 0);
    if (!all)
        return VXS_FAILED;
    for (size_t j = 0; j < c->p && c->features && c->kind == VXS_FEATURES_VOXELS; j += step) {
        uint64_t bits = mix(j, 1);
        double sign[VXS_SKETCH];
        for (int k = 0; k < VXS_SKETCH; k++)
            sign[k] = bits >> (8 + k) & 1 ? 1 : -1;
        for (size_t i = 0; i < c->n; i++) {
            for (int k = 0; k < VXS_SKETCH; k++)
                all[i].signs[k] += sign[k];
            all[i].count++;
            add_value(&all[i], sign, (double)c->features[j * c->n + i]);
        }
    }
    for (size_t i = 0; i < c->n; i++)
        finish(&all[i], numbers + i * VXS_SKETCH);
    free(all);
    return VXS_OK;
}
