"""The fused lasso against numpy: trees, objectives and optimality as a few lines of Python see them, and
the same answer from the lasso on columns that are added up by hand. Runs in an empty directory."""
import json
import os

import nibabel as nib
import numpy as np
from oracle import check, finish, near, run, same, table, write

rng = np.random.default_rng(31)
SHAPE, N = (9, 8, 7), 40
AFFINE = nib.affines.from_matvec(np.diag([-3.0, 3, 3]), [30, -40, -20])


def weights(model, p):
    w, t = np.zeros(p), table(open(model + "/weights.tsv"))
    w[[int(k) for k in t["index"]]] = [float(v) for v in t["weight"]]
    return w


def about(model):
    return json.load(open(model + "/model.json"))


def edges(model):
    t = table(open(model + "/graph.tsv"))
    return [int(k[1:]) for k in t["from"]], [int(k[1:]) for k in t["to"]], np.array(t["weight"], float)


def pieces_of(p, pairs):
    """A name for each node: the smallest node that edges lead to."""
    name = np.arange(p)
    for a, b in pairs:
        a, b = name[a], name[b]
        name[name == max(a, b)] = min(a, b)
    return name


def sums_below(p, a, b, values):
    """For each edge the sum over the nodes on the far side, by taking leaves off."""
    near_by, left, total = [[] for _ in range(p)], set(range(p)), np.array(values, float)
    for e, (x, y) in enumerate(zip(a, b)):
        near_by[x].append((e, y)), near_by[y].append((e, x))
    sums, ends, waiting = np.zeros(len(a)), np.zeros(len(a), int), [k for k in range(p) if len(near_by[k]) == 1]
    while waiting:
        leaf = waiting.pop()
        rest = [(e, y) for e, y in near_by[leaf] if y in left]
        if leaf not in left or not rest:
            continue
        (e, on), = rest
        sums[e], ends[e] = total[leaf], leaf
        total[on] += total[leaf]
        left.remove(leaf)
        if sum(y in left for _, y in near_by[on]) == 1:
            waiting.append(on)
    return sums, ends, total[sorted(left)]


def confirm(what, model, X, y, free, logistic=False):
    """Objective, optimality and pieces of the model, from its files and the data."""
    p, said = X.shape[1], about(model)["outputs"][0]
    w, (a, b, c), lam = weights(model, p), edges(model), said["lambda"]
    z = X @ w + free @ said["unpenalized_weights"]
    loss = np.logaddexp(0, -y * z).sum() if logistic else ((y - z) ** 2).sum() / 2
    check(what + ": primal", near(said["primal"], loss + lam * (c * abs(w[a] - w[b])).sum()), said["primal"])
    left = y / (1 + np.exp(y * z)) if logistic else y - z
    slope, ends, roots = sums_below(p, a, b, X.T @ left)
    others = np.where(ends == a, b, a)
    small = 1e-4 * lam
    check(what + ": levels", abs(roots).max() < small and abs(free.T @ left).max() < small, roots)
    check(what + ": no edge wants more", (abs(slope) <= lam * c + small).all(), (abs(slope) / c).max() / lam)
    jumps = w[ends] - w[others]
    broken = abs(jumps) > 1e-12
    check(what + ": steps go where they should", broken.any() and near(slope[broken], (lam * c * np.sign(jumps))[broken], 1e-4))
    check(what + ": pieces", said["fused_regions"] == broken.sum() + len(roots), (said["fused_regions"], broken.sum()))


# ---- Voxels: an ellipsoid, and two pieces beside it ---------------------------------------------------
x, y, z = np.indices(SHAPE)
mask = (x - 4) ** 2 + (y - 4) ** 2 + (z - 3) ** 2 < 9
mask[0, 0, 0] = mask[8, 7, 6] = mask[8, 7, 5] = True
region = mask & (x < 4)
ids = [f"sub-{k:02}" for k in range(N)]
age, score = rng.uniform(20, 60, N).round(1), rng.normal(size=N)
os.makedirs("img")
for k, name in enumerate(ids):
    data = 100 + 10 * rng.normal() + rng.normal(size=SHAPE) + score[k] * region
    nib.save(nib.Nifti1Image((data * mask).astype("f4"), AFFINE), f"img/{name}.nii.gz")
write("people.tsv", {"participant_id": ids, "image": [f"img/{k}.nii.gz" for k in ids], "age": age, "score": score,
                     "dx": np.where(score + 0.3 * rng.normal(size=N) > 0, "yes", "no")})
