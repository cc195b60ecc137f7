"""Cohorts against numpy and nibabel: whatever the source, features.npy, participants.tsv, mask and
cohort.json must say what a few lines of Python say. Runs in an empty directory."""
import itertools
import json
import os
import shutil
import subprocess
import sys

import nibabel as nib
import numpy as np
from oracle import check, finish
from oracle import run as voxsift

rng = np.random.default_rng(7)
AFFINE = nib.affines.from_matvec(np.diag([-3.0, 3, 3]), [30, -40, -20])
SHAPE = (12, 10, 9)


def run(*words, code=0):
    return voxsift("cohort", *words, code=code)


def save(data, path, affine=AFFINE, dtype="f4"):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    image = nib.Nifti1Image(np.asarray(data, dtype), affine)
    image.set_qform(affine, 2)
    image.set_sform(affine, 2)
    nib.save(image, path)


def brain():
    x, y, z = np.indices(SHAPE) - np.array(SHAPE).reshape(3, 1, 1, 1) / 2 + 0.5
    return x**2 / 25 + y**2 / 16 + z**2 / 12 < 1


def dense_of(folder, about):
    """features x subjects, from the three arrays of a sparse cohort."""
    values, rows, starts = (np.load(f"{folder}/features.{k}.npy") for k in ("values", "rows", "starts"))
    check(folder + " types", (values.dtype, rows.dtype, starts.dtype) == ("f4", "i4", "u8"))
    check(folder + " sizes", values.shape == rows.shape == (about["stored_values"],) and
          starts.shape == (about["features"] + 1,) and starts[0] == 0 and starts[-1] == len(values))
    x = np.zeros((about["features"], about["subjects"]), "f4")
    for j in range(len(x)):
        own = slice(int(starts[j]), int(starts[j + 1]))
        check(f"{folder} feature {j}", (np.diff(rows[own]) > 0).all() and (values[own] != 0).all())
        x[j, rows[own]] = values[own]
    return x


def load(folder):
    about = json.load(open(folder + "/cohort.json"))
    sparse = about["features_stored"] == "sparse"
    parts = sorted(n for n in os.listdir(folder) if n.startswith("features.") and n.endswith(".npy"))
    check(folder + " one way to store", parts == (
        ["features.rows.npy", "features.starts.npy", "features.values.npy"] if sparse else ["features.npy"]), parts)
    x = dense_of(folder, about) if sparse else np.load(folder + "/features.npy", mmap_mode="r")
    rows = [line.rstrip("\n").split("\t") for line in open(folder + "/participants.tsv")]
    check(folder + " shape", x.shape == (about["features"], about["subjects"]) and x.dtype == "f4")
    check(folder + " rows", len(rows) == about["subjects"] + 1 and rows[0][0] == about["id_column"])
    check(folder + " nothing half-made", not [n for n in os.listdir(".") if ".part-" in n])
    return about, np.array(x), rows


def flat(data, mask):
    return data.T[mask.T]  # i runs fastest, as in memory of a NIfTI file


inside = brain()
ids = [f"sub-{k:02d}" for k in range(1, 20)]
data = {i: (inside * (100 + 10 * rng.normal(size=SHAPE) + rng.normal())).astype("f4") for i in ids}
for i in ids:
    save(data[i], f"img/{i}_T1w.nii.gz")
order = list(rng.permutation(ids))
with open("people.tsv", "w") as f:
    f.write("participant_id\tage\timage\n" + "".join(
        f"{i}\t{20 + k}\timg/{i}_T1w.nii.gz\n" for k, i in enumerate(order)))

# a table that names its images; the order is the table's
run("people.tsv", "--image-column", "image", "-o", "a")
about, x, rows = load("a")
mask = nib.load("a/mask.nii.gz")
check("mask is the brain", (np.asarray(mask.dataobj) == inside).all() and np.allclose(mask.affine, AFFINE))
check("ids in order", [r[0] for r in rows[1:]] == order and rows[0] == ["participant_id", "age", "image"])
check("values", all((x[:, k] == flat(data[i], inside)).all() for k, i in enumerate(order)))
check("hashes", all(len(s["sha256"]) == 64 for s in about["subject_list"]))
check("coverage", (np.asarray(nib.load("a/coverage.nii.gz").dataobj) == 19 * inside).all())
check("codes", int(mask.header["sform_code"]) == 2 and int(mask.header["qform_code"]) == 2)

