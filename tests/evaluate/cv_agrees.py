"""Nested cross-validation against numpy and against fits on the training subjects alone: whatever is in the
directory of `voxsift cv` must follow from folds.tsv and the data. Runs in an empty directory."""
import itertools
import json
import os

import numpy as np
from oracle import check, finish, near, run, table, write

rng = np.random.default_rng(43)
N, P = 60, 80
ids = [f"sub-{k:02}" for k in range(N)]
X = rng.normal(size=(N, P)).astype("f4")
X[:, 3] = 2.5  # constant
age, site = rng.uniform(20, 60, N).round(1), rng.choice(["a", "b", "c"], N)
score = X[:, :4].astype(float) @ [2, -1, 1, 0] + 0.05 * age + rng.normal(size=N)
dx = np.where(X[:, 0] + X[:, 5] + 0.8 * rng.normal(size=N) > 0.7, "yes", "no")
kind = np.array(["x", "y", "z"])[(X[:, 1] > 0.4).astype(int) + (X[:, 2] + 0.3 * rng.normal(size=N) > 0.3)]
family = rng.integers(0, 25, N)
write("x.tsv", {"participant_id": ids, **{f"f{j}": X[:, j] for j in range(P)}})
people = {"participant_id": ids, "age": age, "site": site, "score": score, "dx": dx, "kind": kind, "family": family, "times": 1 + np.arange(N) % 3}
write("people.tsv", people)
run("cohort", "--feature-table", "x.tsv", "--participants", "people.tsv", "-q", "-o", "c")
X = np.load("c/features.npy").T.astype(float)


def cv(target, *words):
    out, err = run("cv", "c", "--target", target, *words, "-o", "cv", "--force", "--json", "-q")
    said = json.loads(out)
    warned = said.pop("warnings")
    check(target + " has the warnings of cv.json", set(json.load(open("cv/cv.json"))["warnings"]) <= set(warned))
    check(target + " as in cv.json", {k: v for k, v in json.load(open("cv/cv.json")).items() if k in said}
          == {k: v for k, v in said.items() if k != "output"})
    return said, table(open("cv/predictions.tsv")), table(open("cv/folds.tsv"))


def train_on(rows, target, lam, *words):
    """Scores of all subjects by a fit on some of them."""
    os.makedirs("part", exist_ok=True)
    for f in ("features.npy", "cohort.json", "features.tsv"):
        if not os.path.exists("part/" + f):
            os.symlink("../c/" + f, "part/" + f)
    write("part/participants.tsv", {**people, "use": np.where(rows, "yes", "no")})
    run("fit", "part", "--target", target, "--only", "use=yes", "--lambda", repr(lam), *words, "-o", "m", "--force", "-q")
    about = json.load(open("m/model.json"))
    t, scores = table(open("m/weights.tsv")), []
    for k, o in enumerate(about["outputs"]):
        column = "weight" if len(about["outputs"]) == 1 else "weight_" + o["name"]
        w = np.zeros(P)
        w[[int(i) for i in t["index"]]] = [float(v) for v in t[column]]
        free = {"intercept": np.ones(N), "age": age, **{f"site={s}": (site == s).astype(float) for s in "abc"}}
        scores.append(X @ w + sum(b * free[name] for b, name in zip(o["unpenalized_weights"], about["unpenalized"])))
        if k == 0:
            train_on.weights = w
    return np.array(scores), about["outputs"]


def auc(y, s):
    return np.mean([(a > b) + 0.5 * (a == b) for a in s[y] for b in s[~y]])


def counts(y, said):
    """Of predicted classes: what there is over all subjects."""
    tp, fp, fn, tn = (y & said).sum(), (~y & said).sum(), (y & ~said).sum(), (~y & ~said).sum()
    return {"ppv": tp / (tp + fp), "npv": tn / (tn + fn), "f1": 2 * tp / (2 * tp + fp + fn), "f2": 5 * tp / (5 * tp + 4 * fn + fp),
            "mcc": np.corrcoef(y, said)[0, 1]}


def average_precision(y, s):
    return np.mean([y[s >= v].mean() for v in s[y]])


def breakeven(y, s):
    return y[np.argsort(-s)[:y.sum()]].mean()


def newton(A, y, u=None):
    """Logistic regression, y in {0, 1}."""
    b, u = np.zeros(A.shape[1]), np.ones(len(y)) if u is None else u
    for _ in range(60):
        p = 1 / (1 + np.exp(-A @ b))
        b = b + np.linalg.lstsq((A.T * (u * p * (1 - p))) @ A, A.T @ (u * (y - p)), rcond=None)[0]
    return b


def dense_fit(train, test, A, y, lam, classes, u):
    """A weight for every feature with an l2 penalty, none for the columns of A: ridge, or logistic regression (y in {-1, 1})."""
    D = X - X[train].mean(0)
    D = D / ((D[train] ** 2).sum() / train.sum()) ** 0.5
    M = np.column_stack([D, A])
    penalty, b = lam * np.diag([1.0] * P + [0.0] * A.shape[1]), np.zeros(P + A.shape[1])
    for _ in range(60 if classes else 1):
        s = M[train] @ b
        p = 1 / (1 + np.exp(y[train] * s))
        g, h = (-y[train] * p, p * (1 - p)) if classes else (s - y[train], 1)
        b = b - np.linalg.lstsq((M[train].T * (h * u[train])) @ M[train] + penalty, M[train].T @ (u[train] * g) + penalty @ b, rcond=None)[0]
    return (M @ b)[test]


