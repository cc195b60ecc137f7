/* npy.c - NPY arrays, compatible with numpy.load and numpy.save.
 *
 * Format: "\x93NUMPY", version, length of the header, then a Python dictionary literal with the
 * keys descr, fortran_order and shape, then the items. Every field is checked. */
#include "core/mapped_file.h"
#include "core/place.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC      "\x93NUMPY"
#define MAGIC_SIZE 6
#define ALIGNMENT  64

typedef struct {
    const char *at, *end;
    const char *name;
    vxs_npy *npy;
    vxs_error *err;
} parser;

static vxs_status refuse(const parser *p, const char *why)
{
    return vxs_fail(p->err, VXS_BAD_DATA, "cannot read '%s': %s", p->name, why);
}

static bool machine_is_big(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 0;
}

static void skip_blanks(parser *p)
{
    while (p->at < p->end && isspace((unsigned char)*p->at))
        p->at++;
}

static bool take(parser *p, char c)
{
    skip_blanks(p);
    if (p->at >= p->end || *p->at != c)
        return false;
    p->at++;
    return true;
}

static bool take_word(parser *p, const char *word)
{
    size_t length = strlen(word);
    skip_blanks(p);
    if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length) != 0)
        return false;
    p->at += length;
    return true;
}

/* A quoted text without escapes, into a small buffer. */
static bool take_text(parser *p, char *buffer, size_t size)
{
    char quote = take(p, '\'') ? '\'' : '"';
    if (quote == '"' && !take(p, '"'))
        return false;
    size_t length = 0;
    while (p->at < p->end && *p->at != quote && length + 1 < size)
        buffer[length++] = *p->at++;
    buffer[length] = '\0';
    return p->at < p->end && *p->at++ == quote;
}

static bool kind_and_size_known(char kind, int size)
{
    switch (kind) {
    case 'b':
        return size == 1;
    case 'i':
    case 'u':
        return size == 1 || size == 2 || size == 4 || size == 8;
    case 'f':
        return size == 4 || size == 8;
    default:
        return false;
    }
}

static vxs_status read_descr(parser *p)
{
    char text[64];
    if (take(p, '['))
        return refuse(p, "it is a structured array; plain numbers are required");
    if (!take_text(p, text, sizeof(text)))
        return refuse(p, "its header has no readable descr");
    size_t marked = strspn(text, "<>=|") > 0;
    char order = marked ? text[0] : '=';
    char kind = text[marked];
    int64_t size = 0;
    if (!kind || !vxs_parse_whole(text + marked + 1, &size) || size < 0 || size > 8 ||
        !kind_and_size_known(kind, (int)size))
        return vxs_fail(p->err, VXS_BAD_DATA,
                        "cannot read '%s': its items are '%s'; bool, integers and floats of 4 or 8 "
                        "bytes are required",
                        p->name, text);
    p->npy->kind = kind;
    p->npy->item_size = (int)size;
    p->npy->swapped =
        size > 1 && ((order == '<' && machine_is_big()) || (order == '>' && !machine_is_big()));
    return VXS_OK;
}

static vxs_status read_order(parser *p)
{
    p->npy->fortran = take_word(p, "True");
    if (!p->npy->fortran && !take_word(p, "False"))
        return refuse(p, "its header has no readable fortran_order");
    return VXS_OK;
}

static bool take_size(parser *p, size_t *size)
{
    skip_blanks(p);
    size_t value = 0;
    const char *start = p->at;
    for (; p->at < p->end && isdigit((unsigned char)*p->at); p->at++) {
        size_t digit = (size_t)(*p->at - '0');
        if (value > (SIZE_MAX - digit) / 10)
            return false;
        value = 10 * value + digit;
    }
    *size = value;
    bool any = p->at > start;
    take(p, 'L'); /* Python 2 suffix of long integers */
    return any;
}

static vxs_status read_shape(parser *p)
{
    if (!take(p, '('))
        return refuse(p, "its header has no readable shape");
    p->npy->ndim = 0;
    while (!take(p, ')')) {
        if (p->npy->ndim == VXS_NPY_DIMENSIONS)
            return refuse(p, "it has more than 8 dimensions");
        if (!take_size(p, &p->npy->shape[p->npy->ndim]))
            return refuse(p, "its header has no readable shape");
        p->npy->ndim++;
        if (!take(p, ',') && (p->at >= p->end || *p->at != ')'))
            return refuse(p, "its header has no readable shape");
    }
    return VXS_OK;
}

