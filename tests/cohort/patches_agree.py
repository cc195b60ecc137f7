"""Cohorts of voxels against numpy and nibabel: values of patches on grids of every orientation, up to the edges; how many
voxels each class and subject gives, and which; persons stay together. Runs in an empty directory."""
import csv
import itertools
import json
import os
import re

import nibabel as nib
import numpy as np
from oracle import check, finish
from oracle import run as voxsift

rng = np.random.default_rng(11)
SIZES = [(7, 6, 5), (5, 1, 4), (3, 9, 2), (6, 5, 7), (4, 4, 4), (8, 3, 3)]
CODES = ["RAS", "LAS", "PIR", "SRA", "ARI", "LPS"]
MM = np.array([1.0, 2.0, 3.0])  # of a voxel: to the right, to the front, upwards


def affine_of(code, shape):
    a = np.zeros((4, 4))
    for axis, letter in enumerate(code):
        world = next(d for d in range(3) if letter in ("RL", "AP", "SI")[d])
        a[world, axis] = MM[world] * (1 if letter in "RAS" else -1)
    a[:3, 3] = rng.uniform(-20, 20, 3)
    a[3, 3] = 1
    return a


def save(path, data, affine):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    image = nib.Nifti1Image(np.asarray(data, "f4"), affine)
    image.set_sform(affine, 1)
    image.set_qform(affine, 1)
    nib.save(image, path)


def make(folder, labels=(0, 1), gaps=False):
    """Six subjects of four persons, each image in an orientation of its own."""
    people = []
    for s, (shape, code) in enumerate(zip(SIZES, CODES)):
        affine = affine_of(code, shape)
        one = rng.normal(5, 1, shape)
        one[rng.random(shape) < 0.2] = 0
        two = rng.normal(size=shape)
        if gaps:
            two[rng.random(shape) < 0.04] = np.nan
        save(f"{folder}/{s}_one.nii.gz", one, affine)
        save(f"{folder}/{s}_two.nii.gz", two, affine)
        save(f"{folder}/{s}_label.nii.gz", rng.choice(labels, shape), affine)
        people.append((f"s{s}", f"P{'abcdab'[s]}", f"{s}_one.nii.gz", f"{s}_two.nii.gz", f"{s}_label.nii.gz", 30 + s))
    with open(f"{folder}/t.tsv", "w") as f:
        f.write("participant_id\tsubject\tone\ttwo\tlabel\tage\n")
        f.writelines("\t".join(map(str, p)) + "\n" for p in people)


def load(folder):
    rows = list(csv.DictReader(open(f"{folder}/participants.tsv"), delimiter="\t"))
    features = list(csv.DictReader(open(f"{folder}/features.tsv"), delimiter="\t"))
    x = np.load(f"{folder}/features.npy")
    about = json.load(open(f"{folder}/cohort.json"))
    check(folder + " sizes", x.shape == (len(features), len(rows)) and x.dtype == "f4", x.shape)
    return rows, features, x, about


def expected(image, affine, at, feature):
    """A feature of a voxel, by its place in mm alone."""
    shape = np.array(image.shape)
    world = affine[:3, :3] @ at + affine[:3, 3]
    if feature["contrast"] == "n/a":
        return world["xyz".index(feature["feature"][0])]
    if feature["radius"] != "n/a":
        grid = np.indices(image.shape).reshape(3, -1)
        away = np.linalg.norm(affine[:3, :3] @ (grid - at[:, None]), axis=0)
        return image.reshape(-1)[away <= float(feature["radius"]) + 1e-6].astype("f8").mean()
    mm = np.array([int(feature[k]) for k in ("right", "front", "up")]) * MM
    step = np.rint(np.linalg.solve(affine[:3, :3], mm)).astype(int)
    return image[tuple(np.clip(at + step, 0, shape - 1))]


