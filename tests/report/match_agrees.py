"""`voxsift match` against brute force in numpy: all pairs of voxels, sorting, scipy's ranks, on grids that are oblique,
anisotropic and sheared; identities that hold without any other program. Runs in an empty directory."""
import json
import os
import subprocess

import nibabel as nib
import numpy as np
from oracle import check, finish, near, table
from oracle import run as voxsift
from scipy import ndimage, stats

rng = np.random.default_rng(22)
turn = np.array([[0.96, -0.28, 0], [0.28, 0.96, 0], [0, 0, 1]])
AFFINES = {
    "plain": nib.affines.from_matvec(np.diag([2, 2, 2]), [-10, -20, 5]),
    "oblique": nib.affines.from_matvec(turn @ np.diag([-1.5, 2, 4]), [40, -70, -30]),
    "sheared": nib.affines.from_matvec(np.array([[2, 1.5, 0.3], [0, 1.8, -0.9], [0.2, 0, 3]]), [1e3, 0, -2]),
}


def save(path, values, affine, dtype="f4"):
    image = nib.Nifti1Image(np.asarray(values, dtype), affine)
    image.set_sform(affine, 2)
    nib.save(image, path)


def match(first, second, *words, warns=None):
    out, err = voxsift("match", first, second, *words, "--json")
    if warns is not None:
        check(f"{first} {second} warns", (warns in err) if warns else err == "", err)
    return json.loads(out)


# ---- Brute force ----

def kind_of(values):
    found = set(values[values != 0].ravel().tolist())
    if len({abs(v) for v in found}) < 2:
        return "binary" if found else "empty"
    regions = sum(ndimage.label(values == v)[1] for v in found)
    return "labels" if all(v > 0 and v == int(v) for v in found) and regions <= 10 * len(found) else "weights"


def places(affine, mask):
    index = np.argwhere(mask)[:, ::1]
    return index @ affine[:3, :3].T + affine[:3, 3]


def to_nearest(affine, a, b):
    """Of each voxel of a, in the order of argwhere."""
    if not b.any():
        return np.full(a.sum(), np.inf)
    one, two = places(affine, a), places(affine, b)
    return np.sqrt(((one[:, None] - two[None]) ** 2).sum(2)).min(1) if len(one) else np.empty(0)


def acc_ar(size, a, b):
    """All subsets of ties have the same chance: the mean over many random orders tends to it; here exactly."""
    wanted = int(b.sum())
    chosen = np.sort(size[a])[::-1][:wanted]
    if wanted == 0:
        return None
    least = chosen[-1] if len(chosen) == wanted else 0
    sure, tied = a & (size > least), a & (size == least)
    hits = (sure & b).sum() + ((tied & b).sum() * (wanted - sure.sum()) / tied.sum() if tied.any() and least > 0 else 0)
    wrong = 2 * (wanted - hits)  # ME of two sets of R voxels
    return (2 * wanted - wrong) / (2 * wanted)


def peaks_of(values, selected, kind, affine, distances):
    """(sign and size of the cluster, distance) of each cluster's peak."""
    where, found = np.full(values.shape, np.inf), []
    where[selected] = distances
    parts = [v for v in np.unique(values[selected])] if kind == "labels" else [1, -1]
    for part in parts:
        mask = selected & (values == part if kind == "labels" else np.sign(values) == part)
        labels, count = ndimage.label(mask, np.ones((3, 3, 3)))
        for k in range(1, count + 1):
            inside = labels == k
            top = inside & (abs(values) == abs(values[inside]).max())
            index, weights = np.argwhere(inside), abs(values[inside])
            center = affine[:3, :3] @ (index * weights[:, None]).sum(0) / weights.sum() + affine[:3, 3]
            square = np.full(values.shape, np.inf)
            square[top] = ((places(affine, top) - center) ** 2).sum(1)
            least = np.flatnonzero(square.ravel(order="F") <= square.min() * (1 + 1e-5) + 1e-12)[0]
            found.append((inside.sum(), round(where.ravel(order="F")[least], 4), abs(values[inside]).max()))
    return sorted(found)


