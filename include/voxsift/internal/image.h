/* voxsift/internal/image.h - images, masks, atlases and clusters; for the library's rooms and the
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

/* What every grid keeps to before anything is allocated for it: 1 to VXS_MOST_VOXELS voxels (their
 * numbers are 32 bits wide) whose edges are 1e-9 to 1e9 mm, within 1e6 mm of each other and 1e9 mm
 * of the origin, by an affine that can be inverted. `what` stands before the message: "cannot read
 * 'x.nii'". */
#define VXS_MOST_VOXELS 2147483647
VXS_MUST_CHECK vxs_status vxs_grid_check(const vxs_grid *grid, const char *what, vxs_error *err);
/* The reverse of the affine; false when the affine is singular, which no image read by this library
 * has. */
bool vxs_grid_inverse(const vxs_grid *grid, double inverse[4][4]);
/* mm3 */
double vxs_grid_voxel_volume(const vxs_grid *grid);
/* Letters of the directions in which i, j and k grow: "RAS", "LAS", "PIR", ... */
void vxs_grid_orientation(const vxs_grid *grid, char letters[4]);
/* Largest angle between an edge of a voxel and the direction its letter stands for, in degrees. */
double vxs_grid_oblique(const vxs_grid *grid);
/* Both as words: "LAS", "RAS, oblique by 12.3 degrees", "orientation unknown". */
#define VXS_ORIENTATION_TEXT 64
const char *vxs_grid_orientation_text(const vxs_grid *grid, char text[VXS_ORIENTATION_TEXT]);
/* 1 when i, j, k form a right-handed system (as RAS does), -1 when a left-handed one (as LAS). */
int vxs_grid_handedness(const vxs_grid *grid);
/* The largest distance in mm between where the two put the same corner voxel; INFINITY when their
 * shapes differ. */
double vxs_grid_distance(const vxs_grid *a, const vxs_grid *b);
/* What is brought together with images says where it is, as they do, or neither does: where one is
 * silent, left and right may be exchanged. `what`: "mask", "atlas", of the file `path`. */
VXS_MUST_CHECK vxs_status vxs_grid_check_place(const vxs_grid *grid, const vxs_grid *images,
                                               const char *path, const char *what, vxs_error *err);

/* ---- Images ---------------------------------------------------------------------------------- */

/* With the SHA-256 of the file, or of both files of a pair, header first. */
VXS_MUST_CHECK vxs_status vxs_image_read_hashed(const char *path, vxs_image *image,
                                                char hash[VXS_HASH_TEXT], vxs_error *err);
/* All but the values (vxs_image_values and _floats may not be called): fast, for checks over whole
 * cohorts. Released in the same way. */
VXS_MUST_CHECK vxs_status vxs_image_read_header(const char *path, vxs_image *image, vxs_error *err);
/* The same as vxs_image_read on bytes in memory, of a single-file image; they must stay. */
VXS_MUST_CHECK vxs_status vxs_image_parse(const char *bytes, size_t length, const char *name,
                                          vxs_image *image, vxs_error *err);
/* "int16", "float32", ... */
const char *vxs_image_datatype_name(int datatype);
/* `count` values from item `first` on (volumes follow each other), scaled. Any thread may ask. */
void vxs_image_values(const vxs_image *image, size_t first, size_t count, double *values);
/* The same rounded to float: value by value the nearest float to what _values gives. */
void vxs_image_floats(const vxs_image *image, size_t first, size_t count, float *values);

/* Over the finite values. */
typedef struct {
    double min, max, sum; /* min and max NAN when nothing is finite */
    size_t nonfinite, zeros;
} vxs_image_summary;
void vxs_image_summarise(const vxs_image *image, vxs_image_summary *summary);

/* ---- Volumes: one image in memory, as floats ------------------------------------------------- */

/* The grid of the same field of view and orientation with voxels of `size` mm; VXS_MISUSE when
 * there would be too many of them (vxs_grid_check). */
VXS_MUST_CHECK vxs_status vxs_grid_with_voxel_size(const vxs_grid *grid, double size,
                                                   vxs_grid *result, vxs_error *err);

/* The value between voxel centres, linearly, and half a voxel beyond the outermost ones; 0 where
 * the volume has nothing. */
double vxs_volume_at(const vxs_volume *volume, const double index[3]);

/* ---- Packed images --------------------------------------------------------------------------- */

/* One volume in its stored type, without the zeros at both ends of every line of voxels: what an
 * image of a head needs to be kept in memory beside hundreds of others. */
typedef struct {
    vxs_image image; /* whose stored items are the spans, one after the other */
    struct vxs_packed_span *spans;
    size_t length, lines; /* voxels a line, but for the last one; and lines */
    size_t bytes;         /* memory taken */
    float outside;        /* value of the voxels that were left out */
} vxs_packed;
VXS_MUST_CHECK vxs_status vxs_image_pack(const vxs_image *image, size_t number, vxs_packed *packed,
                                         vxs_error *err);
