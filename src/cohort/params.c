/* params.c - the choices in making a cohort. */
#include "voxsift/internal/cohort.h"

#include <math.h>

#define AT(member) offsetof(vxs_cohort_settings, member)

static const char *const scales[] = { "none", "global", "suvr", "z", NULL };
static const char *const nan_policies[] = { "zero", "drop", "error", NULL };

const vxs_param vxs_source_params[] = {
    VXS_TEXT_ROW("image-column", "NAME", AT(image_column),
                 "column of the table that has the images, relative to the table"),
    VXS_TEXT_ROW("pattern", "TEXT", AT(pattern),
                 "where the image of a row is, with {column} for its cells: "
                 "'{participant_id}/anat/{participant_id}_T1w.nii.gz'"),
    VXS_PATH_ROW("participants", "TABLE", AT(participants),
                 "table to join to images that were given as a folder, a list or a pattern"),
    VXS_TEXT_ROW(
        "id-column", "NAME", AT(id_column),
        "column with an id for each row, such as that of the scan; default participant_id"),
    VXS_TEXT_ROW(
        "person", "COLUMN", AT(person),
        "column that says whose row it is; default: participant_id, subject and the like "
        "beside the column of ids, else ids such as sub-X_ses-Y; the column of ids itself: "
        "each row is a person"),
    VXS_PATH_ROW(
        "rows", "TABLE", AT(rows),
        "what the volumes of a 4D image, or the rows of --npy, are: one row each, in order"),
    VXS_TEXT_ROW("row-names", "A,B", AT(row_names),
                 "names of the columns of --rows, when it has no header"),
    VXS_TEXTS_ROW("only", "EXPR", AT(only), VXS_ONLY_HELP),
    VXS_TEXTS_ROW("exclude", "EXPR", AT(exclude), VXS_EXCLUDE_HELP),
    VXS_PATH_ROW("feature-table", "TABLE", AT(features),
                 "instead of images: a table of ids and numbers, a feature a column"),
    VXS_PATH_ROW("npy", "FILE", AT(npy), "instead of images: a matrix, subjects x features"),
    VXS_PATH_ROW("svmlight", "FILE", AT(svmlight),
                 "instead of images: targets and features as svmlight text; features that a line "
                 "does not name are 0"),
    VXS_FLAG_ROW("resample", AT(resample),
                 "bring images and mask onto the grid of the first image when theirs differs"),
    VXS_FLAG_ROW("drop-bad", AT(drop_bad),
                 "go on without subjects that cannot be used, and list them"),
    VXS_BYTES_ROW("mem", "SIZE", AT(mem), 2147483648.0, 67108864, INFINITY, "memory to stay below"),
    { .name = NULL },
};

const vxs_param vxs_cohort_params[] = {
    VXS_PATH_ROW("mask", "FILE", AT(mask),
                 "voxels to use; without it they are found from the mean image"),
    VXS_REAL_ROW("mask-fraction", "SHARE", AT(mask_fraction), NAN, 0, 1,
                 "use voxels where at least this share of the subjects has signal (is not 0); with "
                 "--mask only such voxels inside it"),
    VXS_REAL_ROW("tolerance", "MM", AT(tolerance), 0.1, 0, 10,
                 "grids whose corners are nearer than this are the same"),
    VXS_REAL_ROW("voxel-size", "MM", AT(voxel_size), NAN, 0.1, 100,
                 "resample all to voxels of this size; larger ones hold the mean"),
    VXS_REAL_ROW("smooth", "MM", AT(smooth), 0, 0, 100,
                 "smooth inside the mask; full width at half maximum"),
    VXS_CHOICE_ROW("scale", "WAY", AT(scale), 0, scales,
                   "scale each image: global divides by its mean in the mask, suvr by its mean in "
                   "--reference, z takes mean and standard deviation in the mask"),
    VXS_PATH_ROW("reference", "FILE", AT(reference),
                 "reference region for suvr: a mask, or an atlas with --reference-labels"),
    VXS_TEXT_ROW("reference-labels", "N,N", AT(reference_labels),
                 "labels of the atlas in --reference that make the reference region"),
    VXS_PATH_ROW("atlas", "FILE", AT(atlas),
                 "atlas for --regions: a file, or a name such as schaefer100 or aal"),
    VXS_PATH_ROW("atlas-names", "FILE", AT(atlas_names),
                 "names of the atlas's labels, when they are not in a file beside it"),
    VXS_FLAG_ROW("regions", AT(regions),
                 "features are the means of the atlas's regions, not voxels"),
    VXS_CHOICE_ROW(
        "nan", "WAY", AT(nan), 0, nan_policies,
        "values that are NaN or infinite: count as 0, drop the voxel for everybody, or refuse"),
    VXS_FLAG_ROW("dry-run", AT(dry_run),
                 "make all checks and say what would be made, without making it"),
    { .name = NULL },
};
