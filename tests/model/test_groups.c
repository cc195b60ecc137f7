/* What '--groups' says: regions, tables, spheres and trees, and what is written of them. */
#include "tests/core/check.h"
#include "tests/core/faults.h"

#include "model/model.h"

enum { MOST = 64 };

/* Some voxels of a sheared grid; a set of its own for the tests that need no other. */
static size_t mask[MOST];
static const vxs_grid sheared = {
    .shape = { 4, 4, 4 },
    .affine = { { 2, 0.5, 0, -4 }, { 0, 1.5, 0, -3 }, { 0.25, 0, 3, 5 }, { 0, 0, 0, 1 } }
};

static vxs_cohort voxels_of(const vxs_grid *grid)
{
    vxs_cohort c = { .kind = VXS_FEATURES_VOXELS, .grid = *grid, .voxels = mask };
    for (size_t v = 0; v < MOST; v++)
        if (v % 5 != 0 && v % 7 != 3)
            mask[c.p++] = v;
    c.voxel_count = c.p;
    return c;
}

/* Four columns with names. */
static vxs_cohort columns(void)
{
    vxs_error err = VXS_ERROR_INIT;
    const char *names = "feature\nred\ngreen\nblue\nfar red\n";
    vxs_cohort c = { .kind = VXS_FEATURES_COLUMNS, .p = 4 };
    WORKS(vxs_table_parse(names, strlen(names), "names", &c.names, &err), err);
    return c;
}

static vxs_status make(const vxs_cohort *c, const char *rule, vxs_task *task, vxs_error *err)
{
    *task = (vxs_task){ .cohort = c };
    return vxs_task_make_groups(NULL, task, rule, err);
}

static vxs_task made(const vxs_cohort *c, const char *rule)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_task task;
    WORKS(make(c, rule, &task, &err), err);
    cr_assert(task.groups.count > 0 && task.groups.nodes == c->p);
    return task;
}

static bool has(const vxs_groups *g, size_t group, size_t feature)
{
    size_t times = 0;
    for (size_t m = g->begin[group]; m < g->end[group]; m++)
        times += g->member[m] == feature;
    cr_assert(times <= 1);
    return times;
}

static size_t size_of(const vxs_groups *g, size_t group)
{
    return g->end[group] - g->begin[group];
}

/* "file:" and the name of a file that holds the text. */
static const char *with_file(const char *begin, const char *name, const char *text)
{
    static char rule[600];
    char path[512];
    write_bytes(work_path(path, name), text, strlen(text));
    snprintf(rule, sizeof(rule), "%s%s", begin, path);
    return rule;
}

static void drop(const char *name)
{
    char path[512];
    cr_assert(unlink(work_path(path, name)) == 0);
}

/* ---- From where voxels are ------------------------------------------------------------------- */

Test(groups_of_features, patches_are_measured_in_mm)
{
    vxs_cohort c = voxels_of(&sheared);
    vxs_task t = made(&c, "patches:3.1");
    for (size_t a = 0; a < c.p; a++)
        for (size_t b = 0; b < c.p; b++) {
            double one[3], two[3], from[3], to[3], sum = 0;
            vxs_grid_index(&c.grid, c.voxels[a], one);
            vxs_grid_index(&c.grid, c.voxels[b], two);
            vxs_grid_position(&c.grid, one, from);
            vxs_grid_position(&c.grid, two, to);
            for (int d = 0; d < 3; d++)
                sum += (from[d] - to[d]) * (from[d] - to[d]);
            cr_assert(has(&t.groups, a, b) == (sum <= 3.1 * 3.1), "%zu, %zu", a, b);
        }
    char name[VXS_GROUP_NAME];
    const size_t voxel = c.voxels[9];
    size_t at[3] = { 0, 0, 0 };
    const char *text = vxs_group_name(&t.groups, &c, 9, name);
    cr_assert(sscanf(text, "%zu,%zu,%zu", &at[0], &at[1], &at[2]) == 3);
    cr_assert(at[0] + 4 * (at[1] + 4 * at[2]) == voxel, "named by its center: %s", text);
    vxs_task_release(&t);
}

