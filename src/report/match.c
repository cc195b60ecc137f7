/* match.c - two maps, or a map and the truth, on one grid. */
#include "report/match.h"
#include "report/regions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define AT(member) offsetof(vxs_match_settings, member)

#define SAME_GRID        0.1 /* mm, as 'voxsift cohort' has it */
#define REGIONS_OF_LABEL 10  /* on average, at most */
#define SAME_SHARE       0.1 /* of an edge: of voxels below 1 mm less than that */

static const char *const connectivities[] = { "6", "18", "26", NULL };

const vxs_param vxs_match_params[] = {
    VXS_REAL_ROW("threshold", "T", AT(threshold), 0, 0, INFINITY,
                 "absolute value above which voxels are selected; default 0: all that are not 0",
                 .head = VXS_HEAD_DATA, .usual = true),
    VXS_REAL_ROW("truth-threshold", "T", AT(truth_threshold), NAN, 0, INFINITY,
                 "threshold of the second image; default: 0 if it is binary or of labels, "
                 "else --threshold",
                 .head = VXS_HEAD_DATA),
    VXS_REAL_ROW("tolerance", "MM", AT(tolerance), 0, 0, 1e6,
                 "distance up to which a voxel of one counts as found by the other", .usual = true,
                 .head = VXS_HEAD_DATA),
    VXS_CHOICE_ROW("connectivity", "N", AT(connectivity), 2, connectivities,
                   "neighbors of a voxel in a cluster: by faces (6), edges (18) or corners (26)",
                   .head = VXS_HEAD_DATA),
    VXS_WHOLE_ROW("volume", "K", AT(volume), NAN, 1, 1e6,
                  "volume of 4D images, from 1; default: all, each with its counterpart",
                  .head = VXS_HEAD_DATA),
    VXS_FLAG_ROW("resample", AT(resample), "change the second image to the grid of the first",
                 .head = VXS_HEAD_DATA, .usual = true,
                 .more = "By the nearest voxel if it is binary or of labels, else linearly where "
                         "the nearest voxel is not 0."),
    { .name = NULL },
};

const char *const vxs_map_kind_words[] = { "empty", "binary", "labels", "weights" };

/* ---- Reading --------------------------------------------------------------------------------- */

typedef struct {
    const char *path;
    vxs_image image;
    vxs_volume mask; /* on the image's grid; no values: it has none */
} source;

static void release_source(source *s)
{
    vxs_image_release(&s->image);
    vxs_volume_release(&s->mask);
}

/* Results have the voxels of the model beside their maps. */
static vxs_status read_mask(const char *operand, source *s, vxs_error *err)
{
    struct stat about;
    vxs_image image;
    if (stat(operand, &about) != 0 || !S_ISDIR(about.st_mode))
        return VXS_OK;
    char *path = vxs_format(err, "%s/mask.nii.gz", operand);
    vxs_status status = path ? VXS_OK : VXS_FAILED;
    if (path && access(path, F_OK) == 0) {
        status = vxs_image_read(path, &image, err);
        if (!status)
            status = vxs_volume_from_image(&image, 0, &s->mask, err);
        if (!status && !(vxs_grid_distance(&s->mask.grid, &s->image.grid) <= SAME_GRID))
            status = vxs_fail(err, VXS_BAD_DATA, "'%s' is not on the grid of '%s'", path, s->path);
        vxs_image_release(&image);
    }
    free(path);
    return status;
}

static vxs_status read_source(const char *operand, const char *path, source *s, vxs_error *err)
{
    *s = (source){ .path = path };
    vxs_status status = vxs_image_read(path, &s->image, err);
    return status ? status : read_mask(operand, s, err);
}

static int ascending(const void *a, const void *b)
{
    float left = *(const float *)a, right = *(const float *)b;
    return (left > right) - (left < right);
}

/* Of positive whole numbers: labels are the same over regions, counts and gray values are not. */
static vxs_status are_labels(const vxs_volume *map, bool *labels, vxs_error *err)
{
    size_t voxels = vxs_grid_voxels(&map->grid), count = 0, distinct = 0;
    vxs_clusters regions;
    float *values = vxs_alloc(voxels, sizeof(*values), err);
    vxs_status status = values ? vxs_regions_find(map, 6, &regions, err) : VXS_FAILED;
    if (!status) {
        for (size_t k = 0; k < regions.count; k++)
            values[count++] = (float)regions.rows[k].peak_value;
        qsort(values, count, sizeof(*values), ascending);
        for (size_t k = 0; k < count; k++)
            distinct += k == 0 || values[k] != values[k - 1];
        *labels = regions.count <= REGIONS_OF_LABEL * distinct;
        vxs_clusters_release(&regions);
    }
    free(values);
    return status;
}

