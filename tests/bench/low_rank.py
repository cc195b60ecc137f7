"""Kernels of low rank beside the kernel itself: a Gaussian kernel of 20 features, classes by a curved boundary in seven of them;
processor seconds and memory of one fit (path), of a calibrated model (fit), and the AUC of 5,000 other subjects by that model.

low_rank.py BUILD FOLDER [SIZES], SIZES of 10000 and 40000; with 40000 of the kernel itself one fit alone."""
import json
import os
import resource
import subprocess
import sys

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np

build, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
sizes = [int(k) for k in (sys.argv[3:] + [""])[0].split(",") if k] or [10000]
P, HELD, MOST = 20, 5000, 20000
os.makedirs(folder, exist_ok=True)
os.chdir(folder)
measured = ("import resource, subprocess, sys; p = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, text=True);"
            "r = resource.getrusage(resource.RUSAGE_CHILDREN); print(r.ru_utime + r.ru_stime, r.ru_maxrss / 1e6); print(p.stdout)")


def run(*words):
    p = subprocess.run([sys.executable, "-c", measured, build + "/voxsift", *words], stdout=subprocess.PIPE, text=True, check=True)
    first, rest = p.stdout.split("\n", 1)
    return *map(float, first.split()), rest


def make(name, n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, P)).astype("f4")
    curve = np.sin(1.5 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2 + 0.7 * X[:, 4] + 0.5 * np.cos(X[:, 5] + X[:, 6])
    y = curve + 0.3 * rng.normal(size=n) > 0.75
    np.save(name + ".npy", X)
    with open(name + ".tsv", "w") as f:
        f.write("participant_id\tclass\n" + "".join(f"{name}{i:05}\t{'b' if v else 'a'}\n" for i, v in enumerate(y)))
    run("cohort", "--npy", name + ".npy", "--rows", name + ".tsv", "-o", name, "--force", "-q")
    return y


def auc(y, p):
    order = np.argsort(p, kind="stable")
    ranks = np.empty(len(p))
    ranks[order] = np.arange(1, len(p) + 1)
    for value in np.unique(p[np.flatnonzero(np.diff(np.sort(p), prepend=np.nan) == 0)] if len(np.unique(p)) < len(p) else []):
        ranks[p == value] = ranks[p == value].mean()
    return (ranks[y].sum() - y.sum() * (y.sum() + 1) / 2) / (y.sum() * (~y).sum())


held = make("held", HELD, 2)
print("| subjects | rank | lacks of the trace | one fit, processor s | most memory, GB | gap | support vectors | calibrated model, processor s | its values, MB | AUC |")
print("| " + "--- | " * 10)
for n in sizes:
    make("seen", n, 1)
    for rank in (50, 200, 0, 1000):
        words = ["seen", "--target", "class", "--positive", "b", "--method", "svm", "--kernel", "rbf", "--C", "1", "--tol", "1e-4", "--nthreads", "1", "-q"]
        words += ["--rank", str(rank)] if rank else []
        seconds, memory, rows = run("path", *words)
        found = dict(zip(*(line.split("\t") for line in rows.strip().split("\n"))))
        gap = float(found["gap"])
        start = f"| {n:,} | {rank or 'the kernel itself'} |"
        if n > MOST and not rank:  # six fits of it take too long
            print(f"{start} 0.00 | {seconds:.1f} | {memory:.2f} | {gap:.0e} | {int(found['support_vectors']):,} | | | |", flush=True)
            continue
        whole, _, _ = run("fit", *words, "-o", "m", "--force")
        o = json.load(open("m/model.json"))["outputs"][0]
        lines = run("predict", "m", "held", "-q")[2].strip().split("\n")
        column = next(k for k, name in enumerate(lines[0].split("\t")) if name.startswith("p_") or name == "probability")
        p = np.array([float(line.split("\t")[column]) for line in lines[1:] if line])
        area = auc(held, p)
        print(f"{start} {o.get('trace_error', 0):.2f} | {seconds:.1f} | {memory:.2f} | {gap:.0e} | {o['support_vectors']:,} |"
              f" {whole:.1f} | {os.path.getsize('m/training.npy') / 1e6:.2f} | {max(area, 1 - area):.3f} |", flush=True)
