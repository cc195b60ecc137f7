"""Kernel machines against numpy: kernels, gaps, weights of features, gradients, predictions and cross-validation are
those of the definition. Runs in an empty directory."""
import gzip
import itertools
import json
import os
import shutil
import subprocess

import numpy as np
from oracle import check, finish, near, run, same, table, write

rng = np.random.default_rng(17)
N, P = 36, 50
ids = [f"s{k:02}" for k in range(N)]
age, sex = rng.uniform(20, 80, N).round(1), np.array(["F", "M"])[rng.integers(0, 2, N)]
X = (rng.normal(size=(N, P)) * rng.uniform(0.5, 3, P) + 7).round(2).astype("f4").astype(float)
score = X[:, 0] - X[:, 1] + 0.05 * age + rng.normal(size=N)
cost = rng.choice([0.5, 1, 2], N)
people = {"participant_id": ids, "age": age, "sex": sex, "score": score, "cost": cost, "one": ["x"] * N, "group": rng.choice(["CN", "AD"], N),
          "dx": np.where(score > np.median(score), "yes", "no"), "three": np.array(["a", "b", "c"])[np.digitize(score, np.quantile(score, [0.35, 0.7]))],
          "few": np.where(np.arange(N) < 2, "yes", "no")}


def cohort(name, values, table_of_people=people):
    write("x.tsv", {"participant_id": table_of_people["participant_id"], **{f"f{j}": values[:, j] for j in range(values.shape[1])}})
    write("people.tsv", table_of_people)
    run("cohort", "--feature-table", "x.tsv", "--participants", "people.tsv", "-q", "-o", name, "--force")


cohort("c", X)
C = np.column_stack([np.ones(N), age, sex == "M"]).astype(float)


class Machine:
    """Kernel of training rows, and of others with them."""

    def __init__(self, kind, way, regress, u, y, train=None, learn=None, classes=False, gamma=1.0, constant=1.0, degree=3):
        self.kind, self.gamma, self.constant, self.degree = kind, gamma, constant, degree
        train = np.arange(N) if train is None else train
        u = np.ones(len(train)) if u is None else u
        mean = u @ X[train] / u.sum() if way != "none" else np.zeros(P)
        self.factor = 1 / np.sqrt(u @ (X[train] - mean) ** 2 / u.sum()) if way == "unit" else np.ones(P)
        Z = (X - mean) * self.factor
        if regress:
            use = np.ones(len(train), bool) if learn is None else learn[train]
            root = np.sqrt(u * use)[:, None]
            Z = Z - C @ np.linalg.lstsq(root * C[train], root * Z[train], rcond=None)[0]
        self.Z, self.train, self.u = Z, train, u
        G = Z[train] @ Z[train].T
        if kind == "rbf":
            d = np.add.outer(np.diag(G), np.diag(G)) - 2 * G
            upper = np.triu_indices(len(train), 1)
            order = np.argsort(d[upper])
            reached = np.cumsum(np.outer(u, u)[upper][order])
            self.scale = d[upper][order][np.searchsorted(reached, reached[-1] / 2, side="right")]
        else:
            self.scale = np.average(np.diag(G), weights=u)
        self.spread = 1 if classes else np.sqrt(u @ (y - u @ y / u.sum()) ** 2 / u.sum())
        self.K = self.kernel(Z[train])

    def kernel(self, A):
        B = self.Z[self.train]
        if self.kind == "rbf":
            d = (A**2).sum(1)[:, None] + (B**2).sum(1) - 2 * A @ B.T
            return self.spread * np.exp(-self.gamma * d / self.scale)
        k = A @ B.T / self.scale
        return self.spread * (k if self.kind == "linear" else (self.gamma * k + self.constant) ** self.degree)

    def losses(self, z, y, classes, epsilon=0.1):
        return self.u @ (np.maximum(0, 1 - y * z) if classes else np.maximum(0, abs(y - z) - epsilon * self.spread))

    def gap(self, a, b, y, classes, cost=1.0, intercept=True, epsilon=0.1):
        """Relative duality gap of weights a: their own dual point, if it is in its box."""
        beta, f = a / cost, self.K @ a
        e = 0 if classes else epsilon * self.spread
        inside = (y * beta > -1e-9) & (y * beta < self.u + 1e-9) if classes else abs(beta) < self.u + 1e-9
        check("weights are in their box", inside.all() and (not intercept or abs(beta.sum()) < 1e-8), (beta, self.u))
        kinks = np.concatenate([y - e, y + e]) if intercept else [0]
        empty = min(self.losses(np.full(len(y), k), y, classes) for k in kinks)
        primal = beta @ f / 2 + self.losses(f + b, y, classes)
        return primal, (primal - (beta @ y - e * abs(beta).sum() - beta @ f / 2)) / empty


