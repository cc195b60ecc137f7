"""Kernel selection without differences is a linear programme: the same value by HiGHS. Arguments: build folder, folder to
work in."""
import json
import os
import subprocess
import sys

import numpy as np
from scipy.optimize import linprog

build, folder = sys.argv[1:3]
os.makedirs(folder, exist_ok=True)
os.chdir(folder)
bad = count = 0
for seed in range(12):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(20, 70)), int(rng.integers(20, 300))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:4] = 1, 1, -1, -1
    X = (rng.normal(size=(p, n)) + 0.7 * y * (rng.random((p, 1)) < 0.1)).astype("f4")
    np.save("x.npy", X.T)
    open("people.tsv", "w").write("participant_id\tdx\n" + "".join(f"s{k:03}\t{'yes' if v > 0 else 'no'}\n" for k, v in enumerate(y)))
    run = lambda *words: subprocess.run([f"{build}/voxsift", *words, "-q"], capture_output=True, text=True, check=True).stdout
    run("cohort", "--npy", "x.npy", "--rows", "people.tsv", "-o", "c", "--force")
    S = X.astype(float).T
    S = (S - S.mean(0)) / S.std(0)
    yt = y - y.mean()
    g = np.stack([np.exp(-((S[:, j][:, None] - S[:, j][None]) ** 2) / 2) @ yt for j in range(p)], 1)
    Z = yt[:, None] * (g - g.mean(0))
    for ratio in (0.5, 0.2, 0.05):
        said = json.loads(run("fit", "c", "--target", "dx", "--method", "skfs", "--laplacian", "0", "--lambda-ratio", str(ratio), "--class-weights", "none",
                              "--tol", "1e-8", "-o", "m", "--force", "--json"))
        # a and slack: n - Za <= slack
        lp = linprog(np.concatenate([np.full(p, said["lambda"]), np.ones(n)]), A_ub=np.hstack([-Z, -np.eye(n)]), b_ub=np.full(n, -n), method="highs")
        count += 1
        if abs(lp.fun - said["primal"]) > 1e-6 * n * n or lp.status != 0:
            bad += 1
            print(f"DIFFERENT seed {seed} ratio {ratio}: {said['primal']:.9g}, HiGHS {lp.fun:.9g}")
print(f"kernel selection without differences: {count - bad} of {count} problems agree with HiGHS")
sys.exit(bad > 0)
