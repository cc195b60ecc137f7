/* header.c - image headers, checked before anything is allocated.
 *
 * Our checks come first; nifticlib computes the transforms (its rules for qform, quaternion and
 * handedness are the reference). NIfTI-1, NIfTI-2 and ANALYZE are converted into one struct of
 * fields. */
#include "image/header.h"

#include <math.h>
#include <nifti2_io.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define NIFTI1_SIZE 348
#define NIFTI2_SIZE 540
#define MAX_ITEMS   (PTRDIFF_MAX / 16) /* of the largest item, with room for an offset */

typedef struct {
    int code;
    const char *name;
    size_t size;        /* 0: unsupported */
    const char *remedy; /* suggestion for an unsupported type */
} datatype_row;

#define ONE_PART "give one part, such as the magnitude, as an image of its own"
#define NUMBERS  "give the map of numbers behind the colors, not the picture"

static const datatype_row datatypes[] = {
    { NIFTI_TYPE_UINT8, "uint8", 1, NULL },
    { NIFTI_TYPE_INT16, "int16", 2, NULL },
    { NIFTI_TYPE_INT32, "int32", 4, NULL },
    { NIFTI_TYPE_FLOAT32, "float32", 4, NULL },
    { NIFTI_TYPE_FLOAT64, "float64", 8, NULL },
    { NIFTI_TYPE_INT8, "int8", 1, NULL },
    { NIFTI_TYPE_UINT16, "uint16", 2, NULL },
    { NIFTI_TYPE_UINT32, "uint32", 4, NULL },
    { NIFTI_TYPE_INT64, "int64", 8, NULL },
    { NIFTI_TYPE_UINT64, "uint64", 8, NULL },
    { NIFTI_TYPE_COMPLEX64, "complex (complex64)", 0, ONE_PART },
    { NIFTI_TYPE_COMPLEX128, "complex (complex128)", 0, ONE_PART },
    { NIFTI_TYPE_COMPLEX256, "complex (complex256)", 0, ONE_PART },
    { NIFTI_TYPE_RGB24, "colors (RGB24)", 0, NUMBERS },
    { NIFTI_TYPE_RGBA32, "colors (RGBA32)", 0, NUMBERS },
    { NIFTI_TYPE_FLOAT128, "float128", 0, "store them as float64" },
    { 1, "single bits (binary)", 0, "store them as uint8" },
};

/* Common fields of all versions. */
typedef struct {
    const char *name;
    const char *format;
    bool swapped, pair, analyze;
    int64_t dim[8];
    int datatype;
    double pixdim[8], offset, slope, intercept, cal_min, cal_max;
    int units, intent_code, sform_code, qform_code;
    char intent_name[16], descrip[80];
    nifti_1_header one;
    nifti_2_header two;
    bool is_two;
} fields;

static const datatype_row *find_datatype(int code)
{
    for (size_t i = 0; i < sizeof(datatypes) / sizeof(datatypes[0]); i++)
        if (datatypes[i].code == code)
            return &datatypes[i];
    return NULL;
}

const char *vxs_image_datatype_name(int datatype)
{
    const datatype_row *row = find_datatype(datatype);
    return row ? row->name : "unknown";
}

size_t vxs_datatype_size(int datatype)
{
    const datatype_row *row = find_datatype(datatype);
    return row ? row->size : 0;
}

static vxs_status refuse(const fields *f, const char *why, vxs_error *err)
{
    return vxs_fail(err, VXS_BAD_DATA, "cannot read '%s': %s", f->name, why);
}

/* ---- Conversion of both versions ------------------------------------------------------------- */

