"""What cross-validation, permutations and stability give on real brains, and how long they take: cv.py BUILD FOLDER
EXAMPLES [HAXBY [PARTS [SOOP]]], parts being some of PARTS below (all when not given or empty). Options of voxsift are its
own defaults. Prints what docs/benchmarks.md holds."""
import csv
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
sys.dont_write_bytecode = True
import nibabel as nib
import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import problems

build, folder, examples = (os.path.abspath(p) for p in sys.argv[1:4])
haxby, asked, soop = (sys.argv[4:7] + ["", "", ""])[:3]
soop = os.path.abspath(soop) if soop else ""
PARTS = "scores,times,lambda,haxby,categories,permutations,stability,fused,fused-haxby,generation"
parts = (asked or PARTS).split(",")
COHORTS = {"lesion": ("--mask-fraction", "0.05", "--smooth", "8"), "t1w": ("--smooth", "8")}
SCORES = [("wab_aq", "lesion"), ("age_at_stroke", "t1w")]
CLASSES = [("broca_anomic", "lesion"), ("sex", "t1w")]
# Plain kernel ridge in 10-fold cross-validation of the 228 subjects of which 114 are here.
ANCHORS, ANCHOR_N = {"wab_aq": 0.65, "age_at_stroke": 0.74}, 228


NOT_CONVERGED, STOPPED = 3, -24  # an outcome that is marked in what is said; SIGXCPU


