"""Subjects as bags of cubes against numpy: which cubes there are, their values, what is compared, scores, the overlay.
Runs in an empty directory."""
import gzip
import json

import numpy as np
from oracle import check, finish, near, run, table

run("simulate", "spheres", "--subjects", "30", "--shape", "9,7,8", "--radius", "1", "--regions", "2", "--target", "diagnosis", "--seed", "5", "-q", "-o", "c")


def volume(path):
    b = gzip.open(path).read()
    dim = np.frombuffer(b, "<i2", 8, 40)
    kind = {2: "u1", 16: "<f4"}[int(np.frombuffer(b, "<i2", 1, 70)[0])]
    offset = int(np.frombuffer(b, "<f4", 1, 108)[0])
    affine = np.frombuffer(b, "<f4", 12, 280).reshape(3, 4).astype(float)
    shape = dim[1:dim[0] + 1]
    return np.frombuffer(b, kind, int(np.prod(shape)), offset).reshape(shape, order="F"), affine


mask, affine = volume("c/mask.nii.gz")
mask = mask.reshape(mask.shape[:3]) > 0
voxel = np.sqrt((affine[:, :3] ** 2).sum(0))
F = np.load("c/features.npy")  # voxels x subjects, x fastest
N = F.shape[1]
images = np.zeros((N, *mask.shape))
where = np.argwhere(mask.transpose(2, 1, 0))[:, ::-1]
for i in range(N):
    images[i][tuple(where.T)] = F[:, i]
labels = table(open("c/participants.tsv"))["diagnosis"]


def cubes(mm, norm):
    """Corner, center and values of each cube of each subject."""
    edge = np.minimum(np.maximum(np.round(mm / voxel), 1), mask.shape).astype(int)
    low, high = where.min(0), where.max(0)
    found = []
    for z in range(low[2], high[2] + 1, edge[2]):
        for y in range(low[1], high[1] + 1, edge[1]):
            for x in range(low[0], high[0] + 1, edge[0]):
                inside = np.zeros(edge, bool)
                values = np.zeros((N, *edge))
                part = tuple(slice(a, a + e) for a, e in zip((x, y, z), edge))
                there = mask[part]
                box = tuple(slice(0, s) for s in there.shape)
                inside[box] = there
                values[(slice(None), *box)] = images[(slice(None), *part)]
                if 2 * inside.sum() < inside.size:
                    continue
                if norm != "none":
                    m = values[:, inside].mean(1)
                    s = values[:, inside].std(1)
                    for i in range(N):
                        values[i][inside] = (values[i][inside] - m[i]) / (s[i] if norm == "z" else 1)
                center = affine[:, :3] @ (np.array([x, y, z]) + (edge - 1) / 2) + affine[:, 3]
                found.append(((x, y, z), center, values.transpose(0, 3, 2, 1).reshape(N, -1)))
    return found