def alpha_of(folder, row=0):
    a = np.load(folder + "/alpha.npy")[row]
    return a[:-3], a[-3], a[-2:]


def weights_of(folder, name="weight"):
    t, w = table(open(folder + "/weights.tsv")), np.zeros(P)
    w[[int(i) for i in t["index"]]] = [float(v) for v in t[name]]
    return w


def scores_of(folder, classes, where="c"):
    t, about = table(run("predict", folder, where)[0].splitlines()), json.load(open(folder + "/model.json"))["outputs"][0]
    if not classes:
        return np.array(t["predicted"], float)
    p = np.array(t["p_yes"], float)
    if about["calibration_slope"] == 0:  # held-out scores did not rise with the class
        return None
    return (np.log(p / (1 - p)) - about["calibration_offset"]) / about["calibration_slope"]


# ---- Fits ------------------------------------------------------------------------------------------------
y_dx = np.where(people["dx"] == "yes", 1.0, -1.0)
base = ["--method", "svm", "-q", "--force"]
for kind, way, regress, weighted, classes in itertools.product(("linear", "rbf", "poly"), ("center", "unit", "none"), (None, "all", "CN"), (False, True), (False, True)):
    if regress and way == "none":
        continue
    what = f"{kind}, {way}, regressed on {regress}, weighted {weighted}, classes {classes}"
    words = ["--target", "dx" if classes else "score", "--kernel", kind, "--standardize", way] + ["--class-weights", "none", "--positive", "yes"] * classes
    words += ["--confounds", "age,sex", "--confounds-as", "regress"] if regress else []
    words += ["--regress-on", "group=CN"] if regress == "CN" else []
    words += ["--subject-weights", "cost"] * weighted
    run("fit", "c", *words, *base, "-o", "m")
    y, u = y_dx if classes else score, cost if weighted else None
    m = Machine(kind, way, regress, u, y, learn=people["group"] == "CN" if regress == "CN" else None, classes=classes)
    a, b, scale = alpha_of("m")
    check(what + ": scale of the kernel", near(scale, [m.scale, m.spread], 1e-9), (scale, m.scale, m.spread))
    primal, gap = m.gap(a, b, y, classes)
    about = json.load(open("m/model.json"))["outputs"][0]
    check(what + ": gap", -1e-9 < gap < 2e-6, gap)
    check(what + ": primal", near(primal, about["primal"], 1e-9), (primal, about["primal"]))
    check(what + ": support vectors", about["support_vectors"] == (a != 0).sum())
    f = m.K @ a + b
    predicted = scores_of("m", classes)
    check(what + ": predictions", predicted is None or near(predicted, f, 1e-6), predicted)
    step, gradient, square = 1e-4, np.zeros(P), np.zeros(P)
    for j in range(P):
        move = np.zeros(P)
        move[j] = step
        slopes = (m.kernel(m.Z[m.train] + move) - m.kernel(m.Z[m.train] - move)) @ a / (2 * step)
        gradient[j], square[j] = m.u @ slopes / m.u.sum(), m.u @ slopes**2 / m.u.sum()
    want = gradient * m.factor
    check(what + ": mean gradient", near(weights_of("m"), want, 1e-6 if kind == "linear" else 1e-5), abs(weights_of("m") - want).max() / abs(want).max())
    if kind == "linear":
        want = m.Z[m.train].T @ a * m.spread / m.scale * m.factor
        check(what + ": weights are X'a", near(weights_of("m"), want, 1e-9))
    if kind != "linear":
        want = np.sqrt(square) * m.factor
        check(what + ": sensitivity", near(weights_of("m", "sensitivity"), want, 1e-5), abs(weights_of("m", "sensitivity") - want).max() / want.max())
    check(what + ": certificate", json.loads(run("check-model", "m", "c", "--json")[0])["holds"] is True)
    check(what + ": files", ("training.npy" in os.listdir("m")) == (kind != "linear"))

