/* cmd_cohort.c - voxsift cohort. */
#include "cli/cli.h"

static const vxs_operand operands[] = {
    { .name = "SOURCE",
      .help = "a table with --image-column or --pattern, a folder, a list (.txt), a pattern in "
              "quotes, images, or a 4D image with --rows",
      .optional = true,
      .repeat = true },
    { .name = NULL },
};

static const vxs_example examples[] = {
    { "voxsift cohort participants.tsv --image-column t1w -o t1w",
      "join a table to the images it names" },
    { "voxsift cohort 'pet/*.nii.gz' --participants participants.tsv --scale suvr \\\n"
      "    --reference cerebellum.nii.gz --smooth 6 -o pet",
      "match images to a table by id, scale to SUVR and smooth" },
    { "voxsift cohort bold.nii.gz --rows attributes.txt --row-names condition,run -o haxby",
      "take the volumes of one image as samples" },
    { "voxsift cohort participants.tsv --image-column t1w --dry-run",
      "check all inputs and report the size of the cohort" },
    { NULL, NULL },
};

static void print_json(const vxs_call *call, const vxs_cohort_summary *s, bool dry)
{
    vxs_json_writer w;
    vxs_json_init(&w, call->out);
    vxs_json_open_object(&w, NULL);
    vxs_json_text(&w, "cohort", dry ? NULL : call->shared->out);
    vxs_json_whole(&w, "subjects", (int64_t)s->subjects);
    vxs_json_whole(&w, "people", (int64_t)s->people);
    vxs_json_whole(&w, "people_perhaps", (int64_t)s->people_perhaps);
    vxs_json_whole(&w, "dropped", (int64_t)s->dropped);
    vxs_json_whole(&w, "not_selected", (int64_t)s->not_selected);
    vxs_json_whole(&w, s->voxels ? "voxels" : "features", (int64_t)s->features);
    vxs_json_whole(&w, "edges", (int64_t)s->edges);
    if (s->sparse)
        vxs_json_whole(&w, "stored_values", (int64_t)s->stored);
    vxs_json_whole(&w, "bytes", (int64_t)s->expected_bytes);
    vxs_json_whole(&w, "memory", (int64_t)s->expected_memory);
    vxs_json_real(&w, "seconds", s->seconds);
    if (dry)
        vxs_json_real(&w, "expected_seconds", s->expected_seconds);
    vxs_close_json(call, &w);
}

static void print_files(FILE *out, const char *folder, const vxs_cohort_summary *s)
{
    if (s->sparse)
        fprintf(out,
                "  %s/features.values.npy  the nonzero values, by feature\n  %s/features.rows.npy  "
                "  the subject of each value, from 0\n  %s/features.starts.npy  the first value of "
                "each feature, and the end\n",
                folder, folder, folder);
    else
        fprintf(out,
                "  %s/features.npy      the data, one row per feature, one column per subject\n",
                folder);
    fprintf(out,
            "  %s/participants.tsv  the subjects\n  %s/cohort.json       sources, preprocessing, "
            "and subjects left out with reasons\n",
            folder, folder);
    if (s->voxels)
        fprintf(
            out,
            "  %s/mask.nii.gz       the mask; coverage.nii.gz: number of subjects with signal\n",
            folder);
}

static void print_words(const vxs_call *call, const vxs_cohort_summary *s, bool dry)
{
    fprintf(call->out, "%s: %zu subject%s of %zu %s", dry ? "Checked" : "Made a cohort",
            s->subjects, vxs_plural(s->subjects), s->people, s->people == 1 ? "person" : "people");
    if (s->people_perhaps < s->people)
        fprintf(call->out, " (perhaps %zu)", s->people_perhaps);
    if (s->dropped > 0)
        fprintf(call->out, " (%zu left out)", s->dropped);
    if (s->not_selected > 0)
        fprintf(call->out, " (%zu not selected)", s->not_selected);
    fprintf(call->out, " with %zu %s%s each", s->features, s->voxels ? "voxel" : "feature",
            vxs_plural(s->features));
    if (s->edges > 0)
        fprintf(call->out, ", %zu edge%s between neighbors", s->edges, vxs_plural(s->edges));
    if (s->sparse)
        fprintf(call->out, "; %zu nonzero value%s", s->stored, vxs_plural(s->stored));
    fprintf(call->out, ".\n");
    if (dry) {
        fprintf(call->out,
                "Expected: %.1f MB on disk, about %.0f MB of memory, %.1f s.\nDry run: nothing was "
                "written.\n",
                (double)s->expected_bytes / 1e6, (double)s->expected_memory / 1e6,
                s->expected_seconds);
        return;
    }
    print_files(call->out, call->shared->out, s);
}

static vxs_status run(const vxs_call *call, vxs_error *err)
{
    const vxs_cohort_settings *settings = call->values;
    vxs_cohort_summary summary;
    if (!call->shared->out && !settings->dry_run)
        return vxs_fail(err, VXS_MISUSE, "option '--out DIR' is missing");
    vxs_status status =
        vxs_cohort_make(call->context, settings, (const char *const *)call->operands,
                        call->shared->out, call->shared->force, &summary, err);
    if (status)
        return status;
    if (call->shared->json)
        print_json(call, &summary, settings->dry_run);
    else
        print_words(call, &summary, settings->dry_run);
    return VXS_OK;
}

const vxs_command vxs_cmd_cohort = {
    .name = "cohort",
    .heading = "Make data",
    .summary = "join a table to images, check them, and write a cohort",
    .details =
        "Joins images to a table by subject id and checks every image (grid, orientation, damage, "
        "duplicate ids, NaN, outlying intensities) before writing. Reports each unusable subject "
        "with the reason; --drop-bad continues without them.\n\n"
        "Matches ids, not row order: 'sub-007', '007' and '7' are the same id.\n\n"
        "Without a table, the id of an image is its file name, or the 'sub-01' in it. If several "
        "images share it, the id includes the session or the rest of the name (sub-01_ses-1); if "
        "file names agree ('fs/*/mri/brain.nii.gz'), the folders that differ; if all agree, the "
        "command fails. A table with one row per person applies to each of the person's "
        "sessions.\n\n"
        "Output directory: features.npy (float32, voxels x subjects), participants.tsv, "
        "mask.nii.gz, coverage.nii.gz and cohort.json (sources with SHA-256, preprocessing, "
        "excluded subjects with reasons).\n\n"
        "svmlight data are stored sparse if fewer than a quarter of the values are nonzero: "
        "features.values.npy (float32, by feature), features.rows.npy (int32, subject of each "
        "value) and features.starts.npy (uint64, first value of each feature, and the end). "
        "scipy.sparse.csc_matrix((values, rows, starts)) is subjects x features.\n\n"
        "Preprocessing, in this order: resample to one grid (--resample, --voxel-size), replace or "
        "drop NaN and infinite values (--nan), scale (--scale), smooth within the mask (--smooth), "
        "extract mask voxels or region means (--regions). The default mask is computed from the "
        "mean image: voxels above a tenth of its robust range, largest component, holes filled.",
    .operands = operands,
    .params = vxs_source_params,
    .more_params = vxs_cohort_params,
    .takes = VXS_TAKES_OUTPUT | VXS_TAKES_JSON | VXS_TAKES_THREADS | VXS_OUTPUT_OPTIONAL |
             VXS_TAKES_DRY_RUN,
    .examples = examples,
    .run = run,
};
