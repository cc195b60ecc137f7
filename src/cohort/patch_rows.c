/* patch_rows.c - a cohort of the voxels that were drawn: a table of features with a row for each,
 * whose columns are those of its subject, its label and its place. */
#include "cohort/patch_draws.h"
#include "cohort/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ID, PERSON, I, J, K, X, Y, Z };

/* ---- Rows ------------------------------------------------------------------------------------ */

static bool has_header(const vxs_table *table, const char *name)
{
    for (size_t j = 0; j < vxs_table_columns(table); j++)
        if (strcmp(vxs_table_header(table, j), name) == 0)
            return true;
    return false;
}

/* A header that the table does not have: "x", "x_2", ... */
static void name_header(const vxs_patch_draws *s, const char *name, char text[80])
{
    snprintf(text, 80, "%s", name);
    for (int k = 2; has_header(s->source.build.table, text); k++)
        snprintf(text, 80, "%s_%d", name, k);
}

/* Persons are a column unless each subject is said to be one. */
static bool persons_are_numbered(const vxs_build *b)
{
    return b->person_header && strcmp(b->person_header, b->id_header) == 0;
}

static void write_headers(vxs_patch_draws *s, vxs_tsv_writer *w)
{
    static const char *const names[] = { "voxel_id", "person", "i", "j", "k", "x", "y", "z" };
    const vxs_build *b = &s->source.build;
    for (int k = 0; k <= Z; k++)
        name_header(s, names[k], s->headers[k]);
    vxs_tsv_text(w, s->headers[ID]);
    if (persons_are_numbered(b))
        vxs_tsv_text(w, s->headers[PERSON]);
    for (size_t j = 0; j < vxs_table_columns(b->table); j++)
        vxs_tsv_text(w, vxs_table_header(b->table, j));
    for (int k = I; k <= Z; k++)
        vxs_tsv_text(w, s->headers[k]);
    vxs_tsv_end_row(w);
}

static void write_label(const vxs_patch_draws *s, vxs_tsv_writer *w, int32_t label)
{
    char text[32];
    snprintf(text, sizeof(text), s->plain ? "%d" : "label-%d", (int)label);
    vxs_tsv_text(w, text);
}

static void row_id(const vxs_drawn *d, size_t k, char *text, size_t size)
{
    double index[3];
    vxs_grid_index(&d->images.grid, d->voxel[k], index);
    snprintf(text, size, "%s_%.0f-%.0f-%.0f", d->subject->id, index[0], index[1], index[2]);
}

static void write_row(const vxs_patch_draws *s, const vxs_drawn *d, size_t k, const char *id,
                      size_t person, vxs_tsv_writer *w)
{
    const vxs_build *b = &s->source.build;
    double index[3];
    vxs_tsv_text(w, id);
    if (persons_are_numbered(b))
        vxs_tsv_real(w, (double)person);
    for (size_t j = 0; j < vxs_table_columns(b->table); j++)
        if (j == s->source.label)
            write_label(s, w, d->label[k]);
        else
            vxs_tsv_text(w, vxs_table_cell(b->table, d->subject->row, j));
    vxs_grid_index(&d->images.grid, d->voxel[k], index);
    for (int a = 0; a < 3; a++)
        vxs_tsv_real(w, index[a]);
    for (int a = 0; a < 3; a++)
        vxs_tsv_real(w, d->at[k][a]);
    vxs_tsv_end_row(w);
}

/* The subject's person, in the form that opening a cohort takes from the column. */
static const char *person_of(const vxs_build *b, const vxs_subject *subject, size_t number,
                             char text[32])
{
    if (persons_are_numbered(b)) {
        snprintf(text, 32, "%zu", number);
        return text;
    }
    return subject->person ? subject->person : subject->id;
}

static vxs_status add_rows(const vxs_patch_draws *s, vxs_build *rows, vxs_tsv_writer *w,
                           vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (size_t i = 0; i < s->count && !status; i++)
        for (size_t k = 0; k < s->each[i].count && !status; k++) {
            const vxs_drawn *d = &s->each[i];
            char id[4096], number[32];
            row_id(d, k, id, sizeof(id));
            write_row(s, d, k, id, i + 1, w);
            status = vxs_build_add(rows, id, NULL, 0, rows->count, err);
            if (status)
                break;
            vxs_subject *row = &rows->subjects[rows->count - 1];
            row->person =
                vxs_format(err, "%s", person_of(&s->source.build, d->subject, i + 1, number));
            memcpy(row->hash, d->subject->hash, sizeof(row->hash));
            status = row->person ? VXS_OK : VXS_FAILED;
        }
    return status;
}

static vxs_status make_table(vxs_patch_draws *s, vxs_build *rows, vxs_error *err)
{
    char *text = NULL;
    size_t length = 0;
    vxs_tsv_writer w;
    FILE *stream = open_memstream(&text, &length);
    if (!stream)
        return vxs_fail(err, VXS_FAILED, "not enough memory for a table of %zu voxels", s->rows);
    vxs_tsv_init(&w, stream);
    write_headers(s, &w);
    vxs_status status = add_rows(s, rows, &w, err);
    if (fclose(stream) != 0 && !status)
        status = vxs_fail(err, VXS_FAILED, "not enough memory for a table of %zu voxels", s->rows);
    if (!status)
        status =
            vxs_table_parse(text, length, vxs_table_name(s->source.build.table), &rows->table, err);
    free(text);
    return status;
}