# ---- Features far from 0: what a regression leaves is the same with and without centering before it ---------
cohort("far", X + 1e5)
open("groups.tsv", "w").write("group\tfeature\n" + "".join(f"g{j // 10}\tf{j}\n" for j in range(P)))
for way in (["--method", "svm"], ["--method", "mkl", "--groups", "file:groups.tsv"]):
    at = {}
    for standardize in ("none", "center"):
        run("fit", "far", "--target", "score", *way, "--confounds", "age,sex", "--confounds-as", "regress", "--standardize", standardize, "--tol", "1e-9", "-q", "--force", "-o", "m")
        at[standardize] = weights_of("m")
    check(f"{way[1]} regressed far from 0", near(at["none"], at["center"], 1e-7), abs(at["none"] - at["center"]).max())

# ---- What is edited is seen ------------------------------------------------------------------------------
for kind in ("linear", "rbf"):
    run("fit", "c", "--target", "dx", "--kernel", kind, *base, "-o", "m")
    for file in ("weights.tsv", "alpha.npy"):
        shutil.rmtree("bad", ignore_errors=True)
        shutil.copytree("m", "bad")
        if file == "alpha.npy":
            a = np.load("bad/alpha.npy")
            a[0, abs(a[0, :N]).argmax()] *= 1.01
            np.save("bad/alpha.npy", a)
        else:
            rows = open("bad/weights.tsv").read().split("\n")
            cells = rows[5].split("\t")
            rows[5] = "\t".join(cells[:-1] + [repr(float(cells[-1]) * 1.1 + 0.1)])
            open("bad/weights.tsv", "w").write("\n".join(rows))
        out, err = run("check-model", "bad", "c", code=65)
        words = "sensitivities are not" if file == "weights.tsv" and kind == "rbf" else "weights of features are not those of its subjects"
        check(f"{kind}: an edited {file} is refused", words in err or "does not have its weights" in err, out + err)
run("fit", "c", "--target", "dx", *base, "-o", "m")
check("a linear machine has no sensitivity", "sensitivity" not in open("m/weights.tsv").readline())

# ---- The map of sensitivities is the column of the table -------------------------------------------------
run("simulate", "skfs-linear", "--subjects", "24", "--seed", "3", "-q", "-o", "brains")
target = table(open("brains/participants.tsv"))
run("fit", "brains", "--target", list(target)[1], "--kernel", "rbf", *base, "-o", "voxels")
raw = gzip.open("voxels/sensitivity.nii.gz").read()
shape, offset = np.frombuffer(raw, "<i2", 8, 40)[1:4].astype(int), int(np.frombuffer(raw, "<f4", 1, 108)[0])
image = np.frombuffer(raw, "<f4", np.prod(shape), offset).reshape(shape, order="F")
t = table(open("voxels/weights.tsv"))
at, column = np.array([t[k] for k in "ijk"], float).astype(int), np.array(t["sensitivity"], float)
check("sensitivity of voxels", near(image[tuple(at)], column, 1e-6) and (image != 0).sum() == (column != 0).sum())
check("and no mean is larger", (column >= abs(np.array(t["weight"], float)) * (1 - 1e-9)).all())
run("report", "voxels", "-o", "voxels.html", "--force")
check("its page has the map", "Sensitivity: root mean square" in open("voxels.html").read())

