"""Long fits of every method are told to stop: 130 within two seconds, one line, and nothing is left.
A second request ends them at once. Prints what is wrong."""
import os
import signal
import subprocess
import time

TALL = ["voxsift", "fit", "tall", "--target", "score", "--lambda-ratio", "0.001"]
CLASSES = ["voxsift", "fit", "classes", "--target", "diagnosis"]
FITS = [
    TALL + "--ridge 10".split(),
    TALL + "--ridge 10 --subproblem descent".split(),
    TALL + "--screen dynamic".split(),
    TALL + "--method fused --penalty trend".split(),
    TALL + "--method fused --graph correlation:2".split(),
    TALL + "--method fused --graph chain --solver bound-propagation".split(),
    CLASSES + "--lambda-ratio 0.001 --method fused --graph chain --loss multinomial".split(),
    CLASSES + "--lambda-ratio 0.001 --method skfs --graph chain".split(),
    CLASSES + "--method skfs --graph chain --solver dual-averaging --steps 1000000000".split(),
    CLASSES + "--method fgm --iterations 500 --per-iteration 100 --C 1000 --subproblem-tol 1e-12".split(),
    CLASSES + "--method fgm --feature-map poly2 --iterations 500 --per-iteration 100".split(),
    CLASSES + "--method mslr --iterations 500 --per-iteration 100 --C 1000 --subproblem-tol 1e-12".split(),
]
TOGETHER = 4
PATIENCE = 2.0  # seconds
AT_ONCE = 0.1
SLACK = 1.0  # of a machine that does much else; its own limit is 1.5


def left(out):
    return [name for name in os.listdir(".") if name.lstrip(".").startswith(out)]


def check(words, process, asked, limit):
    """Prints what is wrong with how it ended."""
    try:
        error = process.communicate(timeout=max(0, asked + limit + SLACK - time.time()))[1].decode()
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        print(f"{words}: still there after {limit + SLACK} s")
        return
    lines = [line for line in error.split("\n") if "interrupted" in line]
    if process.returncode != 130 or len(lines) != 1 or left(words[-1]):
        print(f"{words}: {process.returncode} {error} {left(words[-1])}")


def start(words):
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return words, process


def main():
    for subjects, target, name in ((3000, "score", "tall"), (1200, "diagnosis", "classes")):
        words = f"simulate lasso --subjects {subjects} --features 3000 --target {target} -o {name} -q"
        subprocess.run(["voxsift"] + words.split(), check=True, stdout=subprocess.DEVNULL)
    for first in range(0, len(FITS), TOGETHER):
        numbers = range(first, min(first + TOGETHER, len(FITS)))
        started = [start(FITS[k] + ["--nthreads", "1", "-o", f"out{k}x"]) for k in numbers]
        time.sleep(1)
        for words, process in started:
            if process.poll() is not None:
                print(f"{words}: over too soon: {process.returncode}")
        asked = time.time()
        for k, (_, process) in enumerate(started):
            process.send_signal(signal.SIGTERM if k % 2 else signal.SIGINT)
        for words, process in started:
            check(words, process, asked, PATIENCE)
    words, process = start(FITS[3] + ["-o", "out"])
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    time.sleep(0.6)
    asked = time.time()
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    check(words, process, asked, AT_ONCE)


main()
