/* block_files.c - files of a model that selects feature blocks.
 *
 * selection.tsv has every weight of every selected block, and the refit weights; predictions
 * through a feature map and check-model depend on it. mapped.tsv has the feature-map parameters of
 * the features, alpha.npy and outputs.npy (of a measure) the dual solution for the certificate.
 * pairs.tsv, edges.tsv and selected.tsv are for readers and other programs: pairs of features,
 * pairs as edges between coordinates, groups with their sizes. */
#include "model/estimators.h"
#include "model/feature_blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAME 1e-9 /* relative: numbers are written with 17 digits */

enum { SELECTION, MAPPED, ALPHA, OUTPUTS };

/* ---- Writing --------------------------------------------------------------------------------- */

static void write_header(vxs_tsv_writer *w, const char *const *names, FILE *stream)
{
    vxs_tsv_init(w, stream);
    for (; *names; names++)
        vxs_tsv_text(w, *names);
}

/* True if the weights were refit; an output without a selection has no refit weights. */
static bool has_retrained(const vxs_model *m)
{
    for (size_t o = 0; o < m->output_count; o++)
        if (m->outputs[o].fit.selected->refit_weight)
            return true;
    return false;
}

static void write_selection(const vxs_model *m, const vxs_task *t, FILE *stream)
{
    static const char *const names[] = { "output", "block", "column", "weight", NULL };
    vxs_tsv_writer w;
    (void)t;
    write_header(&w, names, stream);
    if (has_retrained(m))
        vxs_tsv_text(&w, "refit");
    vxs_tsv_end_row(&w);
    for (size_t o = 0; o < m->output_count; o++) {
        const vxs_selected *s = m->outputs[o].fit.selected;
        for (size_t k = 0; k < s->count; k++)
            for (size_t c = s->start[k]; c < s->start[k + 1]; c++) {
                vxs_tsv_real(&w, (double)(o + 1));
                vxs_tsv_real(&w, (double)s->block[k]);
                vxs_tsv_real(&w, (double)(c - s->start[k]));
                vxs_tsv_real(&w, s->weight[c]);
                if (s->refit_weight)
                    vxs_tsv_real(&w, s->refit_weight[c]);
                vxs_tsv_end_row(&w);
            }
    }
}

static void write_mapped(const vxs_model *m, const vxs_task *t, FILE *stream)
{
    static const char *const names[] = { "output", "index", "low", "high", "scale", NULL };
    vxs_tsv_writer w;
    (void)t;
    write_header(&w, names, stream);
    for (size_t f = 0; f < m->covariate_count; f++)
        vxs_tsv_text(&w, m->covariate_names[f]);
    vxs_tsv_end_row(&w);
    for (size_t o = 0; o < m->output_count; o++) {
        const vxs_map_parameters *mapped = m->outputs[o].encoded;
        for (size_t k = 0; k < mapped->count; k++) {
            vxs_tsv_real(&w, (double)(o + 1));
            vxs_tsv_real(&w, (double)m->outputs[o].fit.index[k]);
            vxs_tsv_real(&w, mapped->low[k]);
            vxs_tsv_real(&w, mapped->high[k]);
            vxs_tsv_real(&w, mapped->scale[k]);
            for (size_t f = 0; f < m->covariate_count; f++)
                vxs_tsv_real(&w, mapped->covariate_coefficients[k * m->covariate_count + f]);
            vxs_tsv_end_row(&w);
        }
    }
}

static vxs_status write_alpha(const vxs_model *m, const vxs_task *t, FILE *stream, vxs_error *err)
{
    const size_t shape[2] = { m->output_count, t->n };
    vxs_status status = vxs_npy_write_header(stream, 'f', sizeof(double), 2, shape, err);
    for (size_t o = 0; o < m->output_count && !status; o++)
        (void)!fwrite(m->outputs[o].fit.selected->alpha, sizeof(double), t->n, stream);
    return status;
}

