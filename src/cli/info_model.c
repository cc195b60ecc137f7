/* info_model.c - describes a model: target, inputs, certificate and limits of its predictions. */
#include "cli/info.h"

static const char *loss_of(const vxs_model *m)
{
    const char *loss = vxs_json_get_text(m->about, "loss");
    return loss ? loss : m->loss->name;
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
        const vxs_selected *s = m->outputs[k].fit.selected;
        vxs_json_open_object(&w, NULL);
        vxs_json_text(&w, "name", m->outputs[k].name);
        vxs_json_whole(&w, "nonzero", (int64_t)c->nonzero);
        if (c->fused_regions > 0)
            vxs_json_whole(&w, "fused_regions", (int64_t)c->fused_regions);
        if (c->unidentified > 0)
            vxs_json_whole(&w, "unidentified", (int64_t)c->unidentified);
        if (c->rank > 0) {
            vxs_json_whole(&w, "rank", (int64_t)c->rank);
            vxs_json_real(&w, "trace_error", c->trace_error);
            vxs_json_real(&w, "largest_error", c->largest_error);
        }
        if (s) {
            vxs_json_whole(&w, "selected", (int64_t)s->count);
            vxs_json_whole(&w, "outer_iterations", (int64_t)s->iterations);
        }
        vxs_json_real(&w, "lambda", c->lambda);
        vxs_json_real(&w, "lambda_max", c->lambda_max);
        vxs_json_real(&w, "gap", c->gap);
        vxs_json_bool(&w, "converged", c->converged);
        vxs_json_close_object(&w);
    }
    vxs_json_close_array(&w);
    vxs_close_json(call, &w);
}

static const char *noun_of(const vxs_model *m)
{
    return m->task.bags ? "instances" : m->voxels ? "voxels" : "features";
}

/* Prints the selection of features, groups or pairs. */
static void print_selected(FILE *out, const vxs_model *m, const vxs_output_fit *o)
{
    const vxs_selected *s = o->fit.selected;
    const vxs_certificate *c = &o->fit.certificate;
    fprintf(out,
            "  %s: %zu of %zu %s %s a nonzero weight, from %zu selected %s; relative gap %.2g%s\n",
            o->name, o->fit.count, m->p, noun_of(m), vxs_have(o->fit.count), s->count,
            vxs_block_name(m, s->count), c->gap,
            c->converged ? "" : ", on these ABOVE the tolerance");
    fprintf(out, "  selected in %llu iteration%s%s\n", (unsigned long long)s->iterations,
            vxs_plural((size_t)s->iterations),
            s->refit_weight ? "; refitted weights, the gap is that of the selection" : "");
}

static void print_pieces(FILE *out, const vxs_model *m, size_t k)
{
    size_t pieces = m->outputs[k].fit.certificate.fused_regions;
    if (pieces > 0 && m->loss == &vxs_multinomial_loss && k + 1 == m->output_count)
        fprintf(out, "  all of these are in %zu fused region%s\n", pieces, vxs_plural(pieces));
    else if (pieces > 0 && m->loss != &vxs_multinomial_loss)
        fprintf(out, "  in %zu fused region%s\n", pieces, vxs_plural(pieces));
}

static void print_output(FILE *out, const vxs_model *m, size_t k)
{
    const vxs_certificate *c = &m->outputs[k].fit.certificate;
    if (vxs_iterated_selection(&m->outputs[k].fit)) {
        print_selected(out, m, &m->outputs[k]);
        return;
    }
    char lambda[VXS_REAL_TEXT];
    if (vxs_methods[m->task.method].path == VXS_BY_COST) {
        fprintf(out, "  %s: %zu support vectors, at C %s; relative gap %.2g%s\n",
                m->outputs[k].name, c->support, vxs_score_text(1 / c->lambda, false, lambda),
                c->gap, c->converged ? "" : ", ABOVE the tolerance");
        if (c->rank > 0)
            fprintf(out, "  kernel of rank %zu: lacks %.2g of the trace of the whole kernel\n",
                    c->rank, c->trace_error);
        return;
    }
    fprintf(out, "  %s: %zu of %zu %s %s a nonzero weight, at lambda %s; relative gap %.2g%s\n",
            m->outputs[k].name, c->nonzero, m->p, noun_of(m), vxs_have(c->nonzero),
            vxs_score_text(c->lambda, false, lambda), c->gap,
            c->converged ? "" : ", ABOVE the tolerance");
    print_pieces(out, m, k);
}

static void print_words(const vxs_call *call, const vxs_model *m)
{
    FILE *out = call->out;
    fprintf(out, "'%s' is a model that predicts '%s' by %s (%s loss).\n", call->operands[0],
            m->task.target, vxs_method_names[m->task.method], loss_of(m));
    if (m->class_count == 2)
        fprintf(out, "  positive class: %s, against %s\n", m->classes[1], m->classes[0]);
    for (size_t k = 0; k < m->output_count; k++)
        print_output(out, m, k);
    for (size_t k = 0; k < m->covariate_count; k++)
        fprintf(out, "%s%s%s", k == 0 ? "  unpenalized: " : ", ", m->covariate_names[k],
                k + 1 == m->covariate_count ? "\n" : "");
}

/* Repeats the warnings of the fit. */
static void repeat_warnings(const vxs_call *call, const vxs_model *m)
{
    const vxs_json *warnings = vxs_json_get(m->about, "warnings");
    for (const vxs_json *k = warnings ? warnings->first : NULL; k; k = k->next)
        if (k->kind == VXS_JSON_TEXT)
            vxs_log(call->context, VXS_LOG_CAUTION, "%s", k->text);
}

vxs_status vxs_info_model(const vxs_call *call, vxs_error *err)
{
    vxs_model model;
    vxs_status status = vxs_model_read(call->operands[0], &model, err);
    if (status)
        return status;
    repeat_warnings(call, &model);
    if (call->shared->json)
        print_json(call, &model);
    else
        print_words(call, &model);
    vxs_model_release(&model);
    return VXS_OK;
}
