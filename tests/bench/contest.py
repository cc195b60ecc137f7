"""What benchmarks beside other programs have in common: a fit by voxsift with its weights, seconds and processor
seconds; a peer whose tolerance is lowered until its gap, recomputed from its weights, is small enough."""
import json
import os
import resource
import subprocess
import sys
import time
import warnings

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", NUMBA_NUM_THREADS="1")
import numpy as np


def spent():
    """Processor seconds of children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def identical(target):
    """Words with which voxsift solves the problem that the peers solve: raw columns, no intercept, every subject counts
    the same, and of two classes 1 is the positive one, whichever is rarer."""
    return ["--target", target, "--standardize", "none", "--no-intercept", "--nthreads", "1",
            *(["--positive", "1", "--class-weights", "none"] if target == "class" else [])]


class Ours:
    """The least of several fits of one problem: passes, weights, and seconds: the solver's by the clock or processor
    seconds of the whole command, which also reads the cohort and writes the model, whichever are fewer (the clock's
    are too many where other work runs)."""

    def __init__(self, build, folder, p, target, words, repeat=5):
        self.seconds = np.inf
        for _ in range(repeat):
            before = spent()
            said = json.loads(subprocess.run(
                [build + "/voxsift", "fit", folder + "/cohort", *identical(target), "--json", "-q", "-o", folder + "/model",
                 "--force", *words],
                check=True, stdout=subprocess.PIPE).stdout)
            self.seconds = min(self.seconds, said["seconds"], spent() - before)
        self.passes, self.w = said["passes"], weights(folder + "/model", p)


def weights(model, p):
    w = np.zeros(p)
    for line in open(model + "/weights.tsv").read().splitlines()[1:]:
        row = line.split("\t")
        w[int(row[0])] = float(row[-1])
    return w


def lowered(solve, gap, tolerances, target=1e-6, repeat=3):
    """Least processor seconds of solve(tolerance) at the first tolerance whose gap is small enough (else the last), with
    the gap; solve returns weights."""
    for tolerance in tolerances:
        start = time.process_time()
        w = solve(tolerance)
        seconds, found = time.process_time() - start, gap(w)
        if found <= target:
            break
    for _ in range(repeat - 1 if seconds < 20 else 0):
        start = time.process_time()
        solve(tolerance)
        seconds = min(seconds, time.process_time() - start)
    return seconds, found


def skglm():
    """skglm, from the folder that SKGLM names; or None."""
    folder = os.environ.get("SKGLM")
    if not folder:
        return None
    warnings.simplefilter("ignore", UserWarning)  # of what is compiled already
    sys.path.insert(0, folder)
    import skglm.datafits  # noqa: F401 (what follows needs these)
    import skglm.penalties
    import skglm.solvers
    return skglm


def row(cells, widths):
    print("| " + " | ".join(f"{c:<{w}}" for c, w in zip(cells, widths)) + " |", flush=True)
