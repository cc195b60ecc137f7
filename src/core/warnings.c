/* warnings.c - collects the warnings of a run for its results. */
#include "voxsift/internal/core.h"

#include <stdlib.h>

void vxs_warnings_add(vxs_warnings *w, const char *message)
{
    char *text = vxs_format(NULL, "%s", message);
    char **more = text ? vxs_resize((void *)w->each, w->count + 1, sizeof(*more), NULL) : NULL;
    if (!more) { /* it was printed on standard error */
        free(text);
        return;
    }
    w->each = more;
    w->each[w->count++] = text;
}

void vxs_warnings_json(vxs_json_writer *writer, const vxs_warnings *w)
{
    vxs_json_open_array(writer, "warnings");
    for (size_t k = 0; w && k < w->count; k++)
        vxs_json_text(writer, NULL, w->each[k]);
    vxs_json_close_array(writer);
}

void vxs_warnings_release(vxs_warnings *w)
{
    for (size_t k = 0; k < w->count; k++)
        free(w->each[k]);
    free((void *)w->each);
    *w = (vxs_warnings){ .count = 0 };
}
