/* report.c - one page about a model, a cross-validation, permutations or stability. */
#include "report/sections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT(member) offsetof(vxs_report_settings, member)

/* In the head of every page: by this a page is known as one that --force may replace. */
#define PAGE_MARK "<meta name=\"generator\" content=\"voxsift "

const vxs_param vxs_report_params[] = {
    { .name = "out",
      .letter = 'o',
      .value = "FILE",
      .type = VXS_PARAM_PATH,
      .offset = AT(out),
      .required = true,
      .head = VXS_HEAD_OUTPUT,
      .help = "HTML page to write" },
    VXS_FLAG_ROW("force", AT(force), "replace an existing page of voxsift",
                 .head = VXS_HEAD_OUTPUT),
    VXS_PATH_ROW("atlas", "ATLAS", AT(atlas),
                 "atlas that names regions: a file, or a name such as schaefer100; several with "
                 "commas",
                 .head = VXS_HEAD_DATA, .usual = true),
    VXS_PATH_ROW("atlas-names", "FILE", AT(atlas_names),
                 "names of the atlas's labels; default: the file next to it",
                 .head = VXS_HEAD_DATA),
    VXS_PATH_ROW(
        "underlay", "IMAGE", AT(underlay),
        "background of the maps: a file, icbm152 or none; default icbm152 for images in MNI "
        "space, by their header",
        .head = VXS_HEAD_DATA, .usual = true),
    { .name = NULL },
};

static const char style[] =
    "body{font:15px/1.5 system-ui,sans-serif;color:#222;background:#fff;max-width:60rem;margin:2r"
    "em auto;padding:0 1rem;overflow-wrap:break-word}h1{font-size:1.7rem;margin:0}h2{font-size:1."
    "2rem;border-bottom:1px solid #ccc;margin-top:2.2rem}.lead{font-size:1.1rem}.small,figcaption"
    ",.cite{font-size:.85rem;color:#555}table{border-collapse:collapse;margin:.6rem 0;display:blo"
    "ck;overflow-x:auto}th,td{text-align:left;padding:.15rem .8rem .15rem 0;vertical-align:top;bo"
    "rder-bottom:1px solid #eee}th{font-weight:600}td{overflow-wrap:anywhere}.n td{text-align:rig"
    "ht;white-space:nowrap;overflow-wrap:normal}.n "
    ".t{text-align:left;white-space:normal;overflow-wrap:anywhere}.n{font-size:.92rem}.n th,.n "
    "td{padding-right:.5rem}.flow td{border:0}.flow "
    ".box{border:1px solid #888;padding:.3rem .8rem}.flow "
    ".down{text-align:center}h3{font-size:1rem}small{font-size:.8rem;color:#555}.warn{background:#"
    "fff6df;bo"
    "rder-left:4px solid #d9a400;padding:.4rem .8rem}.row{display:flex;flex-wrap:wrap;gap:1rem}sv"
    "g{max-width:100%;height:auto}svg text{font-size:12px;fill:#333}svg .m{text-anchor:middle}svg"
    " .e{text-anchor:end}svg .b{font-weight:600}svg .axis{stroke:#888;fill:none}svg .dash{stroke:"
    "#999;stroke-dasharray:5 4;fill:none}svg .k{paint-order:stroke;stroke:#fff;stroke-width:4px}s"
    "vg .mark{stroke:#c62828;stroke-width:1.6;stroke-dasharray:5 4;fill:none}figure{margin:1rem 0"
    "}.brain{position:relative;display:table;max-width:100%;background:#000;margin-bottom:.3rem}."
    "brain img{max-width:100%;height:auto;display:block}.brain span{position:absolute;top:2px;col"
    "or:#fff;font:bold 13px sans-serif}.brain .l{left:4px}h3{font-size:1rem}small{font-size:.8re"
    "m;color:#555}.flow td{border:0}.flow .box{border:1px solid #888;padding:.2rem .8rem;text-align"
    ":center}.flow .down{text-align:center}";

/* ---- Kinds of directories -------------------------------------------------------------------- */

static const vxs_results_map of_cv[] = {
    { .file = "weights_mean.nii.gz",
      .words = "Weights, mean over folds: change of the model's score per unit of the image.",
      .sizes = "Norms of weights, mean over folds.",
      .sign = VXS_SIGN_WEIGHTS,
      .regions = true },
    { .file = "selection.nii.gz",
      .words = "Selection frequency: fraction of folds in which a voxel has a nonzero weight.",
      .selected = true },
    { .file = "pattern.nii.gz",
      .words = "Activation pattern, mean over folds: covariance of each voxel with the model's "
               "score, divided by the variance of the score (Haufe et al. 2014); not thresholded.",
      .sign = VXS_SIGN_PATTERN },
    { .file = NULL },
};
static const vxs_results_map of_model[] = {
    { .file = "weights.nii.gz",
      .words = "Weights: change of the model's score per unit of the image.",
      .sizes = "Norms of weights.",
      .sign = VXS_SIGN_WEIGHTS,
      .regions = true },
    { .file = "sensitivity.nii.gz",
      .words = "Sensitivity: root mean square, over the training subjects, of the change of the "
               "score per unit of the image, whatever its sign.",
      .optional = true },
    { .file = NULL },
};
static const vxs_results_map of_stability[] = {
    { .file = "stable.nii.gz", .words = "Stable voxels, by selection frequency.", .regions = true },
    { .file = "frequency.nii.gz", .words = "Selection frequency of all voxels." },
    { .file = NULL },
};