def dense_baseline(y, A, fold, inner, classes=False):
    """Scores of held-out subjects; lambda from the inner folds. Classes are balanced."""
    def weights(rows):
        half = [(rows & side).sum() for side in (y > 0, y <= 0)]
        return np.where(y > 0, *(rows.sum() / 2 / np.array(half))) if classes else np.ones(N)

    scores, lambdas = np.zeros(N), np.geomspace(1e4, 1e-2, 13)
    for k in set(fold):
        part = {i: int(g) for i, r, g in zip(inner["participant_id"], inner["fold"], inner["inner_fold"]) if int(r) == k}
        part = np.array([part.get(i, 0) for i in ids])
        losses = np.zeros(13)
        for g in set(part) - {0}:
            learn, test = (part > 0) & (part != g), part == g
            for q, lam in enumerate(lambdas):
                s, u = dense_fit(learn, test, A, y, lam, classes, weights(learn)), weights(part > 0)[test]
                losses[q] += (u * (np.logaddexp(0, -y[test] * s) if classes else (y[test] - s) ** 2)).sum() / u.sum()
        scores[fold == k] = dense_fit(fold != k, fold == k, A, y, lambdas[losses.argmin()], classes, weights(fold != k))
    return scores


# ---- Scores: predictions, choice of lambda, baselines, weights, pattern --------------------------------
words = ["--confounds", "age,site", "--nlambda", "8", "--folds", "4", "--inner-folds", "3"]
said, p, folds = cv("score", *words)
fold, truth, predicted = np.array(folds["fold"], int), np.array(p["truth"], float), np.array(p["predicted"], float)
check("truth", near(truth, score) and p["participant_id"] == ids and p["fold"] == folds["fold"])
check("folds are even", np.ptp(np.bincount(fold)[1:]) <= 1)
rank = np.argsort(np.argsort(score)) * 10 // N
check("and so are quantiles", all(np.ptp(np.bincount(fold[rank == q], minlength=5)[1:]) <= 1 for q in range(10)))
inner, ratios = table(open("cv/inner_folds.tsv")), 0.01 ** (np.arange(8) / 7)
mean, square, pattern = np.zeros(P), np.zeros((4, P)), np.zeros(P)
for k, f in enumerate(said["each_fold"]):
    train = fold != f["fold"]
    scores, outputs = train_on(train, "score", f["lambda"][0], "--confounds", "age,site")
    check(f"fold {k + 1} is predicted by the others", near(predicted[~train], scores[0, ~train], 1e-5))
    check("sizes", (f["training"], f["test"], f["nonzero"]) == (train.sum(), (~train).sum(), [outputs[0]["nonzero"]]))
    check("lambda", near(f["lambda"][0], f["lambda_ratio"] * outputs[0]["lambda_max"]))
    square[k] = train_on.weights
    s = X[train] @ train_on.weights
    pattern += (X[train] - X[train].mean(0)).T @ (s - s.mean()) / ((s - s.mean()) ** 2).sum() / 4
    part = {i: int(g) for i, r, g in zip(inner["participant_id"], inner["fold"], inner["inner_fold"]) if int(r) == f["fold"]}
    check("inner folds are of the training subjects", set(part) == set(np.array(ids)[train]))
    part = np.array([part.get(i, 0) for i in ids])
    losses, sizes, held = np.zeros((3, 8)), np.zeros((3, 8)), np.zeros((8, N))
    for g in (1, 2, 3):
        learn = (part > 0) & (part != g)
        most = train_on(learn, "score", 1e6, "--confounds", "age,site")[1][0]["lambda_max"]
        for q, ratio in enumerate(ratios):
            s, outputs = train_on(learn, "score", most * ratio, "--confounds", "age,site")
            s, sizes[g - 1, q] = s[0], outputs[0]["nonzero"]
            losses[g - 1, q] = ((score - s)[part == g] ** 2).mean() / 2
            held[q, part == g] = s[part == g]
    best = losses.mean(0).argmin()
    told = json.load(open("cv/cv.json"))
    loss, size = told["inner_losses"][k], told["inner_features"][k]
    known = next((q for q, v in enumerate(loss) if v is None), len(loss))  # paths end where the loss has risen
    check("inner losses and sizes are told", near(told["lambda_ratios"], ratios) and near(loss[:known], losses.mean(0)[:known], 1e-5)
          and near(size[:known], sizes.mean(0)[:known]), (size, sizes.mean(0)))
    check("as far as paths went", loss[known:] == size[known:] == [None] * (len(loss) - known))
    check("paths end past the least loss", known == len(loss) or (losses.mean(0)[known - 1] > losses.mean(0).min() and known - 1 > best),
          (known, losses.mean(0)))
    check("the lambda with the least inner loss", near(f["lambda_ratio"], ratios[best]), (f["lambda_ratio"], losses.mean(0)))
    check("inner scores", near(said["inner"]["mae"]["per_fold"][k], abs(score - held[best])[train].mean(), 1e-5))


def deviations(v, fold):
    return v - np.array([v[fold == k].mean() for k in fold])


want = {"mae": lambda y, s: abs(y - s).mean(), "rmse": lambda y, s: ((y - s) ** 2).mean() ** 0.5,
        "r": lambda y, s: np.corrcoef(y, s)[0, 1], "r2": lambda y, s: 1 - ((y - s) ** 2).sum() / ((y - y.mean()) ** 2).sum()}
for name, f in want.items():
    each = [f(score[fold == k], predicted[fold == k]) for k in (1, 2, 3, 4)]
    got = said["outer"][name]
    check(name, near(got["per_fold"], each), (got, each))
    check(name + " over folds: no mean of ratios", "mean" not in got if name == "r2" else
          near([got["mean"], got["sd"]], [np.mean(each), np.std(each, ddof=1)]), (got, each))
    all_ = f(deviations(score, fold), deviations(predicted, fold)) if name == "r" else f(score, predicted)
    check(name + " of all", near(got["pooled"], all_) and got["low"] < got["pooled"] < got["high"], (got, all_))
