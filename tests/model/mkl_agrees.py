"""Multiple kernels against numpy: kernels of groups, gaps, weights of features, predictions and cross-validation are those
of the definition; the optimum is that of a projected gradient. Runs in an empty directory."""
import itertools
import json
import os
import shutil

import numpy as np
from oracle import check, finish, near, run, same, table, write

rng = np.random.default_rng(20)
N, P = 30, 24
ids = [f"s{k:02}" for k in range(N)]
age, sex = rng.uniform(20, 80, N).round(1), np.array(["F", "M"])[rng.integers(0, 2, N)]
X = (rng.normal(size=(N, P)) * rng.uniform(0.5, 3, P) + 7).round(2).astype("f4").astype(float)
score = X[:, 0] - X[:, 1] + X[:, 9] + 0.03 * age + rng.normal(size=N)
cost = rng.choice([0.5, 1, 2], N)
people = {"participant_id": ids, "age": age, "sex": sex, "score": score, "cost": cost, "dx": np.where(score > np.median(score), "yes", "no"),
          "three": np.array(["a", "b", "c"])[np.digitize(score, np.quantile(score, [0.35, 0.7]))]}
groups = {"front": range(0, 6), "back": range(6, 9), "left": range(9, 16), "right": range(15, 22), "flat": [22]}  # two of them overlap, f23 is in none
X[:, 22] = 3
C = np.column_stack([np.ones(N), age, sex == "M"]).astype(float)


def cohort(name, values, table_of_people=people):
    write("x.tsv", {"participant_id": table_of_people["participant_id"], **{f"f{j}": values[:, j] for j in range(values.shape[1])}})
    write("people.tsv", table_of_people)
    run("cohort", "--feature-table", "x.tsv", "--participants", "people.tsv", "-q", "-o", name, "--force")


write("groups.tsv", {"group": [g for g, m in groups.items() for _ in m], "feature": [f"f{j}" for m in groups.values() for j in m]})
cohort("c", X)
base = ["--method", "mkl", "--groups", "file:groups.tsv", "-q", "--force"]
names = list(groups)


class Machines:
    """Kernels of training rows, one a group, as the definition has them."""

    def __init__(self, way, scale, regress, u, y, classes):
        u = np.ones(N) if u is None else u
        mean = u @ X / u.sum() if way != "none" else np.zeros(P)
        spread = np.sqrt(u @ (X - mean) ** 2 / u.sum())
        self.factor = np.divide(1, spread, out=np.zeros(P), where=spread > 1e-9) if way == "unit" else np.ones(P)
        self.Z = (X - mean) * self.factor
        if regress:
            root = np.sqrt(u)[:, None]
            self.Z = self.Z - C @ np.linalg.lstsq(root * C, root * self.Z, rcond=None)[0]
        self.u, self.sd = u, 1 if classes else np.sqrt(u @ (y - u @ y / u.sum()) ** 2 / u.sum())
        raw = [self.Z[:, list(m)] @ self.Z[:, list(m)].T for m in groups.values()]
        means = np.array([u @ np.diag(k) / u.sum() for k in raw])
        means[means < 1e-9] = 0
        if scale == "all":
            means[means > 0] = means[means > 0].mean()
        self.scale = np.divide(self.sd, means, out=np.zeros(len(means)), where=means > 0)
        self.K = np.array([s * k for s, k in zip(self.scale, raw)])

    def losses(self, z, y, classes, epsilon=0.1):
        return self.u @ (np.maximum(0, 1 - y * z) if classes else np.maximum(0, abs(y - z) - epsilon * self.sd))

    def gap(self, a, d, b, y, classes, cost=1.0, intercept=True):
        """Primal value and relative gap of weights d of kernels and a of subjects, which are their own dual point."""
        beta, e = a / cost, 0 if classes else 0.1 * self.sd
        inside = (y * beta > -1e-9) & (y * beta < self.u + 1e-9) if classes else abs(beta) < self.u + 1e-9
        check("weights are in their box", inside.all() and (not intercept or abs(beta.sum()) < 1e-8), (beta, self.u))
        squares = np.maximum(0, [a @ k @ a for k in self.K])
        f = np.tensordot(d, self.K, 1) @ a
        primal = (d @ np.sqrt(squares)) ** 2 / (2 * cost) + self.losses(f + b, y, classes)
        kinks = np.concatenate([y - e, y + e]) if intercept else [0]
        empty = min(self.losses(np.full(N, k), y, classes) for k in kinks)
        return primal, (primal - (beta @ y - e * abs(beta).sum() - squares.max() / (2 * cost))) / empty


