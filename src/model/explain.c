/* explain.c - which instances of a subject its score comes from.
 *
 * A similarity w_k s(x_k, B_i) belongs to the instance of bag i that is nearest to x_k, in equal
 * parts where several are. The parts of a subject's instances add up to its score without
 * intercept and covariates. */
#include "model/model.h"
#include "model/similarities.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    const vxs_model *model;
    const vxs_cohort *cohort;
    vxs_instances of;
    size_t most;
    double *squares; /* most x the most instances of an output */
    double *parts;   /* outputs x most */
} explainer;

/* Adds the parts of one similarity. */
static void share(const double *squares, size_t count, double value, double *parts)
{
    double least = INFINITY, ties = 0;
    for (size_t r = 0; r < count; r++)
        least = squares[r] < least ? squares[r] : least;
    for (size_t r = 0; r < count && least < INFINITY; r++)
        ties += squares[r] == least;
    for (size_t r = 0; r < count && ties > 0; r++)
        parts[r] += squares[r] == least ? value / ties : 0;
}

static double similarity(const double *squares, size_t count, double sigma)
{
    double least = INFINITY;
    for (size_t r = 0; r < count; r++)
        least = squares[r] < least ? squares[r] : least;
    return exp(-least / (2 * sigma * sigma));
}

/* Parts of the instances of a bag, for each output. */
static vxs_status explain_bag(const explainer *e, size_t bag, vxs_error *err)
{
    size_t count = e->of.first[bag + 1] - e->of.first[bag];
    vxs_status status = VXS_OK;
    for (size_t o = 0; o < e->model->output_count && !status; o++) {
        const vxs_output_fit *fit = &e->model->outputs[o];
        const vxs_kept_instances *k = fit->encoded;
        const vxs_instances kept = vxs_kept_view(k);
        double *parts = e->parts + o * e->most;
        for (size_t r = 0; r < count; r++)
            parts[r] = 0;
        if (k->count > 0)
            status = vxs_instance_distances(&e->of, bag, &kept, e->squares, err);
        for (size_t c = 0; c < k->count && !status; c++) {
            const double *squares = e->squares + c * count;
            share(squares, count, fit->fit.weight[c] * similarity(squares, count, k->sigma), parts);
        }
    }
    return status;
}

/* ---- The table ------------------------------------------------------------------------------- */

static void write_header(const explainer *e, vxs_tsv_writer *w)
{
    vxs_tsv_text(w, "bag");
    vxs_tsv_text(w, "instance");
    for (int d = 0; e->of.at && d < 3; d++)
        vxs_tsv_text(w, d == 0 ? "x" : d == 1 ? "y" : "z");
    for (size_t o = 0; o < e->model->output_count; o++)
        vxs_tsv_of(w, "part", e->model->output_count > 1 ? e->model->outputs[o].name : NULL);
    vxs_tsv_end_row(w);
}

static void write_bag(const explainer *e, size_t bag, vxs_tsv_writer *w)
{
    char name[32];
    for (size_t k = e->of.first[bag]; k < e->of.first[bag + 1]; k++) {
        vxs_tsv_text(w, vxs_cohort_id(e->cohort, bag));
        vxs_tsv_text(w, vxs_cohort_feature(e->cohort, k, name));
        for (size_t d = 0; e->of.at && d < 3; d++)
            vxs_tsv_real(w, e->of.at[3 * k + d]);
        for (size_t o = 0; o < e->model->output_count; o++)
            vxs_tsv_real(w, e->parts[o * e->most + k - e->of.first[bag]]);
        vxs_tsv_end_row(w);
    }
}

static vxs_status write_table(const explainer *e, FILE *stream, vxs_error *err)
{
    vxs_tsv_writer w;
    vxs_status status = VXS_OK;
    vxs_tsv_init(&w, stream);
    write_header(e, &w);
    for (size_t i = 0; i < e->cohort->n && !status; i++) {
        status = explain_bag(e, i, err);
        if (!status)
            write_bag(e, i, &w);
    }
    return status;
}

/* ---- Maps ------------------------------------------------------------------------------------ */

static vxs_status write_map(const explainer *e, size_t bag, const char *name, FILE *stream,
                            vxs_error *err)
{
    const vxs_cohort *c = e->cohort;
    const vxs_cubes *cubes = c->bags->cubes;
    size_t voxels = vxs_grid_voxels(&c->grid), outputs = e->model->output_count;
    double *map = vxs_alloc(outputs, vxs_times(voxels, sizeof(*map)), err);
    vxs_status status = map ? explain_bag(e, bag, err) : VXS_FAILED;
    for (size_t o = 0; o < outputs && !status; o++)
        for (size_t t = 0; t < cubes->count; t++)
            vxs_cubes_spread(cubes, t, c->voxels, e->parts[o * e->most + t], map + o * voxels);
    if (!status)
        status = vxs_write_volumes(&c->grid, map, outputs, "part", name, stream, err);
    free(map);
    return status;
}

static vxs_status write_maps(const explainer *e, vxs_output *output, vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (size_t i = 0; i < e->cohort->n && e->cohort->bags->cubes && !status; i++) {
        FILE *stream;
        char *name = vxs_format(err, "%s.nii.gz", vxs_cohort_id(e->cohort, i));
        status = name ? vxs_output_open(output, name, &stream, err) : VXS_FAILED;
        if (!status) {
            status = write_map(e, i, name, stream, err);
            vxs_status closed = vxs_output_close(output, stream, name, err);
            status = status ? status : closed;
        }
        free(name);
    }
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static vxs_status init(explainer *e, vxs_error *err)
{
    size_t kept = 0;
    for (size_t i = 0; i < e->cohort->n; i++) {
        size_t count = e->of.first[i + 1] - e->of.first[i];
        e->most = count > e->most ? count : e->most;
    }
    for (size_t o = 0; o < e->model->output_count; o++)
        kept = e->model->outputs[o].fit.count > kept ? e->model->outputs[o].fit.count : kept;
    e->squares = vxs_alloc(e->most, vxs_times(kept, sizeof(*e->squares)), err);
    e->parts = vxs_alloc(e->model->output_count, vxs_times(e->most, sizeof(*e->parts)), err);
    return e->squares && e->parts ? VXS_OK : VXS_FAILED;
}

static vxs_status write_all(const explainer *e, vxs_output *output, vxs_error *err)
{
    FILE *stream;
    vxs_status status = vxs_output_open(output, "parts.tsv", &stream, err);
    if (status)
        return status;
    status = write_table(e, stream, err);
    vxs_status closed = vxs_output_close(output, stream, "parts.tsv", err);
    status = status ? status : closed;
    return status ? status : write_maps(e, output, err);
}

vxs_status vxs_model_explain(const vxs_context *context, const vxs_model *m, const vxs_cohort *c,
                             const char *directory, bool replace, vxs_error *err)
{
    explainer e = { .model = m, .cohort = c };
    vxs_output *output = NULL;
    if (!m->task.bags || !c->bags)
        return vxs_fail(err, VXS_MISUSE, "'--explain' is for models of '--bags'");
    e.of = vxs_cohort_instances(c);
    vxs_status status = vxs_model_same_features(m, c, err);
    for (size_t i = 0; i < c->n && !status; i++)
        status = vxs_bags_check(c, i, err);
    if (!status)
        status = init(&e, err);
    if (!status)
        status = vxs_output_new(context, directory, replace, &output, err);
    if (!status)
        status = write_all(&e, output, err);
    if (!status)
        status = vxs_output_commit(output, err);
    vxs_output_free(output);
    free(e.squares);
    free(e.parts);
    return status;
}
