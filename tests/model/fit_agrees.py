"""fit, path, predict and check-model against numpy: what they write and print must be what a few lines
of Python make of features.npy and participants.tsv. Runs in an empty directory."""
import json
import os
import shutil

import nibabel as nib
import numpy as np
from oracle import check, finish, near, run, table, write

rng = np.random.default_rng(29)
AFFINE = nib.affines.from_matvec(np.diag([-3.0, 3, 3.5]), [30, -40, -20])
SHAPE = (12, 10, 9)
N = 30
KEYS = ("method loss lambda lambda_max nonzero primal dual gap tol converged passes iterations seconds "
        "seconds_total intercept").split()


def features(cohort):
    return np.load(cohort + "/features.npy").astype(float)  # features x subjects


def weights(model, p, column="weight"):
    w, t = np.zeros(p), table(open(model + "/weights.tsv"))
    w[[int(k) for k in t["index"]]] = [float(v) for v in t[column]]
    return w


def about(model):
    return json.load(open(model + "/model.json"))


def sigmoid(z):
    return 1 / (1 + np.exp(-np.asarray(z)))


def numbers(cells):
    return np.array([np.nan if c == "n/a" else float(c) for c in cells])


# thirty brains; a score, two and three classes, confounds with and without holes
x, y, z = np.indices(SHAPE) - np.array(SHAPE).reshape(3, 1, 1, 1) / 2 + 0.5
brain = x**2 / 25 + y**2 / 16 + z**2 / 12 < 1
ids = [f"sub-{k:02d}" for k in range(1, N + 1)]
images = [(brain * (100 + 10 * rng.normal(size=SHAPE))).astype("f4") for _ in ids]
os.mkdir("img")
for i, data in zip(ids, images):
    nib.save(nib.Nifti1Image(data, AFFINE), f"img/{i}.nii.gz")
score = np.array([d[5, 5, 4] - d[7, 4, 5] + d[4, 6, 3] for d in images]) / 10 + rng.normal(size=N)
people = {"participant_id": ids, "score": score.round(4),
          "dx": ["patient" if s > np.median(score) else "control" for s in score],
          "group": ["bcA"[k] for k in np.digitize(score, np.quantile(score, [1 / 3, 2 / 3]))],
          "age": rng.integers(20, 80, N), "site": [["York", "Bath", "Leeds"][k % 3] for k in range(N)],
          "half": ["one", "two", "one"] * 10, "image": [f"img/{i}.nii.gz" for i in ids]}
write("people.tsv", people)
holes = {k: list(v) for k, v in people.items()}
holes["age"][4], holes["site"][9] = "n/a", "n/a"
write("holes.tsv", holes)
make = ["--image-column", "image", "-q"]
run("cohort", "people.tsv", *make, "-o", "c")
run("cohort", "holes.tsv", *make, "-o", "holes")
X = features("c")
p = len(X)
sd = X.std(1)
unit = (X - X.mean(1, keepdims=True)) / sd[:, None]
y = np.array([float(v) for v in table(open("c/participants.tsv"))["score"]])