def compare(folder, out, scale="none", mask=lambda one: one != 0, per_class=20):
    rows, features, x, about = load(out)
    images = {}
    for r in rows:
        s = r["participant_id"]
        if s not in images:
            files = {c: nib.load(f"{folder}/{r[c]}") for c in ("one", "two")}
            data = {c: f.get_fdata(dtype="f4") for c, f in files.items()}
            inside = mask(data["one"])
            for c in data:
                v = data[c][inside & np.isfinite(data[c])].astype("f8")
                shift, factor = {"none": (0, 1), "global": (0, 1 / v.mean()), "z": (v.mean(), 1 / v.std(ddof=1))}[scale]
                data[c] = ((data[c].astype("f8") - shift) * factor).astype("f4")
            images[s] = data, files["one"].affine, inside
    for k, r in enumerate(rows):
        data, affine, inside = images[r["participant_id"]]
        at = np.array([int(r[a]) for a in "ijk"])
        check(out + " id", r["voxel_id"] == f"{r['participant_id']}_{r['i']}-{r['j']}-{r['k']}")
        check(out + " in the mask", inside[tuple(at)])
        place = affine[:3, :3] @ at + affine[:3, 3]
        check(out + " place", np.allclose([float(r[a]) for a in "xyz"], place, atol=1e-4))
        want = np.array([expected(data.get(f["contrast"], data["one"]), affine, at, f) for f in features])
        check(f"{out} values of {r['voxel_id']}", np.allclose(x[:, k], want, rtol=1e-5, atol=1e-5),
              (x[:, k] - want)[:5])
    return rows, features, x, about


def sample(out, rows, folder, mask, threshold=None, per_class=20):
    """As many of each class and subject as asked for, or all; none twice."""
    check(out + " none twice", len({r["voxel_id"] for r in rows}) == len(rows))
    for s in range(6):
        one = nib.load(f"{folder}/{s}_one.nii.gz").get_fdata()
        label = nib.load(f"{folder}/{s}_label.nii.gz").get_fdata()
        label = label > threshold if threshold is not None else label
        for value in np.unique(label):
            there = (mask(one) & (label == value)).sum()
            drawn = [r for r in rows if r["participant_id"] == f"s{s}" and
                     label[tuple(int(r[a]) for a in "ijk")] == value]
            check(f"{out} drawn of s{s}, {value}", len(drawn) == min(there, per_class), (len(drawn), there))
            check(f"{out} labels", len({r["label"] for r in drawn}) <= 1)


make("a")
nonzero = lambda one: one != 0
base = ["patches", "a/t.tsv", "--image-column", "one,two", "--label-column", "label"]
out, err = voxsift(*base, "--means", "2,4.5", "--coordinates", "--per-class", "9", "-o", "p3")
rows, features, x, about = compare("a", "p3")
check("features", len(features) == 2 * (27 + 2) + 3, len(features))
check("names", [f["feature"] for f in features][:2] == ["one(-1,-1,-1)", "one(0,-1,-1)"] and
      features[27]["feature"] == "one mean 2 mm" and features[-1]["feature"] == "z", features[27])
sample("p3", rows, "a", nonzero, per_class=9)
check("classes", {r["label"] for r in rows} == {"0", "1"})
check("in the order of places", all(a["participant_id"] != b["participant_id"] or [int(a[c]) for c in "kji"] < [int(b[c]) for c in "kji"]
                                    for a, b in zip(rows, rows[1:])))
check("the table's columns stay", rows[0]["age"] == "30" and rows[0]["subject"] == "Pa")
check("persons of the table", about["person_column"] == "subject" and about["people"] == 4, about["people"])
for scale, edge in itertools.product(("global", "z"), ("1", "5")):
    voxsift(*base, "--patch", edge, "--scale", scale, "-o", f"s{scale}{edge}")
    rows = compare("a", f"s{scale}{edge}", scale)[0]
    sample(f"s{scale}{edge}", rows, "a", nonzero)

# by seed, whoever else is in the table; another seed, other voxels
voxsift(*base, "--per-class", "5", "-o", "r1")
voxsift(*base, "--per-class", "5", "--only", "participant_id=s0,s3,s4", "-o", "r2")
voxsift(*base, "--per-class", "5", "--seed", "2", "-o", "r3")
ids = [{r["voxel_id"] for r in load(f"r{k}")[0] if r["participant_id"] in ("s0", "s3", "s4")} for k in (1, 2, 3)]
check("draws of a subject are its own", ids[0] == ids[1] and ids[0] != ids[2])
check("left out by request", load("r2")[3]["not_selected"] == 3)

