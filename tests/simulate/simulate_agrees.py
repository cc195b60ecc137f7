"""Simulated cohorts of images against numpy and nibabel: what a model says of itself must be true of its files.
Runs in an empty directory."""
import filecmp
import json
import os
import shutil

import nibabel as nib
import numpy as np
from oracle import check, finish, near, run, table

SIGMA = 262.75


def make(model, out, *words, code=0):
    return run("simulate", model, "-q", "-o", out, *words, code=code)


class Cohort:
    def __init__(self, folder):
        self.x = np.load(f"{folder}/features.npy").astype(float).T  # subjects x voxels
        self.mask = np.asarray(nib.load(f"{folder}/mask.nii.gz").dataobj) > 0
        self.image = nib.load(f"{folder}/truth.nii.gz")
        self.truth_map = self.image.get_fdata()
        self.people = table(open(f"{folder}/participants.tsv"))
        self.truth = table(open(f"{folder}/truth.tsv"))
        self.about = json.load(open(f"{folder}/cohort.json"))
        self.size = nib.affines.voxel_sizes(self.image.affine)
        self.at = np.argwhere(self.mask.T)[:, ::-1]  # i runs fastest, as features do
        self.sphere = np.array([int(float(v)) for v in self.truth["index"]])
        check(folder + ": shapes", self.x.shape == (self.about["subjects"], self.mask.sum()) and
              len(self.people["participant_id"]) == len(self.x) and self.about["features"] == self.mask.sum())

    def column(self, name):
        return np.array([float("nan") if v == "n/a" else float(v) for v in self.people[name]])

    def is_(self, name, word):
        return np.array([v == word for v in self.people[name]])

    def part(self, name):
        return np.array([float("nan") if v == "n/a" else float(v) for v in self.truth[name]])


def pairs(c, step):
    """Features that are `step` voxels apart along i."""
    where = np.full(c.mask.shape, -1)
    where[tuple(c.at.T)] = np.arange(len(c.at))
    a, b = where[:-step].ravel(), where[step:].ravel()
    both = (a >= 0) & (b >= 0)
    return a[both], b[both]


def correlation(x, a, b):
    z = (x - x.mean(0)) / (x.std(0) + 1e-30)
    return (z[:, a] * z[:, b]).mean()


def check_truth(name, c, radius):
    """truth.tsv, truth.nii.gz and the spheres of cohort.json are the same voxels: those within the radius."""
    centers = [s["center"] for s in c.about["spheres"]]
    d2 = np.min([((np.indices(c.mask.shape).T - center) ** 2).sum(-1).T for center in centers], axis=0)
    inside = d2 <= radius**2
    check(name + ": the sphere has all voxels within the radius and no other", ((c.truth_map != 0) == inside).all())
    check(name + ": wholly in the mask", c.mask[inside].all())
    check(name + ": truth.tsv lists them", np.array_equal(np.unique(c.sphere), np.flatnonzero(inside[tuple(c.at.T)])))
    check(name + ": each once, none shared", len(c.sphere) == inside.sum() and c.about["images"]["sphere_voxels"] * len(centers) == inside.sum())
    ijk = np.stack([c.part(k) for k in "ijk"], 1)
    xyz = np.stack([c.part(k) for k in "xyz"], 1)
    check(name + ": indices", np.array_equal(ijk, c.at[c.sphere]))
    check(name + ": mm", np.allclose(nib.affines.apply_affine(c.image.affine, ijk), xyz, atol=1e-6))
    check(name + ": center in mm", np.allclose(nib.affines.apply_affine(c.image.affine, centers),
                                               [s["center_mm"] for s in c.about["spheres"]], atol=1e-6))


# ---- The three models of perturbed brains -------------------------------------------------------

def psi(model, v):
    if model == "skfs-additive":
        return np.sin(v[0]) + np.exp(v[1] / 2000) + v[2] / 1500 + (v[3] / 1500) ** 2
    return v[0] * np.exp(v[1] / 2000) / 6200 + (v[2] / 1500) ** 2 * v[3]


