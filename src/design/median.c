/* median.c - the median distance of points on a line, in O(n log n).
 *
 * Two pointers along the sorted values count the distances of at most d. Bisection finds an
 * interval with few enough distances to list, and selection finds the median among these; with ties
 * the interval may shrink to a single number first. */
#include "design/gauss.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LISTED = VXS_BANDWIDTH_WORKSPACE - 1 };

static int compare_values(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Number of pairs at distance d or less. */
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

/* Lists the distances in (above, most], at most n of them. */
static size_t list_within(const double *x, size_t n, double above, double most, double *workspace)
{
    size_t count = 0, low = 0, near = 0;
    for (size_t high = 1; high < n; high++) {
        while (x[high] - x[low] > most)
            low++;
        while (near < high && x[high] - x[near] > above)
            near++;
        for (size_t l = low; l < near; l++)
            workspace[count++] = x[high] - x[l];
    }
    return count;
}

double vxs_quickselect(double *x, size_t count, size_t k)
{
    ptrdiff_t first = 0, last = (ptrdiff_t)count - 1, target = (ptrdiff_t)k;
    while (first < last) {
        ptrdiff_t i = first, j = last;
        double pivot = x[target];
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
        first = j < target ? i : first;
        last = target < i ? j : last;
    }
    return x[k];
}

/* The k-th smallest distance, from 1; `below` distances, fewer than k, are at most `above`. */
static double select_distance(const double *x, size_t n, size_t k, double above, size_t below,
                              double *workspace)
{
    double most = x[n - 1] - x[0];
    size_t within = n * (n - 1) / 2;
    while (within - below > LISTED * n) {
        double middle = most < INFINITY ? above + (most - above) / 2 : DBL_MAX;
        if (!(middle > above && middle < most))
            return most; /* all remaining distances are equal */
        size_t count = count_within(x, n, middle);
        if (count >= k) {
            most = middle;
            within = count;
        } else {
            above = middle;
            below = count;
        }
    }
    size_t count = list_within(x, n, above, most, workspace);
    return vxs_quickselect(workspace, count, k - below - 1);
}

/* The lower median. */
static double median_of_sorted(const double *x, size_t n, bool not_0, double *workspace)
{
    size_t all = n * (n - (n > 0)) / 2, ties = count_within(x, n, 0), k = (all + 1) / 2;
    if (not_0)
        k = ties + (all - ties + 1) / 2;
    return k <= ties ? 0 : select_distance(x, n, k, 0, ties, workspace);
}

double vxs_bandwidth_of(const double *x, size_t n, double bandwidth, double *workspace)
{
    if (bandwidth > 0)
        return bandwidth;
    memcpy(workspace, x, n * sizeof(*x));
    qsort(workspace, n, sizeof(*workspace), compare_values);
    double median = median_of_sorted(workspace, n, false, workspace + n);
    return median > 0 ? median : median_of_sorted(workspace, n, true, workspace + n);
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
    double *workspace = vxs_alloc(n, VXS_BANDWIDTH_WORKSPACE * sizeof(*workspace), err);
    if (!workspace)
        return VXS_FAILED;
    memcpy(workspace, x, n * sizeof(*x));
    qsort(workspace, n, sizeof(*workspace), compare_values);
    *median = median_of_sorted(workspace, n, false, workspace + n);
    free(workspace);
    return VXS_OK;
}
