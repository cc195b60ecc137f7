/* number.c - conversion between decimal text and numbers, independent of the locale. */
#include "voxsift/internal/core.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static locale_t plain_locale;
static pthread_once_t plain_once = PTHREAD_ONCE_INIT;

static void make_plain_locale(void)
{
    plain_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* If no locale object can be allocated, the current locale stays, which is "C" in our programs. */
static locale_t enter_plain_locale(void)
{
    pthread_once(&plain_once, make_plain_locale);
    return plain_locale ? uselocale(plain_locale) : uselocale((locale_t)0);
}

/* Digits, sign, point and exponent only: strtod also accepts "nan", "0x1p3" and " 1". */
static bool looks_decimal(const char *text)
{
    return *text && strspn(text, "0123456789+-.eE") == strlen(text) && strpbrk(text, "0123456789");
}

bool vxs_parse_real(const char *text, double *value)
{
    if (!text || !looks_decimal(text))
        return false;
    locale_t before = enter_plain_locale();
    char *end = NULL;
    double parsed = strtod(text, &end);
    uselocale(before);
    if (*end || !isfinite(parsed))
        return false;
    *value = parsed;
    return true;
}

bool vxs_parse_reals(const char *text, double *values, size_t most, size_t *count)
{
    for (*count = 0; text && *count < most;) {
        char cell[64];
        size_t length = strcspn(text, ",");
        if (length >= sizeof(cell))
            return false;
        memcpy(cell, text, length);
        cell[length] = '\0';
        if (!vxs_parse_real(cell, &values[(*count)++]))
            return false;
        text = text[length] == ',' ? text + length + 1 : NULL;
    }
    return !text && *count > 0;
}

bool vxs_parse_whole(const char *text, int64_t *value)
{
    if (!text || !*text || !isdigit((unsigned char)text[strlen(text) - 1]))
        return false;
    if (strspn(text, "+-0123456789") != strlen(text))
        return false;
    char *end = NULL;
    errno = 0;
    long long parsed = strtoll(text, &end, 10);
    if (*end || errno)
        return false;
    *value = parsed;
    return true;
}

bool vxs_parse_bytes(const char *text, int64_t *value)
{
    static const char units[] = "KMGT";
    char digits[24];
    size_t length = text ? strlen(text) : 0;
    const char *unit = length > 0 ? strchr(units, toupper((unsigned char)text[length - 1])) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    length -= unit != NULL;
    if (length == 0 || length >= sizeof(digits))
        return false;
    memcpy(digits, text, length);
    digits[length] = '\0';
    if (!vxs_parse_whole(digits, value) || *value < 0 || *value > INT64_MAX >> shift)
        return false;
    *value = *value << shift;
    return true;
}

const char *vxs_real_text(double value, char buffer[VXS_REAL_TEXT])
{
    if (!isfinite(value)) {
        snprintf(buffer, VXS_REAL_TEXT, "%s", isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        return buffer;
    }
    if (fabs(value) < 1e15 && value == floor(value)) { /* 100 instead of 1e+02 */
        snprintf(buffer, VXS_REAL_TEXT, "%.0f", value);
        return buffer;
    }
    locale_t before = enter_plain_locale();
    for (int digits = 15; digits <= 17; digits++) { /* %g removes trailing zeros */
        snprintf(buffer, VXS_REAL_TEXT, "%.*g", digits, value);
        if (strtod(buffer, NULL) == value)
            break;
    }
    uselocale(before);
    return buffer;
}

const char *vxs_short_text(double value, char buffer[VXS_REAL_TEXT])
{
    bool whole = value == floor(value) && fabs(value) < 1e9;
    snprintf(buffer, VXS_REAL_TEXT, whole ? "%.0f" : "%.3g", value == 0 ? 0 : value);
    return buffer;
}

const char *vxs_score_text(double value, bool sign, char buffer[VXS_REAL_TEXT])
{
    double size = fabs(value);
    if (isnan(value)) {
        snprintf(buffer, VXS_REAL_TEXT, "unknown");
        return buffer;
    }
    bool many = size >= 99.95 && size < 1e9; /* "123", not "123." or "1.23e+03" */
    snprintf(buffer, VXS_REAL_TEXT, many ? (sign ? "%+.0f" : "%.0f") : (sign ? "%+#.3g" : "%#.3g"),
             size == 0 ? 0 : value);
    return buffer;
}

const char *vxs_plural(size_t count)
{
    return count == 1 ? "" : "s";
}

const char *vxs_have(size_t count)
{
    return count == 1 ? "has" : "have";
}

double vxs_round_mm(double value)
{
    return round(10 * value) / 10 + 0.0; /* + 0: no -0 */
}

double vxs_round_percent(double value)
{
    return round(value) + 0.0;
}

const char *vxs_mm_text(double value, char buffer[VXS_REAL_TEXT])
{
    snprintf(buffer, VXS_REAL_TEXT, "%.1f", vxs_round_mm(value));
    return buffer;
}
