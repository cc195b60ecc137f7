/* skfs_working_set.c - the voxels that may have a weight, and the problem on them alone. */
#include "solver/interior_point/hinge_interior.h"
#include "solver/interior_point/skfs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST 64 /* voxels that there is room for at first */

static vxs_status reserve(vxs_skfs *s, size_t count, vxs_error *err)
{
    if (count <= s->room)
        return VXS_OK;
    size_t room = count + count / 2 + LEAST;
    double *z = vxs_resize(s->z, room * s->rows, sizeof(*z), err);
    s->z = z ? z : s->z;
    double **const each[] = { &s->member_a, &s->slack, &s->member_degree };
    bool fine = z != NULL;
    for (size_t k = 0; k < 3 && fine; k++) {
        double *more = vxs_resize(*each[k], room, sizeof(*more), err);
        *each[k] = more ? more : *each[k];
        fine = more != NULL;
    }
    s->room = fine ? room : s->room;
    return fine ? VXS_OK : VXS_FAILED;
}

static int by_index(const void *a, const void *b)
{
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    return (left > right) - (left < right);
}

/* The first `count` of `order`; the list stays in ascending order, for the band's sake. */
vxs_status vxs_skfs_enter(vxs_skfs *s, size_t count, vxs_error *err)
{
    vxs_status status = reserve(s, s->count + count, err);
    if (status)
        return status;
    qsort(s->order, count, sizeof(*s->order), by_index);
    size_t old = s->count, fresh = count;
    s->count += count;
    for (size_t at = s->count; fresh > 0; at--) {
        double *z = s->z + (at - 1) * s->rows;
        if (old > 0 && s->member[old - 1] > s->order[fresh - 1]) {
            s->member[at - 1] = s->member[--old];
            memcpy(z, s->z + old * s->rows, s->rows * sizeof(*z));
            continue;
        }
        size_t voxel = s->member[at - 1] = s->order[--fresh];
        vxs_design_fetch(s->problem.design, &voxel, 1, s->column);
        for (size_t m = 0; m < s->rows; m++)
            z[m] = s->column[s->row[m]] * s->unit;
    }
    for (size_t k = 0; k < s->count; k++)
        s->place[s->member[k]] = k;
    return VXS_OK;
}

/* Those without weight that want too little leave. */
void vxs_skfs_leave(vxs_skfs *s, double least)
{
    size_t kept = 0;
    for (size_t k = 0; k < s->count; k++) {
        size_t voxel = s->member[k];
        s->place[voxel] = VXS_NOWHERE;
        if (s->a[voxel] == 0 && s->want[voxel] < least) {
            s->inside[voxel] = 0;
            continue;
        }
        if (kept < k)
            memcpy(s->z + kept * s->rows, s->z + k * s->rows, s->rows * sizeof(*s->z));
        s->place[voxel] = kept;
        s->member[kept++] = voxel;
    }
    s->count = kept;
}

static vxs_status list_edges(vxs_skfs *s, size_t *edges, vxs_error *err)
{
    size_t most = 0;
    for (size_t k = 0; k < s->count; k++)
        most += s->start[s->member[k] + 1] - s->start[s->member[k]];
    free(s->from);
    free(s->to);
    free(s->weight);
    s->from = vxs_alloc(most, sizeof(*s->from), err);
    s->to = vxs_alloc(most, sizeof(*s->to), err);
    s->weight = vxs_alloc(most, sizeof(*s->weight), err);
    *edges = 0;
    if (!s->from || !s->to || !s->weight)
        return VXS_FAILED;
    for (size_t k = 0; k < s->count; k++)
        for (size_t e = s->start[s->member[k]]; e < s->start[s->member[k] + 1]; e++) {
            size_t other = s->place[s->neighbour[e]];
            if (other == VXS_NOWHERE || other <= k)
                continue;
            s->from[*edges] = k;
            s->to[*edges] = other;
            s->weight[(*edges)++] = s->edge[e];
        }
    return VXS_OK;
}

/* What the interior point leaves of a voxel that should be at 0 is less than its slack, both as
 * shares of what they can be. */
static void round_off(vxs_skfs *s, double rho)
{
    double most = 0;
    for (size_t k = 0; k < s->count; k++)
        most = fmax(most, s->member_a[k]);
    for (size_t k = 0; k < s->count; k++) {
        s->inside[s->member[k]] = s->member_a[k];
        s->a[s->member[k]] = s->member_a[k] * rho > most * s->slack[k] ? s->member_a[k] : 0;
    }
}

/* The problem on the members; edges point into the room of `s`. */
static vxs_status state_problem(vxs_skfs *s, double rho, double target, vxs_interior *q,
                                vxs_error *err)
{
    *q = (vxs_interior){ .n = s->rows,
                         .context = s->context,
                         .k = s->count,
                         .z = s->z,
                         .u = s->u,
                         .rho = rho,
                         .smooth = s->smooth,
                         .degree = s->member_degree,
                         .target = target,
                         .a = s->member_a,
                         .alpha = s->alpha,
                         .slack = s->slack };
    vxs_status status = list_edges(s, &q->edges, err);
    q->from = s->from;
    q->to = s->to;
    q->weight = s->weight;
    for (size_t k = 0; k < s->count; k++) {
        s->member_a[k] = s->a[s->member[k]];
        s->member_degree[k] = s->degree[s->member[k]];
    }
    return status;
}

/* On those with a weight alone; alpha stays that of all members. */
static vxs_status solve_supported(vxs_skfs *s, double rho, double target, vxs_certificate *c,
                                  vxs_error *err)
{
    vxs_interior q;
    vxs_skfs_leave(s, INFINITY);
    vxs_status status = state_problem(s, rho, target, &q, err);
    if (status || s->count == 0)
        return status;
    q.alpha = s->column; /* spare */
    memcpy(q.alpha, s->alpha, s->rows * sizeof(*q.alpha));
    status = vxs_interior_solve(&q, err);
    c->iterations += (size_t)q.iterations;
    for (size_t k = 0; k < s->count && !status; k++)
        s->a[s->member[k]] = s->member_a[k];
    return status;
}

/* What was rounded off left a hole, which the others fill. Only their weights change; the bound
 * needs all members, who come back. */
vxs_status vxs_skfs_polish(vxs_skfs *s, double rho, double target, vxs_certificate *c,
                           vxs_error *err)
{
    size_t count = s->count, back = 0, *member = vxs_alloc(count, sizeof(*member), err);
    double *inside = vxs_alloc(count, sizeof(*inside), err);
    vxs_status status = member && inside ? VXS_OK : VXS_FAILED;
    for (size_t k = 0; k < count && !status; k++) {
        member[k] = s->member[k];
        inside[k] = s->inside[member[k]];
    }
    if (!status)
        status = solve_supported(s, rho, target, c, err);
    for (size_t k = 0; k < count && !status; k++) {
        s->inside[member[k]] = inside[k];
        if (s->place[member[k]] == VXS_NOWHERE)
            s->order[back++] = member[k];
    }
    if (!status && back > 0)
        status = vxs_skfs_enter(s, back, err);
    free(member);
    free(inside);
    return status;
}

vxs_status vxs_skfs_solve(vxs_skfs *s, double rho, double target, vxs_certificate *c,
                          vxs_error *err)
{
    vxs_interior q;
    vxs_status status = state_problem(s, rho, target, &q, err);
    if (!status)
        status = vxs_interior_solve(&q, err);
    if (status)
        return status;
    c->iterations += (size_t)q.iterations;
    round_off(s, rho);
    return VXS_OK;
}
