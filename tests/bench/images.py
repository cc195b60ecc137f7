"""Images and cohorts against nibabel in one run: images.py BUILD FOLDER. Prints what docs/benchmarks.md
holds. Volumes are made once, in FOLDER."""
import glob
import os
import subprocess
import sys
import time

import nibabel as nib
import numpy as np

build, folder = sys.argv[1:3]
here = os.path.dirname(os.path.abspath(__file__))


def make(name, count, *shape):
    path = f"{folder}/{name}"
    subprocess.run([sys.executable, here + "/make_volumes.py", path, str(count), *map(str, shape)], check=True)
    return sorted(glob.glob(path + "/*.nii.gz"))


small = make("small", 100, 91, 109, 91)
print("100 volumes of 91 x 109 x 91 int16, one thread:", flush=True)
subprocess.run([build + "/read_images", *small], check=True)
best = 1e9
for _ in range(3):
    start = time.time()
    for f in small:
        nib.load(f).get_fdata(dtype=np.float32)
    best = min(best, time.time() - start)
print(f"  nibabel get_fdata(float32) {best:.3f} s", flush=True)

large = make("large", 228, 157, 189, 156)
print("228 volumes of 157 x 189 x 156 int16:", flush=True)
subprocess.run([build + "/read_images", *large[:40]], check=True)
out = folder + "/cohort"
for threads in ("1", "2"):
    best = 1e9
    for _ in range(3):
        subprocess.run(["rm", "-rf", out], check=True)
        start = time.time()
        p = subprocess.Popen([build + "/voxsift", "cohort", folder + "/large", "--nthreads", threads, "-o", out,
                              "-q"], stdout=subprocess.DEVNULL)
        _, _, usage = os.wait4(p.pid, 0)
        best = min(best, time.time() - start)
    size = os.path.getsize(out + "/features.npy")
    print(f"  voxsift cohort, {threads} thread(s): {best:.1f} s, peak {usage.ru_maxrss * 1024 / 1e6:.0f} MB, "
          f"features.npy {size / 1e6:.0f} MB", flush=True)
start = time.time()
for f in large[:40]:
    nib.load(f).get_fdata(dtype=np.float32)
print(f"  nibabel get_fdata(float32) of all of them: {(time.time() - start) * 228 / 40:.1f} s", flush=True)