# ---- One fit: keys, lambda_max, primal, gap, the map -------------------------------------------------
said = json.loads(run("fit", "c", "--target", "score", "-o", "m", "--json")[0])
check("keys", set(said) - {"model", "warnings"} == set(KEYS), list(said))
lambda_max = np.abs(unit @ (y - y.mean())).max()
check("lambda_max", near(said["lambda_max"], lambda_max), (said["lambda_max"], lambda_max))
check("a tenth of it", near(said["lambda"], lambda_max / 10) and said["loss"] == "squared")
w = weights("m", p)
fitted = X.T @ w + said["intercept"]
primal = ((y - fitted) ** 2).sum() / 2 + said["lambda"] * np.abs(w * sd).sum()
check("primal", near(said["primal"], primal), (said["primal"], primal))
check("nonzero", said["nonzero"] == np.count_nonzero(w) > 0)
check("gap", 0 <= said["gap"] <= said["tol"] == 1e-6 and said["converged"] is True)
check("gap is a share", abs((said["primal"] - said["dual"]) / (N * y.var() / 2) - said["gap"]) < 1e-12)
check("no feature wants more", np.abs(unit @ (y - fitted)).max() <= said["lambda"] * (1 + 1e-3))
overlay, mask = nib.load("m/weights.nii.gz"), nib.load("c/mask.nii.gz")
inside, expected = np.asarray(mask.dataobj) != 0, np.zeros(SHAPE, "f4")
t = table(open("m/weights.tsv"))
ijk = np.array([[int(v) for v in t[d]] for d in "ijk"]).T
expected[tuple(ijk.T)] = w[w != 0].astype("f4")
check("overlay", (np.asarray(overlay.dataobj) == expected).all() and overlay.get_data_dtype() == "f4")
check("grid of the overlay", overlay.shape == SHAPE and np.allclose(overlay.affine, mask.affine, atol=1e-5))
mm = np.array([numbers(t[d]) for d in "xyz"]).T
check("mm", np.allclose(mm, nib.affines.apply_affine(AFFINE, ijk), atol=1e-3))
place = np.argwhere(inside.T)[[int(k) for k in t["index"]], ::-1]  # i runs fastest
check("index is the row of features.npy", (place == ijk).all())
mask = nib.load("m/mask.nii.gz")
check("mask", (np.asarray(mask.dataobj) == inside).all() and np.allclose(mask.affine, AFFINE, atol=1e-5))
plain = ["--standardize", "none", "--no-intercept"]
said = json.loads(run("fit", "c", "--target", "score", *plain, "-o", "raw", "--json")[0])
check("lambda_max as it stands", near(said["lambda_max"], np.abs(X @ y).max()), said["lambda_max"])
w = weights("raw", p)
primal = ((y - X.T @ w) ** 2).sum() / 2 + said["lambda"] * np.abs(w).sum()
check("primal as it stands", near(said["primal"], primal) and said["intercept"] == 0, (said["primal"], primal))
for ratio in ("1", "1.5"):
    out, err = run("fit", "c", "--target", "score", "--lambda-ratio", ratio, "-o", "none", "--force")
    check(f"{ratio} of lambda_max", "no feature has a nonzero weight" in out and not any(weights("none", p)), out)
for n in "123":
    run("fit", "c", "--target", "score", "-q", "--lambda-ratio", "0.05", "--nthreads", n, "-o", "t" + n)
check("same bytes for any number of threads", len({open(f"t{n}/weights.tsv", "rb").read() for n in "123"}) == 1)

# ---- Predictions: of the cohort, and of images as they were prepared ---------------------------------
got = table(run("predict", "m", "c")[0].splitlines())
check("predictions", got["participant_id"] == ids and near(numbers(got["predicted"]), fitted))
check("all of them known", got["trained_on"] == ["image"] * N, got["trained_on"])
out, err = run("predict", "m", "c", "--json")
said = json.loads(out)
check("no score of training subjects", said["trained_on"] == {"image": N, "person": 0, "perhaps": 0, "in_metrics": False} and said["metrics"]["subjects"] == 0
      and said["metrics"]["r"] is None and f"the model was trained on {N} of {N} subjects" in err and "no metrics" in err and " r " not in err, (said["metrics"], err))
said = json.loads(run("predict", "m", "c", "--json", "--training-too")[0])
check("in JSON", near([s["predicted"] for s in said["subjects"]], fitted) and said["trained_on"]["in_metrics"])
want = [np.corrcoef(y, fitted)[0, 1], np.abs(y - fitted).mean(), ((y - fitted) ** 2).mean() ** 0.5]
check("metrics", near([said["metrics"][k] for k in ("r", "mae", "rmse")], want))
os.mkdir("tmp")
os.environ["TMPDIR"] = os.path.abspath("tmp")
corner, parcels = np.zeros(SHAPE), np.indices(SHAPE)[0] // 3 + 4 * (np.indices(SHAPE)[1] // 5) + 5
corner[5:8, 4:7, 3:6] = 1
nib.save(nib.Nifti1Image(corner.astype("u1"), AFFINE), "corner.nii.gz")
nib.save(nib.Nifti1Image(parcels.astype("i2"), AFFINE), "parcels.nii.gz")
write("parcels.tsv", {"index": range(5, 13), "name": [f"area {k}" for k in range(5, 13)]})
suvr, regions = ["--scale", "suvr", "--reference", "corner.nii.gz"], ["--regions", "--atlas", "parcels.nii.gz", "--atlas-names", "parcels.tsv"]
for options in (suvr, regions, [*suvr, *regions], [], ["--smooth", "6"], ["--scale", "global"], ["--smooth", "5", "--scale", "global"]):
    run("cohort", "people.tsv", *make, *options, "-o", "pre", "--force")
    run("fit", "pre", "--target", "score", "-q", "-o", "prem", "--force")
    write("new.tsv", {k: v[:7] for k, v in people.items()})
    run("cohort", "new.tsv", *make, *options, "--mask", "prem/mask.nii.gz", "-o", "new", "--force")
    out, err = run("predict", "prem", "new.tsv", "--image-column", "image")
    check(f"images {options}", out == run("predict", "prem", "new")[0], out)
    want = features("pre")[:, :7].T @ weights("prem", len(features("pre"))) + about("prem")["outputs"][0]["intercept"]
    check(f"a model {options}", about("prem")["outputs"][0]["nonzero"] > 0)
    check(f"images {options} as numpy", near(numbers(table(out.splitlines())["predicted"]), want, 1e-6))
    check("nothing left in TMPDIR", not os.listdir("tmp"))
