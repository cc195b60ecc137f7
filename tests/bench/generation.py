"""Feature generation on the synthetic data of its papers, beside liblinear's l1 solvers in the same run: generation.py
BUILD FOLDER [MATRICES]. FGM_PARTS: some of small, exact, descent, large, wide, tall, groups, leukemia; FGM_DRAW=1: tables and
figures of what is there already. build/generation makes the data in memory, calls the methods, and counts.

Settings, made before any result on these data was seen. Seed 1 everywhere; one thread; seconds of the processor, of
liblinear those of train() alone, most of which go into turning its rows into columns (its first row here, C = 1e-9,
selects nothing and takes just that). All features are N(0, 1) as float32, labels the sign of Xw. mslr is by
--solver proximal-gradient, and the same by --solver coordinate-descent, which is the paper's, where the part says so.

small   FGM paper 8.2.2, Fig. 2: 4,096 x 4,096, 300 weights U(0, 1), 4,096 test rows; fgm with squared hinge and
        logistic loss, C = 10, T = 10, B = 2, 4 ... 60, inexact (inner tolerance 1e-3); retrained with C = 20
exact   8.2.1: B = 10, 30, 50 with inner tolerances 1e-3 and 1e-6
descent the data of small: mslr by descent beside gradients, r = 2, 5, 10
large   8.2.3, Fig. 3: 8,192 x 65,536, otherwise as small; B = 4, 8 ... 60
wide    MSLR paper IV-A, Fig. 3: 5,000 x 100,000, 300 weights N(0, 2), 2,000 test rows; mslr, C = 10, T = 10, r = 4,
        8 ... 40, retrained with C = 5; fgm with logistic loss is the same problem here, where nobody has an intercept
tall    Fig. 4: 20,000 x 10,000, 600 weights N(0, 10), 2,000 test rows, r = 4, 8 ... 60,
        otherwise as wide (until a first run r ended at 40 here, short of the number of true features)
groups  FGM paper 8.6.1, Fig. 15: 4,096 x 400,000 in 40,000 groups of 10, of which 100 have weights N(0, 1), 2,000 test
        rows; columns are made anew whenever they are read; fgm with logistic loss, C = 10, B = 2, 5, 8, 10, a point a
        round. liblinear has no groups, and 400,000 columns would not fit
leukemia  MSLR paper IV-B, Fig. 6: 38 samples to learn from and 34 to predict, 7,129 genes; MATRICES has
        leukemia_train.svm and leukemia_test.svm. Samples to mean 0 and variance 1, then voxsift's defaults (genes
        likewise over what is learned from, C = 10, retrained with C = 5) with r = 2 and T = 1 ... 10; beside it the lasso
        with logistic loss on the same cohorts. Added when that gave 91.2 percent at most: genes scaled over all 72 samples, as
        those are said to be that the paper used (libsvm's data sets), with --standardize none, the rest being the same

liblinear's C are in equal ratios, chosen by how many features they select with seed 1001 (large: from the paper's
ranges), so that these counts span the others'; its default tolerance (0.01)."""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
from chart import draw

build, folder, *matrices = sys.argv[1:]
PARTS = ["small", "exact", "descent", "large", "wide", "tall", "groups", "leukemia"]
parts = os.environ.get("FGM_PARTS", "").replace(",", " ").split() or PARTS
FIELDS = ["method", "number", "selected", "recovered", "accuracy", "retrained", "seconds", "rounds", "gap"]
GENES = 7129
ABOVE = 200  # selected features, from which on generation must recover more
PAIRS = {"fgm-hinge": "l1-hinge", "fgm-logistic": "l1-logistic", "mslr": "l1-logistic"}
LOOKS = {"fgm-hinge": ("FGM, squared hinge", "#1d4ed8", "circle", False), "fgm-logistic": ("FGM, logistic", "#15803d", "square", False),
         "mslr": ("MSLR", "#1d4ed8", "circle", False), "l1-hinge": ("l1-SVM", "#c2410c", "diamond", True),
         "l1-logistic": ("l1-LR", "#7e22ce", "triangle", True), "truth": ("the largest true ones", "#a3acb6", "circle", True)}
