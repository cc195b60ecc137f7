"""What waiting for the disk costs: the same outputs with and without --no-fsync, in turn.

fsync.py BUILD FOLDER, a folder on the disk in question."""
import os
import shutil
import subprocess
import sys
import time

build, folder = sys.argv[1:3]
program = os.path.join(build, "voxsift")
cohort, out = os.path.join(folder, "fsync-cohort"), os.path.join(folder, "fsync-out")
RUNS = [
    ("a model, 4 files", ["fit", cohort, "--target", "score", "--lambda-ratio", "0.5"]),
    ("permutations, 500 records in the checkpoint",
     ["permute", cohort, "--target", "score", "--nlambda", "5", "--folds", "2", "--inner-folds", "2",
      "--permutations", "500", "--stop-at", "0"]),
    ("a cohort of 8 MB", ["simulate", "lasso", "--subjects", "100", "--features", "20000"]),
    ("a cohort of 400 MB", ["simulate", "lasso", "--subjects", "1000", "--features", "100000"]),
    ("images, 200 files of 0.2 MB", ["simulate", "spheres", "--subjects", "200", "--shape", "40,40,40", "--write-images"]),
]
REPEATS = 5


def seconds(words):
    shutil.rmtree(out, ignore_errors=True)
    os.sync()
    start = time.perf_counter()
    subprocess.run([program, *words, "-q", "-o", out], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


shutil.rmtree(cohort, ignore_errors=True)
subprocess.run([program, "simulate", "lasso", "--subjects", "60", "--features", "200", "-q", "-o", cohort], check=True,
               stdout=subprocess.DEVNULL)
print(f"Waiting for the disk ({folder}), {REPEATS} runs each, least and most seconds:")
print(f"{'':46}{'as usual':>16}{'--no-fsync':>16}{'least - least':>16}")
for name, words in RUNS:
    times = [(seconds(words), seconds([*words, "--no-fsync"])) for _ in range(REPEATS)]
    usual, scratch = zip(*times)
    print(f"{name:46}{min(usual):8.3f}{max(usual):8.3f}{min(scratch):8.3f}{max(scratch):8.3f}{min(usual) - min(scratch):16.3f}")
shutil.rmtree(out, ignore_errors=True)
shutil.rmtree(cohort)
