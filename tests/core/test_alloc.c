#include "tests/core/check.h"
#include "tests/core/faults.h"

Test(alloc, gives_zeros)
{
    unsigned char *memory = vxs_alloc(1000, 3, NULL);
    for (size_t i = 0; i < 3000; i++)
        cr_assert(memory[i] == 0);
    free(memory);
}

Test(alloc, nothing_is_something)
{
    void *a = vxs_alloc(0, 8, NULL), *b = vxs_alloc(8, 0, NULL), *c = vxs_resize(NULL, 0, 8, NULL);
    cr_assert(a && b && c);
    free(a);
    free(b);
    free(c);
}

Test(alloc, products_that_do_not_fit_are_refused)
{
    vxs_error err = VXS_ERROR_INIT;
    cr_assert_null(vxs_alloc(SIZE_MAX / 2 + 2, 2, &err));
    cr_assert(err.status == VXS_FAILED);
    cr_assert_null(vxs_alloc((size_t)PTRDIFF_MAX / 8 + 1, 8, NULL));
    int *old = vxs_alloc(1, sizeof(*old), NULL);
    *old = 7;
    cr_assert_null(vxs_resize(old, SIZE_MAX, 2, NULL));
    cr_assert(*old == 7, "a failed resize must leave the old memory");
    free(old);
}

static vxs_status format_something(vxs_error *err)
{
    char *text = vxs_format(err, "%s-%d", "abc", 12);
    vxs_status status = text && strcmp(text, "abc-12") == 0 ? VXS_OK : VXS_FAILED;
    free(text);
    return status;
}

Test(alloc, format_fails_cleanly)
{
    cr_assert(fail_each_request(format_something) == 1);
}

static vxs_status grow_something(vxs_error *err)
{
    char *text = vxs_alloc(1, 1, err);
    char *more = text ? vxs_resize(text, 2, 1, err) : NULL;
    free(more ? more : text);
    return more ? VXS_OK : VXS_FAILED;
}

Test(alloc, resize_fails_cleanly)
{
    cr_assert(fail_each_request(grow_something) == 2);
}

Test(alloc, a_product_that_does_not_fit_is_more_than_there_is)
{
    vxs_error err = VXS_ERROR_INIT;
    cr_assert(vxs_times(3, 5) == 15 && vxs_times(0, SIZE_MAX) == 0 && vxs_times(SIZE_MAX, 0) == 0);
    cr_assert(vxs_times(SIZE_MAX, 1) == SIZE_MAX && vxs_times(SIZE_MAX / 2, 2) == SIZE_MAX - 1);
    cr_assert(vxs_times((size_t)1 << 32, (size_t)1 << 32) == SIZE_MAX);
    cr_assert(vxs_times(vxs_times(SIZE_MAX, 2), 3) == SIZE_MAX);
    cr_assert(!vxs_alloc(vxs_times(SIZE_MAX / 3, 4), 1, &err) && err.status == VXS_FAILED);
}