def voxsift(command, *words, threads=2, out=True, limit=None):
    """What it says, and the seconds of processors it took as "cpu"; None when these were more than `limit`."""
    words = [build + "/voxsift", command, *words, "--json", "-q", "--nthreads", str(threads)]
    words += ["-o", f"{folder}/{command}", "--force"] if out else []
    stop = (lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))) if limit else None
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = subprocess.run(words, capture_output=True, preexec_fn=stop)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if limit and told.returncode == STOPPED:
        return None
    if told.returncode not in (0, NOT_CONVERGED):
        raise subprocess.CalledProcessError(told.returncode, words, told.stdout, told.stderr)
    return {**json.loads(told.stdout), "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


def least(run):
    """The fastest of three, or the first when it takes ten seconds."""
    said = run()
    for _ in range(2):
        if said["seconds"] < 10:
            said = min(said, run(), key=lambda s: s["seconds"])
    return said


def row(*cells):
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def heads(*cells):
    row(*cells)
    row(*("---" for _ in cells))


def cohorts():
    """Of the shipped subjects; a column more has two kinds of aphasia, and n/a for the others."""
    rows = list(csv.DictReader(open(examples + "/arc/participants.tsv"), delimiter="\t"))
    for r in rows:
        r["broca_anomic"] = r["wab_type"] if r["wab_type"] in ("Broca", "Anomic") else "n/a"
        r.update({k: f"{examples}/arc/{r[k]}" for k in COHORTS})
    with open(folder + "/people.tsv", "w") as f:
        table = csv.DictWriter(f, rows[0], delimiter="\t", lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    for name, words in COHORTS.items():
        subprocess.run([build + "/voxsift", "cohort", folder + "/people.tsv", "--image-column", name, *words, "-o",
                        f"{folder}/{name}", "--force", "-q"], check=True, stdout=subprocess.DEVNULL)


def table_of(said, what, metrics):
    base = {(r["scores"], r["metric"]): float(r["pooled"]) for r in csv.DictReader(open(folder + "/cv/scores.tsv"), delimiter="\t")
            if r["pooled"] != "n/a"}
    for metric in metrics:
        m = said["outer"][metric]
        row(what, metric, f"{m['pooled']:.3f}", f"{m['low']:.3f} to {m['high']:.3f}", f"{m['mean']:.3f} ({m['sd']:.3f})",
            *(f"{base[b, metric]:.3f}" for b in ("constant", "global_signal")), f"{said['inner'][metric]['mean']:.3f}")


HEADS = ("what", "metric", "all subjects", "95 %", "mean over folds (sd)", "constant", "global signal", "inner")


def ridge(cohort, target):
    """Plain kernel ridge on the folds that voxsift cv has just used, its penalty chosen by five inner folds: r, R2 and MAE of
    all subjects, the mean of the repeats."""
    X = np.load(f"{folder}/{cohort}/features.npy").T.astype(float)
    people = {next(iter(r.values())): r for r in csv.DictReader(open(f"{folder}/{cohort}/participants.tsv"), delimiter="\t")}
    ids, y = list(people), np.array([float(r[target]) for r in people.values()])
    K, alphas, scores = X @ X.T, np.logspace(-6, 3, 28), []

    def predict(train, test, level):
        center = np.eye(len(train)) - 1 / len(train)
        own = center @ K[np.ix_(train, train)] @ center
        cross = (K[np.ix_(test, train)] - K[np.ix_(train, train)].mean(0)) @ center
        e, V = np.linalg.eigh(own)
        z = V.T @ (y[train] - y[train].mean())
        return y[train].mean() + (cross @ V) @ (z[:, None] / (e[:, None] + np.atleast_1d(level) * e.mean()))

    folds = list(csv.DictReader(open(folder + "/cv/folds.tsv"), delimiter="\t"))
    for repeat in sorted({r["repeat"] for r in folds}):
        at, guess = {next(iter(r.values())): r["fold"] for r in folds if r["repeat"] == repeat}, np.zeros(len(y))
        fold = np.array([at[i] for i in ids])
        for k in set(fold):
            train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            inner = np.random.default_rng(1).permutation(len(train)) % 5
            loss = sum(((predict(train[inner != j], train[inner == j], alphas) - y[train[inner == j], None]) ** 2).sum(0) for j in range(5))
            guess[test] = predict(train, test, alphas[loss.argmin()])[:, 0]
        scores.append((np.corrcoef(guess, y)[0, 1], 1 - ((y - guess) ** 2).sum() / ((y - y.mean()) ** 2).sum(), abs(y - guess).mean()))
    return np.mean(scores, 0)


def scores():
    print("The shipped 114 subjects, --repeats 5:", flush=True)
    heads(*HEADS)
    notes = []
    for target, cohort in SCORES + CLASSES:
        metrics = ("r", "r2", "mae") if target in ANCHORS else ("balanced_accuracy", "auc")
        for method in ("lasso", "fused"):
            said = voxsift("cv", f"{folder}/{cohort}", "--target", target, "--repeats", "5", "--method", method)
            table_of(said, f"{target} from {cohort}, {method}, n = {said['subjects']}", metrics)
            if target in ANCHORS:
                r, error = said["outer"]["r"]["pooled"], 1.96 / (said["subjects"] - 3) ** 0.5
                bound = np.tanh(np.arctanh(ANCHORS[target]) - error)
                notes.append(f"{target}, {method}: r = {r:.3f}; anchor {ANCHORS[target]} (n = {ANCHOR_N}), less its uncertainty with "
                             f"{said['subjects']} subjects {bound:.3f}: {'reached' if r >= bound else 'not reached'}")
            notes.append(f"{target}, {method}: {said['seconds']:.1f} s")
        if target in ANCHORS:
            r, r2, mae = ridge(cohort, target)
            notes.append(f"{target}, plain kernel ridge on the same folds: r {r:.3f}, R2 {r2:.3f}, MAE {mae:.3f}")
    print("\n".join(notes), flush=True)


def times():
    print("One nested cross-validation (5 folds, 5 inner folds, 100 lambdas), seconds:", flush=True)
    heads("what", "method", "one thread", "two threads")
    for target, cohort in SCORES + CLASSES:
        for method in ("lasso", "fused"):
            words = (f"{folder}/{cohort}", "--target", target, "--method", method)
            said = [least(lambda: voxsift("cv", *words, threads=t)) for t in (1, 2)]
            row(f"{target} from {cohort}", method, *(f"{s['seconds']:.2f}" for s in said))


def choosing():
    """Five folds' choice among 50 lambdas beside a single path of them."""
    brains = os.path.dirname(folder) + "/lasso/brains"
    if not os.path.exists(brains + "/cohort/cohort.json"):
        problems.cohort(build, brains, *problems.both()[1])
    print("A choice among 50 lambdas by 5 folds, n = 400, p = 200,000, seconds:", flush=True)
    heads("threads", "path", "asking the folds", "ratio")
    for threads in (1, 2):
        path = asking = np.inf
        for _ in range(3):
            said = voxsift("path", brains + "/cohort", "--target", "score", "--nlambda", "50", threads=threads, out=False)
            path = min(path, sum(q["seconds"] for q in said["outputs"][0]["points"]))
            told = subprocess.run([build + "/voxsift", "fit", brains + "/cohort", "--target", "score", "--choose-lambda", "5",
                                   "--nlambda", "50", "--nthreads", str(threads), "-o", folder + "/fit", "--force"],
                                  check=True, capture_output=True, text=True)
            asking = min(asking, float(re.search(r"asking them took (\S+) s", told.stderr)[1]))
        row(threads, f"{path:.2f}", f"{asking:.2f}", f"{asking / path:.2f}")


def permutations():
    print("1,000 permutations, --nlambda 20 --lambda-ratio 0.05 --stop-at 0, two threads:", flush=True)
    heads("what", "r", "p", "smallest p", "seconds")
    for target, cohort in SCORES:
        said = voxsift("permute", f"{folder}/{cohort}", "--target", target, "--nlambda", "20", "--lambda-ratio", "0.05", "--stop-at", "0")
        row(f"{target} from {cohort}", f"{said['observed']:.3f}", f"{said['p']:.6f}", f"{said['smallest_p']:.6f}", f"{said['seconds']:.0f}")


def stable():
    said = least(lambda: voxsift("stability", folder + "/lesion", "--target", "wab_aq"))
    print(f"Stability of wab_aq from lesions: {said['selected']} stable voxels, at most {said['features_a_half']} a half ({said['mean_selected']:.1f} "
          f"on average), Dice {said['dice']:.3f}, Nogueira {said['nogueira']:.3f}, bound {said['error_bound']:.3f}, {said['seconds']:.2f} s", flush=True)


def prepared(image, runs):
    """Each run without its straight line, and with unit standard deviation in every voxel."""
    bold = nib.load(image)
    data = bold.get_fdata()
    for run in sorted(set(runs)):
        at = np.flatnonzero(np.array(runs) == run)
        line = np.vander(np.linspace(-1, 1, len(at)), 2)
        flat = data[..., at].reshape(-1, len(at)).T
        flat -= line @ np.linalg.lstsq(line, flat, rcond=None)[0]
        data[..., at] = (flat / np.maximum(flat.std(0), 1e-6)).T.reshape(*data.shape[:3], len(at))
    nib.save(nib.Nifti1Image(data.astype("f4"), bold.affine), folder + "/prepared.nii.gz")
    return folder + "/prepared.nii.gz"


PAIRS = [("face", "house", 0.99), ("cat", "chair", 0.81), ("bottle", "shoe", 0.75)]


def volumes():
    """Columns of what was looked at; rest has n/a. None without the data."""
    if not os.path.exists(haxby + "/attributes_literal.txt"):
        print(f"Haxby: no attributes_literal.txt in '{haxby}' (HAXBY=folder): left out", flush=True)
        return None
    rows = [line.split() for line in open(haxby + "/attributes_literal.txt")]
    kinds = sorted({c for c, _ in rows} - {"rest"})
    columns = {"run": [f"run{int(r) + 1:02}" for _, r in rows], "category": [c if c in kinds else "n/a" for c, _ in rows]}
    columns.update({f"{a}_{b}": [c if c in (a, b) else "n/a" for c, _ in rows] for a, b, _ in PAIRS})
    columns.update({k: [{k: "yes", "rest": "n/a"}.get(c, "no") for c, _ in rows] for k in kinds})
    return columns


def slice_cohort(image, columns):
    with open(folder + "/volumes.tsv", "w") as f:
        f.writelines("\t".join(r) + "\n" for r in [columns, *zip(*columns.values())])
    subprocess.run([build + "/voxsift", "cohort", image, "--rows", folder + "/volumes.tsv", "--mask", haxby + "/mask.nii.gz", "-o",
                    folder + "/haxby", "--force", "-q"], check=True, stdout=subprocess.DEVNULL)


def viewing(all_at_once=False):
    """Volumes of one person: what was looked at, told by the other runs. Rest is left out; voxsift numbers the volumes."""
    columns = volumes()
    if not columns:
        return
    kinds = list(columns)[2 + len(PAIRS):]
    print("Haxby, one run left out at a time:", flush=True)
    heads("what", "n", "balanced accuracy (sd over runs)", "95 %", "AUC (sd over runs)", "inner balanced accuracy", "seconds")
    bold, plain, together = haxby + "/bold.nii.gz", (), ("--group", "run")
    for name, image in (("as they are", bold), ("prepared", prepared(bold, columns["run"]))):
        slice_cohort(image, columns)
        asked = [(f"{a}_{b}", words) for a, b, _ in PAIRS for words in (plain, together)] + [(k, together) for k in kinds if name == "prepared"]
        if all_at_once:
            asked = [("category", plain), ("category", together)] if name == "as they are" else [("category", together)]
        for target, words in asked:
            said = voxsift("cv", folder + "/haxby", "--target", target, "--folds-from", "run", *words)
            a, b = said["outer"]["balanced_accuracy"], said["outer"]["auc"]
            row(f"{target}, {name}{', ' if words else ''}{' '.join(words)}", said["subjects"], f"{a['mean']:.3f} ({a['sd']:.3f})",
                f"{a['low']:.3f} to {a['high']:.3f}", f"{b['mean']:.3f} ({b['sd']:.3f})", f"{said['inner']['balanced_accuracy']['mean']:.3f}",
                f"{said['seconds']:.1f}")


# Written down before any of them was run, and not changed after: one sparsity beside none, the lambdas and smoothnesses of
# the kernels' section of docs/benchmarks.md, three draws of halves.
FUSED = ("--method", "fused", "--graph")
KINDS = [("lasso", ()), ("fused, tree", (*FUSED, "tree")), ("fused, grid6", (*FUSED, "grid6")),
         ("fused, grid6, sparsity 1", (*FUSED, "grid6", "--sparsity", "1")),
         ("skfs", ("--method", "skfs", "--laplacian", "0.1,1,10", "--tol", "1e-4"))]
FEW = ("--nlambda", "10", "--lambda-ratio", "0.05")
QUESTIONS = [("Broca or Anomic, from lesions", "kinds", "wab_type", 3), ("older than the median, from T1w", "t1w", "older", 1),
             ("sex, from T1w", "t1w", "sex", 1), ("wab_aq, from lesions", "lesion", "wab_aq", 3),
             ("age_at_stroke, from T1w", "t1w", "age_at_stroke", 1)]
DRAWS = 3


def halved():
    """The cohorts again, with a column of who is older than the median, and with columns of halves."""
    rows = list(csv.DictReader(open(folder + "/people.tsv"), delimiter="\t"))
    ages = [float(r["age_at_stroke"]) for r in rows]
    for draw in range(1, DRAWS + 1):
        for r, k in zip(rows, np.random.default_rng(draw).permutation(len(rows))):
            r[f"half{draw}"] = "ab"[k % 2]
    for r, age in zip(rows, ages):
        r["older"] = "yes" if age > np.median(ages) else "no"
    for name, images, kept in (("kinds", "lesion", ("Broca", "Anomic")), ("lesion", "lesion", ()), ("t1w", "t1w", ())):
        with open(f"{folder}/{name}.tsv", "w") as f:
            table = csv.DictWriter(f, rows[0], delimiter="\t", lineterminator="\n")
            table.writeheader()
            table.writerows(r for r in rows if not kept or r["wab_type"] in kept)
        subprocess.run([build + "/voxsift", "cohort", f"{folder}/{name}.tsv", "--image-column", images, *COHORTS[images], "-o",
                        f"{folder}/halved_{name}", "--force", "-q"], check=True, stdout=subprocess.DEVNULL)


def areas(map, by_weight):
    """How many sets of voxels hang together by shared faces: of weights that are not 0, or of equal weight as well."""
    at, pairs = np.arange(map.size).reshape(map.shape), []
    for axis in range(3):
        one, other = (np.take(at, range(k, map.shape[axis] - 1 + k), axis).ravel() for k in (0, 1))
        joined = (map.flat[one] != 0) & (map.flat[other] != 0) & (not by_weight or map.flat[one] == map.flat[other])
        pairs.append(np.stack((one[joined], other[joined])))
    pairs = np.concatenate(pairs, 1)
    label = connected_components(coo_array((np.ones(pairs.shape[1]), pairs), (map.size, map.size)), directed=False)[1]
    return len(set(label[map.ravel() != 0]))


def fitted(cohort, target, words, only=()):
    said = voxsift("fit", cohort, "--target", target, *FEW, "--choose-lambda", "5", *words, *only)
    inside = nib.load(cohort + "/mask.nii.gz").get_fdata() > 0
    return nib.load(folder + "/fit/weights.nii.gz").get_fdata(), inside, said


def readable(cohort, target, words, halves):
    """Cells about maps: of everybody, and how two of halves that share nobody agree (the correlation of their weights over all
    voxels; 0 where one is flat)."""
    map, inside, said = fitted(cohort, target, words)
    agree = []
    for one, other in halves:
        a, b = (fitted(cohort, target, words, half)[0][inside] for half in (one, other))
        agree.append(np.corrcoef(a, b)[0, 1] if a.std() > 0 and b.std() > 0 else 0.0)
    return (int((map != 0).sum()), areas(map, False), areas(map, True), f"{np.mean(agree):.2f} ({min(agree):.2f} to {max(agree):.2f})",
            f"{said['gap']:.0e}")


MAP_HEADS = ("voxels with a weight", "clusters", "parts of one weight", "agreement of halves", "gap")


def outer(said, metric):
    m = said["outer"][metric]
    return f"{m['pooled']:.3f} [{m['low']:.2f}, {m['high']:.2f}]", f"{m['sd']:.3f}"


def fused():
    halved()
    print("Fused lasso beside others, 10 lambdas down to 0.05, 5 folds:", flush=True)
    heads("question", "method", "balanced accuracy or r [95 %]", "sd over folds", "AUC or R2", "volume", "seconds", *MAP_HEADS)
    halves = [[("--only", f"half{d}={h}") for h in "ab"] for d in range(1, DRAWS + 1)]
    for name, cohort, target, repeats in QUESTIONS:
        first, second = ("r", "r2") if target in ANCHORS else ("balanced_accuracy", "auc")
        for method, words in KINDS:
            if method == "skfs" and target in ANCHORS:
                continue
            where = f"{folder}/halved_{cohort}"
            said = voxsift("cv", where, "--target", target, "--repeats", str(repeats), *FEW, *words)
            row(name, method, *outer(said, first), f"{said['outer'][second]['pooled']:.3f}", f"{said['baseline_pooled']['volume'][first]:.3f}",
                f"{said['seconds']:.1f}", *readable(where, target, words, halves))


def fused_slice():
    """Pairs of categories of the prepared slice; the halves are odd and even runs."""
    columns = volumes()
    if not columns:
        return
    columns["half"] = ["ab"[int(r[3:]) % 2] for r in columns["run"]]
    slice_cohort(prepared(haxby + "/bold.nii.gz", columns["run"]), columns)
    print("Fused lasso beside others on a slice, one run left out at a time, 10 lambdas down to 0.05:", flush=True)
    heads("question", "method", "balanced accuracy [95 %]", "sd over runs", "AUC", "seconds", *MAP_HEADS)
    for a, b, _ in PAIRS:
        for method, words in KINDS:
            target, where = f"{a}_{b}", folder + "/haxby"
            said = voxsift("cv", where, "--target", target, "--folds-from", "run", "--group", "run", *FEW, *words)
            row(f"{a}, {b}", method, *outer(said, "balanced_accuracy"), f"{said['outer']['auc']['pooled']:.3f}", f"{said['seconds']:.1f}",
                *readable(where, target, (*words, "--group", "run"), [[("--only", "half=a"), ("--only", "half=b")]]))


# Written down before any of them was run, and not changed after. Regions are those of an atlas; JHU's label image lies beside
# the SOOP lesions, and that of ARC's grid in a folder arc beside SOOP's.
FGM = ("--method", "fgm", "--C", "10")
IN_REGIONS = ("--by-size", "--per-iteration", "2", "--iterations", "10")
ROUNDS = [("lasso", FEW), ("fgm", (*FGM, "--per-iteration", "10", "--iterations", "10")),
          ("fgm, groups schaefer100", (*FGM, "--groups", "atlas:schaefer100", *IN_REGIONS)),
          ("fgm, groups jhu", (*FGM, "--groups", "atlas:{jhu}", *IN_REGIONS)),
          ("fgm, gauss", (*FGM, "--feature-map", "gauss", "--per-iteration", "5", "--iterations", "8")),
          ("fgm, poly2 of regions", (*FGM, "--feature-map", "poly2", "--per-iteration", "5", "--iterations", "8")),
          ("mslr", ("--method", "mslr", "--per-iteration", "10", "--iterations", "10", "--C", "10", "--refit", "5")),
          ("skfs", (*FEW, *KINDS[-1][1]))]
KIND_OF_IMAGE = {"kinds": "lesion", "t1w": "t1w", "severe": "lesion"}
ROUND_QUESTIONS = [("Broca or Anomic, from lesions", "kinds", "wab_type", 3), ("older than the median, from T1w", "t1w", "older", 1),
                   ("NIHSS above 4, from lesions", "severe", "severe", 1)]
CPU_LIMIT, NIHSS = 3600, 4


def severe():
    """The table of SOOP's subjects whose NIHSS is known, with a column of whether it is above 4."""
    rows = [r for r in csv.DictReader(open(soop + "/participants.tsv"), delimiter="\t") if r["nihss"] != "n/a"]
    for r in rows:
        r["severe"] = "yes" if float(r["nihss"]) > NIHSS else "no"
        r["lesion"] = f"{soop}/{r['lesion']}"
    with open(folder + "/severe.tsv", "w") as f:
        table = csv.DictWriter(f, rows[0], delimiter="\t", lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def region_names(name):
    """JHU's regions on a cohort's grid, with their names beside; None where there is no such image."""
    beside = os.path.dirname(os.path.abspath(soop)) + "/arc"
    image = (soop if name == "severe" else beside) + "/jhu_4mm.nii.gz"
    if not soop or not os.path.exists(image):
        return None
    shutil.copy(image, f"{folder}/jhu_{name}.nii.gz")
    if os.path.exists(beside + "/jhu156.txt"):
        shutil.copy(beside + "/jhu156.txt", f"{folder}/jhu_{name}.txt")
    return f"{folder}/jhu_{name}.nii.gz"


def round_cohorts(name):
    """Of voxels as everywhere here, and of the means of regions over the same mask."""
    image = KIND_OF_IMAGE[name]
    for what in (name, name + "_regions"):
        words = ("--regions", "--atlas", "schaefer100") if what != name else ()
        subprocess.run([build + "/voxsift", "cohort", f"{folder}/{name}.tsv", "--image-column", image, *COHORTS[image], *words,
                        "-o", f"{folder}/rounds_{what}", "--force", "-q"], check=True, stdout=subprocess.DEVNULL)


def round_row(question, method, words, where, target, repeats):
    """Scores of nested cross-validation, and what a model of everybody selects."""
    said = voxsift("cv", where, "--target", target, "--repeats", str(repeats), *words, threads=1, limit=CPU_LIMIT)
    if not said:
        row(question, method, f"not within {CPU_LIMIT} s of a processor", *[""] * 7)
        return None
    model = voxsift("fit", where, "--target", target, "--choose-lambda", "5", *words, threads=1, limit=CPU_LIMIT) or {}
    volume = said["baseline"]["global_signal"]
    row(question, method, *outer(said, "balanced_accuracy"), f"{said['outer']['auc']['pooled']:.3f}",
        f"{volume['balanced_accuracy']:.3f}", f"{said['cpu']:.1f}", model.get("outer_iterations", ""),
        model.get("selected", model.get("nonzero", "not reached")), model.get("nonzero", "not reached"))
    return volume


def round_rows(question, name, target, repeats, slow):
    """All methods but the last, and the volume alone; or, as it takes longer than all others, the last."""
    if slow:
        round_row(question, *ROUNDS[-1], f"{folder}/rounds_{name}", target, repeats)
        return
    round_cohorts(name)
    jhu, volume = region_names(name), None
    for method, words in ROUNDS[:-1]:
        if "{jhu}" in "".join(words) and not jhu:
            continue
        where = f"{folder}/rounds_{name}{'_regions' if method.endswith('of regions') else ''}"
        told = round_row(question, method, [w.replace("{jhu}", jhu or "") for w in words], where, target, repeats)
        volume = volume or told
    row(question, "volume alone", f"{volume['balanced_accuracy']:.3f}", "", f"{volume['auc']:.3f}", *[""] * 5)


def generation():
    halved()
    if soop:
        severe()
    else:
        print("SOOP: no folder (SOOP=folder): left out, and the groups of JHU's regions with it", flush=True)
    print("Feature generation beside others, one thread:", flush=True)
    heads("question", "method", "balanced accuracy [95 %]", "sd over folds", "AUC", "volume", "seconds of a processor", "rounds",
          "units", "voxels or regions")
    for slow in (False, True):
        for question, name, target, repeats in ROUND_QUESTIONS:
            if soop or name != "severe":
                round_rows(question, name, target, repeats, slow)


os.makedirs(folder, exist_ok=True)
cohorts()
started = time.time()
for part, run in (("scores", scores), ("times", times), ("lambda", choosing), ("haxby", viewing), ("categories", lambda: viewing(True)),
                  ("permutations", permutations), ("stability", stable), ("fused", fused), ("fused-haxby", fused_slice),
                  ("generation", generation)):
    if part in parts:
        run()
print(f"All of it took {time.time() - started:.0f} s", flush=True)
