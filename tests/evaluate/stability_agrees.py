"""Stability against numpy: halves that are halves, frequencies that fits on them give, indices and bounds as
published, and a bound that holds. Runs in an empty directory."""
import json
import os

import numpy as np
from oracle import check, finish, near, run, table, write

rng = np.random.default_rng(53)


def cohort(name, X, columns):
    ids = [f"s{k:03}" for k in range(len(X))]
    np.save("x.npy", X.astype("f4"))
    write("rows.tsv", {"participant_id": ids, **columns})
    run("cohort", "--npy", "x.npy", "--rows", "rows.tsv", "-q", "-o", name, "--force")
    return ids


def stability(name, *words):
    return json.loads(run("stability", name, *words, "-o", "s", "--force", "--json", "-q")[0])


def frequencies(p, column="frequency"):
    f, t = np.zeros(p), table(open("s/frequencies.tsv"))
    f[[int(i) for i in t["index"]]] = [float(v) for v in t[column]]
    return f


def bound(tau, B, q, p):
    """Shah and Samworth (2013), theorem 2; Meinshausen and Buehlmann (2010), theorem 1."""
    theta = q / p
    plain = q**2 / ((2 * tau - 1) * p)
    least = min(0.5 + theta**2, 0.5 + 1 / (2 * B) + 0.75 * theta**2)
    if theta > 3**-0.5 or tau <= least or np.ceil(2 * B * tau) < B + 2:  # thresholds of the theorem: 1/2 + 1/B, and so on
        return plain
    c = 1 / (2 * (2 * tau - 1 - 1 / (2 * B))) if tau <= 0.75 else 4 * (1 - tau + 1 / (2 * B)) / (1 + 1 / B)
    return min(plain, c * q**2 / p)


