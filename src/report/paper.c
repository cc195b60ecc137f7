/* paper.c - the methods paragraph with its references, and the provenance of the page. */
#include "report/sections.h"

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
    const vxs_results *s;
    vxs_prose prose;
};

static void cite(vxs_paper *p, const char *paper)
{
    vxs_cite(&p->prose, paper);
}

/* ---- The paragraph --------------------------------------------------------------------------- */

static void write_folds(const vxs_results *s)
{
    const vxs_json *cv = vxs_json_get(s->about, "cross_validation");
    vxs_fold_counts f = vxs_results_folds(s);
    vxs_html(s->out, "%scross-validation (", f.inner > 0 ? "nested " : "");
    if (vxs_results_text(cv, "folds")[0])
        vxs_html(s->out, "one %s held out in each outer fold", vxs_results_text(cv, "group"));
    else if (isfinite(f.folds))
        vxs_html(s->out, "%g outer folds, %g repeat%s", f.folds, f.repeats,
                 vxs_plural((size_t)f.repeats));
    else
        vxs_html(s->out, "folds from %s", vxs_results_text(cv, "folds-from"));
    if (f.inner > 0) {
        vxs_html(s->out, ", %g inner folds", f.inner);
        if (vxs_record_path(&s->record)->by == VXS_BY_LAMBDA &&
            s->record.settings.tol < VXS_INNER_TOL)
            vxs_html(s->out, " with a tolerance of %g", VXS_INNER_TOL);
        fputs(")", s->out);
    } else
        vxs_html(s->out, ", %s fixed beforehand)", vxs_record_path(&s->record)->fixed);
}

static void write_threshold(FILE *out, const char *rule)
{
    char text[VXS_METRIC_TEXT];
    const char *words = vxs_decision_words(rule, text);
    if (words)
        vxs_html(out,
                 " The threshold of scores above which a subject is predicted as positive was "
                 "learned in the training subjects, for %s.",
                 words);
}

void vxs_paper_cv(vxs_paper *p)
{
    const vxs_results *s = p->s;
    fputs(" Out-of-sample performance was estimated by ", s->out);
    write_folds(s);
    const char *chosen = vxs_record_path(&s->record)->fixed;
    const vxs_json *cv = vxs_json_get(s->about, "cross_validation");
    char text[VXS_METRIC_TEXT];
    const char *by = vxs_choice_words(vxs_results_text(cv, "choose-by"), text);
    if (vxs_results_folds(s).inner == 0)
        fputs("; all preprocessing that is learned used the training subjects alone.", s->out);
    else
        vxs_html(s->out,
                 s->record.class_count > 0
                     ? "; all preprocessing that is learned, the choice of %s%s%s and the "
                       "calibration of probabilities used the training subjects alone."
                     : "; all preprocessing that is learned and the choice of %s%s%s used the "
                       "training subjects alone.",
                 chosen, by ? " by the " : "", by ? by : "");
    write_threshold(s->out, vxs_results_text(cv, "decision"));
    fputc(' ', s->out);
    double groups = vxs_results_number(s->about, "groups");
    const char *drawn = groups == vxs_results_number(s->about, "subjects") ? "subjects"
                        : groups == vxs_results_number(s->about, "people") ? "persons"
                                                                           : "groups of subjects";
    vxs_sentence_comparison(s);
    cite(p, forman);
    cite(p, airola);
    fputs("; the model and the baselines are measured in the same way. Held-out ", s->out);
    vxs_sentence_score(s);
    vxs_html(s->out,
             ". Intervals are 95 %% percentile intervals of %g bootstrap draws of %s, the same "
             "draws for the model and the baselines. Activation patterns were computed from %s",
             vxs_results_number(vxs_json_get(s->about, "cross_validation"), "bootstraps"), drawn,
             vxs_record_has_sizes(&s->record) ? "scores" : "weights");
    cite(p, haufe);
    fputs(".", s->out);
}

/* Who set the hyperparameter of a model, and its value if there is one. */
void vxs_paper_model(vxs_paper *p)
{
    const vxs_results *s = p->s;
    const vxs_path_words *path = vxs_record_path(&s->record);
    const vxs_json *points = vxs_json_get(s->about, path->key);
    const vxs_certificate *c = &s->model.outputs[0].fit.certificate;
    bool chosen = points && points->length > 1;
    vxs_html(s->out,
             chosen ? " Cross-validation in the same subjects chose %s" : " Set beforehand: %s",
             path->chosen);
    if (s->model.output_count == 1 && path->by == VXS_BY_LAMBDA)
        vxs_html(s->out, " (%v of lambda_max)", c->lambda / c->lambda_max);
    if (s->model.output_count == 1 && path->by == VXS_BY_COST)
        vxs_html(s->out, " (%v)", 1 / c->lambda);
    char text[VXS_METRIC_TEXT];
    const char *by =
        chosen ? vxs_choice_words(vxs_results_text(s->about, "choose_by"), text) : NULL;
    vxs_html(s->out, "%s%s%s.", chosen ? vxs_record_also(&s->record) : "", by ? " by the " : "",
             by ? by : "");
    write_threshold(s->out, vxs_results_text(s->about, "decision"));
}

