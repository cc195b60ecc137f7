/* match_write.c - the results of a comparison of two maps, as JSON and as tables. */
#include "voxsift/internal/report.h"

#include <math.h>

const char *vxs_match_voxels(const vxs_match *m)
{
    static const char *const words[2][2] = {
        { "where either is not 0", "the mask of the second, and where the first is not 0" },
        { "the mask of the first, and where the second is not 0", "the masks of both" },
    };
    return words[m->masked[0]][m->masked[1]];
}

/* ---- As JSON --------------------------------------------------------------------------------- */

static void write_peaks(vxs_json_writer *w, const vxs_match_side *side)
{
    vxs_json_open_array(w, "peaks");
    for (size_t k = 0; k < side->peak_count; k++) {
        const vxs_match_peak *p = &side->peaks[k];
        vxs_json_open_object(w, NULL);
        vxs_json_real(w, "peak_x", p->at[0]);
        vxs_json_real(w, "peak_y", p->at[1]);
        vxs_json_real(w, "peak_z", p->at[2]);
        vxs_json_real(w, "peak_value", p->value);
        vxs_json_real(w, "volume_mm3", p->volume);
        vxs_json_real(w, "distance_mm", p->distance);
        vxs_json_close_object(w);
    }
    vxs_json_close_array(w);
}

static void write_side(vxs_json_writer *w, const vxs_match *m, const vxs_match_volume *v, int k)
{
    const vxs_match_side *side = &v->sides[k];
    bool resampled = k == 1 && m->placing == VXS_MATCH_RESAMPLED;
    vxs_json_open_object(w, k == 0 ? "first" : "second");
    vxs_json_whole(w, "volume", (int64_t)v->number[k]);
    vxs_json_text(w, "kind", vxs_map_kind_words[side->kind]);
    vxs_json_real(w, "threshold", side->threshold);
    vxs_json_whole(w, "n_voxels", (int64_t)side->voxels);
    vxs_json_real(w, "volume_mm3", side->volume);
    vxs_json_whole(w, "nan_voxels", (int64_t)side->missing);
    if (resampled) {
        vxs_json_text(w, "interpolation", side->kind == VXS_MAP_WEIGHTS ? "linear" : "nearest");
        vxs_json_whole(w, "lost_voxels", (int64_t)side->lost);
    }
    vxs_json_whole(w, "outside_voxels", (int64_t)side->outside);
    vxs_json_real(w, "outside_mm3", side->outside_volume);
    vxs_json_real(w, "outside_share",
                  side->voxels > 0 ? (double)side->outside / (double)side->voxels : NAN);
    vxs_json_real(w, "peak_distance_mean_mm", side->peak_mean);
    vxs_json_real(w, "peak_distance_max_mm", side->peak_most);
    write_peaks(w, side);
    vxs_json_close_object(w);
}

/* Why a measure is null. */
static void write_undefined(vxs_json_writer *w, const vxs_match_volume *v)
{
    static const char *const names[] = { [VXS_MATCH_ACC_AR] = "acc_ar",
                                         [VXS_MATCH_PRECISION] = "precision",
                                         [VXS_MATCH_SENSITIVITY] = "sensitivity",
                                         [VXS_MATCH_CORRELATION] = "pearson",
                                         [VXS_MATCH_PEAKS] = "peak_distance" };
    vxs_json_open_object(w, "undefined");
    for (int k = VXS_MATCH_ACC_AR; k <= VXS_MATCH_PEAKS; k++) {
        const char *why = vxs_match_undefined(v, (vxs_match_measure)k);
        if (why)
            vxs_json_text(w, names[k], why);
        if (why && k == VXS_MATCH_CORRELATION)
            vxs_json_text(w, "spearman", why);
    }
    vxs_json_close_object(w);
}

static void write_volume(vxs_json_writer *w, const vxs_match *m, const vxs_match_volume *v)
{
    vxs_json_open_object(w, NULL);
    write_side(w, m, v, 0);
    write_side(w, m, v, 1);
    vxs_json_whole(w, "both_voxels", (int64_t)v->both);
    vxs_json_real(w, "both_mm3", (double)v->both * vxs_grid_voxel_volume(&m->grid));
    vxs_json_whole(w, "opposite_sign_voxels", (int64_t)v->opposite);
    vxs_json_real(w, "dice", v->dice);
    vxs_json_real(w, "acc_ar", v->acc_ar);
    vxs_json_real(w, "precision", v->precision);
    vxs_json_real(w, "sensitivity", v->sensitivity);
    vxs_json_real(w, "pearson", v->pearson);
    vxs_json_real(w, "spearman", v->spearman);
    vxs_json_whole(w, "correlated_voxels", (int64_t)v->correlated);
    write_undefined(w, v);
    vxs_json_close_object(w);
}

void vxs_match_json(vxs_json_writer *w, const vxs_match *m)
{
    static const char *const placings[] = { "same", "turned", "resampled" };
    vxs_json_text(w, "first", m->path[0]);
    vxs_json_text(w, "second", m->path[1]);
    vxs_json_text(w, "grid", placings[m->placing]);
    vxs_json_real(w, "tolerance_mm", m->settings->tolerance);
    vxs_json_whole(w, "connectivity", m->connectivity);
    vxs_json_text(w, "correlations_over", vxs_match_voxels(m));
    vxs_json_text(w, "voxsift", VXS_VERSION);
    vxs_json_open_array(w, "volumes");
    for (size_t v = 0; v < m->count; v++)
        write_volume(w, m, &m->each[v]);
    vxs_json_close_array(w);
}