# masks
for s in range(6):
    image = nib.load(f"a/{s}_one.nii.gz")
    inside = rng.random(image.shape) < 0.5
    inside.flat[:2] = True
    save(f"a/{s}_mask.nii.gz", inside, image.affine)
table = open("a/t.tsv").read().splitlines()
open("a/m.tsv", "w").write("\n".join([table[0] + "\tmask"] + [f"{t}\t{s}_mask.nii.gz" for s, t in enumerate(table[1:])]) + "\n")
voxsift("patches", "a/m.tsv", "--image-column", "one,two", "--label-column", "label", "--mask-column", "mask", "-o", "masked")
for r in load("masked")[0]:
    s = r["participant_id"][1]
    check("in its mask", nib.load(f"a/{s}_mask.nii.gz").get_fdata()[tuple(int(r[a]) for a in "ijk")] == 1)
out, err = voxsift(*base, "--mask", "a/0_mask.nii.gz", "-o", "x", code=65)
check("a mask on another grid names both", "'a/0_mask.nii.gz'" in err and "'a/1_one.nii.gz'" in err, err)

# labels: shares with a threshold, several classes, values that are no labels
make("b", labels=(0, 0.25, 0.75))
out, err = voxsift("patches", "b/t.tsv", "--image-column", "one,two", "--label-column", "label", "-o", "x", code=65)
check("no labels", "which is no label; pass --label-threshold" in err and not os.path.exists("x"), err)
voxsift("patches", "b/t.tsv", "--image-column", "one,two", "--label-column", "label", "--label-threshold", "0.5",
        "--per-class", "4", "-o", "share")
sample("share", load("share")[0], "b", nonzero, 0.5, 4)
make("c", labels=(0, 2, 5))
voxsift("patches", "c/t.tsv", "--image-column", "one,two", "--label-column", "label", "--per-class", "4", "-o", "many")
rows = load("many")[0]
sample("many", rows, "c", nonzero, per_class=4)
check("names of classes", {r["label"] for r in rows} == {"label-0", "label-2", "label-5"})

# gaps: no voxel whose patch has one, and all of these are counted
make("d", gaps=True)
out, err = voxsift("patches", "d/t.tsv", "--image-column", "one,two", "--label-column", "label", "--per-class", "1000", "-o", "gaps")
rows, features, x, about = compare("d", "gaps")
check("finite", np.isfinite(x).all())
usable = lost = having = 0
for s in range(6):
    image = nib.load(f"d/{s}_one.nii.gz")
    one, two = image.get_fdata(), nib.load(f"d/{s}_two.nii.gz").get_fdata()
    padded = np.pad(two, 1, mode="edge")
    bad = np.zeros(two.shape, bool)
    for d in itertools.product(range(3), repeat=3):
        bad |= ~np.isfinite(padded[tuple(slice(k, k + n) for k, n in zip(d, two.shape))])
    usable += ((one != 0) & ~bad).sum()
    lost += ((one != 0) & bad).sum()
    having += ((one != 0) & bad).any()
check("all others are there", len(rows) == usable, (len(rows), usable))
check("counted", f"{lost} voxels of {having} subjects cannot be rows" in err and
      sum(i["not_finite"] for i in about["images"]) == lost, err)

# persons: folds, by every way to say who they are
voxsift(*base, "--per-class", "6", "-o", "folds")
voxsift("cv", "folds", "--target", "label", "--method", "svm", "--folds", "2", "--inner-folds", "2", "--C", "1",
        "--bootstraps", "100", "-o", "cv")
subject = {r["voxel_id"]: r["subject"] for r in load("folds")[0]}
held = {}
for r in csv.DictReader(open("cv/folds.tsv"), delimiter="\t"):
    held.setdefault(subject[r["voxel_id"]], set()).add(r["fold"])
