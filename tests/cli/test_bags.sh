# Bags of instances: against numpy, every command, and what does not go with them.
run "$PYTHON" "$top/tests/model/bags_agree.py"
same "bags agree with an explicit embedding" "$code$(cat "$work/out" "$work/err")" 0
rm -rf ./*
run "$PYTHON" "$top/tests/model/cubes_agree.py"
same "cubes agree with numpy" "$code$(cat "$work/out" "$work/err")" 0
rm -rf ./*

run voxsift simulate lasso --subjects 60 --features 8 --nonzero 0.3 --target diagnosis --seed 3 -q -o c
same "a cohort" "$code" 0
awk -F'\t' 'NR == 1 { print $0 "\tbag\tkind"; next } { n = int((NR - 2) / 3); print $0 "\tb" n "\t" (n % 2 ? "x" : "y") }' c/participants.tsv > t.tsv
mv t.tsv c/participants.tsv
on="c --target kind --bags bag"
run voxsift fit $on -q -o m
same "a fit" "$code" 0
run voxsift info m
holds "counts instances" "of 60 instances have a nonzero weight" "$work/out"
run voxsift check-model m c
same "is confirmed" "$code" 0
run voxsift predict m c --training-too
same "predicts" "$code" 0
run voxsift path $on --nlambda 4
same "a path" "$code" 0
run voxsift cv $on --folds 3 --inner-folds 2 --nlambda 4 -o cv
same "cross-validation" "$code" 0
holds "chooses the width" "lambda and the bandwidth chosen" "$work/out"
run voxsift permute $on --folds 3 --inner-folds 2 --nlambda 3 --permutations 3 -q -o p
same "permutations" "$code" 0
run voxsift stability $on --pairs 3 --nlambda 10 -o s
same "stability" "$code" 0
holds "of instances" "instances" "$work/out"
for d in m cv p s; do
    run voxsift report $d -o $d.html
    same "a page of $d" "$code" 0
done
works "help of a method that has none" bash -c 'voxsift help svm > h.txt; voxsift fit --help --method svm > f.txt; ! grep -e --bags f.txt'

refuses 2 "'--bags' goes with method lasso" voxsift fit $on --method fused -o x
refuses 2 "'--own' goes with '--bags'" voxsift fit c --target kind --own left-out -o x
refuses 2 "'--bandwidth' goes with '--bags'" voxsift fit c --target kind --bandwidth 1 -o x
refuses 2 "'--bandwidth' has 2 values" voxsift fit $on --bandwidth 1,2 -o x
refuses 2 "'--bandwidth' expects numbers from 1e-6 to 1e6" voxsift fit $on --bandwidth 0 -o x
refuses 2 "'--confounds-as regress' is of features" voxsift fit $on --confounds-as regress -o x
refuses 2 "'--prefilter' is for features" voxsift cv $on --prefilter ttest:0.1 -o x
run voxsift fit c --target kind -q -o plain
refuses 2 "'--explain' is for models of '--bags'" voxsift predict plain c --explain x
refuses 2 "'--near' goes with" voxsift fit $on --near 3 -o x
refuses 2 "'--patch-norm' goes with" voxsift fit $on --patch-norm z -o x
refuses 2 "cohorts of images" voxsift fit c --target kind --bags patches:8 -o x
refuses 2 "expects the edge of cubes in mm, not 'x'" voxsift fit c --target kind --bags patches:x -o x
refuses 2 "'--near' expects a distance" voxsift fit c --target kind --bags patches:8 --near far -o x
refuses 65 "has no column 'sack'" voxsift fit c --target kind --bags sack -o x
awk -F'\t' 'NR == 3 { sub("\tb0\t", "\tn/a\t") } { print }' c/participants.tsv > t.tsv
cp c/participants.tsv kept.tsv
mv t.tsv c/participants.tsv
refuses 65 "has no value in column 'bag'" voxsift fit $on -o x
mv kept.tsv c/participants.tsv
echo 'x' > m/instances.npy
refuses 65 "instances.npy" voxsift predict m c

# Bags of images, and of voxels of images: rows of the files are not subjects.
awk -F'\t' -v top="$top" 'NR == 1 { print "scan_id\timage\tbag\tkind"; next } NR < 26 { n = int((NR - 2) / 2);
    print "scan" NR - 1 "\t" top "/examples/arc/" $2 "\tb" n "\t" (n % 2 ? "x" : "y") }' "$top/examples/arc/participants.tsv" > scans.tsv
voxsift cohort scans.tsv --image-column image --id-column scan_id --person bag --mask-fraction 0.2 -q -o scans > out
run voxsift fit scans --target kind --bags bag -q -o pairs
same "a fit of bags of images" "$code" 0
same "it knows all of their images" "$("$PYTHON" -c 'import json; print(len(set(json.load(open("pairs/model.json"))["training"]["images"])))')" 24
run voxsift cv scans --target kind --bags bag --folds 3 --inner-folds 0 -q -o scan-cv
same "cross-validation of bags of images" "$code" 0
awk -F'\t' 'NR == 1 { print; next } NR % 2 && NR < 12 { print "new" NR "\t" $2 "\tn" NR "\t" $4 }' scans.tsv > second.tsv
voxsift cohort second.tsv --image-column image --id-column scan_id --person bag --mask scans/mask.nii.gz -q -o second > out
run voxsift predict pairs second --training-too
same "a second image of a bag is known" "$(awk -F'\t' '{ print $NF }' "$work/out" | sort | uniq -c | tr -s ' ' | tr '\n' ' ')" " 5 image  1 trained_on "
same "ids are bags" "$(head -n 1 "$work/out" | cut -f 1)" bag

voxsift patches "$top/examples/arc/participants.tsv" --image-column t1w --label-column lesion --label-threshold 0.5 --per-class 2 \
    --only 'age_at_stroke>70' -q -o voxels > out
on="voxels --target sex --bags participant_id"
run voxsift cv $on --folds 3 --inner-folds 2 --nlambda 3 -o voxel-cv
same "voxels of one image are in one bag" "$code" 0
holds "subjects are people" "of 'sex', 15 subjects" "$work/out"
run voxsift fit $on -q -o people
holds "no voxels" "Fitted 'sex' of 15 subjects" "$work/out"
holds "where instances are" "people/instances.tsv" "$work/out"
run voxsift check-model people voxels
same "confirmed" "$code" 0
run voxsift report people -o people.html
holds "a page of subjects" "<th>Subjects</th>" people.html
refuses 65 "bags of voxels" voxsift predict people "$top/examples/arc/participants.tsv" --image-column t1w
refuses 65 "leave -o out" voxsift predict people "$top/examples/arc/participants.tsv" --image-column t1w -o x
rm -rf ./*
