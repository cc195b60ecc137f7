# Cohorts whose rows are voxels, against numpy and nibabel; misuse of the command.
run "$PYTHON" "$top/tests/cohort/patches_agree.py"
same "patches agree with numpy and nibabel" "$code$(cat "$work/out" "$work/err")" 0
# A subject that cannot be used is named, and nothing is written.
unusable() {
    local part=$1
    shift
    run "$@"
    same "exit code of $*" "$code" 65
    holds "the reason" "$part" "$work/err"
    holds "how many" "1 of 6 subjects cannot be used" "$work/err"
    same "nothing was written" "$(ls -d x 2> /dev/null)" ""
}
patches() {
    printf '%s ' patches a/t.tsv --image-column one --label-column label
}
refuses 2 "option '--out DIR' is missing" voxsift $(patches)
refuses 2 "option '--image-column A,B' is missing" voxsift patches a/t.tsv --label-column label -o x
refuses 2 "option '--label-column NAME' is missing" voxsift patches a/t.tsv --image-column one -o x
refuses 2 "--patch expects an odd number, so that a voxel is in the middle, not 4" voxsift $(patches) --patch 4 -o x
refuses 2 "--mask and --mask-column exclude each other" voxsift $(patches) --mask auto --mask-column one -o x
refuses 2 "--image-column names 'one' twice" voxsift patches a/t.tsv --image-column one,one --label-column label -o x
refuses 2 "--image-column has an empty name" voxsift patches a/t.tsv --image-column one, --label-column label -o x
refuses 2 "--means expects up to 8 ascending distances in mm" voxsift $(patches) --means 4,2 -o x
refuses 2 "'a' is no table" voxsift patches a --image-column one --label-column label -o x
refuses 65 "'a/t.tsv' has no column 'tow'; did you mean 'two'?" \
    voxsift patches a/t.tsv --image-column one,tow --label-column label -o x
refuses 66 "cannot read 'none.tsv'" voxsift patches none.tsv --image-column one --label-column label -o x
# images of one subject on different grids: both are named
awk -F '\t' -v OFS='\t' 'NR == 2 { $4 = "1_two.nii.gz" } { print }' a/t.tsv > a/mixed.tsv
unusable "'a/1_two.nii.gz' has 5 x 1 x 4 voxels, 'a/0_one.nii.gz' has 7 x 6 x 5" \
    voxsift patches a/mixed.tsv --image-column one,two --label-column label -o x
run voxsift patches a/mixed.tsv --image-column one,two --label-column label --drop-bad -o dropped
same "without that subject" "$code" 0
holds "it is left out" '"dropped": 1' dropped/cohort.json
awk -F '\t' -v OFS='\t' 'NR == 3 { $3 = "0_one.nii.gz"; $4 = "0_two.nii.gz"; $5 = "0_label.nii.gz" } { print }' a/t.tsv > a/twin.tsv
unusable "is the same file as that of 's0'" voxsift patches a/twin.tsv --image-column one --label-column label -o x
awk -F '\t' -v OFS='\t' 'NR == 4 { $5 = "n/a" } { print }' a/t.tsv > a/gap.tsv
unusable "the table names no image in column 'label'" voxsift patches a/gap.tsv --image-column one --label-column label -o x
works "dry run" voxsift $(patches) --dry-run --json
holds "says how many" '"drawn": {' "$work/out"
works "info on voxels" voxsift info p3
holds "says that rows are voxels" "voxels with 61 features each." "$work/out"
# predict
refuses 65 "the model predicts voxels: pass -o DIR" voxsift predict linear a/t.tsv
refuses 2 "the model has 2 contrasts, --image-column names 1" voxsift predict linear a/t.tsv --image-column one -o x
refuses 2 "one table that names the images is needed" voxsift predict linear -o x
refuses 2 "require -o" voxsift predict linear all --label-column label
voxsift fit masked --target label --method svm --quiet -o by-mask > /dev/null 2>&1
refuses 2 "voxels of the model were those of masks that --mask-column named" voxsift predict by-mask a/m.tsv -o x
run voxsift predict by-mask a/m.tsv --mask-column mask -o y
same "with the masks" "$code" 0
# the last subject cannot be used: it is found before any is scored
head -c 60 a/5_one.nii.gz > a/short.nii.gz
awk -F '\t' -v OFS='\t' 'NR > 1 && $3 == "5_one.nii.gz" { $3 = "short.nii.gz" } { print }' a/t.tsv > a/last.tsv
sed "s/^s0\t/$(printf 'l%.0s' $(seq 244))\t/" a/last.tsv > a/long.tsv # the first one's image would have too long a name
run voxsift predict linear a/long.tsv -q -o x
same "a bad subject refuses all, before an image is written" "$code$(ls -d x 2> /dev/null)" 65
holds "by name" "short.nii.gz" "$work/err"
run voxsift predict linear a/last.tsv --drop-bad -q -o x
same "or is left out" "$code$(ls x/*_s0.nii.gz | wc -l)$(ls x/*_s5.nii.gz 2> /dev/null | wc -l)" 010
rm -rf x
printf 'participant_id\ta\tx\ns1\tu\t1\ns2\tv\t2\ns3\tu\t3\ns4\tv\t5\ns5\tu\t3\ns6\tv\t9\n' > plain.tsv
cut -f 1,3 plain.tsv > plain-x.tsv
voxsift cohort --feature-table plain-x.tsv --participants plain.tsv -o plain > /dev/null 2>&1
voxsift fit plain --target a --method svm -o plain-model > /dev/null 2>&1
refuses 65 "the rows of this model are subjects" voxsift predict plain-model a/t.tsv -o x
refuses 65 "its rows are voxels, those of the model's cohort are not" voxsift predict plain-model     "$(voxsift patches a/t.tsv --image-column one --label-column label --patch 1 --quiet -o single > /dev/null 2>&1; echo single)"
