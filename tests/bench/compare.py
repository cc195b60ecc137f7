#!/usr/bin/env python3
"""How often `voxsift compare` finds a difference at 5 %, where there is none and where there is one: compare.py BUILD FOLDER
[RUNS]. 100 subjects, 5 folds; docs/benchmarks.md has the tables.

fitted    two predictions that scatter as much: these models do not differ
methods   ridge regressions on two sets of 50 features that are as good, trained in the folds: the methods do not differ,
          but the models of one sample do
units     r where predictions of the second model are 1, 2, 5 times as large, without and with a difference"""
import json
import os
import subprocess
import sys

import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, ".."), os.path.join(here, "..", "evaluate")]
from fabricate import fabricate
from oracle import write

build, folder, runs = os.path.abspath(sys.argv[1]), sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 500
N, K, Q, RIDGE = 100, 5, 50, 30.0
os.environ.update(PATH=build + os.pathsep + os.environ["PATH"], OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
os.makedirs(folder, exist_ok=True)
os.chdir(folder)
rng = np.random.default_rng(3)


def voxsift(*words):
    return subprocess.run(["voxsift", *words], capture_output=True, text=True, check=True).stdout


def template(target, values):
    write("t.tsv", {"participant_id": [f"s{i}" for i in range(N)], target: values})
    write("x.tsv", {"participant_id": [f"s{i}" for i in range(N)], "a": rng.normal(size=N), "b": rng.normal(size=N)})
    voxsift("cohort", "--feature-table", "x.tsv", "--participants", "t.tsv", "-q", "-o", "c", "--force")
    words = ["--positive", "yes"] if target == "dx" else []
    voxsift("cv", "c", "--target", target, *words, "--inner-folds", "0", "--lambda-ratio", "0.5", "--bootstraps", "100", "-q", "-o", "v", "--force")
    return json.load(open("v/cv.json"))


def deal(truth):
    order = np.lexsort((rng.random(N), truth))
    fold = np.empty(N, int)
    fold[order] = np.arange(N) % K + 1
    return fold


def compare(metric):
    return json.loads(voxsift("compare", "a", "b", "--metric", metric, "--permutations", "199", "--bootstraps", "400", "--json", "-q",
                              "--nthreads", "1"))["pairs"][0]["metrics"]


def ridge(X, y, Z):
    A = X - X.mean(0)
    return (Z - X.mean(0)) @ A.T @ np.linalg.solve(A @ A.T + RIDGE * np.eye(len(A)), y - y.mean()) + y.mean()


def trained(X, y, folds):
    s = np.empty(folds.shape)
    for r, fold in enumerate(folds):
        for k in set(fold):
            s[r, fold == k] = 2 * ridge(X[fold != k], y[fold != k], X[fold == k])
    return s


def classes(how, repeats):
    found, done = {}, 0
    for _ in range(runs):
        truth = (rng.permutation(N) < N // 2).astype(float)
        y = 2 * truth - 1
        folds = np.array([deal(truth) for _ in range(repeats)])
        common = 0.6 * y + rng.normal(size=N)
        for out in "ab":
            X = rng.normal(size=(N, Q))
            X[:, :4] += 0.35 * y[:, None]
            s = trained(X, y, folds) if how == "methods" else 0.7 * (common + rng.normal(size=N) + 0.2 * rng.normal(size=folds.shape))
            fabricate(out, of_dx, truth, folds, s)
        d = compare("all")
        done += 1
        for name, hit in (("swaps, AUC", d["auc"]["swaps"]["p"] <= 0.05), ("swaps, Brier score", d["brier"]["swaps"]["p"] <= 0.05),
                          ("swaps, accuracy", d["accuracy"]["swaps"]["p"] <= 0.05), ("DeLong", d["auc"]["delong"]["p"] <= 0.05),
                          ("interval of the AUC without 0", not d["auc"]["low"] <= 0 <= d["auc"]["high"]), ("t, AUC", (d["auc"]["t_test"]["p"] or 1) <= 0.05),
                          ("t, Brier score", (d["brier"]["t_test"]["p"] or 1) <= 0.05)):
            found[name] = found.get(name, 0) + hit
    print(f"{how}, {repeats} repeats, {done} samples: " + "; ".join(f"{k} {100 * v / done:.1f} %" for k, v in found.items()), flush=True)


def units(size, ahead):
    found = {}
    for _ in range(runs):
        truth, common = rng.normal(size=N), 0.8 * rng.normal(size=N)
        folds = deal(truth)[None]
        fabricate("a", of_score, truth, folds, ((0.6 + ahead) * truth + common + rng.normal(size=N))[None])
        fabricate("b", of_score, truth, folds, (size * (0.6 * truth + common + rng.normal(size=N)))[None])
        d = compare("r")["r"]
        for name, hit in (("swaps", d["swaps"]["p"] <= 0.05), ("interval without 0", not d["low"] <= 0 <= d["high"]), ("t", (d["t_test"]["p"] or 1) <= 0.05)):
            found[name] = found.get(name, 0) + hit
    print(f"units {size}, {'a' if ahead else 'no'} difference: " + "; ".join(f"{k} {100 * v / runs:.1f} %" for k, v in found.items()), flush=True)


of_dx = template("dx", np.where(np.arange(N) % 2, "yes", "no"))
of_score = template("score", rng.normal(size=N))
for how in ("fitted", "methods"):
    for repeats in (1, 10):
        classes(how, repeats)
for size in (1, 2, 5):
    for ahead in (0, 0.35):
        units(size, ahead)
