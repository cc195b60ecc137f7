"""Pairs of classes, one against one: each is the machine of its two classes alone, to the bit; what the other subjects are
changes nothing; votes, coupled probabilities and cross-validation are those of the definition, and of scikit-learn where
it is installed. Runs in an empty directory."""
import gzip
import itertools
import json
import os
import shutil

import numpy as np
from oracle import check, finish, near, run, same, table, write

rng = np.random.default_rng(11)
N, P, NAMES = 48, 20, ["AD", "CN", "MCI", "SCD"]
ids = [f"s{k:02}" for k in range(N)]
dx = np.concatenate([np.arange(4).repeat(4), rng.choice(4, N - 16, p=[0.45, 0.25, 0.2, 0.1])])
X = rng.normal(size=(N, P)) * rng.uniform(0.5, 2, P)
for k in range(4):
    X[:, k] += 1.3 * (dx == k)
X = (X + 3).round(3).astype("f4").astype(float)
age, sex = rng.uniform(50, 80, N).round(1), np.array(["F", "M"])[rng.integers(0, 2, N)]
site = np.where((dx == 2) & (np.arange(N) % 2 == 0), "far", np.array(["here", "there"])[rng.integers(0, 2, N)])  # far: of no subject of AD against CN
people = {"participant_id": ids, "site": site, "dx": [NAMES[k] for k in dx], "age": age, "sex": sex, "cost": rng.choice([0.5, 1, 2], N), "score": age,
          "part": np.array(["train", "held"])[(np.arange(N) % 4 == 3).astype(int)]}
three = [k for k in range(N) if dx[k] < 3]
pairs = list(itertools.combinations(range(3), 2))
titles = [f"{NAMES[a]} against {NAMES[b]}" for a, b in pairs]
svm = ["--method", "svm", "-q", "--force"]
ovo = ["--target", "dx", "--only", "dx=AD,CN,MCI", "--multiclass", "one-vs-one"]


def cohort(name, values, kept=range(N)):
    write("x.tsv", {"participant_id": [ids[i] for i in kept], **{f"f{j}": values[list(kept), j] for j in range(P)}})
    write("people.tsv", {k: np.array(v)[list(kept)] for k, v in people.items()})
    run("cohort", "--feature-table", "x.tsv", "--participants", "people.tsv", "-q", "-o", name, "--force")


def model(folder):
    return json.load(open(folder + "/model.json"))


def column(folder, name):
    t, w = table(open(folder + "/weights.tsv")), np.zeros(P)
    if name in t:
        w[[int(i) for i in t["index"]]] = [float(v) for v in t[name]]
    return w


def predictions(*words):
    t = table(run("predict", *words)[0].splitlines())
    return np.array(t["predicted"]), np.array([t[k] for k in t if k.startswith("p_")], float)


def vote(margins, classes):
    """Votes, and between them sums of margins, as scikit-learn's _ovr_decision_function."""
    votes, sums = np.zeros((2, classes, margins.shape[1]))
    for m, (a, b) in zip(margins, itertools.combinations(range(classes), 2)):
        votes[a] += m > 0
        votes[b] += m <= 0
        sums[a] += m
        sums[b] -= m
    return votes + sums / (3 * (abs(sums) + 1))


def couple(shares, classes):
    """The quadratic problem of Wu, Lin and Weng, by its equations; shares are those of the first of each pair."""
    r = np.zeros((classes, classes))
    for s, (a, b) in zip(shares, itertools.combinations(range(classes), 2)):
        r[a, b], r[b, a] = s, 1 - s
    q = -r.T * r + np.diag((r**2).sum(0))
    whole = np.block([[q, np.ones((classes, 1))], [np.ones((1, classes)), np.zeros((1, 1))]])
    return np.linalg.solve(whole, np.append(np.zeros(classes), 1))[:classes]


cohort("c", X)

# ---- A pair is the machine of its two classes ------------------------------------------------------------
ways = [(kernel, way, more) for kernel in ("linear", "rbf", "poly") for way in ("center", "unit", "none")
        for more in ([], ["--subject-weights", "cost", "--class-weights", "balanced"], ["--confounds", "age,sex", "--confounds-as", "regress"]) if not (way == "none" and "age,sex" in more)]
