/* png.c - pixels as PNG (ISO 15948), in base64: one chunk of deflated rows, each as it is or as
 * its difference from the row above. */
#include "report/page.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

typedef struct {
    uint8_t *bytes;
    size_t length;
} buffer;

static void write_word(buffer *b, uint32_t word)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        b->bytes[b->length++] = (uint8_t)(word >> shift);
}

static void write_chunk(buffer *b, const char *type, const uint8_t *data, size_t length)
{
    write_word(b, (uint32_t)length);
    size_t start = b->length;
    memcpy(b->bytes + b->length, type, 4);
    b->length += 4;
    if (length > 0)
        memcpy(b->bytes + b->length, data, length);
    b->length += length;
    write_word(b, (uint32_t)crc32(0, b->bytes + start, (uInt)(length + 4)));
}

/* Every row begins with its filter: 2, the difference from the row above. */
static void filter_rows(const uint8_t *pixels, size_t row, size_t height, uint8_t *filtered)
{
    for (size_t y = 0; y < height; y++) {
        uint8_t *to = filtered + y * (row + 1);
        *to++ = 2;
        for (size_t x = 0; x < row; x++)
            to[x] = (uint8_t)(pixels[y * row + x] - (y > 0 ? pixels[(y - 1) * row + x] : 0));
    }
}

static void put_base64(FILE *out, const buffer *b)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t k = 0; k < b->length; k += 3) {
        size_t left = b->length - k;
        uint32_t word = (uint32_t)b->bytes[k] << 16;
        word |= left > 1 ? (uint32_t)b->bytes[k + 1] << 8 : 0;
        word |= left > 2 ? b->bytes[k + 2] : 0;
        fputc(letters[word >> 18], out);
        fputc(letters[word >> 12 & 63], out);
        fputc(left > 1 ? letters[word >> 6 & 63] : '=', out);
        fputc(left > 2 ? letters[word & 63] : '=', out);
    }
}

static void make_png(buffer *b, size_t width, size_t height, const uint8_t *packed, size_t length)
{
    static const uint8_t signature[8] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };
    uint8_t header[13] = { 0 };
    buffer h = { .bytes = header };
    write_word(&h, (uint32_t)width);
    write_word(&h, (uint32_t)height);
    header[8] = 8; /* bits */
    header[9] = 2; /* red, green, blue */
    memcpy(b->bytes, signature, sizeof(signature));
    b->length = sizeof(signature);
    write_chunk(b, "IHDR", header, sizeof(header));
    write_chunk(b, "IDAT", packed, length);
    write_chunk(b, "IEND", NULL, 0);
}

vxs_status vxs_png_write(FILE *out, const uint8_t *pixels, size_t width, size_t height,
                         vxs_error *err)
{
    size_t row = 3 * width, raw = (row + 1) * height;
    uLongf length = compressBound((uLong)raw);
    uint8_t *filtered = vxs_alloc(raw, 1, err), *packed = vxs_alloc(length, 1, err);
    buffer b = { .bytes = vxs_alloc(length + 128, 1, err) };
    vxs_status status = filtered && packed && b.bytes ? VXS_OK : VXS_FAILED;
    if (!status) {
        filter_rows(pixels, row, height, filtered);
        if (compress2(packed, &length, filtered, (uLong)raw, 9) != Z_OK)
            status = vxs_fail(err, VXS_FAILED, "not enough memory to make a figure");
    }
    if (!status) {
        make_png(&b, width, height, packed, length);
        fputs("data:image/png;base64,", out);
        put_base64(out, &b);
    }
    free(filtered);
    free(packed);
    free(b.bytes);
    return status;
}
