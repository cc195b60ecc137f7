/* test_certificate.c - gaps: relative to the empty model, and never below 0 by rounding. */
#include "solver/solver.h"

#include <criterion/criterion.h>
#include <math.h>

Test(certificate, gaps_are_not_negative_by_rounding)
{
    cr_assert(vxs_relative_gap(-9e-17, 1) == 0 && !signbit(vxs_relative_gap(-9e-17, 1)));
    cr_assert(vxs_relative_gap(-1e-9, 100) == 0);
    cr_assert(vxs_relative_gap(2, 4) == 0.5);
    cr_assert(vxs_relative_gap(2, 0) == 2);
    cr_assert(isnan(vxs_relative_gap(2, NAN)));
}

/* A dual value above the primal value by more than that is no bound: it is shown, and refused. */
Test(certificate, gaps_below_rounding_are_shown)
{
    cr_assert(vxs_relative_gap(-1, 100) == -0.01);
    cr_assert(!vxs_has_converged(vxs_relative_gap(-1, 100), 1e-6));
    cr_assert(vxs_has_converged(vxs_relative_gap(-9e-17, 1), 1e-6));
}
