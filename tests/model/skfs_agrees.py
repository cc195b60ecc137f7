"""Kernel models against numpy: scores, values, certificates, predictions, folds. Runs in an empty directory."""
import json
import os
import shutil

import numpy as np
from oracle import check, finish, near, run, same, table, write

rng = np.random.default_rng(71)
N, P = 60, 40
ids = [f"s{k:02}" for k in range(N)]
X = rng.normal(size=(N, P)).astype("f4")
for j in range(1, P):
    X[:, j] = 0.6 * X[:, j - 1] + 0.8 * X[:, j]
age = rng.uniform(20, 60, N)
sick = (np.abs(X[:, 10]) + 0.7 * X[:, 20] + 0.3 * rng.normal(size=N)) > 0.9  # not linear in 10
X[:, 30] += (age / 20).astype("f4")
people = {"participant_id": ids, "dx": np.where(sick, "yes", "no"), "age": age, "kind": np.array(["a", "b", "c"])[np.arange(N) % 3],
          "fold": np.arange(N) % 4, "score": X[:, 3]}


def cohort(name, X, keep=slice(None)):
    write("x.tsv", {"participant_id": np.array(ids)[keep], **{f"f{j}": X[keep, j] for j in range(P)}})
    write("people.tsv", {k: np.array(v)[keep] for k, v in people.items()})
    run("cohort", "--feature-table", "x.tsv", "--participants", "people.tsv", "-q", "-o", name, "--force")


def kernel(a, b, width=1.0):
    return np.exp(-((a[:, None] - b[None]) ** 2) / (2 * width**2))


def standardized(X, train, C=None):
    X = X.astype(float)
    if C is not None:
        X = X - C @ np.linalg.lstsq(C[train], X[train], rcond=None)[0]
    return (X - X[train].mean(0)) / X[train].std(0)


def scores_of(S, y, train, weights, widths=None):
    """sum_i a_i (sum_m yt_m k(x, x_m) - its mean over the training subjects), and the offset between the classes."""
    yt = y[train] - y[train].mean()
    out = np.zeros(len(S))
    for j, a in weights.items():
        g = kernel(S[:, j], S[train, j], 1.0 if widths is None else widths[j]) @ yt
        out += a * (g - g[train].mean())
    return out - (out[train & (y > 0)].mean() + out[train & (y < 0)].mean()) / 2


def weights_of(model, column=-1):
    t = [line.split("\t") for line in open(model + "/weights.tsv").read().splitlines()]
    return {int(r[0]): float(r[column]) for r in t[1:] if float(r[column]) != 0}


cohort("c", X)
y, everybody = np.where(sick, 1.0, -1.0), np.ones(N, bool)

# ---- The problem, and its value ------------------------------------------------------------------------------
S = standardized(X, everybody)
yt = y - y.mean()
Z = np.stack([yt * (kernel(S[:, j], S[:, j]) @ yt - (kernel(S[:, j], S[:, j]) @ yt).mean()) for j in range(P)], 1)
out, _ = run("fit", "c", "--target", "dx", "--method", "skfs", "--graph", "chain", "--laplacian", "0.3", "--lambda-ratio", "0.15",
             "--class-weights", "none", "-o", "m", "--json", "-q")
said = json.loads(out)
check("lambda_max is the largest sum of scores", near(said["lambda_max"], Z.sum(0).max(), 1e-5), (said["lambda_max"], Z.sum(0).max()))
a = np.zeros(P)
for j, w in weights_of("m").items():
    a[j] = w
lambda2 = 0.3 * said["lambda_max"] ** 2 / N**2
value = np.maximum(0, N - Z @ a).sum() + said["lambda"] * a.sum() + lambda2 * (np.diff(a) ** 2).sum()
check("value", near(said["primal"], value, 1e-6), (said["primal"], value))
check("weights are not negative", (a >= 0).all() and said["nonzero"] == (a > 0).sum() > 1 and said["converged"] and said["loss"] == "hinge")
for _ in range(300):  # nobody near is better than the bound
    b = np.maximum(0, a + rng.normal(size=P) * (rng.random(P) < 0.2) * a.max() * 10.0 ** rng.uniform(-4, 0))
    f = np.maximum(0, N - Z @ b).sum() + said["lambda"] * b.sum() + lambda2 * (np.diff(b) ** 2).sum()
    check("the bound", f >= said["dual"] * (1 - 1e-6), (f, said["dual"]))

