"""All classes at once (multinomial loss) against numpy: objectives, a bound of its own on a chain, probabilities,
and two classes, which are the logistic loss. Runs in an empty directory."""
import json
import shutil

import numpy as np
from oracle import check, finish, near, run, same, table, write

rng = np.random.default_rng(77)
N, P, NAMES = 72, 24, "abc"
X = np.round(rng.normal(size=(N, P)), 3)
B = np.zeros((3, P))
B[0, :7], B[1, 9:15], B[2, 18:] = 0.7, 0.7, -0.7
y = (X @ B.T + rng.gumbel(size=(N, 3))).argmax(1)
age = np.round(60 + 8 * rng.normal(size=N), 2)
ids = [f"s{k}" for k in range(N)]
write("people.tsv", {"participant_id": ids, "dx": [NAMES[k] for k in y], "two": [NAMES[int(k > 0)] for k in y], "age": age})
write("features.tsv", {"participant_id": ids, **{f"f{j}": X[:, j] for j in range(P)}})
run("cohort", "--feature-table", "features.tsv", "--participants", "people.tsv", "-q", "-o", "c")
X = np.load("c/features.npy").T.astype(float)


def outputs(model):
    return json.load(open(model + "/model.json"))["outputs"]


def weights(model):
    w, t = np.zeros((3, P)), table(open(model + "/weights.tsv"))
    for c in range(3):
        w[c, [int(k) for k in t["index"]]] = [float(v) for v in t["weight_" + NAMES[c]]]
    return w


def probabilities(model, free):
    z = X @ weights(model).T + free @ np.array([o["unpenalized_weights"] for o in outputs(model)]).T
    share = np.exp(z - z.max(1, keepdims=True))
    return share / share.sum(1, keepdims=True)


def off(columns, v):
    q = np.linalg.qr(columns)[0]
    return v - q @ (q.T @ v)


def confirm(what, model, free, u):
    """The primal value, and a bound: on a chain the sums from its beginning may be as large as lambda."""
    said, p = outputs(model)[0], probabilities(model, free)
    primal = -u @ np.log(p[np.arange(N), y]) + said["lambda"] * abs(np.diff(weights(model), axis=1)).sum()
    check(what + ": the primal value", near(primal, said["primal"]), (primal, said["primal"]))
    theta = off(np.column_stack([free, X.sum(1)]), u[:, None] * (np.eye(3)[y] - p))
    theta *= min(1, said["lambda"] / abs(np.cumsum(X.T @ theta, axis=0)).max())
    t = np.eye(3)[y] - theta / u[:, None]
    check(what + ": the bound is in the domain", t.min() > -1e-9, t.min())
    dual = -u @ (np.maximum(t, 0) * np.log(np.maximum(t, 1e-300))).sum(1)
    check(what + ": the bound", primal - dual <= 1e-5 * primal and primal - dual > -1e-9, (primal, dual))
    check(what + ": check-model", json.loads(run("check-model", model, "c", "--json")[0])["holds"] is True)


ones, fused = np.ones((N, 1)), ["--method", "fused", "--graph", "chain", "--loss", "multinomial", "-q"]
words = ["c", "--target", "dx", *fused]
said = json.loads(run("fit", *words, "-o", "m", "--json", "--lambda-ratio", "0.2", "--tol", "1e-9")[0])
check("keys", said["loss"] == "multinomial" and said["converged"] and len(said["outputs"]) == 3, said)
confirm("classes", "m", ones, np.ones(N))
check("a weight for each", (weights("m")[0, :7].mean() > weights("m")[1:, :7].mean(1) + 0.05).all())
run("fit", *words, "-o", "beside", "--lambda-ratio", "0.1", "--confounds", "age", "--tol", "1e-9")
confirm("a confound", "beside", np.column_stack([ones, age]), np.ones(N))
run("fit", *words, "-o", "out", "--lambda-ratio", "0.1", "--confounds", "age", "--confounds-as", "regress")
check("taken out", json.loads(run("check-model", "out", "c", "--json")[0])["holds"] is True)
run("fit", *words, "-o", "b", "--lambda-ratio", "0.2", "--class-weights", "balanced", "--tol", "1e-9")
confirm("balanced", "b", ones, (N / 3 / np.bincount(y))[y])
for ratio, steps in (("1.001", False), ("0.98", True)):
    run("fit", *words, "-o", "edge", "--force", "--lambda-ratio", ratio)
    check("lambda_max", (abs(np.diff(weights("edge"), axis=1)).max() > 1e-6) == steps, ratio)

# ---- What is read from it ------------------------------------------------------------------------------
out, err = run("predict", "m", "c")
t = table(out.splitlines())
p = np.array([[float(v) for v in t["p_" + k]] for k in NAMES]).T
check("probabilities", near(p, probabilities("m", ones)), abs(p - probabilities("m", ones)).max())
check("the likeliest", t["predicted"] == [NAMES[k] for k in p.argmax(1)])
shutil.copytree("m", "wrong")
text, about = open("m/weights.tsv").read().splitlines(), json.load(open("m/model.json"))
row = text[1].split("\t")
text[1] = "\t".join([*row[:-1], str(float(row[-1]) + 0.1)])
open("wrong/weights.tsv", "w").write("\n".join(text) + "\n")
total = 0.0
for r in text[1:]:
    total += float(r.split("\t")[-1])
about["outputs"][2]["sum_of_weights"] = total
json.dump(about, open("wrong/model.json", "w"))
run("check-model", "wrong", "c", code=3)
for k in ("1", "2"):
    run("cv", *words, "--folds", "3", "--inner-folds", "2", "--nlambda", "4", "--lambda-ratio", "0.1", "-o", "cv" + k, "--nthreads", k)
same("cv with threads", "cv1", "cv2", ("command", "seconds", "threads"))
t = table(open("cv1/predictions.tsv"))
check("probabilities of cv", near(sum(np.array(t["p_" + k], float) for k in NAMES), 1))
points = json.loads(run("path", *words, "--nlambda", "3", "--lambda-ratio", "0.05", "--json")[0])["outputs"]
check("one path", len(points) == 1 and [q["class"] for q in points[0]["points"]] == list(NAMES) * 3, points)
check("as a table", len(table(run("path", *words, "--nlambda", "3", "--lambda-ratio", "0.05")[0].splitlines())["lambda"]) == 3)
run("permute", *words, "--folds", "3", "--lambda-ratio", "0.3", "--permutations", "2", "-o", "permuted")

# ---- Two classes are one difference --------------------------------------------------------------------
for loss in ("multinomial", "logistic"):
    run("fit", "c", "--target", "two", *fused[:-2], loss, "-q", "-o", loss, "--lambda", "2")
same("two classes", "multinomial", "logistic", ("command", "seconds", "task", "outputs"))
check("their value", outputs("multinomial")[0]["primal"] == outputs("logistic")[0]["primal"])
run("check-model", "multinomial", "c")
finish()
