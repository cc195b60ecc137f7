/* cmd_match.c - voxsift match. */
#include "cli/cli.h"

static const vxs_operand operands[] = {
    { .name = "MAP",
      .help = "an image, such as a weight map; or a directory of fit, cv or stability: its weights "
              "(mean over folds), or stable voxels" },
    { .name = "TRUTH",
      .help = "the same: another map, or the truth (a binary image, labels or weights; a directory "
              "of simulate: its truth)" },
    { .name = NULL },
};

static const vxs_example examples[] = {
    { "voxsift match severity truth.nii.gz --tolerance 6",
      "compare a model's map with the true regions, up to 6 mm" },
    { "voxsift match lasso/weights.nii.gz fused/weights.nii.gz",
      "see how much the maps of two models agree" },
    { "voxsift match zmap.nii.gz atlas-roi.nii.gz --threshold 3.1 --resample --json",
      "compare images on different grids, for a script" },
    { NULL, NULL },
};

/* ---- In words -------------------------------------------------------------------------------- */

/* A volume: whole mm3 from 100 on. */
static const char *volume_text(double value, char text[VXS_REAL_TEXT])
{
    if (value < 100)
        return vxs_short_text(value, text);
    snprintf(text, VXS_REAL_TEXT, "%.0f", value);
    return text;
}

static void print_side(FILE *out, const vxs_match *m, const vxs_match_volume *v, int k)
{
    const vxs_match_side *side = &v->sides[k];
    char text[VXS_REAL_TEXT], threshold[VXS_REAL_TEXT];
    fprintf(out, "  %s  ", k == 0 ? "first " : "second");
    vxs_print_clean(out, m->path[k]);
    if (m->count > 1 || v->number[k] > 1)
        fprintf(out, ", volume %zu", v->number[k]);
    fprintf(out, " (%s): %zu voxel%s", vxs_map_kind_words[side->kind], side->voxels,
            vxs_plural(side->voxels));
    if (side->threshold > 0)
        fprintf(out, " above %s", vxs_real_text(side->threshold, threshold));
    fprintf(out, ", %s mm3, %zu %s%s\n", volume_text(side->volume, text), side->peak_count,
            side->kind == VXS_MAP_LABELS ? "region" : "cluster", vxs_plural(side->peak_count));
    if (side->missing > 0)
        fprintf(out, "          %zu voxel%s NaN count%s as absent\n", side->missing,
                side->missing == 1 ? " that is" : "s that are", side->missing == 1 ? "s" : "");
}

static void print_placing(FILE *out, const vxs_match *m, const vxs_match_volume *v)
{
    char here[VXS_ORIENTATION_TEXT], there[VXS_ORIENTATION_TEXT];
    if (m->placing == VXS_MATCH_TURNED)
        fprintf(out, "  the axes of the second were turned from %s to %s\n",
                vxs_grid_orientation_text(&m->other_grid, there),
                vxs_grid_orientation_text(&m->grid, here));
    if (m->placing == VXS_MATCH_RESAMPLED)
        fprintf(out, "  the second was resampled to the grid of the first (%s)\n",
                v->sides[1].kind == VXS_MAP_WEIGHTS
                    ? "linear interpolation where the nearest voxel is not 0"
                    : "nearest voxel");
}

/* A measure, or why there is none; true if there is one. */
static bool print_value(FILE *out, const char *name, double value, const char *undefined)
{
    char text[VXS_REAL_TEXT];
    if (undefined)
        fprintf(out, "  %-12s  unknown: %s\n", name, undefined);
    else
        fprintf(out, "  %-12s  %7s  ", name, vxs_score_text(value, false, text));
    return !undefined;
}

static void print_dice(FILE *out, const vxs_match *m, const vxs_match_volume *v)
{
    char text[VXS_REAL_TEXT];
    print_value(out, "Dice", v->dice, NULL);
    if (v->sides[0].voxels + v->sides[1].voxels == 0) {
        fputs("neither selects a voxel: they agree\n", out);
        return;
    }
    fprintf(out, "%zu voxel%s, %s mm3, in both", v->both, vxs_plural(v->both),
            volume_text((double)v->both * vxs_grid_voxel_volume(&m->grid), text));
    if (v->opposite > 0)
        fprintf(out, "; %zu with opposite signs", v->opposite);
    fputs("\n", out);
}

static void print_acc_ar(FILE *out, const vxs_match_volume *v)
{
    size_t have = v->sides[0].voxels, highest = v->sides[1].voxels;
    if (!print_value(out, "ACC_AR", v->acc_ar, vxs_match_undefined(v, VXS_MATCH_ACC_AR)))
        return;
    fprintf(out, "of the %zu highest of the first", highest);
    if (have < highest)
        fprintf(out, " (which has %zu)", have);
    fputs(", the share in the second\n", out);
}

static void print_share(FILE *out, const vxs_match *m, const vxs_match_volume *v, int k)
{
    static const char *const names[] = { "precision", "sensitivity" };
    static const vxs_match_measure measures[] = { VXS_MATCH_PRECISION, VXS_MATCH_SENSITIVITY };
    static const char *const sides[] = { "first", "second" };
    const vxs_match_side *side = &v->sides[k];
    char text[VXS_REAL_TEXT], tolerance[VXS_REAL_TEXT];
    if (!print_value(out, names[k], k == 0 ? v->precision : v->sensitivity,
                     vxs_match_undefined(v, measures[k])))
        return;
    fprintf(out, "of the %s ", sides[k]);
    if (m->settings->tolerance > 0)
        fprintf(out, "within %s mm of the %s", vxs_real_text(m->settings->tolerance, tolerance),
                sides[1 - k]);
    else
        fprintf(out, "in the %s", sides[1 - k]);
    fprintf(out, "; %s mm3 (%.3g %%) outside\n", volume_text(side->outside_volume, text),
            100 * (double)side->outside / (double)side->voxels);
}