/* The values of a line's span; returns how many they are, and where in the line the first stands.
 */
size_t vxs_packed_line(const vxs_packed *packed, size_t line, size_t *first, float *values);
/* The same with what stands around the span. */
void vxs_packed_whole_line(const vxs_packed *packed, size_t line, float *values);
/* All lines. */
VXS_MUST_CHECK vxs_status vxs_packed_volume(const vxs_packed *packed, vxs_volume *volume,
                                            vxs_error *err);
void vxs_packed_release(vxs_packed *packed);

/* ---- Masks and components: one byte a voxel, 0 outside --------------------------------------- */

/* Joined voxels get the same number, from 1; larger components come first, equal ones in the order
 * of their first voxel. Neighbours share a face (6), an edge as well (18) or a corner (26). */
VXS_MUST_CHECK vxs_status vxs_components(const uint8_t *mask, const size_t shape[3],
                                         int connectivity, int32_t *labels, size_t *count,
                                         vxs_error *err);
/* Likewise, where neighbours are joined only when they have the same value; values may be NULL. */
VXS_MUST_CHECK vxs_status vxs_components_of_equals(const uint8_t *mask, const float *values,
                                                   const size_t shape[3], int connectivity,
                                                   int32_t *labels, size_t *count, vxs_error *err);

/* ---- Atlases --------------------------------------------------------------------------------- */

/* Labels on a grid with their names. */
typedef struct {
    vxs_grid grid;
    int32_t *labels; /* a value a voxel, 0: nothing */
    size_t count;    /* different labels, ascending */
    int32_t *values;
    char **names;
    char *path; /* of the label image */
} vxs_atlas;
/* Reads a label image (float labels too, when they are whole numbers) and the names beside it: FSL
 * XML (which may also be given as path), FSLeyes .lut, MRIcroGL .txt, ITK-SNAP, BIDS dseg.tsv,
 * Schaefer's order.txt, FreeSurfer tables, or NUMBER|NAME lines. Labels without a name are called
 * "label 7". `names_path` NULL: the file is looked for. A name that is no file is looked for in the
 * folders of VOXSIFT_ATLASES, among what comes with voxsift, in FSLDIR and in mricron-data. */
VXS_MUST_CHECK vxs_status vxs_atlas_read(const char *name, const char *names_path, vxs_atlas *atlas,
                                         vxs_error *err);
/* Whether that is an atlas rather than any image: known by name, an FSL XML, or with names beside.
 */
bool vxs_atlas_is(const char *name);
/* The same atlas on another grid: every voxel has the label nearest to its centre. */
VXS_MUST_CHECK vxs_status vxs_atlas_resample(const vxs_atlas *atlas, const vxs_grid *grid,
                                             int32_t *labels, vxs_error *err);
/* Index of a label value, or count when the atlas has none such. */
size_t vxs_atlas_find(const vxs_atlas *atlas, int32_t value);
void vxs_atlas_release(vxs_atlas *atlas);

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
/* Voxels of one value that hang together, but for 0: what the fused lasso makes. */
VXS_MUST_CHECK vxs_status vxs_pieces_find(const vxs_volume *map, int connectivity,
                                          vxs_clusters *pieces, vxs_error *err);
void vxs_clusters_release(vxs_clusters *clusters);

/* Where a cluster lies in an atlas: the label with most of its voxels (NULL when it touches none),
 * how many per cent that is, and the label at its peak (NULL: none). Texts belong to the atlas. */
typedef struct {
    const char *label, *peak_label;
    double percent;
} vxs_overlap;
VXS_MUST_CHECK vxs_status vxs_clusters_overlap(const vxs_clusters *clusters, const vxs_atlas *atlas,
                                               vxs_overlap *rows, vxs_error *err);

/* What a table says of a cluster that has this number in it. Ends with name == NULL. */
typedef struct {
    const char *name, *meaning, *units;
} vxs_cluster_column;
extern const vxs_cluster_column vxs_cluster_columns[];
enum { VXS_CLUSTER_COLUMNS = 13 };
void vxs_cluster_numbers(const vxs_cluster *cluster, size_t number,
                         double values[VXS_CLUSTER_COLUMNS]);
void vxs_cluster_header(vxs_tsv_writer *writer);
void vxs_cluster_cells(vxs_tsv_writer *writer, const vxs_cluster *cluster, size_t number);
/* A cell of ten digits: more than anybody reads, and free of the dust of sums. */
void vxs_write_rounded(vxs_tsv_writer *writer, double value);

#ifdef __cplusplus
}
#endif

#endif
