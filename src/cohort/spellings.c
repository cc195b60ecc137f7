/* spellings.c - numbers ids up to spelling: leading zeros (P040, P40), capitals, composed or
 * decomposed characters. Typed tables and file names from macOS have one person in two spellings.
 */
#include "cohort/id_parts.h"
#include "core/utf8.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* FNV-1a over code points. */
static uint64_t add_code(uint64_t h, unsigned long code)
{
    return (h ^ (uint64_t)code) * 0x100000001B3U;
}

/* True for leading zeros of a number; zeros of a decimal fraction (1.05) are significant. */
static bool is_padding(const char *from, const char *at, const char *end)
{
    char before = at > from ? at[-1] : ' ';
    return *at == '0' && at + 1 < end && isdigit((unsigned char)at[1]) && before != '.';
}

static uint64_t spell(const char *id)
{
    vxs_name name = vxs_name_core((vxs_name){ id, strlen(id) });
    const char *end = name.text + name.length;
    uint64_t h = 0xCBF29CE484222325U;
    for (const char *at = name.text; at < end;) {
        unsigned long plain[VXS_UTF8_PLAIN];
        size_t length = vxs_utf8_length(at, (size_t)(end - at)), count = 0;
        bool inside = at > name.text && isdigit((unsigned char)at[-1]);
        while (!inside && is_padding(name.text, at, end))
            at++;
        if (length > 0)
            count = vxs_utf8_plain(vxs_utf8_code(at, length), plain);
        for (size_t k = 0; k < count; k++)
            h = add_code(h, plain[k]);
        if (length == 0)
            h = add_code(h, 0x110000 + (unsigned char)*at); /* invalid UTF-8 */
        at += length > 0 ? length : 1;
    }
    return h;
}

vxs_status vxs_number_spellings(const char *const *ids, size_t n, size_t *number, size_t *count,
                                vxs_error *err)
{
    uint64_t *key = vxs_alloc(n, sizeof(*key), err);
    bool *in = vxs_alloc(n, sizeof(*in), err);
    for (size_t i = 0; i < n && key && in; i++) {
        in[i] = ids[i] != NULL;
        key[i] = in[i] ? spell(ids[i]) : 0;
    }
    vxs_status status = key && in ? vxs_number_keys(key, in, n, number, count, err) : VXS_FAILED;
    free(key);
    free(in);
    return status;
}
