#include "tests/core/check.h"

static const char *const words[] = { "info",           "simulate", "methods", "version",
                                     "participant_id", "age",      NULL };

Test(nearest, finds_slips)
{
    static const char *const slips[][2] = {
        { "inf", "info" },
        { "ifno", "info" },
        { "simulat", "simulate" },
        { "simluate", "simulate" },
        { "method", "methods" },
        { "VERSION", "version" },
        { "sim", "simulate" },
        { "Participant_ID", "participant_id" },
        { "participant", "participant_id" },
        { "agee", "age" },
    };
    for (size_t i = 0; i < sizeof(slips) / sizeof(slips[0]); i++) {
        const char *near = vxs_nearest(slips[i][0], words);
        cr_assert(near && strcmp(near, slips[i][1]) == 0, "%s -> %s", slips[i][0],
                  near ? near : "nothing");
    }
}

Test(nearest, does_not_guess_wildly)
{
    static const char *const far[] = { "", "xyzzy", "cohort", "zz", "lambda" };
    for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++)
        cr_assert_null(vxs_nearest(far[i], words), "%s", far[i]);
    char longest[5000];
    memset(longest, 'a', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    cr_assert_null(vxs_nearest(longest, words));
    const char *const long_words[] = { longest, NULL };
    cr_assert_null(vxs_nearest("aaaa", long_words));
}
