"""Structured kernel feature selection as in section 4.4.1 of the dissertation, beside other methods: prediction of
100 images by models of 100 others, and how much of the true region is found. For each simulation and seed five folds
of the training images choose among 10 lambdas and, for skfs, 4 smoothnesses; the simplest that is not a standard error
worse is taken, by all methods. Grids, rule and seeds were fixed on seeds 101 to 103.

  arguments: build folder, folder to work in; SKFS_SEEDS=10 SKFS_MODELS=linear,additive,nonadditive; SKFS_SIMULATE: more
  options of `voxsift simulate`, such as "--warp 1 --bias 0.02"; prints a table in Markdown"""
import json
import os
import subprocess
import sys
import time

import nibabel as nib
import numpy as np

build, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
SEEDS = int(os.environ.get("SKFS_SEEDS", "10"))
MODELS = os.environ.get("SKFS_MODELS", "linear,additive,nonadditive").split(",")
CHOOSE = ["--choose-lambda", "5", "--choose-rule", "1se", "--nlambda", "10", "--lambda-ratio", "0.05"]
METHODS = {
    "skfs": ["--method", "skfs", "--tol", "1e-4", "--laplacian", "0.01,0.1,1,10"],
    "lasso": ["--method", "lasso"],
    "fused (tree)": ["--method", "fused"],
    "hsic-lasso": ["--method", "hsic-lasso"],
}


def voxsift(*words):
    p = subprocess.run([f"{build}/voxsift", *words, "-q"], capture_output=True, text=True)
    if p.returncode not in (0, 3):
        sys.exit(p.stderr)
    return p.stdout


def table(path):
    rows = [line.rstrip("\n").split("\t") for line in open(path)]
    return {name: np.array([r[k] for r in rows[1:]], dtype=object) for k, name in enumerate(rows[0])}


def simulate(model, seed):
    """100 training images, 50 of each class, and 100 others."""
    voxsift("simulate", f"skfs-{model}", "--seed", str(seed), *os.environ.get("SKFS_SIMULATE", "").split(), "-o", "sim", "--force")
    people = table("sim/participants.tsv")
    rng = np.random.default_rng(seed)
    people["set"] = np.array(["test"] * len(people["diagnosis"]), dtype=object)
    for kind in ("negative", "positive"):
        people["set"][rng.permutation(np.flatnonzero(people["diagnosis"] == kind))[:50]] = "train"
    rows = [list(people), *zip(*people.values())]
    open("sim/participants.tsv", "w").write("".join("\t".join(r) + "\n" for r in rows))
    return people


def known_region(people, truth, mask):
    """What a linear discriminant could tell that is told where to look: the mean inside the sphere, from the data."""
    mean = np.load("sim/features.npy")[truth[mask]].mean(0)
    train, positive = people["set"] == "train", people["diagnosis"] == "positive"
    middle = (mean[train & positive].mean() + mean[train & ~positive].mean()) / 2
    return ((mean > middle) == positive)[~train].mean()


results = {}
os.chdir(folder)
for model in MODELS:
    for seed in range(1, SEEDS + 1):
        people = simulate(model, seed)
        truth = nib.load("sim/truth.nii.gz").get_fdata() != 0
        mask = nib.load("sim/mask.nii.gz").get_fdata() != 0
        results.setdefault((model, "mean of the true sphere"), []).append((known_region(people, truth.ravel(order="F"), mask.ravel(order="F")), np.nan, np.nan))
        for name, words in METHODS.items():
            start = time.time()
            voxsift("fit", "sim", "--target", "diagnosis", "--only", "set=train", *words, *CHOOSE, "-o", "m", "--force")
            took = time.time() - start
            lines = [line.split("\t") for line in voxsift("predict", "m", "sim").splitlines()]
            said = np.array([r[lines[0].index("predicted")] for r in lines[1:]])
            hit = (said == people["diagnosis"])[people["set"] == "test"].mean()
            weight = np.abs(nib.load("m/weights.nii.gz").get_fdata()).ravel()
            best = np.argsort(-weight, kind="stable")[: truth.sum()]
            found = (truth.ravel()[best] & (weight[best] > 0)).mean()  # (2 R - ME) / (2 R), of R voxels that are named
            results.setdefault((model, name), []).append((hit, found, took))
            print(model, seed, name, round(hit, 3), round(found, 3), f"{took:.1f} s", file=sys.stderr, flush=True)
print(f"| simulation | method | prediction, mean (sd) of {SEEDS} seeds | region | seconds |\n| --- | --- | --- | --- | --- |")
for (model, name), rows in results.items():
    rows = np.array(rows)
    sd = rows.std(0, ddof=1) if len(rows) > 1 else rows[0] * 0
    region = "" if np.isnan(rows[0, 1]) else f"{100 * rows[:, 1].mean():.1f} ({100 * sd[1]:.1f}) %"
    print(f"| {model} | {name} | {100 * rows[:, 0].mean():.1f} ({100 * sd[0]:.1f}) % | {region} | {'' if np.isnan(rows[0, 2]) else f'{rows[:, 2].mean():.1f}'} |")