static void convert_nifti1(fields *f)
{
    const nifti_1_header *h = &f->one;
    f->analyze = memcmp(h->magic, "n+1", 4) != 0 && memcmp(h->magic, "ni1", 4) != 0;
    f->pair = f->analyze || h->magic[1] == 'i';
    f->format = f->analyze ? "ANALYZE" : f->pair ? "NIfTI-1 pair" : "NIfTI-1";
    for (int d = 0; d < 8; d++) {
        f->dim[d] = h->dim[d];
        f->pixdim[d] = (double)h->pixdim[d];
    }
    f->datatype = h->datatype;
    f->offset = (double)h->vox_offset;
    f->slope = (double)h->scl_slope; /* SPM's ANALYZE stores its scale in the same four bytes */
    f->intercept = f->analyze ? 0 : (double)h->scl_inter;
    f->cal_min = (double)h->cal_min;
    f->cal_max = (double)h->cal_max;
    f->sform_code = f->analyze ? 0 : h->sform_code;
    f->qform_code = f->analyze ? 0 : h->qform_code;
    f->units = f->analyze ? 0 : (unsigned char)h->xyzt_units;
    f->intent_code = f->analyze ? 0 : h->intent_code;
    memcpy(f->intent_name, h->intent_name, sizeof(f->intent_name));
    memcpy(f->descrip, h->descrip, sizeof(f->descrip));
    if (f->analyze)
        memset(f->intent_name, 0, sizeof(f->intent_name));
}

static void convert_nifti2(fields *f)
{
    const nifti_2_header *h = &f->two;
    f->pair = h->magic[1] == 'i';
    f->format = f->pair ? "NIfTI-2 pair" : "NIfTI-2";
    for (int d = 0; d < 8; d++) {
        f->dim[d] = h->dim[d];
        f->pixdim[d] = h->pixdim[d];
    }
    f->datatype = h->datatype;
    f->offset = (double)h->vox_offset;
    f->slope = h->scl_slope;
    f->intercept = h->scl_inter;
    f->cal_min = h->cal_min;
    f->cal_max = h->cal_max;
    f->sform_code = h->sform_code;
    f->qform_code = h->qform_code;
    f->units = h->xyzt_units;
    f->intent_code = h->intent_code;
    memcpy(f->intent_name, h->intent_name, sizeof(f->intent_name));
    memcpy(f->descrip, h->descrip, sizeof(f->descrip));
}

static int32_t swapped_int(int32_t value)
{
    return (int32_t)__builtin_bswap32((uint32_t)value);
}

