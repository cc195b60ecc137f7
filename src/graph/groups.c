/* groups.c - sets of nodes: spheres around voxels, the cells of an octree, beginnings of paths. */
#include "voxsift/internal/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE SIZE_MAX

/* ---- The groups ------------------------------------------------------------------------------ */

vxs_status vxs_groups_new(size_t nodes, size_t count, size_t members, vxs_groups *g, vxs_error *err)
{
    *g = (vxs_groups){ .nodes = nodes, .count = count, .members = members };
    g->begin = vxs_alloc(count, sizeof(*g->begin), err);
    g->end = g->begin ? vxs_alloc(count, sizeof(*g->end), err) : NULL;
    g->member = g->end ? vxs_alloc(members, sizeof(*g->member), err) : NULL;
    if (g->member)
        return VXS_OK;
    vxs_groups_release(g);
    return VXS_FAILED;
}

void vxs_groups_release(vxs_groups *g)
{
    for (size_t k = 0; g->names && k < g->count; k++)
        free(g->names[k]);
    free(g->names);
    free(g->parent);
    free(g->begin);
    free(g->end);
    free(g->member);
    *g = (vxs_groups){ .nodes = 0 };
}

vxs_status vxs_groups_overlap(const vxs_groups *g, bool *overlap, vxs_error *err)
{
    bool *taken = vxs_alloc(g->nodes, sizeof(*taken), err);
    if (!taken)
        return VXS_FAILED;
    *overlap = false;
    for (size_t k = 0; k < g->count && !*overlap; k++)
        for (size_t m = g->begin[k]; m < g->end[k]; m++) {
            *overlap = *overlap || taken[g->member[m]];
            taken[g->member[m]] = true;
        }
    free(taken);
    return VXS_OK;
}

/* ---- Trees ----------------------------------------------------------------------------------- */

/* Room for a tree of at most so many groups, of which there are none yet. */
static vxs_status start_tree(size_t nodes, size_t most, size_t members, vxs_groups *g,
                             vxs_error *err)
{
    vxs_status status = vxs_groups_new(nodes, most, members, g, err);
    if (status)
        return status;
    g->count = 0;
    g->parent = vxs_alloc(most, sizeof(*g->parent), err);
    g->names = g->parent ? vxs_alloc(most, sizeof(*g->names), err) : NULL;
    return g->names ? VXS_OK : VXS_FAILED;
}

/* A group inside `parent` whose run begins at a place; the name is taken over. */
static vxs_status add_group(vxs_groups *g, size_t parent, size_t begin, size_t end, char *name)
{
    if (!name)
        return VXS_FAILED;
    g->parent[g->count] = parent;
    g->begin[g->count] = begin;
    g->end[g->count] = end;
    g->names[g->count++] = name;
    return VXS_OK;
}

/* ---- Octrees: in Morton order the voxels of any cell are one run ----------------------------- */

#define MOST_LEVELS 21 /* three indices of so many bits make one number */

typedef struct {
    uint64_t code;
    size_t node;
} coded;

typedef struct {
    const size_t *shape, *voxels;
    size_t count;
    unsigned depth; /* level at which a cell is a voxel */
    coded *list;
} octree;

static uint64_t morton_code(const size_t shape[3], size_t voxel, unsigned depth)
{
    const size_t index[3] = { voxel % shape[0], voxel / shape[0] % shape[1],
                              voxel / shape[0] / shape[1] };
    uint64_t code = 0;
    for (unsigned bit = 0; bit < depth; bit++)
        for (unsigned axis = 0; axis < 3; axis++)
            code |= (uint64_t)(index[axis] >> bit & 1) << (3 * bit + axis);
    return code;
}

static int by_code(const void *a, const void *b)
{
    const coded *left = a, *right = b;
    return (left->code > right->code) - (left->code < right->code);
}