SIZES = {"small": "4,096 x 4,096", "large": "8,192 x 65,536", "wide": "5,000 x 100,000", "tall": "20,000 x 10,000"}
missed = []
os.makedirs(folder, exist_ok=True)
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")


def ratios(low, high, count):
    return ",".join(f"{low * (high / low) ** (k / (count - 1)):.6g}" for k in range(count))


def steps(first, last, by):
    return ",".join(map(str, range(first, last + 1, by)))


FIRST = ["true=300", "weights=uniform", "test=4096", "retrain=20"]
EMPTY = "1e-9,"
RUNS = {
    "small": [["n=4096", "p=4096", *FIRST, "fgm-hinge=" + steps(2, 60, 2), "fgm-logistic=" + steps(2, 60, 2),
               "l1-hinge=" + EMPTY + ratios(0.0019, 0.0095, 10), "l1-logistic=" + ratios(0.0085, 0.042, 10)]],
    "exact": [["n=4096", "p=4096", *FIRST, f"inner={tol}", "fgm-hinge=10,30,50"] for tol in ("1e-3", "1e-6")],
    "descent": [["n=4096", "p=4096", *FIRST, "mslr=2,5,10", "mslr-descent=2,5,10"]],
    "large": [["n=8192", "p=65536", *FIRST, "fgm-hinge=" + steps(4, 60, 4), "fgm-logistic=" + steps(4, 60, 4),
               "l1-hinge=" + EMPTY + ratios(0.001, 0.0028, 4), "l1-logistic=" + ratios(0.0046, 0.0115, 4)]],
    "wide": [["n=5000", "p=100000", "true=300", "weights=normal", "test=2000", "retrain=5", "truth=" + steps(50, 300, 50),
              "mslr=" + steps(4, 40, 4), "l1-logistic=" + EMPTY + ratios(0.0078, 0.02, 5)]],
    "tall": [["n=20000", "p=10000", "true=600", "weights=normal", "test=2000", "retrain=5", "truth=" + steps(100, 600, 100),
              "mslr=" + steps(4, 60, 4), "l1-logistic=" + EMPTY + ratios(0.0018, 0.011, 6)]],
    "groups": [["n=4096", "p=400000", "group=10", "true=1000", "weights=normal", "test=2000", "every=1",
                "rounds=15", "fgm-logistic=10", "rounds=18", "fgm-logistic=8", "rounds=24", "fgm-logistic=5",
                "rounds=20", "fgm-logistic=2"]]}


# ---- What was measured --------------------------------------------------------------------------

def solve(part):
    for k, words in enumerate(RUNS[part]):
        with open(f"{folder}/{part}{k or ''}.tsv", "w") as out:
            subprocess.run([build + "/generation", "seed=1", *words], stdout=out, check=True)


def rows_of(part):
    """What the program said, by method, in order of how many were selected."""
    found = {}
    for line in open(f"{folder}/{part}.tsv"):
        name, *numbers = line.split()
        found.setdefault(name, []).append(dict(zip(FIELDS, [name, *map(float, numbers)])))
    return {name: sorted(rows, key=lambda r: r["selected"]) for name, rows in found.items()}


def at(rows, count, what):
    """Between the two points around that count; None beyond all."""
    for a, b in zip(rows, rows[1:]):
        if a["selected"] <= count <= b["selected"] and a["selected"] < b["selected"]:
            return a[what] + (b[what] - a[what]) * (count - a["selected"]) / (b["selected"] - a["selected"])
    return None


