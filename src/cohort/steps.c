/* steps.c - the steps of preprocessing between the voxels of an image and features, in the order in
 * which they are run; a row has all that is known of a step. */
#include "cohort/build.h"

#include <stdio.h>
#include <string.h>

static vxs_status smooth(const vxs_build *build, vxs_subject *subject, vxs_volume *volume,
                         vxs_error *err)
{
    (void)subject;
    return vxs_volume_smooth(volume, build->settings->smooth, build->mask, err);
}

const vxs_step vxs_steps[] = {
    { .name = "nan" },
    { .name = "scale",
      .run = vxs_build_scale,
      .also = { "reference", "reference-labels" },
      .done = "scaled",
      .unit = "",
      .before = "scaling: ",
      .after = "" },
    { .name = "smooth",
      .run = smooth,
      .voxel_bytes = 16,
      .done = "smoothed",
      .unit = " mm",
      .before = "smoothed by ",
      .after = " mm (full width at half maximum)" },
    { .name = NULL },
};

static const vxs_param *find_param(const char *name)
{
    const vxs_param *p = vxs_cohort_params;
    while (p->name && strcmp(p->name, name) != 0)
        p++;
    return p;
}

const vxs_param *vxs_step_param(const vxs_step *step)
{
    return find_param(step->name);
}

static bool is_run(const vxs_step *step, const vxs_cohort_settings *settings)
{
    return step->run && vxs_param_is_given(vxs_step_param(step), settings);
}

bool vxs_steps_asked(const vxs_cohort_settings *settings)
{
    for (const vxs_step *step = vxs_steps; step->name; step++)
        if (is_run(step, settings))
            return true;
    return false;
}

uint64_t vxs_steps_voxel_bytes(const vxs_cohort_settings *settings)
{
    uint64_t most = 0;
    for (const vxs_step *step = vxs_steps; step->name; step++)
        if (is_run(step, settings) && step->voxel_bytes > most)
            most = step->voxel_bytes;
    return most;
}

/* Keys are the names of options with underscores. */
static void write_json(vxs_json_writer *w, const char *name, const vxs_cohort_settings *settings)
{
    char key[64];
    snprintf(key, sizeof(key), "%s", name);
    for (char *at = key; *at; at++)
        if (*at == '-')
            *at = '_';
    vxs_json_param(w, key, find_param(name), settings);
}

void vxs_steps_json(vxs_json_writer *w, const vxs_cohort_settings *settings)
{
    for (const vxs_step *step = vxs_steps; step->name; step++) {
        write_json(w, step->name, settings);
        for (int k = 0; k < VXS_STEP_ALSO && step->also[k]; k++)
            write_json(w, step->also[k], settings);
    }
}

vxs_status vxs_steps_run(const vxs_build *build, vxs_subject *subject, vxs_volume *volume,
                         vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (const vxs_step *step = vxs_steps; step->name && !status; step++)
        if (is_run(step, build->settings))
            status = step->run(build, subject, volume, err);
    return status;
}