Test(groups_of_features, octrees_are_of_the_grid)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_cohort c = voxels_of(&sheared);
    vxs_groups g;
    char name[VXS_GROUP_NAME];
    WORKS(vxs_groups_octree(c.grid.shape, c.voxels, c.p, &g, &err), err);
    vxs_task t = made(&c, "tree:octree");
    cr_assert(t.groups.count == g.count && t.groups.parent);
    for (size_t k = 0; k < g.count; k++) {
        cr_assert(strcmp(vxs_group_name(&t.groups, &c, k, name), g.names[k]) == 0);
        cr_assert(t.groups.begin[k] == g.begin[k] && t.groups.end[k] == g.end[k]);
    }
    WORKS(vxs_task_make_groups(NULL, &t, "patches:3", &err), err);
    cr_assert(t.groups.count == g.count && t.groups.parent, "made once");
    vxs_groups_release(&g);
    vxs_task_release(&t);
}

/* ---- Regions --------------------------------------------------------------------------------- */

enum { ATLAS_SIDE = 3, ATLAS_VOXELS = 27 };
static int32_t labels[ATLAS_VOXELS];
/* A little to the side, so that no voxel is as near to one as to another. */
static const vxs_grid coarse = {
    .shape = { ATLAS_SIDE, ATLAS_SIDE, ATLAS_SIDE },
    .affine = { { 3, 0, 0, -2.9 }, { 0, -2, 0, 1.2 }, { 0, 0, 4, 6.3 }, { 0, 0, 0, 1 } },
    .sform_code = 4
};

/* Labels 2, 3 and 9 of which two have one name, and 7 where the cohort has nothing. */
static const char *write_atlas(void)
{
    static char rule[600];
    static const int32_t kinds[] = { 2, 3, 0, 9, 3 };
    vxs_error err = VXS_ERROR_INIT;
    vxs_write_options options = { .type = VXS_WRITE_INT32 };
    char path[512], names[512];
    const char *text = "2|here\n3|there\n7|nowhere\n9|here\n";
    for (size_t v = 0; v < ATLAS_VOXELS; v++)
        labels[v] = v == 2 ? 7 : kinds[v % 5];
    FILE *stream = fopen(work_path(path, "atlas.nii.gz"), "wb");
    cr_assert(stream);
    WORKS(vxs_image_write(stream, path, &coarse, &options, labels, &err), err);
    cr_assert(fclose(stream) == 0);
    write_bytes(work_path(names, "atlas.txt"), text, strlen(text));
    snprintf(rule, sizeof(rule), "atlas:%s", path);
    return rule;
}

static void drop_atlas(void)
{
    drop("atlas.nii.gz");
    drop("atlas.txt");
}

static int32_t nearest_label(const vxs_grid *grid, size_t voxel)
{
    double index[3], at[3], position[3], best = INFINITY;
    int32_t label = 0;
    bool inside = true;
    vxs_grid_index(grid, voxel, index);
    vxs_grid_position(grid, index, at);
    for (size_t v = 0; v < ATLAS_VOXELS; v++) {
        double size[3], sum = 0;
        bool within = true;
        vxs_grid_index(&coarse, v, index);
        vxs_grid_position(&coarse, index, position);
        vxs_grid_voxel_size(&coarse, size);
        for (int d = 0; d < 3; d++) {
            sum += (at[d] - position[d]) * (at[d] - position[d]);
            within = within && fabs(at[d] - position[d]) <= size[d] / 2;
        }
        label = sum < best ? labels[v] : label;
        inside = sum < best ? within : inside;
        best = fmin(best, sum);
    }
    return inside ? label : 0;
}

static char told[2][200];
static int lines;

