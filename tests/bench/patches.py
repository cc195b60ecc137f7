"""Lesion voxels from T1w patches, in people held out: patches.py BUILD FOLDER EXAMPLES [PARTS], parts being some of cv,
size, images (all when not given or empty). Prints what docs/benchmarks.md holds.

cv: two sets of features, linear and Gaussian kernels, three draws of 10 voxels of each class and person; five outer folds of
people, C (and gamma) by three inner ones. size: more voxels of each person, one draw. images: a model of the people below 60,
and whole images of the 60 others."""
import json
import os
import subprocess
import sys

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
build, folder, examples = (os.path.abspath(p) for p in sys.argv[1:4])
parts = ((sys.argv[4] if len(sys.argv) > 4 else "") or "cv,size,images").split(",")
TABLE = examples + "/arc/participants.tsv"
IMAGES = [TABLE, "--image-column", "t1w", "--label-column", "lesion", "--label-threshold", "0.5"]
FEATURES = {"27 values": ["--patch", "3"], "27 values, means, place": ["--patch", "3", "--means", "12,20", "--coordinates"]}
KERNELS = {"linear": ["--kernel", "linear", "--C", "0.1,1,10"],
           "rbf": ["--kernel", "rbf", "--C", "0.1,1,10", "--gamma", "0.3,1,3"]}
SVM = ["--target", "lesion", "--method", "svm", "--standardize", "unit"]
SEEDS = (1, 2, 3)


def voxsift(*words):
    """What it says as JSON, the seconds of processors it took, and the most memory in MB."""
    with open("said.json", "w") as out, open("err.txt", "w") as err:
        process = subprocess.Popen([build + "/voxsift", *words, "--json", "-q", "--force", "--nthreads", "1"], stdout=out, stderr=err)
        _, code, used = os.wait4(process.pid, 0)
    if code:
        sys.exit(f"{' '.join(words)}: {open('err.txt').read()}")
    said = json.load(open("said.json"))
    return said | {"cpu": used.ru_utime + used.ru_stime, "memory": used.ru_maxrss / 1024}


def row(*cells):
    print("| " + " | ".join(str(c) for c in cells) + " |", flush=True)


def patches(name, features, per_class, seed):
    return voxsift("patches", *IMAGES, *FEATURES[features], "--per-class", str(per_class), "--seed", str(seed), "-o", name)


def measure(features, kernel, per_class, seed):
    made = patches(f"p{per_class}", features, per_class, seed)
    cv = voxsift("cv", f"p{per_class}", *SVM, *KERNELS[kernel], "--folds", "5", "--inner-folds", "3", "--seed", str(seed), "-o", "cv")
    auc, within = cv["outer"]["auc"], cv["within_people"]
    row(features, kernel, made["voxels"], seed, f"{auc['pooled']:.3f} ({auc['low']:.3f} to {auc['high']:.3f})",
        f"{auc['sd']:.3f}", f"{within['mean']:.3f} ({within['low']:.3f} to {within['high']:.3f})", f"{within['sd']:.3f}",
        f"{cv['outer']['balanced_accuracy']['pooled']:.3f}", f"{cv['cpu']:.0f} s")


def header():
    row("features", "kernel", "voxels", "seed", "AUC", "sd over folds", "AUC within people", "sd over people",
        "balanced accuracy", "processor time")
    row(*["---"] * 10)


os.makedirs(folder, exist_ok=True)
os.chdir(folder)
if "cv" in parts:
    header()
    for features in FEATURES:
        for kernel in KERNELS:
            for seed in SEEDS:
                measure(features, kernel, 10, seed)
if "size" in parts:
    header()
    for per_class in (3, 10, 30):
        for kernel in KERNELS:
            measure("27 values, means, place", kernel, per_class, 1)
if "images" in parts:
    row("kernel", "support vectors", "images", "AUC of all voxels", "sd over people", "Dice", "voxels a second", "memory")
    row(*["---"] * 8)
    patches("p20", "27 values, means, place", 20, 1)
    for kernel in KERNELS:
        words = [w if w not in ("0.1,1,10", "0.3,1,3") else "1" for w in KERNELS[kernel]]
        model = voxsift("fit", "p20", *SVM, *words, "--only", "age_at_stroke<60", "-o", "model")
        done = voxsift("predict", "model", TABLE, "--exclude", "age_at_stroke<60", "--label-column", "lesion", "-o", "maps")
        people = [s for s in done["subjects"] if s["trained_on"] == "no"]
        auc = [s["auc"] for s in people]
        mean = sum(auc) / len(auc)
        sd = (sum((a - mean) ** 2 for a in auc) / (len(auc) - 1)) ** 0.5
        supports = json.load(open("model/model.json"))["outputs"][0].get("support_vectors")
        row(kernel, supports, len(people), f"{mean:.3f}", f"{sd:.3f}", f"{sum(s['dice'] for s in people) / len(people):.3f}",
            f"{sum(s['voxels'] for s in people) / done['cpu']:.0f}", f"{done['memory']:.0f} MB")