# ---- Identities ------------------------------------------------------------------------------------------
run("fit", "c", "--target", "score", *base, "-o", "m")
run("fit", "c", "--target", "score", "--kernel", "poly", "--degree", "1", "--coef0", "0", *base, "-o", "m1")
check("a polynomial of degree 1 is linear", near(alpha_of("m")[0], alpha_of("m1")[0], 1e-9) and near(weights_of("m"), weights_of("m1"), 1e-9))
check("and predicts the same", near(scores_of("m", False), scores_of("m1", False), 1e-6))
order = rng.permutation(N)
cohort("mixed", X[order], {k: np.array(v)[order] for k, v in people.items()})
run("fit", "mixed", "--target", "score", *base, "-o", "m1")
check("the order of subjects", near(weights_of("m"), weights_of("m1"), 1e-6))
run("fit", "c", "--target", "score", "--standardize", "none", "--no-intercept", *base, "-o", "m")
m = Machine("linear", "none", False, None, score)
a, b, _ = alpha_of("m")
check("without an intercept", b == 0 and -1e-9 < m.gap(a, 0, score, False, intercept=False)[1] < 2e-6)
check("and its predictions", near(scores_of("m", False), m.K @ a, 1e-6))
run("fit", "c", "--target", "three", "--class-weights", "none", "--kernel", "rbf", *base, "-o", "m")
for k, name in enumerate("abc"):
    y = np.where(people["three"] == name, 1.0, -1.0)
    m = Machine("rbf", "center", False, None, y, classes=True)
    a, b, _ = alpha_of("m", k)
    check("one against the rest", -1e-9 < m.gap(a, b, y, True)[1] < 2e-6)
check("certificates of three classes", json.loads(run("check-model", "m", "c", "--json")[0])["holds"] is True)
factors = rng.uniform(0.5, 2, P)
write("factors.tsv", {"feature": [f"f{j}" for j in range(P)], "penalty": factors})
run("fit", "c", "--target", "score", "--penalty-factors", "factors.tsv", *base, "-o", "m")
kept, X = X, X / factors
m = Machine("linear", "center", False, None, score)
X = kept
a, b, _ = alpha_of("m")
check("features of other penalties", near(m.K @ a + b, scores_of("m", False), 1e-6) and near(weights_of("m"), m.Z.T @ a * m.spread / m.scale / factors, 1e-9))
check("their certificate", json.loads(run("check-model", "m", "c", "--json")[0])["holds"] is True)

# ---- Paths and the choice of C ---------------------------------------------------------------------------
said = json.loads(run("path", "c", "--target", "score", *base[:3], "--C", "0.01,1,30", "--json")[0])["outputs"][0]["points"]
check("a path of C", near([q["C"] for q in said], [0.01, 1, 30]) and all(q["gap"] <= q["tol"] for q in said), said)
run("fit", "c", "--target", "score", *base, "--C", "30", "-o", "m")
check("ends where a fit does", near(json.load(open("m/model.json"))["outputs"][0]["primal"], said[2]["primal"], 1e-5))
run("fit", "c", "--target", "score", *base, "--C", "0.01,1,30", "--choose-lambda", "3", "-o", "m")
about = json.load(open("m/model.json"))
check("C by folds", near(about["costs"], [0.01, 1, 30]) and min(abs(np.array(about["costs"]) / about["outputs"][0]["C"] - 1)) < 1e-12 and len(about["inner_losses"][0]) == 3, (about["costs"], about["outputs"][0]["C"], about["inner_losses"]))

# ---- Folds -----------------------------------------------------------------------------------------------
grid = ["--C", "0.1,1,10", "--folds", "3", "--inner-folds", "3", "--bootstraps", "100", "-q"]


def folds_of(folder):
    said = json.load(open(folder + "/cv.json"))
    return said, np.array(table(open(folder + "/folds.tsv"))["fold"], int), np.array(table(open(folder + "/predictions.tsv"))["predicted"], float)


for kind, words in (("linear", []), ("rbf", ["--confounds", "age,sex", "--confounds-as", "regress"]), ("linear", ["--standardize", "unit"]), ("poly", ["--subject-weights", "cost"])):
    words = ["--target", "score", "--method", "svm", "--kernel", kind, *words]
    run("cv", "c", *words, *grid, "-o", "v", "--force")
    said, fold, predicted = folds_of("v")
    for f in said["each_fold"]:
        write("c/participants.tsv", {**people, "use": np.where(fold != f["fold"], "yes", "no")})
        run("fit", "c", "--only", "use=yes", *words, "--C", repr(f["C"]), "-q", "--force", "-o", "m")
        want = scores_of("m", False)
        check(f"support vectors of a fold of {words}", f["support_vectors"] == [json.load(open("m/model.json"))["outputs"][0]["support_vectors"]])
        check(f"a fold of {words}", near(predicted[fold == f["fold"]], want[fold == f["fold"]], 1e-6), (predicted[fold == f["fold"]], want[fold == f["fold"]]))
