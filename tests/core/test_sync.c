/* What survives a power loss: the order in which files, directories and names reach the disk. */
#include "tests/core/check.h"
#include "tests/core/faults.h"

#include <errno.h>
#include <sys/stat.h>

static char top[512], parent[600], place[700], steps[4096];

static void set_up(void)
{
    work_path(top, "sync");
    mkdir(top, 0777);
    snprintf(parent, sizeof(parent), "%s/parent", top);
    mkdir(parent, 0777);
    snprintf(place, sizeof(place), "%s/result", parent);
}

static void tear_down(void)
{
    char command[700];
    snprintf(command, sizeof(command), "rm -rf '%s'", top);
    cr_assert(system(command) == 0);
}

TestSuite(sync, .init = set_up, .fini = tear_down);

static vxs_status make(const vxs_context *context, bool replace, vxs_error *err)
{
    vxs_output *output = NULL;
    FILE *stream;
    vxs_status status = vxs_output_new(context, place, replace, &output, err);
    if (!status)
        status = vxs_output_open(output, "mark", &stream, err);
    if (!status) {
        fputs("twelve bytes", stream);
        status = vxs_output_close(output, stream, "mark", err);
    }
    if (!status)
        status = vxs_output_commit(output, err);
    vxs_output_free(output);
    return status;
}

static vxs_status make_page(const vxs_context *context, bool replace, vxs_error *err)
{
    vxs_page *page = NULL;
    FILE *stream;
    vxs_status status = vxs_page_new(context, place, "by us", replace, &page, &stream, err);
    if (!status) {
        fputs("made by us", stream);
        status = vxs_page_commit(page, err);
    }
    vxs_page_free(page);
    return status;
}

#define DIRECTORY_STEPS                                                                            \
    "mark of 12 bytes, .voxsift of 32 bytes, directory PRIVATE, rename result, directory parent, "

Test(sync, content_is_on_the_disk_before_the_name)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_context scratch = { .no_fsync = true };
    for (int replace = 0; replace < 2; replace++) {
        watch_steps(steps, sizeof(steps));
        WORKS(make(NULL, replace, &err), err);
        cr_assert_str_eq(steps, DIRECTORY_STEPS);
    }
    watch_steps(steps, sizeof(steps));
    WORKS(make(&scratch, true, &err), err);
    cr_assert_str_eq(steps, "rename result, ");
    watch_steps(NULL, 0);
}

Test(sync, a_page_as_well)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_context scratch = { .no_fsync = true };
    for (int replace = 0; replace < 2; replace++) {
        watch_steps(steps, sizeof(steps));
        WORKS(make_page(NULL, replace, &err), err);
        cr_assert_str_eq(steps, "PRIVATE of 10 bytes, rename result, directory parent, ");
    }
    watch_steps(steps, sizeof(steps));
    WORKS(make_page(&scratch, true, &err), err);
    cr_assert_str_eq(steps, "rename result, ");
    watch_steps(NULL, 0);
}

Test(sync, a_checkpoint_too)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_checkpoint *c = NULL;
    FILE *stream;
    char identity[VXS_HASH_TEXT];
    vxs_sha256("", 0, "", 0, identity);
    watch_steps(steps, sizeof(steps));
    WORKS(vxs_checkpoint_open(NULL, place, 0, &c, &err), err);
    cr_assert_str_eq(steps, "PRIVATE of 21 bytes, rename result, directory parent, ");
    watch_steps(steps, sizeof(steps));
    WORKS(vxs_checkpoint_begin(c, identity, &stream, &err), err);
    cr_assert_str_eq(steps, "result of 86 bytes, ");
    watch_steps(steps, sizeof(steps));
    for (int k = 0; k < 5; k++) {
        fputs("record", stream);
        cr_assert(vxs_checkpoint_flush(c));
    }
    cr_assert_str_eq(steps, "result of 92 bytes, ", "the first at once, others not for a while");
    cr_assert(vxs_checkpoint_close(c, false));
    cr_assert_str_eq(steps, "result of 92 bytes, result of 116 bytes, ");
    watch_steps(NULL, 0);
}

/* A disk that cannot keep what it was given is a disk that cannot be written to; a file system that
 * knows no fsync is not. */
Test(sync, a_failure_is_one)
{
    vxs_error err = VXS_ERROR_INIT;
    fail_sync(EIO);
    REFUSES(make(NULL, false, &err), err, VXS_CANNOT_WRITE, "Input/output error");
    REFUSES(make_page(NULL, false, &err), err, VXS_CANNOT_WRITE, "Input/output error");
    cr_assert(access(place, F_OK) != 0, "nothing under the final name");
    cr_assert(rmdir(parent) == 0 && mkdir(parent, 0777) == 0, "and nothing beside it");
    fail_sync(EINVAL);
    WORKS(make(NULL, false, &err), err);
    fail_sync(0);
}
