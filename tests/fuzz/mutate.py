"""The mutation fuzzer of directories and tables: mutate.py VOXSIFT WORK [options].

Copies a seed that voxsift itself made (mutate_seeds.py), edits one to three of its files (edits.py), and runs a command
that reads it, built with sanitizers. Whatever is in the files, a command must end in time with a documented exit code;
a refusal is one line on standard error and nothing on standard output; a success is a result without NaN, and a model
that was written can be read and checked again. What does otherwise is kept as WORK/failures/NAME.json, a few lines that
--replay takes, one for each class of fault.

    mutate.py build/asan/voxsift build/mutate --seconds 60 --seed 1      # as long, other cases by another seed
    mutate.py build/asan/voxsift build/mutate --cases 50 --kind model    # so many
    mutate.py build/asan/voxsift build/mutate --replay tests/fuzz/cases/*.json
"""
import argparse
import hashlib
import json
import os
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

import edits
import mutate_seeds

KINDS = ("cohort", "model", "part", "checkpoint", "table", "result")
LIMIT = 8  # seconds; a case takes some hundredths of one
# Objects with metrics, of which some do not exist for few subjects, one class or equal predictions; and of any array.
SCORES = ("metrics", "outer", "inner", "baseline", "difference", "min", "max", "mean", "sd",
          "models", "pairs")
# Cautions that an edit may deserve, which nothing hides: a cohort without a record of its features; copies of subjects;
# subjects unlike those of the model.
CAUTION = re.compile(r"voxsift [a-z-]+: warning: (the model and '.*' do not both record the SHA-256 of the same files"
                     r"|the features of \d+ of \d+ subjects lie far outside those of the training subjects"
                     r"|'.*' and '.*'(, and other pairs of subjects, )?have the same feature values)")
CODES = (0, 2, 3, 65, 66, 73)
REPORT = re.compile(r"AddressSanitizer|LeakSanitizer|runtime error|UndefinedBehavior|DEADLYSIGNAL")


def environment():
    env = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "VOXSIFT_", "OMP_"))}
    env.update(OPENBLAS_NUM_THREADS="1", VOXSIFT_NTHREADS="1", LC_ALL="C.UTF-8", UBSAN_OPTIONS="print_stacktrace=1",
               # larger requests fail as they do where memory is short
               ASAN_OPTIONS="detect_leaks=1:strict_string_checks=1:allocator_may_return_null=1:max_allocation_size_mb=2000:"
                            "hard_rss_limit_mb=4000")
    return env


def limits():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))


