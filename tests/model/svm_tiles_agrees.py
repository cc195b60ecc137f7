"""A kernel that does not fit into --mem is made in tiles: the models are those of the kernel in memory, to the gap; the
certificate is of all subjects; memory stays within what was said. Runs in an empty directory."""
import json
import subprocess
import sys

import numpy as np
from oracle import check, finish, near, run, table, write

rng = np.random.default_rng(21)
N, P = 500, 12
ids = [f"s{k:03}" for k in range(N)]
X = rng.normal(size=(N, P)).round(2)
X[40:60] = X[20:40]  # copies
score = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.3 * rng.normal(size=N)
write("x.tsv", {"participant_id": ids, **{f"f{j}": X[:, j] for j in range(P)}})
write("people.tsv", {"participant_id": ids, "score": score, "age": (50 + 8 * X[:, 2] + 5 * rng.normal(size=N)).round(1),
                     "dx": np.where(score > np.quantile(score, 0.6), "yes", "no")})
run("cohort", "--feature-table", "x.tsv", "--participants", "people.tsv", "-q", "-o", "c")
small = ["--mem", "1M"]  # 16 N^2 is 4 MB; a set may have 245 subjects


def about(folder, file="model.json"):
    return json.load(open(f"{folder}/{file}"))


def scores(model):
    t = table(run("predict", model, "c")[0].splitlines())
    return np.array(t["p_yes" if "p_yes" in t else "predicted"], float)


# ---- The same model ----------------------------------------------------------------------------------------
regress = ["--confounds", "age", "--confounds-as", "regress"]
for what, words in (("rbf", ["dx", "--kernel", "rbf", "--C", "10"]), ("rbf, scores", ["score", "--kernel", "rbf", "--C", "3"]),
                    ("linear", ["dx", "--kernel", "linear"]), ("linear, scores", ["score", "--kernel", "linear"]),
                    ("poly", ["score", "--kernel", "poly", "--degree", "2"]), ("confounds", ["dx", "--kernel", "rbf", "--gamma", "0.5", *regress]),
                    ("unit", ["dx", "--kernel", "rbf", "--standardize", "unit"]),
                    ("no intercept", ["dx", "--kernel", "rbf", "--standardize", "none", "--no-intercept"])):
    words = ["fit", "c", "--method", "svm", "--target", *words, "--tol", "1e-9", "-q", "--force"]
    run(*words, "-o", "whole")
    said = run(*[w for w in words if w != "-q"], *small, "-o", "tiles")
    check(what + ": says so", "made in tiles, of at most" in said[0] + said[1], said)
    a, b = about("whole")["outputs"][0], about("tiles")["outputs"][0]
    check(what + ": certificate", b["gap"] <= 1e-9 and near(a["primal"], b["primal"], 1e-8), (a["gap"], b["gap"], a["primal"], b["primal"]))
    check(what + ": scores", np.allclose(scores("whole"), scores("tiles"), rtol=0, atol=2e-3), np.abs(scores("whole") - scores("tiles")).max())
    checked = json.loads(run("check-model", "tiles", "c", "--json")[0])
    check(what + ": checked", checked["holds"] is True, checked)
    t = [table(open(f"{m}/weights.tsv")) for m in ("whole", "tiles")]
    for column in ("weight", "sensitivity"):
        if column in t[0]:
            u, v = (np.array(k[column], float) for k in t)
            check(f"{what}: {column}", np.abs(u - v).max() <= 2e-3 * np.abs(u).max() + 1e-9, (np.abs(u - v).max(), np.abs(u).max()))

# ---- Folds, and what they are not told ----------------------------------------------------------------------
folds = ["--folds", "3", "--inner-folds", "2", "--bootstraps", "100", "--no-dense-baseline", "-q", "--force"]
X[7] = 40 - 30 * X[7]
write("x.tsv", {"participant_id": ids, **{f"f{j}": X[:, j] for j in range(P)}})
run("cohort", "--feature-table", "x.tsv", "--participants", "people.tsv", "-q", "-o", "changed")
for kernel in (["rbf", "--gamma", "0.3,1"], ["linear"]):
    words = ["--target", "score", "--method", "svm", "--kernel", *kernel, "--C", "1,10", "--tol", "1e-8", *folds]
    run("cv", "c", *words, "-o", "whole")
    run("cv", "c", *words, *small, "-o", "tiles")
    run("cv", "changed", *words, *small, "-o", "other")
    t = [table(open(f"{m}/predictions.tsv")) for m in ("whole", "tiles", "other")]
    a, b, c = (np.array(k["predicted"], float) for k in t)
    check(kernel[0] + ": cross-validation", np.allclose(a, b, rtol=0, atol=2e-3), np.abs(a - b).max())
    fold = np.array(table(open("tiles/folds.tsv"))["fold"], int)
    with_it = [k for k in range(N) if fold[k] == fold[7] and k != 7]
    check(kernel[0] + ": the fold that does not see a subject", np.allclose(b[with_it], c[with_it], rtol=0, atol=1e-7), np.abs(b - c)[with_it].max())

# ---- Memory -------------------------------------------------------------------------------------------------
np.save("big.npy", rng.normal(size=(4000, 10)).astype("f4"))
y = rng.integers(0, 2, 4000)
write("rows.tsv", {"participant_id": [f"t{k:04}" for k in range(4000)], "dx": np.where(y > 0, "yes", "no")})
run("cohort", "--npy", "big.npy", "--rows", "rows.tsv", "-q", "-o", "big")
child = ("import os, resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);"
         "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")


def megabytes(*words):
    program = ["voxsift", "fit", "big", "--target", "dx", "--method", "svm", "--kernel", "rbf", "--C", "0.1", "-q", "--force", "-o", "m"]
    return int(subprocess.run([sys.executable, "-c", child, *program, *words], check=True, capture_output=True).stdout) / 1024


whole, tiles = megabytes(), megabytes("--mem", "50M")
check("memory", whole > 240 and tiles < 120, (whole, tiles))
finish()
