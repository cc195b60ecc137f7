/* params.c - the parameters of making a cohort. */
#include "voxsift/internal/cohort.h"

#include <math.h>

#define AT(member) offsetof(vxs_cohort_settings, member)

static const char *const scales[] = { "none", "global", "suvr", "z", NULL };
static const char *const nan_policies[] = { "zero", "drop", "error", NULL };

const vxs_param vxs_source_params[] = {
    VXS_TEXT_ROW("image-column", "NAME", AT(image_column),
                 "column of the table with the images' paths, relative to the table",
                 .head = VXS_HEAD_DATA, .usual = true),
    VXS_TEXT_ROW("pattern", "TEXT", AT(pattern),
                 "image path relative to the table, columns in braces: "
                 "'{participant_id}/anat/{participant_id}_T1w.nii.gz'",
                 .head = VXS_HEAD_DATA, .usual = true),
    VXS_PATH_ROW("participants", "TABLE", AT(participants),
                 "table to join to images given as a folder, a list or a pattern",
                 .head = VXS_HEAD_DATA, .usual = true),
    VXS_TEXT_ROW("id-column", "NAME", AT(id_column),
                 "column with a unique id for each row, such as a scan id; default participant_id",
                 .head = VXS_HEAD_DATA, .usual = true),
    VXS_TEXT_ROW("person", "COLUMN", AT(person),
                 "column that identifies the person of each row; default: see 'voxsift help "
                 "persons'",
                 .head = VXS_HEAD_DATA, .usual = true,
                 .more = "The column of ids itself: each row is one person."),
    VXS_PATH_ROW("rows", "TABLE", AT(rows),
                 "table with a row for each volume of a 4D image, or each row of --npy",
                 .head = VXS_HEAD_DATA),
    VXS_TEXT_ROW("row-names", "A,B", AT(row_names),
                 "names of the columns of --rows, if it has no header", .head = VXS_HEAD_DATA),
    VXS_TEXTS_ROW("only", "EXPR", AT(only), VXS_ONLY_HELP),
    VXS_TEXTS_ROW("exclude", "EXPR", AT(exclude), VXS_EXCLUDE_HELP),
    VXS_PATH_ROW("feature-table", "TABLE", AT(features),
                 "instead of images: a table of ids and numbers, one feature per column",
                 .head = VXS_HEAD_DATA),
    VXS_PATH_ROW("npy", "FILE", AT(npy), "instead of images: a matrix, subjects x features",
                 .head = VXS_HEAD_DATA),
    VXS_PATH_ROW("svmlight", "FILE", AT(svmlight),
                 "instead of images: targets and features as svmlight text; absent features are 0",
                 .head = VXS_HEAD_DATA),
    VXS_FLAG_ROW("resample", AT(resample),
                 "resample images and mask to the grid of the first image", .head = VXS_HEAD_MODEL),
    VXS_FLAG_ROW("drop-bad", AT(drop_bad), "leave out subjects that cannot be used, and list them",
                 .head = VXS_HEAD_DATA),
    VXS_BYTES_ROW("mem", "SIZE", AT(mem), 2147483648.0, 67108864, INFINITY,
                  "memory limit; default 2G", .head = VXS_HEAD_PERFORMANCE),
    { .name = NULL },
};

const vxs_param vxs_cohort_params[] = {
    VXS_PATH_ROW("mask", "FILE", AT(mask), "mask image; default: computed from the mean image",
                 .head = VXS_HEAD_MODEL, .usual = true),
    VXS_REAL_ROW("mask-fraction", "SHARE", AT(mask_fraction), NAN, 0, 1,
                 "restrict the mask to voxels that are nonzero in at least this fraction of the "
                 "subjects",
                 .head = VXS_HEAD_MODEL),
    VXS_REAL_ROW("tolerance", "MM", AT(tolerance), 0.1, 0, 10,
                 "largest distance in mm between corners of grids that count as the same",
                 .head = VXS_HEAD_MODEL),
    VXS_REAL_ROW("voxel-size", "MM", AT(voxel_size), NAN, 0.1, 100,
                 "resample all images to voxels of this size in mm", .head = VXS_HEAD_MODEL),
    VXS_REAL_ROW("smooth", "MM", AT(smooth), 0, 0, 100,
                 "smooth within the mask by a Gaussian of this full width at half maximum in mm",
                 .head = VXS_HEAD_MODEL, .usual = true),
    VXS_CHOICE_ROW("scale", "WAY", AT(scale), 0, scales, "intensity normalization of each image",
                   .head = VXS_HEAD_MODEL,
                   .more = "global divides by the mean in the mask, suvr by the mean in "
                           "--reference; z subtracts the mean in the mask and divides by the "
                           "standard deviation."),
    VXS_PATH_ROW("reference", "FILE", AT(reference),
                 "with --scale suvr: reference region, a mask or an atlas (file or name) with "
                 "--reference-labels",
                 .head = VXS_HEAD_MODEL),
    VXS_TEXT_ROW(
        "reference-labels", "A,B", AT(reference_labels),
        "labels of the --reference atlas that make the reference region, by number or name",
        .head = VXS_HEAD_MODEL),
    VXS_PATH_ROW("atlas", "FILE", AT(atlas),
                 "atlas for --regions: a file, or a name such as schaefer100",
                 .head = VXS_HEAD_MODEL),
    VXS_PATH_ROW("atlas-names", "FILE", AT(atlas_names),
                 "names of the atlas's labels; default: the file next to it",
                 .head = VXS_HEAD_MODEL),
    VXS_FLAG_ROW("regions", AT(regions), "use means of atlas regions as features, not voxels",
                 .head = VXS_HEAD_MODEL),
    VXS_CHOICE_ROW("nan", "WAY", AT(nan), 0, nan_policies,
                   "NaN or infinite values: set to 0, drop the voxel in all subjects, or refuse",
                   .head = VXS_HEAD_MODEL),
    VXS_FLAG_ROW("dry-run", AT(dry_run), "check everything and report, without writing",
                 .head = VXS_HEAD_OUTPUT, .usual = true),
    { .name = NULL },
};
