/* cmd_patches.c - voxsift patches. */
#include "cli/cli.h"

static const vxs_operand operands[] = {
    { .name = "TABLE", .help = "a table that names the images of each subject" },
    { .name = NULL },
};

static const vxs_example examples[] = {
    { "voxsift patches participants.tsv --image-column t1w --label-column lesion \\\n"
      "    --label-threshold 0.5 -o voxels",
      "learn lesion voxels from patches of 3 x 3 x 3 voxels" },
    { "voxsift patches table.tsv --image-column t1w,flair --label-column wmh --means 6,12 \\\n"
      "    --coordinates --scale z --per-class 50 -o wmh",
      "two contrasts, with means of the neighborhood and the position" },
    { NULL, NULL },
};

/* The name of a label, as in the cohort. */
static const char *label_name(const vxs_patch_summary *s, size_t k, char text[32])
{
    bool plain = s->label[s->label_count - 1] <= 1;
    snprintf(text, 32, plain ? "%d" : "label-%d", (int)s->label[k]);
    return text;
}

static void print_json(const vxs_call *call, const vxs_patch_summary *s, bool dry)
{
    const vxs_cohort_summary *c = &s->cohort;
    vxs_json_writer w;
    char label[32];
    vxs_json_init(&w, call->out);
    vxs_json_open_object(&w, NULL);
    vxs_json_text(&w, "cohort", dry ? NULL : call->shared->out);
    vxs_json_whole(&w, "voxels", (int64_t)c->subjects);
    vxs_json_open_object(&w, "drawn");
    for (size_t k = 0; k < s->label_count; k++)
        vxs_json_whole(&w, label_name(s, k, label), (int64_t)s->sampled[k]);
    vxs_json_close_object(&w);
    vxs_json_whole(&w, "in_mask", (int64_t)s->in_mask);
    vxs_json_whole(&w, "labels_outside", (int64_t)s->outside);
    vxs_json_whole(&w, "subjects", (int64_t)s->subjects);
    vxs_json_whole(&w, "people", (int64_t)c->people);
    vxs_json_whole(&w, "people_perhaps", (int64_t)c->people_perhaps);
    vxs_json_whole(&w, "dropped", (int64_t)c->dropped);
    vxs_json_whole(&w, "not_selected", (int64_t)c->not_selected);
    vxs_json_whole(&w, "features", (int64_t)c->features);
    vxs_json_whole(&w, "bytes", (int64_t)c->expected_bytes);
    vxs_json_real(&w, "seconds", c->seconds);
    vxs_close_json(call, &w);
}

static void print_words(const vxs_call *call, const vxs_patch_summary *s, bool dry)
{
    const vxs_cohort_summary *c = &s->cohort;
    FILE *out = call->out;
    const char *folder = call->shared->out;
    char label[32];
    fprintf(out, "%s: %zu voxel%s of %zu subject%s of %zu %s", dry ? "Checked" : "Made a cohort",
            c->subjects, vxs_plural(c->subjects), s->subjects, vxs_plural(s->subjects), c->people,
            c->people == 1 ? "person" : "people");
    if (c->people_perhaps < c->people)
        fprintf(out, " (perhaps %zu)", c->people_perhaps);
    if (c->dropped > 0)
        fprintf(out, " (%zu left out)", c->dropped);
    if (c->not_selected > 0)
        fprintf(out, " (%zu not selected)", c->not_selected);
    fprintf(out, " with %zu feature%s each.\n", c->features, vxs_plural(c->features));
    for (size_t k = 0; k < s->label_count; k++)
        fprintf(out, "%s%s: %zu", k == 0 ? "  voxels of each class: " : ", ",
                label_name(s, k, label), s->sampled[k]);
    fprintf(out, "\n  drawn from the %zu voxels of the masks", s->in_mask);
    if (s->outside > 0)
        fprintf(out, "; %zu with a label above 0 %s outside of these", s->outside,
                s->outside == 1 ? "is" : "are");
    fprintf(out, "\n");
    if (dry) {
        fprintf(out, "Expected: %.1f MB on disk.\nDry run: nothing was written.\n",
                (double)c->expected_bytes / 1e6);
        return;
    }
    fprintf(
        out,
        "  %s/features.npy      the data, one row per feature, one column per voxel\n"
        "  %s/participants.tsv  the voxels: subject, class, place\n"
        "  %s/features.tsv      what each feature is: contrast, step, radius\n"
        "  %s/cohort.json       sources, how voxels were drawn, subjects left out with reasons\n",
        folder, folder, folder, folder);
}

static vxs_status run(const vxs_call *call, vxs_error *err)
{
    const vxs_patch_settings *settings = call->values;
    bool dry = settings->sources.dry_run;
    vxs_patch_summary summary;
    if (!call->shared->out && !dry)
        return vxs_fail(err, VXS_MISUSE, "option '--out DIR' is missing");
    vxs_status status = vxs_patches_make(call->context, settings, call->operands[0],
                                         call->shared->out, call->shared->force, &summary, err);
    if (status)
        return status;
    if (call->shared->json)
        print_json(call, &summary, dry);
    else
        print_words(call, &summary, dry);
    return VXS_OK;
}

const vxs_command vxs_cmd_patches = {
    .name = "patches",
    .heading = "Make data",
    .summary = "make a cohort whose rows are voxels of images, to learn labels of voxels",
    .details =
        "Draws voxels of each class from the label image of each subject. A voxel is a row; its "
        "features are the values of each contrast in a cube around it (--patch), means of its "
        "neighborhood (--means) and its position (--coordinates). The label is the column named "
        "by --label-column, which is the --target of cv and fit.\n\n"
        "The person of a voxel is that of its subject, by the rules of 'voxsift cohort': folds, "
        "halves, bootstrap draws and permutation blocks hold all voxels of a person together.\n\n"
        "All images of a subject must be on one grid; those of different subjects need not. Steps "
        "of a patch go to the right, to the front and upwards in every image. A patch that leaves "
        "the image takes the value at its nearest edge; a mean is of the voxels inside the image. "
        "A voxel with a value that is NaN or infinite in its patch is never drawn, and a warning "
        "counts these.\n\n"
        "Draws depend on --seed and on the subject's id alone: other subjects in the table change "
        "nothing.\n\n"
        "'voxsift predict MODEL TABLE -o DIR' writes an image of probabilities for each subject.",
    .operands = operands,
    .params = vxs_patch_params,
    .takes = VXS_TAKES_OUTPUT | VXS_TAKES_JSON | VXS_TAKES_THREADS | VXS_OUTPUT_OPTIONAL |
             VXS_TAKES_DRY_RUN,
    .examples = examples,
    .run = run,
};
