/* threaded.c - what several threads do at once, for ThreadSanitizer.
 *
 * A program of its own: Criterion runs each test in a process whose memory it lays out itself, and
 * ThreadSanitizer cannot follow it there. One row below a thing that is shared. */
#include "voxsift.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    uint64_t last;
    size_t reports;
    bool went_back;
} listener;

static void watch(void *user, const char *task, const char *unit, uint64_t done, uint64_t total)
{
    listener *l = user;
    (void)task;
    (void)unit;
    (void)total;
    l->went_back = l->went_back || (done == 0 && l->reports > 0);
    l->last = done;
    l->reports++;
}

/* However many threads step, the last report is the end, and nobody is asked to stop. */
static bool progress_ends_with_the_end(void)
{
    for (int trial = 0; trial < 100; trial++) {
        listener l = { .last = 0 };
        const vxs_context context = { .progress = watch, .user = &l };
        vxs_progress progress;
        int failures = 0;
        vxs_progress_start(&progress, &context, "t", "u", 500);
#pragma omp parallel for num_threads(4) reduction(+ : failures)
        for (int i = 0; i < 500; i++)
            failures += vxs_progress_step(&progress, 1, NULL) != VXS_OK;
        if (failures || l.last != 500 || l.went_back)
            return false;
    }
    return true;
}

static bool numbers_are_read_by_many(void)
{
    int failures = 0;
#pragma omp parallel for num_threads(4) reduction(+ : failures)
    for (int i = 0; i < 2000; i++) {
        char text[VXS_REAL_TEXT];
        double back = 0;
        bool same = vxs_parse_real(vxs_real_text(i / 7.0, text), &back) && back == i / 7.0;
        failures += !same;
    }
    return failures == 0;
}

static bool tables_are_shared_for_reading(void)
{
    vxs_table *table = NULL;
    int failures = 0;
    static const char text[] = "id\tage\na\t1\nb\t2\nc\t4\n";
    if (vxs_table_parse(text, strlen(text), "t", &table, NULL) != VXS_OK)
        return false;
#pragma omp parallel for num_threads(4) reduction(+ : failures)
    for (int i = 0; i < 200; i++) {
        vxs_column_summary s;
        failures += vxs_table_summarise(table, 1, &s, NULL) != VXS_OK || s.max != 4;
    }
    vxs_table_free(table);
    return failures == 0;
}

int main(void)
{
    static const struct {
        const char *name;
        bool (*holds)(void);
    } rows[] = {
        { "progress ends with the end", progress_ends_with_the_end },
        { "numbers are read by many", numbers_are_read_by_many },
        { "tables are shared for reading", tables_are_shared_for_reading },
    };
    int failed = 0, count = (int)(sizeof(rows) / sizeof(rows[0]));
    for (int i = 0; i < count; i++) {
        bool good = rows[i].holds();
        failed += !good;
        if (!good)
            fprintf(stderr, "FAIL %s\n", rows[i].name);
    }
    printf("threaded: %d passed, %d failed\n", count - failed, failed);
    return failed > 0;
}