C = np.column_stack([np.ones(N), np.ones(N), age, site == "b", site == "c"]).astype(float)
for name, A in (("constant", C[:, :1]), ("covariates", C), ("global_signal", np.column_stack([C, X.sum(1)])), ("dense", None)):
    simple = np.zeros(N) if name != "dense" else dense_baseline(score, C[:, 1:], fold, inner)
    for k in (1, 2, 3, 4):
        if name == "dense":
            break
        b = np.linalg.lstsq(A[fold != k], score[fold != k], rcond=None)[0]
        simple[fold == k] = (A @ b)[fold == k]
    d = deviations(simple, fold)
    r = 0 if name == "constant" else want["r"](deviations(score, fold), d)
    check("baseline " + name, near([said["baseline"][name]["mae"], said["baseline"][name]["r"]], [abs(score - simple).mean(), r],
                                   1e-5 if name == "dense" else 1e-6),
          (said["baseline"][name], abs(score - simple).mean(), r))
    for m, ahead in said["difference"][name].items():
        check("difference to " + name, near(ahead["value"], said["outer"][m]["pooled"] - said["baseline"][name][m])
              and ahead["low"] <= ahead["value"] <= ahead["high"], (m, ahead))
lines = {tuple(row[:2]): row[4] for row in (line.split("\t") for line in open("cv/scores.tsv"))}
check("scores.tsv agrees with cv.json", all(near(float(lines[of, m]), v) for of, m, v in
      [("outer", m, v["pooled"]) for m, v in said["outer"].items()] + [(b, m, v) for b in said["baseline"] for m, v in said["baseline"][b].items()]
      + [("outer_minus_" + b, m, v["value"]) for b in said["difference"] for m, v in said["difference"][b].items()]))
t, any_ = table(open("cv/weights.tsv")), np.flatnonzero((square != 0).any(0))
check("weights of features that some fold selected", [int(i) for i in t["index"]] == list(any_))
for name, v in (("mean", square.mean(0)), ("sd", square.std(0, ddof=1)), ("selected", (square != 0).mean(0)), ("pattern", pattern)):
    check(name, near(np.array(t[name], float), v[any_], 1e-4), (t[name], v[any_]))

# ---- Subject weights: a subject of weight 2 counts twice in the pattern, covariates are no part of it ----
said, p, folds = cv("score", "--subject-weights", "times", "--confounds", "age", "--folds", "3", "--inner-folds", "0", "--lambda-ratio", "0.2")
pattern = np.zeros(P)
for f in said["each_fold"]:
    train = np.array(folds["fold"], int) != f["fold"]
    train_on(train, "score", f["lambda"][0], "--subject-weights", "times", "--confounds", "age")
    rows = np.repeat(np.flatnonzero(train), people["times"][train])
    s = X[rows] @ train_on.weights
    pattern += (X[rows] - X[rows].mean(0)).T @ (s - s.mean()) / ((s - s.mean()) ** 2).sum() / 3
t = table(open("cv/weights.tsv"))
check("pattern of weighted subjects", near(np.array(t["pattern"], float), pattern[[int(i) for i in t["index"]]], 1e-4))
cv("score", *words)

# ---- Folds: written, read, given; threads; groups ------------------------------------------------------
before = open("cv/predictions.tsv").read()
os.rename("cv/folds.tsv", "given.tsv")
cv("score", *words, "--folds-from", "given.tsv", "--nthreads", "1")
check("folds that were written are read, threads change nothing", open("cv/predictions.tsv").read() == before)
cv("score", *words, "--seed", "2")
check("another seed, other folds", open("cv/folds.tsv").read() != open("given.tsv").read())
said, p, folds = cv("score", "--folds-from", "site", "--nlambda", "5")
inner = table(open("cv/inner_folds.tsv"))
where = {}
for i, f, g in zip(*(inner[k] for k in ("participant_id", "fold", "inner_fold"))):
    where.setdefault((site[ids.index(i)], f), set()).add(g)
check("a site is not split inside either", said["inner_folds"] == 2 and all(len(v) == 1 for v in where.values()))
check("a fold a site", folds["fold"] == list(site) and [f["fold"] for f in said["each_fold"]] == ["a", "b", "c"])
# a site as covariate that nobody was trained on: the average of the sites that were
out, err = run("cv", "c", "--target", "score", "--confounds", "age,site", "--folds-from", "site", "--inner-folds", "0", "--lambda-ratio", "0.2", "-o", "cv", "--force")
said, predicted = json.load(open("cv/cv.json")), np.array(table(open("cv/predictions.tsv"))["predicted"], float)
for k, f in enumerate(said["each_fold"]):
    train = site != f["fold"]
    _, outputs = train_on(train, "score", f["lambda"][0], "--confounds", "age,site")
    about = json.load(open("m/model.json"))
    b = dict(zip(about["unpenalized"], outputs[0]["unpenalized_weights"]))
    average = sum(b.get("site=" + s, 0) * (site[train] == s).mean() for s in "abc")
    check("the average of the sites", near(predicted[~train], (X @ train_on.weights + b["intercept"] + b["age"] * age + average)[~train], 1e-5))
    who = [i for i, s in zip(ids, site) if s == f["fold"]]
    check("said for whom", said["unseen_levels"][k] == {"covariate": "site", "level": f["fold"], "predicted_with": "mean of the training subjects' levels",
          "subjects": who} and f"no training subject has '{f['fold']}' in 'site': {len(who)} subjects" in err, (said["unseen_levels"], err))
check("confounds alone know no site", abs(said["baseline"]["covariates"]["r"]) < 1)
run("report", "cv", "-o", "unseen.html")
check("on the page", "site = a (" in open("unseen.html").read() and "mean effect of the training" in open("unseen.html").read())
said, p, folds = cv("score", "--group", "family", "--repeats", "3", "--nlambda", "5", "--folds", "3")
for r in "123":
    where = {}
    for i, q, f in zip(folds["participant_id"], folds["repeat"], folds["fold"]):
        if q == r:
            where.setdefault(family[ids.index(i)], set()).add(f)
    check("groups stay together", all(len(v) == 1 for v in where.values()))
check("repeats differ", len({tuple(f for q, f in zip(folds["repeat"], folds["fold"]) if q == r) for r in "123"}) == 3)
inner = table(open("cv/inner_folds.tsv"))
where = {}
for i, r, f, g in zip(*(inner[k] for k in ("participant_id", "repeat", "fold", "inner_fold"))):
    where.setdefault((family[ids.index(i)], r, f), set()).add(g)