static vxs_status order_voxels(octree *o, vxs_error *err)
{
    for (size_t axis = 0; axis < 3; axis++)
        while (o->depth <= MOST_LEVELS && o->shape[axis] > (size_t)1 << o->depth)
            o->depth++;
    if (o->depth > MOST_LEVELS)
        return vxs_fail(err, VXS_FAILED,
                        "octrees of grids with more than 2^%d voxels along an axis are not "
                        "supported",
                        MOST_LEVELS);
    o->list = vxs_alloc(o->count, sizeof(*o->list), err);
    if (!o->list)
        return VXS_FAILED;
    for (size_t k = 0; k < o->count; k++)
        o->list[k] = (coded){ morton_code(o->shape, o->voxels[k], o->depth), k };
    qsort(o->list, o->count, sizeof(*o->list), by_code);
    return VXS_OK;
}

static uint64_t cell_of(const octree *o, size_t place, unsigned level)
{
    return o->list[place].code >> 3 * (o->depth - level);
}

/* Behind the last place of the cell of `place`, which is at most `end`. */
static size_t cell_end(const octree *o, size_t place, size_t end, unsigned level)
{
    size_t inside = place;
    while (end - inside > 1) {
        size_t middle = inside + (end - inside) / 2;
        if (cell_of(o, middle, level) == cell_of(o, place, level))
            inside = middle;
        else
            end = middle;
    }
    return end;
}

static char *name_cell(const octree *o, size_t place, unsigned level, vxs_error *err)
{
    size_t voxel = o->voxels[o->list[place].node], line = voxel / o->shape[0];
    unsigned shift = o->depth - level;
    return vxs_format(err, "%u:%zu,%zu,%zu", level, voxel % o->shape[0] >> shift,
                      line % o->shape[1] >> shift, line / o->shape[1] >> shift);
}

/* The cells whose first voxel stands at a place, larger ones first; `top` is the last group. */
static vxs_status add_cells(const octree *o, size_t place, size_t *top, vxs_groups *g,
                            vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (unsigned level = 0; level <= o->depth && !status; level++) {
        if (place > 0 && cell_of(o, place - 1, level) == cell_of(o, place, level))
            continue;
        size_t end = cell_end(o, place, *top == NONE ? o->count : g->end[*top], level);
        if (*top != NONE && g->begin[*top] == place && g->end[*top] == end)
            continue;
        status = add_group(g, *top, place, end, name_cell(o, place, level, err));
        *top = g->count - 1;
    }
    return status;
}

vxs_status vxs_groups_octree(const size_t shape[3], const size_t *voxels, size_t count,
                             vxs_groups *g, vxs_error *err)
{
    octree o = { .shape = shape, .voxels = voxels, .count = count };
    size_t top = NONE;
    *g = (vxs_groups){ .nodes = 0 };
    vxs_status status = order_voxels(&o, err);
    if (!status) /* every group that is no voxel has two others inside, or more */
        status = start_tree(count, 2 * count, count, g, err);
    for (size_t k = 0; k < count && !status; k++) {
        g->member[k] = o.list[k].node;
        while (top != NONE && g->end[top] <= k)
            top = g->parent[top];
        status = add_cells(&o, k, &top, g, err);
    }
    free(o.list);
    if (status)
        vxs_groups_release(g);
    return status;
}

/* ---- Paths: in the order of their parts the nodes below any beginning are one run ------------ */

typedef struct {
    const char *path;
    size_t node;
} placed;

/* The end of a path comes first, then the end of a part, so that what is in a group itself stands
 * before what is in groups inside it. */
static int rank_of(char letter)
{
    return letter == '\0' ? 0 : letter == '/' ? 1 : 2 + (unsigned char)letter;
}

static int by_path(const void *a, const void *b)
{
    const placed *left = a, *right = b;
    const char *x = left->path, *y = right->path;
    for (; *x && *x == *y; x++)
        y++;
    int order = rank_of(*x) - rank_of(*y);
    return order != 0 ? order : (left->node > right->node) - (left->node < right->node);
}

static bool ends_part(char letter)
{
    return letter == '\0' || letter == '/';
}

/* How many parts two paths begin with together. */
static size_t count_shared(const char *a, const char *b)
{
    size_t parts = 0;
    for (; *a && *a == *b; a++) {
        parts += *a == '/';
        b++;
    }
    return parts + (ends_part(*a) && ends_part(*b));
}

static size_t count_parts(const char *path)
{
    return count_shared(path, path);
}