enum { KEYS = 3 };

/* Parses "key: value" for one of the three keys, each at most once. */
static vxs_status read_entry(parser *p, bool seen[KEYS])
{
    static const char *const keys[KEYS] = { "descr", "fortran_order", "shape" };
    static vxs_status (*const readers[KEYS])(parser *) = { read_descr, read_order, read_shape };
    char key[32];
    size_t k = 0;
    if (!take_text(p, key, sizeof(key)) || !take(p, ':'))
        return refuse(p, "its header is not a dictionary");
    while (k < KEYS && strcmp(key, keys[k]) != 0)
        k++;
    if (k == KEYS || seen[k])
        return vxs_fail(p->err, VXS_BAD_DATA, "cannot read '%s': its header has %s key '%s'",
                        p->name, k == KEYS ? "an unknown" : "twice the", key);
    seen[k] = true;
    return readers[k](p);
}

/* Requires all three keys in any order. */
static vxs_status read_dictionary(parser *p)
{
    bool seen[KEYS] = { false, false, false };
    vxs_status status = VXS_OK;
    if (!take(p, '{'))
        return refuse(p, "its header is not a dictionary");
    while (!take(p, '}')) {
        status = read_entry(p, seen);
        if (status)
            return status;
        if (!take(p, ',') && (p->at >= p->end || *p->at != '}'))
            return refuse(p, "its header is not a dictionary");
    }
    if (!seen[0] || !seen[1] || !seen[2])
        return refuse(p, "its header lacks descr, fortran_order or shape");
    skip_blanks(p);
    return p->at == p->end ? VXS_OK : refuse(p, "something follows the dictionary in its header");
}

static vxs_status check_size(const parser *p, size_t available)
{
    vxs_npy *npy = p->npy;
    size_t count = 1;
    bool empty = false;
    for (int d = 0; d < npy->ndim; d++) {
        empty = empty || npy->shape[d] == 0;
        size_t items = npy->shape[d] ? npy->shape[d] : 1;
        if (count > SIZE_MAX / 8 / items) /* so that partial products do not overflow either */
            return refuse(p, "its shape is too large for this machine");
        count *= items;
    }
    count = empty ? 0 : count;
    npy->count = count;
    size_t required = count * (size_t)npy->item_size;
    if (required != available)
        return vxs_fail(p->err, VXS_BAD_DATA,
                        "cannot read '%s': %zu bytes follow the header, its shape requires %zu%s",
                        p->name, available, required,
                        available < required ? "; is it truncated?" : "");
    return VXS_OK;
}

/* Start of the dictionary by format version; false when there is none. */
static bool find_header(const unsigned char *bytes, size_t length, size_t *start, size_t *size)
{
    if (length < MAGIC_SIZE + 4 || memcmp(bytes, MAGIC, MAGIC_SIZE) != 0)
        return false;
    int version = bytes[MAGIC_SIZE];
    if (version < 1 || version > 3 || bytes[MAGIC_SIZE + 1] != 0)
        return false;
    *start = MAGIC_SIZE + (version == 1 ? 4 : 6);
    if (length < *start)
        return false;
    *size = (size_t)bytes[8] | (size_t)bytes[9] << 8;
    if (version > 1)
        *size |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    return *size <= length - *start;
}

vxs_status vxs_npy_parse(const void *bytes, size_t length, const char *name, vxs_npy *npy,
                         vxs_error *err)
{
    size_t start = 0, size = 0;
    *npy = (vxs_npy){ 0 };
    parser p = { NULL, NULL, name, npy, err };
    if (!find_header(bytes, length, &start, &size))
        return refuse(&p, "it is not an NPY file of version 1 to 3, or its header is cut short");
    p.at = (const char *)bytes + start;
    p.end = p.at + size;
    vxs_status status = read_dictionary(&p);
    if (!status)
        status = check_size(&p, length - start - size);
    if (status)
        *npy = (vxs_npy){ 0 };
    else
        npy->data = (const char *)bytes + start + size;
    return status;
}

