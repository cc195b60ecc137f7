"""`voxsift compare`: what must be true of any comparison (the same model, models in another order, folds and rows in
another order, scores in another unit), its tests computed again (DeLong by all pairs of subjects, Student's t by scipy,
Holm), and how often it finds a difference where there is none. Runs in an empty directory."""
import html
import itertools
import json
import os
import re
import shutil
import sys
import xml.etree.ElementTree as ET

import numpy as np
from scipy import stats

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from fabricate import above, fabricate
from oracle import check, finish, near, run, table, write

rng = np.random.default_rng(11)
N, P = 60, 12
X = rng.normal(size=(N, P)).astype("f4")
score = X[:, 0] - X[:, 1] + rng.normal(size=N)
dx = np.where(X[:, 0] + X[:, 1] + rng.normal(size=N) > 0.3, "yes", "no")
three = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.7 * rng.normal(size=N), [-0.5, 0.5])]
ids = [f"sub-{k:02}" for k in range(N)]
pairs = [f"sub-{k // 2:02}_ses-{k % 2 + 1}" for k in range(N)]
for name, who in (("c", ids), ("scans", pairs)):
    write(f"{name}.tsv", {"participant_id": who, "score": score, "dx": dx, "three": three, "age": np.round(rng.uniform(20, 60, N), 2),
                          "site": np.repeat(list("pqrt"), N // 4), "uneven": np.repeat(list("pqrt"), [35, 15, 6, 4])})
    write(f"{name}-x.tsv", {"participant_id": who, **{f"f{j}": X[:, j] for j in range(P)}})
    run("cohort", "--feature-table", f"{name}-x.tsv", "--participants", f"{name}.tsv", "-q", "-o", name)


def cv(out, target, *words, cohort="c"):
    run("cv", cohort, "--target", target, "--nlambda", "6", "--bootstraps", "200", "-q", "-o", out, *words)


def compare(*words, code=0):
    out, err = run("compare", *words, "--json", "--bootstraps", "200", "--nthreads", "1", "-q", code=code)
    return json.loads(out) if code == 0 else err


def difference(said, metric="auc", pair=0):
    return said["pairs"][pair]["metrics"][metric]


# ---- The numbers of the cross-validations themselves ------------------------------------------------------
cv("score-1", "score", "--repeats", "2")
cv("score-2", "score", "--repeats", "2", "--confounds", "age", "--loss", "huber")
cv("dx-1", "dx", "--repeats", "2")
cv("dx-2", "dx", "--repeats", "2", "--loss", "squared-hinge", "--ridge", "20")
cv("three-1", "three")
cv("three-2", "three", "--loss", "squared-hinge")
cv("scans-1", "dx", "--repeats", "2", cohort="scans")
cv("scans-2", "dx", "--repeats", "2", "--ridge", "20", cohort="scans")
cv("one-1", "dx", "--folds", "60", "--inner-folds", "0", "--lambda-ratio", "0.5")
cv("one-2", "dx", "--folds", "60", "--inner-folds", "0", "--lambda-ratio", "0.2")
for kind in ("score", "dx", "three", "scans", "one"):
    said = compare(f"{kind}-1", f"{kind}-2", "--metric", "all", "--permutations", "99")
    for k, model in enumerate(said["models"]):
        t = table(open(f"{kind}-{k + 1}/scores.tsv"))
        rows = [j for j in range(len(t["scores"])) if t["scores"][j] == "outer"]
        own = {t["metric"][j]: [None if t[c][j] == "n/a" else float(t[c][j]) for c in ("pooled", "low", "high")] for j in rows}
        check(f"{kind}: values and intervals of cv", own == {m: list(v.values()) for m, v in model["metrics"].items()}, (own, model["metrics"]))
    a, b = (m["metrics"] for m in said["models"])
    for m, d in said["pairs"][0]["metrics"].items():
        check(f"{kind}: the difference in {m}", d["difference"] == a[m]["value"] - b[m]["value"] and d["low"] <= d["high"], d)
check("one at a time is biased", said["biased_downwards"])

# ---- Theorems ---------------------------------------------------------------------------------------------
shutil.copytree("dx-1", "copy")
said = compare("dx-1", "copy", "--metric", "all", "--permutations", "99")
check("the same model: no difference", all(d[k] == 0 for d in said["pairs"][0]["metrics"].values() for k in ("difference", "low", "high")))
check("and p = 1", all(d["swaps"]["p"] == 1 and d["t_test"]["p"] is None and "undefined" in d["t_test"] for d in said["pairs"][0]["metrics"].values()))
check("DeLong is undefined", difference(said)["delong"]["p"] is None and "undefined" in difference(said)["delong"])
check("no option differs", said["differing_options"] == [], said["differing_options"])

there = compare("dx-1", "dx-2", "--metric", "all", "--permutations", "499")
back = compare("dx-2", "dx-1", "--metric", "all", "--permutations", "499")
for m, d in there["pairs"][0]["metrics"].items():
    e = back["pairs"][0]["metrics"][m]
    check(f"{m}: the other way round", [d["difference"], d["low"], d["high"]] == [-e["difference"], -e["high"], -e["low"]]
          and d["swaps"] == e["swaps"] and d["t_test"]["p"] == e["t_test"]["p"]
          and (d["t_test"]["t"] is None or near(d["t_test"]["t"], -e["t_test"]["t"])), (d, e))
check("DeLong the other way round", near(difference(there)["delong"]["z"], -difference(back)["delong"]["z"]) and difference(there)["delong"]["p"] == difference(back)["delong"]["p"])
check("options side by side", {o["option"]: o["values"] for o in there["differing_options"]} == {"loss": ["logistic", "squared-hinge"], "ridge": ["0", "20"]}, there["differing_options"])
check("threads change nothing", {**json.loads(run("compare", "dx-1", "dx-2", "--metric", "all", "--permutations", "499", "--json", "--bootstraps", "200", "--nthreads", "2", "-q")[0]), "seconds": 0} == {**there, "seconds": 0})
check("another seed, other draws", difference(compare("dx-1", "dx-2", "--seed", "2"))["low"] != difference(there)["low"])


def edit(source, target, change):
    """A copy whose predictions.tsv was changed as a table."""
    shutil.copytree(source, target, dirs_exist_ok=True)
    t = table(open(f"{source}/predictions.tsv"))
    change(t)
    write(f"{target}/predictions.tsv", t)


def shuffled(t):
    order = rng.permutation(len(t["repeat"]))
    for k in t:
        t[k] = [t[k][j] for j in order]


def renamed(t):
    t["fold"] = ["fold " + "edcba"[int(f) - 1] for f in t["fold"]]


def scaled(t):
    t["score_yes"] = [repr(8 * float(s)) for s in t["score_yes"]]


plain = compare("dx-1", "dx-2", "--permutations", "999")
for what, change in (("rows in another order", shuffled), ("folds with other names", renamed), ("scores in another unit", scaled)):
    edit("dx-2", "edited", change)
    said = compare("dx-1", "edited", "--permutations", "999")
    check(f"{what} change nothing", said["pairs"][0]["metrics"]["auc"] == json.loads(json.dumps(difference(plain)).replace("dx-2", "edited")), (difference(said), difference(plain)))

# the cohort in another order, of other features: the subjects are what counts
order = rng.permutation(N)
write("other.tsv", {"participant_id": [ids[k] for k in order], "dx": dx[order]})
write("other-x.tsv", {"participant_id": [ids[k] for k in order], "g0": X[order, 0], "g1": X[order, 1]})
run("cohort", "--feature-table", "other-x.tsv", "--participants", "other.tsv", "-q", "-o", "other")
cv("other-1", "dx", "--folds-from", "dx-1/folds.tsv", cohort="other")
said = compare("dx-1", "other-1", "--permutations", "99")
check("another cohort of the same people", {o["option"] for o in said["differing_options"]} >= {"cohort", "features"}, said["differing_options"])
check("its value", said["models"][1]["metrics"]["auc"]["value"] == json.load(open("other-1/cv.json"))["outer"]["auc"]["pooled"])

# subjects that one of them kept together are drawn and swapped together
cv("site-1", "dx", "--folds-from", "site")
cv("site-2", "dx", "--folds-from", "site-1/folds.tsv", "--ridge", "20")
said = compare("site-1", "site-2")
check("groups of any are groups of all", said["groups"] == 4 and said["all_swaps"] and said["swaps"] == 7, said["groups"])


# ---- Computed again ---------------------------------------------------------------------------------------
def read(out):
    """truth, and folds and scores of repeats x n, by id."""
    t = table(open(f"{out}/predictions.tsv"))
    who = sorted(set(t["participant_id"]))
    place = {s: k for k, s in enumerate(who)}
    R = len(t["repeat"]) // len(who)
    truth, fold, s, p = np.zeros(len(who)), np.zeros((R, len(who)), int), np.zeros((R, len(who))), np.zeros((R, len(who)))
    for j, name in enumerate(t["participant_id"]):
        r, i = int(t["repeat"][j]) - 1, place[name]
        truth[i], fold[r, i] = t["truth"][j] == "yes", int(t["fold"][j])
        s[r, i], p[r, i] = float(t["score_yes"][j]), float(t["p_yes"][j])
    return who, truth, fold, s, p


def delong(truth, fold, a, b, people):
    """Value and variance of the difference; all pairs, one by one."""
    R, sums, value = len(fold), dict.fromkeys(people, 0.0), 0
    for r in range(R):
        each = [np.flatnonzero(fold[r] == f) for f in sorted(set(fold[r]))]
        total = sum((truth[at] == 1).sum() * (truth[at] == 0).sum() for at in each)
        for at in each:
            pos, neg = [i for i in at if truth[i]], [i for i in at if not truth[i]]
            psi = np.array([[above(a[r, i], a[r, j]) - above(b[r, i], b[r, j]) for j in neg] for i in pos])
            weight = len(pos) * len(neg) / total
            value += weight * psi.mean() / R
            for some, D in ((pos, psi.mean(1)), (neg, psi.mean(0))):
                k = len({people[i] for i in some})
                for i, v in zip(some, D):
                    sums[people[i]] += weight / R * (v - psi.mean()) / len(some) * np.sqrt(k / (k - 1))
    return value, sum(v * v for v in sums.values())


for one, other in (("dx-1", "dx-2"), ("scans-1", "scans-2"), ("dx-1", "other-1")):
    who, truth, fold, a, _ = read(one)
    b = read(other)[3]
    d = difference(compare(one, other, "--permutations", "99"))
    value, variance = delong(truth, fold, a, b, [w.split("_")[0] for w in who])
    check(f"{one} and {other}: DeLong", near([d["difference"], d["delong"]["standard_error"], d["delong"]["z"]],
          [value, np.sqrt(variance), value / np.sqrt(variance)]) and near(d["delong"]["p"], 2 * stats.norm.sf(abs(d["delong"]["z"]))), (d, value, variance))
# one repeat of single subjects: DeLong's own variance, fold by fold
cv("flat-1", "dx")
cv("flat-2", "dx", "--ridge", "20")
who, truth, fold, a, _ = read("flat-1")
b, variance, total = read("flat-2")[3], 0, 0
for f in set(fold[0]):
    pos, neg = (np.flatnonzero((fold[0] == f) & (truth == v)) for v in (1, 0))
    psi = np.array([[[above(s[0, i], s[0, j]) for j in neg] for i in pos] for s in (a, b)])
    S10, S01 = np.cov(psi.mean(2)), np.cov(psi.mean(1))
    L = np.array([1, -1])
    variance += (len(pos) * len(neg)) ** 2 * (L @ S10 @ L / len(pos) + L @ S01 @ L / len(neg))
    total += len(pos) * len(neg)
check("DeLong's variance", near(difference(compare("flat-1", "flat-2"))["delong"]["standard_error"], np.sqrt(variance) / total))

cv("small-1", "dx", "--folds", "20", "--inner-folds", "0", "--lambda-ratio", "0.5")
cv("small-2", "dx", "--folds", "20", "--inner-folds", "0", "--lambda-ratio", "0.2")
d = difference(compare("small-1", "small-2", "--permutations", "99"))
check("one person of a class in a fold", d["delong"]["undefined"] == "a fold has one person of a class" and d["delong"]["p"] is None and d["swaps"]["p"] > 0, d)

cv("uneven-1", "score", "--folds-from", "uneven")
cv("uneven-2", "score", "--folds-from", "uneven", "--ridge", "20")
for kind, metric in (("uneven", "mae"), ("score", "r"), ("score", "mae"), ("dx", "auc"), ("dx", "balanced_accuracy"), ("dx", "brier"), ("three", "auc")):
    d = difference(compare(f"{kind}-1", f"{kind}-2", "--metric", metric, "--permutations", "99"), metric)["t_test"]
    folds = [json.load(open(f"{kind}-{k}/cv.json")) for k in (1, 2)]
    x = np.subtract(*(np.array(f["outer"][metric]["per_fold"], float) for f in folds))
    x = x[~np.isnan(x)]
    ratio = np.mean([f["test"] / f["training"] for f in folds[0]["each_fold"]])
    check(f"{kind}: folds of one size or not", (kind == "uneven") == (ratio > 1.3 * sum(f["test"] for f in folds[0]["each_fold"]) / sum(f["training"] for f in folds[0]["each_fold"])), ratio)
    error = np.sqrt((1 / len(x) + ratio) * x.var(ddof=1))
    reach = stats.t.ppf(0.975, len(x) - 1) * error
    check(f"{kind}, {metric}: t", d["folds"] == len(x) and near([d["mean"], d["t"], d["p"], d["low"], d["high"]],
          [x.mean(), x.mean() / error, 2 * stats.t.sf(abs(x.mean() / error), len(x) - 1), x.mean() - reach, x.mean() + reach], 1e-7), (d, x.mean() / error))
check("no t of ratios", "undefined" in difference(there, "f1")["t_test"] and difference(there, "f1")["t_test"]["p"] is None)

three_models = compare("dx-1", "dx-2", "other-1", "--metric", "all", "--permutations", "199")
for test in ("swaps", "t_test", "delong"):
    got = [d[test] for pair in three_models["pairs"] for d in pair["metrics"].values() if test in d and d[test]["p"] is not None]
    p = np.array([g["p"] for g in got])
    rank = np.argsort(p, kind="stable")
    holm = np.empty(len(p))
    holm[rank] = np.minimum(1, np.maximum.accumulate(p[rank] * (len(p) - np.arange(len(p)))))
    check(f"Holm over {len(p)} of {test}", near(holm, [g["p_holm"] for g in got]))

# every swap of few people, one by one: of accuracy, which is a sum
swaps = difference(compare("site-1", "site-2", "--metric", "accuracy"), "accuracy")["swaps"]
t1, t2 = (table(open(f"site-{k}/predictions.tsv")) for k in (1, 2))
gain = {f: 0 for f in "pqrt"}
for j, f in enumerate(t1["fold"]):
    gain[f] += (t1["predicted"][j] == t1["truth"][j]) - (t2["predicted"][j] == t2["truth"][j])
sums = [abs(sum(s * g for s, g in zip(signs, gain.values()))) for signs in itertools.product((1, -1), repeat=4)]
check("all swaps", near(swaps["p"], np.mean([s >= abs(sum(gain.values())) for s in sums])), (swaps, gain))


# ---- No difference: how often one is found ----------------------------------------------------------------
template, flat = json.load(open("flat-1/cv.json")), read("flat-1")
truth, fold = flat[1], flat[2]


def draw(out, s):
    fabricate(out, template, truth, fold, s[None])


# a fold whose calibration has no slope: the unit of its scores, which says nothing, is of no account
mine, theirs = (1.5 * (2 * truth - 1) + 2 * rng.normal(size=N) for _ in range(2))
odds, first = np.where(fold[0] == fold[0][0], -0.5, theirs), fold[0] == fold[0][0]
draw("null-1", mine)
swapped = []
for unit in (1, 1024):
    scores = np.where(first, unit * theirs, theirs)
    fabricate("null-2", template, truth, fold, scores[None], odds[None])
    swapped.append(difference(compare("null-1", "null-2", "--permutations", "999")))
check("a slope of 0 in a fold", swapped[0]["difference"] == swapped[1]["difference"] and swapped[0]["swaps"] == swapped[1]["swaps"], swapped)

RUNS = 200
found = {"auc": 0, "accuracy": 0, "brier": 0}
area = delongs = 0
for k in range(RUNS):
    common = 0.8 * (2 * truth - 1) + rng.normal(size=N)
    for out in ("null-1", "null-2"):
        draw(out, common + rng.normal(size=N))
    said = compare("null-1", "null-2", "--metric", "all", "--permutations", "99")
    for m in found:
        found[m] += difference(said, m)["swaps"]["p"] <= 0.05
    delongs += difference(said)["delong"]["p"] <= 0.05
most = stats.binom.ppf(0.9999, RUNS, 0.05)
check(f"where nothing differs at most 5 % are found: {found} of {RUNS}", all(v <= most for v in found.values()))
check("and not much fewer by a continuous metric", found["brier"] >= stats.binom.ppf(0.0001, RUNS, 0.05), found)
check(f"nor does DeLong's test find more than it should: {delongs} of {RUNS}", delongs <= stats.binom.ppf(0.9999, RUNS, 0.07))
# and where one of them is noise, it is found
draw("null-1", 1.2 * (2 * truth - 1) + rng.normal(size=N))
draw("null-2", rng.normal(size=N))
said = compare("null-1", "null-2")
check("other training samples are named", "; t test over folds: p = " in difference(said)["conclusion"], difference(said)["conclusion"])
check("a difference is found", difference(said)["swaps"]["p"] < 0.01 and difference(said)["delong"]["p"] < 0.01 and difference(said)["low"] > 0
      and difference(said)["conclusion"].startswith("null-1 predicts better than null-2 by 0."), difference(said))
said = compare("null-2", "null-1", "--metric", "brier")
check("and by an error, which is better where it is less", difference(said, "brier")["difference"] > 0 and difference(said, "brier")["conclusion"].startswith("null-1 predicts better than null-2 by 0."), said["pairs"])

# swaps and bootstrap draws may disagree near the level: the sentence says so where they do, and nowhere else
weak = unsures = 0
for k in range(80):
    common = 0.8 * (2 * truth - 1) + rng.normal(size=N)
    draw("null-1", common + 0.7 * (2 * truth - 1) + rng.normal(size=N))
    draw("null-2", common + rng.normal(size=N))
    d = difference(compare("null-1", "null-2", "--permutations", "999"))
    disagrees = " predicts better than " in d["conclusion"] and d["low"] <= 0 <= d["high"]
    check("weak evidence is called weak", (" But the interval includes 0: the evidence is weak." in d["conclusion"]) == disagrees, d)
    unsure = " predicts better than " in d["conclusion"] and not d["t_test"]["p"] < 0.05
    check("models are not taken for methods", d["conclusion"].endswith(" on another sample is not shown.") == unsure, d)
    unsures += unsure
    weak += disagrees
check("both were seen", 0 < weak < 80 and 0 < unsures < 80, (weak, unsures))

# ---- The page --------------------------------------------------------------------------------------------
three_models = json.loads(run("compare", "dx-1", "dx-2", "other-1", "--metric", "all", "--permutations", "99", "--json", "--bootstraps", "200", "-q", "-o", "shown")[0])
run("report", "shown", "-o", "shown.html")
page = open("shown.html").read()
body = re.split("<h2>", page)
body = {b.split("</h2>")[0]: b for b in body[1:]}
check("its parts", list(body) == ["Differences", "Models", "Methods paragraph", "Provenance"], list(body))
v = lambda x: f"{x:#.3g}".rstrip(".") if x else "0.00"
for pair in three_models["pairs"]:
    d = pair["metrics"]["auc"]
    row = f"{pair['first']} &minus; {pair['second']}</td><td><b>{v(d['difference'])}</b></td><td>{v(d['low'])} to {v(d['high'])}</td><td>{v(d['swaps']['p'])} <small>({v(d['swaps']['p_holm'])})"
    check(f"the row of {pair['first']} and {pair['second']}", row in body["Differences"], row)
    check("its conclusion", html.escape(d["conclusion"], quote=True).replace("&#x27;", "&#39;") in page, d["conclusion"])
figures = re.findall("<svg.*?</svg>", page, re.S)
check("a figure for each metric, with a row for each pair", len(figures) == 14 and all(f.count("<circle") == 3 and f.count('class="dash"') == 1 for f in figures), len(figures))
for f, m in zip(figures, three_models["pairs"][0]["metrics"]):
    ET.fromstring(f)
    x = [float(c) for c in re.findall('circle cx="([-0-9.]+)"', f)]
    lines = [tuple(map(float, line)) for line in re.findall('d="M([-0-9.]+) [-0-9.]+H([-0-9.]+)" stroke', f)]
    zero = float(re.search('d="M([-0-9.]+) [-0-9.]+V[-0-9.]+" class="dash"', f)[1])
    each = [p["metrics"][m] for p in three_models["pairs"]]
    scale = max((abs(d["high"] - d["low"]), abs(line[1] - line[0])) for d, line in zip(each, lines))
    to = lambda value: zero + value * scale[1] / scale[0]
    check(f"{m}: drawn where they are", all(abs(c - to(d["difference"])) < 1 and abs(line[0] - to(d["low"])) < 1 and abs(line[1] - to(d["high"])) < 1 for c, line, d in zip(x, lines, each)), (x, lines, each))
check("options", all(w in body["Models"] for w in ("<th>ridge</th><td>0</td><td>20</td><td>0</td>", "<th>loss</th>", "<th>cohort</th>")), body["Models"])

said = compare("dx-1", "copy")
check("no evidence", difference(said)["conclusion"].startswith("There is no evidence that dx-1 or copy predicts better: the difference in AUC of "), said["pairs"])
finish()
