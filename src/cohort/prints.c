/* prints.c - fingerprints that recognize copies of a subject's features, from any file and under
 * any id.
 *
 * Two persons may share features by chance if these carry little information: a lesion of a few
 * voxels, a table of scores from 0 to 3. A lower bound of the information is the number of
 * significant binary digits of nonzero values: 1 for the value 1, 8 for 82.5, 24 for most measured
 * values; an image of bytes times the header's scale has 8 per voxel, however many its floats show.
 */
#include "voxsift/internal/cohort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FEWEST 20   /* nonzero values that exclude coincidence, whatever their digits */
#define DIGITS 96   /* significant digits that exclude coincidence, such as 4 floats or 12 bytes */
#define MOST   8192 /* most features compared, evenly spaced */

/* Hash of feature index and value (finisher of SplitMix64). Fingerprints are sums of hashes: the
 * order is irrelevant and zeros need not be stored. */
static uint64_t mix(size_t feature, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    uint64_t x = (uint64_t)feature * 0x9e3779b97f4a7c15U + bits;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

/* Number of significant binary digits. */
static uint32_t digits(float value)
{
    uint32_t bits, whole = (uint32_t)1 << 23;
    memcpy(&bits, &value, sizeof(bits));
    return 24 - (uint32_t)__builtin_ctz((bits & (whole - 1)) | whole);
}

/* Digits of a nonzero value, but at least DIGITS / FEWEST, so that FEWEST values suffice. */
static uint32_t weigh(float value)
{
    uint32_t least = (DIGITS + FEWEST - 1) / FEWEST, there = digits(value);
    return there > least ? there : least;
}

/* Of all instances of a bag, whatever their order. */
static void add_bags(const vxs_cohort *c, uint64_t *print, uint32_t *count)
{
    const vxs_bags *b = c->bags;
    size_t step = b->width / MOST + (b->width % MOST > 0);
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = b->first[i]; k < b->first[i + 1]; k++)
            for (size_t j = 0; j < b->width; j += step) {
                float x = b->values[k * b->width + j];
                print[i] += x != 0 ? mix(j, x) : 0;
                count[i] += x != 0 && count[i] < DIGITS ? weigh(x) : 0;
            }
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
    if (c->bags)
        add_bags(c, print, count);
    for (size_t j = 0; j < c->p && !c->bags && !vxs_patches_of(c->about); j += step)
        add(c, j, print, count); /* equal voxels are no copies of an image */
    for (size_t i = 0; i < c->n; i++)
        print[i] = count[i] < DIGITS ? 0 : print[i];
    free(count);
    return VXS_OK;
}

/* ---- Projections of rescaled images ---------------------------------------------------------- */

/* Random projection (signs) of a subject's centered, normalized features, hence insensitive to
 * scale and rounding: for images with correlation r, differences have standard deviation sqrt(2 - 2
 * r). */
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