/* Cells with a feature's name, and a voxel's coordinates in mm. */
static void write_end(vxs_tsv_writer *w, const vxs_model *m, const vxs_cohort *c, size_t feature)
{
    char name[32];
    vxs_tsv_text(w, vxs_cohort_feature(c, feature, name));
    if (m->voxels)
        vxs_write_place(w, &m->grid, m->voxels[feature]);
}

static void write_end_header(vxs_tsv_writer *w, const vxs_model *m, const char *which)
{
    static const char *const place[] = { "i", "j", "k", "x", "y", "z" };
    char text[32];
    vxs_tsv_text(w, which);
    for (int d = 0; d < 6 && m->voxels; d++) {
        snprintf(text, sizeof(text), "%s_%s", which, place[d]);
        vxs_tsv_text(w, text);
    }
}

/* Starts a table of feature blocks, with a first column for the class if there are several outputs.
 */
static void begin_blocks(vxs_tsv_writer *w, const vxs_model *m, FILE *stream,
                         const char *const *names)
{
    vxs_tsv_init(w, stream);
    if (m->output_count > 1)
        vxs_tsv_text(w, "class");
    for (size_t k = 0; names[k]; k++)
        vxs_tsv_text(w, names[k]);
}

/* Weights of products of standardized features: a square if both features are the same, the feature
 * itself if there is no second one. */
static void write_pairs(const vxs_model *m, const vxs_task *t, FILE *stream)
{
    static const char *const names[] = { "kind", "weight", NULL };
    vxs_tsv_writer w;
    size_t p = m->p, end[2];
    begin_blocks(&w, m, stream, names);
    write_end_header(&w, m, "first");
    write_end_header(&w, m, "second");
    vxs_tsv_end_row(&w);
    for (size_t o = 0; o < m->output_count; o++) {
        const vxs_selected *s = m->outputs[o].fit.selected;
        for (size_t k = 0; k < s->count; k++) {
            vxs_feature_map_features(&s->map, p, s->block[k], end);
            if (m->output_count > 1)
                vxs_tsv_text(&w, m->outputs[o].name);
            vxs_tsv_text(&w, s->block[k] < p ? "itself" : s->block[k] < 2 * p ? "square" : "pair");
            vxs_tsv_real(&w, (s->refit_weight ? s->refit_weight : s->weight)[s->start[k]]);
            write_end(&w, m, t->cohort, end[0]);
            write_end(&w, m, t->cohort, end[1]);
            vxs_tsv_end_row(&w);
        }
    }
}

static vxs_status find_regions(const vxs_cohort *c, double (*at)[3], vxs_error *err)
{
    vxs_cohort_regions regions;
    vxs_status status = vxs_cohort_regions_of(c, &regions, err);
    if (!status)
        status = vxs_cohort_region_centers(&regions, at, err);
    vxs_cohort_regions_release(&regions);
    return status;
}

/* p x 3: center of each feature in mm. */
static vxs_status find_centers(const vxs_model *m, const vxs_cohort *c, double (*at)[3],
                               vxs_error *err)
{
    double index[3];
    if (!m->voxels)
        return find_regions(c, at, err);
    for (size_t j = 0; j < m->p; j++) {
        vxs_grid_index(&m->grid, m->voxels[j], index);
        vxs_grid_position(&m->grid, index, at[j]);
    }
    return VXS_OK;
}

static void write_edge(vxs_tsv_writer *w, const vxs_cohort *c, const size_t end[2], double weight,
                       double (*at)[3])
{
    char name[32];
    for (int e = 0; e < 2; e++)
        vxs_tsv_text(w, vxs_cohort_feature(c, end[e], name));
    vxs_tsv_real(w, weight);
    for (int k = 0; k < 6; k++)
        vxs_write_mm(w, at[end[k / 3]][k % 3]);
    vxs_tsv_end_row(w);
}