# the same from a folder, a list, a pattern, a BIDS pattern: same bits, whatever the threads
open("list.txt", "w").write("# images\n" + "".join(f"img/{i}_T1w.nii.gz\r\n" for i in sorted(ids)))
for k, words in enumerate([["img"], ["list.txt"], ["img/*_T1w.nii.gz"], ["--nthreads", "1", "img"],
                           ["--nthreads", "7", "img"], ["--mem", "64M", "img"],
                           sorted(f"img/{i}_T1w.nii.gz" for i in ids)]):
    run(*words, "--participants", "people.tsv", "-o", f"b{k}")
    about, y, rows = load(f"b{k}")
    check(f"{words} ids", [r[0] for r in rows[1:]] == sorted(ids))
    check(f"{words} ages", all(int(r[1]) == 20 + order.index(r[0]) for r in rows[1:]))
    check(f"{words} values", (y == x[:, [order.index(i) for i in sorted(ids)]]).all())
run("people.tsv", "--pattern", "img/sub-{participant_id}_T1w.nii.gz", "-o", "c")
check("pattern", (load("c")[1] == x).all())

# --mem is kept: what survives in memory from the survey, what is read twice, and what one 4D image
# holds are the same bits
SHAPE = (90, 90, 90)
for k in range(30):
    save(rng.normal(100, 5, SHAPE), f"large/s{k:02d}.nii", dtype="f4")
series = np.stack([np.asarray(nib.load(f"large/s{k:02d}.nii").dataobj) for k in range(30)], 3)
save(series, "series.nii")
open("series.tsv", "w").write("participant_id\n" + "".join(f"s{k:02d}\n" for k in range(30)))
whole = {}
for name, words in [("m1", ["large", "--mem", "64M", "--nthreads", "1"]), ("m2", ["large"]),
                    ("m3", ["series.nii", "--rows", "series.tsv"])]:
    # a small process in between: a child's peak begins with that of who started it
    p = subprocess.run([sys.executable, "-c", "import resource, subprocess, sys\n"
                        "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
                        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)",
                        "voxsift", "cohort", *words, "--mask-fraction", "0.5", "-o", name, "-q"],
                       capture_output=True, text=True)
    check(f"{name} made", p.returncode == 0, p.stderr)
    whole[name] = load(name)[1]
    if name == "m1":
        check("--mem 64M is kept", int(p.stdout) < 64 * 1024, f"{p.stdout} kB")
check("in blocks", (whole["m1"] == series.transpose(2, 1, 0, 3).reshape(-1, 30)).all())
check("at once", (whole["m1"] == whole["m2"]).all() and (whole["m1"] == whole["m3"]).all())
SHAPE = (12, 10, 9)
shutil.rmtree("large")
os.remove("series.nii")

# voxels that are the same in everybody are counted
for k in range(5):
    flat_one = data[ids[k]] * (np.indices(SHAPE)[1] != 4) + 7.5 * (np.indices(SHAPE)[1] == 4)
    flat_one[:, 5] *= k > 2
    save(flat_one, f"const/s{k}.nii")
save(np.indices(SHAPE)[0] > 1, "wide.nii", dtype="u1")
out, err = run("const", "--mask", "wide.nii", "-o", "const_made")
about, y, rows = load("const_made")
constant = int((y == y[:, :1]).all(1).sum())
check("constant voxels", about["constant_voxels"] == constant > 90, (about["constant_voxels"], constant))
out, err = run("const", "--mask-fraction", "0", "-o", "const_found")
check("constant voxels warned of", "have the same value in every image" in err or constant == 0, err)

# ids are forgiven prefix, zeros, blanks, case; who does not match is named
with open("odd.tsv", "wb") as f:
    f.write(b"\xef\xbb\xbfparticipant_id \tgroup\r\n" + b"".join(
        f"{int(i[4:])} \t{'A' if k % 2 else 'B'}\r\n".encode() for k, i in enumerate(ids[:-1])) + b"SUB-99\tA\r\n")
