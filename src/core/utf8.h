/* utf8.h - UTF-8 decoding and encoding; private to the core room. */
#ifndef VXS_CORE_UTF8_H
#define VXS_CORE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Length of the well-formed character (RFC 3629) at text, 0 if there is none within `left`
 * bytes. */
size_t vxs_utf8_length(const char *text, size_t left);
/* Code point of a well-formed character of that many bytes. */
unsigned long vxs_utf8_code(const char *text, size_t length);
/* Tests whether the character has a visible form (voxsift/internal/text.h). */
bool vxs_utf8_hidden(unsigned long code);
/* Normalizes a character for comparison: canonical decomposition and lower case; returns the number
 * of code points. */
#define VXS_UTF8_PLAIN 6
size_t vxs_utf8_plain(unsigned long code, unsigned long to[VXS_UTF8_PLAIN]);
/* Writes the character with this code point, 1 to 4 bytes. */
size_t vxs_utf8_write(char *text, unsigned long code);

#endif
