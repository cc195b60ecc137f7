# Kernel machines, against numpy.
run "$PYTHON" "$top/tests/model/svm_agrees.py"
same "kernel machines agree with numpy" "$code$(cat "$work/out" "$work/err")" 0
rm -rf ./*
run "$PYTHON" "$top/tests/model/svm_gamma_agrees.py"
same "the grid of gamma is that of each gamma" "$code$(cat "$work/out" "$work/err")" 0
rm -rf ./*
run "$PYTHON" "$top/tests/model/svm_given_agrees.py"
same "a kernel that is given" "$code$(cat "$work/out" "$work/err")" 0
rm -rf ./*
run "$PYTHON" "$top/tests/model/one_vs_one_agrees.py"
same "pairs of classes" "$code$(cat "$work/out" "$work/err")" 0
rm -rf ./*
run "$PYTHON" "$top/tests/model/svm_tiles_agrees.py"
same "a kernel that is made in tiles" "$code$(cat "$work/out" "$work/err")" 0
rm -rf ./*
run "$PYTHON" "$top/tests/model/svm_rank_agrees.py"
same "a kernel of low rank" "$code$(cat "$work/out" "$work/err")" 0
rm -rf ./*
works "a cohort" voxsift simulate lasso --subjects 20 --features 5 -o c
refuses 2 "'--gamma' goes with '--kernel rbf' or '--kernel poly'" voxsift fit c --target score --method svm --gamma 2 -o m
works "with rbf" voxsift fit c --target score --method svm --kernel rbf --gamma 2 -o m
works "gamma of a list" voxsift fit c --target score --method svm --kernel rbf --gamma 1,2 --choose-lambda 3 -q -o g
same "the choice is said" "$(grep -cE 'C = [0-9.]+ and gamma [12], chosen by 3-fold CV' "$work/out")" 1
awk -v OFS='\t' 'NR == 1 { print $0, "kind" } NR > 1 { print $0, "abc" }' c/participants.tsv |
    awk -v OFS='\t' 'NR > 1 { $NF = substr("abc", NR % 3 + 1, 1) } { print }' > kinds.tsv && mv kinds.tsv c/participants.tsv
works "pairs of classes" voxsift fit c --target kind --method svm --multiclass one-vs-one --calibrate 2 -q -o pairs
holds "the terminal says that they are" "svm, soft-margin loss, one-vs-one" "$work/out"
works "their page" voxsift report pairs -o pairs.html
holds "the page says that they are" "each pair of classes (one-vs-one)" pairs.html
rm -r g pairs pairs.html
works "screened" voxsift fit c --target score --method svm --solver screened -o s
same "bounds are counted" "$(grep -c '"screening"' s/model.json m/model.json)" "s/model.json:1
m/model.json:0"
works "its certificate" voxsift check-model s c
works "recruited and screened" voxsift fit c --target score --method svm --solver saiv -o r
works "its certificate" voxsift check-model r c
works "many features" voxsift simulate lasso --subjects 300 --features 2000 -o wide
refuses 1 "their features 0.0048 GB, more than '--mem'" voxsift fit wide --target score --method svm --mem 1M -o n
works "many subjects" voxsift simulate lasso --subjects 500 --features 5 -o many
refuses 2 "'--solver saiv' works on the whole kernel of 500 subjects" voxsift fit many --target score --method svm --mem 1M --solver saiv -q -o n
rm -rf ./*
nothing_left "svm"