static void print_correlations(FILE *out, const vxs_match *m, const vxs_match_volume *v)
{
    const char *none = vxs_match_undefined(v, VXS_MATCH_CORRELATION);
    const char *plural = vxs_plural(v->correlated);
    if (print_value(out, "Pearson's r", v->pearson, none))
        fprintf(out, "over %zu voxel%s: %s\n", v->correlated, plural, vxs_match_voxels(m));
    if (print_value(out, "Spearman's r", v->spearman, none))
        fputs("over the same\n", out);
}

static void print_peaks(FILE *out, const vxs_match_volume *v, int k)
{
    const vxs_match_side *side = &v->sides[k];
    char mean[VXS_REAL_TEXT], most[VXS_REAL_TEXT];
    const char *none = vxs_match_undefined(v, VXS_MATCH_PEAKS);
    fprintf(out, "  peaks of the %s  ", k == 0 ? "first to the second" : "second to the first");
    if (none)
        fprintf(out, "unknown: %s\n", none);
    else if (side->peak_count == 1)
        fprintf(out, "%s mm (1 peak)\n", vxs_mm_text(side->peak_most, most));
    else
        fprintf(out, "%s mm on average, at most %s mm (%zu peaks)\n",
                vxs_mm_text(side->peak_mean, mean), vxs_mm_text(side->peak_most, most),
                side->peak_count);
}

static void print_volume(FILE *out, const vxs_match *m, const vxs_match_volume *v)
{
    for (int k = 0; k < 2; k++)
        print_side(out, m, v, k);
    print_placing(out, m, v);
    print_dice(out, m, v);
    print_acc_ar(out, v);
    for (int k = 0; k < 2; k++)
        print_share(out, m, v, k);
    print_correlations(out, m, v);
    for (int k = 0; k < 2; k++)
        print_peaks(out, v, k);
}

static void print_json(const vxs_call *call, const vxs_match *m)
{
    vxs_json_writer w;
    vxs_json_init(&w, call->out);
    vxs_json_open_object(&w, NULL);
    vxs_json_text(&w, "output", call->shared->out);
    vxs_match_json(&w, m);
    vxs_close_json(call, &w);
}

static vxs_status run(const vxs_call *call, vxs_error *err)
{
    vxs_match m;
    vxs_status status =
        vxs_match_maps(call->context, call->values, call->operands[0], call->operands[1], &m, err);
    if (status)
        return status;
    const char *directory = call->shared->out;
    if (directory)
        status = vxs_match_save(call->context, &m, directory, call->shared->force, err);
    if (status) {
        vxs_match_release(&m);
        return status;
    }
    if (call->shared->json)
        print_json(call, &m);
    for (size_t v = 0; v < m.count && !call->shared->json; v++) {
        fputs(v > 0 ? "\n" : "", call->out);
        print_volume(call->out, &m, &m.each[v]);
    }
    if (directory && !call->shared->json) {
        fprintf(call->out, "  %s/match.tsv   these numbers, a row for each volume\n", directory);
        fprintf(call->out, "  %s/peaks.tsv   the peaks of both with their distances\n", directory);
        fprintf(call->out, "  %s/match.json  all of it\n", directory);
    }
    vxs_match_release(&m);
    return VXS_OK;
}

const vxs_command vxs_cmd_match = {
    .name = "match",
    .heading = "Look at data",
    .summary = "how well two maps agree, or a map and the truth",
    .details =
        "A voxel is selected where the map is not 0, or its absolute value is above the threshold. "
        "A are the voxels of the first, B those of the second, R the number of B. Dice is 2 |A and "
        "B| / (|A| + |B|). ACC_AR is (2R - ME) / (2R), where ME is the number of voxels in exactly "
        "one of B and the R voxels of A with the largest absolute values; voxels that A lacks to R "
        "count as wrong. Precision is the share of A at most the tolerance away from B, "
        "sensitivity the share of B at most the tolerance away from A, in mm between centers of "
        "voxels.\n\n"
        "The Dice of two that select nothing is 1: they agree. ACC_AR is the share of these R "
        "voxels that are in B; of equal values at the end of the R as many as are needed are taken "
        "by chance. What is farther than the tolerance from the other is listed in mm3 as "
        "outside.\n\n"
        "Pearson's and Spearman's correlation are over the union of both masks: of a directory "
        "its mask.nii.gz, of an image the voxels that are not 0. Labels count as 1. Values below "
        "the threshold are "
        "used as they are.\n\n"
        "Distances of peaks are from the peak of each cluster to the nearest selected voxel of the "
        "other. The peak of a cluster with several largest values is the one nearest to its center "
        "of gravity. Of an image of labels each connected region of one label has a peak; "
        "labels are whole numbers above 0 that make at most ten connected regions each, on "
        "average.\n\n"
        "Images on different grids are refused unless --resample; an image whose axes have another "
        "order or direction on the same voxels is turned. NaN counts as absent. A measure that has "
        "no value is unknown, with the reason; in JSON it is null, and 'undefined' says why. "
        "With -o, writes the numbers (match.tsv, match.json) and the peaks of both (peaks.tsv).",
    .operands = operands,
    .params = vxs_match_params,
    .takes = VXS_TAKES_OUTPUT | VXS_OUTPUT_OPTIONAL | VXS_TAKES_JSON,
    .examples = examples,
    .run = run,
};
