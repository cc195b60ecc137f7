"""A kernel that is given: products of features give the linear machine, whatever is taken out of them; new subjects are
predicted from their kernel values; what is no kernel is refused. Runs in an empty directory."""
import json
import os
import shutil

import numpy as np
from oracle import check, finish, near, run, same, table, write

rng = np.random.default_rng(21)
N, NEW, P = 40, 6, 30
ids = [f"s{k:02}" for k in range(N + NEW)]
X = (rng.normal(size=(N + NEW, P)) + 3).round(2).astype("f4").astype(float)
age = rng.uniform(20, 80, N + NEW).round(1)
score = X[:, 0] - X[:, 1] + 0.03 * age + 0.3 * rng.normal(size=N + NEW)
people = {"participant_id": ids, "score": score, "age": age, "cost": rng.choice([0.5, 1, 2], N + NEW),
          "dx": np.where(score > np.median(score), "yes", "no"), "three": np.array(["a", "b", "c"])[np.digitize(score, np.quantile(score, [0.35, 0.7]))]}


def cohort(name, rows):
    write("x.tsv", {"participant_id": [ids[i] for i in rows], **{f"f{j}": X[rows, j] for j in range(P)}})
    write("people.tsv", {k: np.array(v)[rows] for k, v in people.items()})
    run("cohort", "--feature-table", "x.tsv", "--participants", "people.tsv", "-q", "-o", name)


def kernel(name, k, names):
    np.save(name + ".npy", k)
    write(name + ".tsv", {"participant_id": names})


cohort("c", np.arange(N))
cohort("new", np.arange(N, N + NEW))
order = rng.permutation(N + NEW)  # the file has an order of its own, and more subjects
K = X @ X.T
kernel("k", K[np.ix_(order, order)], [ids[i] for i in order])
kernel("fortran", np.asfortranarray(K[np.ix_(order, order)]), [ids[i] for i in order])
given = ["--kernel", "precomputed", "--kernel-file", "k.npy"]
svm = ["--method", "svm", "-q", "--force"]


def predictions(*words):
    t = table(run("predict", *words)[0].splitlines())
    return np.array([t[k] for k in t if k.startswith("p_")] or [t["predicted"]], float)


# ---- Products of features are the linear kernel ----------------------------------------------------------
for target, more in (("score", []), ("score", ["--standardize", "none"]), ("score", ["--standardize", "none", "--no-intercept"]), ("dx", []), ("three", []),
                     ("score", ["--subject-weights", "cost"]), ("dx", ["--confounds", "age", "--confounds-as", "regress"]), ("score", ["--confounds", "age", "--confounds-as", "regress", "--subject-weights", "cost"])):
    what = f"{target} {more}"
    run("fit", "c", "--target", target, *more, *svm, "--tol", "1e-9", "-o", "linear")
    run("fit", "c", "--target", target, *more, *svm, *given, "--tol", "1e-9", "-o", "given")
    one, two = (json.load(open(f"{m}/model.json"))["outputs"] for m in ("linear", "given"))
    check(what + ": primal", near([o["primal"] for o in one], [o["primal"] for o in two], 1e-7))
    check(what + ": support vectors", [o["support_vectors"] for o in one] == [o["support_vectors"] for o in two])
    for names in (["c"], ["new"]):
        p, q = predictions("linear", *names), predictions("given", *names, "--kernel-file", "fortran.npy")
        check(f"{what}: predictions of {names}", near(p, q, 1e-5), abs(p - q).max())
    check(what + ": certificate", json.loads(run("check-model", "given", "c", "--json")[0])["holds"] is True)
    check(what + ": no weights", len(open("given/weights.tsv").readlines()) == 1 and two[0]["nonzero"] == 0 and two[0]["passes"] == 0)
