"""Problems that more than one benchmark solves, and how they become cohorts."""
import os
import subprocess

import numpy as np
from scipy.ndimage import gaussian_filter


def small(rng):
    """The dissertation's simulation: n = 100, p = 5,000."""
    X = rng.uniform(-10, 10, (100, 5000)).astype("f4")
    w = rng.uniform(-1, 1, 5000) * (rng.random(5000) < 0.2)
    return X, X @ w + rng.normal(size=100)


def brains(rng, n=400, p=200_000):
    """Noise on a grid, smoothed with sigma 1.5 voxels, four spheres that count."""
    shape = (74, 74, 74)
    at = np.indices(shape) - 36.5
    inside = np.flatnonzero(((at / 37.5) ** 2).sum(0).ravel() < 1)[:p]
    X = np.empty((n, p), "f4")
    for i in range(n):
        v = gaussian_filter(rng.normal(size=shape).astype("f4"), 1.5).ravel()[inside]
        X[i] = v / v.std()
    place = np.array(np.unravel_index(inside, shape)).T
    y = np.zeros(n)
    for center in [(20, 30, 30), (50, 40, 25), (36, 20, 50), (40, 55, 40)]:
        s = X[:, ((place - center) ** 2).sum(1) <= 16].mean(1)
        y += s / s.std()
    return X, y + rng.normal(size=n)


def both():
    """The small one and the large one, the same wherever they are made."""
    rng = np.random.default_rng(1)
    return small(rng), brains(rng)


def cohort(build, folder, X, y):
    """x.npy, rows.tsv (score, class) and the cohort of both, in the folder."""
    os.makedirs(folder, exist_ok=True)
    np.save(folder + "/x.npy", X)
    with open(folder + "/rows.tsv", "w") as f:
        f.write("participant_id\tscore\tclass\n")
        f.writelines(f"s{i}\t{v!r}\t{int(v > 0)}\n" for i, v in enumerate(map(float, y)))
    subprocess.run([build + "/voxsift", "cohort", "--npy", folder + "/x.npy", "--rows", folder + "/rows.tsv",
                    "--mem", "4G", "-o", folder + "/cohort", "--force", "-q"], check=True, stdout=subprocess.DEVNULL)
    return folder + "/cohort"