static void listen(void *user, vxs_log_level level, const char *message)
{
    (void)user;
    cr_assert(level == VXS_LOG_INFO && lines < 2);
    snprintf(told[lines++], sizeof(told[0]), "%s", message);
}

Test(groups_of_features, regions_come_onto_the_grid)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_cohort c = voxels_of(&sheared);
    const vxs_context context = { .log = listen };
    vxs_task t = { .cohort = &c };
    WORKS(vxs_task_make_groups(&context, &t, write_atlas(), &err), err);
    static const int32_t values[] = { 2, 3, 9 };
    static const char *const names[] = { "here (label 2)", "there", "here (label 9)" };
    cr_assert(t.groups.count == 3 && !t.groups.parent);
    size_t none = 0;
    for (size_t k = 0; k < 3; k++) {
        char name[VXS_GROUP_NAME];
        cr_assert(size_of(&t.groups, k) > 0);
        cr_assert(strcmp(vxs_group_name(&t.groups, &c, k, name), names[k]) == 0);
        for (size_t j = 0; j < c.p; j++)
            cr_assert(has(&t.groups, k, j) == (nearest_label(&c.grid, mask[j]) == values[k]));
    }
    for (size_t j = 0; j < c.p; j++)
        none += nearest_label(&c.grid, mask[j]) == 0;
    char wanted[40];
    snprintf(wanted, sizeof(wanted), "%zu of %zu voxels are in no region", none, c.p);
    cr_assert(none > 0 && strstr(told[0], wanted), "'%s' is not in '%s'", wanted, told[0]);
    cr_assert(strstr(told[1], "1 of the 4 regions"), "%s", told[1]);
    vxs_task_release(&t);

    vxs_grid away = sheared;
    away.affine[0][3] = 500;
    c = voxels_of(&away);
    REFUSES(make(&c, write_atlas(), &t, &err), err, VXS_BAD_DATA, "none of the cohort's");
    REFUSES(make(&c, "atlas:no_such_atlas", &t, &err), err, VXS_MISSING, "no_such_atlas");
    drop_atlas();
}

/* ---- Tables ---------------------------------------------------------------------------------- */

Test(groups_of_features, tables_name_features)
{
    vxs_cohort c = columns();
    vxs_task t = made(&c, with_file("file:", "g.tsv",
                                    "group\tfeature\nwarm\tfar red\ncold\tblue\nwarm\tred\n"
                                    "all\tblue\nall\tgreen\nall\tred\n"));
    static const char *const names[] = { "warm", "cold", "all" };
    static const bool in[3][4] = { { 1, 0, 0, 1 }, { 0, 0, 1, 0 }, { 1, 1, 1, 0 } };
    cr_assert(t.groups.count == 3 && !t.groups.parent);
    for (size_t k = 0; k < 3; k++) {
        cr_assert(strcmp(t.groups.names[k], names[k]) == 0, "in the table's order");
        for (size_t j = 0; j < 4; j++)
            cr_assert(has(&t.groups, k, j) == in[k][j]);
        for (size_t m = t.groups.begin[k] + 1; m < t.groups.end[k]; m++)
            cr_assert(t.groups.member[m - 1] < t.groups.member[m], "in the cohort's order");
    }
    vxs_task_release(&t);
    vxs_table_free(c.names);
    drop("g.tsv");
}

Test(groups_of_features, trees_are_paths)
{
    vxs_cohort c = columns();
    vxs_task t =
        made(&c, with_file("tree:", "g.tsv",
                           "feature\tpath\nblue\tseen/cold\nred\tseen/warm\nfar red\theat\n"));
    static const char *const names[] = { "heat", "seen", "seen/cold", "seen/warm" };
    static const size_t parents[] = { SIZE_MAX, SIZE_MAX, 1, 1 };
    static const bool in[4][4] = { { 0, 0, 0, 1 }, { 1, 0, 1, 0 }, { 0, 0, 1, 0 }, { 1, 0, 0, 0 } };
    cr_assert(t.groups.count == 4);
    for (size_t k = 0; k < 4; k++) {
        cr_assert(strcmp(t.groups.names[k], names[k]) == 0);
        cr_assert(t.groups.parent[k] == parents[k]);
        for (size_t j = 0; j < 4; j++)
            cr_assert(has(&t.groups, k, j) == in[k][j]);
    }
    vxs_task_release(&t);
    vxs_table_free(c.names);
    drop("g.tsv");
}

