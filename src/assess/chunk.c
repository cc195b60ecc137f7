/* chunk.c - which share of a run is computed here: as asked for, or as the job array says. */
#include "assess/chunk.h"

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

/* The variable's number, or the usual one when it is not set. */
static vxs_status from_environment(const char *name, int64_t usual, int64_t *value, vxs_error *err)
{
    const char *text = getenv(name);
    *value = usual;
    if (!text || !*text || vxs_parse_whole(text, value))
        return VXS_OK;
    return vxs_fail(err, VXS_MISUSE, "environment variable %s wants a whole number, not '%s'", name,
                    text);
}

static vxs_status from_array(vxs_chunk *chunk, vxs_error *err)
{
    int64_t task = 0, tasks = 0, least = 1;
    vxs_status status = from_environment("SLURM_ARRAY_TASK_ID", 0, &task, err);
    if (!status)
        status = from_environment("SLURM_ARRAY_TASK_COUNT", 0, &tasks, err);
    if (!status)
        status = from_environment("SLURM_ARRAY_TASK_MIN", 1, &least, err);
    if (status)
        return status;
    if (tasks < 1 || tasks > VXS_MAX_CHUNKS || task < least || task - least >= tasks)
        return vxs_fail(err, VXS_MISUSE,
                        "SLURM_ARRAY_TASK_ID is %lld, and no task of an array of %lld from %lld "
                        "on; give --chunk",
                        (long long)task, (long long)tasks, (long long)least);
    *chunk = (vxs_chunk){ (size_t)(task - least + 1), (size_t)tasks };
    return VXS_OK;
}

static bool is_set(const char *name)
{
    const char *text = getenv(name);
    return text && *text;
}

vxs_status vxs_choose_chunk(const char *wanted, vxs_chunk_choice *choice, vxs_error *err)
{
    *choice = (vxs_chunk_choice){ { 1, 1 }, NULL };
    if (wanted) {
        choice->source = "--chunk";
        return parse(wanted, &choice->chunk)
                   ? VXS_OK
                   : vxs_fail(err, VXS_MISUSE,
                              "option '--chunk' wants I/N such as 2/5, I between 1 and N and N at "
                              "most %d, not '%s'",
                              VXS_MAX_CHUNKS, wanted);
    }
    if (!is_set("SLURM_ARRAY_TASK_ID") || !is_set("SLURM_ARRAY_TASK_COUNT"))
        return VXS_OK;
    choice->source = "SLURM_ARRAY_TASK_ID";
    return from_array(&choice->chunk, err);
}
