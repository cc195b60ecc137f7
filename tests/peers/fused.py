"""The fused lasso on random graphs: lambda_max, which is a dual norm, by HiGHS as the smallest flow over edges that
carries the gradient off, and the same values from every solver. Arguments: build folder, folder to work in."""
import json
import os
import subprocess
import sys

import numpy as np
from scipy.optimize import linprog

build, folder = sys.argv[1:3]
os.makedirs(folder, exist_ok=True)
os.chdir(folder)
norms = values = bad = 0


def run(*words):
    return subprocess.run([f"{build}/voxsift", *words, "-q"], capture_output=True, text=True, check=True).stdout


def fit(*words):
    return json.loads(run("fit", "c", "--target", "score", "--method", "fused", "--graph", "graph.tsv", "-o", "m", "--force",
                          "--json", "--loss", "squared", "--tol", "1e-10", *words))


def smallest_flow(v, ends, c, s):
    """min t: v = D'u + e, |u_k| <= t c_k, |e_j| <= t s; variables u, e, t."""
    p, m = len(v), len(c)
    A = np.zeros((p, m + p + 1))
    A[ends[:, 0], np.arange(m)] += 1
    np.add.at(A, (ends[:, 1], np.arange(m)), -1)
    A[:, m:m + p] = np.eye(p)
    size = np.concatenate([c, np.full(p, s)])
    bound = np.hstack([np.vstack([np.eye(m + p), -np.eye(m + p)]), -np.tile(size, 2)[:, None]])
    cost = np.zeros(m + p + 1)
    cost[-1] = 1
    lp = linprog(cost, A_ub=bound, b_ub=np.zeros(2 * (m + p)), A_eq=A, b_eq=v, bounds=[(None, None)] * (m + p) + [(0, None)], method="highs")
    assert lp.status == 0, lp.message
    return lp.fun


for seed in range(250):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(15, 40)), int(rng.integers(3, 40))
    X = rng.normal(size=(n, p)).astype("f4")
    y = X[:, 0] + X[:, 1] + rng.normal(size=n)
    ends = [(k, int(rng.integers(k))) for k in range(1, p)] + [tuple(map(int, rng.choice(p, 2, replace=False))) for _ in range(int(rng.integers(0, 2 * p)))]
    tree = seed % 5 == 0
    ends = np.array(ends[:p - 1] if tree else ends)
    c = np.ones(len(ends)) if seed % 2 else 0.2 + rng.random(len(ends))
    s = 0 if seed % 3 or tree else 0.5 + rng.random()
    np.save("x.npy", X)
    open("people.tsv", "w").write("participant_id\tscore\n" + "".join(f"s{k:03}\t{v!r}\n" for k, v in enumerate(map(float, y))))
    run("cohort", "--npy", "x.npy", "--rows", "people.tsv", "-o", "c", "--force")
    names = [f"x{k}" for k in range(p)]
    open("graph.tsv", "w").write("from\tto\tweight\n" + "".join(f"{names[a]}\t{names[b]}\t{w!r}\n" for (a, b), w in zip(ends, map(float, c))))
    sparse = ["--sparsity", repr(float(s))] if s > 0 else []
    # the empty model: an intercept, and without sparsity one weight for all
    free = np.stack([np.ones(n)] + ([] if s > 0 else [X.astype(float).sum(1) - X.astype(float).sum(1).mean()]), 1)
    S = X.astype(float) - X.astype(float).mean(0)
    left = y - free @ np.linalg.lstsq(free, y, rcond=None)[0]
    first = fit(*sparse, "--solver", "cut-pursuit", "--lambda-ratio", "0.3")
    lp, norms = smallest_flow(S.T @ left, ends, c, s), norms + 1
    if abs(lp - first["lambda_max"]) > 1e-7 * lp:
        bad += 1
        print(f"DIFFERENT seed {seed}: lambda_max {first['lambda_max']:.12g}, HiGHS {lp:.12g}")
    for ratio in (0.3, 0.05):
        found = {way: fit(*sparse, "--solver", way, "--lambda", repr(ratio * first["lambda_max"]))["primal"]
                 for way in ("cut-pursuit", "bound-propagation") + (("saif",) if tree else ())}
        values += 1
        if max(found.values()) - min(found.values()) > 1e-8 * max(found.values()):
            bad += 1
            print(f"DIFFERENT seed {seed} ratio {ratio}: {found}")
print(f"fused lasso: {norms} dual norms beside HiGHS, {values} problems by every solver, {bad} differences")
sys.exit(bad > 0)