check("in inner folds too", all(len(v) == 1 for v in where.values()))

# ---- Classes: weights, calibration, metrics --------------------------------------------------------------
said, p, folds = cv("dx", "--nlambda", "6", "--folds", "3", "--class-weights", "balanced")
fold, y = np.array(folds["fold"], int), dx == "yes"
check("classes", said["positive"] == ("yes" if 2 * y.sum() < N else "no") and said["classes"] == {"no": int((~y).sum()), "yes": int(y.sum())} and said["class_weights"] == "balanced")
check("folds have both", all(np.ptp(np.bincount(fold[v], minlength=4)[1:]) <= 1 for v in (y, ~y)))
s, q = np.array(p["score_yes"], float), np.array(p["p_yes"], float)
inner = table(open("cv/inner_folds.tsv"))
kept_back = []
for k, f in enumerate(said["each_fold"]):
    train = fold != f["fold"]
    scores, outputs = train_on(train, "dx", f["lambda"][0], "--class-weights", "balanced")
    check("kept back", near(s[~train], scores[0, ~train], 1e-4), abs(s - scores[0])[~train].max())
    part = {i: int(g) for i, r, g in zip(inner["participant_id"], inner["fold"], inner["inner_fold"]) if int(r) == f["fold"]}
    part, held = np.array([part.get(i, 0) for i in ids]), np.zeros(N)
    for g in range(1, 6):
        learn = (part > 0) & (part != g)
        most = train_on(learn, "dx", 1e6, "--class-weights", "balanced")[1][0]["lambda_max"]
        held[part == g] = train_on(learn, "dx", most * f["lambda_ratio"], "--class-weights", "balanced")[0][0][part == g]
    kept_back.append((train, held))
    b = newton(np.column_stack([np.ones(N), held])[train], y[train].astype(float))
    check("calibrated on inner scores", near(q[~train], 1 / (1 + np.exp(-(b[0] + b[1] * s[~train]))), 1e-3), abs(q[~train] - 1 / (1 + np.exp(-(b[0] + b[1] * s[~train])))).max())
for k in (1, 2, 3):
    at, got = fold == k, {m: v["per_fold"][k - 1] for m, v in said["outer"].items()}
    hit = (s > 0) == y
    sens, spec = hit[at & y].mean(), hit[at & ~y].mean()
    want = {"sensitivity": sens, "specificity": spec, "balanced_accuracy": (sens + spec) / 2, "accuracy": hit[at].mean(),
            "auc": auc(y[at], s[at]), "brier": ((q - y)[at] ** 2).mean(), **counts(y[at], s[at] > 0),
            "average_precision": average_precision(y[at], s[at]), "breakeven": breakeven(y[at], s[at])}
    logit = np.log(q / (1 - q))
    want["calibration_slope"] = newton(np.column_stack([np.ones(N), logit])[at], y[at].astype(float))[1]
    check("metrics of classes", near(list(got.values()), [want[m] for m in got], 1e-6), (got, want))
sides = [((fold == k) & y, (fold == k) & ~y) for k in (1, 2, 3)]
pairs = np.array([a.sum() * b.sum() for a, b in sides], float)
sens, spec = [np.array([hit[side[j]].mean() for side in sides]) @ pairs / pairs.sum() for j in (0, 1)]
area = np.mean([(i > j) + 0.5 * (i == j) for a, b in sides for i in s[a] for j in s[b]])
got = {m: v["pooled"] for m, v in said["outer"].items()}
check("of all: pairs within folds", near([got[m] for m in ("sensitivity", "specificity", "balanced_accuracy", "auc", "accuracy", "brier")],
      [sens, spec, (sens + spec) / 2, area, hit.mean(), ((q - y) ** 2).mean()], 1e-6), got)
want = counts(y, s > 0)
check("of all: counts", near([got[m] for m in want], list(want.values()), 1e-9), (got, want))
positive = np.array([a.sum() for a, b in sides], float)
want = [np.array([of(y[fold == k], s[fold == k]) for k in (1, 2, 3)]) @ positive / positive.sum() for of in (average_precision, breakeven)]
check("of all: precision within folds", near([got["average_precision"], got["breakeven"]], want, 1e-9), (got, want))
base = {m: v for m, v in said["baseline"]["constant"].items() if m in ("average_precision", "breakeven", "mcc")}
check("a constant is worth the share of the class", near([base["average_precision"], base["breakeven"], base["mcc"]],
      [positive @ [y[fold == k].mean() for k in (1, 2, 3)] / positive.sum()] * 2 + [0]), base)
check("and how many", said["comparison"] == {"subjects_of": "one fold", "biased_downwards": False, "pairs_within_folds": pairs.sum(), "folds_with_pairs": 3, "few_groups": False}, said["comparison"])
check("the commonest class", near(said["baseline"]["constant"]["balanced_accuracy"], 0.5) and near(said["baseline"]["constant"]["auc"], 0.5))
dense = dense_baseline(np.where(y, 1.0, -1.0), np.ones((N, 1)), fold, table(open("cv/inner_folds.tsv")), True)
area = np.mean([(i > j) + 0.5 * (i == j) for a, b in sides for i in dense[a] for j in dense[b]])
check("the dense baseline of classes", near([said["baseline"]["dense"][m] for m in ("brier", "auc", "accuracy")],
      [((1 / (1 + np.exp(-dense)) - y) ** 2).mean(), area, ((dense > 0) == y).mean()], 1e-5), said["baseline"]["dense"])
# A threshold learned from inner scores moves classes alone; a metric that chooses has its own best there
def merit(rule, y, say):
    sens, spec = say[y].mean(), (~say[~y]).mean()
    at = {"f1": 2 * (say & y).sum() / (say.sum() + y.sum()), "balanced": (sens + spec) / 2, "sens": spec if sens >= 0.8 else -1, "spec": sens if spec >= 0.8 else -1}
    return at[rule.split(":")[0]]


