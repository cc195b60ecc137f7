"""The fused lasso on trees: a chain beside scikit-learn on the columns added up by hand, then 200,000 features
and the shipped brains: trees.py BUILD FOLDER EXAMPLES. Every answer is verified first; seconds are those of
the solvers alone, one thread, the least of three."""
import json
import os
import subprocess
import sys
import time
import warnings

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso, lars_path

warnings.simplefilter("ignore", ConvergenceWarning)
build, folder, examples = sys.argv[1:4]
rng = np.random.default_rng(4)


def voxsift(command, *words):
    return json.loads(subprocess.run([build + "/voxsift", command, *words, "--json", "-q", "--nthreads", "1"],
                                     check=True, capture_output=True).stdout)


def fit(cohort, *words):
    """The fastest of three, whose certificate other code confirms."""
    said = min((voxsift("fit", cohort, "--method", "fused", *words, "-o", folder + "/model", "--force") for _ in range(3)),
               key=lambda s: s["seconds"])
    assert voxsift("check-model", folder + "/model", cohort)["holds"]
    return said


def path(cohort, *words):
    said = min((voxsift("path", cohort, "--method", "fused", *words) for _ in range(3)),
               key=lambda s: sum(q["seconds"] for q in s["outputs"][0]["points"]))
    points = said["outputs"][0]["points"]
    assert all(q["converged"] for q in points)
    return f"path of {len(points)} to {points[-1]['lambda'] / points[-1]['lambda_max']:.3g}: " \
           f"{sum(q['seconds'] for q in points):.3f} s, {said['passes']:.1f} passes, {points[-1]['fused_regions']} pieces, " \
           f"gap {max(q['gap'] for q in points):.0e} at most"


def weights(p):
    w = np.zeros(p)
    for line in open(folder + "/model/weights.tsv").readlines()[1:]:
        cells = line.split("\t")
        w[int(cells[0])] = float(cells[-1])
    return w


def make(name, X, y):
    os.makedirs(folder, exist_ok=True)
    np.save(f"{folder}/{name}.npy", X)
    with open(f"{folder}/{name}.tsv", "w") as f:
        f.write("participant_id\tscore\n" + "".join(f"s{i}\t{v!r}\n" for i, v in enumerate(map(float, y))))
    subprocess.run([build + "/voxsift", "cohort", "--npy", f"{folder}/{name}.npy", "--rows", f"{folder}/{name}.tsv",
                    "--mem", "4G", "-o", f"{folder}/{name}", "--force", "-q"], check=True, stdout=subprocess.DEVNULL)
    return f"{folder}/{name}"


def pieces(n, p):
    """Weights in ten pieces along a chain."""
    X = rng.normal(size=(n, p)).astype("f4")
    w = np.repeat(rng.normal(size=10), p // 10)
    return X, X @ w + 0.1 * np.linalg.norm(X @ w) / n**0.5 * rng.normal(size=n)


def timed(f):
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        result = f()
        best = min(best, time.perf_counter() - start)
    return best, result


print("n = 100, p = 5,000, a chain with ten pieces; scikit-learn on sums without the level:", flush=True)
X, y = pieces(100, 5000)
cohort = make("chain", X, y)
S = np.cumsum(X[:, ::-1].astype(float), 1)[:, ::-1]
level = S[:, :1] / np.linalg.norm(S[:, 0])
free = np.asfortranarray(S[:, 1:] - level @ (level.T @ S[:, 1:]))
rest = y - level[:, 0] * (level[:, 0] @ y)
for ratio in (0.3, 0.1, 0.01):
    said = fit(cohort, "--target", "score", "--graph", "chain", "--standardize", "none", "--no-intercept", "--lambda-ratio", str(ratio))
    lam, w = said["lambda"], weights(5000)
    primal = ((y - X.astype(float) @ w) ** 2).sum() / 2 + lam * abs(np.diff(w)).sum()
    assert abs(primal - said["primal"]) < 1e-8 * primal
    row = f"  {ratio}: voxsift {said['seconds']:.4f} s, {said['passes']:.1f} passes, {said['fused_regions']} pieces, gap {said['gap']:.0e}"
    seconds, (_, _, steps) = timed(lambda: lars_path(free, rest, method="lasso", alpha_min=lam / 100))
    others = {"LARS": (seconds, steps[:, -1])}
    model = Lasso(alpha=lam / 100, fit_intercept=False, tol=1e-6, max_iter=20000)
    seconds, _ = timed(lambda: model.fit(free, rest))
    others["descent"] = (seconds, model.coef_)
    for name, (seconds, u) in others.items():
        theirs = ((rest - free @ u) ** 2).sum() / 2 + lam * abs(u).sum()
        row += f"; {name} {seconds:.4f} s ({seconds / said['seconds']:.1f} x), objective {theirs / primal - 1:+.0e}"
    print(row, flush=True)

print("n = 400, p = 200,000, the same:", flush=True)
cohort = make("long", *pieces(400, 200_000))
for ratio in (0.3, 0.1, 0.01):
    said = fit(cohort, "--target", "score", "--graph", "chain", "--lambda-ratio", str(ratio))
    print(f"  {ratio}: {said['seconds']:.3f} s, {said['passes']:.1f} passes, {said['fused_regions']} pieces, gap {said['gap']:.0e}", flush=True)
print("  " + path(cohort, "--target", "score", "--graph", "chain", "--lambda-ratio", "0.01", "--nlambda", "50"), flush=True)

print("T1w of the shipped cohort, 114 subjects, a spanning tree of 27,575 voxels:", flush=True)
os.chdir(examples)
subprocess.run([build + "/voxsift", "cohort", "arc/participants.tsv", "--image-column", "t1w", "--smooth", "8", "-o", folder + "/t1w",
                "--force", "-q"], check=True, stdout=subprocess.DEVNULL)
for target, words in (("age_at_stroke", []), ("sex", [])):
    said = fit(folder + "/t1w", "--target", target, *words)
    print(f"  {target} ({said['loss']}) at 0.1: {said['seconds']:.4f} s, {said['passes']:.1f} passes, {said['fused_regions']} pieces; tree and "
          f"files besides: {said['seconds_total'] - said['seconds']:.2f} s", flush=True)
    print("  " + path(folder + "/t1w", "--target", target), flush=True)
