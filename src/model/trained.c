/* trained.c - overlap between a model's training subjects and a cohort.
 *
 * Images are matched by the SHA-256 of the file (and the volume's number), by a hash of the feature
 * values (vxs_cohort_prints) if the file was stored in another way, and for voxels by a sketch
 * (vxs_cohort_sketches) if the data type or scaling changed. Persons are matched by the id without
 * session, visit or run (as cohorts find it), or by the column of persons. Another image of a
 * training person was not trained on, but the person is not new: such scores do not estimate
 * performance on others. Without images only ids are compared. If the form of the ids allows that
 * two are of one person, such as two dates after one number, the result is "perhaps", unless
 * --person was given for both. */
#include "model/model.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const vxs_trained_names[] = { "no", "image", "person", "perhaps", NULL };

/* ---- Names ----------------------------------------------------------------------------------- */

#define IMAGE_TEXT (VXS_HASH_TEXT + 32)

/* Image of a subject in the cohort's list, "" if it has none. */
static const char *image_of(const vxs_json *subject, char text[IMAGE_TEXT])
{
    const char *hash = vxs_json_get_text(subject, "sha256");
    double volume = vxs_json_get_number(subject, "volume");
    if (hash && volume >= 1)
        snprintf(text, IMAGE_TEXT, "%s,%.0f", hash, volume);
    else
        snprintf(text, IMAGE_TEXT, "%s", hash ? hash : "");
    return text;
}

/* "" if there is none. */
static const char *id_text(const vxs_cohort *c, size_t i)
{
    const char *id = vxs_table_cell(c->people, i, c->id_column);
    return id ? id : "";
}

/* Person of a cohort's subject, from the column of persons or from the id. */
static const char *person_text(const vxs_cohort *c, size_t i)
{
    const char *person =
        c->person_column == VXS_NO_COLUMN ? NULL : vxs_table_cell(c->people, i, c->person_column);
    return person ? person : id_text(c, i);
}

static bool is_true(const vxs_json *about, const char *key)
{
    const vxs_json *value = vxs_json_get(about, key);
    return value && value->kind == VXS_JSON_BOOL && value->number != 0;
}

/* True if ids are positions in a file, such as row-000007; "about" describes a cohort or a model's
 * training subjects. */
static bool invents_ids(const vxs_json *about)
{
    return is_true(about, "ids_invented");
}

/* Those of bags are values of a column, unless each row is one. */
static bool cohort_invents_ids(const vxs_cohort *c)
{
    const char *column = vxs_json_get_text(c->about, "id_column");
    return invents_ids(c->about) &&
           (!c->bags || !column || strcmp(column, vxs_table_header(c->people, c->id_column)) == 0);
}

/* Positional ids match only within the same feature file. */
static char *in_features(const vxs_json *files, const char *id, vxs_error *err)
{
    const char *hash = files && files->first ? vxs_json_get_text(files->first, "sha256") : NULL;
    return hash ? vxs_format(err, "%s %s", hash, id) : vxs_format(err, "%s", "");
}

static char *id_of(const vxs_cohort *c, size_t i, vxs_error *err)
{
    return cohort_invents_ids(c) ? in_features(vxs_cohort_record(c), id_text(c, i), err)
                                 : vxs_person_of(id_text(c, i), err);
}

/* True if persons are known by generated ids only. */
static bool invents_persons(const vxs_cohort *c)
{
    return cohort_invents_ids(c) &&
           (c->person_column == VXS_NO_COLUMN || c->person_column == c->id_column);
}

static int by_text(const void *a, const void *b)
{
    return strcasecmp(*(char *const *)a, *(char *const *)b);
}

static bool has(char **sorted, size_t count, const char *text)
{
    return *text && bsearch(&text, sorted, count, sizeof(*sorted), by_text);
}

/* ---- Of a model that is written -------------------------------------------------------------- */

/* Hash of the feature values; "" if too few of them differ from 0. */
static const char *print_text(uint64_t print, char text[IMAGE_TEXT])
{
    if (print == 0)
        *text = '\0';
    else
        snprintf(text, IMAGE_TEXT, "values %016" PRIx64, print);
    return text;
}

#define SKETCH_UNIT 1e-5

