/* chunk.c - the share of a run that this process computes: given by number, or by a job array. */
#include "evaluate/chunks/chunk.h"

#include <stdlib.h>
#include <string.h>

bool vxs_chunk_is_part(vxs_chunk chunk)
{
    return chunk.count > 1;
}

vxs_status vxs_chunk_share(vxs_chunk chunk, size_t units, const char *what, size_t *first,
                           size_t *end, vxs_error *err)
{
    *first = 0;
    *end = units;
    if (!vxs_chunk_is_part(chunk))
        return VXS_OK;
    if (chunk.count > units)
        return vxs_fail(err, VXS_MISUSE, "%zu %s cannot be shared by %zu chunks", units, what,
                        chunk.count);
    *first = units * (chunk.number - 1) / chunk.count;
    *end = units * chunk.number / chunk.count;
    return VXS_OK;
}

/* "2/5" */
static bool parse(const char *text, vxs_chunk *chunk)
{
    char first[16] = "";
    int64_t number = 0, count = 0;
    size_t length = strcspn(text, "/");
    if (length >= sizeof(first) || !text[length])
        return false;
    memcpy(first, text, length);
    if (!vxs_parse_whole(first, &number) || !vxs_parse_whole(text + length + 1, &count) ||
        number < 1 || number > count || count > VXS_MAX_CHUNKS)
        return false;
    *chunk = (vxs_chunk){ (size_t)number, (size_t)count };
    return true;
}

static bool is_set(const char *name)
{
    const char *text = getenv(name);
    return text && *text;
}

/* The variable's number; `usual`, unless that is NONE, when it is not set. */
#define NONE INT64_MIN
static vxs_status from_environment(const char *name, int64_t usual, int64_t *value, vxs_error *err)
{
    *value = usual;
    if (!is_set(name) && usual != NONE)
        return VXS_OK;
    if (!is_set(name))
        return vxs_fail(err, VXS_MISUSE,
                        "option '--chunk auto' reads the task from a Slurm job array, but %s is "
                        "not set; give --chunk I/N",
                        name);
    if (vxs_parse_whole(getenv(name), value))
        return VXS_OK;
    return vxs_fail(err, VXS_MISUSE, "environment variable %s expects a whole number, not '%s'",
                    name, getenv(name));
}

typedef struct {
    int64_t task, tasks, least, most, step;
} array;

static vxs_status read_array(array *a, vxs_error *err)
{
    vxs_status status = from_environment("SLURM_ARRAY_TASK_ID", NONE, &a->task, err);
    if (!status)
        status = from_environment("SLURM_ARRAY_TASK_COUNT", NONE, &a->tasks, err);
    if (!status)
        status = from_environment("SLURM_ARRAY_TASK_MIN", NONE, &a->least, err);
    if (!status)
        status = from_environment("SLURM_ARRAY_TASK_MAX", NONE, &a->most, err);
    if (!status)
        status = from_environment("SLURM_ARRAY_TASK_STEP", 1, &a->step, err);
    return status;
}

/* Only 1..N and 0..N-1 say how many chunks there are. An array of one task is what a redo of that
 * task looks like, which knows nothing of the others. */
static vxs_status from_array(vxs_chunk *chunk, vxs_error *err)
{
    array a;
    vxs_status status = read_array(&a, err);
    if (status)
        return status;
    bool whole = (a.least == 0 || a.least == 1) && a.tasks >= 2 && a.tasks <= VXS_MAX_CHUNKS &&
                 a.most == a.least + a.tasks - 1 && a.step == 1;
    if (!whole || a.task < a.least || a.task > a.most)
        return vxs_fail(err, VXS_MISUSE,
                        "option '--chunk auto' needs a job array 1-N or 0-(N-1), and this is task "
                        "%lld of %lld from %lld to %lld by %lld; to compute one chunk again, give "
                        "it, such as --chunk 2/10",
                        (long long)a.task, (long long)a.tasks, (long long)a.least,
                        (long long)a.most, (long long)a.step);
    *chunk = (vxs_chunk){ (size_t)(a.task - a.least + 1), (size_t)a.tasks };
    return VXS_OK;
}

vxs_status vxs_choose_chunk(const char *requested, vxs_chunk_choice *choice, vxs_error *err)
{
    *choice = (vxs_chunk_choice){ { 1, 1 }, NULL };
    if (!requested)
        return VXS_OK;
    if (strcmp(requested, "auto") == 0) {
        choice->source = "SLURM_ARRAY_TASK_ID";
        return from_array(&choice->chunk, err);
    }
    choice->source = "--chunk";
    return parse(requested, &choice->chunk)
               ? VXS_OK
               : vxs_fail(err, VXS_MISUSE,
                          "option '--chunk' takes auto, or I/N such as 2/5, I between 1 and N and "
                          "N at most %d, not '%s'",
                          VXS_MAX_CHUNKS, requested);
}

bool vxs_in_job_array(void)
{
    int64_t tasks = 0;
    return is_set("SLURM_ARRAY_TASK_ID") &&
           from_environment("SLURM_ARRAY_TASK_COUNT", 0, &tasks, NULL) == VXS_OK && tasks > 1;
}
