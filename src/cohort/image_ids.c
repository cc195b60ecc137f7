/* image_ids.c - makes ids of images that no table names. The id is "sub-01" in the file name, or
 * the whole file name. If several images share it, the session or the rest of the name is added; if
 * the names are equal, ids are made of the folders that differ. */
#include "cohort/id_parts.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- File names ------------------------------------------------------------------------------ */

static bool is_label(vxs_name name)
{
    return name.length > 4 && strncasecmp(name.text, "sub-", 4) == 0;
}

/* The file name without folders and suffix. */
static vxs_name whole_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t length = strlen(base);
    if (vxs_is_image_name(base))
        length -= vxs_image_ending_length(base);
    else if (length > 3 && strcasecmp(base + length - 3, ".gz") == 0)
        length -= 3;
    return (vxs_name){ base, length };
}

/* "sub-01" for "dir/sub-01_ses-1_T1w.nii.gz"; the whole name if it has no such label. */
static vxs_name short_name(const char *path)
{
    vxs_name name = whole_name(path);
    if (is_label(name))
        name.length = strcspn(name.text, "_.");
    return name;
}

/* "sub-01_ses-1" for "dir/sub-01_ses-1_T1w.nii.gz". */
static vxs_name session_name(const char *path)
{
    vxs_name name = short_name(path);
    if (is_label(name) && strncasecmp(name.text + name.length, "_ses-", 5) == 0)
        name.length += 1 + strcspn(name.text + name.length + 1, "_.");
    return name;
}

char *vxs_id_of_image(const char *path, vxs_error *err)
{
    vxs_name name = short_name(path);
    return vxs_format(err, "%.*s", (int)name.length, name.text);
}

/* Joins two parts of an id by a slash. A slash ends the person after "sub-" where an underscore
 * does not: "sub-01/T1w". */
static char *join(vxs_name head, vxs_name tail, vxs_error *err)
{
    if (head.length == 0 || tail.length == 0)
        return vxs_format(err, "%.*s%.*s", (int)head.length, head.text, (int)tail.length,
                          tail.text);
    char *id =
        vxs_format(err, "%.*s_%.*s", (int)head.length, head.text, (int)tail.length, tail.text);
    if (id && is_label(head) && vxs_person_in(id).length == strlen(id))
        id[head.length] = '/';
    return id;
}

/* ---- Ids of all images ----------------------------------------------------------------------- */

typedef struct {
    const char *text;
    size_t image;
} entry;

static int by_text(const void *a, const void *b)
{
    const entry *left = a, *right = b;
    int order = strcmp(left->text, right->text);
    return order ? order : (left->image > right->image) - (left->image < right->image);
}

/* The included images, sorted by id or path. */
static entry *sort_images(const vxs_build *build, bool paths, size_t *count, vxs_error *err)
{
    entry *sorted = vxs_alloc(build->count, sizeof(*sorted), err);
    *count = 0;
    for (size_t i = 0; i < build->count && sorted; i++) {
        const vxs_subject *s = &build->subjects[i];
        if (!s->reason)
            sorted[(*count)++] = (entry){ paths ? s->path : s->id, i };
    }
    if (sorted)
        qsort(sorted, *count, sizeof(*sorted), by_text);
    return sorted;
}

static vxs_status count_doubles(const vxs_build *build, size_t *doubles, vxs_error *err)
{
    size_t count = 0;
    entry *sorted = sort_images(build, false, &count, err);
    *doubles = 0;
    for (size_t k = 1; k < count && sorted; k++)
        *doubles += strcmp(sorted[k - 1].text, sorted[k].text) == 0;
    free(sorted);
    return sorted ? VXS_OK : VXS_FAILED;
}

/* Leaves out all but the first image of each path, or of each id. */
static vxs_status leave_doubles_out(vxs_build *build, bool paths, vxs_error *err)
{
    size_t count = 0;
    entry *sorted = sort_images(build, paths, &count, err);
    for (size_t k = 1, first = 0; k < count && sorted; k++) {
        vxs_subject *s = &build->subjects[sorted[k].image];
        first = strcmp(sorted[first].text, sorted[k].text) == 0 ? first : k;
        if (first != k && paths)
            vxs_build_leave_out(build, s, "'%s' is given twice", s->path);
        else if (first != k)
            vxs_build_leave_out(build, s,
                                "the names and folders of '%s' and '%s' give the same id; pass a "
                                "table with ids and --image-column",
                                build->subjects[sorted[first].image].path, s->path);
    }
    free(sorted);
    return sorted ? VXS_OK : VXS_FAILED;
}

