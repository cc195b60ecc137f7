/* voxsift/internal/report.h - what a map says, as tables, files for viewers and pages. */
#ifndef VOXSIFT_INTERNAL_REPORT_H
#define VOXSIFT_INTERNAL_REPORT_H

#include "voxsift/internal/image.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The region table of a map --------------------------------------------------------------- */

enum { VXS_TABLE_VOXSIFT, VXS_TABLE_FSL, VXS_TABLE_NILEARN };

/* Every field is a row of vxs_regions_params. */
typedef struct {
    double threshold;
    int connectivity; /* index of 6, 18, 26 */
    int64_t min_size, volume;
    const char *atlas, *atlas_names, *underlay;
    int format;
} vxs_regions_settings;
extern const vxs_param vxs_regions_params[];

/* A directory of regions holds this file. */
#define VXS_REGIONS_FILE "clusters.json"

/* Prints the table to `stream`; json: as JSON instead, with the warnings of the run. With a
 * directory (or NULL) also makes it: clusters.tsv, clusters.json (what its columns mean),
 * clusters.nii.gz whose values are the table's index, label files for FSLeyes, MRIcroGL, ITK-SNAP
 * and NiiVue, and the command that opens them.
 */
VXS_MUST_CHECK vxs_status vxs_regions(const vxs_context *context,
                                      const vxs_regions_settings *settings, const char *map,
                                      const char *directory, bool replace, bool json, bool rounded,
                                      const vxs_warnings *warnings, FILE *stream, vxs_error *err);

/* ---- A page to read -------------------------------------------------------------------------- */

/* Every field is a row of vxs_report_params. */
typedef struct {
    const char *out, *atlas, *atlas_names, *underlay;
    bool force;
} vxs_report_settings;
extern const vxs_param vxs_report_params[];

/* One page of HTML that needs no other file, of a directory of a model, a cross-validation,
 * permutations or stability. */
VXS_MUST_CHECK vxs_status vxs_report(const vxs_context *context,
                                     const vxs_report_settings *settings, const char *directory,
                                     vxs_error *err);

#ifdef __cplusplus
}
#endif

#endif
