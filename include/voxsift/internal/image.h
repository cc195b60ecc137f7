/* voxsift/internal/image.h - images, masks, atlases and clusters; internal to the library and the
 * command line, not installed. */
#ifndef VOXSIFT_INTERNAL_IMAGE_H
#define VOXSIFT_INTERNAL_IMAGE_H

#include "voxsift/image.h"
#include "voxsift/internal/core.h"
#include "voxsift/internal/files.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Grids ----------------------------------------------------------------------------------- */

/* Checks a grid before anything is allocated for it: 1 to VXS_MAX_VOXELS voxels (indices are 32
 * bits wide) with edges of 1e-9 to 1e9 mm, extent up to 1e6 mm, origin within 1e9 mm, and an
 * invertible affine. `what` begins the message: "cannot read 'x.nii'". */
#define VXS_MAX_VOXELS 2147483647
VXS_MUST_CHECK vxs_status vxs_grid_check(const vxs_grid *grid, const char *what, vxs_error *err);
/* A volume with values and a grid that images may have. */
VXS_MUST_CHECK vxs_status vxs_volume_check(const vxs_volume *volume, vxs_error *err);
/* Inverts the affine; false if it is singular, which it never is in images that this library
 * read. */
bool vxs_grid_inverse(const vxs_grid *grid, double inverse[4][4]);
/* mm3 */
double vxs_grid_voxel_volume(const vxs_grid *grid);
/* Letters of the directions of increasing i, j and k: "RAS", "LAS", "PIR", ... */
void vxs_grid_orientation(const vxs_grid *grid, char letters[4]);
/* Largest angle between a voxel edge and the direction of its letter, in degrees. */
double vxs_grid_oblique(const vxs_grid *grid);
/* Both in words: "LAS", "RAS, oblique by 12.3 degrees", "orientation unknown". */
#define VXS_ORIENTATION_TEXT 64
const char *vxs_grid_orientation_text(const vxs_grid *grid, char text[VXS_ORIENTATION_TEXT]);
/* 1 if i, j, k form a right-handed system (as in RAS), -1 if left-handed (as in LAS). */
int vxs_grid_handedness(const vxs_grid *grid);
/* Maximum distance in mm between corresponding corner voxels; INFINITY if the shapes differ. */
double vxs_grid_distance(const vxs_grid *a, const vxs_grid *b);
/* True if both have the same voxels, perhaps with axes in another order or direction: each center
 * is within `tolerance` mm of one of the other. Resampling to the nearest voxel then turns one into
 * the other without loss. */
bool vxs_grid_is_turned(const vxs_grid *a, const vxs_grid *b, double tolerance);
/* Masks and atlases must have an orientation if the images do, and none otherwise: a mixture may
 * exchange left and right. `what`: "mask", "atlas", of the file `path`. */
VXS_MUST_CHECK vxs_status vxs_grid_check_orientation_known(const vxs_grid *grid,
                                                           const vxs_grid *images, const char *path,
                                                           const char *what, vxs_error *err);

/* ---- Images ---------------------------------------------------------------------------------- */

/* True if a path names an image by its ending, in any case: .nii, .nii.gz, .hdr, .hdr.gz. The
 * values of a pair (.img) are no image of their own. */
bool vxs_is_image_name(const char *path);
/* The ending of image names number k, in the order of preference; NULL behind the last. */
const char *vxs_image_name_ending(size_t k);
/* Length of the ending of an image or of the values of a pair; 0 without one. */
size_t vxs_image_ending_length(const char *path);

/* Also computes the SHA-256 of the file, or of both files of a pair, header first. */
VXS_MUST_CHECK vxs_status vxs_image_read_hashed(const char *path, vxs_image *image,
                                                char hash[VXS_HASH_TEXT], vxs_error *err);
/* Reads everything except values (vxs_image_values and _floats may not be called): fast, for checks
 * of whole cohorts. Released the same way. */
VXS_MUST_CHECK vxs_status vxs_image_read_header(const char *path, vxs_image *image, vxs_error *err);
/* vxs_image_read on bytes in memory, of a single-file image; borrowed. */
VXS_MUST_CHECK vxs_status vxs_image_parse(const char *bytes, size_t length, const char *name,
                                          vxs_image *image, vxs_error *err);