check("a person is in one fold", all(len(f) == 1 for f in held.values()), held)
# the AUC within a person, of every person; the same of merged chunks
said = list(csv.DictReader(open("cv/predictions.tsv"), delimiter="\t"))
score = "score_1"
within = {}
for person in "Pa", "Pb", "Pc", "Pd":
    a, b = (np.array([float(r[score]) for r in said if subject[r["voxel_id"]] == person and r["truth"] == y]) for y in "10")
    within[person] = (a[:, None] > b).mean() + (a[:, None] == b).mean() / 2
got = {r["subject"]: r for r in csv.DictReader(open("cv/people.tsv"), delimiter="\t")}
check("people.tsv", {p: round(float(r["auc"]), 9) for p, r in got.items()} == {p: round(v, 9) for p, v in within.items()}, (got, within))
check("their voxels", sum(int(r["voxels"]) for r in got.values()) == len(said))
about = json.load(open("cv/cv.json"))["within_people"]
values = list(within.values())
check("mean and spread", np.allclose([about[k] for k in ("mean", "sd", "least", "most", "people")],
                                     [np.mean(values), np.std(values, ddof=1), min(values), max(values), 4]), about)
for k in "12":
    voxsift("cv", "folds", "--target", "label", "--method", "svm", "--folds", "2", "--inner-folds", "2", "--C", "1",
            "--bootstraps", "100", "--chunk", k + "/2", "-o", "part" + k)
voxsift("merge", "part1", "part2", "-o", "merged")
check("merged", json.load(open("merged/cv.json"))["within_people"] == about)
out, err = voxsift("report", "cv", "-o", "cv.html")
page = open("cv.html").read()
assert "held-out voxels" in page and "held-out subjects" not in page, "rows are voxels"
check("the page", f"the mean AUC is {about['mean']:.3f}"[:-1] in page and "Weights by contrast and place" in page)
weights = {r["feature"]: float(r["mean"]) for r in csv.DictReader(open("cv/weights.tsv"), delimiter="\t")}
square = page[page.index("<h3>two</h3>"):]
cells = [float(c) for c in re.findall(r"<td>([-0-9.e]+)</td>", square)[:27]]
want = [weights[f"two({right},{front},{up})"] for up in (1, 0, -1) for front in (1, 0, -1) for right in (-1, 0, 1)]
check("the weights of the page", np.allclose(cells, want, rtol=0.01, atol=1e-6), (cells, want))
voxsift("permute", "folds", "--target", "label", "--method", "svm", "--folds", "2", "--inner-folds", "0", "--C", "1",
        "--permutations", "3", "-o", "permuted")
voxsift(*base, "--person", "participant_id", "--per-class", "6", "-o", "each")
check("each row of the table a person", load("each")[3]["people"] == 6 and
      "person" in open("each/participants.tsv").readline().split("\t"))

# images of predictions are the predictions of a cohort that has all of these voxels
everything = [*base, "--means", "2", "--coordinates", "--per-class", "100000", "-o", "all"]
voxsift(*everything)
voxsift(*base, "--means", "2", "--coordinates", "--per-class", "8", "-o", "train")
rows = load("all")[0]


def images_agree(model, target, table, cohort, prefix="probability"):
    voxsift("predict", model, table, "-o", model + "_images", "--force")
    out, err = voxsift("predict", model, cohort)
    said = list(csv.DictReader(out.splitlines(), delimiter="\t"))
    check(model + " rows", [r["voxel_id"] for r in said] == [r["voxel_id"] for r in load(cohort)[0]])
    names = [c for c in said[0] if c.startswith("p_")]
    names = names[1:] if len(names) == 2 else names or ["predicted"]
    seen = {}
    for r, row in zip(said, load(cohort)[0]):
        image = seen.setdefault(row["participant_id"], nib.load(f"{model}_images/{prefix}_{row['participant_id']}.nii.gz"))
        at = tuple(int(row[a]) for a in "ijk")
        values = np.atleast_1d(np.asarray(image.dataobj)[at])
        want = [float(r[c]) for c in names]
        check(f"{model} of {row['voxel_id']}", np.allclose(values, want, rtol=2e-6, atol=1e-7), (values, want))
    for s, image in seen.items():
        data = np.asarray(image.dataobj)
        first = nib.load(f"a/{s[1:]}_one.nii.gz")
        check(model + " grid", np.allclose(image.affine, first.affine) and image.get_data_dtype() == np.float32)
        check(model + " outside 0", (data[first.get_fdata() == 0] == 0).all())
        check(model + " all voxels", len([r for r in load(cohort)[0] if r["participant_id"] == s]) == (first.get_fdata() != 0).sum())
    return list(csv.DictReader(open(f"{model}_images/predictions.tsv"), delimiter="\t"))


