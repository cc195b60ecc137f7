/* The sparse linear SVM (squared hinge, l1, free b) at lambda_max / k, k = 1 to COUNT, by
 * coordinate descent as in the study of Zhao, Liu and Cox (KDD 2014): svm_ways FOLDER WAY COUNT.
 *
 * Descent   of liblinear's l1 machine (Yuan et al. 2010): a Newton step of one weight with a line
 *           search, features in random order; b goes to its best after each sweep
 * Shrinking features of weight 0 whose slope is inside lambda by a share of the last sweep's
 *           largest violation leave the sweeps; before a lambda ends all come back and are checked
 * Stops     a relative duality gap of 1e-6 over all features; looked at every 10 sweeps
 * WAY       org, warm, shr, warm_shr, scr, warm_scr, scr_shr (the study's: warm starts, shrinking,
 *           screening by its region with the corrections of vi.h), sphere, dome (between sweeps, by
 *           gap spheres or that region), strong (mended). All of the last three begin warm
 *
 * FOLDER: svm_data.h. Prints a line a k: k, lambda, processor seconds, those of screening, column
 * visits, sweeps, weights, missed, features kept before solving, gap.
 */
#include "solver/saif/vi.h"
#include "svm_data.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-6
#define EVERY     10   /* sweeps between gaps */
#define MOST      4000 /* sweeps of a lambda */
#define HALVINGS  20
#define DECREASE  0.01 /* of the line search, liblinear's */
#define MARGIN    1e-9

enum { NO_RULE, VI, STRONG, SPHERE, DOME };
typedef struct {
    bool warm, shrink;
    int rule;
} way;

static const char *const names[] = { "org",     "warm",   "shr",  "warm_shr", "scr", "warm_scr",
                                     "scr_shr", "sphere", "dome", "strong",   NULL };
static const way ways[] = {
    { false, false, NO_RULE }, { true, false, NO_RULE }, { false, true, NO_RULE },
    { true, true, NO_RULE },   { false, false, VI },     { true, false, VI },
    { false, true, VI },       { true, false, SPHERE },  { true, false, DOME },
    { true, false, STRONG },
};

typedef struct {
    svm_data data;
    way way;
    size_t n, p;
    double *square, *norm; /* of columns; norm without their means */
    double *of_target;     /* products of columns with y - its mean */
    double *product;       /* x_j'(y xi), of all at the last solution */
    double *w, b;
    double *slack; /* 1 - y z */
    double *theta, *center, *normal;
    double *steepest, *of_steepest; /* the steepest column of the empty model */
    size_t *play, playing, kept;    /* features of the sweeps, then shrunk ones, then discarded */
    double mean, empty, lambda_max;
    double violation; /* largest of the last sweep */
    double visits, screening;
    uint64_t random;
} study;

/* ---- Columns --------------------------------------------------------------------------------- */

typedef struct {
    const float *value;
    const int32_t *row; /* NULL: all */
    size_t count;
} column;

static column column_of(const study *s, size_t j)
{
    const svm_data *d = &s->data;
    if (!d->rows)
        return (column){ d->values + j * s->n, NULL, s->n };
    size_t first = d->starts[j];
    return (column){ d->values + first, d->rows + first, d->starts[j + 1] - first };
}

static size_t row_of(const column *x, size_t e)
{
    return x->row ? (size_t)x->row[e] : e;
}

static double times(const study *s, size_t j, const double *v)
{
    column x = column_of(s, j);
    double sum = 0;
    for (size_t e = 0; e < x.count; e++)
        sum += (double)x.value[e] * v[row_of(&x, e)];
    return sum;
}

