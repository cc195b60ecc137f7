"""The elastic net with supports of any size, beside scikit-learn, glmnet and skglm, on identical problems (standardized
columns, no intercept): elastic_net.py BUILD FOLDER. Every answer is verified first, by the gap of the full problem
from its weights in doubles; then processor seconds, one thread, the least of several. Peers' tolerances are lowered until
their gap is at most 1e-6. RIDGES: some of 10, 1000, 10000."""
import os
import shutil
import subprocess
import sys
import warnings

sys.dont_write_bytecode = True
from contest import Ours, Peer, beside, row, skglm, take_turns

import numpy as np
from scipy.ndimage import gaussian_filter
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet

import problems

warnings.simplefilter("ignore", ConvergenceWarning)
build, folder = sys.argv[1:3]
here = os.path.dirname(os.path.abspath(__file__))
N, P = 306, 9956
TOLERANCES = [10.0**(-k / 2) for k in range(8, 24)]


def grey_matter(rng):
    """Densities between 0 and 1 that are smooth, share an atrophy with age everywhere and differ by head; standardized."""
    shape = (32, 32, 24)
    at = np.indices(shape) - (np.array(shape).reshape(3, 1, 1, 1) - 1) / 2
    inside = np.flatnonzero((np.abs(at / (np.array(shape).reshape(3, 1, 1, 1) / 2)) ** 2).sum(0).ravel() < 1)[:P]
    age = rng.uniform(-1.7, 1.7, N)
    loss = gaussian_filter(rng.normal(size=shape), 4).ravel()[inside]
    mean = gaussian_filter(rng.normal(size=shape), 1.5).ravel()[inside]
    X = np.empty((N, len(inside)))
    for i in range(N):
        noise = gaussian_filter(rng.normal(size=shape), 1.2).ravel()[inside]
        X[i] = (mean / mean.std() + noise / noise.std() + 0.7 * rng.normal() -
                (0.3 + 0.2 * loss / loss.std()) * age[i])
    X = 1 / (1 + np.exp(-X))
    X = ((X - X.mean(0)) / X.std(0)).astype("f4")
    y = age + 0.3 * rng.normal(size=N)
    return X, (y - y.mean()) / y.std()  # glmnet divides by it, which would change its ridge


def gap(w, lam, ridge):
    """At the residual as the dual point: ridge makes every point feasible, at a price."""
    r = y - X @ w
    over = np.maximum(np.abs(X.T @ r) - lam, 0)
    primal = r @ r / 2 + lam * np.abs(w).sum() + ridge / 2 * w @ w
    return (primal - (r @ y - r @ r / 2 - over @ over / (2 * ridge))) / (y @ y / 2)


def by_sklearn(lam, ridge):
    total = lam + ridge

    def solve(tolerance):
        return ElasticNet(alpha=total / N, l1_ratio=lam / total, fit_intercept=False, tol=tolerance, max_iter=10**5).fit(X, y).coef_
    return Peer(solve, lambda w: gap(w, lam, ridge), TOLERANCES)


def by_skglm(library, lam, ridge):
    from skglm.datafits import Quadratic
    from skglm.penalties import L1_plus_L2
    from skglm.utils.jit_compilation import compiled_clone
    total = lam + ridge
    datafit, penalty = compiled_clone(Quadratic()), compiled_clone(L1_plus_L2(total / N, lam / total))

    def solve(tolerance):
        solver = library.solvers.AndersonCD(tol=tolerance, fit_intercept=False, max_iter=1000, max_epochs=10**5)
        return solver.solve(X, y, datafit, penalty)[0]
    if not by_skglm.__dict__.setdefault("compiled", False):
        solve(1e-1)
        by_skglm.compiled = True
    return Peer(solve, lambda w: gap(w, lam, ridge), [10 * t for t in TOLERANCES])


def by_glmnet(lam, ridge):
    """The quicker of a path of 20 and of this lambda alone."""
    X.T.tofile(folder + "/x.f64")  # column by column
    y.tofile(folder + "/y.f64")

    def along(length):
        def solve(tolerance):
            told = {"RIDGE": repr(ridge), "THRESH": repr(tolerance), "LENGTH": str(length)}
            said = subprocess.run(["Rscript", here + "/lasso.R", folder, str(N), str(X.shape[1]), "squared", repr(lam)], check=True,
                                  env=os.environ | told, capture_output=True, text=True).stdout
            return np.fromfile(folder + "/w.f64"), float(said.split()[-1])
        return Peer(solve, lambda w: gap(w, lam, ridge), [10.0**-k for k in range(8, 18)])
    return min((along(length) for length in (20, 1)), key=lambda peer: (peer.gap > 1e-6, peer.seconds))


rng = np.random.default_rng(3)
X, y = grey_matter(rng)
problems.cohort(build, folder, X, y)
y = np.array([float(line.split("\t")[1]) for line in open(folder + "/rows.tsv").read().splitlines()[1:]])
X = np.asfortranarray(X.astype(float))
steepest = np.abs(X.T @ y).max()
spectrum = np.linalg.svd(X, compute_uv=False) ** 2
print(f"{N} subjects, {X.shape[1]} voxels; the first 10 components have {spectrum[:10].sum() / spectrum.sum():.0%} of the variance")
peers = {"scikit-learn": by_sklearn}
library = skglm()
if library:
    peers["skglm"] = lambda lam, ridge: by_skglm(library, lam, ridge)
if shutil.which("Rscript"):
    peers["glmnet"] = by_glmnet
widths = [6, 14, 7, 8, 6, 9] + [28] * len(peers)
row(["ridge", "lambda / its max", "weights", "seconds", "passes", "gap", *peers], widths)
for ridge in map(float, os.environ.get("RIDGES", "10 1000 10000").split()):
    for ratio in (0.1, 0.01):
        lam = ratio * steepest
        ours = Ours(build, folder, X.shape[1], "score", ["--ridge", repr(ridge), "--lambda", repr(lam)])
        rivals = [peer(lam, ridge) for peer in peers.values()]
        take_turns(ours, rivals)
        cells = [f"{ridge:g}", f"{ratio:g}", f"{(ours.w != 0).sum()}", f"{ours.seconds:.3f}",
                 f"{ours.passes:.1f}", f"{gap(ours.w, lam, ridge):.0e}"]
        row(cells + [beside(peer, ours) for peer in rivals], widths)