/* What the values of a volume say; NaN becomes 0 and is counted. */
static vxs_status look_at(const source *s, vxs_volume *map, vxs_match_side *side, vxs_error *err)
{
    size_t infinite = 0, different = 0, no_label = 0;
    bool labels = false;
    float one = 0;
    for (size_t v = 0; v < vxs_grid_voxels(&map->grid); v++) {
        float value = map->values[v];
        infinite += isinf(value) != 0;
        side->missing += isnan(value) != 0;
        if (isnan(value))
            map->values[v] = value = 0;
        if (value == 0)
            continue;
        one = one == 0 ? value : one;
        different += fabsf(value) != fabsf(one);
        no_label += value < 0 || value != floorf(value);
    }
    if (infinite > 0)
        return vxs_fail(err, VXS_BAD_DATA,
                        "'%s' has %zu infinite value%s; replace %s by finite values", s->path,
                        infinite, vxs_plural(infinite), infinite == 1 ? "it" : "them");
    vxs_status status = different && !no_label ? are_labels(map, &labels, err) : VXS_OK;
    side->kind = one == 0         ? VXS_MAP_EMPTY
                 : different == 0 ? VXS_MAP_BINARY
                 : labels         ? VXS_MAP_LABELS
                                  : VXS_MAP_WEIGHTS;
    return status;
}

/* ---- One grid -------------------------------------------------------------------------------- */

#define GRID_TEXT 192

static const char *grid_text(const vxs_grid *g, char text[GRID_TEXT])
{
    double size[3];
    char words[VXS_ORIENTATION_TEXT];
    vxs_grid_voxel_size(g, size);
    snprintf(text, GRID_TEXT, "%zu x %zu x %zu voxels of %.4g x %.4g x %.4g mm, %s", g->shape[0],
             g->shape[1], g->shape[2], size[0], size[1], size[2],
             vxs_grid_orientation_text(g, words));
    return text;
}

static vxs_status refuse_grids(const vxs_match *m, vxs_error *err)
{
    char first[GRID_TEXT], second[GRID_TEXT], apart[64] = "";
    double distance = vxs_grid_distance(&m->grid, &m->other_grid);
    if (isfinite(distance))
        snprintf(apart, sizeof(apart), ", %.3g mm apart at a corner", distance);
    return vxs_fail(err, VXS_BAD_DATA,
                    "'%s' (%s) and '%s' (%s) are on different grids%s; pass --resample to change "
                    "the second to the grid of the first",
                    m->path[0], grid_text(&m->grid, first), m->path[1],
                    grid_text(&m->other_grid, second), apart);
}

static vxs_status compare_grids(vxs_match *m, vxs_error *err)
{
    const vxs_grid *a = &m->grid, *b = &m->other_grid;
    bool known[2] = { a->source != VXS_AFFINE_NONE, b->source != VXS_AFFINE_NONE };
    double size[3];
    vxs_grid_voxel_size(a, size);
    double tolerance = fmin(SAME_GRID, SAME_SHARE * fmin(size[0], fmin(size[1], size[2])));
    if (known[0] != known[1])
        return vxs_fail(err, VXS_BAD_DATA,
                        "cannot compare '%s' with '%s': '%s' has no orientation, the other has, "
                        "and left and right may be exchanged",
                        m->path[0], m->path[1], m->path[known[0]]);
    if (vxs_grid_distance(a, b) <= tolerance)
        m->placing = VXS_MATCH_SAME_GRID;
    else if (known[0] && vxs_grid_is_turned(a, b, tolerance))
        m->placing = VXS_MATCH_TURNED;
    else if (known[0] && m->settings->resample)
        m->placing = VXS_MATCH_RESAMPLED;
    else if (m->settings->resample)
        return vxs_fail(err, VXS_BAD_DATA,
                        "cannot resample '%s' to the grid of '%s': neither has an orientation",
                        m->path[1], m->path[0]);
    else
        return refuse_grids(m, err);
    return VXS_OK;
}

/* The second on the grid of the first. A 0 is no value: linear interpolation would let a sparse map
 * grow into its neighbors, so a voxel stays 0 where the nearest one is. */
static vxs_status place(const vxs_match *m, vxs_interpolation way, vxs_volume *map, vxs_error *err)
{
    vxs_volume placed = { .values = NULL }, near = { .values = NULL };
    if (m->placing == VXS_MATCH_SAME_GRID)
        return VXS_OK;
    vxs_status status = vxs_volume_resample(map, &m->grid, way, &placed, err);
    if (!status && way == VXS_LINEAR)
        status = vxs_volume_resample(map, &m->grid, VXS_NEAREST, &near, err);
    for (size_t v = 0; !status && near.values && v < vxs_grid_voxels(&m->grid); v++)
        if (near.values[v] == 0)
            placed.values[v] = 0;
    vxs_volume_release(&near);
    vxs_volume_release(map);
    *map = placed;
    return status;
}

