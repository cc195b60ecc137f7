"""Boutiques descriptors of all commands against the rules of schema 0.5, and a run by one of them."""
import json
import re
import shlex
import subprocess

TOP = {"name", "description", "tool-version", "schema-version", "command-line", "inputs", "groups", "output-files"}
NEEDED = {"name", "description", "tool-version", "schema-version", "command-line", "inputs"}
INPUT = {"id", "name", "description", "type", "value-key", "command-line-flag", "optional", "integer", "minimum",
         "maximum", "value-choices", "list"}


def voxsift(*words):
    return subprocess.run(["voxsift", *map(str, words)], capture_output=True, text=True)


def faults_of(d):
    """What the schema and the tools that read it do not allow."""
    found = [f"no {key}" for key in NEEDED - set(d)] + [f"unknown key {key}" for key in set(d) - TOP]
    found += ["schema-version"] * (d.get("schema-version") != "0.5")
    ids = [x["id"] for part in ("inputs", "groups", "output-files") for x in d.get(part, [])]
    found += ["ids that occur twice"] * (len(set(ids)) < len(ids))
    found += [f"id {i!r}" for i in ids if not re.fullmatch(r"[0-9A-Za-z_]+", i)]
    keys = [x["value-key"] for x in d["inputs"]]
    found += ["value-keys that occur twice"] * (len(set(keys)) < len(keys))
    found += [f"{k} is not in the command line once" for k in keys if d["command-line"].split().count(k) != 1]
    found += [f"{w} is of no input" for w in d["command-line"].split() if w.startswith("[") and w not in keys]
    for x in d["inputs"]:
        what = x.get("id", "?")
        found += [f"{what}: unknown key {key}" for key in set(x) - INPUT]
        found += [f"{what}: type {x.get('type')}"] * (x.get("type") not in ("String", "File", "Flag", "Number"))
        found += [f"{what}: a flag without its option"] * (x["type"] == "Flag" and "command-line-flag" not in x)
        found += [f"{what}: a flag that is required"] * (x["type"] == "Flag" and not x.get("optional"))
        found += [f"{what}: limits of no number"] * (x["type"] != "Number" and bool({"integer", "minimum", "maximum"} & set(x)))
        found += [f"{what}: limits in the wrong order"] * (x.get("minimum", 0) > x.get("maximum", float("inf")))
        choices = x.get("value-choices", ["a"])
        found += [f"{what}: choices"] * (not choices or len(set(choices)) < len(choices))
        found += [f"{what}: no description"] * (not x.get("description"))
    members = [m for g in d["groups"] for m in g["members"]]
    found += ["an option is in two groups"] * (len(set(members)) < len(members))
    found += [f"group member {m}" for m in members if m not in ids]
    for out in d.get("output-files", []):
        found += ["path-template"] * (out["path-template"] not in keys)
    return found


def command_of(d, values):
    """The command line that a platform makes of a descriptor."""
    line = d["command-line"]
    for x in d["inputs"]:
        value = values.get(x["id"])
        text = "" if value is None else shlex.quote(str(value))
        if x["type"] == "Flag":
            text = x["command-line-flag"] if value else ""
        elif value is not None and "command-line-flag" in x:
            text = x["command-line-flag"] + " " + text
        line = line.replace(x["value-key"], text)
    return shlex.split(line)


bad = []
commands = re.findall(r"^  ([a-z][a-z-]*)  ", voxsift("help").stdout.split("Help\n")[0], re.M)
described = {}
for command in commands:
    done = voxsift("describe", "--boutiques", command)
    described[command] = json.loads(done.stdout)
    bad += [f"{command}: {fault}" for fault in faults_of(described[command])]
    for x in described[command]["inputs"]:
        option = x.get("command-line-flag")
        if option and not re.search(r"^[^ ].*\n?", option):
            bad.append(f"{command}: {option}")

for words, values in (("simulate", {"model": "lasso", "subjects": 30, "features": 20, "seed": 3, "out": "sim", "quiet": True}),
                      ("fit", {"cohort": "sim", "target": "score", "method": "graphnet", "graph": "chain", "lambda_ratio": 0.3,
                               "laplacian": 2, "nonnegative": True, "out": "model", "json": True})):
    done = subprocess.run(command_of(described[words], values), capture_output=True, text=True)
    if done.returncode:
        bad.append(f"{words}: exit {done.returncode}: {done.stderr}")
about = json.load(open("model/model.json"))
if about["method"] != "graphnet":
    bad.append("the model is of " + about["method"])

# The checker finds what is wrong.
for change in (lambda d: d.pop("inputs") and d.update(inputs=[]), lambda d: d["inputs"].append(dict(d["inputs"][0])),
               lambda d: d["inputs"][0].update(type="Text"), lambda d: d.pop("tool-version"),
               lambda d: d.update({"command-line": "voxsift fit"})):
    wrong = json.loads(json.dumps(described["fit"]))
    change(wrong)
    if not faults_of(wrong):
        bad.append("the checker found nothing")

print("\n".join(bad))
raise SystemExit(1 if bad else 0)
