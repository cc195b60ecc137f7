"""The lasso beside scikit-learn and glmnet in one run, on the identical problems (no intercept, raw columns):
lasso.py BUILD FOLDER. First every answer is verified, from its weights, in doubles, and ours must have a gap of 2e-6 at
most; then seconds are those of the solvers alone, one thread, the least of three (one for what takes long)."""
import json
import os
import subprocess
import sys
import time

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
sys.dont_write_bytecode = True
import numpy as np
from sklearn.linear_model import Lasso, lars_path
from sklearn.exceptions import ConvergenceWarning
import warnings

import problems
from contest import identical, weights

warnings.simplefilter("ignore", ConvergenceWarning)
build, folder = sys.argv[1:3]
here = os.path.dirname(os.path.abspath(__file__))


def gap(X, y, w, lam, loss):
    """Of the full problem, as a share of the empty model's loss."""
    z = X[:, w != 0].astype(float) @ w[w != 0]
    if loss == "squared":
        P, empty, theta = ((y - z) ** 2).sum() / 2 + lam * abs(w).sum(), y @ y / 2, (y - z) / lam
        s = np.clip(y @ theta / (lam * theta @ theta), *(np.array([-1, 1]) / steepest(X, theta)))
        D = y @ y / 2 - lam**2 / 2 * ((s * theta - y / lam) ** 2).sum()
    else:
        P, empty = np.logaddexp(0, -y * z).sum() + lam * abs(w).sum(), len(y) * np.log(2)
        t = 1 / (1 + np.exp(y * z))
        t *= min(1, 1 / steepest(X, y * t / lam))
        D = -(t * np.log(t) + (1 - t) * np.log(1 - t)).sum()
    return (P - D) / empty


def steepest(X, theta):
    return max(abs(theta @ X[:, k:k + 10000].astype(float)).max() for k in range(0, X.shape[1], 10000))


class Problem:
    def __init__(self, name, X, y):
        self.X, self.y, self.dir = X, y, f"{folder}/{name}"
        problems.cohort(build, self.dir, X, y)
        X.astype("f8").T.tofile(self.dir + "/x.f64")

    def target(self, loss):
        return self.y if loss == "squared" else np.where(self.y > 0, 1.0, -1.0)

    def ours(self, loss, *words, command="fit", repeat=3):
        best = None
        for _ in range(repeat):
            out = ["-o", self.dir + "/model", "--force"] if command == "fit" else []
            said = json.loads(subprocess.run(
                [build + "/voxsift", command, self.dir + "/cohort", *identical("score" if loss == "squared" else "class"),
                 "--loss", loss, "--json", "-q", *words, *out],
                check=True, capture_output=True).stdout)
            if command == "path":
                said["seconds"] = sum(q["seconds"] for q in said["outputs"][0]["points"])
            best = said if best is None or said["seconds"] < best["seconds"] else best
        return best

    def glmnet(self, loss, lambdas):
        self.target(loss).tofile(self.dir + "/y.f64")
        n, p = self.X.shape
        seconds = float(subprocess.run(["Rscript", here + "/lasso.R", self.dir, str(n), str(p), loss, *map(repr, map(float, lambdas))],
                                       check=True, capture_output=True, text=True).stdout.split()[-1])
        return seconds, np.fromfile(self.dir + "/w.f64")


def timed(f, repeat=3):
    best = 1e9
    for _ in range(repeat):
        start = time.perf_counter()
        result = f()
        best = min(best, time.perf_counter() - start)
    return best, result


def single(problem, loss, ratio, peers):
    said = problem.ours(loss, "--lambda-ratio", str(ratio))
    lam, y = said["lambda"], problem.target(loss)
    ours = gap(problem.X, y, weights(problem.dir + "/model", problem.X.shape[1]), lam, loss)
    row = [f"{ratio:<6} {loss:8} voxsift {said['seconds']:.4f} s, {said['passes']:.2f} passes, gap {ours:.1e}"]
    for name, run in peers.items():
        seconds, w = run(lam)
        row.append(f"{name} {seconds:.4f} s ({seconds / said['seconds']:.1f} x), gap {gap(problem.X, y, w, lam, loss):.1e}")
    print("  " + "; ".join(row), flush=True)
    if not ours <= 2e-6:
        sys.exit("the weights of voxsift do not solve this problem")


print("n = 100, p = 5,000, the dissertation's simulation:", flush=True)
(X, y), large = problems.both()
# Classes of which the positive one is the larger: without the words of `identical` ours has another sign and other weights.
single(Problem("uneven", X, y - np.quantile(y, 0.3)), "logistic", 0.1, {})
problem = Problem("small", X, y)
Xf = np.asfortranarray(X.astype(float))
for ratio in (0.3, 0.05, 0.01, 0.001):
    def lars(lam):
        seconds, (_, _, path) = timed(lambda: lars_path(Xf, y, method="lasso", alpha_min=lam / 100))
        return seconds, path[:, -1]

    def descent(lam):
        model = Lasso(alpha=lam / 100, fit_intercept=False, tol=1e-6 if ratio > 0.01 else 1e-7, max_iter=10**6)
        seconds, _ = timed(lambda: model.fit(Xf, y), 3 if ratio > 0.01 else 1)
        return seconds, model.coef_

    single(problem, "squared", ratio, {"LARS": lars, "descent": descent})

print("n = 400, p = 200,000, smooth:", flush=True)
X, y = large
problem = Problem("brains", X, y)
for loss in ("squared", "logistic"):
    for ratio in (0.1, 0.01):
        single(problem, loss, ratio, {"glmnet": lambda lam: problem.glmnet(loss, [lam])})
    said = problem.ours(loss, "--lambda-ratio", "0.01", command="path")
    points = said["outputs"][0]["points"]
    seconds, w = problem.glmnet(loss, [q["lambda"] for q in points])
    print(f"  path of 100 to 0.01, {loss}: voxsift {said['seconds']:.2f} s, {said['passes']:.1f} passes, largest gap "
          f"{max(q['gap'] for q in points):.1e}; glmnet {seconds:.2f} s ({seconds / said['seconds']:.1f} x), last gap "
          f"{gap(X, problem.target(loss), w, points[-1]['lambda'], loss):.1e}", flush=True)