out, err = run("img", "--participants", "odd.tsv", "-o", "d", code=65)
check("unmatched image named", "cannot use 'sub-19': the table has no such id" in err, err)
check("unmatched row named", "left out 'SUB-99': line 20 of the table has no image" in err, err)
run("img", "--participants", "odd.tsv", "--drop-bad", "-o", "d")
about, y, rows = load("d")
check("one dropped", about["dropped"] == 1 and about["dropped_list"][0]["id"] == "sub-19")
check("groups", [r[1] for r in rows[1:]] == ["A" if k % 2 else "B" for k in range(18)])

# a given mask, fractions, scaling, smoothing
ref = inside & (np.indices(SHAPE)[2] > 5)
save(inside & (np.indices(SHAPE)[0] > 4), "half.nii.gz", dtype="u1")
save(ref, "ref.nii.gz", dtype="u1")
half = np.asarray(nib.load("half.nii.gz").dataobj) > 0
run("people.tsv", "--image-column", "image", "--mask", "half.nii.gz", "-o", "e")
check("given mask", (load("e")[1] == np.stack([flat(data[i], half) for i in order], 1)).all())
for way, f in [("global", lambda v: v / v[half].mean()), ("suvr", lambda v: v / v[ref].mean()),
               ("z", lambda v: (v - v[half].mean()) / v[half].std(ddof=1))]:
    run("people.tsv", "--image-column", "image", "--mask", "half.nii.gz", "--scale", way,
        *(["--reference", "ref.nii.gz"] if way == "suvr" else []), "-o", "f", "--force")
    about, y, rows = load("f")
    want = np.stack([flat(f(data[i].astype(float)), half) for i in order], 1)
    check(f"scale {way}", np.allclose(y, want, rtol=1e-6, atol=1e-6), abs(y - want).max())
    check(f"scale {way} recorded", about["preprocessing"]["scale"] == way and all(
        s["factor"] != 1 for s in about["subject_list"]))
sd = 6 / 2.3548200450309493 / 3
run("people.tsv", "--image-column", "image", "--mask", "half.nii.gz", "--smooth", "6", "-o", "g")


def blur(v):
    for axis in range(3):
        n = v.shape[axis]
        w = np.exp(-0.5 * (np.subtract.outer(range(n), range(n)) / sd) ** 2)
        w[abs(np.subtract.outer(range(n), range(n))) > np.ceil(4 * sd)] = 0
        v = np.moveaxis(np.tensordot(w, v, (1, axis)), 0, axis)
    return v


want = np.stack([flat(blur(data[i] * half) / np.maximum(blur(half * 1.0), 1e-300), half) for i in order], 1)
check("smooth", np.allclose(load("g")[1], want, rtol=1e-5))
sparse = {i: (rng.random(SHAPE) < 0.3).astype("f4") for i in ids}
for i in ids:
    save(sparse[i], f"lesion/{i}.nii.gz")
count = sum(sparse.values())
run("lesion", "--mask-fraction", "0.25", "-o", "h")
check("fraction", (np.asarray(nib.load("h/mask.nii.gz").dataobj) == (count >= 0.25 * 19)).all())