/* "int16", "float32", ... */
const char *vxs_image_datatype_name(int datatype);
/* `count` scaled values from item `first` on, across volumes. Thread-safe. */
void vxs_image_values(const vxs_image *image, size_t first, size_t count, double *values);
/* The same, rounded to the nearest float. */
void vxs_image_floats(const vxs_image *image, size_t first, size_t count, float *values);

/* Summary of the finite values. */
typedef struct {
    double min, max, sum; /* min and max are NAN if no value is finite */
    size_t nonfinite, zeros;
} vxs_image_summary;
void vxs_image_summarize(const vxs_image *image, vxs_image_summary *summary);

/* ---- Volumes: one image in memory, as floats ------------------------------------------------- */

/* A grid with the same field of view and orientation and voxels of `size` mm; VXS_MISUSE if it has
 * too many (vxs_grid_check). */
VXS_MUST_CHECK vxs_status vxs_grid_with_voxel_size(const vxs_grid *grid, double size,
                                                   vxs_grid *result, vxs_error *err);

/* The number of voxels inside the mask with a center outside of the other grid's field of view. */
size_t vxs_grid_uncovered(const vxs_grid *by, const vxs_grid *grid, const uint8_t *mask);

/* Linear interpolation between voxel centers, constant half a voxel beyond the outermost ones; 0
 * farther out. */
double vxs_volume_at(const vxs_volume *volume, const double index[3]);

/* ---- Packed images --------------------------------------------------------------------------- */

/* A volume in its stored type, without the zeros at both ends of each line of voxels: a compact
 * form to keep hundreds of head images in memory. */
typedef struct {
    vxs_image image; /* its stored items are the concatenated spans */
    struct vxs_packed_span *spans;
    size_t length, lines; /* voxels per line, except the last one; number of lines */
    size_t bytes;         /* memory taken */
    float outside;        /* value of the omitted voxels */
} vxs_packed;
VXS_MUST_CHECK vxs_status vxs_image_pack(const vxs_image *image, size_t number, vxs_packed *packed,
                                         vxs_error *err);
/* The values of a line's span; returns their number, and the position of the first in *first. */
size_t vxs_packed_line(const vxs_packed *packed, size_t line, size_t *first, float *values);
/* The whole line, including omitted voxels. */
void vxs_packed_whole_line(const vxs_packed *packed, size_t line, float *values);
/* All lines. */
VXS_MUST_CHECK vxs_status vxs_packed_volume(const vxs_packed *packed, vxs_volume *volume,
                                            vxs_error *err);
/* True if stored items differ, though values may not once they are scaled and of single precision.
 */
bool vxs_packed_items_differ(const vxs_packed *packed);
void vxs_packed_release(vxs_packed *packed);

/* ---- Masks and components: one byte a voxel, 0 outside --------------------------------------- */

/* Labels connected components from 1; larger components come first, equal ones in the order of
 * their first voxel. Neighbors share a face (6), also an edge (18) or also a corner (26). */
VXS_MUST_CHECK vxs_status vxs_components(const uint8_t *mask, const size_t shape[3],
                                         int connectivity, int32_t *labels, size_t *count,
                                         vxs_error *err);
/* The same, where neighbors are connected only if their values are equal; values may be NULL. */
VXS_MUST_CHECK vxs_status vxs_components_of_equal_values(const uint8_t *mask, const float *values,
                                                         const size_t shape[3], int connectivity,
                                                         int32_t *labels, size_t *count,
                                                         vxs_error *err);

/* ---- Distances: masks as above --------------------------------------------------------------- */

/* Of each voxel of `from`, the distance in mm between its center and the nearest one of `to`: 0 for
 * a voxel of both, INFINITY if `to` is empty. Other entries stay as they are. */
VXS_MUST_CHECK vxs_status vxs_voxel_distances(const vxs_grid *grid, const uint8_t *from,
                                              const uint8_t *to, double *distances, vxs_error *err);

/* ---- Atlases --------------------------------------------------------------------------------- */