def compare(part):
    rows = rows_of(part)
    print(f"\n{SIZES[part]}: at equal counts, ours between its points; liblinear turns rows into columns in "
          + ", ".join(f"{r['seconds']:.1f} s ({LOOKS[name][0]})" for name, found in rows.items() for r in found
                      if name.startswith("l1") and r["selected"] == 0))
    print("| l1 | C | selected | true: l1 | ours | accuracy: l1 | ours | retrained: l1 | ours | seconds: l1 | but for turning | ours |\n|" + " --- |" * 12)
    turning = min(r["seconds"] for name, found in rows.items() for r in found if name.startswith("l1"))
    for ours, l1 in PAIRS.items():
        for r in rows.get(l1, []) if ours in rows else []:
            mine = {what: at(rows[ours], r["selected"], what) for what in ("recovered", "accuracy", "retrained", "seconds")}
            if r["selected"] == 0 or mine["recovered"] is None:
                continue
            print(f"| {LOOKS[l1][0]}, {LOOKS[ours][0]} | {r['number']:.4g} | {r['selected']:.0f} | {r['recovered']:.0f} | "
                  f"{mine['recovered']:.0f} | {r['accuracy']:.2f} | {mine['accuracy']:.2f} | {r['retrained']:.2f} | {mine['retrained']:.2f} | "
                  f"{r['seconds']:.2f} | {r['seconds'] - turning:.2f} | {mine['seconds']:.2f} |")
            if r["selected"] > ABOVE and mine["recovered"] < r["recovered"]:
                missed.append(f"{SIZES[part]}, {r['selected']:.0f} features: {ours} recovers fewer than {l1}")
            if mine["seconds"] > r["seconds"]:
                missed.append(f"{SIZES[part]}, {r['selected']:.0f} features: {ours} takes longer than {l1}")


def every(part):
    print(f"\n{part}: every point\n| " + " | ".join(FIELDS) + " |\n|" + " --- |" * len(FIELDS))
    for rows in rows_of(part).values():
        for r in rows:
            print("| " + " | ".join(r[f] if f == "method" else f"{r[f]:.6g}" for f in FIELDS) + " |")


# ---- Figures ------------------------------------------------------------------------------------

def styles(names):
    return {LOOKS[n][0]: {"color": LOOKS[n][1], "width": 1.8, "shape": LOOKS[n][2], "size": 2.8, "dashed": LOOKS[n][3]} for n in names}


FIGURES = [("recovered", "True features among those selected", "recovered", False),
           ("accuracy", "Accuracy on rows that nobody has seen", "percent", False),
           ("retrained", "Accuracy after weights are learned anew", "percent", False),
           ("seconds", "Seconds of the processor", "seconds", True)]


def draw_sizes(name, which, methods, notes):
    which = [part for part in which if os.path.exists(f"{folder}/{part}.tsv")]
    if not which:
        return
    found = {part: rows_of(part) for part in which}
    for what, title, yname, logy in FIGURES:
        shown = [m for m in methods if (m != "truth" or what == "retrained") and any(m in rows for rows in found.values())]
        panels = [{"title": SIZES[part], "xname": "selected features", "ticks": [(k, str(k)) for k in range(0, 601, 100)],
                   "lines": [(LOOKS[m][0], [(r["selected"], max(r[what], 0.01), True) for r in rows[m] if 10 <= r["selected"] <= 640])
                             for m in shown if m in rows]} for part, rows in found.items()]
        draw(f"{folder}/{name}-{what}.svg", title, notes, yname, [LOOKS[m][0] for m in shown], panels, styles(shown), logx=False, logy=logy)


def draw_groups():
    rows = rows_of("groups")["fgm-logistic"]
    budgets = sorted({r["number"] for r in rows})
    looks = list(LOOKS.values())
    names = {b: f"B = {b:.0f}" for b in budgets}
    style = {names[b]: {"color": look[1], "width": 1.8, "shape": look[2], "size": 2.8, "dashed": look[3]}
             for b, look in zip(budgets, [looks[0], looks[1], looks[3], looks[4]])}
    for what, title, yname, logy in FIGURES:
        panel = {"title": "4,096 x 400,000, groups of 10", "xname": "selected groups", "ticks": [(k, str(k)) for k in range(0, 151, 25)],
                 "lines": [(names[b], [(r["selected"], max(r[what], 0.01), True) for r in rows if r["number"] == b]) for b in budgets]}
        draw(f"{folder}/fgm-groups-{what}.svg", title.replace("features", "groups"), "100 true groups; FGM, logistic loss, C = 10, a point a round",
             yname, list(names.values()), [panel], style, logx=False, logy=logy)


# ---- Leukemia -----------------------------------------------------------------------------------

def voxsift(*words):
    return subprocess.run([build + "/voxsift", *words, "-q"], check=True, capture_output=True, text=True).stdout


