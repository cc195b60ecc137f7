/* machine_check.c - what kernel machines refuse: covariates, and ways that do not go with the
 * kernel. */
#include "solver/saiv/saiv.h"

vxs_status vxs_check_intercept_alone(const vxs_problem *q, const vxs_method_settings *settings,
                                     vxs_error *err)
{
    size_t n = vxs_design_rows(q->design);
    (void)settings;
    bool ones = q->covariate_count <= 1;
    for (size_t i = 0; i < n && q->covariate_count == 1 && q->covariates; i++)
        ones = ones && (q->covariates[i] == 1 || !(fabs(q->covariates[i]) <= VXS_LARGEST));
    return ones ? VXS_OK
                : vxs_fail(err, VXS_MISUSE,
                           "a kernel machine has an intercept and no other covariates; regress "
                           "these out of the features");
}

vxs_status vxs_saiv_check_way(const vxs_saiv *s, vxs_error *err)
{
    if ((s->recruits || s->screens) && vxs_gram_low_rank(s->box.kernel))
        return vxs_fail(err, VXS_MISUSE,
                        "'--rank' has an interior point of its own: '--solver screened' and "
                        "'saiv' are for the kernel itself");
    if (s->recruits && s->room > 0)
        return vxs_fail(err, VXS_MISUSE,
                        "'--solver saiv' works on the whole kernel of %zu subjects, which does "
                        "not fit into --mem; '--solver working-set' makes it in tiles",
                        s->box.n);
    return VXS_OK;
}
