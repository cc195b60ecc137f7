"""Brain-like int16 volumes for the benchmarks: make_volumes.py FOLDER COUNT NX NY NZ. A smooth blob with
gray-value texture and an empty background, different for each file, compressed as tools do it."""
import gzip
import os
import sys

import nibabel as nib
import numpy as np

folder, count, shape = sys.argv[1], int(sys.argv[2]), tuple(int(v) for v in sys.argv[3:6])
if os.path.isdir(folder) and len(os.listdir(folder)) == count:
    sys.exit()
os.makedirs(folder, exist_ok=True)
rng = np.random.default_rng(1)
at = [(np.arange(n) - n / 2) / n for n in shape]
x, y, z = np.meshgrid(*at, indexing="ij")
head = (x / 0.36) ** 2 + (y / 0.42) ** 2 + (z / 0.38) ** 2 < 1
texture = 800 + 300 * np.sin(40 * x) * np.sin(37 * y) * np.sin(43 * z)
for k in range(count):
    data = (head * (texture * (1 + 0.1 * rng.normal()) + rng.normal(0, 15, shape))).astype("<i2")
    image = nib.Nifti1Image(data, np.diag([2, 2, 2, 1]))
    with gzip.open(f"{folder}/sub-{k:04d}.nii.gz", "wb", 6) as f:
        f.write(image.to_bytes())