/* The first four bytes are the header's size, which identifies version and byte order. */
static vxs_status recognize(const char *bytes, size_t length, fields *f, vxs_error *err)
{
    int32_t size = 0;
    if (length == 0)
        return refuse(f, "it is empty", err);
    if (length >= sizeof(size))
        memcpy(&size, bytes, sizeof(size));
    f->swapped = size == swapped_int(NIFTI1_SIZE) || size == swapped_int(NIFTI2_SIZE);
    size = f->swapped ? swapped_int(size) : size;
    if (size != NIFTI1_SIZE && size != NIFTI2_SIZE)
        return refuse(f, "it is not a NIfTI or ANALYZE image", err);
    if (length < (size_t)size)
        return refuse(f, "its header is truncated", err);
    f->is_two = size == NIFTI2_SIZE;
    if (f->is_two) {
        memcpy(&f->two, bytes, NIFTI2_SIZE);
        if (memcmp(f->two.magic, "n+2", 4) != 0 && memcmp(f->two.magic, "ni2", 4) != 0)
            return refuse(f, "its header has the size of NIfTI-2, but not its mark", err);
        if (f->swapped)
            nifti_swap_as_nifti2(&f->two);
        convert_nifti2(f);
        return VXS_OK;
    }
    memcpy(&f->one, bytes, NIFTI1_SIZE);
    if (f->swapped)
        nifti_swap_as_nifti1(&f->one);
    convert_nifti1(f);
    /* ANALYZE has other fields at the position of the mark; letters there are a damaged mark */
    if (f->analyze && f->one.magic[0] == 'n')
        return refuse(f, "its mark is neither 'n+1' nor 'ni1'", err);
    return VXS_OK;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static vxs_status check_dims(const fields *f, vxs_error *err)
{
    int64_t items = 1, more = 1;
    if (f->dim[0] < 1 || f->dim[0] > 7)
        return vxs_fail(err, VXS_BAD_DATA, "cannot read '%s': its header has %lld dimensions",
                        f->name, (long long)f->dim[0]);
    for (int64_t d = 1; d <= f->dim[0]; d++) {
        if (f->dim[d] < 1)
            return vxs_fail(err, VXS_BAD_DATA, "cannot read '%s': dimension %lld has size %lld",
                            f->name, (long long)d, (long long)f->dim[d]);
        if (f->dim[d] > MAX_ITEMS / items)
            return refuse(f, "its dimensions are too large for this machine", err);
        items *= f->dim[d];
        more *= d > 4 ? f->dim[d] : 1;
    }
    if (more > 1)
        return vxs_fail(
            err, VXS_BAD_DATA,
            "cannot read '%s': it has %lld dimensions, with %lld values a voxel%s; give "
            "one of them, or the length of a vector, as an image of three or four",
            f->name, (long long)f->dim[0], (long long)more,
            f->intent_code == NIFTI_INTENT_VECTOR || f->intent_code == NIFTI_INTENT_DISPVECT
                ? " (vectors)"
                : "");
    return VXS_OK;
}

/* CIFTI-2 is a matrix in a NIfTI-2 file, recognized by its intent and first extension. */
static vxs_status check_cifti(const fields *f, const char *bytes, size_t length, vxs_error *err)
{
    int32_t code = 0;
    bool extended = f->is_two && length >= NIFTI2_SIZE + 12 && bytes[NIFTI2_SIZE] != 0;
    if (extended)
        memcpy(&code, bytes + NIFTI2_SIZE + 8, sizeof(code));
    code = f->swapped ? swapped_int(code) : code;
    bool intent = f->is_two && f->intent_code >= 3000 && f->intent_code < 3100;
    if (!intent && code != NIFTI_ECODE_CIFTI)
        return VXS_OK;
    return refuse(f,
                  "it is a CIFTI-2 file, a matrix of grayordinates and no volume; give its volume "
                  "('wb_command -cifti-separate' writes one), or its numbers with --npy or "
                  "--feature-table",
                  err);
}

static vxs_status check_datatype(const fields *f, vxs_error *err)
{
    const datatype_row *row = find_datatype(f->datatype);
    if (!row)
        return vxs_fail(err, VXS_BAD_DATA, "cannot read '%s': data type %d is unknown", f->name,
                        f->datatype);
    if (row->size == 0)
        return vxs_fail(err, VXS_BAD_DATA,
                        "cannot read '%s': its values are %s; integers or floats of at most 64 "
                        "bits are read: %s",
                        f->name, row->name, row->remedy);
    return VXS_OK;
}

/* The items of a single file cannot overlap the header; some writers leave the field at 0, which
 * means the first valid offset. */
static vxs_status find_offset(const fields *f, size_t *offset, vxs_error *err)
{
    double least = f->pair ? 0 : f->is_two ? NIFTI2_SIZE + 4 : NIFTI1_SIZE + 4;
    double required = f->offset == 0 ? least : f->offset;
    if (!(required >= least && required <= 9e15))
        return vxs_fail(err, VXS_BAD_DATA, "cannot read '%s': its data offset is %g", f->name,
                        f->offset);
    *offset = (size_t)required;
    return VXS_OK;
}

/* ---- Transforms ------------------------------------------------------------------------------ */

/* Tests whether the transform is usable as the grid's affine. */
static bool usable(const vxs_grid *grid, double m[4][4])
{
    vxs_grid tried = *grid;
    memcpy(tried.affine, m, sizeof(tried.affine));
    return vxs_grid_check(&tried, "", NULL) == VXS_OK;
}

/* Voxel sizes on the diagonal, 1 where the file has none. */
static void plain_affine(const fields *f, vxs_grid *grid)
{
    memset(grid->affine, 0, sizeof(grid->affine));
    grid->affine[3][3] = 1;
    for (int d = 0; d < 3; d++) {
        double size = fabs(f->pixdim[d + 1]);
        bool given = size >= 1e-9 && size <= 1e9;
        grid->affine[d][d] = given ? size : 1;
        grid->sizes_invented = grid->sizes_invented || !given;
    }
}

static void silence_nifti(void)
{
    nifti_set_debug_level(0);
}

static nifti_image *transforms(const fields *f)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, silence_nifti);
    return f->is_two ? nifti_convert_n2hdr2nim(f->two, NULL)
                     : nifti_convert_n1hdr2nim(f->one, NULL);
}

