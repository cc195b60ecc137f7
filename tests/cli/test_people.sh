# A person is never in training and test at once, whoever says who is who.
run "$PYTHON" "$top/tests/assess/people_agrees.py"
same "persons agree with Python" "$code$(cat "$work/out" "$work/err")" 0

# tables of scans without --id-column: which column it is, is said
printf 'participant_id\tscan\timage\nsub-1\ta\ta.nii\nsub-1\tb\tb.nii\n' > twice.tsv
run voxsift cohort twice.tsv --image-column image -o x
same "ids that stand twice" "$code" 65
holds "what to do" "column 'participant_id' repeats 1 ids (above); pass --id-column" "$work/err"
refuses 2 "--person goes with a table that has the column 'who'" voxsift cohort --svmlight x.svm --person who -o x --features x.tsv
