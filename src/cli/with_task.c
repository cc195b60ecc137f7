/* with_task.c - the common start of commands that predict: opens a cohort and makes a task. */
#include "cli/cli.h"

#include <sys/stat.h>

vxs_status vxs_with_task(const vxs_call *call, const vxs_task_settings *settings,
                         vxs_task_work *work, vxs_error *err)
{
    vxs_cohort cohort;
    vxs_task task;
    vxs_status status = vxs_cohort_open_for(call->operands[0], settings, &cohort, err);
    if (status)
        return status;
    status = vxs_task_new(call->context, &cohort, settings, &task, err);
    if (!status) {
        if (call->method)
            status = vxs_task_share(call->context, &task, call->method, err);
        if (!status)
            status = work(call, &task, err);
        vxs_task_release(&task);
    }
    vxs_cohort_release(&cohort);
    return status;
}

const char *vxs_row_word(const vxs_task *task)
{
    return vxs_cohort_patches(task->cohort) ? "voxel" : "subject";
}

const char *vxs_subjects_text(const vxs_task *task, char buffer[VXS_SUBJECTS_TEXT])
{
    int length =
        snprintf(buffer, VXS_SUBJECTS_TEXT, "%zu %s%s", task->n,
                 vxs_cohort_patches(task->cohort) ? "voxel" : "subject", vxs_plural(task->n));
    if (task->people < task->n)
        snprintf(buffer + length, VXS_SUBJECTS_TEXT - (size_t)length, " (%zu %s)", task->people,
                 task->people == 1 ? "person" : "people");
    return buffer;
}

bool vxs_is_cohort(char **sources)
{
    struct stat about;
    char path[4096];
    if (!sources[0] || sources[1])
        return false;
    snprintf(path, sizeof(path), "%s/%s", sources[0], VXS_COHORT_FILE);
    return stat(path, &about) == 0;
}