for mm, norm, reach, width in ((voxel[0], "none", "all", 0.5), (2 * voxel[0], "none", "0", 0.5), (3 * voxel[0], "mean", "all", 1), (3 * voxel[0], "z", f"{4 * voxel[0]}", 0.3),
                               (2 * voxel[0], "z", "10000", 0.5), (1.5 * voxel[0], "none", "all", 0.5)):
    what = f"{mm} {norm} {reach}"
    words = ("--target", "diagnosis", "--positive", "patient", "--bags", f"patches:{mm}", "--near", reach, "--patch-norm", norm)
    run("fit", "c", *words, "--bandwidth", str(width), "--tol", "1e-9", "-q", "-o", "m", "--force")
    run("check-model", "m", "c", "-q")
    found = cubes(mm, norm)
    K = len(found)
    V = np.array([f[2] for f in found]).transpose(1, 0, 2)  # subjects x cubes x voxels
    center = np.array([f[1] for f in found])
    apart = np.sqrt(((center[:, None] - center) ** 2).sum(2))
    allowed = apart <= (np.inf if reach == "all" else float(reach)) + 1e-3
    D = np.empty((N, N * K))
    for i in range(N):
        for k in range(N * K):
            d = ((V[i] - V[k // K, k % K]) ** 2).sum(1)
            D[i, k] = d[allowed[:, k % K]].min()
    off = np.sort(np.concatenate([np.delete(D[i], np.arange(i * K, i * K + K)) for i in range(N)]))
    sigma = np.sqrt(width * off[(len(off) - 1) // 2])
    t, about = table(open("m/instances.tsv")), json.load(open("m/model.json"))
    index = [int(k) for k in t["index"]]
    ids = table(open("c/participants.tsv"))["participant_id"]
    check(what + ": how many", about["features"] == N * K, (about["features"], N * K))
    check(what + ": sigma", near([float(s) for s in t["sigma"]], sigma, 1e-5), (t["sigma"][:1], sigma))
    check(what + ": names", t["instance"] == [ids[k // K] + ":" + ",".join(map(str, found[k % K][0])) for k in index], t["instance"][:2])
    check(what + ": subjects", t["bag"] == [ids[k // K] for k in index])
    check(what + ": centers", near([[float(t[a][r]) for a in "xyz"] for r in range(len(index))], center[[k % K for k in index]], 1e-5))
    check(what + ": values", np.allclose(np.load("m/instances.npy"), [V[k // K, k % K] for k in index], atol=1e-5))
    w, b = np.array([float(v) for v in t["weight"]]), about["outputs"][0]["unpenalized_weights"][0]
    wanted = np.exp(-D[:, index] / (2 * sigma**2)) @ w + b
    p = table(run("predict", "m", "c", "--training-too", "-q")[0].splitlines())
    p = np.array([float(v) for v in p["p_patient"]])
    check(what + ": scores", near(np.log(p / (1 - p)), wanted, 1e-4), np.abs(np.log(p / (1 - p)) - wanted).max())
    map_, _ = volume("m/weights.nii.gz")
    spread = np.zeros(mask.shape)
    for k, weight in zip(index, w):
        (x, y, z), edge = found[k % K][0], np.minimum(np.maximum(np.round(mm / voxel), 1), mask.shape).astype(int)
        part = (slice(x, x + edge[0]), slice(y, y + edge[1]), slice(z, z + edge[2]))
        spread[part] += np.where(mask[part], weight / mask[part].sum(), 0)
    check(what + ": the overlay", np.allclose(map_.reshape(mask.shape), spread, atol=1e-5))
    run("predict", "m", "c", "--training-too", "--explain", "parts", "--force", "-q")
    parts = table(open("parts/parts.tsv"))
    part = np.array([float(v) for v in parts["part"]]).reshape(N, K)
    check(what + ": parts add up to the score", near(part.sum(1) + b, wanted, 1e-4), np.abs(part.sum(1) + b - wanted).max())
    check(what + ": parts are of cubes", parts["instance"][K:2 * K] == [ids[1] + ":" + ",".join(map(str, f[0])) for f in found] and parts["bag"][K] == ids[1])
    map_, _ = volume(f"parts/{ids[1]}.nii.gz")
    check(what + ": and so do maps", near(map_.sum() + b, wanted[1], 1e-4))
    for k in range(K):  # a cube that is nearest to no instance has no part
        nearest = any(D[1, j] == ((V[1, k] - V[j // K, j % K]) ** 2).sum() and allowed[k, j % K] for j in index)
        check(what + ": who has a part", nearest or part[1, k] == 0)
    if reach == "10000":
        run("fit", "c", *words[:6], "--near", "all", "--patch-norm", norm, "--bandwidth", str(width), "--tol", "1e-9", "-q", "-o", "all")
        check("near beyond the brain is all", open("m/instances.tsv").read() == open("all/instances.tsv").read())

# Cubes of one voxel are a table whose rows are voxels.
rows = [(i, j) for i in range(N) for j in range(F.shape[0])]
with open("x.tsv", "w") as f, open("people.tsv", "w") as g:
    f.write("participant_id\tvalue\n" + "".join(f"{i:02}v{j:04}\t{float(F[j, i])!r}\n" for i, j in rows))
    g.write("participant_id\tbag\tlabel\n" + "".join(f"{i:02}v{j:04}\tb{i:02}\t{labels[i]}\n" for i, j in rows))
run("cohort", "--feature-table", "x.tsv", "--participants", "people.tsv", "--person", "bag", "-q", "-o", "rows")
run("fit", "rows", "--target", "label", "--positive", "patient", "--bags", "bag", "-q", "-o", "one")
run("fit", "c", "--target", "diagnosis", "--positive", "patient", "--bags", f"patches:{voxel[0]}", "-q", "-o", "m", "--force")
a, b = table(open("one/instances.tsv")), table(open("m/instances.tsv"))
check("cubes of one voxel are rows", a["index"] == b["index"] and near([float(v) for v in a["weight"]], [float(v) for v in b["weight"]], 1e-4))
run("cv", "c", "--target", "diagnosis", "--bags", f"patches:{2 * voxel[0]}", "--folds", "3", "--inner-folds", "2", "--nlambda", "4", "-q", "-o", "cv")
run("report", "m", "-o", "m.html", "-q")
run("regions", "m")
run("info", "m")
finish()