run("predict", "prem", "c", code=65)  # not smoothed

# ---- Classes -----------------------------------------------------------------------------------------
run("fit", "c", "--target", "dx", "-q", "-o", "two")
m = about("two")
check("two classes", m["classes"] == ["control", "patient"] and m["loss"] == "logistic")
o, w = m["outputs"][0], weights("two", p)
z = X.T @ w + o["intercept"]
sign = np.array([1 if d == "patient" else -1 for d in people["dx"]])
primal = np.log1p(np.exp(-sign * z)).sum() + o["lambda"] * np.abs(w * sd).sum()
check("logistic primal", near(o["primal"], primal), (o["primal"], primal))
check("logistic lambda_max", near(o["lambda_max"], np.abs(unit @ (sign - sign.mean())).max() / 2))

# squared hinge: stationarity of max(0, 1 - y z)^2 / 2 + lambda |w|_1, by numpy alone
run("fit", "c", "--target", "dx", "--loss", "squared-hinge", "--lambda-ratio", "0.2", "--tol", "1e-10", "-o", "sh", "-q")
o = about("sh")["outputs"][0]
w = weights("sh", p)
margin = sign * (o["unpenalized_weights"][0] + w @ X)
pull = unit @ (sign * np.maximum(0, 1 - margin))
check("squared hinge by its name", o["loss"] == about("sh")["loss"] == "squared-hinge")
check("squared hinge primal", near(o["primal"], (np.maximum(0, 1 - margin) ** 2).sum() / 2 + o["lambda"] * np.abs(w * sd).sum()))
check("squared hinge: intercept", abs((sign * np.maximum(0, 1 - margin)).sum()) < 1e-3)
check("squared hinge: zero weights", np.abs(pull).max() <= o["lambda"] * (1 + 1e-4), (np.abs(pull).max(), o["lambda"]))
check("squared hinge: the others", (w != 0).sum() > 3 and near(pull[w != 0], o["lambda"] * np.sign(w[w != 0]), 1e-3 * o["lambda"]))
check("squared hinge: calibrated", "calibration_slope" in o)
run("check-model", "sh", "c")
got = table(run("predict", "two", "c")[0].splitlines())
check("the second is positive", near([numbers(got[k]) for k in ("p_patient", "p_control")], sigmoid([z, -z])))
check("class", got["predicted"] == ["patient" if v > 0 else "control" for v in z])
said = json.loads(run("predict", "two", "c", "--json", "--training-too")[0])
check("in JSON", near([s["probability"]["patient"] for s in said["subjects"]], sigmoid(z)))
auc = np.mean([(a > b) + (a == b) / 2 for a in z[sign > 0] for b in z[sign < 0]])
check("AUC", near([said["metrics"]["auc"], said["metrics"]["accuracy"]], [auc, ((z > 0) == (sign > 0)).mean()]))

