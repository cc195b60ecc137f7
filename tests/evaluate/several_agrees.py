"""`voxsift cv --method A,B,C` against cross-validations of each method alone and `voxsift compare` of these: the same
bytes, but for `command`, `seconds` and names of directories; with scores, two and three classes, images, covariates,
chunks and threads. Runs in an empty directory."""
import json
import os
import shutil

import nibabel as nib
import numpy as np
from oracle import check, finish, run, same, write

rng = np.random.default_rng(20)
N, P = 60, 30
ids = [f"s{k:02}" for k in range(N)]
X = rng.normal(size=(N, P)).astype("f4")
score = X[:, 0] - X[:, 3] + 0.7 * rng.normal(size=N)
level = (score > -0.6).astype(int) + (score > 0.6)
people = {"participant_id": ids, "score": score, "dx": np.where(score > 0.3, "yes", "no"), "kind": np.array(list("abc"))[level], "level": level,
          "age": [*np.round(rng.uniform(20, 60, N - 1), 2), "n/a"], "w": rng.uniform(0.5, 2, N), "site": np.repeat(list("pqrt"), N // 4)}
write("x.tsv", {"participant_id": ids, **{f"f{j}": X[:, j] for j in range(P)}})
write("people.tsv", people)
run("cohort", "--feature-table", "x.tsv", "--participants", "people.tsv", "-q", "-o", "c")
write("twins.tsv", {"participant_id": ids, **{f"f{j}": np.r_[X[:41, j], X[40:41, j], X[42:, j]] for j in range(P)}})  # a copy, which is warned of
run("cohort", "--feature-table", "twins.tsv", "--participants", "people.tsv", "-q", "-o", "twins")
os.mkdir("i")
for k, name in enumerate(ids):
    volume = rng.normal(size=(6, 5, 4)).astype("f4") + 9
    volume[2, 2, 1:3] += score[k]
    nib.save(nib.Nifti1Image(volume, np.diag([3, 3, 3, 1])), f"i/{name}.nii.gz")
run("cohort", "i", "--participants", "people.tsv", "--mask-fraction", "0.5", "-q", "-o", "v")


def same_comparison(what, one, other):
    """compare.json but for what has names of directories in it, and the table."""
    a, b = (json.load(open(f"{d}/compare.json")) for d in (one, other))
    for t in (a, b):
        for key in ("command", "seconds"):
            del t[key]
        for m in t["models"]:
            del m["directory"], m["command"]
    check(f"{what}: compare.json", a == b)
    check(f"{what}: compare.tsv", open(f"{one}/compare.tsv").read() == open(f"{other}/compare.tsv").read())


def several(cohort, methods, shared, own=(), cases=(), chunks=0):
    """`own`: options that not all take; of each method those that it has for itself alone."""
    own = dict(own)
    names = methods.split(",")
    for d in ["all", "compared", "merged", *names, *(f"p{k}" for k in range(1, 9))]:
        shutil.rmtree(d, ignore_errors=True)
    words = [cohort, *shared, *sorted({w for each in own.values() for w in each}, key=lambda w: " ".join(w))]
    words = [x for w in words for x in ([w] if isinstance(w, str) else w)]
    out, err = run("cv", *words, "--method", methods, "--json", "-o", "all", "--nthreads", "2")
    said = json.loads(out)
    for name in names:
        run("cv", cohort, *shared, *(x for w in own.get(name, ()) for x in w), "--method", name, "-q", "-o", name)
        same(f"{cohort} {methods}: {name}", name, f"all/{name}")
    check("nothing else", sorted(os.listdir("all")) == sorted([".voxsift", "compare.json", "compare.tsv", *names]), os.listdir("all"))
    bootstraps = shared[shared.index("--bootstraps") + 1]
    seed = ["--seed", shared[shared.index("--seed") + 1]] if "--seed" in shared else []
    run("compare", *names, "--bootstraps", bootstraps, *seed, "-q", "-o", "compared")
    same_comparison(f"{cohort} {methods}", "compared", "all")
    check("one document", list(said) == ["output", "cross_validations", "comparison", "warnings"], list(said))
    for name, each in zip(names, said["cross_validations"]):
        check("its output", each.pop("output") == f"all/{name}")
        check("cv.json in the document", each == json.load(open(f"all/{name}/cv.json")))
    check("the comparison in the document", said["comparison"] == {k: v for k, v in json.load(open("all/compare.json")).items() if k in said["comparison"]})
    if chunks:
        for k in range(1, chunks + 1):
            run("cv", *words, "--method", methods, "--chunk", f"{k}/{chunks}", "-q", "-o", f"p{k}")
        check("a part of each", sorted(os.listdir("p1")) == sorted([".voxsift", "part.json", *names]), os.listdir("p1"))
        run("merge", *(f"p{k}" for k in range(chunks, 0, -1)), "-q", "-o", "merged")
        for name in names:
            same(f"merged {methods}: {name}", name, f"merged/{name}")
        same_comparison(f"merged {methods}", "compared", "merged")
        run("merge", *(f"p{k}/{names[0]}" for k in range(1, chunks + 1)), "-q", "-o", "merged", "--force")
        same(f"one of the merged {methods}", names[0], "merged")
    return said, err


FEW = [("--nlambda", "5")]
base = ["--bootstraps", "100"]
# two classes; an option that one takes, one that all but one take
said, err = several("twins", "lasso,fused,svm", ["--target", "dx", *base], {"lasso": FEW, "fused": [*FEW, ("--graph", "chain")]}, chunks=3)
for line in ("'--graph' is used by fused, not by lasso, svm", "'--nlambda' is used by lasso, fused, not by svm"):
    check(line, err.count(line) == 1, err)
copies = [w for w in said["warnings"] if "have the same feature values" in w]
check("copies are warned of once, and in each result", len(copies) == 1 and all(copies[0] in m["warnings"] for m in said["cross_validations"]), said["warnings"])
# scores, folds by groups, repeats, a person without a covariate, a loss that one does not take
said, err = several("c", "svm,graphnet,fused", ["--target", "score", *base, "--repeats", "2", "--seed", "7", "--confounds", "age", "--confounds-as", "regress"],
                    {"graphnet": [*FEW, ("--laplacian", "1"), ("--loss", "huber")], "fused": FEW}, chunks=2)
check("who takes the loss", "'--loss' is used by graphnet, not by svm, fused" in err, err)
check("left out is said once", err.count("left out 's59'") == 1, err)
# three classes, leave one group out, a filter of features that a graph does not take
several("c", "lasso,fused,fgm", ["--target", "kind", *base, "--folds", "group", "--group", "site"],
        {"lasso": [*FEW, ("--prefilter", "ttest:0.3")], "fused": FEW, "fgm": [("--prefilter", "ttest:0.3"), ("--nselect", "1,2")]})
# numbers as classes, without inner folds; text whose classes need no loss
several("c", "lasso,fused", ["--target", "level", "--loss", "logistic", *base, "--inner-folds", "0", "--lambda-ratio", "0.3"])
several("c", "lasso,svm", ["--target", "kind", *base, "--inner-folds", "0"], {"lasso": [("--lambda-ratio", "0.3"), ("--loss", "logistic")]})
# leave-one-out, where no fold has two subjects to compare
several("c", "lasso,svm", ["--target", "score", *base, "--folds", "60", "--inner-folds", "0"], {"lasso": [("--lambda-ratio", "0.3")]})
# images
several("v", "lasso,fused", ["--target", "score", *base, "--nlambda", "4", "--folds", "3"], {"fused": [("--graph", "grid6")]}, chunks=2)
finish()