# regions, larger voxels, another grid
labels = (np.indices(SHAPE)[1] // 4 + 1) * inside * 10
save(labels, "atlas.nii.gz", dtype="f4")
open("atlas.txt", "w").write("10 front part\n20 middle\n30 back\n")
run("people.tsv", "--image-column", "image", "--atlas", "atlas.nii.gz", "--regions", "-o", "i")
want = np.stack([[data[i][labels == v].mean(dtype=float) for v in (10, 20, 30)] for i in order], 1)
check("regions", np.allclose(load("i")[1], want, rtol=1e-6))
check("region names", open("i/regions.tsv").read().split("\n")[1].startswith("front part\t10\t"))
open("shared.txt", "w").write("10 part\n20 middle\n30 part\n")
run("people.tsv", "--image-column", "image", "--atlas", "atlas.nii.gz", "--atlas-names", "shared.txt", "--regions", "-o", "i4")
check("names of their own", [line.split("\t")[0] for line in open("i4/regions.tsv").read().splitlines()[1:]] ==
      ["part (label 10)", "middle", "part (label 30)"])
more = labels.copy()
more[~inside] = 40 * (np.indices(SHAPE)[2] > 4)[~inside]
save(more, "more.nii.gz", dtype="f4")
out, err = run("people.tsv", "--image-column", "image", "--atlas", "more.nii.gz", "--atlas-names", "atlas.txt", "--regions", "-o", "i2")
check("a region outside", "left out region 'label 40' of 'more.nii.gz': it has no voxel in the mask" in err, err)
check("is left out", np.array_equal(load("i2")[1], load("i")[1]) and np.array_equal(
    np.asarray(nib.load("i2/regions.nii.gz").dataobj), np.asarray(nib.load("i/regions.nii.gz").dataobj)))
save(np.where(inside, 0, more), "outside.nii.gz", dtype="f4")
out, err = run("people.tsv", "--image-column", "image", "--atlas", "outside.nii.gz", "--atlas-names", "atlas.txt", "--regions", "-o", "i3", code=65)
check("no region is left", "no region of 'outside.nii.gz' has a voxel in the mask" in err, err)
run("people.tsv", "--image-column", "image", "--voxel-size", "6", "--mask-fraction", "0", "-o", "j")
about, y, rows = load("j")
big = nib.load("j/mask.nii.gz")
check("larger voxels", big.shape == (6, 5, 5) and np.allclose(nib.affines.voxel_sizes(big.affine), 6))
image = np.zeros(big.shape)
image.T[np.asarray(big.dataobj).T > 0] = y[:, 0]
block = data[order[0]][:, :, :8].reshape(6, 2, 5, 2, 4, 2).mean((1, 3, 5))
flipped = data["sub-03"][::-1]
save(flipped, "other/sub-03.nii.gz", AFFINE @ nib.affines.from_matvec(np.diag([-1, 1, 1]), [SHAPE[0] - 1, 0, 0]))
for i in ids[3:9]:
    save(data[i], f"other/{i}.nii.gz")
run("other", "-o", "k", code=65)
run("other", "--resample", "--mask", "half.nii.gz", "-o", "k")
check("a flipped image comes back", np.allclose(load("k")[1][:, 0], flat(data["sub-03"], half), rtol=1e-5))

# NaN
holes = data["sub-05"].copy()
holes[5, 5, 5], holes[6, 5, 5] = np.nan, np.inf
for i in ids[:9]:
    save(holes if i == "sub-05" else data[i], f"nan/{i}.nii.gz")
out, err = run("nan", "--mask", "half.nii.gz", "-o", "l")
check("NaN counted", "has 2 NaN or infinite values inside the mask, 0 outside; they count as 0" in err, err)
check("NaN as 0", (load("l")[1][:, 4] == flat(np.nan_to_num(holes, nan=0, posinf=0), half)).all())
run("nan", "--mask", "half.nii.gz", "--nan", "drop", "-o", "m")
check("NaN dropped", load("m")[0]["features"] == half.sum() - 2)
run("nan", "--mask", "half.nii.gz", "--nan", "error", "-o", "n", code=65)
# on another grid the voxels that a gap contributes to are dropped as well, and in the reference of SUVR
for i in ids[:9]:
    save(holes if i == "sub-05" else data[i], f"coarse/{i}.nii.gz")
run("coarse", "--voxel-size", "6", "--nan", "drop", "-o", "m6")
run("coarse", "--voxel-size", "6", "-o", "z6")
kept, zero = (nib.load(f"{k}/mask.nii.gz").get_fdata() > 0 for k in ("m6", "z6"))
at = nib.affines.apply_affine(np.linalg.inv(nib.load("z6/mask.nii.gz").affine), nib.affines.apply_affine(AFFINE, [[5, 5, 5], [6, 5, 5]]))
lost = np.argwhere(zero & ~kept)
check("NaN dropped on another grid", 0 < len(lost) <= 16 and not (kept & ~zero).any()
      and all((abs(lost - a).max(1) <= 1).any() for a in at) and all((abs(at - v).max(1) < 1).any() for v in lost), (at, lost))
region = inside.copy()
region[:7] = 0
region[5:7, 5, 5] = 1
save(region, "region.nii.gz")
rest = region & ~np.isin(np.arange(SHAPE[0]), [5, 6])[:, None, None]
for way, where in (("drop", rest), ("zero", region)):
    out, err = run("nan", "--mask", "half.nii.gz", "--nan", way, "--scale", "suvr", "--reference", "region.nii.gz", "-o", "s-" + way)
    filled = np.nan_to_num(holes, nan=0, posinf=0)
    masked = half & (np.isfinite(holes) | (way == "zero"))
    check(f"SUVR, {way}", np.allclose(load("s-" + way)[1][:, 4], flat(filled, masked) / filled[where > 0].mean(), rtol=1e-5))
check("NaN counted in the reference", "(2 in the reference region)" in err, err)
save(np.stack([half, half], 3), "two.nii.gz")
check("one mask", "it has 2 volumes" in run("nan", "--mask", "two.nii.gz", "-o", "n", code=65)[1])

# volumes of one image, with and without a header in the rows
stack = np.stack([data[i] for i in ids[:6]], 3)
save(stack, "bold.nii.gz")
open("rows.txt", "w").write("".join(f"{c} {r}\n" for c, r in zip("abcabc", "001122")))
run("bold.nii.gz", "--rows", "rows.txt", "--row-names", "condition,run", "--mask", "half.nii.gz", "-o", "o")
about, y, rows = load("o")
check("volumes", (y == np.stack([flat(stack[..., k], half) for k in range(6)], 1)).all())
check("rows", rows[0] == ["volume_id", "condition", "run"] and rows[4] == ["volume-000004", "a", "1"], rows[:5])

# features without images
table = rng.normal(size=(5, 3))
table[2, 1] = np.nan
with open("t.tsv", "w") as f:
    f.write("participant_id\tthick\tarea\tvol\n" + "".join(
        f"s{k}\t" + "\t".join("n/a" if np.isnan(v) else repr(v) for v in r) + "\n" for k, r in enumerate(table.tolist())))
run("--feature-table", "t.tsv", "-o", "p")
check("features", np.allclose(load("p")[1], np.nan_to_num(table).T.astype("f4")))
check("names", open("p/features.tsv").read() == "feature\nthick\narea\nvol\n")
run("--feature-table", "t.tsv", "--nan", "drop", "-o", "q")
check("features dropped", np.allclose(load("q")[1], table[:, [0, 2]].T.astype("f4")))
np.save("x.npy", np.asfortranarray(rng.normal(size=(4, 6))))
open("r.tsv", "w").write("participant_id\ty\n" + "".join(f"p{k}\t{k}\n" for k in range(4)))
run("--npy", "x.npy", "--rows", "r.tsv", "-o", "r")
check("npy", (load("r")[1] == np.load("x.npy").T.astype("f4")).all())
open("x.svm", "w").write("+1 1:0.5 4:-2 # note\n\n-1 2:1e-3\n1\n")
run("--svmlight", "x.svm", "-o", "s")
check("svmlight", (load("s")[1] == np.array([[.5, 0, 0], [0, 1e-3, 0], [0, 0, 0], [-2, 0, 0]], "f4")).all())
check("targets", [r[1] for r in load("s")[2]] == ["target", "1", "-1", "1"])

# svmlight text with few values: sparse, and the same numbers; whatever the order in a line
x = ((rng.random((40, 90)) < 0.1) * rng.normal(size=(40, 90))).astype("f4")
x[:, 3], x[:, 60:80], x[7] = 0.1, 0, 0
x[0, 89] = 2


def lines(x, shuffle=False):
    for row in x:
        pairs = [f"{j + 1}:{v!r}" for j, v in enumerate(row.tolist()) if v != 0 or (shuffle and j % 7 == 0)]
        yield f"{row[np.isfinite(row)].sum():.3f} qid:4 " + " ".join(rng.permutation(pairs) if shuffle else pairs) + " # note\r\n"


open("few.svm", "w", newline="").write("# a title\n" + "".join(lines(x, shuffle=True))[:-2])
out, err = run("--svmlight", "few.svm", "-o", "sp")
about, y, rows = load("sp")
check("sparse", about["features_stored"] == "sparse" and about["stored_values"] == (x != 0).sum(), about)
check("sparse values", y.shape == (90, 40) and (y == x.T).all())
check("sparse targets", [r[1] for r in rows[1:]] == [f"{float(f'{v:.3f}'):.15g}" for v in x.sum(1)], rows)
check("sparse is said", f"{(x != 0).sum()} nonzero values" in out and "sp/features.starts.npy" in out, out)
said = json.loads(run("--svmlight", "few.svm", "--dry-run", "--json")[0])
size = sum(os.path.getsize(f"sp/features.{k}.npy") for k in ("values", "rows", "starts")) - 3 * 128
check("sparse size", said["bytes"] == size and said["stored_values"] == (x != 0).sum(), (said, size))
for stored, way in [(9, "sparse"), (10, "dense")]:  # of 40 values
    z = np.zeros((4, 10), "f4")
    z.flat[rng.choice(39, stored - 1, replace=False)] = 1
    z[3, 9] = 1
    open("edge.svm", "w").write("".join(lines(z, shuffle=True)))
    run("--svmlight", "edge.svm", "-o", "edge", "--force")
    about, y, rows = load("edge")
    check(f"{stored} of 40", about["features_stored"] == way and (y == z.T).all())
open("zeros.svm", "w").write("1 1:0 5:0\n2 2:1e-60\n")
run("--svmlight", "zeros.svm", "-o", "zeros")
about, y, rows = load("zeros")
check("nothing but zeros", about["stored_values"] == 0 and y.shape == (5, 2) and not y.any())

# what float32 does not hold is missing
x[5, 11], x[9, 30], x[9, 31] = [np.inf] * 3
open("inf.svm", "w").write("".join(lines(x)).replace(":inf", ":1e39"))
out, err = run("--svmlight", "inf.svm", "-o", "sp0")
check("missing as 0", (load("sp0")[1] == np.where(np.isinf(x), 0, x).T).all() and "0 replaces 3 values that are missing or beyond float32, in " in err)
out, err = run("--svmlight", "inf.svm", "--nan", "drop", "-o", "sp1")
check("missing dropped", (load("sp1")[1] == np.delete(x, [11, 30, 31], 1).T).all() and "left out 3 of 90" in err, err)
out, err = run("--svmlight", "inf.svm", "--nan", "error", "-o", "sp2", code=65)
check("missing refused", "cannot use 'row-000010': 2 of its values are missing or beyond float32" in err, err)
run("--svmlight", "inf.svm", "--nan", "error", "--drop-bad", "-o", "sp2")
about, y, rows = load("sp2")
check("subjects left out", (y == np.delete(x, [5, 9], 0).T).all() and about["dropped"] == 2)
check("and the others' ids", [r[0] for r in rows[1:]] == [f"row-{k + 1:06d}" for k in range(40) if k not in (5, 9)])

# wide: what is not there takes no memory, and little time
open("broad.svm", "w").write("".join(
    f"{k} " + " ".join(f"{j}:1.5" for j in sorted(rng.choice(10**6, 20, replace=False) + 1)) + "\n" for k in range(300)))
p = subprocess.run([sys.executable, "-c", "import resource, subprocess, sys\n"
                    "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
                    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)",
                    "voxsift", "cohort", "--svmlight", "broad.svm", "--mem", "64M", "-o", "broad"],
                   capture_output=True, text=True)