def check_psi(model, c):
    group, term = c.part("group"), c.part("term")
    count = len(c.sphere) // 4
    check(model + ": groups of the same size", all(sorted(term[group == g]) == list(range(1, count + 1)) for g in (1, 2, 3, 4)))
    check(model + ": the rest is left out", np.isnan(group).sum() == len(c.sphere) % 4)
    members = [c.sphere[group == g][np.argsort(term[group == g])] for g in (1, 2, 3, 4)]
    order = np.concatenate(members)
    check(model + ": groups in order, or at random", (np.diff(order) > 0).all() == (model == "skfs-additive"))
    ours = psi(model, [c.x[:, m] for m in members]).sum(1)
    check(model + ": psi", near(ours, c.column("psi"), 1e-12))
    perturbed, positive = c.is_("perturbed", "yes"), c.is_("diagnosis", "positive")
    check(model + ": only perturbed ones are positive", not (positive & ~perturbed).any())
    check(model + ": those with the largest psi", ours[positive].min() > ours[perturbed & ~positive].max())


def check_change(model, changed, plain, mu):
    perturbed = changed.is_("perturbed", "yes")
    difference = changed.x - plain.x
    inside = np.zeros(changed.x.shape[1], bool)
    inside[changed.sphere] = True
    check(model + ": nothing changes outside the sphere", not difference[:, ~inside].any())
    check(model + ": nor in others", not difference[~perturbed].any())
    check(model + ": sigma is that of the image", near(plain.x.std(1, ddof=1), changed.column("sigma"), 1e-6))
    z = (difference[perturbed][:, inside] - mu) / changed.column("sigma")[perturbed][:, None]
    se = 1 / np.sqrt(z.size)
    check(model + ": mean of what is added", abs(z.mean()) < 5 * se, z.mean())
    check(model + ": its standard deviation", abs(z.std() - 1) < 5 * se, z.std())
    check(model + ": normal in the fourth moment", abs((z**4).mean() - 3) < 5 * np.sqrt(96) * se, (z**4).mean())
    both = (z[:, 1:] * z[:, :-1]).mean()
    check(model + ": each voxel has its own", abs(both) < 5 * se, both)
    check(model + ": so has each subject", abs((z[1:] * z[:-1]).mean()) < 5 * se)


def check_images(name, c):
    a, b = pairs(c, 1)
    far = [correlation(c.x, *pairs(c, step)) for step in (1, 3, 8)]
    check(name + ": neighbors go together, less so further away", far[0] > 0.75 and far[0] > far[1] > far[2], far)
    check(name + ": sigma", near(c.x.std(1, ddof=1).mean(), SIGMA, 1e-6))
    says = c.about["images"]
    between = c.x.std(0, ddof=1).mean()
    check(name + ": what it says of the images", near([says["sigma"], says["mean"], says["between_subjects"]],
                                                     [SIGMA, c.x.mean(), between], 1e-5))
    check(name + ": subjects differ as voxels do", 0.5 * SIGMA < between < SIGMA, between)


def perturbed_brains():
    small = ["--subjects", "80"]
    for model, mu, share in (("skfs-linear", 100, 0.5), ("skfs-additive", 200, 0.75), ("skfs-nonadditive", 200, 0.75)):
        make(model, "changed", *small)
        make(model, "plain", *small, "--effect", "0", "--spread", "0")
        changed, plain = Cohort("changed"), Cohort("plain")
        check_truth(model, changed, 4)
        check(model + ": 257 voxels", len(changed.sphere) == 257 and 5000 < changed.mask.sum() < 15000)
        check_change(model, changed, plain, mu)
        perturbed, positive = changed.is_("perturbed", "yes"), changed.is_("diagnosis", "positive")
        check(model + ": how many", perturbed.sum() == share * 80 and positive.sum() == 40 and (
            changed.is_("diagnosis", "negative") != positive).all() and (changed.is_("perturbed", "no") != perturbed).all())
        if model == "skfs-linear":
            check(model + ": the perturbed ones are positive", (perturbed == positive).all())
            check(model + ": it has no psi", "psi" not in changed.people)
        else:
            check_psi(model, changed)
        for f in "changed", "plain":
            shutil.rmtree(f)
    check_images("made", plain)
    own = (plain.x - plain.x.mean(0)) / plain.x.std(0)
    between = (own @ own.T / own.shape[1])[np.triu_indices(80, 1)]
    check("subjects have nothing in common", abs(between.mean() + 1 / 79) < 0.01, between.mean())


