/* voxsift/image.h - NIfTI and ANALYZE images, and their grids.
 *
 * Coordinates are millimeters, RAS+: x grows to the right, y to the front, z to the top of the
 * head. Voxel indices (i, j, k) count from 0; i runs fastest in memory and in files. */
#ifndef VOXSIFT_IMAGE_H
#define VOXSIFT_IMAGE_H

#include "voxsift/core.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
/* the declarations below are exported, all other symbols are hidden */
#pragma GCC visibility push(default)
#endif

/* ---- Grids ----------------------------------------------------------------------------------- */

/* Source of a grid's affine. */
typedef enum {
    VXS_AFFINE_SFORM,
    VXS_AFFINE_QFORM,
    VXS_AFFINE_NONE /* no orientation in the file: voxel sizes only, left and right unknown */
} vxs_affine_source;

typedef struct {
    size_t shape[3];
    double affine[4][4]; /* (i, j, k, 1) to (x, y, z, 1); never singular */
    vxs_affine_source source;
    bool sizes_invented; /* 1 mm for axes without size, and no affine */
    int sform_code,
        qform_code; /* as in the file: 0 unknown, 1 scanner, 2 aligned, 3 Talairach, 4 MNI */
} vxs_grid;
size_t vxs_grid_voxels(const vxs_grid *grid); /* SIZE_MAX if more than can be counted */
/* (x, y, z) of a voxel with real-valued indices. */
void vxs_grid_position(const vxs_grid *grid, const double index[3], double position[3]);
/* (i, j, k) of a voxel by its position in memory; NAN of one that is not in the grid. */
void vxs_grid_index(const vxs_grid *grid, size_t voxel, double index[3]);
/* Lengths of the three voxel edges in mm. */
void vxs_grid_voxel_size(const vxs_grid *grid, double size[3]);

/* ---- Images ---------------------------------------------------------------------------------- */

#define VXS_IMAGE_DIMENSIONS 7

/* An image as stored in its file; values are converted on access. */
typedef struct {
    vxs_grid grid;
    int ndim; /* as in the file, including trailing ones */
    size_t dims[VXS_IMAGE_DIMENSIONS];
    size_t volumes;          /* 1 for 3D, the length of the fourth dimension for 4D */
    const char *format;      /* "NIfTI-1", "NIfTI-2", "NIfTI-1 pair", "NIfTI-2 pair", "ANALYZE" */
    int datatype;            /* code of the NIfTI standard */
    double slope, intercept; /* value = slope * stored + intercept; 1 and 0 without scaling */
    int units;               /* xyzt_units */
    int intent_code;
    char intent_name[17], descrip[81];
    double cal_min, cal_max;
    double forms_distance; /* mm at a corner between sform and qform; 0 unless both are valid */

    const char *stored; /* private: the items, in the file's byte order */
    size_t item_size;
    bool swapped;
    char *owned;
} vxs_image;

/* Reads a .nii, .nii.gz, .hdr/.img or .hdr.gz/.img.gz file, by either name of a pair; the format is
 * detected from the bytes, not the name. Nothing is allocated before the header is checked. Errors:
 * complex and color images, more than four dimensions, truncated or damaged files. */
VXS_MUST_CHECK vxs_status vxs_image_read(const char *path, vxs_image *image, vxs_error *err);
void vxs_image_release(vxs_image *image);

/* ---- Volumes: one image in memory, as floats ------------------------------------------------- */

typedef struct {
    vxs_grid grid;
    float *values; /* freed by _release */
} vxs_volume;
/* Fails unless the grid has 1 to 2^31 - 1 voxels and a nonsingular affine, as for files. */
VXS_MUST_CHECK vxs_status vxs_volume_new(const vxs_grid *grid, vxs_volume *volume, vxs_error *err);
/* Volume number `number` of an image. */
VXS_MUST_CHECK vxs_status vxs_volume_from_image(const vxs_image *image, size_t number,
                                                vxs_volume *volume, vxs_error *err);
void vxs_volume_release(vxs_volume *volume);

typedef enum { VXS_NEAREST, VXS_LINEAR } vxs_interpolation;
/* Resamples onto another grid. Values are 0 at points more than half a voxel outside the volume.
 * Linear interpolation onto larger voxels averages over each of them. `result` must not be
 * `volume`. */
VXS_MUST_CHECK vxs_status vxs_volume_resample(const vxs_volume *volume, const vxs_grid *grid,
                                              vxs_interpolation interpolation, vxs_volume *result,
                                              vxs_error *err);
/* Gaussian smoothing along the voxel axes, full width at half maximum in mm. Inside the mask every
 * value is a weighted mean of values inside; 0 outside. NULL: the whole grid. */
VXS_MUST_CHECK vxs_status vxs_volume_smooth(vxs_volume *volume, double fwhm, const uint8_t *mask,
                                            vxs_error *err);

/* ---- Masks and components: one byte per voxel, 0 outside ------------------------------------- */

/* Voxels above a tenth of the robust range (2nd to 98th percentile) of the values, reduced to the
 * largest component, with holes filled. Fails if no voxel is above. */
VXS_MUST_CHECK vxs_status vxs_mask_auto(const vxs_volume *volume, uint8_t *mask, vxs_error *err);

/* ---- Writing --------------------------------------------------------------------------------- */

typedef enum { VXS_WRITE_FLOAT32, VXS_WRITE_UINT8, VXS_WRITE_INT32 } vxs_write_type;
typedef struct {
    vxs_write_type type;
    size_t volumes; /* 0 and 1: three dimensions */
    int intent_code;
    const char *intent_name; /* up to 15 bytes */
    double cal_min, cal_max; /* window for display; both 0: chosen by the viewer */
    const char *descrip;     /* up to 79 bytes */
} vxs_write_options;

/* Writes a .nii.gz with the affine as both sform and qform, their codes kept, mm, no scaling. The
 * type of `values` is that of the options. Longer texts are cut. `name` is used in messages. Check
 * ferror and the result of fclose for write errors. */
VXS_MUST_CHECK vxs_status vxs_image_write(FILE *stream, const char *name, const vxs_grid *grid,
                                          const vxs_write_options *options, const void *values,
                                          vxs_error *err);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
