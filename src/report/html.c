/* html.c - text in a page. */
#include "report/page.h"

#include <math.h>
#include <string.h>

/* Bytes that end a tag or an attribute are no markup here. */
static void write_escaped(FILE *out, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\'':
            fputs("&#39;", out);
            break;
        default:
            fputc(*text, out);
        }
    }
}

static ssize_t pass(void *out, const char *bytes, size_t count)
{
    for (size_t k = 0; k < count; k++)
        write_escaped(out, (char[2]){ bytes[k], '\0' });
    return ferror(out) ? 0 : (ssize_t)count;
}

vxs_status vxs_escape_begin(FILE *out, vxs_escape *e, vxs_error *err)
{
    *e = (vxs_escape){ .under = fopencookie(out, "w", (cookie_io_functions_t){ .write = pass }) };
    e->text = e->under ? vxs_shown_stream(e->under) : NULL;
    if (!e->text)
        return vxs_fail(err, VXS_FAILED, "not enough memory");
    setvbuf(e->under, NULL, _IONBF, 0); /* what is written to the page itself may follow */
    setvbuf(e->text, NULL, _IONBF, 0);
    return VXS_OK;
}

void vxs_escape_end(vxs_escape *e)
{
    if (e->text)
        fclose(e->text);
    if (e->under)
        fclose(e->under);
}

static void write_text(FILE *out, const char *text)
{
    char shown[VXS_SHOWN];
    for (size_t left = text ? strlen(text) : 0, length = 0; left > 0; left -= length) {
        length = vxs_shown_next(text, left, shown);
        write_escaped(out, *text == '\n' || *text == '\t' ? (char[2]){ *text, '\0' } : shown);
        text += length;
    }
}

/* In a figure, to a tenth of a pixel or better. */
static void write_length(FILE *out, double value)
{
    char text[VXS_REAL_TEXT];
    snprintf(text, sizeof(text), "%.4g", value == 0 ? 0 : value);
    fputs(text, out);
}

static void write_score(FILE *out, double value)
{
    char text[VXS_REAL_TEXT];
    fputs(vxs_score_text(value, false, text), out);
}

/* A number that is not finite is a dash, a score "unknown". */
static void write_number(FILE *out, char kind, double value)
{
    char text[VXS_REAL_TEXT];
    if (!isfinite(value))
        fputs(kind == 'v' ? "unknown" : "&ndash;", out);
    else if (kind == 'x')
        write_length(out, value);
    else if (kind == 'v')
        write_score(out, value);
    else if (kind == 'p')
        fprintf(out, "%.0f&nbsp;%%", vxs_round_percent(100 * value));
    else
        fputs((kind == 'f' ? vxs_mm_text : vxs_short_text)(value, text), out);
}

void vxs_html(FILE *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    for (; *format; format++) {
        if (*format != '%') {
            fputc(*format, out);
            continue;
        }
        switch (*++format) {
        case 's':
            write_text(out, va_arg(args, const char *));
            break;
        case 'd':
            fprintf(out, "%d", va_arg(args, int));
            break;
        case 'z':
            fprintf(out, "%zu", va_arg(args, size_t));
            break;
        case 'g':
        case 'v':
        case 'f':
        case 'p':
        case 'x':
            write_number(out, *format, va_arg(args, double));
            break;
        default:
            fputc(*format, out);
        }
    }
    va_end(args);
}
