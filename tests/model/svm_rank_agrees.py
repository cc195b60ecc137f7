"""Kernels of low rank (--rank) against numpy: landmarks and what the kernel lacks are those of a pivoted Cholesky factor,
the gap is that of the approximated kernel, scores come from landmarks alone, folds are not told of their held-out
subjects; at full rank the model is that of the kernel itself. Runs in an empty directory."""
import json
import os
import shutil
import subprocess

import numpy as np
from oracle import check, finish, near, run, table, write

rng = np.random.default_rng(23)
N = 120
ids = [f"s{k:03}" for k in range(N)]


def cohort(name, X, people):
    write("x.tsv", {"participant_id": ids, **{f"f{j}": X[:, j] for j in range(X.shape[1])}})
    write("people.tsv", people)
    run("cohort", "--feature-table", "x.tsv", "--participants", "people.tsv", "-q", "-o", name, "--force")


def draw(p):
    X = (rng.normal(size=(N, p)) * rng.uniform(0.5, 2, p) + 3).round(2).astype("f4").astype(float)
    X[60:70] = X[50:60]  # copies
    return X


few, many = draw(6), draw(150)  # kernels are made of features, of products
score = np.sin(few[:, 0]) + few[:, 1] * many[:, 0] / 5 + 0.3 * rng.normal(size=N)
people = {"participant_id": ids, "score": score, "age": (50 + 8 * few[:, 2] + 5 * rng.normal(size=N)).round(1),
          "dx": np.where(score > np.quantile(score, 0.6), "yes", "no"), "weight": rng.choice([0, 0.5, 1, 2], N),
          "three": np.array(["a", "b", "c"])[np.digitize(score, np.quantile(score, [0.35, 0.7]))]}
cohort("few", few, people)
cohort("many", many, people)


def about(folder):
    return json.load(open(f"{folder}/model.json"))


def predictions(model, data):
    t = table(run("predict", model, data)[0].splitlines())
    columns = [c for c in t if c.startswith("p_")] or ["predicted"]
    return np.array([t[c] for c in columns], float)


# ---- At full rank ------------------------------------------------------------------------------------------
regress = ["--confounds", "age", "--confounds-as", "regress"]
for what, words in (("rbf", ["dx", "--kernel", "rbf", "--C", "3"]), ("rbf, score", ["score", "--kernel", "rbf"]), ("linear", ["score"]),
                    ("poly", ["score", "--kernel", "poly", "--degree", "2"]), ("confounds", ["dx", "--kernel", "rbf", *regress]),
                    ("unit", ["dx", "--kernel", "poly", "--standardize", "unit", "--degree", "2"]),
                    ("weights", ["score", "--kernel", "rbf", "--subject-weights", "weight"]),
                    ("no intercept", ["dx", "--kernel", "rbf", "--standardize", "none", "--no-intercept"]),
                    ("rest", ["three", "--kernel", "rbf"]), ("pairs", ["three", "--kernel", "rbf", "--multiclass", "one-vs-one"])):
    for data in ("few", "many"):
        name = f"{what}, {data}"
        fit = ["fit", data, "--method", "svm", "--target", *words, "--tol", "1e-9", "--calibrate", "3"]
        fit = [*(fit if "score" not in words else fit[:-2]), "-q", "--force"]
        run(*fit, "-o", "whole")
        run(*fit, "--rank", str(N), "-o", "low")
        for a, b in zip(about("whole")["outputs"], about("low")["outputs"]):
            check(name + ": gap", b["gap"] <= 1e-9 and b["converged"], b)
            check(name + ": primal", near(a["primal"], b["primal"], 1e-8), (a["primal"], b["primal"]))
            check(name + ": lacks nothing", b["rank"] <= N and abs(b.get("trace_error", 0)) < 1e-9, b)
        apart = np.abs(predictions("whole", data) - predictions("low", data)).max()
        check(name + ": scores", apart < 2e-5, apart)
        checked = json.loads(run("check-model", "low", data, "--json")[0])
        check(name + ": checked", checked["holds"] is True, checked)
        t = [table(open(f"{m}/weights.tsv")) for m in ("whole", "low")]
        for column in (c for c in t[0] if c.startswith(("weight", "sensitivity"))):
            u, v = (np.array(k[column], float) for k in t)
            check(f"{name}: {column}", np.abs(u - v).max() <= 2e-5 * np.abs(u).max(), (np.abs(u - v).max(), np.abs(u).max()))


