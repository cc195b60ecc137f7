/* svm_data.c - reads and writes what benchmarks of the sparse linear SVM share. */
#include "svm_data.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

void svm_must(vxs_status status, const vxs_error *err)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", err->message);
    exit(1);
}

void *svm_get(size_t count, size_t size)
{
    vxs_error err = VXS_ERROR_INIT;
    void *memory = vxs_alloc(count, size, &err);
    svm_must(memory ? VXS_OK : VXS_FAILED, &err);
    return memory;
}

FILE *svm_open(const svm_data *data, const char *name, const char *mode)
{
    char path[4096];
    (void)snprintf(path, sizeof(path), "%s/%s", data->folder, name);
    FILE *file = fopen(path, mode);
    if (!file)
        perror(path);
    return file ? file : (exit(1), NULL);
}

static void read_in(const svm_data *data, const char *name, void *to, size_t count, size_t size)
{
    FILE *file = svm_open(data, name, "rb");
    if (fread(to, size, count, file) != count) {
        fprintf(stderr, "%s is too short\n", name);
        exit(1);
    }
    (void)fclose(file);
}

void svm_load(svm_data *d, const char *folder)
{
    *d = (svm_data){ .folder = folder };
    read_in(d, "size", d->size, 3, sizeof(*d->size));
    size_t n = d->size[0], p = d->size[1], count = n * p;
    d->y = svm_get(n, sizeof(*d->y));
    read_in(d, "y", d->y, n, sizeof(*d->y));
    if (d->size[2]) {
        d->starts = svm_get(p + 1, sizeof(*d->starts));
        read_in(d, "starts", d->starts, p + 1, sizeof(*d->starts));
        count = d->starts[p];
        d->rows = svm_get(count, sizeof(*d->rows));
        read_in(d, "rows", d->rows, count, sizeof(*d->rows));
    }
    d->values = svm_get(count, sizeof(*d->values));
    read_in(d, "columns", d->values, count, sizeof(*d->values));
}

void svm_free(svm_data *d)
{
    free(d->y);
    free(d->values);
    free(d->rows);
    free(d->starts);
}

void svm_write(const svm_data *d, const double *w, FILE *file)
{
    if (fwrite(w, sizeof(*w), d->size[1] + 1, file) != d->size[1] + 1) {
        perror("w");
        exit(1);
    }
}

double svm_cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int svm_place_of(const char *word, const char *const *words)
{
    for (int k = 0; words[k]; k++)
        if (strcmp(word, words[k]) == 0)
            return k;
    fprintf(stderr, "not known: %s\n", word);
    exit(64);
}
