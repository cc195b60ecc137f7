# What was selected by beside confounds that are taken out of features: model.json has a number for
# each unpenalised column, 0 for confounds (it had what stood behind the array in memory).
run voxsift simulate pairs --subjects 40 --features 30 -o sim
awk 'BEGIN { FS = OFS = "\t" } { print $0, NR == 1 ? "age" : 40 + NR * 7 % 23, NR == 1 ? "site" : "s" NR % 7 }' \
    sim/participants.tsv > aged.tsv
mv aged.tsv sim/participants.tsv
for method in fgm mslr; do
    run voxsift fit sim --target diagnosis --method $method --T 3 --confounds age,site --confounds-as out -o $method
    same "$method beside confounds" "$code" 0
    grep selection_unpenalised $method/model.json > free.txt
    holds "confounds have no part in what $method selected by" ", 0, 0, 0, 0, 0, 0, 0]," free.txt
    run voxsift check-model $method sim
    same "$method is checked" "$code" 0
done
