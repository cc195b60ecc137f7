# What was selected by beside confounds that are taken out of features: model.json has a number for
# each unpenalized column, 0 for confounds (it had what stood behind the array in memory).
run voxsift simulate pairs --subjects 40 --features 30 -o sim
awk 'BEGIN { FS = OFS = "\t" } { print $0, NR == 1 ? "age" : 40 + NR * 7 % 23, NR == 1 ? "site" : "s" NR % 7 }' \
    sim/participants.tsv > aged.tsv
mv aged.tsv sim/participants.tsv
for method in fgm mslr; do
    run voxsift fit sim --target diagnosis --method $method --iterations 3 --confounds age,site --confounds-as regress -o $method
    same "$method beside confounds" "$code" 0
    grep selection_unpenalized $method/model.json > free.txt
    holds "confounds have no part in what $method selected by" ", 0, 0, 0, 0, 0, 0, 0]," free.txt
    run voxsift check-model $method sim
    same "$method is checked" "$code" 0
done
# the same of maps, with a confound of many levels; what stands in memory behind arrays is of no account
awk 'BEGIN { FS = OFS = "\t" } { print $0, NR == 1 ? "pair" : "p" int(NR / 2) }' sim/participants.tsv > paired.tsv
mv paired.tsv sim/participants.tsv
for method in fgm mslr; do
    for fill in 85 170; do
        MALLOC_PERTURB_=$fill run voxsift fit sim --target diagnosis --method $method --feature-map poly2 --iterations 2 --confounds pair \
            --confounds-as regress -o map --force
        same "$method of pairs beside a confound of many levels" "$code" 0
        grep -A 3 unpenalized_weights map/model.json > $method-$fill.txt
        MALLOC_PERTURB_=$fill run voxsift cv sim --target diagnosis --method $method --feature-map poly2 --iterations 2 --confounds pair \
            --confounds-as regress --folds 3 --inner-folds 2 -o map-cv --force
        cat map-cv/predictions.tsv >> $method-$fill.txt
    done
    holds "$method of pairs: confounds have no weight" ", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]" $method-85.txt
    same "$method of pairs: the same whatever memory held" "$(cat $method-85.txt)" "$(cat $method-170.txt)"
    rm -rf map map-cv
done
