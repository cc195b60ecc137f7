"""Graphs by sparse inverse covariance (--graph precision:E) against scikit-learn's graphical lasso at the same penalty:
the same edges, but for those that are next to nothing. Arguments: build folder, folder to work in."""
import os
import subprocess
import sys
import warnings

import numpy as np
from sklearn.covariance import graphical_lasso

build, folder = map(os.path.abspath, sys.argv[1:3])
EDGES = [float(v) for v in sys.argv[3:]] or [0.3, 1.2, 3]
SURE = 1e-4  # an entry of the inverse that is smaller may stand in one answer and not in the other
os.makedirs(folder, exist_ok=True)
os.chdir(folder)
bad = count = 0


def run(*words):
    return subprocess.run([f"{build}/voxsift", *words], capture_output=True, text=True, check=True).stderr


for seed in range(8):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(30, 200)), int(rng.integers(20, 120))
    common = np.kron(rng.normal(size=(n, p // 8 + 1)), np.ones(8))[:, :p]
    X = (rng.normal(size=(n, p)) + 0.8 * common * rng.choice([1, -1], p) + 0.4 * rng.normal(size=(n, 1))).astype("f4")
    np.save("x.npy", X)
    open("people.tsv", "w").write("participant_id\tscore\n" + "".join(f"s{k:03}\t{v}\n" for k, v in enumerate(rng.normal(size=n))))
    run("cohort", "--npy", "x.npy", "--rows", "people.tsv", "-q", "-o", "c", "--force")
    S = np.corrcoef(X.astype(float).T)
    for each in EDGES:
        said = run("fit", "c", "--target", "score", "--method", "fused", "--graph", f"precision:{each}", "--lambda-ratio", "0.9",
                   "--verbose", "-o", "m", "--force")
        words = [line for line in said.splitlines() if "inverse covariance" in line][0].split()
        edges, rho = int(words[words.index("has") + 1]), float(words[words.index("rho") + 1])
        rows = [line.split("\t") for line in open("m/graph.tsv")][1:1 + edges]
        ours = {tuple(sorted((int(a[1:]), int(b[1:])))) for a, b, _ in rows}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            T = graphical_lasso(S, rho, tol=1e-9, enet_tol=1e-10, max_iter=2000)[1]
        theirs = {(i, j) for i in range(p) for j in range(i + 1, p) if T[i, j] != 0}
        differ = [e for e in ours ^ theirs if abs(T[e]) > SURE]
        missing = [e for e in ours if abs(T[e]) == 0]
        count += 1
        if differ or len(missing) > 1 + edges // 50 or abs(edges - each * p) > 1 + each * p / 100:
            bad += 1
            print("FAIL", f"seed {seed}, n {n}, p {p}, precision:{each}: {edges} edges at rho {rho}, {len(differ)} differ", differ[:5])
print(f"precision: {count - bad} of {count} graphs are those of scikit-learn")
sys.exit(bad > 0)
