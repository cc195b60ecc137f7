"""SAIF beside the other ways to keep features out, on the dissertation's simulation (chapter 2): seconds to a
gap, along paths, and what the strong rule throws away wrongly: screens.py BUILD FOLDER. Prints tables, and draws
the shapes of Figures 2.2, 2.5 and 2.6 into FOLDER. By coordinate descent, as there, and with exact steps. One
thread, seconds of the solver alone, the least of three rounds over everything, so that what slows the machine for
a while slows none of the minima; what gives up before its gap is run once."""
import contextlib
import io
import json
import subprocess
import sys

sys.dont_write_bytecode = True
from chart import draw

build, folder = sys.argv[1:3]
ROUNDS = 3
best = {}  # seconds, whether the gap was reached, and the points, by the words of the command
SIZE = "n = 100, p = 5,000, one thread, least of three runs"
BY_DESCENT = SIZE + "; by descent, dashed: by exact steps"
EXACT = ", exact steps"
LOOKS = {"none": ("#a3acb6", 6, "circle", 6.5), "dynamic": ("#c2410c", 1.8, "circle", 3.2), "dpp": ("#7e22ce", 2.2, "square", 5.6),
         "strong": ("#15803d", 2.2, "diamond", 3.6), "saif": ("#1d4ed8", 2.2, "triangle", 4.6)}
STYLES = {name + end: {"color": color, "width": width, "shape": shape, "size": size, "dashed": end != ""}
          for name, (color, width, shape, size) in LOOKS.items() for end in ("", EXACT)}


def run(command, cohort, target, *words):
    out = ["-o", folder + "/model", "--force"] if command == "fit" else []
    said = json.loads(subprocess.run(
        [build + "/voxsift", command, cohort, "--target", target, "--standardize", "none", "--no-intercept", "--json", "-q",
         "--nthreads", "1", *words, *out], capture_output=True).stdout)
    points = said["outputs"][0]["points"] if command == "path" else [said]
    return sum(q["seconds"] for q in points), all(q["converged"] for q in points), points


def least(*words):
    """Of this and the rounds before."""
    if words not in best:
        best[words] = run(*words)
    elif best[words][1]:
        best[words] = min(best[words], run(*words), key=lambda one: one[0])
    return best[words]


def simulate(target):
    cohort = f"{folder}/{target}"
    subprocess.run([build + "/voxsift", "simulate", "lasso", "--target", target, "-o", cohort, "--force", "-q"], check=True,
                   stdout=subprocess.DEVNULL)
    return cohort, target


def way(name):
    screen, _, exact = name.partition(",")
    return ["--screen", screen, "--subproblem", "exact" if exact else "descent"]


def heading(what, first, names):
    print(f"{what}; * gave up before")
    print(first.ljust(9) + "".join(f"{name:>19}" for name in names))


def cell(seconds, reached, passes=None):
    return f"{seconds:.4f}" + (f" ({passes:.1f})" if passes else "") + ("" if reached else "*")


def lambdas(data, names, ratios):
    """To a gap of 1e-6 at several lambdas: a table, and lines for a figure."""
    lines = {name: [] for name in names}
    for ratio in ratios:
        row = []
        for name in names:
            seconds, reached, points = least("fit", *data, "--lambda-ratio", str(ratio), *way(name))
            lines[name].append((ratio, seconds, reached))
            row.append(cell(seconds, reached, points[0]["passes"]))
        print(f"{ratio:<9}" + "".join(f"{v:>19}" for v in row))
    return list(lines.items())


