# Reports: pages read by Python and by a browser.
run "$PYTHON" "$top/tests/report/page_agrees.py"
same "pages are whole" "$code$(cat "$work/out" "$work/err")" 0
refuses 2 "DIR is missing" voxsift report -o x.html
refuses 2 "option '--out FILE' is missing" voxsift report las-cv
strange="was not made by 'voxsift cv', 'fit', 'permute', 'stability' or 'compare'"
refuses 66 "no directory 'nowhere': a page shows results of" voxsift report nowhere -o x.html
refuses 66 "'t' is a cohort: a page shows results of" voxsift report t -o x.html
damaged() { refuses 65 "$1" voxsift report "$2" -o x.html; } # what is said, directory
damaged "permutations and 'permute.json' says that there are" cut-p
damaged "'word-p/null.tsv' line 3, column 'r': 'many' is not a number" word-p
damaged "'lost-p/null.tsv' line 3, column 'r': no value" lost-p
damaged "'other-p/null.tsv' has no column 'r'" other-p
damaged "features a half and 'stability.json' says that there are" cut-s
damaged "'few-s/frequencies.tsv', column 'frequency', has 0 stable features and 'stability.json' says that there are 1" few-s
damaged "'word-s/frequencies.tsv' line 2, column 'frequency': 'often' is not a number" word-s
damaged "'other-s/frequencies.tsv' has no column 'frequency'" other-s
damaged "'cut-pairs/pairs.tsv' has 7 rows and 'model.json' says that 8 were selected" cut-pairs
damaged "'far-pairs/pairs.tsv' line 2: no voxel of the mask" far-pairs
damaged "'word-groups/selected.tsv' line 2, column 'features': 'many' is not a number" word-groups
damaged "'cut-groups/selected.tsv' has " cut-groups
cp -r cut-groups cut-weights && sed -i '2d' cut-weights/weights.tsv
damaged "'cut-weights/model.json' does not describe a model: weights.tsv" cut-weights
cp -r cut-p no-task && sed -i 's/"method":/"other":/' no-task/permute.json
damaged "'no-task/permute.json' does not record what was done: method" no-task
rm -r t-pairs/pairs.tsv
refuses 66 "cannot read 't-pairs/pairs.tsv'" voxsift report t-pairs -o x.html
rm cut-p/null.tsv las-s/mask.nii.gz
refuses 66 "cannot read 'cut-p/null.tsv'" voxsift report cut-p -o x.html
refuses 66 "las-s/mask.nii.gz" voxsift report las-s -o x.html
sed -i 's/voxsift permutations/voxsift model/' word-p/permute.json
damaged "'word-p/permute.json' is not of format 'voxsift permutations'" word-p
same "nothing half made" "$(ls -A | grep -E '^x\.html|part')" ""
refuses 73 "cannot write 't.html': it exists; pass --force to replace it" voxsift report t-cv -o t.html
for of in t-cv/cv cut-p/permute las-s/stability t-pairs/model; do # whatever else is damaged
    sed -i 's/"format_version": 2/"format_version": 1/' $of.json
    damaged "'$of.json' is of format 1, this voxsift reads 2; make it again with this version" ${of%/*}
done
rm -rf ./*
nothing_left "report"