def read_leukemia(name):
    """Labels, and samples to mean 0 and variance 1 over all genes; a gene that a line does not name is 0."""
    inside = f"{matrices[0]}/matrices"
    labels, samples = [], []
    for line in open(f"{inside if os.path.isdir(inside) else matrices[0]}/leukemia_{name}.svm"):
        label, *cells = line.split()
        x = [0.0] * GENES
        for cell in cells:
            gene, value = cell.split(":")
            x[int(gene) - 1] = float(value)
        labels.append(label)
        samples.append(to_unit(x))
    return labels, samples


def to_unit(x):
    mean = sum(x) / len(x)
    sd = (sum((v - mean) ** 2 for v in x) / len(x)) ** 0.5
    return [(v - mean) / sd if sd > 0 else 0.0 for v in x]


def make_leukemia(over_all):
    """Two cohorts; with over_all genes are scaled over all 72 samples."""
    (labels, samples), (others, tests) = read_leukemia("train"), read_leukemia("test")
    if over_all:
        both = list(zip(*(to_unit(gene) for gene in zip(*samples, *tests))))
        samples, tests = both[:len(samples)], both[len(samples):]
    for name, y, rows in (("train", labels, samples), ("test", others, tests)):
        with open(f"{folder}/leukemia_{name}.svm", "w") as f:
            f.writelines(" ".join([label, *(f"{k + 1}:{v!r}" for k, v in enumerate(x))]) + "\n" for label, x in zip(y, rows))
        voxsift("cohort", "--svmlight", f"{folder}/leukemia_{name}.svm", "-o", f"{folder}/leukemia_{name}", "--force")


def predict_leukemia(over_all):
    """The best share and, less than 0, how few genes gave it, of mslr."""
    make_leukemia(over_all)
    ways = [("mslr", ["--per-iteration", "2", "--iterations", str(t)], f"T = {t}") for t in range(1, 11)]
    ways += [("lasso", ["--lambda-ratio", f"{0.75 ** k:.4g}"], f"{0.75 ** k:.2g} of lambda_max") for k in range(1, 17, 2)]
    words, model, best = ["--standardize", "none"] if over_all else [], folder + "/leukemia_model", (0, 0)
    for method, own, setting in ways:
        voxsift("fit", folder + "/leukemia_train", "--target", "target", "--method", method, *own, *words, "--nthreads", "1", "-o", model, "--force")
        said = json.loads(voxsift("predict", model, folder + "/leukemia_test", "--json"))
        genes = sum(1 for _ in open(model + "/weights.tsv")) - 1
        right = 100 * said["metrics"]["accuracy"]
        best = max(best, (right, -genes)) if method == "mslr" else best
        print(f"| {'all 72' if over_all else '38'} | {method} | {setting} | {genes} | {right:.1f} |")
    return best


def leukemia():
    if not matrices or not matrices[0]:
        print("\nleukemia: pass MATRICES=folder")
        return
    print("\nLeukemia, 34 samples nobody learned from:\n| genes scaled over | method | setting | genes | right, percent |\n|" + " --- |" * 5)
    for over_all in (False, True):
        right, genes = predict_leukemia(over_all)
        if right < 100 or genes < -10:
            missed.append(f"leukemia, genes scaled over {'all 72' if over_all else '38'}: mslr is right in at most {right:.1f} percent, "
                         f"with {-genes} genes, not in 100 with 10")


for part in parts:
    if part == "leukemia":
        leukemia()
        continue
    if not os.environ.get("FGM_DRAW"):
        solve(part)
    if part in SIZES:
        compare(part)
    for k in range(len(RUNS[part])):
        every(f"{part}{k or ''}")
draw_sizes("fgm", ["small", "large"], ["fgm-hinge", "fgm-logistic", "l1-hinge", "l1-logistic"], "300 true features with weights U(0, 1); FGM with C = 10, T = 10, B from 2 to 60")
draw_sizes("mslr", ["wide", "tall"], ["mslr", "l1-logistic", "truth"], "300 and 600 true features with normal weights; MSLR with C = 10, T = 10, r from 4 to 60")
if os.path.exists(f"{folder}/groups.tsv"):
    draw_groups()
if missed:
    print("\nNot as was wished:\n" + "\n".join(missed))
