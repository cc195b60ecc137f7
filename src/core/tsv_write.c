/* tsv_write.c - table writer: tabs, quotes only for cells that begin with one, n/a for missing
 * cells. */
#include "core/cells.h"

#include <math.h>
#include <string.h>

void vxs_tsv_init(vxs_tsv_writer *writer, FILE *stream)
{
    *writer = (vxs_tsv_writer){ .stream = stream };
}

static void put(vxs_tsv_writer *writer, const char *text, bool quoted)
{
    for (size_t left = strlen(text), length = 0; left > 0; text += length, left -= length) {
        char shown[VXS_SHOWN];
        length = vxs_cell_next(text, left, shown);
        fputs(shown, writer->stream);
        if (quoted && *text == '"')
            fputc('"', writer->stream);
    }
}

void vxs_tsv_text(vxs_tsv_writer *writer, const char *text)
{
    if (writer->begun)
        fputc('\t', writer->stream);
    writer->begun = true;
    if (!text || !*text)
        text = "n/a";
    bool quoted = *text == '"'; /* a reader would parse it as an opening quote */
    if (quoted)
        fputc('"', writer->stream);
    put(writer, text, quoted);
    if (quoted)
        fputc('"', writer->stream);
}

void vxs_tsv_of(vxs_tsv_writer *writer, const char *what, const char *of)
{
    vxs_tsv_text(writer, what);
    if (of) {
        fputc('_', writer->stream);
        put(writer, of, false);
    }
}

void vxs_tsv_real(vxs_tsv_writer *writer, double value)
{
    char text[VXS_REAL_TEXT];
    vxs_tsv_text(writer, isnan(value) ? NULL : vxs_real_text(value, text));
}

void vxs_tsv_end_row(vxs_tsv_writer *writer)
{
    fputc('\n', writer->stream);
    writer->begun = false;
}