/* The length of the first parts of a path that has as many. */
static int length_of(const char *path, size_t parts)
{
    const char *at = path;
    for (; *at; at++)
        if (*at == '/' && --parts == 0)
            break;
    return (int)(at - path);
}

static vxs_status add_paths(const placed *list, size_t count, vxs_groups *g, vxs_error *err)
{
    size_t top = NONE, level = 0;
    vxs_status status = VXS_OK;
    for (size_t k = 0; k < count && !status; k++) {
        const char *path = list[k].path;
        size_t shared = k > 0 ? count_shared(list[k - 1].path, path) : 0;
        g->member[k] = list[k].node;
        for (; level > shared; level--) {
            g->end[top] = k;
            top = g->parent[top];
        }
        for (size_t parts = count_parts(path); level < parts && !status; level++) {
            char *name = vxs_format(err, "%.*s", length_of(path, level + 1), path);
            status = add_group(g, top, k, count, name);
            top = g->count - 1;
        }
    }
    return status; /* groups that are still open end where the nodes do */
}

vxs_status vxs_groups_by_path(const char *const *paths, size_t nodes, vxs_groups *g, vxs_error *err)
{
    size_t count = 0, most = 0;
    *g = (vxs_groups){ .nodes = 0 };
    placed *list = vxs_alloc(nodes, sizeof(*list), err);
    if (!list)
        return VXS_FAILED;
    for (size_t k = 0; k < nodes; k++)
        if (paths[k])
            list[count++] = (placed){ paths[k], k };
    qsort(list, count, sizeof(*list), by_path);
    for (size_t k = 0; k < count; k++)
        most +=
            count_parts(list[k].path) - (k > 0 ? count_shared(list[k - 1].path, list[k].path) : 0);
    vxs_status status = start_tree(nodes, most, count, g, err);
    if (!status)
        status = add_paths(list, count, g, err);
    free(list);
    if (status)
        vxs_groups_release(g);
    return status;
}

/* ---- Spheres --------------------------------------------------------------------------------- */

/* In all spheres together, 34 GB: a radius that asks for more was not meant so, and is told before
 * all is counted. */
#define MOST_MEMBERS ((size_t)1 << 32)

/* Affines are floats in files: voxels of 0.8 mm are not 0.8 mm apart to the last digit. */
#define SLACK 1e-6

/* Along the first axis a sphere is one stretch of cells, and its voxels one run of nodes. */
typedef struct {
    ptrdiff_t first, last, y, z; /* steps from the centre */
} stretch;

typedef struct {
    const size_t *shape;
    const double (*step)[3];
    double radius;
    ptrdiff_t reach[3]; /* along an axis, in voxels */
    stretch *list;
    size_t count;
    uint32_t *before; /* nodes before a cell */
} sphere;

/* How far the sphere goes along each axis: over the distance between two planes of voxels. */
static vxs_status find_reach(sphere *s, vxs_error *err)
{
    for (size_t d = 0; d < 3; d++) {
        const double *a = s->step[d], *b = s->step[(d + 1) % 3], *c = s->step[(d + 2) % 3];
        const double cross[3] = { b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2],
                                  b[0] * c[1] - b[1] * c[0] };
        double area = sqrt(cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]);
        double volume = fabs(a[0] * cross[0] + a[1] * cross[1] + a[2] * cross[2]);
        double reach = s->radius / volume * area * (1 + SLACK);
        if (!(volume > 0) || isnan(reach))
            return vxs_fail(err, VXS_BAD_DATA,
                            "there are no spheres on a grid with a singular affine");
        s->reach[d] = (ptrdiff_t)fmin(reach, (double)s->shape[d]);
    }
    return VXS_OK;
}

static bool is_inside(const sphere *s, ptrdiff_t x, ptrdiff_t y, ptrdiff_t z)
{
    double sum = 0, radius = s->radius * (1 + SLACK);
    for (size_t d = 0; d < 3; d++) {
        double along =
            (double)x * s->step[0][d] + (double)y * s->step[1][d] + (double)z * s->step[2][d];
        sum += along * along;
    }
    return sum <= radius * radius;
}

