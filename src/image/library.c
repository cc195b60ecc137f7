/* library.c - atlases by name: those that come with voxsift, those of other packages, the user's.
 */
#include "image/names.h"

#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static const struct {
    const char *name, *file;
} short_names[] = {
    { "schaefer100", "Schaefer2018_100Parcels_7Networks_order_FSLMNI152_2mm" },
    { "schaefer200", "Schaefer2018_200Parcels_7Networks_order_FSLMNI152_2mm" },
    { "jhu", "JHU-WhiteMatter-labels-1mm" },
    { "icbm152", "icbm152_t1_2mm" }, /* the underlay */
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
static vxs_status look_in(const char *folder, const char *name, char **path, vxs_error *err)
{
    static const char *const ways[] = { "%s/%s.xml",      "%s/*/%s.xml", "%s/%s.nii.gz",
                                        "%s/*/%s.nii.gz", "%s/%s.nii",   "%s/*/%s.nii" };
    char pattern[2 * PATH_MAX], place[PATH_MAX];
    escape(folder, place, sizeof(place));
    for (size_t k = 0; k < sizeof(ways) / sizeof(ways[0]) && !*path; k++) {
        glob_t found = { .gl_pathc = 0 };
        snprintf(pattern, sizeof(pattern), ways[k], place, name);
        if (glob(pattern, 0, NULL, &found) == 0) {
            *path = vxs_format(err, "%s", found.gl_pathv[0]);
            globfree(&found);
            if (!*path)
                return VXS_FAILED;
        }
    }
    return VXS_OK;
}

static vxs_status look_in_list(const char *list, const char *name, char **path, vxs_error *err)
{
    vxs_status status = VXS_OK;
    char folder[PATH_MAX];
    for (const char *at = list; at && *at && !*path && !status;) {
        size_t length = strcspn(at, ":");
        snprintf(folder, sizeof(folder), "%.*s", (int)length, at);
        status = look_in(folder, name, path, err);
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
static vxs_status look_beside_program(const char *name, char **path, vxs_error *err)
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
            status = look_in(folder, name, path, err);
    }
    return status;
}

static vxs_status look_in_fsl(const char *name, char **path, vxs_error *err)
{
    char folder[PATH_MAX];
    const char *fsl = getenv("FSLDIR");
    if (!fsl)
        return VXS_OK;
    snprintf(folder, sizeof(folder), "%s/data/atlases", fsl);
    return look_in(folder, name, path, err);
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
    status = look_in_list(getenv("VOXSIFT_ATLASES"), file, path, err);
    if (!status && !*path)
        status = look_beside_program(file, path, err);
    if (!status && !*path)
        status = look_in_fsl(file, path, err);
    if (!status && !*path)
        status = look_in("/usr/share/mricron/templates", file, path, err);
    if (!status && !*path)
        status = vxs_fail(err, VXS_MISSING,
                          "cannot read '%s': there is no such file, nor an atlas of that name in "
                          "VOXSIFT_ATLASES, with voxsift, in FSLDIR or in mricron-data",
                          name);
    return status;
}