grid = ["--C", "0.1,1,10", "--folds", "3", "--inner-folds", "3", "--bootstraps", "100"]
for target, more in (("score", ["--confounds", "age", "--confounds-as", "regress"]), ("three", [])):
    run("cv", "c", "--target", target, *more, *svm, *grid, "-o", "v")
    run("cv", "c", "--target", target, *more, *svm, *grid, *given, "-o", "w")
    one, two = (json.load(open(f"{d}/cv.json")) for d in "vw")
    check(f"inner losses of {target}", near(one["inner_losses"], two["inner_losses"], 1e-3), np.subtract(one["inner_losses"], two["inner_losses"]))
    check(f"the choice of C of {target}", [f["C"] for f in one["each_fold"]] == [f["C"] for f in two["each_fold"]])
    a, b = (table(open(d + "/predictions.tsv")) for d in "vw")
    for k in a:
        if k == "predicted" and target == "score" or k.startswith("score_"):
            check(f"held-out {k} of {target}", near(np.array(a[k], float), np.array(b[k], float), 1e-3))

# ---- The file: another order, pieces, edits --------------------------------------------------------------
words = ["cv", "c", "--target", "dx", *svm, *grid, *given]
run(*words, "-o", "whole")
for k in (1, 2):
    run(*words, "--chunk", f"{k}/2", "-o", f"part{k}")
run("merge", "part1", "part2", "-o", "merged", "-q")
same("merged", "whole", "merged")
run("permute", "c", "--target", "dx", *svm, *grid, *given, "--permutations", "3", "-o", "permuted")
run("fit", "c", "--target", "dx", *svm, *given, "--C", "0.1,1", "--choose-lambda", "3", "-o", "m")
for file in ("kernel.npy", "kernel_weights.npy", "alpha.npy"):
    shutil.rmtree("bad", ignore_errors=True)
    shutil.copytree("m", "bad")
    a = np.load("bad/" + file)
    a[tuple(np.argwhere(a != 0)[0])] *= 1.5
    np.save("bad/" + file, a)
    check(f"an edited {file} is seen", run("check-model", "bad", "c", code=65)[1] != "")
run("report", "m", "-o", "m.html")
check("the page says that there is no map", "precomputed: k.npy. No feature was read" in open("m.html").read())
check("and the terminal", "there is no map" in run("fit", "c", "--target", "dx", "--method", "svm", *given, "--force", "-o", "m2")[0])

# ---- What is refused -------------------------------------------------------------------------------------
def broken(name, k, names=ids, part=""):
    kernel(name, k, names)
    out = run("fit", "c", "--target", "score", *svm, "--kernel", "precomputed", "--kernel-file", name + ".npy", "-o", "x", code=65)[1]
    check(name, part in out and out.count("\n") == 1, out)


broken("oblong", K[:, :-1], part="not square")
bad = K.copy()
bad[3, 5] = np.nan
broken("nan", bad, part="is not finite for 's")
bad = K.copy()
bad[3, 5] += 1
broken("askew", bad, part="is not symmetric")
bad = K - 0.5 * np.eye(N + NEW) * np.diag(K).mean()
broken("indefinite", bad, part="is not positive semidefinite: at 's")
broken("short", K, ids[:-1], part="an id for each row")
broken("twice", K, ids[:-1] + ids[:1], part="two rows with the id 's00'")
broken("unknown", K, ["t" + i for i in ids], part="no row with the id 's00'")
for words, part in ((["--kernel", "precomputed"], "goes with '--kernel-file FILE'"), (["--kernel-file", "k.npy"], "goes with '--kernel precomputed'"),
                    ([*given, "--standardize", "unit"], "'--standardize unit' is for features")):
    check(" ".join(words), part in run("fit", "c", "--target", "score", *svm, *words, "-o", "x", code=2)[1])
check("--prefilter", "'--prefilter'" in run("cv", "c", "--target", "score", *svm, *grid, *given, "--prefilter", "ttest:0.5", "-o", "x", code=2)[1])
check("new subjects without values", "'--kernel-file FILE' has the values" in run("predict", "m", "new", code=2)[1])
run("fit", "c", "--target", "dx", *svm, "-o", "m1")
check("values for a model of features", "is for models of" in run("predict", "m1", "new", "--kernel-file", "k.npy", code=2)[1])
kernel("old", K[:N, :N], ids[:N])
check("no values of new subjects", "no row with the id 's40'" in run("predict", "m", "new", "--kernel-file", "old.npy", code=65)[1])
kernel("fresh", K[N:, N:], ids[N:])
check("no values of training subjects", "no column with the id of the training subject" in run("predict", "m", "new", "--kernel-file", "fresh.npy", code=65)[1])
check("nothing is left", not os.path.exists("x"))
finish()