said = json.loads(run("fit", "c", "--target", "group", "-o", "three", "--json")[0])
check("an output a class", [o["class"] for o in said["outputs"]] == ["A", "b", "c"] == about("three")["classes"])
check("all converged", all(o["converged"] and o["gap"] <= o["tol"] for o in said["outputs"]))
Z = np.array([X.T @ weights("three", p, "weight_" + o["class"]) + o["intercept"] for o in said["outputs"]])
got = table(run("predict", "three", "c")[0].splitlines())
P = np.array([numbers(got["p_" + k]) for k in "Abc"])
check("shares of 1", near(P.sum(0), np.ones(N), 1e-12) and near(P, sigmoid(Z) / sigmoid(Z).sum(0)))
check("the likeliest", got["predicted"] == ["Abc"[k] for k in Z.argmax(0)])
said = json.loads(run("predict", "three", "c", "--json")[0])["subjects"]
check("three in JSON", near([list(s["probability"].values()) for s in said], P.T))
check("maps of three", nib.load("three/weights.nii.gz").shape == SHAPE + (3,))

# ---- Confounds and choices of subjects ---------------------------------------------------------------
out, err = run("fit", "holes", "--target", "score", "--confounds", "age,site", "-o", "conf")
named = "left out 'sub-05': no value in column 'age'" in err and "left out 'sub-10': no value in column 'site'" in err
check("left out and named", named and err.count("left out") == 2, err)
m = about("conf")
check("names", m["unpenalized"] == ["intercept", "age", "site=Leeds", "site=York"], m["unpenalized"])
check("training", m["training"]["ids"] == [i for k, i in enumerate(ids) if k not in (4, 9)])
b = m["outputs"][0]["unpenalized_weights"]
C = np.array([np.ones(N), people["age"], *[[s == v for s in people["site"]] for v in ("Leeds", "York")]], float)
want = X.T @ weights("conf", p) + C.T @ b
got = table(run("predict", "conf", "holes")[0].splitlines())["predicted"]
check("n/a without a confound", [k for k, v in enumerate(got) if v == "n/a"] == [4, 9], got)
known = [k for k in range(N) if k not in (4, 9)]
check("predictions with confounds", near(numbers(got)[known], want[known]))
check("nothing left to the confounds", np.abs(C[:, known] @ (y - want)[known]).max() < 1e-5 * np.abs(y).sum() * 80)
said = json.loads(run("predict", "conf", "holes", "--json", "--training-too")[0])
check("null without a confound", said["subjects"][4]["predicted"] is None and said["metrics"]["subjects"] == 28)
out, err = run("predict", "conf", "holes", "--json")
check("who was left out of the training is new", json.loads(out)["trained_on"] == {"image": 28, "person": 0, "perhaps": 0, "in_metrics": False}, out[-400:])
flow = about("conf")["flow"]
check("flow", [flow[k] for k in ("read", "refused", "in_cohort", "without_target", "without_covariate", "not_selected", "analysed")] == [N, 0, N, 0, 2, 0, 28]
      and flow["left_out"] == [{"id": "sub-05", "step": "without_covariate", "column": "age"}, {"id": "sub-10", "step": "without_covariate", "column": "site"}], flow)
# levels that no training subject has: the mean of those that were learned
shutil.copytree("c", "elsewhere")
write("elsewhere/participants.tsv", {**people, "site": ["Hull" if k < 3 else s for k, s in enumerate(people["site"])]})
out, err = run("predict", "conf", "elsewhere", "--json")
said, mean = json.loads(out), C[:, known].mean(1)
want = (X.T @ weights("conf", p) + np.array([mean[0] * b[0] + people["age"][k] * b[1] + mean[2:] @ b[2:] for k in range(N)]))[:3]
check("average of the levels", near([s["predicted"] for s in said["subjects"][:3]], want), (said["subjects"][:3], want))
check("for whom and what", said["unseen_levels"] == [{"covariate": "site", "level": "Hull", "predicted_with": "mean of the training subjects' levels", "subjects": ids[:3]}]
      and "no training subject has 'Hull' in 'site': 3 subjects get the mean coefficient of the training levels: sub-01, sub-02, sub-03" in err, err)
