# Method measure against programs over all outputs; then every command, and mistakes.
run "$PYTHON" "$top/tests/model/measure_agrees.py"
same "measures agree with scipy" "$code$(grep -v largest "$work/out")$(cat "$work/err")" 0

# what measure_agrees.py made: cohort c
of=(--target dx --method measure --per-iteration 2 --C 0.2 -q)
measures() { # CODE PART MEASURE OPTIONS...
    refuses "$1" "$2" voxsift fit c "${of[@]}" --measure "${@:3}" -o x
}
refuses 2 "method 'measure' needs '--measure MEASURE'" voxsift fit c "${of[@]}" -o x
refuses 2 "method 'measure' needs '--measure MEASURE'" voxsift cv c "${of[@]}" -o x
for word in f3 fbeta fbeta:0 top top:0 top:100% F1 auc roc:1; do
    measures 2 "breakeven or roc, not '$word'" $word
done
measures 2 "'--subject-weights' does not go with '--measure f1', which counts subjects" f1 --subject-weights twice
measures 65 "measure 'top' calls 90 of 90 subjects positive; it leaves at least one" top:90
measures 2 "method 'measure' takes measure" f1 --loss logistic
measures 2 "method 'measure' has no option '--lambda'" f1 --lambda 1
measures 2 "'--groups' and '--feature-map' exclude each other" f1 --groups file:g --feature-map hik
refuses 2 "method 'fgm' has no option '--measure'" voxsift fit c --target dx --method fgm --measure f1 -o x
refuses 2 "'--choose-by measure' goes with method 'measure', not 'lasso'" voxsift cv c --target dx --choose-by measure -o x -q
refuses 2 "'--choose-rule 1se' goes with the loss" voxsift cv c "${of[@]}" --measure f1 --choose-by f1 --choose-rule 1se -o x
[ -e x ] && fail "a refused fit left its output" || pass

for measure in f1 roc top:20%; do
    few=("${of[@]}" --measure "$measure" --nselect 2,4 --folds 3 --inner-folds 2 --force)
    works "cv of $measure" voxsift cv c "${few[@]}" -o whole
    for k in 1 2; do works "a chunk of $measure" voxsift cv c "${few[@]}" --chunk $k/2 -o part-$k; done
    works "merge of $measure" voxsift merge part-1 part-2 -q --force -o merged
    same "chunks of $measure" "$(cat merged/predictions.tsv merged/scores.tsv)" "$(cat whole/predictions.tsv whole/scores.tsv)"
    works "cv of $measure, two threads" voxsift cv c "${few[@]}" --nthreads 2 -o threads
    same "$measure: the same with two threads" "$(cat threads/predictions.tsv)" "$(cat whole/predictions.tsv)"
    works "page of $measure" voxsift report whole -q --force -o page.html
    works "permutations of $measure" voxsift permute c "${few[@]}" --permutations 2 -o null
done
works "stability" voxsift stability c "${of[@]}" --measure roc --pairs 2 --force -o stable
works "path" voxsift path c "${of[@]}" --measure gmean --iterations 3
works "several methods" voxsift cv c --target dx --method lasso,measure --measure f1 --nselect 4 --nlambda 5 --folds 2 --inner-folds 2 -q -o both

# maps, groups, confounds, refits
printf 'feature\tgroup\nf0\ta\nf1\ta\nf2\tb\nf3\tb\nf4\tc\n' > g.tsv
for how in "--feature-map poly2" "--feature-map gauss" "--groups file:g.tsv --by-size" "--confounds twice --refit 1" "--standardize center"; do
    for measure in fbeta:2 breakeven; do
        # shellcheck disable=SC2086 # options are words
        works "$measure with $how" voxsift fit c "${of[@]}" --measure $measure --iterations 2 $how --force -o m
        works "$measure with $how is checked" voxsift check-model m c
        run voxsift predict m c --training-too -q
        same "$measure with $how predicts" "$code" 0
    done
done
works "weights of subjects" voxsift fit c "${of[@]}" --measure roc --subject-weights twice --iterations 2 --force -o m
works "weights of subjects are checked" voxsift check-model m c
works "info" voxsift info m
works "page" voxsift report m -q --force -o page.html
holds "what is optimized is on the page" "the area under the ROC curve (roc)" page.html
goes="does not go with its model"
rm -f m/sha256sums
"$PYTHON" -c "import numpy as np; r = np.load('m/outputs.npy'); r[0, 0] = 2; np.save('m/outputs.npy', r)"
refuses 65 "'m/outputs.npy' $goes: it lacks an output" voxsift predict m c -q
: > m/outputs.npy
refuses 65 "'m/outputs.npy'" voxsift predict m c -q
rm m/outputs.npy
refuses 66 "cannot read 'm/outputs.npy'" voxsift predict m c -q

# each class against the rest
awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "three" : substr("xyz", NR % 3 + 1, 1) }' people.tsv > more.tsv
works "three classes" voxsift cohort --feature-table x.tsv --participants more.tsv --person participant_id -q -o three
works "a model of each" voxsift fit three --target three --method measure --measure roc --iterations 2 -q -o models
works "each is checked" voxsift check-model models three
run voxsift predict models three --training-too -q
same "each predicts" "$code" 0
