"""The columns of every table that voxsift writes are those that docs/outputs.md and docs/cohorts.md name.

A row of their tables documents the files (or 'standard output') of its first cell, in the section of a
command; columns are its words in code. Capitals in them stand for names. Every column that is written is
documented, and every documented column is written by one of the runs below."""
import glob
import os
import re
import shutil
import subprocess
import sys

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
EVERYWHERE = {"index", "feature", "i", "j", "k", "x", "y", "z", "class"}  # see "In general"
NAMES = {"CLASS": "Broca|Anomic|Conduction|0|1", "COVARIATE": "intercept|age_at_stroke", "METRIC": "auc|r", "TARGET": "wab_type|wab_aq",
         "REPEAT": r"\d+", "FOLD": r"\d+", "N": r"\d+", "ATLAS": "schaefer100"}
wrong = []


def documented(path):
    """{(section, file): columns} of the tables of a document."""
    found, section, of_table = {}, "", None
    for line in open(path):
        if line.startswith("## "):
            section, of_table = re.split(r"[:,]", line[3:].strip())[0], None
        cells = [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not cells:
            of_table = None
            continue
        header = re.match(r"columns of (\S+)", cells[0])
        of_table = header[1] if header else of_table
        files = [of_table] if of_table else [f.strip() for f in cells[0].split(",")]
        words = re.findall(r"`([^`]+)`", " ".join(cells if of_table else cells[1:]))
        for f in files:
            if f.endswith(".tsv") or f == "standard output":
                found.setdefault((section, f), set()).update(w for w in words if re.fullmatch(r"[A-Za-z_0-9:]+", w))
    return found


def pattern(column):
    return re.compile(re.sub("[A-Z]+", lambda m: f"({NAMES.get(m[0], m[0])})", column))


def run(*words):
    done = subprocess.run(["voxsift", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: exit {done.returncode}: {done.stderr}")
    return done.stdout


ours = documented(TOP + "/docs/outputs.md") | documented(TOP + "/docs/cohorts.md")
written = {}


def headers(section, folder):
    for path in sorted(glob.glob(folder + "/*.tsv")):
        note(section, os.path.basename(path), open(path).readline())


def note(section, name, line):
    written.setdefault((section, name), set()).update(line.rstrip("\n").split("\t"))


def makes(section, folder, *words):
    run(*words, "-q", "-o", folder)
    headers(section, folder)


table = TOP + "/examples/arc/participants.tsv"
images = ["cohort", table, "--image-column", "lesion", "--mask-fraction", "0.05"]
files = next(s for s, f in ours if f == "features.tsv")  # the section of the files of a cohort
run(*images, "--only", "wab_type=Broca,Anomic", "-q", "-o", "voxels")  # its participants.tsv is the user's
makes(files, "regions", *images, "--only", "wab_type=Broca,Anomic,Conduction", "--regions", "--atlas", "schaefer100")
written.pop((files, "participants.tsv"))
with open("numbers.tsv", "w") as f:
    f.write("participant_id\tx\ty\n" + "".join(f"s{i}\t{i * 7 % 11}\t{i * 5 % 13}\n" for i in range(20)))
makes(files, "columns", "cohort", "--feature-table", "numbers.tsv")
written.pop((files, "participants.tsv"))
makes(files, "patched", "patches", table, "--image-column", "t1w", "--label-column", "lesion", "--label-threshold", "0.5", "--per-class", "3")
written.pop((files, "participants.tsv"))
makes("cv", "cv-voxels", "cv", "patched", "--target", "lesion", "--nlambda", "2", "--inner-folds", "2", "--folds", "2")
run("cv", "patched", "--target", "wab_aq", "--nlambda", "2", "--inner-folds", "2", "--folds", "2", "-q", "-o", "cv-voxels-r")
headers("cv", "cv-voxels-r")
for columns in written.values():  # the id column of a cohort of voxels
    columns.difference_update({"voxel_id"})
run("fit", "patched", "--target", "lesion", "--lambda-ratio", "0.3", "-q", "-o", "of-voxels")
makes("predict", "maps", "predict", "of-voxels", table, "--only", "participant_id=sub-M2004", "--label-column", "lesion")

two, many = ["voxels", "--target", "wab_type"], ["regions", "--target", "wab_type"]
fits = [two, many, [*two, "--method", "fused", "--graph", "grid6", "--lambda-ratio", "0.5"],
        [*two, "--method", "skfs", "--lambda-ratio", "0.5"],
        [*many, "--method", "hsic-lasso", "--lambda-ratio", "0.5", "--confounds", "age_at_stroke", "--confounds-as", "regress"]]
fgm = ["--method", "fgm", "--per-iteration", "2", "--iterations", "1"]
fits += [[*of, *fgm, *more] for of in (two, many) for more in (["--feature-map", "poly2"],)]
fits += [[*of, "--method", "svm", "--kernel", "rbf"] for of in (two, many)]
fits += [[*many, "--method", "measure", "--measure", "f1", "--per-iteration", "2", "--iterations", "2"]]
fits += [[*many, "--method", "mkl", "--groups", "file:groups.tsv"]]
fits += [[*many, *fgm, "--groups", "file:groups.tsv", "--refit", "1"], [*two, *fgm, "--groups", "patches:8"]]
with open("groups.tsv", "w") as f:
    names = [line.split("\t")[0] for line in open("regions/regions.tsv").read().split("\n")[1:-1]]
    f.write("group\tfeature\n" + "".join(f"g{k % 4}\t{name}\n" for k, name in enumerate(names)))
people = [line.rstrip("\n").split("\t") for line in open("columns/participants.tsv")]
fits += [[*two, "--bags", "patches:20"]]
for kinds in (2, 3):
    with open("columns/participants.tsv", "w") as f:
        f.write("participant_id\tbag\twab_type\n" + "".join(f"{p[0]}\tb{k // 2}\t{['Broca', 'Anomic', 'Conduction'][k // 2 % kinds]}\n" for k, p in enumerate(people[1:])))
    makes("fit", f"bags{kinds}", "fit", "columns", "--target", "wab_type", "--bags", "bag")
for k, words in enumerate(fits):
    makes("fit", f"fit{k}", "fit", *words)
makes("simulate", "edges", "simulate", "fused", "--subjects", "40", "--features", "30")
with open("rows.tsv", "w") as f:
    f.write("term\tfeature\tvalue\n" + "".join(f"{k + 1}\tx{k + d}\t{1 - 2 * d}\n" for k in range(29) for d in (0, 1)))
makes("fit", "matrix", "fit", "edges", "--target", "score", "--method", "fused", "--penalty", "matrix:rows.tsv", "--lambda-ratio", "0.5")
for words in (two, many, ["voxels", "--target", "wab_aq"]):
    makes("cv", f"cv{len(written)}{words[0]}{words[2]}", "cv", *words, "--nlambda", "3", "--inner-folds", "3", "--folds", "3")
svm = ["--method", "svm", "--inner-folds", "0", "--C"]
for folder, of, *words in (("one", "voxels", "wab_aq"), ("ones", "regions", "wab_type")):  # leave one out
    subjects = len(open(of + "/participants.tsv").readlines()) - 1
    makes("cv", folder, "cv", of, "--target", *words, "--folds", str(subjects), *svm, "1")
run("cv", "voxels", "--target", "wab_aq", "--folds-from", "one/folds.tsv", *svm, "9", "-q", "-o", "other")
makes("compare", "compared", "compare", "one", "other")
makes("permute", "permuted", "permute", *two, "--nlambda", "2", "--permutations", "2")
makes("permute", "permuted_score", "permute", "voxels", "--target", "wab_aq", "--nlambda", "2", "--permutations", "2")
for words in (two, many):
    makes("stability", "stable-" + words[0], "stability", *words, "--pairs", "2", "--nlambda", "10")
shutil.copytree("voxels", "three")
rows = open("voxels/participants.tsv").read().split("\n")[:-1]
open("three/participants.tsv", "w").write("".join(f"{row}\t{('Broca', 'Anomic', 'Conduction')[k % 3] if k else 'kind'}\n" for k, row in enumerate(rows)))
for target in ("wab_aq", "kind"):
    makes("stability", "stable-" + target, "stability", "three", "--target", target, "--clusters", "auto", "--pairs", "2")
note("predict", "standard output", run("predict", "fit0", "voxels", "-q").split("\n", 1)[0])
run("fit", "voxels", "--target", "wab_aq", "-q", "-o", "score")
note("predict", "standard output", run("predict", "score", "voxels", "-q").split("\n", 1)[0])
for kinds in (2, 3):
    run("predict", f"bags{kinds}", "columns", "-q", "--explain", f"parts{kinds}")
    headers("predict", f"parts{kinds}")
for words in (["--nlambda", "2"], ["--method", "fused", "--lambda-ratio", "0.5", "--nlambda", "2"], ["--method", "fgm", "--iterations", "2"], ["--method", "svm", "--C", "1"]):
    note("path", "standard output", run("path", *two, "-q", *words).split("\n", 1)[0])
makes("regions", "clusters", "regions", "fit0/weights.nii.gz", "--min-size", "1", "--atlas", "schaefer100")
makes("match", "matched", "match", "fit0", "score")
for kind in ("lasso", "pairs", "spheres", "bags", "skfs-linear", "skfs-additive"):
    makes("simulate", kind, "simulate", kind, "--subjects", "20")
makes("simulate", "classes", "simulate", "lasso", "--subjects", "20", "--target", "diagnosis")

for key in sorted(written.keys() - ours.keys()):
    if key[1] == "clusters.tsv" and key[0] in ("cv", "stability"):
        continue
    wrong.append(f"{key[0]}: {key[1]} is not documented")
for (section, name), columns in sorted(written.items()):
    where = "regions" if name == "clusters.tsv" else section
    known = ours.get((where, name), set())
    patterns = [pattern(c) for c in known | EVERYWHERE]
    for column in sorted(columns):
        if not any(p.fullmatch(column) for p in patterns):
            wrong.append(f"{section}: column '{column}' of {name} is not documented")
for (section, name), columns in sorted(ours.items()):
    have = written.get((section, name), set())
    if (section, name) not in written and not (section == files and name == "participants.tsv"):
        wrong.append(f"{section}: {name} is documented and not written")
    for column in sorted(columns):
        if have and not any(pattern(column).fullmatch(c) for c in have):
            wrong.append(f"{section}: column '{column}' of {name} is documented and not written")
print("\n".join(wrong))
print(f"{len(written)} tables", file=sys.stderr)
sys.exit(bool(wrong) or len(written) < 30)