/* ---- A pair of volumes ----------------------------------------------------------------------- */

/* A mask, or else where the map is not 0. */
static vxs_status add_inside(const vxs_match *m, const source *s, bool second,
                             const vxs_volume *map, uint8_t *inside, vxs_error *err)
{
    vxs_volume mask = { .grid = s->mask.grid };
    size_t voxels = vxs_grid_voxels(&s->image.grid);
    vxs_status status = VXS_OK;
    if (s->mask.values) {
        status = vxs_volume_new(&s->mask.grid, &mask, err);
        if (!status)
            memcpy(mask.values, s->mask.values, voxels * sizeof(*mask.values));
        if (!status && second)
            status = place(m, VXS_NEAREST, &mask, err);
        map = &mask;
    }
    for (size_t v = 0; v < vxs_grid_voxels(&m->grid) && !status; v++)
        inside[v] = inside[v] || map->values[v] != 0;
    vxs_volume_release(&mask);
    return status;
}

static uint8_t *select_voxels(const vxs_volume *map, double threshold, vxs_error *err)
{
    size_t voxels = vxs_grid_voxels(&map->grid);
    uint8_t *selected = vxs_alloc(voxels, sizeof(*selected), err);
    for (size_t v = 0; selected && v < voxels; v++)
        selected[v] = fabs((double)map->values[v]) > threshold;
    return selected;
}

static vxs_status count_lost(const vxs_match *m, const vxs_volume *map, vxs_match_side *side,
                             vxs_error *err)
{
    uint8_t *selected = select_voxels(map, side->threshold, err);
    if (selected)
        side->lost = vxs_grid_uncovered(&m->grid, &map->grid, selected);
    free(selected);
    return selected ? VXS_OK : VXS_FAILED;
}

static double threshold_of(const vxs_match *m, bool second, vxs_map_kind kind)
{
    const vxs_match_settings *s = m->settings;
    return !second                      ? s->threshold
           : !isnan(s->truth_threshold) ? s->truth_threshold
           : kind == VXS_MAP_WEIGHTS    ? s->threshold
                                        : 0;
}

static vxs_status prepare(const vxs_match *m, const source *s, int k, vxs_match_volume *r,
                          vxs_match_pair *pair, vxs_error *err)
{
    vxs_match_side *side = &r->sides[k];
    vxs_volume *map = &pair->map[k];
    vxs_status status = vxs_volume_from_image(&s->image, r->number[k] - 1, map, err);
    if (!status)
        status = look_at(s, map, side, err);
    if (status)
        return status;
    side->threshold = threshold_of(m, k == 1, side->kind);
    if (k == 1 && m->placing == VXS_MATCH_RESAMPLED)
        status = count_lost(m, map, side, err);
    bool linear = side->kind == VXS_MAP_WEIGHTS && m->placing == VXS_MATCH_RESAMPLED;
    if (!status && k == 1)
        status = place(m, linear ? VXS_LINEAR : VXS_NEAREST, map, err);
    if (!status)
        status = add_inside(m, s, k == 1, map, pair->inside, err);
    if (status)
        return status;
    pair->selected[k] = select_voxels(map, side->threshold, err);
    return pair->selected[k] ? VXS_OK : VXS_FAILED;
}

static vxs_status compare_pair(const vxs_match *m, const source sources[2], vxs_match_volume *r,
                               vxs_error *err)
{
    vxs_match_pair pair = { .inside = vxs_alloc(vxs_grid_voxels(&m->grid), 1, err) };
    vxs_status status = pair.inside ? VXS_OK : VXS_FAILED;
    for (int k = 0; k < 2 && !status; k++)
        status = prepare(m, &sources[k], k, r, &pair, err);
    if (!status)
        status = vxs_match_measure_pair(&pair, m->settings->tolerance, m->connectivity, r, err);
    for (int k = 0; k < 2; k++) {
        vxs_volume_release(&pair.map[k]);
        free(pair.selected[k]);
    }
    free(pair.inside);
    return status;
}

/* ---- Volumes --------------------------------------------------------------------------------- */

/* A single volume goes with any that is asked for of the other. */
static vxs_status check_volumes(const source sources[2], size_t asked, vxs_error *err)
{
    size_t have[2] = { sources[0].image.volumes, sources[1].image.volumes };
    bool single = have[0] == 1 && have[1] == 1;
    for (int k = 0; k < 2; k++)
        if (asked > have[k] && (have[k] > 1 || single))
            return vxs_fail(err, VXS_BAD_DATA, "'%s' has no volume %zu, but %zu", sources[k].path,
                            asked, have[k]);
    if (asked == 0 && have[0] != have[1])
        return vxs_fail(err, VXS_BAD_DATA,
                        "'%s' has %zu volume%s, '%s' has %zu: say which with --volume",
                        sources[0].path, have[0], vxs_plural(have[0]), sources[1].path, have[1]);
    return VXS_OK;
}

