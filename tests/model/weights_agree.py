"""A subject of weight 2 is two subjects: fits with whole --subject-weights against fits on rows that are repeated (and left out
where the weight is 0), for every method, standardization and way of confounds. Runs in an empty directory."""
import itertools
import json

import numpy as np
from oracle import check, finish, near, run, table, write

rng = np.random.default_rng(83)
N, P = 40, 12
ids = np.array([f"s{k:02}" for k in range(N)])
u = rng.integers(0, 5, N)
age, site = rng.uniform(20, 80, N).round(1), rng.choice(["a", "b"], N)
X = np.round(rng.normal(size=(N, P)) * rng.uniform(0.5, 4, P) + 3 + 0.02 * age[:, None], 3).astype("f4")
X[:, 1:] += X[:, :-1] / 2
noisy = X[:, 0] - X[:, 3] + 0.05 * age + 3 * rng.normal(size=N)
score = X[:, 0] - X[:, 3] + 0.05 * age + rng.normal(size=N)
kind = np.array(["a", "b", "c"])[np.digitize(score, np.quantile(score, [0.3, 0.6]))]
learn = np.where(rng.random(N) < 0.6, "CN", "AD")


def cohort(name, rows):
    names = [f"{ids[r]}x{k}" for k, r in enumerate(rows)]
    write("x.tsv", {"participant_id": names, **{f"f{j}": X[rows, j] for j in range(P)}})
    write("people.tsv", {"participant_id": names, "u": u[rows], "age": age[rows], "site": site[rows], "score": score[rows], "kind": kind[rows],
                         "dx": np.where(noisy > np.median(noisy), "yes", "no")[rows], "group": learn[rows]})
    run("cohort", "--feature-table", "x.tsv", "--participants", "people.tsv", "-q", "-o", name)


cohort("once", np.arange(N))
cohort("again", np.repeat(np.arange(N), u))
first = np.cumsum(np.concatenate([[0], u]))[:-1][u > 0]  # of a subject among rows that are repeated


def fit(c, *words):
    """The outputs, the weights, what the model says of the cohort, and whether the checker agrees (where there are weights)."""
    run("fit", c, *words, "-o", "m", "--force", "-q")
    holds = c == "again" or json.loads(run("check-model", "m", c, "--json")[0])["holds"]
    p = table(run("predict", "m", c, "--training-too", "-q")[0].splitlines())
    weights, W = table(open("m/weights.tsv")), np.zeros((P, len(json.load(open("m/model.json"))["outputs"])))
    for k, name in enumerate(list(weights)[-W.shape[1]:]):
        W[[int(i) for i in weights["index"]], k] = [float(v) for v in weights[name]]
    about = json.load(open("m/model.json"))
    score = np.array(p["predicted"] if "p_yes" not in p else np.log(np.array(p["p_yes"], float) / np.array(p["p_no"], float)), dtype=object)
    if "calibration_slope" in about["outputs"][0]:  # by folds, which rows that are repeated have on both sides
        score = (score - about["outputs"][0]["calibration_offset"]) / about["outputs"][0]["calibration_slope"]
    return about, W, score if "p_a" not in p else np.array(p["p_a"]), holds


