# Numbers of folds that nobody chose give way to the number of groups; those that somebody chose are refused by name.
voxsift simulate lasso --subjects 60 --features 20 -q -o s > "$work/out"
awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "site" : "s" NR % 5, NR == 1 ? "three" : "t" NR % 3, NR == 1 ? "two" : "w" NR % 2,
    NR == 1 ? "one" : "o", NR == 1 ? "dx" : NR * 7 % 10 < 5 ? "x" : "y"; }' s/participants.tsv > who.tsv
"$PYTHON" -c "
import numpy as np
np.save('x.npy', np.load('s/features.npy').T)"
works "a cohort of five sites" voxsift cohort --npy x.npy --rows who.tsv -q -o c
few="--nlambda 3 --bootstraps 100 -o x"
said() { "$PYTHON" -c "import json; a = json.load(open('x/$1')); print(a$2)"; }

for words in "cv|--group site --folds 5|4|4 inner folds, not 5: so many groups of column 'site' are among the training subjects" \
    "cv|--folds-from site|4|4 inner folds, not 5: so many groups of column 'site' are among" \
    "cv|--group three|2|3 folds, not 5: so many groups of column 'three' are there" \
    "permute|--group site --permutations 2|4|4 inner folds, not 5: so many groups of column 'site' are among" \
    "permute|--folds-from three --permutations 2|2|2 inner folds, not 5"; do
    IFS='|' read -r command options inner words <<< "$words"
    run voxsift $command c --target score $options $few
    same "$command $options" "$code" 0
    holds "$command $options, in the log" "$words" "$work/err"
    same "$command $options: said once" "$(grep -c 'inner folds, not' "$work/err")" 1
    same "$command $options in JSON" "$(said $command.json "['cross_validation']['inner-folds']")" $inner
    works "$command $options: a page" voxsift report x -q -o x.html
    run voxsift $command c --target score $options $few -q --force
    same "$command $options -q" "$(cat "$work/err")" ""
    rm -r x x.html
done
run voxsift cv c --target score $few
same "people: no word" "$code $(grep -c 'folds, not' "$work/err") $(said cv.json "['cross_validation']['folds']") $(said cv.json "['inner_folds']")" "0 0 5 5"
rm -r x

# chunks have the numbers of the whole
for k in 1 2; do
    run voxsift cv c --target score --group site $few-$k --chunk $k/2
done
works "parts" voxsift merge x-1 x-2 -q -o m
run voxsift cv c --target score --group site $few
run cmp m/predictions.tsv x/predictions.tsv
same "merged as the whole" "$code" 0
rm -r x x-1 x-2 m

# fit: the folds that calibrate
run voxsift fit c --target dx --group three --method fgm --iterations 2 -o x
same "fit calibrates by three" "$code $(grep -c 'not calibrated' "$work/err")" "0 0"
holds "and says so" "3 folds, not 5: so many groups of column 'three' are there" "$work/err"
rm -r x
run voxsift fit c --target dx --group one --method fgm --iterations 2 -o x
same "one group calibrates nothing" "$code" 0
holds "which is said" "probabilities are not calibrated, which --calibrate K does by K folds: '--calibrate' needs at least 2 groups of column 'one'; there is 1" "$work/err"
rm -r x

# what was chosen is refused by its name
refuses 2 "'--inner-folds 5' needs at least 5 groups of column 'site' among the training subjects; there are 4" \
    voxsift cv c --target score --group site --inner-folds 5 $few -q
refuses 2 "'--inner-folds 5' needs at least 5 groups of column 'site' among the training subjects; there are 4" \
    voxsift cv c --target score --folds-from site --inner-folds 5 $few -q
refuses 2 "'--folds 6' needs at least 6 groups of column 'site'; there are 5" voxsift cv c --target score --group site --folds 6 $few -q
refuses 2 "'--inner-folds 5' needs at least 5 groups of column 'site' among" \
    voxsift permute c --target score --group site --inner-folds 5 $few -q
refuses 2 "'--choose-lambda 6' needs at least 6 groups of column 'site'; there are 5" voxsift fit c --target score --group site --choose-lambda 6 -o x -q
refuses 2 "'--calibrate 6' needs at least 6 groups of column 'site'; there are 5" voxsift fit c --target dx --group site --calibrate 6 -o x -q
refuses 2 "'--choose-lambda 61' needs at least 61 people; there are 60" voxsift fit c --target score --choose-lambda 61 -o x -q
refuses 2 "'--inner-folds' needs at least 2 groups of column 'two' among the training subjects; there is 1" voxsift cv c --target score --group two $few -q
refuses 2 "cross-validation needs at least 2 groups of column 'one'; there is 1" voxsift cv c --target score --group one $few -q
refuses 2 "halving with '--group' needs at least 2 groups of column 'one'; there is 1" voxsift stability c --target score --group one -o x -q
run voxsift cv c --target score --group two --inner-folds 0 --lambda-ratio 0.5 $few
same "two groups without inner folds" "$code" 0
rm -rf ./*
nothing_left "open folds"

# permuted targets are dealt into other folds, which may leave fewer groups than the observed ones
awk 'BEGIN { srand(5); print "id\ta\tb\tc" > "u.tsv"; print "id\tsite\ty" > "v.tsv"; split("12 10 3 3 2 2 2", size)
    for (s = 1; s <= 7; s++) for (i = 1; i <= size[s]; i++) { k++
        printf "q%dx\t%.3f\t%.3f\t%.3f\n", k, rand(), rand(), rand() > "u.tsv"; printf "q%dx\tsite%d\t%d\n", k, s, int(4 * rand()) > "v.tsv" } }'
run voxsift cohort --feature-table u.tsv --participants v.tsv --id-column id -q -o unequal
for seed in 1 2 3; do
    run voxsift permute unequal --target y --loss squared --group site --folds 3 --permutations 40 --nlambda 4 --seed $seed -q -o unequal$seed
    same "folds of permuted targets leave fewer groups (seed $seed)" "$code" 0
done
