/* voxsift/internal/text.h - text: numbers in it, suggestions for misspelled words, visible forms.
 *
 * Part of voxsift/internal/core.h, which includes it. */
#ifndef VOXSIFT_INTERNAL_TEXT_H
#define VOXSIFT_INTERNAL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Numbers and words ----------------------------------------------------------------------- */

/* Parse decimal numbers from the whole of `text`, in any locale; false for anything else, including
 * numbers too large for a double, nan and inf. */
bool vxs_parse_real(const char *text, double *value);
bool vxs_parse_whole(const char *text, int64_t *value);
bool vxs_parse_bytes(const char *text, int64_t *value); /* 1024, 500K, 500M, 2G, 1T */
/* Parses at most `most` comma-separated numbers. */
bool vxs_parse_reals(const char *text, double *values, size_t most, size_t *count);
/* The shortest decimal that reads back as the same double, in any locale; "nan", "inf", "-inf". */
#define VXS_REAL_TEXT 32
const char *vxs_real_text(double value, char buffer[VXS_REAL_TEXT]);
/* To read: whole numbers as they are, others with three significant digits. */
const char *vxs_short_text(double value, char buffer[VXS_REAL_TEXT]);
/* A score, p value or lambda: three significant digits, zeros at the end as well ("0.800"), so that
 * they align in tables; "unknown" where there is none. `sign`: "+" before positive ones. */
const char *vxs_score_text(double value, bool sign, char buffer[VXS_REAL_TEXT]);
/* Plural ending of a noun behind a count: "" for 1, else "s". */
const char *vxs_plural(size_t count);
/* "has" for 1, else "have". */
const char *vxs_have(size_t count);
/* A coordinate in mm, "-41.9". */
const char *vxs_mm_text(double value, char buffer[VXS_REAL_TEXT]);
/* What tables have of coordinates in mm (0.1 mm) and of per cents (1 %). */
double vxs_round_mm(double value);
double vxs_round_percent(double value);

/* The candidate nearest to a misspelled `word`; NULL: none is near. The list ends with NULL. */
const char *vxs_nearest(const char *word, const char *const *candidates);

/* ---- Foreign text -----------------------------------------------------------------------------
 *
 * Names, cells, headers and paths come from files of other people. Characters that a terminal or
 * browser interprets or hides get a visible form: control characters, characters that change the
 * direction of writing, have no width or end a line (U+001B, U+202E, U+200B, U+2028, ...) as
 * <U+001B>, and bytes that are not UTF-8 as <0xE9>. The visible form is idempotent, and names in
 * voxsift are compared in this form: tables and atlases return it. */

/* Number of bytes from text[0] on that are unchanged. */
size_t vxs_shown_span(const char *text, size_t left);
/* The next character's visible form, zero-terminated; returns the number of bytes consumed, 0 at
 * the end. Includes tabs and line ends. */
#define VXS_SHOWN 16
size_t vxs_shown_next(const char *text, size_t left, char shown[VXS_SHOWN]);
/* The visible form, truncated with "..." to fit; size > 3. */
void vxs_shown_copy(const char *text, char *buffer, size_t size);
/* A stream that forwards to `to` in visible form, except tabs and line ends. `to` stays open when
 * it is closed, and must outlive it; NULL: out of memory. */
FILE *vxs_shown_stream(FILE *to);

#ifdef __cplusplus
}
#endif

#endif
