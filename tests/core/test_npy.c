#include "tests/core/check.h"

/* A file of version 1 with this dictionary and so many bytes behind it; returns its length. */
static size_t make(char buffer[4096], const char *dictionary, size_t data)
{
    size_t length = strlen(dictionary);
    memset(buffer, 0, 4096);
    memcpy(buffer, "\x93NUMPY\x01\x00", 8);
    buffer[8] = (char)(length & 0xff);
    buffer[9] = (char)(length >> 8);
    memcpy(buffer + 10, dictionary, length);
    for (size_t i = 0; i < data; i++)
        buffer[10 + length + i] = (char)(i + 1);
    return 10 + length + data;
}

static vxs_status parse(const char *dictionary, size_t data, vxs_npy *npy, vxs_error *err)
{
    static char buffer[4096];
    size_t length = make(buffer, dictionary, data);
    return vxs_npy_parse(buffer, length, "x.npy", npy, err);
}

Test(npy, reads_every_plain_type_in_both_byte_orders)
{
    static const struct {
        const char *descr;
        double first; /* of the bytes 1, 2, 3, ... */
    } rows[] = {
        { "|b1", 1 },
        { "|u1", 1 },
        { "|i1", 1 },
        { "<u2", 0x0201 },
        { ">u2", 0x0102 },
        { "<i4", 0x04030201 },
        { ">i4", 0x01020304 },
        { "<u4", 0x04030201 },
        { "<i8", (double)0x0807060504030201 },
        { ">u8", (double)0x0102030405060708 },
        { "<f4", 1.539989614439558e-36 },
        { ">f4", 2.387939260590663e-38 },
        { "<f8", 5.447603722011605e-270 },
        { ">f8", 8.20788039913184e-304 },
    };
    vxs_error err = VXS_ERROR_INIT;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        vxs_npy npy;
        char dictionary[100];
        size_t size = (size_t)(rows[i].descr[2] - '0');
        snprintf(dictionary, sizeof(dictionary),
                 "{'descr': '%s', 'fortran_order': False, 'shape': (3,), }\n", rows[i].descr);
        WORKS(parse(dictionary, 3 * size, &npy, &err), err);
        cr_assert(npy.count == 3 && npy.ndim == 1 && npy.item_size == (int)size);
        cr_assert(vxs_npy_item(&npy, 0) == rows[i].first, "%s: %.17g", rows[i].descr,
                  vxs_npy_item(&npy, 0));
    }
}

Test(npy, integers_at_their_ends)
{
    static const unsigned char bytes[8] = { 0, 0, 0, 0, 0, 0, 0, 0x80 };
    vxs_npy npy = { .kind = 'i', .item_size = 8, .count = 1, .data = bytes };
    cr_assert(vxs_npy_item(&npy, 0) == -9223372036854775808.0);
    npy.item_size = 1;
    npy.data = "\xff";
    cr_assert(vxs_npy_item(&npy, 0) == -1);
    npy.kind = 'u';
    cr_assert(vxs_npy_item(&npy, 0) == 255);
}

Test(npy, the_dictionary_may_be_written_in_many_ways)
{
    static const char *const good[] = {
        "{\"shape\":(2,2),\"descr\":\"<f4\",\"fortran_order\":True}",
        "{ 'fortran_order' : False , 'shape' : ( 4L , ) , 'descr' : '<f4' , }   \n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 2)}",
        "{'descr': '=f4', 'fortran_order': False, 'shape': (2, 2)}",
        "{'descr': 'f4', 'fortran_order': False, 'shape': (4,)}",
    };
    vxs_error err = VXS_ERROR_INIT;
    vxs_npy npy;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        WORKS(parse(good[i], 16, &npy, &err), err);
        cr_assert(npy.count == 4 && npy.fortran == (i == 0));
        cr_assert((vxs_npy_floats(&npy) != NULL) <= (i != 0));
    }
    WORKS(parse("{'descr': '<f8', 'fortran_order': False, 'shape': ()}", 8, &npy, &err), err);
    cr_assert(npy.ndim == 0 && npy.count == 1);
    WORKS(parse("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 5)}", 0, &npy, &err), err);
    cr_assert(npy.count == 0);
}

#define HEAD "{'descr': '<f4', 'fortran_order': False, 'shape': "

