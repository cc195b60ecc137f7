"""Screening for the sparse linear SVM (squared hinge, l1, free b) as in Zhao, Liu and Cox (KDD 2014): lambda_max / k for k = 1
to 20, each to a relative gap of 1e-6 over all features: screens_svm.py BUILD FOLDER [MATRICES]. MATRICES: a folder with
colon.svm and leukemia_train.svm. Every gap is computed again from the weights in doubles, for every way and k; seconds are
the processor's, one thread, of all that a solver reads, the least of two runs (one of what takes long). Then liblinear,
through scikit-learn, on 400 x 200,000 without b. SVM_PARTS: some of colon, leukemia, gli, voxel, text, liblinear."""
import os
import subprocess
import sys
import time
import warnings

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
sys.dont_write_bytecode = True
import numpy as np
import scipy.sparse
from scipy.ndimage import gaussian_filter

import problems
from contest import Ours, row

build, folder = sys.argv[1:3]
matrices = sys.argv[3] if len(sys.argv) > 3 else ""
COUNT, LONG = 20, 20
# what the tables call it, --screen, --subproblem, and whether each k begins at the solution of the last
WAYS = [("plain", "none", "descent", "cold"), ("warm", "none", "descent", "warm"), ("vi, cold", "vi", "descent", "cold"),
        ("vi", "vi", "descent", "warm"), ("gap sphere", "dynamic", "descent", "warm"), ("dpp", "dpp", "descent", "warm"),
        ("strong, mended", "strong", "descent", "warm"), ("saif", "saif", "descent", "warm"), ("vi, exact steps", "vi", "exact", "warm"),
        ("saif, exact steps", "saif", "exact", "warm")]


def unit(X):
    X = X - X.mean(0)
    length = np.sqrt((X**2).sum(0))
    return (X / np.where(length > 0, length, 1)).astype("f4")


def genes(name):
    """Columns of mean 0 and length 1; of colon the logarithms."""
    from sklearn.datasets import load_svmlight_file
    X, y = load_svmlight_file(f"{matrices}/{name}.svm")
    X = X.toarray()
    return unit(np.log(X) if name == "colon" and X.min() > 0 else X), np.where(y > y.mean(), 1.0, -1.0)


def gli(rng):
    """85 samples and 22,283 genes in 200 modules, of which five go with the class; 26 of one class, 59 of the other."""
    y = np.where(np.arange(85) < 26, -1.0, 1.0)
    modules = rng.normal(size=(85, 200)) + np.where(np.arange(200) < 5, 1, 0) * y[:, None] * 0.8
    X = modules[:, rng.integers(0, 200, 22283)] * rng.uniform(0, 1, 22283) + rng.normal(size=(85, 22283))
    return unit(X), y


def voxel(rng):
    """150 subjects, 21,600 voxels of noise smoothed with 1.5 voxels, four spheres that count."""
    shape, n = (30, 30, 24), 150
    at = np.indices(shape).reshape(3, -1).T
    X = np.array([gaussian_filter(rng.normal(size=shape), 1.5).ravel() for _ in range(n)])
    X = unit(X)
    y = np.zeros(n)
    for center in [(8, 8, 8), (20, 10, 12), (10, 22, 14), (22, 22, 6)]:
        mean = X[:, ((at - center)**2).sum(1) <= 9].mean(1)
        y += mean / mean.std()
    y += rng.normal(size=n)
    return X, np.where(y > np.median(y), 1.0, -1.0)