def expected(a, b, affine, threshold, tolerance):
    a, b = (np.where(np.isnan(v), 0, v).astype("f4").astype(float) for v in (a, b))
    one, two = abs(a) > threshold, abs(b) > (threshold if kind_of(b) == "weights" else 0)
    forth, back = to_nearest(affine, one, two), to_nearest(affine, two, one)
    union = (a != 0) | (b != 0)
    edge = tolerance * (1 + 1e-5)
    voxel = abs(np.linalg.det(affine[:3, :3]))
    share = {"precision": (forth <= edge).mean() if one.any() else None, "sensitivity": (back <= edge).mean() if two.any() else None}
    signs = (a[one] < 0).any() and (b[two] < 0).any()
    p, q = (np.where(v != 0, 1, 0) if kind_of(v) == "labels" else v for v in (a, b))
    constant = union.sum() < 2 or np.ptp(p[union]) == 0 or np.ptp(q[union]) == 0
    total = one.sum() + two.sum()
    return {
        "dice": 2 * (one & two).sum() / total if total else 1, "acc_ar": acc_ar(abs(a), one, two), **share,
        "pearson": None if constant else stats.pearsonr(p[union].astype(float), q[union].astype(float))[0],
        "spearman": None if constant else stats.spearmanr(p[union], q[union])[0],
        "correlated_voxels": union.sum(), "both_voxels": (one & two).sum(), "both_mm3": (one & two).sum() * voxel,
        "opposite_sign_voxels": signs * (one & two & (np.sign(a) != np.sign(b))).sum(),
        "first": {"kind": kind_of(a), "n_voxels": one.sum(), "volume_mm3": one.sum() * voxel, "outside_voxels": (forth > edge).sum(),
                  "outside_mm3": (forth > edge).sum() * voxel, "peaks": peaks_of(a, one, kind_of(a), affine, forth)},
        "second": {"kind": kind_of(b), "n_voxels": two.sum(), "volume_mm3": two.sum() * voxel, "outside_voxels": (back > edge).sum(),
                   "outside_mm3": (back > edge).sum() * voxel, "peaks": peaks_of(b, two, kind_of(b), affine, back)},
    }


def equal(what, have, want):
    for key, value in want.items():
        if isinstance(value, dict):
            equal(f"{what} {key}", have[key], value)
        elif key == "peaks":
            got = sorted((round(p["volume_mm3"] / (have["volume_mm3"] / max(have["n_voxels"], 1))), np.inf if p["distance_mm"] is None else round(p["distance_mm"], 4),
                          abs(p["peak_value"])) for p in have[key])
            check(f"{what} peaks", len(got) == len(value) and all(np.allclose(g, v, rtol=1e-5, atol=2e-4) for g, v in zip(got, value)), (got, value))
            finite = [d for _, d, _ in value if np.isfinite(d)]
            if finite:
                check(f"{what} peak distances", near(have["peak_distance_mean_mm"], np.mean(finite), 1e-4) and near(have["peak_distance_max_mm"], max(finite), 1e-4))
            else:
                check(f"{what} no peak distances", have["peak_distance_mean_mm"] is None and have["peak_distance_max_mm"] is None)
        elif value is None or isinstance(value, str):
            check(f"{what} {key}", have[key] == value, (have[key], value))
        else:
            check(f"{what} {key}", have[key] is not None and abs(have[key] - value) <= 1e-5 * max(1, abs(value)), (have[key], value))