# ---- Of low rank, by numpy ---------------------------------------------------------------------------------
def factor(K, most):
    lacks, L, landmarks = np.diag(K).copy(), np.zeros((len(K), 0)), []
    while len(landmarks) < most and lacks.max() > 1e-11 * np.diag(K).max():
        p = int(np.argmax(lacks >= (1 - 1e-9) * lacks.max()))
        column = (K[:, p] - L @ L[p]) / np.sqrt(lacks[p])
        L, landmarks = np.column_stack([L, column]), [*landmarks, p]
        lacks = lacks - column**2
        lacks[landmarks] = 0
    return L, landmarks, lacks.clip(0)


for data, X in (("few", few), ("many", many)):
    Z = X - X.mean(0)
    G = Z @ Z.T
    distance = np.add.outer(np.diag(G), np.diag(G)) - 2 * G
    upper = distance[np.triu_indices(N, 1)]
    upper = np.sort(upper[upper > 1e-9 * upper.max()])
    kernels = {"rbf": np.exp(-distance.clip(0) / upper[len(upper) // 2]), "poly": (G / np.diag(G).mean() + 1) ** 2, "linear": G / np.diag(G).mean()}
    for kind, K in kernels.items():
        K, before = score.std() * K, np.inf
        for rank in (1, 4, 20, 60):
            name = f"{kind} of rank {rank}, {data}"
            fit = ["fit", data, "--method", "svm", "--target", "score", "--kernel", kind, "--degree", "2", "--rank", str(rank), "--tol", "1e-10"]
            said = run(*[w for w in fit if kind == "poly" or w not in ("--degree", "2")], "-o", "m", "--force")[0]
            L, landmarks, lacks = factor(K, rank)
            o, alpha, kept = about("m")["outputs"][0], np.load("m/alpha.npy")[0], np.load("m/landmarks.npy")
            check(name + ": says so", f"kernel of rank {len(landmarks)}: lacks" in said, said)
            check(name + ": landmarks", list(kept[0]) == landmarks and o["rank"] == len(landmarks), (kept[0], landmarks))
            error = lacks.sum() / np.trace(K)
            check(name + ": trace", abs(o.get("trace_error", 0) - error) <= 1e-9 and error <= before, (o, error, before))
            check(name + ": largest", abs(o.get("largest_error", 0) - lacks.max() / np.diag(K).mean()) <= 1e-9, (o, lacks.max()))
            check(name + ": semidefinite", np.linalg.eigvalsh(K - L @ L.T).min() > -1e-9 * K.max())
            before = error
            a, b = alpha[:N], alpha[N]
            f = L @ (L.T @ a)
            loss = np.maximum(0, np.abs(score - f - b) - 0.1 * score.std())
            norm, cost = a @ f, 1.0
            primal = norm / 2 + cost * loss.sum()
            dual = score @ a - 0.1 * score.std() * np.abs(a).sum() - norm / 2
            empty = min(np.maximum(0, np.abs(score - c) - 0.1 * score.std()).sum() for c in np.concatenate([score - 0.1 * score.std(), score + 0.1 * score.std()]))
            check(name + ": gap", (primal - dual) / empty <= 1.1e-10 + 1e-12 and near(o["primal"], primal, 1e-9), (primal, dual, o))
            check(name + ": feasible", abs(a.sum()) < 1e-10 and np.abs(a).max() <= 1 + 1e-12)
            check(name + ": training scores", np.abs(predictions("m", data) - f - b).max() < 1e-8 * np.abs(f).max() + 1e-6,
                  np.abs(predictions("m", data) - f - b).max())
            check(name + ": landmarks alone", np.abs(K[:, landmarks] @ kept[1] - f).max() < 1e-8 * np.abs(f).max())
            check(name + ": info", f"kernel of rank {len(landmarks)}" in run("info", "m")[0])
            if kind != "linear":
                check(name + ": kept", np.load("m/training.npy").shape == (X.shape[1], len(landmarks)))
            run("check-model", "m", data)

# ---- Spoiled -----------------------------------------------------------------------------------------------
run("fit", "few", "--method", "svm", "--target", "score", "--kernel", "rbf", "--rank", "30", "-o", "m", "--force", "-q")


def refused(what, words):
    if os.path.exists("e/sha256sums"):
        os.remove("e/sha256sums")
    p = subprocess.run(["voxsift", "check-model", "e", "few"], capture_output=True, text=True)
    check(what, p.returncode in (3, 65) and words in p.stderr + p.stdout, (p.returncode, p.stderr, p.stdout))
    shutil.rmtree("e")
    shutil.copytree("m", "e")


shutil.copytree("m", "e")
kept, values, alpha = np.load("m/landmarks.npy"), np.load("m/training.npy"), np.load("m/alpha.npy")
for row, by, words in ((0, 1, "landmark"), (1, 0.01, "weights of landmarks")):
    other = kept.copy()
    other[row, 7] += by
    np.save("e/landmarks.npy", other)
    refused(f"row {row} of landmarks", words)
other = values.copy()
other[2, 5] += 0.1
np.save("e/training.npy", other)
refused("a feature of a landmark", "features of landmarks")
other = alpha.copy()
other[0, np.flatnonzero(alpha[0, :N])[:2]] *= 0.9
np.save("e/alpha.npy", other)
refused("weights of subjects", "not those of its subjects")
text = about("m")
for key in ("trace_error", "rank", "gap", "primal"):
    other = json.loads(json.dumps(text))
    other["outputs"][0][key] = other["outputs"][0][key] * 0.9 if key in ("trace_error", "primal") else 29 if key == "rank" else 0.5
    json.dump(other, open("e/model.json", "w"))
    refused(key, "")

# ---- Folds, and what they are not told ----------------------------------------------------------------------
folds = ["--folds", "3", "--inner-folds", "2", "--bootstraps", "100", "--no-dense-baseline", "-q", "--force"]
for data, X in (("few", few), ("many", many)):
    changed = X.copy()
    changed[7] = 40 - 30 * changed[7]
    cohort("changed", changed, people)
    for kernel in (["rbf", "--gamma", "0.3,1"], ["linear"]):
        words = ["--target", "score", "--method", "svm", "--kernel", *kernel, "--C", "1,10", "--tol", "1e-8", *folds]
        run("cv", data, *words, "-o", "whole")
        run("cv", data, *words, "--rank", str(N), "-o", "full")
        run("cv", data, *words, "--rank", "12", "-o", "low")
        run("cv", "changed", *words, "--rank", "12", "-o", "other")
        w, a, b, c = (np.array(table(open(f"{m}/predictions.tsv"))["predicted"], float) for m in ("whole", "full", "low", "other"))
        check(kernel[0] + ": cross-validation", np.abs(a - w).max() < 1e-4, np.abs(a - w).max())
        check(kernel[0] + ": of low rank another", kernel[0] == "linear" and data == "few" or np.abs(b - w).max() > 1e-3)
        fold = np.array(table(open("low/folds.tsv"))["fold"], int)
        rest = [k for k in range(N) if fold[k] == fold[7] and k != 7]
        check(kernel[0] + ": the fold that does not see a subject", np.abs(b[rest] - c[rest]).max() < 1e-9, np.abs(b - c)[rest].max())
        check(kernel[0] + ": others do", np.abs(b - c).max() > 1e-6)

words = ["few", "--target", "dx", "--method", "svm", "--kernel", "rbf", "--rank", "20", "--C", "1,10", "--folds", "3", "--inner-folds", "2", "-q"]
run("cv", *words, "--bootstraps", "100", "-o", "low", "--force")
for k in ("1/2", "2/2"):
    run("cv", *words, "--bootstraps", "100", "--chunk", k, "-o", "part" + k[0])
run("merge", "part1", "part2", "-o", "merged")
for f in ("predictions.tsv", "weights.tsv"):
    check("merged: " + f, open("low/" + f).read() == open("merged/" + f).read())
run("permute", *words, "--permutations", "4", "-o", "permuted")
paths = table(run("path", "few", "--target", "dx", "--method", "svm", "--kernel", "rbf", "--rank", "20", "--tol", "1e-9")[0].splitlines())
check("a path", len(paths["gap"]) == 13 and max(map(float, paths["gap"])) <= 1e-9, paths)
run("fit", "few", "--target", "three", "--method", "svm", "--kernel", "rbf", "--rank", "20", "--multiclass", "one-vs-one", "--choose-lambda", "2", "-q", "-o", "pairs")
run("check-model", "pairs", "few")
run("report", "pairs", "-o", "page.html")
page = open("page.html").read()
check("page", "rank of the kernel" in page and "interior point on a pivoted Cholesky factor" in page)
run("report", "low", "-o", "cv.html")
for thread in "12":
    run("fit", "few", "--target", "dx", "--method", "svm", "--kernel", "rbf", "--rank", "20", "--nthreads", thread, "-q", "-o", "t" + thread)
for f in ("alpha.npy", "landmarks.npy", "weights.tsv"):
    check("threads: " + f, open("t1/" + f, "rb").read() == open("t2/" + f, "rb").read())

# ---- Refused -------------------------------------------------------------------------------------------------
for way in ("saiv", "screened"):
    err = run("fit", "few", "--target", "dx", "--method", "svm", "--rank", "9", "--solver", way, "-q", "-o", "n", code=2)[1]
    check(way, "an interior point of its own" in err and err.count("\n") <= 2, err)
np.save("k.npy", few @ few.T)
write("k.tsv", {"participant_id": ids})
err = run("fit", "few", "--target", "dx", "--method", "svm", "--rank", "9", "--kernel", "precomputed", "--kernel-file", "k.npy", "-q", "-o", "n", code=2)[1]
check("precomputed", "'--rank' is for kernels of features" in err and err.count("\n") <= 2, err)
write("x.tsv", {"participant_id": ids, "f0": [1] * N, "f1": [2] * N})  # nothing varies: an empty model
run("cohort", "--feature-table", "x.tsv", "--participants", "people.tsv", "-q", "-o", "same", "--force")
for kernel in ("linear", "rbf"):
    codes = [subprocess.run(["voxsift", "fit", "same", "--target", "dx", "--method", "svm", "--kernel", kernel, *rank, "-q", "--force", "-o", "empty"],
                            capture_output=True).returncode for rank in ([], ["--rank", "3"])]
    check(kernel + ": nothing varies", codes[0] == codes[1], codes)

# ---- Memory --------------------------------------------------------------------------------------------------
n = 20000
X = rng.normal(size=(n, 8)).astype("f4")
np.save("big.npy", X)
y = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0
write("rows.tsv", {"participant_id": [f"t{k:05}" for k in range(n)], "dx": np.where(y, "yes", "no")})
run("cohort", "--npy", "big.npy", "--rows", "rows.tsv", "-q", "-o", "big")
p = subprocess.run(["bash", "-c", "ulimit -v 300000; exec voxsift fit big --target dx --method svm --kernel rbf --rank 200 --calibrate 0 --tol 1e-4"
                    " --nthreads 1 -q -o large"], capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
check("memory", p.returncode == 0, p.stderr)
if p.returncode == 0:
    o = about("large")["outputs"][0]
    check("memory: its certificate", o["gap"] <= 1e-4 and o["rank"] == 200, o)
    check("memory: landmarks alone", np.load("large/training.npy").shape == (8, 200))
finish()