def read(folder, row=0):
    a, t = np.load(folder + "/alpha.npy")[row], table(open(folder + "/kernel_weights.tsv"))
    part = slice(row * len(names), (row + 1) * len(names))
    check("groups of kernel_weights.tsv", t["group"][part] == names and [int(float(v)) for v in t["features"][part]] == [len(m) for m in groups.values()], t)
    return a[:-3], np.array(t["weight"][part], float), np.array(t["norm"][part], float), a[-3]


def weights_of(folder, name="weight"):
    t, w = table(open(folder + "/weights.tsv")), np.zeros(P)
    w[[int(i) for i in t["index"]]] = [float(v) for v in t[name]]
    return w


def predicted_of(folder, where="c"):
    return np.array(table(run("predict", folder, where)[0].splitlines())["predicted"], float)


def holds(folder):
    return json.loads(run("check-model", folder, "c", "--json")[0])["holds"] is True


# ---- Fits ------------------------------------------------------------------------------------------------
y_dx = np.where(people["dx"] == "yes", 1.0, -1.0)
for way, scale, regress, weighted, classes in itertools.product(("center", "unit", "none"), ("each", "all"), (False, True), (False, True), (False, True)):
    if regress and way == "none":
        continue
    what = f"{way}, {scale}, regressed {regress}, weighted {weighted}, classes {classes}"
    words = ["--target", "dx" if classes else "score", "--standardize", way, "--kernel-scale", scale] + ["--class-weights", "none", "--positive", "yes"] * classes
    words += ["--confounds", "age,sex", "--confounds-as", "regress"] * regress + ["--subject-weights", "cost"] * weighted
    run("fit", "c", *words, *base, "-o", "m")
    y = y_dx if classes else score
    m = Machines(way, scale, regress, cost if weighted else None, y, classes)
    a, d, norm, b = read("m")
    primal, gap = m.gap(a, d, b, y, classes)
    about = json.load(open("m/model.json"))["outputs"][0]
    check(what + ": gap", -1e-9 < gap < 2e-6, gap)
    check(what + ": primal", near(primal, about["primal"], 1e-8), (primal, about["primal"]))
    check(what + ": weights of kernels", abs(d.sum() - 1) < 1e-12 and (d >= 0).all() and d[4] == (0 if way != "none" else d[4]) and about["kernels"] == (d > 0).sum() and about["support_vectors"] == (a != 0).sum(), d)
    squares = np.maximum(0, [a @ k @ a for k in m.K])
    check(what + ": norms", abs(norm - np.sqrt(squares / squares.max())).max() < 1e-6 and d @ (1 - norm) < 1e-4, (d, norm))
    want = np.zeros(P)
    for s, weight, members in zip(m.scale, d, groups.values()):
        want[list(members)] += weight * s * (m.Z[:, list(members)].T @ a)
    check(what + ": weights are sums over groups of X'a", near(weights_of("m"), want * m.factor, 1e-8), abs(weights_of("m") - want * m.factor).max())
    if not classes:
        check(what + ": predictions", near(predicted_of("m"), np.tensordot(d, m.K, 1) @ a + b, 1e-6))
    check(what + ": certificate", holds("m"))

# ---- The optimum -----------------------------------------------------------------------------------------


def descend(m, y, cost, steps=20000):
    """Without an intercept: the dual of classes by projected gradients of max_g, which are its subgradients; its best value."""
    t, best = np.zeros(N), 0.0
    for k in range(steps):
        products = np.array([K @ (t * y) for K in m.K])
        squares = products @ (t * y)
        best = max(best, t.sum() - squares.max() / 2)
        t = np.clip(t + 3 / (10 + k) * (1 - y * products[squares.argmax()]), 0, cost)
    return best


run("fit", "c", "--target", "dx", "--class-weights", "none", "--positive", "yes", "--standardize", "none", "--no-intercept", *base, "-o", "m")
m = Machines("none", "each", False, None, y_dx, True)
a, d, _, b = read("m")
found, lower = json.load(open("m/model.json"))["outputs"][0]["primal"], descend(m, y_dx, 1.0)
check("a projected gradient ends at the same value", b == 0 and lower <= found * (1 + 1e-6) and lower >= found * (1 - 1e-3), (found, lower))
check("without an intercept", -1e-9 < m.gap(a, d, 0, y_dx, True, intercept=False)[1] < 2e-6)

