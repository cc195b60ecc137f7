/* products_body.h - inner products of float columns with double vectors, in vectors of WIDTH
 * doubles (4 or 8); included by products.c for each width, with OF(word) as the name of `word` for
 * it. Sums have eight lanes in either width, so that results have the same bits. Width 8 is for
 * registers of 64 bytes alone: elsewhere gcc keeps such vectors in memory, which took AVX2 three
 * times as long. Vectors are passed by address, since calling conventions for their size depend on
 * the processor. */

typedef double OF(part) __attribute__((vector_size(8 * WIDTH)));
typedef float OF(float_part) __attribute__((vector_size(4 * WIDTH)));
typedef struct {
    OF(part) low, high; /* high: of width 4 alone */
} OF(lanes);

INSIDE void OF(load)(const double *from, OF(part) * to)
{
    memcpy(to, from, sizeof(*to));
}

INSIDE void OF(convert)(const float *from, OF(part) * to)
{
    OF(float_part) f;
    memcpy(&f, from, sizeof(f));
    *to = __builtin_convertvector(f, OF(part));
}

INSIDE void OF(multiply_add)(const float *x, const double *v, OF(part) * sum)
{
    OF(part) d, e;
    OF(convert)(x, &d);
    OF(load)(v, &e);
    *sum += d * e;
}

/* sum += x v for eight lanes. */
INSIDE void OF(add_products)(const float *x, const double *v, OF(lanes) * sum)
{
    OF(multiply_add)(x, v, &sum->low);
    if (WIDTH < LANES)
        OF(multiply_add)(x + WIDTH, v + WIDTH, &sum->high);
}

INSIDE void OF(add_lanes)(const OF(lanes) * a, OF(lanes) * sum)
{
    sum->low += a->low;
    sum->high += a->high;
}

INSIDE double OF(total)(const OF(lanes) * a)
{
#if WIDTH == 8
    const OF(part) *s = &a->low;
    return (((*s)[0] + (*s)[4]) + ((*s)[2] + (*s)[6])) +
           (((*s)[1] + (*s)[5]) + ((*s)[3] + (*s)[7]));
#else
    OF(part) s = a->low + a->high;
    return (s[0] + s[2]) + (s[1] + s[3]);
#endif
}

INSIDE double OF(dot)(const float *x, const double *v, size_t n)
{
    OF(lanes) a = { 0 }, b = { 0 }, c = { 0 }, d = { 0 };
    size_t i = 0;
    for (; i + STEP <= n; i += STEP) {
        OF(add_products)(x + i, v + i, &a);
        OF(add_products)(x + i + LANES, v + i + LANES, &b);
        OF(add_products)(x + i + 2 * LANES, v + i + 2 * LANES, &c);
        OF(add_products)(x + i + 3 * LANES, v + i + 3 * LANES, &d);
    }
    for (; i + LANES <= n; i += LANES)
        OF(add_products)(x + i, v + i, &a);
    OF(add_lanes)(&b, &a);
    OF(add_lanes)(&d, &c);
    OF(add_lanes)(&c, &a);
    double sum = OF(total)(&a);
    for (; i < n; i++)
        sum += (double)x[i] * v[i];
    return sum;
}

/* Sums of one part of the lanes: deviations d from the origin, d^2, and d v. */
typedef struct {
    OF(part) sum, square, s;
} OF(moment_sums);

INSIDE void OF(add_moments)(const float *x, double x0, const double *rows, const double *v,
                            OF(moment_sums) * to)
{
    OF(part) d, e, w;
    OF(convert)(x, &d);
    d -= x0;
    e = d;
    if (rows) {
        OF(load)(rows, &w);
        e *= w;
    }
    to->sum += e;
    to->square += e * d;
    if (v) {
        OF(load)(v, &w);
        to->s += d * w;
    }
}

INSIDE void OF(moments_of)(const float *x, size_t n, double x0, const double *rows, const double *v,
                           double *out)
{
    OF(moment_sums) low = { .s = { 0 } }, high = { .s = { 0 } };
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        size_t k = i + WIDTH;
        OF(add_moments)(x + i, x0, rows ? rows + i : NULL, v ? v + i : NULL, &low);
        if (WIDTH < LANES)
            OF(add_moments)(x + k, x0, rows ? rows + k : NULL, v ? v + k : NULL, &high);
    }
    const OF(lanes) s = { low.s, high.s };
    const OF(lanes) sum = { low.sum, high.sum };
    const OF(lanes) square = { low.square, high.square };
    out[0] = OF(total)(&s);
    out[1] = OF(total)(&sum);
    out[2] = OF(total)(&square);
    for (; i < n; i++) {
        double d = (double)x[i] - x0, e = rows ? d * rows[i] : d;
        out[0] += v ? d * v[i] : 0;
        out[1] += e;
        out[2] += e * d;
    }
}
