#include "tests/core/check.h"
#include "tests/core/faults.h"

#include "voxsift/internal/machine.h"

#include <dirent.h>
#include <sys/stat.h>

static char top[512], place[600];

static void set_up(void)
{
    work_path(top, "output");
    mkdir(top, 0777);
    snprintf(place, sizeof(place), "%s/result", top);
}

static void tear_down(void)
{
    char command[700];
    snprintf(command, sizeof(command), "rm -rf '%s'", top);
    cr_assert(system(command) == 0);
}

TestSuite(output, .init = set_up, .fini = tear_down);

/* Names in the directory, hidden ones included. */
static size_t entries(const char *path)
{
    DIR *dir = opendir(path);
    size_t n = 0;
    cr_assert(dir, "%s", path);
    for (struct dirent *e = readdir(dir); e; e = readdir(dir))
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(dir);
    return n;
}

static vxs_status make(const char *path, bool replace, const char *text, bool commit,
                       vxs_error *err)
{
    vxs_output *output = NULL;
    vxs_status status = vxs_output_new(NULL, path, replace, &output, err);
    FILE *stream;
    if (!status)
        status = vxs_output_open(output, "mark", &stream, err);
    if (!status) {
        fputs(text, stream);
        status = vxs_output_close(output, stream, "mark", err);
    }
    if (!status && commit)
        status = vxs_output_commit(output, err);
    vxs_output_free(output);
    return status;
}

static void assert_holds(const char *text)
{
    char path[700], *bytes = NULL;
    size_t length = 0;
    vxs_error err = VXS_ERROR_INIT;
    snprintf(path, sizeof(path), "%s/mark", place);
    WORKS(vxs_file_read(path, &bytes, &length, &err), err);
    cr_assert_str_eq(bytes, text);
    free(bytes);
}

Test(output, appears_when_it_is_whole)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_output *output = NULL;
    WORKS(vxs_output_new(NULL, place, false, &output, &err), err);
    FILE *stream;
    WORKS(vxs_output_open(output, "mark", &stream, &err), err);
    cr_assert(access(place, F_OK) != 0, "nothing under the final name yet");
    fputs("x", stream);
    WORKS(vxs_output_close(output, stream, "mark", &err), err);
    WORKS(vxs_output_commit(output, &err), err);
    vxs_output_free(output);
    assert_holds("x");
    cr_assert(entries(top) == 1);
}

Test(output, leaves_nothing_when_given_up)
{
    vxs_error err = VXS_ERROR_INIT;
    WORKS(make(place, false, "x", false, &err), err);
    cr_assert(entries(top) == 0);
    vxs_output_free(NULL);
}

Test(output, an_existing_one_is_refused_or_replaced_whole)
{
    vxs_error err = VXS_ERROR_INIT;
    WORKS(make(place, false, "old", true, &err), err);
    REFUSES(make(place, false, "new", true, &err), err, VXS_CANNOT_WRITE, "pass --force");
    assert_holds("old");
    WORKS(make(place, true, "half", false, &err), err);
    assert_holds("old");
    WORKS(make(place, true, "new", true, &err), err);
    assert_holds("new");
    cr_assert(entries(top) == 1, "the old one is gone");
}

Test(output, force_never_takes_what_is_not_ours)
{
    vxs_error err = VXS_ERROR_INIT;
    char precious[700];
    mkdir(place, 0777);
    snprintf(precious, sizeof(precious), "%s/thesis.txt", place);
    write_bytes(precious, "x", 1);
    REFUSES(make(place, true, "new", true, &err), err, VXS_CANNOT_WRITE,
            "replaces only what voxsift made");
    REFUSES(make(precious, true, "new", true, &err), err, VXS_CANNOT_WRITE, "not a directory");
    cr_assert(access(precious, F_OK) == 0);
}

/* A file that looks like ours, a file of the user's inside one of ours, one swapped in meanwhile.
 */
Test(output, force_keeps_what_people_put_there)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_output *output = NULL;
    char thesis[700], aside[700];
    WORKS(make(place, false, "old", true, &err), err);
    snprintf(thesis, sizeof(thesis), "%s/thesis", place);
    write_bytes(thesis, "x", 1);
    REFUSES(make(place, true, "new", true, &err), err, VXS_CANNOT_WRITE, "it holds 'thesis'");
    unlink(thesis);
    WORKS(vxs_output_new(NULL, place, true, &output, &err), err);
    snprintf(aside, sizeof(aside), "%s/aside", top);
    cr_assert(rename(place, aside) == 0 && mkdir(place, 0777) == 0);
    write_bytes(thesis, "x", 1);
    REFUSES(vxs_output_commit(output, &err), err, VXS_CANNOT_WRITE, "something else was put there");
    vxs_output_free(output);
    cr_assert(access(thesis, F_OK) == 0 && entries(top) == 2);
    unlink(thesis);
    rmdir(place);
    WORKS(make(place, true, "new", true, &err), err);
    assert_holds("new");
    mkdir(place, 0777);
    snprintf(aside, sizeof(aside), "%s/.voxsift", place);
    write_bytes(aside, "mine", 4);
    REFUSES(make(place, true, "x", true, &err), err, VXS_CANNOT_WRITE, "only what voxsift made");
}

