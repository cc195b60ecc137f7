/* source.c - the content of a file, compressed or not.
 *
 * libdeflate inflates a whole member at once, about twice as fast as zlib, if the last four bytes
 * give its size. Everything else (several members, padding, damage) uses zlib's stream, which has
 * precise error messages. Both verify the checksums and return the same bytes. */
#include "image/source.h"

#include <errno.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define GZIP_WINDOW (15 + 16) /* zlib: largest window, gzip wrapper */
#define MAX_EXTRA   (1 << 16) /* a little more than the header requires is common: padding */
#define MAX_BEYOND  (1 << 28) /* much more indicates an attack or a wrong header */
#define START_BYTES 8192
#define MAX_RATIO   1032 /* deflate makes at most 258 bytes of 2 bits */

static bool begins_gzip(const char *bytes, size_t length)
{
    return length >= 2 && memcmp(bytes, "\x1f\x8b", 2) == 0;
}

void vxs_source_of_memory(const char *bytes, size_t length, const char *name, vxs_source *source)
{
    *source = (vxs_source){
        .name = name, .bytes = bytes, .length = length, .compressed = begins_gzip(bytes, length)
    };
}

vxs_status vxs_source_open(const char *path, vxs_source *source, vxs_error *err)
{
    char *bytes = NULL;
    size_t length = 0;
    *source = (vxs_source){ .name = path };
    vxs_status status = vxs_file_read(path, &bytes, &length, err);
    if (status)
        return status;
    vxs_source_of_memory(bytes, length, path, source);
    source->owned = bytes;
    return VXS_OK;
}

vxs_status vxs_source_open_start(const char *path, vxs_source *source, vxs_error *err)
{
    *source = (vxs_source){ .name = path };
    FILE *stream = vxs_file_open(path);
    char *bytes = stream ? vxs_alloc(START_BYTES, 1, err) : NULL;
    if (!stream)
        return vxs_file_missing(path, err);
    if (bytes) {
        vxs_source_of_memory(bytes, fread(bytes, 1, START_BYTES, stream), path, source);
        source->owned = bytes;
    }
    fclose(stream);
    return bytes ? VXS_OK : VXS_FAILED;
}

void vxs_source_release(vxs_source *source)
{
    free(source->owned);
    *source = (vxs_source){ .name = NULL };
}

static vxs_status refuse(const vxs_source *source, const char *why, vxs_error *err)
{
    return vxs_fail(err, VXS_BAD_DATA, "cannot read '%s': %s", source->name, why);
}

/* ---- zlib's stream --------------------------------------------------------------------------- */

typedef struct {
    const vxs_source *source;
    z_stream z;
    size_t read; /* of the source */
    char *out;
    size_t size, filled;
    size_t excess; /* content after the requested part */
} stream;

static vxs_status stream_begin(stream *s, const vxs_source *source, char *out, size_t size,
                               vxs_error *err)
{
    *s = (stream){ .source = source, .out = out, .size = size };
    if (inflateInit2(&s->z, GZIP_WINDOW) != Z_OK)
        return vxs_fail(err, VXS_FAILED, "not enough memory to inflate '%s'", source->name);
    return VXS_OK;
}

/* avail_in and avail_out are 32 bits wide. */
static uInt portion(size_t left)
{
    return (uInt)(left < (1u << 30) ? left : (1u << 30));
}

/* One call of inflate; discards unrequested output. */
static int step(stream *s)
{
    Bytef nowhere[4096];
    bool required = s->filled < s->size;
    size_t left = s->source->length - s->read;
    s->z.next_in = (Bytef *)(uintptr_t)(s->source->bytes + s->read);
    s->z.avail_in = portion(left);
    s->z.next_out = required ? (Bytef *)s->out + s->filled : nowhere;
    s->z.avail_out = required ? portion(s->size - s->filled) : (uInt)sizeof(nowhere);
    uInt in = s->z.avail_in, out = s->z.avail_out;
    int result = inflate(&s->z, Z_NO_FLUSH);
    s->read += in - s->z.avail_in;
    *(required ? &s->filled : &s->excess) += out - s->z.avail_out;
    return result;
}

/* Reads to the end of a member, to verify its checksum; ignores anything after the last member that
 * does not begin another one, as gunzip does. */
