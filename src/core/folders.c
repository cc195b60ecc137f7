/* folders.c - directories that voxsift makes, and what is said where another one is given. */
#include "voxsift/internal/files.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *file, *noun, *command;
} kinds[] = {
    { "cohort.json", "cohort", "voxsift cohort" },
    { "model.json", "model", "voxsift fit" },
    { "cv.json", "cross-validation", "voxsift cv" },
    { "permute.json", "permutation test", "voxsift permute" },
    { "stability.json", "stability selection", "voxsift stability" },
    { "compare.json", "comparison", "voxsift compare" },
    { "match.json", "comparison of maps", "voxsift match" },
    { "predict.json", "set of predicted images", "voxsift predict" },
    { "part.json", "chunk of a run", "voxsift cv --chunk" },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static bool holds(const char *folder, const char *file)
{
    char path[4096];
    int length = snprintf(path, sizeof(path), "%s/%s", folder, file);
    if (length <= 0 || (size_t)length >= sizeof(path))
        return true; /* reading it reports the error */
    return access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

/* A neighbor of `path` with a name that is nearly the same; and, unless `file` is NULL, with this
 * file in it. */
static bool find_near(const char *path, const char *file, char near[VXS_NEAR_TEXT])
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char folder[2048], inside[2048 + 264];
    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) + 1 : 2,
             slash ? path : "./");
    DIR *entries = opendir(folder);
    bool found = false;
    for (struct dirent *e = entries ? readdir(entries) : NULL; e && !found; e = readdir(entries)) {
        const char *const one[] = { e->d_name, NULL };
        snprintf(inside, sizeof(inside), "%s%s", folder, e->d_name);
        found = strlen(name) > 2 && e->d_name[0] != '.' && vxs_nearest(name, one) &&
                (!file || holds(inside, file));
        if (found)
            snprintf(near, VXS_NEAR_TEXT, "%s", e->d_name);
    }
    if (entries)
        closedir(entries);
    return found;
}

bool vxs_file_near(const char *path, char near[VXS_NEAR_TEXT])
{
    return find_near(path, NULL, near);
}

const char *vxs_folder_kind(const char *path)
{
    for (size_t k = 0; k < KINDS; k++)
        if (holds(path, kinds[k].file))
            return kinds[k].noun;
    return NULL;
}

vxs_status vxs_folder_check(const char *path, const char *file, vxs_error *err)
{
    struct stat about;
    char near[VXS_NEAR_TEXT];
    size_t k = 0;
    if (holds(path, file))
        return VXS_OK;
    while (k + 1 < KINDS && strcmp(kinds[k].file, file) != 0)
        k++;
    const char *noun = kinds[k].noun, *command = kinds[k].command;
    const char *made = strcmp(noun, "model") == 0 ? "fit one" : "make one";
    if (stat(path, &about) != 0)
        return find_near(path, file, near)
                   ? vxs_fail(err, VXS_MISSING, "no %s '%s': did you mean '%s'?", noun, path, near)
                   : vxs_fail(err, VXS_MISSING, "no %s '%s': %s with '%s'", noun, path, made,
                              command);
    const char *other = S_ISDIR(about.st_mode) ? vxs_folder_kind(path) : NULL;
    if (other && strcmp(noun, "model") == 0 && strcmp(other, "cross-validation") == 0)
        return vxs_fail(err, VXS_MISSING,
                        "'%s' is a cross-validation, which has no single model: fit one with "
                        "'voxsift fit', with the same options",
                        path);
    if (other)
        return vxs_fail(err, VXS_MISSING, "'%s' is a %s, not a %s: %s with '%s'", path, other, noun,
                        made, command);
    return vxs_fail(err, VXS_MISSING, "'%s' is a %s, not a %s (it has no %s): %s with '%s'", path,
                    S_ISDIR(about.st_mode) ? "directory" : "file", noun, file, made, command);
}