for rule in ("f1", "balanced", "sens:0.8", "spec:0.8"):
    moved, at, _ = cv("dx", "--nlambda", "6", "--folds", "3", "--class-weights", "balanced", "--decision", rule)
    for f, (train, held) in zip(moved["each_fold"], kept_back):
        best = max(merit(rule, y[train], held[train] > c) for c in [-1e9, *held[train]])
        got = max(merit(rule, y[train], held[train] > f["threshold"] + e) for e in (0, 1e-3, -1e-3))
        check(f"{rule}: the best threshold of inner scores", near(got, best), (got, best))
    move = np.array([f["threshold"] for f in moved["each_fold"]])[fold - 1]
    check(f"{rule}: scores are from it", near(np.array(at["score_yes"], float), s - move) and at["predicted"] == ["yes" if v > 0 else "no" for v in s - move])
    check(f"{rule}: probabilities stay", at["p_yes"] == p["p_yes"] and all(moved["outer"][m] == said["outer"][m] for m in ("auc", "brier", "calibration_slope", "average_precision")))
for metric in ("auc", "f1", "brier"):
    chosen = cv("dx", "--nlambda", "6", "--folds", "3", "--class-weights", "balanced", "--choose-by", metric)[0]
    about = json.load(open("cv/cv.json"))
    for k, f in enumerate(chosen["each_fold"]):
        losses = about["inner_losses"][k]
        least = min(losses)
        check(f"chosen by {metric}", near(f["lambda_ratio"], about["lambda_ratios"][losses.index(least)]), (f, losses))
        inner_value = chosen["inner"][metric]["per_fold"][k]
        check(f"{metric} of inner scores", near(least, inner_value if metric == "brier" else 1 - inner_value), (least, inner_value))
for words, why in ((["--choose-by", "aucc"], "did you mean 'auc'?"), (["--choose-by", "auc", "--choose-rule", "1se"], "goes with the loss"),
                   (["--decision", "f1", "--inner-folds", "0"], "is learned from held-out subjects"), (["--decision", "best"], "are known")):
    check("refused: " + " ".join(words), why in run("cv", "c", "--target", "dx", *words, "-o", "refused", code=2)[1])

# Subject weights count in the choice of lambda, with classes balanced by them, and in the calibration
words = ["--class-weights", "balanced", "--subject-weights", "times"]
said, p, folds = cv("dx", *words, "--nlambda", "4", "--lambda-ratio", "0.2", "--folds", "3", "--inner-folds", "3")
fold, s, q = np.array(folds["fold"], int), np.array(p["score_yes"], float), np.array(p["p_yes"], float)
inner, times, told = table(open("cv/inner_folds.tsv")), people["times"].astype(float), json.load(open("cv/cv.json"))
for k, f in enumerate(said["each_fold"]):
    train = fold != f["fold"]
    part = {i: int(g) for i, r, g in zip(inner["participant_id"], inner["fold"], inner["inner_fold"]) if int(r) == f["fold"]}
    part, held, losses = np.array([part.get(i, 0) for i in ids]), np.zeros((4, N)), np.zeros((3, 4))
    u = times * np.where(y, 1 / times[train & y].sum(), 1 / times[train & ~y].sum())
    for g in (1, 2, 3):
        learn, test = (part > 0) & (part != g), part == g
        most = train_on(learn, "dx", 1e6, *words)[1][0]["lambda_max"]
        for r, ratio in enumerate(told["lambda_ratios"]):
            held[r] = np.where(test, train_on(learn, "dx", most * ratio, *words)[0][0], held[r])
            losses[g - 1, r] = (u * np.logaddexp(0, np.where(y, -1, 1) * held[r]))[test].sum() / u[test].sum()
    known = sum(v is not None for v in told["inner_losses"][k])
    check("inner losses are weighted", near(told["inner_losses"][k][:known], losses.mean(0)[:known], 1e-4), (told["inner_losses"][k], losses.mean(0)))
    chosen = int(np.argmin(abs(np.array(told["lambda_ratios"]) - f["lambda_ratio"])))
    b = newton(np.column_stack([np.ones(N), held[chosen]])[train], y[train].astype(float), times[train])
    want = 1 / (1 + np.exp(-(b[0] + b[1] * s[~train])))
    check("probabilities are weighted", near(q[~train], want, 1e-3), abs(q[~train] - want).max())
# fit calibrates as cv does: leave-one-out, so that no fold is left to chance
held = np.zeros(N)
for i in range(N):
    learn = np.arange(N) != i
    most = train_on(learn, "dx", 1e6)[1][0]["lambda_max"]
    held[i] = train_on(learn, "dx", 0.3 * most)[0][0][i]
b = newton(np.column_stack([np.ones(N), held]), y.astype(float))
run("fit", "c", "--target", "dx", "--lambda-ratio", "0.3", "--calibrate", str(N), "-o", "m", "--force", "-q")
got = json.load(open("m/model.json"))["outputs"][0]
check("fit calibrates held-out scores", near([got["calibration_offset"], got["calibration_slope"]], b, 1e-3), (got, b))
predicted = table(run("predict", "m", "c", "--training-too", "-q")[0].splitlines())
own = train_on(np.arange(N) >= 0, "dx", got["lambda"])[0][0]
check("and predict uses that", near([float(v) for v in predicted["p_yes"]], 1 / (1 + np.exp(-(b[0] + b[1] * own))), 1e-3))
run("fit", "c", "--target", "dx", "--choose-lambda", "4", "--nlambda", "8", "-o", "m", "--force", "-q")
check("folds that choose lambda calibrate", "calibration_slope" in json.load(open("m/model.json"))["outputs"][0])
run("fit", "c", "--target", "dx", "--lambda-ratio", "0.3", "-o", "m", "--force", "-q")
check("nobody else does", "calibration_slope" not in json.load(open("m/model.json"))["outputs"][0])
site_of = {i: 1 + (k % 3 if k % 4 else "xyz".index(kind[k])) for k, i in enumerate(ids)}
with open("kinds.tsv", "w") as out:
    print("participant_id\tfold", *(f"{i}\t{f}" for i, f in site_of.items()), sep="\n", file=out)
