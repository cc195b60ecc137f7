"""What structured kernel feature selection costs: time and memory against voxels and subjects, the choice among 10 x 5
by five folds for 200 subjects with 200,000 voxels, and how near dual averages come to the certified optimum.

And two questions to real brains, beside the lasso and the fused lasso.

  arguments: build folder, folder to work in, the average brain, examples; SKFS_PARTS=voxels,subjects,choice,dual,arc"""
import json
import os
import subprocess
import sys
import time

import nibabel as nib
import numpy as np
from chart import draw

build, folder, underlay, examples = os.path.abspath(sys.argv[1]), sys.argv[2], *map(os.path.abspath, sys.argv[3:5])
PARTS = os.environ.get("SKFS_PARTS", "voxels,subjects,choice,dual,arc").split(",")
os.makedirs(folder, exist_ok=True)
os.chdir(folder)


def voxsift(*words):
    """What it prints, and seconds."""
    start = time.time()
    p = subprocess.Popen([f"{build}/voxsift", *map(str, words), "-q"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out, err = p.communicate()
    if p.returncode not in (0, 3):
        sys.exit(err)
    return out, time.time() - start


def peak(*words):
    p = subprocess.run(["/usr/bin/time", "-f", "%M", f"{build}/voxsift", *map(str, words), "-q"], capture_output=True, text=True)
    if p.returncode not in (0, 3):
        sys.exit(p.stderr)
    return float(p.stderr.strip().splitlines()[-1]) / 1024


def brain(voxels):
    """The brightest voxels of the average brain, on a finer grid where it has too few."""
    img = nib.load(underlay)
    a = img.get_fdata()
    size = 2.0
    while (a > 30).sum() < voxels:
        size /= 2
        a = np.repeat(np.repeat(np.repeat(a, 2, 0), 2, 1), 2, 2)
    affine = img.affine @ np.diag([size / 2, size / 2, size / 2, 1])
    order = np.argsort(-a.ravel(), kind="stable")[:voxels]
    mask = np.zeros(a.size, "u1")
    mask[order] = 1
    nib.save(nib.Nifti1Image(mask.reshape(a.shape), affine, img.header), "mask.nii.gz")
    return size


def cohort(subjects, voxels):
    size = brain(voxels)
    voxsift("simulate", "skfs-linear", "--subjects", subjects, "--mask", "mask.nii.gz", "--voxel-size", size, "--seed", 1, "-o", "sim", "--force")


STYLES = {"value above the optimum": {"color": "#1f4e79", "width": 2.4, "shape": "circle", "size": 4, "dashed": False},
          "its bound below the optimum": {"color": "#b8860b", "width": 1.6, "shape": "square", "size": 4, "dashed": True},
          "seconds": {"color": "#1f4e79", "width": 2.4, "shape": "circle", "size": 4, "dashed": False},
          "peak GB": {"color": "#b8860b", "width": 1.6, "shape": "square", "size": 4, "dashed": True}}


def curve(title, xname, rows):
    """Rows of (size, seconds, GB) as a panel."""
    return {"title": title, "xname": xname, "ticks": [(r[0], f"{r[0]:,}") for r in rows if str(r[0])[0] == "1" or r[0] == rows[-1][0]],
            "lines": [("seconds", [(r[0], r[1], True) for r in rows]), ("peak GB", [(r[0], r[2], True) for r in rows])]}


PATH = ["path", "sim", "--target", "diagnosis", "--method", "skfs", "--nlambda", "10", "--lambda-ratio", "0.2", "--tol", "1e-4"]


def row(subjects, voxels):
    cohort(subjects, voxels)
    out, seconds = voxsift(*PATH, "--json")
    points, memory = json.loads(out)["outputs"][0]["points"], peak(*PATH)
    print(f"| {subjects:,} | {voxels:,} | {seconds:.2f} | {sum(p['seconds'] for p in points):.2f} | {memory:.0f} "
          f"| {points[-1]['nonzero']} | {max(p['gap'] for p in points):.0e} |", flush=True)
    return seconds, memory / 1024


if "voxels" in PARTS or "subjects" in PARTS:
    print("A path of 10 lambdas down to 0.2 of lambda_max, --laplacian 1, relative gap 1e-4:\n")
    print("| subjects | voxels | seconds in all | of these solving | peak MB | voxels with a weight | largest gap |\n| --- | --- | --- | --- | --- | --- | --- |")
if "voxels" in PARTS:
    by_voxels = [(voxels, *row(100, voxels)) for voxels in (10_000, 30_000, 100_000, 200_000, 300_000, 1_000_000)]
if "subjects" in PARTS:
    by_subjects = [(subjects, *row(subjects, 10_000)) for subjects in (100, 300, 1_000, 3_000, 10_000)]
if "voxels" in PARTS and "subjects" in PARTS:
    draw("skfs-cost.svg", "Kernel selection: what a path of 10 lambdas takes", "to 0.2 of lambda_max, gap 1e-4 over all voxels, scores included",
         "seconds, and GB", ["seconds", "peak GB"], [curve("100 subjects", "voxels", by_voxels), curve("10,000 voxels", "subjects", by_subjects)], STYLES)
if "choice" in PARTS:
    cohort(200, 200_000)
    words = ["fit", "sim", "--target", "diagnosis", "--method", "skfs", "--nlambda", "10", "--lambda-ratio", "0.1", "--laplacian", "0.01,0.1,1,10,100",
             "--choose-lambda", "5", "--tol", "1e-4", "--force"]
    out, seconds = voxsift(*words, "-o", "m", "--json")
    print(f"\n200 subjects x 200,000 voxels, five folds choose among 10 lambdas x 5 smoothnesses: {seconds:.0f} s, peak {peak(*words, '-o', 'm'):.0f} MB, "
          f"{json.loads(out)['nonzero']} voxels, gap {json.loads(out)['gap']:.0e}", flush=True)
if "dual" in PARTS:
    cohort(100, 10_000)
    fit = ["fit", "sim", "--target", "diagnosis", "--method", "skfs", "--lambda-ratio", "0.3", "--json", "--force", "-o", "m"]
    best = json.loads(voxsift(*fit, "--tol", "1e-8")[0])
    print(f"\nDual averages, 100 subjects x 10,000 voxels, lambda 0.3 of lambda_max; the optimum is {best['primal']:.6f} (certified gap {best['gap']:.0e})\n")
    print("| gamma | steps | value above the optimum, of the empty model's | dual bound below it | seconds |\n| --- | --- | --- | --- | --- |")
    panels = []
    for gamma in (300, 3000):
        above, below = [], []
        for steps in (300, 1000, 3000, 10_000, 30_000, 100_000):
            out = json.loads(voxsift(*fit, "--solver", "dual-averaging", "--steps", steps, "--averaging-gamma", gamma)[0])
            print(f"| {gamma:,} | {steps:,} | {(out['primal'] - best['primal']) / 100**2:.1e} | {(best['primal'] - out['dual']) / 100**2:.1e} | {out['seconds']:.2f} |", flush=True)
            above.append((steps, (out["primal"] - best["primal"]) / 100**2, True))
            below.append((steps, (best["primal"] - out["dual"]) / 100**2, True))
        panels.append({"title": f"gamma = {gamma:,}", "xname": "steps", "ticks": [(s, f"{s:,}") for s in (300, 1000, 10_000, 100_000)],
                       "lines": [("value above the optimum", above), ("its bound below the optimum", below)]})
    draw("skfs-dual.svg", "Dual averages come near the certified optimum", f"100 subjects x 10,000 voxels, lambda 0.3 of lambda_max; optimum certified to {best['gap']:.0e}",
         "share of the empty model's value", ["value above the optimum", "its bound below the optimum"], panels, STYLES)
if "arc" in PARTS:
    rows = [line.rstrip("\n").split("\t") for line in open(f"{examples}/arc/participants.tsv")]
    head, people = rows[0], rows[1:]
    age, kind = head.index("age_at_stroke"), head.index("wab_type")
    middle = np.median([float(r[age]) for r in people])
    for r in people:
        for c in (head.index("lesion"), head.index("t1w")):
            r[c] = f"{examples}/arc/{r[c]}"
    write = lambda name, rows: open(name, "w").write("".join("\t".join(r) + "\n" for r in [[*head, "older"], *([*r, "yes" if float(r[age]) > middle else "no"] for r in rows)]))
    write("kinds.tsv", [r for r in people if r[kind] in ("Broca", "Anomic")])
    write("all.tsv", people)
    print("\n| question | method | balanced accuracy, pooled [95 %] | AUC | sd over folds | volume alone | seconds |\n| --- | --- | --- | --- | --- | --- | --- |")
    for name, table, column, target, mask, repeats in (("Broca or Anomic, from lesions", "kinds.tsv", "lesion", "wab_type", ["--mask-fraction", "0.05"], 3),
                                                       ("older than the median, from T1w", "all.tsv", "t1w", "older", [], 1)):
        voxsift("cohort", table, "--image-column", column, "--smooth", 8, *mask, "-o", "arc", "--force")
        for method, words in (("lasso", []), ("fused", ["--method", "fused"]), ("skfs", ["--method", "skfs", "--laplacian", "0.1,1,10", "--tol", "1e-4"]),
                              ("hsic-lasso", ["--method", "hsic-lasso", "--tol", "1e-4"])):
            out, seconds = voxsift("cv", "arc", "--target", target, "--repeats", repeats, "--nlambda", 10, "--lambda-ratio", "0.05", *words, "-o", "v", "--force", "--json")
            said = json.loads(out)
            b, auc, volume = said["outer"]["balanced_accuracy"], said["outer"]["auc"], said["baseline"]["global_signal"]["balanced_accuracy"]
            print(f"| {name} | {method} | {b['pooled']:.3f} [{b['low']:.2f}, {b['high']:.2f}] | {auc['pooled']:.3f} | {b['sd']:.3f} | {volume:.3f} | {seconds:.0f} |", flush=True)
