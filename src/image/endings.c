/* endings.c - how names of image files end: the one list, for all that look for images. */
#include "voxsift/internal/image.h"

#include <string.h>
#include <strings.h>

/* In the order in which they are preferred. The values of a pair come last. */
static const struct {
    const char *text;
    bool values; /* of a pair, whose header stands for the image */
} endings[] = {
    { ".nii.gz", false }, { ".nii", false },   { ".hdr.gz", false },
    { ".hdr", false },    { ".img.gz", true }, { ".img", true },
};

#define COUNT (sizeof(endings) / sizeof(endings[0]))

static size_t find_ending(const char *path)
{
    size_t length = strlen(path);
    for (size_t k = 0; k < COUNT; k++) {
        size_t n = strlen(endings[k].text);
        if (length > n && strcasecmp(path + length - n, endings[k].text) == 0)
            return k;
    }
    return COUNT;
}

const char *vxs_image_name_ending(size_t k)
{
    return k < COUNT && !endings[k].values ? endings[k].text : NULL;
}

size_t vxs_image_ending_length(const char *path)
{
    size_t k = find_ending(path);
    return k < COUNT ? strlen(endings[k].text) : 0;
}

bool vxs_is_image_name(const char *path)
{
    return vxs_image_name_ending(find_ending(path)) != NULL;
}
