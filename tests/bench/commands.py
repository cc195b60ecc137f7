"""Whole commands as a user waits for them: commands.py BUILD FOLDER [PEER]. Nested cross-validations and permutations on
simulated cohorts, and threads beside other work. PEER: another voxsift program, whose choice of lambda is compared.
COMMAND_PARTS: some of cv, skfs, permute, busy, whole, agree (the choice on 32 cohorts and methods, with PEER)."""
import itertools
import json
import os
import resource
import subprocess
import sys
import time

build, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
peer = sys.argv[3] if len(sys.argv) > 3 else None
parts = os.environ.get("COMMAND_PARTS", "cv,skfs,permute,busy").split(",")
os.chdir(folder)
NESTED = ["--folds", "5", "--inner-folds", "5", "--nlambda", "50", "--seed", "1"]
FUSED = ["--method", "fused", "--graph", "grid6", "--sparsity", "1"]
SPHERES = ["--subjects", "306", "--seed", "1"]


def run(program, *arguments):
    """Processor and wall seconds of a command."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    subprocess.run([program, *arguments, "-q", "--force"], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.time() - begin


def simulate(name, *arguments):
    run(build + "/voxsift", "simulate", *arguments, "--out", name)


def chosen(name):
    return [fold["lambda_ratio"] for fold in json.load(open(name + "/cv.json"))["each_fold"]]


def told(what, seconds, more=""):
    print(f"| {what} | {seconds[0]:.2f} | {seconds[1]:.2f} | {more} |", flush=True)


def compare(what, *arguments):
    for threads in ("1", "2"):
        name = "threads" + threads
        told(f"{what}, {threads} thread" + "s" * (threads == "2"),
             run(build + "/voxsift", "cv", *arguments, "--nthreads", threads, "-o", name))
    if peer:
        seconds = run(peer, "cv", *arguments, "--nthreads", "1", "-o", "peer")
        same = [a == b for a, b in zip(chosen("threads1"), chosen("peer"))]
        told(what + ", the other program", seconds, f"same lambda in {sum(same)} of {len(same)} folds")


print("| command | processor s | s | |\n| --- | --- | --- | --- |")
if "cv" in parts:
    simulate("spheres", "spheres", *SPHERES)
    compare("cv of the sparse fused lasso", "spheres", "--target", "score", *FUSED, *NESTED)
if "skfs" in parts:
    simulate("classes", "skfs-linear", "--subjects", "306")
    compare("cv of skfs", "classes", "--target", "diagnosis", "--method", "skfs", *NESTED)
if "permute" in parts:
    simulate("thirty", "spheres", "--shape", "44,44,40", "--radius", "3", "--subjects", "30", "--seed", "1", "--effect", "1")
    for count in (16, 64):
        told(f"permute {count}, 30 subjects, 77,440 voxels", run(
            build + "/voxsift", "permute", "thirty", "--target", "score", "--folds", "5", "--inner-folds", "5",
            "--permutations", str(count), "--nthreads", "1", "-o", "null"))
if "busy" in parts:
    simulate("wide", "lasso", "--subjects", "400", "--features", "200000")
    loops = []
    programs = [(build + "/voxsift", "")] + ([(peer, ", the other program")] if peer else [])
    for beside in ("alone", "a busy loop on every core"):
        for threads, (program, name) in itertools.product(("1", "2"), programs):
            runs = [run(program, "fit", "wide", "--target", "score", "--lambda-ratio", "0.01",
                        "--nthreads", threads, "-o", "model") for _ in range(9)]
            seconds = [wall for _, wall in runs]
            told(f"fit of the lasso, 400 x 200,000, {threads} thread" + "s" * (threads == "2") + f", {beside}{name}",
                 [sorted(of)[4] for of in zip(*runs)], f"medians of 9; {min(seconds):.2f} to {max(seconds):.2f} s")
        if not loops:
            loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]
    for loop in loops:
        loop.kill()
if "whole" in parts:
    simulate("brain", "spheres", "--shape", "100,100,60", "--radius", "6", "--subjects", "300", "--seed", "1", "--effect", "1")
    told("cv of the sparse fused lasso, 300 subjects, 600,000 voxels, 2 threads", run(
        build + "/voxsift", "cv", "brain", "--target", "score", *FUSED, *NESTED, "--nthreads", "2", "-o", "brain-cv"),
         f"{resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MB at most")
if "agree" in parts and peer:
    same, total, taken = 0, 0, [0, 0]
    grid = ["--method", "fused", "--graph", "grid6", "--nlambda", "50"]

    def agree(*arguments):
        global same, total
        for k, program in enumerate((build + "/voxsift", peer)):
            taken[k] += run(program, "cv", *arguments, "--nthreads", "1", "-o", f"agree{k}")[0]
        same += sum(a == b for a, b in zip(chosen("agree0"), chosen("agree1")))
        total += len(chosen("agree0"))

    for seed, effect in itertools.product("123", ("0", "0.5", "2")):
        for target, subjects, folds in (("score", "80", "5"), ("diagnosis", "90", "4")):
            name = f"{target}-{seed}-{effect}"
            simulate(name, "spheres", "--shape", "20,20,16", "--radius", "3", "--subjects", subjects, "--seed", seed,
                     "--effect", effect, "--target", target)
            agree(name, "--target", target, "--inner-folds", folds, *grid, "--sparsity", "1")
    for seed in "12":
        agree(f"score-{seed}-2", "--target", "score", *grid, "--sparsity", "0.2")
        agree(f"score-{seed}-0.5", "--target", "score", *grid)
        agree(f"score-{seed}-2", "--target", "score")
        agree(f"diagnosis-{seed}-0.5", "--target", "diagnosis")
        agree(f"score-{seed}-0.5", "--target", "score", "--method", "graphnet", "--nlambda", "30")
        agree(f"diagnosis-{seed}-2", "--target", "diagnosis", "--loss", "squared-hinge")
        agree(f"score-{seed}-2", "--target", "score", "--method", "group-lasso", "--groups", "patches:6")
    told("cv of 32 cohorts and methods", (taken[0], float("nan")), f"same lambda in {same} of {total} folds; the other program {taken[1]:.0f} s")
