"""What the oracles share: words of Python that check the program's work by other means. They run in an empty
directory, with voxsift on the PATH, and end with finish()."""
import json
import os
import subprocess
import sys

import numpy as np

bad = 0


def check(what, condition, details=""):
    global bad
    if not condition:
        bad += 1
        print("FAIL", what, details)


def run(*words, code=0):  # None: any
    p = subprocess.run(["voxsift", *words], capture_output=True, text=True)
    check(" ".join(words), code is None or p.returncode == code, f"exit {p.returncode}: {p.stderr}")
    return p.stdout, p.stderr


def near(a, b, rel=1e-8):
    return bool(np.all(np.abs(np.subtract(a, b)) <= rel * (1e-30 + np.max(np.abs(b)))))


def table(lines):
    rows = [line.rstrip("\n").split("\t") for line in lines]
    return {name: [r[k] for r in rows[1:]] for k, name in enumerate(rows[0])}


def write(path, columns):
    rows = [columns, *zip(*columns.values())]
    open(path, "w").write("".join("\t".join(map(str, row)) + "\n" for row in rows))


def same(what, one, other, but=("command", "seconds")):
    """Two directories of results."""
    check(what + ": the same files", sorted(os.listdir(one)) == sorted(os.listdir(other)), (os.listdir(one), os.listdir(other)))
    for f in sorted(os.listdir(one)):
        a, b = (open(f"{d}/{f}", "rb").read() for d in (one, other))
        if f.endswith(".json"):
            a, b = json.loads(a), json.loads(b)
            check(f"{what}: keys of {f}", list(a) == list(b))
            a, b = ({k: v for k, v in t.items() if k not in but} for t in (a, b))
        if f == "sha256sums":  # of what is compared above
            a, b = ([line for line in text.split(b"\n") if not line.endswith(b".json")] for text in (a, b))
        check(f"{what}: {f}", a == b)


def finish():
    sys.exit(bad > 0)
