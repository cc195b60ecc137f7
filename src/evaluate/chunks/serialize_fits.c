/* serialize_fits.c - fits, and what jobs come to, as numbers in a row. */
#include "evaluate/chunks/chunk.h"

static void pack_certificate(vxs_pack *p, vxs_certificate *c)
{
    for (const vxs_field *f = vxs_certificate_fields; f->name; f++) {
        void *at = (char *)c + f->offset;
        if (f->type == VXS_FIELD_REAL)
            vxs_pack_reals(p, at, 1);
        else if (f->type == VXS_FIELD_COUNT)
            vxs_pack_size(p, at, VXS_MOST_COUNT);
        else
            vxs_pack_flag(p, at);
    }
}

void vxs_pack_fit(vxs_pack *p, const vxs_task *t, vxs_solution *fit)
{
    size_t count = fit->count;
    vxs_pack_size(p, &count, t->cohort->p);
    if (p->from) {
        fit->index = vxs_pack_room(p, count, sizeof(*fit->index));
        fit->weight = vxs_pack_room(p, count, sizeof(*fit->weight));
        fit->free = vxs_pack_room(p, t->free_count, sizeof(*fit->free));
    }
    if (p->status)
        return;
    fit->count = count;
    for (size_t k = 0; k < count; k++)
        vxs_pack_size(p, &fit->index[k], t->cohort->p - 1);
    vxs_pack_reals(p, fit->weight, count);
    vxs_pack_reals(p, fit->free, t->free_count);
    pack_certificate(p, &fit->certificate);
}

size_t vxs_count_selected(const bool *selected, size_t p)
{
    size_t count = 0;
    for (size_t j = 0; j < p; j++)
        count += selected[j];
    return count;
}

void vxs_pack_selected(vxs_pack *p, const vxs_task *t, bool *selected)
{
    size_t features = t->cohort->p;
    for (size_t o = 0; o < vxs_task_outputs(t) && !p->status; o++, selected += features) {
        size_t count = vxs_count_selected(selected, features), at = 0;
        vxs_pack_size(p, &count, features);
        for (size_t k = 0; k < count && !p->status; k++, at++) {
            while (!p->from && !selected[at])
                at++;
            vxs_pack_size(p, &at, features - 1);
            selected[at] = true;
        }
    }
}

/* Columns and files that say who is in a job may have changed since. */
static void pack_subjects(vxs_pack *p, const size_t *subjects, size_t count)
{
    size_t was = count;
    vxs_pack_size(p, &was, VXS_MOST_COUNT);
    bool same = was == count;
    for (size_t k = 0; k < count && same; k++) {
        was = subjects[k];
        vxs_pack_size(p, &was, VXS_MOST_COUNT);
        same = was == subjects[k];
    }
    if (!p->status && !same)
        p->status = vxs_fail(p->err, VXS_BAD_DATA, "'%s' was made with other folds", p->name);
}

void vxs_pack_job(vxs_pack *p, void *packed_job, size_t unit)
{
    const vxs_task *t = ((const vxs_packed_job *)packed_job)->task;
    vxs_job *job = ((const vxs_packed_job *)packed_job)->job;
    size_t outputs = vxs_task_outputs(t);
    (void)unit;
    pack_subjects(p, job->train, job->train_count);
    pack_subjects(p, job->test, job->test_count);
    vxs_pack_reals(p, &job->passes, 1);
    vxs_pack_reals(p, &job->seconds, 1);
    vxs_pack_flag(p, &job->converged);
    vxs_pack_reals(p, job->scores, outputs * job->point_count * job->test_count);
    vxs_pack_reals(p, job->sizes, job->point_count);
    if (job->limit > 0)
        vxs_pack_selected(p, t, job->selected);
    for (size_t o = 0; o < outputs && job->keep && !p->status; o++)
        vxs_pack_fit(p, t, &job->fits[o]);
    if (job->keep)
        vxs_pack_reals(p, job->pattern, outputs * t->cohort->p);
}
