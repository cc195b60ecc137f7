"""The fused lasso on voxel grids: simulated ones (grids.c), and the shipped brains at 4 mm with 6 neighbors, a path of 20
lambdas each: grids.py BUILD FOLDER EXAMPLES. GRIDS: some of small, brain, large, arc."""
import json
import os
import subprocess
import sys

build, folder, examples = sys.argv[1:4]
parts = os.environ.get("GRIDS", "small,brain,large,arc").split(",")
os.makedirs(folder, exist_ok=True)
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
tried = {"small": [(20, 100, loss, tol, sparsity, peer) for loss, tol, sparsity, peer in
                   [("squared", 1e-6, 0, 120), ("squared", 1e-4, 0, 120), ("squared", 1e-6, 1, 0), ("logistic", 1e-6, 0, 0), ("logistic", 1e-4, 0, 0)]],
         "brain": [(31, 200, loss, tol, 0, 0) for loss in ("squared", "logistic") for tol in (1e-4, 1e-6)],
         "large": [(58, 400, loss, tol, 0, 0) for loss in ("squared", "logistic") for tol in (1e-4, 1e-6)]}
for part in parts:
    for side, n, loss, tol, sparsity, peer in tried.get(part, []):
        subprocess.run([build + "/grids", str(side), str(n), loss, repr(tol), str(sparsity), *([str(peer)] if peer else [])], check=True)


def voxsift(*words):
    """What it says, the processor's seconds and the most memory in MB."""
    program = subprocess.Popen([build + "/voxsift", *words, "-q"], stdout=subprocess.PIPE, text=True)
    said = program.stdout.read()
    _, status, usage = os.wait4(program.pid, 0)
    if status:
        sys.exit(f"grids.py: voxsift {' '.join(words)} failed")
    return said, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def arc(images, target, kind):
    cohort = f"{folder}/{images}"
    voxsift("cohort", f"{examples}/arc/participants.tsv", "--image-column", images, "-o", cohort, "--force")
    for sparsity in ("0", "1"):
        for tol in ("1e-4", "1e-6"):
            said, seconds, memory = voxsift("path", cohort, "--target", target, *kind, "--method", "fused", "--graph", "grid6", "--sparsity",
                                            sparsity, "--nlambda", "20", "--tol", tol, "--nthreads", "1", "--json")
            said = json.loads(said)
            points = list({q["lambda"]: q for q in said["outputs"][0]["points"]}.values())  # all classes share theirs
            assert all(q["converged"] for q in points)
            last = points[-1]
            print(f"  {images}, {target}, sparsity {sparsity}, gap {tol}: {seconds:.2f} CPU s with reading, {memory:.0f} MB, "
                  f"{sum(q['iterations'] for q in points):.0f} rounds, {said['passes']:.0f} passes, {last['fused_regions']} pieces and "
                  f"{last['nonzero']} voxels with a weight at {last['lambda'] / last['lambda_max']:.2g} of lambda_max", flush=True)


if "arc" in parts:
    print("ARC, 20 lambdas:")
    arc("t1w", "age_at_stroke", [])
    arc("lesion", "wab_aq", [])
    arc("lesion", "wab_type", ["--loss", "multinomial"])