check("a wide text", p.returncode == 0 and int(p.stdout) < 64 * 1024, (p.stdout, p.stderr))  # dense: 1.2 GB
check("its values", json.load(open("broad/cohort.json"))["stored_values"] == 6000)

# everything that is wrong with a cohort is found at once, named, and nothing is written
shutil.copytree("img", "ill")
nib.save(nib.Nifti1Image(data["sub-02"], AFFINE + [[0, 0, 0, 2], [0] * 4, [0] * 4, [0] * 4]), "ill/sub-02_T1w.nii.gz")
save(data["sub-04"][:-1], "ill/sub-04_T1w.nii.gz")
save(data["sub-06"], "ill/sub-06_T1w.nii.gz", AFFINE @ np.diag([-1, 1, 1, 1]))
packed = open("ill/sub-08_T1w.nii.gz", "rb").read()
open("ill/sub-08_T1w.nii.gz", "wb").write(packed[:-500])
shutil.copy("ill/sub-01_T1w.nii.gz", "ill/sub-10_T1w.nii.gz")
save(np.zeros(SHAPE), "ill/sub-12_T1w.nii.gz")
save(np.stack([data["sub-14"]] * 2, 3), "ill/sub-14_T1w.nii.gz")
save(data["sub-16"] * 50, "ill/sub-16_T1w.nii.gz")
out, err = run("ill", "--participants", "people.tsv", "-o", "t", code=65)
for line in ["'sub-02': the grid of 'ill/sub-02_T1w.nii.gz' (LAS) differs from that of 'ill/sub-01_T1w.nii.gz' "
             "(LAS) by 2 mm at a corner", "'sub-04': 'ill/sub-04_T1w.nii.gz' has 11 x 10 x 9 voxels",
             "'sub-06': the grid of 'ill/sub-06_T1w.nii.gz' (RAS) differs", "'sub-14': 'ill/sub-14_T1w.nii.gz' has 2 volumes",
             "4 of 19 subjects cannot be used"]:
    check(line, line in err, err)
