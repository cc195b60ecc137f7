/* voxsift/report.h - what a map says: clusters, peaks, atlas labels, and files for viewers. */
#ifndef VOXSIFT_REPORT_H
#define VOXSIFT_REPORT_H

#include "voxsift/image.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Clusters -------------------------------------------------------------------------------- */

/* Voxels of one sign that hang together. Positions are mm (RAS+), indices count from 0. */
typedef struct {
    int sign; /* 1 or -1 */
    size_t voxels;
    double volume;     /* mm3 */
    double peak_value; /* the largest in size, with its sign; the first voxel where several are */
    double peak[3], peak_index[3];
    double centre[3], centre_index[3]; /* weighted by the size of the values */
    double mean, sum;
} vxs_cluster;

typedef struct {
    vxs_grid grid;
    vxs_cluster *rows; /* larger ones first, equal ones by their first voxel; [k] has label k + 1 */
    size_t count;
    int32_t *labels; /* of every voxel, 0 outside */
} vxs_clusters;

/* Clusters of voxels above the threshold in size, positive and negative ones apart; NaN is never
 * above. Those with fewer voxels than min_voxels are left out. */
VXS_MUST_CHECK vxs_status vxs_clusters_find(const vxs_volume *map, double threshold,
                                            int connectivity, size_t min_voxels,
                                            vxs_clusters *clusters, vxs_error *err);
void vxs_clusters_release(vxs_clusters *clusters);

/* Where a cluster lies in an atlas: the label with most of its voxels (NULL when it touches none),
 * how many per cent that is, and the label at its peak (NULL: none). Texts belong to the atlas. */
typedef struct {
    const char *label, *peak_label;
    double percent;
} vxs_overlap;
VXS_MUST_CHECK vxs_status vxs_clusters_overlap(const vxs_clusters *clusters, const vxs_atlas *atlas,
                                               vxs_overlap *rows, vxs_error *err);

/* ---- The region table of a map -----------------------------------------------------------------
 */

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

/* Prints the table to `stream`; json: as JSON instead. With a directory (or NULL) also makes it:
 * clusters.tsv, clusters.json (what its columns mean), clusters.nii.gz whose values are the table's
 * index, label files for FSLeyes, MRIcroGL, ITK-SNAP and NiiVue, and the command that opens them.
 */
VXS_MUST_CHECK vxs_status vxs_regions(const vxs_context *context,
                                      const vxs_regions_settings *settings, const char *map,
                                      const char *directory, bool replace, bool json, FILE *stream,
                                      vxs_error *err);

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
