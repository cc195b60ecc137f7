# Ids of images that no table names: no two subjects of a cohort have one.
# usage: put PATH...: a lesion of its own each
files=("$top"/examples/arc/lesion/*.nii.gz)
next=0
put() {
    for path; do
        mkdir -p "$(dirname "$path")"
        case $path in *.gz) cp "${files[$next]}" "$path" ;; *) gzip -dc "${files[$next]}" > "$path" ;; esac
        next=$((next + 1))
    done
}
# usage: ids "what" "ids" "people" PATTERN [OPTION...]
ids() {
    local what=$1 list=$2 people=$3
    shift 3
    run voxsift cohort "$@" --mask-fraction 0.05 -o c --force
    same "$what" "$code" 0
    same "$what: ids" "$(tail -n +2 c/participants.tsv | cut -f 1 | tr '\n' ' ')" "$list "
    holds "$what: people" "$people" "$work/out"
    rm -rf c
}

# one file name: what differs in the folders
put fs/{s1,s2,s3}/mri/brain.nii.gz
ids "FreeSurfer" "s1 s2 s3" "3 subjects of 3 people" 'fs/*/mri/brain.nii.gz'
holds "which is said" "their ids are made from folder names, such as 's1'" "$work/err"
ls -d "$PWD"/fs/*/mri/brain.nii.gz > list.txt
ids "a list of absolute paths" "s1 s2 s3" "of 3 people" list.txt
put {p1,p2,p3}/sub-01_T1w.nii.gz
ids "one label" "p1 p2 p3" "3 subjects of 3 people" '*/sub-01_T1w.nii.gz'
put P0{1,2}/{baseline,followup}/T1.nii.gz
ids "persons with visits" "P01_baseline P01_followup P02_baseline P02_followup" "4 subjects of 2 people" 'P0*/*/T1.nii.gz'
ids "visits of one person" "P01_baseline P01_followup" "2 subjects of 1 person" 'P01/*/T1.nii.gz'
put {siteA,siteB}/{x1,x2}/T1.nii.gz
ids "sites with subjects" "siteA_x1 siteA_x2 siteB_x1 siteB_x2" "4 subjects of 4 people" 'site*/*/T1.nii.gz'
rm -rf fs p1 p2 p3 P0? site? list.txt
# BIDS: sessions, runs and contrasts are of the person
put bids/sub-0{1,2}/ses-1/anat/T1w.nii.gz bids/sub-01/ses-2/anat/T1w.nii.gz
ids "folders of BIDS" "sub-01_ses-1 sub-01_ses-2 sub-02_ses-1" "3 subjects of 2 people" 'bids/*/*/anat/T1w.nii.gz'
for f in bids/*/*/anat/T1w.nii.gz; do mv "$f" "$(echo "$f" | sed -E 's,(sub-..)/(ses-.)/anat/,&\1_\2_,')"; done
ids "names of BIDS" "sub-01_ses-1 sub-01_ses-2 sub-02_ses-1" "3 subjects of 2 people" 'bids/*/*/anat/*_T1w.nii.gz'
ids "one session a person" "sub-01 sub-02" "2 subjects of 2 people" 'bids/*/ses-1/anat/*_T1w.nii.gz'
printf 'participant_id\tage\nsub-01\t50\n2\t60\n' > t.tsv
ids "and a table of persons" "sub-01_ses-1 sub-01_ses-2 sub-02_ses-1" "3 subjects of 2 people" 'bids/*/*/anat/*_T1w.nii.gz' --participants t.tsv
put {ses-1,ses-2}/sub-{1,2}_T1w.nii.gz
ids "sessions above" "sub-1_ses-1 sub-2_ses-1 sub-1_ses-2 sub-2_ses-2" "4 subjects of 2 people" 'ses-*/sub-*_T1w.nii.gz'
put d/sub-{1,2}_{T1w,T2w}.nii.gz
ids "contrasts" "sub-1/T1w sub-1/T2w sub-2/T1w sub-2/T2w" "4 subjects of 2 people" d
# what is not unique is refused, both files named
put e/one.nii.gz e/one.nii e/two.nii.gz
run voxsift cohort e --mask-fraction 0.05 -o c
same "one name" "$code" 65
holds "both named" "the names and folders of 'e/one.nii' and 'e/one.nii.gz' give the same id" "$work/err"
same "no cohort" "$(ls)" "$(printf '%s\n' bids d e ses-1 ses-2 t.tsv)"
run voxsift cohort e/one.nii e/two.nii.gz e/one.nii --mask-fraction 0.05 -o c
same "a file twice" "$code" 65
holds "is named" "cannot use 'one': 'e/one.nii' is given twice" "$work/err"
# a model names new images in the same way
put new/{s7,s8}/T1.nii.gz
voxsift cohort "${files[@]:20:12}" --mask-fraction 0.05 -q -o c > /dev/null
awk -F'\t' -v OFS='\t' '{ print $1, NR == 1 ? "y" : NR * NR }' c/participants.tsv > t.tsv
voxsift cohort "${files[@]:20:12}" --mask-fraction 0.05 -q -o c --force --participants t.tsv > /dev/null
works "a model" voxsift fit c --target y -q -o m
run voxsift predict m 'new/*/T1.nii.gz'
same "predict" "$(tail -n +2 "$work/out" | cut -f 1 | tr '\n' ' ')" "s7 s8 "
rm -rf ./*
nothing_left "ids of images"

# two folders that each tell images apart: both are the id, or a table could match the wrong one
"$PYTHON" - << 'END'
import os, numpy as np, nibabel as nib
rng = np.random.default_rng(1)
for person, scan in zip("123456", "314625"):
    os.makedirs(f"two/{person}/{scan}")
    nib.save(nib.Nifti1Image(rng.normal(5, 1, (6, 6, 6)).astype("f4"), np.eye(4)), f"two/{person}/{scan}/T1.nii.gz")
open("two.tsv", "w").write("participant_id\tage\n" + "".join(f"{k}\t{k}0\n" for k in range(1, 7)))
END
run voxsift cohort 'two/*/*/T1.nii.gz' -q -o both
same "both folders are the id" "$(cut -f 1 both/participants.tsv | sed -n 2p)" "1_3"
run voxsift cohort 'two/*/*/T1.nii.gz' --participants two.tsv -q -o wrong
[ "$code" -ne 0 ] && pass || fail "rows of others are not joined" "$(cat wrong/participants.tsv)"
rm -rf ./*