def text(rng):
    """1,500 documents, 5,563 words with Zipf's frequencies that depend on topics, tf-idf, rows of length 1; two classes of ten topics."""
    n, p, topics = 1500, 5563, 20
    base = 1 / np.arange(1, p + 1)
    of_topic = base * rng.lognormal(0, 1.5, (topics, p))
    of_topic /= of_topic.sum(1, keepdims=True)
    topic = rng.integers(0, topics, n)
    counts = np.array([rng.multinomial(rng.poisson(120) + 20, of_topic[t]) for t in topic], float)
    X = np.log1p(counts) * np.log(n / np.maximum((counts > 0).sum(0), 1))
    X /= np.sqrt((X**2).sum(1, keepdims=True))
    return scipy.sparse.csc_matrix(X.astype("f4")), np.where(topic < topics // 2, 1.0, -1.0)


def store(name, X, y):
    place = f"{folder}/{name}"
    os.makedirs(place, exist_ok=True)
    sparse = scipy.sparse.issparse(X)
    np.array([*X.shape, sparse], "u8").tofile(place + "/size")
    y.astype("f8").tofile(place + "/y")
    if sparse:
        X.indices.astype("i4").tofile(place + "/rows")
        X.indptr.astype("u8").tofile(place + "/starts")
    (X.data if sparse else np.ascontiguousarray(X.T)).astype("f4").tofile(place + "/columns")
    return place


def best_b(z, y):
    """Where the sum of y max(0, 1 - y (z + b)) is 0: it falls with b."""
    low, high = -2 - np.abs(z).max(), 2 + np.abs(z).max()
    for _ in range(200):
        b = (low + high) / 2
        if (y * np.maximum(0, 1 - y * (z + b))).sum() > 0:
            low = b
        else:
            high = b
    return (low + high) / 2


def value(z, y):
    return (np.maximum(0, 1 - y * z)**2).sum() / 2


def gap(X, y, w, b, lam, free=True):
    """Of the full problem; the dual point from the best b for these weights."""
    z = X[:, w != 0] @ w[w != 0] if (w != 0).any() else np.zeros(len(y))
    xi = np.maximum(0, 1 - y * (z + (best_b(z, y) if free else 0)))
    scale = min(lam / max(np.abs(X.T @ (y * xi)).max(), 1e-300), xi.sum() / max((xi**2).sum(), 1e-300))
    dual = scale * xi.sum() - scale**2 * (xi**2).sum() / 2
    empty = value(np.full(len(y), best_b(0 * y, y) if free else 0), y)
    return (value(z + b, y) + lam * np.abs(w).sum() - dual) / empty


def follow(place, X, y, screen, inner, start):
    """Columns of svm_screens by k, and the largest gap, recomputed."""
    command = [build + "/svm_screens", place, screen, inner, start, str(COUNT)]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    table = np.array([[float(v) for v in line.split()] for line in said.splitlines()])
    w = np.fromfile(place + "/w").reshape(COUNT, -1)
    worst = max(gap(X, y, w[k, :-1], w[k, -1], table[k, 1]) for k in range(COUNT))
    if table[:, 2].sum() < LONG:
        again = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        table[:, 2] = np.minimum(table[:, 2], [float(line.split()[2]) for line in again.splitlines()])
    return table, worst


def compare(name, X, y):
    place = store(name, X, y)
    if not scipy.sparse.issparse(X):
        X = X.astype(float)
    print(f"\n{name}, {X.shape[0]} x {X.shape[1]:,}:")
    widths = [18, 9, 10, 9, 8, 7, 12, 9]
    row(["way", "seconds", "to vi", "passes", "rounds", "missed", "largest gap", "reached"], widths)
    found = {way[0]: follow(place, X, y, *way[1:]) for way in WAYS}
    ours = found["vi"][0][:, 2].sum()
    for way, (table, worst) in found.items():
        row([way, f"{table[:, 2].sum():.3f}", f"{table[:, 2].sum() / ours:.1f} x", f"{table[:, 3].sum():.1f}", f"{table[:, 7].sum():.0f}",
             f"{table[:, 5].sum():.0f}", f"{worst:.0e}", f"{table[:, 8].sum():.0f} of {COUNT}"], widths)
    table = found["vi"][0]
    shown = [1, 2, 3, 5, 10, 15, 20]
    print("k: features kept before solving, of them zero (over hits), nonzero, by vi: " + "; ".join(
        f"{k}: {table[k - 1, 6]:.0f}, {table[k - 1, 6] - table[k - 1, 4]:.0f}, {table[k - 1, 4]:.0f}" for k in shown))
    zeros = X.shape[1] - table[1:, 4]
    print(f"share of zero features that vi discards before solving, mean over k = 2 to {COUNT}: "
          f"{((X.shape[1] - table[1:, 6]) / zeros).mean():.1%}", flush=True)


def liblinear():
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, y = problems.brains(np.random.default_rng(1))
    place = folder + "/brains"
    problems.cohort(build, place, X, y)
    y, X = np.where(y > 0, 1.0, -1.0), X.astype(float)
    steepest = np.abs(X.T @ y).max()

    def fit(lam, tolerance, most):
        model = LinearSVC(penalty="l1", loss="squared_hinge", dual=False, C=1 / (2 * lam), fit_intercept=False,
                          tol=tolerance, max_iter=most)
        start = time.process_time()
        model.fit(X, y)
        return time.process_time() - start, model

    turning = min(fit(steepest / 10, 1e9, 1)[0] for _ in range(3))
    print(f"\n400 x 200,000, no b, liblinear of scikit-learn but for turning the matrix into its form, which takes {turning:.1f} s")
    for ratio in (0.1, 0.01):
        lam = ratio * steepest
        ours = Ours(build, place, X.shape[1], "class", ["--loss", "squared-hinge", "--lambda", repr(lam)])
        print(f"{ratio}: voxsift {ours.seconds:.3f} s, {ours.passes:.1f} passes, gap {gap(X, y, ours.w, 0, lam, False):.0e}", flush=True)
        for tolerance in (1e-2, 1e-4, 1e-6):
            seconds, model = min((fit(lam, tolerance, 10**4) for _ in range(2)), key=lambda one: one[0])
            found = gap(X, y, model.coef_[0], 0, lam, False)
            print(f"  liblinear, tol {tolerance:g}: {seconds - turning:.2f} s more ({(seconds - turning) / ours.seconds:.1f} x), "
                  f"gap {found:.0e}, {model.n_iter_} iterations", flush=True)
            if found <= 1e-6:
                break


makers = {"colon": lambda: genes("colon"), "leukemia": lambda: genes("leukemia_train")}
makers |= {make.__name__: lambda make=make: make(np.random.default_rng(7)) for make in (gli, voxel, text)}
parts = os.environ.get("SVM_PARTS", "colon leukemia gli voxel text liblinear").split()
for part in parts:
    if part == "liblinear":
        liblinear()
    elif part not in ("colon", "leukemia") or matrices:
        compare(part, *makers[part]())