/* Replaces the subject's id and frees `id`. */
static vxs_status set_id(vxs_subject *s, char *id, vxs_error *err)
{
    char *shown = id ? vxs_shown(id, err) : NULL;
    free(id);
    if (!shown)
        return VXS_FAILED;
    free(s->id);
    s->id = shown;
    return VXS_OK;
}

static vxs_status use_names(vxs_build *build, vxs_name (*begin)(const char *path), bool rest,
                            vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (size_t i = 0; i < build->count && !status; i++) {
        vxs_subject *s = &build->subjects[i];
        vxs_name name = begin(s->path), all = whole_name(s->path), tail = { "", 0 };
        if (rest && all.length > name.length + 1)
            tail = (vxs_name){ name.text + name.length + 1, all.length - name.length - 1 };
        status = set_id(s, join(name, tail, err), err);
    }
    return status;
}

/* ---- Folders --------------------------------------------------------------------------------- */

/* Paths as a table: column 0 is the file, column 1 its folder, and so on; "" if a path has fewer.
 */
typedef struct {
    size_t n, depth;
    vxs_name *name;   /* depth x n */
    size_t *number;   /* depth x n: number of the name within its column */
    size_t *values;   /* per column: how many different names */
    bool *kept;       /* per column: it is part of the ids */
    size_t *pair;     /* n */
    uint64_t *key;    /* n */
    size_t *ordered;  /* columns in their order within ids */
    size_t ids_parts; /* number of these columns */
} paths;

static size_t count_parts(const char *path)
{
    size_t parts = 1;
    for (; *path; path++)
        parts += *path == '/';
    return parts;
}

static void split_path(paths *p, size_t i, const char *path)
{
    const char *end = strrchr(path, '/');
    p->name[i] = short_name(path);
    for (size_t d = 1; d < p->depth; d++) {
        const char *from = end;
        while (from && from > path && from[-1] != '/')
            from--;
        p->name[d * p->n + i] =
            from ? (vxs_name){ from, (size_t)(end - from) } : (vxs_name){ "", 0 };
        end = from && from > path ? from - 1 : NULL;
    }
}

static vxs_status allocate(paths *p, const vxs_build *build, vxs_error *err)
{
    p->n = build->count;
    for (size_t i = 0; i < p->n; i++) {
        size_t parts = count_parts(build->subjects[i].path);
        p->depth = parts > p->depth ? parts : p->depth;
    }
    p->name = vxs_alloc(p->depth * p->n, sizeof(*p->name), err);
    p->number = vxs_alloc(p->depth * p->n, sizeof(*p->number), err);
    p->values = vxs_alloc(p->depth, sizeof(*p->values), err);
    p->kept = vxs_alloc(p->depth, sizeof(*p->kept), err);
    p->ordered = vxs_alloc(p->depth + 1, sizeof(*p->ordered), err);
    p->pair = vxs_alloc(p->n, sizeof(*p->pair), err);
    p->key = vxs_alloc(p->n, sizeof(*p->key), err);
    bool there = p->name && p->number && p->values && p->kept && p->ordered && p->pair && p->key;
    return there ? VXS_OK : VXS_FAILED;
}

static void release(paths *p)
{
    free(p->name);
    free(p->number);
    free(p->values);
    free(p->kept);
    free(p->ordered);
    free(p->pair);
    free(p->key);
}

static bool are_labels(const paths *p, size_t d)
{
    for (size_t i = 0; i < p->n; i++)
        if (!is_label(p->name[d * p->n + i]))
            return false;
    return true;
}

/* True for a column of sessions: "ses-1", "baseline". */
static bool are_occasions(const paths *p, size_t d)
{
    char text[64];
    for (size_t i = 0; i < p->n; i++) {
        vxs_name name = p->name[d * p->n + i];
        snprintf(text, sizeof(text), "1_%.*s", (int)name.length, name.text);
        if (name.length == 0 || vxs_person_in(text).length != 1)
            return false;
    }
    return true;
}

static bool are_equal(const paths *p, size_t d, size_t e)
{
    for (size_t i = 0; i < p->n; i++) {
        vxs_name a = p->name[d * p->n + i], b = p->name[e * p->n + i];
        if (a.length != b.length || strncmp(a.text, b.text, a.length) != 0)
            return false;
    }
    return true;
}

/* Drops one of two columns that determine each other. Preference: "sub-01", then a folder, then the
 * column nearer to the file. */