out, err = run("ill", "--participants", "people.tsv", "-o", "t", "--drop-bad")
for line in ["left out 'sub-08': cannot read 'ill/sub-08_T1w.nii.gz': its gzip stream",
             "left out 'sub-10': 'ill/sub-10_T1w.nii.gz' is the same file as 'ill/sub-01_T1w.nii.gz' of 'sub-01'",
             "left out 'sub-12': 'ill/sub-12_T1w.nii.gz' is empty",
             "'ill/sub-16_T1w.nii.gz' is an outlier in intensity"]:
    check(line, line in err, err)
check("seven left out", load("t")[0]["dropped"] == 7, load("t")[0]["dropped"])
save(half[::-1], "mask_ras.nii.gz", AFFINE @ np.diag([-1, 1, 1, 1]), "u1")
out, err = run("img", "--mask", "mask_ras.nii.gz", "-o", "u", code=65)
check("a mask of the wrong handedness", "'mask_ras.nii.gz' as mask: its grid (RAS) differs from that of the images (LAS)" in err, err)
open("twice.tsv", "w").write("participant_id\timage\nsub-01\timg/sub-01_T1w.nii.gz\n01\timg/sub-02_T1w.nii.gz\n")
out, err = run("twice.tsv", "--image-column", "image", "-o", "u", code=65)
check("one id twice", "'sub-01' (line 2) and '01' (line 3) are the same id" in err, err)
open("gap.tsv", "w").write("participant_id\timage\nsub-01\timg/sub-01_T1w.nii.gz\nsub-02\tn/a\nsub-03\tno.nii\nsub-04\timg/sub-04_T1w.nii.gz\n")
out, err = run("gap.tsv", "--image-column", "image", "-o", "u", code=65)
check("no image named", "left out 'sub-02': the table names no image" in err, err)
check("image missing", "cannot use 'sub-03': cannot read 'no.nii': No such file" in err, err)
check("nothing was written", not os.path.exists("u"))
out, err = run("img", "--dry-run", "--json")
check("dry run", json.loads(out)["voxels"] == inside.sum() and json.loads(out)["subjects"] == 19)
n = sum((inside[s] & inside[e]).sum() for s, e in [
    (np.s_[1:], np.s_[:-1]), (np.s_[:, 1:], np.s_[:, :-1]), (np.s_[:, :, 1:], np.s_[:, :, :-1])])
check("edges", json.loads(out)["edges"] == n)
finish()
