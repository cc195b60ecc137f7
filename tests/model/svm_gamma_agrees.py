"""The grid of gamma and C of a kernel machine: it is the grids of each gamma alone, the choice has the least inner loss of
all, and the models are those of the chosen pair. Runs in an empty directory."""
import json

import numpy as np
from oracle import check, finish, near, run, same, table, write

rng = np.random.default_rng(20)
N, P = 60, 8
ids = [f"s{k:02}" for k in range(N)]
X = rng.normal(size=(N, P)).round(2)
score = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.3 * rng.normal(size=N)
write("x.tsv", {"participant_id": ids, **{f"f{j}": X[:, j] for j in range(P)}})
write("people.tsv", {"participant_id": ids, "score": score, "dx": np.where(score > np.median(score), "yes", "no"),
                     "three": np.array(["a", "b", "c"])[np.digitize(score, np.quantile(score, [0.35, 0.7]))]})
run("cohort", "--feature-table", "x.tsv", "--participants", "people.tsv", "-q", "-o", "c")
folds = ["--folds", "3", "--inner-folds", "3", "--bootstraps", "100", "-q", "--force"]


def about(folder, file="cv.json"):
    return json.load(open(f"{folder}/{file}"))


def predicted(folder, target):
    t = table(open(folder + "/predictions.tsv"))
    names = ["predicted"] if target == "score" else [k for k in t if k.startswith("score_")]
    return np.array([t[k] for k in names], float)


def simplest_best(losses, gammas, costs):
    """Of the tries whose loss is the least but for rounding, that of the least gamma, then of the least C."""
    losses = np.array(losses)
    return min(np.flatnonzero(losses <= losses.min() * (1 + 1e-9)), key=lambda k: (gammas[k], costs[k]))


