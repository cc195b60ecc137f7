#include "tests/core/check.h"

#include <string.h>

Test(endings, each_names_an_image_in_any_case)
{
    char name[64];
    size_t count = 0;
    for (const char *ending; (ending = vxs_image_name_ending(count)); count++) {
        snprintf(name, sizeof(name), "dir.x/sub-01.%s%s", count % 2 ? "a" : "B", ending);
        cr_assert(vxs_is_image_name(name));
        cr_assert_eq(vxs_image_ending_length(name), strlen(ending));
        for (char *at = name; *at; at++)
            *at = (char)(*at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at);
        cr_assert(vxs_is_image_name(name));
        cr_assert_not(vxs_is_image_name(ending), "an ending alone names nothing");
    }
    cr_assert(count >= 4);
}

Test(endings, values_of_a_pair_are_no_image_of_their_own)
{
    cr_assert_eq(vxs_image_ending_length("a.img"), 4);
    cr_assert_eq(vxs_image_ending_length("a.IMG.gz"), 7);
    cr_assert_not(vxs_is_image_name("a.img"));
    cr_assert_not(vxs_is_image_name("a.img.gz"));
}

Test(endings, other_files_name_none)
{
    static const char *const others[] = {
        "a.txt", "a.nii.txt", "a.nii/b", "a.gz", "nii", "", "a."
    };
    for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++) {
        cr_assert_not(vxs_is_image_name(others[k]));
        cr_assert_eq(vxs_image_ending_length(others[k]), 0);
    }
}