/* The table, the rule and what is said of it. */
typedef struct {
    const char *rule, *text, *said;
    vxs_status status;
} bad;

Test(groups_of_features, bad_tables_get_a_line)
{
    static const bad cases[] = {
        { "file:", "group\tfeature\n", "names no feature", VXS_BAD_DATA },
        { "file:", "group\tfeatures\na\tred\n", "no column 'feature'; did you mean", VXS_BAD_DATA },
        { "file:", "name\tfeature\na\tred\n", "no column 'group'", VXS_BAD_DATA },
        { "file:", "feature\tpath\nred\ta\n", "no column 'group'", VXS_BAD_DATA },
        { "file:", "group\tfeature\na\tred\na\tpink\n", "line 3: the cohort has no feature 'pink'",
          VXS_BAD_DATA },
        { "file:", "group\tfeature\na\tn/a\n", "line 2: the feature has no name", VXS_BAD_DATA },
        { "file:", "group\tfeature\na\tred\n\tred\n", "line 3: the group has no name",
          VXS_BAD_DATA },
        { "file:", "group\tfeature\na\tred\nb\tred\na\tblue\na\tred\n",
          "line 5: group 'a' has the feature 'red' already", VXS_BAD_DATA },
        { "tree:", "feature\tpath\n", "names no feature", VXS_BAD_DATA },
        { "tree:", "group\tfeature\na\tred\n", "no column 'path'", VXS_BAD_DATA },
        { "tree:", "feature\tpath\npink\ta\n", "line 2: the cohort has no feature 'pink'",
          VXS_BAD_DATA },
        { "tree:", "feature\tpath\nred\ta/b\nblue\t\n", "line 3: the path is empty", VXS_BAD_DATA },
        { "tree:", "feature\tpath\n\ta\n", "line 2: the feature has no name", VXS_BAD_DATA },
        { "tree:", "feature\tpath\nred\ta//b\n", "line 2: the path 'a//b' has a part without",
          VXS_BAD_DATA },
        { "tree:", "feature\tpath\nred\t/a\n", "the path '/a'", VXS_BAD_DATA },
        { "tree:", "feature\tpath\nred\ta/\n", "the path 'a/'", VXS_BAD_DATA },
        { "tree:", "feature\tpath\nred\ta\nred\ta\n",
          "line 3: the feature 'red' has a path already", VXS_BAD_DATA },
    };
    vxs_error err = VXS_ERROR_INIT;
    vxs_cohort c = columns();
    vxs_task t;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        const char *rule = with_file(cases[k].rule, "bad.tsv", cases[k].text);
        vxs_status status = make(&c, rule, &t, &err);
        cr_assert(strstr(err.message, "bad.tsv'"), "names the file: %s", err.message);
        REFUSES(status, err, cases[k].status, cases[k].said);
        cr_assert(t.groups.count == 0 && !t.groups.member && !t.groups.names);
    }
    drop("bad.tsv");
    vxs_table_free(c.names);
}

