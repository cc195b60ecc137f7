/* groups.c - groups of nodes: spheres around voxels, cells of an octree, prefixes of paths. */
#include "voxsift/internal/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE SIZE_MAX

/* ---- The groups ------------------------------------------------------------------------------ */

vxs_status vxs_groups_new(size_t nodes, size_t count, size_t members, vxs_groups *g, vxs_error *err)
{
    vxs_status status = VXS_GIVEN(err, { "groups", g });
    if (status)
        return status;
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
    if (!g)
        return;
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

/* Allocates an empty tree of at most `most` groups. */
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

/* Appends a group inside `parent`, with its members from `begin` to `end`; takes ownership of the
 * name. */
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

/* ---- Octrees: in Morton order the voxels of each cell are contiguous ------------------------- */

#define MAX_LEVELS 21 /* three indices of 21 bits fit in 64 bits */

typedef struct {
    uint64_t code;
    size_t node;
} morton_entry;

typedef struct {
    const size_t *shape, *voxels;
    size_t count;
    unsigned depth; /* level at which cells are voxels */
    morton_entry *list;
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

static int compare_code(const void *a, const void *b)
{
    const morton_entry *left = a, *right = b;
    return (left->code > right->code) - (left->code < right->code);
}

static vxs_status sort_voxels(octree *o, vxs_error *err)
{
    for (size_t axis = 0; axis < 3; axis++)
        while (o->depth <= MAX_LEVELS && o->shape[axis] > (size_t)1 << o->depth)
            o->depth++;
    if (o->depth > MAX_LEVELS)
        return vxs_fail(err, VXS_FAILED,
                        "octrees of grids with more than 2^%d voxels along an axis are not "
                        "supported",
                        MAX_LEVELS);
    o->list = vxs_alloc(o->count, sizeof(*o->list), err);
    if (!o->list)
        return VXS_FAILED;
    for (size_t k = 0; k < o->count; k++)
        o->list[k] = (morton_entry){ morton_code(o->shape, o->voxels[k], o->depth), k };
    qsort(o->list, o->count, sizeof(*o->list), compare_code);
    return VXS_OK;
}

static uint64_t cell_of(const octree *o, size_t place, unsigned level)
{
    return o->list[place].code >> 3 * (o->depth - level);
}

/* The end of the cell that contains `place`, at most `end`. */
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

/* Adds the cells whose first voxel is at `place`, largest first; `top` is the last group. */
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
    vxs_status status = sort_voxels(&o, err);
    if (!status) /* each group that is not a voxel contains at least two others */
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

/* ---- Paths: sorted by components, the nodes below each prefix are contiguous ----------------- */

typedef struct {
    const char *path;
    size_t node;
} path_entry;

/* Orders the end of a path before the end of a component, so that the nodes of a group itself
 * precede those of its subgroups. */
static int rank_letter(char letter)
{
    return letter == '\0' ? 0 : letter == '/' ? 1 : 2 + (unsigned char)letter;
}

static int compare_path(const void *a, const void *b)
{
    const path_entry *left = a, *right = b;
    const char *x = left->path, *y = right->path;
    for (; *x && *x == *y; x++)
        y++;
    int order = rank_letter(*x) - rank_letter(*y);
    return order != 0 ? order : (left->node > right->node) - (left->node < right->node);
}

static bool ends_component(char letter)
{
    return letter == '\0' || letter == '/';
}

/* The number of leading components that two paths share. */
static size_t count_common_components(const char *a, const char *b)
{
    size_t components = 0;
    for (; *a && *a == *b; a++) {
        components += *a == '/';
        b++;
    }
    return components + (ends_component(*a) && ends_component(*b));
}

static size_t count_components(const char *path)
{
    return count_common_components(path, path);
}

/* The length of the first `components` components of a path. */
static int prefix_length(const char *path, size_t components)
{
    const char *at = path;
    for (; *at; at++)
        if (*at == '/' && --components == 0)
            break;
    return (int)(at - path);
}

static vxs_status add_paths(const path_entry *list, size_t count, vxs_groups *g, vxs_error *err)
{
    size_t top = NONE, level = 0;
    vxs_status status = VXS_OK;
    for (size_t k = 0; k < count && !status; k++) {
        const char *path = list[k].path;
        size_t shared = k > 0 ? count_common_components(list[k - 1].path, path) : 0;
        g->member[k] = list[k].node;
        for (; level > shared; level--) {
            g->end[top] = k;
            top = g->parent[top];
        }
        for (size_t components = count_components(path); level < components && !status; level++) {
            char *name = vxs_format(err, "%.*s", prefix_length(path, level + 1), path);
            status = add_group(g, top, k, count, name);
            top = g->count - 1;
        }
    }
    return status; /* open groups end with the nodes */
}

vxs_status vxs_groups_by_path(const char *const *paths, size_t nodes, vxs_groups *g, vxs_error *err)
{
    size_t count = 0, most = 0;
    *g = (vxs_groups){ .nodes = 0 };
    path_entry *list = vxs_alloc(nodes, sizeof(*list), err);
    if (!list)
        return VXS_FAILED;
    for (size_t k = 0; k < nodes; k++)
        if (paths[k])
            list[count++] = (path_entry){ paths[k], k };
    qsort(list, count, sizeof(*list), compare_path);
    for (size_t k = 0; k < count; k++)
        most += count_components(list[k].path) -
                (k > 0 ? count_common_components(list[k - 1].path, list[k].path) : 0);
    vxs_status status = start_tree(nodes, most, count, g, err);
    if (!status)
        status = add_paths(list, count, g, err);
    free(list);
    if (status)
        vxs_groups_release(g);
    return status;
}

/* ---- Spheres --------------------------------------------------------------------------------- */

/* In all spheres together, 34 GB: a larger radius is an input error, reported before everything is
 * counted. */
#define MAX_MEMBERS ((size_t)1 << 32)

/* Affines are stored as floats: voxels of 0.8 mm are 0.8 mm apart up to rounding error only. */
#define RADIUS_TOLERANCE 1e-6

/* Along the first axis a sphere is one interval of cells, and its voxels are one run of nodes. */
typedef struct {
    ptrdiff_t first, last, y, z; /* offsets from the center */
} interval;

typedef struct {
    const size_t *shape;
    const double (*step)[3];
    double radius;
    ptrdiff_t extent[3]; /* along each axis, in voxels */
    interval *list;
    size_t count;
    uint32_t *nodes_before; /* number of nodes before a cell */
} sphere;

/* The extent of the sphere along each axis: the radius over the distance of two planes of
 * voxels. */
static vxs_status find_extent(sphere *s, vxs_error *err)
{
    for (size_t d = 0; d < 3; d++) {
        const double *a = s->step[d], *b = s->step[(d + 1) % 3], *c = s->step[(d + 2) % 3];
        const double cross[3] = { b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2],
                                  b[0] * c[1] - b[1] * c[0] };
        double area = sqrt(cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]);
        double volume = fabs(a[0] * cross[0] + a[1] * cross[1] + a[2] * cross[2]);
        double extent = s->radius / volume * area * (1 + RADIUS_TOLERANCE);
        if (!(volume > 0) || isnan(extent))
            return vxs_fail(err, VXS_BAD_DATA,
                            "there are no spheres on a grid with a singular affine");
        s->extent[d] = (ptrdiff_t)fmin(extent, (double)s->shape[d]);
    }
    return VXS_OK;
}