/* Pairs only, in the format of programs that draw networks. */
static vxs_status write_edges(const vxs_model *m, const vxs_task *t, FILE *stream, vxs_error *err)
{
    static const char *const names[] = { "from",   "to",   "weight", "from_x", "from_y",
                                         "from_z", "to_x", "to_y",   "to_z",   NULL };
    vxs_tsv_writer w;
    double(*at)[3] = vxs_alloc(m->p, sizeof(*at), err);
    vxs_status status = at ? find_centers(m, t->cohort, at, err) : VXS_FAILED;
    begin_blocks(&w, m, stream, names);
    vxs_tsv_end_row(&w);
    for (size_t o = 0; o < m->output_count && !status; o++) {
        const vxs_selected *s = m->outputs[o].fit.selected;
        for (size_t k = 0; k < s->count; k++) {
            size_t end[2];
            if (s->block[k] < 2 * m->p)
                continue;
            vxs_feature_map_features(&s->map, m->p, s->block[k], end);
            if (m->output_count > 1)
                vxs_tsv_text(&w, m->outputs[o].name);
            write_edge(&w, t->cohort, end,
                       (s->refit_weight ? s->refit_weight : s->weight)[s->start[k]], at);
        }
    }
    free(at);
    return status;
}

/* The squared norm of the weights of a group's standardized features. */
static double square_of(const vxs_task *t, const vxs_selected *s, size_t k)
{
    const double *weight = s->refit_weight ? s->refit_weight : s->weight;
    double square = 0;
    for (size_t c = s->start[k]; c < s->start[k + 1]; c++) {
        double w = weight[c] * vxs_block_column_factor(t, s->block[k], c - s->start[k]);
        square += w * w;
    }
    return square;
}

/* Euclidean norm of a group's weights, and its share of the squared norm of all weights. */
static void write_groups(const vxs_model *m, const vxs_task *t, FILE *stream)
{
    static const char *const names[] = { "group", "features", "weight", "share", NULL };
    vxs_tsv_writer w;
    char name[VXS_GROUP_NAME];
    begin_blocks(&w, m, stream, names);
    vxs_tsv_end_row(&w);
    for (size_t o = 0; o < m->output_count; o++) {
        const vxs_selected *s = m->outputs[o].fit.selected;
        double all = 0;
        for (size_t k = 0; k < s->count; k++)
            all += square_of(t, s, k);
        for (size_t k = 0; k < s->count; k++) {
            double square = square_of(t, s, k);
            if (m->output_count > 1)
                vxs_tsv_text(&w, m->outputs[o].name);
            vxs_tsv_text(&w, vxs_group_name(&t->groups, t->cohort, s->block[k], name));
            vxs_tsv_real(&w, (double)(s->start[k + 1] - s->start[k]));
            vxs_tsv_real(&w, sqrt(square));
            vxs_tsv_real(&w, all > 0 ? square / all : 0);
            vxs_tsv_end_row(&w);
        }
    }
}

/* ---- The table ------------------------------------------------------------------------------- */

static const vxs_selected *selected_of(const vxs_model *m)
{
    return m->outputs[0].fit.selected;
}

static bool has_map(const vxs_model *m, const vxs_task *t)
{
    (void)t;
    return selected_of(m)->map.kind != VXS_FEATURE_MAP_NONE;
}

static bool has_alpha(const vxs_model *m, const vxs_task *t)
{
    (void)t;
    return selected_of(m)->alpha != NULL;
}

static bool has_outputs(const vxs_model *m, const vxs_task *t)
{
    (void)t;
    return selected_of(m)->outputs != NULL;
}

static bool has_pairs(const vxs_model *m, const vxs_task *t)
{
    (void)t;
    return selected_of(m)->map.kind == VXS_FEATURE_MAP_POLY2;
}

static bool has_edges(const vxs_model *m, const vxs_task *t)
{
    return has_pairs(m, t) && t->cohort->kind != VXS_FEATURES_COLUMNS;
}

static bool has_groups(const vxs_model *m, const vxs_task *t)
{
    (void)m;
    return t->groups.count > 0;
}