/* Warnings of subjects that may be one person are of all their voxels. */
static vxs_status copy_suspicions(const vxs_patch_draws *s, vxs_build *rows, vxs_error *err)
{
    const vxs_build *b = &s->source.build;
    rows->suspicions = vxs_alloc(b->suspicion_count, sizeof(*rows->suspicions), err);
    vxs_status status = rows->suspicions ? VXS_OK : VXS_FAILED;
    for (size_t k = 0; k < b->suspicion_count && !status; k++) {
        vxs_suspicion *to = &rows->suspicions[k];
        *to = b->suspicions[k];
        to->number = vxs_alloc(s->rows, sizeof(*to->number), err);
        rows->suspicion_count++;
        if (!to->number)
            return VXS_FAILED;
        for (size_t i = 0, row = 0; i < s->count; i++)
            for (size_t v = 0; v < s->each[i].count; v++)
                to->number[row++] = b->suspicions[k].number[s->each[i].subject - b->subjects];
    }
    return status;
}

static vxs_status fill_matrix(vxs_patch_draws *s, const vxs_build *rows, vxs_matrix *m,
                              vxs_error *err)
{
    m->n = s->rows;
    m->p = s->plan.p;
    vxs_status status = vxs_matrix_dense(rows, m, err);
    m->names = status ? NULL : vxs_alloc(m->p, sizeof(*m->names), err);
    s->names = m->names ? vxs_alloc(m->p, sizeof(*s->names), err) : NULL;
    if (!s->names)
        return status ? status : VXS_FAILED;
    for (size_t j = 0; j < m->p && !status; j++) {
        m->names[j] = s->names[j] = vxs_patch_feature_name(&s->plan, j, err);
        status = s->names[j] ? VXS_OK : VXS_FAILED;
        for (size_t i = 0, row = 0; i < s->count; row += s->each[i++].count)
            memcpy(m->values + j * m->n + row, s->each[i].values + j * s->each[i].count,
                   s->each[i].count * sizeof(*m->values));
    }
    return status;
}

/* ---- What the cohort says -------------------------------------------------------------------- */

static void sampled_json(const vxs_patch_draws *s, const vxs_drawn *d, vxs_json_writer *w)
{
    char text[32];
    vxs_json_open_object(w, "drawn");
    for (size_t l = 0; l < s->label_count; l++) {
        size_t count = 0;
        for (size_t k = 0; k < d->count; k++)
            count += d->label[k] == s->label[l];
        snprintf(text, sizeof(text), s->plain ? "%d" : "label-%d", (int)s->label[l]);
        vxs_json_whole(w, text, (int64_t)count);
    }
    vxs_json_close_object(w);
}

static void write_extra(vxs_json_writer *w, const void *extra)
{
    const vxs_patch_draws *s = extra;
    vxs_patch_plan_json(w, &s->plan, s->settings);
    vxs_json_open_array(w, "images");
    for (size_t i = 0; i < s->count; i++) {
        const vxs_drawn *d = &s->each[i];
        vxs_json_open_object(w, NULL);
        vxs_json_text(w, "id", d->subject->id);
        vxs_patch_files_json(w, &s->source, &s->plan, &d->images);
        vxs_json_whole(w, "in_mask", (int64_t)d->images.in_mask);
        vxs_json_whole(w, "not_finite", (int64_t)d->images.not_usable);
        vxs_json_whole(w, "labels_outside", (int64_t)d->outside);
        sampled_json(s, d, w);
        vxs_json_close_object(w);
    }
    vxs_json_close_array(w);
}

/* Contrast, steps of a patch, radius of a mean. */
static void write_feature(vxs_tsv_writer *w, size_t j, const void *extra)
{
    static const char *const headers[] = { "contrast", "right", "front", "up", "radius" };
    const vxs_patch_draws *s = extra;
    if (j == SIZE_MAX) {
        for (int k = 0; k < 5; k++)
            vxs_tsv_text(w, headers[k]);
        return;
    }
    vxs_patch_feature f = vxs_patch_feature_at(&s->plan, j);
    bool step = f.axis < 0 && isnan(f.radius);
    vxs_tsv_text(w, f.axis < 0 ? s->plan.contrasts[f.contrast] : NULL);
    for (int d = 0; d < 3; d++)
        vxs_tsv_real(w, step ? f.step[d] : (double)NAN);
    vxs_tsv_real(w, f.radius);
}

/* ---- The whole ------------------------------------------------------------------------------- */

vxs_status vxs_patch_rows_write(vxs_patch_draws *s, vxs_output *output, vxs_cohort_summary *summary,
                                vxs_error *err)
{
    const vxs_build *b = &s->source.build;
    vxs_build rows = { .context = b->context,
                       .settings = &s->source.sources,
                       .nthreads = b->nthreads,
                       .people = b->people,
                       .people_perhaps = b->people_perhaps,
                       .write_extra = write_extra,
                       .write_feature = write_feature,
                       .extra = s,
                       .subjects_of = b,
                       .p = s->plan.p };
    vxs_matrix m = { .values = NULL };
    vxs_status status = make_table(s, &rows, err);
    rows.id_header = s->headers[ID];
    rows.person_header = persons_are_numbered(b) ? s->headers[PERSON]
                         : b->person_header      ? b->person_header
                                                 : b->id_header;
    rows.stored = s->plan.p * s->rows;
    if (!status)
        status = copy_suspicions(s, &rows, err);
    if (!status)
        status = fill_matrix(s, &rows, &m, err);
    if (!status && output)
        status = vxs_matrix_write(&rows, &m, output, err);
    if (!status && output)
        status = vxs_build_describe(&rows, output, m.names, err);
    if (!status && output)
        status = vxs_output_commit(output, err);
    if (!status)
        vxs_matrix_summarize(&rows, &m, summary);
    vxs_matrix_release(&m);
    vxs_build_release(&rows);
    return status;
}
