# Cross-validation against numpy and fits; then its mistakes, and what would leak.
run "$PYTHON" "$top/tests/evaluate/cv_agrees.py"
same "cv agrees with numpy and fits" "$code$(cat "$work/out" "$work/err")" 0

# what cv_agrees.py made: cohort c, people.tsv, given.tsv
# Terminal, page and methods paragraph say by what folds chose, and what a threshold was learned for.
works "cv chooses by AUC" voxsift cv c --target dx --nlambda 4 --folds 3 --choose-by auc --decision sens:0.9 -q -o by
holds "the terminal says by what" "inner CV (largest AUC)" "$work/out"
holds "and of the threshold" "threshold of scores: learned in the training subjects, for a sensitivity of 0.9" "$work/out"
works "its page" voxsift report by -o by.html
holds "the page says by what" "inner CV (largest AUC)" by.html
holds "the paragraph says by what" "the choice of lambda by the largest AUC and" by.html
same "row and paragraph have the threshold" "$(grep -c "learned in the training subjects, for a sensitivity of 0.9" by.html)" 2
works "fit chooses by AUC" voxsift fit c --target dx --nlambda 4 --choose-lambda 3 --choose-by auc --decision f1 -q -o by-fit
holds "fit says by what" "chosen by 3-fold CV (largest AUC)" "$work/out"
holds "and the threshold" "for the largest F1" "$work/out"
works "no inner folds" voxsift cv c --target dx --folds 3 --inner-folds 0 -q -o plain
works "its page" voxsift report plain -o plain.html
same "has no inner scores" "$(grep -c "inner scores" plain.html) $(grep -c "inner scores" by.html)" "0 1"
rm -r by by.html by-fit plain plain.html
cv() { refuses "$1" "$2" voxsift cv c --target score -o x "${@:3}"; }
cv 2 "lambda means something else in every fold; give --lambda-ratio" --lambda 3
cv 2 "'--lambda-ratio' must lie between 0 and 1 here" --lambda-ratio 1
cv 2 "'--inner-folds' expects 0, or 2 and more" --inner-folds 1
cv 2 "'--folds 100' needs at least 100 people; there are 60" --folds 100
cv 2 "'--folds 5' needs at least 5 groups of column 'site'; there are 3" --group site --folds 5
cv 2 "'--inner-folds 50' needs at least 50 people among the training subjects; there are 48" --inner-folds 50 -q
cv 2 "expects ttest:P or variance:SHARE with a number between 0 and 1, not 'ttest'" --prefilter ttest
cv 2 "not 'anova:0.05'" --prefilter anova:0.05
cv 2 "'--prefilter' does not go with method 'fused'" --prefilter ttest:0.05 --method fused --graph chain
cv 65 "has no column 'sites'; did you mean 'site'?" --group sites
cv 66 "cannot read 'sites'" --folds-from sites
refuses 73 "it exists; pass --force" voxsift cv c --target score --folds 2 --inner-folds 0 -o cv
same "whose folds.tsv has a group each" "$(head -n 1 given.tsv) $(cut -f 1,4 given.tsv | sort -u | wc -l)" "participant_id	repeat	fold	group 61"
cut -f 1-3 given.tsv > three.tsv && mv three.tsv given.tsv
sed '5d' given.tsv > short.tsv
cv 65 "'short.tsv' has no fold for 'sub-03' in repeat 1" --folds-from short.tsv
{ cat given.tsv; sed -n 5p given.tsv | sed 's/[0-9]*$/9/'; } > twice.tsv
cv 65 "'twice.tsv' line 62: 'sub-03' is in fold" --folds-from twice.tsv
sed '2,$s/[0-9]*$/1/' given.tsv > one.tsv
cv 65 "all subjects are in fold '1'; two are the least" --folds-from one.tsv
sed '1s/fold/part/' given.tsv > unnamed.tsv
cv 65 "'unnamed.tsv' has no column 'fold'" --folds-from unnamed.tsv
sed '3s/\t1\t/\t0\t/' given.tsv > zero.tsv
cv 65 "'zero.tsv' line 3: repeats are numbered from 1 on" --folds-from zero.tsv
run voxsift cv c --target score -o x --folds-from given.tsv --group family
same "a group on both sides" "$code" 65
holds "is named" "are of one group, but are in folds" "$work/err"

