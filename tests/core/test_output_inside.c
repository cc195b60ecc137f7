/* test_output_inside.c - outputs with directories in them. */
#include "tests/core/check.h"
#include "tests/core/faults.h"

#include "voxsift/internal/files.h"
#include "voxsift/internal/machine.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[512], place[600];

static void set_up(void)
{
    work_path(top, "output_inside");
    mkdir(top, 0777);
    snprintf(place, sizeof(place), "%s/result", top);
}

static void tear_down(void)
{
    char command[700];
    snprintf(command, sizeof(command), "rm -rf '%s'", top);
    cr_assert(system(command) == 0);
}

TestSuite(output_inside, .init = set_up, .fini = tear_down);

static const char *at(const char *name)
{
    static char path[4][700];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof(path[next]), "%s/%s", place, name);
    return path[next];
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

static bool is_empty(const char *path)
{
    char command[700];
    snprintf(command, sizeof(command), "test -z \"$(ls -A '%s')\"", path);
    return system(command) == 0;
}

static vxs_status write_mark(vxs_output *output, const char *text, vxs_error *err)
{
    FILE *stream;
    vxs_status status = vxs_output_open(output, "mark", &stream, err);
    if (status)
        return status;
    fputs(text, stream);
    return vxs_output_close(output, stream, "mark", err);
}

static vxs_status make_inside(vxs_output *outer, const char *name, bool commit, vxs_error *err)
{
    vxs_output *inner = NULL;
    vxs_status status = vxs_output_new_inside(outer, name, &inner, err);
    if (!status)
        status = write_mark(inner, name, err);
    if (!status && commit)
        status = vxs_output_commit(inner, err);
    vxs_output_free(inner);
    return status;
}

/* Two directories and a file; which commits happen. */
static vxs_status make(bool replace, bool second, bool commit, vxs_error *err)
{
    vxs_output *outer = NULL;
    vxs_status status = vxs_output_new(NULL, place, replace, &outer, err);
    if (!status)
        status = make_inside(outer, "one", true, err);
    if (!status)
        status = make_inside(outer, "two", second, err);
    if (!status)
        status = write_mark(outer, "top", err);
    if (!status && commit)
        status = vxs_output_commit(outer, err);
    vxs_output_free(outer);
    return status;
}

Test(output_inside, appears_with_the_outer_one_and_is_replaced_with_it)
{
    vxs_error err = VXS_ERROR_INIT;
    WORKS(make(false, true, false, &err), err);
    cr_assert(is_empty(top), "nothing is left of what was given up");
    WORKS(make(false, false, true, &err), err);
    cr_assert(is_there(at("one/mark")) && is_there(at("one/.voxsift")) && is_there(at("mark")));
    cr_assert(!is_there(at("two")), "a directory that was given up is no part of it");
    REFUSES(make(false, true, true, &err), err, VXS_CANNOT_WRITE, "pass --force");
    WORKS(vxs_output_check(place, true, &err), err);
    WORKS(make(true, true, true, &err), err);
    cr_assert(is_there(at("two/mark")));
    WORKS(make(true, true, false, &err), err);
    cr_assert(is_there(at("two/mark")), "the old one stays until the new one is whole");
    /* by an output without directories */
    vxs_output *flat = NULL;
    WORKS(vxs_output_new(NULL, place, true, &flat, &err), err);
    WORKS(vxs_output_commit(flat, &err), err);
    vxs_output_free(flat);
    cr_assert(!is_there(at("one")) && unlink(at(".voxsift")) == 0 && rmdir(place) == 0);
    cr_assert(is_empty(top));
}

/* --force takes nothing that people put there, at either level, and then nothing at all. */
Test(output_inside, force_keeps_what_people_put_there)
{
    vxs_error err = VXS_ERROR_INIT;
    WORKS(make(false, true, true, &err), err);
    write_bytes(at("one/thesis"), "x", 1);
    REFUSES(make(true, true, true, &err), err, VXS_CANNOT_WRITE, "result/one': it holds 'thesis'");
    cr_assert(unlink(at("one/thesis")) == 0 && mkdir(at("one/mine"), 0777) == 0);
    REFUSES(make(true, true, true, &err), err, VXS_CANNOT_WRITE, "result/one': it holds 'mine'");
    cr_assert(rmdir(at("one/mine")) == 0 && mkdir(at("mine"), 0777) == 0);
    REFUSES(make(true, true, true, &err), err, VXS_CANNOT_WRITE, "result': it holds 'mine'");
    cr_assert(rmdir(at("mine")) == 0);
    /* a directory of ours within one of ours: one level */
    cr_assert(rename(at("two"), at("one/two")) == 0);
    write_bytes(at("one/.voxsift"), "files of a voxsift output:\nmark\ntwo/\n", 37);
    REFUSES(make(true, true, true, &err), err, VXS_CANNOT_WRITE, "result/one': it holds 'two'");
    cr_assert(is_there(at("one/two/mark")));
    write_bytes(at("one/.voxsift"), "files of a voxsift output:\n../mark\n", 35);
    REFUSES(make(true, true, true, &err), err, VXS_CANNOT_WRITE, "is no name of a file in it");
    cr_assert(unlink(at("one/.voxsift")) == 0);
    REFUSES(make(true, true, true, &err), err, VXS_CANNOT_WRITE, "only what voxsift made");
    cr_assert(is_there(at("one/two/mark")) && is_there(at("mark")) && is_there(at("one/mark")));
}