write("c/participants.tsv", people)

# One subject left out, and features that have next to no weight: scores are the constants of folds, which say nothing.
for target, more in (("score", []), ("dx", ["--class-weights", "none"]), ("score", ["--subject-weights", "cost"])):
    run("cv", "c", "--target", target, "--method", "svm", "--C", "1e-9", "--folds", str(N), "--inner-folds", "0", "--bootstraps", "100", "-q", "-o", "v", "--force", *more)
    t = table(open("v/predictions.tsv"))
    aligned, scores = np.array(t["aligned_yes" if target == "dx" else "aligned"], float), np.array(t["score_yes" if target == "dx" else "predicted"], float)
    check(f"constants of folds, {target} {more}", np.ptp(aligned) < 1e-5 < np.ptp(scores), (aligned, scores))

# A subject's features have no part in the folds that it is left out of, however far out they are.
words = ["--target", "score", "--folds-from", "fold"]
marked = {**people, "fold": np.arange(N) % 3}
for way, value in (("center", 1e9), ("unit", 1e9), ("none", 3e4)):
    for kind in ("linear", "rbf", "lasso"):
        other = X.copy()
        other[0] += value
        more = [*words, "--standardize", way, "--inner-folds", "2", *grid[6:]]
        more += ["--nlambda", "10"] if kind == "lasso" else ["--method", "svm", "--kernel", kind, *grid[:2]]
        cohort("c1", X, marked)
        cohort("c2", other, marked)
        for c in ("c1", "c2"):
            run("cv", c, *more, "-o", "v" + c, "--force")
        (one, fold, p), (two, _, q) = folds_of("vc1"), folds_of("vc2")
        left = (np.arange(N) % 3 == 0) & (np.arange(N) > 0)
        check(f"left out of its fold: {way}, {kind}", near(p[left], q[left], 1e-9), (p[left], q[left]))
        check("and its choice", near(*(np.nan_to_num(np.array(v["inner_losses"][0], float)) for v in (one, two)), 1e-9) and [one["each_fold"][0].get(k) for k in ("C", "lambda")] == [two["each_fold"][0].get(k) for k in ("C", "lambda")])
        check("but of the others", not near(p[~left & (np.arange(N) > 0)], q[~left & (np.arange(N) > 0)], 1e-3))

# Chosen features alone are in the kernel.
run("cv", "c", "--target", "score", "--method", "svm", "--prefilter", "ttest:0.2", *grid, "-o", "v", "--force")
said, fold, predicted = folds_of("v")
for f in said["each_fold"]:
    train = np.flatnonzero(fold != f["fold"])
    r = np.abs([np.corrcoef(X[train, j], score[train])[0, 1] for j in range(P)])
    keep = r * np.sqrt((len(train) - 2) / (1 - r**2)) > 1.3188 + 0.0  # Student's t at 0.1 of 22 degrees of freedom: 1.3212
    kept, X, p = X, X[:, keep], P
    P = int(keep.sum())
    cohort("part", X, {**people, "use": np.where(fold != f["fold"], "yes", "no")})
    X, P = kept, p
    run("fit", "part", "--target", "score", "--method", "svm", "--only", "use=yes", "--C", repr(f["C"]), "-q", "--force", "-o", "m")
    want = scores_of("m", False, "part")
    check("a fold of chosen features", near(predicted[fold == f["fold"]], want[fold == f["fold"]], 1e-6))

# ---- Runs in pieces --------------------------------------------------------------------------------------
for kind, target in (("linear", "score"), ("rbf", "three")):
    for command, words in (("cv", ["--repeats", "2"]), ("permute", ["--permutations", "5", "--stop-at", "0"])):
        words = [command, "c", "--target", target, "--method", "svm", "--kernel", kind, *grid, *words]
        run(*words, "-o", "whole", "--force")
        run(*words, "-o", "threads", "--force", "--nthreads", "2")
        same(f"{command} of {kind}, 2 threads", "whole", "threads")
        for k in (1, 2):
            run(*words, "--chunk", f"{k}/2", "-o", f"part{k}", "--force")
        run("merge", "part2", "part1", "-o", "merged", "--force", "-q")
        same(f"{command} of {kind}, merged", "whole", "merged")

