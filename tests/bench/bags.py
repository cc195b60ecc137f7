"""Bags of instances: musk1 beside MILES as an explicit embedding with scikit-learn's l1 machine, in one run, and simulated brains
in which a sign is at another place in each patient. `bags.py BUILD FOLDER [MUSK]`."""
import json
import os
import subprocess
import sys
import warnings

import numpy as np

build, folder, *musk = sys.argv[1:]
os.environ["PATH"] = build + ":" + os.environ["PATH"]
os.makedirs(folder, exist_ok=True)
os.chdir(folder)


def run(*words):
    done = subprocess.run(["voxsift", *words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stderr}")
    return done.stdout


def auc_of(path, of="auc"):
    s = [line.rstrip("\n").split("\t") for line in open(f"{path}/scores.tsv")]
    row = dict(zip(s[0], next(r for r in s if r[:2] == ["outer", of])))
    return f"{float(row['pooled']):.3f} ({float(row['low']):.3f} to {float(row['high']):.3f})"


def table(path):
    rows = [line.rstrip("\n").split("\t") for line in open(path)]
    return {name: [r[k] for r in rows[1:]] for k, name in enumerate(rows[0])}


def auc(y, z):
    pos, neg = z[y > 0], z[y < 0]
    return ((pos[:, None] > neg).mean() + (pos[:, None] == neg).mean() / 2)


def peer(features, people, folds, widths=(0.1, 0.25, 0.5, 1), costs=(0.1, 0.3, 1, 3)):
    """Area under the curve within the folds of voxsift, width and C by five inner folds; means over repeats."""
    from sklearn.model_selection import StratifiedKFold
    from sklearn.svm import LinearSVC
    t, f, p = table(people), table(features), table(folds)
    bags = list(dict.fromkeys(t["bag"]))
    X = np.array([[float(v) for v in f[c]] for c in f if c != "participant_id"]).T
    bag = np.array([bags.index(b) for b in t["bag"]])
    y = np.array([1 if t["label"][t["bag"].index(b)] == "1" else -1 for b in bags])
    sq = (X**2).sum(1)
    full = np.maximum(sq[:, None] + sq - 2 * X @ X.T, 0)
    D = np.array([full[bag == b].min(0) for b in range(len(bags))])

    def embed(train, test, width):
        cols = np.isin(bag, train)
        off = D[train][:, cols][bag[cols] != np.array(train)[:, None]]
        s = lambda rows: np.exp(-D[rows][:, cols] / (2 * width * np.median(off)))
        mean = s(train).mean(0)
        return s(train) - mean, s(test) - mean

    def fit(train, test, width, C):
        a, b = embed(train, test, width)
        return LinearSVC(penalty="l1", dual=False, C=C, max_iter=5000).fit(a, y[train]).decision_function(b)

    warnings.simplefilter("ignore")  # machines that do not converge at narrow widths
    areas = {}
    for repeat in sorted(set(p["repeat"])):
        of = {b: k for b, r, k in zip(p["participant_id"], p["repeat"], p["fold"]) if r == repeat}
        for k in sorted(set(of.values())):
            test = np.array([i for i, b in enumerate(bags) if of[b] == k])
            train = np.setdiff1d(np.arange(len(bags)), test)
            inner = list(StratifiedKFold(5, shuffle=True, random_state=0).split(train, y[train]))
            best = max(((np.mean([auc(y[train[e]], fit(train[l], train[e], w, C)) for l, e in inner]), w, C) for w in widths for C in costs))
            areas.setdefault(repeat, []).append(auc(y[test], fit(train, test, best[1], best[2])))
    each = np.array([np.mean(a) for a in areas.values()])
    return f"{each.mean():.3f} (SD of repeats {each.std(ddof=1):.3f})"


if musk:
    people, features = (f"{musk[0]}/musk1_{what}.tsv" for what in ("participants", "features"))
    run("cohort", "--feature-table", features, "--participants", people, "-q", "-o", "musk", "--force")
    base = ["cv", "musk", "--target", "label", "--bags", "bag", "--positive", "1", "--folds", "10", "--repeats", "10", "--nlambda", "30", "-q", "--force"]
    for what, *words in (("logistic",), ("squared hinge", "--loss", "squared-hinge"), ("squared hinge, own left out", "--loss", "squared-hinge", "--own", "left-out")):
        run(*base, *words, "-o", "cv")
        about = json.load(open("cv/cv.json"))
        print(f"musk1, lasso, {what}: AUC {auc_of('cv')}; {about['seconds']:.0f} s", flush=True)
    try:
        print("musk1, scikit-learn LinearSVC l1 on the explicit embedding, same folds: AUC", peer(features, people, "cv/folds.tsv"), flush=True)
    except ImportError:
        print("scikit-learn is not there: no peer")

# 100 brains of 24 x 24 x 24 voxels of 2 mm, 25 patients with a texture of 16 voxels in one of 216 cubes.
BASE = ["--target", "diagnosis", "--positive", "patient", "--folds", "5", "--inner-folds", "3", "--no-dense-baseline", "-q", "-o", "cv", "--force"]
ways = {"lasso of voxels": ["--nlambda", "20"], "svm of voxels": ["--method", "svm"], "cubes of 8 mm, at the same place alone": ["--nlambda", "20", "--bags", "patches:8", "--near", "0"],
        "cubes, neighbors as well": ["--nlambda", "20", "--bags", "patches:8", "--near", "14"], "cubes, all": ["--nlambda", "20", "--bags", "patches:8"],
        "cubes, all, own left out": ["--nlambda", "20", "--bags", "patches:8", "--own", "left-out"]}
found = {what: [] for what in ways}
for seed in (1, 2, 3):
    run("simulate", "bags", "--subjects", "100", "--shape", "24,24,24", "--voxel-size", "2", "--smooth", "5.65", "--seed", str(seed), "-q", "-o", "brains", "--force")
    for what, words in ways.items():
        run("cv", "brains", *BASE, *words)
        found[what].append(auc_of("cv").split()[0])
for what, areas in found.items():
    print(f"simulated brains, {what}: AUC", ", ".join(areas), flush=True)

run("simulate", "spheres", "--subjects", "100", "--shape", "24,24,24", "--voxel-size", "2", "--smooth", "5.65", "--regions", "1", "--radius", "2", "--effect", "3", "--noise", "0.5",
    "--target", "diagnosis", "--seed", "1", "-q", "-o", "fixed", "--force")
for what in ("lasso of voxels", "cubes of 8 mm, at the same place alone", "cubes, all"):
    run("cv", "fixed", *BASE, *ways[what])
    print(f"the mean of one sphere, {what}: AUC {auc_of('cv')}", flush=True)