static void write_exchange(const vxs_results *s)
{
    const vxs_json *asked = vxs_json_get(s->about, "permuting"),
                   *whole = vxs_json_get(asked, "whole-blocks");
    vxs_html(s->out, " by %g permutations of the target",
             vxs_results_number(s->about, "permutations"));
    if (vxs_results_has(asked, "blocks"))
        vxs_html(s->out,
                 whole && whole->number != 0 ? ", with exchange of whole blocks (%s)"
                                             : " within blocks (%s)",
                 vxs_results_text(asked, "blocks"));
    fputs(", each with the complete cross-validation", s->out);
}

/* The number of distinct permutations is a bound of its own. */
static void write_p(vxs_paper *p)
{
    const vxs_results *s = p->s;
    double good = vxs_results_number(s->about, "exceedances"),
           count = vxs_results_number(s->about, "permutations"),
           value = vxs_results_number(s->about, "p");
    vxs_html(s->out, "; C = %g of N = %g reach the observed value, p = (C + 1) / (N + 1)", good,
             count);
    cite(p, phipson);
    if (value > (good + 1) / (count + 1) * (1 + 1e-9))
        vxs_html(s->out, ", but at least 1 / %g, the number of distinct permutations: p",
                 vxs_results_number(s->about, "distinct_permutations"));
    vxs_html(s->out, " = %v.", value);
}

void vxs_paper_permutations(vxs_paper *p)
{
    const vxs_results *s = p->s;
    double stop = vxs_results_number(vxs_json_get(s->about, "permuting"), "stop-at");
    char words[VXS_METRIC_TEXT];
    fputs(" Held-out predictions of a ", s->out);
    write_folds(s);
    vxs_html(s->out, " had %s %v. This was tested",
             vxs_results_metric(s, vxs_results_text(s->about, "metric"), words),
             vxs_results_number(s->about, "observed"));
    write_exchange(s);
    if (stop > 0) {
        vxs_html(s->out, ", with early stopping after %g exceedances of the observed value", stop);
        cite(p, besag);
    }
    write_p(p);
}

void vxs_paper_stability(vxs_paper *p)
{
    const vxs_results *s = p->s;
    const vxs_json *halving = vxs_json_get(s->about, "halving");
    vxs_html(s->out, " Stability selection used %g complementary pairs of halves of the subjects",
             vxs_results_number(s->about, "halves") / 2);
    if (vxs_results_has(halving, "group"))
        vxs_html(s->out, ", with subjects of one %s together", vxs_results_text(halving, "group"));
    vxs_html(s->out, "; %s", vxs_record_path(&s->record)->halving);
    cite(p, shah);
    vxs_html(s->out, " up to %g %s. Features with a selection frequency of at least %g are stable",
             vxs_results_number(s->about, "features_a_half"), vxs_results_text(s->about, "counted"),
             vxs_results_number(s->about, "threshold"));
    cite(p, meinshausen);
    vxs_html(s->out,
             "; the expected number of falsely selected %s is at most %g, the smaller bound "
             "of",
             vxs_results_text(s->about, "counted"), vxs_results_number(s->about, "error_bound"));
    cite(p, shah);
    fputs(" and", s->out);
    cite(p, meinshausen);
    if (vxs_results_number(s->about, "mean_selected") == 0) {
        fputs(". No half selected any feature.", s->out);
        return;
    }
    vxs_html(s->out, ". The mean Dice coefficient of two halves was %v",
             vxs_results_number(s->about, "dice"));
    if (isnan(vxs_results_number(s->about, "nogueira"))) {
        fputs(".", s->out);
        return;
    }
    fputs(" and the stability index", s->out);
    cite(p, nogueira);
    vxs_html(s->out, " %v.", vxs_results_number(s->about, "nogueira"));
}

/* ---- The whole ------------------------------------------------------------------------------- */

static void write_origin(const vxs_results *s)
{
    const vxs_json *asked = s->kind->settings ? vxs_json_get(s->about, s->kind->settings) : NULL;
    fputs("<h2>Provenance</h2>\n<table>\n", s->out);
    vxs_row_of_text(s->out, "Command", vxs_results_text(s->about, "command"));
    vxs_row_of_text(s->out, "voxsift", vxs_results_text(s->about, "voxsift"));
    vxs_row_of_text(s->out, "Results", s->directory);
    vxs_row_of_text(s->out, "Cohort", vxs_results_text(vxs_results_subjects(s), "cohort"));
    vxs_row_of_number(s->out, "Seed", vxs_results_number(asked, "seed"));
    double passes = vxs_results_number(s->about, "passes");
    vxs_row_of_number(s->out, "Passes (readings of all features)",
                      passes > 100 ? round(passes) : passes);
    vxs_row_of_number(s->out, "Seconds", vxs_results_number(s->about, "seconds"));
    fputs("</table>\n", s->out);
}

void vxs_section_methods(const vxs_results *s)
{
    vxs_paper p = { .s = s, .prose = { .out = s->text } };
    fputs("<h2>Methods paragraph</h2>\n<p>", s->out);
    vxs_describe_model(&s->record, &p.prose);
    if (s->kind->paper)
        s->kind->paper(&p);
    fputs("</p>\n<ol class=\"cite\">", s->out);
    for (size_t k = 0; k < p.prose.count; k++)
        vxs_html(s->out, "<li>%s</li>\n", p.prose.cited[k]);
    fputs("</ol>\n", s->out);
    write_origin(s);
}