# every training part has two subjects of each class: one rule for all commands, before any work
awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "rare" : NR < 4 ? "few" : NR % 2 ? "x" : "y",
    NR == 1 ? "four" : NR < 6 ? "few" : NR % 2 ? "x" : "y", NR == 1 ? "one" : NR == 2 ? "few" : NR % 2 ? "x" : "y",
    NR == 1 ? "w" : 3 <= NR && NR < 6 ? 0 : 1; }' people.tsv > rare.tsv
awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "far" : sprintf("%.3f", 1e12 + $4); }' rare.tsv > far.tsv
works "rare classes" voxsift cohort --feature-table x.tsv --participants far.tsv -q -o rare
of="whose 'rare' is 'few', of whom there are 2, and training needs two of each class; use"
for words in "cv rare" "cv rare --folds 2 --inner-folds 0" "permute rare --permutations 2" "fit rare --choose-lambda 5" \
    "cv rare --chunk 2/2 --folds 2" "stability rare"; do
    refuses 65 "$of" voxsift $words --target rare -o x -q
done
refuses 65 "a half has one subject $of another --group or --seed, or leave this class out" voxsift stability rare --target rare -o x -q
for words in "fit rare --target rare" "cv rare --target four --folds 2 --inner-folds 0" "cv rare --target four" "stability rare --target four --pairs 2"; do
    run voxsift $words --nlambda 5 -o x -q --force
    same "enough: $words" "$code" 0
    rm -r x
done
for words in "fit rare -o x" "cv rare -o x" "path rare" "stability rare -o x"; do
    refuses 65 "there is one subject whose 'one' is 'few', and training needs two of each class; leave this class out" \
        voxsift $words --target one -q
done
for words in "fit rare --method mslr" "cv rare"; do # who has the weight 0 is not there
    refuses 65 "there is one subject with a weight above 0 whose 'four' is 'few', and training needs two of each class" \
        voxsift $words --target four --subject-weights w -o x -q
done
refuses 65 "and training needs two of each class; use more or other folds, or leave" voxsift cv rare --target four --folds 3 -o x -q
same "no checkpoint of what cannot go on" "$(ls -d x* | tr '\n' ' ')" "x.tsv "
# folds that calibrate unasked cost no model where they cannot be dealt
run voxsift fit rare --target rare --method fgm -o f
same "fit of a rare class" "$code" 0
holds "is not calibrated, which is said" "probabilities are not calibrated" "$work/err"
rm -r f
refuses 65 "training needs two of each class" voxsift fit rare --target rare --method fgm --calibrate 5 -o f -q
refuses 2 "'--calibrate 5' needs at least 5 groups of column 'site'; there are 3" voxsift fit c --target dx --group site --method fgm --calibrate 5 -o f -q
refuses 2 "'--choose-lambda' calibrates by its own folds: '--calibrate 3' must be left out, or be as many" \
    voxsift fit c --target dx --choose-lambda 4 --calibrate 3 -o f -q