/* Each with its counterpart, or the one that was asked for. */
static vxs_status pair_volumes(vxs_match *m, const source sources[2], vxs_error *err)
{
    size_t asked = (size_t)m->settings->volume;
    size_t count = asked ? 1 : sources[0].image.volumes;
    vxs_status status = check_volumes(sources, asked, err);
    if (status)
        return status;
    m->each = vxs_alloc(count, sizeof(*m->each), err);
    if (!m->each)
        return VXS_FAILED;
    m->count = count;
    for (size_t v = 0; v < count; v++)
        for (int k = 0; k < 2; k++) {
            size_t number = asked ? asked : v + 1;
            m->each[v].number[k] = sources[k].image.volumes == 1 ? 1 : number;
        }
    return VXS_OK;
}

/* ---- What to be warned of -------------------------------------------------------------------- */

static void warn_of_missing(const vxs_context *context, const vxs_match *m, int k)
{
    size_t missing = 0;
    for (size_t v = 0; v < m->count; v++)
        missing += m->each[v].sides[k].missing;
    if (missing > 0)
        vxs_log(context, VXS_LOG_WARNING,
                "'%s' has %zu voxel%s without a value (NaN), which %s as "
                "absent",
                m->path[k], missing, vxs_plural(missing), missing == 1 ? "counts" : "count");
}

static void warn_of_empty(const vxs_context *context, const vxs_match *m, int k)
{
    for (size_t v = 0; v < m->count; v++) {
        const vxs_match_side *side = &m->each[v].sides[k];
        char which[64] = "";
        if (m->count > 1)
            snprintf(which, sizeof(which), "volume %zu of ", m->each[v].number[k]);
        if (side->lost > 0)
            vxs_log(context, VXS_LOG_WARNING,
                    "%s'%s' has %zu selected voxel%s outside of the grid of '%s', which %s lost",
                    which, m->path[k], side->lost, vxs_plural(side->lost), m->path[0],
                    side->lost == 1 ? "is" : "are");
        if (side->voxels == 0)
            vxs_log(context, VXS_LOG_WARNING, "%s'%s' has no voxel above %g%s", which, m->path[k],
                    side->threshold,
                    k == 1 && m->placing == VXS_MATCH_RESAMPLED ? " on the grid of the first" : "");
    }
}

/* ---- The whole ------------------------------------------------------------------------------- */

static vxs_status compare(vxs_match *m, const source sources[2], vxs_error *err)
{
    m->grid = sources[0].image.grid;
    m->other_grid = sources[1].image.grid;
    for (int k = 0; k < 2; k++)
        m->masked[k] = sources[k].mask.values != NULL;
    vxs_status status = compare_grids(m, err);
    if (!status)
        status = pair_volumes(m, sources, err);
    for (size_t v = 0; v < m->count && !status; v++)
        status = compare_pair(m, sources, &m->each[v], err);
    return status;
}

vxs_status vxs_match_maps(const vxs_context *context, const vxs_match_settings *settings,
                          const char *first, const char *second, vxs_match *m, vxs_error *err)
{
    static const int numbers[] = { 6, 18, 26 };
    const char *const operands[2] = { first, second };
    source sources[2] = { { .path = NULL }, { .path = NULL } };
    vxs_error own = VXS_ERROR_INIT;
    vxs_status status = VXS_OK;
    err = err ? err : &own;
    *m = (vxs_match){ .settings = settings, .connectivity = numbers[settings->connectivity] };
    for (int k = 0; k < 2 && !status; k++) {
        m->path[k] = vxs_find_map(operands[k], err);
        status = m->path[k] ? read_source(operands[k], m->path[k], &sources[k], err) : err->status;
    }
    if (!status)
        status = compare(m, sources, err);
    for (int k = 0; k < 2 && !status; k++) {
        warn_of_missing(context, m, k);
        warn_of_empty(context, m, k);
    }
    for (int k = 0; k < 2; k++)
        release_source(&sources[k]);
    if (status)
        vxs_match_release(m);
    return status;
}

void vxs_match_release(vxs_match *m)
{
    for (size_t v = 0; v < m->count; v++)
        for (int k = 0; k < 2; k++)
            free(m->each[v].sides[k].peaks);
    free(m->each);
    free(m->path[0]);
    free(m->path[1]);
    *m = (vxs_match){ .each = NULL };
}
