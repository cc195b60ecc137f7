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

void vxs_console_init(vxs_console *talk, FILE *stream, vxs_log_level level, const char *name)
{
    *talk = (vxs_console){ .stream = stream,
                           .level = level,
                           .name = name,
                           .now = vxs_seconds,
                           .terminal = isatty(fileno(stream)) == 1 };
}

static void clear_line(vxs_console *talk)
{
    if (talk->line_open)
        fputs("\r\033[K", talk->stream);
    talk->line_open = false;
}

/* ---- Lines --------------------------------------------------------------------------------- */

#define PRINTED_OF_MANY 3

static void print_line(vxs_console *talk, vxs_log_level level, const char *message)
{
    clear_line(talk);
    if (talk->name)
        fprintf(talk->stream, "%s: ", talk->name);
    fprintf(talk->stream, "%s%s\n",
            level == VXS_LOG_WARNING || level == VXS_LOG_CAUTION ? "warning: " : "", message);
    fflush(talk->stream);
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

void vxs_console_flush(vxs_console *talk)
{
    char more[64];
    size_t waiting = talk->alike > VXS_SIMILAR_LINES ? 0 : talk->alike;
    for (size_t k = PRINTED_OF_MANY; k < waiting; k++)
        print_line(talk, talk->alike_level, talk->similar[k]);
    snprintf(more, sizeof(more), "and %zu more like these; --verbose prints all",
             talk->alike - PRINTED_OF_MANY);
    if (talk->alike > VXS_SIMILAR_LINES)
        print_line(talk, talk->alike_level, more);
    for (size_t k = 0; k < VXS_SIMILAR_LINES; k++) {
        free(talk->similar[k]);
        talk->similar[k] = NULL;
    }
    talk->alike = 0;
}

void vxs_console_log(void *user, vxs_log_level level, const char *message)
{
    vxs_console *talk = user;
    if (level > talk->level)
        return;
    bool again = talk->alike > 0 && talk->alike_level == level && talk->level < VXS_LOG_DEBUG &&
                 are_similar(talk->similar[0], message);
    if (!again)
        vxs_console_flush(talk);
    char *copy = talk->alike < VXS_SIMILAR_LINES ? strdup(message) : NULL;
    bool waits = talk->alike >= PRINTED_OF_MANY && (copy || talk->alike >= VXS_SIMILAR_LINES);
    if (!waits)
        print_line(talk, level, message);
    if (copy)
        talk->similar[talk->alike] = copy;
    talk->alike_level = level;
    talk->alike += copy || talk->alike >= VXS_SIMILAR_LINES;
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

static void progress_line(vxs_console *talk, const char *task, const char *unit, uint64_t done,
                          uint64_t total)
{
    double elapsed = talk->last - talk->started;
    double rate = elapsed > 0 ? (double)done / elapsed : 0;
    char spent[32], left[32];
    duration_text(elapsed, spent, sizeof(spent));
    duration_text(rate > 0 ? (double)(total - done) / rate : 0, left, sizeof(left));
    fprintf(talk->stream, "%s: %llu of %llu %s, %.3g/s", task, (unsigned long long)done,
            (unsigned long long)total, unit, rate);
    if (done >= total)
        fprintf(talk->stream, ", took %s", spent);
    else if (rate > 0)
        fprintf(talk->stream, ", %s left", left);
}

void vxs_console_progress(void *user, const char *task, const char *unit, uint64_t done,
                          uint64_t total)
{
    vxs_console *talk = user;
    double now = talk->now();
    if (done == 0) {
        talk->started = talk->last = now;
        talk->printed = false;
    }
    bool over = done >= total;
    double wait = talk->terminal ? (talk->printed ? TERMINAL_EVERY : FIRST_WORD_AFTER) : LOG_EVERY;
    bool due = now - talk->last >= wait || (over && talk->printed);
    if (over && !talk->terminal)
        due = now - talk->started >= FIRST_WORD_AFTER;
    if (talk->level < VXS_LOG_INFO || !due)
        return;
    talk->last = now;
    talk->printed = true;
    vxs_console_flush(talk);
    clear_line(talk);
    if (talk->name && !talk->terminal)
        fprintf(talk->stream, "%s: ", talk->name);
    progress_line(talk, task, unit, done < total ? done : total, total);
    talk->line_open = talk->terminal && !over;
    if (!talk->line_open)
        fputc('\n', talk->stream);
    fflush(talk->stream);
}
