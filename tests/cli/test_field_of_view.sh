# Images that end within the mask or the reference region are named: where they end, 0 is no measurement.
"$PYTHON" - << 'EOF'
import nibabel as nib, numpy as np
rng = np.random.default_rng(0)
grid = np.indices((20, 20, 20)) - 9.5
inside = np.sqrt((grid ** 2).sum(0)) < 8
affine = np.diag([2., 2, 2, 1])
affine[:3, 3] = -20
with open("all.tsv", "w") as table:
    table.write("participant_id\timage\ty\n")
    for i in range(14):
        values, moved = np.where(inside, 100 + 10 * rng.normal(size=inside.shape), 0).astype("f4"), affine.copy()
        if i == 7:
            values = values[:12]
        if i == 9:
            moved[0, 3] += 16
        if i == 11:
            moved[0, 3] += 500
        nib.save(nib.Nifti1Image(values, moved), f"s{i:02}.nii.gz")
        table.write(f"s{i:02}\ts{i:02}.nii.gz\t{rng.normal()}\n")
reference = (inside & (grid[0] > -2)).astype("u1")
nib.save(nib.Nifti1Image(reference, affine), "reference.nii.gz")
EOF
grep -v -e s07 -e s09 -e s11 all.tsv > good.tsv
grep -e part -e s07 -e s09 all.tsv > cut.tsv
names() { # what was run, what is said, the command
    local what=$1 said=$2
    shift 2
    run "$@"
    same "$what" "$code" 0
    holds "$what, and what is said" "$said" "$work/err"
}
both="2 images have no values in part of the mask, which is outside of the field of view: they count as 0 (share of it: 's07' 3"
run voxsift cohort all.tsv --image-column image --resample -o x
same "another space" "$code" 65
holds "and why" "'s11.nii.gz' has no two values that differ within the cohort's grid: is it in the same space?" "$work/err"
names "cut images" "$both" voxsift cohort all.tsv --image-column image --resample --drop-bad -o cut
names "with other voxels" "$both" voxsift cohort all.tsv --image-column image --resample --voxel-size 4 --drop-bad -o large
names "without writing" "$both" voxsift cohort all.tsv --image-column image --resample --drop-bad --dry-run
names "scaled by a region that is cut off" "no values in part of the reference region, which is outside of the field of view: zeros are part of its mean" \
    voxsift cohort all.tsv --image-column image --resample --drop-bad --scale suvr --reference reference.nii.gz -o suvr
works "whole images, of which nothing is said" voxsift cohort good.tsv --image-column image --resample -o good
works "a model" voxsift fit good --target y -q -o model
names "new images that are cut" "$both" voxsift predict model cut.tsv --image-column image --resample
rm -rf ./*
nothing_left "field of view"