said, p, folds = cv("kind", "--nlambda", "6", "--folds", "3")
total = np.sum([np.array(p["p_" + k], float) for k in "xyz"], 0)
check("probabilities of three classes", near(total, np.ones(N)))
check("no metric of two classes", not {"sensitivity", "specificity", "calibration_slope"} & set(said["outer"]) and "positive" not in said)
best = np.array(["x", "y", "z"])[np.argmax([np.array(p["score_" + k], float) for k in "xyz"], 0)]
check("their predictions", p["predicted"] == list(best) and near(said["outer"]["accuracy"]["pooled"], (best == kind).mean()))

names, fold, scores = np.array(["x", "y", "z"]), np.array(folds["fold"], int), np.array([p["score_" + k] for k in "xyz"], float)
check("confusion matrix", said["confusion"] == {a: {b: int(((kind == a) & (best == b)).sum()) for b in names} for a in names}, said["confusion"])
for k, name in enumerate(names):
    sides, got = [((fold == j) & (kind == name), (fold == j) & (kind != name)) for j in (1, 2, 3)], said["each_class"][name]
    pairs = np.array([a.sum() * b.sum() for a, b in sides], float)
    want = [(kind == name).sum(), np.array([(best == name)[a].mean() for a, b in sides]) @ pairs / pairs.sum(), (kind == name)[best == name].mean(),
            np.mean([(i > j) + 0.5 * (i == j) for a, b in sides for i in scores[k][a] for j in scores[k][b]])]
    check("scores of class " + name, near([got[m] for m in ("subjects", "sensitivity", "ppv", "auc")], want), (got, want))
check("their mean area", near(said["outer"]["auc"]["pooled"], np.mean([c["auc"] for c in said["each_class"].values()])))
def balance(truth, predicted, fold, classes):
    """Of each pair of classes: where the first is said of its own subject, but not of one of the second in the same fold."""
    pairs = [[(predicted[i] == c) - float(predicted[j] == c) for f in set(fold) for i in np.flatnonzero((truth == c) & (fold == f))
              for j in np.flatnonzero((truth == d) & (fold == f))] for c in classes for d in classes if c != d]
    return (1 + (len(classes) - 1) * np.mean([np.mean(v) for v in pairs if v])) / len(classes)
check("their balance", near(said["outer"]["balanced_accuracy"]["pooled"], balance(kind, best, fold, names)), said["outer"]["balanced_accuracy"])
check("a constant is worth 1/3", near(said["baseline"]["constant"]["balanced_accuracy"], 1 / 3))
# Sites with other shares of the classes: the commonest class of the others is the rarer one in each site
said, p, folds = cv("kind", "--nlambda", "6", "--folds-from", "kinds.tsv", "--inner-folds", "0", "--lambda-ratio", "0.3")
fold = np.array([site_of[i] for i in p["participant_id"]])
check("sites differ", len({tuple(np.bincount([list("xyz").index(k) for k in kind[fold == f]], minlength=3)) for f in set(fold)}) == 3)
check("a constant that differs between folds is worth 1/3", near(said["baseline"]["constant"]["balanced_accuracy"], 1 / 3), said["baseline"]["constant"])
check("and a model by the same measure", near(said["outer"]["balanced_accuracy"]["pooled"], balance(kind, np.array(p["predicted"]), fold, names)))

# ---- The positive class: the rarer one, or --positive; the other choice turns signs and names round, and nothing else -----
rarer, other = ("yes", "no") if 2 * y.sum() < N else ("no", "yes")
words = ["--nlambda", "5", "--folds", "3", "--bootstraps", "100", "--confounds", "age"]
runs = {}
for name, extra in (("default", []), (rarer, ["--positive", rarer]), (other, ["--positive", other])):
    said, p, folds = cv("dx", *words, *extra)
    runs[name] = said, p, folds, table(open("cv/weights.tsv"))
said, p, folds, weights = runs["default"]
check("the rarer class is positive", said["positive"] == rarer and list(said["classes"]) == [other, rarer] and "score_" + rarer in p, said["classes"])
check("as when it is named", runs[rarer][1:] == runs["default"][1:])
turned, q, same_folds, others = runs[other]
check("the other class is", turned["positive"] == other and list(turned["classes"]) == [rarer, other], turned["classes"])
check("folds are the same", folds == same_folds)
check("AUC is the same", turned["outer"]["auc"] == said["outer"]["auc"] and turned["difference"]["constant"]["auc"] == said["difference"]["constant"]["auc"])
check("sensitivity and specificity change places", turned["outer"]["sensitivity"] == said["outer"]["specificity"] and
      turned["outer"]["specificity"] == said["outer"]["sensitivity"] and said["outer"]["sensitivity"] != said["outer"]["specificity"])
check("weights and patterns change their sign exactly", weights["index"] == others["index"] and len(weights["index"]) > 2 and
      all(float(a) == -float(b) for k in ("mean", "pattern") for a, b in zip(weights[k], others[k])))
check("and so do scores", all(float(a) == -float(b) for a, b in zip(p["score_" + rarer], q["score_" + other])) and p["predicted"] == q["predicted"])
check("probabilities stay", near([float(v) for v in p["p_yes"]], [float(v) for v in q["p_yes"]]))
for name, positive in (("one", rarer), ("two", other)):
    run("fit", "c", "--target", "dx", "--lambda-ratio", "0.2", "--positive", positive, "-o", name, "-q")
    check("the model says so", json.load(open(name + "/model.json"))["positive"] == positive and json.load(open(name + "/model.json"))["classes"][1] == positive)
    run("check-model", name, "c")