# ---- Predictions -------------------------------------------------------------------------------------------------
about = json.load(open("m/model.json"))["outputs"][0]
want = scores_of(S, y, everybody, weights_of("m"))
p = table(run("predict", "m", "c", "-q")[0].splitlines())
probability = 1 / (1 + np.exp(-about["calibration_offset"] - about["calibration_slope"] * want))
check("classes are by the sign", p["predicted"] == list(np.where(want > 0, "yes", "no")))
check("probabilities are calibrated", near(np.array(p["p_yes"], float), probability, 1e-6), abs(np.array(p["p_yes"], float) - probability).max())
check("the certificate holds", "holds" in run("check-model", "m", "c")[0])
shutil.copytree("m", "broken")
lines = open("m/weights.tsv").read().splitlines()
cells = lines[2].split("\t")
new = repr(float(cells[-1]) * 1.1)
open("broken/weights.tsv", "w").write("\n".join([*lines[:2], "\t".join([*cells[:-1], new]), *lines[3:]]) + "\n")
text = open("m/model.json").read()
total = sum(float(line.split("\t")[-1]) if k != 1 else float(new) for k, line in enumerate(lines[1:]))
open("broken/model.json", "w").write(text.replace(f'"sum_of_weights": {json.dumps(about["sum_of_weights"])}', f'"sum_of_weights": {total!r}'))
run("check-model", "broken", "c", code=3)
fewer = open("m/kernels.tsv").read().splitlines()[:-1]
open("broken/kernels.tsv", "w").write("\n".join(fewer) + "\n")
err = run("predict", "broken", "c", code=65)[1]
check("files that do not go together", "broken/kernels.tsv' does not go with its model" in err, err)

# ---- What must not matter ----------------------------------------------------------------------------------------
first = weights_of("m")
words = ["--target", "dx", "--method", "skfs", "--graph", "chain", "--laplacian", "0.3", "--lambda-ratio", "0.15", "--class-weights", "none", "-q"]
cohort("moved", X * rng.uniform(0.5, 9, P).astype("f4") + rng.normal(size=P).astype("f4"))
run("fit", "moved", *words, "-o", "m2")
other = weights_of("m2")
check("shift and scale of a feature", set(first) == set(other) and near(list(first.values()), [other[j] for j in first], 2e-3), (first, other))
order = rng.permutation(N)
cohort("turned", X, order)
run("fit", "turned", *words, "-o", "m3")
other = weights_of("m3")
check("the order of subjects", set(first) == set(other) and near(list(first.values()), [other[j] for j in first], 1e-3), (first, other))
run("fit", "c", *words, "--nthreads", "1", "-o", "one")
run("fit", "c", *words, "--nthreads", "2", "-o", "two")
same("threads", "one", "two", ("command", "seconds", "threads", "outputs"))

# ---- Bandwidths, confounds that are taken out, several classes -------------------------------------------------------
run("fit", "c", "--target", "dx", "--method", "skfs", "--bandwidth", "median", "--lambda-ratio", "0.3", "--class-weights", "none", "-o", "b", "-q")
S = standardized(X, everybody)
widths = {j: np.median(np.abs(S[:, j][:, None] - S[:, j][None])[np.triu_indices(N, 1)]) for j in range(P)}
said_widths = {int(i): float(b) for i, b in zip(*(table(open("b/kernels.tsv"))[k] for k in ("index", "bandwidth")))}
check("median distances", len(said_widths) > 0 and all(abs(said_widths[j] / widths[j] - 1) < 2e-3 for j in said_widths), (said_widths, widths))
want = scores_of(S, y, everybody, weights_of("b"), {**widths, **said_widths})
p = table(run("predict", "b", "c", "-q")[0].splitlines())
check("and predictions by them", p["predicted"] == list(np.where(want > 0, "yes", "no")))
run("fit", "c", "--target", "dx", "--method", "skfs", "--confounds", "age", "--confounds-as", "regress", "--lambda-ratio", "0.2", "--class-weights", "none", "-o", "o", "-q")
C = np.column_stack([np.ones(N), age])
want = scores_of(standardized(X, everybody, C), y, everybody, weights_of("o"))
p = table(run("predict", "o", "c", "-q")[0].splitlines())
check("confounds are taken out", p["predicted"] == list(np.where(want > 0, "yes", "no")))
check("the same certificate", "holds" in run("check-model", "o", "c")[0])
run("fit", "c", "--target", "kind", "--method", "skfs", "--lambda-ratio", "0.3", "-o", "k", "-q")
p = table(run("predict", "k", "c", "-q")[0].splitlines())
rows = np.array([[float(p["p_" + k][i]) for k in "abc"] for i in range(N)])
check("several classes", near(rows.sum(1), np.ones(N)) and "does NOT" not in run("check-model", "k", "c")[0])

