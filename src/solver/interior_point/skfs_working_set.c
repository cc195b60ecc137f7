/* skfs_working_set.c - the working set of voxels, and the problem on it. */
#include "solver/interior_point/hinge_interior.h"
#include "solver/interior_point/skfs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_CAPACITY 64 /* initial capacity */

static vxs_status reserve(vxs_skfs *s, size_t count, vxs_error *err)
{
    if (count <= s->capacity)
        return VXS_OK;
    size_t capacity = count + count / 2 + MIN_CAPACITY;
    double *z = vxs_resize(s->z, capacity * s->rows, sizeof(*z), err);
    s->z = z ? z : s->z;
    double **const each[] = { &s->set_a, &s->slack, &s->set_degree };
    bool fine = z != NULL;
    for (size_t k = 0; k < 3 && fine; k++) {
        double *resized = vxs_resize(*each[k], capacity, sizeof(*resized), err);
        *each[k] = resized ? resized : *each[k];
        fine = resized != NULL;
    }
    s->capacity = fine ? capacity : s->capacity;
    return fine ? VXS_OK : VXS_FAILED;
}

static int by_index(const void *a, const void *b)
{
    size_t first = *(const size_t *)a, second = *(const size_t *)b;
    return (first > second) - (first < second);
}

/* Keeps the set ascending: columns of Z lie as in the design. */
vxs_status vxs_skfs_add(vxs_skfs *s, size_t count, vxs_error *err)
{
    vxs_status status = reserve(s, s->count + count, err);
    if (status)
        return status;
    qsort(s->order, count, sizeof(*s->order), by_index);
    size_t old = s->count, remaining_new = count;
    s->count += count;
    for (size_t at = s->count; remaining_new > 0; at--) {
        double *z = s->z + (at - 1) * s->rows;
        if (old > 0 && s->working_set[old - 1] > s->order[remaining_new - 1]) {
            s->working_set[at - 1] = s->working_set[--old];
            memcpy(z, s->z + old * s->rows, s->rows * sizeof(*z));
            continue;
        }
        size_t voxel = s->working_set[at - 1] = s->order[--remaining_new];
        vxs_design_fetch(s->problem.design, &voxel, 1, s->column);
        for (size_t m = 0; m < s->rows; m++)
            z[m] = s->column[s->row[m]] * s->scale;
    }
    for (size_t k = 0; k < s->count; k++)
        s->position[s->working_set[k]] = k;
    return VXS_OK;
}

/* Voxels without weight whose gradient is far from violation leave the working set. */
void vxs_skfs_remove(vxs_skfs *s, double bound)
{
    size_t remaining = 0;
    for (size_t k = 0; k < s->count; k++) {
        size_t voxel = s->working_set[k];
        s->position[voxel] = VXS_NOT_IN_SET;
        if (s->a[voxel] == 0 && s->correlation[voxel] < bound) {
            s->interior[voxel] = 0;
            continue;
        }
        if (remaining < k)
            memcpy(s->z + remaining * s->rows, s->z + k * s->rows, s->rows * sizeof(*s->z));
        s->position[voxel] = remaining;
        s->working_set[remaining++] = voxel;
    }
    s->count = remaining;
}

static vxs_status list_edges(vxs_skfs *s, size_t *edges, vxs_error *err)
{
    size_t max_edges = 0;
    for (size_t k = 0; k < s->count; k++)
        max_edges += s->start[s->working_set[k] + 1] - s->start[s->working_set[k]];
    free(s->from);
    free(s->to);
    free(s->weight);
    s->from = vxs_alloc(max_edges, sizeof(*s->from), err);
    s->to = vxs_alloc(max_edges, sizeof(*s->to), err);
    s->weight = vxs_alloc(max_edges, sizeof(*s->weight), err);
    *edges = 0;
    if (!s->from || !s->to || !s->weight)
        return VXS_FAILED;
    for (size_t k = 0; k < s->count; k++)
        for (size_t e = s->start[s->working_set[k]]; e < s->start[s->working_set[k] + 1]; e++) {
            size_t other = s->position[s->neighbor[e]];
            if (other == VXS_NOT_IN_SET || other <= k)
                continue;
            s->from[*edges] = k;
            s->to[*edges] = other;
            s->weight[(*edges)++] = s->edge[e];
        }
    return VXS_OK;
}

