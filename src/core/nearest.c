/* nearest.c - suggestions for misspelled words. */
#include "voxsift/internal/core.h"

#include <ctype.h>
#include <string.h>

#define MAX_WORD 64

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Optimal string alignment distance: insertions, deletions, substitutions and transpositions of
 * adjacent letters each cost one. Three rows of the table suffice. */
static size_t slips(const char *a, const char *b)
{
    size_t na = strlen(a), nb = strlen(b);
    size_t rows[3][MAX_WORD + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= nb; j++)
        before[j] = last[j] = j;
    for (size_t i = 1; i <= na; i++) {
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            row[j] = last[j - 1] + (same_letter(a[i - 1], b[j - 1]) ? 0 : 1);
            row[j] = smaller(row[j], smaller(last[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
                same_letter(a[i - 2], b[j - 1]))
                row[j] = smaller(row[j], before[j - 2] + 1);
        }
        size_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[nb];
}

const char *vxs_nearest(const char *word, const char *const *candidates)
{
    size_t length = strlen(word);
    const char *best = NULL;
    size_t fewest = length / 3 + 1; /* one error in short words, one more for every three letters */
    for (; *candidates; candidates++) {
        if (length > MAX_WORD || strlen(*candidates) > MAX_WORD)
            continue;
        size_t distance = slips(word, *candidates);
        bool starts_with = length >= 3 && strncmp(word, *candidates, length) == 0;
        if (distance > fewest && starts_with)
            distance = fewest;
        if (distance <= fewest && (!best || distance < fewest)) {
            best = *candidates;
            fewest = distance;
        }
    }
    return best;
}
