# Huber's loss: every command, on scores of which a twentieth are far off; what does not go with it.
run voxsift simulate lasso --subjects 150 --features 60 --nonzero 0.1 --seed 11 -q -o c
same "a cohort" "$code" 0
awk -F'\t' 'NR == 1 { print $0 "\tdirty\tsame"; next }
    { print $0 "\t" (NR % 20 == 3 ? $2 + 1000 * (NR % 40 == 3 ? 1 : -1) : $2) "\t" (NR % 3 ? 5 : $2) }' c/participants.tsv > t.tsv
mv t.tsv c/participants.tsv
for loss in squared huber; do
    run voxsift fit c --target dirty --loss $loss --choose-lambda 5 -q -o $loss
    same "a fit with $loss loss" "$code" 0
    run voxsift check-model $loss c
    same "is confirmed" "$code" 0
    run voxsift predict $loss c --training-too
    same "predicts" "$code" 0
done
run voxsift fit c --target score --choose-lambda 5 -q -o clean
# how far weights are from those of scores that are as they should be
apart() {
    awk -F'\t' 'FNR == 1 { file++; for (k in at) delete at[k]; for (k = 1; k <= NF; k++) at[$k] = k; next }
        { w[$at["feature"], file] = $at["weight"]; f[$at["feature"]] = 1 }
        END { for (j in f) { d += (w[j, 1] - w[j, 2]) ^ 2 } print d }' "clean/weights.tsv" "$1/weights.tsv"
}
same "weights are nearer to those without outliers, ten times and more" \
    "$(awk -v a="$(apart huber)" -v b="$(apart squared)" 'BEGIN { print (10 * a < b) }')" 1
holds "the threshold that was found is on record" '"huber-threshold": ' huber/model.json
same "as a number" "$(grep -c '"huber-threshold": [0-9.]*,' huber/model.json)" 1
run voxsift path c --target dirty --loss huber --nlambda 5 -q
same "a path" "$code" 0
run voxsift fit c --target dirty --loss huber --huber-threshold 40 --confounds same --method graphnet --graph chain -q -o net
same "graphnet, a threshold that is given, a covariate" "$code" 0
run voxsift check-model net c
same "is confirmed" "$code" 0
run voxsift cv c --target dirty --loss huber --folds 3 --inner-folds 2 --nlambda 5 -q -o cv
same "cross-validation" "$code" 0
run voxsift permute c --target dirty --loss huber --folds 3 --inner-folds 2 --nlambda 5 --permutations 3 -q -o p
same "permutations" "$code" 0
run voxsift stability c --target dirty --loss huber --pairs 2 -q -o s
same "stability" "$code" 0
run voxsift report huber -o m.html
same "a page" "$code" 0
holds "which says so" "huber loss" m.html

refuses 2 "'--huber-threshold' goes with '--loss huber'" voxsift fit c --target dirty --huber-threshold 3 -o x
refuses 2 "'--loss huber' goes with methods lasso, graphnet" voxsift fit c --target dirty --loss huber --method fused -o x
refuses 2 "'--huber-threshold'" voxsift fit c --target dirty --loss huber --huber-threshold -1 -o x
refuses 65 "have 5 in column 'same', so that its median absolute deviation is 0" voxsift fit c --target same --loss huber -o x
refuses 65 "'--loss huber' is of numbers" voxsift fit c --target participant_id --loss huber -o x
awk -F'\t' 'NR == 1 { print $0 "\tfar"; next } { printf "%s\t%.17g\n", $0, $3 + 1e5 }' c/participants.tsv > t.tsv
mv t.tsv c/participants.tsv
run voxsift fit c --target dirty --loss huber --lambda-ratio 0.1 -q -o near
run voxsift fit c --target far --loss huber --lambda-ratio 0.1 -q -o far
same "a target far from 0" "$code" 0
run voxsift check-model far c -q
same "its certificate" "$code" 0
for m in near far; do voxsift predict $m c --training-too --json -q > $m.json 2> /dev/null; done
same "its predictions are shifted alike" "$("$PYTHON" -c "
import json
near, far = ([s['predicted'] for s in json.load(open(f))['subjects']] for f in ('near.json', 'far.json'))
print(max(abs(f - 1e5 - n) for n, f in zip(near, far)) < 1e-3)")" True
for t in dirty far; do voxsift cv c --target $t --loss huber --huber-threshold 2 --nlambda 10 --folds 3 --bootstraps 100 --json -q -o v-$t 2> /dev/null > v-$t.json; done
same "its cross-validation" "$("$PYTHON" -c "
import json
def scores(file):
    d = json.load(open(file))
    return [d['outer']['r']['pooled']]
print(abs(scores('v-dirty.json')[0] - scores('v-far.json')[0]) < 1e-3)")" True

# A certificate of a fit that exits with 0 holds, also where covariates nearly agree and the threshold is far below the
# scale of the target.
"$PYTHON" - << 'EOP'
import numpy as np
for seed in range(8):
    rng = np.random.default_rng(seed)
    n = 20
    x = rng.normal(size=(n, 10))
    age = rng.normal(60, 10, n).round(2)
    y = (x[:, 0] + rng.normal(size=n) + 0.05 * age) * 1e4
    np.save(f"x{seed}.npy", x.astype("f4"))
    with open(f"t{seed}.tsv", "w") as f:
        f.write("participant_id\ty\tage\tage_scan\n")
        for i in range(n):
            f.write(f"s{i:02}\t{y[i]:.1f}\t{age[i]}\t{age[i] + 10.0 ** -(seed % 4 + 1) * rng.uniform()!r}\n")
EOP
wrong=0
for seed in 0 1 2 3 4 5 6 7; do
    voxsift cohort --npy x$seed.npy --rows t$seed.tsv --person participant_id -q -o near$seed
    voxsift fit near$seed --target y --loss huber --huber-threshold 1.345 --confounds age,age_scan --lambda-ratio 0.01 -q -o m$seed > /dev/null 2>&1 || continue
    voxsift check-model m$seed near$seed -q > /dev/null 2>&1 || wrong=$((wrong + 1))
done
same "certificates that do not hold" "$wrong" 0

# Thresholds far below the spread of the target are continued from larger ones, and warned of.
for threshold in 1e-3 1e-6; do
    run voxsift fit c --target score --loss huber --huber-threshold $threshold --confounds far -q -o small --force
    same "a threshold of $threshold" "$code" 0
    holds "is warned of" "is far below the spread of 'score'" "$work/err"
    run voxsift check-model small c -q
    same "and its certificate holds" "$code" 0
done

# All features together are continued once, so that a fit takes a second, not minutes.
run voxsift simulate lasso --subjects 300 --features 3000 --nonzero 0.01 --seed 1 -q -o many
run bash -c 'ulimit -t 10; voxsift fit many --target score --loss huber --huber-threshold 1e-6 --lambda-ratio 0.05 --nthreads 1 -q -o tiny'
same "ten seconds of processor time are enough" "$code" 0
run voxsift check-model tiny many -q
same "and its certificate holds" "$code" 0
