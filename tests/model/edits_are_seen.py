"""check-model says no to a model that was edited: every field of model.json and every cell of its tables but for those
that say nothing of the model. Runs in an empty directory."""
import copy
import json
import os
import shutil
import subprocess

import numpy as np
from oracle import check, finish, run

rng = np.random.default_rng(3)
N, P = 30, 5
x = rng.normal(size=(N, P)).astype("f4")
np.save("x.npy", x)
score = x[:, 0] - x[:, 1] + rng.normal(size=N)
with open("rows.tsv", "w") as f:
    f.write("participant_id\tscore\tdx\tage\tsite\n")
    for i in range(N):
        f.write(f"s{i:03}\t{score[i]}\t{'AB'[int(score[i] + rng.normal() > 0)]}\t{rng.uniform(20, 80):.1f}\tt{i % 3}\n")
run("cohort", "--npy", "x.npy", "--rows", "rows.tsv", "-o", "c", "-q")


def leaves(value, path=()):
    for k, v in value.items() if isinstance(value, dict) else enumerate(value[:2]):
        yield from leaves(v, (*path, k)) if isinstance(v, (dict, list)) else [((*path, k), v)]


def other(v):
    return not v if isinstance(v, bool) else v * 1.01 + 0.01 if isinstance(v, (int, float)) else v + "x" if isinstance(v, str) else 1


def refused(what):
    code = subprocess.run(["voxsift", "check-model", "e", "c"], capture_output=True).returncode
    check(what, code in (3, 65, 66), code)


def certificate_alone(about):
    """Without the seal, what the certificate says of itself and of the weights is looked at."""
    os.rename("e/sha256sums", "seal")
    for key, value in (("primal", 1.001), ("dual", 1.001), ("gap", 1e4), ("lambda", 1.01), ("lambda_max", 1.1)):
        a = copy.deepcopy(about)
        a["outputs"][0][key] = (a["outputs"][0][key] + 1e-9) * value
        json.dump(a, open("e/model.json", "w"))
        refused(f"{key} alone")
    about["outputs"][0]["converged"] = False
    json.dump(about, open("e/model.json", "w"))
    refused("converged alone")
    os.rename("seal", "e/sha256sums")


for name, words in {"lasso": ["--target", "score", "--confounds", "age,site", "--lambda-ratio", "0.3"],
                    "fgm": ["--target", "dx", "--method", "fgm", "--per-iteration", "2", "--iterations", "2"],
                    "skfs": ["--target", "dx", "--method", "skfs", "--lambda-ratio", "0.5"]}.items():
    run("fit", "c", *words, "-o", "m", "--force", "-q")
    run("check-model", "m", "c")
    subprocess.run(["sha256sum", "-c", "--quiet", "sha256sums"], cwd="m", check=True)
    shutil.rmtree("e", ignore_errors=True)
    shutil.copytree("m", "e")
    about = json.load(open("m/model.json"))
    for path, value in leaves({k: v for k, v in about.items() if k not in ("training", "flow", "parameters", "command")}):
        a = at = copy.deepcopy(about)
        for k in path[:-1]:
            at = at[k]
        at[path[-1]] = other(value)
        json.dump(a, open("e/model.json", "w"))
        refused(f"{name}: {path}")
    if name == "lasso":
        certificate_alone(copy.deepcopy(about))
    shutil.copy("m/model.json", "e/model.json")
    for f in sorted(os.listdir("m")):
        bytes_ = open("m/" + f, "rb").read()
        if f in (".voxsift", "sha256sums", "model.json"):
            continue
        for at in range(0, len(bytes_), max(1, len(bytes_) // 10)):
            open("e/" + f, "wb").write(bytes_[:at] + bytes([bytes_[at] ^ 1]) + bytes_[at + 1:])
            refused(f"{name}: {f}, byte {at}")
        shutil.copy("m/" + f, "e/" + f)
    os.remove("e/sha256sums")
    check(name + ": without sums", "changes of its files cannot be detected" in run("check-model", "e", "c")[1])
finish()
