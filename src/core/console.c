/* console.c - log and progress output for a terminal, or for the log file of a batch job. */
#include "voxsift/internal/core.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FIRST_WORD_AFTER 1.0 /* seconds; shorter tasks pass in silence */
#define TERMINAL_EVERY   0.2
#define LOG_EVERY        60.0

double vxs_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void vxs_console_init(vxs_console *console, FILE *stream, vxs_log_level level, const char *name)
{
    *console = (vxs_console){ .stream = stream,
                              .level = level,
                              .name = name,
                              .now = vxs_seconds,
                              .terminal = isatty(fileno(stream)) == 1 };
}

static void clear_line(vxs_console *console)
{
    if (console->line_open)
        fputs("\r\033[K", console->stream);
    console->line_open = false;
}

/* ---- Lines --------------------------------------------------------------------------------- */

#define PRINTED_OF_MANY 3

static void print_line(vxs_console *console, vxs_log_level level, const char *message)
{
    clear_line(console);
    if (console->name)
        fprintf(console->stream, "%s: ", console->name);
    fprintf(console->stream, "%s%s\n",
            level == VXS_LOG_WARNING || level == VXS_LOG_CAUTION ? "warning: " : "", message);
    fflush(console->stream);
}

/* The next character that is part of no name in quotes and of no number, or the zero. */
static const char *next_fixed(const char *at)
{
    while (*at && (*at == '\'' || (*at >= '0' && *at <= '9'))) {
        const char *end = *at == '\'' ? strchr(at + 1, '\'') : NULL;
        if (*at == '\'' && !end)
            return at;
        at = end ? end + 1 : at + strspn(at, "0123456789.");
    }
    return at;
}

static bool are_similar(const char *a, const char *b)
{
    a = next_fixed(a);
    b = next_fixed(b);
    while (*a && *a == *b) {
        a = next_fixed(a + 1);
        b = next_fixed(b + 1);
    }
    return *a == *b;
}

void vxs_console_flush(vxs_console *console)
{
    char more[64];
    size_t waiting = console->alike > VXS_SIMILAR_LINES ? 0 : console->alike;
    for (size_t k = PRINTED_OF_MANY; k < waiting; k++)
        print_line(console, console->alike_level, console->similar[k]);
    snprintf(more, sizeof(more), "and %zu more like these; --verbose prints all",
             console->alike - PRINTED_OF_MANY);
    if (console->alike > VXS_SIMILAR_LINES)
        print_line(console, console->alike_level, more);
    for (size_t k = 0; k < VXS_SIMILAR_LINES; k++) {
        free(console->similar[k]);
        console->similar[k] = NULL;
    }
    console->alike = 0;
}

void vxs_console_log(void *user, vxs_log_level level, const char *message)
{
    vxs_console *console = user;
    if (level > console->level)
        return;
    bool again = console->alike > 0 && console->alike_level == level &&
                 console->level < VXS_LOG_DEBUG && are_similar(console->similar[0], message);
    if (!again)
        vxs_console_flush(console);
    char *copy = console->alike < VXS_SIMILAR_LINES ? vxs_format(NULL, "%s", message) : NULL;
    bool waits = console->alike >= PRINTED_OF_MANY && (copy || console->alike >= VXS_SIMILAR_LINES);
    if (!waits)
        print_line(console, level, message);
    if (copy)
        console->similar[console->alike] = copy;
    console->alike_level = level;
    console->alike += copy || console->alike >= VXS_SIMILAR_LINES;
}

/* "45 s", "12 min 05 s", "3 h 20 min" */
static void duration_text(double seconds, char *buffer, size_t size)
{
    long long s = seconds < 9e15 ? (long long)(seconds + 0.5) : 0;
    if (s < 60)
        snprintf(buffer, size, "%lld s", s);
    else if (s < 3600)
        snprintf(buffer, size, "%lld min %02lld s", s / 60, s % 60);
    else
        snprintf(buffer, size, "%lld h %02lld min", s / 3600, s / 60 % 60);
}

static void progress_line(vxs_console *console, const char *task, const char *unit, uint64_t done,
                          uint64_t total)
{
    double elapsed = console->last - console->started;
    double rate = elapsed > 0 ? (double)done / elapsed : 0;
    char spent[32], left[32];
    duration_text(elapsed, spent, sizeof(spent));
    duration_text(rate > 0 ? (double)(total - done) / rate : 0, left, sizeof(left));
    fprintf(console->stream, "%s: %llu of %llu %s, %.3g/s", task, (unsigned long long)done,
            (unsigned long long)total, unit, rate);
    if (done >= total)
        fprintf(console->stream, ", took %s", spent);
    else if (rate > 0)
        fprintf(console->stream, ", %s left", left);
}

void vxs_console_progress(void *user, const char *task, const char *unit, uint64_t done,
                          uint64_t total)
{
    vxs_console *console = user;
    double now = console->now();
    if (done == 0) {
        console->started = console->last = now;
        console->printed = false;
    }
    bool over = done >= total;
    double wait =
        console->terminal ? (console->printed ? TERMINAL_EVERY : FIRST_WORD_AFTER) : LOG_EVERY;
    bool due = now - console->last >= wait || (over && console->printed);
    if (over && !console->terminal)
        due = now - console->started >= FIRST_WORD_AFTER;
    if (console->level < VXS_LOG_INFO || !due)
        return;
    console->last = now;
    console->printed = true;
    vxs_console_flush(console);
    clear_line(console);
    if (console->name && !console->terminal)
        fprintf(console->stream, "%s: ", console->name);
    progress_line(console, task, unit, done < total ? done : total, total);
    console->line_open = console->terminal && !over;
    if (!console->line_open)
        fputc('\n', console->stream);
    fflush(console->stream);
}
