"""Bags of instances against an explicit embedding in numpy: columns, widths, certificates, scores of new subjects by the
model alone, and cross-validation, whose folds know nothing of held-out bags. Runs in an empty directory."""
import json
import shutil

import numpy as np
from oracle import check, finish, near, run, table, write

rng = np.random.default_rng(23)
BAGS, P = 40, 6
sizes = rng.integers(1, 7, BAGS)
bag = np.repeat(np.arange(BAGS), sizes)
N = len(bag)
y = np.arange(BAGS) % 2
X = rng.normal(size=(N, P)) * 2 + 50
for b in range(BAGS):  # one instance of a positive bag is of its own kind
    if y[b]:
        X[np.flatnonzero(bag == b)[0]] = 50 + np.array([4, -4, 0, 3, 0, 0]) + rng.normal(size=P)
X = X.round(3).astype("f4").astype(float)
age = rng.uniform(20, 80, BAGS).round(1)
order = rng.permutation(N)  # rows of a bag are apart
bag, X = bag[order], X[order]
ids = [f"i{k:03}" for k in range(N)]
people = {"participant_id": ids, "bag": [f"b{b:02}" for b in bag], "label": [["no", "yes"][y[b]] for b in bag], "score": y[bag] + 0.01 * age[bag],
          "age": age[bag], "site": [f"s{b % 4}" for b in bag], "mixed": rng.integers(0, 9, N), "number": [["1", "1.0"][k % 2] for k in range(N)]}
NAMES = [f"f{j}" for j in range(P)]


def cohort(name, keep=slice(None), names=NAMES, values=X, *more):
    rows = np.arange(N)[keep]
    write("x.tsv", {"participant_id": [ids[k] for k in rows], **{names[j]: values[rows, j] for j in range(P)}})
    write("people.tsv", {h: [v[k] for k in rows] for h, v in people.items()})
    run("cohort", "--feature-table", "x.tsv", "--participants", "people.tsv", "-q", "-o", name, "--force", *more)


first = {}
for k in range(N):
    first.setdefault(bag[k], len(first))
names_of = sorted(first, key=first.get)  # bags in the order of their first rows
place = {b: i for i, b in enumerate(names_of)}
instance = sorted(range(N), key=lambda k: (place[bag[k]], k))  # columns
own = np.array([place[bag[k]] for k in instance])
D = np.array([[min(((X[j] - X[k]) ** 2).sum() for j in range(N) if bag[j] == b) for k in instance] for b in names_of])
left = np.array([min([((X[j] - X[k]) ** 2).sum() for j in range(N) if bag[j] == bag[k] and j != k], default=np.inf) for k in instance])
Y = np.array([1.0 if y[b] else -1.0 for b in names_of])