/* File systems without the flags of renameat2 (NFS): the wrapped call refuses them. */
Test(output, works_where_names_cannot_be_exchanged)
{
    vxs_error err = VXS_ERROR_INIT;
    refuse_rename_flags(true);
    WORKS(make(place, false, "old", true, &err), err);
    WORKS(make(place, true, "new", true, &err), err);
    assert_holds("new");
    cr_assert(entries(top) == 1, "the old one is gone");
    vxs_output *output = NULL;
    WORKS(vxs_output_new(NULL, place, true, &output, &err), err);
    WORKS(make(place, true, "theirs", true, &err), err);
    REFUSES(vxs_output_commit(output, &err), err, VXS_CANNOT_WRITE, "cannot write");
    vxs_output_free(output);
    assert_holds("theirs");
    refuse_rename_flags(false);
}

Test(output, what_appeared_meanwhile_is_not_overwritten)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_output *output = NULL;
    WORKS(vxs_output_new(NULL, place, false, &output, &err), err);
    WORKS(make(place, false, "theirs", true, &err), err);
    REFUSES(vxs_output_commit(output, &err), err, VXS_CANNOT_WRITE, "something else was put there");
    vxs_output_free(output);
    assert_holds("theirs");
    cr_assert(entries(top) == 1);
}

Test(output, a_name_may_be_anything)
{
    static const char *const names[] = { "with blank", "\xc3\xbcml\xc3\xa4ut", "-dash", "new\nline",
                                         "slashes///" };
    vxs_error err = VXS_ERROR_INIT;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(place, sizeof(place), "%s/%s", top, names[i]);
        WORKS(make(place, false, "x", true, &err), err);
        assert_holds("x");
    }
    cr_assert(entries(top) == 5);
}

Test(output, the_folder_must_be_there)
{
    vxs_error err = VXS_ERROR_INIT;
    REFUSES(make("/nowhere/deep/x", false, "x", true, &err), err, VXS_CANNOT_WRITE,
            "cannot write '/nowhere/deep/x': No such file");
    REFUSES(make("/proc/x", false, "x", true, &err), err, VXS_CANNOT_WRITE, "'/proc/x'");
    REFUSES(make(".", false, "x", true, &err), err, VXS_CANNOT_WRITE, "exists");
}

static vxs_status make_one(vxs_error *err)
{
    return make(place, true, "x", true, err);
}

Test(output, memory_may_run_out_on_the_way)
{
    cr_assert(fail_each_request(make_one) >= 3);
    cr_assert(entries(top) == 1, "only the one that succeeded");
}

/* ---- What appears in the directory while it is being replaced -------------------------------- */

static void put_thesis(void)
{
    char thesis[700];
    snprintf(thesis, sizeof(thesis), "%s/thesis", place);
    write_bytes(thesis, "x", 1);
}

/* Behind the last look and before the exchange: both are put back where they were. */
Test(output, what_comes_in_at_the_last_moment_brings_the_old_one_back)
{
    vxs_error err = VXS_ERROR_INIT;
    WORKS(make(place, false, "old", true, &err), err);
    before_rename(put_thesis);
    REFUSES(make(place, true, "new", true, &err), err, VXS_CANNOT_WRITE, "it holds 'thesis'");
    assert_holds("old");
    cr_assert(entries(top) == 1 && entries(place) == 3);
}

static void swap_for_link(void)
{
    char mark[700], list[700];
    snprintf(mark, sizeof(mark), "%s/mark", place);
    snprintf(list, sizeof(list), "%s/victim", top);
    cr_assert(unlink(mark) == 0 && symlink(list, mark) == 0);
}

/* A name on the list that becomes something else is not removed, and what it points to stays. */
Test(output, a_listed_name_may_become_a_link_meanwhile)
{
    vxs_error err = VXS_ERROR_INIT;
    char victim[700];
    snprintf(victim, sizeof(victim), "%s/victim", top);
    write_bytes(victim, "x", 1);
    WORKS(make(place, false, "old", true, &err), err);
    before_rename(swap_for_link);
    REFUSES(make(place, true, "new", true, &err), err, VXS_CANNOT_WRITE,
            "it holds 'mark', which is no regular file");
    cr_assert(access(victim, F_OK) == 0 && entries(place) == 2);
}

