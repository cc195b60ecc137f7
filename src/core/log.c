/* log.c - log messages and progress, passed to the callbacks of the context. */
#include "voxsift/internal/core.h"

void vxs_log(const vxs_context *context, vxs_log_level level, const char *format, ...)
{
    if (!context || !context->log)
        return;
    vxs_error line = VXS_ERROR_INIT; /* one line, truncated and cleaned as error messages are */
    va_list args;
    va_start(args, format);
    vxs_failv(&line, VXS_FAILED, format, args);
    va_end(args);
    context->log(context->user, level, line.message);
}

void vxs_progress_start(vxs_progress *progress, const vxs_context *context, const char *task,
                        const char *unit, uint64_t total)
{
    *progress =
        (vxs_progress){ .context = context, .task = task, .unit = unit, .total = total, .done = 0 };
    if (context && context->progress)
        context->progress(context->user, task, unit, 0, total);
}

/* Threads count without waiting; one at a time reports. The thread with the last step waits for its
 * turn, so that completion is always reported, and last. */
static void report(vxs_progress *progress, uint64_t done)
{
    bool last = done == progress->total;
    while (__atomic_exchange_n(&progress->busy, 1, __ATOMIC_ACQUIRE))
        if (!last)
            return;
    const vxs_context *context = progress->context;
    context->progress(context->user, progress->task, progress->unit, done, progress->total);
    if (!last)
        __atomic_store_n(&progress->busy, 0, __ATOMIC_RELEASE);
}

vxs_status vxs_progress_step(vxs_progress *progress, uint64_t steps, vxs_error *err)
{
    const vxs_context *context = progress->context;
    if (!context)
        return VXS_OK;
    uint64_t done = __atomic_add_fetch(&progress->done, steps, __ATOMIC_RELAXED);
    if (context->progress)
        report(progress, done);
    if (context->interrupted && *context->interrupted)
        return vxs_fail(err, VXS_INTERRUPTED, "interrupted while %s", progress->task);
    return VXS_OK;
}

vxs_status vxs_check_interrupted(const vxs_context *context, vxs_error *err)
{
    if (context && context->interrupted && *context->interrupted)
        return vxs_fail(err, VXS_INTERRUPTED, "interrupted");
    return VXS_OK;
}