write("elsewhere/participants.tsv", {**people, "age": ["n/a"] * N})
out, err = run("predict", "conf", "elsewhere", code=65)
check("nobody is an error", out == "" and f"none of {N} subjects can be predicted: 'sub-01' has no value in 'age'" in err and err.count("\n") == 1, err)
shutil.rmtree("elsewhere")
# images under other names, people with other images, a mixture; one image and the whole table
others = {"participant_id": ["new-1", "sub-02", "new-3", "new-4", "new-5"], "image": [people["image"][0], "other.nii.gz", "other3.nii.gz", "other4.nii.gz", "other5.nii.gz"],
          "score": [1, 2, 3, 5, 4]}
for k, f in enumerate(others["image"][1:]):
    image = nib.load(people["image"][k + 1])
    values = np.asarray(image.dataobj, "f8")  # another image, not the same one scaled
    nib.save(nib.Nifti1Image((values + 0.2 * values.std() * rng.standard_normal(values.shape)).astype("f4"), image.affine), f)
write("others.tsv", others)
out, err = run("predict", "m", "others.tsv", "--image-column", "image", "--json")
said = json.loads(out)
check("by image, by id", [s["trained_on"] for s in said["subjects"]] == ["image", "person", "no", "no", "no"], said["subjects"])
z = np.array([s["predicted"] for s in said["subjects"]])
check("the score is of the others", said["metrics"]["subjects"] == 3 and near(said["metrics"]["r"], np.corrcoef(z[2:], [3, 5, 4])[0, 1])
      and "the model was trained on 2 of 5 subjects (1 by their images, 1 by their ids; column trained_on): metrics are of the other subjects" in err
      and "against 'score' of 3 subjects" in err, err)
out, err = run("predict", "m", people["image"][0], "--participants", "people.tsv")
check("one image and a table: a line", err.count("\n") == 2 and f"{N - 1} of {N} rows of the table have no image" in err and "nan" not in err, err)
run("check-model", "conf", "holes")
run("fit", "c", "--target", "score", "--only", "half=two", "-q", "-o", "half")
keep = [k for k, h in enumerate(people["half"]) if h == "two"]
m = about("half")
check("--only", m["training"]["ids"] == [ids[k] for k in keep])
want = np.abs(X[:, keep] @ (y[keep] - y[keep].mean()) / X[:, keep].std(1)).max()
check("lambda_max of these", near(m["outputs"][0]["lambda_max"], want))
run("check-model", "half", "c")

# ---- A path ------------------------------------------------------------------------------------------
path = ["path", "c", "--target", "score", "--nlambda", "12", "--lambda-ratio", "0.02"]
said = json.loads(run(*path, "--json")[0])
points = said["outputs"][0]["points"]
check("points", len(points) == 12 and points[0]["nonzero"] == 0 < points[-1]["nonzero"])
check("lambdas", near([q["lambda"] for q in points], lambda_max * 0.02 ** (np.arange(12) / 11)))
check("gaps", all(q["gap"] <= q["tol"] and q["converged"] for q in points), [q["gap"] for q in points])
check("falling", all(b["primal"] <= a["primal"] for a, b in zip(points, points[1:])))
check("keys of a point", set(points[0]) == set(KEYS) - {"seconds_total"}, list(points[0]))
check("as a table", [int(v) for v in table(run(*path)[0].splitlines())["nonzero"]] == [q["nonzero"] for q in points])
said = json.loads(run("path", "c", "--target", "group", "--nlambda", "4", "--json")[0])["outputs"]
check("paths of classes", [(o["name"], len(o["points"])) for o in said] == [(k, 4) for k in "Abc"])

# ---- The checker, and a table of features ------------------------------------------------------------
for name in ("m", "raw", "two", "three", "none"):
    said = json.loads(run("check-model", name, "c", "--json")[0])
    check(f"certificate of {name}", said["holds"] is True and all(o["holds"] for o in said["outputs"]))
names = [f"roi {k}" for k in range(25)]
write("features.tsv", {"participant_id": ids, **{q: X[12 * k].astype("f4") for k, q in enumerate(names)}})
run("cohort", "--feature-table", "features.tsv", "--participants", "people.tsv", "-q", "-o", "f")
run("fit", "f", "--target", "score", "-q", "-o", "fm")
t = table(open("fm/weights.tsv"))
check("names of features", t["feature"] == [names[int(k)] for k in t["index"]] and "i" not in t)
want = features("f").T @ weights("fm", 25) + about("fm")["outputs"][0]["intercept"]
out, err = run("predict", "fm", "--feature-table", "features.tsv")
check("features as a table", near(numbers(table(out.splitlines())["predicted"]), want))

