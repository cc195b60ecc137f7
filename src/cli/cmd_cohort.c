/* cmd_cohort.c - voxsift cohort. */
#include "cli/cli.h"

static const vxs_operand operands[] = {
    { .name = "SOURCE",
      .help = "a table with --image-column or --pattern, a folder, a list of images (.txt), a "
              "pattern in quotes, images, or one 4D image with --rows; none with --feature-table, "
              "--npy "
              "or --svmlight",
      .optional = true,
      .repeat = true },
    { .name = NULL },
};

static const vxs_example examples[] = {
    { "voxsift cohort participants.tsv --image-column t1w -o t1w",
      "join a table to the images it names" },
    { "voxsift cohort 'pet/*.nii.gz' --participants participants.tsv --scale suvr \\\n"
      "    --reference cerebellum.nii.gz --smooth 6 -o pet",
      "find images by name, join them by id, scale to SUVR and smooth" },
    { "voxsift cohort bold.nii.gz --rows attributes.txt --row-names condition,run -o haxby",
      "take the volumes of one image as samples" },
    { "voxsift cohort participants.tsv --image-column t1w --dry-run",
      "check everything, and see how large it would be" },
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
                "  %s/features.values.npy  the values that are not 0, feature by feature\n"
                "  %s/features.rows.npy    the subject of each value, counted from 0\n"
                "  %s/features.starts.npy  where the values of each feature begin, and their end\n",
                folder, folder, folder);
    else
        fprintf(out, "  %s/features.npy      the data, one row a feature, one column a subject\n",
                folder);
    fprintf(out,
            "  %s/participants.tsv  who they are\n"
            "  %s/cohort.json       where everything came from, and who was left out why\n",
            folder, folder);
    if (s->voxels)
        fprintf(out, "  %s/mask.nii.gz       the voxels; coverage.nii.gz: subjects with signal\n",
                folder);
}

static void print_words(const vxs_call *call, const vxs_cohort_summary *s, bool dry)
{
    fprintf(call->out, "%s: %zu subject%s of %zu %s", dry ? "Checked" : "Made a cohort",
            s->subjects, s->subjects == 1 ? "" : "s", s->people,
            s->people == 1 ? "person" : "people");
    if (s->people_perhaps < s->people)
        fprintf(call->out, " (perhaps %zu)", s->people_perhaps);
    if (s->dropped > 0)
        fprintf(call->out, " (%zu left out)", s->dropped);
    if (s->not_selected > 0)
        fprintf(call->out, " (%zu not selected)", s->not_selected);
    fprintf(call->out, " with %zu %s each", s->features, s->voxels ? "voxels" : "features");
    if (s->edges > 0)
        fprintf(call->out, ", %zu pairs of neighbours", s->edges);
    if (s->sparse)
        fprintf(call->out, "; %zu values are not 0", s->stored);
    fprintf(call->out, ".\n");
    if (dry) {
        fprintf(call->out,
                "It would take %.1f MB on disk, about %.0f MB of memory and %.1f s.\n"
                "Nothing was written: this was a dry run.\n",
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
    .summary = "join a table to images, check them, and make a cohort of them",
    .details =
        "Images are joined to the table by its column of ids (participant_id, or --id-column), "
        "never "
        "by position: 'sub-007', '007' and '7' are one id. Everything is checked before anything "
        "is written: grids (in mm at "
        "their corners), orientation, damaged and empty files, doubles, ids that stand twice, NaN, "
        "intensities far from the others. Every subject that cannot be used is named with the "
        "reason; --drop-bad goes on without them.\n\n"
        "An image without a table has its file name as id, or the 'sub-01' of it. Where several "
        "have "
        "one, the session or the rest of the name is added (sub-01_ses-1); where the names agree "
        "('fs/*/mri/brain.nii.gz'), ids are made of the folders that differ; two that agree in all "
        "are refused. A table of persons gives its row to each of their sessions.\n\n"
        "A subject is a row of the cohort, such as a scan; a person may have several. --id-column "
        "is "
        "the column that differs from row to row. Persons are found in --person, or in a column "
        "called participant_id, subject_id, subject, patient_id, PTID, RID or the like beside the "
        "ids (a value that stands twice is a person with two subjects), or else in ids that have "
        "a session, run or visit behind the person: sub-01_ses-2 is of sub-01, P7_visit2 and "
        "P7_baseline of P7. Or in a column such as PATNO, eid, subj_no or case_id, where all have "
        "a value. Where columns differ about it, --person must be given.\n\n"
        "What may be persons as well is warned of: a column that is called like one of ids "
        "(child_id) and repeats, and, where no person has several subjects, a column of any name "
        "whose values stand more evenly than by chance (twice each), are codes, or go with one "
        "sex each; ids that share all but a part with few values, each of which stands with "
        "several persons (P7_V2, 054_1 and 054_2, 054a, sub-01_2017, MUC_V1_001), or but a date; "
        "and ids that differ only in zeros, capitals or the form of Unicode (P040 and P40). A part "
        "before the number may be a site or a group, whose numbers begin again (A_01 and B_01): it "
        "is warned of where it is a word for a visit, a date or a short number, or where the same "
        "numbers are missing behind all of its values. Tails that no two scans share "
        "(3001_I276822, "
        "P003_61.5) are warned of where many numbers before them repeat, and each has few. Numbers "
        "of people that are printed as "
        "'(perhaps 12)' count persons as the warning would have them. "
        "It may be families or sites as well: --person COLUMN says that these are "
        "persons, --person with the column of ids that each row is one, and the warning ends. "
        "cv, permute, stability, and fit where it uses folds, repeat it for the subjects they "
        "have, and their results and pages keep it ('warnings' in JSON).\n\n"
        "cohort.json says "
        "which columns these are, and columns keep their names. cv, permute, stability and fit "
        "never split a person. Rows of svmlight text are persons each, unless --person qid says "
        "that those of one qid are one. A column of persons in a table of --feature-table is no "
        "feature.\n\n"
        "The cohort is a directory that other programs can read: features.npy (float32, voxels x "
        "subjects), participants.tsv, mask.nii.gz, coverage.nii.gz and cohort.json, which records "
        "every source with its SHA-256, what was done to it, and who was left out why.\n\n"
        "Of svmlight text only the values that are not 0 are stored when they are fewer than a "
        "quarter of all. Instead of features.npy there are features.values.npy (float32, feature "
        "by feature), features.rows.npy (int32, the subject of each value) and features.starts.npy "
        "(uint64, where the values of each feature begin, and where they end); "
        "scipy.sparse.csc_matrix((values, rows, starts)) is subjects x features.\n\n"
        "In this order: images are brought onto one grid (--resample, --voxel-size), values that "
        "are not finite are settled (--nan), each image is scaled (--scale) and smoothed inside "
        "the mask (--smooth), and voxels of the mask or means of regions (--regions) are taken. "
        "Without --mask and --mask-fraction the mask is found from the mean image: above a tenth "
        "of its robust range, the largest component, holes filled.",
    .operands = operands,
    .params = vxs_source_params,
    .more_params = vxs_cohort_params,
    .takes = VXS_TAKES_OUTPUT | VXS_TAKES_JSON | VXS_TAKES_THREADS | VXS_OUTPUT_OPTIONAL,
    .examples = examples,
    .run = run,
};