refuses 2 "'--calibrate' is for probabilities of classes, and 'score' is a score" voxsift fit c --target score --calibrate 3 -o f -q
run voxsift fit c --target dx --choose-lambda 4 --nlambda 4 -o f -q
run voxsift fit c --target dx --choose-lambda 4 --calibrate 4 --nlambda 4 -o g -q
same "as many are the same" "$code $(grep -v '"command"\|seconds' f/model.json)" "0 $(grep -v '"command"\|seconds' g/model.json)"
rm -rf f g
refuses 2 "'--calibrate' expects 0, or 2 and more" voxsift fit c --target dx --calibrate 1 -o f -q
refuses 2 "'--choose-lambda' expects 0, or 2 and more" voxsift fit c --target dx --choose-lambda 1 -o f -q
# one subject a fold: scores of different models are compared, which is biased downwards, and said
for words in "score r 0" "dx AUC 0.5"; do
    set -- $words
    run voxsift cv c --target $1 --folds 60 --inner-folds 2 --nlambda 3 --bootstraps 100 -o x -q
    holds "$1 of one subject a fold" "biased downwards, below $3 where nothing is predicted" "$work/err"
    holds "$2 in words" "biased downwards, below $3 at chance" "$work/out"
    holds "$1 in JSON" '"biased_downwards": true' x/cv.json
    works "a page" voxsift report x -o x.html -q
    holds "$1 on the page" "compares scores of different models, which is biased downwards (below $3" x.html
    rm -r x x.html
done
run voxsift cv c --target score --folds 30 --inner-folds 2 --nlambda 3 -o x -q
same "two subjects a fold" "$(cat "$work/err"; grep -c '"biased_downwards": false' x/cv.json)" 1
rm -r x
# numbers that are all but the same
for command in "fit rare" "cv rare" "permute rare" "stability rare"; do
    refuses 65 "column 'far' varies by" voxsift $command --target far -o x -q
done
refuses 65 "about a mean of 1e+12, too little to be computed with; subtract a constant from it" voxsift path rare --target far -q
refuses 65 "column 'far' varies by" voxsift fit rare --target score --confounds far -o x -q

# images and people
"$PYTHON" - << 'EOP'
import nibabel as nib
import numpy as np
rng = np.random.default_rng(1)
for k in range(12):
    data = rng.normal(size=(5, 5, 5)).astype("f4") + 9
    nib.save(nib.Nifti1Image(data, np.eye(4)), f"sub-{k // 2:02}_ses-{k % 2 + 1}.nii.gz")
EOP
{ printf 'participant_id\timage\tscore\thalf\n'
  for f in sub-*.nii.gz; do printf '%s\t%s\t%s\t%s\n' "${f%.nii.gz}" "$f" "$(cksum < "$f" | cut -c 1-3)" "${f: -8:1}"; done
} > scans.tsv
works "scans" voxsift cohort scans.tsv --image-column image --mask-fraction 0.5 -q -o scans
cp -r scans copies
"$PYTHON" - << 'EOP'
import json
about = json.load(open("copies/cohort.json"))
about["subject_list"][8]["sha256"] = about["subject_list"][0]["sha256"]
json.dump(about, open("copies/cohort.json", "w"))
EOP
refuses 65 "'sub-00_ses-1' and 'sub-04_ses-1' have the same image, but are in folds" \
    voxsift cv copies --target score --folds 6 --inner-folds 2 --nlambda 3 -o x -q
refuses 65 "'sub-00_ses-1' and 'sub-00_ses-2' are of one person, but are in folds 1 and 2" \
    voxsift cv scans --target score --folds-from half -o x -q
