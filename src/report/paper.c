/* paper.c - a paragraph for a paper with what it cites, and where all of it comes from. */
#include "report/story.h"

#include <math.h>

static const char haufe[] =
    "Haufe S, Meinecke F, G\xc3\xb6rgen K, et al. On the interpretation of weight "
    "vectors of linear models in multivariate neuroimaging. NeuroImage 87, 2014.";
static const char forman[] =
    "Forman G, Scholz M. Apples-to-apples in cross-validation studies: pitfalls in "
    "classifier performance measurement. ACM SIGKDD Explorations 12, 2010.";
static const char airola[] =
    "Airola A, Pahikkala T, Waegeman W, De Baets B, Salakoski T. An experimental "
    "comparison of cross-validation techniques for estimating the area under the ROC "
    "curve. Computational Statistics and Data Analysis 55, 2011.";
static const char besag[] =
    "Besag J, Clifford P. Sequential Monte Carlo p-values. Biometrika 78, 1991.";
static const char phipson[] =
    "Phipson B, Smyth GK. Permutation p-values should never be zero: calculating exact "
    "p-values when permutations are randomly drawn. Statistical Applications in "
    "Genetics and Molecular Biology 9, 2010.";
static const char shah[] =
    "Shah RD, Samworth RJ. Variable selection with error control: another look at "
    "stability selection. Journal of the Royal Statistical Society B 75, 2013.";
static const char meinshausen[] =
    "Meinshausen N, B\xc3\xbchlmann P. Stability selection. Journal of the Royal "
    "Statistical Society B 72, 2010.";
static const char nogueira[] =
    "Nogueira S, Sechidis K, Brown G. On the stability of feature selection "
    "algorithms. Journal of Machine Learning Research 18, 2018.";

struct vxs_paper {
    const vxs_story *s;
    vxs_prose prose;
};

static void cite(vxs_paper *p, const char *paper)
{
    vxs_cite(&p->prose, paper);
}

/* ---- The paragraph --------------------------------------------------------------------------- */

static void put_folds(const vxs_story *s)
{
    const vxs_json *cv = vxs_json_get(s->about, "cross_validation");
    vxs_story_folds f = vxs_story_count_folds(s);
    vxs_put(s->out, "%scross-validation (", f.inner > 0 ? "nested " : "");
    if (vxs_story_text(cv, "folds")[0])
        vxs_put(s->out, "one %s held out in each outer fold", vxs_story_text(cv, "group"));
    else if (isfinite(f.folds))
        vxs_put(s->out, "%g outer folds, %g repeat%s", f.folds, f.repeats,
                f.repeats > 1 ? "s" : "");
    else
        vxs_put(s->out, "folds from %s", vxs_story_text(cv, "folds-from"));
    if (f.inner > 0)
        vxs_put(s->out, ", %g inner folds)", f.inner);
    else
        vxs_put(s->out, ", %s fixed beforehand)", vxs_record_path(&s->record)->fixed);
}

void vxs_paper_cv(vxs_paper *p)
{
    const vxs_story *s = p->s;
    fputs(" Performance was estimated by ", s->out);
    put_folds(s);
    vxs_put(s->out,
            vxs_story_count_folds(s).inner > 0
                ? ", in which all that is learned, the choice of %s and the calibration of "
                  "probabilities included, was learned from training subjects alone. "
                : ", in which all was learned from training subjects alone. ",
            vxs_record_path(&s->record)->fixed);
    double groups = vxs_story_number(s->about, "groups");
    const char *drawn = groups == vxs_story_number(s->about, "subjects") ? "subjects"
                        : groups == vxs_story_number(s->about, "people") ? "persons"
                                                                         : "groups of subjects";
    vxs_story_put_convention(s);
    cite(p, forman);
    cite(p, airola);
    fputs("; the model and the baselines are measured in the same way. Held-out subjects had ",
          s->out);
    vxs_story_put_score(s);
    vxs_put(s->out,
            ". Intervals are 95 %% percentile intervals of %g bootstrap draws of %s, the "
            "same draws for the model and the baselines. Patterns were computed from %s after "
            "Haufe et al.",
            vxs_story_number(vxs_json_get(s->about, "cross_validation"), "bootstraps"), drawn,
            vxs_record_has_sizes(&s->record) ? "scores" : "weights");
    cite(p, haufe);
    fputs(".", s->out);
}

static void put_exchange(const vxs_story *s)
{
    const vxs_json *asked = vxs_json_get(s->about, "permuting"),
                   *whole = vxs_json_get(asked, "whole-blocks");
    vxs_put(s->out, " against %g permutations of the target",
            vxs_story_number(s->about, "permutations"));
    if (vxs_story_has(asked, "blocks"))
        vxs_put(s->out,
                whole && whole->number != 0 ? ", in which whole blocks of subjects with the same %s"
                                              " changed places"
                                            : " among subjects with the same %s",
                vxs_story_text(asked, "blocks"));
    fputs(", each of which went through the whole of the cross-validation", s->out);
}