Test(groups_of_features, what_is_no_rule_is_refused)
{
    vxs_error err = VXS_ERROR_INIT;
    static const bad cases[] = {
        { "", NULL, "give atlas:NAME, file:FILE, patches:MM, tree:octree or tree:FILE",
          VXS_MISUSE },
        { "regions", NULL, "'--groups regions' is not known", VXS_MISUSE },
        { "patches", NULL, "is not known", VXS_MISUSE },
        { "Patches:3", NULL, "is not known", VXS_MISUSE },
        { "atlas:", NULL, "'--groups atlas:' expects an atlas", VXS_MISUSE },
        { "file:", NULL, "expects a table", VXS_MISUSE },
        { "tree:", NULL, "expects octree", VXS_MISUSE },
        { "patches:", NULL, "expects a radius", VXS_MISUSE },
        { "patches:0", NULL, "a number above 0", VXS_MISUSE },
        { "patches:-2", NULL, "not '-2'", VXS_MISUSE },
        { "patches:8mm", NULL, "not '8mm'", VXS_MISUSE },
        { "patches:nan", NULL, "not 'nan'", VXS_MISUSE },
        { "patches:1e999", NULL, "not '1e999'", VXS_MISUSE },
        { "file:/no/such/file", NULL, "/no/such/file", VXS_MISSING },
        { "tree:/no/such/file", NULL, "/no/such/file", VXS_MISSING },
    };
    vxs_cohort c = voxels_of(&sheared), other = columns();
    vxs_task t;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
        REFUSES(make(&c, cases[k].rule, &t, &err), err, cases[k].status, cases[k].said);
    static const char *const of_voxels[] = { "patches:3", "tree:octree", "atlas:schaefer100" };
    for (size_t k = 0; k < 3; k++)
        REFUSES(make(&other, of_voxels[k], &t, &err), err, VXS_MISUSE, "is of voxels");
    cr_assert(vxs_groups_are_rule("patches:3") && vxs_groups_are_rule("tree:octree"));
    cr_assert(!vxs_groups_are_rule("tree:octree.tsv") && !vxs_groups_are_rule("file:octree"));
    cr_assert(!vxs_groups_are_rule("atlas:aal") && !vxs_groups_are_rule("octree"));
    vxs_table_free(other.names);
}

/* ---- Written and read ------------------------------------------------------------------------ */

/* The group of `g` with the same members, or none. */
static bool is_among(const vxs_groups *g, const vxs_groups *other, size_t group)
{
    bool found = false;
    for (size_t k = 0; k < g->count && !found; k++) {
        found = size_of(g, k) == size_of(other, group);
        for (size_t m = other->begin[group]; m < other->end[group] && found; m++)
            found = has(g, k, other->member[m]);
    }
    return found;
}

static void check_written(const vxs_cohort *c, const char *rule)
{
    vxs_error err = VXS_ERROR_INIT;
    char path[512], again[600], name[VXS_GROUP_NAME];
    vxs_task t = made(c, rule);
    FILE *stream = fopen(work_path(path, "written.tsv"), "wb");
    WORKS(vxs_groups_write(&t.groups, c, stream, &err), err);
    cr_assert(fclose(stream) == 0);
    snprintf(again, sizeof(again), "%s%s", t.groups.parent ? "tree:" : "file:", path);
    vxs_task read = made(c, again);
    cr_assert(read.groups.count == t.groups.count && !read.groups.parent == !t.groups.parent);
    for (size_t k = 0; k < t.groups.count; k++) {
        cr_assert(is_among(&read.groups, &t.groups, k));
        if (!t.groups.parent) { /* the order is that of the rule as well */
            cr_assert(size_of(&read.groups, k) == size_of(&t.groups, k));
            cr_assert(strcmp(read.groups.names[k], vxs_group_name(&t.groups, c, k, name)) == 0);
            for (size_t m = t.groups.begin[k]; m < t.groups.end[k]; m++)
                cr_assert(has(&read.groups, k, t.groups.member[m]));
        }
    }
    vxs_task_release(&read);
    vxs_task_release(&t);
    drop("written.tsv");
}