def image(of, shape):
    if of == "empty":
        return np.zeros(shape)
    if of == "blobs":
        return ndimage.gaussian_filter(rng.standard_normal(shape), 1).round(2)
    values = np.where(rng.random(shape) < (0.9 if of == "dense" else 0.06), rng.standard_normal(shape), 0)
    values[tuple(n // 2 for n in shape)] = 0.7
    return {"sparse": values, "dense": values, "binary": values != 0, "ties": np.sign(values) * np.ceil(2 * abs(values)) / 8,
            "labels": np.round(abs(4 * values)), "signs": np.sign(values)}[of].astype("f4")


cases = 0
for name, affine in AFFINES.items():
    for one, two, threshold, tolerance in [
            ("sparse", "binary", 0, 0), ("sparse", "binary", 0.5, 3), ("sparse", "sparse", 0.3, 4), ("blobs", "binary", 0.2, 2), ("blobs", "blobs", 0.1, 5),
            ("ties", "binary", 0, 2.5), ("ties", "dense", 0, 1), ("dense", "ties", 1, 2), ("labels", "labels", 0, 2), ("sparse", "signs", 0.4, 3), ("sparse", "labels", 0.4, 6),
            ("binary", "sparse", 0, 2), ("empty", "binary", 0, 2), ("sparse", "empty", 0, 2), ("empty", "empty", 0, 2), ("binary", "binary", 0, 0)]:
        shape = tuple(rng.integers(5, 11, 3))
        a, b = image(one, shape), image(two, shape)
        if one == "blobs":
            a[0, 0, 0] = np.nan
        save("a.nii", a, affine)
        save("b.nii", b, affine)
        stored = nib.load("a.nii").affine  # of single precision
        said = match("a.nii", "b.nii", "--threshold", str(threshold), "--tolerance", str(tolerance))
        check("same grid", said["grid"] == "same" and len(said["volumes"]) == 1)
        equal(f"{name} {one} {two}", said["volumes"][0], expected(a, b, stored, threshold, tolerance))
        for key in ("acc_ar", "precision", "sensitivity", "pearson", "spearman"):
            check(f"{one} {two}: why {key} is null", (said["volumes"][0][key] is None) == (key in said["volumes"][0]["undefined"]), said)
        # the other way around
        back = match("b.nii", "a.nii", "--tolerance", str(tolerance))["volumes"][0]
        forth = match("a.nii", "b.nii", "--tolerance", str(tolerance))["volumes"][0]
        swapped = {"precision": "sensitivity", "sensitivity": "precision", "first": "second", "second": "first"}
        for key in ("dice", "precision", "sensitivity", "pearson", "spearman", "correlated_voxels", "both_voxels", "first", "second"):
            check(f"{name} {one} {two} swapped: {key}", forth[key] == back[swapped.get(key, key)]
                  or near(forth[key], back[swapped.get(key, key)], 1e-12), (forth[key], back[swapped.get(key, key)]))
        cases += 1
check("cases", cases == 48, cases)

# ---- A map with itself; moved by a voxel ----
affine = AFFINES["oblique"]
shape = (12, 11, 9)
a = np.zeros(shape, "f4")
a[3:6, 4:8, 2:5] = rng.uniform(1, 2, (3, 4, 3))
a[8, 2, 6] = -3
save("a.nii", a, affine)
v = match("a.nii", "a.nii", warns="")["volumes"][0]
check("with itself", [v[k] for k in ("dice", "acc_ar", "precision", "sensitivity")] == [1, 1, 1, 1] and near([v["pearson"], v["spearman"]], 1, 1e-12)
      and v["first"]["peak_distance_max_mm"] == 0 and v["first"]["outside_mm3"] == 0 and v["undefined"] == {}, v)
point = np.zeros(shape, "f4")
point[5, 5, 4] = 2
save("point.nii", point, affine)
for axis, step in [(0, 1.5), (1, 2), (2, 4)]:
    save("moved.nii", np.roll(point, 1, axis), affine)
    for tolerance, found in [(step * 0.99, 0), (step, 1)]:
        v = match("point.nii", "moved.nii", "--tolerance", repr(tolerance), warns="")["volumes"][0]
        check(f"moved along {axis}, {tolerance} mm", (v["dice"], v["acc_ar"], v["precision"], v["sensitivity"]) == (0, 0, found, found)
              and near(v["first"]["peak_distance_max_mm"], step, 1e-6) and near(v["second"]["peak_distance_mean_mm"], step, 1e-6), v)
check("volume", near(v["first"]["volume_mm3"], 12, 1e-6))

# ---- The same voxels in another order: turned, nothing else changes ----
b = np.where(rng.random(shape) < 0.1, rng.standard_normal(shape), 0)
save("b.nii", b, affine)
want = match("a.nii", "b.nii", "--tolerance", "3")["volumes"]
image_b = nib.load("b.nii")
for axes in ([[1, -1], [0, 1], [2, 1]], [[2, 1], [0, -1], [1, -1]], [[0, -1], [1, 1], [2, 1]]):
    other = image_b.as_reoriented(np.array(axes))
    save("turned.nii", other.get_fdata(), other.affine)
    said = match("a.nii", "turned.nii", "--tolerance", "3", warns="")
    check(f"turned {axes}", said["grid"] == "turned" and said["volumes"] == want)
    back = match("turned.nii", "a.nii", "--tolerance", "3", warns="")["volumes"][0]
    check(f"turned first {axes}", near([back[k] for k in ("dice", "precision", "sensitivity", "pearson")],
                                       [want[0][k] for k in ("dice", "sensitivity", "precision", "pearson")], 1e-5))
out = subprocess.run(["voxsift", "match", "a.nii", "turned.nii"], capture_output=True, text=True).stdout
check("turned is said", "the axes of the second were turned from" in out, out)

# ---- Other grids: refused by both names, resampled on request ----
coarse = nib.affines.from_matvec(turn @ np.diag([-3, 4, 4]), [40.3, -70.9, -30.2])
labels = np.zeros((6, 6, 9), "f4")
labels[1:3, 2:4, 2:5], labels[4, 1, 6] = 7, 9
save("labels.nii", labels, coarse)
out, err = voxsift("match", "a.nii", "labels.nii", code=65)
check("both grids in one line", err.count("\n") == 1 and "12 x 11 x 9 voxels of 1.5 x 2 x 4 mm" in err and "6 x 6 x 9 voxels of 3 x 4 x 4 mm" in err
      and "'a.nii'" in err and "'labels.nii'" in err and "--resample" in err, err)
shifted = affine.copy()
shifted[0, 3] += 1
save("shifted.nii", a, shifted)
out, err = voxsift("match", "a.nii", "shifted.nii", code=65)
check("how far apart", "1 mm apart at a corner" in err, err)
inverse = np.linalg.inv(nib.load("labels.nii").affine) @ nib.load("a.nii").affine


def resample(values, order):
    grid = np.moveaxis(np.indices(shape), 0, -1).reshape(-1, 3) @ inverse[:3, :3].T + inverse[:3, 3]
    inside = ((grid > -0.5) & (grid < np.array(values.shape) - 0.5)).all(1)
    at = np.clip(grid, 0, np.array(values.shape) - 1)
    return np.where(inside, ndimage.map_coordinates(values, np.floor(at + 0.5).T if order == 0 else at.T, order=order), 0).reshape(shape)


weights = np.where(rng.random(labels.shape) < 0.4, rng.standard_normal(labels.shape), 0).astype("f4")
save("weights.nii", weights, coarse)
for path, values, way in [("labels.nii", labels, "nearest"), ("weights.nii", weights, "linear")]:
    said = match("a.nii", path, "--resample", "--tolerance", "2")
    v = said["volumes"][0]
    check(f"{way} is said", said["grid"] == "resampled" and v["second"]["interpolation"] == way, said)
    placed = np.where(resample(values, 0) != 0, resample(values, way == "linear"), 0)
    want = expected(a, placed, nib.load("a.nii").affine, 0, 2)
    equal(f"resampled {way}", v, want)
out = voxsift("match", "a.nii", "labels.nii", "--resample")[0]
check("nearest in words", "resampled to the grid of the first (nearest voxel)" in out, out)
far = nib.affines.from_matvec(affine[:3, :3], affine[:3, 3] + affine[:3, 0] * 6)  # the lower half of it lies beyond
save("far.nii", a, far)
v = match("a.nii", "far.nii", "--resample", warns="outside of the grid of 'a.nii'")["volumes"][0]
check("what is lost is counted", v["second"]["lost_voxels"] == (a[6:] != 0).sum() and v["second"]["n_voxels"] == (a[:6] != 0).sum(), v["second"])

# ---- Volumes ----
stack = np.stack([a, b, np.zeros(shape)], 3)
save("stack.nii", stack, affine)
save("other.nii", stack[..., ::-1], affine)
said = match("stack.nii", "other.nii")
check("volumes go with their counterparts", [(v["first"]["volume"], v["second"]["volume"]) for v in said["volumes"]] == [(1, 1), (2, 2), (3, 3)])
check("each as if alone", said["volumes"][1] == {**match("b.nii", "b.nii")["volumes"][0], **{
    side: {**match("b.nii", "b.nii")["volumes"][0][side], "volume": 2} for side in ("first", "second")}})
one = match("stack.nii", "b.nii", "--volume", "2")["volumes"]
check("one of several with a single one", len(one) == 1 and one[0]["dice"] == 1 and one[0]["second"]["volume"] == 1)
out, err = voxsift("match", "stack.nii", "b.nii", code=65)
check("which", "'stack.nii' has 3 volumes, 'b.nii' has 1: say which with --volume" in err, err)
out, err = voxsift("match", "stack.nii", "other.nii", "--volume", "4", code=65)
check("not so many", "'stack.nii' has no volume 4, but 3" in err, err)
voxsift("match", "a.nii", "b.nii", "--volume", "2", code=65)

# ---- In words ----
save("zero.nii", np.zeros(shape), affine)
out, err = voxsift("match", "zero.nii", "zero.nii")
out = " ".join(out.split())
check("both empty", "Dice 1.00 neither selects a voxel: they agree" in out and "ACC_AR unknown: the second selects no voxel" in out
      and err.count("has no voxel above 0") == 2 and "nan" not in out.lower(), out + err)
out, err = voxsift("match", "zero.nii", "a.nii")
out = " ".join(out.split())
check("one empty", "Dice 0.00 0 voxels" in out and "precision unknown: the first selects no voxel" in out
      and f"of the {(a != 0).sum()} highest of the first (which has 0), the share in the second" in out
      and "peaks of the first to the second unknown: the first selects no voxel" in out and "nan" not in out.lower(), out)
gaps = a.copy()
gaps[3, 4, 2] = gaps[0, 0, 0] = np.nan
save("gaps.nii", gaps, affine)
out, err = voxsift("match", "gaps.nii", "a.nii")
check("NaN is said", "2 voxels without a value (NaN), which count as absent" in err and "2 voxels that are NaN count as absent" in out, out + err)
check("NaN is absent", match("gaps.nii", "a.nii")["volumes"][0]["both_voxels"] == (a != 0).sum() - 1)
save("counts.nii", rng.integers(0, 5, shape).astype("f4"), affine)
check("counts are no labels", match("a.nii", "counts.nii")["volumes"][0]["second"]["kind"] == "weights" and kind_of(nib.load("counts.nii").get_fdata()) == "weights")
whole = (3 * np.sign(a)).astype("f4")
save("signs.nii", whole, affine)
v = match("a.nii", "signs.nii", "--threshold", "1.5")["volumes"][0]
check("a truth of whole numbers has its own threshold", v["second"]["threshold"] == 0 and v["second"]["n_voxels"] == (a != 0).sum()
      and v["first"]["threshold"] == 1.5 and v["first"]["n_voxels"] == (abs(a) > 1.5).sum(), v)
v = match("a.nii", "signs.nii", "--truth-threshold", "3.5", warns="has no voxel above 3.5")["volumes"][0]
check("--truth-threshold", v["second"]["n_voxels"] == 0 and v["precision"] == 0 and v["sensitivity"] is None)

# ---- Directories: their map, and the voxels of their mask ----
voxsift("simulate", "spheres", "--shape", "9,10,8", "--subjects", "40", "--regions", "2", "--radius", "2", "--seed", "3", "-q", "-o", "c")
voxsift("fit", "c", "--target", "score", "--lambda-ratio", "0.3", "-q", "-o", "m")
voxsift("stability", "c", "--target", "score", "--pairs", "3", "-q", "-o", "s")
said = match("m", "c")
w, t, mask = (nib.load(f).get_fdata() for f in ("m/weights.nii.gz", "c/truth.nii.gz", "m/mask.nii.gz"))
inside = mask != 0
check("maps of directories", said["first"] == "m/weights.nii.gz" and said["second"] == "c/truth.nii.gz")
check("over the mask", said["volumes"][0]["correlated_voxels"] == (inside | (t != 0)).sum() and near(
    said["volumes"][0]["pearson"], stats.pearsonr(w[inside], t[inside])[0], 1e-6), said)
check("a directory of stability", match("s", "c")["first"] == "s/stable.nii.gz")
said = match("stack.nii", "other.nii", "-o", "matched")
check("files", sorted(f for f in os.listdir("matched") if f != ".voxsift") == ["match.json", "match.tsv", "peaks.tsv"], os.listdir("matched"))
kept = json.load(open("matched/match.json"))
check("match.json", kept["volumes"] == said["volumes"] and kept["command"].startswith("voxsift match stack.nii"))
rows = table(open("matched/match.tsv"))
for k, v in enumerate(said["volumes"]):
    for name, column in rows.items():
        side, _, key = name.partition("_")
        want = v[side][key] if side in ("first", "second") else v[name]
        check(f"match.tsv {name}", column[k] == ("n/a" if want is None else repr(want).removesuffix(".0")) or float(column[k]) == want, (column[k], want))
peaks = table(open("matched/peaks.tsv"))
want = [(s, v[s]["volume"], p) for v in said["volumes"] for s in ("first", "second") for p in v[s]["peaks"]]
check("peaks.tsv", len(peaks["map"]) == len(want) and all(
    (peaks["map"][k], int(peaks["volume"][k])) == (s, n) and all(
        abs(float(peaks[c][k]) - p[c]) <= 0.0501 for c in ("peak_x", "peak_y", "peak_z")) and (
        peaks["distance_mm"][k] == "n/a" if p["distance_mm"] is None else abs(float(peaks["distance_mm"][k]) - p["distance_mm"]) <= 0.0501)
    for k, (s, n, p) in enumerate(want)), (peaks, want))
voxsift("match", "stack.nii", "other.nii", "-o", "matched", code=73)
out = voxsift("match", "a.nii", "b.nii", "-o", "matched", "--force")[0]
check("where it is", "matched/peaks.tsv" in out, out)
finish()
