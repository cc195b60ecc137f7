"""Runs that are stopped and go on, against runs that were left alone: every file the same, every JSON but for `command`
and `seconds`. Runs in an empty directory."""
import os
import shutil
import signal
import subprocess
import time

import numpy as np
from oracle import check, finish, run, same, write

rng = np.random.default_rng(83)
N, P = 60, 400
ids = [f"s{k:02}" for k in range(N)]
X = rng.normal(size=(N, P)).astype("f4")
score = X[:, 0] - X[:, 3] + 0.7 * rng.normal(size=N)
people = {"participant_id": ids, "score": score, "kind": np.array(["x", "y", "z"])[(score > 0).astype(int) + (X[:, 2] > 0)],
          "age": rng.uniform(20, 60, N), "site": np.repeat(["a", "b", "c", "d"], N // 4)}
write("x.tsv", {"participant_id": ids, **{f"f{j}": X[:, j] for j in range(P)}})
write("people.tsv", people)
run("cohort", "--feature-table", "x.tsv", "--participants", "people.tsv", "-q", "-o", "c")


def units(text):
    return int(text.split("which has ")[1].split(" of ")[0])


def stop_and_go_on(command, *words, enough=20000):
    for d in ("whole", "again"):
        shutil.rmtree(d, ignore_errors=True)
    words = [command, "c", *words]
    run(*words, "-q", "-o", "whole")
    p = subprocess.Popen(["voxsift", *words, "-o", "again"], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    while p.poll() is None and not (os.path.exists("again.checkpoint") and os.path.getsize("again.checkpoint") > enough):
        time.sleep(0.002)
    p.send_signal(signal.SIGINT)
    err = p.communicate()[1]
    check("stopped in the middle", p.returncode == 130 and not os.path.exists("again"), (p.returncode, err))
    check("says where it stands", "'again.checkpoint' holds the finished part, for --resume" in err, err)
    with open("again.checkpoint", "r+b") as f:  # a machine that loses its power writes half a record
        f.truncate(os.path.getsize("again.checkpoint") - 7)
    shutil.copy("again.checkpoint", "kept")
    err = run(*words, "-o", "again", "--resume", "--nthreads", "2")[1]
    check("and went on", units(err) > 0, err)
    same(" ".join(words), "whole", "again")
    check("nothing is left", not os.path.exists("again.checkpoint"))
    return units(err)


quick = ["--nlambda", "30", "--folds", "3", "--inner-folds", "3", "--bootstraps", "100"]
stop_and_go_on("cv", "--target", "score", "--repeats", "30", *quick)
stop_and_go_on("cv", "--target", "kind", "--repeats", "15", "--confounds", "age", "--prefilter", "variance:0.8", *quick)
stop_and_go_on("stability", "--target", "kind", "--pairs", "150", "--nlambda", "60")
machine = ["--target", "score", "--method", "svm", "--kernel", "rbf", "--C", "0.1,1,10", *quick[2:]]
stop_and_go_on("permute", *machine, "--permutations", "600", "--stop-at", "0", enough=2000)
stop_and_go_on("cv", *machine, "--repeats", "100", "--standardize", "unit")
permute = ["--target", "score", *quick, "--permutations", "150", "--stop-at", "0"]
stop_and_go_on("permute", *permute, enough=2000)

# ---- What is refused, and what is not there --------------------------------------------------------------
shutil.copy("kept", "other.checkpoint")
err = run("permute", "c", *permute, "--seed", "2", "-o", "other", "--resume", code=65)[1]
check("of other words", "'other.checkpoint' is of another run" in err, err)
os.replace("kept", "other.checkpoint")
more = [w if w != "150" else "160" for w in permute]
err = run("permute", "c", *more, "-o", "other", "--resume")[1]
check("more permutations go on", 0 < units(err), err)
err = run("permute", "c", *more, "-o", "new", "--resume")[1]
check("nothing to go on from", "there is no 'new.checkpoint' to resume from" in err, err)
err = run("permute", "c", *permute, "-o", "other", "--resume", code=73)[1]
check("it is all there", "cannot write 'other': it exists" in err, err)
# folds by a file that has changed since
write("folds.tsv", {"participant_id": ids, "fold": np.arange(N) % 3})
words = ["cv", "c", "--target", "score", "--nlambda", "60", "--inner-folds", "20", "--folds-from", "folds.tsv", "-o", "f"]
p = subprocess.Popen(["voxsift", *words], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
while p.poll() is None and not (os.path.exists("f.checkpoint") and os.path.getsize("f.checkpoint") > 2000):
    time.sleep(0.002)
p.send_signal(signal.SIGINT)
check("stopped", p.wait() == 130)
write("folds.tsv", {"participant_id": ids, "fold": (np.arange(N) + np.arange(N) // 30) % 3})
err = run(*words, "--resume", code=65)[1]
check("other folds", "'f.checkpoint' was made with other folds" in err, err)
# a chunk goes on as well
words = ["permute", "c", *permute[:2], *quick, "--permutations", "20", "--chunk", "2/2", "-q"]
run(*words, "-o", "q")
numbers = np.load("q/numbers.npy")  # a model without weights has r 0
check("two numbers a permutation: its r, and how often it was drawn again", len(numbers) == 20 and np.isfinite(numbers).all()
      and (numbers[::2] != 0).sum() > 5 and (numbers[1::2] == 0).all(), numbers)
numbers = open("q/numbers.npy", "rb").read()
run(*words, "-o", "q", "--force", "--resume")
check("resumed or not", open("q/numbers.npy", "rb").read() == numbers)
finish()
