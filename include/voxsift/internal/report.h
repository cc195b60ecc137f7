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

/* ---- Two maps, or a map and the truth -------------------------------------------------------- */

/* Every field is a row of vxs_match_params. */
typedef struct {
    double threshold, truth_threshold; /* truth_threshold NAN: as the image suggests */
    double tolerance;                  /* mm */
    int connectivity;                  /* index of 6, 18, 26 */
    int64_t volume;                    /* 0: all */
    bool resample;
} vxs_match_settings;
extern const vxs_param vxs_match_params[];

/* What values say: nothing but 0; one value, perhaps of both signs; whole numbers
 * above 0, each of few regions; others. */
typedef enum { VXS_MAP_EMPTY, VXS_MAP_BINARY, VXS_MAP_LABELS, VXS_MAP_WEIGHTS } vxs_map_kind;
extern const char *const vxs_map_kind_words[];

typedef struct {
    double at[3]; /* mm */
    double value, volume;
    double distance; /* mm to the other's nearest voxel; INFINITY: it has none */
} vxs_match_peak;

/* One of the two, as it is compared: on the grid of the first. */
typedef struct {
    vxs_map_kind kind;
    double threshold;       /* voxels of larger size are selected */
    size_t voxels, missing; /* selected; NaN, which count as absent */
    size_t lost;            /* selected before it was resampled, and outside of the grid */
    double volume;          /* mm3, of the selected */
    size_t outside;         /* selected, and farther than the tolerance from the other's */
    double outside_volume;  /* mm3 */
    vxs_match_peak *peaks;  /* of each cluster, the largest first */
    size_t peak_count;
    double peak_mean, peak_most; /* distances in mm; NAN: none */
} vxs_match_side;

/* Measures that may have no value. */
typedef enum {
    VXS_MATCH_ACC_AR,
    VXS_MATCH_PRECISION,
    VXS_MATCH_SENSITIVITY,
    VXS_MATCH_CORRELATION,
    VXS_MATCH_PEAKS
} vxs_match_measure;

typedef struct {
    size_t number[2]; /* volumes of both, from 1 */
    vxs_match_side sides[2];
    size_t both, opposite; /* voxels that both select; of these with opposite signs, if
 * both images have signs */
    double dice, acc_ar, precision, sensitivity, pearson, spearman; /* NAN: undefined */
    size_t correlated;                                              /* voxels of the correlations */
    const char *no_correlation;                                     /* why there is none; or NULL */
} vxs_match_volume;

typedef enum { VXS_MATCH_SAME_GRID, VXS_MATCH_TURNED, VXS_MATCH_RESAMPLED } vxs_match_placing;

typedef struct {
    const vxs_match_settings *settings;
    char *path[2];
    bool masked[2]; /* results with a mask, whose voxels the correlations are of */
    vxs_grid grid, other_grid;
    vxs_match_placing placing;
    int connectivity;
    vxs_match_volume *each;
    size_t count;
} vxs_match;
/* `first` and `second`: images, or directories whose map is found as by vxs_regions. Warns of NaN,
 * of maps that select nothing, and of what resampling loses. */
VXS_MUST_CHECK vxs_status vxs_match_maps(const vxs_context *context,
                                         const vxs_match_settings *settings, const char *first,
                                         const char *second, vxs_match *match, vxs_error *err);
/* Why a measure has no value; NULL if it has one. */
const char *vxs_match_undefined(const vxs_match_volume *volume, vxs_match_measure measure);
void vxs_match_release(vxs_match *match);
/* In words: which voxels the correlations are of. */
const char *vxs_match_voxels(const vxs_match *match);
void vxs_match_json(vxs_json_writer *writer, const vxs_match *match);
/* A directory: match.json, match.tsv (a row for each volume), peaks.tsv. */
#define VXS_MATCH_FILE "match.json"
VXS_MUST_CHECK vxs_status vxs_match_save(const vxs_context *context, const vxs_match *match,
                                         const char *directory, bool replace, vxs_error *err);

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
