/* median.c - the median distance of points on a line, without their pairs.
 *
 * How many distances are at most d is counted by two fingers along the sorted values. Halving finds
 * an interval with few enough distances to list, and the one that is wanted is found among these;
 * with ties it may have to become a single number first. */
#include "design/gauss.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LISTED = VXS_BANDWIDTH_ROOM - 1 };

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Pairs that are at most d apart. */
static size_t count_within(const double *x, size_t n, double d)
{
    size_t count = 0, low = 0;
    for (size_t high = 1; high < n; high++) {
        while (x[high] - x[low] > d)
            low++;
        count += high - low;
    }
    return count;
}

/* Those in (above, most], which are at most `room` holds. */
static size_t list_within(const double *x, size_t n, double above, double most, double *room)
{
    size_t count = 0, low = 0, near = 0;
    for (size_t high = 1; high < n; high++) {
        while (x[high] - x[low] > most)
            low++;
        while (near < high && x[high] - x[near] > above)
            near++;
        for (size_t l = low; l < near; l++)
            room[count++] = x[high] - x[l];
    }
    return count;
}

/* The k-th smallest value, from 0 (Hoare's Find). */
static double choose(double *x, size_t count, size_t k)
{
    ptrdiff_t first = 0, last = (ptrdiff_t)count - 1, wanted = (ptrdiff_t)k;
    while (first < last) {
        ptrdiff_t i = first, j = last;
        double pivot = x[wanted];
        while (i <= j) {
            while (x[i] < pivot)
                i++;
            while (x[j] > pivot)
                j--;
            if (i <= j) {
                double swapped = x[i];
                x[i++] = x[j];
                x[j--] = swapped;
            }
        }
        first = j < wanted ? i : first;
        last = wanted < i ? j : last;
    }
    return x[k];
}

/* The k-th smallest distance, from 1; `below` of them, fewer than k, are at most `above`. */
static double choose_distance(const double *x, size_t n, size_t k, double above, size_t below,
                              double *room)
{
    double most = x[n - 1] - x[0];
    size_t within = n * (n - 1) / 2;
    while (within - below > LISTED * n) {
        double middle = most < INFINITY ? above + (most - above) / 2 : DBL_MAX;
        if (!(middle > above && middle < most))
            return most; /* all that are left */
        size_t count = count_within(x, n, middle);
        if (count >= k) {
            most = middle;
            within = count;
        } else {
            above = middle;
            below = count;
        }
    }
    size_t count = list_within(x, n, above, most, room);
    return choose(room, count, k - below - 1);
}

/* The lower one of two in the middle. */
static double median_of_sorted(const double *x, size_t n, bool not_0, double *room)
{
    size_t all = n * (n - (n > 0)) / 2, ties = count_within(x, n, 0), k = (all + 1) / 2;
    if (not_0)
        k = ties + (all - ties + 1) / 2;
    return k <= ties ? 0 : choose_distance(x, n, k, 0, ties, room);
}

double vxs_bandwidth_of(const double *x, size_t n, double wanted, double *room)
{
    if (wanted > 0)
        return wanted;
    memcpy(room, x, n * sizeof(*x));
    qsort(room, n, sizeof(*room), by_value);
    double median = median_of_sorted(room, n, false, room + n);
    return median > 0 ? median : median_of_sorted(room, n, true, room + n);
}

bool vxs_varies(const double *x, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (x[i] != x[0])
            return true;
    return false;
}

vxs_status vxs_median_distance(const double *x, size_t n, double *median, vxs_error *err)
{
    double *room = vxs_alloc(n, VXS_BANDWIDTH_ROOM * sizeof(*room), err);
    if (!room)
        return VXS_FAILED;
    memcpy(room, x, n * sizeof(*x));
    qsort(room, n, sizeof(*room), by_value);
    *median = median_of_sorted(room, n, false, room + n);
    free(room);
    return VXS_OK;
}