N, P = 80, 120
X = rng.normal(size=(N, P))
X[:, 1] = X[:, 0] + 0.5 * rng.normal(size=N)
score = X[:, 0] + X[:, 7] + 0.8 * rng.normal(size=N)
columns = {"score": score, "dx": np.where(score > 0.5, "yes", "no"), "pair": np.arange(N) // 2}
ids = cohort("c", X, columns)
words = ["--pairs", "4", "--nlambda", "12", "--select-features", "5", "--threshold", "0.7"]
said = stability("c", "--target", "score", *words)
halves, f = table(open("s/halves.tsv")), frequencies(P)
sides = np.array([halves[f"pair_{k}"] for k in (1, 2, 3, 4)], int)
check("halves", halves["participant_id"] == ids and (np.sort(sides, 1) == np.repeat([1, 2], N // 2)).all())
sets = []
for k in range(4):
    for side in (1, 2):
        write("c/participants.tsv", {"participant_id": ids, **columns, "side": sides[k]})
        chosen = set()
        for q in range(12):
            run("fit", "c", "--target", "score", "--only", f"side={side}", "--lambda-ratio", repr(0.01 ** (q / 11)), "-o", "m", "--force", "-q")
            more = chosen | {int(i) for i in table(open("m/weights.tsv"))["index"]}
            if len(more) > 5:
                break
            chosen = more
        sets.append(chosen)
S = np.array([[j in s for j in range(P)] for s in sets])
check("frequencies", near(f, S.mean(0)), (f, S.mean(0)))
check("selected", said["selected"] == (S.mean(0) >= 0.7).sum() and near(said["mean_selected"], S.sum(1).mean()), said)
dice = [2 * (a & b).sum() / (a.sum() + b.sum()) for i, a in enumerate(S) for b in S[:i]]
v, m = 8 / 7 * S.mean(0) * (1 - S.mean(0)), S.mean(0).mean()
check("indices", near([said["dice"], said["nogueira"]], [np.mean(dice), 1 - v.mean() / (m * (1 - m))]), said)
check("the features that matter are stable", f[0] > 0.7 and f[7] > 0.7)
before = open("s/frequencies.tsv").read()
stability("c", "--target", "score", *words, "--nthreads", "1")
check("threads change nothing", open("s/frequencies.tsv").read() == before)
stability("c", "--target", "dx", *words, "--group", "pair")
sides = table(open("s/halves.tsv"))
check("groups stay together", all((np.array(sides[f"pair_{k}"])[::2] == np.array(sides[f"pair_{k}"])[1::2]).all() for k in (1, 2, 3, 4)))

# ---- Bounds ------------------------------------------------------------------------------------------
for tau in (0.55, 0.6, 0.75, 0.76, 0.9, 1):
    for B in (2, 20, 100):
        said = stability("c", "--target", "score", "--pairs", str(min(B, 4)), "--nlambda", "4", "--select-features", "9", "--threshold", str(tau))
        check("a bound on a number is not negative", said["error_bound"] > 0, said)
        check(f"bound at {tau}", near(said["error_bound"], bound(tau, min(B, 4), 9, P)), (said["error_bound"], bound(tau, min(B, 4), 9, P)))
for tau, B in ((0.6, 2), (0.55, 3), (0.55, 4)):
    said = stability("c", "--target", "score", "--pairs", str(B), "--nlambda", "4", "--threshold", str(tau))
    q = said["features_a_half"]
    check("few pairs do not let halves select more", bound(tau, B, q, P) <= 1 < bound(tau, B, q + 1, P), said)
for wrong in (0.1, 1, 5):
    said = stability("c", "--target", "score", "--pairs", "10", "--nlambda", "4", "--wrong", str(wrong))
    q = said["features_a_half"]
    check("as many as the bound allows", bound(0.75, 10, q, P) <= wrong < bound(0.75, 10, q + 1, P) or q == 1, (q, wrong))

# ---- What cannot be selected is not counted; groups that do not overlap are counted as groups --------
few = np.hstack([X[:, :20], np.full((N, 400), 2.0)])
cohort("constant", few, columns)
for words in ([], ["--loss", "huber"]):
    said = stability("constant", "--target", "score", "--pairs", "10", "--nlambda", "6", *words)
    q = said["features_a_half"]
    check("constant features are no candidates", said["candidates"] == 20 and near(said["error_bound"], bound(0.75, 10, q, 20)), said)
    check("and do not let halves select more", bound(0.75, 10, q, 20) <= 1 < bound(0.75, 10, q + 1, 20), said)
kinds = {"apart": [(g, j) for g in range(12) for j in range(10 * g, 10 * g + (10 if g else 9))],
         "overlapping": [(g, j) for g in range(12) for j in range(10 * g, min(10 * g + 11, 115))]}
for name, rows in kinds.items():
    write("groups.tsv", {"group": [f"g{g}" for g, j in rows], "feature": [f"x{j}" for g, j in rows]})
    for method in ("group-lasso", "fgm", "mslr"):
        target = "score" if method == "group-lasso" else "dx"
        said = stability("c", "--target", target, "--method", method, "--groups", "file:groups.tsv", "--pairs", "4", "--select-features", "3", "--threshold", "0.7")
        apart = name == "apart"
        check(f"{name}: what is counted", said["counted"] == ("groups" if apart else "features") and said["candidates"] == (12 if apart else 115), said)
        check(f"{name}: bound", near(said["error_bound"], bound(0.7, 4, 3, said["candidates"])), said)
        f = frequencies(P)
        check(f"{name}: how many groups are stable", said.get("selected_groups") == (sum(f[10 * g] >= 0.7 for g in range(12)) if apart else None), said)
        if not apart:
            check("a group with more features than a half may select is not selected", said["mean_selected"] == 0, said)
            continue
        check("a group is as frequent as each of its features", all(len(set(f[[j for h, j in rows if h == g]])) == 1 for g in range(12)), f)
        check("three groups a half at most", 0 < sum(f[10 * g] for g in range(12)) <= 3, f)
        check("the group that matters is stable", f[0] > 0.7, f)
        check("in no group", f[9] == 0, f)

wrong, right = [], []
for trial in range(30):
    X = rng.normal(size=(60, 200))
    cohort("t", X, {"score": X[:, :3].sum(1) + rng.normal(size=60)})
    said = stability("t", "--target", "score", "--pairs", "20", "--nlambda", "20", "--threshold", "0.7", "--wrong", "1")
    stable = np.flatnonzero(frequencies(200) >= 0.7)
    wrong.append((stable > 2).sum())
    right.append((stable <= 2).sum())
check("fewer are wrong than the bound says, and others are found", np.mean(wrong) <= 1 and np.mean(right) > 1.5, (wrong, right))
finish()
