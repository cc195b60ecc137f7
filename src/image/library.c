/* library.c - atlases by name: those of voxsift, of other packages, and the user's. */
#include "voxsift/internal/image.h"

#include "image/names.h"

#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define UNDERLAY "icbm152" /* no atlas */

static const struct {
    const char *name, *file;
} short_names[] = {
    { "schaefer100", "Schaefer2018_100Parcels_7Networks_order_FSLMNI152_2mm" },
    { "schaefer200", "Schaefer2018_200Parcels_7Networks_order_FSLMNI152_2mm" },
    { "jhu", "JHU-WhiteMatter-labels-1mm" },
    { UNDERLAY, "icbm152_t1_2mm" },
};

static const char *file_name(const char *name)
{
    for (size_t k = 0; k < sizeof(short_names) / sizeof(short_names[0]); k++)
        if (strcmp(name, short_names[k].name) == 0)
            return short_names[k].file;
    return name;
}

/* A path as glob takes it: what has a meaning in patterns is escaped. */
static void escape(const char *path, char *pattern, size_t size)
{
    size_t length = 0;
    for (; *path && length + 2 < size; path++) {
        if (strchr("*?[]\\", *path))
            pattern[length++] = '\\';
        pattern[length++] = *path;
    }
    pattern[length] = '\0';
}

/* In the folder, or in a folder in it; an XML says more than an image does. */
static vxs_status search_folder(const char *folder, const char *name, char **path, vxs_error *err)
{
    char pattern[2 * PATH_MAX], place[PATH_MAX];
    const char *ending = ".xml";
    escape(folder, place, sizeof(place));
    for (size_t k = 0; ending && !*path; k++) {
        glob_t found = { .gl_pathc = 0 };
        snprintf(pattern, sizeof(pattern), "%s/%s%s%s", place, k % 2 ? "*/" : "", name, ending);
        if (k % 2)
            ending = vxs_image_name_ending(k / 2);
        if (glob(pattern, 0, NULL, &found) == 0) {
            *path = vxs_format(err, "%s", found.gl_pathv[0]);
            globfree(&found);
            if (!*path)
                return VXS_FAILED;
        }
    }
    return VXS_OK;
}

static vxs_status search_list(const char *list, const char *name, char **path, vxs_error *err)
{
    vxs_status status = VXS_OK;
    char folder[PATH_MAX];
    for (const char *at = list; at && *at && !*path && !status;) {
        size_t length = strcspn(at, ":");
        snprintf(folder, sizeof(folder), "%.*s", (int)length, at);
        status = search_folder(folder, name, path, err);
        at += length + (at[length] == ':');
    }
    return status;
}

/* The program's own path, links resolved: as the system knows it, or, where there is no /proc, as
 * it was started. */
static bool find_program(char path[PATH_MAX])
{
    const char *started = (const char *)getauxval(AT_EXECFN);
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (length <= 0)
        return started && realpath(started, path);
    path[length] = '\0';
    return true;
}

/* Beside the program, wherever it was put: installed or unpacked, it is in bin beside share; built,
 * it is in build, or in build/static, beside atlases. */
static vxs_status search_program_folder(const char *name, char **path, vxs_error *err)
{
    static const struct {
        int up;
        const char *folder;
    } places[] = { { 2, "share/voxsift/atlases" }, { 2, "atlases" }, { 3, "atlases" } };
    vxs_status status = VXS_OK;
    char program[PATH_MAX], folder[PATH_MAX + 32];
    bool deep = find_program(program);
    for (size_t k = 0; k < sizeof(places) / sizeof(places[0]) && deep && !*path && !status; k++) {
        snprintf(folder, sizeof(folder), "%s", program);
        for (int up = 0; up < places[k].up && deep; up++) {
            char *last = strrchr(folder, '/');
            if ((deep = last != NULL))
                *last = '\0';
        }
        snprintf(folder + strlen(folder), sizeof(folder) - strlen(folder), "/%s", places[k].folder);
        if (deep)
            status = search_folder(folder, name, path, err);
    }
    return status;
}

static vxs_status search_fsl(const char *name, char **path, vxs_error *err)
{
    char folder[PATH_MAX];
    const char *fsl = getenv("FSLDIR");
    if (!fsl)
        return VXS_OK;
    snprintf(folder, sizeof(folder), "%s/data/atlases", fsl);
    return search_folder(folder, name, path, err);
}

/* ---- Names that are there ------------------------------------------------------------------- */

