/* params.c - the parameters of making a cohort. */
#include "cohort/patches.h"

#include <math.h>

#define AT(member) offsetof(vxs_cohort_settings, member)
#define OF(member) offsetof(vxs_patch_settings, member)

/* Rows of cohorts of subjects and of voxels. */
#define ID_COLUMN_ROW(at)                                                                          \
    VXS_TEXT_ROW("id-column", "NAME", at,                                                          \
                 "column with a unique id for each row, such as a scan id; default "               \
                 "participant_id",                                                                 \
                 .head = VXS_HEAD_DATA, .usual = true)
#define PERSON_ROW(at)                                                                             \
    VXS_TEXT_ROW("person", "COLUMN", at,                                                           \
                 "column that identifies the person of each row; default: see 'voxsift help "      \
                 "persons'",                                                                       \
                 .head = VXS_HEAD_DATA, .usual = true,                                             \
                 .more = "The column of ids itself: each row is one person.")
#define DROP_BAD_ROW(at)                                                                           \
    VXS_FLAG_ROW("drop-bad", at, "leave out subjects that cannot be used, and list them",          \
                 .head = VXS_HEAD_DATA)
#define MEM_ROW(at)                                                                                \
    VXS_BYTES_ROW("mem", "SIZE", at, 2147483648.0, 67108864, INFINITY, "memory limit; default 2G", \
                  .head = VXS_HEAD_PERFORMANCE)
#define TOLERANCE_ROW(at)                                                                          \
    VXS_REAL_ROW("tolerance", "MM", at, 0.1, 0, 10,                                                \
                 "largest distance in mm between corners of grids that count as the same",         \
                 .head = VXS_HEAD_IMAGES)
#define DRY_RUN_ROW(at)                                                                            \
    VXS_FLAG_ROW("dry-run", at, "check everything and report, without writing",                    \
                 .head = VXS_HEAD_OUTPUT, .usual = true)

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
    ID_COLUMN_ROW(AT(id_column)),
    PERSON_ROW(AT(person)),
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
    VXS_FLAG_ROW(
        "resample", AT(resample),
        "resample images and mask to one grid: that of the first image, or in predict that of "
        "the model",
        .head = VXS_HEAD_IMAGES),
    DROP_BAD_ROW(AT(drop_bad)),
    MEM_ROW(AT(mem)),
    { .name = NULL },
};

const vxs_param vxs_cohort_params[] = {
    VXS_PATH_ROW("mask", "FILE", AT(mask), "mask image; default: computed from the mean image",
                 .head = VXS_HEAD_IMAGES, .usual = true),
    VXS_REAL_ROW(
        "mask-fraction", "SHARE", AT(mask_fraction), NAN, 0, 1,
        "the mask: voxels that are nonzero in at least this fraction of the subjects; with "
        "--mask those of them in the file",
        .head = VXS_HEAD_IMAGES),
    TOLERANCE_ROW(AT(tolerance)),
    VXS_REAL_ROW("voxel-size", "MM", AT(voxel_size), NAN, 0.1, 100,
                 "resample all images to voxels of this size in mm", .head = VXS_HEAD_IMAGES),
    VXS_REAL_ROW("smooth", "MM", AT(smooth), 0, 0, 100,
                 "smooth within the mask by a Gaussian of this full width at half maximum in mm",
                 .head = VXS_HEAD_IMAGES, .usual = true),
    VXS_CHOICE_ROW("scale", "WAY", AT(scale), 0, scales, "intensity normalization of each image",
                   .head = VXS_HEAD_IMAGES,
                   .more = "global divides by the mean in the mask, suvr by the mean in "
                           "--reference; z subtracts the mean in the mask and divides by the "
                           "standard deviation."),
    VXS_PATH_ROW("reference", "FILE", AT(reference),
                 "with --scale suvr: reference region, a mask or an atlas (file or name) with "
                 "--reference-labels",
                 .head = VXS_HEAD_IMAGES),
    VXS_TEXT_ROW(
        "reference-labels", "A,B", AT(reference_labels),
        "labels of the --reference atlas that make the reference region, by number or name",
        .head = VXS_HEAD_IMAGES),
    VXS_PATH_ROW("atlas", "FILE", AT(atlas),
                 "atlas for --regions: a file, or a name such as schaefer100",
                 .head = VXS_HEAD_IMAGES),
    VXS_PATH_ROW("atlas-names", "FILE", AT(atlas_names),
                 "names of the atlas's labels; default: the file next to it",
                 .head = VXS_HEAD_IMAGES),
    VXS_FLAG_ROW("regions", AT(regions), "use means of atlas regions as features, not voxels",
                 .head = VXS_HEAD_IMAGES),
    VXS_CHOICE_ROW("nan", "WAY", AT(nan), 0, nan_policies,
                   "NaN or infinite values: set to 0, drop the voxel in all subjects, or refuse",
                   .head = VXS_HEAD_IMAGES),
    DRY_RUN_ROW(AT(dry_run)),
    { .name = NULL },
};

