"""Tables on a terminal (a pseudo-terminal here) have three significant digits, coordinates 0.1 mm and
probabilities three decimals; pipes, files and JSON have all digits, and both are the same numbers.

terminal_agree.py COHORT MODEL_OF_CLASSES MODEL_OF_SCORES"""
import math
import os
import pty
import subprocess
import sys

cohort, classes, scores = sys.argv[1:]
wrong = []


def piped(words):
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True).stdout


def on_terminal(words):
    """What a command prints to a terminal; messages go elsewhere."""
    lead, follow = pty.openpty()
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=follow, stderr=subprocess.DEVNULL) as process:
        os.close(follow)
        printed = b""
        while True:
            try:
                more = os.read(lead, 65536)
            except OSError:  # the other end is closed
                break
            if not more:
                break
            printed += more
    os.close(lead)
    if process.returncode:
        sys.exit(f"{' '.join(words)}: exit {process.returncode}")
    return printed.decode().replace("\r\n", "\n")


def table(text):
    head, *rows = [line.split("\t") for line in text.rstrip("\n").split("\n")]
    return head, rows


def digits_of(text):
    """Significant digits of a number as it is printed."""
    mantissa = text.lstrip("+-").split("e")[0]
    digits = mantissa.replace(".", "").lstrip("0")
    return len(digits)


def compare(what, words, columns, least_full):
    """`columns`: name to 'short' (three digits), 'probability' (three decimals), 'mm' or 'differs' (between two runs);
    other cells are equal."""
    (head, short), (also, full) = table(on_terminal(words)), table(piped(words))
    most = 0
    if head != also or len(short) != len(full) or not full:
        wrong.append(f"{what}: other rows or columns on a terminal")
        return
    for a, b in zip(short, full):
        for name, x, y in zip(head, a, b):
            kind = columns.get(name, columns.get(name[:2]))
            if kind == "differs":
                continue
            if kind is None or y == "n/a":
                if x != y:
                    wrong.append(f"{what}: {name} is {x} on a terminal, {y} in a pipe")
                continue
            value = float(y)
            most = max(most, digits_of(y) if kind != "mm" else 0)
            whole = value == math.floor(value)
            power = math.floor(math.log10(abs(value))) if value else 0
            unit = {"short": 10.0 ** (power - 2), "probability": 1e-3, "mm": 0.1}[kind]
            if kind == "short" and not whole and digits_of(x) > 3 and "." in x:
                wrong.append(f"{what}: {name} has more than three digits on a terminal: {x}")
            if kind != "short" and len(x.partition(".")[2]) > (3 if kind == "probability" else 1):
                wrong.append(f"{what}: {name} has too many decimals on a terminal: {x}")
            if abs(float(x) - value) > unit / 2 * (1 + 1e-9):
                wrong.append(f"{what}: {name} is {x} on a terminal, {y} in a pipe")
    if most < least_full:
        wrong.append(f"{what}: {most} digits in a pipe, fewer than {least_full}")


compare("predict, classes", ["voxsift", "predict", classes, cohort], {"p_": "probability"}, 15)
compare("predict, scores", ["voxsift", "predict", scores, cohort], {"predicted": "short"}, 15)
path = dict.fromkeys(("lambda", "lambda_ratio", "primal", "passes"), "short") | {"seconds": "differs"}
for method in (["--nlambda", "4"], ["--method", "fgm", "--iterations", "3"]):
    compare("path", ["voxsift", "path", cohort, "--target", "wab_type", *method, "-q"], path, 8)
regions = ["voxsift", "regions", classes + "/weights.nii.gz", "--min-size", "1", "--atlas", "schaefer100"]
cluster = dict.fromkeys(("peak_value", "mean", "sum", "volume_mm3"), "short")
cluster |= dict.fromkeys((f"{of}_{axis}" for of in ("peak", "cog") for axis in "xyz"), "mm")
compare("regions", regions, cluster, 10)

for words in (["voxsift", "predict", classes, cohort, "--json"], [*regions, "--json"]):
    if on_terminal(words) != piped(words):
        wrong.append(f"{words[1]} --json differs on a terminal")
on_terminal([*regions, "-o", "shown"])
piped([*regions, "-o", "unseen"])
for name in ("clusters.tsv", "clusters.json"):
    if open("shown/" + name).read() != open("unseen/" + name).read():
        wrong.append(f"regions: {name} depends on the terminal")
if open("shown/clusters.tsv").read() != piped(regions):
    wrong.append("regions: clusters.tsv is not the table in a pipe")
print("\n".join(wrong))
sys.exit(bool(wrong))
