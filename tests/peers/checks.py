"""What peers.py and svm.py share: their arguments BUILD_DIR DATA_DIR SCRATCH_DIR, the program, and what does not hold."""
import os
import subprocess
import sys

build, data, scratch = map(os.path.abspath, sys.argv[1:4])
failed = []


def check(what, condition, details=""):
    """Keep and print what does not hold."""
    if not condition:
        failed.append(what)
        print("FAIL", what, details, flush=True)
    return condition


def run(*words):
    """Run voxsift; anything but exit 0 is a failure."""
    p = subprocess.run([os.path.join(build, "voxsift"), *words], capture_output=True, text=True)
    return check(" ".join(words), p.returncode == 0, f"exit {p.returncode}: {p.stderr}")