class Bench:
    def __init__(self, voxsift, work):
        self.voxsift, self.work = os.path.abspath(voxsift), os.path.abspath(work)
        self.env, self.usual = environment(), {}
        shm = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.fast = tempfile.mkdtemp(prefix="voxsift-mutate.", dir=shm)
        self.seeds, self.here = os.path.join(self.fast, "seeds"), os.path.join(self.fast, "here")
        os.mkdir(self.seeds)

    def close(self):
        shutil.rmtree(self.fast, ignore_errors=True)

    # ---- One case -----------------------------------------------------------------------------------------------

    def prepare(self, seed, files=None):
        shutil.rmtree(self.here, ignore_errors=True)
        os.mkdir(self.here)
        target = os.path.join(self.here, "d")
        if files is None:
            shutil.copytree(os.path.join(self.seeds, seed), target)
        else:
            os.mkdir(target)
            for f in files:
                shutil.copy(os.path.join(self.seeds, seed, f), target)
        return target

    def words(self, command):
        command = command.replace("{s}", "../seeds").replace("{d}", "d").replace("{o}", "out")
        return shlex.split(command)

    def execute(self, words):
        p = subprocess.Popen([self.voxsift, *words, "-q"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             cwd=self.here, env=self.env, preexec_fn=limits)
        try:
            out, err = p.communicate(timeout=LIMIT)
            code = p.returncode
        except subprocess.TimeoutExpired:
            p.kill()
            out, err = p.communicate()
            code = "timeout"
        return code, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")

    def outcome(self, case):
        """None, or what is wrong: (class, details)."""
        words = self.words(case["command"])
        usual = self.usual.get((case["seed"], case["command"]))
        if words[0] == "merge" and any(str(e[1:2]).endswith("numbers.npy']") for e in case["edits"]):
            usual = None  # other scores, of which some metric may not exist
        if words[0] == "predict" and usual and any(str(e[1:2]).endswith(".tsv']") for e in case["edits"]):
            # subjects without targets have no metrics, and without covariates no prediction
            usual = {k: v for k, v in usual.items() if k[-1] not in ("predicted", "target")}
        fault = judge(words, *self.execute(words), usual)
        page = os.path.join(self.here, "out.html")
        if not fault and os.path.exists(page):
            with open(page, encoding="utf-8") as f:
                fault = judge_page(f.read())
        if fault or not case["command"].startswith("fit "):
            return fault
        model, cohort = os.path.join(self.here, "out", "model.json"), self.words(case["command"])[1]
        if not os.path.isfile(model):
            return None
        words = ["check-model", "out", cohort, "--json"]
        code, out, err = self.execute(words)
        fault = judge(words, code, out, err)
        if not fault and code not in (0, 3) and not (code == 65 and "SHA-256" in err):
            fault = (f"a model that was made: check-model exit {code}: {said(err)}", err)
        with open(model) as f:
            converged = '"converged": false' not in f.read()
        if not fault and code == 3 and converged:
            fault = ("fit converged, but not check-model", out + err)
        return fault

    def learn(self, case):
        """What the command says of the seed as it is."""
        key = (case["seed"], case["command"])
        if key not in self.usual:
            self.prepare(case["seed"], case.get("files"))
            code, out, err = self.execute(self.words(case["command"]))
            fault = judge(self.words(case["command"]), code, out, err)
            if fault or code not in (0, 3):
                raise SystemExit(f"{case['command']} on {case['seed']} as it is: exit {code}: {fault}\n{err}")
            self.usual[key] = kinds_of(json.loads(out), (), {}) if "--json" in case["command"] else None

    def run(self, case):
        self.learn(case)
        target = self.prepare(case["seed"], case.get("files"))
        for edit in case["edits"]:
            edits.apply(target, edit, self.seeds)
        return self.outcome(case)

    # ---- Random cases -------------------------------------------------------------------------------------------

    def draw(self, rng, seed):
        command = rng.choice(seed.commands)
        self.learn({"seed": seed.name, "command": command, **({"files": seed.files} if seed.files else {})})
        target = self.prepare(seed.name, seed.files)
        files = files_of(target)
        chosen = []
        for _ in range(rng.choice([1, 1, 1, 2, 2, 3])):
            file = rng.choice(files)
            if rng.random() < 0.06 and seed.files is None:
                drawn = self.swap(rng, file)
            else:
                drawn = edits.draw_one(rng, target, file, wait=seed.kind == "table")
            for edit in drawn:
                if edits.apply(target, edit, self.seeds):
                    chosen.append(edit)
        if rng.random() < 0.8 and seed.kind in ("part", "model", "cohort") and edits.apply(target, ["sums"], self.seeds):
            chosen.append(["sums"])
        case = {"seed": seed.name, "command": command, "edits": chosen}
        if seed.files:
            case["files"] = seed.files
        return case

    def swap(self, rng, file):
        """The file of this name, or one with its ending, of another seed."""
        every = [f for f in files_of(self.seeds) if f.count("/") > 0]
        same = [p for p in every if p.endswith("/" + os.path.basename(file))]
        alike = [p for p in every if os.path.splitext(p)[1] == os.path.splitext(file)[1]]
        return [["swap", file, rng.choice(same if same and rng.random() < 0.7 else alike or every)]]


def files_of(folder):
    """All files, those of directories in it too."""
    found = [os.path.relpath(os.path.join(d, f), folder) for d, _, names in os.walk(folder) for f in names if f != ".voxsift"]
    return sorted(found)


def said(err):
    """A message without what differs from case to case."""
    line = err.strip().split("\n")[0] if err.strip() else "nothing"
    return re.sub(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?", "#", re.sub(r"'[^']*'", "'...'", line))[:160]


def frames(err):
    names = re.findall(r"#\d+ 0x[0-9a-f]+ in (\S+) (?:\S*/)?(src/\S+|\S+)", err)
    ours = [name for name, where in names if "src/" in where][:2]
    return " < ".join(ours or [n for n, _ in names[:2]])


def judge_page(text):
    """A page is well formed enough for its tags to be even, and has no number that is none."""
    wrong = re.search(r"[^<>]{0,40}(\(null\))|[^<>]{0,40}[>\" (,]-?(nan|inf)[<\" %),][^<>]{0,20}", re.sub(r"<(script|style).*?</\1>", "", text, flags=re.S))
    return (f"a page with {wrong.group(1) or wrong.group(2)}", wrong.group(0)) if wrong else None


def kinds_of(value, path, found):
    """By the keys that lead there: whether numbers stand there, and whether null does."""
    members = value.items() if isinstance(value, dict) else [("", v) for v in value] if isinstance(value, list) else []
    for key, v in members:
        kinds_of(v, path + (key,) if key else path, found)
    if value is None or isinstance(value, (int, float)):
        found.setdefault(path, set()).add(value is None)
    return found


def judge(words, code, out, err, usual=None):
    """`usual`: what the JSON of this command has when nothing was edited."""
    lines = [line for line in err.split("\n") if line and not line.startswith("==")]
    report = REPORT.search(err)
    if report and "WARNING: AddressSanitizer failed to allocate" not in err:
        summary = re.search(r"SUMMARY: \S+ (\S+)|runtime error: (.*)", err)
        what = (summary.group(1) or re.sub(r"[-+]?\d[\w.+-]*", "#", summary.group(2))[:60]) if summary else report.group(0)
        return (f"sanitizer: {what}: {frames(err)}", err)
    lines = [line for line in lines if "AddressSanitizer" not in line and not line.startswith("    #")]
    lines = [line for line in lines if not CAUTION.match(line)]
    if code == "timeout":
        return ("timeout", err)
    if code not in CODES:
        return (f"exit {code}: {said(chr(10).join(lines))}", err)
    if code in (0, 3):
        if words[0] == "check-model" and code == 3:
            usual = None  # it does not hold, and perhaps nothing is known
        return judge_success(code, out, lines, usual)
    if out:
        return (f"exit {code} with something on standard output: {said(err)}", out + err)
    if len(lines) != 1 and words[0] not in ("cohort", "patches", "predict") or not lines or not re.match(r"voxsift( [a-z-]+)?: ", lines[0]):
        return (f"exit {code} with {len(lines)} lines: {said(err)}", err)
    if code == 2:
        return (f"exit 2, as if the words were wrong: {said(err)}", err) if not re.search("option|folds", lines[0]) else None
    return None


def judge_success(code, out, lines, usual):
    if code == 0 and lines:
        return (f"exit 0, but it says: {said(lines[0])}", "\n".join(lines))
    wrong = re.search(r"\(null\)|[\s(]-?(nan|inf)\b", out)
    if wrong and code == 0:
        return (f"exit 0 with {wrong.group(0).strip()} on standard output", out)
    if usual is None:
        return None
    try:
        found = kinds_of(json.loads(out, parse_constant=lambda c: None), (), {})
    except ValueError as e:
        return (f"exit {code} with JSON that is none: {said(str(e))}", out)
    for path, has in sorted(found.items()):
        if not path[0].startswith(SCORES) and True in has and usual.get(path) == {False}:
            return (f"exit {code} without {'.'.join(path)}", out)
    return None


def keep(bench, case, fault):
    name = case["command"].split()[0] + "-" + hashlib.sha256((case["command"].split()[0] + fault[0]).encode()).hexdigest()[:8]
    folder = os.path.join(bench.work, "failures")
    path = os.path.join(folder, name + ".json")
    os.makedirs(folder, exist_ok=True)
    if os.path.exists(path):
        return False
    with open(path, "w") as f:
        json.dump({"what": fault[0], **case}, f, indent=1)
        f.write("\n")
    with open(path[:-5] + ".txt", "w") as f:
        f.write(fault[1])
    print(f"FAULT {name}: {case['seed']}: {case['command']}\n      {fault[0]}\n      again: /usr/bin/python3 tests/fuzz/mutate.py "
          f"{bench.voxsift} {bench.work} --replay {path}", flush=True)
    return True


def shrink(bench, case):
    """Without the edits that are not needed for the same class of fault."""
    fault = bench.run(case)
    for edit in list(case["edits"]):
        if len(case["edits"]) > 1 and fault and fault[0] != "timeout":
            less = {**case, "edits": [e for e in case["edits"] if e is not edit]}
            again = bench.run(less)
            if again and again[0] == fault[0]:
                case, fault = less, again
    return case, fault


def fuzz(bench, options):
    every = mutate_seeds.all_seeds()
    kinds = options.kind or KINDS
    found = 0
    for kind in kinds:
        seeds = [s for s in every if s.kind == kind and (not options.only or options.only in s.name)]
        until = time.monotonic() + options.seconds
        done = 0
        while seeds and (done < options.cases if options.cases else time.monotonic() < until):
            rng = random.Random(f"{options.seed}/{kind}/{done}")
            case = bench.draw(rng, rng.choice(seeds))
            done += 1
            if options.skip and re.search(options.skip, json.dumps(case)):
                continue
            fault = bench.outcome(case)
            if fault and not any(re.search(p, fault[0]) for p in options.ignore):
                case, again = shrink(bench, case)
                found += keep(bench, case, again or fault)
        print(f"mutated {kind}: {done} cases", flush=True)
    return found


def replay(bench, files):
    found = 0
    for path in files:
        with open(path) as f:
            case = json.load(f)
        fault = bench.run(case)
        if fault:
            found += 1
            print(f"FAULT {path}: {fault[0]}\n{fault[1]}")
    print(f"replayed {len(files)} mutated directories")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("voxsift")
    parser.add_argument("work")
    parser.add_argument("--seconds", type=float, default=60, help="for each kind")
    parser.add_argument("--cases", type=int, default=0, help="for each kind, instead of --seconds")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--only", help="seeds with this in their name")
    parser.add_argument("--ignore", action="append", default=[], help="classes of faults that are known")
    parser.add_argument("--skip", help="cases with this in their JSON")
    parser.add_argument("--replay", nargs="*")
    options = parser.parse_args()
    bench = Bench(options.voxsift, options.work)
    try:
        mutate_seeds.Maker(bench.voxsift, bench.seeds, bench.env).make()
        found = replay(bench, options.replay) if options.replay is not None else fuzz(bench, options)
    finally:
        bench.close()
    sys.exit(found > 0)


if __name__ == "__main__":
    main()
