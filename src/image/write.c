/* write.c - NIfTI-1 output of maps, masks and labels, compatible with common viewers.
 *
 * Header fields follow the behavior of FSLeyes, NiiVue, MRIcroGL, ITK-SNAP, SPM and AFNI: both
 * transforms valid, codes kept, mm, no scaling, never 64-bit integers. */
#include "voxsift/internal/image.h"

#include <math.h>
#include <nifti2_io.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define DATA_OFFSET 352
#define PIECE       (1 << 16)
#define LEVEL       6

static const struct {
    int code, bits;
} types[] = {
    [VXS_WRITE_FLOAT32] = { NIFTI_TYPE_FLOAT32, 32 },
    [VXS_WRITE_UINT8] = { NIFTI_TYPE_UINT8, 8 },
    [VXS_WRITE_INT32] = { NIFTI_TYPE_INT32, 32 },
};

/* Each code defaults to the other one; without any, both are 0. */
static void set_codes(const vxs_grid *grid, nifti_1_header *h)
{
    bool known = grid->source != VXS_AFFINE_NONE;
    int sform = grid->sform_code, qform = grid->qform_code;
    if (known && grid->source == VXS_AFFINE_QFORM)
        sform = qform; /* a singular sform is not written */
    h->sform_code = (short)(known ? sform : 0);
    h->qform_code = (short)(known ? (qform > 0 ? qform : sform) : 0);
}

static void set_transforms(const vxs_grid *grid, nifti_1_header *h)
{
    nifti_dmat44 m;
    double b = 0, c = 0, d = 0, x = 0, y = 0, z = 0, dx = 0, dy = 0, dz = 0, qfac = 1, size[3];
    memcpy(m.m, grid->affine, sizeof(m.m));
    nifti_dmat44_to_quatern(m, &b, &c, &d, &x, &y, &z, &dx, &dy, &dz, &qfac);
    h->quatern_b = (float)b;
    h->quatern_c = (float)c;
    h->quatern_d = (float)d;
    h->qoffset_x = (float)x;
    h->qoffset_y = (float)y;
    h->qoffset_z = (float)z;
    vxs_grid_voxel_size(grid, size);
    h->pixdim[0] = (float)qfac;
    for (int k = 0; k < 3; k++)
        h->pixdim[k + 1] = (float)size[k];
    for (int k = 0; k < 4; k++) {
        h->srow_x[k] = (float)grid->affine[0][k];
        h->srow_y[k] = (float)grid->affine[1][k];
        h->srow_z[k] = (float)grid->affine[2][k];
    }
}

static void copy_text(char *field, size_t size, const char *text)
{
    if (text)
        snprintf(field, size, "%s", text);
}

static nifti_1_header make_header(const vxs_grid *grid, const vxs_write_options *options)
{
    nifti_1_header h;
    bool series = options->volumes > 1;
    memset(&h, 0, sizeof(h));
    h.sizeof_hdr = sizeof(h);
    h.regular = 'r';
    h.dim[0] = series ? 4 : 3;
    for (int k = 1; k < 8; k++) {
        h.dim[k] = 1;
        h.pixdim[k] = 1;
    }
    for (int k = 0; k < 3; k++)
        h.dim[k + 1] = (short)grid->shape[k];
    h.dim[4] = (short)(series ? options->volumes : 1);
    h.datatype = (short)types[options->type].code;
    h.bitpix = (short)types[options->type].bits;
    h.vox_offset = DATA_OFFSET;
    h.scl_slope = 1;
    h.cal_min = (float)options->cal_min;
    h.cal_max = (float)options->cal_max;
    h.xyzt_units = (char)(NIFTI_UNITS_MM | (series ? NIFTI_UNITS_SEC : 0));
    h.intent_code = (short)options->intent_code;
    copy_text(h.intent_name, sizeof(h.intent_name), options->intent_name);
    copy_text(h.descrip, sizeof(h.descrip), options->descrip);
    memcpy(h.magic, "n+1", 4);
    set_codes(grid, &h);
    set_transforms(grid, &h);
    return h;
}

/* Compresses and writes bytes; finish: the last ones. */
static bool feed(z_stream *z, const void *bytes, size_t length, bool finish, FILE *stream)
{
    unsigned char out[PIECE];
    const unsigned char *at = bytes;
    do {
        size_t now = length < PIECE ? length : PIECE;
        z->next_in = (Bytef *)(uintptr_t)at;
        z->avail_in = (uInt)now;
        at += now;
        length -= now;
        do {
            z->next_out = out;
            z->avail_out = sizeof(out);
            if (deflate(z, finish && length == 0 ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_ERROR)
                return false;
            fwrite(out, 1, sizeof(out) - z->avail_out, stream);
        } while (z->avail_out == 0);
    } while (length > 0);
    return true;
}

static vxs_status check_given(const FILE *stream, const char *name, const vxs_grid *grid,
                              const vxs_write_options *options, const void *values, vxs_error *err)
{
    vxs_status status = VXS_GIVEN(err, { "stream", stream }, { "name", name }, { "grid", grid },
                                  { "options", options });
    for (int d = 0; d < 3 && !status; d++)
        if (grid->shape[d] > INT16_MAX || options->volumes > INT16_MAX)
            return vxs_fail(err, VXS_FAILED,
                            "cannot write '%s': NIfTI-1 holds at most 32767 voxels "
                            "along an axis",
                            name);
    if (!status)
        status = vxs_grid_check(grid, name, err);
    if (!status)
        status = vxs_choice_check("type of voxels", (int)options->type,
                                  (int)(sizeof(types) / sizeof(types[0])), err);
    const int codes[] = { status ? 0 : options->intent_code, status ? 0 : grid->sform_code,
                          status ? 0 : grid->qform_code };
    for (size_t k = 0; k < 3 && !status; k++)
        if (codes[k] != (short)codes[k])
            status = vxs_fail(err, VXS_MISUSE, "cannot write '%s': NIfTI-1 has no code %d", name,
                              codes[k]);
    return status ? status : VXS_GIVEN(err, { "values", values });
}

vxs_status vxs_image_write(FILE *stream, const char *name, const vxs_grid *grid,
                           const vxs_write_options *options, const void *values, vxs_error *err)
{
    static const char no_extension[4] = { 0 };
    vxs_status status = check_given(stream, name, grid, options, values, err);
    if (status)
        return status;
    size_t volumes = options->volumes > 1 ? options->volumes : 1;
    z_stream z;
    memset(&z, 0, sizeof(z));
    if (deflateInit2(&z, LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return vxs_fail(err, VXS_FAILED, "not enough memory to compress '%s'", name);
    nifti_1_header h = make_header(grid, options);
    size_t bytes = vxs_grid_voxels(grid) * volumes * (size_t)types[options->type].bits / 8;
    bool good = feed(&z, &h, sizeof(h), false, stream) &&
                feed(&z, no_extension, sizeof(no_extension), false, stream) &&
                feed(&z, values, bytes, true, stream);
    deflateEnd(&z);
    return good ? VXS_OK : vxs_fail(err, VXS_FAILED, "cannot compress '%s'", name);
}
