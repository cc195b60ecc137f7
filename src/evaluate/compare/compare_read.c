/* compare_read.c - cv.json of each directory, and whether they are of the same task. */
#include "evaluate/compare/compare.h"
#include "model/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

vxs_status vxs_compared_differ(const vxs_compared *c, size_t model, vxs_error *err,
                               const char *format, ...)
{
    vxs_error words = VXS_ERROR_INIT;
    va_list args;
    va_start(args, format);
    vxs_failv(&words, VXS_BAD_DATA, format, args);
    va_end(args);
    return vxs_fail(err, VXS_BAD_DATA, "'%s' and '%s' %s", c->models[0].directory,
                    c->models[model].directory, words.message);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ? path : name;
}

static bool is_directory(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* "lasso-cv:dense": a directory and one of its baselines, unless a directory has just this name. */
static vxs_status take_path(vxs_compared_model *m, const char *path, const char *from,
                            vxs_error *err)
{
    const char *colon = is_directory(path) ? NULL : strrchr(path, ':');
    size_t length = strlen(path);
    for (int b = 0; colon && b < VXS_BASELINES && !m->baseline; b++)
        if (colon > path && strcmp(colon + 1, vxs_baseline_names[b]) == 0) {
            m->baseline = vxs_baseline_names[b];
            length = (size_t)(colon - path);
        }
    while (length > 1 && path[length - 1] == '/')
        length--;
    m->directory = vxs_format(err, "%.*s", (int)length, path);
    if (!m->directory)
        return VXS_FAILED;
    m->place = from ? vxs_format(err, "%s/%s", from, last_part(m->directory))
                    : vxs_format(err, "%s", m->directory);
    return m->place ? VXS_OK : VXS_FAILED;
}

/* "lasso-cv:dense", or where another directory has this name "lasso-cv/:dense". */
static char *name_baseline(const vxs_compared *c, const char *name, const char *baseline,
                           vxs_error *err)
{
    char *whole = vxs_format(err, "%s:%s", name, baseline);
    for (size_t j = 0; whole && j < c->model_count; j++) {
        const vxs_compared_model *other = &c->models[j];
        if (other->baseline || strcmp(whole, last_part(other->directory)) != 0)
            continue;
        free(whole);
        return vxs_format(err, "%s/:%s", name, baseline);
    }
    return whole;
}

/* NULL: no memory. */
static char *name_of(const vxs_compared *c, size_t model, vxs_error *err)
{
    const vxs_compared_model *m = &c->models[model];
    const char *name = last_part(m->directory);
    for (size_t j = 0; j < c->model_count; j++)
        if (strcmp(m->directory, c->models[j].directory) != 0 &&
            strcmp(name, last_part(c->models[j].directory)) == 0)
            name = m->directory;
    char *whole =
        m->baseline ? name_baseline(c, name, m->baseline, err) : vxs_format(err, "%s", name);
    char *shown = whole ? vxs_shown(whole, err) : NULL;
    free(whole);
    return shown;
}

static vxs_status name_models(vxs_compared *c, const char *const *paths, const char *from,
                              vxs_error *err)
{
    for (size_t k = 0; k < c->model_count; k++) {
        vxs_status status = take_path(&c->models[k], paths[k], from, err);
        if (status)
            return status;
        for (size_t j = 0; j < k; j++)
            if (strcmp(c->models[j].directory, c->models[k].directory) == 0 &&
                c->models[j].baseline == c->models[k].baseline)
                return vxs_fail(err, VXS_MISUSE, "'%s' is given twice", paths[k]);
    }
    for (size_t k = 0; k < c->model_count; k++) {
        c->models[k].name = name_of(c, k, err);
        if (!c->models[k].name)
            return VXS_FAILED;
    }
    return VXS_OK;
}

/* ---- cv.json --------------------------------------------------------------------------------- */

typedef struct {
    vxs_record record;
    size_t subjects, repeats;
    double training; /* subjects of all folds */
    double ratio;    /* of test to training subjects, mean over folds */
} facts;

/* A whole number of 1 ... 1e9. */
static vxs_status read_count(const vxs_json *about, const char *path, const char *key,
                             size_t *count, vxs_error *err)
{
    double value = vxs_json_get_number(about, key);
    if (!(value >= 1 && value <= 1e9 && value == floor(value)))
        return vxs_fail(err, VXS_BAD_DATA, "'%s' has no number '%s'", path, key);
    *count = (size_t)value;
    return VXS_OK;
}

/* Training and test subjects of the folds. */
static vxs_status read_sizes(const vxs_json *about, const char *path, facts *f, vxs_error *err)
{
    const vxs_json *all = vxs_json_get(about, "each_fold");
    double test = 0, folds = 0;
    f->training = f->ratio = 0;
    for (const vxs_json *k = all ? all->first : NULL; k; k = k->next, folds++) {
        double here = vxs_json_get_number(k, "test"), others = vxs_json_get_number(k, "training");
        test += here;
        f->training += others;
        f->ratio += here / others;
    }
    f->ratio /= folds;
    if (test == (double)f->subjects * (double)f->repeats && f->ratio > 0 && isfinite(f->ratio) &&
        isfinite(f->training))
        return VXS_OK;
    return vxs_fail(err, VXS_BAD_DATA,
                    "'%s': the test subjects in 'each_fold' are not its %zu subjects in %zu "
                    "repeat%s",
                    path, f->subjects, f->repeats, vxs_plural(f->repeats));
}

static vxs_status read_about(vxs_compared_model *m, facts *f, vxs_error *err)
{
    char *path = vxs_format(err, "%s/%s", m->place, VXS_CV_FILE);
    vxs_status status = path ? vxs_folder_check(m->place, VXS_CV_FILE, err) : VXS_FAILED;
    if (!status)
        status = vxs_json_read(path, &m->about, err);
    if (!status)
        status = vxs_json_check_format(m->about, path, "voxsift cross-validation", err);
    if (!status)
        status = vxs_record_read(m->about, path, &f->record, err);
    if (!status)
        status = read_count(m->about, path, "subjects", &f->subjects, err);
    if (!status)
        status = read_count(m->about, path, "repeats", &f->repeats, err);
    if (!status)
        status = read_sizes(m->about, path, f, err);
    const vxs_json *classes = vxs_json_get(m->about, "classes");
    size_t count = f->record.class_count;
    if (!status && classes &&
        (classes->kind != VXS_JSON_OBJECT || count < 2 || count > VXS_MOST_CLASSES))
        status = vxs_fail(err, VXS_BAD_DATA, "'%s' does not record what was done: classes", path);
    free(path);
    if (status)
        return status;
    m->method = f->record.method->name;
    m->loss = f->record.loss_name;
    m->cohort = vxs_json_get_text(m->about, "cohort");
    m->command = vxs_json_get_text(m->about, "command");
    return VXS_OK;
}

/* ---- The same task --------------------------------------------------------------------------- */

static vxs_status take_classes(vxs_compared *c, const facts *f, vxs_error *err)
{
    c->class_count = f->record.class_count;
    c->target = f->record.task.target ? f->record.task.target : "";
    c->classes = vxs_alloc(c->class_count, sizeof(*c->classes), err);
    for (size_t k = 0; c->classes && k < c->class_count; k++) {
        c->classes[k] = vxs_format(err, "%s", vxs_record_class(&f->record, k));
        if (!c->classes[k])
            return VXS_FAILED;
    }
    return c->classes ? VXS_OK : VXS_FAILED;
}

static const char *kind_words(size_t classes)
{
    return classes > 0 ? "classes" : "a score";
}

static vxs_status same_classes(const vxs_compared *c, size_t model, const facts *f, vxs_error *err)
{
    size_t count = f->record.class_count;
    if ((count > 0) != (c->class_count > 0))
        return vxs_compared_differ(c, model, err,
                                   "have different targets: %s in one and %s in the "
                                   "other",
                                   kind_words(c->class_count), kind_words(count));
    for (size_t k = 0; k < count || k < c->class_count; k++) {
        const char *mine = k < c->class_count ? c->classes[k] : "none",
                   *theirs = k < count ? vxs_record_class(&f->record, k) : "none";
        bool positive = c->class_count == 2 && count == 2 && k == 1;
        if (strcmp(mine, theirs) != 0)
            return vxs_compared_differ(c, model, err,
                                       "have different classes: %s is '%s' in one and '%s' in the "
                                       "other",
                                       positive ? "the positive one"
                                       : k == 0 ? "the first"
                                                : "another",
                                       mine, theirs);
    }
    return VXS_OK;
}

static vxs_status same_counts(const vxs_compared *c, size_t model, const facts *first,
                              const facts *f, vxs_error *err)
{
    if (f->subjects != first->subjects)
        return vxs_compared_differ(c, model, err,
                                   "are of different subjects: %zu in one and %zu in the other",
                                   first->subjects, f->subjects);
    if (f->repeats != first->repeats)
        return vxs_compared_differ(c, model, err,
                                   "have different folds: %zu repeat%s in one and %zu in the other",
                                   first->repeats, vxs_plural(first->repeats), f->repeats);
    if (f->training != first->training)
        return vxs_compared_differ(c, model, err,
                                   "have different folds: %.10g training subjects in one and %.10g "
                                   "in the other, all folds together",
                                   first->training, f->training);
    return VXS_OK;
}

static vxs_status read_model(vxs_compared *c, size_t model, facts *first, vxs_error *err)
{
    facts here, *f = model == 0 ? first : &here;
    vxs_status status = read_about(&c->models[model], f, err);
    if (!status)
        status = model == 0 ? take_classes(c, f, err) : same_classes(c, model, f, err);
    if (!status && model > 0)
        status = same_counts(c, model, first, f, err);
    return status ? status : vxs_compared_rows(c, model, f->subjects, f->repeats, err);
}

vxs_status vxs_compared_read(vxs_compared *c, const char *const *paths, const char *from,
                             vxs_error *err)
{
    facts first;
    while (paths[c->model_count])
        c->model_count++;
    if (c->model_count < 2)
        return vxs_fail(err, VXS_MISUSE, "give two or more directories of 'voxsift cv' to compare");
    c->models = vxs_alloc(c->model_count, sizeof(*c->models), err);
    vxs_status status = c->models ? name_models(c, paths, from, err) : VXS_FAILED;
    for (size_t k = 0; k < c->model_count && !status; k++)
        status = read_model(c, k, &first, err);
    if (!status)
        c->test_size = first.ratio;
    return status ? status : vxs_compared_groups(c, err);
}