def median_of(train):
    cols = np.isin(own, train)
    off = np.sort(np.array([D[i, k] for i in train for k in np.flatnonzero(cols) if own[k] != i]))
    return off[(len(off) - 1) // 2]


def embedding(train, width, left_out=False, rows=None):
    """Rows, of these and others, against instances of training bags."""
    S = np.exp(-D / (2 * width * median_of(train)))
    if left_out:
        S[own, np.arange(N)] = np.exp(-left / (2 * width * median_of(train)))
    S[:, ~np.isin(own, train)] = 0
    return S if rows is None else S[rows]


def model(path):
    w = table(open(f"{path}/weights.tsv"))
    weights = np.zeros(N)
    weights[[int(k) for k in w["index"]]] = [float(v) for v in w["weight"]]
    check(f"{path}: names", w["feature"] == [ids[instance[int(k)]] for k in w["index"]])
    about = json.load(open(f"{path}/model.json"))
    return weights, about["outputs"][0]["unpenalized_weights"], about


def confirm(what, path, train, width, left_out=False):
    """Optimality of the l1 problem on centered columns of the explicit embedding, in which no column is of another bag."""
    w, b, about = model(path)
    S = embedding(train, width, left_out)[train]
    z = S @ w + b[0]
    g = -Y[train] / (1 + np.exp(Y[train] * z))  # classes are as large as each other
    c = (S - S.mean(0)).T @ g
    lam = about["outputs"][0]["lambda"]
    check(what + ": weights are of training bags", not w[~np.isin(own, train)].any())
    check(what + ": gradients of weights", np.abs(c[w != 0] + lam * np.sign(w[w != 0])).max() < 2e-3 * lam, c[w != 0] / lam)
    check(what + ": all other gradients", np.abs(c).max() < (1 + 2e-3) * lam)
    check(what + ": the intercept", abs(g.sum()) < 1e-4)
    t = table(open(f"{path}/instances.tsv"))
    sigma = np.sqrt(width * median_of(train))
    check(what + ": sigma is by the median", near([float(s) for s in t["sigma"]], sigma, 1e-5), (t["sigma"], sigma))
    check(what + ": bags of instances", [f"b{bag[instance[int(k)]]:02}" for k in t["index"]] == t["bag"])
    S = embedding(train, width)
    for label in ("no", "yes"):
        rows = [i for i in train if (Y[i] > 0) == (label == "yes")]
        check(what + ": mean similarities", near([float(s) for s in t[f"similarity_{label}"]], S[rows][:, [int(k) for k in t["index"]]].mean(0), 1e-5))
    check(what + ": values", np.array_equal(np.load(f"{path}/instances.npy"), X[[instance[int(k)] for k in t["index"]]].astype("f4")))


def scores_of(path, *what):
    d = json.loads(run("predict", path, *what, "--training-too", "--json", "-q")[0])
    return {s["id"]: s["scores"][0] if "scores" in s else s for s in d["subjects"]}


cohort("c")
everybody = np.arange(BAGS)
BASE = ("--target", "label", "--bags", "bag", "--positive", "yes", "--class-weights", "none")
for loss_of, width, left_out in (("itself", 0.25, False), ("itself", 0.7, False), ("left-out", 0.25, True)):
    run("fit", "c", *BASE, "--own", loss_of, "--bandwidth", str(width), "--tol", "1e-9", "-q", "-o", "m", "--force")
    confirm(f"{loss_of} {width}", "m", everybody, width, left_out)
    run("check-model", "m", "c", "-q")
run("fit", "c", *BASE, "--tol", "1e-9", "-q", "-o", "m", "--force")
confirm("the usual width", "m", everybody, 0.25)

# Scores by the model alone, of the same subjects in another cohort, and of new images of a table.
w, b, about = model("m")
S = embedding(everybody, 0.25)
wanted = S @ w + b[0]


def predicted(*what):
    t = table(run("predict", "m", *what, "--training-too", "-q")[0].splitlines())
    p = np.array([float(v) for v in t["p_yes"]])
    return t["bag"], np.log(p / (1 - p))


who, z = predicted("c")
check("subjects are bags", who == [f"b{b:02}" for b in names_of])
check("scores", near(z, wanted, 1e-5), np.abs(z - wanted).max())
some = [k for k in range(N) if place[bag[k]] % 3 == 0]
cohort("some", some)
who, z = predicted("some")
check("scores of some", near(z, wanted[[place[int(i[1:])] for i in who]], 1e-5))
who, z = predicted("--feature-table", "x.tsv", "--participants", "people.tsv")
check("scores of a table", near(z, wanted[[place[int(i[1:])] for i in who]], 1e-5))
run("predict", "m", "some", "--training-too", "--explain", "parts", "-q")
t = table(open("parts/parts.tsv"))
total = {}
for i, v in zip(t["bag"], t["part"]):
    total[i] = total.get(i, b[0]) + float(v)
check("parts of instances add up to the score", near([total[i] for i in who], wanted[[place[int(i[1:])] for i in who]], 1e-5))
check("each instance has one", t["instance"] == sorted(t["instance"], key=lambda n: (t["bag"].index(t["bag"][t["instance"].index(n)]), n)) and len(t["instance"]) == len(some))
cohort("named", some, ["g0", *NAMES[1:]])
check("other features are refused", "its feature 0 is 'g0', the model's 'f0'" in run("predict", "m", "named", code=65)[1])

# Features of bags outside the task may be anything.
train = np.array([i for i in everybody if names_of[i] % 4 != 1])
run("fit", "c", *BASE, "--exclude", "site=s1", "--tol", "1e-9", "-q", "-o", "part")
confirm("a part", "part", train, 0.25)
shutil.copytree("c", "spy")
F = np.load("spy/features.npy")
F[:, [k for k in range(N) if bag[k] % 4 == 1]] = np.nan
np.save("spy/features.npy", F)
run("fit", "spy", *BASE, "--exclude", "site=s1", "--tol", "1e-9", "-q", "-o", "spied")
for f in ("weights.tsv", "instances.tsv", "instances.npy"):
    check(f"{f} has nothing of others", open(f"part/{f}", "rb").read() == open(f"spied/{f}", "rb").read())
check("a NaN of a subject in use is refused", "is not a finite number in instance 'i" in run("fit", "spy", *BASE, "-o", "x", code=65)[1])

# Each fold of a cross-validation is a fit on the others.
run("cv", "c", *BASE, "--folds", "group", "--group", "site", "--inner-folds", "0", "--lambda-ratio", "0.2", "--bandwidth", "0.5", "--tol", "1e-9", "-q", "-o", "cv")
t = table(open("cv/predictions.tsv"))
held_out = {i: float(s) for i, s in zip(t["bag"], t["score_yes"])}
for site in range(4):
    run("fit", "c", *BASE, "--exclude", f"site=s{site}", "--lambda-ratio", "0.2", "--bandwidth", "0.5", "--tol", "1e-9", "-q", "-o", "m", "--force")
    confirm(f"fold {site}", "m", np.array([i for i in everybody if names_of[i] % 4 != site]), 0.5)
    who, z = predicted("c")
    z = dict(zip(who, z))
    check("and predicts what cv has", all(abs(z[i] - held_out[i]) < 1e-4 for i in z if int(i[1:]) % 4 == site))
run("cv", "c", *BASE, "--folds", "3", "--inner-folds", "3", "--nlambda", "8", "--bandwidth", "0.2,2", "--seed", "2", "-q", "-o", "two")
about = json.load(open("two/cv.json"))
check("inner folds choose the width", all(f["bandwidth"] in (0.2, 2) for f in about["each_fold"]), about["each_fold"][0])
check("from all of them", sorted(set(about["bandwidths"])) == [0.2, 2])
check("bags are folded", len({(i, f) for i, f in zip(*[table(open("two/predictions.tsv"))[c] for c in ("bag", "fold")])}) == BAGS)

# One thread or two, and chunks.
for words in (("--nthreads", "1"), ("--nthreads", "2")):
    run("cv", "c", *BASE, "--folds", "3", "--inner-folds", "2", "--nlambda", "5", *words, "-q", "-o", "t" + words[1])
check("threads", open("t1/predictions.tsv").read() == open("t2/predictions.tsv").read())
for k in (1, 2):
    run("cv", "c", *BASE, "--folds", "3", "--inner-folds", "2", "--nlambda", "5", "--chunk", f"{k}/2", "-q", "-o", f"part{k}")
run("merge", "part1", "part2", "-q", "-o", "merged")
check("chunks", open("t1/predictions.tsv").read() == open("merged/predictions.tsv").read())

# A score, and covariates of bags.
run("fit", "c", "--target", "score", "--bags", "bag", "--confounds", "age", "--tol", "1e-9", "-q", "-o", "s")
w, b, about = model("s")
target = np.array([y[k] + 0.01 * age[k] for k in names_of])
ages = np.array([age[k] for k in names_of])
S = embedding(everybody, 0.25)
r = target - S @ w - b[0] - b[1] * ages
lam, c = about["outputs"][0]["lambda"], (S - S.mean(0)).T @ r
check("squared loss", np.abs(c[w != 0] - lam * np.sign(w[w != 0])).max() < 2e-3 * lam and np.abs(c).max() < 1.002 * lam)
check("covariates are of bags", abs(r.sum()) < 1e-5 and abs(ages @ r) < 1e-3)
check("1 and 1.0 agree", "'number' is '1' for all" in run("fit", "c", "--target", "number", "--bags", "bag", "-o", "x", code=65)[1])

# What differs within a bag names its rows.
_, said = run("fit", "c", "--target", "mixed", "--bags", "bag", "-o", "x", code=65)
check("a target that differs", "column 'mixed' is '" in said and "it must agree within a bag" in said and said.count("in row 'i") == 2, said)
for words in (("--confounds", "mixed"), ("--only", "mixed>1"), ("--subject-weights", "mixed")):
    check(words[0], "must agree within a bag" in run("fit", "c", *BASE, *words, "-o", "x", code=65)[1])
check("groups of folds", "must agree within a bag" in run("cv", "c", *BASE, "--folds", "group", "--group", "mixed", "-o", "x", code=65)[1])

# Persons stay together: by rows that two bags share.
people["who"] = [f"p{b // 2}" for b in bag]
cohort("persons", slice(None), NAMES, X, "--person", "who")
run("cv", "persons", *BASE, "--folds", "4", "--inner-folds", "2", "--nlambda", "4", "-q", "-o", "pcv")
t = table(open("pcv/folds.tsv"))
fold = {i: f for i, f in zip(t["bag"], t["fold"])}
check("persons are in one fold", all(fold[f"b{2 * k:02}"] == fold[f"b{2 * k + 1:02}"] for k in range(BAGS // 2)))
check("and are counted", json.load(open("pcv/cv.json"))["people"] == BAGS // 2)

# Zeros left out are zeros.
Z = np.where(rng.random(X.shape) < 0.7, 0, X)
with open("sparse.txt", "w") as f:
    for k in range(N):
        f.write("1 " + " ".join(f"{j + 1}:{Z[k, j]:.9g}" for j in range(P) if Z[k, j]) + "\n")
np.save("dense.npy", Z.astype("f4"))
run("cohort", "--svmlight", "sparse.txt", "-q", "-o", "sparse")
write("people.tsv", people)
run("cohort", "--npy", "dense.npy", "--rows", "people.tsv", "--person", "who", "-q", "-o", "dense")
shutil.copy("dense/participants.tsv", "sparse/participants.tsv")
for c in ("sparse", "dense"):
    run("fit", c, *BASE, "-q", "-o", "m" + c)
    run("check-model", "m" + c, c, "-q")
check("sparse features", open("msparse/instances.tsv").read() == open("mdense/instances.tsv").read())
finish()
