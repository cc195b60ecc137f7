# Images that do not say where they are: no transform, and voxel sizes that are none.
/usr/bin/python3 - << 'END'
import struct

import numpy as np

rng = np.random.default_rng(0)
SHAPE = (6, 6, 6)


def nifti(path, data, sizes, known):
    """NIfTI-1; the sform is there only where it is known."""
    h = bytearray(352)
    struct.pack_into("<i", h, 0, 348)
    struct.pack_into("<8h", h, 40, 3, *SHAPE, 1, 1, 1, 1)
    struct.pack_into("<2h", h, 70, 16, 32)  # float32
    struct.pack_into("<8f", h, 76, 1, *sizes, 1, 1, 1, 1)
    struct.pack_into("<f", h, 108, 352)
    struct.pack_into("<f", h, 112, 1)
    struct.pack_into("<2h", h, 252, 0, 1 if known else 0)
    for d in range(3):
        struct.pack_into("<4f", h, 280 + 16 * d, *np.eye(4)[d])
    h[344:348] = b"n+1\0"
    open(path, "wb").write(bytes(h) + data.astype("<f4").tobytes(order="F"))


rows = {k: "participant_id\timage\tscore\n" for k in ("nowhere", "known", "mixed")}
for i in range(24):
    data = rng.normal(size=SHAPE)
    score = data[2:4, 2:4, 2:4].mean() * 5 + rng.normal() * 0.3
    nifti(f"n{i}.nii", data, (float("nan"), 0, float("inf")), False)
    nifti(f"k{i}.nii", data, (1, 1, 1), True)  # at the very place that is made up for the others
    for name, image in (("nowhere", "n"), ("known", "k"), ("mixed", "n" if i == 7 else "k")):
        rows[name] += f"s{i:02}\t{image}{i}.nii\t{score:g}\n"
for name, text in rows.items():
    open(name + ".tsv", "w").write(text)
nifti("mask.nii", np.ones(SHAPE), (1, 1, 1), True)
END
run voxsift cohort nowhere.tsv --image-column image -o n
same "images without a place" "$code" 0
holds "are said" "left and right are unknown, and positions are relative to the first voxel" "$work/err"
holds "with what is made up" "1 x 1 x 1 mm (1 where the header has no size)" "$work/err"
holds "and marked" '"voxel_sizes_invented": true' n/cohort.json
works "those with a place" voxsift cohort known.tsv --image-column image -o k -q
if grep -q voxel_sizes_invented k/cohort.json; then fail "nothing is made up" "k"; else pass; fi
run voxsift cohort mixed.tsv --image-column image -o x -q
same "both" "$code" 65
holds "are not mixed" "n7.nii" "$work/err"
refuses 65 "it has an orientation, the images do not" voxsift cohort nowhere.tsv --image-column image --mask mask.nii -o x -q
silent="it has an orientation, the images do not"
refuses 65 "as atlas: $silent" voxsift cohort nowhere.tsv --image-column image --atlas mask.nii --regions -o x -q
refuses 65 "as atlas: it has no orientation" voxsift regions k/coverage.nii.gz --threshold 1 --atlas n/mask.nii.gz
refuses 65 "as atlas: $silent" voxsift regions n/coverage.nii.gz --threshold 1 --atlas mask.nii
refuses 65 "as penalties: $silent" voxsift fit n --target score --penalty-factors mask.nii -o x -q
cp mask.nii MASK.NII
refuses 65 "as penalties: $silent" voxsift fit n --target score --penalty-factors MASK.NII -o x -q
run voxsift fit n --target score -o m -q
same "a model" "$code" 0
refuses 65 "as atlas: $silent" voxsift report m --atlas mask.nii -o x.html
refuses 65 "as underlay: $silent" voxsift report m --underlay mask.nii -o x.html
works "an atlas as silent as the images" voxsift regions n/coverage.nii.gz --threshold 1 --atlas n/mask.nii.gz
run voxsift report m -o m.html
holds "whose page says it" "left and right are unknown, and mm are counted from the first voxel" m.html
if grep -q "left is left" m.html; then fail "left is not left" "m.html"; else pass; fi
run voxsift fit k --target score -o mk -q
run voxsift report mk -o mk.html
holds "elsewhere left is left" "left is left" mk.html
run voxsift predict m k
same "nobody is predicted elsewhere" "$code" 65
holds "and it says why" "left and right may be exchanged" "$work/err"

# Images in two places: sform and qform. And values that single precision cannot tell apart.
"$PYTHON" - << 'END'
import struct

import numpy as np

for i in range(24):
    h = bytearray(open(f"k{i}.nii", "rb").read())
    struct.pack_into("<h", h, 252, 1)
    struct.pack_into("<f", h, 268, 3 if i in (4, 5) else 0.25)
    if i == 5:
        struct.pack_into("<f", h, 272, 4)
    open(f"q{i}.nii", "wb").write(h)
    struct.pack_into("<2h", h, 70, 1024, 64)
    items = 2**60 + np.arange(216, dtype="<i8")
    open(f"w{i}.nii", "wb").write(bytes(h[:352]) + (items if i == 9 else items - 2**60).tobytes())
END
sed 's/k\([0-9]*\.nii\)/q\1/' known.tsv > two.tsv
run voxsift cohort two.tsv --image-column image -o two
same "images in two places" "$code" 0
holds "are warned of, with the one that is farthest apart" "the sform and the qform of 2 of 24 images differ by more than half a voxel, those of 'q5.nii' by 5 mm at a corner; the sform is used" "$work/err"
same "once" "$(grep -c qform "$work/err")" 1
run voxsift cohort known.tsv --image-column image -o one
if grep -q qform "$work/err"; then fail "one place is no two" "$(cat "$work/err")"; else pass; fi
run voxsift info q4.nii
holds "info has the distance" "sform and qform differ by 3 mm at a corner; the sform is used" "$work/err"
sed 's/k9\.nii/w9.nii/' known.tsv > wide.tsv
run voxsift cohort wide.tsv --image-column image -o wide
holds "an image whose differences are lost is not called empty" "'w9.nii' has values that differ by less than float32 can hold" "$work/err"
rm -rf ./*
nothing_left "images without a place"
