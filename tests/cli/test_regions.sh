# Clusters against numpy, label formats, viewers' files; misuse.
run "$PYTHON" "$top/tests/report/regions_agree.py"
same "regions agree with numpy" "$code$(cat "$work/out" "$work/err")" 0
refuses 2 "MAP is missing" voxsift regions
refuses 2 "expects one of 6, 18, 26, not '8'" voxsift regions map.nii.gz --connectivity 8
refuses 2 "expects a number of at least 0, not '-1'" voxsift regions map.nii.gz --threshold -1
refuses 66 "cannot read 'none.nii'" voxsift regions none.nii
refuses 66 "cannot read 'none.nii'" voxsift regions map.nii.gz --atlas none.nii
refuses 66 "cannot read 'none.nii'" voxsift regions map.nii.gz --underlay none.nii -o x
echo nothing > empty.txt
refuses 65 "'empty.txt' names no labels" \
    voxsift regions map.nii.gz --atlas atlas.nii.gz --atlas-names empty.txt
refuses 73 "it exists; pass --force" voxsift regions map.nii.gz -o r
"$PYTHON" -c 'print("<atlas>" + "<label " * 400000)' > many.xml
refuses 65 "'many.xml' names no labels" \
    timeout 10 voxsift regions map.nii.gz --atlas atlas.nii.gz --atlas-names many.xml
works "--force" voxsift regions map.nii.gz -o r --force
rm -rf ./*
nothing_left "regions"