const vxs_model_file vxs_block_files[] = {
    { .name = "selection.tsv", .put = write_selection },
    { .name = "mapped.tsv", .has = has_map, .put = write_mapped },
    { .name = "alpha.npy", .has = has_alpha, .write = write_alpha },
    { .name = "outputs.npy", .has = has_outputs, .write = vxs_outputs_write },
    { .name = "pairs.tsv", .has = has_pairs, .put = write_pairs },
    { .name = "edges.tsv", .has = has_edges, .write = write_edges },
    { .name = "selected.tsv", .has = has_groups, .put = write_groups },
    { .name = NULL }
};

/* ---- Reading --------------------------------------------------------------------------------- */

typedef struct {
    vxs_model *model;
    vxs_method_settings settings;
    const char *name;
    vxs_table *table;
    size_t row; /* next row */
} reader;

static vxs_status broken(const reader *r, const char *what, vxs_error *err)
{
    return vxs_fail(err, VXS_BAD_DATA, "'%s' does not go with its model: %s", r->name, what);
}

/* Reads a cell with an integer of at most `most`. */
static vxs_status read_whole(const reader *r, size_t column, double most, size_t *value,
                             vxs_error *err)
{
    double number = NAN;
    vxs_status status = vxs_table_real(r->table, r->row, column, &number, err);
    if (!status && !(number >= 0 && number <= most && number == floor(number)))
        status = broken(r, "a number is none of the model's", err);
    *value = status ? 0 : (size_t)number;
    return status;
}

/* Reads a cell with a number; a missing value is an error. */
static vxs_status read_real(const reader *r, size_t column, double *value, vxs_error *err)
{
    vxs_status status = vxs_table_real(r->table, r->row, column, value, err);
    return status || isfinite(*value) ? status : broken(r, "a number is missing", err);
}

/* True if the next row belongs to output o. */
static bool is_of(const reader *r, size_t o)
{
    double number = NAN;
    return r->row < vxs_table_rows(r->table) &&
           !vxs_table_real(r->table, r->row, 0, &number, NULL) && number == (double)(o + 1);
}

static vxs_status read_weight(reader *r, vxs_selected *s, vxs_error *err)
{
    size_t block = 0, part = 0, at = s->start[s->count];
    vxs_status status = read_whole(r, 1, 1e18, &block, err);
    if (!status)
        status = read_whole(r, 2, 1e9, &part, err);
    bool more = s->count > 0 && s->block[s->count - 1] == block;
    if (!status && (part != (more ? at - s->start[s->count - 1] : 0) ||
                    (!more && s->count > 0 && block < s->block[s->count - 1])))
        status = broken(r, "its rows are out of order", err);
    if (!status)
        status = read_real(r, 3, &s->weight[at], err);
    if (!status && s->refit_weight)
        status = read_real(r, 4, &s->refit_weight[at], err);
    if (status)
        return status;
    if (!more) {
        s->block[s->count++] = block;
        s->start[s->count] = at;
    }
    s->start[s->count]++;
    r->row++;
    return VXS_OK;
}

/* Reads from model.json the covariate coefficients of the selection and its iterations. */
static vxs_status read_free(const reader *r, size_t o, vxs_selected *s, vxs_error *err)
{
    const vxs_json *output = vxs_json_get(r->model->about, "outputs")->first;
    for (size_t k = 0; k < o; k++)
        output = output->next;
    const vxs_json *covariate_coefficients = vxs_json_get(output, "selection_unpenalized");
    if (!covariate_coefficients || covariate_coefficients->kind != VXS_JSON_ARRAY ||
        covariate_coefficients->length != r->model->covariate_count)
        return broken(r, "model.json lacks selection_unpenalized", err);
    size_t k = 0;
    double rounds = vxs_json_get_number(output, "outer_iterations");
    for (const vxs_json *f = covariate_coefficients->first; f; f = f->next)
        s->covariate_coefficients[k++] = f->number;
    s->iterations = rounds >= 0 && rounds < 1e9 ? (uint64_t)rounds : 0;
    s->restricted_gap = vxs_json_get_number(output, "gap_of_selected");
    return VXS_OK;
}