static vxs_status stream_all(stream *s, vxs_error *err)
{
    for (;;) {
        int result = step(s);
        bool over = s->read >= s->source->length;
        if (result == Z_STREAM_END) {
            if (!begins_gzip(s->source->bytes + s->read, s->source->length - s->read))
                return VXS_OK;
            inflateReset(&s->z);
        } else if (result == Z_MEM_ERROR) {
            return vxs_fail(err, VXS_FAILED, "not enough memory to inflate '%s'", s->source->name);
        } else if (result == Z_BUF_ERROR && over) {
            return refuse(s->source, "its gzip stream ends too early; is it truncated?", err);
        } else if (result != Z_OK && result != Z_BUF_ERROR) {
            return vxs_fail(err, VXS_BAD_DATA, "cannot read '%s': its gzip stream is damaged (%s)",
                            s->source->name, s->z.msg ? s->z.msg : "unknown reason");
        }
        if (s->excess > MAX_BEYOND)
            return refuse(s->source, "it has far more data than its header declares", err);
    }
}

static vxs_status inflate_by_stream(const vxs_source *source, char *out, size_t size,
                                    size_t *filled, vxs_error *err)
{
    stream s;
    vxs_status status = stream_begin(&s, source, out, size, err);
    if (status)
        return status;
    status = stream_all(&s, err);
    *filled = s.filled;
    inflateEnd(&s.z);
    return status;
}

vxs_status vxs_source_peek(const vxs_source *source, char *bytes, size_t size, size_t *got,
                           vxs_error *err)
{
    if (!source->compressed) {
        *got = source->length < size ? source->length : size;
        memcpy(bytes, source->bytes, *got);
        return VXS_OK;
    }
    stream s;
    vxs_status status = stream_begin(&s, source, bytes, size, err);
    if (status)
        return status;
    int result = Z_OK;
    while (s.filled < size && (result == Z_OK || result == Z_STREAM_END)) {
        if (result == Z_STREAM_END)
            inflateReset(&s.z);
        size_t before = s.read + s.filled;
        result = step(&s);
        if (s.read + s.filled == before)
            break;
    }
    *got = s.filled;
    inflateEnd(&s.z);
    return VXS_OK;
}

/* ---- libdeflate, for the common case --------------------------------------------------------- */

/* The size in the last four bytes, valid for a file of one member. */
static size_t expected_size(const vxs_source *source)
{
    const unsigned char *c = (const unsigned char *)source->bytes + source->length - 4;
    return (size_t)c[0] | (size_t)c[1] << 8 | (size_t)c[2] << 16 | (size_t)c[3] << 24;
}

/* Succeeds for one well-formed member of the expected size; the stream handles everything else. */
static bool inflate_at_once(const vxs_source *source, char *out, size_t room)
{
    struct libdeflate_decompressor *inflater = libdeflate_alloc_decompressor();
    size_t read = 0, written = 0;
    if (!inflater)
        return false;
    enum libdeflate_result result =
        libdeflate_gzip_decompress_ex(inflater, source->bytes, source->length, out, room, &read,
                                      &written);
    libdeflate_free_decompressor(inflater);
    return result == LIBDEFLATE_SUCCESS && written == room && read == source->length;
}

static vxs_status truncated(const vxs_source *source, size_t has, size_t size, vxs_error *err)
{
    return vxs_fail(err, VXS_BAD_DATA,
                    "cannot read '%s': it holds %s%zu bytes, its header requires %zu; is it "
                    "truncated?",
                    source->name, source->compressed ? "at most " : "", has, size);
}

vxs_status vxs_source_take(const vxs_source *source, size_t size, const char **content,
                           char **owned, vxs_error *err)
{
    vxs_status status = VXS_OK;
    size_t filled = source->length;
    *owned = NULL;
    *content = source->bytes;
    if (source->compressed && size / MAX_RATIO > source->length)
        return truncated(source, source->length * MAX_RATIO, size, err);
    if (source->compressed) {
        size_t promised = source->length >= 18 ? expected_size(source) : 0;
        bool plausible = promised >= size && promised - size <= MAX_EXTRA;
        size_t room = plausible ? promised : size;
        *owned = vxs_resize(NULL, room, 1, err);
        if (!*owned)
            return VXS_FAILED;
        *content = *owned;
        filled = room;
        if (!plausible || !inflate_at_once(source, *owned, room))
            status = inflate_by_stream(source, *owned, size, &filled, err);
    }
    if (!status && filled < size)
        status = truncated(source, filled, size, err);
    if (status) {
        free(*owned);
        *owned = NULL;
        *content = NULL;
    }
    return status;
}
