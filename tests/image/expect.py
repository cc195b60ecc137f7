"""Hand-made images and their verdicts: expect.py FOLDER, which holds EXPECT.tsv. OK and REJECT are
binding; with a question mark either is fine, but what is read must be right."""
import json
import subprocess
import sys

folder, bad, seen = sys.argv[1], 0, 0
for line in open(folder + "/EXPECT.tsv").read().split("\n")[1:]:
    if not line:
        continue
    name, verdict, shape, total, low, high = (line.split("\t") + [""] * 6)[:6]
    seen += 1
    run = subprocess.run(["voxsift", "info", "-q", "--json", f"{folder}/{name}"], capture_output=True, text=True)
    good = run.returncode == 0
    if (verdict == "OK" and not good) or (verdict == "REJECT" and good) or (
            not good and (run.returncode not in (65, 66) or run.stderr.count("\n") != 1)):
        bad += 1
        print(name, verdict, run.returncode, run.stderr)
    if good:
        said = json.loads(run.stdout)
        for key, want in [("sum", total), ("min", low), ("max", high)]:
            if abs(said[key] - float(want)) > 1e-6 * max(abs(said[key]), abs(float(want))):
                bad += 1
                print(name, key, said[key], want)
        if "x".join(map(str, said["shape"])) != shape:
            bad += 1
            print(name, said["shape"], shape)
print(f"{seen - bad} files agree")
sys.exit(bad > 0)