static void write_sketches(vxs_json_writer *w, const vxs_task *t, const double *sketches)
{
    vxs_json_open_array(w, "sketches");
    for (size_t i = 0; i < t->n; i++) {
        const double *one = sketches + t->rows[i] * VXS_SKETCH;
        vxs_json_open_array(w, NULL);
        for (int k = 0; k < VXS_SKETCH && !isnan(*one); k++)
            vxs_json_whole(w, NULL, (int64_t)llround(one[k] / SKETCH_UNIT));
        vxs_json_close_array(w);
    }
    vxs_json_close_array(w);
}

/* Those of a bag are the images of all of its instances, many of which may be of one. */
static void write_images(vxs_json_writer *w, const vxs_task *t)
{
    const vxs_json *list = vxs_json_get(t->cohort->about, "subject_list");
    const vxs_json *item = list ? list->first : NULL;
    char image[IMAGE_TEXT], last[IMAGE_TEXT] = "";
    size_t rows = vxs_cohort_file_rows(t->cohort);
    vxs_json_open_array(w, "images");
    for (size_t k = 0; item && k < rows; k++, item = item->next) {
        if (vxs_task_find(t, vxs_cohort_subject_of(t->cohort, k)) == SIZE_MAX)
            continue;
        image_of(item, image);
        if (t->cohort->bags && strcmp(image, last) == 0)
            continue;
        vxs_json_text(w, NULL, *image ? image : NULL);
        memcpy(last, image, IMAGE_TEXT);
    }
    vxs_json_close_array(w);
}

/* Arrays "persons", "prints" and "sketches", in the order of the ids, and "images", in that of the
 * cohort's rows. */
void vxs_trained_json(vxs_json_writer *w, const vxs_task *t, const uint64_t *prints,
                      const double *sketches)
{
    vxs_json_bool(w, "ids_invented", cohort_invents_ids(t->cohort));
    vxs_json_bool(w, "person_said", is_true(t->cohort->about, "person_said"));
    vxs_json_open_array(w, "persons");
    for (size_t i = 0; i < t->n; i++)
        vxs_json_text(w, NULL,
                      invents_persons(t->cohort) ? NULL : person_text(t->cohort, t->rows[i]));
    vxs_json_close_array(w);
    write_images(w, t);
    vxs_json_open_array(w, "prints");
    for (size_t i = 0; i < t->n; i++) {
        char print[IMAGE_TEXT];
        vxs_json_text(w, NULL, *print_text(prints[t->rows[i]], print) ? print : NULL);
    }
    vxs_json_close_array(w);
    write_sketches(w, t, sketches);
}

/* ---- Of a model that was read ---------------------------------------------------------------- */

typedef struct {
    char **images, **people; /* sorted */
    size_t image_count, count;
} training;

static void release(training *t)
{
    vxs_free_texts(t->images, t->image_count);
    vxs_free_texts(t->people, t->count);
}

/* `files`: hashes of the feature files in which the ids are positions; NULL: ids are names. */
static vxs_status add_people(training *t, const vxs_json *list, const vxs_json *files,
                             vxs_error *err)
{
    for (const vxs_json *i = list ? list->first : NULL; i; i = i->next) {
        const char *text = i->kind == VXS_JSON_TEXT ? i->text : "";
        t->people[t->count] = files ? in_features(files, text, err) : vxs_person_of(text, err);
        if (!t->people[t->count++])
            return VXS_FAILED;
    }
    return VXS_OK;
}

static vxs_status add_images(training *t, const vxs_json *list, vxs_error *err)
{
    for (const vxs_json *i = list ? list->first : NULL; i; i = i->next) {
        if (i->kind != VXS_JSON_TEXT)
            continue;
        t->images[t->image_count] = vxs_format(err, "%s", i->text);
        if (!t->images[t->image_count++])
            return VXS_FAILED;
    }
    return VXS_OK;
}

static vxs_status read_training(const vxs_model *m, training *t, vxs_error *err)
{
    const vxs_json *about = vxs_json_get(m->about, "training");
    const vxs_json *ids = vxs_json_get(about, "ids"), *images = vxs_json_get(about, "images");
    const vxs_json *people = vxs_json_get(about, "persons"),
                   *prints = vxs_json_get(about, "prints");
    size_t names = (ids ? ids->length : 0) + (people ? people->length : 0);
    size_t known = (images ? images->length : 0) + (prints ? prints->length : 0);
    *t = (training){ .images = vxs_alloc(known, sizeof(char *), err) };
    t->people = vxs_alloc(names, sizeof(char *), err);
    if (!t->images || !t->people)
        return VXS_FAILED;
    vxs_status status = add_images(t, images, err);
    if (!status)
        status = add_images(t, prints, err);
    if (!status)
        status = add_people(t, ids,
                            invents_ids(about) ? vxs_json_get(about, "features_files") : NULL, err);
    if (!status)
        status = add_people(t, people, NULL, err);
    if (status)
        return status;
    qsort((void *)t->images, t->image_count, sizeof(*t->images), by_text);
    qsort((void *)t->people, t->count, sizeof(*t->people), by_text);
    return VXS_OK;
}