nib.save(nib.Nifti1Image(mask.astype("u1"), AFFINE), "mask.nii.gz")
run("cohort", "people.tsv", "--image-column", "image", "--mask", "mask.nii.gz", "-q", "-o", "c")
X = np.load("c/features.npy").T.astype(float)
p = X.shape[1]
ones = np.ones((N, 1))
out, err = run("fit", "c", "--target", "score", "--method", "fused", "--confounds", "age", "-q", "-o", "m", "--json", "--lambda-ratio", "0.2")
said = json.loads(out)
check("keys", said["method"] == "fused" and said["fused_regions"] > 1 and said["converged"], out)
confirm("voxels", "m", X, score, np.column_stack([ones, age]))
check("voxels that matter weigh more", weights("m", p)[region.T[mask.T]].mean() > weights("m", p)[~region.T[mask.T]].mean() + 1e-3)
a, b, c = edges("m")
check("one tree", len(a) == p - 1 and (pieces_of(p, zip(a, b)) == 0).all() and (c == 1).all())
at = np.argwhere(mask.T)[:, ::-1]
steps = abs(at[a] - at[b]).sum(1)
check("edges are faces, and two links", (np.sort(steps)[:-2] == 1).all() and (steps == 1).sum() == p - 3, np.sort(steps)[-3:])
r = abs(np.corrcoef(X.T))
faces = sorted((1 - r[i, j], i, j) for i in range(p) for j in range(i) if abs(at[i] - at[j]).sum() == 1)
name, cost = np.arange(p), 0
for price, i, j in faces:
    if name[i] != name[j]:
        name[name == name[i]], cost = name[j], cost + price
check("the cheapest tree", near(cost, (1 - r[a, b])[steps == 1].sum()), cost)
run("fit", "c", "--target", "dx", "--method", "fused", "-q", "-o", "cm", "--lambda-ratio", "0.1", "--tol", "1e-10")
confirm("classes", "cm", X, np.where(score * 0 + [k == "yes" for k in table(open("people.tsv"))["dx"]], 1, -1), ones, True)
for model in ("m", "cm"):
    check("check-model", json.loads(run("check-model", model, "c", "--json")[0])["holds"] is True)
out, err = run("predict", "m", "c")
want = X @ weights("m", p) + np.column_stack([ones, age]) @ about("m")["outputs"][0]["unpenalized_weights"]
check("predictions", near([float(v) for v in table(out.splitlines())["predicted"]], want))
out, err = run("predict", "m", "people.tsv", "--image-column", "image")
check("predictions of images", near([float(v) for v in table(out.splitlines())["predicted"]], want))
volume = np.asarray(nib.load("m/weights.nii.gz").dataobj)
check("the map", near(volume.T[mask.T], weights("m", p), 1e-6) and (volume[~mask] == 0).all())
run("fit", "c", "--target", "score", "--method", "fused", "--confounds", "age", "--graph", "m/graph.tsv", "-q", "-o", "again", "--lambda-ratio", "0.2")
check("a graph that was written is read", open("m/weights.tsv").read() == open("again/weights.tsv").read())
run("fit", "c", "--target", "score", "--method", "fused", "--confounds", "age", "-q", "-o", "one", "--lambda-ratio", "0.2", "--nthreads", "1")
run("fit", "c", "--target", "score", "--method", "fused", "--confounds", "age", "-q", "-o", "two", "--lambda-ratio", "0.2", "--nthreads", "2")
check("threads change nothing", all(open("one/" + f).read() == open("two/" + f).read() for f in ("weights.tsv", "graph.tsv")))
run("fit", "c", "--target", "score", "--method", "fused", "-q", "-o", "empty", "--lambda-ratio", "1.1")
check("an empty model is one piece", about("empty")["outputs"][0]["fused_regions"] == 1 and np.ptp(weights("empty", p)) == 0)
points = json.loads(run("path", "c", "--target", "score", "--method", "fused", "--nlambda", "5", "--json")[0])["outputs"][0]["points"]
check("a path", points[0]["fused_regions"] == 1 < points[-1]["fused_regions"] and all(q["gap"] <= q["tol"] for q in points), points)
check("as a table", [int(v) for v in table(run("path", "c", "--target", "score", "--method", "fused", "--nlambda", "5")[0].splitlines())["fused_regions"]]
      == [q["fused_regions"] for q in points])

