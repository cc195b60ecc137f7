"""The shape of Table 5.1 and Figure 5.1 of the dissertation: saiv.py BUILD FOLDER EXAMPLES [PARTS] [MUSK], parts being
some of table, path. Gaussian kernels with an intercept, all to a relative gap of 1e-5, which is recomputed here from everybody's
weights. Beside voxsift's ways scikit-learn's SVC and, if it is in PATH (Debian: libsvm-tools), svm-train, each with the loosest
of several tolerances that reaches this gap. Seconds are of the processor, one thread; those of voxsift contain the kernel, those of
svm-train reading its file. Values of the kernel: of voxsift those that its algorithm has read of the kernel, which is made as a whole;
of svm-train the calls of exp. Cells: seconds (without the kernel); steps of two weights; million values of the kernel.

MUSK: a folder with musk1_features.tsv and musk1_participants.tsv."""
import csv
import os
import re
import shutil
import subprocess
import sys
import time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import load_digits
from sklearn.svm import SVC

build, folder, examples = (os.path.abspath(p) for p in sys.argv[1:4])
parts = ((sys.argv[4] if len(sys.argv) > 4 else "") or "table,path").split(",")
musk = os.path.abspath(sys.argv[5]) if len(sys.argv) > 5 and sys.argv[5] else ""
TARGET = 1e-5
TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
WAYS = ("working-set", "screened", "saiv")
HERE = os.path.dirname(os.path.abspath(__file__))
os.makedirs(folder, exist_ok=True)
os.chdir(folder)


def curve(n, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 - 1 + 0.3 * rng.normal(size=n) > 0, 1, -1)


def blobs(n, d, seed):
    """Ten centers, five of each class, as digits are."""
    rng = np.random.default_rng(seed)
    centers, of = rng.normal(size=(10, d)), rng.integers(0, 10, n)
    return centers[of] + rng.normal(size=(n, d)) * 1.5, np.where(of > 4, 1, -1)