/* `seen`: an image of the subject was trained on. */
static vxs_status find(const training *t, const vxs_cohort *c, size_t i, bool seen, uint64_t print,
                       vxs_trained *trained, vxs_error *err)
{
    char values[IMAGE_TEXT], *person = NULL;
    char *id = id_of(c, i, err);
    person = vxs_person_of(invents_persons(c) ? "" : person_text(c, i), err);
    vxs_status status = person && id ? VXS_OK : VXS_FAILED;
    bool known = seen || has(t->images, t->image_count, print_text(print, values));
    if (!status)
        *trained = known ? VXS_TRAINED_ON_IMAGE
                   : has(t->people, t->count, person) || has(t->people, t->count, id)
                       ? VXS_TRAINED_ON_PERSON
                       : VXS_NOT_TRAINED_ON;
    free(person);
    free(id);
    return status;
}

vxs_status vxs_model_trained_on_image(const vxs_model *m, const char *person, const char *hash,
                                      vxs_trained *trained, vxs_error *err)
{
    training t;
    vxs_status status = read_training(m, &t, err);
    char *name = status ? NULL : vxs_person_of(person, err);
    if (name)
        *trained = has(t.images, t.image_count, hash) ? VXS_TRAINED_ON_IMAGE
                   : has(t.people, t.count, name)     ? VXS_TRAINED_ON_PERSON
                                                      : VXS_NOT_TRAINED_ON;
    release(&t);
    free(name);
    return name ? VXS_OK : status ? status : VXS_FAILED;
}

/* ---- By sketches ----------------------------------------------------------------------------- */

#define ALIKE    1e-3 /* maximal relative difference for one image; about 1 for different images */
#define OF_USUAL 0.02 /* and relative to the median, for images that are all similar */

/* n x VXS_SKETCH; malformed sketches are skipped. */
static size_t list_sketches(const vxs_json *list, double *sketches)
{
    size_t count = 0;
    for (const vxs_json *i = list ? list->first : NULL; i; i = i->next) {
        const vxs_json *number =
            i->kind == VXS_JSON_ARRAY && i->length == VXS_SKETCH ? i->first : NULL;
        int k = 0;
        for (; number && number->kind == VXS_JSON_NUMBER; number = number->next)
            sketches[count * VXS_SKETCH + (size_t)k++] = SKETCH_UNIT * number->number;
        count += k == VXS_SKETCH;
    }
    return count;
}

