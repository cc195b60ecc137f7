/* format.c - format and version markers of voxsift's own files. */
#include "voxsift/internal/core.h"

#include <math.h>
#include <string.h>

void vxs_json_format(vxs_json_writer *w, const char *format)
{
    vxs_json_text(w, "format", format);
    vxs_json_whole(w, "format_version", VXS_FORMAT_VERSION);
    vxs_json_text(w, "voxsift", VXS_VERSION);
}

vxs_status vxs_json_check_format(const vxs_json *about, const char *file, const char *format,
                                 vxs_error *err)
{
    const char *said = vxs_json_get_text(about, "format");
    double version = vxs_json_get_number(about, "format_version");
    if (!said || strcmp(said, format) != 0)
        return vxs_fail(err, VXS_BAD_DATA, "'%s' is not of format '%s'", file, format);
    if (isnan(version))
        return vxs_fail(err, VXS_BAD_DATA, "'%s' has no number 'format_version'", file);
    if (version < VXS_FORMAT_VERSION)
        return vxs_fail(err, VXS_BAD_DATA,
                        "'%s' is of format %g, this voxsift reads %d; make it again with this "
                        "version",
                        file, version, VXS_FORMAT_VERSION);
    if (version > VXS_FORMAT_VERSION)
        return vxs_fail(err, VXS_BAD_DATA,
                        "'%s' is of format %g, this voxsift reads %d: it was made with a later "
                        "version",
                        file, version, VXS_FORMAT_VERSION);
    return VXS_OK;
}
