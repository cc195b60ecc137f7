/* voxsift/internal/text.h - text: numbers in it, words that are meant, and what may be shown of it.
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

/* Decimal numbers, the whole of `text`, in any locale; false when it is anything else. Real
 * numbers too large for a double and the words nan and inf are refused. */
bool vxs_parse_real(const char *text, double *value);
bool vxs_parse_whole(const char *text, int64_t *value);
bool vxs_parse_bytes(const char *text, int64_t *value); /* 1024, 500K, 500M, 2G, 1T */
/* Numbers with commas between, `most` of them at most. */
bool vxs_parse_reals(const char *text, double *values, size_t most, size_t *count);
/* The shortest decimal that reads back as the same double, in any locale; "nan", "inf", "-inf". */
#define VXS_REAL_TEXT 32
const char *vxs_real_text(double value, char buffer[VXS_REAL_TEXT]);
/* To read: whole numbers as they are, others with three significant digits. */
const char *vxs_short_text(double value, char buffer[VXS_REAL_TEXT]);
/* A score, p value or lambda: three significant digits, zeros at the end as well ("0.800"), so that
 * they align in tables; "unknown" where there is none. `sign`: "+" before positive ones. */
const char *vxs_score_text(double value, bool sign, char buffer[VXS_REAL_TEXT]);
/* A coordinate in mm, "-41.9". */
const char *vxs_mm_text(double value, char buffer[VXS_REAL_TEXT]);
/* What tables have of coordinates in mm (0.1 mm) and of per cents (1 %). */
double vxs_round_mm(double value);
double vxs_round_percent(double value);

/* The candidate a user may have meant by `word`; NULL: none is near. The list ends in NULL. */
const char *vxs_nearest(const char *word, const char *const *candidates);

/* ---- Text from elsewhere ---------------------------------------------------------------------
 *
 * Names, cells, headers and paths come from files of other people. What a terminal or a browser
 * would obey or hide is shown instead: control characters, characters that turn the direction of
 * writing, have no width or end a line (U+001B, U+202E, U+200B, U+2028, ...) as <U+001B>, and bytes
 * that are not UTF-8 as <0xE9>. Shown text is shown as it is, so a name may pass here twice, and
 * names in voxsift are compared in this form: tables and atlases give it. */

/* How many bytes from text[0] on stand for themselves. */
size_t vxs_shown_span(const char *text, size_t left);
/* The next character's visible form, with a zero behind it; returns the bytes of text that it
 * stands for, 0 at the end. Tabs and line ends are shown as well. */
#define VXS_SHOWN 16
size_t vxs_shown_next(const char *text, size_t left, char shown[VXS_SHOWN]);
/* The text in visible form, with "..." at the end where it had to be cut; size > 3. */
void vxs_shown_copy(const char *text, char *buffer, size_t size);
/* A stream that passes what is written to it on to `to`, in visible form but for tabs and line
 * ends. `to` stays open when it is closed, and must stay until then; NULL: no memory. */
FILE *vxs_shown_stream(FILE *to);

#ifdef __cplusplus
}
#endif

#endif