static int by_size(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static bool is_alike(const double *one, const double *sketches, size_t count, double *distance)
{
    double least = INFINITY;
    for (size_t i = 0; i < count; i++) {
        distance[i] = 0;
        for (size_t k = 0; k < VXS_SKETCH; k++)
            distance[i] = fmax(distance[i], fabs(one[k] - sketches[i * VXS_SKETCH + k]));
        least = fmin(least, distance[i]);
    }
    if (!(least < ALIKE))
        return false;
    qsort(distance, count, sizeof(*distance), by_size);
    return count > 1 && distance[0] < ALIKE && distance[0] < OF_USUAL * distance[count / 2];
}

/* Matches training images that were rounded or scaled. */
static vxs_status find_alike(const vxs_model *m, const vxs_cohort *c, vxs_trained *trained,
                             vxs_error *err)
{
    const vxs_json *list = vxs_json_get(vxs_json_get(m->about, "training"), "sketches");
    size_t most = list ? list->length : 0;
    double *sketches = vxs_alloc(most, VXS_SKETCH * sizeof(*sketches), err);
    double *distance = vxs_alloc(most, sizeof(*distance), err);
    double *own = vxs_alloc(c->n, VXS_SKETCH * sizeof(*own), err);
    vxs_status status = sketches && distance && own ? vxs_cohort_sketches(c, own, err) : VXS_FAILED;
    size_t count = status ? 0 : list_sketches(list, sketches);
    for (size_t i = 0; i < c->n && count > 0; i++) {
        const double *one = own + i * VXS_SKETCH;
        if (trained[i] != VXS_TRAINED_ON_IMAGE && !isnan(*one) &&
            is_alike(one, sketches, count, distance))
            trained[i] = VXS_TRAINED_ON_IMAGE;
    }
    free(sketches);
    free(distance);
    free(own);
    return status;
}

/* ---- By the form of ids ---------------------------------------------------------------------- */

/* Training persons, from the column of persons or from the ids. */
static size_t list_training(const vxs_model *m, const char **names)
{
    const vxs_json *about = vxs_json_get(m->about, "training");
    const vxs_json *id = vxs_json_get(about, "ids"), *person = vxs_json_get(about, "persons");
    size_t count = 0;
    id = id && !invents_ids(about) ? id->first : NULL;
    person = person ? person->first : NULL;
    for (; id || person; id = id ? id->next : NULL, person = person ? person->next : NULL) {
        const vxs_json *one = person && person->kind == VXS_JSON_TEXT ? person : id;
        if (names)
            names[count] = one && one->kind == VXS_JSON_TEXT ? one->text : NULL;
        count++;
    }
    return count;
}

/* Subjects whose id differs from a training person's only in a visit or the like. */
static vxs_status find_perhaps(const vxs_model *m, const vxs_cohort *c, vxs_trained *trained,
                               vxs_error *err)
{
    size_t known = list_training(m, NULL), n = known + c->n, count = 0;
    const char **names = vxs_alloc(n, sizeof(*names), err);
    size_t *number = vxs_alloc(n, sizeof(*number), err);
    bool *has_one = vxs_alloc(n, sizeof(*has_one), err);
    vxs_status status = names && number && has_one ? VXS_OK : VXS_FAILED;
    bool look = !status && known > 0 && !invents_persons(c);
    if (look)
        (void)list_training(m, names);
    for (size_t i = 0; i < c->n && look; i++)
        names[known + i] = trained[i] == VXS_NOT_TRAINED_ON ? person_text(c, i) : NULL;
    if (look)
        status = vxs_persons_perhaps(names, n, known, number, &count, err);
    for (size_t i = 0; i < known && count > 0 && !status; i++)
        if (names[i] && number[i] != SIZE_MAX)
            has_one[number[i]] = true;
    for (size_t i = 0; i < c->n && count > 0 && !status; i++)
        if (names[known + i] && number[known + i] != SIZE_MAX && has_one[number[known + i]])
            trained[i] = VXS_PERHAPS_TRAINED_ON;
    free((void *)names);
    free(number);
    free(has_one);
    return status;
}

/* Which subjects have an image that was trained on, in any of their rows. */
static void find_images(const training *t, const vxs_cohort *c, bool *seen)
{
    const vxs_json *list = vxs_json_get(c->about, "subject_list");
    const vxs_json *item = list ? list->first : NULL;
    size_t rows = vxs_cohort_file_rows(c);
    char image[IMAGE_TEXT];
    for (size_t k = 0; item && k < rows; k++, item = item->next)
        if (has(t->images, t->image_count, image_of(item, image)))
            seen[vxs_cohort_subject_of(c, k)] = true;
}

vxs_status vxs_model_trained_on(const vxs_model *m, const vxs_cohort *c, vxs_trained *trained,
                                vxs_error *err)
{
    training t;
    vxs_status status = read_training(m, &t, err);
    uint64_t *prints = status ? NULL : vxs_alloc(c->n, sizeof(*prints), err);
    bool *seen = prints ? vxs_alloc(c->n, sizeof(*seen), err) : NULL;
    if (!status)
        status = seen ? vxs_cohort_prints(c, prints, err) : VXS_FAILED;
    if (!status)
        find_images(&t, c, seen);
    for (size_t i = 0; i < c->n && !status; i++)
        status = find(&t, c, i, seen[i], prints[i], &trained[i], err);
    if (!status)
        status = find_alike(m, c, trained, err);
    /* --person was given for both */
    bool said = is_true(vxs_json_get(m->about, "training"), "person_said") &&
                is_true(c->about, "person_said");
    if (!status && !said)
        status = find_perhaps(m, c, trained, err);
    free(prints);
    free(seen);
    release(&t);
    return status;
}