methods = {
    "lasso": ["--target", "score", "--lambda-ratio", "0.1", "--tol", "1e-11"],
    "logistic": ["--target", "dx", "--lambda-ratio", "0.1", "--tol", "1e-11"],
    "fused": ["--target", "score", "--method", "fused", "--lambda-ratio", "0.05", "--tol", "1e-11"],
    "multinomial": ["--target", "kind", "--method", "fused", "--loss", "multinomial", "--graph", "correlation:2", "--lambda-ratio", "0.1", "--tol", "1e-10"],
    "fgm": ["--target", "dx", "--method", "fgm", "--per-iteration", "2", "--iterations", "3", "--subproblem-tol", "1e-11"],
    "mslr": ["--target", "dx", "--method", "mslr", "--iterations", "3", "--subproblem-tol", "1e-11"],
    "gauss": ["--target", "dx", "--method", "fgm", "--feature-map", "gauss", "--per-iteration", "2", "--iterations", "2", "--subproblem-tol", "1e-11"],
    "hik": ["--target", "dx", "--method", "fgm", "--feature-map", "hik", "--per-iteration", "2", "--iterations", "2", "--subproblem-tol", "1e-11"],
    "skfs": ["--target", "dx", "--method", "skfs", "--tol", "1e-11"],
    "svm": ["--target", "dx", "--method", "svm", "--tol", "1e-11"],
    "rbf": ["--target", "score", "--method", "svm", "--kernel", "rbf", "--tol", "1e-11"],
    "balanced": ["--target", "dx", "--class-weights", "balanced", "--lambda-ratio", "0.1", "--tol", "1e-11"],
}
confounds = [[], ["--confounds", "age,site"], ["--confounds", "age,site", "--confounds-as", "regress"],
             ["--confounds", "age,site", "--confounds-as", "regress", "--regress-on", "group=CN"]]
for (name, method), way, beside in itertools.product(methods.items(), ("none", "center", "unit"), range(4)):
    if (name in ("fused", "multinomial") and way == "unit") or (name in ("skfs", "svm", "rbf") and beside == 1):
        continue  # these are refused
    if name in ("logistic", "balanced", "gauss", "hik") and (way != "unit" or beside == 3):
        continue  # nothing of their own
    if name == "hik" and beside >= 2:
        continue  # steps of what confounds leave: a rounding at the end of the range is a step
    words = [*method, "--standardize", way, *confounds[beside]]
    what = f"{name}, {way}, {confounds[beside]}: "
    one, W, p, holds = fit("once", *words, "--subject-weights", "u")
    two, V, q, same = fit("again", *words)
    rel = 1e-4 if name in ("fgm", "mslr", "gauss", "hik") else 1e-5  # weights of rounds are found to --subproblem-tol
    check(what + "certificate", holds and same)
    for a, b in zip(one["outputs"], two["outputs"]):
        for key in ("lambda", "primal", "dual"):
            check(what + key, near(a[key], b[key], 1e-6 if rel == 1e-4 else 1e-9), (a[key], b[key]))
    check(what + "weights", near(W, V, rel), (W, V))
    check(what + "predictions", near(p.astype(float)[u > 0], q.astype(float)[first], rel), (p[u > 0], q[first]))
    check(what + "means", near(one["unpenalized_means"], two["unpenalized_means"], 1e-12))

# ---- By hand: the weighted mean and standard deviation of one feature, and the weighted regression --------------
run("fit", "once", "--target", "score", "--subject-weights", "u", "--confounds", "age", "--confounds-as", "regress", "--standardize", "unit", "-o", "m", "--force", "-q")
about, t, w = json.load(open("m/model.json"))["outputs"][0], table(open("m/weights.tsv")), np.zeros(P)
w[[int(i) for i in t["index"]]] = [float(v) for v in t["weight"]]
C, root = np.column_stack([np.ones(N), age]), np.sqrt(u)[:, None]
mean = np.average(X.astype(float), axis=0, weights=u)
sd = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=u))
gamma = np.linalg.lstsq(C * root, X * root, rcond=None)[0]
b = about["unpenalized_weights"]
check("by hand: weight of age", near(b[1], -gamma[1] @ w, 1e-7), (b, gamma[1] @ w))
r = score - X @ w - C @ np.array(b)
check("by hand: primal", near(about["primal"], (u * r * r).sum() / 2 + about["lambda"] * abs(w * sd).sum(), 1e-9))

# ---- What has no weights ----------------------------------------------------------------------------------------
base = ["fit", "once", "--target", "dx", "--subject-weights", "u", "-o", "x"]
check("hsic", "not go with '--subject-weights'" in run(*base, "--method", "hsic-lasso", code=2)[1])
check("median", "not go with '--subject-weights'" in run(*base, "--method", "skfs", "--bandwidth", "median", code=2)[1])
finish()