a, b = [table(open(m + "/weights.tsv"))["weight"] for m in ("one", "two")]
check("weights of a fit", [float(v) for v in a] == [-float(v) for v in b])
a, b = [json.loads(run("predict", m, "c", "--training-too", "--json", "-q")[0]) for m in ("one", "two")]
check("predictions are of the same classes", [s["predicted"] for s in a["subjects"]] == [s["predicted"] for s in b["subjects"]] and
      near([s["probability"]["yes"] for s in a["subjects"]], [s["probability"]["yes"] for s in b["subjects"]]))
check("their metrics", (a["positive"], b["positive"]) == (rarer, other) and a["metrics"]["auc"] == b["metrics"]["auc"] and
      a["metrics"]["sensitivity"] == b["metrics"]["specificity"])

# ---- Empty models are as good as chance, never undefined ------------------------------------------------
for target, chance in (("score", {"r": 0}), ("dx", {"balanced_accuracy": 0.5, "auc": 0.5, "calibration_slope": 0}),
                       ("kind", {"auc": 0.5})):
    said, p, folds = cv(target, "--inner-folds", "0", "--lambda-ratio", "1.5")
    for name, value in chance.items():
        got = said["outer"][name]["per_fold"]
        check(f"empty: {name}", all(v is not None and abs(v - value) < 1e-9 for v in got), got)
    check("nobody selected", table(open("cv/weights.tsv"))["index"] == [] and "inner" not in said)

# ---- A constant says nothing, however folds are made: AUC and balanced accuracy 0.5, r 0 ------------------
write("lone.tsv", {"participant_id": ids, "fold": [f"patients-{k % 7}" if v else f"controls-{k % 5}" for k, v in enumerate(y)]})
write("uneven.tsv", {"participant_id": ids, "fold": np.where(y & (rng.uniform(size=N) < 0.7), "a", rng.choice(["b", "c", "d"], N))})
for how in (["--folds", "60"], ["--folds", "45"], ["--folds", "5"], ["--folds-from", "site"], ["--folds-from", "lone.tsv"], ["--folds-from", "uneven.tsv"]):
    for weights in ("none", "balanced"):
        said, p, folds = cv("dx", *how, "--inner-folds", "0", "--lambda-ratio", "1.5", "--class-weights", weights, "--bootstraps", "100")
        for name, of in (("constant", said["baseline"]["constant"]), ("empty model", {m: v["pooled"] for m, v in said["outer"].items()})):
            check(f"{name}, {how}, {weights}", near([of["auc"], of["balanced_accuracy"]], [0.5, 0.5]), of)
        d = said["difference"]["constant"]
        check("no difference", all(d[m][k] == 0 for m in ("auc", "balanced_accuracy") for k in ("value", "low", "high")), d)
        check("who is compared", (said["comparison"]["subjects_of"] == "all folds") == (how[1] in ("60", "lone.tsv")), said["comparison"])
for how in (["--folds", "60"], ["--folds", "45"], ["--folds-from", "site"]):
    said, p, folds = cv("score", *how, "--inner-folds", "0", "--lambda-ratio", "1.5", "--bootstraps", "100")
    check(f"r of a constant, {how}", said["baseline"]["constant"]["r"] == 0 and abs(said["outer"]["r"]["pooled"]) < 1e-9, said["outer"]["r"])
