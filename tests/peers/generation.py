"""Feature generation against scipy: |w|_B^2 is the least sum |w_g|^2 / d_g with 0 <= d <= 1 and sum d <= B, so the problem is
to minimize over d, by SLSQP, the value of a regression with squared weights whose columns are sqrt(d_g) Z_g, by
trust-exact. Arguments: build folder, folder to work in."""
import json
import os
import subprocess
import sys

import numpy as np
from scipy.optimize import minimize

build, folder = sys.argv[1:3]
os.makedirs(folder, exist_ok=True)
os.chdir(folder)
bad = count = 0
furthest = 0


def run(*words):
    p = subprocess.run([f"{build}/voxsift", *words, "-q"], capture_output=True, text=True, timeout=60)
    if p.returncode not in (0, 3):
        sys.exit(p.stderr)
    return p.stdout


def solve(*words):
    """As many units as there are, until the gap is closed."""
    return json.loads(run("path", "c", *words, "--nselect", "100000", "--json"))["outputs"][0]["points"][0]


def losses(logistic, m):
    """Values, slopes and curvatures by the margin."""
    if not logistic:
        s = np.maximum(0, 1 - m)
        return s**2 / 2, -s, (m < 1) * 1.0
    s = np.exp(-np.logaddexp(0, m))
    return np.logaddexp(0, -m), -s, s * (1 - s)


def inner(d, Z, groups, y, u, free, logistic, start):
    """The least value for these d, and its slope by them: - |Z_g'(alpha y)|^2 / 2."""
    A = np.hstack([Z * np.sqrt(d)[groups], free])
    ridge = np.concatenate([np.ones(Z.shape[1]), np.zeros(free.shape[1])])

    def value(v):
        f, s, _ = losses(logistic, y * (A @ v))
        return ridge @ v**2 / 2 + u @ f, ridge * v + A.T @ (u * y * s)

    def curve(v):
        return np.diag(ridge + 1e-13) + (A.T * (u * losses(logistic, y * (A @ v))[2])) @ A

    fit = minimize(value, start, jac=True, hess=curve, method="trust-exact", options={"gtol": 1e-11 * u.sum(), "maxiter": 500})
    start[:] = fit.x
    left = Z.T @ (u * y * losses(logistic, y * (A @ fit.x))[1])
    return fit.fun, -np.bincount(groups, left**2, len(d)) / 2


def least(Z, groups, y, u, free, logistic, B):
    p = groups.max() + 1
    start = np.zeros(Z.shape[1] + free.shape[1])
    best, d = np.inf, np.full(p, min(1, B / p))
    for _ in range(5):  # SLSQP ends early at times
        fit = minimize(inner, d, args=(Z, groups, y, u, free, logistic, start), jac=True, method="SLSQP", bounds=[(0, 1)] * p,
                       constraints=[{"type": "ineq", "fun": lambda d: B - d.sum(), "jac": lambda d: -np.ones(p)}],
                       options={"ftol": 1e-15, "maxiter": 1000})
        d = np.clip(fit.x, 0, 1) * min(1, B / max(fit.x.clip(0, 1).sum(), 1e-300))
        value = inner(d, Z, groups, y, u, free, logistic, start)[0]
        if value > best * (1 - 1e-9):
            return min(best, value)
        best = value
    return best


for seed in range(48):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(12, 40)), int(rng.integers(6, 30))
    X = rng.normal(size=(n, p)).astype("f4")
    y = np.where(X[:, 0] + X[:, 1] * (seed % 2) + rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = 1, -1
    weight, age = rng.choice([0.5, 1, 2], n), rng.normal(size=n)
    logistic, shift, grouped, weighted = seed % 2 == 1, seed // 2 % 2 == 1, seed // 4 % 2 == 1, seed // 8 % 2 == 1
    B, cost = int(rng.integers(1, 6)), float(10.0 ** rng.uniform(-2, 0.7))
    np.save("x.npy", X)
    open("people.tsv", "w").write("participant_id\tdx\tweight\tage\n" + "".join(
        f"s{k:03}\t{'yes' if v > 0 else 'no'}\t{w!r}\t{a!r}\n" for k, (v, w, a) in enumerate(zip(y, map(float, weight), map(float, age)))))
    run("cohort", "--npy", "x.npy", "--rows", "people.tsv", "-o", "c", "--force")
    words = ["--target", "dx", "--standardize", "none", "--class-weights", "none", "--C", repr(cost)]
    Z, groups = X.astype(float), np.arange(p)
    if grouped:  # overlapping ones
        members = [np.sort(rng.choice(p, int(rng.integers(1, 5)), replace=False)) for _ in range(int(rng.integers(3, 9)))]
        open("groups.tsv", "w").write("group\tfeature\n" + "".join(f"g{g}\tx{j}\n" for g, m in enumerate(members) for j in m))
        words += ["--groups", "file:groups.tsv"]
        size = [np.sqrt(len(m)) if seed % 3 == 0 else 1 for m in members]
        words += ["--by-size"] if seed % 3 == 0 else []
        Z, groups = np.hstack([Z[:, m] / s for m, s in zip(members, size)]), np.repeat(np.arange(len(members)), [len(m) for m in members])
    free = np.column_stack([np.ones(n), age][:2 if seed % 5 == 0 else 1]) if shift else np.zeros((n, 0))
    words += ([] if shift else ["--no-intercept"]) + (["--confounds", "age"] if free.shape[1] == 2 else [])
    words += ["--subject-weights", "weight"] if weighted else []
    u = cost * (weight if weighted else np.ones(n))
    said = solve("--method", "fgm", *words, "--per-iteration", str(B), "--tol", "1e-7", "--loss", "logistic" if logistic else "squared-hinge")
    value = least(Z, groups, y, u, free, logistic, B)
    apart = abs(said["primal"] - value) / value
    furthest, count = max(furthest, apart), count + 1
    if not apart <= 1e-6 or not said["dual"] <= value * (1 + 1e-9):
        bad += 1
        print(f"DIFFERENT seed {seed}: fgm {said['primal']:.10g} (gap {said['gap']:.2g}), scipy {value:.10g}: n {n}, p {p}, B {B}, C {cost:.3g}, "
              f"logistic {logistic}, shift {shift}, groups {grouped}")
    if logistic and seed % 3 == 0:  # without shift, and only so near as its bound says
        value = least(Z, groups, y, u, free[:, :0], True, B)
        for way, tol in (("proximal-gradient", 1e-7), ("coordinate-descent", 1e-3)):
            said = solve("--method", "mslr", "--solver", way, *words, "--per-iteration", str(B), "--tol", str(tol))
            count += 1
            if not said["dual"] <= value * (1 + 1e-9) or not value * (1 - 1e-9) <= said["primal"] or said["primal"] > value + 2 * tol * u.sum():
                bad += 1
                print(f"DIFFERENT seed {seed}: mslr by {way} {said['dual']:.10g} to {said['primal']:.10g}, scipy {value:.10g}")
print(f"feature generation: {count - bad} of {count} problems agree with scipy, to {furthest:.1e} of their values")
sys.exit(bad > 0)
