/* growth.c - the loop of methods with a working set.
 *
 * Method    solve the problem on the set; look at all that is outside; let in what violates its
 *           optimality condition most, as many as the method allows; again
 * Stops     the gap over all is at most the target, or not a number; nothing enters and the gap
 *           has not fallen for some rounds */
#include "solver/growth.h"

vxs_status vxs_grow(vxs_growth *g, vxs_error *err)
{
    vxs_status status = VXS_OK;
    g->best = INFINITY;
    g->stalled = 0;
    for (g->rounds = 0; g->rounds < g->most_rounds && !status; g->rounds++) {
        status = g->solve(g, err);
        if (!status)
            status = vxs_check_interrupted(g->context, err);
        if (status || !(g->gap > g->target))
            return status;
        g->stalled = g->gap < g->smaller * g->best ? 0 : g->stalled + 1;
        g->best = fmin(g->best, g->gap);
        status = g->add(g, err);
        if (status || g->added > 0)
            continue;
        if (g->stalled >= g->patience)
            return VXS_OK;
        status = g->refine ? g->refine(g, err) : VXS_OK;
        if (!status && !(g->gap > g->target))
            return VXS_OK;
    }
    return status;
}