def noise(n, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where((X[:, :5] ** 2).sum(1) + rng.normal(size=n) > 5, 1, -1)


def digits():
    d = load_digits()
    return d.data, np.where(d.target > 4, 1, -1)


def musk1():
    values = {r[0]: r[1:] for r in csv.reader(open(musk + "/musk1_features.tsv"), delimiter="\t")}
    people = list(csv.DictReader(open(musk + "/musk1_participants.tsv"), delimiter="\t"))
    X = np.array([values[p["participant_id"]] for p in people], float)
    return X, np.where(np.array([float(p["label"]) for p in people]) > 0, 1, -1)


def voxels():
    """T1w intensities around lesioned and other voxels of the shipped people."""
    table = examples + "/arc/participants.tsv"
    subprocess.run([build + "/voxsift", "patches", table, "--image-column", "t1w", "--label-column", "lesion", "--label-threshold",
                    "0.5", "--patch", "3", "--per-class", "20", "--seed", "1", "-o", "voxels.c", "--force", "-q"],
                   stdout=subprocess.DEVNULL, check=True)
    rows = list(csv.DictReader(open("voxels.c/participants.tsv"), delimiter="\t"))
    X = np.load("voxels.c/features.npy")
    return (X if X.shape[0] == len(rows) else X.T), np.where(np.array([float(r["lesion"]) for r in rows]) > 0, 1, -1)


DATA = {"simulated curve": lambda: curve(5000, 2, 1), "simulated clusters, as USPS": lambda: blobs(7291, 256, 2),
        "simulated clusters, as Vehicle": lambda: blobs(746, 18, 3), "simulated noise": lambda: noise(2000, 200, 4),
        "digits, > 4": digits, "ARC voxels": voxels} | ({"musk1, vectors": musk1} if musk else {})


def put(name, X, y):
    """Writes the folder that saiv_ways reads, and the text that svm-train reads; both hold the same floats."""
    X = np.asarray(X, "f4")
    X = X - X.mean(0)
    scale = X.std()
    X = np.array([[float(f"{v:.7g}") for v in r] for r in X / (scale if scale > 0 else 1)], "f4")
    n, p = X.shape
    place = re.sub(r"\W+", "-", name)
    os.makedirs(place, exist_ok=True)
    np.array([n, p, 0], "u8").tofile(place + "/size")
    np.asarray(y, "f8").tofile(place + "/y")
    X.T.copy().tofile(place + "/columns")
    with open(place + "/text", "w") as f:
        for r, v in zip(X, y):
            f.write(f"{v} " + " ".join(f"{j + 1}:{x:.8g}" for j, x in enumerate(r)) + "\n")
    some = np.random.default_rng(0).choice(n, min(n, 2000), replace=False)
    d = pdist(X[some].astype(float), "sqeuclidean")
    return place, X.astype(float), y, 1 / np.median(d[d > 0])


def gap_of(f, square, dual, y, b, C):
    primal = square / 2 + C * np.maximum(0, 1 - y * (f + b)).sum()
    return (primal - (dual - square / 2)) / (2 * C * min((y > 0).sum(), (y < 0).sum()))


def gap_of_weights(K, y, a, b, C):
    f = K @ a
    return gap_of(f, a @ f, np.abs(a).sum(), y, b, C)


def ways(place, way, start, gamma, costs):
    """Seconds of the kernel, and a row for each C."""
    out = subprocess.run([build + "/saiv_ways", place, way, start, repr(float(gamma)), str(TARGET), *[repr(float(c)) for c in costs]],
                         capture_output=True, text=True, check=True).stdout.split("\n")
    names = "C seconds rounds steps members columns support before after of gap converged".split()
    return float(out[0]), [dict(zip(names, map(float, line.split()))) for line in out[1:] if line]


def svc(X, y, K, gamma, C):
    for tol in TOLERANCES:
        begun = time.process_time()
        m = SVC(C=C, gamma=gamma, tol=tol, cache_size=2000).fit(X, y)
        seconds = time.process_time() - begun
        a = np.zeros(len(y))
        a[m.support_] = m.dual_coef_[0]
        gap = gap_of_weights(K, y, a, m.intercept_[0], C)
        if gap <= TARGET:
            break
    return seconds, int(np.ravel(m.n_iter_)[0]), gap, len(m.support_)


def read_model(name, X, gamma):
    """f, |w|^2 and sum |a| of svm-train's model, and b."""
    lines = open(name).read().split("\n")
    at = lines.index("SV")
    head = dict(line.split(" ", 1) for line in lines[:at] if " " in line)
    sign = 1 if head["label"].split()[0] == "1" else -1
    rows = [line.split() for line in lines[at + 1:] if line]
    a = sign * np.array([float(r[0]) for r in rows])
    V = np.zeros((len(rows), X.shape[1]))
    for i, r in enumerate(rows):
        for entry in r[1:]:
            j, v = entry.split(":")
            V[i, int(j) - 1] = float(v)
    f = np.exp(-gamma * cdist(X, V, "sqeuclidean")) @ a
    square = a @ np.exp(-gamma * cdist(V, V, "sqeuclidean")) @ a
    return f, square, np.abs(a).sum(), -sign * float(head["rho"]), len(rows)


def train(place, X, y, gamma, C, shrinking):
    counting = dict(os.environ, LD_PRELOAD=os.path.join(folder, "exp_count.so"))
    for tol in TOLERANCES:
        words = ["svm-train", "-s", "0", "-t", "2", "-g", repr(float(gamma)), "-c", repr(float(C)), "-e", str(tol), "-m", "2000",
                 "-h", str(int(shrinking)), place + "/text", "model"]
        out = open("out.txt", "w")
        process = subprocess.Popen(words, stdout=out, stderr=subprocess.STDOUT)
        _, code, used = os.wait4(process.pid, 0)
        if code:
            sys.exit(open("out.txt").read())
        f, square, dual, b, support = read_model("model", X, gamma)
        gap = gap_of(f, square, dual, y, b, C)
        if gap <= TARGET:
            break
    said = open("out.txt").read()
    words[-1] = "model2"
    counted = subprocess.run(words, env=counting, capture_output=True, text=True, check=True).stderr
    values = int(re.search(r"exp: (\d+)", counted)[1]) if "exp: " in counted else None
    return used.ru_utime + used.ru_stime, int(re.findall(r"#iter = (\d+)", said)[-1]), gap, support, values


def row(*cells):
    print("| " + " | ".join(str(c) for c in cells) + " |", flush=True)


def values_read(r, n):
    """Columns of some, and the values of members with each other."""
    return r["columns"] * n + r["members"] * (r["members"] - r["columns"])


def cell(seconds, steps, values, more=""):
    return f"{seconds:.3f}{more}; {steps}" + (f"; {values / 1e6:.3g}" if values else "")


def compare(name, X, y, place, gamma, peer):
    n = len(y)
    K = np.exp(-gamma * cdist(X, X, "sqeuclidean"))
    for C in (1, 100):
        cells, gaps = [], []
        for way in WAYS:
            kernel, rows = ways(place, way, "cold", gamma, [C])
            r = rows[0]
            a = np.fromfile(place + "/w")
            gaps.append(gap_of_weights(K, y, a[:-1], a[-1], C))
            cells.append(cell(kernel + r["seconds"], int(r["steps"]), values_read(r, n), f" ({r['seconds']:.3f})"))
        for shrinking in (True, False) if peer else ():
            s, steps, gap, _, values = train(place, X, y, gamma, C, shrinking)
            cells.append(cell(s, steps, values))
            gaps.append(gap)
        s, steps, gap, support = svc(X, y, K, gamma, C)
        row(name, f"{n} x {X.shape[1]}", C, support, f"{n * n / 1e6:.3g}", *cells, cell(s, steps, 0), f"{max([*gaps, gap]):.0e}")


def follow(name, X, y, place, gamma):
    """Figure 5.1: seconds against how many C are in [0.01, 500]."""
    for count in (5, 10, 20, 40, 80, 160):
        costs = np.geomspace(0.01, 500, count)
        cells = []
        for way, start in (("working-set", "cold"), ("saiv", "cold"), ("working-set", "warm"), ("screened", "warm"), ("saiv", "warm")):
            if way == "saiv" and count > 10:
                cells.append("")
                continue
            _, rows = ways(place, way, start, gamma, costs)
            late = sum(r["gap"] > TARGET * 1.001 for r in rows)
            cells.append(f"{sum(r['seconds'] for r in rows):.2f}" + (f" ({late} above the gap)" if late else ""))
            if way == "screened":
                cells.append(f"{100 * np.mean([r['before'] / r['of'] for r in rows]):.0f} %")
        row(name, count, *cells)


peer = shutil.which("svm-train")
if peer:
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-D_GNU_SOURCE", "-fno-builtin", "-shared", "-fPIC", "-o",
                    os.path.join(folder, "exp_count.so"), HERE + "/exp_count.c", "-ldl"], check=True)
made = {}
for name in DATA:
    made[name] = put(name, *DATA[name]())
if "table" in parts:
    peers = ["svm-train", "svm-train, no shrinking"] if peer else []
    row("data", "samples x features", "C", "support vectors", "kernel, million values", *WAYS, *peers, "SVC", "largest gap")
    row(*["---"] * (10 + len(peers)))
    for name, (place, X, y, gamma) in made.items():
        compare(name, X, y, place, gamma, peer)
if "path" in parts:
    row("data", "values of C", "working-set, cold, s", "saiv, cold", "working-set, warm", "screened, warm",
        "decided before a fit", "saiv, warm")
    row(*["---"] * 8)
    for name in ("simulated curve", "digits, > 4"):
        place, X, y, gamma = made[name]
        follow(name, X, y, place, gamma)
