/* person_shapes.c - recognizes columns of persons by the counts of their values, which are more
 * even than by chance. This is evidence, not proof: callers warn. */
#include "cohort/build.h"

#include <math.h>
#include <stdlib.h>

#define FEWEST_VALUES 8

/* Variance of the counts of values with the given mean count by chance: that of a Poisson
 * distribution truncated at 0. */
static double chance_variance(double mean)
{
    double low = 0, high = mean;
    for (int k = 0; k < 60; k++) {
        double rate = (low + high) / 2;
        if (rate / -expm1(-rate) < mean)
            low = rate;
        else
            high = rate;
    }
    return mean * (1 + high - mean);
}

bool vxs_shape_repeats(const size_t *number, size_t n, size_t count, double *evenness)
{
    size_t present = 0, repeated = 0;
    size_t *times = count >= FEWEST_VALUES ? vxs_alloc(count, sizeof(*times), NULL) : NULL;
    double squares = 0;
    for (size_t i = 0; i < n && times; i++)
        if (number[i] != VXS_NO_PERSON) {
            times[number[i]]++;
            present++;
        }
    double mean = count > 0 ? (double)present / (double)count : 0;
    for (size_t k = 0; k < count && times; k++) {
        repeated += times[k] > 1 ? times[k] : 0;
        squares += ((double)times[k] - mean) * ((double)times[k] - mean);
    }
    *evenness = 0;
    if (!times || 2 * repeated < present || mean > VXS_MANY_OF_ONE) {
        free(times);
        return false;
    }
    free(times);
    double freedom = (double)count - 1,
           part = 2 / (9 * freedom); /* Wilson-Hilferty approximation */
    *evenness = (1 - part - cbrt(squares / freedom / chance_variance(mean))) / sqrt(part);
    return true;
}