/* Few ways to give the targets out are a bound of their own. */
static void put_p(vxs_paper *p)
{
    const vxs_story *s = p->s;
    double good = vxs_story_number(s->about, "as_good"),
           count = vxs_story_number(s->about, "permutations"),
           value = vxs_story_number(s->about, "p");
    vxs_put(s->out, ". With C = %g of N = %g as good or better, p = (C + 1) / (N + 1)", good,
            count);
    cite(p, phipson);
    if (value > (good + 1) / (count + 1) * (1 + 1e-9))
        vxs_put(s->out, ", but not less than one in the %g ways to give the targets out: p",
                vxs_story_number(s->about, "distinct_permutations"));
    vxs_put(s->out, " = %g.", value);
}

void vxs_paper_permutations(vxs_paper *p)
{
    const vxs_story *s = p->s;
    double stop = vxs_story_number(vxs_json_get(s->about, "permuting"), "stop-at");
    fputs(" Predictions of subjects that were kept back in ", s->out);
    put_folds(s);
    vxs_put(s->out, " had %s %g. This was tested",
            vxs_story_metric(vxs_story_text(s->about, "metric")),
            vxs_story_number(s->about, "observed"));
    put_exchange(s);
    if (stop > 0) {
        vxs_put(s->out, "; they were to stop when %g were as good", stop);
        cite(p, besag);
    }
    put_p(p);
}

void vxs_paper_stability(vxs_paper *p)
{
    const vxs_story *s = p->s;
    const vxs_json *halving = vxs_json_get(s->about, "halving");
    vxs_put(s->out, " The subjects were halved %g times", vxs_story_number(s->about, "halves") / 2);
    if (vxs_story_has(halving, "group"))
        vxs_put(s->out, ", those of one %s together", vxs_story_text(halving, "group"));
    vxs_put(s->out, ", and %s", vxs_record_path(&s->record)->halving);
    cite(p, shah);
    vxs_put(s->out,
            " as long as at most %g features had been selected. Features selected in a share of %g "
            "or more of "
            "the halves are called stable",
            vxs_story_number(s->about, "features_a_half"), vxs_story_number(s->about, "threshold"));
    cite(p, meinshausen);
    vxs_put(s->out,
            "; on average at most %g of them are wrong, by the smaller one of the bounds of",
            vxs_story_number(s->about, "error_bound"));
    cite(p, shah);
    fputs(" and", s->out);
    cite(p, meinshausen);
    if (vxs_story_number(s->about, "mean_selected") == 0) {
        fputs(". No half selected any feature.", s->out);
        return;
    }
    vxs_put(s->out, ". Halves agreed with a mean Dice coefficient of %g",
            vxs_story_number(s->about, "dice"));
    if (isnan(vxs_story_number(s->about, "nogueira"))) {
        fputs(".", s->out);
        return;
    }
    fputs(" and an index of stability", s->out);
    cite(p, nogueira);
    vxs_put(s->out, " of %g.", vxs_story_number(s->about, "nogueira"));
}

/* ---- The whole ------------------------------------------------------------------------------- */

static void put_origin(const vxs_story *s)
{
    const vxs_json *asked = s->kind->settings ? vxs_json_get(s->about, s->kind->settings) : NULL;
    fputs("<h2>Where this comes from</h2>\n<table>\n", s->out);
    vxs_story_row(s->out, "Command", vxs_story_text(s->about, "command"));
    vxs_story_row(s->out, "Program", vxs_story_text(s->about, "voxsift"));
    vxs_story_row(s->out, "Files", s->directory);
    vxs_story_row(s->out, "Cohort", vxs_story_text(vxs_story_who(s), "cohort"));
    vxs_story_row_number(s->out, "Seed", vxs_story_number(asked, "seed"));
    vxs_story_row_number(s->out, "Passes over the data", vxs_story_number(s->about, "passes"));
    vxs_story_row_number(s->out, "Seconds", vxs_story_number(s->about, "seconds"));
    fputs("</table>\n", s->out);
}

void vxs_story_methods(const vxs_story *s)
{
    vxs_paper p = { .s = s, .prose = { .out = s->text } };
    fputs("<h2>For a paper</h2>\n<p>", s->out);
    vxs_say_model(&s->record, &p.prose);
    if (s->kind->paper)
        s->kind->paper(&p);
    fputs("</p>\n<ol class=\"cite\">", s->out);
    for (size_t k = 0; k < p.prose.count; k++)
        vxs_put(s->out, "<li>%s</li>\n", p.prose.cited[k]);
    fputs("</ol>\n", s->out);
    put_origin(s);
}
