"""Small directories that voxsift made, as seeds of the mutation fuzzer, and the commands that read each.

{s} is where all seeds are, {d} the copy under test, {o} a name for outputs. A seed belongs to a kind: cohort, model,
part, checkpoint, table or result."""
import os
import resource
import subprocess

import nibabel as nib
import numpy as np

N = 20
SMALL = "--nlambda 3 --folds 2 --inner-folds 2 --bootstraps 100"


class Seed:
    def __init__(self, name, kind, commands, files=None):
        self.name, self.kind, self.commands, self.files = name, kind, commands, files


def write(path, table):
    rows = ["\t".join(table)] + ["\t".join(str(v) for v in row) for row in zip(*table.values())]
    with open(path, "w") as f:
        f.write("\n".join(rows) + "\n")


def save_image(path, values, size=4.0):
    nib.save(nib.Nifti1Image(values, np.diag([size, size, size, 1])), path)


def raw_data(root):
    """What a user has: a table of people, features as text, images, an atlas."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(N, 8)).astype("f4")
    noisy = x[:, 0] + 0.3 * rng.normal(size=N)
    dx = np.array(["patient", "control"])[(noisy > np.median(noisy)).astype(int)]  # halves: inner folds need two of each
    three = np.array(["a", "b", "c"])[np.arange(N) % 3]
    ids = [f"s{k:02}" for k in range(N)]
    people = {"participant_id": ids, "score": np.round(x[:, 0] - x[:, 2] + 0.1 * rng.normal(size=N), 6), "dx": dx, "three": three,
              "age": np.round(rng.uniform(20, 60, N), 3), "site": np.repeat(["p", "q", "r", "t"], N // 4),
              "fold": np.arange(N) % 2 + 1, "cost": np.round(rng.uniform(0.5, 2, N), 3)}
    os.makedirs(root)
    at = lambda name: os.path.join(root, name)
    write(at("people.tsv"), people)
    write(at("x.tsv"), {"participant_id": ids, **{f"f{j}": np.round(x[:, j], 6) for j in range(8)}})
    np.save(at("x.npy"), x)
    write(at("folds.tsv"), {"participant_id": ids, "fold": np.arange(N) % 3})
    write(at("edges.tsv"), {"from": [f"f{j}" for j in range(7)] + ["f7"], "to": [f"f{j + 1}" for j in range(7)] + ["f0"],
                            "weight": np.round(rng.uniform(0.5, 2, 8), 3)})
    write(at("penalties.tsv"), {"feature": [f"f{j}" for j in range(8)], "penalty": np.round(rng.uniform(0.5, 2, 8), 3)})
    np.save(at("penalties.npy"), rng.uniform(0.5, 2, 8))
    np.save(at("kernel.npy"), x.astype(float) @ x.T.astype(float))
    write(at("kernel.tsv"), {"participant_id": ids})
    write(at("groups.tsv"), {"group": list("aabbccdd") + ["a"], "feature": [f"f{j}" for j in range(8)] + ["f7"]})
    write(at("tree.tsv"), {"feature": [f"f{j}" for j in range(8)], "path": ["l/u/a", "l/u/b", "l/d", "l/d", "r/u", "r/u", "r/d", "r"]})
    write(at("terms.tsv"), {"term": list("aabbccdd"), "feature": [f"f{j}" for j in (0, 1, 1, 2, 2, 3, 4, 7)], "value": [1, -1, 1, -1, 1, -1, 1, 0.5]})
    with open(at("x.svm"), "w") as f:
        for k in range(N):
            cells = [f"{j + 1}:{rng.normal():.5g}" for j in range(40) if rng.random() < 0.15 or j == k % 40]
            f.write(f"{[-1, 1][k % 2]} {' '.join(cells)}\n")
    shape = (4, 3, 3)
    mask = np.zeros(shape, "u1")
    mask[:3] = 1
    save_image(at("mask.nii.gz"), mask)
    labels = np.zeros(shape, "i2")
    labels[:3] = 1 + np.arange(27).reshape(3, 3, 3) // 5
    save_image(at("atlas.nii.gz"), labels)
    write(at("names.tsv"), {"index": range(1, 7), "name": [f"region {k}" for k in range(1, 7)]})
    save_image(at("penalties.nii.gz"), rng.uniform(0.5, 2, shape).astype("f4"))
    paths = []
    for k in range(N):
        values = rng.normal(size=shape).astype("f4") + 5
        values[0, 0, :] += x[k, 0]
        values[2, 1, :] -= x[k, 2]
        save_image(at(f"i{k:02}.nii.gz"), values)
        paths.append(f"i{k:02}.nii.gz")
    write(at("images.tsv"), {**people, "image": paths})
    save_image(at("four.nii.gz"), np.stack([nib.load(at(p)).get_fdata().astype("f4") for p in paths], 3))
    write(at("rows.tsv"), {"condition": dx, "score": people["score"]})


COHORTS = {
    "voxels": "{s}/raw/images.tsv --image-column image --mask {s}/raw/mask.nii.gz",
    "regions": "{s}/raw/images.tsv --image-column image --regions --atlas {s}/raw/atlas.nii.gz --atlas-names {s}/raw/names.tsv",
    "columns": "--feature-table {s}/raw/x.tsv --participants {s}/raw/people.tsv",
    "sparse": "--svmlight {s}/raw/x.svm",
}
TARGETS = {"voxels": ("score", "dx"), "regions": ("score", "dx"), "columns": ("score", "dx"), "sparse": ("target", "target")}

# name: cohort, options
MODELS = {
    "lasso": ("voxels", "--target score --lambda-ratio 0.3 --confounds age,site"),
    "lasso-classes": ("columns", "--target three --lambda-ratio 0.2 --penalty-factors {s}/raw/penalties.tsv --subject-weights cost"),
    "lasso-chosen": ("regions", "--target dx --choose-lambda 4 --nlambda 4 --ridge 0.1"),
    "lasso-sparse": ("sparse", "--target target --lambda-ratio 0.3"),
    "lasso-out": ("columns", "--target score --lambda-ratio 0.2 --confounds age --confounds-as regress --regress-on dx=control"),
    "lasso-plain": ("columns", "--target score --standardize none --lambda-ratio 0.2 --nonnegative"),
    "fused-tree": ("voxels", "--target score --method fused --sparsity 1 --lambda-ratio 0.2"),
    "fused-cuts": ("voxels", "--target dx --method fused --graph grid6 --lambda-ratio 0.3"),
    "fused-table": ("columns", "--target score --method fused --graph {s}/raw/edges.tsv --lambda-ratio 0.3"),
    "fused-joint": ("columns", "--target three --method fused --graph chain --loss multinomial --lambda-ratio 0.3"),
    "fused-learned": ("columns", "--target dx --method fused --graph correlation:1.2 --lambda-ratio 0.3"),
    "fused-terms": ("columns", "--target score --method fused --graph chain --penalty matrix:{s}/raw/terms.tsv --lambda-ratio 0.2"),
    "fused-trend": ("columns", "--target score --method fused --penalty trend --lambda-ratio 0.2"),
    "skfs": ("voxels", "--target dx --method skfs --laplacian 1 --lambda-ratio 0.4"),
    "skfs-classes": ("columns", "--target three --method skfs --graph {s}/raw/edges.tsv --lambda-ratio 0.3 --confounds age --confounds-as regress"),
    "skfs-hsic": ("columns", "--target dx --method hsic-lasso --bandwidth median --lambda-ratio 0.3"),
    "fgm": ("columns", "--target dx --method fgm --groups file:{s}/raw/groups.tsv --per-iteration 1 --iterations 2 --refit 1 --by-size"),
    "fgm-tree": ("columns", "--target dx --method fgm --groups tree:{s}/raw/tree.tsv --per-iteration 1 --iterations 2"),
    "fgm-patches": ("voxels", "--target dx --method fgm --groups patches:6 --per-iteration 1 --iterations 2 --loss logistic"),
    "fgm-pairs": ("columns", "--target three --method fgm --feature-map poly2 --per-iteration 2 --iterations 2"),
    "fgm-waves": ("columns", "--target dx --method fgm --feature-map gauss --per-iteration 1 --iterations 1 --refit 2"),
    "mslr": ("voxels", "--target dx --method mslr --nselect 3 --confounds age"),
    "measure": ("voxels", "--target dx --method measure --measure f1 --nselect 3 --confounds age --refit 1"),
    "measure-roc": ("columns", "--target three --method measure --measure roc --per-iteration 1 --iterations 2"),
    "svm": ("voxels", "--target dx --method svm --C 1"),
    "svm-rbf": ("columns", "--target three --method svm --kernel rbf --confounds age --confounds-as regress"),
    "svm-poly": ("columns", "--target score --method svm --kernel poly --degree 2 --standardize unit"),
    "svm-given": ("columns", "--target dx --method svm --kernel precomputed --kernel-file {s}/raw/kernel.npy --C 1"),
    "svm-pairs": ("columns", "--target three --method svm --multiclass one-vs-one --kernel rbf --gamma 0.5 --C 1 --confounds age --confounds-as regress"),
    "svm-rank": ("columns", "--target three --method svm --multiclass one-vs-one --kernel rbf --rank 5 --C 1"),
    "mkl": ("columns", "--target dx --method mkl --groups file:{s}/raw/groups.tsv --C 1"),
    "mkl-score": ("voxels", "--target score --method mkl --groups patches:6 --C 1"),
    "mkl-pairs": ("columns", "--target three --method mkl --groups file:{s}/raw/groups.tsv --multiclass one-vs-one --C 1"),
    "mslr-steps": ("columns", "--target dx --method mslr --feature-map hik --per-iteration 2 --iterations 2"),
}

RUNS = {
    "cv": ("columns", "cv", "--target score --confounds age " + SMALL),
    "cv-classes": ("voxels", "cv", "--target dx --repeats 2 " + SMALL),
    "cv-ridge": ("columns", "cv", "--target score --ridge 1 " + SMALL),
    "cv-svm": ("columns", "cv", "--target dx --method svm --C 0.1,1 --folds 2 --inner-folds 2 --bootstraps 100"),
    "cv-fgm": ("columns", "cv", "--target dx --method fgm --per-iteration 1 --iterations 2 --folds 2 --inner-folds 2 --bootstraps 100"),
    "several": ("columns", "cv", "--target dx --method lasso,svm,mkl --groups file:{s}/raw/groups.tsv --nlambda 3 --C 0.1,1 --folds 2 --inner-folds 2 --bootstraps 100"),
    "cv-pairs": ("columns", "cv", "--target three --method svm --multiclass one-vs-one --C 0.1,1 --folds 2 --inner-folds 3 --bootstraps 100"),
    "cv-mkl": ("columns", "cv", "--target dx --method mkl --groups file:{s}/raw/groups.tsv --C 0.1,1 --folds 2 --inner-folds 2 --bootstraps 100"),
    "cv-given": ("columns", "cv", "--target dx --method svm --kernel precomputed --kernel-file {s}/raw/kernel.npy --C 0.1,1 --folds 2 --inner-folds 2 --bootstraps 100"),
    "permute": ("columns", "permute", "--target score --permutations 6 --stop-at 0 " + SMALL),
    "stability": ("voxels", "stability", "--target score --pairs 2 --nlambda 4"),
    "stability-classes": ("columns", "stability", "--target three --pairs 2 --nlambda 4"),
}

STOPPED = {
    "cv": ("columns", "cv", "--target score --folds 2 --inner-folds 2 --nlambda 4 --repeats 40 --bootstraps 100"),
    "permute": ("columns", "permute", "--target score --permutations 100 --stop-at 0 " + SMALL),
    "stability": ("columns", "stability", "--target three --pairs 100 --nlambda 6"),
}


def cohort_commands(name):
    score, dx = TARGETS[name]
    voxels = name in ("voxels", "regions")
    out = ["info {d} --json", "info {d}", "path {d} --target %s --nlambda 3 --json" % score,
           "fit {d} --target %s --lambda-ratio 0.3 -o {o} --json" % score,
           "fit {d} --target %s --lambda-ratio 0.3 -o {o} --json" % dx,
           "fit {d} --target %s --method fgm --per-iteration 1 --iterations 2 -o {o} --json" % dx,
           "cv {d} --target %s %s -o {o} --json" % (score, SMALL),
           "permute {d} --target %s --permutations 4 %s -o {o} --json" % (score, SMALL),
           "stability {d} --target %s --pairs 2 --nlambda 3 -o {o} --json" % score]
    if name != "sparse":
        out += ["fit {d} --target %s --method skfs --lambda-ratio 0.4 -o {o} --json" % dx,
                "fit {d} --target %s --method fused --lambda-ratio 0.3 -o {o} --json" % score,
                "fit {d} --target %s --confounds age,site --subject-weights cost --lambda-ratio 0.3 -o {o} --json" % score,
                "cv {d} --target %s --group site %s -o {o} --json" % (score, SMALL),
                "fit {d} --target %s --method mslr --feature-map poly2 --nselect 2 -o {o} --json" % dx]
    if voxels:
        out += ["fit {d} --target %s --method fused --graph %s --lambda-ratio 0.3 -o {o} --json"
                % (score, "grid6" if name == "voxels" else "regions")]
    if name == "voxels":
        out += ["regions {d}/coverage.nii.gz --threshold 1 -o {o}", "fit {d} --target dx --method fgm --groups patches:6 --per-iteration 1 --iterations 1 -o {o} --json",
                "fit {d} --target dx --method fgm --groups tree:octree --per-iteration 1 --iterations 1 -o {o} --json"]
    model = {"voxels": "lasso", "regions": "lasso-chosen", "columns": "fused-table", "sparse": "lasso-sparse"}[name]
    out += ["predict {s}/m-%s {d} --json" % model, "check-model {s}/m-%s {d} --json" % model]
    if name == "columns":
        out += ["check-model {s}/m-%s {d} --json" % m for m in ("skfs-classes", "fgm", "fgm-waves", "fused-terms")]
    return out


KERNEL = " --kernel-file {s}/raw/kernel.npy"


def model_commands(cohort, more):
    return ["info {d} --json", "info {d}", "predict {d} {s}/c-%s --json" % cohort + more, "predict {d} {s}/c-%s" % cohort + more,
            "check-model {d} {s}/c-%s --json" % cohort, "check-model {d} {s}/c-%s" % cohort, "report {d} -o {o}.html"] + (
                ["predict {d} {s}/raw/images.tsv --image-column image --json", "report {d} --atlas {s}/raw/atlas.nii.gz -o {o}.html",
                 "regions {d}/weights.nii.gz -o {o}", "match {d} {s}/c-voxels/coverage.nii.gz --resample --json"] if cohort == "voxels" else [])


TABLES = {
    "edges.tsv": ["fit {s}/c-columns --target score --method fused --graph {d}/edges.tsv --lambda-ratio 0.3 -o {o} --json",
                  "fit {s}/c-columns --target score --method fused --graph {d}/edges.tsv --sparsity 1 --solver bound-propagation --lambda-ratio 0.3 -o {o} --json",
                  "fit {s}/c-columns --target dx --method skfs --graph {d}/edges.tsv --lambda-ratio 0.3 -o {o} --json"],
    "penalties.tsv": ["fit {s}/c-columns --target score --penalty-factors {d}/penalties.tsv --lambda-ratio 0.3 -o {o} --json",
                      "cv {s}/c-columns --target dx --penalty-factors {d}/penalties.tsv %s -o {o} --json" % SMALL],
    "penalties.npy": ["fit {s}/c-columns --target score --penalty-factors {d}/penalties.npy --lambda-ratio 0.3 -o {o} --json", "info {d}/penalties.npy --json"],
    "penalties.nii.gz": ["fit {s}/c-voxels --target score --penalty-factors {d}/penalties.nii.gz --lambda-ratio 0.3 -o {o} --json",
                         "regions {d}/penalties.nii.gz --threshold 1 --atlas {s}/raw/atlas.nii.gz -o {o}"],
    "folds.tsv": ["cv {s}/c-columns --target score --folds-from {d}/folds.tsv --nlambda 3 --inner-folds 2 --bootstraps 100 -o {o} --json"],
    "kernel.npy": ["fit {s}/c-columns --target dx --method svm --kernel precomputed --kernel-file {d}/kernel.npy -o {o} --json"],
    "groups.tsv": ["fit {s}/c-columns --target dx --method mkl --groups file:{d}/groups.tsv -o {o} --json",
                   "fit {s}/c-columns --target dx --method fgm --groups file:{d}/groups.tsv --per-iteration 1 --iterations 2 -o {o} --json",
                   "fit {s}/c-columns --target dx --method mslr --groups file:{d}/groups.tsv --nselect 2 --by-size -o {o} --json"],
    "tree.tsv": ["fit {s}/c-columns --target dx --method fgm --groups tree:{d}/tree.tsv --per-iteration 1 --iterations 2 -o {o} --json"],
    "terms.tsv": ["fit {s}/c-columns --target score --method fused --graph chain --penalty matrix:{d}/terms.tsv --lambda-ratio 0.2 -o {o} --json"],
    "people.tsv": ["info {d}/people.tsv --json", "cohort --feature-table {s}/raw/x.tsv --participants {d}/people.tsv -o {o} --json",
                   "cohort --npy {s}/raw/x.npy --rows {d}/people.tsv -o {o} --json"],
    "x.tsv": ["info {d}/x.tsv --json", "cohort --feature-table {d}/x.tsv --participants {s}/raw/people.tsv -o {o} --json",
              "predict {s}/m-fused-table --feature-table {d}/x.tsv --participants {s}/raw/people.tsv --json"],
    "x.npy": ["info {d}/x.npy --json", "cohort --npy {d}/x.npy --rows {s}/raw/people.tsv -o {o} --json"],
    "x.svm": ["cohort --svmlight {d}/x.svm -o {o} --json"],
    "atlas.nii.gz": ["cohort {s}/raw/images.tsv --image-column image --regions --atlas {d}/atlas.nii.gz -o {o} --json",
                     "fit {s}/c-voxels --target dx --method fgm --groups atlas:{d}/atlas.nii.gz --per-iteration 1 --iterations 1 -o {o} --json",
                     "regions {s}/m-lasso/weights.nii.gz --atlas {d}/atlas.nii.gz -o {o}", "match {s}/m-lasso {d}/atlas.nii.gz --resample --tolerance 3", "info {d}/atlas.nii.gz --json"],
    "names.tsv": ["cohort {s}/raw/images.tsv --image-column image --regions --atlas {s}/raw/atlas.nii.gz --atlas-names {d}/names.tsv -o {o} --json",
                  "regions {s}/m-lasso/weights.nii.gz --atlas {s}/raw/atlas.nii.gz --atlas-names {d}/names.tsv -o {o}"],
    "four.nii.gz": ["cohort {d}/four.nii.gz --rows {s}/raw/rows.tsv -o {o} --json", "info {d}/four.nii.gz --json"],
    "rows.tsv": ["cohort {s}/raw/four.nii.gz --rows {d}/rows.tsv -o {o} --json"],
    "mask.nii.gz": ["patches {s}/raw/images.tsv --image-column image --label-column image --label-threshold 5 --mask {d}/mask.nii.gz -o {o} --json",
                    "cohort {s}/raw/images.tsv --image-column image --mask {d}/mask.nii.gz -o {o} --json",
                    "cohort {s}/raw/images.tsv --image-column image --mask {d}/mask.nii.gz --resample --smooth 6 --scale z -o {o} --json"],
}


# Rows that are voxels.
PATCHES = "patches {s}/raw/images.tsv --image-column image --label-column image --label-threshold 5 --means 5 --coordinates --per-class 3"
OF_PATCHES = "--target image --method svm --kernel rbf"

BOTH = "compare {d}/lasso {d}/svm --permutations 99 --bootstraps 100"
SEVERAL = ["report {d}/mkl -o {o}.html", BOTH + " --metric all -o {o} --json", BOTH, "compare {d}/mkl {s}/r-cv-given --permutations 99 --bootstraps 100"]


def all_seeds():
    seeds = [Seed("c-patches", "cohort", ["info {d} --json", "fit {d} %s -o {o} --json" % OF_PATCHES,
                                          "cv {d} %s --C 0.1,1 --folds 2 --inner-folds 2 --bootstraps 100 -o {o}" % OF_PATCHES,
                                          "predict {s}/m-patches {d} --json"]),
             Seed("m-patches", "model", ["info {d} --json", "predict {d} {s}/c-patches --json", "check-model {d} {s}/c-patches",
                                         "predict {d} {s}/raw/images.tsv -o {o} --label-column image --json", "report {d} -o {o}.html"])]
    seeds += [Seed("c-" + name, "cohort", cohort_commands(name)) for name in COHORTS]
    seeds += [Seed("m-" + name, "model", model_commands(cohort, KERNEL if name == "svm-given" else "")) for name, (cohort, _) in MODELS.items()]
    for name, (_, command, _) in RUNS.items():
        seeds.append(Seed("p-" + name, "part", ["merge {d} {s}/q-%s -o {o} --json" % name, "merge {s}/q-%s {d} -o {o}" % name]))
        compared = {"cv": "cv-ridge", "cv-ridge": "cv", "cv-mkl": "cv-given", "cv-given": "several/svm"}.get(name)
        seeds.append(Seed("r-" + name, "result", ["report {d} -o {o}.html"] + (SEVERAL if name == "several" else

            ["compare {d} {s}/r-%s --permutations 99 -o {o} --json" % compared, "compare {s}/r-%s {d} --permutations 99 --bootstraps 100 --metric all" % compared] if compared else [])))
    seeds.append(Seed("r-compare", "result", ["report {d} -o {o}.html"]))
    for name, (cohort, command, options) in STOPPED.items():
        seeds.append(Seed("k-" + name, "checkpoint", ["%s {s}/c-%s %s -o {d}/out --resume --json" % (command, cohort, options)]))
    seeds += [Seed("raw", "table", commands, [file] + (["kernel.tsv"] if file == "kernel.npy" else [])) for file, commands in TABLES.items()]
    return seeds


class Maker:
    def __init__(self, voxsift, root, environment):
        self.voxsift, self.root, self.environment = voxsift, root, environment

    def run(self, words, codes=(0,)):
        words = words.replace("{s}", self.root).split()
        p = subprocess.run([self.voxsift, *words, "-q"], capture_output=True, text=True, env=self.environment, timeout=60)
        if p.returncode not in codes:
            raise SystemExit(f"seed: voxsift {' '.join(words)}: exit {p.returncode}\n{p.stderr}")

    def stop(self, words, out):
        """Stopped in the middle, wherever that is on this machine: by a limit on the size of its checkpoint."""
        words = words.replace("{s}", self.root).split()
        p = subprocess.run([self.voxsift, *words, "-q", "-o", out], capture_output=True, text=True, env=self.environment, timeout=60,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000)))
        if p.returncode != 73 or not os.path.exists(out + ".checkpoint"):
            raise SystemExit(f"seed: {' '.join(words)} was not stopped: exit {p.returncode}\n{p.stderr}")

    def make(self):
        raw_data(os.path.join(self.root, "raw"))
        for name, options in COHORTS.items():
            self.run(f"cohort {options} -o {{s}}/c-{name}")
        self.run(PATCHES + " -o {s}/c-patches")
        self.run("fit {s}/c-patches " + OF_PATCHES + " -o {s}/m-patches")
        for name, (cohort, options) in MODELS.items():
            self.run(f"fit {{s}}/c-{cohort} {options} -o {{s}}/m-{name}", codes=(0, 3))
        for name, (cohort, command, options) in RUNS.items():
            for letter, chunk in (("p", " --chunk 1/2"), ("q", " --chunk 2/2"), ("r", "")):
                self.run(f"{command} {{s}}/c-{cohort} {options}{chunk} -o {{s}}/{letter}-{name}", codes=(0, 3))
        self.run("compare {s}/r-cv {s}/r-cv-ridge --metric all --permutations 99 --bootstraps 100 -o {s}/r-compare")
        for name, (cohort, command, options) in STOPPED.items():
            os.mkdir(os.path.join(self.root, "k-" + name))
            self.stop(f"{command} {{s}}/c-{cohort} {options}", os.path.join(self.root, "k-" + name, "out"))