def the_same_bits():
    words = ["--subjects", "24", "--voxel-size", "4", "--radius", "2", "--write-images"]
    for model in ("skfs-nonadditive", "spheres"):
        make(model, "one", *words, "--nthreads", "1")
        for n in "2", "5":
            make(model, "more", *words, "--nthreads", n)
            names = sorted(os.listdir("one"))
            check(f"{model}: {n} threads", names == sorted(os.listdir("more")) and
                  filecmp.cmpfiles("one", "more", names, shallow=False)[0] == names)
            shutil.rmtree("more")
        make(model, "more", *words, "--seed", "2")
        one, more = Cohort("one"), Cohort("more")
        check(model + ": another seed, another sphere and other images", one.about["spheres"] != more.about["spheres"] and
              np.array_equal(one.mask, more.mask) and not (one.x == more.x).any(0).all())
        # a cohort of the images that were written is the cohort
        run("cohort", "one/sub-*.nii.gz", "--mask", "one/mask.nii.gz", "-q", "-o", "back")
        check(model + ": images and features", filecmp.cmp("back/features.npy", "one/features.npy", shallow=False))
        for f in "one", "more", "back":
            shutil.rmtree(f)


# ---- Anatomy ------------------------------------------------------------------------------------

def save(data, path, affine, code=4):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    image = nib.Nifti1Image(np.asarray(data, "f4"), affine)
    image.set_sform(affine, code)
    image.set_qform(affine, 0 if code == 0 else code)
    nib.save(image, path)


def anatomy():
    """An underlay that is a ramp shows the displacement itself; one that is flat, the gain and the noise."""
    shape, affine = (60, 60, 60), np.diag([2.0, 2, 2, 1])
    mask = np.zeros(shape)
    mask[10:50, 10:50, 10:50] = 1
    save(mask, "box.nii", affine)
    os.environ["VOXSIFT_ATLASES"] = os.path.abspath("own")
    words = ["--subjects", "20", "--mask", "box.nii", "--effect", "0", "--spread", "0"]
    for axis in range(3):
        save(1000 + 2 * np.indices(shape)[axis], "own/icbm152_t1_2mm.nii", affine)
        make("skfs-linear", "ramp", *words, "--warp", "1.5", "--bias", "0", "--voxel-noise", "0")
        c = Cohort("ramp")
        moved = c.x / c.about["images"]["factor"] - 1000 - 2 * c.at[:, axis]  # mm
        check(f"axis {axis}: displacement in mm", abs(moved.std() / 1.5 - 1) < 0.04, moved.std())
        check(f"axis {axis}: none on average", abs(moved.mean()) < 0.2, moved.mean())
        # splines of 15 mm: alike within a few mm, strangers beyond 60 mm
        near_, far = correlation(moved, *pairs(c, 1)), correlation(moved, *pairs(c, 30))
        check(f"axis {axis}: smooth", near_ > 0.97 and abs(far) < 0.05, (near_, far))
        second = moved.reshape(20, 40, 40, 40)
        second = second[..., 2:] - 2 * second[..., 1:-1] + second[..., :-2]
        check(f"axis {axis}: without kinks", second.std() < 0.05 * 1.5, second.std())
        shutil.rmtree("ramp")
    save(1000 + 100 * (np.indices(shape)[0] >= 30), "own/icbm152_t1_2mm.nii", affine)  # flat but for a step
    make("skfs-linear", "flat", *words, "--warp", "0", "--bias", "0.2", "--voxel-noise", "0")
    c = Cohort("flat")
    gain = np.log(c.x / c.about["images"]["factor"] / (1000 + 100 * (c.at[:, 0] >= 30)))
    check("gain", abs(gain.std() / 0.2 - 1) < 0.2 and correlation(gain, *pairs(c, 1)) > 0.99, gain.std())
    shutil.rmtree("flat")
    make("skfs-linear", "flat", *words, "--warp", "0", "--bias", "0", "--voxel-noise", "0.3")
    c = Cohort("flat")
    noise = c.x / c.about["images"]["factor"] - 1000 - 100 * (c.at[:, 0] >= 30)
    check("noise", abs(noise.std() / (0.3 * 50) - 1) < 0.01 and abs(correlation(noise, *pairs(c, 1))) < 0.005, noise.std())
    shutil.rmtree("flat")
    make("skfs-linear", "flat", *words, "--warp", "0", "--bias", "0", "--voxel-noise", "0", "--sigma", "100")
    c = Cohort("flat")
    check("nothing varies when nothing may", np.ptp(c.x, axis=0).max() == 0 and near(c.x.std(1, ddof=1), 100, 1e-6))
    shutil.rmtree("flat")
    del os.environ["VOXSIFT_ATLASES"]
    shutil.rmtree("own")
    os.remove("box.nii")