#define MULTIVARIATE                                                                               \
    "Weights are multivariate: a nonzero weight does not imply a local effect, and a zero weight " \
    "does not imply its absence. "
static const char of_folds[] =
    MULTIVARIATE "Interpret the activation pattern, the last map (Haufe et al. 2014).";
static const char of_weights[] = MULTIVARIATE
    "Interpret the activation pattern, which 'voxsift cv' computes (Haufe et al. 2014).";
static const char of_selection[] =
    "A voxel that is not stable may carry as much information as one that is. In a smooth image "
    "neighbors carry the same information, and each half selects another one of them: a region "
    "may be selected in every half although none of its voxels is stable.";

static const char *const of_all[] = { "subjects", "features", NULL };
static const char *const of_permutations[] = { "subjects",  "features",   "permutations",
                                               "requested", "observed",   "exceedances",
                                               "p",         "smallest_p", NULL };
static const char *const of_comparison[] = { "subjects", "groups", "folds", "repeats",
                                             "swaps",    "tests",  NULL };
static const char *const of_halves[] = { "subjects", "features", "halves", "threshold", NULL };

static const vxs_results_kind kinds[] = {
    { .file = "cv.json",
      .format = "voxsift cross-validation",
      .heading = "Cross-validation",
      .table = "predictions.tsv",
      .numbers = of_all,
      .settings = "cross_validation",
      .results = vxs_section_scores,
      .maps = of_cv,
      .caution = of_folds,
      .rows = vxs_section_evaluation,
      .certificate = vxs_section_certificate,
      .paper = vxs_paper_cv },
    { .file = "model.json",
      .format = "voxsift model",
      .heading = "Model",
      .numbers = of_all + 1,
      .results = vxs_section_choice,
      .maps = of_model,
      .caution = of_weights,
      .model = true,
      .certificate = vxs_section_certificate,
      .paper = vxs_paper_model },
    { .file = "permute.json",
      .format = "voxsift permutations",
      .heading = "Permutation test",
      .table = "null.tsv",
      .numbers = of_permutations,
      .settings = "cross_validation",
      .results = vxs_section_permutations,
      .rows = vxs_section_permuting,
      .paper = vxs_paper_permutations },
    { .file = "stability.json",
      .format = "voxsift stability",
      .heading = "Stability selection",
      .table = "frequencies.tsv",
      .numbers = of_halves,
      .settings = "halving",
      .results = vxs_section_stability,
      .maps = of_stability,
      .caution = of_selection,
      .rows = vxs_section_halving,
      .certificate = vxs_section_certificate,
      .paper = vxs_paper_stability },
    { .file = "compare.json",
      .format = "voxsift comparison",
      .heading = "Comparison of models",
      .numbers = of_comparison,
      .results = vxs_section_compared,
      .several = true },
    { .file = NULL },
};

/* ---- The files ------------------------------------------------------------------------------- */

/* What the kind's file says, which is at `path`. */
static vxs_status read_about(vxs_results *s, const char *path, vxs_json **about, vxs_error *err)
{
    const vxs_results_kind *kind = s->kind;
    vxs_status status = kind->model ? vxs_model_read(s->directory, &s->model, err)
                                    : vxs_json_read(path, about, err);
    s->about = kind->model ? s->model.about : *about;
    if (!status)
        status = vxs_json_check_format(s->about, path, kind->format, err);
    for (const char *const *key = kind->numbers; !status && *key; key++)
        if (isnan(vxs_json_get_number(s->about, *key)))
            status = vxs_fail(err, VXS_BAD_DATA, "'%s' has no number '%s'", path, *key);
    if (status || !kind->several)
        return status ? status : vxs_record_read(s->about, path, &s->record, err);
    const vxs_json *classes = vxs_json_get(s->about, "classes");
    s->record = (vxs_record){ .about = s->about, .class_count = classes ? classes->length : 0 };
    return VXS_OK;
}

/* The same, when the directory has it. */
static vxs_status read_kind(vxs_results *s, const vxs_results_kind *kind, vxs_json **about,
                            vxs_error *err)
{
    char *path = vxs_format(err, "%s/%s", s->directory, kind->file);
    vxs_status status = path ? VXS_OK : VXS_FAILED;
    if (path && access(path, F_OK) == 0) {
        s->kind = kind;
        status = read_about(s, path, about, err);
    }
    free(path);
    return status;
}

