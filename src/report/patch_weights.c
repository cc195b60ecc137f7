/* patch_weights.c - weights of models whose rows are voxels, by contrast and place: a square for
 * each level of a patch, then means of neighborhoods and coordinates. */
#include "cohort/patches.h"
#include "report/sections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Column of weights of an output: weight or mean, with its class where there are several. */
static size_t find_column(const vxs_results *s, const vxs_table *t, size_t output)
{
    static const char *const names[] = { "weight", "mean" };
    const bool one = vxs_record_outputs(&s->record) == 1;
    char text[VXS_OUTPUT_TEXT];
    for (size_t j = 0; j < vxs_table_columns(t); j++)
        for (int k = 0; k < 2; k++) {
            const char *header = vxs_table_header(t, j);
            size_t length = strlen(names[k]);
            if (strncmp(header, names[k], length) != 0)
                continue;
            if (one ? header[length] == '\0'
                    : header[length] == '_' &&
                          strcmp(header + length + 1,
                                 vxs_record_output(&s->record, output, text)) == 0)
                return j;
        }
    return SIZE_MAX;
}

/* Weights of all features; those without a row are 0. */
static vxs_status read_weights(const vxs_results *s, const vxs_table *t, size_t output,
                               double *weights, size_t p, vxs_error *err)
{
    size_t index = 0, column = find_column(s, t, output);
    vxs_status status = vxs_table_find(t, "index", &index, err);
    if (!status && column == SIZE_MAX)
        status =
            vxs_fail(err, VXS_BAD_DATA, "'%s/weights.tsv' has no column of weights", s->directory);
    memset(weights, 0, p * sizeof(*weights));
    for (size_t r = 0; r < vxs_table_rows(t) && !status; r++) {
        double at = NAN, weight = NAN;
        status = vxs_table_real(t, r, index, &at, err);
        if (!status)
            status = vxs_table_real(t, r, column, &weight, err);
        if (!status && !(at >= 0 && at < (double)p && isfinite(weight)))
            status =
                vxs_fail(err, VXS_BAD_DATA, "'%s/weights.tsv' line %zu: no weight of a feature",
                         s->directory, vxs_table_line(t, r));
        if (!status)
            weights[(size_t)at] = weight;
    }
    return status;
}

static void write_level(FILE *out, const vxs_patch_plan *plan, const double *weights, size_t level)
{
    size_t e = plan->edge;
    vxs_html(out, "<table class=\"n\"><tr><td class=\"t\">%d voxels up</td></tr>\n",
             (int)level - (int)(e / 2));
    for (size_t front = e; front-- > 0;) {
        fputs("<tr>", out);
        for (size_t right = 0; right < e; right++)
            vxs_html(out, "<td>%v</td>", weights[(level * e + front) * e + right]);
        fputs("</tr>\n", out);
    }
    fputs("</table>\n", out);
}

static void write_weights(FILE *out, const vxs_patch_plan *plan, const double *weights)
{
    const size_t cube = plan->edge * plan->edge * plan->edge, each = cube + plan->mean_count;
    static const char *const axes[] = { "x", "y", "z" };
    for (size_t c = 0; c < plan->contrast_count; c++) {
        vxs_html(out, "<h3>%s</h3>\n", plan->contrasts[c]);
        for (size_t level = plan->edge; level-- > 0;)
            write_level(out, plan, weights + c * each, level);
        for (size_t k = 0; k < plan->mean_count; k++)
            vxs_html(out, "<p>Mean within %g mm: %v</p>\n", plan->means[k],
                     weights[c * each + cube + k]);
    }
    for (size_t d = 0; d < 3 && plan->coordinates; d++)
        vxs_html(out, "<p>%s (mm): %v</p>\n", axes[d], weights[plan->contrast_count * each + d]);
}

static vxs_status write_outputs(const vxs_results *s, const vxs_table *t,
                                const vxs_patch_plan *plan, vxs_error *err)
{
    double *weights = vxs_alloc(plan->p, sizeof(*weights), err);
    char text[VXS_OUTPUT_TEXT];
    vxs_status status = weights ? VXS_OK : VXS_FAILED;
    fputs(
        "<h2>Weights by contrast and place</h2>\n<p>Rows of the cohort are voxels. A square shows "
        "a level of the patch around the voxel, from above: the front on top, the right on the "
        "right. Weights are of values as the cohort has them; of a kernel that is not linear they "
        "are mean gradients, and of a cross-validation means over folds.</p>\n",
        s->out);
    for (size_t k = 0; k < vxs_record_outputs(&s->record) && !status; k++) {
        status = read_weights(s, t, k, weights, plan->p, err);
        if (!status && vxs_record_outputs(&s->record) > 1)
            vxs_html(s->out, "<p>%s:</p>\n", vxs_record_contrast(&s->record, k, text));
        if (!status)
            write_weights(s->out, plan, weights);
    }
    free(weights);
    return status;
}

vxs_status vxs_section_patches(const vxs_results *s, vxs_error *err)
{
    const vxs_json *patches = vxs_patches_of(s->about);
    vxs_patch_plan plan;
    vxs_table *t = NULL;
    char *path = patches ? vxs_format(err, "%s/weights.tsv", s->directory) : NULL;
    if (!path || access(path, F_OK) != 0) {
        free(path);
        return patches && !path ? VXS_FAILED : VXS_OK;
    }
    vxs_status status = vxs_patch_plan_read(patches, s->directory, &plan, err);
    if (!status)
        status = vxs_table_read(path, &t, err);
    if (!status)
        status = write_outputs(s, t, &plan, err);
    vxs_patch_plan_release(&plan);
    vxs_table_free(t);
    free(path);
    return status;
}