/* Adds the squared norm of block k to its features; false if a feature of a block with weights has
 * none. */
static bool add_size(const vxs_solution *fit, size_t p, size_t k, double *square)
{
    const vxs_selected *s = fit->selected;
    const double *weight = s->refit_weight ? s->refit_weight : s->weight;
    size_t end[2], found = 0;
    double size = 0;
    for (size_t c = s->start[k]; c < s->start[k + 1]; c++)
        size += weight[c] * weight[c];
    vxs_feature_map_features(&s->map, p, s->block[k], end);
    for (size_t j = 0; j < fit->count; j++) {
        if (fit->index[j] != end[0] && fit->index[j] != end[1])
            continue;
        found++;
        square[j] += size;
    }
    return size == 0 || found == (end[0] != end[1] ? 2 : 1);
}

/* With a feature map the weights of features are norms over their blocks: refuses files changed
 * independently. */
static vxs_status check_features(const reader *r, const vxs_solution *fit, vxs_error *err)
{
    const vxs_selected *s = fit->selected;
    size_t p = r->model->p, most = vxs_feature_map_count(&s->map, p),
           width = vxs_feature_map_width(&s->map);
    double *square = vxs_alloc(fit->count, sizeof(*square), err);
    vxs_status status = square ? VXS_OK : VXS_FAILED;
    for (size_t k = 0; k < s->count && !status; k++)
        if (!(s->block[k] < most && s->start[k + 1] - s->start[k] == width &&
              add_size(fit, p, k, square)))
            status = broken(r, "a feature block has no feature with a weight", err);
    for (size_t j = 0; j < fit->count && !status; j++)
        if (!(fabs(sqrt(square[j]) - fit->weight[j]) <= SAME * fabs(fit->weight[j])))
            status = broken(r, "its weights are not those of weights.tsv", err);
    free(square);
    return status;
}

static vxs_status read_output(reader *r, size_t o, vxs_error *err)
{
    vxs_model *m = r->model;
    vxs_solution *fit = &m->outputs[o].fit;
    double bandwidth = 1;
    size_t first = r->row, rows = 0, columns = vxs_table_columns(r->table);
    while (is_of(r, o)) {
        r->row++;
        rows++;
    }
    r->row = first;
    fit->selected = vxs_selected_new(rows, rows, m->covariate_count, columns == 5 && rows > 0, err);
    if (!fit->selected)
        return VXS_FAILED;
    if (r->settings.blocks.bandwidth)
        vxs_parse_real(r->settings.blocks.bandwidth, &bandwidth);
    fit->selected->map = (vxs_feature_map){ .kind = r->settings.blocks.map,
                                            .gamma = r->settings.blocks.gamma,
                                            .coef0 = r->settings.blocks.constant,
                                            .bandwidth = bandwidth };
    fit->selected->count = 0;
    vxs_status status = read_free(r, o, fit->selected, err);
    for (size_t k = 0; k < rows && !status; k++)
        status = read_weight(r, fit->selected, err);
    bool mapped = fit->selected->map.kind != VXS_FEATURE_MAP_NONE;
    return status || !mapped ? status : check_features(r, fit, err);
}

static vxs_status read_mapped_row(reader *r, vxs_map_parameters *mapped, size_t k, size_t index,
                                  vxs_error *err)
{
    double *const reals[] = { &mapped->low[k], &mapped->high[k], &mapped->scale[k] };
    size_t found = 0;
    vxs_status status = read_whole(r, 1, (double)r->model->p, &found, err);
    if (!status && found != index)
        status = broken(r, "its rows are not the model's features", err);
    for (size_t c = 0; c < 3 && !status; c++)
        status = read_real(r, 2 + c, reals[c], err);
    for (size_t f = 0; f < mapped->covariate_count && !status; f++)
        status = read_real(r, 5 + f,
                           &mapped->covariate_coefficients[k * mapped->covariate_count + f], err);
    r->row++;
    return status;
}