#define MOST_ATLASES 64
typedef struct {
    char *each[MOST_ATLASES + 1]; /* NULL behind the last */
    size_t count;
} atlas_names;

static void add_name(atlas_names *names, const char *path)
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    char name[256];
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(file, "."), file);
    const char *called = name;
    for (size_t k = 0; k < sizeof(short_names) / sizeof(short_names[0]); k++)
        if (strcmp(name, short_names[k].file) == 0)
            called = short_names[k].name;
    if (strcmp(called, UNDERLAY) == 0)
        return;
    for (size_t k = 0; k < names->count; k++)
        if (strcmp(names->each[k], called) == 0)
            return;
    char *copy = names->count < MOST_ATLASES ? vxs_format(NULL, "%s", called) : NULL;
    if (copy)
        names->each[names->count++] = copy;
}

static void add_matching(atlas_names *names, const char *folder, const char *files,
                         const char *ending)
{
    char pattern[PATH_MAX];
    glob_t found = { .gl_pathc = 0 };
    snprintf(pattern, sizeof(pattern), "%s/%s%s", folder, files, ending);
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t j = 0; j < found.gl_pathc; j++)
        add_name(names, found.gl_pathv[j]);
    globfree(&found);
}

static void add_names_in(atlas_names *names, const char *folder)
{
    for (size_t k = 0; vxs_image_name_ending(k); k++)
        add_matching(names, folder, "*", vxs_image_name_ending(k));
    add_matching(names, folder, "*", ".xml");
    for (size_t k = 0; vxs_image_name_ending(k); k++)
        add_matching(names, folder, "*/*", vxs_image_name_ending(k));
}

static void find_names(atlas_names *names)
{
    char folder[PATH_MAX], program[PATH_MAX - 64];
    const char *fsl = getenv("FSLDIR");
    ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    for (const char *at = getenv("VOXSIFT_ATLASES"); at && *at; at += *at == ':') {
        size_t one = strcspn(at, ":");
        snprintf(folder, sizeof(folder), "%.*s", (int)one, at);
        add_names_in(names, folder);
        at += one;
    }
    if (length > 0) {
        program[length] = '\0';
        *strrchr(program, '/') = '\0';
        snprintf(folder, sizeof(folder), "%s/../share/voxsift/atlases", program);
        add_names_in(names, folder);
        snprintf(folder, sizeof(folder), "%s/../atlases", program);
        add_names_in(names, folder);
    }
    if (fsl) {
        snprintf(folder, sizeof(folder), "%s/data/atlases", fsl);
        add_names_in(names, folder);
    }
    add_names_in(names, "/usr/share/mricron/templates");
}

static vxs_status no_such_atlas(const char *name, vxs_error *err)
{
    atlas_names names = { .count = 0 };
    char list[512] = "", near_file[VXS_NEAR_TEXT];
    size_t used = 0;
    if (!err)
        return VXS_MISSING;
    find_names(&names);
    const char *later[MOST_ATLASES + 1] = { NULL }; /* of two that are as near, the finer one */
    for (size_t k = 0; k < names.count; k++)
        later[k] = names.each[names.count - 1 - k];
    const char *near = vxs_nearest(name, later);
    if (!near && vxs_file_near(name, near_file))
        near = near_file;
    for (size_t k = 0; k < names.count && used < sizeof(list); k++)
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", k > 0 ? ", " : "",
                                 names.each[k]);
    vxs_status status = vxs_fail(
        err, VXS_MISSING,
        "cannot read '%s': there is no such file, nor an atlas of that name%s%s%s; atlases: %s",
        name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "",
        names.count > 0 ? list : "none is installed (see VOXSIFT_ATLASES)");
    for (size_t k = 0; k < names.count; k++)
        free(names.each[k]);
    return status;
}

vxs_status vxs_atlas_locate(const char *name, char **path, vxs_error *err)
{
    bool plain = !strpbrk(name, "/*?[") && access(name, F_OK) != 0;
    const char *file = file_name(name);
    vxs_status status = VXS_OK;
    *path = NULL;
    if (!plain) {
        *path = vxs_format(err, "%s", name);
        return *path ? VXS_OK : VXS_FAILED;
    }
    status = search_list(getenv("VOXSIFT_ATLASES"), file, path, err);
    if (!status && !*path)
        status = search_program_folder(file, path, err);
    if (!status && !*path)
        status = search_fsl(file, path, err);
    if (!status && !*path)
        status = search_folder("/usr/share/mricron/templates", file, path, err);
    if (!status && !*path)
        status = no_such_atlas(name, err);
    return status;
}
