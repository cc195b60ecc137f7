"""SAIF beside the other ways to keep features out, on the dissertation's simulation (chapter 2): seconds and
passes to a gap, and what the strong rule throws away wrongly: screens.py BUILD FOLDER. All by coordinate
descent, as there; the last column is SAIF with its exact steps."""
import json
import subprocess
import sys

build, folder = sys.argv[1:3]


def run(command, cohort, *words):
    out = ["-o", folder + "/model", "--force"] if command == "fit" else []
    return json.loads(subprocess.run(
        [build + "/voxsift", command, cohort, "--target", "score", "--standardize", "none", "--no-intercept", "--json", "-q",
         "--nthreads", "1", *words, *out], capture_output=True).stdout)


cohort = folder + "/cohort"
subprocess.run([build + "/voxsift", "simulate", "lasso", "-o", cohort, "--force", "-q"], check=True, stdout=subprocess.DEVNULL)
print("n = 100, p = 5,000: seconds (passes) to a relative gap of 1e-6", flush=True)
ways = [("none", "descent"), ("dynamic", "descent"), ("dpp", "descent"), ("strong", "descent"), ("saif", "descent"), ("saif", "auto")]
print("lambda".ljust(9) + "".join(f"{s + ('' if i == 'descent' else ', exact'):>19}" for s, i in ways))
for ratio in (0.7, 0.5, 0.3, 0.1, 0.05):
    row = []
    for screen, inner in ways:
        said = run("fit", cohort, "--lambda-ratio", str(ratio), "--screen", screen, "--inner", inner)
        row.append(f"{said['seconds']:.4f} ({said['passes']:.1f})" + ("" if said["converged"] else "*"))
    print(f"{ratio:<9}" + "".join(f"{v:>19}" for v in row), flush=True)
print("Paths to 0.001 of lambda_max: features that the strong rule threw away wrongly, of those with a weight; SAIF's", flush=True)
for count in (10, 20, 50, 100, 200):
    words = ["--lambda-ratio", "0.001", "--nlambda", str(count)]
    strong = run("path", cohort, *words, "--screen", "strong", "--inner", "exact")["outputs"][0]["points"]
    saif = run("path", cohort, *words)["outputs"][0]["points"]
    missed, selected = sum(q.get("missed", 0) for q in strong), sum(q["nonzero"] for q in strong)
    worst = max(abs(a["primal"] - b["primal"]) for a, b in zip(strong, saif)) / saif[0]["primal"]
    print(f"  {count:3} lambdas: {missed} missed of {selected} (recall {1 - missed / selected:.3f}); SAIF "
          f"{sum(q.get('missed', 0) for q in saif)}; objectives after mending differ by {worst:.0e} of the empty model", flush=True)
