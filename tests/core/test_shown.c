/* What may be shown of text from elsewhere. */
#include "core/utf8.h"
#include "tests/core/check.h"
#include "voxsift/internal/core.h"

#include <stdlib.h>

static void is_shown(const char *text, const char *wanted)
{
    vxs_error err = VXS_ERROR_INIT;
    char *got = vxs_shown(text, &err), *again = got ? vxs_shown(got, &err) : NULL;
    cr_assert(got && again);
    cr_assert_str_eq(got, wanted, "'%s' became '%s'", wanted, got);
    cr_assert_str_eq(again, wanted, "twice is once");
    free(again);
    free(got);
}

Test(shown, what_a_terminal_would_obey_is_spelt_out)
{
    is_shown("", "");
    is_shown("Area 44 (\xc3\xa9, \xe8\x84\xb3)", "Area 44 (\xc3\xa9, \xe8\x84\xb3)");
    is_shown("a\x1b[31mb\n\x7f", "a<U+001B>[31mb<U+000A><U+007F>");
    is_shown("\xc2\x9b"
             "31m",
             "<U+009B>31m"); /* C1, as UTF-8 */
    is_shown("\x9b"
             "31m",
             "<0x9B>31m"); /* C1, as a byte */
    is_shown("x\xe2\x80\xae"
             "nimda",
             "x<U+202E>nimda");                                 /* from right to left */
    is_shown("\xe2\x81\xa6.\xe2\x80\xa8", "<U+2066>.<U+2028>"); /* isolate, line separator */
    is_shown("A\xe2\x80\x8b\xef\xbb\xbf", "A<U+200B><U+FEFF>"); /* no width */
    is_shown("\xd8\x9c\xf3\xa0\x81\x81", "<U+061C><U+E0041>");
    is_shown("\xe2\x80", "<0xE2><0x80>"); /* half a character */
    is_shown("\xed\xa0\x80", "<0xED><0xA0><0x80>");
    is_shown("\xe2\x80\x8d \xe2\x80\x8c", "\xe2\x80\x8d \xe2\x80\x8c"); /* Persian needs them */
}

/* Of every character and every byte, whole or in two pieces, nothing is left that must not be. */
Test(shown, nothing_passes_a_stream_in_pieces)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    FILE *stream = vxs_shown_stream(memory);
    cr_assert(stream != NULL);
    setvbuf(stream, NULL, _IONBF, 0); /* every call is a piece */
    for (unsigned long code = 0; code < 0x3000; code++) {
        char bytes[8];
        size_t length = vxs_utf8_write(bytes, code);
        fwrite(bytes, 1, length / 2, stream);
        fwrite(bytes + length / 2, 1, length - length / 2, stream);
    }
    for (int c = 255; c >= 0; c--)
        fputc(c, stream);
    fputs("\xf0\x9f", stream); /* an end in the middle of a character */
    cr_assert(fclose(stream) == 0 && fclose(memory) == 0);
    size_t characters = 0;
    for (size_t at = 0, length = 0; at < size; at += length, characters++) {
        length = vxs_utf8_length(text + at, size - at);
        cr_assert(length > 0, "byte %zu is not UTF-8", at);
        bool stays = text[at] == '\n' || text[at] == '\t';
        cr_assert(stays || !vxs_utf8_hidden(vxs_utf8_code(text + at, length)));
    }
    cr_assert(characters > 0x3000 && strstr(text, "\xe2\x89\xa0"), "what can be shown is there");
    cr_assert_str_eq(text + size - 12, "<0xF0><0x9F>");
    free(text);
}

/* In every room there is: at most one byte of the text less than fits, and dots for the rest. */
Test(shown, is_cut_where_it_does_not_fit)
{
    const char *text = "ab\x1b\xc3\xa9"
                       "cd",
               *whole = "ab<U+001B>\xc3\xa9"
                        "cd";
    for (size_t size = 4; size < 20; size++) {
        char buffer[20];
        memset(buffer, 'x', sizeof(buffer));
        vxs_shown_copy(text, buffer, size);
        size_t length = strlen(buffer);
        bool cut = size <= strlen(whole);
        cr_assert(length < size);
        cr_assert(!cut || strcmp(buffer + length - 3, "...") == 0, "%zu: '%s'", size, buffer);
        cr_assert(strncmp(buffer, whole, cut ? length - 3 : length) == 0);
    }
}

/* The name in the file, the one that is shown and the one that is typed are one name. */
Test(shown, a_column_is_found_by_either_form)
{
    const char *bytes = "id\tev\x1b[1mil\tfile\na\x1b"
                        "1\t2\tx\xe2\x80\x8f.nii\n";
    vxs_error err = VXS_ERROR_INIT;
    vxs_table *table = NULL;
    size_t column = 0;
    WORKS(vxs_table_parse(bytes, strlen(bytes), "t", &table, &err), err);
    cr_assert_str_eq(vxs_table_header(table, 1), "ev<U+001B>[1mil");
    WORKS(vxs_table_find(table, "ev\x1b[1mil", &column, &err), err);
    WORKS(vxs_table_find(table, "ev<U+001B>[1mil", &column, &err), err);
    cr_assert(column == 1);
    cr_assert_str_eq(vxs_table_cell(table, 0, 0), "a<U+001B>1");
    cr_assert_str_eq(vxs_table_cell(table, 0, 2), "x<U+200F>.nii");
    cr_assert_str_eq(vxs_table_path(table, 0, 2), "x\xe2\x80\x8f.nii", "the file is called so");
    vxs_table_free(table);
}