# ---- A chain is the lasso on columns that are added up, the last sum being free of the penalty ----------
p = 25
small = rng.integers(-3, 4, (N, p)).astype(float)  # sums are exact in single precision
names = [f"roi {k}" for k in range(p)]
write("features.tsv", {"participant_id": ids, **{k: small[:, j] for j, k in enumerate(names)}})
run("cohort", "--feature-table", "features.tsv", "--participants", "people.tsv", "-q", "-o", "f")
os.makedirs("few")
write("few/people.tsv", {k: v[:20] for k, v in table(open("people.tsv")).items()})
write("few/features.tsv", {k: v[:20] for k, v in table(open("features.tsv")).items()})
run("cohort", "--feature-table", "few/features.tsv", "--participants", "few/people.tsv", "-q", "-o", "small")
sums = np.cumsum(small[:, ::-1], 1)[:, ::-1]  # of each column and all behind it
write("sums.tsv", {"participant_id": ids, **{f"s{j}": sums[:, j] for j in range(1, p)}})
t = table(open("people.tsv"))
write("with_level.tsv", {**t, "level": sums[:, 0]})
run("cohort", "--feature-table", "sums.tsv", "--participants", "with_level.tsv", "-q", "-o", "s")
for target in ("score", "dx"):
    words = ["--target", target, "--lambda", "2", "--tol", "1e-9", "-q", "--standardize", "none"]
    run("fit", "f", *words, "--method", "fused", "--graph", "chain", "-o", "fm", "--force")
    run("fit", "s", *words, "--confounds", "level", "-o", "sm", "--force")
    one, other = about("fm")["outputs"][0], about("sm")["outputs"][0]
    check(f"chain, {target}", near(one["primal"], other["primal"]) and near(one["lambda_max"], other["lambda_max"]), (one, other))
    w = np.cumsum(np.concatenate([[other["unpenalized_weights"][1]], weights("sm", p - 1)]))
    check(f"chain, {target}, weights", near(weights("fm", p), w, 1e-5), (weights("fm", p), w))
    check(f"chain, {target}, intercept", abs(one["intercept"] - other["intercept"]) < 1e-5)
    run("check-model", "fm", "f")

# ---- Weights of edges: twice the weight is half the column; several trees have several levels -----------
c = rng.choice([0.25, 0.5, 2, 4], p - 1)
write("edges.tsv", {"to": names[1:], "from": names[:-1], "weight": c})
write("divided.tsv", {"participant_id": ids, **{f"s{j}": sums[:, j] / c[j - 1] for j in range(1, p)}})
run("cohort", "--feature-table", "divided.tsv", "--participants", "with_level.tsv", "-q", "-o", "d")
words = ["--target", "score", "--lambda", "2", "--tol", "1e-9", "-q", "--standardize", "none"]
run("fit", "f", *words, "--method", "fused", "--graph", "edges.tsv", "-o", "wm")
run("fit", "d", *words, "--confounds", "level", "-o", "dm")
check("weights of edges", near(about("wm")["outputs"][0]["primal"], about("dm")["outputs"][0]["primal"]))
check("and their model", near(weights("wm", p), np.cumsum(np.concatenate([[about("dm")["outputs"][0]["unpenalized_weights"][1]],
                                                                         weights("dm", p - 1) / c])), 1e-5))
run("check-model", "wm", "f")
write("two.tsv", {"from": names[:9] + names[10:-1], "to": names[1:10] + names[11:]})
run("fit", "f", *words, "--method", "fused", "--graph", "two.tsv", "-o", "tm")
check("two trees", len(table(open("tm/graph.tsv"))["to"]) == p - 2 and about("tm")["outputs"][0]["fused_regions"] > 2)
run("check-model", "tm", "f")
run("fit", "f", "--target", "score", "--method", "fused", "-q", "-o", "rm")
t = table(open("rm/graph.tsv"))
a, b, r = [names.index(k) for k in t["from"]], [names.index(k) for k in t["to"]], abs(np.corrcoef(small.T))
name, cost = np.arange(p), 0
for price, i, j in sorted((1 - r[i, j], i, j) for i in range(p) for j in range(i)):
    if name[i] != name[j]:
        name[name == name[i]], cost = name[j], cost + price
check("the cheapest tree of all pairs", near(cost, (1 - r[a, b]).sum()), cost)

# ---- Graphs that are learned ----------------------------------------------------------------------------


def linked(p, pairs, r):
    """The pairs, and those that hang their pieces together, the strongest first."""
    name, links = pieces_of(p, pairs), []
    for _, i, j in sorted((-r[i, j], i, j) for i in range(p) for j in range(i + 1, p)):
        if name[i] != name[j]:
            name[name == name[i]] = name[j]
            links.append((i, j))
    return set(pairs) | set(links)


