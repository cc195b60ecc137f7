#include "tests/core/check.h"

/* The authors' known answers (Random123, kat_vectors, philox4x32 10). Our draw returns the first
 * two words as one; counter words are index low, index high, stream low, stream high. */
Test(random, known_answers)
{
    static const struct {
        uint64_t seed, stream, index, bits;
    } rows[] = {
        { 0, 0, 0, 0xe169c58d6627e8d5 },
        { UINT64_MAX, UINT64_MAX, UINT64_MAX, 0x41c83b0e408f276d },
        { 0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88, 0x94fdccebd16cfe09 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const vxs_random random = { rows[i].seed, rows[i].stream };
        cr_assert(vxs_random_bits(&random, rows[i].index) == rows[i].bits, "row %zu", i);
    }
}

/* Cohorts and folds of one seed must stay what they are from version to version. */
Test(random, what_a_seed_gives_never_changes)
{
    const vxs_random random = { 1, 2 };
    size_t order[8];
    char text[200] = "";
    for (uint64_t i = 0; i < 3; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%.12g %.12g %d ",
                 vxs_random_uniform(&random, i), vxs_random_normal(&random, i),
                 (int)vxs_random_below(&random, i, 1000));
    vxs_random_permutation(&random, order, 8);
    for (size_t k = 0; k < 8; k++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%zu", order[k]);
    cr_assert_str_eq(text, "0.55050312446 1.22639221481 550 0.855540294833 1.85140268295 855 "
                           "0.353598100035 -0.93363027951 353 04167325");
}

Test(random, moments_of_the_uniform)
{
    const vxs_random random = { 1, 2 };
    enum { N = 200000 };
    double sum = 0, squares = 0, neighbors = 0, before = 0;
    for (uint64_t i = 0; i < N; i++) {
        double u = vxs_random_uniform(&random, i);
        cr_assert(u >= 0 && u < 1);
        sum += u;
        squares += u * u;
        neighbors += (u - 0.5) * (before - 0.5);
        before = u;
    }
    /* five standard errors: sd of u is 1/sqrt(12), of u^2 sqrt(4/45), of the product 1/12 */
    cr_assert(fabs(sum / N - 0.5) < 5 / sqrt(12.0 * N));
    cr_assert(fabs(squares / N - 1 / 3.0) < 5 * sqrt(4 / 45.0 / N));
    cr_assert(fabs(neighbors / N) < 5 / (12 * sqrt(N)));
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Kolmogorov and Smirnov: 1.95 / sqrt(n) is passed by chance once in a thousand. */
Test(random, the_normal_is_normal)
{
    const vxs_random random = { 3, 4 };
    enum { N = 50000 };
    static double x[N];
    for (size_t i = 0; i < N; i++)
        x[i] = vxs_random_normal(&random, i);
    qsort(x, N, sizeof(x[0]), by_value);
    double widest = 0;
    for (size_t i = 0; i < N; i++) {
        double f = 0.5 * erfc(-x[i] / sqrt(2));
        widest = fmax(widest, fmax(fabs(f - (double)i / N), fabs(f - (double)(i + 1) / N)));
    }
    cr_assert(widest < 1.95 / sqrt(N), "distance %g", widest);
    cr_assert(x[N - 1] > 3.5 && x[0] < -3.5, "no tails");
}

Test(random, streams_and_seeds_are_strangers)
{
    enum { N = 50000 };
    const vxs_random a = { 1, 1 }, others[] = { { 1, 2 }, { 2, 1 }, { 1, 1ull << 32 } };
    for (size_t k = 0; k < 3; k++) {
        double product = 0;
        for (uint64_t i = 0; i < N; i++)
            product += vxs_random_normal(&a, i) * vxs_random_normal(&others[k], i);
        cr_assert(fabs(product / N) < 5 / sqrt(N), "pair %zu", k);
    }
}

Test(random, below_is_even)
{
    const vxs_random random = { 9, 9 };
    enum { N = 70000, BOUND = 7 };
    double counts[BOUND] = { 0 }, chi2 = 0;
    for (uint64_t i = 0; i < N; i++)
        counts[vxs_random_below(&random, i, BOUND)]++;
    for (size_t k = 0; k < BOUND; k++)
        chi2 += pow(counts[k] - N / (double)BOUND, 2) / (N / (double)BOUND);
    cr_assert(chi2 < 22.5, "chi2 %g with 6 degrees of freedom", chi2); /* p = 0.001 */
    for (uint64_t i = 0; i < 1000; i++) {
        cr_assert(vxs_random_below(&random, i, 1) == 0);
        cr_assert(vxs_random_below(&random, i, UINT64_MAX) < UINT64_MAX);
    }
}

Test(random, below_is_the_exact_high_half)
{
    const vxs_random random = { 11, 12 };
    for (uint64_t i = 0; i < 10000; i++) {
        uint64_t bits = vxs_random_bits(&random, i),
                 bound = vxs_random_bits(&random, i + 10000) | 1;
        __extension__ typedef unsigned __int128 wide;
        cr_assert(vxs_random_below(&random, i, bound) == (uint64_t)((wide)bits * bound >> 64));
    }
}

Test(random, permutations_are_permutations_and_all_equally_likely)
{
    size_t order[100];
    bool seen[100] = { false };
    vxs_random random = { 1, 1 };
    vxs_random_permutation(&random, order, 100);
    for (size_t i = 0; i < 100; i++) {
        cr_assert(order[i] < 100 && !seen[order[i]]);
        seen[order[i]] = true;
    }
    enum { N = 60000 };
    double counts[27] = { 0 }, chi2 = 0;
    for (random.stream = 0; random.stream < N; random.stream++) {
        vxs_random_permutation(&random, order, 3);
        counts[9 * order[0] + 3 * order[1] + order[2]]++;
    }
    size_t kinds = 0;
    for (size_t k = 0; k < 27; k++) {
        kinds += counts[k] > 0;
        chi2 += counts[k] > 0 ? pow(counts[k] - N / 6.0, 2) / (N / 6.0) : 0;
    }
    cr_assert(kinds == 6 && chi2 < 20.5, "chi2 %g with 5 degrees of freedom", chi2);
}
