"""Confounds that are taken out of features, against numpy: the model, its predictions and its certificate are
those of features that were regressed by hand, on everybody or on controls alone. Runs in an empty directory."""
import json
import os

import numpy as np
from oracle import check, finish, near, run, table, write

rng = np.random.default_rng(61)
N, P = 50, 40
ids = [f"s{k:02}" for k in range(N)]
age, site, group = rng.uniform(20, 80, N).round(1), rng.choice(["a", "b"], N), rng.choice(["CN", "AD"], N)
X = rng.integers(-4, 5, (N, P)) + 0.125 * np.outer(age.round(), rng.integers(-2, 3, P))  # exact in single precision
score = X[:, 0] - X[:, 1] + 0.1 * age + rng.normal(size=N)
people = {"participant_id": ids, "age": age, "site": site, "group": group, "score": score, "dx": np.where(score > np.median(score), "yes", "no")}
write("x.tsv", {"participant_id": ids, **{f"f{j}": X[:, j] for j in range(P)}})
write("people.tsv", people)
run("cohort", "--feature-table", "x.tsv", "--participants", "people.tsv", "-q", "-o", "c")
C = np.column_stack([np.ones(N), age, site == "b"]).astype(float)


def lasso_gap(Z, y, w, b, lam):
    """Relative duality gap of the lasso with an intercept, by hand."""
    r = y - Z @ w - b
    theta = (r - r.mean()) / lam
    theta /= max(1, abs(Z.T @ theta).max())
    primal = (r @ r) / 2 + lam * abs(w).sum()
    dual = y @ y / 2 - lam**2 / 2 * ((theta - y / lam) ** 2).sum()
    return primal, (primal - dual) / ((y - y.mean()) ** 2).sum() * 2


for way in ("unit", "center", "none"):
    for on in (None, "CN"):
        words = ["--confounds", "age,site", "--confounds-as", "regress", "--standardize", way, "--lambda-ratio", "0.2"]
        learn = np.ones(N, bool) if on is None else group == on
        words += [] if on is None else ["--regress-on", "group=" + on]
        run("fit", "c", "--target", "score", *words, "-o", "m", "--force", "-q")
        about, t, raw = json.load(open("m/model.json"))["outputs"][0], table(open("m/weights.tsv")), np.zeros(P)
        raw[[int(i) for i in t["index"]]] = [float(v) for v in t["weight"]]
        sd = X.std(0) if way == "unit" else np.ones(P)
        Z = (X - X.mean(0) * (way != "none")) / sd
        Z = Z - C @ np.linalg.lstsq(C[learn], Z[learn], rcond=None)[0]
        gamma = np.linalg.lstsq(C[learn], (X @ raw)[learn], rcond=None)[0]
        b = about["unpenalized_weights"][0] + gamma[0]
        primal, gap = lasso_gap(Z, score, raw * sd, b, about["lambda"])
        what = f"{way}, learned on {on}"
        check(what + ": primal", near(primal, about["primal"]), (primal, about["primal"]))
        check(what + ": nothing is better", -1e-9 < gap < 2e-6, gap)
        check(what + ": weights of confounds", near(np.array(about["unpenalized_weights"][1:]), -gamma[1:], 1e-6), (about, gamma))
        check(what + ": confounds predict nothing", on or abs(C[:, 1:].T @ (Z @ (raw * sd))).max() < 1e-6 * N * 80)
        check(what + ": certificate", json.loads(run("check-model", "m", "c", "--json")[0])["holds"] is True)
        p = np.array(table(run("predict", "m", "c")[0].splitlines())["predicted"], float)
        check(what + ": predictions", near(p, Z @ (raw * sd) + b, 1e-7))
about = json.load(open("m/model.json"))
about["outputs"][0]["unpenalized_weights"][1] += 0.5
os.makedirs("bad")
for f in os.listdir("m"):
    if f != "model.json":
        os.link("m/" + f, "bad/" + f)
json.dump(about, open("bad/model.json", "w"))
check("changed weights of confounds are seen", "is not what is taken out of its features" in run("check-model", "bad", "c", code=65)[1])
for target, words in (("dx", []), ("score", ["--method", "fused", "--graph", "chain"])):
    run("fit", "c", "--target", target, "--confounds", "age", "--confounds-as", "regress", *words, "-o", "k", "--force", "-q")
    check("certificate of " + target, json.loads(run("check-model", "k", "c", "--json")[0])["holds"] is True)
points = json.loads(run("path", "c", "--target", "score", "--confounds", "age", "--confounds-as", "regress", "--nlambda", "5", "--json")[0])
check("a path", all(q["gap"] <= q["tol"] for q in points["outputs"][0]["points"]))

# ---- Features of which confounds say all ------------------------------------------------------------------
explained = {"participant_id": ids, "seven": [7] * N, "age_again": age.round(), **{f"f{j}": X[:, j] for j in range(6)}}
write("x6.tsv", explained)
write("people6.tsv", {**people, "age": age.round()})
run("cohort", "--feature-table", "x6.tsv", "--participants", "people6.tsv", "-q", "-o", "six")
for kernel in ("rbf", "poly"):
    for way in ("unit", "center", "none"):
        run("fit", "six", "--target", "score", "--confounds", "age", "--confounds-as", "regress", "--method", "svm", "--kernel", kernel,
            "--standardize", way, "-o", "m", "--force", "-q")
        check(f"{kernel}, {way}: certificate", json.loads(run("check-model", "m", "six", "--json")[0])["holds"] is True)

# ---- In folds: learned from training subjects alone ------------------------------------------------------
words = ["--confounds", "age,site", "--confounds-as", "regress", "--regress-on", "group=CN"]
said = json.loads(run("cv", "c", "--target", "score", *words, "--nlambda", "5", "--folds", "3", "-o", "v", "--json", "-q")[0])
p, fold = table(open("v/predictions.tsv")), np.array(table(open("v/folds.tsv"))["fold"], int)
for f in said["each_fold"]:
    train = fold != f["fold"]
    run("cohort", "--feature-table", "x.tsv", "--participants", "people.tsv", "-q", "-o", "part", "--force")
    write("part/participants.tsv", {**people, "use": np.where(train, "yes", "no")})
    run("fit", "part", "--target", "score", "--only", "use=yes", *words, "--lambda", repr(f["lambda"][0]), "-o", "m", "--force", "-q")
    want = np.array(table(run("predict", "m", "part")[0].splitlines())["predicted"], float)
    check("a fold", near(np.array(p["predicted"], float)[~train], want[~train], 1e-5))
for words, code, part in ((["--regress-on", "group=CN"], 2, "goes with '--confounds-as regress'"),
                          (["--confounds", "age", "--confounds-as", "regress", "--regress-on", "group"], 2, "takes COLUMN=A,B"),
                          (["--confounds", "age", "--confounds-as", "regress", "--regress-on", "group=MCI"], 65, "no row has the value 'MCI'"),
                          (["--confounds", "age", "--confounds-as", "regress", "--standardize", "none", "--no-intercept"], 2, "takes the mean out as well")):
    check(part, part in run("fit", "c", "--target", "score", *words, "-o", "x", code=code)[1])
finish()
