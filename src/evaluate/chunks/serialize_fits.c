/* serialize_fits.c - fits and results of jobs as sequences of numbers. */
#include "evaluate/chunks/chunk.h"

static void serialize_certificate(vxs_serializer *p, vxs_certificate *c)
{
    for (const vxs_field *f = vxs_certificate_fields; f->name; f++) {
        void *at = (char *)c + f->offset;
        if (f->type == VXS_FIELD_REAL)
            vxs_serialize_reals(p, at, 1);
        else if (f->type == VXS_FIELD_COUNT)
            vxs_serialize_size(p, at, VXS_MAX_COUNT);
        else
            vxs_serialize_flag(p, at);
    }
}

void vxs_serialize_fit(vxs_serializer *p, const vxs_task *t, vxs_solution *fit)
{
    size_t count = fit->count;
    vxs_serialize_size(p, &count, t->cohort->p);
    if (p->from) {
        fit->index = vxs_serialize_room(p, count, sizeof(*fit->index));
        fit->weight = vxs_serialize_room(p, count, sizeof(*fit->weight));
        fit->covariate_coefficients =
            vxs_serialize_room(p, t->covariate_count, sizeof(*fit->covariate_coefficients));
    }
    if (p->status)
        return;
    fit->count = count;
    for (size_t k = 0; k < count; k++)
        vxs_serialize_size(p, &fit->index[k], t->cohort->p - 1);
    vxs_serialize_reals(p, fit->weight, count);
    vxs_serialize_reals(p, fit->covariate_coefficients, t->covariate_count);
    serialize_certificate(p, &fit->certificate);
}

size_t vxs_count_selected(const bool *selected, size_t p)
{
    size_t count = 0;
    for (size_t j = 0; j < p; j++)
        count += selected[j];
    return count;
}

void vxs_serialize_selected(vxs_serializer *p, const vxs_task *t, bool *selected)
{
    size_t features = t->cohort->p;
    for (size_t o = 0; o < vxs_task_outputs(t) && !p->status; o++, selected += features) {
        size_t count = vxs_count_selected(selected, features), at = 0;
        vxs_serialize_size(p, &count, features);
        for (size_t k = 0; k < count && !p->status; k++, at++) {
            while (!p->from && !selected[at])
                at++;
            vxs_serialize_size(p, &at, features - 1);
            selected[at] = true;
        }
    }
}

/* Columns and files that say who is in a job may have changed since. */
static void serialize_subjects(vxs_serializer *p, const size_t *subjects, size_t count)
{
    size_t was = count;
    vxs_serialize_size(p, &was, VXS_MAX_COUNT);
    bool same = was == count;
    for (size_t k = 0; k < count && same; k++) {
        was = subjects[k];
        vxs_serialize_size(p, &was, VXS_MAX_COUNT);
        same = was == subjects[k];
    }
    if (!p->status && !same)
        p->status = vxs_fail(p->err, VXS_BAD_DATA, "'%s' was made with other folds", p->name);
}

void vxs_serialize_job(vxs_serializer *p, void *packed_job, size_t unit)
{
    const vxs_task *t = ((const vxs_packed_job *)packed_job)->task;
    vxs_job *job = ((const vxs_packed_job *)packed_job)->job;
    size_t outputs = vxs_task_outputs(t);
    (void)unit;
    serialize_subjects(p, job->train, job->train_count);
    serialize_subjects(p, job->test, job->test_count);
    vxs_serialize_reals(p, &job->passes, 1);
    vxs_serialize_reals(p, &job->seconds, 1);
    vxs_serialize_flag(p, &job->converged);
    vxs_serialize_size(p, &job->end, job->value_count);
    vxs_serialize_reals(p, job->scores, outputs * job->value_count * job->test_count);
    vxs_serialize_reals(p, job->sizes, job->value_count);
    if (job->limit > 0)
        vxs_serialize_selected(p, t, job->selected);
    if (job->limit > 0)
        vxs_serialize_selected(p, t, job->positive);
    for (size_t o = 0; o < outputs && job->keep && !p->status; o++)
        vxs_serialize_fit(p, t, &job->fits[o]);
    if (job->keep)
        vxs_serialize_reals(p, job->pattern, outputs * t->cohort->p);
}
