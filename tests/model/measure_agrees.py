"""Method measure: optima against quadratic programs over all outputs (scipy), thresholds, the choice by inner folds
from fits of each, and dual points that are spoiled. Runs in an empty directory."""
import itertools
import json
import os
import warnings

import numpy as np
from oracle import check, finish, near, run, table, write
from scipy.optimize import minimize

warnings.filterwarnings("ignore")
rng = np.random.default_rng(71)

# ---- All outputs -----------------------------------------------------------------------------------------------


def planes(name, y):
    """(v - r, cost) of every output; of roc of every set of pairs."""
    pos, neg = np.where(y > 0)[0], np.where(y < 0)[0]
    p, q, n = len(pos), len(neg), len(y)
    if name == "roc":
        pairs, found = list(itertools.product(pos, neg)), []
        for chosen in itertools.product([0, 1], repeat=len(pairs)):
            g = np.zeros(n)
            for (i, j), c in zip(pairs, chosen):
                g[i] -= c / max(p, q)
                g[j] += c / max(p, q)
            found.append((g, sum(chosen) / max(p, q)))
        return found
    r, u, found = (y > 0).astype(float), np.ones(n), []
    k = {"top:1": 1, "top:25%": round(0.25 * n), "top:2p": 2 * p, "breakeven": p}.get(name, 0)
    if k:
        r = np.where(y > 0, min(1, k / p), max(0, k - p) / q)
    if name == "balanced":
        u = np.where(y > 0, n / (2 * p), n / (2 * q))
    for v in map(np.array, itertools.product([0, 1], repeat=n)):
        a, b = v[pos].sum(), v[neg].sum()
        if k and v.sum() != k:
            continue
        if name in ("f1", "fbeta:2"):
            s = 4 if name == "fbeta:2" else 1
            cost = (1 + s) * p * (1 - (1 + s) * a / (a + b + s * p))
        elif name == "gmean":
            cost = 2 * p * (1 - np.sqrt(a / p * (1 - b / q)))
        else:
            cost = min(k, p) - a if k else (u * (v != (y > 0))).sum()
        found.append((u * (v - r), cost))
    return found


def penalty(w, B):
    """|w|_B^2 = least sum w^2 / d over 0 <= d <= 1, sum d <= B."""
    a = np.sort(np.abs(w))[::-1]
    best = (a ** 2).sum() if B >= len(a) else np.inf
    for full in range(min(B, len(a))):  # the largest have d = 1
        rest = a[full:].sum()
        d = a[full:] * (B - full) / rest if rest > 0 else a[full:]
        if (d <= 1 + 1e-12).all():
            best = min(best, (a[:full] ** 2).sum() + rest ** 2 / (B - full))
    return best


def optimum(X, F, y, name, C, B):
    G, D = map(np.array, zip(*planes(name, y)))
    p, q = X.shape[1], F.shape[1]
    A, FA, best = G @ X, G @ F, np.inf
    J = np.hstack([-A, np.zeros((len(D), p)), -FA, np.ones((len(D), 1))])
    rules = [dict(type="ineq", fun=lambda x: J @ x - D, jac=lambda x: J),
             dict(type="ineq", fun=lambda x: B - x[p:2 * p].sum(),
                  jac=lambda x: np.concatenate([np.zeros(p), -np.ones(p), np.zeros(q + 1)]))]
    for trial in range(2):
        x0 = np.concatenate([0.1 * rng.normal(size=p), np.full(p, min(1, B / p)), np.zeros(q), [D.max() + 1]])
        x = minimize(lambda x: (x[:p] ** 2 / x[p:2 * p]).sum() / 2 + C * x[-1], x0, constraints=rules, method="SLSQP",
                     jac=lambda x: np.concatenate([x[:p] / x[p:2 * p], -(x[:p] / x[p:2 * p]) ** 2 / 2, np.zeros(q), [C]]),
                     bounds=[(None, None)] * p + [(1e-9, 1)] * p + [(None, None)] * (q + 1),
                     options=dict(maxiter=1000, ftol=1e-13)).x
        w = np.where(np.abs(x[:p]) < 1e-10, 0, x[:p])
        best = min(best, penalty(w, B) / 2 + C * (D + A @ w + FA @ x[2 * p:2 * p + q]).max())
    return best