Test(output_inside, what_is_no_directory_any_more_is_left_alone)
{
    vxs_error err = VXS_ERROR_INIT;
    WORKS(make(false, true, true, &err), err);
    char aside[700];
    snprintf(aside, sizeof(aside), "%s/aside", top);
    cr_assert(rename(at("two"), aside) == 0 && symlink(aside, at("two")) == 0);
    REFUSES(make(true, true, true, &err), err, VXS_CANNOT_WRITE,
            "it holds 'two', which is no directory");
    cr_assert(unlink(at("two")) == 0);
    write_bytes(at("two"), "x", 1);
    REFUSES(make(true, true, true, &err), err, VXS_CANNOT_WRITE,
            "it holds 'two', which is no directory");
    cr_assert(unlink(at("two")) == 0);
    WORKS(make(true, true, true, &err), err); /* one that is gone is no reason to refuse */
    cr_assert(is_there(at("two/mark")));
    snprintf(aside, sizeof(aside), "%s/aside/mark", top);
    cr_assert(is_there(aside));
}

Test(output_inside, an_input_in_it_is_never_replaced)
{
    vxs_error err = VXS_ERROR_INIT;
    WORKS(make(false, true, true, &err), err);
    vxs_inputs_begin();
    vxs_inputs_add(at("one/mark"));
    REFUSES(vxs_output_check(place, true, &err), err, VXS_CANNOT_WRITE,
            "result/one': it holds 'mark', which is an input of this run");
    vxs_inputs_end();
    vxs_inputs_begin();
    vxs_inputs_add(at("one"));
    REFUSES(vxs_output_check(place, true, &err), err, VXS_CANNOT_WRITE,
            "result': it holds 'one', which is an input of this run");
    vxs_inputs_end();
}

Test(output_inside, a_page_becomes_one_of_its_files)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_page *page;
    FILE *stream;
    WORKS(make(false, true, true, &err), err);
    for (int k = 0; k < 2; k++) {
        WORKS(vxs_page_new(NULL, at(k == 0 ? "page.html" : "one/page.html"), "voxsift", false,
                           &page, &stream, &err),
              err);
        fputs("voxsift", stream);
        WORKS(vxs_page_commit(page, &err), err);
        vxs_page_free(page);
    }
    WORKS(make(true, true, true, &err), err);
    cr_assert(!is_there(at("page.html")) && !is_there(at("one/page.html")));
}

Test(output_inside, names_are_of_directories_in_it)
{
    static const char *const names[] = { "../x", "/tmp/x", "a/b", "a/", "", ".", "..", ".voxsift" };
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
        vxs_error err = VXS_ERROR_INIT;
        vxs_output *outer = NULL, *inner = NULL;
        FILE *stream = NULL;
        WORKS(vxs_output_new(NULL, place, false, &outer, &err), err);
        REFUSES(vxs_output_new_inside(outer, names[k], &inner, &err), err, VXS_CANNOT_WRITE,
                "is no name of a directory in it");
        REFUSES(vxs_output_open(outer, names[k], &stream, &err), err, VXS_CANNOT_WRITE,
                "is no name of a file in it");
        vxs_output_free(outer);
    }
    cr_assert(is_empty(top));
}

/* What a signal leaves. */
Test(output_inside, an_end_by_a_signal_leaves_nothing)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_output *outer = NULL, *inner = NULL;
    WORKS(vxs_output_new(NULL, place, false, &outer, &err), err);
    WORKS(make_inside(outer, "one", true, &err), err);
    WORKS(vxs_output_new_inside(outer, "two", &inner, &err), err);
    WORKS(write_mark(inner, "x", &err), err);
    vxs_temporaries_remove();
    cr_assert(is_empty(top));
    vxs_output_free(inner);
    vxs_output_free(outer);
}

static vxs_status make_all(vxs_error *err)
{
    return make(true, true, true, err);
}

Test(output_inside, memory_may_run_out_on_the_way)
{
    cr_assert(fail_each_request(make_all) >= 6);
    cr_assert(is_there(at("two/mark")));
    vxs_error err = VXS_ERROR_INIT;
    WORKS(make_all(&err), err); /* what the failed ones left, which is nothing, does not hinder */
    char command[700];
    snprintf(command, sizeof(command), "test \"$(ls -A '%s')\" = result", top);
    cr_assert(system(command) == 0);
}