# ---- What is edited is seen ------------------------------------------------------------------------------
run("fit", "c", "--target", "dx", *base, "-o", "m")
for file in ("weights.tsv", "alpha.npy", "kernel_weights.tsv"):
    shutil.rmtree("bad", ignore_errors=True)
    shutil.copytree("m", "bad")
    if file == "alpha.npy":
        a = np.load("bad/alpha.npy")
        a[0, abs(a[0, :N]).argmax()] *= 1.01
        np.save("bad/alpha.npy", a)
    else:
        rows = open("bad/" + file).read().split("\n")
        at = 1 + max(range(len(names)), key=lambda k: float(rows[k + 1].split("\t")[2])) if file == "kernel_weights.tsv" else 3
        cells = rows[at].split("\t")
        k = 2 if file == "kernel_weights.tsv" else -1
        cells[k] = repr(float(cells[k]) * 0.9)
        rows[at] = "\t".join(cells)
        open("bad/" + file, "w").write("\n".join(rows))
    os.path.exists("bad/sha256sums") and os.remove("bad/sha256sums")
    out, err = run("check-model", "bad", "c", code=65)
    check(f"an edited {file} is refused", "weights of features are not those of its subjects" in err or "do not sum to 1" in err or "does not have its weights" in err, out + err)

# ---- Identities ------------------------------------------------------------------------------------------
write("whole.tsv", {"group": ["all"] * P, "feature": [f"f{j}" for j in range(P)]})
run("fit", "c", "--target", "score", "--method", "mkl", "--groups", "file:whole.tsv", "--tol", "1e-9", "-q", "--force", "-o", "m1")
run("fit", "c", "--target", "score", "--method", "svm", "--tol", "1e-9", "-q", "--force", "-o", "m2")
check("one group is svm", near(weights_of("m1"), weights_of("m2"), 1e-4) and near(predicted_of("m1"), predicted_of("m2"), 1e-4))
run("fit", "c", "--target", "three", "--class-weights", "none", *base, "-o", "m")
for k, name in enumerate("abc"):
    y = np.where(people["three"] == name, 1.0, -1.0)
    m = Machines("center", "each", False, None, y, True)
    a, d, _, b = read("m", k)
    check("one against the rest", -1e-9 < m.gap(a, d, b, y, True)[1] < 2e-6)
check("certificates of three classes", holds("m"))
run("report", "m", "-q", "-o", "page.html")
check("a page of three classes", "Groups by weight" in open("page.html").read())

# ---- Paths, folds, permutations --------------------------------------------------------------------------
said = json.loads(run("path", "c", "--target", "score", *base[:5], "--C", "0.01,1,30", "--json")[0])["outputs"][0]["points"]
check("a path of C", near([q["C"] for q in said], [0.01, 1, 30]) and all(q["gap"] <= q["tol"] for q in said), said)
run("fit", "c", "--target", "score", *base, "--C", "30", "-o", "m")
check("ends where a fit does", near(json.load(open("m/model.json"))["outputs"][0]["primal"], said[2]["primal"], 1e-5))
grid = ["--C", "0.1,1,10", "--folds", "3", "--inner-folds", "3", "--bootstraps", "100", "-q"]


def folds_of(folder):
    said = json.load(open(folder + "/cv.json"))
    return said, np.array(table(open(folder + "/folds.tsv"))["fold"], int), np.array(table(open(folder + "/predictions.tsv"))["predicted"], float)


for more in ([], ["--confounds", "age,sex", "--confounds-as", "regress"], ["--standardize", "unit"], ["--subject-weights", "cost", "--kernel-scale", "all"]):
    words = ["--target", "score", *base[:4], *more]
    run("cv", "c", *words, *grid, "-o", "v", "--force")
    said, fold, predicted = folds_of("v")
    for f in said["each_fold"]:
        write("c/participants.tsv", {**people, "use": np.where(fold != f["fold"], "yes", "no")})
        run("fit", "c", "--only", "use=yes", *words, "--C", repr(f["C"]), "-q", "--force", "-o", "m")
        want = predicted_of("m")
        check(f"a fold of {more}", near(predicted[fold == f["fold"]], want[fold == f["fold"]], 2e-3), (predicted[fold == f["fold"]], want[fold == f["fold"]]))