static vxs_status list_stretches(sphere *s, vxs_error *err)
{
    const ptrdiff_t *reach = s->reach;
    s->list =
        vxs_alloc(2 * (size_t)reach[1] + 1, (2 * (size_t)reach[2] + 1) * sizeof(*s->list), err);
    if (!s->list)
        return VXS_FAILED;
    for (ptrdiff_t z = -reach[2]; z <= reach[2]; z++)
        for (ptrdiff_t y = -reach[1]; y <= reach[1]; y++) {
            ptrdiff_t first = -reach[0], last = reach[0];
            while (first <= last && !is_inside(s, first, y, z))
                first++;
            while (last >= first && !is_inside(s, last, y, z))
                last--;
            if (first <= last)
                s->list[s->count++] = (stretch){ first, last, y, z };
        }
    return VXS_OK;
}

static vxs_status count_before(sphere *s, const size_t *voxels, size_t count, vxs_error *err)
{
    size_t cells = s->shape[0] * s->shape[1] * s->shape[2], node = 0;
    if (cells >= UINT32_MAX)
        return vxs_fail(err, VXS_FAILED,
                        "spheres on grids of more than 2^32 voxels are not supported");
    s->before = vxs_alloc(cells + 1, sizeof(*s->before), err);
    if (!s->before)
        return VXS_FAILED;
    for (size_t cell = 0; cell <= cells; cell++) {
        s->before[cell] = (uint32_t)node;
        node += node < count && voxels[node] == cell;
    }
    return VXS_OK;
}

static ptrdiff_t within(ptrdiff_t index, size_t size)
{
    return index < 0 ? 0 : index >= (ptrdiff_t)size ? (ptrdiff_t)size - 1 : index;
}

/* Returns how many; member may be NULL. */
static size_t list_members(const sphere *s, size_t voxel, size_t *member)
{
    const size_t *shape = s->shape, line = voxel / shape[0];
    ptrdiff_t x = (ptrdiff_t)(voxel % shape[0]), y = (ptrdiff_t)(line % shape[1]);
    ptrdiff_t z = (ptrdiff_t)(line / shape[1]);
    size_t count = 0;
    for (const stretch *t = s->list; t < s->list + s->count; t++) {
        if (y + t->y != within(y + t->y, shape[1]) || z + t->z != within(z + t->z, shape[2]) ||
            x + t->last < 0 || x + t->first >= (ptrdiff_t)shape[0])
            continue;
        size_t row = ((size_t)(z + t->z) * shape[1] + (size_t)(y + t->y)) * shape[0];
        size_t from = s->before[row + (size_t)within(x + t->first, shape[0])];
        size_t to = s->before[row + (size_t)within(x + t->last, shape[0]) + 1];
        for (size_t node = from; member && node < to; node++)
            member[count + node - from] = node;
        count += to - from;
    }
    return count;
}

vxs_status vxs_groups_patches(const size_t shape[3], const size_t *voxels, size_t count,
                              const double step[3][3], double radius, vxs_groups *g, vxs_error *err)
{
    sphere s = { .shape = shape, .step = step, .radius = radius };
    size_t members = 0;
    *g = (vxs_groups){ .nodes = 0 };
    if (!(radius >= 0))
        return vxs_fail(err, VXS_MISUSE, "the radius of a sphere is %g mm; it must be above 0",
                        radius);
    vxs_status status = vxs_voxels_check(shape, voxels, count, err);
    if (!status)
        status = find_reach(&s, err);
    if (!status)
        status = count_before(&s, voxels, count, err);
    if (!status)
        status = list_stretches(&s, err);
    for (size_t k = 0; k < count && !status && members <= MOST_MEMBERS; k++)
        members += list_members(&s, voxels[k], NULL);
    if (!status && members > MOST_MEMBERS)
        status = vxs_fail(err, VXS_MISUSE,
                          "spheres of %g mm around %zu voxels have more than 2^32 voxels in all; a "
                          "smaller radius is wanted",
                          radius, count);
    if (!status)
        status = vxs_groups_new(count, count, members, g, err);
    for (size_t k = 0; k < count && !status; k++) {
        g->begin[k] = k > 0 ? g->end[k - 1] : 0;
        g->end[k] = g->begin[k] + list_members(&s, voxels[k], g->member + g->begin[k]);
    }
    free(s.list);
    free(s.before);
    return status;
}
