# Mistakes of first users as a table: exit code, words that must appear, words that must not, command.
mkdir atlases
"$PYTHON" - << 'END'
import nibabel as nib, numpy as np
rng = np.random.default_rng(1)
place = np.diag([20.0, 20, 20, 1]); place[:3, 3] = [-90, -126, -72]
with open("t.tsv", "w") as f:
    print("participant_id", "age", "sex", "site", "img", sep="\t", file=f)
    for k in range(40):
        nib.save(nib.Nifti1Image((5 + rng.normal(size=(10, 11, 10))).astype("f4"), place), f"i{k}.nii")
        print(f"sub-{k:02}", round(60 + 9 * rng.normal(), 1), "MF"[k % 2], f"s{k % 3}", f"i{k}.nii", sep="\t", file=f)
mask = np.zeros((10, 11, 10), "u1"); mask[2:8, 2:8, 2:8] = 1
nib.save(nib.Nifti1Image(mask, place), "mask.nii")
labels = mask.astype("i4"); labels[5:] *= 2
nib.save(nib.Nifti1Image(labels, place), "atlases/halves200.nii.gz")
open("atlases/halves200.txt", "w").write("1 Left_Half 255 0 0\n2 Right_Half 0 255 0\n")
END
export VOXSIFT_ATLASES=$PWD/atlases
works "cohort" voxsift cohort t.tsv --image-column img --mask mask.nii -q -o base
works "fit" voxsift fit base --target age -q -o m
works "fit with a covariate" voxsift fit base --target age --confounds sex -q -o mc
works "cv" voxsift cv base --target age --nlambda 3 --bootstraps 100 -q -o result

# mistake CODE WORDS NOT COMMAND...: at most six lines on standard error
mistake() {
    local wanted=$1 words=$2 never=$3
    shift 3
    run voxsift "$@"
    same "$*" "$code" "$wanted"
    holds "$*: the cure" "$words" "$work/err"
    same "$*: no more than six lines" "$(($(wc -l < "$work/err") <= 6))" 1
    if grep -qF -- "$never" "$work/err"; then fail "$*" "it says: $(cat "$work/err")"; else pass; fi
}
while IFS='|' read -r wanted words never command; do
    [ -n "$wanted" ] && eval "mistake $wanted \"\$words\" \"\$never\" $command"
done << 'END'
66|no cohort 'nothing': make one with 'voxsift cohort'|json|fit nothing --target age -o x
66|no cohort 'bsae': did you mean 'base'?|json|fit bsae --target age -o x
66|'t.tsv' is a file, not a cohort|Not a directory|cv t.tsv --target age -o x
66|'m' is a model, not a cohort|cannot read|permute m --target age -o x
66|'result' is a cross-validation, not a cohort|cannot read|stability result --target age -o x
66|did you mean 'base'?|VOXSIFT_ATLASES|info bsae
66|no directory 'fit': a page shows results of|json|report fit -o x.html
66|'base' is a cohort: a page shows results of|json|report base -o x.html
65|and 37 more like these|sub-09|cohort t.tsv --image-column sex -o x
65|and 37 more like these|sub-09|cohort t.tsv --pattern '{participant_id}.nii' -o x
65|has no column 'id'|left out|cohort t.tsv --pattern '{id}.nii' -o x
2|is a table; pass --image-column or --pattern|cannot|cohort t.tsv -o x
66|cannot read 'mask.nii.gz': No such file or directory; there is 'mask.nii'|warning|cohort t.tsv --image-column img --mask mask.nii.gz -o x
66|'base' is a cohort without a map of weights|it is a directory|regions base
66|did you mean 'halves200'?|FSLDIR|regions m/weights.nii.gz --atlas halves400
66|did you mean 'schaefer200'?|FSLDIR|regions m/weights.nii.gz --atlas schaefer400
66|did you mean 'schaefer200'?|FSLDIR|regions m/weights.nii.gz --atlas Schaefer400
66|atlases: halves200|did you mean|regions m/weights.nii.gz --atlas neuromorphometrics
66|did you mean 'halves200'?|warning|cohort t.tsv --image-column img --regions --atlas halves20 -o x
66|did you mean 'halves200'?|warning|cohort t.tsv --image-column img --scale suvr --reference halves100 --reference-labels 1 -o x
65|has no label 'Left_Haf'; did you mean 'Left_Half'?|voxel|cohort t.tsv --image-column img --scale suvr --reference halves200 --reference-labels Left_Haf -o x
65|has no label '7'|voxel|cohort t.tsv --image-column img --scale suvr --reference halves200 --reference-labels 1,7 -o x
66|'result' is a cross-validation, which has no single model: fit one with 'voxsift fit'|json|predict result base
66|'base' is a cohort, not a model|json|predict base base
66|no model 'nothing': fit one with 'voxsift fit'|json|predict nothing base
66|'result' is a cross-validation, which has no single model|json|check-model result base
66|'m' is a model, not a chunk of a run|json|merge m result -o x
65|did you mean 'age'?|json|fit base --target agee -o x
65|did you mean 'sex'?|json|fit base --target age --confounds sexx -o x
65|did you mean 'age'?|json|fit base --target age --only 'agee>60' -o x
65|no row has the value 'Male' in column 'sex'; it has 'F', 'M'|cannot|fit base --target age --only sex=Male -o x
65|did you mean 's0'|cannot|cv base --target age --exclude site=s9,s1 -o x
65|no row is left|cannot|cv base --target age --only 'age>300' -o x
2|--only and --exclude require a table|cannot|cohort i1.nii i2.nii --only sex=M -o x
2|cannot be a confound as well|cannot read|fit base --target age --confounds age -o x
2|'--folds group' goes with '--group COLUMN'|json|cv base --target age --folds group -o x
2|needs at least 5 groups of column 'site'; there are 3|json|cv base --target age --group site --folds 5 -o x
2|or group, not 'groups'|json|cv base --target age --group site --folds groups -o x
73|'m': it exists; pass --force|json|fit base --target age -o m
2|suvr requires --reference|cannot|cohort t.tsv --image-column img --scale suvr -o x
2|--regions requires --atlas|cannot|cohort t.tsv --image-column img --regions -o x
65|no column 'sex'|/tmp|predict mc i1.nii
65|and 37 more like these|sub-09|predict m t.tsv --image-column site
2|no number is behind the sign|json|fit base --target age --exclude 'age>old' -o x
END
# what had been refused and works
run voxsift regions m
same "regions of a model's directory" "$code$(head -c 5 "$work/out")" 0index
run voxsift regions result
same "regions of a cross-validation" "$code" 0
works "reference by names of atlas and label" voxsift cohort t.tsv --image-column img --mask mask.nii --scale suvr --reference halves200 --reference-labels Left_Half -q -o suvr
works "by number" voxsift cohort t.tsv --image-column img --mask mask.nii --scale suvr --reference atlases/halves200.nii.gz --reference-labels 1 -q -o suvr2
run cmp suvr/features.npy suvr2/features.npy
same "the same region" "$code" 0
works "a page with two atlases" voxsift report m --atlas halves200,schaefer100 -q -o two.html
holds "the second has a column" "schaefer100</th>" two.html
run voxsift cv base --target age --nlambda 2 --bootstraps 100 --folds 35 -o many
holds "many fits are said" "35 folds with 5 inner folds each: 210 fits" "$work/err"
run voxsift cohort t.tsv --image-column sex --verbose -o x
same "--verbose prints all" "$(grep -c 'cannot use' "$work/err")" 40
unset VOXSIFT_ATLASES
