/* json_write.c - JSON writer: indentation of two blanks, short arrays on one line. */
#include "core/utf8.h"
#include "voxsift/internal/core.h"

#include <math.h>
#include <string.h>

void vxs_json_init(vxs_json_writer *writer, FILE *stream)
{
    *writer = (vxs_json_writer){ .stream = stream };
}

static void new_line(vxs_json_writer *writer)
{
    fprintf(writer->stream, "\n%*s", 2 * writer->depth, "");
}

static void write_escape(FILE *stream, unsigned char c)
{
    static const char letters[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* character, letter, ... */
    for (const char *pair = letters; *pair; pair += 2) {
        if ((unsigned char)*pair == c) {
            fprintf(stream, "\\%c", pair[1]);
            return;
        }
    }
    if (c < 0x20)
        fprintf(stream, "\\u%04x", c);
    else
        fputc(c, stream);
}

/* Escapes a hidden character; beyond 16 bits as a surrogate pair. */
static void write_code(FILE *stream, unsigned long code)
{
    if (code > 0xffff) {
        fprintf(stream, "\\u%04lx", 0xd800 + ((code - 0x10000) >> 10));
        code = 0xdc00 + ((code - 0x10000) & 0x3ff);
    }
    fprintf(stream, "\\u%04lx", code);
}

static void write_text(FILE *stream, const char *text)
{
    fputc('"', stream);
    for (size_t left = strlen(text), length = 0; left > 0; text += length, left -= length) {
        length = vxs_utf8_length(text, left);
        unsigned long code = length > 0 ? vxs_utf8_code(text, length) : 0;
        if (length == 1 && code != 0x7f) {
            write_escape(stream, (unsigned char)*text);
        } else if (length > 0 && vxs_utf8_hidden(code)) {
            write_code(stream, code);
        } else if (length > 0) {
            fwrite(text, 1, length, stream);
        } else {
            fputs("\xef\xbf\xbd", stream); /* U+FFFD replaces one invalid byte */
            length = 1;
        }
    }
    fputc('"', stream);
}

/* Levels beyond the reader's limit share the last entry: valid JSON, but other line ends. */
static int place(const vxs_json_writer *writer)
{
    return writer->depth < VXS_JSON_DEPTH ? writer->depth : VXS_JSON_DEPTH;
}

/* Members of objects, and of arrays inside arrays, get a line of their own. */
static void begin_value(vxs_json_writer *writer, const char *key, bool container)
{
    int depth = place(writer);
    if (writer->filled[depth])
        fputc(',', writer->stream);
    if (depth > 0 && (key || container)) {
        writer->broken[depth] = true;
        new_line(writer);
    } else if (writer->filled[depth]) {
        fputc(' ', writer->stream);
    }
    writer->filled[depth] = true;
    if (key) {
        write_text(writer->stream, key);
        fputs(": ", writer->stream);
    }
}

static void open_container(vxs_json_writer *writer, const char *key, char bracket)
{
    begin_value(writer, key, true);
    fputc(bracket, writer->stream);
    writer->depth++;
    writer->filled[place(writer)] = writer->broken[place(writer)] = false;
}

static void close_container(vxs_json_writer *writer, char bracket)
{
    bool broken = writer->broken[place(writer)];
    writer->depth--;
    if (broken)
        new_line(writer);
    fputc(bracket, writer->stream);
    if (writer->depth == 0)
        fputc('\n', writer->stream);
}

void vxs_json_open_object(vxs_json_writer *writer, const char *key)
{
    open_container(writer, key, '{');
}

void vxs_json_close_object(vxs_json_writer *writer)
{
    close_container(writer, '}');
}

void vxs_json_open_array(vxs_json_writer *writer, const char *key)
{
    open_container(writer, key, '[');
}

void vxs_json_close_array(vxs_json_writer *writer)
{
    close_container(writer, ']');
}

void vxs_json_text(vxs_json_writer *writer, const char *key, const char *value)
{
    begin_value(writer, key, false);
    if (value)
        write_text(writer->stream, value);
    else
        fputs("null", writer->stream);
}

void vxs_json_real(vxs_json_writer *writer, const char *key, double value)
{
    char text[VXS_REAL_TEXT];
    begin_value(writer, key, false);
    fputs(isfinite(value) ? vxs_real_text(value, text) : "null", writer->stream);
}

void vxs_json_whole(vxs_json_writer *writer, const char *key, int64_t value)
{
    begin_value(writer, key, false);
    fprintf(writer->stream, "%lld", (long long)value);
}

void vxs_json_bool(vxs_json_writer *writer, const char *key, bool value)
{
    begin_value(writer, key, false);
    fputs(value ? "true" : "false", writer->stream);
}
