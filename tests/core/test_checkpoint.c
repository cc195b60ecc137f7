#include "tests/core/check.h"
#include "tests/core/faults.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char top[512], place[600], identity[VXS_HASH_TEXT], other[VXS_HASH_TEXT];

static void set_up(void)
{
    work_path(top, "checkpoint");
    mkdir(top, 0777);
    snprintf(place, sizeof(place), "%s/run", top);
    vxs_sha256("this", 4, "", 0, identity);
    vxs_sha256("that", 4, "", 0, other);
}

static void tear_down(void)
{
    char command[700];
    snprintf(command, sizeof(command), "rm -rf '%s'", top);
    cr_assert(system(command) == 0);
}

TestSuite(checkpoint, .init = set_up, .fini = tear_down);

static size_t entries(void)
{
    DIR *dir = opendir(top);
    size_t n = 0;
    for (struct dirent *e = readdir(dir); e; e = readdir(dir))
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(dir);
    return n;
}

/* A run with so many records behind those that are there; says how many those are. */
static vxs_status run(unsigned how, const char *of, int records, bool finished, long *there,
                      vxs_error *err)
{
    vxs_checkpoint *c = NULL;
    FILE *stream = NULL;
    vxs_status status = vxs_checkpoint_open(NULL, place, how, &c, err);
    if (!status)
        status = vxs_checkpoint_begin(c, of, &stream, err);
    if (!status) {
        long first = ftell(stream);
        fseek(stream, 0, SEEK_END);
        *there = (ftell(stream) - first) / 7;
        for (int k = 0; k < records; k++)
            fputs("record ", stream);
        cr_assert(vxs_checkpoint_flush(c));
    }
    (void)vxs_checkpoint_close(c, finished);
    return status;
}

Test(checkpoint, a_run_goes_on_or_begins_anew)
{
    vxs_error err = VXS_ERROR_INIT;
    long there = -1;
    WORKS(run(0, identity, 3, false, &there, &err), err);
    cr_assert(there == 0 && entries() == 1);
    REFUSES(run(0, identity, 1, false, &there, &err), err, VXS_CANNOT_WRITE,
            "pass --resume to go on from it, or --force to discard it");
    WORKS(run(VXS_RESUME, identity, 2, false, &there, &err), err);
    cr_assert(there == 3);
    REFUSES(run(VXS_RESUME, other, 1, false, &there, &err), err, VXS_BAD_DATA, "of another run");
    WORKS(run(VXS_RESUME, identity, 0, false, &there, &err), err);
    cr_assert(there == 5, "what was refused left it alone");
    WORKS(run(VXS_DISCARD, other, 1, false, &there, &err), err);
    cr_assert(there == 0);
    WORKS(run(VXS_RESUME, other, 1, true, &there, &err), err);
    cr_assert(there == 1 && entries() == 0, "a run that is finished removes it");
    WORKS(run(VXS_RESUME, identity, 0, false, &there, &err), err);
    cr_assert(there == 0 && entries() == 0, "nothing finished, nothing kept");
}

/* What begins as one does, but has no work in it, is nobody's loss. */
Test(checkpoint, one_without_records_is_taken_over)
{
    vxs_error err = VXS_ERROR_INIT;
    long there = -1;
    write_bytes(place, "voxsift checkpoint 2\n", 21);
    WORKS(run(0, identity, 0, false, &there, &err), err);
    cr_assert(there == 0 && entries() == 0);
}

/* Between that the old records go and that the new identity is there: the first byte that is
 * written ends the process. */
static void killed_while_beginning(unsigned how)
{
    int how_it_ended = 0;
    pid_t child = fork();
    if (child == 0) {
        vxs_error err = VXS_ERROR_INIT;
        long there;
        (void)signal(SIGXFSZ, SIG_DFL);
        (void)setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 0, 0 });
        (void)!run(how, other, 1, false, &there, &err);
        _exit(0);
    }
    cr_assert(child > 0 && waitpid(child, &how_it_ended, 0) == child);
    cr_assert(WIFSIGNALED(how_it_ended) && WTERMSIG(how_it_ended) == SIGXFSZ);
}

Test(checkpoint, a_kill_while_it_begins_leaves_one_that_any_run_takes)
{
    vxs_error err = VXS_ERROR_INIT;
    long there = -1;
    static const unsigned ways[] = { 0, VXS_RESUME, VXS_DISCARD };
    for (size_t k = 0; k < 3; k++) {
        write_bytes(place, "voxsift checkpoint 2\n", 21);
        killed_while_beginning(ways[k]);
        WORKS(run(ways[k], identity, 2, false, &there, &err), err);
        cr_assert(there == 0);
        killed_while_beginning(VXS_DISCARD);
        WORKS(run(ways[k], identity, 1, true, &there, &err), err);
        cr_assert(there == 0 && entries() == 0, "nothing of the run that was discarded");
    }
}