# ---- What is refused -------------------------------------------------------------------------------------
write("flat.tsv", {"participant_id": ids, "a": [3] * N, "b": [1.5] * N})
run("cohort", "--feature-table", "flat.tsv", "--participants", "people.tsv", "-q", "-o", "flat")
write("two.tsv", {"participant_id": ids[:2], "dx": ["yes", "no"]})
write("two_x.tsv", {"participant_id": ids[:2], "a": [1, 2], "b": [5, 3]})
run("cohort", "--feature-table", "two_x.tsv", "--participants", "two.tsv", "-q", "-o", "two")
for words, code, part in ((["stability", "c", "--target", "dx"], 2, "no selection to be stable"),
                          (["fit", "c", "--target", "dx", "--C", "3,1"], 2, "that rise"),
                          (["fit", "c", "--target", "dx", "--C", "1,3"], 2, "'--C' has 2 values"),
                          (["cv", "c", "--target", "dx", "--C", "1,3", "--inner-folds", "0"], 2, "'--C' has 2 values"),
                          (["fit", "c", "--target", "one"], 65, "'one'"),
                          (["fit", "c", "--target", "dx", "--confounds", "age"], 2, "with '--confounds-as regress'"),
                          (["fit", "c", "--target", "dx", "--lambda", "1"], 2, "no option '--lambda'"),
                          (["fit", "two", "--target", "dx"], 65, "training needs two of each class"),
                          (["fit", "flat", "--target", "dx"], 65, "feature"),
                          (["fit", "flat", "--target", "dx", "--kernel", "rbf"], 65, "feature"),
                          (["fit", "c", "--target", "dx", "--no-intercept"], 2, "'--standardize none'")):
    check(" ".join(words), part in run(*words, "--method", "svm", "-o", "x", code=code)[1], run(*words, "--method", "svm", "-o", "x", code=code)[1])
    check("nothing is left of what is refused", not os.path.exists("x"))
# ---- Weights of very different sizes: every fit ends, and says what check-model says ------------------------
hard = np.array([[-2.01, 1.4, -1.59], [0.4, 0.87, 3.29], [0.17, -0.14, 0.45], [0.5, 1.36, 0.69], [-0.8, -2.18, 0.29], [-0.7, 1.44, -1.36],
                 [0.2, -0.76, -0.91], [1.71, 0.17, -0.19], [0.76, -0.81, -0.38], [-0.66, 2.04, 0.34], [0.65, 1.15, -0.19],
                 [-0.16, -1.69, 0.49], [0.27, -0.43, 1.24], [-1.85, 0.43, -1.43], [-1.19, -0.22, 1.37], [-1.23, -1.04, -1.26],
                 [2.08, 0.54, 0.42], [2.13, 0.25, -2.18], [-0.53, -1.24, 2.1], [-1.47, 0.31, -0.54]])
cohort("hard", hard, {"participant_id": ids[:20], "dx": list("BBBBABBABBBAAABAABBB"),
                      "w": [1e-6, 1e6, 1e6, 1e-6, 1e-6, 1e-6, 1e-6, 1e6, 1e6, 1, 1, 1e6, 1, 1e6, 1, 1, 1e-6, 1, 1e-6, 1e6]})
for number, more in itertools.product(("0.001", "1", "1000"), ([], ["--kernel", "rbf"])):
    words = ["--target", "dx", "--method", "svm", "--C", number, "--subject-weights", "w", *more]
    code = subprocess.run(["voxsift", "fit", "hard", *words, "-o", "m", "--force", "-q"], capture_output=True, timeout=120).returncode
    again = subprocess.run(["voxsift", "check-model", "m", "hard"], capture_output=True).returncode
    check(" ".join(words) + ": fit and check-model agree", code == again and code in (0, 3), (code, again))
finish()
