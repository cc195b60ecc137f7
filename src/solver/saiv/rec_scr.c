/* rec_scr.c - safe active incremental vectors as the dissertation has them: samples are recruited
 * into an active set, and screened out of it, between steps of descent.
 *
 * Method    all weights outside the set are 0; after as many steps as it has members, by the gap of
 *           its own problem: a member whose margin is proven to be above 1 leaves (SCR); the others
 *           that are furthest inside the margin enter, a few at a time (REC), until all others are
 *           proven to be above it
 * Mended    recruiting ends by the others' margins (as printed by those of members, which have
 *           weights and are never above: it cannot end); by order instead of by proof, which needs
 *           a gap below the difference of two samples, and copies have none; only inside the
 *           margin; a member leaves when its weight is 0, so that weights sum to 0; first members
 *           of both classes; the gap that ends it is that over all samples; an intercept, weights,
 *           scores
 * Cost      a round: descent squares of the set, its kernel copied; columns of what has moved
 * Source    Ren 2017, algorithms 5 and 6 */
#include "solver/saiv/saiv.h"

#include <stdlib.h>

#define LEAST_FEW   10  /* samples that enter at a time: these, and */
#define FEW         100 /* one in so many */
#define LEAST_STEPS 32  /* of descent, between REC and SCR */
#define MOST_ROUNDS 20000
#define SEED        1

static size_t few_of(const vxs_saiv *s)
{
    return LEAST_FEW + s->box.n / FEW;
}

/* A first set: some samples of each sign, at random; later what the last C has left. */
static void begin_set(vxs_saiv *s)
{
    vxs_random random = { .seed = SEED, .stream = s->box.n };
    size_t missing[2] = { few_of(s), few_of(s) };
    for (size_t k = 0; k < s->box.count; k++)
        if (s->box.t[k] > 0)
            vxs_saiv_enter(s, k);
    vxs_saiv_list_set(s);
    for (uint64_t draw = 0; draw < 20 * s->box.count && s->set_count == 0; draw++) {
        size_t k = vxs_random_below(&random, draw, s->box.count), side = s->box.sign[k] > 0;
        if (s->in_set[k] || s->box.c[k] == 0 || missing[side] == 0)
            continue;
        missing[side]--;
        vxs_saiv_enter(s, k);
        if (missing[0] + missing[1] == 0)
            break;
    }
    vxs_saiv_list_set(s);
}

/* Bounds on values and intercept at the optimum of the set's problem. */
static void bound_by_set(vxs_saiv *s, vxs_box_state of_set, double empty)
{
    vxs_sample_bounds_begin(&s->bounds, s->box.n, s->bound_values);
    vxs_sample_bounds_add(&s->bounds, &s->box, 1, vxs_gap_radius(of_set, empty));
    vxs_sample_bounds_intercept(&s->bounds, &s->box, s->set, s->set_count, s->thresholds);
}

/* Returns how many have left. */
static size_t screen(vxs_saiv *s)
{
    size_t left = 0;
    for (size_t m = 0; m < s->set_count; m++) {
        size_t k = s->set[m];
        bool leaves = s->box.t[k] == 0 && vxs_sample_bounds_margin(&s->bounds, &s->box, k) > 0;
        s->in_set[k] = !leaves;
        left += leaves;
    }
    return left;
}

/* Whether all others are proven to be outside the margin of the set's optimum: no support vector is
 * missing. */
static bool is_complete(const vxs_saiv *s)
{
    for (size_t k = 0; k < s->box.count; k++)
        if (!s->in_set[k] && s->box.c[k] > 0 &&
            !(vxs_sample_bounds_margin(&s->bounds, &s->box, k) > 0))
            return false;
    return true;
}

/* Of those that were no members before, the furthest inside the margin. Returns how many enter. */
static size_t recruit(vxs_saiv *s, double b)
{
    size_t found = 0, entered = 0, count = s->box.count;
    for (size_t k = 0; k < count; k++) {
        s->violation[k] = s->in_set[k] ? 0 : vxs_saiv_violation(s, k, b);
        if (s->violation[k] > VXS_SAIV_VIOLATION)
            s->sorted[found++] = s->violation[k];
    }
    double level = vxs_saiv_level(s, found, few_of(s));
    for (size_t k = 0; k < count && entered < few_of(s); k++)
        if (s->violation[k] > VXS_SAIV_VIOLATION && s->violation[k] >= level) {
            vxs_saiv_enter(s, k);
            entered++;
        }
    return entered;
}

static vxs_status descend(vxs_saiv *s, bool *gains, vxs_error *err)
{
    size_t steps = s->set_count > LEAST_STEPS ? s->set_count : LEAST_STEPS;
    vxs_box_part part;
    vxs_status status = vxs_box_part_begin(&part, &s->box, s->set, s->set_count, &s->work, err);
    if (status)
        return status;
    *gains = vxs_box_part_descend(&part, steps);
    vxs_box_part_end(&part, &s->box, s->set);
    vxs_saiv_note_seen(s);
    return vxs_check_interrupted(s->box.context, err);
}

vxs_status vxs_saiv_recruit_and_screen(vxs_saiv *s, double target, double empty,
                                       vxs_box_state *state, size_t *rounds, vxs_error *err)
{
    vxs_status status = VXS_OK;
    bool recruits = true, gains = true;
    begin_set(s);
    for (*rounds = 0; *rounds < MOST_ROUNDS && s->set_count > 0 && !status; (*rounds)++) {
        status = descend(s, &gains, err);
        *state = vxs_box_evaluate(&s->box, NULL, s->box.count, s->thresholds);
        if (status || state->primal - state->dual <= target)
            break;
        vxs_box_state of_set = vxs_box_evaluate(&s->box, s->set, s->set_count, s->thresholds);
        bound_by_set(s, of_set, empty);
        size_t left = screen(s);
        recruits = recruits && !is_complete(s);
        size_t entered = recruits ? recruit(s, of_set.b) : 0;
        vxs_saiv_list_set(s);
        if (!gains && entered == 0 && left == 0)
            break;
    }
    if (!status)
        status = vxs_saiv_refresh(s, err);
    *state = vxs_box_evaluate(&s->box, NULL, s->box.count, s->thresholds);
    return status;
}