write("c/participants.tsv", people)
run("report", "v", "-q", "-o", "page.html", "--force")

# A subject's features have no part in the folds that it is left out of, however far out they are.
marked = {**people, "fold": np.arange(N) % 3}
for way, value in (("center", 1e9), ("unit", 1e9)):
    other = X.copy()
    other[0] += value
    cohort("c1", X, marked)
    cohort("c2", other, marked)
    for c in ("c1", "c2"):
        run("cv", c, "--target", "score", "--folds-from", "fold", *base[:4], "--standardize", way, "--inner-folds", "2", *grid[:2], *grid[6:], "-o", "v" + c, "--force")
    (one, fold, p), (two, _, q) = folds_of("vc1"), folds_of("vc2")
    left = (np.arange(N) % 3 == 0) & (np.arange(N) > 0)
    check(f"left out of its fold: {way}", near(p[left], q[left], 1e-6), (p[left], q[left]))
    check("and its choice", near(*(np.array(v["inner_losses"][0], float) for v in (one, two)), 1e-6) and one["each_fold"][0]["C"] == two["each_fold"][0]["C"])
    check("but of the others", not near(p[~left & (np.arange(N) > 0)], q[~left & (np.arange(N) > 0)], 1e-3))
cohort("c", X)
for command, more in (("cv", ["--repeats", "2"]), ("permute", ["--permutations", "5", "--stop-at", "0"])):
    words = [command, "c", "--target", "score", *base[:4], *grid, *more]
    run(*words, "-o", "whole", "--force")
    run(*words, "-o", "threads", "--force", "--nthreads", "2")
    same(f"{command}, 2 threads", "whole", "threads")
    for k in (1, 2):
        run(*words, "--chunk", f"{k}/2", "-o", f"part{k}", "--force")
    run("merge", "part2", "part1", "-o", "merged", "--force", "-q")
    same(f"{command}, merged", "whole", "merged")

# ---- What is refused -------------------------------------------------------------------------------------
for words, code, part in ((["fit", "c", "--target", "dx", "--method", "mkl"], 2, "needs '--groups"),
                          (["stability", "c", "--target", "dx", *base[:4]], 2, "no selection to be stable"),
                          (["fit", "c", "--target", "dx", *base[:4], "--C", "1,3"], 2, "'--C' has 2 values"),
                          (["fit", "c", "--target", "dx", *base[:4], "--confounds", "age"], 2, "with '--confounds-as regress'"),
                          (["fit", "c", "--target", "dx", *base[:4], "--kernel", "rbf"], 2, "--kernel"),
                          (["fit", "c", "--target", "dx", "--method", "mkl", "--groups", "file:none.tsv"], 66, "none.tsv")):
    check(" ".join(words), part in run(*words, "-o", "x", code=code)[1], run(*words, "-o", "x", code=code)[1])
    check("nothing is left of what is refused", not os.path.exists("x"))
# ---- A machine that predicts a constant: no group and no feature has a weight, its certificate holds ---------------------
few = np.random.default_rng(4).normal(size=(40, 4)).round(2)
rare = np.array(["no"] * 40)
rare[np.argsort((few**2).sum(1))[:8]] = "yes"
write("few.tsv", {"group": ["one", "one", "two", "two", "two"], "feature": ["f0", "f1", "f1", "f2", "f3"]})
cohort("inner", few, {"participant_id": [f"s{k:02}" for k in range(40)], "dx": rare})
for number in ("0.01", "1", "300"):
    for way in ("each", "all"):
        run("fit", "inner", "--target", "dx", *base[:2], "--groups", "file:few.tsv", "--kernel-scale", way, "--C", number,
            "--class-weights", "none", *base[4:], "-o", "m")
        weight = np.array(table(open("m/weights.tsv"))["weight"], float)
        check("a constant machine", (weight == 0).all(), weight)
        of_kernels = table(open("m/kernel_weights.tsv"))
        check("no group has a weight", set(of_kernels["weight"]) == {"0"} and set(of_kernels["norm"]) == {"0"}, of_kernels)
        said = json.load(open("m/model.json"))["outputs"][0].get("kernels", 0)
        check("and model.json says so", said == 0, said)
        out, err = run("check-model", "m", "inner", "--json")
        check(f"certificate of a constant machine, C {number}, {way}", out and json.loads(out)["holds"] is True, err)

finish()
