# group-lasso: every command on a small simulation of images; what does not go with it.
run voxsift simulate spheres --shape 20,20,16 --radius 2 --subjects 60 -q -o c
run voxsift fit c --target score --method group-lasso --groups patches:6 --lambda-ratio 0.3 --json -o m
same "group-lasso is fitted" "$code" 0
holds "by its name" '"method": "group-lasso"' "$work/out"
run voxsift check-model m c
same "and confirmed" "$code" 0
same "the groups are listed" "$(head -n 1 m/selected.tsv)" "$(printf 'group\tfeatures\tweight\tshare')"
run voxsift predict m c --training-too
same "predicts" "$code" 0
run voxsift fit c --target score --method group-lasso --groups patches:6 --lambda-ratio 0.3 -o said
holds "says lambda and groups" "have a nonzero weight, in 6 groups" "$work/out"
run voxsift path c --target score --method group-lasso --groups tree:octree --nlambda 5 -q
same "a path over a tree" "$code" 0
run voxsift cv c --target score --method group-lasso --groups patches:8 --folds 3 --inner-folds 2 --nlambda 4 -o cv -q
same "cross-validation" "$code" 0
run voxsift permute c --target score --method group-lasso --groups patches:8 --folds 3 --inner-folds 2 --nlambda 3 --permutations 3 -o p -q
same "permutations" "$code" 0
run voxsift stability c --target score --method group-lasso --groups patches:8 --pairs 2 -q -o s
same "stability" "$code" 0
run voxsift stability c --target score --method group-lasso --groups patches:10 --select-features 20 --pairs 2 -q -o none
holds "halves that select nothing" "the first group on its path has more than 20 features; --select-features allows larger ones" "$work/out"
run voxsift report none -o none.html
holds "the page says the same" "the first group on its path has more than 20 features; --select-features allows larger ones" none.html
run voxsift report m -o m.html
same "a page" "$code" 0
holds "its name for a paper" "a group lasso with squared loss" m.html
holds "and its paper" "regression with grouped variables" m.html
refuses 2 "method 'group-lasso' needs '--groups GROUPS'" voxsift fit c --target score --method group-lasso -o y
refuses 2 "method 'group-lasso' has no option '--by-size'" voxsift fit c --target score --method group-lasso --by-size -o y
refuses 2 "method 'lasso' has no option '--groups'" voxsift fit c --target score --groups patches:6 -o y

# groups of one feature are the lasso; a feature in no group has no weight; groups of a table
awk 'BEGIN { srand(4); printf "id" > "t.tsv"; for (j = 0; j < 12; j++) printf "\tf%d", j > "t.tsv"; print "" > "t.tsv"; print "id\ty\tsick" > "y.tsv"
    for (i = 1; i <= 50; i++) { printf "s" i > "t.tsv"; sum = 0; for (j = 0; j < 12; j++) { x = rand(); if (j < 4) sum += x; printf "\t%.6f", x > "t.tsv" }; print "" > "t.tsv"; y = sum + rand() / 5; printf "s%d\t%.6f\t%d\n", i, y, (y > 2.1) > "y.tsv" } }'
run voxsift cohort --feature-table t.tsv --participants y.tsv --id-column id -q -o k
awk 'BEGIN { print "group\tfeature"; for (j = 0; j < 12; j++) print "g" j "\tf" j }' > one.tsv
awk 'BEGIN { print "group\tfeature"; for (j = 0; j < 8; j++) print "g" int(j / 4) "\tf" j }' > some.tsv
run voxsift fit k --target y --method group-lasso --groups file:one.tsv --lambda-ratio 0.2 --tol 1e-9 --json -o one
run voxsift fit k --target y --lambda-ratio 0.2 --tol 1e-9 --json -o plain
same "single features are the lasso" "$(cut -f 1 one/weights.tsv)" "$(cut -f 1 plain/weights.tsv)"
for loss in logistic squared-hinge; do
    run voxsift fit k --target sick --method group-lasso --groups file:some.tsv --loss $loss --lambda-ratio 0.1 -q --force -o some
    same "classes with $loss loss" "$code" 0
    run voxsift check-model some k
    same "confirmed ($loss)" "$code" 0
done
same "features in no group have no weight" "$(awk 'NR > 1 && ($1 ~ /^(8|9|10|11)$/)' some/weights.tsv | wc -l | tr -d ' ')" 0
run voxsift fit k --target y --method group-lasso --groups file:some.tsv --size-power 0 --lambda-ratio 0.2 -q -o equal
same "equal groups" "$code" 0

# where groups are counted, words and page say how many are stable, and that the mean number is one of features
run voxsift stability k --target y --method group-lasso --groups file:some.tsv --pairs 4 --select-features 1 -q -o counted
holds "groups that are stable" "  4 stable features in 1 group (selection frequency of at least 0.75)" "$work/out"
run voxsift report counted -o counted.html
holds "on the page" "<b>4</b> of 12 features are stable, in <b>1</b> group (selection frequency" counted.html
holds "features on average" "; 4 features on average" counted.html
rm -rf counted counted.html

# a table of groups that was changed is named, beside what does not hold any more
sed 's/^g0/other/;s/^g1/g0/;s/^other/g1/' equal/groups.tsv | sed '2s/^g1/g0/' > changed.tsv
cp changed.tsv equal/groups.tsv
run voxsift check-model equal k
same "a model whose groups were changed" "$code" 3
holds "names the table" "does not hold on this cohort: 'equal/groups.tsv' was changed after it was written" "$work/err"

# selected.tsv has the norms of the weights of standardized features: here those of weights.tsv, as groups do not overlap
awk 'BEGIN { print "group\tfeature"; for (j = 0; j < 12; j++) print "g" (j > 1) + (j > 5) "\tf" j }' > unequal.tsv
awk 'BEGIN { print "feature\tpenalty"; for (j = 0; j < 12; j++) print "f" j "\t" 1 + j / 4 }' > factors.tsv
for with in "" "--size-power 0" "--penalty-factors factors.tsv"; do
    run voxsift fit k --target y --method group-lasso --groups file:unequal.tsv --standardize center --lambda-ratio 0.05 $with -q --force -o unequal
    same "norms of groups ($with)" "$(awk -F '\t' 'FNR == 1 { next } NR == FNR { j = $1; square["g" (j > 1) + (j > 5)] += $3 ^ 2; all += $3 ^ 2; next }
        { bad += !(($3 - sqrt(square[$1])) ^ 2 < 1e-18 && ($4 - square[$1] / all) ^ 2 < 1e-18); rows++ } END { print (rows > 1), bad + 0 }' unequal/weights.tsv unequal/selected.tsv)" "1 0"
done
