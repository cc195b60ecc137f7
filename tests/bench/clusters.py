#!/usr/bin/env python3
"""Stability selection on voxels and on clusters of them, where the truth is known: clusters.py BUILD FOLDER [COHORTS].

Cohorts of smooth noise, 20 x 20 x 20 voxels of 2 mm with three spheres of 33 voxels on which a score depends; a null is the
same cohort with its scores in another order. Seeds are the numbers of cohorts. docs/benchmarks.md has the table.

hit        spheres of which a stable voxel is one
covered    share of the voxels of the spheres that are stable
outside    share of the stable voxels that are farther from a sphere than the spatial tolerance (voxels: than 0 mm)
wrong      stable voxels or clusters that touch no sphere, the mean of a cohort; the bound is 1 (--wrong)
nulls      in how many nulls something is stable, and how many features are, the mean of a null"""
import csv
import json
import os
import shutil
import subprocess
import sys

build, folder, cohorts = os.path.abspath(sys.argv[1]), sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 20
os.environ.update(PATH=build + os.pathsep + os.environ["PATH"], OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
os.makedirs(folder, exist_ok=True)
os.chdir(folder)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import numpy as np  # noqa: E402


def voxsift(*words):
    return subprocess.run(["voxsift", *map(str, words)], capture_output=True, text=True, check=True).stdout


def image(path):
    import gzip
    import struct
    raw = gzip.open(path).read()
    kind = {2: "<u1", 4: "<i2", 8: "<i4", 16: "<f4", 64: "<f8"}[struct.unpack_from("<h", raw, 70)[0]]
    shape = struct.unpack_from("<3h", raw, 42)
    return np.frombuffer(raw, kind, int(np.prod(shape)), int(struct.unpack_from("<f", raw, 108)[0])).reshape(shape, order="F")


def spheres(truth):
    """Labels 1, 2, 3 of connected voxels that share a face."""
    label = np.zeros(truth.shape, int)
    for start in map(tuple, np.argwhere(truth != 0)):
        if label[start]:
            continue
        count, left = label.max() + 1, [start]
        label[start] = count
        while left:
            at = left.pop()
            for d in range(3):
                for s in (-1, 1):
                    to = tuple(a + s * (k == d) for k, a in enumerate(at))
                    if min(to) >= 0 and all(t < m for t, m in zip(to, truth.shape)) and truth[to] and not label[to]:
                        label[to] = count
                        left.append(to)
    return label


def permute_scores(seed):
    shutil.rmtree("null", ignore_errors=True)
    shutil.copytree("s", "null")
    rows = list(csv.DictReader(open("s/participants.tsv"), delimiter="\t"))
    order = np.random.default_rng(seed).permutation(len(rows))
    with open("null/participants.tsv", "w") as f:
        w = csv.DictWriter(f, rows[0].keys(), delimiter="\t", lineterminator="\n")
        w.writeheader()
        w.writerows({**r, "score": rows[k]["score"]} for r, k in zip(rows, order))


def select(cohort, *more):
    voxsift("stability", cohort, "--target", "score", *more, "--nthreads", "2", "-q", "-o", "out", "--force")
    return json.load(open("out/stability.json"))


def wrong_ones(about, label):
    stable = image("out/stable.nii.gz") > 0
    if about["counted"] == "features":
        return int((stable & (label == 0)).sum())
    own = image("out/regions.nii.gz")
    return sum(not label[own == k].any() for k in np.unique(own[stable]))


print("| subjects | smooth | counted | hit, of 3 | all 3 | covered | outside | wrong | nulls | features in a null | tolerance |")
print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
for subjects in (100, 200):
    for smooth in (4, 8):
        found = {way: [] for way in ("voxels", "clusters")}
        for seed in range(1, cohorts + 1):
            voxsift("simulate", "spheres", "--shape", "20,20,20", "--radius", 2, "--smooth", smooth, "--subjects", subjects,
                    "--seed", seed, "-q", "-o", "s", "--force")
            label = spheres(image("s/truth.nii.gz"))
            permute_scores(seed)
            for way, more in (("voxels", ()), ("clusters", ("--clusters", "150"))):
                about = select("s", *more)
                stable = image("out/stable.nii.gz") > 0
                matched = json.loads(voxsift("match", "out/stable.nii.gz", "s", "--tolerance", about.get("tolerance_mm", 0), "--json"))
                outside = 1 - matched["volumes"][0]["precision"] if stable.any() else np.nan
                row = [len(np.unique(label[stable & (label > 0)])), stable[label > 0].mean(), outside, wrong_ones(about, label)]
                null = select("null", *more)
                found[way].append(row + [null["selected"], about.get("tolerance_mm", np.nan)])
        for way, rows in found.items():
            hit, covered, outside, wrong, null, tolerance = np.array(rows, float).T
            far = np.nanmean(outside) if np.isfinite(outside).any() else np.nan
            print(f"| {subjects} | {smooth} mm | {way} | {hit.mean():.2f} | {int((hit == 3).sum())} of {cohorts} | {covered.mean():.2f} | {far:.2f} | "
                  f"{wrong.mean():.2f} | {int((null > 0).sum())} of {cohorts} | {null.mean():.2f} | {0 if way == "voxels" else tolerance.mean():.1f} mm |", flush=True)
