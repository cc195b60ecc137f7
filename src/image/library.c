/* library.c - atlases by name: those that come with voxsift, those of other packages, the user's.
 */
#include "image/names.h"

#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
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

/* In the folder, or in a folder in it; an XML says more than an image does. */
static vxs_status look_in(const char *folder, const char *name, char **path, vxs_error *err)
{
    static const char *const ways[] = { "%s/%s.xml",      "%s/*/%s.xml", "%s/%s.nii.gz",
                                        "%s/*/%s.nii.gz", "%s/%s.nii",   "%s/*/%s.nii" };
    char pattern[PATH_MAX];
    for (size_t k = 0; k < sizeof(ways) / sizeof(ways[0]) && !*path; k++) {
        glob_t found = { .gl_pathc = 0 };
        snprintf(pattern, sizeof(pattern), ways[k], folder, name);
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

/* Where the program is: installed beside share, or built beside atlases. */
static vxs_status look_beside_program(const char *name, char **path, vxs_error *err)
{
    char program[PATH_MAX - 64], list[2 * PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    if (length <= 0)
        return VXS_OK;
    program[length] = '\0';
    *strrchr(program, '/') = '\0';
    snprintf(list, sizeof(list), "%s/../share/voxsift/atlases:%s/../atlases", program, program);
    return look_in_list(list, name, path, err);
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