static vxs_status drop_one_of(paths *p, size_t near, size_t far, vxs_error *err)
{
    size_t pairs = 0, n = p->n;
    if (!p->kept[near] || !p->kept[far] || p->values[near] != p->values[far])
        return VXS_OK;
    for (size_t i = 0; i < n; i++)
        p->key[i] = (uint64_t)p->number[near * n + i] * n + p->number[far * n + i];
    vxs_status status = vxs_number_keys(p->key, NULL, n, p->pair, &pairs, err);
    if (status || pairs != p->values[near])
        return status;
    bool label = are_labels(p, near), other = are_labels(p, far);
    if (near > 0 && label == other && !are_equal(p, near, far))
        return VXS_OK; /* a table may have either: keep both, so that no id matches by accident */
    bool drop_near = label == other ? near == 0 : other;
    p->kept[drop_near ? near : far] = false;
    return VXS_OK;
}

static vxs_status choose_columns(paths *p, vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (size_t d = 0; d < p->depth && !status; d++) {
        size_t *number = p->number + d * p->n;
        status = vxs_number_names(p->name + d * p->n, p->n, number, &p->values[d], err);
        p->kept[d] = p->values[d] > 1;
    }
    for (size_t d = 0; d < p->depth && !status; d++)
        for (size_t e = d + 1; e < p->depth && !status; e++)
            status = drop_one_of(p, d, e, err);
    return status;
}

/* The column of the only person, by its label or as the folder, if ids would be sessions alone. */
static size_t find_person(const paths *p)
{
    size_t last = 0;
    for (size_t d = 0; d < p->depth; d++) {
        if (p->kept[d] && !are_occasions(p, d))
            return p->depth;
        last = p->kept[d] ? d : last;
    }
    for (size_t d = 0; d < p->depth; d++)
        if (are_labels(p, d))
            return d;
    bool there = last + 1 < p->depth && p->name[(last + 1) * p->n].length > 0;
    return there ? last + 1 : p->depth;
}

/* Orders the columns: the person by its label, then others from the outermost folder, then
 * sessions. */
static void order_columns(paths *p)
{
    size_t person = find_person(p), *to = p->ordered;
    if (person < p->depth)
        *to++ = person;
    for (int rank = 0; rank < 3; rank++)
        for (size_t d = p->depth; d-- > 0;)
            if (p->kept[d] && rank == (are_labels(p, d) ? 0 : are_occasions(p, d) ? 2 : 1))
                *to++ = d;
    p->ids_parts = (size_t)(to - p->ordered);
}

static vxs_status use_folders(vxs_build *build, const paths *p, vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (size_t i = 0; i < p->n && !status; i++) {
        char *id = vxs_format(err, "%s", "");
        for (size_t k = 0; k < p->ids_parts && id; k++) {
            char *head = id;
            id = join((vxs_name){ head, strlen(head) }, p->name[p->ordered[k] * p->n + i], err);
            free(head);
        }
        status = set_id(&build->subjects[i], id, err);
    }
    return status;
}

static vxs_status name_by_folders(vxs_build *build, vxs_error *err)
{
    paths p = { .n = 0 };
    vxs_status status = allocate(&p, build, err);
    for (size_t i = 0; i < p.n && !status; i++)
        split_path(&p, i, build->subjects[i].path);
    if (!status)
        status = choose_columns(&p, err);
    if (!status) {
        order_columns(&p);
        status = use_folders(build, &p, err);
    }
    if (!status)
        vxs_log(build->context, VXS_LOG_INFO,
                "all images have the same file name; their ids are made from folder names, such as "
                "'%s'",
                build->subjects[0].id);
    release(&p);
    return status;
}

/* ---- Entry point ----------------------------------------------------------------------------- */

vxs_status vxs_build_separate_ids(vxs_build *build, vxs_error *err)
{
    size_t doubles = 0;
    vxs_status status = leave_doubles_out(build, true, err);
    if (!status)
        status = count_doubles(build, &doubles, err);
    if (status || doubles == 0)
        return status;
    build->ids_separated = true;
    for (int way = 0; way < 3 && doubles > 0 && !status; way++) {
        status = way == 0   ? use_names(build, session_name, false, err)
                 : way == 1 ? use_names(build, short_name, true, err)
                            : name_by_folders(build, err);
        if (!status)
            status = count_doubles(build, &doubles, err);
    }
    return status || doubles == 0 ? status : leave_doubles_out(build, false, err);
}