static vxs_status map_file(const char *path, void **map, size_t *size, vxs_error *err)
{
    struct stat about;
    vxs_status status = VXS_OK;
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* does not block on a pipe */
    if (file < 0 || fstat(file, &about) != 0) {
        status = vxs_fail(err, VXS_MISSING, "cannot read '%s': %s", path, strerror(errno));
        goto done;
    }
    if (!S_ISREG(about.st_mode) || about.st_size == 0) {
        status = vxs_fail(err, VXS_BAD_DATA, "cannot read '%s': it is %s", path,
                          S_ISREG(about.st_mode) ? "empty" : "not a regular file");
        goto done;
    }
    vxs_inputs_note(&about);
    *size = (size_t)about.st_size;
    *map = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, file, 0);
    if (*map == MAP_FAILED)
        status = errno == ENOMEM
                     ? vxs_fail(err, VXS_FAILED, "not enough memory to map '%s'", path)
                     : vxs_fail(err, VXS_FAILED, "cannot map '%s': %s", path, strerror(errno));
    else
        vxs_mapping_add(*map, *size, path, file, false);
done:
    if (file >= 0)
        close(file);
    return status;
}

vxs_status vxs_npy_open(const char *path, vxs_npy *npy, vxs_error *err)
{
    void *map = NULL;
    size_t size = 0;
    *npy = (vxs_npy){ 0 };
    vxs_status status = map_file(path, &map, &size, err);
    if (status)
        return status;
    status = vxs_npy_parse(map, size, path, npy, err);
    if (status) {
        vxs_mapping_remove(map);
        munmap(map, size);
        return status;
    }
    npy->map = map;
    npy->map_size = size;
    return VXS_OK;
}

void vxs_npy_release(vxs_npy *npy)
{
    vxs_mapping_remove(npy->map);
    if (npy->map)
        munmap(npy->map, npy->map_size);
    *npy = (vxs_npy){ 0 };
}

static double float_value(const unsigned char *bytes, int size)
{
    float single = 0;
    double value = 0;
    if (size == 8) {
        memcpy(&value, bytes, 8);
        return value;
    }
    memcpy(&single, bytes, 4);
    return (double)single;
}

/* Integer from bytes in this machine's order. */
static double integer_value(const unsigned char *bytes, int size, bool is_signed)
{
    uint64_t bits = 0;
    for (int i = 0; i < size; i++)
        bits = bits << 8 | bytes[machine_is_big() ? i : size - 1 - i];
    uint64_t sign = (uint64_t)1 << (8 * size - 1);
    if (!is_signed || !(bits & sign))
        return (double)bits;
    return -(double)((~bits & (sign - 1)) + 1);
}

double vxs_npy_item(const vxs_npy *npy, size_t position)
{
    unsigned char bytes[8];
    size_t size = (size_t)npy->item_size;
    const unsigned char *item = (const unsigned char *)npy->data + position * size;
    for (size_t i = 0; i < size; i++)
        bytes[i] = item[npy->swapped ? size - 1 - i : i];
    if (npy->kind == 'f')
        return float_value(bytes, npy->item_size);
    return integer_value(bytes, npy->item_size, npy->kind == 'i');
}

const float *vxs_npy_floats(const vxs_npy *npy)
{
    bool plain = npy->kind == 'f' && npy->item_size == 4 && !npy->swapped && !npy->fortran;
    bool aligned = (uintptr_t)npy->data % sizeof(float) == 0;
    return plain && aligned ? npy->data : NULL;
}

vxs_status vxs_npy_write_header(FILE *stream, char kind, int item_size, int ndim,
                                const size_t *shape, vxs_error *err)
{
    char text[64 + 24 * VXS_NPY_DIMENSIONS];
    if (ndim < 0 || ndim > VXS_NPY_DIMENSIONS || !kind_and_size_known(kind, item_size))
        return vxs_fail(err, VXS_FAILED, "no NPY header for kind %c%d in %d dimensions", kind,
                        item_size, ndim);
    char order = item_size == 1 ? '|' : machine_is_big() ? '>' : '<';
    size_t used = (size_t)snprintf(text, sizeof(text),
                                   "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (", order,
                                   kind, item_size);
    for (int d = 0; d < ndim; d++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%zu%s", d ? " " : "",
                                 shape[d], d + 1 < ndim || ndim == 1 ? "," : "");
    used += (size_t)snprintf(text + used, sizeof(text) - used, "), }");
    size_t before = MAGIC_SIZE + 4;
    size_t size = (before + used + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT - before;
    unsigned char start[MAGIC_SIZE + 4] = MAGIC "\x01";
    start[MAGIC_SIZE + 2] = (unsigned char)(size & 0xff);
    start[MAGIC_SIZE + 3] = (unsigned char)(size >> 8);
    fwrite(start, 1, sizeof(start), stream);
    fprintf(stream, "%s%*s\n", text, (int)(size - used - 1), "");
    return VXS_OK; /* closing the stream reports write errors */
}