/* Labels on a grid with their names. */
typedef struct {
    vxs_grid grid;
    int32_t *labels; /* a value per voxel, 0: background */
    size_t count;    /* distinct labels, ascending */
    int32_t *values;
    char **names;
    char *path; /* of the label image */
} vxs_atlas;
/* Reads a label image (float labels too, if they are integers) and the accompanying names: FSL XML
 * (which may also be given as path), FSLeyes .lut, MRIcroGL .txt, ITK-SNAP, BIDS dseg.tsv,
 * Schaefer's order.txt, FreeSurfer tables, or NUMBER|NAME lines. Labels without a name are named
 * "label 7". `names_path` NULL: searched. A name that is not a file is searched in the folders of
 * VOXSIFT_ATLASES, among the atlases of voxsift, in FSLDIR and in mricron-data. */
VXS_MUST_CHECK vxs_status vxs_atlas_read(const char *name, const char *names_path, vxs_atlas *atlas,
                                         vxs_error *err);
/* Tests for an atlas, as opposed to any image: an FSL XML, with a names file, or known by name and
 * readable as labels (the background icbm152 is not). */
bool vxs_atlas_is(const char *name);
/* library.c: the file of an image given by path or by name of the library. Freed by the caller. */
VXS_MUST_CHECK vxs_status vxs_atlas_locate(const char *name, char **path, vxs_error *err);
/* Resamples onto another grid: every voxel gets the label nearest to its center. */
VXS_MUST_CHECK vxs_status vxs_atlas_resample(const vxs_atlas *atlas, const vxs_grid *grid,
                                             int32_t *labels, vxs_error *err);
/* Index of a label value; count if the atlas does not contain it. */
size_t vxs_atlas_find(const vxs_atlas *atlas, int32_t value);
void vxs_atlas_release(vxs_atlas *atlas);

/* ---- Clusters -------------------------------------------------------------------------------- */

/* A connected set of voxels of one sign. Positions are mm (RAS+), indices count from 0. */
typedef struct {
    int sign; /* 1 or -1 */
    size_t voxels;
    double volume;     /* mm3 */
    double peak_value; /* value of largest size, with sign; ties go to the first voxel */
    double peak[3], peak_index[3];
    double center[3], center_index[3]; /* weighted by the size of the values */
    double mean, sum;
} vxs_cluster;

typedef struct {
    vxs_grid grid;
    vxs_cluster *rows; /* larger ones first, ties by first voxel; [k] has label k + 1 */
    size_t count;
    int32_t *labels; /* per voxel, 0 outside */
} vxs_clusters;

/* Clusters of voxels whose size exceeds the threshold, separately by sign; NaN never exceeds. Omits
 * those with fewer voxels than min_voxels. */
VXS_MUST_CHECK vxs_status vxs_clusters_find(const vxs_volume *map, double threshold,
                                            int connectivity, size_t min_voxels,
                                            vxs_clusters *clusters, vxs_error *err);
/* Connected regions of equal nonzero value: the fused regions of a fused lasso. */
VXS_MUST_CHECK vxs_status vxs_regions_find(const vxs_volume *map, int connectivity,
                                           vxs_clusters *regions, vxs_error *err);
void vxs_clusters_release(vxs_clusters *clusters);

/* Position of a cluster in an atlas: the label with most of its voxels (NULL if none), their
 * percentage, and the label at its peak (NULL: none). The atlas owns the texts. */
typedef struct {
    const char *label, *peak_label;
    double percent;
} vxs_overlap;
VXS_MUST_CHECK vxs_status vxs_clusters_overlap(const vxs_clusters *clusters, const vxs_atlas *atlas,
                                               vxs_overlap *rows, vxs_error *err);

/* Columns of cluster tables. Ends with name == NULL. */
typedef struct {
    const char *name, *meaning, *units;
} vxs_cluster_column;
extern const vxs_cluster_column vxs_cluster_columns[];
enum { VXS_CLUSTER_COLUMNS = 13 };
void vxs_cluster_numbers(const vxs_cluster *cluster, size_t number,
                         double values[VXS_CLUSTER_COLUMNS]);
void vxs_cluster_header(vxs_tsv_writer *writer);
void vxs_cluster_cells(vxs_tsv_writer *writer, const vxs_cluster *cluster, size_t number);
/* Writes ten digits, which removes the rounding noise of sums. */
void vxs_write_rounded(vxs_tsv_writer *writer, double value);

#ifdef __cplusplus
}
#endif

#endif