# ---- One grid, and the grids of each gamma ---------------------------------------------------------------
for kernel, gammas, target in (("rbf", ["0.02", "1", "20"], "score"), ("poly", ["3", "0.1"], "dx"), ("rbf", ["1", "0.1"], "three")):
    words = ["cv", "c", "--target", target, "--method", "svm", "--kernel", kernel, "--C", "0.1,1,10"]
    run(*words, "--gamma", ",".join(gammas), *folds, "-o", "v")
    for g in gammas:
        run(*words, "--gamma", g, *folds, "-o", "v" + g)
    all_of, each = about("v"), [about("v" + g) for g in gammas]
    what = f"{kernel} of {target}"
    check(what + ": tries", near(all_of["gammas"], np.repeat(np.array(gammas, float), 3)) and near(all_of["costs"], [0.1, 1, 10] * len(gammas)))
    losses = np.array(all_of["inner_losses"])
    check(what + ": inner losses", np.array_equal(losses, np.hstack([e["inner_losses"] for e in each])))
    fold = np.array(table(open("v/folds.tsv"))["fold"], int)
    for k, f in enumerate(all_of["each_fold"]):
        best = simplest_best(losses[k], all_of["gammas"], all_of["costs"])
        own = each[best // 3]["each_fold"][k]
        check(what + ": least loss", f["gamma"] == float(gammas[best // 3]) and f["C"] == all_of["costs"][best], (f, losses[k]))
        check(what + ": the fold of that gamma", [f[key] for key in ("C", "gamma", "support_vectors", "lambda")] == [own[key] for key in ("C", "gamma", "support_vectors", "lambda")])
        here = fold == f["fold"]
        check(what + ": its predictions", np.array_equal(predicted("v", target)[:, here], predicted("v" + gammas[best // 3], target)[:, here]))
    run(*words, "--gamma", ",".join(gammas), *folds, "--choose-rule", "1se", "-o", "one")
    for k, f in enumerate(about("one")["each_fold"]):
        grid = list(zip(all_of["gammas"], all_of["costs"]))
        check(what + ": the rule takes no larger gamma", (f["gamma"], f["C"]) <= grid[int(losses[k].argmin())])

# ---- Ties: of machines that fit all subjects the one with the least C, not the one that rounding prefers ----
for target, kernel in (("score", "rbf"), ("dx", "rbf"), ("three", "linear")):
    costs = "0.0001,0.0002,0.0003,1000,3000,10000,30000,100000"
    words = ["cv", "c", "--target", target, "--method", "svm", "--kernel", kernel, "--C", costs, *folds, "-o", "ties"]
    run(*words, *(["--gamma", "30"] if kernel == "rbf" else []))
    tied = about("ties")
    losses, costs = np.array(tied["inner_losses"]), tied["costs"]
    for k, f in enumerate(tied["each_fold"]):
        check(f"{kernel} of {target}: ties", f["C"] == costs[simplest_best(losses[k], [1] * len(costs), costs)], (f, losses[k]))
    check(f"{kernel} of {target}: losses tie", any((l <= l.min() * (1 + 1e-9)).sum() > 1 for l in losses), losses)

# ---- A fit that chooses is a fit of what it chose --------------------------------------------------------
words = ["fit", "c", "--target", "score", "--method", "svm", "--kernel", "rbf", "-q", "--force"]
run(*words, "--C", "0.1,1,10", "--gamma", "0.02,1,20", "--choose-lambda", "4", "-o", "m")
m = about("m", "model.json")
chosen = m["outputs"][0]
best = simplest_best(m["inner_losses"][0], m["gammas"], m["costs"])
check("a fit chooses", chosen["gamma"] == m["gammas"][best] and near(chosen["C"], m["costs"][best]) and m["parameters"]["gamma"] == "0.02,1,20", chosen)
run(*words, "--C", repr(m["costs"][best]), "--gamma", repr(chosen["gamma"]), "-o", "m1")
a, b = np.load("m/alpha.npy"), np.load("m1/alpha.npy")
check("and fits that", near(a, b, 1e-9) and near(chosen["primal"], about("m1", "model.json")["outputs"][0]["primal"], 1e-12))
check("it predicts the same", run("predict", "m", "c")[0] == run("predict", "m1", "c")[0])
for model in ("m", "m1"):
    check("certificate", json.loads(run("check-model", model, "c", "--json")[0])["holds"] is True)
run(*words, "-o", "m2")
check("gamma is 1 where none is given", about("m2", "model.json")["outputs"][0]["gamma"] == 1)
run("fit", "c", "--target", "score", "--method", "svm", "-q", "-o", "m3")
check("a linear machine has none", "gamma" not in about("m3", "model.json")["outputs"][0])
page = open("page.html").read() if run("report", "m", "-o", "page.html") else ""
check("the page names it", "Its gamma is" in page and "gamma 0.02" in page and "chooses C and gamma" in page)
run("report", "v", "-o", "page.html", "--force")
check("and of folds", "C and gamma chosen by 3-fold inner CV" in open("page.html").read())

# ---- One reading of the images for all of them -----------------------------------------------------------
run("cv", "c", "--target", "score", "--method", "svm", "--kernel", "rbf", "--C", "0.1,1,10", "--gamma", "1", *folds, "-o", "v")
run("cv", "c", "--target", "score", "--method", "svm", "--kernel", "rbf", "--C", "0.1,1,10", "--gamma", "0.1,0.3,1,3", *folds, "-o", "w")
check("no gamma reads the features again", about("w")["passes"] == about("v")["passes"], (about("w")["passes"], about("v")["passes"]))

# ---- Held-out subjects tell a fold nothing: not its distances, their median or its kernel ----------------
words = ["cv", "--target", "score", "--method", "svm", "--C", "1,10", *folds]
other = X.copy()
other[7] = 40 - 30 * other[7]
write("other.tsv", {"participant_id": ids, **{f"f{j}": other[:, j] for j in range(P)}})
run("cohort", "--feature-table", "other.tsv", "--participants", "people.tsv", "-q", "-o", "changed")
for kernel in ("rbf", "poly", "linear"):
    gamma = [] if kernel == "linear" else ["--gamma", "0.1,1"]
    for cohort in ("c", "changed"):
        run(words[0], cohort, *words[1:], "--kernel", kernel, *gamma, "-o", "of_" + cohort)
    fold = np.array(table(open("of_c/folds.tsv"))["fold"], int)
    with_it = [k for k in range(N) if fold[k] == fold[7] and k != 7]
    without = [k for k in range(N) if fold[k] != fold[7]]
    a, b = predicted("of_c", "score")[0], predicted("of_changed", "score")[0]
    check(kernel + ": the fold that does not see a subject", np.allclose(a[with_it], b[with_it], rtol=0, atol=1e-8), np.abs(a - b)[with_it].max())
    check(kernel + ": those that do", not np.allclose(a[without], b[without], rtol=0, atol=1e-4))

# ---- Pieces and threads ----------------------------------------------------------------------------------
for command, more in (("cv", ["--repeats", "2"]), ("permute", ["--permutations", "4", "--stop-at", "0"])):
    words = [command, "c", "--target", "three", "--method", "svm", "--kernel", "rbf", "--C", "0.1,1,10", "--gamma", "0.1,1", *folds, *more]
    run(*words, "-o", "whole")
    run(*words, "--nthreads", "2", "-o", "threads")
    same(command + ", 2 threads", "whole", "threads")
    for k in (1, 2):
        run(*words, "--chunk", f"{k}/2", "-o", f"part{k}")
    run("merge", "part1", "part2", "-o", "merged", "-q", "--force")
    same(command + ", merged", "whole", "merged")

# ---- What is refused -------------------------------------------------------------------------------------
for words, part in ((["fit", "c", "--gamma", "1,2"], "'--gamma' has 2 values; one is required unless folds choose"),
                    (["path", "c", "--gamma", "1,2"], "'--gamma' has 2 values"), (["cv", "c", "--gamma", "1,2", "--inner-folds", "0"], "'--gamma' has 2 values"),
                    (["cv", "c", "--gamma", "0,1"], "'--gamma' expects numbers from 1e-9 to 1e9, all different, at most 16"),
                    (["cv", "c", "--gamma", "1,1.0"], "all different"), (["fit", "c", "--gamma", "wide"], "'--gamma' expects")):
    out = [] if words[0] == "path" else ["-o", "x"]
    check(" ".join(words), part in run(*words, "--target", "score", "--method", "svm", "--kernel", "rbf", *out, code=2)[1])
finish()
