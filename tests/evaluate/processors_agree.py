"""Fits under the kernels of several processor types: the same features, weights to rounding, and
certificates that hold under other kernels; bits for any number of threads under the same ones."""
import csv
import filecmp
import json
import os
import re
import subprocess
import sys

FITS = {
    "lasso": "fit s --target score --lambda-ratio 0.05",
    "ridge": "fit d --target diagnosis --lambda-ratio 0.05 --ridge 0.1",
    "cuts": "fit s --target score --method fused --graph chain --sparsity 1 --lambda-ratio 0.2",
    "bp": "fit s --target score --method fused --penalty trend --lambda-ratio 0.2",
    "skfs": "fit d --target diagnosis --method skfs --graph chain --lambda-ratio 0.3",
    "fgm": "fit d --target diagnosis --method fgm --nselect 6",
    "mslr": "fit d --target diagnosis --method mslr --nselect 6",
    "cv": "cv s --target score --folds 3 --nlambda 8 --bootstraps 100 --no-dense-baseline",
    "cv-dense": "cv s --target score --folds 3 --nlambda 8 --bootstraps 100",
}
TYPES = ["Prescott", "Nehalem", "Haswell", "SkylakeX"]
TOLERANCE = 1e-6


def voxsift(words, core=None, want=0):
    env = dict(os.environ)
    env.pop("OPENBLAS_CORETYPE", None)
    if core:
        env["OPENBLAS_CORETYPE"] = core
    done = subprocess.run(["voxsift"] + words.split(), env=env, capture_output=True, text=True)
    assert done.returncode == want, (words, core, done.returncode, done.stderr)
    return done


def table(path):
    with open(path, newline="") as stream:
        return list(csv.reader(stream, delimiter="\t"))


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def close(one, other):
    """Names and indices are the same, numbers differ by rounding; the dense baseline is made of products in single
    precision."""
    tolerance = 1e-4 if one.startswith("cv-dense-") else TOLERANCE
    a, b = table(one), table(other)
    assert [len(r) for r in a] == [len(r) for r in b], (one, other, "other features")
    for column in range(len(a[0])):
        left, right = [r[column] for r in a], [r[column] for r in b]
        x, y = [number(t) for t in left[1:]], [number(t) for t in right[1:]]
        if a[0][column] in ("index", "feature", "fold", "round"):
            assert left == right, (one, other, a[0][column])
        size = max([abs(v) for v in x if v is not None and v == v] or [1])
        for v, w, here, there in zip(x, y, left[1:], right[1:]):
            if v is None or w is None or v != v:
                assert here == there, (one, other, here, there)
            else:
                assert abs(v - w) <= tolerance * size, (one, other, v, w)


def tables_of(folder):
    return sorted(f for f in os.listdir(folder) if f.endswith(".tsv"))


def processor(core):
    return json.loads(voxsift("version --json", core).stdout)["processor"]


def main():
    types = [t for t in TYPES if processor(t).lower() == t.lower()]
    if len(types) < 2:
        print("only one type of processor can be tried here")
        sys.exit(77)
    voxsift("simulate lasso --subjects 60 --features 400 -o s -q")
    voxsift("simulate lasso --subjects 60 --features 400 --target diagnosis -o d -q")
    for name, words in FITS.items():
        for core in [None] + types:
            out = f"{name}-{core}"
            voxsift(f"{words} -o {out} -q --nthreads 1", core)
            about = json.load(open(f"{out}/{'cv' if name.startswith('cv') else 'model'}.json"))
            assert about["processor"] == processor(core), (out, about["processor"])
            for f in tables_of(out):
                close(f"{name}-None/{f}", f"{out}/{f}")
            if not name.startswith("cv"):
                voxsift(f"check-model {out} {words.split()[1]}")
                voxsift(f"check-model {name}-None {words.split()[1]}", core)
        core = types[0]
        voxsift(f"{words} -o {name}-threads -q --nthreads 3", core)
        for f in tables_of(f"{name}-threads"):
            assert filecmp.cmp(f"{name}-{core}/{f}", f"{name}-threads/{f}", False), (name, f)
    # r of a score has other last bits on each: a run's parts are one run's all the same
    words = "permute s --target score --nlambda 4 --folds 2 --permutations 4 -q"
    voxsift(f"{words} -o whole")
    voxsift(f"{words} --chunk 1/2 -o p1", types[0])
    voxsift(f"{words} --chunk 2/2 -o p2", types[-1])
    said = voxsift("merge p1 p2 -o merged").stderr
    kinds = f"{processor(types[0])}, {processor(types[-1])}"
    assert f"several types of processor ({kinds})" in said and said.count("\n") == 1, said
    assert json.load(open("merged/permute.json"))["processor"] == kinds
    close("whole/null.tsv", "merged/null.tsv")
    voxsift(f"{words} --chunk 2/2 -o same", types[0])
    assert not voxsift("merge p1 same -o same-merged").stderr
    # another target's value is another run's
    text = open("p2/part.json").read()
    open("p2/part.json", "w").write(re.sub(r'("observed": )[^,]*', r"\g<1>0.987", text))
    said = voxsift("merge p1 p2 -o x", want=65).stderr
    assert "the observed target comes to" in said, said


main()