# ---- Bags ---------------------------------------------------------------------------------------

def a_texture_in_a_place_of_its_own():
    words = ["--subjects", "60", "--shape", "14,13,12", "--edge", "4", "--share", "0.4", "--smooth", "4"]
    make("bags", "with", *words, "--effect", "5")
    make("bags", "without", *words, "--effect", "0")
    c, plain = Cohort("with"), Cohort("without")
    patients = c.is_("diagnosis", "patient")
    check("bags: the share of patients", patients.sum() == 24)
    change = c.x - plain.x
    check("bags: controls are as they are", not change[~patients].any())
    column = np.zeros((4, 4, 4))
    column[1:3, 1:3] = 5
    column[1, 1] = -5
    places = set()
    for i in np.flatnonzero(patients):
        moved = np.flatnonzero(abs(change[i]) > 1e-3)
        rows = [k for k, who in enumerate(c.truth["subject"]) if who == c.people["participant_id"][i]]
        check("bags: the truth is where a patient differs", sorted(c.sphere[rows]) == list(moved) and near(change[i, c.sphere[rows]], c.part("weight")[rows], 1e-5))
        corner = c.at[moved].min(0) - [1, 1, 0]
        inside = tuple((c.at[moved] - corner).T)
        check("bags: the texture", near(change[i, moved], column[inside], 1e-5) and len(moved) == 16)
        check("bags: cubes lie side by side", not ((corner - c.at.min(0)) % 4).any() and (corner + 3 <= c.at.max(0)).all())
        places.add(tuple(corner))
    check("bags: places differ", len(places) > 8, len(places))
    check("bags: voxels have standard deviation 1", abs(plain.x.std() - 1) < 0.03)
    for f in "with", "without":
        shutil.rmtree(f)


# ---- Spheres ------------------------------------------------------------------------------------

def several_spheres():
    words = ["--subjects", "150", "--regions", "4", "--radius", "3", "--effect", "3"]
    make("spheres", "exact", *words, "--noise", "0")
    c = Cohort("exact")
    check_truth("spheres", c, 3)
    weights, sphere = c.part("weight"), c.part("sphere")
    check("spheres: weights", near([weights[sphere == s].sum() for s in (1, 2, 3, 4)], [3, -3, 3, -3]) and
          all(np.ptp(weights[sphere == s]) == 0 for s in (1, 2, 3, 4)))
    check("spheres: the overlay has the weights", near(c.truth_map[tuple(c.at[c.sphere].T)], weights, 1e-6))
    score = c.x[:, c.sphere] @ weights
    check("spheres: the score is the weighted sum", near(score, c.column("score"), 1e-10))
    make("spheres", "noisy", *words, "--noise", "2")
    e = Cohort("noisy").column("score") - score
    check("spheres: noise", abs(e.std() / 2 - 1) < 5 / np.sqrt(300) and abs(e.mean()) < 5 * 2 / np.sqrt(150), e.std())
    make("spheres", "classes", *words, "--noise", "2", "--target", "diagnosis")
    patients = Cohort("classes").is_("diagnosis", "patient")
    y = score + e
    check("spheres: patients are above the median", (patients == (y > np.median(y))).all() and patients.sum() == 75)
    check("spheres: voxels have standard deviation 1", abs(c.x.std() - 1) < 0.02 and abs(c.x.mean()) < 0.02, c.x.std())
    sd = 8 / np.sqrt(8 * np.log(2)) / c.size[0]
    for step in 1, 2, 4:  # white noise under a Gaussian kernel
        ours = correlation(c.x, *pairs(c, step))
        check(f"spheres: correlation {step} voxels away", abs(ours - np.exp(-step**2 / (4 * sd**2))) < 0.02, ours)
    make("spheres", "white", *words, "--smooth", "0")
    check("spheres: without smoothing", abs(correlation(Cohort("white").x, *pairs(c, 1))) < 0.005)
    make("spheres", "box", "--shape", "20,17,11", "--voxel-size", "3", "--radius", "2", "--noise", "0", "--subjects", "150")
    c = Cohort("box")
    check_truth("a box", c, 2)
    check("a box: its voxels", len(c.at) == 20 * 17 * 11 and np.array_equal(np.ptp(c.at, axis=0) + 1, [20, 17, 11]) and np.allclose(c.size, 3))
    middle = nib.affines.apply_affine(c.image.affine, (c.at.min(0) + c.at.max(0)) / 2)
    check("a box: around 0", np.allclose(middle, 0), middle)
    faces = (c.at == c.at.min(0)).any(1) | (c.at == c.at.max(0)).any(1)
    check("a box: faces are as the rest", abs(c.x[:, faces].std() - 1) < 0.03 and abs(c.x[:, ~faces].std() - 1) < 0.03, c.x[:, faces].std())
    a, b = pairs(c, 1)
    sd = 8 / np.sqrt(8 * np.log(2)) / 3
    for which in faces[a] & faces[b], ~faces[a]:
        ours = correlation(c.x, a[which], b[which])
        check("a box: as smooth there", abs(ours - np.exp(-1 / (4 * sd**2))) < 0.03, ours)
    check("a box: the score", near(c.x[:, c.sphere] @ c.part("weight"), c.column("score"), 1e-10))
    for f in "exact", "noisy", "classes", "white", "box":
        shutil.rmtree(f)