for name, words in {"linear": ["--method", "svm"], "rbf": ["--method", "svm", "--kernel", "rbf", "--standardize", "unit"],
                    "poly": ["--method", "svm", "--kernel", "poly", "--degree", "2"], "lasso": ["--method", "lasso", "--lambda-ratio", "0.2"],
                    "skfs": ["--method", "skfs"], "age": ["--method", "lasso", "--confounds", "age", "--lambda-ratio", "0.2"],
                    "regressed": ["--method", "svm", "--kernel", "rbf", "--confounds", "age", "--confounds-as", "regress"]}.items():
    voxsift("fit", "train", "--target", "label", *words, "-o", name, "--quiet")
    got = images_agree(name, "label", "a/t.tsv", "all")
    check(name + " knows whom it saw", {g["trained_on"] for g in got} == {"image"}, got)
voxsift("fit", "train", "--target", "age", "--method", "svm", "-o", "score", "--quiet")
images_agree("score", "age", "a/t.tsv", "all", "score")
three = ["patches", "c/t.tsv", "--image-column", "one,two", "--label-column", "label"]
voxsift(*three, "--per-class", "6", "-o", "some3")
voxsift(*three, "--per-class", "100000", "-o", "all3")
for way in ("one-vs-rest", "one-vs-one"):
    voxsift("fit", "some3", "--target", "label", "--method", "svm", "--multiclass", way, "-o", "multi", "--quiet", "--force")
    voxsift("predict", "multi", "c/t.tsv", "-o", "multi_images", "--label-column", "label", "--force")
    out, err = voxsift("predict", "multi", "all3")
    said = list(csv.DictReader(out.splitlines(), delimiter="\t"))
    for r, row in zip(said, load("all3")[0]):
        image = nib.load(f"multi_images/probability_{row['participant_id']}.nii.gz")
        values = np.asarray(image.dataobj)[tuple(int(row[a]) for a in "ijk")]
        check(f"three classes, {way}", np.allclose(values, [float(r["p_label-" + c]) for c in "025"], rtol=2e-6), values)

# the AUC and Dice coefficient of each subject; other columns of images; people held out
voxsift("fit", "train", "--target", "label", "--method", "svm", "--only", "subject=Pa,Pb", "-o", "half", "--quiet")
open("a/new.tsv", "w").write(open("a/t.tsv").read().replace("one\ttwo", "first\tsecond", 1))
voxsift("predict", "half", "a/new.tsv", "--image-column", "first,second", "--label-column", "label", "-o", "half_images")
for g in csv.DictReader(open("half_images/predictions.tsv"), delimiter="\t"):
    s = g["participant_id"][1:]
    check("persons, not rows", g["trained_on"] == ("image" if s in "0145" else "no"), g)
    p, y = (nib.load(f).get_fdata() for f in (f"half_images/probability_s{s}.nii.gz", f"a/{s}_label.nii.gz"))
    inside = nib.load(f"a/{s}_one.nii.gz").get_fdata() != 0
    a, b = p[inside & (y == 1)], p[inside & (y == 0)]
    auc = ((a[:, None] > b).mean() + (a[:, None] == b).mean() / 2)
    check("AUC", abs(float(g["auc"]) - auc) < 1e-3, (g, auc))
    volume = float(g["volume_ml"])
    check("volume", abs(volume / 0.006 - round(volume / 0.006)) < 1e-6, g)
finish()