Test(npy, refuses_hostile_headers)
{
    static const char *const rows[][2] = {
        { HEAD "(5,)}", "16 bytes follow the header, its shape requires 20; is it truncated?" },
        { HEAD "(3,)}", "its shape requires 12" },
        { HEAD "(-4,)}", "no readable shape" },
        { HEAD "(4.0,)}", "no readable shape" },
        { HEAD "(4 4)}", "no readable shape" },
        { HEAD "(4", "no readable shape" },
        { HEAD "4}", "no readable shape" },
        { HEAD "(99999999999999999999,)}", "no readable shape" },
        { HEAD "(4294967296, 4294967296)}", "too large" },
        { HEAD "(4611686018427387908,)}", "too large" },
        { "{'a key that is longer than any that a header has': 1}", "not a dictionary" },
        { HEAD "(0, 18446744073709551615, 2)}", "too large" },
        { HEAD "(1,1,1,1,1,1,1,1,4)}", "more than 8 dimensions" },
        { HEAD "(4,), 'x': 1}", "an unknown key 'x'" },
        { HEAD "(4,), 'shape': (4,)}", "twice the key 'shape'" },
        { HEAD "(4,)} x", "something follows" },
        { "{'descr': '<f4', 'fortran_order': False}", "lacks" },
        { "{'descr': '<f4', 'fortran_order': 0, 'shape': (4,)}", "fortran_order" },
        { "{'descr': '|O', 'fortran_order': False, 'shape': (4,)}", "its items are '|O'" },
        { "{'descr': '<f2', 'fortran_order': False, 'shape': (4,)}", "its items are '<f2'" },
        { "{'descr': '<c8', 'fortran_order': False, 'shape': (2,)}", "its items are '<c8'" },
        { "{'descr': '<U4', 'fortran_order': False, 'shape': (1,)}", "its items are '<U4'" },
        { "{'descr': '<f-4', 'fortran_order': False, 'shape': (4,)}", "its items are" },
        { "{'descr': '', 'fortran_order': False, 'shape': (4,)}", "its items are ''" },
        { "{'descr': [('a','<f4')], 'fortran_order': False, 'shape': (4,)}", "structured" },
        { "import os", "not a dictionary" },
        { "", "not a dictionary" },
    };
    vxs_error err = VXS_ERROR_INIT;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        vxs_npy npy;
        REFUSES(parse(rows[i][0], 16, &npy, &err), err, VXS_BAD_DATA, rows[i][1]);
        cr_assert(npy.data == NULL && npy.count == 0);
    }
}

/* Any beginning of a good file is refused, and never read past its end (the sanitizers watch). */
Test(npy, refuses_every_truncation)
{
    char buffer[4096];
    size_t length = make(buffer, HEAD "(2, 2), }          \n", 16);
    for (size_t cut = 0; cut < length; cut++) {
        vxs_npy npy;
        vxs_error err = VXS_ERROR_INIT;
        char *exact = malloc(cut ? cut : 1);
        memcpy(exact, buffer, cut);
        REFUSES(vxs_npy_parse(exact, cut, "x", &npy, &err), err, VXS_BAD_DATA, "cannot read 'x'");
        free(exact);
    }
}

/* The longer header length of versions 2 and 3 must not be read past the end either. */
Test(npy, refuses_truncations_of_every_version)
{
    for (char version = 1; version <= 4; version++) {
        for (size_t cut = 6; cut < 14; cut++) {
            vxs_npy npy;
            vxs_error err = VXS_ERROR_INIT;
            char *exact = calloc(cut, 1);
            memcpy(exact, "\x93NUMPY", 6);
            if (cut > 6)
                exact[6] = version;
            REFUSES(vxs_npy_parse(exact, cut, "x", &npy, &err), err, VXS_BAD_DATA, "'x'");
            free(exact);
        }
    }
}

Test(npy, floats_in_place_are_those_of_this_machine)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_npy npy;
    WORKS(parse("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", 4, &npy, &err), err);
    cr_assert_null(vxs_npy_floats(&npy), "swapped");
    WORKS(parse("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", 8, &npy, &err), err);
    cr_assert_null(vxs_npy_floats(&npy), "doubles");
    WORKS(parse("{'descr': '<i4', 'fortran_order': False, 'shape': (1,)}", 4, &npy, &err), err);
    cr_assert_null(vxs_npy_floats(&npy), "integers");
    float value = 1;
    char bytes[8];
    memcpy(bytes + 1, &value, 4);
    npy = (vxs_npy){ .kind = 'f', .item_size = 4, .count = 1, .data = bytes + 1 };
    cr_assert_null(vxs_npy_floats(&npy), "not aligned");
    cr_assert(vxs_npy_item(&npy, 0) == 1);
}

