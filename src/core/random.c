/* random.c - Philox 4x32-10, a counter-based generator.
 *
 * Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011. The
 * counter is (index, stream), the key is the seed; ten rounds of multiplication and mixing give 128
 * bits. tests/core/test_random.c contains the known answers of the authors' own test file. */
#include "voxsift/internal/core.h"

#include <math.h>

#define ROUNDS       10
#define MULTIPLIER_0 0xD2511F53u
#define MULTIPLIER_1 0xCD9E8D57u
#define WEYL_0       0x9E3779B9u /* golden ratio: added to the key every round */
#define WEYL_1       0xBB67AE85u /* sqrt(3) - 1 */

static void philox(uint32_t counter[4], uint32_t key_0, uint32_t key_1)
{
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t product_0 = (uint64_t)MULTIPLIER_0 * counter[0];
        uint64_t product_1 = (uint64_t)MULTIPLIER_1 * counter[2];
        counter[0] = (uint32_t)(product_1 >> 32) ^ counter[1] ^ key_0;
        counter[1] = (uint32_t)product_1;
        counter[2] = (uint32_t)(product_0 >> 32) ^ counter[3] ^ key_1;
        counter[3] = (uint32_t)product_0;
        key_0 += WEYL_0;
        key_1 += WEYL_1;
    }
}

static void draw(const vxs_random *random, uint64_t index, uint64_t words[2])
{
    uint32_t counter[4] = { (uint32_t)index, (uint32_t)(index >> 32), (uint32_t)random->stream,
                            (uint32_t)(random->stream >> 32) };
    philox(counter, (uint32_t)random->seed, (uint32_t)(random->seed >> 32));
    words[0] = counter[0] | (uint64_t)counter[1] << 32;
    words[1] = counter[2] | (uint64_t)counter[3] << 32;
}

uint64_t vxs_random_bits(const vxs_random *random, uint64_t index)
{
    uint64_t words[2];
    draw(random, index, words);
    return words[0];
}

/* The top 53 bits fill a double's fraction exactly. */
static double unit_interval(uint64_t word)
{
    return (double)(word >> 11) * 0x1p-53;
}

double vxs_random_uniform(const vxs_random *random, uint64_t index)
{
    return unit_interval(vxs_random_bits(random, index));
}

/* Box-Muller; both uniforms come from one draw, so that the result depends on the index alone. */
double vxs_random_normal(const vxs_random *random, uint64_t index)
{
    const double two_pi = 6.283185307179586476925;
    uint64_t words[2];
    draw(random, index, words);
    double radius = sqrt(-2 * log(1 - unit_interval(words[0]))); /* 1 - u is positive */
    return radius * cos(two_pi * unit_interval(words[1]));
}

/* High half of a 64 x 64 bit product. */
static uint64_t multiply_high(uint64_t a, uint64_t b)
{
    uint64_t a_low = (uint32_t)a, a_high = a >> 32, b_low = (uint32_t)b, b_high = b >> 32;
    uint64_t middle = a_high * b_low + (a_low * b_low >> 32);
    uint64_t middle_2 = a_low * b_high + (uint32_t)middle;
    return a_high * b_high + (middle >> 32) + (middle_2 >> 32);
}

uint64_t vxs_random_below(const vxs_random *random, uint64_t index, uint64_t bound)
{
    return multiply_high(vxs_random_bits(random, index), bound);
}

/* Fisher-Yates shuffle, inside out: element i goes to a random position among the first i + 1. */
void vxs_random_permutation(const vxs_random *random, size_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t place = (size_t)vxs_random_below(random, i, i + 1);
        order[i] = i;
        order[i] = order[place];
        order[place] = i;
    }
}