Test(output, names_are_of_files_in_it)
{
    static const char *const names[] = {
        "../x", "/tmp/x", "a/b", "", ".", "..", ".voxsift", "a\nb"
    };
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
        vxs_error err = VXS_ERROR_INIT;
        vxs_output *output = NULL;
        FILE *stream = NULL;
        WORKS(vxs_output_new(NULL, place, false, &output, &err), err);
        REFUSES(vxs_output_open(output, names[k], &stream, &err), err, VXS_CANNOT_WRITE,
                "is no name of a file in it");
        vxs_output_free(output);
    }
    cr_assert(entries(top) == 0);
}

static bool is_replaced;

/* As soon as the new one is in place. */
static void end_when_replaced(void)
{
    char path[700], *bytes = NULL;
    size_t length = 0;
    snprintf(path, sizeof(path), "%s/mark", place);
    if (is_replaced || vxs_file_read(path, &bytes, &length, NULL) || strcmp(bytes, "new") != 0) {
        free(bytes);
        return;
    }
    free(bytes);
    is_replaced = true;
    vxs_temporaries_remove();
    cr_assert(entries(top) == 1, "what was replaced goes as well, while the disk is waited for");
}

Test(output, an_end_by_a_signal_leaves_nothing_of_the_old_one)
{
    vxs_error err = VXS_ERROR_INIT;
    for (int flags = 0; flags < 2; flags++) {
        is_replaced = false;
        WORKS(make(place, true, "old", true, &err), err);
        refuse_rename_flags(flags == 1);
        before_sync(end_when_replaced);
        WORKS(make(place, true, "new", true, &err), err);
        before_sync(NULL);
        refuse_rename_flags(false);
        cr_assert(is_replaced);
        assert_holds("new");
        cr_assert(entries(top) == 1);
    }
}

/* What would stop an output at the end of long work is found before it. */
Test(output, a_look_tries_to_make_one)
{
    vxs_error err = VXS_ERROR_INIT;
    char path[900];
    WORKS(vxs_output_check(place, false, &err), err);
    cr_assert(entries(top) == 0, "and leaves nothing");
    snprintf(path, sizeof(path), "%s/%0245d", top, 0); /* a private name is longer */
    REFUSES(vxs_output_check(path, false, &err), err, VXS_CANNOT_WRITE, "File name too long");
    REFUSES(vxs_output_check("/proc/run", false, &err), err, VXS_CANNOT_WRITE, "/proc/run");
    WORKS(make(place, false, "old", true, &err), err);
    WORKS(vxs_output_check(place, true, &err), err);
    assert_holds("old");
    cr_assert(entries(top) == 1);
}

/* ---- Inputs ---------------------------------------------------------------------------------- */

Test(output, an_input_is_never_replaced)
{
    vxs_error err = VXS_ERROR_INIT;
    char path[700], *bytes = NULL;
    size_t length = 0;
    vxs_output *output = NULL;
    WORKS(make(place, false, "old", true, &err), err);
    snprintf(path, sizeof(path), "%s/mark", place);
    vxs_inputs_begin();
    WORKS(vxs_output_check(place, true, &err), err);
    WORKS(vxs_output_new(NULL, place, true, &output, &err), err);
    WORKS(vxs_file_read(path, &bytes, &length, &err), err); /* after the first look */
    REFUSES(vxs_output_commit(output, &err), err, VXS_CANNOT_WRITE,
            "it holds 'mark', which is an input of this run");
    REFUSES(vxs_output_check(place, true, &err), err, VXS_CANNOT_WRITE, "an input of this run");
    vxs_output_free(output);
    free(bytes);
    vxs_inputs_end();
    WORKS(vxs_output_check(place, true, &err), err);
    vxs_inputs_begin();
    vxs_inputs_add(place);
    REFUSES(make(place, true, "new", true, &err), err, VXS_CANNOT_WRITE, "it is an input");
    vxs_inputs_end();
    assert_holds("old");
    cr_assert(entries(top) == 1);
}

static vxs_status replace_what_was_not_noted(vxs_error *err)
{
    vxs_inputs_begin();
    for (int k = 0; k < 200; k++)
        vxs_inputs_add("/");
    vxs_status status = vxs_output_check(place, true, err);
    vxs_inputs_end();
    return status == VXS_CANNOT_WRITE ? vxs_fail(NULL, VXS_FAILED, " ") : status;
}

/* An input for which there is no memory may be any file: then nothing is replaced. */
Test(output, inputs_that_cannot_be_noted_protect_all)
{
    vxs_error err = VXS_ERROR_INIT;
    WORKS(make(place, false, "old", true, &err), err);
    for (long k = 0; k < 3; k++)
        cr_assert(fail_request(k, replace_what_was_not_noted) == VXS_FAILED, "request %ld", k);
    WORKS(replace_what_was_not_noted(&err), err);
}