static vxs_status read_mapped(reader *r, vxs_error *err)
{
    vxs_model *m = r->model;
    vxs_status status = vxs_table_columns(r->table) == 5 + m->covariate_count
                            ? VXS_OK
                            : broken(r, "it has other columns", err);
    for (size_t o = 0; o < m->output_count && !status; o++) {
        vxs_output_fit *output = &m->outputs[o];
        output->encoded = vxs_map_parameters_new(&output->fit.selected->map, m->p,
                                                 output->fit.count, m->covariate_count, err);
        status = output->encoded ? VXS_OK : VXS_FAILED;
        for (size_t k = 0; k < output->fit.count && !status; k++)
            status = is_of(r, o) ? read_mapped_row(r, output->encoded, k, output->fit.index[k], err)
                                 : broken(r, "a feature is not there", err);
    }
    return status;
}

static vxs_status read_alpha(const reader *r, vxs_error *err)
{
    vxs_npy a = { .ndim = 0 };
    vxs_model *m = r->model;
    vxs_status status = vxs_npy_open(r->name, &a, err);
    if (!status &&
        (a.kind != 'f' || a.item_size != 8 || a.ndim != 2 || a.shape[0] != m->output_count))
        status = broken(r, "it has other rows", err);
    for (size_t o = 0; o < m->output_count && !status; o++) {
        vxs_selected *s = m->outputs[o].fit.selected;
        size_t n = s->alpha_count = a.shape[1];
        s->alpha = vxs_alloc(n, sizeof(*s->alpha), err);
        status = s->alpha ? VXS_OK : VXS_FAILED;
        for (size_t i = 0; i < n && !status; i++)
            s->alpha[i] = vxs_npy_item(&a, o * n + i);
        for (size_t i = 0; i < n && !status; i++)
            status = isfinite(s->alpha[i]) ? VXS_OK : broken(r, "a value is not finite", err);
    }
    vxs_npy_release(&a);
    return status;
}

static size_t selection_columns(const reader *r)
{
    return r->settings.blocks.debias > 0 && vxs_table_rows(r->table) > 0 ? 5 : 4;
}

static vxs_status read_file(reader *r, int file, vxs_error *err)
{
    vxs_status status = VXS_OK;
    if (file == ALPHA)
        return vxs_estimator_of(&r->model->task)->prepare == vxs_prepare_minimax
                   ? read_alpha(r, err)
                   : VXS_OK;
    if (file == OUTPUTS)
        return r->settings.blocks.measure ? vxs_outputs_read(r->model, r->name, err) : VXS_OK;
    if (file == MAPPED && r->settings.blocks.map == VXS_FEATURE_MAP_NONE)
        return VXS_OK;
    r->row = 0;
    status = vxs_table_read(r->name, &r->table, err);
    if (!status && file == MAPPED)
        status = read_mapped(r, err);
    else if (!status && vxs_table_columns(r->table) != selection_columns(r))
        status = broken(r, "it has other columns", err);
    for (size_t o = 0; o < r->model->output_count && !status && file == SELECTION; o++)
        status = read_output(r, o, err);
    if (!status && r->row != vxs_table_rows(r->table))
        status = broken(r, "its rows are out of order", err);
    vxs_table_free(r->table);
    r->table = NULL;
    return status;
}

vxs_status vxs_blocks_read(vxs_model *m, const char *folder, vxs_error *err)
{
    reader r = { .model = m };
    vxs_status status = vxs_model_method(m, &r.settings, err);
    vxs_block_encoder.begin(m, &r.settings);
    for (int file = SELECTION; file <= OUTPUTS && !status; file++) {
        char *name = vxs_format(err, "%s/%s", folder, vxs_block_files[file].name);
        r.name = name;
        status = name ? read_file(&r, file, err) : VXS_FAILED;
        free(name);
    }
    return status;
}