for kernel, way, more in ways:
    what = f"{kernel}, {way}, {more}"
    words = [*svm, "--kernel", kernel, "--standardize", way, *more]
    if "--class-weights" not in more:
        words += ["--class-weights", "none"]
    run("fit", "c", *ovo, *words, "-o", "m")
    alpha, about = np.load("m/alpha.npy"), model("m")["outputs"]
    check(what + ": names", [o["name"] for o in about] == titles, [o["name"] for o in about])
    at = 0
    for k, (a, b) in enumerate(pairs):
        run("fit", "c", "--target", "dx", "--only", f"dx={NAMES[a]},{NAMES[b]}", "--positive", NAMES[a], *words, "-o", "two")
        mine = np.isin(dx[three], [a, b])
        two = np.load("two/alpha.npy")[0]
        check(f"{what}: {titles[k]}: rows", (np.isnan(alpha[k, :-3]) == ~mine).all())
        check(f"{what}: {titles[k]}: bits of its subjects", (alpha[k][np.append(mine, [True] * 3)] == two).all(), abs(alpha[k][np.append(mine, [True] * 3)] - two).max())
        check(f"{what}: {titles[k]}: weights", (column("m", "weight_" + titles[k]) == column("two", "weight")).all())
        check(f"{what}: {titles[k]}: sensitivities", (column("m", "sensitivity_" + titles[k]) == column("two", "sensitivity")).all())
        one = model("two")["outputs"][0]
        check(f"{what}: {titles[k]}: certificate", [about[k][key] for key in ("primal", "dual", "gap", "support_vectors")] == [one[key] for key in ("primal", "dual", "gap", "support_vectors")])
        if kernel != "linear":
            kept = np.load("m/training.npy")[:, at:at + mine.sum()]
            check(f"{what}: {titles[k]}: kept features", (kept == np.load("two/training.npy")).all())
        at += mine.sum()
    found = json.loads(run("check-model", "m", "c", "--json")[0])
    check(what + ": certificates hold", found["holds"] is True and [o["name"] for o in found["outputs"]] == titles)

