# Two maps against numpy; misuse and bad input.
run "$PYTHON" "$top/tests/report/match_agrees.py"
same "match agrees with numpy" "$code$(cat "$work/out" "$work/err")" 0
refuses 2 "MAP is missing" voxsift match
refuses 2 "TRUTH is missing" voxsift match a.nii
refuses 2 "expects a number of at least 0, not '-1'" voxsift match a.nii b.nii --threshold -1
refuses 2 "expects a number between 0 and 1000000, not '-1'" voxsift match a.nii b.nii --tolerance -1
refuses 2 "expects one of 6, 18, 26, not '8'" voxsift match a.nii b.nii --connectivity 8
refuses 2 "not '0'" voxsift match a.nii b.nii --volume 0
refuses 66 "cannot read 'none.nii'" voxsift match none.nii a.nii
refuses 66 "cannot read 'none.nii'" voxsift match a.nii none.nii
mkdir nothing
refuses 66 "'nothing' is a directory without a map of weights" voxsift match a.nii nothing
head -c 700 a.nii > short.nii
refuses 65 "cannot read 'short.nii'" voxsift match a.nii short.nii
"$PYTHON" - << 'EOP'
import nibabel as nib, numpy as np
image = nib.load("a.nii")
values = image.get_fdata()
values[1, 1, 1] = np.inf
nib.save(nib.Nifti1Image(values.astype("f4"), image.affine), "inf.nii")
bare = nib.Nifti1Image(np.ones((5, 11, 9), "f4"), None)
for name in ("bare", "bare2"):
    bare.header["sform_code"] = bare.header["qform_code"] = 0
    nib.save(bare, name + ".nii")
    bare = nib.Nifti1Image(np.ones((4, 4, 4), "f4"), None)
EOP
refuses 65 "'inf.nii' has 1 infinite value; replace it by finite values" voxsift match a.nii inf.nii
refuses 65 "has no orientation" voxsift match a.nii bare.nii --resample
refuses 65 "are on different grids" voxsift match bare.nii bare2.nii
refuses 65 "neither has an orientation" voxsift match bare.nii bare2.nii --resample
cp m/weights.nii.gz kept.nii.gz
cp c/truth.nii.gz m/mask.nii.gz && "$PYTHON" -c "
import nibabel as nib
nib.save(nib.Nifti1Image(nib.load('m/mask.nii.gz').get_fdata()[:5].astype('u1'), nib.load('m/mask.nii.gz').affine), 'm/mask.nii.gz')"
refuses 65 "'m/mask.nii.gz' is not on the grid of 'm/weights.nii.gz'" voxsift match m c
rm -rf ./*
nothing_left "match"