static bool is_inside(const sphere *s, ptrdiff_t x, ptrdiff_t y, ptrdiff_t z)
{
    double sum = 0, radius = s->radius * (1 + RADIUS_TOLERANCE);
    for (size_t d = 0; d < 3; d++) {
        double along =
            (double)x * s->step[0][d] + (double)y * s->step[1][d] + (double)z * s->step[2][d];
        sum += along * along;
    }
    return sum <= radius * radius;
}

static vxs_status list_intervals(sphere *s, vxs_error *err)
{
    const ptrdiff_t *extent = s->extent;
    s->list =
        vxs_alloc(2 * (size_t)extent[1] + 1, (2 * (size_t)extent[2] + 1) * sizeof(*s->list), err);
    if (!s->list)
        return VXS_FAILED;
    for (ptrdiff_t z = -extent[2]; z <= extent[2]; z++)
        for (ptrdiff_t y = -extent[1]; y <= extent[1]; y++) {
            ptrdiff_t first = -extent[0], last = extent[0];
            while (first <= last && !is_inside(s, first, y, z))
                first++;
            while (last >= first && !is_inside(s, last, y, z))
                last--;
            if (first <= last)
                s->list[s->count++] = (interval){ first, last, y, z };
        }
    return VXS_OK;
}

static vxs_status count_nodes_before(sphere *s, const size_t *voxels, size_t count, vxs_error *err)
{
    size_t cells = s->shape[0] * s->shape[1] * s->shape[2], node = 0;
    if (cells >= UINT32_MAX)
        return vxs_fail(err, VXS_FAILED,
                        "spheres on grids of more than 2^32 voxels are not supported");
    s->nodes_before = vxs_alloc(cells + 1, sizeof(*s->nodes_before), err);
    if (!s->nodes_before)
        return VXS_FAILED;
    for (size_t cell = 0; cell <= cells; cell++) {
        s->nodes_before[cell] = (uint32_t)node;
        node += node < count && voxels[node] == cell;
    }
    return VXS_OK;
}