def sparse_inverse(S, rho):
    """The graphical lasso by the alternating direction method, which shares nothing with descent on columns."""
    Z, U, off = np.eye(len(S)), np.zeros_like(S), 1 - np.eye(len(S))
    for _ in range(4000):
        values, vectors = np.linalg.eigh(Z - U - S)
        T = (vectors * ((values + np.sqrt(values**2 + 4)) / 2)) @ vectors.T
        Z = np.sign(T + U) * np.maximum(abs(T + U) - rho * off, 0)
        U += T - Z
    return Z


def graph_of(model, p):
    t = table(open(model + "/graph.tsv"))
    ends = [tuple(sorted((int(i[2:]), int(j[2:])))) for i, j in zip(t["from"], t["to"])]
    check(model + ": weights are 1, no edge stands twice", set(t["weight"]) == {"1"} and len(set(ends)) == len(ends))
    return set(ends)


p = 14
factors = np.kron(rng.normal(size=(N, 4)), np.ones(4))[:, :p]
mixed = rng.normal(size=(N, p)) + 0.8 * factors * rng.choice([1, -1], p)
mixed[:, 5] = 3  # a constant column goes together with nothing
write("mixed.tsv", {"participant_id": ids, **{f"x {k}": mixed[:, k] for k in range(p)}})
run("cohort", "--feature-table", "mixed.tsv", "--participants", "people.tsv", "-q", "-o", "g")
mixed = np.load("g/features.npy").T.astype(float)
learn = ["--target", "score", "--method", "fused", "--lambda-ratio", "0.3"]


def correlations(x):
    r = np.nan_to_num(np.corrcoef(x.T))
    np.fill_diagonal(r, 1)
    return r


with np.errstate(all="ignore"):
    S = correlations(mixed)
r = abs(S)
strongest = sorted((-r[i, j], i, j) for i in range(p) for j in range(i + 1, p))
for each in (0.15, 0.3):
    run("fit", "g", *learn, "--graph", f"correlation:{each}", "-q", "-o", "lm", "--force")
    wanted = [(i, j) for _, i, j in strongest[:round(each * p)]]
    check(f"correlation:{each}", graph_of("lm", p) == linked(p, wanted, r), graph_of("lm", p))
    run("check-model", "lm", "g")
    out, err = run("fit", "g", *learn, "--graph", f"precision:{each}", "--verbose", "-o", "lm", "--force")
    said = [line for line in err.splitlines() if "inverse covariance" in line][0].split()
    count, rho = int(said[said.index("has") + 1]), float(said[said.index("rho") + 1])
    T = sparse_inverse(S, rho)
    wanted = [(i, j) for i in range(p) for j in range(i + 1, p) if abs(T[i, j]) > 1e-6]
    check(f"precision:{each}: as many edges as are wanted", abs(count - each * p) <= 1 and count == len(wanted), (count, len(wanted)))
    check(f"precision:{each}", graph_of("lm", p) == linked(p, wanted, r), graph_of("lm", p))
    run("check-model", "lm", "g")
run("fit", "g", *learn, "--graph", "precision:0.15", "--only", "dx=yes", "-q", "-o", "lm", "--force")
part = graph_of("lm", p)
run("fit", "g", *learn, "--graph", "precision:0.15", "-q", "-o", "lm", "--force")
check("a graph is learned from the subjects in use", part != graph_of("lm", p))

# ---- Regions in a row: two pairs that touch, and a gap ---------------------------------------------------
atlas = np.zeros(SHAPE)
for k, ends in enumerate([(0, 2), (2, 4), (5, 7), (7, 9)]):
    atlas[ends[0]:ends[1], 2:6, 2:5] = 1 + k
nib.save(nib.Nifti1Image(atlas.astype("u1"), AFFINE), "atlas.nii.gz")
nib.save(nib.Nifti1Image(np.ones(SHAPE, "u1"), AFFINE), "all.nii.gz")
for name in ids:  # voxels outside the mask are 0 so far
    data = nib.load(f"img/{name}.nii.gz").get_fdata() + rng.normal(size=SHAPE)
    nib.save(nib.Nifti1Image(data.astype("f4"), AFFINE), f"img/{name}.nii.gz")
run("cohort", "people.tsv", "--image-column", "image", "--mask", "all.nii.gz", "--atlas", "atlas.nii.gz", "--regions", "-q", "-o", "r")
run("fit", "r", *learn, "--graph", "regions", "-q", "-o", "gm")
t = table(open("gm/graph.tsv"))
names = table(open("r/regions.tsv"))["feature"]
check("regions are linked where they are nearest", {tuple(sorted(e)) for e in zip(t["from"], t["to"])} ==
      {tuple(sorted((names[i], names[j]))) for i, j in ((0, 1), (2, 3), (1, 2))}, t)