# one at a time, noise: pairs across folds must not favour either side, as they do when offsets are compared
areas, raw = [], []
for k in range(30):
    noise = rng.permutation(np.repeat(["n", "y"], N // 2))
    write("c/participants.tsv", {**people, "noise": noise})
    said, p, folds = cv("noise", "--folds", "60", "--inner-folds", "0", "--lambda-ratio", "0.9", "--bootstraps", "100")
    areas.append(said["outer"]["auc"]["pooled"])
    raw.append(auc(noise == "y", np.array(p["score_y"], float)))
    check("aligned scores are those that are compared", near(auc(noise == "y", np.array(p["aligned_y"], float)), areas[-1]), areas[-1])
check("noise is at chance", abs(np.mean(areas) - 0.5) < 0.06 and np.mean(raw) < 0.4, (np.mean(areas), np.std(areas), np.mean(raw)))

# ---- The prefilter is learned inside --------------------------------------------------------------------
# In variances a subject of weight w is as w subjects; in both rules one of weight 0 is as none (a t test counts subjects)
whole = rng.integers(0, 4, N)
rows = np.repeat(np.arange(N), whole)
known = {f"f{j}": X[:, j] for j in range(P)}
write("w.tsv", {"participant_id": ids, **known})
write("p.tsv", {**people, "whole": whole, "fold": np.arange(N) % 3, "kept": np.where(whole > 0, "yes", "no")})
write("w2.tsv", {"participant_id": [f"{ids[i]}_run-{k}" for k, i in enumerate(rows)], **{k: v[rows] for k, v in known.items()}})
write("p2.tsv", {"participant_id": [f"{ids[i]}_run-{k}" for k, i in enumerate(rows)], "score": score[rows], "fold": rows % 3})
run("cohort", "--feature-table", "w.tsv", "--participants", "p.tsv", "-q", "-o", "weighted")
run("cohort", "--feature-table", "w2.tsv", "--participants", "p2.tsv", "-q", "-o", "repeated")
short = ["--target", "score", "--folds-from", "fold", "--inner-folds", "0", "--lambda-ratio", "0.05", "--tol", "1e-9", "-q", "--force"]
for rule in ("variance:0.3", "ttest:0.2"):
    said = []
    weighted = ["weighted", "--subject-weights", "whole"]
    others = [["repeated"]] if rule[0] == "v" else [[*weighted, "--only", "kept=yes"]]
    for name in [weighted, *others]:
        run("cv", *name, *short, "--prefilter", rule, "-o", "pre")
        t = table(open("pre/predictions.tsv"))
        said.append({i.split("_")[0]: float(v) for i, v in zip(t["participant_id"], t["predicted"])})
    check(f"{rule}: weights", near([said[0][i] for i in said[1]], list(said[1].values()), 1e-6), said)
for rule in ("ttest:0.05", "variance:0.5"):
    said, p, folds = cv("score", "--prefilter", rule, "--inner-folds", "0", "--lambda-ratio", "0.02", "--folds", "3")
    fold, t = np.array(folds["fold"], int), table(open("cv/weights.tsv"))
    passed = []
    for k in (1, 2, 3):
        at = fold != k
        Z = X[at] - X[at].mean(0)
        if rule[0] == "v":
            passed.append(Z.std(0) >= np.sort(Z.std(0))[P - 1 - int(0.5 * (P - 1))])
        else:
            v = score[at] - score[at].mean()
            r = Z.T @ v / np.maximum(1e-9, np.linalg.norm(Z, axis=0) * np.linalg.norm(v))
            n = at.sum()
            draws = rng.standard_t(n - 2, 400000)  # the p-value without a table of t
            tcrit = np.quantile(abs(draws), 0.95)
            passed.append((abs(r) * ((n - 2) / (1 - r**2)) ** 0.5, tcrit))
    chosen = [int(i) for i in t["index"]]
    if rule[0] == "v":
        check(rule, all(any(q[j] for q in passed) for j in chosen))
    else:
        check(rule, all(any(q[0][j] > q[1] * 0.99 for q in passed) for j in chosen), chosen)
        check("many do not pass", len(chosen) < 30 and sum(f["nonzero"][0] for f in said["each_fold"]) > 3)
# What a subject of weight 0 is has no part in any other's prediction, that of the dense baseline included
for target, method in itertools.product(("score", "group"), (["--nlambda", "6"], ["--method", "svm"], ["--method", "svm", "--kernel", "rbf", "--C", "1"])):
    told = []
    for far in (1, 40):
        there = X.copy()
        there[0] *= far
        write("far.tsv", {"participant_id": ids, **{f"f{j}": there[:, j] for j in range(P)}})
        write("far-p.tsv", {"participant_id": ids, "score": score, "group": np.where(score > np.median(score), "y", "n"), "w": np.arange(N) % 3 + (np.arange(N) > 0),
                            "fold": np.arange(N) % 4})
        run("cohort", "--feature-table", "far.tsv", "--participants", "far-p.tsv", "-q", "-o", "far", "--force")
        run("cv", "far", "--target", target, *method, "--subject-weights", "w", "--folds-from", "fold", "--bootstraps", "100", "-q", "-o", "far-cv", "--force")
        t = table(open("far-cv/scores.tsv"))
        told.append([(t["scores"][k], t["metric"][k], t[f"1:{f}"][k]) for k in range(len(t["metric"])) if t["scores"][k] in ("outer", "dense") for f in (1, 2, 3)])
    check(f"weight 0: {target}, {method}", len(told[0]) >= 24 and all(a[:2] == b[:2] and (a[2] == b[2] or near(float(a[2]), float(b[2]), 1e-4)) for a, b in zip(*told)),
          [(a, b) for a, b in zip(*told) if a != b])

# Each class against the rest has a test of its own: what one class loses the next may keep
kinds = np.arange(N) % 3
own = 0.3 * rng.normal(size=(N, 9)) + np.eye(3)[kinds] @ np.eye(3, 9)
write("kinds.tsv", {"participant_id": ids, **{f"f{j}": own[:, j] for j in range(9)}})
write("kinds-p.tsv", {"participant_id": ids, "kind": np.array(list("abc"))[kinds]})
run("cohort", "--feature-table", "kinds.tsv", "--participants", "kinds-p.tsv", "-q", "-o", "kinds")
run("cv", "kinds", "--target", "kind", "--prefilter", "ttest:1e-4", "--inner-folds", "0", "--lambda-ratio", "0.1", "--folds", "3", "-q", "-o", "kinds-cv")
t = table(open("kinds-cv/weights.tsv"))
for k, name in enumerate("abc"):
    check(f"class {name} has its feature", dict(zip(t["feature"], map(float, t["selected_" + name]))).get(f"f{k}") == 1, t)
# and features that are excluded are not selected, though their curves are constants and not 0
for map in ("none", "poly2", "gauss", "hik"):
    run("cv", "kinds", "--target", "kind", "--method", "fgm", "--feature-map", map, "--nselect", "9", "--prefilter", "ttest:1e-6", "--inner-folds", "0", "--folds", "3", "-q", "-o", "kinds-cv", "--force")
    check(f"{map}: features that passed", set(table(open("kinds-cv/weights.tsv"))["feature"]) <= {"f0", "f1", "f2"}, table(open("kinds-cv/weights.tsv"))["feature"])
# ---- A model whose lambda is chosen on all subjects is that of a fold that keeps nobody back -------------
out, err = run("fit", "c", "--target", "score", "--choose-lambda", "4", "--nlambda", "7", "-o", "chosen", "--json")
said = json.loads(out)
ratio = said["lambda"] / said["lambda_max"]
check("one of the path's", min(abs(np.log(ratio) - np.log(0.01) * np.arange(7) / 6)) < 1e-9 and f"{ratio:.3g} of lambda_max" in err, (ratio, err))
run("fit", "c", "--target", "score", "--lambda-ratio", repr(ratio), "-o", "given", "-q")
told = json.load(open("chosen/model.json"))
check("the model tells of the choice", np.allclose(told["lambda_ratios"][int(np.argmin(told["inner_losses"][0]))], ratio)
      and len(told["inner_features"]) == 1 and told["inner_features"][0][0] == 0 < told["inner_features"][0][6], told["inner_features"])
check("the same model", open("chosen/weights.tsv").read() == open("given/weights.tsv").read())
for threads in "12":
    run("fit", "c", "--target", "dx", "--choose-lambda", "5", "--group", "family", "--nthreads", threads, "-o", "g" + threads, "-q")
check("by any number of threads", open("g1/weights.tsv").read() == open("g2/weights.tsv").read())
cv("score", "--method", "fused", "--graph", "chain", "--nlambda", "4", "--folds", "3")
finish()
