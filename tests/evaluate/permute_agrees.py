"""Permutations: p-values that follow from what is written, runs that go on, and the leak test: with a target
that has nothing to do with the images, p is uniform and scores are at chance, whatever is switched on; a
pipeline that leaks on purpose is found out. Runs in an empty directory; its argument is the examples folder."""
import json
import math
import os
import signal
import subprocess
import sys
import time

import nibabel as nib
import numpy as np
from oracle import check, finish, near, run, table, write

rng = np.random.default_rng(47)


def permute(*words, code=0):
    out, err = run("permute", "c", "-o", "p", "--force", "--json", "-q", *words, code=code)
    return json.loads(out) if code == 0 else err


def null():
    t = table(open("p/null.tsv"))
    return np.array(next(v for k, v in t.items() if k != "permutation"), float)


N, P = 40, 60
ids = [f"s{k:02}" for k in range(N)]
X = rng.normal(size=(N, P)).astype("f4")
score = X[:, 0] + X[:, 1] + rng.normal(size=N)
site = np.repeat(["a", "b", "c", "d"], N // 4)
people = {"participant_id": ids, "score": score, "dx": np.where(score > 0.2, "yes", "no"), "site": site,
          "pair": np.arange(N) // 2, "odd": np.minimum(np.arange(N) // 3, 9), "tiny": np.where(np.arange(N) < 4, "yes", "no")}
write("x.tsv", {"participant_id": ids, **{f"f{j}": X[:, j] for j in range(P)}})
write("people.tsv", people)
run("cohort", "--feature-table", "x.tsv", "--participants", "people.tsv", "-q", "-o", "c")
quick = ["--nlambda", "6", "--folds", "3", "--inner-folds", "3"]

# ---- What is written --------------------------------------------------------------------------------
said = permute("--target", "score", *quick, "--permutations", "40", "--stop-at", "0")
seen = json.loads(run("cv", "c", "--target", "score", *quick, "-o", "v", "--force", "--json", "-q")[0])["outer"]["r"]["pooled"]
check("observed as in cv", near(said["observed"], seen), (said, seen))
values = null()
check("p", len(values) == 40 == said["permutations"] and said["exceedances"] == (values >= seen).sum()
      and near(said["p"], (1 + (values >= seen).sum()) / 41), said)
check("smallest p", near(said["smallest_p"], 1 / 41) and said["distinct_permutations"] is None)
check("nothing beside it", not os.path.exists("p.permutations.tsv"))
for threads in "12":
    permute("--target", "score", *quick, "--permutations", "40", "--stop-at", "0", "--nthreads", threads)
    check("threads change nothing", (null() == values).all())
said = permute("--target", "score", *quick, "--permutations", "20", "--stop-at", "0")
check("permutation k is the same in a shorter run", (null() == values[:20]).all())
said = permute("--target", "dx", *quick, "--permutations", "10", "--metric", "brier")
check("errors are better when small", said["exceedances"] == (null() <= said["observed"]).sum())
noise = {**people, "score": rng.normal(size=N)}
write("c/participants.tsv", {k: v for k, v in noise.items()})
for threads in "12":
    said = permute("--target", "score", *quick, "--permutations", "200", "--stop-at", "5", "--nthreads", threads)
    values = null()
    check("stops when it is clear", said["exceedances"] == 5 == (values >= said["observed"]).sum() and values[-1] >= said["observed"]
          and said["permutations"] == len(values) < 200 and near(said["p"], 6 / (len(values) + 1)), said)
write("c/participants.tsv", people)
said = permute("--target", "tiny", *quick[:2], "--folds", "2", "--inner-folds", "0", "--permutations", "5", "--class-weights", "none")
check("few ways", near(said["distinct_permutations"], math.comb(N, 4)) and said["drawn_again"] == 0 and said["acceptable_share"] == 1, said)
for words in (["--blocks", "site"], ["--blocks", "pair", "--whole-blocks"]):
    permute("--target", "score", *quick, *words, "--permutations", "3")
err = permute("--target", "score", *quick, "--blocks", "odd", "--whole-blocks", "--permutations", "3", code=65)
check("blocks of other sizes", "have 3 and 13 subjects" in err, err)
err = permute("--target", "score", "--whole-blocks", code=2)
check("whole blocks want blocks", "goes with '--blocks'" in err, err)
err = permute("--target", "score", "--metric", "aucc", code=2)
check("metrics", "'aucc' is no metric of scores" in err, err)

# ---- The leak test: images of brains, a target of dice ----------------------------------------------
lesions = sorted(os.listdir(sys.argv[1] + "/arc/lesion"))[:60]
brains = np.array([np.asarray(nib.load(f"{sys.argv[1]}/arc/lesion/{f}").dataobj)[::2, ::2, ::2].ravel() for f in lesions], float)
brains = brains[:, (brains > 0).sum(0) > 4].astype("f4")
n, p = brains.shape
ids = [f"s{k:02}" for k in range(n)]
np.save("b.npy", brains)
age = rng.normal(size=n)
write("b.tsv", {"participant_id": ids, "age": age, **{f"t{k}": rng.normal(size=n) for k in range(200)}})
run("cohort", "--npy", "b.npy", "--rows", "b.tsv", "-q", "-o", "b")
options = ["--confounds", "age", "--prefilter", "ttest:0.1", "--nlambda", "8", "--lambda-ratio", "0.1", "--folds", "3", "--inner-folds", "3"]


def chance(cohort, words):
    """r of 200 targets, and the p of each by 19 permutations."""
    r, ps = [], []
    for k in range(200):
        out, _ = run("cv", cohort, "--target", f"t{k}", *words, "-o", "v", "--force", "--json", "-q", "--bootstraps", "100")
        r.append(np.mean(json.loads(out)["outer"]["r"]["per_fold"]))
        out, _ = run("permute", cohort, "--target", f"t{k}", *words, "-o", "p", "--force", "--json", "-q",
                     "--permutations", "19", "--stop-at", "0")
        ps.append(json.loads(out)["p"])
    return np.array(r), np.array(ps)


r, ps = chance("b", options)
check("scores are at chance", abs(r.mean()) < 4 * r.std() / 200**0.5, (r.mean(), r.std()))
steps = np.sort(ps)
check("p is uniform", max(abs(np.mean(ps <= q / 20) - q / 20) for q in range(1, 21)) < 1.63 / 200**0.5, steps)
# the same test sees a pipeline that looks at the target before it splits: features chosen on all subjects
leaky = []
for k in range(30):
    y = np.array(table(open("b.tsv"))[f"t{k}"], float)
    with np.errstate(invalid="ignore"):
        corr = abs(np.nan_to_num(np.corrcoef(brains.T, y)[-1, :-1]))
    np.save("l.npy", brains[:, corr >= np.sort(corr)[-20]])
    run("cohort", "--npy", "l.npy", "--rows", "b.tsv", "-q", "-o", "l", "--force")
    out, _ = run("cv", "l", "--target", f"t{k}", "--nlambda", "8", "--lambda-ratio", "0.1", "--folds", "3", "--inner-folds", "3",
                 "-o", "v", "--force", "--json", "-q", "--bootstraps", "100")
    leaky.append(np.mean(json.loads(out)["outer"]["r"]["per_fold"]))
leaky = np.array(leaky)
check("a leak is seen", abs(leaky.mean()) > 4 * leaky.std() / 30**0.5, (leaky.mean(), leaky.std()))
finish()
