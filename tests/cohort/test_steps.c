/* Steps of preprocessing: what is asked for, and that prediction repeats what cohort.json says. */
#include "cohort/build.h"
#include "tests/core/check.h"

static void set_all(vxs_cohort_settings *s)
{
    vxs_params_defaults(vxs_cohort_params, s);
    s->nan = VXS_NAN_DROP;
    s->scale = VXS_SCALE_Z;
    s->smooth = 3.25;
}

static void print_steps(FILE *stream, void *settings)
{
    vxs_json_writer w;
    vxs_json_init(&w, stream);
    vxs_json_open_object(&w, NULL);
    vxs_steps_json(&w, settings);
    vxs_json_close_object(&w);
}

Test(steps, every_step_and_what_it_needs_is_an_option)
{
    vxs_cohort_settings s;
    vxs_params_defaults(vxs_cohort_params, &s);
    cr_assert_not(vxs_steps_asked(&s));
    cr_assert_eq(vxs_steps_voxel_bytes(&s), 0);
    for (const vxs_step *step = vxs_steps; step->name; step++) {
        cr_assert(vxs_step_param(step)->name, "%s", step->name);
        cr_assert_not(vxs_param_is_given(vxs_step_param(step), &s), "%s", step->name);
    }
    s.smooth = 1;
    cr_assert(vxs_steps_asked(&s));
    cr_assert_eq(vxs_steps_voxel_bytes(&s), 16);
    s.smooth = 0;
    s.scale = VXS_SCALE_GLOBAL;
    cr_assert(vxs_steps_asked(&s));
    cr_assert_eq(vxs_steps_voxel_bytes(&s), 0);
    s.scale = VXS_SCALE_NONE;
    s.nan = VXS_NAN_ERROR; /* decided while images are read */
    cr_assert_not(vxs_steps_asked(&s));
}

Test(steps, what_is_written_of_a_step_is_what_is_read)
{
    vxs_cohort_settings s, again;
    vxs_error err = VXS_ERROR_INIT;
    vxs_json *root = NULL;
    set_all(&s);
    char *text = printed(print_steps, &s);
    WORKS(vxs_json_parse(text, strlen(text), "steps", &root, &err), err);
    vxs_params_defaults(vxs_cohort_params, &again);
    for (const vxs_step *step = vxs_steps; step->name; step++) {
        const vxs_param *p = vxs_step_param(step);
        const vxs_json *value = vxs_json_get(root, step->name);
        cr_assert(value && vxs_param_read(p, value, &again), "%s", step->name);
        cr_assert(vxs_param_is_given(p, &again), "%s", step->name);
    }
    cr_assert(again.nan == s.nan && again.scale == s.scale && again.smooth == s.smooth);
    cr_assert(vxs_json_get(root, "reference_labels")->kind == VXS_JSON_NULL);
    vxs_json_free(root);
    free(text);
}

Test(steps, values_that_are_none_are_not_read)
{
    static const char *const bad[] = { "{\"smooth\": -1}", "{\"smooth\": \"a\"}",
                                       "{\"smooth\": []}", "{\"scale\": \"y\"}", "{\"scale\": 1}" };
    vxs_cohort_settings s;
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        vxs_error err = VXS_ERROR_INIT;
        vxs_json *root = NULL;
        WORKS(vxs_json_parse(bad[k], strlen(bad[k]), "bad", &root, &err), err);
        vxs_params_defaults(vxs_cohort_params, &s);
        for (const vxs_step *step = vxs_steps; step->name; step++) {
            const vxs_json *value = vxs_json_get(root, step->name);
            cr_assert(!value || !vxs_param_read(vxs_step_param(step), value, &s), "%s", bad[k]);
        }
        vxs_json_free(root);
    }
}
