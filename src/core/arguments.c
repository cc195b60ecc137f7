/* arguments.c - checks of what a program passes to a public function, in one wording for all. */
#include "voxsift/internal/core.h"

vxs_status vxs_arguments_check(const vxs_argument *arguments, vxs_error *err)
{
    for (const vxs_argument *a = arguments; a->name; a++)
        if (!a->value)
            return vxs_fail(err, VXS_MISUSE, "argument '%s' is NULL", a->name);
    return VXS_OK;
}

vxs_status vxs_index_check(const char *noun, size_t index, size_t count, vxs_error *err)
{
    return index < count
               ? VXS_OK
               : vxs_fail(err, VXS_MISUSE, "there is no %s number %zu of %zu", noun, index, count);
}

vxs_status vxs_choice_check(const char *noun, int choice, int count, vxs_error *err)
{
    return choice >= 0 && choice < count
               ? VXS_OK
               : vxs_fail(err, VXS_MISUSE, "there is no %s number %d", noun, choice);
}

vxs_status vxs_number_check(const char *name, double value, double least, bool above,
                            vxs_error *err)
{
    bool fine = (above ? value > least : value >= least) && value <= VXS_LARGEST;
    return fine ? VXS_OK
                : vxs_fail(err, VXS_MISUSE, "%s must be a finite number %s %g, not %g", name,
                           above ? "above" : "of at least", least, value);
}