static void compare_forms(const double sform[4][4], const double qform[4][4], vxs_image *image)
{
    vxs_grid s = image->grid, q = image->grid;
    memcpy(s.affine, sform, sizeof(s.affine));
    memcpy(q.affine, qform, sizeof(q.affine));
    image->forms_distance = vxs_grid_distance(&s, &q);
}

static vxs_status check_grid(const fields *f, const vxs_grid *grid, vxs_error *err)
{
    char *what = vxs_format(err, "cannot read '%s'", f->name);
    vxs_status status = what ? vxs_grid_check(grid, what, err) : VXS_FAILED;
    free(what);
    return status;
}

/* The sform if given and usable, else the qform, else voxel sizes alone. */
static vxs_status set_grid(const fields *f, vxs_image *image, vxs_error *err)
{
    vxs_grid *grid = &image->grid;
    for (int d = 0; d < 3; d++)
        grid->shape[d] = f->dim[0] > d ? (size_t)f->dim[d + 1] : 1;
    grid->sform_code = f->sform_code;
    grid->qform_code = f->qform_code;
    grid->source = VXS_AFFINE_NONE;
    plain_affine(f, grid);
    if (f->analyze)
        return check_grid(f, grid, err);
    nifti_image *nim = transforms(f);
    if (!nim)
        return refuse(f, "nifticlib rejects its header", err);
    bool sform = f->sform_code > 0 && usable(grid, nim->sto_xyz.m);
    bool qform = f->qform_code > 0 && usable(grid, nim->qto_xyz.m);
    if (sform || qform) {
        grid->source = sform ? VXS_AFFINE_SFORM : VXS_AFFINE_QFORM;
        grid->sizes_invented = false;
        memcpy(grid->affine, sform ? nim->sto_xyz.m : nim->qto_xyz.m, sizeof(grid->affine));
    }
    if (sform && qform)
        compare_forms((const double(*)[4])nim->sto_xyz.m, (const double(*)[4])nim->qto_xyz.m,
                      image);
    nifti_image_free(nim);
    return check_grid(f, grid, err);
}

/* ---- Entry points ---------------------------------------------------------------------------- */

/* Copies a fixed field up to its first zero. */
static void copy_text(char *to, const char *from, size_t size)
{
    size_t length = 0;
    while (length < size && from[length])
        length++;
    memcpy(to, from, length);
    to[length] = '\0';
}

static void set_fields(const fields *f, vxs_image *image)
{
    image->ndim = (int)f->dim[0];
    for (int d = 0; d < image->ndim; d++)
        image->dims[d] = (size_t)f->dim[d + 1];
    image->volumes = f->dim[0] > 3 ? (size_t)f->dim[4] : 1;
    image->format = f->format;
    image->datatype = f->datatype;
    image->item_size = vxs_datatype_size(f->datatype);
    image->swapped = f->swapped && image->item_size > 1;
    bool scaled = isfinite(f->slope) && f->slope != 0;
    image->slope = scaled ? f->slope : 1;
    image->intercept = scaled && isfinite(f->intercept) ? f->intercept : 0;
    image->units = f->units;
    image->intent_code = f->intent_code;
    copy_text(image->intent_name, f->intent_name, sizeof(f->intent_name));
    copy_text(image->descrip, f->descrip, sizeof(f->descrip));
    image->cal_min = f->cal_min;
    image->cal_max = f->cal_max;
}

vxs_status vxs_header_read(const char *bytes, size_t length, const char *name, vxs_image *image,
                           size_t *offset, bool *pair, vxs_error *err)
{
    fields f = { .name = name };
    *image = (vxs_image){ .format = NULL };
    vxs_status status = recognize(bytes, length, &f, err);
    if (!status)
        status = check_cifti(&f, bytes, length, err);
    if (!status)
        status = check_dims(&f, err);
    if (!status)
        status = check_datatype(&f, err);
    if (!status)
        status = find_offset(&f, offset, err);
    if (!status)
        status = set_grid(&f, image, err);
    if (!status)
        set_fields(&f, image);
    *pair = f.pair;
    return status;
}