N, P = 8, 5
ids = [f"s{k}" for k in range(N)]
worst = 0
for trial in range(3):
    y = np.where(np.arange(N) < 2 + trial % 2, 1, -1)
    X = (rng.normal(size=(N, P)) + 0.6 * np.outer(y > 0, rng.normal(size=P))).astype("f4")
    age = np.round(rng.normal(size=N), 3)
    write("x.tsv", {"participant_id": ids, **{f"f{j}": [repr(float(v)) for v in X[:, j]] for j in range(P)}})
    write("people.tsv", {"participant_id": ids, "dx": np.where(y > 0, "yes", "no"), "age": age})
    run("cohort", "--feature-table", "x.tsv", "--participants", "people.tsv", "--person", "participant_id", "-q", "-o", f"c{trial}")
    Z = X.astype(float)
    for k, name in enumerate(["error", "balanced", "f1", "fbeta:2", "gmean", "top:1", "top:25%", "top:2p", "breakeven", "roc"]):
        if name == "roc" and trial % 2:
            continue
        B, C = int(rng.integers(1, P + 1)), float(np.round(10 ** rng.uniform(-1.5, 0.5), 4))
        confound = (k + trial) % 3 == 0
        F = np.column_stack([np.ones(N), age]) if confound else np.ones((N, 1))
        run("fit", f"c{trial}", "--target", "dx", "--method", "measure", "--measure", name, "--C", str(C), "--per-iteration",
            str(B), "--iterations", "1000", "--tol", "1e-7", "--standardize", "none", "--calibrate", "0", "-q", "--force",
            "-o", "m", *(["--confounds", "age"] if confound else []))
        run("check-model", "m", f"c{trial}")
        said = json.load(open("m/model.json"))["outputs"][0]
        best = optimum(Z, F, y, name, C, B)
        off = (said["primal"] - best) / max(best, 1e-3)
        worst = max(worst, abs(off))
        check(f"{name}, B {B}, C {C}, confound {confound}: the optimum over all outputs", abs(off) < 2e-5, (said["primal"], best))
        check(f"{name}: the bound is one", said["dual"] <= best * (1 + 1e-7) + 1e-9, (said["dual"], best))
        check(f"{name}: the gap is closed", said["gap"] <= 1e-7 * 1.01, said["gap"])
print(f"largest difference from scipy: {worst:.1e}")

# ---- Thresholds and the choice ---------------------------------------------------------------------------------

N, P = 90, 20
ids = np.array([f"s{k:02}" for k in range(N)])
X = rng.normal(size=(N, P))
dx = np.where(X[:, :3].sum(1) + rng.normal(size=N) > 1.8, "yes", "no")
fold = np.array(list("abc"))[rng.permutation(N) % 3]
write("x.tsv", {"participant_id": ids, **{f"f{j}": X[:, j] for j in range(P)}})
write("people.tsv", {"participant_id": ids, "dx": dx, "fold": fold, "twice": 1 + np.arange(N) % 2})
run("cohort", "--feature-table", "x.tsv", "--participants", "people.tsv", "--person", "participant_id", "-q", "-o", "c")
yes, of = dx == "yes", ["--target", "dx", "--method", "measure", "--per-iteration", "2", "--C", "0.2", "-q"]


def scores(model):
    got = table(run("predict", model, "c", "--training-too", "-q")[0].splitlines())
    check("everybody has a prediction", got["participant_id"] == list(ids))
    return np.array([x == "yes" for x in got["predicted"]])


for rule, k in (("top:7", 7), ("top:20%", 18), ("top:2p", 2 * yes.sum()), ("breakeven", yes.sum())):
    run("fit", "c", *of, "--measure", rule, "--iterations", "3", "--force", "-o", "m", "--calibrate", "0")
    check(f"{rule}: so many are called", scores("m").sum() == k, scores("m").sum())
run("fit", "c", *of, "--measure", "roc", "--iterations", "3", "--force", "-o", "m", "--calibrate", "0")
called = scores("m")
check("roc: a threshold between the classes", called[yes].mean() + 1 - called[~yes].mean() > 1.5)


def miss(name, called, who):
    a, b, c = (called & yes & who).sum(), (called & ~yes & who).sum(), (~called & yes & who).sum()
    return {"f1": 1 - 2 * a / (2 * a + b + c), "error": (b + c) / who.sum(),
            "balanced": 1 - (a / (a + c) + 1 - b / (~yes & who).sum()) / 2}[name]


numbers = [2, 4, 8]
for name in ("f1", "error", "balanced"):
    run("fit", "c", *of, "--measure", name, "--nselect", "2,4,8", "--choose-lambda", "group", "--group", "fold", "--force", "-o", "chosen")
    about = json.load(open("chosen/model.json"))
    losses = []
    for number in numbers:
        called = np.zeros(N, bool)
        for g in "abc":
            run("fit", "c", *of, "--measure", name, "--nselect", str(number), "--exclude", f"fold={g}", "--force", "-o", "part", "--calibrate", "0")
            called[fold == g] = scores("part")[fold == g]
        losses.append(miss(name, called, np.ones(N, bool)))
    text = json.dumps(about)
    check(f"{name}: inner losses are 1 - the measure of all folds", "inner_losses" in text)
    found = about.get("selection", about).get("inner_losses") or about["inner_losses"]
    check(f"{name}: their values", near(np.ravel(found), losses, 1e-9), (found, losses))

# ---- What is spoiled -------------------------------------------------------------------------------------------

for name in ("f1", "roc", "top:7", "error"):
    run("fit", "c", *of, "--measure", name, "--iterations", "3", "--refit", "1", "--force", "-o", "m")
    run("check-model", "m", "c")
    rows = np.load("m/outputs.npy")
    check(f"{name}: a row for each number or one, of selection and refit", set(rows[:, 1]) == {0, 1} and rows.shape[1] == 5 + N)
    if os.path.exists("m/sha256sums"):  # the seal would tell
        os.remove("m/sha256sums")
    for row in (0, len(rows) - 1):
        wrong = rows.copy()
        wrong[row, 5 + np.argmax(np.abs(wrong[row, 5:]))] *= 3
        np.save("m/outputs.npy", wrong)
        run("check-model", "m", "c", code=3)
    np.save("m/outputs.npy", rows)
    run("check-model", "m", "c")
finish()