# ---- Who is not of a pair changes no bit of it -----------------------------------------------------------
run("fit", "c", *ovo, *svm, "-o", "m")
before = np.load("m/alpha.npy")
for way in ("center", "none"):
    for k, (a, b) in enumerate(pairs):
        other = np.setdiff1d(np.flatnonzero(dx == 3 - a - b), np.arange(9) * N // 9)  # a middle value of these rows is taken out
        run("fit", "c", *ovo, *svm, "--standardize", way, "-o", "m")
        before, changed = np.load("m/alpha.npy"), X.copy()
        changed[other] = 100 * rng.normal(size=(len(other), P)).round(3)
        cohort("changed", changed)
        run("fit", "changed", *ovo, *svm, "--standardize", way, "-o", "m1")
        after = np.load("m1/alpha.npy")
        check(f"{way}: {titles[k]} does not see the third class", np.array_equal(before[k], after[k], equal_nan=True), np.nanmax(abs(before[k] - after[k])))
        check(f"{way}: but the other pairs do", not any(np.array_equal(before[j], after[j], equal_nan=True) for j in range(3) if j != k))

# ---- Votes and probabilities -----------------------------------------------------------------------------
everybody = list(range(N))
for kernel, words, classes in (("linear", [*ovo, "--calibrate", "3"], 3), ("linear", ["--target", "dx", "--multiclass", "one-vs-one", "--class-weights", "none"], 4)):
    run("fit", "c", *words, *svm, "--kernel", kernel, "-o", "m")
    about, names = model("m")["outputs"], NAMES[:classes]
    margins = np.array([X @ column("m", "weight_" + o["name"]) + o["intercept"] for o in about])
    said, p = predictions("m", "c", "--training-too")
    scores = vote(margins, classes)
    check(f"{classes} classes: predicted by votes", (said == np.array(names)[scores.argmax(0)]).all())
    calibrated = margins if about[0]["calibration_slope"] is None else np.array([o["calibration_offset"] + o["calibration_slope"] * m for o, m in zip(about, margins)])
    want = np.array([couple(s, classes) for s in 1 / (1 + np.exp(-calibrated.T))]).T
    check(f"{classes} classes: coupled probabilities", near(p, want, 1e-6), abs(p - want).max())
    check(f"{classes} classes: they are shares", near(p.sum(0), 1, 1e-12) and (p >= 0).all())

# ---- scikit-learn: rows of length 1 have one kernel scale, so that C is the same for all pairs -----------
try:
    from sklearn.svm import SVC
except ImportError:
    SVC = None
for seed in range(6 if SVC else 0):
    draw = np.random.default_rng(seed)
    U = draw.normal(size=(N, P)) + np.eye(4, P)[dx] * 1.5
    U = (U / np.linalg.norm(U, axis=1)[:, None]).astype("f4").astype(float)
    cohort("u", U)
    run("fit", "u", "--target", "dx", "--multiclass", "one-vs-one", "--standardize", "none", "--class-weights", "none", "--C", "3", "--tol", "1e-10", *svm, "-o", "m")
    about, alpha = model("m")["outputs"], np.load("m/alpha.npy")
    scale = alpha[:, -2]
    check("one scale", near(scale, 1, 1e-6), scale)
    K = U @ U.T
    peer = SVC(kernel="precomputed", C=3, decision_function_shape="ovo", tol=1e-10).fit(K, dx)
    margins = np.array([U @ column("m", "weight_" + o["name"]) + o["intercept"] for o in about])
    want = peer.decision_function(K).T
    check(f"scikit-learn {seed}: margins of pairs", near(margins, want, 1e-4), abs(margins - want).max())
    votes = vote(want, 4)
    clear = np.sort(votes, axis=0)[-1] - np.sort(votes, axis=0)[-2] > 0.7  # libsvm gives ties to the first class
    said = predictions("m", "u", "--training-too")[0]
    check(f"scikit-learn {seed}: predictions where votes do not tie", clear.sum() > N / 2 and (said[clear] == np.array(NAMES)[peer.predict(K)][clear]).all())
    peer = SVC(kernel="precomputed", C=3, decision_function_shape="ovr", break_ties=True, tol=1e-10).fit(K, dx)
    check(f"scikit-learn {seed}: ties broken by margins", (said == np.array(NAMES)[peer.predict(K)]).all())

# ---- Cross-validation is the model of the others ---------------------------------------------------------
for kernel, confounds in itertools.product(("linear", "rbf"), ("age,sex", "age,site")):
    more = ["--confounds", confounds, "--confounds-as", "regress", "--kernel", kernel, "--standardize", "unit", "--tol", "1e-10"]
    run("cv", "c", *ovo, *svm, *more, "--folds-from", "part", "--inner-folds", "0", "--bootstraps", "100", "-o", "cv")
    run("fit", "c", *ovo, "--only", "part=train", *svm, *more, "-o", "m")
    t = table(open("cv/predictions.tsv"))
    held = [k for k, i in enumerate(t["participant_id"]) if people["part"][ids.index(i)] == "held"]
    who = [ids.index(t["participant_id"][k]) for k in held]
    said = predictions("m", "c", "--only", "dx=AD,CN,MCI", "--only", "part=held")[0]
    check("certificates", json.loads(run("check-model", "m", "c", "--json")[0])["holds"] is True)
    check(f"{kernel}, {confounds}: predict is what cv predicts", (np.array(t["predicted"])[held] == said).all())
    scores, p = (np.array([t[key + n] for n in NAMES[:3]], float) for key in ("score_", "p_"))
    check(kernel + ": predicted is the largest score", (np.array(t["predicted"]) == np.array(NAMES)[scores.argmax(0)]).all())
    if kernel == "linear":
        columns = [sex == "M"] if "sex" in confounds else [site == "here", site == "there"]
        C = np.column_stack([np.ones(N), age, *columns])
        margins = np.array([X[who] @ column("m", "weight_" + o["name"]) + C[who] @ o["unpenalized_weights"] for o in model("m")["outputs"]])
        check("scores of cv are votes of the model's margins", near(scores[:, held], vote(margins, 3), 1e-6), abs(scores[:, held] - vote(margins, 3)).max())
        want = np.array([couple(s, 3) for s in 1 / (1 + np.exp(-margins.T))]).T
        check("its probabilities are coupled", near(p[:, held], want, 1e-6), abs(p[:, held] - want).max())
about = json.load(open("cv/cv.json"))
check("a class each has an AUC against the rest", list(about["each_class"]) == NAMES[:3] and all(0 <= c["auc"] <= 1 for c in about["each_class"].values()))
check("support vectors by pair", all(len(f["support_vectors"]) == 3 for f in about["each_fold"]))
check("maps by pair", "pattern_CN against MCI" in table(open("cv/weights.tsv")))

nested = ["--C", "0.1,1,10", "--folds", "3", "--inner-folds", "3", "--bootstraps", "100"]
run("cv", "c", *ovo, *svm, *nested, "-o", "whole")
for k in (1, 2):
    run("cv", "c", *ovo, *svm, *nested, "--chunk", f"{k}/2", "-o", f"part{k}")
run("merge", "part1", "part2", "-q", "-o", "merged")
for file in ("predictions.tsv", "weights.tsv", "scores.tsv"):
    check("merged chunks: " + file, open("whole/" + file).read() == open("merged/" + file).read())
run("cv", "c", *ovo, *svm, *nested, "--nthreads", "2", "-o", "threads")
same("two threads", "whole", "threads")
run("cv", "c", *ovo[:4], *svm, *nested, "-o", "rest")
check("compared with one against the rest", json.loads(run("compare", "rest", "whole", "--json")[0])["subjects"] == len(three))
run("permute", "c", *ovo, *svm, "--C", "1", "--folds", "3", "--inner-folds", "2", "--permutations", "5", "-o", "permuted")
check("permutations", 0 < json.load(open("permuted/permute.json"))["p"] <= 1)
for folder in ("m", "whole", "permuted"):
    run("report", folder, "-o", folder + ".html", "--force")
check("the page says which pair", "AD against CN" in open("m.html").read() and all("for each pair of classes" in open(f + ".html").read() for f in ("m", "whole", "permuted")))

# ---- Maps ------------------------------------------------------------------------------------------------
run("simulate", "skfs-linear", "--subjects", "24", "--seed", "3", "-q", "-o", "brains")
lines = open("brains/participants.tsv").read().splitlines()
open("brains/participants.tsv", "w").write("\n".join([lines[0] + "\tkind"] + [f"{line}\t{'xyz'[k % 3]}" for k, line in enumerate(lines[1:])]) + "\n")
run("fit", "brains", "--target", "kind", "--multiclass", "one-vs-one", "--kernel", "rbf", *svm, "-o", "voxels")
run("report", "voxels", "-o", "voxels.html", "--force")
page = open("voxels.html").read()
for a, b in itertools.combinations("xyz", 2):
    check("captions name the pair", f"{a} against {b}. " in page and page.count(f"{a} against {b}. ") == 2, page.count(f"{a} against {b}. "))
for sign, favored in (("positive", "xxy"), ("negative", "yzz")):  # of x against y, x against z, y against z
    check("signs name the favored class", all(page.count(f"{sign} weight: more {c}") == favored.count(c) for c in "xyz"))
shape = np.frombuffer(gzip.open("voxels/sensitivity.nii.gz").read(), "<i2", 8, 40)
check("a volume a pair", shape[0] == 4 and shape[4] == 3, shape)

# ---- Leave one out has no pairs within folds -------------------------------------------------------------
run("cv", "c", *ovo, *svm, "--folds", str(len(three)), "--inner-folds", "0", "--no-dense-baseline", "--bootstraps", "100", "-o", "loo")
t = table(open("loo/predictions.tsv"))
check("votes have no constant", t["score_AD"] == t["aligned_AD"])

# ---- Other kernels and methods ---------------------------------------------------------------------------
run("path", "c", *ovo, "--method", "svm", "--C", "0.1,1", "-q")
path = json.loads(run("path", "c", *ovo, "--method", "svm", "--C", "0.1,1", "--json", "-q")[0])
check("a path for each pair", [o["name"] for o in path["outputs"]] == titles)
run("fit", "c", *ovo, *svm, "--C", "0.1", "-o", "m")
check("which is that of the fit", near([o["points"][0]["primal"] for o in path["outputs"]], [o["primal"] for o in model("m")["outputs"]], 1e-6))
np.save("k.npy", (X - 3) @ (X - 3).T)
write("k.tsv", {"participant_id": ids})
given = ["--kernel", "precomputed", "--kernel-file", "k.npy"]
run("fit", "c", *ovo, "--only", "part=train", "--tol", "1e-10", *svm, "-o", "m")
run("fit", "c", *ovo, "--only", "part=train", "--tol", "1e-10", *svm, *given, "-o", "given")
want = predictions("m", "c", "--training-too")
found = predictions("given", "c", "--training-too", "--kernel-file", "k.npy")
check("a kernel that is given", (want[0] == found[0]).all() and near(want[1], found[1], 1e-4), abs(want[1] - found[1]).max())
check("and its certificates", json.loads(run("check-model", "given", "c", "--json")[0])["holds"] is True)
write("groups.tsv", {"group": ["front"] * 10 + ["back"] * 10, "feature": [f"f{j}" for j in range(20)]})
mkl = ["--method", "mkl", "--groups", "file:groups.tsv", "--class-weights", "none", "-q", "--force"]
run("fit", "c", *ovo, *mkl, "-o", "m")
for k, (a, b) in enumerate(pairs):
    run("fit", "c", "--target", "dx", "--only", f"dx={NAMES[a]},{NAMES[b]}", "--positive", NAMES[a], *mkl, "-o", "two")
    check("mkl: " + titles[k], (column("m", "weight_" + titles[k]) == column("two", "weight")).all())
check("mkl: certificates", json.loads(run("check-model", "m", "c", "--json")[0])["holds"] is True)
check("mkl: weights of groups by pair", table(open("m/kernel_weights.tsv"))["class"] == [t for t in titles for _ in range(2)])
run("predict", "m", "c", "--training-too")
run("cv", "c", *ovo, *mkl, "--folds", "3", "--inner-folds", "2", "--bootstraps", "100", "-o", "cv-mkl")
run("report", "m", "-o", "mkl.html", "--force")
check("mkl: its page", "CN against MCI" in open("mkl.html").read())

# ---- What is edited is seen ------------------------------------------------------------------------------
for kernel in ("linear", "rbf"):
    run("fit", "c", *ovo, *svm, "--kernel", kernel, "-o", "m")
    for k in range(3):
        for edit in ("weight", "member"):
            shutil.rmtree("bad", ignore_errors=True)
            shutil.copytree("m", "bad")
            a = np.load("bad/alpha.npy")
            i = np.nanargmax(abs(a[k, :-3]))
            a[k, i] = a[k, i] * 1.01 if edit == "weight" else np.nan
            np.save("bad/alpha.npy", a)
            out, err = run("check-model", "bad", "c", code=65)
            check(f"{kernel}: an edited {edit} of {titles[k]}", "does not" in err or "are not those of" in err or "are of" in err, out + err)
run("fit", "c", *ovo, *svm, "--tol", "1e-10", "-o", "m")
about = model("m")
about["outputs"][1]["primal"] *= 0.9
json.dump(about, open("m/model.json", "w"))
out, err = run("check-model", "m", "c", code=3)
check("a wrong certificate of one pair", "the certificate of 'AD against MCI' does not hold" in err and out.count("does NOT hold") == 1, out + err)

# ---- What it is not for ----------------------------------------------------------------------------------
for words, message in ((["--target", "dx", "--only", "dx=AD,CN"], "'--multiclass one-vs-one' is for three classes and more; 'dx' has two"),
                       (["--target", "score"], "'--multiclass one-vs-one' is for three classes and more; 'score' is a score")):
    err = run("fit", "c", *words, *svm, "--multiclass", "one-vs-one", "-o", "bad2", code=2)[1]
    check("refused", message in err, err)
for length, code in ((450, 0), (600, 65)):
    people["long"] = [n[0] * length for n in people["dx"]]
    cohort("long", X)
    out, err = run("fit", "long", "--target", "long", *svm, "--multiclass", "one-vs-one", "-o", f"long{length}", code=code)
    check("long names of classes", code == 0 or "is too long for those of pairs" in err, err)
check("are whole", "weight_" + "A" * 450 + " against " + "M" * 450 in table(open("long450/weights.tsv")))
err = run("fit", "c", *ovo, "-o", "bad2", code=2)[1]
check("of methods with pairs", "method 'lasso' fits each class against the rest" in err and "svm and mkl" in err, err)
err = run("fit", "c", *ovo, *svm, "--confounds", "age", "--confounds-as", "regress", "--regress-on", "dx=CN", "-o", "bad2", code=2)[1]
check("not with --regress-on", "'--regress-on' does not go with '--multiclass one-vs-one'" in err, err)
for word in ("--multiclass ovo", "--decision-function-shape ovo", "--ovo"):
    check("words of others", "one-vs-one" in (err := run("fit", "c", "--target", "dx", *svm, *word.split(), "-o", "bad2", code=2)[1]) or "--multiclass" in err, err)
finish()
