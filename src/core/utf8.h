/* utf8.h - where characters end; private to the core room. */
#ifndef VXS_CORE_UTF8_H
#define VXS_CORE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the well-formed character (RFC 3629) that starts at text, 0 when there is none within
 * `left` bytes. */
size_t vxs_utf8_length(const char *text, size_t left);
/* Code point of a well-formed character of that many bytes. */
unsigned long vxs_utf8_code(const char *text, size_t length);
/* Whether it is shown in another form (voxsift/internal/text.h). */
bool vxs_utf8_hidden(unsigned long code);
/* The code points of a character without what is a matter of spelling: composed characters in their
 * parts, capitals as small letters; how many there are. */
#define VXS_UTF8_PLAIN 6
size_t vxs_utf8_plain(unsigned long code, unsigned long to[VXS_UTF8_PLAIN]);
/* Writes the character with this code point, 1 to 4 bytes. */
size_t vxs_utf8_write(char *text, unsigned long code);

#endif
