# A person is never in training and test at once, whoever says who is who.
run "$PYTHON" "$top/tests/evaluate/people_agrees.py"
same "persons agree with Python" "$code$(cat "$work/out" "$work/err")" 0

# tables of scans without --id-column: which column it is, is said
printf 'participant_id\tscan\timage\nsub-1\ta\ta.nii\nsub-1\tb\tb.nii\n' > twice.tsv
run voxsift cohort twice.tsv --image-column image -o x
same "ids that stand twice" "$code" 65
holds "what to do" "column 'participant_id' repeats 1 id: " "$work/err"
refuses 2 "--person requires a table with the column 'who'" voxsift cohort i0.nii.gz i1.nii.gz --person who -o x
refuses 65 "has no column 'who'" voxsift cohort --svmlight x.svm --person who -o x
works "in words" voxsift cohort images.tsv --image-column image --id-column scan --mask-fraction 0.5 -o words
holds "scans of people" "Made a cohort: 24 subjects of 12 people with 64 voxels each" "$work/out"
run voxsift cv words --target t --folds 3 --inner-folds 0 --lambda-ratio 0.5 -q -o x
holds "cv says of how many" "cross-validation of 't', 24 subjects (12 people): lasso" "$work/out"
run voxsift permute words --target t --folds 3 --inner-folds 0 --lambda-ratio 0.5 --permutations 2 -q -o y
holds "permute says what changes places" "permuted: 12 people, each with all targets in their order" "$work/out"
rm -rf ./*
nothing_left "people"