run voxsift cv scans --target score --folds 3 --inner-folds 2 --nlambda 3 -o y -q
same "sessions" "$code" 0
same "of one person are in one fold" "$(sed 's/_ses-.//' y/folds.tsv | sort -u | wc -l)" 7
same "maps" "$(ls y | tr '\n' ' ')" "baselines.tsv clusters.tsv cv.json folds.tsv inner_folds.tsv mask.nii.gz pattern.nii.gz predictions.tsv scores.tsv selection.nii.gz weights.tsv weights_mean.nii.gz weights_sd.nii.gz "
[ -e x ] && fail "a refused cv left its output" || pass
# A bad calibration is said on the terminal.
works "classes" voxsift simulate lasso --target diagnosis --subjects 120 --features 200 --nonzero 0.05 -q -o dx
works "overfitted" voxsift cv dx --target diagnosis --folds 3 --inner-folds 0 --lambda-ratio 0.0001 -q -o over
holds "at which lambda" "lambda fixed at 0.0001 lambda_max" "$work/out"
holds "whose probabilities are too extreme" "), ideal is 1: probabilities are too extreme" "$work/out"
works "a lambda that nothing chooses" voxsift cv dx --target diagnosis --folds 3 --inner-folds 0 --bootstraps 100 -q -o fixed
holds "is the default of fit" "lambda fixed at 0.1 lambda_max" "$work/out"
works "calibrated" voxsift cv dx --target diagnosis --folds 3 --nlambda 10 -q -o cal
if grep -q "calibration slope" "$work/out"; then fail "a good one is not" "$(cat "$work/out")"; else pass; fi
# the dense linear baseline
voxsift simulate lasso --out dense --subjects 60 --features 80 --seed 5 > /dev/null
run voxsift cv dense --target score --nthreads 1 -o d1
same "a dense baseline" "$code" 0
holds "its column" "dense linear " "$work/out"
holds "what it says" "that weighs all features" "$work/out"
run voxsift cv dense --target score --nthreads 2 -o d2 -q
cmp -s d1/scores.tsv d2/scores.tsv
same "the same with two threads" "$?" 0
holds "its rows" "outer_minus_dense" d1/scores.tsv
run voxsift cv dense --target score --no-dense-baseline -o d3
same "without it" "$code" 0
same "it is nowhere" "$(cat d3/scores.tsv d3/cv.json "$work/out" | grep -c 'dense linear\|^dense\|"dense": {\|minus_dense')" 0
run voxsift cv dense --target score --inner-folds 0 --lambda-ratio 0.1 -o d4
same "without inner folds" "$code" 0
holds "why there is none" "no dense linear baseline: it takes its lambda from inner folds, and there are none" "$work/err"
same "and in cv.json" "$("$PYTHON" -c "import json; d = json.load(open('d4/cv.json')); print(d['dense_left_out'], 'dense' in d['baseline'])")" \
    "it takes its lambda from inner folds, and there are none False"
voxsift report d4 -o d4.html > /dev/null
holds "and on the page" "There is no dense linear baseline: it takes its lambda" d4.html
# features instead of products where they are few, sparse features, values that floats do not hold: the same predictions
"$PYTHON" - << 'EOP'
import numpy as np
rng = np.random.default_rng(5)
x = rng.integers(-3, 4, (60, 15)) * (rng.random((60, 15)) < 0.5)
x[:, 3:] = np.where(rng.random((60, 12)) < 0.5, 0, x[:, 3:])
y = x[:, 0] - x[:, 1] + rng.normal(size=60)
with open("few.svm", "w") as few, open("many.svm", "w") as many, open("large.tsv", "w") as large, open("y.tsv", "w") as table:
    large.write("participant_id\t" + "\t".join(f"f{j}" for j in range(30)) + "\n")
    table.write("participant_id\tscore\n")
    for k, (row, v) in enumerate(zip(x, y)):
        few.write(f"{v} " + " ".join(f"{j + 1}:{u}" for j, u in enumerate(row) if u) + "\n")
        many.write(f"{v} " + " ".join(f"{j + 1}:{u}" for j, u in enumerate([*row, *row]) if u) + "\n")
        large.write(f"s{k:02}\t" + "\t".join(f"{u * 1e17:g}" for u in [*row, *row]) + "\n")
        table.write(f"s{k:02}\t{v}\n")
EOP
works "few features" voxsift cohort --svmlight few.svm -o few -q
works "each twice" voxsift cohort --svmlight many.svm -o many -q
works "and large" voxsift cohort --feature-table large.tsv --participants y.tsv -o large -q
for c in few many large; do
    works "$c" voxsift cv $c --target "$([ $c = large ] && echo score || echo target)" --seed 3 -o "cv-$c" -q
    grep "^dense" "cv-$c/scores.tsv" | awk '{ printf "%s %.6f %.6f\n", $2, $3, $5 }' > "$c.said"
done
same "sparse and doubled" "$(cat many.said)" "$(cat few.said)"
same "large and doubled" "$(cat large.said)" "$(cat few.said)"
rm -rf ./*
nothing_left "cv"