static ptrdiff_t clamp_index(ptrdiff_t index, size_t size)
{
    return index < 0 ? 0 : index >= (ptrdiff_t)size ? (ptrdiff_t)size - 1 : index;
}

/* Returns the number of members; member may be NULL. */
static size_t list_members(const sphere *s, size_t voxel, size_t *member)
{
    const size_t *shape = s->shape, line = voxel / shape[0];
    ptrdiff_t x = (ptrdiff_t)(voxel % shape[0]), y = (ptrdiff_t)(line % shape[1]);
    ptrdiff_t z = (ptrdiff_t)(line / shape[1]);
    size_t count = 0;
    for (const interval *t = s->list; t < s->list + s->count; t++) {
        if (y + t->y != clamp_index(y + t->y, shape[1]) ||
            z + t->z != clamp_index(z + t->z, shape[2]) || x + t->last < 0 ||
            x + t->first >= (ptrdiff_t)shape[0])
            continue;
        size_t row = ((size_t)(z + t->z) * shape[1] + (size_t)(y + t->y)) * shape[0];
        size_t from = s->nodes_before[row + (size_t)clamp_index(x + t->first, shape[0])];
        size_t to = s->nodes_before[row + (size_t)clamp_index(x + t->last, shape[0]) + 1];
        for (size_t node = from; member && node < to; node++)
            member[count + node - from] = node;
        count += to - from;
    }
    return count;
}

vxs_status vxs_groups_spheres(const size_t shape[3], const size_t *voxels, size_t count,
                              const double step[3][3], double radius, vxs_groups *g, vxs_error *err)
{
    sphere s = { .shape = shape, .step = step, .radius = radius };
    size_t members = 0;
    if (g)
        *g = (vxs_groups){ .nodes = 0 };
    vxs_status status = VXS_GIVEN(err, { "shape", shape }, { "step", step }, { "groups", g });
    if (status)
        return status;
    if (!(radius >= 0))
        return vxs_fail(err, VXS_MISUSE, "the radius of a sphere is %g mm; it must be above 0",
                        radius);
    status = vxs_voxels_check(shape, voxels, count, err);
    if (!status)
        status = find_extent(&s, err);
    if (!status)
        status = count_nodes_before(&s, voxels, count, err);
    if (!status)
        status = list_intervals(&s, err);
    for (size_t k = 0; k < count && !status && members <= MAX_MEMBERS; k++)
        members += list_members(&s, voxels[k], NULL);
    if (!status && members > MAX_MEMBERS)
        status = vxs_fail(err, VXS_MISUSE,
                          "spheres of %g mm around %zu voxels have more than 2^32 voxels in all; a "
                          "smaller radius is required",
                          radius, count);
    if (!status)
        status = vxs_groups_new(count, count, members, g, err);
    for (size_t k = 0; k < count && !status; k++) {
        g->begin[k] = k > 0 ? g->end[k - 1] : 0;
        g->end[k] = g->begin[k] + list_members(&s, voxels[k], g->member + g->begin[k]);
    }
    free(s.list);
    free(s.nodes_before);
    return status;
}