/* slack -= y x_j change */
static void follow(study *s, const column *x, double change)
{
    for (size_t e = 0; e < x->count; e++) {
        size_t i = row_of(x, e);
        s->slack[i] -= s->data.y[i] * (double)x->value[e] * change;
    }
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* ---- The model ------------------------------------------------------------------------------- */

/* Sums of y slack and of 1 over the samples with a loss once b has grown by `step`. */
static double slope_of_b(const study *s, double step, double *count)
{
    double sum = 0;
    *count = 0;
    for (size_t i = 0; i < s->n; i++) {
        double left = s->slack[i] - s->data.y[i] * step;
        sum += left > 0 ? s->data.y[i] * left : 0;
        *count += left > 0;
    }
    return sum;
}

/* b where the slope is 0: Newton's method within an interval that is halved when it leaves that. */
static void improve_b(study *s)
{
    double low = -INFINITY, high = INFINITY, step = 0, count;
    for (int k = 0; k < 200; k++) {
        double slope = slope_of_b(s, step, &count);
        if (fabs(slope) <= 1e-14 * (double)s->n)
            break;
        *(slope > 0 ? &low : &high) = step;
        double next = step + slope / fmax(count, 1);
        if (next <= low || next >= high)
            next = (low + high) / 2;
        if (next == step)
            break;
        step = next;
    }
    s->b += step;
    for (size_t i = 0; i < s->n; i++)
        s->slack[i] -= s->data.y[i] * step;
}

/* From the weights, without what sweeps have rounded. */
static void renew_slack(study *s)
{
    for (size_t i = 0; i < s->n; i++)
        s->slack[i] = 1 - s->data.y[i] * s->b;
    for (size_t k = 0; k < s->kept; k++)
        if (s->w[s->play[k]] != 0) {
            column x = column_of(s, s->play[k]);
            follow(s, &x, s->w[s->play[k]]);
        }
    improve_b(s);
}

static void empty_model(study *s)
{
    memset(s->w, 0, s->p * sizeof(*s->w));
    s->b = s->mean;
    for (size_t i = 0; i < s->n; i++)
        s->slack[i] = 1 - s->data.y[i] * s->b;
}

static double size_of_weights(const study *s)
{
    double sum = 0;
    for (size_t k = 0; k < s->kept; k++)
        sum += fabs(s->w[s->play[k]]);
    return sum;
}

/* ---- The gap --------------------------------------------------------------------------------- */

typedef struct {
    double gap, scale, largest; /* relative; of the dual point; |product| / lambda at most */
} state;

/* theta is y xi here, of which scale / lambda is the dual point. */
static void set_theta(study *s)
{
    for (size_t i = 0; i < s->n; i++)
        s->theta[i] = s->data.y[i] * fmax(0, s->slack[i]);
}

/* Of the problem on features `from` to `to` of play, after their products are renewed. */
static state look(study *s, double lambda, size_t from, size_t to)
{
    double sum = 0, square = 0, largest = 0;
    set_theta(s);
    for (size_t k = from; k < to; k++) {
        size_t j = s->play[k];
        s->product[j] = times(s, j, s->theta);
    }
    s->visits += (double)(to - from);
    for (size_t k = 0; k < to; k++)
        largest = fmax(largest, fabs(s->product[s->play[k]]));
    for (size_t i = 0; i < s->n; i++) {
        sum += fabs(s->theta[i]);
        square += s->theta[i] * s->theta[i];
    }
    double scale = fmin(square > 0 ? sum / square : 0, largest > 0 ? lambda / largest : INFINITY);
    double dual = scale * sum - scale * scale * square / 2;
    double gap = square / 2 + lambda * size_of_weights(s) - dual;
    return (state){ gap / s->empty, scale, largest / lambda };
}

/* ---- Descent --------------------------------------------------------------------------------- */

static double loss_of(const study *s, const column *x)
{
    double sum = 0;
    for (size_t e = 0; e < x->count; e++) {
        double left = s->slack[row_of(x, e)];
        sum += left > 0 ? left * left / 2 : 0;
    }
    return sum;
}

/* From w by at most d; the value falls by a share of what the model promises. */
static void search_line(study *s, size_t j, const column *x, double slope, double d, double lambda)
{
    double w = s->w[j], promise = lambda * (fabs(w + d) - fabs(w)) + slope * d;
    double before = -1, done = 0;
    for (int halving = 0; halving < HALVINGS; halving++) {
        double more = lambda * (fabs(w + d) - fabs(w)) - DECREASE * promise;
        if (s->square[j] * d * d / 2 + slope * d + more <= 0) { /* by the bound of the curvature */
            follow(s, x, d - done);
            s->w[j] = w + d;
            return;
        }
        before = before < 0 ? loss_of(s, x) : before;
        follow(s, x, d - done);
        done = d;
        if (loss_of(s, x) - before + more <= 0) {
            s->w[j] = w + d;
            return;
        }
        d /= 2;
        promise /= 2;
    }
    follow(s, x, -done);
}

/* A step of weight j; false: the feature may leave the sweeps. */
static bool step(study *s, size_t j, double lambda, double out, double *violation)
{
    column x = column_of(s, j);
    double slope = 0, curvature = 0, w = s->w[j];
    for (size_t e = 0; e < x.count; e++) {
        size_t i = row_of(&x, e);
        double left = s->slack[i], value = (double)x.value[e];
        slope -= left > 0 ? s->data.y[i] * value * left : 0;
        curvature += left > 0 ? value * value : 0;
    }
    double up = slope + lambda, down = slope - lambda;
    double violated = w == 0 ? fmax(0, fmax(-up, down)) : fabs(w > 0 ? up : down);
    if (w == 0 && up > out && down < -out)
        return false;
    *violation = fmax(*violation, violated);
    curvature = fmax(curvature, 1e-12);
    double d = up < curvature * w ? -up / curvature : down > curvature * w ? -down / curvature : -w;
    if (fabs(d) >= 1e-14)
        search_line(s, j, &x, slope, d, lambda);
    return true;
}

static size_t below(study *s, size_t count)
{
    s->random = s->random * 6364136223846793005U + 1442695040888963407U;
    return (size_t)(((s->random >> 32) * count) >> 32);
}

static void swap(study *s, size_t a, size_t b)
{
    size_t j = s->play[a];
    s->play[a] = s->play[b];
    s->play[b] = j;
}

static void sweep(study *s, double lambda)
{
    double violation = 0, out = s->way.shrink ? s->violation / (double)s->n : INFINITY;
    for (size_t k = 0; k < s->playing; k++)
        swap(s, k, k + below(s, s->playing - k));
    for (size_t k = 0; k < s->playing; k++) {
        s->visits++;
        if (!step(s, s->play[k], lambda, out, &violation))
            swap(s, k--, --s->playing);
    }
    s->violation = violation;
    improve_b(s);
}

/* ---- Screening ------------------------------------------------------------------------------- */

/* A region that contains the dual optimum, by products of theta, the target and `steepest`. */
typedef struct {
    vxs_dome dome;
    double theta, target, normal_theta, normal_target, normal_steepest; /* shares of products */
} region;

/* Of `lambda`, from the weights and their theta, feasible when multiplied by up to `limit`. */
static region find_region(study *s, double limit, double lambda)
{
    double along = 0, square = 0, radius = 0, length = 0, apart = 0, sizes = 0;
    double size = size_of_weights(s), reach = size > 0 ? size : 1;
    for (size_t i = 0; i < s->n; i++) {
        along += (s->data.y[i] - s->mean) * s->theta[i] / lambda;
        square += s->theta[i] * s->theta[i];
    }
    double scale = square > 0 ? fmax(0, fmin(limit, along / square)) : 0;
    for (size_t i = 0; i < s->n; i++) {
        double target = s->data.y[i] - s->mean, own = scale * s->theta[i];
        double left = target / lambda - own;
        s->center[i] = (own + target / lambda) / 2;
        s->normal[i] = size > 0 ? target - s->theta[i] : s->steepest[i];
        radius += left * left / 4;
    }
    for (size_t i = 0; i < s->n; i++) {
        length += s->normal[i] * s->normal[i];
        apart += s->normal[i] * s->center[i];
        sizes += fabs(s->normal[i] * s->center[i]);
    }
    radius = sqrt(radius);
    length = sqrt(length);
    region r = { .theta = scale / 2, .target = 1 / (2 * lambda), .dome = { radius, radius } };
    if (!(length > 0))
        return r;
    vxs_dome_init(&r.dome, radius, (reach - apart) / length,
                  4 * (double)s->n * DBL_EPSILON * (reach + sizes) / length);
    if (size > 0) {
        r.normal_target = 1 / length;
        r.normal_theta = -1 / length;
    } else {
        r.normal_steepest = 1 / length;
    }
    return r;
}

static bool dome_keeps(const study *s, const region *r, size_t j)
{
    double center = r->theta * s->product[j] + r->target * s->of_target[j];
    double normal = r->normal_theta * s->product[j] + r->normal_target * s->of_target[j] +
                    r->normal_steepest * s->of_steepest[j];
    double most = fmax(vxs_dome_bound(&r->dome, center, normal, s->norm[j]),
                       vxs_dome_bound(&r->dome, -center, -normal, s->norm[j]));
    return !(most < 1 - MARGIN);
}

/* Of the first `count` of play those that a rule keeps, or that start with weight, come first. */
static void keep_first(study *s, size_t count, const region *r, double shift, double level)
{
    s->kept = 0;
    for (size_t k = 0; k < count; k++) {
        size_t j = s->play[k];
        bool keeps = r ? dome_keeps(s, r, j)
                       : fabs(s->product[j]) + shift * s->norm[j] >= level * (1 - MARGIN);
        if (keeps || (s->way.warm && s->w[j] != 0))
            swap(s, k, s->kept++);
    }
    s->playing = s->kept;
}

/* Before lambda, from the solution of `last`: products are those of all features there. */
static void screen_before(study *s, double last, double lambda, const state *at)
{
    double start = svm_cpu_seconds();
    s->kept = s->p; /* weights of all count */
    if (s->way.rule == VI) {
        set_theta(s);
        region r = find_region(s, 1 / (last * at->largest), lambda);
        keep_first(s, s->p, &r, 0, 0);
    } else if (s->way.rule == STRONG) {
        keep_first(s, s->p, NULL, 0, 2 * lambda - last);
    }
    s->playing = s->kept;
    s->screening += svm_cpu_seconds() - start;
}

/* Between sweeps, from the products of all that play. */
static void screen_between(study *s, double lambda, const state *now)
{
    double start = svm_cpu_seconds();
    if (s->way.rule == SPHERE) { /* of theta scaled, radius root(2 gap) / lambda */
        double radius = sqrt(2 * fmax(0, now->gap) * s->empty) / lambda;
        keep_first(s, s->kept, NULL, radius * lambda / now->scale, lambda / now->scale);
    } else if (s->way.rule == DOME) {
        region r = find_region(s, 1 / (lambda * now->largest), lambda);
        keep_first(s, s->kept, &r, 0, 0);
    }
    s->screening += svm_cpu_seconds() - start;
}

/* ---- A lambda -------------------------------------------------------------------------------- */

/* Sweeps until the gap on what is kept is small enough. */
static state solve(study *s, double lambda, int *sweeps)
{
    state now;
    s->violation = INFINITY;
    for (;; (*sweeps)++) {
        if (*sweeps % EVERY == 0) {
            renew_slack(s);
            now = look(s, lambda, 0, s->playing);
            if (now.gap <= TOLERANCE && s->playing < s->kept) { /* the shrunk are checked, too */
                now = look(s, lambda, s->playing, s->kept);
                s->playing = s->kept;
                s->violation = INFINITY;
            }
            if (now.gap <= TOLERANCE || *sweeps >= MOST)
                return now;
            screen_between(s, lambda, &now);
        }
        sweep(s, lambda);
    }
}

/* Discarded features that have to come back, first. */
static size_t mend(study *s, double lambda, double scale)
{
    size_t found = 0;
    for (size_t k = s->kept; k < s->p; k++)
        if (fabs(s->product[s->play[k]]) * scale > lambda * (1 + MARGIN)) {
            swap(s, k, s->kept++);
            found++;
        }
    s->playing = s->kept;
    return found;
}

static void print(const study *s, int k, double lambda, double seconds, int sweeps, size_t missed,
                  size_t kept, double gap)
{
    size_t support = 0;
    for (size_t j = 0; j < s->p; j++)
        support += s->w[j] != 0;
    printf("%d %.17g %.6f %.6f %.0f %d %zu %zu %zu %.3g\n", k, lambda, seconds, s->screening,
           s->visits, sweeps, support, missed, kept, gap);
}

static void follow_path(study *s, int count)
{
    FILE *file = svm_open(&s->data, "w", "wb");
    double *w = svm_get(s->p + 1, sizeof(*w)), last = s->lambda_max;
    state full = { 0, 1 / s->lambda_max, 1 };
    for (int k = 1; k <= count; k++) {
        double lambda = s->lambda_max / k, start = svm_cpu_seconds();
        int sweeps = 0;
        size_t missed = 0;
        s->visits = s->screening = 0;
        screen_before(s, last, lambda, &full);
        size_t kept = s->kept, more = 0;
        if (!s->way.warm)
            empty_model(s);
        do {
            full = solve(s, lambda, &sweeps);
            double scale = full.scale;
            if (s->kept < s->p)
                full = look(s, lambda, s->kept, s->p);
            more = full.gap > TOLERANCE && sweeps < MOST ? mend(s, lambda, scale) : 0;
            missed += more;
        } while (more > 0);
        last = lambda;
        print(s, k, lambda, svm_cpu_seconds() - start, sweeps, missed, kept, full.gap);
        memcpy(w, s->w, s->p * sizeof(*w));
        w[s->p] = s->b;
        svm_write(&s->data, w, file);
    }
    free(w);
    if (fclose(file) != 0)
        exit(1);
}

/* ---- The beginning --------------------------------------------------------------------------- */

static double *doubles(size_t count)
{
    return svm_get(count, sizeof(double));
}

/* The steepest column without its mean, turned so that its product with the target is positive. */
static void take_steepest(study *s)
{
    size_t steepest = 0;
    for (size_t j = 0; j < s->p; j++)
        steepest = fabs(s->product[j]) > fabs(s->product[steepest]) ? j : steepest;
    s->lambda_max = fabs(s->product[steepest]);
    column x = column_of(s, steepest);
    double sign = s->product[steepest] < 0 ? -1 : 1, mean = 0;
    for (size_t e = 0; e < x.count; e++) {
        s->steepest[row_of(&x, e)] = sign * (double)x.value[e];
        mean += sign * (double)x.value[e] / (double)s->n;
    }
    for (size_t i = 0; i < s->n; i++)
        s->steepest[i] -= mean;
    for (size_t j = 0; j < s->p && s->way.rule != NO_RULE; j++)
        s->of_steepest[j] = times(s, j, s->steepest);
}

static void begin(study *s, const char *folder)
{
    svm_load(&s->data, folder);
    s->n = s->data.size[0];
    s->p = s->data.size[1];
    s->square = doubles(s->p);
    s->norm = doubles(s->p);
    s->of_target = doubles(s->p);
    s->product = doubles(s->p);
    s->of_steepest = doubles(s->p);
    s->w = doubles(s->p);
    s->slack = doubles(s->n);
    s->theta = doubles(s->n);
    s->center = doubles(s->n);
    s->normal = doubles(s->n);
    s->steepest = doubles(s->n);
    s->play = svm_get(s->p, sizeof(*s->play));
    for (size_t i = 0; i < s->n; i++)
        s->mean += s->data.y[i] / (double)s->n;
    for (size_t j = 0; j < s->p; j++) {
        column x = column_of(s, j);
        double sum = 0;
        for (size_t e = 0; e < x.count; e++) {
            sum += (double)x.value[e];
            s->square[j] += (double)x.value[e] * (double)x.value[e];
        }
        s->norm[j] = sqrt(fmax(0, s->square[j] - sum * sum / (double)s->n));
        s->of_target[j] = times(s, j, s->data.y) - sum * s->mean;
        s->play[j] = j;
    }
    memcpy(s->product, s->of_target, s->p * sizeof(*s->product));
    empty_model(s);
    set_theta(s);
    s->empty = dot(s->theta, s->theta, s->n) / 2;
    take_steepest(s);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "svm_ways FOLDER WAY COUNT\n");
        return 64;
    }
    study s = { .way = ways[svm_place_of(argv[2], names)], .random = 1 };
    begin(&s, argv[1]);
    follow_path(&s, atoi(argv[3]));
    double *const memory[] = { s.square, s.norm,  s.of_target, s.product, s.of_steepest, s.w,
                               s.slack,  s.theta, s.center,    s.normal,  s.steepest };
    for (size_t k = 0; k < sizeof(memory) / sizeof(*memory); k++)
        free(memory[k]);
    free(s.play);
    svm_free(&s.data);
    return 0;
}
