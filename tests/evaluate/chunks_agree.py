"""Runs in chunks, merged, against runs that were whole: every table and map the same bytes, every JSON the same
but for `command` and `seconds`. Runs in an empty directory."""
import json
import os
import shutil

import nibabel as nib
import numpy as np
from oracle import check, finish, run, same, write

rng = np.random.default_rng(59)
N, P = 48, 70
ids = [f"s{k:02}" for k in range(N)]
X = rng.normal(size=(N, P)).astype("f4")
score = X[:, 0] - X[:, 3] + 0.7 * rng.normal(size=N)
people = {"participant_id": ids, "score": score, "dx": np.where(score > 0.6, "yes", "no"), "age": rng.uniform(20, 60, N),
          "kind": np.array(["x", "y", "z"])[(score > 0).astype(int) + (X[:, 2] > 0)], "family": rng.integers(0, 20, N), "pair": np.arange(N) // 2,
          "site": np.repeat(["a", "b", "c", "d"], N // 4), "dice": rng.normal(size=N), "w": rng.uniform(0.5, 2, N)}
write("x.tsv", {"participant_id": ids, **{f"f{j}": X[:, j] for j in range(P)}})
write("people.tsv", people)
run("cohort", "--feature-table", "x.tsv", "--participants", "people.tsv", "-q", "-o", "c")
# and images of as many people, so that there are maps
os.mkdir("i")
for k, name in enumerate(ids):
    volume = rng.normal(size=(6, 5, 4)).astype("f4") + 9
    volume[2, 2, 1:3] += score[k]
    nib.save(nib.Nifti1Image(volume, np.diag([3, 3, 3, 1])), f"i/{name}.nii.gz")
run("cohort", "i", "--participants", "people.tsv", "--mask-fraction", "0.5", "-q", "-o", "v")


def chunks(command, cohort, *words, n=3, code=0):
    for d in ["whole", "merged"] + [f"p{k}" for k in range(1, 10)]:
        shutil.rmtree(d, ignore_errors=True)
    run(command, cohort, *words, "-o", "whole", "-q", code=code)
    for k in range(1, n + 1):
        out = run(command, cohort, *words, "--chunk", f"{k}/{n}", "--nthreads", str(k), "-o", f"p{k}", "-q", "--json", code=code)[0]
        check("a chunk says so", (json.loads(out)["chunk"], json.loads(out)["chunks"]) == (k, n), out)
        check("a part", sorted(os.listdir(f"p{k}")) == [".voxsift", "numbers.npy", "part.json"], os.listdir(f"p{k}"))
    order = [f"p{k}" for k in rng.permutation(n) + 1]
    out = run("merge", *order, "-o", "merged", "-q", "--json", code=code)[0]
    about = json.load(open(f"merged/{command}.json"))
    said = {k: v for k, v in json.loads(out).items() if k != "output"}
    check("warned of as written", set(about["warnings"]) <= set(said.pop("warnings")), out)
    check("said as written", said == {k: about[k] for k in said}, out)
    check("seconds are the sum", abs(about["seconds"] - sum(json.load(open(p + "/part.json"))["seconds"] for p in order)) < 1e-9)
    same(f"{command} {cohort} {' '.join(words)}", "whole", "merged")
    return about


def regions(directory, maps):
    """Its table is the one that `voxsift regions` makes of its map."""
    lines = open(f"{directory}/clusters.tsv").read().splitlines()
    names = sorted({line.split("\t")[0] for line in lines[1:]}) if lines[0].startswith("class") else [None]
    image = nib.load(f"{directory}/{maps}").get_fdata()
    check("regions", len(lines) > 1 and (np.atleast_2d(image).any()), lines)
    for k, name in enumerate(names):
        mine = [line.split("\t", 1)[1] if name else line for line in lines if not name or line.startswith(("class\t", name + "\t"))]
        out = run("regions", f"{directory}/{maps}", *(["--volume", str(k + 1)] if name else []), "-q")[0]
        check(f"regions of {maps}", mine == out.splitlines(), (mine, out))


quick = ["--nlambda", "6", "--folds", "3", "--inner-folds", "3", "--bootstraps", "100"]
chunks("cv", "c", "--target", "score", *quick)
chunks("cv", "c", "--target", "score", "--confounds", "age,site", *quick, "--repeats", "3", "--group", "family", n=5)
chunks("cv", "c", "--target", "dx", *quick, "--prefilter", "variance:0.5", "--choose-rule", "1se", "--subject-weights", "w", n=2)
chunks("cv", "c", "--target", "kind", *quick, "--class-weights", "balanced", "--seed", "9")
chunks("cv", "c", "--target", "score", *quick, "--folds-from", "site", n=4)
chunks("cv", "c", "--target", "score", *quick, "--method", "fused", "--graph", "chain")
chunks("cv", "c", "--target", "dx", *quick, "--method", "skfs", "--graph", "chain", "--laplacian", "0.1,1")
chunks("cv", "v", "--target", "kind", *quick, "--method", "skfs", "--laplacian", "1", "--tol", "1e-4")
chunks("cv", "c", "--target", "score", "--folds", "4", "--inner-folds", "0", "--lambda-ratio", "0.123456789012345678", n=2)
about = chunks("cv", "c", "--target", "dx", "--method", "svm", "--C", "1", "--folds", "3", "--inner-folds", "0", "--bootstraps", "100", n=2)
check("what warns of the whole run", "are not calibrated" in " ".join(about["warnings"]), about["warnings"])
chunks("cv", "v", "--target", "score", *quick, "--confounds", "age")
regions("whole", "weights_mean.nii.gz")
chunks("cv", "v", "--target", "kind", *quick)
chunks("cv", "v", "--target", "kind", "--folds", "3", "--inner-folds", "0", "--lambda-ratio", "0.4", "--bootstraps", "100")
regions("whole", "weights_mean.nii.gz")
permute = ["--nlambda", "5", "--folds", "3", "--inner-folds", "2"]
about = chunks("permute", "c", "--target", "score", *permute, "--permutations", "31", "--stop-at", "0")
check("none stopped", about["permutations"] == 31)
about = chunks("permute", "c", "--target", "dice", *permute, "--permutations", "60", "--stop-at", "5", n=4)
check("stopped early", about["exceedances"] == 5 and about["permutations"] < 60, about)
chunks("permute", "v", "--target", "dx", *permute, "--permutations", "12", "--blocks", "site", "--metric", "brier", n=2)
about = chunks("permute", "c", "--target", "kind", *permute, "--permutations", "6", "--stop-at", "0", n=2)
check("with the confusion matrix", sum(n for row in about["confusion"].values() for n in row.values()) == N and list(about["each_class"]) == ["x", "y", "z"], about["confusion"])
about = chunks("permute", "c", "--target", "dx", *permute, "--permutations", "6", "--stop-at", "0", "--positive", "no", n=2)
check("and the positive class", about["positive"] == "no" and list(about["classes"]) == ["yes", "no"], about["classes"])
stable = ["--pairs", "7", "--nlambda", "8", "--threshold", "0.6"]
chunks("stability", "c", "--target", "score", *stable)
chunks("stability", "c", "--target", "kind", *stable, "--group", "pair", "--select-features", "4")
chunks("stability", "v", "--target", "dx", *stable, n=7)
chunks("stability", "v", "--target", "dx", *stable, "--method", "skfs", n=2)
chunks("stability", "v", "--target", "score", *stable, "--select-features", "5", n=2)
regions("whole", "stable.nii.gz")

finish()