def gaps(data):
    """Figure 2.2. A gap below one that was not reached is not asked for."""
    names, panels, tols = ["none", "dynamic", "saif", "saif" + EXACT], [], ("1e-2", "1e-4", "1e-6", "1e-8")
    print("Squared loss: seconds to a relative gap; * gave up before\n" + "lambda".ljust(24) + "".join(f"{t:>10}" for t in tols))
    for ratio in ("0.05", "0.005", "0.001"):
        lines = []
        for name in names:
            found = []
            for tol in tols:
                seconds, reached, points = least("fit", *data, "--lambda-ratio", ratio, "--tol", tol, *way(name))
                found.append((float(tol), seconds, reached))
                if not reached:
                    break
            lines.append((name, found))
            print(f"{ratio} {name}".ljust(24) + "".join(f"{cell(s, r):>10}" for _, s, r in found))
        panels.append({"title": f"{ratio} of lambda_max ({points[0]['lambda']:,.0f})", "xname": "relative duality gap to reach",
                       "ticks": [(float(tol), tol) for tol in tols], "lines": lines})
    draw(folder + "/screens-gap.svg", "Squared loss: seconds to a duality gap", BY_DESCENT, "seconds", names, panels, STYLES)


def logistic(data):
    """Figure 2.5."""
    names, ratios = ["none", "dynamic", "saif", "saif" + EXACT], (0.7, 0.5, 0.3, 0.1, 0.05)
    heading("Logistic loss: seconds (passes) to a relative gap of 1e-6", "lambda", names)
    panel = {"title": "relative gap 1e-6", "xname": "lambda / lambda_max",
             "ticks": [(r, f"{r:g}") for r in ratios], "lines": lambdas(data, names, ratios)}
    draw(folder + "/screens-logistic.svg", "Logistic loss: seconds at one lambda", BY_DESCENT, "seconds", names, [panel], STYLES)


def recall(count, strong, saif):
    missed, selected = sum(q.get("missed", 0) for q in strong), sum(q["nonzero"] for q in strong)
    worst = max(abs(a["primal"] - b["primal"]) for a, b in zip(strong, saif)) / saif[0]["primal"]
    return (f"  {count:3} lambdas: {missed} missed of {selected} (recall {1 - missed / selected:.3f}); SAIF "
            f"{sum(q.get('missed', 0) for q in saif)}; objectives after mending differ by {worst:.0e} of the empty model")


def paths(data):
    """Figure 2.6 and Table 2.1. By descent fewer paths: they take most of the time."""
    screens, panels, said = ["dpp", "strong", "saif"], [], []
    heading("Squared loss, paths to 0.001 of lambda_max: seconds to a relative gap of 1e-6 at every lambda", "lambdas", screens)
    for end, title, counts in (("", "coordinate descent", (10, 50, 200)), (EXACT, "exact steps", (10, 20, 50, 100, 200))):
        lines = {screen + end: [] for screen in screens}
        for count in counts:
            of = {name: least("path", *data, "--lambda-ratio", "0.001", "--nlambda", str(count), *way(name)) for name in lines}
            for name, (seconds, reached, _) in of.items():
                lines[name].append((count, seconds, reached))
            print(f"{count:<9}" + "".join(f"{cell(s, r):>19}" for s, r, _ in of.values()) + "  " + title)
            said += [recall(count, of["strong" + EXACT][2], of["saif" + EXACT][2])] if end else []
        panels.append({"title": title + (" (dashed)" if end else ""), "xname": "lambdas on the path",
                       "ticks": [(c, str(c)) for c in (10, 20, 50, 100, 200)], "lines": list(lines.items())})
    draw(folder + "/screens-path.svg", "Squared loss: seconds of a path to 0.001 of lambda_max", SIZE + "; gap 1e-6 at every lambda",
         "seconds", screens, panels, STYLES)
    print("Features that the strong rule threw away wrongly, of those with a weight; SAIF's", *said, sep="\n")


def everything(score, diagnosis):
    names = ["none", "dynamic", "dpp", "strong", "saif", "saif" + EXACT]
    heading("Squared loss, n = 100, p = 5,000: seconds (passes) to a relative gap of 1e-6", "lambda", names)
    lambdas(score, names, (0.7, 0.5, 0.3, 0.1, 0.05))
    gaps(score)
    logistic(diagnosis)
    paths(score)


cohorts = simulate("score"), simulate("diagnosis")
for turn in range(ROUNDS):
    with contextlib.redirect_stdout(io.StringIO()) as report:
        everything(*cohorts)
    print(f"SAIF beside other screens, round {turn + 1} of {ROUNDS}", flush=True)
print(report.getvalue(), end="")
