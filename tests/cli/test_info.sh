# info on what numpy writes, in every type and order, agrees with numpy; tables come out in words.
"$PYTHON" - << 'EOF'
import io
import json
import subprocess
import sys
import numpy as np
rng = np.random.default_rng(1)
bad = 0
for kind in ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]:
    for order in "<>":
        for layout in "CF":
            for shape in [(), (7,), (3, 4), (2, 3, 4), (0, 3)]:
                if kind == "b1":
                    a = rng.integers(0, 2, shape).astype(bool)
                elif kind[0] == "f":
                    a = np.array(rng.normal(size=shape)).astype(order + kind)
                else:
                    # 64-bit integers that a double holds exactly
                    info = np.iinfo(kind)
                    low, high = max(info.min, -2**52), min(info.max, 2**52)
                    a = np.array(rng.integers(low, high, shape)).astype(order + kind)
                a = np.array(a, order=layout)
                if kind == "f8" and a.size > 3:
                    a.flat[1], a.flat[2] = np.nan, np.inf
                np.save("a.npy", a)
                said = json.loads(subprocess.run(["voxsift", "info", "a.npy", "--json"],
                                                 check=True, capture_output=True).stdout)
                good = a[np.isfinite(a)].astype(float)
                want = {"shape": list(shape), "nonfinite": int(a.size - good.size),
                        "min": good.min() if good.size else None,
                        "max": good.max() if good.size else None}
                for key, value in want.items():
                    if said[key] != value:
                        bad += 1
                        print(kind, order, layout, shape, key, said[key], value)
                if abs(said["sum"] - good.sum()) > 1e-9 * (1 + np.abs(good).sum()):
                    bad += 1
                    print(kind, order, layout, shape, "sum", said["sum"], good.sum())
for version in [(1, 0), (2, 0), (3, 0)]:
    with open("a.npy", "wb") as f:
        np.lib.format.write_array(f, np.arange(5.0), version=version)
    if subprocess.run(["voxsift", "info", "a.npy"], capture_output=True).returncode:
        bad += 1
        print("version", version)
for a in [np.array(["x"]), np.array([1j]), np.array([1.0], dtype="f2"), np.array([{}]),
          np.zeros(2, dtype=[("a", "f4")])]:
    np.save("a.npy", a, allow_pickle=True)
    if subprocess.run(["voxsift", "info", "a.npy"], capture_output=True).returncode != 65:
        bad += 1
        print("not refused:", a.dtype)
sys.exit(bad > 0)
EOF
same "info agrees with numpy" $? 0
rm a.npy

works "the example's table" voxsift info "$top/examples/arc/participants.tsv"
holds "classes with their counts" "F 44, M 70" "$work/out"
printf 'participant_id\tage\nsub-1\t50\nsub-1\tn/a\nn/a\t3\n' > twins.tsv
run voxsift info twins.tsv
same "twins are a warning" "$code" 0
holds "twins" "warning: 'twins.tsv': column participant_id repeats values in 1 row" "$work/err"
holds "nameless" "no participant_id in 1 row" "$work/err"
works "a warning can be silenced" voxsift info -q twins.tsv
works "from a pipe" bash -c 'cat twins.tsv | voxsift info -q /dev/stdin --json'
same "JSON of a table" \
    "$("$PYTHON" -c 'import json,sys; d=json.load(open(sys.argv[1])); print(d["kind"], d["rows"], d["columns"][1]["mean"], d["columns"][1]["missing"])' "$work/out")" \
    "table 3 26.5 1"
rm twins.tsv

# A background known by name is an image, no atlas of its gray values; parcels without names are one.
works "the background" voxsift info icbm152
same "gray values are no labels" "$(grep -c "an atlas of" "$work/out")" 0
works "the background as JSON" voxsift info icbm152 --json
holds "gray values are an image" '"kind": "image"' "$work/out"
refuses 65 "as an atlas: neighboring voxels rarely have the same one of its 237 values, as in an image of gray values" \
    voxsift cohort "$top/examples/arc/participants.tsv" --image-column lesion --regions --atlas icbm152 -q -o gray
mkdir parcels
"$PYTHON" - << 'EOF'
import nibabel as nib
import numpy as np
i, j, k = np.indices((12, 12, 12)) // 3
nib.save(nib.Nifti1Image((1 + i + 4 * j + 16 * k).astype("i2"), np.eye(4)), "parcels/small64.nii.gz")
EOF
VOXSIFT_ATLASES=$PWD/parcels works "regions of 27 voxels without names" voxsift info small64
holds "are an atlas" "an atlas of  64 labels" "$work/out"
rm -r parcels
# results that are no cohort and no model are named, with the command that shows them
works "a small cohort" voxsift simulate lasso --subjects 40 --features 20 --seed 1 -q -o results
works "a cross-validation of it" voxsift cv results --target score --nlambda 4 -q -o results-cv
refuses 66 "'results-cv' is a cross-validation; info describes images, tables, arrays, cohorts and models; 'voxsift report' makes a page of it" \
    voxsift info results-cv
rm -r results results-cv
nothing_left "info"
