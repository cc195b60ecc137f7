"""Kernel machines beside libsvm (scikit-learn's SVC), a Gaussian kernel of 10,000 samples of 200 features, in one run:
processor seconds of one fit, of which ours has five more for calibration, and SVC with probability=True as well; the gap of
the full problem recomputed from everybody's weights; SVC's tolerance is the loosest of three whose gap is at most 1e-4.

kernel_machines.py BUILD FOLDER"""
import json
import os
import resource
import subprocess
import sys
import time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np
from sklearn.svm import SVC

build, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
N, D = 10000, 200
os.makedirs(folder, exist_ok=True)
os.chdir(folder)


def seconds_of_children():
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r.ru_utime + r.ru_stime


def voxsift(*words):
    begun = seconds_of_children()
    subprocess.run([build + "/voxsift", *words, "--nthreads", "1", "--force", "-q"], stdout=subprocess.DEVNULL, check=True)
    return seconds_of_children() - begun


def make():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(N, D)).astype("f4")
    y = np.where((X[:, :5].astype(float) ** 2).sum(1) + rng.normal(size=N) > 5, 1, -1)
    np.save("x.npy", X)
    with open("people.tsv", "w") as f:
        f.write("participant_id\tclass\n" + "".join(f"s{i:05}\t{'b' if v > 0 else 'a'}\n" for i, v in enumerate(y)))
    subprocess.run([build + "/voxsift", "cohort", "--npy", "x.npy", "--rows", "people.tsv", "-o", "c", "--force", "-q"],
                   stdout=subprocess.DEVNULL, check=True)
    X = X.astype(float)
    return X - X.mean(0), y.astype(float)


def kernel_of(X):
    square = (X**2).sum(1)
    distance = np.maximum(square[:, None] + square - 2 * X @ X.T, 0)
    upper = distance[np.triu_indices(N, 1)]
    median = np.partition(upper, len(upper) // 2)[len(upper) // 2]
    return np.exp(-distance / median, out=distance), median


def gap(K, y, a, b, C):
    f = K @ a
    norm = a @ f
    primal = norm / 2 + C * np.maximum(0, 1 - y * (f + b)).sum()
    return (primal - (np.abs(a).sum() - norm / 2)) / (2 * C * min((y > 0).sum(), (y < 0).sum()))


def svc(X, y, K, median, C):
    for tol in (1e-1, 1e-2, 1e-3):
        begun = time.process_time()
        m = SVC(C=C, gamma=1 / median, tol=tol, cache_size=2000).fit(X, y)
        seconds = time.process_time() - begun
        a = np.zeros(N)
        a[m.support_] = m.dual_coef_[0]
        found = gap(K, y, a, m.intercept_[0], C)
        if found <= 1e-4:
            break
    begun = time.process_time()
    SVC(C=C, gamma=1 / median, tol=tol, cache_size=2000, probability=True, random_state=1).fit(X, y)
    return tol, seconds, found, time.process_time() - begun


X, y = make()
K, median = kernel_of(X)
print("| C | voxsift: its solver, s | whole command, calibrated, s | its gap | support vectors | SVC: tolerance | s | its gap | calibrated, s |"
      " times, calibrated |")
print("| " + "--- | " * 10)
for C in (1, 10):
    ours = voxsift("fit", "c", "--target", "class", "--positive", "b", "--class-weights", "none", "--method", "svm",
                   "--kernel", "rbf", "--C", str(C), "--tol", "1e-4", "-o", "m")
    alpha = np.load("m/alpha.npy")[0]
    about = json.load(open("m/model.json"))["outputs"][0]
    tol, seconds, theirs, calibrated = svc(X, y, K, median, C)
    print(f"| {C} | {about['seconds']:.2f} | {ours:.1f} | {gap(K, y, alpha[:N], alpha[N], C):.0e} |"
          f" {about['support_vectors']} | {tol:g} | {seconds:.1f} | {theirs:.0e} | {calibrated:.1f} | {calibrated / ours:.1f} |",
          flush=True)