os.remove("gm/graph.tsv")
run("check-model", "gm", "r")

means = np.load("r/features.npy").T
# ---- Graphs with loops -----------------------------------------------------------------------------------


def primal_of(model, X, y, free):
    """What a model of scores costs, from its files."""
    said = about(model)
    one, X = said["outputs"][0], X.astype(float)
    w, t, lam = weights(model, X.shape[1]), table(open(model + "/graph.tsv")), one["lambda"]
    a, b = [[names.index(k) for k in t[end]] for end in ("from", "to")]
    over = (np.array(t["weight"], float) * abs(w[a] - w[b])).sum() + said["parameters"]["sparsity"] * abs(w).sum()
    return ((y - X @ w - free @ one["unpenalized_weights"]) ** 2).sum() / 2 + lam * over


def confirm_primal(what, model, X):
    said = about(model)["outputs"][0]
    check(what + ": primal", said["converged"] and near(said["primal"], primal_of(model, X, score, ones), 1e-7), said)
    again = json.loads(run("check-model", model, "r" if X is means else "g" if X is mixed else "c", "--json")[0])
    check(what + ": check-model", again["holds"] is True, again)


names = [f"x {k}" for k in range(p)]
for rule, pairs in (("correlation", [(i, j) for _, i, j in strongest[:round(1.2 * p)]]), ("correlation:3", [(i, j) for _, i, j in strongest[:3 * p]])):
    run("fit", "g", *learn, "--graph", rule, "-q", "-o", "lm", "--force")
    check(rule, graph_of("lm", p) == linked(p, pairs, r))
    confirm_primal(rule, "lm", mixed)
for sparsity in ("0.3", "20"):
    out, err = run("fit", "g", *learn, "--graph", "precision", "--sparsity", sparsity, "--verbose", "-o", "lm", "--force")
    said = [line for line in err.splitlines() if "inverse covariance" in line][0].split()
    count, rho = int(said[said.index("has") + 1]), float(said[said.index("rho") + 1])
    T = sparse_inverse(S, rho)
    wanted = [(i, j) for i in range(p) for j in range(i + 1, p) if abs(T[i, j]) > 1e-6]
    check("precision", abs(count - 1.2 * p) <= 1.2 and graph_of("lm", p) == linked(p, wanted, r), (count, len(wanted)))
    confirm_primal("precision, sparse", "lm", mixed)
    check("a weight costs something", (weights("lm", p) == 0).sum() >= (1 if sparsity == "20" else 0))
t = table(open("lm/graph.tsv"))
run("fit", "g", *learn, "--graph", "lm/graph.tsv", "--sparsity", "20", "-q", "-o", "again", "--force")
check("a graph with loops is read again", open("again/graph.tsv").read() == open("lm/graph.tsv").read() and
      open("again/weights.tsv").read() == open("lm/weights.tsv").read())

shares = ["--target", "score", "--method", "fused", "-q"]
for threads in ("1", "2"):
    run("cv", "g", *shares, "--nlambda", "5", "--graph", "precision", "--sparsity", "1", "--folds", "3", "--inner-folds", "2", "-o", "cv" + threads, "--nthreads", threads)
same("a graph learned in folds", "cv1", "cv2", but=("command", "seconds", "threads"))
run("stability", "g", *shares, "--graph", "correlation", "--sparsity", "3", "--pairs", "5", "--select-features", "7", "--nlambda", "30", "-o", "stable")
check("weights of 0 are not selected", 0 < sum(float(v) for v in table(open("stable/frequencies.tsv"))["frequency"]) < p)

# voxels: the same mask as above, whose islands are linked
X = np.load("c/features.npy").T
p, names = X.shape[1], [f"x{k}" for k in range(X.shape[1])]
apart = abs(at[:, None] - at[None])
for rule, most in (("grid6", 1), ("grid18", 2), ("grid26", 3)):
    run("fit", "c", *learn, "--graph", rule, "-q", "-o", "lm", "--force")
    a, b, c = edges("lm")
    touch = (apart.max(2) <= 1) & (apart.sum(2) <= most) & (apart.sum(2) > 0)
    wanted = {(i, j) for i in range(p) for j in range(i + 1, p) if touch[i, j]}
    ours = {tuple(sorted(e)) for e in zip(a, b)}
    islands = len(set(pieces_of(p, wanted)))
    check(rule, wanted <= ours and len(a) == len(ours) == len(wanted) + islands - 1 and (c == 1).all() and islands > 1)
    check(rule + ": in one piece", len(set(pieces_of(p, ours))) == 1)
    confirm_primal(rule, "lm", X)
finish()