# ---- Penalties of features: the same as features that are divided by them ---------------------------
c = rng.choice([0.25, 0.5, 2, 4], 25)
write("divided.tsv", {"participant_id": ids, **{q: (features("f")[k] / c[k]).astype("f4") for k, q in enumerate(names)}})
run("cohort", "--feature-table", "divided.tsv", "--participants", "people.tsv", "-q", "-o", "divided")
write("penalties.tsv", {"feature": names[:20], "penalty": list(c[:20])})
np.save("penalties.npy", c)
words = ["--target", "score", "--standardize", "none", "--lambda", "3", "-q"]
run("fit", "divided", *words, "-o", "dm")
run("fit", "f", *words, "--penalty-factors", "penalties.npy", "-o", "pm")
check("penalties", near(weights("pm", 25), weights("dm", 25) / c), (weights("pm", 25), weights("dm", 25) / c))
check("and their certificate", near(about("pm")["outputs"][0]["primal"], about("dm")["outputs"][0]["primal"]))
os.remove("penalties.npy")
run("check-model", "pm", "f")
run("fit", "f", *words, "--penalty-factors", "penalties.tsv", "-o", "tm")
c[20:] = 1
check("a table of penalties", (np.load("tm/penalties.npy") == c).all())
pen = np.where(np.indices(SHAPE)[0] > 6, 2, 1)
nib.save(nib.Nifti1Image(pen.astype("u1"), AFFINE), "pen.nii.gz")
run("fit", "c", "--target", "score", "--penalty-factors", "pen.nii.gz", "-q", "-o", "im")
mask = np.asarray(nib.load("c/mask.nii.gz").dataobj) > 0
check("an image of penalties", (np.load("im/penalties.npy") == pen.T[mask.T]).all())
whole = nib.load("pen.nii.gz")
nib.save(whole.as_reoriented(nib.orientations.ornt_transform(nib.io_orientation(whole.affine), nib.orientations.axcodes2ornt("PIL"))), "turned.nii.gz")
run("fit", "c", "--target", "score", "--penalty-factors", "turned.nii.gz", "-q", "-o", "turned")
check("whose axes are in another order", nib.load("turned.nii.gz").shape != whole.shape and (np.load("turned/penalties.npy") == pen.T[mask.T]).all())
nib.save(nib.Nifti1Image(whole.get_fdata()[:-1], whole.affine), "cut.nii.gz")
err = run("fit", "c", "--target", "score", "--penalty-factors", "cut.nii.gz", "-q", "-o", "x", code=65)[1]
check("an image of another grid: both are named", "cannot use 'cut.nii.gz' as penalties: its grid (%d x %d x %d, " % (SHAPE[0] - 1, *SHAPE[1:]) in err and ") is not the cohort's (%d x %d x %d, " % SHAPE in err, err)
run("check-model", "im", "c")
for model, cohort in (("m", "c"), ("fm", "f")):
    run("check-model", model, cohort)
    shutil.copytree(model, "changed")
    t = table(open("changed/weights.tsv"))
    t["weight"][0] = repr(float(t["weight"][0]) * 1.1)
    write("changed/weights.tsv", t)
    out, err = run("predict", "changed", cohort, code=65)
    check("weights that are not the model's", "weights.tsv does not have its weights" in err, err)
    said = about("changed")
    said["outputs"][0]["sum_of_weights"] = sum(float(v) for v in t["weight"])
    json.dump(said, open("changed/model.json", "w"))
    out, err = run("check-model", "changed", cohort, code=3)
    check("a changed weight is seen", "does NOT hold" in out and "does not hold" in err, (out, err))
    shutil.rmtree("changed")

# ---- Sparse cohorts: the answers of the same data given dense ----------------------------------------
n, q = 80, 500
S = ((rng.random((n, q)) < 0.1) * rng.normal(size=(n, q))).astype("f4")
S[:, 0], S[:, 1] = 0.1, 1000 + rng.normal(size=n)  # constant, and far from 0
S[:, 480:], S[0, 499] = 0, 1
score = S[:, 5:25].astype(float) @ rng.normal(size=20) + 0.2 * rng.normal(size=n)


