/* id_numbers.c - decides whether the numbers under several heads belong to the same persons, as for
 * visits, or restart, as for sites. The test is one of independence in the range of numbers that
 * two heads share: a missing number (a person who dropped out before the study, or was excluded) is
 * missing at each visit, but at several sites by chance alone. */
#include "cohort/id_numbers.h"

#include <math.h>
#include <stdlib.h>

#define CHANCE   3.1 /* standard deviations; one-sided p = 0.001 */
#define UNLIKELY 6.9 /* -log(0.001) */
#define DENSE    0.8

typedef struct {
    double count, span, unlikely; /* unlikely: -log of the probability that ends differ so much */
    double both, expected, variance; /* numbers under two heads: observed, and under independence */
} numbers;

static int by_place(const void *a, const void *b)
{
    const vxs_id_number *l = a, *r = b;
    if (l->place != r->place)
        return l->place < r->place ? -1 : 1;
    if (l->head != r->head)
        return l->head < r->head ? -1 : 1;
    return (l->number > r->number) - (l->number < r->number);
}

/* Compares two heads of a place in the range of numbers that both have. */
static void compare_heads(const vxs_id_number *one, size_t n, const vxs_id_number *two, size_t m,
                          numbers *of)
{
    uint64_t from = one->number > two->number ? one->number : two->number;
    uint64_t end_one = one[n - 1].number, end_two = two[m - 1].number;
    uint64_t to = end_one < end_two ? end_one : end_two;
    double a = 0, b = 0, both = 0, range = to >= from ? (double)(to - from) + 1 : 0;
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        a += one[i].number >= from && one[i].number <= to;
    for (size_t j = 0; j < m; j++) {
        while (k < n && one[k].number < two[j].number)
            k++;
        b += two[j].number >= from && two[j].number <= to;
        both += k < n && one[k].number == two[j].number;
    }
    if (range < 2)
        return;
    of->both += both; /* hypergeometric distribution */
    of->expected += a * b / range;
    of->variance += a * b * (range - a) * (range - b) / (range * range * (range - 1));
}

#define MOST_DENSE 0.95

/* -log of the probability that the last number is so far below the largest, if all heads have the
 * same persons and missing numbers are random. */
static double unlikely_end(size_t n, uint64_t last, uint64_t largest)
{
    double share = last > 0 ? (double)n / (double)last : MOST_DENSE;
    share = share > MOST_DENSE ? MOST_DENSE : share;
    return -(double)(largest - last) * log1p(-share);
}

/* Compares each head with the head that has most numbers. */
static void compare_place(const vxs_id_number *list, size_t n, numbers *of)
{
    uint64_t largest = 0;
    size_t most = 0, most_end = 0;
    for (size_t from = 0, to = 0; from < n; from = to) {
        while (to < n && list[to].head == list[from].head)
            to++;
        largest = list[to - 1].number > largest ? list[to - 1].number : largest;
        if (to - from > most_end - most) {
            most = from;
            most_end = to;
        }
    }
    for (size_t from = 0, to = 0; from < n; from = to) {
        while (to < n && list[to].head == list[from].head)
            to++;
        of->count += (double)(to - from);
        of->span += (double)list[to - 1].number;
        of->unlikely += unlikely_end(to - from, list[to - 1].number, largest);
        if (from != most)
            compare_heads(list + most, most_end - most, list + from, to - from, of);
    }
}

void vxs_id_numbers_compare(vxs_id_number *list, size_t count, vxs_id_numbers *found)
{
    numbers of = { .count = 0 };
    if (count > 0)
        qsort(list, count, sizeof(*list), by_place);
    for (size_t from = 0, to = 0; from < count; from = to) {
        while (to < count && list[to].place == list[from].place)
            to++;
        compare_place(list + from, to - from, &of);
    }
    bool alike = of.variance > 0 && of.both - of.expected > CHANCE * sqrt(of.variance);
    *found = (vxs_id_numbers){ .count = of.count,
                               .span = of.span,
                               .alike = alike,
                               .differ = of.variance > 0 && !alike,
                               .begin_again = of.count > 0 && of.count >= DENSE * of.span,
                               .end_apart = of.unlikely > UNLIKELY };
}
