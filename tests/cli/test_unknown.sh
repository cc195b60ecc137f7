# Numbers that cannot be computed are words on the terminal and the page, and null in JSON; never nan.
voxsift simulate lasso --subjects 30 --features 6 -q -o s > "$work/out"
awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "dx" : ($2 > 0) ? "x" : "y", NR == 1 ? "three" : "t" NR % 3, NR == 1 ? "same" : (NR < 30 ? 0.1 : NR) }' \
    s/participants.tsv > who.tsv
"$PYTHON" -c "
import numpy as np
x = np.load('s/features.npy').T
np.save('x.npy', x)
np.save('one.npy', x[:, :1])"
works "six features" voxsift cohort --npy x.npy --rows who.tsv -q -o c
works "one feature" voxsift cohort --npy one.npy --rows who.tsv -q -o one
reads() { # WHAT WORDS: on the terminal; no number is nan there or in what the run kept and its page
    same "$1: exit code" "$code" 0
    holds "$1" "$2" "$work/out"
    cp "$work/out" told
    run voxsift report x -q -o x.html --force
    sed 's/<[^>]*>/ /g' x.html > page
    cat told "$work/err" x/*.json page > all
    same "$1: no nan" "$(grep -iwE 'nan|inf|&ndash;' all)" ""
}
few="--nlambda 3 --bootstraps 100 --force -o x"
for target in score dx three; do # the fold of two has them in two draws of five
    run voxsift cv c --target $target --folds 29 --inner-folds 2 $few
    cp "$work/out" printed
    reads "one fold of two, $target" "  unknown: most bootstrap draws have no two subjects of one fold that differ in '$target'; use fewer folds"
    same "the intervals of $target" "$(grep -cE '^  (correlation r|balanced accuracy|(mean )?AUC .*)  .* unknown$' printed)" "$([ $target = score ] && echo 1 || echo 2)"
    same "in JSON" "$("$PYTHON" -c "
import json
a = json.load(open('x/cv.json'))['outer'][['balanced_accuracy', 'r']['$target' == 'score']]
print(a['pooled'] is not None, a['low'], a['high'])")" "True None None"
    same "on the page: (95 % interval unknown)" "$(grep -cF "(95 % interval unknown)" page | sed "s,^[1-9].*,1,")" 1
    [ $target = three ] || holds "and what it means" "so that the interval of the difference is unknown" page # there the baseline is better
done
run voxsift cv c --target same --folds 28 --inner-folds 0 --lambda-ratio 0.5 $few
cp "$work/out" printed
reads "r of equal numbers" "  unknown: there are no two subjects of one fold that differ in 'same'; use fewer folds"
holds "in the table" "  correlation r                 unknown  unknown" printed
same "on the page: correlation r unknown, because no fold has two subjects that differ" "$(grep -cF "correlation r unknown, because no fold has two subjects that differ" page | sed "s,^[1-9].*,1,")" 1
run voxsift cv c --target dx --folds 3 --inner-folds 2 $few
if grep -q unknown "$work/out"; then fail "folds with pairs" "$(cat "$work/out")"; else pass; fi
for target in score three; do
    run voxsift stability one --target $target --pairs 2 --force -o x
    reads "halves that select all, $target" "Nogueira's index is undefined, since halves select all features or none"
    same "on the page: so that Nogueira's stability index is undefined" "$(grep -cF "so that Nogueira's stability index is undefined" page | sed "s,^[1-9].*,1,")" 1
done
rm -rf ./*
nothing_left "unknown"
