"""The group lasso beside skglm on identical problems (raw columns, no intercept, groups side by side, roots of their sizes):
group_lasso.py BUILD FOLDER, with SKGLM naming a folder that has skglm's source. Every answer is verified first, by the gap
of the full problem from its weights in doubles; then processor seconds of solving, one thread, the least of several, in
turns. The peer's tolerance is lowered until its gap is at most 1e-6. GROUPS_OF: some of gauss, voxel, region."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
from contest import Peer, beside, row, skglm, take_turns

import numpy as np

build, folder = sys.argv[1:3]
TOLERANCES = [10.0**(-k / 2) for k in range(6, 20)]


class Problem:
    def __init__(self, rng, n, p, m, smooth):
        self.m = m
        X = rng.standard_normal((n, p + smooth)).astype("f4")
        if smooth:
            sums = np.cumsum(X, 1)
            X = (sums[:, smooth:] - sums[:, :-smooth]) / np.sqrt(smooth)
        X -= X.mean(0)
        w = np.zeros(p)
        for g in rng.choice(p // m, 8, replace=False):
            w[g * m:(g + 1) * m] = rng.standard_normal(m)
        y = X @ w
        y = y / y.std() + 0.5 * rng.standard_normal(n)
        self.score = y - y.mean()
        self.X = np.asfortranarray(X.astype(float))

    def store(self, place):
        self.dir = place
        os.makedirs(place, exist_ok=True)
        np.array([*self.X.shape, 0], "u8").tofile(place + "/size")
        self.X.T.astype("f4").tofile(place + "/columns")

    def take(self, loss):
        self.loss, self.y = loss, self.score if loss == "squared" else np.where(self.score > 0, 1.0, -1.0)
        self.y.astype("f8").tofile(self.dir + "/y")
        slope = self.y if loss == "squared" else self.y / 2
        self.lambda_max = self.norms(self.X.T @ slope).max() / np.sqrt(self.m)

    def norms(self, v):
        return np.sqrt((v.reshape(-1, self.m)**2).sum(1))

    def gap(self, w, lam):
        """As a share of the empty model's loss."""
        X, y, z = self.X, self.y, self.X @ w
        penalty = lam * np.sqrt(self.m) * self.norms(w).sum()
        if self.loss == "squared":
            r = y - z
            scale = min(lam * np.sqrt(self.m) / self.norms(X.T @ r).max(), y @ r / (r @ r))
            return (r @ r / 2 + penalty - scale * (y @ r) + scale**2 * (r @ r) / 2) / (y @ y / 2)
        t = 1 / (1 + np.exp(y * z))
        t *= min(1, lam * np.sqrt(self.m) / self.norms(X.T @ (y * t)).max())
        return (np.logaddexp(0, -y * z).sum() + penalty + (t * np.log(t) + (1 - t) * np.log(1 - t)).sum()) / (len(y) * np.log(2))

    def by_skglm(self, library, lam, compiled=set()):
        from skglm.datafits.group import LogisticGroup, QuadraticGroup
        from skglm.penalties.block_separable import WeightedGroupL2
        from skglm.utils.jit_compilation import compiled_clone
        n, p = self.X.shape
        begin, members = np.arange(0, p + 1, self.m).astype(np.int32), np.arange(p, dtype=np.int32)
        squared = self.loss == "squared"
        datafit = compiled_clone((QuadraticGroup if squared else LogisticGroup)(begin, members))
        penalty = compiled_clone(WeightedGroupL2(lam / n, np.full(p // self.m, np.sqrt(self.m)), begin, members))

        def solve(tolerance):
            solver = (library.solvers.GroupBCD(tol=tolerance, fit_intercept=False, max_iter=1000, max_epochs=10**5) if squared
                      else library.solvers.GroupProxNewton(tol=tolerance, fit_intercept=False, max_iter=200))
            return solver.solve(self.X, self.y, datafit, penalty)[0]
        if self.loss not in compiled:
            compiled.add(self.loss)
            solve(1e-1)
        return Peer(solve, lambda w: self.gap(w, lam), TOLERANCES)


class Ours:
    """Least seconds of all runs of group_fit, its passes and weights."""

    def __init__(self, problem, lam):
        self.command = [build + "/group_fit", problem.dir, str(problem.m), problem.loss, repr(float(lam))]
        self.seconds = np.inf
        self.again()
        self.w = np.fromfile(problem.dir + "/w")[:-1]

    def again(self):
        seconds, self.passes = map(float, subprocess.run(self.command, check=True, stdout=subprocess.PIPE).stdout.split())
        self.seconds = min(self.seconds, seconds)


SHAPES = {"gauss": (200, 20_000, 20, 0), "voxel": (300, 50_000, 50, 15), "region": (150, 20_000, 200, 15)}
library, rng = skglm(), np.random.default_rng(0)
widths = [16, 8, 6, 6, 8, 8, 6, 9] + [28] * bool(library)
row(["problem", "loss", "lambda", "groups", "weights", "seconds", "passes", "gap"] + ["skglm"] * bool(library), widths)
for name, (n, p, m, smooth) in SHAPES.items():
    problem = Problem(rng, n, p, m, smooth)  # also of those that are not asked for, so that each is always the same
    if name not in os.environ.get("GROUPS_OF", " ".join(SHAPES)).split():
        continue
    problem.store(folder + "/" + name)
    for loss in ("squared", "logistic"):
        problem.take(loss)
        for ratio in (0.3, 0.1, 0.03):
            lam = ratio * problem.lambda_max
            ours = Ours(problem, lam)
            peers = [problem.by_skglm(library, lam)] if library else []
            take_turns(ours, peers)
            cells = [f"{name} {n} x {p:,}", loss, f"{ratio:g}", f"{(problem.norms(ours.w) > 0).sum()}", f"{(ours.w != 0).sum()}",
                     f"{ours.seconds:.3f}", f"{ours.passes:.1f}", f"{problem.gap(ours.w, lam):.0e}"]
            row(cells + [beside(peer, ours) for peer in peers], widths)
