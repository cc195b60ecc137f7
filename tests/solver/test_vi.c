/* The dome of the variational inequality: its closed form against its one-dimensional dual, and its
 * monotony, on which looser norms rest. */
#include "solver/saif/vi.h"
#include "tests/core/check.h"

/* A radius, a cut, |x| and x'normal, with the extremes among them. */
typedef struct {
    double radius, cut, norm, along;
} dome_example;

static dome_example make_dome(uint64_t number)
{
    vxs_random random = { .seed = 21, .stream = number };
    double radius = exp(vxs_random_normal(&random, 0)), norm = exp(vxs_random_normal(&random, 1));
    double cut = radius * (2 * vxs_random_uniform(&random, 2) - 1);
    double along = norm * (2 * vxs_random_uniform(&random, 3) - 1);
    static const double extremes[] = { -1, 0, 1 };
    if (number % 7 == 1)
        cut = extremes[number / 7 % 3] * radius;
    if (number % 5 == 1)
        along = extremes[number / 5 % 3] * norm;
    if (number % 11 == 1)
        norm = along = 0;
    return (dome_example){ radius, cut, norm, along };
}

static double bound_of(const dome_example *e)
{
    vxs_dome dome;
    vxs_dome_init(&dome, e->radius, e->cut, 0);
    return vxs_dome_bound(&dome, 0, e->along, e->norm);
}

/* mu cut + radius |x - mu normal|, convex in mu >= 0: its minimum is the maximum over the dome. */
static double dual_value(const dome_example *e, double mu)
{
    double square = e->norm * e->norm - 2 * mu * e->along + mu * mu;
    return mu * e->cut + e->radius * sqrt(fmax(0, square));
}

static double dual_minimum(const dome_example *e)
{
    double low = 0, high = 1e7 * (e->norm + 1e-12);
    for (int k = 0; k < 300; k++) {
        double third = (high - low) / 3, a = low + third, b = high - third;
        if (dual_value(e, a) <= dual_value(e, b))
            high = b;
        else
            low = a;
    }
    return fmin(dual_value(e, 0), dual_value(e, (low + high) / 2));
}

Test(vi, the_closed_form_is_the_minimum_of_the_dual)
{
    for (uint64_t number = 0; number < 10000; number++) {
        dome_example e = make_dome(number);
        double closed = bound_of(&e), minimum = dual_minimum(&e), size = e.radius * e.norm;
        cr_assert(closed >= minimum - 1e-6 * size && closed <= minimum + 1e-6 * size,
                  "dome %d: %.15g, not %.15g", (int)number, closed, minimum);
    }
}

/* The maximum in the plane of x and the normal, where it lies, over points of the dome. */
Test(vi, no_point_of_the_dome_exceeds_the_bound)
{
    for (uint64_t number = 0; number < 2000; number++) {
        dome_example e = make_dome(number);
        double closed = bound_of(&e), most = -INFINITY;
        double across = sqrt(fmax(0, e.norm * e.norm - e.along * e.along));
        for (int k = 0; k <= 200; k++) {
            double t = -e.radius + (fmin(e.cut, e.radius) + e.radius) * k / 200;
            most = fmax(most, t * e.along + sqrt(fmax(0, e.radius * e.radius - t * t)) * across);
        }
        cr_assert(most <= closed + 1e-12 * e.radius * e.norm, "dome %d: %.15g above %.15g",
                  (int)number, most, closed);
        cr_assert(closed <= most + 0.02 * e.radius * e.norm, "dome %d: %g far above %g",
                  (int)number, closed, most);
    }
}

Test(vi, longer_columns_and_smaller_products_have_larger_bounds)
{
    for (uint64_t number = 0; number < 10000; number++) {
        dome_example e = make_dome(number);
        double bound = bound_of(&e), rounding = 1e-14 * e.radius * (e.norm + 1);
        for (double more = 1e-6; more < 2; more *= 100) {
            dome_example longer = e, less = e;
            longer.norm += more;
            less.along = fmax(-less.norm, less.along - more);
            cr_assert(bound_of(&longer) >= bound - rounding, "dome %d, longer", (int)number);
            cr_assert(bound_of(&less) >= bound - rounding, "dome %d, smaller", (int)number);
        }
    }
}

/* Nothing is divided by what may be 0, and what is not known cuts nothing. */
Test(vi, a_dome_of_nothing_is_a_ball_or_a_point)
{
    vxs_dome dome;
    vxs_dome_init(&dome, 2, NAN, 0);
    cr_assert_eq(vxs_dome_bound(&dome, 0.5, 0.1, 1), 2.5);
    vxs_dome_init(&dome, 2, -3, 0);
    cr_assert_eq(vxs_dome_bound(&dome, 0.5, 0, 0), 0.5);
    cr_assert_eq(vxs_dome_bound(&dome, 0.5, 1, 1), -1.5);
    vxs_dome_init(&dome, 0, 0, 0);
    cr_assert_eq(vxs_dome_bound(&dome, 0.5, 0.3, 1), 0.5);
}
