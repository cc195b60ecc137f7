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
    """Fits of one problem by voxsift: passes, weights, and the least seconds of all that were run: the solver's by the clock
    or processor seconds of the whole command, which also reads the cohort and writes the model, whichever are fewer (the
    clock's are too many where other work runs)."""

    def __init__(self, build, folder, p, target, words, repeat=1):
        self.command = [build + "/voxsift", "fit", folder + "/cohort", *identical(target), "--json", "-q", "-o", folder + "/model",
                        "--force", *words]
        self.seconds = np.inf
        for _ in range(repeat):
            self.again()
        self.w = weights(folder + "/model", p)

    def again(self):
        before = spent()
        said = json.loads(subprocess.run(self.command, check=True, stdout=subprocess.PIPE).stdout)
        self.passes, self.seconds = said["passes"], min(self.seconds, said["seconds"], spent() - before)


def weights(model, p):
    w = np.zeros(p)
    for line in open(model + "/weights.tsv").read().splitlines()[1:]:
        row = line.split("\t")
        w[int(row[0])] = float(row[-1])
    return w


class Peer:
    """A solver at the first of the tolerances at which its gap, recomputed, is small enough (else the last): that gap, and
    the least processor seconds of all runs. solve(tolerance) returns weights, or weights and seconds."""

    def __init__(self, solve, gap, tolerances, target=1e-6):
        self.solve, self.seconds = solve, np.inf
        for self.tolerance in tolerances:
            self.seconds = np.inf
            self.gap = gap(self.again())
            if self.gap <= target:
                break

    def again(self):
        start = time.process_time()
        found = self.solve(self.tolerance)
        w, seconds = found if isinstance(found, tuple) else (found, time.process_time() - start)
        self.seconds = min(self.seconds, seconds)
        return w


def take_turns(ours, peers, rounds=4):
    """Ours, each peer, ours, each peer: what else the machine does meets all of them."""
    for _ in range(rounds):
        ours.again()
        for peer in peers:
            if peer.seconds < 20:
                peer.again()


def beside(peer, ours):
    return f"{peer.seconds:.3f} ({peer.seconds / ours.seconds:.1f} x), {peer.gap:.0e}"


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