def svmlight(path, x, y):
    open(path, "w").write("".join(f"{t!r} " + " ".join(
        f"{j + 1}:{v!r}" for j, v in enumerate(row) if v != 0) + "\n" for t, row in zip(y.tolist(), x.tolist())))


S_new = (rng.random((9, q)) < 0.1) * rng.normal(size=(9, q)).astype("f4")
S_new[:, 400:] = 0  # fewer features are named than the model has
svmlight("new.svm", S_new, np.arange(9.0))
for name, y in [("score", score), ("class", np.sign(score - np.median(score)))]:
    svmlight("sparse.svm", S, y)
    np.save("whole.npy", S)
    halves = ["ab"[k % 2] for k in range(n)]
    write("whole.tsv", {"participant_id": [f"row-{k + 1:06d}" for k in range(n)],
                        "target": [repr(v).removesuffix(".0") for v in y.tolist()], "half": halves, "age": list(range(n))})
    run("cohort", "--svmlight", "sparse.svm", "-q", "-o", "sparse", "--force")
    run("cohort", "--npy", "whole.npy", "--rows", "whole.tsv", "-q", "-o", "whole", "--force")
    check("one is sparse", not os.path.exists("sparse/features.npy") and os.path.exists("whole/features.npy"))
    shutil.copy("whole.tsv", "sparse/participants.tsv")  # more columns
    for words in (["--standardize", "unit"], ["--standardize", "center"], ["--standardize", "none"],
                  ["--ridge", "2"], ["--nonnegative"], ["--only", "half=b"], ["--confounds", "age"],
                  ["--screen", "strong"]):
        for k, cohort in enumerate(("sparse", "sparse", "whole")):
            run("fit", cohort, "--target", "target", *words, "--lambda-ratio", "0.1", "--tol", "1e-10",
                "--nthreads", str(2 - k % 2), "-q", "-o", f"s{k}", "--force")
        one, two, dense = [about(f"s{k}")["outputs"][0] for k in range(3)]
        same = open("s0/weights.tsv").read() == open("s1/weights.tsv").read()
        check(f"{name} {words}: threads", same and one["primal"] == two["primal"])
        check(f"{name} {words}: weights", near(weights("s0", q), weights("s2", q), 1e-9) and dense["nonzero"] > 5)
        check(f"{name} {words}: primal", near([one[k] for k in ("primal", "lambda_max", "intercept")],
                                              [dense[k] for k in ("primal", "lambda_max", "intercept")], 1e-9))
        check(f"{name} {words}: constant", weights("s0", q)[0] == 0 or "none" in words)
        for model, cohort in (("s0", "sparse"), ("s0", "whole"), ("s2", "sparse")):
            check(f"{name} {words}: certificate", json.loads(run("check-model", model, cohort, "--json")[0])["holds"])
    run("fit", "sparse", "--target", "target", "-q", "-o", "s0", "--force")
    want = S.astype(float) @ weights("s0", q) + about("s0")["outputs"][0]["intercept"]
    column = "predicted" if name == "score" else "p_1"
    link = (lambda z: z) if name == "score" else sigmoid
    for source in (["sparse"], ["whole"], ["--svmlight", "sparse.svm"]):
        got = numbers(table(run("predict", "s0", *source)[0].splitlines())[column])
        check(f"{name} from {source}", near(got, link(want)))
    got = numbers(table(run("predict", "s0", "--svmlight", "new.svm")[0].splitlines())[column])
    want = S_new @ weights("s0", q) + about("s0")["outputs"][0]["intercept"]
    check(f"{name} from a narrower text", near(got, link(want)))
    points = [json.loads(run("path", c, "--target", "target", "--nlambda", "5", "--tol", "1e-10", "--json")[0])
              ["outputs"][0]["points"] for c in ("sparse", "whole")]
    check(f"{name} path", near(*[[v["primal"] for v in path] for path in points], 1e-9))
svmlight("wide.svm", np.c_[S, np.ones(n)], score)
out, err = run("predict", "s0", "--svmlight", "wide.svm", code=65)
check("a wider text", "it has 501 features, the model 500" in err, err)
check("nothing left of cohorts made to predict", not os.listdir("tmp"))
finish()