Test(npy, files_are_mapped_and_let_go)
{
    char path[512];
    vxs_error err = VXS_ERROR_INIT;
    vxs_npy npy;
    work_path(path, "array.npy");
    FILE *stream = fopen(path, "wb");
    size_t shape[2] = { 3, 5 };
    WORKS(vxs_npy_write_header(stream, 'f', 4, 2, shape, &err), err);
    cr_assert(ftell(stream) % 64 == 0, "items start aligned, as numpy writes them");
    for (int i = 0; i < 15; i++) {
        float value = (float)i / 2;
        fwrite(&value, sizeof(value), 1, stream);
    }
    WORKS(vxs_file_close(stream, path, &err), err);
    WORKS(vxs_npy_open(path, &npy, &err), err);
    const float *data = vxs_npy_floats(&npy);
    cr_assert(data && npy.ndim == 2 && npy.shape[0] == 3 && npy.shape[1] == 5 && data[14] == 7);
    vxs_npy_release(&npy);
    vxs_npy_release(&npy);
    unlink(path);
    REFUSES(vxs_npy_open(path, &npy, &err), err, VXS_MISSING, path);
    REFUSES(vxs_npy_open("/tmp", &npy, &err), err, VXS_BAD_DATA, "not a regular file");
    write_bytes(path, "", 0);
    REFUSES(vxs_npy_open(path, &npy, &err), err, VXS_BAD_DATA, "it is empty");
    unlink(path);
}

Test(npy, headers_of_every_shape_are_read_back)
{
    static const size_t shape[] = { 1, 1000, 3, 0, 5, 6, 7, 8 };
    vxs_error err = VXS_ERROR_INIT;
    for (int ndim = 0; ndim <= 8; ndim++) {
        char *text = NULL;
        size_t length = 0;
        FILE *stream = open_memstream(&text, &length);
        WORKS(vxs_npy_write_header(stream, 'i', 1, ndim, shape, &err), err);
        fclose(stream);
        cr_assert(length % 64 == 0 && text[length - 1] == '\n');
        vxs_npy npy;
        vxs_status status = vxs_npy_parse(text, length, "x", &npy, &err);
        cr_assert((status == VXS_OK) == (ndim >= 4), "only a shape with a zero needs no data");
        cr_assert(ndim < 4 || (npy.ndim == ndim && npy.shape[1] == 1000));
        err = (vxs_error)VXS_ERROR_INIT;
        free(text);
    }
    REFUSES(vxs_npy_write_header(stderr, 'c', 8, 1, shape, &err), err, VXS_FAILED, "no NPY header");
    REFUSES(vxs_npy_write_header(stderr, 'f', 4, 9, shape, &err), err, VXS_FAILED, "9 dimensions");
}

/* What a handler of SIGBUS asks: of every address in the map, and of none beside it. */
Test(npy, an_address_has_a_file)
{
    char path[512], bytes[8192], line[200], small[20];
    vxs_error err = VXS_ERROR_INIT;
    vxs_npy npy[70]; /* more than have a name */
    size_t length = make(bytes, "{'descr': '|u1', 'fortran_order': False, 'shape': (4,)}", 4);
    work_path(path, "ma\x1bpped.npy");
    write_bytes(path, bytes, length);
    for (size_t k = 0; k < 70; k++)
        WORKS(vxs_npy_open(path, &npy[k], &err), err);
    const char *map = npy[0].map;
    cr_assert(!truncate(path, (off_t)length - 1));
    cr_assert(vxs_mapping_fault(map, line, sizeof(line)) == VXS_BAD_DATA);
    cr_assert(strstr(line, "ma<U+001B>pped.npy': it became shorter while in use"), "%s", line);
    cr_assert(vxs_mapping_fault(map + length - 1, line, sizeof(line)) == VXS_BAD_DATA);
    cr_assert(vxs_mapping_fault(&err, line, sizeof(line)) == VXS_OK);
    cr_assert(vxs_mapping_fault(map, small, sizeof(small)) && strlen(small) == sizeof(small) - 1);
    cr_assert(!truncate(path, (off_t)length));
    cr_assert(vxs_mapping_fault(map, line, sizeof(line)) == VXS_BAD_DATA &&
              strstr(line, "disk fails"));
    for (size_t k = 0; k < 70; k++)
        vxs_npy_release(&npy[k]);
    cr_assert(vxs_mapping_fault(map, line, sizeof(line)) == VXS_OK);
    unlink(path);
}
