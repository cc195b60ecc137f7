"""Images made with nibabel, in every type, byte order, version, scaling and orientation that analysts
meet: `voxsift info --json` must say what nibabel says. Runs in an empty directory."""
import itertools
import json
import subprocess
import sys

import nibabel as nib
import numpy as np
from oracle import check, finish

rng = np.random.default_rng(3)


def info(path):
    run = subprocess.run(["voxsift", "info", "-q", "--json", path], capture_output=True, text=True)
    return run.returncode, json.loads(run.stdout) if run.returncode == 0 else run.stderr


def compare(path, what):
    image = nib.load(path)
    data = np.asanyarray(image.dataobj).astype(float)
    good = data[np.isfinite(data)]
    code, said = info(path)
    check(what, code == 0, said)
    if code:
        return
    check(what + " shape", said["shape"] == list(image.shape), said["shape"])
    # quaternions are stored in single precision; the two libraries treat its last bits differently
    slack = 2e-2 if image.header["sform_code"] == 0 else 1e-5
    check(what + " affine", np.allclose(said["affine"], image.affine, rtol=1e-6, atol=slack))
    axes = "".join(nib.aff2axcodes(image.affine))
    check(what + " orientation", said["orientation"].startswith(axes), said["orientation"])
    zooms = np.sqrt((image.affine[:3, :3] ** 2).sum(0))
    check(what + " voxel size", np.allclose(said["voxel_size"], zooms, rtol=1e-5))
    check(what + " range", np.allclose([said["min"], said["max"]], [good.min(), good.max()], rtol=1e-12))
    check(what + " sum", abs(said["sum"] - good.sum()) <= 1e-9 * (1 + np.abs(good).sum()), said["sum"])
    check(what + " nonfinite", said["nonfinite"] == data.size - good.size)


def rotation(axis, degrees):
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    m = np.eye(3)
    i, j = [(1, 2), (0, 2), (0, 1)][axis]
    m[i, i], m[j, j], m[i, j], m[j, i] = c, c, -s, s
    return m


affine = nib.affines.from_matvec(np.diag([-2, 2, 2.5]), [90, -126, -72])
types = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"]
for kind, order, cls, ending in itertools.product(
        types, "<>", [nib.Nifti1Image, nib.Nifti2Image, nib.Nifti1Pair], ["", ".gz"]):
    if kind[0] == "f":
        data = rng.normal(size=(5, 4, 3)).astype(order + kind)
        data[0, 0, 0], data[1, 1, 1] = np.nan, -np.inf
    else:
        limits = np.iinfo(kind)
        data = rng.integers(max(limits.min, -2**50), min(limits.max, 2**50), (5, 4, 3)).astype(order + kind)
    header = cls.header_class(endianness=order)
    image = cls(data, affine, header, dtype=data.dtype)
    name = "x.img" if cls is nib.Nifti1Pair else "x.nii"
    image.to_filename(name + ending)
    compare(name + ending, f"{kind}{order} {cls.__name__}{ending}")
    if cls is nib.Nifti1Pair:
        compare("x.hdr" + ending, f"{kind}{order} by its header")

for slope, inter in [(2.5, -10), (-0.5, 3), (1e-3, 0), (0, 7), (np.nan, 1), (1 / 1024, 0)]:
    data = rng.integers(-500, 500, (4, 4, 4)).astype("<i2")
    image = nib.Nifti1Image(data, affine)
    image.header.set_slope_inter(slope if np.isfinite(slope) and slope else 1, inter if slope else 0)
    image.to_filename("s.nii")
    raw = bytearray(open("s.nii", "rb").read())
    raw[112:120] = np.array([slope, inter], "<f4").tobytes()
    open("s.nii", "wb").write(raw)
    compare("s.nii", f"slope {slope} inter {inter}")

# the 48 ways to store a volume, turned a little as well, by sform alone, qform alone or both
for perm in itertools.permutations(range(3)):
    for signs in itertools.product([1, -1], repeat=3):
        for turn in [0, 7]:
            matrix = np.zeros((3, 3))
            for column, row in enumerate(perm):
                matrix[row, column] = signs[column] * [2, 2.5, 3][column]
            matrix = rotation(0, turn) @ rotation(2, turn) @ matrix
            full = nib.affines.from_matvec(matrix, rng.normal(0, 50, 3))
            for forms in ["both", "s", "q"]:
                image = nib.Nifti1Image(np.ones((3, 4, 5), "u1"), None)
                image.header.set_sform(full, 4 if forms != "q" else 0)
                image.header.set_qform(full, 1 if forms != "s" else 0)
                image = nib.Nifti1Image(np.ones((3, 4, 5), "u1"), None, image.header)
                image.to_filename("o.nii")
                compare("o.nii", f"perm {perm} signs {signs} turn {turn} {forms}")
                said = info("o.nii")[1]["orientation"]
                check(f"turn {turn}", ("oblique" in said) == (turn > 0), said)

for shape in [(6,), (6, 5), (6, 5, 4), (6, 5, 4, 1), (6, 5, 4, 7), (6, 5, 4, 7, 1), (6, 5, 4, 1, 1, 1, 1)]:
    image = nib.Nifti1Image(rng.normal(size=shape).astype("f4"), affine)
    image.to_filename("d.nii.gz")
    compare("d.nii.gz", f"shape {shape}")

for data, word in [(np.zeros((2, 2, 2), "c8"), "complex"), (np.zeros((2, 2, 2), "c16"), "complex"),
                   (np.zeros((2, 2, 2), [("R", "u1"), ("G", "u1"), ("B", "u1")]), "color"),
                   (np.zeros((2, 2, 2, 1, 3), "f4"), "5 dimensions, with 3 values a voxel")]:
    nib.Nifti1Image(data, affine).to_filename("r.nii")
    code, said = info("r.nii")
    check(word, code == 65 and word in said, said)

# every beginning of a file is refused, compressed or not, and no byte of it can crash the reader
nib.Nifti1Image(rng.normal(size=(4, 4, 4)).astype("f4"), affine).to_filename("t.nii.gz")
packed = open("t.nii.gz", "rb").read()
for cut in list(range(0, len(packed), 7)) + [len(packed) - 1]:
    open("cut.nii.gz", "wb").write(packed[:cut])
    check(f"cut at {cut}", info("cut.nii.gz")[0] == 65)
finish()
