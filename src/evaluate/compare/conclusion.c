/* conclusion.c - each difference in a sentence, for terminal, files and page. */
#include "evaluate/compare/compare.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    const vxs_compared *c;
    const char *first, *second;
    const vxs_metric_row *row;
    const vxs_compared_difference *d;
    char words[VXS_METRIC_TEXT];
} subject;

/* "95 % interval -0.01 to 0.03, p = 0.2", with Holm's p where there are several tests. */
#define FACTS_TEXT 160
static const char *facts(const subject *s, double low, double high, char text[FACTS_TEXT])
{
    char from[VXS_REAL_TEXT], to[VXS_REAL_TEXT], p[VXS_REAL_TEXT], holm[VXS_REAL_TEXT];
    bool several = s->c->pair_count * s->c->metric_count > 1;
    int length = isnan(low) || isnan(high)
                     ? snprintf(text, FACTS_TEXT, "95 %% interval unknown")
                     : snprintf(text, FACTS_TEXT, "95 %% interval %s to %s",
                                vxs_score_text(low, false, from), vxs_score_text(high, false, to));
    snprintf(text + length, FACTS_TEXT - (size_t)length, ", p = %s%s%s",
             vxs_score_text(s->d->swap.p, false, p), several ? ", after Holm's correction " : "",
             several ? vxs_score_text(s->d->swap.holm, false, holm) : "");
    return text;
}

static char *say_nothing(const subject *s, vxs_error *err)
{
    char text[FACTS_TEXT], value[VXS_REAL_TEXT];
    return vxs_format(err,
                      "There is no evidence that %s or %s predicts better: the difference in %s is "
                      "%s (%s).",
                      s->first, s->second, s->words, vxs_score_text(s->d->value, true, value),
                      facts(s, s->d->low, s->d->high, text));
}

/* Other training samples are part of the t test alone. */
#define T_TEXT 64
static const char *also_t(const subject *s, char text[T_TEXT])
{
    char p[VXS_REAL_TEXT];
    snprintf(text, T_TEXT, "; t test over folds: p = %s",
             vxs_score_text(s->d->resampled.p, false, p));
    return isnan(s->d->resampled.p) ? "" : text;
}

/* Swaps and bootstrap draws may disagree near the level. */
static const char *weakly(const subject *s)
{
    return s->d->low <= 0 && s->d->high >= 0 ? " But the interval includes 0: the evidence is weak."
                                             : "";
}

/* Models are named by their methods: which of these is better is another question. */
static const char *of_these(const subject *s)
{
    return s->d->resampled.p < VXS_COMPARE_LEVEL || s->row->best_at_one
               ? ""
               : " This is of these fitted models: that the method is better when trained on "
                 "another sample is not shown.";
}

/* The model with the larger value is named first; so is the better one where a metric has one. */
static char *say_better(const subject *s, vxs_error *err)
{
    char text[FACTS_TEXT], value[VXS_REAL_TEXT], t[T_TEXT];
    bool first = (s->d->value > 0) != s->row->is_error;
    double low = s->d->value > 0 ? s->d->low : -s->d->high;
    double high = s->d->value > 0 ? s->d->high : -s->d->low;
    return vxs_format(err, "%s %s %s by %s in %s (%s%s).%s%s", first ? s->first : s->second,
                      s->row->best_at_one ? "is larger than" : "predicts better than",
                      first ? s->second : s->first, vxs_score_text(fabs(s->d->value), false, value),
                      s->words, facts(s, low, high, text), also_t(s, t), weakly(s), of_these(s));
}

static char *conclude(const subject *s, vxs_error *err)
{
    if (isnan(s->d->value))
        return vxs_format(err, "%s and %s cannot be compared by %s: it is not defined here.",
                          s->first, s->second, s->words);
    return s->d->swap.holm < VXS_COMPARE_LEVEL ? say_better(s, err) : say_nothing(s, err);
}

vxs_status vxs_compared_conclude(vxs_compared *c, vxs_error *err)
{
    for (size_t k = 0; k < c->pair_count * c->metric_count; k++) {
        const vxs_compared_pair *pair = &c->pairs[k / c->metric_count];
        vxs_compared_difference *d = &pair->each[k % c->metric_count];
        subject s = { .c = c,
                      .first = c->models[pair->first].name,
                      .second = c->models[pair->second].name,
                      .row = c->metrics[k % c->metric_count],
                      .d = d };
        vxs_compared_words(c, s.row, s.words);
        d->conclusion = conclude(&s, err);
        if (!d->conclusion)
            return VXS_FAILED;
    }
    return VXS_OK;
}
