# Headers made to wrap sizes, to divide by nothing or to be taken for a volume: every command that
# reads images ends with one of its own codes. VOXSIFT: another build of the program, such as one
# under sanitizers.
"$PYTHON" - << 'END'
import os, struct
import numpy as np
rng = np.random.default_rng(2)
two64 = 1 << 32


def one(dims, pixdim=(2, 2, 2), sform=None, datatype=16, scale=(1, 0), offset=352, data=None):
    h = bytearray(352)
    struct.pack_into("<i", h, 0, 348)
    struct.pack_into("<8h", h, 40, len(dims), *dims, *([1] * (7 - len(dims))))
    struct.pack_into("<hh", h, 70, datatype, 32)
    with np.errstate(all="ignore"):
        h[76:108] = np.array([1, *pixdim, 1, 1, 1, 1], "<f8").astype("<f4").tobytes()
        h[108:120] = np.array([offset, *scale], "<f8").astype("<f4").tobytes()
        if sform is not None:
            struct.pack_into("<hh", h, 252, 0, 1)
            h[280:328] = np.array(sform, "<f8").astype("<f4").tobytes()
    h[344:348] = b"n+1\0"
    return bytes(h) + (data if data is not None else rng.normal(9, 3, 64).astype("<f4").tobytes())


def two(dims, pixdim=(2, 2, 2), sform=None, datatype=16, intent=0, extension=0, offset=544):
    h = bytearray(544)
    struct.pack_into("<i8s", h, 0, 540, b"n+2\0\r\n\x1a\n")
    struct.pack_into("<hh8q", h, 12, datatype, 32, len(dims), *dims, *([1] * (7 - len(dims))))
    struct.pack_into("<8d", h, 104, 1, *pixdim, 1, 1, 1, 1)
    struct.pack_into("<q2d", h, 168, offset, 1, 0)
    if sform is not None:
        struct.pack_into("<2i", h, 344, 0, 1)
        struct.pack_into("<12d", h, 400, *np.ravel(sform))
    struct.pack_into("<i", h, 504, intent)
    if extension:
        h[540] = 1
        h += struct.pack("<2i", 16, extension) + b"<CIFTI/>"
    return bytes(h) + rng.normal(9, 3, 64).astype("<f4").tobytes()


def flat(size, origin=0):
    return [[size, 0, 0, origin], [0, size, 0, origin], [0, 0, size, origin]]


four = (4, 4, 4)
cases = {
    "far": lambda: one(four, (1e5, 1e5, 1e5), flat(1e5)),
    "farther": lambda: one(four, (9e8, 9e8, 9e8), flat(9e8)),
    "huge": lambda: one((32767, 32767, 32767)),
    "long": lambda: one((1, 1, 32767), (2, 2, 1e9), flat(1e9)),
    "tiny": lambda: one(four, (1e-30, 1e-30, 1e-30), flat(1e-30)),
    "tinier": lambda: two(four, (1e-300, 1e-300, 1e-300), flat(1e-300)),
    "small": lambda: two(four, (1e-9, 1e-9, 1e-9), flat(1e-9)),
    "nan": lambda: one(four, (np.nan, np.nan, np.nan), flat(np.nan)),
    "inf": lambda: two(four, (np.inf, 2, 2), flat(np.inf)),
    "negative": lambda: one(four, (-2, -2, -2), flat(-2)),
    "none": lambda: two(four, (0, 0, 0), flat(0)),
    "away": lambda: two(four, (2, 2, 2), flat(2, 1e300)),
    "skew": lambda: two(four, (2, 2, 2), [[2, 2, 0, 0], [0, 1e-14, 0, 0], [0, 0, 2, 0]]),
    "uneven": lambda: two(four, (1e-3, 1e6, 2), [[1e-3, 0, 0, 0], [0, 2e5, 0, 0], [0, 0, 2, 0]]),
    "wraps": lambda: two((two64, two64, 1)),
    "wraps3": lambda: two((1 << 22, 1 << 21, 1 << 21)),
    "wraps4": lambda: two((1 << 16, 1 << 16, 1 << 16, 1 << 16)),
    "volumes": lambda: two((4, 4, 4, 1 << 58)),
    "minus": lambda: two((4, -4, 4)),
    "beyond": lambda: two((512, 512, 512)),
    "offset": lambda: two(four, offset=(1 << 62)),
    "scaled": lambda: one(four, scale=(3e38, 3e38)),
    "labels": lambda: one(four, datatype=8, data=rng.integers(-2**31, 2**31, 64).astype("<i4").tobytes()),
}
named = {
    "cifti": lambda: two((1, 1, 1, 1, 4, 16), intent=3006, extension=32),
    "ciftext": lambda: two((1, 1, 1, 1, 4, 16), extension=32),
    "rgb": lambda: one(four, datatype=128, data=bytes(192)),
    "rgba": lambda: one(four, datatype=2304, data=bytes(256)),
    "complex": lambda: one(four, datatype=32, data=bytes(512)),
    "vectors": lambda: one((4, 4, 4, 1, 3), data=bytes(768)),
    "times": lambda: one((4, 4, 4, 2, 3), data=bytes(1536)),
}
for group, makers in (("cases", cases), ("named", named)):
    for name, make in makers.items():
        os.makedirs(f"{group}/{name}")
        for k in range(3):
            open(f"{group}/{name}/s{k}.nii", "wb").write(make())
