#include "tests/core/check.h"

typedef struct {
    char lines[4000];
    size_t calls;
    uint64_t last, total, reports;
} listener;

static void listen(void *user, vxs_log_level level, const char *message)
{
    listener *l = user;
    snprintf(l->lines + strlen(l->lines), sizeof(l->lines) - strlen(l->lines), "%d:%s;", (int)level,
             message);
    l->calls++;
}

static void watch(void *user, const char *task, const char *unit, uint64_t done, uint64_t total)
{
    listener *l = user;
    (void)task;
    (void)unit;
    l->last = done;
    l->total = total;
    l->reports++;
}

Test(log, reaches_whoever_listens)
{
    listener l = { .calls = 0 };
    const vxs_context context = { .log = listen, .user = &l }, silent = { .nthreads = 0 };
    vxs_log(&context, VXS_LOG_WARNING, "%s is %d", "x", 3);
    vxs_log(&context, VXS_LOG_DEBUG, "two\nlines");
    vxs_log(&silent, VXS_LOG_ERROR, "nobody");
    vxs_log(NULL, VXS_LOG_ERROR, "nobody");
    cr_assert_str_eq(l.lines, "2:x is 3;4:two<U+000A>lines;");
}

Test(progress, begins_at_zero_and_ends_at_the_total)
{
    listener l = { .calls = 0 };
    const vxs_context context = { .progress = watch, .user = &l };
    vxs_error err = VXS_ERROR_INIT;
    vxs_progress progress;
    vxs_progress_start(&progress, &context, "t", "u", 10);
    cr_assert(l.reports == 1 && l.last == 0);
    for (int i = 0; i < 5; i++)
        WORKS(vxs_progress_step(&progress, 2, &err), err);
    cr_assert(l.reports == 6 && l.last == 10 && l.total == 10);
}

Test(progress, stops_when_told)
{
    volatile int stop = 0;
    vxs_error err = VXS_ERROR_INIT;
    const vxs_context context = { .interrupted = &stop };
    vxs_progress progress;
    vxs_progress_start(&progress, &context, "reading", "files", 3);
    WORKS(vxs_progress_step(&progress, 1, &err), err);
    stop = 1;
    REFUSES(vxs_progress_step(&progress, 1, &err), err, VXS_INTERRUPTED,
            "interrupted while reading");
}

/* ---- The listener for people ----------------------------------------------------------------- */

static double clock_now;
static double fake_clock(void)
{
    return clock_now;
}

typedef struct {
    bool terminal;
    vxs_log_level level;
    double step; /* seconds a call */
    int calls;
} scene;

static void play(FILE *stream, void *data)
{
    const scene *s = data;
    vxs_console talk;
    vxs_console_init(&talk, stderr, s->level, "voxsift test");
    talk.stream = stream;
    talk.terminal = s->terminal;
    talk.now = fake_clock;
    clock_now = 1000;
    for (int i = 0; i <= s->calls; i++) {
        vxs_console_progress(&talk, "reading", "images", (uint64_t)i, (uint64_t)s->calls);
        clock_now += s->step;
    }
    vxs_console_log(&talk, VXS_LOG_WARNING, "look here");
    vxs_console_log(&talk, VXS_LOG_DEBUG, "detail");
    vxs_console_flush(&talk);
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *c = strstr(text, part); c; c = strstr(c + 1, part))
        n++;
    return n;
}

Test(talk, short_tasks_pass_in_silence)
{
    for (int terminal = 0; terminal < 2; terminal++) {
        scene s = { terminal, VXS_LOG_INFO, 0.09, 10 };
        char *text = printed(play, &s);
        cr_assert_str_eq(text, "voxsift test: warning: look here\n");
        free(text);
    }
}

Test(talk, a_terminal_has_one_line_that_is_rewritten)
{
    scene s = { true, VXS_LOG_INFO, 0.1, 100 };
    char *text = printed(play, &s);
    size_t drawn = count(text, "reading:");
    cr_assert(drawn > 30 && drawn < 60, "%zu lines for 10 s", drawn);
    cr_assert(count(text, "\r\033[K") == drawn - 1, "each but the first wipes the one before");
    cr_assert(strstr(text, "reading: 10 of 100 images, 10/s, 9 s left"), "%s", text);
    cr_assert(strstr(text, "100 of 100 images, 10/s, took 10 s\n"));
    free(text);
}

Test(talk, a_log_has_a_line_a_minute_and_the_last_one)
{
    scene s = { false, VXS_LOG_INFO, 1, 600 };
    char *text = printed(play, &s);
    cr_assert(count(text, "reading:") == 10, "%s", text);
    cr_assert(!strchr(text, '\r') && !strchr(text, '\033'));
    cr_assert(strstr(text, "voxsift test: reading: 600 of 600 images, 1/s, took 10 min 00 s\n"));
    free(text);
}

Test(talk, quiet_means_quiet)
{
    scene s = { true, VXS_LOG_ERROR, 10, 10 };
    char *text = printed(play, &s);
    cr_assert_str_eq(text, "");
    free(text);
}

Test(talk, verbose_says_more)
{
    scene s = { false, VXS_LOG_DEBUG, 0, 1 };
    char *text = printed(play, &s);
    cr_assert(strstr(text, "voxsift test: detail\n"));
    free(text);
}
