/* leaks.c - what must not be on both sides of a fold: an image, a person, a group. Copies of an
 * image in another file have another hash; they are warned of, since features of two persons may be
 * equal, and so are subjects that may be of one person. Results carry these warnings. */
#include "evaluate/evaluate.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *hash;
    size_t subject;
} image;

static int by_hash(const void *a, const void *b)
{
    const image *left = a, *right = b;
    int order = strcmp(left->hash, right->hash);
    if (order != 0)
        return order;
    return (left->subject > right->subject) - (left->subject < right->subject);
}

/* Images of the task's subjects, as cohort.json has them: volumes of one file share its hash, and
 * tables have none. */
static size_t list_images(const vxs_task *t, image *images)
{
    const vxs_json *list = vxs_json_get(t->cohort->about, "subject_list");
    const vxs_json *item = list ? list->first : NULL;
    size_t count = 0, rows = vxs_cohort_file_rows(t->cohort);
    for (size_t k = 0; item && k < rows; k++, item = item->next) {
        size_t subject = vxs_task_find(t, vxs_cohort_subject_of(t->cohort, k));
        const char *hash = vxs_json_get_text(item, "sha256");
        if (subject != SIZE_MAX && hash && !vxs_json_get(item, "volume"))
            images[count++] = (image){ hash, subject };
    }
    return count;
}

static vxs_status refuse(const vxs_task *t, const vxs_folds *f, size_t repeat, size_t a, size_t b,
                         const char *what, vxs_error *err)
{
    size_t one = f->fold[repeat * f->n + a], other = f->fold[repeat * f->n + b];
    char first[32], second[32];
    snprintf(first, sizeof(first), "%zu", one + 1);
    snprintf(second, sizeof(second), "%zu", other + 1);
    return vxs_fail(err, VXS_BAD_DATA, "'%s' and '%s' %s, but are in folds %s and %s",
                    vxs_task_id(t, a), vxs_task_id(t, b), what, f->names ? f->names[one] : first,
                    f->names ? f->names[other] : second);
}

static vxs_status check_images(const vxs_task *t, const vxs_folds *f, vxs_error *err)
{
    image *images = vxs_alloc(vxs_cohort_file_rows(t->cohort), sizeof(*images), err);
    vxs_status status = images ? VXS_OK : VXS_FAILED;
    size_t count = images ? list_images(t, images) : 0;
    if (count > 0)
        qsort(images, count, sizeof(*images), by_hash);
    for (size_t k = 1; k < count && !status; k++)
        for (size_t r = 0; r < f->repeats && !status; r++) {
            size_t a = images[k - 1].subject, b = images[k].subject;
            if (strcmp(images[k - 1].hash, images[k].hash) == 0 &&
                f->fold[r * f->n + a] != f->fold[r * f->n + b])
                status = refuse(t, f, r, a, b, "have the same image", err);
        }
    free(images);
    return status;
}

static bool is_one_person(const vxs_task *t, size_t a, size_t b)
{
    return t->cohort->person[t->rows[a]] == t->cohort->person[t->rows[b]];
}

/* Groups hold persons whole. */
static vxs_status check_groups(const vxs_task *t, const vxs_folds *f, vxs_error *err)
{
    size_t *first = vxs_alloc(f->groups, sizeof(*first), err);
    vxs_status status = first ? VXS_OK : VXS_FAILED;
    for (size_t g = 0; first && g < f->groups; g++)
        first[g] = t->n;
    for (size_t i = 0; i < t->n && !status; i++) {
        size_t *seen = &first[f->group[i]];
        *seen = *seen == t->n ? i : *seen;
        for (size_t r = 0; r < f->repeats && !status; r++)
            if (f->fold[r * f->n + i] != f->fold[r * f->n + *seen])
                status =
                    refuse(t, f, r, *seen, i,
                           is_one_person(t, *seen, i) ? "are of one person" : "are of one group",
                           err);
    }
    free(first);
    return status;
}

vxs_status vxs_folds_check(const vxs_task *t, const vxs_folds *f, vxs_error *err)
{
    vxs_status status = check_groups(t, f, err);
    return status ? status : check_images(t, f, err);
}

/* ---- Copies ---------------------------------------------------------------------------------- */

typedef struct {
    uint64_t print;
    size_t subject;
} copy;

static int by_print(const void *a, const void *b)
{
    const copy *left = a, *right = b;
    if (left->print != right->print)
        return left->print < right->print ? -1 : 1;
    return (left->subject > right->subject) - (left->subject < right->subject);
}

static vxs_status warn_of_copies(const vxs_context *context, vxs_task *t, const copy *copies,
                                 size_t count, vxs_error *err)
{
    size_t pairs = 0, first = 0;
    for (size_t k = 1; k < count; k++) {
        if (copies[k].print != copies[k - 1].print ||
            is_one_person(t, copies[k].subject, copies[k - 1].subject))
            continue;
        first = pairs++ == 0 ? k : first;
    }
    if (pairs == 0)
        return VXS_OK;
    return vxs_task_warn(context, t, err,
                         "'%s' and '%s'%s have the same feature values; if these are copies of "
                         "one image, leave one out, or keep them together with --group",
                         vxs_task_id(t, copies[first - 1].subject),
                         vxs_task_id(t, copies[first].subject),
                         pairs > 1 ? ", and other pairs of subjects," : "");
}

static vxs_status find_copies(const vxs_context *context, vxs_task *t, vxs_error *err)
{
    uint64_t *print = vxs_alloc(t->cohort->n, sizeof(*print), err);
    copy *copies = print ? vxs_alloc(t->n, sizeof(*copies), err) : NULL;
    vxs_status status = copies ? vxs_cohort_prints(t->cohort, print, err) : VXS_FAILED;
    size_t count = 0;
    for (size_t i = 0; i < t->n && !status; i++)
        if (print[t->rows[i]] != 0)
            copies[count++] = (copy){ print[t->rows[i]], i };
    if (count > 0) {
        qsort(copies, count, sizeof(*copies), by_print);
        status = warn_of_copies(context, t, copies, count, err);
    }
    free(print);
    free(copies);
    return status;
}

/* ---- Persons --------------------------------------------------------------------------------- */

static vxs_status find_persons(const vxs_context *context, vxs_task *t, vxs_error *err)
{
    bool there = true;
    vxs_status status = VXS_OK;
    for (size_t k = 0; there && !status; k++) {
        char *words = NULL;
        status = vxs_cohort_suspicion(t->cohort, k, t->rows, t->n, &there, &words, err);
        if (!status && words)
            status = vxs_task_warn(context, t, err, "%s", words);
        free(words);
    }
    return status;
}

vxs_status vxs_warn_leaks(const vxs_context *context, vxs_task *t, vxs_error *err)
{
    vxs_status status = find_persons(context, t, err);
    return status ? status : find_copies(context, t, err);
}