os.mkdir("good")
for k in range(3):
    open(f"good/s{k}.nii", "wb").write(one(four, sform=flat(2)))
open("mask.nii", "wb").write(one(four, sform=flat(2), data=np.ones(64, "<f4").tobytes()))
open("atlas.nii", "wb").write(one(four, sform=flat(2), data=np.repeat([1, 2], 32).astype("<f4").tobytes()))
for k, y in enumerate([1, 2, 4]):
    open("people.tsv", "a").write(("participant_id\ty\n" if k == 0 else "") + f"s{k}\t{y}\n")
END
program=${VOXSIFT:-voxsift}
survives() { # COMMAND...: a code of the program's own, one line for a failure, and soon
    run timeout 20 "$program" "$@"
    case $code in
        0 | 1 | 2 | 65 | 66 | 73) pass ;;
        *) fail "$*" "exit $code" "$(head -n 5 "$work/err")" ;;
    esac
    [ "$code" -eq 0 ] || [ "$(tail -n 1 "$work/err" | grep -c '^voxsift ')" -eq 1 ] ||
        fail "$*" "no line that says why" "$(cat "$work/err")"
    rm -rf out out.html
}
"$program" cohort good --mask mask.nii --participants people.tsv -o base > /dev/null
"$program" fit base --target y --lambda-ratio 0.5 -o model > /dev/null 2>&1
for case in cases/*; do
    image=$case/s0.nii
    survives info "$image" --json
    for how in "--voxel-size 0.1" "--voxel-size 100 --smooth 100" "--smooth 1e-9" \
        "--resample --mask mask.nii" "--regions --atlas $image"; do
        survives cohort "$case" $how -o out
    done
    survives cohort good --resample --mask "$image" -o out
    survives cohort good --regions --atlas "$image" --voxel-size 1 -o out
    survives predict model "$image"
    survives regions "$image" --threshold 1 --atlas "$image"
    survives match "$image" mask.nii --resample --tolerance 2 --json
    survives match mask.nii "$image" --resample
    survives simulate skfs-linear --subjects 4 --radius 1 --images "$case" -o out
done
survives report model --atlas cases/labels/s0.nii --underlay cases/far/s0.nii -o out.html
# the grid that wrapped
refuses 2 "make a grid of 4000000 x 4000000 x 4000000 from one of 4 x 4 x 4" \
    "$program" cohort cases/far --voxel-size 0.1 -q -o out
refuses 65 "its grid is 32767 x 32767 x 32767; 1 to 2147483647 voxels are supported" \
    "$program" info cases/huge/s0.nii
# what is no volume of numbers is called what it is, and there is a way out
while read -r name what remedy; do
    for words in "info named/$name/s0.nii" "predict model named/$name/s0.nii" \
        "regions named/$name/s0.nii --threshold 1" "cohort named/$name -o out" \
        "cohort good --mask named/$name/s0.nii -o out"; do
        run "$program" $words
        same "$name: $words" "$code" 65
        holds "$name: $words" "${what//_/ }" "$work/err"
        holds "$name: $words, and a remedy" "${remedy//_/ }" "$work/err"
    done
done << 'END'
cifti it_is_a_CIFTI-2_file give_its_volume
ciftext it_is_a_CIFTI-2_file give_its_volume
rgb its_values_are_colors_(RGB24) give_the_map_of_numbers
rgba its_values_are_colors_(RGBA32) give_the_map_of_numbers
complex its_values_are_complex_(complex64) give_one_part
vectors 5_dimensions,_with_3_values_a_voxel give_one_of_them
times 5_dimensions,_with_3_values_a_voxel give_one_of_them
END
rm -rf ./*
nothing_left "hostile images"