/* Its own words in the first line, and a name like ours, do not make a file ours. */
Test(checkpoint, notes_of_somebody_are_none)
{
    static const char *const notes[] = { "voxsift checkpoint of monday: keep\n",
                                         "voxsift checkpoint 2", "voxsift checkpoint 2 is broken\n",
                                         "voxsift checkpoint \n", "" };
    vxs_error err = VXS_ERROR_INIT;
    long there;
    for (size_t k = 0; k < sizeof(notes) / sizeof(notes[0]); k++)
        for (unsigned how = 0; how < 4; how++) {
            write_bytes(place, notes[k], strlen(notes[k]));
            REFUSES(run(how, identity, 1, true, &there, &err), err, VXS_CANNOT_WRITE,
                    "it exists and is no checkpoint of voxsift");
            cr_assert(entries() == 1);
        }
    write_bytes(place, "voxsift checkpoint 2\nof monday", 30);
    REFUSES(run(0, identity, 1, true, &there, &err), err, VXS_CANNOT_WRITE, "pass --resume");
    REFUSES(run(VXS_RESUME, identity, 1, true, &there, &err), err, VXS_BAD_DATA, "of another run");
    WORKS(run(VXS_DISCARD, identity, 1, true, &there, &err), err);
}

/* What is discarded goes in place, and so under each of its names. */
Test(checkpoint, one_with_two_names_is_not_discarded)
{
    char copy[700];
    vxs_error err = VXS_ERROR_INIT;
    long there;
    snprintf(copy, sizeof(copy), "%s/backup", top);
    WORKS(run(0, identity, 3, false, &there, &err), err);
    cr_assert(link(place, copy) == 0);
    REFUSES(run(VXS_DISCARD, other, 1, false, &there, &err), err, VXS_CANNOT_WRITE,
            "it has another name (a hard link)");
    WORKS(run(VXS_RESUME, identity, 0, true, &there, &err), err);
    cr_assert(there == 3 && entries() == 1);
}

Test(checkpoint, says_only_of_its_own_work_that_it_stands_there)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_checkpoint *c = NULL;
    FILE *stream;
    long there;
    WORKS(run(0, identity, 3, false, &there, &err), err);
    WORKS(vxs_checkpoint_open(NULL, place, VXS_RESUME, &c, &err), err);
    REFUSES(vxs_checkpoint_begin(c, other, &stream, &err), err, VXS_BAD_DATA, "of another run");
    cr_assert(!vxs_checkpoint_close(c, false));
    WORKS(vxs_checkpoint_open(NULL, place, VXS_RESUME, &c, &err), err);
    WORKS(vxs_checkpoint_begin(c, identity, &stream, &err), err);
    cr_assert(vxs_checkpoint_close(c, false));
}

Test(checkpoint, has_one_owner)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_checkpoint *first = NULL, *second = NULL;
    long there;
    for (int flags = 0; flags < 2; flags++) {
        refuse_rename_flags(flags == 1); /* as on network file systems */
        WORKS(vxs_checkpoint_open(NULL, place, 0, &first, &err), err);
        REFUSES(vxs_checkpoint_open(NULL, place, 0, &second, &err), err, VXS_CANNOT_WRITE,
                "is locked by another run");
        REFUSES(vxs_checkpoint_open(NULL, place, VXS_DISCARD, &second, &err), err, VXS_CANNOT_WRITE,
                "is locked by another run");
        cr_assert(entries() == 1, "nothing beside it");
        (void)vxs_checkpoint_close(first, true);
        WORKS(run(0, identity, 1, true, &there, &err), err);
    }
    refuse_rename_flags(false);
    cr_assert(entries() == 0);
}

static void take_the_name(void)
{
    write_bytes(place, "mine", 4);
}

Test(checkpoint, a_file_that_appears_meanwhile_stays)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_checkpoint *c = NULL;
    for (int flags = 0; flags < 2; flags++) {
        refuse_rename_flags(flags == 1);
        before_rename(take_the_name);
        REFUSES(vxs_checkpoint_open(NULL, place, VXS_DISCARD, &c, &err), err, VXS_CANNOT_WRITE,
                "no checkpoint of voxsift");
        cr_assert(entries() == 1);
        unlink(place);
    }
    refuse_rename_flags(false);
    WORKS(vxs_checkpoint_open(NULL, place, 0, &c, &err), err);
    unlink(place);
    take_the_name();
    cr_assert(!vxs_checkpoint_close(c, true));
    cr_assert(entries() == 1, "not the one that was open");
}

static int warnings;

static void count_warnings(void *user, vxs_log_level level, const char *message)
{
    (void)user;
    warnings += level == VXS_LOG_CAUTION && strstr(message, "cannot be locked");
}

Test(checkpoint, where_files_cannot_be_locked_that_is_said)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_context context = { .log = count_warnings };
    vxs_checkpoint *c = NULL;
    refuse_locks(true);
    WORKS(vxs_checkpoint_open(&context, place, 0, &c, &err), err);
    refuse_locks(false);
    cr_assert(warnings == 1);
    (void)vxs_checkpoint_close(c, true);
}

static vxs_status one_record(vxs_error *err)
{
    long there;
    return run(VXS_DISCARD, identity, 1, false, &there, err);
}

Test(checkpoint, memory_may_run_out_on_the_way)
{
    cr_assert(fail_each_request(one_record) >= 2);
    cr_assert(entries() == 1);
}