const char *const vxs_patch_scales[] = { "none", "global", "z", NULL };

const vxs_param vxs_patch_params[] = {
    VXS_TEXT_ROW("image-column", "A,B", OF(sources.image_column),
                 "columns with the images' paths, one a contrast", .head = VXS_HEAD_DATA,
                 .usual = true),
    VXS_TEXT_ROW("label-column", "NAME", OF(label_column), "column with the paths of label images",
                 .head = VXS_HEAD_DATA, .usual = true),
    VXS_REAL_ROW("label-threshold", "X", OF(label_threshold), NAN, -1e30, 1e30,
                 "labels above X are class 1, all others 0; default: each label is a class",
                 .head = VXS_HEAD_DATA, .usual = true,
                 .more = "Without it labels are whole numbers."),
    ID_COLUMN_ROW(OF(sources.id_column)),
    PERSON_ROW(OF(sources.person)),
    VXS_TEXTS_ROW("only", "EXPR", OF(sources.only), VXS_ONLY_HELP),
    VXS_TEXTS_ROW("exclude", "EXPR", OF(sources.exclude), VXS_EXCLUDE_HELP),
    DROP_BAD_ROW(OF(sources.drop_bad)),
    VXS_TEXT_ROW("mask", "WHICH", OF(mask),
                 "voxels that may be rows: nonzero (of the first contrast; the default), auto (as "
                 "in 'voxsift cohort', of each subject's first contrast), or an image",
                 .head = VXS_HEAD_IMAGES),
    VXS_TEXT_ROW("mask-column", "NAME", OF(mask_column),
                 "column of the table with the paths of each subject's mask",
                 .head = VXS_HEAD_IMAGES),
    VXS_WHOLE_ROW("patch", "N", OF(patch), 3, 1, 15,
                  "edge of the patch around a voxel, in voxels, odd; 1: the voxel alone",
                  .head = VXS_HEAD_IMAGES, .usual = true),
    VXS_TEXT_ROW("means", "MM,...", OF(means),
                 "also the mean of each contrast within these distances in mm of the voxel",
                 .head = VXS_HEAD_IMAGES),
    VXS_FLAG_ROW("coordinates", OF(coordinates), "also the voxel's x, y and z in mm as features",
                 .head = VXS_HEAD_IMAGES, .usual = true),
    VXS_CHOICE_ROW("scale", "WAY", OF(scale), 0, vxs_patch_scales,
                   "intensity normalization of each image", .head = VXS_HEAD_IMAGES,
                   .more = "global divides by the mean in the mask; z subtracts it and divides by "
                           "the standard deviation."),
    TOLERANCE_ROW(OF(sources.tolerance)),
    VXS_WHOLE_ROW("per-class", "N", OF(per_class), 20, 1, 1e9,
                  "voxels that are drawn from each class of each subject; all if it has fewer",
                  .head = VXS_HEAD_IMAGES, .usual = true),
    VXS_WHOLE_ROW("seed", "N", OF(seed), 1, 0, 1e15, "seed of the random numbers",
                  .head = VXS_HEAD_IMAGES),
    MEM_ROW(OF(sources.mem)),
    DRY_RUN_ROW(OF(sources.dry_run)),
    { .name = NULL },
};