# ---- Weights along graphs -----------------------------------------------------------------------

def pieces(p, edges):
    """A name for each node: the smallest one that edges lead to."""
    name = np.arange(p)
    for a, b in edges:
        a, b = name[a], name[b]
        name[name == max(a, b)] = min(a, b)
    return name


def steps_from(starts, p, edges):
    near_by, far, waiting = [[] for _ in range(p)], np.full(p, -1), list(starts)
    for a, b in edges:
        near_by[a].append(b), near_by[b].append(a)
    far[waiting] = 0
    while waiting:
        k = waiting.pop(0)
        for other in near_by[k]:
            if far[other] < 0:
                far[other] = far[k] + 1
                waiting.append(other)
    return far


def weights_along_graphs():
    n, p = 90, 400
    words = ["--subjects", str(n), "--features", str(p), "--seed", "3"]
    for own, edges, trees in ((["--edges", "1.3"], 520, 1), (["--trees", "1"], 399, 1), (["--trees", "5"], 395, 5),
                              (["--trees", "300", "--nonzero", "0.3"], 100, 300), (["--edges", "1"], 400, 1)):
        what = "fused " + " ".join(own)
        make("fused", "net", *words, *own, "--noise", "0")
        x, t = np.load("net/features.npy").astype(float).T, table(open("net/graph.tsv"))
        ends = [(int(a[1:]), int(b[1:])) for a, b in zip(t["from"], t["to"])]
        truth, name = table(open("net/truth.tsv")), pieces(p, ends)
        b = np.zeros(p)
        b[[int(k[1:]) for k in truth["feature"]]] = [float(v) for v in truth["weight"]]
        share = 0.3 if "--nonzero" in own else 0.1
        check(what + ": edges", len(ends) == edges == len(set(ends)) and all(i < j for i, j in ends) and set(t["weight"]) == {"1"})
        check(what + ": pieces", len(set(name)) == trees and np.ptp(np.bincount(name)[np.bincount(name) > 0]) <= 1)
        check(what + ": values", abs(x).max() <= 10 and abs(b).max() <= 1)
        score = np.array([float(v) for v in table(open("net/participants.tsv"))["score"]])
        check(what + ": the score", near(score, x @ b, 1e-9))
        if trees > 1:
            check(what + ": a tree has one weight", all(np.ptp(b[name == k]) == 0 for k in set(name)))
            check(what + ": as many as it takes", share * p <= (b != 0).sum() < share * p + max(np.bincount(name)))
        else:
            values = sorted(set(b) - {0.0})
            parts = [np.flatnonzero(b == v) for v in values]
            check(what + ": two subgraphs", [len(k) for k in parts] == [20, 20], values)
            for part in parts:
                inside = [(i, j) for i, j in ends if b[i] == b[j] == b[part[0]]]
                check(what + ": which hang together", len(set(pieces(p, inside)[part])) == 1)
            far = steps_from(parts[0], p, ends)
            check(what + ": far from each other", far[parts[1]].min() > 1 and np.median(far[parts[1]]) > np.median(far[b == 0]), far[parts[1]])
        make("fused", "two", *words, *own, "--target", "diagnosis", "--nthreads", "2")
        who = np.array(table(open("two/participants.tsv"))["diagnosis"])
        check(what + ": half are patients", (who == "patient").sum() == n // 2)
        check(what + ": threads change nothing", all(filecmp.cmp("net/" + f, "two/" + f, False) for f in ("features.npy", "graph.tsv", "truth.tsv")))
        make("fused", "two", *words, *own, "--force")
        y = np.array([float(v) for v in table(open("two/participants.tsv"))["score"]])
        check(what + ": noise", abs((y - score).std() - 1) < 5 / np.sqrt(2 * n), (y - score).std())
        check(what + ": the median divides them", ((y > np.median(y)) == (who == "patient")).all())
        if own == ["--trees", "1"]:
            run("fit", "net", "--target", "score", "--method", "fused", "--graph", "net/graph.tsv", "--lambda-ratio", "0.5", "-q", "-o", "model")
            shutil.rmtree("model")
        for f in "net", "two":
            shutil.rmtree(f)


# ---- Pairs that count ---------------------------------------------------------------------------

def pairs_that_count():
    n, p = 400, 300
    words = ["--subjects", str(n), "--features", str(p), "--pairs", "7", "--seed", "5"]
    make("pairs", "exact", *words, "--noise", "0")
    x, truth = np.load("exact/features.npy").astype(float).T, table(open("exact/truth.tsv"))
    a, b = (np.array([int(name[1:]) for name in truth[side]]) for side in ("first", "second"))
    w = np.array([float(v) for v in truth["weight"]])
    patients = np.array(table(open("exact/participants.tsv"))["diagnosis"]) == "patient"
    z = (x[:, a] * x[:, b]) @ w
    check("pairs: the diagnosis is the sign of the sum", (patients == (z > 0)).all())
    check("pairs: weights", set(w) == {1.0, -1.0}, w)
    check("pairs: no feature twice", len(set(a) | set(b)) == 14 and (a < b).all() and (np.diff(a) > 0).all())
    se = 1 / np.sqrt(x.size)  # five standard errors of each moment of a normal distribution
    check("pairs: features are normal", abs(x.mean()) < 5 * se and abs((x**2).mean() - 1) < 5 * np.sqrt(2) * se
          and abs((x**4).mean() - 3) < 5 * np.sqrt(96) * se, (x.mean(), x.std()))
    each = (np.sign(z)[:, None] * x[:, np.r_[a, b]]).mean(0) * np.sqrt(n)
    check("pairs: no feature alone", abs(each).max() < 5, each)
    both = (np.sign(z)[:, None] * x[:, a] * x[:, b] * w).mean(0) * np.sqrt(n)
    check("pairs: but both together", both.min() > 2, both)
    make("pairs", "noisy", *words, "--noise", "2", "--nthreads", "3")
    check("pairs: threads and noise change no feature", all(filecmp.cmp("exact/" + f, "noisy/" + f, False) for f in ("features.npy", "truth.tsv")))
    other = np.array(table(open("noisy/participants.tsv"))["diagnosis"]) == "patient"
    wrong = np.arctan2(2, np.sqrt(7)) / np.pi  # of two sums that are about normal
    check("pairs: noise", abs((other != patients).mean() - wrong) < 0.12, ((other != patients).mean(), wrong))
    make("pairs", "again", *words, "--noise", "2", "--nthreads", "1")
    check("pairs: threads", filecmp.cmp("again/participants.tsv", "noisy/participants.tsv", False))
    make("pairs", "again", *words[:-1], "6", "--force")
    check("pairs: another seed, other pairs", table(open("again/truth.tsv"))["first"] != truth["first"])
    make("pairs", "many", "--features", "2000")
    truth, words = table(open("many/truth.tsv")), ["fit", "many", "--target", "diagnosis", "-q", "--force", "-o", "model", "--method"]
    run(*words, "fgm", "--feature-map", "poly2", "--per-iteration", "5", "--iterations", "4")
    found = table(open("model/pairs.tsv"))
    first = sorted(zip(found["kind"], found["first"], found["second"], map(float, found["weight"])), key=lambda r: -abs(r[3]))[:3]
    check("pairs: fgm finds them, with their signs", sorted((*r[:3], np.sign(r[3])) for r in first) ==
          sorted(("pair", *r, float(w)) for *r, w in zip(truth["first"], truth["second"], truth["weight"])), first)
    for linear in ["fgm", "--per-iteration", "10"], ["lasso", "--lambda-ratio", "0.3"]:
        run(*words, *linear)
        known = set(table(open("model/weights.tsv"))["feature"]) & {*truth["first"], *truth["second"]}
        check("pairs: but no linear method", len(known) < 3, known)
    for f in "exact", "noisy", "again", "many", "model":
        shutil.rmtree(f)


# ---- Images of the user -------------------------------------------------------------------------

def given_images():
    rng = np.random.default_rng(3)
    shape, affine = (14, 13, 12), np.array([[-3.0, 0, 0, 20], [0, 3, 0, -19], [0, 0, 3, -16], [0, 0, 0, 1]])
    images = {f"sub-{k:02d}": 500 + 100 * rng.standard_normal(shape) for k in range(12)}
    for name, data in images.items():
        save(data, f"mine/{name}_T1w.nii.gz", affine, 2)
    mask = np.zeros(shape)
    mask[2:12, 2:11, 1:11] = 1
    save(mask, "mask.nii", affine, 2)
    words = ["--images", "mine", "--mask", "mask.nii", "--subjects", "8", "--radius", "2"]
    make("skfs-additive", "given", *words, "--write-images")
    c = Cohort("given")
    check_truth("given", c, 2)
    check_psi("skfs-additive", c)
    names = c.people["participant_id"]
    check("given: some of them, in order", len(names) == 8 and sorted(set(names)) == names and set(names) <= set(images))
    stored = np.array([np.float32(images[n]).astype(float)[tuple(c.at.T)] for n in names])
    check("given: mask", np.array_equal(c.mask, mask > 0))
    perturbed = c.is_("perturbed", "yes")
    out = np.ones(c.x.shape[1], bool)
    out[c.sphere] = False
    check("given: as they are, but for the sphere", (c.x[:, out] == stored[:, out]).all() and (c.x == stored)[~perturbed].all())
    check("given: sigma", near(stored.std(1, ddof=1), c.column("sigma"), 1e-9))
    whole = np.array([nib.load(f"given/{n}.nii.gz").get_fdata() for n in names])
    check("given: whole images", all(np.array_equal(whole[k][mask == 0], np.float32(images[n])[mask == 0]) for k, n in enumerate(names)))
    check("given: hashes and files", [s["source"] for s in c.about["subject_list"]] == [f"mine/{n}_T1w.nii.gz" for n in names])
    make("skfs-additive", "scaled", *words, "--sigma", str(SIGMA), "--effect", "0", "--spread", "0", "--write-images")
    s = Cohort("scaled")
    factor = SIGMA / stored.std(1, ddof=1).mean()
    check("given: scaled when told to", near(s.x, stored * factor, 1e-6))
    check("given: whole images as well", all(near(nib.load(f"scaled/{n}.nii.gz").get_fdata(), images[n] * factor, 1e-6) for n in names))
    make("spheres", "other", *words, "--regions", "2", "--noise", "0")
    o = Cohort("other")
    check("given: a score of them", near(o.x[:, o.sphere] @ o.part("weight"), o.column("score")) and (o.x == stored).all())
    for f in "given", "scaled", "other":
        shutil.rmtree(f)
    # in MNI space the lobe is known
    for name, data in images.items():
        save(rng.uniform(1, 2, (41, 49, 41)), f"mni/{name}.nii.gz", np.array([[4.0, 0, 0, -80], [0, 4, 0, -112], [0, 0, 4, -70], [0, 0, 0, 1]]))
    make("skfs-linear", "lobe", "--images", "mni/*.nii.gz", "--subjects", "12", "--radius", "1")
    c = Cohort("lobe")
    mm = nib.affines.apply_affine(c.image.affine, c.at)
    check("the lobe", (mm.min(0) >= [-72, -50, -45]).all() and (mm.max(0) <= [-30, 10, 0]).all() and 800 < len(mm) < 2000, len(mm))
    for f in "lobe", "mni", "mine":
        shutil.rmtree(f)
    os.remove("mask.nii")


def grids():
    make("skfs-linear", "coarse", "--subjects", "10", "--voxel-size", "3", "--effect", "0", "--spread", "0", "--radius", "2")
    c = Cohort("coarse")
    check("voxel size", np.allclose(c.size, 3) and np.allclose(c.x.std(1, ddof=1).mean(), SIGMA, rtol=1e-5))
    shutil.rmtree("coarse")


perturbed_brains()
the_same_bits()
anatomy()
several_spheres()
a_texture_in_a_place_of_its_own()
weights_along_graphs()
pairs_that_count()
given_images()
grids()
check("nothing is left", not os.listdir("."), os.listdir("."))
finish()
