/* info_model.c - what a model predicts, from what, and how far its answer can be trusted. */
#include "cli/info.h"

static const char *loss_of(const vxs_model *m)
{
    const char *loss = vxs_json_get_text(m->about, "loss");
    return loss ? loss : vxs_loss_names[m->loss];
}

static void print_json(const vxs_call *call, const vxs_model *m)
{
    vxs_json_writer w;
    vxs_json_init(&w, call->out);
    vxs_json_open_object(&w, NULL);
    vxs_json_text(&w, "kind", "model");
    vxs_json_text(&w, "target", m->task.target);
    vxs_json_text(&w, "method", vxs_method_names[m->task.method]);
    vxs_json_text(&w, "loss", loss_of(m));
    vxs_json_whole(&w, "features", (int64_t)m->p);
    vxs_json_bool(&w, "voxels", m->voxels != NULL);
    vxs_json_open_array(&w, "outputs");
    for (size_t k = 0; k < m->output_count; k++) {
        const vxs_certificate *c = &m->outputs[k].fit.certificate;
        vxs_json_open_object(&w, NULL);
        vxs_json_text(&w, "name", m->outputs[k].name);
        vxs_json_whole(&w, "nonzero", (int64_t)c->nonzero);
        if (c->pieces > 0)
            vxs_json_whole(&w, "pieces", (int64_t)c->pieces);
        if (m->outputs[k].fit.selected)
            vxs_json_whole(&w, "selected", (int64_t)m->outputs[k].fit.selected->count);
        vxs_json_real(&w, "lambda", c->lambda);
        vxs_json_real(&w, "lambda_max", c->lambda_max);
        vxs_json_real(&w, "gap", c->gap);
        vxs_json_bool(&w, "converged", c->converged);
        vxs_json_close_object(&w);
    }
    vxs_json_close_array(&w);
    vxs_json_close_object(&w);
}

static void print_selected(FILE *out, const vxs_model *m, const vxs_selected *s)
{
    if (s->map.kind != VXS_MAP_NONE || m->groups)
        fprintf(out, ", of %zu %s that were selected", s->count, vxs_unit_name(m, s->count));
}

static void print_output(FILE *out, const vxs_model *m, size_t k)
{
    const vxs_certificate *c = &m->outputs[k].fit.certificate;
    bool joint = m->loss == VXS_LOSS_MULTINOMIAL;
    fprintf(out, "  %s: %zu of %zu %s have a weight", m->outputs[k].name, c->nonzero, m->p,
            m->voxels ? "voxels" : "features");
    if (m->outputs[k].fit.selected)
        print_selected(out, m, m->outputs[k].fit.selected);
    else
        fprintf(out, ", at lambda %.6g", c->lambda);
    fprintf(out, "; relative gap %.2g%s\n", c->gap,
            c->converged ? "" : ", which is MORE than was asked for");
    if (c->pieces > 0 && joint && k + 1 == m->output_count)
        fprintf(out, "  all of these are in %zu pieces of equal weight\n", c->pieces);
    else if (c->pieces > 0 && !joint)
        fprintf(out, "  they are in %zu %s of equal weight\n", c->pieces,
                c->pieces == 1 ? "piece" : "pieces");
}

static void print_words(const vxs_call *call, const vxs_model *m)
{
    FILE *out = call->out;
    fprintf(out, "'%s' is a model that predicts '%s' by %s (%s loss).\n", call->operands[0],
            m->task.target, vxs_method_names[m->task.method], loss_of(m));
    for (size_t k = 0; k < m->output_count; k++)
        print_output(out, m, k);
    for (size_t k = 0; k < m->free_count; k++)
        fprintf(out, "%s%s%s", k == 0 ? "  not penalised: " : ", ", m->free_names[k],
                k + 1 == m->free_count ? "\n" : "");
}

vxs_status vxs_info_model(const vxs_call *call, vxs_error *err)
{
    vxs_model model;
    vxs_status status = vxs_model_read(call->operands[0], &model, err);
    if (status)
        return status;
    if (call->shared->json)
        print_json(call, &model);
    else
        print_words(call, &model);
    vxs_model_release(&model);
    return VXS_OK;
}