# ---- Folds: each is predicted by a model of the others ------------------------------------------------------------
run("cv", "c", "--target", "dx", "--method", "skfs", "--folds-from", "fold", "--inner-folds", "2", "--nlambda", "4", "--lambda-ratio", "0.1",
    "--laplacian", "0.01,1", "--graph", "chain", "-o", "v", "-q", "--class-weights", "none")
told = json.load(open("v/cv.json"))
check("tries", told["laplacians"] == [0.01] * 4 + [1] * 4 and near(told["lambda_ratios"], list(0.1 ** (np.arange(4) / 3)) * 2))
p = table(open("v/predictions.tsv"))
got = np.array(p["score_yes"], float)
for f in told["each_fold"]:
    train = (np.arange(N) % 4) != int(f["fold"])
    cohort("t", X, np.flatnonzero(train))
    run("fit", "t", "--target", "dx", "--method", "skfs", "--graph", "chain", "--laplacian", repr(f["laplacian"]), "--lambda-ratio", repr(f["lambda_ratio"]),
        "--class-weights", "none", "-o", "mt", "--force", "-q")
    want = scores_of(standardized(X, train), y, train, weights_of("mt"))
    check(f"fold {f['fold']}", near(got[~train], want[~train], 2e-3), abs(got - want)[~train].max() / abs(want).max())

# ---- HSIC lasso against coordinate descent ------------------------------------------------------------------------
out, _ = run("fit", "c", "--target", "dx", "--method", "hsic-lasso", "--lambda-ratio", "0.2", "--class-weights", "none", "-o", "h", "--json", "-q", "--tol", "1e-9")
said = json.loads(out)
S, H = standardized(X, everybody), np.eye(N) - 1 / N
K = np.stack([(H @ kernel(S[:, j], S[:, j]) @ H).ravel() for j in range(P)], 1)
L = np.outer(yt, yt).ravel()
b, r = np.zeros(P), L.copy()
for _ in range(3000):
    for j in range(P):
        new = max(0, b[j] + (K[:, j] @ r - said["lambda"]) / (K[:, j] @ K[:, j]))
        r -= (new - b[j]) * K[:, j]
        b[j] = new
check("HSIC lasso: value", near(said["primal"], r @ r / 2 + said["lambda"] * b.sum(), 1e-6) and said["loss"] == "squared", (said["primal"], r @ r / 2 + said["lambda"] * b.sum()))
w = weights_of("h")
check("HSIC lasso: weights", near([w.get(j, 0) for j in range(P)], b, 1e-3), (w, b))
check("HSIC lasso: certificate", "holds" in run("check-model", "h", "c")[0])

# ---- Dual averages: repeatable, and above the bound ------------------------------------------------------------------
dual = ["fit", "c", "--target", "dx", "--method", "skfs", "--solver", "dual-averaging", "--steps", "3000", "--lambda-ratio", "0.15", "--class-weights", "none", "-q", "--json"]
one = json.loads(run(*dual, "-o", "d1", code=3)[0])
two = json.loads(run(*dual, "-o", "d2", code=3)[0])
check("the same steps", one["primal"] == two["primal"] and open("d1/weights.tsv").read() == open("d2/weights.tsv").read())
check("others", json.loads(run(*dual, "--sample-seed", "2", "-o", "d3", code=3)[0])["primal"] != one["primal"])
exact = json.loads(run("fit", "c", "--target", "dx", "--method", "skfs", "--lambda-ratio", "0.15", "--class-weights", "none", "-q", "--json", "-o", "d4")[0])
check("above the optimum, below the bound", one["primal"] >= exact["dual"] and one["dual"] <= exact["primal"])
for d in ("d1", "d2", "d3", "d4", "v", "t", "mt"):
    shutil.rmtree(d)

# ---- Halves and permutations take it as it is ---------------------------------------------------------------------
run("permute", "c", "--target", "dx", "--method", "skfs", "--nlambda", "3", "--folds", "3", "--inner-folds", "0", "--permutations", "5", "-o", "p", "-q")
run("stability", "c", "--target", "dx", "--method", "skfs", "--pairs", "4", "--nlambda", "6", "--select-features", "3", "-o", "s", "-q")
t = table(open("s/frequencies.tsv"))
check("features that count are among the first", "20" in t["index"] or "10" in t["index"], t)
finish()
