/* cells.c - cells of tables in visible form: a name with control characters has the same form in
 * tables that are read and written, and on the command line. */
#include "core/cells.h"

#include <string.h>
#include <strings.h>

size_t vxs_cell_next(const char *cell, size_t left, char shown[VXS_SHOWN])
{
    size_t length = vxs_shown_next(cell, left, shown);
    if (length > 0 && (*cell == '\t' || *cell == '\n' || *cell == '\r'))
        memcpy(shown, " ", sizeof(" "));
    return length;
}

static bool is_shown(const char *cell)
{
    size_t length = strlen(cell);
    return vxs_shown_span(cell, length) == length;
}

/* Number of bytes including the final zero; to == NULL: only counts. */
static size_t show(const char *cell, char *to)
{
    char shown[VXS_SHOWN];
    size_t size = 0, length = 0, left = strlen(cell);
    for (; (length = vxs_cell_next(cell, left, shown)) > 0; cell += length, left -= length) {
        size_t more = strlen(shown);
        if (to)
            memcpy(to + size, shown, more);
        size += more;
    }
    if (to)
        to[size] = '\0';
    return size + 1;
}

bool vxs_cell_is_missing(const char *cell)
{
    static const char *const words[] = { "", "n/a", "na", "nan", "null", "#n/a", "<na>", "." };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcasecmp(cell, words[i]) == 0)
            return true;
    return false;
}

bool vxs_cell_is(const char *cell, const char *text)
{
    char shown[VXS_SHOWN];
    size_t length = 0, left = strlen(text);
    for (; (length = vxs_cell_next(text, left, shown)) > 0; text += length, left -= length) {
        size_t size = strlen(shown);
        if (strncmp(cell, shown, size) != 0)
            return false;
        cell += size;
    }
    return *cell == '\0';
}

vxs_status vxs_cells_show(const char **cells, size_t count, char **room, vxs_error *err)
{
    size_t size = 0;
    for (size_t k = 0; k < count; k++)
        size += is_shown(cells[k]) ? 0 : show(cells[k], NULL);
    if (size == 0)
        return VXS_OK;
    char *at = *room = vxs_alloc(size, 1, err);
    if (!at)
        return VXS_FAILED;
    for (size_t k = 0; k < count; k++) {
        if (is_shown(cells[k]))
            continue;
        const char *shown = at;
        at += show(cells[k], at);
        cells[k] = shown;
    }
    return VXS_OK;
}