/* Sets a weight to 0 where it is smaller than the slack of its constraint, both relative to their
 * ranges. */
static void set_small_to_zero(vxs_skfs *s, double rho)
{
    double max = 0;
    for (size_t k = 0; k < s->count; k++)
        max = fmax(max, s->set_a[k]);
    for (size_t k = 0; k < s->count; k++) {
        s->interior[s->working_set[k]] = s->set_a[k];
        s->a[s->working_set[k]] = s->set_a[k] * rho > max * s->slack[k] ? s->set_a[k] : 0;
    }
}

/* The problem on the working set; its edges are arrays of `s`. */
static vxs_status working_set_problem(vxs_skfs *s, double rho, double target, vxs_hinge_interior *q,
                                      vxs_error *err)
{
    *q = (vxs_hinge_interior){ .n = s->rows,
                               .context = s->context,
                               .k = s->count,
                               .z = s->z,
                               .u = s->u,
                               .rho = rho,
                               .laplacian = s->laplacian,
                               .degree = s->set_degree,
                               .target = target,
                               .a = s->set_a,
                               .alpha = s->alpha,
                               .slack = s->slack };
    vxs_status status = list_edges(s, &q->edges, err);
    q->from = s->from;
    q->to = s->to;
    q->weight = s->weight;
    for (size_t k = 0; k < s->count; k++) {
        s->set_a[k] = s->a[s->working_set[k]];
        s->set_degree[k] = s->degree[s->working_set[k]];
    }
    return status;
}

/* Solves on the support; alpha stays that of the whole set. */
static vxs_status solve_supported(vxs_skfs *s, double rho, double target, vxs_certificate *c,
                                  vxs_error *err)
{
    vxs_hinge_interior q;
    vxs_skfs_remove(s, INFINITY);
    vxs_status status = working_set_problem(s, rho, target, &q, err);
    if (status || s->count == 0)
        return status;
    q.alpha = s->column; /* work space */
    memcpy(q.alpha, s->alpha, s->rows * sizeof(*q.alpha));
    status = vxs_hinge_interior_solve(&q, err);
    c->iterations += (size_t)q.iterations;
    for (size_t k = 0; k < s->count && !status; k++)
        s->a[s->working_set[k]] = s->set_a[k];
    return status;
}

/* Corrects the weights for those that were set to 0. Only weights change; the dual point needs the
 * whole set, which is restored. */
vxs_status vxs_skfs_polish(vxs_skfs *s, double rho, double target, vxs_certificate *c,
                           vxs_error *err)
{
    size_t count = s->count, restored = 0,
           *working_set = vxs_alloc(count, sizeof(*working_set), err);
    double *interior = vxs_alloc(count, sizeof(*interior), err);
    vxs_status status = working_set && interior ? VXS_OK : VXS_FAILED;
    for (size_t k = 0; k < count && !status; k++) {
        working_set[k] = s->working_set[k];
        interior[k] = s->interior[working_set[k]];
    }
    if (!status)
        status = solve_supported(s, rho, target, c, err);
    for (size_t k = 0; k < count && !status; k++) {
        s->interior[working_set[k]] = interior[k];
        if (s->position[working_set[k]] == VXS_NOT_IN_SET)
            s->order[restored++] = working_set[k];
    }
    if (!status && restored > 0)
        status = vxs_skfs_add(s, restored, err);
    free(working_set);
    free(interior);
    return status;
}

vxs_status vxs_skfs_solve(vxs_skfs *s, double rho, double target, vxs_certificate *c,
                          vxs_error *err)
{
    vxs_hinge_interior q;
    vxs_status status = working_set_problem(s, rho, target, &q, err);
    if (!status)
        status = vxs_hinge_interior_solve(&q, err);
    if (status)
        return status;
    c->iterations += (size_t)q.iterations;
    set_small_to_zero(s, rho);
    return VXS_OK;
}