Test(groups_of_features, what_is_written_reads_back)
{
    vxs_cohort c = voxels_of(&sheared), other = columns();
    check_written(&c, "patches:3.1");
    check_written(&c, "tree:octree");
    check_written(&c, write_atlas());
    check_written(&other, with_file("file:", "g.tsv",
                                    "group\tfeature\nb\tred\na\tgreen\nb\tblue\nc\tred\n"));
    check_written(&other, with_file("tree:", "g.tsv",
                                    "feature\tpath\nred\tall/of\nblue\tall\nfar red\tall/it\n"));
    drop_atlas();
    drop("g.tsv");
    vxs_table_free(other.names);
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

Test(groups_of_features, parts_share_them)
{
    vxs_error err = VXS_ERROR_INIT;
    static const float features[] = { 1, 2, 3, 4, 5, 6, 8, 7, 9, 9, 1, 2, 1, 0, 1, 1 };
    static size_t rows[] = { 0, 1, 2, 3 }, which[] = { 0, 2, 3 };
    static double score[] = { 1, 2, 3, 5 }, ones[] = { 1, 1, 1, 1 };
    vxs_cohort c = columns();
    c.n = 4;
    c.features = features;
    vxs_task whole = {
        .cohort = &c, .n = 4, .rows = rows, .score = score, .covariates = ones, .covariate_count = 1
    };
    vxs_task part;
    const char *rule = with_file("file:", "g.tsv", "group\tfeature\na\tred\nb\tblue\n");
    WORKS(vxs_task_part(NULL, &whole, which, 3, &part, &err), err);
    cr_assert(part.groups.count == 0);
    WORKS(vxs_task_make_groups(NULL, &part, rule, &err), err);
    cr_assert(part.groups.count == 2 && whole.groups.count == 0, "a part may have its own");
    vxs_task_release(&part);
    WORKS(vxs_task_make_groups(NULL, &whole, rule, &err), err);
    drop("g.tsv");
    WORKS(vxs_task_part(NULL, &whole, which, 3, &part, &err), err);
    WORKS(vxs_task_make_groups(NULL, &part, rule, &err), err);
    cr_assert(part.groups.member == whole.groups.member);
    vxs_task_release(&part);
    cr_assert(whole.groups.count == 2 && strcmp(whole.groups.names[1], "b") == 0);
    vxs_groups_release(&whole.groups);
    vxs_table_free(c.names);
}

static const char *rule_in_need;
static const vxs_cohort *of_cohort;

static vxs_status make_and_write(vxs_error *err)
{
    vxs_task t;
    vxs_status status = make(of_cohort, rule_in_need, &t, err);
    if (!status) {
        char *text = NULL;
        size_t length = 0;
        FILE *stream = open_memstream(&text, &length);
        cr_assert(stream);
        status = vxs_groups_write(&t.groups, of_cohort, stream, err);
        cr_assert(fclose(stream) == 0);
        free(text);
    }
    cr_assert(!status || t.groups.count == 0 || t.groups.parent, "empty on failure");
    vxs_task_release(&t);
    return status;
}

Test(groups_of_features, no_memory_is_an_error)
{
    vxs_cohort c = voxels_of(&sheared), other = columns();
    of_cohort = &c;
    rule_in_need = "patches:3";
    cr_assert(fail_each_request(make_and_write) > 4);
    rule_in_need = "tree:octree";
    cr_assert(fail_each_request(make_and_write) > 100);
    rule_in_need = write_atlas();
    cr_assert(fail_each_request(make_and_write) > 20);
    of_cohort = &other;
    rule_in_need = with_file("file:", "g.tsv", "group\tfeature\na\tred\nb\tblue\na\tblue\n");
    cr_assert(fail_each_request(make_and_write) > 10);
    rule_in_need = with_file("tree:", "g.tsv", "feature\tpath\nred\ta/b\nblue\ta/c\n");
    cr_assert(fail_each_request(make_and_write) > 15);
    drop_atlas();
    drop("g.tsv");
    vxs_table_free(other.names);
}
