/* acceptable.c - permutations that leave a training part without a class are drawn again.
 *
 * With a rare class and folds that are given (sites) or hold groups whole, some permutations put
 * (nearly) all of the class into one fold, and nothing can be trained without it. Failing there
 * would make a test impossible whose observed target can be trained on; counting such permutations
 * as good or as bad would bias p.
 *
 * Why drawing again is valid. Whether all training parts have each class is a function of the
 * labelling alone, given groups, seed and --folds-from, and never of the images: the acceptable
 * labellings A are a set that is fixed before the data are seen. Under the hypothesis all
 * labellings that exchange can reach are equally likely, so that, given that the observed one is
 * in A (else the run is refused, as cv is), it is uniform on A. Rejection draws uniformly and
 * independently from the same A. Observed and permuted labellings are then exchangeable, and p =
 * (C + 1) / (N + 1) is valid, conditional on A (Hemerik and Goeman 2018; a group is not needed
 * where draws are independent and uniform on the orbit). Metrics of labellings outside of A play
 * no part on either side.
 *
 * Draw a of permutation k is a function of (seed, k, a); draw 0 is what it was without any of
 * this. */
#include "evaluate/acceptable.h"

#include <math.h>
#include <stdlib.h>

/* So many acceptable ones give the share to a tenth of it. */
enum { ENOUGH = 100, MOST_LOOKED_AT = 10000 };

/* Later draws have a seed of their own, beyond the numbers from which places are drawn. */
static vxs_random random_of(const vxs_draws *d, size_t k, size_t number)
{
    vxs_random random = { (uint64_t)d->settings->seed, VXS_STREAM_PERMUTE + k };
    if (number > 0)
        random.seed = vxs_random_bits(&random, ((uint64_t)1 << 63) + number);
    return random;
}

static vxs_status draw(const vxs_draws *d, size_t k, size_t number, double *score, bool *accepted,
                       vxs_error *err)
{
    const vxs_random random = random_of(d, k, number);
    vxs_task task = *d->task; /* nothing of it is released */
    vxs_status status = vxs_exchange_scores(d->exchange, &random, d->task->score, score, err);
    task.score = score;
    *accepted = true;
    if (status || task.class_count == 0)
        return status;
    const vxs_cv_settings settings = vxs_cv_reopened(d->settings);
    return vxs_cv_rehearse(&task, &settings, d->method, accepted, err);
}

vxs_status vxs_draws_take(const vxs_context *context, const vxs_draws *d, size_t k, double *score,
                          size_t *again, vxs_error *err)
{
    bool accepted = false;
    size_t number = 0;
    for (; !accepted && number < VXS_MOST_DRAWS; number++) {
        vxs_status status = draw(d, k, number, score, &accepted, err);
        if (!status)
            status = vxs_check_interrupted(context, err);
        if (status)
            return status;
    }
    *again = number - 1;
    return accepted ? VXS_OK : vxs_draws_refuse(d, err);
}

vxs_status vxs_draws_refuse(const vxs_draws *d, vxs_error *err)
{
    return vxs_fail(err, VXS_BAD_DATA,
                    "too few permutations of '%s' can be trained on (less than 1 in %.0f): the "
                    "others leave a training part with fewer than two subjects of a class; use "
                    "--blocks to permute within a column such as site, or more or other folds",
                    d->task->settings.target, 1 / VXS_LEAST_ACCEPTABLE);
}

vxs_status vxs_draws_survey(const vxs_context *context, const vxs_draws *d, double *share,
                            vxs_error *err)
{
    size_t found = 0, looked = 0;
    double *score = vxs_alloc(d->task->n, sizeof(*score), err);
    vxs_status status = score ? VXS_OK : VXS_FAILED;
    *share = 1;
    while (d->task->class_count > 0 && found < ENOUGH && looked < MOST_LOOKED_AT && !status) {
        bool accepted;
        status = draw(d, looked++, 0, score, &accepted, err);
        found += !status && accepted;
        if (!status)
            status = vxs_check_interrupted(context, err);
    }
    free(score);
    if (status || looked == 0)
        return status;
    *share = (double)found / (double)looked;
    return *share < VXS_LEAST_ACCEPTABLE ? vxs_draws_refuse(d, err) : VXS_OK;
}