/* ---- As files -------------------------------------------------------------------------------- */

static void write_all(const vxs_context *context, const vxs_match *m, FILE *stream)
{
    vxs_json_writer w;
    vxs_json_init(&w, stream);
    vxs_json_open_object(&w, NULL);
    vxs_json_text(&w, "command", context->command);
    vxs_match_json(&w, m);
    vxs_json_close_object(&w);
}

static const char *const sides[] = { "first", "second" };

static void write_header(vxs_tsv_writer *w)
{
    static const char *const measures[] = {
        "dice",
        "acc_ar",
        "precision",
        "sensitivity",
        "pearson",
        "spearman",
        "correlated_voxels",
        "both_voxels",
        "both_mm3",
        "opposite_sign_voxels",
    };
    static const char *const of_sides[] = {
        "n_voxels",
        "volume_mm3",
        "outside_voxels",
        "outside_mm3",
        "peak_distance_mean_mm",
        "peak_distance_max_mm",
    };
    char name[64];
    for (int k = 0; k < 2; k++) {
        snprintf(name, sizeof(name), "%s_volume", sides[k]);
        vxs_tsv_text(w, name);
    }
    for (size_t j = 0; j < sizeof(measures) / sizeof(measures[0]); j++)
        vxs_tsv_text(w, measures[j]);
    for (int k = 0; k < 2; k++)
        for (size_t j = 0; j < sizeof(of_sides) / sizeof(of_sides[0]); j++) {
            snprintf(name, sizeof(name), "%s_%s", sides[k], of_sides[j]);
            vxs_tsv_text(w, name);
        }
    vxs_tsv_end_row(w);
}

static void write_table(const vxs_match *m, FILE *stream)
{
    double voxel = vxs_grid_voxel_volume(&m->grid);
    vxs_tsv_writer w;
    vxs_tsv_init(&w, stream);
    write_header(&w);
    for (size_t i = 0; i < m->count; i++) {
        const vxs_match_volume *v = &m->each[i];
        const double row[] = { (double)v->number[0],
                               (double)v->number[1],
                               v->dice,
                               v->acc_ar,
                               v->precision,
                               v->sensitivity,
                               v->pearson,
                               v->spearman,
                               (double)v->correlated,
                               (double)v->both,
                               (double)v->both * voxel,
                               (double)v->opposite };
        for (size_t j = 0; j < sizeof(row) / sizeof(row[0]); j++)
            vxs_tsv_real(&w, row[j]);
        for (int k = 0; k < 2; k++) {
            const vxs_match_side *s = &v->sides[k];
            const double of_side[] = { (double)s->voxels, s->volume,    (double)s->outside,
                                       s->outside_volume, s->peak_mean, s->peak_most };
            for (size_t j = 0; j < sizeof(of_side) / sizeof(of_side[0]); j++)
                vxs_tsv_real(&w, of_side[j]);
        }
        vxs_tsv_end_row(&w);
    }
}

static void write_peak(vxs_tsv_writer *w, const vxs_match_volume *v, int k, const vxs_match_peak *p)
{
    vxs_tsv_text(w, sides[k]);
    vxs_tsv_real(w, (double)v->number[k]);
    for (int d = 0; d < 3; d++)
        vxs_tsv_real(w, vxs_round_mm(p->at[d]));
    vxs_write_rounded(w, p->value);
    vxs_write_rounded(w, p->volume);
    vxs_tsv_real(w, isinf(p->distance) ? NAN : vxs_round_mm(p->distance));
    vxs_tsv_end_row(w);
}

static void write_peak_table(const vxs_match *m, FILE *stream)
{
    static const char *const names[] = { "map",    "volume",     "peak_x",     "peak_y",
                                         "peak_z", "peak_value", "volume_mm3", "distance_mm" };
    vxs_tsv_writer w;
    vxs_tsv_init(&w, stream);
    for (size_t j = 0; j < sizeof(names) / sizeof(names[0]); j++)
        vxs_tsv_text(&w, names[j]);
    vxs_tsv_end_row(&w);
    for (size_t v = 0; v < m->count; v++)
        for (int k = 0; k < 2; k++)
            for (size_t p = 0; p < m->each[v].sides[k].peak_count; p++)
                write_peak(&w, &m->each[v], k, &m->each[v].sides[k].peaks[p]);
}

static vxs_status write_files(const vxs_context *context, const vxs_match *m, vxs_output *output,
                              vxs_error *err)
{
    static const char *const files[] = { VXS_MATCH_FILE, "match.tsv", "peaks.tsv" };
    vxs_status status = VXS_OK;
    for (int k = 0; k < 3 && !status; k++) {
        FILE *stream;
        status = vxs_output_open(output, files[k], &stream, err);
        if (status)
            return status;
        if (k == 0)
            write_all(context, m, stream);
        else
            (k == 1 ? write_table : write_peak_table)(m, stream);
        status = vxs_output_close(output, stream, files[k], err);
    }
    return status;
}

vxs_status vxs_match_save(const vxs_context *context, const vxs_match *m, const char *directory,
                          bool replace, vxs_error *err)
{
    vxs_output *output = NULL;
    vxs_status status = vxs_output_new(context, directory, replace, &output, err);
    if (!status)
        status = write_files(context, m, output, err);
    if (!status)
        status = vxs_output_commit(output, err);
    vxs_output_free(output);
    return status;
}