static vxs_status find_kind(vxs_results *s, vxs_json **about, vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (const vxs_results_kind *kind = kinds; kind->file && !s->kind && !status; kind++)
        status = read_kind(s, kind, about, err);
    const char *is = vxs_folder_kind(s->directory);
    if (!status && !s->kind && access(s->directory, F_OK) != 0)
        status = vxs_fail(err, VXS_MISSING,
                          "no directory '%s': a page shows results of 'voxsift cv', 'fit', "
                          "'permute', 'stability' or 'compare'",
                          s->directory);
    if (!status && !s->kind && is)
        status = vxs_fail(err, VXS_MISSING,
                          "'%s' is a %s: a page shows results of 'voxsift cv', 'fit', "
                          "'permute', 'stability' or 'compare'",
                          s->directory, is);
    if (!status && !s->kind)
        status = vxs_fail(
            err, VXS_MISSING,
            "'%s' was not made by 'voxsift cv', 'fit', 'permute', 'stability' or 'compare'",
            s->directory);
    return status;
}

static vxs_status open_results(vxs_results *s, vxs_json **about, vxs_error *err)
{
    vxs_status status = find_kind(s, about, err);
    if (status)
        return status;
    s->classes = s->record.class_count > 0;
    if (!s->kind->table)
        return VXS_OK;
    char *path = vxs_format(err, "%s/%s", s->directory, s->kind->table);
    status = path ? vxs_table_read(path, &s->table, err) : VXS_FAILED;
    free(path);
    return status;
}

vxs_status vxs_results_column(const vxs_results *s, const char *name, double **values,
                              vxs_error *err)
{
    size_t column = 0, rows = vxs_table_rows(s->table);
    *values = vxs_alloc(rows, sizeof(**values), err);
    vxs_status status = *values ? vxs_table_find(s->table, name, &column, err) : VXS_FAILED;
    for (size_t r = 0; r < rows && !status; r++) {
        status = vxs_table_real(s->table, r, column, &(*values)[r], err);
        if (!status && !isfinite((*values)[r]))
            status = vxs_fail(err, VXS_BAD_DATA, "'%s/%s' line %zu, column '%s': no value",
                              s->directory, s->kind->table, vxs_table_line(s->table, r), name);
    }
    return status;
}

/* ---- The page -------------------------------------------------------------------------------- */

static void write_head(const vxs_results *s)
{
    const char *target = vxs_results_text(s->about, "target");
    vxs_html(s->out,
             "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta "
             "name=\"viewport\" content=\"width=device-width\">" PAGE_MARK VXS_VERSION
             "\"><title>%s - voxsift</title><style>",
             target);
    fputs(style, s->out);
    vxs_html(s->out,
             "</style></head><body>\n<h1>%s</h1>\n<p class=\"small\">%s by voxsift %s</p>\n",
             target, s->kind->heading, vxs_results_text(s->about, "voxsift"));
}

static vxs_status write_page(const vxs_results *s, vxs_error *err)
{
    const vxs_results_kind *kind = s->kind;
    write_head(s);
    vxs_status status = kind->results ? kind->results(s, err) : VXS_OK;
    if (!status && kind->maps)
        status = vxs_section_maps(s, err);
    if (!status && kind->model)
        status = vxs_section_units(s, err);
    if (!status && !kind->several)
        status = vxs_section_patches(s, err);
    if (status)
        return status;
    if (!kind->several)
        vxs_section_done(s);
    if (kind->certificate)
        kind->certificate(s);
    if (!kind->several)
        vxs_section_methods(s);
    fputs("</body></html>\n", s->out);
    return VXS_OK;
}

vxs_status vxs_report(const vxs_context *context, const vxs_report_settings *settings,
                      const char *directory, vxs_error *err)
{
    vxs_results s = { .settings = settings, .directory = directory };
    vxs_page *page = NULL;
    vxs_escape escape = { .text = NULL };
    vxs_json *about = NULL; /* unless a model has it */
    vxs_status status = open_results(&s, &about, err);
    if (!status)
        status =
            vxs_page_new(context, settings->out, PAGE_MARK, settings->force, &page, &s.out, err);
    if (!status)
        status = vxs_check_interrupted(context, err);
    if (!status)
        status = vxs_escape_begin(s.out, &escape, err);
    s.text = escape.text;
    if (!status)
        status = write_page(&s, err);
    vxs_escape_end(&escape);
    if (!status)
        status = vxs_page_commit(page, err);
    vxs_page_free(page);
    vxs_json_free(about);
    vxs_model_release(&s.model);
    vxs_table_free(s.table);
    return status;
}
